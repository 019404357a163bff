/* hearing.c - the end of a recording whose processes go on: wait until every event that passed the gate before it was
 * shut is stored.
 *
 * A slow emit is counted (control.n_inside). A fast one leaves no trace between its test of the gate and its store, but
 * it makes no system call there either, and it takes well under a microsecond. So a thread is *heard* when, after the
 * gate was shut, it sleeps in a system call, or has run for longer than any emit takes, or is gone. The kernel brings a
 * thread's run time up to date at a tick or a switch: the first change that is seen may still be of the time before the gate
 * was shut, what comes on top of it is not.
 *
 * A thread that stands still (stopped, or never given a processor) until the bound is unheard: its last event may be
 * missing, which is counted and said.  SPDX-License-Identifier: MIT */
#include "collector/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/assert.h"

#define BOUND_NS (2000 * 1000000ull)
#define EMIT_NS  (100 * 1000ull)   /* clearly more than an emit with its page faults */
#define TICK_NS  (12 * 1000000ull) /* the longest tick, and an emit */
#define STEP_NS  (2 * 1000000l)

struct thread {
    uint32_t tid; /* as the recorder sees it */
    bool is_timed, is_based;
    uint64_t first_ns, base_ns; /* run time at the first look, and at its first change */
};

struct ear {
    struct strobe_proc *proc; /* borrowed */
    struct thread *threads;   /* owned: those not heard yet, n */
    uint32_t n, cap;
    bool is_deaf; /* its threads can't be looked at */
};

/* A small file of a thread, as a text. False: there is no such thread (any more); *failed: it can't be read. */
static bool read_of_thread(uint32_t pid, uint32_t tid, const char *what, char text[512],
                           bool *failed)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/task/%u/%s", pid, tid, what);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, 511);
    int err = n < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    *failed = err && err != ENOENT && err != ESRCH;
    return n > 0;
}

static bool ran_since(struct thread *thread, uint64_t run_ns)
{
    if (!thread->is_timed) {
        thread->is_timed = true;
        thread->first_ns = run_ns;
    } else if (!thread->is_based && run_ns != thread->first_ns) {
        thread->is_based = true;
        thread->base_ns = run_ns;
    }
    STROBE_ASSERT(thread->is_timed);
    return (thread->is_based && run_ns - thread->base_ns >= EMIT_NS) ||
           run_ns - thread->first_ns >= TICK_NS;
}

static bool is_heard(uint32_t pid, struct thread *thread)
{
    char text[512];
    bool failed;
    if (!read_of_thread(pid, thread->tid, "stat", text, &failed))
        return !failed;
    const char *name_end = strrchr(text, ')');
    char state = name_end && name_end[1] == ' ' ? name_end[2] : 0;
    if (state == 'S' || state == 'Z' || state == 'X')
        return true;
    if (!read_of_thread(pid, thread->tid, "schedstat", text, &failed))
        return false;
    return ran_since(thread, strtoull(text, NULL, 10));
}

/* All threads that there are: one that is made later finds the gate shut. */
static void list_threads(struct ear *ear)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/task", strobe_collector_pid(ear->proc));
    DIR *dir = opendir(path);
    struct dirent *entry;
    ear->is_deaf = !dir && (errno != ENOENT || !strobe_collector_pid(ear->proc));
    while (dir && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.')
            continue;
        struct thread *thread = STROBE_ARRAY_PUSH(ear->threads, ear->n, ear->cap);
        if (!thread) {
            ear->is_deaf = true;
            break;
        }
        *thread = (struct thread){.tid = (uint32_t)strtoul(entry->d_name, NULL, 10)};
    }
    if (dir)
        closedir(dir);
}

static uint32_t n_inside(const struct strobe_proc *proc)
{
    return __atomic_load_n(&proc->ring.control->n_inside, __ATOMIC_SEQ_CST);
}

/* One that ended before the recorder could get hold of its pid shows it by its lock alone. */
static bool has_ended(const struct strobe_proc *proc)
{
    struct pollfd end = {.fd = proc->pidfd, .events = POLLIN};
    if (proc->pidfd >= 0)
        return poll(&end, 1, 0) > 0;
    return !strobe_ring_is_alive(&proc->ring, proc->name);
}

/* True: nothing of it is under way any more. */
static bool listen(struct ear *ear)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < ear->n; i++)
        if (!is_heard(strobe_collector_pid(ear->proc), &ear->threads[i]))
            ear->threads[left++] = ear->threads[i];
    STROBE_ASSERT(left <= ear->n);
    ear->n = left;
    bool is_quiet = !ear->n && !n_inside(ear->proc);
    if (is_quiet && !ear->is_deaf)
        return true;
    if (!has_ended(ear->proc))
        return is_quiet;
    ear->n = 0;
    ear->is_deaf = false;
    return true;
}

/* ---- who was not heard ---- */

