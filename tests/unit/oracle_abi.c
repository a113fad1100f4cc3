/* oracle_abi.c -- SPEC section 9: statuses, refusals, slots, statistics, host index, exported symbols. */
#include "oracle_bench.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Test(oracle_abi, entry_object)
{
    bench b = new_bench();
    const hspz_plugin *p = b.plugin;
    cr_expect_eq(p->magic, HSPZ_MAGIC);
    cr_expect_eq(p->abi_major, HSPZ_ABI_MAJOR);
    cr_expect(p->struct_size >= sizeof(hspz_plugin));
    cr_expect(p->name != NULL && p->version != NULL && p->build != NULL);
    for (uint32_t mode = 0; mode < HSPZ_DEDUP_COUNT; mode++)
        cr_expect((p->capabilities & HSPZ_CAP_DEDUP(mode)) != 0, "dedup %u", mode);
    cr_expect((p->capabilities & HSPZ_CAP_FIND) != 0 && (p->capabilities & HSPZ_CAP_EXPAND) != 0 &&
              (p->capabilities & HSPZ_CAP_ANCHORS) != 0 && (p->capabilities & HSPZ_CAP_HOST_INDEX) != 0);
}

Test(oracle_abi, negotiate)
{
    bench b = new_bench();
    uint32_t agreed = 99;
    cr_expect_eq(b.plugin->negotiate(0, 0, &agreed, &b.error), HSPZ_OK);
    cr_expect_eq(agreed, 0);
    cr_expect_eq(b.plugin->negotiate(0, 1000, &agreed, &b.error), HSPZ_OK);
    cr_expect_eq(agreed, b.plugin->abi_minor);
    cr_expect_eq(b.plugin->negotiate(1000, 1001, &agreed, &b.error), HSPZ_E_VERSION);
    cr_expect(strstr(b.error.text, "1000") != NULL, "%s", b.error.text);
    cr_expect_eq(b.plugin->negotiate(0, 0, NULL, NULL), HSPZ_E_ARGUMENT);
    cr_expect_eq(b.plugin->negotiate(2, 1, &agreed, NULL), HSPZ_E_ARGUMENT);
}

Test(oracle_abi, status_texts)
{
    bench b = new_bench();
#define EXPECT_SENTENCE(name, number, cls, sentence)                                                         \
    cr_expect_str_eq(b.plugin->status_text(number), sentence);
    HSPZ_STATUS_TABLE(EXPECT_SENTENCE)
#undef EXPECT_SENTENCE
    cr_expect_str_eq(b.plugin->status_text(1), "unknown status");
    cr_expect_str_eq(b.plugin->status_text(-999), "unknown status");
}

Test(oracle_abi, device_list)
{
    bench b = new_bench();
    uint32_t count = 0;
    cr_assert_eq(b.plugin->device_count(&count, &b.error), HSPZ_OK);
    cr_assert(count >= 1);
    hspz_device_info info = {.struct_size = sizeof info};
    cr_assert_eq(b.plugin->device_info(0, &info, &b.error), HSPZ_OK);
    cr_expect_eq(info.struct_size, sizeof info);
    cr_expect(info.name[0] != '\0' && info.memory_total > 0);
    cr_expect_eq(b.plugin->device_info(count, &info, &b.error), HSPZ_E_NO_DEVICE);
    cr_expect_eq(b.plugin->device_info(0, NULL, &b.error), HSPZ_E_ARGUMENT);
    cr_expect_eq(b.plugin->device_count(NULL, NULL), HSPZ_E_ARGUMENT);
}

