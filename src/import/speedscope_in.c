/* speedscope_in.c - speedscope's own JSON: frames first, which may stand behind the profiles, then each profile. Of an `evented` profile the stacks between its events
 * become samples that weigh what lies between.  SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json_read.h"
#include "import/stacks_file.h"

struct frame_row {
    size_t name, file; /* places in texts */
    size_t n_name, n_file;
    uint32_t line;
};

struct scope {
    struct strobe_stacks_in *in; /* borrowed */
    struct strobe_json_reader json;
    char *texts; /* owned: names and files of frames */
    size_t n_texts, texts_room;
    struct frame_row *frames; /* owned */
    uint32_t n_frames, frames_room;
    uint32_t n_profiles;
    int has_unit; /* a profile came: all have its kind of weight */
    /* of the profile that is read: */
    uint32_t *stacks; /* owned: lengths and frames, the outermost first */
    size_t n_stacks, stacks_room;
    double *weights; /* owned */
    size_t n_weights, weights_room;
    struct event {
        double at;
        uint32_t frame;
        int is_open;
    } * events; /* owned */
    size_t n_events, events_room;
    char *name; /* owned */
    size_t n_name, name_room;
    char unit[16];
    double start;
    uint64_t addresses[STROBE_STACKS_IN_DEPTH];
};

typedef enum strobe_err take_member(struct scope *scope, enum strobe_json_token token);

static enum strobe_err next(struct scope *scope, enum strobe_json_token *token)
{
    enum strobe_err err = strobe_json_read_next(&scope->json, token);
    return err == STROBE_ERR_FORMAT ? STROBE_ERR_CORRUPT : err;
}

/* ---- small values ---- */

static enum strobe_err keep_text(struct scope *scope, size_t *at, size_t *n)
{
    if (STROBE_ARRAY_RESERVE(scope->texts, scope->texts_room,
                             scope->n_texts + scope->json.n_text + 1))
        return STROBE_ERR_NOMEM;
    memcpy(scope->texts + scope->n_texts, scope->json.text, scope->json.n_text);
    *at = scope->n_texts;
    *n = scope->json.n_text;
    scope->n_texts += scope->json.n_text;
    return STROBE_OK;
}

static uint32_t small_number(const struct scope *scope, enum strobe_json_token token)
{
    uint64_t value;
    return token == STROBE_TOKEN_NUMBER && strobe_json_read_u64(&scope->json, &value) &&
                   value < UINT32_MAX
               ? (uint32_t)value
               : UINT32_MAX;
}

static double real_number(const struct scope *scope, enum strobe_json_token token)
{
    double value;
    return token == STROBE_TOKEN_NUMBER && strobe_json_read_double(&scope->json, &value) ? value
                                                                                         : 0;
}

/* ---- frames ---- */

static enum strobe_err read_frame(struct scope *scope, enum strobe_json_token token)
{
    struct frame_row row = {0};
    enum strobe_err err = STROBE_OK;
    if (token != STROBE_TOKEN_OBJECT)
        return STROBE_ERR_CORRUPT;
    while (!(err = next(scope, &token)) && token == STROBE_TOKEN_KEY) {
        int is_name = strobe_json_read_is(&scope->json, "name");
        int is_file = strobe_json_read_is(&scope->json, "file");
        int is_line = strobe_json_read_is(&scope->json, "line");
        if ((err = next(scope, &token)))
            return err;
        if (is_name && token == STROBE_TOKEN_STRING)
            err = keep_text(scope, &row.name, &row.n_name);
        else if (is_file && token == STROBE_TOKEN_STRING)
            err = keep_text(scope, &row.file, &row.n_file);
        else if (is_line && token == STROBE_TOKEN_NUMBER)
            row.line = small_number(scope, token);
        else
            err = strobe_json_read_skip(&scope->json, token);
        if (err)
            return err;
    }
    struct frame_row *frame =
        err ? NULL : STROBE_ARRAY_PUSH(scope->frames, scope->n_frames, scope->frames_room);
    if (frame)
        *frame = row;
    return err ? err : frame ? STROBE_OK : STROBE_ERR_NOMEM;
}

