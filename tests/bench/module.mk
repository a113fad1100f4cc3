# Benchmarks.

# Tools that make their inputs: genpair (generated genomes) and maf_to_fasta (genomes out of alignments); levels times the levels of the ABI.
bench_tools := $(BUILD)/tests/bench/genpair $(BUILD)/tests/bench/maf_to_fasta $(BUILD)/tests/bench/levels
CFLAGS_tests_bench += -Ihost-shim

$(BUILD)/tests/bench/genpair: $(BUILD)/tests/bench/genpair.o $(BUILD)/tests/bench/genome_model.o
	$(CC) $(LDFLAGS) -o $@ $^ -lm

$(BUILD)/tests/bench/maf_to_fasta: $(BUILD)/tests/bench/maf_to_fasta.o
	$(CC) $(LDFLAGS) -o $@ $^

$(BUILD)/tests/bench/levels: $(BUILD)/tests/bench/levels.o $(BUILD)/libhspz_host.a
	$(CC) $(LDFLAGS) -o $@ $^ -linih -lz -lpthread -lm -ldl

.PHONY: bench_tools
bench_tools: $(bench_tools)

# The comparison itself; its machine should have nothing else to do.   make bench PAIRS="long saureus"
.PHONY: bench
bench: $$(products) $(bench_tools)
	HSPZ_BUILD=$(abspath $(BUILD)) HSPZ_DATA=$(abspath $(HSPZ_DATA)) tests/bench/bench.sh $(PAIRS)
