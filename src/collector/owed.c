/* owed.c - ends of zones that a process owes: they found no room, and are stored when there is some (src/client/owed.c). What is owed when the
 * recording ends, or the process, is lost.  SPDX-License-Identifier: MIT */
#include "base/assert.h"
#include "collector/internal.h"

#include <stdio.h>
#include <string.h>

void strobe_collector_forget_owed(struct strobe_proc *proc)
{
    struct strobe_slot *slot;
    for (uint64_t at = 0; (slot = strobe_ring_slot(&proc->ring, &at));)
        __atomic_store_n(&slot->owed, 0, __ATOMIC_RELEASE);
}

uint64_t strobe_collector_late_end(struct strobe_proc *proc, const struct strobe_track *track)
{
    proc->n_late_ends++;
    return track->depth && !track->fiber ? track->stack[track->depth - 1].loc : 0;
}

void strobe_collector_lose_owed(struct strobe_collector *c, struct strobe_proc *proc)
{
    char text[192];
    struct strobe_stream_state *stream;
    struct strobe_slot *slot;
    uint64_t now = strobe_collector_now(c);
    STROBE_ASSERT(strobe_proc_is_open(proc));
    for (uint64_t at = 0; (slot = strobe_collector_next_slot(proc, &at, &stream));) {
        uint16_t owed = __atomic_load_n(&slot->owed, __ATOMIC_ACQUIRE);
        strobe_collector_lose(c, proc->id, stream->id, owed >> STROBE_SLOT_OWED_SHIFT,
                              owed & STROBE_SLOT_OWED_MAX, now, now);
    }
    strobe_collector_forget_owed(proc);
    if (!proc->n_late_ends)
        return;
    snprintf(
        text, sizeof text,
        "process %u: %llu zones ended while there was no room for their ends: they look longer "
        "than they were, up to the time when there was some",
        proc->ring.pid, (unsigned long long)proc->n_late_ends);
    strobe_collector_note(c, proc->id, text);
    proc->n_late_ends = 0;
}
