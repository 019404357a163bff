/* perfetto_events.c - track events become rows: slices as begins and ends, which are paired once all rows are in order, since both may come from different
 * writers; instants as messages; counters as values of plots; points of flows wait in an order of their own, because which of them is the first is known
 * when all were read. Old writers have phases of Chrome's JSON instead of types.  SPDX-License-Identifier: MIT */
#include <string.h>
#include <xxhash.h>

#include "import/perfetto_parts.h"

enum { FLOWS_MAX = 64 };
enum { FLOW_IN = 1, FLOW_OUT = 2 };
/* Points that stand alone, as our own export writes them, come behind all begins and ends of their time. */
#define ORDER_LATE (1ull << 62)

static const struct strobe_perfetto_text nothing = {"", 0};

/* An event of an old writer. */
struct legacy {
    int is_there;
    char phase;
    uint64_t name_iid, id, bind_id, direction;
    int64_t duration_us;
    int is_local, has_id;
    struct strobe_perfetto_text scope;
};

struct event {
    struct strobe_perfetto_sequence *sequence; /* borrowed */
    int64_t time;
    int has_time, has_track, has_value, has_real, has_args;
    uint64_t type, track, value, real;
    struct strobe_perfetto_text name, category, file, function;
    uint32_t line;
    uint64_t flows[FLOWS_MAX]; /* those from n_flows - n_ends on end there */
    uint32_t n_flows;
    uint64_t is_end; /* a bit for each */
    struct legacy legacy;
    struct strobe_protobuf message; /* from its begin */
};

/* ---- what it says ---- */

static struct strobe_perfetto_text text_of(const struct strobe_protobuf *field)
{
    return (struct strobe_perfetto_text){field->bytes ? (const char *)field->bytes : "",
                                         field->bytes ? (size_t)field->number : 0};
}

static void read_legacy(struct legacy *legacy, struct strobe_protobuf message)
{
    legacy->is_there = 1;
    while (strobe_protobuf_next(&message)) {
        uint64_t number = message.number;
        if (message.field == 1)
            legacy->name_iid = number;
        else if (message.field == 2)
            legacy->phase = number < 128 ? (char)number : 0;
        else if (message.field == 3)
            legacy->duration_us = (int64_t)number;
        else if (message.field == 7)
            legacy->scope = text_of(&message);
        else if (message.field == 8)
            legacy->bind_id = number;
        else if (message.field == 13)
            legacy->direction = number;
        else if (message.field == 6 || message.field == 10 || message.field == 11) {
            legacy->id = number;
            legacy->has_id = 1;
            legacy->is_local = message.field == 10;
        }
    }
}

static void read_flows(struct event *event, const struct strobe_protobuf *field, int is_fixed,
                       int is_end)
{
    struct strobe_protobuf_numbers numbers = strobe_protobuf_numbers(field, is_fixed);
    uint64_t flow;
    while (event->n_flows < FLOWS_MAX && strobe_protobuf_numbers_next(&numbers, &flow)) {
        event->is_end |= (uint64_t)is_end << event->n_flows;
        event->flows[event->n_flows++] = flow;
    }
}

/* A source location: file 2, function 3, line 4. */
static void read_source(struct event *event, struct strobe_protobuf message)
{
    while (strobe_protobuf_next(&message)) {
        if (message.field == 2)
            event->file = text_of(&message);
        else if (message.field == 3)
            event->function = text_of(&message);
        else if (message.field == 4)
            event->line = (uint32_t)message.number;
    }
}

static void use_source(struct event *event, struct strobe_perfetto_text packed)
{
    const char *function = packed.n ? memchr(packed.at, 0, packed.n) : NULL;
    const char *line =
        function ? memchr(function + 1, 0, (size_t)(packed.at + packed.n - function - 1)) : NULL;
    if (!line)
        return;
    event->file = (struct strobe_perfetto_text){packed.at, (size_t)(function - packed.at)};
    event->function = (struct strobe_perfetto_text){function + 1, (size_t)(line - function - 1)};
    event->line = 0;
    for (const char *at = line + 1; at < packed.at + packed.n; at++)
        event->line = event->line * 10 + (uint32_t)(*at - '0');
}

static struct strobe_perfetto_text interned(const struct strobe_perfetto *perfetto,
                                            const struct event *event,
                                            enum strobe_perfetto_intern kind, uint64_t number)
{
    return strobe_perfetto_interned(perfetto, event->sequence, kind, number);
}

