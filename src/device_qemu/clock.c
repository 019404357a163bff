/* clock.c - readings of a core's clock, which is the guest's `cycle`: without -icount the host's time stamp counter, with it the number of
 * instructions.
 *
 * A reading is a word that the host stores and a hart answers, between two of the host's clock: what the hart read lies between them,
 * whoever was not running meanwhile. Both sides spin for a moment, so that a reading takes less than a microsecond where both run; of a few
 * the shortest is taken. It is as good as it is short, and says so: nobody guesses.  SPDX-License-Identifier: MIT */
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "device_qemu/internal.h"

#define GOOD_NS 800  /* short enough: the next would hardly be shorter */
#define FAIR_NS 2000 /* good enough, if a few were no shorter */
#define FEW     8
#define SPIN_NS 30000       /* then the hart is not running: let it */
#define WAKE_NS 2000000000  /* for the first answer: the hart must have woken by then */
#define DEAF_NS 10000000000 /* who did not answer is not asked again so soon */
#define PATIENT_NS \
    40000000 /* for a good one, on a machine where hart and host hardly ever run at once */
#define HASTY_NS      300000 /* for any, when a good one was read or tried for not long ago */
#define WELL_NS       100000000
#define TRIED_NS      200000000
#define BETWEEN_NS    20000000 /* of the readings that a frequency is measured by */
#define MEASURED      16       /* of them at the most */
#define MEASURED_WELL 2e-4

/* A hart that rests: it looks for readings. */
static struct strobe_qemu_hart *resting_hart(struct strobe_qemu_machine *machine)
{
    for (uint32_t i = 0; machine->state == STROBE_QEMU_RUNS_ON && i < STROBE_QEMU_HARTS; i++) {
        struct strobe_qemu_hart *hart = &machine->shared->harts[i];
        if (strobe_qemu_load(&hart->done) == hart->go && !strobe_qemu_load(&hart->trap_cause))
            return hart;
    }
    return NULL;
}

/* One answer. BUSY: none came in time. */
static enum strobe_err ask(struct strobe_qemu_machine *machine, struct strobe_qemu_hart *hart,
                           uint64_t patience_ns, uint64_t *cycles, uint64_t *before_ns,
                           uint64_t *after_ns)
{
    STROBE_ASSERT(machine->state == STROBE_QEMU_RUNS_ON);
    uint32_t number = ++machine->clock_ask;
    *before_ns = strobe_clock_mono_ns();
    __atomic_store_n(&hart->clock_ask, number, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&hart->is_awake, __ATOMIC_SEQ_CST))
        strobe_qemu_machine_ring(machine);
    while (strobe_qemu_load(&hart->clock_answer) != number) {
        uint64_t now = strobe_clock_mono_ns();
        if (now - *before_ns > patience_ns)
            return STROBE_ERR_BUSY;
        if (now - *before_ns <= SPIN_NS)
            continue;
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    *after_ns = strobe_clock_mono_ns();
    *cycles =
        (uint64_t)strobe_qemu_load(&hart->clock_high) << 32 | strobe_qemu_load(&hart->clock_low);
    STROBE_ASSERT(*after_ns >= *before_ns);
    if (*cycles > machine->cycles_seen)
        machine->cycles_seen = *cycles;
    return STROBE_OK;
}

/* The shortest of some readings, as long as it is worth it. Its length; UINT64_MAX: none came. */
static uint64_t read_best(struct strobe_qemu_machine *machine, struct strobe_qemu_hart *hart,
                          uint64_t *cycles, uint64_t *before_ns, uint64_t *after_ns)
{
    uint64_t one, from, to, began = strobe_clock_mono_ns(), best = UINT64_MAX, spent = 0, woke = 0;
    int is_hasty = began - machine->read_well_ns < WELL_NS ||
                   (machine->read_well_ns && began - machine->tried_ns < TRIED_NS);
    uint64_t patience = is_hasty ? HASTY_NS : PATIENT_NS;
    machine->tried_ns = is_hasty ? machine->tried_ns : began;
    for (uint32_t i = 0;
         best > GOOD_NS && (best > FAIR_NS || i < FEW) && (best == UINT64_MAX || spent < patience);
         i++) {
        if (ask(machine, hart, best == UINT64_MAX ? WAKE_NS : patience - spent, &one, &from, &to)) {
            machine->deaf_ns = best == UINT64_MAX ? strobe_clock_mono_ns() : 0;
            break;
        }
        woke =
            woke
                ? woke
                : to; /* the first answer is one of a hart that slept, and is no measure of the others */
        spent = to - woke;
        if (to - from >= best)
            continue;
        best = to - from;
        *cycles = one;
        *before_ns = from;
        *after_ns = to;
    }
    if (best <= FAIR_NS)
        machine->read_well_ns = *after_ns;
    return best;
}

