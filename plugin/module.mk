# hspz_plugin.so: the fast plugin. kernels/cpu and kernels/cuda name their objects in cpu_objects and cuda_objects; a fragment
# that comes later may add to plugin_objects (companion systems): the prerequisites are expanded last.
include plugin/nvcc.mk

plugin_sources := $(filter-out plugin/backend_cuda%,$(wildcard plugin/*.c))
plugin_objects += $(plugin_sources:%.c=$(BUILD)/%.o) $(cpu_objects)
ifneq ($(cuda_objects),)
plugin_objects += $(BUILD)/plugin/backend_cuda.o $(cuda_objects)
plugin_link := $(CXX) -static-libstdc++ -static-libgcc
CFLAGS_plugin += -DHSPZ_WITH_CUDA=1
else
plugin_objects += $(BUILD)/plugin/backend_cuda_absent.o
plugin_link := $(CC)
endif
CFLAGS_plugin += -Ikernels/cpu -O3
products += $(BUILD)/hspz_plugin.so

.SECONDEXPANSION:
$(BUILD)/hspz_plugin.so: $$(plugin_objects) plugin/exports.map
	$(plugin_link) -shared $(LDFLAGS) -Wl,--version-script=plugin/exports.map $(if $(sanitize),,-Wl,-z,defs) \
	    -o $@ $(plugin_objects) $(cuda_libraries) -lm -lpthread
