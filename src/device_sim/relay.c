/* relay.c - when the simulated relays look at their cores, and what that costs them. A relay is a RISC of its own per bank of DRAM
 * that visits its cores in turn; what it ships: device_board/relay.c.  SPDX-License-Identifier: MIT */
#include "device_sim/costs.h"
#include "device_sim/internal.h"

/* A lane that is behind the others may still open zones before them; one that is done may not, and of a core that will not run on the
 * latest counts. */
uint64_t strobe_sim_relay_time(const struct strobe_board *board,
                               const struct strobe_board_core *core)
{
    const struct strobe_sim_unit *unit = (const struct strobe_sim_unit *)(const void *)board;
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t risc = 0; risc < STROBE_SIM_RISCS; risc++) {
        const struct strobe_sim_lane *lane = &unit->cores[core->index].lanes[risc];
        uint64_t now = lane->hot.now + lane->hot.wall;
        int runs = lane->state == STROBE_SIM_READY || lane->state == STROBE_SIM_PARKED;
        least = runs && now < least ? now : least;
        most = now > most ? now : most;
    }
    return least == UINT64_MAX ? most : least;
}

void strobe_sim_relay_sweep(struct strobe_sim_unit *unit, uint32_t relay, uint64_t at)
{
    uint64_t cycles = 0, slowdown = unit->board.setup.options.relay_slowdown;
    uint32_t n_shipped = 0, shipped;
    for (uint32_t i = relay; i < unit->board.n_cores; i += unit->n_relays) {
        struct strobe_sim_core *core = &unit->cores[i];
        if (!core->n_running)
            continue; /* it has not run since its last frame, or will be drained at its end */
        uint32_t bytes = strobe_board_visit(&unit->board, core->is, &shipped);
        cycles += STROBE_COST_RELAY_VISIT;
        if (shipped)
            cycles += STROBE_COST_RELAY_FRAME + bytes / 64 * STROBE_COST_RELAY_LINE;
        n_shipped += shipped;
    }
    if (!n_shipped)
        cycles += (uint64_t)(STROBE_COST_RELAY_IDLE_NS * unit->cycles_per_ns) / 4;
    strobe_sim_event_push(unit, (struct strobe_sim_event){.at = at + cycles * slowdown,
                                                          .what = STROBE_SIM_SWEEP,
                                                          .who = relay});
}

void strobe_sim_relay_begin(struct strobe_sim_unit *unit, uint64_t at)
{
    for (uint32_t relay = 0; relay < unit->n_relays; relay++)
        strobe_sim_event_push(unit, (struct strobe_sim_event){.at = at + 100 * relay,
                                                              .what = STROBE_SIM_SWEEP,
                                                              .who = relay});
}

void strobe_sim_relay_push(uint32_t risc, uint32_t at_word, uint32_t from, uint32_t n_words)
{
    struct strobe_sim_lane *lane = strobe_sim_lane_running();
    if (!strobe_board_classic_push(&lane->core->unit->board, lane->core->is, risc, at_word, from,
                                   n_words))
        lane->hot.now += STROBE_COST_NOC_ISSUE + n_words * 4 / STROBE_COST_NOC_BYTES;
}