/* The number that a thread has in its own namespace, as its slot has it. */
static uint32_t inner_tid(uint32_t pid, uint32_t tid)
{
    char path[64], line[256];
    uint32_t inner = tid;
    snprintf(path, sizeof path, "/proc/%u/task/%u/status", pid, tid);
    FILE *status = fopen(path, "re");
    while (status && fgets(line, sizeof line, status))
        if (!strncmp(line, "NSpid:", 6))
            inner = (uint32_t)strtoul(strrchr(line, '\t') + 1, NULL, 10);
    if (status)
        fclose(status);
    return inner;
}

/* The track of the live thread `tid`; 0: it has none. */
static uint64_t track_of(struct strobe_proc *proc, uint32_t tid)
{
    struct strobe_slot *slot;
    for (uint64_t at = 0; (slot = strobe_ring_slot(&proc->ring, &at));)
        if (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == STROBE_SLOT_LIVE &&
            slot->tid == tid && slot->track < 1ull << 60)
            return slot->track;
    return 0;
}

/* `tid` 0: any of its threads. */
static void count_unheard(struct strobe_collector *c, struct strobe_proc *proc, uint64_t track,
                          uint32_t tid)
{
    char text[192], name[512] = "";
    bool failed;
    uint64_t now = strobe_collector_now(c);
    uint32_t pid = strobe_collector_pid(proc) ? strobe_collector_pid(proc) : proc->ring.pid;
    if (tid)
        read_of_thread(pid, tid, "comm", name, &failed);
    name[strcspn(name, "\n")] = 0;
    strobe_collector_lose(c, proc->id, track, STROBE_LOSS_UNHEARD, 1, now, now);
    if (c->n_unheard < STROBE_UNHEARD_NAMED) {
        struct strobe_unheard *one = &c->unheard[c->n_unheard];
        *one = (struct strobe_unheard){.pid = pid, .tid = tid};
        snprintf(one->name, sizeof one->name, "%.31s", name);
        snprintf(text, sizeof text,
                 tid ? "process %u: thread %u (%.31s) stood still while the recording ended: its "
                       "last event may "
                       "be missing"
                     : "process %u: a thread was not heard while the recording ended: its last "
                       "event may be missing",
                 pid, tid, name);
        strobe_collector_note(c, proc->id, text);
    }
    c->n_unheard++;
}

/* Whether threads without a slot may have dropped something without the lock: they did so before. */
static bool drops_elsewhere(const struct strobe_proc *proc)
{
    return __atomic_load_n(&proc->ring.control->lost_first_tick, __ATOMIC_RELAXED) != 0;
}

/* A thread that never emitted has no word left, so that it would be inside: it can't have an event under way. */
static void name_unheard(struct strobe_collector *c, struct ear *ear)
{
    struct strobe_proc *proc = ear->proc;
    uint32_t pid = strobe_collector_pid(proc), n_before = c->n_unheard;
    bool any = drops_elsewhere(proc);
    STROBE_ASSERT(strobe_proc_is_open(proc));
    struct strobe_slot *slot;
    for (uint32_t i = 0; i < ear->n && !ear->is_deaf; i++) {
        uint64_t track = track_of(proc, inner_tid(pid, ear->threads[i].tid));
        if (track || any)
            count_unheard(c, proc, track, ear->threads[i].tid);
    }
    for (uint64_t at = 0; ear->is_deaf && (slot = strobe_ring_slot(&proc->ring, &at));)
        if (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == STROBE_SLOT_LIVE &&
            slot->track < 1ull << 60)
            count_unheard(c, proc, slot->track, slot->tid);
    if (n_inside(proc) && c->n_unheard == n_before)
        count_unheard(c, proc, 0, 0);
}

static uint32_t open_ears(struct strobe_collector *c, struct ear *ears)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_procs; i++) {
        struct strobe_proc *proc = c->procs[i];
        if (!strobe_proc_is_live(proc))
            continue;
        STROBE_ASSERT(n < c->n_procs);
        ears[n] = (struct ear){.proc = proc};
        list_threads(&ears[n++]);
    }
    return n;
}

void strobe_collector_hear(struct strobe_collector *c)
{
    struct ear *ears = calloc(c->n_procs + 1, sizeof *ears);
    uint64_t start = strobe_collector_mono_ns();
    struct timespec step = {0, 100000};
    STROBE_ASSERT(c->stopping); /* the gates are shut */
    for (uint32_t i = 0; !ears && i < c->n_procs; i++)
        if (strobe_proc_is_live(c->procs[i]) && !has_ended(c->procs[i]))
            count_unheard(c, c->procs[i], 0, 0);
    if (!ears)
        return;
    uint32_t n = open_ears(c, ears), left = n;
    for (;;) {
        for (uint32_t i = 0, was = left; i < was; i++)
            if (listen(&ears[i])) { /* done: behind those that are not */
                struct ear done = ears[i];
                ears[i--] = ears[--was];
                ears[--left] = done;
            }
        STROBE_ASSERT(left <= n);
        if (!left || strobe_collector_mono_ns() - start > BOUND_NS)
            break;
        nanosleep(&step, NULL);
        step.tv_nsec = 2 * step.tv_nsec < STEP_NS ? 2 * step.tv_nsec : STEP_NS;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (i < left || ears[i].is_deaf)
            name_unheard(c, &ears[i]);
        free(ears[i].threads);
    }
    free(ears);
}
