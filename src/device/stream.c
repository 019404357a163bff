/* stream.c - a device stream: finds frames, cores and lanes, and hands runs to lane.c, descriptions to
 * frames.c. It believes no length before it was compared with what is there.  SPDX-License-Identifier: MIT */
#include "device/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "device/frames.h"

const char *strobe_device_bad_text(enum strobe_device_bad why)
{
    switch (why) {
#define X(name, number, text)      \
    case STROBE_DEVICE_BAD_##name: \
        return text;
        STROBE_DEVICE_BAD_LIST(X)
#undef X
    default:
        return "unknown";
    }
}

enum strobe_err strobe_device_stream_open(const struct strobe_device_calls *calls,
                                          const struct strobe_device_stream_options *options,
                                          struct strobe_device_stream **out)
{
    struct strobe_device_stream *stream = calloc(1, sizeof *stream);
    *out = stream;
    if (!stream)
        return STROBE_ERR_NOMEM;
    stream->out.calls = *calls;
    stream->max_cores = options && options->max_cores ? options->max_cores : 4096;
    stream->out.decode_s =
        options && options->scalar ? strobe_device_lane_s_scalar : strobe_device_lane_best();
    return STROBE_OK;
}

void strobe_device_stream_flush(struct strobe_device_stream *stream)
{
    for (uint32_t i = 0; i < stream->n_cores; i++)
        for (uint32_t risc = 0; risc < STROBE_DEVICE_MAX_RISCS; risc++)
            strobe_device_lane_flush(&stream->out, &stream->cores[i]->lanes[risc]);
}

void strobe_device_stream_close(struct strobe_device_stream *stream)
{
    if (!stream)
        return;
    strobe_device_stream_flush(stream);
    for (uint32_t i = 0; i < stream->n_cores; i++) {
        for (uint32_t risc = 0; risc < STROBE_DEVICE_MAX_RISCS; risc++)
            strobe_device_lane_free(&stream->cores[i]->lanes[risc]);
        free(stream->cores[i]);
    }
    free(stream->cores);
    strobe_map_free(&stream->by_yx);
    free(stream);
}

void strobe_device_stream_count(const struct strobe_device_stream *stream,
                                struct strobe_device_stream_counts *out)
{
    *out = stream->out.counts;
}

/* A core that is new here. NULL: over the limit, or no memory. */
static struct strobe_device_core *add_core(struct strobe_device_stream *stream, uint32_t core_yx)
{
    uint32_t index = stream->n_cores;
    STROBE_ASSERT(!strobe_map_find(&stream->by_yx, core_yx));
    if (index >= stream->max_cores)
        return NULL;
    struct strobe_device_core *core = calloc(1, sizeof *core);
    if (!core)
        goto fail;
    if (STROBE_ARRAY_RESERVE(stream->cores, stream->room, (uint64_t)index + 1))
        goto fail;
    if (strobe_map_put(&stream->by_yx, core_yx, index))
        goto fail;
    for (uint32_t risc = 0; risc < STROBE_DEVICE_MAX_RISCS; risc++)
        core->lanes[risc].lane = (struct strobe_device_lane){index, risc, core_yx};
    core->core_yx = core_yx;
    core->index = index;
    stream->cores[stream->n_cores++] = core;
    return core;
fail:
    free(core);
    stream->no_memory = true;
    return NULL;
}

struct strobe_device_core *strobe_device_stream_core(struct strobe_device_stream *stream,
                                                     uint32_t core_yx, bool described)
{
    if (stream->last && stream->last->core_yx == core_yx)
        return stream->last;
    const uint64_t *index = strobe_map_find(&stream->by_yx, core_yx);
    if (index) {
        STROBE_ASSERT(*index < stream->n_cores);
        return stream->last = stream->cores[*index];
    }
    struct strobe_device_core *core = add_core(stream, core_yx);
    if (!core) {
        strobe_device_lane_bad(&stream->out, NULL, STROBE_DEVICE_BAD_CORES, 1);
        return NULL;
    }
    if (!described && stream->out.calls.core) {
        struct strobe_device_core_facts facts = {
            .index = core->index, .core_yx = core_yx, .logical_yx = core_yx};
        stream->out.calls.core(stream->out.calls.context, &facts);
    }
    return stream->last = core;
}

