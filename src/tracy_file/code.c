/* code.c - see code.h.
 *
 * Code and sources go to a spool as they come: a file may have hundreds of MB of them. A piece is taken where it continues the one
 * before, and left out and counted where it does not.  SPDX-License-Identifier: MIT */
#include "tracy_file/code.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "tracy_file/write_parts.h"

/* ---- reading --------------------------------------------------------------------------------- */

static uint32_t string_of(struct strobe_tracy_model *model, const struct strobe_field *field)
{
    return field->u ? strobe_tracy_model_string(model, field->text, field->u)
                    : STROBE_TRACY_NO_STRING;
}

static int take_function(struct strobe_tracy_model *model, uint32_t process,
                         const struct strobe_field *f)
{
    struct strobe_tracy_code *code = &model->code;
    uint32_t i = strobe_idmap_add_row(
        &code->function_ids, 0, strobe_tracy_address_of(model, process, f[0].u),
        (void **)&code->functions, &code->functions_room, sizeof *code->functions);
    if (i == STROBE_IDMAP_NONE)
        return 0;
    code->functions[i] = (struct strobe_tracy_function_row){
        .size = (uint32_t)f[1].u,
        .line = (uint32_t)f[2].u,
        .call_line = (uint32_t)f[3].u,
        .is_inline = f[4].u != 0,
        .name = string_of(model, &f[5]),
        .file = string_of(model, &f[6]),
        .image = string_of(model, &f[7]),
        .call_file = string_of(model, &f[8]),
    };
    return 1;
}

/* Begin or go on with the bytes of something. `path`: NULL for code. */
static int take_piece(struct strobe_tracy_model *model, uint64_t start,
                      const struct strobe_field *path, const struct strobe_field *offset,
                      const struct strobe_field *bytes)
{
    struct strobe_tracy_code *code = &model->code;
    uint64_t total = offset[1].u;
    struct strobe_tracy_bytes_row *row =
        code->pieces.n ? strobe_spool_row(&code->pieces, code->pieces.n - 1) : NULL;
    if (total > UINT32_MAX || bytes->u > total || offset->u > total - bytes->u) {
        model->folds->n_code++;
        return 1;
    }
    if (!offset->u) {
        if (path)
            start = strobe_spool_bytes(&code->bytes, path->text, path->u);
        row = strobe_spool_add(&code->pieces);
        if (!row || (path && start == UINT64_MAX))
            return 0;
        *row = (struct strobe_tracy_bytes_row){start, code->bytes.n, path ? (uint32_t)path->u : 0,
                                               0, (uint32_t)total};
        code->n_sources += path != NULL;
        code->n_code += path == NULL;
    } else if (!row || (row->n_path != 0) != (path != NULL) || row->n_bytes != offset->u ||
               row->n_wanted != total) {
        model->folds->n_code++;
        return 1;
    }
    STROBE_ASSERT(row->at + row->n_bytes == code->bytes.n); /* pieces lie one behind the other */
    row->n_bytes += (uint32_t)bytes->u;
    return strobe_spool_bytes(&code->bytes, bytes->text, bytes->u) != UINT64_MAX;
}

static int take_cpu(struct strobe_tracy_code *code, const struct strobe_field *f)
{
    if (STROBE_ARRAY_REACH(code->cpus, code->cpus_room, code->n_cpus))
        return 0;
    code->cpus[code->n_cpus++] = (struct strobe_tracy_cpu_place){
        (uint32_t)f[0].u, (uint32_t)f[1].u, (uint32_t)f[2].u, (uint32_t)f[3].u};
    return 1;
}

static int take_group(struct strobe_tracy_model *model, uint32_t process,
                      const struct strobe_field *f)
{
    uint32_t thread = strobe_trace_thread(model->trace, process, f[0].u);
    uint32_t i = thread == STROBE_IDMAP_NONE ? thread : strobe_tracy_model_thread(model, thread);
    if (i != STROBE_IDMAP_NONE)
        model->threads[i].group = (int32_t)f[1].i;
    return 1;
}

static int take_note_name(struct strobe_tracy_model *model, uint32_t process,
                          const struct strobe_field *f)
{
    struct strobe_tracy_code *code = &model->code;
    uint32_t context = strobe_idmap_find(&model->facts.context_ids, process, f[0].u);
    if (context == STROBE_IDMAP_NONE)
        return 1;
    if (STROBE_ARRAY_REACH(code->notes, code->notes_room, code->n_notes))
        return 0;
    code->notes[code->n_notes++] =
        (struct strobe_tracy_note_name){context, string_of(model, &f[2]), f[1].u};
    return 1;
}

