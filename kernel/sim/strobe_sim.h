/* strobe_sim.h - what a kernel that was built for the simulator and the simulator share: the state of the RISC that runs, and the
 * calls that stop it or touch other cores. Kernels see it through dataflow_api.h; nothing here is for them.
 * One host thread runs all fibers, so nothing is atomic.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SIM_ABI_H
#define STROBE_SIM_ABI_H

#include <stdint.h>

/* Goes up with every change below: a built kernel of another number is built anew. */
#define STROBE_SIM_ABI 4

/* Where a core's L1 lies: a slot of 2 MiB in the low 4 GiB, so that a 32-bit address is a pointer. */
#define STROBE_SIM_L1_SLOT 0x200000u
#define STROBE_SIM_L1_MASK 0x1FFFFFu

/* What is where in it. */
#define STROBE_SIM_L1_BYTES   (1536u * 1024)
#define STROBE_SIM_MAILBOX    0x1000u  /* the profiler's words */
#define STROBE_SIM_SEMAPHORES 0x10000u /* 16 bytes apart */
#define STROBE_SIM_L1_FREE    0x20000u /* what programs and buffers may use */

#define STROBE_SIM_MAX_RINGS      32
#define STROBE_SIM_MAX_SEMAPHORES 16

/* Behind the semaphores, two words per circular buffer: how many tiles were packed into what is reserved. 0 at each launch. */
#define STROBE_SIM_PACKED       0x1000u
#define STROBE_SIM_PACKED_BYTES (8u * STROBE_SIM_MAX_RINGS)

/* The page of a core's registers that kernels may address by number: the wall clock is in it. */
#define STROBE_SIM_REGISTERS 0xFFB12000u
#define STROBE_SIM_WALL_LOW  0x1F0u
#define STROBE_SIM_WALL_HIGH 0x1F8u

/* A circular buffer of a core. */
struct strobe_sim_ring {
    uint32_t base;       /* address of the first byte */
    uint32_t page_bytes; /* 0: no such buffer */
    uint32_t n_pages;
    uint32_t format;       /* enum strobe_device_format */
    uint32_t n_pushed;     /* pages, wrapping */
    uint32_t n_popped;     /* pages, wrapping */
    uint32_t write_offset; /* bytes from base */
    uint32_t read_offset;
};

/* What the running RISC is; the simulator changes the pointer at every switch. */
struct strobe_sim_risc {
    uint64_t now;   /* the device's cycles */
    uint64_t until; /* yield when now gets here */
    uint64_t wall;  /* + now = this core's wall clock */
    uint64_t n_instructions;
    uint32_t l1; /* address of the core's L1 */
    uint32_t risc;
    uint32_t x, y;                 /* on the NoC */
    uint32_t logical_x, logical_y; /* among the workers */
    uint32_t noc;                  /* the one this RISC uses by default */
    uint32_t n_args;
    uint32_t n_common_args;
    const uint32_t *args, *common_args; /* borrowed: of this launch */
    struct strobe_sim_ring *rings;
    uint32_t semaphores; /* address of the first; 16 bytes apart */
    uint32_t mailbox;    /* address of the profiler's control vector and buffers */
    uint32_t runtime_id;
    uint32_t replayed;            /* this launch is the first of a trace's replay */
    volatile uint32_t *wall_page; /* shared: registers that show the wall clock, or NULL */
    uint32_t n_banks;             /* of DRAM */
    uint32_t n_workers;           /* banks of L1 */
};

/* What a RISC waits for; for the report of a core that hangs. */
enum strobe_sim_wait {
    STROBE_SIM_WAIT_NOTHING = 0,
    STROBE_SIM_WAIT_PAGES = 1,     /* a circular buffer, to be filled */
    STROBE_SIM_WAIT_ROOM = 2,      /* a circular buffer, to be emptied */
    STROBE_SIM_WAIT_SEMAPHORE = 3, /* a word of L1 */
    STROBE_SIM_WAIT_SOURCE = 4,    /* unpacked tiles */
    STROBE_SIM_WAIT_REGISTERS = 5, /* destination registers */
    STROBE_SIM_WAIT_OTHERS = 6,    /* the end of the core's other RISCs */
    STROBE_SIM_WAIT_HOST = 7,  /* a transfer; this and what follows where RISCs run by themselves */
    STROBE_SIM_WAIT_RELAY = 8, /* room in its ring */
    STROBE_SIM_WAIT_LAUNCH = 9, /* the next launch */
    STROBE_SIM_WAIT_BRISC = 10, /* BRISC's begin */
    STROBE_SIM_N_WAITS = 11
};

