/* cmd_locks.c - strobe locks: who waited for which lock, for how long, and who held it meanwhile.
 * The figures: query/locks.h.  SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/chosen_run.h"
#include "cli/cli.h"
#include "cli/out.h"
#include "query/locks.h"

static const char help[] =
    "usage: strobe locks [options] [FILE]\n"
    "\n"
    "Locks by the time that threads waited for them, and who held them meanwhile. Of `strobe "
    "record --locks`, of marks in\n"
    "the program (STROBE_LOCK) and of Tracy's lockables. Without FILE, the newest trace in this "
    "folder.\n"
    "\n"
    "  --waits         every pair of a waiting and a holding thread, with their zones\n"
    "  --orders        which lock was taken while another was held\n"
    "  --range A..B    waits that end between A and B after the start\n"
    "  --process P     of this process: its pid or a part of its name\n"
    "  --top N         rows (default 20; with --csv and --json all)\n"
    "  --csv, --json   for programs; all times in ns\n"
    "\n"
    "A convoy: 8 waits or more, at least half of what obtained the lock had to wait for it, and at "
    "least half of these\n"
    "waited in company. An inversion: locks that are acquired in two orders, which can block both "
    "threads for good.\n"
    "\n"
    "examples:\n"
    "  strobe record --locks -- ./server && strobe locks\n"
    "  strobe locks --waits --range 2s..3s server.strobe\n";

struct settings {
    struct strobe_cli_top top;
    int csv, json, waits, orders;
    struct strobe_cli_choice choice;
};

/* -1: go on; else the exit code. */
static int read_options(int argc, char **argv, struct settings *settings)
{
    const struct option known[] = {{"help", 0, NULL, 'h'},
                                   {"range", 1, NULL, STROBE_CLI_RANGE},
                                   {"process", 1, NULL, STROBE_CLI_PROCESS},
                                   {"waits", 0, &settings->waits, 1},
                                   {"orders", 0, &settings->orders, 1},
                                   {"json", 0, &settings->json, 1},
                                   {"csv", 0, &settings->csv, 1},
                                   {"top", 1, NULL, 't'},
                                   {0}};
    optind = 1;
    for (int c; (c = strobe_cli_option(argc, argv, "h", known)) != -1;) {
        int ok = 1;
        if (c == 'h')
            return fputs(help, stdout) < 0 ? STROBE_EXIT_FAILED : STROBE_EXIT_OK;
        if (c == 't')
            ok = strobe_cli_top_set("locks", optarg, &settings->top);
        else if (c)
            ok = strobe_cli_choice_set("locks", c, optarg, &settings->choice) == 1;
        if (!ok)
            return STROBE_EXIT_USAGE;
    }
    if (settings->csv + settings->json > 1 || settings->waits + settings->orders > 1) {
        strobe_cli_error("locks",
                         "--csv and --json exclude each other, and so do --waits and --orders");
        return STROBE_EXIT_USAGE;
    }
    return -1;
}

/* ---- names ---- */

struct printing {
    const struct settings *settings;
    struct strobe_trace *trace;
    struct strobe_locks *locks;
    struct strobe_heap_names names;
    struct strobe_out *out;
    struct strobe_json_writer json;
    char *room; /* owned by the caller: STROBE_HEAP_NAME_ROOM, for stacks */
};

/* A text with room for one that is made up. */
struct text {
    const char *at;
    uint32_t n;
    char room[STROBE_NAME_ROOM];
};

static void name_lock(const struct printing *p, uint32_t lock, struct text *out)
{
    const struct strobe_lock_row *row = &p->locks->locks[lock];
    out->at = strobe_trace_lock_name(p->trace, row->process, row->id, out->room, &out->n);
}

static void name_thread(const struct printing *p, uint32_t thread, uint64_t tid, struct text *out)
{
    if (thread != STROBE_IDMAP_NONE) {
        out->at = strobe_trace_thread_name(p->trace, thread, out->room, &out->n);
        return;
    }
    out->n = (uint32_t)(tid ? snprintf(out->room, sizeof out->room, "thread %" PRIu64, tid)
                            : snprintf(out->room, sizeof out->room, "-"));
    out->at = out->room;
}

