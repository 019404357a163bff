/* csv_gpu.c - one row per GPU zone, with its times on both sides.  SPDX-License-Identifier: MIT */
#include "export/csv.h"
#include "query/gpu.h"

/* A time of the GPU on the axis of the other tables: as far from the zone's begin on the CPU as it is on
 * the client's own. */
static void put_gpu_time(struct strobe_csv *csv, int64_t time, int64_t shift)
{
    if (time != STROBE_GPU_UNKNOWN)
        strobe_out_i(csv->out, time + shift);
    strobe_out_char(csv->out, ',');
}

static void put_zone(struct strobe_csv *csv, const struct strobe_client_facts *facts,
                     const struct strobe_gpu_zone *zone)
{
    const struct strobe_gpu_context_fact *context = &facts->contexts[zone->context];
    const struct strobe_clock *clock = &csv->trace->clock;
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    const char *text = strobe_trace_process_name(csv->trace, context->process, room, &n);
    strobe_out_csv(csv->out, text, n);
    strobe_out_char(csv->out, ',');
    strobe_out_u(csv->out, csv->trace->processes[context->process].pid);
    strobe_out_char(csv->out, ',');
    strobe_out_u(csv->out, context->id);
    strobe_out_char(csv->out, ',');
    text = strobe_trace_text(csv->trace, context->name, &n);
    strobe_out_csv(csv->out, text, n);
    strobe_out_char(csv->out, ',');
    strobe_out_u(csv->out, zone->tid);
    strobe_out_char(csv->out, ',');
    strobe_csv_put_loc(csv, strobe_trace_loc(csv->trace, context->process, zone->loc), zone->loc);
    int64_t begin = strobe_clock_rel(clock, zone->cpu_begin);
    int64_t shift =
        begin - strobe_client_ns(facts, context->process, zone->cpu_begin, zone->cpu_begin_own);
    strobe_out_i(csv->out, begin);
    strobe_out_char(csv->out, ',');
    if (zone->has_cpu_end)
        strobe_out_i(csv->out, strobe_clock_rel(clock, zone->cpu_end) - begin);
    strobe_out_char(csv->out, ',');
    put_gpu_time(csv, zone->gpu_begin, shift);
    if (zone->gpu_begin != STROBE_GPU_UNKNOWN)
        put_gpu_time(csv, zone->gpu_end, -zone->gpu_begin);
    else
        strobe_out_char(csv->out, ',');
    strobe_out_u(csv->out, zone->depth);
    strobe_out_char(csv->out, '\n');
}

enum strobe_err strobe_csv_gpu(struct strobe_csv *csv)
{
    struct strobe_client_facts facts;
    struct strobe_gpu gpu = {0};
    enum strobe_err err = strobe_client_facts_load(csv->trace, &facts);
    if (!err)
        err = strobe_gpu_run(csv->trace, &facts, &gpu);
    for (uint32_t i = 0; i < gpu.n_zones && !err; i++)
        if (strobe_csv_wants(csv, facts.contexts[gpu.zones[i].context].process))
            put_zone(csv, &facts, &gpu.zones[i]);
    strobe_gpu_free(&gpu);
    strobe_client_facts_free(&facts);
    return err ? err : csv->out->error ? STROBE_ERR_IO : STROBE_OK;
}
