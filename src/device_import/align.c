/* align.c - devices' clocks on the host's: by the samples of sync_device_info.csv, else by when ops were launched.
 *
 * A sample's line: cycles = delay + frequency * ratio * ticks, with the host's ticks counted from host_start; the capture's time 0 is
 * base_time. A device without samples of its own has a line to its root's cycles.  SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "device_import/internal.h"
#include "report/csv.h"

static const double least_error_ns = 1;   /* of what is rounded to ns */
static const double least_guess_ns = 1e6; /* of what no sample says */
static const double far_ns = 3600e9;      /* no device is so far from its capture */

static const double least_cycle_ns = 0.01, most_cycle_ns = 1000; /* 100 GHz, 1 MHz */
static const double farthest_ns = 1e18;

/* ---- sync_device_info.csv ---- */

static double number_at(const struct strobe_report_csv *csv, int column)
{
    char text[64];
    struct strobe_report_span cell = strobe_report_span_trim(strobe_report_csv_cell(csv, column));
    if (!cell.len || cell.len >= sizeof text)
        return NAN;
    memcpy(text, cell.at, cell.len);
    text[cell.len] = 0;
    char *end;
    double value = strtod(text, &end);
    return *end ? NAN : value;
}

static struct strobe_log_sync *sync_of(struct strobe_log_reading *r, double id)
{
    for (uint32_t i = 0; i < r->out->n_devices; i++)
        if ((double)r->devices[i].id == id)
            return &r->devices[i].sync;
    return NULL;
}

/* The columns, in the order that they have been written in ever since. */
enum {
    ID,
    CORE_X,
    CORE_Y,
    DEVICE,
    HOST,
    REAL,
    OVERHEAD,
    START,
    DELAY,
    FREQUENCY,
    RATIO,
    BASE,
    SCALE,
    SHIFT
};

static void take_sample(const struct strobe_report_csv *csv, struct strobe_log_sync *sync)
{
    double scale = number_at(csv, SCALE), shift = number_at(csv, SHIFT);
    double delay = number_at(csv, DELAY), f = number_at(csv, FREQUENCY),
           ratio = number_at(csv, RATIO);
    double host = number_at(csv, HOST), device = number_at(csv, DEVICE);
    if (isnan(device)) { /* a line to the root's clock */
        if (scale > 0 && !isnan(shift)) {
            sync->scale = scale;
            sync->shift = shift;
            sync->has_link = true;
        }
        return;
    }
    if (!(f > 0) || !(ratio > 0) || isnan(delay) || isnan(host))
        return;
    if (sync->has_line && sync->delay != delay)
        sync->error_ns = 0; /* a later sync, of all samples so far */
    sync->delay = delay;
    sync->cycles_per_ns = f;
    sync->ratio = ratio;
    sync->host_start = number_at(csv, START);
    sync->base_time = number_at(csv, BASE);
    sync->has_line = !isnan(sync->host_start) && !isnan(sync->base_time);
    double off = fabs(device - (delay + f * ratio * host)) / f;
    double overhead = number_at(csv, OVERHEAD) * ratio;
    off += overhead > 0 ? overhead / 2 : 0;
    sync->error_ns = off > sync->error_ns ? off : sync->error_ns;
}

void strobe_log_reading_sync(struct strobe_log_reading *r)
{
    struct strobe_report_csv csv;
    if (!r->files->sync)
        return;
    enum strobe_err err = strobe_report_csv_open(&csv, r->files->sync, ',', '"');
    if (!err)
        err = strobe_report_csv_next(&csv); /* the header */
    while (!err && !(err = strobe_report_csv_next(&csv))) {
        struct strobe_log_sync *sync = sync_of(r, number_at(&csv, ID));
        if (sync)
            take_sample(&csv, sync);
    }
    strobe_report_csv_close(&csv);
}

/* ---- where a device is ---- */

static const struct strobe_log_sync *root_of(const struct strobe_log_reading *r)
{
    for (uint32_t i = 0; i < r->out->n_devices; i++)
        if (r->devices[i].sync.has_line)
            return &r->devices[i].sync;
    return NULL;
}

