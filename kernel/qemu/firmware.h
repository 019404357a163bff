/* firmware.h - what the firmware's files share. One translation unit (firmware.c), so all is static.
 *
 * A hart that waits stores `waits`, looks, and sleeps until a software interrupt or a bell; who changes something stores it, then looks
 * for `waits`. With a fence between the two on both sides no wake is missed. Who hears the host's bell wakes the others: one hart
 * takes it, and it may be meant for another.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QEMU_FIRMWARE_H
#define STROBE_QEMU_FIRMWARE_H

#include "machine.h"

typedef volatile struct strobe_qemu_hart hart_words;
#define SHARED ((volatile struct strobe_qemu_shared *)STROBE_QEMU_SHARED)

static inline uint32_t my_number(void)
{
    uint32_t hart;
    __asm__("csrr %0, mhartid" : "=r"(hart));
    return hart;
}

static inline hart_words *my_words(void)
{
    return &SHARED->harts[my_number()];
}

static void wake_others(uint32_t hart)
{
    FENCE();
    for (uint32_t i = 0; i < STROBE_QEMU_HARTS; i++)
        if (i != hart && SHARED->harts[i].waits)
            MSIP(i) = 1;
}

/* Until something may have changed. */
static void sleep_a_while(uint32_t hart)
{
    __asm__ volatile("wfi" ::: "memory");
    if (machine_heard(hart))
        wake_others(hart);
}

/* Wait until `condition`; wait_kind and wait_on are for the host's report of a hang. */
#define WAIT_UNTIL(condition, kind, on)              \
    do {                                             \
        uint32_t hart_ = my_number();                \
        hart_words *words_ = my_words();             \
        if (condition)                               \
            break;                                   \
        words_->wait_kind = (kind);                  \
        words_->wait_on = (on);                      \
        words_->waits = 1;                           \
        for (;;) {                                   \
            MSIP(hart_) = 0;                         \
            FENCE();                                 \
            if (condition)                           \
                break;                               \
            sleep_a_while(hart_);                    \
        }                                            \
        words_->waits = 0;                           \
        words_->wait_kind = STROBE_SIM_WAIT_NOTHING; \
    } while (0)

#endif
