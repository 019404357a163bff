/* desc.c - turns the JSON of an op into CSV cells.
 * Equal descriptions are kept once, so a run that sends the full text with every op costs no more
 * memory than one that caches.  SPDX-License-Identifier: MIT */
#include "report/desc.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

typedef struct strobe_report_span span;

static struct strobe_report_cell add_cell(struct strobe_report_desc *desc, span raw)
{
    struct strobe_report_cell cell = {(uint32_t)desc->text.len, 0};
    strobe_report_text_cell(&desc->text, raw.at, raw.len);
    cell.len = (uint32_t)(desc->text.len - cell.at);
    return cell;
}

static struct strobe_report_cell add_json(struct strobe_report_descs *descs,
                                          struct strobe_report_desc *desc,
                                          const struct strobe_json_tree *json, uint32_t node)
{
    strobe_out_clear(&descs->scratch);
    strobe_report_json_str(json, node, &descs->scratch);
    return add_cell(desc, (span){descs->scratch.at ? descs->scratch.at : "", descs->scratch.len});
}

/* Top-level members whose name is a column's. What differs from op to op is not the
 * description's: id, cache hit, trace. */
static void add_members(struct strobe_report_descs *descs, struct strobe_report_desc *desc,
                        const struct strobe_json_tree *json, uint32_t root)
{
    for (uint32_t i = strobe_report_json_first(json, root); i;
         i = strobe_report_json_next(json, i)) {
        span key = strobe_report_json_key(json, i);
        int column = strobe_report_column_find(key.at, (unsigned)key.len);
        if (column < 0 || column == STROBE_REPORT_COL_GLOBAL_CALL_COUNT ||
            column == STROBE_REPORT_COL_TRACE_ID || column == STROBE_REPORT_COL_SESSION_ID)
            continue;
        desc->cells[column] = add_json(descs, desc, json, i);
    }
}

/* The Python list of one field of all kernels. */
static struct strobe_report_cell add_kernels(struct strobe_report_descs *descs,
                                             struct strobe_report_desc *desc,
                                             const struct strobe_json_tree *json, uint32_t list,
                                             const char *field)
{
    struct strobe_out *out = &descs->scratch;
    strobe_out_clear(out);
    strobe_out_char(out, '[');
    for (uint32_t i = strobe_report_json_first(json, list); i;
         i = strobe_report_json_next(json, i)) {
        if (i != strobe_report_json_first(json, list))
            strobe_out_text(out, ", ");
        span text = strobe_report_json_text(json, strobe_json_tree_get(json, i, field));
        strobe_report_python_repr(out, text.at, text.len);
    }
    strobe_out_char(out, ']');
    return add_cell(desc, (span){out->at ? out->at : "", out->len});
}

static uint32_t size_column(struct strobe_report_descs *descs, const char *header)
{
    for (uint32_t i = 0; i < descs->n_size_headers; i++)
        if (!strcmp(descs->size_headers[i], header))
            return i;
    char *copy = strdup(header);
    if (!copy || STROBE_ARRAY_RESERVE_TIGHT(descs->size_headers, descs->n_size_headers)) {
        free(copy);
        return UINT32_MAX;
    }
    descs->size_headers[descs->n_size_headers] = copy;
    return descs->n_size_headers++;
}

/* "TENSIX_DM_0_max_kernel_size" -> "TENSIX DM 0 MAX KERNEL SIZE [B]"; only such names are columns.
 */
static uint32_t size_header(struct strobe_report_descs *descs, span key)
{
    static const char suffix[] = " MAX KERNEL SIZE [B]";
    char header[96];
    if (key.len > sizeof header - 8)
        return UINT32_MAX;
    for (size_t i = 0; i < key.len; i++)
        header[i] = key.at[i] == '_' ? ' ' : (char)toupper((unsigned char)key.at[i]);
    strcpy(header + key.len, " [B]");
    size_t len = key.len + 4;
    if (len <= sizeof suffix || strcmp(header + len - (sizeof suffix - 1), suffix))
        return UINT32_MAX;
    return size_column(descs, header);
}