/* Names, and where it belongs. */
static void read_name(const struct strobe_perfetto *perfetto, struct event *event,
                      const struct strobe_protobuf *field)
{
    struct strobe_protobuf_numbers numbers = strobe_protobuf_numbers(field, 0);
    uint64_t number;
    switch (field->field) {
    case 3:
        if (!event->category.n && strobe_protobuf_numbers_next(&numbers, &number))
            event->category = interned(perfetto, event, STROBE_PERFETTO_CATEGORY, number);
        break;
    case 10:
        event->name = interned(perfetto, event, STROBE_PERFETTO_NAME, field->number);
        break;
    case 22:
        event->category = event->category.n ? event->category : text_of(field);
        break;
    case 23:
        event->name = text_of(field);
        break;
    case 33:
        read_source(event, strobe_protobuf_inner(field));
        break;
    case 34:
        use_source(event, interned(perfetto, event, STROBE_PERFETTO_SOURCE, field->number));
        break;
    }
}

static void read_us(struct event *event, uint64_t us)
{
    event->has_time = !__builtin_mul_overflow((int64_t)us, 1000, &event->time);
}

static void read_field(const struct strobe_perfetto *perfetto, struct event *event,
                       const struct strobe_protobuf *field)
{
    switch (field->field) {
    case 1: /* steps in us, of old writers */
        event->sequence->reference_us += field->number;
        read_us(event, event->sequence->reference_us);
        break;
    case 16:
        read_us(event, field->number);
        break;
    case 4:
        event->has_args = 1;
        break;
    case 6:
        read_legacy(&event->legacy, strobe_protobuf_inner(field));
        break;
    case 9:
        event->type = field->number;
        break;
    case 11:
        event->track = field->number;
        event->has_track = 1;
        break;
    case 30:
        event->value = field->number;
        event->has_value = 1;
        break;
    case 44:
        event->real = field->number;
        event->has_real = 1;
        break;
    case 36:
    case 42:
        read_flows(event, field, 0, field->field == 42);
        break;
    case 47:
    case 48:
        read_flows(event, field, 1, field->field == 48);
        break;
    default:
        read_name(perfetto, event, field);
    }
}

/* ---- rows ---- */

struct strobe_row strobe_perfetto_row(struct strobe_perfetto *perfetto, uint32_t thread,
                                      int64_t time, enum strobe_timeline_kind kind)
{
    strobe_timeline_see(perfetto->timeline, time);
    return (struct strobe_row){
        .group = thread, .time = time, .order = ++perfetto->n_rows, .kind = kind};
}

uint64_t strobe_perfetto_loc(struct strobe_perfetto *perfetto, uint32_t thread,
                             struct strobe_perfetto_text name, struct strobe_perfetto_text function,
                             struct strobe_perfetto_text file, uint32_t line)
{
    struct strobe_timeline *timeline = perfetto->timeline;
    uint64_t process = timeline->threads[thread - 1].process;
    uint64_t hash = XXH64(name.at, name.n, process << 32 | line);
    hash = XXH64(function.at, function.n, hash);
    hash = file.n ? XXH64(file.at, file.n, hash) : hash;
    uint64_t *known =
        strobe_timeline_map_at(timeline, &timeline->names, hash, STROBE_TIMELINE_NAMES_MAX);
    if (known && *known)
        return *known;
    struct strobe_build_loc loc = {.line = line,
                                   .name = name.at,
                                   .n_name = name.n,
                                   .function = function.at,
                                   .n_function = function.n,
                                   .file = file.at,
                                   .n_file = file.n};
    uint64_t id = strobe_build_loc(strobe_timeline_build(timeline, thread), &loc);
    if (known)
        *known = id;
    return id;
}

static uint64_t loc_of(struct strobe_perfetto *perfetto, const struct event *event, uint32_t thread)
{
    return strobe_perfetto_loc(perfetto, thread, event->name,
                               event->function.n ? event->function : event->category, event->file,
                               event->line);
}

static enum strobe_err keep_args(struct strobe_perfetto *perfetto, const struct event *event,
                                 struct strobe_row *row)
{
    if (!event->has_args)
        return STROBE_OK;
    struct strobe_perfetto_text args =
        strobe_perfetto_args(perfetto, event->sequence, event->message);
    return strobe_timeline_text(perfetto->timeline, args.at, args.n, row);
}

