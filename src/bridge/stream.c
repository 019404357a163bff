/* stream.c - blocks of a trace into events of the wire: threads, zones, fibers. The rest is in
 * stream_events.c, names in names.c.  SPDX-License-Identifier: MIT */
#include "bridge/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

enum { WELCOME_NAME = 64, WELCOME_HOST = 1024 };

/* ---- opening --------------------------------------------------------------------------------- */

/* Times on the wire are ticks: a client's own, or the trace's. Where the clock jumped, they are ns. */
static void set_clock(struct strobe_bridge_stream *stream)
{
    const struct strobe_trace *trace = stream->trace;
    const struct strobe_client_fact *client =
        trace->n_processes == 1 ? strobe_client_of(&stream->facts, 0) : NULL;
    stream->init_tick = client ? client->init_begin : trace->clock.origin_tick;
    stream->timer_mul = client ? client->timer_mul : (double)trace->clock.mult / 4294967296.0;
    stream->is_own = client && trace->processes[0].n_own;
    stream->as_ns = !client && trace->clock.n_pieces > 1;
    if (stream->as_ns) {
        stream->init_tick = 1ull << 40;
        stream->timer_mul = 1.0;
    }
}

static enum strobe_err open_trace(struct strobe_bridge_stream *stream)
{
    enum strobe_err err = strobe_trace_open(stream->path, 0, &stream->trace);
    if (!err)
        err = strobe_client_facts_load(stream->trace, &stream->facts);
    if (!err)
        stream->is_closed = strobe_file_facts(stream->trace->file)->closed;
    return err;
}

static void close_trace(struct strobe_bridge_stream *stream)
{
    strobe_file_end_iterate(stream->iter);
    stream->iter = NULL;
    strobe_client_facts_free(&stream->facts);
    strobe_trace_close(stream->trace);
    stream->trace = NULL;
}

static enum strobe_err start_blocks(struct strobe_bridge_stream *stream)
{
    struct strobe_block_filter filter = {.type = STROBE_BLOCK_EVENTS, .offset_min = stream->offset};
    return strobe_file_iterate(stream->trace->file, &filter, &stream->iter);
}

enum strobe_err strobe_bridge_stream_open(const char *path, uint32_t protocol, int follow,
                                          struct strobe_bridge_stream *out)
{
    memset(out, 0, sizeof *out);
    out->path = path;
    out->is_final = !follow;
    if (!strobe_wire_out_open(&out->out, protocol))
        return STROBE_ERR_VERSION;
    enum strobe_err err = open_trace(out);
    if (err)
        return err;
    set_clock(out);
    return start_blocks(out);
}

/* Names and blocks that came since: the trace is opened anew, and goes on where it was. */
enum strobe_err strobe_bridge_refresh(struct strobe_bridge_stream *stream)
{
    uint64_t before = strobe_file_facts(stream->trace->file)->n_bytes;
    enum strobe_err err = strobe_file_refresh(stream->trace->file);
    const struct strobe_file_facts *facts = strobe_file_facts(stream->trace->file);
    if (err)
        return err;
    stream->is_closed = facts->closed;
    if (facts->n_bytes == before)
        return STROBE_ERR_END;
    close_trace(stream);
    err = open_trace(stream);
    return err ? err : start_blocks(stream);
}

void strobe_bridge_stream_free(struct strobe_bridge_stream *stream)
{
    struct strobe_idmap *maps[] = {&stream->loc_ids,   &stream->thread_ids, &stream->tids,
                                   &stream->fiber_ids, &stream->lock_ids,   &stream->context_ids,
                                   &stream->plot_ids,  &stream->live_ids,   &stream->gpu_stacks,
                                   &stream->pool_ids,  &stream->frame_ids,  &stream->device_ids};
    close_trace(stream);
    for (uint32_t i = 0; i < stream->thread_ids.n; i++)
        strobe_joiner_free(&stream->threads[i].joiner);
    for (uint32_t i = 0; i < stream->context_ids.n; i++)
        free(stream->contexts[i].pending);
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        strobe_idmap_free(maps[i]);
    strobe_texts_free(&stream->texts);
    strobe_events_free(&stream->events);
    strobe_block_free(&stream->block);
    strobe_wire_out_close(&stream->out);
    free(stream->threads);
    free(stream->fiber_depths);
    free(stream->locks);
    free(stream->contexts);
    free(stream->plots);
    free(stream->live);
    free(stream->gpu_depths);
    free(stream->devices);
    free(stream->pool_epochs);
    free(stream->frames);
    free(stream->held);
    strobe_texts_free(&stream->stacks);
    strobe_stack_symbols_free(&stream->symbols);
    free(stream->asked);
}

