/* option_table.h -- the one table behind INI files, environment, command line, help and sample file.
 *
 * Idea: a row says everything about a setting: its names, where its value lives in hspz_options, what is allowed,
 * and the words that explain it. Code that reads or prints settings walks the rows and knows none by name. Adding a
 * setting means adding a field to hspz_options and a row here.
 */
#ifndef HSPZ__OPTION_TABLE_H
#define HSPZ__OPTION_TABLE_H

#include "options.h"

enum {
    HSPZ__GROUP_INPUT,
    HSPZ__GROUP_SEEDING,
    HSPZ__GROUP_EXTENSION,
    HSPZ__GROUP_GAPPED,
    HSPZ__GROUP_OUTPUT,
    HSPZ__GROUP_DEVICE,
    HSPZ__GROUP_CONFIGURATION,
    HSPZ__GROUP_COUNT
};

enum {
    HSPZ__TYPE_SWITCH,    /* on | off; --NAME, --noNAME, --no-NAME */
    HSPZ__TYPE_INTEGER,   /* least..most, or `word` */
    HSPZ__TYPE_SIZE,      /* the same with K, M, G, Ki, Mi, Gi */
    HSPZ__TYPE_CHOICE,    /* index in `choices` */
    HSPZ__TYPE_TEXT,      /* at most `capacity` - 1 bytes, no white space, no control characters */
    HSPZ__TYPE_PATH,      /* at most `capacity` - 1 bytes */
    HSPZ__TYPE_SEED,      /* 12of19, 14of22 or a pattern */
    HSPZ__TYPE_FORMAT,    /* one of `choices`, or general:FIELDS */
    HSPZ__TYPE_AMBIGUOUS, /* none | n[,R,P] | iupac[,R,P]; three fields */
    HSPZ__TYPE_DEVICE,    /* auto | cpu | cuda[:N|:all]; two fields */
    HSPZ__TYPE_COUNT
};

/* What a setting can change. */
enum {
    HSPZ__KIND_SEMANTIC, /* results */
    HSPZ__KIND_TUNING,   /* speed or memory only; handed to the plugin by its key */
    HSPZ__KIND_HOST      /* what the command reads, writes and says */
};

typedef struct hspz__option {
    const char *name;        /* --name; '-', '_' and '.' are the same in it */
    const char *other_name;  /* another name on the command line, or NULL */
    const char *key;         /* in its group's INI section; NULL: command line only */
    const char *environment; /* variable, or NULL */
    const char *other_environment;
    char letter; /* -o, or 0 */
    uint8_t type;
    uint8_t group;
    uint8_t kind;
    uint32_t commands; /* bit HSPZ_COMMAND_...: subcommands that take it on the command line */
    size_t offset;     /* of the field in hspz_options: int64_t, or char[capacity] */
    size_t capacity;
    int64_t least, most;
    int64_t initial;          /* default of a number, switch or choice */
    const char *initial_text; /* default of a text */
    const char *word;         /* a word that stands for the number word_value, or NULL */
    int64_t word_value;
    const char *const *choices; /* NULL-terminated */
    const char *unit;           /* or NULL */
    const char *help;           /* what it does; a phrase without a full stop */
} hspz__option;

extern const hspz__option hspz__options_table[];
extern const size_t hspz__options_count;

/* "input", "seeding", ...: section of the INI file; and the heading in help. */
extern const char *const hspz__group_sections[HSPZ__GROUP_COUNT];
extern const char *const hspz__group_titles[HSPZ__GROUP_COUNT];

/* Row of a setting called `name` in any way (name, other name, key, environment), '-', '_' and '.' alike; NULL if there
 * is none. [any] */
const hspz__option *hspz__option_find(const char *name);
/* Row whose INI key is `key`. [any] */
const hspz__option *hspz__option_by_key(const char *key);
/* Row whose variable is `name` (`length` bytes). [any] */
const hspz__option *hspz__option_by_environment(const char *name, size_t length);
/* Position of a row in the table, for hspz_options.origin. [any] */
size_t hspz__option_index(const hspz__option *option);

/* True when the two names are equal with '-', '_' and '.' alike; `length` bytes of a. [any] */
bool hspz__names_equal(const char *a, size_t length, const char *b);

/* Nearest of `count` names to `name` by edit distance, or NULL when none is near enough to be meant. [any] */
const char *hspz__nearest(const char *name, const char *const *names, size_t count);

/* Field of a row. [any] */
int64_t *hspz__option_number(hspz_options *options, const hspz__option *option);
char *hspz__option_text(hspz_options *options, const hspz__option *option);

/* Reads `text` into the row's field. `where` opens the sentence of a refusal: "option --xdrop". */
int hspz__option_parse(hspz_options *options, const hspz__option *option, const char *where, const char *text,
                       hspz_failure *failure) __attribute__((warn_unused_result));
/* The same, and remembers the origin. */
int hspz__option_assign(hspz_options *options, const hspz__option *option, int origin, uint32_t line,
                        const char *where, const char *text, hspz_failure *failure)
    __attribute__((warn_unused_result));

#define HSPZ__VALUE_TEXT (HSPZ_OPTION_PATH + 16)
/* Writes the row's value as it would stand in an INI file. [any] */
void hspz__option_format(const hspz_options *options, const hspz__option *option,
                         char text[HSPZ__VALUE_TEXT]);
/* Writes what is allowed: "1..2147483647 or auto", "both | plus | minus". [any] */
void hspz__option_range(const hspz__option *option, char *text, size_t size);
/* "number", "size", ... [any] */
const char *hspz__option_type_name(const hspz__option *option);

/* Expands 12of19 and 14of22, checks letters, length and word; on failure `reason` (256 bytes) says what is wrong.
 * SPEC section 3. [any] */
bool hspz__seed_pattern(const char *text, char pattern[64], char reason[256]);

/* The INI text of `length` bytes goes into `options`; see ini.c. */
int hspz__ini_read(hspz_options *options, int origin, const char *name, const char *text, size_t length,
                   hspz_failure *failure) __attribute__((warn_unused_result));

#endif
