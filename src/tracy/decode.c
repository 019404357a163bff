/* decode.c - the events of a client, one frame at a time, to the build.
 *
 * Zones come in runs and have a loop of their own; everything else goes through a table of handlers,
 * one row per event, in files by what they are about: decode.h. All fixed sizes are checked before a
 * field is read. A frame that can't be cut into events is given up where it goes wrong: the next frame
 * begins with a whole event again, but references of time may be gone, and then events that need them
 * are set aside until they are back.  Layouts: events.h.
 * SPDX-License-Identifier: MIT */
#include "tracy/decode.h"

#include "base/assert.h"

/* ---- to the build ---- */

void strobe_tracy_put(struct strobe_tracy_session *s, struct strobe_build_track *track,
                      uint64_t raw, enum strobe_kind kind, const uint64_t *numbers,
                      const char *text, size_t n)
{
    int64_t own;
    uint64_t tick = strobe_tracy_time(s, raw, &own);
    strobe_build_event(s->build, track, tick, kind, numbers, text, n);
    if (own)
        strobe_build_own_time(s->build, track, own);
}

void strobe_tracy_put_stack(struct strobe_tracy_session *s, struct strobe_build_track *track,
                            uint64_t raw, const uint64_t *addresses, uint32_t n)
{
    int64_t own;
    uint64_t tick = strobe_tracy_time(s, raw, &own);
    strobe_build_stack(s->build, track, tick, STROBE_KIND_CALLSTACK, 0, addresses, n);
    strobe_tracy_want_symbols(s, addresses, n);
}

void strobe_tracy_put_current(struct strobe_tracy_session *s, uint64_t raw, enum strobe_kind kind,
                              const uint64_t *numbers, const char *text, size_t n)
{
    struct thread *thread = strobe_tracy_current(s);
    if (thread)
        strobe_tracy_put(s, thread->track, raw, kind, numbers, text, n);
    else
        strobe_tracy_set_aside(s, NULL, "no room for another thread");
}

/* ---- one event ---- */

static void on_loc(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    (void)form;
    strobe_tracy_got_loc(s, fields);
}

static void on_no_answer(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    (void)fields, (void)form;
    strobe_tracy_got_nothing(s);
}

static void on_terminate(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    (void)fields, (void)form;
    s->terminated = true;
}

/* Nothing to keep: pairs of zones are checked anyway. */
static void on_nothing(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    (void)s, (void)fields, (void)form;
}

