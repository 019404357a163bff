/* stacks.c - see stacks.h.
 *
 * A stack is one however many events have it. Zones, blocks of memory and GPU zones are made by others of pairs of
 * events, without their stacks: those are found again by what the event was and when. Addresses of further processes get
 * the process in bits 48 and up, where none of a program are.  SPDX-License-Identifier: MIT */
#include "tracy_file/stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "tracy_file/write_parts.h"

enum { MOST_STACKS = (1 << 24) - 2, MOST_FRAMES = UINT16_MAX, MOST_INLINED = UINT8_MAX, HIGH = 48 };
enum { AT_SWITCH = 65534 }; /* the processor of a sample that was taken at a context switch */

/* ---- stacks ---------------------------------------------------------------------------------- */

uint64_t strobe_tracy_address_of(const struct strobe_tracy_model *model, uint32_t process,
                                 uint64_t at)
{
    return process == model->first_process || at >> HIGH ? at : at | (uint64_t)process << HIGH;
}

/* As a file has it: without the two upper bits of a kernel's, which say there that it is none. */
static uint64_t packed(uint64_t address)
{
    return address >> 60 == 15 ? address & ~(3ull << 62) : address;
}

static int note_address(struct strobe_tracy_stacks *stacks, uint64_t address)
{
    return strobe_idmap_add_row(&stacks->addresses, 0, address, (void **)&stacks->frames,
                                &stacks->frames_room, sizeof *stacks->frames) != STROBE_IDMAP_NONE;
}

uint32_t strobe_tracy_stack(struct strobe_tracy_model *model, uint32_t process,
                            const uint64_t *addresses, uint64_t n)
{
    struct strobe_tracy_stacks *stacks = &model->stacks;
    uint64_t list[256];
    uint64_t *all = n <= 256 ? list : malloc(n * sizeof *all);
    uint32_t i = STROBE_IDMAP_NONE;
    n = n < MOST_FRAMES ? n : MOST_FRAMES;
    if (n && all) {
        for (uint64_t k = 0; k < n; k++) {
            all[k] = strobe_tracy_address_of(model, process, addresses[k]);
            note_address(stacks, all[k]);
        }
        uint32_t text = strobe_texts_add(&stacks->bytes, (const char *)all, n * sizeof *all);
        i = strobe_idmap_find(&stacks->ids, 0, text);
        if (i == STROBE_IDMAP_NONE && stacks->ids.n < MOST_STACKS)
            i = strobe_idmap_add(&stacks->ids, 0, text);
        model->folds->n_stacks += i == STROBE_IDMAP_NONE;
    }
    if (all != list)
        free(all);
    return i == STROBE_IDMAP_NONE ? 0 : i + 1;
}

static uint64_t key_of(unsigned kind, uint64_t tick, uint64_t about)
{
    uint64_t key = (tick ^ (uint64_t)kind << 56) * 0x9e3779b97f4a7c15ull;
    return (key ^ key >> 29 ^ about) * 0xbf58476d1ce4e5b9ull;
}

uint32_t strobe_tracy_stack_of(const struct strobe_tracy_model *model, uint32_t process,
                               unsigned kind, uint64_t tick, uint64_t about)
{
    const struct strobe_tracy_stacks *stacks = &model->stacks;
    if (!stacks->events.n)
        return 0;
    uint32_t i = strobe_idmap_find(&stacks->events, process, key_of(kind, tick, about));
    return i == STROBE_IDMAP_NONE ? 0 : stacks->event_stacks[i];
}

/* What an event is about that is found again later; ~0: its stack is taken with it. */
static uint64_t about(const struct strobe_event *event)
{
    switch (event->kind) {
    case STROBE_KIND_ZONE_BEGIN:
        return event->loc;
    case STROBE_KIND_MEM_ALLOC:
    case STROBE_KIND_MEM_FREE:
    case STROBE_KIND_GPU_BEGIN:
        return event->fields[1].u;
    default:
        return UINT64_MAX;
    }
}

static enum strobe_err take_stack(void *context, const struct strobe_happening *happening)
{
    struct strobe_tracy_model *model = context;
    struct strobe_tracy_stacks *stacks = &model->stacks;
    const struct strobe_event *event = happening->event;
    uint64_t what = about(event);
    if (!happening->n_stack || what == UINT64_MAX)
        return STROBE_OK;
    uint32_t i = strobe_idmap_add_row(
        &stacks->events, happening->process, key_of(event->kind, event->tick, what),
        (void **)&stacks->event_stacks, &stacks->event_stacks_room, sizeof *stacks->event_stacks);
    if (i == STROBE_IDMAP_NONE)
        return STROBE_ERR_NOMEM;
    stacks->event_stacks[i] =
        strobe_tracy_stack(model, happening->process, happening->stack, happening->n_stack);
    return STROBE_OK;
}

