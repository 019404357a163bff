/* placing_flows.c - see placing_flows.h. Whether a block has a flow is read from its symbol column alone.  SPDX-License-Identifier: MIT */
#include "query/placing_flows.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { MOST = 1 << 20 };

static enum strobe_err add(struct strobe_placing_flows *flows, uint64_t id, uint64_t tick,
                           int is_begin)
{
    uint64_t *value;
    uint32_t n = flows->ids.n;
    flows->ids.max = MOST;
    enum strobe_err err = strobe_map_add(&flows->ids, id, &value);
    if (err)
        return err == STROBE_ERR_LIMIT ? STROBE_OK : err;
    if (flows->ids.n > n) {
        if (STROBE_ARRAY_REACH(flows->rows, flows->room, flows->n))
            return STROBE_ERR_NOMEM;
        flows->rows[flows->n].id = id;
        *value = flows->n++;
    }
    struct strobe_placing_flow *row = &flows->rows[*value];
    *(is_begin ? &row->begin : &row->end) = tick;
    ++*(is_begin ? &row->n_begins : &row->n_ends);
    return STROBE_OK;
}

/* Whether a block, whose symbols are decoded, has a flow at all. */
static int has_flow(const struct strobe_events *events)
{
    return memchr(events->stream[STROBE_SYM], STROBE_KIND_FLOW_BEGIN, events->n_events) ||
           memchr(events->stream[STROBE_SYM], STROBE_KIND_FLOW_END, events->n_events);
}

static enum strobe_err read_part(const struct strobe_trace *trace,
                                 const struct strobe_events *events, uint32_t part,
                                 struct strobe_joiner *joiner, struct strobe_placing_flows *flows)
{
    struct strobe_cursor cursor;
    struct strobe_event event;
    enum strobe_err err = STROBE_OK;
    strobe_cursor_start(&cursor, events, &events->parts[part], &trace->schema, joiner);
    while (!err && !strobe_cursor_next(&cursor, &event))
        if (event.kind == STROBE_KIND_FLOW_BEGIN || event.kind == STROBE_KIND_FLOW_END)
            err = add(flows, event.fields[0].u, event.tick, event.kind == STROBE_KIND_FLOW_BEGIN);
    return err;
}

static enum strobe_err read_block(const struct strobe_trace *trace,
                                  const struct strobe_block *block, struct strobe_events *events,
                                  struct strobe_placing_flows *flows)
{
    struct strobe_joiner joiner = {0};
    enum strobe_err err = strobe_decode_parts(block, events);
    if (!err)
        err = strobe_decode_streams(block, 1u << STROBE_SYM, events);
    if (err || !events->n_events || !has_flow(events))
        return err == STROBE_ERR_CORRUPT ? STROBE_OK : err;
    err = strobe_decode_streams(block, STROBE_ALL_STREAMS, events);
    for (uint32_t i = 0; i < events->n_parts && !err; i++)
        err = read_part(trace, events, i, &joiner, flows);
    strobe_joiner_free(&joiner);
    return err == STROBE_ERR_CORRUPT ? STROBE_OK : err;
}

enum strobe_err strobe_placing_flows_read(const struct strobe_trace *trace,
                                          struct strobe_placing_flows *out)
{
    const struct strobe_trace_totals *totals = &strobe_file_facts(trace->file)->totals;
    const struct strobe_block_filter filter = {.type = STROBE_BLOCK_EVENTS};
    struct strobe_block_iter *iter = NULL;
    struct strobe_block block = {0};
    struct strobe_events events = {0};
    out->is_read = 1;
    if (totals->has_totals && !totals->n_of_kind[STROBE_KIND_FLOW_BEGIN] &&
        !totals->n_of_kind[STROBE_KIND_FLOW_END])
        return STROBE_OK;
    enum strobe_err err = strobe_file_iterate(trace->file, &filter, &iter);
    while (!err && (err = strobe_file_next_block(iter, &block)) == STROBE_OK)
        err = read_block(trace, &block, &events, out);
    strobe_file_end_iterate(iter);
    strobe_block_free(&block);
    strobe_events_free(&events);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

const struct strobe_placing_flow *
strobe_placing_flows_find(const struct strobe_placing_flows *flows, uint64_t id)
{
    const uint64_t *row = strobe_map_find(&flows->ids, id);
    return row ? &flows->rows[*row] : NULL;
}

void strobe_placing_flows_free(struct strobe_placing_flows *flows)
{
    free(flows->rows);
    strobe_map_free(&flows->ids);
    memset(flows, 0, sizeof *flows);
}
