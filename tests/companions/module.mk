# Companion systems (hash index, soft Smith-Waterman): their CPU objects and their tests.
companion_cpu_objects := $(patsubst %.c,$(BUILD)/%.o,$(wildcard kernels/cpu/hash_index*.c kernels/cpu/soft_sw*.c))
plugin_objects += $(filter-out $(cpu_objects),$(companion_cpu_objects))
# The lanes of soft_sw_lanes.h are 64-byte vectors on every machine; they never cross a file.
CFLAGS_kernels_cpu += -Wno-psabi

CFLAGS_tests_companions += -Iplugin -Ikernels/cpu
companion_test_objects := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/companions/companions_*.c))
$(BUILD)/tests/companions_contract: $(companion_test_objects) $(companion_cpu_objects) $(BUILD)/plugin/companions_judge.o \
                           | $(BUILD)/hspz_oracle.so $(BUILD)/hspz_plugin.so
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -lcriterion -ldl -lm -lpthread
test_programs += $(BUILD)/tests/companions_contract