/* A caller of an older minor version has shorter structs: nothing beyond them is written. */
Test(oracle_abi, short_result_structs_are_not_overrun)
{
    bench b = new_bench();
    unsigned char room[sizeof(hspz_device_info)];
    memset(room, 0xee, sizeof room);
    uint32_t size = 48;
    memcpy(room, &size, sizeof size);
    cr_assert_eq(b.plugin->device_info(0, (void *)room, &b.error), HSPZ_OK);
    for (size_t i = size; i < sizeof room; i++)
        cr_expect_eq(room[i], 0xee);
    given(&b, "ACGT", "ACGT");
    memset(room, 0xee, sizeof room);
    size = 32;
    memcpy(room, &size, sizeof size);
    cr_assert_eq(b.plugin->get_statistics(b.engine, (void *)room, &b.error), HSPZ_OK);
    cr_expect_eq(room[32], 0xee);
    memset(room, 0xee, sizeof room);
    size = 24;
    memcpy(room, &size, sizeof size);
    cr_assert_eq(b.plugin->clear_query(b.engine, 5, (void *)room), HSPZ_E_ARGUMENT);
    cr_expect_eq(room[23], '\0', "a cut text is terminated");
    cr_expect_eq(room[24], 0xee);
    end_bench(&b);
}

static void expect_refused(const hspz_engine_params *params, hspz_status status, const char *word)
{
    bench b = new_bench();
    hspz_engine *engine = (hspz_engine *)&b;
    cr_expect_eq(b.plugin->engine_create(params, NULL, &engine, &b.error), status, "%s", word);
    cr_expect(engine == NULL, "%s: *out stays set", word);
    cr_expect_eq(b.error.status, status);
    cr_expect(strstr(b.error.text, word) != NULL, "no '%s' in: %s", word, b.error.text);
    cr_expect_eq(b.plugin->engine_create(params, NULL, &engine, NULL), status, "%s without error struct",
                 word);
}

