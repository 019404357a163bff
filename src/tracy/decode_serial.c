/* decode_serial.c - memory and locks: events of the queue that all threads of a client share.
 * SPDX-License-Identifier: MIT */
#include "tracy/decode.h"

bool strobe_tracy_serial_is_lost(struct strobe_tracy_session *s)
{
    if (s->lost_others)
        strobe_tracy_set_aside(s, NULL, "its time refers to an event that was damaged");
    return s->lost_others;
}

/* ---- memory ---- */

void strobe_tracy_on_memory(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    enum strobe_kind kind = (enum strobe_kind)(form & FORM_KIND);
    uint64_t raw = strobe_tracy_step_serial(s, (int64_t)get64(fields));
    struct thread *thread = strobe_tracy_thread_of(s, get32(fields + 8));
    uint64_t pool = kind == STROBE_KIND_MEM_DISCARD ? get64(fields + 12)
                    : form & FORM_NAMED             ? s->next_pool
                                                    : 0;
    if (strobe_tracy_serial_is_lost(s))
        return;
    if (!thread)
        return strobe_tracy_set_aside(s, NULL, "no room for another thread");
    if (form & FORM_WITH_STACK)
        strobe_tracy_put_waiting(s, thread, &s->serial_stack, raw);
    uint64_t numbers[] = {strobe_tracy_name(s, SPACE_STRING, pool), get64(fields + 12), 0};
    if (kind == STROBE_KIND_MEM_ALLOC)
        numbers[2] = get32(fields + 20) | (uint64_t)get16(fields + 24) << 32;
    strobe_tracy_put(s, thread->track, raw, kind, numbers, NULL, 0);
}

void strobe_tracy_on_pool(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    (void)form;
    s->next_pool = get64(fields);
}

/* ---- locks ---- */

static void lock(struct strobe_tracy_session *s, uint32_t tid, uint32_t id, int64_t difference,
                 enum strobe_kind kind, bool shared)
{
    uint64_t raw = strobe_tracy_step_serial(s, difference);
    struct thread *thread = strobe_tracy_thread_of(s, tid);
    uint64_t numbers[] = {id, shared};
    if (strobe_tracy_serial_is_lost(s))
        return;
    if (!thread)
        return strobe_tracy_set_aside(s, NULL, "no room for another thread");
    struct entry *entry =
        kind == STROBE_KIND_LOCK_OBTAIN && !shared ? strobe_tracy_entry(s, SPACE_LOCK, id) : NULL;
    if (entry)
        entry->id = tid;
    strobe_tracy_put(s, thread->track, raw, kind, numbers, NULL, 0);
}

void strobe_tracy_on_lock(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    lock(s, get32(fields), get32(fields + 4), (int64_t)get64(fields + 8),
         (enum strobe_kind)(form & FORM_KIND), form & FORM_SHARED);
}

/* From protocol 58 on a release names no thread: it is that of whoever holds the lock. */
void strobe_tracy_on_lock_release(struct strobe_tracy_session *s, const uint8_t *fields,
                                  uint32_t form)
{
    (void)form;
    if (s->table.protocol < 58)
        return lock(s, get32(fields), get32(fields + 4), (int64_t)get64(fields + 8),
                    STROBE_KIND_LOCK_RELEASE, false);
    const struct entry *entry = strobe_tracy_find(s, SPACE_LOCK, get32(fields));
    lock(s, entry ? (uint32_t)entry->id : 0, get32(fields), (int64_t)get64(fields + 4),
         STROBE_KIND_LOCK_RELEASE, false);
}

void strobe_tracy_on_lock_shared_release(struct strobe_tracy_session *s, const uint8_t *fields,
                                         uint32_t form)
{
    (void)form;
    if (s->table.protocol < 58)
        lock(s, get32(fields), get32(fields + 4), (int64_t)get64(fields + 8),
             STROBE_KIND_LOCK_RELEASE, true);
    else
        lock(s, get32(fields + 12), get32(fields), (int64_t)get64(fields + 4),
             STROBE_KIND_LOCK_RELEASE, true);
}

void strobe_tracy_on_lock_announce(struct strobe_tracy_session *s, const uint8_t *fields,
                                   uint32_t form)
{
    (void)form;
    uint32_t id = get32(fields);
    uint64_t loc = strobe_tracy_loc(s, get64(fields + 12));
    struct entry *entry = strobe_tracy_entry(s, SPACE_LOCK, id);
    if (entry)
        entry->more = loc;
    uint64_t kind[] = {id, fields[20], strobe_tracy_absolute(s, fields + 4)};
    strobe_build_record(s->build, STROBE_META_LOCK_KIND, kind, NULL, NULL);
    uint64_t numbers[] = {id, loc};
    const struct entry *named = strobe_tracy_find(s, SPACE_LOCK_NAME, id);
    const char *name = named ? named->text : NULL;
    size_t n_name = named ? named->n_text : 0;
    strobe_build_record(s->build, STROBE_META_LOCK_NAME, numbers, &name, &n_name);
}

void strobe_tracy_on_lock_name(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    (void)form;
    const struct entry *entry = strobe_tracy_find(s, SPACE_LOCK, get32(fields));
    uint64_t numbers[] = {get32(fields), entry ? entry->more : 0};
    const char *name = s->single.bytes;
    strobe_build_record(s->build, STROBE_META_LOCK_NAME, numbers, &name, &s->single.n);
    struct entry *named = strobe_tracy_entry(s, SPACE_LOCK_NAME, get32(fields));
    if (named) /* the lock may be announced later: other queues come in between */
        strobe_tracy_keep_text(s, named, name, s->single.n);
    s->single.n = 0;
}

void strobe_tracy_on_lock_mark(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    (void)form;
    struct thread *thread = strobe_tracy_thread_of(s, get32(fields));
    uint64_t numbers[] = {get32(fields + 4), strobe_tracy_loc(s, get64(fields + 8))};
    if (thread)
        strobe_tracy_put(s, thread->track, s->ref_serial ? s->ref_serial : s->last_raw,
                         STROBE_KIND_LOCK_MARK, numbers, NULL, 0);
    else
        strobe_tracy_set_aside(s, NULL, "no room for another thread");
}

void strobe_tracy_on_lock_gone(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    (void)form;
    uint64_t id = get32(fields);
    strobe_tracy_put_current(s, strobe_tracy_absolute(s, fields + 4), STROBE_KIND_LOCK_GONE, &id,
                             NULL, 0);
}
