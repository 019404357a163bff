/* sums.c - the table zone_sum: zones added up by the keys that a query wants, before SQLite sees a row. SQLite groups by
 * sorting, half a microsecond a row and more; a hash table over locations and tracks takes a tenth of that, and gives as many
 * rows as there are groups. Sums are those of zone.dur and zone.self, to the last digit.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/map.h"
#include "sql/pump.h"

enum {
    SUM_NAME = 1,
    SUM_LOC,
    SUM_TRACK,
    SUM_PROCESS,
    SUM_DEPTH,
    SUM_COUNT,
    SUM_ENDED,
    SUM_TOTAL,
    SUM_SELF,
    SUM_MIN,
    SUM_MAX,
    SUM_AFTER,
    SUM_BEFORE,
    SUM_AT_LEAST,
    SUM_AT_MOST,
};

enum { MAX_GROUPS = 1 << 22 }; /* 400 MB; a query with more is refused */

/* A group: its keys, -1 where they are not asked for or not known, and its sums. */
struct group {
    int64_t track, process, depth;
    uint32_t loc;        /* index; STROBE_IDMAP_NONE: see loc_id */
    uint32_t given_name; /* of a zone that was renamed: index + 1 in `names`, 0: it was not */
    uint64_t loc_id;
    uint64_t n, n_ended, n_self;
    int64_t total, self, min, max;
};

struct sums {
    struct strobe_sql_pump *pump; /* borrowed */
    struct group *groups;         /* owned */
    uint32_t n_groups, groups_room;
    struct strobe_index index;   /* of groups */
    struct strobe_textmap names; /* that zones were given, to their index */
    uint32_t
        *of_slots; /* owned: by slot of the batch at hand, index + 1 of its group; 0: not known */
    uint32_t of_slots_room;
    struct strobe_clock_part part; /* that the last time lay in */
};

static uint64_t hash_of(const struct group *key, uint64_t seed)
{
    uint64_t low = strobe_hash_pair((uint64_t)key->track, (uint64_t)key->process, seed);
    uint64_t high = strobe_hash_pair((uint64_t)key->depth << 32 | key->loc, key->loc_id, low);
    return strobe_hash_pair(key->given_name, 0, high);
}

static int is_same(const struct group *a, const struct group *b)
{
    return a->track == b->track && a->process == b->process && a->depth == b->depth &&
           a->loc == b->loc && a->loc_id == b->loc_id && a->given_name == b->given_name;
}

/* The group with these keys, made if need be; NULL: too many, or no memory. */
static struct group *find_group(struct sums *sums, const struct group *key)
{
    uint64_t hash = hash_of(key, strobe_index_seed(&sums->index));
    STROBE_INDEX_EACH (i, at, &sums->index, hash)
        if (is_same(&sums->groups[i], key))
            return &sums->groups[i];
    if (sums->n_groups == MAX_GROUPS || strobe_index_add(&sums->index, hash, sums->n_groups))
        return NULL;
    struct group *group = STROBE_ARRAY_PUSH(sums->groups, sums->n_groups, sums->groups_room);
    if (group)
        *group = *key;
    return group;
}

/* What a zone is added to; NULL as above. */
static struct group *group_of(struct sums *sums, const struct strobe_batch *batch,
                              const struct strobe_zone_row *zone, int64_t track)
{
    const struct strobe_sql_ask *ask = strobe_sql_pump_ask(sums->pump);
    const struct strobe_note *note =
        zone->note && batch->notes ? &batch->notes[zone->note - 1] : NULL;
    struct group key = {.track = -1, .process = -1, .depth = -1, .loc = STROBE_IDMAP_NONE};
    if (strobe_sql_wants(ask, SUM_TRACK))
        key.track = track;
    if (strobe_sql_wants(ask, SUM_PROCESS))
        key.process = strobe_trace_first_process(strobe_sql_pump_trace(sums->pump), batch->process);
    if (strobe_sql_wants(ask, SUM_DEPTH))
        key.depth = zone->depth;
    if (strobe_sql_wants(ask, SUM_NAME) || strobe_sql_wants(ask, SUM_LOC)) {
        uint64_t id;
        uint32_t name;
        key.loc = strobe_batch_loc(strobe_sql_pump_trace(sums->pump), batch, zone, &id);
        key.loc_id = key.loc == STROBE_IDMAP_NONE ? id : 0;
        if (note && note->name) {
            if (strobe_textmap_add(&sums->names, note->name, note->n_name, &name))
                return NULL;
            key.given_name = name + 1;
        }
    }
    return find_group(sums, &key);
}