Test(oracle_abi, bad_parameters)
{
    const hspz_engine_params good = new_bench().params;
#define REFUSE(field, value, status)                                                                         \
    do {                                                                                                     \
        hspz_engine_params bad = good;                                                                       \
        bad.field = (value);                                                                                 \
        expect_refused(&bad, status, #field);                                                                \
    } while (0)
    REFUSE(device, 12345, HSPZ_E_NO_DEVICE);
    REFUSE(seed_pattern, NULL, HSPZ_E_ARGUMENT);
    REFUSE(transitions, 2, HSPZ_E_ARGUMENT);
    REFUSE(step, 0, HSPZ_E_ARGUMENT);
    REFUSE(step, 0x80000000u, HSPZ_E_ARGUMENT);
    REFUSE(xdrop, 0, HSPZ_E_ARGUMENT);
    REFUSE(xdrop, -5, HSPZ_E_ARGUMENT);
    REFUSE(hspthresh, 0, HSPZ_E_ARGUMENT);
    REFUSE(hspthresh, -1, HSPZ_E_ARGUMENT);
    REFUSE(entropy, 2, HSPZ_E_ARGUMENT);
    REFUSE(ambiguous, 3, HSPZ_E_ARGUMENT);
    REFUSE(ambiguous_reward, -1, HSPZ_E_ARGUMENT);
    REFUSE(ambiguous_penalty, -1, HSPZ_E_ARGUMENT);
    REFUSE(dedup, HSPZ_DEDUP_COUNT, HSPZ_E_ARGUMENT);
    REFUSE(query_slots, 0, HSPZ_E_ARGUMENT);
    REFUSE(query_slots, 17, HSPZ_E_ARGUMENT);
    REFUSE(max_hits, 0x100000000u, HSPZ_E_ARGUMENT);
#undef REFUSE
}

Test(oracle_abi, bad_patterns)
{
    hspz_engine_params bad = new_bench().params;
    const char *patterns[] = {"",
                              "111",
                              "TTTTTTT",
                              "1111111111111111",
                              "11111111111111111111111111111111111111111",
                              "10x1111",
                              "12of19",
                              "0000000",
                              "1111 ",
                              "111100000000000000000000000000001"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        bad.seed_pattern = patterns[i];
        expect_refused(&bad, HSPZ_E_ARGUMENT, "pattern");
    }
    bench b = new_bench();
    const char *good[] = {"1111", "TTTTTTTT", "111111111111111", "TTTTTTTTTTTTTTTTTTTTTTTTTTTTTT",
                          "10000000000000000000000000000111"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        b.params.seed_pattern = good[i];
        given(&b, "ACGTACGTACGTACGTACGTACGTACGTACGTACGT", "ACGTACGTACGTACGTACGTACGTACGTACGTACGT");
        find(&b, HSPZ_STRAND_PLUS, 0, 4, 100);
        cr_expect(b.count >= 1, "pattern %s finds nothing", good[i]);
    }
    end_bench(&b);
}

Test(oracle_abi, defaults_of_a_shorter_params_struct)
{
    bench b = new_bench();
    b.params.struct_size = offsetof(hspz_engine_params, max_hits);
    b.params.max_hits = 1;
    given(&b, "ACGT", "ACGT");
    hspz_engine_info info = {.struct_size = sizeof info};
    cr_assert_eq(b.plugin->engine_info(b.engine, &info, &b.error), HSPZ_OK);
    cr_expect_eq(info.max_hits, HSPZ_MAX_HITS_DEFAULT);
    cr_expect_eq(info.threads, 1);
    end_bench(&b);
}

Test(oracle_abi, null_engine_and_null_arguments)
{
    bench b = new_bench();
    const hspz_plugin *p = b.plugin;
    p->engine_destroy(NULL);
    cr_expect_eq(p->engine_create(NULL, NULL, &b.engine, &b.error), HSPZ_E_ARGUMENT);
    cr_expect_eq(p->engine_create(&b.params, NULL, NULL, &b.error), HSPZ_E_ARGUMENT);
    cr_expect_eq(p->set_target(NULL, NULL, NULL), HSPZ_E_ARGUMENT);
    cr_expect_eq(p->find_hsps(NULL, NULL, NULL, NULL), HSPZ_E_ARGUMENT);
    cr_expect_str_eq(p->last_error(NULL), "");
    cr_expect(p->get_extension(NULL) == NULL);
    cr_expect(p->get_extension("hspz.no_such_thing/1") == NULL);
    given(&b, "ACGT", "ACGT");
    cr_expect_eq(p->set_target(b.engine, NULL, &b.error), HSPZ_E_ARGUMENT);
    cr_expect_eq(p->set_query(b.engine, 0, NULL, &b.error), HSPZ_E_ARGUMENT);
    cr_expect_eq(p->find_hsps(b.engine, NULL, NULL, &b.error), HSPZ_E_ARGUMENT);
    cr_expect_eq(p->expand_and_extend(b.engine, NULL, NULL, &b.error), HSPZ_E_ARGUMENT);
    cr_expect_eq(p->extend_anchors(b.engine, NULL, NULL, &b.error), HSPZ_E_ARGUMENT);
    cr_expect_eq(p->engine_info(b.engine, NULL, &b.error), HSPZ_E_ARGUMENT);
    cr_expect_eq(p->get_statistics(b.engine, NULL, &b.error), HSPZ_E_ARGUMENT);
    cr_expect(p->last_error(b.engine)[0] != '\0');
    end_bench(&b);
}

Test(oracle_abi, work_needs_target_and_query)
{
    bench b = new_bench();
    given(&b, "&ACGT", "ACGT");
    cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 0, 1), "1,0,3,40");
    cr_expect_eq(b.plugin->clear_query(b.engine, 0, &b.error), HSPZ_OK);
    cr_expect_eq(try_find(&b, HSPZ_STRAND_PLUS, 0, 0, 1), HSPZ_E_STATE);
    cr_expect(strstr(b.error.text, "query") != NULL, "%s", b.error.text);
    given(&b, "&ACGT", "ACGT");
    cr_expect_eq(b.plugin->clear_target(b.engine, &b.error), HSPZ_OK);
    hspz_anchor anchor = {4, 4};
    cr_expect_eq(try_extend(&b, HSPZ_STRAND_PLUS, &anchor, 1), HSPZ_E_STATE);
    cr_expect(strstr(b.error.text, "target") != NULL, "%s", b.error.text);
    cr_expect_str_eq(b.plugin->last_error(b.engine), b.error.text);
    end_bench(&b);
}