enum strobe_err strobe_qemu_clock_read(struct strobe_qemu_unit *unit, uint32_t core,
                                       uint64_t *cycles, uint64_t *before_ns, uint64_t *after_ns)
{
    STROBE_ASSERT(core < unit->board.n_cores);
    struct strobe_qemu_machine *machine = &unit->machines[core];
    if (!strobe_qemu_machine_look(machine))
        return STROBE_ERR_BUSY;
    struct strobe_qemu_hart *hart = resting_hart(machine);
    if (machine->deaf_ns && strobe_clock_mono_ns() - machine->deaf_ns < DEAF_NS)
        return STROBE_ERR_BUSY;
    if (!hart || read_best(machine, hart, cycles, before_ns, after_ns) == UINT64_MAX)
        return STROBE_ERR_BUSY;
    if (unit->is_virtual) /* a cycle is a nanosecond, and no other time is known */
        *before_ns = *after_ns = *cycles;
    return STROBE_OK;
}

struct reading {
    uint64_t cycles, before_ns, after_ns;
};

/* The frequency that two readings make, and how far off it can be: a fraction. */
static double frequency_of(const struct reading *a, const struct reading *b, double *mhz)
{
    double ns = ((double)(b->before_ns - a->before_ns) + (double)(b->after_ns - a->after_ns)) / 2;
    double unknown = (double)(a->after_ns - a->before_ns + b->after_ns - b->before_ns) / 2;
    *mhz = (double)(b->cycles - a->cycles) * 1000 / ns;
    return unknown / ns;
}

/* Of some readings the two that know it best: on a machine that is not busy these are the first two. */
enum strobe_err strobe_qemu_clock_measure(struct strobe_qemu_unit *unit, double *mhz)
{
    struct reading all[MEASURED];
    double best = 1, one;
    *mhz = 1000;
    for (uint32_t n = 0; n < MEASURED && best > MEASURED_WELL && !unit->is_virtual; n++) {
        struct reading *last = &all[n];
        if (n)
            nanosleep(&(struct timespec){.tv_nsec = BETWEEN_NS}, NULL);
        if (strobe_qemu_clock_read(unit, 0, &last->cycles, &last->before_ns, &last->after_ns))
            return STROBE_ERR_BUSY;
        for (uint32_t i = 0; i < n; i++) {
            double off = frequency_of(&all[i], last, &one);
            if (off < best) {
                best = off;
                *mhz = one;
            }
        }
    }
    return best < 1 || unit->is_virtual ? STROBE_OK : STROBE_ERR_BUSY;
}

/* The latest time that a lane itself has noted: what it opened before is in its table, or was closed. */
static uint64_t noted_by(const struct strobe_l1_lane *lane, uint32_t first_open)
{
    uint32_t high = strobe_qemu_load(&lane->cursor_high),
             depth = (strobe_qemu_load(&lane->open_top) - first_open) / (4 * STROBE_OPEN_WORDS);
    uint64_t time =
        high == STROBE_NO_CURSOR ? 0 : (uint64_t)high << 32 | strobe_qemu_load(&lane->cursor_low);
    if (!depth || depth > STROBE_OPEN_MAX)
        return time;
    const struct strobe_l1_open *top = &lane->open[depth - 1];
    uint64_t start =
        (uint64_t)strobe_qemu_load(&top->start_high) << 32 | strobe_qemu_load(&top->start_low);
    return start > time ? start : time;
}

/* Lanes run on while they are looked at. One that runs vouches for no time after what it noted last; the clock may be further, and a zone
 * that it opens now may have an earlier time than the clock's. When none runs, all that passed counts. */
uint64_t strobe_qemu_clock_tables(const struct strobe_board *board,
                                  const struct strobe_board_core *core)
{
    const struct strobe_qemu_unit *unit = (const struct strobe_qemu_unit *)(const void *)board;
    uint64_t least = UINT64_MAX, most = unit->machines[core->index].cycles_seen;
    for (uint32_t risc = 0; risc < STROBE_BOARD_RISCS; risc++) {
        const struct strobe_l1_lane *lane = strobe_board_lane(core, risc);
        uint32_t flags = strobe_qemu_load(&lane->flags);
        uint32_t first = core->l1_address + STROBE_SIM_MAILBOX +
                         STROBE_L1_LANE_OFFSET(STROBE_BOARD_RISCS, risc) +
                         (uint32_t)offsetof(struct strobe_l1_lane, open);
        if (!(flags & STROBE_LANE_READY))
            continue;
        uint64_t noted = noted_by(lane, first);
        if (flags & STROBE_LANE_IN_LAUNCH && !core->hung && noted < least)
            least = noted;
        if (noted > most && noted >> 60 == 0)
            most = noted;
    }
    return least == UINT64_MAX ? most : least;
}
