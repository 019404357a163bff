/* memory.c - see memory.h.  SPDX-License-Identifier: MIT */
#include "query/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/walk.h"

struct event {
    uint64_t tick, order;
    uint64_t address, size;
    uint32_t pool, thread;
    uint32_t kind;
    int64_t own;
};

struct gather {
    struct strobe_memory *memory;
    const struct strobe_trace *trace;
    struct event *events; /* owned */
    uint64_t n, room;
};

/* A text may have several ids: a pool is known by its name. */
#define UNNAMED (1ull << 63) /* a string that no record tells of, by its id */

static uint64_t pool_key(const struct strobe_trace *trace, uint32_t process, uint64_t id)
{
    uint32_t string = strobe_idmap_find(&trace->string_ids, process, id);
    if (!id)
        return 0;
    return string == STROBE_IDMAP_NONE ? UNNAMED | id : trace->strings[string];
}

const char *strobe_memory_pool_name(const struct strobe_trace *trace,
                                    const struct strobe_memory *memory, uint32_t pool,
                                    char room[STROBE_NAME_ROOM], uint32_t *n_bytes)
{
    const struct strobe_idkey *key = &memory->pools.keys[pool];
    if (!key->id)
        return NULL;
    if (key->id & UNNAMED)
        return strobe_trace_string(trace, key->scope, key->id & ~UNNAMED, room, n_bytes);
    return strobe_trace_text(trace, (uint32_t)key->id, n_bytes);
}

static enum strobe_err keep_event(struct gather *gather, const struct strobe_happening *happening,
                                  uint32_t kind, uint64_t address)
{
    const struct strobe_field *f = happening->event->fields;
    uint32_t pool = strobe_idmap_add(&gather->memory->pools, happening->process,
                                     pool_key(gather->trace, happening->process, f[0].u));
    if (pool == STROBE_IDMAP_NONE)
        return STROBE_ERR_NOMEM;
    if (STROBE_ARRAY_RESERVE(gather->events, gather->room, gather->n + 1))
        return STROBE_ERR_NOMEM;
    gather->events[gather->n] = (struct event){
        .tick = happening->event->tick,
        .order = gather->n,
        .address = address,
        .size = kind == STROBE_KIND_MEM_ALLOC ? f[2].u : 0,
        .pool = pool,
        .thread = happening->thread,
        .kind = kind,
        .own = happening->event->own,
    };
    gather->n++;
    return STROBE_OK;
}

/* A block that moved is the end of one and the begin of another. */
static enum strobe_err gather_event(void *context, const struct strobe_happening *happening)
{
    const struct strobe_field *f = happening->event->fields;
    uint32_t kind = happening->event->kind;
    enum strobe_err err = STROBE_OK;
    if (kind == STROBE_KIND_MEM_BLOCK && f[5].u)
        err = keep_event(context, happening, STROBE_KIND_MEM_FREE, f[5].u);
    if (kind == STROBE_KIND_MEM_BLOCK)
        kind = STROBE_KIND_MEM_ALLOC;
    return err ? err
               : keep_event(context, happening, kind, kind == STROBE_KIND_MEM_DISCARD ? 0 : f[1].u);
}

static int compare_events(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->tick != y->tick)
        return x->tick < y->tick ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

struct pairing {
    struct strobe_memory *memory;
    struct strobe_idmap live; /* (pool, address) */
    uint64_t *block_of;       /* owned: block + 1, 0: freed */
    uint32_t block_of_room;
};

static void end_block(struct pairing *pairing, uint32_t i, const struct event *event)
{
    struct strobe_mem_block *block = &pairing->memory->blocks[pairing->block_of[i] - 1];
    block->is_freed = 1;
    block->free_tick = event->tick;
    block->free_own = event->own;
    block->free_thread = event->thread;
    pairing->block_of[i] = 0;
}

static int begin_block(struct pairing *pairing, const struct event *event)
{
    struct strobe_memory *memory = pairing->memory;
    uint32_t i = strobe_idmap_add_row(&pairing->live, event->pool, event->address,
                                      (void **)&pairing->block_of, &pairing->block_of_room,
                                      sizeof *pairing->block_of);
    if (i == STROBE_IDMAP_NONE)
        return 0;
    if (pairing->block_of[i])
        end_block(pairing, i, event);
    struct strobe_mem_block *block =
        STROBE_ARRAY_PUSH(memory->blocks, memory->n_blocks, memory->blocks_room);
    if (!block)
        return 0;
    *block = (struct strobe_mem_block){
        .pool = event->pool,
        .thread = event->thread,
        .address = event->address,
        .size = event->size,
        .alloc_tick = event->tick,
        .alloc_own = event->own,
    };
    pairing->block_of[i] = memory->n_blocks;
    return 1;
}

static void discard_pool(struct pairing *pairing, const struct event *event)
{
    for (uint32_t i = 0; i < pairing->live.n; i++)
        if (pairing->live.keys[i].scope == event->pool && pairing->block_of[i])
            end_block(pairing, i, event);
}

static int take_event(struct pairing *pairing, const struct event *event)
{
    if (event->kind == STROBE_KIND_MEM_ALLOC)
        return begin_block(pairing, event);
    if (event->kind == STROBE_KIND_MEM_DISCARD) {
        discard_pool(pairing, event);
        return 1;
    }
    uint32_t i = strobe_idmap_find(&pairing->live, event->pool, event->address);
    if (i != STROBE_IDMAP_NONE && pairing->block_of[i])
        end_block(pairing, i, event);
    else
        pairing->memory->n_unknown_frees++;
    return 1;
}

enum strobe_err strobe_memory_run(struct strobe_trace *trace, struct strobe_memory *out)
{
    memset(out, 0, sizeof *out);
    struct gather gather = {.memory = out, .trace = trace};
    struct pairing pairing = {.memory = out};
    struct strobe_walk walk = {
        .trace = trace,
        .context = &gather,
        .happens = gather_event,
        .kinds = 1ull << STROBE_KIND_MEM_ALLOC | 1ull << STROBE_KIND_MEM_FREE |
                 1ull << STROBE_KIND_MEM_DISCARD | 1ull << STROBE_KIND_MEM_BLOCK,
    };
    enum strobe_err err = strobe_walk_run(&walk);
    out->n_bad_parts = walk.n_bad_parts;
    if (!err && gather.n)
        qsort(gather.events, (size_t)gather.n, sizeof *gather.events, compare_events);
    for (uint64_t i = 0; i < gather.n && !err; i++)
        err = take_event(&pairing, &gather.events[i]) ? STROBE_OK : STROBE_ERR_NOMEM;
    strobe_idmap_free(&pairing.live);
    free(pairing.block_of);
    free(gather.events);
    return err;
}

void strobe_memory_free(struct strobe_memory *memory)
{
    free(memory->blocks);
    strobe_idmap_free(&memory->pools);
    memset(memory, 0, sizeof *memory);
}
