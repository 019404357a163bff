/* chrome_read.c - the events of the file, one by one, become rows of their threads. Begins and ends (B and E, b and e) are
 * paired here, in the order of the file; names become numbers of the trace.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/array.h"
#include "import/chrome_read.h"

#define DURATION_MAX 2000000000000000000ll
enum { N_SHOWN = 300 };

/* Members of an event that mean something. */
enum member { PH, TS, ID, CAT, DUR, PID, TID, ID2, NAME, ARGS, N_MEMBERS };

/* An event that is looked at. */
struct event {
    const struct strobe_json_field *members[N_MEMBERS]; /* borrowed; of type 0: there is none */
    char phase;
    int64_t time;
    uint32_t thread; /* index + 1 */
};

static const struct strobe_json_field *field(const struct event *event, enum member member)
{
    return event->members[member];
}

static enum member member_of(struct strobe_json_text name)
{
    static const char names[][5] = {
        [PH] = "ph",   [TS] = "ts",   [ID] = "id",   [CAT] = "cat",   [DUR] = "dur",
        [PID] = "pid", [TID] = "tid", [ID2] = "id2", [NAME] = "name", [ARGS] = "args"};
    static const enum member first[] = {N_MEMBERS, N_MEMBERS, PH, CAT, NAME}; /* by length */
    if (name.n < 2 || name.n > 4)
        return N_MEMBERS;
    for (enum member i = first[name.n]; i < N_MEMBERS && !names[i][name.n]; i++)
        if (names[i][name.n - 1] == name.at[name.n - 1] && !memcmp(names[i], name.at, name.n))
            return i;
    return N_MEMBERS;
}

/* The first member of each name. */
static void find_members(const struct strobe_event_in *in, struct event *event)
{
    static const struct strobe_json_field none = {{"", 0}, {"", 0}, 0};
    for (int i = 0; i < N_MEMBERS; i++)
        event->members[i] = &none;
    for (int i = in->n_fields; i-- > 0;) {
        enum member member = member_of(in->fields[i].name);
        if (member < N_MEMBERS)
            event->members[member] = &in->fields[i];
    }
}

static void leave_out(struct strobe_chrome *chrome, const char *what)
{
    strobe_timeline_leave_out(chrome->timeline, what, 1);
}

/* A text without escapes and not too long, valid until the next call. */
static struct strobe_json_text plain(struct strobe_chrome *chrome, struct strobe_json_text text)
{
    text.n = text.n < STROBE_TIMELINE_TEXT_MAX ? text.n : STROBE_TIMELINE_TEXT_MAX;
    if (!text.n || !memchr(text.at, '\\', text.n))
        return text;
    if (STROBE_ARRAY_RESERVE(chrome->scratch, chrome->scratch_room, 3 * (uint64_t)text.n))
        return (struct strobe_json_text){"", 0};
    return (struct strobe_json_text){chrome->scratch, strobe_json_unescape(text, chrome->scratch)};
}

static int is_text(struct strobe_json_text text, const char *word)
{
    return text.n == strlen(word) && !memcmp(text.at, word, text.n);
}

/* A number as it is, anything else by its hash. */
static uint64_t number_of(const struct strobe_json_field *value)
{
    uint64_t number = 0;
    return !value->type || strobe_json_whole(value, &number)
               ? number
               : XXH64(value->value.at, value->value.n, (XXH64_hash_t)value->type);
}

/* ---- processes and threads ---- */

static void name_process(struct strobe_chrome *chrome, uint32_t process,
                         struct strobe_json_text name)
{
    name = plain(chrome, name);
    strobe_timeline_name_process(chrome->timeline, process, name.at, name.n);
}

/* Index + 1; 0: there is no room for it. */
static uint32_t process_of(struct strobe_chrome *chrome, const struct strobe_json_field *pid)
{
    int is_new;
    uint32_t process = strobe_timeline_process(chrome->timeline, number_of(pid), &is_new);
    if (is_new && pid->type == '"')
        name_process(chrome, process, pid->value);
    return process;
}

