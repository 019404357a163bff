/* stream_events.c - events of the wire that are no zones: messages, plots, images, sections, GPU. What has to be
 * in order of time (frames, locks, memory) is held.c's.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/stream.h"

#define CPU_USAGE 1ull /* no pointer of ours */
enum { MAX_IMAGE_BYTES = 120000, N_QUERIES = 65536 };

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- of a zone ------------------------------------------------------------------------------- */

/* Texts, names, values, colours are the innermost zone's: there must be one. */
static void put_of_zone(struct strobe_bridge_stream *stream, uint32_t process,
                        struct strobe_bridge_thread *thread, const struct strobe_event *event)
{
    const struct strobe_field *f = event->fields;
    if (thread->is_lane) { /* GPU zones have none */
        strobe_bridge_leave_out(stream, event->kind);
        return;
    }
    if (!strobe_bridge_open_zone(stream, process, thread, event->kind))
        return;
    if (event->kind == STROBE_KIND_ZONE_VALUE) {
        strobe_wire_put(&stream->out, STROBE_TRACY_ZONE_VALUE, &f[0].u);
    } else if (event->kind == STROBE_KIND_ZONE_COLOR) {
        uint64_t color[] = {f[0].u & 255, f[0].u >> 8 & 255, f[0].u >> 16 & 255};
        strobe_wire_put(&stream->out, STROBE_TRACY_ZONE_COLOR, color);
    } else {
        strobe_wire_text(&stream->out, f[0].text, f[0].u);
        strobe_wire_put(&stream->out,
                        event->kind == STROBE_KIND_ZONE_TEXT ? STROBE_TRACY_ZONE_TEXT
                                                             : STROBE_TRACY_ZONE_NAME,
                        NULL);
    }
}

/* ---- messages, plots, frames ----------------------------------------------------------------- */

static void put_message(struct strobe_bridge_stream *stream, struct strobe_bridge_thread *thread,
                        const struct strobe_event *event)
{
    const struct strobe_field *f = event->fields;
    uint64_t color = f[1].u, raw = strobe_bridge_raw(stream, event->tick);
    uint64_t severity = (f[0].u & 255) < 6 ? f[0].u & 255 : 2;
    uint64_t meta = severity << 4 | (f[0].u & 256 ? 1 : 0);
    strobe_bridge_turn_to(stream, thread->tid);
    bool has_stack = strobe_bridge_put_stack(stream, strobe_bridge_take_stack(stream), false);
    strobe_wire_text(&stream->out, f[2].text, f[2].u);
    if (color)
        strobe_wire_put(&stream->out,
                        has_stack ? STROBE_TRACY_MESSAGE_COLOR_CALLSTACK
                                  : STROBE_TRACY_MESSAGE_COLOR,
                        (uint64_t[]){raw, color & 255, color >> 8 & 255, color >> 16 & 255, meta});
    else
        strobe_wire_put(&stream->out,
                        has_stack ? STROBE_TRACY_MESSAGE_CALLSTACK : STROBE_TRACY_MESSAGE,
                        (uint64_t[]){raw, meta});
}

/* The plot of a name; how it is to be drawn is told at its first value. */
static int find_plot(struct strobe_bridge_stream *stream, uint32_t process, uint64_t id,
                     uint64_t *pointer)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n, before = stream->plot_ids.n;
    uint32_t i = strobe_idmap_add_row(&stream->plot_ids, process, id, (void **)&stream->plots,
                                      &stream->plots_room, sizeof *stream->plots);
    if (i == STROBE_IDMAP_NONE)
        return 0;
    if (i == before) {
        const char *name = strobe_trace_string(stream->trace, process, id, room, &n);
        stream->plots[i].pointer = strobe_bridge_name(stream, process, name, n);
        if (n == 9 && !memcmp(name, "CPU usage", n) && !process &&
            strobe_client_of(&stream->facts, process))
            stream->plots[i].pointer = CPU_USAGE; /* the client's own: an event of its own */
        uint32_t config = strobe_idmap_find(&stream->trace->plot_ids, process, id);
        if (config != STROBE_IDMAP_NONE && stream->plots[i].pointer != CPU_USAGE) {
            const struct strobe_plot *plot = &stream->trace->plots[config];
            uint64_t fields[] = {stream->plots[i].pointer, plot->format & 255, plot->step,
                                 !(plot->format & 256), plot->color};
            strobe_wire_put(&stream->out, STROBE_TRACY_PLOT_CONFIG, fields);
        }
    }
    *pointer = stream->plots[i].pointer;
    return 1;
}

