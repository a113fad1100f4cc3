#!/bin/bash
# The companion systems on a CUDA device: contract tests (TAP), and with `bench` the measurements.
# Usage: HSPZ_BUILD=build tests/companions/gpu.sh [bench [--compile]]      needs nvcc, a device and the built plugins
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
if [ "${1:-}" != bench ]; then
    build gpu_companions || exit 1
    exec "$programs/gpu_companions"
fi
build gpu_bench || exit 1
"$programs/gpu_bench" || exit 1
shift
exec python3 tests/companions/bench_torch.py "$@"
