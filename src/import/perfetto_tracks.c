/* perfetto_tracks.c - which thread, lane or plot a track is. A track is described by a packet that may stand anywhere in the file, so all of them are learned
 * in a pass of their own. Tracks that are no threads are lanes: one with a name and several slices is a track of the trace, slices of the others are
 * spans of their process.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "import/perfetto_parts.h"

enum {
    PARENTS_MAX = 64, /* a longer chain is a ring */
    UNIT_BYTES = 3,
    PLOT_BYTES = 1, /* a plot's format */
};
#define LANE_TID (1ull << 40)

static struct strobe_perfetto_text text_of(const struct strobe_protobuf *field)
{
    return (struct strobe_perfetto_text){field->bytes ? (const char *)field->bytes : "",
                                         field->bytes ? (size_t)field->number : 0};
}

struct strobe_perfetto_track *strobe_perfetto_track(struct strobe_perfetto *perfetto, uint64_t uuid)
{
    uint64_t *index =
        strobe_timeline_map_at(perfetto->timeline, &perfetto->track_ids, uuid, UINT32_MAX);
    if (index && *index)
        return &perfetto->tracks[*index - 1];
    if (!index || !strobe_timeline_room(perfetto->timeline, (void **)&perfetto->tracks,
                                        &perfetto->tracks_room, perfetto->n_tracks + 1ull,
                                        sizeof *perfetto->tracks)) {
        strobe_map_remove(&perfetto->track_ids, uuid);
        strobe_timeline_leave_out(perfetto->timeline, strobe_timeline_too_many, 1);
        return NULL;
    }
    struct strobe_perfetto_track *track = &perfetto->tracks[perfetto->n_tracks++];
    *track = (struct strobe_perfetto_track){.uuid = uuid, .multiplier = 1};
    *index = perfetto->n_tracks;
    return track;
}

/* ---- what packets say ---- */

static uint64_t thread_key(uint64_t pid, uint64_t tid)
{
    uint64_t pair[] = {pid, tid};
    return XXH64(pair, sizeof pair, 0);
}

/* The first name counts: later ones are those of the processes that got the number again. */
static void learn_name(struct strobe_perfetto *perfetto, struct strobe_map *names, uint64_t key,
                       struct strobe_perfetto_text name)
{
    uint64_t *known =
        name.n ? strobe_timeline_map_at(perfetto->timeline, names, key, UINT32_MAX) : NULL;
    if (known && !*known)
        *known = strobe_perfetto_keep(perfetto, name.at, name.n);
}

static void learn_tid(struct strobe_perfetto *perfetto, uint64_t tid, uint64_t pid)
{
    uint64_t *known =
        strobe_timeline_map_at(perfetto->timeline, &perfetto->tid_pids, tid, UINT32_MAX);
    if (known)
        *known = pid;
}

/* A program by the last part of its path. */
static struct strobe_perfetto_text program_of(struct strobe_perfetto_text path)
{
    for (size_t i = path.n; i-- > 0;)
        if (path.at[i] == '/' && i + 1 < path.n)
            return (struct strobe_perfetto_text){path.at + i + 1, path.n - i - 1};
    return path;
}

/* A process descriptor: pid 1, cmdline 2, name 6. */
static uint64_t learn_process(struct strobe_perfetto *perfetto, struct strobe_protobuf message)
{
    struct strobe_perfetto_text name = {"", 0}, command = {"", 0};
    uint64_t pid = 0;
    while (strobe_protobuf_next(&message)) {
        if (message.field == 1)
            pid = (uint32_t)message.number;
        else if (message.field == 2 && !command.n)
            command = program_of(text_of(&message));
        else if (message.field == 6)
            name = text_of(&message);
    }
    learn_name(perfetto, &perfetto->process_names, pid, name.n ? name : command);
    return pid;
}

/* A thread descriptor: pid 1, tid 2, name 5. */
static void learn_thread(struct strobe_perfetto *perfetto, struct strobe_protobuf message,
                         uint64_t *pid, uint64_t *tid)
{
    struct strobe_perfetto_text name = {"", 0};
    *pid = *tid = 0;
    while (strobe_protobuf_next(&message)) {
        if (message.field == 1)
            *pid = (uint32_t)message.number;
        else if (message.field == 2)
            *tid = message.number;
        else if (message.field == 5)
            name = text_of(&message);
    }
    learn_name(perfetto, &perfetto->thread_names, thread_key(*pid, *tid), name);
    learn_tid(perfetto, *tid, *pid);
}

/* A counter descriptor: unit 3, unit_multiplier 4, is_incremental 5. */
static void learn_counter(struct strobe_perfetto_track *track, struct strobe_protobuf message)
{
    track->is_counter = 1;
    while (strobe_protobuf_next(&message)) {
        if (message.field == 3)
            track->is_bytes = message.number == UNIT_BYTES;
        else if (message.field == 4 && message.number)
            track->multiplier = (int64_t)message.number;
        else if (message.field == 5)
            track->is_incremental = message.number != 0;
    }
}

