/* facts.c - tables that are arrays of the model: processes, threads, locations, losses, statistics.
 * A row is a number; `put` fills one column of it.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "query/placing.h"
#include "query/walk.h"
#include "sql/table.h"

/* A name that strobe_trace_… made: in `room`, or one of the model's. Both live until SQLite has copied or kept them. */
static void put_name(struct strobe_sql_cell *cell, const char *text, uint32_t n, const char *room)
{
    strobe_sql_put_kept(cell, text, n);
    if (text == room)
        cell->type = STROBE_SQL_TEXT;
}

static void put_tick(struct strobe_sql_cell *cell, const struct strobe_trace *trace, uint64_t tick)
{
    if (tick)
        strobe_sql_put_i(cell, strobe_clock_rel(&trace->clock, tick));
}

static void put_fixed(struct strobe_sql_cell *cell, const char *text)
{
    strobe_sql_put_kept(cell, text, (uint32_t)strlen(text));
}

static uint64_t n_locs(const struct strobe_sql_file *file)
{
    return file->trace->loc_ids.n;
}

static void put_loc(const struct strobe_sql_file *file, uint64_t row, int column,
                    struct strobe_sql_cell *cell, char room[STROBE_NAME_ROOM])
{
    const struct strobe_loc_row *loc = &file->trace->locs[row];
    uint32_t n;
    switch (column) {
    case 1:
        strobe_sql_put_i(cell, (int64_t)row);
        break;
    case 2: {
        const char *name = strobe_trace_loc_name(file->trace, (uint32_t)row, 0, room, &n);
        put_name(cell, name, n, room);
        break;
    }
    case 3:
        strobe_sql_put_model(cell, file->trace, loc->function);
        break;
    case 4:
        strobe_sql_put_model(cell, file->trace, loc->file);
        break;
    case 5:
        strobe_sql_put_i(cell, loc->line);
        break;
    case 6:
        if (loc->color)
            strobe_sql_put_i(cell, loc->color & 0xffffff);
    }
}

static uint64_t n_threads(const struct strobe_sql_file *file)
{
    return file->trace->thread_ids.n;
}

static int has_thread(const struct strobe_sql_file *file, uint64_t row)
{
    return strobe_trace_first_thread(file->trace, (uint32_t)row) == row;
}

static void put_thread(const struct strobe_sql_file *file, uint64_t row, int column,
                       struct strobe_sql_cell *cell, char room[STROBE_NAME_ROOM])
{
    const struct strobe_trace_thread *thread = &file->trace->threads[row];
    uint32_t n;
    switch (column) {
    case 1: /* id */
    case 7: /* utid */
        strobe_sql_put_i(cell, (int64_t)row);
        break;
    case 2:
        strobe_sql_put_i(cell, (int64_t)thread->tid);
        break;
    case 3: {
        const char *name = strobe_trace_thread_name(file->trace, (uint32_t)row, room, &n);
        put_name(cell, name, n, room);
        break;
    }
    case 4: /* process_id */
    case 8: /* upid */
        strobe_sql_put_i(cell, strobe_trace_first_process(file->trace, thread->process));
        break;
    case 5:
        put_tick(cell, file->trace, thread->start_tick);
        break;
    case 6:
        put_tick(cell, file->trace, thread->end_tick);
        break;
    case 9:
        strobe_sql_put_i(cell, thread->tid == file->trace->processes[thread->process].pid);
    }
}

static uint64_t n_processes(const struct strobe_sql_file *file)
{
    return file->trace->n_processes;
}

static int has_process(const struct strobe_sql_file *file, uint64_t row)
{
    return strobe_trace_first_process(file->trace, (uint32_t)row) == row;
}

/* How a process ended. */
static void put_end(struct strobe_sql_cell *cell, const struct strobe_process *process, int column)
{
    static const char *const hows[] = {"unknown", "exit", "signal"};
    if (!process->has_ended)
        return;
    if (column == 8)
        put_fixed(cell, process->how < 3 ? hows[process->how] : hows[0]);
    else
        strobe_sql_put_i(cell, (int64_t)process->end_value);
}

/* The first time that a thread of the process is known to have run; 0: not known. */
static uint64_t start_of(const struct strobe_trace *trace, uint64_t process)
{
    uint64_t first = 0;
    for (uint32_t i = 0; i < trace->thread_ids.n; i++) {
        uint64_t tick = trace->threads[i].start_tick;
        uint32_t owner = strobe_trace_first_process(trace, trace->threads[i].process);
        if (owner == process && tick && (!first || tick < first))
            first = tick;
    }
    return first;
}

