/* classic.c - marker words, one by one and paired. Rules: docs/device-protocol.md, "Classic words".
 * SPDX-License-Identifier: MIT */
#include "device/classic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

/* Words behind H and L. */
static size_t more_words(uint32_t packet)
{
    return packet == STROBE_CP_DATA ? 2 : packet == STROBE_CP_DATA_16 ? 4 : 0;
}

static uint64_t time_of(const uint32_t *words)
{
    return (uint64_t)STROBE_CM_TIME_HIGH(words[0]) << 32 | words[1];
}

/* H and L that carry nothing: padding, or a guaranteed slot that was not written. */
static bool is_empty(const uint32_t *words)
{
    return words[0] == STROBE_CM_PAD_H && (words[1] == 0 || words[1] == STROBE_CM_UNUSED);
}

/* The run that markers belong to. */
struct run {
    uint32_t id_high, program;
    uint64_t first_time;
    bool has_time;
    size_t totals_from; /* markers from here on may be TOTALs that wait for a time */
};

/* A time for the TOTALs that came before the run's first zone marker. */
static void set_first_time(struct run *run, struct strobe_device_marker *markers, size_t n,
                           uint64_t time)
{
    run->first_time = time;
    run->has_time = true;
    for (size_t i = run->totals_from; i < n; i++)
        if (markers[i].packet == STROBE_CP_ZONE_TOTAL)
            markers[i].time = time;
}

static void stamp(struct strobe_device_marker *marker, const struct run *run)
{
    marker->program = run->program;
    marker->risc = run->id_high & 0x1f;
    marker->flat_id = run->id_high >> 5 & 0xff;
    marker->trace_counter = run->id_high >> 13 & 0xffff;
}

/* One marker at words[0]; n are there. Returns its words, 0: it is none. */
static size_t decode(const uint32_t *words, size_t n, struct strobe_device_marker *out)
{
    uint32_t packet = STROBE_CM_PACKET(words[0]);
    size_t more = more_words(packet);
    if (packet > STROBE_CP_DATA_16 || n < 2 + more)
        return 0;
    *out = (struct strobe_device_marker){
        .time = time_of(words), .id = STROBE_CM_ID(words[0]), .packet = (uint8_t)packet};
    if (packet == STROBE_CP_ZONE_TOTAL)
        out->data = words[1];
    if (more)
        out->data = (uint64_t)words[2] << 32 | words[3];
    if (more == 4)
        out->data_two = (uint64_t)words[4] << 32 | words[5];
    return 2 + more;
}

