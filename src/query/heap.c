/* heap.c - see heap.h. Blocks that live are in a store with one map per pool; a place has its figures as they are now, and those of
 * the last peak: they are copied when the place changes for the first time behind a peak.  SPDX-License-Identifier: MIT */
#include "query/heap.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define BIT(kind) (1ull << STROBE_KIND_##kind)
#define NONE      STROBE_IDMAP_NONE

struct pool_state {
    struct strobe_map live; /* address: place in the store */
    uint64_t use_bytes;
};

struct pass {
    struct strobe_trace *trace; /* borrowed */
    const struct strobe_heap_options *options;
    struct strobe_heap *out;
    struct pool_state *pools; /* owned: by index */
    uint32_t pools_room;
    struct strobe_heap_block *store;          /* owned */
    uint32_t n_store, store_room, free_place; /* free_place: + 1 */
    uint32_t *last; /* owned: by root thread, place + 1 of the block that it allocated last */
    uint32_t last_room;
    uint64_t use_bytes, n_peaks;
    int has_begun, has_ended; /* the range */
};

/* ---- pools and places ---- */

#define UNNAMED (1ull << 63) /* a string that no record names, by its id */

static uint32_t find_pool(struct pass *pass, uint32_t process, uint64_t id)
{
    struct strobe_heap *out = pass->out;
    const struct strobe_trace *trace = pass->trace;
    uint32_t string = id ? strobe_idmap_find(&trace->string_ids, process, id) : NONE;
    uint64_t key = !id ? 0 : string == NONE ? UNNAMED | id : trace->strings[string];
    uint32_t i = strobe_idmap_add_row(&out->pool_ids, process, key, (void **)&out->pools,
                                      &out->pools_room, sizeof *out->pools);
    if (i == NONE || STROBE_ARRAY_REACH(pass->pools, pass->pools_room, i))
        return NONE;
    out->pools[i].process = process;
    out->pools[i].name = key & UNNAMED ? 0 : (uint32_t)key;
    out->pools[i].name_id = key & UNNAMED ? id : 0;
    return i;
}

static uint32_t find_site(struct pass *pass, uint32_t pool, const struct strobe_ordered_row *row)
{
    struct strobe_heap *out = pass->out;
    const struct {
        uint64_t loc;
        uint32_t pool, stack, loc_process, zero;
    } key = {row->loc, pool, row->stack, row->loc_process, 0};
    uint32_t i;
    if (strobe_textmap_add(&out->site_ids, &key, sizeof key, &i) ||
        STROBE_ARRAY_REACH(out->sites, out->sites_room, i))
        return NONE;
    struct strobe_heap_site *site = &out->sites[i];
    if (i >= out->n_sites)
        *site =
            (struct strobe_heap_site){pool, row->stack, row->loc_process, row->loc, {0}, 0, 0, 0};
    out->n_sites = out->site_ids.n;
    return i;
}

/* ---- use over time ---- */

static void halve_series(struct strobe_heap *heap, uint32_t n_buckets)
{
    struct strobe_heap_series *series = &heap->series;
    for (uint32_t i = 0; i < n_buckets / 2; i++) {
        uint64_t a = series->most[2 * i], b = series->most[2 * i + 1];
        series->most[i] = a > b ? a : b;
        series->last[i] = series->last[2 * i + 1];
    }
    series->n = (series->n + 1) / 2;
    heap->series_shift++;
}

/* All pools together use `use` bytes from `tick` on; they used `before` until then. */
static void note_use(struct pass *pass, uint64_t tick, uint64_t before, uint64_t use)
{
    struct strobe_heap *heap = pass->out;
    struct strobe_heap_series *series = &heap->series;
    uint32_t n_buckets = pass->options->n_buckets;
    if (!n_buckets || tick < pass->options->from || tick > pass->options->to)
        return;
    if (!series->n)
        heap->series_first = tick;
    uint64_t at = tick < heap->series_first ? 0 : tick - heap->series_first;
    while (at >> heap->series_shift >= n_buckets)
        halve_series(heap, n_buckets);
    uint32_t bucket = (uint32_t)(at >> heap->series_shift);
    for (; series->n <= bucket; series->n++)
        series->most[series->n] = series->last[series->n] = before;
    STROBE_ASSERT(bucket < n_buckets);
    if (use > series->most[bucket])
        series->most[bucket] = use;
    for (uint32_t i = bucket; i < series->n; i++)
        series->last[i] = use;
}

