# lossgap gap --view, --bootstrap and --full: numbers worked out by hand, the files written, the same for any threads, what is refused.
set -u
cd "$TMP" || exit 1
fail() { echo "failed: $*"; exit 1; }
check() { "$@" || fail "$*"; }
run() { "$LOSSGAP" "$@" >out 2>err || { cat err; fail "lossgap $*"; }; }

printf '%s\n' '{"id":"one","domain":"news","input_ids":[5,6,5,6,7]}' '{"id":"two","domain":"code","input_ids":[8,5,8]}' >ids.jsonl
printf '%s\n' '{"id":"one","input_ids":[5,6,5,6,7],"nll":[null,2,3,4,5]}' '{"id":"two","input_ids":[8,5,8],"nll":[null,6,7]}' >a.jsonl
printf '%s\n' '{"id":"one","input_ids":[5,6,5,6,7],"nll":[null,1,1,1,1]}' '{"id":"two","input_ids":[8,5,8],"nll":[null,2,2]}' >b.jsonl
run tokenize ids.jsonl --input-ids -o data
for m in a b; do run import $m.jsonl --data data -o $m --prefix none --name $m; done
run tag data -o tags
gap="gap a b --data data --tags tags"

#  one: 5 6 5 6 7   two: 8 5 8     gaps: - 1 2 3 4   - 4 5     copy_len: 0 0 1 2 0   0 0 1
run $gap --view copies --json
row() { # LEVEL TOKENS GAP
    grep -F "\"copy_len\":\"$1\",\"copy_len_window\":\"*\",\"tokens\":$2," out | grep -qF "\"gap\":$3," || { cat out; fail "copies $1"; }
}
row '=0' 3 3
row '=1' 2 3.5
row '=2' 1 3
row '>=1' 3 3.3333333333333335
row '>=2' 1 3
check grep -qF '"view":"copies"' out
check grep -qF '"contrasts":[' out

run $gap --view position --json
check grep -q '"position":"3-4","tokens":2,.*"gap":3.5,' out

# medians, shares, other averages, tests: gaps 1 2 3 4, 4 5
run $gap --by domain --json
total=$(grep '"domain":"\*"' out)
for member in '"gap":3.1666666666666665' '"median_gap":3.5' '"improved":1,' '"trimmed_tokens":0' '"gap_of_documents":3.5' '"gap_of_domains":3.5' '"domains":2' \
    '"se_of_documents":1,' '"documents_better":2' '"documents_worse":0' '"p_wilcoxon":0.5' '"p_sign":0.5' '"p_sign_flip":0.5' '"note":null'; do
    case $total in *"$member"*) ;; *) fail "no $member in $total" ;; esac
done
check grep -q '"domain":"code",.*"se":null,.*"note":"one document: no error, no test"' out

# the bootstrap: of two documents, both or either twice; one thread as two, one seed as itself
run $gap --by domain --bootstrap=400 --json --threads 1
check grep -q '"domain":"\*",.*"bootstrap_low":2.5,"bootstrap_high":4.5,.*"replicates":400' out
check grep -q '"bootstrap":{"replicates":400,"seed":0,' out
sed 's/--threads 1//' out >one
run $gap --by domain --bootstrap=400 --json --threads 2
sed 's/--threads 2//' out | cmp - one || fail "another result with two threads"
run $gap --by domain --bootstrap --full
check grep -q 'median.*improved.*trimmed.*detectable *bootstrap' out
check grep -q '^all .*+2.5000 … +4.5000' out
run $gap --by domain
grep -q 'median\|bootstrap' out && fail "the short table is long"

"$LOSSGAP" $gap --view nothing >out 2>err
check test $? -eq 2
check grep -q "there is no view 'nothing'; there are content, delimiters, copies" err
"$LOSSGAP" $gap --view copies --by domain >out 2>err
check test $? -eq 2
check grep -q -- '--view has columns of its own' err
"$LOSSGAP" $gap --view content >out 2>err
check test $? -eq 2
check grep -q "no column 'class'" err
"$LOSSGAP" $gap --bootstrap=0 >out 2>err
check test $? -eq 2
check grep -q -- '--bootstrap' err

# the files: no contrasts, no file of them
run $gap --view position -o out.json
check test -s out.json -a -s out.csv -a ! -e out-contrasts.csv
