/* order.c - see the header.  SPDX-License-Identifier: MIT */
#include "tracy_file/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

const char *strobe_tracy_note_text(const struct strobe_client_facts *facts, uint32_t process,
                                   const struct strobe_note *note, char **made, uint32_t *n)
{
    const struct strobe_client_fact *client = strobe_client_of(facts, process);
    int is_old =
        client && client->protocol && client->protocol < 70; /* its servers write no hexadecimal */
    *n = note->n_text;
    if (!note->has_value)
        return note->text;
    char *text = *made = malloc((size_t)note->n_text + 64);
    if (!text)
        return NULL;
    uint32_t at = note->text ? note->n_text : 0;
    if (note->text) {
        memcpy(text, note->text, at);
        text[at++] = '\n';
    }
    unsigned long long value = note->value;
    *n = at + (uint32_t)(is_old ? snprintf(text + at, 60, "%llu", value)
                                : snprintf(text + at, 60, "%llu [0x%llx]", value, value));
    return text;
}