static void put_process(const struct strobe_sql_file *file, uint64_t row, int column,
                        struct strobe_sql_cell *cell, char room[STROBE_NAME_ROOM])
{
    const struct strobe_process *process = &file->trace->processes[row];
    uint32_t n;
    switch (column) {
    case 1:  /* id */
    case 10: /* upid */
        strobe_sql_put_i(cell, (int64_t)row);
        break;
    case 2:
        strobe_sql_put_i(cell, (int64_t)process->pid);
        break;
    case 3:
        strobe_sql_put_i(cell, (int64_t)process->parent_pid);
        break;
    case 4: {
        const char *name = strobe_trace_process_name(file->trace, (uint32_t)row, room, &n);
        put_name(cell, name, n, room);
        break;
    }
    case 5:
        strobe_sql_put_model(cell, file->trace, process->exe);
        break;
    case 6:  /* argv */
    case 11: /* cmdline */
        strobe_sql_put_model(cell, file->trace, process->argv);
        break;
    case 7:
        put_tick(cell, file->trace, process->has_ended ? process->end_tick : 0);
        break;
    case 8:
    case 9:
        put_end(cell, process, column);
        break;
    case 12:
        put_tick(cell, file->trace, start_of(file->trace, row));
        break;
    case 13: /* host_id: a trace is of one */
        strobe_sql_put_i(cell, 0);
    }
}

/* Tracks: threads, then named fibers, then the spans of each process that has any place for them. */
static uint64_t n_tracks(const struct strobe_sql_file *file)
{
    return n_threads(file) + file->trace->fiber_ids.n + file->trace->n_processes;
}

static int has_track(const struct strobe_sql_file *file, uint64_t row)
{
    uint64_t n_before = n_threads(file) + file->trace->fiber_ids.n; /* the spans */
    return row < n_threads(file) ? has_thread(file, row)
                                 : row < n_before || has_process(file, row - n_before);
}

struct track {
    const char *kind;
    int64_t id;
    uint32_t process, fiber;
};

static struct track find_track(const struct strobe_sql_file *file, uint64_t row)
{
    const struct strobe_trace *trace = file->trace;
    if (row < n_threads(file)) {
        int is_lane = trace->threads[row].is_lane;
        return (struct track){is_lane ? "device" : "thread", (int64_t)row,
                              trace->threads[row].process, 0};
    }
    row -= n_threads(file);
    if (row < trace->fiber_ids.n)
        return (struct track){"fiber", STROBE_SQL_FIBER + (int64_t)row,
                              (uint32_t)trace->fiber_ids.keys[row].scope, (uint32_t)row};
    row -= trace->fiber_ids.n;
    return (struct track){"span", STROBE_SQL_SPAN + (int64_t)row, (uint32_t)row, 0};
}

static void put_track(const struct strobe_sql_file *file, uint64_t row, int column,
                      struct strobe_sql_cell *cell, char room[STROBE_NAME_ROOM])
{
    struct track track = find_track(file, row);
    int is_thread = row < n_threads(file);
    uint32_t n;
    switch (column) {
    case 1:
        strobe_sql_put_i(cell, track.id);
        break;
    case 2:
        put_fixed(cell, track.kind);
        break;
    case 3:
        if (is_thread) {
            const char *name = strobe_trace_thread_name(file->trace, (uint32_t)row, room, &n);
            put_name(cell, name, n, room);
        } else if (!strcmp(track.kind, "fiber")) {
            strobe_sql_put_model(cell, file->trace, file->trace->fibers[track.fiber]);
        } else {
            put_fixed(cell, "spans");
        }
        break;
    case 4:
        strobe_sql_put_i(cell, strobe_trace_first_process(file->trace, track.process));
        break;
    case 5:
        if (is_thread)
            strobe_sql_put_i(cell, (int64_t)row);
        break;
    case 9: /* as Perfetto calls its kinds */
        put_fixed(cell, is_thread ? "thread_track" : "process_track");
        break;
    default: /* of a device: core_x, core_y, risc */
        if (is_thread && file->trace->threads[row].is_lane) {
            const struct strobe_trace_thread *lane = &file->trace->threads[row];
            strobe_sql_put_i(cell, column == 6 ? lane->x : column == 7 ? lane->y : lane->risc);
        }
    }
}

static uint64_t n_losses(const struct strobe_sql_file *file)
{
    return file->trace->loss_ids.n;
}

