/* api.c - the public functions of include/strobe/strobe.h, those that are not inline.
 * Each asks the gate first, then emits; none of them can fail in a way that the program sees.
 * SPDX-License-Identifier: MIT */
#include "client/client.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int strobe_recording(void)
{
    return strobe_gate_now->active != 0;
}

/* Without a lock or a system call: where the thread is registered, or there is no room to register it. */
static bool lose_fast(struct strobe_pool *pool, enum strobe_loss loss)
{
    const struct strobe_front *front = (const struct strobe_front *)strobe_hot_now;
    struct strobe_thread *thread = strobe_client_known_thread();
    uint32_t generation = __atomic_load_n(&pool->control->active, __ATOMIC_ACQUIRE);
    uint64_t now = strobe_ring_now(pool);
    if (!generation || !((thread && thread->generation == generation) ||
                         (front->dry.until && strobe_ring_is_dry(pool, &front->dry, now))))
        return false;
    strobe_ring_count_loss_at(pool, thread, loss, now);
    return true;
}

static void lose_slow(struct strobe_pool *pool, enum strobe_loss loss)
{
    uint32_t given = __atomic_load_n(&pool->control->n_given, __ATOMIC_ACQUIRE);
    bool is_hopeless = strobe_ring_is_hopeless(pool);
    strobe_ring_count_loss(pool, strobe_client_thread(pool), loss);
    if (is_hopeless)
        strobe_ring_note_dry(pool, &((struct strobe_front *)strobe_hot_now)->dry, given, loss);
}

int strobe_client_lose(enum strobe_loss loss)
{
    struct strobe_mask old;
    int saved_errno = errno;
    struct strobe_pool *pool = strobe_ring_own_pool();
    if (pool && loss == STROBE_LOSS_UNNAMED)
        loss = strobe_ring_unnamed_cause(pool);
    if (pool && lose_fast(pool, loss))
        return STROBE_DROPPED(loss);
    strobe_ring_block(&old);
    pool = strobe_client_pool();
    if (pool && strobe_ring_enter(pool))
        lose_slow(pool, loss);
    if (pool)
        strobe_ring_leave(pool);
    strobe_ring_unblock(&old);
    errno = saved_errno;
    return STROBE_DROPPED(loss);
}

int strobe_client_lose_unnamed(void)
{
    return strobe_client_lose(STROBE_LOSS_UNNAMED);
}

/* Naming may have slept, and the recorder left meanwhile: the gate is tested again, right before the word. */
static int emit_named(uint64_t word, struct strobe_loc *loc)
{
    return strobe_gate_is_open(strobe_gate_now) ? strobe_emit(word, loc) : STROBE_NOBODY;
}

/* ---- zones ---- */

int strobe_begin_unnamed(struct strobe_loc *loc)
{
    int dropped = strobe_client_drop_dry();
    uint64_t id = dropped ? 0 : strobe_client_loc_id(loc);
    if (dropped)
        return dropped;
    if (!id)
        return strobe_client_lose_unnamed();
    int on = emit_named(STROBE_WORD_BEGIN | id << 32, loc);
    return on == STROBE_EMIT_STORED_SLOW ? STROBE_EMIT_STORED : on;
}

static bool is_dropped(int on)
{
    return on != STROBE_EMIT_IDLE && on != STROBE_EMIT_STORED && on != STROBE_EMIT_STORED_SLOW &&
           on != STROBE_NOBODY;
}

/* Ends that the inline path does not emit: of zones begun before anybody recorded (emitted as an end
 * whose begin is not known), of dropped ones (dropped too, so that nothing is left unbalanced), of
 * run-time ones. */
