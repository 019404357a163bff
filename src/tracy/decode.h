/* decode.h - what the decoder's files share: decode.c (the table of events, frames), decode_zones.c,
 * decode_thread.c, decode_stacks.c, decode_serial.c, decode_gpu.c, decode_system.c.
 *
 * A handler takes one event whose fixed part is there, `fields` behind its number. `form` is the
 * event's row in the table of decode.c: flags below, or a kind of ours where that is all that differs.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_DECODE_H
#define STROBE_TRACY_DECODE_H

#include "tracy/internal.h"

/* A form, beside the kind in its low bits. */
enum form {
    FORM_KIND = 0xff,
    FORM_WITH_STACK = 1 << 8, /* the call stack that waits belongs to it */
    FORM_SERIAL = 1 << 9,     /* of the queue that all threads share */
    FORM_ENTER = 1 << 10,     /* else it leaves or ends */
    FORM_ALLOC = 1 << 11,     /* its location came as a payload */
    FORM_COLORED = 1 << 12,
    FORM_NAMED = 1 << 13, /* in the pool that MemNamePayload told */
    FORM_SHARED = 1 << 14,
    FORM_OF_SWITCH = 1 << 15, /* a sample that a context switch took */
};

/* Of a plot's value. Until protocol 58 it is a field. */
enum plot_form {
    FORM_FLOAT = 0,
    FORM_DOUBLE = 1,
    FORM_INT = 2,
};

typedef void strobe_tracy_handler(struct strobe_tracy_session *s, const uint8_t *fields,
                                  uint32_t form);
/* decode_zones.c */
strobe_tracy_handler strobe_tracy_on_zone_begin, strobe_tracy_on_zone_begin_32,
    strobe_tracy_on_zone_begin_16, strobe_tracy_on_zone_begin_alloc, strobe_tracy_on_zone_end,
    strobe_tracy_on_zone_end_32, strobe_tracy_on_zone_end_16, strobe_tracy_on_zone_note;
/* decode_thread.c */
strobe_tracy_handler strobe_tracy_on_message, strobe_tracy_on_literal, strobe_tracy_on_app_info,
    strobe_tracy_on_crash, strobe_tracy_on_crash_begin, strobe_tracy_on_parameter,
    strobe_tracy_on_plot, strobe_tracy_on_plot_of_any_type, strobe_tracy_on_plot_config,
    strobe_tracy_on_cpu_usage, strobe_tracy_on_power, strobe_tracy_on_frame,
    strobe_tracy_on_frame_image, strobe_tracy_on_frame_vsync, strobe_tracy_on_fiber,
    strobe_tracy_on_section, strobe_tracy_on_section_name;
/* decode_stacks.c */
strobe_tracy_handler strobe_tracy_on_callstack, strobe_tracy_on_frame_size,
    strobe_tracy_on_callstack_frame, strobe_tracy_on_thread_context, strobe_tracy_on_thread_group;
/* decode_serial.c */
strobe_tracy_handler strobe_tracy_on_memory, strobe_tracy_on_pool, strobe_tracy_on_lock,
    strobe_tracy_on_lock_release, strobe_tracy_on_lock_shared_release,
    strobe_tracy_on_lock_announce, strobe_tracy_on_lock_name, strobe_tracy_on_lock_mark,
    strobe_tracy_on_lock_gone;
/* decode_gpu.c */
strobe_tracy_handler strobe_tracy_on_gpu_context, strobe_tracy_on_gpu_zone,
    strobe_tracy_on_gpu_time, strobe_tracy_on_gpu_calibration, strobe_tracy_on_gpu_sync,
    strobe_tracy_on_gpu_name, strobe_tracy_on_gpu_note_name, strobe_tracy_on_gpu_note;
/* decode_system.c */
strobe_tracy_handler strobe_tracy_on_sample, strobe_tracy_on_sample_32, strobe_tracy_on_sample_16,
    strobe_tracy_on_context_switch, strobe_tracy_on_wakeup, strobe_tracy_on_hw_sample,
    strobe_tracy_on_tid_to_pid, strobe_tracy_on_topology;

/* ---- time ---- */

