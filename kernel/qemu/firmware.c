/* firmware.c - what the harts of a core under QEMU run: wait for a launch, copy the kernel in, run it, say that it is done; in between
 * they answer readings of the clock. Who may store what: layout.h; how harts sleep: firmware.h.
 * Never waits without sleeping but for the clock, where it is the point, and bounded.  SPDX-License-Identifier: MIT */
#include "tiles.h"

#define AWAKE_TURNS 60000 /* looks for the next reading of the clock before a hart sleeps again */

/* All harts begin here. Data and bss lie in the image, bss cleared by the host: its memory is new. */
__asm__(".section .text.start, \"ax\"\n"
        ".globl _start\n"
        "_start:\n"
        "    la t0, firmware_trap\n"
        "    csrw mtvec, t0\n"
        "    csrr a0, mhartid\n"
        "    addi t0, a0, 1\n"
        "    slli t0, t0, 16\n"
        "    li sp, 0x80240000\n"
        "    add sp, sp, t0\n"
        "    call firmware_main\n"
        ".balign 4\n"
        "firmware_trap:\n"
        "    csrr a0, mcause\n"
        "    csrr a1, mepc\n"
        "    csrr a2, mtval\n"
        "    call firmware_stop\n"
        ".text\n");
STROBE_WORDS_ASSERT(STROBE_QEMU_STACKS == 0x80240000u && STROBE_QEMU_STACK_BYTES == 1u << 16,
                    "the first instructions know it");

/* What gcc calls for assignments and loops of its own. */
__attribute__((used, optimize("no-tree-loop-distribute-patterns"))) void *
memcpy(void *to, const void *from, size_t n)
{
    copy_bytes(to, from, n);
    return to;
}
__attribute__((used, optimize("no-tree-loop-distribute-patterns"))) void *memset(void *to, int byte,
                                                                                 size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((volatile uint8_t *)to)[i] = (uint8_t)byte;
    return to;
}

/* An exception: a kernel went where there is nothing. The host reads where; nobody goes on here. */
__attribute__((used, noreturn)) void firmware_stop(uint32_t cause, uint32_t pc, uint32_t value)
{
    hart_words *me = my_words();
    me->trap_pc = pc;
    me->trap_value = value;
    FENCE();
    me->trap_cause = cause + 1;
    machine_ring();
    __asm__ volatile("csrw mie, zero");
    for (;;)
        __asm__ volatile("wfi");
}

/* ---- the other calls of kernels ---- */

/* The ring of a RISC is full: the relay is asked to look, and rings when it has. */
static void yield(void)
{
    hart_words *me = my_words();
    uint32_t hart = my_number();
    me->wait_kind = STROBE_SIM_WAIT_RELAY;
    me->waits = 1;
    MSIP(hart) = 0;
    machine_ring();
    uint32_t risc_head = STROBE_SC_HEAD + hart;
    volatile uint32_t *control = (volatile uint32_t *)(STROBE_QEMU_L1 + STROBE_SIM_MAILBOX);
    volatile struct strobe_l1_lane *lane =
        (volatile struct strobe_l1_lane *)(STROBE_QEMU_L1 + STROBE_SIM_MAILBOX +
                                           STROBE_L1_LANE_OFFSET(STROBE_QEMU_HARTS, hart));
    FENCE();
    if (control[risc_head] == lane->head && control[STROBE_SC_ARMED])
        sleep_a_while(hart);
    me->waits = 0;
    me->wait_kind = STROBE_SIM_WAIT_NOTHING;
}

static void wait_until(uint64_t now)
{
    (void)now;
}

static void begun(void)
{
    SHARED->begun = my_words()->go;
    wake_others(my_number());
}

static uint32_t others_done(uint32_t hart)
{
    for (uint32_t i = 0; i < STROBE_QEMU_HARTS; i++)
        if (i != hart && SHARED->harts[i].done != SHARED->harts[i].go)
            return 0;
    return 1;
}

static void wait_others(void)
{
    WAIT_UNTIL(others_done(my_number()), STROBE_SIM_WAIT_OTHERS, 0);
    FENCE();
}

static void perf_switch(uint32_t on)
{
    (void)on;
}

static uint32_t perf_counter(uint32_t index, uint32_t *type, uint32_t *ref, uint32_t *value)
{
    (void)index, (void)type, (void)ref, (void)value;
    return 0; /* there are none */
}

static void print(const char *text)
{
    (void)text;
}