/* The group of a zone, by its slot where that says all: of zones that were not renamed, unless depths are kept separate. */
static struct group *group_by_slot(struct sums *sums, const struct strobe_batch *batch,
                                   const struct strobe_zone_row *zone, int64_t track)
{
    if (zone->note || zone->slot >= batch->n_slots)
        return group_of(sums, batch, zone, track);
    uint32_t *known = &sums->of_slots[zone->slot];
    if (*known)
        return &sums->groups[*known - 1];
    struct group *group = group_of(sums, batch, zone, track);
    if (group)
        *known = (uint32_t)(group - sums->groups) + 1;
    return group;
}

static inline int64_t span_of(struct sums *sums, const struct strobe_clock *clock, uint64_t tick,
                              uint64_t ticks)
{
    if (!strobe_clock_part_has(&sums->part, tick))
        strobe_clock_find_part(clock, tick, &sums->part);
    return (int64_t)(strobe_clock_part_has(&sums->part, tick)
                         ? strobe_clock_part_span_ns(&sums->part, tick, ticks)
                         : strobe_clock_span_ns(clock, tick, ticks));
}

static inline int64_t start_of(struct sums *sums, const struct strobe_clock *clock, uint64_t tick)
{
    if (!strobe_clock_part_has(&sums->part, tick))
        strobe_clock_find_part(clock, tick, &sums->part);
    return strobe_clock_part_has(&sums->part, tick) ? strobe_clock_part_rel(&sums->part, tick)
                                                    : strobe_clock_rel(clock, tick);
}

/* 1: the zone begins in the time that is asked for, and takes as long. */
static int is_wanted(struct sums *sums, const struct strobe_clock *clock,
                     const struct strobe_zone_row *zone, const struct strobe_sql_ask *ask)
{
    if (ask->ts_min != INT64_MIN || ask->ts_max != INT64_MAX) {
        int64_t ts = start_of(sums, clock, zone->begin);
        if (ts < ask->ts_min || ts > ask->ts_max)
            return 0;
    }
    if (ask->dur_min == INT64_MIN && ask->dur_max == INT64_MAX)
        return 1;
    int64_t ns = span_of(sums, clock, zone->begin, zone->ticks);
    return zone->state == STROBE_ZONE_ENDED && ns >= ask->dur_min && ns <= ask->dur_max;
}

static void add_zone(struct sums *sums, struct group *group, const struct strobe_clock *clock,
                     const struct strobe_batch *batch, const struct strobe_zone_row *zone)
{
    group->n++;
    if (zone->state != STROBE_ZONE_ENDED)
        return;
    int64_t ns = span_of(sums, clock, zone->begin, zone->ticks);
    group->total += ns;
    group->min = !group->n_ended || ns < group->min ? ns : group->min;
    group->max = !group->n_ended || ns > group->max ? ns : group->max;
    group->n_ended++;
    if (batch->kind == STROBE_BATCH_SPAN)
        return;
    group->self += span_of(sums, clock, zone->begin, zone->self);
    group->n_self++;
}

