/* options.h -- every setting of the command `hspz`, where it came from, and how it reaches a plugin.
 *
 * Idea: all settings are one plain struct. One table (option_table.h) has a row for each field: names, type, range,
 * default, unit, help. The same row feeds INI files, the environment, the command line, `--help`, `hspz config` and
 * the sample INI, so that none of them can disagree. Later sources win: defaults < system file < user file <
 * --config FILE < HSPZ_* environment < command line.
 *
 * A host's main does: hspz_options_load(...), then looks at show_help / show_version, then works with the fields.
 * Nothing here prints except the functions that take a FILE. Numbers are int64_t throughout: ranges are those of the
 * table and have been checked. Functions are [any] as long as no two threads change one struct.
 */
#ifndef HSPZ_OPTIONS_H
#define HSPZ_OPTIONS_H

#include "failure.h"
#include "hspz_abi.h"

#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HSPZ_OPTION_PATH 4096   /* bytes of a path, NUL included */
#define HSPZ_OPTION_TEXT 512    /* bytes of any other text, NUL included */
#define HSPZ_OPTION_ROWS_MAX 64 /* at least the rows of the option table */
#define HSPZ_OPERANDS_MAX 8

/* X(constant, name, operands, least, most, summary): the subcommands. */
#define HSPZ_COMMAND_TABLE(X)                                                                                \
    X(ALIGN, "align", "TARGET QUERY", 2, 2, "find the HSPs of two genomes, write .segments files")           \
    X(COMPARE, "compare", "TARGET QUERY", 2, 2, "run two plugins on the same input, compare their HSPs")     \
    X(INFO, "info", "", 0, 0, "say what a plugin is and which devices it sees")                              \
    X(CONFIG, "config", "", 0, 0, "print every setting with its type, range, default, value and origin")     \
    X(CONFORM, "conform", "FILE.so", 0, 1, "try a plugin against every rule of the ABI")                     \
    X(BENCH, "bench", "TARGET QUERY", 2, 2, "time the stages of the HSP search")                             \
    X(DOTPLOT, "dotplot", "FILE.segments", 1, 1, "draw the segments of a file")                              \
    X(RESCORE, "rescore", "TARGET QUERY FILE.segments", 3, 3, "rank segments by a soft local score")

#define HSPZ_COMMAND_ENUMERATOR(constant, name, operands, least, most, summary) HSPZ_COMMAND_##constant,
enum { HSPZ_COMMAND_TABLE(HSPZ_COMMAND_ENUMERATOR) HSPZ_COMMAND_COUNT };

/* Sources of a value, weakest first. */
enum {
    HSPZ_ORIGIN_DEFAULT,
    HSPZ_ORIGIN_SYSTEM, /* /etc/hspz.ini, or the file that HSPZ_SYSTEM_CONFIG names */
    HSPZ_ORIGIN_USER,   /* $XDG_CONFIG_HOME/hspz/hspz.ini, else ~/.config/hspz/hspz.ini */
    HSPZ_ORIGIN_CONFIG, /* --config FILE or HSPZ_CONFIG */
    HSPZ_ORIGIN_ENVIRONMENT,
    HSPZ_ORIGIN_COMMAND_LINE,
    HSPZ_ORIGIN_COUNT
};

enum { HSPZ_STRANDS_BOTH, HSPZ_STRANDS_PLUS, HSPZ_STRANDS_MINUS };
enum { HSPZ_PROGRESS_AUTO, HSPZ_PROGRESS_ON, HSPZ_PROGRESS_OFF };
enum { HSPZ_BACKEND_AUTO, HSPZ_BACKEND_CPU, HSPZ_BACKEND_CUDA };
enum { HSPZ_CPU_ISA_AUTO, HSPZ_CPU_ISA_SCALAR, HSPZ_CPU_ISA_AVX2, HSPZ_CPU_ISA_AVX512 };
enum { HSPZ_GATE_AUTO, HSPZ_GATE_WARP, HSPZ_GATE_THREAD, HSPZ_GATE_JOIN };
enum { HSPZ_SEED_INDEX_AUTO, HSPZ_SEED_INDEX_DIRECT, HSPZ_SEED_INDEX_HASH };
enum { HSPZ_REF_BUCKETS_AUTO, HSPZ_REF_BUCKETS_ON, HSPZ_REF_BUCKETS_OFF };
enum { HSPZ_CHUNK_WALK_SPARSE, HSPZ_CHUNK_WALK_FULL };
enum { HSPZ_RANK_COLUMN, HSPZ_RANK_ORDER };

