/* process.c - the processes of a session: how they are found, what their slots say, when they are
 * over. SPDX-License-Identifier: MIT */
#include "collector/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/assert.h"
#include "strobe/strobe.h"

/* ---- streams ---- */

/* Threads of one process at a time, more than any machine has: a process may say anything. */
enum { STREAMS_MAX = 1 << 18 };

static uint32_t slot_of(const struct strobe_proc *proc, uint64_t id)
{
    STROBE_ASSERT(proc->n_slots && !(proc->n_slots & (proc->n_slots - 1)));
    return (uint32_t)((id * 0x9e3779b97f4a7c15ull) >> 32) & (proc->n_slots - 1);
}

static void place(struct strobe_proc *proc, struct strobe_stream_state *stream)
{
    STROBE_ASSERT(proc->n_streams < proc->n_slots);
    uint32_t i = slot_of(proc, stream->id);
    while (proc->streams[i])
        i = (i + 1) & (proc->n_slots - 1);
    proc->streams[i] = stream;
}

static bool grow_table(struct strobe_proc *proc)
{
    struct strobe_stream_state **old = proc->streams;
    uint32_t n_old = proc->n_slots, n = n_old ? 2 * n_old : 16;
    struct strobe_stream_state **table = calloc(n, sizeof *table);
    if (!table)
        return false;
    proc->streams = table;
    proc->n_slots = n;
    for (uint32_t i = 0; i < n_old; i++)
        if (old[i])
            place(proc, old[i]);
    free(old);
    return true;
}

struct strobe_stream_state *strobe_collector_stream(struct strobe_proc *proc, uint64_t id)
{
    if (id == STROBE_META_TRACK)
        return &proc->meta;
    if (proc->n_slots)
        for (uint32_t i = slot_of(proc, id); proc->streams[i]; i = (i + 1) & (proc->n_slots - 1))
            if (proc->streams[i]->id == id)
                return proc->streams[i];
    if (proc->n_streams >= STREAMS_MAX)
        return NULL;
    if (2 * proc->n_streams >= proc->n_slots && !grow_table(proc))
        return NULL;
    struct strobe_stream_state *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->id = id;
    place(proc, stream);
    proc->n_streams++;
    return stream;
}

static void free_stream(struct strobe_stream_state *stream)
{
    strobe_track_free(&stream->track);
    free(stream->segments);
}

/* Take a stream that is over out of the table; those behind it move up. */
void strobe_collector_drop_stream(struct strobe_proc *proc, struct strobe_stream_state *stream)
{
    uint32_t mask = proc->n_slots - 1, i = slot_of(proc, stream->id);
    STROBE_ASSERT(stream->state == STROBE_STREAM_ENDED && !stream->hole);
    STROBE_ASSERT(!stream->n_segments);
    while (proc->streams[i] != stream)
        i = (i + 1) & mask;
    STROBE_ASSERT(proc->n_streams);
    proc->streams[i] = NULL;
    proc->n_streams--;
    for (i = (i + 1) & mask; proc->streams[i]; i = (i + 1) & mask) {
        struct strobe_stream_state *moved = proc->streams[i];
        proc->streams[i] = NULL;
        place(proc, moved);
    }
    free_stream(stream);
    free(stream);
}

/* A segment was found: put it into its stream's list, in the order of positions. */
bool strobe_collector_add_segment(void *context, const struct strobe_segment *segment)
{
    struct strobe_proc *proc = context;
    bool no_memory = proc->no_memory;
    struct strobe_stream_state *stream = strobe_collector_stream(proc, segment->track);
    if (!stream && proc->n_streams >= STREAMS_MAX) {
        proc->n_refused++; /* a lie: it is known and never looked at */
        return true;
    }
    STROBE_ASSERT(!stream || stream->id == segment->track);
    proc->no_memory = true; /* until proved otherwise */
    if (!stream)
        return false;
    if (STROBE_ARRAY_RESERVE(stream->segments, stream->cap_segments, stream->n_segments + 1ull))
        return false;
    uint32_t i = stream->n_segments++;
    while (i > 0 && stream->segments[i - 1].base_pos > segment->base_pos) {
        stream->segments[i] = stream->segments[i - 1];
        i--;
    }
    stream->segments[i] = *segment;
    STROBE_ASSERT(segment->state == STROBE_SEGMENT_FOUND);
    STROBE_ASSERT(i == 0 || stream->segments[i - 1].base_pos <= segment->base_pos);
    STROBE_ASSERT(i + 1 == stream->n_segments ||
                  segment->base_pos < stream->segments[i + 1].base_pos);
    if (i == 0)
        stream->epoch_known = false;
    proc->news = true;
    proc->no_memory = no_memory;
    return true;
}

