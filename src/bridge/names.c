/* names.c - pointers for a Tracy server, which stand for locations, texts, fibers and threads; and the
 * answers when it asks what they are.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/stream.h"

/* Pointers of each kind start here; what is added is an index. 0 stays free. */
#define LOC_BASE   (1ull << 40)
#define TEXT_BASE  (2ull << 40)
#define FIBER_BASE (3ull << 40)
#define KIND_MASK  (~((1ull << 40) - 1))

uint64_t strobe_bridge_text(struct strobe_bridge_stream *stream, const char *text, size_t n)
{
    return TEXT_BASE + strobe_texts_add(&stream->texts, text, n);
}

uint32_t strobe_bridge_first(const struct strobe_bridge_stream *stream, uint32_t process)
{
    uint32_t twin = stream->trace->processes[process].twin;
    return twin ? twin - 1 : process;
}

/* With the process in front, where it is not the first. */
uint64_t strobe_bridge_name(struct strobe_bridge_stream *stream, uint32_t process, const char *text,
                            size_t n)
{
    char room[STROBE_NAME_ROOM], whole[1024];
    uint32_t n_program;
    process = strobe_bridge_first(stream, process);
    if (!process)
        return strobe_bridge_text(stream, text, n);
    const char *program = strobe_trace_process_name(stream->trace, process, room, &n_program);
    int length = snprintf(
        whole, sizeof whole, "%.*s(%llu) %.*s", n_program < 200 ? (int)n_program : 200, program,
        (unsigned long long)stream->trace->processes[process].pid, n < 700 ? (int)n : 700, text);
    return strobe_bridge_text(stream, whole, (size_t)length);
}

uint64_t strobe_bridge_loc(struct strobe_bridge_stream *stream, uint32_t process, uint64_t id,
                           int *is_over)
{
    uint32_t i = strobe_idmap_find(&stream->loc_ids, process, id);
    *is_over = 0;
    if (i == STROBE_IDMAP_NONE && stream->loc_ids.n < STROBE_BRIDGE_MAX_LOCS)
        i = strobe_idmap_add(&stream->loc_ids, process, id);
    if (i != STROBE_IDMAP_NONE)
        return LOC_BASE + 1 + i;
    *is_over = 1;
    return LOC_BASE; /* all that do not fit */
}

uint64_t strobe_bridge_fiber(struct strobe_bridge_stream *stream, uint32_t process, uint64_t fiber,
                             uint32_t **depth)
{
    uint32_t i =
        strobe_idmap_add_row(&stream->fiber_ids, process, fiber, (void **)&stream->fiber_depths,
                             &stream->fiber_depths_room, sizeof *stream->fiber_depths);
    if (i == STROBE_IDMAP_NONE)
        return 0;
    *depth = &stream->fiber_depths[i];
    return FIBER_BASE + i;
}

/* Thread ids have 32 bits on the wire, and must be one of a kind. */
struct strobe_bridge_thread *strobe_bridge_thread(struct strobe_bridge_stream *stream,
                                                  uint32_t thread)
{
    uint32_t before = stream->thread_ids.n;
    uint32_t i = strobe_idmap_add_row(&stream->thread_ids, 0, thread, (void **)&stream->threads,
                                      &stream->threads_room, sizeof *stream->threads);
    if (i == STROBE_IDMAP_NONE)
        return NULL;
    if (i < before)
        return &stream->threads[i];
    uint64_t tid = (uint32_t)stream->trace->threads[thread].tid;
    while (!tid || strobe_idmap_find(&stream->tids, 0, tid) != STROBE_IDMAP_NONE)
        tid = 0x80000000u + i + (tid >= 0x80000000u ? tid - 0x80000000u + 1 : 0);
    if (strobe_idmap_add(&stream->tids, 0, (uint32_t)tid) != i)
        return NULL;
    STROBE_ASSERT(tid && tid <= UINT32_MAX && stream->tids.n == stream->thread_ids.n);
    stream->threads[i].tid = (uint32_t)tid;
    stream->threads[i].index = thread;
    stream->threads[i].is_lane = stream->trace->threads[thread].is_lane;
    return &stream->threads[i];
}

/* ---- names that are still to come ------------------------------------------------------------ */

/* What stands for a name until it is told: the client's pointer. */
static int is_pointer(const struct strobe_trace *trace, uint32_t text)
{
    enum { SHORTEST = 7 };
    uint32_t n;
    const char *bytes = strobe_trace_text(trace, text, &n);
    if (n < SHORTEST || bytes[0] != '0' || bytes[1] != 'x')
        return 0;
    for (uint32_t i = 2; i < n; i++)
        if (!memchr("0123456789abcdef", bytes[i], 16))
            return 0;
    return 1;
}

int strobe_bridge_is_awaited(const struct strobe_bridge_stream *stream, uint32_t process)
{
    return !stream->is_final && !stream->is_closed && strobe_client_of(&stream->facts, process) &&
           !stream->trace->processes[process].has_ended;
}

