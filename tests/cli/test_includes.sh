# Rooms import one way only (CONTRIBUTING.md): every #include "room/…" in src/ against the list of allowed directions.
set -eu
allowed() { # rooms that room $1 may include, beside itself, base and the public headers
    case $1 in
    base) echo ;;
    store) echo ;;
    corpus) echo store tokenizer ;;
    tokenizer) echo store ;;
    query) echo store ;;
    kernels) echo ;;
    layers) echo kernels ;;
    model) echo layers kernels store ;;
    score) echo model store ;;
    tag) echo store ;;
    stats) echo query store ;;
    probe) echo score tokenizer store ;;
    train) echo model score query store ;;
    report) echo stats store ;;
    cli) echo ;;
    *) echo "src/$1 is a room that this test does not know" >&2; exit 1 ;;
    esac
}
bad=0 seen=0
for folder in src/*/; do
    room=$(basename "$folder")
    may=$(allowed "$room")
    for file in "$folder"*.[ch]; do
        [ -f "$file" ] || continue
        for target in $(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$file"); do
            seen=$((seen + 1))
            case $target in
            lossgap/* | base/* | "$room"/*) continue ;;
            */*) ;;
            *) echo "$file includes \"$target\": write the room, as in \"$room/$target\""; bad=1; continue ;;
            esac
            ok=
            for m in $may; do [ "${target%%/*}" = "$m" ] && ok=1; done
            [ -n "$ok" ] || { echo "$file includes \"$target\", but $room may not include ${target%%/*}"; bad=1; }
        done
    done
done
# The public headers include each other only.
for file in include/lossgap/*.h; do
    for target in $(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$file"); do
        case $target in lossgap/*) ;; *) echo "$file includes \"$target\", which is not public"; bad=1 ;; esac
    done
done
# What the program measures with must not know models: statistics, tags and reports see tables only.
for room in report stats tag; do
    if grep -ln 'lossgap/model\.h' "src/$room"/*.[ch] 2>/dev/null; then
        echo "src/$room includes lossgap/model.h"
        bad=1
    fi
done
[ $seen -gt 20 ] || { echo "only $seen includes found: is this the repository's root?"; bad=1; }
exit $bad
