/* pair_spans.c - see pair_spans.h.
 *
 * Which ids were paired at once is kept as ranges: who writes pairs counts up. An id that is met again, there or among those that are sorted, makes the
 * shortcut wrong, since spans are paired by time.  SPDX-License-Identifier: MIT */
#include "query/pair_spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/sort.h"

enum { SORT_BYTES = 16 << 20, MAX_RANGES = 4096 };

/* A begin or an end on its way through the sort. */
struct item {
    uint64_t id, tick, loc;
    uint64_t seq; /* in the order of the file */
    uint32_t process;
    uint32_t is_begin;
};

struct range {
    uint64_t first, last;
    uint32_t process;
};

struct strobe_pair_spans {
    strobe_pair_span_sink *sink;
    void *context;            /* borrowed: of the sink */
    struct strobe_sort *sort; /* owned */
    struct item held;         /* a begin whose end may be next */
    int has_held, at_once, is_mixed;
    struct range ranges[MAX_RANGES]; /* in order, of what was paired at once */
    uint32_t n_ranges;
    uint64_t least, most; /* ids that are sorted; none: least is above most */
    /* while the sorted ones come, of one id: */
    struct item first, open; /* its first one; its begin */
    int has_first, has_open;
};

static int by_id(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->tick != y->tick)
        return x->tick < y->tick ? -1 : 1;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static struct strobe_sort_key key_of(const void *record)
{
    const struct item *item = record;
    return (struct strobe_sort_key){item->id, item->process};
}

enum strobe_err strobe_pair_spans_open(const char *folder, int at_once, strobe_pair_span_sink *sink,
                                       void *context, struct strobe_pair_spans **out)
{
    const struct strobe_sort_options options = {.record_bytes = sizeof(struct item),
                                                .memory_bytes = SORT_BYTES,
                                                .compare = by_id,
                                                .key = key_of,
                                                .is_fixed = 1,
                                                .folder = folder};
    struct strobe_pair_spans *spans = *out = calloc(1, sizeof *spans);
    if (!spans)
        return STROBE_ERR_NOMEM;
    spans->sink = sink;
    spans->context = context;
    spans->at_once = at_once;
    spans->least = UINT64_MAX;
    if (!strobe_sort_open(&options, &spans->sort))
        return STROBE_OK;
    free(spans);
    *out = NULL;
    return STROBE_ERR_NOMEM;
}

void strobe_pair_spans_close(struct strobe_pair_spans *spans)
{
    if (!spans)
        return;
    strobe_sort_close(spans->sort);
    free(spans);
}

int strobe_pair_spans_is_mixed(const struct strobe_pair_spans *spans)
{
    return spans->is_mixed;
}

/* ---- at once ---- */

static int is_behind(const struct range *range, uint32_t process, uint64_t id)
{
    return range->process != process ? range->process > process : range->first > id;
}

/* The range that an id is in, or would be behind: its number + 1; 0: before all. */
static uint32_t range_of(const struct strobe_pair_spans *spans, uint32_t process, uint64_t id)
{
    return (uint32_t)STROBE_ARRAY_BISECT(0, spans->n_ranges, i,
                                         !is_behind(&spans->ranges[i], process, id));
}

static int is_in(const struct strobe_pair_spans *spans, uint32_t at, uint32_t process, uint64_t id)
{
    return at && spans->ranges[at - 1].process == process && spans->ranges[at - 1].last >= id;
}

/* Note that an id is paired at once. 0: it can't be. */
static int claim(struct strobe_pair_spans *spans, uint32_t process, uint64_t id)
{
    uint32_t at = range_of(spans, process, id);
    if (id >= spans->least && id <= spans->most)
        return 0;
    if (is_in(spans, at, process, id)) {
        spans->is_mixed = 1;
        return 0;
    }
    struct range *before = at ? &spans->ranges[at - 1] : NULL;
    if (before && before->process == process && before->last == id - 1) {
        before->last = id;
        return 1;
    }
    if (spans->n_ranges == MAX_RANGES)
        return 0;
    memmove(&spans->ranges[at + 1], &spans->ranges[at],
            (spans->n_ranges - at) * sizeof *spans->ranges);
    spans->ranges[at] = (struct range){id, id, process};
    spans->n_ranges++;
    return 1;
}

