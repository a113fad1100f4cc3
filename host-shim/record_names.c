/* record_names.c -- see record_names.h */
#include "record_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUBSET_NAME_MAX 255

const char *hspz__name_problem(const char *name)
{
    const char *problem = hspz_name_problem(name);
    if (problem != NULL)
        return problem;
    /* measured with lastz 1.04.22, as the rest: what a segments file takes but subset= or the matching does not */
    if (strlen(name) > SUBSET_NAME_MAX)
        return "is longer than 255 characters, more than LASTZ reads in a file of names";
    if (name[0] == '>')
        return "begins with '>', which LASTZ drops";
    if (strcmp(name, "*") == 0)
        return "is '*', which means every record in a segments file";
    return NULL;
}

/* Names of one genome into list[]; invents one for each that LASTZ cannot take. */
static int make_list(const hspz_genome *genome, const char *role, bool map, hspz__names *names,
                     const char **list, bool *mapped, hspz_failure *failure)
{
    for (size_t i = 0; i < genome->record_count; i++) {
        const hspz_record *record = &genome->records[i];
        const char *problem = hspz__name_problem(record->name);
        list[i] = record->name;
        if (problem == NULL)
            continue;
        if (!map)
            return hspz_failed(failure, HSPZ_EXIT_DATA,
                               "%s: record %zu, \"%.300s\": the name %s; rename it, or let --map-names do so",
                               genome->path, i + 1, record->name, problem);
        char *name = NULL;
        if (asprintf(&name, "hspz_%s_%zu", role, i + 1) < 0)
            return hspz_failed_memory(failure, "record names", 64);
        names->owned[names->owned_count++] = name;
        list[i] = name;
        *mapped = true;
    }
    return 0;
}

/* The number behind "hspz_ROLE_", or 0 when `name` is no invented name. */
static size_t invented_number(const char *name, const char *role)
{
    char prefix[32], *end;
    int size = snprintf(prefix, sizeof prefix, "hspz_%s_", role);
    if (size < 0 || strncmp(name, prefix, (size_t)size) != 0 || name[size] < '1' || name[size] > '9')
        return 0;
    unsigned long long number = strtoull(name + size, &end, 10);
    return *end == '\0' && number < SIZE_MAX ? (size_t)number : 0;
}

/* Could an invented name be a record's own? Then two records would share it. */
static int check_clashes(const hspz_genome *genome, const char *role, hspz_failure *failure)
{
    for (size_t i = 0; i < genome->record_count; i++) {
        const char *name = genome->records[i].name;
        size_t number = invented_number(name, role);
        if (number != 0 && number <= genome->record_count &&
            hspz__name_problem(genome->records[number - 1].name) != NULL)
            return hspz_failed(
                failure, HSPZ_EXIT_DATA,
                "%s: --map-names would call record %zu \"%s\", which is the name of record %zu", genome->path,
                number, name, i + 1);
    }
    return 0;
}

int hspz__names_make(const hspz_inputs *inputs, bool map, hspz__names *names, hspz_failure *failure)
{
    const hspz_genome *target = &inputs->target.genome, *query = &inputs->query.genome;
    size_t targets = target->record_count, queries = query->record_count;
    memset(names, 0, sizeof *names);
    names->target = calloc(targets, sizeof *names->target);
    names->query = calloc(queries, sizeof *names->query);
    names->owned = calloc(targets + queries, sizeof *names->owned);
    if (names->target == NULL || names->query == NULL || names->owned == NULL) {
        hspz__names_free(names);
        return hspz_failed_memory(failure, "record names", (targets + queries) * sizeof(char *));
    }
    int code = make_list(target, "target", map, names, names->target, &names->target_mapped, failure);
    if (code == 0)
        code = make_list(query, "query", map, names, names->query, &names->query_mapped, failure);
    if (code == 0 && names->target_mapped)
        code = check_clashes(target, "target", failure);
    if (code == 0 && names->query_mapped)
        code = check_clashes(query, "query", failure);
    if (code != 0)
        hspz__names_free(names);
    return code;
}

void hspz__names_free(hspz__names *names)
{
    for (size_t i = 0; names->owned != NULL && i < names->owned_count; i++)
        free(names->owned[i]);
    free(names->owned);
    free(names->target);
    free(names->query);
    memset(names, 0, sizeof *names);
}

static void table_of(const hspz_genome *genome, const char *role, const char *const *list, hspz__text *text)
{
    for (size_t i = 0; i < genome->record_count; i++)
        if (list[i] != genome->records[i].name) {
            hspz__text_string(text, role);
            hspz__text_string(text, "\t");
            hspz__text_string(text, list[i]);
            hspz__text_string(text, "\t");
            hspz__text_string(text, genome->records[i].name);
            hspz__text_string(text, "\n");
        }
}

void hspz__names_table(const hspz_inputs *inputs, const hspz__names *names, hspz__text *text)
{
    table_of(&inputs->target.genome, "target", names->target, text);
    table_of(&inputs->query.genome, "query", names->query, text);
}
