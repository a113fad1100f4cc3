#!/bin/bash
# Where results go: directory rules, one stream, atomic files, a full disk, statistics, signals.
# shellcheck source=tests/cli/cli.sh disable=SC2181 # one line runs, the next looks at $?
. "$(dirname "$0")/cli.sh"
make_pair
run=("$hspz" align t.fa q.fa --plugin "$oracle")

# A directory ---------------------------------------------------------------------------------------------------------------
"${run[@]}" -o dir >out 2>err
[ $? -eq 0 ] && [ "$(cd dir && echo *)" = "query_block0.name ref_block0.name tmp1.block0.r0.minus.segments tmp1.block0.r0.plus.segments" ]
report $? "KegAlign's files, and only those"
[ "$(wc -l <out)" -eq 2 ] && grep -c "^lastz 't.fa\[nameparse=darkspace\]\[multiple\]\[subset=dir/ref_block0.name\]' 'q.fa\[nameparse=darkspace\]\[subset=dir/query_block0.name\]' --format=maf- --ydrop=9430 --gappedthresh=3000 --strand=\(plus\|minus\) --segments=dir/tmp1.block0.r0.\(plus\|minus\).segments --output=dir/tmp1.block0.r0.\(plus\|minus\).maf$" out | grep -qx 2
report $? "and a lastz command for each on stdout"
[ "$(tr '\n' ' ' <dir/ref_block0.name)" = "t1 t2 t3 " ] && [ "$(tr '\n' ' ' <dir/query_block0.name)" = "q1 q2 q3 " ]
report $? "name files list the records"
[ "$(awk -F'\t' 'NF != 8' dir/*.segments | wc -l)" -eq 0 ] && [ "$(cut -f4 dir/*.plus.segments | uniq | tr '\n' ' ')" = "q1 q3 " ] &&
    [ "$(cut -f4 dir/*.minus.segments | uniq | tr '\n' ' ')" = "q2 q3 " ]
report $? "eight columns, query records in file order on both strands"
grep -q 'HSPs of .* hits in 2 files' err && grep -q 'plugin hspz oracle .*, oracle (sequential C); wall .* CPU .* peak memory' err
report $? "the run ends with what was found and what it took"

"${run[@]}" -o plain --nogapped >out 2>err
[ $? -eq 0 ] && [ ! -s out ] && [ "$(cd plain && echo *)" = "tmp1.block0.r0.minus.segments tmp1.block0.r0.plus.segments" ] &&
    cmp -s plain/tmp1.block0.r0.plus.segments dir/tmp1.block0.r0.plus.segments
report $? "--nogapped: segments only, the same, stdout empty"

refuse 2 'already holds results.*--force' "a directory with results is refused" "${run[@]}" -o dir
mkdir foreign && echo mine >foreign/notes.txt
"${run[@]}" -o foreign --strand minus >out 2>err
[ $? -eq 0 ] && [ "$(cat foreign/notes.txt)" = mine ] && [ -f foreign/tmp1.block0.r0.minus.segments ]
report $? "a directory with other files is used, they stay"
"${run[@]}" -o foreign --strand plus --force --nogapped >out 2>err
[ $? -eq 0 ] && [ "$(cd foreign && echo .[!.]* *)" = ".[!.]* notes.txt tmp1.block0.r0.plus.segments" ]
report $? "--force replaces our files, all of them, and no others"
refuse 2 'is no directory' "-o on a file" "${run[@]}" -o t.fa
refuse 1 'No such file' "-o below a directory that is not there" "${run[@]}" -o no/such/dir
refuse 2 'LASTZ would misread' "-o with a path that is syntax to LASTZ" "${run[@]}" -o 'a,b'
"${run[@]}" -o 'a,b' --nogapped >out 2>err
report $? "which is fine without lastz commands"

printf '>t\n%s\n' "$(random_bases 500 77)" >other.fa
"$hspz" align t.fa other.fa --plugin "$oracle" -o nothing >out 2>err
[ $? -eq 0 ] && [ ! -s out ] && [ -z "$(find nothing -name "*.segments")" ] && [ -f nothing/ref_block0.name ]
report $? "no HSP is success: no segments, no commands"

printf '>s\nACGTACGTACGTACGTAC\n>l\n%s\n' "$(random_bases 500 77 | tr ACGT acgt)" >noseed.fa
"$hspz" align noseed.fa q.fa --plugin "$oracle" -o noseed >out 2>err
[ $? -eq 0 ] && grep -q 'warning: .*noseed.fa: nothing can seed.*--unmask' err
report $? "a warning when nothing can seed"

