#!/bin/bash
# Randomized A/B: the oracle against every instruction set of the CPU backend. See ab.c; prints TAP.
#   HSPZ_AB_CASES (2000), HSPZ_AB_FIRST (1): number of cases and first seed
here=$(dirname "$0")
build=${HSPZ_BUILD:-build}
cases=${HSPZ_AB_CASES:-2000} first=${HSPZ_AB_FIRST:-1}
ab=$build/tests/ab/hspz_ab

echo "1..3"
number=0
check() { # check NAME ARGUMENTS...: one run of the program
    number=$((number + 1))
    local name=$1 output
    shift
    if output=$("$ab" "$@" "$build/hspz_oracle.so" "$build/hspz_plugin.so" 2>&1); then
        echo "ok $number - $name: $(tail -n 1 <<<"$output")"
    else
        echo "not ok $number - $name"
        head -n 20 <<<"$output"
    fi
}

check "kept seeds" --cases 0 --seeds "$here/regressions.txt"
check "random cases" --cases "$cases" --first "$first"

# The comparison can fail: a plugin that drops transitions is no copy of one that has them.
number=3
if "$ab" --self-test "$build/hspz_oracle.so" "$build/hspz_plugin.so" >/dev/null 2>&1; then
    echo "ok 3 - a difference is found"
else
    echo "not ok 3 - a difference is found"
fi
