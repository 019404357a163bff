/* noc_trace.c - see the header. Entries of today and of files before mid-2025 are read alike: what differs are the zones' phases, of
 * which only the times matter here.  SPDX-License-Identifier: MIT */
#include "report/noc_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/json_read.h"

enum { PLACES = STROBE_REPORT_NOC_BYTES };
/* Members that are numbers, and where they go. */
static const char *const number_names[STROBE_REPORT_NOC_NUMBERS] = {
    "sx",          "sy",          "dx",        "dy",       "mcast_start_x", "mcast_start_y",
    "mcast_end_x", "mcast_end_y", "num_bytes", "timestamp"};
#define AT(name) STROBE_REPORT_NOC_##name

typedef struct strobe_report_noc_entry entry_t;

static enum strobe_err take_bytes(void *context, char *out, size_t room, size_t *n)
{
    ssize_t got;
    do
        got = read(*(int *)context, out, room);
    while (got < 0 && errno == EINTR);
    *n = got > 0 ? (size_t)got : 0;
    return got < 0 ? strobe_err_from_errno(errno) : STROBE_OK;
}

static void keep_text(const struct strobe_json_reader *json, char *out, size_t room)
{
    size_t n = json->n_text < room - 1 ? json->n_text : room - 1;
    memcpy(out, json->text, n);
    out[n] = 0;
}

/* One member, whose name was just read. */
static enum strobe_err take_member(struct strobe_json_reader *json, entry_t *entry)
{
    enum strobe_json_token token;
    int number = -1;
    bool is_type = strobe_json_read_is(json, "type"), is_proc = strobe_json_read_is(json, "proc"),
         is_noc = strobe_json_read_is(json, "noc");
    for (int i = 0; i < STROBE_REPORT_NOC_NUMBERS; i++)
        if (strobe_json_read_is(json, number_names[i]))
            number = i;
    enum strobe_err err = strobe_json_read_next(json, &token);
    if (err)
        return err;
    if (number >= 0 && token == STROBE_TOKEN_NUMBER)
        strobe_json_read_i64(json, &entry->numbers[number]);
    else if (is_type && token == STROBE_TOKEN_STRING)
        keep_text(json, entry->type, sizeof entry->type);
    else if (is_proc && token == STROBE_TOKEN_STRING)
        keep_text(json, entry->proc, sizeof entry->proc);
    else if (is_noc && token == STROBE_TOKEN_STRING) {
        entry->has_noc = true;
        entry->noc = strobe_json_read_is(json, "NOC_1");
    }
    return strobe_json_read_skip(json, token);
}

static enum strobe_err take_entry(struct strobe_json_reader *json, entry_t *entry)
{
    enum strobe_json_token token;
    enum strobe_err err;
    *entry = (entry_t){0};
    for (int i = 0; i < STROBE_REPORT_NOC_NUMBERS; i++)
        entry->numbers[i] = INT64_MIN;
    while (!(err = strobe_json_read_next(json, &token)) && token == STROBE_TOKEN_KEY)
        if ((err = take_member(json, entry)))
            return err;
    return err;
}

static bool is_place(const entry_t *entry, int x)
{
    return entry->numbers[x] >= 0 && entry->numbers[x] < STROBE_REPORT_NOC_SIDE &&
           entry->numbers[x + 1] >= 0 && entry->numbers[x + 1] < STROBE_REPORT_NOC_SIDE;
}

static bool begins(const entry_t *entry, const char *word)
{
    return !strncmp(entry->type, word, strlen(word));
}

static bool has(const entry_t *entry, const char *word)
{
    return strstr(entry->type, word) != NULL;
}

/* An entry that moves nothing: it waits, or says where later ones go. */
static bool is_transfer(const entry_t *entry)
{
    return (begins(entry, "READ") || begins(entry, "WRITE") || begins(entry, "SEMAPHORE")) &&
           !has(entry, "BARRIER") && !has(entry, "FLUSH") && !has(entry, "SET_STATE") &&
           !has(entry, "SET_TRID") && strcmp(entry->type, "SEMAPHORE_WAIT") != 0 &&
           strcmp(entry->type, "SEMAPHORE_SET") != 0;
}

/* The far end of an entry that has none of its own: the newest that was set on this RISC. */
static void find_target(const struct strobe_report_noc_trace *trace, entry_t *entry)
{
    const entry_t *state = &trace->state;
    if (is_place(entry, AT(DX)) || is_place(entry, AT(MX)) || !trace->has_state ||
        strcmp(state->proc, entry->proc) != 0 || state->numbers[AT(SX)] != entry->numbers[AT(SX)] ||
        state->numbers[AT(SY)] != entry->numbers[AT(SY)] ||
        begins(state, "READ") != begins(entry, "READ"))
        return;
    memcpy(&entry->numbers[AT(DX)], &state->numbers[AT(DX)],
           (PLACES - AT(DX)) * sizeof entry->numbers[0]);
}

