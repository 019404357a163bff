/* frames.c - extension frames: what a device, its cores, names, programs and launches are, clocks, open
 * zones, counts. Every field is checked against the frame's length before a callback sees it.
 * SPDX-License-Identifier: MIT */
#include "device/frames.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"

/* The words of a frame that are left. */
struct reader {
    const uint32_t *words; /* borrowed */
    size_t n_words;
    bool bad; /* something did not fit */
};

static uint64_t join(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

/* The next n words; NULL: they are not there. */
static const void *take(struct reader *in, size_t n_words)
{
    const uint32_t *words = in->words;
    if (n_words > in->n_words) {
        in->bad = true;
        in->n_words = 0;
        return NULL;
    }
    STROBE_ASSERT(!in->bad || n_words == 0);
    in->words += n_words;
    in->n_words -= n_words;
    return words;
}
#define TAKE(in, tag) ((const struct tag *)take(in, sizeof(struct tag) / 4))

static struct strobe_device_text take_text(struct reader *in)
{
    const uint32_t *n_bytes = take(in, 1);
    const char *bytes = n_bytes ? take(in, (size_t)(((uint64_t)*n_bytes + 3) / 4)) : NULL;
    if (!bytes)
        return (struct strobe_device_text){"", 0};
    STROBE_ASSERT(!in->bad);
    return (struct strobe_device_text){bytes, *n_bytes};
}

static bool lane_of(struct strobe_device_stream *stream, uint32_t core_yx, uint32_t risc,
                    const struct strobe_device_lane **lane)
{
    struct strobe_device_core *core =
        risc < STROBE_DEVICE_MAX_RISCS ? strobe_device_stream_core(stream, core_yx, false) : NULL;
    if (core)
        *lane = &core->lanes[risc].lane;
    STROBE_ASSERT(!core || ((*lane)->risc == risc && (*lane)->core_yx == core_yx));
    return core != NULL;
}

static void hello(struct strobe_device_stream *stream, struct reader *in)
{
    const struct strobe_frame_hello *frame = TAKE(in, strobe_frame_hello);
    struct strobe_device_text backend = take_text(in);
    if (in->bad)
        return;
    if (frame->version > STROBE_DEVICE_VERSION)
        strobe_device_lane_bad(&stream->out, NULL, STROBE_DEVICE_BAD_VERSION, 1);
    if (stream->has_epoch && stream->epoch != frame->epoch)
        for (uint32_t i = 0; i < stream->n_cores; i++)
            for (uint32_t risc = 0; risc < STROBE_DEVICE_MAX_RISCS; risc++)
                strobe_device_lane_reset(&stream->out, &stream->cores[i]->lanes[risc]);
    stream->epoch = frame->epoch;
    stream->has_epoch = true;
    struct strobe_device_hello facts = {.version = frame->version,
                                        .device = frame->device,
                                        .arch = frame->arch,
                                        .frequency_khz = frame->frequency_khz,
                                        .grid_x = frame->grid_x,
                                        .grid_y = frame->grid_y,
                                        .n_riscs = frame->n_riscs,
                                        .mode = frame->mode,
                                        .policy = frame->policy,
                                        .epoch = frame->epoch,
                                        .pid = frame->pid,
                                        .flags = frame->flags,
                                        .start_ns = join(frame->start_low, frame->start_high),
                                        .backend = backend};
    if (stream->out.calls.hello)
        stream->out.calls.hello(stream->out.calls.context, &facts);
}

static void core(struct strobe_device_stream *stream, struct reader *in)
{
    const struct strobe_frame_core *frame = TAKE(in, strobe_frame_core);
    struct strobe_device_core *core =
        frame ? strobe_device_stream_core(stream, frame->core_yx, true) : NULL;
    if (!core || !stream->out.calls.core)
        return;
    struct strobe_device_core_facts facts = {core->index, frame->core_yx, frame->logical_yx,
                                             frame->kind, frame->flat_id, frame->n_riscs};
    stream->out.calls.core(stream->out.calls.context, &facts);
}

static void name(struct strobe_device_stream *stream, struct reader *in)
{
    const struct strobe_frame_name *frame = TAKE(in, strobe_frame_name);
    struct strobe_device_text name = take_text(in), file = take_text(in);
    if (in->bad || !stream->out.calls.name)
        return;
    struct strobe_device_name facts = {frame->flags, frame->id, frame->line, name, file};
    stream->out.calls.name(stream->out.calls.context, &facts);
}

static void program(struct strobe_device_stream *stream, struct reader *in)
{
    const struct strobe_frame_program *frame = TAKE(in, strobe_frame_program);
    struct strobe_device_program facts = {.name = take_text(in)};
    if (in->bad)
        return;
    facts.program = frame->program;
    facts.trace_id = frame->trace_id;
    for (uint32_t i = 0; i < frame->n_sources && i < STROBE_DEVICE_MAX_SOURCES; i++)
        facts.sources[facts.n_sources++] = take_text(in);
    if (!in->bad && stream->out.calls.program)
        stream->out.calls.program(stream->out.calls.context, &facts);
}

static void launch(struct strobe_device_stream *stream, struct reader *in)
{
    const struct strobe_frame_launch *frame = TAKE(in, strobe_frame_launch);
    if (!frame || !stream->out.calls.launch)
        return;
    struct strobe_device_launch facts = {.program = frame->program,
                                         .trace_id = frame->trace_id,
                                         .trace_counter = frame->trace_counter,
                                         .pid = frame->pid,
                                         .tid = frame->tid,
                                         .n_cores = frame->n_cores,
                                         .sequence =
                                             join(frame->sequence_low, frame->sequence_high),
                                         .host_ns = join(frame->host_ns_low, frame->host_ns_high),
                                         .flow = join(frame->flow_low, frame->flow_high)};
    stream->out.calls.launch(stream->out.calls.context, &facts);
}

static void clock(struct strobe_device_stream *stream, struct reader *in)
{
    const struct strobe_frame_clock *frame = TAKE(in, strobe_frame_clock);
    struct strobe_device_core *core = NULL;
    if (!frame)
        return;
    if (frame->core_yx != STROBE_CORE_NONE) {
        core = strobe_device_stream_core(stream, frame->core_yx, false);
        if (!core)
            return;
    }
    struct strobe_device_clock facts = {.core = core ? core->index : STROBE_CORE_NONE,
                                        .cycles = join(frame->cycles_low, frame->cycles_high),
                                        .before_ns = join(frame->before_low, frame->before_high),
                                        .after_ns = join(frame->after_low, frame->after_high)};
    if (facts.after_ns < facts.before_ns)
        in->bad = true;
    else if (stream->out.calls.clock)
        stream->out.calls.clock(stream->out.calls.context, &facts);
}

/* One lane of OPEN: its levels. */
static void open_lane(struct strobe_device_stream *stream, const struct strobe_frame_open *frame,
                      struct reader *in, uint32_t *seen)
{
    struct strobe_device_open levels[STROBE_OPEN_MAX];
    const struct strobe_device_lane *lane;
    const uint32_t *what = take(in, 1);
    uint32_t depth = what ? *what >> 8 : 0, risc = what ? *what & 0xff : 0;
    const uint32_t *words = depth <= STROBE_OPEN_MAX ? take(in, 3 * (size_t)depth) : NULL;
    if (!what || !words || risc >= STROBE_DEVICE_MAX_RISCS) {
        in->bad = true;
        return;
    }
    STROBE_ASSERT(depth <= STROBE_OPEN_MAX);
    *seen |= 1u << risc;
    for (uint32_t i = 0; i < depth; i++)
        levels[i] = (struct strobe_device_open){STROBE_ST_ID(words[3 * i]),
                                                join(words[3 * i + 1], words[3 * i + 2])};
    if (lane_of(stream, frame->core_yx, risc, &lane) && stream->out.calls.open)
        stream->out.calls.open(stream->out.calls.context, lane,
                               join(frame->cycles_low, frame->cycles_high),
                               frame->flags & STROBE_OPEN_FINAL, levels, depth);
}

static void open(struct strobe_device_stream *stream, struct reader *in)
{
    const struct strobe_frame_open *frame = TAKE(in, strobe_frame_open);
    struct strobe_device_core *core =
        frame ? strobe_device_stream_core(stream, frame->core_yx, false) : NULL;
    uint32_t seen = 0;
    if (!core)
        return;
    STROBE_ASSERT(frame && !seen);
    for (uint32_t i = 0; i < frame->n_lanes && !in->bad; i++)
        open_lane(stream, frame, in, &seen);
    for (uint32_t risc = 0; risc < STROBE_DEVICE_MAX_RISCS && !in->bad; risc++)
        if (!(seen >> risc & 1) && core->lanes[risc].state != STROBE_DEVICE_LANE_NEW &&
            stream->out.calls.open) /* it has none */
            stream->out.calls.open(stream->out.calls.context, &core->lanes[risc].lane,
                                   join(frame->cycles_low, frame->cycles_high),
                                   frame->flags & STROBE_OPEN_FINAL, NULL, 0);
}

static void totals(struct strobe_device_stream *stream, struct reader *in, bool bye)
{
    const struct strobe_frame_totals *frame = TAKE(in, strobe_frame_totals);
    if (!frame)
        return;
    if (bye)
        strobe_device_stream_flush(stream);
    for (uint32_t i = 0; i < frame->n_lanes && !in->bad; i++) {
        const struct strobe_lane_total *row = TAKE(in, strobe_lane_total);
        const struct strobe_device_lane *lane;
        if (!row || !lane_of(stream, row->core_yx, row->risc, &lane))
            continue;
        struct strobe_device_total total = {.emitted = join(row->emitted_low, row->emitted_high),
                                            .dropped = join(row->dropped_low, row->dropped_high),
                                            .stalled_cycles =
                                                join(row->stalled_low, row->stalled_high),
                                            .n_stalls = row->n_stalls,
                                            .undelivered = row->undelivered};
        if (stream->out.calls.total)
            stream->out.calls.total(stream->out.calls.context, lane, &total, bye);
    }
    if (bye && stream->out.calls.bye)
        stream->out.calls.bye(stream->out.calls.context, frame->reason);
}

static void counters(struct strobe_device_stream *stream, struct reader *in)
{
    enum { MOST = 256 };
    struct strobe_device_counter rows[MOST];
    const struct strobe_frame_counters *frame = TAKE(in, strobe_frame_counters);
    const struct strobe_device_lane *lane;
    const uint32_t *words =
        frame && frame->n_counters <= MOST ? take(in, 4 * (size_t)frame->n_counters) : NULL;
    if (!words) {
        in->bad = true;
        return;
    }
    STROBE_ASSERT(frame->n_counters <= MOST && !in->bad);
    for (uint32_t i = 0; i < frame->n_counters; i++)
        rows[i] = (struct strobe_device_counter){words[4 * i], words[4 * i + 1],
                                                 join(words[4 * i + 2], words[4 * i + 3])};
    if (lane_of(stream, frame->core_yx, frame->risc, &lane) && stream->out.calls.counters)
        stream->out.calls.counters(stream->out.calls.context, lane,
                                   join(frame->cycles_low, frame->cycles_high), frame->program,
                                   rows, frame->n_counters);
}

static void classic(struct strobe_device_stream *stream, struct reader *in)
{
    const struct strobe_frame_classic *frame = TAKE(in, strobe_frame_classic);
    const struct strobe_device_lane *lane;
    const uint32_t *words = frame ? take(in, frame->n_words) : NULL;
    if (!words || !lane_of(stream, frame->core_yx, frame->risc, &lane) ||
        !stream->out.calls.classic)
        return;
    struct strobe_device_classic_words facts = {words,
                                                frame->n_words,
                                                frame->flags,
                                                frame->end_words,
                                                frame->needed_words,
                                                frame->program_words};
    STROBE_ASSERT(facts.words && !in->bad);
    stream->out.calls.classic(stream->out.calls.context, lane, &facts);
}

static void memory(struct strobe_device_stream *stream, struct reader *in)
{
    const struct strobe_frame_memory *frame = TAKE(in, strobe_frame_memory);
    if (!frame || !stream->out.calls.memory)
        return;
    struct strobe_device_memory facts = {
        frame->kind, frame->pool, join(frame->address_low, frame->address_high),
        join(frame->bytes_low, frame->bytes_high), join(frame->host_ns_low, frame->host_ns_high)};
    stream->out.calls.memory(stream->out.calls.context, &facts);
}

static double join_double(uint32_t low, uint32_t high)
{
    uint64_t bits = join(low, high);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void link(struct strobe_device_stream *stream, struct reader *in)
{
    const struct strobe_frame_link *frame = TAKE(in, strobe_frame_link);
    if (!frame)
        return;
    struct strobe_device_link facts = {frame->other, frame->n_messages, frame->error_ns,
                                       join_double(frame->scale_low, frame->scale_high),
                                       join_double(frame->shift_low, frame->shift_high)};
    if (!(facts.scale > 0 && facts.scale < 1e6) || !(fabs(facts.shift) < 1e19))
        in->bad = true;
    else if (stream->out.calls.link)
        stream->out.calls.link(stream->out.calls.context, &facts);
}

/* LANES: heads of all lanes, then their runs. Nothing is decoded before all of it fits. */
static void lanes(struct strobe_device_stream *stream, struct reader *in)
{
    const struct strobe_frame_lanes *frame = TAKE(in, strobe_frame_lanes);
    uint32_t n_lanes = frame ? frame->n_lanes : 0;
    const uint32_t *heads = n_lanes <= STROBE_DEVICE_MAX_RISCS
                                ? take(in, (size_t)n_lanes * STROBE_LANES_HEAD_WORDS)
                                : NULL;
    uint64_t n_words = 0;
    if (!frame || !heads) {
        in->bad = true;
        return;
    }
    for (uint32_t i = 0; i < n_lanes; i++) {
        const uint32_t *head = heads + i * STROBE_LANES_HEAD_WORDS;
        in->bad |= head[0] >= STROBE_DEVICE_MAX_RISCS || head[2] - head[1] > STROBE_L1_BUFFER_WORDS;
        n_words += head[2] - head[1];
    }
    if (in->bad || n_words > in->n_words) {
        in->bad = true;
        return;
    }
    STROBE_ASSERT(n_lanes <= STROBE_DEVICE_MAX_RISCS &&
                  n_words <= in->n_words); /* all of it fits */
    struct strobe_device_core *core = strobe_device_stream_core(stream, frame->core_yx, false);
    for (uint32_t i = 0; core && i < n_lanes; i++) {
        const uint32_t *head = heads + i * STROBE_LANES_HEAD_WORDS;
        uint32_t n = head[2] - head[1];
        struct strobe_device_run run = {take(in, n), n, head[1], head[3], head[4]};
        STROBE_ASSERT(run.words && !in->bad);
        if (n)
            strobe_device_lane_run(&stream->out, &core->lanes[head[0]], &run);
    }
}

void strobe_device_frame(struct strobe_device_stream *stream, const uint32_t *words)
{
    struct reader in = {words, 1 + (size_t)STROBE_EXT_N(words[0]), false};
    STROBE_ASSERT(STROBE_ST_TYPE(words[0]) == STROBE_ST_EXTENSION);
    switch (STROBE_EXT_SUBTYPE(words[0])) {
    case STROBE_EXT_HELLO:
        hello(stream, &in);
        break;
    case STROBE_EXT_CORE:
        core(stream, &in);
        break;
    case STROBE_EXT_NAME:
        name(stream, &in);
        break;
    case STROBE_EXT_PROGRAM:
        program(stream, &in);
        break;
    case STROBE_EXT_LAUNCH:
        launch(stream, &in);
        break;
    case STROBE_EXT_CLOCK:
        clock(stream, &in);
        break;
    case STROBE_EXT_OPEN:
        open(stream, &in);
        break;
    case STROBE_EXT_TOTALS:
        totals(stream, &in, false);
        break;
    case STROBE_EXT_COUNTERS:
        counters(stream, &in);
        break;
    case STROBE_EXT_CLASSIC:
        classic(stream, &in);
        break;
    case STROBE_EXT_MEMORY:
        memory(stream, &in);
        break;
    case STROBE_EXT_LANES:
        lanes(stream, &in);
        break;
    case STROBE_EXT_BYE:
        totals(stream, &in, true);
        break;
    case STROBE_EXT_LINK:
        link(stream, &in);
        break;
    default:
        strobe_device_lane_bad(&stream->out, NULL, STROBE_DEVICE_BAD_VERSION, 1);
        return;
    }
    if (in.bad)
        strobe_device_lane_bad(&stream->out, NULL, STROBE_DEVICE_BAD_FIELD, 1);
}
