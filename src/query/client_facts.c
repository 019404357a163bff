/* client_facts.c - see client_facts.h.  SPDX-License-Identifier: MIT */
#include "query/client_facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static uint32_t text_of(struct strobe_trace *trace, const struct strobe_field *field)
{
    return strobe_texts_add(&trace->texts, field->text, field->u);
}

static void add_client(struct strobe_trace *trace, struct strobe_client_facts *facts,
                       uint32_t process, const struct strobe_field *f)
{
    if (STROBE_ARRAY_REACH(facts->clients, facts->clients_room, process))
        return;
    if (process >= facts->n_clients)
        facts->n_clients = process + 1;
    facts->clients[process] = (struct strobe_client_fact){
        .is_tracy = 1,
        .protocol = f[0].u,
        .timer_mul = isfinite(f[1].d) ? f[1].d : 1.0,
        .init_begin = f[2].u,
        .init_end = f[3].u,
        .delay = f[4].u,
        .resolution = f[5].u,
        .epoch = f[6].u,
        .exec_time = f[7].u,
        .sampling = f[8].i,
        .flags = f[9].u,
        .arch = f[10].u,
        .cpu_id = f[11].u,
        .maker = text_of(trace, &f[12]),
        .program = text_of(trace, &f[13]),
        .host = text_of(trace, &f[14]),
    };
}

static struct strobe_gpu_context_fact *context_of(struct strobe_client_facts *facts,
                                                  uint32_t process, uint64_t id)
{
    uint32_t i = strobe_idmap_add_row(&facts->context_ids, process, id, (void **)&facts->contexts,
                                      &facts->contexts_room, sizeof *facts->contexts);
    if (i == STROBE_IDMAP_NONE)
        return NULL;
    facts->contexts[i].process = process;
    facts->contexts[i].id = id;
    return &facts->contexts[i];
}

static void add_context(struct strobe_client_facts *facts, uint32_t process,
                        const struct strobe_field *f)
{
    struct strobe_gpu_context_fact *context = context_of(facts, process, f[0].u);
    if (!context)
        return;
    context->is_known = 1;
    context->type = f[1].u;
    context->calibrated = f[2].u;
    context->tid = f[3].u;
    context->host = f[4].u;
    context->time = f[5].i;
    context->period_ns = f[6].d;
}

static struct strobe_lock_fact *lock_of(struct strobe_client_facts *facts, uint32_t process,
                                        uint64_t id)
{
    uint32_t i = strobe_idmap_add_row(&facts->lock_ids, process, id, (void **)&facts->locks,
                                      &facts->locks_room, sizeof *facts->locks);
    return i == STROBE_IDMAP_NONE ? NULL : &facts->locks[i];
}

static void add_section(struct strobe_trace *trace, struct strobe_client_facts *facts,
                        uint32_t process, const struct strobe_field *f)
{
    if (!STROBE_ARRAY_REACH(facts->sections, facts->sections_room, facts->n_sections))
        facts->sections[facts->n_sections++] =
            (struct strobe_section_fact){process, f[0].u, text_of(trace, &f[1])};
}

static void add_foreign(struct strobe_trace *trace, struct strobe_client_facts *facts,
                        uint32_t process, const struct strobe_field *f)
{
    uint32_t i =
        strobe_idmap_add_row(&facts->foreign_ids, process, f[0].u, (void **)&facts->foreign,
                             &facts->foreign_room, sizeof *facts->foreign);
    if (i != STROBE_IDMAP_NONE)
        facts->foreign[i] =
            (struct strobe_foreign_fact){f[1].u, text_of(trace, &f[2]), text_of(trace, &f[3])};
}

static void add_record(struct strobe_trace *trace, struct strobe_client_facts *facts,
                       const struct strobe_record *record)
{
    const struct strobe_field *f = record->fields;
    if (record->kind >= STROBE_META_COUNT || record->kind < STROBE_META_PROCESS)
        return;
    uint32_t process = strobe_trace_process(trace, record->proc);
    struct strobe_gpu_context_fact *context;
    struct strobe_lock_fact *lock;
    if (process == STROBE_IDMAP_NONE)
        return;
    switch (record->kind) {
    case STROBE_META_TRACY_CLIENT:
        add_client(trace, facts, process, f);
        break;
    case STROBE_META_GPU_CONTEXT:
        add_context(facts, process, f);
        break;
    case STROBE_META_GPU_NAME:
        if ((context = context_of(facts, process, f[0].u)))
            context->name = text_of(trace, &f[1]);
        break;
    case STROBE_META_LOCK_NAME:
        if ((lock = lock_of(facts, process, f[0].u))) {
            lock->loc = f[1].u;
            lock->name = text_of(trace, &f[2]);
        }
        break;
    case STROBE_META_LOCK_KIND:
        if ((lock = lock_of(facts, process, f[0].u)))
            lock->is_shared = f[1].u != 0, lock->made = record->n_fields > 2 ? f[2].u : 0;
        break;
    case STROBE_META_SECTION_NAME:
        add_section(trace, facts, process, f);
        break;
    case STROBE_META_FOREIGN_THREAD:
        add_foreign(trace, facts, process, f);
        break;
    }
}

/* A client's zero on the trace's clock, as ns after the start of the recording. */
static int64_t start_of(const struct strobe_trace *trace, uint32_t process, uint64_t init_begin)
{
    uint64_t tick = trace->processes[process].n_own
                        ? strobe_trace_own_tick(trace, process, (int64_t)init_begin)
                        : init_begin;
    return strobe_clock_rel(&trace->clock, tick);
}

/* Where each client's zero is. */
static void set_offsets(struct strobe_trace *trace, struct strobe_client_facts *facts)
{
    for (uint32_t i = 0; i < facts->n_clients; i++) {
        struct strobe_client_fact *client = &facts->clients[i];
        if (client->is_tracy)
            client->offset_ns =
                trace->n_processes == 1 ? 0 : start_of(trace, i, client->init_begin);
    }
}

enum strobe_err strobe_client_facts_load(struct strobe_trace *trace,
                                         struct strobe_client_facts *out)
{
    const struct strobe_block_filter filter = {.type = STROBE_BLOCK_RECORDS};
    struct strobe_block_iter *iter;
    struct strobe_block block = {0};
    struct strobe_record_walk walk = {0};
    struct strobe_record record;
    memset(out, 0, sizeof *out);
    out->trace = trace;
    enum strobe_err err = strobe_file_iterate(trace->file, &filter, &iter);
    if (err)
        return err;
    while (!(err = strobe_file_next_block(iter, &block)))
        if (strobe_record_walk_start(&block, &trace->schema, &walk) == STROBE_OK)
            while (strobe_record_walk_next(&walk, &record) == STROBE_OK)
                add_record(trace, out, &record);
    strobe_file_end_iterate(iter);
    strobe_record_walk_free(&walk);
    strobe_block_free(&block);
    set_offsets(trace, out);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

void strobe_client_facts_free(struct strobe_client_facts *facts)
{
    free(facts->clients);
    free(facts->contexts);
    free(facts->locks);
    free(facts->sections);
    strobe_idmap_free(&facts->foreign_ids);
    free(facts->foreign);
    strobe_idmap_free(&facts->context_ids);
    strobe_idmap_free(&facts->lock_ids);
    memset(facts, 0, sizeof *facts);
}