static enum strobe_err add_transfer(struct strobe_report_noc_trace *trace, const entry_t *entry)
{
    bool is_multicast = is_place(entry, AT(MX)) && is_place(entry, AT(LAST_X));
    int to = is_multicast ? AT(MX) : AT(DX);
    int64_t bytes = entry->numbers[AT(BYTES)];
    if (!is_place(entry, AT(SX)) || !is_place(entry, to) || !entry->has_noc ||
        entry->numbers[AT(TIME)] < 0 || bytes < 0 || bytes > UINT32_MAX) {
        trace->n_aside++;
        return STROBE_OK;
    }
    struct strobe_report_transfer *it = STROBE_ARRAY_PUSH(trace->all, trace->n, trace->room);
    if (!it)
        return STROBE_ERR_NOMEM;
    *it = (struct strobe_report_transfer){.time = (uint64_t)entry->numbers[AT(TIME)],
                                          .n_bytes = (uint32_t)bytes,
                                          .noc = entry->noc,
                                          .is_multicast = is_multicast,
                                          .from_x = (uint8_t)entry->numbers[AT(SX)],
                                          .from_y = (uint8_t)entry->numbers[AT(SY)],
                                          .to_x = (uint8_t)entry->numbers[to],
                                          .to_y = (uint8_t)entry->numbers[to + 1]};
    it->last_x = is_multicast ? (uint8_t)entry->numbers[AT(LAST_X)] : it->to_x;
    it->last_y = is_multicast ? (uint8_t)entry->numbers[AT(LAST_Y)] : it->to_y;
    if (begins(entry, "READ")) { /* the bytes come from the far end */
        struct strobe_report_transfer back = *it;
        it->from_x = back.to_x, it->from_y = back.to_y;
        it->to_x = it->last_x = back.from_x, it->to_y = it->last_y = back.from_y;
    }
    return STROBE_OK;
}

enum strobe_err strobe_report_noc_trace_add(struct strobe_report_noc_trace *trace, entry_t *entry)
{
    int64_t time = entry->numbers[AT(TIME)];
    if (time >= 0) {
        trace->first =
            !trace->last || (uint64_t)time < trace->first ? (uint64_t)time : trace->first;
        trace->last = (uint64_t)time > trace->last ? (uint64_t)time : trace->last;
    }
    for (int i = 0; i < PLACES; i += 2)
        if (is_place(entry, i)) {
            uint32_t x = (uint32_t)entry->numbers[i], y = (uint32_t)entry->numbers[i + 1];
            trace->max_x = x > trace->max_x ? x : trace->max_x;
            trace->max_y = y > trace->max_y ? y : trace->max_y;
        }
    if (has(entry, "SET_STATE") || has(entry, "SET_TRID")) {
        trace->state = *entry;
        trace->has_state = true;
    }
    if (begins(entry, "FABRIC") || begins(entry, "UNDEF") || begins(entry, "UNSUPPORTED"))
        trace->n_aside++;
    if (!is_transfer(entry))
        return STROBE_OK;
    find_target(trace, entry);
    return add_transfer(trace, entry);
}

static int compare_times(const void *a, const void *b)
{
    const struct strobe_report_transfer *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return memcmp(&x->from_x, &y->from_x, 6);
}

void strobe_report_noc_trace_sort(struct strobe_report_noc_trace *trace)
{
    if (trace->n)
        qsort(trace->all, (size_t)trace->n, sizeof *trace->all, compare_times);
}

enum strobe_err strobe_report_noc_trace_read(struct strobe_report_noc_trace *trace,
                                             const char *path)
{
    struct strobe_json_reader json;
    entry_t entry;
    enum strobe_json_token token;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return strobe_err_from_errno(errno);
    enum strobe_err err = strobe_json_read_source(&json, take_bytes, &fd, NULL);
    if (!err && !(err = strobe_json_read_next(&json, &token)) && token != STROBE_TOKEN_ARRAY)
        err = STROBE_ERR_FORMAT;
    while (!err && !(err = strobe_json_read_next(&json, &token)) &&
           token != STROBE_TOKEN_ARRAY_END) {
        if (token != STROBE_TOKEN_OBJECT)
            err = strobe_json_read_skip(&json, token);
        else if (!(err = take_entry(&json, &entry)))
            err = strobe_report_noc_trace_add(trace, &entry);
    }
    strobe_json_read_close(&json);
    close(fd);
    strobe_report_noc_trace_sort(trace);
    return err;
}

void strobe_report_noc_trace_free(struct strobe_report_noc_trace *trace)
{
    free(trace->all);
    *trace = (struct strobe_report_noc_trace){0};
}
