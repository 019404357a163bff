/* perf_data.c - perf's own file: samples with the chains that the kernel walked, mappings, names and switches of threads. Two passes: names of threads first, because the last one
 * counts. Functions are named by readers, by module and build id (query/symbols.h); copies of stacks (--call-graph dwarf) are not unwound, which is said.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/varint.h"
#include "import/perf_file.h"
#include "import/stacks_file.h"

#define CONTEXT_MAX     ((uint64_t)-4095)
#define KERNEL_BEGIN    (1ull << 63)
#define KERNEL_PID      UINT32_MAX
#define SAMPLE_ID_ALL   (1ull << 18)
#define IS_FREQUENCY    (1ull << 10)
#define MISC_BUILD_ID   (1 << 14)
#define MISC_SWITCH_OUT (1 << 13)
enum { BUILD_ID_MOST = 20, USER_RECORDS = 64 };

struct perf_data {
    struct strobe_stacks_in *in; /* borrowed */
    struct strobe_perf_file file;
    struct strobe_map names; /* pid << 32 | tid: entry of texts + 1 */
    struct strobe_textmap texts;
    struct strobe_map kernels; /* threads' processes that have the kernel's module: pid */
    uint64_t addresses[STROBE_STACKS_IN_DEPTH];
};

/* What a record says of where and when it was. */
struct place {
    uint64_t time_ns;
    uint32_t pid, tid, cpu;
};

