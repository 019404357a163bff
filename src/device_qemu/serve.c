/* serve.c - what the device's thread does while harts run: it is the NoC and the DRAM behind it, it is the relay, and it sees who does
 * not come to an end. It sleeps until a bell rings; the relay looks now and then all the same, so that rings are drained before
 * they are full.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "device_qemu/internal.h"

#define SWEEP_NS 250000   /* between two looks of the relay, times relay_slowdown */
#define REST_NS  10000000 /* between two looks at harts that need no relay */

static uint64_t noc_of(const struct strobe_qemu_request *request)
{
    return (uint64_t)request->noc_high << 32 | request->noc_low;
}

/* ---- requests ---- */

static void refuse(struct strobe_qemu_unit *unit, uint32_t core, uint32_t hart,
                   const struct strobe_qemu_request *request)
{
    const struct strobe_board_core *is = &unit->board.cores[core];
    uint64_t noc = noc_of(request);
    char text[256];
    snprintf(
        text, sizeof text,
        "device %u, core %u,%u, %s: request %u of %u bytes at L1 0x%x, NoC %u,%u 0x%llx: there "
        "is nothing",
        unit->board.setup.index, is->x, is->y, strobe_board_risc_name(hart), request->kind,
        request->bytes, request->l1, (uint32_t)(noc >> 36) & 63, (uint32_t)(noc >> 42) & 63,
        (unsigned long long)(noc & 0xFFFFFFFFFull));
    unit->board.setup.warn(unit->board.setup.warn_context, text);
}

/* A core's L1 was changed by another: its harts look. */
static void ring_at(struct strobe_qemu_unit *unit, uint64_t noc)
{
    const struct strobe_board_core *core =
        strobe_board_core_at(&unit->board, (uint32_t)(noc >> 36) & 63, (uint32_t)(noc >> 42) & 63);
    if (core)
        strobe_qemu_machine_ring(&unit->machines[core->index]);
}

/* To all cores of a rectangle; from its first corner, in bits 48-59, to the other. */
static int multicast(struct strobe_qemu_unit *unit, uint32_t core,
                     const struct strobe_qemu_request *request, const uint8_t *from)
{
    uint64_t noc = noc_of(request);
    uint32_t x0 = (uint32_t)(noc >> 48) & 63, y0 = (uint32_t)(noc >> 54) & 63,
             x1 = (uint32_t)(noc >> 36) & 63, y1 = (uint32_t)(noc >> 42) & 63, n = 0;
    for (uint32_t i = 0; i < unit->board.n_workers; i++) {
        const struct strobe_board_core *to = &unit->board.cores[i];
        if (to->x < (x0 < x1 ? x0 : x1) || to->x > (x0 < x1 ? x1 : x0) ||
            to->y < (y0 < y1 ? y0 : y1) || to->y > (y0 < y1 ? y1 : y0) ||
            (i == core && !(request->extra & STROBE_QEMU_MULTICAST_SELF)))
            continue;
        uint64_t at = strobe_device_noc_address(to->x, to->y, noc & STROBE_SIM_L1_MASK);
        uint8_t *memory = strobe_board_memory(&unit->board, at, request->bytes);
        if (!memory)
            return 0;
        memmove(memory, from, request->bytes);
        strobe_qemu_machine_ring(&unit->machines[i]);
        n++;
    }
    return n > 0;
}

/* False: it makes no sense, and nothing was done. */
static int carry_out(struct strobe_qemu_unit *unit, uint32_t core,
                     const struct strobe_qemu_request *request)
{
    struct strobe_board *board = &unit->board;
    uint64_t noc = noc_of(request);
    uint8_t *own =
        request->l1 <= STROBE_SIM_L1_BYTES && request->bytes <= STROBE_SIM_L1_BYTES - request->l1
            ? board->cores[core].l1 + request->l1
            : NULL;
    uint8_t *far = strobe_board_memory(board, noc, request->bytes);
    switch (request->kind) {
    case STROBE_QEMU_READ:
        if (own && far)
            memmove(own, far, request->bytes);
        return own && far;
    case STROBE_QEMU_WRITE:
        if (own && far)
            memmove(far, own, request->bytes);
        break;
    case STROBE_QEMU_MULTICAST:
        return own && multicast(unit, core, request, own);
    case STROBE_QEMU_WORD:
        if (far && request->bytes == 4)
            memcpy(far, &request->extra, 4);
        break;
    case STROBE_QEMU_INCREMENT:
        if (!far || request->bytes != 4 || noc & 3)
            return 0;
        __atomic_fetch_add((uint32_t *)(void *)far, request->extra, __ATOMIC_SEQ_CST);
        break;
    case STROBE_QEMU_PUSH:
        return own && !strobe_board_classic_push(board, &board->cores[core], request->extra,
                                                 request->noc_low, request->l1, request->bytes / 4);
    default:
        return 0;
    }
    ring_at(unit, noc);
    return far && (own || request->kind != STROBE_QEMU_WRITE);
}

static void serve_hart(struct strobe_qemu_unit *unit, uint32_t core, uint32_t hart)
{
    struct strobe_qemu_machine *machine = &unit->machines[core];
    struct strobe_qemu_hart *words = &machine->shared->harts[hart];
    STROBE_ASSERT(machine->shared && hart < STROBE_QEMU_HARTS);
    uint32_t n_asked = strobe_qemu_load(&words->n_asked), n = words->n_served;
    if (n == n_asked)
        return;
    if (n_asked - n > STROBE_QEMU_REQUESTS)
        n = n_asked - STROBE_QEMU_REQUESTS; /* garbage: only so many can be there */
    for (; n != n_asked; n++) {
        struct strobe_qemu_request request = words->requests[n % STROBE_QEMU_REQUESTS];
        if (!carry_out(unit, core, &request))
            refuse(unit, core, hart, &request);
        strobe_qemu_store(&words->n_served, n + 1);
    }
    strobe_qemu_machine_ring(machine);
}

