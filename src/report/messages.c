/* messages.c - decodes the op messages of tracy_ops_data.csv.
 *
 *   `TT_DNN_DEVICE_OP: "<code>", <hash>, <device>, <hit>, <id> ->\n<JSON>`   full
 *   `TT_DNN_DEVICE_OP: "<code>", <hash>, <device>, <hit>, <id>`              cached: same hash
 *   `TT_DNN_FALL_BACK_OP:"<code>" ->\n<JSON>`                                host only
 *   `TT_METAL_TRACE_{BEGIN,END,REPLAY,RELEASE}: <device>, <trace>`
 *   `TT_SIGNPOST: <header>[\n<message>]`
 *
 * Older programs leave <hit> out. A message that cannot be decoded is set aside with a fault, but
 * what its first line tells is kept.  SPDX-License-Identifier: MIT */
#include "report/csv.h"
#include "base/array.h"
#include "report/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct strobe_report_span span;

#define FILE_NAME STROBE_REPORT_MESSAGES_FILE
enum { UNPLACED_MAX = 4096 }; /* every zone is held against all of them */

/* The first line of a device op's message, taken apart. */
struct prefix {
    span code;
    uint64_t hash, id;
    int64_t device;
    int8_t cache_hit;
    bool has_hash, has_device, has_id;
};

static span strip_quotes(span text)
{
    text = strobe_report_span_trim(text);
    if (text.len >= 2 && text.at[0] == '"' && text.at[text.len - 1] == '"')
        text.at++, text.len -= 2;
    return text;
}

static span take_field(span *rest)
{
    const char *comma = rest->len ? memchr(rest->at, ',', rest->len) : NULL;
    span field = {rest->at, comma ? (size_t)(comma - rest->at) : rest->len};
    size_t taken = field.len + (comma ? 1 : 0);
    rest->at += taken;
    rest->len -= taken;
    return field;
}

static int8_t decode_hit(span text)
{
    text = strobe_report_span_trim(text);
    return strobe_report_span_is(text, "1") || strobe_report_span_is(text, "true") ||
           strobe_report_span_is(text, "True");
}

/* Name, hash, device, hit and id after the first ':'; older messages have no hit. */
static int decode_prefix(span text, struct prefix *out)
{
    *out = (struct prefix){.cache_hit = -1};
    const char *colon = memchr(text.at, ':', text.len);
    if (!colon)
        return 0;
    span rest = {colon + 1, text.len - (size_t)(colon + 1 - text.at)}, fields[5];
    int n = 0;
    while (n < 5 && (n == 0 || rest.len))
        fields[n++] = take_field(&rest);
    out->code = strip_quotes(fields[0]);
    out->has_hash = n > 1 && strobe_report_span_uint(fields[1], &out->hash);
    out->has_device = n > 2 && strobe_report_span_int(fields[2], &out->device);
    if (n > 4)
        out->cache_hit = decode_hit(fields[3]);
    if (n > 3)
        out->has_id = strobe_report_span_uint(fields[n > 4 ? 4 : 3], &out->id);
    return n;
}

/* The description that a (device, hash) stands for now; UINT32_MAX when none came yet. */
static uint32_t find_hash(const struct strobe_report_host *host, int64_t device, uint64_t hash,
                          uint32_t *at)
{
    const struct strobe_index *index = &host->by_hash;
    uint32_t desc =
        strobe_index_first(index, strobe_hash_pair(hash, (uint64_t)device, index->seed), at);
    for (; desc != UINT32_MAX; desc = strobe_index_next(index, at)) {
        const struct strobe_report_desc *known = host->descs.all[desc];
        if (known->device == device && known->hash == hash)
            break;
    }
    return desc;
}

static enum strobe_err remember_hash(struct strobe_report_host *host, int64_t device, uint64_t hash,
                                     uint32_t desc)
{
    uint32_t at;
    if (find_hash(host, device, hash, &at) == UINT32_MAX)
        return strobe_index_add(
            &host->by_hash,
            strobe_hash_pair(hash, (uint64_t)device, strobe_index_seed(&host->by_hash)), desc);
    strobe_index_set(&host->by_hash, at, desc);
    return STROBE_OK;
}