void strobe_end_odd(struct strobe_loc *loc, uint64_t word, int on)
{
    uint64_t id = word;
    if (is_dropped(on)) {
        strobe_client_lose((enum strobe_loss)(on / 4));
        return;
    }
    if (!loc && id) { /* a run-time location */
        uint64_t words[] = {STROBE_RECORD_WORD(STROBE_KIND_ZONE_END_AT, 2), id};
        strobe_client_emit(words, 2);
        return;
    }
    if (loc)
        id = strobe_client_loc_id(loc);
    if (id)
        emit_named(STROBE_WORD_END | id << 32, loc);
    else if (on)
        strobe_client_lose_unnamed();
}

void strobe_end_unseen(struct strobe_loc *loc)
{
    if (loc)
        strobe_end_odd(loc, 0, 0);
}

struct strobe_zone strobe_zone_begin_call(struct strobe_loc *loc)
{
    return strobe_zone_begin(loc);
}

void strobe_zone_end_call(struct strobe_zone zone)
{
    strobe_zone_end(&zone);
}

struct strobe_zone strobe_zone_begin_at(const char *file, uint32_t line, const char *function,
                                        const char *name, size_t name_bytes, uint32_t color)
{
    struct strobe_zone zone = {NULL, 0, strobe_gate_now, STROBE_EMIT_IDLE};
    if (!zone.gate->active)
        return zone;
    struct strobe_texts_of_loc texts = {
        file, function, name, file ? strlen(file) : 0, function ? strlen(function) : 0, name_bytes};
    zone.word = strobe_client_dynamic_id(&texts, line, color);
    if (!zone.word) {
        zone.on = strobe_client_lose_unnamed();
        return zone;
    }
    uint64_t words[] = {STROBE_RECORD_WORD(STROBE_KIND_ZONE_BEGIN, 2), zone.word};
    zone.on = strobe_client_emit(words, 2);
    return zone;
}

void strobe_zone_begin_past(struct strobe_loc *loc, uint64_t tick)
{
    if (!strobe_gate_now->active)
        return;
    uint64_t id = strobe_client_loc_id(loc);
    if (id)
        strobe_client_emit_past(STROBE_WORD_BEGIN | id << 32, tick);
    else
        strobe_client_lose_unnamed();
}

uint64_t strobe_clock_now(void)
{
    const struct strobe_pool *pool = strobe_client_pool();
    return pool ? strobe_ring_now(pool) : strobe_ticks();
}

/* ---- records of numbers ---- */

void strobe_client_emit_numbers(enum strobe_kind kind, const uint64_t *fields, uint32_t n_fields)
{
    uint64_t words[1 + STROBE_EMIT_FIELDS_MAX];
    if (!strobe_gate_now->active)
        return;
    words[0] = STROBE_RECORD_WORD(kind, 1 + n_fields);
    memcpy(words + 1, fields, 8 * n_fields);
    strobe_client_emit(words, 1 + n_fields);
}

static void emit1(enum strobe_kind kind, uint64_t a)
{
    strobe_client_emit_numbers(kind, &a, 1);
}

static void emit2(enum strobe_kind kind, uint64_t a, uint64_t b)
{
    strobe_client_emit_numbers(kind, (uint64_t[]){a, b}, 2);
}

/* The id of `name`, or 0 after the loss was counted. */
static uint64_t named(struct strobe_name *name)
{
    if (!strobe_gate_now->active)
        return 0;
    uint64_t id = strobe_client_name_id(name);
    if (!id)
        strobe_client_lose_unnamed();
    return id;
}

/* The id of an open zone's location, for an event about it. 0: no event, or its loss was counted. */
static uint64_t id_of_open(const struct strobe_zone *zone)
{
    if (!strobe_gate_now->active)
        return 0;
    if (is_dropped(zone->on)) {
        strobe_client_lose((enum strobe_loss)(zone->on / 4));
        return 0;
    }
    if (!strobe_zone_is_emitted(zone))
        return 0;
    uint64_t id = zone->loc ? strobe_client_loc_id(zone->loc) : zone->word;
    if (!id)
        strobe_client_lose_unnamed();
    return id;
}

