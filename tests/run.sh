#!/bin/bash
# Runs test programs and scripts, shows what fails, and ends with one line: "N passed, N failed, N skipped".
#
#   tests/run.sh FILE...
#
# A FILE that ends in .sh prints TAP; any other is a Criterion program, which writes TAP to a file. Each runs from the top of
# the repository with HSPZ_BUILD and HSPZ_DATA as make gives them, in the C locale, and without the settings of the machine
# or the user. A program that breaks off, keeps no plan or takes longer than HSPZ_TEST_TIMEOUT seconds (1800) fails.
set -u
cd "$(dirname "$0")/.." || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

for name in "${!HSPZ_@}"; do
    case $name in
    HSPZ_BUILD | HSPZ_DATA | HSPZ_TEST_* | HSPZ_FUZZ_* | HSPZ_AB_* | HSPZ_BENCH_*) ;;
    *) unset "$name" ;;
    esac
done
unset MAX_HITS
: >"$scratch/empty.ini"
export LC_ALL=C XDG_CONFIG_HOME=$scratch/config HSPZ_SYSTEM_CONFIG=$scratch/empty.ini
limit=${HSPZ_TEST_TIMEOUT:-1800}

# TAP on stdin: prints each failure with what follows it, writes "passed failed skipped" to the file `counts`.
# shellcheck disable=SC2016 # awk's own $
read_tap='
function fail(text) { failed++; print label ": not ok - " text; fflush() }
/^1\.\.[0-9]+/ { plan = substr($1, 4) + 0; planned = 1
                 if (plan == 0) { skipped++; print label ": skipped" substr($0, 5); fflush() }
                 next }
/^Bail out!/ { fail($0); next }
/^not ok/ { failed++; showing = 1; print label ": " $0; fflush(); next }
/^ok/ { if (toupper($0) ~ /# *SKIP/) { skipped++; sub(/^ok */, ""); print label ": skipped " $0; fflush() } else passed++
        showing = 0; next }
showing { print "    " $0; fflush() }
END { if (!planned) fail("no plan: it broke off, or it prints no TAP")
      else if (plan > 0 && plan != passed + failed + skipped) fail(plan " planned, " passed + failed + skipped " came")
      print passed + 0, failed + 0, skipped + 0 >counts }'

# run_one FILE: its failures to stdout, its counts to $scratch/counts.
run_one() {
    local file=$1 label rc
    label=$(basename "$file")
    rm -f "$scratch/counts" "$scratch/tap"
    case $file in
    *.sh)
        timeout --foreground -k 10 "$limit" bash "$file" 2>"$scratch/log" |
            awk -v label="$label" -v counts="$scratch/counts" "$read_tap"
        rc=${PIPESTATUS[0]}
        ;;
    *)
        timeout --foreground -k 10 "$limit" "$file" --tap="$scratch/tap" >"$scratch/log" 2>&1
        rc=$?
        [ -e "$scratch/tap" ] || : >"$scratch/tap"
        awk -v label="$label" -v counts="$scratch/counts" "$read_tap" "$scratch/tap"
        ;;
    esac
    read -r p f s <"$scratch/counts"
    if [ "$rc" -ne 0 ] && [ "$f" -eq 0 ]; then
        f=1
        if [ "$rc" -eq 124 ]; then
            echo "$label: not ok - took longer than $limit s"
        else
            echo "$label: not ok - exit status $rc without a failed test"
        fi
    fi
    if [ "$f" -gt 0 ] && [ -s "$scratch/log" ]; then
        echo "$label: the last lines of its output"
        tail -n 40 "$scratch/log" | sed 's/^/    /'
    fi
}

passed=0 failed=0 skipped=0
for file in "$@"; do
    started=$SECONDS
    run_one "$file"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    echo "$(basename "$file"): $((p + f + s)) tests in $((SECONDS - started)) s"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
