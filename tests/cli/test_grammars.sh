# grammars/fetch: a full cache needs no npm; without npm, with an npm that fails, or with a package that is not the one named it
# says so, with the remedy, and leaves nothing half made.
set -u
fail() { echo "failed: $*"; [ -f "$TMP/err" ] && cat "$TMP/err"; exit 1; }
mkdir "$TMP/bin" "$TMP/cache"
for tool in sh cat dirname grep mkdir mktemp mv rm sha256sum tar gzip; do ln -s "$(command -v $tool)" "$TMP/bin/$tool"; done
fetch() { PATH=$TMP/bin grammars/fetch "$@" >"$TMP/out" 2>"$TMP/err"; }

grep -v '^#' grammars/packages | while read -r language _ sum; do
    mkdir "$TMP/cache/$language"
    echo "$sum" >"$TMP/cache/$language/sum"
done
fetch "$TMP/cache" || fail "a full cache"
[ -s "$TMP/err" ] && fail "a full cache has nothing to say"

fetch "$TMP/none" && fail "no cache and no npm"
grep -q 'no npm' "$TMP/err" && grep -q './bootstrap' "$TMP/err" || fail "the remedy for a missing npm"

printf '#!/bin/sh\necho "npm ERR! offline"\nexit 1\n' >"$TMP/bin/npm"
chmod +x "$TMP/bin/npm"
fetch "$TMP/none" && fail "an npm that fails"
grep -q 'npm ERR! offline' "$TMP/err" && grep -q 'check the network' "$TMP/err" || fail "the remedy for a failing npm"

printf '#!/bin/sh\necho no archive >a.tgz\n' >"$TMP/bin/npm"
fetch "$TMP/none" && fail "another archive than the one named"
grep -q 'has the SHA-256' "$TMP/err" || fail "the sum of another archive"
[ -z "$(ls -A "$TMP/none")" ] || fail "something was left: $(ls -A "$TMP/none")"
