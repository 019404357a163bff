/* device.c - see the header. This file knows what the stream says; lanes.c makes tracks of it.  SPDX-License-Identifier: MIT */
#include "device_record/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "device/names.h"
#include "device_record/internal.h"
#include "file/records.h"

enum { FIRST_RESERVED = 8187 };   /* units from here on are no translation units */
#define NAMED ((uint64_t)1 << 63) /* of a location in the map of ids: it has its name */

/* ---- names ---- */

static struct strobe_build_loc loc_of(const struct strobe_device_name *name)
{
    return (struct strobe_build_loc){
        .line = name->line,
        .function = name->name.bytes,
        .n_function = name->name.n_bytes,
        .file = name->file.bytes,
        .n_file = name->file.n_bytes,
    };
}

/* An event that is a number (DeviceRecordEvent(7)) is named by it. */
static void name_numbered(struct strobe_device_trace *t, uint64_t loc, uint32_t id)
{
    uint32_t unit = id >> 14;
    if (unit < FIRST_RESERVED || unit > STROBE_UNIT_NUMBERS)
        return;
    uint32_t number = (STROBE_UNIT_NUMBERS - unit) << 14 | (id & 0x3fff);
    STROBE_ASSERT(STROBE_ID_NUMBER(number) == id);
    char text[16];
    int n = snprintf(text, sizeof text, "event %" PRIu32, number);
    strobe_build_set_loc(t->build, loc,
                         &(struct strobe_build_loc){.function = text, .n_function = (size_t)n});
}

uint64_t strobe_device_loc(struct strobe_device_trace *t, uint32_t id,
                           enum strobe_device_name_of what)
{
    STROBE_ASSERT(t->build && what <= STROBE_DEVICE_NAME_SUM);
    uint64_t *place;
    if (strobe_map_add(&t->locs, (uint64_t)what << 32 | id, &place))
        return strobe_build_new_loc(t->build, id); /* a stand-in each time: memory is short */
    if (!*place) {
        *place = strobe_build_new_loc(t->build, id);
        if (what == STROBE_DEVICE_NAME_SITE)
            name_numbered(t, *place, id);
    }
    return *place & ~NAMED;
}

static void set_name(struct strobe_device_trace *t, uint32_t id, enum strobe_device_name_of what,
                     const struct strobe_build_loc *loc)
{
    strobe_build_set_loc(t->build, strobe_device_loc(t, id, what), loc);
    uint64_t *place = strobe_map_find(&t->locs, (uint64_t)what << 32 | id);
    if (place)
        *place |= NAMED;
}

/* Sites that nobody named: their zones have numbers. Events that are numbers have no names. */
static uint64_t count_unnamed(const struct strobe_device_trace *t)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < t->locs.n; i++)
        n += t->locs.entries[i].key < STROBE_ID27(FIRST_RESERVED, 0) &&
             !(t->locs.entries[i].value & NAMED);
    return n;
}

static void on_name(void *context, const struct strobe_device_name *name)
{
    struct strobe_device_trace *t = context;
    enum strobe_device_name_of what =
        name->flags & STROBE_NAME_CLASSIC ? STROBE_DEVICE_NAME_CLASSIC : STROBE_DEVICE_NAME_SITE;
    struct strobe_build_loc loc = loc_of(name);
    set_name(t, name->id, what, &loc);
    if (what == STROBE_DEVICE_NAME_CLASSIC)
        return;
    char text[256];
    int n =
        snprintf(text, sizeof text, "%.*s (added up)", (int)name->name.n_bytes, name->name.bytes);
    loc.function = text;
    loc.n_function = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    set_name(t, name->id, STROBE_DEVICE_NAME_SUM, &loc);
}

