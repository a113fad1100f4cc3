#!/bin/bash
# The CUDA backend with its kernels run by the emulator: random cases against the oracle, one golden pair. Prints TAP.
#   HSPZ_TEST_GPU_CASES (60): number of cases of the first test; the others take fewer
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${HSPZ_BUILD:-build}
plugin=$build/tests/gpu/emulated.so
cases=${HSPZ_TEST_GPU_CASES:-60}
unset HSPZ_TEST_GPU_CASES # hspz refuses settings it does not know

n=0
# random WHAT ARGUMENTS: cases of ab
random() {
    local what=$1 output
    shift
    n=$((n + 1))
    if output=$("$build/tests/gpu/ab" "$build/hspz_oracle.so" "$plugin" "$@" 2>&1); then
        echo "ok $n - $what: ${output%%$'\n'*}"
    else
        echo "not ok $n - $what"
        head -n 20 <<<"$output" | sed 's/^/# /'
    fi
}

echo "1..9"
random "any settings" --cases "$cases" --size 1500 --bits 14
random "hardly any memory" --cases $((cases / 2)) --size 1000 --bits 14 --tight 1
random "chains of rejected hits" --cases $((cases / 3)) --chains 1 --size 10000
random "compact index, 12of19" --cases $((cases / 10)) --size 2000 --pattern 1110100110010101111 --index hash
random "compact index, 14of22" --cases $((cases / 10)) --size 6000 --pattern 1110101100110010101111 --index hash
# The reference plugin's table of all words takes 4 GiB for these.
if [ "$(awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo 2>/dev/null || echo 0)" -ge 8 ]; then
    random "compact index, weight 15" --cases $(((cases + 59) / 60)) --seed 3 --size 6000 --pattern 11101011001101010101111 --index auto
else
    n=$((n + 1))
    echo "ok $n - compact index, weight 15 # SKIP less than 8 GiB of memory"
fi

n=$((n + 1))
if output=$("$build/tests/gpu/faults" "$build/hspz_oracle.so" "$plugin" --cases $((cases / 2)) 2>&1) &&
    ! grep -q '^not ok' <<<"$output"; then
    echo "ok $n - calls that fail, engines that share a device"
else
    echo "not ok $n - calls that fail, engines that share a device"
fi
echo "# ${output//$'\n'/$'\n'# }"

# Three devices, more intervals than devices: the output of one engine.
n=$((n + 1))
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
awk -v out="$scratch" 'BEGIN {
    srand(7)
    for (i = 0; i < 8000; i++) text = text substr("ACGT", 1 + int(rand() * 4), 1)
    print ">t\n" text >(out "/t.fa")
    for (i = 1; i <= 8000; i += 200) query = query substr(text, i, 180) substr("ACGTACGT", 1 + int(rand() * 4), 3)
    print ">q\n" query >(out "/q.fa")
}'
align() { # align OUTPUT PLUGIN ARGUMENTS
    "$build/hspz" align "$scratch/t.fa" "$scratch/q.fa" --lastz-interval-size 1000 --nogapped \
        -o "$scratch/$1.segments" --plugin "$2" "${@:3}" 2>"$scratch/$1.log"
}
if align one "$build/hspz_oracle.so" && EMULATED_GPU_DEVICES=3 align all "$plugin" --device cuda:all -v &&
    [ -s "$scratch/one.segments" ] && cmp -s "$scratch/one.segments" "$scratch/all.segments" &&
    grep -q 'on 3 devices' "$scratch/all.log"; then
    echo "ok $n - three devices give what one gives"
else
    echo "not ok $n - three devices give what one gives"
    sed 's/^/# /' "$scratch"/*.log
fi

if [ ! -d "${HSPZ_DATA:-}/golden" ]; then
    echo "ok 9 - a golden pair # SKIP no golden data"
elif output=$(HSPZ_BUILD=$build bash tests/golden/golden.sh --plugin "$plugin" --only cat_pig -- --device cuda 2>&1); then
    echo "ok 9 - a golden pair"
else
    echo "not ok 9 - a golden pair"
    echo "# ${output//$'\n'/$'\n'# }"
fi
