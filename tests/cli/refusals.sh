#!/bin/bash
# What cannot be used: one sentence on stderr, the right exit code, nothing on stdout, nothing left behind.
# shellcheck source=tests/cli/cli.sh disable=SC2181 # one line runs, the next looks at $?
. "$(dirname "$0")/cli.sh"
make_pair
run=("$hspz" align)
with=(-o res --plugin "$oracle")

# Inputs ------------------------------------------------------------------------------------------------------------------
refuse 1 'nosuch\.fa.*No such file' "missing file" "${run[@]}" nosuch.fa q.fa "${with[@]}"
refuse 1 'nosuch\.fa.*No such file' "missing query" "${run[@]}" t.fa nosuch.fa "${with[@]}"
mkdir dir
refuse 1 'dir' "a directory as input" "${run[@]}" dir q.fa "${with[@]}"
: >empty.fa
refuse 1 'empty\.fa' "an empty file" "${run[@]}" empty.fa q.fa "${with[@]}"
random_bases 100 9 >bare.fa
refuse 1 'bare\.fa' "no '>'" "${run[@]}" bare.fa q.fa "${with[@]}"
printf '>\nACGT\n' >noname.fa
refuse 1 'noname\.fa.*line 1' "an empty header" "${run[@]}" noname.fa q.fa "${with[@]}"
printf '>a\nACGT\n>b\nACGT\n>a x\nACGT\n' >twice.fa
refuse 1 'twice\.fa.*a' "a name that repeats" "${run[@]}" twice.fa q.fa "${with[@]}"
for bad in '&' '*' '-' '.' 1 E ' A'; do
    printf '>a\nACGT\nAC%sGT\n' "$bad" >bad.fa
    refuse 1 'bad\.fa.*line 3' "'$bad' in a sequence" "${run[@]}" bad.fa q.fa "${with[@]}"
done
printf '>p\nMKVLAAGIVGLLLAQWERTYIPASDFGHKLCVNM\n' >protein.fa
refuse 1 'protein\.fa.*line 2' "protein" "${run[@]}" protein.fa q.fa "${with[@]}"
gzip -k t.fa
for size in 1 9 20 100 400 800; do
    head -c $size t.fa.gz >cut.fa.gz
    refuse 1 'cut\.fa\.gz' "gzip cut after $size bytes" "${run[@]}" cut.fa.gz q.fa "${with[@]}"
done
printf '\x43\x27\x41\x1a\0\0\0\0\1\0\0\0\0\0\0\0\1a\xff\xff\0\0' >offset.2bit
refuse 1 'offset\.2bit' "2bit with an offset past the end" "${run[@]}" offset.2bit q.fa "${with[@]}"
printf '\x43\x27\x41\x1a\0\0\0\0\1\0' >cut.2bit
refuse 1 'cut\.2bit' "2bit cut short" "${run[@]}" cut.2bit q.fa "${with[@]}"
printf '>a\n>b\n\n' >norecord.fa
refuse 1 'norecord\.fa' "records without a base" "${run[@]}" norecord.fa q.fa "${with[@]}"
refuse 2 'stdin|standard input' "both inputs from stdin" "${run[@]}" - - "${with[@]}"

# Names that LASTZ would misread ------------------------------------------------------------------------------------------
for name in 'a#b' chr1.fa x.2bit '*' "$(random_bases 260 1)"; do
    printf '>ok\nACGT\n>%s more\n%s\n' "$name" "$(random_bases 60 3)" >names.fa
    refuse 1 "names\.fa: record 2, .*--map-names" "the name ${name:0:20}" "${run[@]}" names.fa q.fa "${with[@]}"
done

# Settings ----------------------------------------------------------------------------------------------------------------
refuse 2 'TARGET QUERY|operand' "no operands" "${run[@]}" "${with[@]}"
refuse 2 'operand|expected' "one operand" "${run[@]}" t.fa "${with[@]}"
refuse 2 'three' "three operands" "${run[@]}" t.fa q.fa three "${with[@]}"
refuse 2 'output' "no -o" "${run[@]}" t.fa q.fa --plugin "$oracle"
for seed in 111 1111111111111111111111111111111111111111 '' 10x1; do
    refuse 2 "seed" "seed '$seed'" "${run[@]}" t.fa q.fa "${with[@]}" --seed "$seed"
