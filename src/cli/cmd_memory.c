/* cmd_memory.c - strobe memory: what a program allocated, what it never freed, its peak, by place.
 * The figures: query/heap.h.  SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/chosen_run.h"
#include "cli/cli.h"
#include "cli/out.h"

static const char help[] =
    "usage: strobe memory [options] [FILE]\n"
    "\n"
    "Memory in use: peak, what was never freed, temporary blocks, by pool and by the place that "
    "allocated. Of `strobe\n"
    "record --memory`, of marks in the program (STROBE_ALLOC, STROBE_FREE) and of Tracy's. Without "
    "FILE, the newest\n"
    "trace in this folder.\n"
    "\n"
    "  --by WHAT       stack (default), function (that called the allocator), zone (that was "
    "open), pool\n"
    "  --sort WHAT     live (default: bytes that were not freed), peak (bytes at the peak), bytes, "
    "allocs,\n"
    "                  temporary (freed before their thread allocated again), growth (from A to B "
    "of --range)\n"
    "  --range A..B    allocations between A and B after the start; live is what lives at B\n"
    "  --process P     of this process: its pid or a part of its name\n"
    "  --top N         rows (default 20; with --csv and --json all)\n"
    "  --blocks        the largest blocks that live at the end, or at B\n"
    "  --over-time     bytes in use over time\n"
    "  --folded        a line per stack, outermost;...;innermost BYTES, by --sort: for flame "
    "graphs\n"
    "  --csv, --json   for programs\n"
    "\n"
    "examples:\n"
    "  strobe record --memory=all -- ./app && strobe memory\n"
    "  strobe memory --range 2s..8s --sort growth app.strobe\n";

enum { BUCKETS = 1024 };

struct settings {
    unsigned by, order;
    struct strobe_cli_top top;
    int csv, json, blocks, folded, over_time;
    struct strobe_cli_choice choice;
};

static int find_word(const char *option, const char *text, const char *(*name)(unsigned),
                     unsigned *out)
{
    for (unsigned i = 0; name(i); i++)
        if (!strcmp(text, name(i))) {
            *out = i;
            return 1;
        }
    strobe_cli_error("memory", "%s does not know '%s'; --help lists what it knows", option, text);
    return 0;
}

/* -1: go on; else the exit code. */
static int read_options(int argc, char **argv, struct settings *settings)
{
    const struct option known[] = {{"by", 1, NULL, 'b'},
                                   {"sort", 1, NULL, 's'},
                                   {"top", 1, NULL, 't'},
                                   {"csv", 0, &settings->csv, 1},
                                   {"json", 0, &settings->json, 1},
                                   {"blocks", 0, &settings->blocks, 1},
                                   {"folded", 0, &settings->folded, 1},
                                   {"over-time", 0, &settings->over_time, 1},
                                   {"help", 0, NULL, 'h'},
                                   {"range", 1, NULL, STROBE_CLI_RANGE},
                                   {"process", 1, NULL, STROBE_CLI_PROCESS},
                                   {0}};
    optind = 1;
    for (int c; (c = strobe_cli_option(argc, argv, "h", known)) != -1;) {
        int ok = c == 0;
        if (c == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        }
        if (c == 'b')
            ok = find_word("--by", optarg, strobe_heap_by_name, &settings->by);
        else if (c == 's')
            ok = find_word("--sort", optarg, strobe_heap_order_name, &settings->order);
        else if (c == 't')
            ok = strobe_cli_top_set("memory", optarg, &settings->top);
        else if (!ok)
            ok = strobe_cli_choice_set("memory", c, optarg, &settings->choice) == 1;
        if (!ok)
            return STROBE_EXIT_USAGE;
    }
    if (settings->csv + settings->json + settings->folded > 1 ||
        settings->blocks + settings->over_time + settings->folded > 1) {
        strobe_cli_error("memory", "--csv, --json and --folded exclude each other, and so do "
                                   "--blocks, --over-time and --folded");
        return STROBE_EXIT_USAGE;
    }
    if (settings->folded)
        settings->by = STROBE_HEAP_BY_STACK;
    return -1;
}

/* ---- output ---- */

struct printing {
    const struct settings *settings;
    struct strobe_trace *trace;
    struct strobe_heap *heap;
    struct strobe_heap_names names;
    struct strobe_out *out;
    struct strobe_json_writer json;
};

