/* board.h - what the stand-ins for hardware share: where cores and banks lie, the words of the profiler in every L1, and the relay
 * that makes frames of them. A backend puts a board first into its unit, so that a unit is a board for those calls of backend.h that
 * are the same for all.
 *
 *   board ── cores ── L1: the profiler's words, circular buffers     the backend owns the memory, and what runs on it
 *        ├─ banks of DRAM
 *        └─ relay: rings and buffers of L1 ──► frames ──► the sink
 *
 * A core's RISCs may run, on another thread or in another process, while the relay looks at their words: it reads as
 * docs/device-protocol.md says. A board itself belongs to one thread.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_BOARD_BOARD_H
#define STROBE_DEVICE_BOARD_BOARD_H

#include "device/backend.h"
#include "device_board/build.h"
#include "sim/strobe_sim.h"
#include "strobe_device_words.h"

#define STROBE_BOARD_RISCS   5
#define STROBE_BOARD_MAX_XY  64 /* coordinates on the NoC are below it */
#define STROBE_BOARD_NO_CORE 0xFFFFu

#define STROBE_RELAY_WORDS    128  /* a lane this full is shipped at once */
#define STROBE_RELAY_DEFERRED 2048 /* sweeps after which any words are shipped */

struct strobe_board_core {
    uint32_t index; /* among all cores of the board, also its flat id */
    uint32_t x, y, logical_x, logical_y;
    enum strobe_core_kind kind;
    uint8_t *l1;                         /* borrowed: of the backend */
    uint32_t l1_address;                 /* of the same, as the core's RISCs know it */
    int hung;                            /* it does not run on before a reset */
    int open_sent;                       /* hung: its open zones were sent */
    uint32_t n_skipped;                  /* sweeps since its last frame */
    uint32_t n_said[STROBE_BOARD_RISCS]; /* drops and stalls that the last TOTALS had */
};

struct strobe_board {
    struct strobe_device_setup setup; /* what it was opened with */
    struct strobe_board_core *cores;  /* owned: n_cores */
    uint32_t n_cores, n_workers;
    uint16_t at[STROBE_BOARD_MAX_XY]
               [STROBE_BOARD_MAX_XY]; /* [y][x]: core, or STROBE_BOARD_NO_CORE */
    uint8_t bank_at[STROBE_BOARD_MAX_XY][STROBE_BOARD_MAX_XY]; /* [y][x]: bank + 1 */
    uint8_t **banks;                                           /* owned: n_banks mappings */
    uint64_t bank_bytes;
    uint32_t risc_words; /* classic: words of DRAM per RISC */
    /* relay */
    uint32_t is_relayed; /* the rings are drained */
    uint32_t *frame;     /* owned: the frame under construction */
    int sink_dead;       /* the sink failed for good: cores are disarmed */
    int is_refused;      /* it did not take the last frame: likewise, until it takes one */
    uint64_t n_frames, n_frames_dropped;
    /* kernels */
    struct strobe_recipe recipe;
    struct strobe_device_built *idle
        [STROBE_BOARD_RISCS]; /* owned: firmware without a kernel; NULL where it leaves no marker */
    /* Up to when the tables of all lanes of a core hold, if they are read next; by the backend. */
    uint64_t (*table_time)(const struct strobe_board *board, const struct strobe_board_core *core);
};

/* ---- board.c ---- */
/* Place cores and map banks, as `setup` says. INVALID, NOSPACE, with a reason; NOMEM. What was made is freed by strobe_board_close. */
enum strobe_err strobe_board_open(struct strobe_board *board,
                                  const struct strobe_device_setup *setup, char *reason);
void strobe_board_close(struct strobe_board *board);
/* The profiler's words of a core as after power-on; nothing runs on it. */
void strobe_board_core_reset(struct strobe_board *board, struct strobe_board_core *core);
/* NULL: there is none. */
struct strobe_board_core *strobe_board_core_at(const struct strobe_board *board, uint32_t x,
                                               uint32_t y);
/* Where `bytes` at a NoC address lie in the host's memory; NULL: nowhere. */
uint8_t *strobe_board_memory(const struct strobe_board *board, uint64_t noc_address,
                             uint64_t bytes);
const char *strobe_board_risc_name(uint32_t risc);
/* What a RISC waits for (enum strobe_sim_wait), in words. */
void strobe_board_say_wait(uint32_t wait, uint32_t on, char *text, size_t bytes);
/* The profiler's words of a core. */
uint32_t *strobe_board_control(const struct strobe_board_core *core);
struct strobe_l1_core *strobe_board_facts(const struct strobe_board_core *core);
struct strobe_l1_lane *strobe_board_lane(const struct strobe_board_core *core, uint32_t risc);

