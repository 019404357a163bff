/* stack_symbols.c - see stack_symbols.h.  SPDX-License-Identifier: MIT */
#include "query/stack_symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/stack_code.h"

static void add_symbol(struct strobe_stack_symbols *symbols, uint32_t process,
                       const struct strobe_field *f)
{
    uint32_t i = strobe_idmap_add_row(&symbols->ids, process, f[0].u, (void **)&symbols->first,
                                      &symbols->first_room, sizeof *symbols->first);
    if (i == STROBE_IDMAP_NONE ||
        STROBE_ARRAY_REACH(symbols->rows, symbols->rows_room, symbols->n_rows))
        return;
    struct strobe_stack_symbol row = {
        .line = (uint32_t)f[2].u, .inlined = (uint32_t)f[1].u, .start = f[3].u};
    row.function = strobe_texts_add(&symbols->texts, f[4].text, f[4].u);
    row.file = strobe_texts_add(&symbols->texts, f[5].text, f[5].u);
    row.image = strobe_texts_add(&symbols->texts, f[6].text, f[6].u);
    uint32_t *place = &symbols->first[i];
    while (*place && symbols->rows[*place - 1].inlined < row.inlined)
        place = &symbols->rows[*place - 1].next;
    if (*place && symbols->rows[*place - 1].inlined == row.inlined) { /* a repeat */
        row.next = symbols->rows[*place - 1].next;
        symbols->rows[*place - 1] = row;
        return;
    }
    row.next = *place;
    *place = symbols->n_rows + 1;
    symbols->rows[symbols->n_rows++] = row;
}

struct loading {
    struct strobe_trace *trace;           /* borrowed */
    struct strobe_stack_symbols *symbols; /* borrowed */
};

static int take_record(void *context, const struct strobe_record *record)
{
    const struct loading *to = context;
    if (record->kind == STROBE_META_SYMBOL)
        add_symbol(to->symbols, strobe_trace_process(to->trace, record->proc), record->fields);
    return 1;
}

enum strobe_err strobe_stack_symbols_load(struct strobe_trace *trace,
                                          struct strobe_stack_symbols *symbols)
{
    uint64_t n_bytes = strobe_file_facts(trace->file)->n_bytes;
    struct loading to = {trace, symbols};
    if (symbols->n_bytes == n_bytes)
        return STROBE_OK;
    strobe_stack_symbols_free(symbols);
    enum strobe_err err = strobe_stack_records(trace, take_record, &to);
    symbols->n_bytes = n_bytes;
    return err;
}

void strobe_stack_symbols_free(struct strobe_stack_symbols *symbols)
{
    strobe_texts_free(&symbols->texts);
    strobe_idmap_free(&symbols->ids);
    free(symbols->first);
    free(symbols->rows);
    memset(symbols, 0, sizeof *symbols);
}

const struct strobe_stack_symbol *strobe_stack_symbol_of(const struct strobe_stack_symbols *symbols,
                                                         uint32_t process, uint64_t address)
{
    uint32_t i = strobe_idmap_find(&symbols->ids, process, address);
    return i == STROBE_IDMAP_NONE ? NULL : &symbols->rows[symbols->first[i] - 1];
}

uint32_t strobe_stack_module_of(const struct strobe_trace *trace, uint32_t process,
                                uint64_t address)
{
    for (uint32_t i = trace->n_modules; i-- > 0;) {
        const struct strobe_module *module = &trace->modules[i];
        if (module->process == process && address - module->base < module->size)
            return module->path;
    }
    return 0;
}

uint32_t strobe_stack_functions(const struct strobe_trace *trace,
                                const struct strobe_stack_symbols *symbols, uint32_t process,
                                uint64_t address, char *room, size_t n_room)
{
    const struct strobe_stack_symbol *at = strobe_stack_symbol_of(symbols, process, address);
    uint32_t module = strobe_stack_module_of(trace, process, address);
    size_t n = 0;
    for (; at && n < n_room; at = at->next ? &symbols->rows[at->next - 1] : NULL)
        n += (size_t)snprintf(room + n, n_room - n, "%s%.200s", n ? "\n" : "",
                              strobe_texts_get(&symbols->texts, at->function, NULL));
    if (n)
        return (uint32_t)(n < n_room ? n : n_room - 1);
    if (!module)
        return (uint32_t)snprintf(room, n_room, "[unknown]");
    const char *path = strobe_trace_text(trace, module, NULL), *slash = strrchr(path, '/');
    const char *file = slash && slash[1] ? slash + 1 : path;
    return (uint32_t)snprintf(room, n_room, file[0] == '[' ? "%.200s" : "[%.200s]", file);
}
