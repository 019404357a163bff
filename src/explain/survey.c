/* survey.c - the first pass. A barrier is seen by its shape alone, without scheduler data: every round all members are inside at
 * one time, they come one by one and leave together.  SPDX-License-Identifier: MIT */
#include "explain/survey.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/assert.h"

enum { MIN_ROUNDS = 5 };

struct pass {
    struct strobe_survey *survey;
    const struct strobe_trace *trace;
};

/* ---- rounds, read from their ends to their begins ---- */

/* All members of a round have been seen, or it is none. */
static void close_round(struct strobe_survey *survey, struct strobe_survey_barrier *barrier,
                        const struct strobe_survey_round *round)
{
    if (round->n_ended != round->n_begun || round->n_ended < 2 || round->n_ended < barrier->size ||
        round->last_begin > round->first_end) {
        barrier->n_others++;
        return;
    }
    if (round->n_ended > barrier->size) { /* what was taken for rounds were parts of one */
        barrier->n_others += barrier->n_rounds;
        barrier->size = round->n_ended;
        barrier->n_rounds = 0;
        barrier->begins = barrier->ends = barrier->ahead = 0;
        barrier->generation++;
    }
    struct strobe_survey_member *last = &survey->members[round->last_member];
    if (last->generation != barrier->generation) {
        last->generation = barrier->generation;
        last->n_last = 0;
    }
    last->n_last++;
    barrier->n_rounds++;
    barrier->begins += round->last_begin - round->first_begin;
    barrier->ends += round->last_end - round->first_end;
    barrier->ahead += round->last_begin - round->second_begin;
}

static void note_end(struct strobe_survey *survey, struct strobe_survey_barrier *barrier,
                     struct strobe_survey_member *member, uint64_t tick)
{
    const struct strobe_survey_thread *thread = &survey->threads[member->thread];
    uint32_t number = ++member->round;
    struct strobe_survey_round *round = &barrier->rounds[number % STROBE_SURVEY_ROUNDS];
    if (round->number != number) {
        if (round->n_ended)
            close_round(survey, barrier, round);
        *round = (struct strobe_survey_round){.number = number};
    }
    barrier->n_others += member->is_open; /* it is inside of itself */
    member->is_open = 1;
    member->end = tick;
    member->waited = thread->waited;
    member->preempted = thread->preempted;
    if (!round->n_ended++)
        round->last_end = tick;
    round->first_end = tick;
}

/* What a zone spent on the processor, and off it. */
static void note_times(struct strobe_survey_barrier *barrier,
                       const struct strobe_survey_member *member,
                       const struct strobe_survey_thread *thread, uint64_t tick)
{
    uint64_t waited = thread->waited - member->waited;
    uint64_t off = waited + thread->preempted - member->preempted, all = member->end - tick;
    barrier->waited += waited < all ? waited : all;
    barrier->run += off < all ? all - off : 0;
}

static void note_begin(struct strobe_survey *survey, struct strobe_survey_barrier *barrier,
                       uint32_t number, uint64_t tick)
{
    struct strobe_survey_member *member = &survey->members[number];
    struct strobe_survey_round *round = &barrier->rounds[member->round % STROBE_SURVEY_ROUNDS];
    if (!member->is_open || round->number != member->round)
        return;
    member->is_open = 0;
    note_times(barrier, member, &survey->threads[member->thread], tick);
    if (round->n_begun == 0) {
        round->last_begin = tick;
        round->last_member = number;
    } else if (round->n_begun == 1) {
        round->second_begin = tick;
    }
    round->first_begin = tick;
    round->n_begun++;
}

static enum strobe_err note_zone(struct pass *pass, const struct strobe_item *item)
{
    struct strobe_survey *survey = pass->survey;
    if (item->loc == STROBE_IDMAP_NONE || pass->trace->threads[item->thread].is_lane)
        return STROBE_OK;
    uint32_t name = pass->trace->locs[item->loc].name;
    name = name ? name : pass->trace->locs[item->loc].function;
    uint32_t b = strobe_idmap_add_row(&survey->names, 0, name, (void **)&survey->barriers,
                                      &survey->barriers_room, sizeof *survey->barriers);
    if (b == STROBE_IDMAP_NONE)
        return STROBE_ERR_NOMEM;
    uint32_t n_before = survey->member_ids.n;
    uint32_t m =
        strobe_idmap_add_row(&survey->member_ids, b, item->thread, (void **)&survey->members,
                             &survey->members_room, sizeof *survey->members);
    if (m == STROBE_IDMAP_NONE)
        return STROBE_ERR_NOMEM;
    struct strobe_survey_barrier *barrier = &survey->barriers[b];
    barrier->name = name;
    barrier->n_members += survey->member_ids.n - n_before;
    survey->members[m].thread = item->thread;
    if (item->what == STROBE_ITEM_ZONE_END)
        note_end(survey, barrier, &survey->members[m], item->tick);
    else
        note_begin(survey, barrier, m, item->tick);
    return STROBE_OK;
}

