# lossgap profile: numbers worked out by hand, reference pairs and seeds as options, files, what is told and what is refused.
set -u
. tests/cli/common.sh
cd "$TMP" || exit 1
run() { "$LOSSGAP" "$@" >out 2>err || { cat err; fail "lossgap $*"; }; }

printf '%s\n' '{"id":"one","domain":"x","input_ids":[1,2,3]}' '{"id":"two","domain":"x","input_ids":[1,2,3]}' '{"id":"three","domain":"y","input_ids":[1,2,3]}' \
    '{"id":"four","domain":"y","input_ids":[1,2,3]}' >ids.jsonl
run tokenize ids.jsonl --input-ids -o data
losses() { # NAME, then the losses of the four documents' two tokens
    name=$1
    shift
    for id in one two three four; do
        printf '{"id":"%s","input_ids":[1,2,3],"nll":[null,%s,%s]}\n' $id "$1" "$2"
        shift 2
    done >$name.jsonl
    run import $name.jsonl --data data -o $name --prefix none --name $name
}
losses a 5 5 5 5 5 5 5 5
losses b 4 4 3.5 4.5 3 3 3 3       # gaps 1 1 1.5 .5 2 2 2 2: x 1, y 2, all 1.5
losses a1 5 5 5 5 5 5 5 6          # a1 - a: only the last token, 1
losses b2 4 4 4 4 3.5 3.5 3.5 3.5  # a - b2: x 1, y 1.5, all 1.25
losses c 4 6 4 6 4 6 4 6           # a - c: 0 overall

row() { # DOMAIN TEXT...: the row of the JSON has each of these
    line=$(grep "\"domain\":\"$1\"" out | head -n 1)
    shift
    for text in "$@"; do
        case $line in *"$text"*) ;; *) fail "no $text in $line" ;; esac
    done
}
run profile a b --data data --by domain --reference a b2 --json
row '*' '"tokens":8,"documents":4,' '"gap":1.5,' '"profile":1,"profile_se":null,' '"reference_gap":1.25,' '"difference":0,'
row x '"gap":1,' '"profile":0.6666666666666666,' '"reference_a":"a","reference_b":"b2"' '"reference_gap":1,' '"reference_profile":0.8,' '"difference":-0.133333333333333'
row y '"gap":2,' '"profile":1.3333333333333333,' '"reference_profile":1.2,'
grep -q '"correlation":1,\|"correlation":0.99999999' out && fail 'a correlation over two groups'
check grep -qF '"note":"fewer than three groups with two documents"' out
check grep -qF '"pair":["a","b"],"references":[["a","b2"]]' out

run profile a b --data data --seeds A=a1 --seeds B=b2 --json # by domain without tags
row x '"seeds_a":2,"seeds_b":2,' '"seed_gap":1,"seed_sd_a":0,"seed_sd_b":0,' '"noise_floor":0,' '"gap_over_noise":null,"above_noise":null' '"seed_note":"no spread between seeds: no floor"'
row y '"seed_gap":1.875,"seed_sd_a":0.1767766952966369,"seed_sd_b":0.35355339059327' '"noise_floor":0.395284707521047' '"noise_largest":0.5,' '"above_noise":true'
check grep -qF '"seeds_a":["a","a1"],"seeds_b":["b","b2"]' out
check grep -qE '^\{"side":"B","model_a":"b","model_b":"b2","domain":"y","tokens":4,"documents":2,"gap":-0.5,"se":0,' out

run profile a b --data data --by domain --reference a b2 --reference a1 a --seeds A=a1 --define 'late=position = 2' --where 'late or not late' -o p.json --full
for file in p.json p.csv p-agreement.csv p-seeds.csv; do [ -s $file ] || fail "there is no $file"; done
check test "$(wc -l <p.csv)" -eq 7
check test "$(wc -l <p-seeds.csv)" -eq 4
check grep -qF 'profile = gap of the group / overall gap of the same pair' out
check grep -qF 'gap = loss(A) - loss(B), nats per token; positive: B predicts better.' out
check grep -qF 'reference pair: a1 (A) against a (B)' out
check grep -qF 'note on the reference: the interval of the overall gap holds 0' out
run profile a b --data data --by domain --reference a b2 --reference a1 a --seeds A=a1 --define 'late=position = 2' --where 'late or not late' --json --threads 3
check test "$(sed 's/"command":"[^"]*"//' out | cksum)" = "$(sed 's/"command":"[^"]*"//' p.json | cksum)"

run profile a c --data data --by domain
check grep -qF 'note: the overall gap is 0: no profile' out
run profile a a --data data --by domain
check grep -qF 'note: the overall gap is 0: no profile' out

refused() { # CODE TEXT ARGUMENTS
    code=$1 text=$2
    shift 2
    "$LOSSGAP" profile "$@" -o none.json >out 2>err
    got=$?
    [ $got -eq "$code" ] || { cat err; fail "$* ended with $got, not $code"; }
    grep -qF -e "$text" err || { cat err; fail "$* did not say: $text"; }
    [ ! -e none.json ] || fail "$* left a file"
}
refused 2 '--reference takes the scores of two models' a b --data data --reference a
refused 2 'a profile is of the scores of two models, and 3 are named' a b c --data data
refused 2 'Give --data DATA' a b
refused 2 '--seeds takes further scores of one side' a b --data data --seeds a1
refused 2 'hold the same losses, which are one seed' a b --data data --seeds A=a
cp a copy
refused 2 'hold the same losses, which are one seed' a b --data data --seeds A=copy
sed 's|null|5|' a1.jsonl >other.jsonl
run import other.jsonl --data data -o other --prefix 3 --name other
refused 3 'score both with the same --prefix' a b --data data --reference a other
refused 2 "there is no column 'nothing' to group by" a b --data data --by nothing
