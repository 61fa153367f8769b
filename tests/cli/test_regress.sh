# lossgap regress: both forms, files written, what people read, and what is refused.
set -u
root=$PWD
cd "$TMP" || exit 1
fail() { echo "failed: $*"; exit 1; }
run() { "$LOSSGAP" "$@" >out 2>err || { cat err; fail "lossgap $*"; }; }
refused() { # CODE TEXT ARGUMENT...
    code=$1 text=$2
    shift 2
    "$LOSSGAP" regress "$@" -o no.json >out 2>err
    got=$?
    [ $got -eq "$code" ] || { cat err; fail "regress $* ended with $got, not $code"; }
    grep -qF -e "$text" err || { cat err; fail "regress $* did not say: $text"; }
    [ ! -s out ] && [ ! -e no.json ] && [ ! -e no.csv ] || fail "regress $* left something"
}

# a table: y = 1 + 2 x + e, e orthogonal to 1 and x; slope 2, clustered error sqrt(0.24) (worked out in test_stats_regress.c)
printf 'y,x,doc,part\n2,0,a,whole\n2,1,a,prefix\n4,2,b,whole\n8,3,b,prefix\n' >t.csv
run regress t.csv --formula 'y ~ x' --cluster doc -o reg.json
grep -qE '^x +2\.00000 +0\.48990 +0\.63246 ' out || { cat out; fail "the table lacks the slope"; }
grep -qF '"term":"x","estimate":2,"se":0.489897948556635' reg.json || { cat reg.json; fail "reg.json lacks the slope"; }
grep -qF '"format":"regression","version":1,"provenance":' reg.json || fail "reg.json has another head"
grep -q '^x,2\(\.0\)\{0,1\},0\.489897948556635' reg.csv || { cat reg.csv; fail "reg.csv lacks the slope"; }
grep -q '^term,estimate,se,se_classical,se_cr0,t,df,p,low,high,' reg.csv || fail "reg.csv has another head"
run regress t.csv --formula 'y ~ x' --cluster doc --json
sed 's/"command":"[^"]*"//' out >printed
sed 's/"command":"[^"]*"//' reg.json | cmp -s - printed || fail "--json and -o write different documents"

# the same from two aligned files, compressed, with a definition and a condition
printf 'half\n0\n0.5\n1\n1.5\n' | gzip >h.csv.gz
run regress t.csv h.csv.gz --formula 'y ~ twice' --define 'twice=half * 2' --cluster doc --json
grep -qF '"term":"twice","estimate":2,"se":0.489897948556635' out || { cat out; fail "two files"; }
run regress t.csv --formula 'gap ~ x' --define 'gap=y / 2' --where 'x < 3' -o signed.json
grep -qF '"define":{"gap":"y / 2"},"where":"x < 3"' signed.json || fail "the settings lack the definition and the condition"
[ "$(grep -c ',positive_gap_means$' signed.csv)" -eq 1 ] && [ "$(grep -c ',B predicts better$' signed.csv)" -eq 2 ] || fail "signed.csv lacks the sign"
refused 3 'in each, --where does not hold' t.csv --formula 'y ~ x' --where 'x > 9'
run regress t.csv --formula 'y ~ part' --reference part=whole --where 'x < 3'
grep -qF 'left out: 1 not asked for' out || { cat out; fail "--where is not told"; }
grep -qE '^part=prefix +-1\.00000 ' out || { cat out; fail "--reference"; }

# the same bits for one thread and for three
big=$root/tests/golden/regression/data/weighted.safetensors
for n in 1 3; do
    run regress "$big" --formula 'gap ~ domain*wordpos + tag + difficulty^2' --cluster doc --weights weight --threads $n -o t$n.json
    sed 's/"command":"[^"]*"//' t$n.json >t$n
done
cmp -s t1 t3 || fail "one thread and three write different documents"

# scores: five tokens with gaps 1 2 3 4 and 4 5
printf '%s\n' '{"id":"one","domain":"news","input_ids":[5,6,5,6,7]}' '{"id":"two","domain":"code","input_ids":[8,5,8]}' >ids.jsonl
printf '%s\n' '{"id":"one","input_ids":[5,6,5,6,7],"nll":[null,2,3,4,5]}' '{"id":"two","input_ids":[8,5,8],"nll":[null,6,7]}' >a.jsonl
printf '%s\n' '{"id":"one","input_ids":[5,6,5,6,7],"nll":[null,1,1,1,1]}' '{"id":"two","input_ids":[8,5,8],"nll":[null,2,2]}' >b.jsonl
run tokenize ids.jsonl --input-ids -o data
for m in a b; do run import $m.jsonl --data data -o $m --prefix none --name $m; done
run tag data -o tags
run regress a b --data data --tags tags --formula 'gap ~ domain' -o scores.json
grep -qF '"cluster":"doc"' scores.json || fail "scores are not clustered by document"
grep -qF '"sign":"gap = loss(A) - loss(B)' scores.json || fail "the sign is not told"
grep -qF '"left_out":[{"column":"gap","reason":"missing or not finite","n":2}]' scores.json || fail "tokens without a loss are not counted"
grep -qE '"domain":"code","n":2,"documents":1,"raw_mean":4\.5,' scores.json || { cat scores.json; fail "the mean of a domain"; }
run regress a b --data data --tags tags --formula 'gap ~ relpos' --difficulty b --cluster document
# difficulty: means of both losses 1.5 2 2.5 3 4 4.5; of b 1 1 1 1 2 2; of a file c, another model of that name
sed 's/\[null,2,3,4,5\]/[null,7,7,7,7]/; s/\[null,6,7\]/[null,1,7]/' a.jsonl >c.jsonl
run import c.jsonl --data data -o c --prefix none --name a
mean() { run regress a b --data data --formula 'difficulty ~ 1' "$@" --json; sed -n 's/.*"term":"(Intercept)","estimate":\([^,]*\),.*/\1/p' out; }
case $(mean) in 2.91666666666666*) ;; *) false ;; esac || fail "the mean of both losses is $(mean)"
case $(mean --difficulty b) in 1.33333333333333*) ;; *) false ;; esac || fail "b's loss is $(mean --difficulty b)"
[ "$(mean --difficulty ./a)" = 4.5 ] || fail "the loss in file a is $(mean --difficulty ./a)"
[ "$(mean --difficulty c)" = 6 ] || fail "the loss in file c is $(mean --difficulty c)"

refused 2 "what is to be explained" t.csv
refused 2 "which tables?" --formula 'y ~ x'
refused 2 "there is no column 'z'; there are y, x, doc, part" t.csv --formula 'y ~ z'
refused 2 "only the intercept" t.csv --formula 'y ~ x - doc'
refused 2 "name the scores of two models" a --data data --formula 'gap ~ 1'
refused 2 "are for scores" t.csv --preset paper
refused 2 "give one of the two" a b --data data --tags tags --preset paper --formula 'gap ~ 1'
refused 2 "--tolerance takes a number" t.csv --formula 'y ~ x' --tolerance 0
refused 2 "there are no scores of 'd'" a b --data data --formula 'gap ~ difficulty' --difficulty d
refused 3 "no row can be used" t.csv --formula 'y ~ log(0 - 1)'
refused 3 "are not aligned" t.csv "$big" --formula 'y ~ gap'
refused 3 "missing.csv" missing.csv --formula 'y ~ x'
"$LOSSGAP" regress t.csv --formula 'y ~ x' >/dev/full 2>err && fail "a full disk went unnoticed"
exit 0
