/* dump.c - sorted markers become lines. They come lane by lane and in order of time, and all names are known by now: so here it is
 * found which launch a marker belongs to, and where a run of a program begins and ends on its RISC.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "device/counter_names.h"
#include "device_files/internal.h"
#include "device_files/log_row.h"

/* The lane that is written. */
struct dumping {
    struct strobe_device_files *files; /* borrowed */
    struct strobe_out *log, *zones;    /* borrowed; NULL: not wanted */
    bool has_lane, in_run;
    uint16_t x, y;
    uint8_t risc;
    uint32_t cursor;                          /* launches before it are done on this lane */
    const struct strobe_files_launch *launch; /* of the run; NULL: not known */
    struct strobe_files_run run;
    struct strobe_files_marker last;     /* of this lane */
    struct strobe_files_command command; /* of a dispatch core, whose rows wait for its end */
    const char *zone_name,
        *zone_meta; /* of the rows that are written, where they are not their own; borrowed */
    enum strobe_err err;
};

/* A classic buffer that was pushed in pieces repeats its guaranteed markers. */
static bool is_repeated(const struct dumping *d, const struct strobe_files_marker *marker)
{
    return marker->flags & STROBE_FILES_CLASSIC && marker->packet <= STROBE_CP_ZONE_END &&
           d->last.time == marker->time && d->last.id == marker->id &&
           d->last.packet == marker->packet && d->last.program == marker->program;
}

/* ---- runs ---- */

static void end_run(struct dumping *d)
{
    struct strobe_device_files *files = d->files;
    if (d->in_run && d->run.program && d->run.flags && files->runs)
        d->err = d->err ? d->err : strobe_sort_add(files->runs, &d->run, NULL, 0);
    d->in_run = false;
}

/* The next launch of the marker's program on this lane; of a replay as a whole its first: there the program's number is the replay's. */
static const struct strobe_files_launch *find_launch(struct dumping *d,
                                                     const struct strobe_files_marker *marker)
{
    const struct strobe_device_files *files = d->files;
    bool has_replay = marker->flags & STROBE_FILES_CLASSIC;
    bool is_whole = marker->flags & (STROBE_FILES_TRACE_FW | STROBE_FILES_TRACE_KERNEL);
    for (uint32_t i = d->cursor; marker->program && i < files->n_launches; i++) {
        const struct strobe_files_launch *launch = &files->launches[i];
        if (is_whole ? launch->replay != marker->program
                     : launch->program != marker->program ||
                           (has_replay && (launch->replay & 0xffff) != marker->trace_counter))
            continue;
        STROBE_ASSERT(d->cursor <= i && i < files->n_launches);
        d->cursor = i + 1;
        return launch;
    }
    return NULL;
}

static void begin_run(struct dumping *d, const struct strobe_files_marker *marker)
{
    const struct strobe_files_core *core =
        marker->core < d->files->n_cores ? &d->files->cores[marker->core] : NULL;
    STROBE_ASSERT(d->has_lane && !d->in_run); /* the run before has ended */
    d->launch = find_launch(d, marker);
    d->in_run = true;
    d->run = (struct strobe_files_run){.program = marker->program,
                                       .execution = d->launch ? d->launch->execution : 0,
                                       .trace = d->launch ? d->launch->trace : UINT32_MAX,
                                       .counter = d->launch ? d->launch->counter : 0,
                                       .core_yx = (uint32_t)marker->y << 16 | marker->x,
                                       .risc = marker->risc,
                                       .kind = core ? core->kind : 0};
}

/* What the marker means for the run that it is in. True: the run ends with it. */
static bool note_run(struct dumping *d, const struct strobe_files_marker *marker, bool is_fw,
                     bool is_kernel)
{
    struct strobe_files_run *run = &d->run;
    STROBE_ASSERT(d->in_run && run->program == marker->program);
    bool is_end = marker->packet == STROBE_CP_ZONE_END;
    if (marker->packet > STROBE_CP_ZONE_END || (!is_fw && !is_kernel))
        return false;
    if (marker->flags & (STROBE_FILES_TRACE_FW | STROBE_FILES_TRACE_KERNEL))
        run->flags |= STROBE_RUN_AGGREGATE;
    uint64_t *start = is_fw ? &run->fw_start : &run->kernel_start;
    uint64_t *end = is_fw ? &run->fw_end : &run->kernel_end;
    if (!is_end && !*start)
        *start = marker->time;
    if (is_end && *start) {
        STROBE_ASSERT(marker->time >= *start); /* they are sorted */
        *end = marker->time;
        run->flags |= is_fw ? STROBE_RUN_FW : STROBE_RUN_KERNEL;
    }
    return is_end && (is_fw || !run->fw_start);
}

/* ---- cells ---- */

