/* perfetto.c - see perfetto.h. First pass: who the tracks are. Second pass: what events of a sequence are relative to (names, times, tracks: interned data,
 * defaults, clocks) and the events. Then rows are sorted by thread and time and written (timeline.h).  SPDX-License-Identifier: MIT */
#include "import/perfetto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "import/perfetto_parts.h"

enum { HEAD_BYTES = 64 << 10 };

/* What a packet consists of. */
struct packet {
    uint32_t sequence;
    uint64_t timestamp, clock, flags;
    int has_timestamp, has_clock, is_dropped;
    struct strobe_protobuf event, interned, defaults, clocks, ftrace,
        thread;       /* of no bytes: none */
    uint32_t unknown; /* its field */
};

/* ---- texts ---- */

uint32_t strobe_perfetto_keep(struct strobe_perfetto *perfetto, const void *text, size_t n)
{
    uint32_t entry;
    if (strobe_textmap_add(&perfetto->texts, text, n, &entry)) {
        strobe_timeline_leave_out(perfetto->timeline, "names are too many or too long", 1);
        return 0;
    }
    return entry + 1;
}

struct strobe_perfetto_text strobe_perfetto_kept(const struct strobe_perfetto *perfetto,
                                                 uint64_t number)
{
    if (!number)
        return (struct strobe_perfetto_text){"", 0};
    return (struct strobe_perfetto_text){strobe_textmap_key(&perfetto->texts, (uint32_t)number - 1),
                                         perfetto->texts.entries[number - 1].n_key};
}

uint64_t strobe_perfetto_intern_key(enum strobe_perfetto_intern kind, uint64_t number)
{
    return number << 3 | kind; /* numbers of 61 bits are nobody's */
}

struct strobe_perfetto_text strobe_perfetto_interned(const struct strobe_perfetto *perfetto,
                                                     const struct strobe_perfetto_sequence *from,
                                                     enum strobe_perfetto_intern kind,
                                                     uint64_t number)
{
    uint64_t key = strobe_perfetto_intern_key(kind, number);
    return strobe_perfetto_kept(perfetto, strobe_map_get(&from->interned, key, 0));
}

/* ---- sequences ---- */

/* NULL: no room. Until the next one. */
static struct strobe_perfetto_sequence *sequence_at(struct strobe_perfetto *perfetto, uint32_t id)
{
    uint64_t *index =
        strobe_timeline_map_at(perfetto->timeline, &perfetto->sequence_ids, id, UINT32_MAX);
    if (index && *index)
        return &perfetto->sequences[*index - 1];
    if (!index || !strobe_timeline_room(perfetto->timeline, (void **)&perfetto->sequences,
                                        &perfetto->sequences_room, perfetto->n_sequences + 1ull,
                                        sizeof *perfetto->sequences)) {
        strobe_map_remove(&perfetto->sequence_ids, id);
        return NULL;
    }
    struct strobe_perfetto_sequence *sequence = &perfetto->sequences[perfetto->n_sequences++];
    *sequence = (struct strobe_perfetto_sequence){.id = id};
    *index = perfetto->n_sequences;
    return sequence;
}

static void clear(struct strobe_perfetto *perfetto, struct strobe_perfetto_sequence *sequence)
{
    struct strobe_perfetto_sequence fresh = {.id = sequence->id,
                                             .is_valid = 1,
                                             .has_thread = sequence->has_thread,
                                             .pid = sequence->pid,
                                             .tid = sequence->tid,
                                             .reference_us = sequence->reference_us};
    strobe_timeline_map_free(perfetto->timeline, &sequence->interned);
    *sequence = fresh;
}

static void intern(struct strobe_perfetto *perfetto, struct strobe_perfetto_sequence *sequence,
                   enum strobe_perfetto_intern kind, uint64_t number, const void *text, size_t n)
{
    uint64_t *known =
        strobe_timeline_map_at(perfetto->timeline, &sequence->interned,
                               strobe_perfetto_intern_key(kind, number), STROBE_PERFETTO_TEXTS_MAX);
    if (known)
        *known = strobe_perfetto_keep(perfetto, text, n);
    else
        strobe_timeline_leave_out(perfetto->timeline, "names are too many or too long", 1);
}