/* Host time, in ns from the capture's start, of `cycles`. False: no sample says it. */
static bool synced(const struct strobe_log_reading *r, const struct strobe_log_device *device,
                   double cycles, double *ns)
{
    const struct strobe_log_sync *sync = &device->sync;
    if (!sync->has_line) {
        sync = device->sync.has_link ? root_of(r) : NULL;
        cycles = cycles * device->sync.scale + device->sync.shift;
    }
    if (!sync)
        return false;
    double start = (sync->host_start - (r->has_host ? sync->base_time : 0)) * sync->ratio;
    *ns = start + (cycles - sync->delay) / sync->cycles_per_ns;
    return isfinite(*ns);
}

/* By the samples. False: there are none, or they put it far from the capture. */
static bool align_by_sync(struct strobe_log_reading *r, struct strobe_log_device *device,
                          int64_t last_ns)
{
    double first, last;
    if (!synced(r, device, (double)device->first, &first) ||
        !synced(r, device, (double)device->last, &last) || last < first)
        return false;
    if (r->has_host && (first < -far_ns || first > (double)last_ns + far_ns))
        return false;
    const struct strobe_log_sync *sync = device->sync.has_line ? &device->sync : root_of(r);
    double cycle = device->last > device->first
                       ? (last - first) / (double)(device->last - device->first)
                       : device->ns_per_cycle;
    if (!(cycle >= least_cycle_ns && cycle <= most_cycle_ns) || fabs(first) > farthest_ns)
        return false; /* no clock runs so */
    device->clock = STROBE_LOG_CLOCK_SYNC;
    device->origin_ns = first;
    device->ns_per_cycle = cycle;
    device->error_ns = fmin(sync->error_ns + least_error_ns, farthest_ns);
    return true;
}

/* No op begins before the host launched it: the earliest place where that holds for all. How far apart the ops say it is, is how far
 * off it may be. False: no op is known to both sides. */
static bool align_by_ops(struct strobe_log_reading *r, struct strobe_log_device *device)
{
    double most = -INFINITY, least = INFINITY;
    for (uint32_t i = 0; i < r->first_times.n; i++) {
        uint64_t run = r->first_times.entries[i].key, cycle = r->first_times.entries[i].value - 1;
        const uint64_t *host = strobe_map_find(&r->host_times, run);
        if (!host || (int64_t)(run & 1023) != device->id || cycle < device->first)
            continue;
        double origin = (double)*host - (double)(cycle - device->first) * device->ns_per_cycle;
        most = origin > most ? origin : most;
        least = origin < least ? origin : least;
    }
    if (!isfinite(most) || fabs(most) > farthest_ns)
        return false;
    device->clock = STROBE_LOG_CLOCK_OPS;
    device->origin_ns = most;
    device->error_ns = most - least > least_guess_ns ? most - least : least_guess_ns;
    return true;
}

void strobe_log_reading_align(struct strobe_log_reading *r, int64_t last_ns)
{
    bool any_sync = false;
    double first = INFINITY;
    for (uint32_t i = 0; i < r->out->n_devices; i++) {
        struct strobe_log_device *device = &r->devices[i];
        device->ns_per_cycle = 1000.0 / (double)r->log.freq_mhz;
        STROBE_ASSERT(device->first <= device->last);
        bool is_alone =
            !r->has_host && r->out->n_devices == 1; /* its own time is all that matters */
        if (!is_alone &&
            (align_by_sync(r, device, last_ns) || (r->has_host && align_by_ops(r, device)))) {
            any_sync |= device->clock == STROBE_LOG_CLOCK_SYNC;
            continue;
        }
        device->clock = r->has_host ? STROBE_LOG_CLOCK_NONE : STROBE_LOG_CLOCK_OWN;
        device->origin_ns = 0;
        device->error_ns = r->has_host ? (double)last_ns : 0;
    }
    for (uint32_t i = 0; !r->has_host && i < r->out->n_devices; i++)
        if (r->devices[i].clock == STROBE_LOG_CLOCK_SYNC)
            first = fmin(first, r->devices[i].origin_ns);
    for (uint32_t i = 0; i < r->out->n_devices; i++) {
        struct strobe_log_device *device = &r->devices[i];
        if (!r->has_host && device->clock == STROBE_LOG_CLOCK_SYNC)
            device->origin_ns -= first; /* the trace begins with the first of them */
        else if (any_sync && device->clock == STROBE_LOG_CLOCK_OWN)
            device->clock = STROBE_LOG_CLOCK_NONE;
        if (device->clock >= r->out->clock)
            r->out->clock = device->clock;
        r->out->error_ns = fmax(r->out->error_ns, device->error_ns);
    }
}
