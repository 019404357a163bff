/* rare.c - see rare.h.  SPDX-License-Identifier: MIT */
#include "tracy_file/rare.h"

#include <stdlib.h>

#include "base/assert.h"
#include "tracy_file/write_parts.h"

enum { N_COUNTERS = 6, N_CATEGORIES = UINT16_MAX + 1 };

/* ---- taking ---------------------------------------------------------------------------------- */

void strobe_tracy_rare_start(struct strobe_tracy_rare *rare, const char *folder)
{
    rare->counts.row_bytes = sizeof(struct strobe_tracy_count_row);
    rare->counts.folder = folder;
}

void strobe_tracy_rare_free(struct strobe_tracy_rare *rare)
{
    strobe_idmap_free(&rare->section_ids);
    strobe_spool_free(&rare->counts);
    free(rare->sections);
}

static int take_section(struct strobe_tracy_model *model, const struct strobe_happening *happening,
                        int64_t time)
{
    struct strobe_tracy_rare *rare = &model->rare;
    const struct strobe_field *f = happening->event->fields;
    uint32_t before = rare->section_ids.n;
    uint32_t i = strobe_idmap_add_row(&rare->section_ids, happening->process, f[0].u,
                                      (void **)&rare->sections, &rare->sections_room,
                                      sizeof *rare->sections);
    if (i == STROBE_IDMAP_NONE)
        return 0;
    struct strobe_tracy_section_row *section = &rare->sections[i];
    if (i == before)
        *section = (struct strobe_tracy_section_row){.end = STROBE_TRACY_ENDLESS};
    if (happening->event->kind == STROBE_KIND_SECTION_LEAVE) {
        section->end = time;
        return 1;
    }
    section->is_begun = 1;
    section->start = time;
    section->category = (uint16_t)f[1].u;
    section->text = strobe_tracy_model_string(model, f[2].text, f[2].u);
    return 1;
}

static int take_count(struct strobe_tracy_model *model, const struct strobe_happening *happening,
                      int64_t time)
{
    const struct strobe_field *f = happening->event->fields;
    if (f[0].u >= N_COUNTERS) {
        model->folds->n_samples++;
        return 1;
    }
    struct strobe_tracy_count_row *row = strobe_spool_add(&model->rare.counts);
    if (row)
        *row = (struct strobe_tracy_count_row){
            strobe_tracy_address_of(model, happening->process, f[1].u), time, (uint8_t)f[0].u};
    return row != NULL;
}

/* A file has room for one: the first. */
static void take_crash(struct strobe_tracy_model *model, const struct strobe_happening *happening,
                       int64_t time)
{
    const struct strobe_field *f = happening->event->fields;
    struct strobe_tracy_crash_row *crash = &model->rare.crash;
    if (crash->is_there) {
        model->folds->n_others++;
        return;
    }
    *crash = (struct strobe_tracy_crash_row){
        .tid = model->trace->threads[happening->thread].tid,
        .time = time,
        .text = strobe_tracy_model_string(model, f[0].text, f[0].u),
        .stack =
            strobe_tracy_stack(model, happening->process, happening->stack, happening->n_stack),
        .is_there = 1,
    };
}

int strobe_tracy_rare_take(struct strobe_tracy_model *model,
                           const struct strobe_happening *happening)
{
    const struct strobe_event *event = happening->event;
    int64_t time = strobe_tracy_when(model, happening->process, event->tick, event->own);
    switch (event->kind) {
    case STROBE_KIND_SECTION_ENTER:
        model->folds->n_sections += model->layout < STROBE_TRACY_LAYOUT_14;
        /* fall through */
    case STROBE_KIND_SECTION_LEAVE:
        return model->layout < STROBE_TRACY_LAYOUT_14 || take_section(model, happening, time);
    case STROBE_KIND_HW_SAMPLE:
        return take_count(model, happening, time);
    default:
        STROBE_ASSERT(event->kind == STROBE_KIND_CRASH);
        take_crash(model, happening, time);
        return 1;
    }
}

/* ---- sections of the file -------------------------------------------------------------------- */

void strobe_tracy_put_crash(const struct strobe_tracy_model *model, struct strobe_tracy_out *out)
{
    const struct strobe_tracy_crash_row *crash = &model->rare.crash;
    strobe_tracy_out_u64(out, crash->tid);
    strobe_tracy_out_i64(out, crash->time);
    strobe_tracy_out_u64(out, crash->is_there ? strobe_tracy_pointer_of(crash->text) : 0);
    strobe_tracy_out_u32(out, crash->stack);
}

static void put_i48(struct strobe_tracy_out *out, int64_t value)
{
    strobe_tracy_out_put(out, &value, 6);
}

void strobe_tracy_put_sections(struct strobe_tracy_model *model, struct strobe_tracy_out *out)
{
    const struct strobe_tracy_rare *rare = &model->rare;
    uint64_t *n_of = calloc(N_CATEGORIES, sizeof *n_of), n_used = 0;
    for (uint32_t i = 0; n_of && i < rare->section_ids.n; i++)
        if (rare->sections[i].is_begun)
            n_used += !n_of[rare->sections[i].category]++;
    strobe_tracy_out_u64(out, n_used);
    for (uint32_t category = 0; n_used && category < N_CATEGORIES; category++) {
        if (!n_of[category])
            continue;
        strobe_tracy_out_u16(out, (uint16_t)category);
        strobe_tracy_out_u64(out, n_of[category]);
        for (uint32_t i = 0; i < rare->section_ids.n; i++) {
            const struct strobe_tracy_section_row *section = &rare->sections[i];
            if (!section->is_begun || section->category != category)
                continue;
            put_i48(out, section->start);
            put_i48(out, section->end);
            strobe_tracy_put_idx(out, section->text);
        }
    }
    free(n_of);
    strobe_tracy_out_u64(out, model->facts.n_sections);
    for (uint32_t i = 0; i < model->facts.n_sections; i++) {
        uint32_t n;
        const char *name = strobe_trace_text(model->trace, model->facts.sections[i].name, &n);
        strobe_tracy_out_u16(out, (uint16_t)model->facts.sections[i].category);
        strobe_tracy_put_idx(out, strobe_tracy_model_string(model, name, n));
    }
}

static int compare_counts(const void *a, const void *b)
{
    const struct strobe_tracy_count_row *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->counter != y->counter)
        return x->counter < y->counter ? -1 : 1;
    return x->time < y->time ? -1 : x->time > y->time;
}

void strobe_tracy_put_counts(struct strobe_tracy_model *model, struct strobe_tracy_out *out)
{
    struct strobe_tracy_count_row *rows = model->rare.counts.rows;
    uint64_t n = model->rare.counts.n, n_addresses = 0;
    if (n)
        qsort(rows, n, sizeof *rows, compare_counts);
    for (uint64_t i = 0; i < n; i++)
        n_addresses += !i || rows[i].address != rows[i - 1].address;
    strobe_tracy_out_u64(out, n_addresses);
    for (uint64_t at = 0; at < n;) {
        uint64_t address = rows[at].address;
        strobe_tracy_out_u64(out, address);
        for (uint8_t counter = 0; counter < N_COUNTERS; counter++) {
            uint64_t end = at;
            int64_t ref = 0;
            while (end < n && rows[end].address == address && rows[end].counter == counter)
                end++;
            strobe_tracy_out_u64(out, end - at);
            for (; at < end; at++)
                strobe_tracy_put_time(out, &ref, rows[at].time);
        }
    }
}