static void name_thread(struct strobe_chrome *chrome, uint32_t thread, struct strobe_json_text name)
{
    name = plain(chrome, name);
    strobe_timeline_name_thread(chrome->timeline, thread, name.at, name.n);
}

static uint32_t thread_of(struct strobe_chrome *chrome, const struct event *event)
{
    const struct strobe_json_field *tid = field(event, TID);
    uint32_t process = process_of(chrome, field(event, PID));
    int is_new;
    if (!process)
        return 0;
    uint32_t any = chrome->timeline->processes[process - 1].a_thread;
    if (!tid->type && any) /* of no thread: any will do */
        return any;
    uint32_t thread = strobe_timeline_thread(chrome->timeline, process, number_of(tid), &is_new);
    if (is_new && tid->type == '"')
        name_thread(chrome, thread, tid->value);
    return thread;
}

static struct strobe_build *sink_of(struct strobe_chrome *chrome, const struct event *event)
{
    return strobe_timeline_build(chrome->timeline, event->thread);
}

static enum strobe_err name_something(struct strobe_chrome *chrome, const struct event *event)
{
    struct strobe_json_field args[STROBE_JSON_FIELDS_MAX];
    const struct strobe_json_field *what = field(event, NAME), *in = field(event, ARGS);
    int n = in->type == '{' ? strobe_json_fields(in->value, args) : 0;
    const struct strobe_json_field *name = strobe_json_field(args, n, "name");
    if (name->type != '"')
        return STROBE_OK; /* orders and labels: a matter of taste */
    if (is_text(what->value, "process_name")) {
        uint32_t process = process_of(chrome, field(event, PID));
        if (process)
            name_process(chrome, process, name->value);
    } else if (is_text(what->value, "thread_name") && field(event, TID)->type) {
        uint32_t thread = thread_of(chrome, event);
        if (thread)
            name_thread(chrome, thread, name->value);
    }
    return STROBE_OK;
}

/* ---- names ---- */

/* A location: the event's name, its category as function, and the place that our own export puts into the arguments. */
static uint64_t loc_of(struct strobe_chrome *chrome, const struct event *event,
                       const struct strobe_json_field *args, int n_args)
{
    const struct strobe_json_field *file = strobe_json_field(args, n_args, "file");
    struct strobe_json_text name = field(event, NAME)->value, category = field(event, CAT)->value;
    uint64_t line = 0, process = chrome->timeline->threads[event->thread - 1].process;
    strobe_json_whole(strobe_json_field(args, n_args, "line"), &line);
    uint64_t hash = XXH64(name.at, name.n, process << 32 | (uint32_t)line);
    hash = XXH64(category.at, category.n, hash);
    hash = XXH64(file->value.at, file->value.n, hash);
    uint64_t *known = strobe_timeline_map_at(chrome->timeline, &chrome->timeline->names, hash,
                                             STROBE_TIMELINE_NAMES_MAX);
    if (known && *known)
        return *known;
    char shown[3][3 * N_SHOWN];
    struct strobe_json_text texts[] = {
        name, category, file->type == '"' ? file->value : (struct strobe_json_text){"", 0}};
    for (int i = 0; i < 3; i++) {
        texts[i].n = texts[i].n < N_SHOWN ? texts[i].n : N_SHOWN;
        texts[i].n = strobe_json_unescape(texts[i], shown[i]);
        texts[i].at = shown[i];
    }
    struct strobe_build_loc loc = {
        .line = (uint32_t)line,
        .name = texts[0].at,
        .n_name = texts[0].n,
        .function = texts[1].at,
        .n_function = texts[1].n,
        .file = texts[2].at,
        .n_file = texts[2].n,
    };
    uint64_t id = strobe_build_loc(sink_of(chrome, event), &loc);
    if (known)
        *known = id;
    return id;
}

/* ---- rows ---- */

static struct strobe_row row_of(const struct event *event, enum strobe_timeline_kind kind)
{
    return (struct strobe_row){
        .group = event->thread, .time = event->time, .order = UINT64_MAX, .kind = kind};
}

