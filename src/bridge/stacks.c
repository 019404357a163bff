/* stacks.c - call stacks and samples for a Tracy server, and the answers when it asks what addresses are.
 *
 * Equal stacks are kept once, as bytes. Addresses of processes other than the first have the process in bits 47 and up. While a
 * client lives, the recorder still asks it for names: a question that comes before the name waits.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "bridge/stream.h"

enum {
    HIGH = 47,
    MOST_ADDRESSES = 255,
    MOST_STACK_BYTES = 256 << 20, /* of all stacks; further ones are not sent */
    MOST_INLINED = 32, /* with the lengths below, an answer fits into what a frame has left */
    NAME_BYTES = 2000,
    FILE_BYTES = 1000,
    AT_SWITCH = 65534, /* the processor of a sample that was taken at a switch */
};

static uint64_t address_of(uint32_t process, uint64_t address)
{
    return !process || address >> HIGH ? address : address | (uint64_t)process << HIGH;
}

/* ---- stacks and samples ---------------------------------------------------------------------- */

/* The text of a list of addresses; 0: it is empty, or there is no room. */
static uint32_t stack_of(struct strobe_bridge_stream *stream, uint32_t process,
                         const struct strobe_field *list)
{
    uint64_t all[MOST_ADDRESSES];
    uint64_t n = list->u < MOST_ADDRESSES ? list->u : MOST_ADDRESSES;
    uint32_t first = strobe_bridge_first(stream, process);
    if (!n || stream->stacks.n_bytes > MOST_STACK_BYTES)
        return 0;
    for (uint64_t i = 0; i < n; i++)
        all[i] = address_of(first, list->list[i]);
    return strobe_texts_add(&stream->stacks, (const char *)all, n * sizeof *all);
}

int strobe_bridge_keep_stack(struct strobe_bridge_stream *stream, uint32_t process,
                             struct strobe_bridge_thread *thread, const struct strobe_event *event)
{
    STROBE_ASSERT(event->kind == STROBE_KIND_CALLSTACK);
    thread->stack = stack_of(stream, process, &event->fields[0]);
    if (!thread->stack)
        strobe_bridge_leave_out(stream, event->kind);
    return 1;
}

bool strobe_bridge_put_stack(struct strobe_bridge_stream *stream, uint32_t stack, bool is_serial)
{
    uint32_t n;
    if (!stack)
        return false;
    const char *bytes = strobe_texts_get(&stream->stacks, stack, &n);
    STROBE_ASSERT(n && n % 8 == 0 && n / 8 <= MOST_ADDRESSES);
    strobe_wire_transfer(&stream->out, STROBE_TRACY_CALLSTACK_PAYLOAD, 0, bytes, n);
    strobe_wire_put(&stream->out,
                    is_serial ? STROBE_TRACY_CALLSTACK_SERIAL : STROBE_TRACY_CALLSTACK, NULL);
    return true;
}

/* A server makes one of two samples of a thread that have the same time: they get a nanosecond each. */
void strobe_bridge_put_sample(struct strobe_bridge_stream *stream, uint32_t process,
                              struct strobe_bridge_thread *thread, const struct strobe_event *event)
{
    const struct strobe_field *f = event->fields;
    uint32_t stack = stack_of(stream, process, &f[1]), n;
    uint64_t raw = strobe_bridge_raw(stream, event->tick);
    uint64_t step =
        stream->timer_mul > 0 && stream->timer_mul < 1 ? (uint64_t)(1 / stream->timer_mul) + 1 : 1;
    if (!stack) {
        strobe_bridge_leave_out(stream, event->kind);
        return;
    }
    if (raw < thread->sample_tick + step)
        raw = thread->sample_tick + step;
    thread->sample_tick = raw;
    const char *bytes = strobe_texts_get(&stream->stacks, stack, &n);
    strobe_wire_transfer(&stream->out, STROBE_TRACY_CALLSTACK_PAYLOAD, 0, bytes, n);
    strobe_wire_sample(&stream->out, raw, thread->tid, f[0].u == AT_SWITCH);
}

/* ---- what addresses are ---------------------------------------------------------------------- */

static uint32_t process_of(const struct strobe_bridge_stream *stream, uint64_t address)
{
    uint64_t high = address >> HIGH;
    return high && high < stream->trace->n_processes ? (uint32_t)high : 0;
}

static const struct strobe_stack_symbol *find_symbol(struct strobe_bridge_stream *stream,
                                                     uint64_t address)
{
    uint32_t process = process_of(stream, address);
    uint64_t at = process ? address & ((1ull << HIGH) - 1) : address;
    const struct strobe_stack_symbol *symbol =
        strobe_stack_symbol_of(&stream->symbols, process, at);
    if (symbol || strobe_stack_symbols_load(stream->trace, &stream->symbols))
        return symbol;
    return strobe_stack_symbol_of(&stream->symbols, process, at);
}

static const char *symbol_text(const struct strobe_bridge_stream *stream, uint32_t text,
                               uint32_t most, uint32_t *n)
{
    const char *bytes = strobe_texts_get(&stream->symbols.texts, text, n);
    *n = *n < most ? *n : most;
    return bytes;
}

/* A function's frame: line, start, bytes of code. */
static void put_frame(struct strobe_bridge_stream *stream, const char *name, uint32_t n_name,
                      const char *file, uint32_t n_file, uint32_t line, uint64_t start)
{
    strobe_wire_text(&stream->out, name, n_name);
    strobe_wire_second_text(&stream->out, file, n_file);
    strobe_wire_put(&stream->out, STROBE_TRACY_CALLSTACK_FRAME, (uint64_t[]){line, start, 0});
}

