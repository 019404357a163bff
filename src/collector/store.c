/* store.c - blocks to the file, then segments back to their processes: in this order, so that
 * nothing is ever only in the recorder's memory.
 *
 * A block that can't be written is counted (build/block.c), and its segments go back all the same: a
 * full disk must not stop the program.  SPDX-License-Identifier: MIT */
#include "collector/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/assert.h"

/* Room for what must not fail later: the segments of a block. */
bool strobe_collector_reserve(struct strobe_collector *c)
{
    return !STROBE_ARRAY_RESERVE(c->pending, c->cap_pending, 1) &&
           !STROBE_ARRAY_RESERVE(c->meta_pending, c->cap_meta_pending, 1);
}

void strobe_collector_lose(struct strobe_collector *c, uint32_t proc, uint64_t track,
                           uint32_t cause, uint64_t count, uint64_t first, uint64_t last)
{
    STROBE_ASSERT(cause < STROBE_LOSS_COUNT);
    strobe_build_block_lose(&c->block, proc, track, cause, count, first, last);
}

bool strobe_collector_pend(struct strobe_collector *c, struct strobe_proc *proc,
                           const struct strobe_segment *segment, bool meta)
{
    STROBE_ASSERT(segment->state == STROBE_SEGMENT_DRAINED);
    STROBE_ASSERT(meta == (segment->track == STROBE_META_TRACK));
    STROBE_ASSERT(strobe_proc_is_open(proc));
    struct give_back *entry =
        meta ? STROBE_ARRAY_PUSH(c->meta_pending, c->n_meta_pending, c->cap_meta_pending)
             : STROBE_ARRAY_PUSH(c->pending, c->n_pending, c->cap_pending);
    if (entry)
        *entry = (struct give_back){proc, *segment};
    return entry != NULL;
}

/* Segments whose words are in the file (or counted as lost) go back. `n_unwritten`: what of them is not, 0. */
static void give_back(struct give_back *list, uint32_t *n, uint64_t n_unwritten)
{
    STROBE_ASSERT(!n_unwritten);
    (void)n_unwritten;
    for (uint32_t i = 0; i < *n; i++) {
        struct strobe_proc *proc = list[i].proc;
        STROBE_ASSERT(strobe_proc_is_open(proc));
        strobe_ring_give_back(&proc->ring, &list[i].segment);
        if (i + 1 == *n || list[i + 1].proc != proc)
            strobe_ring_wake(&proc->ring);
    }
    *n = 0;
}

void strobe_collector_flush_events(struct strobe_collector *c)
{
    if (!c->block.enc.n_parts && !c->n_pending)
        return;
    STROBE_ASSERT(!c->block.enc.track);
    /* a location is named before it is used: the names that this block needs are in the meta
     * streams by now, maybe in segments that were opened since the last scan */
    for (uint32_t i = 0; i < c->n_procs; i++) {
        struct strobe_proc *proc = c->procs[i];
        if (strobe_proc_is_over(proc))
            continue;
        if (strobe_proc_is_live(proc) && strobe_ring_has_news(&proc->ring))
            strobe_ring_scan(&proc->ring, strobe_collector_add_segment, proc);
        strobe_collector_drain_meta(c, proc);
        /* what was lost before an event of this block is in the file before it, should we be killed; of the
         * dead, each thread's losses are read before its last words */
        if (strobe_proc_is_live(proc))
            strobe_collector_read_losses(c, proc);
    }
    strobe_collector_flush_records(c);
    strobe_build_block_put_events(&c->block);
    give_back(c->pending, &c->n_pending, c->block.enc.n_parts);
}

/* Where not even the reserved area could be written: the losses as text beside the session's page.
 */
void strobe_collector_keep_losses(struct strobe_collector *c)
{
    const struct strobe_build_losses *losses = &c->block.losses;
    if (!losses->n || !losses->ledger_failed)
        return;
    int fd = strobe_session_open(c->dir, STROBE_LEDGER_FILE, O_WRONLY | O_CREAT | O_TRUNC);
    if (fd < 0)
        return;
    dprintf(fd, "# losses that could not be written to the trace: process, thread, cause "
                "(docs/file-format.md), "
                "events, first tick, last tick\n");
    for (uint32_t i = 0; i < losses->n; i++) {
        const struct strobe_build_loss *loss = &losses->items[i];
        dprintf(fd, "%u %llu %u %llu %llu %llu\n", loss->proc, (unsigned long long)loss->track,
                loss->cause, (unsigned long long)loss->count, (unsigned long long)loss->first,
                (unsigned long long)loss->last);
    }
    close(fd);
}

void strobe_collector_flush_records(struct strobe_collector *c)
{
    for (uint32_t i = 0; i < c->n_procs; i++) {
        struct strobe_proc *proc = c->procs[i];
        if (!proc->meta_dirty)
            continue;
        strobe_records_begin(&c->block.records, STROBE_FACT_POOL);
        strobe_records_u(&c->block.records, proc->id);
        strobe_records_s(&c->block.records, proc->name, strlen(proc->name));
        strobe_records_u(&c->block.records, proc->meta.pos);
        strobe_records_end(&c->block.records);
        proc->meta_dirty = false;
    }
    if (!strobe_build_block_put_records(&c->block, c->last_sync_tick))
        give_back(c->meta_pending, &c->n_meta_pending, c->block.records.n_records);
    strobe_build_block_put_losses(&c->block);
}
