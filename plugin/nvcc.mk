# Where nvcc and its toolkit are, if anywhere: NVCC and cuda_home are empty without them and after `make cuda=0`. CUDA=DIR names
# a toolkit. nvcc itself says where its headers and libraries lie (TOP in its dry run): the nvcc of the PATH may be a link or
# a wrapper script far from them.
ifndef nvcc_searched
nvcc_searched := yes
CUDA ?= /usr/local/cuda
ifeq ($(cuda),0)
override NVCC :=
else
NVCC ?= $(or $(shell command -v nvcc 2>/dev/null),$(wildcard $(CUDA)/bin/nvcc))
ifeq ($(NVCC),)
$(info nvcc not found: building without the CUDA backend)
else
cuda_home := $(realpath $(shell $(NVCC) --dryrun -x cu -c /dev/null 2>&1 | sed -n 's/^\#\$$ TOP=//p'))
ifeq ($(and $(cuda_home),$(wildcard $(cuda_home)/include/cuda_runtime_api.h),$(wildcard $(cuda_home)/lib*/libcudart_static.a)),)
$(info $(NVCC) found, but not the headers and libcudart_static.a of its toolkit: building without the CUDA backend)
override NVCC :=
endif
endif
endif
endif
