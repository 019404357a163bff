/* tracks.c - see tracks.h.  SPDX-License-Identifier: MIT */
#include "engine/tracks.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static uint32_t owner_of(const struct strobe_trace *trace, uint32_t process)
{
    uint32_t twin = trace->processes[process].twin;
    return twin ? twin - 1 : process;
}

uint32_t strobe_track_of_thread(const struct strobe_engine *engine, uint32_t thread)
{
    uint32_t twin = engine->trace->threads[thread].twin;
    return strobe_track_id(STROBE_TRACK_THREAD, twin ? twin - 1 : thread);
}

uint32_t strobe_track_of_process(const struct strobe_engine *engine, uint32_t process)
{
    return strobe_track_id(STROBE_TRACK_PROCESS, owner_of(engine->trace, process));
}

uint32_t strobe_track_strips(const struct strobe_engine *engine, uint32_t track,
                             enum strobe_strip_kind kind, uint32_t *out, uint32_t room)
{
    const struct strobe_idmap *ids = &engine->strips.ids;
    uint32_t n = 0;
    for (uint32_t i = 0; i < ids->n; i++) {
        uint32_t number = (uint32_t)ids->keys[i].id;
        if (ids->keys[i].scope != (uint32_t)kind ||
            (kind == STROBE_STRIP_CPU ? strobe_track_id(STROBE_TRACK_CPU, number)
                                      : strobe_track_of_thread(engine, number)) != track)
            continue;
        if (n < room)
            out[n] = number;
        n++;
    }
    return n;
}

uint32_t strobe_track_of_table(const struct strobe_engine *engine, uint32_t table)
{
    const struct strobe_table *row = &engine->tables.tables[table];
    return row->kind == STROBE_TABLE_THREAD ? strobe_track_id(STROBE_TRACK_THREAD, row->thread)
                                            : strobe_track_id(STROBE_TRACK_TABLE, table);
}

const struct strobe_table *strobe_track_table(const struct strobe_engine *engine, uint32_t track)
{
    uint32_t index = track & 0xfffffff;
    if (track >> 28 == STROBE_TRACK_TABLE && index < engine->tables.n_tables)
        return &engine->tables.tables[index];
    if (track >> 28 == STROBE_TRACK_THREAD && index < engine->trace->thread_ids.n &&
        engine->trace->threads[index].twin)
        return strobe_tables_thread(&engine->tables, index);
    return NULL;
}

/* ---- visiting ---- */

struct visiting {
    struct strobe_engine *engine;
    strobe_track_visitor visit;
    void *context;
};

static const char *const kind_names[] = {
    [STROBE_TABLE_FIBER] = "fiber",       [STROBE_TABLE_SPANS] = "spans",
    [STROBE_TABLE_GPU] = "gpu",           [STROBE_TABLE_RISC] = "risc",
    [STROBE_TABLE_CORE] = "core",         [STROBE_TABLE_DEVICE] = "device",
    [STROBE_TABLE_MESSAGES] = "messages", [STROBE_TABLE_FRAMES] = "frames",
    [STROBE_TABLE_PLOT] = "plot",         [STROBE_TABLE_LOCK] = "locks"};

static const char *table_name(const struct strobe_engine *engine, const struct strobe_table *table,
                              char room[STROBE_NAME_ROOM], uint32_t *n)
{
    const struct strobe_trace *trace = engine->trace;
    const char *name = table->kind == STROBE_TABLE_SPANS      ? "spans"
                       : table->kind == STROBE_TABLE_MESSAGES ? "messages"
                                                              : "frames";
    *n = 0;
    if (table->name)
        return strobe_texts_get(&engine->tables.texts, table->name, n);
    if (table->kind == STROBE_TABLE_FIBER)
        return strobe_trace_fiber_name(trace, table->process, table->id, room, n);
    if (table->kind == STROBE_TABLE_LOCK)
        return strobe_trace_lock_name(trace, table->process, table->id, room, n);
    if (table->kind == STROBE_TABLE_FRAMES || table->kind == STROBE_TABLE_PLOT) {
        const char *given = strobe_trace_string(trace, table->process, table->id, room, n);
        if (*n || table->kind == STROBE_TABLE_PLOT)
            return given;
    }
    *n = (uint32_t)strlen(name);
    return name;
}

