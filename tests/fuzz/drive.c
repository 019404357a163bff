/* drive.c - the exporters over a trace that may be damaged: what each of them reads is a stranger's.
 * SPDX-License-Identifier: MIT */
#include "drive.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bridge/stream.h"
#include "export/chrome.h"
#include "export/csv.h"
#include "export/html.h"
#include "tracy_file/write.h"
#include "tracy_file/csv.h"
#include "query/cut.h"
#include "query/stats.h"
#include "query/symbols.h"
#include "engine/engine.h"

struct job {
    const char *path, *folder;
    struct strobe_trace *trace; /* NULL: the job opens it in its own way */
    uint64_t choice;
    int sink;
};

static void to_tracy(const struct job *job)
{
    struct strobe_tracy_folds folds;
    int error;
    strobe_tracy_write(job->trace, job->sink, job->folder, STROBE_TRACY_LAYOUT_14, &folds, &error);
}

static void to_chrome(const struct job *job)
{
    struct strobe_out out;
    uint64_t n_bad;
    if (!strobe_out_open(&out, job->sink))
        return;
    strobe_chrome_write(job->trace, &out, &n_bad);
    strobe_out_end(&out);
}

static void to_html(const struct job *job)
{
    struct strobe_out out;
    int fd = open(job->path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && strobe_out_open(&out, job->sink)) {
        strobe_html_write(fd, &(struct strobe_html_options){.name = "a</script>b"}, &out);
        strobe_out_end(&out);
    }
    if (fd >= 0)
        close(fd);
}

/* Zones, spans, every table of events, every table of records. */
static void put_csv(struct strobe_csv *csv, uint64_t choice)
{
    size_t n = 2 + strobe_csv_n_kinds + strobe_csv_n_facts, which = choice % n;
    struct strobe_walk walk = {.trace = csv->trace, .context = csv};
    if (which >= 2 + strobe_csv_n_kinds) {
        strobe_walk_run(&(struct strobe_walk){.trace = csv->trace});
        strobe_csv_facts[which - 2 - strobe_csv_n_kinds].put(csv);
        return;
    }
    if (which == 0) {
        walk.zones = strobe_csv_zones;
        walk.want_notes = walk.want_fibers = walk.want_open = 1;
    } else if (which == 1) {
        walk.zones = strobe_csv_spans;
        walk.want_spans = walk.want_open = 1;
    } else {
        csv->kind = &strobe_csv_kinds[which - 2];
        walk.happens = strobe_csv_put_event;
        walk.kinds = csv->kind->kinds;
    }
    strobe_walk_run(&walk);
}

static void to_csv(const struct job *job)
{
    struct strobe_out out;
    struct strobe_csv csv = {.trace = job->trace, .out = &out};
    csv.locs = calloc(STROBE_CSV_LOCS, sizeof *csv.locs);
    csv.symbols = strobe_symbols_open(job->trace);
    if (csv.locs && csv.symbols && strobe_out_open(&out, job->sink)) {
        put_csv(&csv, job->choice);
        strobe_out_end(&out);
    }
    strobe_symbols_close(csv.symbols);
    free(csv.locs);
}

static void to_tracy_csv(const struct job *job)
{
    uint64_t bits = job->choice, n_bad;
    struct strobe_tracy_csv_options options = {.sep = ",", .filter = ""};
    options.self = bits & 1;
    options.unwrap = bits >> 1 & 1;
    options.gpu = bits >> 2 & 1;
    options.messages = bits >> 3 & 1;
    options.plot = bits >> 4 & 1;
    struct strobe_out out;
    if (!strobe_out_open(&out, job->sink))
        return;
    strobe_tracy_csv_of_trace(job->trace, &options, &out, &n_bad);
    strobe_out_end(&out);
}

static void to_stats(const struct job *job)
{
    struct strobe_stats stats;
    struct strobe_stats_options options = {.gpu = job->choice & 1, .by_tick = job->choice >> 1 & 1};
    options.tick_min = strobe_clock_tick_of(&job->trace->clock, 0);
    options.tick_max = options.tick_min + (job->choice >> 8);
    strobe_stats_run(job->trace, &options, &stats);
    strobe_stats_free(&stats);
}

static void to_cut(const struct job *job)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/cut.strobe", job->folder);
    struct strobe_cut_options options = {.by_tick = job->choice & 1};
    options.tick_min = strobe_clock_tick_of(&job->trace->clock, 0);
    options.tick_max = options.tick_min + (job->choice >> 32);
    struct strobe_trace *cut;
    if (!strobe_cut_write(job->trace, &options, path, NULL) && !strobe_trace_open(path, 0, &cut)) {
        strobe_walk_run(&(struct strobe_walk){.trace = cut});
        strobe_trace_close(cut);
    }
    unlink(path);
}