/* ---- the welcome message --------------------------------------------------------------------- */

static uint8_t *put(uint8_t *at, const void *bytes, size_t n)
{
    memcpy(at, bytes, n);
    return at + n;
}

static uint8_t *put_u64(uint8_t *at, uint64_t value)
{
    return put(at, &value, sizeof value);
}

static uint8_t *put_text(uint8_t *at, const char *text, size_t n, size_t room)
{
    memset(at, 0, room);
    memcpy(at, text, n < room ? n : room - 1);
    return at + room;
}

void strobe_bridge_welcome(struct strobe_bridge_stream *stream, uint8_t *out)
{
    static const struct strobe_client_fact native = {.resolution = 1};
    const struct strobe_trace *trace = stream->trace;
    const struct strobe_client_fact *client = strobe_client_of(&stream->facts, 0);
    const struct strobe_client_fact *facts = client ? client : &native;
    char room[STROBE_NAME_ROOM], maker[12] = {0};
    uint32_t n;
    int is_own = client && trace->n_processes == 1;
    uint8_t *at = put(out, &stream->timer_mul, sizeof stream->timer_mul);
    at = put_u64(at, stream->init_tick);
    at = put_u64(at, is_own ? facts->init_end : stream->init_tick);
    if (stream->out.table.welcome_has_delay)
        at = put_u64(at, facts->delay);
    at = put_u64(at, facts->resolution);
    at = put_u64(at,
                 client ? facts->epoch : strobe_file_facts(trace->file)->created_ns / 1000000000);
    at = put_u64(at, facts->exec_time);
    at = put_u64(at, trace->n_processes ? trace->processes[0].pid : 0);
    at = put_u64(at, (uint64_t)facts->sampling);
    *at++ = 2; /* memory faults are not the server's business */
    *at++ = (uint8_t)facts->arch;
    const char *text = strobe_trace_text(trace, facts->maker, &n);
    memcpy(maker, text, n < sizeof maker ? n : sizeof maker);
    at = put(at, maker, sizeof maker);
    uint32_t cpu_id = (uint32_t)facts->cpu_id;
    at = put(at, &cpu_id, sizeof cpu_id);
    text = "strobe";
    n = 6;
    if (trace->n_processes)
        text = strobe_trace_process_name(trace, 0, room, &n);
    at = put_text(at, text, n, WELCOME_NAME);
    text = strobe_trace_text(trace, facts->host ? facts->host : trace->cpu, &n);
    put_text(at, text, n, WELCOME_HOST);
}

/* ---- zones ----------------------------------------------------------------------------------- */

static void begin_zone(struct strobe_bridge_stream *stream, uint32_t process,
                       struct strobe_bridge_thread *thread, uint64_t tick, uint64_t loc)
{
    int is_over;
    uint32_t *depth = &thread->depth;
    if (thread->is_lane) {
        strobe_bridge_lane_begin(stream, process, thread, tick, loc);
        return;
    }
    uint64_t pointer = strobe_bridge_loc(stream, process, loc, &is_over);
    if (thread->fiber)
        strobe_bridge_fiber(stream, process, thread->fiber, &depth);
    strobe_bridge_turn_to(stream, thread->tid);
    bool has_stack = strobe_bridge_put_stack(stream, strobe_bridge_take_stack(stream), false);
    strobe_wire_zone_begin(&stream->out, strobe_bridge_raw(stream, tick), pointer, has_stack);
    ++*depth;
    stream->n_zones++;
    stream->n_open++;
    if (is_over) { /* its name goes with the zone */
        char room[STROBE_NAME_ROOM];
        uint32_t n;
        const char *name = strobe_trace_loc_name(
            stream->trace, strobe_trace_loc(stream->trace, process, loc), loc, room, &n);
        strobe_wire_text(&stream->out, name, n);
        strobe_wire_put(&stream->out, STROBE_TRACY_ZONE_NAME, NULL);
    }
}