/* What the short forms of a difference can hold, the plain ones leave out. */
#define BIAS_32 ((int64_t)1 << 16)
#define BIAS_64 (((int64_t)1 << 16) + ((int64_t)1 << 32))

/* The time of an event on the trace's clock. What can't be is moved to what can. *own is what the
 * client's clock says beyond that. */
static inline uint64_t strobe_tracy_time(struct strobe_tracy_session *s, uint64_t raw, int64_t *own)
{
    uint64_t tick = raw;
    *own = 0;
    if (s->own_clock) {
        tick = strobe_clock_map_tick(&s->clock.map, (int64_t)raw);
        *own = (int64_t)(raw - (uint64_t)strobe_clock_map_time(&s->clock.map, tick));
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

/* A plain difference, as it is meant. */
static inline int64_t strobe_tracy_unbias(const struct strobe_tracy_session *s, int64_t difference)
{
    return s->table.biased_times && difference >= 0
               ? (int64_t)((uint64_t)difference + (uint64_t)BIAS_64)
               : difference;
}

/* The time of an event of the current thread, of the serial queue, of one that carries it whole. */
static inline uint64_t strobe_tracy_step(struct strobe_tracy_session *s, int64_t difference)
{
    return s->last_raw = s->ref_thread += (uint64_t)difference;
}

static inline uint64_t strobe_tracy_step_serial(struct strobe_tracy_session *s, int64_t difference)
{
    return s->last_raw = s->ref_serial += (uint64_t)difference;
}

static inline uint64_t strobe_tracy_absolute(struct strobe_tracy_session *s, const uint8_t *at)
{
    return s->last_raw = get64(at);
}

/* ---- fields ---- */

static inline uint64_t strobe_tracy_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double strobe_tracy_float_at(const uint8_t *at)
{
    float value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* ---- threads ---- */

/* The thread of the last ThreadContext, or one that stands for none. NULL: no room for it. */
static inline struct thread *strobe_tracy_current(struct strobe_tracy_session *s)
{
    if (!s->current)
        s->current = strobe_tracy_thread(s, 0, s->last_raw);
    return s->current;
}

static inline struct thread *strobe_tracy_thread_of(struct strobe_tracy_session *s, uint32_t tid)
{
    if (s->current && s->current->tid == tid)
        return s->current;
    return strobe_tracy_thread(s, tid, s->last_raw);
}

/* ---- decode.c ---- */

/* An event of the current thread at a time. */
void strobe_tracy_put_current(struct strobe_tracy_session *s, uint64_t raw, enum strobe_kind kind,
                              const uint64_t *numbers, const char *text, size_t n);

/* ---- decode_zones.c ---- */

/* A run of begins and ends without call stacks, on the trace's own clock: the fast way. Where it
 * stopped; at `at` itself there was none that it takes. */
const uint8_t *strobe_tracy_decode_zones(struct strobe_tracy_session *s, const uint8_t *at,
                                         const uint8_t *end);
/* SourceLocationPayload: colour, line, function NUL, file NUL, name. */
void strobe_tracy_payload_loc(struct strobe_tracy_session *s, const uint8_t *bytes, size_t n);
/* The location of the last payload, once. */
uint64_t strobe_tracy_take_loc(struct strobe_tracy_session *s);

/* ---- decode_stacks.c ---- */

bool strobe_tracy_keep_addresses(struct strobe_tracy_session *s, struct addresses *to,
                                 const uint8_t *bytes, size_t n);
/* CallstackAllocPayload: frames with their names, before the native ones of a payload that came
 * already. */
void strobe_tracy_script_stack(struct strobe_tracy_session *s, const uint8_t *bytes,
                               size_t n_bytes);
/* The call stack that waits goes before its event. */
void strobe_tracy_put_waiting(struct strobe_tracy_session *s, struct thread *thread,
                              struct addresses *stack, uint64_t raw);
/* A copy of the waiting call stack, for an event that is held. */
void strobe_tracy_take_stack(struct held *held, struct addresses *stack);

/* ---- decode_serial.c ---- */

/* True: the serial queue's times are lost, and the event is set aside. */
bool strobe_tracy_serial_is_lost(struct strobe_tracy_session *s);

#endif
