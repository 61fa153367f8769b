# lossgap compare and gap, end to end on tiny models: artefacts, what is redone and what is not, stopping and going on, what is refused.
set -u
. tests/cli/common.sh
golden=$PWD/tests/golden/models
cd "$TMP" || exit 1

# A tokenizer of printable ASCII characters (ids below the models' 211), and what more is given: merges, entries.
tokenizer() { # MERGES ENTRIES
    printf '{"version":"1.0","truncation":null,"padding":null,"normalizer":null,"post_processor":null,'
    printf '"added_tokens":[{"id":209,"content":"<|endoftext|>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}],'
    printf '"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":false,"use_regex":true},'
    printf '"decoder":{"type":"ByteLevel"},"model":{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,'
    printf '"end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,"merges":[%s],"vocab":{%s"\\u0120":1,"\\u010a":2' "$1" "$2"
    byte=33
    while [ $byte -lt 127 ]; do
        printf ',"\\u%04x":%d' $byte $byte
        byte=$((byte + 1))
    done
    printf '}}}\n'
}
for pair in transformer:olmo3-yarn hybrid:hybrid-noneg rnn:rnn-fla-noneg; do
    mkdir -p "models/${pair%:*}/last"
    cp "$golden/${pair#*:}/config.json" "$golden/${pair#*:}/model.safetensors" "models/${pair%:*}/last"
    tokenizer '' '' >"models/${pair%:*}/last/tokenizer.json"
done
a=models/transformer/last b=models/hybrid/last c=models/rnn/last
mkdir corpus
for i in 1 2 3 4 5 6; do
    printf 'Document %d says (once): the cat [sat] on the mat, and the cat sat again; %d.\n' $i $((i * i)) >corpus/$i.txt
    printf 'def f%d(x):\n    return {"a": [x, x, %d]}\n' $i $i >corpus/$i.py
done

# ---- the whole way ----
"$LOSSGAP" compare $a $b corpus -o out --precision f32 >table 2>err || { cat err; fail compare; }
for file in data.safetensors tags.safetensors scores-transformer-last.safetensors scores-hybrid-last.safetensors gap.json gap.csv gap.txt; do
    check test -s out/$file
done
check test "$(ls out | wc -l)" -eq 7
check grep -q '^transformer-last (A) against hybrid-last (B): [0-9,]* tokens in 12 documents$' table
check grep -q '^gap = loss(A) - loss(B), nats per token; positive: B predicts better' table
for section in domain family class word_position delimiter reuse copy_len; do check grep -q "^$section " table; done
check grep -q '^open.round ' table
check grep -q 'lossgap gap out/scores-transformer-last.safetensors' table
check grep -q '^char_class ' out/gap.txt
check grep -q '"format":"gap"' out/gap.json
check test "$(wc -l <out/gap.csv)" -eq "$(($(grep -c '"model_a"' out/gap.json) + 1))"

# Again: the same table, and not one file is touched.
ls -li --time-style=full-iso out >before
"$LOSSGAP" compare $a $b corpus -o out --precision f32 >again 2>err || { cat err; fail again; }
check cmp table again
ls -li --time-style=full-iso out >after
check cmp before after
# One thread gives the same bits; so does a run of its own.
"$LOSSGAP" compare -q --threads 1 $a $b corpus -o one --precision f32 >again || fail threads
for file in data.safetensors tags.safetensors scores-hybrid-last.safetensors; do
    check test "$("$LOSSGAP" inspect out/$file | grep '^identity')" = "$("$LOSSGAP" inspect one/$file | grep '^identity')"
done
sed 1q out/gap.csv >x && sed 1q one/gap.csv >y && check cmp out/gap.csv one/gap.csv

# gap on the artefacts says the same; other groupings; its files.
"$LOSSGAP" gap out/scores-transformer-last.safetensors out/scores-hybrid-last.safetensors --data out/data.safetensors \
    --tags out/tags.safetensors -o mine.json >mine.txt || fail gap
check cmp mine.txt out/gap.txt
check cmp mine.csv out/gap.csv
"$LOSSGAP" gap out/scores-transformer-last.safetensors out/scores-hybrid-last.safetensors --data out/data.safetensors \
    --tags out/tags.safetensors --view content -o view.json >view.txt || fail 'gap --view'
check grep -q '"class":"content - function"' view.json
check test "$(wc -l <view-contrasts.csv)" -eq "$(($(grep -c 'content - function' view.json) + 1))"
check grep -q 'content - function' view.txt
"$LOSSGAP" gap out/scores-transformer-last.safetensors out/scores-hybrid-last.safetensors --data out/data.safetensors \
    --tags out/tags.safetensors --by delimiter,domain --json >by.json || fail 'gap --by'
