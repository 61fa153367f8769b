# Manual pages and --help say the same: every command has a page, and every option of one stands in the other, with its short form and its
# argument. Options that examples and texts mention exist.
set -u
fail() { echo "failed: $*"; bad=1; }
bad=0
unset ARGP_HELP_FMT
man=docs/man
commands=$("$LOSSGAP" help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
[ -n "$commands" ] || { echo "lossgap help lists nothing"; exit 1; }

in_help() { # the options of command $1 as "-o, --output=DATA"
    "$LOSSGAP" "$1" --help | sed -n 's/^  *\(-., \)\{0,1\}\(--[a-z][^ ]*\( [^ ]\{1,\}\)*\).*/\1\2/p' | sort
}
in_page() { # the same from page $1: the line after .TP, without macros and fonts
    sed -n '/^\.TP/{n;p;}' "$1" |
        sed -e 's/^\.[BI]*R\{0,1\} *//' -e 's/\\f.//g' -e 's/\\-/-/g' -e 's/"//g' -e 's/^\(-.\) *, */\1, /' -e 's/= /=/g' | grep '^-' | sort
}

"$LOSSGAP" --version | grep -qxF "$(sed -n 's/^\.TH LOSSGAP 1 "" "\(.*\)" .*/\1/p' "$man/lossgap.1")" || fail "lossgap.1 is of another version"
for command in $commands; do
    case $command in help | version) continue ;; esac
    page=$man/lossgap-$command.1
    [ -f "$page" ] || { fail "there is no $page"; continue; }
    in_help "$command" >"$TMP/help"
    in_page "$page" >"$TMP/page"
    [ -s "$TMP/help" ] || fail "lossgap $command --help lists no options"
    diff "$TMP/help" "$TMP/page" >"$TMP/diff" || { fail "lossgap $command --help (<) and $page (>) differ:"; cat "$TMP/diff"; }
    grep -q "^\.BR lossgap.-$command (1)" "$man/lossgap.1" || fail "lossgap.1 does not list $command"
    [ "$(sed -n 's/^\.TH [^ ]* //p' "$page")" = "$(sed -n 's/^\.TH [^ ]* //p' "$man/lossgap.1")" ] || fail "$page has another head than lossgap.1"
    cat "$TMP/help" >>"$TMP/all"
done
for page in "$man"/lossgap-*.1; do # no page of a command that is not there
    command=${page#"$man/lossgap-"}
    echo "$commands" | grep -qx "${command%.1}" || fail "$page describes no command"
done

{ sed 's/^-., //; s/\[\{0,1\}=.*//' "$TMP/all"; echo --version; } | sort -u >"$TMP/known" # --version: of the program itself
for text in "$man"/*.1 docs/guide/*.md docs/formats/*.md README.md; do
    [ -f "$text" ] || continue
    # in Markdown only command lines of lossgap
    case $text in *.1) cat "$text" ;; *) grep -oE 'lossgap [a-z]+ [^`]*' "$text" ;; esac |
        sed 's/\\-/-/g' | grep -oE '(^|[^-a-zA-Z])--[a-z][a-z-]*' | sed 's/^[^-]*//' | sort -u |
        while read -r option; do
            grep -qxF -e "$option" "$TMP/known" || echo "$text mentions $option, which no command has"
        done
done >"$TMP/unknown"
[ -s "$TMP/unknown" ] && { cat "$TMP/unknown"; bad=1; }

if command -v groff >/dev/null; then
    for page in "$man"/*.1; do
        groff -man -ww -Tutf8 -z "$page" >"$TMP/groff" 2>&1
        [ -s "$TMP/groff" ] && { fail "groff complains about $page:"; cat "$TMP/groff"; }
    done
fi
if command -v mandoc >/dev/null; then
    for page in "$man"/*.1; do
        mandoc -T lint -W error "$page" >"$TMP/mandoc" 2>&1 || { fail "mandoc complains about $page:"; cat "$TMP/mandoc"; }
    done
fi
exit $bad
