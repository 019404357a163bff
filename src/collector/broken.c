/* broken.c - a process whose shared memory broke (its file was cut, or a page of it can't be had): its part of the
 * recording ends, with a loss for each of its threads, and the others go on.  SPDX-License-Identifier: MIT */
#include "collector/internal.h"

#include <stdio.h>
#include <unistd.h>

#include "base/assert.h"

/* Through the file, since the mapping is nobody's now: where its first page is left (or can be made), the process sees
 * that nobody records. */
static void shut_gate(const struct strobe_ring *ring)
{
    const uint32_t closed = 0;
    if (pwrite(ring->fd, &closed, sizeof closed, offsetof(struct strobe_control, active)) < 0)
        return; /* it is beyond help */
}

bool strobe_collector_check_memory(struct strobe_collector *c, struct strobe_proc *proc)
{
    char text[160];
    uint64_t now = strobe_collector_now(c);
    bool counted = false;
    if (!strobe_proc_is_open(proc) || strobe_proc_is_over(proc) ||
        !strobe_map_guard_is_broken(&proc->ring.guard))
        return false;
    for (uint32_t i = 0; i < proc->n_slots; i++) {
        struct strobe_stream_state *stream = proc->streams[i];
        if (!stream)
            continue;
        uint64_t first = stream->prev_tick && stream->prev_tick < now ? stream->prev_tick : now;
        strobe_collector_lose(c, proc->id, stream->id, STROBE_LOSS_DAMAGED, 1, first, now);
        counted = true;
    }
    if (!counted)
        strobe_collector_lose(c, proc->id, 0, STROBE_LOSS_DAMAGED, 1, now, now);
    STROBE_ASSERT(strobe_proc_is_open(proc) && !strobe_proc_is_over(proc));
    snprintf(
        text, sizeof text,
        "process %u: its pool was cut or can't be read any more: what it emitted last is lost, and "
        "how much it was is not known",
        strobe_collector_pid(proc));
    strobe_collector_note(c, proc->id, text);
    if (!c->post_mortem)
        shut_gate(&proc->ring);
    proc->n_damaged++;
    strobe_collector_end_process(c, proc);
    return true;
}