done
refuse 2 'xdrop.*12x' "--xdrop 12x" "${run[@]}" t.fa q.fa "${with[@]}" --xdrop 12x
refuse 2 'xdrop.*-5' "--xdrop -5" "${run[@]}" t.fa q.fa "${with[@]}" --xdrop -5
refuse 2 'nosuch' "an unknown option" "${run[@]}" t.fa q.fa "${with[@]}" --nosuch
printf '[seeding]\nstpe = 3\n' >key.ini
refuse 2 'key\.ini.*2.*stpe' "an unknown key in an INI file" "${run[@]}" t.fa q.fa "${with[@]}" --config key.ini
printf '[seeding]\nxdrop = 900\n' >section.ini
refuse 2 'section\.ini.*2.*xdrop' "a key in the wrong section" "${run[@]}" t.fa q.fa "${with[@]}" --config section.ini
{ printf '[seeding]\nseed = '; head -c 10000 /dev/zero | tr '\0' 1; echo; } >long.ini
refuse 2 'long\.ini.*2' "a line of 10 kB" "${run[@]}" t.fa q.fa "${with[@]}" --config long.ini

# Plugins -----------------------------------------------------------------------------------------------------------------
use() { "${run[@]}" t.fa q.fa -o res "$@"; }
printf 'this is text\n' >text.so
refuse 3 'text\.so is not a shared library' "a text file as plugin" use --plugin ./text.so
refuse 3 'nosuch\.so.*No such file' "a plugin that is not there" use --plugin ./nosuch.so
refuse 3 'nosuch\.so.*HSPZ_PLUGIN_PATH' "a plugin that is nowhere" use --plugin nosuch.so
refuse 3 'dir is not a file' "a directory as plugin" use --plugin ./dir
refuse 3 'exports no hspz_plugin_v1' "a library without the symbol" use --plugin "$fakes/fake_nosymbol.so"
refuse 3 'ABI 2\.0 .*ABI 1\.0' "another major" use --plugin "$fakes/fake_major.so"
refuse 3 'ABI major 2 .*ABI 1\.0' "the symbol of another major" use --plugin "$fakes/fake_v2.so"
refuse 3 'leaves out "set_query"' "a NULL member" use --plugin "$fakes/fake_null.so"
refuse 3 'share no ABI version' "no common minor" use --plugin "$fakes/fake_negotiate.so"
refuse 3 'does not offer --dedup maximal' "a dedup policy that the plugin lacks" use --plugin "$fakes/fake_good.so" --dedup maximal
refuse 3 'cuda.*cannot be used.*lists no such device' "a GPU that is not there" use --plugin "$oracle" --device cuda
refuse 3 'cuda:3 cannot be used.*no code for this one' "a GPU that cannot be used" use --plugin "$fakes/fake_good.so" --device cuda:3

# Calls that fail: class and exit code --------------------------------------------------------------------------------------
failing() { FAKE_FAIL=$1 "${run[@]}" t.fa q.fa -o res --plugin "$fakes/fake_good.so" -q; }
refuse 3 'devices cannot be counted: told to fail' "the device list fails" failing devices:-11
refuse 2 'no engine could be made: told to fail' "an argument is refused" failing create:-1
refuse 2 'no engine could be made' "a configuration is refused" failing create:-5
refuse 4 'no engine could be made.*--seq-block-size' "out of device memory" failing create:-7
refuse 3 'no engine could be made.*--device cpu' "no driver" failing create:-10
refuse 4 'target block cannot be set' "out of memory for the target" failing target:-6
refuse 3 'query block cannot be set' "the device fails on the query" failing query:-13
refuse 1 'interval 1, plus strand: told to fail.*--wga-chunk-size' "too many hits" failing find:-8
refuse 3 'interval 1, plus strand: told to fail' "an internal error" failing find:-16
refuse 3 'told to fail at statistics' "the statistics fail" failing statistics:-16
nonsense() { FAKE_FIND=$1 "${run[@]}" t.fa q.fa -o res --plugin "$fakes/fake_good.so" -q; }
refuse 3 'internal error of the plugin: HSP .* not within one record' "an HSP across two records" nonsense crossing
refuse 3 'internal error of the plugin: HSPs of query record' "records in the wrong order" nonsense backwards

# Other commands -------------------------------------------------------------------------------------------------------------
refuse 1 'nosuch\.segments' "dotplot of a missing file" "$hspz" dotplot nosuch.segments
printf 't1\t1\t50\tq1\t1\t50\t+\t5000\nt1\t9\t5\tq1\t1\t50\t+\t5000\n' >bad.segments
refuse 1 'bad\.segments: line 2' "dotplot of a bad line" "$hspz" dotplot bad.segments -o bad.svg
refuse 3 'text\.so' "conform of a text file" "$hspz" conform ./text.so
refuse 3 'text\.so' "info of a text file" "$hspz" info --plugin ./text.so
refuse 2 'against' "compare without --against" "$hspz" compare t.fa q.fa --plugin "$oracle"

finish