/* ---- slots ---- */

static void read_losses(struct strobe_collector *c, struct strobe_proc *proc,
                        struct strobe_stream_state *stream, const struct strobe_slot *slot)
{
    for (uint32_t cause = 0; cause < STROBE_LOSS_IN_SLOT; cause++) {
        uint64_t n = __atomic_load_n(&slot->n_dropped[cause], __ATOMIC_ACQUIRE);
        if (n <= stream->lost_seen[cause])
            continue;
        uint64_t first = stream->lost_tick ? stream->lost_tick : slot->drop_first_tick;
        uint64_t last = slot->drop_last_tick, lost = n - stream->lost_seen[cause];
        stream->lost_seen[cause] = n;
        if (lost > STROBE_LOST_MAX) { /* nobody can drop so many: the program wrote over its slot */
            strobe_collector_lose(c, proc->id, stream->id, STROBE_LOSS_DAMAGED, 1,
                                  stream->prev_tick, stream->prev_tick);
            continue;
        }
        last = last > first ? last : first;
        strobe_collector_lose(c, proc->id, stream->id, cause, lost, first, last);
        stream->lost_tick = last;
    }
    uint64_t waited = strobe_slot_waited_ns(slot);
    if (waited > stream->waited_seen)
        c->waited_ns += waited - stream->waited_seen;
    stream->waited_seen = waited;
}

/* The next slot in use before `end`; NULL: there is none. */
static struct strobe_slot *next_slot_before(struct strobe_proc *proc, uint64_t *at, uint64_t end,
                                            struct strobe_stream_state **stream)
{
    struct strobe_slot *slot = NULL;
    while (*at < end && (slot = strobe_ring_slot(&proc->ring, at))) {
        uint32_t state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
        uint64_t track = state == STROBE_SLOT_FREE ? 0 : slot->track;
        *stream = track && track < 1ull << 60 ? strobe_collector_stream(proc, track) : NULL;
        if (*stream)
            return slot;
    }
    return NULL;
}

struct strobe_slot *strobe_collector_next_slot(struct strobe_proc *proc, uint64_t *at,
                                               struct strobe_stream_state **stream)
{
    return next_slot_before(proc, at, UINT64_MAX, stream);
}

void strobe_collector_skip_losses(struct strobe_collector *c, struct strobe_proc *proc)
{
    struct strobe_stream_state *stream;
    struct strobe_slot *slot;
    for (uint64_t at = 0; (slot = strobe_collector_next_slot(proc, &at, &stream));) {
        for (uint32_t cause = 0; cause < STROBE_LOSS_IN_SLOT; cause++)
            stream->lost_seen[cause] = __atomic_load_n(&slot->n_dropped[cause], __ATOMIC_ACQUIRE);
        stream->lost_tick = strobe_collector_now(c);
        stream->waited_seen = strobe_slot_waited_ns(slot);
    }
    for (uint32_t cause = 0; cause < STROBE_LOSS_IN_CONTROL; cause++)
        proc->lost_seen[cause] =
            __atomic_load_n(&proc->ring.control->n_lost[cause], __ATOMIC_ACQUIRE);
}

void strobe_collector_count_thread(struct strobe_collector *c, struct strobe_proc *proc,
                                   uint64_t track)
{
    STROBE_ASSERT(track != STROBE_META_TRACK);
    struct strobe_stream_state *stream = strobe_collector_stream(proc, track);
    if (stream && stream->named)
        return;
    if (stream)
        stream->named = true;
    strobe_file_count(c->block.writer, 0, 1);
}

/* A thread that was there before this recorder is only known by its slot. In another namespace its tid names no
 * file here: it says its name itself when it emits. */
