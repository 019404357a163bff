/* chrome.c - Chrome's JSON trace format.
 *
 *   zones      X (open ones: B without E)      spans    b and e, by process and id
 *   messages   i                               flows    s, t, f
 *   plots      C                               frames   i, or b and e
 *
 * Times are us with three digits after the point: ns. A pid or tid that two processes or threads
 * had is shown as a made-up number for the later one, so that they stay apart.
 * SPDX-License-Identifier: MIT */
#include "export/chrome.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { MADE_UP_PID = 1000000000, MADE_UP_TID = 1500000000, FIBER_TID = 2000000000 };

/* Numbers that are shown in place of indices: a viewer needs each once. */
struct numbers {
    uint64_t *shown; /* owned: by index, 0: not named yet */
    uint32_t room;
    struct strobe_idmap taken;
};

struct chrome {
    struct strobe_trace *trace; /* borrowed */
    struct strobe_out *out;     /* borrowed */
    struct numbers pids;        /* of processes */
    struct numbers tids;        /* of threads, in each process */
    struct strobe_idmap fibers; /* (process, fiber) that were named */
    uint64_t n;
};

/* A number of ns as us with three digits after the point. */
static void put_us(struct strobe_out *out, uint64_t ns)
{
    strobe_out_u(out, ns / 1000);
    char *at = strobe_out_reserve(out);
    unsigned rest = (unsigned)(ns % 1000);
    at[0] = '.';
    at[1] = (char)('0' + rest / 100);
    at[2] = (char)('0' + rest / 10 % 10);
    at[3] = (char)('0' + rest % 10);
    out->len += 4;
}

/* A tick; times before the start of the recording have a sign. */
static void put_tick(struct chrome *chrome, uint64_t tick)
{
    int64_t ns = strobe_clock_rel(&chrome->trace->clock, tick);
    strobe_out_text(chrome->out, ns < 0 ? ",\"ts\":-" : ",\"ts\":");
    put_us(chrome->out, ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns);
}

static void start(struct chrome *chrome, const char *phase)
{
    strobe_out_text(chrome->out, chrome->n++ ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    strobe_out_text(chrome->out, phase);
    strobe_out_char(chrome->out, '"');
}

static void put_ids(struct chrome *chrome, uint64_t pid, uint64_t tid)
{
    strobe_out_text(chrome->out, ",\"pid\":");
    strobe_out_u(chrome->out, pid);
    strobe_out_text(chrome->out, ",\"tid\":");
    strobe_out_u(chrome->out, tid);
}

static void put_name(struct chrome *chrome, const char *name, uint32_t n)
{
    strobe_out_text(chrome->out, ",\"name\":");
    strobe_out_json(chrome->out, name, n);
}

/* A metadata event that names a process or a thread. */
static void put_metadata(struct chrome *chrome, const char *what, uint64_t pid, uint64_t tid,
                         const char *name, uint32_t n)
{
    start(chrome, "M");
    put_ids(chrome, pid, tid);
    strobe_out_format(chrome->out, ",\"name\":\"%s\",\"args\":{\"name\":", what);
    strobe_out_json(chrome->out, name, n);
    strobe_out_text(chrome->out, "}}");
}

/* The number to show for the one of this index: its own if no other in `scope` has it, else made_up + index. 1: it is new and must
 * be named. 0: it is known, or *out is 0 without memory. */
static int number_of(struct numbers *numbers, uint32_t index, uint32_t scope, uint64_t own,
                     uint64_t made_up, uint64_t *out)
{
    uint32_t before = numbers->taken.n;
    *out = 0;
    if (STROBE_ARRAY_REACH(numbers->shown, numbers->room, index))
        return 0;
    *out = numbers->shown[index];
    if (*out)
        return 0;
    if (!own || own >= MADE_UP_PID || strobe_idmap_add(&numbers->taken, scope, own) != before)
        own = made_up + index;
    *out = numbers->shown[index] = own;
    return 1;
}

static void free_numbers(struct numbers *numbers)
{
    strobe_idmap_free(&numbers->taken);
    free(numbers->shown);
}

static uint64_t pid_of(struct chrome *chrome, uint32_t process)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    uint64_t pid, own = chrome->trace->processes[process].pid;
    if (number_of(&chrome->pids, process, 0, own, MADE_UP_PID, &pid)) {
        const char *name = strobe_trace_process_name(chrome->trace, process, room, &n);
        put_metadata(chrome, "process_name", pid, 0, name, n);
    }
    return pid;
}