static int64_t rel_ns(const struct printing *p, uint64_t tick)
{
    return strobe_clock_rel(&p->trace->clock, tick);
}

/* Bytes for people, with a sign where there is one. */
static const char *show_bytes(int64_t n, char room[32])
{
    char plain[32];
    snprintf(room, 32, "%s%s", n < 0 ? "-" : "",
             strobe_number_show_bytes((uint64_t)(n < 0 ? -n : n), plain));
    return room;
}

static void put_sums_json(struct printing *p, const struct strobe_heap_sums *sums,
                          uint64_t peak_bytes)
{
    strobe_json_write_u(&p->json, "allocs", sums->n_allocs);
    strobe_json_write_u(&p->json, "frees", sums->n_frees);
    strobe_json_write_u(&p->json, "bytes", sums->bytes);
    strobe_json_write_u(&p->json, "temporary", sums->n_temporary);
    strobe_json_write_u(&p->json, "peak_bytes", peak_bytes);
    strobe_json_write_u(&p->json, "live", sums->n_live);
    strobe_json_write_u(&p->json, "live_bytes", sums->live_bytes);
    strobe_json_write_u(&p->json, "before", sums->n_before);
    strobe_json_write_u(&p->json, "before_bytes", sums->before_bytes);
}

static void put_sums_csv(struct printing *p, const struct strobe_heap_sums *sums,
                         uint64_t peak_bytes)
{
    strobe_out_format(p->out,
                      "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                      ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
                      sums->n_allocs, sums->n_frees, sums->bytes, sums->n_temporary, peak_bytes,
                      sums->n_live, sums->live_bytes, sums->n_before, sums->before_bytes);
}
#define SUMS_CSV "allocs,frees,bytes,temporary,peak_bytes,live,live_bytes,before,before_bytes"

static void put_sums_text(struct printing *p, const struct strobe_heap_sums *sums,
                          uint64_t peak_bytes)
{
    char room[32];
    if (p->settings->choice.range.is_set)
        strobe_out_format(p->out, "%10s ",
                          show_bytes((int64_t)(sums->live_bytes - sums->before_bytes), room));
    strobe_out_format(p->out, "%10s", show_bytes((int64_t)sums->live_bytes, room));
    strobe_out_format(p->out, " %9s", strobe_number_show_count(sums->n_live, room));
    strobe_out_format(p->out, " %10s", show_bytes((int64_t)peak_bytes, room));
    strobe_out_format(p->out, " %11s", strobe_number_show_count(sums->n_allocs, room));
    strobe_out_format(p->out, " %10s", show_bytes((int64_t)sums->bytes, room));
    strobe_out_format(p->out, " %11s  ", strobe_number_show_count(sums->n_temporary, room));
}

static void put_sums_head(struct printing *p, const char *last)
{
    if (p->settings->choice.range.is_set)
        strobe_out_format(p->out, "%10s ", "growth");
    strobe_out_format(p->out, "%10s %9s %10s %11s %10s %11s  %s\n", "live", "blocks", "peak",
                      "allocs", "bytes", "temporary", last);
}

/* When the peak was; of nothing, the trace's begin. */
static int64_t peak_ns(const struct printing *p, uint64_t tick)
{
    return tick ? rel_ns(p, tick) : 0;
}

static void put_summary(struct printing *p)
{
    const struct strobe_heap *heap = p->heap;
    char a[32], b[32], c[32], d[32], e[32];
    strobe_out_format(p->out, "%s allocations of %s, %s of them temporary; peak %s at %s",
                      strobe_number_show_count(heap->sums.n_allocs, a),
                      strobe_number_show_bytes(heap->sums.bytes, b),
                      strobe_number_show_count(heap->sums.n_temporary, c),
                      strobe_number_show_bytes(heap->peak_bytes, d),
                      strobe_number_show_ns((uint64_t)peak_ns(p, heap->peak_tick), e));
    strobe_out_format(p->out, "; %s blocks of %s %s\n",
                      strobe_number_show_count(heap->sums.n_live, a),
                      strobe_number_show_bytes(heap->sums.live_bytes, b),
                      p->settings->choice.range.is_set ? "live at its end" : "were never freed");
    if (heap->n_unknown_frees)
        strobe_out_format(p->out, "%s frees are of blocks that were made before the recording\n",
                          strobe_number_show_count(heap->n_unknown_frees, a));
    if (heap->n_sampled)
        strobe_out_format(p->out,
                          "sampled: the figures are estimates, made of %s blocks that stand for "
                          "others\n",
                          strobe_number_show_count(heap->n_sampled, a));
}

