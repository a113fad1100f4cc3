# Randomized A/B of two plugins: the oracle against the fast one, each instruction set. HSPZ_AB_CASES, HSPZ_AB_FIRST steer it.
ab_objects := $(BUILD)/tests/ab/ab.o $(BUILD)/tests/ab/generate.o $(BUILD)/tests/ab/genome.o

$(BUILD)/tests/ab/hspz_ab: $(ab_objects)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -ldl

test_tools += $(BUILD)/tests/ab/hspz_ab
test_scripts += tests/ab/ab.sh

.PHONY: test-forever
test-forever: $(BUILD)/tests/ab/hspz_ab $(BUILD)/hspz_oracle.so $(BUILD)/hspz_plugin.so
	$(BUILD)/tests/ab/hspz_ab --forever --each --first $$(date +%s)000 $(BUILD)/hspz_oracle.so $(BUILD)/hspz_plugin.so