static void end_zone(struct strobe_bridge_stream *stream, uint32_t process,
                     struct strobe_bridge_thread *thread, uint64_t tick)
{
    if (thread->is_lane) {
        strobe_bridge_lane_end(stream, thread, tick);
        return;
    }
    uint32_t *depth = strobe_bridge_open_zone(stream, process, thread, STROBE_KIND_ZONE_END);
    if (!depth)
        return;
    strobe_wire_zone_end(&stream->out, strobe_bridge_raw(stream, tick));
    STROBE_ASSERT(*depth && stream->n_open); /* a server dies of an end without a begin */
    --*depth;
    stream->n_open--;
}

/* Change to another fiber, or to none. */
static void turn_fiber(struct strobe_bridge_stream *stream, uint32_t process,
                       struct strobe_bridge_thread *thread, uint64_t tick, uint64_t fiber)
{
    uint64_t raw = strobe_bridge_raw(stream, tick);
    uint32_t *depth;
    if (thread->fiber == fiber)
        return;
    strobe_bridge_turn_to(stream, thread->tid);
    if (thread->fiber)
        strobe_wire_put(&stream->out, STROBE_TRACY_FIBER_LEAVE, (uint64_t[]){raw, thread->tid});
    if (fiber)
        strobe_wire_put(
            &stream->out, STROBE_TRACY_FIBER_ENTER,
            (uint64_t[]){raw, strobe_bridge_fiber(stream, process, fiber, &depth), thread->tid, 0});
    thread->fiber = fiber;
}

/* A part after a hole: what was open is closed, what its head says is open is begun. */
static void begin_part(struct strobe_bridge_stream *stream, const struct strobe_part *part,
                       struct strobe_bridge_thread *thread, uint32_t process)
{
    if (thread->is_seen && thread->next_pos == part->pos)
        return;
    thread->is_seen = 1;
    turn_fiber(stream, process, thread, part->first_tick, 0);
    while (thread->depth)
        end_zone(stream, process, thread, part->first_tick);
    for (uint32_t i = 0; i < part->n_stack && i < 1024; i++)
        begin_zone(stream, process, thread,
                   part->stack[i].begin < part->first_tick ? part->stack[i].begin
                                                           : part->first_tick,
                   part->stack[i].loc);
    turn_fiber(stream, process, thread, part->first_tick, part->fiber);
}

static int put_event(struct strobe_bridge_stream *stream, uint32_t process,
                     struct strobe_bridge_thread *thread, const struct strobe_event *event)
{
    uint64_t n = 1;
    switch (event->kind) {
    case STROBE_KIND_ZONE_BEGIN:
        begin_zone(stream, process, thread, event->tick, event->loc);
        return 1;
    case STROBE_KIND_ZONE_END_POP:
        n = event->fields[0].u < thread->depth ? event->fields[0].u + 1 : thread->depth;
        /* fall through */
    case STROBE_KIND_ZONE_END:
    case STROBE_KIND_ZONE_END_AT:
        if (event->kind == STROBE_KIND_ZONE_END_AT && !thread->fiber)
            n = 0; /* its begin was never sent */
        for (; n; n--)
            end_zone(stream, process, thread, event->tick);
        return 1;
    case STROBE_KIND_ZONE_END_UNDER: /* a server knows no other order: the innermost ends instead */
        end_zone(stream, process, thread, event->tick);
        return 1;
    case STROBE_KIND_ZONE_LOOSE:
        return 1;
    case STROBE_KIND_FIBER_ENTER:
        turn_fiber(stream, process, thread, event->tick, event->fields[0].u);
        return 1;
    case STROBE_KIND_FIBER_LEAVE:
        turn_fiber(stream, process, thread, event->tick, 0);
        return 1;
    default:
        return strobe_bridge_put_event(stream, process, thread, event);
    }
}

