/* records_feed.c - decodes one subscriber's queue: a decoder per device, all into one batch. The clock of a record is the line of one
 * frequency through the best of its core's last readings.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "device_host/records.h"

#define MOST_AGE_NS 50000000 /* of a reading, while there are newer ones */

struct sample {
    uint64_t cycles, mid_ns, trip_ns;
    int is_there;
};

struct core {
    uint16_t logical_x, logical_y, physical_x, physical_y;
    struct sample clock;
};

struct source {
    struct strobe_records_feed *feed; /* borrowed: whose it is */
    uint64_t number;
    uint32_t chip;
    struct strobe_device_stream *stream; /* owned */
    struct core *cores;                  /* owned */
    uint32_t n_cores;
    struct sample first, last; /* of the device's clock: its own, or a core's */
    bool has_reference;
    uint32_t reference; /* the core, or STROBE_CORE_NONE */
    double nominal_hz;
};

struct strobe_records_feed {
    uint32_t kinds;
    struct source **sources; /* owned, each of them too */
    uint32_t n_sources, room_sources;
    struct strobe_device_record *zones, *events; /* owned */
    size_t n_zones, room_zones, n_events, room_events;
    uint8_t *data; /* owned */
    size_t n_data, room_data;
    struct strobe_device_execution *runs; /* owned */
    size_t n_runs, room_runs;
    uint64_t dropped_bytes, n_stalls, n_dropped_runs;
};

/* ---- clocks ---- */

static void take_sample(struct sample *sample, const struct strobe_device_clock *clock)
{
    uint64_t trip = clock->after_ns - clock->before_ns;
    if (clock->after_ns < clock->before_ns)
        return;
    if (sample->is_there && trip > sample->trip_ns + sample->trip_ns / 2 &&
        clock->before_ns < sample->mid_ns + MOST_AGE_NS)
        return;
    *sample = (struct sample){clock->cycles, clock->before_ns + trip / 2, trip, 1};
}

static double frequency_of(const struct source *source)
{
    const struct sample *a = &source->first, *b = &source->last;
    if (!b->is_there || b->mid_ns < a->mid_ns + 10000000 || b->cycles <= a->cycles)
        return source->nominal_hz;
    double hz = (double)(b->cycles - a->cycles) * 1e9 / (double)(b->mid_ns - a->mid_ns);
    return hz > source->nominal_hz * 0.999 && hz < source->nominal_hz * 1.001 ? hz
                                                                              : source->nominal_hz;
}

static void on_clock(void *context, const struct strobe_device_clock *clock)
{
    struct source *source = context;
    if (clock->core < source->n_cores)
        take_sample(&source->cores[clock->core].clock, clock);
    if (!source->has_reference) { /* the first that comes is the device's */
        source->has_reference = true;
        source->reference = clock->core;
    }
    if (clock->core != source->reference)
        return;
    take_sample(&source->last, clock);
    if (!source->first.is_there)
        source->first = source->last;
}

static void on_hello(void *context, const struct strobe_device_hello *hello)
{
    struct source *source = context;
    source->chip = hello->device;
    source->nominal_hz = hello->frequency_khz * 1e3;
    source->first = source->last = (struct sample){0};
    source->has_reference = false;
    for (uint32_t i = 0; i < source->n_cores; i++)
        source->cores[i].clock = (struct sample){0};
}

static void on_core(void *context, const struct strobe_device_core_facts *facts)
{
    struct source *source = context;
    if (facts->index > 65535 || STROBE_ARRAY_REACH(source->cores, source->n_cores, facts->index))
        return;
    struct core *core = &source->cores[facts->index];
    core->physical_x = (uint16_t)facts->core_yx;
    core->physical_y = (uint16_t)(facts->core_yx >> 16);
    core->logical_x = (uint16_t)facts->logical_yx;
    core->logical_y = (uint16_t)(facts->logical_yx >> 16);
}

static void on_name(void *context, const struct strobe_device_name *name)
{
    (void)context;
    strobe_records_name(name);
}

