/* write.c - sorted rows become events. A device is a process of the trace, each of its RISCs a thread, as in a recording
 * (device_record/device.h): begins and ends pair by their site, marks are zones of no length with a value.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "device/stream.h"
#include "device_import/internal.h"

enum { FIRST_TID = 256 }; /* as in a recording */

/* The lane that is written. */
struct writing {
    struct strobe_log_reading *r;     /* borrowed */
    struct strobe_build_store *store; /* owned */
    uint64_t first_tick;
    uint64_t group;
    bool has_lane;
    const struct strobe_report_series *series; /* borrowed */
    struct strobe_log_device *device;          /* borrowed */
    struct strobe_build_track *track;          /* borrowed; NULL: over the budget */
    struct {
        uint64_t site, loc;
    } stack[STROBE_LOG_DEPTH];
    uint32_t depth;
    uint64_t n_refused, n_too_deep, n_unended;
};

/* ---- devices ---- */

static uint32_t arch_of(const char *name)
{
    static const char *const names[] = {"grayskull", "wormhole_b0", "blackhole",
                                        "quasar",    "sim",         "rv32"};
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(name, names[i]))
            return STROBE_ARCH_GRAYSKULL + i;
    return STROBE_ARCH_UNKNOWN;
}

static void note_clock(const struct strobe_log_reading *r, const struct strobe_log_device *device)
{
    switch (device->clock) {
    case STROBE_LOG_CLOCK_OPS:
        strobe_build_note(device->build,
                          "device %" PRId64
                          ": no samples of its clock; it is aligned by its ops, none of which "
                          "begins before the host launched it: give or take %.3f ms",
                          device->id, device->error_ns / 1e6);
        break;
    case STROBE_LOG_CLOCK_NONE:
        strobe_build_note(device->build,
                          "device %" PRId64
                          ": nothing says when it ran on the host's clock; its first marker "
                          "is at the start",
                          device->id);
        break;
    case STROBE_LOG_CLOCK_OWN:
        if (r->out->n_devices > 1)
            strobe_build_note(device->build,
                              "device %" PRId64
                              ": no samples of its clock; its first marker is at the start, "
                              "as that of the other devices",
                              device->id);
        break;
    case STROBE_LOG_CLOCK_SYNC:
        break;
    }
}

static enum strobe_err open_device(struct writing *w, struct strobe_log_device *device)
{
    const struct strobe_log_reading *r = w->r;
    char exe[32], title[128];
    const char *texts[] = {title}, *backend[] = {"device log"};
    size_t sizes[] = {0}, n_backend[] = {10};
    snprintf(exe, sizeof exe, "device %" PRId64, device->id);
    struct strobe_build_process process = {.exe = exe};
    device->locs = calloc((size_t)r->log.n_zones + 1, sizeof *device->locs);
    device->map = calloc(1, sizeof *device->map);
    if (!device->locs || !device->map)
        return STROBE_ERR_NOMEM;
    enum strobe_err err = strobe_build_open(w->store, &process, &device->build);
    if (err)
        return err;
    strobe_build_kinds(device->build);
    sizes[0] =
        (size_t)snprintf(title, sizeof title, "Device %" PRId64 ": %s", device->id, r->log.arch);
    strobe_build_record(device->build, STROBE_META_PROGRAM_NAME, NULL, texts, sizes);
    uint64_t numbers[] = {
        (uint64_t)device->id, arch_of(r->log.arch), (uint64_t)r->log.freq_mhz * 1000, 0, 0, 0};
    strobe_build_record(device->build, STROBE_META_DEVICE, numbers, backend, n_backend);
    double tick = (double)w->first_tick + device->origin_ns * r->ticks_per_ns;
    strobe_clock_map_add(device->map, (int64_t)device->first,
                         tick > 1 && tick < 9e18 ? (uint64_t)llround(tick) : 1,
                         device->ns_per_cycle * r->ticks_per_ns, device->error_ns);
    const struct strobe_clock_map_piece *piece = strobe_clock_map_last(device->map);
    uint64_t clock[] = {strobe_build_proc(device->build), (uint64_t)piece->time, piece->tick,
                        piece->mult, piece->error_ns};
    strobe_build_record(device->build, STROBE_FACT_CLOCK_MAP, clock, NULL, NULL);
    note_clock(r, device);
    return STROBE_OK;
}