/* ---- blocks ---- */

static struct strobe_heap_sums *sums_of(struct pass *pass, uint32_t site, int which)
{
    struct strobe_heap_site *at = &pass->out->sites[site];
    return which == 0   ? &at->sums
           : which == 1 ? &pass->out->pools[at->pool].sums
                        : &pass->out->sums;
}

/* How many blocks this one stands for. */
static uint64_t number_of(const struct strobe_heap_block *block)
{
    return block->size && block->weight > block->size
               ? (block->weight + block->size / 2) / block->size
               : 1;
}

/* Before a place changes: what it had at the last peak. */
static void save_peak(struct pass *pass, struct strobe_heap_site *site)
{
    if (site->seen_peak == pass->n_peaks)
        return;
    site->seen_peak = pass->n_peaks;
    site->peak_bytes = site->sums.live_bytes;
    site->n_peak = site->sums.n_live;
}

static void set_use(struct pass *pass, uint32_t pool, uint64_t tick, int64_t more)
{
    struct strobe_heap *out = pass->out;
    uint64_t before = pass->use_bytes;
    pass->pools[pool].use_bytes += (uint64_t)more;
    pass->use_bytes += (uint64_t)more;
    note_use(pass, tick, before, pass->use_bytes);
    if (pass->has_begun && pass->pools[pool].use_bytes > out->pools[pool].peak_bytes) {
        out->pools[pool].peak_bytes = pass->pools[pool].use_bytes;
        out->pools[pool].peak_tick = tick;
    }
    if (pass->has_begun && pass->use_bytes > out->peak_bytes) {
        out->peak_bytes = pass->use_bytes;
        out->peak_tick = tick;
        pass->n_peaks++;
    }
}

static uint32_t new_place(struct pass *pass)
{
    if (pass->free_place) {
        uint32_t place = pass->free_place - 1;
        pass->free_place = pass->store[place].next_free;
        return place;
    }
    struct strobe_heap_block *block =
        STROBE_ARRAY_PUSH(pass->store, pass->n_store, pass->store_room);
    return block ? pass->n_store - 1 : NONE;
}

/* A block's life ends: `counts` 1 as a free. */
static void end_block(struct pass *pass, uint32_t pool, uint32_t place,
                      const struct strobe_ordered_row *row, int counts)
{
    struct strobe_heap_block *block = &pass->store[place];
    uint64_t n = number_of(block);
    uint32_t *last = row->root < pass->last_room ? &pass->last[row->root] : NULL;
    int is_temporary = last && *last == place + 1;
    save_peak(pass, &pass->out->sites[block->site]);
    for (int i = 0; i < 3; i++) {
        struct strobe_heap_sums *sums = sums_of(pass, block->site, i);
        STROBE_ASSERT(sums->n_live >= n && sums->live_bytes >= block->weight);
        sums->n_live -= n;
        sums->live_bytes -= block->weight;
        sums->n_frees += counts && pass->has_begun ? n : 0;
        sums->n_temporary += counts && pass->has_begun && is_temporary ? n : 0;
    }
    if (last && is_temporary)
        *last = 0;
    strobe_map_remove(&pass->pools[pool].live, block->address);
    set_use(pass, pool, row->tick, -(int64_t)block->weight);
    block->next_free = pass->free_place;
    pass->free_place = place + 1;
}

static void count_block(struct pass *pass, const struct strobe_heap_block *block)
{
    uint64_t n = number_of(block);
    save_peak(pass, &pass->out->sites[block->site]);
    for (int i = 0; i < 3; i++) {
        struct strobe_heap_sums *sums = sums_of(pass, block->site, i);
        sums->n_live += n;
        sums->live_bytes += block->weight;
        sums->n_allocs += pass->has_begun ? n : 0;
        sums->bytes += pass->has_begun ? block->weight : 0;
    }
}

