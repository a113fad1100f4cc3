/* extensions.c -- the companion systems behind get_extension (SPEC section 10): one row each. */
#include "companions.h"
#include "engine.h"

#include <stddef.h>
#include <string.h>

typedef struct extension {
    const char *id;    /* "hspz.NAME/MAJOR" */
    const void *table; /* the struct of functions that the extension's header in abi/ declares */
} extension;

static const extension extensions[] = {
    {HSPZ_HASH_INDEX_ID, &hspz__hash_index},
    {HSPZ_SOFT_SW_ID, &hspz__soft_sw},
    {NULL, NULL}, /* end of the table */
};

const void *hspz__get_extension(const char *id)
{
    if (id == NULL)
        return NULL;
    for (const extension *row = extensions; row->id != NULL; row++)
        if (strcmp(row->id, id) == 0)
            return row->table;
    return NULL;
}
