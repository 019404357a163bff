/* decode_zones.c - zones: their begins and ends, their locations, what is noted of them.
 * They come in runs, which have a loop of their own; what that does not take is a handler.
 * SPDX-License-Identifier: MIT */
#include "tracy/decode.h"

enum { LONGEST_ZONE_EVENT = 17 };

static inline uint64_t loc_of(struct strobe_tracy_session *s, uint64_t pointer)
{
    struct loc_cached *cached = &s->loc_cache[(pointer >> 4 ^ pointer >> 11) % LOC_CACHE];
    if (__builtin_expect(cached->pointer != pointer || !cached->id, 0))
        *cached = (struct loc_cached){pointer, strobe_tracy_loc(s, pointer)};
    return cached->id;
}

/* The thread that a zone's event belongs to; NULL: it is not known, and the event is set aside. */
static struct thread *thread_of_zone(struct strobe_tracy_session *s)
{
    struct thread *thread = strobe_tracy_current(s);
    if (thread && !s->lost_thread)
        return thread;
    strobe_tracy_set_aside(s, thread, "a zone of a thread that is not known");
    return NULL;
}

static void begin_zone(struct strobe_tracy_session *s, uint64_t raw, uint64_t loc, uint32_t form)
{
    struct thread *thread = thread_of_zone(s);
    int64_t own;
    if (!thread)
        return;
    if (form & FORM_WITH_STACK)
        strobe_tracy_put_waiting(s, thread, &thread->stack, raw);
    uint64_t tick = strobe_tracy_time(s, raw, &own);
    strobe_build_zone_begin(s->build, thread->track, tick, loc);
    if (own)
        strobe_build_own_time(s->build, thread->track, own);
    s->n_zones++;
}

static void end_zone(struct strobe_tracy_session *s, uint64_t raw)
{
    struct thread *thread = thread_of_zone(s);
    int64_t own;
    if (!thread)
        return;
    uint64_t tick = strobe_tracy_time(s, raw, &own);
    if (!strobe_build_zone_end(s->build, thread->track, tick))
        strobe_tracy_remark(s, "a zone ends that was not begun");
    if (own)
        strobe_build_own_time(s->build, thread->track, own);
}

/* ---- one at a time ---- */

void strobe_tracy_on_zone_begin(struct strobe_tracy_session *s, const uint8_t *fields,
                                uint32_t form)
{
    uint64_t raw = strobe_tracy_step(s, strobe_tracy_unbias(s, (int64_t)get64(fields)));
    begin_zone(s, raw, loc_of(s, get64(fields + 8)), form);
}

void strobe_tracy_on_zone_begin_32(struct strobe_tracy_session *s, const uint8_t *fields,
                                   uint32_t form)
{
    uint64_t raw = strobe_tracy_step(s, get32(fields) + BIAS_32);
    begin_zone(s, raw, loc_of(s, get64(fields + 4)), form);
}

void strobe_tracy_on_zone_begin_16(struct strobe_tracy_session *s, const uint8_t *fields,
                                   uint32_t form)
{
    uint64_t raw = strobe_tracy_step(s, get16(fields));
    begin_zone(s, raw, loc_of(s, get64(fields + 2)), form);
}

void strobe_tracy_on_zone_begin_alloc(struct strobe_tracy_session *s, const uint8_t *fields,
                                      uint32_t form)
{
    uint64_t raw = strobe_tracy_step(s, (int64_t)get64(fields));
    begin_zone(s, raw, strobe_tracy_take_loc(s), form);
}

void strobe_tracy_on_zone_end(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    (void)form;
    end_zone(s, strobe_tracy_step(s, strobe_tracy_unbias(s, (int64_t)get64(fields))));
}

void strobe_tracy_on_zone_end_32(struct strobe_tracy_session *s, const uint8_t *fields,
                                 uint32_t form)
{
    (void)form;
    end_zone(s, strobe_tracy_step(s, get32(fields) + BIAS_32));
}

void strobe_tracy_on_zone_end_16(struct strobe_tracy_session *s, const uint8_t *fields,
                                 uint32_t form)
{
    (void)form;
    end_zone(s, strobe_tracy_step(s, get16(fields)));
}