/* Names that no translation unit has. */
static void name_fixed_ids(struct strobe_device_trace *t)
{
    static const struct {
        uint32_t id, flags;
    } fixed[] = {
        {STROBE_ID_STALL, 0},
        {STROBE_ID_STACK, 0},
        {STROBE_ID_COUNTER, 0},
        {STROBE_ID_NOC, 0},
        {STROBE_ID_NOC_LOCK, 0},
        {STROBE_ID_PERF_COUNTER, STROBE_NAME_CLASSIC},
        {STROBE_ID_NOC_EVENT, STROBE_NAME_CLASSIC},
        {0x5150, STROBE_NAME_CLASSIC},
        {0x5151, STROBE_NAME_CLASSIC},
        {0x5152, STROBE_NAME_CLASSIC},
    };
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        struct strobe_device_name name = {.id = fixed[i].id, .flags = fixed[i].flags};
        const char *text = strobe_device_names_fixed(name.id, name.flags & STROBE_NAME_CLASSIC);
        STROBE_ASSERT(text);
        name.name = (struct strobe_device_text){text, (uint32_t)strlen(text)};
        on_name(t, &name);
    }
}

/* ---- what the device is ---- */

/* Markers of classic buffers that the program never read. How many there were nobody knows: each launch made one at least. */
static void note_unread(struct strobe_device_trace *t)
{
    uint64_t tick = t->options.host.tick_at(t->options.host.context, t->last_ns);
    if (!t->n_unread)
        return;
    strobe_build_note(t->build,
                      "device %u: markers of %" PRIu64 " launches are missing: its classic buffers "
                      "were not read behind them. Remedy: ReadDeviceProfiler or a close of the "
                      "device before the program ends, or the streaming mode. The loss that is "
                      "counted, one for each launch, is the least that it can be",
                      t->options.device, t->n_unread);
    strobe_build_lose(t->build, NULL, STROBE_LOSS_UNFINISHED, t->n_unread, tick);
    t->n_unread = 0;
}

static void on_hello(void *context, const struct strobe_device_hello *hello)
{
    struct strobe_device_trace *t = context;
    char title[96];
    const char *text = title;
    if (t->has_hello && hello->epoch != t->epoch) {
        strobe_device_lanes_reset(t);
        note_unread(t);
    }
    t->epoch = hello->epoch;
    if (t->has_hello)
        return;
    t->has_hello = true;
    memset(t->near, 0, sizeof t->near); /* of ids that may be another form's */
    t->is_classic = hello->mode == STROBE_MODE_CLASSIC;
    t->n_riscs = hello->n_riscs;
    t->is_virtual = hello->flags & STROBE_HELLO_VIRTUAL;
    if (t->is_virtual)
        strobe_build_note(t->build,
                          "device %u runs on a virtual clock: its times have no relation to the "
                          "host's",
                          t->options.device);
    if (!t->is_resumed)
        strobe_device_axis_init(&t->clock, &t->options.host, hello->frequency_khz);
    size_t n_title = (size_t)snprintf(title, sizeof title, "Device %u: %.*s %ux%u", hello->device,
                                      (int)hello->backend.n_bytes, hello->backend.bytes,
                                      hello->grid_x, hello->grid_y);
    if (n_title >= sizeof title)
        n_title = sizeof title - 1;
    STROBE_ASSERT(n_title < sizeof title && t->has_hello);
    strobe_build_record(t->build, STROBE_META_PROGRAM_NAME, NULL, &text, &n_title);
    uint64_t numbers[] = {hello->device, hello->arch,   hello->frequency_khz,
                          hello->grid_x, hello->grid_y, t->options.pid};
    const char *backend = hello->backend.bytes;
    size_t n_backend = hello->backend.n_bytes;
    strobe_build_record(t->build, STROBE_META_DEVICE, numbers, &backend, &n_backend);
}

static void on_core(void *context, const struct strobe_device_core_facts *core)
{
    strobe_device_lanes_core(context, core);
}

static void on_clock(void *context, const struct strobe_device_clock *sample)
{
    struct strobe_device_trace *t = context;
    t->last_ns = sample->after_ns;
    if (strobe_device_axis_sample(&t->clock, sample->core, sample->cycles, sample->before_ns,
                                  sample->after_ns))
        strobe_device_note_clock(t);
}

void strobe_device_note_clock(struct strobe_device_trace *t)
{
    STROBE_ASSERT(t->clock.map.n_pieces);
    const struct strobe_clock_map_piece *piece = strobe_clock_map_last(&t->clock.map);
    uint64_t numbers[] = {strobe_build_proc(t->build), (uint64_t)piece->time, piece->tick,
                          piece->mult,
                          t->is_virtual ? STROBE_CLOCK_ERROR_UNKNOWN : piece->error_ns};
    strobe_build_record(t->build, STROBE_FACT_CLOCK_MAP, numbers, NULL, NULL);
}

