# hspz: one Makefile, one fragment (module.mk) a directory. `make help` lists the targets.
#
#   make            everything that can be built here     make test       every test
#   make demo       packages, build, a real alignment     make bench      HSP stage against lastz
#   make asan=1 …   ubsan=1, tsan=1: sanitizers (own build directory)      make install DESTDIR=…

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

# Each fragment appends to: products (what `all` builds), test_programs (Criterion binaries), test_scripts (TAP shell scripts)
products :=
test_programs :=
test_scripts :=

include $(sort $(wildcard plugin/module.mk plugin/*/module.mk kernels/*/module.mk host-shim/module.mk \
                          tests/module.mk tests/*/module.mk))

.PHONY: all
all: $(products)

# A C object depends on nothing but its source and what -MMD found. Per-directory flags: CFLAGS_<dir with _>.
$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(INCLUDES) $(CFLAGS_$(subst /,_,$(patsubst %/,%,$(dir $<)))) -c $< -o $@

.PHONY: clean
clean:
	rm -rf build build-asan build-ubsan build-tsan build-asan-ubsan

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
