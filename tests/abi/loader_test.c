/* loader_test.c -- what the loader refuses, in which words, and what it accepts (loader.h, GUIDE section 1). */
#include "loader.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* $HSPZ_BUILD/tests/abi/NAME */
static char *fake(const char *name)
{
    static char path[PATH_MAX];
    const char *build = getenv("HSPZ_BUILD");
    snprintf(path, sizeof path, "%s/tests/abi/%s", build != NULL ? build : "build", name);
    return realpath(path, NULL);
}

/* The refusal of a fake: exit code 3, one line, the file and the words. */
static void refuses(const char *name, const char *words)
{
    hspz_failure failure = {0};
    hspz_library library;
    char *path = fake(name);
    cr_assert_not_null(path, "%s is not built", name);
    cr_expect_eq(hspz_library_open(path, &library, &failure), HSPZ_EXIT_PLUGIN, "%s", name);
    cr_expect_not_null(strstr(failure.text, name), "names the file: %s", failure.text);
    cr_expect_not_null(strstr(failure.text, words), "%s: %s", name, failure.text);
    cr_expect_null(strchr(failure.text, '\n'), "one line: %s", failure.text);
    cr_expect_null(library.handle);
    cr_expect_null(library.path);
    free(path);
}

Test(loader, bad_magic)
{
    refuses("fake_magic.so", "starts with 0x12345678 instead of 0x5a505348");
}

Test(loader, other_major_names_both_versions)
{
    refuses("fake_major.so", "built for ABI 2.0 and this host for ABI 1.0");
}

Test(loader, symbol_of_another_major)
{
    refuses("fake_v2.so", "built for ABI major 2 and this host for ABI 1.0");
}

Test(loader, short_struct)
{
    refuses("fake_short.so", "table says 64 bytes, but ABI 1.0 needs at least");
}

Test(loader, struct_size_beyond_the_object)
{
    refuses("fake_long.so", "the object has");
}

Test(loader, null_member)
{
    refuses("fake_null.so", "leaves out \"set_query\"");
}

Test(loader, capability_without_its_function)
{
    refuses("fake_nofind.so", "leaves out \"find_hsps\"");
}

Test(loader, negotiation_fails)
{
    refuses("fake_negotiate.so", "share no ABI version: the fake wants minor 5, not 0 to 0");
}

Test(loader, no_symbol)
{
    refuses("fake_nosymbol.so", "exports no hspz_plugin_v1");
}

Test(loader, newer_minor_is_taken)
{
    hspz_library library;
    hspz_failure failure;
    char *path = fake("fake_newer.so");
    cr_assert_eq(hspz_library_open(path, &library, &failure), 0, "%s", failure.text);
    cr_expect_eq(library.table.abi_minor, HSPZ_ABI_MINOR + 9);
    cr_expect_eq(library.minor, HSPZ_ABI_MINOR);
    cr_expect_not_null(library.table.find_hsps);
    hspz_library_close(&library);
    cr_expect_null(library.handle);
    hspz_library_close(&library); /* a cleared struct is fine */
    free(path);
}

Test(loader, two_plugins_at_once_and_names_that_collide)
{
    hspz_library a, b;
    hspz_failure failure;
    char *first = fake("fake_good.so"), *second = fake("fake_collide.so");
    cr_assert_eq(hspz_library_open(first, &a, &failure), 0, "%s", failure.text);
    cr_assert_eq(hspz_library_open(second, &b, &failure), 0, "%s", failure.text);
    cr_expect_neq(a.table.engine_create, b.table.engine_create);
    /* the host's own function, not the one of the same name that aborts */
    cr_expect_eq(hspz_failed(&failure, 7, "mine"), 7);
    cr_expect_str_eq(failure.text, "mine");
    hspz_library_close(&b);
    cr_expect_str_eq(a.table.name, "hspz fake");
    hspz_library_close(&a);
    free(first);
    free(second);
}

Test(loader, files_that_are_no_library)
{
    char path[] = "/tmp/hspz-loader-XXXXXX";
    hspz_library library;
    hspz_failure failure;
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    cr_assert_eq(write(file, "this is text, and long enough to be an ELF header if it were one\n", 65), 65);
    close(file);
    cr_expect_eq(hspz_library_open(path, &library, &failure), HSPZ_EXIT_PLUGIN);
    cr_expect_not_null(strstr(failure.text, "is not a shared library"), "%s", failure.text);
    cr_assert_eq(truncate(path, 0), 0);
    cr_expect_eq(hspz_library_open(path, &library, &failure), HSPZ_EXIT_PLUGIN);
    cr_expect_not_null(strstr(failure.text, "is not a shared library"), "%s", failure.text);
    unlink(path);
    cr_expect_eq(hspz_library_open(path, &library, &failure), HSPZ_EXIT_PLUGIN);
    cr_expect_not_null(strstr(failure.text, "No such file"), "%s", failure.text);
    cr_expect_eq(hspz_library_open("/tmp", &library, &failure), HSPZ_EXIT_PLUGIN);
    cr_expect_not_null(strstr(failure.text, "is not a file"), "%s", failure.text);
}