/* A call stack waits for the event behind it; one whose event has no place for it is not sent. */
static int put_with_stack(struct strobe_bridge_stream *stream, uint32_t process,
                          struct strobe_bridge_thread *thread, const struct strobe_event *event)
{
    if (event->kind == STROBE_KIND_CALLSTACK)
        return strobe_bridge_keep_stack(stream, process, thread, event);
    STROBE_ASSERT(!stream->stack);
    stream->stack = thread->stack;
    thread->stack = 0;
    int ok = put_event(stream, process, thread, event);
    if (strobe_bridge_take_stack(stream))
        strobe_bridge_leave_out(stream, STROBE_KIND_CALLSTACK);
    return ok;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* The next part of the block: its thread and cursor; of none left, none. END: its names are still to come. */
static enum strobe_err next_part(struct strobe_bridge_stream *stream)
{
    if (stream->part == stream->events.n_parts) {
        stream->has_block = 0;
        return STROBE_OK;
    }
    const struct strobe_part *part = &stream->events.parts[stream->part];
    uint32_t process = strobe_trace_process(stream->trace, part->proc);
    uint32_t index = process == STROBE_IDMAP_NONE
                         ? STROBE_IDMAP_NONE
                         : strobe_trace_thread(stream->trace, process, part->track);
    if (index != STROBE_IDMAP_NONE && !strobe_bridge_part_is_told(stream, process, index, part))
        return STROBE_ERR_END;
    struct strobe_bridge_thread *thread =
        index == STROBE_IDMAP_NONE ? NULL : strobe_bridge_thread(stream, index);
    if (!thread)
        return STROBE_ERR_NOMEM;
    stream->part++;
    begin_part(stream, part, thread, process);
    thread->next_pos = part->pos + part->n_words;
    stream->thread = index;
    stream->in_part = 1;
    strobe_cursor_start(&stream->cursor, &stream->events, part, &stream->trace->schema,
                        &thread->joiner);
    return STROBE_OK;
}

static enum strobe_err fill_part(struct strobe_bridge_stream *stream)
{
    struct strobe_bridge_thread *thread = strobe_bridge_thread(stream, stream->thread);
    uint32_t process = stream->trace->threads[stream->thread].process;
    stream->cursor.joiner =
        &thread->joiner; /* the threads may have moved, the trace been opened anew */
    stream->cursor.schema = &stream->trace->schema;
    while (!strobe_wire_out_full(&stream->out)) {
        if (!stream->has_event && strobe_cursor_next(&stream->cursor, &stream->event)) {
            stream->in_part = 0; /* its end, or damage */
            return STROBE_OK;
        }
        stream->has_event = !strobe_bridge_is_told(stream, process, &stream->event);
        if (stream->has_event)
            return STROBE_ERR_END;
        if (!put_with_stack(stream, process, thread, &stream->event))
            return STROBE_ERR_NOMEM;
    }
    return STROBE_OK;
}

static enum strobe_err next_block(struct strobe_bridge_stream *stream)
{
    enum strobe_err err = strobe_file_next_block(stream->iter, &stream->block);
    if (err)
        return err;
    stream->offset = stream->block.ref.offset + stream->block.ref.n_bytes;
    stream->part = 0;
    stream->has_block = !strobe_decode_parts(&stream->block, &stream->events) &&
                        !strobe_decode_streams(&stream->block, STROBE_ALL_STREAMS, &stream->events);
    return STROBE_OK;
}

enum strobe_err strobe_bridge_fill(struct strobe_bridge_stream *stream)
{
    while (!strobe_wire_out_full(&stream->out)) {
        enum strobe_err err = STROBE_OK;
        if (stream->held_end)
            strobe_bridge_put_held(stream);
        else if (stream->n_held >= STROBE_BRIDGE_MAX_HELD)
            strobe_bridge_sort_held(stream);
        else if (stream->in_part)
            err = fill_part(stream);
        else if (stream->has_block)
            err = next_part(stream);
        else
            err = next_block(stream);
        if (err == STROBE_ERR_END && strobe_bridge_sort_held(stream))
            err = STROBE_OK;
        if (err)
            return err;
    }
    return STROBE_OK;
}
