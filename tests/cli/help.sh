#!/bin/bash
# Help, version, no arguments, unknown words: what goes where, and the exit codes.
# shellcheck source=tests/cli/cli.sh disable=SC2181 # one line runs, the next looks at $?
. "$(dirname "$0")/cli.sh"

"$hspz" >out 2>err
[ $? -eq 2 ] && [ ! -s out ] && grep -q '^usage:' err && [ "$(wc -l <err)" -le 20 ]
report $? "no arguments: a short usage on stderr, exit 2"

"$hspz" --help >out 2>err
[ $? -eq 0 ] && [ ! -s err ] && [ -s out ]
report $? "--help on stdout, exit 0"
missing=
for command in align compare info config conform bench dotplot; do
    grep -q "$command" out || missing="$missing $command"
done
[ -z "$missing" ]
report $? "--help names every command${missing:+, but not$missing}"

for command in align compare info config conform bench dotplot; do
    "$hspz" $command --help >out 2>err
    [ $? -eq 0 ] && [ ! -s err ] && grep -q "hspz $command" out
    report $? "$command --help"
    "$hspz" help $command >again 2>err
    [ $? -eq 0 ] && cmp -s out again
    report $? "help $command says the same"
done

"$hspz" align --help >out 2>err
grep -q -- '--hspthresh' out && grep -q 3000 out && grep -q -- '--dedup' out && grep -qi 'example\|hspz align T' out
report $? "align --help has options, live defaults and an example"

"$hspz" --version >out 2>err
[ $? -eq 0 ] && [ ! -s err ] && [ "$(wc -l <out)" -eq 1 ] && grep -qE '^hspz [0-9]+\.[0-9]+\.[0-9]+' out
report $? "--version: one line, exit 0"

refuse 2 'no command "aling"' "an unknown command" "$hspz" aling
refuse 2 'option before a command' "an option before the command" "$hspz" --plugin x align
refuse 2 'no command' "help for an unknown command" "$hspz" help aling

"$hspz" --help >/dev/full 2>err
[ $? -eq 1 ] && [ "$(wc -l <err)" -eq 1 ]
report $? "--help on a full device is a failure"

"$hspz" config >out 2>err
[ $? -eq 0 ] && [ ! -s err ] && grep -q xdrop out
report $? "config prints the settings"

"$hspz" info --plugin "$oracle" >out 2>err
[ $? -eq 0 ] && grep -q '^plugin .*oracle' out && grep -q "^file .*$oracle" out && grep -q '^ABI .*1\.0' out &&
    grep -q '^device .*cpu' out && grep -q '^dedup .*lastz' out
report $? "info names plugin, file, ABI, devices and what it can do"

"$hspz" info --plugin "$fakes/fake_good.so" >out 2>err
[ $? -eq 0 ] && grep -q 'cuda:3.*cannot run here: the fake has no code' out
report $? "info says why a device cannot be used"

finish
