/* timeline_write.c - rows of one thread after the other, by time, become its events. Zones come as begin and duration, or as begin and end: the ends
 * of those that are open wait on a stack.
 *
 * Durations were rounded when some files were written, so a zone may seem to end a little after the one around it, or to begin a
 * little before its neighbour's end. Within that rounding it is put right; beyond it the zones do overlap, which a thread's
 * zones can't: the later one becomes a span.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/assert.h"
#include "import/timeline.h"

#define NEVER INT64_MAX /* the end of what is open until its END comes, or for ever */

static const char unfinished[] = "zones without an end were ended with the zone around them";
static const char overlapping[] = "zones that overlap others of their thread are spans";

struct place {
    struct strobe_build *build;
    struct strobe_build_track *track; /* NULL: there was no room for a thread */
};

static struct place place_of(const struct strobe_timeline *timeline)
{
    const struct strobe_timeline_thread *thread = &timeline->threads[timeline->thread - 1];
    const struct strobe_timeline_thread *carrier =
        thread->carrier ? &timeline->threads[thread->carrier - 1] : thread;
    return (struct place){timeline->processes[thread->process].build, carrier->track};
}

static int is_carried(const struct strobe_timeline *timeline)
{
    return timeline->threads[timeline->thread - 1].carrier != 0;
}

static uint64_t tick(const struct strobe_timeline *timeline, int64_t time)
{
    return (uint64_t)(time + timeline->shift);
}

/* Begins and ends that wait; they come before any other event. */
static void put_steps(struct strobe_timeline *timeline)
{
    struct place at = place_of(timeline);
    strobe_build_steps(at.build, at.track, timeline->steps, timeline->n_steps);
    timeline->n_steps = 0;
}

static void put_numbers(struct strobe_timeline *timeline, int64_t time, enum strobe_kind kind,
                        const uint64_t *numbers)
{
    struct place at = place_of(timeline);
    put_steps(timeline);
    strobe_build_event(at.build, at.track, tick(timeline, time), kind, numbers, NULL, 0);
}

/* ---- zones ---- */

static void add_step(struct strobe_timeline *timeline, int64_t time, uint64_t loc)
{
    if (timeline->n_steps == STROBE_TIMELINE_STEPS)
        put_steps(timeline);
    timeline->steps[timeline->n_steps++] =
        (struct strobe_zone_step){.tick = tick(timeline, time), .loc = loc};
}

/* What began last and ends now is one step. */
static void end_zone(struct strobe_timeline *timeline, int64_t time)
{
    struct strobe_zone_step *last =
        timeline->n_steps ? &timeline->steps[timeline->n_steps - 1] : NULL;
    timeline->n_ends--;
    if (last && last->loc != STROBE_STEP_END && !last->end && tick(timeline, time))
        last->end = tick(timeline, time);
    else
        add_step(timeline, time, STROBE_STEP_END);
}

/* End what ends until then; those that never end stay open. */
static void end_until(struct strobe_timeline *timeline, int64_t time)
{
    while (timeline->n_ends && timeline->ends[timeline->n_ends - 1] <= time &&
           timeline->ends[timeline->n_ends - 1] != NEVER)
        end_zone(timeline, timeline->ends[timeline->n_ends - 1]);
}

static void put_text(struct strobe_timeline *timeline, const struct strobe_row *row)
{
    struct place at = place_of(timeline);
    const char *text = strobe_rows_text(timeline->rows, row);
    if (text)
        put_steps(timeline);
    if (text)
        strobe_build_event(at.build, at.track, tick(timeline, row->time), STROBE_KIND_ZONE_TEXT,
                           NULL, text, row->n_text);
}

static void put_span(struct strobe_timeline *timeline, const struct strobe_row *row, int64_t end)
{
    uint64_t numbers[] = {++timeline->n_spans, row->name};
    put_numbers(timeline, row->time, STROBE_KIND_SPAN_BEGIN, numbers);
    put_numbers(timeline, end, STROBE_KIND_SPAN_END, numbers);
    timeline->out->n_spans++;
    strobe_timeline_say(timeline, overlapping, 1);
}