/* Index of a device's state, added when new; -1 without memory. */
static int device_state(struct strobe_report_host *host, int64_t device)
{
    for (uint32_t i = 0; i < host->n_devices; i++)
        if (host->devices[i].device == device)
            return (int)i;
    if (STROBE_ARRAY_RESERVE_TIGHT(host->devices, host->n_devices))
        return -1;
    host->devices[host->n_devices].device = device;
    host->devices[host->n_devices].trace = STROBE_REPORT_NONE;
    host->devices[host->n_devices].last_id = STROBE_REPORT_NONE;
    return (int)host->n_devices++;
}

static void check_order(struct strobe_report_host *host, int state, uint64_t id, uint64_t line)
{
    int64_t program = (int64_t)(id >> STROBE_REPORT_DEVICE_BITS);
    if (program < host->devices[state].last_id)
        strobe_report_fault_add(
            host->faults, STROBE_REPORT_FAULT_ID_ORDER, FILE_NAME, line, "op %llu after op id %lld",
            (unsigned long long)id,
            (long long)(host->devices[state].last_id << STROBE_REPORT_DEVICE_BITS));
    else
        host->devices[state].last_id = program;
}

/* An op's message was understood as far as its id. */
static enum strobe_err place_op(struct strobe_report_host *host, uint64_t id, int64_t device,
                                int64_t ns, uint64_t line, struct strobe_report_op **out)
{
    bool is_new;
    struct strobe_report_op *op = strobe_report_host_op(host, id, &is_new);
    if (!op)
        return STROBE_ERR_NOMEM;
    if (!is_new)
        strobe_report_fault_add(host->faults, STROBE_REPORT_FAULT_DOUBLE_OP, FILE_NAME, line,
                                "op %llu", (unsigned long long)id);
    op->message_ns = ns;
    op->device = device;
    op->line = line;
    op->has_message = true;
    op->waits_for_full = false;
    op->trace = STROBE_REPORT_NONE;
    *out = op;
    if (device == STROBE_REPORT_NONE)
        return STROBE_OK;
    int state = device_state(host, device);
    if (state < 0)
        return STROBE_ERR_NOMEM;
    op->trace = host->devices[state].trace;
    check_order(host, state, id, line);
    return STROBE_OK;
}

static enum strobe_err take_cached(struct strobe_report_host *host, span text, int64_t ns,
                                   uint64_t line)
{
    struct prefix prefix;
    struct strobe_report_op *op;
    int n = decode_prefix(text, &prefix);
    if (n < 4 || !prefix.has_hash || !prefix.has_device || !prefix.has_id) {
        strobe_report_fault_add(host->faults, STROBE_REPORT_FAULT_BAD_MESSAGE, FILE_NAME, line,
                                "%.*s", (int)(text.len < 80 ? text.len : 80), text.at);
        return STROBE_OK;
    }
    enum strobe_err err = place_op(host, prefix.id, prefix.device, ns, line, &op);
    if (err)
        return err;
    op->hash = prefix.hash;
    op->cache_hit = prefix.cache_hit;
    uint32_t at, known = find_hash(host, prefix.device, prefix.hash, &at);
    if (known != UINT32_MAX) {
        op->desc = known;
        return STROBE_OK;
    }
    op->waits_for_full = true;
    return strobe_report_desc_partial(&host->descs, prefix.code, "tt_dnn_device", &prefix.hash,
                                      &prefix.device, &op->desc);
}

static enum strobe_err add_unplaced(struct strobe_report_host *host, int64_t ns, uint32_t desc)
{
    if (host->n_unplaced == UNPLACED_MAX)
        return STROBE_OK;
    if (STROBE_ARRAY_RESERVE_TIGHT(host->unplaced, host->n_unplaced))
        return STROBE_ERR_NOMEM;
    host->unplaced[host->n_unplaced].ns = ns;
    host->unplaced[host->n_unplaced++].desc = desc;
    return STROBE_OK;
}

