/* decode.c - the events of a client, one frame at a time, to the sink.
 *
 * Zones come in runs and have a loop of their own; everything else is a case of decode_one. All fixed
 * sizes are checked before a field is read. A frame that can't be cut into events is given up where it
 * goes wrong: the next frame begins with a whole event again, but references of time may be gone, and
 * then events that need them are set aside until they are back.  Layouts: events.h.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "tracy/internal.h"

enum {
    LONGEST_ZONE_EVENT = 17,
    STACK_KEPT = 255,      /* addresses of a call stack; clients send at most 63 */
    CPU_NOT_KNOWN = 65535, /* of a sample */
    CPU_OF_SWITCH = 65534, /* of a sample that a context switch took */
};
static const int64_t bias_32 = 1 << 16, bias_64 = (1 << 16) + (1ll << 32);

/* ---- time ---- */

/* The time of an event on the trace's clock. What can't be is moved to what can. *own is what the
 * client's clock says beyond that. */
static uint64_t time_of(struct strobe_tracy_session *s, uint64_t raw, int64_t *own)
{
    uint64_t tick = raw;
    *own = 0;
    if (s->own_clock) {
        tick = strobe_own_clock_tick(&s->clock, (int64_t)raw);
        *own = (int64_t)(raw - (uint64_t)strobe_own_clock_time(&s->clock, tick));
        if ((int64_t)raw > (int64_t)s->max_raw)
            s->max_raw = raw;
    }
    if (__builtin_expect(tick - s->tick_low > s->tick_span, 0)) {
        strobe_tracy_remark(s, "times that can't be were moved");
        tick = (int64_t)(tick - s->tick_low) < 0 ? s->tick_low : s->tick_low + s->tick_span;
        *own = 0;
    }
    return tick;
}

void strobe_tracy_put(struct strobe_tracy_session *s, struct strobe_tracy_track *track,
                      uint64_t raw, enum strobe_kind kind, const uint64_t *numbers,
                      const char *text, size_t n)
{
    int64_t own;
    uint64_t tick = time_of(s, raw, &own);
    strobe_tracy_sink_event(s->sink, track, tick, kind, numbers, text, n);
    if (own)
        strobe_tracy_sink_own_time(s->sink, track, own);
}

void strobe_tracy_put_stack(struct strobe_tracy_session *s, struct strobe_tracy_track *track,
                            uint64_t raw, const uint64_t *addresses, uint32_t n)
{
    int64_t own;
    uint64_t tick = time_of(s, raw, &own);
    strobe_tracy_sink_stack(s->sink, track, tick, STROBE_KIND_CALLSTACK, 0, addresses, n);
    strobe_tracy_want_symbols(s, addresses, n);
}

static uint64_t step_thread(struct strobe_tracy_session *s, int64_t difference)
{
    s->last_raw = s->ref_thread += (uint64_t)difference;
    return s->ref_thread;
}

/* A plain difference, which leaves out what the short forms can hold. */
static int64_t unbias(const struct strobe_tracy_session *s, int64_t difference)
{
    return s->table.biased_times && difference >= 0
               ? (int64_t)((uint64_t)difference + (uint64_t)bias_64)
               : difference;
}

static uint64_t step_serial(struct strobe_tracy_session *s, int64_t difference)
{
    s->last_raw = s->ref_serial += (uint64_t)difference;
    return s->ref_serial;
}

static uint64_t absolute(struct strobe_tracy_session *s, const uint8_t *at)
{
    return s->last_raw = get64(at);
}

/* ---- threads and call stacks ---- */

/* The thread of the last ThreadContext, or one that stands for none. */
static struct thread *current(struct strobe_tracy_session *s)
{
    if (!s->current)
        s->current = strobe_tracy_thread(s, 0, s->last_raw);
    return s->current;
}

static struct thread *thread_of(struct strobe_tracy_session *s, uint32_t tid)
{
    if (s->current && s->current->tid == tid)
        return s->current;
    return strobe_tracy_thread(s, tid, s->last_raw);
}

static bool keep_addresses(struct strobe_tracy_session *s, struct addresses *to,
                           const uint8_t *bytes, size_t n)
{
    uint32_t room = to->room;
    n = n < STACK_KEPT ? n : STACK_KEPT;
    if (n > room && !strobe_tracy_grow(s, &to->list, (uint32_t)n - 1, &to->room, 8, STACK_KEPT))
        return false;
    if (n)
        memcpy(to->list, bytes, n * 8);
    to->n = (uint32_t)n;
    return true;
}

static void move_addresses(struct strobe_tracy_session *s, struct addresses *to,
                           struct addresses *from)
{
    if (from->n)
        keep_addresses(s, to, (const uint8_t *)from->list, from->n);
    from->n = 0;
}

/* The call stack that waits goes before its event. */
static void put_waiting(struct strobe_tracy_session *s, struct thread *thread,
                        struct addresses *stack, uint64_t raw)
{
    if (stack->n)
        strobe_tracy_put_stack(s, thread->track, raw, stack->list, stack->n);
    stack->n = 0;
}

/* One frame of a script's stack: an address that stands for its name. */
static uint64_t script_frame(struct strobe_tracy_session *s, uint32_t line, const char *name,
                             size_t n_name, const char *file, size_t n_file)
{
    struct strobe_tracy_loc loc = {
        .line = line, .function = name, .n_function = n_name, .file = file, .n_file = n_file};
    uint64_t id = strobe_tracy_sink_loc(s->sink, &loc), address = 1ull << 63 | id;
    if (s->script_told[id % SCRIPT_CACHE] == id)
        return address;
    s->script_told[id % SCRIPT_CACHE] = id;
    uint64_t numbers[] = {address, 0, line, 0};
    const char *texts[] = {name, file, "script"};
    size_t sizes[] = {n_name, n_file, 6};
    strobe_tracy_sink_record(s->sink, STROBE_META_SYMBOL, numbers, texts, sizes);
    return address;
}

/* CallstackAllocPayload: frames with their names, before the native ones of a payload that came
 * already. */
static void script_stack(struct strobe_tracy_session *s, const uint8_t *bytes, size_t n_bytes)
{
    uint64_t list[STACK_KEPT];
    struct strobe_bytes in = strobe_bytes_over(bytes, n_bytes);
    const uint8_t *count = strobe_get_bytes(&in, 1);
    uint32_t n = 0;
    for (uint32_t i = 0; count && i < *count && n < STACK_KEPT; i++) {
        const uint8_t *line = strobe_get_bytes(&in, 6);
        const uint8_t *name = line ? strobe_get_bytes(&in, get16(line + 4)) : NULL;
        const uint8_t *n_file = name ? strobe_get_bytes(&in, 2) : NULL;
        const uint8_t *file = n_file ? strobe_get_bytes(&in, get16(n_file)) : NULL;
        if (!file)
            break;
        list[n++] = script_frame(s, get32(line), (const char *)name, get16(line + 4),
                                 (const char *)file, get16(n_file));
    }
    if (in.bad)
        strobe_tracy_remark(s, "a script's call stack is cut off");
    for (uint32_t i = 0; i < s->payload.n && n < STACK_KEPT; i++)
        list[n++] = s->payload.list[i];
    keep_addresses(s, &s->payload, (const uint8_t *)list, n);
}

/* ---- zones ---- */

