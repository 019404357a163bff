/* perfetto_ftrace.c - the kernel's events of a trace: who ran on which processor, who was woken by whom, and what programs print into the kernel's buffer
 * (atrace: B|pid|name, E|pid, C|pid|name|value). Switches come one by one, or as columns (compact), in which who left is who came before.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "import/perfetto_parts.h"

enum {
    BUNDLE_CPU = 1,
    BUNDLE_EVENT,
    BUNDLE_LOST,
    BUNDLE_COMPACT,
    BUNDLE_CLOCK,
    BUNDLE_CLOCK_NS,
    BUNDLE_BOOT_NS
};
enum { EVENT_TIME = 1, EVENT_PID = 2, EVENT_PRINT = 3, EVENT_SWITCH = 4, EVENT_WAKING = 20 };
enum { CLOCK_GLOBAL = 2 };
enum { CPUS_MAX = 1 << 16, COMMS_MAX = 1024, N_COLUMNS = 12 };
/* Reasons of a switch_out (docs/file-format.md, kind 29). */
enum { PREEMPTED = 32, YIELDED = 33, FIRST_STATE = 101 };

static const struct strobe_perfetto_text nobody = {"", 0};

/* What the events of one processor share. */
struct bundle {
    uint64_t cpu;
    int64_t shift; /* from the kernel's clock to the trace's */
};

/* What a thread was when it left, as the kernel's bits have it: 1 S, 2 D, 4 T, 8 t, 16 X, 32 Z, 64 parked, 128 I, 256 preempted. */
static uint64_t reason_of(int64_t state)
{
    static const char letters[] = "SDTtXZPI", known[] = "DIRSTtWXZ";
    if (!(state & 0x1ff))
        return state ? PREEMPTED : YIELDED; /* older kernels mark it above */
    if (!(state & 0xff))
        return PREEMPTED;
    const char *letter = strchr(known, letters[__builtin_ctzll((uint64_t)state)]);
    return letter ? FIRST_STATE + (uint64_t)(letter - known) : 0;
}

static struct strobe_perfetto_text text_of(const struct strobe_protobuf *field)
{
    return (struct strobe_perfetto_text){field->bytes ? (const char *)field->bytes : "",
                                         field->bytes ? (size_t)field->number : 0};
}

static int is_time(uint64_t ns)
{
    return ns < 1ull << 61;
}

/* ---- switches ---- */

static enum strobe_err add_switch(struct strobe_perfetto *perfetto, const struct bundle *bundle,
                                  uint64_t ns, uint64_t tid, struct strobe_perfetto_text name,
                                  enum strobe_timeline_kind kind, uint64_t number)
{
    if (!tid) /* the processor is idle */
        return STROBE_OK;
    uint32_t thread = strobe_perfetto_kernel_thread(perfetto, tid, name);
    if (!thread)
        return STROBE_OK;
    struct strobe_row row =
        strobe_perfetto_row(perfetto, thread, (int64_t)ns + bundle->shift, kind);
    row.value = bundle->cpu;
    row.name = number;
    perfetto->timeline->out->n_switches += kind != STROBE_TIMELINE_WOKEN;
    return strobe_timeline_add(perfetto->timeline, &row);
}

/* Who runs on the processor: its tid + 1; 0: not known yet. */
static uint64_t *running(struct strobe_perfetto *perfetto, uint64_t cpu)
{
    return strobe_timeline_map_at(perfetto->timeline, &perfetto->cpu_tids, cpu, CPUS_MAX);
}