int strobe_tracy_stacks_take_sample(struct strobe_tracy_model *model,
                                    const struct strobe_happening *happening)
{
    const struct strobe_event *event = happening->event;
    const struct strobe_field *f = event->fields;
    uint32_t thread = strobe_tracy_model_thread(model, happening->thread);
    struct strobe_tracy_sample_row *row = strobe_spool_add(&model->stacks.samples);
    if (!row || thread == STROBE_IDMAP_NONE)
        return 0;
    *row = (struct strobe_tracy_sample_row){
        .time = strobe_tracy_when(model, happening->process, event->tick, event->own),
        .order = model->stacks.samples.n,
        .thread = thread,
        .stack = strobe_tracy_stack(model, happening->process, f[1].list, f[1].u),
        .at_switch = f[0].u == AT_SWITCH,
    };
    model->threads[thread].n_kernel_samples += f[1].u && f[1].list[0] >> 63;
    return 1;
}

enum strobe_err strobe_tracy_stacks_gather(struct strobe_tracy_model *model)
{
    struct strobe_walk walk = {.trace = model->trace,
                               .context = model,
                               .happens = take_stack,
                               .kinds = 1ull << STROBE_KIND_CALLSTACK};
    model->stacks.samples.row_bytes = sizeof(struct strobe_tracy_sample_row);
    const struct strobe_trace_totals *totals = &strobe_file_facts(model->trace->file)->totals;
    enum strobe_err err = strobe_stack_symbols_load(model->trace, &model->stacks.symbols);
    if (err || (totals->has_totals && !totals->n_of_kind[STROBE_KIND_CALLSTACK]))
        return err;
    return strobe_walk_run(&walk);
}

void strobe_tracy_stacks_free(struct strobe_tracy_stacks *stacks)
{
    strobe_texts_free(&stacks->bytes);
    strobe_idmap_free(&stacks->ids);
    strobe_idmap_free(&stacks->events);
    strobe_idmap_free(&stacks->addresses);
    strobe_spool_free(&stacks->samples);
    strobe_stack_symbols_free(&stacks->symbols);
    free(stacks->event_stacks);
    free(stacks->frames);
    free(stacks->names);
}

/* ---- what addresses are ---------------------------------------------------------------------- */

static uint32_t string_of(struct strobe_tracy_model *model, uint32_t text)
{
    uint32_t n;
    const char *bytes = strobe_texts_get(&model->stacks.symbols.texts, text, &n);
    return strobe_tracy_model_string(model, bytes, n);
}

static int add_name(struct strobe_tracy_stacks *stacks, const struct strobe_tracy_frame_name *name)
{
    if (!strobe_rows_reach((void **)&stacks->names, &stacks->names_room, stacks->n_names,
                           sizeof *stacks->names))
        return 0;
    stacks->names[stacks->n_names++] = *name;
    return 1;
}

/* One that nobody told of is its number: a server has a frame for each address. */
static int name_unknown(struct strobe_tracy_model *model, uint64_t address)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%#llx", (unsigned long long)address);
    uint32_t name = strobe_tracy_model_string(model, text, (size_t)n);
    return add_name(&model->stacks, &(struct strobe_tracy_frame_name){
                                        name, strobe_tracy_model_string(model, "", 0), 0, address});
}

static int name_address(struct strobe_tracy_model *model, uint32_t i)
{
    struct strobe_tracy_stacks *stacks = &model->stacks;
    uint64_t address = stacks->addresses.keys[i].id, high = address >> HIGH;
    int is_folded = high && high < model->trace->n_processes;
    uint32_t process = is_folded ? (uint32_t)high : model->first_process;
    const struct strobe_stack_symbol *symbol = strobe_stack_symbol_of(
        &stacks->symbols, process, is_folded ? address & ((1ull << HIGH) - 1) : address);
    struct strobe_tracy_address *row = &stacks->frames[i];
    row->first = stacks->n_names;
    row->is_named = symbol != NULL;
    row->image = symbol ? string_of(model, symbol->image) : STROBE_TRACY_NO_STRING;
    if (!symbol && !name_unknown(model, address))
        return 0;
    for (uint32_t n = 0; symbol && n < MOST_INLINED; n++) {
        struct strobe_tracy_frame_name name = {string_of(model, symbol->function),
                                               string_of(model, symbol->file), symbol->line,
                                               symbol->start};
        if (!add_name(stacks, &name))
            return 0;
        symbol = symbol->next ? &stacks->symbols.rows[symbol->next - 1] : NULL;
    }
    row->n = stacks->n_names - row->first;
    return 1;
}