static void put_loss(const struct strobe_sql_file *file, uint64_t row, int column,
                     struct strobe_sql_cell *cell, char room[STROBE_NAME_ROOM])
{
    (void)room;
    const struct strobe_loss_row *loss = &file->trace->losses[row];
    if (column == 1 && loss->process != STROBE_IDMAP_NONE) {
        strobe_sql_put_i(cell, strobe_trace_first_process(file->trace, loss->process));
    } else if (column == 2) {
        uint32_t thread = strobe_idmap_find(&file->trace->thread_ids, loss->process, loss->track);
        if (thread != STROBE_IDMAP_NONE)
            strobe_sql_put_i(cell, strobe_trace_first_thread(file->trace, thread));
    } else if (column == 3) {
        put_fixed(cell, strobe_loss_text(loss->cause));
    } else if (column == 4) {
        strobe_sql_put_i(cell, (int64_t)loss->count);
    } else if (column == 5) {
        put_tick(cell, file->trace, loss->first_tick);
    } else if (column == 6) {
        put_tick(cell, file->trace, loss->last_tick);
    }
}

static uint64_t one_row(const struct strobe_sql_file *file)
{
    (void)file;
    return 1;
}

/* What is stored and missing of each thread is known after a walk over all parts. */
static enum strobe_err load_coverage(struct strobe_sql *sql, struct strobe_sql_file *file)
{
    (void)sql;
    enum strobe_err err = strobe_sql_open_work(file);
    struct strobe_walk walk = {.trace = file->work};
    return err ? err : strobe_walk_run(&walk);
}

const struct strobe_trace *strobe_sql_counted(struct strobe_sql *sql, unsigned i)
{
    struct strobe_sql_file *file = &sql->files[i];
    return strobe_sql_damage(sql, i).n_holes && !load_coverage(sql, file) ? file->work
                                                                          : file->trace;
}

static void put_coverage(const struct strobe_sql_file *file, uint64_t row, int column,
                         struct strobe_sql_cell *cell, char room[STROBE_NAME_ROOM])
{
    struct strobe_coverage coverage;
    (void)row;
    (void)room;
    strobe_trace_coverage(file->work, &coverage);
    const uint64_t values[] = {0, coverage.n_emitted, coverage.n_stored, coverage.n_dropped,
                               coverage.n_hole_words};
    if (column < 5)
        strobe_sql_put_i(cell, (int64_t)values[column]);
    else
        strobe_sql_put_i(cell, column == 5 ? coverage.is_exact
                                           : strobe_file_facts(file->work->file)->closed);
}

/* A file's name without folders and .strobe. */
static void put_label(struct strobe_sql_cell *cell, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name);
    if (n > 7 && !strcmp(name + n - 7, ".strobe"))
        n -= 7;
    strobe_sql_put_kept(cell, name, (uint32_t)n);
}

static void put_run(const struct strobe_sql_file *file, uint64_t row, int column,
                    struct strobe_sql_cell *cell, char room[STROBE_NAME_ROOM])
{
    const struct strobe_trace *trace = file->trace;
    (void)row;
    (void)room;
    if (column == 1)
        put_fixed(cell, file->path);
    else if (column == 2)
        strobe_sql_put_model(cell, trace, trace->hostname);
    else if (column == 3)
        strobe_sql_put_model(cell, trace, trace->kernel);
    else if (column == 4)
        strobe_sql_put_model(cell, trace, trace->cpu);
    else if (column == 5)
        strobe_sql_put_i(cell, strobe_placing_started_unix_ns(trace));
    else if (column == 6)
        strobe_sql_put_i(cell, (int64_t)trace->clock.error_ns);
    else if (column == 7)
        put_label(cell, file->path);
}

enum strobe_err strobe_sql_open_work(struct strobe_sql_file *file)
{
    return file->work ? STROBE_OK : strobe_trace_open(file->path, 0, &file->work);
}

enum strobe_err strobe_sql_walk(struct strobe_sql *sql, struct strobe_walk *walk,
                                const struct strobe_trace **trace)
{
    struct strobe_sql_file *file = &sql->files[0];
    enum strobe_err err = strobe_sql_open_work(file);
    if (err)
        return err;
    *trace = walk->trace = file->work;
    err = strobe_walk_run(walk);
    strobe_sql_note_damage(file, file->work, walk->n_bad_parts);
    return err;
}

