/* lod_write.c - sums up the levels of detail of many blocks, in bounded memory.
 *
 * Each track has one width of bucket (2^shift ticks) for all its depths, as wide as its widest part wants. Cells
 * are kept where something happens only, by bucket, so adding at the end is the rule. When a lane or all of them
 * together get too many, neighbours are added: widths are powers of two, so this is exact.
 * SPDX-License-Identifier: MIT */
#include "file/lod.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/map.h"

struct lane {
    struct strobe_lod_cell *cells; /* owned: by bucket */
    uint32_t n, room;
};

struct track {
    uint64_t proc, track;
    uint64_t n_parts, n_events, n_zones;
    uint64_t first_tick, last_tick;
    uint32_t low, depth, n_open, n_lanes, shift;
    struct strobe_lod_open *open; /* owned: STROBE_LOD_OPEN, NULL: none yet */
    struct lane lanes[STROBE_LOD_DEPTHS];
};

struct strobe_lod {
    struct track *tracks; /* owned */
    uint32_t n_tracks, tracks_room;
    struct strobe_index index; /* of tracks by process and track */
    uint32_t n_cells;          /* of all lanes */
    uint32_t lane_max;         /* cells that a lane may have now */
    uint64_t first_offset;
    uint64_t n_blocks;
    struct strobe_lod_mask masks[STROBE_LOD_MAX_MASKS];
    uint32_t n_masks;
    bool spoilt;
};

/* ---- the log ---- */

bool strobe_lod_log_reserve(struct strobe_lod_log *log, uint32_t n_cells, uint32_t n_open)
{
    if (!log->failed)
        log->failed =
            STROBE_ARRAY_RESERVE(log->parts, log->parts_room, log->n_parts + 1ull) ||
            STROBE_ARRAY_RESERVE(log->cells, log->cells_room, log->n_cells + (uint64_t)n_cells) ||
            STROBE_ARRAY_RESERVE(log->open, log->open_room, log->n_open + (uint64_t)n_open);
    return !log->failed;
}

void strobe_lod_log_reset(struct strobe_lod_log *log)
{
    log->n_parts = log->n_cells = log->n_open = 0;
    log->failed = false;
}

void strobe_lod_log_free(struct strobe_lod_log *log)
{
    free(log->parts);
    free(log->cells);
    free(log->open);
    memset(log, 0, sizeof *log);
}

/* ---- lanes ---- */

static void coarsen_lane(struct strobe_lod *lod, struct lane *lane)
{
    uint32_t n = 0;
    STROBE_ASSERT(lane->n <= lane->room && lane->n <= lod->n_cells);
    for (uint32_t i = 0; i < lane->n; i++) {
        STROBE_ASSERT(!i || lane->cells[i - 1].bucket <= lane->cells[i].bucket);
        struct strobe_lod_cell cell = lane->cells[i];
        cell.bucket >>= 1;
        if (n && lane->cells[n - 1].bucket == cell.bucket)
            strobe_lod_merge(&lane->cells[n - 1], &cell);
        else
            lane->cells[n++] = cell;
    }
    STROBE_ASSERT(n <= lane->n);
    lod->n_cells -= lane->n - n;
    lane->n = n;
}

static void coarsen(struct strobe_lod *lod, struct track *track)
{
    for (uint32_t i = 0; i < track->n_lanes; i++)
        coarsen_lane(lod, &track->lanes[i]);
    track->shift++;
}

static uint32_t fullest_lane(const struct track *track)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < track->n_lanes; i++)
        most = track->lanes[i].n > most ? track->lanes[i].n : most;
    return most;
}

static bool add_cell(struct strobe_lod *lod, struct lane *lane, const struct strobe_lod_cell *cell)
{
    uint32_t at = lane->n;
    while (at && lane->cells[at - 1].bucket > cell->bucket)
        at--;
    if (at && lane->cells[at - 1].bucket == cell->bucket) {
        strobe_lod_merge(&lane->cells[at - 1], cell);
        return true;
    }
    if (STROBE_ARRAY_RESERVE(lane->cells, lane->room, lane->n + 1ull))
        return false;
    STROBE_ASSERT(at <= lane->n && lane->n < lane->room);
    memmove(lane->cells + at + 1, lane->cells + at, (lane->n - at) * sizeof *lane->cells);
    lane->cells[at] = *cell;
    lane->n++;
    STROBE_ASSERT(!at || lane->cells[at - 1].bucket < cell->bucket);
    STROBE_ASSERT(at + 1 == lane->n || cell->bucket < lane->cells[at + 1].bucket);
    lod->n_cells++;
    return true;
}

