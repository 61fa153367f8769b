# lossgap gap --where and compare --where: numbers worked out by hand, what is counted and told, and what is refused.
set -u
. tests/cli/common.sh
cd "$TMP" || exit 1
run() { "$LOSSGAP" "$@" >out 2>err || { cat err; fail "lossgap $*"; }; }

printf '%s\n' '{"id":"one","domain":"news","input_ids":[5,6,5,6,7]}' '{"id":"two","domain":"code","input_ids":[8,5,8]}' >ids.jsonl
printf '%s\n' '{"id":"one","input_ids":[5,6,5,6,7],"nll":[null,2,3,4,5]}' '{"id":"two","input_ids":[8,5,8],"nll":[null,6,7]}' >a.jsonl
printf '%s\n' '{"id":"one","input_ids":[5,6,5,6,7],"nll":[null,1,1,1,1]}' '{"id":"two","input_ids":[8,5,8],"nll":[null,2,2]}' >b.jsonl
run tokenize ids.jsonl --input-ids -o data
for m in a b; do run import $m.jsonl --data data -o $m --prefix none --name $m; done
run tag data -o tags

# where EXPR TOKENS GAP UNKNOWN: the total's row of the JSON
where() {
    run gap a b --data data --tags tags --by domain --where "$1" --json
    row=$(sed -n '/"domain":"\*"/p' out)
    case $row in *"\"tokens\":$2,"*"\"gap\":$3,"*) ;; *) fail "$1: $row" ;; esac
    grep -qF "\"kept\":$2,\"unknown\":$4" out || { cat out; fail "$1: not kept $2, unknown $4"; }
}
#                   one: 5 6 5 6 7   two: 8 5 8     gaps: - 1 2 3 4   - 4 5     copy_len: 0 0 1 2 0   0 0 1
where 'copy_len = 0' 3 3 0
where 'copy_len >= 1' 3 3.3333333333333335 0
where 'not copy_len = 0 and domain = news' 2 2.5 0
where 'loss(a) > 3' 4 4 0
where 'gap > 3 or document = two' 3 4.333333333333333 0
where 'domain != news' 2 4.5 0
where 'reuse = reuse and prev_distance = 2' 3 3.3333333333333335 0
where 'position in (1, 4..)' 3 3 0
where 'id = 5 or id = 7' 3 3.3333333333333335 0
where '(loss(b) - 1) / (loss(b) - 1) = 1' 2 4.5 4
where 'log(loss(b)) = 0 and domain ~ /^n/' 4 2.5 0
where 'copy_len > 100' 0 null 0
grep -qF '"where":"copy_len > 100"' out || fail "the settings do not hold the condition"

run gap a b --data data --tags tags --by domain --where '(loss(b) - 1) / (loss(b) - 1) = 1'
check grep -qx 'where (loss(b) - 1) / (loss(b) - 1) = 1: 2 tokens of 6 tokens with a loss; it cannot be told of 4 tokens' out

refused() { # EXPR TEXT
    "$LOSSGAP" gap a b --data data --tags tags --where "$1" -o gap.json >out 2>err
    code=$?
    [ $code -eq 2 ] || { cat err; fail "$1 ended with $code"; }
    grep -qF -e "$2" err || { cat err; fail "$1 did not say $2"; }
    [ ! -e gap.json ] || fail "$1 left a file"
}
refused 'copy_len' '--where takes conditions, and copy_len is a number: compare it, as in copy_len > 0'
refused 'copylen = 0' "--where 'copylen = 0', column 1: there is no column 'copylen'; did you mean copy_len?"
refused 'reuse = resue' "column 9: no level 'resue' of reuse; did you mean reuse?"
refused 'loss(c) > 1' 'there is no loss(c); there are a, b'
refused "token ~ /x/" "there is no column 'token'"

# --define: rows NAME=LEVEL TOKENS GAP of the JSON; other columns and definitions may be used, and the condition may use them
row() { # LEVELS TOKENS GAP
    line=$(grep -F "$1" out | head -n 1)
    case $line in *"\"tokens\":$2,"*"\"gap\":$3,"*) ;; *) fail "$1: $line" ;; esac
}
run gap a b --data data --tags tags --define 'far=copy_len = 0' --define 'where=domain' --define 'odd=(loss(b) - 1) / (loss(b) - 1) = 1 and far' \
    --by far,where,odd --where 'far or copy_len = 1' --json
row '"far":"*","where":"*","odd":"*"' 5 3.2
row '"far":"false","where":"*","odd":"*"' 2 3.5
row '"far":"true","where":"*","odd":"*"' 3 3
row '"far":"*","where":"news","odd":"*"' 3 2.3333333333333335
row '"far":"*","where":"*","odd":"true"' 1 4
row '"far":"*","where":"*","odd":"unknown"' 2 2.5
row '"far":"*","where":"*","odd":"false"' 2 3.5
row '"far":"true","where":"code","odd":"true"' 1 4
grep -qF '"define":["far=copy_len = 0","where=domain",' out || fail "the settings do not hold the definitions"
run gap a b --data data --tags tags --define 'domain=loss(a) > 4' --by domain # hides the column
check grep -qE '^true +3 ' out
check grep -qxF 'defined: domain=loss(a) > 4' out

undefined() { # OPTIONS TEXT
    "$LOSSGAP" gap a b --data data --tags tags $1 -o gap.json >out 2>err
    code=$?
    [ $code -eq 2 ] || { cat err; fail "$1 ended with $code"; }
    grep -qF -e "$2" err || { cat err; fail "$1 did not say $2"; }
    [ ! -e gap.json ] || fail "$1 left a file"
}
undefined '--define n=copy_len --by n' "--define n 'copy_len', column 1: groups are of conditions and categories, and copy_len is a number: compare it, as in copy_len > 0"
undefined '--define n=copylen --by domain' "did you mean copy_len?"
undefined '--define n' "a definition is NAME=EXPRESSION"
undefined '--define n=reuse --define n=domain' "'n' is defined twice"
undefined '--define a=b=c --define b=domain' "there is no column 'b'"

# export: only those tokens, in order; every column stays.
run export data a b --tags tags --where 'copy_len = 0 and loss(a) > 3' --format csv
check test "$(wc -l <out)" -eq 3
check test "$(cut -d, -f1,3,7 out | tail -n 2 | tr '\n' ' ')" = '"one",4,7 "two",1,5 '
run export data --where 'doc = 1'
check test "$(wc -l <out)" -eq 3
"$LOSSGAP" export data a --where 'los(a) > 3' -o some.csv 2>err
check test $? -eq 2
check test ! -e some.csv
check grep -qF 'did you mean log or loss?' err
