# The program's frame: the list of commands, help, unknown commands, a full disk, exit codes.
set -u
try() { # prints what a command says and its exit code
    echo "\$ lossgap $*"
    "$LOSSGAP" "$@" >"$TMP/out" 2>"$TMP/err"
    code=$?
    sed 's/^/out: /' "$TMP/out" | head -n "${LINES_SHOWN:-4}"
    sed 's/^/err: /' "$TMP/err" | head -n "${LINES_SHOWN:-4}"
    echo "exit $code"
}
check() { "$@" || { echo "failed: $*"; exit 1; }; }

try
try help
try --help
try nosuch
try hepl
try vers
check test "$("$LOSSGAP" --version)" = "$("$LOSSGAP" version | head -n 1)"
check test "$("$LOSSGAP" version | wc -l)" -eq 2
if [ -w /dev/full ]; then
    "$LOSSGAP" help >/dev/full 2>"$TMP/err"
    check test $? -eq 1
    check grep -q 'No space left' "$TMP/err"
fi
# Every command answers --help on stdout with its own usage.
for command in $("$LOSSGAP" help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    "$LOSSGAP" help "$command" >"$TMP/out" || { echo "help $command failed"; exit 1; }
    check grep -q "^Usage: lossgap $command" "$TMP/out"
done