/* A number 1 and its text 2; of a source location a file 2, a function 3, a line 4. */
static void intern_one(struct strobe_perfetto *perfetto, struct strobe_perfetto_sequence *sequence,
                       enum strobe_perfetto_intern kind, struct strobe_protobuf message)
{
    struct strobe_perfetto_text texts[2] = {{"", 0}, {"", 0}};
    uint64_t number = 0, line = 0;
    while (strobe_protobuf_next(&message)) {
        if (message.field == 1)
            number = message.number;
        else if ((message.field == 2 || message.field == 3) && message.bytes)
            texts[message.field - 2] =
                (struct strobe_perfetto_text){(const char *)message.bytes, (size_t)message.number};
        else if (message.field == 4)
            line = (uint32_t)message.number;
    }
    if (kind != STROBE_PERFETTO_SOURCE) {
        intern(perfetto, sequence, kind, number, texts[0].at, texts[0].n);
        return;
    }
    strobe_out_clear(&perfetto->args);
    perfetto->args.error = 0;
    strobe_out_bytes(&perfetto->args, texts[0].at, texts[0].n);
    strobe_out_char(&perfetto->args, 0);
    strobe_out_bytes(&perfetto->args, texts[1].at, texts[1].n);
    strobe_out_char(&perfetto->args, 0);
    strobe_out_u(&perfetto->args, line);
    if (!perfetto->args.error)
        intern(perfetto, sequence, kind, number, perfetto->args.at, perfetto->args.len);
}

static void take_interned(struct strobe_perfetto *perfetto,
                          struct strobe_perfetto_sequence *sequence, struct strobe_protobuf message)
{
    static const uint8_t kinds[] = {[1] = STROBE_PERFETTO_CATEGORY,
                                    [2] = STROBE_PERFETTO_NAME,
                                    [3] = STROBE_PERFETTO_ARG_NAME,
                                    [4] = STROBE_PERFETTO_SOURCE,
                                    [29] = STROBE_PERFETTO_ARG_TEXT};
    while (strobe_protobuf_next(&message))
        if (message.field < sizeof kinds && kinds[message.field])
            intern_one(perfetto, sequence, (enum strobe_perfetto_intern)kinds[message.field],
                       strobe_protobuf_inner(&message));
}

static uint8_t read_uuids(const struct strobe_protobuf *field, uint64_t *uuids, uint8_t n)
{
    struct strobe_protobuf_numbers numbers = strobe_protobuf_numbers(field, 0);
    uint64_t uuid;
    while (n < STROBE_PERFETTO_EXTRA_MAX && strobe_protobuf_numbers_next(&numbers, &uuid))
        uuids[n++] = uuid;
    return n;
}

/* Defaults: of track events 11 (track 11, counters 31, 45), clock 58. */
static void take_defaults(struct strobe_perfetto_sequence *sequence, struct strobe_protobuf message)
{
    sequence->n_extra = sequence->n_extra_doubles = 0;
    while (strobe_protobuf_next(&message)) {
        struct strobe_protobuf inner = strobe_protobuf_inner(&message);
        if (message.field == STROBE_PACKET_CLOCK)
            sequence->clock = message.number;
        while (message.field == STROBE_PACKET_EVENT && strobe_protobuf_next(&inner)) {
            if (inner.field == 11) {
                sequence->track = inner.number;
                sequence->has_track = 1;
            } else if (inner.field == 31) {
                sequence->n_extra = read_uuids(&inner, sequence->extra, sequence->n_extra);
            } else if (inner.field == 45) {
                sequence->n_extra_doubles =
                    read_uuids(&inner, sequence->extra_doubles, sequence->n_extra_doubles);
            }
        }
    }
}

/* The thread of an old writer's sequence: pid 1, tid 2, the time of which its steps begin 6. */
static void take_thread(struct strobe_perfetto_sequence *sequence, struct strobe_protobuf message)
{
    sequence->has_thread = 1;
    while (strobe_protobuf_next(&message)) {
        if (message.field == 1)
            sequence->pid = (uint32_t)message.number;
        else if (message.field == 2)
            sequence->tid = message.number;
        else if (message.field == 6)
            sequence->reference_us = message.number;
    }
}

/* ---- packets ---- */

/* What the service says of itself, and what says no more than that a packet is one. */
static int is_house(uint32_t field)
{
    static const uint8_t known[] = {3,  33, 34, 35, 36, 45, 46,  48,  51,  69,
                                    72, 79, 87, 89, 90, 98, 109, 113, 124, 126};
    return field < 256 && memchr(known, (int)field, sizeof known) != NULL;
}