static void add_sizes(struct strobe_report_descs *descs, struct strobe_report_desc *desc,
                      const struct strobe_json_tree *json, uint32_t sizes)
{
    uint32_t n = 0;
    for (uint32_t i = strobe_report_json_first(json, sizes); i;
         i = strobe_report_json_next(json, i))
        n++;
    desc->sizes = n ? malloc(n * sizeof *desc->sizes) : NULL;
    if (!desc->sizes)
        return;
    for (uint32_t i = strobe_report_json_first(json, sizes); i;
         i = strobe_report_json_next(json, i)) {
        uint32_t column = size_header(descs, strobe_report_json_key(json, i));
        if (column != UINT32_MAX)
            desc->sizes[desc->n_sizes++] =
                (struct strobe_report_size){column, add_json(descs, desc, json, i)};
    }
}

static void add_kernel_info(struct strobe_report_descs *descs, struct strobe_report_desc *desc,
                            const struct strobe_json_tree *json, uint32_t root)
{
    uint32_t info = strobe_json_tree_get(json, root, "kernel_info");
    if (!info)
        return;
    uint32_t compute = strobe_json_tree_get(json, info, "compute_kernels");
    uint32_t movement = strobe_json_tree_get(json, info, "datamovement_kernels");
    for (uint32_t i = strobe_report_json_first(json, compute); i;
         i = strobe_report_json_next(json, i))
        desc->cells[STROBE_REPORT_COL_MATH_FIDELITY] =
            add_json(descs, desc, json, strobe_json_tree_get(json, i, "math_fidelity"));
    desc->cells[STROBE_REPORT_COL_COMPUTE_SOURCE] =
        add_kernels(descs, desc, json, compute, "source");
    desc->cells[STROBE_REPORT_COL_COMPUTE_HASH] = add_kernels(descs, desc, json, compute, "name");
    desc->cells[STROBE_REPORT_COL_MOVEMENT_SOURCE] =
        add_kernels(descs, desc, json, movement, "source");
    desc->cells[STROBE_REPORT_COL_MOVEMENT_HASH] = add_kernels(descs, desc, json, movement, "name");
    add_sizes(descs, desc, json, strobe_json_tree_get(json, info, "kernel_sizes"));
}

static void add_upper(struct strobe_out *out, span text)
{
    for (size_t i = 0; i < text.len; i++)
        strobe_out_char(out, (char)toupper((unsigned char)text.at[i]));
}

static struct strobe_report_cell add_memory(struct strobe_report_descs *descs,
                                            struct strobe_report_desc *desc,
                                            const struct strobe_json_tree *json, uint32_t storage)
{
    if (!storage || json->nodes[storage].type != STROBE_JSON_OBJECT)
        return add_json(descs, desc, json, storage);
    uint32_t config = strobe_json_tree_get(json, storage, "memory_config");
    struct strobe_out *out = &descs->scratch;
    strobe_out_clear(out);
    strobe_out_text(out, "DEV_");
    strobe_report_json_str(json, strobe_json_tree_get(json, storage, "device_id"), out);
    strobe_out_char(out, '_');
    add_upper(out,
              strobe_report_json_text(json, strobe_json_tree_get(json, config, "buffer_type")));
    strobe_out_char(out, '_');
    add_upper(out,
              strobe_report_json_text(json, strobe_json_tree_get(json, config, "memory_layout")));
    return add_cell(desc, (span){out->at, out->len});
}

static void add_tensor(struct strobe_report_descs *descs, struct strobe_report_desc *desc,
                       const struct strobe_json_tree *json, uint32_t tensor,
                       struct strobe_report_cell *cells)
{
    static const char *const axes[] = {"W", "Z", "Y", "X"};
    uint32_t shape = strobe_json_tree_get(json, tensor, "shape");
    for (int i = 0; i < 4; i++)
        cells[i] = add_json(descs, desc, json, strobe_json_tree_get(json, shape, axes[i]));
    cells[4] = add_json(descs, desc, json, strobe_json_tree_get(json, tensor, "layout"));
    cells[5] = add_json(descs, desc, json, strobe_json_tree_get(json, tensor, "dtype"));
    cells[6] = add_memory(descs, desc, json, strobe_json_tree_get(json, tensor, "storage_type"));
}

