/* power_writer.c - writes a trace of many small blocks by the real encoder and writer, and syncs it now and then.
 *
 *     power_writer OUT N_BLOCKS SEED
 *
 * Three tracks by turns, a few zones each; names shortly before their use; losses in the reserved ledger, the count of which
 * says how often it was written. For test_power.py, with power_log.c preloaded.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/file_write.h"
#include "wire/ring_layout.h"

enum { N_TRACKS = 3, LEDGER_RECORDS = 200 }; /* a slot of several sectors */

struct maker {
    struct strobe_file_writer *writer;
    struct strobe_encoder enc;
    struct strobe_records records;
    struct strobe_track tracks[N_TRACKS + 1];
    uint64_t pos[N_TRACKS + 1];
    uint64_t tick, state, n_locs, n_ledgers;
};

static void must(enum strobe_err err)
{
    if (err) {
        fprintf(stderr, "power_writer: %s\n", strobe_err_text(err));
        exit(1);
    }
}

static uint64_t next(struct maker *m, uint64_t below)
{
    m->state ^= m->state << 13;
    m->state ^= m->state >> 7;
    m->state ^= m->state << 17;
    return (m->state >> 11) % below;
}

static void put_text(struct maker *m, const char *text)
{
    strobe_records_s(&m->records, text, strlen(text));
}

static void begin(struct maker *m, uint32_t kind, const uint64_t *numbers, size_t n)
{
    strobe_records_begin(&m->records, kind);
    for (size_t i = 0; i < n; i++)
        strobe_records_u(&m->records, numbers[i]);
}

static void describe(struct maker *m)
{
    const uint64_t recording[] = {m->tick, 0},
                   sync[] = {1, m->tick, 50000, 1700000000000050000ull, 30, 0};
    begin(m, STROBE_META_PROCESS, (const uint64_t[]){1, 4242, 1, 99}, 4);
    put_text(m, "/usr/bin/synthetic");
    put_text(m, "/tmp");
    put_text(m, "synthetic");
    strobe_records_end(&m->records);
    for (uint64_t i = 1; i <= N_TRACKS; i++) {
        begin(m, STROBE_META_THREAD, (const uint64_t[]){1, i, 4242 + i, m->tick}, 4);
        put_text(m, "worker");
        strobe_records_end(&m->records);
    }
    strobe_records_numbers(&m->records, STROBE_FACT_RECORDING, recording, 2);
    strobe_records_numbers(&m->records, STROBE_FACT_CLOCK_SYNC, sync, 6);
    strobe_file_count(m->writer, 1, N_TRACKS);
}

static uint64_t name_loc(struct maker *m)
{
    char name[32];
    begin(m, STROBE_META_LOC, (const uint64_t[]){1, ++m->n_locs, 10 * m->n_locs, 0}, 4);
    put_text(m, "function");
    put_text(m, "file.c");
    snprintf(name, sizeof name, "zone %d", (int)m->n_locs);
    put_text(m, name);
    strobe_records_end(&m->records);
    return m->n_locs;
}

static void put_block(struct maker *m)
{
    uint64_t track = 1 + next(m, N_TRACKS), loc = m->n_locs ? 1 + next(m, m->n_locs) : 1;
    if (!m->n_locs || next(m, 8) == 0)
        loc = name_loc(m);
    must(strobe_file_put_records(m->writer, &m->records));
    uint64_t first = m->pos[track], n = 1 + next(m, 5);
    strobe_encode_begin_part(&m->enc, &m->tracks[track], 1, track, first);
    for (uint64_t i = 0; i < n; i++) {
        strobe_encode_zone_begin(&m->enc, m->tick += 1 + next(m, 1000), loc);
        strobe_encode_zone_end(&m->enc, m->tick += 1 + next(m, 100000), loc);
    }
    m->pos[track] += 2 * n;
    strobe_encode_end_part(&m->enc, 2 * n);
    must(strobe_file_put_events(m->writer, &m->enc));
}

static void put_ledger(struct maker *m)
{
    struct strobe_records losses = {0};
    const uint64_t loss[] = {1, 1, 3 /* disk */, ++m->n_ledgers, m->tick, m->tick};
    for (int i = 0; i < LEDGER_RECORDS; i++)
        strobe_records_numbers(&losses, STROBE_FACT_LOSS, loss, 6);
    must(strobe_file_put_ledger(m->writer, &losses));
    strobe_records_free(&losses);
}

int main(int argc, char **argv)
{
    static struct maker m = {.tick = 1000};
    if (argc != 4)
        return 2;
    m.state = strtoull(argv[3], NULL, 10) * 0x9e3779b97f4a7c15ull + 1;
    must(strobe_file_create(argv[1], "", 1000000000, &m.writer));
    must(strobe_encode_init(&m.enc));
    describe(&m);
    for (int i = 0; i < atoi(argv[2]); i++) {
        put_block(&m);
        if (next(&m, 12) == 0)
            put_ledger(&m);
        if (next(&m, 24) == 0)
            must(strobe_file_sync(m.writer));
    }
    const uint64_t last[] = {1, m.tick, 50000 + (m.tick - 1000) / 3, 1700000000000050000ull, 30, 0};
    strobe_records_numbers(&m.records, STROBE_FACT_CLOCK_SYNC, last, 6);
    must(strobe_file_put_records(m.writer, &m.records));
    return strobe_file_finish(m.writer) != STROBE_OK;
}
