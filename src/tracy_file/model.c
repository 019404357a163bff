/* model.c - the tables of a .tracy file that is to be written: strings, locations, extras,
 * threads; and the folding of what does not fit.  SPDX-License-Identifier: MIT */
#include "tracy_file/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIBERS = 1u << 31 };

/* ---- strings --------------------------------------------------------------------------------- */

uint32_t strobe_tracy_model_string(struct strobe_tracy_model *model, const char *text, size_t n)
{
    uint32_t id = strobe_texts_add(&model->texts, text, n);
    uint32_t known = strobe_idmap_find(&model->strings, 0, id);
    if (known != STROBE_IDMAP_NONE)
        return known;
    if (model->strings.n >= STROBE_TRACY_MAX_STRINGS) {
        model->folds->n_texts++;
        return STROBE_TRACY_NO_STRING;
    }
    uint32_t index = strobe_idmap_add(&model->strings, 0, id);
    return index == STROBE_IDMAP_NONE ? STROBE_TRACY_NO_STRING : index;
}

/* The first of the clients that live in a process stands for it. */
static uint32_t first_twin(const struct strobe_trace *trace, uint32_t process)
{
    return trace->processes[process].twin ? trace->processes[process].twin - 1 : process;
}

uint32_t strobe_tracy_model_name(struct strobe_tracy_model *model, uint32_t process,
                                 const char *text, size_t n)
{
    char room[STROBE_NAME_ROOM], prefix[512];
    uint32_t n_program;
    process = first_twin(model->trace, process);
    if (process == model->first_process)
        return strobe_tracy_model_string(model, text, n);
    const char *program = strobe_trace_process_name(model->trace, process, room, &n_program);
    int n_prefix =
        snprintf(prefix, sizeof prefix, "%.*s(%llu) ", n_program < 400 ? (int)n_program : 400,
                 program, (unsigned long long)model->trace->processes[process].pid);
    char *whole = malloc((size_t)n_prefix + n + 1);
    if (!whole)
        return STROBE_TRACY_NO_STRING;
    memcpy(whole, prefix, (size_t)n_prefix);
    memcpy(whole + n_prefix, text, n);
    uint32_t index = strobe_tracy_model_string(model, whole, (size_t)n_prefix + n);
    free(whole);
    return index;
}

/* ---- locations ------------------------------------------------------------------------------- */

static uint32_t string_of_text(struct strobe_tracy_model *model, uint32_t text)
{
    uint32_t n;
    const char *bytes = strobe_trace_text(model->trace, text, &n);
    return strobe_tracy_model_string(model, bytes, n);
}

/* Locations with the same content are one. The index of it. */
static uint32_t add_loc(struct strobe_tracy_model *model, const struct strobe_loc_row *row)
{
    uint64_t rest = ((uint64_t)row->file << 32 | row->line) * 0x9e3779b97f4a7c15ull;
    rest ^= ((uint64_t)row->function << 24 ^ row->color) * 0xc2b2ae3d27d4eb4full;
    uint32_t before = model->loc_keys.n;
    uint32_t i =
        strobe_idmap_add_row(&model->loc_keys, row->name, rest, (void **)&model->loc_of_key,
                             &model->loc_of_key_room, sizeof *model->loc_of_key);
    if (i < before)
        return model->loc_of_key[i];
    if (i == STROBE_IDMAP_NONE || !strobe_rows_reach((void **)&model->locs, &model->locs_room,
                                                     model->n_locs, sizeof *model->locs))
        return 0;
    model->locs[model->n_locs] = (struct strobe_tracy_model_loc){
        .name = row->name ? string_of_text(model, row->name) : STROBE_TRACY_NO_STRING,
        .function = string_of_text(model, row->function),
        .file = string_of_text(model, row->file),
        .line = row->line,
        .color = row->color,
    };
    return model->loc_of_key[i] = model->n_locs++;
}

static uint32_t find_loc(struct strobe_tracy_model *model, uint32_t loc)
{
    static const struct strobe_loc_row unknown;
    if (loc == STROBE_IDMAP_NONE) {
        if (!model->unknown_loc)
            model->unknown_loc = add_loc(model, &unknown) + 1;
        return model->unknown_loc - 1;
    }
    if (!strobe_rows_reach((void **)&model->loc_of, &model->loc_of_room, loc,
                           sizeof *model->loc_of))
        return 0;
    if (!model->loc_of[loc])
        model->loc_of[loc] = add_loc(model, &model->trace->locs[loc]) + 1;
    return model->loc_of[loc] - 1;
}

int16_t strobe_tracy_model_loc(struct strobe_tracy_model *model, uint32_t loc, uint32_t *name)
{
    uint32_t i = find_loc(model, loc);
    *name = STROBE_TRACY_NO_STRING;
    if (i < STROBE_TRACY_MAX_STATIC)
        return (int16_t)(i + 1);
    if (i < STROBE_TRACY_MAX_STATIC + STROBE_TRACY_MAX_PAYLOAD)
        return (int16_t) - (int32_t)(i - STROBE_TRACY_MAX_STATIC + 1);
    const struct strobe_tracy_model_loc *row = &model->locs[i];
    *name = row->name != STROBE_TRACY_NO_STRING ? row->name : row->function;
    return STROBE_TRACY_MAX_STATIC + 1;
}

