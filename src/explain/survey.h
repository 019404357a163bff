/* survey.h - a first pass over a trace, backwards: when each thread lived, which kinds of evidence there are, and which zones
 * are barriers: zones of one name on several threads, all of which begin before the first of them ends, round after round.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPLAIN_SURVEY_H
#define STROBE_EXPLAIN_SURVEY_H

#include "explain/items.h"

/* By canonical thread (strobe_items_thread). */
struct strobe_survey_thread {
    uint64_t first, last; /* ticks; first > last: nothing of it in the range */
    uint64_t first_zone;  /* tick of the first begin of a zone; 0: none in the range */
    uint64_t n_zones, n_switches;
    uint64_t waited, preempted; /* ticks off the processor so far, backwards */
};

struct strobe_survey_member {
    uint32_t thread;
    uint32_t generation; /* of the counts below: the barrier's, else they are void */
    uint32_t n_last;     /* rounds that it came last to */
    uint32_t round;      /* of its zones, counted from the last */
    uint8_t is_open;
    uint64_t end, waited, preempted; /* of the thread, at the end of the open one */
};

/* The zones of one round. A member that is slow to leave may overlap the next one. */
struct strobe_survey_round {
    uint32_t number, n_ended, n_begun, last_member;
    uint64_t first_end, last_end, first_begin, second_begin, last_begin;
};
enum { STROBE_SURVEY_ROUNDS = 4 }; /* that may be under way at a time */

/* A name that may be one. */
struct strobe_survey_barrier {
    uint32_t name;      /* text */
    uint32_t n_members; /* threads */
    uint32_t size;      /* most members of a round */
    uint32_t n_rounds;  /* of that size */
    uint32_t n_others;  /* smaller ones, and those that are none */
    uint32_t generation;
    uint64_t begins, ends; /* ticks from the first to the last of a round: sums over its rounds */
    uint64_t run, waited;  /* ticks of its zones on a processor, and off it by their own will */
    uint64_t ahead;        /* ticks from the second-last to the last begin, likewise */
    struct strobe_survey_round rounds[STROBE_SURVEY_ROUNDS];
};

struct strobe_survey {
    struct strobe_survey_thread *threads; /* owned: n_threads */
    uint32_t n_threads;
    struct strobe_survey_barrier *barriers; /* owned: by index in names */
    struct strobe_idmap names;              /* (0, text) */
    uint32_t barriers_room;
    struct strobe_survey_member *members; /* owned: by index in member_ids */
    struct strobe_idmap member_ids;       /* (barrier, thread) */
    uint32_t members_room;
    uint64_t n_of[STROBE_ITEM_N];
    uint64_t n_bad_parts;
};

/* Read the range. NOMEM, and what strobe_items_sweep gives; free it in any case. */
enum strobe_err strobe_survey_run(struct strobe_view *view,
                                  const struct strobe_items_options *options,
                                  struct strobe_survey *survey);
void strobe_survey_free(struct strobe_survey *survey);

/* The barrier that zones of a name are; NULL: they are none. */
const struct strobe_survey_barrier *strobe_survey_find_barrier(const struct strobe_survey *survey,
                                                               uint32_t name);

/* Who came last most often, and to how many rounds; STROBE_IDMAP_NONE: nobody. */
uint32_t strobe_survey_last_thread(const struct strobe_survey *survey,
                                   const struct strobe_survey_barrier *barrier, uint32_t *n_last);

/* The chance that one of n members comes last so often though all are alike: binomial, times n. */
double strobe_survey_chance(uint32_t n_members, uint32_t n_rounds, uint32_t n_last);

#endif
