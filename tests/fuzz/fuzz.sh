#!/bin/bash
# Runs every fuzz target for a few seconds (HSPZ_FUZZ_SECONDS, default 5) on its seeds. A crash, a leak, a hang or more than
# 1 GiB fails, and the input that did it is kept beside the program. Without clang's libFuzzer all are skipped, counted.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${HSPZ_BUILD:-build}
seconds=${HSPZ_FUZZ_SECONDS:-5}
targets=(tests/fuzz/fuzz_*.c)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

have_libfuzzer() {
    printf '#include <stddef.h>\n#include <stdint.h>\nint LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { return d && n ? 0 : 0; }\n' \
        >"$scratch/probe.c"
    "${CLANG:-clang}" -fsanitize=fuzzer,address "$scratch/probe.c" -o "$scratch/probe" 2>"$scratch/probe.log"
}

# One target: prints its TAP line, and on failure what libFuzzer said.
run_target() {
    local number=$1 name=$2 program=$build/tests/fuzz/$2 seeds=tests/fuzz/corpus/${2#fuzz_}
    local inputs=("$scratch/$name")
    mkdir -p "$scratch/$name"
    [ -d "$seeds" ] && inputs+=("$seeds")
    if "$program" -max_total_time="$seconds" -max_len=4096 -timeout=20 -rss_limit_mb=1024 -print_final_stats=1 \
        -artifact_prefix="$build/tests/fuzz/$name-" "${inputs[@]}" >"$scratch/$name.log" 2>&1; then
        echo "ok $number - $name: $(awk '/stat::number_of_executed_units/ {print $2}' "$scratch/$name.log") inputs in $seconds s"
    else
        echo "not ok $number - $name: the input is kept as $build/tests/fuzz/$name-*"
        tail -40 "$scratch/$name.log" | sed 's/^/# /'
        return 1
    fi
}

echo "1..${#targets[@]}"
if ! have_libfuzzer; then
    for i in "${!targets[@]}"; do
        echo "ok $((i + 1)) - $(basename "${targets[i]}" .c) # SKIP clang's libFuzzer is not installed"
    done
    exit 0
fi
if ! env -u MAKEFLAGS -u MAKELEVEL make -s BUILD="$build" fuzz_build >"$scratch/build.log" 2>&1; then
    for i in "${!targets[@]}"; do
        echo "not ok $((i + 1)) - $(basename "${targets[i]}" .c): does not build"
    done
    tail -40 "$scratch/build.log" | sed 's/^/# /'
    exit 1
fi
failed=0
for i in "${!targets[@]}"; do
    run_target "$((i + 1))" "$(basename "${targets[i]}" .c)" || failed=1
done
exit "$failed"
