/* made.c - see the header. A kernel of a RISC is a firmware zone, a kernel zone in it, and a loop in that, over groups: three zones and the
 * one around them. As in a loop, sites follow each other in one order, and a site's zones take about as long each time: some percent more or
 * less. All RISCs run at about one speed, so that frames interleave as a relay's do.  SPDX-License-Identifier: MIT */
#include "made.h"

#include <stdlib.h>
#include <string.h>

#include "strobe_device_words.h"

enum {
    KHZ = 1000000,
    RUN_WORDS = 440,         /* of a RISC in a frame */
    CLOCK_CYCLES = 10000000, /* between two readings: 10 ms */
    FW = 1,
    KERNEL = 2,
    GROUP = 3,
    LEAF = 4,
    N_LEAVES = 20,
};

struct level {
    uint32_t id;
    uint64_t start;
};

struct lane {
    uint64_t now, cursor;
    uint32_t head, high, program, left; /* left: zones of the kernel that are still to be closed */
    uint32_t n_leaves, n_done;          /* leaves of the group; of the kernel */
    uint32_t has_cursor, n_open;
    struct level open[3];
};

struct device {
    struct made_options options;
    made_put *put;
    void *context;
    struct lane *lanes; /* owned: cores times RISCs */
    uint64_t random, next_clock;
    struct made_counts counts;
    int is_over;
    uint32_t frame[MADE_FRAME_WORDS];
};

static uint32_t random_below(struct device *d, uint32_t n)
{
    d->random = d->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((d->random >> 33) * n >> 31);
}

static void send(struct device *d, size_t n)
{
    while (n % 16)
        d->frame[n++] = 0;
    d->counts.n_bytes += 4 * n;
    d->is_over |= !d->put(d->context, d->frame, n);
}

static void send_extension(struct device *d, uint32_t subtype, size_t n)
{
    d->frame[0] = STROBE_EXT_WORD(subtype, n - 1);
    send(d, n);
}

static uint32_t yx_of(uint32_t core)
{
    return (1 + core / 8) << 16 | (1 + core % 8);
}

/* ---- descriptions ---- */

static size_t put_text(uint32_t *words, const char *text)
{
    size_t n = strlen(text);
    words[0] = (uint32_t)n;
    memset(words + 1, 0, (n + 3) / 4 * 4);
    memcpy(words + 1, text, n);
    return 1 + (n + 3) / 4;
}

static void describe(struct device *d)
{
    struct strobe_frame_hello hello = {.version = STROBE_DEVICE_VERSION,
                                       .arch = STROBE_ARCH_SIM,
                                       .frequency_khz = KHZ,
                                       .grid_x = 8,
                                       .grid_y = (d->options.cores + 7) / 8,
                                       .n_riscs = MADE_RISCS,
                                       .mode = STROBE_MODE_STREAMING,
                                       .epoch = 1,
                                       .start_low = (uint32_t)d->options.start_ns,
                                       .start_high = (uint32_t)(d->options.start_ns >> 32)};
    memcpy(d->frame, &hello, sizeof hello);
    send_extension(d, STROBE_EXT_HELLO,
                   sizeof hello / 4 + put_text(d->frame + sizeof hello / 4, "made"));
    for (uint32_t i = 0; i < d->options.cores; i++) {
        struct strobe_frame_core core = {.index = i,
                                         .core_yx = yx_of(i),
                                         .logical_yx = (i / 8) << 16 | i % 8,
                                         .flat_id = i,
                                         .n_riscs = MADE_RISCS};
        memcpy(d->frame, &core, sizeof core);
        send_extension(d, STROBE_EXT_CORE, sizeof core / 4);
    }
    for (uint32_t id = FW; id < LEAF + N_LEAVES; id++) {
        static const char *const fixed[] = {
            [FW] = "BRISC-FW", [KERNEL] = "BRISC-KERNEL", [GROUP] = "tile"};
        char leaf[] = "step_a";
        struct strobe_frame_name name = {.id = 1 << 14 | id, .line = 10 * id};
        leaf[5] = (char)('a' + id % N_LEAVES);
        memcpy(d->frame, &name, sizeof name);
        size_t n = sizeof name / 4;
        n += put_text(d->frame + n, id < LEAF ? fixed[id] : leaf);
        send_extension(d, STROBE_EXT_NAME, n + put_text(d->frame + n, "kernel.cpp"));
    }
}