void strobe_device_note_skew(struct strobe_device_trace *t)
{
    struct strobe_device_skew skew;
    if (strobe_device_axis_skew(&t->clock, &skew) || !skew.n_cores)
        return;
    uint32_t yx = skew.core < t->n_cores ? t->cores[skew.core].facts.logical_yx : 0;
    strobe_build_note(
        t->build,
        "device %u: timers of %u cores stand apart from the others', that of core "
        "%u,%u by %.3f us (+-%.3f us): each core's times are corrected by readings of "
        "its own",
        t->options.device, skew.n_cores, yx & 0xffff, yx >> 16, skew.ns / 1e3, skew.error_ns / 1e3);
}

static void on_link(void *context, const struct strobe_device_link *link)
{
    struct strobe_device_trace *t = context;
    t->link = *link;
}

static void note_link(struct strobe_device_trace *t)
{
    const struct strobe_device_link *link = &t->link;
    if (link->n_messages)
        strobe_build_note(t->build,
                          "device %u: by %u messages over a link, the clock of device %u is %.12f "
                          "times its own and %.0f cycles more, within %u ns",
                          t->options.device, link->n_messages, link->other, link->scale,
                          link->shift, link->error_ns);
}

/* ---- programs and launches ---- */

static struct strobe_device_slot *slot_of(struct strobe_device_trace *t, uint32_t program)
{
    struct strobe_device_slot *slot = &t->programs[program % STROBE_DEVICE_PROGRAMS];
    if (slot->program == program && slot->lane != 0)
        return slot;
    while (slot->first_flow) { /* of a program that is forgotten */
        struct strobe_device_flow *flow = &t->flows[slot->first_flow - 1];
        uint32_t place = slot->first_flow;
        slot->first_flow = flow->next;
        flow->next = t->free_flow;
        t->free_flow = place;
        t->n_lost_flows++;
    }
    STROBE_ASSERT(!slot->first_flow); /* its launches are free again */
    *slot = (struct strobe_device_slot){.program = program, .lane = UINT32_MAX};
    return slot;
}

/* The sources of a program, a line each; as many as fit. */
static size_t join_sources(const struct strobe_device_program *program, char *out, size_t room)
{
    size_t n = 0;
    for (uint32_t i = 0; i < program->n_sources && n < room; i++)
        n += (size_t)snprintf(out + n, room - n, "%s%.*s", n ? "\n" : "",
                              (int)program->sources[i].n_bytes, program->sources[i].bytes);
    STROBE_ASSERT(room);
    return n < room ? n : room - 1;
}

static void on_program(void *context, const struct strobe_device_program *program)
{
    struct strobe_device_trace *t = context;
    struct strobe_device_slot *slot = slot_of(t, program->program);
    char sources[2048] = "";
    snprintf(slot->name, sizeof slot->name, "%.*s", (int)program->name.n_bytes,
             program->name.bytes);
    uint64_t numbers[] = {program->program, program->trace_id};
    const char *texts[] = {program->name.bytes, sources};
    size_t sizes[] = {program->name.n_bytes, join_sources(program, sources, sizeof sources)};
    strobe_build_record(t->build, STROBE_META_DEVICE_PROGRAM, numbers, texts, sizes);
}

/* A free place for a launch, or 0; places are counted from 1. */
static uint32_t take_place(struct strobe_device_trace *t)
{
    uint32_t place = t->free_flow;
    if (place)
        t->free_flow = t->flows[place - 1].next;
    else if (t->n_flows < STROBE_DEVICE_FLOWS)
        place = ++t->n_flows;
    return place;
}

static void on_launch(void *context, const struct strobe_device_launch *launch)
{
    struct strobe_device_trace *t = context;
    struct strobe_device_slot *slot = slot_of(t, launch->program);
    t->last_ns = launch->host_ns > t->last_ns ? launch->host_ns : t->last_ns;
    t->n_unread += t->is_classic;
    uint32_t place = launch->flow ? take_place(t) : 0;
    STROBE_ASSERT(place <= t->n_flows && t->n_flows <= STROBE_DEVICE_FLOWS);
    if (!place) {
        t->n_lost_flows += launch->flow != 0;
        return;
    }
    t->flows[place - 1] = (struct strobe_device_flow){.flow = launch->flow};
    if (slot->last_flow)
        t->flows[slot->last_flow - 1].next = place;
    else
        slot->first_flow = place;
    slot->last_flow = place;
}

