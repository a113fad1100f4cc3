/* lastz_commands.h -- the gapped stage in words: one lastz command a segments file, as KegAlign prints them.
 *
 *   lastz 'T[nameparse=darkspace][multiple][subset=D/ref_block0.name]' 'Q[nameparse=darkspace][subset=D/query_block0.name]'
 *     --format=maf- --ydrop=9430 --gappedthresh=3000 --strand=plus --segments=D/tmp1.block0.r0.plus.segments
 *     --output=D/tmp1.block0.r0.plus.maf
 *
 * Each is one line that `sh` and `parallel` run as it stands, from the directory hspz was started in. LASTZ 1.04.22 cannot
 * read every input that hspz reads (compressed files, 2bit version 1, U, IUPAC codes without --ambiguous=iupac) and
 * knows nothing of prefixes and new names: then a FASTA copy it can read is put beside the segments, and the
 * commands name that. In the copy IUPAC codes stand as N where LASTZ would refuse them.
 */
#ifndef HSPZ_HOST_LASTZ_COMMANDS_H
#define HSPZ_HOST_LASTZ_COMMANDS_H

#include "inputs.h"
#include "options.h"
#include "record_names.h"
#include "text.h"

#define HSPZ__TARGET_COPY "hspz.target.fa"
#define HSPZ__QUERY_COPY "hspz.query.fa"

/* What the commands say, all of it borrowed. */
typedef struct hspz__lastz {
    const hspz_options *options;
    const char *target_path; /* as LASTZ will open them */
    const char *query_path;
} hspz__lastz;

/* Why LASTZ cannot use the input as it is, a phrase ("is gzip"), or NULL. `mapped`: some names differ from the file's. */
const char *hspz__lastz_input_problem(const hspz_genome *genome, const char *prefix, bool mapped,
                                      int64_t ambiguous);

/* True when LASTZ can take the path within its sequence arguments: '[', ',' and the like are syntax there. */
bool hspz__lastz_path_is_safe(const char *path);

/* Writes the genome as FASTA with the given names; `plain_bases` puts N for IUPAC codes. `file` is open, `name` for the
 * sentence. */
int hspz__lastz_write_copy(const hspz_genome *genome, const char *const *names, bool plain_bases, int file,
                           const char *name, hspz_failure *failure);

/* Appends the command for a segments file with a newline. Subsets NULL: none. `strand` is "plus", "minus" or "both". */
void hspz__lastz_command(const hspz__lastz *lastz, const char *directory, const char *segments,
                         const char *target_subset, const char *query_subset, const char *strand,
                         hspz__text *text);

/* Appends `word` so that a POSIX shell reads it as one word. */
void hspz__shell_word(hspz__text *text, const char *word);

#endif
