# Models with different tokenizers: compare finds spans by itself, its steps do the same by hand, only what is new is done, and what
# cannot be aligned is refused.
set -u
. tests/cli/common.sh
golden=$PWD/tests/golden/models
cd "$TMP" || exit 1
tokenizer() { # MERGES ENTRIES: printable ASCII characters, and what more is given
    printf '{"version":"1.0","normalizer":null,"post_processor":null,'
    printf '"added_tokens":[{"id":209,"content":"<|endoftext|>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}],'
    printf '"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":false,"use_regex":true},'
    printf '"decoder":{"type":"ByteLevel"},"model":{"type":"BPE","merges":[%s],"vocab":{%s"\\u0120":1,"\\u010a":2' "$1" "$2"
    byte=33
    while [ $byte -lt 127 ]; do
        printf ',"\\u%04x":%d' $byte $byte
        byte=$((byte + 1))
    done
    printf '}}}\n'
}
for pair in A:olmo3-yarn B:hybrid-noneg C:olmo3-yarn; do
    mkdir -p "${pair%:*}"
    cp "$golden/${pair#*:}/config.json" "$golden/${pair#*:}/model.safetensors" "${pair%:*}"
done
tokenizer '["t","h"],["c","a"]' '"th":130,"ca":131,' >A/tokenizer.json
tokenizer '["h","e"],["a","t"],["\u0120","s"]' '"he":130,"at":131,"\u0120s":132,' >B/tokenizer.json
tokenizer '["t","h"],["c","a"]' '"th":130,"ca":131,"unused":140,' >C/tokenizer.json # A's, in effect
mkdir corpus
for i in 1 2 3 4 5; do
    printf 'Document %d says (once): the cat [sat] on the mat, and the cat sat again; %d.\n' $i $((i * i)) >corpus/$i.txt
    printf 'def f%d(the):\n    return {"at": [the, cat, %d]}\n' $i $i >corpus/$i.py
done
: >corpus/empty.txt

# ---- the whole way ----
"$LOSSGAP" compare A B corpus -o out --precision f32 --context 900 >table 2>err || { cat err; fail compare; }
check grep -q "in document '1.py', token [0-9]* is id .*; they are compared over the byte spans that they share" err
check grep -q '^A (A) against B (B): [0-9,]* spans in 10 documents$' table
check grep -q 'nats per span' table
check grep -q 'are one token in both' table
check grep -q 'lossgap gap out/spans/scores-A.safetensors' table
check grep -q '"unit":"span"' out/gap.json
check grep -q '"multi":"all"' out/gap.json
check grep -q ',tokens_a,tokens_b,one_token,note,unit,' out/gap.csv
for file in data data-B scores-A scores-B spans/data spans/scores-A spans/scores-B spans/tags; do check test -s out/$file.safetensors; done
check test ! -e out/tags.safetensors

# "the": t-h-e is th+e for A and t+he for B, so one span; "cat": ca+t and c+at.
"$LOSSGAP" export out/spans/data.safetensors out/spans/scores-A.safetensors out/spans/scores-B.safetensors --format csv \
    --where "tokens(A) = 2 and tokens(B) = 2" >spans.csv || fail export
check test "$(cut -d, -f6 spans.csv | sed 1d | sort -u | tr '\n' ' ')" = '"cat" "the" '

# Again: the same table, and not one file is touched. Grown: only what is new is scored.
ls -liR --time-style=full-iso out >before
"$LOSSGAP" compare A B corpus -o out --precision f32 --context 900 >again 2>err || { cat err; fail again; }
check cmp table again
ls -liR --time-style=full-iso out >after
check cmp before after
# A third model with A's tokens: no other dataset; the first two are not scored again, and the spans stay.
"$LOSSGAP" compare A B C corpus -o out --precision f32 --context 900 >three 2>err || { cat err; fail three; }
check test ! -e out/data-C.safetensors
check grep -q '^A (A) against C (B): ' three
grep 'scores-A.safetensors\|data.safetensors' before | sort >x
ls -liR --time-style=full-iso out | grep 'scores-A.safetensors\|data.safetensors' | sort >y
check test "$(grep -c . x)" -eq 4
check test "$(comm -12 x y | grep -c .)" -eq 3 # all but the scores over spans, which name the company that they were aligned in
# And back to two models of one tokenizer: tokens again, and A is not scored again.
"$LOSSGAP" compare A C corpus -o out --precision f32 --context 900 >two 2>err || { cat err; fail two; }
check grep -q '^A (A) against C (B): [0-9,]* tokens in 10 documents$' two
check grep -q 'nats per token' two
if grep -q 'out of\|tokens/s' err; then cat err; fail 'scored again'; fi

