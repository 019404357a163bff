/* test_device_nest.c - zones that come at their close are handed on as a thread made them.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_record/nest.h"

/* What was handed on, as text: "+3@10 -3@20 …". */
struct heard {
    char text[1 << 16];
    size_t n;
    uint32_t open[64], n_open, n_whole;
    uint32_t launched; /* the program whose launch is to be handed on, 0: none */
    uint64_t stretch;  /* cycles that one line of the clock has, 0: few */
    uint64_t latest;   /* time of a step */
};

static void say(struct heard *heard, char what, uint64_t id, uint64_t time)
{
    heard->n += (size_t)snprintf(heard->text + heard->n, sizeof heard->text - heard->n,
                                 "%s%c%llu@%llu", heard->n ? " " : "", what, (unsigned long long)id,
                                 (unsigned long long)time);
}

/* Ends have no id: it is that of the innermost open zone. */
static void hear_steps(void *context, const struct strobe_zone_step *steps, size_t n_steps)
{
    struct heard *heard = context;
    for (const struct strobe_zone_step *step = steps; step < steps + n_steps; step++) {
        uint64_t last = step->loc < STROBE_STEP_VALUE && step->end ? step->end : step->tick;
        heard->latest = last > heard->latest ? last : heard->latest;
        if (step->loc == STROBE_STEP_VALUE) {
            assert_int_equal(heard->n_open, 1);
            say(heard, '=', step->end, step->tick);
        } else if (step->loc == STROBE_STEP_END) {
            assert_true(heard->n_open > 0);
            say(heard, '-', heard->open[--heard->n_open], step->tick);
        } else {
            heard->n_whole += step->end != 0;
            say(heard, '+', step->loc, step->tick);
            if (step->end)
                say(heard, '-', step->loc, step->end);
            else
                heard->open[heard->n_open++] = (uint32_t)step->loc;
        }
    }
}

static bool hear_program(void *context, uint32_t program)
{
    return program == ((struct heard *)context)->launched;
}

static void hear_launch(void *context, uint64_t tick)
{
    say(context, '>', ((struct heard *)context)->launched, tick);
}

static void hear_mark(void *context, const struct strobe_nest_zone *mark, uint64_t tick)
{
    assert_int_not_equal(mark->kind, 0);
    assert_int_equal(tick, mark->start);
    say(context, '!', mark->id, mark->start);
}

/* Ticks are cycles here, in stretches of 7 of them where nobody says otherwise. */
static struct strobe_nest_line give_line(void *context, uint64_t cycles)
{
    const struct heard *heard = context;
    uint64_t stretch = heard->stretch ? heard->stretch : 7, from = cycles - cycles % stretch;
    return (struct strobe_nest_line){from, from + stretch, 0 - from, from, 1ull << 32};
}

static uint64_t give_loc(void *context, uint32_t id)
{
    (void)context;
    return id;
}

#define HEAR(heard)                                                                      \
    &(const struct strobe_nest_taker)                                                    \
    {                                                                                    \
        give_line, give_loc, hear_steps, hear_program, hear_launch, hear_mark, &(heard), \
            (struct strobe_nest_near[STROBE_NEST_NEAR])                                  \
        {                                                                                \
            {                                                                            \
                0                                                                        \
            }                                                                            \
        }                                                                                \
    }

static void parents_begin_before_their_children(void **state)
{
    (void)state;
    struct strobe_nest nest = {0};
    struct heard heard = {0};
    const struct strobe_nest_zone zones[] = {{12, 13, 3, 0, 0},
                                             {14, 15, 3, 0, 0},
                                             {11, 16, 2, 0, 0},
                                             {10, 20, 1, 0, 0},
                                             {20, 21, 1, 0, 0}};
    assert_int_equal(strobe_nest_add(&nest, zones, 5), STROBE_OK);
    assert_int_equal(strobe_nest_advance(&nest, 100, NULL, 0, HEAR(heard)), STROBE_OK);
    assert_string_equal(heard.text, "+1@10 +2@11 +3@12 -3@13 +3@14 -3@15 -2@16 -1@20 +1@20 -1@21");
    assert_int_equal(nest.n_late, 0);
    assert_int_equal(heard.n_whole, 2); /* the innermost ones */
    strobe_nest_free(&nest);
}

static void an_open_zone_begins_before_it_is_closed(void **state)
{
    (void)state;
    struct strobe_nest nest = {0};
    struct heard heard = {0};
    const struct strobe_nest_zone first[] = {{12, 13, 3, 0, 0}},
                                  open[] = {{10, 0, 1, 0, 0}, {15, 0, 2, 0, 0}};
    strobe_nest_add(&nest, first, 1);
    strobe_nest_advance(&nest, 17, open, 2, HEAR(heard));
    assert_string_equal(heard.text, "+1@10 +3@12 -3@13 +2@15");
    const struct strobe_nest_zone second[] = {
        {18, 19, 4, 0, 0}, {15, 25, 2, 0, 0}, {10, 30, 1, 0, 0}};
    strobe_nest_add(&nest, second, 3);
    heard.n = 0;
    strobe_nest_advance(&nest, 40, NULL, 0, HEAR(heard));
    assert_string_equal(heard.text, "+4@18 -4@19 -2@25 -1@30");
    assert_int_equal(nest.n_stack, 0);
    strobe_nest_free(&nest);
}

