/* answer_code.c - what a function is made of: its source text, and its machine code with the samples at each place. What was recorded with the
 * trace comes first, then files of the server's machine.
 *
 * A function may be at another address in each process, and may be inlined into others. Its code is that of the function around it which
 * has the most of its samples; processes that have mapped the same file at the same place of it count together.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/tracks.h"
#include "query/sample_tree.h"
#include "query/stack_code.h"

enum { MAX_PLACES = 256 };

/* ---- source ---- */

void strobe_engine_put_source(struct strobe_engine *engine, struct strobe_reply *reply,
                              const char *file)
{
    const struct strobe_engine_host *host = engine->host;
    const char *why = "source files are shown by the server only";
    size_t n = 0;
    char *text = *file ? strobe_stack_source_of(engine->trace, file, &n) : NULL;
    if (!text && *file && host && host->read_source)
        text = host->read_source(host->context, engine->trace, file, &n, &why);
    if (text)
        strobe_reply_text(reply, "text", text, n);
    else
        strobe_reply_string(reply, "why", *file ? why : "no record names its file");
    free(text);
}

/* ---- code ---- */

/* The function around an address, as a place that is the same in all processes: of a file, or of one process. */
struct around {
    const struct strobe_stack_symbol *symbol; /* NULL: it is not known where the function begins */
    uint64_t start;                           /* in its process */
    uint64_t where;                           /* in the file, or as `start` */
    uint32_t file, build_id;                  /* texts of the trace; 0 and the process + 1: none */
};

static struct around around_of(const struct strobe_engine *engine,
                               const struct strobe_sample_place *place)
{
    const struct strobe_trace *trace = engine->trace;
    const struct strobe_stack_symbols *symbols = &engine->symbols;
    const struct strobe_stack_symbol *at =
        strobe_stack_symbol_of(symbols, place->process, place->address);
    while (at && at->next)
        at = &symbols->rows[at->next - 1];
    struct around around = {at, at ? at->start : 0, 0, 0, place->process + 1};
    if (!at || !at->start || at->start > place->address)
        return (struct around){0};
    around.where = around.start;
    for (uint32_t i = trace->n_modules; i-- > 0;) {
        const struct strobe_module *module = &trace->modules[i];
        if (module->process != place->process || around.start - module->base >= module->size)
            continue;
        around.where = around.start - module->base + module->offset;
        around.file = module->path;
        around.build_id = module->build_id;
        break;
    }
    return around;
}

static int is_same(const struct around *a, const struct around *b)
{
    return a->symbol && b->symbol && a->where == b->where && a->file == b->file &&
           a->build_id == b->build_id;
}

/* Of the functions that a function's code lies in, the one with the most samples. */
static struct around find_around(const struct strobe_engine *engine,
                                 const struct strobe_sample_tree *tree, uint32_t function)
{
    struct sum {
        struct around around;
        uint64_t total;
    } sums[MAX_PLACES], *best = NULL;
    struct strobe_sample_place *places;
    uint32_t n = strobe_sample_tree_places(tree, function, &places), n_sums = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct around around = around_of(engine, &places[i]);
        uint32_t j = 0;
        while (j < n_sums && !is_same(&sums[j].around, &around))
            j++;
        if (!around.symbol || j == MAX_PLACES)
            continue;
        if (j == n_sums)
            sums[n_sums++] = (struct sum){around, 0};
        sums[j].total += places[i].total;
        best = !best || sums[j].total > best->total ? &sums[j] : best;
    }
    free(places);
    return best ? best->around : (struct around){0};
}

/* Samples at a distance from the function's start. */
struct at_offset {
    uint32_t offset, line;
    uint64_t self, total;
};