static uint32_t add_tensors(struct strobe_report_descs *descs, struct strobe_report_desc *desc,
                            const struct strobe_json_tree *json, uint32_t list)
{
    uint32_t n = 0, have = desc->n_inputs + desc->n_outputs;
    for (uint32_t i = strobe_report_json_first(json, list); i; i = strobe_report_json_next(json, i))
        n++;
    uint64_t cells = ((uint64_t)have + n) * STROBE_REPORT_TENSOR_CELLS;
    void *grown = n ? strobe_array_resize(desc->tensors, cells, sizeof *desc->tensors) : NULL;
    if (!grown)
        return 0;
    desc->tensors = grown;
    for (uint32_t i = strobe_report_json_first(json, list); i; i = strobe_report_json_next(json, i))
        add_tensor(descs, desc, json, i, &desc->tensors[have++ * STROBE_REPORT_TENSOR_CELLS]);
    return n;
}

static void add_model(struct strobe_report_descs *descs, struct strobe_report_desc *desc,
                      const struct strobe_json_tree *json, uint32_t root)
{
    static const struct {
        const char *key;
        enum strobe_report_column column;
    } fields[] = {{"ideal_ns", STROBE_REPORT_COL_PM_IDEAL},
                  {"compute_ns", STROBE_REPORT_COL_PM_COMPUTE},
                  {"bandwidth_ns", STROBE_REPORT_COL_PM_BANDWIDTH},
                  {"input_bws", STROBE_REPORT_COL_PM_INPUT_BW},
                  {"output_bws", STROBE_REPORT_COL_PM_OUTPUT_BW}};
    uint32_t model = strobe_json_tree_get(json, root, "performance_model");
    for (int i = 0; model && i < 5; i++)
        desc->cells[fields[i].column] =
            add_json(descs, desc, json, strobe_json_tree_get(json, model, fields[i].key));
    desc->has_pm = strobe_report_json_number(json, strobe_json_tree_get(json, model, "compute_ns"),
                                             &desc->pm_compute);
    strobe_report_json_number(json, strobe_json_tree_get(json, model, "bandwidth_ns"),
                              &desc->pm_bandwidth);
}

static void add_facts(struct strobe_report_desc *desc, const struct strobe_json_tree *json,
                      uint32_t root)
{
    uint32_t hit = strobe_json_tree_get(json, root, "program_cache_hit");
    desc->has_device =
        strobe_report_json_int(json, strobe_json_tree_get(json, root, "device_id"), &desc->device);
    desc->has_hash =
        strobe_report_json_uint(json, strobe_json_tree_get(json, root, "op_hash"), &desc->hash);
    desc->has_id = strobe_report_json_uint(
        json, strobe_json_tree_get(json, root, "global_call_count"), &desc->id);
    desc->cache_hit = !hit                                         ? -1
                      : json->nodes[hit].type == STROBE_JSON_TRUE  ? 1
                      : json->nodes[hit].type == STROBE_JSON_FALSE ? 0
                                                                   : -1;
}

static void free_desc(struct strobe_report_desc *desc)
{
    strobe_out_free(&desc->text);
    free(desc->tensors);
    free(desc->sizes);
    free(desc);
}

static bool is_equal(const struct strobe_report_desc *a, const struct strobe_report_desc *b)
{
    size_t tensors = (size_t)(a->n_inputs + a->n_outputs) * STROBE_REPORT_TENSOR_CELLS;
    return a->text.len == b->text.len && a->n_inputs == b->n_inputs &&
           a->n_outputs == b->n_outputs && a->n_sizes == b->n_sizes && a->partial == b->partial &&
           a->has_device == b->has_device && a->device == b->device && a->has_hash == b->has_hash &&
           a->hash == b->hash && !memcmp(a->cells, b->cells, sizeof a->cells) &&
           (!tensors || !memcmp(a->tensors, b->tensors, tensors * sizeof *a->tensors)) &&
           (!a->n_sizes || !memcmp(a->sizes, b->sizes, a->n_sizes * sizeof *a->sizes)) &&
           (!a->text.len || !memcmp(a->text.at, b->text.at, a->text.len));
}

