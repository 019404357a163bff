/* stacks.c - see stacks.h.  SPDX-License-Identifier: MIT */
#include "export/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/sort.h"
#include "query/stack_symbols.h"
#include "query/symbols.h"
#include "query/walk.h"

enum {
    NAME_ROOM = 8192,
    SORT_BYTES = 32 << 20,
    MODULES_SEARCHED = 8192,
    PLACES_MAX = 1 << 16, /* of a stack; what is outside of them is left out */
};

/* The part of a sample that is sorted by; its places are beside it. */
struct key {
    uint64_t order; /* tick, or hash of the stack */
    uint64_t tick;
    uint32_t thread, process;
};

struct pass {
    struct strobe_stacks *out;
    const struct strobe_samples_options *options;
    enum strobe_stacks_order order;
    struct strobe_symbols *symbols;       /* owned */
    struct strobe_stack_symbols recorded; /* files and lines */
    uint32_t *places;                     /* owned: PLACES_MAX */
};

/* ---- names ---- */

static uint32_t function_of(struct strobe_stacks *out, const char *name, size_t n, const char *file)
{
    struct strobe_stacks_function function = {strobe_texts_add(&out->texts, name, n),
                                              strobe_texts_add(&out->texts, file, strlen(file))};
    uint32_t i = strobe_idmap_add_row(&out->function_ids, function.name, function.file,
                                      (void **)&out->functions, &out->functions_room,
                                      sizeof *out->functions);
    if (i != STROBE_IDMAP_NONE)
        out->functions[i] = function;
    return i;
}

static uint32_t module_of(const struct strobe_trace *trace, uint32_t process, uint64_t address)
{
    uint32_t first = trace->n_modules > MODULES_SEARCHED ? trace->n_modules - MODULES_SEARCHED : 0;
    for (uint32_t i = trace->n_modules; i > first; i--) {
        const struct strobe_module *module = &trace->modules[i - 1];
        if (module->process == process && address - module->base < module->size)
            return i;
    }
    return 0;
}

/* The functions at an address: names as `strobe stats --stacks` has them, file and line where the trace says them. */
static enum strobe_err name_place(struct pass *pass, uint32_t process,
                                  struct strobe_stacks_place *place)
{
    struct strobe_stacks *out = pass->out;
    char room[NAME_ROOM];
    const struct strobe_stack_symbol *symbol =
        strobe_stack_symbol_of(&pass->recorded, process, place->address);
    strobe_symbols_functions(pass->symbols, process, place->address, room, sizeof room);
    for (char *at = room; at;) {
        char *end = strchr(at, '\n');
        const char *file =
            symbol ? strobe_texts_get(&pass->recorded.texts, symbol->file, NULL) : "";
        uint32_t function = function_of(out, at, end ? (size_t)(end - at) : strlen(at), file);
        struct strobe_stacks_line *line =
            STROBE_ARRAY_PUSH(out->lines, out->n_lines, out->lines_room);
        if (!line || function == STROBE_IDMAP_NONE)
            return STROBE_ERR_NOMEM;
        *line = (struct strobe_stacks_line){function, symbol ? symbol->line : 0};
        place->n++;
        symbol = symbol && symbol->next ? &pass->recorded.rows[symbol->next - 1] : NULL;
        at = end ? end + 1 : NULL;
    }
    return STROBE_OK;
}

static uint32_t place_of(struct pass *pass, uint32_t process, uint64_t address)
{
    struct strobe_stacks *out = pass->out;
    uint32_t n_known = out->place_ids.n;
    uint32_t i = strobe_idmap_add_row(&out->place_ids, process, address, (void **)&out->places,
                                      &out->places_room, sizeof *out->places);
    if (i == STROBE_IDMAP_NONE || i < n_known)
        return i;
    out->places[i] = (struct strobe_stacks_place){address, out->n_lines, 0,
                                                  module_of(out->trace, process, address)};
    return name_place(pass, process, &out->places[i]) ? STROBE_IDMAP_NONE : i;
}

/* ---- the pass ---- */