static uint64_t tid_of(struct chrome *chrome, uint32_t thread)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    uint64_t tid;
    const struct strobe_trace_thread *row = &chrome->trace->threads[thread];
    if (number_of(&chrome->tids, thread, row->process, row->tid, MADE_UP_TID, &tid)) {
        const char *name = strobe_trace_thread_name(chrome->trace, thread, room, &n);
        put_metadata(chrome, "thread_name", pid_of(chrome, row->process), tid, name, n);
    }
    return tid;
}

static uint64_t fiber_tid(struct chrome *chrome, uint32_t process, uint64_t fiber)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n, before = chrome->fibers.n;
    uint32_t i = strobe_idmap_add(&chrome->fibers, process, fiber);
    uint64_t tid = FIBER_TID + (uint64_t)i;
    if (i == before) {
        const char *name = strobe_trace_fiber_name(chrome->trace, process, fiber, room, &n);
        put_metadata(chrome, "thread_name", pid_of(chrome, process), tid, name, n);
    }
    return tid;
}

/* The name of a zone: what the program called it, else its location. */
static void put_zone_name(struct chrome *chrome, const struct strobe_batch *batch,
                          const struct strobe_zone_row *zone, const struct strobe_note *note,
                          uint32_t *loc)
{
    char room[STROBE_NAME_ROOM];
    uint64_t id;
    uint32_t n;
    *loc = strobe_batch_loc(chrome->trace, batch, zone, &id);
    if (note && note->name) {
        put_name(chrome, note->name, note->n_name);
        return;
    }
    const char *name = strobe_trace_loc_name(chrome->trace, *loc, id, room, &n);
    put_name(chrome, name, n);
}

static void put_args(struct chrome *chrome, uint32_t loc, const struct strobe_note *note,
                     const char *state)
{
    struct strobe_out *out = chrome->out;
    const char *comma = "";
    strobe_out_text(out, ",\"args\":{");
    if (loc != STROBE_IDMAP_NONE) {
        uint32_t n;
        const char *file = strobe_trace_text(chrome->trace, chrome->trace->locs[loc].file, &n);
        strobe_out_text(out, "\"file\":");
        strobe_out_json(out, file, n);
        strobe_out_text(out, ",\"line\":");
        strobe_out_u(out, chrome->trace->locs[loc].line);
        comma = ",";
    }
    if (note && note->text) {
        strobe_out_format(out, "%s\"text\":", comma);
        strobe_out_json(out, note->text, note->n_text);
        comma = ",";
    }
    if (note && note->has_value) {
        strobe_out_format(out, "%s\"value\":%" PRIu64, comma, note->value);
        comma = ",";
    }
    if (state)
        strobe_out_format(out, "%s\"state\":\"%s\"", comma, state);
    strobe_out_text(out, "}}");
}

static void put_zone(struct chrome *chrome, const struct strobe_batch *batch,
                     const struct strobe_zone_row *zone)
{
    static const char *const phases[] = {"X", "B", "X", "i"};
    static const char *const states[] = {NULL, "open", "unfinished", "no_begin"};
    const struct strobe_note *note =
        zone->note && batch->notes ? &batch->notes[zone->note - 1] : NULL;
    uint64_t pid = pid_of(chrome, batch->process);
    uint64_t tid = batch->kind == STROBE_BATCH_FIBER ? fiber_tid(chrome, batch->process, batch->id)
                                                     : tid_of(chrome, batch->thread);
    uint32_t loc;
    start(chrome, phases[zone->state]);
    put_ids(chrome, pid, tid);
    put_tick(chrome, zone->begin);
    if (zone->state == STROBE_ZONE_ENDED || zone->state == STROBE_ZONE_UNFINISHED) {
        strobe_out_text(chrome->out, ",\"dur\":");
        put_us(chrome->out, strobe_clock_span_ns(&chrome->trace->clock, zone->begin, zone->ticks));
    }
    put_zone_name(chrome, batch, zone, note, &loc);
    if (zone->state == STROBE_ZONE_NO_BEGIN)
        strobe_out_text(chrome->out, ",\"s\":\"t\"");
    put_args(chrome, loc, note, states[zone->state]);
}