static int loc_is_told(const struct strobe_bridge_stream *stream, uint32_t process, uint64_t id)
{
    uint32_t loc = id ? strobe_trace_loc(stream->trace, process, id) : STROBE_IDMAP_NONE;
    const struct strobe_loc_row *row = loc == STROBE_IDMAP_NONE ? NULL : &stream->trace->locs[loc];
    return !row || (!is_pointer(stream->trace, row->function) &&
                    !(row->name && is_pointer(stream->trace, row->name)) &&
                    !is_pointer(stream->trace, row->file));
}

static int text_is_told(const struct strobe_bridge_stream *stream, const struct strobe_idmap *ids,
                        const uint32_t *texts, uint32_t process, uint64_t id)
{
    uint32_t i = id ? strobe_idmap_find(ids, process, id) : STROBE_IDMAP_NONE;
    return i == STROBE_IDMAP_NONE || !is_pointer(stream->trace, texts[i]);
}

static int lock_is_told(const struct strobe_bridge_stream *stream, uint32_t process, uint64_t id)
{
    uint32_t i = strobe_idmap_find(&stream->facts.lock_ids, process, id);
    return i == STROBE_IDMAP_NONE || (loc_is_told(stream, process, stream->facts.locks[i].loc) &&
                                      !is_pointer(stream->trace, stream->facts.locks[i].name));
}

int strobe_bridge_is_told(const struct strobe_bridge_stream *stream, uint32_t process,
                          const struct strobe_event *event)
{
    const struct strobe_trace *trace = stream->trace;
    const struct strobe_field *f = event->fields;
    if (!strobe_bridge_is_awaited(stream, process))
        return 1;
    switch (event->kind) {
    case STROBE_KIND_ZONE_BEGIN:
        return loc_is_told(stream, process, event->loc);
    case STROBE_KIND_GPU_BEGIN:
        return loc_is_told(stream, process, f[3].u);
    case STROBE_KIND_PLOT_INT:
    case STROBE_KIND_PLOT_DOUBLE:
    case STROBE_KIND_FRAME_MARK:
    case STROBE_KIND_FRAME_START:
    case STROBE_KIND_FRAME_END:
    case STROBE_KIND_MEM_ALLOC:
    case STROBE_KIND_MEM_FREE:
    case STROBE_KIND_MEM_DISCARD:
        return text_is_told(stream, &trace->string_ids, trace->strings, process, f[0].u);
    case STROBE_KIND_FIBER_ENTER:
        return text_is_told(stream, &trace->fiber_ids, trace->fibers, process, f[0].u);
    case STROBE_KIND_LOCK_MARK:
        return loc_is_told(stream, process, f[1].u) && lock_is_told(stream, process, f[0].u);
    case STROBE_KIND_LOCK_WAIT:
    case STROBE_KIND_LOCK_OBTAIN:
    case STROBE_KIND_LOCK_RELEASE:
        return lock_is_told(stream, process, f[0].u);
    default:
        return 1;
    }
}

int strobe_bridge_part_is_told(const struct strobe_bridge_stream *stream, uint32_t process,
                               uint32_t thread, const struct strobe_part *part)
{
    const struct strobe_trace *trace = stream->trace;
    if (!strobe_bridge_is_awaited(stream, process))
        return 1;
    if (trace->threads[thread].tid && !trace->threads[thread].name)
        return 0;
    for (uint32_t i = 0; i < part->n_stack; i++)
        if (!loc_is_told(stream, process, part->stack[i].loc))
            return 0;
    return text_is_told(stream, &trace->fiber_ids, trace->fibers, process, part->fiber);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void answer_text(struct strobe_bridge_stream *stream, enum strobe_tracy_event event,
                        uint64_t pointer)
{
    uint32_t n = 3;
    const char *text = "???";
    uint64_t id = pointer - TEXT_BASE;
    if ((pointer & KIND_MASK) == TEXT_BASE && (!id || strobe_texts_has(&stream->texts, id)))
        text = strobe_texts_get(&stream->texts, (uint32_t)id, &n);
    strobe_wire_transfer(&stream->out, event, pointer, text, n);
}

static void answer_thread(struct strobe_bridge_stream *stream, uint64_t tid)
{
    char room[STROBE_NAME_ROOM], whole[1024];
    uint32_t n = 3, i = strobe_idmap_find(&stream->tids, 0, (uint32_t)tid);
    const char *name = "???";
    if (i != STROBE_IDMAP_NONE) {
        uint32_t thread = (uint32_t)stream->thread_ids.keys[i].id, n_text;
        uint32_t process = stream->trace->threads[thread].process;
        name = strobe_trace_thread_name(stream->trace, thread, room, &n);
        uint64_t pointer = strobe_bridge_name(stream, process, name, n);
        name = strobe_texts_get(&stream->texts, (uint32_t)(pointer - TEXT_BASE), &n_text);
        n = n_text < sizeof whole ? n_text : (uint32_t)sizeof whole;
        name = memcpy(whole, name, n);
    }
    strobe_wire_transfer(&stream->out, STROBE_TRACY_THREAD_NAME, tid, name, n);
}

static void answer_fiber(struct strobe_bridge_stream *stream, uint64_t pointer)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n = 3;
    const char *name = "???";
    uint64_t i = pointer - FIBER_BASE;
    if ((pointer & KIND_MASK) == FIBER_BASE && i < stream->fiber_ids.n) {
        const struct strobe_idkey *key = &stream->fiber_ids.keys[i];
        name = strobe_trace_fiber_name(stream->trace, key->scope, key->id, room, &n);
    }
    strobe_wire_transfer(&stream->out, STROBE_TRACY_FIBER_NAME, pointer, name, n);
}