static inline uint64_t loc_of(struct strobe_tracy_session *s, uint64_t pointer)
{
    struct loc_cached *cached = &s->loc_cache[(pointer >> 4 ^ pointer >> 11) % LOC_CACHE];
    if (__builtin_expect(cached->pointer != pointer || !cached->id, 0))
        *cached = (struct loc_cached){pointer, strobe_tracy_loc(s, pointer)};
    return cached->id;
}

static void begin_zone(struct strobe_tracy_session *s, uint64_t raw, uint64_t loc, bool with_stack)
{
    struct thread *thread = current(s);
    int64_t own;
    if (!thread || s->lost_thread) {
        strobe_tracy_set_aside(s, thread, "a zone of a thread that is not known");
        return;
    }
    if (with_stack)
        put_waiting(s, thread, &thread->stack, raw);
    uint64_t tick = time_of(s, raw, &own);
    strobe_tracy_sink_zone_begin(s->sink, thread->track, tick, loc);
    if (own)
        strobe_tracy_sink_own_time(s->sink, thread->track, own);
    s->n_zones++;
}

static void end_zone(struct strobe_tracy_session *s, uint64_t raw)
{
    struct thread *thread = current(s);
    int64_t own;
    if (!thread || s->lost_thread) {
        strobe_tracy_set_aside(s, thread, "a zone of a thread that is not known");
        return;
    }
    uint64_t tick = time_of(s, raw, &own);
    if (!strobe_tracy_sink_zone_end(s->sink, thread->track, tick))
        strobe_tracy_remark(s, "a zone ends that was not begun");
    if (own)
        strobe_tracy_sink_own_time(s->sink, thread->track, own);
}

/* A run of begins and ends without call stacks, on the trace's own clock: the fast way. Where it
 * stopped; at `at` itself there was none that it takes. */
static const uint8_t *decode_zones(struct strobe_tracy_session *s, const uint8_t *at,
                                   const uint8_t *end)
{
    struct strobe_zone_step steps[STEPS];
    struct strobe_tracy_track *track = s->current->track;
    const uint8_t *forms = s->zone_form;
    uint64_t ref = s->ref_thread, n_ends = 0;
    const uint64_t low = s->tick_low, span = s->tick_span;
    uint32_t n = 0, n_all = 0;
    for (bool more = true; more;) {
        for (n = 0; n < STEPS; n++) {
            uint64_t pointer = 0, tick = ref;
            uint32_t form = more && end - at >= LONGEST_ZONE_EVENT ? forms[*at] : ZONE_FORM_NONE,
                     size;
            if (form == ZONE_FORM_END_16) {
                tick += get16(at + 1);
                size = 3;
            } else if (form == ZONE_FORM_BEGIN_16) {
                tick += get16(at + 1);
                pointer = get64(at + 3);
                size = 11;
            } else if (form == ZONE_FORM_END_64) {
                tick += (uint64_t)unbias(s, (int64_t)get64(at + 1));
                size = 9;
            } else if (form == ZONE_FORM_BEGIN_64) {
                tick += (uint64_t)unbias(s, (int64_t)get64(at + 1));
                pointer = get64(at + 9);
                size = 17;
            } else if (form == ZONE_FORM_END_32) {
                tick += get32(at + 1) + (uint64_t)bias_32;
                size = 5;
            } else if (form == ZONE_FORM_BEGIN_32) {
                tick += get32(at + 1) + (uint64_t)bias_32;
                pointer = get64(at + 5);
                size = 13;
            } else {
                more = false;
                break;
            }
            if (__builtin_expect(tick - low > span, 0)) {
                more = false;
                break;
            }
            bool is_end = form & 1;
            steps[n] =
                (struct strobe_zone_step){tick, is_end ? STROBE_STEP_END : loc_of(s, pointer)};
            n_ends += is_end;
            ref = tick;
            at += size;
        }
        strobe_tracy_sink_steps(s->sink, track, steps, n);
        n_all += n;
    }
    s->last_raw = s->ref_thread = ref;
    s->n_events += n_all;
    s->n_zones += n_all - n_ends;
    return at;
}

/* SourceLocationPayload: colour, line, function NUL, file NUL, name. */
static void payload_loc(struct strobe_tracy_session *s, const uint8_t *bytes, size_t n)
{
    if (n < 10) {
        strobe_tracy_remark(s, "a source location is cut off");
        return;
    }
    const char *function = (const char *)bytes + 8, *end = (const char *)bytes + n;
    const char *file = memchr(function, 0, (size_t)(end - function));
    const char *name = file ? memchr(file + 1, 0, (size_t)(end - file - 1)) : NULL;
    if (!name) {
        strobe_tracy_remark(s, "a source location is cut off");
        return;
    }
    struct strobe_tracy_loc loc = {
        .color = get32(bytes) & 0xffffff,
        .line = get32(bytes + 4),
        .function = function,
        .n_function = (size_t)(file - function),
        .file = file + 1,
        .n_file = (size_t)(name - file - 1),
        .name = name + 1,
        .n_name = (size_t)(end - name - 1),
    };
    s->next_loc = strobe_tracy_sink_loc(s->sink, &loc);
    s->has_next_loc = true;
}

static uint64_t take_loc(struct strobe_tracy_session *s)
{
    if (!s->has_next_loc)
        return strobe_tracy_loc(s, 0);
    s->has_next_loc = false;
    return s->next_loc;
}

/* ZoneText, ZoneName, ZoneColor, ZoneValue: of the innermost zone. They carry no time. */
static void zone_note(struct strobe_tracy_session *s, enum strobe_kind kind, uint64_t number)
{
    struct thread *thread = current(s);
    if (!thread || s->lost_thread) {
        strobe_tracy_set_aside(s, thread, "a zone of a thread that is not known");
        return;
    }
    strobe_tracy_put(s, thread->track, s->ref_thread ? s->ref_thread : s->last_raw, kind, &number,
                     s->single.bytes, s->single.n);
    s->single.n = 0;
}

/* ---- messages, plots, frames ---- */

/* Severity of a message by its metadata byte; 512: the client knows none. */
static uint64_t severity_of(const struct strobe_tracy_session *s, uint8_t meta)
{
    if (!s->table.message_has_meta)
        return 2 + 512;
    return (uint64_t)(meta >> 4) + (meta & 15 ? 256 : 0);
}

static void message(struct strobe_tracy_session *s, const uint8_t *fields, bool colored,
                    bool with_stack)
{
    struct thread *thread = current(s);
    uint64_t raw = absolute(s, fields);
    uint8_t meta = s->table.message_has_meta ? fields[colored ? 11 : 8] : 0;
    uint64_t numbers[] = {severity_of(s, meta), colored ? get_color(fields + 8) : 0};
    if (!thread)
        return strobe_tracy_set_aside(s, NULL, "no room for another thread");
    if (with_stack)
        put_waiting(s, thread, &thread->stack, raw);
    strobe_tracy_put(s, thread->track, raw, STROBE_KIND_MESSAGE, numbers, s->single.bytes,
                     s->single.n);
    s->single.n = 0;
}

/* A copy of the waiting call stack, for an event that is held. */
static void take_stack(struct held *held, struct addresses *stack)
{
    enum { MOST = 64 };
    uint32_t n = stack->n < MOST ? stack->n : MOST;
    stack->n = 0;
    held->stack = n ? malloc(n * sizeof *held->stack) : NULL;
    if (!held->stack)
        return;
    memcpy(held->stack, stack->list, n * sizeof *held->stack);
    held->n_stack = n;
}

