/* content_zones.c - the timelines of a .tracy file: zones of threads and of GPU contexts.
 * Zones are nested in the file; they are walked with a stack, not by recursion, since a file says
 * how deep they are.  SPDX-License-Identifier: MIT */
#include "tracy_file/content.h"

#include <stdlib.h>

/* ---- threads --------------------------------------------------------------------------------- */

/* i16 location, i64 start, u32 extra, u32 children, and if there are none i64 end. */
enum { ZONE_HEAD = 18, ZONE_END = 8, ZONE_LEAF = ZONE_HEAD + ZONE_END, N_TIMES = 256 };

struct timeline {
    struct strobe_tracy_content *content;
    const struct strobe_tracy_visitor *visitor;
    uint64_t ref;
};

static inline uint64_t u64_at(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t n_children_at(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at + 14, sizeof value);
    return value;
}

static inline enum strobe_err end_zone(struct timeline *line, uint32_t depth, uint64_t end)
{
    struct strobe_tracy_zone *zone = &line->content->stack[depth];
    zone->end = (int64_t)end;
    if (depth && zone->end > zone->start)
        zone[-1].child_ns = (int64_t)((uint64_t)zone[-1].child_ns + end - (uint64_t)zone->start);
    line->content->n_zones++;
    return line->visitor->zone_end
               ? line->visitor->zone_end(line->visitor->context, line->content->stack, depth)
               : STROBE_OK;
}

/* The head of a zone at `at`; its children are still to come. */
static inline enum strobe_err begin_zone(struct timeline *line, uint32_t depth, const uint8_t *at)
{
    struct strobe_tracy_zone *zone = &line->content->stack[depth];
    line->ref += u64_at(at + 2);
    memcpy(&zone->loc, at, sizeof zone->loc);
    memcpy(&zone->extra, at + 10, sizeof zone->extra);
    memcpy(&zone->left, at + 14, sizeof zone->left);
    zone->start = (int64_t)line->ref;
    zone->end = STROBE_TRACY_OPEN;
    zone->child_ns = 0;
    zone->mark = 0;
    return line->visitor->zone_begin
               ? line->visitor->zone_begin(line->visitor->context, line->content->stack, depth)
               : STROBE_OK;
}

static inline enum strobe_err grow_stack(struct strobe_tracy_content *content, uint32_t depth)
{
    return STROBE_ARRAY_RESERVE_MAX(content->stack, content->stack_room, (uint64_t)depth + 1,
                                    STROBE_TRACY_MAX_DEPTH);
}

/* Zones without children that follow each other, which are most: as many as lie in one piece. */
static enum strobe_err read_leaves(struct timeline *line, uint32_t depth, uint32_t *left)
{
    struct strobe_tracy_bytes *in = &line->content->in;
    enum strobe_err err = STROBE_OK;
    while (*left && in->end - in->at >= ZONE_LEAF && !err) {
        const uint8_t *at = in->at;
        if (n_children_at(at))
            break;
        in->at += ZONE_LEAF;
        --*left;
        err = begin_zone(line, depth, at);
        if (!err)
            err = end_zone(line, depth, line->ref += u64_at(at + ZONE_HEAD));
    }
    return err;
}

static enum strobe_err read_timeline(struct timeline *line)
{
    struct strobe_tracy_content *content = line->content;
    struct strobe_tracy_bytes *in = &content->in;
    uint32_t depth = 0, left = strobe_tracy_u32(in);
    enum strobe_err err = grow_stack(content, 0);
    while (!err && !in->err) {
        err = read_leaves(line, depth, &left);
        if (err)
            break;
        if (!left && !depth)
            return STROBE_OK;
        if (!left) { /* the last child: its parent ends */
            uint64_t end = line->ref += strobe_tracy_u64(in);
            if (in->err)
                break;
            err = end_zone(line, --depth, end);
            left = content->stack[depth].left;
            continue;
        }
        const uint8_t *at = strobe_tracy_get(in, ZONE_HEAD);
        if (in->err)
            break;
        err = begin_zone(line, depth, at);
        if (err)
            break;
        uint32_t n_children = content->stack[depth].left;
        content->stack[depth].left = left - 1; /* of its siblings, for when it ends */
        left = n_children;
        err = grow_stack(content, ++depth);
    }
    return err ? err : in->err;
}

