#!/bin/bash
# Runs clang-tidy on C files with the flags they are compiled with, file by file, and fails if any has a finding.
#
#   tests/tidy.sh FILE.c...      HSPZ_CUDA_HOME: a CUDA toolkit; without it the drivers of the CUDA backend are left out
set -u
cd "$(dirname "$0")/.." || exit 1
common=(-std=c11 -D_GNU_SOURCE -Iabi -Iplugin -Ikernels/cpu -Ihost-shim -Itests/unit -Itests/companions)
failed=0
for file in "$@"; do
    flags=("${common[@]}" "-I$(dirname "$file")")
    case $file in
    plugin/backend_cuda_absent.c) ;;
    plugin/backend_cuda*)
        [ -n "${HSPZ_CUDA_HOME:-}" ] || { echo "tidy: $file left out, no CUDA toolkit"; continue; }
        flags+=(-isystem "$HSPZ_CUDA_HOME/include" -DHSPZ_WITH_CUDA=1)
        ;;
    kernels/cpu/*avx512*) flags+=(-mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vbmi -mavx512cd -mfma -mpopcnt) ;;
    kernels/cpu/*avx2*) flags+=(-mavx2 -mbmi2 -mfma -mpopcnt) ;;
    esac
    if ! clang-tidy --quiet "$file" -- "${flags[@]}" 2>/dev/null; then
        echo "tidy: $file"
        failed=1
    fi
done
exit "$failed"