/* Every element of the array that `token` begins. */
static enum strobe_err each(struct scope *scope, enum strobe_json_token token, take_member *take)
{
    enum strobe_err err = STROBE_OK;
    if (token != STROBE_TOKEN_ARRAY)
        return strobe_json_read_skip(&scope->json, token);
    while (!err && !(err = next(scope, &token)) && token != STROBE_TOKEN_ARRAY_END)
        err = take(scope, token);
    return err;
}

/* The member `name` of the object that `token` begins goes to `take`; the others are passed. */
static enum strobe_err member(struct scope *scope, enum strobe_json_token token, const char *name,
                              take_member *take)
{
    enum strobe_err err = STROBE_OK;
    if (token != STROBE_TOKEN_OBJECT)
        return strobe_json_read_skip(&scope->json, token);
    while (!err && !(err = next(scope, &token)) && token == STROBE_TOKEN_KEY) {
        int is_it = strobe_json_read_is(&scope->json, name);
        if (!(err = next(scope, &token)))
            err = is_it ? take(scope, token) : strobe_json_read_skip(&scope->json, token);
    }
    return err;
}

static enum strobe_err take_frames(struct scope *scope, enum strobe_json_token token)
{
    return each(scope, token, read_frame);
}

static enum strobe_err take_shared(struct scope *scope, enum strobe_json_token token)
{
    return member(scope, token, "frames", take_frames);
}

/* ---- profiles ---- */

static enum strobe_err take_stack(struct scope *scope, enum strobe_json_token token)
{
    size_t head = scope->n_stacks;
    enum strobe_err err = STROBE_OK;
    uint32_t *word = STROBE_ARRAY_PUSH(scope->stacks, scope->n_stacks, scope->stacks_room);
    if (!word || token != STROBE_TOKEN_ARRAY)
        return word ? STROBE_ERR_CORRUPT : STROBE_ERR_NOMEM;
    while (!err && !(err = next(scope, &token)) && token != STROBE_TOKEN_ARRAY_END) {
        word = STROBE_ARRAY_PUSH(scope->stacks, scope->n_stacks, scope->stacks_room);
        if (!word || token != STROBE_TOKEN_NUMBER)
            return word ? STROBE_ERR_CORRUPT : STROBE_ERR_NOMEM;
        *word = small_number(scope, token);
    }
    scope->stacks[head] = (uint32_t)(scope->n_stacks - head - 1);
    return err;
}

static enum strobe_err take_weight(struct scope *scope, enum strobe_json_token token)
{
    double *weight = STROBE_ARRAY_PUSH(scope->weights, scope->n_weights, scope->weights_room);
    if (!weight || token != STROBE_TOKEN_NUMBER)
        return weight ? STROBE_ERR_CORRUPT : STROBE_ERR_NOMEM;
    *weight = real_number(scope, token);
    return STROBE_OK;
}

static enum strobe_err take_event(struct scope *scope, enum strobe_json_token token)
{
    struct event row = {.frame = UINT32_MAX};
    enum strobe_err err = STROBE_OK;
    if (token != STROBE_TOKEN_OBJECT)
        return STROBE_ERR_CORRUPT;
    while (!err && !(err = next(scope, &token)) && token == STROBE_TOKEN_KEY) {
        int is_type = strobe_json_read_is(&scope->json, "type");
        int is_at = strobe_json_read_is(&scope->json, "at");
        int is_frame = strobe_json_read_is(&scope->json, "frame");
        if ((err = next(scope, &token)))
            return err;
        if (is_type)
            row.is_open = token == STROBE_TOKEN_STRING && strobe_json_read_is(&scope->json, "O");
        else if (is_at)
            row.at = real_number(scope, token);
        else if (is_frame)
            row.frame = small_number(scope, token);
        err = strobe_json_read_skip(&scope->json, token);
    }
    struct event *event =
        err ? NULL : STROBE_ARRAY_PUSH(scope->events, scope->n_events, scope->events_room);
    if (event)
        *event = row;
    return err ? err : event ? STROBE_OK : STROBE_ERR_NOMEM;
}

