/* test_query_pair.c - what the writer paired gives the answers that pairing the events gives.  SPDX-License-Identifier: MIT */
#include "../paired_trace.h"
#include "small_trace.h"

#include "engine/engine.h"
#include "query/gpu.h"
#include "query/pair.h"
#include "query/paired.h"

enum { N_ZONES = 60000, N_QUESTIONS = 120 };

static struct small_trace small;
static struct strobe_engine *engines[2]; /* by what the writer paired; by the events */

static void make(const char *kinds, uint64_t seed, int is_finished)
{
    static struct paired_trace t;
    small_start(&small);
    assert_true(paired_start(&t, small.writer, seed));
    t.is_odd = 1;
    assert_true(paired_fill(&t, kinds, N_ZONES));
    paired_free(&t);
    assert_int_equal(strobe_pair_write(small.writer, NULL), STROBE_OK);
    if (is_finished)
        small_finish(&small);
    else
        small_kill(&small);
}

static void open_engines(void)
{
    for (int i = 0; i < 2; i++) {
        struct strobe_trace *trace;
        assert_int_equal(strobe_trace_open(small.path, 0, &trace), STROBE_OK);
        assert_int_equal(strobe_engine_open(trace, "small", &engines[i]), STROBE_OK);
        engines[i]->tables.no_paired = i;
    }
}

static void close_engines(void)
{
    strobe_engine_close(engines[0]);
    strobe_engine_close(engines[1]);
    small_remove(&small);
}

/* A frame is no string: its texts and arrays end where it ends. */
static int has_text(const uint8_t *frame, size_t n, const char *text)
{
    return memmem(frame, n, text, strlen(text)) != NULL;
}

static uint8_t *ask(struct strobe_engine *engine, const char *text, size_t *n)
{
    struct strobe_json question = {0};
    struct strobe_reply reply = {0};
    assert_true(strobe_json_parse(&question, text, strlen(text)));
    strobe_engine_answer(engine, &question, &reply);
    uint8_t *frame = strobe_reply_finish(&reply, 1, 0, n);
    assert_non_null(frame);
    assert_false(has_text(frame, *n, "\"error\""));
    strobe_json_free(&question);
    return frame;
}

/* Ask both until they are done, and compare the last answers. */
static void compare(const char *text)
{
    size_t n[2];
    uint8_t *frames[2];
    for (int i = 0; i < 2; i++) {
        frames[i] = ask(engines[i], text, &n[i]);
        while (has_text(frames[i], n[i], "\"share\":0")) {
            free(frames[i]);
            frames[i] = ask(engines[i], text, &n[i]);
        }
    }
    if (n[0] != n[1] || memcmp(frames[0], frames[1], n[0]))
        print_error("%s\n%.400s\n%.400s\n", text, (char *)frames[0] + 8, (char *)frames[1] + 8);
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(frames[0], frames[1], n[0]);
    free(frames[0]);
    free(frames[1]);
}

static double at(struct paired_trace *random, double last)
{
    return (double)(paired_random(random) % 1000003) / 1000003 * last;
}

