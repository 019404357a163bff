/* test_engine_strips.c - when a thread ran and waited: exact sums at every zoom, single stretches close up, however many there are.
 * SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include "engine/engine.h"

/* A thread that runs RUN and waits WAIT ns, PAIRS times; each tenth wait is a preemption. More stretches than are kept one by one. */
enum { BLOCKS = 24, PAIRS = 30000, RUN = 300, WAIT = 700, FIRST = 1000, SAMPLED = 100 };
/* A second thread runs LATE_RUN ns in LATE of the waits, on the same processor; its block comes behind all others. */
enum { LATE = 20000, LATE_FROM = 500000, LATE_AT = 400, LATE_RUN = 200 };
enum { PROCESS = 1, TRACK = 1, LATE_TRACK = 2, CPU = 1 };

static struct small_trace small;
static struct strobe_engine *engine;

static void put_switch(uint64_t tick, enum strobe_kind kind, uint64_t reason)
{
    uint8_t bytes[2 * STROBE_VARINT_MAX];
    uint8_t *end = strobe_varint_put(strobe_varint_put(bytes, CPU), reason);
    strobe_encode_event(&small.enc, tick, kind, bytes, (size_t)(end - bytes));
}

static void put_sample(uint64_t tick)
{
    uint8_t bytes[4 * STROBE_VARINT_MAX];
    uint8_t *end = strobe_varint_put(strobe_varint_put(bytes, CPU), 1);
    end = strobe_varint_put(end, 2 * 0x1000); /* one address, as a difference */
    strobe_encode_event(&small.enc, tick, STROBE_KIND_SAMPLE, bytes, (size_t)(end - bytes));
}

static void put_block(int block)
{
    uint64_t n = 0;
    small_begin_part(&small, PROCESS, TRACK);
    for (int i = 0; i < PAIRS; i++, n += 2) {
        int number = block * PAIRS + i;
        uint64_t at = FIRST + (uint64_t)(RUN + WAIT) * (uint64_t)number;
        put_switch(at, STROBE_KIND_SWITCH_IN, 0);
        if (number % SAMPLED == 0) {
            put_sample(at + 10);
            n++;
        }
        put_switch(at + RUN, STROBE_KIND_SWITCH_OUT, number % 10 == 0 ? 32 : 0);
    }
    small_end_block(&small, TRACK, n);
}

static void put_late_block(void)
{
    small_begin_part(&small, PROCESS, LATE_TRACK);
    for (int i = 0; i < LATE; i++) {
        uint64_t at = FIRST + LATE_AT + (uint64_t)(RUN + WAIT) * (uint64_t)(LATE_FROM + i);
        put_switch(at, STROBE_KIND_SWITCH_IN, 0);
        put_switch(at + LATE_RUN, STROBE_KIND_SWITCH_OUT, 0);
    }
    small_end_block(&small, LATE_TRACK, 2 * LATE);
}

static int open_engine(void **state)
{
    struct strobe_trace *trace;
    (void)state;
    small_start(&small);
    for (uint64_t tick = FIRST; tick <= FIRST + 1000000000; tick += 1000000000)
        small_record(&small, STROBE_FACT_CLOCK_SYNC,
                     (const uint64_t[]){STROBE_CLOCK_MONO, tick, tick, 0, 0, 0}, 6, NULL, 0);
    small_put_records(&small);
    for (int i = 0; i < BLOCKS; i++)
        put_block(i);
    put_late_block();
    small_finish(&small);
    assert_int_equal(strobe_trace_open(small.path, 0, &trace), STROBE_OK);
    return strobe_engine_open(trace, "small", &engine);
}

static int close_engine(void **state)
{
    (void)state;
    strobe_engine_close(engine);
    small_remove(&small);
    return 0;
}

/* ---- asking ---- */

struct answer {
    struct strobe_json question;
    struct strobe_reply reply;
};

static void ask(struct answer *answer, const char *text)
{
    memset(answer, 0, sizeof *answer);
    assert_true(strobe_json_parse(&answer->question, text, strlen(text)));
    strobe_engine_answer(engine, &answer->question, &answer->reply);
    assert_false(answer->reply.failed);
}

static void forget(struct answer *answer)
{
    strobe_reply_free(&answer->reply);
    strobe_json_free(&answer->question);
}

static const struct strobe_reply_array *array(const struct answer *answer, const char *name)
{
    for (uint32_t i = 0; i < answer->reply.n_arrays; i++)
        if (!strcmp(answer->reply.arrays[i].name, name))
            return &answer->reply.arrays[i];
    fail_msg("no array %s", name);
    return NULL;
}

static double number(const struct answer *answer, const char *name, uint32_t i)
{
    const struct strobe_reply_array *a = array(answer, name);
    double d;
    uint32_t u;
    assert_true(i < a->n);
    if (a->type[0] == 'f') {
        memcpy(&d, a->bytes + i * sizeof d, sizeof d);
        return d;
    }
    if (a->type[1] == '8')
        return a->bytes[i];
    memcpy(&u, a->bytes + i * sizeof u, sizeof u);
    return u;
}