# One stream ------------------------------------------------------------------------------------------------------------------
"${run[@]}" -o - >stream 2>err
[ $? -eq 0 ] && [ "$(sort stream)" = "$(cat dir/*.segments | sort)" ]
report $? "-o -: the same lines on stdout, and nothing else"
[ "$(cut -f4,7 stream | uniq | tr '\t\n' '  ')" = "q1 + q2 - q3 + q3 - " ]
report $? "in the order LASTZ demands"
"${run[@]}" -o one.segments >out 2>err
[ $? -eq 0 ] && cmp -s one.segments stream && grep -q -- '--strand=both --segments=one.segments --output=one.maf' out
report $? "-o FILE.segments: the same bytes, one command"
refuse 2 'one.segments: the file exists; --force' "an existing file is refused" "${run[@]}" -o one.segments
"${run[@]}" -o one.segments --force --strand plus --nogapped >out 2>err
[ $? -eq 0 ] && [ ! -s out ] && [ "$(cut -f7 one.segments | sort -u)" = + ]
report $? "and replaced with --force"
mkdir d.segments
refuse 2 'no ordinary file' "-o FILE.segments on a directory" "${run[@]}" -o d.segments
for blocks in "--seq-block-size 500" "--seq-block-size 500 --lastz-interval-size 300" "--lastz-interval-size 100"; do
    rm -rf parts
    # shellcheck disable=SC2086 # two words each
    "${run[@]}" $blocks -o parts --nogapped >out 2>err && "${run[@]}" $blocks -o - >stream2 2>>err
    [ $? -eq 0 ] && [ "$(sort stream2)" = "$(cat parts/*.segments | sort)" ] &&
        [ "$(cut -f4,7 stream2 | uniq | tr '\t\n' '  ')" = "q1 + q2 - q3 + q3 - " ]
    report $? "files and stream agree with $blocks"
done