/* Any question about any stretch of any track. */
static void compare_any(struct paired_trace *random)
{
    const struct strobe_tables *tables = &engines[0]->tables;
    char text[400];
    double last = (double)engines[0]->view->tick_last * 1.02;
    uint64_t r = paired_random(random);
    double wide = last / (double)(1ull << (r >> 8) % 22), from = at(random, last);
    unsigned table = 3u << 28 | (unsigned)((r >> 16) % tables->n_tables), depth = (r >> 24) % 8;
    switch (r % 8) {
    case 0:
        snprintf(text, sizeof text,
                 "{\"ask\":\"find\",\"text\":\"zone %u\",\"from\":%.0f,\"to\":%.0f}",
                 (unsigned)(r >> 32) % 9 + 1, from, from + wide);
        break;
    case 1:
        snprintf(text, sizeof text, "{\"ask\":\"instances\",\"loc\":%u,\"from\":%.0f,\"to\":%.0f}",
                 (unsigned)(r >> 32) % 9 + 1, from, from + wide);
        break;
    case 2:
        snprintf(text, sizeof text, "{\"ask\":\"flame\",\"from\":%.0f,\"to\":%.0f,\"mode\":\"%s\"}",
                 from, from + wide, r >> 40 & 1 ? "up" : "down");
        break;
    case 3:
        snprintf(text, sizeof text,
                 "{\"ask\":\"zone\",\"track\":%u,\"depth\":%u,\"at\":%.0f,\"slack\":%u}", table,
                 depth, from, (unsigned)(r >> 40) % 2000);
        break;
    case 4:
        snprintf(text, sizeof text,
                 "{\"ask\":\"step\",\"track\":%u,\"depth\":%u,\"at\":%.0f,\"to\":\"%s\",\"same\":"
                 "\"depth\"}",
                 table, depth, from, r >> 40 & 1 ? "next" : "previous");
        break;
    default:
        snprintf(
            text, sizeof text,
            "{\"ask\":\"pixels\",\"from\":%.0f,\"to\":%.0f,\"width\":%u,\"lanes\":[[%u,0,%u]]}",
            from, from + wide, 100 + (unsigned)(r >> 40) % 2000, table, 1 + depth * 8);
    }
    compare(text);
}

static void compare_all(const char *kinds, uint64_t seed)
{
    struct paired_trace random = {.state = 77 + seed};
    make(kinds, seed, 1);
    open_engines();
    compare("{\"ask\":\"trace\"}");
    assert_non_null(engines[0]->tables.paired);
    assert_null(engines[1]->tables.paired);
    for (int i = 0; i < N_QUESTIONS; i++)
        compare_any(&random);
    close_engines();
}

static void fibers_answer_the_same_paired_or_not(void **state)
{
    (void)state;
    compare_all("f", 1);
}

static void spans_answer_the_same_paired_or_not(void **state)
{
    (void)state;
    compare_all("s", 2);
}

static void gpu_zones_answer_the_same_paired_or_not(void **state)
{
    (void)state;
    compare_all("g", 3);
    compare_all("G", 8);
}

static void all_of_them_together_answer_the_same_paired_or_not(void **state)
{
    (void)state;
    compare_all("fsg", 4);
}

/* The rows of a track, counted one by one and by the cells of each level. */
static void each_level_counts_every_row(void **state)
{
    struct strobe_trace *trace;
    struct strobe_paired *paired;
    (void)state;
    make("sf", 5, 1);
    assert_int_equal(strobe_trace_open(small.path, 0, &trace), STROBE_OK);
    assert_int_equal(strobe_paired_open(trace, &paired), STROBE_OK);
    uint32_t n_levels = 0;
    for (uint32_t i = 0; i < paired->list.n_tracks; i++) {
        const struct strobe_paired_track *track = &paired->list.tracks[i];
        const struct strobe_rows_place place = {NULL, 0, paired, i, 0};
        struct strobe_row_walk walk = {.place = &place, .hi = UINT64_MAX};
        uint64_t n = 0;
        while (strobe_row_walk_next(&walk, NULL))
            n++;
        assert_int_equal(n, track->n_ended + track->n_open);
        for (uint32_t k = 0; k < track->n_levels; k++, n_levels++) {
            const struct strobe_paired_level *level = &paired->list.levels[track->first_level + k];
            n = 0;
            for (uint32_t p = 0; p < level->n_parts; p++) {
                const struct strobe_paired_part *part = &paired->list.parts[level->first_part + p];
                struct strobe_paired_body body = {0};
                assert_int_equal(
                    strobe_paired_load(trace->file, part->offset, STROBE_BLOCK_PAIRED_LOD, &body),
                    STROBE_OK);
                assert_int_equal(strobe_paired_get_cells(&body, part, track->proc, paired->cells),
                                 STROBE_OK);
                for (uint32_t c = 0; c < part->n; c++)
                    n += paired->cells[c].count;
                strobe_paired_body_free(&body);
            }
            assert_int_equal(n, track->n_ended);
        }
    }
    assert_true(n_levels > 1);
    strobe_paired_close(paired);
    strobe_trace_close(trace);
    small_remove(&small);
}

