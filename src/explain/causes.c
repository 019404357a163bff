/* causes.c - the cause of a path, by rules in a fixed order, and its places. docs/explain.md has the rules and what they were
 * measured on. Each function that puts a line writes words and a query first.  SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "explain/desk.h"

enum { N_PLACES = 5, ALLOC_NS = 60 };

static const double most_unknown = 0.2; /* of the path: above it there is no verdict */
static const double least_held = 0.3;   /* of the path under a lock */
static const double least_allocs = 0.2; /* of the time of a place */
static const double most_chance = 0.01; /* that the one that comes last is nobody special */
static const double least_ahead = 0.05; /* of the path: what the last one costs */

/* of the waits of a place: so many ended while nothing of the trace ran, so all of them waited for the same elsewhere. Had
 * somebody of the trace ended them, there would be none. */
static const double least_lonely = 0.2;

/* ---- places ---- */

static void add_row(struct strobe_explain_place *place, const struct strobe_path_row *row)
{
    place->ticks += row->ticks;
    place->by_class[row->class] += row->ticks;
    place->n_allocs += row->n_allocs;
    if (row->class != STROBE_PATH_RUNNABLE && row->class != STROBE_PATH_LOCK &&
        row->held > place->held) { /* preempted, it is anywhere */
        place->held = row->held;
        place->lock = row->lock;
    }
    if (row->places[0].ticks > place->longest[0].ticks) {
        memcpy(place->longest, row->places, sizeof place->longest);
        place->thread = row->thread;
    }
}

/* What a place itself spent: that others had its processors, or that a launch was on its way, says nothing of the place. */
static uint64_t net_ticks(const struct strobe_explain_place *place)
{
    return place->ticks - place->by_class[STROBE_PATH_RUNNABLE] -
           place->by_class[STROBE_PATH_BARRIER] - place->by_class[STROBE_PATH_IDLE];
}

static int compare_places(const void *a, const void *b)
{
    const struct strobe_explain_place *x = a, *y = b;
    uint64_t x_net = net_ticks(x), y_net = net_ticks(y);
    if (x_net != y_net)
        return x_net > y_net ? -1 : 1;
    return x->ticks > y->ticks ? -1 : x->ticks < y->ticks;
}

static int compare_keys(const void *a, const void *b)
{
    const struct strobe_path_row *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->loc < y->loc ? -1 : x->loc > y->loc;
}

/* Waits of one place are of one kind. */
static void join_waits(struct strobe_explain_place *place, uint64_t *by_class)
{
    uint64_t lonely = place->by_class[STROBE_PATH_OUTSIDE];
    uint64_t others = place->by_class[STROBE_PATH_BLOCKED];
    if ((double)lonely < least_lonely * (double)(lonely + others))
        return;
    place->by_class[STROBE_PATH_OUTSIDE] += others;
    place->by_class[STROBE_PATH_BLOCKED] = 0;
    by_class[STROBE_PATH_OUTSIDE] += others;
    by_class[STROBE_PATH_BLOCKED] -= others;
}

struct strobe_explain_place *strobe_explain_places(struct strobe_explain_desk *desk, uint32_t *n)
{
    struct strobe_path *path = &desk->path;
    struct strobe_explain_place *places =
        path->n_rows ? calloc(path->n_rows, sizeof *places) : NULL;
    *n = 0;
    if (!places)
        return NULL;
    qsort(path->rows, path->n_rows, sizeof *path->rows, compare_keys);
    for (uint32_t i = 0; i < path->n_rows; i++) {
        const struct strobe_path_row *row = &path->rows[i];
        if (!i || compare_keys(row - 1, row)) {
            places[*n].process = row->process;
            places[(*n)++].loc = row->loc;
        }
        add_row(&places[*n - 1], row);
    }
    for (uint32_t i = 0; i < *n; i++)
        join_waits(&places[i], path->by_class);
    qsort(places, *n, sizeof *places, compare_places);
    return places;
}

/* ---- queries ---- */

