# Benchmarks.

# Tools that make their inputs: genpair (generated genomes) and maf_to_fasta (genomes out of alignments).
bench_tools := $(BUILD)/tests/bench/genpair $(BUILD)/tests/bench/maf_to_fasta

$(bench_tools): $(BUILD)/tests/bench/%: $(BUILD)/tests/bench/%.o
	$(CC) $(LDFLAGS) -o $@ $< -lm

.PHONY: bench_tools
bench_tools: $(bench_tools)
