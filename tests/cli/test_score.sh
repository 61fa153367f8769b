# lossgap score and import: the same bytes after a kill, what is reused, what is refused.
set -u
. tests/cli/common.sh
hybrid=$PWD/models/hybrid
cd "$TMP" || exit 1
score() { "$LOSSGAP" score hybrid="$hybrid" "$@"; }

# Documents of 1 to 130 tokens; two are the same.
awk 'BEGIN {
    for (d = 0; d < 24; d++) {
        printf "{\"id\": \"d%d\", \"domain\": \"x\", \"input_ids\": [", d
        n = d == 23 ? 101 : 1 + (d * d * 37) % 130; s = d == 23 ? 5 : d
        if (d == 5) n = 101
        for (i = 0; i < n; i++) { s = (s * 1103 + 12345) % 65536; printf "%s%d", i ? ", " : "", s % 2000 }
        print "]}"
    }
}' >all.jsonl
head -n 10 all.jsonl >some.jsonl
"$LOSSGAP" tokenize -q --input-ids all.jsonl -o all.data || fail tokenize
"$LOSSGAP" tokenize -q --input-ids some.jsonl -o some.data || fail tokenize

# The command line is part of the file, so every run has the same one, each in a folder of its own.
run() { # FOLDER DATA: runs there in the background, $pid
    mkdir -p "$1"
    cp "$2" "$1/data"
    cd "$1" || exit 1
    "$LOSSGAP" score hybrid="$hybrid" data -o scores --context 64 --stride 48 --batch 100 --threads 1 2>log &
    pid=$!
    cd ..
}
run whole all.data
wait $pid || { cat whole/log; fail score; }
[ ! -e whole/scores.journal ] || fail "the journal is still there"

# Killed at several moments, and gone on with each time.
for pause in 0.05 0.1 0.2 0.4 0.3 0.15; do
    run killed all.data
    sleep $pause
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
done
run killed all.data
wait $pid || { cat killed/log; fail "score after kills"; }
cmp whole/scores killed/scores || fail "a killed run ended with other bytes"

# Ctrl-C: exit code 130, what to do next, and the journal.
run stopped all.data
while [ ! -e stopped/scores.journal ] && kill -0 $pid 2>/dev/null; do sleep 0.05; done
kill -TERM $pid 2>/dev/null
wait $pid
code=$?
if [ -e stopped/scores ]; then
    [ $code -eq 0 ] || fail "a finished run ended with $code"
else
    [ $code -eq 130 ] || fail "a stopped run ended with $code"
    grep -q 'goes on' stopped/log || { cat stopped/log; fail "nothing about going on"; }
fi
run stopped all.data
wait $pid || fail "score after a stop"
cmp whole/scores stopped/scores || fail "a stopped run ended with other bytes"

# A grown corpus costs its new rows: what is left is less than from nothing, and the result is the same.
left() { score --dry-run --json "$@" 2>/dev/null | sed 's/.*"rows_left": \([0-9]*\).*/\1/'; }
run grown some.data
wait $pid || fail "score some"
fresh=$(left all.data -o none --context 64 --stride 48)
rest=$(left all.data -o grown/scores --context 64 --stride 48)
[ "$rest" -gt 0 ] && [ "$rest" -lt "$fresh" ] || fail "$rest of $fresh rows left"
[ ! -e none ] && [ ! -e none.journal ] || fail "--dry-run wrote something"
run grown all.data
wait $pid || fail "score all"
cmp whole/scores grown/scores || fail "a grown corpus ended with other bytes"
[ "$(left all.data -o grown/scores --context 64 --stride 48)" = 0 ] || fail "something is left after all"
[ "$(left all.data -o grown/scores --context 64 --stride 47)" -ge "$fresh" ] || fail "other settings, but reused"

score --dry-run all.data -o none --context 64 >out 2>err || fail "--dry-run"
grep -q '^windows    document, 64 tokens, stride 32$' out || { cat out; fail "--dry-run: windows"; }
grep -q '^prefix     2046$' out || { cat out; fail "--dry-run: prefix"; }
grep -q '^time       about ' out || { cat out; fail "--dry-run: time"; }

# Refused, and nothing written.
ends_with 2 'MODEL and DATA' "$LOSSGAP" score x
ends_with 2 'where the scores go' score all.data
ends_with 2 'stride' score all.data -o none --context 8 --stride 9
ends_with 2 'stride' score all.data -o none --windows paper --stride 9
ends_with 2 'separator' score all.data -o none --windows paper --prefix none
ends_with 2 'prefix 2048 is no token' score all.data -o none --prefix 2048
ends_with 3 'nothing.here' score nothing.here -o none
ends_with 3 'would be overwritten' score all.data -o all.jsonl
ends_with 3 'would be overwritten' score all.data -o some.data
ends_with 3 'no/folder' score all.data -o no/folder/scores
printf '{"input_ids": [1, 2, 2048]}\n' | sed 's/^/ /' >big.jsonl
"$LOSSGAP" tokenize -q --input-ids big.jsonl -o big.data || fail tokenize
ends_with 3 'token 2 has id 2048' score big.data -o none
[ ! -e none ] && [ ! -e none.journal ] || fail "a refused run wrote something"

# Losses from elsewhere.
printf '{"id":"a","domain":"x","input_ids":[5,7,5]}\n{"id":"b","domain":"x","input_ids":[9]}\n' >ids.jsonl
"$LOSSGAP" tokenize -q --input-ids ids.jsonl -o ids.data || fail tokenize
printf '{"id":"b","input_ids":[9],"nll":[3.5]}\n{"id":"a","input_ids":[5,7,5],"nll":[1,2,0.5]}\n' >gpu.jsonl
"$LOSSGAP" import -q gpu.jsonl --data ids.data --prefix 2046 -o gpu.scores || fail import
"$LOSSGAP" score -q hybrid="$hybrid" ids.data --context 8192 -o here.scores || fail "score ids"
"$LOSSGAP" gap gpu.scores here.scores --data ids.data --by domain --json 2>err >gap.json || { cat err; fail gap; }
grep -q '"model_a": *"gpu"' gap.json || { cat gap.json; fail "gap of an import"; }
ends_with 3 'nll\[0\] of document "a" should be null' "$LOSSGAP" import gpu.jsonl --data ids.data -o none
ends_with 3 'line 2: .*input_ids\[1\] is 7, the dataset has 8' sh -c "sed s/7,5/8,5/ ids.jsonl >other.jsonl &&
    '$LOSSGAP' tokenize -q --input-ids other.jsonl -o other.data &&
    '$LOSSGAP' import gpu.jsonl --data other.data --prefix 2046 -o none"
ends_with 3 'would be overwritten' "$LOSSGAP" import gpu.jsonl --data ids.data --prefix 2046 -o ids.data
ends_with 2 'what was scored' "$LOSSGAP" import gpu.jsonl -o none
[ ! -e none ] || fail "a refused import wrote something"
exit 0