static enum strobe_err take_sample(void *context, const struct strobe_happening *happening)
{
    struct pass *pass = context;
    const struct strobe_samples_options *options = pass->options;
    const struct strobe_field *stack = &happening->event->fields[1];
    uint32_t n = stack->u < PLACES_MAX ? (uint32_t)stack->u : PLACES_MAX;
    if (options->processes && happening->process < options->n_processes &&
        !options->processes[happening->process])
        return STROBE_OK;
    for (uint32_t i = 0; i < n; i++) {
        pass->places[i] = place_of(pass, happening->process, stack->list[i]);
        if (pass->places[i] == STROBE_IDMAP_NONE)
            return STROBE_ERR_NOMEM;
    }
    struct key key = {
        .tick = happening->event->tick, .thread = happening->thread, .process = happening->process};
    key.order = pass->order == STROBE_STACKS_BY_TIME
                    ? key.tick
                    : strobe_hash_bytes(pass->places, n * sizeof *pass->places, 0);
    pass->out->n_samples++;
    return strobe_sort_add(pass->out->sort, &key, pass->places, n * sizeof *pass->places);
}

static int compare(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->tick > y->tick) - (x->tick < y->tick);
}

static enum strobe_err run(struct pass *pass, struct strobe_stacks *out)
{
    struct strobe_walk walk = {.trace = out->trace,
                               .context = pass,
                               .happens = take_sample,
                               .kinds = 1ull << STROBE_KIND_SAMPLE,
                               .by_tick = pass->options->by_tick,
                               .tick_min = pass->options->tick_min,
                               .tick_max = pass->options->tick_max};
    enum strobe_err err = strobe_stack_symbols_load(out->trace, &pass->recorded);
    if (!err)
        err = strobe_walk_run(&walk);
    out->n_bad_parts = walk.n_bad_parts;
    return err;
}

enum strobe_err strobe_stacks_open(struct strobe_trace *trace,
                                   const struct strobe_samples_options *options,
                                   enum strobe_stacks_order order, struct strobe_stacks *out)
{
    struct strobe_sort_options sort = {
        .record_bytes = sizeof(struct key), .memory_bytes = SORT_BYTES, .compare = compare};
    struct pass pass = {.out = out, .options = options, .order = order};
    memset(out, 0, sizeof *out);
    out->trace = trace;
    out->hz = strobe_trace_sample_hz(trace);
    pass.symbols = strobe_symbols_open(trace);
    pass.places = malloc(PLACES_MAX * sizeof *pass.places);
    enum strobe_err err =
        pass.symbols && pass.places ? strobe_sort_open(&sort, &out->sort) : STROBE_ERR_NOMEM;
    if (!err)
        err = run(&pass, out);
    strobe_symbols_close(pass.symbols);
    strobe_stack_symbols_free(&pass.recorded);
    free(pass.places);
    return err;
}

void strobe_stacks_close(struct strobe_stacks *stacks)
{
    strobe_sort_close(stacks->sort);
    strobe_texts_free(&stacks->texts);
    strobe_idmap_free(&stacks->function_ids);
    strobe_idmap_free(&stacks->place_ids);
    free(stacks->functions);
    free(stacks->lines);
    free(stacks->places);
    memset(stacks, 0, sizeof *stacks);
}

/* ---- handing out ---- */

struct hand_out {
    strobe_stacks_call *call;
    void *context;
};

static enum strobe_err hand_out(void *context, const void *record, const void *bytes,
                                size_t n_bytes)
{
    const struct hand_out *to = context;
    const struct key *key = record;
    struct strobe_stacks_sample sample = {.process = key->process,
                                          .thread = key->thread,
                                          .tick = key->tick,
                                          .places = bytes,
                                          .n_places = (uint32_t)(n_bytes / sizeof(uint32_t))};
    return to->call(to->context, &sample);
}

enum strobe_err strobe_stacks_each(struct strobe_stacks *stacks, strobe_stacks_call *call,
                                   void *context)
{
    struct hand_out to = {call, context};
    return strobe_sort_all(stacks->sort, hand_out, &to);
}

uint64_t strobe_stacks_period_ns(const struct strobe_stacks *stacks)
{
    return stacks->hz ? (1000000000 + stacks->hz / 2) / stacks->hz : 0;
}
