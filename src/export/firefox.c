/* firefox.c - see firefox.h. Version 49 of the processed format, which later profilers upgrade by themselves: each thread has its own tables of texts, functions, frames and stacks;
 * a stack is a frame and the stack around it.  SPDX-License-Identifier: MIT */
#include "export/firefox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json_write.h"
#include "export/stacks.h"

/* Categories: 0 user, 1 kernel, by the highest bit of an address. */
enum { GECKO_VERSION = 24, PROCESSED_VERSION = 49 };

struct stack_row {
    uint32_t prefix; /* index + 1; 0: it is outermost */
    uint32_t frame;
};

struct frame_row {
    uint32_t place, function, line, depth; /* depth: how often it was inlined */
};

struct firefox {
    const struct strobe_trace *trace; /* borrowed */
    struct strobe_stacks *stacks;     /* borrowed */
    struct strobe_out *out;
    struct strobe_json_writer json;
    int64_t thread; /* the one whose samples come; -1: none */
    /* of the thread: */
    struct strobe_textmap strings;
    struct strobe_idmap functions; /* (0, function) */
    struct strobe_idmap frame_ids; /* (depth, place) */
    struct frame_row *frames;      /* owned */
    uint32_t frames_room;
    struct strobe_idmap stack_ids; /* (prefix, frame) */
    struct stack_row *rows;        /* owned */
    uint32_t rows_room;
    struct sample_row {
        uint32_t stack; /* index + 1 */
        uint64_t tick;
    } * samples; /* owned */
    uint64_t n_samples, samples_room;
};

static int64_t string_of(struct firefox *fox, uint32_t text)
{
    uint32_t n, entry = 0;
    const char *bytes = strobe_texts_get(&fox->stacks->texts, text, &n);
    return strobe_textmap_add(&fox->strings, bytes, n, &entry) ? 0 : entry;
}

/* ---- samples to rows ---- */

static uint32_t frame_of(struct firefox *fox, uint32_t place, uint32_t depth)
{
    const struct strobe_stacks_line *line =
        &fox->stacks->lines[fox->stacks->places[place].first + depth];
    uint32_t function = strobe_idmap_add(&fox->functions, 0, line->function);
    uint32_t i = strobe_idmap_add_row(&fox->frame_ids, depth, place, (void **)&fox->frames,
                                      &fox->frames_room, sizeof *fox->frames);
    uint32_t n = fox->stacks->places[place].n;
    if (i != STROBE_IDMAP_NONE)
        fox->frames[i] = (struct frame_row){place, function, line->line, n - 1 - depth};
    return function == STROBE_IDMAP_NONE ? function : i;
}

static enum strobe_err add_sample(struct firefox *fox, const struct strobe_stacks_sample *sample)
{
    uint32_t stack = 0;
    for (uint32_t i = sample->n_places; i-- > 0;) {
        uint32_t place = sample->places[i];
        for (uint32_t k = fox->stacks->places[place].n; k-- > 0;) {
            uint32_t frame = frame_of(fox, place, k);
            uint32_t row = strobe_idmap_add_row(&fox->stack_ids, stack, frame, (void **)&fox->rows,
                                                &fox->rows_room, sizeof *fox->rows);
            if (frame == STROBE_IDMAP_NONE || row == STROBE_IDMAP_NONE)
                return STROBE_ERR_NOMEM;
            fox->rows[row] = (struct stack_row){stack, frame};
            stack = row + 1;
        }
    }
    struct sample_row *row = STROBE_ARRAY_PUSH(fox->samples, fox->n_samples, fox->samples_room);
    if (!row)
        return STROBE_ERR_NOMEM;
    *row = (struct sample_row){stack, sample->tick};
    return STROBE_OK;
}

/* ---- tables ---- */

/* A column whose value is the same in all rows; NULL: null. */
static void put_same(struct firefox *fox, const char *name, uint32_t n, const char *value)
{
    strobe_json_write_open(&fox->json, name, '[');
    for (uint32_t i = 0; i < n; i++)
        strobe_json_write_raw(&fox->json, NULL, value);
    strobe_json_write_close(&fox->json, ']');
}

