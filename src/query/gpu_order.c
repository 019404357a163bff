/* gpu_order.c - all GPU zones of a trace by context and begin, one by one.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/sort.h"
#include "query/gpu.h"

enum { SORT_BYTES = 16 << 20 };

static int by_begin(const void *a, const void *b)
{
    const struct strobe_gpu_zone *x = a, *y = b;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

struct sorting {
    struct strobe_sort *sort;                 /* owned: of zones */
    const struct strobe_gpu_visitor *visitor; /* borrowed */
};

static enum strobe_err keep_zone(void *context, const struct strobe_gpu_zone *zone)
{
    return strobe_sort_add(((struct sorting *)context)->sort, zone, NULL, 0);
}

static enum strobe_err pass_note(void *context, uint32_t gpu_context, uint32_t zone_number,
                                 uint64_t note, double value)
{
    const struct strobe_gpu_visitor *visitor = ((struct sorting *)context)->visitor;
    return visitor->note(visitor->context, gpu_context, zone_number, note, value);
}

static enum strobe_err give_zone(void *context, const void *record, const void *bytes,
                                 size_t n_bytes)
{
    const struct strobe_gpu_visitor *visitor = ((struct sorting *)context)->visitor;
    struct strobe_gpu_zone zone;
    (void)bytes;
    (void)n_bytes;
    memcpy(&zone, record, sizeof zone);
    return visitor->zone(visitor->context, &zone);
}

enum strobe_err strobe_gpu_each_in_order(struct strobe_trace *trace,
                                         struct strobe_client_facts *facts,
                                         const struct strobe_gpu_visitor *visitor,
                                         struct strobe_gpu_troubles *out)
{
    static const struct strobe_sort_options order = {.record_bytes = sizeof(struct strobe_gpu_zone),
                                                     .memory_bytes = SORT_BYTES,
                                                     .compare = by_begin};
    struct sorting sorting = {.visitor = visitor};
    const struct strobe_gpu_visitor keeper = {&sorting, keep_zone, visitor->note ? pass_note : NULL,
                                              visitor->with_ticks};
    memset(out, 0, sizeof *out);
    enum strobe_err err = strobe_sort_open(&order, &sorting.sort);
    if (!err)
        err = strobe_gpu_each(trace, facts, &keeper, out);
    if (!err)
        err = strobe_sort_all(sorting.sort, give_zone, &sorting);
    strobe_sort_close(sorting.sort);
    return err;
}
