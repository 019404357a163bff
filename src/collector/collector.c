/* collector.c - a recording from open to close: the round of polls, the clock, the end.
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "collector/internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <limits.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/assert.h"
#include "ring/alive.h"
#include "strobe/strobe.h"

/* Age at which a block under construction is written although it is not full. */
#define BLOCK_AGE_NS   (1000 * 1000000ull)
#define RECORDS_AGE_NS (50 * 1000000ull)
#define SLOTS_EVERY_NS (20 * 1000000ull)

uint64_t strobe_collector_mono_ns(void)
{
    return strobe_clock_mono_ns();
}

static uint64_t tick_now(const struct strobe_collector *c)
{
    return c->clock == STROBE_CLOCK_MONO ? strobe_collector_mono_ns() : strobe_ticks();
}

/* ---- facts of the trace ---- */

void strobe_collector_note(struct strobe_collector *c, uint32_t proc, const char *text)
{
    strobe_records_begin(&c->block.records, STROBE_FACT_NOTE);
    strobe_records_u(&c->block.records, proc);
    strobe_records_s(&c->block.records, text, strlen(text));
    strobe_records_end(&c->block.records);
}

void strobe_collector_unrecorded(struct strobe_collector *c, uint32_t pid, const char *what,
                                 const char *why)
{
    uint64_t tick = tick_now(c);
    c->n_unrecorded++;
    strobe_collector_lose(c, 0, 0, STROBE_LOSS_UNRECORDED, 1, tick, tick);
    strobe_records_begin(&c->block.records, STROBE_FACT_UNRECORDED);
    strobe_records_u(&c->block.records, pid);
    strobe_records_u(&c->block.records, tick);
    strobe_records_s(&c->block.records, what, strlen(what));
    strobe_records_s(&c->block.records, why, strlen(why));
    strobe_records_end(&c->block.records);
}

static void note_recording(struct strobe_collector *c, uint64_t tick, uint64_t what)
{
    uint64_t numbers[] = {tick, what};
    strobe_records_numbers(&c->block.records, STROBE_FACT_RECORDING, numbers, 2);
    strobe_records_tick(&c->block.records, numbers[0]);
}

/* The first processor's name; on arm64 the kernel has but the numbers of its maker and of its model. */
static void find_cpu(char *cpu, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");
    size_t used = 0;
    cpu[0] = 0;
    while (file && fgets(line, sizeof line, file)) {
        const char *value = strstr(line, ": ");
        bool is_name = value && !strncmp(line, "model name", 10);
        bool is_part = value && !strncmp(line, "CPU part", 8);
        line[strcspn(line, "\n")] = 0;
        if (is_name)
            snprintf(cpu, size, "%s", value + 2);
        else if (is_part || (value && !strncmp(line, "CPU implementer", 15)))
            used += (size_t)snprintf(cpu + used, size - used, "%s %s",
                                     used ? ", part" : "implementer", value + 2);
        if (is_name || is_part || used >= size)
            break;
    }
    if (file)
        fclose(file);
}

static void note_host(struct strobe_collector *c)
{
    struct utsname name;
    char cpu[128], kernel[256];
    if (uname(&name))
        return;
    find_cpu(cpu, sizeof cpu);
    snprintf(kernel, sizeof kernel, "%s %s %s", name.sysname, name.release, name.machine);
    strobe_records_begin(&c->block.records, STROBE_FACT_HOST);
    strobe_records_s(&c->block.records, name.nodename, strlen(name.nodename));
    strobe_records_s(&c->block.records, kernel, strlen(kernel));
    strobe_records_s(&c->block.records, cpu, strlen(cpu));
    strobe_records_end(&c->block.records);
}

/* What one event costs on this machine: the clock read and the store that the hot path can't avoid. A round takes some ten
 * microseconds, a thousand times what reading the clock before and after it adds. */
