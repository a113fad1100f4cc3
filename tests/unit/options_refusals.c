/* options_refusals.c -- everything that the options refuse: the sentence names the place, the value, what is allowed. */
#include "options_load.h"

#include <criterion/criterion.h>

#include <string.h>

typedef struct refusal {
    const char *line, *environment;
    const char *says[4]; /* pieces of the sentence */
} refusal;

static void try_all(const refusal *refusals, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hspz_options options;
        hspz_failure failure;
        const refusal *r = &refusals[i];
        const int rc = load_line(&options, r->line, r->environment, &failure);
        cr_expect(rc == HSPZ_EXIT_USAGE, "'%s' answers %d", r->line, rc);
        cr_expect(failure.exit_code == rc, "'%s'", r->line);
        cr_expect(strchr(failure.text, '\n') == NULL, "'%s' says more than a line: %s", r->line,
                  failure.text);
        for (size_t k = 0; k < 4 && r->says[k] != NULL; k++)
            cr_expect(strstr(failure.text, r->says[k]) != NULL, "'%s' says '%s', not '%s'", r->line,
                      failure.text, r->says[k]);
    }
}

#define TRY(refusals) try_all(refusals, sizeof(refusals) / sizeof *(refusals))
#define GOOD "align|t|q|-o|out|"

Test(options_refusals, command_line_values)
{
    static const refusal refusals[] = {
        {GOOD "--xdrop|12x", NULL, {"option --xdrop", "'12x'", "not a whole number", "1..214748364"}},
        {GOOD "--xdrop|-5", NULL, {"option --xdrop", "'-5'", "out of range", "1..214748364"}},
        {GOOD "--xdrop|0", NULL, {"'0' is out of range"}},
        {GOOD "--xdrop|214748365", NULL, {"out of range"}},
        {GOOD "--xdrop|", NULL, {"'' is not a whole number"}},
        {GOOD "--xdrop| 910", NULL, {"' 910' is not a whole number"}},
        {GOOD "--xdrop|910 ", NULL, {"not a whole number"}},
        {GOOD "--xdrop|9.1", NULL, {"not a whole number"}},
        {GOOD "--xdrop|0x10", NULL, {"not a whole number"}},
        {GOOD "--xdrop|1K", NULL, {"not a whole number"}},
        {GOOD "--xdrop|99999999999999999999999", NULL, {"out of range"}},
        {GOOD "--hspthresh|-99999999999999999999999", NULL, {"option --hspthresh", "out of range"}},
        {GOOD "--step|2147483648", NULL, {"option --step", "1..2147483647"}},
        {GOOD "--wga_chunk_size|10KB", NULL, {"--wga-chunk-size", "'10KB'", "K, M, G, Ki, Mi, Gi"}},
        {GOOD "--wga_chunk_size|5G", NULL, {"'5G' is out of range", "1..4294967295"}},
        {GOOD "--wga_chunk_size|9223372036854775807K", NULL, {"out of range"}},
        {GOOD "--seq_block_size|0", NULL, {"--seq-block-size", "1..4294967294"}},
        {GOOD "--lastz_interval_size|ten", NULL, {"--lastz-interval-size", "'ten'"}},
        {GOOD "--max-hits|0", NULL, {"--max-hits", "or device"}},
        {GOOD "--max-hits|devise", NULL, {"'devise' is not a whole number", "or device"}},
        {GOOD "--threads|0", NULL, {"--threads", "1..1024, or auto"}},
        {GOOD "--threads|1025", NULL, {"out of range"}},
        {GOOD "--strand|minsu", NULL, {"'minsu' is unknown, did you mean 'minus'", "both | plus | minus"}},
        {GOOD "--dedup|lasts", NULL, {"did you mean 'lastz'", "chunk | interval | maximal | lastz | none"}},
        {GOOD "--dedup|", NULL, {"'' is unknown"}},
        {GOOD "--format|mfa", NULL, {"'mfa' is unknown, did you mean 'maf'", "general:FIELDS"}},
        {GOOD "--progress|yes", NULL, {"auto | on | off"}},
        {GOOD "--device|gpu", NULL, {"'gpu' is no device", "cuda:all"}},
        {GOOD "--device|cuda:", NULL, {"'cuda:'", "device number"}},
        {GOOD "--device|cuda:1x", NULL, {"'cuda:1x'", "0..1023"}},
        {GOOD "--device|cuda:-1", NULL, {"'cuda:-1'"}},
        {GOOD "--gate|walp", NULL, {"did you mean 'warp'", "auto | warp | thread | join"}},
        {GOOD "--ref-bucket-shift|15", NULL, {"16..31, or auto"}},
        {GOOD "--ambiguous|x", NULL, {"'x' is not understood", "iupac[,R,P]"}},
        {GOOD "--ambiguous|none,1,2", NULL, {"takes no numbers"}},
        {GOOD "--ambiguous|n,1,2,3", NULL, {"too many numbers"}},
        {GOOD "--ambiguous|n,", NULL, {"0..1000000"}},
        {GOOD "--ambiguous|iupac,-1,2", NULL, {"0..1000000"}},
        {GOOD "--target_prefix|a b", NULL, {"--target-prefix", "white space"}},
        {GOOD "--unmask=maybe", NULL, {"--unmask", "'maybe' is neither on nor off", "on | off"}},
        {GOOD "--backend-cpu-isa|sse", NULL, {"auto | scalar | avx2 | avx512"}},
        {GOOD "--device_memory_limit|-1", NULL, {"0 or more"}},
    };
    TRY(refusals);
}

