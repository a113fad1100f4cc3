# hspz: one Makefile, one fragment (module.mk) a directory. `make help` lists the targets.

MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := all
SHELL := /bin/bash

san := $(if $(asan),-asan)$(if $(ubsan),-ubsan)$(if $(tsan),-tsan)
BUILD ?= build$(san)
CC ?= gcc
ifeq ($(CC),cc)
CC := gcc
endif
CLANG ?= clang
CXX ?= g++
PREFIX ?= /usr/local

warnings := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Werror
sanitize := $(if $(asan),-fsanitize=address) $(if $(ubsan),-fsanitize=undefined -fno-sanitize-recover=undefined) \
            $(if $(tsan),-fsanitize=thread)
OPT ?= -O2 -g
# -ffp-contract=off: SPEC says where a multiply-add is fused (fma) and where it is not.
CFLAGS += -std=c11 -D_GNU_SOURCE $(OPT) $(warnings) -fPIC -fvisibility=hidden -ffp-contract=off -fno-strict-overflow \
          -fno-omit-frame-pointer $(sanitize) -MMD -MP
LDFLAGS += $(sanitize)
INCLUDES := -Iabi

# Each fragment appends to: products (what `all` builds), test_programs (Criterion binaries), test_scripts (TAP shell scripts),
# test_tools (programs that test scripts call), golden_scripts (TAP scripts that need minutes)
products :=
test_programs :=
test_scripts :=
test_tools :=
golden_scripts :=

include $(sort $(wildcard plugin/module.mk plugin/*/module.mk kernels/*/module.mk host-shim/module.mk \
                          tests/module.mk tests/*/module.mk))

.PHONY: all
all: $(products)

# A C object depends on nothing but its source and what -MMD found. Per-directory flags: CFLAGS_<dir with _>.
$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(INCLUDES) $(CFLAGS_$(subst /,_,$(patsubst %/,%,$(dir $<)))) -c $< -o $@

# For people ----------------------------------------------------------------------------------------------------

define help_text
make              build all that can be built here: hspz, both plugins, the host library (nvcc is used if it is there)
make demo         install what is missing, build, align two small genomes            results in hspz-demo/
make deps         install the packages that building needs, if any is missing
make test         every test; ends with one line of counts    make test-only ONLY=NAME    those whose path holds NAME
make test-golden  the slow golden cases
make check        lint: shellcheck, cppcheck, clang-tidy on what changed since CHECK_SINCE (HEAD~1)
make bench        the HSP stage against lastz's
make install      PREFIX=/usr/local DESTDIR=                  make clean
  asan=1 ubsan=1 tsan=1   with a sanitizer, in a build directory of its own       BUILD=DIR   build there
  CC=gcc CLANG=clang OPT='-O2 -g'                                                 HSPZ_DATA=DIR   golden data
endef

.PHONY: help deps demo
help:
	$(info $(help_text))@:

deps:
	.ci/packages build

demo:
	.ci/packages demo
	$(MAKE) all
	HSPZ_BUILD=$(BUILD) tests/demo.sh

# The plugins are looked for beside the command, in ../lib/hspz from there, and in PREFIX/lib/hspz, which is compiled in.
.PHONY: FORCE
FORCE:
$(BUILD)/prefix: FORCE
	@mkdir -p $(@D)
	@echo '$(PREFIX)' | cmp -s - $@ || echo '$(PREFIX)' >$@
$(BUILD)/host-shim/loader.o: $(BUILD)/prefix

.PHONY: install
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/hspz $(DESTDIR)$(PREFIX)/include/hspz \
	    $(DESTDIR)$(PREFIX)/share/hspz $(DESTDIR)$(PREFIX)/share/doc/hspz/examples
	install -m 755 $(BUILD)/hspz $(DESTDIR)$(PREFIX)/bin/
	install -m 755 $(BUILD)/hspz_plugin.so $(BUILD)/hspz_oracle.so $(DESTDIR)$(PREFIX)/lib/hspz/
	install -m 644 $(BUILD)/libhspz_host.a $(DESTDIR)$(PREFIX)/lib/
	install -m 644 $(wildcard abi/*.h) $(DESTDIR)$(PREFIX)/include/
	install -m 644 $(wildcard host-shim/*.h) $(DESTDIR)$(PREFIX)/include/hspz/
	install -m 644 $(wildcard configs/*.ini) $(DESTDIR)$(PREFIX)/share/hspz/
	install -m 644 README.md LICENSE $(DESTDIR)$(PREFIX)/share/doc/hspz/
	install -m 644 abi/README.md $(DESTDIR)$(PREFIX)/share/doc/hspz/abi.md
	install -m 644 $(wildcard abi/examples/*.c) $(DESTDIR)$(PREFIX)/share/doc/hspz/examples/

.PHONY: clean
clean:
	rm -rf build build-asan build-ubsan build-tsan build-asan-ubsan

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
