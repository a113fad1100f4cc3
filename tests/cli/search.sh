#!/bin/bash
# Searches as users do them: several devices, compare and its verdicts, bench, dotplot, MAF out of the printed commands.
# shellcheck source=tests/cli/cli.sh disable=SC2181 # one line runs, the next looks at $?
. "$(dirname "$0")/cli.sh"
make_pair

# Several devices: the same bytes, whatever order they finish in -----------------------------------------------------------------------
cut=(--seq-block-size 500 --lastz-interval-size 100)
"$hspz" align t.fa q.fa --plugin "$fakes/fake_good.so" --device cpu "${cut[@]}" -o one --nogapped -q >out 2>err
report $? "one engine, many blocks and intervals"
same=0
for _ in 1 2 3; do
    rm -rf many
    FAKE_DELAY=1 "$hspz" align t.fa q.fa --plugin "$fakes/fake_good.so" --device cuda:all "${cut[@]}" -o many --nogapped \
        --stats stats.json >out 2>err && diff -r one many >diff.txt || same=1
done
report $same "three engines that finish out of order give the same files"
grep -q '3 devices from cuda:0' err && [ "$(grep -c '"device":' stats.json)" -eq 3 ]
report $? "and all three are named"
"$hspz" align t.fa q.fa --plugin "$fakes/fake_good.so" --device cpu "${cut[@]}" -o one.d --nogapped --stats one.json -q 2>err
[ "$(grep -E '"(hits|target_positions|kept)"' one.json)" = "$(grep -E '"(hits|target_positions|kept)"' stats.json)" ]
report $? "and the counts are those of one engine"
FAKE_DELAY=1 "$hspz" align t.fa q.fa --plugin "$fakes/fake_good.so" --device cuda:all "${cut[@]}" -o - >many.seg 2>err &&
    "$hspz" align t.fa q.fa --plugin "$fakes/fake_good.so" --device cpu "${cut[@]}" -o - >one.seg 2>err && cmp one.seg many.seg
report $? "a single stream as well"
FAKE_FAIL=find:-13 "$hspz" align t.fa q.fa --plugin "$fakes/fake_good.so" --device cuda:all "${cut[@]}" -o failed -q >out 2>err
[ $? -eq 3 ] && [ "$(wc -l <err)" -eq 1 ] && [ ! -e failed ]
report $? "a failing engine ends them all, with one sentence"

# Against each other ---------------------------------------------------------------------------------------------------------------------
"$hspz" compare t.fa q.fa --plugin "$oracle" --against "$oracle" -q >out 2>err
[ $? -eq 0 ] && grep -q '^IDENTICAL: [1-9]' out && [ ! -s err ]
report $? "compare: a plugin equals itself, exit 0"
awk 'BEGIN { printf ">r\n"; for (i = 0; i < 300; i++) printf "%s", substr("ACGT", int(rand() * 4) + 1, 1); print "" }' >self.fa
"$hspz" compare self.fa self.fa --plugin "$fakes/fake_good.so" --against "$oracle" -q >out 2>err
[ $? -eq 1 ] && grep -q '^DIFFERENT: 0 missing, 0 extra, 1 duplicate-only, 0 contained-only, 0 reordered' out &&
    grep -q '^duplicate-only  *A [1-9][0-9]* B 1 .*r	1	300	r	1	300	+' out && [ "$(wc -l <err)" -eq 1 ]
report $? "compare: without dedup the difference is duplicates, exit 1"
FAKE_FIND=backwards "$hspz" compare t.fa q.fa --plugin "$fakes/fake_good.so" --against "$oracle" -q >out 2>err
[ $? -eq 1 ] && grep -qE '^DIFFERENT: [1-9][0-9]* missing, [1-9][0-9]* extra' out
report $? "compare: missing and extra HSPs, exit 1"
"$hspz" compare t.fa q.fa --plugin "$oracle" --against "$build/hspz_plugin.so" -q >out 2>err
[ $? -eq 0 ] && grep -q '^IDENTICAL' out
report $? "compare: oracle and fast plugin"

"$hspz" bench t.fa q.fa --plugin "$oracle" --repeats 2 -q >out 2>err
[ $? -eq 0 ] && grep -q '^2 ' out && grep -q '^median ' out && grep -q '^hits ' out
report $? "bench prints its runs, the median and the counts"