uint64_t strobe_device_take_flow(struct strobe_device_trace *t, uint32_t program, uint32_t lane,
                                 const char **name)
{
    struct strobe_device_slot *slot = slot_of(t, program);
    uint32_t place = slot->first_flow;
    STROBE_ASSERT(lane && slot->program == program); /* lanes count from 1 */
    *name = slot->name;
    if (slot->lane == UINT32_MAX)
        slot->lane = lane;
    if (slot->lane != lane || !place)
        return 0;
    struct strobe_device_flow *flow = &t->flows[place - 1];
    slot->first_flow = flow->next;
    if (!flow->next)
        slot->last_flow = 0;
    flow->next = t->free_flow;
    t->free_flow = place;
    return flow->flow;
}

/* ---- buffers ---- */

static void on_memory(void *context, const struct strobe_device_memory *memory)
{
    static const char *const pools[] = {"DRAM", "L1", "SYSTEM", "L1 SMALL", "TRACE"};
    struct strobe_device_trace *t = context;
    char name[48];
    static_assert(sizeof pools / sizeof pools[0] == STROBE_DEVICE_POOLS, "a name for each");
    uint32_t pool = memory->pool < STROBE_DEVICE_POOLS ? memory->pool : 0;
    size_t n = (size_t)snprintf(name, sizeof name, "Device %u %s", t->options.device, pools[pool]);
    STROBE_ASSERT(n < sizeof name && pool < STROBE_DEVICE_POOLS);
    uint64_t tick = t->options.host.tick_at(t->options.host.context, memory->host_ns);
    struct strobe_build_track *track = strobe_build_thread(t->build, 1, tick);
    if (!track)
        return;
    if (!t->has_buffers)
        strobe_build_thread_name(t->build, track, "buffers", 7);
    t->has_buffers = true;
    if (!t->pools[pool])
        t->pools[pool] = strobe_build_string(t->build, name, n);
    uint64_t numbers[] = {t->pools[pool], memory->address, memory->n_bytes};
    strobe_build_event(t->build, track, tick,
                       memory->kind ? STROBE_KIND_MEM_ALLOC : STROBE_KIND_MEM_FREE, numbers, NULL,
                       0);
}

/* ---- what went wrong ---- */

static void on_bad(void *context, const struct strobe_device_lane *lane, enum strobe_device_bad why,
                   uint64_t count)
{
    struct strobe_device_trace *t = context;
    STROBE_ASSERT(why < STROBE_DEVICE_N_BAD);
    t->n_bad[why] += count;
    if (lane && why != STROBE_DEVICE_BAD_LATCH && why != STROBE_DEVICE_BAD_OVERLAP)
        strobe_device_lanes_damaged(t, lane, why == STROBE_DEVICE_BAD_GAP_WORDS);
}

static void note_bad(struct strobe_device_trace *t)
{
    uint64_t tick = t->options.host.tick_at(t->options.host.context, t->last_ns);
    for (int why = 0; why < STROBE_DEVICE_N_BAD; why++) {
        if (!t->n_bad[why])
            continue;
        strobe_build_note(t->build, "device %u: %" PRIu64 " %s", t->options.device, t->n_bad[why],
                          strobe_device_bad_text((enum strobe_device_bad)why));
        if (why == STROBE_DEVICE_BAD_LATCH || why == STROBE_DEVICE_BAD_OVERLAP || t->has_bye)
            continue; /* nothing is missing, or the device's own counts say what is */
        strobe_build_lose(t->build, NULL,
                          why == STROBE_DEVICE_BAD_GAP_WORDS ? STROBE_LOSS_POOL_FULL
                                                             : STROBE_LOSS_REFUSED,
                          t->n_bad[why], tick);
    }
}

static void on_bye(void *context, uint32_t reason)
{
    struct strobe_device_trace *t = context;
    strobe_device_lanes_settle(t);
    if (reason == STROBE_BYE_DIED)
        strobe_build_note(t->build, "device %u died: what it had not sent is missing",
                          t->options.device);
    t->has_bye = true;
}