check grep -q '"delimiter":"open.round","domain":"python"' by.json
check grep -q '"delimiter":"\*","domain":"python"' by.json
ends_with 2 "no column 'colour'" "$LOSSGAP" gap out/scores-transformer-last.safetensors out/scores-hybrid-last.safetensors \
    --data out/data.safetensors --by colour
ends_with 2 'two models' "$LOSSGAP" gap out/scores-transformer-last.safetensors --data out/data.safetensors
ends_with 2 '--data' "$LOSSGAP" gap out/scores-transformer-last.safetensors out/scores-hybrid-last.safetensors

# Three models, names given, JSON on stdout.
"$LOSSGAP" compare -q T=$a H=$b R=$c corpus -o three --prefix 209 --json >three.json || fail three
check test "$(grep -c '"model_b":"R"' three.json)" -eq "$(grep -c '"model_b":"H"' three.json)"
check cmp three.json three/gap.json

# ---- a text that grew: earlier rows are not computed again ----
printf 'One more file, with <|endoftext|> in it.\n' >corpus/7.md
"$LOSSGAP" compare $a $b corpus -o out --precision f32 >again 2>err || { cat err; fail grown; }
check grep -q ' in 13 documents' again
check grep -q '12 of 13 rows are there already' err
"$LOSSGAP" compare -q $a $b corpus -o fresh --precision f32 >fresh.txt || fail fresh
check cmp out/gap.csv fresh/gap.csv

# ---- stopped: it says so, keeps what was done, and goes on ----
awk 'BEGIN { for (i = 0; i < 3000; i++) printf "Line %d of a longer text (%d).\n", i, i * i % 97 }' >long.txt
"$LOSSGAP" compare $a $b long.txt -o stopped >out.txt 2>err &
pid=$!
tries=0
while [ ! -e stopped/tags.safetensors ] && [ $tries -lt 600 ] && kill -0 $pid 2>/dev/null; do sleep 0.05; tries=$((tries + 1)); done
kill -INT $pid
wait $pid
code=$?
if [ $code -ne 0 ]; then # else it was faster than the signal
    [ $code -eq 130 ] || { cat err; fail "stopped with $code"; }
    check grep -q 'goes on from there' err
    check test ! -e stopped/gap.json
fi

# ---- refused ----
ends_with 3 'choose one with --prefix' "$LOSSGAP" compare $a $c corpus -o other
ends_with 2 "two models would be called 'models-transformer-last'" "$LOSSGAP" compare $a $a corpus -o other
ends_with 2 "is no model name" "$LOSSGAP" compare 'a b='$a $b corpus -o other
ends_with 3 "'corpus' is none: there is no config.json" "$LOSSGAP" compare $a corpus -o other
ends_with 3 "'nosuch' is none" "$LOSSGAP" compare $a nosuch corpus -o other
ends_with 2 'on which text' "$LOSSGAP" compare $a $b -o other
ends_with 2 'where to' "$LOSSGAP" compare $a $b corpus
ends_with 3 'nothing.txt' "$LOSSGAP" compare $a $b nothing.txt -o other
if command -v flock >/dev/null; then
    ends_with 1 'another lossgap works in out' flock out "$LOSSGAP" compare $a $b corpus -o out
fi
: >empty.txt
ends_with 3 'no text' "$LOSSGAP" compare $a $b empty.txt -o empty

# ---- already tokenised data: no tokenizer, no bytes, copies only ----
printf '{"id":"x","input_ids":[5,6,5,6,7]}\n{"id":"y","input_ids":[8,5,6,9,9]}\n' >ids.jsonl
rm $b/tokenizer.json
"$LOSSGAP" compare -q $a $b ids.jsonl --input-ids -o ids >table || fail '--input-ids'
check grep -q '^copy_len ' table
if grep -q 'bits/byte\|word_position' table; then fail 'bits per byte without text'; fi
check grep -q '"bytes":null' ids/gap.json

# ---- a condition: wrong ones are refused before anything is scored; the right one counts some tokens, and scores all ----
ends_with 2 "no level 'resue' of reuse" "$LOSSGAP" compare -q $a $b ids.jsonl --input-ids -o some --where 'reuse = resue'
check test ! -e some/scores-transformer-last.safetensors
"$LOSSGAP" compare -q $a $b ids.jsonl --input-ids -o some --where 'reuse = first and loss(hybrid-last) > 0' >table || fail '--where'
check grep -q "^where reuse = first and loss(hybrid-last) > 0: [0-9] tokens of 10 tokens with a loss" table
check test "$("$LOSSGAP" inspect some/scores-hybrid-last.safetensors | grep "^identity")" = "$("$LOSSGAP" inspect ids/scores-hybrid-last.safetensors | grep "^identity")"