static void read_field(struct packet *packet, const struct strobe_protobuf *field)
{
    struct strobe_protobuf inner = strobe_protobuf_inner(field);
    switch (field->field) {
    case STROBE_PACKET_FTRACE:
        packet->ftrace = inner;
        break;
    case STROBE_PACKET_CLOCKS:
        packet->clocks = inner;
        break;
    case STROBE_PACKET_TIMESTAMP:
        packet->timestamp = field->number;
        packet->has_timestamp = 1;
        break;
    case STROBE_PACKET_SEQUENCE:
        packet->sequence = (uint32_t)field->number;
        break;
    case STROBE_PACKET_EVENT:
        packet->event = inner;
        break;
    case STROBE_PACKET_INTERNED:
        packet->interned = inner;
        break;
    case STROBE_PACKET_FLAGS:
        packet->flags |= field->number;
        break;
    case STROBE_PACKET_CLEARED:
        packet->flags |= field->number ? STROBE_PACKET_IS_CLEARED : 0;
        break;
    case STROBE_PACKET_DROPPED:
        packet->is_dropped = field->number != 0;
        break;
    case STROBE_PACKET_CLOCK:
        packet->clock = field->number;
        packet->has_clock = 1;
        break;
    case STROBE_PACKET_DEFAULTS:
        packet->defaults = inner;
        break;
    case STROBE_PACKET_THREAD:
        packet->thread = inner;
        break;
    case STROBE_PACKET_TREE:
    case STROBE_PACKET_PROCESS:
    case STROBE_PACKET_TRACK:
        break;
    default:
        packet->unknown = is_house(field->field) ? packet->unknown : field->field;
    }
}

/* The state of the packet's sequence, with what the packet adds to it. NULL: what the packet is relative to is not known. */
static struct strobe_perfetto_sequence *use_state(struct strobe_perfetto *perfetto,
                                                  const struct packet *packet)
{
    struct strobe_perfetto_sequence *sequence = sequence_at(perfetto, packet->sequence);
    if (!sequence) {
        strobe_timeline_leave_out(perfetto->timeline, strobe_timeline_too_many, 1);
        return NULL;
    }
    if (packet->is_dropped) {
        sequence->is_valid = 0;
        strobe_timeline_say(perfetto->timeline,
                            "times packets are missing in the file: the buffer was full", 1);
    }
    if (packet->flags & STROBE_PACKET_IS_CLEARED)
        clear(perfetto, sequence);
    if (packet->flags & STROBE_PACKET_NEEDS_STATE && !sequence->is_valid) {
        strobe_timeline_leave_out(
            perfetto->timeline,
            "packets were left out: names and times that they refer to are missing", 1);
        return NULL;
    }
    if (packet->interned.in.at)
        take_interned(perfetto, sequence, packet->interned);
    if (packet->defaults.in.at)
        take_defaults(sequence, packet->defaults);
    if (packet->thread.in.at)
        take_thread(sequence, packet->thread);
    return sequence;
}

static void count_unknown(struct strobe_perfetto *perfetto, uint32_t field)
{
    perfetto->n_unknown[field < STROBE_PERFETTO_UNKNOWN_MAX ? field : 0]++;
}

static enum strobe_err take_packet(struct strobe_perfetto *perfetto, const uint8_t *bytes, size_t n)
{
    struct packet packet = {0};
    struct strobe_protobuf at = strobe_protobuf_over(bytes, n);
    int64_t time = 0;
    while (strobe_protobuf_next(&at))
        read_field(&packet, &at);
    perfetto->timeline->out->n_events++;
    if (at.is_bad) {
        strobe_timeline_leave_out(perfetto->timeline, "packets were left out: damaged", 1);
        return STROBE_OK;
    }
    struct strobe_perfetto_sequence *sequence = use_state(perfetto, &packet);
    if (!sequence)
        return STROBE_OK;
    if (packet.clocks.in.at)
        strobe_perfetto_snapshot(perfetto, packet.sequence, packet.clocks);
    if (packet.unknown && !packet.event.in.at && !packet.ftrace.in.at)
        count_unknown(perfetto, packet.unknown);
    if (packet.ftrace.in.at)
        return strobe_perfetto_ftrace(perfetto, packet.ftrace);
    int has_time = packet.has_timestamp;
    if (has_time && !strobe_perfetto_time(perfetto, packet.sequence,
                                          packet.has_clock ? packet.clock : sequence->clock,
                                          packet.timestamp, &time)) {
        strobe_timeline_leave_out(
            perfetto->timeline,
            "packets were left out: of a clock that was never compared with the trace's", 1);
        return STROBE_OK;
    }
    return packet.event.in.at
               ? strobe_perfetto_event(perfetto, sequence, has_time, time, packet.event)
               : STROBE_OK;
}