/* ---- pools ---- */

static void put_pool(struct printing *p, uint32_t pool)
{
    const struct strobe_heap_pool *at = &p->heap->pools[pool];
    char room[STROBE_NAME_ROOM], process_room[STROBE_NAME_ROOM];
    uint32_t n, n_process;
    const char *name = strobe_heap_pool_name(p->trace, p->heap, pool, room, &n);
    const char *process =
        strobe_trace_process_name(p->trace, at->process, process_room, &n_process);
    if (p->settings->json) {
        strobe_json_write_line(&p->json, 2);
        strobe_json_write_open(&p->json, NULL, '{');
        strobe_json_write_text(&p->json, "pool", name, n);
        strobe_json_write_text(&p->json, "process", process, n_process);
        strobe_json_write_u(&p->json, "pid", p->trace->processes[at->process].pid);
        put_sums_json(p, &at->sums, at->peak_bytes);
        strobe_json_write_i(&p->json, "peak_ns", peak_ns(p, at->peak_tick));
        strobe_json_write_u(&p->json, "unknown_frees", at->n_unknown_frees);
        strobe_json_write_close(&p->json, '}');
        return;
    }
    put_sums_text(p, &at->sums, at->peak_bytes);
    strobe_out_terminal(p->out, name, n);
    strobe_out_text(p->out, "  ");
    strobe_out_terminal(p->out, process, n_process);
    strobe_out_char(p->out, '\n');
}

static void put_pools(struct printing *p)
{
    if (p->settings->json)
        strobe_json_write_open(&p->json, "pools", '[');
    else
        put_sums_head(p, "pool  process");
    for (uint32_t i = 0; i < p->heap->pool_ids.n; i++)
        put_pool(p, i);
    if (p->settings->json)
        strobe_json_write_close(&p->json, ']');
    else
        strobe_out_char(p->out, '\n');
}

/* ---- places ---- */

/* On a terminal a stack is shown from inside, its innermost functions. */
static void put_short_stack(struct strobe_out *out, const char *name, uint32_t n)
{
    enum { SHOWN = 6 };
    uint32_t end = n;
    for (int i = 0; i < SHOWN; i++) {
        uint32_t at = end;
        while (at && name[at - 1] != ';')
            at--;
        if (i)
            strobe_out_text(out, " < ");
        strobe_out_terminal(out, name + at, end - at);
        if (!at)
            return;
        end = at - 1;
    }
    strobe_out_text(out, " < ...");
}

static void put_row(struct printing *p, const struct strobe_heap_rows *rows, uint32_t i)
{
    const struct strobe_heap_row *row = &rows->rows[i];
    uint32_t n;
    const char *name = strobe_texts_get(&rows->texts, row->name, &n);
    if (p->settings->folded) {
        int64_t weight = strobe_heap_row_weight(row, p->settings->order);
        if (weight <= 0)
            return;
        strobe_out_terminal(p->out, name, n);
        strobe_out_format(p->out, " %" PRIi64 "\n", weight);
    } else if (p->settings->json) {
        strobe_json_write_line(&p->json, 2);
        strobe_json_write_open(&p->json, NULL, '{');
        strobe_json_write_text(&p->json, strobe_heap_by_name(p->settings->by), name, n);
        strobe_json_write_u(&p->json, "pid", p->trace->processes[row->process].pid);
        put_sums_json(p, &row->sums, row->peak_bytes);
        strobe_json_write_close(&p->json, '}');
    } else if (p->settings->csv) {
        strobe_out_csv(p->out, name, n);
        strobe_out_format(p->out, ",%" PRIu64 ",", p->trace->processes[row->process].pid);
        put_sums_csv(p, &row->sums, row->peak_bytes);
        strobe_out_char(p->out, '\n');
    } else {
        put_sums_text(p, &row->sums, row->peak_bytes);
        if (p->settings->by == STROBE_HEAP_BY_STACK)
            put_short_stack(p->out, name, n);
        else
            strobe_out_terminal(p->out, name, n);
        strobe_out_char(p->out, '\n');
    }
}