static uint64_t measure_event_ps(void)
{
    enum { N = 1000 };
    static uint64_t sink[64];
    struct strobe_hot hot;
    uint64_t best = ~0ull;
    for (int round = 0; round < 5; round++) {
        uint64_t start = strobe_collector_mono_ns();
        for (int i = 0; i < N; i++) {
            hot.cursor = (uint64_t)(uintptr_t)&sink[i & 63] << 16 | 64;
            uint64_t tick = strobe_ticks();
            uint64_t cursor = strobe_reserve(&hot, 1);
            __atomic_store_n((uint64_t *)(cursor >> 16), tick, __ATOMIC_RELEASE);
        }
        uint64_t took = strobe_collector_mono_ns() - start;
        best = took < best ? took : best;
    }
    return best * 1000 / N;
}

static void note_overhead(struct strobe_collector *c)
{
    struct strobe_file_totals totals;
    strobe_file_read_totals(c->block.writer, &totals);
    uint64_t numbers[] = {strobe_clock_cpu_ns(), measure_event_ps(), c->waited_ns, totals.n_events};
    strobe_records_numbers(&c->block.records, STROBE_FACT_OVERHEAD, numbers, 4);
}

/* ---- open ---- */

/* Descriptors that pools may have. Some are kept for looking at /proc: without them the living would be taken for dead. */
static int files_for_pools(bool is_end)
{
    enum { FEW = 64, KEPT = 16, KEPT_AT_END = 3 };
    struct rlimit files = {0};
    int n = getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur > INT_MAX ? INT_MAX
                                                                         : (int)files.rlim_cur;
    return n - (is_end ? KEPT_AT_END : n < FEW ? KEPT / 2 : KEPT);
}

enum strobe_err strobe_collector_open(const struct strobe_collector_options *options,
                                      struct strobe_file_writer *writer,
                                      struct strobe_collector **out)
{
    STROBE_ASSERT(options->session_dir && writer);
    struct strobe_collector *c = calloc(1, sizeof *c);
    if (!c)
        return STROBE_ERR_NOMEM;
    c->inotify = -1;
    c->policy = options->policy;
    c->stack_depth = options->stack_depth;
    c->only_pid = options->only_pid;
    c->post_mortem = options->post_mortem;
    c->trigger_ns = options->trigger_ns;
    c->listener = options->listener;
    c->clock = strobe_session_clock();
    c->pid_ns = strobe_alive_namespace();
    c->dir_changed = true;
    c->opened_real_ns = strobe_clock_real_ns();
    c->n_files_max = files_for_pools(false);
    snprintf(c->trigger_zone, sizeof c->trigger_zone, "%s",
             options->trigger_zone ? options->trigger_zone : "");
    snprintf(c->dir, sizeof c->dir, "%s", options->session_dir);
    pthread_mutex_init(&c->procs_lock, NULL);
    enum strobe_err err = strobe_build_block_init(&c->block, writer, options->records_writer,
                                                  options->max_file_bytes);
    if (!err) {
        if (!options->post_mortem)
            strobe_collector_choose_clock(c);
        strobe_collector_sync_clock(c);
        /* no later than what is stamped with the first reading of the clock */
        note_recording(c, c->last_sync_tick, options->post_mortem ? 2 : options->only_pid ? 3 : 0);
        if (!options->post_mortem)
            note_host(c);
        if (c->block.records.failed || !strobe_collector_reserve(c))
            err = STROBE_ERR_NOMEM;
    }
    if (!err && !options->post_mortem) {
        err = strobe_file_put_records(c->block.records_writer, &c->block.records);
        c->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        if (c->inotify >= 0)
            inotify_add_watch(c->inotify, c->dir, IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF);
    }
    if (err) {
        if (c->inotify >= 0)
            close(c->inotify);
        free(c->pending);
        free(c->meta_pending);
        strobe_build_block_free(&c->block);
        free(c);
        return err;
    }
    *out = c;
    return STROBE_OK;
}

/* ---- recovery ---- */