enum { NO_NUMBER = -1 }; /* null */

/* A column of numbers, one per row. */
static void put_column(struct firefox *fox, const char *name, uint64_t n,
                       int64_t (*value)(struct firefox *fox, uint64_t row))
{
    strobe_json_write_open(&fox->json, name, '[');
    for (uint64_t i = 0; i < n; i++) {
        int64_t number = value(fox, i);
        if (number == NO_NUMBER)
            strobe_json_write_null(&fox->json, NULL);
        else
            strobe_json_write_i(&fox->json, NULL, number);
    }
    strobe_json_write_close(&fox->json, ']');
}

static int64_t inline_depth(struct firefox *fox, uint64_t row)
{
    return fox->frames[row].depth;
}

/* 1: of the kernel. */
static int64_t frame_category(struct firefox *fox, uint64_t row)
{
    return (int64_t)(fox->stacks->places[fox->frames[row].place].address >> 63);
}

static int64_t frame_function(struct firefox *fox, uint64_t row)
{
    return fox->frames[row].function;
}

static int64_t frame_line(struct firefox *fox, uint64_t row)
{
    return fox->frames[row].line ? (int64_t)fox->frames[row].line : NO_NUMBER;
}

static int64_t function_name(struct firefox *fox, uint64_t row)
{
    return string_of(fox, fox->stacks->functions[fox->functions.keys[row].id].name);
}

static int64_t function_file(struct firefox *fox, uint64_t row)
{
    uint32_t file = fox->stacks->functions[fox->functions.keys[row].id].file;
    return file ? string_of(fox, file) : NO_NUMBER;
}

static int64_t stack_category(struct firefox *fox, uint64_t row)
{
    return frame_category(fox, fox->rows[row].frame);
}

static int64_t stack_frame(struct firefox *fox, uint64_t row)
{
    return fox->rows[row].frame;
}

static int64_t stack_prefix(struct firefox *fox, uint64_t row)
{
    return (int64_t)fox->rows[row].prefix - 1; /* 0: NO_NUMBER */
}

static int64_t sample_stack(struct firefox *fox, uint64_t row)
{
    return (int64_t)fox->samples[row].stack - 1;
}

static void put_frames(struct firefox *fox)
{
    struct strobe_json_writer *json = &fox->json;
    uint32_t n = fox->frame_ids.n;
    strobe_json_write_open(json, "frameTable", '{');
    strobe_json_write_u(json, "length", n);
    put_same(fox, "address", n, "-1"); /* all names are known: none is to be looked up */
    put_same(fox, "nativeSymbol", n, "null");
    put_same(fox, "innerWindowID", n, "0");
    put_same(fox, "implementation", n, "null");
    put_same(fox, "column", n, "null");
    put_same(fox, "subcategory", n, "0");
    put_column(fox, "inlineDepth", n, inline_depth);
    put_column(fox, "category", n, frame_category);
    put_column(fox, "func", n, frame_function);
    put_column(fox, "line", n, frame_line);
    strobe_json_write_close(json, '}');
}

static void put_functions(struct firefox *fox)
{
    struct strobe_json_writer *json = &fox->json;
    uint32_t n = fox->functions.n;
    strobe_json_write_open(json, "funcTable", '{');
    strobe_json_write_u(json, "length", n);
    put_same(fox, "isJS", n, "false");
    put_same(fox, "relevantForJS", n, "false");
    put_same(fox, "resource", n, "-1");
    put_same(fox, "lineNumber", n, "null");
    put_same(fox, "columnNumber", n, "null");
    put_column(fox, "name", n, function_name);
    put_column(fox, "fileName", n, function_file);
    strobe_json_write_close(json, '}');
}

static void put_stacks(struct firefox *fox)
{
    struct strobe_json_writer *json = &fox->json;
    uint32_t n = fox->stack_ids.n;
    strobe_json_write_open(json, "stackTable", '{');
    strobe_json_write_u(json, "length", n);
    put_same(fox, "subcategory", n, "0");
    put_column(fox, "category", n, stack_category);
    put_column(fox, "frame", n, stack_frame);
    put_column(fox, "prefix", n, stack_prefix);
    strobe_json_write_close(json, '}');
}

