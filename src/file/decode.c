/* decode.c - parts and streams of EVENTS blocks, summaries.
 * Every number comes from a stranger: lengths are compared with what is left, sums with the
 * format's bounds, before anything is allocated or indexed by them.  SPDX-License-Identifier: MIT
 */
#include "file/decode.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/array.h"
#include "base/assert.h"
#include "file/frame.h"

enum { STREAM_TABLE_BYTES = 8 * STROBE_N_STREAMS };

/* Step over a summary: its length is not stored. */
static void skip_summary(struct strobe_bytes *in)
{
    uint64_t n_rows = strobe_get_varint(in);
    for (uint64_t i = 0; i < n_rows && !in->bad; i++) {
        strobe_bytes_skip_varints(in, 8);
        strobe_bytes_skip_varints(in, 2 * (strobe_get_varint(in) & 0xffff));
    }
    strobe_get_varint(in); /* shift */
    uint64_t n_depths = strobe_get_varint(in);
    if (n_depths > STROBE_LOD_DEPTHS)
        in->bad = 1;
    for (uint64_t i = 0; i < n_depths && !in->bad; i++)
        strobe_bytes_skip_varints(in, 5 * (strobe_get_varint(in) & 0xffff));
}

static enum strobe_err read_stack(struct strobe_bytes *in, struct strobe_events *events,
                                  struct strobe_part *part)
{
    uint64_t n = strobe_get_varint(in);
    if (n > STROBE_DECODE_MAX_ITEMS - events->n_stacks || n > strobe_bytes_left(in))
        return STROBE_ERR_CORRUPT;
    enum strobe_err err =
        STROBE_ARRAY_RESERVE(events->stacks, events->stacks_room, events->n_stacks + n);
    if (err)
        return err;
    STROBE_ASSERT(events->n_stacks + n <= events->stacks_room);
    part->n_stack = (uint32_t)n;
    for (uint64_t i = 0; i < n; i++) {
        struct strobe_part_zone *zone = &events->stacks[events->n_stacks++];
        zone->loc = strobe_get_varint(in);
        zone->begin = part->first_tick - (uint64_t)strobe_get_zigzag(in);
        zone->children_ticks = strobe_get_varint(in);
    }
    return STROBE_OK;
}

static enum strobe_err read_locs(struct strobe_bytes *in, struct strobe_events *events,
                                 struct strobe_part *part)
{
    uint64_t n = strobe_get_varint(in), loc = 0;
    if (n > STROBE_DECODE_MAX_ITEMS - events->n_locs || n > strobe_bytes_left(in))
        return STROBE_ERR_CORRUPT;
    enum strobe_err err = STROBE_ARRAY_RESERVE(events->locs, events->locs_room, events->n_locs + n);
    if (err)
        return err;
    STROBE_ASSERT(events->n_locs + n <= events->locs_room);
    part->n_locs = (uint32_t)n;
    for (uint64_t i = 0; i < n; i++)
        events->locs[events->n_locs++] = loc += (uint64_t)strobe_get_zigzag(in);
    return STROBE_OK;
}

/* Where a part's bytes are in sym, lo, hi, big and side: after those of the parts before. */
struct part_place {
    uint64_t n_events, big, side;
};

static int place_part(struct strobe_part *part, struct part_place *place, uint64_t n_events,
                      uint64_t n_big, uint64_t n_side)
{
    if (n_events > STROBE_BLOCK_EVENTS_MAX - place->n_events ||
        n_big > STROBE_FILE_MAX_PAYLOAD - place->big ||
        n_side > STROBE_FILE_MAX_PAYLOAD - place->side)
        return 0;
    part->first_event = (uint32_t)place->n_events;
    part->n_events = (uint32_t)n_events;
    part->big_at = (uint32_t)place->big;
    part->n_big = (uint32_t)n_big;
    part->side_at = (uint32_t)place->side;
    part->n_side = (uint32_t)n_side;
    place->n_events += n_events;
    place->big += n_big;
    place->side += n_side;
    STROBE_ASSERT(place->n_events <= STROBE_BLOCK_EVENTS_MAX &&
                  place->big <= STROBE_FILE_MAX_PAYLOAD && place->side <= STROBE_FILE_MAX_PAYLOAD);
    return 1;
}