Test(oracle_abi, bytes_that_are_no_letters)
{
    bench b = new_bench();
    const char *bad = "*-.1@ EFIJLOPQZ\n\x80\xff";
    for (const char *c = bad; *c != '\0'; c++) {
        const uint8_t bases[3] = {'A', (uint8_t)*c, 'C'};
        hspz_target target = {.struct_size = sizeof target, .bases = bases, .length = 3};
        hspz_query query = {.struct_size = sizeof query, .bases = bases, .length = 3};
        given(&b, "&ACGT", "ACGT");
        cr_expect_eq(b.plugin->set_target(b.engine, &target, &b.error), HSPZ_E_ARGUMENT, "0x%02x", *c);
        cr_expect(strstr(b.error.text, "offset 1 ") != NULL, "%s", b.error.text);
        cr_expect_eq(try_find(&b, HSPZ_STRAND_PLUS, 0, 0, 1), HSPZ_E_STATE,
                     "no target is set after a failure");
        given(&b, "&ACGT", "ACGT");
        cr_expect_eq(b.plugin->set_query(b.engine, 0, &query, &b.error), HSPZ_E_ARGUMENT, "0x%02x", *c);
        cr_expect_eq(try_find(&b, HSPZ_STRAND_PLUS, 0, 0, 1), HSPZ_E_STATE,
                     "the slot is empty after a failure");
    }
    end_bench(&b);
}

Test(oracle_abi, blocks_that_are_too_long)
{
    bench b = new_bench();
    given(&b, "&ACGT", "ACGT");
    hspz_target target = {.struct_size = sizeof target, .bases = (const uint8_t *)"A", .length = 0xffffffffu};
    cr_expect_eq(b.plugin->set_target(b.engine, &target, &b.error), HSPZ_E_ARGUMENT);
    hspz_query query = {.struct_size = sizeof query, .bases = NULL, .length = 4};
    cr_expect_eq(b.plugin->set_query(b.engine, 0, &query, &b.error), HSPZ_E_ARGUMENT);
    end_bench(&b);
}

Test(oracle_abi, bad_requests)
{
    bench b = new_bench();
    given(&b, "&ACGT", "ACGTACGT");
    cr_expect_eq(try_find(&b, 2, 0, 0, 1), HSPZ_E_ARGUMENT);
    cr_expect_eq(try_find(&b, HSPZ_STRAND_PLUS, 0, 0, 0), HSPZ_E_ARGUMENT);
    cr_expect_eq(try_find(&b, HSPZ_STRAND_PLUS, 3, 2, 1), HSPZ_E_ARGUMENT);
    const uint64_t seeds[] = {(uint64_t)256 << 32, 5, 0xffffffffu};
    for (int i = 0; i < 3; i++)
        cr_expect_eq(try_expand(&b, HSPZ_STRAND_PLUS, &seeds[i], 1), HSPZ_E_ARGUMENT, "seed %d", i);
    const uint64_t last = 4;
    cr_expect_eq(try_expand(&b, HSPZ_STRAND_PLUS, &last, 1), HSPZ_OK, "the last window");
    hspz_anchor anchors[] = {{6, 0}, {0, 9}, {0xffffffffu, 0}, {5, 8}};
    for (int i = 0; i < 3; i++)
        cr_expect_eq(try_extend(&b, HSPZ_STRAND_PLUS, &anchors[i], 1), HSPZ_E_ARGUMENT, "anchor %d", i);
    cr_expect_eq(try_extend(&b, HSPZ_STRAND_PLUS, &anchors[3], 1), HSPZ_OK, "both ends");
    hspz_sink sink = {.struct_size = sizeof sink};
    hspz_find_request request = {.struct_size = sizeof request, .batch_size = 1};
    cr_expect_eq(b.plugin->find_hsps(b.engine, &request, &sink, &b.error), HSPZ_E_ARGUMENT, "no sink");
    hspz_anchor_batch batch = {.struct_size = sizeof batch, .stride = 6, .anchors = anchors, .count = 1};
    cr_expect_eq(b.plugin->extend_anchors(b.engine, &batch, &sink, &b.error), HSPZ_E_ARGUMENT, "stride");
    end_bench(&b);
}

Test(oracle_abi, empty_batches)
{
    bench b = new_bench();
    given(&b, "&ACGT", "ACGT");
    cr_expect_str_eq(expand(&b, NULL, 0), "");
    cr_expect_str_eq(extend(&b, NULL, 0), "");
    for (uint32_t dedup = 0; dedup < HSPZ_DEDUP_COUNT; dedup++) {
        b.params.dedup = dedup;
        given(&b, "&TTTT", "ACGT");
        cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 0, 1), "", "dedup %u", dedup);
    }
    end_bench(&b);
}