enum strobe_sim_tile_op {
    STROBE_SIM_TILE_COPY = 0,
    STROBE_SIM_TILE_ADD = 1,
    STROBE_SIM_TILE_SUB = 2,
    STROBE_SIM_TILE_MUL = 3,
    STROBE_SIM_TILE_MATMUL = 4, /* accumulates */
    STROBE_SIM_TILE_BCAST_ROW_ADD = 5,
};

enum strobe_sim_unary {
    STROBE_SIM_UNARY_RELU = 0,
    STROBE_SIM_UNARY_EXP = 1,
    STROBE_SIM_UNARY_SQRT = 2,
    STROBE_SIM_UNARY_RECIP = 3,
    STROBE_SIM_UNARY_SQUARE = 4,
    STROBE_SIM_UNARY_TANH = 5,
    STROBE_SIM_UNARY_SIGMOID = 6,
    STROBE_SIM_UNARY_NEGATIVE = 7,
    STROBE_SIM_UNARY_ABS = 8,
};

/* What only the simulator can do. Every call is made by the RISC that runs. */
struct strobe_sim_calls {
    void (*yield)(void);              /* let others run up to `now` */
    void (*wait_until)(uint64_t now); /* the same, after moving the clock */
    void (*noc_read)(uint64_t from, uint32_t to, uint32_t bytes); /* asynchronous */
    void (*noc_write)(uint32_t from, uint64_t to, uint32_t bytes, uint32_t flags); /* likewise */
    void (*noc_write_word)(uint64_t to, uint32_t value);
    void (*noc_multicast)(uint32_t from, uint64_t to, uint32_t bytes, uint32_t with_self);
    void (*noc_barrier)(uint32_t which); /* 1 reads, 2 writes, 4 atomics */
    void (*semaphore_inc)(uint64_t to, uint32_t by);
    void (*semaphore_wait)(uint32_t at, uint32_t value, uint32_t at_least);
    void (*semaphore_set)(uint32_t at, uint32_t value);
    void (*ring_wait)(uint32_t ring, uint32_t n_pages);    /* until as many are pushed */
    void (*ring_reserve)(uint32_t ring, uint32_t n_pages); /* until as many are free */
    void (*ring_push)(uint32_t ring, uint32_t n_pages);
    void (*ring_pop)(uint32_t ring, uint32_t n_pages);
    uint64_t (*bank_address)(uint32_t bank, uint32_t in_l1,
                             uint64_t offset); /* NoC address in a bank */
    void (*tile_unpack)(uint32_t ring_a, uint32_t tile_a, uint32_t ring_b, uint32_t tile_b,
                        uint32_t n_tiles);        /* TRISC_0 */
    void (*tile_math)(uint32_t op, uint32_t dst); /* TRISC_1 */
    void (*tile_unary)(uint32_t op, uint32_t dst);
    void (*tile_pack)(uint32_t dst, uint32_t ring, uint32_t at); /* TRISC_2 */
    void (*tile_registers)(uint32_t step); /* 0 acquire, 1 commit, 2 wait, 3 release */
    void (*begun)(
        void); /* BRISC has begun a launch: the core's other RISCs may, where they run by themselves */
    void (*wait_others)(void); /* until the core's other RISCs came to their end */
    void (*perf_switch)(uint32_t on);
    uint32_t (*perf_counter)(uint32_t index, uint32_t *type, uint32_t *ref,
                             uint32_t *value); /* 0: behind the last */
    void (*print)(const char *text);
    void (*dram_push)(uint32_t risc, uint32_t at_word, uint32_t from,
                      uint32_t n_words); /* classic: L1 to DRAM */
};

/* What a built kernel exports. */
struct strobe_sim_kernel {
    uint32_t abi;
    struct strobe_sim_risc **self;         /* set before its code runs */
    const struct strobe_sim_calls **calls; /* set once */
    void (*launch)(void);                  /* firmware and kernel, once */
};

#endif