static const struct strobe_sim_calls calls = {
    .yield = yield,
    .wait_until = wait_until,
    .noc_read = noc_read,
    .noc_write = noc_write,
    .noc_write_word = noc_write_word,
    .noc_multicast = noc_multicast,
    .noc_barrier = noc_barrier,
    .semaphore_inc = semaphore_inc,
    .semaphore_wait = semaphore_wait,
    .semaphore_set = semaphore_set,
    .ring_wait = ring_wait,
    .ring_reserve = ring_reserve,
    .ring_push = ring_push,
    .ring_pop = ring_pop,
    .bank_address = bank_address,
    .tile_unpack = tile_unpack,
    .tile_math = tile_math,
    .tile_unary = tile_unary,
    .tile_pack = tile_pack,
    .tile_registers = tile_registers,
    .begun = begun,
    .wait_others = wait_others,
    .perf_switch = perf_switch,
    .perf_counter = perf_counter,
    .print = print,
    .dram_push = dram_push,
};

/* ---- a hart's life ---- */

static void load_kernel(uint32_t hart, uint32_t n_words)
{
    const volatile uint32_t *from =
        (const volatile uint32_t *)(STROBE_QEMU_STAGES + hart * STROBE_QEMU_SLOT_BYTES);
    volatile uint32_t *to =
        (volatile uint32_t *)(STROBE_QEMU_KERNELS + hart * STROBE_QEMU_SLOT_BYTES);
    for (uint32_t i = 0; i < n_words; i++)
        to[i] = from[i];
    __asm__ volatile("fence.i" ::: "memory");
}

static void launch(uint32_t hart, hart_words *me)
{
    uint32_t go = me->go;
    if (me->load_words)
        load_kernel(hart, me->load_words);
    struct strobe_sim_risc self = {.l1 = STROBE_QEMU_L1,
                                   .risc = hart,
                                   .x = SHARED->x,
                                   .y = SHARED->y,
                                   .logical_x = SHARED->logical_x,
                                   .logical_y = SHARED->logical_y,
                                   .noc = hart == 1,
                                   .n_args = me->n_args,
                                   .n_common_args = me->n_common_args,
                                   .args = (const uint32_t *)me->args,
                                   .common_args = (const uint32_t *)me->common_args,
                                   .rings = (struct strobe_sim_ring *)SHARED->rings,
                                   .semaphores = STROBE_QEMU_L1 + STROBE_SIM_SEMAPHORES,
                                   .mailbox = STROBE_QEMU_L1 + STROBE_SIM_MAILBOX,
                                   .runtime_id = SHARED->runtime_id,
                                   .replayed = me->replayed,
                                   .n_banks = SHARED->n_banks,
                                   .n_workers = SHARED->n_workers};
    if (hart)
        WAIT_UNTIL(SHARED->begun == go, STROBE_SIM_WAIT_BRISC, 0);
    machine_clock(&me->began[0], &me->began[1]);
    ((void (*)(struct strobe_sim_risc *, const struct strobe_sim_calls *))me->entry)(&self, &calls);
    wait_served(); /* what it wrote without a barrier */
    machine_clock(&me->ended[0], &me->ended[1]);
    FENCE();
    me->done = go;
    wake_others(hart);
    machine_ring();
}

/* Readings follow each other: the hart stays awake for the next, so that a reading takes no bell. */
static void answer_clock(hart_words *me)
{
    me->is_awake = 1;
    for (uint32_t turn = 0; turn < AWAKE_TURNS && me->go == me->done; turn++) {
        uint32_t ask = me->clock_ask;
        if (ask == me->clock_answer)
            continue;
        machine_clock(&me->clock_low, &me->clock_high);
        FENCE();
        me->clock_answer = ask;
        turn = 0;
    }
    me->is_awake = 0;
    FENCE();
}

__attribute__((used, noreturn)) void firmware_main(uint32_t hart)
{
    if (hart >= STROBE_QEMU_HARTS)
        firmware_stop(0, 0, hart);
    hart_words *me = my_words();
    machine_open(hart);
    FENCE();
    me->is_ready = STROBE_QEMU_VERSION;
    machine_ring();
    for (;;) {
        WAIT_UNTIL(me->go != me->done || me->clock_ask != me->clock_answer, STROBE_SIM_WAIT_LAUNCH,
                   0);
        FENCE();
        if (me->go != me->done)
            launch(hart, me);
        else
            answer_clock(me);
    }
}
