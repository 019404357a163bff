/* moves.h - the calls of kernels that move data, on a core under QEMU: what leaves the core is a request to the host; circular buffers
 * and semaphores of the core are its own.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QEMU_MOVES_H
#define STROBE_QEMU_MOVES_H

#include "firmware.h"

static void copy_bytes(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    if (!(((uintptr_t)to | (uintptr_t)from) & 3))
        for (; bytes >= 4; bytes -= 4, to += 4, from += 4)
            *(volatile uint32_t *)to = *(const volatile uint32_t *)from;
    for (; bytes; bytes--)
        *(volatile uint8_t *)to++ = *(const volatile uint8_t *)from++;
}

static inline uint8_t *own(uint32_t address)
{
    return (uint8_t *)(STROBE_QEMU_L1 | (address & STROBE_SIM_L1_MASK));
}

/* ---- requests ---- */

static void wait_served(void)
{
    hart_words *me = my_words();
    if (me->n_served != me->n_asked)
        machine_ring();
    WAIT_UNTIL(me->n_served == me->n_asked, STROBE_SIM_WAIT_HOST, 0);
    FENCE();
}

static void ask(uint32_t kind, uint32_t l1, uint64_t noc, uint32_t bytes, uint32_t extra)
{
    hart_words *me = my_words();
    uint32_t n = me->n_asked;
    if (n - me->n_served >= STROBE_QEMU_REQUESTS)
        wait_served();
    volatile struct strobe_qemu_request *request = &me->requests[n % STROBE_QEMU_REQUESTS];
    request->kind = kind;
    request->bytes = bytes;
    request->l1 = l1 & STROBE_SIM_L1_MASK;
    request->noc_low = (uint32_t)noc;
    request->noc_high = (uint32_t)(noc >> 32);
    request->extra = extra;
    FENCE();
    me->n_asked = n + 1;
    if (kind != STROBE_QEMU_READ) /* others may wait for it; who reads asks for the end */
        machine_ring();
}

static uint32_t is_here(uint64_t noc)
{
    return ((uint32_t)(noc >> 36) & 63) == SHARED->x && ((uint32_t)(noc >> 42) & 63) == SHARED->y;
}

static void noc_read(uint64_t from, uint32_t to, uint32_t bytes)
{
    if (is_here(from))
        copy_bytes(own(to), own((uint32_t)from), bytes);
    else
        ask(STROBE_QEMU_READ, to, from, bytes, 0);
}

static void noc_write(uint32_t from, uint64_t to, uint32_t bytes, uint32_t flags)
{
    (void)flags;
    if (!is_here(to)) {
        ask(STROBE_QEMU_WRITE, from, to, bytes, 0);
        return;
    }
    copy_bytes(own((uint32_t)to), own(from), bytes);
    wake_others(my_number());
}

static void noc_write_word(uint64_t to, uint32_t value)
{
    if (!is_here(to)) {
        ask(STROBE_QEMU_WORD, 0, to, 4, value);
        return;
    }
    *(volatile uint32_t *)own((uint32_t)to) = value;
    wake_others(my_number());
}

static void noc_multicast(uint32_t from, uint64_t to, uint32_t bytes, uint32_t with_self)
{
    ask(STROBE_QEMU_MULTICAST, from, to, bytes, with_self ? STROBE_QEMU_MULTICAST_SELF : 0);
}

static void noc_barrier(uint32_t which)
{
    (void)which;
    wait_served();
}

static uint64_t bank_address(uint32_t bank, uint32_t in_l1, uint64_t offset)
{
    uint32_t x = 0, y = 1 + bank % SHARED->n_banks;
    if (in_l1) {
        bank %= SHARED->n_workers;
        x = 1 + bank % SHARED->grid_x;
        y = 1 + bank / SHARED->grid_x;
    }
    return (uint64_t)(y & 63) << 42 | (uint64_t)(x & 63) << 36 | (offset & 0xFFFFFFFFFull);
}

static void dram_push(uint32_t risc, uint32_t at_word, uint32_t from, uint32_t n_words)
{
    ask(STROBE_QEMU_PUSH, from, at_word, 4 * n_words, risc);
    wait_served(); /* the buffer is used again */
}

/* ---- semaphores ---- */

static void semaphore_inc(uint64_t to, uint32_t by)
{
    if (!is_here(to)) {
        ask(STROBE_QEMU_INCREMENT, 0, to, 4, by);
        return;
    }
    __atomic_fetch_add((uint32_t *)own((uint32_t)to & ~3u), by, __ATOMIC_SEQ_CST);
    wake_others(my_number());
}

static void semaphore_wait(uint32_t at, uint32_t value, uint32_t at_least)
{
    volatile uint32_t *word = (volatile uint32_t *)own(at & ~3u);
    WAIT_UNTIL(at_least ? *word >= value : *word == value, STROBE_SIM_WAIT_SEMAPHORE,
               at & STROBE_SIM_L1_MASK);
    FENCE();
}

static void semaphore_set(uint32_t at, uint32_t value)
{
    *(volatile uint32_t *)own(at & ~3u) = value;
    wake_others(my_number());
}

/* ---- circular buffers: one RISC pushes, one pops ---- */

static inline volatile struct strobe_sim_ring *ring_at(uint32_t ring)
{
    return &SHARED->rings[ring % STROBE_SIM_MAX_RINGS];
}

static void ring_wait(uint32_t ring, uint32_t n_pages)
{
    volatile struct strobe_sim_ring *it = ring_at(ring);
    WAIT_UNTIL(it->n_pushed - it->n_popped >= n_pages, STROBE_SIM_WAIT_PAGES, ring);
    FENCE();
}

static void ring_reserve(uint32_t ring, uint32_t n_pages)
{
    volatile struct strobe_sim_ring *it = ring_at(ring);
    WAIT_UNTIL(it->n_pages - (it->n_pushed - it->n_popped) >= n_pages, STROBE_SIM_WAIT_ROOM, ring);
    FENCE();
}

/* Where `offset` is n pages further. */
static uint32_t further(volatile struct strobe_sim_ring *ring, uint32_t offset, uint32_t n_pages)
{
    uint32_t all = ring->n_pages * ring->page_bytes;
    return all ? (offset + n_pages * ring->page_bytes) % all : 0;
}

static void ring_push(uint32_t ring, uint32_t n_pages)
{
    volatile struct strobe_sim_ring *it = ring_at(ring);
    it->write_offset = further(it, it->write_offset, n_pages);
    FENCE();
    it->n_pushed += n_pages;
    wake_others(my_number());
}

static void ring_pop(uint32_t ring, uint32_t n_pages)
{
    volatile struct strobe_sim_ring *it = ring_at(ring);
    it->read_offset = further(it, it->read_offset, n_pages);
    FENCE();
    it->n_popped += n_pages;
    wake_others(my_number());
}

#endif
