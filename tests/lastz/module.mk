# The check against LASTZ: a generator of pairs and the script that compares.
lastz_pairs := $(BUILD)/tests/lastz/lastz_pairs

$(lastz_pairs): $(BUILD)/tests/lastz/pairs.o
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^

test test-only: $(lastz_pairs)
test_scripts += tests/lastz/lastz.sh