/* One end of a span or of a long frame. */
static void put_async(struct chrome *chrome, const char *phase, const char *category, uint64_t id,
                      uint32_t process, uint32_t thread, uint64_t tick)
{
    uint64_t tid = tid_of(chrome, thread), pid = pid_of(chrome, process);
    start(chrome, phase);
    put_ids(chrome, pid, tid);
    put_tick(chrome, tick);
    strobe_out_format(chrome->out, ",\"cat\":\"%s\",\"id2\":{\"local\":\"0x%" PRIx64 "\"}",
                      category, id);
}

static void put_span(struct chrome *chrome, const struct strobe_batch *batch,
                     const struct strobe_zone_row *zone)
{
    uint32_t loc;
    if (zone->state != STROBE_ZONE_NO_BEGIN) {
        put_async(chrome, "b", "span", batch->id, batch->process, batch->thread, zone->begin);
        put_zone_name(chrome, batch, zone, NULL, &loc);
        put_args(chrome, loc, NULL, zone->state == STROBE_ZONE_UNFINISHED ? "unfinished" : NULL);
    }
    if (zone->state == STROBE_ZONE_OPEN)
        return;
    put_async(chrome, "e", "span", batch->id, batch->process, batch->thread,
              zone->begin + zone->ticks);
    put_zone_name(chrome, batch, zone, NULL, &loc);
    strobe_out_char(chrome->out, '}');
}

static enum strobe_err put_batch(void *context, const struct strobe_batch *batch)
{
    struct chrome *chrome = context;
    for (uint32_t i = 0; i < batch->n_zones; i++) {
        if (batch->kind == STROBE_BATCH_SPAN)
            put_span(chrome, batch, &batch->zones[i]);
        else
            put_zone(chrome, batch, &batch->zones[i]);
    }
    return chrome->out->error ? STROBE_ERR_IO : STROBE_OK;
}

static void put_instant(struct chrome *chrome, const struct strobe_happening *happening,
                        const char *scope, const char *name, uint64_t n)
{
    uint64_t tid = tid_of(chrome, happening->thread), pid = pid_of(chrome, happening->process);
    start(chrome, "i");
    put_ids(chrome, pid, tid);
    put_tick(chrome, happening->event->tick);
    strobe_out_format(chrome->out, ",\"s\":\"%s\"", scope);
    put_name(chrome, name, (uint32_t)n);
    strobe_out_char(chrome->out, '}');
}

static const char *string_of(struct chrome *chrome, const struct strobe_happening *happening,
                             char *room, uint32_t *n)
{
    return strobe_trace_string(chrome->trace, happening->process, happening->event->fields[0].u,
                               room, n);
}

static void put_plot(struct chrome *chrome, const struct strobe_happening *happening)
{
    const struct strobe_field *value = &happening->event->fields[1];
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    const char *name = string_of(chrome, happening, room, &n);
    uint64_t pid = pid_of(chrome, happening->process);
    start(chrome, "C");
    put_ids(chrome, pid, 0);
    put_tick(chrome, happening->event->tick);
    put_name(chrome, name, n);
    strobe_out_text(chrome->out, ",\"args\":{\"value\":");
    if (happening->event->kind == STROBE_KIND_PLOT_INT)
        strobe_out_i(chrome->out, value->i);
    else if (isfinite(value->d))
        strobe_out_double(chrome->out, value->d);
    else
        strobe_out_text(chrome->out, "null");
    strobe_out_text(chrome->out, "}}");
}