uint32_t strobe_tracy_model_extra(struct strobe_tracy_model *model,
                                  const struct strobe_tracy_extra_row *extra)
{
    uint64_t key = (uint64_t)(extra->text + 1) << 32 | (uint32_t)(extra->name + 1);
    if (!key && !extra->color && !extra->stack)
        return 0;
    key ^= extra->stack * 0x9e3779b97f4a7c15ull;
    uint32_t before = model->extras.n;
    uint32_t i = strobe_idmap_add_row(&model->extras, extra->color ^ extra->stack << 8, key,
                                      (void **)&model->extra_rows, &model->extra_rows_room,
                                      sizeof *model->extra_rows);
    if (i == STROBE_IDMAP_NONE)
        return 0;
    if (i == before)
        model->extra_rows[i] = *extra;
    return i + 1;
}

/* ---- threads --------------------------------------------------------------------------------- */

/* A thread's id must be one of a kind: those of further processes move out of the way. */
static uint64_t unique_tid(struct strobe_tracy_model *model, uint32_t process, uint64_t tid)
{
    uint64_t step = model->trace->processes[process].proc + 1;
    for (unsigned tries = 0; strobe_idmap_find(&model->tids, 0, tid) != STROBE_IDMAP_NONE; step++) {
        if (++tries > 16) /* many have the same one: go on where the last of them came to */
            step = model->tid_step = (model->tid_step > step ? model->tid_step : step) + 1;
        tid = (tid & 0xffffffff) + (step << 40);
    }
    strobe_idmap_add(&model->tids, 0, tid);
    return tid;
}

static uint32_t new_thread(struct strobe_tracy_model *model, uint32_t scope, uint64_t id)
{
    return strobe_idmap_add_row(&model->thread_ids, scope, id, (void **)&model->threads,
                                &model->threads_room, sizeof *model->threads);
}

uint32_t strobe_tracy_model_thread(struct strobe_tracy_model *model, uint32_t thread)
{
    const struct strobe_trace *trace = model->trace;
    char room[STROBE_NAME_ROOM];
    uint32_t n, before = model->thread_ids.n;
    if (trace->threads[thread].twin)
        thread = trace->threads[thread].twin - 1;
    uint32_t i = new_thread(model, 0, thread);
    if (i != before || i == STROBE_IDMAP_NONE)
        return i;
    struct strobe_tracy_model_thread *row = &model->threads[i];
    uint32_t process = trace->threads[thread].process;
    const char *name = strobe_trace_thread_name(trace, thread, room, &n);
    row->process = process;
    row->name = strobe_tracy_model_name(model, process, name, n);
    row->tid = unique_tid(model, process, trace->threads[thread].tid);
    row->lane = strobe_tracy_lanes_find(&model->lanes, thread);
    return i;
}

uint32_t strobe_tracy_model_fiber(struct strobe_tracy_model *model, uint32_t process,
                                  uint64_t fiber)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n, before = model->thread_ids.n;
    uint32_t i = new_thread(model, process | FIBERS, fiber);
    if (i != before || i == STROBE_IDMAP_NONE)
        return i;
    struct strobe_tracy_model_thread *row = &model->threads[i];
    const char *name = strobe_trace_fiber_name(model->trace, process, fiber, room, &n);
    row->process = process;
    row->is_fiber = 1;
    row->name = strobe_tracy_model_name(model, process, name, n);
    row->tid = (1ull << 32) + model->n_fibers++; /* as live servers number them */
    return i;
}

uint16_t strobe_tracy_model_number(struct strobe_tracy_model *model, uint32_t thread)
{
    if (thread >= UINT16_MAX) {
        model->folds->n_threads_over++;
        return 0;
    }
    return (uint16_t)(thread + 1);
}

void strobe_tracy_model_free(struct strobe_tracy_model *model)
{
    struct strobe_spool *spools[] = {&model->zones,       &model->opens,  &model->messages,
                                     &model->message_ids, &model->points, &model->frames,
                                     &model->lock_events, &model->images, &model->image_bytes,
                                     &model->app_infos};
    struct strobe_idmap *maps[] = {&model->strings,    &model->loc_keys, &model->extras,
                                   &model->thread_ids, &model->tids,     &model->plot_ids,
                                   &model->set_ids,    &model->lock_ids};
    for (size_t i = 0; i < sizeof spools / sizeof spools[0]; i++)
        strobe_spool_free(spools[i]);
    for (uint32_t i = 0; i < model->thread_ids.n; i++)
        free(model->threads[i].pending);
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        strobe_idmap_free(maps[i]);
    strobe_texts_free(&model->texts);
    strobe_client_facts_free(&model->facts);
    strobe_tracy_gpu_free(&model->gpu);
    strobe_memory_free(&model->memory);
    strobe_tracy_stacks_free(&model->stacks);
    strobe_tracy_switches_free(&model->switches);
    strobe_tracy_code_free(&model->code);
    strobe_tracy_rare_free(&model->rare);
    strobe_tracy_lanes_free(&model->lanes);
    free(model->extra_rows);
    free(model->locs);
    free(model->loc_of_key);
    free(model->loc_of);
    free(model->zones_of);
    free(model->gpu_zones_of);
    free(model->threads);
    free(model->plots);
    free(model->sets);
    free(model->locks);
}