static uint64_t uuid_of(struct strobe_protobuf message)
{
    uint64_t uuid = 0;
    while (strobe_protobuf_next(&message))
        if (message.field == 1)
            uuid = message.number;
    return uuid;
}

/* A track descriptor: uuid 1, name 2, process 3, thread 4, parent 5, counter 8, static_name 10, atrace_name 13. */
static void learn_track(struct strobe_perfetto *perfetto, struct strobe_protobuf message)
{
    struct strobe_perfetto_track *track = strobe_perfetto_track(perfetto, uuid_of(message));
    while (track && strobe_protobuf_next(&message)) {
        struct strobe_protobuf inner = strobe_protobuf_inner(&message);
        struct strobe_perfetto_text text = text_of(&message);
        if (message.field == 2 || message.field == 10 || message.field == 13) {
            track->name = text.n ? strobe_perfetto_keep(perfetto, text.at, text.n) : track->name;
        } else if (message.field == 3) {
            track->is_process = 1;
            track->pid = learn_process(perfetto, inner);
        } else if (message.field == 4) {
            track->is_thread = 1;
            learn_thread(perfetto, inner, &track->pid, &track->tid);
        } else if (message.field == 5) {
            track->parent = message.number;
        } else if (message.field == 8) {
            learn_counter(track, inner);
        }
    }
}

/* A process of a tree: pid 1, cmdline 3; a thread: tid 1, name 2, tgid 3. */
static void learn_tree_process(struct strobe_perfetto *perfetto, struct strobe_protobuf message)
{
    struct strobe_perfetto_text command = {"", 0};
    uint64_t pid = 0;
    while (strobe_protobuf_next(&message)) {
        if (message.field == 1)
            pid = (uint32_t)message.number;
        else if (message.field == 3 && !command.n)
            command = program_of(text_of(&message));
    }
    learn_name(perfetto, &perfetto->process_names, pid, command);
    learn_tid(perfetto, pid, pid);
}

static void learn_tree_thread(struct strobe_perfetto *perfetto, struct strobe_protobuf message)
{
    struct strobe_perfetto_text name = {"", 0};
    uint64_t tid = 0, pid = 0;
    while (strobe_protobuf_next(&message)) {
        if (message.field == 1)
            tid = (uint32_t)message.number;
        else if (message.field == 2)
            name = text_of(&message);
        else if (message.field == 3)
            pid = (uint32_t)message.number;
    }
    learn_name(perfetto, &perfetto->thread_names, thread_key(pid, tid), name);
    learn_tid(perfetto, tid, pid);
}

static void learn_tree(struct strobe_perfetto *perfetto, struct strobe_protobuf message)
{
    while (strobe_protobuf_next(&message)) {
        if (message.field == 1)
            learn_tree_process(perfetto, strobe_protobuf_inner(&message));
        else if (message.field == 2)
            learn_tree_thread(perfetto, strobe_protobuf_inner(&message));
    }
}

enum strobe_err strobe_perfetto_learn(struct strobe_perfetto *perfetto, const uint8_t *bytes,
                                      size_t n)
{
    struct strobe_protobuf packet = strobe_protobuf_over(bytes, n);
    uint64_t pid, tid;
    while (strobe_protobuf_next(&packet)) {
        struct strobe_protobuf inner = strobe_protobuf_inner(&packet);
        if (packet.field == STROBE_PACKET_TRACK)
            learn_track(perfetto, inner);
        else if (packet.field == STROBE_PACKET_TREE)
            learn_tree(perfetto, inner);
        else if (packet.field == STROBE_PACKET_PROCESS)
            learn_process(perfetto, inner);
        else if (packet.field == STROBE_PACKET_THREAD)
            learn_thread(perfetto, inner, &pid, &tid);
    }
    return STROBE_OK;
}

/* ---- threads ---- */

static uint32_t process_at(struct strobe_perfetto *perfetto, uint64_t pid)
{
    int is_new;
    uint32_t process = strobe_timeline_process(perfetto->timeline, pid, &is_new);
    if (!is_new)
        return process;
    struct strobe_perfetto_text name =
        strobe_perfetto_kept(perfetto, strobe_map_get(&perfetto->process_names, pid, 0));
    if (!name.n && !pid)
        name = (struct strobe_perfetto_text){"system", 6};
    strobe_timeline_name_process(perfetto->timeline, process, name.at, name.n);
    return process;
}

static uint32_t thread_at(struct strobe_perfetto *perfetto, uint64_t pid, uint64_t tid,
                          struct strobe_perfetto_text otherwise)
{
    int is_new;
    uint32_t process = process_at(perfetto, pid);
    uint32_t thread =
        process ? strobe_timeline_thread(perfetto->timeline, process, tid, &is_new) : 0;
    if (!thread) {
        strobe_timeline_leave_out(perfetto->timeline, strobe_timeline_too_many, 1);
        return 0;
    }
    if (!is_new)
        return thread;
    struct strobe_perfetto_text name = strobe_perfetto_kept(
        perfetto, strobe_map_get(&perfetto->thread_names, thread_key(pid, tid), 0));
    name = name.n ? name : otherwise;
    strobe_timeline_name_thread(perfetto->timeline, thread, name.at, name.n);
    return thread;
}

