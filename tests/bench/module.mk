# Benchmarks.

# Tools that make their inputs: genpair (generated genomes) and maf_to_fasta (genomes out of alignments).
bench_tools := $(BUILD)/tests/bench/genpair $(BUILD)/tests/bench/maf_to_fasta

$(BUILD)/tests/bench/genpair: $(BUILD)/tests/bench/genpair.o $(BUILD)/tests/bench/genome_model.o
	$(CC) $(LDFLAGS) -o $@ $^ -lm

$(BUILD)/tests/bench/maf_to_fasta: $(BUILD)/tests/bench/maf_to_fasta.o
	$(CC) $(LDFLAGS) -o $@ $^

.PHONY: bench_tools
bench_tools: $(bench_tools)

# The comparison itself; its machine should have nothing else to do.   make bench PAIRS="long saureus"
.PHONY: bench
bench: $$(products) $(bench_tools)
	HSPZ_BUILD=$(abspath $(BUILD)) HSPZ_DATA=$(abspath $(HSPZ_DATA)) tests/bench/bench.sh $(PAIRS)
