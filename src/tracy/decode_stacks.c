/* decode_stacks.c - threads, call stacks and symbols.
 * A call stack comes before the event that it belongs to, and waits: in the session until the client
 * says whose it is, then with the thread, or with the serial queue.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/assert.h"
#include "tracy/decode.h"

enum { STACK_KEPT = 255 }; /* addresses of a call stack; clients send at most 63 */

bool strobe_tracy_keep_addresses(struct strobe_tracy_session *s, struct addresses *to,
                                 const uint8_t *bytes, size_t n)
{
    uint32_t room = to->room;
    n = n < STACK_KEPT ? n : STACK_KEPT;
    if (n > room && !strobe_tracy_grow(s, &to->list, (uint32_t)n - 1, &to->room, 8, STACK_KEPT))
        return false;
    STROBE_ASSERT(n <= to->room && n <= STACK_KEPT);
    if (n)
        memcpy(to->list, bytes, n * 8);
    to->n = (uint32_t)n;
    return true;
}

static void move_addresses(struct strobe_tracy_session *s, struct addresses *to,
                           struct addresses *from)
{
    if (from->n)
        strobe_tracy_keep_addresses(s, to, (const uint8_t *)from->list, from->n);
    from->n = 0;
}

/* Where a thread's next call stack goes. */
void strobe_tracy_on_callstack(struct strobe_tracy_session *s, const uint8_t *fields, uint32_t form)
{
    (void)fields;
    struct thread *thread = form & FORM_SERIAL ? NULL : strobe_tracy_current(s);
    if (form & FORM_SERIAL)
        move_addresses(s, &s->serial_stack, &s->payload);
    else if (thread)
        move_addresses(s, &thread->stack, &s->payload);
}

void strobe_tracy_put_waiting(struct strobe_tracy_session *s, struct thread *thread,
                              struct addresses *stack, uint64_t raw)
{
    if (stack->n)
        strobe_tracy_put_stack(s, thread->track, raw, stack->list, stack->n);
    stack->n = 0;
}

void strobe_tracy_take_stack(struct held *held, struct addresses *stack)
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

/* One frame of a script's stack: an address that stands for its name. */
static uint64_t script_frame(struct strobe_tracy_session *s, uint32_t line, const char *name,
                             size_t n_name, const char *file, size_t n_file)
{
    struct strobe_build_loc loc = {
        .line = line, .function = name, .n_function = n_name, .file = file, .n_file = n_file};
    uint64_t id = strobe_build_loc(s->build, &loc), address = 1ull << 63 | id;
    if (s->script_told[id % SCRIPT_CACHE] == id)
        return address;
    s->script_told[id % SCRIPT_CACHE] = id;
    uint64_t numbers[] = {address, 0, line, 0};
    const char *texts[] = {name, file, "script"};
    size_t sizes[] = {n_name, n_file, 6};
    strobe_build_record(s->build, STROBE_META_SYMBOL, numbers, texts, sizes);
    return address;
}

void strobe_tracy_script_stack(struct strobe_tracy_session *s, const uint8_t *bytes, size_t n_bytes)
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
    strobe_tracy_keep_addresses(s, &s->payload, (const uint8_t *)list, n);
}

/* The image of a symbol is the string before. */
void strobe_tracy_on_frame_size(struct strobe_tracy_session *s, const uint8_t *fields,
                                uint32_t form)
{
    (void)form;
    strobe_tracy_text_set(s, &s->symbol_image, s->single.bytes, s->single.n);
    strobe_tracy_got_symbol(s, get64(fields), fields[8]);
}

void strobe_tracy_on_callstack_frame(struct strobe_tracy_session *s, const uint8_t *fields,
                                     uint32_t form)
{
    (void)form;
    if (!s->n_symbol_frames) {
        s->n_unasked++;
        return;
    }
    s->n_symbol_frames--;
    uint64_t numbers[] = {s->symbol_address, s->symbol_inlined++, get32(fields), get64(fields + 4)};
    const char *texts[] = {s->single.bytes, s->second.bytes, s->symbol_image.bytes};
    size_t sizes[] = {s->single.n, s->second.n, s->symbol_image.n};
    strobe_build_record(s->build, STROBE_META_SYMBOL, numbers, texts, sizes);
    s->single.n = s->second.n = 0;
}

void strobe_tracy_on_thread_context(struct strobe_tracy_session *s, const uint8_t *fields,
                                    uint32_t form)
{
    (void)form;
    uint32_t tid = get32(fields);
    s->ref_thread = 0;
    s->lost_thread = false;
    if (!s->current || s->current->tid != tid)
        s->current = strobe_tracy_thread(s, tid, s->last_raw);
    s->lost_thread = !s->current;
}

void strobe_tracy_on_thread_group(struct strobe_tracy_session *s, const uint8_t *fields,
                                  uint32_t form)
{
    (void)form;
    struct thread *thread = strobe_tracy_thread_of(s, get32(fields));
    if (!thread)
        return;
    uint64_t numbers[] = {strobe_build_track_id(thread->track),
                          (uint64_t)(int32_t)get32(fields + 4)};
    strobe_build_record(s->build, STROBE_META_THREAD_GROUP, numbers, NULL, NULL);
}
