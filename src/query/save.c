/* save.c - copies blocks as they are; only the footer's counts are made anew.  SPDX-License-Identifier: MIT */
#include "query/save.h"

#include <fcntl.h>
#include <unistd.h>

#include "file/file_write.h"

struct copy {
    struct strobe_file_writer *to;
    struct strobe_block block;
    struct strobe_events events;
};

static void count_kinds(struct copy *copy, struct strobe_index_entry *entry)
{
    uint64_t *by_kind = strobe_file_totals(copy->to)->by_kind;
    const uint8_t *sym = copy->events.stream[STROBE_SYM];
    for (uint32_t i = 0; i < copy->events.n_events; i++) {
        by_kind[sym[i] < STROBE_SYM_BEGIN_FAR ? sym[i] : STROBE_SYM_BEGIN_FAR]++;
        entry->n_zones += sym[i] <= STROBE_KIND_ZONE_END_POP;
    }
    entry->n_events = copy->events.n_events;
}

static enum strobe_err copy_block(struct copy *copy)
{
    struct strobe_index_entry entry = {0};
    if (copy->block.ref.head.type == STROBE_BLOCK_EVENTS) {
        enum strobe_err err = strobe_decode_parts(&copy->block, &copy->events);
        if (!err)
            err = strobe_decode_streams(&copy->block, 1u << STROBE_SYM, &copy->events);
        if (err == STROBE_ERR_CORRUPT)
            return STROBE_OK; /* left out, as every reader would */
        if (err)
            return err;
        count_kinds(copy, &entry);
    }
    return strobe_file_put_block(copy->to, &copy->block.ref.head, copy->block.stored, &entry);
}

static enum strobe_err copy_blocks(struct strobe_view *view, uint64_t lo, uint64_t hi,
                                   struct copy *copy)
{
    const struct strobe_block_filter filter = {.by_tick = 1, .tick_min = lo, .tick_max = hi};
    struct strobe_block_iter *iter;
    enum strobe_err err = strobe_file_iterate(view->trace->file, &filter, &iter);
    while (!err && (err = strobe_file_next_block(iter, &copy->block)) == STROBE_OK)
        err = copy_block(copy);
    strobe_file_end_iterate(iter);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

enum strobe_err strobe_save_range(struct strobe_view *view, uint64_t lo, uint64_t hi,
                                  const char *path, uint64_t *n_bytes)
{
    struct copy copy = {0};
    const struct strobe_file_facts *facts = strobe_file_facts(view->trace->file);
    if (!access(path, F_OK))
        return STROBE_ERR_BUSY;
    enum strobe_err err = strobe_file_create(path, facts->session, facts->sync_ns, &copy.to);
    if (err)
        return err;
    err = copy_blocks(view, lo, hi, &copy);
    struct strobe_file_totals *totals = strobe_file_totals(copy.to);
    totals->n_procs = view->trace->n_processes;
    totals->n_threads = view->trace->thread_ids.n;
    *n_bytes = totals->n_bytes;
    enum strobe_err closed = strobe_file_finish(copy.to);
    strobe_block_free(&copy.block);
    strobe_events_free(&copy.events);
    err = err ? err : closed;
    if (err)
        unlink(path);
    return err;
}
