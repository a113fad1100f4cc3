#!/bin/bash
# variants.sh -- what the knobs of the CUDA backend cost, and how near its kernels come to the card's own limits.
#
#   tests/gpu/variants.sh BUILD TARGET QUERY [TARGET QUERY]...
#
# For each pair one table a comparison: gates, reference buckets, expansion, table of words. Each row is an `hspz bench` of its
# own: the first run's seconds, the median of the others (the engine warm), and whether `hspz align` wrote what the first row's did.
# Then the limits of the card (tests/gpu/limits.cu), and for the last pair the kernels' rates by ncu, where it may read counters.
#   HSPZ_VARIANTS_PLUGIN (BUILD/hspz_plugin.so), HSPZ_VARIANTS_DEVICE (cuda), HSPZ_VARIANTS_REPEATS (6), HSPZ_VARIANTS_LAUNCHES (40)
set -u
build=${1:?usage: variants.sh BUILD TARGET QUERY [TARGET QUERY]...}
shift
plugin=${HSPZ_VARIANTS_PLUGIN:-$build/hspz_plugin.so} device=${HSPZ_VARIANTS_DEVICE:-cuda}
repeats=${HSPZ_VARIANTS_REPEATS:-6} launches=${HSPZ_VARIANTS_LAUNCHES:-40}
unset "${!HSPZ_VARIANTS_@}" # hspz refuses settings it does not know
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0

# row NAME OPTION...: a line of a table
row() {
    local name=$1 same=- out=$scratch/row.segments
    shift
    if ! "$build/hspz" bench "$target" "$query" --plugin "$plugin" --device "$device" --repeats "$repeats" "$@" >"$scratch/bench" 2>&1; then
        printf '%-26s %s\n' "$name" "failed: $(tail -n 1 "$scratch/bench")"
        failed=$((failed + 1))
        return
    fi
    if "$build/hspz" align "$target" "$query" --nogapped -q --force -o "$out" --plugin "$plugin" --device "$device" "$@" 2>"$scratch/log"; then
        [ -e "$scratch/first.segments" ] || cp "$out" "$scratch/first.segments"
        if cmp -s "$out" "$scratch/first.segments"; then same=yes; else same=NO; fi
    fi
    [ "$same" = yes ] || failed=$((failed + 1))
    awk -v name="$name" -v same="$same" '
        $1 == "run" { for (i = 6; i <= NF; i++) at[$i] = i - 2 } # "wall s" and "M hits/s" are one column each
        $1 ~ /^[0-9]+$/ && NF > 6 { n++; wall[n] = $2; line[n] = $0; if (n == 1) first = $2 }
        $1 == "hits" { gsub(",", "", $2); hits = $2 }
        $1 == "device" && $2 == "memory" { memory = $3 }
        END {
            for (i = 3; i <= n; i++) # the warm ones, by time
                for (k = i; k > 2 && wall[k] < wall[k - 1]; k--) {
                    t = wall[k]; wall[k] = wall[k - 1]; wall[k - 1] = t
                    t = line[k]; line[k] = line[k - 1]; line[k - 1] = t
                }
            middle = n > 1 ? int((n + 2) / 2) : 1
            split(line[middle], f, " ")
            printf "%-26s %9.4f %9.4f %11.1f %9.4f %9.4f %9.4f %9.4f %9s  %s\n", name, first, wall[middle],
                (wall[middle] > 0 ? hits / wall[middle] / 1e6 : 0), f[at["query"]], f[at["expand"]], f[at["gate"]], f[at["extend"]], memory, same
        }' "$scratch/bench"
}

# table TITLE
table() {
    rm -f "$scratch/first.segments"
    printf '\n%s: %s\n%-26s %9s %9s %11s %9s %9s %9s %9s %9s  %s\n' "$pair" "$1" "" "first s" "warm s" "M hits/s" query expand gate extend MiB same
}

