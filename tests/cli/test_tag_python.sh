# Leaves of Python against CPython's tokenize, over a sample of the standard library (the whole: tests/cli/check_tokenize.py LEAVES).
set -eu
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
python3 -c 'import sys, tokenize; sys.exit(sys.version_info < (3, 8))' 2>/dev/null || { echo "skip: no Python of 3.8 or later"; exit 77; }
python3 tests/cli/check_tokenize.py "$BUILD/tests/cli/leaves" --every 25 >"$TMP/out" 2>&1 || { cat "$TMP/out"; exit 1; }
