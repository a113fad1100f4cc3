#!/bin/bash
# The example hosts of the companion systems: they compile against abi/ alone, run with both plugins, and say the same.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${HSPZ_BUILD:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# Programs that load a library built with sanitizers (make asan=1 ubsan=1) need the same ones.
sanitize=()
libraries=$(ldd "$build/hspz_oracle.so")
[[ $libraries != *libasan* ]] || sanitize+=(-fsanitize=address)
[[ $libraries != *libubsan* ]] || sanitize+=(-fsanitize=undefined)
[[ $libraries != *libtsan* ]] || sanitize+=(-fsanitize=thread)
count=0
check() { # RESULT WORDS
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; fi
}
for name in hash_index soft_sw; do
    "${CC:-gcc}" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror "${sanitize[@]}" -Iabi -o "$work/$name" "tests/companions/examples/$name.c" -ldl
    check $? "$name compiles"
    "$work/$name" "$build/hspz_oracle.so" >"$work/oracle"
    check $? "$name runs with the oracle"
    "$work/$name" "$build/hspz_plugin.so" >"$work/fast"
    check $? "$name runs with the fast plugin"
    cmp -s "$work/oracle" "$work/fast"
    check $? "$name: both say the same"
    case $name in
    hash_index) printf 'unique 4, duplicate 1, overflow 0\nid 3900000000 is row 2\nid 17 is row 0\n' | cmp -s - "$work/fast" ;;
    soft_sw) head -1 "$work/fast" | grep -q '^score 3\.[5-9]' && grep -q '^G  0\.9' "$work/fast" ;;
    esac
    check $? "$name: the answer is right"
done
echo "1..$count"