/* The JSON is unreadable: keep what the first line says. */
static enum strobe_err take_first_line(struct strobe_report_host *host, span head, int64_t ns,
                                       uint64_t line)
{
    struct prefix prefix;
    struct strobe_report_op *op;
    uint32_t desc;
    decode_prefix(head, &prefix);
    bool fallback = strobe_report_span_has(head, "FALL_BACK");
    enum strobe_err err = strobe_report_desc_partial(
        &host->descs, prefix.code, fallback ? "python_fallback" : "tt_dnn_device",
        prefix.has_hash ? &prefix.hash : NULL, prefix.has_device ? &prefix.device : NULL, &desc);
    if (err)
        return err;
    if (!prefix.has_id)
        return add_unplaced(host, ns, desc);
    int64_t device = prefix.has_device ? prefix.device : STROBE_REPORT_NONE;
    if ((err = place_op(host, prefix.id, device, ns, line, &op)))
        return err;
    op->desc = desc;
    op->hash = prefix.hash;
    op->cache_hit = prefix.cache_hit;
    op->waits_for_full = prefix.has_hash && prefix.has_device;
    op->bad_json = true;
    return STROBE_OK;
}

static enum strobe_err take_full(struct strobe_report_host *host, span head, span body, int64_t ns,
                                 uint64_t line, bool cut)
{
    struct strobe_report_desc facts;
    struct strobe_report_op *op;
    struct prefix prefix;
    uint32_t desc;
    enum strobe_err err = strobe_report_json_parse(&host->json, body.at, body.len);
    if (err == STROBE_ERR_NOMEM)
        return err;
    if (err || host->json.nodes[1].type != STROBE_JSON_OBJECT) {
        if (!cut)
            strobe_report_fault_add(host->faults, STROBE_REPORT_FAULT_BAD_JSON, FILE_NAME, line,
                                    "%.*s", (int)(head.len < 80 ? head.len : 80), head.at);
        return take_first_line(host, head, ns, line);
    }
    if ((err = strobe_report_desc_from_json(&host->descs, &host->json, 1, &desc, &facts)))
        return err;
    if (facts.has_hash && facts.has_device &&
        (err = remember_hash(host, facts.device, facts.hash, desc)))
        return err;
    decode_prefix(head, &prefix);
    if (!facts.has_id && !prefix.has_id)
        return add_unplaced(host, ns, desc);
    int64_t device = facts.has_device ? facts.device : STROBE_REPORT_NONE;
    if ((err = place_op(host, facts.has_id ? facts.id : prefix.id, device, ns, line, &op)))
        return err;
    op->desc = desc;
    op->hash = facts.hash;
    op->cache_hit = facts.cache_hit;
    if (!facts.has_hash)
        op->trace = STROBE_REPORT_NONE;
    return STROBE_OK;
}

static enum strobe_err take_op(struct strobe_report_host *host, span text, int64_t ns,
                               uint64_t line, bool cut)
{
    static const char arrow[] = " ->\n";
    const char *split = memmem(text.at, text.len, arrow, 4);
    size_t skip = 4;
    if (!split && text.len >= 3 && !memcmp(text.at + text.len - 3, arrow, 3)) {
        split = text.at + text.len - 3; /* cut right after its first line */
        skip = 3;
    }
    if (!split)
        return take_cached(host, text, ns, line);
    span head = {text.at, (size_t)(split - text.at)};
    span body = {split + skip, text.len - head.len - skip};
    return take_full(host, head, body, ns, line, cut);
}

static enum strobe_err add_replay(struct strobe_report_host *host, int64_t device, int64_t trace,
                                  int64_t ns)
{
    struct strobe_report_replays *replays =
        (struct strobe_report_replays *)strobe_report_host_replays(host, device, trace);
    if (!replays) {
        if (STROBE_ARRAY_RESERVE_TIGHT(host->replays, host->n_replays))
            return STROBE_ERR_NOMEM;
        if (strobe_index_add(&host->by_trace,
                             strobe_hash_pair((uint64_t)trace, (uint64_t)device,
                                              strobe_index_seed(&host->by_trace)),
                             host->n_replays))
            return STROBE_ERR_NOMEM;
        replays = &host->replays[host->n_replays++];
        *replays = (struct strobe_report_replays){.device = device, .trace = trace};
    }
    if (STROBE_ARRAY_RESERVE_TIGHT(replays->ns, replays->n))
        return STROBE_ERR_NOMEM;
    replays->ns[replays->n++] = ns;
    return STROBE_OK;
}