Test(options_refusals, seeds)
{
    static const refusal refusals[] = {
        {GOOD "--seed|111", NULL, {"option --seed", "'111'", "word of 6 bits", "8..30"}},
        {GOOD "--seed|1111111111111111111111111111111111111111",
         NULL,
         {"pattern of 40 symbols", "at most 32"}},
        {GOOD "--seed|1111111111111111", NULL, {"word of 32 bits"}},
        {GOOD "--seed|", NULL, {"''", "0 symbols"}},
        {GOOD "--seed|10x1", NULL, {"'10x1'", "'x' at place 3"}},
        {GOOD "--seed|13of20", NULL, {"'3' at place 2", "12of19 | 14of22"}},
        {GOOD "--seed|TTTTTTT", NULL, {"word of 7 bits"}},
        {GOOD "--seed|0000000000000000", NULL, {"word of 0 bits"}},
    };
    TRY(refusals);
}

Test(options_refusals, command_line_shape)
{
    static const refusal refusals[] = {
        {"align", NULL, {"hspz align: expected TARGET QUERY, found 0 operands"}},
        {"align|t|-o|x", NULL, {"found 1 operand"}},
        {"align|t|q|r|-o|x", NULL, {"unexpected operand 'r'", "TARGET QUERY"}},
        {"align|t|q", NULL, {"--output is missing"}},
        {"align|-|-|-o|x", NULL, {"only one input", "stdin"}},
        {"compare|t|q", NULL, {"--against is missing"}},
        {"config|x", NULL, {"unexpected operand 'x'; expected none"}},
        {"info|a|b|c|d|e|f|g|h|i", NULL, {"too many operands, from 'i' on"}},
        {GOOD "--xdorp|3", NULL, {"unknown option '--xdorp', did you mean --xdrop?"}},
        {GOOD "--xdorp=3", NULL, {"unknown option '--xdorp', did you mean --xdrop?"}},
        {GOOD "--xdro|3", NULL, {"unknown option '--xdro', did you mean --xdrop?"}},
        {GOOD "--lastz|3", NULL, {"unknown option '--lastz'"}},
        {GOOD "--hps-thresh|3", NULL, {"did you mean --hspthresh?"}},
        {GOOD "--noentrpoy", NULL, {"did you mean --noentropy?"}},
        {GOOD "--supercalifragilistic", NULL, {"unknown option '--supercalifragilistic'; `hspz --help`"}},
        {GOOD "-z", NULL, {"unknown option '-z'"}},
        {GOOD "--xdrop", NULL, {"option --xdrop: a value is missing"}},
        {"align|t|q|-o", NULL, {"option -o: a value is missing"}},
        {GOOD "--noentropy=on", NULL, {"--noentropy=on: it takes no value"}},
        {GOOD "--xdrop|1|--xdrop|1", NULL, {"option --xdrop: xdrop is set twice"}},
        {GOOD "--threads|1|--num_threads|1", NULL, {"threads is set twice"}},
        {GOOD "--entropy|--noentropy", NULL, {"entropy is set twice"}},
        {GOOD "--xdrop|1|--set|xdrop=1", NULL, {"xdrop is set twice"}},
        {GOOD "-q|-v", NULL, {"option -v: log-level is set twice"}},
        {GOOD "-o|y", NULL, {"option -o: output is set twice"}},
        {GOOD "--against|x", NULL, {"option --against: hspz align does not take it"}},
        {"info|--xdrop|3", NULL, {"option --xdrop: hspz info does not take it"}},
        {GOOD "--set|xdrop", NULL, {"option --set: 'xdrop' is not KEY=VALUE"}},
        {GOOD "--set|=3", NULL, {"is not KEY=VALUE"}},
        {GOOD "--set|xdropp=3", NULL, {"unknown key 'xdropp', did you mean 'xdrop'?"}},
        {GOOD "--set|xdrop=3x", NULL, {"key 'xdrop'", "'3x' is not a whole number"}},
        {GOOD "--set|config=x", NULL, {"unknown key 'config'"}},
        {GOOD "--config|/nonexistent/hspz.ini",
         NULL,
         {"/nonexistent/hspz.ini", "cannot open", "No such file"}},
        {GOOD "--config|/tmp", NULL, {"/tmp: cannot read", "directory"}},
        {GOOD "--scoring|/nonexistent/scores", NULL, {"/nonexistent/scores", "cannot open this score file"}},
        {GOOD "--scoring|/tmp", NULL, {"/tmp: cannot read this score file"}},
    };
    TRY(refusals);
}