static void visit_table(const struct visiting *visiting, uint32_t i, uint32_t process)
{
    const struct strobe_engine *engine = visiting->engine;
    const struct strobe_trace *trace = engine->trace;
    const struct strobe_table *table = &engine->tables.tables[i];
    char room[STROBE_NAME_ROOM];
    struct strobe_track_row row = {
        .id = strobe_track_id(STROBE_TRACK_TABLE, i),
        .parent = table->parent ? strobe_track_id(STROBE_TRACK_TABLE, table->parent - 1)
                                : strobe_track_id(STROBE_TRACK_PROCESS, process),
        .kind = kind_names[table->kind],
        .n_depths = table->kind == STROBE_TABLE_DEVICE || table->kind == STROBE_TABLE_CORE
                        ? 0
                        : table->n_depths,
        .pid = trace->processes[process].pid};
    if (table->kind == STROBE_TABLE_PLOT) {
        uint32_t plot = strobe_idmap_find(&trace->plot_ids, table->process, table->id);
        row.plot = plot == STROBE_IDMAP_NONE ? NULL : &trace->plots[plot];
    }
    row.name = table_name(engine, table, room, &row.n_name);
    visiting->visit(visiting->context, &row);
}

/* Tables of a kind, each with what is below it. */
static void visit_tables(const struct visiting *visiting, uint32_t process,
                         enum strobe_table_kind kind, uint32_t parent)
{
    const struct strobe_tables *tables = &visiting->engine->tables;
    for (uint32_t i = 0; i < tables->n_tables; i++) {
        const struct strobe_table *table = &tables->tables[i];
        if (table->kind != kind || table->parent != parent ||
            owner_of(visiting->engine->trace, table->process) != process)
            continue;
        visit_table(visiting, i, process);
        if (kind == STROBE_TABLE_DEVICE)
            visit_tables(visiting, process, STROBE_TABLE_CORE, i + 1);
        else if (kind == STROBE_TABLE_CORE)
            visit_tables(visiting, process, STROBE_TABLE_RISC, i + 1);
    }
}

/* Whether two threads are processors of one core of a device. */
static bool is_same_core(const struct strobe_trace_thread *a, const struct strobe_trace_thread *b)
{
    return a->is_lane && b->is_lane && a->process == b->process && a->x == b->x && a->y == b->y;
}

/* A thread as a track, below the track `parent`. */
static void visit_thread(const struct visiting *visiting, uint32_t i, uint32_t process,
                         uint32_t parent)
{
    const struct strobe_engine *engine = visiting->engine;
    const struct strobe_trace_thread *thread = &engine->trace->threads[i];
    uint32_t track = strobe_track_id(STROBE_TRACK_THREAD, i);
    char room[STROBE_NAME_ROOM];
    struct strobe_track_row row = {.id = track,
                                   .parent = parent,
                                   .kind = "thread",
                                   .n_depths = strobe_view_depths(engine->view, i),
                                   .pid = engine->trace->processes[process].pid,
                                   .tid = thread->tid};
    if (strobe_track_strips(engine, track, STROBE_STRIP_THREAD, NULL, 0))
        row.marks |= STROBE_MARKS_STATES;
    if (strobe_track_strips(engine, track, STROBE_STRIP_SAMPLES, NULL, 0))
        row.marks |= STROBE_MARKS_SAMPLES;
    if (engine->trace->processes[thread->process].is_sampled)
        row.n_depths = 0;
    if (thread->twin) {
        const struct strobe_table *table = strobe_tables_thread(&engine->tables, i);
        row.n_depths = table ? table->n_depths : 1;
    }
    row.name = strobe_trace_thread_name(engine->trace, i, room, &row.n_name);
    visiting->visit(visiting->context, &row);
}

/* A thread's place: those of a device by core and processor, others as they came. */
struct place {
    uint32_t process, core_kind, y, x, risc, thread;
};