/* Statistics of zones, spans and GPU zones, as `strobe stats` has them: three lists, one after the other. */
static enum strobe_err load_stats(struct strobe_sql *sql, struct strobe_sql_file *file)
{
    (void)sql;
    if (file->has_stats)
        return STROBE_OK;
    enum strobe_err err = strobe_sql_open_work(file);
    for (int i = 0; !err && i < 3; i++) {
        struct strobe_stats_options options = {.spans = i == 1, .gpu = i == 2};
        err = strobe_stats_run(file->work, &options, &file->stats[i]);
        strobe_sql_note_damage(file, file->work, file->stats[i].n_bad_parts);
    }
    file->has_stats = !err;
    return err;
}

static uint64_t n_stats(const struct strobe_sql_file *file)
{
    return (uint64_t)file->stats[0].n_rows + file->stats[1].n_rows + file->stats[2].n_rows;
}

static uint64_t time_ns(const struct strobe_stats *stats, uint64_t ticks)
{
    return stats->is_ns ? ticks : strobe_clock_ns(&stats->trace->clock, ticks);
}

static uint64_t sum_ns(const struct strobe_stats *stats, unsigned __int128 ticks)
{
    return stats->is_ns ? (uint64_t)ticks : strobe_clock_sum_ns(&stats->trace->clock, ticks);
}

enum {
    STAT_KIND = 1,
    STAT_NAME,
    STAT_FUNCTION,
    STAT_FILE,
    STAT_LINE,
    STAT_COUNT,
    STAT_TOTAL,
    STAT_INCLUSIVE,
    STAT_SELF,
    STAT_MIN,
    STAT_MAX,
    STAT_MEAN,
    STAT_STD,
    STAT_P50,
    STAT_P90,
    STAT_P99,
};

static uint64_t stat_number(const struct strobe_stats *stats, const struct strobe_stats_row *row,
                            int column)
{
    switch (column) {
    case STAT_COUNT:
        return row->count;
    case STAT_TOTAL:
        return sum_ns(stats, row->total);
    case STAT_INCLUSIVE:
        return sum_ns(stats, row->inclusive);
    case STAT_SELF:
        return sum_ns(stats, row->self);
    case STAT_MIN:
        return time_ns(stats, row->min);
    case STAT_MAX:
        return time_ns(stats, row->max);
    case STAT_MEAN:
        return row->count ? sum_ns(stats, row->total) / row->count : 0;
    case STAT_STD:
        return time_ns(stats, strobe_stats_std(row));
    default:
        return time_ns(stats, row->percentile[column - STAT_P50]);
    }
}

static void put_stat(const struct strobe_sql_file *file, uint64_t row, int column,
                     struct strobe_sql_cell *cell, char room[STROBE_NAME_ROOM])
{
    static const char *const kinds[] = {"zone", "span", "gpu"};
    int which = 0;
    for (; row >= file->stats[which].n_rows; which++)
        row -= file->stats[which].n_rows;
    const struct strobe_stats *stats = &file->stats[which];
    const struct strobe_stats_row *stat = &stats->rows[row];
    const struct strobe_trace *trace = stats->trace;
    const struct strobe_loc_row *loc =
        stat->loc == STROBE_IDMAP_NONE ? NULL : &trace->locs[stat->loc];
    uint32_t n;
    if (column == STAT_KIND) {
        put_fixed(cell, kinds[which]);
    } else if (column == STAT_NAME) {
        const char *name = strobe_trace_loc_name(trace, stat->loc, stat->loc_id, room, &n);
        put_name(cell, name, n, room);
    } else if (column == STAT_FUNCTION && loc) {
        strobe_sql_put_model(cell, trace, loc->function);
    } else if (column == STAT_FILE && loc) {
        strobe_sql_put_model(cell, trace, loc->file);
    } else if (column == STAT_LINE && loc) {
        strobe_sql_put_i(cell, loc->line);
    } else if (column >= STAT_COUNT && (column != STAT_INCLUSIVE || stats->has_inclusive)) {
        strobe_sql_put_i(cell, (int64_t)stat_number(stats, stat, column));
    }
}

/* Blocks of memory, paired. */
static enum strobe_err load_memory(struct strobe_sql *sql, struct strobe_sql_file *file)
{
    (void)sql;
    if (file->has_memory)
        return STROBE_OK;
    enum strobe_err err = strobe_sql_open_work(file);
    if (!err)
        err = strobe_memory_run(file->work, &file->memory);
    if (file->work)
        strobe_sql_note_damage(file, file->work, file->memory.n_bad_parts);
    file->has_memory = !err;
    return err;
}

