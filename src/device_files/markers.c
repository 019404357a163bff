/* markers.c - what the stream says, as markers for the sort, names, launches. Nothing is written here.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "device/names.h"
#include "device_files/internal.h"

/* ---- the sort ---- */

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Core by core, RISC by RISC, by time; at one time by id, as upstream's readers expect. */
static int compare_markers(const void *left, const void *right)
{
    const struct strobe_files_marker *a = left, *b = right;
    int order = compare_u64(a->x, b->x);
    order = order ? order : compare_u64(a->y, b->y);
    order = order ? order : compare_u64(a->risc, b->risc);
    order = order ? order : compare_u64(a->time, b->time);
    return order ? order : compare_u64(a->id, b->id);
}

enum strobe_err strobe_files_sorts_open(struct strobe_device_files *files)
{
    static const struct strobe_sort_options markers = {.record_bytes =
                                                           sizeof(struct strobe_files_marker),
                                                       .memory_bytes = STROBE_FILES_SORT_BYTES,
                                                       .compare = compare_markers};
    static const struct strobe_sort_options runs = {.record_bytes = sizeof(struct strobe_files_run),
                                                    .memory_bytes = STROBE_FILES_SORT_BYTES / 4,
                                                    .compare = strobe_files_run_compare};
    static const struct strobe_sort_options noc = {.record_bytes = sizeof(struct strobe_files_noc),
                                                   .memory_bytes = STROBE_FILES_SORT_BYTES / 4,
                                                   .compare = strobe_files_noc_compare};
    STROBE_ASSERT(!files->markers && !files->runs);
    enum strobe_err err = strobe_sort_open(&markers, &files->markers);
    if (!err && (files->perf.path[0] || files->ops.path[0]))
        err = strobe_sort_open(&runs, &files->runs);
    if (!err && files->noc_folder[0])
        err = strobe_sort_open(&noc, &files->noc);
    return err;
}

static void keep(struct strobe_device_files *files, enum strobe_err err)
{
    if (err && !files->err)
        files->err = err;
}

static void add(struct strobe_device_files *files, const struct strobe_device_lane *lane,
                struct strobe_files_marker *marker, const uint64_t *more, size_t n_more)
{
    STROBE_ASSERT(lane->risc < STROBE_DEVICE_MAX_RISCS && (more || !n_more));
    marker->core = lane->core;
    marker->x = (uint16_t)(lane->core_yx & 0xffff);
    marker->y = (uint16_t)(lane->core_yx >> 16);
    marker->risc = (uint8_t)lane->risc;
    if (marker->program == UINT32_MAX)
        marker->program = 0; /* not known, behind a gap */
    keep(files, files->markers
                    ? strobe_sort_add(files->markers, marker, more, n_more * sizeof *more)
                    : STROBE_ERR_NOMEM);
}

/* ---- cores ---- */

static struct strobe_files_core *core_of(struct strobe_device_files *files, uint32_t index,
                                         uint32_t core_yx)
{
    if (index >= 1u << 16 ||
        STROBE_ARRAY_RESERVE(files->cores, files->cores_room, (uint64_t)index + 1))
        return NULL;
    while (files->n_cores <= index)
        files->cores[files->n_cores++] = (struct strobe_files_core){
            .n_riscs = files->n_riscs, .core_yx = core_yx, .logical_yx = core_yx};
    STROBE_ASSERT(index < files->n_cores && files->n_cores <= files->cores_room);
    return &files->cores[index];
}

static struct strobe_files_lane *lane_of(struct strobe_device_files *files,
                                         const struct strobe_device_lane *lane)
{
    struct strobe_files_core *core = core_of(files, lane->core, lane->core_yx);
    STROBE_ASSERT(lane->risc < STROBE_DEVICE_MAX_RISCS);
    return core ? &core->lanes[lane->risc] : NULL;
}

/* ---- records of lanes ---- */

