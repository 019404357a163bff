/* fuzz_device_stream.c - a device stream of any words: read whole by the scalar path and in pieces by the vector path, which
 * must say the same.  SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* A sum over all that was said, in its order. */
static void add(void *context, uint64_t number)
{
    uint64_t *sum = context;
    *sum = (*sum ^ number) * 0x9e3779b97f4a7c15u + (*sum >> 29);
}

static void add_zones(void *context, const struct strobe_device_lane *lane,
                      const struct strobe_device_zone *zones, size_t n_zones)
{
    for (size_t i = 0; i < n_zones; i++) {
        add(context, zones[i].start ^ (uint64_t)lane->risc << 60);
        add(context, zones[i].end);
        add(context, (uint64_t)zones[i].program << 32 | zones[i].id);
    }
}

static void add_mark(void *context, const struct strobe_device_lane *lane,
                     const struct strobe_device_mark *mark)
{
    add(context, mark->time ^ lane->core);
    for (uint32_t i = 0; mark->values && i < mark->n_values; i++)
        add(context, mark->values[i]);
}

static void add_sum(void *context, const struct strobe_device_lane *lane,
                    const struct strobe_device_sum *sum)
{
    add(context, sum->sum ^ lane->risc);
}

static void add_open(void *context, const struct strobe_device_lane *lane, uint64_t cycles,
                     bool final, const struct strobe_device_open *open, size_t n_open)
{
    add(context, cycles ^ lane->risc ^ (uint64_t) final << 63);
    for (size_t i = 0; i < n_open; i++)
        add(context, open[i].start ^ open[i].id);
}

static void add_text(void *context, const struct strobe_device_text *text)
{
    for (uint32_t i = 0; i < text->n_bytes; i++)
        add(context, (uint8_t)text->bytes[i]);
}

static void add_name(void *context, const struct strobe_device_name *name)
{
    add_text(context, &name->name);
    add_text(context, &name->file);
}

static void add_program(void *context, const struct strobe_device_program *program)
{
    add_text(context, &program->name);
    for (uint32_t i = 0; i < program->n_sources; i++)
        add_text(context, &program->sources[i]);
}

static void add_classic(void *context, const struct strobe_device_lane *lane,
                        const struct strobe_device_classic_words *words)
{
    for (uint32_t i = 0; i < words->n_words; i++)
        add(context, words->words[i] ^ lane->risc);
}

static void add_counters(void *context, const struct strobe_device_lane *lane, uint64_t cycles,
                         uint32_t program, const struct strobe_device_counter *counters,
                         size_t n_counters)
{
    add(context, cycles ^ program ^ lane->risc);
    for (size_t i = 0; i < n_counters; i++)
        add(context, counters[i].value ^ counters[i].type);
}

static void add_total(void *context, const struct strobe_device_lane *lane,
                      const struct strobe_device_total *total, bool bye)
{
    add(context, total->emitted ^ lane->risc ^ bye);
}

/* Decode `n` words, at most `step` at a time. */
static uint64_t decode(const uint32_t *words, size_t n, size_t step, bool scalar)
{
    uint64_t sum = 0;
    struct strobe_device_calls calls = {.context = &sum,
                                        .zones = add_zones,
                                        .event = add_mark,
                                        .data = add_mark,
                                        .sum = add_sum,
                                        .open = add_open,
                                        .total = add_total,
                                        .classic = add_classic,
                                        .counters = add_counters,
                                        .name = add_name,
                                        .program = add_program};
    struct strobe_device_stream_options options = {.max_cores = 16, .scalar = scalar};
    struct strobe_device_stream *stream;
    if (strobe_device_stream_open(&calls, &options, &stream))
        return 0;
    for (size_t at = 0, have = 0; at < n;) {
        size_t used;
        have = have + step < n - at ? have + step : n - at;
        strobe_device_stream_feed(stream, words + at, have, &used);
        if (used > have || used % 16)
            abort();
        at += used;
        have -= used;
        if (!used && at + have == n)
            break; /* a frame that the input cuts */
    }
    strobe_device_stream_close(stream);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    size_t n = n_bytes / 4;
    uint32_t *words = malloc(n ? 4 * n : 1); /* exact: a word too far is seen */
    size_t step = n_bytes ? 16 * (1 + data[n_bytes - 1] % 64) : 16;
    if (!words)
        return 0;
    if (n)
        memcpy(words, data, 4 * n);
    if (decode(words, n, n, true) != decode(words, n, step, false)) {
        fprintf(stderr, "fuzz_device_stream: two ways to read one stream disagree\n");
        abort();
    }
    free(words);
    return 0;
}
