# make install and uninstall: the program runs from where it was put, and the program of docs/guide/library.md, compiled with pkg-config
# against the installed library (shared and static), computes what `lossgap score` does.
set -u
fail() { echo "failed: $*"; exit 1; }
for tool in make pkg-config cc; do
    command -v $tool >/dev/null || { echo "skip: no $tool"; exit 77; }
done
[ -f models/transformer/config.json ] || fail "this is not the repository's root"
root=$TMP/root
case ${MAKEFLAGS:-} in # variables as SANITIZE stay, the job server does not
*'-- '*) MAKEFLAGS="-- ${MAKEFLAGS#*-- }" ;;
*) unset MAKEFLAGS ;;
esac
unset MFLAGS MAKELEVEL
install() { make -s "$1" BUILD="$BUILD" DESTDIR="$root" PREFIX=/opt/lossgap >"$TMP/make" 2>&1 || { cat "$TMP/make"; fail "make $1"; }; }
install install
prefix=$root/opt/lossgap
[ "$("$prefix/bin/lossgap" --version)" = "$("$LOSSGAP" --version)" ] || fail "the installed program says another version"
[ -f "$prefix/share/man/man1/lossgap.1" ] || fail "no manual page was installed"

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root"
[ "lossgap $(pkg-config --modversion lossgap)" = "$("$LOSSGAP" --version)" ] || fail "pkg-config says another version"
sed -n '/^```c$/,/^```$/{/^```/d;p;}' docs/guide/library.md | cmp - tests/cli/library_example.c || fail "docs/guide/library.md shows another program"
sanitizers=
if nm -D "$prefix/lib/liblossgap.so" 2>/dev/null | grep -q __asan; then sanitizers=-fsanitize=address,undefined; fi
compile() { # OUT FLAGS…
    out=$1
    shift
    # shellcheck disable=SC2086
    cc -std=c17 -Wall -Wextra -Wconversion -Wshadow -Werror $sanitizers -o "$out" tests/cli/library_example.c "$@" || fail "cannot compile the example"
}
# shellcheck disable=SC2046
compile "$TMP/shared" $(pkg-config --cflags --libs lossgap)
mkdir "$TMP/static-only"
cp "$prefix/lib/liblossgap.a" "$TMP/static-only/"
# shellcheck disable=SC2046
compile "$TMP/static" -L"$TMP/static-only" $(pkg-config --static --cflags --libs lossgap)

mkdir "$TMP/corpus"
printf 'The state of the union is strong, and the union of the state is strong.\n' >"$TMP/corpus/a.txt"
printf 'def f(x):\n    return f(x - 1) if x else [0]\n' >"$TMP/corpus/b.py"
: >"$TMP/corpus/empty.md"
"$LOSSGAP" tokenize -q "$TMP/corpus" --tokenizer models/transformer -o "$TMP/data" || fail tokenize
"$LOSSGAP" score -q example=models/transformer "$TMP/data" -o "$TMP/expected" || fail score
"$LOSSGAP" export "$TMP/data" "$TMP/expected" >"$TMP/expected.jsonl" || fail export
for way in shared static; do
    LD_LIBRARY_PATH=$([ $way = shared ] && echo "$prefix/lib") "$TMP/$way" models/transformer "$TMP/data" "$TMP/$way.scores" >"$TMP/$way.out" || fail "the $way example"
    "$LOSSGAP" export "$TMP/data" "$TMP/$way.scores" | cmp - "$TMP/expected.jsonl" || fail "the $way example computed other losses than lossgap score"
    awk -F '\t' '{print $1, $2}' "$TMP/$way.out" >"$TMP/$way.counts"
    # the same counts and means, from the exported table
    awk -F '[",:}]+' '{for (i = 1; i < NF; i++) if ($i == "nll.example" && $(i + 1) != "null") n[$3]++}
        END {print "a.txt", n["a.txt"] + 0, "tokens"; print "b.py", n["b.py"] + 0, "tokens"; print "empty.md 0 tokens"}' "$TMP/expected.jsonl" |
        cmp - "$TMP/$way.counts" || { cat "$TMP/$way.out"; fail "the $way example counts other tokens"; }
done
LD_LIBRARY_PATH=$prefix/lib "$TMP/shared" "$TMP/corpus" "$TMP/data" "$TMP/no" >"$TMP/out" 2>"$TMP/err"
[ $? -eq 3 ] || fail "a folder without a checkpoint is bad input"
grep -q 'config.json' "$TMP/err" || { cat "$TMP/err"; fail "the library did not say what is missing"; }

install uninstall
left=$(find "$root" ! -type d)
[ -z "$left" ] || fail "make uninstall left $left"
