/* test_query_cut.c - a piece of a trace has what was chosen, all of it, and nothing else.
 * SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include "query/cut.h"
#include "query/walk.h"

static const char secret[] = "a name that is nobody's business";

static void put_process(struct small_trace *t, uint64_t proc, const char *name)
{
    small_record(t, STROBE_META_PROCESS, (const uint64_t[]){proc, 100 + proc, 1, 9}, 4,
                 (const char *const[]){name, "/", name}, 3);
    small_record(t, STROBE_META_PROGRAM_NAME, (const uint64_t[]){proc}, 1,
                 (const char *const[]){name}, 1);
    small_loc(t, proc, 1, name);
}

/* Zones of two processes by turns, both in each block; of the second process, texts too. */
static void make(struct small_trace *t, int n_blocks)
{
    small_start(t);
    put_process(t, 1, secret);
    put_process(t, 2, "chosen");
    small_record(t, STROBE_KIND_STR_PIECE, NULL, 0, (const char *const[]){"a long "}, 1);
    small_record(t, STROBE_META_STRING, (const uint64_t[]){2, 7}, 2, (const char *const[]){"text"},
                 1);
    small_record(t, STROBE_KIND_STR_PIECE, NULL, 0, (const char *const[]){secret}, 1);
    small_record(t, STROBE_META_STRING, (const uint64_t[]){1, 7}, 2, (const char *const[]){secret},
                 1);
    small_record(t, STROBE_META_STRING, (const uint64_t[]){2, 8}, 2, (const char *const[]){"short"},
                 1);
    small_put_records(t);
    for (int i = 0; i < n_blocks; i++) {
        for (uint64_t proc = 1; proc <= 2; proc++) {
            uint64_t tick = 1000 + 100000 * (uint64_t)i + proc;
            small_begin_part(t, proc, proc);
            strobe_encode_zone_begin(&t->enc, tick, 1);
            small_text(t, tick + 5, STROBE_KIND_ZONE_TEXT, proc == 1 ? secret : "what it did");
            strobe_encode_zone_end(&t->enc, tick + 70000 + proc, 1);
            small_end_part(t, proc, 3);
        }
        small_put_events(t);
    }
    small_finish(t);
}

struct sums {
    uint64_t n, ticks, n_texts;
};

static enum strobe_err add(void *context, const struct strobe_batch *batch)
{
    struct sums *sums = context;
    for (uint32_t i = 0; i < batch->n_zones; i++) {
        sums->n++;
        sums->ticks += batch->zones[i].ticks;
        sums->n_texts += batch->zones[i].note != 0;
    }
    return STROBE_OK;
}

static struct strobe_trace *open_and_sum(const char *path, struct sums *sums)
{
    struct strobe_trace *trace;
    memset(sums, 0, sizeof *sums);
    assert_int_equal(strobe_trace_open(path, 0, &trace), STROBE_OK);
    struct strobe_walk walk = {.trace = trace, .context = sums, .zones = add, .want_notes = 1};
    assert_int_equal(strobe_walk_run(&walk), STROBE_OK);
    return trace;
}

static void cut_to(const struct small_trace *t, const char *path,
                   const struct strobe_cut_options *options)
{
    struct strobe_trace *trace;
    assert_int_equal(strobe_trace_open(t->path, 0, &trace), STROBE_OK);
    assert_int_equal(strobe_cut_write(trace, options, path, NULL), STROBE_OK);
    strobe_trace_close(trace);
}

/* All that the records say, as one text. */
static void all_texts(struct strobe_trace *trace, char *out, size_t room)
{
    const struct strobe_block_filter filter = {.type = STROBE_BLOCK_RECORDS};
    struct strobe_block_iter *iter;
    struct strobe_block block = {0};
    struct strobe_record_walk walk = {0};
    struct strobe_record record;
    size_t n = 0;
    assert_int_equal(strobe_file_iterate(trace->file, &filter, &iter), STROBE_OK);
    while (strobe_file_next_block(iter, &block) == STROBE_OK &&
           !strobe_record_walk_start(&block, &trace->schema, &walk))
        while (strobe_record_walk_next(&walk, &record) == STROBE_OK)
            for (unsigned i = 0; i < record.n_fields; i++)
                if (record.fields[i].letter == 's')
                    n += (size_t)snprintf(out + n, room - n, "%.*s|", (int)record.fields[i].u,
                                          record.fields[i].text);
    strobe_file_end_iterate(iter);
    strobe_record_walk_free(&walk);
    strobe_block_free(&block);
}