/* ---- launch.c: who runs what in a job ---- */
int strobe_board_covers(const struct strobe_device_cores *cores,
                        const struct strobe_board_core *core);
/* The kernel that a RISC runs, and its number; NULL: none. */
const struct strobe_job_kernel *strobe_board_kernel(const struct strobe_device_job *job,
                                                    const struct strobe_board_core *core,
                                                    uint32_t risc, uint32_t *number);
/* The arguments of a kernel on a core, its own or the common ones; NULL: none. */
const uint32_t *strobe_board_args(const struct strobe_device_job *job,
                                  const struct strobe_board_core *core, uint32_t kernel,
                                  uint32_t is_common, uint32_t *n_args);
/* Whether a core has part in the job. BUSY, with a reason: it has, and hung before. */
enum strobe_err strobe_board_takes_part(const struct strobe_board *board,
                                        const struct strobe_board_core *core,
                                        const struct strobe_device_job *job, int *part,
                                        char *reason);
/* Circular buffers (`rings`, STROBE_SIM_MAX_RINGS), semaphores and the profiler's words of a core, as a launch finds them. */
void strobe_board_launch(const struct strobe_board *board, const struct strobe_board_core *core,
                         const struct strobe_job_launch *run, struct strobe_sim_ring *rings);
/* Build what RISCs without a kernel run: nothing, where firmware leaves no marker. It does in the classic form, else where its zones are asked for. */
enum strobe_err strobe_board_build_idle(struct strobe_board *board, char *reason);

/* ---- relay.c ---- */
/* Hand a frame of n words to the sink, padded. */
enum strobe_err strobe_board_put(struct strobe_board *board, uint32_t *frame, uint32_t n_words);
/* A relay's visit: the words of a core as a frame, if one is due. Returns its bytes; *shipped: it was due. */
uint32_t strobe_board_visit(struct strobe_board *board, struct strobe_board_core *core,
                            uint32_t *shipped);
/* A program has ended: ship what is due, and of hung cores all. */
void strobe_board_after(struct strobe_board *board);

/* ---- classic.c ---- */
/* Words of DRAM per RISC that the options ask for, and bytes of a bank that all parts in it take. */
uint32_t strobe_board_classic_words(const struct strobe_device_options *options);
uint64_t strobe_board_classic_bytes(const struct strobe_board *board);
/* The control vector of a core as the host sets it. */
void strobe_board_classic_arm(const struct strobe_board *board, struct strobe_board_core *core);
/* Words of a core's L1 (device address `from`) to word `at_word` of a RISC's part of DRAM. LIMIT: they do not fit. */
enum strobe_err strobe_board_classic_push(const struct strobe_board *board,
                                          const struct strobe_board_core *core, uint32_t risc,
                                          uint32_t at_word, uint32_t from, uint32_t n_words);
enum strobe_err strobe_board_classic_read(struct strobe_board *board);

/* ---- calls of backend.h: `unit` begins with a board ---- */
enum strobe_err strobe_board_build(void *unit, const struct strobe_device_source *source,
                                   struct strobe_device_built **built, char *reason);
const struct strobe_device_built *strobe_board_firmware(void *unit, uint32_t risc);
enum strobe_err strobe_board_drain(void *unit);
enum strobe_err strobe_board_copy(void *unit, uint64_t noc_address, void *host, uint64_t bytes,
                                  int to_device);
enum strobe_err strobe_board_place(void *unit, uint32_t index,
                                   struct strobe_device_core_place *place);
uint64_t strobe_board_bank(void *unit, enum strobe_device_pool pool, uint32_t bank,
                           uint64_t offset);
enum strobe_err strobe_board_count(void *unit, uint32_t core, uint32_t risc,
                                   struct strobe_lane_total *total);
uint64_t strobe_board_dram_first(void *unit);
/* These, as members of a struct strobe_device_backend; which firmware there is, a backend says. */
#define STROBE_BOARD_CALLS                                                                      \
    .build = strobe_board_build, .unbuild = strobe_recipe_unbuild, .drain = strobe_board_drain, \
    .copy = strobe_board_copy, .core = strobe_board_place, .bank_address = strobe_board_bank,   \
    .count = strobe_board_count, .dram_first = strobe_board_dram_first,                         \
    .l1_first = STROBE_SIM_L1_FREE, .l1_end = STROBE_SIM_L1_BYTES

#endif