/* What the system calls a thread; 0: not known. */
static uint64_t tid_of(const struct printing *p, uint32_t thread, uint64_t otherwise)
{
    return thread == STROBE_IDMAP_NONE ? otherwise : p->trace->threads[thread].tid;
}

static void name_zone(const struct printing *p, uint32_t process, uint64_t loc, struct text *out)
{
    out->at = "", out->n = 0;
    if (loc)
        out->at = strobe_trace_loc_name(p->trace, strobe_trace_loc(p->trace, process, loc), loc,
                                        out->room, &out->n);
}

static size_t name_stack(const struct printing *p, uint32_t lock, uint32_t stack)
{
    p->room[0] = 0;
    if (stack == STROBE_IDMAP_NONE)
        return 0;
    return strobe_call_stacks_name(&p->locks->ordered.stacks, stack, p->locks->locks[lock].process,
                                   &p->names, p->room, STROBE_HEAP_NAME_ROOM);
}

static uint64_t ns_of(const struct printing *p, uint64_t ticks)
{
    return strobe_clock_ns(&p->trace->clock, ticks);
}

static int64_t at_ns(const struct printing *p, uint64_t tick)
{
    return strobe_clock_rel(&p->trace->clock, tick);
}

static void put_csv_text(struct printing *p, const struct text *text)
{
    strobe_out_csv(p->out, text->at, text->n);
    strobe_out_char(p->out, ',');
}

/* A name for people, with words before it. */
static void put_name(const struct printing *p, const char *before, const struct text *text)
{
    strobe_out_text(p->out, before);
    strobe_out_terminal(p->out, text->at, text->n);
}

/* ---- locks ---- */

static void put_lock_json(struct printing *p, uint32_t lock)
{
    const struct strobe_lock_row *row = &p->locks->locks[lock];
    struct text name, thread;
    name_lock(p, lock, &name);
    strobe_json_write_line(&p->json, 2);
    strobe_json_write_open(&p->json, NULL, '{');
    strobe_json_write_text(&p->json, "lock", name.at, name.n);
    strobe_json_write_u(&p->json, "pid", p->trace->processes[row->process].pid);
    strobe_json_write_u(&p->json, "obtains", row->n_obtains);
    strobe_json_write_u(&p->json, "waits", row->n_waits);
    strobe_json_write_u(&p->json, "wait_ns", ns_of(p, row->wait_ticks));
    strobe_json_write_u(&p->json, "longest_wait_ns", ns_of(p, row->longest_wait));
    strobe_json_write_i(&p->json, "longest_wait_at_ns", at_ns(p, row->longest_wait_at));
    name_thread(p, row->longest_waiter, 0, &thread);
    strobe_json_write_text(&p->json, "longest_waiter", thread.at, thread.n);
    strobe_json_write_u(&p->json, "holds", row->n_holds);
    strobe_json_write_u(&p->json, "held_ns", ns_of(p, row->held_ticks));
    strobe_json_write_u(&p->json, "longest_held_ns", ns_of(p, row->longest_held));
    strobe_json_write_u(&p->json, "queued", row->n_queued);
    strobe_json_write_u(&p->json, "most_waiters", row->most_waiters);
    strobe_json_write_bool(&p->json, "only_waits", row->only_waits);
    strobe_json_write_bool(&p->json, "convoy", row->is_convoy);
    strobe_json_write_text(&p->json, "stack", p->room, name_stack(p, lock, row->stack));
    strobe_json_write_close(&p->json, '}');
}

static void put_lock_csv(struct printing *p, uint32_t lock)
{
    const struct strobe_lock_row *row = &p->locks->locks[lock];
    struct text name;
    name_lock(p, lock, &name);
    put_csv_text(p, &name);
    strobe_out_format(p->out,
                      "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIi64
                      ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%u,%d,",
                      p->trace->processes[row->process].pid, row->n_obtains, row->n_waits,
                      ns_of(p, row->wait_ticks), ns_of(p, row->longest_wait),
                      at_ns(p, row->longest_wait_at), row->n_holds, ns_of(p, row->held_ticks),
                      ns_of(p, row->longest_held), row->n_queued, row->most_waiters,
                      row->is_convoy);
    size_t n = name_stack(p, lock, row->stack);
    strobe_out_csv(p->out, p->room, n);
    strobe_out_char(p->out, '\n');
}
#define LOCK_CSV                                                                       \
    "lock,pid,obtains,waits,wait_ns,longest_wait_ns,longest_wait_at_ns,holds,held_ns," \
    "longest_held_ns,queued,most_waiters,convoy,stack\n"