/* ---- samples ---- */

static uint64_t frame_of(struct scope *scope, uint32_t thread, uint32_t i)
{
    if (i >= scope->n_frames) {
        strobe_stacks_in_leave_out(scope->in, "frames were left out: the file has none such", 1);
        return 0;
    }
    const struct frame_row *row = &scope->frames[i];
    struct strobe_stacks_frame frame = {.function = {scope->texts + row->name, row->n_name},
                                        .file = {scope->texts + row->file, row->n_file},
                                        .line = row->line == UINT32_MAX ? 0 : row->line};
    return strobe_stacks_in_frame(scope->in, thread, &frame);
}

/* The innermost frame first. */
static size_t put_frames(struct scope *scope, uint32_t thread, const uint32_t *frames, size_t n)
{
    size_t n_put = 0;
    for (size_t i = n; i-- > 0 && n_put < STROBE_STACKS_IN_DEPTH;)
        scope->addresses[n_put++] = frame_of(scope, thread, frames[i]);
    return n_put;
}

/* What the profile's unit is in ns; 0: it is no time. */
static double unit_ns(const struct scope *scope)
{
    return !strcmp(scope->unit, "nanoseconds")    ? 1
           : !strcmp(scope->unit, "microseconds") ? 1e3
           : !strcmp(scope->unit, "milliseconds") ? 1e6
           : !strcmp(scope->unit, "seconds")      ? 1e9
                                                  : 0;
}

static int64_t rounded(double value)
{
    return value > -9e18 && value < 9e18 ? llround(value) : 0;
}

static enum strobe_err put_sampled(struct scope *scope, uint32_t thread, double scale)
{
    double time = scope->start;
    enum strobe_err err = STROBE_OK;
    size_t at = 0;
    for (size_t i = 0; !err && at < scope->n_stacks; i++) {
        size_t n = scope->stacks[at];
        double weight = i < scope->n_weights ? scope->weights[i] : 0;
        int64_t whole = rounded(weight * (scale ? scale : 1));
        size_t n_put = put_frames(scope, thread, scope->stacks + at + 1, n);
        if (whole < 0 || (!whole && weight < 0))
            strobe_stacks_in_leave_out(scope->in, "samples were left out: of negative weight", 1);
        else
            err = strobe_stacks_in_sample(scope->in, thread, scale ? rounded(time * scale) : 0, 0,
                                          (uint64_t)whole, scope->addresses, n_put);
        time += weight;
        at += n + 1;
    }
    return err;
}

static enum strobe_err put_evented(struct scope *scope, uint32_t thread, double scale)
{
    enum strobe_err err = STROBE_OK;
    double before = scope->n_events ? scope->events[0].at : 0;
    scope->n_stacks = 0;
    for (size_t i = 0; !err && i < scope->n_events; i++) {
        const struct event *event = &scope->events[i];
        int64_t weight = rounded((event->at - before) * (scale ? scale : 1));
        if (weight > 0 && scope->n_stacks)
            err = strobe_stacks_in_sample(
                scope->in, thread, scale ? rounded(before * scale) : 0, 0, (uint64_t)weight,
                scope->addresses, put_frames(scope, thread, scope->stacks, scope->n_stacks));
        before = event->at > before ? event->at : before;
        if (event->is_open) {
            uint32_t *frame = STROBE_ARRAY_PUSH(scope->stacks, scope->n_stacks, scope->stacks_room);
            if (!frame)
                return STROBE_ERR_NOMEM;
            *frame = event->frame;
        } else if (scope->n_stacks) {
            scope->n_stacks--;
        }
    }
    return err;
}