static uint32_t timer_of(const struct strobe_files_marker *marker,
                         const struct strobe_files_name *name)
{
    uint32_t unit = marker->id >> 14;
    if (marker->flags & STROBE_FILES_CLASSIC)
        return marker->id;
    if (marker->id == STROBE_ID_COUNTER)
        return STROBE_ID_PERF_COUNTER;
    if (marker->id == STROBE_ID_NOC)
        return STROBE_ID_NOC_EVENT;
    if (marker->id == STROBE_ID_NOC_LOCK)
        return STROBE_ID_NOC_DEBUG;
    if (unit > STROBE_UNIT_NUMBERS - 4 && unit <= STROBE_UNIT_NUMBERS)
        return (STROBE_UNIT_NUMBERS - unit) << 14 | (marker->id & 0x3fff);
    return name ? name->hash : marker->id & 0xffff;
}

/* The last column. */
static const char *put_meta(const struct dumping *d, const struct strobe_files_marker *marker,
                            const uint64_t *more, size_t n_more, char *out, size_t room)
{
    const uint64_t *sub = marker->packet <= STROBE_CP_ZONE_END
                              ? strobe_map_find(&d->files->sub_devices, marker->program)
                              : NULL;
    STROBE_ASSERT(room >= 256 && (more || !n_more));
    out[0] = 0;
    if (marker->flags & STROBE_FILES_IS_COUNTER) {
        const char *name = strobe_device_counter_name(marker->data_two & 0xff);
        snprintf(out, room, "{\"counter type\":\"%s\";\"ref cnt\":%u;\"value\":%u}",
                 name ? name : "UNDEF", (uint32_t)(marker->data >> 32), (uint32_t)marker->data);
    } else if (sub) {
        snprintf(out, room, "{\"sub_device_id\":%u;\"sub_device_manager_id\":%u}",
                 (uint32_t)(*sub >> 32 & 0x7fffffff), (uint32_t)*sub);
    } else if (n_more) {
        size_t n = (size_t)snprintf(out, room, "{\"values\":[");
        for (size_t i = 0; i < n_more && n + 32 < room; i++)
            n += (size_t)snprintf(out + n, room - n, "%s%llu", i ? ";" : "",
                                  (unsigned long long)more[i]);
        snprintf(out + n, room - n, "]}");
    }
    return out;
}

static void write_row(struct dumping *d, const struct strobe_files_marker *marker,
                      const struct strobe_files_name *name, const uint64_t *more, size_t n_more)
{
    const struct strobe_device_files *files = d->files;
    const struct strobe_files_core *core =
        marker->core < files->n_cores ? &files->cores[marker->core] : NULL;
    char risc[24], meta[2048];
    STROBE_ASSERT(!name || name->name_at + name->n_name <= files->texts.len);
    bool is_replay = marker->flags & (STROBE_FILES_TRACE_FW | STROBE_FILES_TRACE_KERNEL);
    bool is_traced = d->launch && d->launch->trace != UINT32_MAX && d->launch->counter;
    STROBE_ASSERT(n_more <= 63 && marker->packet <= STROBE_CP_DATA_16);
    struct strobe_device_log_row row = {
        .device = files->device,
        .x = marker->x,
        .y = marker->y,
        .logical_x = core ? core->logical_yx & 0xffff : marker->x,
        .logical_y = core ? core->logical_yx >> 16 : marker->y,
        .risc = is_replay ? "TENSIX_RISC_AGG"
                          : strobe_device_log_risc(core ? core->kind : 0, files->n_riscs,
                                                   marker->risc, risc),
        .timer = timer_of(marker, name),
        .time = marker->time,
        .data = marker->data,
        .run = marker->program ? (uint64_t)marker->program << 10 | files->device : 0,
        .is_traced = is_traced,
        .trace = is_traced ? d->launch->trace : 0,
        .counter = is_traced ? d->launch->counter : 0,
        .name = name ? files->texts.at + name->name_at : "",
        .n_name = name ? name->n_name : 0,
        .file = name ? files->texts.at + name->file_at : "",
        .n_file = name ? name->n_file : 0,
        .type = strobe_device_log_type(marker->packet),
        .line = name ? name->line : 0,
        .meta = put_meta(d, marker, more, n_more, meta, sizeof meta)};
    if (d->zone_name && marker->packet <= STROBE_CP_ZONE_END) {
        row.name = d->zone_name;
        row.n_name = strlen(row.name);
    }
    if (d->zone_name)
        row.meta = d->zone_meta;
    if (is_replay) {
        row.name = marker->flags & STROBE_FILES_TRACE_FW ? "TRACE-FW" : "TRACE-KERNEL";
        row.n_name = strlen(row.name);
    }
    if (d->log)
        strobe_device_log_row_write(d->log, &row);
    if (d->zones && marker->packet != STROBE_CP_ZONE_TOTAL)
        strobe_device_log_row_zone_write(d->zones, &row, files->pid, marker->program);
}

