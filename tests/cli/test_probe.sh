# lossgap probe, end to end: what DIR holds, what is computed again and what is not, stopping and going on, items of a file and of one's own,
# models with other tokenizers, what is refused.
set -u
. tests/cli/common.sh
here=$PWD
cd "$TMP" || exit 1
a=$here/models/transformer b=$here/models/hybrid
head -9 "$here/tests/golden/probes/items.jsonl" >items.jsonl
sed -n 36p "$here/tests/golden/probes/items.jsonl" >>items.jsonl # item 35, of which two choices straddle
probe() { "$LOSSGAP" probe --precision f32 "$@"; }

# ---- the whole way ----
probe one=$a two=$b --items items.jsonl -o out >table 2>err || { cat err; fail probe; }
for file in items.jsonl logp.jsonl run.json probes.json probes.csv probes-pairs.csv probes-bias.csv probes-picks.csv probes-baselines.csv probes.vl.json; do
    check test -s out/$file
done
check test "$(ls out | wc -l)" -eq 10
check test "$(wc -l <out/items.jsonl)" -eq 10
check test "$(wc -l <out/logp.jsonl)" -eq 20
check test "$(sed -n 's/^{"id":\([0-9]*\),"model":"\([a-z]*\)".*/\2 \1/p' out/logp.jsonl | tr '\n' ,)" = \
    "one 0,one 1,one 2,one 3,one 4,one 5,one 6,one 7,one 8,one 35,two 0,two 1,two 2,two 3,two 4,two 5,two 6,two 7,two 8,two 35,"
check grep -q '^{"id":35,"model":"one","logp":\[null,-8\.76[0-9]*,-8\.84[0-9]*,-8\.48[0-9]*,null\],"tokens":\[null,1,1,1,null\],"left_out":"straddles"}$' out/logp.jsonl
check grep -q '^{"id":0,"model":"two","logp":\[-[0-9.]*,-[0-9.]*\],"tokens":\[1,2\]}$' out/logp.jsonl
check grep -q 'one: left out 1 of 10 items (item 35 is the first): a token crosses' err
check grep -q '^pronoun ' table
check grep -q '"format":"probe' out/probes.json