/* ---- records ---- */

/* What all records of a lane have in common. */
static struct strobe_device_record start_record(const struct source *source,
                                                const struct strobe_device_lane *lane)
{
    struct strobe_device_record record = {.risc = (uint8_t)lane->risc,
                                          .chip = (uint16_t)source->chip};
    double hz = frequency_of(source);
    const struct sample *sample = &source->last;
    if (lane->core < source->n_cores) {
        const struct core *core = &source->cores[lane->core];
        record.logical_x = core->logical_x;
        record.logical_y = core->logical_y;
        record.physical_x = core->physical_x;
        record.physical_y = core->physical_y;
        if (core->clock.is_there)
            sample = &core->clock;
    }
    record.frequency_hz = (uint32_t)(hz + 0.5);
    if (sample->is_there)
        record.offset = (int64_t)((double)sample->mid_ns * 1e-9 * record.frequency_hz + 0.5) -
                        (int64_t)sample->cycles;
    return record;
}

static void on_zones(void *context, const struct strobe_device_lane *lane,
                     const struct strobe_device_zone *zones, size_t n)
{
    struct source *source = context;
    struct strobe_records_feed *feed = source->feed;
    struct strobe_device_record record = start_record(source, lane);
    for (size_t i = 0; i < n; i++)
        feed->n_stalls += zones[i].id == STROBE_ID_STALL;
    if (!(feed->kinds & STROBE_DEVICE_ZONES))
        return;
    if (STROBE_ARRAY_RESERVE(feed->zones, feed->room_zones, feed->n_zones + n)) {
        feed->dropped_bytes += n * sizeof *zones;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        record.timestamp = zones[i].start;
        record.duration = zones[i].end - zones[i].start;
        record.site = zones[i].id;
        record.runtime_id = zones[i].program;
        feed->zones[feed->n_zones++] = record;
    }
}

static struct strobe_device_record of_mark(const struct source *source,
                                           const struct strobe_device_lane *lane,
                                           const struct strobe_device_mark *mark)
{
    struct strobe_device_record record = start_record(source, lane);
    record.timestamp = mark->time;
    record.duration = mark->n_values;
    record.site = mark->id;
    record.runtime_id = mark->program;
    return record;
}

static void on_event(void *context, const struct strobe_device_lane *lane,
                     const struct strobe_device_mark *mark)
{
    struct source *source = context;
    struct strobe_records_feed *feed = source->feed;
    if (!(feed->kinds & STROBE_DEVICE_EVENTS) || mark->is_begin || mark->is_end)
        return;
    struct strobe_device_record *record =
        STROBE_ARRAY_PUSH(feed->events, feed->n_events, feed->room_events);
    if (record)
        *record = of_mark(source, lane, mark);
    else
        feed->dropped_bytes += 8;
}

static void on_data(void *context, const struct strobe_device_lane *lane,
                    const struct strobe_device_mark *mark)
{
    struct source *source = context;
    struct strobe_records_feed *feed = source->feed;
    struct strobe_device_record record = of_mark(source, lane, mark);
    size_t values = mark->n_values * sizeof *mark->values, all = sizeof record + values;
    if (!(feed->kinds & STROBE_DEVICE_DATA))
        return;
    if (STROBE_ARRAY_RESERVE(feed->data, feed->room_data, feed->n_data + all)) {
        feed->dropped_bytes += all;
        return;
    }
    memcpy(feed->data + feed->n_data, &record, sizeof record);
    if (values)
        memcpy(feed->data + feed->n_data + sizeof record, mark->values, values);
    feed->n_data += all;
}

/* ---- devices ---- */

static void free_source(struct source *source)
{
    strobe_device_stream_close(source->stream);
    free(source->cores);
    free(source);
}

