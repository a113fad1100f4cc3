#!/bin/bash
# The CUDA backend with its kernels run by the emulator: random cases against the oracle, one golden pair. Prints TAP.
#   HSPZ_TEST_GPU_CASES (60): number of cases
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${HSPZ_BUILD:-build}
plugin=$build/tests/gpu/emulated.so
cases=${HSPZ_TEST_GPU_CASES:-60}
unset HSPZ_TEST_GPU_CASES # hspz refuses settings it does not know

echo "1..2"
if output=$("$build/tests/gpu/ab" "$build/hspz_oracle.so" "$plugin" --cases "$cases" --size 1500 --bits 14 2>&1); then
    echo "ok 1 - ${output%%$'\n'*}"
else
    echo "not ok 1 - random cases"
    head -n 20 <<<"$output" | sed 's/^/# /'
fi

if [ ! -d "${HSPZ_DATA:-}/golden" ]; then
    echo "ok 2 - a golden pair # SKIP no golden data"
elif output=$(HSPZ_BUILD=$build bash tests/golden/golden.sh --plugin "$plugin" --only cat_pig -- --device cuda 2>&1); then
    echo "ok 2 - a golden pair"
else
    echo "not ok 2 - a golden pair"
    echo "# ${output//$'\n'/$'\n'# }"
fi