static enum strobe_err put_switch(struct strobe_perfetto *perfetto, const struct bundle *bundle,
                                  uint64_t ns, const uint64_t *from, int64_t state, uint64_t to,
                                  struct strobe_perfetto_text from_name,
                                  struct strobe_perfetto_text to_name)
{
    uint64_t *now = running(perfetto, bundle->cpu);
    enum strobe_err err = STROBE_OK;
    if (!is_time(ns) || !now) {
        strobe_timeline_leave_out(perfetto->timeline, strobe_timeline_no_time, 1);
        return STROBE_OK;
    }
    uint64_t left = from ? *from : *now ? *now - 1 : 0;
    *now = to + 1;
    if (left)
        err = add_switch(perfetto, bundle, ns, left, from_name, STROBE_TIMELINE_SWITCH_OUT,
                         reason_of(state));
    return err ? err : add_switch(perfetto, bundle, ns, to, to_name, STROBE_TIMELINE_SWITCH_IN, 0);
}

/* sched_switch: prev_comm 1, prev_pid 2, prev_state 4, next_comm 5, next_pid 6. */
static enum strobe_err take_switch(struct strobe_perfetto *perfetto, const struct bundle *bundle,
                                   uint64_t ns, struct strobe_protobuf message)
{
    struct strobe_perfetto_text from_name = nobody, to_name = nobody;
    uint64_t from = 0, to = 0;
    int64_t state = 0;
    while (strobe_protobuf_next(&message)) {
        if (message.field == 1)
            from_name = text_of(&message);
        else if (message.field == 2)
            from = (uint32_t)message.number;
        else if (message.field == 4)
            state = (int64_t)message.number;
        else if (message.field == 5)
            to_name = text_of(&message);
        else if (message.field == 6)
            to = (uint32_t)message.number;
    }
    return put_switch(perfetto, bundle, ns, &from, state, to, from_name, to_name);
}

static enum strobe_err put_waking(struct strobe_perfetto *perfetto, struct bundle bundle,
                                  uint64_t ns, uint64_t tid, uint64_t cpu, uint64_t by,
                                  struct strobe_perfetto_text name)
{
    if (!is_time(ns))
        return STROBE_OK;
    bundle.cpu = cpu;
    return add_switch(perfetto, &bundle, ns, tid, name, STROBE_TIMELINE_WOKEN, by);
}

/* sched_waking: comm 1, pid 2, target_cpu 5. */
static enum strobe_err take_waking(struct strobe_perfetto *perfetto, const struct bundle *bundle,
                                   uint64_t ns, uint64_t by, struct strobe_protobuf message)
{
    struct strobe_perfetto_text name = nobody;
    uint64_t tid = 0, cpu = 0;
    while (strobe_protobuf_next(&message)) {
        if (message.field == 1)
            name = text_of(&message);
        else if (message.field == 2)
            tid = (uint32_t)message.number;
        else if (message.field == 5)
            cpu = (uint32_t)message.number;
    }
    return put_waking(perfetto, *bundle, ns, tid, cpu, by, name);
}

/* ---- the same as columns ---- */

struct columns {
    struct strobe_protobuf_numbers at[N_COLUMNS + 1]; /* by field */
    struct strobe_perfetto_text names[COMMS_MAX];
    uint32_t n_names;
};

static uint64_t next_of(struct columns *columns, unsigned field)
{
    uint64_t value = 0;
    strobe_protobuf_numbers_next(&columns->at[field], &value);
    return value;
}

static struct strobe_perfetto_text name_at(const struct columns *columns, uint64_t i)
{
    return i < columns->n_names ? columns->names[i] : nobody;
}