static enum strobe_err put_rows(struct printing *p)
{
    const struct settings *settings = p->settings;
    struct strobe_heap_rows rows = {0};
    enum strobe_err err =
        strobe_heap_rows_make(p->trace, p->heap, settings->by, settings->order, &p->names, &rows);
    uint64_t n = strobe_cli_top_of(&settings->top,
                                   settings->csv || settings->json || settings->folded, rows.ids.n);
    if (settings->json)
        strobe_json_write_open(&p->json, "rows", '[');
    else if (settings->csv)
        strobe_out_format(p->out, "%s,pid," SUMS_CSV "\n", strobe_heap_by_name(settings->by));
    else if (!settings->folded)
        put_sums_head(p, strobe_heap_by_name(settings->by));
    for (uint32_t i = 0; !err && i < n; i++)
        put_row(p, &rows, i);
    if (settings->json)
        strobe_json_write_close(&p->json, ']');
    else if (!settings->csv && !settings->folded && n < rows.ids.n)
        strobe_out_format(p->out, "and %" PRIu64 " more\n", rows.ids.n - n);
    strobe_heap_rows_free(&rows);
    return err;
}

/* ---- blocks, and use over time ---- */

static void put_block(struct printing *p, const struct strobe_heap_block *block, char *room)
{
    size_t n =
        strobe_heap_site_name(p->trace, p->heap, block->site, p->settings->by, &p->names, room);
    char size[32], time[32], thread_room[STROBE_NAME_ROOM];
    uint32_t n_thread;
    const char *thread = strobe_trace_thread_name(p->trace, block->thread, thread_room, &n_thread);
    int64_t ns = rel_ns(p, block->tick);
    if (p->settings->json) {
        strobe_json_write_line(&p->json, 2);
        strobe_json_write_open(&p->json, NULL, '{');
        strobe_json_write_u(&p->json, "address", block->address);
        strobe_json_write_u(&p->json, "size", block->size);
        strobe_json_write_u(&p->json, "weight", block->weight);
        strobe_json_write_i(&p->json, "time_ns", ns);
        strobe_json_write_text(&p->json, "thread", thread, n_thread);
        strobe_json_write_text(&p->json, strobe_heap_by_name(p->settings->by), room, n);
        strobe_json_write_close(&p->json, '}');
    } else if (p->settings->csv) {
        strobe_out_format(p->out, "0x%" PRIx64 ",%" PRIu64 ",%" PRIu64 ",%" PRIi64 ",",
                          block->address, block->size, block->weight, ns);
        strobe_out_csv(p->out, thread, n_thread);
        strobe_out_char(p->out, ',');
        strobe_out_csv(p->out, room, n);
        strobe_out_char(p->out, '\n');
    } else {
        strobe_out_format(p->out, "%#18" PRIx64 " %10s %12s  ", block->address,
                          strobe_number_show_bytes(block->size, size),
                          strobe_number_show_ns((uint64_t)(ns < 0 ? 0 : ns), time));
        put_short_stack(p->out, room, (uint32_t)n);
        strobe_out_char(p->out, '\n');
    }
}

static enum strobe_err put_blocks(struct printing *p)
{
    char *room = malloc(STROBE_HEAP_NAME_ROOM);
    if (!room)
        return STROBE_ERR_NOMEM;
    if (p->settings->json)
        strobe_json_write_open(&p->json, "blocks", '[');
    else if (p->settings->csv)
        strobe_out_format(p->out, "address,size,weight,time_ns,thread,%s\n",
                          strobe_heap_by_name(p->settings->by));
    else
        strobe_out_format(p->out, "%18s %10s %12s  %s\n", "address", "size", "since",
                          strobe_heap_by_name(p->settings->by));
    for (uint32_t i = 0; i < p->heap->n_blocks; i++)
        put_block(p, &p->heap->blocks[i], room);
    if (p->settings->json)
        strobe_json_write_close(&p->json, ']');
    free(room);
    return STROBE_OK;
}