/* ZoneText, ZoneName, ZoneColor, ZoneValue: of the innermost zone. They carry no time. */
void strobe_tracy_on_zone_note(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    struct thread *thread = thread_of_zone(s);
    uint64_t number = form == STROBE_KIND_ZONE_COLOR   ? get_color(fields)
                      : form == STROBE_KIND_ZONE_VALUE ? get64(fields)
                                                       : 0;
    if (!thread)
        return;
    strobe_tracy_put(s, thread->track, s->ref_thread ? s->ref_thread : s->last_raw,
                     (enum strobe_kind)form, &number, s->single.bytes, s->single.n);
    s->single.n = 0;
}

/* ---- in runs ---- */

/* The time and, of a begin, the pointer to its location of an event of that form. Its size; 0: not
 * one that the loop takes. */
static inline uint32_t take_zone(const struct strobe_tracy_session *s, enum zone_form form,
                                 const uint8_t *at, uint64_t *tick, uint64_t *pointer)
{
    if (form == ZONE_FORM_END_16) {
        *tick += get16(at + 1);
        return 3;
    }
    if (form == ZONE_FORM_BEGIN_16) {
        *tick += get16(at + 1);
        *pointer = get64(at + 3);
        return 11;
    }
    if (form == ZONE_FORM_END_64) {
        *tick += (uint64_t)strobe_tracy_unbias(s, (int64_t)get64(at + 1));
        return 9;
    }
    if (form == ZONE_FORM_BEGIN_64) {
        *tick += (uint64_t)strobe_tracy_unbias(s, (int64_t)get64(at + 1));
        *pointer = get64(at + 9);
        return 17;
    }
    if (form == ZONE_FORM_END_32) {
        *tick += get32(at + 1) + (uint64_t)BIAS_32;
        return 5;
    }
    if (form == ZONE_FORM_BEGIN_32) {
        *tick += get32(at + 1) + (uint64_t)BIAS_32;
        *pointer = get64(at + 5);
        return 13;
    }
    return 0;
}

const uint8_t *strobe_tracy_decode_zones(struct strobe_tracy_session *s, const uint8_t *at,
                                         const uint8_t *end)
{
    struct strobe_zone_step steps[STEPS];
    struct strobe_build_track *track = s->current->track;
    const uint8_t *forms = s->zone_form;
    uint64_t ref = s->ref_thread, n_ends = 0;
    const uint64_t low = s->tick_low, span = s->tick_span;
    const uint8_t *last = end - at < LONGEST_ZONE_EVENT ? NULL : end - LONGEST_ZONE_EVENT;
    uint32_t n, n_all = 0;
    do {
        for (n = 0; n < STEPS && at <= last; n++) {
            uint64_t pointer = 0, tick = ref;
            enum zone_form form = (enum zone_form)forms[*at];
            uint32_t size = take_zone(s, form, at, &tick, &pointer);
            if (!size || __builtin_expect(tick - low > span, 0))
                break;
            bool is_end = form & 1;
            steps[n] =
                (struct strobe_zone_step){tick, is_end ? STROBE_STEP_END : loc_of(s, pointer), 0};
            n_ends += is_end;
            ref = tick;
            at += size;
        }
        strobe_build_steps(s->build, track, steps, n);
        n_all += n;
    } while (n == STEPS);
    s->last_raw = s->ref_thread = ref;
    s->n_events += n_all;
    s->n_zones += n_all - n_ends;
    return at;
}

/* ---- locations without a pointer ---- */

void strobe_tracy_payload_loc(struct strobe_tracy_session *s, const uint8_t *bytes, size_t n)
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
    struct strobe_build_loc loc = {
        .color = get32(bytes) & 0xffffff,
        .line = get32(bytes + 4),
        .function = function,
        .n_function = (size_t)(file - function),
        .file = file + 1,
        .n_file = (size_t)(name - file - 1),
        .name = name + 1,
        .n_name = (size_t)(end - name - 1),
    };
    s->next_loc = strobe_build_loc(s->build, &loc);
    s->has_next_loc = true;
}

uint64_t strobe_tracy_take_loc(struct strobe_tracy_session *s)
{
    if (!s->has_next_loc)
        return strobe_tracy_loc(s, 0);
    s->has_next_loc = false;
    return s->next_loc;
}