/* Switches: time 1 (steps), prev_state 2, next_pid 3, comm 6. Wake-ups: time 7, pid 8, cpu 9, comm 11. Both in the order of time, since who wakes is who runs. */
static enum strobe_err take_columns(struct strobe_perfetto *perfetto, const struct bundle *bundle,
                                    struct columns *columns)
{
    uint64_t step, switch_ns = 0, waking_ns = 0;
    int has_switch = strobe_protobuf_numbers_next(&columns->at[1], &switch_ns);
    int has_waking = strobe_protobuf_numbers_next(&columns->at[7], &waking_ns);
    enum strobe_err err = STROBE_OK;
    while (!err && (has_switch || has_waking)) {
        if (has_switch && (!has_waking || switch_ns <= waking_ns)) {
            int64_t state = (int64_t)next_of(columns, 2);
            uint64_t to = (uint32_t)next_of(columns, 3);
            err = put_switch(perfetto, bundle, switch_ns, NULL, state, to, nobody,
                             name_at(columns, next_of(columns, 6)));
            has_switch = strobe_protobuf_numbers_next(&columns->at[1], &step);
            switch_ns += has_switch ? step : 0;
        } else {
            uint64_t tid = (uint32_t)next_of(columns, 8), cpu = (uint32_t)next_of(columns, 9);
            uint64_t now = strobe_map_get(&perfetto->cpu_tids, bundle->cpu, 0);
            err = put_waking(perfetto, *bundle, waking_ns, tid, cpu, now ? now - 1 : 0,
                             name_at(columns, next_of(columns, 11)));
            has_waking = strobe_protobuf_numbers_next(&columns->at[7], &step);
            waking_ns += has_waking ? step : 0;
        }
    }
    return err;
}

static enum strobe_err take_compact(struct strobe_perfetto *perfetto, const struct bundle *bundle,
                                    struct strobe_protobuf message)
{
    struct columns *columns = calloc(1, sizeof *columns);
    if (!columns)
        return STROBE_ERR_NOMEM;
    while (strobe_protobuf_next(&message)) {
        if (message.field == 5 && columns->n_names < COMMS_MAX)
            columns->names[columns->n_names++] = text_of(&message);
        else if (message.field <= N_COLUMNS)
            columns->at[message.field] = strobe_protobuf_numbers(&message, 0);
    }
    enum strobe_err err = take_columns(perfetto, bundle, columns);
    free(columns);
    return err;
}

/* ---- what programs print ---- */

/* The part up to the next '|' or the end of the line. */
static struct strobe_perfetto_text next_part(struct strobe_perfetto_text *text)
{
    size_t n = 0;
    while (n < text->n && text->at[n] != '|' && text->at[n] != '\n')
        n++;
    struct strobe_perfetto_text part = {text->at, n};
    size_t n_passed = n < text->n ? n + 1 : n;
    *text = (struct strobe_perfetto_text){text->at + n_passed, text->n - n_passed};
    return part;
}

static int64_t number_of(struct strobe_perfetto_text text)
{
    char digits[24] = "";
    memcpy(digits, text.at, text.n < sizeof digits - 1 ? text.n : sizeof digits - 1);
    return strtoll(digits, NULL, 10);
}

static enum strobe_err put_value(struct strobe_perfetto *perfetto, int64_t time, uint32_t thread,
                                 struct strobe_perfetto_text name, int64_t value)
{
    struct strobe_row row = strobe_perfetto_row(perfetto, thread, time, STROBE_TIMELINE_INT);
    row.value = (uint64_t)value;
    row.name =
        strobe_build_string(strobe_timeline_build(perfetto->timeline, thread), name.at, name.n);
    perfetto->timeline->out->n_values++;
    return strobe_timeline_add(perfetto->timeline, &row);
}

/* print: buf 2. */
static enum strobe_err take_print(struct strobe_perfetto *perfetto, const struct bundle *bundle,
                                  uint64_t ns, uint64_t tid, struct strobe_protobuf message)
{
    struct strobe_perfetto_text text = nobody;
    while (strobe_protobuf_next(&message))
        if (message.field == 2)
            text = text_of(&message);
    struct strobe_perfetto_text what = next_part(&text), pid = next_part(&text),
                                name = next_part(&text), value = next_part(&text);
    char kind = what.n == 1 ? what.at[0] : 0;
    if (!strchr("BEC", kind) || !kind || !is_time(ns)) {
        strobe_timeline_leave_out(perfetto->timeline,
                                  "texts in the kernel's buffer are neither begin, end nor counter",
                                  1);
        return STROBE_OK;
    }
    uint32_t thread = pid.n && !strobe_map_find(&perfetto->tid_pids, tid)
                          ? strobe_perfetto_thread(perfetto, (uint32_t)number_of(pid), tid)
                          : strobe_perfetto_kernel_thread(perfetto, tid, nobody);
    int64_t time = (int64_t)ns + bundle->shift;
    if (!thread)
        return STROBE_OK;
    if (kind == 'C')
        return put_value(perfetto, time, thread, name, number_of(value));
    struct strobe_row row = strobe_perfetto_row(
        perfetto, thread, time, kind == 'B' ? STROBE_TIMELINE_BEGIN : STROBE_TIMELINE_END);
    if (kind == 'B')
        row.name = strobe_perfetto_loc(perfetto, thread, name, nobody, nobody, 0);
    return strobe_timeline_add(perfetto->timeline, &row);
}

