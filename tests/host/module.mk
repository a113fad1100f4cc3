# host_tests: pieces of the host library that need no plugin.
CFLAGS_tests_host := -Ihost-shim

host_test_objects := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/host/*.c))

$(BUILD)/tests/host_tests: $(host_test_objects) $(BUILD)/libhspz_host.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -lcriterion -linih -lz -lpthread -lm

test_programs += $(BUILD)/tests/host_tests