/* Points of flows, with the row that they belong to. */
static enum strobe_err add_flows(struct strobe_perfetto *perfetto, const struct event *event,
                                 const struct strobe_row *beside)
{
    enum strobe_err err = STROBE_OK;
    if (event->n_flows && !perfetto->flows)
        err = strobe_rows_open(perfetto->timeline->folder, &perfetto->flows);
    for (uint32_t i = 0; !err && i < event->n_flows; i++)
        err =
            strobe_rows_add(perfetto->flows, &(struct strobe_row){.group = event->flows[i],
                                                                  .time = beside->time,
                                                                  .order = beside->order,
                                                                  .value = beside->group,
                                                                  .name = event->is_end >> i & 1});
    return err;
}

static enum strobe_err put_flow(void *context, const struct strobe_row *row)
{
    struct strobe_perfetto *perfetto = context;
    int is_first = row->group != perfetto->last_flow || !perfetto->is_flow_open;
    perfetto->last_flow = row->group;
    perfetto->is_flow_open = !row->name;
    perfetto->timeline->out->n_flows++;
    return strobe_timeline_add(perfetto->timeline,
                               &(struct strobe_row){.group = row->value,
                                                    .time = row->time,
                                                    .order = row->order,
                                                    .value = row->group,
                                                    .kind = STROBE_TIMELINE_FLOW,
                                                    .name = row->name  ? STROBE_KIND_FLOW_END
                                                            : is_first ? STROBE_KIND_FLOW_BEGIN
                                                                       : STROBE_KIND_FLOW_STEP});
}

enum strobe_err strobe_perfetto_write_flows(struct strobe_perfetto *perfetto)
{
    return perfetto->flows ? strobe_rows_sorted(perfetto->flows, put_flow, perfetto) : STROBE_OK;
}

/* ---- kinds of events ---- */

static enum strobe_err take_begin(struct strobe_perfetto *perfetto, struct event *event,
                                  struct strobe_perfetto_track *track, uint32_t thread)
{
    struct strobe_row row =
        strobe_perfetto_row(perfetto, thread, event->time, STROBE_TIMELINE_BEGIN);
    if (track)
        track->n_begins++;
    row.name = loc_of(perfetto, event, thread);
    enum strobe_err err = keep_args(perfetto, event, &row);
    if (!err)
        err = strobe_timeline_add(perfetto->timeline, &row);
    return err ? err : add_flows(perfetto, event, &row);
}

static enum strobe_err take_end(struct strobe_perfetto *perfetto, struct event *event,
                                uint32_t thread)
{
    struct strobe_row row = strobe_perfetto_row(perfetto, thread, event->time, STROBE_TIMELINE_END);
    enum strobe_err err = add_flows(perfetto, event, &row);
    row.order = ++perfetto->n_rows; /* behind the flows */
    if (!err)
        err = keep_args(perfetto, event, &row);
    return err ? err : strobe_timeline_add(perfetto->timeline, &row);
}

static enum strobe_err take_instant(struct strobe_perfetto *perfetto, struct event *event,
                                    uint32_t thread)
{
    struct strobe_row row =
        strobe_perfetto_row(perfetto, thread, event->time, STROBE_TIMELINE_MESSAGE);
    if (event->n_flows && event->name.n == 4 && !memcmp(event->name.at, "flow", 4)) {
        row.order += ORDER_LATE;
        return add_flows(perfetto, event, &row);
    }
    enum strobe_err err =
        strobe_timeline_text(perfetto->timeline, event->name.at, event->name.n, &row);
    if (!err)
        err = strobe_timeline_add(perfetto->timeline, &row);
    return err ? err : add_flows(perfetto, event, &row);
}

/* A slice of a given length. */
static enum strobe_err take_complete(struct strobe_perfetto *perfetto, struct event *event,
                                     struct strobe_perfetto_track *track, uint32_t thread)
{
    enum { US_MAX = 1 << 30 };
    int64_t us = event->legacy.duration_us;
    int64_t ns = us < 0 ? 0 : us > 1000ll * US_MAX ? 1000000ll * US_MAX : us * 1000;
    struct strobe_row row =
        strobe_perfetto_row(perfetto, thread, event->time, STROBE_TIMELINE_ZONE);
    if (track)
        track->n_begins++;
    row.name = loc_of(perfetto, event, thread);
    enum strobe_err err = keep_args(perfetto, event, &row);
    if (!err)
        err = strobe_timeline_zone(perfetto->timeline, row, event->time + ns);
    row.order += ORDER_LATE;
    return err ? err : add_flows(perfetto, event, &row);
}

