/* chrome_read.c - the events of the file, one by one, become rows of their threads. Begins and ends (B and E, b and e) are
 * paired here, in the order of the file; names become numbers of the trace.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/array.h"
#include "import/chrome_parts.h"

#define DURATION_MAX 2000000000000000000ll
enum { N_SHOWN = 300 };

/* An event that is looked at. */
struct event {
    struct strobe_json_field fields[STROBE_JSON_FIELDS_MAX];
    int n;
    char phase;
    int64_t time;
    uint32_t thread; /* index + 1 */
};

static const struct strobe_json_field *field(const struct event *event, const char *name)
{
    return strobe_json_field(event->fields, event->n, name);
}

/* A text without escapes and not too long, valid until the next call. */
static struct strobe_json_text plain(struct strobe_chrome *chrome, struct strobe_json_text text)
{
    text.n = text.n < STROBE_CHROME_TEXT_MAX ? text.n : STROBE_CHROME_TEXT_MAX;
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

/* Room for `want` items in an array that the budget pays for. 0: there is none. */
static int make_room(struct strobe_chrome *chrome, void **items, uint32_t *room, uint64_t want,
                     size_t item_bytes)
{
    enum strobe_err err;
    uint64_t size = *room, n_now = size * item_bytes, n_most = (want + want / 2 + 16) * item_bytes;
    if (want <= size)
        return 1;
    if (!strobe_chrome_charge(chrome, n_now, n_most))
        return 0;
    void *more = strobe_array_grow(*items, &size, want, UINT32_MAX, item_bytes, 0, &err);
    strobe_chrome_charge(chrome, n_most, size * item_bytes);
    if (!more)
        return 0;
    *items = more;
    *room = (uint32_t)size;
    return 1;
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
    if (name.n)
        strobe_build_record(chrome->processes[process].build, STROBE_META_PROGRAM_NAME, NULL,
                            &name.at, &name.n);
}

/* Index + 1; 0: there is no room for it. */
static uint64_t process_of(struct strobe_chrome *chrome, const struct strobe_json_field *pid)
{
    uint64_t number = number_of(pid);
    uint64_t *known = strobe_chrome_map_at(chrome, &chrome->pids, number, UINT32_MAX);
    if (!known || *known)
        return known ? *known : 0;
    struct strobe_build_process process = {.pid = number};
    struct strobe_build *build;
    uint32_t i = chrome->n_processes;
    if (!make_room(chrome, (void **)&chrome->processes, &chrome->processes_room, i + 1ull,
                   sizeof *chrome->processes) ||
        strobe_build_open(chrome->store, &process, &build)) {
        strobe_map_remove(&chrome->pids, number);
        return 0;
    }
    chrome->processes[i] = (struct strobe_chrome_process){.pid = number, .build = build};
    chrome->out->n_processes = ++chrome->n_processes;
    if (pid->type == '"')
        name_process(chrome, i, pid->value);
    return *known = i + 1;
}

static void name_thread(struct strobe_chrome *chrome, uint64_t thread, struct strobe_json_text name)
{
    const struct strobe_chrome_thread *row = &chrome->threads[thread - 1];
    name = plain(chrome, name);
    if (name.n)
        strobe_build_thread_name(chrome->processes[row->process].build, row->track, name.at,
                                 name.n);
}

static uint64_t thread_of(struct strobe_chrome *chrome, const struct event *event)
{
    const struct strobe_json_field *tid = field(event, "tid");
    uint64_t process = process_of(chrome, field(event, "pid"));
    if (!process)
        return 0;
    struct strobe_chrome_process *owner = &chrome->processes[process - 1];
    if (!tid->type && owner->a_thread) /* of no thread: any will do */
        return owner->a_thread;
    uint64_t number = number_of(tid), pair[] = {process, number}, key = XXH64(pair, sizeof pair, 0);
    uint64_t *known = strobe_chrome_map_at(chrome, &chrome->tids, key, UINT32_MAX);
    if (!known || *known)
        return known ? *known : 0;
    uint32_t i = chrome->n_threads;
    struct strobe_build_track *track = NULL;
    if (make_room(chrome, (void **)&chrome->threads, &chrome->threads_room, i + 1ull,
                  sizeof *chrome->threads))
        track = strobe_build_thread(owner->build, number, (uint64_t)1 << 40);
    if (!track) {
        strobe_map_remove(&chrome->tids, key);
        return 0;
    }
    chrome->threads[i] =
        (struct strobe_chrome_thread){.process = (uint32_t)process - 1, .track = track};
    chrome->out->n_threads = ++chrome->n_threads;
    *known = owner->a_thread = i + 1;
    if (tid->type == '"')
        name_thread(chrome, i + 1, tid->value);
    return i + 1;
}

static struct strobe_build *sink_of(struct strobe_chrome *chrome, const struct event *event)
{
    return chrome->processes[chrome->threads[event->thread - 1].process].build;
}

static enum strobe_err name_something(struct strobe_chrome *chrome, const struct event *event)
{
    struct strobe_json_field args[STROBE_JSON_FIELDS_MAX];
    const struct strobe_json_field *what = field(event, "name"), *in = field(event, "args");
    int n = in->type == '{' ? strobe_json_fields(in->value, args) : 0;
    const struct strobe_json_field *name = strobe_json_field(args, n, "name");
    if (name->type != '"')
        return STROBE_OK; /* orders and labels: a matter of taste */
    if (is_text(what->value, "process_name")) {
        uint64_t process = process_of(chrome, field(event, "pid"));
        if (process)
            name_process(chrome, (uint32_t)process - 1, name->value);
    } else if (is_text(what->value, "thread_name") && field(event, "tid")->type) {
        uint64_t thread = thread_of(chrome, event);
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
    struct strobe_json_text name = field(event, "name")->value,
                            category = field(event, "cat")->value;
    uint64_t line = 0, process = chrome->threads[event->thread - 1].process;
    strobe_json_whole(strobe_json_field(args, n_args, "line"), &line);
    uint64_t hash = XXH64(name.at, name.n, process << 32 | (uint32_t)line);
    hash = XXH64(category.at, category.n, hash);
    hash = XXH64(file->value.at, file->value.n, hash);
    uint64_t *known = strobe_chrome_map_at(chrome, &chrome->names, hash, STROBE_CHROME_NAMES_MAX);
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

static struct strobe_row row_of(const struct event *event, enum strobe_chrome_kind kind)
{
    return (struct strobe_row){
        .group = event->thread, .time = event->time, .order = UINT64_MAX, .kind = kind};
}

static enum strobe_err keep_text(struct strobe_chrome *chrome, struct strobe_json_text text,
                                 struct strobe_row *row)
{
    uint32_t n = text.n < STROBE_CHROME_TEXT_MAX ? (uint32_t)text.n : STROBE_CHROME_TEXT_MAX;
    return n ? strobe_rows_put_text(chrome->rows, text.at, n, row) : STROBE_OK;
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
        return keep_text(chrome, field(event, "args")->value, row);
    return text->type == '"' ? keep_text(chrome, plain(chrome, text->value), row) : STROBE_OK;
}

static int args_of(const struct event *event, struct strobe_json_field *args)
{
    const struct strobe_json_field *in = field(event, "args");
    int n = in->type == '{' ? strobe_json_fields(in->value, args) : 0;
    return n < 0 ? 0 : n;
}

static enum strobe_err add_zone(struct strobe_chrome *chrome, struct strobe_row row, int64_t end)
{
    row.kind = STROBE_CHROME_ZONE;
    row.value = end == INT64_MAX ? UINT64_MAX : end > row.time ? (uint64_t)(end - row.time) : 0;
    row.order =
        UINT64_MAX - 1 - (row.value == UINT64_MAX ? UINT64_MAX - 1 : row.value); /* longest first */
    chrome->last = end != INT64_MAX && end > chrome->last ? end : chrome->last;
    return strobe_rows_add(chrome->rows, &row);
}

static enum strobe_err take_complete(struct strobe_chrome *chrome, const struct event *event)
{
    struct strobe_json_field args[STROBE_JSON_FIELDS_MAX];
    int n = args_of(event, args);
    struct strobe_row row = row_of(event, STROBE_CHROME_ZONE);
    int64_t duration = 0;
    strobe_json_ns(field(event, "dur"), &duration, &chrome->has_fraction);
    duration = duration < 0 ? 0 : duration > DURATION_MAX ? DURATION_MAX : duration;
    row.name = loc_of(chrome, event, args, n);
    enum strobe_err err = keep_args(chrome, event, args, n, &row);
    return err ? err : add_zone(chrome, row, event->time + duration);
}

static enum strobe_err take_begin(struct strobe_chrome *chrome, const struct event *event)
{
    struct strobe_json_field args[STROBE_JSON_FIELDS_MAX];
    int n = args_of(event, args);
    struct strobe_chrome_thread *thread = &chrome->threads[event->thread - 1];
    struct strobe_row row = row_of(event, STROBE_CHROME_ZONE);
    if (thread->n_over || thread->n_open == STROBE_CHROME_DEPTH_MAX ||
        !make_room(chrome, (void **)&thread->open, &thread->open_room, thread->n_open + 1ull,
                   sizeof *thread->open)) {
        thread->n_over++;
        chrome->n_too_many++;
        return STROBE_OK;
    }
    uint64_t loc = loc_of(chrome, event, args, n);
    enum strobe_err err = keep_args(chrome, event, args, n, &row);
    thread->open[thread->n_open++] =
        (struct strobe_chrome_open){event->time, loc, row.text_at, row.n_text};
    return err;
}

/* The innermost zone ends, at `end`; INT64_MAX: never. */
static enum strobe_err close_zone(struct strobe_chrome *chrome, uint32_t thread, int64_t end)
{
    struct strobe_chrome_thread *owner = &chrome->threads[thread - 1];
    const struct strobe_chrome_open *open = &owner->open[--owner->n_open];
    struct strobe_row row = {.group = thread,
                             .time = open->time,
                             .name = open->loc,
                             .text_at = open->text_at,
                             .n_text = open->n_text};
    return add_zone(chrome, row, end);
}

static enum strobe_err take_end(struct strobe_chrome *chrome, const struct event *event)
{
    struct strobe_chrome_thread *thread = &chrome->threads[event->thread - 1];
    if (thread->n_over) {
        thread->n_over--;
        chrome->n_too_many++;
        return STROBE_OK;
    }
    if (thread->n_open)
        return close_zone(chrome, event->thread, event->time);
    chrome->n_no_begin++;
    return STROBE_OK;
}

static enum strobe_err take_message(struct strobe_chrome *chrome, const struct event *event)
{
    struct strobe_row row = row_of(event, STROBE_CHROME_MESSAGE);
    enum strobe_err err = keep_text(chrome, plain(chrome, field(event, "name")->value), &row);
    return err ? err : strobe_rows_add(chrome->rows, &row);
}

/* ---- counters ---- */

static uint64_t plot_of(struct strobe_chrome *chrome, const struct event *event,
                        struct strobe_json_text series, int is_one)
{
    char name[2 * 3 * N_SHOWN + 1];
    struct strobe_json_text base = field(event, "name")->value;
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
        struct strobe_row row = row_of(event, STROBE_CHROME_DOUBLE);
        double real;
        uint64_t whole;
        if (!strobe_json_real(&args[i], &real))
            continue;
        int is_whole = args[i].type == '0' && strobe_json_whole(&args[i], &whole);
        row.kind = is_whole ? STROBE_CHROME_INT : STROBE_CHROME_DOUBLE;
        memcpy(&row.value, is_whole ? (const void *)&whole : &real, sizeof row.value);
        row.name = plot_of(chrome, event, args[i].name, n == 1);
        err = strobe_rows_add(chrome->rows, &row);
        chrome->out->n_values += !err;
    }
    return err;
}

/* ---- spans and flows ---- */

/* What binds events of a span or a flow: category, id and, if the id is local, the process. */
static uint64_t binding_of(struct strobe_chrome *chrome, const struct event *event)
{
    struct strobe_json_field two[STROBE_JSON_FIELDS_MAX];
    const struct strobe_json_field *id = field(event, "id"), *id2 = field(event, "id2");
    int n = id2->type == '{' ? strobe_json_fields(id2->value, two) : 0;
    const struct strobe_json_field *local = strobe_json_field(two, n, "local");
    struct strobe_json_text category = field(event, "cat")->value;
    uint64_t key[] = {number_of(local->type        ? local
                                : id2->type == '{' ? strobe_json_field(two, n, "global")
                                                   : id),
                      local->type ? chrome->threads[event->thread - 1].process + 1u : 0};
    return XXH64(category.at, category.n, XXH64(key, sizeof key, 0));
}

/* Spans of one binding may be nested: a key of its own for each depth, and how many are open under the plain one. */
static uint64_t span_key(uint64_t binding, uint64_t depth)
{
    uint64_t key[] = {binding, depth};
    return XXH64(key, sizeof key, 1);
}

static uint64_t *open_span(struct strobe_chrome *chrome, uint64_t binding, uint64_t depth)
{
    return strobe_chrome_map_at(chrome, &chrome->spans, span_key(binding, depth),
                                STROBE_CHROME_SPANS_MAX);
}

static enum strobe_err take_span_begin(struct strobe_chrome *chrome, const struct event *event)
{
    struct strobe_json_field args[STROBE_JSON_FIELDS_MAX];
    int n = args_of(event, args);
    struct strobe_row row = row_of(event, STROBE_CHROME_SPAN_BEGIN);
    uint64_t binding = binding_of(chrome, event), *n_open = open_span(chrome, binding, 0), depth;
    depth = n_open ? ++*n_open : 0;
    uint64_t *number = depth ? open_span(chrome, binding, depth) : NULL;
    if (!number) {
        chrome->n_too_many++;
        return STROBE_OK;
    }
    *number = row.value = ++chrome->n_spans;
    row.name = loc_of(chrome, event, args, n);
    chrome->out->n_spans++;
    return strobe_rows_add(chrome->rows, &row);
}

static enum strobe_err take_span_end(struct strobe_chrome *chrome, const struct event *event)
{
    struct strobe_row row = row_of(event, STROBE_CHROME_SPAN_END);
    uint64_t binding = binding_of(chrome, event), plain = span_key(binding, 0);
    uint64_t *n_open = strobe_map_find(&chrome->spans, plain);
    if (!n_open || !*n_open) {
        chrome->n_no_begin++;
        return STROBE_OK;
    }
    uint64_t key = span_key(binding, (*n_open)--);
    if (!*n_open)
        strobe_map_remove(&chrome->spans, plain);
    row.value = strobe_map_get(&chrome->spans, key, 0);
    return strobe_map_remove(&chrome->spans, key) ? strobe_rows_add(chrome->rows, &row) : STROBE_OK;
}

static enum strobe_err take_flow(struct strobe_chrome *chrome, const struct event *event)
{
    struct strobe_row row = row_of(event, STROBE_CHROME_FLOW);
    const struct strobe_json_field *name = field(event, "name");
    int is_plain = is_text(field(event, "cat")->value, "flow") && is_text(name->value, "flow");
    row.name = event->phase == 's'   ? STROBE_KIND_FLOW_BEGIN
               : event->phase == 't' ? STROBE_KIND_FLOW_STEP
                                     : STROBE_KIND_FLOW_END;
    row.value = is_plain ? number_of(field(event, "id")) : binding_of(chrome, event);
    chrome->out->n_flows++;
    return strobe_rows_add(chrome->rows, &row);
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
        chrome->n_unknown++;
        return STROBE_OK;
    }
    if (!strobe_json_ns(field(event, "ts"), &event->time, &chrome->has_fraction)) {
        chrome->n_no_time++;
        return STROBE_OK;
    }
    event->thread = (uint32_t)thread_of(chrome, event);
    if (!event->thread) {
        chrome->n_too_many++;
        return STROBE_OK;
    }
    chrome->first = event->time < chrome->first ? event->time : chrome->first;
    chrome->last = event->time > chrome->last ? event->time : chrome->last;
    return takers[i].take(chrome, event);
}

static enum strobe_err take_event(struct strobe_chrome *chrome, const char *text, size_t n)
{
    struct event event;
    event.n = strobe_json_fields((struct strobe_json_text){text, n}, event.fields);
    const struct strobe_json_field *phase = field(&event, "ph");
    chrome->out->n_events++;
    if (event.n < 0 || phase->type != '"' || phase->value.n != 1 || !phase->value.at[0]) {
        chrome->n_no_phase++;
        return STROBE_OK;
    }
    event.phase = phase->value.at[0];
    return event.phase == 'M' ? name_something(chrome, &event) : take_timed(chrome, &event);
}

/* Zones that were begun and never ended. */
static enum strobe_err close_open(struct strobe_chrome *chrome)
{
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; i < chrome->n_threads && !err; i++)
        while (chrome->threads[i].n_open && !err) {
            chrome->n_no_end++;
            err = close_zone(chrome, i + 1, INT64_MAX);
        }
    return err;
}

enum strobe_err strobe_chrome_read(struct strobe_chrome *chrome)
{
    const char *text;
    size_t n;
    enum strobe_err err, end;
    while (!(err = strobe_events_in_next(chrome->in, &text, &n)))
        if ((err = take_event(chrome, text, n)))
            return err;
    end = close_open(chrome);
    return end ? end : err == STROBE_ERR_END ? STROBE_OK : err;
}
