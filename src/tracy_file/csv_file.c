/* csv_file.c - csvexport's tables of a .tracy file, streamed: a zone is a row, or part of a
 * sum, as soon as it was read.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "tracy_file/csv.h"
#include "tracy_file/content.h"

struct pass {
    struct strobe_tracy_csv_table table;
    struct strobe_tracy_content content;
    struct strobe_tracy_row_loc *locs; /* owned: 65536, by id as uint16_t */
    uint64_t thread;                   /* number of the one that is read */
    uint64_t n_messages;
    int64_t first_time; /* of memory plots */
    uint32_t n_main_frames;
    int is_main_set;
    struct strobe_tracy_text plot, pool;
    uint64_t pool_pointer;
    struct strobe_tracy_change *changes; /* owned */
    size_t n_changes, changes_room;
    int is_failed; /* no memory */
};

static void make_loc_ready(struct pass *pass, struct strobe_tracy_row_loc *loc, int16_t id)
{
    struct strobe_tracy_text name = strobe_tracy_loc_name(&pass->content, id);
    const struct strobe_tracy_srcloc *row = strobe_tracy_content_loc(&pass->content, id);
    static const char unknown[] = "???";
    loc->name = name.is_there ? name.at : unknown;
    loc->n_name = name.is_there ? name.n : 3;
    loc->file = row->file.is_there ? row->file.at : unknown;
    loc->n_file = row->file.is_there ? row->file.n : 3;
    loc->line = row->line;
    strobe_tracy_csv_ready(&pass->table, loc);
}

/* The location of a zone, ready for rows. */
static inline struct strobe_tracy_row_loc *ready_loc(struct pass *pass, int16_t id)
{
    struct strobe_tracy_row_loc *loc = &pass->locs[(uint16_t)id];
    if (!loc->is_ready)
        make_loc_ready(pass, loc, id);
    return loc;
}

/* The location of a zone that counts, and its time. NULL: the zone has no end, or took no time. */
static struct strobe_tracy_row_loc *counted(struct pass *pass, const struct strobe_tracy_zone *zone,
                                            int64_t *time)
{
    *time = (int64_t)((uint64_t)zone->end - (uint64_t)zone->start);
    return *time > 0 && zone->end >= 0 ? ready_loc(pass, zone->loc) : NULL;
}

static enum strobe_err begin_thread(void *context, const struct strobe_tracy_thread_head *thread)
{
    struct pass *pass = context;
    pass->thread = strobe_tracy_thread_number(&pass->content, thread->tid);
    return STROBE_OK;
}

static enum strobe_err add_zone(void *context, struct strobe_tracy_zone *stack, uint32_t depth)
{
    struct pass *pass = context;
    const struct strobe_tracy_zone *zone = &stack[depth];
    int64_t time;
    struct strobe_tracy_row_loc *loc = counted(pass, zone, &time);
    if (!loc)
        return STROBE_OK;
    return strobe_tracy_sum_add(&pass->table, &loc->sum, time, time - zone->child_ns)
               ? STROBE_OK
               : STROBE_ERR_NOMEM;
}

/* Plain statistics need nothing of a zone but its time. */
static enum strobe_err add_times(void *context, const struct strobe_tracy_time *times, uint32_t n)
{
    struct pass *pass = context;
    for (uint32_t i = 0; i < n; i++)
        strobe_tracy_sum_time(&ready_loc(pass, times[i].loc)->sum, times[i].ns);
    return STROBE_OK;
}

/* The text of the nearest zone around it whose name has the parent's in it. */
static void find_parent(struct pass *pass, const struct strobe_tracy_zone *stack, uint32_t depth,
                        struct strobe_tracy_row *row)
{
    struct strobe_tracy_extra extra;
    while (depth--) {
        if (!ready_loc(pass, stack[depth].loc)->is_parent)
            continue;
        if (strobe_tracy_extra(&pass->content, stack[depth].extra, &extra) && extra.text.is_there) {
            row->parent_text = extra.text.at;
            row->n_parent_text = extra.text.n;
        }
        return;
    }
}