#define HSPZ_DEVICE_INDEX_BEST (-1) /* the first usable device of the kind */
#define HSPZ_DEVICE_INDEX_ALL (-2)  /* cuda:all: one engine a device */

typedef struct hspz_options {
    /* Input */
    int64_t unmask;                       /* bool: soft-masked bases count as upper case */
    char target_prefix[HSPZ_OPTION_TEXT]; /* put before the names of target records in what is written */
    char query_prefix[HSPZ_OPTION_TEXT];
    int64_t seq_block_size; /* bases; a block closes once it is longer, SPEC 4 */

    /* Seeding */
    int64_t strand;              /* HSPZ_STRANDS_... */
    char seed[HSPZ_OPTION_TEXT]; /* as given: 12of19, 14of22 or a pattern */
    char seed_pattern[64];       /* the pattern itself; set by the check */
    int64_t step;
    int64_t transition;          /* bool */
    int64_t wga_chunk_size;      /* query positions a batch, SPEC's C */
    int64_t lastz_interval_size; /* query positions an interval, SPEC's I */
    int64_t max_hits;            /* hits a chunk; HSPZ_MAX_HITS_DEVICE (0): by device memory */

    /* Extension */
    int64_t xdrop;
    int64_t hspthresh;
    int64_t entropy;   /* bool */
    int64_t ambiguous; /* HSPZ_AMBIGUOUS_... */
    int64_t ambiguous_reward;
    int64_t ambiguous_penalty;
    char scoring[HSPZ_OPTION_PATH]; /* LASTZ score file, "" for HOXD70 */
    int32_t scores[16];             /* from it: row = target, column = query, A C G T */
    int32_t bad_score;              /* from it, else -1000 */
    int32_t fill_score;             /* from it, else -100 */
    int64_t dedup;                  /* HSPZ_DEDUP_... */

    /* Gapped stage: what the printed lastz commands say */
    int64_t gapped; /* bool: write name files and print one lastz command a segments file */
    int64_t ydrop;
    int64_t gappedthresh; /* resolved: hspthresh unless given */
    int64_t trivial;      /* bool: 0 adds --notrivial */
    char format[HSPZ_OPTION_TEXT];

    /* Output */
    char output[HSPZ_OPTION_PATH]; /* directory, FILE.segments, or "-"; "" when not given */
    int64_t force;                 /* bool: existing results may be replaced */
    int64_t map_names; /* bool: records whose names LASTZ would misread get others, listed in a file */
    int64_t repeats;   /* bench: runs of the search */
    int64_t progress;  /* HSPZ_PROGRESS_... */
    char stats[HSPZ_OPTION_PATH]; /* JSON file, "-" for stdout, "" for none */
    int64_t log_level;            /* HSPZ_LOG_... */

    /* Plugin and device */
    char plugin[HSPZ_OPTION_PATH];  /* file, "" for the search order of the loader */
    char against[HSPZ_OPTION_PATH]; /* compare: the other plugin */
    int64_t device;                 /* HSPZ_BACKEND_...; backend = cpu|cuda is folded in by the check */
    int64_t device_index;           /* cuda:N, or HSPZ_DEVICE_INDEX_... */
    int64_t threads;                /* 0: the machine's allowance */

    /* Tuning knobs: reach the plugin through hspz_options_knob, never change results */
    int64_t backend;             /* HSPZ_BACKEND_... */
    int64_t cpu_isa;             /* HSPZ_CPU_ISA_... */
    int64_t gate;                /* HSPZ_GATE_... */
    int64_t expand_density;      /* hits a seed from which a warp serves it */
    int64_t seed_index;          /* HSPZ_SEED_INDEX_... */
    int64_t ref_buckets;         /* HSPZ_REF_BUCKETS_... */
    int64_t ref_bucket_shift;    /* 16..31; 0: chosen by the plugin */
    int64_t chunk_walk;          /* HSPZ_CHUNK_WALK_... */
    int64_t device_memory_limit; /* bytes; 0: all that is free */

    /* Rescore */
    int64_t rescore_window;      /* bases on either side of the matrix */
    int64_t rescore_temperature; /* score units */
    int64_t rescore_gap;         /* score units taken off per gapped base */
    int64_t rescore_rank;        /* HSPZ_RANK_... */
    int64_t rescore_top;         /* segments kept of a query record; 0: all */

    /* Configuration */
    char config[HSPZ_OPTION_PATH];
    int64_t config_sample; /* bool: hspz config --sample */
    int64_t config_matrix; /* bool: hspz config --matrix */

    /* What the command line asked for besides */
    int64_t show_help;    /* bool */
    int64_t show_version; /* bool */
    int32_t command;      /* HSPZ_COMMAND_... */
    int32_t operand_count;
    const char *operands[HSPZ_OPERANDS_MAX]; /* argv's own strings, in order */

    /* Where each row's value came from; internal to the options files */
    struct {
        uint8_t source; /* HSPZ_ORIGIN_... */
        uint32_t line;  /* of the file; 0 elsewhere */
    } origin[HSPZ_OPTION_ROWS_MAX];
    char source_file[HSPZ_ORIGIN_COUNT][HSPZ_OPTION_PATH]; /* the files that were read */
    char knob_text[HSPZ_OPTION_ROWS_MAX][32];              /* values of the knobs, set by the check */
} hspz_options;

