/* host.c - the host's tables: finding, adding, freeing.  SPDX-License-Identifier: MIT */
#include "report/host.h"

#include <stdlib.h>

#include "base/array.h"

void strobe_report_host_open(struct strobe_report_host *host, struct strobe_report_faults *faults)
{
    *host = (struct strobe_report_host){.faults = faults};
    for (int i = 0; i < 3; i++)
        host->mlir[i] = UINT32_MAX;
}

struct strobe_report_op *strobe_report_host_find(const struct strobe_report_host *host, uint64_t id)
{
    uint32_t index = (uint32_t)strobe_map_get(&host->by_id, id, UINT32_MAX);
    return index == UINT32_MAX ? NULL : &host->ops[index];
}

static struct strobe_report_op *new_op(struct strobe_report_host *host)
{
    if (STROBE_ARRAY_RESERVE(host->ops, host->cap_ops, (uint64_t)host->n_ops + 1))
        return NULL;
    return &host->ops[host->n_ops];
}

struct strobe_report_op *strobe_report_host_op(struct strobe_report_host *host, uint64_t id,
                                               bool *is_new)
{
    struct strobe_report_op *op = strobe_report_host_find(host, id);
    *is_new = !op;
    if (op)
        return op;
    op = new_op(host);
    if (!op || strobe_map_put(&host->by_id, id, host->n_ops))
        return NULL;
    host->n_ops++;
    *op = (struct strobe_report_op){.id = id,
                                    .device = STROBE_REPORT_NONE,
                                    .trace = STROBE_REPORT_NONE,
                                    .message_ns = STROBE_REPORT_NONE,
                                    .start_ns = STROBE_REPORT_NONE,
                                    .desc = UINT32_MAX,
                                    .child = UINT32_MAX,
                                    .cache_hit = -1};
    for (int i = 0; i < 3; i++)
        op->mlir[i] = host->mlir[i];
    return op;
}

const struct strobe_report_replays *
strobe_report_host_replays(const struct strobe_report_host *host, int64_t device, int64_t trace)
{
    uint64_t hash = strobe_hash_pair((uint64_t)trace, (uint64_t)device, host->by_trace.seed);
    STROBE_INDEX_EACH (index, at, &host->by_trace, hash)
        if (host->replays[index].device == device && host->replays[index].trace == trace)
            return &host->replays[index];
    return NULL;
}

int64_t strobe_report_host_replay(const struct strobe_report_host *host, int64_t device,
                                  int64_t trace, int64_t session)
{
    const struct strobe_report_replays *replays = strobe_report_host_replays(host, device, trace);
    if (!replays || session < 1 || session > replays->n)
        return STROBE_REPORT_NONE;
    return replays->ns[session - 1];
}

void strobe_report_host_close(struct strobe_report_host *host)
{
    for (uint32_t i = 0; i < host->n_replays; i++)
        free(host->replays[i].ns);
    for (uint32_t i = 0; i < host->n_child_names; i++)
        free(host->child_names[i]);
    free(host->replays);
    free(host->child_names);
    free(host->ops);
    free(host->signposts);
    free(host->children);
    free(host->devices);
    free(host->unplaced);
    strobe_map_free(&host->by_id);
    strobe_index_free(&host->by_hash);
    strobe_index_free(&host->by_trace);
    strobe_index_free(&host->by_child_name);
    strobe_out_free(&host->texts);
    strobe_json_tree_free(&host->json);
    strobe_report_descs_free(&host->descs);
    *host = (struct strobe_report_host){0};
}