static void describe_thread(struct strobe_collector *c, struct strobe_proc *proc,
                            const struct strobe_slot *slot, uint64_t track)
{
    char path[64], name[32] = "";
    bool is_here = proc->reach.in_proc && proc->reach.in_proc == proc->ring.pid;
    snprintf(path, sizeof path, "/proc/%u/task/%u/comm", proc->reach.in_proc, slot->tid);
    int fd = is_here ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd < 0 ? 0 : read(fd, name, sizeof name - 1);
    if (fd >= 0)
        close(fd);
    if (n > 0 && name[n - 1] == '\n')
        n--;
    strobe_collector_count_thread(c, proc, track);
    strobe_records_begin(&c->block.records, STROBE_META_THREAD);
    strobe_records_u(&c->block.records, proc->id);
    strobe_records_u(&c->block.records, track);
    strobe_records_u(&c->block.records, slot->tid);
    strobe_records_u(&c->block.records, c->last_sync_tick);
    strobe_records_s(&c->block.records, name, n > 0 ? (size_t)n : 0);
    strobe_records_end(&c->block.records);
}

/* The thread is over: its words are drained, then its slot is free again. */
static void finish_slot(struct strobe_collector *c, struct strobe_proc *proc,
                        struct strobe_stream_state *stream, struct strobe_slot *slot)
{
    strobe_stream_end(proc, stream);
    strobe_ring_scan(&proc->ring, strobe_collector_add_segment, proc);
    strobe_collector_drain_meta(c, proc); /* who it was comes before its end */
    strobe_collector_drain(c, proc, stream);
    STROBE_ASSERT(stream->state == STROBE_STREAM_ENDED);
    if (stream->n_segments)
        return; /* something is odd with it; tried again */
    uint64_t numbers[] = {proc->id, stream->id, stream->prev_tick};
    strobe_records_numbers(&c->block.records, STROBE_FACT_THREAD_END, numbers, 3);
    if (stream->lost_tick)
        strobe_collector_flush_records(
            c); /* its slot's counts must be in the file before they are wiped */
    /* its events may still be in the block under construction, which has a pointer to its state
     * only while a part is open: the state can go */
    strobe_collector_drop_stream(proc, stream);
    if (!strobe_proc_is_dead(proc)) {
        memset((char *)slot + 8, 0, sizeof *slot - 8);
        __atomic_store_n(&slot->state, STROBE_SLOT_FREE, __ATOMIC_RELEASE);
    }
}

/* Events that no slot counts. */
static void read_lost_elsewhere(struct strobe_collector *c, struct strobe_proc *proc)
{
    const struct strobe_control *control = proc->ring.control;
    for (uint32_t cause = 0; cause < STROBE_LOSS_IN_CONTROL; cause++) {
        uint64_t n = __atomic_load_n(&control->n_lost[cause], __ATOMIC_ACQUIRE);
        uint64_t first = control->lost_first_tick, last = control->lost_last_tick;
        uint64_t lost = n > proc->lost_seen[cause] ? n - proc->lost_seen[cause] : 0;
        bool is_damaged = lost > STROBE_LOST_MAX;
        proc->lost_seen[cause] = n;
        strobe_collector_lose(c, proc->id, 0, is_damaged ? STROBE_LOSS_DAMAGED : cause,
                              is_damaged ? 1 : lost, first, last > first ? last : first);
    }
}

/* A thread has its slot before its first segment: while none was taken, what is drained is of the slots that were in use then. One that only
 * drops is found when all are looked at, which is once a second. */
void strobe_collector_read_losses(struct strobe_collector *c, struct strobe_proc *proc)
{
    struct strobe_stream_state *stream;
    struct strobe_slot *slot;
    bool is_known = proc->slots_end && proc->slots_end_taken == proc->ring.n_taken_seen;
    uint64_t end = is_known ? proc->slots_end : UINT64_MAX;
    for (uint64_t at = 0; (slot = next_slot_before(proc, &at, end, &stream));)
        read_losses(c, proc, stream, slot);
    read_lost_elsewhere(c, proc);
}