static enum strobe_err read_part(struct strobe_bytes *in, struct strobe_events *events,
                                 struct strobe_part *part, struct part_place *place)
{
    part->head = in->at;
    part->proc = strobe_get_varint(in);
    part->track = strobe_get_varint(in);
    part->pos = strobe_get_varint(in);
    part->n_words = strobe_get_varint(in);
    uint64_t n_events = strobe_get_varint(in);
    part->first_tick = strobe_get_varint(in);
    part->last_tick = part->first_tick + (uint64_t)strobe_get_zigzag(in);
    part->start_early = strobe_get_varint(in);
    part->fiber = strobe_get_varint(in);
    part->n_below = strobe_get_varint(in);
    if (part->n_below > STROBE_FILE_OPEN_MAX)
        return STROBE_ERR_CORRUPT; /* depths, and numbers of depths, fit 32 bits from here on */
    enum strobe_err err = read_stack(in, events, part);
    if (!err)
        err = read_locs(in, events, part);
    if (err)
        return err;
    uint64_t n_big = strobe_get_varint(in);
    uint64_t n_side = strobe_get_varint(in);
    if (!place_part(part, place, n_events, n_big, n_side))
        return STROBE_ERR_CORRUPT;
    uint64_t flags = strobe_get_varint(in);
    part->ends = flags & STROBE_PART_ENDS ? in->at : NULL; /* where they are is known later */
    part->nested = flags & STROBE_PART_NESTED ? in->at : NULL;
    part->knows_nested = (flags & STROBE_PART_KNOWS_NESTED) != 0;
    if (flags & STROBE_PART_SUMMARY) {
        part->summary = in->at;
        skip_summary(in);
        part->n_summary = (uint32_t)(in->at - part->summary);
    }
    STROBE_ASSERT(in->at >= part->head && in->at <= in->end);
    part->n_head = (uint32_t)(in->at - part->head);
    return in->bad ? STROBE_ERR_CORRUPT : STROBE_OK;
}

/* Ends follow the last part, in the order of the parts that have them. */
static int read_ends(struct strobe_bytes *in, struct strobe_events *events, uint32_t n_parts)
{
    for (uint32_t i = 0; i < n_parts; i++) {
        struct strobe_part *part = &events->parts[i];
        if (!part->ends)
            continue;
        const uint8_t *size = strobe_get_bytes(in, 2);
        part->n_ends = size ? size[0] | (uint32_t)size[1] << 8 : 0;
        part->ends = strobe_get_bytes(in, part->n_ends);
        if (in->bad)
            return 0;
    }
    return 1;
}

/* Nested sums follow the ends, likewise. */
static int read_nested(struct strobe_bytes *in, struct strobe_events *events, uint32_t n_parts)
{
    for (uint32_t i = 0; i < n_parts && !in->bad; i++) {
        struct strobe_part *part = &events->parts[i];
        if (!part->nested)
            continue;
        part->nested = in->at;
        uint64_t n = strobe_get_varint(in);
        if (n > strobe_bytes_left(in))
            return 0;
        strobe_bytes_skip_varints(in, 2 * n);
        part->n_nested = (uint32_t)(in->at - part->nested);
    }
    return !in->bad;
}

/* The arrays have stopped moving: let the parts point into them. */
static void set_pointers(struct strobe_events *events)
{
    const struct strobe_part_zone *stack = events->stacks;
    const uint64_t *locs = events->locs;
    for (uint32_t i = 0; i < events->n_parts; i++) {
        events->parts[i].stack = stack;
        events->parts[i].locs = locs;
        stack += events->parts[i].n_stack;
        locs += events->parts[i].n_locs;
    }
    STROBE_ASSERT(stack == events->stacks + events->n_stacks);
    STROBE_ASSERT(locs == events->locs + events->n_locs);
}

static void forget(struct strobe_events *events)
{
    events->n_parts = events->n_events = events->n_stacks = events->n_locs = 0;
    memset(events->stream, 0, sizeof events->stream);
    memset(events->n_stream, 0, sizeof events->n_stream);
}

enum strobe_err strobe_decode_parts(const struct strobe_block *block, struct strobe_events *events)
{
    struct strobe_bytes in = strobe_bytes_over(block->head, block->n_head);
    struct part_place place = {0};
    forget(events);
    uint64_t n_parts = strobe_get_varint(&in);
    if (in.bad || n_parts > STROBE_BLOCK_EVENTS_MAX || n_parts > block->n_head)
        return STROBE_ERR_CORRUPT;
    for (uint64_t i = 0; i < n_parts; i++) {
        enum strobe_err err = STROBE_ARRAY_RESERVE(events->parts, events->parts_room, i + 1);
        if (!err) {
            memset(&events->parts[i], 0, sizeof *events->parts);
            err = read_part(&in, events, &events->parts[i], &place);
        }
        if (err) {
            forget(events);
            return err;
        }
    }
    if (!read_ends(&in, events, (uint32_t)n_parts) ||
        !read_nested(&in, events, (uint32_t)n_parts) ||
        !strobe_block_holds(place.n_events,
                            (uint64_t)block->ref.head.head_bytes + block->ref.head.body_bytes)) {
        forget(events);
        return STROBE_ERR_CORRUPT;
    }
    events->n_parts = (uint32_t)n_parts;
    events->n_events = (uint32_t)place.n_events;
    events->n_stream[STROBE_SYM] = events->n_stream[STROBE_LO] = events->n_stream[STROBE_HI] =
        (uint32_t)place.n_events;
    events->n_stream[STROBE_BIG] = (uint32_t)place.big;
    events->n_stream[STROBE_SIDE] = (uint32_t)place.side;
    set_pointers(events);
    return STROBE_OK;
}