/* ---- tracks ---- */

/* The sums of a part's track, made if need be; NULL: too many, or no memory. */
static struct track *track_of(struct strobe_lod *lod, const struct strobe_lod_part *part)
{
    uint64_t hash = strobe_hash_pair(part->proc, part->track, strobe_index_seed(&lod->index));
    STROBE_INDEX_EACH (row, at, &lod->index, hash) {
        struct track *track = &lod->tracks[row];
        if (track->proc == part->proc && track->track == part->track)
            return track;
    }
    if (lod->n_tracks == STROBE_LOD_MAX_TRACKS ||
        STROBE_ARRAY_RESERVE(lod->tracks, lod->tracks_room, lod->n_tracks + 1ull) ||
        strobe_index_add(&lod->index, hash, lod->n_tracks))
        return NULL;
    struct track *track = &lod->tracks[lod->n_tracks++];
    STROBE_ASSERT(lod->index.n == lod->n_tracks);
    memset(track, 0, sizeof *track);
    track->proc = part->proc;
    track->track = part->track;
    track->shift = part->shift;
    track->first_tick = part->first_tick;
    track->low = part->low;
    return track;
}

/* Zones were open between the track's part before and this one. */
static bool add_gap(struct strobe_lod *lod, struct track *track, const struct strobe_lod_part *part)
{
    uint32_t n =
        part->start_depth < STROBE_LOD_DEPTHS ? part->start_depth : (uint32_t)STROBE_LOD_DEPTHS;
    uint64_t from = part->gap_from, to = part->first_tick;
    if (!n || from >= to)
        return true;
    while ((to >> track->shift) - (from >> track->shift) > lod->lane_max / 2 && track->shift < 63)
        coarsen(lod, track);
    track->n_lanes = n > track->n_lanes ? n : track->n_lanes;
    /* by steps: ticks may lie at the very end of time, where a bucket's end is 0 */
    while (from < to) {
        uint64_t bucket = from >> track->shift, width = 1ull << track->shift;
        uint64_t left = width - (from & (width - 1)), n_ticks = left < to - from ? left : to - from;
        for (uint32_t i = 0; i < n; i++) {
            struct strobe_lod_cell cell = {.bucket = bucket, .busy = n_ticks, .depth = i};
            if (!add_cell(lod, &track->lanes[i], &cell))
                return false;
        }
        from += n_ticks;
    }
    return true;
}

static bool add_cells(struct strobe_lod *lod, struct track *track,
                      const struct strobe_lod_part *part, const struct strobe_lod_cell *cells)
{
    STROBE_ASSERT(track->shift >= part->shift && track->shift < 64);
    uint32_t by = track->shift - part->shift;
    for (uint32_t i = 0; i < part->n_cells; i++) {
        struct strobe_lod_cell cell = cells[i];
        STROBE_ASSERT(cell.depth < STROBE_LOD_DEPTHS);
        cell.bucket >>= by;
        track->n_lanes = cell.depth >= track->n_lanes ? cell.depth + 1 : track->n_lanes;
        if (!add_cell(lod, &track->lanes[cell.depth], &cell))
            return false;
    }
    return true;
}

/* Make buckets wider where there are too many of them. */
static void fit(struct strobe_lod *lod, struct track *track)
{
    while (fullest_lane(track) > lod->lane_max && track->shift < 63)
        coarsen(lod, track);
    while (lod->n_cells > STROBE_LOD_MAX_CELLS && lod->lane_max > 1) {
        lod->lane_max /= 2;
        for (uint32_t i = 0; i < lod->n_tracks; i++)
            while (fullest_lane(&lod->tracks[i]) > lod->lane_max && lod->tracks[i].shift < 63)
                coarsen(lod, &lod->tracks[i]);
    }
}

static bool keep_open(struct track *track, const struct strobe_lod_part *part,
                      const struct strobe_lod_open *open)
{
    STROBE_ASSERT(part->n_open <= STROBE_LOD_OPEN);
    if (part->n_open && !track->open &&
        !(track->open = malloc(STROBE_LOD_OPEN * sizeof *track->open)))
        return false;
    if (part->n_open)
        memcpy(track->open, open, part->n_open * sizeof *open);
    track->n_open = part->n_open;
    return true;
}