static int put_plot(struct strobe_bridge_stream *stream, uint32_t process,
                    struct strobe_bridge_thread *thread, const struct strobe_event *event)
{
    const struct strobe_field *f = event->fields;
    uint64_t pointer, raw = strobe_bridge_raw(stream, event->tick);
    int is_int = event->kind == STROBE_KIND_PLOT_INT;
    uint64_t value = is_int ? (uint64_t)f[1].i : bits_of(f[1].d);
    if (!find_plot(stream, process, f[0].u, &pointer))
        return 0;
    if (pointer == CPU_USAGE) {
        strobe_wire_put(&stream->out, STROBE_TRACY_SYS_TIME_REPORT, (uint64_t[]){raw, value});
        return 1;
    }
    strobe_bridge_turn_to(stream, thread->tid);
    if (!strobe_wire_put(&stream->out,
                         is_int ? STROBE_TRACY_PLOT_DATA_INT : STROBE_TRACY_PLOT_DATA_DOUBLE,
                         (uint64_t[]){pointer, raw, value}))
        strobe_wire_put(&stream->out,
                        STROBE_TRACY_PLOT_DATA, /* up to 58: one event for all types */
                        (uint64_t[]){pointer, raw, is_int ? 2 : 1, value});
    return 1;
}

static void put_image(struct strobe_bridge_stream *stream, uint32_t process,
                      const struct strobe_event *event)
{
    const struct strobe_field *f = event->fields;
    if (process || f[4].u > MAX_IMAGE_BYTES || f[4].u != f[1].u * f[2].u / 2) {
        strobe_bridge_leave_out(stream, event->kind);
        return;
    }
    strobe_wire_transfer(&stream->out, STROBE_TRACY_FRAME_IMAGE_DATA, 0, f[4].text, f[4].u);
    strobe_wire_put(&stream->out, STROBE_TRACY_FRAME_IMAGE,
                    (uint64_t[]){f[0].u, f[1].u, f[2].u, f[3].u});
}

static void put_section(struct strobe_bridge_stream *stream, struct strobe_bridge_thread *thread,
                        const struct strobe_event *event)
{
    const struct strobe_field *f = event->fields;
    uint64_t raw = strobe_bridge_raw(stream, event->tick);
    int is_enter = event->kind == STROBE_KIND_SECTION_ENTER;
    if (!strobe_wire_has(&stream->out,
                         is_enter ? STROBE_TRACY_SECTION_ENTER : STROBE_TRACY_SECTION_LEAVE)) {
        strobe_bridge_leave_out(stream, event->kind);
        return;
    }
    strobe_bridge_turn_to(stream, thread->tid);
    if (is_enter) {
        strobe_wire_text(&stream->out, f[2].text, f[2].u);
        strobe_wire_put(&stream->out, STROBE_TRACY_SECTION_ENTER,
                        (uint64_t[]){raw, f[0].u, f[1].u});
    } else {
        strobe_wire_put(&stream->out, STROBE_TRACY_SECTION_LEAVE, (uint64_t[]){raw, f[0].u});
    }
}

/* ---- GPU ------------------------------------------------------------------------------------- */

