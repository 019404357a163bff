/* noc.c - transfers between cores and banks: latency, bandwidth, contention. Bytes are copied at once, so that they are there when
 * the transfer's time has come; increments of semaphores arrive when their time comes, so that who waits sees them then.
 * Called by kernels, on the lane's fiber.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "device_sim/costs.h"
#include "device_sim/internal.h"

static uint32_t x_of(uint64_t address)
{
    return (uint32_t)(address >> 36) & 63;
}

static uint32_t y_of(uint64_t address)
{
    return (uint32_t)(address >> 42) & 63;
}

/* Words about a transfer to nowhere; it does nothing. */
static void refuse(struct strobe_sim_lane *lane, const char *what, uint64_t address, uint64_t bytes)
{
    struct strobe_sim_unit *unit = lane->core->unit;
    char text[256];
    snprintf(text, sizeof text,
             "device %u, core %u,%u, %s: %s of %llu bytes at NoC address %u,%u 0x%llx, where there "
             "is nothing",
             unit->board.setup.index, lane->core->is->x, lane->core->is->y,
             strobe_board_risc_name(lane->hot.risc), what, (unsigned long long)bytes, x_of(address),
             y_of(address), (unsigned long long)(address & 0xFFFFFFFFFull));
    unit->board.setup.warn(unit->board.setup.warn_context, text);
}

/* When the link that `free` tells of has carried `bytes`, beginning at `from` at the earliest. */
static uint64_t carry(uint64_t *free, uint64_t from, uint64_t bytes)
{
    uint64_t start = *free > from ? *free : from;
    return *free = start + (bytes + STROBE_COST_NOC_BYTES - 1) / STROBE_COST_NOC_BYTES;
}

/* The far end's link: of a core, or of a bank. */
static uint64_t *far_link(struct strobe_sim_unit *unit, uint64_t address, uint32_t noc,
                          int incoming)
{
    uint32_t x = x_of(address), y = y_of(address);
    if (unit->board.bank_at[y][x])
        return &unit->bank_free[unit->board.bank_at[y][x] - 1];
    struct strobe_sim_core *core = strobe_sim_core_at(unit, x, y);
    return !core ? NULL : incoming ? &core->in_free[noc] : &core->out_free[noc];
}

/* Charge the issue and return when the transfer's last byte is at its end. */
static uint64_t transfer(struct strobe_sim_lane *lane, uint64_t address, uint64_t bytes,
                         int incoming)
{
    struct strobe_sim_core *core = lane->core;
    uint32_t noc = lane->hot.noc & 1;
    lane->hot.now += STROBE_COST_NOC_ISSUE;
    uint64_t *near = incoming ? &core->in_free[noc] : &core->out_free[noc];
    uint64_t *far = far_link(core->unit, address, noc, !incoming),
             done = carry(near, lane->hot.now, bytes);
    if (far && far != near) {
        uint64_t other = carry(far, lane->hot.now, bytes);
        done = other > done ? other : done;
    }
    *(incoming ? &core->perf.in_bytes[noc] : &core->perf.out_bytes[noc]) += bytes;
    return done + core->unit->latency;
}

static void go_on(struct strobe_sim_lane *lane)
{
    if (lane->hot.now >= lane->hot.until)
        strobe_sim_lane_yield(lane);
}

static uint8_t *own(struct strobe_sim_lane *lane, uint32_t address, uint64_t bytes)
{
    uint32_t offset = address & STROBE_SIM_L1_MASK;
    return offset + bytes <= STROBE_SIM_L1_BYTES ? lane->core->is->l1 + offset : NULL;
}

static void later(uint64_t *last, uint64_t at)
{
    if (at > *last)
        *last = at;
}

void strobe_sim_noc_read(uint64_t from, uint32_t to, uint32_t bytes)
{
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    uint8_t *source = strobe_board_memory(&lane->core->unit->board, from, bytes),
            *target = own(lane, to, bytes);
    if (source && target)
        memmove(target, source, bytes);
    else
        refuse(lane, "read", from, bytes);
    later(&lane->done_reads, transfer(lane, from, bytes, 1));
    go_on(lane);
}

/* Bytes of a core's L1 changed: who waits for a word among them may go on. */
static void note_change(struct strobe_sim_unit *unit, uint64_t to, uint32_t bytes, uint64_t at)
{
    struct strobe_sim_core *core = strobe_sim_core_at(unit, x_of(to), y_of(to));
    if (core && bytes)
        for (uint32_t risc = 0; risc < STROBE_SIM_RISCS; risc++) {
            struct strobe_sim_lane *lane = &core->lanes[risc];
            uint32_t offset = (uint32_t)to & STROBE_SIM_L1_MASK;
            if (lane->state == STROBE_SIM_PARKED && lane->wait == STROBE_SIM_WAIT_SEMAPHORE &&
                lane->wait_on - offset < bytes)
                strobe_sim_semaphore_changed(core, lane->wait_on, at);
        }
}

void strobe_sim_noc_write(uint32_t from, uint64_t to, uint32_t bytes, uint32_t flags)
{
    (void)flags;
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    uint8_t *target = strobe_board_memory(&lane->core->unit->board, to, bytes),
            *source = own(lane, from, bytes);
    uint64_t done = transfer(lane, to, bytes, 0);
    if (source && target) {
        memmove(target, source, bytes);
        note_change(lane->core->unit, to, bytes, done);
    } else {
        refuse(lane, "write", to, bytes);
    }
    later(&lane->done_writes, done);
    go_on(lane);
}

