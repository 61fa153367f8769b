# lossgap tagger: trains on a few sentences and measures; the same file twice is the same model; mistakes are told with file and line and the
# right exit code; the models that come with the program read our own sentences.
set -u
fail() { echo "failed: $*"; exit 1; }
golden=$PWD/tests/golden/tagger
cd "$TMP" || exit 1

"$LOSSGAP" tagger train --tagset brown "$golden/brown.txt" --lexicon "$golden/treebank.conllu" --source "ours" --epochs 3 -q -o a || fail "train brown"
"$LOSSGAP" tagger train --tagset brown "$golden/brown.txt" --lexicon "$golden/treebank.conllu" --source "ours" --epochs 3 -q -o a.again || fail "train again"
"$LOSSGAP" inspect a | grep -q tagger || fail "inspect does not say that it is a tagger"
[ "$("$LOSSGAP" inspect a | grep -i identity)" = "$("$LOSSGAP" inspect a.again | grep -i identity)" ] || fail "two trainings differ"
"$LOSSGAP" tagger eval --tagset brown "$golden/brown.txt" --model a --json >json || fail "eval --json"
grep -qE '^\{"tagset":"brown","words":[0-9]+,"sentences":12,"unknown_words":0,"accuracy":(1|0\.[0-9]+),"family_accuracy":(1|0\.[0-9]+),' json ||
    fail "$(cut -c1-200 json)"
grep -q '"word_f1"' json && fail "word_f1 without --raw"
"$LOSSGAP" tagger eval --tagset penn "$golden/treebank.conllu" --raw --json | grep -q '"word_f1":1,"sentence_f1":1,' || fail "eval --raw"
"$LOSSGAP" tagger eval --tagset upos "$golden/treebank.conllu" --raw >table || fail "eval of upos"
for word in 'tags of unknown words' 'words F1' 'sentences F1' precision confusions; do
    grep -q "$word" table || fail "the table lacks '$word'"
done

refused() { # CODE TEXT ARGUMENTS…
    code=$1 text=$2
    shift 2
    "$LOSSGAP" tagger "$@" >out 2>err
    got=$?
    [ $got -eq "$code" ] || fail "tagger $*: exit code $got, not $code"
    grep -qF -e "$text" err || fail "tagger $*: '$text' is not in: $(cat err)"
}
printf 'The/at dog/nn\nbarks\n' >broken.txt
printf '1\tThe\t_\tDET\n' >broken.conllu
refused 3 'broken.txt:2: "barks" is no word/tag' train --tagset brown broken.txt -o b
refused 3 'broken.conllu:1: 4 columns' eval --tagset upos broken.conllu
refused 3 'no CoNLL-U' eval --tagset penn "$golden/brown.txt"
refused 3 'not-there' eval --tagset brown not-there
refused 3 'a.again' eval --tagset brown "$golden/brown.txt" --model "$golden/brown.txt.a.again"
refused 3 'safetensors' eval --tagset brown "$golden/brown.txt" --model "$golden/brown.txt"
refused 2 'brown, not penn' eval --tagset penn "$golden/treebank.conllu" --model a
refused 2 'no raw text' eval --tagset brown "$golden/brown.txt" --raw
refused 2 'tagset' eval "$golden/brown.txt"
refused 2 'klingon' eval --tagset klingon "$golden/brown.txt"
refused 2 'train or eval' --tagset brown
refused 2 '-o MODEL' train --tagset brown "$golden/brown.txt"
refused 2 'for train' eval --tagset brown "$golden/brown.txt" --epochs 3
[ -e b ] && fail "a failed training left a file"
exit 0