static int32_t count_records(void *ctx, const hspz_hsp *records, uint64_t count, uint32_t stride)
{
    (void)records;
    (void)stride;
    *(uint64_t *)ctx += count;
    return 0;
}

Test(oracle_abi, anchors_with_a_stride)
{
    bench b = new_bench();
    given(&b, "&ACGT&ACGT", "ACGT");
    const uint32_t rows[] = {5, 4, 999999, 10, 4, 999999};
    uint64_t count = 0;
    hspz_sink sink = {.struct_size = sizeof sink, .ctx = &count, .hsps = count_records};
    hspz_anchor_batch batch = {
        .struct_size = sizeof batch, .stride = 12, .anchors = (const hspz_anchor *)rows, .count = 2};
    cr_assert_eq(b.plugin->extend_anchors(b.engine, &batch, &sink, &b.error), HSPZ_OK, "%s", b.error.text);
    cr_expect_eq(count, 2);
    end_bench(&b);
}

Test(oracle_abi, query_slots_are_independent)
{
    bench b = new_bench();
    b.params.query_slots = 3;
    given(&b, "&ACGT&TTTT", "ACGT");
    hspz_query other = {.struct_size = sizeof other, .bases = (const uint8_t *)"TTTT", .length = 4};
    cr_assert_eq(b.plugin->set_query(b.engine, 2, &other, &b.error), HSPZ_OK);
    cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 0, 1), "1,0,3,40");
    hspz_find_request request = {.struct_size = sizeof request, .slot = 2, .batch_size = 1};
    uint64_t count = 0;
    hspz_sink sink = {.struct_size = sizeof sink, .ctx = &count, .hsps = count_records};
    cr_assert_eq(b.plugin->find_hsps(b.engine, &request, &sink, &b.error), HSPZ_OK);
    cr_expect_eq(count, 1);
    request.slot = 1;
    cr_expect_eq(b.plugin->find_hsps(b.engine, &request, &sink, &b.error), HSPZ_E_STATE);
    request.slot = 3;
    cr_expect_eq(b.plugin->find_hsps(b.engine, &request, &sink, &b.error), HSPZ_E_ARGUMENT);
    cr_expect_eq(b.plugin->set_query(b.engine, 3, &other, &b.error), HSPZ_E_ARGUMENT);
    end_bench(&b);
}

/* Host index --------------------------------------------------------------------------------------- */

static hspz_status set_indexed_target(bench *b, const char *bases, uint32_t table[256],
                                      const uint32_t *positions, uint64_t count)
{
    hspz_target target = {.struct_size = sizeof target,
                          .bases = (const uint8_t *)bases,
                          .length = strlen(bases),
                          .index_table = table,
                          .index_entries = 256,
                          .positions = positions,
                          .position_count = count};
    return b->plugin->set_target(b->engine, &target, &b->error);
}

/* ACGT is word 0x1b; its bucket holds what the host says, position 0 too. */
Test(oracle_abi, host_index_is_used)
{
    bench b = new_bench();
    uint32_t table[256];
    for (int word = 0; word < 256; word++)
        table[word] = word < 0x1b ? 0 : 2;
    const uint32_t positions[] = {0, 10};
    given(&b, "A", "ACGT");
    cr_assert_eq(set_indexed_target(&b, "ACGT&ACGT&ACGT", table, positions, 2), HSPZ_OK, "%s", b.error.text);
    table[0x1b] = 0; /* copied before the call returned */
    cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 0, 1), "10,0,3,40 0,0,3,40");
    const uint64_t seed = (uint64_t)0x1b << 32;
    cr_expect_str_eq(expand(&b, &seed, 1), "10,0,3,40 0,0,3,40");
    end_bench(&b);
}