# ---- step by step: the same numbers ----
"$LOSSGAP" tokenize corpus --tokenizer A -o a.st -q || fail tokenize
"$LOSSGAP" tokenize --like a.st --tokenizer B -o b.st -q || fail like
"$LOSSGAP" tokenize corpus --tokenizer B -o b2.st -q || fail tokenize
check test "$("$LOSSGAP" inspect b.st | grep '^identity')" = "$("$LOSSGAP" inspect b2.st | grep '^identity')"
"$LOSSGAP" score A a.st -o sa.st --precision f32 --context 900 -q || fail score
"$LOSSGAP" score B b.st -o sb.st --precision f32 --context 900 -q || fail score
"$LOSSGAP" align sa.st sb.st --data a.st --data b.st -o spans >said 2>err || { cat err; fail align; }
check grep -q '^A  *[0-9]*  *[12]\.[0-9]*  *0  *0$' said
"$LOSSGAP" compare A B corpus -o out --precision f32 --context 900 -q >/dev/null || fail compare
for file in data scores-A scores-B; do
    check test "$("$LOSSGAP" inspect spans/$file.safetensors | grep '^identity')" = "$("$LOSSGAP" inspect out/spans/$file.safetensors | grep '^identity')"
done
"$LOSSGAP" tag spans/data.safetensors -o spans/tags.safetensors -q || fail tag
"$LOSSGAP" gap spans/scores-A.safetensors spans/scores-B.safetensors --data spans/data.safetensors --tags spans/tags.safetensors -o mine.json >mine.txt || fail gap
check cmp mine.csv out/gap.csv
check cmp mine.txt out/gap.txt
"$LOSSGAP" align sb.st sa.st --data a.st --data b.st -o turned --json >said 2>err || fail turned
check grep -q '"one_token_in_all"' said
# profiles and filters of spans: the gap and the losses that `gap` gives, and the unit is said
number() { sed -n "s/.*\"$2\":\([-0-9.e]*\).*/\1/p" "$1" | head -n 1; }
"$LOSSGAP" profile spans/scores-A.safetensors spans/scores-B.safetensors --data spans/data.safetensors --tags spans/tags.safetensors \
    --by char_class -o profile.json >profile.txt || fail "profile of spans"
check grep -q 'nats per span' profile.txt
tr '{' '\n' <profile.json >profile.rows
tr '{' '\n' <mine.json >mine.rows
grep '"char_class":"\*"' profile.rows >all.profile && grep '"domain":"\*"' mine.rows | grep '"char_class":"\*"' >all.gap || fail "rows of all spans"
check test -n "$(number all.gap gap)" -a -n "$(number all.gap se)"
check test "$(number all.profile gap)" = "$(number all.gap gap)"
check test "$(number all.profile se)" = "$(number all.gap se)"
"$LOSSGAP" filter spans/data.safetensors spans/tags.safetensors --only all,novel -o masks.safetensors >filter.txt || fail "filters of spans"
check grep -q 'spans' filter.txt
check test "$("$LOSSGAP" inspect spans/data.safetensors | grep '^identity')" = "$("$LOSSGAP" inspect turned/data.safetensors | grep '^identity')"

# bits per byte of all are those of A's tokens alone
"$LOSSGAP" gap sa.st sa.st --data a.st --json >alone.json || fail alone
bits() { sed -n '/"rows"/,$p' "$1" | grep -o '"bits_per_byte_a":[0-9.]*' | head -1 | cut -c1-28; }
check test "$(bits alone.json)" = "$(bits mine.json)"

# ---- documents beyond the window ----
awk 'BEGIN { for (i = 0; i < 8; i++) printf "Line %d of the cat that sat (%d).\n", i, i * i % 97 }' >long.txt
"$LOSSGAP" compare A B long.txt -o long --context 64 --stride 32 >table 2>err || { cat err; fail long; }
check grep -q 'the models saw different parts of the document' err
check grep -q "beyond a window: not all models saw all of the document before" table
"$LOSSGAP" compare A B long.txt -o long --context 64 --stride 32 --where 'context = position' >table 2>err || fail 'long --where'
if grep -q 'beyond a window' table; then fail 'context = position'; fi
# a sample: the same documents, though B has other numbers of tokens
"$LOSSGAP" compare A B corpus -o sample --limit 120 -q >table || fail limit
check grep -q 'spans in [1-9] document' table