/* The process of that pool, known to the file as `proc`. */
static struct strobe_proc *resumed_proc(struct strobe_collector *c, const char *pool_name,
                                        uint32_t id)
{
    for (uint32_t i = 0; i < c->n_procs; i++)
        if (c->procs[i]->id == id)
            return c->procs[i];
    STROBE_ASSERT(c->post_mortem);
    if (id >= c->next_proc_id)
        c->next_proc_id = id + 1;
    if (!pool_name)
        return NULL;
    bool has_room = !STROBE_ARRAY_RESERVE(c->procs, c->cap_procs, c->n_procs + 1ull) &&
                    strobe_collector_mark_seen(c, pool_name);
    struct strobe_proc *proc = has_room ? calloc(1, sizeof *proc) : NULL;
    if (!proc) {
        c->no_memory = true;
        return NULL;
    }
    snprintf(proc->name, sizeof proc->name, "%s", pool_name);
    proc->id = id;
    proc->pidfd = -1;
    proc->resumed = true;
    enum strobe_err err = strobe_ring_open(c->dir, proc->name, &proc->ring);
    if (err) {
        c->no_memory |= err == STROBE_ERR_NOMEM;
        strobe_proc_move(proc, STROBE_PROC_CLOSED);
    } else {
        strobe_collector_reach(c, proc);
        c->clock = proc->ring.clock;
        proc->old_below = (proc->ring.control->floor >> 32) & STROBE_WORD_ID_MAX;
        strobe_proc_move(proc, strobe_ring_is_alive(&proc->ring, proc->name) ? STROBE_PROC_LIVE
                                                                             : STROBE_PROC_DEAD);
    }
    c->procs[c->n_procs++] = proc;
    return proc;
}

void strobe_collector_resume_meta(struct strobe_collector *c, const char *pool_name, uint32_t id,
                                  uint64_t meta_pos)
{
    struct strobe_proc *proc = resumed_proc(c, pool_name, id);
    if (proc && meta_pos > proc->meta.pos)
        proc->meta.pos = meta_pos;
}

enum strobe_err strobe_collector_resume_track(struct strobe_collector *c, const char *pool_name,
                                              uint32_t id, uint64_t track, uint64_t pos,
                                              const struct strobe_track *state,
                                              const uint64_t lost[STROBE_LOSS_COUNT])
{
    struct strobe_proc *proc = resumed_proc(c, pool_name, id);
    if (!proc || strobe_proc_is_over(proc))
        return STROBE_OK; /* nothing is left of it */
    if (track == STROBE_META_TRACK) {
        memcpy(proc->lost_seen, lost, sizeof proc->lost_seen);
        return STROBE_OK;
    }
    struct strobe_stream_state *stream = strobe_collector_stream(proc, track);
    if (!stream)
        return STROBE_ERR_NOMEM;
    STROBE_ASSERT(!stream->begun && !stream->n_segments);
    memcpy(stream->lost_seen, lost, sizeof stream->lost_seen);
    struct strobe_open_zone *stack = NULL;
    if (state->depth) {
        stack = malloc(state->depth * sizeof *stack);
        if (!stack)
            return STROBE_ERR_NOMEM;
        memcpy(stack, state->stack, state->depth * sizeof *stack);
    }
    free(stream->track.stack);
    stream->track = *state;
    stream->track.stack = stack;
    stream->track.cap = state->depth;
    stream->pos = pos;
    stream->prev_tick = state->last_tick;
    stream->slot_seen = stream->begun = stream->named = true;
    return STROBE_OK;
}

/* ---- the round ---- */

