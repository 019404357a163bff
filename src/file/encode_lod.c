/* encode_lod.c - what a part looks like from afar: up to 64 buckets per depth, fewer where its events are few.
 *
 * They start fine and are halved in resolution whenever they run out: buckets are cut at powers of
 * two, so adding neighbours is exact.  SPDX-License-Identifier: MIT */
#include "file/encode_internal.h"

static void merge_bucket(const struct strobe_encoder *enc, struct strobe_lod_bucket *into,
                         const struct strobe_lod_bucket *from)
{
    STROBE_ASSERT(from->loc <= enc->n_locs && into->loc <= enc->n_locs && into != from);
    into->count += from->count;
    into->busy += from->busy;
    if (from->loc && (!into->loc || from->longest > into->longest ||
                      (from->longest == into->longest &&
                       strobe_encode_goes_first(enc, from->loc, from->end, into)))) {
        into->longest = from->longest;
        into->loc = from->loc;
        into->end = from->end;
    }
}

void strobe_encode_coarsen(struct strobe_encoder *enc)
{
    uint64_t new_base = enc->lod_base >> 1;
    uint32_t new_used =
        enc->lod_used ? (uint32_t)(((enc->lod_base + enc->lod_used - 1) >> 1) - new_base) + 1 : 0;
    STROBE_ASSERT(new_used <= enc->lod_used && enc->lod_used <= STROBE_LOD_BUCKETS);
    STROBE_ASSERT(enc->lod_shift < 63);
    for (uint32_t d = 0; d < enc->lod_depths; d++) {
        struct strobe_lod_bucket *row = enc->lod[d];
        for (uint32_t i = 0; i < enc->lod_used; i++) {
            uint32_t to = (uint32_t)(((enc->lod_base + i) >> 1) - new_base);
            if (to == i)
                continue;
            struct strobe_lod_bucket from = row[i];
            memset(&row[i], 0, sizeof row[i]);
            merge_bucket(enc, &row[to], &from);
        }
    }
    enc->lod_base = new_base;
    enc->lod_used = new_used;
    enc->lod_shift++;
}

void strobe_encode_busy(struct strobe_encoder *enc, uint32_t depth, uint64_t from, uint64_t to)
{
    uint32_t last = strobe_encode_lod_index(enc, to);
    uint32_t i = (uint32_t)((from >> enc->lod_shift) - enc->lod_base);
    struct strobe_lod_bucket *row = enc->lod[depth];
    STROBE_ASSERT(depth < enc->lod_depths);
    STROBE_ASSERT(from >= enc->first_tick && from <= to && i <= last);
    for (; i < last; i++) {
        uint64_t end = (enc->lod_base + i + 1) << enc->lod_shift;
        row[i].busy += end - from;
        from = end;
    }
    STROBE_ASSERT(from <= to);
    row[last].busy += to - from;
}

/* ---- the log ---- */

/* Where the time without events before the part at hand begins: at the track's last part that is in the file. */
static uint64_t gap_from(const struct strobe_encoder *enc, struct strobe_track *track)
{
    if (track->block == enc->block)
        return track->last_tick;
    if (!strobe_encode_was_given_up(enc, track->block))
        track->kept_tick = track->last_tick;
    track->block = enc->block;
    return track->kept_tick;
}

void strobe_encode_cover_open_zones(struct strobe_encoder *enc)
{
    const struct strobe_track *track = enc->track;
    uint32_t depth = track->depth < STROBE_LOD_DEPTHS ? track->depth : STROBE_LOD_DEPTHS;
    while (enc->lod_depths < depth)
        memset(enc->lod[enc->lod_depths++], 0, sizeof enc->lod[0]);
    for (uint32_t d = 0; d < depth; d++) {
        uint64_t begin = track->stack[d].begin;
        uint64_t from = begin > enc->first_tick ? begin : enc->first_tick;
        if (enc->prev_tick > from)
            strobe_encode_busy(enc, d, from, enc->prev_tick);
    }
}

