/* stack.c - see stack.h.  SPDX-License-Identifier: MIT */
#include "query/stack.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static enum strobe_err take_stack(struct strobe_stack *out, const struct strobe_field *field)
{
    out->n = 0;
    if (field->u && STROBE_ARRAY_REACH(out->addresses, out->room, field->u - 1))
        return STROBE_ERR_NOMEM;
    out->n = (uint32_t)field->u;
    if (out->n)
        memcpy(out->addresses, field->list, out->n * sizeof *out->addresses);
    return STROBE_OK;
}

/* 1: the zone's begin is in the part; its stack is then in `out`. */
static int look_at_part(struct strobe_view *view, const struct strobe_events *events,
                        const struct strobe_part *part, uint64_t begin, uint64_t loc,
                        struct strobe_stack *out)
{
    struct strobe_joiner joiner = {0};
    struct strobe_cursor cursor;
    struct strobe_event event;
    int is_found = 0;
    out->n = 0;
    strobe_cursor_start(&cursor, events, part, &view->trace->schema, &joiner);
    while (!is_found && strobe_cursor_next(&cursor, &event) == STROBE_OK) {
        if (event.kind == STROBE_KIND_CALLSTACK) {
            take_stack(out, &event.fields[0]);
            continue;
        }
        is_found = event.kind == STROBE_KIND_ZONE_BEGIN && event.tick == begin && event.loc == loc;
        if (!is_found)
            out->n = 0;
    }
    strobe_joiner_free(&joiner);
    return is_found;
}

enum strobe_err strobe_stack_find(struct strobe_view *view, uint32_t thread, uint64_t begin,
                                  uint64_t loc, struct strobe_stack *out)
{
    out->n = 0;
    for (uint32_t b = 0; (b = strobe_view_next(view, b, begin, begin)) != STROBE_VIEW_NO_BLOCK;
         b++) {
        if (!(strobe_view_block(view, b).kinds >> STROBE_KIND_CALLSTACK & 1))
            continue;
        uint32_t n, number = UINT32_MAX;
        const struct strobe_view_part *parts = strobe_view_parts(view, b, &n);
        for (uint32_t i = 0; i < n; i++) {
            if (parts[i].thread != thread || parts[i].first_tick > begin ||
                parts[i].last_tick < begin)
                continue;
            number = parts[i].number;
            const struct strobe_events *events = strobe_view_events(view, b);
            if (events && look_at_part(view, events, &events->parts[number], begin, loc, out))
                return STROBE_OK;
            parts = strobe_view_parts(view, b, &n);
        }
    }
    out->n = 0;
    return STROBE_OK;
}

void strobe_stack_free(struct strobe_stack *stack)
{
    free(stack->addresses);
    memset(stack, 0, sizeof *stack);
}