static enum strobe_err put_profile(struct scope *scope)
{
    static const struct strobe_stacks_text process = {"speedscope", 10};
    struct strobe_stacks_options *options = strobe_stacks_in_options(scope->in);
    double scale = unit_ns(scope);
    enum strobe_stacks_weight weight = scale ? STROBE_STACKS_TIME : STROBE_STACKS_COUNT;
    if (scope->has_unit && options->weight != weight) {
        strobe_stacks_in_leave_out(scope->in,
                                   "profiles were left out: of another unit than the first", 1);
        return STROBE_OK;
    }
    scope->has_unit = 1;
    options->weight = weight;
    options->has_times = scale != 0;
    struct strobe_stacks_text name = {scope->name, scope->n_name};
    uint32_t thread = strobe_stacks_in_thread(scope->in, 1, process, ++scope->n_profiles, name);
    if (!thread)
        return STROBE_OK;
    if (scope->n_events)
        strobe_stacks_in_say(scope->in,
                             "an evented profile: its stacks are samples, weighed by time");
    return scope->n_events ? put_evented(scope, thread, scale) : put_sampled(scope, thread, scale);
}

static enum strobe_err take_text(struct scope *scope, int is_unit)
{
    const struct strobe_json_reader *json = &scope->json;
    if (is_unit) {
        size_t n = json->n_text < sizeof scope->unit - 1 ? json->n_text : sizeof scope->unit - 1;
        memcpy(scope->unit, json->text, n);
        scope->unit[n] = 0;
        return STROBE_OK;
    }
    if (STROBE_ARRAY_RESERVE(scope->name, scope->name_room, json->n_text + 1))
        return STROBE_ERR_NOMEM;
    memcpy(scope->name, json->text, json->n_text);
    scope->n_name = json->n_text;
    return STROBE_OK;
}

static enum strobe_err take_profile(struct scope *scope, enum strobe_json_token token)
{
    enum strobe_err err = STROBE_OK;
    if (token != STROBE_TOKEN_OBJECT)
        return STROBE_ERR_CORRUPT;
    scope->n_stacks = scope->n_weights = scope->n_events = scope->n_name = 0;
    scope->start = 0;
    scope->unit[0] = 0;
    while (!err && !(err = next(scope, &token)) && token == STROBE_TOKEN_KEY) {
        const struct strobe_json_reader *json = &scope->json;
        take_member *take = strobe_json_read_is(json, "samples")   ? take_stack
                            : strobe_json_read_is(json, "weights") ? take_weight
                            : strobe_json_read_is(json, "events")  ? take_event
                                                                   : NULL;
        int is_unit = strobe_json_read_is(json, "unit"),
            is_name = strobe_json_read_is(json, "name");
        int is_start = strobe_json_read_is(json, "startValue");
        if ((err = next(scope, &token)))
            return err;
        if (take)
            err = each(scope, token, take);
        else if ((is_unit || is_name) && token == STROBE_TOKEN_STRING)
            err = take_text(scope, is_unit);
        else
            err = strobe_json_read_skip(&scope->json, token);
        if (is_start)
            scope->start = real_number(scope, token);
    }
    return err ? err : put_profile(scope);
}

static enum strobe_err take_profiles(struct scope *scope, enum strobe_json_token token)
{
    return each(scope, token, take_profile);
}

/* ---- all of it ---- */

static enum strobe_err pass(struct scope *scope, const uint8_t *bytes, size_t n, const char *name,
                            take_member *take)
{
    enum strobe_json_token token;
    strobe_json_read_memory(&scope->json, (const char *)bytes, n, NULL);
    enum strobe_err err = next(scope, &token);
    if (!err)
        err = member(scope, token, name, take);
    strobe_json_read_close(&scope->json);
    return err == STROBE_ERR_FORMAT ? STROBE_ERR_CORRUPT : err;
}

enum strobe_err strobe_speedscope_read(struct strobe_bytes_in *source, struct strobe_stacks_in *in)
{
    const uint8_t *bytes;
    size_t n;
    struct scope *scope = calloc(1, sizeof *scope);
    enum strobe_err err = scope ? strobe_bytes_in_whole(source, &bytes, &n) : STROBE_ERR_NOMEM;
    if (!scope)
        return err;
    scope->in = in;
    if (!err)
        err = pass(scope, bytes, n, "shared", take_shared);
    if (!err)
        err = pass(scope, bytes, n, "profiles", take_profiles);
    free(scope->texts);
    free(scope->frames);
    free(scope->stacks);
    free(scope->weights);
    free(scope->events);
    free(scope->name);
    free(scope);
    return err;
}