static bool decode_two_ids(span text, int64_t *device, int64_t *trace)
{
    const char *colon = memrchr(text.at, ':', text.len);
    span rest = colon ? (span){colon + 1, text.len - (size_t)(colon + 1 - text.at)} : text;
    span first = take_field(&rest), second = take_field(&rest);
    return strobe_report_span_int(first, device) && strobe_report_span_int(second, trace) &&
           !rest.len;
}

static enum strobe_err take_trace(struct strobe_report_host *host, span text, int64_t ns,
                                  uint64_t line)
{
    int64_t device, trace;
    if (!decode_two_ids(text, &device, &trace)) {
        strobe_report_fault_add(host->faults, STROBE_REPORT_FAULT_BAD_MESSAGE, FILE_NAME, line,
                                "%.*s", (int)(text.len < 80 ? text.len : 80), text.at);
        return STROBE_OK;
    }
    int state = device_state(host, device);
    if (state < 0)
        return STROBE_ERR_NOMEM;
    if (strobe_report_span_has(text, "BEGIN")) {
        host->devices[state].trace = trace;
    } else if (strobe_report_span_has(text, "END")) {
        if (host->devices[state].trace != trace)
            strobe_report_fault_add(host->faults, STROBE_REPORT_FAULT_TRACE, FILE_NAME, line,
                                    "device %lld ends trace %lld, %lld is open", (long long)device,
                                    (long long)trace, (long long)host->devices[state].trace);
        host->devices[state].trace = STROBE_REPORT_NONE;
    } else if (strobe_report_span_has(text, "REPLAY")) {
        return add_replay(host, device, trace, ns);
    }
    return STROBE_OK;
}

static enum strobe_err take_signpost(struct strobe_report_host *host, span text, int64_t ns)
{
    if (STROBE_ARRAY_RESERVE(host->signposts, host->cap_signposts, (uint64_t)host->n_signposts + 1))
        return STROBE_ERR_NOMEM;
    host->signposts[host->n_signposts++] =
        (struct strobe_report_signpost){ns, (uint32_t)host->texts.len, (uint32_t)text.len};
    strobe_out_bytes(&host->texts, text.at, text.len);
    strobe_out_char(&host->texts, 0);
    return host->texts.error ? STROBE_ERR_NOMEM : STROBE_OK;
}

/* What follows the word in an MLIR message: cells of its own, or the rest of a message that was quoted as a whole. */
static span mlir_value(const struct strobe_report_csv *csv, const char *word)
{
    span text = strobe_report_csv_cell(csv, 0);
    size_t n = strlen(word);
    if (csv->n_cells >= 3 && strobe_report_span_is(text, word)) {
        span first = csv->cells[1], last = csv->cells[csv->n_cells - 2];
        return (span){first.at, (size_t)(last.at + last.len - first.at)};
    }
    if (text.len > n && !memcmp(text.at, word, n) && text.at[n] == ';')
        return (span){text.at + n + 1, text.len - n - 1};
    return (span){NULL, 0};
}

/* "MLIR_OP_LOCATION;<place>;<ns>" and its kin hold for all ops until the next of the kind. */
static enum strobe_err take_mlir(struct strobe_report_host *host,
                                 const struct strobe_report_csv *csv)
{
    static const char *const words[] = {"MLIR_OP_LOCATION", "MLIR_CONST_EVAL_OP",
                                        "MLIR_PROGRAM_METADATA"};
    for (int i = 0; i < 3; i++) {
        span value = mlir_value(csv, words[i]);
        if (!value.at)
            continue;
        host->mlir[i] = (uint32_t)host->texts.len;
        host->has_mlir = true;
        strobe_out_bytes(&host->texts, value.at, value.len);
        strobe_out_char(&host->texts, 0);
    }
    return host->texts.error ? STROBE_ERR_NOMEM : STROBE_OK;
}