static int compare(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    for (size_t i = 0; i < sizeof(struct place) / sizeof *x; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* The threads that are tracks, by the process that shows them. */
static struct place *list_threads(const struct strobe_trace *trace, uint32_t *n)
{
    struct place *list = malloc((trace->thread_ids.n + 1ull) * sizeof *list);
    *n = 0;
    for (uint32_t i = 0; list && i < trace->thread_ids.n; i++) {
        const struct strobe_trace_thread *row = &trace->threads[i];
        if (!row->twin || row->twin - 1 == i)
            list[(*n)++] = (struct place){owner_of(trace, row->process),
                                          row->core_kind,
                                          row->logical_y,
                                          row->logical_x,
                                          row->risc,
                                          i};
    }
    if (list)
        qsort(list, *n, sizeof *list, compare);
    return list;
}

/* A core of a device, whose threads are `places`. */
static uint32_t visit_core(const struct visiting *visiting, const struct place *places, uint32_t n)
{
    static const char *const kinds[] = {"core", "ethernet core", "dispatch core", "DRAM core"};
    const struct strobe_trace *trace = visiting->engine->trace;
    const struct strobe_trace_thread *thread = &trace->threads[places->thread];
    char name[96];
    uint32_t first = places->thread;
    for (uint32_t i = 1; i < n; i++)
        if (places[i].thread < first)
            first = places[i].thread;
    const char *kind = kinds[thread->core_kind < 4 ? thread->core_kind : 0];
    struct strobe_track_row row = {
        .id = strobe_track_id(STROBE_TRACK_CORE, first),
        .parent = strobe_track_id(STROBE_TRACK_PROCESS, places->process),
        .kind = "core",
        .name = name,
        .n_name = (uint32_t)snprintf(name, sizeof name, "%s %u,%u (at %u-%u)", kind,
                                     thread->logical_x, thread->logical_y, thread->x, thread->y),
        .pid = trace->processes[places->process].pid};
    visiting->visit(visiting->context, &row);
    return row.id;
}

/* The threads at the beginning of `places` that are of one process. Those of a core stand below it. */
static void visit_threads(const struct visiting *visiting, const struct place *places, uint32_t n)
{
    const struct strobe_trace *trace = visiting->engine->trace;
    uint32_t process = n ? places->process : 0, end = 0;
    while (end < n && places[end].process == process) {
        const struct strobe_trace_thread *thread = &trace->threads[places[end].thread];
        uint32_t parent = strobe_track_id(STROBE_TRACK_PROCESS, process), after = end + 1;
        while (after < n && is_same_core(thread, &trace->threads[places[after].thread]))
            after++;
        if (thread->is_lane)
            parent = visit_core(visiting, places + end, after - end);
        for (; end < after; end++)
            visit_thread(visiting, places[end].thread, process, parent);
    }
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Processors of which switches are known, below one head. */
static void visit_cpus(const struct visiting *visiting)
{
    const struct strobe_idmap *ids = &visiting->engine->strips.ids;
    uint32_t *numbers = malloc((ids->n + 1ull) * sizeof *numbers), n = 0;
    struct strobe_track_row head = {.id = strobe_track_id(STROBE_TRACK_CPU, STROBE_TRACK_CPUS),
                                    .kind = "cpus",
                                    .name = "Processors",
                                    .n_name = 10};
    for (uint32_t i = 0; numbers && i < ids->n; i++)
        if (ids->keys[i].scope == STROBE_STRIP_CPU)
            numbers[n++] = (uint32_t)ids->keys[i].id;
    if (n) {
        qsort(numbers, n, sizeof *numbers, by_number);
        visiting->visit(visiting->context, &head);
    }
    for (uint32_t i = 0; i < n; i++) {
        char name[32];
        struct strobe_track_row row = {
            .id = strobe_track_id(STROBE_TRACK_CPU, numbers[i]), .parent = head.id, .kind = "cpu"};
        row.name = name;
        row.n_name = (uint32_t)snprintf(name, sizeof name, "CPU %u", numbers[i]);
        visiting->visit(visiting->context, &row);
    }
    free(numbers);
}

/* A process with all that is below it. */
static void visit_process(const struct visiting *visiting, uint32_t i, const struct place *threads,
                          uint32_t n_threads)
{
    static const enum strobe_table_kind behind[] = {STROBE_TABLE_FIBER, STROBE_TABLE_SPANS,
                                                    STROBE_TABLE_GPU,   STROBE_TABLE_DEVICE,
                                                    STROBE_TABLE_PLOT,  STROBE_TABLE_LOCK};
    const struct strobe_trace *trace = visiting->engine->trace;
    uint32_t first = (uint32_t)STROBE_ARRAY_BISECT(0, n_threads, k, threads[k].process < i);
    char room[STROBE_NAME_ROOM];
    struct strobe_track_row row = {.id = strobe_track_id(STROBE_TRACK_PROCESS, i),
                                   .kind = "process",
                                   .pid = trace->processes[i].pid};
    row.name = strobe_trace_process_name(trace, i, room, &row.n_name);
    visiting->visit(visiting->context, &row);
    visit_tables(visiting, i, STROBE_TABLE_FRAMES, 0);
    visit_tables(visiting, i, STROBE_TABLE_MESSAGES, 0);
    if (first < n_threads && threads[first].process == i)
        visit_threads(visiting, threads + first, n_threads - first);
    for (size_t k = 0; k < sizeof behind / sizeof behind[0]; k++)
        visit_tables(visiting, i, behind[k], 0);
}

/* A process's place among the others. */
struct turn {
    uint64_t n_samples; /* of those that were only sampled, once the trace is whole */
    uint32_t process;
    uint8_t is_sampled;
};

static int by_turn(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    if (x->is_sampled != y->is_sampled)
        return x->is_sampled ? 1 : -1;
    if (x->n_samples != y->n_samples)
        return x->n_samples > y->n_samples ? -1 : 1;
    return x->process < y->process ? -1 : x->process > y->process;
}

/* Programs that emit events come first, as they began; then what was only sampled, the busiest first: the shells and tools around a program
 * would push it out of sight. While a trace grows they stay as they began. NULL without memory. */
static struct turn *list_processes(const struct strobe_engine *engine)
{
    const struct strobe_trace *trace = engine->trace;
    const struct strobe_engine_host *host = engine->host;
    bool is_live = host && host->is_live(host->context, trace);
    struct turn *turns = calloc(trace->n_processes + 1ull, sizeof *turns);
    if (!turns)
        return NULL;
    for (uint32_t i = 0; i < trace->n_processes; i++) {
        turns[i].process = i;
        turns[i].is_sampled = trace->processes[i].is_sampled;
    }
    for (uint32_t i = 0; i < trace->thread_ids.n && !is_live; i++) {
        struct turn *turn = &turns[owner_of(trace, trace->threads[i].process)];
        const struct strobe_strip_row *samples =
            strobe_strips_row(&engine->strips, STROBE_STRIP_SAMPLES, i);
        turn->n_samples += turn->is_sampled && samples ? samples->n_items : 0;
    }
    qsort(turns, trace->n_processes, sizeof *turns, by_turn);
    return turns;
}

void strobe_tracks_visit(struct strobe_engine *engine, strobe_track_visitor visit, void *context)
{
    const struct strobe_trace *trace = engine->trace;
    const struct visiting visiting = {engine, visit, context};
    uint32_t n_threads;
    struct place *threads = list_threads(trace, &n_threads);
    struct turn *turns = list_processes(engine);
    for (uint32_t i = 0; threads && turns && i < trace->n_processes; i++)
        if (owner_of(trace, turns[i].process) == turns[i].process)
            visit_process(&visiting, turns[i].process, threads, n_threads);
    visit_cpus(&visiting);
    free(turns);
    free(threads);
}

/* ---- choosing ---- */

static int is_below(const struct strobe_tables *tables, uint32_t table, uint32_t above)
{
    for (uint32_t i = table + 1; i; i = tables->tables[i - 1].parent)
        if (i - 1 == above)
            return 1;
    return 0;
}

static void choose(const struct strobe_engine *engine, uint32_t track, struct strobe_choice *choice)
{
    const struct strobe_trace *trace = engine->trace;
    uint32_t kind = track >> 28, index = track & 0xfffffff;
    const struct strobe_trace_thread *core =
        kind == STROBE_TRACK_CORE && index < choice->n_threads ? &trace->threads[index] : NULL;
    for (uint32_t i = 0; i < choice->n_threads; i++)
        choice->threads[i] |=
            core ? is_same_core(core, &trace->threads[i])
            : kind == STROBE_TRACK_PROCESS
                ? strobe_track_of_process(engine, trace->threads[i].process) == track
                : strobe_track_of_thread(engine, i) == track;
    for (uint32_t i = 0; i < choice->n_tables; i++)
        choice->tables[i] |=
            kind == STROBE_TRACK_PROCESS
                ? strobe_track_of_process(engine, engine->tables.tables[i].process) == track
                : kind == STROBE_TRACK_TABLE && is_below(&engine->tables, i, index);
}

int strobe_choice_read(struct strobe_engine *engine, const struct strobe_json *question,
                       struct strobe_choice *choice)
{
    uint32_t list = strobe_json_member(question, 0, "tracks"), at = 0, value;
    memset(choice, 0, sizeof *choice);
    if (!strobe_json_is_array(question, list))
        return 1;
    strobe_tables_update(&engine->tables);
    choice->n_threads = engine->trace->thread_ids.n;
    choice->n_tables = engine->tables.n_tables;
    choice->threads = calloc(choice->n_threads + 1ull, 1);
    choice->tables = calloc(choice->n_tables + 1ull, 1);
    if (!choice->threads || !choice->tables)
        return 0;
    while ((value = strobe_json_next(question, list, &at)))
        choose(engine, (uint32_t)strobe_json_count(question, value, 0, UINT32_MAX), choice);
    return 1;
}

void strobe_choice_free(struct strobe_choice *choice)
{
    free(choice->threads);
    free(choice->tables);
    memset(choice, 0, sizeof *choice);
}

int strobe_choice_has_table(const struct strobe_choice *choice, const struct strobe_engine *engine,
                            uint32_t table)
{
    if (engine->tables.tables[table].kind == STROBE_TABLE_THREAD)
        return strobe_choice_has_thread(choice, engine->tables.tables[table].thread);
    return !choice->tables || (table < choice->n_tables && choice->tables[table]);
}