void strobe_collector_scan_slots(struct strobe_collector *c, struct strobe_proc *proc)
{
    struct strobe_stream_state *stream;
    struct strobe_slot *slot;
    uint32_t taken = proc->ring.n_taken_seen;
    uint64_t end = 0;
    for (uint64_t at = 0; (slot = strobe_collector_next_slot(proc, &at, &stream)); end = at) {
        uint32_t state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
        read_losses(c, proc, stream, slot);
        if (!stream->slot_seen && !stream->named && proc->attached)
            describe_thread(c, proc, slot, stream->id);
        stream->slot_seen = true;
        /* whether a thread still runs only its own process can tell: its ids may be another namespace's */
        if (state == STROBE_SLOT_ENDED || strobe_proc_is_dead(proc))
            finish_slot(c, proc, stream, slot);
    }
    STROBE_ASSERT(!strobe_proc_is_over(proc));
    proc->slots_end = end;
    proc->slots_end_taken = taken;
    read_lost_elsewhere(c, proc);
    strobe_collector_lose(c, proc->id, 0, STROBE_LOSS_DAMAGED, proc->n_refused, c->last_sync_tick,
                          c->last_sync_tick);
    proc->n_refused = 0;
}

/* ---- finding ---- */

static struct strobe_proc *new_proc(struct strobe_collector *c, const char *name)
{
    pthread_mutex_lock(&c->procs_lock);
    enum strobe_err err = STROBE_ARRAY_RESERVE(c->procs, c->cap_procs, c->n_procs + 1ull);
    pthread_mutex_unlock(&c->procs_lock);
    struct strobe_proc *proc = err ? NULL : calloc(1, sizeof *proc);
    if (!proc)
        return NULL;
    snprintf(proc->name, sizeof proc->name, "%s", name);
    proc->pidfd = -1;
    proc->ring.fd = -1;
    proc->id = strobe_collector_new_proc_id(c);
    return proc;
}

uint32_t strobe_collector_new_proc_id(struct strobe_collector *c)
{
    return __atomic_fetch_add(&c->next_proc_id, 1, __ATOMIC_RELAXED);
}

