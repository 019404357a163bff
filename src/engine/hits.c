/* hits.c - keeps the first rows of a list. A quarter more than are wanted are gathered, then sorted and cut; from then on a zone
 * that comes after the last one is counted only, and a part whose summary says that it has no other is not even decoded.
 * SPDX-License-Identifier: MIT */
#include "engine/hits.h"

#include <stdlib.h>
#include <string.h>

/* ---- order ---- */

static int by_time(const void *a, const void *b)
{
    const struct strobe_hit *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int by_duration(const void *a, const void *b)
{
    const struct strobe_hit *x = a, *y = b;
    return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : by_time(a, b);
}

static int by_time_reversed(const void *a, const void *b)
{
    return by_time(b, a);
}

static int by_duration_reversed(const void *a, const void *b)
{
    return by_duration(b, a);
}

const strobe_hit_order strobe_hit_orders[2][2] = {{by_time, by_time_reversed},
                                                  {by_duration, by_duration_reversed}};

/* ---- keeping ---- */

void strobe_hits_free(struct strobe_hits *hits)
{
    if (!hits)
        return;
    free(hits->rows);
    free(hits->key);
    strobe_texts_free(&hits->texts);
    free(hits);
}

/* Keys tell first how far the file had grown. What was seen of a file that only grows stays right; tables are paired anew. */
static int is_same(const struct strobe_hits *hits, const char *key)
{
    const char *mine = strchr(hits->key, ' '), *theirs = strchr(key, ' ');
    return mine && theirs && !strcmp(mine, theirs) &&
           (!hits->n_of_tables || !strcmp(hits->key, key));
}

struct strobe_hits *strobe_hits_keep(struct strobe_engine *engine, struct strobe_hits **kept,
                                     char *key, int by_length, int is_reversed, uint32_t most)
{
    struct strobe_hits *hits = *kept;
    strobe_hit_order order = strobe_hit_orders[!!by_length][!!is_reversed];
    int is_kept = hits && key && hits->key && is_same(hits, key) &&
                  ((hits->order == order && most <= hits->most) ||
                   (!hits->is_cut && hits->is_whole && most <= hits->most));
    if (!is_kept) {
        strobe_hits_free(hits);
        hits = *kept = key ? calloc(1, sizeof *hits) : NULL;
        if (!hits) {
            free(key);
            return NULL;
        }
        hits->engine = engine;
        hits->most = most < 1000 ? 1000 : most;
        hits->max = 1e300;
    }
    if (hits->key && strcmp(hits->key, key)) { /* there are more blocks */
        hits->is_scanned = hits->is_whole = hits->are_tables_over = 0;
        hits->next_table = hits->table_step = 0;
    }
    free(hits->key);
    hits->key = key;
    hits->order = order;
    hits->by_duration = !!by_length;
    hits->is_reversed = !!is_reversed;
    return hits;
}

/* The texts of the rows that are left. */
static void keep_texts(struct strobe_hits *hits)
{
    struct strobe_texts texts = {0};
    uint32_t n_text;
    if (hits->texts.n_bytes < STROBE_HITS_TEXT / 2)
        return;
    for (uint32_t i = 0; i < hits->n; i++) {
        const char *text = strobe_texts_get(&hits->texts, hits->rows[i].text, &n_text);
        hits->rows[i].text = n_text ? strobe_texts_add(&texts, text, n_text) : 0;
    }
    strobe_texts_free(&hits->texts);
    hits->texts = texts;
}

void strobe_hits_settle(struct strobe_hits *hits)
{
    if (hits->n)
        qsort(hits->rows, hits->n, sizeof *hits->rows, hits->order);
    if (hits->n <= hits->most)
        return;
    hits->n = hits->most;
    hits->last = hits->rows[hits->n - 1];
    hits->is_cut = 1;
    keep_texts(hits);
}

/* Zones that begin at a tick. Bins are cut at powers of two, so that neighbours can be added. */
static void count_at(struct strobe_hits *hits, uint64_t tick, uint64_t n)
{
    if (!hits->total)
        hits->bins_from = tick >> hits->bins_shift;
    uint64_t at = tick >> hits->bins_shift;
    while (at >= hits->bins_from + STROBE_HITS_BINS) {
        for (uint32_t i = 0; i < STROBE_HITS_BINS; i++) {
            uint32_t count = hits->bins[i],
                     to = (uint32_t)(((hits->bins_from + i) >> 1) - (hits->bins_from >> 1));
            hits->bins[i] = 0;
            hits->bins[to] += count;
        }
        hits->bins_from >>= 1;
        at = tick >> ++hits->bins_shift;
    }
    hits->bins[at > hits->bins_from ? at - hits->bins_from : 0] += (uint32_t)n;
}

void strobe_hits_add(struct strobe_hits *hits, struct strobe_hit hit, const char *text,
                     uint32_t n_text)
{
    count_at(hits, hit.begin, 1);
    hit.order = (uint32_t)hits->total++;
    if (hits->is_cut && hits->order(&hit, &hits->last) > 0)
        return;
    if (!strobe_rows_reach((void **)&hits->rows, &hits->room, hits->n, sizeof *hits->rows)) {
        hits->is_cut = 1; /* and the list says so */
        return;
    }
    hit.text = n_text && hits->texts.n_bytes + n_text < STROBE_HITS_TEXT
                   ? strobe_texts_add(&hits->texts, text, n_text)
                   : 0;
    hits->rows[hits->n++] = hit;
    if (hits->n >= hits->most + hits->most / 4)
        strobe_hits_settle(hits);
}

/* ---- scanning ---- */

static struct strobe_said said_of_row(const struct strobe_tables *tables, uint32_t note)
{
    struct strobe_said said = {0};
    if (note && tables->notes[note - 1].text)
        said.text = strobe_texts_get(&tables->texts, tables->notes[note - 1].text, &said.n_text);
    if (note && tables->notes[note - 1].name)
        said.name = strobe_texts_get(&tables->texts, tables->notes[note - 1].name, &said.n_name);
    return said;
}

/* The same of a row in the file. */
static struct strobe_said said_in_file(const struct strobe_paired_note *note)
{
    struct strobe_said said = {0};
    if (note)
        said = (struct strobe_said){note->text, note->name, note->n_text, note->n_name};
    return said;
}

static uint64_t span(const struct strobe_engine *engine, uint64_t tick, uint64_t ticks)
{
    return strobe_clock_span_ns(&engine->trace->clock, tick, ticks);
}

/* The zones of a table that ended and begin in the range, as those of threads. *most: parts of the file that may be read, taken
 * off it. 1: that were all. */
static int scan_table(struct strobe_hits *hits, uint32_t number, uint64_t lo, uint64_t hi,
                      uint32_t *most)
{
    struct strobe_engine *engine = hits->engine;
    const struct strobe_table *table = &engine->tables.tables[number];
    const struct strobe_rows_place place = strobe_table_place(&engine->tables, table);
    struct strobe_row_walk walk = {.place = &place,
                                   .lo = lo,
                                   .hi = hi,
                                   .only = STROBE_ROWS_ENDED,
                                   .max_parts = *most,
                                   .step = hits->table_step};
    const struct strobe_pixel_row *row;
    uint32_t track = strobe_track_of_table(engine, number);
    while ((row = strobe_row_walk_next(&walk, NULL))) {
        if (row->begin < lo || row->begin > hi)
            continue;
        struct strobe_said said =
            table->stored ? said_in_file(walk.note) : said_of_row(&engine->tables, row->note);
        hits->take(hits,
                   (struct strobe_hit){.begin = row->begin,
                                       .ns = span(engine, row->begin, row->end - row->begin),
                                       .self = row->self,
                                       .track = track,
                                       .depth = row->depth,
                                       .loc = strobe_engine_row_loc(engine, row->loc)},
                   &said);
    }
    *most -= walk.n_read;
    hits->table_step = walk.is_cut ? walk.step : 0;
    return !walk.is_cut;
}

/* Tables from where the last step ended. 1: that were all. */
static int scan_tables(struct strobe_hits *hits, const struct strobe_choice *choice, uint64_t lo,
                       uint64_t hi)
{
    struct strobe_engine *engine = hits->engine;
    uint64_t before = hits->total;
    uint32_t most = STROBE_HITS_EVENTS / STROBE_PAIRED_PART;
    int is_over = 1;
    for (; hits->next_table < engine->tables.n_tables && is_over; hits->next_table += is_over)
        if (strobe_table_has_zones(&engine->tables.tables[hits->next_table]) &&
            strobe_choice_has_table(choice, engine, hits->next_table))
            is_over = most && scan_table(hits, hits->next_table, lo, hi, &most);
    hits->n_of_tables += hits->total - before;
    return is_over;
}

static int take_zone(void *context, uint32_t thread, uint32_t loc, uint64_t loc_id,
                     const struct strobe_zone_row *zone, const struct strobe_note *note)
{
    struct strobe_hits *hits = context;
    struct strobe_engine *engine = hits->engine;
    struct strobe_said said = {0};
    (void)loc;
    if (note)
        said = (struct strobe_said){note->text, note->name, note->n_text, note->n_name};
    hits->take(hits,
               (struct strobe_hit){.begin = zone->begin,
                                   .ns = span(engine, zone->begin, zone->ticks),
                                   .self = zone->self,
                                   .track = strobe_track_of_thread(engine, thread),
                                   .depth = zone->depth,
                                   .loc = strobe_engine_loc(
                                       engine, engine->trace->threads[thread].process, loc_id)},
               &said);
    return 1;
}

/* Of a part's summary: the zones that are wanted. 0: it has none that serves. */
static int sum_up(const struct strobe_scan *scan, const struct strobe_part *part, uint32_t process,
                  struct strobe_summary_row *out)
{
    struct strobe_summary summary;
    struct strobe_summary_row row;
    *out = (struct strobe_summary_row){.min_ticks = UINT64_MAX};
    enum strobe_err err = strobe_summary_start(part, &summary);
    while (!err && (err = strobe_summary_next(&summary, &row)) == STROBE_OK) {
        uint32_t loc = strobe_trace_loc(scan->view->trace, process, part->locs[row.loc_index]);
        if (!strobe_scan_has_loc(scan, loc))
            continue;
        out->count += row.count;
        out->min_ticks = row.min_ticks < out->min_ticks ? row.min_ticks : out->min_ticks;
        out->max_ticks = row.max_ticks > out->max_ticks ? row.max_ticks : out->max_ticks;
    }
    return err == STROBE_ERR_END;
}

/* 1: all zones of the part come after the last row. As long as it is shown, a zone may be a nanosecond longer than its ticks
 * alone. */
static int is_behind(const struct strobe_hits *hits, const struct strobe_part *part,
                     const struct strobe_summary_row *sum)
{
    const struct strobe_clock *clock = &hits->engine->trace->clock;
    if (hits->by_duration)
        return hits->is_reversed ? strobe_clock_ns(clock, sum->min_ticks) > hits->last.ns
                                 : strobe_clock_ns(clock, sum->max_ticks) + 1 < hits->last.ns;
    return hits->is_reversed ? part->last_tick < hits->last.begin
                             : part->first_tick - part->start_early > hits->last.begin;
}

static int skip_part(const struct strobe_scan *scan, const struct strobe_part *part,
                     uint32_t process)
{
    struct strobe_hits *hits = scan->context;
    struct strobe_summary_row sum;
    int is_inside = part->first_tick - part->start_early >= scan->lo &&
                    part->first_tick >= part->start_early && part->last_tick <= scan->hi;
    if (!hits->is_cut || !is_inside || hits->by_text || !scan->locs || hits->min > 0 ||
        hits->max < 1e300)
        return 0;
    if (!sum_up(scan, part, process, &sum) || (sum.count && !is_behind(hits, part, &sum)))
        return 0;
    count_at(hits, part->first_tick + (part->last_tick - part->first_tick) / 2, sum.count);
    hits->total += sum.count;
    return 1;
}

enum strobe_err strobe_hits_scan(struct strobe_hits *hits, struct strobe_scan *scan,
                                 const struct strobe_choice *choice)
{
    if (hits->is_scanned)
        return STROBE_OK;
    scan->context = hits;
    scan->zone = take_zone;
    scan->skip = skip_part;
    scan->max_events = STROBE_HITS_EVENTS;
    scan->next_block = hits->next_block;
    enum strobe_err err = strobe_scan_run(scan);
    hits->next_block = scan->next_block;
    if (err || scan->is_cut)
        return err;
    hits->is_scanned = hits->are_tables_over || scan_tables(hits, choice, scan->lo, scan->hi);
    hits->are_tables_over = hits->is_scanned;
    return STROBE_OK;
}

double strobe_hits_share(const struct strobe_hits *hits)
{
    uint32_t n = hits->engine->view->n_blocks;
    double scanned = n ? (double)hits->next_block / n : 1;
    if (scanned >= 1 && !hits->is_scanned)
        scanned = hits->next_table / (hits->engine->tables.n_tables + 1.0);
    return hits->is_whole     ? 1
           : hits->is_scanned ? strobe_tables_share(&hits->engine->tables)
                              : scanned;
}