# Names -------------------------------------------------------------------------------------------------------------------------
sed 's/^>t2/>chr2.fa/' t.fa >named.fa
sed 's/^>q3/>q#3/' q.fa >namedq.fa
"$hspz" align named.fa namedq.fa --plugin "$oracle" -o mapped --map-names >out 2>err
[ $? -eq 0 ] && [ "$(tr '\t\n' '  ' <mapped/hspz.names.tsv)" = "target hspz_target_2 chr2.fa query hspz_query_3 q#3 " ] &&
    grep -q hspz_target_2 mapped/hspz.target.fa && grep -q hspz_query_3 mapped/tmp1.block0.r0.minus.segments &&
    ! grep -q '#' mapped/*.segments
report $? "--map-names gives new names and lists them"
refuse 2 '--map-names' "--map-names with stdout" "$hspz" align named.fa namedq.fa --plugin "$oracle" -o - --map-names
"$hspz" align t.fa q.fa --plugin "$oracle" -o prefixed --target-prefix T. --query-prefix Q. >out 2>err
[ $? -eq 0 ] && [ "$(cut -f1,4 prefixed/*.segments | tr '\t' '\n' | cut -c1,2 | sort -u | tr '\n' ' ')" = "Q. T. " ] &&
    grep -q '>T.t1' prefixed/hspz.target.fa && grep -q 'prefixed/hspz.target.fa\[' out
report $? "prefixes are in the names of segments, name files and copies"

# Disks that are full, outputs that fail -------------------------------------------------------------------------------------------
for target in "-o -" "-o dir2"; do
    # shellcheck disable=SC2086 # two words
    "${run[@]}" $target -q >/dev/full 2>err
    [ $? -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q 'stdout cannot be written: No space left' err
    report $? "stdout is full with $target"
done
# shellcheck disable=SC2016 # for the inner shell
limited() { bash -c 'ulimit -f 0; exec "$@"' limited "$@"; }
refuse_limited() { # the scratch files out and err cannot grow either: they are pipes here
    local said rc before after
    before=$(find . | sort)
    said=$(limited "$@" 2>&1 >/dev/null | cat; exit "${PIPESTATUS[0]}")
    rc=$?
    after=$(find . | sort)
    [ $rc -eq 1 ] && [ "$(printf '%s\n' "$said" | wc -l)" -eq 1 ] && [[ $said == *"cannot be written: File too large"* ]] && [ "$before" = "$after" ]
}
refuse_limited "${run[@]}" -o small -q
report $? "a directory whose files cannot grow: one sentence, nothing left"
refuse_limited "${run[@]}" -o small.segments -q
report $? "a file that cannot grow: one sentence, nothing left"
mkdir mnt
if mount -t tmpfs -o size=16k tmpfs mnt 2>/dev/null; then
    head -c 100000 /dev/zero >mnt/filler 2>/dev/null
    "${run[@]}" -o mnt/res -q >out 2>err
    [ $? -eq 1 ] && grep -q 'No space left' err && [ "$(ls -A mnt)" = filler ]
    report $? "a full disk: one sentence, nothing left"
    "${run[@]}" -o mnt -q >out 2>err
    [ $? -eq 1 ] && [ "$(ls -A mnt)" = filler ]
    report $? "a full disk that is the directory itself"
    umount mnt
else
    skip "a full disk" "no right to mount a tmpfs"
fi
if [ "$(id -u)" -ne 0 ]; then
    mkdir locked && chmod a-w locked
    refuse 1 'Permission denied' "a directory without the right to write" "${run[@]}" -o locked/res
else
    skip "a directory without the right to write" "root may write anywhere"
fi

# Statistics ---------------------------------------------------------------------------------------------------------------------
"${run[@]}" -o counted --stats stats.json >out 2>err
if command -v python3 >/dev/null; then
    python3 - dir <<'PY'
import json, glob
s = json.load(open("stats.json"))
lines = sum(len(open(f).readlines()) for f in glob.glob("counted/*.segments"))
c = s["counts"]
assert c["hsps"] == c["kept"] == lines > 0, c
assert c["hits"] >= c["gate_survivors"] >= c["accepted"] >= c["kept"]
assert c["files"] == 2 and c["calls"] == 2
assert s["target"]["records"] == 3 and s["target"]["bases"] == 2400 and s["query"]["blocks"] == 1
assert s["engines"][0]["device"] == "cpu" and s["plugin"]["abi"] == "1.0" and s["command"][1] == "align"
assert s["seconds"]["wall"] >= s["seconds"]["search"] >= 0 and s["memory"]["process_peak"] > 0
PY
    report $? "--stats is JSON, and its counts are those of the files"
else
    skip "--stats is JSON" "no python3"
fi
"${run[@]}" -o counted2 --nogapped --stats - >out 2>err
[ $? -eq 0 ] && grep -q '"hsps"' out
report $? "--stats - on stdout"
refuse 1 'stats.*nodir/s.json.*No such file' "--stats in a directory that is not there" "${run[@]}" -o counted4 --stats nodir/s.json
refuse 2 'd.segments.*no ordinary file' "--stats on a directory" "${run[@]}" -o counted4 --stats d.segments
"${run[@]}" -o counted4 --stats counted4/s.json >out 2>err && [ -s counted4/s.json ]
report $? "--stats in the directory that the run makes"
refuse 2 'stdout' "--stats - beside the segments" "${run[@]}" -o - --stats -
refuse 2 'stdout' "--stats - beside lastz commands" "${run[@]}" -o counted3 --stats -

# Log, signals ---------------------------------------------------------------------------------------------------------------------
FAKE_LOG=1 "$hspz" align t.fa q.fa --plugin "$fakes/fake_good.so" -o logged >out 2>err
[ $? -eq 0 ] && grep -q '^hspz: a word from a worker?thread$' err
report $? "a plugin logs from a thread of its own, on one line"
"${run[@]}" -o quiet -q >out 2>err
[ $? -eq 0 ] && [ ! -s err ]
report $? "-q says nothing"
FAKE_NOTICE='no GPU here, using the CPU' "$hspz" align t.fa q.fa --plugin "$fakes/fake_good.so" -o noticed >out 2>err
[ $? -eq 0 ] && grep -q '^hspz: warning: no GPU here, using the CPU$' err
report $? "an engine's notice is shown as a warning"

awk 'BEGIN { print ">r"; for (i = 0; i < 20000; i++) printf "CA"; print "" }' >slow.fa
set -m # else bash starts background jobs with SIGINT ignored
for signal in INT:130 TERM:143 HUP:129; do
    "$hspz" align slow.fa slow.fa --plugin "$oracle" -o slow >out 2>err &
    pid=$!
    sleep 1
    kill "-${signal%:*}" $pid
    wait $pid
    [ $? -eq "${signal#*:}" ] && grep -q 'stopped by signal' err && [ -z "$(find . -name '*slow*' -not -name slow.fa)" ]
    report $? "SIG${signal%:*} ends a search, by that signal, and leaves nothing"
done
mkfifo endless.fa
(printf '>r\n' && while :; do printf 'ACGTTGCA\n' && sleep 0.01; done) 2>/dev/null >endless.fa &
writer=$!
"$hspz" align endless.fa slow.fa --plugin "$oracle" -o slow >out 2>err &
pid=$!
sleep 0.5
kill -INT $pid
wait $pid
[ $? -eq 130 ] && grep -q 'stopped by signal' err
report $? "SIGINT ends the reading of an input that never ends"
kill $writer
wait $writer
set +m
(trap '' INT && exec "$hspz" align slow.fa slow.fa --plugin "$oracle" -o slow >out 2>err) &
pid=$!
sleep 1
kill -INT $pid
sleep 0.2
kill -TERM $pid
wait $pid
[ $? -eq 143 ]
report $? "a SIGINT that the caller ignores stays ignored"

finish