/* ---- counters ---- */

static enum strobe_err add_value(struct strobe_perfetto *perfetto, int64_t time, uint64_t uuid,
                                 uint64_t bits, int is_real)
{
    struct strobe_perfetto_track *track = strobe_perfetto_track(perfetto, uuid);
    uint64_t plot;
    uint32_t thread = track ? strobe_perfetto_plot_of(perfetto, track, &plot) : 0;
    if (!thread)
        return STROBE_OK;
    struct strobe_row row = strobe_perfetto_row(
        perfetto, thread, time, is_real ? STROBE_TIMELINE_DOUBLE : STROBE_TIMELINE_INT);
    row.name = plot;
    if (is_real) {
        double value = strobe_protobuf_double(bits) * (double)track->multiplier;
        value = track->is_incremental ? track->real_sum += value : value;
        memcpy(&row.value, &value, sizeof row.value);
    } else {
        row.value = bits * (uint64_t)track->multiplier;
        row.value = track->is_incremental ? track->sum += row.value : row.value;
    }
    perfetto->timeline->out->n_values++;
    return strobe_timeline_add(perfetto->timeline, &row);
}

static enum strobe_err take_counter(struct strobe_perfetto *perfetto, const struct event *event,
                                    uint64_t uuid)
{
    if (!event->has_value && !event->has_real) {
        strobe_timeline_leave_out(perfetto->timeline, "counters without a value were left out", 1);
        return STROBE_OK;
    }
    return add_value(perfetto, event->time, uuid, event->has_real ? event->real : event->value,
                     event->has_real);
}

/* Values beside an event: field 12 for tracks 31, 46 for tracks 45, which the sequence's defaults name where the event does not. */
static enum strobe_err take_extra(struct strobe_perfetto *perfetto, const struct event *event,
                                  int is_real)
{
    const struct strobe_perfetto_sequence *sequence = event->sequence;
    uint64_t uuids[STROBE_PERFETTO_EXTRA_MAX], number;
    uint32_t n = 0, i = 0, n_known = is_real ? sequence->n_extra_doubles : sequence->n_extra;
    struct strobe_protobuf at = event->message;
    while (strobe_protobuf_next(&at)) {
        struct strobe_protobuf_numbers numbers = strobe_protobuf_numbers(&at, 0);
        while (at.field == (is_real ? 45 : 31) && n < STROBE_PERFETTO_EXTRA_MAX &&
               strobe_protobuf_numbers_next(&numbers, &number))
            uuids[n++] = number;
    }
    if (!n && n_known)
        memcpy(uuids, is_real ? sequence->extra_doubles : sequence->extra,
               (n = n_known) * sizeof *uuids);
    enum strobe_err err = STROBE_OK;
    for (at = event->message; !err && strobe_protobuf_next(&at);) {
        struct strobe_protobuf_numbers numbers = strobe_protobuf_numbers(&at, is_real);
        while (!err && at.field == (is_real ? 46 : 12) && i < n &&
               strobe_protobuf_numbers_next(&numbers, &number))
            err = add_value(perfetto, event->time, uuids[i++], number, is_real);
    }
    return err;
}

/* ---- phases of old writers ---- */

static uint64_t binding_of(const struct strobe_perfetto *perfetto, const struct event *event,
                           uint32_t thread)
{
    const struct legacy *legacy = &event->legacy;
    uint64_t key[] = {legacy->id,
                      legacy->is_local ? perfetto->timeline->threads[thread - 1].process + 1u : 0};
    uint64_t hash = XXH64(event->category.at, event->category.n, XXH64(key, sizeof key, 0));
    return legacy->scope.n ? XXH64(legacy->scope.at, legacy->scope.n, hash) : hash;
}

static enum strobe_err take_async(struct strobe_perfetto *perfetto, struct event *event,
                                  uint32_t thread, int is_end)
{
    struct strobe_row row =
        strobe_perfetto_row(perfetto, thread, event->time, STROBE_TIMELINE_SPAN_BEGIN);
    uint64_t binding = binding_of(perfetto, event, thread);
    if (is_end)
        return strobe_timeline_span_end(perfetto->timeline, row, binding);
    row.name = loc_of(perfetto, event, thread);
    return strobe_timeline_span_begin(perfetto->timeline, row, binding);
}