/* ---- lanes ---- */

static uint32_t risc_of(const struct strobe_report_series *series)
{
    uint32_t a, b;
    if (sscanf(series->name, "QUASAR_NEO%u_TRISC%u", &a, &b) == 2 && a < 4 && b < 4)
        return 8 + 4 * a + b;
    if (sscanf(series->name, "QUASAR_DM%u", &a) == 1 && a < 8)
        return a;
    return series->risc <= STROBE_REPORT_TRISC_2 ? series->risc : 0;
}

static void begin_lane(struct writing *w, uint64_t group)
{
    const struct strobe_report_log *log = &w->r->log;
    uint32_t index = (uint32_t)group;
    STROBE_ASSERT(index < log->n_series && group >> 32 < STROBE_LOG_DEVICES);
    w->group = group;
    w->has_lane = true;
    w->series = log->series[index];
    w->device = &w->r->devices[group >> 32];
    w->track = strobe_build_thread(w->device->build, FIRST_TID + index, w->first_tick);
    if (!w->track)
        return;
    const struct strobe_report_series *series = w->series;
    const struct strobe_report_core *core = &log->cores[series->core];
    char name[80];
    int n = snprintf(name, sizeof name, "core %" PRId64 ",%" PRId64 " %s", series->x, series->y,
                     series->name);
    strobe_build_thread_name(w->device->build, w->track, name, (size_t)n);
    uint64_t kind = series->risc == STROBE_REPORT_ERISC ? STROBE_CORE_ETH
                    : core->dispatch                    ? STROBE_CORE_DISPATCH
                                                        : STROBE_CORE_WORKER;
    uint64_t x = (uint64_t)series->x, y = (uint64_t)series->y;
    uint64_t numbers[] = {strobe_build_track_id(w->track), kind, x, y, x, y, risc_of(series)};
    strobe_build_record(w->device->build, STROBE_META_DEVICE_LANE, numbers, NULL, NULL);
    w->r->out->n_lanes++;
}

static void end_lane(struct writing *w)
{
    w->n_unended += w->depth;
    w->depth = 0;
    w->has_lane = false;
}

/* ---- names ---- */

/* A location made of texts. */
static uint64_t make_loc(const struct writing *w, const char *name, size_t n_name, const char *file,
                         size_t n_file, uint32_t line)
{
    struct strobe_build_loc loc = {
        .line = line, .function = name, .n_function = n_name, .file = file, .n_file = n_file};
    return strobe_build_loc(w->device->build, &loc);
}

/* What a hash stands for, by the source locations; 0: they do not know. */
static uint64_t loc_of_hash(const struct writing *w, uint32_t hash)
{
    const struct strobe_log_reading *r = w->r;
    uint64_t number = strobe_map_get(&r->names_by_hash, hash, 0);
    if (!number)
        return 0;
    const struct strobe_log_name *name = &r->names[number - 1];
    return make_loc(w, r->texts.at + name->name_at, name->n_name, r->texts.at + name->file_at,
                    name->n_file, name->line);
}

/* The location of a marker without a name in the log. */
static uint64_t loc_of_timer(const struct writing *w, uint8_t type, uint32_t timer)
{
    char text[48];
    uint64_t *known, loc;
    if (strobe_map_add(&w->device->mark_locs, (uint64_t)type << 32 | timer, &known))
        return make_loc(w, "?", 1, "", 0, 0);
    if (*known)
        return *known;
    loc = loc_of_hash(w, timer);
    if (!loc) {
        const char *what = type == STROBE_REPORT_TS_EVENT  ? "event"
                           : timer == 12345                ? "NOC-EVENT"
                           : type == STROBE_REPORT_TS_DATA ? "data"
                                                           : "zone";
        int n = timer == 12345 ? snprintf(text, sizeof text, "%s", what)
                               : snprintf(text, sizeof text, "%s %u", what, timer);
        loc = make_loc(w, text, (size_t)n, "", 0, 0);
    }
    *known = loc;
    return loc;
}

