# The check against LASTZ: a generator of pairs and the script that compares.
$(BUILD)/tests/lastz/lastz_pairs: $(BUILD)/tests/lastz/pairs.o
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^

# A tool of a test script: built with the products, so that the script finds it.
test_tools += $(BUILD)/tests/lastz/lastz_pairs
test_scripts += tests/lastz/lastz.sh