/* ---- a bundle ---- */

static enum strobe_err take_event(struct strobe_perfetto *perfetto, const struct bundle *bundle,
                                  struct strobe_protobuf message)
{
    struct strobe_protobuf inner = {0};
    uint64_t ns = UINT64_MAX, pid = 0;
    uint32_t kind = 0;
    while (strobe_protobuf_next(&message)) {
        if (message.field == EVENT_TIME)
            ns = message.number;
        else if (message.field == EVENT_PID)
            pid = (uint32_t)message.number;
        else if (message.bytes) {
            kind = message.field;
            inner = strobe_protobuf_inner(&message);
        }
    }
    if (kind == EVENT_SWITCH)
        return take_switch(perfetto, bundle, ns, inner);
    if (kind == EVENT_WAKING)
        return take_waking(perfetto, bundle, ns, pid, inner);
    if (kind == EVENT_PRINT)
        return take_print(perfetto, bundle, ns, pid, inner);
    strobe_timeline_leave_out(perfetto->timeline,
                              "events of the kernel of other kinds were left out", 1);
    return STROBE_OK;
}

/* Processor and clock, which may stand behind the events. */
static struct bundle read_bundle(struct strobe_perfetto *perfetto, struct strobe_protobuf message)
{
    struct bundle bundle = {0};
    uint64_t clock = 0, clock_ns = 0, boot_ns = 0;
    while (strobe_protobuf_next(&message)) {
        if (message.field == BUNDLE_CPU)
            bundle.cpu = (uint32_t)message.number;
        else if (message.field == BUNDLE_CLOCK)
            clock = message.number;
        else if (message.field == BUNDLE_CLOCK_NS)
            clock_ns = message.number;
        else if (message.field == BUNDLE_BOOT_NS)
            boot_ns = message.number;
        else if (message.field == BUNDLE_LOST && message.number)
            strobe_timeline_say(perfetto->timeline,
                                "times the kernel's buffer had no room: events are missing there",
                                1);
    }
    if (clock == CLOCK_GLOBAL && is_time(clock_ns) && is_time(boot_ns))
        bundle.shift = (int64_t)boot_ns - (int64_t)clock_ns;
    int64_t trace_ns;
    if (perfetto->trace_clock != STROBE_PERFETTO_BOOTTIME && is_time(boot_ns) &&
        strobe_perfetto_time(perfetto, 0, STROBE_PERFETTO_BOOTTIME, boot_ns, &trace_ns))
        bundle.shift += trace_ns - (int64_t)boot_ns;
    return bundle;
}

enum strobe_err strobe_perfetto_ftrace(struct strobe_perfetto *perfetto,
                                       struct strobe_protobuf message)
{
    struct bundle bundle = read_bundle(perfetto, message);
    enum strobe_err err = STROBE_OK;
    while (!err && strobe_protobuf_next(&message)) {
        if (message.field == BUNDLE_EVENT)
            err = take_event(perfetto, &bundle, strobe_protobuf_inner(&message));
        else if (message.field == BUNDLE_COMPACT)
            err = take_compact(perfetto, &bundle, strobe_protobuf_inner(&message));
    }
    return err;
}