static void put_frame(struct chrome *chrome, const struct strobe_happening *happening)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    const char *name = string_of(chrome, happening, room, &n);
    if (happening->event->kind == STROBE_KIND_FRAME_MARK) {
        put_instant(chrome, happening, "p", n ? name : "frame", n ? n : 5);
        return;
    }
    put_async(chrome, happening->event->kind == STROBE_KIND_FRAME_START ? "b" : "e", "frame",
              happening->event->fields[0].u, happening->process, happening->thread,
              happening->event->tick);
    put_name(chrome, n ? name : "frame", n ? n : 5);
    strobe_out_char(chrome->out, '}');
}

static void put_flow(struct chrome *chrome, const struct strobe_happening *happening)
{
    unsigned kind = happening->event->kind;
    uint64_t tid = tid_of(chrome, happening->thread), pid = pid_of(chrome, happening->process);
    start(chrome, kind == STROBE_KIND_FLOW_BEGIN ? "s" : kind == STROBE_KIND_FLOW_STEP ? "t" : "f");
    put_ids(chrome, pid, tid);
    put_tick(chrome, happening->event->tick);
    strobe_out_format(chrome->out,
                      ",\"cat\":\"flow\",\"name\":\"flow\",\"bp\":\"e\",\"id\":\"0x%" PRIx64 "\"}",
                      happening->event->fields[0].u);
}

static enum strobe_err put_event(void *context, const struct strobe_happening *happening)
{
    struct chrome *chrome = context;
    const struct strobe_field *f = happening->event->fields;
    switch (happening->event->kind) {
    case STROBE_KIND_MESSAGE:
        put_instant(chrome, happening, "t", f[2].text, f[2].u);
        break;
    case STROBE_KIND_PLOT_INT:
    case STROBE_KIND_PLOT_DOUBLE:
        put_plot(chrome, happening);
        break;
    case STROBE_KIND_FRAME_MARK:
    case STROBE_KIND_FRAME_START:
    case STROBE_KIND_FRAME_END:
        put_frame(chrome, happening);
        break;
    default:
        put_flow(chrome, happening);
    }
    return chrome->out->error ? STROBE_ERR_IO : STROBE_OK;
}

static void free_chrome(struct chrome *chrome)
{
    free_numbers(&chrome->pids);
    free_numbers(&chrome->tids);
    strobe_idmap_free(&chrome->fibers);
}

enum strobe_err strobe_chrome_write(struct strobe_trace *trace, struct strobe_out *out,
                                    uint64_t *n_bad_parts)
{
    struct chrome chrome = {.trace = trace, .out = out};
    struct strobe_walk walk = {
        .trace = trace,
        .context = &chrome,
        .zones = put_batch,
        .happens = put_event,
        .kinds = 1ull << STROBE_KIND_MESSAGE | 1ull << STROBE_KIND_PLOT_INT |
                 1ull << STROBE_KIND_PLOT_DOUBLE | 1ull << STROBE_KIND_FRAME_MARK |
                 1ull << STROBE_KIND_FRAME_START | 1ull << STROBE_KIND_FRAME_END |
                 1ull << STROBE_KIND_FLOW_BEGIN | 1ull << STROBE_KIND_FLOW_STEP |
                 1ull << STROBE_KIND_FLOW_END,
        .want_notes = 1,
        .want_fibers = 1,
        .want_spans = 1,
        .want_open = 1,
    };
    strobe_out_text(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (uint32_t i = 0; i < trace->n_processes; i++)
        pid_of(&chrome, i);
    for (uint32_t i = 0; i < trace->thread_ids.n; i++)
        tid_of(&chrome, i);
    enum strobe_err err = strobe_walk_run(&walk);
    strobe_out_text(out, "\n],\"otherData\":{");
    strobe_out_format(out, "\"recorder\":\"strobe %s\"}}\n", STROBE_VERSION);
    *n_bad_parts = walk.n_bad_parts;
    free_chrome(&chrome);
    return err;
}
