/* random_zones.c - random zones through the writer and a relay: FRAMES gets the stream, EXPECTED what was written, as rows of
 * {u32 risc, id, program, 0; u64 start, end}. Decodes them too, scalar and with vectors, and compares.
 *   random_zones N SEED FRAMES EXPECTED [RISCS]
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "collect.h"
#include "native.h"
#include "writer.h"

extern uint64_t native_cycles;
extern uint32_t native_risc;

struct row {
    uint32_t risc, id, program, zero;
    uint64_t start, end;
};

static uint64_t random_state;
static struct row *rows;
static size_t n_rows;
static uint32_t n_riscs = 5;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % below);
}

/* Mostly short, sometimes over 2^16, seldom over 2^32. */
static uint64_t draw_step(void)
{
    uint32_t kind = draw(1000);
    return kind < 950   ? draw(3000)
           : kind < 998 ? draw(200000)
           : kind < 999 ? draw(0x7fffffff)
                        : (1ull << 32) + draw(1000);
}

/* Open up to `depth` levels at random, close them all. */
static void nest(uint32_t program, uint32_t depth)
{
    struct writer_zone zone;
    uint32_t id = draw(1 << 27);
    native_cycles += draw_step();
    writer_open(id, &zone);
    uint64_t start = (uint64_t)zone.high << 32 | zone.low;
    for (uint32_t i = draw(3); depth && i; i--)
        nest(program, depth - 1);
    native_cycles += draw_step();
    writer_close(id, &zone);
    rows[n_rows++] = (struct row){native_risc, id, program, 0, start, native_cycles};
}

static void run_program(uint32_t program, size_t n_zones)
{
    native_core()->program = program;
    for (native_risc = 0; native_risc < n_riscs; native_risc++) {
        writer_begin();
        for (uint32_t i = draw(8); i && n_rows + 64 < n_zones; i--)
            nest(program, 4);
        writer_end();
    }
    if (draw(2))
        native_ship();
}

/* Zones of one RISC come in order; what was written is all there. */
static int compare(bool scalar)
{
    struct collect *all = collect_open_stream(scalar);
    size_t used, next[5] = {0}, wrong = 0, n_stalls = 0;
    strobe_device_stream_feed(all->stream, native_frames, native_n_words, &used);
    strobe_device_stream_flush(all->stream);
    for (size_t i = 0; i < all->n_zones; i++) {
        const struct strobe_device_zone *zone = &all->zones[i];
        size_t *at = &next[all->riscs[i]];
        if (zone->id == STROBE_ID_STALL) {
            n_stalls++;
            continue;
        }
        while (*at < n_rows && rows[*at].risc != all->riscs[i])
            ++*at;
        const struct row *row = &rows[*at < n_rows ? (*at)++ : 0];
        wrong += row->id != zone->id || row->start != zone->start || row->end != zone->end ||
                 row->program != zone->program;
    }
    wrong += all->n_zones != n_rows + n_stalls;
    printf("%s: %zu zones, %zu stalls, %zu wrong\n", scalar ? "scalar" : "vectors",
           all->n_zones - n_stalls, n_stalls, wrong);
    collect_close(all);
    return wrong != 0;
}

static int put(const char *path, const void *bytes, size_t n_bytes)
{
    FILE *file = fopen(path, "wb");
    int bad = !file || fwrite(bytes, 1, n_bytes, file) != n_bytes;
    return (file && fclose(file)) || bad;
}

int main(int argc, char **argv)
{
    size_t n_zones = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    if (argc < 5 || n_zones < 100)
        return 2;
    random_state = strtoul(argv[2], NULL, 10);
    n_riscs = argc > 5 ? (uint32_t)atoi(argv[5]) : 5;
    rows = malloc((n_zones + 64) * sizeof *rows);
    if (!rows)
        return 1;
    native_reset();
    native_step = 0;
    for (uint32_t program = 1; n_rows + 64 < n_zones; program++)
        run_program(draw(50) ? program : 0xf0000000u + program, n_zones);
    native_ship();
    int wrong = put(argv[3], native_frames, 4 * native_n_words) ||
                put(argv[4], rows, n_rows * sizeof *rows);
    wrong |= compare(true) | compare(false);
    free(rows);
    return wrong;
}