/* Buckets of a row that are used when `by` neighbours twice are added. */
static uint32_t n_used_at(const struct strobe_encoder *enc, uint32_t depth, uint32_t by)
{
    const struct strobe_lod_bucket *row = enc->lod[depth];
    uint64_t last = ~0ull;
    uint32_t n = 0;
    for (uint32_t i = 0; i < enc->lod_used; i++) {
        uint64_t bucket = (enc->lod_base + i) >> by;
        if (!strobe_encode_bucket_is_used(&row[i]) || bucket == last)
            continue;
        last = bucket;
        n++;
    }
    return n;
}

/* Cells of one depth that the part may log. */
static uint32_t cells_to_log(const struct strobe_encoder *enc)
{
    uint32_t n = STROBE_LOD_PART_CELLS * (1 + enc->part_events / 8192);
    return n < STROBE_LOD_BUCKETS ? n : (uint32_t)STROBE_LOD_BUCKETS;
}

/* How much wider than the part's own the buckets of its log are. */
static uint32_t log_width(const struct strobe_encoder *enc)
{
    uint32_t most = cells_to_log(enc), by = 0;
    for (uint32_t d = 0; d < enc->lod_depths; d++)
        while (n_used_at(enc, d, by) > most)
            by++;
    return by;
}

static void log_cell(struct strobe_encoder *enc, struct strobe_lod_part *part, uint32_t depth,
                     uint64_t bucket, const struct strobe_lod_bucket *from)
{
    struct strobe_lod_log *log = &enc->log;
    struct strobe_lod_cell *last = part->n_cells ? &log->cells[log->n_cells - 1] : NULL;
    const struct strobe_lod_cell cell = {
        .bucket = bucket,
        .busy = from->busy,
        .longest = from->longest,
        .loc = from->loc ? enc->locs[from->loc - 1] + 1 : 0,
        .end = from->end,
        .count = from->count,
        .depth = depth,
    };
    STROBE_ASSERT(!last || depth > last->depth || (depth == last->depth && bucket >= last->bucket));
    if (last && last->depth == depth && last->bucket == bucket) {
        strobe_lod_merge(last, &cell);
        return;
    }
    STROBE_ASSERT(log->n_cells < log->cells_room);
    log->cells[log->n_cells++] = cell;
    part->n_cells++;
}

void strobe_encode_log_part(struct strobe_encoder *enc)
{
    struct strobe_track *track = enc->track;
    struct strobe_lod_log *log = &enc->log;
    uint64_t before = gap_from(enc, track);
    uint32_t n_open = track->depth < STROBE_LOD_OPEN ? track->depth : (uint32_t)STROBE_LOD_OPEN;
    uint32_t by = log_width(enc);
    log->failed |= enc->n_lost > STROBE_LOST_RUNS;
    if (!strobe_lod_log_reserve(log, enc->lod_depths * cells_to_log(enc), n_open))
        return;
    STROBE_ASSERT(log->n_parts < log->parts_room && enc->low <= track->depth);
    struct strobe_lod_part *part = &log->parts[log->n_parts++];
    *part = (struct strobe_lod_part){
        .proc = enc->proc,
        .track = enc->track_id,
        .gap_from = before ? before : enc->first_tick,
        .first_tick = enc->first_tick,
        .last_tick = enc->prev_tick,
        .n_events = enc->part_events,
        .n_zones = (uint32_t)(enc->n_zones - enc->zones_before),
        .start_depth = enc->start_depth,
        .low = enc->low,
        .end_depth = track->depth,
        .shift = enc->lod_shift + by,
        .n_open = n_open,
    };
    for (uint32_t d = 0; d < enc->lod_depths; d++)
        for (uint32_t i = 0; i < enc->lod_used; i++)
            if (strobe_encode_bucket_is_used(&enc->lod[d][i]))
                log_cell(enc, part, d, (enc->lod_base + i) >> by, &enc->lod[d][i]);
    STROBE_ASSERT(part->n_cells <= enc->lod_depths * cells_to_log(enc));
    STROBE_ASSERT(log->n_open + n_open <= log->open_room);
    for (uint32_t i = 0; i < n_open; i++)
        log->open[log->n_open++] =
            (struct strobe_lod_open){track->stack[i].loc, track->stack[i].begin};
}