/* ---- the whole ---- */

/* Kinds of packets that are not read, each with its number. */
static void say_unknown(struct strobe_perfetto *perfetto)
{
    static const struct {
        uint32_t field;
        const char *name;
    } names[] = {{4, "inodes"},
                 {5, "Chrome's JSON"},
                 {7, "system statistics"},
                 {9, "process statistics"},
                 {37, "heap profiles"},
                 {38, "battery"},
                 {39, "Android's log"},
                 {40, "power rails"},
                 {47, "Android's packages"},
                 {52, "GPU counters"},
                 {53, "GPU stages"},
                 {54, "streamed samples"},
                 {57, "graphics frames"},
                 {61, "symbols"},
                 {66, "samples"},
                 {67, "processors"},
                 {68, "memory maps"},
                 {74, "streamed allocations"},
                 {84, "statistics of Android"},
                 {135, "stack samples"}};
    const uint32_t n_sentences = sizeof perfetto->sentences / sizeof perfetto->sentences[0];
    for (uint32_t i = 0; i < STROBE_PERFETTO_UNKNOWN_MAX; i++) {
        const char *name = "";
        if (!perfetto->n_unknown[i])
            continue;
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
            name = names[k].field == i ? names[k].name : name;
        const char *sentence = "packets of other kinds were left out";
        if (i && perfetto->n_sentences < n_sentences) {
            char *text = perfetto->sentences[perfetto->n_sentences++];
            snprintf(text, sizeof perfetto->sentences[0],
                     *name ? "packets of kind %u (%s) were left out"
                           : "packets of kind %u%s were left out",
                     (unsigned)i, name);
            sentence = text;
        }
        strobe_timeline_leave_out(perfetto->timeline, sentence, perfetto->n_unknown[i]);
    }
}

static enum strobe_err read_all(void *context, struct strobe_timeline *timeline)
{
    struct strobe_perfetto *perfetto = context;
    uint64_t offset;
    perfetto->timeline = timeline;
    perfetto->texts.max = STROBE_PERFETTO_TEXTS_MAX;
    perfetto->texts.max_bytes = STROBE_PERFETTO_TEXT_BYTES;
    perfetto->trace_clock = STROBE_PERFETTO_BOOTTIME;
    enum strobe_err err = strobe_perfetto_packets(perfetto, strobe_perfetto_learn, &offset), end;
    if (err && err != STROBE_ERR_CORRUPT)
        return err;
    timeline->n_left_out = 0; /* it is said once */
    timeline->out->n_set_aside = 0;
    strobe_perfetto_describe(perfetto);
    err = strobe_perfetto_packets(perfetto, take_packet, &timeline->out->offset);
    if (err && err != STROBE_ERR_CORRUPT)
        return err;
    say_unknown(perfetto);
    strobe_perfetto_settle(perfetto);
    end = strobe_perfetto_write_flows(perfetto);
    return end ? end : err;
}

/* All that grew, but for the sentences. */
static void drop(void *context, struct strobe_timeline *timeline)
{
    struct strobe_perfetto *perfetto = context;
    struct strobe_map *maps[] = {&perfetto->track_ids,     &perfetto->sequence_ids,
                                 &perfetto->clock_ids,     &perfetto->tid_pids,
                                 &perfetto->process_names, &perfetto->thread_names,
                                 &perfetto->cpu_tids};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        strobe_timeline_map_free(timeline, maps[i]);
    for (uint32_t i = 0; i < perfetto->n_sequences; i++)
        strobe_timeline_map_free(timeline, &perfetto->sequences[i].interned);
    for (uint32_t i = 0; i < perfetto->n_clocks; i++)
        strobe_timeline_free(timeline, (void **)&perfetto->clocks[i].moments,
                             &perfetto->clocks[i].moments_room,
                             sizeof *perfetto->clocks[i].moments);
    strobe_textmap_free(&perfetto->texts);
    strobe_rows_close(perfetto->flows);
    strobe_out_free(&perfetto->args);
    strobe_timeline_free(timeline, (void **)&perfetto->tracks, &perfetto->tracks_room,
                         sizeof *perfetto->tracks);
    strobe_timeline_free(timeline, (void **)&perfetto->sequences, &perfetto->sequences_room,
                         sizeof *perfetto->sequences);
    strobe_timeline_free(timeline, (void **)&perfetto->clocks, &perfetto->clocks_room,
                         sizeof *perfetto->clocks);
    free(perfetto->unpacked);
    perfetto->unpacked = NULL;
    perfetto->unpacked_room = 0;
    perfetto->flows = NULL;
    perfetto->n_tracks = perfetto->n_sequences = perfetto->n_clocks = 0;
}