static void on_zones(void *context, const struct strobe_device_lane *lane,
                     const struct strobe_device_zone *zones, size_t n_zones)
{
    struct strobe_device_files *files = context;
    struct strobe_files_lane *mine = lane_of(files, lane);
    for (size_t i = 0; i < n_zones; i++) {
        struct strobe_files_marker marker = {.time = zones[i].start,
                                             .id = zones[i].id,
                                             .program = zones[i].program,
                                             .packet = STROBE_CP_ZONE_START};
        add(files, lane, &marker, NULL, 0);
        marker.time = zones[i].end;
        marker.packet = STROBE_CP_ZONE_END;
        add(files, lane, &marker, NULL, 0);
        if (mine && zones[i].id != STROBE_ID_STALL)
            mine->last_start = zones[i].start;
    }
}

static void on_event(void *context, const struct strobe_device_lane *lane,
                     const struct strobe_device_mark *mark)
{
    struct strobe_files_marker marker = {
        .time = mark->time, .id = mark->id, .program = mark->program, .packet = STROBE_CP_EVENT};
    if (mark->is_begin || mark->is_end)
        marker.packet = mark->is_begin ? STROBE_CP_ZONE_START : STROBE_CP_ZONE_END;
    add(context, lane, &marker, NULL, 0);
}

static void on_data(void *context, const struct strobe_device_lane *lane,
                    const struct strobe_device_mark *mark)
{
    bool is_counter = mark->id == STROBE_ID_COUNTER && mark->n_values == 2;
    struct strobe_files_marker marker = {.time = mark->time,
                                         .id = mark->id,
                                         .program = mark->program,
                                         .packet = STROBE_CP_DATA,
                                         .flags = is_counter ? STROBE_FILES_IS_COUNTER : 0};
    size_t n_more = mark->n_values > 1 && !is_counter ? mark->n_values - 1 : 0;
    STROBE_ASSERT(n_more < 64); /* a record has no more */
    if (mark->n_values)
        marker.data = mark->values[0];
    if (is_counter)
        marker.data_two = mark->values[1];
    add(context, lane, &marker, n_more ? mark->values + 1 : NULL, n_more);
}

static void on_sum(void *context, const struct strobe_device_lane *lane,
                   const struct strobe_device_sum *sum)
{
    struct strobe_device_files *files = context;
    struct strobe_files_lane *mine = lane_of(files, lane);
    struct strobe_files_marker marker = {.time = mine ? mine->last_start : 0,
                                         .data = sum->sum,
                                         .id = sum->id,
                                         .program = sum->program,
                                         .packet = STROBE_CP_ZONE_TOTAL};
    add(files, lane, &marker, NULL, 0);
}

/* Zones of a core that will not run on: begins without ends. */
static void on_open(void *context, const struct strobe_device_lane *lane, uint64_t cycles,
                    bool is_final, const struct strobe_device_open *open, size_t n_open)
{
    (void)cycles;
    for (size_t i = 0; is_final && i < n_open; i++) {
        struct strobe_files_marker marker = {
            .time = open[i].start, .id = open[i].id, .packet = STROBE_CP_ZONE_START};
        add(context, lane, &marker, NULL, 0);
    }
}

static void on_counters(void *context, const struct strobe_device_lane *lane, uint64_t cycles,
                        uint32_t program, const struct strobe_device_counter *counters,
                        size_t n_counters)
{
    for (size_t i = 0; i < n_counters; i++) {
        struct strobe_files_marker marker = {.time = cycles,
                                             .data = (uint64_t)counters[i].ref_count << 32 |
                                                     (counters[i].value & 0xffffffff),
                                             .data_two = counters[i].type,
                                             .id = STROBE_ID_COUNTER,
                                             .program = program,
                                             .packet = STROBE_CP_DATA,
                                             .flags = STROBE_FILES_IS_COUNTER};
        add(context, lane, &marker, NULL, 0);
    }
}

