# The host library (every source but main.c) and the command that is linked from it.

host_objects := $(patsubst %.c,$(BUILD)/%.o,$(filter-out host-shim/main.c,$(wildcard host-shim/*.c)))

$(BUILD)/libhspz_host.a: $(host_objects)
	@mkdir -p $(@D)
	rm -f $@
	ar rcs $@ $^

products += $(BUILD)/libhspz_host.a
