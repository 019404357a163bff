/* heap_rows.c - see heap_rows.h.  SPDX-License-Identifier: MIT */
#include "query/heap_rows.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { MOST_FRAMES = 512, FUNCTIONS_ROOM = 8192 };

const char *strobe_heap_by_name(unsigned by)
{
    static const char *const names[] = {"stack", "function", "zone", "pool"};
    return by < STROBE_HEAP_N_BY ? names[by] : NULL;
}

const char *strobe_heap_order_name(unsigned order)
{
    static const char *const names[] = {"live", "peak", "bytes", "allocs", "temporary", "growth"};
    return order < STROBE_HEAP_N_ORDERS ? names[order] : NULL;
}

int64_t strobe_heap_row_weight(const struct strobe_heap_row *row, enum strobe_heap_order order)
{
    switch (order) {
    case STROBE_HEAP_PEAK:
        return (int64_t)row->peak_bytes;
    case STROBE_HEAP_BYTES:
        return (int64_t)row->sums.bytes;
    case STROBE_HEAP_ALLOCS:
        return (int64_t)row->sums.n_allocs;
    case STROBE_HEAP_TEMPORARY:
        return (int64_t)row->sums.n_temporary;
    case STROBE_HEAP_GROWTH:
        return (int64_t)(row->sums.live_bytes - row->sums.before_bytes);
    default:
        return (int64_t)row->sums.live_bytes;
    }
}

/* ---- names ---- */

/* Text behind what is there, its semicolons and control characters replaced. */
static size_t add_text(char *room, size_t n_room, size_t at, const char *text, size_t n)
{
    for (size_t i = 0; i < n && at + 1 < n_room; i++)
        room[at++] = text[i] == ';' ? ':' : (unsigned char)text[i] < ' ' ? ' ' : text[i];
    return at;
}

/* The functions of one address, outermost first. */
static size_t add_functions(const struct strobe_heap_names *names, uint32_t process,
                            uint64_t address, char *room, size_t n_room, size_t at)
{
    char functions[FUNCTIONS_ROOM];
    names->functions(names->context, process, address, functions, sizeof functions);
    for (bool more = true; more;) {
        char *line = strrchr(functions, '\n');
        const char *text = line ? line + 1 : functions;
        if (at && at + 1 < n_room)
            room[at++] = ';';
        at = add_text(room, n_room, at, text, strlen(text));
        more = line != NULL;
        if (line)
            *line = 0;
    }
    return at;
}

size_t strobe_call_stacks_name(const struct strobe_call_stacks *stacks, uint32_t stack,
                               uint32_t process, const struct strobe_heap_names *names, char *room,
                               size_t n_room)
{
    static const char none[] = "[no stack]";
    uint64_t addresses[MOST_FRAMES];
    uint32_t n = strobe_call_stacks_get(stacks, stack, addresses, MOST_FRAMES);
    size_t at = 0;
    while (n-- > 0)
        at = add_functions(names, process, addresses[n], room, n_room, at);
    if (!at)
        at = add_text(room, n_room, 0, none, sizeof none - 1);
    room[at] = 0;
    return at;
}

static size_t name_function(const struct strobe_heap *heap, const struct strobe_heap_site *site,
                            const struct strobe_heap_names *names, char *room)
{
    uint64_t address;
    if (!strobe_call_stacks_get(&heap->ordered.stacks, site->stack, &address, 1))
        return strobe_call_stacks_name(&heap->ordered.stacks, STROBE_IDMAP_NONE, 0, names, room,
                                       STROBE_HEAP_NAME_ROOM);
    names->functions(names->context, heap->pools[site->pool].process, address, room,
                     STROBE_HEAP_NAME_ROOM);
    return strcspn(room, "\n");
}

static size_t name_zone(const struct strobe_trace *trace, const struct strobe_heap_site *site,
                        char *room)
{
    static const char none[] = "[no zone]";
    char made[STROBE_NAME_ROOM];
    uint32_t n = sizeof none - 1;
    const char *name = none;
    if (site->loc)
        name = strobe_trace_loc_name(trace, strobe_trace_loc(trace, site->loc_process, site->loc),
                                     site->loc, made, &n);
    return add_text(room, STROBE_HEAP_NAME_ROOM, 0, name, n);
}

