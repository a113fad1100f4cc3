# The CUDA backend: kernels by nvcc, the C files of plugin/ that drive them. Names its objects in cuda_objects, what to link
# in cuda_libraries; both stay empty without nvcc.
#   CUDA_ARCHS="90"      architectures to build for (default: those of CUDA 13 that this nvcc knows; the last one as PTX too)
include plugin/nvcc.mk

ifneq ($(NVCC),)
CUDA_ARCHS ?= $(filter $(patsubst compute_%,%,$(shell $(NVCC) --list-gpu-arch)),75 80 86 89 90 100 120)
cuda_newest := $(lastword $(CUDA_ARCHS))
cuda_targets := $(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) \
                -gencode arch=compute_$(cuda_newest),code=compute_$(cuda_newest)
NVCCFLAGS += -O3 -std=c++17 -lineinfo $(cuda_targets) --threads 2 -Xcompiler -fPIC,-fvisibility=hidden,-Wall

cuda_kernels := encode index compact primitives extend segments seeds gate join join_counts lastz marks near
cuda_objects += $(cuda_kernels:%=$(BUILD)/kernels/cuda/%.o) \
                $(patsubst %.c,$(BUILD)/%.o,$(filter-out %_absent.c plugin/backend_cuda.c,$(wildcard plugin/backend_cuda*.c)))
cuda_libraries += -L$(cuda_home)/lib64 -L$(cuda_home)/lib -lcudart_static -lrt -lpthread -ldl
CFLAGS_plugin += -isystem $(cuda_home)/include

$(BUILD)/%.o: %.cu
	@mkdir -p $(@D)
	$(NVCC) $(NVCCFLAGS) $(INCLUDES) -MD -MP -MF $(@:.o=.d) -c $< -o $@
endif