uint32_t strobe_perfetto_thread(struct strobe_perfetto *perfetto, uint64_t pid, uint64_t tid)
{
    return thread_at(perfetto, pid, tid, (struct strobe_perfetto_text){"", 0});
}

uint32_t strobe_perfetto_kernel_thread(struct strobe_perfetto *perfetto, uint64_t tid,
                                       struct strobe_perfetto_text name)
{
    uint64_t pid = strobe_map_get(&perfetto->tid_pids, tid, tid);
    learn_name(perfetto, &perfetto->process_names, pid == tid ? pid : UINT64_MAX, name);
    return thread_at(perfetto, pid, tid, name);
}

void strobe_perfetto_describe(struct strobe_perfetto *perfetto)
{
    for (uint32_t i = 0; i < perfetto->n_tracks; i++) {
        const struct strobe_perfetto_track *track = &perfetto->tracks[i];
        if (track->is_thread)
            strobe_perfetto_thread(perfetto, track->pid, track->tid);
        else if (track->is_process)
            process_at(perfetto, track->pid);
    }
}

/* The nearest track above that is of a process or a thread, the track itself included; NULL: there is none. */
static const struct strobe_perfetto_track *owner_of(const struct strobe_perfetto *perfetto,
                                                    const struct strobe_perfetto_track *track)
{
    for (int i = 0; i < PARENTS_MAX; i++) {
        if (track->is_process || track->is_thread)
            return track;
        uint64_t index = strobe_map_get(&perfetto->track_ids, track->parent, 0);
        if (!track->parent || !index)
            return NULL;
        track = &perfetto->tracks[index - 1];
    }
    return NULL;
}

uint32_t strobe_perfetto_thread_of(struct strobe_perfetto *perfetto,
                                   struct strobe_perfetto_track *track)
{
    if (track->thread)
        return track->thread;
    const struct strobe_perfetto_track *owner = owner_of(perfetto, track);
    if (track->is_thread)
        return track->thread = strobe_perfetto_thread(perfetto, track->pid, track->tid);
    uint32_t process = process_at(perfetto, owner ? owner->pid : 0);
    track->thread = process ? strobe_timeline_lane(perfetto->timeline, process) : 0;
    if (!track->thread)
        strobe_timeline_leave_out(perfetto->timeline, strobe_timeline_too_many, 1);
    return track->thread;
}

/* ---- plots ---- */

/* By the track's name; of a thread's counter with the thread's number. */
static uint64_t string_of(struct strobe_perfetto *perfetto, struct strobe_build *build,
                          const struct strobe_perfetto_track *track,
                          const struct strobe_perfetto_track *owner)
{
    char name[600];
    struct strobe_perfetto_text text = strobe_perfetto_kept(perfetto, track->name);
    int n = snprintf(name, sizeof name, "%.*s", (int)(text.n < 512 ? text.n : 512),
                     text.n ? text.at : "");
    if (!text.n)
        n = snprintf(name, sizeof name, "counter %llu", (unsigned long long)track->uuid);
    if (owner && owner->is_thread)
        n += snprintf(name + n, sizeof name - (size_t)n, " (thread %llu)",
                      (unsigned long long)owner->tid);
    return strobe_build_string(build, name, (size_t)n);
}

uint32_t strobe_perfetto_plot_of(struct strobe_perfetto *perfetto,
                                 struct strobe_perfetto_track *track, uint64_t *plot)
{
    const struct strobe_perfetto_track *owner = owner_of(perfetto, track);
    uint64_t pid = owner ? owner->pid : 0;
    if (!track->plot_thread) {
        uint32_t process = process_at(perfetto, pid);
        uint32_t any = process ? perfetto->timeline->processes[process - 1].a_thread : 0;
        track->plot_thread = any ? any : strobe_perfetto_thread(perfetto, pid, pid);
    }
    if (track->plot_thread && !track->plot) {
        struct strobe_build *build = strobe_timeline_build(perfetto->timeline, track->plot_thread);
        track->plot = string_of(perfetto, build, track, owner);
        uint64_t config[] = {track->plot, PLOT_BYTES, 0, 0};
        if (track->is_bytes)
            strobe_build_record(build, STROBE_META_PLOT_CONFIG, config, NULL, NULL);
    }
    *plot = track->plot;
    return track->plot_thread;
}

/* ---- lanes ---- */

void strobe_perfetto_settle(struct strobe_perfetto *perfetto)
{
    for (uint32_t i = 0; i < perfetto->n_tracks; i++) {
        const struct strobe_perfetto_track *track = &perfetto->tracks[i];
        struct strobe_perfetto_text name = strobe_perfetto_kept(perfetto, track->name);
        if (track->thread && !track->is_thread)
            strobe_timeline_settle(perfetto->timeline, track->thread,
                                   name.n && track->n_begins > 1 ? LANE_TID + i : 0, name.at,
                                   name.n);
    }
}
