/* facade.c - the calls of include/strobe/facade.h that are events of the calling thread: zones by handle,
 * things with a name that is only a pointer, locks, sections.
 * Each asks the gate first; none of them can fail in a way that the program sees. GPU contexts: gpu.c.
 * Frame images: image.c.  SPDX-License-Identifier: MIT */
#include "client/client.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* ---- zones by handle ---- */

static struct strobe_handle handle_of(uint64_t value, int state)
{
    return (struct strobe_handle){(uint32_t)value, (int32_t)(value >> 32 << 16 | (uint64_t)state)};
}

static uint64_t value_of(struct strobe_handle handle)
{
    return (uint64_t)((uint32_t)handle.state >> 16) << 32 | handle.id;
}

enum { LOC_SHIFT = 3 }; /* an address of 50 bits has room in a handle */
static_assert(_Alignof(struct strobe_loc) == 1 << LOC_SHIFT, "no bit of an address is lost");

/* A begin that took the slow way: emitted, dropped, or seen by nobody after all. */
struct strobe_handle strobe_handle_odd(struct strobe_loc *loc, int on)
{
    uint64_t word = __atomic_load_n(&loc->word, __ATOMIC_RELAXED);
    if (on == STROBE_EMIT_STORED_SLOW)
        return (struct strobe_handle){(uint32_t)(word >> 32), STROBE_HANDLE_BEGUN};
    if (on == STROBE_NOBODY)
        return handle_of((uintptr_t)loc >> LOC_SHIFT, STROBE_HANDLE_MISSED);
    return handle_of((uint64_t)on, STROBE_HANDLE_DROPPED);
}

static void end_unseen(uint64_t packed)
{
    uintptr_t address = packed & ~(STROBE_HANDLE_UNSEEN | STROBE_HANDLE_CONST);
    if (packed & STROBE_HANDLE_CONST)
        strobe_end_unseen(strobe_loc_of((const struct strobe_const_loc *)address));
    else
        strobe_end_unseen((struct strobe_loc *)address);
}

void strobe_handle_end_odd(struct strobe_handle handle)
{
    uint64_t value = value_of(handle);
    if (handle.state < 0)
        return end_unseen(strobe_handle_pack(handle));
    switch (handle.state & 15) {
    case STROBE_HANDLE_DROPPED:
        strobe_end_odd(NULL, 0, (int)value);
        break;
    case STROBE_HANDLE_MISSED:
        if (strobe_gate_is_open(strobe_gate_now))
            strobe_end_unseen((struct strobe_loc *)(uintptr_t)(value << LOC_SHIFT));
        break;
    case STROBE_HANDLE_RUN_TIME:
        strobe_client_emit_numbers(STROBE_KIND_ZONE_END_AT, &value, 1);
        break;
    }
}

struct strobe_zone strobe_zone_begin_by_id(uint64_t loc_id)
{
    static struct strobe_loc early = {0, "(named before the recording)", "", "", 0, 0};
    struct strobe_zone zone = {NULL, loc_id, strobe_gate_now, 0};
    if (!zone.gate->active)
        return zone;
    if (!loc_id)
        return strobe_zone_begin(&early);
    uint64_t words[] = {STROBE_RECORD_WORD(STROBE_KIND_ZONE_BEGIN, 2), loc_id};
    zone.on = strobe_client_emit(words, 2);
    return zone;
}

struct strobe_handle strobe_handle_begin_id(uint64_t loc_id)
{
    struct strobe_zone zone = strobe_zone_begin_by_id(loc_id);
    if (zone.loc)
        return strobe_handle_odd(zone.loc, zone.on | STROBE_EMIT_SLOW);
    if (zone.on == STROBE_EMIT_STORED)
        return handle_of(zone.word, STROBE_HANDLE_RUN_TIME);
    if (zone.on == STROBE_EMIT_IDLE || zone.on == STROBE_NOBODY)
        return (struct strobe_handle){0, STROBE_HANDLE_NONE};
    return handle_of((uint64_t)zone.on, STROBE_HANDLE_DROPPED);
}