/* ---- the life of a device ---- */

static enum strobe_err make_process(struct strobe_device_trace *t)
{
    char exe[32];
    snprintf(exe, sizeof exe, "device %u", t->options.device);
    struct strobe_build_process process = {.parent_pid = t->options.pid, .exe = exe};
    enum strobe_err err = strobe_build_open(t->options.store, &process, &t->build);
    if (err)
        return err;
    strobe_build_kinds(t->build);
    name_fixed_ids(t);
    return STROBE_OK;
}

static void free_device(struct strobe_device_trace *t)
{
    strobe_device_stream_close(t->stream);
    strobe_device_lanes_free(t);
    strobe_build_close(t->build);
    strobe_device_axis_free(&t->clock);
    strobe_map_free(&t->locs);
    free(t->programs);
    free(t->flows);
    free(t);
}

enum strobe_err strobe_device_trace_open(const struct strobe_device_trace_options *options,
                                         struct strobe_device_trace **out)
{
    struct strobe_device_trace *t = calloc(1, sizeof *t);
    if (!t)
        return STROBE_ERR_NOMEM;
    struct strobe_device_calls calls = {
        .context = t,
        .hello = on_hello,
        .core = on_core,
        .name = on_name,
        .program = on_program,
        .launch = on_launch,
        .clock = on_clock,
        .memory = on_memory,
        .link = on_link,
        .bad = on_bad,
        .bye = on_bye,
    };
    strobe_device_lanes_calls(&calls);
    t->options = *options;
    t->programs = calloc(STROBE_DEVICE_PROGRAMS, sizeof *t->programs);
    strobe_device_axis_init(&t->clock, &options->host, 0);
    t->flows = malloc(STROBE_DEVICE_FLOWS * sizeof *t->flows);
    enum strobe_err err = t->programs && t->flows ? STROBE_OK : STROBE_ERR_NOMEM;
    bool same_file = options->left && options->left->ask;
    if (!err && !same_file)
        err = make_process(t);
    if (!err)
        err = strobe_device_stream_open(&calls, NULL, &t->stream);
    if (!err && options->left)
        err = strobe_device_saved_load(t, options->left);
    t->options.left = NULL;
    if (err) {
        free_device(t);
        return err;
    }
    STROBE_ASSERT(t->build && t->stream && !t->options.left); /* what was left was the caller's */
    *out = t;
    return STROBE_OK;
}

enum strobe_err strobe_device_trace_feed(struct strobe_device_trace *t, const uint32_t *words,
                                         size_t n_words, size_t *n_used)
{
    return strobe_device_stream_feed(t->stream, words, n_words, n_used);
}

void strobe_device_trace_hand_on(struct strobe_device_trace *t)
{
    strobe_device_lanes_hand_on(t);
}

void strobe_device_trace_remark(struct strobe_device_trace *t, const char *text)
{
    strobe_build_note(t->build, "device %u: %s", t->options.device, text);
}

void strobe_device_trace_close(struct strobe_device_trace *t, uint64_t n_dropped)
{
    if (!t)
        return;
    STROBE_ASSERT(t->build && t->stream);
    strobe_device_stream_flush(t->stream);
    strobe_device_lanes_end(t);
    strobe_device_note_skew(t);
    note_link(t);
    if (n_dropped)
        strobe_build_note(t->build,
                          "device %u: %" PRIu64 " times frames found no room on their way to the "
                          "recorder: cores waited, or dropped and counted",
                          t->options.device, n_dropped);
    if (!t->has_bye) {
        strobe_build_note(t->build,
                          "device %u was not closed: its program, or the recording, ended before",
                          t->options.device);
        note_unread(t);
    }
    if (t->n_lost_flows)
        strobe_build_note(t->build,
                          "device %u: %" PRIu64 " launches are not joined to their kernels",
                          t->options.device, t->n_lost_flows);
    uint64_t n_unnamed = count_unnamed(t);
    if (n_unnamed)
        strobe_build_note(t->build,
                          "device %u: %" PRIu64 " sites have numbers for names: the section with "
                          "names of their kernel is missing or cut",
                          t->options.device, n_unnamed);
    note_bad(t);
    free_device(t);
}