void strobe_zone_set_value(const struct strobe_zone *zone, uint64_t value)
{
    uint64_t id = id_of_open(zone);
    if (id)
        emit2(STROBE_KIND_ZONE_VALUE_AT, id, value);
}

void strobe_zone_set_color(const struct strobe_zone *zone, uint32_t color)
{
    uint64_t id = id_of_open(zone);
    if (id)
        emit2(STROBE_KIND_ZONE_COLOR_AT, id, color);
}

void strobe_zone_value(uint64_t value)
{
    emit1(STROBE_KIND_ZONE_VALUE, value);
}

void strobe_zone_color(uint32_t color)
{
    emit1(STROBE_KIND_ZONE_COLOR, color);
}

static void plot_double(uint64_t id, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    emit2(STROBE_KIND_PLOT_DOUBLE, id, bits);
}

void strobe_plot_int(struct strobe_name *plot, int64_t value)
{
    uint64_t id = named(plot);
    if (id)
        emit2(STROBE_KIND_PLOT_INT, id, (uint64_t)value);
}

void strobe_plot_double(struct strobe_name *plot, double value)
{
    uint64_t id = named(plot);
    if (id)
        plot_double(id, value);
}

static uint64_t named_text(const char *text)
{
    if (!strobe_gate_now->active)
        return 0;
    uint64_t id = strobe_client_text_id(text, strlen(text));
    if (!id)
        strobe_client_lose_unnamed();
    return id;
}

void strobe_plot_named(const char *plot, double value)
{
    uint64_t id = named_text(plot);
    if (id)
        plot_double(id, value);
}

void strobe_plot_named_int(const char *plot, int64_t value)
{
    uint64_t id = named_text(plot);
    if (id)
        emit2(STROBE_KIND_PLOT_INT, id, (uint64_t)value);
}

void strobe_frame_mark(struct strobe_name *frame)
{
    uint64_t id = named(frame);
    if (id)
        emit1(STROBE_KIND_FRAME_MARK, id);
}

void strobe_frame_start(struct strobe_name *frame)
{
    uint64_t id = named(frame);
    if (id)
        emit1(STROBE_KIND_FRAME_START, id);
}

void strobe_frame_end(struct strobe_name *frame)
{
    uint64_t id = named(frame);
    if (id)
        emit1(STROBE_KIND_FRAME_END, id);
}

void strobe_mem_alloc(struct strobe_name *pool, const void *address, size_t size)
{
    uint64_t id = named(pool);
    uint64_t words[] = {STROBE_RECORD_WORD(STROBE_KIND_MEM_ALLOC, 4), id, (uintptr_t)address, size};
    if (id)
        strobe_client_emit(words, 4);
}

void strobe_mem_free(struct strobe_name *pool, const void *address)
{
    uint64_t id = named(pool);
    if (id)
        emit2(STROBE_KIND_MEM_FREE, id, (uintptr_t)address);
}

void strobe_fiber_enter(struct strobe_name *fiber)
{
    if (!strobe_gate_now->active)
        return;
    uint64_t id = strobe_client_fiber_id(fiber);
    if (id)
        emit1(STROBE_KIND_FIBER_ENTER, id);
    else
        strobe_client_lose_unnamed();
}

void strobe_zone_loose(void)
{
    uint64_t word = STROBE_RECORD_WORD(STROBE_KIND_ZONE_LOOSE, 1);
    if (strobe_gate_now->active)
        strobe_client_emit(&word, 1);
}

void strobe_fiber_leave(void)
{
    uint64_t word = STROBE_RECORD_WORD(STROBE_KIND_FIBER_LEAVE, 1);
    if (strobe_gate_now->active)
        strobe_client_emit(&word, 1);
}

