/* clock.c - the device's clock: a frequency, an offset and a drift against the host's; a core's own clock is ahead of it by its
 * origin. A reading takes a way there and back, with jitter.  SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/clock.h"
#include "device_sim/internal.h"

#define WAY_NS  450  /* of a reading, there or back */
#define SURE_NS 250  /* of that: what a driver may rely on, as no bus is quicker than its wires */
#define LINK_NS 1100 /* of a message between two devices, there or back */

double strobe_sim_clock_random(struct strobe_sim_unit *unit)
{
    unit->random ^= unit->random << 13; /* xorshift: never 0 */
    unit->random ^= unit->random >> 7;
    unit->random ^= unit->random << 17;
    return (double)(unit->random >> 11) / 9007199254740992.0;
}

uint64_t strobe_sim_clock_cycles(const struct strobe_sim_unit *unit, uint64_t host_ns)
{
    return (uint64_t)(unit->base_cycles +
                      (double)(int64_t)(host_ns - unit->base_ns) * unit->cycles_per_ns);
}

uint64_t strobe_sim_clock_host(const struct strobe_sim_unit *unit, uint64_t cycles)
{
    return unit->base_ns +
           (uint64_t)(int64_t)(((double)cycles - unit->base_cycles) / unit->cycles_per_ns);
}

/* About normal, mean 0, deviation 1. */
static double noise(struct strobe_sim_unit *unit)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += strobe_sim_clock_random(unit);
    return sum - 6;
}

void strobe_sim_clock_read(struct strobe_sim_unit *unit, uint32_t core, uint64_t *cycles,
                           uint64_t *before_ns, uint64_t *after_ns)
{
    double there = WAY_NS + fabs(noise(unit)) * unit->board.setup.options.jitter_ns;
    double back = WAY_NS + fabs(noise(unit)) * unit->board.setup.options.jitter_ns;
    if (unit->board.setup.options.clock == STROBE_DEVICE_CLOCK_VIRTUAL) {
        *before_ns = unit->virtual_ns;
        unit->virtual_ns += (uint64_t)(there + back);
    } else { /* the way is modelled: a wait would cost more than it is worth */
        *before_ns = strobe_clock_mono_ns();
    }
    *after_ns = *before_ns + (uint64_t)(there + back);
    *cycles = strobe_sim_clock_cycles(unit, *before_ns + (uint64_t)there);
    *before_ns += SURE_NS;
    *after_ns -= SURE_NS;
    if (core < unit->board.n_cores)
        *cycles += unit->cores[core].origin;
}

enum strobe_err strobe_sim_clock_link(struct strobe_sim_unit *unit, struct strobe_sim_unit *other,
                                      struct strobe_clock_pair *pair)
{
    const struct strobe_device_options *options = &unit->board.setup.options;
    double there = LINK_NS + fabs(noise(unit)) * options->jitter_ns;
    double back = LINK_NS + fabs(noise(unit)) * options->jitter_ns;
    if (!options->n_ethernet || !other->board.setup.options.n_ethernet)
        return STROBE_ERR_NOTFOUND;
    uint64_t sent = strobe_clock_mono_ns();
    if (options->clock == STROBE_DEVICE_CLOCK_VIRTUAL) {
        sent = unit->virtual_ns > other->virtual_ns ? unit->virtual_ns : other->virtual_ns;
        unit->virtual_ns = other->virtual_ns = sent + (uint64_t)(there + back);
    }
    *pair = (struct strobe_clock_pair){
        .sent = strobe_sim_clock_cycles(unit, sent),
        .answered = strobe_sim_clock_cycles(unit, sent + (uint64_t)(there + back)),
        .received = strobe_sim_clock_cycles(other, sent + (uint64_t)there)};
    return STROBE_OK;
}