static enum strobe_err add_batch(void *context, const struct strobe_batch *batch)
{
    struct strobe_sql_pump *pump = context;
    struct sums *sums = *strobe_sql_pump_state(pump);
    const struct strobe_sql_ask *ask = strobe_sql_pump_ask(pump);
    const struct strobe_trace *trace = strobe_sql_pump_trace(pump);
    int64_t track = strobe_sql_track_of(trace, batch);
    int by_slot = !strobe_sql_wants(ask, SUM_DEPTH);
    if ((ask->track >= 0 && track != ask->track) ||
        (ask->process >= 0 && strobe_trace_first_process(trace, batch->process) != ask->process))
        return STROBE_OK;
    if (STROBE_ARRAY_REACH(sums->of_slots, sums->of_slots_room, batch->n_slots))
        return STROBE_ERR_NOMEM;
    memset(sums->of_slots, 0, batch->n_slots * sizeof *sums->of_slots);
    for (uint32_t i = 0; i < batch->n_zones; i++) {
        const struct strobe_zone_row *zone = &batch->zones[i];
        if (!is_wanted(sums, &trace->clock, zone, ask))
            continue;
        struct group *group =
            by_slot ? group_by_slot(sums, batch, zone, track) : group_of(sums, batch, zone, track);
        if (!group)
            return STROBE_ERR_NOMEM;
        add_zone(sums, group, &trace->clock, batch, zone);
    }
    return STROBE_OK;
}

static void put_group_name(struct sums *sums, struct strobe_sql_cell *row,
                           const struct group *group)
{
    const struct strobe_trace *model = strobe_sql_pump_model(sums->pump);
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    if (group->given_name) {
        uint32_t entry = group->given_name - 1;
        strobe_sql_pump_text(sums->pump, &row[SUM_NAME], strobe_textmap_key(&sums->names, entry),
                             sums->names.entries[entry].n_key);
    } else {
        uint32_t loc = group->loc < model->loc_ids.n ? group->loc : STROBE_IDMAP_NONE;
        const char *name = strobe_trace_loc_name(model, loc, group->loc_id, room, &n);
        strobe_sql_pump_name(sums->pump, &row[SUM_NAME], name, n, room);
    }
    if (group->loc != STROBE_IDMAP_NONE)
        strobe_sql_put_i(&row[SUM_LOC], group->loc);
}

static enum strobe_err put_group(struct sums *sums, const struct group *group)
{
    const struct strobe_sql_ask *ask = strobe_sql_pump_ask(sums->pump);
    struct strobe_sql_cell *row = strobe_sql_pump_row(sums->pump);
    if (!row)
        return STROBE_ERR_LIMIT;
    if (strobe_sql_wants(ask, SUM_NAME) || strobe_sql_wants(ask, SUM_LOC))
        put_group_name(sums, row, group);
    if (group->track >= 0)
        strobe_sql_put_i(&row[SUM_TRACK], group->track);
    if (group->process >= 0)
        strobe_sql_put_i(&row[SUM_PROCESS], group->process);
    if (group->depth >= 0)
        strobe_sql_put_i(&row[SUM_DEPTH], group->depth);
    strobe_sql_put_i(&row[SUM_COUNT], (int64_t)group->n);
    strobe_sql_put_i(&row[SUM_ENDED], (int64_t)group->n_ended);
    if (group->n_ended) {
        strobe_sql_put_i(&row[SUM_TOTAL], group->total);
        strobe_sql_put_i(&row[SUM_MIN], group->min);
        strobe_sql_put_i(&row[SUM_MAX], group->max);
    }
    if (group->n_self)
        strobe_sql_put_i(&row[SUM_SELF], group->self);
    return STROBE_OK;
}

enum strobe_err strobe_sql_walk_sums(struct strobe_sql_pump *pump)
{
    struct sums sums = {.pump = pump};
    struct strobe_walk walk = {.zones = add_batch,
                               .want_notes = strobe_sql_wants(strobe_sql_pump_ask(pump), SUM_NAME),
                               .want_fibers = 1,
                               .want_spans = 1,
                               .want_open = 1};
    *strobe_sql_pump_state(pump) = &sums;
    enum strobe_err err = strobe_sql_pump_walk(pump, &walk);
    for (uint32_t i = 0; !err && i < sums.n_groups; i++)
        err = put_group(&sums, &sums.groups[i]);
    free(sums.groups);
    free(sums.of_slots);
    strobe_index_free(&sums.index);
    strobe_textmap_free(&sums.names);
    return err;
}