static enum strobe_err open_stream(struct strobe_events *events, uint8_t *out, uint32_t raw,
                                   const uint8_t *stored, uint32_t n_stored)
{
    STROBE_ASSERT(n_stored && (size_t)(out - events->raw) + raw <= events->raw_room);
    if (n_stored == 1) {
        memset(out, stored[0], raw);
        return STROBE_OK;
    }
    return strobe_frame_undo(&events->zstd, out, raw, stored, n_stored);
}

/* The table of sizes must say what the parts say. The columns of the events are bounded by their number, the others by their
 * stored bytes. */
static enum strobe_err check_sizes(const struct strobe_block *block,
                                   const struct strobe_events *events,
                                   uint32_t size[STROBE_N_STREAMS][2])
{
    uint64_t n_raw = 0, n_stored = STREAM_TABLE_BYTES;
    if (!block->body || block->n_body < STREAM_TABLE_BYTES)
        return STROBE_ERR_CORRUPT;
    memcpy(size, block->body, STREAM_TABLE_BYTES);
    for (int i = 0; i < STROBE_N_STREAMS; i++) {
        n_raw += size[i][0];
        n_stored += size[i][1];
        if (size[i][0] != events->n_stream[i] || (size[i][0] && !size[i][1]))
            return STROBE_ERR_CORRUPT;
        if (i >= STROBE_BIG && !strobe_frame_fits(size[i][0], size[i][1]))
            return STROBE_ERR_CORRUPT;
    }
    return n_raw > STROBE_FILE_MAX_PAYLOAD || n_stored > block->n_body ? STROBE_ERR_CORRUPT
                                                                       : STROBE_OK;
}

static enum strobe_err make_raw_room(struct strobe_events *events)
{
    uint64_t want = 0;
    for (int i = 0; i < STROBE_N_STREAMS; i++)
        want += events->n_stream[i];
    return STROBE_ARRAY_RENEW(events->raw, events->raw_room, want);
}

/* hi where it follows from lo: a table, and the events that differ. Every bound is looked at: 256 places, n events. */
static enum strobe_err open_hi_by_lo(uint8_t *out, const uint8_t *lo, uint32_t n,
                                     const uint8_t *stored, uint32_t n_stored)
{
    struct strobe_bytes in = strobe_bytes_over(stored, n_stored);
    uint8_t table[256] = {0};
    uint64_t n_used = strobe_get_varint(&in), at = 0;
    for (uint64_t i = 0; i < n_used && !in.bad; i++) {
        const uint8_t *pair = strobe_get_bytes(&in, 2);
        at += pair ? pair[0] : 0;
        if (!pair || at > 255)
            return STROBE_ERR_CORRUPT;
        table[at] = pair[1];
    }
    for (uint32_t i = 0; i < n; i++)
        out[i] = table[lo[i]];
    uint64_t n_others = strobe_get_varint(&in);
    at = 0;
    for (uint64_t i = 0; i < n_others && !in.bad; i++) {
        uint64_t step = strobe_get_varint(&in);
        const uint8_t *value = strobe_get_bytes(&in, 1);
        if (!value || step >= n - at)
            return STROBE_ERR_CORRUPT;
        out[at += step] = *value;
    }
    return in.bad || strobe_bytes_left(&in) ? STROBE_ERR_CORRUPT : STROBE_OK;
}