/* A process that could not say who it is (no shared memory left), or had nothing to say yet. */
static void describe_silent(struct strobe_collector *c, struct strobe_proc *proc)
{
    char path[64], exe[1024];
    if (proc->described || proc->resumed || !strobe_proc_is_open(proc))
        return;
    proc->described = true;
    snprintf(path, sizeof path, "/proc/%u/exe", proc->reach.in_proc);
    ssize_t n =
        strobe_proc_is_dead(proc) || !proc->reach.in_proc ? 0 : readlink(path, exe, sizeof exe);
    strobe_records_begin(&c->block.records, STROBE_META_PROCESS);
    strobe_records_u(&c->block.records, proc->id);
    strobe_records_u(&c->block.records, proc->ring.pid);
    strobe_records_u(&c->block.records, 0);
    strobe_records_u(&c->block.records, proc->ring.start_time);
    strobe_records_s(&c->block.records, exe, n > 0 ? (size_t)n : 0);
    strobe_records_s(&c->block.records, "", 0);
    strobe_records_s(&c->block.records, "", 0);
    strobe_records_end(&c->block.records);
}

void strobe_collector_end_process(struct strobe_collector *c, struct strobe_proc *proc)
{
    describe_silent(c, proc);
    STROBE_ASSERT(proc->described || proc->resumed);
    strobe_collector_lose_owed(c, proc);
    uint64_t numbers[] = {proc->id, tick_now(c), (uint64_t)proc->how, (uint64_t)proc->value};
    strobe_records_numbers(&c->block.records, STROBE_FACT_PROCESS_END, numbers, 4);
    strobe_proc_move(proc, STROBE_PROC_DRAINED);
}

/* Everything that a dead process left. */
static void drain_dead(struct strobe_collector *c, struct strobe_proc *proc)
{
    STROBE_ASSERT(strobe_proc_is_dead(proc));
    for (int i = 0; i == 0 || (i < 3 && proc->no_memory); i++) {
        proc->no_memory = false;
        strobe_ring_scan(&proc->ring, strobe_collector_add_segment, proc);
    }
    if (proc->no_memory)
        return; /* tried again; in the end its pool stays for `strobe recover` */
    strobe_collector_drain_meta(c, proc);
    strobe_collector_scan_slots(c, proc);
    for (uint32_t i = 0; i < proc->n_slots; i++)
        if (proc->streams[i]) {
            strobe_stream_end(proc, proc->streams[i]);
            strobe_collector_drain(c, proc, proc->streams[i]);
        }
    if (!strobe_collector_check_memory(c, proc))
        strobe_collector_end_process(c, proc);
}

/* Slots are many and change rarely: when a thread came or went they are looked at soon, for losses alone
 * once a second, and at the end in any case. */
static bool slots_are_due(const struct strobe_collector *c, const struct strobe_proc *proc,
                          bool news, bool flush, uint64_t now)
{
    uint64_t age = now - proc->slots_scanned_ns;
    bool changed = proc->ring.n_taken_seen != proc->slots_seen;
    return c->stopping || (flush && (changed || age > 1000000000ull)) ||
           (news && age > SLOTS_EVERY_NS);
}

static void poll_proc(struct strobe_collector *c, struct strobe_proc *proc, bool flush,
                      uint64_t now)
{
    STROBE_ASSERT(strobe_proc_is_live(proc));
    bool news = strobe_ring_has_news(&proc->ring) || proc->no_memory;
    proc->no_memory = false;
    if (news)
        strobe_ring_scan(&proc->ring, strobe_collector_add_segment, proc);
    news |= proc->news;
    proc->news = false;
    if (news || flush)
        strobe_collector_drain_meta(c, proc);
    if (slots_are_due(c, proc, news, flush, now)) {
        strobe_collector_scan_slots(c, proc);
        proc->slots_scanned_ns = now;
        proc->slots_seen = proc->ring.n_taken_seen;
    }
    if (!news && !flush)
        return;
    for (uint32_t i = 0; i < proc->n_slots; i++) {
        struct strobe_stream_state *stream = proc->streams[i];
        if (stream && stream->n_segments && (flush || stream->n_segments > 1))
            strobe_collector_drain(c, proc, stream);
    }
}

/* Once all that was taken is in the file, the dead need no descriptors, no memory of ours and no room in the shared one:
 * a build of ten thousand processes is recorded with those of a few. */
