# lossgap curve on tiny models: what is scored and what is not, half-written and broken checkpoints, renamed and deleted folders, two processes,
# --watch, figures against those of other commands.
set -u
. tests/cli/common.sh
golden=$PWD/tests/golden/models
cd "$TMP" || exit 1

tokenizer() { # printable ASCII characters, ids below the models' 211
    printf '{"version":"1.0","truncation":null,"padding":null,"normalizer":null,"post_processor":null,'
    printf '"added_tokens":[{"id":209,"content":"<|endoftext|>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}],'
    printf '"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":false,"use_regex":true},'
    printf '"decoder":{"type":"ByteLevel"},"model":{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,'
    printf '"end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,"merges":[],"vocab":{"\\u0120":1,"\\u010a":2'
    byte=33
    while [ $byte -lt 127 ]; do
        printf ',"\\u%04x":%d' $byte $byte
        byte=$((byte + 1))
    done
    printf '}}}\n'
}
tokenizer >tokenizer.json
checkpoint() { # MODEL FOLDER
    mkdir -p "$2"
    cp "$golden/$1/config.json" tokenizer.json "$2"
    cp "$golden/$1/model.safetensors" "$2" # last, as training loops do
}
# Steps are different models: what they are does not matter here.
checkpoint olmo3-yarn runs/a/step10
checkpoint hybrid-noneg runs/a/step20-tokens4k
checkpoint rnn-fla-noneg runs/b/checkpoint-10
checkpoint olmo3-yarn runs/b/checkpoint-20
mkdir text
for i in 1 2 3; do
    printf 'The cat %d sat on the mat (here).\nThe cat %d sat on the mat [there].\n' $i $i >text/$i.txt