static void answer_frame(struct strobe_bridge_stream *stream, uint64_t address,
                         const struct strobe_stack_symbol *symbol)
{
    static const char unknown[] = "[unknown]";
    uint32_t n = 0, n_image = sizeof unknown - 1;
    const char *image = unknown;
    for (const struct strobe_stack_symbol *at = symbol; at && n < MOST_INLINED; n++)
        at = at->next ? &stream->symbols.rows[at->next - 1] : NULL;
    if (symbol)
        image = symbol_text(stream, symbol->image, FILE_BYTES, &n_image);
    strobe_wire_text(&stream->out, image, n_image);
    strobe_wire_put(&stream->out, STROBE_TRACY_CALLSTACK_FRAME_SIZE,
                    (uint64_t[]){address, n ? n : 1});
    if (!n)
        put_frame(stream, unknown, sizeof unknown - 1, unknown, sizeof unknown - 1, 0, 0);
    for (; n; n--) {
        uint32_t n_name, n_file;
        const char *name = symbol_text(stream, symbol->function, NAME_BYTES, &n_name);
        const char *file = symbol_text(stream, symbol->file, FILE_BYTES, &n_file);
        put_frame(stream, name, n_name, file, n_file, symbol->line, symbol->start);
        STROBE_ASSERT(n == 1 || symbol->next);
        if (symbol->next)
            symbol = &stream->symbols.rows[symbol->next - 1];
    }
}

/* Where an inlined function is called from: a live client is not asked for it. */
void strobe_bridge_answer_symbol(struct strobe_bridge_stream *stream, uint64_t start)
{
    strobe_wire_text(&stream->out, "[unknown]", 9);
    strobe_wire_put(&stream->out, STROBE_TRACY_SYMBOL_INFORMATION, (uint64_t[]){0, start});
}

/* ---- threads of others ----------------------------------------------------------------------- */

static const struct strobe_foreign_fact *find_foreign(const struct strobe_bridge_stream *stream,
                                                      uint64_t tid)
{
    for (uint32_t process = 0; process < stream->trace->n_processes; process++) {
        uint32_t i = strobe_idmap_find(&stream->facts.foreign_ids, process, tid);
        if (i != STROBE_IDMAP_NONE && stream->facts.foreign[i].name)
            return &stream->facts.foreign[i];
    }
    return NULL;
}

static void answer_foreign(struct strobe_bridge_stream *stream, uint64_t tid,
                           const struct strobe_foreign_fact *foreign)
{
    uint32_t n_name = 3, n_process = 3;
    const char *name = "???", *process = "???";
    if (foreign) {
        name = strobe_trace_text(stream->trace, foreign->name, &n_name);
        process = strobe_trace_text(stream->trace, foreign->process, &n_process);
    }
    if (foreign && foreign->pid)
        strobe_wire_put(&stream->out, STROBE_TRACY_TID_TO_PID, (uint64_t[]){tid, foreign->pid});
    strobe_wire_transfer(&stream->out, STROBE_TRACY_EXTERNAL_THREAD_NAME, tid, name, n_name);
    strobe_wire_transfer(&stream->out, STROBE_TRACY_EXTERNAL_NAME, tid, process, n_process);
}

/* ---- questions ------------------------------------------------------------------------------- */

static bool is_awaited(const struct strobe_bridge_stream *stream)
{
    for (uint32_t i = 0; i < stream->trace->n_processes; i++)
        if (strobe_bridge_is_awaited(stream, i))
            return true;
    return false;
}

/* Answer if that can be done now. A kernel's addresses are nobody's: nobody is asked for them. */
static bool try_answer(struct strobe_bridge_stream *stream, const struct strobe_bridge_asked *asked)
{
    if (asked->query == STROBE_TRACY_ASK_EXTERNAL) {
        const struct strobe_foreign_fact *foreign = find_foreign(stream, asked->pointer);
        if (!foreign && is_awaited(stream))
            return false;
        answer_foreign(stream, asked->pointer, foreign);
        return true;
    }
    bool is_kernel = asked->pointer >> 60 == 15 || !asked->pointer;
    const struct strobe_stack_symbol *symbol =
        is_kernel ? NULL : find_symbol(stream, asked->pointer);
    if (!symbol && !is_kernel &&
        strobe_bridge_is_awaited(stream, process_of(stream, asked->pointer)))
        return false;
    answer_frame(stream, asked->pointer, symbol);
    return true;
}

int strobe_bridge_answer_later(struct strobe_bridge_stream *stream, enum strobe_tracy_query query,
                               uint64_t pointer)
{
    struct strobe_bridge_asked asked = {pointer, (uint8_t)query};
    if (try_answer(stream, &asked))
        return 1;
    if (STROBE_ARRAY_REACH(stream->asked, stream->asked_room, stream->n_asked))
        return 0;
    stream->asked[stream->n_asked++] = asked;
    return 1;
}

void strobe_bridge_answer_waiting(struct strobe_bridge_stream *stream)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < stream->n_asked; i++) {
        struct strobe_bridge_asked asked = stream->asked[i];
        if (strobe_wire_out_full(&stream->out) || !try_answer(stream, &asked))
            stream->asked[n++] = asked;
    }
    STROBE_ASSERT(n <= stream->n_asked);
    stream->n_asked = n;
}
