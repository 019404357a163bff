/* device_log.c - see the header. The log is read whole, into rows that are sorted; then the capture, if there is one, makes the trace and
 * the devices are added to it.  SPDX-License-Identifier: MIT */
#include "device_import/device_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "device_import/internal.h"
#include "file/file_write.h"
#include "file/records.h"
#include "wire/ring_layout.h"

#define SECOND_NS 1000000000ull

bool strobe_device_log_is_file(const uint8_t *bytes, size_t n_bytes)
{
    static const char *const heads[] = {"ARCH:", "Chip clock is at ", "PCIe slot"};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        if (n_bytes >= strlen(heads[i]) && !memcmp(bytes, heads[i], strlen(heads[i])))
            return true;
    return false;
}

/* ---- what the capture says ---- */

/* The host's zone of an op has its id in the text, behind the last colon. */
static void take_text(void *context, int64_t ns, const char *name, size_t n_name, const char *text,
                      size_t n_text)
{
    struct strobe_log_reading *r = context;
    uint64_t id, *time;
    struct strobe_report_span zone = {name, n_name};
    const char *colon = memrchr(text, ':', n_text);
    if (!colon || ns < 0 ||
        !(strobe_report_span_has(zone, "TT_DNN") || strobe_report_span_has(zone, "TT_METAL")))
        return;
    size_t n_digits = 0;
    while (colon + 1 + n_digits < text + n_text && colon[1 + n_digits] >= '0' &&
           colon[1 + n_digits] <= '9')
        n_digits++;
    struct strobe_report_span number = {colon + 1, n_digits};
    if (!strobe_report_span_uint(number, &id) || strobe_map_add(&r->host_times, id, &time))
        return;
    if (!*time)
        *time = (uint64_t)ns;
}

static void take_message(void *context, int64_t ns, const char *text, size_t n_text)
{
    struct strobe_log_reading *r = context;
    struct strobe_report_span span = {text, n_text};
    if (n_text >= 2 && text[0] == '`' && text[n_text - 1] == '`')
        span = (struct strobe_report_span){text + 1, n_text - 2};
    if (r->host.n_ops < STROBE_LOG_OPS && strobe_report_span_has(span, "TT_DNN"))
        strobe_report_host_message(&r->host, span, ns, 0, false);
}

static enum strobe_err add_devices(void *context, struct strobe_file_writer *writer,
                                   int64_t last_ns)
{
    struct strobe_log_reading *r = context;
    strobe_report_host_resolve(&r->host);
    r->has_host = true;
    strobe_log_reading_align(r, last_ns);
    return strobe_log_reading_write(r, writer, STROBE_TRACY_IMPORT_BASE);
}

/* ---- without one ---- */

static enum strobe_err put_facts(struct strobe_log_reading *r, struct strobe_file_writer *writer,
                                 uint64_t rate)
{
    struct strobe_records records = {0};
    uint64_t zero = STROBE_TRACY_IMPORT_BASE, last = zero;
    for (uint32_t i = 0; i < r->out->n_devices; i++) {
        const struct strobe_log_device *device = &r->devices[i];
        double end =
            device->origin_ns + (double)(device->last - device->first) * device->ns_per_cycle;
        double tick = (double)zero + end * r->ticks_per_ns;
        last = tick > (double)last ? (uint64_t)tick : last;
    }
    uint64_t kind = rate == SECOND_NS ? STROBE_CLOCK_MONO : STROBE_CLOCK_TSC;
    uint64_t sync[] = {kind, zero, zero, 0, 0, 0},
             later[] = {kind, zero + rate, zero + SECOND_NS, 0, 0, 0};
    strobe_records_numbers(&records, STROBE_FACT_CLOCK_SYNC, sync, 6);
    if (kind == STROBE_CLOCK_TSC) /* a counter: a second later */
        strobe_records_numbers(&records, STROBE_FACT_CLOCK_SYNC, later, 6);
    strobe_records_numbers(&records, STROBE_FACT_RECORDING, (uint64_t[]){zero, 0}, 2);
    strobe_records_numbers(&records, STROBE_FACT_RECORDING, (uint64_t[]){last, 1}, 2);
    strobe_records_tick(&records, zero);
    enum strobe_err err = strobe_file_put_records(writer, &records);
    strobe_records_free(&records);
    return err;
}

