#!/bin/bash
# The demo: two small genomes, their HSPs through the plugin, and, with lastz, the alignment from them.
#
#   tests/demo.sh [DIRECTORY]      results go there (hspz-demo)
set -eu
cd "$(dirname "$0")/.."
build=${HSPZ_BUILD:-build}
out=${1:-hspz-demo}

mkdir -p "$out"
echo "== HSPs: $build/hspz align tests/data/pseudocat.fasta.gz tests/data/pseudopig.fasta.gz -o $out/segments"
"$build/hspz" align tests/data/pseudocat.fasta.gz tests/data/pseudopig.fasta.gz -o "$out/segments" \
    --plugin "$build/hspz_plugin.so" --force >"$out/commands.sh"
echo "   $(cat "$out"/segments/*.segments | wc -l) HSPs in $out/segments/*.segments; the first of them:"
head -n 3 "$out"/segments/tmp1.block0.r0.plus.segments | sed 's/^/   /'

if ! command -v lastz >/dev/null 2>&1; then
    echo "== lastz is not here; once it is, run  sh $out/commands.sh  for the gapped alignment"
    exit 0
fi
echo "== gapped alignment: lastz, by the $(wc -l <"$out/commands.sh") commands that hspz printed (sh $out/commands.sh)"
sh "$out/commands.sh"
echo "   $(cat "$out"/segments/*.maf | grep -c '^a ') alignment blocks in $out/segments/*.maf; the first of them:"
grep -m 1 -A 2 '^a ' "$out"/segments/tmp1.block0.r0.plus.maf | cut -c 1-100 | sed 's/^/   /'