uint64_t strobe_client_new_id(void)
{
    static uint64_t last;
    return (uint64_t)getpid() << 40 | __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

uint64_t strobe_span_new_id(void)
{
    return strobe_client_new_id();
}

void strobe_span_begin(uint64_t span, struct strobe_loc *loc)
{
    if (!strobe_gate_now->active)
        return;
    uint64_t id = strobe_client_loc_id(loc);
    if (id)
        emit2(STROBE_KIND_SPAN_BEGIN, span, id);
    else
        strobe_client_lose_unnamed();
}

void strobe_span_end(uint64_t span)
{
    emit1(STROBE_KIND_SPAN_END, span);
}

void strobe_flow_begin(uint64_t flow)
{
    emit1(STROBE_KIND_FLOW_BEGIN, flow);
}

void strobe_flow_step(uint64_t flow)
{
    emit1(STROBE_KIND_FLOW_STEP, flow);
}

void strobe_flow_end(uint64_t flow)
{
    emit1(STROBE_KIND_FLOW_END, flow);
}

/* ---- texts ---- */

void strobe_zone_text(const char *text, size_t n_bytes)
{
    if (strobe_gate_now->active)
        strobe_client_emit_text(STROBE_KIND_ZONE_TEXT, NULL, 0, text, n_bytes);
}

void strobe_zone_name(const char *name, size_t n_bytes)
{
    if (strobe_gate_now->active)
        strobe_client_emit_text(STROBE_KIND_ZONE_NAME, NULL, 0, name, n_bytes);
}

void strobe_zone_add_text(const struct strobe_zone *zone, const char *text, size_t n_bytes)
{
    uint64_t id = id_of_open(zone);
    if (id)
        strobe_client_emit_text(STROBE_KIND_ZONE_TEXT_AT, &id, 1, text, n_bytes);
}

void strobe_zone_set_name(const struct strobe_zone *zone, const char *name, size_t n_bytes)
{
    uint64_t id = id_of_open(zone);
    if (id)
        strobe_client_emit_text(STROBE_KIND_ZONE_NAME_AT, &id, 1, name, n_bytes);
}

void strobe_message(int severity, uint32_t color, const char *text, size_t n_bytes)
{
    uint64_t fields[] = {(uint64_t)severity, color};
    if (strobe_gate_now->active)
        strobe_client_emit_text(STROBE_KIND_MESSAGE, fields, 2, text, n_bytes);
}

void strobe_app_info(const char *text, size_t n_bytes)
{
    if (strobe_gate_now->active)
        strobe_client_emit_text(STROBE_KIND_APP_INFO, NULL, 0, text, n_bytes);
}

void strobe_trigger(const char *reason)
{
    if (strobe_gate_now->active)
        strobe_client_emit_text(STROBE_KIND_TRIGGER, NULL, 0, reason, strlen(reason));
}

/* Formatted texts are made on the stack: most of them with little of it, so that a handler on a
 * small signal stack can do it too; what is longer than the larger size is cut. */
enum { FORMAT_SMALL = 512, FORMAT_MAX = 16384 };

static STROBE_COLD void format_long(const struct strobe_formatted *how, const char *format,
                                    va_list args)
{
    char text[FORMAT_MAX];
    int n = vsnprintf(text, sizeof text, format, args);
    how->put(how, text, n < 0 ? 0 : n < FORMAT_MAX ? (size_t)n : FORMAT_MAX - 1);
}

void strobe_client_format(const struct strobe_formatted *how, const char *format, va_list args)
{
    char text[FORMAT_SMALL];
    va_list again;
    va_copy(again, args);
    int saved_errno = errno, n = vsnprintf(text, sizeof text, format, args);
    if (n >= FORMAT_SMALL)
        format_long(how, format, again);
    else
        how->put(how, text, n < 0 ? 0 : (size_t)n);
    va_end(again);
    errno = saved_errno;
}

static void put_zone_text(const struct strobe_formatted *how, const char *text, size_t n_bytes)
{
    (void)how;
    strobe_zone_text(text, n_bytes);
}

static void put_message(const struct strobe_formatted *how, const char *text, size_t n_bytes)
{
    strobe_message((int)how->a, (uint32_t)how->b, text, n_bytes);
}

void strobe_zone_textf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strobe_zone_textv(format, args);
    va_end(args);
}

