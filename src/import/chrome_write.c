/* chrome_write.c - rows of one thread after the other, by time, become its events. Zones come as begin and duration: the ends
 * of those that are open wait on a stack.
 *
 * Times were rounded when the file was written, so a zone may seem to end a little after the one around it, or to begin a
 * little before its neighbour's end. Within that rounding it is put right; beyond it the zones do overlap, which a thread's
 * zones can't: the later one becomes a span.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "import/chrome_parts.h"

#define NEVER INT64_MAX

struct place {
    struct strobe_build *build;
    struct strobe_build_track *track;
};

static struct place place_of(const struct strobe_chrome *chrome)
{
    const struct strobe_chrome_thread *thread = &chrome->threads[chrome->thread - 1];
    return (struct place){chrome->processes[thread->process].build, thread->track};
}

static uint64_t tick(const struct strobe_chrome *chrome, int64_t time)
{
    return (uint64_t)(time + chrome->shift);
}

/* ---- zones ---- */

static void end_zone(struct strobe_chrome *chrome, int64_t time)
{
    struct place at = place_of(chrome);
    chrome->n_ends--;
    strobe_build_zone_end(at.build, at.track, tick(chrome, time));
}

/* End what ends until then; those that never end stay open. */
static void end_until(struct strobe_chrome *chrome, int64_t time)
{
    while (chrome->n_ends && chrome->ends[chrome->n_ends - 1] <= time &&
           chrome->ends[chrome->n_ends - 1] != NEVER)
        end_zone(chrome, chrome->ends[chrome->n_ends - 1]);
}

static void put_text(struct strobe_chrome *chrome, const struct strobe_row *row)
{
    struct place at = place_of(chrome);
    const char *text = strobe_rows_text(chrome->rows, row);
    if (text)
        strobe_build_event(at.build, at.track, tick(chrome, row->time), STROBE_KIND_ZONE_TEXT, NULL,
                           text, row->n_text);
}

static void put_span(struct strobe_chrome *chrome, const struct strobe_row *row, int64_t end)
{
    struct place at = place_of(chrome);
    uint64_t numbers[] = {++chrome->n_spans, row->name};
    strobe_build_event(at.build, at.track, tick(chrome, row->time), STROBE_KIND_SPAN_BEGIN, numbers,
                       NULL, 0);
    strobe_build_event(at.build, at.track, tick(chrome, end), STROBE_KIND_SPAN_END, numbers, NULL,
                       0);
    chrome->out->n_spans++;
    chrome->n_overlapping++;
}

/* Fit a zone among those that are open. 0: it overlaps one of them. */
static int fit(struct strobe_chrome *chrome, int64_t begin, int64_t *end)
{
    int64_t slack = chrome->has_fraction ? 2 : 1000;
    while (chrome->n_ends && *end > chrome->ends[chrome->n_ends - 1]) {
        int64_t around = chrome->ends[chrome->n_ends - 1];
        chrome->n_unfinished += *end == NEVER;
        if (*end == NEVER || *end - around <= slack) {
            *end = around;
            return 1;
        }
        if (around - begin > slack)
            return 0;
        end_zone(chrome, begin);
    }
    return 1;
}

static void put_zone(struct strobe_chrome *chrome, const struct strobe_row *row)
{
    int64_t end = row->value == UINT64_MAX ? NEVER : row->time + (int64_t)row->value;
    struct place at = place_of(chrome);
    if (!fit(chrome, row->time, &end)) {
        put_span(chrome, row, end);
        return;
    }
    if (chrome->n_ends == STROBE_CHROME_DEPTH_MAX) {
        chrome->n_too_many++;
        return;
    }
    strobe_build_zone_begin(at.build, at.track, tick(chrome, row->time), row->name);
    put_text(chrome, row);
    chrome->ends[chrome->n_ends++] = end;
    chrome->out->n_zones++;
}

/* ---- the rest ---- */

static void put_message(struct strobe_chrome *chrome, const struct strobe_row *row)
{
    static const uint64_t plain[] = {2, 0}; /* severity, colour */
    struct place at = place_of(chrome);
    const char *text = strobe_rows_text(chrome->rows, row);
    strobe_build_event(at.build, at.track, tick(chrome, row->time), STROBE_KIND_MESSAGE, plain,
                       text ? text : "", text ? row->n_text : 0);
    chrome->out->n_messages++;
}

static void put_numbers(struct strobe_chrome *chrome, const struct strobe_row *row,
                        enum strobe_kind kind, const uint64_t *numbers)
{
    struct place at = place_of(chrome);
    strobe_build_event(at.build, at.track, tick(chrome, row->time), kind, numbers, NULL, 0);
}

static void put_row(struct strobe_chrome *chrome, const struct strobe_row *row)
{
    uint64_t plot[] = {row->name, row->value}, span[] = {row->value, row->name};
    switch ((enum strobe_chrome_kind)row->kind) {
    case STROBE_CHROME_ZONE:
        put_zone(chrome, row);
        break;
    case STROBE_CHROME_MESSAGE:
        put_message(chrome, row);
        break;
    case STROBE_CHROME_INT:
        put_numbers(chrome, row, STROBE_KIND_PLOT_INT, plot);
        break;
    case STROBE_CHROME_DOUBLE:
        put_numbers(chrome, row, STROBE_KIND_PLOT_DOUBLE, plot);
        break;
    case STROBE_CHROME_SPAN_BEGIN:
        put_numbers(chrome, row, STROBE_KIND_SPAN_BEGIN, span);
        break;
    case STROBE_CHROME_SPAN_END:
        put_numbers(chrome, row, STROBE_KIND_SPAN_END, span);
        break;
    case STROBE_CHROME_FLOW:
        put_numbers(chrome, row, (enum strobe_kind)row->name, span);
        break;
    }
}

static enum strobe_err take_row(void *context, const struct strobe_row *row)
{
    struct strobe_chrome *chrome = context;
    if (chrome->thread != row->group) {
        if (chrome->thread)
            end_until(chrome, NEVER - 1);
        chrome->n_ends = 0;
        chrome->thread = (uint32_t)row->group;
    }
    end_until(chrome, row->time);
    put_row(chrome, row);
    return STROBE_OK;
}

enum strobe_err strobe_chrome_write_rows(struct strobe_chrome *chrome)
{
    enum strobe_err err = strobe_rows_sorted(chrome->rows, take_row, chrome);
    if (chrome->thread)
        end_until(chrome, NEVER - 1);
    return err;
}