uint64_t strobe_handle_begin_slow(struct strobe_loc *loc, uint64_t word, uint64_t *reserved)
{
    return strobe_handle_pack(
        strobe_handle_odd(loc, strobe_emit_slow(word, reserved, loc) | STROBE_EMIT_SLOW));
}

uint64_t strobe_handle_begin_missed(const struct strobe_const_loc *from)
{
    struct strobe_loc *loc = strobe_loc_of(from);
    if (loc)
        return strobe_handle_pack(strobe_handle_begin(loc));
    const char *function = from->function ? from->function : "";
    const char *file = from->file ? from->file : "";
    size_t n_name = from->name ? strlen(from->name) : 0;
    return strobe_handle_pack(
        strobe_handle_begin_id(strobe_loc_id(file, strlen(file), from->line, function,
                                             strlen(function), from->name, n_name, from->color)));
}

static void put_zone_name(const struct strobe_formatted *how, const char *text, size_t n_bytes)
{
    (void)how;
    strobe_zone_name(text, n_bytes);
}

void strobe_zone_namev(const char *format, va_list args)
{
    struct strobe_formatted how = {.put = put_zone_name};
    if (strobe_gate_now->active)
        strobe_client_format(&how, format, args);
}

void strobe_zone_namef(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strobe_zone_namev(format, args);
    va_end(args);
}

/* ---- things with a name that is only a pointer ---- */

void strobe_text_plot_int(const char *plot, int64_t value)
{
    uint64_t fields[] = {0, (uint64_t)value};
    if (strobe_client_const_id(plot, &fields[0]))
        strobe_client_emit_numbers(STROBE_KIND_PLOT_INT, fields, 2);
}

void strobe_text_plot_double(const char *plot, double value)
{
    uint64_t fields[2];
    memcpy(&fields[1], &value, sizeof value);
    if (strobe_client_const_id(plot, &fields[0]))
        strobe_client_emit_numbers(STROBE_KIND_PLOT_DOUBLE, fields, 2);
}

void strobe_text_plot_config(const char *plot, int format, int step, uint32_t color)
{
    uint64_t numbers[] = {0, (uint64_t)format, step != 0, color};
    if (strobe_client_const_id(plot, &numbers[0]))
        strobe_client_tell(STROBE_META_PLOT_CONFIG, numbers, 4, NULL, 0);
}

static void emit_named(enum strobe_kind kind, const char *name)
{
    uint64_t id;
    if (strobe_client_const_id(name, &id))
        strobe_client_emit_numbers(kind, &id, 1);
}

/* Unnamed marks so far: an image says which of them it shows. */
static uint64_t n_frames;

void strobe_text_frame_mark(const char *frame)
{
    if (!frame)
        __atomic_add_fetch(&n_frames, 1, __ATOMIC_RELAXED);
    emit_named(STROBE_KIND_FRAME_MARK, frame);
}

uint64_t strobe_client_n_frames(void)
{
    return __atomic_load_n(&n_frames, __ATOMIC_RELAXED);
}

void strobe_text_frame_start(const char *frame)
{
    emit_named(STROBE_KIND_FRAME_START, frame);
}

void strobe_text_frame_end(const char *frame)
{
    emit_named(STROBE_KIND_FRAME_END, frame);
}

void strobe_frame_vsync(uint64_t display)
{
    strobe_client_emit_numbers(STROBE_KIND_FRAME_VSYNC, &display, 1);
}

void strobe_text_mem_alloc(const char *pool, const void *address, size_t size)
{
    uint64_t fields[] = {0, (uintptr_t)address, size};
    if (strobe_client_const_id(pool, &fields[0]))
        strobe_client_emit_numbers(STROBE_KIND_MEM_ALLOC, fields, 3);
}

void strobe_text_mem_free(const char *pool, const void *address)
{
    uint64_t fields[] = {0, (uintptr_t)address};
    if (strobe_client_const_id(pool, &fields[0]))
        strobe_client_emit_numbers(STROBE_KIND_MEM_FREE, fields, 2);
}