/* Devices alone: a tick is a cycle, so that nothing is rounded, unless several frequencies share an axis. */
static enum strobe_err write_alone(struct strobe_log_reading *r, const char *to)
{
    struct strobe_file_writer *writer = NULL;
    strobe_log_reading_align(r, 0);
    bool is_own = r->out->clock == STROBE_LOG_CLOCK_OWN;
    uint64_t rate = is_own ? (uint64_t)r->log.freq_mhz * 1000000 : SECOND_NS;
    r->ticks_per_ns = (double)rate / 1e9;
    enum strobe_err err = strobe_file_create(to, r->files->log ? r->files->log : "", rate, &writer);
    if (!err)
        err = put_facts(r, writer, rate);
    if (!err)
        err = strobe_log_reading_write(r, writer, STROBE_TRACY_IMPORT_BASE);
    if (!err)
        return strobe_file_finish(writer);
    if (writer)
        strobe_file_abandon(writer);
    return err;
}

static enum strobe_err write_trace(struct strobe_log_reading *r, const char *to)
{
    struct strobe_tracy_import_taps taps = {.context = r,
                                            .zone_text = take_text,
                                            .message = r->host.n_ops ? NULL : take_message,
                                            .more = add_devices};
    r->ticks_per_ns = 1;
    if (r->files->tracy) {
        enum strobe_err err = strobe_tracy_import_tapped(r->files->tracy, to, &taps, &r->out->host);
        r->out->has_host = !err || r->out->host.is_cut;
        r->out->host_err = r->has_host && !r->out->host.is_cut ? STROBE_OK : err;
        if (r->has_host) /* the devices are in it; a capture that was cut is said */
            return r->out->host.is_cut ? STROBE_OK : err;
    }
    strobe_report_host_resolve(&r->host);
    return write_alone(r, to);
}

/* ---- all of it ---- */

static void folder_of(const char *path, char *out, size_t room)
{
    const char *slash = strrchr(path, '/');
    snprintf(out, room, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
}

static enum strobe_err read_all(struct strobe_log_reading *r, const char *to, const void *bytes,
                                size_t n_bytes)
{
    char folder[4096];
    folder_of(to, folder, sizeof folder);
    r->devices = calloc(STROBE_LOG_DEVICES, sizeof *r->devices);
    enum strobe_err err = r->devices ? strobe_rows_open(folder, &r->rows) : STROBE_ERR_NOMEM;
    if (err)
        return err;
    strobe_log_reading_names(r, r->files->sources);
    strobe_log_reading_names(r, r->files->new_sources);
    err = strobe_log_reading_rows(r, bytes, n_bytes);
    if (err)
        return err;
    strobe_log_reading_sync(r);
    strobe_log_reading_ops(r);
    if (r->files->folder)
        err = strobe_report_host_read_messages(&r->host, r->files->folder);
    return err;
}

static void free_all(struct strobe_log_reading *r)
{
    for (uint32_t i = 0; r->devices && i < STROBE_LOG_DEVICES; i++) {
        STROBE_ASSERT(!r->devices[i].build);
        free(r->devices[i].locs);
        free(r->devices[i].map);
        strobe_map_free(&r->devices[i].mark_locs);
    }
    free(r->devices);
    strobe_rows_close(r->rows);
    strobe_log_reading_free_ops(r);
    strobe_report_log_close(&r->log);
    strobe_report_host_close(&r->host);
    strobe_report_faults_free(&r->faults);
    strobe_map_free(&r->first_times);
    strobe_map_free(&r->host_times);
    strobe_map_free(&r->names_by_hash);
    strobe_out_free(&r->texts);
    free(r->names);
}

static enum strobe_err import(const struct strobe_device_log_files *files, const void *bytes,
                              size_t n_bytes, const char *to, struct strobe_device_log_import *out)
{
    struct strobe_log_reading r = {.files = files, .out = out};
    memset(out, 0, sizeof *out);
    r.first_times.max = r.host_times.max = STROBE_LOG_OPS;
    r.names_by_hash.max = STROBE_LOG_NAMES;
    strobe_report_log_open(&r.log, &r.faults);
    strobe_report_host_open(&r.host, &r.faults);
    enum strobe_err err = read_all(&r, to, bytes, n_bytes);
    if (!err)
        err = write_trace(&r, to);
    free_all(&r);
    return err;
}

enum strobe_err strobe_device_log_import(const struct strobe_device_log_files *files,
                                         const char *to, struct strobe_device_log_import *out)
{
    STROBE_ASSERT(files->log);
    return import(files, NULL, 0, to, out);
}

enum strobe_err strobe_device_log_import_bytes(const void *bytes, size_t n_bytes, const char *to,
                                               struct strobe_device_log_import *out)
{
    static const struct strobe_device_log_files none = {0};
    return import(&none, bytes, n_bytes, to, out);
}