static int by_offset(const void *a, const void *b)
{
    const struct at_offset *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* All samples in the code of a function, by place, each place once. To be freed; `starts`: where the function begins, by process. */
static struct at_offset *gather(const struct strobe_engine *engine,
                                const struct strobe_sample_tree *tree, const struct around *around,
                                uint32_t *n_rows, struct strobe_code_place *starts,
                                uint32_t *n_starts)
{
    struct strobe_sample_place *places;
    uint32_t n = strobe_sample_tree_places(tree, UINT32_MAX, &places), n_found = 0, last = 0;
    struct at_offset *rows = calloc(n + 1ull, sizeof *rows);
    for (uint32_t i = 0; rows && i < n; i++) {
        struct around here = around_of(engine, &places[i]);
        if (!is_same(&here, around) || places[i].address - here.start > STROBE_STACK_CODE_MAX)
            continue;
        const struct strobe_stack_symbol *innermost =
            strobe_stack_symbol_of(&engine->symbols, places[i].process, places[i].address);
        rows[n_found++] = (struct at_offset){(uint32_t)(places[i].address - here.start),
                                             innermost->line, places[i].self, places[i].total};
        uint32_t j = 0;
        while (j < *n_starts && starts[j].process != places[i].process)
            j++;
        if (j == *n_starts && j < MAX_PLACES)
            starts[(*n_starts)++] = (struct strobe_code_place){places[i].process, here.start};
    }
    if (n_found)
        qsort(rows, n_found, sizeof *rows, by_offset);
    for (uint32_t i = 1; i < n_found; i++) {
        if (rows[i].offset != rows[last].offset) {
            rows[++last] = rows[i];
            continue;
        }
        rows[last].self += rows[i].self;
        rows[last].total += rows[i].total;
    }
    *n_rows = n_found ? last + 1 : 0;
    free(places);
    return rows;
}

static void put_rows(const struct strobe_engine *engine, const struct strobe_sample_tree *tree,
                     struct strobe_reply *reply, const struct at_offset *rows, uint32_t n)
{
    uint32_t *at = strobe_reply_u32(reply, "code_at", n),
             *line = strobe_reply_u32(reply, "code_line", n);
    double *self = strobe_reply_f64(reply, "code_self", n),
           *total = strobe_reply_f64(reply, "code_total", n);
    for (uint32_t i = 0; i < n && !reply->failed; i++) {
        at[i] = rows[i].offset;
        line[i] = rows[i].line;
        self[i] = strobe_engine_weight(engine, tree, rows[i].self);
        total[i] = strobe_engine_weight(engine, tree, rows[i].total);
    }
}

/* The instruction set that the trace was recorded on. */
static const char *machine_of(const struct strobe_engine *engine)
{
    const char *kernel = strobe_trace_text(engine->trace, engine->trace->kernel, NULL);
    return strstr(kernel, "aarch64") || strstr(kernel, "arm64") ? "arm64" : "x86-64";
}

void strobe_engine_put_code(struct strobe_engine *engine, const struct strobe_sample_tree *tree,
                            struct strobe_reply *reply, uint32_t function)
{
    struct strobe_code_place starts[MAX_PLACES];
    uint32_t n_starts = 0, n_rows = 0, n_bytes = 0;
    struct around around = find_around(engine, tree, function);
    if (!around.symbol) {
        strobe_reply_null(reply, "code");
        return;
    }
    struct at_offset *rows = gather(engine, tree, &around, &n_rows, starts, &n_starts);
    uint8_t *bytes = strobe_stack_code_of(engine->trace, starts, n_starts, &n_bytes),
            *out = strobe_reply_u8(reply, "code_bytes", n_bytes);
    const struct strobe_texts *texts = &engine->symbols.texts;
    if (out && n_bytes)
        memcpy(out, bytes, n_bytes);
    if (rows)
        put_rows(engine, tree, reply, rows, n_rows);
    strobe_reply_open(reply, "code", '{');
    strobe_reply_string(reply, "function", strobe_texts_get(texts, around.symbol->function, NULL));
    strobe_reply_string(reply, "image", strobe_texts_get(texts, around.symbol->image, NULL));
    strobe_reply_key(reply, "start");
    strobe_reply_printf(reply, "\"%" PRIx64 "\"", around.where);
    strobe_reply_string(reply, "machine", machine_of(engine));
    strobe_reply_close(reply, '}');
    free(bytes);
    free(rows);
}