enum strobe_err strobe_decode_streams(const struct strobe_block *block, unsigned wanted,
                                      struct strobe_events *events)
{
    uint32_t size[STROBE_N_STREAMS][2];
    enum strobe_err err = check_sizes(block, events, size);
    if (!err)
        err = make_raw_room(events);
    if (err)
        return err;
    const uint8_t *stored = block->body + STREAM_TABLE_BYTES;
    uint8_t *raw = events->raw;
    int is_by_lo = block->ref.head.flags & STROBE_EVENTS_HI_BY_LO && events->n_events;
    if (wanted & 1u << STROBE_HI)
        wanted |= 1u << STROBE_LO;
    for (int i = 0; i < STROBE_N_STREAMS; i++) {
        events->stream[i] = raw;
        if (i == STROBE_HI && is_by_lo) {
            if (wanted & 1u << i)
                err = open_hi_by_lo(raw, events->stream[STROBE_LO], size[i][0], stored, size[i][1]);
        } else if (size[i][0] == size[i][1])
            events->stream[i] = stored;
        else if (wanted & 1u << i)
            err = open_stream(events, raw, size[i][0], stored, size[i][1]);
        if (err)
            return err;
        raw += size[i][0];
        stored += size[i][1];
        STROBE_ASSERT((size_t)(raw - events->raw) <= events->raw_room);
        STROBE_ASSERT(stored <= block->body + block->n_body);
    }
    return STROBE_OK;
}

void strobe_events_free(struct strobe_events *events)
{
    free(events->parts);
    free(events->stacks);
    free(events->locs);
    free(events->raw);
    ZSTD_freeDCtx(events->zstd);
    memset(events, 0, sizeof *events);
}

enum strobe_err strobe_summary_start(const struct strobe_part *part, struct strobe_summary *out)
{
    memset(out, 0, sizeof *out);
    if (!part->summary)
        return STROBE_ERR_NOTFOUND;
    out->in = strobe_bytes_over(part->summary, part->n_summary);
    out->part = part;
    out->n_rows = strobe_get_varint(&out->in);
    return STROBE_OK;
}

enum strobe_err strobe_summary_next(struct strobe_summary *summary, struct strobe_summary_row *out)
{
    struct strobe_bytes *in = &summary->in;
    STROBE_ASSERT(summary->part && summary->n_buckets <= STROBE_HIST_BUCKETS);
    strobe_bytes_skip_varints(in, 2 * (uint64_t)summary->n_buckets);
    summary->n_buckets = 0;
    if (in->bad)
        return STROBE_ERR_CORRUPT;
    if (!summary->n_rows)
        return STROBE_ERR_END;
    summary->n_rows--;
    uint64_t index = strobe_get_varint(in);
    out->count = strobe_get_varint(in);
    out->total_ticks = strobe_get_varint(in);
    out->self_ticks = strobe_get_varint(in);
    out->min_ticks = strobe_get_varint(in);
    out->max_ticks = strobe_get_varint(in);
    out->squares = strobe_get_varint(in);
    out->squares |= (unsigned __int128)strobe_get_varint(in) << 64;
    uint64_t n_buckets = strobe_get_varint(in);
    if (in->bad || index >= summary->part->n_locs || n_buckets > STROBE_HIST_BUCKETS)
        return STROBE_ERR_CORRUPT;
    out->loc_index = (uint32_t)index;
    out->n_buckets = summary->n_buckets = (uint32_t)n_buckets;
    summary->bucket = 0;
    return STROBE_OK;
}

enum strobe_err strobe_summary_bucket(struct strobe_summary *summary, uint32_t *bucket,
                                      uint64_t *count)
{
    if (!summary->n_buckets)
        return STROBE_ERR_END;
    summary->n_buckets--;
    const uint8_t *at = summary->in.at;
    uint64_t step;
    if (strobe_bytes_left(&summary->in) >= 2 && !((at[0] | at[1]) & 0x80)) { /* most are so */
        step = at[0];
        *count = at[1];
        summary->in.at += 2;
    } else {
        step = strobe_get_varint(&summary->in);
        *count = strobe_get_varint(&summary->in);
    }
    if (summary->in.bad || step >= STROBE_HIST_BUCKETS ||
        summary->bucket + step >= STROBE_HIST_BUCKETS)
        return STROBE_ERR_CORRUPT;
    summary->bucket += (uint32_t)step;
    STROBE_ASSERT(summary->bucket < STROBE_HIST_BUCKETS);
    *bucket = summary->bucket;
    return STROBE_OK;
}

void strobe_nested_start(const struct strobe_part *part, struct strobe_nested *out)
{
    *out =
        (struct strobe_nested){.in = strobe_bytes_over(part->nested, part->n_nested), .part = part};
    out->n = part->nested ? strobe_get_varint(&out->in) : 0;
}

enum strobe_err strobe_nested_next(struct strobe_nested *nested, uint32_t *loc_index,
                                   uint64_t *ticks)
{
    STROBE_ASSERT(nested->part);
    if (!nested->n)
        return STROBE_ERR_END;
    nested->n--;
    nested->index += strobe_get_varint(&nested->in);
    *ticks = strobe_get_varint(&nested->in);
    if (nested->in.bad || nested->index >= nested->part->n_locs)
        return STROBE_ERR_CORRUPT;
    *loc_index = (uint32_t)nested->index;
    return STROBE_OK;
}