/* Fit a zone among those that are open. 0: it overlaps one of them. */
static int fit(struct strobe_timeline *timeline, int64_t begin, int64_t *end)
{
    while (timeline->n_ends && *end > timeline->ends[timeline->n_ends - 1]) {
        int64_t around = timeline->ends[timeline->n_ends - 1];
        if (*end == NEVER)
            strobe_timeline_say(timeline, unfinished, 1);
        if (*end == NEVER || *end - around <= timeline->slack_ns) {
            *end = around;
            return 1;
        }
        if (around - begin > timeline->slack_ns)
            return 0;
        end_zone(timeline, begin);
    }
    return 1;
}

/* A zone begins; 0: too many are open. */
static int begin_zone(struct strobe_timeline *timeline, const struct strobe_row *row, int64_t end)
{
    if (timeline->n_ends == STROBE_TIMELINE_DEPTH_MAX) {
        strobe_timeline_leave_out(timeline, strobe_timeline_too_many, 1);
        return 0;
    }
    add_step(timeline, row->time, row->name);
    put_text(timeline, row);
    timeline->ends[timeline->n_ends++] = end;
    timeline->out->n_zones++;
    return 1;
}

static void put_zone(struct strobe_timeline *timeline, const struct strobe_row *row)
{
    int64_t end = row->value == UINT64_MAX ? NEVER : row->time + (int64_t)row->value;
    if (fit(timeline, row->time, &end))
        begin_zone(timeline, row, end);
    else
        put_span(timeline, row, end);
}

static void put_begin(struct strobe_timeline *timeline, const struct strobe_row *row)
{
    if (!timeline->n_deeper && begin_zone(timeline, row, NEVER))
        timeline->n_begun++;
    else
        timeline->n_deeper++;
}

/* The innermost BEGIN ends, and before it what was still to end in it. */
static void put_end(struct strobe_timeline *timeline, const struct strobe_row *row)
{
    uint32_t n = timeline->n_ends;
    if (timeline->n_deeper) {
        timeline->n_deeper--;
        return;
    }
    while (n && timeline->ends[n - 1] != NEVER)
        n--;
    if (!n || !timeline->n_begun) {
        strobe_timeline_leave_out(timeline, strobe_timeline_no_begin, 1);
        return;
    }
    timeline->n_begun--;
    while (timeline->n_ends >= n) {
        if (timeline->n_ends == n)
            put_text(timeline, row);
        end_zone(timeline, row->time);
    }
}

/* ---- zones that are carried as spans ---- */

static void carry_begin(struct strobe_timeline *timeline, const struct strobe_row *row)
{
    uint64_t numbers[] = {timeline->n_spans + 1, row->name};
    if (timeline->n_deeper || timeline->n_ends == STROBE_TIMELINE_DEPTH_MAX) {
        timeline->n_deeper++;
        strobe_timeline_leave_out(timeline, strobe_timeline_too_many, 1);
        return;
    }
    timeline->n_spans++;
    put_numbers(timeline, row->time, STROBE_KIND_SPAN_BEGIN, numbers);
    timeline->ends[timeline->n_ends++] = (int64_t)numbers[0];
    timeline->out->n_spans++;
}

static void carry_end(struct strobe_timeline *timeline, const struct strobe_row *row)
{
    if (timeline->n_deeper) {
        timeline->n_deeper--;
    } else if (!timeline->n_ends) {
        strobe_timeline_leave_out(timeline, strobe_timeline_no_begin, 1);
    } else {
        uint64_t numbers[] = {(uint64_t)timeline->ends[--timeline->n_ends]};
        put_numbers(timeline, row->time, STROBE_KIND_SPAN_END, numbers);
    }
}

/* A row of a carried lane; 0: it is none of its zones. */
static int put_carried(struct strobe_timeline *timeline, const struct strobe_row *row)
{
    int64_t end = row->value == UINT64_MAX ? row->time : row->time + (int64_t)row->value;
    if (row->kind == STROBE_TIMELINE_BEGIN)
        carry_begin(timeline, row);
    else if (row->kind == STROBE_TIMELINE_END)
        carry_end(timeline, row);
    else if (row->kind == STROBE_TIMELINE_ZONE)
        put_span(timeline, row, end);
    else
        return 0;
    return 1;
}

