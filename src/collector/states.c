/* states.c - the one place that moves a process or a stream from one state to another. Drawings: internal.h.
 * SPDX-License-Identifier: MIT */
#include "base/assert.h"
#include "base/moves.h"
#include "collector/internal.h"

/* moves of strobe_proc_state */
static const uint8_t proc_moves[][2] = {
    {STROBE_PROC_FOUND, STROBE_PROC_LIVE},     {STROBE_PROC_FOUND, STROBE_PROC_DEAD},
    {STROBE_PROC_FOUND, STROBE_PROC_CLOSED},   {STROBE_PROC_LIVE, STROBE_PROC_DEAD},
    {STROBE_PROC_LIVE, STROBE_PROC_DRAINED},   {STROBE_PROC_DEAD, STROBE_PROC_DRAINED},
    {STROBE_PROC_LIVE, STROBE_PROC_CLOSED},    {STROBE_PROC_DEAD, STROBE_PROC_CLOSED},
    {STROBE_PROC_DRAINED, STROBE_PROC_CLOSED},
};

void strobe_proc_move(struct strobe_proc *proc, enum strobe_proc_state to)
{
    STROBE_ASSERT(STROBE_MOVE_IS_LEGAL(proc_moves, proc->state, to));
    /* mapped while it is recorded, and not a moment longer than it is closed */
    STROBE_ASSERT((to == STROBE_PROC_CLOSED) == !proc->ring.control);
    __atomic_store_n(&proc->state, to, __ATOMIC_RELAXED);
}

/* moves of strobe_stream_life */
static const uint8_t stream_moves[][2] = {
    {STROBE_STREAM_RUNNING, STROBE_STREAM_WAITING}, {STROBE_STREAM_WAITING, STROBE_STREAM_RUNNING},
    {STROBE_STREAM_WAITING, STROBE_STREAM_ASKED},   {STROBE_STREAM_ASKED, STROBE_STREAM_RUNNING},
    {STROBE_STREAM_RUNNING, STROBE_STREAM_ENDED},   {STROBE_STREAM_WAITING, STROBE_STREAM_ENDED},
};

void strobe_stream_move(struct strobe_stream_state *stream, enum strobe_stream_life to)
{
    STROBE_ASSERT(STROBE_MOVE_IS_LEGAL(stream_moves, stream->state, to));
    /* an entry of the table of holes is held exactly while its thread is asked */
    STROBE_ASSERT((to == STROBE_STREAM_ASKED) == (stream->hole != 0));
    stream->state = to;
}

void strobe_stream_end(struct strobe_proc *proc, struct strobe_stream_state *stream)
{
    if (stream->state == STROBE_STREAM_ENDED)
        return;
    strobe_collector_ask_no_more(proc, stream);
    strobe_stream_move(stream, STROBE_STREAM_ENDED);
}
