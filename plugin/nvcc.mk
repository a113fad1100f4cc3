# Where nvcc is, if anywhere: NVCC is empty without it and after `make cuda=0`. CUDA=DIR names a toolkit.
ifndef nvcc_searched
nvcc_searched := yes
CUDA ?= /usr/local/cuda
ifeq ($(cuda),0)
NVCC :=
else
NVCC ?= $(or $(shell command -v nvcc 2>/dev/null),$(wildcard $(CUDA)/bin/nvcc))
ifeq ($(NVCC),)
$(info nvcc not found: building without the CUDA backend)
endif
endif
endif