static int take_record(struct strobe_tracy_model *model, const struct strobe_record *record)
{
    const struct strobe_field *f = record->fields;
    if (record->kind < STROBE_META_PROCESS || record->kind >= STROBE_META_COUNT)
        return 1;
    uint32_t process = strobe_trace_process(model->trace, record->proc);
    switch (record->kind) {
    case STROBE_META_FOREIGN_THREAD:
        strobe_tracy_switches_name(model, f);
        return 1;
    case STROBE_META_FUNCTION:
        return take_function(model, process, f);
    case STROBE_META_CODE:
        return take_piece(model, strobe_tracy_address_of(model, process, f[0].u), NULL, &f[1],
                          &f[3]);
    case STROBE_META_SOURCE_FILE:
        return f[2].u ? take_piece(model, 0, &f[2], &f[0], &f[3]) : 1;
    case STROBE_META_CPU:
        return process != model->first_process || take_cpu(&model->code, f);
    case STROBE_META_THREAD_GROUP:
        return take_group(model, process, f);
    case STROBE_META_GPU_NOTE_NAME:
        return take_note_name(model, process, f);
    default:
        return 1;
    }
}

enum strobe_err strobe_tracy_code_gather(struct strobe_tracy_model *model, const char *folder)
{
    const struct strobe_block_filter filter = {.type = STROBE_BLOCK_RECORDS};
    struct strobe_block_iter *iter;
    struct strobe_block block = {0};
    struct strobe_record_walk walk = {0};
    struct strobe_record record;
    model->code.pieces.row_bytes = sizeof(struct strobe_tracy_bytes_row);
    model->code.bytes.row_bytes = 1;
    model->code.pieces.folder = model->code.bytes.folder = folder;
    enum strobe_err err = strobe_file_iterate(model->trace->file, &filter, &iter);
    while (!err && !(err = strobe_file_next_block(iter, &block))) {
        enum strobe_err bad = strobe_record_walk_start(&block, &model->trace->schema, &walk);
        while (!bad && !err && strobe_record_walk_next(&walk, &record) == STROBE_OK)
            err = take_record(model, &record) ? STROBE_OK : STROBE_ERR_NOSPACE;
    }
    strobe_file_end_iterate(iter);
    strobe_record_walk_free(&walk);
    strobe_block_free(&block);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

void strobe_tracy_code_free(struct strobe_tracy_code *code)
{
    strobe_idmap_free(&code->function_ids);
    strobe_spool_free(&code->pieces);
    strobe_spool_free(&code->bytes);
    free(code->functions);
    free(code->cpus);
    free(code->notes);
}

/* ---- processors ------------------------------------------------------------------------------ */

static int compare_cpus(const void *a, const void *b)
{
    const struct strobe_tracy_cpu_place *x = a, *y = b;
    if (x->package != y->package)
        return x->package < y->package ? -1 : 1;
    if (x->die != y->die)
        return x->die < y->die ? -1 : 1;
    if (x->core != y->core)
        return x->core < y->core ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* Whether two are in the same package (level 0), die (1) or core (2). A layout without dies has all cores of a package as one. */
static int is_same(const struct strobe_tracy_cpu_place *x, const struct strobe_tracy_cpu_place *y,
                   int level)
{
    return x->package == y->package && (level < 1 || x->die == y->die) &&
           (level < 2 || x->core == y->core);
}

/* cpus[first..end) are one at `level` - 1: a list of those at `level`, each with the list of what is in it. */
static void put_level(const struct strobe_tracy_code *code, uint32_t first, uint32_t end, int level,
                      int has_dies, struct strobe_tracy_out *out)
{
    const struct strobe_tracy_cpu_place *cpus = code->cpus;
    uint64_t n = 0;
    if (level == 1 && !has_dies)
        level = 2;
    STROBE_ASSERT(first <= end && end <= code->n_cpus && level <= 3);
    for (uint32_t i = first; i < end; i++)
        n += level == 3 || i == first || !is_same(&cpus[i - 1], &cpus[i], level);
    strobe_tracy_out_u64(out, n);
    for (uint32_t i = first, next; i < end; i = next) {
        next = i + 1;
        while (level < 3 && next < end && is_same(&cpus[i], &cpus[next], level))
            next++;
        strobe_tracy_out_u32(out, level == 0   ? cpus[i].package
                                  : level == 1 ? cpus[i].die
                                  : level == 2 ? cpus[i].core
                                               : cpus[i].thread);
        if (level < 3)
            put_level(code, i, next, level + 1, has_dies, out);
    }
}

void strobe_tracy_put_cpus(struct strobe_tracy_model *model, struct strobe_tracy_out *out)
{
    struct strobe_tracy_code *code = &model->code;
    if (code->n_cpus)
        qsort(code->cpus, code->n_cpus, sizeof *code->cpus, compare_cpus);
    put_level(code, 0, code->n_cpus, 0, model->layout >= STROBE_TRACY_LAYOUT_14, out);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* All that is known: first what records say, then what only frames of call stacks do. Those are as the first frame that names
 * them has them. 0 without memory. */
static int list_functions(const struct strobe_tracy_model *model, struct strobe_idmap *ids,
                          struct strobe_tracy_function_row **rows)
{
    const struct strobe_tracy_stacks *stacks = &model->stacks;
    const struct strobe_tracy_code *code = &model->code;
    uint32_t room = 0, at;
    for (uint32_t i = 0; i < code->function_ids.n; i++) {
        at = strobe_idmap_add_row(ids, 0, code->function_ids.keys[i].id, (void **)rows, &room,
                                  sizeof **rows);
        if (at == STROBE_IDMAP_NONE)
            return 0;
        (*rows)[at] = code->functions[i];
    }
    for (uint32_t i = 0; i < stacks->addresses.n; i++) {
        const struct strobe_tracy_address *frame = &stacks->frames[i];
        for (uint32_t k = 0; frame->is_named && k < frame->n; k++) {
            const struct strobe_tracy_frame_name *name = &stacks->names[frame->first + k];
            uint32_t before = ids->n;
            if (!name->symbol)
                continue;
            at = strobe_idmap_add_row(ids, 0, name->symbol, (void **)rows, &room, sizeof **rows);
            if (at == STROBE_IDMAP_NONE)
                return 0;
            if (at == before)
                (*rows)[at] = (struct strobe_tracy_function_row){
                    .name = name->name,
                    .file = name->file,
                    .image = frame->image,
                    .call_file = STROBE_TRACY_NO_STRING,
                    .line = name->line,
                    .is_inline = k + 1 < frame->n,
                };
        }
    }
    return 1;
}

static void put_function(const struct strobe_tracy_function_row *row, uint64_t start,
                         struct strobe_tracy_out *out)
{
    enum { MOST = (1 << 24) - 1 };
    strobe_tracy_out_u64(out, start);
    strobe_tracy_put_idx(out, row->name);
    strobe_tracy_put_idx(out, row->file);
    strobe_tracy_out_u32(out, row->line);
    strobe_tracy_put_idx(out, row->image);
    strobe_tracy_put_idx(out, row->call_file);
    strobe_tracy_out_u32(out, row->call_line);
    strobe_tracy_out_u8(out, row->is_inline);
    strobe_tracy_out_u24(out, row->size < MOST ? row->size : MOST);
}

int strobe_tracy_put_functions(const struct strobe_tracy_model *model, struct strobe_tracy_out *out)
{
    struct strobe_idmap ids = {0};
    struct strobe_tracy_function_row *rows = NULL;
    uint64_t n_inline = 0;
    int ok = list_functions(model, &ids, &rows);
    for (uint32_t i = 0; ok && i < ids.n; i++)
        n_inline += rows[i].is_inline;
    if (ok) {
        strobe_tracy_out_u64(out, ids.n - n_inline);
        strobe_tracy_out_u64(out, n_inline);
        strobe_tracy_out_u64(out, ids.n);
    }
    for (uint32_t i = 0; ok && i < ids.n; i++)
        put_function(&rows[i], ids.keys[i].id, out);
    strobe_idmap_free(&ids);
    free(rows);
    return ok;
}

/* ---- code and sources ------------------------------------------------------------------------ */

static void put_bytes(const struct strobe_tracy_code *code,
                      const struct strobe_tracy_bytes_row *row, struct strobe_tracy_out *out)
{
    STROBE_ASSERT(row->at + row->n_bytes <= code->bytes.n && row->n_bytes <= row->n_wanted);
    strobe_tracy_out_u32(out, row->n_bytes);
    if (row->n_bytes)
        strobe_tracy_out_put(out, strobe_spool_row(&code->bytes, row->at), row->n_bytes);
}

/* Which function an address is in: where a server asked for its name. */
static void put_addresses(const struct strobe_tracy_stacks *stacks, struct strobe_tracy_out *out)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < stacks->addresses.n; i++)
        n += stacks->frames[i].is_named;
    strobe_tracy_out_u64(out, n);
    for (uint32_t i = 0; i < stacks->addresses.n; i++) {
        if (!stacks->frames[i].is_named)
            continue;
        strobe_tracy_out_u64(out, stacks->addresses.keys[i].id);
        strobe_tracy_out_u64(out, stacks->names[stacks->frames[i].first].symbol);
    }
}

void strobe_tracy_put_code(const struct strobe_tracy_model *model, struct strobe_tracy_out *out)
{
    const struct strobe_tracy_code *code = &model->code;
    strobe_tracy_out_u64(out, code->n_code);
    for (uint64_t i = 0; i < code->pieces.n; i++) {
        const struct strobe_tracy_bytes_row *row = strobe_spool_row(&code->pieces, i);
        if (row->n_path)
            continue;
        strobe_tracy_out_u64(out, row->start);
        put_bytes(code, row, out);
    }
    put_addresses(&model->stacks, out);
}

void strobe_tracy_put_sources(const struct strobe_tracy_model *model, struct strobe_tracy_out *out)
{
    const struct strobe_tracy_code *code = &model->code;
    strobe_tracy_out_u64(out, code->n_sources);
    for (uint64_t i = 0; i < code->pieces.n; i++) {
        const struct strobe_tracy_bytes_row *row = strobe_spool_row(&code->pieces, i);
        if (!row->n_path)
            continue;
        strobe_tracy_out_u32(out, row->n_path);
        strobe_tracy_out_put(out, strobe_spool_row(&code->bytes, row->start), row->n_path);
        put_bytes(code, row, out);
    }
}
