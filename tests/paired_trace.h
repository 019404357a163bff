/* paired_trace.h - events of fibers, spans and GPU contexts, for tests and measurements: random, the same for the same seed, over two
 * threads by turns, 1 ns a tick. Written by the real encoder and writer.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_PAIRED_TRACE_H
#define STROBE_TESTS_PAIRED_TRACE_H

#include <stdlib.h>
#include <string.h>

#include "file/file_write.h"
#include "wire/ring_layout.h"

enum {
    PAIRED_LOCS = 9,
    PAIRED_FIBERS = 3,
    PAIRED_DEPTH = 6,
    PAIRED_SPANS = 40,
    PAIRED_PART = 4096
};

struct paired_trace {
    struct strobe_file_writer *writer; /* borrowed */
    struct strobe_encoder enc;
    struct strobe_track tracks[3];
    uint64_t pos[3], part_pos;
    uint64_t tick, state;
    uint64_t stack[PAIRED_FIBERS + 1][PAIRED_DEPTH]; /* locations of open zones */
    uint32_t depth[PAIRED_FIBERS + 1];
    uint8_t open_span[PAIRED_SPANS];
    uint64_t query;
    int is_odd; /* with ends that are missing, notes, zones of no length */
};

static inline uint64_t paired_random(struct paired_trace *t)
{
    t->state ^= t->state << 13;
    t->state ^= t->state >> 7;
    t->state ^= t->state << 17;
    return t->state >> 11;
}

static inline void paired_number(struct strobe_records *records, uint32_t kind,
                                 const uint64_t *numbers, size_t n, const char *text)
{
    strobe_records_begin(records, kind);
    for (size_t i = 0; i < n; i++)
        strobe_records_u(records, numbers[i]);
    if (text)
        strobe_records_s(records, text, strlen(text));
    strobe_records_end(records);
}

/* The names that the events need. */
static inline int paired_start(struct paired_trace *t, struct strobe_file_writer *writer,
                               uint64_t seed)
{
    struct strobe_records records = {0};
    char name[] = "zone 1";
    memset(t, 0, sizeof *t);
    t->writer = writer;
    t->state = 88172645463325252ull + seed;
    t->tick = 1000;
    strobe_records_begin(&records, STROBE_META_PROCESS);
    for (size_t i = 0; i < 4; i++)
        strobe_records_u(&records, (const uint64_t[]){1, 4242, 1, 99}[i]);
    strobe_records_s(&records, "/usr/bin/paired", 15);
    strobe_records_s(&records, "/", 1);
    strobe_records_s(&records, "paired", 6);
    strobe_records_end(&records);
    for (uint64_t i = 1; i <= 2; i++)
        paired_number(&records, STROBE_META_THREAD, (const uint64_t[]){1, i, 4241 + i, 1000}, 4,
                      "thread");
    for (uint64_t i = 1; i <= PAIRED_LOCS; i++) {
        name[5] = (char)('0' + i);
        strobe_records_begin(&records, STROBE_META_LOC);
        for (size_t k = 0; k < 4; k++)
            strobe_records_u(&records, (const uint64_t[]){1, i, i, 0}[k]);
        strobe_records_s(&records, "f", 1);
        strobe_records_s(&records, "f.c", 3);
        strobe_records_s(&records, name, 6);
        strobe_records_end(&records);
    }
    for (uint64_t i = 1; i <= 2; i++) {
        strobe_records_begin(&records, STROBE_META_GPU_CONTEXT);
        for (size_t k = 0; k < 6; k++) /* proc, context, type, calibrated, tid, host */
            strobe_records_u(&records, (const uint64_t[]){1, i, 2, 0, i == 1 ? 4242 : 0, 0}[k]);
        strobe_records_u(&records, 0); /* time */
        strobe_records_raw(&records, (const uint8_t *)&(const double){1}, sizeof(double));
        strobe_records_end(&records);
    }
    paired_number(&records, STROBE_FACT_RECORDING, (const uint64_t[]){0, 0}, 2, NULL);
    paired_number(&records, STROBE_FACT_CLOCK_SYNC,
                  (const uint64_t[]){STROBE_CLOCK_MONO, 0, 0, 1700000000000000000ull, 0, 0}, 6,
                  NULL);
    strobe_records_begin(&records, STROBE_FACT_HOST);
    for (int i = 0; i < 3; i++)
        strobe_records_s(&records, "elsewhere", 9);
    strobe_records_end(&records);
    int ok = !strobe_file_put_records(writer, &records) && !strobe_encode_init(&t->enc);
    strobe_records_free(&records);
    return ok;
}

static inline void paired_event(struct paired_trace *t, uint64_t track, enum strobe_kind kind,
                                const uint64_t *numbers, size_t n)
{
    uint8_t bytes[8 * STROBE_VARINT_MAX], *at = bytes;
    for (size_t i = 0; i < n; i++)
        at = strobe_varint_put(at, numbers[i]);
    strobe_encode_event(&t->enc, t->tick, kind, bytes, (size_t)(at - bytes));
    t->pos[track]++;
}

static inline void paired_zone(struct paired_trace *t, uint64_t track, uint64_t loc, int is_begin)
{
    if (is_begin)
        strobe_encode_zone_begin(&t->enc, t->tick, loc);
    else
        strobe_encode_zone_end(&t->enc, t->tick, loc);
    t->pos[track]++;
}