static double ms_of(const struct firefox *fox, uint64_t tick)
{
    return (double)strobe_clock_rel(&fox->trace->clock, tick) / 1e6;
}

static void put_samples(struct firefox *fox)
{
    struct strobe_json_writer *json = &fox->json;
    strobe_json_write_open(json, "samples", '{');
    strobe_json_write_u(json, "length", fox->n_samples);
    strobe_json_write_string(json, "weightType", "samples");
    strobe_json_write_null(json, "weight");
    put_column(fox, "stack", fox->n_samples, sample_stack);
    strobe_json_write_open(json, "time", '[');
    for (uint64_t i = 0; i < fox->n_samples; i++)
        strobe_json_write_double(json, NULL, ms_of(fox, fox->samples[i].tick));
    strobe_json_write_close(json, ']');
    strobe_json_write_close(json, '}');
}

/* ---- a thread ---- */

static void put_empty_tables(struct firefox *fox)
{
    static const struct {
        const char *name, *value;
    } tables[] = {
        {"markers",
         "{\"length\":0,\"category\":[],\"data\":[],\"endTime\":[],\"name\":[],\"phase\":[],"
         "\"startTime\":[]}"},
        {"nativeSymbols",
         "{\"length\":0,\"address\":[],\"functionSize\":[],\"libIndex\":[],\"name\":[]}"},
        {"resourceTable", "{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],\"type\":[]}"},
        {"pausedRanges", "[]"},
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        strobe_json_write_raw(&fox->json, tables[i].name, tables[i].value);
}

static void put_names(struct firefox *fox, uint32_t thread)
{
    struct strobe_json_writer *json = &fox->json;
    const struct strobe_trace_thread *row = &fox->trace->threads[thread];
    const struct strobe_process *process = &fox->trace->processes[row->process];
    char room[STROBE_NAME_ROOM], pid[24];
    uint32_t n;
    const char *name = strobe_trace_thread_name(fox->trace, thread, room, &n);
    strobe_json_write_text(json, "name", name, n);
    name = strobe_trace_process_name(fox->trace, row->process, room, &n);
    strobe_json_write_text(json, "processName", name, n);
    strobe_json_write_string(json, "processType", "default");
    strobe_json_write_bool(json, "isMainThread", row->tid == process->pid);
    snprintf(pid, sizeof pid, "%llu", (unsigned long long)process->pid);
    strobe_json_write_string(json, "pid", pid);
    strobe_json_write_u(json, "tid", row->tid);
    strobe_json_write_u(json, "processStartupTime", 0);
    strobe_json_write_null(json, "processShutdownTime");
    strobe_json_write_u(json, "registerTime", 0);
    strobe_json_write_null(json, "unregisterTime");
}

static void forget_thread(struct firefox *fox)
{
    strobe_textmap_free(&fox->strings);
    strobe_idmap_free(&fox->functions);
    strobe_idmap_free(&fox->frame_ids);
    strobe_idmap_free(&fox->stack_ids);
    memset(&fox->strings, 0, sizeof fox->strings);
    memset(&fox->functions, 0, sizeof fox->functions);
    memset(&fox->frame_ids, 0, sizeof fox->frame_ids);
    memset(&fox->stack_ids, 0, sizeof fox->stack_ids);
    fox->n_samples = 0;
}

static void end_thread(struct firefox *fox)
{
    struct strobe_json_writer *json = &fox->json;
    if (fox->thread < 0)
        return;
    strobe_json_write_line(json, 0);
    strobe_json_write_open(json, NULL, '{');
    put_names(fox, (uint32_t)fox->thread);
    put_empty_tables(fox);
    put_frames(fox);
    put_functions(fox);
    put_stacks(fox);
    put_samples(fox);
    strobe_json_write_open(json, "stringArray", '[');
    for (uint32_t i = 0; i < fox->strings.n; i++)
        strobe_json_write_text(json, NULL, strobe_textmap_key(&fox->strings, i),
                               fox->strings.entries[i].n_key);
    strobe_json_write_close(json, ']');
    strobe_json_write_close(json, '}');
    forget_thread(fox);
    fox->thread = -1;
}

static enum strobe_err take_sample(void *context, const struct strobe_stacks_sample *sample)
{
    struct firefox *fox = context;
    if (fox->thread != sample->thread)
        end_thread(fox);
    fox->thread = sample->thread;
    return fox->out->error ? STROBE_ERR_IO : add_sample(fox, sample);
}

/* ---- all of it ---- */

static void put_meta(struct firefox *fox)
{
    struct strobe_json_writer *json = &fox->json;
    const struct strobe_clock *clock = &fox->trace->clock;
    uint64_t period_ns = strobe_stacks_period_ns(fox->stacks);
    int64_t start = strobe_clock_at(clock, clock->origin_tick);
    strobe_json_write_open(json, "meta", '{');
    strobe_json_write_raw(
        json, "categories",
        "[{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
        "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}]");
    strobe_json_write_bool(json, "debug", 0);
    strobe_json_write_raw(json, "extensions",
                          "{\"baseURL\":[],\"id\":[],\"length\":0,\"name\":[]}");
    strobe_json_write_double(json, "interval", period_ns ? (double)period_ns / 1e6 : 1);
    strobe_json_write_u(json, "preprocessedProfileVersion", PROCESSED_VERSION);
    strobe_json_write_u(json, "processType", 0);
    strobe_json_write_string(json, "product", "strobe " STROBE_VERSION);
    strobe_json_write_raw(json, "sampleUnits",
                          "{\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\",\"time\":\"ms\"}");
    strobe_json_write_double(json, "startTime",
                             ((double)start + (double)clock->real_offset_ns) / 1e6);
    strobe_json_write_bool(json, "symbolicated", 1);
    strobe_json_write_u(json, "stackwalk", 1);
    strobe_json_write_u(json, "version", GECKO_VERSION);
    strobe_json_write_bool(json, "usesOnlyOneStackType", 1);
    strobe_json_write_bool(json, "doesNotUseFrameImplementation", 1);
    strobe_json_write_bool(json, "sourceCodeIsNotOnSearchfox", 1);
    strobe_json_write_raw(json, "markerSchema", "[]");
    strobe_json_write_close(json, '}');
}

static enum strobe_err write_all(struct firefox *fox)
{
    struct strobe_json_writer *json = &fox->json;
    strobe_json_write_open(json, NULL, '{');
    put_meta(fox);
    strobe_json_write_raw(json, "libs", "[]");
    strobe_json_write_raw(json, "pages", "[]");
    strobe_json_write_open(json, "threads", '[');
    enum strobe_err err = strobe_stacks_each(fox->stacks, take_sample, fox);
    if (!err)
        end_thread(fox);
    strobe_json_write_close(json, ']');
    strobe_json_write_close(json, '}');
    strobe_out_char(fox->out, '\n');
    return err ? err : fox->out->error ? STROBE_ERR_IO : STROBE_OK;
}

enum strobe_err strobe_firefox_write(struct strobe_trace *trace,
                                     const struct strobe_samples_options *options,
                                     struct strobe_out *out, uint64_t *n_samples,
                                     uint64_t *n_bad_parts)
{
    struct strobe_stacks stacks;
    struct firefox fox = {
        .trace = trace, .stacks = &stacks, .out = out, .json = {.out = out}, .thread = -1};
    enum strobe_err err = strobe_stacks_open(trace, options, STROBE_STACKS_BY_TIME, &stacks);
    if (!err)
        err = write_all(&fox);
    *n_samples = stacks.n_samples;
    *n_bad_parts = stacks.n_bad_parts;
    forget_thread(&fox);
    free(fox.frames);
    free(fox.rows);
    free(fox.samples);
    strobe_stacks_close(&stacks);
    return err;
}