/* ---- commands of dispatch cores ---- */

/* Write the rows of a command, by the name that it has only now. */
static void write_command(struct dumping *d)
{
    char zone[STROBE_FILES_COMMAND_TEXT], meta[STROBE_FILES_COMMAND_TEXT];
    struct strobe_files_command *command = &d->command;
    if (!command->n)
        return;
    uint32_t worker = strobe_files_command_name(d->files, command, zone);
    d->zone_name = zone;
    d->zone_meta = meta;
    for (uint32_t i = 0; i < command->n; i++) {
        struct strobe_files_marker *marker = &command->rows[i];
        const struct strobe_files_name *name =
            strobe_files_name(d->files, marker->id, marker->flags & STROBE_FILES_CLASSIC);
        strobe_files_command_meta(d->files, marker, name, meta);
        marker->program = worker ? worker : marker->program;
        write_row(d, marker, name, NULL, 0);
    }
    d->zone_name = d->zone_meta = NULL;
    strobe_files_command_end(command);
}

/* True: the marker belongs to a command, and its row is written with it; or to the launch of the dispatch core's own kernel, which runs for
 * ever on a real one, and has no row. */
static bool hold_command(struct dumping *d, const struct strobe_files_marker *marker,
                         const struct strobe_files_name *name)
{
    const struct strobe_files_core *core =
        marker->core < d->files->n_cores ? &d->files->cores[marker->core] : NULL;
    if (!core || core->kind != STROBE_CORE_DISPATCH || marker->risc > 1)
        return false;
    if (name && (name->is_fw || name->is_kernel))
        return true;
    if (!strobe_files_command_take(d->files, &d->command, marker, name))
        return false;
    if (strobe_files_command_is_over(&d->command))
        write_command(d);
    return true;
}

/* ---- all markers ---- */

static enum strobe_err take(void *context, const void *record, const void *bytes, size_t n_bytes)
{
    struct dumping *d = context;
    struct strobe_files_marker marker;
    uint64_t more[63];
    size_t n_more = n_bytes / sizeof *more < 63 ? n_bytes / sizeof *more : 63;
    STROBE_ASSERT(n_bytes % sizeof *more == 0);
    memcpy(&marker, record, sizeof marker);
    if (n_more)
        memcpy(more, bytes, n_more * sizeof *more);
    if (!d->has_lane || d->x != marker.x || d->y != marker.y || d->risc != marker.risc) {
        write_command(d);
        d->command.current = 0;
        end_run(d);
        d->has_lane = true;
        d->x = marker.x;
        d->y = marker.y;
        d->risc = marker.risc;
        d->cursor = 0;
        d->launch = NULL;
    } else if (is_repeated(d, &marker)) {
        return d->err;
    }
    STROBE_ASSERT(!d->last.time || d->last.x != marker.x || d->last.y != marker.y ||
                  d->last.risc != marker.risc ||
                  d->last.time <= marker.time); /* by lane, then by time */
    d->last = marker;
    bool is_classic = marker.flags & STROBE_FILES_CLASSIC;
    const struct strobe_files_name *name = strobe_files_name(d->files, marker.id, is_classic);
    if (d->in_run && d->run.program != marker.program)
        end_run(d);
    if (!d->in_run)
        begin_run(d, &marker);
    bool is_fw = marker.flags & STROBE_FILES_TRACE_FW || (name && name->is_fw);
    bool is_kernel = marker.flags & STROBE_FILES_TRACE_KERNEL || (name && name->is_kernel);
    bool is_last = note_run(d, &marker, is_fw, is_kernel);
    if (!hold_command(d, &marker, name))
        write_row(d, &marker, name, more, n_more);
    if (!d->err)
        d->err = strobe_files_noc_add(d->files, &marker, name, &d->run);
    if (is_last)
        end_run(d);
    return d->err;
}

enum strobe_err strobe_files_dump_markers(struct strobe_device_files *files)
{
    struct dumping d = {.files = files};
    const char *arch = strobe_device_log_arch(files->arch);
    if (!files->markers)
        return STROBE_ERR_NOMEM;
    if (strobe_files_begin(files, &files->log)) {
        d.log = &files->log.out;
        if (files->log.is_new)
            strobe_device_log_row_head(d.log, arch, files->mhz, files->max_cores);
    }
    if (!files->is_classic && strobe_files_begin(files, &files->zones)) {
        d.zones = &files->zones.out;
        if (files->zones.is_new)
            strobe_device_log_row_zone_head(d.zones, arch, files->mhz);
    }
    enum strobe_err err = strobe_sort_all(files->markers, take, &d);
    write_command(&d);
    end_run(&d);
    STROBE_ASSERT(!d.in_run);
    strobe_files_end(files, &files->log);
    strobe_files_end(files, &files->zones);
    files->n_launches = 0;
    return err ? err : d.err;
}