static enum strobe_err take_item(void *context, const struct strobe_item *item)
{
    struct pass *pass = context;
    struct strobe_survey *survey = pass->survey;
    STROBE_ASSERT(item->what < STROBE_ITEM_N);
    if (item->thread >= survey->n_threads)
        return STROBE_OK; /* it is new since the range was chosen */
    struct strobe_survey_thread *thread = &survey->threads[item->thread];
    survey->n_of[item->what]++;
    if (thread->first > thread->last)
        thread->last = item->tick;
    thread->first = item->tick;
    thread->n_zones += item->what == STROBE_ITEM_ZONE_END;
    if (item->what == STROBE_ITEM_ZONE_BEGIN)
        thread->first_zone = item->tick;
    thread->n_switches += item->what == STROBE_ITEM_SWITCH_IN;
    if (item->what == STROBE_ITEM_SWITCH_IN && item->begin)
        *(item->reason == STROBE_ITEM_PREEMPTED ? &thread->preempted : &thread->waited) +=
            item->tick - item->begin;
    if (item->what == STROBE_ITEM_ZONE_BEGIN || item->what == STROBE_ITEM_ZONE_END)
        return note_zone(pass, item);
    return STROBE_OK;
}

/* Rounds that nothing came after. */
static void close_rounds(struct strobe_survey *survey)
{
    for (uint32_t i = 0; i < survey->names.n; i++)
        for (int k = 0; k < STROBE_SURVEY_ROUNDS; k++)
            if (survey->barriers[i].rounds[k].n_ended)
                close_round(survey, &survey->barriers[i], &survey->barriers[i].rounds[k]);
}

enum strobe_err strobe_survey_run(struct strobe_view *view,
                                  const struct strobe_items_options *options,
                                  struct strobe_survey *survey)
{
    struct pass pass = {survey, view->trace};
    survey->n_threads = view->trace->thread_ids.n;
    survey->threads = strobe_array_resize(NULL, survey->n_threads + 1ull, sizeof *survey->threads);
    if (!survey->threads)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < survey->n_threads; i++)
        survey->threads[i] = (struct strobe_survey_thread){.first = UINT64_MAX};
    enum strobe_err err = strobe_items_sweep(view, options, take_item, &pass, &survey->n_bad_parts);
    close_rounds(survey);
    return err;
}

void strobe_survey_free(struct strobe_survey *survey)
{
    free(survey->threads);
    free(survey->barriers);
    free(survey->members);
    strobe_idmap_free(&survey->names);
    strobe_idmap_free(&survey->member_ids);
    *survey = (struct strobe_survey){0};
}

/* ---- what was found ---- */

/* Zones that are worked on side by side begin together and end one by one, and run; steps that hold both do neither. Where
 * processors are short the ends come one by one too, but nobody runs inside a barrier. */
static int is_barrier(const struct strobe_survey_barrier *barrier)
{
    return barrier->size >= 2 && barrier->size == barrier->n_members &&
           barrier->n_rounds >= MIN_ROUNDS && barrier->n_others * 4 <= barrier->n_rounds &&
           (barrier->begins > barrier->ends + barrier->ends / 2 ||
            barrier->waited > barrier->run * 5);
}

const struct strobe_survey_barrier *strobe_survey_find_barrier(const struct strobe_survey *survey,
                                                               uint32_t name)
{
    uint32_t b = strobe_idmap_find(&survey->names, 0, name);
    return b != STROBE_IDMAP_NONE && is_barrier(&survey->barriers[b]) ? &survey->barriers[b] : NULL;
}

uint32_t strobe_survey_last_thread(const struct strobe_survey *survey,
                                   const struct strobe_survey_barrier *barrier, uint32_t *n_last)
{
    uint32_t b = (uint32_t)(barrier - survey->barriers), best = STROBE_IDMAP_NONE;
    *n_last = 0;
    for (uint32_t i = 0; i < survey->member_ids.n; i++) {
        const struct strobe_survey_member *member = &survey->members[i];
        if (survey->member_ids.keys[i].scope == b && member->generation == barrier->generation &&
            member->n_last > *n_last) {
            *n_last = member->n_last;
            best = member->thread;
        }
    }
    return best;
}

double strobe_survey_chance(uint32_t n_members, uint32_t n_rounds, uint32_t n_last)
{
    double p = 1.0 / n_members, sum = 0;
    STROBE_ASSERT(n_members && n_last <= n_rounds);
    if (n_members == 1)
        return 1;
    for (uint32_t k = n_last; k <= n_rounds; k++)
        sum += exp(lgamma(n_rounds + 1.0) - lgamma(k + 1.0) - lgamma(n_rounds - k + 1.0) +
                   k * log(p) + (n_rounds - k) * log1p(-p));
    return fmin(1, sum * n_members);
}