/* What takes an event without a tail; none: it was never asked for. */
#define ON(event, handler, form) [STROBE_TRACY_##event] = {strobe_tracy_on_##handler, form}
static const struct {
    strobe_tracy_handler *take;
    uint32_t form;
} handlers[STROBE_TRACY_N_EVENTS] = {
    /* zones */
    ON(ZONE_BEGIN, zone_begin, 0),
    ON(ZONE_BEGIN_32, zone_begin_32, 0),
    ON(ZONE_BEGIN_16, zone_begin_16, 0),
    ON(ZONE_BEGIN_CALLSTACK, zone_begin, FORM_WITH_STACK),
    ON(ZONE_BEGIN_CALLSTACK_32, zone_begin_32, FORM_WITH_STACK),
    ON(ZONE_BEGIN_CALLSTACK_16, zone_begin_16, FORM_WITH_STACK),
    ON(ZONE_BEGIN_ALLOC_SRC_LOC, zone_begin_alloc, 0),
    ON(ZONE_BEGIN_ALLOC_SRC_LOC_CALLSTACK, zone_begin_alloc, FORM_WITH_STACK),
    ON(ZONE_END, zone_end, 0),
    ON(ZONE_END_32, zone_end_32, 0),
    ON(ZONE_END_16, zone_end_16, 0),
    ON(ZONE_TEXT, zone_note, STROBE_KIND_ZONE_TEXT),
    ON(ZONE_NAME, zone_note, STROBE_KIND_ZONE_NAME),
    ON(ZONE_COLOR, zone_note, STROBE_KIND_ZONE_COLOR),
    ON(ZONE_VALUE, zone_note, STROBE_KIND_ZONE_VALUE),
    [STROBE_TRACY_ZONE_VALIDATION] = {on_nothing, 0},

    /* threads: messages, plots, frames, fibers, sections */
    ON(MESSAGE, message, 0),
    ON(MESSAGE_COLOR, message, FORM_COLORED),
    ON(MESSAGE_CALLSTACK, message, FORM_WITH_STACK),
    ON(MESSAGE_COLOR_CALLSTACK, message, FORM_COLORED | FORM_WITH_STACK),
    ON(MESSAGE_LITERAL, literal, 0),
    ON(MESSAGE_LITERAL_COLOR, literal, FORM_COLORED),
    ON(MESSAGE_LITERAL_CALLSTACK, literal, FORM_WITH_STACK),
    ON(MESSAGE_LITERAL_COLOR_CALLSTACK, literal, FORM_COLORED | FORM_WITH_STACK),
    ON(MESSAGE_APP_INFO, app_info, 0),
    ON(PLOT_DATA, plot_of_any_type, 0),
    ON(PLOT_DATA_INT, plot, FORM_INT),
    ON(PLOT_DATA_FLOAT, plot, FORM_FLOAT),
    ON(PLOT_DATA_DOUBLE, plot, FORM_DOUBLE),
    ON(PLOT_CONFIG, plot_config, 0),
    ON(SYS_TIME_REPORT, cpu_usage, 0),
    ON(SYS_POWER_REPORT, power, 0),
    ON(FRAME_MARK_MSG, frame, STROBE_KIND_FRAME_MARK),
    ON(FRAME_MARK_MSG_START, frame, STROBE_KIND_FRAME_START),
    ON(FRAME_MARK_MSG_END, frame, STROBE_KIND_FRAME_END),
    ON(FRAME_VSYNC, frame_vsync, 0),
    ON(FRAME_IMAGE, frame_image, 0),
    ON(FIBER_ENTER, fiber, FORM_ENTER),
    ON(FIBER_LEAVE, fiber, 0),
    ON(SECTION_ENTER, section, FORM_ENTER),
    ON(SECTION_LEAVE, section, 0),
    ON(SECTION_SETUP, section_name, 0),
    ON(CRASH, crash_begin, 0),
    ON(CRASH_REPORT, crash, 0),
    ON(PARAM_SETUP, parameter, 0),
    ON(THREAD_CONTEXT, thread_context, 0),
    ON(THREAD_GROUP_HINT, thread_group, 0),

    /* call stacks and symbols */
    ON(CALLSTACK, callstack, 0),
    ON(CALLSTACK_ALLOC, callstack, 0),
    ON(CALLSTACK_SERIAL, callstack, FORM_SERIAL),
    ON(CALLSTACK_FRAME_SIZE, frame_size, 0),
    ON(CALLSTACK_FRAME, callstack_frame, 0),

    /* memory and locks */
    ON(MEM_ALLOC, memory, STROBE_KIND_MEM_ALLOC),
    ON(MEM_ALLOC_NAMED, memory, STROBE_KIND_MEM_ALLOC | FORM_NAMED),
    ON(MEM_ALLOC_CALLSTACK, memory, STROBE_KIND_MEM_ALLOC | FORM_WITH_STACK),
    ON(MEM_ALLOC_CALLSTACK_NAMED, memory, STROBE_KIND_MEM_ALLOC | FORM_NAMED | FORM_WITH_STACK),
    ON(MEM_FREE, memory, STROBE_KIND_MEM_FREE),
    ON(MEM_FREE_NAMED, memory, STROBE_KIND_MEM_FREE | FORM_NAMED),
    ON(MEM_FREE_CALLSTACK, memory, STROBE_KIND_MEM_FREE | FORM_WITH_STACK),
    ON(MEM_FREE_CALLSTACK_NAMED, memory, STROBE_KIND_MEM_FREE | FORM_NAMED | FORM_WITH_STACK),
    ON(MEM_DISCARD, memory, STROBE_KIND_MEM_DISCARD),
    ON(MEM_DISCARD_CALLSTACK, memory, STROBE_KIND_MEM_DISCARD | FORM_WITH_STACK),
    ON(MEM_NAME_PAYLOAD, pool, 0),
    ON(LOCK_WAIT, lock, STROBE_KIND_LOCK_WAIT),
    ON(LOCK_SHARED_WAIT, lock, STROBE_KIND_LOCK_WAIT | FORM_SHARED),
    ON(LOCK_OBTAIN, lock, STROBE_KIND_LOCK_OBTAIN),
    ON(LOCK_SHARED_OBTAIN, lock, STROBE_KIND_LOCK_OBTAIN | FORM_SHARED),
    ON(LOCK_RELEASE, lock_release, 0),
    ON(LOCK_SHARED_RELEASE, lock_shared_release, 0),
    ON(LOCK_ANNOUNCE, lock_announce, 0),
    ON(LOCK_NAME, lock_name, 0),
    ON(LOCK_MARK, lock_mark, 0),
    ON(LOCK_TERMINATE, lock_gone, 0),

    /* GPU */
    ON(GPU_ZONE_BEGIN, gpu_zone, FORM_ENTER),
    ON(GPU_ZONE_BEGIN_CALLSTACK, gpu_zone, FORM_ENTER | FORM_WITH_STACK),
    ON(GPU_ZONE_BEGIN_ALLOC_SRC_LOC, gpu_zone, FORM_ENTER | FORM_ALLOC),
    ON(GPU_ZONE_BEGIN_ALLOC_SRC_LOC_CALLSTACK, gpu_zone, FORM_ENTER | FORM_ALLOC | FORM_WITH_STACK),
    ON(GPU_ZONE_END, gpu_zone, 0),
    ON(GPU_ZONE_BEGIN_SERIAL, gpu_zone, FORM_ENTER | FORM_SERIAL),
    ON(GPU_ZONE_BEGIN_CALLSTACK_SERIAL, gpu_zone, FORM_ENTER | FORM_SERIAL | FORM_WITH_STACK),
    ON(GPU_ZONE_BEGIN_ALLOC_SRC_LOC_SERIAL, gpu_zone, FORM_ENTER | FORM_SERIAL | FORM_ALLOC),
    ON(GPU_ZONE_BEGIN_ALLOC_SRC_LOC_CALLSTACK_SERIAL, gpu_zone,
       FORM_ENTER | FORM_SERIAL | FORM_ALLOC | FORM_WITH_STACK),
    ON(GPU_ZONE_END_SERIAL, gpu_zone, FORM_SERIAL),
    ON(GPU_NEW_CONTEXT, gpu_context, 0),
    ON(GPU_CONTEXT_NAME, gpu_name, 0),
    ON(GPU_TIME, gpu_time, 0),
    ON(GPU_CALIBRATION, gpu_calibration, 0),
    ON(GPU_TIME_SYNC, gpu_sync, 0),
    ON(GPU_ANNOTATION_NAME, gpu_note_name, 0),
    ON(GPU_ZONE_ANNOTATION, gpu_note, 0),

    /* the system */
    ON(CALLSTACK_SAMPLE, sample, 0),
    ON(CALLSTACK_SAMPLE_32, sample_32, 0),
    ON(CALLSTACK_SAMPLE_16, sample_16, 0),
    ON(CALLSTACK_SAMPLE_CONTEXT_SWITCH, sample, FORM_OF_SWITCH),
    ON(CALLSTACK_SAMPLE_CONTEXT_SWITCH_32, sample_32, FORM_OF_SWITCH),
    ON(CALLSTACK_SAMPLE_CONTEXT_SWITCH_16, sample_16, FORM_OF_SWITCH),
    ON(CONTEXT_SWITCH, context_switch, 0),
    ON(THREAD_WAKEUP, wakeup, 0),
    ON(HW_SAMPLE_CPU_CYCLE, hw_sample, 0),
    ON(HW_SAMPLE_INSTRUCTION_RETIRED, hw_sample, 1),
    ON(HW_SAMPLE_CACHE_REFERENCE, hw_sample, 2),
    ON(HW_SAMPLE_CACHE_MISS, hw_sample, 3),
    ON(HW_SAMPLE_BRANCH_RETIRED, hw_sample, 4),
    ON(HW_SAMPLE_BRANCH_MISS, hw_sample, 5),
    ON(TID_TO_PID, tid_to_pid, 0),
    ON(CPU_TOPOLOGY, topology, 0),

    /* answers, and the end */
    [STROBE_TRACY_SOURCE_LOCATION] = {on_loc, 0},
    [STROBE_TRACY_ACK_SERVER_QUERY_NOOP] = {on_no_answer, 0},
    [STROBE_TRACY_TERMINATE] = {on_terminate, 0},
    [STROBE_TRACY_KEEP_ALIVE] = {on_nothing, 0},
};
#undef ON

