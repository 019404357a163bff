/* rings.c - circular buffers of a core: pages that one RISC pushes and another pops. Who must wait is parked, and the other's push
 * or pop wakes it.  Called by kernels, on the lane's fiber.  SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "device_sim/costs.h"
#include "device_sim/internal.h"

static struct strobe_sim_ring *find(struct strobe_sim_lane *lane, uint32_t ring, const char *what)
{
    if (ring < STROBE_SIM_MAX_RINGS && lane->core->rings[ring].page_bytes)
        return &lane->core->rings[ring];
    struct strobe_sim_unit *unit = lane->core->unit;
    char text[256];
    snprintf(text, sizeof text,
             "device %u, core %u,%u, %s: %s of circular buffer %u, which the program does not have",
             unit->board.setup.index, lane->core->is->x, lane->core->is->y,
             strobe_board_risc_name(lane->hot.risc), what, ring);
    unit->board.setup.warn(unit->board.setup.warn_context, text);
    return NULL;
}

static void charge(struct strobe_sim_lane *lane)
{
    lane->hot.now += STROBE_COST_RING_CALL;
    if (lane->hot.now >= lane->hot.until)
        strobe_sim_lane_yield(lane);
}

static void wake(struct strobe_sim_lane *by, enum strobe_sim_wait wait, uint32_t ring)
{
    for (uint32_t risc = 0; risc < STROBE_SIM_RISCS; risc++) {
        struct strobe_sim_lane *lane = &by->core->lanes[risc];
        if (lane->state == STROBE_SIM_PARKED && lane->wait == wait && lane->wait_on == ring)
            strobe_sim_lane_wake(lane, by->hot.now + STROBE_COST_WAKE);
    }
}

static void wait_for(struct strobe_sim_lane *lane, enum strobe_sim_wait wait, uint32_t ring)
{
    strobe_sim_lane_park(lane, wait, ring);
}

void strobe_sim_ring_wait(uint32_t ring, uint32_t n_pages)
{
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    struct strobe_sim_ring *it = find(lane, ring, "wait");
    charge(lane);
    while (it && it->n_pushed - it->n_popped < n_pages)
        wait_for(lane, STROBE_SIM_WAIT_PAGES, ring);
}

void strobe_sim_ring_reserve(uint32_t ring, uint32_t n_pages)
{
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    struct strobe_sim_ring *it = find(lane, ring, "reservation");
    charge(lane);
    while (it && it->n_pages - (it->n_pushed - it->n_popped) < n_pages)
        wait_for(lane, STROBE_SIM_WAIT_ROOM, ring);
}

void strobe_sim_ring_push(uint32_t ring, uint32_t n_pages)
{
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    struct strobe_sim_ring *it = find(lane, ring, "push");
    charge(lane);
    if (!it)
        return;
    it->n_pushed += n_pages;
    it->write_offset =
        (it->write_offset + n_pages * it->page_bytes) % (it->n_pages * it->page_bytes);
    wake(lane, STROBE_SIM_WAIT_PAGES, ring);
}

void strobe_sim_ring_pop(uint32_t ring, uint32_t n_pages)
{
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    struct strobe_sim_ring *it = find(lane, ring, "pop");
    charge(lane);
    if (!it)
        return;
    it->n_popped += n_pages;
    it->read_offset = (it->read_offset + n_pages * it->page_bytes) % (it->n_pages * it->page_bytes);
    wake(lane, STROBE_SIM_WAIT_ROOM, ring);
}