static uint32_t line_of(const struct strobe_report_zone *zone)
{
    uint64_t line;
    struct strobe_report_span text = {zone->text + zone->line_at, zone->line_len};
    return strobe_report_span_uint(text, &line) && line <= UINT32_MAX ? (uint32_t)line : 0;
}

static uint64_t loc_of(const struct writing *w, const struct strobe_row *row, uint32_t index)
{
    const struct strobe_report_zone *zone = &w->r->log.zones[index];
    uint32_t timer = row->kind >> 3 & 0xffff;
    struct strobe_report_span meta, name;
    if (row->n_text && timer == STROBE_REPORT_COUNTER_TIMER) {
        meta = (struct strobe_report_span){strobe_rows_text(w->r->rows, row), row->n_text};
        if (meta.at && strobe_report_meta_member(meta, "counter type", &name))
            return make_loc(w, name.at, name.len, "", 0, 0);
    }
    if (!zone->name_len)
        return loc_of_timer(w, zone->type, timer);
    uint64_t *loc = &w->device->locs[index];
    if (!*loc)
        *loc = make_loc(w, zone->text, zone->name_len, zone->text + zone->file_at, zone->file_len,
                        line_of(zone));
    return *loc;
}

/* ---- events ---- */

/* The op of an outermost zone: its number is the zone's value, its name the text of the master's. */
static void put_op(struct writing *w, const struct strobe_row *row, uint32_t index, uint64_t tick)
{
    uint64_t run = row->name & UINT32_MAX, program = run >> STROBE_REPORT_DEVICE_BITS;
    const struct strobe_report_op *op = strobe_report_host_find(&w->r->host, run);
    struct strobe_build *build = w->device->build;
    char text[160];
    size_t n = 0;
    if (!run)
        return;
    strobe_build_event(build, w->track, tick, STROBE_KIND_ZONE_VALUE, &program, NULL, 0);
    if (!strobe_report_is_master(w->series, &w->r->log.zones[index]))
        return;
    if (op && op->desc != UINT32_MAX) {
        const struct strobe_report_desc *desc = w->r->host.descs.all[op->desc];
        struct strobe_report_cell cell = desc->cells[STROBE_REPORT_COL_OP_CODE];
        n = (size_t)snprintf(text, sizeof text, "%.*s", (int)cell.len, desc->text.at + cell.at);
    }
    if (row->kind >> 19 && n < sizeof text)
        n += (size_t)snprintf(text + n, sizeof text - n, "%strace %u, replay %u", n ? ", " : "",
                              (row->kind >> 19) - 1, (uint32_t)(row->name >> 49));
    if (n)
        strobe_build_event(build, w->track, tick, STROBE_KIND_ZONE_TEXT, NULL, text,
                           n < sizeof text ? n : sizeof text - 1);
}

static void put_begin(struct writing *w, const struct strobe_row *row, uint32_t index,
                      uint64_t site, uint64_t tick)
{
    if (w->depth == STROBE_LOG_DEPTH) {
        w->n_too_deep++;
        return;
    }
    uint64_t loc = loc_of(w, row, index);
    w->stack[w->depth].site = site;
    w->stack[w->depth++].loc = loc;
    strobe_build_zone_begin(w->device->build, w->track, tick, loc);
    if (w->depth == 1)
        put_op(w, row, index, tick);
    w->r->out->n_zones++;
}

