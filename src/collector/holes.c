/* holes.c - words that a live thread took and did not write, with written ones behind them. Either the thread is stopped
 * in the middle of an emit, or a signal handler jumped out of it: only the thread can tell (src/ring/mend.c), so it is
 * asked, through a small table in its control page that nobody but the recorder writes. Nothing is ever decided by time.
 * SPDX-License-Identifier: MIT */
#include "base/assert.h"
#include "collector/internal.h"

/* Something was written behind `at`. */
static bool is_passed(const struct strobe_stream_state *stream, const uint64_t *at,
                      const uint64_t *end)
{
    while (++at < end)
        if (__atomic_load_n(at, __ATOMIC_RELAXED))
            return true;
    return stream->n_segments > 1;
}

void strobe_collector_ask_for(struct strobe_proc *proc, struct strobe_stream_state *stream,
                              const uint64_t *at, const uint64_t *end)
{
    struct strobe_control *control = proc->ring.control;
    STROBE_ASSERT(at < end && stream->state != STROBE_STREAM_ENDED);
    STROBE_ASSERT(stream != &proc->meta);
    STROBE_ASSERT((const char *)at > proc->ring.data);
    if (stream->state != STROBE_STREAM_RUNNING && stream->waits_at != stream->pos)
        strobe_collector_ask_no_more(proc, stream);
    if (stream->state == STROBE_STREAM_RUNNING) {
        stream->waits_at = stream->pos;
        strobe_stream_move(stream, STROBE_STREAM_WAITING);
        return;
    }
    if (stream->state == STROBE_STREAM_ASKED || !is_passed(stream, at, end))
        return;
    for (uint32_t i = 0; i < STROBE_HOLES_MAX; i++) {
        struct strobe_ring_hole *hole = &control->holes[i];
        if (proc->holes_used & 1u << i)
            continue;
        STROBE_ASSERT(!stream->hole && stream->waits_at == stream->pos);
        proc->holes_used |= 1u << i;
        stream->hole = i + 1;
        strobe_stream_move(stream, STROBE_STREAM_ASKED);
        hole->offset = (uint64_t)((const char *)at - proc->ring.data);
        __atomic_store_n(&hole->track, stream->id, __ATOMIC_RELEASE);
        __atomic_store_n(&control->holes_used, proc->holes_used, __ATOMIC_RELEASE);
        return;
    }
}

void strobe_collector_ask_no_more(struct strobe_proc *proc, struct strobe_stream_state *stream)
{
    struct strobe_control *control = proc->ring.control;
    if (stream->state == STROBE_STREAM_ASKED) {
        STROBE_ASSERT(stream->hole <= STROBE_HOLES_MAX);
        STROBE_ASSERT(proc->holes_used >> (stream->hole - 1) & 1);
        proc->holes_used &= ~(1u << (stream->hole - 1));
        __atomic_store_n(&control->holes[stream->hole - 1].track, 0, __ATOMIC_RELEASE);
        __atomic_store_n(&control->holes_used, proc->holes_used, __ATOMIC_RELEASE);
        stream->hole = 0;
    }
    if (stream->state == STROBE_STREAM_WAITING || stream->state == STROBE_STREAM_ASKED)
        strobe_stream_move(stream, STROBE_STREAM_RUNNING);
}