static void put_over_time(struct printing *p)
{
    const struct strobe_heap *heap = p->heap;
    char time[32], most[32], last[32];
    if (p->settings->json)
        strobe_json_write_open(&p->json, "over_time", '[');
    else
        strobe_out_text(p->out, p->settings->csv ? "time_ns,most_bytes,last_bytes\n"
                                                 : "      time       most       last\n");
    for (uint32_t i = 0; i < heap->series.n; i++) {
        int64_t ns = rel_ns(p, heap->series_first + ((uint64_t)i << heap->series_shift));
        if (p->settings->json)
            strobe_out_format(p->out, "%s[%" PRIi64 ",%" PRIu64 ",%" PRIu64 "]", i ? "," : "", ns,
                              heap->series.most[i], heap->series.last[i]);
        else if (p->settings->csv)
            strobe_out_format(p->out, "%" PRIi64 ",%" PRIu64 ",%" PRIu64 "\n", ns,
                              heap->series.most[i], heap->series.last[i]);
        else
            strobe_out_format(p->out, "%10s %10s %10s\n",
                              strobe_number_show_ns((uint64_t)(ns < 0 ? 0 : ns), time),
                              strobe_number_show_bytes(heap->series.most[i], most),
                              strobe_number_show_bytes(heap->series.last[i], last));
    }
    if (p->settings->json)
        strobe_json_write_close(&p->json, ']');
}

static enum strobe_err put_all(struct printing *p)
{
    const struct settings *settings = p->settings;
    int is_plain = !settings->csv && !settings->json && !settings->folded;
    enum strobe_err err = STROBE_OK;
    if (settings->json) {
        strobe_json_write_open(&p->json, NULL, '{');
        strobe_cli_put_coverage_json(&p->json, p->trace);
        put_sums_json(p, &p->heap->sums, p->heap->peak_bytes);
        strobe_json_write_i(&p->json, "peak_ns", peak_ns(p, p->heap->peak_tick));
        strobe_json_write_u(&p->json, "unknown_frees", p->heap->n_unknown_frees);
        strobe_json_write_u(&p->json, "sampled", p->heap->n_sampled);
        put_pools(p);
    } else if (is_plain && !settings->over_time) {
        put_summary(p);
        put_pools(p);
    }
    if (settings->blocks)
        err = put_blocks(p);
    else if (settings->over_time)
        put_over_time(p);
    else
        err = put_rows(p);
    if (settings->json) {
        strobe_json_write_close(&p->json, '}');
        strobe_out_char(p->out, '\n');
    } else if (is_plain) {
        strobe_cli_put_coverage(p->out, p->trace);
        strobe_out_char(p->out, '\n');
    }
    return err;
}

/* ---- the command ---- */

static int print(const struct settings *settings, struct strobe_trace *trace,
                 struct strobe_heap *heap, const char *path)
{
    struct strobe_symbols *symbols = strobe_symbols_open(trace);
    struct strobe_out out;
    if (!symbols || !strobe_out_open(&out, 1)) {
        strobe_symbols_close(symbols);
        return strobe_cli_fail("memory", path, STROBE_ERR_NOMEM);
    }
    struct printing printing = {settings, trace,        heap, strobe_cli_stack_names(symbols),
                                &out,     {.out = &out}};
    enum strobe_err err = put_all(&printing);
    int code = strobe_out_close(&out, "memory");
    strobe_symbols_close(symbols);
    return err ? strobe_cli_fail("memory", path, err) : code;
}

static int run(const void *context, struct strobe_trace *trace, const char *path,
               const struct strobe_cli_chosen *chosen)
{
    const struct settings *settings = context;
    const struct strobe_heap_options options = {
        .processes = chosen->processes,
        .n_processes = chosen->n_processes,
        .from = chosen->by_tick ? chosen->tick_min : 0,
        .to = chosen->by_tick ? chosen->tick_max : UINT64_MAX,
        .n_blocks = settings->blocks ? (uint32_t)settings->top.n : 0,
        .n_buckets = settings->over_time ? BUCKETS : 0,
    };
    struct strobe_heap heap;
    int code;
    enum strobe_err err = strobe_heap_run(trace, &options, &heap);
    if (err)
        code = strobe_cli_fail("memory", path, err);
    else
        code = print(settings, trace, &heap, path);
    if (!err && !heap.pool_ids.n)
        strobe_cli_error("memory", "%s has no allocations; `strobe record --memory` records them",
                         path);
    strobe_cli_warn_damage("memory", trace, heap.ordered.n_bad_parts);
    strobe_heap_free(&heap);
    return code;
}

int strobe_cli_memory(int argc, char **argv)
{
    struct settings settings = {.top = {.n = 20}};
    int code = read_options(argc, argv, &settings);
    return code >= 0
               ? code
               : strobe_cli_chosen_run("memory", argc, argv, &settings.choice, run, &settings);
}