void strobe_text_mem_discard(const char *pool)
{
    emit_named(STROBE_KIND_MEM_DISCARD, pool);
}

/* ---- locks ---- */

/* Tell the recorder of now who the lock is. Two threads may both do it: it is said twice. */
static STROBE_COLD void tell_lock(struct strobe_lock *lock)
{
    uint32_t recorder = strobe_gate_now->active;
    uint64_t where[] = {lock->id, lock->loc ? strobe_client_loc_id(lock->loc) : 0};
    uint64_t kind[] = {lock->id, lock->is_shared, lock->made};
    const char *name = lock->name;
    if (!name[0] && lock->loc)
        name = lock->loc->name ? lock->loc->name : lock->loc->function;
    strobe_client_tell(STROBE_META_LOCK_NAME, where, 2, name, strlen(name));
    strobe_client_tell(STROBE_META_LOCK_KIND, kind, 3, NULL, 0);
    __atomic_store_n(&lock->recorder, recorder, __ATOMIC_RELAXED);
}

/* 1: somebody records, and knows the lock. */
static int is_told(struct strobe_lock *lock)
{
    uint32_t recorder = strobe_gate_now->active;
    if (recorder && __atomic_load_n(&lock->recorder, __ATOMIC_RELAXED) != recorder)
        tell_lock(lock);
    return recorder != 0;
}

void strobe_lock_open(struct strobe_lock *lock, struct strobe_loc *loc, int is_shared)
{
    memset(lock, 0, sizeof *lock);
    lock->id = strobe_client_new_id();
    lock->loc = loc;
    lock->is_shared = is_shared != 0;
    lock->made = strobe_clock_now();
    is_told(lock);
}

void strobe_lock_rename(struct strobe_lock *lock, const char *name, size_t n_bytes)
{
    size_t n = n_bytes < sizeof lock->name - 1 ? n_bytes : sizeof lock->name - 1;
    memcpy(lock->name, name, n);
    lock->name[n] = 0;
    if (strobe_gate_now->active)
        tell_lock(lock);
}

void strobe_lock_close(struct strobe_lock *lock)
{
    if (is_told(lock))
        strobe_client_emit_numbers(STROBE_KIND_LOCK_GONE, &lock->id, 1);
}

static void emit_lock(enum strobe_kind kind, struct strobe_lock *lock, int shared)
{
    uint64_t fields[] = {lock->id, shared != 0};
    if (is_told(lock))
        strobe_client_emit_numbers(kind, fields, 2);
}

void strobe_lock_will_wait(struct strobe_lock *lock, int shared)
{
    emit_lock(STROBE_KIND_LOCK_WAIT, lock, shared);
}

void strobe_lock_obtained(struct strobe_lock *lock, int shared)
{
    emit_lock(STROBE_KIND_LOCK_OBTAIN, lock, shared);
}

void strobe_lock_released(struct strobe_lock *lock, int shared)
{
    emit_lock(STROBE_KIND_LOCK_RELEASE, lock, shared);
}

void strobe_lock_mark(struct strobe_lock *lock, struct strobe_loc *loc)
{
    if (!is_told(lock))
        return;
    uint64_t fields[] = {lock->id, strobe_client_loc_id(loc)};
    if (fields[1])
        strobe_client_emit_numbers(STROBE_KIND_LOCK_MARK, fields, 2);
    else
        strobe_client_lose_unnamed();
}

uint32_t strobe_lock_number(struct strobe_loc *loc)
{
    static uint32_t last;
    struct strobe_lock lock = {.loc = loc, .made = strobe_clock_now()};
    uint32_t number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
    lock.id = number;
    is_told(&lock);
    return number;
}

static void emit_number(enum strobe_kind kind, uint32_t lock, int shared)
{
    strobe_client_emit_numbers(kind, (uint64_t[]){lock, shared != 0}, 2);
}

void strobe_lock_number_wait(uint32_t lock, int shared)
{
    emit_number(STROBE_KIND_LOCK_WAIT, lock, shared);
}