static double sum(const struct answer *answer, const char *name)
{
    double all = 0;
    for (uint32_t i = 0; i < array(answer, name)->n; i++)
        all += number(answer, name, i);
    return all;
}

/* Read the whole trace. */
static void read_all(void)
{
    while (strobe_strips_share(&engine->strips) < 1)
        assert_int_equal(strobe_strips_step(&engine->strips), STROBE_OK);
}

#define TRACK_ID "536870912"  /* the first thread */
#define CPU_ID   "1342177281" /* processor 1 */

/* ---- tests ---- */

static void a_step_reads_a_bounded_number_of_events(void **state)
{
    (void)state;
    struct answer answer;
    ask(&answer, "{\"ask\":\"strips\",\"width\":100,\"tracks\":[" TRACK_ID "]}");
    assert_true(strobe_strips_share(&engine->strips) < 1 ||
                BLOCKS * PAIRS * 2 <= STROBE_STRIPS_STEP);
    forget(&answer);
}

static void many_stretches_become_sums_that_are_exact(void **state)
{
    (void)state;
    struct answer answer;
    const double n = (double)BLOCKS * PAIRS;
    read_all();
    assert_true(engine->strips.level > 0);
    assert_true(engine->strips.n_items <= STROBE_STRIPS_ITEMS);
    ask(&answer, "{\"ask\":\"strips\",\"width\":1000,\"tracks\":[" CPU_ID "]}");
    assert_true(sum(&answer, "run") == n * RUN + (double)LATE * LATE_RUN);
    assert_true(sum(&answer, "n") == n + LATE);
    assert_true(array(&answer, "t0")->n <= 4098);
    for (uint32_t i = 1; i < array(&answer, "t0")->n; i++)
        assert_true(number(&answer, "t0", i - 1) <= number(&answer, "t0", i));
    forget(&answer);
    ask(&answer, "{\"ask\":\"strips\",\"width\":1000,\"tracks\":[" TRACK_ID "]}");
    assert_true(sum(&answer, "run") == n * RUN);
    assert_true(sum(&answer, "ready") == n / 10 * WAIT);
    /* behind the last switch there is nothing */
    assert_true(sum(&answer, "wait") == (n - n / 10 - 1) * WAIT);
    forget(&answer);
}

static void close_up_each_stretch_is_there_with_its_times(void **state)
{
    (void)state;
    struct answer answer;
    read_all();
    /* begins of runs are at multiples of 1,000 ns after the first; 100,000 is one after a preemption */
    ask(&answer,
        "{\"ask\":\"strips\",\"from\":100050,\"to\":102000,\"width\":1000,\"tracks\":[" CPU_ID
        "]}");
    assert_true(array(&answer, "t0")->n >= 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(number(&answer, "one", i) == 1);
        assert_true(number(&answer, "t0", i) == 100000 + 1000.0 * i);
        assert_true(number(&answer, "t1", i) == 100000 + 1000.0 * i + RUN);
        assert_true(number(&answer, "who", i) == 536870912);
    }
    forget(&answer);
    ask(&answer,
        "{\"ask\":\"strips\",\"from\":100050,\"to\":102000,\"width\":1000,\"tracks\":[" TRACK_ID
        "]}");
    assert_true(number(&answer, "run", 0) == RUN);
    assert_true(number(&answer, "ready", 1) == WAIT);
    assert_true(number(&answer, "reason", 1) == 32);
    assert_true(number(&answer, "cpu", 0) == CPU);
    assert_true(number(&answer, "wait", 3) == WAIT);
    forget(&answer);
}

static void samples_are_counted_and_found(void **state)
{
    (void)state;
    struct answer answer;
    ask(&answer, "{\"ask\":\"samples\"}");
    while (!strstr(answer.reply.text.at, "\"exact\":true")) {
        forget(&answer);
        ask(&answer, "{\"ask\":\"samples\"}");
    }
    assert_true(number(&answer, "in_self", 0) == BLOCKS * PAIRS / SAMPLED);
    assert_true(number(&answer, "total", 0) == BLOCKS * PAIRS / SAMPLED);
    forget(&answer);
    ask(&answer, "{\"ask\":\"samples\",\"from\":0,\"to\":100010}");
    assert_true(number(&answer, "in_self", 0) == 1);
    forget(&answer);
    ask(&answer, "{\"ask\":\"sample\",\"track\":" TRACK_ID ",\"at\":100005,\"slack\":100}");
    assert_non_null(strstr(answer.reply.text.at, "\"t\":100010"));
    forget(&answer);
    ask(&answer, "{\"ask\":\"sample\",\"track\":" TRACK_ID ",\"at\":105005,\"slack\":100}");
    assert_non_null(strstr(answer.reply.text.at, "\"sample\":null"));
    forget(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_reads_a_bounded_number_of_events),
        cmocka_unit_test(many_stretches_become_sums_that_are_exact),
        cmocka_unit_test(close_up_each_stretch_is_there_with_its_times),
        cmocka_unit_test(samples_are_counted_and_found),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