static void decode_event(struct strobe_tracy_session *s, enum strobe_tracy_event event,
                         const uint8_t *fields)
{
    STROBE_ASSERT(event < STROBE_TRACY_N_EVENTS && s->build);
    s->n_events++;
    if (handlers[event].take)
        handlers[event].take(s, fields, handlers[event].form);
    else
        s->n_unasked++;
}

/* What the text of an answer is the name of; SPACE_NONE: it is no such answer. */
static enum space space_of(enum strobe_tracy_event event)
{
    static const uint8_t spaces[STROBE_TRACY_N_EVENTS] = {
        [STROBE_TRACY_STRING_DATA] = SPACE_STRING, [STROBE_TRACY_THREAD_NAME] = SPACE_THREAD,
        [STROBE_TRACY_PLOT_NAME] = SPACE_PLOT,     [STROBE_TRACY_FRAME_NAME] = SPACE_FRAME,
        [STROBE_TRACY_FIBER_NAME] = SPACE_FIBER,   [STROBE_TRACY_EXTERNAL_NAME] = SPACE_EXTERNAL,
    };
    return (enum space)spaces[event];
}

/* An event with bytes of any length at its end. */
static void with_tail(struct strobe_tracy_session *s, enum strobe_tracy_event event,
                      const uint8_t *fields, const uint8_t *bytes, size_t n)
{
    const char *text = (const char *)bytes;
    s->n_events++;
    switch (event) {
    case STROBE_TRACY_SINGLE_STRING_DATA:
    case STROBE_TRACY_SINGLE_STRING_DATA_8:
        strobe_tracy_text_set(s, &s->single, bytes, n);
        break;
    case STROBE_TRACY_SECOND_STRING_DATA:
    case STROBE_TRACY_SECOND_STRING_DATA_8:
        strobe_tracy_text_set(s, &s->second, bytes, n);
        break;
    case STROBE_TRACY_EXTERNAL_THREAD_NAME:
        strobe_tracy_got_thread_of(s, get64(fields), text, n);
        break;
    case STROBE_TRACY_SOURCE_LOCATION_PAYLOAD:
        strobe_tracy_payload_loc(s, bytes, n);
        break;
    case STROBE_TRACY_CALLSTACK_PAYLOAD:
        strobe_tracy_keep_addresses(s, &s->payload, bytes, n / 8);
        break;
    case STROBE_TRACY_CALLSTACK_ALLOC_PAYLOAD:
        strobe_tracy_script_stack(s, bytes, n);
        break;
    case STROBE_TRACY_FRAME_IMAGE_DATA:
        strobe_tracy_text_set(s, &s->image, bytes, n);
        break;
    default:
        if (space_of(event))
            strobe_tracy_got_text(s, space_of(event), get64(fields), text, n);
        else /* code and sources are never asked for */
            s->n_unasked++;
    }
}

/* ---- frames ---- */

/* Bytes of the tail of the event at `at`, whose fixed part is there; -1: it runs over the end. */
static int64_t tail_of(const struct strobe_tracy_session *s, const uint8_t *at, const uint8_t *end)
{
    uint8_t number = *at;
    const uint8_t *length = at + s->table.size[number];
    uint32_t n_length = s->table.tail[number];
    STROBE_ASSERT(n_length == 1 || n_length == 2 || n_length == 4);
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
            const uint8_t *next = strobe_tracy_decode_zones(s, at, end);
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
            with_tail(s, s->table.event[number], at + 1, next, (size_t)n);
            next += n;
            STROBE_ASSERT(next <= end);
        } else {
            decode_event(s, s->table.event[number], at + 1);
        }
        STROBE_ASSERT(next > at && next <= end); /* events get used up */
        at = next;
    }
    return true;
}

/* ---- a look ahead ---- */

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
        time = *thread +=
            of_zone ? (uint64_t)strobe_tracy_unbias(s, (int64_t)get64(at)) : get64(at);
        break;
    case '4':
        time = *thread += get32(at) + (uint64_t)BIAS_32;
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