/* ---- what zones took, and nothing else: the same walk without a call per zone ---- */

struct times {
    struct strobe_tracy_time rows[N_TIMES];
    uint32_t n;
};

static enum strobe_err tell_times(struct timeline *line, struct times *times)
{
    uint32_t n = times->n;
    times->n = 0;
    return n ? line->visitor->times(line->visitor->context, times->rows, n) : STROBE_OK;
}

/* A zone that ended now. */
static inline enum strobe_err add_time(struct timeline *line, struct times *times, int16_t loc,
                                       uint64_t ns)
{
    times->rows[times->n] = (struct strobe_tracy_time){(int64_t)ns, loc};
    times->n += (int64_t)ns > 0 && (int64_t)line->ref >= 0;
    line->content->n_zones++;
    return times->n == N_TIMES ? tell_times(line, times) : STROBE_OK;
}

/* Have the next item in one piece: the head of a zone, with its end if it has no children, or the
 * end of one that had. 0: it is cut off. */
static inline int have_item(struct strobe_tracy_bytes *in, uint32_t left)
{
    if (in->end - in->at >= ZONE_LEAF)
        return 1;
    if (!left)
        return strobe_tracy_more(in, ZONE_END);
    return strobe_tracy_more(in, ZONE_HEAD) &&
           (n_children_at(in->at) || strobe_tracy_more(in, ZONE_LEAF));
}

static enum strobe_err read_times(struct timeline *line)
{
    struct strobe_tracy_content *content = line->content;
    struct strobe_tracy_bytes *in = &content->in;
    struct times times;
    uint32_t depth = 0, left = strobe_tracy_u32(in);
    enum strobe_err err = grow_stack(content, 0);
    times.n = 0;
    while (!err && (left || depth) && have_item(in, left)) {
        const uint8_t *at = in->at;
        struct strobe_tracy_zone *zone = &content->stack[depth];
        uint32_t n_children = left ? n_children_at(at) : 0;
        int16_t loc;
        memcpy(&loc, at, sizeof loc);
        if (!left) { /* the last child: its parent ends */
            zone = &content->stack[--depth];
            in->at += ZONE_END;
            line->ref += u64_at(at);
            left = zone->left;
            err = add_time(line, &times, zone->loc, line->ref - (uint64_t)zone->start);
        } else if (!n_children) {
            uint64_t ns = u64_at(at + ZONE_HEAD);
            in->at += ZONE_LEAF;
            line->ref += u64_at(at + 2) + ns;
            left--;
            err = add_time(line, &times, loc, ns);
        } else {
            in->at += ZONE_HEAD;
            line->ref += u64_at(at + 2);
            zone->loc = loc;
            zone->start = (int64_t)line->ref;
            zone->left = left - 1; /* of its siblings, for when it ends */
            left = n_children;
            err = grow_stack(content, ++depth);
        }
    }
    if (!err)
        err = tell_times(line, &times);
    return err ? err : in->err;
}

static enum strobe_err read_samples(struct strobe_tracy_content *content,
                                    const struct strobe_tracy_visitor *visitor, int at_switch)
{
    struct strobe_tracy_bytes *in = &content->in;
    uint64_t n = strobe_tracy_u64(in), ref = 0;
    if (!visitor->sample)
        return strobe_tracy_skip_items(content, n, 11);
    for (uint64_t i = 0; i < n && !in->err; i++) {
        ref += strobe_tracy_u64(in);
        uint32_t callstack = strobe_tracy_u24(in);
        if (!in->err)
            STROBE_TRACY_TELL(sample, (int64_t)ref, callstack, at_switch);
    }
    return in->err;
}