/* ---- classic words ---- */

static void on_classic(void *context, const struct strobe_device_lane *lane,
                       const struct strobe_device_classic_words *words)
{
    struct strobe_device_files *files = context;
    uint64_t n_bad = 0;
    if (STROBE_ARRAY_RESERVE(files->classic, files->classic_room, words->n_words / 2 + 1)) {
        keep(files, STROBE_ERR_NOMEM);
        return;
    }
    size_t n = strobe_device_classic_markers(words->words, words->n_words, files->classic, &n_bad);
    n = strobe_device_classic_order(files->classic, n);
    STROBE_ASSERT(n <= words->n_words / 2 + 1);
    uint32_t main_id = n ? files->classic[0].id : 0;
    for (size_t i = 0; i < n; i++) {
        const struct strobe_device_marker *from = &files->classic[i];
        struct strobe_files_marker marker = {.time = from->time,
                                             .data = from->data,
                                             .data_two = from->data_two,
                                             .id = from->id,
                                             .program = from->program,
                                             .trace_counter = from->trace_counter,
                                             .packet = from->packet,
                                             .flags = STROBE_FILES_CLASSIC};
        if (from->packet == STROBE_CP_DATA_16 && from->id == STROBE_ID_PERF_COUNTER)
            marker.flags |= STROBE_FILES_IS_COUNTER;
        if (words->flags & STROBE_CLASSIC_TRACE_ONLY && from->packet <= STROBE_CP_ZONE_END)
            marker.flags |= from->id == main_id ? STROBE_FILES_TRACE_FW : STROBE_FILES_TRACE_KERNEL;
        bool has_more =
            from->packet == STROBE_CP_DATA_16 && !(marker.flags & STROBE_FILES_IS_COUNTER);
        add(files, lane, &marker, has_more ? &from->data_two : NULL, has_more);
    }
    if (n_bad)
        strobe_files_warn(files, "device %u: %llu words of its buffers are no markers",
                          files->device, (unsigned long long)n_bad);
}

/* ---- names ---- */

static uint64_t key_of(uint32_t id, bool is_classic)
{
    return (uint64_t)is_classic << 32 | id;
}

const struct strobe_files_name *strobe_files_name(const struct strobe_device_files *files,
                                                  uint32_t id, bool is_classic)
{
    uint64_t number = strobe_map_get(&files->names_by_id, key_of(id, is_classic), 0);
    STROBE_ASSERT(number <= files->n_names);
    return number ? &files->names[number - 1] : NULL;
}

static uint16_t hash_of(const struct strobe_device_name *name)
{
    struct strobe_out text = {0};
    strobe_out_bytes(&text, name->name.bytes, name->name.n_bytes);
    strobe_out_char(&text, ',');
    strobe_out_bytes(&text, name->file.bytes, name->file.n_bytes);
    strobe_out_format(&text, ",%u,KERNEL_PROFILER", name->line);
    uint16_t hash = text.error ? 0 : strobe_device_names_hash(text.at, text.len);
    strobe_out_free(&text);
    return hash;
}

static void on_name(void *context, const struct strobe_device_name *name)
{
    struct strobe_device_files *files = context;
    bool is_classic = name->flags & STROBE_NAME_CLASSIC;
    uint64_t *number;
    if (strobe_files_name(files, name->id, is_classic) || files->n_names >= STROBE_FILES_NAMES)
        return; /* the first one holds; another site of this hash is ambiguous */
    struct strobe_files_name *mine =
        STROBE_ARRAY_PUSH(files->names, files->n_names, files->names_room);
    if (!mine)
        return;
    *mine = (struct strobe_files_name){.line = name->line,
                                       .hash = is_classic ? (uint16_t)name->id : hash_of(name),
                                       .n_name = name->name.n_bytes,
                                       .n_file = name->file.n_bytes};
    mine->name_at = files->texts.len;
    strobe_out_bytes(&files->texts, name->name.bytes, name->name.n_bytes);
    mine->file_at = files->texts.len;
    strobe_out_bytes(&files->texts, name->file.bytes, name->file.n_bytes);
    mine->is_fw = name->name.n_bytes && memmem(name->name.bytes, name->name.n_bytes, "-FW", 3);
    mine->is_kernel =
        name->name.n_bytes && memmem(name->name.bytes, name->name.n_bytes, "-KERNEL", 7);
    if (files->texts.error ||
        strobe_map_add(&files->names_by_id, key_of(name->id, is_classic), &number)) {
        files->n_names--;
        return;
    }
    STROBE_ASSERT(!*number && files->n_names <= STROBE_FILES_NAMES); /* named once */
    *number = files->n_names;
}

