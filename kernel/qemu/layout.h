/* layout.h - what a core under QEMU and the host share: the core's memory, and the words by which they talk. Freestanding C and C++.
 * Normative for both sides: src/device_qemu (host), firmware.c (core).
 *
 * The core is QEMU's machine `virt`, rv32, five harts; its RAM is a memfd that the host maps too. A hart is a RISC.
 *
 *   ADDRESS      SIZE         WHAT
 *   0x80000000   1 MiB        firmware: code, then data on pages of its own
 *   0x80100000   5 x 256 KiB  kernels: where each RISC's kernel is linked to, and copied to by its hart
 *   0x80240000   5 x 64 KiB   stacks
 *   0x80300000   5 x 256 KiB  stages: the host puts a kernel here, the hart copies it. (A store of the host's is not seen by QEMU, which
 *                             would go on with what it translated before.)
 *   0x80600000   1.5 MiB      L1 (sim/strobe_sim.h); a multiple of its slot
 *   0x80800000   24 KiB       struct strobe_qemu_shared
 *   0x80e00000                QEMU's device tree: not ours
 *
 * A bell is a byte through the UART. The host's raises interrupt 10, which ends `wfi`; a hart's ends the host's poll(). A bell says
 * nothing but "look": what it is about was stored before. Nobody spins for long: five harts on two processors would wait for each
 * other by time slices.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QEMU_LAYOUT_H
#define STROBE_QEMU_LAYOUT_H

#include "../sim/strobe_sim.h"
#include "../strobe_device_words.h"

#define STROBE_QEMU_VERSION     1u
#define STROBE_QEMU_HARTS       5
#define STROBE_QEMU_RAM         0x80000000u
#define STROBE_QEMU_RAM_BYTES   0x1000000u
#define STROBE_QEMU_KERNELS     0x80100000u
#define STROBE_QEMU_SLOT_BYTES  0x40000u
#define STROBE_QEMU_STACKS      0x80240000u
#define STROBE_QEMU_STACK_BYTES 0x10000u
#define STROBE_QEMU_STAGES      0x80300000u
#define STROBE_QEMU_L1          0x80600000u
#define STROBE_QEMU_SHARED      0x80800000u
STROBE_WORDS_ASSERT(STROBE_QEMU_L1 % STROBE_SIM_L1_SLOT == 0, "an address of L1 has its offset");

enum { STROBE_QEMU_REQUESTS = 32, STROBE_QEMU_ARGS = 344, STROBE_QEMU_MULTICAST_SELF = 1 };

/* What a hart asks the host to do: the host is DRAM and NoC. In order, for one hart. */
enum strobe_qemu_kind {
    STROBE_QEMU_READ = 1,      /* from `noc` to `l1` */
    STROBE_QEMU_WRITE = 2,     /* from `l1` to `noc` */
    STROBE_QEMU_MULTICAST = 3, /* from `l1` to a rectangle; extra: STROBE_QEMU_MULTICAST_SELF */
    STROBE_QEMU_WORD = 4,      /* extra to `noc` */
    STROBE_QEMU_INCREMENT = 5, /* `noc` by extra */
    STROBE_QEMU_PUSH = 6 /* classic: `bytes` at `l1` to word noc_low of RISC extra's part of DRAM */
};
struct strobe_qemu_request {
    uint32_t kind, bytes, l1, noc_low, noc_high, extra, reserved[2];
};
STROBE_WORD_AT(strobe_qemu_request, noc_low, 3);
STROBE_WORDS_OF(strobe_qemu_request, 8);

