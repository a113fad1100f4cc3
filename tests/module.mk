# make test, make test-golden, make check: everything that judges the tree. tests/run.sh runs and counts.
#
# Fragments append Criterion programs to test_programs, TAP scripts to test_scripts, the programs that scripts call to
# test_tools, and scripts that need minutes to golden_scripts, which only `make test-golden` runs.

.SECONDEXPANSION: # the lists are complete only when all fragments were read

HSPZ_DATA ?= $(wildcard ../shared/data)
run_tests := HSPZ_BUILD=$(abspath $(BUILD)) HSPZ_DATA=$(abspath $(HSPZ_DATA)) tests/run.sh

.PHONY: test
test: $$(products) $$(test_programs) $$(test_tools)
	@$(run_tests) $(test_programs) $(test_scripts)

# Some of them: make test-only ONLY="unit_options fuzz"
chosen = $(foreach path,$(test_programs) $(test_scripts) $(golden_scripts),$(if $(strip $(foreach word,$(ONLY),$(findstring $(word),$(path)))),$(path)))

.PHONY: test-only
test-only: $$(products) $$(filter $$(chosen),$$(test_programs)) $$(test_tools)
	@$(run_tests) $(chosen)

.PHONY: test-golden
test-golden: $$(products) $$(test_tools)
	@$(run_tests) $(golden_scripts)

# Lint: the tree with shellcheck and cppcheck, what changed since CHECK_SINCE with clang-tidy (CHECK_SINCE= for all of it).
CHECK_SINCE ?= HEAD~1
check_sources := $(shell find plugin kernels/cpu host-shim tests -name '*.c' -not -path 'tests/gpu/*' | sort)
check_headers := -Iabi -Iplugin -Ikernels/cpu -Ihost-shim -Itests/unit -Itests/companions
check_changed = $(if $(CHECK_SINCE),$(filter $(check_sources),$(shell git diff --name-only --diff-filter=d $(CHECK_SINCE) -- '*.c')),$(check_sources))

.PHONY: check check-shell check-cppcheck check-tidy
check: check-shell check-cppcheck check-tidy

check-shell:
	shellcheck $(wildcard tests/*.sh tests/*/*.sh .ci/*)

check-cppcheck:
	cppcheck --quiet --std=c11 --enable=warning,performance --error-exitcode=1 --inline-suppr --library=gnu,posix \
	    --suppressions-list=tests/cppcheck.txt -D_GNU_SOURCE -D__x86_64__ -D__GNUC__ $(check_headers) $(check_sources)

check-tidy:
	HSPZ_CUDA_HOME=$(cuda_home) tests/tidy.sh $(check_changed)