# ---- refused, or said ----
"$LOSSGAP" compare A B corpus -o none --prefix none >table 2>err || fail 'no prefix'
check grep -q 'have no loss, because some model has none there' err
check grep -q '; 10 without a loss left out' table
ends_with 3 'compare them with --windows document' "$LOSSGAP" compare A B corpus -o paper --windows paper
ends_with 3 'means another token to each of them' "$LOSSGAP" compare A B corpus -o prefix --prefix 209
ends_with 2 'tokens' "$LOSSGAP" compare A B corpus -o out --precision f32 --context 900 --where 'tokens(A) = many'
ends_with 3 'scores of none of these 2 datasets' "$LOSSGAP" align sa.st spans/scores-B.safetensors --data a.st --data b.st -o other
ends_with 3 'holds spans already' "$LOSSGAP" align spans/scores-A.safetensors spans/scores-B.safetensors --data spans/data.safetensors -o other
ends_with 2 'none of the scores are of b.st' "$LOSSGAP" align sa.st sa.st --data a.st --data b.st -o other
ends_with 2 'both of a model called A' "$LOSSGAP" align sa.st sa.st --data a.st -o other
ends_with 2 'Give --data' "$LOSSGAP" align sa.st sb.st -o other
ends_with 2 'holds spans, not tokens' "$LOSSGAP" score A spans/data.safetensors -o other.st
mkdir mine && cp a.st mine/data.safetensors
ends_with 2 'holds a dataset of tokens' "$LOSSGAP" align sa.st sb.st --data a.st --data b.st -o mine
check cmp a.st mine/data.safetensors
rm mine/data.safetensors && cp sa.st mine/scores-A.safetensors
ends_with 2 'holds losses over tokens' "$LOSSGAP" align sa.st sb.st --data a.st --data b.st -o mine
check cmp sa.st mine/scores-A.safetensors
"$LOSSGAP" score A a.st -o paper.st --windows paper -q || fail paper
ends_with 3 'paper windows' "$LOSSGAP" align paper.st sb.st --data a.st --data b.st -o other
cp -r corpus changed && printf 'Document 2 says more.\n' >changed/2.txt
"$LOSSGAP" tokenize changed --tokenizer B -o c.st -q && "$LOSSGAP" score B c.st -o sc.st -q || fail changed
ends_with 3 "document '2.txt' is not the same text in a.st and c.st: they differ from byte 16 on" "$LOSSGAP" align sa.st sc.st --data a.st --data c.st -o other
"$LOSSGAP" tokenize changed --tokenizer B --domain all -o d.st -q && "$LOSSGAP" score B d.st -o sd.st -q || fail domain
ends_with 3 "document '1.py' has another domain" "$LOSSGAP" align sa.st sd.st --data a.st --data d.st -o other
rm changed/1.py && "$LOSSGAP" tokenize changed --tokenizer B -o e.st -q && "$LOSSGAP" score B e.st -o se.st -q || fail fewer
ends_with 3 "document 0 is '1.py' in a.st and '1.txt' in e.st" "$LOSSGAP" align sa.st se.st --data a.st --data e.st -o other
check test ! -e other/data.safetensors
printf '{"id":"x","input_ids":[5,6,5,6,7]}\n' >ids.jsonl
"$LOSSGAP" tokenize ids.jsonl --input-ids -o ids.st -q && "$LOSSGAP" score A ids.st -o si.st -q && "$LOSSGAP" score B=A ids.st -o sj.st -q || fail ids
ends_with 3 'came already tokenised' "$LOSSGAP" align si.st sj.st --data ids.st -o other
ends_with 3 'there is no text to tokenize again' "$LOSSGAP" tokenize --like ids.st --tokenizer A -o f.st
ends_with 2 'beside it goes --tokenizer only' "$LOSSGAP" tokenize --like a.st --tokenizer A --limit 5 -o f.st
ends_with 2 'would be overwritten' "$LOSSGAP" tokenize --like a.st --tokenizer A -o a.st
