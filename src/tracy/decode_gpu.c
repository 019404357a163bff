/* decode_gpu.c - GPU contexts, their zones, times and notes: a track for each context.
 * SPDX-License-Identifier: MIT */
#include "tracy/decode.h"

/* The track of a context; NULL: no room for it. */
static struct strobe_build_track *track_of(struct strobe_tracy_session *s, uint8_t context,
                                           uint64_t raw)
{
    int64_t own;
    return strobe_build_gpu(s->build, context, strobe_tracy_time(s, raw, &own));
}

static void put_gpu(struct strobe_tracy_session *s, uint8_t context, uint64_t raw,
                    enum strobe_kind kind, const uint64_t *numbers)
{
    struct strobe_build_track *track = track_of(s, context, raw);
    if (track)
        strobe_tracy_put(s, track, raw, kind, numbers, NULL, 0);
    else
        strobe_tracy_set_aside(s, NULL, "no room for another GPU context");
}

void strobe_tracy_on_gpu_context(struct strobe_tracy_session *s, const uint8_t *fields,
                                 uint32_t form)
{
    (void)form;
    uint64_t numbers[] = {fields[24],
                          fields[26],
                          fields[25] & 1,
                          get32(fields + 16),
                          strobe_tracy_absolute(s, fields),
                          get64(fields + 8),
                          strobe_tracy_bits(strobe_tracy_float_at(fields + 20))};
    strobe_build_record(s->build, STROBE_META_GPU_CONTEXT, numbers, NULL, NULL);
}

/* The call stack that waits for a zone goes before it. */
static void put_gpu_stack(struct strobe_tracy_session *s, uint8_t context, uint64_t raw,
                          struct addresses *stack)
{
    struct strobe_build_track *track = stack->n ? track_of(s, context, raw) : NULL;
    if (track)
        strobe_tracy_put_stack(s, track, raw, stack->list, stack->n);
    stack->n = 0;
}

void strobe_tracy_on_gpu_zone(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    int64_t difference = (int64_t)get64(fields);
    bool serial = form & FORM_SERIAL, begin = form & FORM_ENTER;
    uint64_t raw =
        serial ? strobe_tracy_step_serial(s, difference) : strobe_tracy_step(s, difference);
    uint32_t tid = get32(fields + 8);
    uint8_t context = fields[14];
    uint64_t numbers[] = {context, get16(fields + 12), tid, 0};
    if (serial ? s->lost_others : s->lost_thread)
        return strobe_tracy_set_aside(s, NULL, "its time refers to an event that was damaged");
    if (begin)
        numbers[3] =
            form & FORM_ALLOC ? strobe_tracy_take_loc(s) : strobe_tracy_loc(s, get64(fields + 15));
    if (form & FORM_WITH_STACK) {
        struct thread *thread = serial ? strobe_tracy_thread_of(s, tid) : strobe_tracy_current(s);
        if (thread)
            put_gpu_stack(s, context, raw, serial ? &s->serial_stack : &thread->stack);
    }
    put_gpu(s, context, raw, begin ? STROBE_KIND_GPU_BEGIN : STROBE_KIND_GPU_END, numbers);
}

void strobe_tracy_on_gpu_time(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    (void)form;
    s->ref_gpu += get64(fields);
    uint64_t numbers[] = {fields[10], get16(fields + 8), s->ref_gpu};
    if (!strobe_tracy_serial_is_lost(s))
        put_gpu(s, fields[10], s->last_raw, STROBE_KIND_GPU_TIME, numbers);
}

void strobe_tracy_on_gpu_calibration(struct strobe_tracy_session *s, const uint8_t *fields,
                                     uint32_t form)
{
    (void)form;
    uint64_t raw = strobe_tracy_absolute(s, fields + 8);
    uint64_t numbers[] = {fields[24], get64(fields), raw, get64(fields + 16)};
    put_gpu(s, fields[24], raw, STROBE_KIND_GPU_CALIBRATION, numbers);
}

void strobe_tracy_on_gpu_sync(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    (void)form;
    uint64_t raw = strobe_tracy_absolute(s, fields + 8);
    uint64_t numbers[] = {fields[16], get64(fields), raw};
    put_gpu(s, fields[16], raw, STROBE_KIND_GPU_SYNC, numbers);
}

void strobe_tracy_on_gpu_name(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    (void)form;
    uint64_t context = fields[0];
    const char *name = s->single.bytes;
    strobe_build_record(s->build, STROBE_META_GPU_NAME, &context, &name, &s->single.n);
    struct strobe_build_track *track = track_of(s, fields[0], s->last_raw);
    if (track)
        strobe_build_thread_name(s->build, track, name, s->single.n);
    s->single.n = 0;
}

void strobe_tracy_on_gpu_note_name(struct strobe_tracy_session *s, const uint8_t *fields,
                                   uint32_t form)
{
    (void)form;
    uint64_t numbers[] = {fields[8], get64(fields)};
    const char *name = s->single.bytes;
    strobe_build_record(s->build, STROBE_META_GPU_NOTE_NAME, numbers, &name, &s->single.n);
    s->single.n = 0;
}

void strobe_tracy_on_gpu_note(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    (void)form;
    bool has_tid = s->table.protocol >= 76;
    const uint8_t *rest = fields + (has_tid ? 20 : 16);
    uint64_t numbers[] = {rest[2], get16(rest), has_tid ? get32(fields + 16) : 0, get64(fields),
                          get64(fields + 8)};
    put_gpu(s, rest[2], s->last_raw, STROBE_KIND_GPU_NOTE, numbers);
}
