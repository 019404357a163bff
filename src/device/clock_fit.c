/* clock_fit.c - see clock_fit.h. Sums are of differences to the first sample, so that long doubles have their digits where
 * they matter.  SPDX-License-Identifier: MIT */
#include "device/clock_fit.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"

/* Sums of a regression of y on x. */
struct sums {
    long double n, x, y, xx, xy;
};

static void add(struct sums *sums, long double x, long double y)
{
    sums->n++;
    sums->x += x;
    sums->y += y;
    sums->xx += x * x;
    sums->xy += x * y;
}

/* y = slope * x + offset. False: x does not vary. */
static bool solve(const struct sums *sums, long double *slope, long double *offset)
{
    long double below = sums->n * sums->xx - sums->x * sums->x;
    if (sums->n < 2 || !(below > 0))
        return false;
    *slope = (sums->n * sums->xy - sums->x * sums->y) / below;
    *offset = (sums->y - *slope * sums->x) / sums->n;
    STROBE_ASSERT(isfinite(*slope) && isfinite(*offset));
    return true;
}

enum strobe_err strobe_clock_line_fit(const struct strobe_clock_sample *samples, size_t n_samples,
                                      double ratio, struct strobe_clock_line *out)
{
    struct sums sums = {0};
    long double slope, offset;
    if (n_samples < 2 || !(ratio > 0))
        return STROBE_ERR_INVALID;
    uint64_t host = samples[0].host, cycles = samples[0].cycles;
    for (size_t i = 0; i < n_samples; i++)
        add(&sums, (long double)(int64_t)(samples[i].host - host),
            (long double)(int64_t)(samples[i].cycles - cycles));
    if (!solve(&sums, &slope, &offset))
        return STROBE_ERR_INVALID;
    out->cycles_per_ns = (double)(slope / ratio);
    out->delay = (double)(offset + (long double)cycles - slope * (long double)host);
    return STROBE_OK;
}

enum strobe_err strobe_clock_link_fit(const struct strobe_clock_pair *pairs, size_t n_pairs,
                                      struct strobe_clock_link *out)
{
    struct sums sums = {0};
    long double slope, offset;
    if (n_pairs < 2)
        return STROBE_ERR_INVALID;
    uint64_t sent = pairs[0].sent, received = pairs[0].received;
    for (size_t i = 0; i < n_pairs; i++) {
        long double begin = (long double)(int64_t)(pairs[i].sent - sent);
        long double end = (long double)(int64_t)(pairs[i].answered - sent);
        add(&sums, (long double)(int64_t)(pairs[i].received - received), (begin + end) / 2);
    }
    if (!solve(&sums, &slope, &offset) || !(slope > 0))
        return STROBE_ERR_INVALID;
    out->scale = (double)slope;
    out->shift = (double)(offset + (long double)sent - slope * (long double)received);
    return STROBE_OK;
}

double strobe_clock_link_error(const struct strobe_clock_pair *pairs, size_t n_pairs,
                               const struct strobe_clock_link *link)
{
    double most = 0;
    for (size_t i = 0; i < n_pairs; i++) {
        double half = (double)(int64_t)(pairs[i].answered - pairs[i].sent) / 2;
        double off = (double)((long double)pairs[i].sent + (long double)half -
                              ((long double)link->scale * (long double)pairs[i].received +
                               (long double)link->shift));
        most = fabs(off) + half > most ? fabs(off) + half : most;
    }
    STROBE_ASSERT(most >= 0);
    return most;
}

static int by_trip(const void *a, const void *b)
{
    const struct strobe_clock_pair *x = a, *y = b;
    uint64_t left = x->answered - x->sent, right = y->answered - y->sent;
    return (left > right) - (left < right);
}

size_t strobe_clock_link_shortest(struct strobe_clock_pair *pairs, size_t n_pairs)
{
    if (n_pairs < 4)
        return n_pairs;
    qsort(pairs, n_pairs, sizeof *pairs, by_trip);
    STROBE_ASSERT(by_trip(&pairs[0], &pairs[n_pairs - 1]) <= 0);
    return n_pairs / 2;
}

struct strobe_clock_link strobe_clock_link_reverse(const struct strobe_clock_link *link)
{
    STROBE_ASSERT(link->scale > 0);
    return (struct strobe_clock_link){1 / link->scale, -link->shift / link->scale};
}

struct strobe_clock_link strobe_clock_link_join(const struct strobe_clock_link *far,
                                                const struct strobe_clock_link *near)
{
    STROBE_ASSERT(far->scale > 0 && near->scale > 0);
    return (struct strobe_clock_link){far->scale * near->scale,
                                      far->scale * near->shift + far->shift};
}

uint64_t strobe_clock_unwrap(uint64_t last, uint32_t low)
{
    uint64_t next = (last & ~(uint64_t)UINT32_MAX) | low;
    if (next < last)
        next += 1ull << 32;
    STROBE_ASSERT((uint32_t)next == low);
    return next;
}

const char strobe_clock_row_head[] =
    "device id,core_x, "
    "core_y,device,host_tracy,host_real,write_overhead,host_start,delay,frequency,"
    "tracy_ratio,tracy_base_time,device_frequency_ratio,device_shift";

int strobe_clock_row_print(char *text, size_t n_bytes, const struct strobe_clock_row *row)
{
    return snprintf(text, n_bytes,
                    "%5u,%5u,%5u,%20" PRIu64 ",%20" PRIu64 ",%20.2f,%20" PRIu64 ",%20" PRIu64
                    ",%20.2f,%20.15f,%20.15f,%20" PRIu64 ",1.0,0",
                    row->device, row->core_x, row->core_y, row->cycles, row->host, row->host_real,
                    row->write_overhead, row->host_start, row->delay, row->frequency, row->ratio,
                    row->base_time);
}

int strobe_clock_link_print(char *text, size_t n_bytes, uint32_t device,
                            const struct strobe_clock_link *link)
{
    return snprintf(text, n_bytes, "%5u,,,,,,,,,,,,%20.15f,%20lld", device, link->scale,
                    llround(link->shift));
}