static uint64_t text_pointer(struct strobe_bridge_stream *stream, uint32_t text)
{
    uint32_t n;
    const char *bytes = strobe_trace_text(stream->trace, text, &n);
    return strobe_bridge_text(stream, bytes, n);
}

/* No pointer is echoed: the server takes answers in the order of its questions. */
static void answer_loc(struct strobe_bridge_stream *stream, uint64_t pointer)
{
    static const char over[] = "(too many source locations)";
    uint64_t i = pointer - LOC_BASE - 1;
    uint64_t fields[7] = {0, strobe_bridge_text(stream, over, sizeof over - 1),
                          strobe_bridge_text(stream, "", 0)};
    if (pointer > LOC_BASE && i < stream->loc_ids.n) {
        const struct strobe_idkey *key = &stream->loc_ids.keys[i];
        uint32_t loc = strobe_trace_loc(stream->trace, key->scope, key->id);
        fields[1] = strobe_bridge_text(stream, "???", 3);
        if (loc != STROBE_IDMAP_NONE) {
            const struct strobe_loc_row *row = &stream->trace->locs[loc];
            fields[0] = row->name ? text_pointer(stream, row->name) : 0;
            fields[1] = text_pointer(stream, row->function);
            fields[2] = text_pointer(stream, row->file);
            fields[3] = row->line;
            fields[4] = row->color & 255; /* b, g, r */
            fields[5] = row->color >> 8 & 255;
            fields[6] = row->color >> 16 & 255;
        }
    }
    strobe_wire_put(&stream->out, STROBE_TRACY_SOURCE_LOCATION, fields);
}

static void answer_nothing(struct strobe_bridge_stream *stream, enum strobe_tracy_event event,
                           uint64_t pointer)
{
    uint64_t id = (uint32_t)pointer;
    strobe_wire_put(&stream->out, event, &id);
}

int strobe_bridge_answer(struct strobe_bridge_stream *stream, const uint8_t *query)
{
    uint32_t protocol = stream->out.table.protocol;
    uint64_t pointer;
    int asked = 0;
    memcpy(&pointer, query + 1, sizeof pointer);
    while (asked < STROBE_TRACY_N_QUERIES &&
           strobe_tracy_query_number(protocol, (enum strobe_tracy_query)asked) != query[0])
        asked++;
    switch (asked) {
    case STROBE_TRACY_ASK_TERMINATE:
        return 1;
    case STROBE_TRACY_ASK_DISCONNECT:
        return 2;
    case STROBE_TRACY_ASK_STRING:
        answer_text(stream, STROBE_TRACY_STRING_DATA, pointer);
        break;
    case STROBE_TRACY_ASK_PLOT:
        answer_text(stream, STROBE_TRACY_PLOT_NAME, pointer);
        break;
    case STROBE_TRACY_ASK_FRAME:
        answer_text(stream, STROBE_TRACY_FRAME_NAME, pointer);
        break;
    case STROBE_TRACY_ASK_THREAD:
        answer_thread(stream, pointer);
        break;
    case STROBE_TRACY_ASK_LOC:
        answer_loc(stream, pointer);
        break;
    case STROBE_TRACY_ASK_FIBER:
        answer_fiber(stream, pointer);
        break;
    case STROBE_TRACY_ASK_EXTERNAL:
    case STROBE_TRACY_ASK_CALLSTACK_FRAME:
        strobe_bridge_answer_later(stream, (enum strobe_tracy_query)asked, pointer);
        break;
    case STROBE_TRACY_ASK_SYMBOL:
        strobe_bridge_answer_symbol(stream, pointer);
        break;
    case STROBE_TRACY_ASK_SYMBOL_CODE:
        answer_nothing(stream, STROBE_TRACY_ACK_SYMBOL_CODE_NOT_AVAILABLE, 0);
        break;
    case STROBE_TRACY_ASK_SOURCE_CODE:
        answer_nothing(stream, STROBE_TRACY_ACK_SOURCE_CODE_NOT_AVAILABLE, pointer);
        break;
    default: /* parameters, data: taken and not used */
        answer_nothing(stream, STROBE_TRACY_ACK_SERVER_QUERY_NOOP, 0);
    }
    return 0;
}
