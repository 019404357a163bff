/* noc.c - transfers over the NoC, with the zones around them: noc_trace_dev<device>_<op>_ID<run host id>.json, a file per execution of a
 * program, as tt-npe reads it. Entries are sorted by core, RISC and time.
 * The bits of a transfer: device/noc_event.h.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "device/noc_event.h"
#include "device_files/internal.h"
#include "device_files/log_row.h"

/* ---- which markers ---- */

/* Zones that say where in its kernel a transfer was; not the profiler's own, and of kernels only those that move data. */
static bool is_wanted(const struct strobe_device_files *files,
                      const struct strobe_files_marker *marker,
                      const struct strobe_files_name *name)
{
    const char *text = name ? files->texts.at + name->name_at : "";
    STROBE_ASSERT(!name || name->name_at + name->n_name <= files->texts.len);
    if (marker->packet > STROBE_CP_ZONE_END)
        return marker->packet == STROBE_CP_DATA &&
               marker->id ==
                   (marker->flags & STROBE_FILES_CLASSIC ? STROBE_ID_NOC_EVENT : STROBE_ID_NOC);
    if (!name || name->is_fw || (name->is_kernel && marker->risc > 1) ||
        (name->n_name >= 8 && !memcmp(text, "PROFILER", 8)) ||
        (name->n_name >= 9 && !memcmp(text, "SYNC-ZONE", 9)))
        return false;
    return true;
}

int strobe_files_noc_compare(const void *left, const void *right)
{
    const struct strobe_files_noc *a = left, *b = right;
    int order = strobe_files_run_compare(&a->run, &b->run);
    return order ? order : (a->time > b->time) - (a->time < b->time);
}

enum strobe_err strobe_files_noc_add(struct strobe_device_files *files,
                                     const struct strobe_files_marker *marker,
                                     const struct strobe_files_name *name,
                                     const struct strobe_files_run *run)
{
    struct strobe_files_noc entry = {.run = *run,
                                     .time = marker->time,
                                     .data = marker->data,
                                     .packet = marker->packet,
                                     .name = name ? (uint32_t)(name - files->names) + 1 : 0};
    STROBE_ASSERT(entry.name <= files->n_names);
    if (!files->noc || !run->program || !is_wanted(files, marker, name))
        return STROBE_OK;
    return strobe_sort_add(files->noc, &entry, NULL, 0);
}

/* ---- files ---- */

/* The file that is written. */
struct writing {
    struct strobe_device_files *files; /* borrowed */
    struct strobe_files_out out;
    struct strobe_files_run run;
    bool is_open, has_entry;
    const char *op; /* borrowed */
};

static void end_file(struct writing *w)
{
    if (w->is_open) {
        strobe_out_text(&w->out.out, w->has_entry ? "\n]\n" : "]\n");
        strobe_files_end(w->files, &w->out);
    }
    w->is_open = false;
}

/* The op's name, as a file's may be. */
static void put_op(char *out, size_t room, const char *op)
{
    size_t n = 0;
    for (; *op && n + 2 < room && n < 64; op++)
        out[n++] = (*op >= 'a' && *op <= 'z') || (*op >= 'A' && *op <= 'Z') ||
                           (*op >= '0' && *op <= '9') || *op == '-'
                       ? *op
                       : '_';
    STROBE_ASSERT(n + 1 < room);
    out[n] = 0;
}

static void begin_file(struct writing *w, const struct strobe_files_run *run)
{
    struct strobe_device_files *files = w->files;
    char op[80], trace[48] = "", again[24] = "";
    uint64_t id = (uint64_t)run->program << 10 | files->device;
    uint64_t entry = strobe_map_get(&files->programs, run->program, 0);
    STROBE_ASSERT(!w->is_open && run->program); /* the file before was ended */
    w->run = *run;
    w->op = entry ? strobe_textmap_key(&files->op_names, (uint32_t)entry - 1) : "";
    put_op(op, sizeof op, w->op);
    if (run->trace != UINT32_MAX)
        snprintf(trace, sizeof trace, "_traceID%llu",
                 (unsigned long long)((uint64_t)run->trace << 32 | run->counter));
    else if (run->execution)
        snprintf(again, sizeof again, "_run%u", run->execution);
    w->out = (struct strobe_files_out){.fd = -1};
    int n = snprintf(w->out.path, sizeof w->out.path, "%s/noc_trace_dev%u%s%s_ID%llu%s%s.json",
                     files->noc_folder, files->device, *op ? "_" : "", op, (unsigned long long)id,
                     trace, again);
    if (n < 0 || (size_t)n >= sizeof w->out.path)
        w->out.path[0] = 0;
    else if (strobe_files_is_first(w->out.path))
        strobe_files_remove(w->out.path);
    w->is_open = strobe_files_begin(files, &w->out);
    w->has_entry = false;
    if (w->is_open)
        strobe_out_text(&w->out.out, "[");
}

