/* internal.h - the state of a device under QEMU, for the room's own files.
 *
 *   unit ── board (cores, DRAM, relay)
 *        └─ machines, one per core: a process, its RAM (a memfd that both map), its bell (a socket)
 *
 * Kernels run on the harts while the device's thread, in strobe_qemu_serve, is DRAM, NoC and relay. What both sides store:
 * kernel/qemu/layout.h. All of a unit is touched by the device's thread alone.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_QEMU_INTERNAL_H
#define STROBE_DEVICE_QEMU_INTERNAL_H

#include <sys/types.h>

#include "device_board/board.h"
#include "device_board/build.h"
#include "qemu/layout.h"

#define STROBE_QEMU_MOST_CORES 16

/* A machine's life.
 *
 *   GONE -- start --> BOOTS -- wait_ready --> RUNS_ON
 *   RUNS_ON -- pause --> STOPPED      a kernel on it did not come to its end, or met an exception
 *   BOOTS, RUNS_ON, STOPPED -- look --> GONE     its process ended by itself
 *   BOOTS, RUNS_ON, STOPPED -- strobe_qemu_machine_stop --> GONE */
enum strobe_qemu_state {
    STROBE_QEMU_GONE = 0,
    STROBE_QEMU_BOOTS = 1,
    STROBE_QEMU_RUNS_ON = 2,
    STROBE_QEMU_STOPPED = 3,
};

/* A built kernel, as it lies in memory. */
struct strobe_qemu_code {
    uint64_t serial; /* no two that were loaded by this process have the same */
    uint32_t entry, n_words;
    uint32_t words[]; /* from the beginning of its place */
};

struct strobe_qemu_machine {
    enum strobe_qemu_state state;
    pid_t pid;
    int process; /* owned: a pidfd, since the host program may reap its children itself; -1: none */
    int socket;  /* owned: its bell; -1: none */
    uint64_t n_bells; /* that were rung */
    int said;         /* owned: what QEMU prints, a memfd; -1: none */
    uint8_t *ram;     /* owned: STROBE_QEMU_RAM_BYTES; stays when the process is gone */
    struct strobe_qemu_shared *shared;  /* borrowed: in ram */
    uint64_t loaded[STROBE_QEMU_HARTS]; /* serial of the kernel that is in its place; 0: none */
    const struct strobe_device_built *runs[STROBE_QEMU_HARTS]; /* borrowed: during a launch */
    uint32_t go;                                               /* the last launch */
    int is_running;                                            /* harts of it may not be done */
    uint32_t clock_ask;                                        /* the last reading of its clock */
    uint64_t deaf_ns;      /* host time at which its clock was asked for in vain; 0: it was not */
    uint64_t read_well_ns; /* host time of the last short reading of its clock; 0: none */
    uint64_t tried_ns;     /* and of the last that took its time */
    uint64_t cycles_seen;  /* the latest time of its clock that is known to have passed */
};

struct strobe_qemu_unit {
    struct strobe_board board;            /* first: backend.h's calls that all boards share */
    struct strobe_qemu_machine *machines; /* owned: one for each of the board's cores */
    char qemu[512], image[1024];
    int is_virtual;    /* -icount: time is counted in instructions, and the host's is made of it */
    uint64_t hang_ns;  /* a program that takes longer hangs */
    uint64_t ended_ns; /* host time of the last program's end */
};

/* ---- image.c: what harts run ---- */
extern const struct strobe_recipe_tools strobe_qemu_tools;
/* Build the firmware, or find it built: unit->image. */
enum strobe_err strobe_qemu_image_open(struct strobe_qemu_unit *unit, char *reason);

/* ---- machine.c: a process ---- */
/* Start all machines that are gone, and wait until their harts are ready. IO, with a reason. */
enum strobe_err strobe_qemu_machines_start(struct strobe_qemu_unit *unit, char *reason);
/* End its process. Its RAM stays as it was, and so does what it printed. */
void strobe_qemu_machine_stop(struct strobe_qemu_machine *machine);
/* Free what is left of a machine that was stopped. */
void strobe_qemu_machine_free(struct strobe_qemu_machine *machine);
/* Stand still: nothing in its RAM changes from now on. */
void strobe_qemu_machine_pause(struct strobe_qemu_machine *machine);
/* Ring: harts that sleep look. */
void strobe_qemu_machine_ring(struct strobe_qemu_machine *machine);
/* Take the harts' bells. False: the process is gone. */
int strobe_qemu_machine_look(struct strobe_qemu_machine *machine);
/* Wait for a bell of any machine of the unit, or so long. */
void strobe_qemu_machines_wait(struct strobe_qemu_unit *unit, uint64_t ns);

/* ---- serve.c: a program runs ---- */
/* Serve the machines until all that was launched came to its end. BUSY: some did not; their machines stand still, and `reason` says why. */
enum strobe_err strobe_qemu_serve(struct strobe_qemu_unit *unit, char *reason);
/* Give up a core: what runs on it is reported, it stands still. */
void strobe_qemu_give_up(struct strobe_qemu_unit *unit, uint32_t core, const char *why,
                         char *reason);

/* ---- clock.c ---- */
enum strobe_err strobe_qemu_clock_read(struct strobe_qemu_unit *unit, uint32_t core,
                                       uint64_t *cycles, uint64_t *before_ns, uint64_t *after_ns);
/* Cycles per microsecond, measured. BUSY: the clock can't be read. */
enum strobe_err strobe_qemu_clock_measure(struct strobe_qemu_unit *unit, double *mhz);
/* What the board asks: up to when the tables of a core's lanes hold. */
uint64_t strobe_qemu_clock_tables(const struct strobe_board *board,
                                  const struct strobe_board_core *core);

static inline uint32_t strobe_qemu_load(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void strobe_qemu_store(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

#endif