/* ---- who does not come to an end ---- */

static void say_state(const struct strobe_qemu_hart *hart, char *text, size_t bytes)
{
    if (hart->trap_cause)
        snprintf(text, bytes, "met exception %u at 0x%x (0x%x)", hart->trap_cause - 1,
                 hart->trap_pc, hart->trap_value);
    else
        strobe_board_say_wait(hart->wait_kind, hart->wait_on, text, bytes);
}

void strobe_qemu_give_up(struct strobe_qemu_unit *unit, uint32_t core, const char *why,
                         char *reason)
{
    struct strobe_qemu_machine *machine = &unit->machines[core];
    struct strobe_board_core *is = &unit->board.cores[core];
    strobe_qemu_machine_pause(machine);
    STROBE_ASSERT(machine->state == STROBE_QEMU_STOPPED || machine->state == STROBE_QEMU_GONE);
    machine->is_running = 0;
    is->hung = 1;
    for (uint32_t i = 0; i < STROBE_QEMU_HARTS; i++) {
        const struct strobe_qemu_hart *hart = &machine->shared->harts[i];
        char text[400], what[96];
        size_t length = strlen(reason);
        if (hart->done == hart->go)
            continue;
        say_state(hart, what, sizeof what);
        snprintf(text, sizeof text, "device %u, core %u,%u (logical %u,%u), %s, kernel %s: %s%s",
                 unit->board.setup.index, is->x, is->y, is->logical_x, is->logical_y,
                 strobe_board_risc_name(i), machine->runs[i] ? machine->runs[i]->source : "none",
                 what, why);
        unit->board.setup.warn(unit->board.setup.warn_context, text);
        snprintf(reason + length, STROBE_DEVICE_REASON_BYTES - length, "%s%s", length ? "; " : "",
                 text);
    }
}

/* ---- the relay ---- */

static int waits_for_relay(const struct strobe_qemu_machine *machine)
{
    for (uint32_t i = 0; i < STROBE_QEMU_HARTS; i++)
        if (strobe_qemu_load(&machine->shared->harts[i].wait_kind) == STROBE_SIM_WAIT_RELAY)
            return 1;
    return 0;
}

/* Under drop-oldest a RISC takes back words that are not fetched yet; it and the relay could both have them, so the relay comes behind
 * the program's end. */
static int relays_now(const struct strobe_board *board)
{
    return board->is_relayed && board->setup.options.policy != STROBE_DEVICE_POLICY_DROP_OLDEST;
}

static void sweep(struct strobe_qemu_unit *unit)
{
    uint32_t shipped;
    for (uint32_t i = 0; i < unit->board.n_cores; i++) {
        if (!unit->machines[i].is_running)
            continue;
        strobe_board_visit(&unit->board, &unit->board.cores[i], &shipped);
        if (waits_for_relay(&unit->machines[i]))
            strobe_qemu_machine_ring(&unit->machines[i]);
    }
}

/* ---- the loop ---- */

static int has_trapped(const struct strobe_qemu_machine *machine)
{
    for (uint32_t i = 0; i < STROBE_QEMU_HARTS; i++)
        if (strobe_qemu_load(&machine->shared->harts[i].trap_cause))
            return 1;
    return 0;
}

static int is_done(const struct strobe_qemu_machine *machine)
{
    for (uint32_t i = 0; i < STROBE_QEMU_HARTS; i++)
        if (strobe_qemu_load(&machine->shared->harts[i].done) != machine->shared->harts[i].go)
            return 0;
    return 1;
}

/* Look at a core once. Returns whether it runs on. */
static int look_at(struct strobe_qemu_unit *unit, uint32_t core, char *reason)
{
    struct strobe_qemu_machine *machine = &unit->machines[core];
    STROBE_ASSERT(machine->is_running && !unit->board.cores[core].hung);
    int is_alive = strobe_qemu_machine_look(machine);
    for (uint32_t hart = 0; is_alive && hart < STROBE_QEMU_HARTS; hart++)
        serve_hart(unit, core, hart);
    if (is_done(machine))
        machine->is_running = 0;
    else if (!is_alive)
        strobe_qemu_give_up(unit, core, ", and its QEMU process was ended", reason);
    else if (has_trapped(machine))
        strobe_qemu_give_up(unit, core, "", reason);
    return machine->is_running;
}

enum strobe_err strobe_qemu_serve(struct strobe_qemu_unit *unit, char *reason)
{
    uint64_t began = strobe_clock_mono_ns(), swept = began;
    uint64_t every = SWEEP_NS * (uint64_t)unit->board.setup.options.relay_slowdown;
    int relays = relays_now(&unit->board);
    for (;;) {
        uint32_t n_running = 0, n_hung = 0;
        for (uint32_t i = 0; i < unit->board.n_cores; i++) {
            if (unit->machines[i].is_running)
                n_running += (uint32_t)look_at(unit, i, reason);
            n_hung += unit->board.cores[i].hung != 0;
        }
        if (!n_running)
            return *reason && n_hung ? STROBE_ERR_BUSY : STROBE_OK;
        uint64_t now = strobe_clock_mono_ns();
        if (relays && now - swept >= every) {
            sweep(unit);
            swept = now;
        }
        for (uint32_t i = 0; now - began > unit->hang_ns && i < unit->board.n_cores; i++)
            if (unit->machines[i].is_running)
                strobe_qemu_give_up(unit, i, "", reason);
        uint64_t due = swept + every > now ? swept + every - now : 1;
        strobe_qemu_machines_wait(unit, relays && due < REST_NS ? due : REST_NS);
    }
}