static enum strobe_err take_legacy(struct strobe_perfetto *perfetto, struct event *event,
                                   struct strobe_perfetto_track *track, uint32_t thread)
{
    const struct legacy *legacy = &event->legacy;
    if (legacy->direction && event->n_flows < FLOWS_MAX) {
        event->is_end |= (uint64_t)(legacy->direction == FLOW_IN) << event->n_flows;
        event->flows[event->n_flows++] = legacy->bind_id;
    }
    switch (legacy->phase) {
    case 'B':
        return take_begin(perfetto, event, track, thread);
    case 'E':
        return take_end(perfetto, event, thread);
    case 'X':
        return take_complete(perfetto, event, track, thread);
    case 'i':
    case 'I':
    case 'R':
    case 'n':
    case 'T':
    case 'p':
        return take_instant(perfetto, event, thread);
    case 'b':
    case 'S':
        return take_async(perfetto, event, thread, 0);
    case 'e':
    case 'F':
        return take_async(perfetto, event, thread, 1);
    case 's':
    case 't':
    case 'f':
        event->is_end |= (uint64_t)(legacy->phase == 'f') << event->n_flows;
        event->flows[event->n_flows++] = legacy->has_id ? legacy->id : legacy->bind_id;
        event->name = (struct strobe_perfetto_text){"flow", 4};
        return take_instant(perfetto, event, thread);
    default:
        strobe_timeline_leave_out(
            perfetto->timeline, "events of phases that a trace has no place for were left out", 1);
        return STROBE_OK;
    }
}

/* ---- an event ---- */

/* What its slice stands on: a track, or the thread of an old writer. */
static uint32_t place_of(struct strobe_perfetto *perfetto, const struct event *event,
                         struct strobe_perfetto_track **track)
{
    const struct strobe_perfetto_sequence *sequence = event->sequence;
    uint64_t uuid = event->has_track ? event->track : sequence->has_track ? sequence->track : 0;
    *track = NULL;
    if (!uuid && sequence->has_thread)
        return strobe_perfetto_thread(perfetto, sequence->pid, sequence->tid);
    *track = strobe_perfetto_track(perfetto, uuid);
    return *track ? strobe_perfetto_thread_of(perfetto, *track) : 0;
}

static enum strobe_err take_slice(struct strobe_perfetto *perfetto, struct event *event)
{
    struct strobe_perfetto_track *track;
    uint32_t thread = place_of(perfetto, event, &track);
    if (!thread)
        return STROBE_OK;
    if (event->legacy.name_iid && !event->name.n)
        event->name = interned(perfetto, event, STROBE_PERFETTO_NAME, event->legacy.name_iid);
    switch (event->type) {
    case STROBE_PACKET_TYPE_BEGIN:
        return take_begin(perfetto, event, track, thread);
    case STROBE_PACKET_TYPE_END:
        return take_end(perfetto, event, thread);
    case STROBE_PACKET_TYPE_INSTANT:
        return take_instant(perfetto, event, thread);
    }
    if (event->legacy.is_there)
        return take_legacy(perfetto, event, track, thread);
    strobe_timeline_leave_out(perfetto->timeline,
                              "events without a type that is known were left out", 1);
    return STROBE_OK;
}

enum strobe_err strobe_perfetto_event(struct strobe_perfetto *perfetto,
                                      struct strobe_perfetto_sequence *sequence, int has_time,
                                      int64_t time, struct strobe_protobuf message)
{
    struct event event = {.sequence = sequence,
                          .time = time,
                          .has_time = has_time,
                          .name = nothing,
                          .category = nothing,
                          .file = nothing,
                          .function = nothing,
                          .message = message};
    event.legacy.scope = nothing;
    while (strobe_protobuf_next(&message))
        read_field(perfetto, &event, &message);
    if (message.is_bad) {
        strobe_timeline_leave_out(perfetto->timeline, "events were left out: damaged", 1);
        return STROBE_OK;
    }
    if (!event.has_time || event.time < -(1ll << 61) || event.time > 1ll << 61) {
        strobe_timeline_leave_out(perfetto->timeline, strobe_timeline_no_time, 1);
        return STROBE_OK;
    }
    enum strobe_err err = take_extra(perfetto, &event, 0);
    if (!err)
        err = take_extra(perfetto, &event, 1);
    if (err)
        return err;
    if (event.type == STROBE_PACKET_TYPE_COUNTER)
        return take_counter(perfetto, &event,
                            event.has_track       ? event.track
                            : sequence->has_track ? sequence->track
                                                  : 0);
    return take_slice(perfetto, &event);
}
