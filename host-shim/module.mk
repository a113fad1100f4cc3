# The host library (every source but main.c) and the command that is linked from it.

host_objects := $(patsubst %.c,$(BUILD)/%.o,$(filter-out host-shim/main.c,$(wildcard host-shim/*.c)))
host_libraries := -linih -lz -lpthread -lm

CFLAGS_host-shim := -DHSPZ_LIBDIR='"$(PREFIX)/lib/hspz"'

$(BUILD)/libhspz_host.a: $(host_objects)
	@mkdir -p $(@D)
	rm -f $@
	ar rcs $@ $^

$(BUILD)/hspz: $(BUILD)/host-shim/main.o $(BUILD)/libhspz_host.a
	$(CC) $(LDFLAGS) -o $@ $^ $(host_libraries)

products += $(BUILD)/libhspz_host.a $(BUILD)/hspz
