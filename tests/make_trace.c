/* make_trace.c - large traces for measurements: make_trace OUT ZONES [THREADS [LOCS [DEPTH [CORES [SEED [SLOW]]]]]].
 * Zones nest three deep with random durations, 3 ticks per ns; written by the real encoder and
 * writer. With DEPTH, as a recorder would see a program at work: parts of 8,184 words, the threads by turns, zones that
 * nest so deep below one that never ends, phases of different locations. With CORES, as on so many of them: threads run for
 * a while, then others do, so that what was open goes on for long; the first thread marks frames. Another SEED is another run
 * of the same program. With SLOW, and a DEPTH of 0, each "zone 3" takes so many ticks more. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/file_write.h"
#include "wire/ring_layout.h"

enum { MAX_THREADS = 64, FRAME = 1, SLOW_LOC = 3 };

static uint64_t slow_ticks; /* that each zone of SLOW_LOC takes more */

struct producer {
    struct strobe_track track;
    uint64_t tick, pos, state;
    uint64_t until; /* when it has to wait for a core */
    uint32_t depth;
    uint64_t open[64];
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void put_names(struct strobe_file_writer *writer, uint64_t n_threads, uint64_t n_locs)
{
    struct strobe_records records = {0};
    char text[64];
    strobe_records_begin(&records, STROBE_META_PROCESS);
    const uint64_t process[] = {1, 4242, 1, 99};
    for (size_t i = 0; i < 4; i++)
        strobe_records_u(&records, process[i]);
    strobe_records_s(&records, "/usr/bin/synthetic", 18);
    strobe_records_s(&records, "/tmp", 4);
    strobe_records_s(&records, "synthetic\0--fast", 16);
    strobe_records_end(&records);
    for (uint64_t i = 1; i <= n_threads; i++) {
        const uint64_t thread[] = {1, i, 4242 + i, 1000};
        strobe_records_begin(&records, STROBE_META_THREAD);
        for (size_t k = 0; k < 4; k++)
            strobe_records_u(&records, thread[k]);
        strobe_records_s(&records, text, (size_t)sprintf(text, "worker %d", (int)i));
        strobe_records_end(&records);
    }
    for (uint64_t i = 1; i <= n_locs; i++) {
        const uint64_t loc[] = {1, i, 10 * i, 0};
        strobe_records_begin(&records, STROBE_META_LOC);
        for (size_t k = 0; k < 4; k++)
            strobe_records_u(&records, loc[k]);
        strobe_records_s(&records, text, (size_t)sprintf(text, "function_%d", (int)i));
        strobe_records_s(&records, "src/engine/worker.cpp", 21);
        strobe_records_s(&records, text, (size_t)sprintf(text, "zone %d", (int)i));
        strobe_records_end(&records);
        if (records.n_bytes > 1 << 20)
            strobe_file_put_records(writer, &records);
    }
    strobe_records_begin(&records, STROBE_META_STRING);
    const uint64_t frame[] = {1, FRAME};
    for (size_t i = 0; i < 2; i++)
        strobe_records_u(&records, frame[i]);
    strobe_records_s(&records, "frame", 5);
    strobe_records_end(&records);
    const uint64_t recording[] = {1000, 0},
                   sync[] = {1, 1000, 50000, 1700000000000050000ull, 30, 0};
    strobe_records_numbers(&records, STROBE_FACT_RECORDING, recording, 2);
    strobe_records_numbers(&records, STROBE_FACT_CLOCK_SYNC, sync, 6);
    strobe_file_put_records(writer, &records);
    strobe_records_free(&records);
}

static void put_last_sync(struct strobe_file_writer *writer, uint64_t tick)
{
    struct strobe_records records = {0};
    const uint64_t mono = 50000 + (tick - 1000) / 3;
    const uint64_t sync[] = {1, tick, mono, 1700000000000000000ull + mono, 30, 0};
    const uint64_t end[] = {1, tick, 1, 0};
    strobe_records_numbers(&records, STROBE_FACT_CLOCK_SYNC, sync, 6);
    strobe_records_numbers(&records, STROBE_FACT_PROCESS_END, end, 4);
    strobe_file_put_records(writer, &records);
    strobe_records_free(&records);
}

/* One event; 1 if it ended a zone. */
static int emit(struct strobe_encoder *enc, struct producer *p, uint64_t n_locs)
{
    uint64_t r = next_random(&p->state);
    p->tick += 40 + (r & 255) * (1 + (r >> 8 & 7));
    p->pos++;
    if (p->depth == 3 || (p->depth && r >> 20 & 1)) {
        p->tick += p->open[p->depth - 1] == SLOW_LOC ? slow_ticks : 0;
        strobe_encode_zone_end(enc, p->tick, p->open[--p->depth]);
        return 1;
    }
    p->open[p->depth] = 1 + (r >> 24) % n_locs;
    strobe_encode_zone_begin(enc, p->tick, p->open[p->depth++]);
    return 0;
}

/* One block full of a thread's events; the zones that ended. */
static uint64_t fill_block(struct strobe_encoder *enc, struct producer *p, uint64_t track,
                           uint64_t n_locs, uint64_t want)
{
    uint64_t first = p->pos, n_ended = 0;
    strobe_encode_begin_part(enc, &p->track, 1, track, p->pos);
    while (!strobe_encode_is_full(enc) && n_ended < want)
        n_ended += (uint64_t)emit(enc, p, n_locs);
    while (!strobe_encode_is_full(enc) && n_ended == want && p->depth) {
        p->tick += 50;
        p->pos++;
        strobe_encode_zone_end(enc, p->tick, p->open[--p->depth]);
    }
    strobe_encode_end_part(enc, p->pos - first);
    return n_ended;
}

enum { PART_WORDS = 8184 };

/* One event of a program at work: outer zones are longer, locations depend on the depth and on the phase. */
static uint64_t work(struct strobe_encoder *enc, struct producer *p, uint64_t n_locs,
                     uint32_t deepest)
{
    uint64_t r = next_random(&p->state);
    p->tick += 60 + (r & 255) + (p->depth < 3 ? r >> 8 & 4095 : 0);
    p->pos++;
    if (p->depth == deepest || (p->depth > 1 && (r >> 20) % (p->depth + 4) < p->depth)) {
        strobe_encode_zone_end(enc, p->tick, p->open[--p->depth]);
        return 1;
    }
    uint64_t per_depth = n_locs / deepest ? n_locs / deepest : 1, phase = p->tick >> 32;
    uint64_t loc = p->depth ? p->depth * per_depth + (phase * 7 + (r >> 40) % 12) % per_depth : 0;
    p->open[p->depth] = 1 + loc % n_locs;
    strobe_encode_zone_begin(enc, p->tick, p->open[p->depth++]);
    return 0;
}

enum { TURN = 300000 }; /* ticks */

/* Its turn is over: the others have theirs, now and then for long. */
static void wait_for_core(struct producer *p, uint64_t n_others, uint64_t n_cores)
{
    uint64_t r = next_random(&p->state), turns = r % 50 ? 1 : 1 + (r >> 8) % 40;
    if (p->tick < p->until)
        return;
    if (p->until)
        p->tick += turns * n_others * (TURN + (r >> 16) % (3 * TURN)) / n_cores;
    p->until = p->tick + TURN + (r >> 32) % (3 * TURN);
}

/* Some frames are short, some long: they are so many events. */
static void mark_frame(struct strobe_encoder *enc, struct producer *p)
{
    uint8_t name = FRAME;
    strobe_encode_event(enc, p->tick, STROBE_KIND_FRAME_MARK, &name, 1);
}

/* A part of one thread; the zones that ended. The block is written when it is full. */
static uint64_t work_part(struct strobe_file_writer *writer, struct strobe_encoder *enc,
                          struct producer *p, uint64_t track, uint64_t n_locs, uint32_t deepest,
                          uint64_t n_others, uint64_t n_cores)
{
    uint64_t first = p->pos, n_ended = 0;
    if (enc->n_events + PART_WORDS > STROBE_BLOCK_EVENTS_MAX && strobe_file_put_events(writer, enc))
        exit(1);
    strobe_encode_begin_part(enc, &p->track, 1, track, p->pos);
    for (int i = 0; i < PART_WORDS; i++) {
        n_ended += work(enc, p, n_locs, deepest);
        if (n_cores)
            wait_for_core(p, n_others, n_cores);
        if (n_cores && track == 1 && p->pos % 997 == 0 && ++i < PART_WORDS) {
            p->pos++;
            mark_frame(enc, p);
        }
    }
    strobe_encode_end_part(enc, p->pos - first);
    return n_ended;
}

static struct producer *earliest(struct producer *producers, uint64_t n)
{
    struct producer *found = producers;
    for (uint64_t i = 1; i < n; i++)
        found = producers[i].tick < found->tick ? &producers[i] : found;
    return found;
}

int main(int argc, char **argv)
{
    static struct producer producers[MAX_THREADS];
    struct strobe_file_writer *writer;
    struct strobe_encoder enc;
    if (argc < 3) {
        fprintf(stderr,
                "usage: make_trace OUT ZONES [THREADS [LOCS [DEPTH [CORES [SEED [SLOW]]]]]]\n");
        return 2;
    }
    uint64_t n_zones = strtoull(argv[2], NULL, 10), n_made = 0, last = 0;
    uint64_t n_threads = argc > 3 ? strtoull(argv[3], NULL, 10) : 4;
    uint64_t n_locs = argc > 4 ? strtoull(argv[4], NULL, 10) : 20;
    if (n_threads < 1 || n_threads > MAX_THREADS || !n_locs || strobe_encode_init(&enc) ||
        strobe_file_create(argv[1], "/run/synthetic", 1000000000, &writer))
        return 1;
    put_names(writer, n_threads, n_locs);
    uint64_t seed = argc > 7 ? strtoull(argv[7], NULL, 10) : 0;
    slow_ticks = argc > 8 ? strtoull(argv[8], NULL, 10) : 0;
    for (uint64_t i = 0; i < n_threads; i++)
        producers[i] =
            (struct producer){.tick = 2000 + i, .state = 88172645463325252ull + i + (seed << 32)};
    uint32_t deepest = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 0;
    deepest = deepest < 60 ? deepest : 60;
    uint64_t n_cores = argc > 6 ? strtoull(argv[6], NULL, 10) : 0;
    while (deepest && n_made < n_zones) {
        struct producer *p = earliest(producers, n_threads);
        n_made += work_part(writer, &enc, p, 1 + (uint64_t)(p - producers), n_locs, deepest,
                            n_threads - 1, n_cores);
        last = p->tick > last ? p->tick : last;
    }
    if (deepest && strobe_file_put_events(writer, &enc))
        return 1;
    for (uint64_t turn = 0; n_made < n_zones; turn++) {
        struct producer *p = &producers[turn % n_threads];
        n_made += fill_block(&enc, p, 1 + turn % n_threads, n_locs, n_zones - n_made);
        last = p->tick > last ? p->tick : last;
        if (strobe_file_put_events(writer, &enc))
            return 1;
    }
    strobe_file_totals(writer)->n_procs = 1;
    strobe_file_totals(writer)->n_threads = n_threads;
    put_last_sync(writer, last);
    strobe_encode_free(&enc);
    for (uint64_t i = 0; i < n_threads; i++)
        strobe_track_free(&producers[i].track);
    return strobe_file_finish(writer) != STROBE_OK;
}
