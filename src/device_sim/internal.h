/* internal.h - the simulator's state, for its own files.
 *
 *   unit (a device) ── cores ── riscs (a fiber each, while a program runs)
 *        │                └─ L1, circular buffers, compute registers
 *        ├─ banks of DRAM
 *        └─ relays: drain the cores' rings into frames
 *
 * All of a unit but its clock is touched by one thread, the one that runs its programs.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_SIM_INTERNAL_H
#define STROBE_DEVICE_SIM_INTERNAL_H

#include "device_board/board.h"
#include "device_sim/dispatch.h"
#include "device_sim/fiber.h"

#define STROBE_SIM_RISCS STROBE_BOARD_RISCS

/* A RISC's life within one program.
 *
 *   IDLE -- launch --> READY -- run_fiber --> READY | PARKED | DONE
 *   PARKED -- wake --> READY        by another RISC's push, pop, increment or end, or by an arrival
 *   READY, PARKED -- give_up --> HUNG   by the program's end without its own
 *   DONE, HUNG -- launch --> READY      HUNG only after a reset */
enum strobe_sim_state {
    STROBE_SIM_IDLE = 0,
    STROBE_SIM_READY = 1,
    STROBE_SIM_PARKED = 2,
    STROBE_SIM_DONE = 3,
    STROBE_SIM_HUNG = 4,
};

struct strobe_sim_core;

struct strobe_sim_lane {
    struct strobe_sim_risc hot; /* what the kernel sees */
    struct strobe_sim_fiber fiber;
    struct strobe_sim_core *core;             /* borrowed: whose it is */
    const struct strobe_device_built *kernel; /* borrowed: what it runs now */
    const struct strobe_sim_kernel *code;     /* borrowed: of the kernel */
    enum strobe_sim_state state;
    enum strobe_sim_wait wait;
    uint32_t wait_on; /* number of the buffer, address of the semaphore */
    uint32_t wait_value;
    uint32_t wait_at_least;                         /* semaphores: this value or more */
    uint64_t done_reads, done_writes, done_atomics; /* when the last of each arrives */
    uint64_t launched;                              /* when its program was started */
};

/* Source and destination registers of a core's compute engine. */
struct strobe_sim_engine {
    float source[2][2][1024]; /* [slot][operand]: unpacked tiles, row-major */
    float dst[2][16][1024];   /* two halves of the destination registers */
    uint32_t n_acquired, n_committed, n_waited, n_released;
    uint32_t n_unpacked; /* pairs that TRISC_0 has written */
    uint32_t n_used;     /* pairs that TRISC_1 has read */
};

/* What a core does, in cycles unless it says otherwise, since its counters were started. */
struct strobe_sim_perf {
    uint64_t started, stopped; /* cycles of the device; stopped 0: they run, or never did */
    uint64_t fpu, sfpu;        /* the math engine computes */
    uint64_t unpack[2];        /* an unpacker writes a source register: of operand A, B */
    uint64_t pack;             /* the packer reads the destination registers */
    uint64_t read_bytes, written_bytes;                    /* of tiles in L1 */
    uint64_t out_bytes[2], in_bytes[2];                    /* of L1 through each NoC */
    uint64_t waited[STROBE_SIM_RISCS][STROBE_SIM_N_WAITS]; /* a RISC stands still, by its reason */
    uint64_t instructions
        [STROBE_SIM_RISCS]; /* that its RISCs had executed when they were started; then since */
};

struct strobe_sim_core {
    struct strobe_sim_unit *unit;     /* borrowed: whose it is */
    struct strobe_board_core *is;     /* borrowed: of the unit's board */
    uint64_t origin;                  /* cycles that its wall clock is ahead of the unit's */
    uint64_t out_free[2], in_free[2]; /* per NoC: when its links are free again */
    struct strobe_sim_ring rings[STROBE_SIM_MAX_RINGS];
    struct strobe_sim_lane lanes[STROBE_SIM_RISCS];
    struct strobe_sim_engine *engine; /* owned: NULL until a compute kernel runs */
    struct strobe_sim_perf perf;      /* runs on */
    struct strobe_sim_perf perf_read; /* as it was when the counters were stopped */
    uint32_t n_running;               /* lanes of this program that are not done */
};

/* Something that happens at a time: a lane goes on, a relay sweeps, a write arrives. */
struct strobe_sim_event {
    uint64_t at;
    uint64_t order; /* breaks ties, so that every run is the same */
    enum { STROBE_SIM_RUN = 0, STROBE_SIM_SWEEP = 1, STROBE_SIM_ARRIVE = 2 } what;
    uint32_t who;            /* lane: core * 5 + risc; relay; core of an arrival */
    uint32_t address, value; /* of an arrival */
};

struct strobe_sim_unit {
    struct strobe_board board;     /* first: backend.h's calls that all boards share */
    struct strobe_sim_core *cores; /* owned: one for each of the board's */
    void *l1_mapping;              /* owned: a slot per core */
    size_t l1_mapping_bytes;
    uint64_t *bank_free; /* owned: when each bank's link is free again */
    /* clock */
    double cycles_per_ns;
    uint64_t base_ns; /* host time at which the clock was `base_cycles` */
    double base_cycles;
    uint64_t random;  /* state of the generator */
    uint64_t latency; /* of the NoC, in cycles */
    uint64_t now;     /* no program is running: when the last ended */
    /* events */
    struct strobe_sim_event *heap; /* owned: n_heap of room_heap */
    uint32_t n_heap, room_heap;
    uint64_t n_events;
    uint32_t n_running; /* lanes of the running program that are not done */
    uint32_t n_relays;
    uint64_t virtual_ns; /* host time of a virtual clock, as last heard */
    struct strobe_sim_dispatch dispatch;
};