/* The number of a context on the wire; it is told of at its first event. -1: there is no room. */
static int find_context(struct strobe_bridge_stream *stream, uint32_t process, uint64_t id)
{
    uint32_t i = strobe_idmap_find(&stream->context_ids, process, id);
    uint32_t fact = strobe_idmap_find(&stream->facts.context_ids, process, id);
    if (i == STROBE_IDMAP_NONE && stream->context_ids.n < STROBE_BRIDGE_MAX_CONTEXTS)
        i = strobe_idmap_add_row(&stream->context_ids, process, id, (void **)&stream->contexts,
                                 &stream->contexts_room, sizeof *stream->contexts);
    if (i == STROBE_IDMAP_NONE || fact == STROBE_IDMAP_NONE)
        return -1;
    struct strobe_bridge_context *context = &stream->contexts[i];
    if (context->is_announced)
        return (int)i;
    const struct strobe_gpu_context_fact *facts = &stream->facts.contexts[fact];
    uint32_t n;
    const char *name = strobe_trace_text(stream->trace, facts->name, &n);
    context->pending = calloc(N_QUERIES / 8, 1);
    if (!context->pending)
        return -1;
    context->is_announced = 1;
    uint64_t fields[] = {strobe_bridge_own_raw(stream, process, facts->host),
                         (uint64_t)facts->time,
                         (uint32_t)facts->tid,
                         bits_of(facts->period_ns),
                         i,
                         facts->calibrated != 0,
                         facts->type ? facts->type : 3};
    strobe_wire_put(&stream->out, STROBE_TRACY_GPU_NEW_CONTEXT, fields);
    if (n) {
        strobe_wire_text(&stream->out, name, n);
        strobe_wire_put(&stream->out, STROBE_TRACY_GPU_CONTEXT_NAME, (uint64_t[]){i});
    }
    return (int)i;
}

static int is_pending(const struct strobe_bridge_context *context, uint64_t query)
{
    STROBE_ASSERT(query < N_QUERIES);
    return context->pending[query / 8] >> query % 8 & 1;
}

static uint32_t *gpu_depth(struct strobe_bridge_stream *stream, int context, uint64_t tid)
{
    uint32_t i = strobe_idmap_add_row(&stream->gpu_stacks, (uint32_t)context, tid,
                                      (void **)&stream->gpu_depths, &stream->gpu_depths_room,
                                      sizeof *stream->gpu_depths);
    return i == STROBE_IDMAP_NONE ? NULL : &stream->gpu_depths[i];
}

/* The thread that the server files a zone under: 0 for all of a context that is bound to one. */
static uint64_t gpu_tid(struct strobe_bridge_stream *stream, uint32_t process, uint64_t id,
                        uint64_t tid)
{
    uint32_t fact = strobe_idmap_find(&stream->facts.context_ids, process, id);
    return stream->facts.contexts[fact].tid ? 0 : (uint32_t)tid;
}

static int put_gpu_zone(struct strobe_bridge_stream *stream, uint32_t process, int number,
                        const struct strobe_event *event)
{
    const struct strobe_field *f = event->fields;
    struct strobe_bridge_context *context = &stream->contexts[number];
    STROBE_ASSERT(context->is_announced && context->pending);
    uint64_t query = f[1].u % N_QUERIES, tid = gpu_tid(stream, process, f[0].u, f[2].u);
    uint32_t *depth = gpu_depth(stream, number, tid);
    int is_begin = event->kind == STROBE_KIND_GPU_BEGIN, is_over;
    if (!depth)
        return 0;
    if (is_pending(context, query) || (!is_begin && !*depth)) {
        strobe_bridge_leave_out(stream, event->kind);
        return 1;
    }
    context->pending[query / 8] |= (uint8_t)(1u << query % 8);
    uint64_t raw = strobe_bridge_raw(stream, event->tick);
    if (is_begin) {
        ++*depth;
        uint64_t loc = strobe_bridge_loc(stream, process, f[3].u, &is_over);
        bool has_stack = strobe_bridge_put_stack(stream, strobe_bridge_take_stack(stream), true);
        strobe_wire_put(&stream->out,
                        has_stack ? STROBE_TRACY_GPU_ZONE_BEGIN_CALLSTACK_SERIAL
                                  : STROBE_TRACY_GPU_ZONE_BEGIN_SERIAL,
                        (uint64_t[]){raw, tid, query, (uint64_t)number, loc});
    } else {
        --*depth;
        strobe_wire_put(&stream->out, STROBE_TRACY_GPU_ZONE_END_SERIAL,
                        (uint64_t[]){raw, tid, query, (uint64_t)number});
    }
    return 1;
}

