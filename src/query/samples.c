/* samples.c - see samples.h. Addresses are named once each; a sample is then a row of numbers of texts.  SPDX-License-Identifier: MIT */
#include "query/samples.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/symbols.h"
#include "query/walk.h"

enum { NAME_ROOM = 8192, STACK_ROOM = 1 << 18 };

/* The functions at one address, in `pool`. */
struct named {
    uint32_t first, n;
};

struct pass {
    struct strobe_trace *trace; /* borrowed */
    const struct strobe_samples_options *options;
    struct strobe_samples *out;
    struct strobe_symbols *symbols; /* owned */
    struct strobe_idmap addresses;  /* (process, address): index in named */
    struct named *named;            /* owned */
    uint32_t named_room;
    uint32_t *pool; /* owned: texts */
    uint32_t n_pool, pool_room;
    char *stack; /* owned: STACK_ROOM */
};

static struct strobe_samples_row *row_of(struct strobe_samples *samples, uint32_t text)
{
    uint32_t i = strobe_idmap_add_row(&samples->ids, 0, text, (void **)&samples->rows,
                                      &samples->rows_room, sizeof *samples->rows);
    if (i == STROBE_IDMAP_NONE)
        return NULL;
    samples->rows[i].name = text;
    return &samples->rows[i];
}

/* Put the names of an address into the pool. */
static struct named name_address(struct pass *pass, uint32_t process, uint64_t address)
{
    char room[NAME_ROOM];
    struct named named = {pass->n_pool, 0};
    strobe_symbols_functions(pass->symbols, process, address, room, sizeof room);
    for (char *at = room; at;) {
        char *end = strchr(at, '\n');
        size_t n = end ? (size_t)(end - at) : strlen(at);
        uint32_t *text = STROBE_ARRAY_PUSH(pass->pool, pass->n_pool, pass->pool_room);
        if (!text)
            break;
        *text = strobe_texts_add(&pass->out->texts, at, n);
        named.n++;
        at = end ? end + 1 : NULL;
    }
    return named;
}

static struct named names_of(struct pass *pass, uint32_t process, uint64_t address)
{
    uint32_t known = pass->addresses.n;
    uint32_t i = strobe_idmap_add_row(&pass->addresses, process, address, (void **)&pass->named,
                                      &pass->named_room, sizeof *pass->named);
    if (i == STROBE_IDMAP_NONE)
        return (struct named){0, 0};
    if (i >= known)
        pass->named[i] = name_address(pass, process, address);
    return pass->named[i];
}

/* ---- functions ---- */

static void count_functions(struct pass *pass, uint32_t process, const struct strobe_field *stack)
{
    bool is_innermost = true;
    for (uint64_t i = 0; i < stack->u; i++) {
        struct named named = names_of(pass, process, stack->list[i]);
        for (uint32_t j = 0; j < named.n; j++, is_innermost = false) {
            struct strobe_samples_row *row = row_of(pass->out, pass->pool[named.first + j]);
            if (!row)
                continue;
            row->self += is_innermost;
            row->total += row->last != pass->out->n_samples;
            row->last = pass->out->n_samples;
        }
    }
}

/* ---- stacks ---- */

/* A name in a folded stack has no semicolon and no line feed. */
static size_t add_name(char *at, size_t room, const char *name, size_t n, bool is_first)
{
    if (n + 2 > room)
        return 0;
    size_t used = 0;
    if (!is_first)
        at[used++] = ';';
    for (size_t i = 0; i < n; i++)
        at[used++] = name[i] == ';' ? ':' : (unsigned char)name[i] < ' ' ? ' ' : name[i];
    return used;
}

static void count_stack(struct pass *pass, uint32_t process, const struct strobe_field *stack)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n_name = 0;
    const char *name = strobe_trace_process_name(pass->trace, process, room, &n_name);
    size_t n = add_name(pass->stack, STACK_ROOM, name, n_name, true);
    for (uint64_t i = stack->u; i-- > 0;) {
        struct named named = names_of(pass, process, stack->list[i]);
        for (uint32_t j = named.n; j-- > 0;) {
            name = strobe_texts_get(&pass->out->texts, pass->pool[named.first + j], &n_name);
            n += add_name(pass->stack + n, STACK_ROOM - n, name, n_name, false);
        }
    }
    struct strobe_samples_row *row =
        row_of(pass->out, strobe_texts_add(&pass->out->texts, pass->stack, n));
    if (row)
        row->self = ++row->total;
}

/* ---- the pass ---- */

static enum strobe_err take_sample(void *context, const struct strobe_happening *happening)
{
    struct pass *pass = context;
    const struct strobe_samples_options *options = pass->options;
    const struct strobe_field *stack = &happening->event->fields[1];
    if (options->processes && happening->process < options->n_processes &&
        !options->processes[happening->process])
        return STROBE_OK;
    pass->out->n_samples++;
    if (options->folded)
        count_stack(pass, happening->process, stack);
    else
        count_functions(pass, happening->process, stack);
    return STROBE_OK;
}

enum strobe_err strobe_samples_run(struct strobe_trace *trace,
                                   const struct strobe_samples_options *options,
                                   struct strobe_samples *out)
{
    struct pass pass = {.trace = trace, .options = options, .out = out};
    memset(out, 0, sizeof *out);
    pass.symbols = strobe_symbols_open(trace);
    pass.stack = malloc(STACK_ROOM);
    struct strobe_walk walk = {.trace = trace,
                               .context = &pass,
                               .happens = take_sample,
                               .kinds = 1ull << STROBE_KIND_SAMPLE,
                               .by_tick = options->by_tick,
                               .tick_min = options->tick_min,
                               .tick_max = options->tick_max};
    enum strobe_err err = pass.symbols && pass.stack ? strobe_walk_run(&walk) : STROBE_ERR_NOMEM;
    out->n_bad_parts = walk.n_bad_parts;
    out->hz = strobe_trace_sample_hz(trace);
    strobe_symbols_close(pass.symbols);
    strobe_idmap_free(&pass.addresses);
    free(pass.named);
    free(pass.pool);
    free(pass.stack);
    return err;
}

void strobe_samples_free(struct strobe_samples *samples)
{
    strobe_texts_free(&samples->texts);
    strobe_idmap_free(&samples->ids);
    free(samples->rows);
    memset(samples, 0, sizeof *samples);
}