static enum strobe_err keep_text(struct strobe_chrome *chrome, struct strobe_json_text text,
                                 struct strobe_row *row)
{
    return strobe_timeline_text(chrome->timeline, text.at, text.n, row);
}

/* Arguments that our own export writes beside a text. */
static int is_ours(const struct strobe_json_field *args, int n)
{
    static const char *const known[] = {"file", "line", "text", "value", "state"};
    for (int i = 0; i < n; i++) {
        size_t k = 0;
        while (k < sizeof known / sizeof known[0] && !is_text(args[i].name, known[k]))
            k++;
        if (k == sizeof known / sizeof known[0])
            return 0;
    }
    return 1;
}

/* What an event has beside its name: the text of our own exports, else all arguments as they stand. */
static enum strobe_err keep_args(struct strobe_chrome *chrome, const struct event *event,
                                 const struct strobe_json_field *args, int n,
                                 struct strobe_row *row)
{
    const struct strobe_json_field *text = strobe_json_field(args, n, "text");
    if (n <= 0)
        return STROBE_OK;
    if (!is_ours(args, n))
        return keep_text(chrome, field(event, ARGS)->value, row);
    return text->type == '"' ? keep_text(chrome, plain(chrome, text->value), row) : STROBE_OK;
}

static int args_of(const struct event *event, struct strobe_json_field *args)
{
    const struct strobe_json_field *in = field(event, ARGS);
    int n = in->type == '{' ? strobe_json_fields(in->value, args) : 0;
    return n < 0 ? 0 : n;
}

static enum strobe_err take_complete(struct strobe_chrome *chrome, const struct event *event)
{
    struct strobe_json_field args[STROBE_JSON_FIELDS_MAX];
    int n = args_of(event, args);
    struct strobe_row row = row_of(event, STROBE_TIMELINE_ZONE);
    int64_t duration = 0;
    strobe_json_ns(field(event, DUR), &duration, &chrome->has_fraction);
    duration = duration < 0 ? 0 : duration > DURATION_MAX ? DURATION_MAX : duration;
    row.name = loc_of(chrome, event, args, n);
    enum strobe_err err = keep_args(chrome, event, args, n, &row);
    return err ? err : strobe_timeline_zone(chrome->timeline, row, event->time + duration);
}

static enum strobe_err take_begin(struct strobe_chrome *chrome, const struct event *event)
{
    struct strobe_json_field args[STROBE_JSON_FIELDS_MAX];
    int n = args_of(event, args);
    struct strobe_timeline_thread *thread = &chrome->timeline->threads[event->thread - 1];
    struct strobe_row row = row_of(event, STROBE_TIMELINE_ZONE);
    if (thread->n_over || thread->n_open == STROBE_TIMELINE_DEPTH_MAX ||
        !strobe_timeline_room(chrome->timeline, (void **)&thread->open, &thread->open_room,
                              thread->n_open + 1ull, sizeof *thread->open)) {
        thread->n_over++;
        leave_out(chrome, strobe_timeline_too_many);
        return STROBE_OK;
    }
    uint64_t loc = loc_of(chrome, event, args, n);
    enum strobe_err err = keep_args(chrome, event, args, n, &row);
    thread->open[thread->n_open++] =
        (struct strobe_timeline_open){event->time, loc, row.text_at, row.n_text};
    return err;
}

/* The innermost zone ends, at `end`; INT64_MAX: never. */
static enum strobe_err close_zone(struct strobe_chrome *chrome, uint32_t thread, int64_t end)
{
    struct strobe_timeline_thread *owner = &chrome->timeline->threads[thread - 1];
    const struct strobe_timeline_open *open = &owner->open[--owner->n_open];
    struct strobe_row row = {.group = thread,
                             .time = open->time,
                             .name = open->loc,
                             .text_at = open->text_at,
                             .n_text = open->n_text};
    return strobe_timeline_zone(chrome->timeline, row, end);
}