static void ask_self(struct strobe_explain_desk *desk, const struct strobe_explain_place *place)
{
    char room[STROBE_NAME_ROOM];
    if (place->loc == STROBE_IDMAP_NONE) {
        strobe_out_format(&desk->query,
                          "SELECT count(*) FROM sample s JOIN thread t ON t.id = s.track_id WHERE "
                          "t.tid = %llu",
                          (unsigned long long)desk->trace->threads[place->thread].tid);
        strobe_explain_put_range(desk, "s.ts");
        return;
    }
    strobe_out_text(&desk->query, "SELECT sum(self) FROM zone WHERE name = ");
    strobe_explain_quote(&desk->query, strobe_explain_zone(desk, place->loc, room));
    strobe_out_format(&desk->query, " AND process_id = %u", place->process);
    strobe_explain_put_range(desk, "ts");
}

/* Time off the processor, of the thread of a place: `condition` is of the reason. */
static void ask_off(struct strobe_explain_desk *desk, const struct strobe_explain_place *place,
                    const char *condition)
{
    strobe_out_format(&desk->query,
                      "WITH e AS (SELECT s.ts, s.what, s.reason, lead(s.ts) OVER (ORDER BY s.ts) "
                      "AS back FROM switch s JOIN thread t ON t.id = s.track_id WHERE t.tid = %llu",
                      (unsigned long long)desk->trace->threads[place->thread].tid);
    strobe_explain_put_range(desk, "s.ts");
    strobe_out_format(&desk->query,
                      ") SELECT sum(back - ts) FROM e WHERE what = 'switch_out' AND %s", condition);
}

static void ask_lock(struct strobe_explain_desk *desk, const struct strobe_path_lock *lock)
{
    strobe_out_format(
        &desk->query,
        "WITH e AS (SELECT l.ts, l.what, l.waited, lag(l.what) OVER w AS before, lag(l.ts) OVER "
        "w AS since FROM lock_event l JOIN thread t ON t.id = l.track_id WHERE "
        "l.lock_id = %lld AND t.process_id = %u",
        (long long)lock->lock, lock->process);
    strobe_explain_put_range(desk, "l.ts");
    strobe_out_text(
        &desk->query,
        " WINDOW w AS (PARTITION BY l.track_id ORDER BY l.ts)) SELECT sum(CASE what WHEN "
        "'lock_waited' THEN waited ELSE ts - since END) FROM e WHERE what = "
        "'lock_waited' OR (what = 'lock_obtain' AND before = 'lock_wait')");
}

static void ask_barrier(struct strobe_explain_desk *desk, const char *name, uint32_t thread)
{
    strobe_out_text(&desk->query, "WITH z AS (SELECT track_id, ts, row_number() OVER (PARTITION BY "
                                  "track_id ORDER BY ts) AS k FROM zone WHERE name = ");
    strobe_explain_quote(&desk->query, name);
    strobe_explain_put_range(desk, "ts");
    strobe_out_format(&desk->query,
                      ") SELECT count(*) FROM (SELECT track_id, max(ts) FROM z GROUP BY k) WHERE "
                      "track_id = %u",
                      thread);
}

/* ---- rules: each puts the cause and returns 1, or finds that it does not hold ---- */

static void put_zone_name(struct strobe_explain_desk *desk, uint32_t loc)
{
    char room[STROBE_NAME_ROOM];
    strobe_out_char(&desk->text, '`');
    strobe_out_text(&desk->text, strobe_explain_zone(desk, loc, room));
    strobe_out_char(&desk->text, '`');
}

static double share_of(const struct strobe_explain_desk *desk, uint64_t ticks)
{
    return (double)ticks / (double)desk->path.ticks;
}

static int put_cause(struct strobe_explain_desk *desk, enum strobe_explain_class class,
                     const struct strobe_explain_place *place, uint64_t gain)
{
    struct strobe_explain_line *line = strobe_explain_add(desk, STROBE_EXPLAIN_CAUSE, class);
    strobe_explain_name_place(desk, line, place);
    if (line) {
        line->has_gain = 1;
        line->gain_ns = strobe_explain_ns(desk, gain);
    }
    return 1;
}

