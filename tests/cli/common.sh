# What the scripts of this folder share; each reads it before it leaves the repository's root.
fail() { echo "failed: $*"; exit 1; }
check() { "$@" || fail "$*"; }
ends_with() { # CODE TEXT COMMAND…: exits with CODE and says TEXT on stderr
    code=$1 text=$2
    shift 2
    "$@" >said 2>err
    got=$?
    [ $got -eq "$code" ] || { cat said err; fail "$* ended with $got, not $code"; }
    grep -q -e "$text" err || { cat err; fail "$* did not say '$text'"; }
}