/* Words of one hart; the first line is the host's, the second the hart's.
 *
 * WORD  FIELD          meaning
 *    0  go             number of the launch that the hart is to run; it runs one when this is not `done`
 *    1  entry          address of the kernel's entry
 *    2  load_words     words to be copied from the hart's stage to its slot first; 0: it is there
 *    3  n_args         and 4 n_common_args
 *    5  replayed       the launch is the first of a trace's replay
 *    6  n_served       requests that are done
 *    7  clock_ask      number of the reading that the host wants
 *    8-15 reserved
 *   16  done           `go` of the last launch that ended
 *   17  is_ready       STROBE_QEMU_VERSION: the hart has set itself up
 *   18  n_asked        requests so far; number n is in requests[n % STROBE_QEMU_REQUESTS]
 *   19  clock_answer   = clock_ask: clock_low and clock_high were read in between
 *   20  clock_low      and 21 clock_high
 *   22  is_awake       looks for clock_ask without a bell
 *   23  waits          sleeps, or is about to: who changes what it may wait for wakes it
 *   24  wait_kind      enum strobe_sim_wait
 *   25  wait_on        number of the buffer, offset of the semaphore
 *   26  trap_cause     + 1: the hart met an exception and stands still; 0: none
 *   27  trap_pc        and 28 trap_value
 *   29-31 reserved
 *   32  began          cycles, low and high, at which the last launch began
 *   34  ended          and ended
 *   36-47 reserved
 *   48  requests
 *  304  args, 648 common_args
 *  992  reserved */
struct strobe_qemu_hart {
    uint32_t go, entry, load_words, n_args, n_common_args, replayed, n_served, clock_ask;
    uint32_t reserved_a[8];
    uint32_t done, is_ready, n_asked, clock_answer, clock_low, clock_high, is_awake, waits;
    uint32_t wait_kind, wait_on, trap_cause, trap_pc, trap_value, reserved_b[3];
    uint32_t began[2], ended[2], reserved_c[12];
    struct strobe_qemu_request requests[STROBE_QEMU_REQUESTS];
    uint32_t args[STROBE_QEMU_ARGS], common_args[STROBE_QEMU_ARGS];
    uint32_t reserved_d[32];
};
STROBE_WORD_AT(strobe_qemu_hart, n_served, 6);
STROBE_WORD_AT(strobe_qemu_hart, clock_ask, 7);
STROBE_WORD_AT(strobe_qemu_hart, done, 16);
STROBE_WORD_AT(strobe_qemu_hart, clock_answer, 19);
STROBE_WORD_AT(strobe_qemu_hart, waits, 23);
STROBE_WORD_AT(strobe_qemu_hart, trap_cause, 26);
STROBE_WORD_AT(strobe_qemu_hart, began, 32);
STROBE_WORD_AT(strobe_qemu_hart, requests, 48);
STROBE_WORD_AT(strobe_qemu_hart, args, 304);
STROBE_WORD_AT(strobe_qemu_hart, common_args, 648);
STROBE_WORDS_OF(strobe_qemu_hart, 1024);

/* Words of a core: the host's, set before QEMU starts; from runtime_id on also at each launch.
 *
 * WORD  FIELD
 *    0  version        STROBE_QEMU_VERSION
 *    1  x, 2 y, 3 logical_x, 4 logical_y
 *    5  n_banks, 6 n_workers, 7 grid_x
 *    8  runtime_id     of the launch
 *    9  n_acquired ... 14 n_used: steps of the compute engine (tiles.h); 0 at each launch
 *   15  begun          `go` of the last launch that BRISC has begun; it clears what the others' ends look at
 *   16  rings          circular buffers; RISCs change their counts and offsets
 *  272  reserved
 * 1024  harts */
struct strobe_qemu_shared {
    uint32_t version, x, y, logical_x, logical_y, n_banks, n_workers, grid_x, runtime_id;
    uint32_t n_acquired, n_committed, n_waited, n_released, n_unpacked, n_used;
    uint32_t begun;
    struct strobe_sim_ring rings[STROBE_SIM_MAX_RINGS];
    uint32_t reserved_b[752];
    struct strobe_qemu_hart harts[STROBE_QEMU_HARTS];
};
STROBE_WORD_AT(strobe_qemu_shared, runtime_id, 8);
STROBE_WORD_AT(strobe_qemu_shared, n_used, 14);
STROBE_WORD_AT(strobe_qemu_shared, begun, 15);
STROBE_WORD_AT(strobe_qemu_shared, rings, 16);
STROBE_WORD_AT(strobe_qemu_shared, harts, 1024);
STROBE_WORDS_OF(strobe_qemu_shared, 6144);

#endif