static enum strobe_err take_end(struct strobe_chrome *chrome, const struct event *event)
{
    struct strobe_timeline_thread *thread = &chrome->timeline->threads[event->thread - 1];
    if (thread->n_over) {
        thread->n_over--;
        leave_out(chrome, strobe_timeline_too_many);
        return STROBE_OK;
    }
    if (thread->n_open)
        return close_zone(chrome, event->thread, event->time);
    leave_out(chrome, strobe_timeline_no_begin);
    return STROBE_OK;
}

static enum strobe_err take_message(struct strobe_chrome *chrome, const struct event *event)
{
    struct strobe_row row = row_of(event, STROBE_TIMELINE_MESSAGE);
    enum strobe_err err = keep_text(chrome, plain(chrome, field(event, NAME)->value), &row);
    return err ? err : strobe_timeline_add(chrome->timeline, &row);
}

/* ---- counters ---- */

static uint64_t plot_of(struct strobe_chrome *chrome, const struct event *event,
                        struct strobe_json_text series, int is_one)
{
    char name[2 * 3 * N_SHOWN + 1];
    struct strobe_json_text base = field(event, NAME)->value;
    base.n = base.n < N_SHOWN ? base.n : N_SHOWN;
    series.n = series.n < N_SHOWN ? series.n : N_SHOWN;
    size_t n = strobe_json_unescape(base, name);
    if (!is_one) {
        name[n++] = '.';
        n += strobe_json_unescape(series, name + n);
    }
    return strobe_build_string(sink_of(chrome, event), name, n);
}

/* Each number of the arguments is a value of its own series. */
static enum strobe_err take_counter(struct strobe_chrome *chrome, const struct event *event)
{
    struct strobe_json_field args[STROBE_JSON_FIELDS_MAX];
    int n = args_of(event, args);
    enum strobe_err err = STROBE_OK;
    for (int i = 0; i < n && !err; i++) {
        struct strobe_row row = row_of(event, STROBE_TIMELINE_DOUBLE);
        double real;
        uint64_t whole;
        if (!strobe_json_real(&args[i], &real))
            continue;
        int is_whole = args[i].type == '0' && strobe_json_whole(&args[i], &whole);
        row.kind = is_whole ? STROBE_TIMELINE_INT : STROBE_TIMELINE_DOUBLE;
        memcpy(&row.value, is_whole ? (const void *)&whole : &real, sizeof row.value);
        row.name = plot_of(chrome, event, args[i].name, n == 1);
        err = strobe_timeline_add(chrome->timeline, &row);
        chrome->timeline->out->n_values += !err;
    }
    return err;
}

/* ---- spans and flows ---- */

/* What binds events of a span or a flow: category, id and, if the id is local, the process. */
static uint64_t binding_of(struct strobe_chrome *chrome, const struct event *event)
{
    struct strobe_json_field two[STROBE_JSON_FIELDS_MAX];
    const struct strobe_json_field *id = field(event, ID), *id2 = field(event, ID2);
    int n = id2->type == '{' ? strobe_json_fields(id2->value, two) : 0;
    const struct strobe_json_field *local = strobe_json_field(two, n, "local");
    struct strobe_json_text category = field(event, CAT)->value;
    uint64_t key[] = {number_of(local->type        ? local
                                : id2->type == '{' ? strobe_json_field(two, n, "global")
                                                   : id),
                      local->type ? chrome->timeline->threads[event->thread - 1].process + 1u : 0};
    return XXH64(category.at, category.n, XXH64(key, sizeof key, 0));
}

static enum strobe_err take_span_begin(struct strobe_chrome *chrome, const struct event *event)
{
    struct strobe_json_field args[STROBE_JSON_FIELDS_MAX];
    int n = args_of(event, args);
    struct strobe_row row = row_of(event, STROBE_TIMELINE_SPAN_BEGIN);
    row.name = loc_of(chrome, event, args, n);
    return strobe_timeline_span_begin(chrome->timeline, row, binding_of(chrome, event));
}

static enum strobe_err take_span_end(struct strobe_chrome *chrome, const struct event *event)
{
    return strobe_timeline_span_end(chrome->timeline, row_of(event, STROBE_TIMELINE_SPAN_END),
                                    binding_of(chrome, event));
}