/* Its number was not used: the next one gets it, unless another was given meanwhile. */
static void take_back_id(struct strobe_collector *c, const struct strobe_proc *proc)
{
    uint32_t next = proc->id + 1;
    STROBE_ASSERT(proc->state == STROBE_PROC_FOUND);
    __atomic_compare_exchange_n(&c->next_proc_id, &next, proc->id, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
}

static void publish_proc(struct strobe_collector *c, struct strobe_proc *proc)
{
    pthread_mutex_lock(&c->procs_lock);
    STROBE_ASSERT(c->n_procs < c->cap_procs && proc->state != STROBE_PROC_FOUND);
    STROBE_ASSERT(proc->id < __atomic_load_n(&c->next_proc_id, __ATOMIC_RELAXED));
    c->procs[c->n_procs++] = proc;
    pthread_mutex_unlock(&c->procs_lock);
}

static void join_proc(struct strobe_collector *c, struct strobe_proc *proc)
{
    struct strobe_control *control = proc->ring.control;
    STROBE_ASSERT(proc->state == STROBE_PROC_FOUND && !proc->n_streams);
    proc->joined_ns = strobe_collector_mono_ns();
    strobe_collector_reach(c, proc);
    proc->attached = !strobe_ring_is_ours(&proc->ring);
    bool is_dead = !strobe_ring_is_alive(&proc->ring, proc->name) &&
                   (c->post_mortem || !strobe_collector_is_exiting(proc));
    strobe_proc_move(proc, is_dead ? STROBE_PROC_DEAD : STROBE_PROC_LIVE);
    control->detached_tick = 0;
    proc->meta_dirty = true; /* its name has to be in the file */
    if (proc->attached && !c->post_mortem) {
        strobe_ring_detach(&proc->ring); /* as a killed recorder left it: no more under old names */
        strobe_collector_skip_old(proc);
        strobe_collector_skip_losses(c, proc);
        strobe_collector_forget_owed(proc);
    }
    if (!is_dead && !c->stopping && !c->post_mortem)
        strobe_ring_attach(&proc->ring, c->policy, c->stack_depth);
    proc->old_below = (control->floor >> 32) & STROBE_WORD_ID_MAX;
    if (!proc->resumed)
        strobe_file_count(c->block.writer, 1, 0);
    proc->modules_due = !is_dead;
    strobe_collector_note_outer(c, proc);
    if (is_dead && !c->post_mortem)
        strobe_collector_learn_exit(proc);
}

static void refuse_clock(struct strobe_collector *c, struct strobe_proc *proc)
{
    char text[256];
    snprintf(text, sizeof text,
             "%s: not recorded: it reads %s, this trace has %s; set STROBE_CLOCK alike for all",
             proc->name,
             proc->ring.clock == STROBE_CLOCK_MONO ? "CLOCK_MONOTONIC" : "the time-stamp counter",
             c->clock == STROBE_CLOCK_MONO ? "CLOCK_MONOTONIC" : "the time-stamp counter");
    strobe_collector_note(c, proc->id, text);
    strobe_ring_close(&proc->ring);
    strobe_proc_move(proc, STROBE_PROC_CLOSED);
    publish_proc(c, proc);
}

static void refuse(struct strobe_collector *c, struct strobe_proc *proc, enum strobe_err err)
{
    char text[256];
    snprintf(text, sizeof text,
             "%s: not recorded: its client library is %s; update strobe, or rebuild the program "
             "with this "
             "version",
             proc->name,
             err == STROBE_ERR_VERSION ? "newer than this recorder" : "of another layout");
    strobe_collector_note(c, proc->id, text);
    strobe_proc_move(proc, STROBE_PROC_CLOSED);
    publish_proc(c, proc);
}

/* A dead process that never emitted for this recorder is none of its recording; what it left for a recorder that died
 * stays for `strobe recover`, and an empty page goes. */
static bool is_leftover(const struct strobe_collector *c, const struct strobe_proc *proc)
{
    char path[STROBE_PATH_MAX + 100];
    if (c->post_mortem || strobe_ring_is_ours(&proc->ring) || strobe_collector_is_exiting(proc) ||
        strobe_ring_is_alive(&proc->ring, proc->name))
        return false;
    snprintf(path, sizeof path, "%s/%s", c->dir, proc->name);
    if (proc->ring.control->n_chunks == 0)
        unlink(path);
    return true;
}

bool strobe_collector_consider(struct strobe_collector *c, const char *name)
{
    struct strobe_proc *proc = new_proc(c, name);
    if (!proc) {
        c->find_failed = true;
        return false;
    }
    enum strobe_err err = strobe_ring_open(c->dir, name, &proc->ring);
    if ((!err && proc->ring.fd >= c->n_files_max) || err == STROBE_ERR_IO ||
        err == STROBE_ERR_FILES) {
        c->crowded = true;
        if (c->names_left && err == STROBE_ERR_IO)
            strobe_collector_miss(c, name, "its file can't be read");
        else if (c->names_left && (err || strobe_collector_is_wanted(c, &proc->ring)))
            c->n_left++;
        strobe_ring_close(&proc->ring);
        take_back_id(c, proc);
        free(proc);
        return c->names_left;
    }
    if (err == STROBE_ERR_FORMAT || err == STROBE_ERR_NOMEM) {
        take_back_id(c, proc);
        free(proc);
        c->find_failed |= err == STROBE_ERR_NOMEM;
        return err == STROBE_ERR_FORMAT && !strobe_collector_is_being_made(c, name);
    }
    if (!err && !strobe_collector_is_wanted(c, &proc->ring)) {
        strobe_ring_close(&proc->ring);
        take_back_id(c, proc);
        free(proc);
        return true;
    }
    if (!strobe_collector_mark_seen(c, name)) {
        strobe_ring_close(&proc->ring);
        take_back_id(c, proc);
        free(proc);
        c->find_failed = true;
        return false;
    }
    if (err == STROBE_ERR_VERSION || err == STROBE_ERR_CORRUPT) {
        refuse(c, proc, err);
        return true;
    }
    if (err || is_leftover(c, proc)) {
        strobe_ring_close(&proc->ring);
        take_back_id(c, proc);
        free(proc);
        return true;
    }
    if (proc->ring.clock != c->clock && !c->post_mortem) {
        refuse_clock(c, proc);
        return true;
    }
    join_proc(c, proc);
    publish_proc(c, proc);
    return true;
}

void strobe_collector_wait(struct strobe_collector *c, uint64_t ns)
{
    struct pollfd news = {.fd = c->inotify, .events = POLLIN};
    if (c->dir_changed && ns > 500000) /* a process is just making its file */
        ns = 500000;
    struct timespec timeout = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    ppoll(&news, 1, &timeout, NULL); /* a negative descriptor is none */
}

bool strobe_collector_is_quiet(const struct strobe_collector *c)
{
    for (uint32_t i = 0; i < c->n_procs; i++)
        if (!strobe_proc_is_over(c->procs[i]))
            return false;
    return c->inotify >= 0 && !c->dir_changed;
}

void strobe_collector_choose_clock(struct strobe_collector *c)
{
    struct strobe_ring ring;
    struct dirent *entry;
    DIR *dir = opendir(c->dir);
    while (dir && (entry = readdir(dir))) {
        if (!strstr(entry->d_name, ".pool") || strobe_ring_open(c->dir, entry->d_name, &ring))
            continue;
        if (strobe_ring_is_alive(&ring, entry->d_name) && strobe_collector_is_wanted(c, &ring))
            c->clock = ring.clock;
        strobe_ring_close(&ring);
    }
    if (dir)
        closedir(dir);
}

void strobe_collector_find_processes(struct strobe_collector *c)
{
    char events[4096] __attribute__((aligned(8)));
    uint64_t now = strobe_collector_mono_ns();
    bool news = c->scan || c->dir_changed || now >= c->next_dir_scan_ns;
    ssize_t n;
    while (c->inotify >= 0 && (n = read(c->inotify, events, sizeof events)) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *event = (const struct inotify_event *)(events + at);
            if (event->mask & IN_CREATE && event->len)
                strobe_collector_hold_early(c, event->name);
            at += (ssize_t)(sizeof *event + event->len);
            news = true;
        }
    if (!news)
        return;
    if (!strobe_collector_look_through(c, now))
        return;
    for (uint32_t i = 0; i < c->n_procs; i++) /* slow: only when a pidfd of each new one is held */
        if (c->procs[i]->modules_due) {
            c->procs[i]->modules_due = false;
            strobe_collector_describe_modules(c, c->procs[i]);
        }
}

/* ---- dying ---- */

/* The more processes, the more rarely each is asked whether it lives. */
static uint64_t alive_check_ns(const struct strobe_collector *c)
{
    uint64_t ns = c->n_live * 8000000ull;
    return ns < 100000000ull ? 100000000ull : ns < 1000000000ull ? ns : 1000000000ull;
}

void strobe_collector_check_death(struct strobe_collector *c, struct strobe_proc *proc,
                                  uint64_t now)
{
    struct pollfd wait = {.fd = proc->pidfd, .events = POLLIN};
    STROBE_ASSERT(!strobe_proc_is_over(proc));
    if (strobe_proc_is_dead(proc) || now < proc->next_alive_check_ns)
        return;
    proc->next_alive_check_ns = now + alive_check_ns(c); /* a reaped child is looked at at once */
    bool runs = proc->pidfd >= 0 && poll(&wait, 1, 0) == 0;
    if (runs && c->stopping &&
        (strobe_collector_is_exiting(proc) || strobe_collector_is_killed(proc)))
        runs = poll(&wait, 1, 1000) == 0; /* the last look: it is worth a moment */
    if (proc->pidfd < 0 || runs) {        /* the pid lives, or is not known; does the image? */
        if (strobe_ring_is_alive(&proc->ring, proc->name))
            return;
        if (runs && strobe_collector_is_exiting(proc) && poll(&wait, 1, 0) == 0)
            return;
    }
    strobe_proc_move(proc, STROBE_PROC_DEAD);
    strobe_collector_learn_exit(proc);
}

void strobe_collector_free_proc(struct strobe_proc *proc)
{
    uint32_t n_freed = 0;
    for (uint32_t i = 0; i < proc->n_slots; i++)
        if (proc->streams[i]) {
            free_stream(proc->streams[i]);
            free(proc->streams[i]);
            n_freed++;
        }
    STROBE_ASSERT(n_freed == proc->n_streams);
    free(proc->streams);
    free(proc->old_named);
    proc->old_named = NULL;
    free_stream(&proc->meta);
    memset(&proc->meta, 0, sizeof proc->meta);
    if (proc->pidfd >= 0)
        close(proc->pidfd);
    if (strobe_proc_is_open(proc)) {
        strobe_ring_close(&proc->ring);
        strobe_proc_move(proc, STROBE_PROC_CLOSED);
    }
    STROBE_ASSERT(proc->state == STROBE_PROC_CLOSED);
    proc->streams = NULL;
    proc->n_slots = proc->n_streams = 0;
    proc->pidfd = -1;
}