/* ---- what is described ---- */

static void on_hello(void *context, const struct strobe_device_hello *hello)
{
    struct strobe_device_files *files = context;
    files->device = hello->device;
    files->arch = hello->arch;
    files->mhz = (hello->frequency_khz + 500) / 1000;
    files->n_riscs = hello->n_riscs;
    files->pid = hello->pid;
    files->max_cores = hello->grid_x * hello->grid_y;
    files->is_classic = hello->mode == STROBE_MODE_CLASSIC;
}

static void on_core(void *context, const struct strobe_device_core_facts *facts)
{
    struct strobe_files_core *core = core_of(context, facts->index, facts->core_yx);
    if (!core)
        return;
    core->core_yx = facts->core_yx;
    core->logical_yx = facts->logical_yx;
    core->kind = facts->kind;
    core->n_riscs = facts->n_riscs;
    core->has_facts = true;
}

static void on_program(void *context, const struct strobe_device_program *program)
{
    struct strobe_device_files *files = context;
    uint32_t entry;
    if (!strobe_textmap_add(&files->op_names, program->name.bytes, program->name.n_bytes, &entry))
        strobe_map_put(&files->programs, program->program, (uint64_t)entry + 1);
}

static void on_launch(void *context, const struct strobe_device_launch *launch)
{
    struct strobe_device_files *files = context;
    uint64_t *executions, *replays;
    struct strobe_files_launch mine = {
        .program = launch->program, .trace = launch->trace_id, .replay = launch->trace_counter};
    if (!strobe_map_add(&files->executions, launch->program, &executions))
        mine.execution = (uint32_t)(*executions)++;
    if (launch->trace_id != UINT32_MAX && launch->trace_counter != files->last_replay &&
        !strobe_map_add(&files->trace_replays, launch->trace_id, &replays)) {
        files->last_counter = (uint32_t)++ * replays;
        files->last_replay = launch->trace_counter;
    }
    mine.counter = files->last_counter;
    struct strobe_files_launch *slot =
        files->n_launches < STROBE_FILES_LAUNCHES
            ? STROBE_ARRAY_PUSH(files->launches, files->n_launches, files->launches_room)
            : NULL;
    STROBE_ASSERT(files->n_launches <= STROBE_FILES_LAUNCHES);
    if (slot)
        *slot = mine;
    else
        keep(files, STROBE_ERR_LIMIT);
}

static void on_clock(void *context, const struct strobe_device_clock *clock)
{
    strobe_files_sample(context, clock);
}

static void on_link(void *context, const struct strobe_device_link *link)
{
    struct strobe_device_files *files = context;
    files->link = *link;
}

void strobe_files_calls(struct strobe_device_calls *calls)
{
    calls->link = on_link;
    calls->zones = on_zones;
    calls->event = on_event;
    calls->data = on_data;
    calls->sum = on_sum;
    calls->open = on_open;
    calls->counters = on_counters;
    calls->classic = on_classic;
    calls->name = on_name;
    calls->hello = on_hello;
    calls->core = on_core;
    calls->program = on_program;
    calls->launch = on_launch;
    calls->clock = on_clock;
}
