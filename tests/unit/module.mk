# Unit tests: one Criterion program a component, made of the files with its prefix.
CFLAGS_tests_unit += -Ihost-shim -Iplugin

# unit_input: readers of FASTA, gzip and 2bit, and the layout of blocks.
unit_input_objects := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/unit/input_*.c))

$(BUILD)/tests/unit_input: $(unit_input_objects) $(BUILD)/libhspz_host.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -lcriterion -lz -lpthread

test_programs += $(BUILD)/tests/unit_input

# unit_options: settings from every source, INI and score files, help. Runs from the top of the repository (configs/).
unit_options_objects := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/unit/options_*.c))

$(BUILD)/tests/unit_options: $(unit_options_objects) $(BUILD)/libhspz_host.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -lcriterion -linih -lz -ldl -lpthread -lm

test_programs += $(BUILD)/tests/unit_options

# unit_oracle: every rule of SPEC sections 2-7 on hand-worked examples, through the ABI of hspz_oracle.so (HSPZ_TEST_PLUGIN: another).
unit_oracle_objects := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/unit/oracle_*.c))

$(BUILD)/tests/unit_oracle: $(unit_oracle_objects) | $(BUILD)/hspz_oracle.so
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $(unit_oracle_objects) -lcriterion -ldl -lm

test_programs += $(BUILD)/tests/unit_oracle

# unit_kernels: the CPU kernels, each instruction set against its scalar twin, and the filter against the exact scan.
unit_kernels_objects := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/unit/kernels_*.c))
CFLAGS_tests_unit += -Ikernels/cpu

$(BUILD)/tests/unit_kernels: $(unit_kernels_objects) $(cpu_objects)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -lcriterion

test_programs += $(BUILD)/tests/unit_kernels

# unit_sequence: the encoding of a block on the CPU, both strands, and the scores of pairs.
unit_sequence_objects := $(BUILD)/tests/unit/sequence_strands.o $(BUILD)/tests/unit/kernels_random.o \
    $(patsubst %,$(BUILD)/plugin/%.o,sequence symbols plan pool host_services extend_scan) $(cpu_objects)

$(BUILD)/tests/unit_sequence: $(unit_sequence_objects)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -lcriterion -lpthread -lm

test_programs += $(BUILD)/tests/unit_sequence
