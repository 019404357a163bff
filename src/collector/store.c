/* store.c - blocks to the file, then segments back to their processes: in this order, so that
 * nothing is ever only in the recorder's memory.
 *
 * A block that can't be written is counted, part by part, and its segments go back all the same: a
 * full disk must not stop the program. The count itself is kept until a block takes it, at last in
 * the space that was reserved when the file was made.  SPDX-License-Identifier: MIT */
#include "collector/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Room for one more entry of `size` bytes, or false. */
static bool grow(void *list, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap)
        return true;
    uint32_t more = *cap ? 2 * *cap : 64;
    void *bigger = realloc(*(void **)list, more * size);
    if (!bigger)
        return false;
    *(void **)list = bigger;
    *cap = more;
    return true;
}

/* Room for what must not fail later: names up to the size at which they are written, the first
 * losses, the parts and segments of a block. */
bool strobe_collector_reserve(struct strobe_collector *c)
{
    return strobe_records_reserve(&c->records, STROBE_SIDE_BYTES + (64 << 10)) &&
           strobe_records_reserve(&c->loss_records, STROBE_FILE_LEDGER_SLOT) &&
           grow(&c->losses, 0, &c->cap_losses, sizeof *c->losses) &&
           grow(&c->parts, 0, &c->cap_parts, sizeof *c->parts) &&
           grow(&c->pending, 0, &c->cap_pending, sizeof *c->pending) &&
           grow(&c->meta_pending, 0, &c->cap_meta_pending, sizeof *c->meta_pending);
}

/* Under losses_lock: one entry per process, track and cause. */
static void add_loss(struct strobe_collector *c, const struct loss *one)
{
    for (uint32_t i = c->n_losses; i-- > 0;) {
        struct loss *loss = &c->losses[i];
        if (loss->proc != one->proc || loss->track != one->track || loss->cause != one->cause)
            continue;
        loss->count += one->count;
        loss->first = one->first < loss->first ? one->first : loss->first;
        loss->last = one->last > loss->last ? one->last : loss->last;
        return;
    }
    if (grow(&c->losses, c->n_losses, &c->cap_losses, sizeof *c->losses))
        c->losses[c->n_losses++] = *one;
    else if (c->n_losses) /* no memory: at least the number stays right */
        c->losses[c->n_losses - 1].count += one->count;
}

void strobe_collector_lose(struct strobe_collector *c, uint32_t proc, uint64_t track,
                           uint32_t cause, uint64_t count, uint64_t first, uint64_t last)
{
    struct loss one = {proc, cause, track, count, first, last};
    if (!count)
        return;
    pthread_mutex_lock(&c->losses_lock);
    c->lost_total += count;
    add_loss(c, &one);
    pthread_mutex_unlock(&c->losses_lock);
    strobe_file_count_lost(c->writer, cause, count);
}

void strobe_collector_note_part(struct strobe_collector *c, uint32_t proc, uint64_t track,
                                uint64_t n_events, uint64_t first, uint64_t last)
{
    if (n_events && grow(&c->parts, c->n_parts, &c->cap_parts, sizeof *c->parts))
        c->parts[c->n_parts++] = (struct part_note){proc, track, n_events, first, last};
}

bool strobe_collector_pend(struct strobe_collector *c, struct strobe_proc *proc,
                           const struct strobe_segment *segment, bool meta)
{
    struct give_back entry = {proc, *segment};
    if (meta) {
        if (!grow(&c->meta_pending, c->n_meta_pending, &c->cap_meta_pending, sizeof entry))
            return false;
        c->meta_pending[c->n_meta_pending++] = entry;
        return true;
    }
    if (!grow(&c->pending, c->n_pending, &c->cap_pending, sizeof entry))
        return false;
    c->pending[c->n_pending++] = entry;
    return true;
}

/* Segments whose words are in the file (or counted as lost) go back. */
static void give_back(struct give_back *list, uint32_t *n)
{
    for (uint32_t i = 0; i < *n; i++) {
        struct strobe_proc *proc = list[i].proc;
        strobe_ring_give_back(&proc->ring, &list[i].segment);
        if (i + 1 == *n || list[i + 1].proc != proc)
            strobe_ring_wake(&proc->ring);
    }
    *n = 0;
}

void strobe_collector_flush_events(struct strobe_collector *c)
{
    struct strobe_encoder *enc = &c->enc;
    enum strobe_err err = STROBE_OK;
    if (!enc->n_parts && !c->n_pending)
        return;
    /* a location is named before it is used: the names that this block needs are in the meta
     * streams by now, maybe in segments that were opened since the last scan */
    for (uint32_t i = 0; i < c->n_procs; i++) {
        struct strobe_proc *proc = c->procs[i];
        if (proc->gone)
            continue;
        if (!proc->dead && strobe_ring_has_news(&proc->ring))
            strobe_ring_scan(&proc->ring, strobe_collector_add_segment, proc);
        strobe_collector_drain_meta(c, proc);
    }
    strobe_collector_flush_records(c);
    if (c->max_file_bytes && strobe_file_n_bytes(c->writer) >= c->max_file_bytes)
        c->file_full = true;
    uint32_t cause = c->file_full ? STROBE_LOSS_FILE_LIMIT : STROBE_LOSS_DISK;
    if (!c->file_full && c->records.n_records)
        err = STROBE_ERR_IO; /* the names in it could not be written: it would have no meaning
                                without them */
    else if (!c->file_full)
        err = strobe_file_put_events(c->writer, enc);
    if (c->file_full || err) {
        c->disk_failed |= err != STROBE_OK;
        for (uint32_t i = 0; i < c->n_parts; i++)
            strobe_collector_lose(c, c->parts[i].proc, c->parts[i].track, cause,
                                  c->parts[i].n_events, c->parts[i].first_tick,
                                  c->parts[i].last_tick);
        strobe_encode_give_up(enc);
    }
    c->n_parts = 0;
    give_back(c->pending, &c->n_pending);
}