static int is_lock_cause(struct strobe_explain_desk *desk,
                         const struct strobe_explain_place *places, uint32_t n)
{
    const struct strobe_path_lock *worst = NULL;
    const struct strobe_explain_place *holder = NULL;
    for (uint32_t i = 0; i < desk->path.lock_ids.n; i++) {
        const struct strobe_path_lock *lock = &desk->path.locks[i];
        if (lock->waited > desk->path.wall / 2 && share_of(desk, lock->held) > least_held &&
            (!worst || lock->held > worst->held))
            worst = lock;
    }
    for (uint32_t i = 0; worst && i < n; i++)
        if (places[i].process == worst->process && places[i].lock == worst->lock &&
            (!holder || places[i].held > holder->held))
            holder = &places[i];
    if (!holder)
        return 0;
    char room[STROBE_NAME_ROOM], time[32];
    uint32_t n_name;
    strobe_out_text(&desk->text, "Threads wait for the lock `");
    strobe_out_text(&desk->text, strobe_trace_lock_name(desk->trace, worst->process, worst->lock,
                                                        room, &n_name));
    strobe_out_format(&desk->text, "`, %s in all",
                      strobe_number_show_ns(strobe_explain_ns(desk, worst->waited), time));
    if (holder->loc != STROBE_IDMAP_NONE) {
        strobe_out_text(&desk->text, ", while it is held in ");
        put_zone_name(desk, holder->loc);
    }
    strobe_out_format(&desk->text, ": %.0f %% of the critical path passes with it held.",
                      100 * share_of(desk, worst->held));
    ask_lock(desk, worst);
    return put_cause(desk, STROBE_EXPLAIN_LOCK, holder, worst->held);
}

/* The barrier that costs most of those that one member comes last to. */
static const struct strobe_survey_barrier *find_slow(const struct strobe_explain_desk *desk,
                                                     uint32_t *thread, uint32_t *n_last)
{
    const struct strobe_survey *survey = &desk->survey;
    const struct strobe_survey_barrier *worst = NULL;
    for (uint32_t i = 0; i < survey->names.n; i++) {
        const struct strobe_survey_barrier *barrier =
            strobe_survey_find_barrier(survey, survey->barriers[i].name);
        uint32_t count,
            last = barrier ? strobe_survey_last_thread(survey, barrier, &count) : STROBE_IDMAP_NONE;
        if (last == STROBE_IDMAP_NONE || share_of(desk, barrier->ahead) < least_ahead ||
            strobe_survey_chance(barrier->size, barrier->n_rounds, count) > most_chance ||
            (worst && worst->ahead >= barrier->ahead))
            continue;
        worst = barrier;
        *thread = last;
        *n_last = count;
    }
    return worst;
}

static int is_slow_member(struct strobe_explain_desk *desk,
                          const struct strobe_explain_place *places, uint32_t n)
{
    uint32_t thread = STROBE_IDMAP_NONE, n_last = 0, i = 0, n_bytes;
    char room[STROBE_NAME_ROOM];
    const struct strobe_survey_barrier *barrier = find_slow(desk, &thread, &n_last);
    if (!barrier)
        return 0;
    uint32_t process = strobe_items_process(desk->trace, desk->trace->threads[thread].process);
    while (i < n && (places[i].process != process || places[i].loc == STROBE_IDMAP_NONE))
        i++;
    if (i == n)
        return 0;
    const char *name = strobe_texts_get(&desk->trace->texts, barrier->name, NULL);
    strobe_out_format(&desk->text, "%s", "Process ");
    strobe_out_text(&desk->text, strobe_trace_process_name(desk->trace, process, room, &n_bytes));
    strobe_out_format(&desk->text, " (pid %llu), thread ",
                      (unsigned long long)desk->trace->processes[process].pid);
    strobe_out_text(&desk->text, strobe_trace_thread_name(desk->trace, thread, room, &n_bytes));
    strobe_out_format(&desk->text,
                      ", comes last to `%s` in %u of %u rounds of %u: the others wait "
                      "for its ",
                      name, n_last, barrier->n_rounds, barrier->size);
    put_zone_name(desk, places[i].loc);
    strobe_out_char(&desk->text, '.');
    ask_barrier(desk, name, thread);
    struct strobe_explain_place slow = places[i];
    slow.thread = thread; /* its process may have others that are in time */
    return put_cause(desk, STROBE_EXPLAIN_SLOW_MEMBER, &slow, barrier->ahead);
}

