/* read.c - the log's lines as rows, names of hashes, first times of ops.  SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/ready.h"
#include "device/names.h"
#include "device_import/internal.h"

#define MARKS_LATER \
    (1ull << 48) /* what has no length comes behind a zone that begins at its time */

/* ---- names of hashes ---- */

static void add_name(void *context, const struct strobe_device_name *name)
{
    struct strobe_log_reading *r = context;
    uint64_t *number;
    if (r->n_names >= STROBE_LOG_NAMES || strobe_map_add(&r->names_by_hash, name->id, &number) ||
        *number)
        return; /* the first of a hash holds */
    struct strobe_log_name *mine = STROBE_ARRAY_PUSH(r->names, r->n_names, r->names_room);
    if (!mine)
        return;
    *mine = (struct strobe_log_name){.name_at = r->texts.len,
                                     .file_at = r->texts.len + name->name.n_bytes,
                                     .n_name = name->name.n_bytes,
                                     .n_file = name->file.n_bytes,
                                     .line = name->line};
    strobe_out_bytes(&r->texts, name->name.bytes, name->name.n_bytes);
    strobe_out_bytes(&r->texts, name->file.bytes, name->file.n_bytes);
    if (r->texts.error)
        r->n_names--;
    else
        *number = r->n_names;
}

void strobe_log_reading_names(struct strobe_log_reading *r, const char *path)
{
    struct stat facts;
    struct strobe_device_names_out out = {.context = r, .name = add_name};
    int fd = path ? strobe_ready_open(path, O_RDONLY, 0) : -1;
    size_t n =
        fd >= 0 && !fstat(fd, &facts) && facts.st_size > 0 && facts.st_size < STROBE_LOG_NAMES_BYTES
            ? (size_t)facts.st_size
            : 0;
    char *text = n ? malloc(n) : NULL;
    size_t have = 0;
    for (ssize_t got = 1; text && got > 0 && have<n; have += got> 0 ? (size_t)got : 0)
        got = read(fd, text + have, n - have);
    if (have)
        strobe_device_names_log(text, have, &out);
    free(text);
    if (fd >= 0)
        close(fd);
}

/* ---- lines ---- */

static struct strobe_log_device *device_of(struct strobe_log_reading *r,
                                           const struct strobe_report_series *series)
{
    STROBE_ASSERT(series->device_index < STROBE_LOG_DEVICES);
    struct strobe_log_device *device = &r->devices[series->device_index];
    if (!device->is_seen)
        *device = (struct strobe_log_device){.is_seen = true, .first = UINT64_MAX};
    return device;
}

/* When the op of a marker began, the earliest of all cores. */
static void note_op(struct strobe_log_reading *r, uint64_t run, uint64_t time)
{
    uint64_t *first;
    if (!run || strobe_map_add(&r->first_times, run, &first))
        return;
    if (!*first || time + 1 < *first)
        *first = time + 1;
}

/* Whether what a marker's meta data says is needed. */
static bool has_meta(const struct strobe_report_marker *marker)
{
    if (!marker->meta.len || marker->meta.len >= 4096)
        return false;
    return marker->timer == STROBE_REPORT_COUNTER_TIMER ||
           (marker->zone->type == STROBE_REPORT_TS_DATA &&
            marker->meta.len > strlen(STROBE_LOG_VALUES) &&
            !memcmp(marker->meta.at, STROBE_LOG_VALUES, strlen(STROBE_LOG_VALUES)));
}

static bool take(void *context, const struct strobe_report_marker *marker)
{
    struct strobe_log_reading *r = context;
    if (marker->series->device_index >= STROBE_LOG_DEVICES || marker->zone == &r->log.loose ||
        marker->zone->type == STROBE_REPORT_OTHER || marker->time >> STROBE_LOG_TIME_BITS) {
        r->n_too_many++;
        return true;
    }
    struct strobe_log_device *device = device_of(r, marker->series);
    uint32_t zone = (uint32_t)(marker->zone - r->log.zones);
    STROBE_ASSERT(zone < 1 << 17 && marker->series->index < UINT32_MAX);
    struct strobe_row row = {
        .group = (uint64_t)marker->series->device_index << 32 | marker->series->index,
        .time = (int64_t)marker->time,
        .order = marker->line | (marker->zone->type > STROBE_REPORT_ZONE_END ? MARKS_LATER : 0),
        .value = marker->data,
        .name = strobe_log_reading_name(marker->run, zone, marker->counter),
        .kind = strobe_log_reading_kind(marker->zone->type, marker->timer, marker->trace)};
    if (has_meta(marker))
        r->err = strobe_rows_put_text(r->rows, marker->meta.at, (uint32_t)marker->meta.len, &row);
    device->first = marker->time < device->first ? marker->time : device->first;
    device->last = marker->time > device->last ? marker->time : device->last;
    if (marker->zone->type == STROBE_REPORT_ZONE_START)
        note_op(r, marker->run, marker->time);
    if (!r->err)
        r->err = strobe_rows_add(r->rows, &row);
    return !r->err;
}

enum strobe_err strobe_log_reading_rows(struct strobe_log_reading *r, const void *bytes,
                                        size_t n_bytes)
{
    struct strobe_report_log_options options = {.take = take, .context = r, .copy_fd = -1};
    enum strobe_err err = r->files->log
                              ? strobe_report_log_read(&r->log, r->files->log, &options)
                              : strobe_report_log_read_memory(&r->log, bytes, n_bytes, take, r);
    err = err ? err : r->err;
    if (r->log.freq_mhz < 1 || r->log.freq_mhz > STROBE_LOG_MHZ)
        r->log.freq_mhz = 1000; /* no chip has it */
    r->out->n_rows = r->log.n_rows - r->n_too_many;
    r->out->n_set_aside = r->log.n_aside + r->n_too_many;
    r->out->n_devices =
        r->log.n_devices < STROBE_LOG_DEVICES ? r->log.n_devices : (uint32_t)STROBE_LOG_DEVICES;
    for (uint32_t i = 0; i < r->out->n_devices; i++)
        r->devices[i].id = r->log.devices[i].id; /* also of one whose lines were all set aside */
    r->out->n_ops = r->first_times.n;
    return err ? err : r->out->n_rows ? STROBE_OK : STROBE_ERR_FORMAT;
}