static void literal(struct strobe_tracy_session *s, const uint8_t *fields, bool colored,
                    bool with_stack)
{
    uint64_t field = get64(fields + (colored ? 11 : 8));
    uint32_t protocol = s->table.protocol;
    uint8_t meta = (uint8_t)(protocol >= 79 ? field : field >> 56);
    struct held held = {
        .kind = STROBE_KIND_MESSAGE,
        .raw = absolute(s, fields),
        .pointer = protocol >= 79   ? field >> 8
                   : protocol >= 77 ? field & 0xffffffffffffff
                                    : field,
        .numbers = {severity_of(s, meta), colored ? get_color(fields + 8) : 0},
        .thread = current(s),
    };
    if (!held.thread)
        return strobe_tracy_set_aside(s, NULL, "no room for another thread");
    if (with_stack)
        take_stack(&held, &held.thread->stack);
    strobe_tracy_hold(s, &held);
}

/* An event of the current thread at a time. */
static void put_current(struct strobe_tracy_session *s, uint64_t raw, enum strobe_kind kind,
                        const uint64_t *numbers, const char *text, size_t n)
{
    struct thread *thread = current(s);
    if (thread)
        strobe_tracy_put(s, thread->track, raw, kind, numbers, text, n);
    else
        strobe_tracy_set_aside(s, NULL, "no room for another thread");
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double float_at(const uint8_t *at)
{
    float value;
    memcpy(&value, at, sizeof value);
    return value;
}

enum plot_type { PLOT_FLOAT = 0, PLOT_DOUBLE = 1, PLOT_INT = 2 };

static void plot(struct strobe_tracy_session *s, const uint8_t *fields, const uint8_t *value,
                 enum plot_type type)
{
    uint64_t raw = step_thread(s, (int64_t)get64(fields + 8));
    if (s->lost_thread)
        return strobe_tracy_set_aside(s, NULL, "a plot of a thread that is not known");
    uint64_t numbers[] = {strobe_tracy_name(s, SPACE_PLOT, get64(fields)),
                          type == PLOT_FLOAT ? bits_of(float_at(value)) : get64(value)};
    put_current(s, raw, type == PLOT_INT ? STROBE_KIND_PLOT_INT : STROBE_KIND_PLOT_DOUBLE, numbers,
                NULL, 0);
}

static void plot_config(struct strobe_tracy_session *s, const uint8_t *fields)
{
    bool full = s->table.protocol >= 59;
    uint64_t no_fill = full && !fields[10] ? 256 : 0;
    uint64_t numbers[] = {strobe_tracy_name(s, SPACE_PLOT, get64(fields)), fields[8] | no_fill,
                          full ? fields[9] : 0, full ? get32(fields + 11) : 0};
    strobe_tracy_sink_record(s->sink, STROBE_META_PLOT_CONFIG, numbers, NULL, NULL);
}

/* The client's own measurement of the machine: a plot of percents. */
static void cpu_usage(struct strobe_tracy_session *s, const uint8_t *fields)
{
    if (!s->cpu_plot) {
        s->cpu_plot = strobe_tracy_sink_string(s->sink, "CPU usage", 9);
        uint64_t config[] = {s->cpu_plot, 2, 0, 0};
        strobe_tracy_sink_record(s->sink, STROBE_META_PLOT_CONFIG, config, NULL, NULL);
    }
    uint64_t numbers[] = {s->cpu_plot, bits_of(float_at(fields + 8))};
    put_current(s, absolute(s, fields), STROBE_KIND_PLOT_DOUBLE, numbers, NULL, 0);
}

static void power(struct strobe_tracy_session *s, const uint8_t *fields)
{
    uint64_t numbers[] = {strobe_tracy_name(s, SPACE_STRING, get64(fields + 16)),
                          get64(fields + 8)};
    put_current(s, absolute(s, fields), STROBE_KIND_PLOT_INT, numbers, NULL, 0);
}

static void frame(struct strobe_tracy_session *s, const uint8_t *fields, enum strobe_kind kind)
{
    uint64_t name = strobe_tracy_name(s, SPACE_FRAME, get64(fields + 8));
    put_current(s, absolute(s, fields), kind, &name, NULL, 0);
}

static void frame_image(struct strobe_tracy_session *s, const uint8_t *fields)
{
    uint64_t numbers[] = {get32(fields) - s->on_demand_frames, get16(fields + 4), get16(fields + 6),
                          fields[8]};
    put_current(s, s->last_raw, STROBE_KIND_FRAME_IMAGE, numbers, s->image.bytes, s->image.n);
    s->image.n = 0;
}

/* ---- memory and locks: the serial queue ---- */

static bool serial_is_lost(struct strobe_tracy_session *s)
{
    if (s->lost_others)
        strobe_tracy_set_aside(s, NULL, "its time refers to an event that was damaged");
    return s->lost_others;
}

static void memory(struct strobe_tracy_session *s, const uint8_t *fields, enum strobe_kind kind,
                   bool named, bool with_stack)
{
    uint64_t raw = step_serial(s, (int64_t)get64(fields));
    struct thread *thread = thread_of(s, get32(fields + 8));
    uint64_t pool = kind == STROBE_KIND_MEM_DISCARD ? get64(fields + 12) : named ? s->next_pool : 0;
    if (serial_is_lost(s))
        return;
    if (!thread)
        return strobe_tracy_set_aside(s, NULL, "no room for another thread");
    if (with_stack)
        put_waiting(s, thread, &s->serial_stack, raw);
    uint64_t numbers[] = {strobe_tracy_name(s, SPACE_STRING, pool), get64(fields + 12), 0};
    if (kind == STROBE_KIND_MEM_ALLOC)
        numbers[2] = get32(fields + 20) | (uint64_t)get16(fields + 24) << 32;
    strobe_tracy_put(s, thread->track, raw, kind, numbers, NULL, 0);
}

static void lock(struct strobe_tracy_session *s, uint32_t tid, uint32_t id, int64_t difference,
                 enum strobe_kind kind, bool shared)
{
    uint64_t raw = step_serial(s, difference);
    struct thread *thread = thread_of(s, tid);
    uint64_t numbers[] = {id, shared};
    if (serial_is_lost(s))
        return;
    if (!thread)
        return strobe_tracy_set_aside(s, NULL, "no room for another thread");
    struct entry *entry =
        kind == STROBE_KIND_LOCK_OBTAIN && !shared ? strobe_tracy_entry(s, SPACE_LOCK, id) : NULL;
    if (entry)
        entry->id = tid;
    strobe_tracy_put(s, thread->track, raw, kind, numbers, NULL, 0);
}

/* From protocol 58 on a release names no thread: it is that of whoever holds the lock. */
static void lock_release(struct strobe_tracy_session *s, const uint8_t *fields)
{
    if (s->table.protocol < 58)
        return lock(s, get32(fields), get32(fields + 4), (int64_t)get64(fields + 8),
                    STROBE_KIND_LOCK_RELEASE, false);
    const struct entry *entry = strobe_tracy_find(s, SPACE_LOCK, get32(fields));
    lock(s, entry ? (uint32_t)entry->id : 0, get32(fields), (int64_t)get64(fields + 4),
         STROBE_KIND_LOCK_RELEASE, false);
}

static void lock_shared_release(struct strobe_tracy_session *s, const uint8_t *fields)
{
    if (s->table.protocol < 58)
        lock(s, get32(fields), get32(fields + 4), (int64_t)get64(fields + 8),
             STROBE_KIND_LOCK_RELEASE, true);
    else
        lock(s, get32(fields + 12), get32(fields), (int64_t)get64(fields + 4),
             STROBE_KIND_LOCK_RELEASE, true);
}

static void lock_announce(struct strobe_tracy_session *s, const uint8_t *fields)
{
    uint32_t id = get32(fields);
    uint64_t loc = strobe_tracy_loc(s, get64(fields + 12));
    struct entry *entry = strobe_tracy_entry(s, SPACE_LOCK, id);
    if (entry)
        entry->more = loc;
    uint64_t kind[] = {id, fields[20], absolute(s, fields + 4)};
    strobe_tracy_sink_record(s->sink, STROBE_META_LOCK_KIND, kind, NULL, NULL);
    uint64_t numbers[] = {id, loc};
    const struct entry *named = strobe_tracy_find(s, SPACE_LOCK_NAME, id);
    const char *name = named ? named->text : NULL;
    size_t n_name = named ? named->n_text : 0;
    strobe_tracy_sink_record(s->sink, STROBE_META_LOCK_NAME, numbers, &name, &n_name);
}

static void lock_name(struct strobe_tracy_session *s, const uint8_t *fields)
{
    const struct entry *entry = strobe_tracy_find(s, SPACE_LOCK, get32(fields));
    uint64_t numbers[] = {get32(fields), entry ? entry->more : 0};
    const char *name = s->single.bytes;
    strobe_tracy_sink_record(s->sink, STROBE_META_LOCK_NAME, numbers, &name, &s->single.n);
    struct entry *named = strobe_tracy_entry(s, SPACE_LOCK_NAME, get32(fields));
    if (named) /* the lock may be announced later: other queues come in between */
        strobe_tracy_keep_text(s, named, name, s->single.n);
    s->single.n = 0;
}

static void lock_mark(struct strobe_tracy_session *s, const uint8_t *fields)
{
    struct thread *thread = thread_of(s, get32(fields));
    uint64_t numbers[] = {get32(fields + 4), strobe_tracy_loc(s, get64(fields + 8))};
    if (thread)
        strobe_tracy_put(s, thread->track, s->ref_serial ? s->ref_serial : s->last_raw,
                         STROBE_KIND_LOCK_MARK, numbers, NULL, 0);
    else
        strobe_tracy_set_aside(s, NULL, "no room for another thread");
}

/* ---- GPU ---- */

static void put_gpu(struct strobe_tracy_session *s, uint8_t context, uint64_t raw,
                    enum strobe_kind kind, const uint64_t *numbers)
{
    int64_t own;
    struct strobe_tracy_track *track =
        strobe_tracy_sink_gpu(s->sink, context, time_of(s, raw, &own));
    if (track)
        strobe_tracy_put(s, track, raw, kind, numbers, NULL, 0);
    else
        strobe_tracy_set_aside(s, NULL, "no room for another GPU context");
}

static void gpu_context(struct strobe_tracy_session *s, const uint8_t *fields)
{
    uint64_t numbers[] = {fields[24],
                          fields[26],
                          fields[25] & 1,
                          get32(fields + 16),
                          absolute(s, fields),
                          get64(fields + 8),
                          bits_of(float_at(fields + 20))};
    strobe_tracy_sink_record(s->sink, STROBE_META_GPU_CONTEXT, numbers, NULL, NULL);
}

static void gpu_zone(struct strobe_tracy_session *s, const uint8_t *fields, bool begin, bool serial,
                     bool alloc, bool with_stack)
{
    int64_t difference = (int64_t)get64(fields);
    uint64_t raw = serial ? step_serial(s, difference) : step_thread(s, difference);
    uint32_t tid = get32(fields + 8);
    uint8_t context = fields[14];
    uint64_t numbers[] = {context, get16(fields + 12), tid, 0};
    if (serial ? s->lost_others : s->lost_thread)
        return strobe_tracy_set_aside(s, NULL, "its time refers to an event that was damaged");
    if (begin)
        numbers[3] = alloc ? take_loc(s) : strobe_tracy_loc(s, get64(fields + 15));
    struct thread *thread = with_stack ? (serial ? thread_of(s, tid) : current(s)) : NULL;
    struct addresses *stack = serial ? &s->serial_stack : thread ? &thread->stack : NULL;
    if (thread && stack->n) {
        int64_t own;
        struct strobe_tracy_track *track =
            strobe_tracy_sink_gpu(s->sink, context, time_of(s, raw, &own));
        if (track)
            strobe_tracy_put_stack(s, track, raw, stack->list, stack->n);
        stack->n = 0;
    }
    put_gpu(s, context, raw, begin ? STROBE_KIND_GPU_BEGIN : STROBE_KIND_GPU_END, numbers);
}

static void gpu_time(struct strobe_tracy_session *s, const uint8_t *fields)
{
    s->ref_gpu += get64(fields);
    uint64_t numbers[] = {fields[10], get16(fields + 8), s->ref_gpu};
    if (!serial_is_lost(s))
        put_gpu(s, fields[10], s->last_raw, STROBE_KIND_GPU_TIME, numbers);
}

static void gpu_calibration(struct strobe_tracy_session *s, const uint8_t *fields)
{
    uint64_t raw = absolute(s, fields + 8);
    uint64_t numbers[] = {fields[24], get64(fields), raw, get64(fields + 16)};
    put_gpu(s, fields[24], raw, STROBE_KIND_GPU_CALIBRATION, numbers);
}

static void gpu_sync(struct strobe_tracy_session *s, const uint8_t *fields)
{
    uint64_t raw = absolute(s, fields + 8);
    uint64_t numbers[] = {fields[16], get64(fields), raw};
    put_gpu(s, fields[16], raw, STROBE_KIND_GPU_SYNC, numbers);
}

static void gpu_name(struct strobe_tracy_session *s, const uint8_t *fields)
{
    int64_t own;
    uint64_t context = fields[0];
    const char *name = s->single.bytes;
    strobe_tracy_sink_record(s->sink, STROBE_META_GPU_NAME, &context, &name, &s->single.n);
    struct strobe_tracy_track *track =
        strobe_tracy_sink_gpu(s->sink, fields[0], time_of(s, s->last_raw, &own));
    if (track)
        strobe_tracy_sink_thread_name(s->sink, track, name, s->single.n);
    s->single.n = 0;
}

static void gpu_note_name(struct strobe_tracy_session *s, const uint8_t *fields)
{
    uint64_t numbers[] = {fields[8], get64(fields)};
    const char *name = s->single.bytes;
    strobe_tracy_sink_record(s->sink, STROBE_META_GPU_NOTE_NAME, numbers, &name, &s->single.n);
    s->single.n = 0;
}

static void gpu_note(struct strobe_tracy_session *s, const uint8_t *fields)
{
    bool has_tid = s->table.protocol >= 76;
    const uint8_t *rest = fields + (has_tid ? 20 : 16);
    uint64_t numbers[] = {rest[2], get16(rest), has_tid ? get32(fields + 16) : 0, get64(fields),
                          get64(fields + 8)};
    put_gpu(s, rest[2], s->last_raw, STROBE_KIND_GPU_NOTE, numbers);
}

/* ---- what the system did ---- */

/* 0 is no time at all: such events are put where the last one was. */
static uint64_t step_ctx(struct strobe_tracy_session *s, int64_t difference)
{
    s->ref_ctx += (uint64_t)difference;
    return s->ref_ctx ? (s->last_raw = s->ref_ctx) : s->last_raw;
}

static void sample(struct strobe_tracy_session *s, uint32_t tid, int64_t difference, bool of_switch)
{
    uint64_t raw = step_ctx(s, difference);
    struct thread *thread = thread_of(s, tid);
    struct addresses *stack = &s->payload;
    int64_t own;
    if (serial_is_lost(s) || !thread) {
        stack->n = 0;
        if (!thread)
            strobe_tracy_set_aside(s, NULL, "no room for another thread");
        return;
    }
    uint64_t tick = time_of(s, raw, &own);
    strobe_tracy_sink_stack(s->sink, thread->track, tick, STROBE_KIND_SAMPLE,
                            of_switch ? CPU_OF_SWITCH : CPU_NOT_KNOWN, stack->list, stack->n);
    if (own)
        strobe_tracy_sink_own_time(s->sink, thread->track, own);
    strobe_tracy_want_symbols(s, stack->list, stack->n);
    stack->n = 0;
}

/* Samples, by the order of their fields and the width of their time. */
static void any_sample(struct strobe_tracy_session *s, enum strobe_tracy_event event,
                       const uint8_t *fields)
{
    bool of_switch = event >= STROBE_TRACY_CALLSTACK_SAMPLE_CONTEXT_SWITCH;
    if (event == STROBE_TRACY_CALLSTACK_SAMPLE_16 ||
        event == STROBE_TRACY_CALLSTACK_SAMPLE_CONTEXT_SWITCH_16)
        sample(s, get32(fields), get16(fields + 4), of_switch);
    else if (event == STROBE_TRACY_CALLSTACK_SAMPLE_32 ||
             event == STROBE_TRACY_CALLSTACK_SAMPLE_CONTEXT_SWITCH_32)
        sample(s, get32(fields), get32(fields + 4) + bias_32, of_switch);
    else if (s->table.biased_times)
        sample(s, get32(fields), unbias(s, (int64_t)get64(fields + 4)), of_switch);
    else
        sample(s, get32(fields + 8), (int64_t)get64(fields), of_switch);
}

/* Events of the system go on the track that stands for no thread. */
static void put_system(struct strobe_tracy_session *s, uint64_t raw, enum strobe_kind kind,
                       const uint64_t *numbers)
{
    struct thread *thread = thread_of(s, 0);
    if (thread)
        strobe_tracy_put(s, thread->track, raw, kind, numbers, NULL, 0);
    else
        strobe_tracy_set_aside(s, NULL, "no room for another thread");
}

static void context_switch(struct strobe_tracy_session *s, const uint8_t *fields)
{
    uint64_t raw = step_ctx(s, (int64_t)get64(fields));
    bool full = s->table.protocol >= 73;
    uint64_t numbers[] = {fields[16],
                          get32(fields + 8),
                          get32(fields + 12),
                          fields[17],
                          fields[18],
                          full ? fields[19] : 0,
                          full ? (uint64_t)(int8_t)fields[20] : 0,
                          full ? (uint64_t)(int8_t)fields[21] : 0};
    if (serial_is_lost(s))
        return;
    put_system(s, raw, STROBE_KIND_CPU_SWITCH, numbers);
    strobe_tracy_want_external(s, numbers[2]);
}

static void wakeup(struct strobe_tracy_session *s, const uint8_t *fields)
{
    uint64_t raw = step_ctx(s, (int64_t)get64(fields));
    bool full = s->table.protocol >= 73;
    uint64_t numbers[] = {get32(fields + 8), full ? fields[12] : 0,
                          full ? (uint64_t)(int8_t)fields[13] : 0,
                          full ? (uint64_t)(int8_t)fields[14] : 0};
    if (!serial_is_lost(s))
        put_system(s, raw, STROBE_KIND_WAKEUP, numbers);
}

static void hw_sample(struct strobe_tracy_session *s, const uint8_t *fields, uint64_t counter)
{
    uint64_t raw = get64(fields + 8), numbers[] = {counter, get64(fields)};
    put_system(s, raw ? raw : s->last_raw, STROBE_KIND_HW_SAMPLE, numbers);
}

static void tid_to_pid(struct strobe_tracy_session *s, const uint8_t *fields)
{
    uint64_t numbers[] = {get64(fields), get64(fields + 8)};
    const char *texts[] = {"", ""};
    size_t sizes[] = {0, 0};
    struct entry *entry = strobe_tracy_entry(s, SPACE_EXTERNAL, numbers[0]);
    if (entry)
        entry->id = numbers[1];
    strobe_tracy_sink_record(s->sink, STROBE_META_FOREIGN_THREAD, numbers, texts, sizes);
}

static void topology(struct strobe_tracy_session *s, const uint8_t *fields)
{
    bool has_die = s->table.protocol >= 69;
    const uint8_t *rest = fields + (has_die ? 8 : 4);
    uint64_t numbers[] = {get32(fields), has_die ? get32(fields + 4) : 0, get32(rest),
                          get32(rest + 4)};
    strobe_tracy_sink_record(s->sink, STROBE_META_CPU, numbers, NULL, NULL);
}

/* ---- fibers, sections, crashes, parameters, symbols ---- */

static void fiber(struct strobe_tracy_session *s, const uint8_t *fields, bool enter)
{
    uint64_t raw = step_thread(s, (int64_t)get64(fields));
    struct thread *thread = thread_of(s, get32(fields + (enter ? 16 : 8)));
    int64_t own;
    if (!thread || s->lost_thread)
        return strobe_tracy_set_aside(s, thread, "a fiber of a thread that is not known");
    uint64_t tick = time_of(s, raw, &own);
    strobe_tracy_sink_fiber(s->sink, thread->track, tick,
                            enter ? strobe_tracy_fiber(s, get64(fields + 8)) : 0);
    if (own)
        strobe_tracy_sink_own_time(s->sink, thread->track, own);
}

static void section(struct strobe_tracy_session *s, const uint8_t *fields, bool enter)
{
    uint64_t raw = step_thread(s, (int64_t)get64(fields));
    bool has_category = enter && s->table.protocol >= 82;
    uint64_t numbers[] = {get32(fields + 8), has_category ? get16(fields + 12) : 0};
    if (s->lost_thread)
        return strobe_tracy_set_aside(s, NULL, "a section of a thread that is not known");
    if (!enter)
        return put_current(s, raw, STROBE_KIND_SECTION_LEAVE, numbers, NULL, 0);
    put_current(s, raw, STROBE_KIND_SECTION_ENTER, numbers, s->single.bytes, s->single.n);
    s->single.n = 0;
}

static void section_name(struct strobe_tracy_session *s, const uint8_t *fields)
{
    uint64_t category = get16(fields);
    const char *name = s->single.bytes;
    strobe_tracy_sink_record(s->sink, STROBE_META_SECTION_NAME, &category, &name, &s->single.n);
    s->single.n = 0;
}

static void crash(struct strobe_tracy_session *s, const uint8_t *fields)
{
    struct held held = {.kind = STROBE_KIND_CRASH,
                        .raw = absolute(s, fields),
                        .pointer = get64(fields + 8),
                        .thread = current(s)};
    s->crashed = true;
    if (!held.thread)
        return strobe_tracy_set_aside(s, NULL, "no room for another thread");
    take_stack(&held, &held.thread->stack);
    strobe_tracy_hold(s, &held);
}

static void parameter(struct strobe_tracy_session *s, const uint8_t *fields)
{
    struct held held = {
        .kind = STROBE_META_PARAMETER,
        .pointer = get64(fields + 4),
        .numbers = {get32(fields), fields[12], (uint64_t)(int32_t)get32(fields + 13)}};
    strobe_tracy_hold(s, &held);
}

static void symbol_frame(struct strobe_tracy_session *s, const uint8_t *fields)
{
    if (!s->n_symbol_frames) {
        s->n_unasked++;
        return;
    }
    s->n_symbol_frames--;
    uint64_t numbers[] = {s->symbol_address, s->symbol_inlined++, get32(fields), get64(fields + 4)};
    const char *texts[] = {s->single.bytes, s->second.bytes, s->symbol_image.bytes};
    size_t sizes[] = {s->single.n, s->second.n, s->symbol_image.n};
    strobe_tracy_sink_record(s->sink, STROBE_META_SYMBOL, numbers, texts, sizes);
    s->single.n = s->second.n = 0;
}

static void thread_context(struct strobe_tracy_session *s, const uint8_t *fields)
{
    uint32_t tid = get32(fields);
    s->ref_thread = 0;
    s->lost_thread = false;
    if (!s->current || s->current->tid != tid)
        s->current = strobe_tracy_thread(s, tid, s->last_raw);
    s->lost_thread = !s->current;
}

static void thread_group(struct strobe_tracy_session *s, const uint8_t *fields)
{
    struct thread *thread = thread_of(s, get32(fields));
    if (!thread)
        return;
    uint64_t numbers[] = {strobe_tracy_track_id(thread->track),
                          (uint64_t)(int32_t)get32(fields + 4)};
    strobe_tracy_sink_record(s->sink, STROBE_META_THREAD_GROUP, numbers, NULL, NULL);
}

/* ---- one event ---- */

/* An event with bytes of any length at its end. */
static void with_tail(struct strobe_tracy_session *s, enum strobe_tracy_event event,
                      const uint8_t *fields, const uint8_t *bytes, size_t n)
{
    const char *text = (const char *)bytes;
    switch (event) {
    case STROBE_TRACY_SINGLE_STRING_DATA:
    case STROBE_TRACY_SINGLE_STRING_DATA_8:
        strobe_tracy_text_set(s, &s->single, bytes, n);
        break;
    case STROBE_TRACY_SECOND_STRING_DATA:
    case STROBE_TRACY_SECOND_STRING_DATA_8:
        strobe_tracy_text_set(s, &s->second, bytes, n);
        break;
    case STROBE_TRACY_STRING_DATA:
        strobe_tracy_got_text(s, SPACE_STRING, get64(fields), text, n);
        break;
    case STROBE_TRACY_THREAD_NAME:
        strobe_tracy_got_text(s, SPACE_THREAD, get64(fields), text, n);
        break;
    case STROBE_TRACY_PLOT_NAME:
        strobe_tracy_got_text(s, SPACE_PLOT, get64(fields), text, n);
        break;
    case STROBE_TRACY_FRAME_NAME:
        strobe_tracy_got_text(s, SPACE_FRAME, get64(fields), text, n);
        break;
    case STROBE_TRACY_FIBER_NAME:
        strobe_tracy_got_text(s, SPACE_FIBER, get64(fields), text, n);
        break;
    case STROBE_TRACY_EXTERNAL_NAME:
        strobe_tracy_got_text(s, SPACE_EXTERNAL, get64(fields), text, n);
        break;
    case STROBE_TRACY_EXTERNAL_THREAD_NAME:
        strobe_tracy_got_thread_of(s, get64(fields), text, n);
        break;
    case STROBE_TRACY_SOURCE_LOCATION_PAYLOAD:
        payload_loc(s, bytes, n);
        break;
    case STROBE_TRACY_CALLSTACK_PAYLOAD:
        keep_addresses(s, &s->payload, bytes, n / 8);
        break;
    case STROBE_TRACY_CALLSTACK_ALLOC_PAYLOAD:
        script_stack(s, bytes, n);
        break;
    case STROBE_TRACY_FRAME_IMAGE_DATA:
        strobe_tracy_text_set(s, &s->image, bytes, n);
        break;
    default: /* code and sources are never asked for */
        s->n_unasked++;
    }
}

/* Where a thread's next call stack goes. */
static void bind_stack(struct strobe_tracy_session *s, bool serial)
{
    struct thread *thread = serial ? NULL : current(s);
    if (serial)
        move_addresses(s, &s->serial_stack, &s->payload);
    else if (thread)
        move_addresses(s, &thread->stack, &s->payload);
}

static void zone_event(struct strobe_tracy_session *s, enum strobe_tracy_event event,
                       const uint8_t *fields)
{
    bool with_stack = event >= STROBE_TRACY_ZONE_BEGIN_CALLSTACK;
    switch (event) {
    case STROBE_TRACY_ZONE_BEGIN:
    case STROBE_TRACY_ZONE_BEGIN_CALLSTACK:
        step_thread(s, unbias(s, (int64_t)get64(fields)));
        begin_zone(s, s->ref_thread, loc_of(s, get64(fields + 8)), with_stack);
        break;
    case STROBE_TRACY_ZONE_BEGIN_32:
    case STROBE_TRACY_ZONE_BEGIN_CALLSTACK_32:
        step_thread(s, get32(fields) + bias_32);
        begin_zone(s, s->ref_thread, loc_of(s, get64(fields + 4)), with_stack);
        break;
    case STROBE_TRACY_ZONE_BEGIN_16:
    case STROBE_TRACY_ZONE_BEGIN_CALLSTACK_16:
        step_thread(s, get16(fields));
        begin_zone(s, s->ref_thread, loc_of(s, get64(fields + 2)), with_stack);
        break;
    case STROBE_TRACY_ZONE_END:
        end_zone(s, step_thread(s, unbias(s, (int64_t)get64(fields))));
        break;
    case STROBE_TRACY_ZONE_END_32:
        end_zone(s, step_thread(s, get32(fields) + bias_32));
        break;
    default:
        end_zone(s, step_thread(s, get16(fields)));
    }
}

static void gpu_zone_event(struct strobe_tracy_session *s, enum strobe_tracy_event event,
                           const uint8_t *fields)
{
    bool serial = event >= STROBE_TRACY_GPU_ZONE_BEGIN_SERIAL;
    uint32_t form =
        serial ? event - STROBE_TRACY_GPU_ZONE_BEGIN_SERIAL : event - STROBE_TRACY_GPU_ZONE_BEGIN;
    gpu_zone(s, fields, form < 4, serial, form == 2 || form == 3, form == 1 || form == 3);
}

static void memory_event(struct strobe_tracy_session *s, enum strobe_tracy_event event,
                         const uint8_t *fields)
{
    uint32_t form = event - STROBE_TRACY_MEM_ALLOC; /* alloc, named, free, named; with stacks */
    if (event >= STROBE_TRACY_MEM_DISCARD)
        memory(s, fields, STROBE_KIND_MEM_DISCARD, true,
               event == STROBE_TRACY_MEM_DISCARD_CALLSTACK);
    else
        memory(s, fields, form & 2 ? STROBE_KIND_MEM_FREE : STROBE_KIND_MEM_ALLOC, form & 1,
               form >= 4);
}

/* Events of the serial queue, of locks and of the system. False: not one of them. */
static bool decode_other(struct strobe_tracy_session *s, enum strobe_tracy_event event,
                         const uint8_t *f)
{
    switch (event) {
    case STROBE_TRACY_LOCK_WAIT:
        lock(s, get32(f), get32(f + 4), (int64_t)get64(f + 8), STROBE_KIND_LOCK_WAIT, false);
        break;
    case STROBE_TRACY_LOCK_OBTAIN:
        lock(s, get32(f), get32(f + 4), (int64_t)get64(f + 8), STROBE_KIND_LOCK_OBTAIN, false);
        break;
    case STROBE_TRACY_LOCK_RELEASE:
        lock_release(s, f);
        break;
    case STROBE_TRACY_LOCK_SHARED_WAIT:
        lock(s, get32(f), get32(f + 4), (int64_t)get64(f + 8), STROBE_KIND_LOCK_WAIT, true);
        break;
    case STROBE_TRACY_LOCK_SHARED_OBTAIN:
        lock(s, get32(f), get32(f + 4), (int64_t)get64(f + 8), STROBE_KIND_LOCK_OBTAIN, true);
        break;
    case STROBE_TRACY_LOCK_SHARED_RELEASE:
        lock_shared_release(s, f);
        break;
    case STROBE_TRACY_LOCK_NAME:
        lock_name(s, f);
        break;
    case STROBE_TRACY_LOCK_ANNOUNCE:
        lock_announce(s, f);
        break;
    case STROBE_TRACY_LOCK_TERMINATE: {
        uint64_t id = get32(f);
        put_current(s, absolute(s, f + 4), STROBE_KIND_LOCK_GONE, &id, NULL, 0);
        break;
    }
    case STROBE_TRACY_LOCK_MARK:
        lock_mark(s, f);
        break;
    case STROBE_TRACY_CONTEXT_SWITCH:
        context_switch(s, f);
        break;
    case STROBE_TRACY_THREAD_WAKEUP:
        wakeup(s, f);
        break;
    case STROBE_TRACY_GPU_TIME:
        gpu_time(s, f);
        break;
    case STROBE_TRACY_GPU_CONTEXT_NAME:
        gpu_name(s, f);
        break;
    case STROBE_TRACY_GPU_ANNOTATION_NAME:
        gpu_note_name(s, f);
        break;
    case STROBE_TRACY_GPU_CALIBRATION:
        gpu_calibration(s, f);
        break;
    case STROBE_TRACY_GPU_TIME_SYNC:
        gpu_sync(s, f);
        break;
    case STROBE_TRACY_GPU_NEW_CONTEXT:
        gpu_context(s, f);
        break;
    case STROBE_TRACY_GPU_ZONE_ANNOTATION:
        gpu_note(s, f);
        break;
    case STROBE_TRACY_TID_TO_PID:
        tid_to_pid(s, f);
        break;
    case STROBE_TRACY_HW_SAMPLE_CPU_CYCLE:
    case STROBE_TRACY_HW_SAMPLE_INSTRUCTION_RETIRED:
    case STROBE_TRACY_HW_SAMPLE_CACHE_REFERENCE:
    case STROBE_TRACY_HW_SAMPLE_CACHE_MISS:
    case STROBE_TRACY_HW_SAMPLE_BRANCH_RETIRED:
    case STROBE_TRACY_HW_SAMPLE_BRANCH_MISS:
        hw_sample(s, f, event - STROBE_TRACY_HW_SAMPLE_CPU_CYCLE);
        break;
    case STROBE_TRACY_CPU_TOPOLOGY:
        topology(s, f);
        break;
    case STROBE_TRACY_MEM_NAME_PAYLOAD:
        s->next_pool = get64(f);
        break;
    default:
        return false;
    }
    return true;
}

/* Events of a thread, and answers. */
static void decode_one(struct strobe_tracy_session *s, enum strobe_tracy_event event,
                       const uint8_t *f)
{
    switch (event) {
    case STROBE_TRACY_ZONE_TEXT:
        zone_note(s, STROBE_KIND_ZONE_TEXT, 0);
        break;
    case STROBE_TRACY_ZONE_NAME:
        zone_note(s, STROBE_KIND_ZONE_NAME, 0);
        break;
    case STROBE_TRACY_ZONE_COLOR:
        zone_note(s, STROBE_KIND_ZONE_COLOR, get_color(f));
        break;
    case STROBE_TRACY_ZONE_VALUE:
        zone_note(s, STROBE_KIND_ZONE_VALUE, get64(f));
        break;
    case STROBE_TRACY_MESSAGE:
    case STROBE_TRACY_MESSAGE_CALLSTACK:
        message(s, f, false, event == STROBE_TRACY_MESSAGE_CALLSTACK);
        break;
    case STROBE_TRACY_MESSAGE_COLOR:
    case STROBE_TRACY_MESSAGE_COLOR_CALLSTACK:
        message(s, f, true, event == STROBE_TRACY_MESSAGE_COLOR_CALLSTACK);
        break;
    case STROBE_TRACY_MESSAGE_LITERAL:
    case STROBE_TRACY_MESSAGE_LITERAL_CALLSTACK:
        literal(s, f, false, event == STROBE_TRACY_MESSAGE_LITERAL_CALLSTACK);
        break;
    case STROBE_TRACY_MESSAGE_LITERAL_COLOR:
    case STROBE_TRACY_MESSAGE_LITERAL_COLOR_CALLSTACK:
        literal(s, f, true, event == STROBE_TRACY_MESSAGE_LITERAL_COLOR_CALLSTACK);
        break;
    case STROBE_TRACY_MESSAGE_APP_INFO:
        put_current(s, absolute(s, f), STROBE_KIND_APP_INFO, NULL, s->single.bytes, s->single.n);
        s->single.n = 0;
        break;
    case STROBE_TRACY_ZONE_BEGIN_ALLOC_SRC_LOC:
    case STROBE_TRACY_ZONE_BEGIN_ALLOC_SRC_LOC_CALLSTACK:
        step_thread(s, (int64_t)get64(f));
        begin_zone(s, s->ref_thread, take_loc(s), event != STROBE_TRACY_ZONE_BEGIN_ALLOC_SRC_LOC);
        break;
    case STROBE_TRACY_CALLSTACK_SERIAL:
        bind_stack(s, true);
        break;
    case STROBE_TRACY_CALLSTACK:
    case STROBE_TRACY_CALLSTACK_ALLOC:
        bind_stack(s, false);
        break;
    case STROBE_TRACY_FRAME_IMAGE:
        frame_image(s, f);
        break;
    case STROBE_TRACY_PLOT_DATA:
        plot(s, f, f + 17, (enum plot_type)f[16]);
        break;
    case STROBE_TRACY_PLOT_DATA_INT:
        plot(s, f, f + 16, PLOT_INT);
        break;
    case STROBE_TRACY_PLOT_DATA_FLOAT:
        plot(s, f, f + 16, PLOT_FLOAT);
        break;
    case STROBE_TRACY_PLOT_DATA_DOUBLE:
        plot(s, f, f + 16, PLOT_DOUBLE);
        break;
    case STROBE_TRACY_PLOT_CONFIG:
        plot_config(s, f);
        break;
    case STROBE_TRACY_SYS_TIME_REPORT:
        cpu_usage(s, f);
        break;
    case STROBE_TRACY_SYS_POWER_REPORT:
        power(s, f);
        break;
    case STROBE_TRACY_FIBER_ENTER:
        fiber(s, f, true);
        break;
    case STROBE_TRACY_FIBER_LEAVE:
        fiber(s, f, false);
        break;
    case STROBE_TRACY_SECTION_ENTER:
        section(s, f, true);
        break;
    case STROBE_TRACY_SECTION_LEAVE:
        section(s, f, false);
        break;
    case STROBE_TRACY_SECTION_SETUP:
        section_name(s, f);
        break;
    case STROBE_TRACY_TERMINATE:
        s->terminated = true;
        break;
    case STROBE_TRACY_THREAD_CONTEXT:
        thread_context(s, f);
        break;
    case STROBE_TRACY_CRASH:
        s->crashed = true;
        break;
    case STROBE_TRACY_CRASH_REPORT:
        crash(s, f);
        break;
    case STROBE_TRACY_FRAME_MARK_MSG:
        frame(s, f, STROBE_KIND_FRAME_MARK);
        break;
    case STROBE_TRACY_FRAME_MARK_MSG_START:
        frame(s, f, STROBE_KIND_FRAME_START);
        break;
    case STROBE_TRACY_FRAME_MARK_MSG_END:
        frame(s, f, STROBE_KIND_FRAME_END);
        break;
    case STROBE_TRACY_FRAME_VSYNC: {
        uint64_t display = get32(f + 8);
        put_current(s, absolute(s, f), STROBE_KIND_FRAME_VSYNC, &display, NULL, 0);
        break;
    }
    case STROBE_TRACY_SOURCE_LOCATION:
        strobe_tracy_got_loc(s, f);
        break;
    case STROBE_TRACY_CALLSTACK_FRAME_SIZE:
        strobe_tracy_text_set(s, &s->symbol_image, s->single.bytes, s->single.n);
        strobe_tracy_got_symbol(s, get64(f), f[8]);
        break;
    case STROBE_TRACY_CALLSTACK_FRAME:
        symbol_frame(s, f);
        break;
    case STROBE_TRACY_PARAM_SETUP:
        parameter(s, f);
        break;
    case STROBE_TRACY_ACK_SERVER_QUERY_NOOP:
        strobe_tracy_got_nothing(s);
        break;
    case STROBE_TRACY_THREAD_GROUP_HINT:
        thread_group(s, f);
        break;
    case STROBE_TRACY_KEEP_ALIVE:
    case STROBE_TRACY_ZONE_VALIDATION:
        break; /* nothing to keep: pairs are checked anyway */
    default:
        s->n_unasked++;
    }
}

static void decode_event(struct strobe_tracy_session *s, enum strobe_tracy_event event,
                         const uint8_t *fields)
{
    s->n_events++;
    if (event >= STROBE_TRACY_ZONE_BEGIN && event <= STROBE_TRACY_ZONE_END_16)
        zone_event(s, event, fields);
    else if (event >= STROBE_TRACY_MEM_ALLOC && event <= STROBE_TRACY_MEM_DISCARD_CALLSTACK)
        memory_event(s, event, fields);
    else if (event >= STROBE_TRACY_GPU_ZONE_BEGIN && event <= STROBE_TRACY_GPU_ZONE_END_SERIAL)
        gpu_zone_event(s, event, fields);
    else if (event >= STROBE_TRACY_CALLSTACK_SAMPLE &&
             event <= STROBE_TRACY_CALLSTACK_SAMPLE_CONTEXT_SWITCH_16)
        any_sample(s, event, fields);
    else if (!decode_other(s, event, fields))
        decode_one(s, event, fields);
}

/* ---- frames ---- */

/* Bytes of the tail of the event at `at`, whose fixed part is there; -1: it runs over the end. */
static int64_t tail_of(const struct strobe_tracy_session *s, const uint8_t *at, const uint8_t *end)
{
    uint8_t number = *at;
    const uint8_t *length = at + s->table.size[number];
    uint32_t n_length = s->table.tail[number];
    if ((size_t)(end - length) < n_length)
        return -1;
    uint64_t n = n_length == 1 ? *length : n_length == 2 ? get16(length) : get32(length);
    uint8_t event = s->table.event[number];
    if (event == STROBE_TRACY_SINGLE_STRING_DATA || event == STROBE_TRACY_SECOND_STRING_DATA)
        n += s->table.long_text_bias;
    return n > (size_t)(end - length) - n_length ? -1 : (int64_t)n;
}

static bool is_whole(const struct strobe_tracy_session *s, const uint8_t *at, const uint8_t *end)
{
    return *at < s->table.n_numbers && (size_t)(end - at) >= s->table.size[*at];
}

bool strobe_tracy_decode(struct strobe_tracy_session *s, const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        if (s->zone_form[*at] && !s->own_clock && s->current && !s->lost_thread) {
            const uint8_t *next = decode_zones(s, at, end);
            if (next != at) {
                at = next;
                continue;
            }
        }
        if (!is_whole(s, at, end))
            return false;
        uint8_t number = *at;
        const uint8_t *next = at + s->table.size[number];
        if (s->table.tail[number]) {
            int64_t n = tail_of(s, at, end);
            if (n < 0)
                return false;
            next += s->table.tail[number];
            s->n_events++;
            with_tail(s, s->table.event[number], at + 1, next, (size_t)n);
            next += n;
        } else {
            decode_event(s, s->table.event[number], at + 1);
        }
        at = next;
    }
    return true;
}

