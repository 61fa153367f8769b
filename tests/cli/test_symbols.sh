# Every symbol that the shared library exports begins with lg_, and what the public headers declare is exported.
set -eu
command -v nm >/dev/null || { echo "skip: no nm"; exit 77; }
nm -D --defined-only "$BUILD/liblossgap.so" | awk '{print $NF}' | sed 's/@.*//' | sort -u >"$TMP/exported"
[ -s "$TMP/exported" ] || { echo "no exported symbols"; exit 1; }
# Sanitizers and the compiler's own run-time may add theirs.
if grep -vE '^(lg_|__asan|__ubsan|__odr_asan|_init$|_fini$|__bss_start$|_edata$|_end$)' "$TMP/exported"; then
    echo "these exported symbols lack the prefix"
    exit 1
fi
