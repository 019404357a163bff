/* desc.h - an op's description: the cells that its JSON message gives, ready for the CSV.
 * Ops share descriptions: cached messages name the one of their hash.  SPDX-License-Identifier: MIT
 */
#ifndef STROBE_REPORT_DESC_H
#define STROBE_REPORT_DESC_H

#include "base/map.h"
#include "report/columns.h"
#include "report/json.h"

enum { STROBE_REPORT_TENSOR_CELLS = 7 }; /* W Z Y X, layout, data type, memory */

struct strobe_report_cell {
    uint32_t at, len; /* into the description's text; len 0 is an empty cell */
};

struct strobe_report_size {
    uint32_t column; /* into the table's size headers */
    struct strobe_report_cell cell;
};

struct strobe_report_desc {
    struct strobe_out text;
    struct strobe_report_cell cells[STROBE_REPORT_N_COLUMNS];
    struct strobe_report_cell *tensors; /* owned: inputs, then outputs, 7 cells each */
    uint32_t n_inputs, n_outputs;
    struct strobe_report_size *sizes; /* owned */
    uint32_t n_sizes;
    double pm_compute, pm_bandwidth; /* bandwidth 0: not said */
    bool has_pm, has_device, has_hash, has_id;
    int8_t cache_hit; /* -1 unknown */
    bool partial;     /* made from a message without its JSON */
    int64_t device;
    uint64_t hash;
    uint64_t id; /* of the op whose message this was */
};

/* All descriptions of a run. All zero is empty. */
struct strobe_report_descs {
    struct strobe_report_desc **all; /* owned, and what they point to */
    uint32_t n, cap;
    struct strobe_index by_content;
    char **size_headers; /* owned: "TENSIX DM 0 MAX KERNEL SIZE [B]" */
    uint32_t n_size_headers;
    struct strobe_out scratch;
};

/* Make the description of a JSON dict, or find an equal one. NOMEM only. */
enum strobe_err strobe_report_desc_from_json(struct strobe_report_descs *descs,
                                             const struct strobe_json_tree *json, uint32_t root,
                                             uint32_t *out, struct strobe_report_desc *facts);

/* A description of which only the start of the message is known. */
enum strobe_err strobe_report_desc_partial(struct strobe_report_descs *descs,
                                           struct strobe_report_span code, const char *type,
                                           const uint64_t *hash, const int64_t *device,
                                           uint32_t *out);
void strobe_report_descs_free(struct strobe_report_descs *descs);

#endif
