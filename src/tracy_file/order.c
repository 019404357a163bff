/* order.c - threads and fibers by number.  SPDX-License-Identifier: MIT */
#include "tracy_file/order.h"

void strobe_tracy_order_start(const struct strobe_trace *trace,
                              const struct strobe_client_facts *facts,
                              struct strobe_tracy_order *out)
{
    const struct strobe_client_fact *client = strobe_client_of(facts, 0);
    *out = (struct strobe_tracy_order){.trace = trace};
    out->is_import = trace->n_processes == 1 && client && !client->protocol;
}

static int find_thread(struct strobe_tracy_order *order)
{
    const struct strobe_trace *trace = order->trace;
    for (; order->next_thread < trace->thread_ids.n; order->next_thread++) {
        uint32_t i = order->next_thread, twin = trace->threads[i].twin;
        if (trace->threads[i].is_known && trace->threads[i].tid && (!twin || twin == i + 1)) {
            order->index = order->next_thread++;
            return 1;
        }
    }
    return 0;
}

/* The next fiber; `only`: if it has that id. */
static int find_fiber(struct strobe_tracy_order *order, uint64_t only)
{
    const struct strobe_idmap *ids = &order->trace->fiber_ids;
    if (order->next_fiber == ids->n || (only && ids->keys[order->next_fiber].id != only))
        return 0;
    order->index = order->next_fiber++;
    return 1;
}

int strobe_tracy_order_next(struct strobe_tracy_order *order)
{
    order->number++;
    order->is_fiber = order->is_import && find_fiber(order, order->number);
    if (order->is_fiber || find_thread(order))
        return 1;
    order->is_fiber = 1;
    return find_fiber(order, 0);
}