static void release_gone(struct strobe_collector *c)
{
    enum { NAME_TICK_NS = 20000000 }; /* start times in names are this coarse */
    char path[STROBE_PATH_MAX + 100];
    uint64_t now = strobe_collector_mono_ns();
    if (c->post_mortem || c->block.disk_failed || c->no_memory || c->block.enc.n_parts ||
        c->n_pending || c->n_meta_pending || c->block.records.n_records ||
        strobe_build_losses_n(&c->block.losses))
        return;
    pthread_mutex_lock(&c->procs_lock);
    for (uint32_t i = 0; i < c->n_procs; i++) {
        struct strobe_proc *proc = c->procs[i];
        if (proc->state != STROBE_PROC_DRAINED || proc->n_damaged ||
            now - proc->joined_ns < NAME_TICK_NS || strobe_collector_pid_lives(proc))
            continue;
        snprintf(path, sizeof path, "%s/%s", c->dir, proc->name);
        STROBE_ASSERT(!proc->meta_dirty); /* the file has all that it said */
        unlink(path);
        strobe_collector_learn_exit(proc); /* for an image after it that nobody found yet */
        strobe_collector_forget_seen(c, proc->name);
        strobe_collector_free_proc(proc);
    }
    pthread_mutex_unlock(&c->procs_lock);
}

/* Where all processes are quiet, a round is nothing but waiting for a line of each one's control page: ask for them
 * together. */
static void fetch_controls(struct strobe_collector *c)
{
    c->n_live = 0;
    for (uint32_t i = 0; i < c->n_procs; i++)
        if (!strobe_proc_is_over(c->procs[i])) {
            c->n_live++;
            __builtin_prefetch(&c->procs[i]->ring.control->n_waiting);
        }
}

/* The limit of a zone in ticks, as soon as there is some time to tell their rate by: the first zones may be over it. */
static void set_trigger_ticks(struct strobe_collector *c, uint64_t now)
{
    enum { BASE_NS = 1000000 };
    if (now > c->sync_mono + BASE_NS)
        c->trigger_ticks = (uint64_t)((double)c->trigger_ns * (double)(tick_now(c) - c->sync_tick) /
                                      (double)(now - c->sync_mono));
}

uint64_t strobe_collector_poll(struct strobe_collector *c, bool flush)
{
    uint64_t before = c->n_taken_events, now = strobe_collector_mono_ns();
    bool somebody_waits = false;
    STROBE_ASSERT(!c->block.enc.track);
    flush |= c->crowded;
    c->crowded = false;
    if (!c->stopping)
        strobe_collector_find_processes(c);
    if (c->trigger_ns && !c->trigger_ticks)
        set_trigger_ticks(c, now);
    fetch_controls(c);
    for (uint32_t i = 0; i < c->n_procs; i++) {
        struct strobe_proc *proc = c->procs[i];
        if (strobe_proc_is_over(proc))
            continue;
        strobe_collector_check_death(c, proc, now);
        if (strobe_proc_is_dead(proc)) {
            drain_dead(c, proc);
            continue;
        }
        bool waits = __atomic_load_n(&proc->ring.control->n_waiting, __ATOMIC_ACQUIRE) != 0;
        poll_proc(c, proc, flush || waits, now);
        somebody_waits |= waits;
        strobe_collector_check_memory(c, proc);
    }
    now = strobe_collector_mono_ns();
    if (c->block.enc.n_parts && (flush || now - c->block_started_ns > BLOCK_AGE_NS))
        strobe_collector_flush_events(c);
    else if (c->n_pending > 8 || (c->n_pending && (somebody_waits || flush)))
        strobe_collector_flush_events(
            c); /* the pool is better free than the block full; a dead process may have left
                                             a segment and no event, and is released when it went back */
    if (flush || now >= c->next_records_flush_ns || c->n_meta_pending) {
        c->next_records_flush_ns = now + RECORDS_AGE_NS;
        strobe_collector_flush_records(c);
    }
    if (flush)
        release_gone(c);
    return c->n_taken_events - before;
}

uint64_t strobe_collector_now(const struct strobe_collector *c)
{
    return tick_now(c);
}