static struct source *source_of(struct strobe_records_feed *feed, uint64_t number)
{
    for (uint32_t i = 0; i < feed->n_sources; i++)
        if (feed->sources[i]->number == number)
            return feed->sources[i];
    struct source *source = calloc(1, sizeof *source);
    struct strobe_device_calls calls = {.context = source,
                                        .zones = on_zones,
                                        .event = on_event,
                                        .data = on_data,
                                        .hello = on_hello,
                                        .core = on_core,
                                        .name = on_name,
                                        .clock = on_clock};
    struct source **slot =
        source ? STROBE_ARRAY_PUSH(feed->sources, feed->n_sources, feed->room_sources) : NULL;
    if (!slot || strobe_device_stream_open(&calls, NULL, &source->stream)) {
        feed->n_sources -= slot != NULL;
        free(source);
        return NULL;
    }
    source->feed = feed;
    source->number = number;
    source->nominal_hz = 1e9;
    return *slot = source;
}

void strobe_records_feed_frames(struct strobe_records_feed *feed, uint64_t number,
                                const uint32_t *words, size_t n_words)
{
    struct source *source = source_of(feed, number);
    size_t used = 0;
    if (!source ||
        strobe_device_stream_feed(source->stream, words, n_words, &used) == STROBE_ERR_NOMEM)
        feed->dropped_bytes += n_words * sizeof *words;
}

void strobe_records_feed_run(struct strobe_records_feed *feed, uint64_t number,
                             const struct strobe_device_execution *run)
{
    struct source *source = source_of(feed, number);
    struct strobe_device_execution *slot =
        source ? STROBE_ARRAY_PUSH(feed->runs, feed->n_runs, feed->room_runs) : NULL;
    if (!slot) {
        feed->n_dropped_runs++;
        return;
    }
    *slot = *run;
    slot->frequency = frequency_of(source) * 1e-9;
    slot->offset = (int64_t)source->last.cycles -
                   (int64_t)((double)source->last.mid_ns * slot->frequency + 0.5);
    slot->error_ns = source->last.trip_ns / 2 + 1;
}

void strobe_records_feed_forget(struct strobe_records_feed *feed, uint64_t number)
{
    for (uint32_t i = 0; i < feed->n_sources; i++)
        if (feed->sources[i]->number == number) {
            strobe_device_stream_flush(feed->sources[i]->stream);
            free_source(feed->sources[i]);
            feed->sources[i] = feed->sources[--feed->n_sources];
            return;
        }
}

struct strobe_records_feed *strobe_records_feed_new(uint32_t kinds)
{
    struct strobe_records_feed *feed = calloc(1, sizeof *feed);
    if (feed)
        feed->kinds = kinds;
    return feed;
}

void strobe_records_feed_free(struct strobe_records_feed *feed)
{
    if (!feed)
        return;
    while (feed->n_sources)
        free_source(feed->sources[--feed->n_sources]);
    free(feed->sources);
    free(feed->zones);
    free(feed->events);
    free(feed->data);
    free(feed->runs);
    free(feed);
}

void strobe_records_feed_take(struct strobe_records_feed *feed, struct strobe_device_batch *batch)
{
    for (uint32_t i = 0; i < feed->n_sources; i++)
        strobe_device_stream_flush(feed->sources[i]->stream);
    STROBE_ASSERT(feed->n_zones <= feed->room_zones && feed->n_data <= feed->room_data);
    *batch = (struct strobe_device_batch){.zones = feed->zones,
                                          .events = feed->events,
                                          .n_zones = feed->n_zones,
                                          .n_events = feed->n_events,
                                          .data = feed->data,
                                          .data_bytes = feed->n_data,
                                          .runs = feed->runs,
                                          .n_runs = feed->n_runs,
                                          .dropped_bytes = feed->dropped_bytes,
                                          .n_dropped_runs = feed->n_dropped_runs,
                                          .n_stalls = feed->n_stalls};
    feed->n_zones = feed->n_events = feed->n_data = feed->n_runs = 0;
    feed->dropped_bytes = feed->n_dropped_runs = feed->n_stalls = 0;
}