static enum strobe_err take_flow(struct strobe_chrome *chrome, const struct event *event)
{
    struct strobe_row row = row_of(event, STROBE_TIMELINE_FLOW);
    const struct strobe_json_field *name = field(event, NAME);
    int is_plain = is_text(field(event, CAT)->value, "flow") && is_text(name->value, "flow");
    row.name = event->phase == 's'   ? STROBE_KIND_FLOW_BEGIN
               : event->phase == 't' ? STROBE_KIND_FLOW_STEP
                                     : STROBE_KIND_FLOW_END;
    row.value = is_plain ? number_of(field(event, ID)) : binding_of(chrome, event);
    chrome->timeline->out->n_flows++;
    return strobe_timeline_add(chrome->timeline, &row);
}

/* ---- events ---- */

static const struct {
    const char *phases;
    enum strobe_err (*take)(struct strobe_chrome *, const struct event *);
} takers[] = {
    {"X", take_complete}, {"B", take_begin},       {"E", take_end},       {"iIRnTp", take_message},
    {"C", take_counter},  {"bS", take_span_begin}, {"eF", take_span_end}, {"stf", take_flow},
};

static enum strobe_err take_timed(struct strobe_chrome *chrome, struct event *event)
{
    size_t i = 0, n = sizeof takers / sizeof takers[0];
    while (i < n && !strchr(takers[i].phases, event->phase))
        i++;
    if (i == n) {
        leave_out(chrome, "events of phases that a trace has no place for were left out");
        return STROBE_OK;
    }
    if (!strobe_json_ns(field(event, TS), &event->time, &chrome->has_fraction)) {
        leave_out(chrome, strobe_timeline_no_time);
        return STROBE_OK;
    }
    event->thread = thread_of(chrome, event);
    if (!event->thread) {
        leave_out(chrome, strobe_timeline_too_many);
        return STROBE_OK;
    }
    strobe_timeline_see(chrome->timeline, event->time);
    return takers[i].take(chrome, event);
}

static enum strobe_err take_event(struct strobe_chrome *chrome, const struct strobe_event_in *in)
{
    struct event event;
    find_members(in, &event);
    const struct strobe_json_field *phase = field(&event, PH);
    chrome->timeline->out->n_events++;
    if (in->n_fields < 0 || phase->type != '"' || phase->value.n != 1 || !phase->value.at[0]) {
        leave_out(chrome, "events without a phase that is known were left out");
        return STROBE_OK;
    }
    event.phase = phase->value.at[0];
    return event.phase == 'M' ? name_something(chrome, &event) : take_timed(chrome, &event);
}

/* Zones that were begun and never ended. */
static enum strobe_err close_open(struct strobe_chrome *chrome)
{
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; i < chrome->timeline->n_threads && !err; i++)
        while (chrome->timeline->threads[i].n_open && !err) {
            strobe_timeline_say(chrome->timeline, strobe_timeline_no_end, 1);
            err = close_zone(chrome, i + 1, INT64_MAX);
        }
    return err;
}

static enum strobe_err read_events(struct strobe_chrome *chrome)
{
    struct strobe_event_in event;
    enum strobe_err err, end;
    while (!(err = strobe_events_in_next(chrome->in, &event)))
        if ((err = take_event(chrome, &event)))
            return err;
    end = close_open(chrome);
    return end ? end : err == STROBE_ERR_END ? STROBE_OK : err;
}

enum strobe_err strobe_chrome_read(void *context, struct strobe_timeline *timeline)
{
    struct strobe_chrome *chrome = context;
    chrome->timeline = timeline;
    enum strobe_err err = read_events(chrome);
    timeline->slack_ns = chrome->has_fraction ? 2 : 1000;
    timeline->grain_ns = chrome->has_fraction ? 1 : 1000;
    timeline->base_ns = strobe_events_in_base_ns(chrome->in);
    timeline->out->offset = strobe_events_in_offset(chrome->in);
    strobe_timeline_leave_out(timeline, "elements were left out: no objects, or over 16 MiB",
                              strobe_events_in_n_skipped(chrome->in));
    return err;
}