# Dot plot -------------------------------------------------------------------------------------------------------------------------------
"$hspz" align t.fa q.fa --plugin "$oracle" -o plot.segments -q --nogapped 2>err
"$hspz" dotplot plot.segments -o plot.svg -q 2>err
[ $? -eq 0 ] && [ "$(tail -n 1 plot.svg)" = "</svg>" ] && [ "$(grep -c '<path d="M[0-9.]* [0-9.]*L' plot.svg)" -eq "$(wc -l <plot.segments)" ]
report $? "dotplot draws every segment"
"$hspz" dotplot - -q <plot.segments >plot2.svg 2>err && [ "$(grep -c '<path' plot2.svg)" -eq "$(grep -c '<path' plot.svg)" ]
report $? "dotplot from stdin to stdout"
if command -v python3 >/dev/null; then
    python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("plot.svg")'
    report $? "and it is XML"
else
    skip "and it is XML" "no python3"
fi

# Inputs from stdin ------------------------------------------------------------------------------------------------------------------------
"$hspz" align t.fa - --plugin "$oracle" -o piped -q <q.fa >out 2>err
[ $? -eq 0 ] && cmp -s piped/tmp1.block0.r0.plus.segments <("$hspz" align t.fa q.fa --plugin "$oracle" -o - --strand plus -q)
report $? "a query from stdin"
grep -q 'piped/hspz.query.fa\[' out && [ "$(grep -c '>' piped/hspz.query.fa)" -eq 3 ]
report $? "and a copy of it for lastz"

# MAF --------------------------------------------------------------------------------------------------------------------------------------
if command -v lastz >/dev/null; then
    gzip -kf t.fa q.fa
    mafs() { cat "$1"/*.maf 2>/dev/null | grep -c '^a score='; }
    "$hspz" align t.fa q.fa --plugin "$oracle" -o m1 -q 2>err | sh 2>>err
    [ "$(mafs m1)" -gt 2 ] && [ ! -s err ]
    report $? "the commands make MAF out of plain FASTA"
    "$hspz" align t.fa.gz q.fa.gz --plugin "$oracle" -o m2 -q 2>err | sh 2>>err
    [ ! -s err ] && [ "$(cat m1/*.maf)" = "$(cat m2/*.maf)" ]
    report $? "the same from gzip"
    mkdir "a dir'with"
    cp t.fa q.fa "a dir'with/"
    "$hspz" align "a dir'with/t.fa" "a dir'with/q.fa" --plugin "$oracle" -o "o u't" -q 2>err | sh 2>>err
    [ ! -s err ] && [ "$(cat m1/*.maf)" = "$(cat "o u't"/*.maf)" ]
    report $? "and with blanks and quotes in paths"
    "$hspz" align t.fa q.fa --plugin "$oracle" -o m3 "${cut[@]}" -q 2>err | sh 2>>err
    [ ! -s err ] && [ "$(mafs m3)" -gt 2 ]
    report $? "from many blocks and intervals"
    "$hspz" align t.fa q.fa --plugin "$oracle" -o m4.segments -q 2>err | sh 2>>err
    [ ! -s err ] && [ "$(grep -c '^a score=' m4.maf)" -eq "$(mafs m1)" ]
    report $? "from a single file"
    sed 's/^>t2/>chr2.fa/' t.fa >named.fa
    "$hspz" align named.fa q.fa --plugin "$oracle" -o m5 --map-names --target-prefix T_ --format axt --notrivial --ydrop 5000 \
        --gappedthresh 4000 --ambiguous iupac -q 2>err | sh 2>>err
    [ ! -s err ] && grep -q hspz_target_2 m5/*.axt && grep -q T_t1 m5/*.axt
    report $? "with mapped names, prefixes, another format and options"
    sed '2s/^..../RYKM/; 2s/A/u/' t.fa >rna.fa
    "$hspz" align rna.fa q.fa --plugin "$oracle" -o m6 -q 2>err | sh 2>>err
    [ "$(grep -vc warning err)" -eq 0 ] && [ "$(mafs m6)" -gt 2 ]
    report $? "with IUPAC codes and U, which LASTZ refuses by themselves"
    printf '>r\n%s\n' "$(random_bases 400 5)" >x.fa
    printf '# scores\nbad_score = X:-1000\nfill_score = -100\ngap_open_penalty = 400\ngap_extend_penalty = 30\n     A    C    G    T\nA   91 -114  -31 -123\nC -114  100 -125  -31\nG  -31 -125  100 -114\nT -123  -31 -114   91\n' >scores.txt
    "$hspz" align t.fa q.fa --plugin "$oracle" -o m7 --scoring scores.txt -q 2>err | sh 2>>err
    [ ! -s err ] && [ "$(mafs m7)" -eq "$(mafs m1)" ]
    report $? "with a score file"
else
    skip "MAF out of the printed commands" "lastz is not installed"
fi

finish