void strobe_lock_number_obtain(uint32_t lock, int shared)
{
    emit_number(STROBE_KIND_LOCK_OBTAIN, lock, shared);
}

void strobe_lock_number_release(uint32_t lock, int shared)
{
    emit_number(STROBE_KIND_LOCK_RELEASE, lock, shared);
}

void strobe_lock_number_gone(uint32_t lock)
{
    strobe_client_emit_numbers(STROBE_KIND_LOCK_GONE, &(uint64_t){lock}, 1);
}

/* ---- sections ---- */

uint32_t strobe_section_enter(uint32_t category, const char *text, size_t n_bytes)
{
    static uint32_t last;
    if (!strobe_gate_now->active)
        return 0;
    uint64_t fields[] = {__atomic_add_fetch(&last, 1, __ATOMIC_RELAXED), category};
    strobe_client_emit_text(STROBE_KIND_SECTION_ENTER, fields, 2, text, n_bytes);
    return (uint32_t)fields[0];
}

static void put_section(const struct strobe_formatted *how, const char *text, size_t n_bytes)
{
    *(uint32_t *)(uintptr_t)how->b = strobe_section_enter((uint32_t)how->a, text, n_bytes);
}

uint32_t strobe_section_enterf(uint32_t category, const char *format, ...)
{
    uint32_t section = 0;
    struct strobe_formatted how = {put_section, category, (uintptr_t)&section};
    va_list args;
    if (!strobe_gate_now->active)
        return 0;
    va_start(args, format);
    strobe_client_format(&how, format, args);
    va_end(args);
    return section;
}

/* A section entered while nobody recorded has no end to be told. */
void strobe_section_leave(uint32_t section)
{
    uint64_t field = section;
    if (section)
        strobe_client_emit_numbers(STROBE_KIND_SECTION_LEAVE, &field, 1);
}

void strobe_section_name(uint32_t category, const char *name, size_t n_bytes)
{
    uint64_t number = category;
    strobe_client_keep(STROBE_META_SECTION_NAME, &number, 1, 1, name, n_bytes);
}

static void put_section_name(const struct strobe_formatted *how, const char *text, size_t n_bytes)
{
    strobe_section_name((uint32_t)how->a, text, n_bytes);
}

void strobe_section_namef(uint32_t category, const char *format, ...)
{
    struct strobe_formatted how = {put_section_name, category, 0};
    va_list args;
    va_start(args, format);
    strobe_client_format(&how, format, args);
    va_end(args);
}

/* ---- parameters, groups ---- */

void strobe_parameter(uint32_t index, const char *name, uint32_t type, int64_t value)
{
    uint64_t numbers[] = {index, type, (uint64_t)value};
    strobe_client_keep(STROBE_META_PARAMETER, numbers, 3, 1, name ? name : "",
                       name ? strlen(name) : 0);
}

void strobe_name_thread(const char *name)
{
    char cut[16];
    size_t n = strlen(name) < sizeof cut ? strlen(name) : sizeof cut - 1;
    memcpy(cut, name, n);
    cut[n] = 0;
    pthread_setname_np(pthread_self(), cut);
    strobe_set_thread_name(name);
}

uint32_t strobe_thread_number(void)
{
    return (uint32_t)gettid();
}

void strobe_set_thread_group(int32_t group)
{
    int saved_errno = errno;
    struct strobe_mask old;
    strobe_ring_block(&old);
    struct strobe_pool *pool = strobe_client_pool();
    struct strobe_thread *thread =
        pool && pool->control->active ? strobe_client_thread(pool) : NULL;
    if (thread) {
        uint64_t numbers[] = {thread->track, (uint64_t)(int64_t)group};
        strobe_ring_lock(pool);
        strobe_client_meta(pool, STROBE_META_THREAD_GROUP, numbers, 2, NULL, NULL, 0);
        strobe_ring_unlock(pool);
    }
    strobe_ring_unblock(&old);
    errno = saved_errno;
}