uint32_t strobe_device_stream_save(const struct strobe_device_stream *stream,
                                   struct strobe_device_saved *lanes, uint32_t max)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < stream->n_cores; i++)
        for (uint32_t risc = 0; risc < STROBE_DEVICE_MAX_RISCS; risc++) {
            const struct strobe_device_lane_now *now = &stream->cores[i]->lanes[risc];
            STROBE_ASSERT(now->lane.core == i && now->lane.risc == risc);
            if (now->state == STROBE_DEVICE_LANE_NEW)
                continue;
            if (n < max)
                lanes[n] = (struct strobe_device_saved){
                    .core_yx = now->lane.core_yx,
                    .risc = risc,
                    .program = now->program,
                    .timer = now->timer,
                    .cursor = now->has_cursor ? now->cursor : 0,
                    .head = now->expected,
                    .flags = (now->has_timer ? STROBE_SAVED_TIMER : 0) |
                             (now->has_cursor ? STROBE_SAVED_CURSOR : 0) |
                             (now->state == STROBE_DEVICE_LANE_BROKEN ? STROBE_SAVED_BROKEN : 0)};
            n++;
        }
    return n;
}

enum strobe_err strobe_device_stream_load(struct strobe_device_stream *stream,
                                          const struct strobe_device_saved *lanes, uint32_t n_lanes)
{
    for (uint32_t i = 0; i < n_lanes; i++) {
        if (lanes[i].risc >= STROBE_DEVICE_MAX_RISCS)
            return STROBE_ERR_INVALID;
        struct strobe_device_core *core =
            strobe_device_stream_core(stream, lanes[i].core_yx, false);
        if (!core)
            return stream->no_memory ? STROBE_ERR_NOMEM : STROBE_ERR_LIMIT;
        struct strobe_device_lane_now *now = &core->lanes[lanes[i].risc];
        STROBE_ASSERT(now->lane.core_yx == lanes[i].core_yx && !now->holds);
        now->state = lanes[i].flags & STROBE_SAVED_BROKEN ? STROBE_DEVICE_LANE_BROKEN
                                                          : STROBE_DEVICE_LANE_RUNNING;
        now->expected = lanes[i].head;
        now->program = lanes[i].program;
        now->timer = lanes[i].timer;
        now->cursor = lanes[i].cursor;
        now->has_timer = lanes[i].flags & STROBE_SAVED_TIMER;
        now->has_cursor = now->has_timer && lanes[i].flags & STROBE_SAVED_CURSOR;
    }
    return STROBE_OK;
}

void strobe_device_stream_save_cores(const struct strobe_device_stream *stream,
                                     struct strobe_device_saved_stream *out, uint32_t *core_yx,
                                     uint32_t max)
{
    *out = (struct strobe_device_saved_stream){stream->n_cores, stream->epoch, stream->has_epoch};
    for (uint32_t i = 0; core_yx && i < stream->n_cores && i < max; i++)
        core_yx[i] = stream->cores[i]->core_yx;
}

enum strobe_err strobe_device_stream_load_cores(struct strobe_device_stream *stream,
                                                const struct strobe_device_saved_stream *saved,
                                                const uint32_t *core_yx)
{
    STROBE_ASSERT(!stream->n_cores && !stream->has_epoch);
    for (uint32_t i = 0; i < saved->n_cores; i++)
        if (!strobe_device_stream_core(stream, core_yx[i], true))
            return stream->no_memory ? STROBE_ERR_NOMEM : STROBE_ERR_LIMIT;
    stream->epoch = saved->epoch;
    stream->has_epoch = saved->has_epoch;
    return STROBE_OK;
}

/* The five runs of a frame of type 13. `words` has n_words payload words behind the prefix. False: a run does
 * not fit. */
