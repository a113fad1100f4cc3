#!/bin/bash
# golden.sh -- every case of HSPZ_DATA/golden, byte for byte.
#
# Idea: a case is what KegAlign wrote for a pair of genomes: its segments files, its name files and, in run.json, the options and the
# MAX_HITS in force. The same run through a plugin must give the same files with the same bytes, and no others. The slow pairs need
# minutes with the oracle and come with `all`; ecoli (its hits re-extend HSPs of 600,000 bases) needs hours there and comes only
# with `ecoli`, for the fast plugin.
#
# usage: golden.sh [fast|all|ecoli] [--plugin FILE] [--only TEXT] [-- OPTION...]
# Options after -- go to every `hspz align`.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${HSPZ_BUILD:-$root/build}
data=${HSPZ_DATA:-$root/../shared/data}
plugin=$build/hspz_oracle.so
which=fast
only=

while [ $# -gt 0 ]; do
    case $1 in
    fast | all | ecoli) which=$1 ;;
    --plugin) plugin=$2 && shift ;;
    --only) only=$2 && shift ;;
    --) shift && break ;;
    *) echo "golden.sh: unknown argument $1" >&2 && exit 2 ;;
    esac
    shift
done
extra=("$@")

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
tests=0
failed=0

report() { # report ok|"not ok" TEXT
    tests=$((tests + 1))
    echo "$1 $tests - $2"
    [ "$1" = ok ] || failed=$((failed + 1))
}

field() { # field NAME FILE: the value of a string or number in run.json, one a line
    sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$2"
}

input() { # input NAME: its path, as it is or gzipped; fails if there is none
    local name
    for name in "$data/inputs/$1" "$data/inputs/$1.gz"; do
        [ -f "$name" ] && echo "$name" && return 0
    done
    return 1
}

compare() { # compare CASE: what differs, as comments; non-zero if anything does. Unpacked genomes for LASTZ (hspz.*.fa) are left out.
    local case=$1 file name expected differs=0
    rm -rf "$work/expected"
    mkdir "$work/expected"
    for file in "$case"/*.segments.gz "$case"/*.name; do
        [ -f "$file" ] || continue
        name=$(basename "$file" .gz)
        if [ "$name" = "$(basename "$file")" ]; then cp "$file" "$work/expected/$name"; else gzip -dc "$file" >"$work/expected/$name"; fi
    done
    if ! diff -rq -x "hspz.*.fa" "$work/expected" "$work/out" >"$work/diff"; then
        sed 's/^/# /' "$work/diff" | head -n 8
        differs=1
    fi
    expected=$(field sha256_concat "$case/run.json")
    name=$(cat "$work/out"/*.segments 2>/dev/null | sha256sum | cut -d ' ' -f 1)
    if [ "$name" != "$expected" ]; then
        echo "# sha256 of all segments is $name, not $expected"
        differs=1
    fi
    return $differs
}

run_case() { # run_case DIRECTORY
    local case=$1 name target query
    local -a options
    name=$(basename "$case")
    if ! target=$(input "$(field target "$case/run.json")") || ! query=$(input "$(field query "$case/run.json")"); then
        report ok "$name # SKIP its genomes are not in $data/inputs"
        return
    fi
    read -ra options <<<"$(field options "$case/run.json")"
    rm -rf "$work/out"
    if ! "$build/hspz" align "$target" "$query" -o "$work/out" --plugin "$plugin" \
        --max-hits "$(field max_hits "$case/run.json")" "${options[@]}" "${extra[@]}" >/dev/null 2>"$work/log"; then
        tail -n 2 "$work/log" | sed 's/^/# /'
        report "not ok" "$name: hspz failed"
    elif compare "$case"; then
        report ok "$name ($(cat "$work/out"/*.segments | wc -l) HSPs)"
    else
        report "not ok" "$name"
    fi
}

for case in "$data"/golden/*/; do
    [ -f "$case/run.json" ] || continue
    case $(basename "$case") in
    *"$only"*) ;;
    *) continue ;;
    esac
    case $(basename "$case") in
    ecoli.*) [ "$which" = ecoli ] || continue ;;
    saureus.* | hpylori.*) [ "$which" != fast ] || continue ;;
    esac
    run_case "${case%/}"
done
[ "$tests" -gt 0 ] || report ok "golden cases # SKIP none in $data/golden"
echo "1..$tests"
[ "$failed" = 0 ]