static void to_bridge(const struct job *job)
{
    static const uint32_t protocols[] = {56, 63, 66, 69, 70, 74};
    struct strobe_bridge_stream stream;
    const uint8_t *frame;
    uint32_t protocol = protocols[job->choice % (sizeof protocols / sizeof protocols[0])];
    enum strobe_err err = strobe_bridge_stream_open(job->path, protocol, 0, &stream);
    for (int i = 0; !err && i < 4096; i++) {
        err = strobe_bridge_fill(&stream);
        strobe_wire_out_frame(&stream.out, &frame);
    }
    strobe_bridge_stream_free(&stream);
}

static void ask(struct strobe_engine *engine, const char *text)
{
    static struct strobe_json json;
    struct strobe_reply reply = {0};
    size_t n_frame;
    if (!strobe_json_parse(&json, text, strlen(text)))
        return;
    strobe_engine_answer(engine, &json, &reply);
    free(strobe_reply_frame(&reply, 1, 16, &n_frame));
    strobe_reply_free(&reply);
}

static void to_view(const struct job *job)
{
    static const char *const questions[] = {
        "{\"ask\":\"trace\"}",
        "{\"ask\":\"pixels\",\"width\":900,\"budget\":5000,\"lanes\":[[536870912,0,8],"
        "[536870913,0,64],[536870914,0,8],[805306368,0,9],[805306369,0,9],[805306370,0,9]]}",
        "{\"ask\":\"zone\",\"track\":536870912,\"depth\":1,\"at\":12345,\"slack\":1e9}",
        "{\"ask\":\"zone\",\"track\":805306368,\"depth\":0,\"at\":12345,\"slack\":1e12}",
        "{\"ask\":\"step\",\"track\":536870912,\"depth\":0,\"at\":0,\"to\":\"next\"}",
        "{\"ask\":\"stats\",\"from\":0,\"to\":1e9}",
        "{\"ask\":\"histogram\",\"loc\":1}",
        "{\"ask\":\"instances\",\"loc\":1,\"sort\":\"duration\"}",
        "{\"ask\":\"flame\",\"mode\":\"down\",\"limit\":1000}",
        "{\"ask\":\"flame\",\"mode\":\"up\",\"from\":0,\"to\":1e9,\"limit\":1000}",
        "{\"ask\":\"find\",\"text\":\"e\",\"what\":[\"zones\",\"texts\",\"messages\",\"tracks\"]}",
        "{\"ask\":\"messages\"}",
        "{\"ask\":\"flows\"}",
        "{\"ask\":\"frames\",\"track\":805306369}",
        "{\"ask\":\"names\",\"locs\":[1,2,3]}",
    };
    enum { N_QUESTIONS = sizeof questions / sizeof questions[0] };
    struct strobe_engine *engine;
    struct strobe_trace *trace;
    if (strobe_trace_open(job->path, 0, &trace) || strobe_engine_open(trace, "fuzz", &engine))
        return;
    ask(engine, questions[0]);
    for (unsigned i = 0; i < 4; i++)
        ask(engine, questions[(job->choice >> 8 * i) % N_QUESTIONS]);
    char path[4096];
    snprintf(path, sizeof path, "%s/saved.strobe", job->folder);
    if (job->choice >> 40 & 1) {
        const struct strobe_cut_options range = {.by_tick = 1,
                                                 .tick_min = engine->view->tick_first,
                                                 .tick_max = engine->view->tick_last,
                                                 .closed = 1};
        strobe_cut_write(engine->view->trace, &range, path, NULL);
    }
    unlink(path);
    strobe_engine_close(engine);
}

static const struct {
    const char *name;
    void (*run)(const struct job *job);
    int opens_itself;
} drivers[] = {
    {"tracy", to_tracy, 0},         {"chrome", to_chrome, 0}, {"csv", to_csv, 0},
    {"tracy csv", to_tracy_csv, 0}, {"stats", to_stats, 0},   {"cut", to_cut, 0},
    {"bridge", to_bridge, 1},       {"view", to_view, 1},     {"html", to_html, 1},
};
enum { N_DRIVERS = sizeof drivers / sizeof drivers[0] };

unsigned drive_count(void)
{
    return N_DRIVERS;
}

const char *drive_name(unsigned which)
{
    return drivers[which % N_DRIVERS].name;
}

void drive(unsigned which, const char *path, uint64_t choice, int sink, const char *folder)
{
    struct job job = {.path = path, .folder = folder, .choice = choice, .sink = sink};
    which %= N_DRIVERS;
    if (!drivers[which].opens_itself && strobe_trace_open(path, 0, &job.trace))
        return;
    drivers[which].run(&job);
    if (job.trace)
        strobe_trace_close(job.trace);
}