static enum strobe_err put_zone(void *context, struct strobe_tracy_zone *stack, uint32_t depth)
{
    struct pass *pass = context;
    const struct strobe_tracy_zone *zone = &stack[depth];
    int64_t time;
    struct strobe_tracy_row_loc *loc = counted(pass, zone, &time);
    if (!loc || !loc->is_wanted)
        return STROBE_OK;
    struct strobe_tracy_row row = {
        .start = zone->start,
        .time = pass->table.options->self ? time - zone->child_ns : time,
        .thread = pass->thread,
    };
    struct strobe_tracy_extra extra;
    if (zone->extra && strobe_tracy_extra(&pass->content, zone->extra, &extra)) {
        row.text = extra.text.is_there ? extra.text.at : NULL;
        row.n_text = extra.text.n;
        row.name = extra.name.at;
        row.n_name = extra.name.n;
    }
    if (loc->is_special)
        find_parent(pass, stack, depth, &row);
    return strobe_tracy_put_zone(&pass->table, loc, &row)
               ? pass->table.out->error ? STROBE_ERR_IO : STROBE_OK
               : STROBE_ERR_NOMEM;
}

static enum strobe_err put_message(void *context, const struct strobe_tracy_message *message)
{
    struct pass *pass = context;
    if (!pass->n_messages++)
        strobe_tracy_put_head(&pass->table);
    if (message->text.is_there)
        strobe_tracy_put_message(&pass->table, message->text.at, message->text.n, message->time);
    else
        strobe_tracy_put_message(&pass->table, "???", 3, message->time);
    return STROBE_OK;
}

static enum strobe_err put_gpu(void *context, struct strobe_tracy_gpu_zone *stack, uint32_t depth)
{
    struct pass *pass = context;
    const struct strobe_tracy_gpu_zone *zone = &stack[depth];
    if (zone->gpu_end < 0 || zone->gpu_end <= zone->gpu_start)
        return STROBE_OK;
    struct strobe_tracy_row_loc *loc = ready_loc(pass, zone->loc);
    if (loc->is_wanted)
        strobe_tracy_put_gpu(&pass->table, loc, zone->gpu_start, zone->gpu_end - zone->gpu_start);
    return STROBE_OK;
}

/* ---- plots: those of the file, then the memory pools' as Tracy makes them ---- */

static enum strobe_err begin_frames(void *context, uint64_t name, int continuous, uint64_t n_frames)
{
    struct pass *pass = context;
    (void)continuous, (void)n_frames;
    pass->is_main_set = !name;
    return STROBE_OK;
}

/* On demand, a trace begins with the third mark of its main frames. */
static enum strobe_err note_frame(void *context, int64_t start, int64_t end, int32_t image)
{
    struct pass *pass = context;
    (void)end, (void)image;
    if (pass->is_main_set && pass->n_main_frames++ == 2 && pass->content.head.on_demand)
        pass->first_time = start;
    return STROBE_OK;
}

static enum strobe_err begin_plot(void *context, const struct strobe_tracy_plot *plot)
{
    struct pass *pass = context;
    static const struct strobe_tracy_text unknown = {"???", 3, 1};
    pass->plot = plot->name.is_there ? plot->name : unknown;
    return STROBE_OK;
}

static enum strobe_err put_point(void *context, int64_t time, double value)
{
    struct pass *pass = context;
    strobe_tracy_put_point(&pass->table, pass->plot.at, pass->plot.n, time, value);
    return STROBE_OK;
}

static enum strobe_err begin_pool(void *context, struct strobe_tracy_text name, uint64_t pointer,
                                  uint64_t n_events)
{
    struct pass *pass = context;
    static const struct strobe_tracy_text unknown = {"???", 3, 1};
    (void)n_events;
    pass->pool = name.is_there ? name : unknown;
    pass->pool_pointer = pointer;
    pass->n_changes = 0;
    return STROBE_OK;
}

static int add_change(struct pass *pass, int64_t time, int64_t size)
{
    if (STROBE_ARRAY_RESERVE(pass->changes, pass->changes_room, pass->n_changes + 1))
        return 0;
    pass->changes[pass->n_changes++] = (struct strobe_tracy_change){time, size};
    return 1;
}

