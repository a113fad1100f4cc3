# The CPU kernels: each instruction set in a file of its own, compiled for it; dispatch.c chooses at run time.
cpu_sources := kernels/cpu/filter.c kernels/cpu/encode.c kernels/cpu/scores.c kernels/cpu/scalar.c kernels/cpu/dispatch.c
ifeq ($(shell $(CC) -dumpmachine | cut -d- -f1),x86_64)
cpu_sources += kernels/cpu/avx2.c kernels/cpu/avx512.c kernels/cpu/encode_avx2.c kernels/cpu/encode_avx512.c \
    kernels/cpu/scores_avx2.c kernels/cpu/scores_avx512.c
endif
cpu_objects := $(cpu_sources:%.c=$(BUILD)/%.o)

CFLAGS_kernels_cpu += -O3
$(BUILD)/kernels/cpu/avx2.o $(BUILD)/kernels/cpu/encode_avx2.o $(BUILD)/kernels/cpu/scores_avx2.o: CFLAGS += -mavx2 -mbmi -mbmi2 -mpopcnt
$(BUILD)/kernels/cpu/avx512.o $(BUILD)/kernels/cpu/encode_avx512.o $(BUILD)/kernels/cpu/scores_avx512.o: \
    CFLAGS += -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vbmi -mavx512vbmi2 -mbmi -mbmi2 -mpopcnt -mprefer-vector-width=512
