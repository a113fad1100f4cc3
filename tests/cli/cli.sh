# shellcheck shell=bash disable=SC2034 # for those who source it
# cli.sh -- sourced by the scripts of tests/cli: TAP, a scratch directory, refusals.
set -u
build=$(realpath "${HSPZ_BUILD:-build}")
hspz=$build/hspz
oracle=$build/hspz_oracle.so
fakes=$build/tests/abi
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
export LC_ALL=C
count=0

report() { # report RC NAME
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $count - $2"
    else
        echo "not ok $count - $2"
        [ -s err ] && head -5 err | sed 's/^/# stderr: /'
        [ -s out ] && head -3 out | sed 's/^/# stdout: /'
    fi
}

skip() { # skip NAME WHY
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

finish() { echo "1..$count"; }

# refuse RC PATTERN NAME COMMAND...: the command ends with RC, says one line on stderr that matches, prints nothing, and
# leaves nothing in the scratch directory that was not there.
refuse() {
    local want=$1 pattern=$2 name=$3 rc before after
    shift 3
    before=$(find . -not -name out -not -name err | sort)
    "$@" >out 2>err </dev/null
    rc=$?
    after=$(find . -not -name out -not -name err | sort)
    local problem=
    [ "$rc" -eq "$want" ] || problem="exit code $rc, expected $want"
    [ "$(wc -l <err)" -eq 1 ] || problem="$problem; $(wc -l <err) lines on stderr"
    grep -q '^hspz: error: ' err && grep -qE -- "$pattern" err || problem="$problem; the sentence is another"
    [ -s out ] && problem="$problem; stdout is not empty"
    [ "$before" = "$after" ] || problem="$problem; something was left behind"
    [ -z "$problem" ]
    report $? "$name${problem:+ ($problem)}"
}

# random_bases COUNT SEED
random_bases() {
    awk -v n="$1" -v s="$2" 'BEGIN { srand(s); for (i = 0; i < n; i++) printf "%s", substr("ACGT", int(rand() * 4) + 1, 1); print "" }'
}

# A pair with HSPs on both strands: three target records, three query records.
make_pair() {
    local a b c
    a=$(random_bases 900 1)
    b=$(random_bases 700 2)
    c=$(random_bases 800 3)
    printf '>t1 first\n%s\n>t2\n%s\n>t3\n%s\n' "$a" "$b" "$c" >t.fa
    printf '>q1\n%s%s\n>q2\n%s\n>q3\n%s\n' "$(random_bases 50 4)" "$a" "$(printf %s "$b" | rev | tr ACGT TGCA)" \
        "${c:100:600}$(printf %s "${a:200:300}" | rev | tr ACGT TGCA)" >q.fa
}