done
printf 'x = f(1)\nx = f(2)\n' >text/4.py
curve() { "$LOSSGAP" curve --run a=runs/a --run 'b=runs/b/*' --corpus text -o out --context 64 --prefix 209 "$@"; }
made() { ls out/scores/*.safetensors | wc -l; }
rows() { tr -d '\n' <out/curve.json | sed 's/.*"rows"://' | tr '{' '\n' | grep -c '"filter":"all"'; }

# the list, without any scoring
curve --list >list 2>err || { cat err; fail "curve --list"; }
[ ! -e out ] || fail "--list made a folder"
check grep -q '^  step 10, tokens not known: runs/a/step10$' list
check grep -q '^  step 20, 4 k tokens\|^  step 20, 4.00 k tokens (name): runs/a/step20-tokens4k$' list

# a wrong filter is said before anything is scored, a right one is none
printf 'hard = loss(b) > 1\nodd = family = nuon\n' >filters.txt
ends_with 3 "filters.txt:2: filter odd.*nuon" curve --filters filters.txt --only odd
ends_with 2 "no filter 'all2'" curve --only all,all2
printf 'hard = loss(c) > 1\n' >filters.txt
ends_with 3 "filters.txt:1: filter hard" curve --filters filters.txt --only hard
ends_with 2 "no level 'nuon' of tag" curve --state-tags nuon
ends_with 2 "filter 'state' cannot be made" "$LOSSGAP" curve --run a=runs/a --corpus text -o out --only state
ends_with 2 "filter 'state' cannot be made" "$LOSSGAP" curve --run a=runs/a --run 'b=nowhere/*' --corpus text -o out --only state
ends_with 2 "'a@x': behind the @ stands a step" curve --hard a@x
ends_with 2 "'a@30': there is no such step" curve --scores a@30 b
ends_with 2 'lies in text' "$LOSSGAP" curve --run a=runs/a --corpus text -o text/out
[ ! -e text/out ] || fail "results were written into the corpus"
[ ! -e out/scores ] || fail "scores were made for filters that cannot be"

# once, and again without computing anything
curve --tokens-per-step 100 --only all,reuse >one 2>err || { cat err; fail "curve"; }
check grep -q '4 checkpoints, 3 of them scored now' err
[ "$(made)" -eq 3 ] || fail "olmo3-yarn is two checkpoints, but one model: $(made) files"
check grep -q '^all .*step' one
check grep -q '^b .*\*\{0,1\}' one
touch -r text/1.txt out/scores/*.safetensors
before=$(ls -l --time-style=full-iso out/scores)
curve --tokens-per-step 100 --only all,reuse >two 2>err || fail "curve again"
check grep -q 'nothing to compute: the scores of all 4 checkpoints are there' err
[ "$before" = "$(ls -l --time-style=full-iso out/scores)" ] || fail "a second run wrote scores"
check cmp one two
cp out/curve.json again.json
curve --tokens-per-step 100 --only all,reuse --threads 1 -q >/dev/null || fail "curve with one thread"
sed 's/"command":"[^"]*"//' out/curve.json >x; sed 's/"command":"[^"]*"//' again.json >y
check cmp x y

# the same figures as `lossgap gap` gives for the same files: run b against run a at step 10
step10() { sed -n "s/.*\"run\":\"$1\",\"step\":10,.*\"scores\":\"\([^\"]*\)\".*/\1/p" out/curve.json; }
"$LOSSGAP" gap "out/scores/$(step10 a).safetensors" "out/scores/$(step10 b).safetensors" --data out/data.safetensors --by domain -o gap.json >/dev/null ||
    fail "gap of the cached scores"
field() { sed -n "$1" "$2" | head -n 1 | sed "s/.*\"$3\":\([^,}]*\).*/\1/"; }
all='/"filter":"all","run":"b","step":10/p'
total='/"domain":"\*"/p'
[ "$(field "$all" out/curve.json loss)" = "$(field "$total" gap.json loss_b)" ] || fail "another loss than gap"
[ "$(field "$all" out/curve.json gap)" = "$(field "$total" gap.json gap)" ] || fail "another gap than gap"
[ "$(field "$all" out/curve.json gap_low)" = "$(field "$total" gap.json low)" ] || fail "another interval than gap"
[ "$(field "$all" out/curve.json bits_per_byte | cut -c1-14)" = "$(field "$total" gap.json bits_per_byte_b | cut -c1-14)" ] || fail "other bits per byte than gap"
[ "$(field "$all" out/curve.json tokens_seen)" = 1000 ] || fail "tokens seen are step x 100"
"$LOSSGAP" gap "out/scores/$(step10 a).safetensors" "out/scores/$(step10 b).safetensors" --data out/data.safetensors --tags out/tags.safetensors \
    --by domain --where 'copy_len >= 1' -o gap.json >/dev/null || fail "gap of reuse"
reuse='/"filter":"reuse","run":"b","step":10/p'
[ "$(field "$reuse" out/curve.json loss)" = "$(field "$total" gap.json loss_b)" ] || fail "another loss of reuse than gap"
[ "$(field "$reuse" out/curve.json tokens)" = "$(field "$total" gap.json tokens)" ] || fail "other tokens of reuse than gap"

# plain ASCII where the locale is not UTF-8
LC_ALL=C curve --only all -q >plain || fail "curve in the C locale"
LC_ALL=C grep -q '[^ -~]' plain && fail "other characters than ASCII in the C locale"
check grep -q '±' two

# another baseline; what does not exist
curve --only all --baseline b -q >base || fail "curve --baseline"
check grep -q 'the baseline is b' base
ends_with 2 'there is no such run' curve --baseline c
ends_with 2 'neither a run nor a file' curve --scores a nobody
ends_with 2 "there is no filter 'nothing'" curve --only nothing
ends_with 3 'no key of a run' "$LOSSGAP" curve --corpus text -o out "$(echo '{"runs":[{"name":"a","checkpoints":"x","y":1}]}' >bad.json; echo bad.json)"
ends_with 3 'no checkpoint was found by a=nowhere/\*' "$LOSSGAP" curve --run 'a=nowhere/*' --corpus text -o none

# RUNS.json says the same; a renamed folder is the same checkpoint
mv runs/b/checkpoint-20 runs/b/step-20
echo '{"tokens_per_step":100,"runs":[{"name":"a","checkpoints":"runs/a/step*"},{"name":"b","checkpoints":["runs/b/checkpoint-10",{"path":"runs/b/step-20","step":20}]}]}' >runs.json
"$LOSSGAP" curve runs.json text -o out --context 64 --prefix 209 --only all,reuse >three 2>err || { cat err; fail "curve RUNS.json"; }
check grep -q 'nothing to compute' err
check cmp one three

# a deleted checkpoint stays
rm -r runs/a/step10
curve --only all >four 2>err || fail "curve after a deletion"
check grep -q '1 checkpoint is not there any more' err
check grep -q '1 checkpoint is gone by now' four
[ "$(rows)" -eq 4 ] || fail "$(rows) points after a deletion, not 4"
check grep -q '"step":10,.*"gone":true' out/curve.json

# half-written: left for later, exit 0; broken: skipped, exit 1; the rest goes on
mkdir runs/b/step30 runs/b/step40
cp "$golden/hybrid-noneg/config.json" tokenizer.json runs/b/step30
head -c 3000 "$golden/hybrid-noneg/model.safetensors" >runs/b/step30/model.safetensors
curve --only all >out5 2>err || fail "an incomplete checkpoint is no failure"
check grep -q 'step30 is not complete yet: model.safetensors .*by the next run or --watch' err
check grep -q '"checkpoint":"step30","state":"incomplete"' out/curve.json
cp "$golden/hybrid-noneg/config.json" tokenizer.json runs/b/step40
cp "$golden/olmo3-yarn/model.safetensors" runs/b/step40
ends_with 1 '1 checkpoint is broken and left out' curve --only all
check grep -q 'skipped runs/b/step40' err
check grep -q '"checkpoint":"step40","state":"broken"' out/curve.json
[ "$(rows)" -eq 4 ] || fail "$(rows) points beside a broken one, not 4"
rm -r runs/b/step40
cp "$golden/hybrid-noneg/model.safetensors" runs/b/step30
curve --only all >out6 2>err || fail "curve with the finished checkpoint"
[ "$(rows)" -eq 5 ] || fail "$(rows) points with the finished one, not 5"
check grep -q 'the baseline has no checkpoint at this step' out/curve.json

# cut scores are computed again; a cut list is refused
file=$(ls out/scores/*.safetensors | head -n 1)
sum=$(cksum <"$file")
head -c 500 "$file" >cut && cp cut "$file"
curve --only all -q >/dev/null || fail "curve with cut scores"
[ "$sum" = "$(cksum <"$file")" ] || [ -s "$file" ] || fail "cut scores stayed"
check "$LOSSGAP" inspect "$file" >/dev/null
cp out/checkpoints.json kept.json
echo '{"format": "checkpoints", "version": 1, "checkpoints": [{"run": "a"}]}' >out/checkpoints.json
ends_with 3 'checkpoints\[0\] is no entry' curve --only all
cp kept.json out/checkpoints.json

# waits for TEXT in FILE, half a minute at most
until_says() {
    tries=0
    until grep -q "$1" "$2"; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || { cat watched err; kill -TERM $watcher; fail "$2 never said '$1'"; }
        sleep 0.1
    done
}

# two processes at once
rm -rf out
curve --only all >p1 2>e1 &
first=$!
curve --only all >p2 2>e2 || { cat e2; fail "the second of two processes"; }
wait $first || { cat e1; fail "the first of two processes"; }
check cmp p1 p2
[ -z "$(ls out/scores | grep -v safetensors$)" ] || fail "left behind: $(ls out/scores)"
n=$(sed -n 's/.*, \([0-9]*\) of them scored now/\1/p' e1 e2 | awk '{s += $1} END {print s + 0}')
[ "$n" -eq 3 ] || fail "$n checkpoints were scored by two processes, not 3 (of 4, two alike)"

# --watch takes what appears, prints a line, forgets nothing, and ends with 0
"$LOSSGAP" curve --run a=runs/a --run 'b=runs/b/*' --corpus text -o out --context 64 --prefix 209 --only all --watch=1 >watched 2>err &
watcher=$!
until_says 'looking every' err
mkdir runs/b/step50
cp "$golden/rnn-fla-noneg/config.json" tokenizer.json runs/b/step50
head -c 3000 "$golden/rnn-fla-noneg/model.safetensors" >runs/b/step50/model.safetensors
until_says 'step50 is not complete yet' err
cp "$golden/rnn-fla-noneg/model.safetensors" runs/b/step50
until_says '^b step 50.*: all [0-9]' watched
check grep -q '"run":"b","step":50' out/curve.json
rm -r runs/b/checkpoint-10
until_says 'checkpoint-10 is not there any more' err
kill -TERM $watcher # as Ctrl-C, which a shell keeps from its background
wait $watcher || { cat err; fail "a watcher that was idle ends with 0"; }
check grep -q '"run":"b","step":10,.*"gone":true' out/curve.json