/* ---- the rest ---- */

static void put_message(struct strobe_timeline *timeline, const struct strobe_row *row)
{
    static const uint64_t plain[] = {2, 0}; /* severity, colour */
    struct place at = place_of(timeline);
    const char *text = strobe_rows_text(timeline->rows, row);
    put_steps(timeline);
    strobe_build_event(at.build, at.track, tick(timeline, row->time), STROBE_KIND_MESSAGE, plain,
                       text ? text : "", text ? row->n_text : 0);
    timeline->out->n_messages++;
}

static void put_row(struct strobe_timeline *timeline, const struct strobe_row *row)
{
    static const enum strobe_kind kinds[] = {
        [STROBE_TIMELINE_INT] = STROBE_KIND_PLOT_INT,
        [STROBE_TIMELINE_DOUBLE] = STROBE_KIND_PLOT_DOUBLE,
        [STROBE_TIMELINE_SPAN_BEGIN] = STROBE_KIND_SPAN_BEGIN,
        [STROBE_TIMELINE_SPAN_END] = STROBE_KIND_SPAN_END,
        [STROBE_TIMELINE_SWITCH_IN] = STROBE_KIND_SWITCH_IN,
        [STROBE_TIMELINE_SWITCH_OUT] = STROBE_KIND_SWITCH_OUT,
        [STROBE_TIMELINE_WOKEN] = STROBE_KIND_WOKEN,
    };
    uint64_t plot[] = {row->name, row->value}, pair[] = {row->value, row->name};
    switch ((enum strobe_timeline_kind)row->kind) {
    case STROBE_TIMELINE_ZONE:
        put_zone(timeline, row);
        break;
    case STROBE_TIMELINE_BEGIN:
        put_begin(timeline, row);
        break;
    case STROBE_TIMELINE_END:
        put_end(timeline, row);
        break;
    case STROBE_TIMELINE_MESSAGE:
        put_message(timeline, row);
        break;
    case STROBE_TIMELINE_INT:
    case STROBE_TIMELINE_DOUBLE:
        put_numbers(timeline, row->time, kinds[row->kind], plot);
        break;
    case STROBE_TIMELINE_FLOW:
        put_numbers(timeline, row->time, (enum strobe_kind)row->name, pair);
        break;
    case STROBE_TIMELINE_SPAN_BEGIN:
    case STROBE_TIMELINE_SPAN_END:
    case STROBE_TIMELINE_SWITCH_IN:
    case STROBE_TIMELINE_SWITCH_OUT:
    case STROBE_TIMELINE_WOKEN:
        put_numbers(timeline, row->time, kinds[row->kind], pair);
        break;
    }
}

/* No row of this thread is left. */
static void end_thread(struct strobe_timeline *timeline)
{
    int is_spans = timeline->thread && is_carried(timeline);
    if (timeline->thread && !is_spans)
        end_until(timeline, NEVER - 1);
    if (timeline->n_steps)
        put_steps(timeline);
    strobe_timeline_say(timeline, strobe_timeline_no_end,
                        timeline->n_deeper + (is_spans ? timeline->n_ends : timeline->n_begun));
    timeline->n_ends = 0;
    timeline->n_deeper = timeline->n_begun = 0;
}

static enum strobe_err take_row(void *context, const struct strobe_row *row)
{
    struct strobe_timeline *timeline = context;
    if (timeline->thread != row->group) {
        end_thread(timeline);
        timeline->thread = (uint32_t)row->group;
    }
    if (!place_of(timeline).track) {
        strobe_timeline_leave_out(timeline, strobe_timeline_too_many, 1);
        return STROBE_OK;
    }
    if (is_carried(timeline) && put_carried(timeline, row))
        return STROBE_OK;
    if (!is_carried(timeline))
        end_until(timeline, row->time);
    put_row(timeline, row);
    return STROBE_OK;
}

enum strobe_err strobe_timeline_write_rows(struct strobe_timeline *timeline)
{
    enum strobe_err err = strobe_rows_sorted(timeline->rows, take_row, timeline);
    end_thread(timeline);
    return err;
}
