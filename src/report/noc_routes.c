/* noc_routes.c - see the header.  SPDX-License-Identifier: MIT */
#include "report/noc_routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

enum {
    SIDE = STROBE_REPORT_NOC_SIDE,
    N_LINKS = 2 * 2 * SIDE * SIDE, /* by NoC, direction (0: x, 1: y), y, x */
};

struct link {
    uint64_t free, busy, multicast; /* when it is free again; cycles in use, and of multicasts */
};

/* A transfer's way: its links, each once. */
struct way {
    struct link *links;                        /* borrowed: N_LINKS */
    const struct strobe_report_noc_grid *grid; /* borrowed */
    uint32_t taken[N_LINKS];                   /* indices */
    uint32_t n_taken;
    uint64_t seen[N_LINKS / 64];
};

static void take_link(struct way *way, uint32_t noc, uint32_t direction, uint32_t x, uint32_t y)
{
    uint32_t index = ((noc * 2 + direction) * SIDE + y) * SIDE + x;
    STROBE_ASSERT(index < N_LINKS);
    if (way->seen[index / 64] >> index % 64 & 1)
        return;
    way->seen[index / 64] |= 1ull << index % 64;
    way->taken[way->n_taken++] = index;
}

/* The links from a place to another one. */
static void walk(struct way *way, uint32_t noc, uint32_t x, uint32_t y, uint32_t to_x,
                 uint32_t to_y)
{
    uint32_t n_x = way->grid->n_x, n_y = way->grid->n_y;
    if (noc == 0) {
        for (; x != to_x; x = (x + 1) % n_x)
            take_link(way, 0, 0, x, y);
        for (; y != to_y; y = (y + 1) % n_y)
            take_link(way, 0, 1, x, y);
        return;
    }
    for (; y != to_y; y = (y + n_y - 1) % n_y)
        take_link(way, 1, 1, x, y);
    for (; x != to_x; x = (x + n_x - 1) % n_x)
        take_link(way, 1, 0, x, y);
}

static void find_way(struct way *way, const struct strobe_report_transfer *it)
{
    uint32_t left = it->to_x < it->last_x ? it->to_x : it->last_x;
    uint32_t right = it->to_x < it->last_x ? it->last_x : it->to_x;
    uint32_t top = it->to_y < it->last_y ? it->to_y : it->last_y;
    uint32_t bottom = it->to_y < it->last_y ? it->last_y : it->to_y;
    for (uint32_t i = 0; i < way->n_taken; i++)
        way->seen[way->taken[i] / 64] = 0;
    way->n_taken = 0;
    for (uint32_t y = top; y <= bottom; y++)
        for (uint32_t x = left; x <= right; x++)
            walk(way, it->noc, it->from_x, it->from_y, x, y);
}

/* Put a transfer onto its way: cycles that it waits; *end is when it is over. */
static uint64_t carry(struct way *way, const struct strobe_report_transfer *it, uint64_t cycles,
                      uint64_t *end)
{
    uint64_t start = it->time;
    for (uint32_t i = 0; i < way->n_taken; i++)
        if (way->links[way->taken[i]].free > start)
            start = way->links[way->taken[i]].free;
    for (uint32_t i = 0; i < way->n_taken; i++) {
        struct link *link = &way->links[way->taken[i]];
        link->free = start + cycles;
        link->busy += cycles;
        link->multicast += it->is_multicast ? cycles : 0;
    }
    *end = start + cycles;
    return start - it->time;
}

static void sum_links(const struct link *links, uint64_t n_links, uint64_t window,
                      struct strobe_report_noc_figures *out)
{
    double busy = 0, multicast = 0, most = 0;
    for (uint32_t i = 0; i < N_LINKS; i++) {
        busy += (double)links[i].busy;
        multicast += (double)links[i].multicast;
        most = (double)links[i].busy > most ? (double)links[i].busy : most;
    }
    double whole = (double)window;
    out->mean_use = whole > 0 ? busy / whole / (double)n_links : 0;
    out->multicast_use = whole > 0 ? multicast / whole / (double)n_links : 0;
    out->max_use = whole > 0 ? most / whole : 0;
}

enum strobe_err strobe_report_noc_routes(const struct strobe_report_noc_trace *trace,
                                         const struct strobe_report_noc_grid *grid,
                                         struct strobe_report_noc_figures *out)
{
    struct way *way = calloc(1, sizeof *way);
    struct link *links = calloc(N_LINKS, sizeof *links);
    uint64_t waits = 0, moves = 0, hops = 0, last = trace->last, end;
    *out = (struct strobe_report_noc_figures){.n_transfers = trace->n};
    STROBE_ASSERT(grid->n_x > trace->max_x && grid->n_y > trace->max_y);
    STROBE_ASSERT(grid->n_x <= SIDE && grid->n_y <= SIDE && grid->bytes_per_cycle);
    if (!way || !links) {
        free(way);
        free(links);
        return STROBE_ERR_NOMEM;
    }
    way->links = links;
    way->grid = grid;
    for (uint64_t i = 0; i < trace->n; i++) {
        const struct strobe_report_transfer *it = &trace->all[i];
        uint64_t cycles = (it->n_bytes + grid->bytes_per_cycle - 1) / grid->bytes_per_cycle;
        find_way(way, it);
        waits += carry(way, it, cycles, &end);
        moves += cycles;
        hops += way->n_taken;
        out->n_bytes += it->n_bytes;
        out->n_multicast_bytes += it->is_multicast ? it->n_bytes : 0;
        last = end > last ? end : last;
    }
    sum_links(links, 4ull * grid->n_x * grid->n_y, last - trace->first, out);
    out->hops = trace->n ? (double)hops / (double)trace->n : 0;
    out->waiting = waits + moves ? (double)waits / (double)(waits + moves) : 0;
    free(way);
    free(links);
    return STROBE_OK;
}