static enum strobe_err read_message_ids(struct strobe_tracy_content *content,
                                        const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    uint64_t n = strobe_tracy_u64(in);
    for (uint64_t i = 0; i < n && !in->err; i++) {
        uint64_t id = strobe_tracy_u64(in);
        if (!in->err)
            STROBE_TRACY_TELL(thread_message, id);
    }
    return in->err;
}

static enum strobe_err read_thread(struct strobe_tracy_content *content,
                                   const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    struct timeline line = {content, visitor, 0};
    struct strobe_tracy_thread_head head = {.tid = strobe_tracy_u64(in)};
    head.n_zones = strobe_tracy_u64(in);
    head.n_kernel_samples = strobe_tracy_u64(in);
    head.is_fiber = strobe_tracy_u8(in);
    head.group = content->head.version >= STROBE_TRACY_VERSION(11, 1) ? strobe_tracy_i32(in) : 0;
    if (in->err)
        return in->err;
    strobe_tracy_thread_number(content, head.tid);
    STROBE_TRACY_TELL(thread, &head);
    enum strobe_err err = visitor->times ? read_times(&line) : read_timeline(&line);
    if (!err)
        err = read_message_ids(content, visitor);
    if (!err)
        err = read_samples(content, visitor, 1);
    if (!err)
        err = read_samples(content, visitor, 0);
    if (err)
        return err;
    STROBE_TRACY_TELL(thread_end, &head);
    return STROBE_OK;
}

enum strobe_err strobe_tracy_read_threads(struct strobe_tracy_content *content,
                                          const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    strobe_tracy_u64(in); /* zones */
    strobe_tracy_u64(in); /* those with children */
    return strobe_tracy_read_each(content, visitor, strobe_tracy_u64(in), read_thread);
}

/* ---- GPU contexts ---------------------------------------------------------------------------- */

struct gpu_line {
    struct strobe_tracy_content *content;
    const struct strobe_tracy_visitor *visitor;
    uint64_t cpu_ref, gpu_ref;
    int has_query;
};

static enum strobe_err begin_gpu_zone(struct gpu_line *line, uint32_t depth)
{
    const struct strobe_tracy_visitor *visitor = line->visitor;
    struct strobe_tracy_bytes *in = &line->content->in;
    enum strobe_err err =
        STROBE_ARRAY_RESERVE_MAX(line->content->gpu_stack, line->content->gpu_stack_room,
                                 (uint64_t)depth + 1, STROBE_TRACY_MAX_DEPTH);
    if (err)
        return err;
    struct strobe_tracy_gpu_zone *zone = &line->content->gpu_stack[depth];
    *zone =
        (struct strobe_tracy_gpu_zone){.cpu_end = STROBE_TRACY_OPEN, .gpu_end = STROBE_TRACY_OPEN};
    zone->cpu_start = (int64_t)(line->cpu_ref += strobe_tracy_u64(in));
    zone->gpu_start = (int64_t)(line->gpu_ref += strobe_tracy_u64(in));
    zone->loc = strobe_tracy_i16(in);
    zone->callstack = strobe_tracy_u24(in);
    zone->thread = strobe_tracy_u16(in);
    zone->left = strobe_tracy_u64(in);
    if (!in->err)
        STROBE_TRACY_TELL(gpu_begin, line->content->gpu_stack, depth);
    return in->err;
}