void strobe_sim_noc_write_word(uint64_t to, uint32_t value)
{
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    uint8_t *target = strobe_board_memory(&lane->core->unit->board, to, sizeof value);
    uint64_t done = transfer(lane, to, sizeof value, 0);
    if (target) {
        memcpy(target, &value, sizeof value);
        note_change(lane->core->unit, to, sizeof value, done);
    } else {
        refuse(lane, "write", to, sizeof value);
    }
    later(&lane->done_writes, done);
    go_on(lane);
}

/* Bits 36-47 of `to` are one corner of the rectangle, 48-59 the other. */
void strobe_sim_noc_multicast(uint32_t from, uint64_t to, uint32_t bytes, uint32_t with_self)
{
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    struct strobe_sim_unit *unit = lane->core->unit;
    uint8_t *source = own(lane, from, bytes);
    uint32_t x0 = (uint32_t)(to >> 48) & 63, y0 = (uint32_t)(to >> 54) & 63, x1 = x_of(to),
             y1 = y_of(to);
    if (x0 > x1)
        x0 ^= x1, x1 ^= x0, x0 ^= x1;
    if (y0 > y1)
        y0 ^= y1, y1 ^= y0, y0 ^= y1;
    uint64_t done = transfer(lane, to, bytes, 0);
    for (uint32_t y = y0; y <= y1; y++)
        for (uint32_t x = x0; x <= x1; x++) {
            struct strobe_sim_core *core = strobe_sim_core_at(unit, x, y);
            if (!core || (core == lane->core && !with_self))
                continue;
            uint64_t one = strobe_device_noc_address(x, y, to);
            uint8_t *target = strobe_board_memory(&unit->board, one, bytes);
            if (!source || !target) {
                refuse(lane, "multicast", one, bytes);
                continue;
            }
            later(&done,
                  carry(&core->in_free[lane->hot.noc & 1], lane->hot.now, bytes) + unit->latency);
            memmove(target, source, bytes);
            note_change(unit, one, bytes, done);
        }
    later(&lane->done_writes, done);
    go_on(lane);
}

void strobe_sim_noc_barrier(uint32_t which)
{
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    lane->hot.now += STROBE_COST_NOC_BARRIER;
    if (which & 1)
        later(&lane->hot.now, lane->done_reads);
    if (which & 2)
        later(&lane->hot.now, lane->done_writes);
    if (which & 4)
        later(&lane->hot.now, lane->done_atomics);
    strobe_sim_lane_yield(lane);
}

uint64_t strobe_sim_noc_bank(uint32_t bank, uint32_t in_l1, uint64_t offset)
{
    struct strobe_sim_unit *unit = strobe_sim_lane_running()->core->unit;
    return strobe_board_bank(unit, in_l1 ? STROBE_DEVICE_L1 : STROBE_DEVICE_DRAM, bank, offset);
}

/* ---- semaphores: words of L1 ---- */

void strobe_sim_semaphore_inc(uint64_t to, uint32_t by)
{
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    struct strobe_sim_unit *unit = lane->core->unit;
    struct strobe_sim_core *core = strobe_sim_core_at(unit, x_of(to), y_of(to));
    uint32_t offset = (uint32_t)to & STROBE_SIM_L1_MASK;
    uint64_t done = transfer(lane, to, sizeof by, 0);
    if (core && offset + sizeof by <= STROBE_SIM_L1_BYTES && !(offset & 3))
        strobe_sim_event_push(unit, (struct strobe_sim_event){.at = done,
                                                              .what = STROBE_SIM_ARRIVE,
                                                              .who = core->is->index,
                                                              .address = offset,
                                                              .value = by});
    else
        refuse(lane, "increment", to, sizeof by);
    later(&lane->done_atomics, done);
    go_on(lane);
}

static int holds(const struct strobe_sim_lane *lane, uint32_t offset, uint32_t value,
                 uint32_t at_least)
{
    uint32_t is = *(const uint32_t *)(const void *)(lane->core->is->l1 + offset);
    return at_least ? is >= value : is == value;
}

void strobe_sim_semaphore_wait(uint32_t at, uint32_t value, uint32_t at_least)
{
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    uint32_t offset = at & STROBE_SIM_L1_MASK & ~3u;
    lane->hot.now += STROBE_COST_RING_CALL;
    while (!holds(lane, offset, value, at_least)) {
        lane->wait_value = value;
        lane->wait_at_least = at_least;
        strobe_sim_lane_park(lane, STROBE_SIM_WAIT_SEMAPHORE, offset);
    }
    go_on(lane);
}

void strobe_sim_semaphore_set(uint32_t at, uint32_t value)
{
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    uint32_t offset = at & STROBE_SIM_L1_MASK & ~3u;
    *(uint32_t *)(void *)(lane->core->is->l1 + offset) = value;
    strobe_sim_semaphore_changed(lane->core, offset, lane->hot.now);
}

void strobe_sim_semaphore_changed(struct strobe_sim_core *core, uint32_t offset, uint64_t at)
{
    for (uint32_t risc = 0; risc < STROBE_SIM_RISCS; risc++) {
        struct strobe_sim_lane *lane = &core->lanes[risc];
        if (lane->state == STROBE_SIM_PARKED && lane->wait == STROBE_SIM_WAIT_SEMAPHORE &&
            lane->wait_on == offset && holds(lane, offset, lane->wait_value, lane->wait_at_least))
            strobe_sim_lane_wake(lane, at + STROBE_COST_WAKE);
    }
}