static enum strobe_err import(struct strobe_perfetto *perfetto, const char *from, const char *to,
                              struct strobe_timeline_result *out)
{
    struct strobe_timeline_reader reader = {read_all, drop, perfetto};
    enum strobe_err err =
        perfetto ? strobe_timeline_make(from, to, &reader, out) : STROBE_ERR_NOMEM;
    free(perfetto);
    return err;
}

enum strobe_err strobe_perfetto_import(const char *from, const char *to,
                                       struct strobe_timeline_result *out)
{
    struct strobe_perfetto *perfetto = calloc(1, sizeof *perfetto);
    if (perfetto)
        perfetto->path = from;
    return import(perfetto, from, to, out);
}

enum strobe_err strobe_perfetto_import_bytes(const void *bytes, size_t n, const char *to,
                                             struct strobe_timeline_result *out)
{
    struct strobe_perfetto *perfetto = calloc(1, sizeof *perfetto);
    if (perfetto) {
        perfetto->bytes = bytes;
        perfetto->n_bytes = n;
    }
    return import(perfetto, "", to, out);
}

/* ---- what a file is ---- */

/* Fields that nearly every packet has, as what they are: 1 a number, 2 bytes. */
static int type_of(uint32_t field)
{
    static const uint8_t numbers[] = {3, 8, 10, 13, 41, 42, 58, 79, 87, 98};
    static const uint8_t bytes[] = {1,  2,  4,  5,  6,  7,  9,  11, 12, 33, 34,
                                    35, 36, 37, 39, 40, 43, 44, 45, 46, 47, 48,
                                    50, 51, 59, 60, 66, 67, 69, 72, 89, 90, 133};
    if (field > 255)
        return 0;
    return memchr(numbers, (int)field, sizeof numbers) ? 1
           : memchr(bytes, (int)field, sizeof bytes)   ? 2
                                                       : 0;
}

int strobe_perfetto_is_file(const uint8_t *bytes, size_t n)
{
    struct strobe_bytes head = strobe_bytes_over(bytes, n);
    if (strobe_get_varint(&head) != (1 << 3 | STROBE_PROTOBUF_BYTES))
        return 0;
    uint64_t n_packet = strobe_get_varint(&head), n_left = strobe_bytes_left(&head);
    if (head.bad || !n_packet || !n_left)
        return 0;
    if (n_packet < n_left && head.at[n_packet] != (1 << 3 | STROBE_PROTOBUF_BYTES))
        return 0;
    struct strobe_protobuf packet =
        strobe_protobuf_over(head.at, (size_t)(n_packet < n_left ? n_packet : n_left));
    uint32_t n_known = 0;
    while (strobe_protobuf_next(&packet)) {
        int type = type_of(packet.field);
        if ((type == 1 && packet.type != STROBE_PROTOBUF_VARINT) || (type == 2 && !packet.bytes))
            return 0;
        n_known += type != 0;
    }
    return n_known && (!packet.is_bad || n_packet > n_left);
}

int strobe_perfetto_find(const char *path)
{
    struct strobe_bytes_in *source;
    const uint8_t *bytes;
    size_t n;
    if (strobe_bytes_in_open(path, &source))
        return 0;
    int is_file = !strobe_bytes_in_peek(source, HEAD_BYTES, &bytes, &n) &&
                  strobe_perfetto_is_file(bytes, n < HEAD_BYTES ? n : HEAD_BYTES);
    strobe_bytes_in_close(source);
    return is_file;
}
