#!/bin/bash
# The companion systems on a CUDA device: contract tests (TAP), with `bench` the measurements, with `torch` the loop of PyTorch as it is
# and compiled, with `all` all of these, within five minutes or so.
# Usage: HSPZ_BUILD=build tests/companions/gpu.sh [bench|rescore|torch|all]      needs nvcc, a device and the built plugins
set -u
cd "$(dirname "$0")/../.." || exit 1
export HSPZ_BUILD=${HSPZ_BUILD:-build}
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ ! -x "$nvcc" ]; then
    echo "1..0 # SKIP no nvcc"
    exit 0
fi
programs=$HSPZ_BUILD/tests/companions
mkdir -p "$programs"
build() { # PROGRAM
    "$nvcc" -std=c++17 -O2 -arch=native -Iabi -o "$programs/$1" "tests/companions/$1.cu" -ldl 1>&2
}
contract() {
    build gpu_companions && timeout 100 "$programs/gpu_companions"
}
bench() {
    build gpu_bench && timeout 60 "$programs/gpu_bench"
}
torch() {
    timeout 290 python3 tests/companions/bench_torch.py --compile "$@"
}

# hspz rescore on the device against the CPU.
rescored() {
    local work result=0
    work=$(mktemp -d) || return 1
    local pair=(tests/data/pseudocat.fasta.gz tests/data/pseudopig.fasta.gz)
    "$HSPZ_BUILD/hspz" align "${pair[@]}" -o "$work/all.segments" --nogapped --device cpu -q &&
        "$HSPZ_BUILD/hspz" rescore "${pair[@]}" "$work/all.segments" --device cpu -q >"$work/cpu" &&
        "$HSPZ_BUILD/hspz" rescore "${pair[@]}" "$work/all.segments" --device "${1:-cuda}" -q >"$work/device" &&
        paste "$work/cpu" "$work/device" | awk -F'\t' '{ split($9, a, "="); split($18, b, "="); d = a[2] - b[2]; if (d < 0) d = -d
            if (d > 1e-4 * a[2] || a[2] <= 0) bad = 1 } END { exit bad || NR < 10 }' || result=1
    if [ "$result" -eq 0 ]; then echo "ok - rescore: the device gives the CPU's scores"; else echo "not ok - rescore on the device"; fi
    rm -rf "$work"
    return "$result"
}

# Compiling takes a minute of a few cores and hardly any of the device: it runs beside the contract tests, and measures when told to.
everything() {
    local work result=0
    work=$(mktemp -d) || return 1
    TORCHINDUCTOR_CACHE_DIR=$work/cache torch "$work/go" >"$work/compiled" 2>&1 &
    local compiling=$!
    build gpu_bench &
    local building=$!
    contract >"$work/contract" || result=1
    rescored >>"$work/contract" || result=1
    grep -v '^ok' "$work/contract"
    echo "contract tests: $(grep -c '^ok' "$work/contract") ok, $(grep -c '^not ok' "$work/contract") not ok"
    wait "$building" && timeout 60 "$programs/gpu_bench" || result=1
    touch "$work/go"
    wait "$compiling" || echo "PyTorch's loop: not finished (exit status $?)"
    tail -n 20 "$work/compiled"
    rm -rf "$work"
    return "$result"
}

case ${1:-} in
"") contract ;;
bench) bench ;;
rescore) rescored "${2:-cuda}" ;;
torch) torch ;;
all) everything ;;
*)
    echo "usage: tests/companions/gpu.sh [bench|rescore|torch|all]" >&2
    exit 2
    ;;
esac
