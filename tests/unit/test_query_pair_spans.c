/* test_query_pair_spans.c - spans in fixed memory are those that pairing by time gives.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "query/pair_spans.h"

enum { N_PROCESSES = 2 };

struct event {
    struct strobe_loose loose;
    uint32_t process;
    uint64_t seq;
};

struct list {
    struct strobe_pair_span *spans; /* owned */
    size_t n, room;
};

static struct event *events;
static size_t n_events;
static uint64_t random_state;

static uint64_t next_random(uint64_t n)
{
    random_state ^= random_state << 13, random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state >> 11) % n;
}

static enum strobe_err keep(void *context, const struct strobe_pair_span *span)
{
    struct list *list = context;
    if (span->is_none)
        return STROBE_OK;
    if (list->n == list->room) {
        list->room = 2 * list->room + 64;
        list->spans = realloc(list->spans, list->room * sizeof *list->spans);
        assert_non_null(list->spans);
    }
    list->spans[list->n++] = *span;
    return STROBE_OK;
}

static int by_all(const void *a, const void *b)
{
    const struct strobe_pair_span *x = a, *y = b;
    const uint64_t of_x[] = {x->process, x->begin, x->end, x->loc, x->place_tick, x->place_seq};
    const uint64_t of_y[] = {y->process, y->begin, y->end, y->loc, y->place_tick, y->place_seq};
    for (size_t i = 0; i < sizeof of_x / sizeof of_x[0]; i++)
        if (of_x[i] != of_y[i])
            return of_x[i] < of_y[i] ? -1 : 1;
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->loose.tick != y->loose.tick)
        return x->loose.tick < y->loose.tick ? -1 : 1;
    return x->seq < y->seq ? -1 : 1;
}

/* The rules, word for word: all events by time, one open span an id. */
static void pair_by_time(struct list *out, uint64_t n_ids)
{
    struct open {
        const struct event *begin, *first;
    } *open = calloc(N_PROCESSES * (size_t)n_ids, sizeof *open);
    struct event *sorted = malloc(n_events * sizeof *sorted);
    assert_true(open && sorted);
    memcpy(sorted, events, n_events * sizeof *sorted);
    qsort(sorted, n_events, sizeof *sorted, by_time);
    for (size_t i = 0; i < n_events; i++) {
        const struct event *event = &sorted[i];
        struct open *at = &open[event->process * n_ids + event->loose.id];
        at->first = at->first ? at->first : event;
        if (event->loose.kind == STROBE_KIND_SPAN_BEGIN) {
            at->begin = event;
            continue;
        }
        if (at->begin)
            keep(out, &(struct strobe_pair_span){at->begin->loose.tick, event->loose.tick,
                                                 at->begin->loose.loc, event->process, 0,
                                                 event->loose.tick, event->seq});
        at->begin = NULL;
    }
    for (uint64_t i = 0; i < N_PROCESSES * n_ids; i++)
        if (open[i].begin)
            keep(out, &(struct strobe_pair_span){open[i].begin->loose.tick, UINT64_MAX,
                                                 open[i].begin->loose.loc, open[i].begin->process,
                                                 0, open[i].first->loose.tick, open[i].first->seq});
    free(open);
    free(sorted);
}

static void add_event(uint32_t process, uint64_t id, uint64_t tick, int is_begin)
{
    if (!(n_events & (n_events - 1))) /* twice as many: a sanitizer's realloc copies each time */
        events = realloc(events, (2 * n_events + 1) * sizeof *events);
    assert_non_null(events);
    events[n_events] = (struct event){
        {.tick = tick,
         .id = id,
         .loc = is_begin ? 1 + id % 7 : 0,
         .kind = (uint8_t)(is_begin ? STROBE_KIND_SPAN_BEGIN : STROBE_KIND_SPAN_END)},
        process,
        n_events};
    n_events++;
}

/* Whether all were paired without a conflict; the spans are those of pair_by_time then. */
static int check(int at_once, uint64_t n_ids)
{
    struct strobe_pair_spans *spans;
    struct list found = {0}, wanted = {0};
    assert_int_equal(strobe_pair_spans_open("/tmp", at_once, keep, &found, &spans), STROBE_OK);
    for (size_t i = 0; i < n_events; i++)
        assert_int_equal(
            strobe_pair_spans_add(spans, events[i].process, &events[i].loose, events[i].seq),
            STROBE_OK);
    assert_int_equal(strobe_pair_spans_end(spans), STROBE_OK);
    int is_mixed = strobe_pair_spans_is_mixed(spans);
    strobe_pair_spans_close(spans);
    if (!is_mixed) {
        pair_by_time(&wanted, n_ids);
        assert_int_equal(found.n, wanted.n);
        if (found.n) {
            qsort(found.spans, found.n, sizeof *found.spans, by_all);
            qsort(wanted.spans, wanted.n, sizeof *wanted.spans, by_all);
        }
        for (size_t i = 0; i < found.n; i++)
            assert_int_equal(by_all(&found.spans[i], &wanted.spans[i]), 0);
    }
    free(found.spans);
    free(wanted.spans);
    return !is_mixed;
}

static void start(uint64_t seed)
{
    random_state = 88172645463325252u + 977 * seed;
    free(events);
    events = NULL;
    n_events = 0;
}

static void ids_that_are_used_again_are_paired_by_time(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        start(seed);
        for (uint64_t i = 0, n = 1 + next_random(300); i < n; i++)
            add_event((uint32_t)next_random(N_PROCESSES), next_random(8), next_random(100),
                      next_random(2) == 0);
        assert_true(check(0, 8));
        check(1, 8);
    }
}

/* As an importer writes them: pairs, counted up, between begins and ends of other ids that come in any order. */
static void pairs_that_stand_together_are_paired_at_once(void **state)
{
    enum { N = 4000 };
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        start(seed);
        for (uint64_t i = 0; i < N; i++) {
            uint64_t tick = next_random(100000), other = next_random(N);
            add_event((uint32_t)(i / 1000) % N_PROCESSES, N + i, tick, 1);
            add_event((uint32_t)(i / 1000) % N_PROCESSES, N + i, tick + next_random(3), 0);
            add_event((uint32_t)(other % N_PROCESSES), other, next_random(100000),
                      next_random(2) == 0);
        }
        assert_true(check(1, 2 * N));
    }
}

static void an_id_that_comes_again_is_noticed(void **state)
{
    (void)state;
    for (int order = 0; order < 4; order++) {
        start(0);
        if (order == 0)
            add_event(0, 5, 10, 1); /* before the pair: that is not paired at once */
        add_event(0, 5, 20, 1);
        add_event(0, 5, 30, 0);
        if (order == 1)
            add_event(0, 5, 25, 1);
        if (order == 2)
            add_event(0, 5, 25, 0);
        if (order == 3) {
            add_event(0, 5, 22, 1);
            add_event(0, 5, 24, 0);
        }
        assert_int_equal(check(1, 8), order == 0);
        assert_true(check(0, 8));
    }
}

static void more_than_memory_holds_goes_through_the_file(void **state)
{
    enum { N = 300000 };
    (void)state;
    start(1);
    for (uint64_t i = 0; i < N; i++)
        add_event(0, i * 7919 % N, i, 1);
    for (uint64_t i = 0; i < N; i++)
        add_event(0, i, N + i, 0);
    assert_true(check(1, N));
    start(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_that_are_used_again_are_paired_by_time),
        cmocka_unit_test(pairs_that_stand_together_are_paired_at_once),
        cmocka_unit_test(an_id_that_comes_again_is_noticed),
        cmocka_unit_test(more_than_memory_holds_goes_through_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