static void loss_record(struct strobe_records *records, const struct loss *loss)
{
    uint64_t numbers[] = {loss->proc,  loss->track, loss->cause,
                          loss->count, loss->first, loss->last};
    strobe_records_numbers(records, STROBE_FACT_LOSS, numbers, 6);
    strobe_records_tick(records, loss->last);
}

/* The losses in the reserved area: one by one while they fit, then summed by cause. */
static void keep_in_ledger(struct strobe_collector *c)
{
    struct strobe_records *records = &c->loss_records;
    struct loss rest[STROBE_LOSS_COUNT] = {{0}};
    strobe_records_reset(records);
    for (uint32_t i = 0; i < c->n_losses; i++) {
        const struct loss *loss = &c->losses[i];
        if (records->n_bytes < STROBE_FILE_LEDGER_SLOT - 2048) {
            loss_record(records, loss);
            continue;
        }
        struct loss *sum = &rest[loss->cause];
        sum->cause = loss->cause;
        sum->first = !sum->count || loss->first < sum->first ? loss->first : sum->first;
        sum->last = loss->last > sum->last ? loss->last : sum->last;
        sum->count += loss->count;
    }
    for (int i = 0; i < STROBE_LOSS_COUNT; i++)
        if (rest[i].count)
            loss_record(records, &rest[i]);
    c->ledger_failed = strobe_file_put_ledger(c->records_writer, records) != STROBE_OK;
}

/* Where not even the reserved area could be written: the losses as text beside the session's page.
 */
void strobe_collector_keep_losses(struct strobe_collector *c)
{
    if (!c->n_losses || !c->ledger_failed)
        return;
    int fd = strobe_session_open(c->dir, STROBE_LEDGER_FILE, O_WRONLY | O_CREAT | O_TRUNC);
    if (fd < 0)
        return;
    dprintf(fd, "# losses that could not be written to the trace: process, thread, cause "
                "(docs/file-format.md), "
                "events, first tick, last tick\n");
    for (uint32_t i = 0; i < c->n_losses; i++) {
        const struct loss *loss = &c->losses[i];
        dprintf(fd, "%u %llu %u %llu %llu %llu\n", loss->proc, (unsigned long long)loss->track,
                loss->cause, (unsigned long long)loss->count, (unsigned long long)loss->first,
                (unsigned long long)loss->last);
    }
    close(fd);
}

/* Under losses_lock. */
static void put_losses(struct strobe_collector *c)
{
    struct strobe_records *records = &c->loss_records;
    if (!c->n_losses)
        return;
    strobe_records_reset(records);
    for (uint32_t i = 0; i < c->n_losses; i++)
        loss_record(records, &c->losses[i]);
    if (!strobe_file_put_records(c->records_writer, records)) {
        if (c->ledger_used) { /* what stood there is in a block now */
            strobe_records_reset(records);
            strobe_file_put_ledger(c->records_writer, records);
            c->ledger_used = false;
        }
        c->n_losses = 0;
        c->ledger_failed = false;
        return;
    }
    keep_in_ledger(c);
    c->ledger_used = true;
}

static void flush_losses(struct strobe_collector *c)
{
    pthread_mutex_lock(&c->losses_lock);
    put_losses(c);
    pthread_mutex_unlock(&c->losses_lock);
}

bool strobe_collector_has_losses(struct strobe_collector *c)
{
    pthread_mutex_lock(&c->losses_lock);
    bool has = c->n_losses != 0;
    pthread_mutex_unlock(&c->losses_lock);
    return has;
}

void strobe_collector_flush_records(struct strobe_collector *c)
{
    for (uint32_t i = 0; i < c->n_procs; i++) {
        struct strobe_proc *proc = c->procs[i];
        if (!proc->meta_dirty)
            continue;
        strobe_records_begin(&c->records, STROBE_FACT_POOL);
        strobe_records_u(&c->records, proc->id);
        strobe_records_s(&c->records, proc->name, strlen(proc->name));
        strobe_records_u(&c->records, proc->meta.pos);
        strobe_records_end(&c->records);
        proc->meta_dirty = false;
    }
    if (c->records.failed) { /* no memory: start over, the names in it are lost to the file */
        strobe_collector_lose(c, 0, 0, STROBE_LOSS_UNNAMED, c->records.n_records, c->last_sync_tick,
                              c->last_sync_tick);
        strobe_records_reset(&c->records);
    }
    enum strobe_err err = strobe_file_put_records(c->records_writer, &c->records);
    if (!err)
        give_back(c->meta_pending, &c->n_meta_pending);
    else
        c->disk_failed = true;
    flush_losses(c);
}