static bool walk_runs(struct strobe_device_stream *stream, struct strobe_device_core *core,
                      const uint32_t *words, uint32_t n_words, bool decode)
{
    const struct strobe_frame_lanes5 *frame = (const void *)words;
    uint32_t at = sizeof *frame / 4, end = STROBE_FRAME_PREFIX + n_words,
             linear[STROBE_L1_BUFFER_WORDS];
    for (uint32_t risc = 0; risc < STROBE_DEVICE_FRAME_RISCS; risc++) {
        uint32_t head = frame->head[risc], n = frame->state[STROBE_FRAME_TAIL + risc] - head;
        uint32_t offset = head % STROBE_L1_BUFFER_WORDS;
        if (!n)
            continue;
        if (n > STROBE_L1_BUFFER_WORDS)
            return false;
        bool image = offset + n > STROBE_L1_BUFFER_WORDS &&
                     STROBE_L1_BUFFER_WORDS - n <= STROBE_FRAME_WHOLE_RING_DEAD;
        at += ((image ? 0 : offset) - at) & 3;
        uint32_t sent = image ? STROBE_L1_BUFFER_WORDS : n;
        if (at > end || sent > end - at)
            return false;
        struct strobe_device_run run = {words + at, n, head,
                                        frame->state[STROBE_FRAME_TIMER_HIGH + risc],
                                        frame->state[STROBE_FRAME_PROGRAM(risc)]};
        STROBE_ASSERT(!image || n >= STROBE_L1_BUFFER_WORDS - STROBE_FRAME_WHOLE_RING_DEAD);
        STROBE_ASSERT(at % 4 == (image ? 0 : head % 4));
        if (image && decode) {
            uint32_t first = STROBE_L1_BUFFER_WORDS - offset;
            memcpy(linear, words + at + offset, 4 * first);
            memcpy(linear + first, words + at, 4 * (n - first));
            run.words = linear;
        }
        if (decode)
            strobe_device_lane_run(&stream->out, &core->lanes[risc], &run);
        at += sent;
    }
    return true;
}

/* A frame of type 13 of n_words words in all. */
static void frame_lanes5(struct strobe_device_stream *stream, const uint32_t *words)
{
    const struct strobe_frame_lanes5 *frame = (const void *)words;
    if (!walk_runs(stream, NULL, words, frame->n_words, false)) {
        strobe_device_lane_bad(&stream->out, NULL, STROBE_DEVICE_BAD_FIELD, 1);
        return;
    }
    struct strobe_device_core *core = strobe_device_stream_core(stream, frame->core_yx, false);
    if (core)
        walk_runs(stream, core, words, frame->n_words, true);
}

/* Words of the frame at words[0], a multiple of 16; 0: it is none. `n` are there; it may need more. */
static size_t frame_words(const uint32_t *words, size_t n)
{
    size_t n_words;
    STROBE_ASSERT(n >= STROBE_FRAME_WORDS);
    (void)n;
    if (words[0] == STROBE_ST_WORD(STROBE_ST_FRAME, 0)) {
        if (words[1] < 16 || words[1] > STROBE_FRAME_MAX_PAYLOAD)
            return 0;
        n_words = STROBE_FRAME_PREFIX + words[1];
    } else if (STROBE_ST_TYPE(words[0]) == STROBE_ST_EXTENSION &&
               STROBE_EXT_SUBTYPE(words[0]) >= STROBE_EXT_FRAMES) {
        if (STROBE_EXT_N(words[0]) > STROBE_EXT_MAX_WORDS)
            return 0;
        n_words = 1 + STROBE_EXT_N(words[0]);
    } else {
        return 0;
    }
    return (n_words + STROBE_FRAME_WORDS - 1) / STROBE_FRAME_WORDS * STROBE_FRAME_WORDS;
}

static bool is_pad(const uint32_t *words)
{
    uint32_t any = 0;
    for (int i = 0; i < STROBE_FRAME_WORDS; i++)
        any |= words[i];
    return !any;
}

enum strobe_err strobe_device_stream_feed(struct strobe_device_stream *stream,
                                          const uint32_t *words, size_t n_words, size_t *n_used)
{
    size_t at = 0, n_bad = 0;
    stream->no_memory = false;
    while (n_words - at >= STROBE_FRAME_WORDS) {
        const uint32_t *frame = words + at;
        size_t n = frame_words(frame, n_words - at);
        if (!n) { /* garbage, or nothing: look at the next 64 bytes */
            n_bad += !is_pad(frame);
            at += STROBE_FRAME_WORDS;
            continue;
        }
        STROBE_ASSERT(n % STROBE_FRAME_WORDS == 0);
        if (n > n_words - at)
            break;
        strobe_device_lane_bad(&stream->out, NULL, STROBE_DEVICE_BAD_FRAME, n_bad);
        n_bad = 0;
        stream->out.counts.n_frames++;
        if (STROBE_ST_TYPE(frame[0]) == STROBE_ST_FRAME)
            frame_lanes5(stream, frame);
        else
            strobe_device_frame(stream, frame);
        at += n;
    }
    strobe_device_lane_bad(&stream->out, NULL, STROBE_DEVICE_BAD_FRAME, n_bad);
    stream->out.counts.n_words += at;
    *n_used = at;
    STROBE_ASSERT(at <= n_words && at % STROBE_FRAME_WORDS == 0);
    return stream->no_memory ? STROBE_ERR_NOMEM : STROBE_OK;
}