static void a_chosen_process_is_whole_and_alone(void **state)
{
    (void)state;
    struct small_trace t;
    struct sums sums;
    char path[80], texts[4096] = "";
    const uint8_t chosen[] = {0, 1};
    make(&t, 50);
    snprintf(path, sizeof path, "%s.cut", t.path);
    cut_to(&t, path, &(struct strobe_cut_options){.processes = chosen, .n_processes = 2});
    struct strobe_trace *trace = open_and_sum(path, &sums);
    assert_int_equal(sums.n, 50);
    assert_int_equal(sums.n_texts, 50);
    assert_int_equal(sums.ticks, 50 * 70002);
    assert_int_equal(trace->n_processes, 1);
    all_texts(trace, texts, sizeof texts);
    assert_non_null(strstr(texts, "chosen"));
    assert_non_null(strstr(texts, "|a long text|short|"));
    assert_null(strstr(texts, secret));
    strobe_trace_close(trace);
    unlink(path);
    small_remove(&t);
}

static void without_a_choice_all_is_copied(void **state)
{
    (void)state;
    struct small_trace t;
    struct sums sums;
    char path[80];
    make(&t, 20);
    snprintf(path, sizeof path, "%s.cut", t.path);
    cut_to(&t, path, &(struct strobe_cut_options){0});
    struct strobe_trace *trace = open_and_sum(path, &sums);
    assert_int_equal(sums.n, 40);
    assert_int_equal(trace->n_processes, 2);
    strobe_trace_close(trace);
    unlink(path);
    small_remove(&t);
}

static void put_zone(struct small_trace *t, uint64_t proc, uint64_t begin, uint64_t end)
{
    small_begin_part(t, proc, proc);
    strobe_encode_zone_begin(&t->enc, begin, 1);
    strobe_encode_zone_end(&t->enc, end, 1);
    small_end_part(t, proc, 2);
}

/* The last block has the end of one track, and one zone of the other that began within the range. */
static void a_range_has_no_gaps_and_the_time_of_the_recording(void **state)
{
    (void)state;
    struct small_trace t;
    struct sums sums;
    struct strobe_coverage cover;
    char path[80];
    small_start(&t);
    put_process(&t, 1, "one");
    put_process(&t, 2, "two");
    small_put_records(&t);
    put_zone(&t, 1, 1000, 2000);
    small_put_events(&t);
    put_zone(&t, 1, 50000, 51000);
    small_put_events(&t);
    put_zone(&t, 1, 90000, 91000);
    put_zone(&t, 2, 1500, 92000);
    small_put_events(&t);
    small_finish(&t);
    snprintf(path, sizeof path, "%s.cut", t.path);
    cut_to(&t, path, &(struct strobe_cut_options){.by_tick = 1, .tick_max = 5000, .closed = 1});
    struct strobe_trace *trace = open_and_sum(path, &sums), *whole;
    assert_int_equal(sums.n, 2);
    assert_int_equal(sums.ticks, 1000 + 90500);
    strobe_trace_coverage(trace, &cover);
    assert_int_equal(cover.n_stored, 4);
    assert_int_equal(cover.n_emitted, 4);
    assert_int_equal(strobe_trace_open(t.path, 0, &whole), STROBE_OK);
    assert_int_equal(strobe_file_facts(trace->file)->created_ns,
                     strobe_file_facts(whole->file)->created_ns);
    strobe_trace_close(whole);
    strobe_trace_close(trace);
    unlink(path);
    small_remove(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chosen_process_is_whole_and_alone),
        cmocka_unit_test(without_a_choice_all_is_copied),
        cmocka_unit_test(a_range_has_no_gaps_and_the_time_of_the_recording),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