/* Readings of the device's clock, which is right. */
static void send_clocks(struct device *d, uint64_t cycles)
{
    for (int i = 0; i < 8; i++, cycles += 1000) {
        uint64_t ns = d->options.start_ns + cycles, before = ns - 400 - random_below(d, 100),
                 after = ns + 400 + random_below(d, 100);
        struct strobe_frame_clock clock = {.core_yx = STROBE_CORE_NONE,
                                           .cycles_low = (uint32_t)cycles,
                                           .cycles_high = (uint32_t)(cycles >> 32),
                                           .before_low = (uint32_t)before,
                                           .before_high = (uint32_t)(before >> 32),
                                           .after_low = (uint32_t)after,
                                           .after_high = (uint32_t)(after >> 32)};
        memcpy(d->frame, &clock, sizeof clock);
        send_extension(d, STROBE_EXT_CLOCK, sizeof clock / 4);
    }
}

/* ---- zones ---- */

static size_t close_zone(struct device *d, struct lane *lane, uint32_t *words,
                         const struct level *zone)
{
    size_t n = 0;
    uint64_t end = lane->now, duration = end - zone->start;
    d->counts.n_zones++;
    if ((uint32_t)(end >> 32) != lane->high) {
        lane->high = (uint32_t)(end >> 32);
        lane->has_cursor = 0;
        words[n++] = STROBE_ST_WORD(STROBE_ST_TIMER, lane->high);
    }
    if (lane->has_cursor && end - lane->cursor < 65536 && duration < 65536) {
        words[n++] = STROBE_ST_WORD(STROBE_ST_ZONE_S, 1 << 14 | zone->id);
        words[n++] = (uint32_t)(end - lane->cursor) << 16 | (uint32_t)duration;
        d->counts.n_dense++;
    } else {
        words[n++] = STROBE_ST_WORD(STROBE_ST_ZONE_M, 1 << 14 | zone->id);
        words[n++] = (uint32_t)end;
        words[n++] = (uint32_t)duration;
    }
    lane->cursor = end;
    lane->has_cursor = 1;
    return n;
}

static void open_zone(struct lane *lane, uint32_t id, uint32_t after)
{
    lane->now += after;
    lane->open[lane->n_open++] = (struct level){id, lane->now};
}

static size_t start_kernel(struct device *d, struct lane *lane, uint32_t *words)
{
    words[0] = STROBE_ST_WORD(STROBE_ST_PROGRAM, ++lane->program);
    lane->left = d->options.zones_per_kernel;
    lane->n_done = 0;
    lane->has_cursor = 0; /* a launch begins without one */
    open_zone(lane, FW, d->options.cycles);
    open_zone(lane, KERNEL, 20);
    d->counts.n_kernels++;
    return 1;
}

/* The next thing that a RISC does: at most 5 words. */
static size_t step(struct device *d, struct lane *lane, uint32_t *words)
{
    uint32_t mean = d->options.cycles;
    if (!lane->n_open)
        return start_kernel(d, lane, words);
    if (lane->left <= 2) { /* kernel and firmware end */
        lane->now += 15;
        lane->left--;
        return close_zone(d, lane, words, &lane->open[--lane->n_open]);
    }
    if (lane->n_open == 2 && lane->left > 5)
        open_zone(lane, GROUP, 10);
    if (lane->n_open == 3 && (lane->n_leaves == 3 || lane->left == 3)) {
        lane->now += 10;
        lane->n_leaves = 0;
        lane->left--;
        return close_zone(d, lane, words, &lane->open[--lane->n_open]);
    }
    uint32_t site = lane->n_done++ % N_LEAVES, half = mean / 2 + mean / 32 * (site % 8) - mean / 8;
    struct level leaf = {LEAF + site, lane->now + mean - half + random_below(d, 1 + mean / 32)};
    lane->now = leaf.start + half + random_below(d, 1 + mean / 32);
    lane->n_leaves += lane->n_open == 3;
    lane->left--;
    return close_zone(d, lane, words, &leaf);
}

/* ---- frames ---- */