/* ---- sched.c ---- */
void strobe_sim_event_push(struct strobe_sim_unit *unit, struct strobe_sim_event event);
/* Stop the running lane until somebody wakes it; `now` is then at least the waker's. */
void strobe_sim_lane_park(struct strobe_sim_lane *lane, enum strobe_sim_wait wait, uint32_t on);
/* Make a parked lane ready at `at` or later. */
void strobe_sim_lane_wake(struct strobe_sim_lane *lane, uint64_t at);
/* Let others run that are behind the running lane. */
void strobe_sim_lane_yield(struct strobe_sim_lane *lane);
/* The lane whose fiber runs now. */
struct strobe_sim_lane *strobe_sim_lane_running(void);
/* Begin a launch of a lane at `at`: it is ready. */
void strobe_sim_lane_launch(struct strobe_sim_lane *lane, const struct strobe_device_built *kernel,
                            const struct strobe_sim_kernel *code, uint64_t at);
/* Run until all lanes that were launched came to their end. BUSY: some never will; they are hung, and `reason` says where. */
enum strobe_err strobe_sim_lane_run_all(struct strobe_sim_unit *unit, char *reason);

/* ---- calls of kernels ---- */
extern const struct strobe_sim_calls strobe_sim_call_table;
void strobe_sim_noc_read(uint64_t from, uint32_t to, uint32_t bytes);
void strobe_sim_noc_write(uint32_t from, uint64_t to, uint32_t bytes, uint32_t flags);
void strobe_sim_noc_write_word(uint64_t to, uint32_t value);
void strobe_sim_noc_multicast(uint32_t from, uint64_t to, uint32_t bytes, uint32_t with_self);
void strobe_sim_noc_barrier(uint32_t which);
uint64_t strobe_sim_noc_bank(uint32_t bank, uint32_t in_l1, uint64_t offset);
void strobe_sim_semaphore_inc(uint64_t to, uint32_t by);
void strobe_sim_semaphore_wait(uint32_t at, uint32_t value, uint32_t at_least);
void strobe_sim_semaphore_set(uint32_t at, uint32_t value);
/* A word of a core's L1 changed at `at`: wake who waits for it. */
void strobe_sim_semaphore_changed(struct strobe_sim_core *core, uint32_t offset, uint64_t at);
void strobe_sim_ring_wait(uint32_t ring, uint32_t n_pages);
void strobe_sim_ring_reserve(uint32_t ring, uint32_t n_pages);
void strobe_sim_ring_push(uint32_t ring, uint32_t n_pages);
void strobe_sim_ring_pop(uint32_t ring, uint32_t n_pages);
void strobe_sim_tile_unpack(uint32_t ring_a, uint32_t tile_a, uint32_t ring_b, uint32_t tile_b,
                            uint32_t n_tiles);
void strobe_sim_tile_math(uint32_t op, uint32_t dst);
void strobe_sim_tile_unary(uint32_t op, uint32_t dst);
void strobe_sim_tile_pack(uint32_t dst, uint32_t ring, uint32_t at);
void strobe_sim_tile_registers(uint32_t step);
void strobe_sim_perf_switch(uint32_t on);
uint32_t strobe_sim_perf_counter(uint32_t index, uint32_t *type, uint32_t *ref, uint32_t *value);

/* ---- grid.c ---- */
struct strobe_sim_core *strobe_sim_core_at(const struct strobe_sim_unit *unit, uint32_t x,
                                           uint32_t y);
/* Cores and L1 of the unit's board. NOMEM; what was made is freed by strobe_sim_grid_close. */
enum strobe_err strobe_sim_grid_open(struct strobe_sim_unit *unit);
void strobe_sim_grid_close(struct strobe_sim_unit *unit);
/* As after power-on: the profiler's words of every core, origins of clocks, nothing runs. */
void strobe_sim_grid_reset(struct strobe_sim_unit *unit);

/* ---- relay.c ---- */
/* A relay looks at its cores, ships what is due, and comes back later. */
void strobe_sim_relay_sweep(struct strobe_sim_unit *unit, uint32_t relay, uint64_t at);
/* Let the relays begin to sweep, as a launch starts at `at`. */
void strobe_sim_relay_begin(struct strobe_sim_unit *unit, uint64_t at);
/* What the board asks: up to when the tables of a core's lanes hold. */
uint64_t strobe_sim_relay_time(const struct strobe_board *board,
                               const struct strobe_board_core *core);
/* The classic writer's call: words of L1 go to DRAM. */
void strobe_sim_relay_push(uint32_t risc, uint32_t at_word, uint32_t from, uint32_t n_words);

/* ---- clock.c ---- */
/* The device's cycles at a host time, and the other way round. */
uint64_t strobe_sim_clock_cycles(const struct strobe_sim_unit *unit, uint64_t host_ns);
uint64_t strobe_sim_clock_host(const struct strobe_sim_unit *unit, uint64_t cycles);
/* One reading between two of the host's, with jitter. */
/* A message to another unit and its answer. NOTFOUND: one of them has no ethernet. */
enum strobe_err strobe_sim_clock_link(struct strobe_sim_unit *unit, struct strobe_sim_unit *other,
                                      struct strobe_clock_pair *pair);
void strobe_sim_clock_read(struct strobe_sim_unit *unit, uint32_t core, uint64_t *cycles,
                           uint64_t *before_ns, uint64_t *after_ns);
/* 0 .. 1, by the seed. */
double strobe_sim_clock_random(struct strobe_sim_unit *unit);

#endif
