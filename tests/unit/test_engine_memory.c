/* test_engine_memory.c - what an engine holds of a trace is bounded, however long the trace grows and whatever is asked.
 * SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include <malloc.h>

#include "engine/engine.h"

enum { BLOCKS = 4000, MARKS = 150, WARM = BLOCKS / 2 };

/* A block of frames, plots, messages and zones on one thread. */
static void put_block(struct small_trace *t, uint64_t *tick)
{
    static const uint8_t frame[] = {50}, plot[] = {51, 8},
                         message[] = {2, 0, 5, 'h', 'e', 'l', 'l', 'o'};
    small_begin_part(t, 1, 1);
    for (int i = 0; i < MARKS; i++) {
        strobe_encode_zone_begin(&t->enc, *tick += 100, 1);
        strobe_encode_event(&t->enc, *tick += 10, STROBE_KIND_FRAME_MARK, frame, sizeof frame);
        strobe_encode_event(&t->enc, *tick += 10, STROBE_KIND_PLOT_INT, plot, sizeof plot);
        strobe_encode_event(&t->enc, *tick += 10, STROBE_KIND_MESSAGE, message, sizeof message);
        strobe_encode_zone_end(&t->enc, *tick += 100, 1);
    }
    small_end_part(t, 1, 5 * MARKS);
    small_put_events(t);
}

static void ask(struct strobe_engine *engine, const char *question)
{
    static struct strobe_json json;
    struct strobe_reply reply = {0};
    size_t n_bytes;
    assert_true(strobe_json_parse(&json, question, strlen(question)));
    strobe_engine_answer(engine, &json, &reply);
    uint8_t *frame = strobe_reply_finish(&reply, 1, 0, &n_bytes);
    assert_non_null(frame);
    free(frame);
}

static size_t ask_all(struct strobe_engine *engine)
{
    static const char *const questions[] = {
        "{\"ask\": \"trace\"}",
        "{\"ask\": \"pixels\", \"from\": 0, \"to\": 1e9, \"width\": 1500, \"budget\": 40000, "
        "\"lanes\": [[536870912, 0, 4], "
        "[805306368, 0, 1], [805306369, 0, 1], [805306370, 0, 1]]}",
        "{\"ask\": \"stats\"}",
        "{\"ask\": \"instances\", \"loc\": 1, \"sort\": \"duration\"}",
        "{\"ask\": \"find\", \"text\": \"zone\", \"limit\": 1}",
        "{\"ask\": \"messages\", \"limit\": 10}",
        "{\"ask\": \"flame\", \"from\": 100000}",
        "{\"ask\": \"zone\", \"track\": 536870912, \"depth\": 0, \"at\": 1000}",
    };
    int grown;
    assert_int_equal(strobe_engine_refresh(engine, &grown), STROBE_OK);
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++)
        ask(engine, questions[i]);
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void memory_of_an_engine_is_flat_while_its_trace_grows(void **state)
{
    struct small_trace t;
    struct strobe_trace *trace;
    struct strobe_engine *engine;
    uint64_t tick = 1000;
    size_t warm = 0, most = 0;
    (void)state;
    small_start(&t);
    small_loc(&t, 1, 1, "zone");
    small_put_records(&t);
    put_block(&t, &tick);
    assert_int_equal(strobe_trace_open(t.path, 0, &trace), STROBE_OK);
    assert_int_equal(strobe_engine_open(trace, "test", &engine), STROBE_OK);
    size_t start = ask_all(engine);
    for (int i = 1; i < BLOCKS; i++) {
        put_block(&t, &tick);
        if (i % 250)
            continue;
        size_t now = ask_all(engine) - start;
        warm = i <= WARM && now > warm ? now : warm;
        most = now > most ? now : most;
    }
    strobe_engine_close(engine);
    small_finish(&t);
    small_remove(&t);
    assert_true(most <= 32 << 20);
    assert_true(most <= warm + (2 << 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_an_engine_is_flat_while_its_trace_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