static uint64_t n_blocks(const struct strobe_sql_file *file)
{
    return file->memory.n_blocks;
}

static void put_block(const struct strobe_sql_file *file, uint64_t row, int column,
                      struct strobe_sql_cell *cell, char room[STROBE_NAME_ROOM])
{
    const struct strobe_mem_block *block = &file->memory.blocks[row];
    uint32_t n;
    if (column == 1) {
        put_tick(cell, file->work, block->alloc_tick);
    } else if (column == 2) {
        strobe_sql_put_i(cell, (int64_t)block->address);
    } else if (column == 3) {
        strobe_sql_put_i(cell, (int64_t)block->size);
    } else if (column == 4) {
        const char *name =
            strobe_memory_pool_name(file->work, &file->memory, block->pool, room, &n);
        if (name)
            put_name(cell, name, n, room);
    } else if (column == 5) {
        strobe_sql_put_i(cell, strobe_trace_first_thread(file->work, block->thread));
    } else if (column == 6 && block->is_freed) {
        put_tick(cell, file->work, block->free_tick);
    }
}

#define FACTS(name, columns, help, load, n_rows, put, ...)                                      \
    {                                                                                           \
        name, "trace_id INT4, " columns, help, {__VA_ARGS__}, load, n_rows, put, NULL, 0, NULL, \
            NULL                                                                                \
    }
/* Facts of which several may be one to the system. */
#define FOLDED(name, columns, help, n_rows, has_row, put, ...)                                  \
    {                                                                                           \
        name, "trace_id INT4, " columns, help, {__VA_ARGS__}, NULL, n_rows, put, NULL, 0, NULL, \
            has_row                                                                             \
    }

const struct strobe_sql_table strobe_sql_facts[] = {
    FACTS("stat",
          "kind ENUM TEXT, name ENUM TEXT, function ENUM TEXT, file ENUM TEXT, line INT, count "
          "INT, total INT, "
          "inclusive INT, self INT, min INT, max INT, mean INT, std INT, p50 INT, p90 INT, "
          "p99 INT",
          "statistics by location, as the command stats prints them", load_stats, n_stats, put_stat,
          .id = 0),
    FACTS("loc", "id INT, name ENUM TEXT, function ENUM TEXT, file ENUM TEXT, line INT, color INT4",
          "source locations", NULL, n_locs, put_loc, .id = 1),
    FOLDED("track",
           "id INT, kind ENUM TEXT, name ENUM TEXT, process_id INT4, thread_id INT4, core_x INT4, "
           "core_y INT4, "
           "risc INT4, type ENUM TEXT",
           "what zones stand on: threads, processors of a device, fibers, spans of a process",
           n_tracks, has_track, put_track, .id = 0),
    FOLDED("thread",
           "id INT, tid INT, name ENUM TEXT, process_id INT4, start_ts INT, end_ts INT, utid INT4, "
           "upid INT4, is_main_thread INT4",
           "threads", n_threads, has_thread, put_thread, .id = 1),
    FOLDED("process",
           "id INT, pid INT, parent_pid INT, name ENUM TEXT, exe TEXT, argv TEXT, end_ts INT, "
           "ended ENUM TEXT, end_value INT, upid INT4, cmdline TEXT, start_ts INT, host_id INT4",
           "processes and how they ended", n_processes, has_process, put_process, .id = 1),
    FACTS("alloc", "ts INT, address INT, size INT, pool ENUM TEXT, track_id INT4, free_ts INT",
          "blocks of memory, with the time of their free", load_memory, n_blocks, put_block,
          .id = 0),
    FACTS("loss", "process_id INT4, track_id INT4, cause ENUM TEXT, count INT, ts INT, end_ts INT",
          "what was dropped, why and when", NULL, n_losses, put_loss, .id = 0),
    FACTS("coverage",
          "emitted INT, stored INT, dropped INT, missing_words INT, is_exact INT4, is_closed INT4",
          "emitted = stored + dropped", load_coverage, one_row, put_coverage, .id = 0),
    FACTS("run",
          "file TEXT, host TEXT, kernel TEXT, cpu TEXT, started_unix_ns INT, clock_error_ns INT, "
          "label TEXT",
          "the traces themselves", NULL, one_row, put_run, .id = 0),
};
const unsigned strobe_sql_n_facts = sizeof strobe_sql_facts / sizeof strobe_sql_facts[0];