static void put_transfer(struct strobe_out *out, uint64_t data)
{
    struct strobe_noc_event event = strobe_noc_event_decode(data, STROBE_NOC_12_BITS);
    strobe_out_format(out,
                      ",\n    \"noc\": \"NOC_%u\",\n    \"vc\": %d,\n    \"num_bytes\": %u,\n    "
                      "\"type\": \"%s\"",
                      event.noc, event.vc, event.n_bytes, strobe_noc_event_name(event.type));
    if (!strobe_noc_event_has_target(&event))
        return;
    if (strobe_noc_event_is_multicast(event.type))
        strobe_out_format(
            out,
            ",\n    \"mcast_start_x\": %d,\n    \"mcast_start_y\": %d,\n    \"mcast_end_x\": %d,\n"
            "    \"mcast_end_y\": %d",
            event.x, event.y, event.last_x, event.last_y);
    else
        strobe_out_format(out, ",\n    \"dx\": %d,\n    \"dy\": %d", event.x, event.y);
}

static enum strobe_err take(void *context, const void *record, const void *bytes, size_t n_bytes)
{
    struct writing *w = context;
    struct strobe_files_noc entry;
    char risc[24];
    (void)bytes, (void)n_bytes;
    memcpy(&entry, record, sizeof entry);
    const struct strobe_files_run *run = &entry.run;
    STROBE_ASSERT(run->program && entry.name <= w->files->n_names);
    if (!w->is_open || run->program != w->run.program || run->execution != w->run.execution ||
        run->trace != w->run.trace || run->counter != w->run.counter) {
        end_file(w);
        begin_file(w, run);
    }
    if (!w->is_open)
        return STROBE_OK;
    STROBE_ASSERT(w->run.program == run->program && w->out.fd >= 0);
    struct strobe_out *out = &w->out.out;
    strobe_out_format(
        out, "%s\n  {\n    \"run_host_id\": %llu,\n    \"op_name\": ", w->has_entry ? "," : "",
        (unsigned long long)run->program << 10 | w->files->device);
    strobe_out_json(out, w->op, strlen(w->op));
    strobe_out_format(out,
                      ",\n    \"proc\": \"%s\",\n    \"src_device_id\": %u,\n    \"sx\": %u,\n    "
                      "\"sy\": %u,\n    \"timestamp\": %llu",
                      strobe_device_log_risc(run->kind, w->files->n_riscs, run->risc, risc),
                      w->files->device, run->core_yx & 0xffff, run->core_yx >> 16,
                      (unsigned long long)entry.time);
    if (entry.packet <= STROBE_CP_ZONE_END && entry.name) {
        const struct strobe_files_name *name = &w->files->names[entry.name - 1];
        strobe_out_text(out, ",\n    \"zone\": ");
        strobe_out_json(out, w->files->texts.at + name->name_at, name->n_name);
        strobe_out_format(out, ",\n    \"zone_phase\": \"%s\"",
                          strobe_device_log_type(entry.packet));
    } else {
        put_transfer(out, entry.data);
    }
    strobe_out_text(out, "\n  }");
    w->has_entry = true;
    return STROBE_OK;
}

enum strobe_err strobe_files_dump_noc(struct strobe_device_files *files)
{
    struct writing w = {.files = files};
    if (!files->noc)
        return STROBE_OK;
    enum strobe_err err = strobe_sort_all(files->noc, take, &w);
    end_file(&w);
    return err;
}