static void put_end(struct writing *w, uint64_t site, uint64_t tick)
{
    uint32_t at = w->depth;
    while (at && w->stack[at - 1].site != site)
        at--;
    if (!at) {
        w->r->out->n_orphans++;
        return;
    }
    if (at == w->depth)
        strobe_build_zone_end(w->device->build, w->track, tick);
    else /* those in it lost their ends */
        strobe_build_zone_end_of(w->device->build, w->track, tick, w->stack[at - 1].loc);
    w->n_unended += w->depth - at;
    w->depth = at - 1;
}

static void put_value(struct writing *w, uint64_t loc, const uint64_t *value, uint64_t tick)
{
    struct strobe_build *build = w->device->build;
    strobe_build_zone_begin(build, w->track, tick, loc);
    if (value)
        strobe_build_event(build, w->track, tick, STROBE_KIND_ZONE_VALUE, value, NULL, 0);
    strobe_build_zone_end(build, w->track, tick);
}

/* Data has a mark for each of its values; the further ones are in the meta data. */
static void put_more_values(struct writing *w, const struct strobe_row *row, uint64_t loc,
                            uint64_t tick)
{
    const char *at = strobe_rows_text(w->r->rows, row), *end = at ? at + row->n_text : NULL;
    uint64_t value;
    if (!at)
        return;
    for (at += strlen(STROBE_LOG_VALUES); at < end; at++) {
        size_t n = 0;
        while (at + n < end && at[n] >= '0' && at[n] <= '9')
            n++;
        if (!strobe_report_span_uint((struct strobe_report_span){at, n}, &value))
            return;
        put_value(w, loc, &value, tick);
        at += n;
    }
}

static void put_mark(struct writing *w, const struct strobe_row *row, uint32_t index, uint64_t tick)
{
    bool is_counter = row->kind >> 3 == STROBE_REPORT_COUNTER_TIMER;
    uint64_t value = is_counter ? row->value & UINT32_MAX : row->value;
    uint64_t loc = loc_of(w, row, index);
    put_value(w, loc, (row->kind & 7) != STROBE_REPORT_TS_EVENT ? &value : NULL, tick);
    if (row->n_text && (row->kind >> 3 & 0xffff) != STROBE_REPORT_COUNTER_TIMER)
        put_more_values(w, row, loc, tick);
    w->r->out->n_marks++;
}

static enum strobe_err put_row(void *context, const struct strobe_row *row)
{
    struct writing *w = context;
    uint32_t index = row->name >> 32 & 0x1ffff;
    if (!w->has_lane || w->group != row->group) {
        end_lane(w);
        begin_lane(w, row->group);
    }
    if (!w->track) {
        w->n_refused++;
        return STROBE_OK;
    }
    STROBE_ASSERT(index < w->r->log.n_zones);
    const struct strobe_report_zone *zone = &w->r->log.zones[index];
    uint64_t tick = strobe_clock_map_tick(w->device->map, row->time);
    /* begin and end have one site; without a name their hashes are equal */
    uint64_t site =
        zone->name_len ? (uint64_t)zone->source + (1ull << 32) : row->kind >> 3 & 0xffff;
    switch (row->kind & 7) {
    case STROBE_REPORT_ZONE_START:
        put_begin(w, row, index, site, tick);
        break;
    case STROBE_REPORT_ZONE_END:
        put_end(w, site, tick);
        break;
    default:
        put_mark(w, row, index, tick);
    }
    return STROBE_OK;
}

/* ---- all of it ---- */

