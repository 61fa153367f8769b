# lossgap filter from end to end: masks of a small corpus, what is left out, a file of filters, wrong ones; lossgap score --masks
# prints the means that the files give (checked with NumPy where there is one).
set -u
. tests/cli/common.sh
models=$PWD/models
cd "$TMP" || exit 1
mkdir corpus
for i in 1 2 3 4 5 6; do
    printf 'The old dog (%s) saw the green river of the town. The old dog (%s) saw the green house, and %s small birds sang.\n' $i $i $i >corpus/$i.txt
done
printf 'def f(x):\n    return [x, (x + 1)]\n\ndef g(x):\n    return [x, (x + 1)]\n' >corpus/f.py
check "$LOSSGAP" tokenize corpus --tokenizer "$models/transformer" -o data -q
check "$LOSSGAP" tag data -o tags -q
check "$LOSSGAP" score "$models/transformer" data -o a --precision f32 -q
check "$LOSSGAP" score "$models/hybrid" data -o b --precision f32 -q

# what can be made without scores; the rest is told
check "$LOSSGAP" filter data tags >out
for name in all copy5 open close content function novel reuse; do
    grep -q "^$name  *[1-9]" out || fail "no tokens in $name: $(cat out)"
done
grep -q '^left out: state: needs the scores of a pair' out || fail "state is not told: $(cat out)"
grep -q '^left out: hard_copy5: needs the scores' out || fail "hard_copy5 is not told"
# --scores takes two arguments, wherever it stands; too little text for state to choose by
check "$LOSSGAP" filter --scores a b data tags --hard a >first
check "$LOSSGAP" filter data tags --hard a --scores a b >last
cmp first last || fail "the place of --scores matters"
grep -q '^left out: state: none of the [0-9]* content tags has 200 tokens in 20 documents' first || fail "$(cat first)"
grep -q '^hard_copy5 ' first || fail "no hard_copy5: $(cat first)"
ends_with 2 "takes the scores of two models" "$LOSSGAP" filter data tags --scores a
ends_with 2 "takes the scores of two models" "$LOSSGAP" filter data tags --scores a --hard b
ends_with 2 "cannot be made: needs the scores of a pair" "$LOSSGAP" filter data tags --only state
ends_with 2 "DATASET and TAGS are needed" "$LOSSGAP" filter data

# a list of tags, a file, masks
cat >mine.txt <<'END'
# two
nouns = family = noun and \
        not missing(loss(transformer))
new_nouns: nouns and novel
END
check "$LOSSGAP" filter data tags --state-tags nn,jj,python.identifier --scores a b --hard a --filters mine.txt -o masks --json >rows.json
grep -q '"filter":"new_nouns","expression":"nouns and novel"' rows.json || fail "$(cat rows.json)"
check "$LOSSGAP" filter data tags --state-tags nn,jj,python.identifier --scores a b --hard a --filters mine.txt -o again --json --threads 1 >rows1.json
for f in masks again; do "$LOSSGAP" inspect "$f" | grep '^identity'; done | uniq | wc -l | grep -qx 1 || fail "threads change the masks"
check "$LOSSGAP" inspect --all masks >about
grep -q 'what *masks' about && grep -q 'the data and settings are those of the identity' about || fail "$(cat about)"
printf 'x = copy_len > 1\nrare = family = nuon\n' >wrong.txt
ends_with 3 "wrong.txt:2: filter rare 'family = nuon', column 10: no level 'nuon' of family; did you mean noun?" \
    "$LOSSGAP" filter data tags --filters wrong.txt
ends_with 3 "data holds dataset, where masks is wanted" "$LOSSGAP" filter data tags -o data
ends_with 3 "data holds dataset, where masks is wanted" "$LOSSGAP" filter data absent -o data # before any work
ends_with 1 "cannot create a file beside absent/masks" "$LOSSGAP" filter data absent -o absent/masks

# the losses over them
check "$LOSSGAP" score "$models/transformer" data -o a --precision f32 --masks masks -q >table
grep -q '^new_nouns ' table || fail "$(cat table)"
check "$LOSSGAP" score "$models/transformer" data -o a --precision f32 --masks masks -q --json >losses.json
mkdir fewer && cp corpus/1.txt corpus/2.txt fewer
check "$LOSSGAP" tokenize fewer --tokenizer "$models/transformer" -o other -q
ends_with 3 "masks holds masks of .* tokens, other has" "$LOSSGAP" score "$models/transformer" other -o c --masks masks
[ ! -e c ] || fail "scored before the masks were looked at"

python=${LG_PYTHON:-python3}
if "$python" -c 'import numpy, safetensors' 2>/dev/null; then
    "$python" - <<'END' || fail "NumPy's means are others"
import json
from safetensors.numpy import load_file
masks, nll = load_file("masks"), load_file("a")["nll"].astype("f8")
data = load_file("data")
assert (masks["token_id"] == data["token_id"]).all() and (masks["token_end"] == data["token_end"]).all()
rows = json.load(open("losses.json"))["rows"]
assert len(rows) == len(masks) - 3 > 10
for row in rows:
    chosen = (masks[row["filter"]] == 1) & (nll == nll)
    assert chosen.sum() == row["tokens"] > 0, row
    assert abs(nll[chosen].mean() - row["loss"]) < 1e-12, row
END
fi