static int put_gpu(struct strobe_bridge_stream *stream, uint32_t process,
                   const struct strobe_event *event)
{
    const struct strobe_field *f = event->fields;
    int number = find_context(stream, process, f[0].u);
    if (number < 0) {
        strobe_bridge_leave_out(stream, event->kind);
        return 1;
    }
    struct strobe_bridge_context *context = &stream->contexts[number];
    uint64_t query = f[1].u % N_QUERIES, context_id = (uint64_t)number;
    switch (event->kind) {
    case STROBE_KIND_GPU_BEGIN:
    case STROBE_KIND_GPU_END:
        return put_gpu_zone(stream, process, number, event);
    case STROBE_KIND_GPU_TIME:
        if (!is_pending(context, query)) {
            strobe_bridge_leave_out(stream, event->kind);
            return 1;
        }
        context->pending[query / 8] &= (uint8_t) ~(1u << query % 8);
        strobe_wire_put(&stream->out, STROBE_TRACY_GPU_TIME,
                        (uint64_t[]){(uint64_t)f[2].i, query, context_id});
        return 1;
    case STROBE_KIND_GPU_CALIBRATION:
        strobe_wire_put(&stream->out, STROBE_TRACY_GPU_CALIBRATION,
                        (uint64_t[]){(uint64_t)f[1].i,
                                     strobe_bridge_own_raw(stream, process, f[2].u),
                                     (uint64_t)f[3].i, context_id});
        return 1;
    case STROBE_KIND_GPU_SYNC:
        if (!strobe_wire_put(&stream->out, STROBE_TRACY_GPU_TIME_SYNC,
                             (uint64_t[]){(uint64_t)f[1].i,
                                          strobe_bridge_own_raw(stream, process, f[2].u),
                                          context_id}))
            strobe_bridge_leave_out(stream, event->kind);
        return 1;
    default: /* notes */
        strobe_bridge_leave_out(stream, event->kind);
        return 1;
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

int strobe_bridge_put_event(struct strobe_bridge_stream *stream, uint32_t process,
                            struct strobe_bridge_thread *thread, const struct strobe_event *event)
{
    const struct strobe_field *f = event->fields;
    uint64_t raw = strobe_bridge_raw(stream, event->tick);
    if (strobe_bridge_is_held(event->kind))
        return strobe_bridge_hold(stream, process, thread, event);
    switch (event->kind) {
    case STROBE_KIND_ZONE_TEXT:
    case STROBE_KIND_ZONE_NAME:
    case STROBE_KIND_ZONE_VALUE:
    case STROBE_KIND_ZONE_COLOR:
        put_of_zone(stream, process, thread, event);
        return 1;
    case STROBE_KIND_MESSAGE:
        put_message(stream, thread, event);
        return 1;
    case STROBE_KIND_SAMPLE:
        strobe_bridge_put_sample(stream, process, thread, event);
        return 1;
    case STROBE_KIND_PLOT_INT:
    case STROBE_KIND_PLOT_DOUBLE:
        return put_plot(stream, process, thread, event);
    case STROBE_KIND_FRAME_IMAGE:
        put_image(stream, process, event);
        return 1;
    case STROBE_KIND_SECTION_ENTER:
    case STROBE_KIND_SECTION_LEAVE:
        put_section(stream, thread, event);
        return 1;
    case STROBE_KIND_APP_INFO:
        strobe_wire_text(&stream->out, f[0].text, f[0].u);
        strobe_wire_put(&stream->out, STROBE_TRACY_MESSAGE_APP_INFO, &raw);
        return 1;
    case STROBE_KIND_GPU_BEGIN:
    case STROBE_KIND_GPU_END:
    case STROBE_KIND_GPU_TIME:
    case STROBE_KIND_GPU_CALIBRATION:
    case STROBE_KIND_GPU_SYNC:
    case STROBE_KIND_GPU_NOTE:
        return put_gpu(stream, process, event);
    default:
        strobe_bridge_leave_out(stream, event->kind);
        return 1;
    }
}