/* A plugin cut short anywhere is refused or, where only debugging data is gone, loads: it never ends the process. */
Test(loader, library_cut_short)
{
    char path[] = "/tmp/hspz-loader-XXXXXX", *whole = fake("fake_good.so");
    FILE *in = fopen(whole, "rb");
    cr_assert_not_null(in);
    static char bytes[1 << 22];
    size_t size = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    int file = mkstemp(path);
    cr_assert(file >= 0 && write(file, bytes, 512) == 512);
    hspz_library library;
    hspz_failure failure;
    cr_expect_eq(hspz_library_open(path, &library, &failure), HSPZ_EXIT_PLUGIN);
    cr_expect_not_null(strstr(failure.text, path), "%s", failure.text);
    cr_expect_gt(size, 512);
    close(file);
    unlink(path);
    free(whole);
}

/* Search ------------------------------------------------------------------------------------------- */

Test(loader, search_path)
{
    char *path = fake("fake_good.so"), *found, directory[PATH_MAX];
    hspz_failure failure;
    snprintf(directory, sizeof directory, "relative::%.*s", (int)(strrchr(path, '/') - path), path);
    setenv("HSPZ_PLUGIN_PATH", directory, 1);
    cr_assert_eq(hspz_plugin_find("fake_good.so", &found, NULL, &failure), 0, "%s", failure.text);
    cr_expect_str_eq(found, path);
    free(found);
    unsetenv("HSPZ_PLUGIN_PATH");
    cr_expect_eq(hspz_plugin_find("fake_good.so", &found, NULL, &failure), HSPZ_EXIT_PLUGIN);
    cr_expect_null(found);
    cr_expect_not_null(strstr(failure.text, "HSPZ_PLUGIN_PATH"), "%s", failure.text);
    free(path);
}

Test(loader, never_the_current_directory_by_itself)
{
    char *path = fake("fake_good.so"), *found;
    hspz_failure failure;
    *strrchr(path, '/') = '\0';
    cr_assert_eq(chdir(path), 0);
    setenv("HSPZ_PLUGIN_PATH", ".::", 1); /* relative and empty entries count for nothing */
    cr_expect_eq(hspz_plugin_find("fake_good.so", &found, NULL, &failure), HSPZ_EXIT_PLUGIN);
    cr_expect_eq(hspz_plugin_find("./fake_good.so", &found, NULL, &failure), 0);
    cr_expect_eq(found[0], '/', "an absolute path: %s", found);
    free(found);
    free(path);
}

/* Judging bytes ------------------------------------------------------------------------------------ */

Test(loader, judge_reads_no_further_than_it_may)
{
    hspz_plugin plugin = {.magic = HSPZ_MAGIC, .struct_size = sizeof plugin, .abi_major = HSPZ_ABI_MAJOR},
                table;
    hspz_failure failure;
    for (size_t available = 0; available < sizeof plugin; available += 3) {
        unsigned char *bytes = malloc(available + 1); /* exact, for address checkers */
        memcpy(bytes, &plugin, available);
        cr_expect_eq(hspz_plugin_judge(bytes, available, "x.so", &table, &failure), HSPZ_EXIT_PLUGIN);
        free(bytes);
    }
    cr_expect_eq(hspz_plugin_judge(&plugin, sizeof plugin, "x.so", &table, &failure), HSPZ_EXIT_PLUGIN);
    cr_expect_not_null(strstr(failure.text, "\"name\""), "the first missing member is named: %s",
                       failure.text);
}

/* Statuses ----------------------------------------------------------------------------------------- */

Test(loader, each_status_has_an_exit_code)
{
    static const struct {
        hspz_status status;
        int code;
    } expected[] = {{HSPZ_E_ARGUMENT, HSPZ_EXIT_USAGE},       {HSPZ_E_VERSION, HSPZ_EXIT_PLUGIN},
                    {HSPZ_E_UNSUPPORTED, HSPZ_EXIT_PLUGIN},   {HSPZ_E_STATE, HSPZ_EXIT_PLUGIN},
                    {HSPZ_E_CONFIG, HSPZ_EXIT_USAGE},         {HSPZ_E_MEMORY, HSPZ_EXIT_MEMORY},
                    {HSPZ_E_DEVICE_MEMORY, HSPZ_EXIT_MEMORY}, {HSPZ_E_TOO_MANY_HITS, HSPZ_EXIT_DATA},
                    {HSPZ_E_NOT_BUILT, HSPZ_EXIT_PLUGIN},     {HSPZ_E_NO_DRIVER, HSPZ_EXIT_PLUGIN},
                    {HSPZ_E_NO_DEVICE, HSPZ_EXIT_PLUGIN},     {HSPZ_E_ARCHITECTURE, HSPZ_EXIT_PLUGIN},
                    {HSPZ_E_DEVICE, HSPZ_EXIT_PLUGIN},        {HSPZ_E_INTERNAL, HSPZ_EXIT_PLUGIN}};
    hspz_library library;
    hspz_failure failure;
    char *path = fake("fake_good.so");
    cr_assert_eq(hspz_library_open(path, &library, &failure), 0, "%s", failure.text);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        cr_expect_eq(hspz_plugin_failed(&library, expected[i].status, NULL, "a test", &failure),
                     expected[i].code, "%d", expected[i].status);
        cr_expect_not_null(strstr(failure.text, library.table.status_text(expected[i].status)), "%s",
                           failure.text);
    }
    hspz_error error = {.struct_size = sizeof error, .text = "batch 7 has too many"};
    hspz_plugin_failed(&library, HSPZ_E_TOO_MANY_HITS, &error, "interval 3", &failure);
    cr_expect_not_null(strstr(failure.text, "interval 3: batch 7 has too many"), "%s", failure.text);
    cr_expect_not_null(strstr(failure.text, "--wga-chunk-size"), "advice: %s", failure.text);
    hspz_library_close(&library);
    free(path);
}
