# Tests of the CUDA backend: under the emulator on any machine, on the device where there is one.
gpu_objects := $(BUILD)/tests/gpu
emulated_c := $(wildcard plugin/engine*.c) plugin/plan.c plugin/host_services.c plugin/device_list.c plugin/entry.c \
              $(wildcard plugin/dedup*.c) $(filter-out %_absent.c,$(wildcard plugin/backend_cuda*.c)) tests/gpu/emulator/no_cpu.c
emulated_cu := encode index compact primitives extend segments seeds gate join join_counts lastz marks near
emulated_objects := $(emulated_c:%.c=$(gpu_objects)/%.o) $(emulated_cu:%=$(gpu_objects)/kernels/%.o) $(gpu_objects)/emulate.o
emulated_flags := -O1 -g -fPIC -fvisibility=hidden -MMD -MP $(sanitize) -Itests/gpu/emulator -Iabi -Iplugin -Ikernels/cuda

$(gpu_objects)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE -ffp-contract=off -DHSPZ_WITH_CUDA=1 $(warnings) $(emulated_flags) -c $< -o $@

$(gpu_objects)/kernels/%.o: kernels/cuda/%.cu
	@mkdir -p $(@D)
	$(CXX) -x c++ -std=c++17 -DHSPZ_EMULATE -Wall -Wno-unknown-pragmas $(emulated_flags) -c $< -o $@

$(gpu_objects)/emulate.o: tests/gpu/emulator/emulate.cpp
	@mkdir -p $(@D)
	$(CXX) -std=c++17 -Wall $(emulated_flags) -c $< -o $@

# The CUDA backend alone, its kernels run by the emulator.
$(gpu_objects)/emulated.so: $(emulated_objects) plugin/exports.map
	$(CXX) -shared $(LDFLAGS) -Wl,--version-script=plugin/exports.map -o $@ $(emulated_objects) -lm -lpthread

gpu_cases := tests/gpu/cases.c tests/gpu/chains.c tests/gpu/sides.c
$(gpu_objects)/ab $(gpu_objects)/faults: $(gpu_objects)/%: tests/gpu/%.c $(gpu_cases) tests/gpu/cases.h tests/gpu/chains.h tests/gpu/sides.h
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE $(OPT) $(warnings) $(sanitize) -Iabi $< $(gpu_cases) -o $@ -ldl -lpthread

gpu_programs := $(gpu_objects)/emulated.so $(gpu_objects)/ab $(gpu_objects)/faults
test_tools += $(gpu_programs)
test_scripts += tests/gpu/emulated.sh tests/gpu/device.sh

# What the card itself does, for variants.sh; built where there is an nvcc.
ifneq ($(NVCC),)
$(gpu_objects)/limits: tests/gpu/limits.cu
	@mkdir -p $(@D)
	$(NVCC) -O2 -std=c++17 $(cuda_targets) -o $@ $<
test_tools += $(gpu_objects)/limits
endif
