/* extensions.c -- what the oracle answers to get_extension (SPEC section 10).
 *
 * Idea: each companion system is a table of functions behind a name "hspz.NAME/MAJOR". Adding one is a row here; the
 * function returns a pointer to a static const table.
 */
#include "hash_index.h"
#include "oracle.h"
#include "soft_sw.h"

#include <string.h>

typedef struct extension {
    const char *id;
    const void *(*table)(void);
} extension;

static const void *hash_index(void)
{
    return &hspz__oracle_hash_index;
}

static const void *soft_sw(void)
{
    return &hspz__oracle_soft_sw;
}

/* Ended by a row without a name. */
static const extension extensions[] = {
    {HSPZ_HASH_INDEX_ID, hash_index},
    {HSPZ_SOFT_SW_ID, soft_sw},
    {NULL, NULL},
};

const void *hspz__oracle_extension(const char *id)
{
    if (id == NULL)
        return NULL;
    for (const extension *row = extensions; row->id != NULL; row++)
        if (strcmp(row->id, id) == 0)
            return row->table();
    return NULL;
}