void strobe_zone_textv(const char *format, va_list args)
{
    struct strobe_formatted how = {.put = put_zone_text};
    if (strobe_gate_now->active)
        strobe_client_format(&how, format, args);
}

void strobe_messagef(int severity, uint32_t color, const char *format, ...)
{
    struct strobe_formatted how = {put_message, (uint64_t)severity, color};
    va_list args;
    if (!strobe_gate_now->active)
        return;
    va_start(args, format);
    strobe_client_format(&how, format, args);
    va_end(args);
}

/* ---- facts ---- */

void strobe_client_tell(enum strobe_meta kind, const uint64_t *numbers, uint32_t n_numbers,
                        const char *text, size_t n_bytes)
{
    strobe_client_tell_texts(kind, numbers, n_numbers, &text, &n_bytes, text ? 1 : 0);
}

void strobe_client_tell_texts(enum strobe_meta kind, const uint64_t *numbers, uint32_t n_numbers,
                              const char *const *texts, const size_t *n_bytes, uint32_t n_texts)
{
    int saved_errno = errno;
    struct strobe_mask old;
    strobe_ring_block(&old);
    struct strobe_pool *pool = strobe_client_pool();
    if (pool && pool->control->active) {
        strobe_ring_lock(pool);
        strobe_client_describe(pool);
        strobe_client_meta(pool, kind, numbers, n_numbers, texts, n_bytes, n_texts);
        strobe_ring_unlock(pool);
    }
    strobe_ring_unblock(&old);
    errno = saved_errno;
}

void strobe_plot_config(struct strobe_name *plot, int format, int step, uint32_t color)
{
    uint64_t id = named(plot);
    uint64_t numbers[] = {id, (uint64_t)format, (uint64_t)step, color};
    if (id)
        strobe_client_tell(STROBE_META_PLOT_CONFIG, numbers, 4, NULL, 0);
}

void strobe_set_program_name(const char *name)
{
    strobe_client_keep_program_name(name);
    strobe_client_tell(STROBE_META_PROGRAM_NAME, NULL, 0, name, strlen(name));
}

void strobe_set_thread_name(const char *name)
{
    int saved_errno = errno;
    struct strobe_mask old;
    strobe_client_keep_thread_name(name);
    strobe_ring_block(&old);
    struct strobe_pool *pool = strobe_client_pool();
    struct strobe_thread *thread =
        pool && pool->control->active ? strobe_client_thread(pool) : NULL;
    if (thread) {
        size_t n = strlen(name);
        strobe_ring_lock(pool);
        strobe_client_meta(pool, STROBE_META_THREAD_NAME, &thread->track, 1, &name, &n, 1);
        strobe_ring_unlock(pool);
    }
    strobe_ring_unblock(&old);
    errno = saved_errno;
}

void strobe_callstack(int max_frames)
{
    enum { FRAMES_MAX = 96 };
    uint64_t words[2 + FRAMES_MAX];
    if (!strobe_gate_now->active || max_frames <= 0)
        return;
    int saved_errno = errno;
    struct strobe_mask old;
    strobe_ring_block(&old);
    struct strobe_pool *pool = strobe_client_pool();
    struct strobe_thread *thread =
        pool && pool->control->active ? strobe_client_thread(pool) : NULL;
    int n = 0;
    if (thread)
        n = strobe_client_stack(thread, words + 2,
                                max_frames < FRAMES_MAX ? max_frames : FRAMES_MAX);
    if (n > 0) {
        words[0] = STROBE_RECORD_WORD(STROBE_KIND_CALLSTACK, 2 + n);
        words[1] = (uint64_t)n;
        strobe_client_emit(words, 2 + (uint32_t)n);
    }
    strobe_ring_unblock(&old);
    errno = saved_errno;
}
