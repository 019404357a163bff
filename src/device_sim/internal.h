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

#include "device/backend.h"
#include "device_sim/fiber.h"
#include "sim/strobe_sim.h"
#include "strobe_device_words.h"

#define STROBE_SIM_RISCS      5
#define STROBE_SIM_L1_BYTES   (1536u * 1024)
#define STROBE_SIM_MAILBOX    0x1000u  /* offset in L1 of the profiler's words */
#define STROBE_SIM_SEMAPHORES 0x10000u /* of the semaphores */
#define STROBE_SIM_L1_FREE    0x20000u /* of what programs and buffers may use */
#define STROBE_SIM_MAX_XY     64       /* coordinates on the NoC are below it */
#define STROBE_SIM_NO_CORE    0xFFFFu

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

/* What a parked RISC waits for; for the report of a deadlock. */
enum strobe_sim_wait {
    STROBE_SIM_WAIT_NOTHING = 0,
    STROBE_SIM_WAIT_PAGES,     /* a circular buffer, to be filled */
    STROBE_SIM_WAIT_ROOM,      /* a circular buffer, to be emptied */
    STROBE_SIM_WAIT_SEMAPHORE, /* a word of L1 */
    STROBE_SIM_WAIT_SOURCE,    /* unpacked tiles */
    STROBE_SIM_WAIT_REGISTERS, /* destination registers */
    STROBE_SIM_WAIT_OTHERS,    /* the end of the core's other RISCs */
    STROBE_SIM_N_WAITS
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
    uint32_t n_said;                                /* drops and stalls that the last TOTALS had */
};

/* Source and destination registers of a core's compute engine. */
struct strobe_sim_engine {
    float source[2][2][1024]; /* [slot][operand]: unpacked tiles, row-major */
    float dst[2][16][1024];   /* two halves of the destination registers */
    uint32_t n_acquired, n_committed, n_waited, n_released;
    uint32_t n_unpacked; /* pairs that TRISC_0 has written */
    uint32_t n_used;     /* pairs that TRISC_1 has read */
};

enum strobe_sim_kind {
    STROBE_SIM_WORKER = 0,
    STROBE_SIM_ETHERNET = 1,
    STROBE_SIM_DISPATCH = 2,
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
    struct strobe_sim_unit *unit; /* borrowed: whose it is */
    uint32_t index;               /* among all cores of the unit, also its flat id */
    uint32_t x, y, logical_x, logical_y;
    enum strobe_sim_kind kind;
    uint8_t *l1;                      /* borrowed: its slot of the unit's mapping */
    uint64_t origin;                  /* cycles that its wall clock is ahead of the unit's */
    uint64_t out_free[2], in_free[2]; /* per NoC: when its links are free again */
    struct strobe_sim_ring rings[STROBE_SIM_MAX_RINGS];
    struct strobe_sim_lane lanes[STROBE_SIM_RISCS];
    struct strobe_sim_engine *engine; /* owned: NULL until a compute kernel runs */
    struct strobe_sim_perf perf;      /* runs on */
    struct strobe_sim_perf perf_read; /* as it was when the counters were stopped */
    uint32_t n_running;               /* lanes of this program that are not done */
    int hung;
    uint32_t relay_skipped; /* sweeps since its last frame */
    int open_sent;          /* hung: its open zones were sent */
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
    struct strobe_device_setup setup; /* what it was opened with */
    uint32_t index;
    struct strobe_sim_core *cores; /* owned: n_cores */
    uint32_t n_cores, n_workers;
    uint16_t at[STROBE_SIM_MAX_XY][STROBE_SIM_MAX_XY];     /* [y][x]: core, or STROBE_SIM_NO_CORE */
    uint8_t bank_at[STROBE_SIM_MAX_XY][STROBE_SIM_MAX_XY]; /* [y][x]: bank + 1 */
    void *l1_mapping;                                      /* owned: a slot per core */
    size_t l1_mapping_bytes;
    uint8_t **banks; /* owned: n_banks mappings */
    uint64_t *bank_free;
    uint64_t bank_bytes;
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
    uint32_t epoch;      /* resets so far */
    uint64_t virtual_ns; /* host time of a virtual clock, as last heard */
    uint32_t *frame;     /* owned: the frame under construction */
    int sink_dead;       /* the sink failed for good: cores are disarmed */
    int is_refused;      /* it did not take the last frame: likewise, until it takes one */
    uint64_t n_frames, n_frames_dropped;
    uint32_t risc_words; /* classic: words of DRAM per RISC */
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
const char *strobe_sim_risc_name(uint32_t risc);

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
/* Where `bytes` at a NoC address lie in the host's memory; NULL: nowhere. */
uint8_t *strobe_sim_grid_memory(const struct strobe_sim_unit *unit, uint64_t noc_address,
                                uint64_t bytes);

/* NoC address of an offset in a bank of DRAM, or in a worker's L1. */
uint64_t strobe_sim_grid_bank(const struct strobe_sim_unit *unit, enum strobe_device_pool pool,
                              uint32_t bank, uint64_t offset);
/* Make cores, L1 and banks of unit->setup. NOMEM; what was made is freed by strobe_sim_grid_close. */
enum strobe_err strobe_sim_grid_open(struct strobe_sim_unit *unit);
void strobe_sim_grid_close(struct strobe_sim_unit *unit);
/* As after power-on: the profiler's words of every core, origins of clocks, nothing runs. */
void strobe_sim_grid_reset(struct strobe_sim_unit *unit);

/* ---- relay.c ---- */
/* A relay looks at its cores, ships what is due, and comes back later. */
void strobe_sim_relay_sweep(struct strobe_sim_unit *unit, uint32_t relay, uint64_t at);
/* Let the relays begin to sweep, as a launch starts at `at`. */
void strobe_sim_relay_begin(struct strobe_sim_unit *unit, uint64_t at);
/* Ship all that is in the rings, also what hung cores left. */
void strobe_sim_relay_drain(struct strobe_sim_unit *unit);
/* A program has ended: ship what is due, and of hung cores all. */
void strobe_sim_relay_after(struct strobe_sim_unit *unit);
/* A lane's counts, as BYE and TOTALS have them. */
void strobe_sim_relay_total(struct strobe_sim_lane *lane, struct strobe_lane_total *total);
/* Hand a frame of n words to the sink, padded. */
enum strobe_err strobe_sim_relay_put(struct strobe_sim_unit *unit, uint32_t *frame,
                                     uint32_t n_words);
/* The profiler's words of a core. */
uint32_t *strobe_sim_core_control(struct strobe_sim_core *core);
struct strobe_l1_core *strobe_sim_core_facts(struct strobe_sim_core *core);
struct strobe_l1_lane *strobe_sim_lane_words(struct strobe_sim_lane *lane);

/* ---- classic.c ---- */
/* Where a core's and RISC's words lie in the profiler's part of DRAM. */
void strobe_sim_classic_open(struct strobe_sim_unit *unit);
void strobe_sim_classic_push(uint32_t risc, uint32_t at_word, uint32_t from, uint32_t n_words);
enum strobe_err strobe_sim_classic_read(struct strobe_sim_unit *unit);
/* Words of DRAM per RISC that the options ask for, and bytes of a bank that all parts in it take. */
uint32_t strobe_sim_classic_words(const struct strobe_device_options *options);
uint64_t strobe_sim_classic_bytes(const struct strobe_sim_unit *unit);

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
