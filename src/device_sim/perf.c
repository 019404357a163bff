/* perf.c - performance counters of a core: they count what the simulated core does, by the numbers that tt-metal's reports know
 * (device/counter_names.c). A counter that nothing here could move is not there. Called by kernels' firmware: TRISC_1 starts and stops
 * them around its kernel, BRISC reads them behind it.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/assert.h"
#include "device_sim/costs.h"
#include "device_sim/internal.h"

/* Groups, as TT_METAL_PROFILE_PERF_COUNTERS has their bits. */
enum { FPU = 0, PACK = 1, UNPACK = 2, L1_0 = 3, L1_1 = 4, INSTRUCTIONS = 5 };

#define L1_BYTES 16 /* of a port, per cycle */

void strobe_sim_perf_switch(uint32_t on)
{
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    struct strobe_sim_core *core = lane->core;
    struct strobe_sim_perf *perf = &core->perf;
    if (on)
        *perf = (struct strobe_sim_perf){.started = lane->hot.now};
    for (uint32_t risc = 0; risc < STROBE_SIM_RISCS; risc++)
        perf->instructions[risc] = core->lanes[risc].hot.n_instructions - perf->instructions[risc];
    if (!on) {
        perf->stopped = lane->hot.now;
        core->perf_read = *perf;
    }
}

static uint64_t all_waits(const struct strobe_sim_perf *perf, uint32_t risc)
{
    uint64_t sum = 0;
    for (uint32_t wait = 0; wait < STROBE_SIM_N_WAITS; wait++)
        sum += perf->waited[risc][wait];
    return sum;
}

struct counter {
    uint32_t group, type;
    uint64_t value;
};
enum { N_COUNTERS = 40 };

/* All that can be counted. */
static void count_all(const struct strobe_sim_perf *perf, struct counter *all)
{
    const uint64_t(*waited)[STROBE_SIM_N_WAITS] = perf->waited + 2; /* of TRISC_0, _1, _2 */
    uint64_t math = perf->fpu + perf->sfpu, waits_for_pack = waited[1][STROBE_SIM_WAIT_REGISTERS];
    uint64_t out[2], in[2];
    for (int i = 0; i < 2; i++) {
        out[i] = perf->out_bytes[i] / STROBE_COST_NOC_BYTES;
        in[i] = perf->in_bytes[i] / STROBE_COST_NOC_BYTES;
    }
    const struct counter values[] = {
        {FPU, 1, perf->fpu},
        {FPU, 2, perf->sfpu},
        {FPU, 3, math},
        {UNPACK, 7, math},                  /* MATH_INSTRN_STARTED */
        {UNPACK, 8, math + waits_for_pack}, /* MATH_INSTRN_AVAILABLE */
        {UNPACK, 9, perf->unpack[1]},       /* SRCB_WRITE_AVAILABLE */
        {UNPACK, 10, perf->unpack[0]},
        {UNPACK, 11, perf->unpack[0]}, /* UNPACK0_BUSY_THREAD0 */
        {UNPACK, 12, perf->unpack[1]},
        {UNPACK, 113, perf->unpack[1]}, /* SRCB_WRITE_ACTUAL */
        {UNPACK, 115, perf->unpack[0]},
        {UNPACK, 116, perf->unpack[1]}, /* SRCB_WRITE_NOT_BLOCKED_PORT: nothing blocks it here */
        {PACK, 18, perf->pack},         /* PACKER_DEST_READ_AVAILABLE */
        {PACK, 19, perf->pack},         /* PACKER_BUSY */
        {PACK, 20, math},               /* AVAILABLE_MATH */
        {PACK, 127, perf->pack},        /* DEST_READ_GRANTED_0 */
        {L1_0, 76, perf->read_bytes / L1_BYTES},
        {L1_0, 80, out[0]},
        {L1_0, 82, in[0]},
        {L1_0, 92, perf->written_bytes / L1_BYTES}, /* L1_0_UNIFIED_PACKER */
        {L1_0, 94, perf->read_bytes / L1_BYTES},    /* granted: links of L1 are never taken */
        {L1_0, 98, out[0]},
        {L1_0, 100, in[0]},
        {L1_1, 88, out[1]},
        {L1_1, 90, in[1]},
        {L1_1, 106, out[1]},
        {L1_1, 108, in[1]},
        {INSTRUCTIONS, 34, perf->fpu}, /* FPU_INSTRN_AVAILABLE_1 */
        {INSTRUCTIONS, 42, all_waits(perf, 2)},
        {INSTRUCTIONS, 43, all_waits(perf, 3)},
        {INSTRUCTIONS, 44, all_waits(perf, 4)},
        {INSTRUCTIONS, 45, waited[0][STROBE_SIM_WAIT_SOURCE]},    /* WAITING_FOR_SRCA_CLEAR */
        {INSTRUCTIONS, 47, waited[1][STROBE_SIM_WAIT_SOURCE]},    /* WAITING_FOR_SRCA_VALID */
        {INSTRUCTIONS, 56, waits_for_pack},                       /* WAITING_FOR_PACK_IDLE_1 */
        {INSTRUCTIONS, 60, waited[2][STROBE_SIM_WAIT_REGISTERS]}, /* WAITING_FOR_MATH_IDLE_2 */
        {INSTRUCTIONS, 61, waited[0][STROBE_SIM_WAIT_PAGES]},     /* WAITING_FOR_NONZERO_SEM_0 */
        {INSTRUCTIONS, 66, waited[2][STROBE_SIM_WAIT_ROOM]},      /* WAITING_FOR_NONFULL_SEM_2 */
        {INSTRUCTIONS, 110, perf->instructions[2]},
        {INSTRUCTIONS, 111, perf->instructions[3]},
        {INSTRUCTIONS, 112, perf->instructions[4]}};
    STROBE_ASSERT(sizeof values == N_COUNTERS * sizeof *all);
    memcpy(all, values, sizeof values);
}

uint32_t strobe_sim_perf_counter(uint32_t index, uint32_t *type, uint32_t *ref, uint32_t *value)
{
    struct strobe_sim_core *core = strobe_sim_lane_running()->core;
    const struct strobe_sim_perf *perf = &core->perf_read;
    uint32_t groups = core->unit->board.setup.options.perf_counters, n = 0;
    struct counter all[N_COUNTERS];
    count_all(perf, all);
    for (size_t i = 0; perf->stopped && i < N_COUNTERS; i++)
        if (groups >> all[i].group & 1 && n++ == index) {
            *type = all[i].type;
            *ref = (uint32_t)(perf->stopped - perf->started);
            *value = (uint32_t)all[i].value;
            return 1;
        }
    return 0;
}
