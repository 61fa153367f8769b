# lossgap tag and frequency: the list, a document shown, options and exit codes, the same byte-level tags under two tokenizers.
set -u
. tests/cli/common.sh
models=$PWD/models
cd "$TMP" || exit 1

mkdir text
printf 'The jury (the whole one) had not been told of "it".\n' >text/a.txt
printf 'def f(x):\n    return {"k": x}\n' >text/b.py
printf '<p class="c">Tom &amp; Ann</p>\n' >text/c.html
printf '\\begin{abc} $x$ \\end{abc} %% c\n' >text/d.tex
check "$LOSSGAP" tokenize text --tokenizer "$models/transformer" -o data -q

# Families and tags: the method's table.
check "$LOSSGAP" tag --list >list
check grep -qE '^ *2 noun, content \+$' list
check grep -qE '^ +brown +.*\bnn\b.*\bnp\$' list
check grep -qE '^[ 0-9]+ pronoun, function$' list
check grep -q 'python.keyword' list
check "$LOSSGAP" tag --list --json >list.json
check grep -q '"name": "family_bits"' list.json

# A document by its name, the end of it, its number.
check "$LOSSGAP" tag data --show a.txt >shown
check grep -qE '^[0-9]+ +·had +hvd +aux_have ' shown || fail "had is no hvd"
check grep -qE ' open.round +1 ' shown
check grep -qE ' close.round +1 +[0-9]+ ' shown
[ "$(grep -c quote shown)" -ge 1 ] || fail "no quotes"
"$LOSSGAP" tag data --show 0 | cmp -s - shown || fail "document 0 is a.txt"
check "$LOSSGAP" tag data --show b.py --json >json
check grep -q '"family":"keyword"' json
[ "$(wc -l <json)" -eq "$("$LOSSGAP" export data | grep -c 'b.py')" ] || fail "a line a token"
ends_with 2 "names that end in" "$LOSSGAP" tag data --show ''
ends_with 2 "has no document 'z'" "$LOSSGAP" tag data --show z
if [ -t 1 ]; then :; else grep -q "$(printf '\033')" shown && fail "colours in a file"; fi

ends_with 2 'where to' "$LOSSGAP" tag data
ends_with 2 'what can be left out' "$LOSSGAP" tag data -o tags --without brown
ends_with 2 'one of first, all, drop' "$LOSSGAP" tag data -o tags --multi some
ends_with 3 'cannot open' "$LOSSGAP" tag data -o tags --tagger none
ends_with 3 'none' "$LOSSGAP" tag data -o tags --frequency none
check [ ! -e tags ]
check "$LOSSGAP" tag data -o tags -q
check "$LOSSGAP" tag data -o few --without upos,penn,copy -q
"$LOSSGAP" inspect few | grep -qE '^ +(upos|copy_len) ' && fail "left out all the same"
check "$LOSSGAP" inspect tags >seen
check grep -qE '^ +family_bits +U64' seen

check "$LOSSGAP" frequency data data -o twice -q
check "$LOSSGAP" tag data -o other --frequency twice -q
"$LOSSGAP" export data --tags tags --format csv >one.csv
"$LOSSGAP" export data --tags other --format csv >two.csv
check cmp -s one.csv two.csv # twice the counts, the same frequencies
ends_with 2 'which dataset' "$LOSSGAP" frequency -o x
ends_with 2 'stands alone' "$LOSSGAP" tag data --list
ends_with 2 'goes with --list' "$LOSSGAP" tag data --json -o x