static int is_allocating(struct strobe_explain_desk *desk, const struct strobe_explain_place *place)
{
    uint64_t each_ns = ALLOC_NS + 2 * desk->trace->event_ps / 1000; /* both events of it, too */
    uint64_t cost_ns = place->n_allocs * each_ns;
    uint64_t ns = strobe_explain_ns(desk, place->by_class[STROBE_PATH_RUN]);
    if (!place->n_allocs || (double)cost_ns < least_allocs * (double)ns)
        return 0;
    char time[32];
    put_zone_name(desk, place->loc);
    strobe_out_format(
        &desk->text,
        " makes %llu allocations on the critical path: some %s at %llu ns each, %.0f %% of "
        "its time there.",
        (unsigned long long)place->n_allocs, strobe_number_show_ns(cost_ns, time),
        (unsigned long long)each_ns, fmin(100, 100.0 * (double)cost_ns / (double)ns));
    strobe_out_format(
        &desk->query,
        "SELECT count(*) FROM alloc_event WHERE what IN ('alloc', 'block') AND track_id = %u",
        place->thread);
    strobe_explain_put_range(desk, "ts");
    return put_cause(desk, STROBE_EXPLAIN_ALLOCATIONS, place, place->ticks);
}

/* The class that most of a place's own time is of. */
static enum strobe_path_class main_class(const struct strobe_explain_place *place)
{
    enum strobe_path_class best = STROBE_PATH_RUN;
    uint64_t waits = place->by_class[STROBE_PATH_IO] + place->by_class[STROBE_PATH_OUTSIDE];
    for (int i = 0; i < STROBE_PATH_N_CLASSES; i++)
        if (i != STROBE_PATH_RUNNABLE && i != STROBE_PATH_BARRIER && i != STROBE_PATH_IDLE &&
            place->by_class[i] > place->by_class[best])
            best = (enum strobe_path_class)i;
    return waits >= place->by_class[best] ? STROBE_PATH_OUTSIDE : best;
}

static int put_waiting(struct strobe_explain_desk *desk, const struct strobe_explain_place *place)
{
    put_zone_name(desk, place->loc);
    strobe_out_text(&desk->text,
                    place->by_class[STROBE_PATH_IO]
                        ? " waits for I/O: its thread is off the processor, in the kernel's disk "
                          "sleep."
                        : " waits for what is not in the trace: a file, the network, a timer or "
                          "another program. Nothing that was recorded ran when it went on.");
    ask_off(desk, place, "reason <> 32");
    return put_cause(desk, STROBE_EXPLAIN_IO, place,
                     place->by_class[STROBE_PATH_IO] + place->by_class[STROBE_PATH_OUTSIDE]);
}

/* Beside the cause, where it is most of the path: of a machine that had more to do. */
static void put_processors(struct strobe_explain_desk *desk,
                           const struct strobe_explain_place *place)
{
    uint64_t ticks = desk->path.by_class[STROBE_PATH_RUNNABLE];
    if (share_of(desk, ticks) < 0.5)
        return;
    strobe_out_format(
        &desk->text,
        "The machine was busy: in %.0f %% of the critical path its thread could run, but "
        "had no processor. What is said above is of the rest.",
        100 * share_of(desk, ticks));
    ask_off(desk, place, "reason = 32");
    struct strobe_explain_line *line =
        strobe_explain_add(desk, STROBE_EXPLAIN_CAUSE, STROBE_EXPLAIN_PROCESSOR);
    if (line) {
        line->has_gain = 1;
        line->gain_ns = strobe_explain_ns(desk, ticks);
    }
}

static int has_device(const struct strobe_explain_desk *desk)
{
    for (uint32_t i = 0; i < desk->survey.n_threads; i++)
        if (desk->trace->threads[i].is_lane && desk->survey.threads[i].n_zones)
            return 1;
    return 0;
}