static enum strobe_err add_alloc(void *context, const struct strobe_tracy_alloc *alloc)
{
    struct pass *pass = context;
    if (!add_change(pass, alloc->time, (int64_t)alloc->size))
        return STROBE_ERR_NOMEM;
    if (alloc->free_time >= 0 && !add_change(pass, alloc->free_time, -(int64_t)alloc->size))
        return STROBE_ERR_NOMEM;
    return STROBE_OK;
}

/* A pool without events has no plot. */
static enum strobe_err put_pool(void *context)
{
    struct pass *pass = context;
    if (pass->n_changes)
        strobe_tracy_put_memory(&pass->table, pass->pool.at, pass->pool.n, pass->first_time,
                                pass->changes, pass->n_changes);
    return STROBE_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void set_visitor(struct pass *pass, struct strobe_tracy_visitor *visitor)
{
    const struct strobe_tracy_csv_options *options = pass->table.options;
    visitor->context = pass;
    if (options->messages) {
        visitor->message = put_message;
        visitor->until = STROBE_TRACY_MESSAGES;
    } else if (options->gpu) {
        visitor->gpu_end = put_gpu;
        visitor->until = STROBE_TRACY_GPU;
    } else {
        visitor->thread = begin_thread;
        visitor->zone_end = options->unwrap ? put_zone : add_zone;
        if (!options->unwrap && !options->self && !options->truncate)
            visitor->times = add_times;
        visitor->until = STROBE_TRACY_THREADS;
    }
    if (options->plot && options->unwrap && !options->gpu && !options->messages) {
        visitor->frame_set = begin_frames;
        visitor->frame = note_frame;
        visitor->plot = begin_plot;
        visitor->plot_point = put_point;
        visitor->pool = begin_pool;
        visitor->alloc = add_alloc;
        visitor->pool_end = put_pool;
        visitor->until = STROBE_TRACY_MEMORY;
    }
}

/* What comes after all zones, with what there is of them after an error too. */
static enum strobe_err finish(struct pass *pass)
{
    const struct strobe_tracy_csv_options *options = pass->table.options;
    if (options->messages && !pass->n_messages)
        strobe_out_text(pass->table.out, "There are currently no messages!\n");
    if (options->messages || options->gpu || options->unwrap)
        return STROBE_OK;
    struct strobe_tracy_row_loc **all =
        malloc((UINT16_MAX + 1) * sizeof(struct strobe_tracy_row_loc *));
    if (!all)
        return STROBE_ERR_NOMEM;
    for (int i = 0; i <= UINT16_MAX; i++)
        all[i] = &pass->locs[i];
    int ok = strobe_tracy_put_sums(&pass->table, all, UINT16_MAX + 1, pass->content.head.last_time);
    free(all);
    return ok ? STROBE_OK : STROBE_ERR_NOMEM;
}

enum strobe_err strobe_tracy_csv_of_file(const char *path,
                                         const struct strobe_tracy_csv_options *options,
                                         struct strobe_out *out)
{
    struct pass pass = {.table = {options, out, strlen(options->sep)}};
    struct strobe_tracy_visitor visitor = {0};
    pass.locs = calloc(UINT16_MAX + 1, sizeof *pass.locs);
    if (!pass.locs)
        return STROBE_ERR_NOMEM;
    enum strobe_err err = strobe_tracy_content_open(path, &pass.content);
    if (!err) {
        set_visitor(&pass, &visitor);
        if (!options->messages)
            strobe_tracy_put_head(&pass.table);
        err = strobe_tracy_walk(&pass.content, &visitor);
        enum strobe_err end = pass.content.has_tables ? finish(&pass) : STROBE_OK;
        err = err ? err : end;
    }
    for (int i = 0; i <= UINT16_MAX; i++)
        strobe_tracy_row_loc_free(&pass.locs[i]);
    free(pass.locs);
    free(pass.changes);
    strobe_tracy_content_close(&pass.content);
    return err;
}