enum strobe_err strobe_report_host_message(struct strobe_report_host *host, span text, int64_t ns,
                                           uint64_t line, bool cut)
{
    if (strobe_report_span_has(text, "TT_SIGNPOST"))
        return take_signpost(host, text, ns);
    if (!strobe_report_span_has(text, "TT_DNN") && !strobe_report_span_has(text, "TT_METAL"))
        return STROBE_OK;
    if (strobe_report_span_has(text, "OP"))
        return take_op(host, text, ns, line, cut);
    static const char enqueue[] = "TT_METAL_TRACE_ENQUEUE_PROGRAM";
    bool is_enqueue =
        text.len >= sizeof enqueue - 1 && !memcmp(text.at, enqueue, sizeof enqueue - 1);
    if (strobe_report_span_has(text, "TRACE") && !is_enqueue)
        return take_trace(host, text, ns, line);
    return STROBE_OK;
}

static bool is_ours(span text)
{
    return strobe_report_span_has(text, "TT_DNN") || strobe_report_span_has(text, "TT_METAL") ||
           strobe_report_span_has(text, "TT_SIGNPOST");
}

static enum strobe_err take_row(struct strobe_report_host *host, struct strobe_report_csv *csv)
{
    span text = strobe_report_csv_cell(csv, 0);
    int64_t ns = STROBE_REPORT_NONE;
    if (text.len > 5 && !memcmp(text.at, "MLIR_", 5))
        return take_mlir(host, csv);
    if (!is_ours(text))
        return STROBE_OK;
    bool cut =
        csv->cut || csv->n_cells < 2 || !strobe_report_span_int(csv->cells[csv->n_cells - 1], &ns);
    if (cut)
        strobe_report_fault_add(host->faults, STROBE_REPORT_FAULT_CUT_LINE, FILE_NAME, csv->line,
                                "%.*s", (int)(text.len < 80 ? text.len : 80), text.at);
    host->has_messages = true;
    return strobe_report_host_message(host, text, ns, csv->line, cut);
}

enum strobe_err strobe_report_host_read_messages(struct strobe_report_host *host,
                                                 const char *folder)
{
    char path[4096];
    struct strobe_report_csv csv;
    snprintf(path, sizeof path, "%s/" FILE_NAME, folder);
    enum strobe_err err = strobe_report_csv_open(&csv, path, ';', '`');
    if (!err)
        err = strobe_report_csv_next(&csv); /* the header */
    while (!err && !(err = strobe_report_csv_next(&csv)))
        err = take_row(host, &csv);
    strobe_report_csv_close(&csv);
    if (err == STROBE_ERR_END || err == STROBE_ERR_NOTFOUND)
        err = STROBE_OK;
    if (!err && !host->has_messages)
        strobe_report_fault_add(host->faults, STROBE_REPORT_FAULT_NO_MESSAGES, FILE_NAME, 0,
                                "no op has a name, attributes or tensors");
    return err;
}

void strobe_report_host_resolve(struct strobe_report_host *host)
{
    for (uint32_t i = 0; i < host->n_ops; i++) {
        struct strobe_report_op *op = &host->ops[i];
        if (!op->waits_for_full)
            continue;
        uint32_t at, desc = find_hash(host, op->device, op->hash, &at);
        bool known = desc != UINT32_MAX;
        if (known && op->bad_json)
            op->desc = desc;
        if (op->bad_json)
            continue;
        strobe_report_fault_add(host->faults,
                                known ? STROBE_REPORT_FAULT_CACHED_EARLY
                                      : STROBE_REPORT_FAULT_CACHED_ALONE,
                                FILE_NAME, op->line, "op %llu, hash %llu",
                                (unsigned long long)op->id, (unsigned long long)op->hash);
        if (known)
            op->desc = desc;
    }
}