void strobe_collector_beat(struct strobe_collector *c)
{
    pthread_mutex_lock(&c->procs_lock);
    uint64_t beat = __atomic_add_fetch(&c->beat, 1, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < c->n_procs; i++)
        if (strobe_proc_is_open(c->procs[i]))
            __atomic_store_n(&c->procs[i]->ring.control->heartbeat, beat, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&c->procs_lock);
}

void strobe_collector_exit_status(struct strobe_collector *c, uint32_t pid, int status)
{
    for (uint32_t i = 0; i < c->n_procs; i++) {
        struct strobe_proc *proc = c->procs[i];
        if (proc->reach.pid != pid || strobe_proc_is_over(proc) ||
            (!WIFEXITED(status) && !WIFSIGNALED(status)))
            continue;
        proc->how = WIFSIGNALED(status) ? 2 : 1;
        proc->value = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
        proc->next_alive_check_ns = 0;
    }
}

/* ---- the end ---- */

static const char no_memory_note[] =
    "its recorder had no memory left to read all that the session's memory held; that was not in "
    "this trace when the recording ended ('strobe recover' adds it)";

/* Those who found no descriptor so far: the dead make room for them, and nobody new needs what was kept. */
static void find_crowded_out(struct strobe_collector *c)
{
    STROBE_ASSERT(c->find_all && !c->stopping);
    c->n_files_max = files_for_pools(true);
    for (int i = 0; i < N_EARLY; i++) {
        if (c->early[i].pidfd > 0)
            close(c->early[i].pidfd);
        c->early[i] = (struct early){0, -1};
    }
    for (int i = 0; c->crowded && i < 1000; i++)
        strobe_collector_poll(c, true);
    if (c->crowded) { /* who still has no place stays in the folder */
        c->names_left = c->dir_changed = true;
        strobe_collector_find_processes(c);
    }
}

void strobe_collector_stop(struct strobe_collector *c)
{
    c->find_all = true;
    STROBE_ASSERT(!c->stopping);
    for (int i = 0; i == 0 || c->scan || (i < 3 && c->dir_changed); i++) {
        c->dir_changed = true;
        strobe_collector_find_processes(c); /* who joined in the last moment */
    }
    if (c->crowded)
        find_crowded_out(c);
    c->no_memory |= c->find_failed;
    c->stopping = true;
    for (uint32_t i = 0; i < c->n_procs; i++)
        if (!strobe_proc_is_over(c->procs[i])) {
            strobe_ring_detach(&c->procs[i]->ring);
            c->procs[i]->next_alive_check_ns =
                0; /* one that died a moment ago is not called running */
        }
    /* In a recovery too: a program that outlived its recorder may be in an emit. */
    strobe_collector_hear(c);
    strobe_collector_poll(c, true);
    STROBE_ASSERT(c->stopping);
    c->ending = true;
    strobe_collector_poll(c, true);
    for (uint32_t i = 0; i < c->n_procs; i++) {
        struct strobe_proc *proc = c->procs[i];
        if (strobe_proc_is_over(proc))
            continue;
        describe_silent(c, proc);
        strobe_collector_lose_owed(c, proc);
        proc->ring.control->detached_tick = tick_now(c);
        char text[160];
        snprintf(text, sizeof text,
                 strobe_proc_is_dead(proc)
                     ? "process %u: no memory to read what it left"
                     : "process %u was still running when the recording ended",
                 proc->ring.pid);
        c->no_memory |= strobe_proc_is_dead(proc) || proc->no_memory;
        strobe_collector_note(c, proc->id, text);
    }
    if (c->no_memory && !c->post_mortem)
        strobe_collector_note(c, 0, no_memory_note);
    strobe_collector_flush_events(c);
    c->end_tick = tick_now(c); /* names are looked up later, and are no part of the recording */
    STROBE_ASSERT(!c->n_pending && !c->block.enc.n_parts);
}

