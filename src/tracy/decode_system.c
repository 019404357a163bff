/* decode_system.c - what the system did: samples, context switches, counters, the machine's cores.
 * SPDX-License-Identifier: MIT */
#include "tracy/decode.h"

enum {
    CPU_NOT_KNOWN = 65535, /* of a sample */
    CPU_OF_SWITCH = 65534, /* of a sample that a context switch took */
};

/* 0 is no time at all: such events are put where the last one was. */
static uint64_t step_ctx(struct strobe_tracy_session *s, int64_t difference)
{
    s->ref_ctx += (uint64_t)difference;
    return s->ref_ctx ? (s->last_raw = s->ref_ctx) : s->last_raw;
}

/* ---- samples ---- */

static void sample(struct strobe_tracy_session *s, uint32_t tid, int64_t difference, uint32_t form)
{
    uint64_t raw = step_ctx(s, difference);
    struct thread *thread = strobe_tracy_thread_of(s, tid);
    struct addresses *stack = &s->payload;
    int64_t own;
    if (strobe_tracy_serial_is_lost(s) || !thread) {
        stack->n = 0;
        if (!thread)
            strobe_tracy_set_aside(s, NULL, "no room for another thread");
        return;
    }
    uint64_t tick = strobe_tracy_time(s, raw, &own);
    strobe_build_stack(s->build, thread->track, tick, STROBE_KIND_SAMPLE,
                       form & FORM_OF_SWITCH ? CPU_OF_SWITCH : CPU_NOT_KNOWN, stack->list,
                       stack->n);
    if (own)
        strobe_build_own_time(s->build, thread->track, own);
    strobe_tracy_want_symbols(s, stack->list, stack->n);
    stack->n = 0;
}

/* Where differences are not biased the time comes before the thread. */
void strobe_tracy_on_sample(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    if (s->table.biased_times)
        sample(s, get32(fields), strobe_tracy_unbias(s, (int64_t)get64(fields + 4)), form);
    else
        sample(s, get32(fields + 8), (int64_t)get64(fields), form);
}

void strobe_tracy_on_sample_32(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    sample(s, get32(fields), get32(fields + 4) + BIAS_32, form);
}

void strobe_tracy_on_sample_16(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    sample(s, get32(fields), get16(fields + 4), form);
}

/* ---- the system's own events ---- */

/* Events of the system go on the track that stands for no thread. */
static void put_system(struct strobe_tracy_session *s, uint64_t raw, enum strobe_kind kind,
                       const uint64_t *numbers)
{
    struct thread *thread = strobe_tracy_thread_of(s, 0);
    if (thread)
        strobe_tracy_put(s, thread->track, raw, kind, numbers, NULL, 0);
    else
        strobe_tracy_set_aside(s, NULL, "no room for another thread");
}

void strobe_tracy_on_context_switch(struct strobe_tracy_session *s, const uint8_t *fields,
                                    uint32_t form)
{
    (void)form;
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
    if (strobe_tracy_serial_is_lost(s))
        return;
    put_system(s, raw, STROBE_KIND_CPU_SWITCH, numbers);
    strobe_tracy_want_external(s, numbers[2]);
}

void strobe_tracy_on_wakeup(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    (void)form;
    uint64_t raw = step_ctx(s, (int64_t)get64(fields));
    bool full = s->table.protocol >= 73;
    uint64_t numbers[] = {get32(fields + 8), full ? fields[12] : 0,
                          full ? (uint64_t)(int8_t)fields[13] : 0,
                          full ? (uint64_t)(int8_t)fields[14] : 0};
    if (!strobe_tracy_serial_is_lost(s))
        put_system(s, raw, STROBE_KIND_WAKEUP, numbers);
}

void strobe_tracy_on_hw_sample(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    uint64_t raw = get64(fields + 8), numbers[] = {form, get64(fields)};
    put_system(s, raw ? raw : s->last_raw, STROBE_KIND_HW_SAMPLE, numbers);
}

void strobe_tracy_on_tid_to_pid(struct strobe_tracy_session *s, const uint8_t *fields,
                                uint32_t form)
{
    (void)form;
    uint64_t numbers[] = {get64(fields), get64(fields + 8)};
    const char *texts[] = {"", ""};
    size_t sizes[] = {0, 0};
    struct entry *entry = strobe_tracy_entry(s, SPACE_EXTERNAL, numbers[0]);
    if (entry)
        entry->id = numbers[1];
    strobe_build_record(s->build, STROBE_META_FOREIGN_THREAD, numbers, texts, sizes);
}

void strobe_tracy_on_topology(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    (void)form;
    bool has_die = s->table.protocol >= 69;
    const uint8_t *rest = fields + (has_die ? 8 : 4);
    uint64_t numbers[] = {get32(fields), has_die ? get32(fields + 4) : 0, get32(rest),
                          get32(rest + 4)};
    strobe_build_record(s->build, STROBE_META_CPU, numbers, NULL, NULL);
}