static enum strobe_err begin_block(struct pass *pass, uint32_t pool,
                                   const struct strobe_ordered_row *row, uint64_t weight)
{
    uint64_t *value;
    uint64_t *known = strobe_map_find(&pass->pools[pool].live, row->fields[1]);
    if (known) /* its free was lost */
        end_block(pass, pool, (uint32_t)*known, row, 0);
    uint32_t site = find_site(pass, pool, row), place = site == NONE ? NONE : new_place(pass);
    if (place == NONE || STROBE_ARRAY_REACH(pass->last, pass->last_room, row->root) ||
        strobe_map_add(&pass->pools[pool].live, row->fields[1], &value))
        return STROBE_ERR_NOMEM;
    *value = place;
    pass->out->n_sampled += weight != row->fields[2];
    pass->store[place] = (struct strobe_heap_block){.address = row->fields[1],
                                                    .size = row->fields[2],
                                                    .weight = weight,
                                                    .tick = row->tick,
                                                    .site = site,
                                                    .thread = row->thread,
                                                    .is_before = !pass->has_begun};
    pass->last[row->root] = place + 1;
    count_block(pass, &pass->store[place]);
    set_use(pass, pool, row->tick, (int64_t)weight);
    return STROBE_OK;
}

static void free_address(struct pass *pass, uint32_t pool, const struct strobe_ordered_row *row,
                         uint64_t address)
{
    uint64_t *known = strobe_map_find(&pass->pools[pool].live, address);
    if (known) {
        end_block(pass, pool, (uint32_t)*known, row, 1);
    } else if (pass->has_begun) {
        pass->out->pools[pool].n_unknown_frees++;
        pass->out->n_unknown_frees++;
    }
}

static void discard(struct pass *pass, uint32_t pool, const struct strobe_ordered_row *row)
{
    struct strobe_map *live = &pass->pools[pool].live;
    while (live->n)
        end_block(pass, pool, (uint32_t)live->entries[live->n - 1].value, row, 1);
}

/* ---- the range ---- */

static void begin_range(struct pass *pass)
{
    struct strobe_heap *out = pass->out;
    pass->has_begun = 1;
    out->sums.n_before = out->sums.n_live;
    out->sums.before_bytes = out->sums.live_bytes;
    out->peak_bytes = pass->use_bytes;
    out->peak_tick = pass->options->from;
    pass->n_peaks++;
    for (uint32_t i = 0; i < out->n_sites; i++) {
        out->sites[i].sums.n_before = out->sites[i].sums.n_live;
        out->sites[i].sums.before_bytes = out->sites[i].sums.live_bytes;
    }
    for (uint32_t i = 0; i < out->pool_ids.n; i++) {
        out->pools[i].sums.n_before = out->pools[i].sums.n_live;
        out->pools[i].sums.before_bytes = out->pools[i].sums.live_bytes;
        out->pools[i].peak_bytes = pass->pools[i].use_bytes;
        out->pools[i].peak_tick = pass->options->from;
    }
}

