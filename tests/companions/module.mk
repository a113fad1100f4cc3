# Companion systems (hash index, soft Smith-Waterman): their CPU objects and their tests.
companion_cpu_objects := $(patsubst %.c,$(BUILD)/%.o,$(wildcard kernels/cpu/hash_index*.c kernels/cpu/soft_sw*.c))
plugin_objects += $(filter-out $(cpu_objects),$(companion_cpu_objects))
# The lanes of soft_sw_lanes.h are 64-byte vectors on every machine; they never cross a file.
CFLAGS_kernels_cpu += -Wno-psabi

# With a CUDA backend its kernels join those of kernels/cuda.
ifneq ($(cuda_objects),)
companion_cuda_objects := $(filter-out $(cuda_objects),$(patsubst %.cu,$(BUILD)/%.o,$(wildcard kernels/cuda/hash_index*.cu kernels/cuda/soft_sw*.cu)))
cuda_objects += $(companion_cuda_objects)
endif

# The contract tests: oracle, CPU, and the CUDA kernels compiled as C++ for the emulator of tests/gpu.
CFLAGS_tests_companions += -Iplugin -Ikernels/cpu
companion_test_objects := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/companions/companions_*.c)) \
                          $(patsubst kernels/cuda/%.cu,$(BUILD)/tests/companions/%.emulated.o,$(wildcard kernels/cuda/hash_index*.cu kernels/cuda/soft_sw*.cu)) \
                          $(BUILD)/tests/companions/emulate.emulated.o
companion_emulate := $(CXX) -std=c++17 -O1 -g -x c++ -DHSPZ_EMULATE=1 -MMD -MP -Itests/gpu/emulator -Iabi -Iplugin $(sanitize) \
                     -include tests/companions/emulate_more.h
$(BUILD)/tests/companions/%.emulated.o: kernels/cuda/%.cu
	@mkdir -p $(@D)
	$(companion_emulate) -c $< -o $@
$(BUILD)/tests/companions/emulate.emulated.o: tests/gpu/emulator/emulate.cpp
	@mkdir -p $(@D)
	$(companion_emulate) -c $< -o $@
$(BUILD)/tests/companions_contract: $(companion_test_objects) $(companion_cpu_objects) \
                           $(patsubst %,$(BUILD)/plugin/companions_%.o,judge hash_index soft_sw) \
                           | $(BUILD)/hspz_oracle.so $(BUILD)/hspz_plugin.so
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) -o $@ $^ -lcriterion -ldl -lm -lpthread
test_programs += $(BUILD)/tests/companions_contract
test_scripts += tests/companions/rescore.sh
test_scripts += tests/companions/examples.sh
