# The command line: help, refusals, outputs, searches. They need the fakes of tests/abi.
test_scripts += $(addprefix tests/cli/,help.sh refusals.sh output.sh search.sh)
test_tools += $(fake_plugins)