static enum strobe_err put_sorted(struct strobe_pair_spans *spans, const struct item *item)
{
    if (is_in(spans, range_of(spans, item->process, item->id), item->process, item->id))
        spans->is_mixed = 1;
    spans->least = item->id < spans->least ? item->id : spans->least;
    spans->most = item->id > spans->most ? item->id : spans->most;
    return strobe_sort_add(spans->sort, item, NULL, 0);
}

static enum strobe_err put_held(struct strobe_pair_spans *spans)
{
    int has_held = spans->has_held;
    spans->has_held = 0;
    return has_held ? put_sorted(spans, &spans->held) : STROBE_OK;
}

enum strobe_err strobe_pair_spans_add(struct strobe_pair_spans *spans, uint32_t process,
                                      const struct strobe_loose *loose, uint64_t seq)
{
    const struct item item = {.id = loose->id,
                              .tick = loose->tick,
                              .loc = loose->loc,
                              .seq = seq,
                              .process = process,
                              .is_begin = loose->kind == STROBE_KIND_SPAN_BEGIN};
    STROBE_ASSERT(item.is_begin || loose->kind == STROBE_KIND_SPAN_END);
    const struct item *held = spans->has_held ? &spans->held : NULL;
    if (!item.is_begin && held && held->process == process && held->id == item.id &&
        held->tick <= item.tick && claim(spans, process, item.id)) {
        const struct strobe_pair_span span = {held->tick, item.tick, held->loc, process,
                                              0,          item.tick, item.seq};
        spans->has_held = 0;
        return spans->sink(spans->context, &span);
    }
    enum strobe_err err = put_held(spans);
    if (err || !item.is_begin || !spans->at_once)
        return err ? err : put_sorted(spans, &item);
    spans->held = item;
    spans->has_held = 1;
    return STROBE_OK;
}

/* ---- by id ---- */

/* The id has no more: what began last is open. */
static enum strobe_err end_id(struct strobe_pair_spans *spans)
{
    const struct strobe_pair_span span = {spans->open.tick,    UINT64_MAX, spans->open.loc,
                                          spans->open.process, 0,          spans->first.tick,
                                          spans->first.seq};
    int has_open = spans->has_open;
    spans->has_first = spans->has_open = 0;
    return has_open ? spans->sink(spans->context, &span) : STROBE_OK;
}

static enum strobe_err take_item(void *context, const void *record, const void *bytes, size_t n)
{
    struct strobe_pair_spans *spans = context;
    struct item item;
    enum strobe_err err = STROBE_OK;
    (void)bytes, (void)n;
    memcpy(&item, record, sizeof item);
    if (spans->has_first && (spans->first.id != item.id || spans->first.process != item.process))
        err = end_id(spans);
    if (err)
        return err;
    if (!spans->has_first)
        spans->first = item;
    spans->has_first = 1;
    int is_first = item.is_begin && !spans->has_open;
    struct strobe_pair_span span = {.process = item.process,
                                    .is_none = item.is_begin || !spans->has_open,
                                    .place_tick = item.tick,
                                    .place_seq = item.seq};
    if (!span.is_none) {
        span.begin = spans->open.tick;
        span.end = item.tick;
        span.loc = spans->open.loc;
    }
    spans->has_open = item.is_begin != 0;
    if (item.is_begin)
        spans->open = item; /* one that was open has lost its end */
    return is_first ? STROBE_OK : spans->sink(spans->context, &span);
}

enum strobe_err strobe_pair_spans_end(struct strobe_pair_spans *spans)
{
    enum strobe_err err = put_held(spans);
    if (!err)
        err = strobe_sort_all(spans->sort, take_item, spans);
    return err ? err : end_id(spans);
}
