# lossgap tokenize and export: options, exit codes, what is told, what is left behind.
set -u
. tests/cli/common.sh
cd "$TMP" || exit 1

mkdir -p corpus/a tok
printf 'Hi <|endoftext|>' >corpus/a/one.txt
printf 'x' >corpus/two.py
printf '{"text":"Hi <|endoftext|>","id":"three","source":"web"}\n' | gzip >corpus/lines.jsonl.gz
printf 'png' >corpus/picture.png
# A tokenizer whose tokens are bytes, and one special token.
{
    printf '{"version":"1.0","truncation":null,"padding":null,"normalizer":null,"post_processor":null,'
    printf '"added_tokens":[{"id":256,"content":"<|endoftext|>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}],'
    printf '"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":false,"use_regex":false},'
    printf '"decoder":{"type":"ByteLevel"},"model":{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,'
    printf '"end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,"merges":[],"vocab":{'
    byte=0 shifted=256 separator=
    while [ $byte -lt 256 ]; do
        if [ $byte -ge 33 ] && [ $byte -le 126 ] || [ $byte -ge 161 ] && [ $byte -le 172 ] || [ $byte -ge 174 ]; then
            letter=$byte
        else
            letter=$shifted shifted=$((shifted + 1))
        fi
        printf '%s"\\u%04x":%d' "$separator" $letter $byte
        separator=, byte=$((byte + 1))
    done
    printf '}}}'
} >tok/tokenizer.json

ends_with 0 'passed over 1 file by ending: .png 1' "$LOSSGAP" tokenize corpus --tokenizer tok -o data
check test ! -s said
ends_with 0 '3 documents, 33 tokens, 33 bytes' "$LOSSGAP" tokenize corpus --tokenizer tok/tokenizer.json -o data
grep -q '1 document has the content of an earlier one' err || fail duplicates
ends_with 0 '3 documents, 9 tokens, 33 bytes' "$LOSSGAP" tokenize corpus --tokenizer tok -o special --parse-special
"$LOSSGAP" tokenize corpus --tokenizer tok -o quiet -q >out 2>err || fail quiet
check test ! -s out
check test ! -s err
"$LOSSGAP" tokenize -q corpus --tokenizer tok -o one --threads 1 || fail threads
"$LOSSGAP" tokenize -q corpus --tokenizer tok -o two --threads 2 || fail threads
"$LOSSGAP" export one >one.jsonl && "$LOSSGAP" export two >two.jsonl || fail export
check cmp one.jsonl two.jsonl

"$LOSSGAP" export special >out || fail export
check test "$(wc -l <out)" -eq 9
check test "$(sed -n 1p out)" = '{"document":"a/one.txt","domain":"prose","token":0,"begin":0,"end":1,"text":"H","id":72}'
check test "$(sed -n 8p out)" = '{"document":"three","domain":"web","token":3,"begin":3,"end":16,"text":"<|endoftext|>","id":256}'
"$LOSSGAP" export special --format csv -o table.csv >out || fail export -o
check test ! -s out
check test "$(sed -n '1p;$p' table.csv)" = 'document,domain,token,begin,end,text,id
"two.py","python",0,0,1,"x",120'

ends_with 0 'domain prose has no documents under the limit of 15 tokens: its first by hash has 16' "$LOSSGAP" tokenize corpus/two.py corpus/a --tokenizer tok -o limited --limit 15
ends_with 0 '1 document, 1 tokens' "$LOSSGAP" tokenize corpus/two.py corpus/a --tokenizer tok -o limited --limit 15
ends_with 0 '1 document' "$LOSSGAP" tokenize corpus/picture.png --kind html --domain d --tokenizer tok -o kind
printf '{"input_ids":[1,2]}\n{"input_ids":[]}\n' >ids.jsonl
ends_with 0 '2 documents, 2 tokens, 0 bytes' "$LOSSGAP" tokenize ids.jsonl --input-ids -o ids

ends_with 2 'name a corpus' "$LOSSGAP" tokenize --tokenizer tok -o no
ends_with 2 'with -o' "$LOSSGAP" tokenize corpus --tokenizer tok
ends_with 2 'tokenizer is missing' "$LOSSGAP" tokenize corpus -o no
ends_with 2 'takes no --tokenizer' "$LOSSGAP" tokenize corpus --input-ids --tokenizer tok -o no
ends_with 2 'not .verse' "$LOSSGAP" tokenize corpus --kind verse --tokenizer tok -o no
ends_with 2 'limit' "$LOSSGAP" tokenize corpus --limit 0 --tokenizer tok -o no
ends_with 3 'say it with --kind' "$LOSSGAP" tokenize corpus/picture.png --tokenizer tok -o no
ends_with 3 'No such file' "$LOSSGAP" tokenize missing --tokenizer tok -o no
ends_with 3 'No such file' "$LOSSGAP" tokenize corpus --tokenizer missing -o no
printf '{"text":"x"}\nnonsense\n' >bad.jsonl
ends_with 3 'bad.jsonl:2' "$LOSSGAP" tokenize bad.jsonl --tokenizer tok -o no
head -c 30 corpus/lines.jsonl.gz >cut.jsonl.gz
ends_with 3 'cut.jsonl.gz is cut off' "$LOSSGAP" tokenize cut.jsonl.gz --tokenizer tok -o no
mkdir empty
ends_with 3 'no documents' "$LOSSGAP" tokenize empty --tokenizer tok -o no
ends_with 1 'No such file' "$LOSSGAP" tokenize corpus --tokenizer tok -o nowhere/data
ends_with 2 'overwritten' "$LOSSGAP" tokenize ids.jsonl --input-ids -o ids.jsonl
cp data precious
printf 'something else' >other
for target in tok/tokenizer.json other precious; do
    before=$(cksum <"$target")
    [ $target = precious ] || ends_with 3 'overwritten' "$LOSSGAP" tokenize corpus --tokenizer tok -o $target
    ends_with 3 'overwritten' "$LOSSGAP" tag precious -o $target
    check test "$before" = "$(cksum <"$target")"
done
ends_with 2 'overwritten' "$LOSSGAP" export precious -o precious
check cmp -s data precious
ends_with 3 'corpus' "$LOSSGAP" export corpus/two.py
ends_with 2 'name a dataset' "$LOSSGAP" export
[ -w /dev/full ] && { "$LOSSGAP" export data >/dev/full 2>err; check test $? -eq 1; check grep -q 'No space left' err; }
check test ! -e no
check test -z "$(find . -name '*.tmp' -o -name '*.spool')"

# Stopped in the middle: nothing is there, and the exit code says so.
i=0
while [ $i -lt 64 ]; do
    echo '{"text":"'"$(cat tok/tokenizer.json tok/tokenizer.json tok/tokenizer.json tok/tokenizer.json | tr -d '"\\')"'"}'
    i=$((i + 1))
done >some.jsonl
i=0
while [ $i -lt 40 ]; do cat some.jsonl; i=$((i + 1)); done >many.jsonl
"$LOSSGAP" tokenize many.jsonl --tokenizer tok -o no --threads 1 >out 2>err &
pid=$!
while kill -0 $pid 2>/dev/null && ! ls -l /proc/$pid/fd 2>/dev/null | grep -q many.jsonl; do sleep 0.01; done
kill -TERM $pid 2>/dev/null # it reads, so it has armed its signals
wait $pid
code=$?
if [ $code -ne 0 ]; then # it may have been quicker
    check test $code -eq 130
    check grep -q 'nothing was written' err
    check test ! -e no
fi
check test -z "$(find . -name '*.tmp' -o -name '*.spool')"