static uint32_t get_u32(struct strobe_bytes *in)
{
    uint32_t value = 0;
    const uint8_t *at = strobe_get_bytes(in, sizeof value);
    if (at)
        memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t get_u64(struct strobe_bytes *in)
{
    uint64_t value = 0;
    const uint8_t *at = strobe_get_bytes(in, sizeof value);
    if (at)
        memcpy(&value, at, sizeof value);
    return value;
}

/* A text that fills the rest, or ends with a NUL before. */
static struct strobe_stacks_text get_text(struct strobe_bytes *in, size_t n_behind)
{
    size_t n = strobe_bytes_left(in);
    n = n > n_behind ? n - n_behind : 0;
    const char *at = (const char *)strobe_get_bytes(in, n);
    return (struct strobe_stacks_text){at ? at : "", at ? strnlen(at, n) : 0};
}

/* ---- names ---- */

static enum strobe_err take_name(void *context, const struct strobe_perf_record_in *record)
{
    struct perf_data *data = context;
    struct strobe_bytes in = strobe_bytes_over(record->body, record->n);
    uint32_t entry;
    if (record->type != STROBE_PERF_RECORD_COMM)
        return STROBE_OK;
    uint64_t pid = get_u32(&in), tid = get_u32(&in);
    struct strobe_stacks_text text = get_text(&in, 0);
    enum strobe_err err = strobe_textmap_add(&data->texts, text.at, text.n, &entry);
    return in.bad ? STROBE_OK
           : err  ? err
                  : strobe_map_put(&data->names, pid << 32 | tid, entry + 1ull);
}

static struct strobe_stacks_text name_of(const struct perf_data *data, uint64_t pid, uint64_t tid)
{
    uint64_t entry = strobe_map_get(&data->names, pid << 32 | tid, 0);
    if (!entry)
        return (struct strobe_stacks_text){"", 0};
    return (struct strobe_stacks_text){strobe_textmap_key(&data->texts, (uint32_t)entry - 1),
                                       data->texts.entries[entry - 1].n_key};
}

static uint32_t thread_of(struct perf_data *data, uint32_t pid, uint32_t tid)
{
    return strobe_stacks_in_thread(data->in, pid, name_of(data, pid, pid), tid,
                                   name_of(data, pid, tid));
}

/* All of the kernel is one module of each process. */
static void add_kernel(struct perf_data *data, uint32_t thread, uint32_t pid)
{
    static const struct strobe_stacks_text none = {"", 0}, kernel = {"[kernel]", 8};
    if (strobe_map_find(&data->kernels, pid) || strobe_map_put(&data->kernels, pid, 1))
        return;
    strobe_stacks_in_module(data->in, thread, KERNEL_BEGIN, KERNEL_BEGIN - 4096, 0, none, kernel);
}

/* ---- mappings ---- */

static size_t put_hex(char *out, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sprintf(out + 2 * i, "%02x", bytes[i]);
    return 2 * n;
}

/* The build id that the file's head has of a path. */
static size_t build_id_of(const struct perf_data *data, struct strobe_stacks_text path, char *out)
{
    const struct strobe_textmap *ids = &data->file.build_ids;
    uint32_t entry = strobe_textmap_find(ids, path.at, path.n);
    if (entry == STROBE_INDEX_NONE)
        return 0;
    uint64_t value = ids->entries[entry].value;
    return put_hex(out, data->file.bytes + (value >> 8), value & 0xff);
}

static void take_mapping(struct perf_data *data, const struct strobe_perf_record_in *record)
{
    struct strobe_bytes in = strobe_bytes_over(record->body, record->n);
    char hex[2 * BUILD_ID_MOST + 1] = "";
    size_t n_hex = 0;
    uint32_t pid = get_u32(&in), tid = get_u32(&in);
    uint64_t base = get_u64(&in), size = get_u64(&in), offset = get_u64(&in);
    if (record->type == STROBE_PERF_RECORD_MMAP2) {
        const uint8_t *id = strobe_get_bytes(&in, 24);
        if (id && record->misc & MISC_BUILD_ID && id[0] <= BUILD_ID_MOST)
            n_hex = put_hex(hex, id + 4, id[0]);
        get_u64(&in); /* protection and flags */
    }
    struct strobe_stacks_text path = get_text(&in, 0);
    if (in.bad) {
        strobe_stacks_in_leave_out(data->in, "mappings were left out: cut off", 1);
        return;
    }
    if (pid == KERNEL_PID || base >= KERNEL_BEGIN || !size)
        return;
    uint32_t thread = thread_of(data, pid, tid);
    if (!n_hex)
        n_hex = build_id_of(data, path, hex);
    if (thread)
        strobe_stacks_in_module(data->in, thread, base, size, offset,
                                (struct strobe_stacks_text){hex, n_hex}, path);
}

/* ---- samples ---- */

static const struct strobe_perf_attr *attr_of(const struct perf_data *data,
                                              const struct strobe_perf_record_in *record)
{
    const struct strobe_perf_file *file = &data->file;
    if (!(file->attrs[0].sample_type & STROBE_PERF_SAMPLE_IDENTIFIER))
        return &file->attrs[0];
    uint64_t id = strobe_perf_file_u64(record->body, record->n, 0);
    uint64_t index = strobe_map_get(&file->ids, id, 1);
    return &file->attrs[index - 1];
}

static void pass_read(struct strobe_bytes *in, uint64_t format)
{
    uint64_t n = 1, n_words;
    n_words = 1 + (format & STROBE_PERF_FORMAT_ID ? 1 : 0) + (format >> 4 & 1); /* lost */
    if (format & STROBE_PERF_FORMAT_GROUP)
        n = get_u64(in);
    if (format & STROBE_PERF_FORMAT_TOTAL_TIME_ENABLED)
        get_u64(in);
    if (format & STROBE_PERF_FORMAT_TOTAL_TIME_RUNNING)
        get_u64(in);
    if (n > strobe_bytes_left(in) / 8)
        in->bad = 1;
    else
        strobe_get_bytes(in, n * n_words * 8);
}

/* The chain without its marks; callers as their return address - 1, as our own samples have them. */
static size_t get_chain(struct perf_data *data, struct strobe_bytes *in)
{
    uint64_t n = get_u64(in);
    size_t n_put = 0;
    int is_first = 1; /* of its side: it is no return address */
    for (uint64_t i = 0; i < n && !in->bad; i++) {
        uint64_t ip = get_u64(in);
        if (ip >= CONTEXT_MAX) {
            is_first = 1;
            continue;
        }
        if (!in->bad && n_put < STROBE_STACKS_IN_DEPTH)
            data->addresses[n_put++] = is_first || !ip ? ip : ip - 1;
        is_first = 0;
    }
    return n_put;
}

static enum strobe_err take_sample(struct perf_data *data,
                                   const struct strobe_perf_record_in *record)
{
    const struct strobe_perf_attr *attr = attr_of(data, record);
    struct strobe_bytes in = strobe_bytes_over(record->body, record->n);
    uint64_t what = attr->sample_type, ip = 0;
    struct place at = {0};
    size_t n = 0;
    if (what & STROBE_PERF_SAMPLE_IDENTIFIER)
        get_u64(&in);
    if (what & STROBE_PERF_SAMPLE_IP)
        ip = get_u64(&in);
    if (what & STROBE_PERF_SAMPLE_TID) {
        at.pid = get_u32(&in);
        at.tid = get_u32(&in);
    }
    if (what & STROBE_PERF_SAMPLE_TIME)
        at.time_ns = get_u64(&in);
    if (what & STROBE_PERF_SAMPLE_ADDR)
        get_u64(&in);
    if (what & STROBE_PERF_SAMPLE_ID)
        get_u64(&in);
    if (what & STROBE_PERF_SAMPLE_STREAM_ID)
        get_u64(&in);
    if (what & STROBE_PERF_SAMPLE_CPU)
        at.cpu = (uint32_t)get_u64(&in);
    if (what & STROBE_PERF_SAMPLE_PERIOD)
        get_u64(&in);
    if (what & STROBE_PERF_SAMPLE_READ)
        pass_read(&in, attr->read_format);
    if (what & STROBE_PERF_SAMPLE_CALLCHAIN)
        n = get_chain(data, &in);
    if (!n && what & STROBE_PERF_SAMPLE_IP && !in.bad)
        data->addresses[n++] = ip;
    uint32_t thread = in.bad || at.time_ns > INT64_MAX ? 0 : thread_of(data, at.pid, at.tid);
    if (!thread) {
        strobe_stacks_in_leave_out(data->in,
                                   "samples were left out: cut off, or of too many threads", 1);
        return STROBE_OK;
    }
    add_kernel(data, thread, at.pid);
    return strobe_stacks_in_sample(data->in, thread, (int64_t)at.time_ns, at.cpu, 1,
                                   data->addresses, n);
}

/* ---- switches ---- */

/* What stands at the end of records that are no samples. 0: nothing does. */
static int read_place(const struct perf_data *data, const struct strobe_perf_record_in *record,
                      struct place *out)
{
    const struct strobe_perf_attr *attr = &data->file.attrs[0];
    static const uint64_t parts[] = {STROBE_PERF_SAMPLE_TID, STROBE_PERF_SAMPLE_TIME,
                                     STROBE_PERF_SAMPLE_ID,  STROBE_PERF_SAMPLE_STREAM_ID,
                                     STROBE_PERF_SAMPLE_CPU, STROBE_PERF_SAMPLE_IDENTIFIER};
    size_t n = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        n += attr->sample_type & parts[i] ? 8 : 0;
    if (!(attr->flags & SAMPLE_ID_ALL) || n > record->n ||
        !(attr->sample_type & STROBE_PERF_SAMPLE_TID &&
          attr->sample_type & STROBE_PERF_SAMPLE_TIME))
        return 0;
    struct strobe_bytes in = strobe_bytes_over(record->body + record->n - n, n);
    out->pid = get_u32(&in);
    out->tid = get_u32(&in);
    out->time_ns = get_u64(&in);
    if (attr->sample_type & STROBE_PERF_SAMPLE_ID)
        get_u64(&in);
    if (attr->sample_type & STROBE_PERF_SAMPLE_STREAM_ID)
        get_u64(&in);
    out->cpu = attr->sample_type & STROBE_PERF_SAMPLE_CPU ? get_u32(&in) : 0;
    return !in.bad && out->time_ns <= INT64_MAX;
}

static enum strobe_err take_switch(struct perf_data *data,
                                   const struct strobe_perf_record_in *record)
{
    struct place at = {0};
    uint32_t thread = read_place(data, record, &at) ? thread_of(data, at.pid, at.tid) : 0;
    if (!thread) {
        strobe_stacks_in_leave_out(data->in, "switches were left out: without time or thread", 1);
        return STROBE_OK;
    }
    return strobe_stacks_in_switch(data->in, thread, (int64_t)at.time_ns, at.cpu,
                                   !(record->misc & MISC_SWITCH_OUT));
}

/* ---- all of it ---- */

static enum strobe_err take_record(void *context, const struct strobe_perf_record_in *record)
{
    struct perf_data *data = context;
    switch (record->type) {
    case STROBE_PERF_RECORD_SAMPLE:
        return take_sample(data, record);
    case STROBE_PERF_RECORD_MMAP:
    case STROBE_PERF_RECORD_MMAP2:
        take_mapping(data, record);
        return STROBE_OK;
    case STROBE_PERF_RECORD_SWITCH:
    case STROBE_PERF_RECORD_SWITCH_CPU_WIDE:
        return take_switch(data, record);
    case STROBE_PERF_RECORD_LOST:
        strobe_stacks_in_leave_out(data->in, "records were lost while perf recorded",
                                   strobe_perf_file_u64(record->body, record->n, 8));
        return STROBE_OK;
    case STROBE_PERF_RECORD_LOST_SAMPLES:
        strobe_stacks_in_leave_out(data->in, "samples were lost while perf recorded",
                                   strobe_perf_file_u64(record->body, record->n, 0));
        return STROBE_OK;
    case STROBE_PERF_RECORD_THROTTLE:
        strobe_stacks_in_leave_out(data->in, "times the kernel slowed sampling down", 1);
        return STROBE_OK;
    case STROBE_PERF_RECORD_COMM:
    case STROBE_PERF_RECORD_FORK:
    case STROBE_PERF_RECORD_EXIT:
    case STROBE_PERF_RECORD_UNTHROTTLE:
        return STROBE_OK; /* tracks live as long as the trace */
    default:
        if (record->type < USER_RECORDS)
            strobe_stacks_in_leave_out(data->in, "records of other kinds were left out", 1);
        return STROBE_OK;
    }
}

/* The rate, and what the first event was. */
static void note_attr(struct perf_data *data)
{
    const struct strobe_perf_attr *attr = &data->file.attrs[0];
    struct strobe_stacks_options *options = strobe_stacks_in_options(data->in);
    int is_clock =
        attr->type == STROBE_PERF_TYPE_SOFTWARE && attr->config <= STROBE_PERF_COUNT_SW_TASK_CLOCK;
    options->has_times = 1;
    if (is_clock && attr->period)
        options->period_ns = attr->flags & IS_FREQUENCY ? 1000000000 / attr->period : attr->period;
}

static void say_rest(struct perf_data *data)
{
    if (data->file.attrs[0].sample_type & STROBE_PERF_SAMPLE_STACK_USER)
        strobe_stacks_in_say(data->in,
                             "copies of stacks (--call-graph dwarf) were not unwound: samples "
                             "have their innermost function alone");
    if (data->file.n_attrs > 1)
        strobe_stacks_in_say(data->in, "the file has samples of several events; all count alike");
    strobe_stacks_in_leave_out(data->in, "records were left out: the file ends within",
                               data->file.n_cut);
}

enum strobe_err strobe_perf_data_read(struct strobe_bytes_in *source, struct strobe_stacks_in *in)
{
    const uint8_t *bytes;
    size_t n;
    struct perf_data *data = calloc(1, sizeof *data);
    enum strobe_err err = data ? strobe_bytes_in_whole(source, &bytes, &n) : STROBE_ERR_NOMEM;
    if (!data)
        return err;
    data->in = in;
    data->texts.max_bytes = 16 << 20;
    if (!err)
        err = strobe_perf_file_open(bytes, n, &data->file);
    if (!err)
        note_attr(data);
    if (!err)
        err = strobe_perf_file_each(&data->file, take_name, data);
    if (!err)
        err = strobe_perf_file_each(&data->file, take_record, data);
    if (!err)
        say_rest(data);
    strobe_perf_file_free(&data->file);
    strobe_map_free(&data->names);
    strobe_textmap_free(&data->texts);
    strobe_map_free(&data->kernels);
    free(data);
    return err;
}