size_t strobe_heap_site_name(const struct strobe_trace *trace, const struct strobe_heap *heap,
                             uint32_t site, enum strobe_heap_by by,
                             const struct strobe_heap_names *names,
                             char room[STROBE_HEAP_NAME_ROOM])
{
    const struct strobe_heap_site *at = &heap->sites[site];
    char made[STROBE_NAME_ROOM];
    uint32_t n;
    if (by == STROBE_HEAP_BY_ZONE)
        return name_zone(trace, at, room);
    if (by == STROBE_HEAP_BY_FUNCTION)
        return name_function(heap, at, names, room);
    if (by == STROBE_HEAP_BY_STACK)
        return strobe_call_stacks_name(&heap->ordered.stacks, at->stack,
                                       heap->pools[at->pool].process, names, room,
                                       STROBE_HEAP_NAME_ROOM);
    const char *name = strobe_heap_pool_name(trace, heap, at->pool, made, &n);
    return add_text(room, STROBE_HEAP_NAME_ROOM, 0, name, n);
}

/* ---- rows ---- */

static void add_sums(struct strobe_heap_sums *to, const struct strobe_heap_sums *from)
{
    to->n_allocs += from->n_allocs;
    to->bytes += from->bytes;
    to->n_frees += from->n_frees;
    to->n_temporary += from->n_temporary;
    to->n_live += from->n_live;
    to->live_bytes += from->live_bytes;
    to->n_before += from->n_before;
    to->before_bytes += from->before_bytes;
}

/* Clients in one process are one to the reader. */
static uint32_t process_of(const struct strobe_trace *trace, uint32_t process)
{
    uint32_t twin = trace->processes[process].twin;
    return twin ? twin - 1 : process;
}

static enum strobe_err add_site(const struct strobe_trace *trace, const struct strobe_heap *heap,
                                uint32_t site, const char *name, size_t n_name,
                                struct strobe_heap_rows *out)
{
    const struct strobe_heap_site *at = &heap->sites[site];
    uint32_t process = process_of(trace, heap->pools[at->pool].process);
    uint32_t text = strobe_texts_add(&out->texts, name, n_name);
    uint32_t i = strobe_idmap_add_row(&out->ids, process, text, (void **)&out->rows,
                                      &out->rows_room, sizeof *out->rows);
    if (i == STROBE_IDMAP_NONE || (n_name && !text))
        return STROBE_ERR_NOMEM;
    out->rows[i].process = process;
    out->rows[i].name = text;
    out->rows[i].peak_bytes += at->peak_bytes;
    out->rows[i].n_peak += at->n_peak;
    add_sums(&out->rows[i].sums, &at->sums);
    return STROBE_OK;
}

struct place {
    int64_t weight, second;
    uint32_t index;
};

static int compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    if (x->second != y->second)
        return x->second < y->second ? 1 : -1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static enum strobe_err sort_rows(struct strobe_heap_rows *out, enum strobe_heap_order order)
{
    uint32_t n = out->ids.n;
    struct place *places = strobe_array_resize(NULL, n + 1ull, sizeof *places);
    struct strobe_heap_row *rows = strobe_array_resize(NULL, n + 1ull, sizeof *rows);
    for (uint32_t i = 0; places && rows && i < n; i++)
        places[i] = (struct place){strobe_heap_row_weight(&out->rows[i], order),
                                   (int64_t)out->rows[i].sums.bytes, i};
    if (places && rows && n) {
        qsort(places, n, sizeof *places, compare);
        for (uint32_t i = 0; i < n; i++)
            rows[i] = out->rows[places[i].index];
        memcpy(out->rows, rows, n * sizeof *rows);
    }
    enum strobe_err err = places && rows ? STROBE_OK : STROBE_ERR_NOMEM;
    free(places);
    free(rows);
    return err;
}

enum strobe_err strobe_heap_rows_make(const struct strobe_trace *trace,
                                      const struct strobe_heap *heap, enum strobe_heap_by by,
                                      enum strobe_heap_order order,
                                      const struct strobe_heap_names *names,
                                      struct strobe_heap_rows *out)
{
    char *room = malloc(STROBE_HEAP_NAME_ROOM);
    enum strobe_err err = room ? STROBE_OK : STROBE_ERR_NOMEM;
    for (uint32_t i = 0; !err && i < heap->n_sites; i++) {
        size_t n = strobe_heap_site_name(trace, heap, i, by, names, room);
        err = add_site(trace, heap, i, room, n, out);
    }
    free(room);
    return err ? err : sort_rows(out, order);
}

void strobe_heap_rows_free(struct strobe_heap_rows *rows)
{
    strobe_texts_free(&rows->texts);
    strobe_idmap_free(&rows->ids);
    free(rows->rows);
    memset(rows, 0, sizeof *rows);
}