# Again: the same, nothing is computed.
cp -r out before
probe one=$a two=$b --items items.jsonl -o out >again 2>err || fail again
check cmp table again
check grep -q '2 of 2 models: log-probabilities were there already' err
for file in items.jsonl logp.jsonl run.json; do check cmp out/$file before/$file; done
# One model more: it alone. One less: what is known of it stays.
mkdir third
cp $b/model.safetensors $b/tokenizer.json third
sed 's/"max_position_embeddings": 1024/"max_position_embeddings": 1000/' $b/config.json >third/config.json
probe one=$a two=$b three=third --items out/items.jsonl -o out >again 2>err || { cat err; fail 'one more'; }
check grep -q '2 of 3 models' err
check test "$(grep -c '"model":"three"' out/logp.jsonl)" -eq 10
probe three=third --items items.jsonl -o out >again 2>err || fail 'one less'
check grep -q '1 of 1 models' err
check test "$(wc -l <out/logp.jsonl)" -eq 30
grep '"model":"three"' out/logp.jsonl | sed 's/three/two/' >x
grep '"model":"two"' out/logp.jsonl | check cmp - x
# Another name for the same checkpoint: nothing is computed.
probe four=$a --items items.jsonl -o out >again 2>err || fail 'another name'
check grep -q '1 of 1 models' err
check grep -q '^pronoun.* four ' again
check test "$(wc -l <out/logp.jsonl)" -eq 40
grep '"model":"four"' out/logp.jsonl | sed 's/four/one/' >x
grep '"model":"one"' out/logp.jsonl | check cmp - x
# Another setting counts: then it is computed anew.
probe four=$a --prefix none --items items.jsonl -o out >again 2>err || fail 'other prefix'
grep -q 'were there already' err && fail 'another prefix was not computed'
check test "$(wc -l <out/logp.jsonl)" -eq 40
check grep -q '"prefix": null' out/run.json
# What somebody changed is not believed.
sed 's/-8\.76/-1.76/' before/logp.jsonl >changed && cp before/* out && cp changed out/logp.jsonl
probe one=$a two=$b --items items.jsonl -o out >again 2>err || fail changed
check grep -q 'logp.jsonl will be replaced: it is not the file' err
check cmp out/logp.jsonl before/logp.jsonl
check cmp out/run.json before/run.json
# A thread more or less, a smaller batch: the same bits.
probe -q --threads 1 --batch 100 one=$a two=$b --items items.jsonl -o single >again || fail threads
check cmp single/logp.jsonl out/logp.jsonl
# Other items: nothing of the old ones is left.
head -3 items.jsonl >few.jsonl
probe one=$a --items few.jsonl -o out >again 2>err || fail few
check grep -q 'logp.jsonl will be replaced: it is of other items' err
check test "$(wc -l <out/logp.jsonl)" -eq 3

# ---- killed and stopped: the same as without ----
cp "$here/tests/golden/probes/items.jsonl" many.jsonl
probe -q two=$b --items many.jsonl -o whole >whole.table || fail whole
for signal in KILL INT; do
    "$LOSSGAP" probe --precision f32 two=$b --items many.jsonl -o $signal --batch 300 >x 2>$signal.err &
    pid=$!
    tries=0
    while [ "$(cat $signal/logp.jsonl-two.journal 2>/dev/null | wc -c)" -lt 200 ] && [ $tries -lt 600 ] && kill -0 $pid 2>/dev/null; do sleep 0.02; tries=$((tries + 1)); done
    kill -$signal $pid 2>/dev/null
    wait $pid 2>/dev/null
    code=$?
    if [ $code -ne 0 ]; then # 0: it was done before the signal came
        check test -s $signal/logp.jsonl-two.journal
        check test ! -e $signal/logp.jsonl
        [ $signal = KILL ] || check grep -q 'stopped after [0-9]* % of two, which is kept' $signal.err
    fi
    probe two=$b --items many.jsonl -o $signal >again 2>err || { cat err; fail "after $signal"; }
    [ $code -eq 0 ] || check grep -q 'two: [0-9]* items are there already' err
    check cmp $signal/logp.jsonl whole/logp.jsonl
    check cmp again whole.table
    check test ! -e $signal/logp.jsonl-two.journal
done

# ---- items of one's own ----
probe one=$a two=$b -o made --count 1 --probes pronoun,entity --distances 32,2000 >table 2>err || { cat err; fail made; }
check grep -q 'distance 2000 is left out' err
check grep -q '"probe":"entity","distance":32' made/items.jsonl
check test "$(wc -l <made/logp.jsonl)" -eq $((2 * $(wc -l <made/items.jsonl)))
probe one=$a -o dry --count 1 --probes pronoun --distances 32 --dry-run >x 2>err || fail dry
check test "$(ls dry)" = items.jsonl
check test ! -s x
probe one=$a -o dry --count 1 --probes pronoun --distances 32 --seed 5 --dry-run 2>err || fail seed
grep '"probe":"pronoun"' made/items.jsonl | cmp -s - dry/items.jsonl && fail 'another seed gave the same items'
probe -q --json one=$a --items few.jsonl -o out >x || fail json
check cmp x out/probes.json

# ---- other tokenizers ----
# Another file that makes the same tokens: the same items do.
mkdir same other
for m in same other; do cp $b/config.json $b/model.safetensors $m; done
sed 's/<|pad|>/<|PAD|>/' $b/tokenizer.json >same/tokenizer.json
sed 's/?\\\\p{L}+|/?\\\\p{L}{1,2}|/' $b/tokenizer.json >other/tokenizer.json
cmp -s $b/tokenizer.json other/tokenizer.json && fail 'the pattern was not found'
probe two=$b same=same -o tokens --count 1 --probes pronoun --distances 32 >x 2>err || { cat err; fail 'same tokens'; }
grep '"model":"two"' tokens/logp.jsonl >x
grep '"model":"same"' tokens/logp.jsonl | sed 's/"same"/"two"/' | check cmp - x
check test "$(wc -l <tokens/logp.jsonl)" -eq $((2 * $(wc -l <tokens/items.jsonl)))
# Other tokens: items of its own, and the two are not mixed.
probe two=$b other=other -o tokens --count 1 --probes closure --distances 32 >x 2>err || { cat err; fail 'other tokens'; }
check grep -q 'other makes other tokens than the models before: it gets items of its own' err
n=$(($(wc -l <tokens/items.jsonl) / 2))
check test "$(grep -c '"left_out":"not_meant"' tokens/logp.jsonl)" -eq $((2 * n))
check test "$(grep -c '"model":"other",.*"tokens"' tokens/logp.jsonl)" -eq $n

# ---- log-probabilities from elsewhere; sequences to train on ----
"$LOSSGAP" probe --items many.jsonl --logp "$here/tests/golden/probes/logp.jsonl" -o given >table 2>err || { cat err; fail logp; }
check grep -q 'hybrid' table
check test -s given/probes.json
"$LOSSGAP" probe --train-format --groups Z60 --lengths 4 --count 3 -o train 2>err || { cat err; fail train; }
check test "$(wc -l <train/train.jsonl)" -eq 3

# ---- what is refused ----
ends_with 2 'where to' "$LOSSGAP" probe $a
ends_with 2 'which models' "$LOSSGAP" probe -o no
ends_with 2 'goes with --items' "$LOSSGAP" probe --logp "$here/tests/golden/probes/logp.jsonl" -o no
ends_with 2 'no MODEL' "$LOSSGAP" probe $a --items many.jsonl --logp "$here/tests/golden/probes/logp.jsonl" -o no
ends_with 2 'takes the items as they are' "$LOSSGAP" probe $a --items many.jsonl --count 3 -o no
ends_with 2 'no MODEL' "$LOSSGAP" probe $a --train-format -o no
ends_with 2 'only --groups, --lengths, --count and --seed count' "$LOSSGAP" probe --train-format --filler words -o no
ends_with 2 'nothing is scored' "$LOSSGAP" probe --train-format --precision f32 -o no
ends_with 2 'nothing is scored' "$LOSSGAP" probe --items many.jsonl --logp "$here/tests/golden/probes/logp.jsonl" --prefix none -o no
ends_with 2 '--lengths: items have at most 512 elements' "$LOSSGAP" probe $a --lengths 513 -o no
ends_with 2 '--entities takes a whole number from 3 to 12' "$LOSSGAP" probe $a --entities 13 -o no
ends_with 2 'A5, S5, A4xZ5 and Z60' "$LOSSGAP" probe $a --groups A6 -o no
ends_with 2 '--probes is one of pronoun' "$LOSSGAP" probe $a --probes pronouns -o no
ends_with 2 '--distances takes a whole number' "$LOSSGAP" probe $a --distances 32,many -o no
ends_with 2 'two models would be called' "$LOSSGAP" probe x=$a x=$b --items few.jsonl -o no
ends_with 3 'no-model' "$LOSSGAP" probe no-model --items few.jsonl -o no
ends_with 3 'many-more.jsonl' "$LOSSGAP" probe $a --items many-more.jsonl -o no
echo '{"prompt": 3}' >bad.jsonl
ends_with 3 'bad.jsonl:1: byte' "$LOSSGAP" probe $a --items bad.jsonl -o no
mkdir bare && cp $b/config.json $b/model.safetensors bare
ends_with 3 'tokenizer.json' "$LOSSGAP" probe bare --items few.jsonl -o no
ends_with 2 'no token of the model' "$LOSSGAP" probe $a --prefix 99999 --items few.jsonl -o no
if command -v flock >/dev/null; then
    ends_with 1 'another lossgap works in out' flock out "$LOSSGAP" probe $a --items few.jsonl -o out
fi
probe one=$a --items few.jsonl --context 20 -o short >table 2>err || { cat err; fail short; } # nothing can be scored: said, and no number
check grep -q "left out 3 of 3 items (item 0 is the first): longer than the model's context" err
check test "$(grep -c '"logp":\[null,null\],"left_out":"too_long"' short/logp.jsonl)" -eq 3