Test(oracle_abi, bad_host_indexes)
{
    bench b = new_bench();
    uint32_t table[256] = {0};
    const uint32_t descending[] = {10, 0};
    const uint32_t outside[] = {0, 11};
    given(&b, "A", "ACGT");
    for (int word = 0; word < 256; word++)
        table[word] = word < 0x1b ? 0 : 2;
    cr_expect_eq(set_indexed_target(&b, "ACGT&ACGT&ACGT", table, descending, 2), HSPZ_E_ARGUMENT);
    cr_expect_eq(set_indexed_target(&b, "ACGT&ACGT&ACGT", table, outside, 2), HSPZ_E_ARGUMENT);
    cr_expect_eq(set_indexed_target(&b, "ACGT&ACGT&ACGT", table, NULL, 2), HSPZ_E_ARGUMENT);
    cr_expect_eq(set_indexed_target(&b, "ACGT&ACGT&ACGT", table, outside, 1), HSPZ_E_ARGUMENT);
    table[0x1c] = 1;
    const uint32_t good[] = {0, 10};
    cr_expect_eq(set_indexed_target(&b, "ACGT&ACGT&ACGT", table, good, 2), HSPZ_E_ARGUMENT);
    end_bench(&b);
}

Test(oracle_abi, statistics_count_and_reset)
{
    bench b = new_bench();
    b.params.transitions = 1;
    b.params.dedup = HSPZ_DEDUP_CHUNK;
    given(&b, "&ACCAGGA", "ACCAGGA");
    find(&b, HSPZ_STRAND_PLUS, 0, 3, 2);
    hspz_statistics s = statistics(&b);
    cr_expect_eq(s.target_positions, 4);
    cr_expect_eq(s.query_positions, 4);
    cr_expect_eq(s.seeds, 4 * 5);
    cr_expect_eq(s.hits, 4);
    cr_expect_eq(s.batches, 2);
    cr_expect_eq(s.chunks, 2);
    cr_expect_eq(s.gate_survivors, 4);
    cr_expect_eq(s.accepted, 4);
    cr_expect_eq(s.kept, 2);
    cr_expect(s.seconds_total > 0.0);
    cr_assert_eq(b.plugin->reset_statistics(b.engine, &b.error), HSPZ_OK);
    s = statistics(&b);
    cr_expect_eq(s.hits, 0);
    cr_expect_eq(s.target_positions, 0);
    cr_expect_eq(s.struct_size, sizeof s);
    end_bench(&b);
}

/* All three levels agree: (a) on windows, (b) on their seeds, (c) on their hits. */
Test(oracle_abi, levels_agree)
{
    bench b = new_bench();
    b.params.dedup = HSPZ_DEDUP_CHUNK;
    given(&b, "&ACCAGGACCA&TTGTTGACCA", "ACCAGGA");
    char from_windows[256] = "";
    append(from_windows, sizeof from_windows, find(&b, HSPZ_STRAND_PLUS, 0, 3, 100));
    const uint64_t seeds[] = {(uint64_t)0x14 << 32, (uint64_t)0x52 << 32 | 1, (uint64_t)0x4a << 32 | 2,
                              (uint64_t)0x28 << 32 | 3}; /* ACCA CCAG CAGG AGGA */
    cr_expect_str_eq(expand(&b, seeds, 4), from_windows);
    const hspz_anchor hits[] = {{22, 4}, {11, 4}, {5, 4}, {6, 5}, {7, 6}, {8, 7}};
    cr_expect_str_eq(extend(&b, hits, 6), from_windows);
    cr_expect(b.count == 3, "%s", from_windows);
    end_bench(&b);
}

Test(oracle_abi, exports_one_symbol)
{
    const char *build = getenv("HSPZ_BUILD");
    const char *plugin = getenv("HSPZ_TEST_PLUGIN");
    char command[4200];
    if (plugin != NULL)
        snprintf(command, sizeof command, "nm -D --defined-only '%s' 2>&1", plugin);
    else
        snprintf(command, sizeof command, "nm -D --defined-only '%s/hspz_oracle.so' 2>&1",
                 build != NULL ? build : "build");
    FILE *symbols = popen(command, "r");
    cr_assert(symbols != NULL);
    char line[512];
    int count = 0;
    while (fgets(line, sizeof line, symbols) != NULL) {
        cr_expect(strstr(line, HSPZ_PLUGIN_SYMBOL "\n") != NULL, "%s", line);
        count++;
    }
    cr_assert_eq(pclose(symbols), 0);
    cr_expect_eq(count, 1);
}