size_t strobe_device_classic_markers(const uint32_t *words, size_t n_words,
                                     struct strobe_device_marker *out, uint64_t *n_bad)
{
    struct run run = {0};
    size_t n = 0, at = 0, n_runs = 0;
    while (n_words - at >= 2) {
        const uint32_t *here = words + at;
        if (!(here[0] >> 31)) { /* no marker: 0, 0 of a run's begin, or its ids */
            if (here[0] | here[1]) {
                run = (struct run){here[0], here[1], 0, false, n_runs ? n : 0};
                for (size_t i = 0; !n_runs && i < n; i++)
                    stamp(&out[i], &run); /* data before the first run */
                n_runs++;
            }
            at += 2;
            continue;
        }
        if (is_empty(here)) {
            at += 2;
            continue;
        }
        size_t length = decode(here, n_words - at, &out[n]);
        if (!length) {
            (*n_bad)++;
            at += 2;
            continue;
        }
        STROBE_ASSERT(n < n_words / 2 && at + length <= n_words);
        at += length;
        stamp(&out[n], &run);
        if (out[n].packet <= STROBE_CP_ZONE_END && !run.has_time)
            set_first_time(&run, out, n, out[n].time);
        if (out[n].packet == STROBE_CP_ZONE_TOTAL)
            out[n].time = run.first_time;
        n++;
    }
    *n_bad += n_words - at;
    return n;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_identity(const void *left, const void *right)
{
    const struct strobe_device_marker *a = left, *b = right;
    int order = compare(a->time, b->time);
    order = order ? order : compare(a->packet, b->packet);
    order = order ? order : compare(a->id, b->id);
    order = order ? order : compare(a->program, b->program);
    order = order ? order : compare(a->data, b->data);
    return order ? order : compare(a->data_two, b->data_two);
}

/* Stable: a merge sort, bottom up. Without memory the order stays as it is. */
static void sort_by_time(struct strobe_device_marker *markers, size_t n)
{
    STROBE_ASSERT(markers || !n);
    struct strobe_device_marker *copy = n ? malloc(n * sizeof *copy) : NULL;
    for (size_t width = 1; copy && width < n; width *= 2) { /* merge sort, bottom up */
        for (size_t from = 0; from < n; from += 2 * width) {
            size_t middle = from + width < n ? from + width : n;
            size_t end = middle + width < n ? middle + width : n, a = from, b = middle;
            for (size_t i = from; i < end; i++)
                copy[i] = a < middle && (b >= end || markers[a].time <= markers[b].time)
                              ? markers[a++]
                              : markers[b++];
        }
        memcpy(markers, copy, n * sizeof *copy);
    }
    free(copy);
}

size_t strobe_device_classic_order(struct strobe_device_marker *markers, size_t n_markers)
{
    size_t n = 0;
    sort_by_time(markers, n_markers);
    for (size_t i = 0; i < n_markers; i++) {
        bool twice = false;
        /* equal ones have one time, so they lie near; a zone has few markers of one cycle */
        for (size_t back = n;
             !twice && back-- > 0 && markers[back].time == markers[i].time && n - back <= 64;)
            twice = by_identity(&markers[back], &markers[i]) == 0;
        if (!twice)
            markers[n++] = markers[i];
    }
    return n;
}

/* ---- pairs ---- */

/* Zones that are open when their run ends. */
static void end_run(struct strobe_device_pairs *pairs)
{
    pairs->n_unfinished += pairs->n_open + pairs->has_main + pairs->has_child;
    pairs->n_open = 0;
    pairs->has_main = pairs->has_child = false;
}

/* A guaranteed slot: begin and end have their fixed places. Returns the zones, 0 or 1. */
static size_t pair_slot(struct strobe_device_pairs *pairs, const uint32_t *slot, bool child,
                        struct strobe_device_zone *zone)
{
    bool *has = child ? &pairs->has_child : &pairs->has_main;
    *has = !is_empty(slot) && slot[0] >> 31;
    if (!*has)
        return 0;
    uint64_t start = time_of(slot);
    uint16_t id = (uint16_t)STROBE_CM_ID(slot[0]);
    *(child ? &pairs->child_start : &pairs->main_start) = start;
    *(child ? &pairs->child_id : &pairs->main_id) = id;
    if (is_empty(slot + 2) || STROBE_CM_PACKET(slot[2]) != STROBE_CP_ZONE_END)
        return 0;
    *has = false;
    *zone = (struct strobe_device_zone){start, time_of(slot + 2), id, pairs->program};
    return 1;
}

/* Ids of a run, and its guaranteed slots. Returns the words: 10, or as many as there are. */
static size_t begin_run(struct strobe_device_pairs *pairs, const uint32_t *words, size_t n_words,
                        struct strobe_device_zone *zones, size_t *n_zones)
{
    enum { IDS = 2, SLOTS = STROBE_CB_OPTIONAL - STROBE_CB_MAIN_START };
    bool same = pairs->program == words[1]; /* a further piece of one run keeps its open zones */
    if (!same || !pairs->n_open)
        end_run(pairs);
    pairs->program = words[1];
    pairs->n_runs++;
    if (n_words < IDS + SLOTS)
        return IDS;
    *n_zones += pair_slot(pairs, words + IDS, false, zones + *n_zones);
    *n_zones += pair_slot(pairs, words + IDS + 4, true, zones + *n_zones);
    return IDS + SLOTS;
}

/* A marker that the fast loop leaves. Returns its words. */
static size_t skip_marker(struct strobe_device_pairs *pairs, const uint32_t *words, size_t n_words)
{
    size_t more = more_words(STROBE_CM_PACKET(words[0]));
    if (is_empty(words))
        return 2;
    if (STROBE_CM_PACKET(words[0]) > STROBE_CP_DATA_16 || n_words < 2 + more) {
        pairs->n_bad++;
        return 2;
    }
    pairs->n_others++;
    return 2 + more;
}

/* Begins and ends as long as there is nothing else. Returns the words; one zone per four of them at the
 * most, or per two where zones were open before. */
static size_t pair_markers(struct strobe_device_pairs *pairs, const uint32_t *words, size_t n_words,
                           struct strobe_device_zone *zones, size_t room, size_t *n_zones)
{
    uint32_t depth = pairs->n_open, program = pairs->program;
    struct strobe_device_zone *zone = zones, *last = zones + room;
    const uint32_t *at = words, *end = words + (n_words & ~(size_t)1);
    for (; at != end && zone != last; at += 2) {
        uint32_t high = at[0], kind = high >> 28; /* valid bit and packet */
        if (kind == 8) {
            if (is_empty(at) || depth == STROBE_CLASSIC_DEPTH)
                break;
            /* a begin whose end follows is a zone without a detour */
            if (end - at >= 4 && (at[2] ^ high) >> 12 == 1u << 16) {
                *zone++ = (struct strobe_device_zone){time_of(at), time_of(at + 2),
                                                      STROBE_CM_ID(high), program};
                at += 2;
                continue;
            }
            pairs->starts[depth] = time_of(at);
            pairs->ids[depth++] = (uint16_t)STROBE_CM_ID(high);
        } else if (kind == 9 && depth && pairs->ids[depth - 1] == (uint16_t)STROBE_CM_ID(high)) {
            depth--;
            *zone++ = (struct strobe_device_zone){pairs->starts[depth], time_of(at),
                                                  STROBE_CM_ID(high), program};
        } else {
            break;
        }
    }
    STROBE_ASSERT(depth <= STROBE_CLASSIC_DEPTH && zone <= last && at <= end);
    pairs->n_open = depth;
    *n_zones = (size_t)(zone - zones);
    return (size_t)(at - words);
}

/* An end that is not that of the innermost zone: those above its begin lost theirs. */
static size_t odd_end(struct strobe_device_pairs *pairs, const uint32_t *words,
                      struct strobe_device_zone *zone)
{
    uint16_t id = (uint16_t)STROBE_CM_ID(words[0]);
    uint32_t depth = pairs->n_open;
    while (depth && pairs->ids[depth - 1] != id)
        depth--;
    if (!depth) {
        pairs->n_orphans++;
        return 0;
    }
    STROBE_ASSERT(depth <= pairs->n_open && pairs->ids[depth - 1] == id);
    pairs->n_unfinished += pairs->n_open - depth;
    pairs->n_open = depth - 1;
    *zone =
        (struct strobe_device_zone){pairs->starts[depth - 1], time_of(words), id, pairs->program};
    return 1;
}

size_t strobe_device_classic_zones(struct strobe_device_pairs *pairs, const uint32_t *words,
                                   size_t n_words, size_t *n_used, struct strobe_device_zone *zones,
                                   size_t room)
{
    size_t at = 0, n = 0;
    STROBE_ASSERT(room >= 2 && pairs->n_open <= STROBE_CLASSIC_DEPTH);
    while (n_words - at >= 2 && room - n >= 2) {
        const uint32_t *here = words + at;
        size_t left = n_words - at, n_new = 0;
        if (!(here[0] >> 31)) {
            if (here[0] | here[1])
                at += begin_run(pairs, here, left, zones, &n);
            else
                at += 2;
            continue;
        }
        at += pair_markers(pairs, here, left, zones + n, room - n, &n_new);
        n += n_new;
        here = words + at;
        left = n_words - at;
        if (left < 2 || room - n < 2 || !(here[0] >> 31))
            continue;
        if (here[0] >> 28 == 9) {
            n += odd_end(pairs, here, zones + n);
            at += 2;
        } else if (here[0] >> 28 == 8 && !is_empty(here)) { /* too deep */
            pairs->n_unfinished++;
            at += 2;
        } else {
            at += skip_marker(pairs, here, left);
        }
    }
    if (n_words - at == 1)
        at++, pairs->n_bad++;
    STROBE_ASSERT(at <= n_words && n <= room);
    pairs->n_zones += n;
    *n_used = at;
    return n;
}

/* ---- what did not fit ---- */

uint32_t strobe_device_classic_support(const struct strobe_device_full_buffer *full)
{
    uint32_t per_program = full->program_words ? full->program_words : 12;
    return full->needed_words / per_program + (full->needed_words % per_program != 0);
}

void strobe_device_classic_warning(const struct strobe_device_full_buffer *full, char *out,
                                   size_t room)
{
    STROBE_ASSERT(full->risc && room);
    snprintf(out, room,
             "Profiler DRAM buffers were full, markers were dropped! device %u, worker core %u, "
             "%u, Risc %s, bufferEndIndex = %u. Please either decrease the number of ops being "
             "profiled or run read device profiler more often "
             "(TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT=%u would have sufficed)",
             full->device, full->core_yx & 0xffff, full->core_yx >> 16, full->risc, full->end_words,
             strobe_device_classic_support(full));
}