static enum strobe_err end_gpu_zone(struct gpu_line *line, uint32_t depth)
{
    const struct strobe_tracy_visitor *visitor = line->visitor;
    struct strobe_tracy_bytes *in = &line->content->in;
    struct strobe_tracy_gpu_zone *zone = &line->content->gpu_stack[depth];
    zone->cpu_end = (int64_t)(line->cpu_ref += strobe_tracy_u64(in));
    zone->gpu_end = (int64_t)(line->gpu_ref += strobe_tracy_u64(in));
    zone->query = line->has_query ? strobe_tracy_u16(in) : 0;
    line->content->n_gpu_zones += !in->err;
    if (!in->err)
        STROBE_TRACY_TELL(gpu_end, line->content->gpu_stack, depth);
    return in->err;
}

static enum strobe_err read_gpu_timeline(struct gpu_line *line)
{
    struct strobe_tracy_content *content = line->content;
    uint32_t depth = 0;
    uint64_t left = strobe_tracy_u64(&content->in);
    enum strobe_err err = content->in.err;
    while (!err && (left || depth)) {
        if (left) {
            err = begin_gpu_zone(line, depth);
            if (err)
                break;
            uint64_t n_children = content->gpu_stack[depth].left;
            content->gpu_stack[depth++].left = left - 1;
            left = n_children;
        } else {
            err = end_gpu_zone(line, --depth);
            left = content->gpu_stack[depth].left;
        }
    }
    return err;
}

static enum strobe_err read_gpu_notes(struct strobe_tracy_content *content,
                                      const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    uint64_t n = strobe_tracy_u64(in);
    for (uint64_t i = 0; i < n && !in->err; i++) {
        uint16_t query = strobe_tracy_u16(in);
        uint64_t n_values = strobe_tracy_u64(in);
        for (uint64_t j = 0; j < n_values && !in->err; j++) {
            int64_t note = strobe_tracy_i64(in);
            double value = strobe_tracy_f64(in);
            if (!in->err)
                STROBE_TRACY_TELL(gpu_note, query, note, value);
        }
    }
    return in->err;
}

static enum strobe_err read_note_names(struct strobe_tracy_content *content,
                                       const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    uint64_t n = strobe_tracy_u64(in);
    for (uint64_t i = 0; i < n && !in->err; i++) {
        int64_t note = strobe_tracy_i64(in);
        struct strobe_tracy_text name = strobe_tracy_read_idx(content);
        if (!in->err)
            STROBE_TRACY_TELL(gpu_note_name, note, name);
    }
    return in->err;
}

static enum strobe_err read_gpu_context(struct strobe_tracy_content *content,
                                        const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    int has_notes = content->head.version >= STROBE_TRACY_VERSION(12, 4);
    struct strobe_tracy_gpu_head head = {.tid = strobe_tracy_u64(in)};
    head.calibrated = strobe_tracy_u8(in);
    head.n_zones = strobe_tracy_u64(in);
    head.period = strobe_tracy_f32(in);
    head.type = strobe_tracy_u8(in);
    head.name = strobe_tracy_read_idx(content);
    head.overflow = strobe_tracy_u64(in);
    if (in->err)
        return in->err;
    STROBE_TRACY_TELL(gpu, &head);
    enum strobe_err err = has_notes ? read_note_names(content, visitor) : STROBE_OK;
    uint64_t n = err ? 0 : strobe_tracy_u64(in);
    for (uint64_t i = 0; i < n && !in->err && !err; i++) {
        struct gpu_line line = {content, visitor, 0, 0, has_notes};
        uint64_t tid = strobe_tracy_u64(in);
        if (in->err)
            break;
        STROBE_TRACY_TELL(gpu_thread, tid);
        err = read_gpu_timeline(&line);
    }
    if (!err && has_notes && !in->err)
        err = read_gpu_notes(content, visitor);
    return err ? err : in->err;
}

enum strobe_err strobe_tracy_read_gpu(struct strobe_tracy_content *content,
                                      const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    strobe_tracy_u64(in); /* zones */
    strobe_tracy_u64(in); /* those with children */
    return strobe_tracy_read_each(content, visitor, strobe_tracy_u64(in), read_gpu_context);
}