static void the_program_of_a_zone_that_a_table_named_comes_before_its_end(void **state)
{
    (void)state;
    struct strobe_nest nest = {0};
    struct heard heard = {0};
    const struct strobe_nest_zone open[] = {{10, 0, 1, 0, 0}, {15, 0, 2, 0, 0}},
                                  closed[] = {{15, 25, 2, 0, 7}, {10, 30, 1, 0, 7}},
                                  next[] = {{42, 43, 2, 0, 8}, {40, 50, 1, 0, 8}};
    strobe_nest_advance(&nest, 17, open, 2, HEAR(heard));
    strobe_nest_add(&nest, closed, 2);
    strobe_nest_add(&nest, next, 2);
    strobe_nest_advance(&nest, 60, NULL, 0, HEAR(heard));
    assert_string_equal(heard.text, "+1@10 +2@15 -2@25 =7@30 -1@30 +1@40 =8@40 +2@42 -2@43 -1@50");
    strobe_nest_free(&nest);
}

static void a_launch_comes_right_behind_its_program(void **state)
{
    (void)state;
    struct strobe_nest nest = {0};
    struct heard heard = {.launched = 6};
    const struct strobe_nest_zone zones[] = {
        {11, 12, 2, 0, 5}, {10, 13, 1, 0, 5}, {21, 22, 2, 0, 6}, {20, 23, 1, 0, 6}};
    assert_int_equal(strobe_nest_add(&nest, zones, 4), STROBE_OK);
    assert_int_equal(strobe_nest_advance(&nest, 100, NULL, 0, HEAR(heard)), STROBE_OK);
    assert_string_equal(heard.text, "+1@10 =5@10 +2@11 -2@12 -1@13 "
                                    "+1@20 =6@20 >6@20 +2@21 -2@22 -1@23");
    strobe_nest_free(&nest);
}

static void a_zone_that_closed_behind_the_table_waits_for_nothing(void **state)
{
    (void)state;
    /* the table of time 20 lists zone 1; its children after 20 come with the next frame, before the table is used */
    struct strobe_nest nest = {0};
    struct heard heard = {0};
    const struct strobe_nest_zone zones[] = {{5, 9, 7, 0, 0}, {22, 23, 3, 0, 0}, {10, 24, 1, 0, 0}};
    const struct strobe_nest_zone open[] = {{10, 0, 1, 0, 0}};
    strobe_nest_add(&nest, zones, 3);
    strobe_nest_advance(&nest, 20, open, 1, HEAR(heard));
    assert_string_equal(heard.text, "+7@5 -7@9 +1@10");
    heard.n = 0;
    strobe_nest_advance(&nest, 30, NULL, 0, HEAR(heard));
    assert_string_equal(heard.text, "+3@22 -3@23 -1@24");
    strobe_nest_free(&nest);
}

static void zones_of_no_length_stay_in_their_order(void **state)
{
    (void)state;
    struct strobe_nest nest = {0};
    struct heard heard = {0};
    const struct strobe_nest_zone zones[] = {{5, 5, 2, 0, 0}, {5, 5, 3, 0, 0}, {5, 5, 1, 0, 0}};
    strobe_nest_add(&nest, zones, 2);
    strobe_nest_advance(&nest, 6, NULL, 0, HEAR(heard));
    size_t n_begins = 0, n_ends = 0;
    for (const char *at = heard.text; *at; at++) {
        n_begins += *at == '+';
        n_ends += *at == '-';
    }
    assert_int_equal(n_begins, 2);
    assert_int_equal(n_ends, 2);
    strobe_nest_free(&nest);
}

static void marks_stand_between_zones_where_they_were(void **state)
{
    (void)state;
    struct strobe_nest nest = {0};
    struct heard heard = {0};
    const struct strobe_nest_zone zones[] = {{12, 7, 5, STROBE_NEST_EVENT, 0},
                                             {12, 13, 3, 0, 0},
                                             {13, 7, 6, STROBE_NEST_DATA, 0},
                                             {10, 20, 1, 0, 0}};
    strobe_nest_add(&nest, zones, 4);
    strobe_nest_advance(&nest, 100, NULL, 0, HEAR(heard));
    assert_string_equal(heard.text, "+1@10 !5@12 +3@12 -3@13 !6@13 -1@20");
    strobe_nest_free(&nest);
}

static void a_parent_that_comes_too_late_is_counted(void **state)
{
    (void)state;
    struct strobe_nest nest = {0};
    struct heard heard = {0};
    const struct strobe_nest_zone child[] = {{12, 13, 3, 0, 0}}, parent[] = {{10, 20, 1, 0, 0}};
    strobe_nest_add(&nest, child, 1);
    strobe_nest_advance(&nest, 15, NULL, 0, HEAR(heard));
    strobe_nest_add(&nest, parent, 1);
    strobe_nest_advance(&nest, 30, NULL, 0, HEAR(heard));
    assert_string_equal(heard.text, "+3@12 -3@13 +1@10 -1@20");
    assert_int_equal(nest.n_late, 1);
    strobe_nest_free(&nest);
}

