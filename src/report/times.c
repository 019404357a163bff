/* times.c - reads tracy_ops_times.csv: the host zones of ops and their child calls.
 * A zone names its op in its text, "id:<op>"; a child call names its op's zone as its parent.
 * SPDX-License-Identifier: MIT */
#include "report/csv.h"
#include "base/array.h"
#include "report/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct strobe_report_span span;

#define FILE_NAME STROBE_REPORT_TIMES_FILE

static const char *const headers[] = {"name",         "zone_text", "ns_since_start",
                                      "exec_time_ns", "value",     "special_parent_text"};
enum { NAME, TEXT, START, EXEC, VALUE, PARENT, N_HEADERS };

/* The number after the last ':'. */
static bool decode_id(span text, uint64_t *id)
{
    const char *colon = text.len ? memrchr(text.at, ':', text.len) : NULL;
    if (!colon)
        return strobe_report_span_uint(text, id);
    return strobe_report_span_uint((span){colon + 1, text.len - (size_t)(colon + 1 - text.at)}, id);
}

/* A zone whose op has no message: the id itself tells the device. */
static void fill_from_zone(struct strobe_report_host *host, struct strobe_report_op *op, span name)
{
    bool fallback = op->id >> 31 & 1;
    if (!fallback && strobe_report_span_has(name, "DEVICE_OP"))
        op->device = (int64_t)(op->id & ((1u << STROBE_REPORT_DEVICE_BITS) - 1));
    for (uint32_t i = 0; i < host->n_unplaced; i++)
        if (host->unplaced[i].desc != UINT32_MAX && host->unplaced[i].ns >= op->start_ns &&
            host->unplaced[i].ns <= op->start_ns + op->exec_ns) {
            op->desc = host->unplaced[i].desc;
            op->message_ns = host->unplaced[i].ns;
            op->has_message = true;
            host->unplaced[i].desc = UINT32_MAX;
            return;
        }
}

static void note_zone(struct strobe_report_host *host, struct strobe_report_op *op, bool is_new,
                      span name, uint64_t line)
{
    if (is_new) {
        op->line = line;
        fill_from_zone(host, op, name);
    }
    if (!op->has_message && is_new && host->has_messages)
        strobe_report_fault_add(host->faults, STROBE_REPORT_FAULT_LOST_MESSAGE, FILE_NAME, line,
                                "op %llu", (unsigned long long)op->id);
}

static enum strobe_err take_zone(struct strobe_report_host *host, span name, uint64_t id,
                                 int64_t start, int64_t exec, uint64_t line)
{
    bool is_new;
    struct strobe_report_op *op = strobe_report_host_op(host, id, &is_new);
    if (!op)
        return STROBE_ERR_NOMEM;
    if (op->start_ns != STROBE_REPORT_NONE)
        strobe_report_fault_add(host->faults, STROBE_REPORT_FAULT_DOUBLE_ZONE, FILE_NAME, line,
                                "op %llu", (unsigned long long)id);
    op->start_ns = start;
    op->exec_ns = exec;
    host->has_times = true;
    note_zone(host, op, is_new, name, line);
    return STROBE_OK;
}

static uint32_t child_name(struct strobe_report_host *host, span name)
{
    uint64_t hash = strobe_hash_bytes(name.at, name.len, strobe_index_seed(&host->by_child_name));
    STROBE_INDEX_EACH (index, at, &host->by_child_name, hash)
        if (strobe_report_span_is(name, host->child_names[index]))
            return index;
    char *copy = strndup(name.at, name.len);
    if (!copy || STROBE_ARRAY_RESERVE_TIGHT(host->child_names, host->n_child_names) ||
        strobe_index_add(&host->by_child_name, hash, host->n_child_names)) {
        free(copy);
        return UINT32_MAX;
    }
    host->child_names[host->n_child_names] = copy;
    return host->n_child_names++;
}

static struct strobe_report_child *new_child(struct strobe_report_host *host)
{
    if (STROBE_ARRAY_RESERVE(host->children, host->cap_children, (uint64_t)host->n_children + 1))
        return NULL;
    return &host->children[host->n_children++];
}

/* Child calls wait in a list of their own: their op's zone may come later in the file. */
struct pending {
    uint64_t id;
    uint32_t name;
    int64_t ns;
};

struct reader {
    struct strobe_report_host *host;
    struct strobe_report_csv csv;
    int columns[N_HEADERS];
    struct pending *pending;
    size_t n_pending, cap_pending;
};

static enum strobe_err take_child(struct reader *reader, span name, uint64_t id, int64_t ns)
{
    if (STROBE_ARRAY_RESERVE(reader->pending, reader->cap_pending, (uint64_t)reader->n_pending + 1))
        return STROBE_ERR_NOMEM;
    uint32_t index = child_name(reader->host, name);
    if (index == UINT32_MAX)
        return STROBE_ERR_NOMEM;
    reader->pending[reader->n_pending++] = (struct pending){id, index, ns};
    return STROBE_OK;
}

