#!/bin/bash
# The examples of abi/: the host of 60 lines on every plugin, the template plugin against the rules and the oracle; and what
# the built plugins export.
# shellcheck disable=SC2181 # one line runs, the next looks at $?
set -u
build=${HSPZ_BUILD:-build}
here=$build/tests/abi
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
count=0

report() { # report RC NAME
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; fi
}

# 400 bases, and their reverse complement in lower case for the first half: one HSP on each strand.
target=$(awk 'BEGIN { srand(7); for (i = 0; i < 400; i++) printf "%s", substr("ACGT", int(rand() * 4) + 1, 1) }')
query=$target\&$(printf %s "$target" | rev | tr ACGT TGCA)

expected=$("$here/example_host" "$build/hspz_oracle.so" "$target" "$query")
report $? "the example host runs the oracle"
[ "$(printf '%s\n' "$expected" | cut -f1,2,3,5 | tr '\t\n' '  ')" = "0 0 400 + 0 0 400 - " ]
report $? "and finds the one HSP of each strand"

[ "$("$here/example_host" "$build/hspz_plugin.so" "$target" "$query")" = "$expected" ]
report $? "the example host gets the same from hspz_plugin.so"

"$here/example_host" "$build/hspz" "$target" "$query" >"$scratch/out" 2>"$scratch/err"
[ $? -eq 1 ] && [ ! -s "$scratch/out" ] && [ "$(wc -l <"$scratch/err")" -eq 1 ]
report $? "the example host refuses what is no plugin"

for plugin in "$build/hspz_oracle.so" "$build/hspz_plugin.so" "$here/example_plugin.so"; do
    "$build/hspz" conform "$plugin" >"$scratch/conform" 2>"$scratch/err"
    report $? "hspz conform ${plugin##*/}"
    grep '^not ok' "$scratch/conform" | sed 's/^/# /'
    symbols=$(nm -D --defined-only "$plugin" | awk '$2 != "A" && $3 !~ /^__odr_asan/ { print $3 }')
    [ "$symbols" = hspz_plugin_v1 ]
    report $? "${plugin##*/} exports hspz_plugin_v1 and nothing else"
done

"$build/hspz" conform "$here/fake_collide.so" >"$scratch/conform" 2>"$scratch/err"
[ $? -eq 1 ] && grep -q '^not ok .*exports one symbol only: [1-9]' "$scratch/conform" && grep -q 'breaks [1-9]' "$scratch/err"
report $? "hspz conform finds what a plugin should not export"

FAKE_FAIL=statistics:-16 "$build/hspz" conform "$here/fake_good.so" >"$scratch/conform" 2>"$scratch/err"
[ $? -eq 1 ] && grep -q '^not ok' "$scratch/conform"
report $? "hspz conform finds a call that fails"

awk -v t="$target" -v q="$query" 'BEGIN { print ">t\n" t >"'"$scratch"'/t.fa"; split(q, r, "&"); print ">q1\n" r[1] "\n>q2\n" r[2] >"'"$scratch"'/q.fa" }'
"$build/hspz" compare "$scratch/t.fa" "$scratch/q.fa" --plugin "$here/example_plugin.so" --against "$build/hspz_oracle.so" \
    --dedup none -q >"$scratch/compare"
[ $? -eq 0 ] && grep -q ^IDENTICAL "$scratch/compare"
report $? "the template plugin and the oracle find the same without dedup"

echo "1..$count"