/* ---- a random program, seen through tables at random times ---- */

enum { N_ZONES = 3000, DEPTH = 12 };

struct program {
    struct strobe_nest_zone closed[N_ZONES]; /* in the order of their ends */
    struct heard truth;
    struct strobe_nest_zone stack[DEPTH];
    uint32_t n_closed, n_stack;
    uint64_t now;
};

static uint32_t draw(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*seed >> 33) % n;
}

static void step(struct program *p, uint64_t *seed, bool only_close)
{
    p->now += 1 + draw(seed, 5);
    bool is_end = p->n_stack && (only_close || p->n_stack == DEPTH || draw(seed, 2));
    struct strobe_nest_zone *zone = &p->stack[is_end ? p->n_stack - 1 : p->n_stack];
    if (is_end) {
        zone->end = p->now;
        p->closed[p->n_closed++] = *zone;
        p->n_stack--;
    } else {
        *zone = (struct strobe_nest_zone){p->now, 0, 1 + draw(seed, 9), 0, 0};
        p->n_stack++;
    }
    say(&p->truth, "+-"[is_end], zone -> id, p -> now);
}

/* As the decoder makes them, or one by one. */
static void send(struct strobe_nest *nest, const struct strobe_nest_zone *zones, uint32_t n,
                 bool as_decoded)
{
    static struct strobe_device_zone decoded[N_ZONES];
    for (uint32_t i = 0; i < n; i++)
        decoded[i] = (struct strobe_device_zone){zones[i].start, zones[i].end, zones[i].id, 0};
    assert_int_equal(as_decoded ? strobe_nest_add_closed(nest, decoded, n)
                                : strobe_nest_add(nest, zones, n),
                     STROBE_OK);
}

/* Hand on, and see that the nest knows how far it came. */
static void hand_on(struct strobe_nest *nest, uint64_t until, const struct strobe_nest_zone *table,
                    uint32_t n_table, struct heard *heard)
{
    heard->latest = 0;
    strobe_nest_advance(nest, until, table, n_table, HEAR(*heard));
    assert_int_equal(nest->latest, heard->latest);
}

static void a_random_program_is_handed_on_exactly(void **state)
{
    static const uint64_t stretches[] = {7, 400, 1ull << 40};
    (void)state;
    struct program *p = malloc(sizeof *p);
    struct heard *heard = malloc(sizeof *heard);
    assert_non_null(p);
    assert_non_null(heard);
    for (uint64_t round = 1; round <= 200; round++) {
        struct strobe_nest nest = {0};
        uint64_t seed = round, table_time = 0;
        struct strobe_nest_zone table[DEPTH];
        uint32_t n_table = 0, sent = 0;
        memset(p, 0, sizeof *p);
        memset(heard, 0, sizeof *heard);
        heard->stretch = stretches[round % 3];
        while (p->n_closed < 1000) {
            step(p, &seed, false);
            if (draw(&seed,
                     round % 5 ? 40 : 900)) /* more steps at once than a taker gets at once */
                continue;
            /* a frame with a part of what closed, all that closed before the last table among it; then the table */
            uint32_t least = 0;
            while (least < p->n_closed && p->closed[least].end <= table_time)
                least++;
            uint32_t upto = least + draw(&seed, p->n_closed - least + 1);
            upto = upto < sent ? sent : upto;
            send(&nest, p->closed + sent, upto - sent, round % 2);
            sent = upto;
            hand_on(&nest, table_time, table, n_table, heard);
            memcpy(table, p->stack, sizeof table);
            n_table = p->n_stack;
            table_time = p->now;
        }
        while (p->n_stack)
            step(p, &seed, true);
        send(&nest, p->closed + sent, p->n_closed - sent, round % 2);
        hand_on(&nest, UINT64_MAX - 1, NULL, 0, heard);
        assert_string_equal(heard->text, p->truth.text);
        assert_int_equal(nest.n_late, 0);
        assert_int_equal(nest.n_stack, 0);
        strobe_nest_free(&nest);
    }
    free(p);
    free(heard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parents_begin_before_their_children),
        cmocka_unit_test(an_open_zone_begins_before_it_is_closed),
        cmocka_unit_test(the_program_of_a_zone_that_a_table_named_comes_before_its_end),
        cmocka_unit_test(a_launch_comes_right_behind_its_program),
        cmocka_unit_test(a_zone_that_closed_behind_the_table_waits_for_nothing),
        cmocka_unit_test(zones_of_no_length_stay_in_their_order),
        cmocka_unit_test(marks_stand_between_zones_where_they_were),
        cmocka_unit_test(a_parent_that_comes_too_late_is_counted),
        cmocka_unit_test(a_random_program_is_handed_on_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
