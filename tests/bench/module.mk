# Benchmarks.

# Tools that make their inputs: genpair (generated genomes) and maf_to_fasta (genomes out of alignments).
bench_tools := $(BUILD)/tests/bench/genpair $(BUILD)/tests/bench/maf_to_fasta

$(BUILD)/tests/bench/genpair: $(BUILD)/tests/bench/genpair.o $(BUILD)/tests/bench/genome_model.o
	$(CC) $(LDFLAGS) -o $@ $^ -lm

$(BUILD)/tests/bench/maf_to_fasta: $(BUILD)/tests/bench/maf_to_fasta.o
	$(CC) $(LDFLAGS) -o $@ $^

.PHONY: bench_tools
bench_tools: $(bench_tools)
