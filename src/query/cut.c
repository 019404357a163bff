/* cut.c - says what is chosen; file/copy.c does the copying.  SPDX-License-Identifier: MIT */
#include "query/cut.h"

#include <unistd.h>

#include "base/assert.h"
#include "file/copy.h"
#include "query/inherit.h"
#include "query/pair.h"

struct choice {
    const struct strobe_trace *trace;
    const struct strobe_cut_options *options;
};

/* One that the trace doesn't know is not somebody else's. */
static int is_chosen(void *context, uint64_t proc)
{
    const struct choice *choice = context;
    uint32_t process = strobe_idmap_find(&choice->trace->process_ids, 0, proc);
    return process == STROBE_IDMAP_NONE || process >= choice->options->n_processes ||
           !choice->options->processes || choice->options->processes[process];
}

static int is_chosen_track(void *context, uint64_t proc, uint64_t track)
{
    const struct choice *choice = context;
    const struct strobe_trace *trace = choice->trace;
    uint32_t process = strobe_idmap_find(&trace->process_ids, 0, proc);
    uint32_t thread = process == STROBE_IDMAP_NONE
                          ? process
                          : strobe_idmap_find(&trace->thread_ids, process, track);
    return thread == STROBE_IDMAP_NONE || thread >= choice->options->n_threads ||
           choice->options->threads[thread];
}

/* What a trace has behind its last event but for the footer. */
static void complete(struct strobe_file_writer *to, struct choice *choice)
{
    const struct strobe_trace *trace = choice->trace;
    struct strobe_file_totals *totals = strobe_file_totals(to);
    const uint8_t *threads = choice->options->threads;
    int is_all = !choice->options->processes && !threads;
    for (uint32_t i = 0; i < trace->n_processes; i++)
        totals->n_procs += is_all || is_chosen(choice, trace->processes[i].proc);
    for (uint32_t i = 0; i < trace->thread_ids.n; i++)
        totals->n_threads +=
            is_all || (is_chosen(choice, trace->processes[trace->threads[i].process].proc) &&
                       (!threads || i >= choice->options->n_threads || threads[i]));
    strobe_pair_write(to, NULL); /* where that fails readers pair themselves */
}

/* The footer; the file is gone where that fails. */
static enum strobe_err finish(struct strobe_file_writer *to, const char *path, enum strobe_err err)
{
    enum strobe_err closed = strobe_file_finish(to);
    err = err ? err : closed;
    if (err)
        unlink(path);
    return err;
}

enum strobe_err strobe_cut_write(struct strobe_trace *trace,
                                 const struct strobe_cut_options *options, const char *path,
                                 uint64_t *n_bytes)
{
    const struct strobe_file_facts *facts = strobe_file_facts(trace->file);
    struct choice choice = {trace, options};
    int is_part = options->processes || options->threads;
    const struct strobe_copy_options blocks = {.by_tick = options->by_tick,
                                               .tick_min = options->tick_min,
                                               .tick_max = options->tick_max,
                                               .keeps = is_part ? is_chosen : NULL,
                                               .keeps_track =
                                                   options->threads ? is_chosen_track : NULL,
                                               .context = &choice,
                                               .counts = options->closed};
    const struct strobe_inherit_options inherited = {.is_part = is_part || options->by_tick,
                                                     .closed = options->closed};
    struct strobe_file_writer *to = NULL;
    int has_session = options->closed && !is_part; /* its files are of all processes */
    if (options->closed && !access(path, F_OK))
        return STROBE_ERR_BUSY;
    enum strobe_err err = strobe_file_create(path, has_session ? facts->session : "",
                                             has_session ? facts->sync_ns : 0, &to);
    if (err)
        return err;
    if (options->closed && facts->created_ns)
        err = strobe_file_set_created(to, facts->created_ns);
    if (!err)
        err = strobe_copy_blocks(trace->file, &blocks, to);
    if (!err)
        err = strobe_inherit_losses(trace, &inherited, to);
    if (!err && options->closed)
        complete(to, &choice);
    if (n_bytes)
        *n_bytes = strobe_file_n_bytes(to);
    if (options->closed)
        return finish(to, path, err);
    strobe_file_abandon(to);
    return err;
}