static int put_work(struct strobe_explain_desk *desk, const struct strobe_explain_place *place)
{
    int is_lane = desk->trace->threads[place->thread].is_lane;
    int is_starved = !is_lane && has_device(desk) && desk->path.n_by_way[STROBE_PATH_BY_FLOW];
    put_zone_name(desk, place->loc);
    strobe_out_format(&desk->text, "%s %.0f %% of the critical path%s",
                      is_lane ? ", on the device, is" : " is", 100 * share_of(desk, place->ticks),
                      is_starved ? ", on the host: the device has nothing to do meanwhile." : ".");
    ask_self(desk, place);
    return put_cause(desk,
                     is_lane      ? STROBE_EXPLAIN_KERNEL
                     : is_starved ? STROBE_EXPLAIN_STARVED
                                  : STROBE_EXPLAIN_WORK,
                     place, place->ticks);
}

/* No verdict: whom most of the waits were for is not known. The place stands. */
static int put_unknown(struct strobe_explain_desk *desk, const struct strobe_explain_place *place)
{
    strobe_out_format(&desk->text,
                      "%.0f %% of the critical path are waits, and who ended them is not in the "
                      "trace. Most of the path is in ",
                      100 * share_of(desk, desk->path.by_class[STROBE_PATH_BLOCKED]));
    put_zone_name(desk, place->loc);
    strobe_out_text(&desk->text, desk->survey.n_of[STROBE_ITEM_SWITCH_IN]
                                     ? "; why it waits is not known: no wake-ups were recorded."
                                     : "; no scheduler data was recorded.");
    ask_self(desk, place);
    return put_cause(desk, STROBE_EXPLAIN_UNKNOWN, place, place->ticks);
}

static void find_cause(struct strobe_explain_desk *desk, const struct strobe_explain_place *places,
                       uint32_t n)
{
    enum strobe_path_class class = main_class(&places[0]);
    if (is_lock_cause(desk, places, n) || is_slow_member(desk, places, n) ||
        is_allocating(desk, &places[0]))
        return;
    if (share_of(desk, desk->path.by_class[STROBE_PATH_BLOCKED]) > most_unknown)
        put_unknown(desk, &places[0]);
    else if (class == STROBE_PATH_OUTSIDE)
        put_waiting(desk, &places[0]);
    else
        put_work(desk, &places[0]);
}

static void put_place(struct strobe_explain_desk *desk, const struct strobe_explain_place *place)
{
    static const char *const words[] = {"runs",
                                        "runs on the device",
                                        "waits for a processor",
                                        "waits for a lock",
                                        "waits for a disk",
                                        "waits for what is not in the trace",
                                        "waits, for whom is not known",
                                        "leaves a barrier",
                                        "is launched"};
    put_zone_name(desk, place->loc);
    const char *before = ": ";
    for (int i = 0; i < STROBE_PATH_N_CLASSES; i++)
        if (place->by_class[i] * 50 > place->ticks) {
            char time[32];
            strobe_out_format(
                &desk->text, "%s%s %s", before, words[i],
                strobe_number_show_ns(strobe_explain_ns(desk, place->by_class[i]), time));
            before = ", ";
        }
    ask_self(desk, place);
    struct strobe_explain_line *line =
        strobe_explain_add(desk, STROBE_EXPLAIN_PLACE, STROBE_EXPLAIN_NONE);
    strobe_explain_name_place(desk, line, place);
}

void strobe_explain_put_causes(struct strobe_explain_desk *desk)
{
    uint32_t n;
    struct strobe_explain_place *places = strobe_explain_places(desk, &n);
    if (!places) {
        if (desk->path.n_rows)
            desk->err = STROBE_ERR_NOMEM;
        strobe_out_text(&desk->text, desk->options->zone
                                         ? "No zone of this name ended in the range: nothing to "
                                           "explain."
                                         : "Nothing happened in the range: nothing to explain.");
        strobe_explain_add(desk, STROBE_EXPLAIN_CAUSE, STROBE_EXPLAIN_UNKNOWN);
        return;
    }
    find_cause(desk, places, n);
    put_processors(desk, &places[0]);
    for (uint32_t i = 0; i < n && i < N_PLACES && !desk->err; i++)
        if (share_of(desk, places[i].ticks) >= 0.01 && !desk->err)
            put_place(desk, &places[i]);
    free(places);
}