static int compare_blocks(const void *a, const void *b)
{
    const struct strobe_heap_block *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    if (x->tick != y->tick)
        return x->tick < y->tick ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* The blocks that live now, the largest of them. */
static enum strobe_err list_blocks(struct pass *pass)
{
    struct strobe_heap *out = pass->out;
    uint64_t n = 0;
    for (uint32_t i = 0; i < out->pool_ids.n; i++)
        n += pass->pools[i].live.n;
    if (!pass->options->n_blocks || !n)
        return STROBE_OK;
    struct strobe_heap_block *all = strobe_array_resize(NULL, n, sizeof *all);
    if (!all)
        return STROBE_ERR_NOMEM;
    n = 0;
    for (uint32_t i = 0; i < out->pool_ids.n; i++)
        for (uint32_t k = 0; k < pass->pools[i].live.n; k++)
            all[n++] = pass->store[pass->pools[i].live.entries[k].value];
    qsort(all, (size_t)n, sizeof *all, compare_blocks);
    out->blocks = all;
    out->n_blocks = n < pass->options->n_blocks ? (uint32_t)n : pass->options->n_blocks;
    return STROBE_OK;
}

static enum strobe_err end_range(struct pass *pass)
{
    if (!pass->has_begun)
        begin_range(pass);
    pass->has_ended = 1;
    for (uint32_t i = 0; i < pass->out->n_sites; i++)
        save_peak(pass, &pass->out->sites[i]);
    return list_blocks(pass);
}

static enum strobe_err take(void *context, const struct strobe_ordered_row *row)
{
    struct pass *pass = context;
    enum strobe_err err = STROBE_OK;
    if (!pass->has_begun && row->tick >= pass->options->from)
        begin_range(pass);
    if (row->tick > pass->options->to && !pass->has_ended)
        err = end_range(pass);
    if (pass->has_ended || err)
        return err;
    uint32_t pool = find_pool(pass, row->process, row->fields[0]);
    if (pool == NONE)
        return STROBE_ERR_NOMEM;
    if (row->kind == STROBE_KIND_MEM_DISCARD)
        discard(pass, pool, row);
    else if (row->kind == STROBE_KIND_MEM_FREE)
        free_address(pass, pool, row, row->fields[1]);
    else if (row->kind == STROBE_KIND_MEM_ALLOC)
        err = begin_block(pass, pool, row, row->fields[2]);
    else {
        if (row->fields[5])
            free_address(pass, pool, row, row->fields[5]);
        err = begin_block(pass, pool, row, row->fields[3] ? row->fields[3] : row->fields[2]);
    }
    return err;
}

/* ---- the pass ---- */

static enum strobe_err open_series(struct pass *pass)
{
    uint32_t n = pass->options->n_buckets;
    STROBE_ASSERT(!(n & (n - 1)));
    if (!n)
        return STROBE_OK;
    pass->out->series.most = calloc(n, sizeof *pass->out->series.most);
    pass->out->series.last = calloc(n, sizeof *pass->out->series.last);
    return pass->out->series.most && pass->out->series.last ? STROBE_OK : STROBE_ERR_NOMEM;
}

enum strobe_err strobe_heap_run(struct strobe_trace *trace,
                                const struct strobe_heap_options *options, struct strobe_heap *out)
{
    struct pass pass = {.trace = trace, .options = options, .out = out};
    memset(out, 0, sizeof *out);
    out->ordered = (struct strobe_ordered){.trace = trace,
                                           .context = &pass,
                                           .take = take,
                                           .kinds = BIT(MEM_ALLOC) | BIT(MEM_FREE) |
                                                    BIT(MEM_DISCARD) | BIT(MEM_BLOCK),
                                           .processes = options->processes,
                                           .n_processes = options->n_processes};
    enum strobe_err err = open_series(&pass);
    if (!err)
        err = strobe_ordered_run(&out->ordered);
    if (!err && !pass.has_ended)
        err = end_range(&pass);
    for (uint32_t i = 0; i < pass.pools_room; i++)
        strobe_map_free(&pass.pools[i].live);
    free(pass.pools);
    free(pass.store);
    free(pass.last);
    return err;
}

void strobe_heap_free(struct strobe_heap *heap)
{
    strobe_ordered_free(&heap->ordered);
    strobe_idmap_free(&heap->pool_ids);
    strobe_textmap_free(&heap->site_ids);
    free(heap->pools);
    free(heap->sites);
    free(heap->blocks);
    free(heap->series.most);
    free(heap->series.last);
    memset(heap, 0, sizeof *heap);
}

const char *strobe_heap_pool_name(const struct strobe_trace *trace, const struct strobe_heap *heap,
                                  uint32_t pool, char room[STROBE_NAME_ROOM], uint32_t *n_bytes)
{
    const struct strobe_heap_pool *at = &heap->pools[pool];
    if (at->name_id)
        return strobe_trace_string(trace, at->process, at->name_id, room, n_bytes);
    if (at->name)
        return strobe_trace_text(trace, at->name, n_bytes);
    *n_bytes = 7;
    return "default";
}