static bool add_part(struct strobe_lod *lod, const struct strobe_lod_part *part,
                     const struct strobe_lod_cell *cells, const struct strobe_lod_open *open)
{
    struct track *track = track_of(lod, part);
    if (!track)
        return false;
    while (track->shift < part->shift)
        coarsen(lod, track);
    if (!add_gap(lod, track, part) || !add_cells(lod, track, part, cells) ||
        !keep_open(track, part, open))
        return false;
    fit(lod, track);
    track->n_parts++;
    track->n_events += part->n_events;
    track->n_zones += part->n_zones;
    track->last_tick = part->last_tick;
    track->low = part->low < track->low ? part->low : track->low;
    track->depth = part->end_depth;
    return lod->n_cells <= STROBE_LOD_MAX_CELLS;
}

void strobe_lod_add(struct strobe_lod *lod, const struct strobe_lod_log *log, uint64_t offset,
                    uint64_t mask)
{
    const struct strobe_lod_cell *cells = log->cells;
    const struct strobe_lod_open *open = log->open;
    STROBE_ASSERT(!lod->n_blocks || offset > lod->first_offset);
    STROBE_ASSERT(!lod->n_masks || offset > lod->masks[lod->n_masks - 1].offset);
    if (!lod->n_blocks++)
        lod->first_offset = offset;
    if (mask && lod->n_masks < STROBE_LOD_MAX_MASKS)
        lod->masks[lod->n_masks++] = (struct strobe_lod_mask){offset, mask};
    else if (mask)
        lod->spoilt = true;
    lod->spoilt |= log->failed;
    for (uint32_t i = 0; i < log->n_parts && !lod->spoilt; i++) {
        lod->spoilt = !add_part(lod, &log->parts[i], cells, open);
        if (log->parts[i].n_cells) /* a log without any has no array of them */
            cells += log->parts[i].n_cells;
        if (log->parts[i].n_open)
            open += log->parts[i].n_open;
    }
    STROBE_ASSERT(lod->spoilt ||
                  (cells == log->cells + log->n_cells && open == log->open + log->n_open));
}

void strobe_lod_spoil(struct strobe_lod *lod)
{
    lod->spoilt = true;
}

struct strobe_lod *strobe_lod_new(void)
{
    struct strobe_lod *lod = calloc(1, sizeof *lod);
    if (lod)
        lod->lane_max = STROBE_LOD_LANE_CELLS;
    return lod;
}

static void free_tracks(struct strobe_lod *lod)
{
    for (uint32_t i = 0; i < lod->n_tracks; i++) {
        free(lod->tracks[i].open);
        for (uint32_t k = 0; k < STROBE_LOD_DEPTHS; k++)
            free(lod->tracks[i].lanes[k].cells);
    }
    lod->n_tracks = 0;
}

void strobe_lod_reset(struct strobe_lod *lod)
{
    free_tracks(lod);
    strobe_index_free(&lod->index);
    lod->n_cells = lod->n_masks = 0;
    lod->lane_max = STROBE_LOD_LANE_CELLS;
    lod->n_blocks = 0;
    lod->spoilt = false;
}

void strobe_lod_free(struct strobe_lod *lod)
{
    if (!lod)
        return;
    free_tracks(lod);
    free(lod->tracks);
    strobe_index_free(&lod->index);
    free(lod);
}

/* ---- bytes ---- */

struct out {
    uint8_t *bytes; /* owned */
    size_t n, room;
    bool failed;
};

static void put(struct out *out, uint64_t value)
{
    if (STROBE_ARRAY_RESERVE(out->bytes, out->room, (uint64_t)out->n + STROBE_VARINT_MAX))
        out->failed = true;
    else
        out->n = (size_t)(strobe_varint_put(out->bytes + out->n, value) - out->bytes);
}

static void put_u32(struct out *out, size_t at, uint32_t value)
{
    if (!out->failed)
        memcpy(out->bytes + at, &value, sizeof value);
}

/* Room for a u32 that is known later; where it is. */
static size_t skip_u32(struct out *out)
{
    size_t at = out->n;
    for (int i = 0; i < 4; i++)
        put(out, 0);
    return at;
}

/* The ends of a track's longest zones, with their size before them. */
static void put_ends(struct out *out, const struct track *track)
{
    size_t size = skip_u32(out), start = out->n;
    for (uint32_t i = 0; i < track->n_lanes; i++)
        for (uint32_t k = 0; k < track->lanes[i].n; k++) {
            const struct strobe_lod_cell *cell = &track->lanes[i].cells[k];
            if (strobe_lod_has_end(cell->longest, track->shift))
                put(out, strobe_zigzag((int64_t)(cell->end - (cell->bucket << track->shift))));
        }
    put_u32(out, size, (uint32_t)(out->n - start));
}