compare_all() {
    local value
    table "gate"
    for value in join thread warp; do
        row "gate=$value" --gate "$value"
    done
    table "reference buckets (gate=thread)"
    for value in 0 1 auto; do
        row "HSPZ_REF_BUCKETS=$value" --gate thread --ref-buckets "$value"
    done
    table "expansion (gate=thread)"
    row "thread a seed" --gate thread --expand-density 2147483647
    row "warp from 16 hits a seed" --gate thread
    row "warp a seed" --gate thread --expand-density 1
    table "table of seed words"
    for value in direct hash; do
        row "seed_index=$value" --seed-index "$value"
    done
    table "dedup=lastz, gate"
    for value in join thread; do
        row "lastz gate=$value" --dedup lastz --gate "$value"
    done
}

# counters NAME OPTION...: launches of the main kernels, most time first
counters() {
    local name=$1 log=$scratch/ncu.csv
    local metrics=gpu__time_duration.sum,dram__bytes_read.sum.per_second,dram__bytes_write.sum.per_second
    metrics+=,dram__throughput.avg.pct_of_peak_sustained_elapsed,lts__throughput.avg.pct_of_peak_sustained_elapsed
    metrics+=,smsp__issue_active.avg.pct_of_peak_sustained_active,smsp__inst_executed.sum
    shift
    timeout 90 ncu --clock-control none --csv --page raw --print-units base --log-file "$log" --launch-count "$launches" --metrics "$metrics" \
        --kernel-name 'regex:join|gate|screen|expand|extend|settle|select|mark|walk|close|reads|contexts|words|encode|count_kernel' \
        "$build/hspz" bench "$target" "$query" --plugin "$plugin" --device "$device" --repeats 1 "$@" >"$scratch/bench" 2>&1
    if ! grep -q gpu__time_duration "$log" 2>/dev/null; then
        echo "$name: counters are not readable here: $(grep -hE 'ERR|rror' "$log" "$scratch/bench" 2>/dev/null | head -n 1)"
        return 1
    fi
    printf '\n%s: %s\n%-28s %8s %10s %9s %7s %7s %9s %12s\n' "$pair" "$name" kernel launches "time ms" "DRAM GB/s" "% peak" "L2 %" "issue %" "G instr/s"
    awk -F '","' '
        /^"ID"/ { for (i = 1; i <= NF; i++) { gsub("\"", "", $i); at[$i] = i }; next }
        /^"[0-9]/ {
            gsub("^\"|\"$", "")
            $0 = $0
            k = $at["Kernel Name"]; sub(/^void /, "", k); sub(/[<(].*/, "", k)
            for (m in at) if (m ~ /__/) { v = $at[m]; gsub(",", "", v); value[m] = v + 0 }
            t = value["gpu__time_duration.sum"]
            n[k]++; time[k] += t
            bytes[k] += t * (value["dram__bytes_read.sum.per_second"] + value["dram__bytes_write.sum.per_second"])
            peak[k] += t * value["dram__throughput.avg.pct_of_peak_sustained_elapsed"]
            l2[k] += t * value["lts__throughput.avg.pct_of_peak_sustained_elapsed"]
            issue[k] += t * value["smsp__issue_active.avg.pct_of_peak_sustained_active"]
            executed[k] += value["smsp__inst_executed.sum"]
        }
        END {
            for (k in n)
                if (time[k] > 0)
                    printf "%-28s %8d %10.3f %9.0f %7.1f %7.1f %9.1f %12.1f\n", k, n[k], time[k] / 1e6, bytes[k] / time[k] / 1e9,
                        peak[k] / time[k], l2[k] / time[k], issue[k] / time[k], executed[k] / time[k]
        }' "$log" | sort -k3,3nr | head -n 12
}

while [ $# -ge 2 ]; do
    target=$1 query=$2
    pair="$(basename "${target%%.*}") x $(basename "${query%%.*}")"
    compare_all
    shift 2
done

printf '\nThe card:\n'
"$build/tests/gpu/limits" || echo "no limits measured: no program $build/tests/gpu/limits or no device"
if ! command -v ncu >/dev/null; then
    echo "no ncu here: bandwidth and instruction rates not measured"
elif counters "chunk, gate=join"; then
    counters "chunk, gate=thread" --gate thread
    counters "lastz" --dedup lastz
fi
echo "$failed rows failed or differ, $SECONDS s"
[ "$failed" = 0 ]
