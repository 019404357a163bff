/* stack_code.c - see stack_code.h.  SPDX-License-Identifier: MIT */
#include "query/stack_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

enum strobe_err strobe_stack_records(struct strobe_trace *trace,
                                     int (*take)(void *context, const struct strobe_record *record),
                                     void *context)
{
    const struct strobe_block_filter filter = {.type = STROBE_BLOCK_RECORDS};
    struct strobe_block_iter *iter;
    struct strobe_block block = {0};
    struct strobe_record_walk walk = {0};
    struct strobe_record record;
    int goes_on = 1;
    enum strobe_err err = strobe_file_iterate(trace->file, &filter, &iter);
    if (err)
        return err;
    while (goes_on && !(err = strobe_file_next_block(iter, &block)))
        if (strobe_record_walk_start(&block, &trace->schema, &walk) == STROBE_OK)
            while (goes_on && strobe_record_walk_next(&walk, &record) == STROBE_OK)
                goes_on = take(context, &record);
    strobe_file_end_iterate(iter);
    strobe_record_walk_free(&walk);
    strobe_block_free(&block);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

/* Pieces of one thing, put together. */
struct gathered {
    struct strobe_trace *trace;             /* borrowed */
    const struct strobe_code_place *places; /* borrowed */
    uint32_t n_places;
    const char *path; /* borrowed: of a source file */
    size_t most;
    struct strobe_code_place place; /* that the code is of */
    uint8_t *bytes;                 /* owned */
    size_t n, room;
    uint64_t total;
};

/* Add a piece that continues what is there; `offset` 0 begins anew. 0: that is all. */
static int add_piece(struct gathered *to, const struct strobe_field *offset,
                     const struct strobe_field *bytes)
{
    if (!offset->u && to->n)
        return 0; /* the same once more */
    if (offset->u != to->n || bytes->u > to->most - to->n ||
        STROBE_ARRAY_RESERVE(to->bytes, to->room, to->n + bytes->u + 1))
        return !to->n;
    STROBE_ASSERT(to->n + bytes->u < to->room);
    if (bytes->u)
        memcpy(to->bytes + to->n, bytes->text, (size_t)bytes->u);
    to->n += (size_t)bytes->u;
    to->total = offset[1].u;
    return to->n < to->total;
}

static int is_place(const struct gathered *to, struct strobe_code_place place)
{
    if (to->n)
        return to->place.process == place.process && to->place.start == place.start;
    for (uint32_t i = 0; i < to->n_places; i++)
        if (to->places[i].process == place.process && to->places[i].start == place.start)
            return 1;
    return 0;
}

static int take_code(void *context, const struct strobe_record *record)
{
    struct gathered *to = context;
    const struct strobe_field *f = record->fields;
    if (record->kind != STROBE_META_CODE)
        return 1;
    struct strobe_code_place place = {strobe_trace_process(to->trace, record->proc), f[0].u};
    if (!is_place(to, place))
        return 1;
    to->place = place;
    return add_piece(to, &f[1], &f[3]);
}

static int take_source(void *context, const struct strobe_record *record)
{
    struct gathered *to = context;
    const struct strobe_field *f = record->fields;
    if (record->kind != STROBE_META_SOURCE_FILE || f[2].u != strlen(to->path) ||
        memcmp(f[2].text, to->path, (size_t)f[2].u))
        return 1;
    return add_piece(to, &f[0], &f[3]);
}

uint8_t *strobe_stack_code_of(struct strobe_trace *trace, const struct strobe_code_place *places,
                              uint32_t n_places, uint32_t *n_bytes)
{
    struct gathered to = {
        .trace = trace, .places = places, .n_places = n_places, .most = STROBE_STACK_CODE_MAX};
    strobe_stack_records(trace, take_code, &to);
    *n_bytes = (uint32_t)to.n;
    if (to.n)
        return to.bytes;
    free(to.bytes);
    return NULL;
}

char *strobe_stack_source_of(struct strobe_trace *trace, const char *path, size_t *n_bytes)
{
    struct gathered to = {.trace = trace, .path = path, .most = STROBE_STACK_SOURCE_MAX};
    strobe_stack_records(trace, take_source, &to);
    *n_bytes = to.n;
    if (to.n && to.n == to.total && !memchr(to.bytes, 0, to.n))
        return (char *)to.bytes;
    free(to.bytes);
    return NULL;
}