Test(options_refusals, contradictions)
{
    static const refusal refusals[] = {
        {GOOD "--device|cpu|--backend|cuda", NULL, {"device = cpu contradicts backend = cuda"}},
        {GOOD "--device|cuda:3", "HSPZ_BACKEND=cpu", {"device = cuda contradicts backend = cpu"}},
        {"align|t|q|-o|-|--gapped", NULL, {"--output - and --gapped both want stdout"}},
        {"align|t|q|-o|-|--stats|-", NULL, {"--stats - and --output - both want stdout"}},
        {GOOD "--stats|-", NULL, {"--stats - and the lastz commands both want stdout", "--nogapped"}},
        {GOOD "--nogapped",
         "MAX_HITS=3|HSPZ_MAX_HITS=4",
         {"environment: HSPZ_MAX_HITS = '4' contradicts '3'"}},
    };
    TRY(refusals);
}

Test(options_refusals, environment)
{
    static const refusal refusals[] = {
        {GOOD "-q", "HSPZ_XDORP=3", {"environment: unknown variable HSPZ_XDORP, did you mean HSPZ_XDROP?"}},
        {GOOD "-q", "HSPZ_XDROP=3x", {"environment: HSPZ_XDROP: '3x'", "1..214748364"}},
        {GOOD "-q", "HSPZ_XDROP=", {"environment: HSPZ_XDROP: ''"}},
        {GOOD "-q", "MAX_HITS=none", {"environment: MAX_HITS: 'none'"}},
        {GOOD "-q", "HSPZ_CHUNK_WALK=spars", {"HSPZ_CHUNK_WALK", "did you mean 'sparse'"}},
        {GOOD "-q", "HSPZ_CONFIG=/nonexistent/x", {"/nonexistent/x: cannot open"}},
        {GOOD "-q", "HSPZ_SYSTEM_CONFIG=/nonexistent/x", {"/nonexistent/x: cannot open"}},
    };
    TRY(refusals);
}

Test(options_refusals, long_values)
{
    char line[8192];
    hspz_options options;
    hspz_failure failure;
    memset(line, 'x', sizeof line);
    memcpy(line, GOOD "--plugin|", strlen(GOOD "--plugin|"));
    line[sizeof line - 1] = '\0';
    cr_expect(load_line(&options, line, NULL, &failure) == HSPZ_EXIT_USAGE);
    cr_expect(strstr(failure.text, "at most 4095") != NULL, "%s", failure.text);
    memcpy(line, GOOD "--xdrop=", strlen(GOOD "--xdrop="));
    cr_expect(load_line(&options, line, NULL, &failure) == HSPZ_EXIT_USAGE);
    cr_expect(strlen(failure.text) < 400, "a long value is not repeated in full");
}