/* Add the time of one event, by its layout, to the references of a skim. */
static void skim_one(struct strobe_tracy_session *s, enum strobe_tracy_event event,
                     const uint8_t *at, uint64_t *latest)
{
    uint64_t time = 0, *thread = &s->skim_thread, *serial = &s->skim_serial;
    bool of_zone = event >= STROBE_TRACY_ZONE_BEGIN && event <= STROBE_TRACY_ZONE_END;
    switch (*s->table.layout[event]) {
    case 'a':
        time = get64(at);
        break;
    case 't':
        time = *thread += of_zone ? (uint64_t)unbias(s, (int64_t)get64(at)) : get64(at);
        break;
    case '4':
        time = *thread += get32(at) + (uint64_t)bias_32;
        break;
    case '2':
        time = *thread += get16(at);
        break;
    case 's':
        time = *serial += get64(at);
        break;
    }
    if ((int64_t)time > (int64_t)*latest)
        *latest = time;
}

uint64_t strobe_tracy_skim(struct strobe_tracy_session *s, const uint8_t *at, const uint8_t *end)
{
    uint64_t latest = 0;
    while (at < end && is_whole(s, at, end)) {
        uint8_t number = *at, event = s->table.event[number];
        int64_t n = s->table.tail[number] ? tail_of(s, at, end) : 0;
        if (n < 0)
            break;
        if (event == STROBE_TRACY_THREAD_CONTEXT)
            s->skim_thread = 0;
        else
            skim_one(s, event, at + 1, &latest);
        at += s->table.size[number] + s->table.tail[number] + n;
    }
    return latest;
}