#define LOCK_HEAD "    waited    waits    longest       held   obtains  at once  lock\n"

static void put_lock_text(struct printing *p, uint32_t lock)
{
    const struct strobe_lock_row *row = &p->locks->locks[lock];
    struct text name;
    char room[32];
    name_lock(p, lock, &name);
    strobe_out_format(p->out, "%10s", strobe_number_show_ns(ns_of(p, row->wait_ticks), room));
    strobe_out_format(p->out, " %8s", strobe_number_show_count(row->n_waits, room));
    strobe_out_format(p->out, " %10s", strobe_number_show_ns(ns_of(p, row->longest_wait), room));
    strobe_out_format(p->out, " %10s",
                      row->only_waits ? "-"
                                      : strobe_number_show_ns(ns_of(p, row->held_ticks), room));
    strobe_out_format(p->out, " %9s",
                      row->only_waits ? "-" : strobe_number_show_count(row->n_obtains, room));
    strobe_out_format(p->out, " %8u  ", row->most_waiters);
    strobe_out_terminal(p->out, name.at, name.n);
    strobe_out_text(p->out, row->is_convoy ? "  CONVOY\n" : "\n");
}

/* ---- pairs ---- */

static void put_pair(struct printing *p, uint32_t index)
{
    const struct strobe_lock_pair *pair = &p->locks->pairs[index];
    struct text lock, waiter, holder, waiter_zone, holder_zone;
    char ns[32], longest[32];
    name_lock(p, pair->lock, &lock);
    name_thread(p, pair->waiter, 0, &waiter);
    name_thread(p, pair->holder, pair->holder_tid, &holder);
    name_zone(p, pair->waiter_process, pair->waiter_loc, &waiter_zone);
    name_zone(p, pair->holder_process, pair->holder_loc, &holder_zone);
    size_t n_stack = name_stack(p, pair->lock, pair->stack);
    uint64_t waiter_tid = tid_of(p, pair->waiter, 0),
             holder_tid = tid_of(p, pair->holder, pair->holder_tid);
    if (p->settings->json) {
        strobe_json_write_line(&p->json, 2);
        strobe_json_write_open(&p->json, NULL, '{');
        strobe_json_write_text(&p->json, "lock", lock.at, lock.n);
        strobe_json_write_text(&p->json, "waiter", waiter.at, waiter.n);
        strobe_json_write_u(&p->json, "waiter_tid", waiter_tid);
        strobe_json_write_text(&p->json, "waiter_zone", waiter_zone.at, waiter_zone.n);
        strobe_json_write_text(&p->json, "holder", holder.at, holder.n);
        strobe_json_write_u(&p->json, "holder_tid", holder_tid);
        strobe_json_write_text(&p->json, "holder_zone", holder_zone.at, holder_zone.n);
        strobe_json_write_u(&p->json, "count", pair->n);
        strobe_json_write_u(&p->json, "wait_ns", ns_of(p, pair->ticks));
        strobe_json_write_u(&p->json, "longest_ns", ns_of(p, pair->longest));
        strobe_json_write_i(&p->json, "longest_at_ns", at_ns(p, pair->longest_at));
        strobe_json_write_text(&p->json, "stack", p->room, n_stack);
        strobe_json_write_close(&p->json, '}');
    } else if (p->settings->csv) {
        const struct text *texts[] = {&lock, &waiter, &waiter_zone, &holder, &holder_zone};
        for (int i = 0; i < 5; i++)
            put_csv_text(p, texts[i]);
        strobe_out_format(
            p->out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIi64 ",",
            waiter_tid, holder_tid, pair->n, ns_of(p, pair->ticks), ns_of(p, pair->longest),
            at_ns(p, pair->longest_at));
        strobe_out_csv(p->out, p->room, n_stack);
        strobe_out_char(p->out, '\n');
    } else {
        strobe_out_format(p->out, "%10s %8" PRIu64 " %10s  ",
                          strobe_number_show_ns(ns_of(p, pair->ticks), ns), pair->n,
                          strobe_number_show_ns(ns_of(p, pair->longest), longest));
        put_name(p, "", &lock);
        put_name(p, ": ", &waiter);
        strobe_out_format(p->out, " %" PRIu64, waiter_tid);
        put_name(p, waiter_zone.n ? " in " : "", &waiter_zone);
        put_name(p, " waited for ", &holder);
        strobe_out_format(p->out, " %" PRIu64, holder_tid);
        put_name(p, holder_zone.n ? " in " : "", &holder_zone);
        strobe_out_char(p->out, '\n');
    }
}
#define PAIR_CSV                                                                                 \
    "lock,waiter,waiter_zone,holder,holder_zone,waiter_tid,holder_tid,count,wait_ns,longest_ns," \
    "longest_at_ns,stack\n"

