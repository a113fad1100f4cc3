# Fuzz targets: each tests/fuzz/fuzz_NAME.c becomes $(BUILD)/tests/fuzz/fuzz_NAME, linked with the host library, all of it
# compiled by clang with libFuzzer, address and undefined-behaviour sanitizers. Seeds lie in tests/fuzz/corpus/NAME/.
# `make fuzz_build` builds them; tests/fuzz/fuzz.sh does so and runs each for a few seconds.

fuzz_sanitizers := -fsanitize=address,undefined -fno-sanitize-recover=undefined
FUZZ_CFLAGS := -std=c11 -D_GNU_SOURCE -O1 -g $(warnings) -fno-omit-frame-pointer $(fuzz_sanitizers) \
               -fsanitize=fuzzer-no-link -MMD -MP -Iabi -Ihost-shim -Iplugin
FUZZ_LIBS := -linih -lz -ldl -lpthread -lm

fuzz_programs := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz_host := $(patsubst %.c,$(BUILD)/fuzz/%.o,$(filter-out host-shim/main.c,$(wildcard host-shim/*.c)))

$(BUILD)/fuzz/%.o: %.c
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_CFLAGS) -c $< -o $@

$(BUILD)/fuzz/libhspz_host.a: $(fuzz_host)
	rm -f $@
	ar rcs $@ $^

$(BUILD)/tests/fuzz/fuzz_%: $(BUILD)/fuzz/tests/fuzz/fuzz_%.o $(BUILD)/fuzz/libhspz_host.a
	@mkdir -p $(@D)
	$(CLANG) $(fuzz_sanitizers) -fsanitize=fuzzer -o $@ $^ $(FUZZ_LIBS)

.PHONY: fuzz_build
fuzz_build: $(fuzz_programs)

test_scripts += tests/fuzz/fuzz.sh
