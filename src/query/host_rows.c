/* host_rows.c - see host_rows.h.  SPDX-License-Identifier: MIT */
#include "query/host_rows.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/assert.h"
#include "wire/file_layout.h"

static struct strobe_host_row *row_of(struct strobe_host_rows *rows,
                                      const struct strobe_clock_placed *placed)
{
    if (rows->n && rows->rows[rows->n - 1].proc == placed->proc)
        return &rows->rows[rows->n - 1]; /* they come host by host */
    struct strobe_host_row *row = STROBE_ARRAY_PUSH(rows->rows, rows->n, rows->room);
    if (row)
        *row = (struct strobe_host_row){.proc = placed->proc,
                                        .n_procs = placed->n_procs,
                                        .how = placed->how,
                                        .host = placed->host};
    return row;
}

static int compare(const void *a, const void *b)
{
    const struct strobe_host_row *x = a, *y = b;
    return x->proc < y->proc ? -1 : x->proc > y->proc;
}

int strobe_host_rows_list(const struct strobe_trace *trace, struct strobe_host_rows *out)
{
    *out = (struct strobe_host_rows){0};
    for (uint32_t i = 0; i < trace->n_placed; i++) {
        const struct strobe_clock_placed *placed = &trace->placed[i];
        struct strobe_host_row *row = row_of(out, placed);
        if (!row) {
            strobe_host_rows_free(out);
            return 0;
        }
        int is_step = placed->n_steps > row->n_steps;
        uint64_t *most = is_step ? &row->unsure_ns : &row->proven_ns;
        *most = placed->proven_ns > *most ? placed->proven_ns : *most;
        if (!is_step && placed->likely_ns > row->likely_ns)
            row->likely_ns = placed->likely_ns;
        row->n_steps = placed->n_steps;
    }
    if (out->n)
        qsort(out->rows, out->n, sizeof *out->rows, compare);
    return 1;
}

void strobe_host_rows_free(struct strobe_host_rows *rows)
{
    free(rows->rows);
    *rows = (struct strobe_host_rows){0};
}

const char *strobe_host_row_how(uint32_t how)
{
    static const char *const words[] = {
        [STROBE_CLOCK_HOW_OWN] = "own clock",
        [STROBE_CLOCK_HOW_SAME] = "same clock",
        [STROBE_CLOCK_HOW_COMPARED] = "compared",
        [STROBE_CLOCK_HOW_THROUGH] = "compared through others",
        [STROBE_CLOCK_HOW_WALL] = "never compared",
        [STROBE_CLOCK_HOW_HOST] = "by the host's wall clock, unless that was set meanwhile",
    };
    return how < sizeof words / sizeof words[0] ? words[how] : "not known";
}

void strobe_host_row_put(const struct strobe_host_row *row, struct strobe_json_writer *json)
{
    strobe_json_write_string(json, "how", strobe_host_row_how(row->how));
    strobe_json_write_u(json, "likely_ns", row->likely_ns);
    strobe_json_write_u(json, "proven_ns", row->proven_ns);
    strobe_json_write_u(json, "steps", row->n_steps);
    strobe_json_write_u(json, "unsure_ns", row->unsure_ns);
}

int strobe_host_rows_peer(const struct strobe_trace *trace, uint32_t i, struct strobe_peer_row *out)
{
    const struct strobe_clock_name *name = NULL;
    for (uint32_t k = 0, n = 0; k < trace->n_clock_names && !name; k++)
        if (trace->clock_names[k].role != STROBE_CLOCK_ROLE_OWN && n++ == i)
            name = &trace->clock_names[k];
    if (!name)
        return 0;
    *out = (struct strobe_peer_row){name->name, name->address, name->role, 0, 0};
    uint64_t best = UINT64_MAX;
    for (uint32_t k = 0; k < trace->n_exchanges; k++) {
        const struct strobe_clock_exchange *one = &trace->exchanges[k];
        if (one->id_high != name->id_high || one->id_low != name->id_low)
            continue;
        out->n_exchanges++;
        best = one->back - one->sent < best ? one->back - one->sent : best;
    }
    out->best_ns = out->n_exchanges ? strobe_clock_ns(&trace->clock, best) : 0;
    return 1;
}

int strobe_host_rows_error(const struct strobe_trace *trace, uint64_t proc, uint64_t tick,
                           uint64_t *likely_ns, uint64_t *proven_ns)
{
    const struct strobe_clock_placed *found = NULL;
    for (uint32_t i = 0; i < trace->n_placed; i++) {
        const struct strobe_clock_placed *placed = &trace->placed[i];
        if (proc < placed->proc || proc - placed->proc >= placed->n_procs)
            continue;
        if (!found || placed->tick <= tick)
            found = placed;
    }
    if (!found || found->how >= STROBE_CLOCK_HOW_WALL)
        return 0;
    *likely_ns = found->likely_ns;
    *proven_ns = found->proven_ns;
    return 1;
}