static void a_list_that_events_follow_does_not_count(void **state)
{
    struct strobe_trace *trace;
    struct strobe_paired *paired;
    static struct paired_trace t;
    (void)state;
    small_start(&small);
    assert_true(paired_start(&t, small.writer, 6));
    assert_true(paired_fill(&t, "s", 1000));
    assert_int_equal(strobe_pair_write(small.writer, NULL), STROBE_OK);
    assert_true(paired_fill(&t, "s", 1000));
    paired_free(&t);
    small_finish(&small);
    assert_int_equal(strobe_trace_open(small.path, 0, &trace), STROBE_OK);
    assert_int_equal(strobe_paired_open(trace, &paired), STROBE_ERR_NOTFOUND);
    strobe_trace_close(trace);
    small_remove(&small);
}

static void a_file_without_footer_has_what_was_paired(void **state)
{
    struct strobe_trace *trace;
    struct strobe_paired *paired;
    (void)state;
    make("s", 7, 0);
    assert_int_equal(strobe_trace_open(small.path, 0, &trace), STROBE_OK);
    assert_int_equal(strobe_paired_open(trace, &paired), STROBE_OK);
    strobe_paired_close(paired);
    strobe_trace_close(trace);
    small_remove(&small);
}

/* Some bytes of a block are changed. */
static void mangle(struct paired_trace *random, const uint8_t *from, size_t n, uint8_t *to)
{
    memcpy(to, from, n);
    for (uint64_t i = paired_random(random) % 4 + 1; i; i--)
        to[paired_random(random) % n] = (uint8_t)paired_random(random);
}

static void bytes_of_a_stranger_are_refused_or_read(void **state)
{
    struct strobe_trace *trace;
    struct strobe_paired *paired;
    struct paired_trace random = {.state = 99};
    struct strobe_paired_notes notes = {0};
    struct strobe_paired_bytes list = {0};
    (void)state;
    make("f", 9, 1);
    assert_int_equal(strobe_trace_open(small.path, 0, &trace), STROBE_OK);
    assert_int_equal(strobe_paired_open(trace, &paired), STROBE_OK);
    assert_int_equal(strobe_paired_put_list(&list, &paired->list), STROBE_OK);
    const struct strobe_paired_part part = paired->list.parts[0];
    struct strobe_paired_body body = {0};
    assert_int_equal(strobe_paired_load(trace->file, part.offset, STROBE_BLOCK_PAIRED, &body),
                     STROBE_OK);
    uint8_t *copy = malloc(body.unpacked.n), *other = malloc(list.n);
    struct strobe_paired_body mangled = {.unpacked = {.bytes = copy, .n = body.unpacked.n}};
    for (int i = 0; i < 300; i++) {
        struct strobe_paired_list read;
        mangle(&random, body.unpacked.bytes, body.unpacked.n, copy);
        strobe_paired_get_rows(&mangled, &part, 1, paired->decoded, &notes);
        strobe_paired_get_cells(&mangled, &part, 1, paired->cells);
        mangle(&random, list.bytes, list.n, other);
        if (strobe_paired_get_list(other, paired_random(&random) % (list.n + 1), 1 << 20, &read) ==
            STROBE_OK)
            strobe_paired_list_free(&read);
    }
    free(copy);
    free(other);
    free(notes.notes);
    strobe_paired_bytes_free(&list);
    strobe_paired_body_free(&body);
    strobe_paired_close(paired);
    strobe_trace_close(trace);
    small_remove(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fibers_answer_the_same_paired_or_not),
        cmocka_unit_test(spans_answer_the_same_paired_or_not),
        cmocka_unit_test(gpu_zones_answer_the_same_paired_or_not),
        cmocka_unit_test(all_of_them_together_answer_the_same_paired_or_not),
        cmocka_unit_test(each_level_counts_every_row),
        cmocka_unit_test(a_list_that_events_follow_does_not_count),
        cmocka_unit_test(a_file_without_footer_has_what_was_paired),
        cmocka_unit_test(bytes_of_a_stranger_are_refused_or_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
