# Input files through the command: input.sh, which makes its files with the program convert.
CFLAGS_tests_input += -Ihost-shim -Itests/unit

$(BUILD)/tests/input/convert: $(BUILD)/tests/input/convert.o $(BUILD)/tests/unit/input_make.o $(BUILD)/libhspz_host.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -lcriterion -lz -lpthread

test_tools += $(BUILD)/tests/input/convert
test_scripts += tests/input/input.sh
