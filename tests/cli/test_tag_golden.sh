#!/bin/sh
# The leaves of tests/golden/tags: every document FILE there is cut as FILE.leaves says, a leaf a line: its bytes
# begin-end, its tag, its text (C escapes). The listings are written by hand from the method.
set -eu
failed=0
for listing in tests/golden/tags/*.leaves; do
    file=${listing%.leaves}
    case $file in
    *.html) kind=html ;;
    *.tex | *.sty) kind=latex ;;
    *) kind=python ;;
    esac
    # lines `tag, tab, text` and `tag, tab, begin, tab, end` of the same leaves become one
    "$BUILD/tests/cli/leaves" "$kind" "$file" >"$BUILD/leaves.text"
    "$BUILD/tests/cli/leaves" "$kind" -o "$file" | sed 1d | cut -f2,3 | tr '\t' '-' >"$BUILD/leaves.bytes"
    paste "$BUILD/leaves.bytes" "$BUILD/leaves.text" | sed 's/\t/ /; s/\t/ /' >"$BUILD/leaves.found"
    if diff -u "$listing" "$BUILD/leaves.found" >"$BUILD/leaves.diff"; then continue; fi
    failed=1
    echo "$file is not cut as $listing says:"
    sed 's/^/    /' "$BUILD/leaves.diff"
done
rm -f "$BUILD"/leaves.text "$BUILD"/leaves.bytes "$BUILD"/leaves.found "$BUILD"/leaves.diff
exit $failed
