#!/bin/bash
# bench.sh -- the HSP stage of hspz and of the installed `lastz --nogapped` on the same pairs, in one run.
#
# usage: bench.sh [long] [PAIR...]        a PAIR is a name out of the list below; default: all but the long ones
# For each pair: lastz on one core, hspz on one core, hspz on all cores; both best of HSPZ_BENCH_RUNS (3; lastz once).
# Wall is the whole process, reading and writing included, for both; engine is hspz's own time in the plugin.
# `same` says whether hspz --dedup lastz prints lastz's own records, byte for byte (skipped for pairs over 10 Mb).
# The generated pair has no IUPAC codes, which lastz refuses without an option.
# Writes table.tsv and bench.png into HSPZ_BUILD/bench and prints the table.
# HSPZ_BENCH_DEVICE (default cpu): cpu or cuda. HSPZ_BENCH_PEER=0 leaves lastz out.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
build=${HSPZ_BUILD:-$here/build}
data=${HSPZ_DATA:-$here/../shared/data}
work=$build/bench
runs=${HSPZ_BENCH_RUNS:-3}
device=${HSPZ_BENCH_DEVICE:-cpu}
peer=${HSPZ_BENCH_PEER:-1}
mkdir -p "$work"

pairs=(
    "saureus saureus_COL.fasta saureus_RF122.fasta"
    "ecoli ecoli_MG1655-K12.fasta ecoli_DH1.fasta"
    "hpylori hpylori_G27.fasta hpylori_SJM180_contigs.fasta"
    "ecoli_saureus ecoli_MG1655-K12.fasta saureus_COL.fasta"
    "generated_20M generated_20M.t.fa generated_20M.q.fa"
    "chr22 human.chr22.fa gorilla.chr22.fa"
    "fungi zardabiliae_332.fa zpseudotritici_221.fa"
)
long=0
if [ "${1:-}" = long ]; then
    long=1
    shift
fi
chosen=" $* "

# wanted NAME
wanted() {
    [ "$chosen" = "  " ] || { [[ $chosen == *" $1 "* ]]; return; }
    [ "$1" != fungi ] || [ $long = 1 ]
}

# fetch NAME TARGET QUERY: the pair as plain FASTA files in $work
fetch() {
    case $1 in
    generated_20M) [ -s "$work/$3" ] || "$build/tests/bench/genpair" --size 20M --iupac 0 "$work/$2" "$work/$3" ;;
    chr22) HSPZ_BUILD=$build "$here/tests/bench/maf_to_fasta.sh" "$work" >&2 ;;
    fungi) HSPZ_BUILD=$build "$here/tests/bench/maf_to_fasta.sh" "$work" fungi >&2 ;;
    *)
        local file
        for file in "$2" "$3"; do
            [ -s "$work/$file" ] && continue
            [ -r "$data/inputs/$file.gz" ] || return 1
            gzip -dc "$data/inputs/$file.gz" >"$work/$file.part" && mv "$work/$file.part" "$work/$file"
        done
        ;;
    esac
}

# json FILE KEY: the number behind "KEY" in hspz's statistics
json() {
    sed -n "s/.*\"$2\": \([0-9.]*\).*/\1/p" "$1" | head -n 1
}

# least A B
least() {
    awk -v a="$1" -v b="$2" 'BEGIN { print (a == "" || b < a) ? b : a }'
}

# hspz THREADS TARGET QUERY: sets wall, engine, hits, hsps, memory
run_hspz() {
    local run pin=()
    wall='' engine=''
    [ "$1" != 1 ] || [ "$device" != cpu ] || pin=(taskset -c 0)
    for ((run = 0; run < runs; run++)); do
        "${pin[@]}" "$build/hspz" align "$work/$2" "$work/$3" -o "$work/out.segments" --force --nogapped -q \
            --plugin "$build/hspz_plugin.so" --device "$device" --threads "$1" --stats "$work/stats.json"
        wall=$(least "$wall" "$(json "$work/stats.json" wall)")
        engine=$(least "$engine" "$(json "$work/stats.json" search)")
    done
    hits=$(json "$work/stats.json" hits)
    hsps=$(json "$work/stats.json" hsps)
    memory=$(json "$work/stats.json" process_peak)
}

format=general-:name1,start1,end1,name2,start2,end2,strand2,score
# run_lastz TARGET QUERY: sets lastz_wall
run_lastz() {
    local start end
    start=$(date +%s.%N)
    taskset -c 0 lastz "$work/$1[multiple][nameparse=darkspace]" "$work/$2[nameparse=darkspace]" --nogapped --format=$format >"$work/lastz.out"
    end=$(date +%s.%N)
    lastz_wall=$(awk -v a="$start" -v b="$end" 'BEGIN { printf "%.2f", b - a }')
}

# compare TARGET QUERY: sets same
compare() {
    same=-
    [ "$(stat -c %s "$work/$1")" -lt 10000000 ] || return 0
    "$build/hspz" align "$work/$1" "$work/$2" -o - --dedup lastz --nogapped -q --plugin "$build/hspz_plugin.so" \
        --device "$device" >"$work/hspz.out"
    if cmp -s "$work/hspz.out" "$work/lastz.out"; then same=yes; else same=NO; fi
}

threads=$(nproc)
table=$work/table.tsv
printf 'pair\thits\tHSPs\tlastz s\thspz 1 s\tratio\tengine 1 s\tMhits/s\thspz %s s\tengine %s s\tspeedup\tpeak MiB\tsame\n' \
    "$threads" "$threads" >"$table"
for row in "${pairs[@]}"; do
    read -r name target query <<<"$row"
    wanted "$name" || continue
    if ! fetch "$name" "$target" "$query"; then
        echo "bench.sh: $name skipped: its input is not in $data/inputs" >&2
        continue
    fi
    lastz_wall='' same=-
    if [ "$peer" = 1 ] && command -v lastz >/dev/null; then
        run_lastz "$target" "$query"
        compare "$target" "$query"
    fi
    run_hspz 1 "$target" "$query"
    one_wall=$wall one_engine=$engine one_memory=$memory
    run_hspz "$threads" "$target" "$query"
    awk -v OFS='\t' -v name="$name" -v hits="$hits" -v hsps="$hsps" -v peer="$lastz_wall" -v one="$one_wall" \
        -v e1="$one_engine" -v all="$wall" -v en="$engine" -v memory="$one_memory" -v same="$same" 'BEGIN {
        print name, hits, hsps, peer == "" ? "-" : peer, sprintf("%.3f", one), peer == "" ? "-" : sprintf("%.1f", peer / one),
            sprintf("%.3f", e1), sprintf("%.1f", hits / e1 / 1e6), sprintf("%.3f", all), sprintf("%.3f", en),
            sprintf("%.2f", e1 / en), sprintf("%.0f", memory / 1048576), same }' >>"$table"
done

column -t -s $'\t' "$table"
if command -v gnuplot >/dev/null && [ "$(wc -l <"$table")" -gt 1 ]; then
    gnuplot <<PLOT
set terminal pngcairo size 900,500
set output "$work/bench.png"
set datafile separator "\t"
set style data histograms
set style fill solid 0.8
set logscale y
set ylabel "seconds, whole process"
set key outside top
set xtics rotate by -20 noenhanced
plot "$table" using 4:xtic(1) every ::1 title "lastz --nogapped, 1 core", "" using 5 every ::1 title "hspz, 1 core", \
     "" using 9 every ::1 title "hspz, $threads cores"
PLOT
    echo "$work/table.tsv $work/bench.png"
fi
