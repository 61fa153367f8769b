# lossgap inspect: what it says of a tokenizer, an artefact, a foreign file, a result; what it refuses.
set -u
. tests/cli/common.sh
cd "$TMP" || exit 1
says() { # TEXT COMMAND…: prints TEXT on stdout
    text=$1
    shift
    "$@" >out 2>err || { cat err; fail "$*"; }
    [ ! -s err ] || { cat err; fail "$* said something on stderr"; }
    grep -q -- "$text" out || { cat out; fail "$* did not print '$text'"; }
}

# Already tokenised data need no tokenizer.
printf '{"id":"a","input_ids":[5,7,5,5,7,5]}\n{"id":"b","input_ids":[]}\n{"id":"c","input_ids":[9]}\n' >ids.jsonl
"$LOSSGAP" tokenize -q ids.jsonl --input-ids -o data || fail tokenize
"$LOSSGAP" tag -q data -o tags || fail tag
says '^what  *dataset$' "$LOSSGAP" inspect data
says '^  token_id  *U32  *\[7\]  *5 ... 9, mean 6.14286$' "$LOSSGAP" inspect data
says '^what  *tags$' "$LOSSGAP" inspect tags
says '^  copy_len  *U16  *\[7\]  *0 ... 3, mean 1$' "$LOSSGAP" inspect tags
says '^command  *lossgap tag -q data -o tags$' "$LOSSGAP" inspect tags
says '^verified' "$LOSSGAP" inspect --all tags
says '"kind": "tags"' "$LOSSGAP" inspect --json tags

# A safetensors file of another program: one BF16 tensor, [2], 1 and -2.
header='{"w":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}'
{
    printf "\\$(printf %03o ${#header})\\0\\0\\0\\0\\0\\0\\0%s" "$header"
    printf '\200\077\000\300'
} >foreign.safetensors
says '^what  *safetensors$' "$LOSSGAP" inspect foreign.safetensors
says '^  w  *BF16  *\[2\]  *-2 ... 1, mean -0.5$' "$LOSSGAP" inspect foreign.safetensors

printf '{"format":"gap","version":1,"provenance":{"command":"x"},"rows":[{},{},{}]}' >gap.json
says '^rows  *3$' "$LOSSGAP" inspect gap.json
printf '{"model_type":"olmo3"}' >config.json
ends_with 3 'part of a checkpoint' "$LOSSGAP" inspect config.json
printf '{"format":"gap","rows":[' >broken.json
ends_with 3 'broken.json' "$LOSSGAP" inspect broken.json
printf '\377\377\377\377\377\377\377\377{}' >lying.safetensors
ends_with 3 'lying.safetensors' "$LOSSGAP" inspect lying.safetensors
ends_with 3 'nosuch' "$LOSSGAP" inspect nosuch
ends_with 2 'inspect what' "$LOSSGAP" inspect
ends_with 2 'one too many' "$LOSSGAP" inspect a b
