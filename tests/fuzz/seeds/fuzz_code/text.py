0#!/bin/sh
# Runs the benchmarks named (default: all of those built) one after another: what each measures stands at the head of its
# source. Nothing here passes or fails; on a shared machine compare figures of one run only.
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
for program in "$BUILD"/bench/bench_*; do
    name=${program##*/bench_}
    case $name in *.*) continue ;; esac
    [ $# -eq 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
    printf '== %s\n' "$name"
    "$program"
done