/* What the host says of the ops that ran. */
static void put_programs(struct writing *w)
{
    struct strobe_log_reading *r = w->r;
    for (uint32_t i = 0; i < r->first_times.n; i++) {
        uint64_t run = r->first_times.entries[i].key;
        const struct strobe_report_op *op = strobe_report_host_find(&r->host, run);
        if (!op || op->desc == UINT32_MAX)
            continue;
        const struct strobe_report_desc *desc = r->host.descs.all[op->desc];
        struct strobe_report_cell cell = desc->cells[STROBE_REPORT_COL_OP_CODE];
        r->out->n_named_ops += cell.len != 0;
        for (uint32_t j = 0; cell.len && j < r->out->n_devices; j++) {
            if (r->devices[j].id != (int64_t)(run & 1023) || !r->devices[j].build)
                continue;
            uint64_t numbers[] = {run >> STROBE_REPORT_DEVICE_BITS,
                                  op->trace < 0 ? UINT32_MAX : (uint64_t)op->trace};
            const char *texts[] = {desc->text.at + cell.at, ""};
            size_t sizes[] = {cell.len, 0};
            strobe_build_record(r->devices[j].build, STROBE_META_DEVICE_PROGRAM, numbers, texts,
                                sizes);
        }
    }
}

static void put_notes(struct writing *w)
{
    const struct strobe_log_reading *r = w->r;
    struct strobe_build *build = r->devices[0].build;
    const struct {
        uint64_t n;
        const char *what;
    } notes[] = {
        {r->faults.counts[STROBE_REPORT_FAULT_CUT_LINE],
         "lines of the log were set aside: they are cut"},
        {r->faults.counts[STROBE_REPORT_FAULT_BAD_CELL],
         "lines of the log were set aside: a number is expected"},
        {r->faults.counts[STROBE_REPORT_FAULT_PREAMBLE],
         "of the log's first lines are not understood"},
        {r->faults.counts[STROBE_REPORT_FAULT_ZONE_HASH], "hashes stand for two zones"},
        {r->n_too_many,
         "lines of the log were set aside: a type that is not known, or too many names or devices"},
        {r->out->n_orphans, "ends without a begin were set aside"},
        {w->n_unended, "zones without an end stay open, or ended with the zone around them"},
        {w->n_too_deep, "zones were set aside: too many are open"},
        {w->n_refused, "markers were set aside: too many RISCs"},
    };
    for (size_t i = 0; build && i < sizeof notes / sizeof notes[0]; i++)
        if (notes[i].n)
            strobe_build_note(build, "%" PRIu64 " %s", notes[i].n, notes[i].what);
    if (build && r->out->n_set_aside)
        strobe_build_lose(build, NULL, STROBE_LOSS_REFUSED, r->out->n_set_aside, w->first_tick);
    if (build && r->out->host_err)
        strobe_build_note(build, "the host's capture could not be read whole: %s",
                          strobe_err_text(r->out->host_err));
}

static uint32_t new_proc(void *arg)
{
    uint32_t *last = arg;
    return ++*last;
}

enum strobe_err strobe_log_reading_write(struct strobe_log_reading *r,
                                         struct strobe_file_writer *writer, uint64_t first_tick)
{
    struct writing *w = calloc(1, sizeof *w);
    uint32_t last_proc = 1; /* the capture's */
    struct strobe_build_store_options options = {.writer = writer,
                                                 .new_proc = new_proc,
                                                 .arg = &last_proc,
                                                 .budget_bytes = STROBE_LOG_BUDGET};
    if (!w)
        return STROBE_ERR_NOMEM;
    w->r = r;
    w->first_tick = first_tick;
    enum strobe_err err = strobe_build_store_open(&options, &w->store);
    for (uint32_t i = 0; i < r->out->n_devices && !err; i++)
        err = open_device(w, &r->devices[i]);
    if (!err) {
        put_programs(w);
        strobe_log_reading_put_ops(r);
    }
    if (!err)
        err = strobe_rows_sorted(r->rows, put_row, w);
    end_lane(w);
    r->out->n_open = w->n_unended;
    r->out->n_set_aside += r->out->n_orphans + w->n_too_deep + w->n_refused;
    if (w->store)
        put_notes(w);
    for (uint32_t i = 0; i < r->out->n_devices; i++) {
        strobe_build_close(r->devices[i].build);
        r->devices[i].build = NULL;
    }
    strobe_build_store_close(w->store);
    free(w);
    return err;
}