/* ---- orders ---- */

static void put_edge(struct printing *p, const struct strobe_lock_edge *edge)
{
    struct text held, wanted, thread;
    name_lock(p, edge->held, &held);
    name_lock(p, edge->wanted, &wanted);
    name_thread(p, edge->thread, 0, &thread);
    int64_t at = at_ns(p, edge->tick);
    char time[32];
    if (p->settings->json) {
        strobe_json_write_line(&p->json, 2);
        strobe_json_write_open(&p->json, NULL, '{');
        strobe_json_write_text(&p->json, "held", held.at, held.n);
        strobe_json_write_text(&p->json, "wanted", wanted.at, wanted.n);
        strobe_json_write_text(&p->json, "thread", thread.at, thread.n);
        strobe_json_write_i(&p->json, "first_ns", at);
        strobe_json_write_u(&p->json, "count", edge->n);
        strobe_json_write_bool(&p->json, "inverted", edge->is_inverted);
        strobe_json_write_close(&p->json, '}');
    } else if (p->settings->csv) {
        put_csv_text(p, &held);
        put_csv_text(p, &wanted);
        put_csv_text(p, &thread);
        strobe_out_format(p->out, "%" PRIi64 ",%" PRIu64 ",%d\n", at, edge->n, edge->is_inverted);
    } else {
        put_name(p, edge->is_inverted ? "INVERSION " : "", &held);
        put_name(p, ", then ", &wanted);
        strobe_out_format(p->out, ": %" PRIu64 " times, first ", edge->n);
        put_name(p, "", &thread);
        strobe_out_format(p->out, " at %s\n",
                          strobe_number_show_ns((uint64_t)(at < 0 ? 0 : at), time));
    }
}

static void put_edges(struct printing *p, int only_inverted)
{
    for (uint32_t i = 0; i < p->locks->n_edges; i++)
        if (!only_inverted || p->locks->edges[i].is_inverted)
            put_edge(p, &p->locks->edges[i]);
}

/* ---- all of it ---- */

static uint32_t n_shown(const struct settings *settings, uint32_t n)
{
    return (uint32_t)strobe_cli_top_of(&settings->top, settings->csv || settings->json, n);
}

static enum strobe_err put_locks(struct printing *p)
{
    uint32_t *order = strobe_locks_sort(p->locks);
    uint32_t n = n_shown(p->settings, p->locks->lock_ids.n);
    if (!order)
        return STROBE_ERR_NOMEM;
    if (p->settings->csv)
        strobe_out_text(p->out, LOCK_CSV);
    else if (!p->settings->json)
        strobe_out_text(p->out, LOCK_HEAD);
    for (uint32_t i = 0; i < n; i++) {
        if (p->settings->json)
            put_lock_json(p, order[i]);
        else if (p->settings->csv)
            put_lock_csv(p, order[i]);
        else
            put_lock_text(p, order[i]);
    }
    free(order);
    return STROBE_OK;
}

