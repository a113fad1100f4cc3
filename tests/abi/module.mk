# The ABI: plugins that are wrong on purpose, the loader, the two examples, the header alone.
CFLAGS_tests_abi := -Ihost-shim

fake_names := good magic major v2 newer short long null nofind negotiate nosymbol collide
fake_plugins := $(fake_names:%=$(BUILD)/tests/abi/fake_%.so)
fake_flags_magic := -DFAKE_MAGIC
fake_flags_major := -DFAKE_MAJOR_VALUE=2
fake_flags_v2 := -DFAKE_V2
fake_flags_newer := -DFAKE_NEWER
fake_flags_short := -DFAKE_SHORT
fake_flags_long := -DFAKE_LONG
fake_flags_null := -DFAKE_NULL
fake_flags_nofind := -DFAKE_NOFIND -Wno-unused-function
fake_flags_negotiate := -DFAKE_NEGOTIATE -Wno-unused-function
fake_flags_nosymbol := -DFAKE_NOSYMBOL
fake_flags_collide := -DFAKE_COLLIDE

# The template keeps functions that a fake replaces or leaves out.
$(BUILD)/tests/abi/fake_%.so: tests/abi/fake.c abi/examples/plugin.c abi/hspz_abi.h
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(CFLAGS)) $(INCLUDES) $(fake_flags_$*) -Wno-unused-function -Wno-unused-const-variable \
	    -shared $(LDFLAGS) -o $@ $< -lm -lpthread

# The examples, compiled as a reader would: with the header and nothing else of the project.
$(BUILD)/tests/abi/example_host: abi/examples/host.c abi/hspz_abi.h
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 $(warnings) $(sanitize) -Iabi -o $@ $< -ldl

$(BUILD)/tests/abi/example_plugin.so: abi/examples/plugin.c abi/hspz_abi.h
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_DEFAULT_SOURCE -O2 $(warnings) $(sanitize) -ffp-contract=off -shared -fPIC -fvisibility=hidden -Iabi \
	    -o $@ $< -lm

$(BUILD)/tests/abi/layout_cpp.o: tests/abi/layout.cpp abi/hspz_abi.h
	@mkdir -p $(@D)
	$(CXX) -std=c++17 -Wall -Wextra -Wpedantic -Werror -Iabi -c $< -o $@

abi_test_objects := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/abi/*_test.c))

$(BUILD)/tests/abi_tests: $(abi_test_objects) $(BUILD)/tests/abi/layout.o $(BUILD)/tests/abi/layout_cpp.o \
                          $(BUILD)/libhspz_host.a $(fake_plugins)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $(abi_test_objects) $(BUILD)/libhspz_host.a -lcriterion -linih -lz -lpthread -lm

test_programs += $(BUILD)/tests/abi_tests
test_tools += $(BUILD)/tests/abi/example_host $(BUILD)/tests/abi/example_plugin.so
test_scripts += tests/abi/examples.sh
