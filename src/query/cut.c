/* cut.c - copies blocks as they are: nothing is decoded but the heads that name the processes.
 * SPDX-License-Identifier: MIT */
#include "query/cut.h"

#include "file/decode.h"
#include "file/file_write.h"

/* 1: some part of the block is of a chosen process. A head that can't be read is kept. */
static int is_chosen(const struct strobe_trace *trace, const struct strobe_cut_options *options,
                     const struct strobe_block *block, struct strobe_events *events)
{
    if (!options->processes || block->ref.head.type != STROBE_BLOCK_EVENTS ||
        strobe_decode_parts(block, events))
        return 1;
    for (uint32_t i = 0; i < events->n_parts; i++) {
        uint32_t process = strobe_idmap_find(&trace->process_ids, 0, events->parts[i].proc);
        if (process == STROBE_IDMAP_NONE || process >= options->n_processes ||
            options->processes[process])
            return 1;
    }
    return 0;
}

static enum strobe_err copy(struct strobe_trace *trace, const struct strobe_cut_options *options,
                            struct strobe_file_writer *to)
{
    const struct strobe_block_filter filter = {
        .by_tick = options->by_tick, .tick_min = options->tick_min, .tick_max = options->tick_max};
    struct strobe_block_iter *iter = NULL;
    struct strobe_block block = {0};
    struct strobe_events events = {0};
    enum strobe_err err = strobe_file_iterate(trace->file, &filter, &iter);
    while (!err && (err = strobe_file_next_block(iter, &block)) == STROBE_OK) {
        const struct strobe_index_entry entry = {.n_events = block.ref.head.n_items};
        if (is_chosen(trace, options, &block, &events))
            err = strobe_file_put_block(to, &block.ref.head, block.stored, &entry);
    }
    strobe_file_end_iterate(iter);
    strobe_block_free(&block);
    strobe_events_free(&events);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

enum strobe_err strobe_cut_write(struct strobe_trace *trace,
                                 const struct strobe_cut_options *options, const char *path)
{
    struct strobe_file_writer *to = NULL;
    enum strobe_err err = strobe_file_create(path, "", 0, &to);
    if (err)
        return err;
    err = copy(trace, options, to);
    strobe_file_abandon(to); /* the totals of a footer would have to be counted from the events */
    return err;
}