static enum strobe_err keep_new(struct strobe_report_descs *descs, struct strobe_report_desc *desc,
                                uint64_t hash, uint32_t *out)
{
    if (STROBE_ARRAY_RESERVE(descs->all, descs->cap, (uint64_t)descs->n + 1))
        return STROBE_ERR_NOMEM;
    if (strobe_index_add(&descs->by_content, hash, descs->n))
        return STROBE_ERR_NOMEM;
    *out = descs->n;
    descs->all[descs->n++] = desc;
    return STROBE_OK;
}

/* Takes `desc`: kept, or freed where an equal one is there. */
static enum strobe_err keep(struct strobe_report_descs *descs, struct strobe_report_desc *desc,
                            uint32_t *out)
{
    uint64_t hash =
        strobe_hash_bytes(desc->text.at, desc->text.len, strobe_index_seed(&descs->by_content));
    uint32_t at;
    enum strobe_err err = desc->text.error ? STROBE_ERR_NOMEM : STROBE_OK;
    *out = strobe_index_first(&descs->by_content, hash, &at);
    for (; !err && *out != STROBE_INDEX_NONE; *out = strobe_index_next(&descs->by_content, &at))
        if (is_equal(descs->all[*out], desc)) {
            free_desc(desc);
            return STROBE_OK;
        }
    if (!err)
        err = keep_new(descs, desc, hash, out);
    if (err)
        free_desc(desc);
    return err;
}

enum strobe_err strobe_report_desc_from_json(struct strobe_report_descs *descs,
                                             const struct strobe_json_tree *json, uint32_t root,
                                             uint32_t *out, struct strobe_report_desc *facts)
{
    struct strobe_report_desc *desc = calloc(1, sizeof *desc);
    if (!desc)
        return STROBE_ERR_NOMEM;
    add_facts(desc, json, root);
    *facts = *desc;
    add_members(descs, desc, json, root);
    add_kernel_info(descs, desc, json, root);
    desc->n_inputs =
        add_tensors(descs, desc, json, strobe_json_tree_get(json, root, "input_tensors"));
    desc->n_inputs +=
        add_tensors(descs, desc, json, strobe_json_tree_get(json, root, "optional_input_tensors"));
    desc->n_outputs =
        add_tensors(descs, desc, json, strobe_json_tree_get(json, root, "output_tensors"));
    desc->cells[STROBE_REPORT_COL_PROGRAM_HASH] =
        add_json(descs, desc, json, strobe_json_tree_get(json, root, "op_hash"));
    desc->cells[STROBE_REPORT_COL_CACHE_HIT] = (struct strobe_report_cell){0, 0};
    add_model(descs, desc, json, root);
    return keep(descs, desc, out);
}

enum strobe_err strobe_report_desc_partial(struct strobe_report_descs *descs, span code,
                                           const char *type, const uint64_t *hash,
                                           const int64_t *device, uint32_t *out)
{
    struct strobe_report_desc *desc = calloc(1, sizeof *desc);
    if (!desc)
        return STROBE_ERR_NOMEM;
    char digits[24];
    desc->partial = true;
    desc->cache_hit = -1;
    desc->cells[STROBE_REPORT_COL_OP_CODE] = add_cell(desc, code);
    desc->cells[STROBE_REPORT_COL_OP_TYPE] = add_cell(desc, (span){type, strlen(type)});
    if (hash) {
        int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)*hash);
        desc->cells[STROBE_REPORT_COL_PROGRAM_HASH] = add_cell(desc, (span){digits, (size_t)len});
        desc->has_hash = true;
        desc->hash = *hash;
    }
    if (device) {
        int len = snprintf(digits, sizeof digits, "%lld", (long long)*device);
        desc->cells[STROBE_REPORT_COL_DEVICE_ID] = add_cell(desc, (span){digits, (size_t)len});
        desc->has_device = true;
        desc->device = *device;
    }
    return keep(descs, desc, out);
}

void strobe_report_descs_free(struct strobe_report_descs *descs)
{
    for (uint32_t i = 0; i < descs->n; i++)
        free_desc(descs->all[i]);
    for (uint32_t i = 0; i < descs->n_size_headers; i++)
        free(descs->size_headers[i]);
    free(descs->all);
    free(descs->size_headers);
    strobe_index_free(&descs->by_content);
    strobe_out_free(&descs->scratch);
    *descs = (struct strobe_report_descs){0};
}
