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

/* ---- in the order of contexts and begins ---- */

struct rows {
    struct strobe_csv *csv; /* borrowed */
    struct strobe_client_facts facts;
};

static enum strobe_err take_zone(void *context, const struct strobe_gpu_zone *zone)
{
    struct rows *rows = context;
    if (strobe_csv_wants(rows->csv, rows->facts.contexts[zone->context].process))
        put_zone(rows->csv, &rows->facts, zone);
    return rows->csv->out->error ? STROBE_ERR_IO : STROBE_OK;
}

enum strobe_err strobe_csv_gpu(struct strobe_csv *csv)
{
    struct rows rows = {.csv = csv};
    struct strobe_gpu_troubles troubles;
    const struct strobe_gpu_visitor visitor = {.context = &rows, .zone = take_zone};
    enum strobe_err err = strobe_client_facts_load(csv->trace, &rows.facts);
    if (!err)
        err = strobe_gpu_each_in_order(csv->trace, &rows.facts, &visitor, &troubles);
    strobe_client_facts_free(&rows.facts);
    return err ? err : csv->out->error ? STROBE_ERR_IO : STROBE_OK;
}