struct strobe_collector_status strobe_collector_status(struct strobe_collector *c)
{
    struct strobe_file_totals totals;
    strobe_file_read_totals(c->block.writer, &totals);
    uint64_t n_lost = strobe_build_losses_total(&c->block.losses);
    struct strobe_collector_status status = {
        .n_events = totals.n_events,
        .n_zones = totals.n_zones,
        .n_bytes = totals.n_bytes,
        .n_lost = n_lost,
        .n_clients = c->n_procs,
        .n_procs = (uint32_t)totals.n_procs,
        .n_threads = (uint32_t)totals.n_threads,
        .triggered = c->triggered,
        .disk_failed = c->block.disk_failed,
        .no_memory = c->no_memory,
        .n_left = c->n_left,
        .n_pool_full = totals.lost[STROBE_LOSS_POOL_FULL],
        .n_unrecorded = c->n_unrecorded,
        .size_limit = c->block.size_limit,
        .n_unheard = c->n_unheard,
    };
    memcpy(status.unheard, c->unheard, sizeof status.unheard);
    for (uint32_t i = 0; i < c->n_procs; i++)
        status.n_live += !strobe_proc_is_over(c->procs[i]);
    return status;
}

void strobe_collector_flush(struct strobe_collector *c)
{
    strobe_collector_poll(c, true);
    strobe_collector_flush_events(c);
    strobe_collector_flush_records(c);
}

void strobe_collector_set_writer(struct strobe_collector *c, struct strobe_file_writer *writer)
{
    STROBE_ASSERT(!c->block.enc.n_parts && !c->n_pending);
    strobe_build_block_set_writer(&c->block, writer);
}

void strobe_collector_clear_trigger(struct strobe_collector *c)
{
    c->triggered = false;
}

/* The pools of processes that are gone hold nothing that is not in the file. */
static void remove_pools(struct strobe_collector *c)
{
    for (uint32_t i = 0; i < c->n_procs; i++) {
        struct strobe_proc *proc = c->procs[i];
        char path[STROBE_PATH_MAX + 100];
        if (proc->state != STROBE_PROC_DRAINED)
            continue;
        snprintf(path, sizeof path, "%s/%s", c->dir, proc->name);
        unlink(path);
    }
}

enum strobe_err strobe_collector_close(struct strobe_collector *c)
{
    bool healthy = true;
    STROBE_ASSERT(!c->block.enc.track);
    for (uint32_t i = 0; i < c->n_procs; i++)
        c->procs[i]->meta_dirty |= !strobe_proc_is_over(c->procs[i]);
    strobe_collector_sync_clock(c);
    uint64_t end_tick = c->end_tick ? c->end_tick : tick_now(c);
    note_recording(c, end_tick, 1);
    note_overhead(c);
    strobe_collector_flush_records(c);
    if (c->block.records.n_records || strobe_build_losses_n(&c->block.losses))
        healthy = false;
    if (!healthy)
        strobe_build_losses_end(&c->block.losses, c->block.writer, end_tick);
    strobe_collector_keep_losses(c);
    if (healthy)
        remove_pools(c);
    if (c->scan)
        closedir(c->scan);
    free(c->seen);
    if (c->inotify >= 0)
        close(c->inotify);
    for (int i = 0; i < N_EARLY; i++)
        if (c->early[i].pidfd > 0)
            close(c->early[i].pidfd);
    for (uint32_t i = 0; i < c->n_procs; i++) {
        strobe_collector_free_proc(c->procs[i]);
        free(c->procs[i]);
    }
    free(c->procs);
    free(c->pending);
    free(c->meta_pending);
    pthread_mutex_destroy(&c->procs_lock);
    enum strobe_err err = c->block.disk_failed  ? c->block.disk_err
                          : c->no_memory        ? STROBE_ERR_NOMEM
                          : c->n_left           ? STROBE_ERR_FILES
                          : c->block.size_limit ? STROBE_ERR_LENGTH
                                                : STROBE_OK;
    strobe_build_block_free(&c->block);
    free(c);
    return err;
}