static size_t put_run(struct device *d, struct lane *lane, size_t at, int is_last)
{
    size_t n = 0;
    at += (lane->head - at) & 3;
    uint32_t *run = d->frame + at;
    while (n + 5 <= RUN_WORDS && (!is_last || lane->n_open))
        n += step(d, lane, run + n);
    lane->head += (uint32_t)n;
    return at + n;
}

static void send_lanes(struct device *d, uint32_t core, int is_last)
{
    struct strobe_frame_lanes5 head = {.word0 = STROBE_ST_WORD(STROBE_ST_FRAME, 0),
                                       .core_yx = yx_of(core)};
    size_t at = sizeof head / 4;
    for (uint32_t risc = 0; risc < MADE_RISCS; risc++) {
        struct lane *lane = &d->lanes[core * MADE_RISCS + risc];
        head.head[risc] = lane->head;
        if (!is_last || lane->n_open)
            at = put_run(d, lane, at, is_last);
        head.state[STROBE_FRAME_TIMER_HIGH + risc] = lane->high;
        head.state[STROBE_FRAME_PROGRAM(risc)] = lane->program;
        head.state[STROBE_FRAME_TAIL + risc] = lane->head;
    }
    if (at == sizeof head / 4)
        return;
    head.n_words = (uint32_t)at - STROBE_FRAME_PREFIX;
    memcpy(d->frame, &head, sizeof head);
    send(d, at);
}

static void send_open(struct device *d, uint32_t core)
{
    struct strobe_frame_open head = {.core_yx = yx_of(core)};
    size_t n = sizeof head / 4;
    uint64_t cycles = UINT64_MAX;
    for (uint32_t risc = 0; risc < MADE_RISCS; risc++) {
        const struct lane *lane = &d->lanes[core * MADE_RISCS + risc];
        cycles = lane->now < cycles ? lane->now : cycles;
        head.n_lanes += lane->n_open != 0;
        if (lane->n_open)
            d->frame[n++] = risc | lane->n_open << 8;
        for (uint32_t i = 0; i < lane->n_open; i++) {
            d->frame[n++] = 1 << 14 | lane->open[i].id;
            d->frame[n++] = (uint32_t)lane->open[i].start;
            d->frame[n++] = (uint32_t)(lane->open[i].start >> 32);
        }
    }
    head.cycles_low = (uint32_t)cycles;
    head.cycles_high = (uint32_t)(cycles >> 32);
    memcpy(d->frame, &head, sizeof head);
    send_extension(d, STROBE_EXT_OPEN, n);
}

static void send_round(struct device *d, int is_last)
{
    for (uint32_t core = 0; core < d->options.cores && !d->is_over; core++) {
        send_lanes(d, core, is_last);
        send_open(d, core);
    }
    while (d->lanes[0].now >= d->next_clock && !d->is_over) {
        send_clocks(d, d->next_clock);
        d->next_clock += CLOCK_CYCLES;
    }
}

static int is_open(const struct device *d)
{
    for (uint32_t i = 0; i < d->options.cores * MADE_RISCS; i++)
        if (d->lanes[i].n_open)
            return 1;
    return 0;
}

struct made_counts made_run(const struct made_options *options, made_put *put, void *context)
{
    struct device *d = calloc(1, sizeof *d);
    struct made_counts counts = {0};
    if (!d)
        return counts;
    d->options = *options;
    d->put = put;
    d->context = context;
    d->random = 1;
    d->lanes = calloc((size_t)options->cores * MADE_RISCS, sizeof *d->lanes);
    if (d->lanes)
        describe(d);
    for (uint64_t i = 0; d->lanes && i < (uint64_t)options->cores * MADE_RISCS; i++)
        d->lanes[i].now = 1000;
    send_clocks(d, 0);
    while (d->lanes && d->counts.n_zones < options->n_zones && !d->is_over)
        send_round(d, 0);
    while (d->lanes && !d->is_over && is_open(d))
        send_round(d, 1);
    struct strobe_frame_totals bye = {.reason = STROBE_BYE_CLOSED};
    memcpy(d->frame, &bye, sizeof bye);
    send_extension(d, STROBE_EXT_BYE, sizeof bye / 4);
    counts = d->counts;
    free(d->lanes);
    free(d);
    return counts;
}