static enum strobe_err add_child(struct strobe_report_host *host, const struct pending *call)
{
    struct strobe_report_op *op = strobe_report_host_find(host, call->id);
    if (!op)
        return STROBE_OK;
    for (uint32_t i = op->child; i != UINT32_MAX; i = host->children[i].next)
        if (host->children[i].name == call->name) {
            host->children[i].ns += call->ns;
            return STROBE_OK;
        }
    struct strobe_report_child *child = new_child(host);
    if (!child)
        return STROBE_ERR_NOMEM;
    *child = (struct strobe_report_child){call->name, op->child, call->ns};
    op->child = host->n_children - 1;
    return STROBE_OK;
}

static enum strobe_err take_row(struct reader *reader)
{
    span cell[N_HEADERS];
    for (int i = 0; i < N_HEADERS; i++)
        cell[i] = strobe_report_csv_cell(&reader->csv, reader->columns[i]);
    bool is_op = strobe_report_span_has(cell[NAME], "TT_DNN");
    bool is_zone = is_op || strobe_report_span_has(cell[NAME], "TT_METAL");
    bool is_child = strobe_report_span_has(cell[PARENT], "id:");
    uint64_t id, parent;
    int64_t start, exec;
    if (!is_zone && !is_child)
        return STROBE_OK;
    bool numbers =
        strobe_report_span_int(cell[START], &start) && strobe_report_span_int(cell[EXEC], &exec);
    bool torn = is_zone && cell[TEXT].len && memchr(cell[TEXT].at, '\n', cell[TEXT].len);
    if (torn) /* its quote was never closed: the next line went into it */
        strobe_report_fault_add(reader->host->faults, STROBE_REPORT_FAULT_CUT_LINE, FILE_NAME,
                                reader->csv.line, "a quote is not closed");
    bool has_id = is_zone && (decode_id(cell[TEXT], &id) || decode_id(cell[VALUE], &id));
    if (reader->csv.cut || !numbers || (is_op && !has_id)) {
        bool cut =
            reader->csv.cut || reader->csv.n_cells <= reader->columns[EXEC] || !cell[EXEC].len;
        strobe_report_fault_add(reader->host->faults,
                                cut ? STROBE_REPORT_FAULT_CUT_LINE : STROBE_REPORT_FAULT_BAD_CELL,
                                FILE_NAME, reader->csv.line, "zone %.*s",
                                (int)(cell[NAME].len < 80 ? cell[NAME].len : 80), cell[NAME].at);
        return STROBE_OK;
    }
    enum strobe_err err = STROBE_OK;
    if (has_id)
        err = take_zone(reader->host, cell[NAME], id, start, exec, reader->csv.line);
    if (!err && is_child && decode_id(cell[PARENT], &parent))
        err = take_child(reader, cell[NAME], parent, exec);
    return err;
}

static enum strobe_err read_header(struct reader *reader)
{
    enum strobe_err err = strobe_report_csv_next(&reader->csv);
    for (int i = 0; !err && i < N_HEADERS; i++)
        reader->columns[i] = strobe_report_csv_column(&reader->csv, headers[i]);
    if (!err && (reader->columns[NAME] < 0 || reader->columns[START] < 0)) {
        strobe_report_fault_add(reader->host->faults, STROBE_REPORT_FAULT_CUT_LINE, FILE_NAME, 1,
                                "the header lacks a column");
        for (int i = 0; i < N_HEADERS; i++) /* the columns' usual places */
            reader->columns[i] = (const int[]){0, 4, 5, 6, 8, 9}[i];
    }
    return err;
}

/* Ops of which only the message is there. */
static void note_lost_zones(struct strobe_report_host *host)
{
    for (uint32_t i = 0; i < host->n_ops && host->has_times; i++)
        if (host->ops[i].start_ns == STROBE_REPORT_NONE)
            strobe_report_fault_add(host->faults, STROBE_REPORT_FAULT_LOST_ZONE,
                                    STROBE_REPORT_MESSAGES_FILE, host->ops[i].line, "op %llu",
                                    (unsigned long long)host->ops[i].id);
    if (!host->has_times)
        strobe_report_fault_add(host->faults, STROBE_REPORT_FAULT_NO_TIMES, FILE_NAME, 0,
                                "no op has a host time");
}

enum strobe_err strobe_report_host_read_times(struct strobe_report_host *host, const char *folder)
{
    char path[4096];
    struct reader reader = {.host = host};
    snprintf(path, sizeof path, "%s/" FILE_NAME, folder);
    enum strobe_err err = strobe_report_csv_open(&reader.csv, path, ',', '"');
    if (!err)
        err = read_header(&reader);
    while (!err && !(err = strobe_report_csv_next(&reader.csv)))
        err = take_row(&reader);
    if (err == STROBE_ERR_END || err == STROBE_ERR_NOTFOUND)
        err = STROBE_OK;
    for (size_t i = 0; !err && i < reader.n_pending; i++)
        err = add_child(host, &reader.pending[i]);
    free(reader.pending);
    strobe_report_csv_close(&reader.csv);
    if (!err)
        note_lost_zones(host);
    return err;
}