static enum strobe_err put_pairs(struct printing *p)
{
    uint32_t *order = strobe_locks_sort_pairs(p->locks);
    uint32_t n = n_shown(p->settings, p->locks->n_pairs);
    if (!order)
        return STROBE_ERR_NOMEM;
    if (p->settings->csv)
        strobe_out_text(p->out, PAIR_CSV);
    else if (!p->settings->json)
        strobe_out_text(p->out, "    waited    times    longest\n");
    for (uint32_t i = 0; i < n; i++)
        put_pair(p, order[i]);
    free(order);
    return STROBE_OK;
}

static enum strobe_err put_json(struct printing *p)
{
    strobe_json_write_open(&p->json, NULL, '{');
    strobe_cli_put_coverage_json(&p->json, p->trace);
    strobe_json_write_open(&p->json, "locks", '[');
    enum strobe_err err = put_locks(p);
    strobe_json_write_close(&p->json, ']');
    strobe_json_write_open(&p->json, "waits", '[');
    if (!err)
        err = put_pairs(p);
    strobe_json_write_close(&p->json, ']');
    strobe_json_write_open(&p->json, "orders", '[');
    put_edges(p, 0);
    strobe_json_write_close(&p->json, ']');
    strobe_json_write_close(&p->json, '}');
    strobe_out_char(p->out, '\n');
    return err;
}

static enum strobe_err put_all(struct printing *p)
{
    const struct settings *settings = p->settings;
    enum strobe_err err = STROBE_OK;
    if (settings->json)
        return put_json(p);
    if (settings->orders) {
        if (settings->csv)
            strobe_out_text(p->out, "held,wanted,thread,first_ns,count,inverted\n");
        put_edges(p, 0);
    } else {
        err = settings->waits ? put_pairs(p) : put_locks(p);
    }
    if (settings->csv || err)
        return err;
    if (!settings->waits && !settings->orders) {
        if (p->locks->n_pairs) {
            strobe_out_char(p->out, '\n');
            err = put_pairs(p);
        }
        put_edges(p, 1);
    }
    strobe_cli_put_coverage(p->out, p->trace);
    strobe_out_char(p->out, '\n');
    return err;
}

static int print(const struct settings *settings, struct strobe_trace *trace,
                 struct strobe_locks *locks, const char *path)
{
    struct strobe_symbols *symbols = strobe_symbols_open(trace);
    char *room = malloc(STROBE_HEAP_NAME_ROOM);
    struct strobe_out out;
    enum strobe_err err = STROBE_ERR_NOMEM;
    int code = STROBE_EXIT_OK;
    if (symbols && room && strobe_out_open(&out, 1)) {
        struct printing printing = {settings, trace,         locks, strobe_cli_stack_names(symbols),
                                    &out,     {.out = &out}, room};
        err = put_all(&printing);
        code = strobe_out_close(&out, "locks");
    }
    free(room);
    strobe_symbols_close(symbols);
    return err ? strobe_cli_fail("locks", path, err) : code;
}

static int run(const void *context, struct strobe_trace *trace, const char *path,
               const struct strobe_cli_chosen *chosen)
{
    const struct settings *settings = context;
    const struct strobe_locks_options options = {
        .processes = chosen->processes,
        .n_processes = chosen->n_processes,
        .from = chosen->by_tick ? chosen->tick_min : 0,
        .to = chosen->by_tick ? chosen->tick_max : UINT64_MAX,
    };
    struct strobe_locks locks;
    enum strobe_err err = strobe_locks_run(trace, &options, &locks);
    int code = err ? strobe_cli_fail("locks", path, err) : print(settings, trace, &locks, path);
    if (!err && !locks.lock_ids.n)
        strobe_cli_error("locks", "%s has no locks; `strobe record --locks` records them", path);
    strobe_cli_warn_damage("locks", trace, locks.ordered.n_bad_parts);
    strobe_locks_free(&locks);
    return code;
}

int strobe_cli_locks(int argc, char **argv)
{
    struct settings settings = {.top = {.n = 20}};
    int code = read_options(argc, argv, &settings);
    return code >= 0 ? code
                     : strobe_cli_chosen_run("locks", argc, argv, &settings.choice, run, &settings);
}