/* One event of the fiber that the thread runs. Zones that ended. */
static inline uint64_t paired_fiber_event(struct paired_trace *t, uint64_t track, uint32_t fiber)
{
    uint64_t r = paired_random(t), *stack = t->stack[fiber];
    if (t->is_odd && t->depth[fiber] && r % 16 == 0)
        paired_event(t, track, STROBE_KIND_ZONE_VALUE, (const uint64_t[]){r % 1000}, 1);
    if (t->is_odd && t->depth[fiber] > 1 && r % 97 == 0)
        t->depth[fiber]--; /* its end is missing */
    if (t->depth[fiber] == PAIRED_DEPTH || (t->depth[fiber] && r >> 20 & 1)) {
        paired_zone(t, track, stack[--t->depth[fiber]], 0);
        return 1;
    }
    stack[t->depth[fiber]] = 1 + (r >> 24) % PAIRED_LOCS;
    paired_zone(t, track, stack[t->depth[fiber]++], 1);
    return 0;
}

static inline uint64_t paired_span_event(struct paired_trace *t, uint64_t track)
{
    uint64_t r = paired_random(t), span = r % PAIRED_SPANS;
    int was_open = t->open_span[span];
    t->open_span[span] = !was_open || (t->is_odd && r % 89 == 0);
    if (t->open_span[span])
        paired_event(t, track, STROBE_KIND_SPAN_BEGIN,
                     (const uint64_t[]){span + 1, 1 + (r >> 20) % PAIRED_LOCS}, 2);
    else
        paired_event(t, track, STROBE_KIND_SPAN_END, (const uint64_t[]){span + 1}, 1);
    return !t->open_span[span];
}

/* A zone of a GPU context, with one inside, and their times, which come later. Zones that ended. */
static inline uint64_t paired_gpu_events(struct paired_trace *t, uint64_t track, int is_mixed)
{
    uint64_t r = paired_random(t), context = is_mixed ? 1 + (r & 1) : track,
             tid = context == 1 ? 0 : 4242 + (r >> 1 & 1);
    uint64_t q = t->query, loc = 1 + (r >> 20) % PAIRED_LOCS;
    t->query = (t->query + 4) % 1024;
    for (uint64_t i = 0; i < 2; i++, t->tick++)
        paired_event(t, track, STROBE_KIND_GPU_BEGIN,
                     (const uint64_t[]){context, q + i, tid, (loc + i) % PAIRED_LOCS + 1}, 4);
    for (uint64_t i = 2; i < 4; i++, t->tick++)
        paired_event(t, track, STROBE_KIND_GPU_END, (const uint64_t[]){context, q + i, tid}, 3);
    uint64_t late = t->tick + r % 50, times[4] = {late, late + 5, late + 5 + r % 30, late + 40};
    for (uint64_t i = 0; i < 4; i++) {
        if (t->is_odd && r >> 30 & 1 && (r >> (32 + i)) % 64 == 0)
            continue; /* the GPU never says */
        paired_event(t, track, STROBE_KIND_GPU_TIME,
                     (const uint64_t[]){context, q + i, strobe_zigzag((int64_t)times[i])}, 3);
    }
    t->tick += 40;
    return 2;
}

/* A part of one thread: zones of its own ('t': of the first), fibers ('f'), spans ('s'), GPU zones ('g': contexts of both threads, 'G': one each). Zones that ended. */
static inline uint64_t paired_part(struct paired_trace *t, uint64_t track, char kind)
{
    uint64_t n = 0;
    uint32_t fiber = kind == 'f' ? 1 + (uint32_t)(paired_random(t) % PAIRED_FIBERS) : 0;
    t->part_pos = t->pos[track];
    strobe_encode_begin_part(&t->enc, &t->tracks[track], 1, track, t->part_pos);
    if (fiber)
        paired_event(t, track, STROBE_KIND_FIBER_ENTER, (const uint64_t[]){fiber}, 1);
    while (t->pos[track] - t->part_pos < PAIRED_PART) {
        t->tick += t->is_odd && paired_random(t) % 8 == 0 ? 0 : 1 + paired_random(t) % 60;
        n += kind == 'f' || kind == 't' ? paired_fiber_event(t, track, fiber)
             : kind == 's'              ? paired_span_event(t, track)
                                        : paired_gpu_events(t, track, kind == 'g');
    }
    if (fiber)
        paired_event(t, track, STROBE_KIND_FIBER_LEAVE, NULL, 0);
    strobe_encode_end_part(&t->enc, t->pos[track] - t->part_pos);
    return n;
}

/* Parts until so many zones ended. 0: they could not be written. */
static inline int paired_fill(struct paired_trace *t, const char *kinds, uint64_t n_zones)
{
    size_t n_kinds = strlen(kinds);
    uint64_t n = 0;
    for (uint64_t i = 0; n < n_zones; i++) {
        uint64_t track = 1 + (paired_random(t) & 1);
        n += paired_part(t, kinds[i % n_kinds] == 't' ? 1 : track, kinds[i % n_kinds]);
        if (t->enc.n_events + 2 * PAIRED_PART > STROBE_BLOCK_EVENTS_MAX &&
            strobe_file_put_events(t->writer, &t->enc))
            return 0;
    }
    return !strobe_file_put_events(t->writer, &t->enc);
}

static inline void paired_free(struct paired_trace *t)
{
    strobe_encode_free(&t->enc);
    for (int i = 0; i < 3; i++)
        strobe_track_free(&t->tracks[i]);
}

#endif