int strobe_tracy_stacks_name(struct strobe_tracy_model *model)
{
    const struct strobe_idmap *told = &model->stacks.symbols.ids;
    for (uint32_t i = 0; i < told->n; i++) /* those in no stack too: a file may have them */
        if (!note_address(&model->stacks,
                          strobe_tracy_address_of(model, told->keys[i].scope, told->keys[i].id)))
            return 0;
    for (uint32_t i = 0; i < model->stacks.addresses.n; i++)
        if (!name_address(model, i))
            return 0;
    return 1;
}

/* ---- sections -------------------------------------------------------------------------------- */

static int compare_samples(const void *a, const void *b)
{
    const struct strobe_tracy_sample_row *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void put_list(const struct strobe_tracy_sample_row *rows, uint64_t n, int of_switches,
                     struct strobe_tracy_out *out)
{
    uint64_t n_here = 0;
    int64_t ref = 0;
    for (uint64_t i = 0; i < n; i++)
        n_here += rows[i].at_switch || !of_switches;
    strobe_tracy_out_u64(out, n_here);
    for (uint64_t i = 0; i < n; i++) {
        if (of_switches && !rows[i].at_switch)
            continue;
        strobe_tracy_put_time(out, &ref, rows[i].time);
        strobe_tracy_out_u24(out, rows[i].stack);
    }
}

/* Those that were taken at switches, then all: servers list the former twice. */
void strobe_tracy_put_samples(struct strobe_tracy_model *model, uint32_t thread,
                              struct strobe_tracy_out *out)
{
    struct strobe_tracy_stacks *stacks = &model->stacks;
    struct strobe_tracy_sample_row *rows = stacks->samples.rows;
    uint64_t n = stacks->samples.n, first = stacks->next_sample, end;
    if (!thread && n)
        qsort(rows, n, sizeof *rows, compare_samples);
    for (end = first; end < n && rows[end].thread == thread;)
        end++;
    stacks->next_sample = end;
    put_list(rows + first, end - first, 1, out);
    put_list(rows + first, end - first, 0, out);
}

void strobe_tracy_put_stacks(struct strobe_tracy_model *model, struct strobe_tracy_out *out)
{
    const struct strobe_tracy_stacks *stacks = &model->stacks;
    strobe_tracy_out_u64(out, stacks->ids.n);
    for (uint32_t i = 0; i < stacks->ids.n; i++) {
        uint32_t n;
        const char *bytes = strobe_texts_get(&stacks->bytes, (uint32_t)stacks->ids.keys[i].id, &n);
        STROBE_ASSERT(n % 8 == 0 && n / 8 <= MOST_FRAMES);
        strobe_tracy_out_u16(out, (uint16_t)(n / 8));
        for (uint32_t k = 0; k < n; k += 8) {
            uint64_t address;
            memcpy(&address, bytes + k, sizeof address);
            strobe_tracy_out_u64(out, packed(address));
        }
    }
    strobe_tracy_out_u64(out, stacks->addresses.n);
    for (uint32_t i = 0; i < stacks->addresses.n; i++) {
        const struct strobe_tracy_address *row = &stacks->frames[i];
        STROBE_ASSERT(row->n >= 1 && row->n <= MOST_INLINED); /* each address has a name */
        strobe_tracy_out_u64(out, packed(stacks->addresses.keys[i].id));
        strobe_tracy_out_u8(out, (uint8_t)row->n);
        strobe_tracy_put_idx(out, row->image);
        for (uint32_t k = row->first; k < row->first + row->n; k++) {
            const struct strobe_tracy_frame_name *name = &stacks->names[k];
            strobe_tracy_put_idx(out, name->name);
            strobe_tracy_put_idx(out, name->file);
            strobe_tracy_out_u32(out, name->line);
            strobe_tracy_out_u64(out, name->symbol);
        }
    }
}