/* The ends of all tracks go behind the lanes of all tracks, and their size behind them. */
static void append_ends(struct out *out, struct out *ends)
{
    out->failed |= ends->failed;
    if (!out->failed && STROBE_ARRAY_RESERVE(out->bytes, out->room, out->n + ends->n + 4ull))
        out->failed = true;
    if (!out->failed) {
        uint32_t size = (uint32_t)ends->n;
        if (size)
            memcpy(out->bytes + out->n, ends->bytes, size);
        memcpy(out->bytes + out->n + ends->n, &size, sizeof size);
        out->n += ends->n + sizeof size;
    }
    free(ends->bytes);
}

static void put_lanes(struct out *out, const struct track *track)
{
    STROBE_ASSERT(track->n_lanes <= STROBE_LOD_DEPTHS && track->shift < 64);
    uint64_t base = track->first_tick >> track->shift;
    put(out, track->shift);
    put(out, track->n_lanes);
    for (uint32_t i = 0; i < track->n_lanes; i++) {
        const struct lane *lane = &track->lanes[i];
        uint64_t last = base;
        put(out, lane->n);
        for (uint32_t k = 0; k < lane->n; k++) {
            const struct strobe_lod_cell *cell = &lane->cells[k];
            put(out, strobe_zigzag((int64_t)(cell->bucket - last)));
            put(out, cell->count);
            put(out, cell->busy);
            put(out, cell->longest);
            put(out, cell->loc);
            last = cell->bucket;
        }
    }
}

static void put_track(struct out *out, const struct track *track, uint32_t fine_shift)
{
    put(out, track->proc);
    put(out, track->track);
    put(out, track->n_parts);
    put(out, track->n_events);
    put(out, track->n_zones);
    put(out, track->first_tick);
    put(out, strobe_zigzag((int64_t)(track->last_tick - track->first_tick)));
    put(out, track->low);
    put(out, track->depth);
    put(out, track->n_open);
    for (uint32_t i = 0; i < track->n_open; i++) {
        put(out, track->open[i].loc);
        put(out, strobe_zigzag((int64_t)(track->last_tick - track->open[i].begin)));
    }
    put(out, fine_shift);
}

static void put_masks(const struct strobe_lod *lod, struct out *out)
{
    uint64_t last = lod->first_offset;
    put(out, lod->n_masks);
    for (uint32_t i = 0; i < lod->n_masks; i++) {
        put(out, lod->masks[i].offset - last);
        put(out, lod->masks[i].kinds);
        last = lod->masks[i].offset;
    }
}

enum strobe_err strobe_lod_write(struct strobe_lod *lod, uint8_t **head, size_t *n_head,
                                 uint8_t **body, size_t *n_body, uint32_t *n_tracks)
{
    struct out to_head = {0}, to_body = {0}, head_ends = {0}, body_ends = {0};
    if (lod->spoilt || !lod->n_blocks)
        return STROBE_ERR_END;
    put(&to_head, lod->first_offset);
    put(&to_head, lod->n_blocks);
    put_masks(lod, &to_head);
    put(&to_head, lod->n_tracks);
    for (uint32_t i = 0; i < lod->n_tracks; i++) {
        struct track *track = &lod->tracks[i];
        uint32_t fine_shift = track->shift;
        put_lanes(&to_body, track);
        put_ends(&body_ends, track);
        while (fullest_lane(track) > STROBE_LOD_COARSE_CELLS)
            coarsen(lod, track);
        put_track(&to_head, track, fine_shift);
        put_lanes(&to_head, track);
        put_ends(&head_ends, track);
    }
    append_ends(&to_head, &head_ends);
    append_ends(&to_body, &body_ends);
    *n_tracks = lod->n_tracks;
    *head = to_head.bytes;
    *n_head = to_head.n;
    *body = to_body.bytes;
    *n_body = to_body.n;
    if (!to_head.failed && !to_body.failed && to_head.n < STROBE_FILE_MAX_PAYLOAD &&
        to_body.n < STROBE_FILE_MAX_PAYLOAD)
        return STROBE_OK;
    free(to_head.bytes);
    free(to_body.bytes);
    return STROBE_ERR_NOMEM;
}
