#!/bin/bash
# Real genome pairs for the benchmark, out of the alignments of Debian's package maffilter-examples:
#   human.chr22.fa gorilla.chr22.fa   (Ensembl EPO alignment, soft-masked)
#   zardabiliae_332.fa zpseudotritici_221.fa   (only with "fungi" as second argument: unpacks 60 MB)
# usage: maf_to_fasta.sh DIRECTORY [fungi]     HSPZ_BUILD: where the program maf_to_fasta is built (default build)
# Fetches the package with apt if it is not installed, and nothing else. Files that exist are left as they are.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
directory=${1:?usage: maf_to_fasta.sh DIRECTORY [fungi]}
program=${HSPZ_BUILD:-$here/build}/tests/bench/maf_to_fasta
examples=/usr/share/doc/maffilter/examples

[ -x "$program" ] || { echo "maf_to_fasta.sh: $program is not built: make bench_tools" >&2; exit 1; }
if [ ! -d "$examples/Gorilla" ]; then
    as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get install -y --no-install-recommends maffilter-examples >&2
    [ -d "$examples/Gorilla" ] || { echo "maf_to_fasta.sh: $examples is missing (dpkg may leave out documentation here)" >&2; exit 1; }
fi
mkdir -p "$directory"

# convert MAF SPECIES FILE
convert() {
    [ -s "$directory/$3" ] && return
    gzip -dc "$1" | "$program" "$2" >"$directory/$3.part"
    mv "$directory/$3.part" "$directory/$3"
}

primates=$(echo "$examples"/Gorilla/*.maf.gz)
convert "$primates" Hsap human.chr22.fa
convert "$primates" Ggor gorilla.chr22.fa
if [ "${2:-}" = fungi ]; then
    fungi=$examples/Ztritici/tba_refIPO323.maf.gz
    convert "$fungi" Zardabiliae_332 zardabiliae_332.fa
    convert "$fungi" Zpseudotritici_221 zpseudotritici_221.fa
fi
