#!/bin/bash
# run.sh -- everything about the CUDA backend that needs a device; prints a table at the end.
#
#   tests/gpu/run.sh [STAGE...]      stages: info ab golden lastz bench big sanitize huge variants (without arguments: all but the last two)
#
# It takes the programs of HSPZ_BUILD as they are and builds with make what is missing there. HSPZ_DATA holds inputs/ and
# golden/. HSPZ_GPU_SECONDS (20) limits each series of random cases. HSPZ_GPU_LOGS gets the long outputs.
#   ab        random cases: this directory's generator with random knobs, that of tests/ab with each gate
#   golden    every golden case, ecoli included, byte for byte; gate join, and the small ones with each other gate
#   lastz     --dedup lastz: CPU and CUDA backend give the same bytes
#   sanitize  compute-sanitizer memcheck, racecheck, initcheck, synccheck over a few small cases
#   bench     the bacterial pairs; big: generated 2 x 20 and 2 x 100 Mb; huge: 2 x 500 Mb in 16 GiB
#   variants  variants.sh over saureus, E. coli and generated 2 x 20 Mb: what each knob costs, and the card's limits
set -u
cd "$(dirname "$0")/../.." || exit 1
export HSPZ_BUILD=${HSPZ_BUILD:-$PWD/build} HSPZ_DATA=${HSPZ_DATA:-$PWD/../shared/data}
seconds=${HSPZ_GPU_SECONDS:-20}
logs=${HSPZ_GPU_LOGS:-$(mktemp -d)}
unset HSPZ_GPU_SECONDS HSPZ_GPU_LOGS # hspz refuses settings it does not know
build=$HSPZ_BUILD
plugin=$build/hspz_plugin.so oracle=$build/hspz_oracle.so
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
[ $# -gt 0 ] || set -- info ab golden lastz bench big sanitize

for program in hspz hspz_plugin.so hspz_oracle.so tests/gpu/ab tests/ab/hspz_ab tests/bench/genpair; do
    [ -e "$build/$program" ] || make BUILD="$build" "$build/$program" >"$logs/make.log" 2>&1 ||
        { echo "cannot build $program"; tail -n 5 "$logs/make.log"; exit 1; }
done

since=$SECONDS
step() { # step NAME COMMAND...: one line, the output to a log
    local name=$1 log
    log=$logs/$(tr ' /' '__' <<<"$1").log
    shift
    if "$@" >"$log" 2>&1; then
        echo "ok     $name ($((SECONDS - since)) s) $(grep -E '^# .*cases|^[0-9]+ cases' "$log" | tail -n 1)"
    else
        echo "NOT OK $name ($((SECONDS - since)) s)"
        grep -vE '^ok' "$log" | head -n 25 | sed 's/^/    /'
        failed=$((failed + 1))
    fi
    since=$SECONDS
}

run_info() {
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null
    "$build/hspz" info --plugin "$plugin" | grep '^device'
}

run_ab() {
    step "ab lastz" timeout 60 "$build/tests/gpu/ab" "$oracle" "$plugin" --device cuda --cases 150 --size 6000 --dedup 3
    step "ab chains" timeout 60 "$build/tests/gpu/ab" "$oracle" "$plugin" --device cuda --cases 300 --size 16000 --chains 1
    step "ab random knobs" timeout 60 "$build/tests/gpu/ab" "$oracle" "$plugin" --device cuda --cases 300 --size 6000
    step "ab hardly any memory" timeout 60 "$build/tests/gpu/ab" "$oracle" "$plugin" --device cuda --cases 150 --size 3000 --bits 14 --tight 1
    step "ab compact index" timeout 60 "$build/tests/gpu/ab" "$oracle" "$plugin" --device cuda --cases 30 --size 20000 \
        --pattern 1110101100110010101111 --index hash
    local gate
    for gate in join thread warp; do
        step "ab gate $gate" timeout "$((seconds * 4))" "$build/tests/ab/hspz_ab" --seconds "$seconds" --cases 1000000 \
            --way "backend=cuda,gate=$gate" "$oracle" "$plugin"
    done
    step "ab small buffers" timeout "$((seconds * 4))" "$build/tests/ab/hspz_ab" --seconds "$seconds" --cases 1000000 --first 500000 \
        --way "backend=cuda,cuda.piece_hits=5000,cuda.unit_windows=3000,cuda.slice_positions=2000,HSPZ_REF_BUCKETS=1" \
        --way "backend=cuda,gate=warp,cuda.piece_hits=3000,HSPZ_CHUNK_WALK=full,cuda.extend=warp,expand.density=1" \
        "$oracle" "$plugin"
}

run_golden() {
    step "golden" bash tests/golden/golden.sh ecoli --plugin "$plugin" -- --device cuda
    local gate
    for gate in thread warp; do
        step "golden gate $gate" bash tests/golden/golden.sh fast --plugin "$plugin" -- --device cuda --gate "$gate"
    done
}

pairs() { # name target query, one a line
    echo "saureus saureus_COL saureus_RF122
hpylori hpylori_G27 hpylori_SJM180_contigs
ecoli ecoli_MG1655-K12 ecoli_DH1"
}

same_lastz() { # same_lastz TARGET QUERY
    local device
    for device in cpu cuda; do
        "$build/hspz" align "$1" "$2" -o "$scratch/$device.segments" --force --nogapped --dedup lastz -q --plugin "$plugin" \
            --device "$device" || return 1
    done
    cmp "$scratch/cpu.segments" "$scratch/cuda.segments" && [ -s "$scratch/cpu.segments" ]
}

run_lastz() {
    local name target query
    while read -r name target query; do
        step "lastz rule $name" same_lastz "$HSPZ_DATA/inputs/$target.fasta.gz" "$HSPZ_DATA/inputs/$query.fasta.gz"
    done < <(pairs)
}

run_sanitize() {
    local tool
    command -v compute-sanitizer >/dev/null || { echo "no compute-sanitizer"; return; }
    for tool in memcheck racecheck initcheck synccheck; do
        step "sanitizer $tool" timeout 60 compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 10 \
            "$build/tests/gpu/ab" "$oracle" "$plugin" --device cuda --cases 5 --size 1200 --bits 14 --seed 40
    done
}

bench() { # bench NAME TARGET QUERY OPTION...
    local name=$1
    shift
    echo "== $name"
    "$build/hspz" bench "$@" --plugin "$plugin" --device cuda --repeats "${repeats:-3}" 2>&1 | tee -a "$logs/bench.log" |
        grep -E '^run|^[0-9]|^median|^hits|^gate_surv|^accepted|^kept|device memory|rror' || failed=$((failed + 1))
    since=$SECONDS
}

run_bench() {
    local name target query in=$HSPZ_DATA/inputs
    while read -r name target query; do
        bench "$name" "$in/$target.fasta.gz" "$in/$query.fasta.gz"
        bench "$name lastz" "$in/$target.fasta.gz" "$in/$query.fasta.gz" --dedup lastz
    done < <(pairs)
    for name in thread warp; do
        bench "saureus gate $name" "$in/saureus_COL.fasta.gz" "$in/saureus_RF122.fasta.gz" --gate "$name"
    done
}

generated() { # generated SIZE OPTION...
    local size=$1
    shift
    "$build/tests/bench/genpair" --size "$size" "$scratch/t.fa" "$scratch/q.fa" || return 1
    echo "made $size ($((SECONDS - since)) s)"
    since=$SECONDS
    bench "generated 2 x $size" "$scratch/t.fa" "$scratch/q.fa" "$@"
    bench "generated 2 x $size lastz" "$scratch/t.fa" "$scratch/q.fa" --dedup lastz "$@"
    local start=$EPOCHREALTIME
    "$build/hspz" align "$scratch/t.fa" "$scratch/q.fa" --nogapped -o "$scratch/out.segments" --plugin "$plugin" --device cuda "$@" 2>&1 |
        tail -n 8
    echo "whole process: $(awk "BEGIN { printf \"%.3f\", $EPOCHREALTIME - $start }") s, $(stat -c %s "$scratch/out.segments") bytes"
    rm -f "$scratch"/*.fa "$scratch"/*.segments
}

run_big() {
    generated 20M
    generated 100M
}

run_huge() {
    "$build/tests/bench/genpair" --size 500M "$scratch/t.fa" "$scratch/q.fa" || return 1
    echo "made 500M ($((SECONDS - since)) s)"
    repeats=1 bench "generated 2 x 500M, 16 GiB" "$scratch/t.fa" "$scratch/q.fa" --device-memory-limit 16Gi
    rm -f "$scratch"/*.fa
}

run_variants() {
    local in=$HSPZ_DATA/inputs
    [ -e "$build/tests/gpu/limits" ] || make BUILD="$build" "$build/tests/gpu/limits" >"$logs/make.log" 2>&1
    "$build/tests/bench/genpair" --size 20M "$scratch/t.fa" "$scratch/q.fa" || return 1
    tests/gpu/variants.sh "$build" "$in/saureus_COL.fasta.gz" "$in/saureus_RF122.fasta.gz" \
        "$in/ecoli_MG1655-K12.fasta.gz" "$in/ecoli_DH1.fasta.gz" "$scratch/t.fa" "$scratch/q.fa" || failed=$((failed + 1))
    rm -f "$scratch"/*.fa
}

for stage in "$@"; do
    "run_$stage"
done
echo "$failed failed, logs in $logs, $SECONDS s"
[ "$failed" = 0 ]