/* Every field at its default; nothing is read. */
void hspz_options_defaults(hspz_options *options);

/* The subcommand called `name`, or -1. */
int hspz_command_by_name(const char *name);

/* The whole chain for a command: defaults, system file, user file, --config, environment, command line, then
 * hspz_options_check. `arguments` are those behind the subcommand's name (count of them; the strings must outlive
 * `options`); `environment` is a NULL-terminated list of NAME=VALUE. 0, or an exit code with one sentence in
 * `failure`. When --help or --version is among the arguments the rest is not judged and no file is read. One thread of
 * the process at a time: getopt's state is global. */
int hspz_options_load(hspz_options *options, int command, int count, char *const arguments[],
                      char *const environment[], hspz_failure *failure) __attribute__((warn_unused_result));

/* The links of that chain, for hosts with a chain of their own. Each adds to `options` what its source says.
 * hspz_options_read_arguments: one thread of the process at a time. */
int hspz_options_read_file(hspz_options *options, int origin, const char *path, bool must_exist,
                           hspz_failure *failure) __attribute__((warn_unused_result));
int hspz_options_read_ini(hspz_options *options, int origin, const char *name, const char *text,
                          size_t length, hspz_failure *failure) __attribute__((warn_unused_result));
int hspz_options_read_environment(hspz_options *options, char *const environment[], hspz_failure *failure)
    __attribute__((warn_unused_result));
int hspz_options_read_arguments(hspz_options *options, int count, char *const arguments[],
                                hspz_failure *failure) __attribute__((warn_unused_result));

/* Sets one option by any of its names from text, as `--set KEY=VALUE` does. */
int hspz_options_set(hspz_options *options, int origin, const char *key, const char *value,
                     hspz_failure *failure) __attribute__((warn_unused_result));

/* Judges the combination, resolves what depends on other fields (seed_pattern, gappedthresh, device), reads the
 * score file, and prepares the knobs' texts. Call again after changing fields by hand. */
int hspz_options_check(hspz_options *options, hspz_failure *failure) __attribute__((warn_unused_result));

/* Text of a tuning knob for hspz_host_services.config_get, or NULL when it stands at its default or is no knob.
 * Belongs to `options`, valid until the next hspz_options_check; readable from any thread. Sizes are plain decimal
 * bytes. */
const char *hspz_options_knob(const hspz_options *options, const char *key);

/* The engine's parameters. `seed_pattern` points into `options`. device is HSPZ_DEVICE_AUTO and query_slots is 1:
 * the caller, who knows the device list, sets both. */
void hspz_options_engine_params(const hspz_options *options, hspz_engine_params *params);

/* The value of the option called `key` as text, as it would stand in an INI file. 0, or HSPZ_EXIT_USAGE. */
int hspz_options_value(const hspz_options *options, const char *key, char *text, size_t size,
                       hspz_failure *failure) __attribute__((warn_unused_result));

/* What the command prints. Write errors show in ferror(out). */
void hspz_options_print_usage(FILE *out); /* short: the subcommands */
void hspz_options_print_help(FILE *out,
                             int command); /* grouped, with live defaults; command -1: `hspz --help` */
void hspz_options_print_config(FILE *out,
                               const hspz_options *options); /* type, range, default, value, origin */
void hspz_options_print_sample(FILE *out);                   /* configs/hspz.ini */
void hspz_options_print_matrix(FILE *out,
                               const hspz_options *options); /* the effective 9 x 9 scores, SPEC 2 */

#ifdef __cplusplus
}
#endif

#endif
