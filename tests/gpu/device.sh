#!/bin/bash
# The CUDA backend on the device of this machine, if there is one: random cases against the oracle, golden pairs. Prints TAP.
# tests/gpu/run.sh does more.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${HSPZ_BUILD:-build}
if ! "$build/hspz" info --plugin "$build/hspz_plugin.so" 2>/dev/null | grep -q '^device .*cuda:[0-9]*: .*usable'; then
    echo "1..0 # SKIP no CUDA device"
    exit 0
fi
echo "1..2"
if output=$("$build/tests/gpu/ab" "$build/hspz_oracle.so" "$build/hspz_plugin.so" --device cuda --cases 200 2>&1); then
    echo "ok 1 - ${output%%$'\n'*}"
else
    echo "not ok 1 - random cases"
    head -n 20 <<<"$output" | sed 's/^/# /'
fi
if [ ! -d "${HSPZ_DATA:-}/golden" ]; then
    echo "ok 2 - golden pairs # SKIP no golden data"
elif output=$(HSPZ_BUILD=$build bash tests/golden/golden.sh ecoli --plugin "$build/hspz_plugin.so" -- --device cuda 2>&1); then
    echo "ok 2 - golden pairs"
else
    echo "not ok 2 - golden pairs"
    grep -v '^ok' <<<"$output" | sed 's/^/# /'
fi
