#!/bin/bash
# input.sh -- input files through the command: one genome in every format gives one digest; what cannot be used gives one
# sentence, exit status 1 and no file.
set -u

cd "$(dirname "$0")/../.." || exit 1
build=$(cd "${HSPZ_BUILD:-build}" && pwd) || exit 1
data=${HSPZ_DATA:-../shared/data}/inputs
hspz=$build/hspz
convert=$build/tests/input/convert
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
tests=0
failed=0

report() { # report ok|"not ok" TEXT [FILE with what was said]
    tests=$((tests + 1))
    echo "$1 $tests - $2"
    [ "$1" = ok ] && return
    failed=1
    [ $# -lt 3 ] || sed 's/^/# /' "$3"
}

run() { # run ARGUMENT...: align into $work/out; stderr in $work/said
    rm -rf "$work/out"
    "$hspz" align "$@" -o "$work/out" --nogapped >"$work/stdout" 2>"$work/said"
}

digest() {
    cat "$work"/out/*.segments | sha256sum
}

same() { # same TEXT ARGUMENT...: the run gives the expected digest
    local text=$1
    shift
    if run "$@" && [ "$(digest)" = "$expected" ]; then report ok "$text"; else report "not ok" "$text" "$work/said"; fi
}

# refused TEXT PART FILE: exit status 1, one error line that holds PART, nothing on stdout, no output directory with files in it;
# as target and as query.
refused() {
    local text=$1 part=$2 file=$3 rc errors
    for side in target query; do
        if [ "$side" = target ]; then run "$file" "$query"; else run "$query" "$file"; fi
        rc=$?
        errors=$(grep -c '^hspz: error:' "$work/said")
        if [ "$rc" -eq 1 ] && [ "$errors" -eq 1 ] && grep '^hspz: error:' "$work/said" | grep -qF -- "$part" &&
            [ ! -s "$work/stdout" ] && [ -z "$(ls -A "$work/out" 2>/dev/null)" ]; then
            report ok "refused as $side: $text"
        else
            echo "exit status $rc" >>"$work/said"
            report "not ok" "refused as $side: $text" "$work/said"
        fi
    done
}

formats() {
    local format
    # 2bit holds no codes but N
    gzip -dc "$data/synth03.t.fa.gz" | sed '/^>/!y/RYSWKMBDHVryswkmbdhv/NNNNNNNNNNnnnnnnnnnn/' >"$work/n.fa"
    gzip -dc "$data/synth03.q.fa.gz" | sed '/^>/!y/RYSWKMBDHVryswkmbdhv/NNNNNNNNNNnnnnnnnnnn/' >"$work/q.fa"
    run "$work/n.fa" "$work/q.fa" || report "not ok" "plain FASTA" "$work/said"
    expected=$(digest)
    for format in fasta crlf line gzip bgzf 2bit0le 2bit0be 2bit1le 2bit1be; do
        "$convert" "$format" <"$work/n.fa" >"$work/t.$format" || exit 1
        "$convert" "$format" <"$work/q.fa" >"$work/q.$format" || exit 1
        same "$format, both sides" "$work/t.$format" "$work/q.$format"
        same "$format from stdin" - "$work/q.fa" <"$work/t.$format"
        same "$format from a pipe" "$work/n.fa" - < <(cat "$work/q.$format")
    done
}

bad_files() {
    local size part
    refused "missing file" "No such file or directory" "$work/none.fa"
    refused "directory" "is a directory" "$work"
    bad "empty file" "is empty" ''
    bad "only blank lines" "nothing but blank lines" '\n\n'
    bad "no '>'" "expected '>'" 'ACGT\n'
    bad "empty header" "'>' without a name" '>\nACGT\n'
    bad "no bases" "not a single base" '>a\n>b\n'
    bad "duplicate names" "is used twice, at line 1 and at line 3" '>a\nACGT\n>a x\nACGT\n'
    bad "separator" "line 2, column 3, record a: found '&'" '>a\nAC&T\n'
    bad "protein" "line 2, column 3, record a: found 'L', a letter that is no nucleotide code" '>a\nMKLVEF\n'
    bad "digits" "found '1', a digit" '>a\n1 ACGT\n'
    bad "gap" "found '-', which stands for a gap" '>a\nAC-T\n'
    bad "dot" "found '.', which stands for a gap" '>a\nAC.T\n'
    bad "stop codon" "found '*'" '>a\nACT*\n'
    bad "FASTQ" "looks like FASTQ" '@a\nACGT\n+\nIIII\n'
    size=$(stat -c %s "$data/apple.fasta.gz")
    for part in 2 11 18 1000 20000 40000 60000 80000 $((size - 9)) $((size - 1)); do
        head -c "$part" "$data/apple.fasta.gz" >"$work/cut.gz"
        refused "gzip cut at byte $part of $size" "truncated" "$work/cut.gz"
    done
    (cat "$data/apple.fasta.gz" && echo garbage) >"$work/bad.gz"
    refused "bytes behind a gzip member" "begins no further member" "$work/bad.gz"
    head -c -28 "$work/t.bgzf" >"$work/cut.gz"
    refused "BGZF without its last member" "without the empty member that closes it" "$work/cut.gz"
    head -c 10000 "$work/t.2bit0le" >"$work/cut.2bit"
    refused "2bit cut at byte 10000" "truncated 2bit file" "$work/cut.2bit"
    cp "$work/t.2bit0le" "$work/bad.2bit"
    printf '\377\377\377\377' | dd of="$work/bad.2bit" bs=1 seek=22 conv=notrunc status=none # behind 16 + 1 + "tchr1"
    refused "2bit with an offset past the end" "its offset 4294967295 is beyond" "$work/bad.2bit"
}

bad() { # bad TEXT PART CONTENT
    # shellcheck disable=SC2059 # the content holds escapes
    printf "$3" >"$work/bad.fa"
    refused "$1" "$2" "$work/bad.fa"
}

if [ ! -d "$data" ]; then
    echo "1..0 # SKIP no test data at $data"
    exit 0
fi
query=$data/orange.fasta.gz
formats
bad_files
echo "1..$tests"
exit "$failed"
