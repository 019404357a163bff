/* twins.c - a program may be seen through more than one client at once: our library and Tracy's, or two
 * copies of ours. Each is a process of the file with tracks of its own; the reader puts together what is
 * one process and one thread to the system (docs/file-format.md, "One thread, several tracks").
 * SPDX-License-Identifier: MIT */
#include "query/twins.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/assert.h"
#include "query/host_rows.h"

struct entry {
    uint64_t pid, tid; /* of a process: its start time */
    uint32_t index;
};

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* When a process was first heard of: its first thread's start. */
static uint64_t first_tick(const struct strobe_trace *trace, uint32_t process)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < trace->thread_ids.n; i++) {
        const struct strobe_trace_thread *thread = &trace->threads[i];
        if (thread->process == process && thread->is_known && thread->start_tick < first)
            first = thread->start_tick;
    }
    return first;
}

/* The images of a process that calls exec have its pid and start time too, but one ends where the
 * next begins. */
static int overlap(const struct strobe_trace *trace, uint32_t a, uint32_t b)
{
    uint64_t a_first = first_tick(trace, a), b_first = first_tick(trace, b);
    uint32_t earlier = a_first <= b_first ? a : b;
    uint64_t later_first = a_first <= b_first ? b_first : a_first;
    const struct strobe_process *process = &trace->processes[earlier];
    return !process->has_ended || later_first < process->end_tick;
}

/* How many hosts' processes begin at `proc` or before: a merge numbers them host by host. */
static uint32_t n_up_to(const struct strobe_host_rows *hosts, uint64_t proc)
{
    uint32_t low = 0, high = hosts->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (hosts->rows[middle].proc <= proc)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Which of the traces that were merged each process is of. */
static int find_sources(struct strobe_trace *trace)
{
    struct strobe_host_rows hosts;
    if (!strobe_host_rows_list(trace, &hosts))
        return 0;
    for (uint32_t i = 0; i < trace->n_processes; i++) {
        struct strobe_process *process = &trace->processes[i];
        uint32_t n = n_up_to(&hosts, process->proc);
        bool is_of = n && process->proc - hosts.rows[n - 1].proc < hosts.rows[n - 1].n_procs;
        process->source = is_of ? n : 0;
    }
    strobe_host_rows_free(&hosts);
    return 1;
}

/* The same pid in two namespaces, or on two hosts, is two processes. What Tracy's clients say has no namespace. */
static int same_namespace(const struct strobe_process *a, const struct strobe_process *b)
{
    if (a->source != b->source)
        return 0;
    return a->is_tracy || b->is_tracy || (a->pid_ns == b->pid_ns && a->outer_pid == b->outer_pid);
}

static int find_processes(struct strobe_trace *trace)
{
    struct entry *entries = strobe_array_resize(NULL, trace->n_processes + 1ull, sizeof *entries);
    uint32_t n = 0;
    if (!entries)
        return 0;
    for (uint32_t i = 0; i < trace->n_processes; i++)
        if (trace->processes[i].is_known && trace->processes[i].pid &&
            !trace->processes[i].is_sampled)
            entries[n++] =
                (struct entry){trace->processes[i].pid, trace->processes[i].start_time, i};
    qsort(entries, n, sizeof *entries, compare);
    for (uint32_t i = 1, first = 0; i < n; i++) {
        struct strobe_process *process = &trace->processes[entries[i].index];
        if (entries[i].pid != entries[first].pid || entries[i].tid != entries[first].tid ||
            !same_namespace(&trace->processes[entries[first].index], process) ||
            !overlap(trace, entries[first].index, entries[i].index)) {
            first = i;
            continue;
        }
        process->twin = entries[first].index + 1;
        trace->processes[entries[first].index].twin = entries[first].index + 1;
    }
    free(entries);
    return 1;
}

static int find_threads(struct strobe_trace *trace)
{
    struct entry *entries = strobe_array_resize(NULL, trace->thread_ids.n + 1ull, sizeof *entries);
    uint32_t n = 0;
    if (!entries)
        return 0;
    for (uint32_t i = 0; i < trace->thread_ids.n; i++) {
        const struct strobe_trace_thread *thread = &trace->threads[i];
        uint32_t twin = trace->processes[thread->process].twin;
        if (twin && thread->is_known && thread->tid &&
            !trace->processes[thread->process].is_sampled)
            entries[n++] = (struct entry){twin, thread->tid, i};
    }
    qsort(entries, n, sizeof *entries, compare);
    for (uint32_t i = 1, first = 0; i < n; i++) {
        if (entries[i].pid != entries[first].pid || entries[i].tid != entries[first].tid) {
            first = i;
            continue;
        }
        struct strobe_trace_thread *thread = &trace->threads[entries[i].index];
        if (thread->process == trace->threads[entries[first].index].process)
            continue; /* one client's: the system used the number again */
        thread->twin = trace->threads[entries[first].index].twin = entries[first].index + 1;
        trace->has_twins = 1;
    }
    free(entries);
    return 1;
}

/* ---- samples ---- */

/* The sampler knows a process of another PID namespace by its number outside where that was gone before it was asked for the one inside. */
static bool is_known_outside(const struct strobe_process *sampled,
                             const struct strobe_process *client)
{
    return !sampled->outer_pid && client->outer_pid && client->outer_pid == sampled->pid;
}

/* Whether a client's process without a thread, of which the end alone is known, is that sampled one: the last image before that end. */
static bool is_silent_one(const struct strobe_trace *trace, uint32_t sampled, uint32_t client)
{
    const struct strobe_process *a = &trace->processes[sampled], *b = &trace->processes[client];
    uint64_t first = first_tick(trace, sampled);
    if (!b->has_ended || first >= b->end_tick || first_tick(trace, client) != UINT64_MAX)
        return false;
    for (uint32_t i = 0; i < trace->n_processes; i++) {
        const struct strobe_process *other = &trace->processes[i];
        if (i == sampled || !other->is_sampled || other->pid != a->pid || !same_namespace(a, other))
            continue;
        uint64_t other_first = first_tick(trace, i);
        if (other_first > first && other_first < b->end_tick)
            return false;
    }
    return true;
}

/* The client's process that a sampled one is. A start that comes from the time of a fork may be one unit off. */
static uint32_t find_client(const struct strobe_trace *trace, uint32_t sampled)
{
    const struct strobe_process *a = &trace->processes[sampled];
    for (uint32_t i = 0; i < trace->n_processes; i++) {
        const struct strobe_process *b = &trace->processes[i];
        uint64_t apart = a->start_time > b->start_time ? a->start_time - b->start_time
                                                       : b->start_time - a->start_time;
        bool is_same = (b->pid == a->pid && same_namespace(a, b)) ||
                       (a->source == b->source && is_known_outside(a, b));
        if (b->is_known && !b->is_sampled && is_same && apart <= 1 &&
            (overlap(trace, sampled, i) || is_silent_one(trace, sampled, i)))
            return i + 1;
    }
    return 0;
}

/* A sampled thread is the client's thread; that one has all zones, and is read as if it were alone. */
static void find_sampled_threads(struct strobe_trace *trace, const struct entry *entries,
                                 uint32_t n)
{
    for (uint32_t i = 0; i < trace->thread_ids.n; i++) {
        struct strobe_trace_thread *thread = &trace->threads[i];
        const struct strobe_process *process = &trace->processes[thread->process];
        if (!process->is_sampled || !process->twin || !thread->tid)
            continue;
        const struct strobe_process *client = &trace->processes[process->twin - 1];
        bool is_main = thread->tid == process->pid && is_known_outside(process, client);
        struct entry key = {process->twin - 1, is_main ? client->pid : thread->tid, 0};
        uint64_t at = STROBE_ARRAY_BISECT(0, n, j, compare(&entries[j], &key) < 0);
        if (at < n && entries[at].pid == key.pid && entries[at].tid == key.tid)
            thread->twin = strobe_trace_first_thread(trace, entries[at].index) + 1;
    }
}

/* Samples have no zones: what they are joined to stays as fast to read as it was, so has_twins does not change. */
static int find_sampled(struct strobe_trace *trace)
{
    uint32_t n_sampled = 0, n = 0;
    for (uint32_t i = 0; i < trace->n_processes; i++)
        if (trace->processes[i].is_sampled && trace->processes[i].is_known)
            n_sampled += (trace->processes[i].twin = find_client(trace, i)) != 0;
    if (!n_sampled)
        return 1;
    struct entry *entries = strobe_array_resize(NULL, trace->thread_ids.n + 1ull, sizeof *entries);
    if (!entries)
        return 0;
    for (uint32_t i = 0; i < trace->thread_ids.n; i++) {
        const struct strobe_trace_thread *thread = &trace->threads[i];
        if (thread->is_known && thread->tid && !trace->processes[thread->process].is_sampled)
            entries[n++] = (struct entry){thread->process, thread->tid, i};
    }
    qsort(entries, n, sizeof *entries, compare);
    find_sampled_threads(trace, entries, n);
    free(entries);
    return 1;
}

/* ---- what the first of the twins does not know ---- */

static void complete_process(struct strobe_process *first, const struct strobe_process *twin)
{
    first->parent_pid = first->parent_pid ? first->parent_pid : twin->parent_pid;
    first->exe = first->exe ? first->exe : twin->exe;
    first->cwd = first->cwd ? first->cwd : twin->cwd;
    first->argv = first->argv ? first->argv : twin->argv;
    if (twin->has_ended && (!first->has_ended || first->how == STROBE_END_UNKNOWN)) {
        first->has_ended = 1;
        first->how = twin->how;
        first->end_value = twin->end_value;
        first->end_tick = twin->end_tick > first->end_tick ? twin->end_tick : first->end_tick;
    }
}

static void complete_thread(struct strobe_trace_thread *first,
                            const struct strobe_trace_thread *twin)
{
    first->name = first->name ? first->name : twin->name;
    if (twin->start_tick && (!first->start_tick || twin->start_tick < first->start_tick))
        first->start_tick = twin->start_tick;
    if (twin->end_tick > first->end_tick)
        first->end_tick = twin->end_tick;
}

static void complete_firsts(struct strobe_trace *trace)
{
    for (uint32_t i = 0; i < trace->n_processes; i++) {
        uint32_t first = strobe_trace_first_process(trace, i);
        if (first != i)
            complete_process(&trace->processes[first], &trace->processes[i]);
    }
    for (uint32_t i = 0; i < trace->thread_ids.n; i++) {
        const struct strobe_trace_thread *thread = &trace->threads[i];
        uint32_t first = strobe_trace_first_thread(trace, i);
        uint32_t process = strobe_trace_first_process(trace, thread->process);
        if (first != i)
            complete_thread(&trace->threads[first], thread);
        else if (process != thread->process) /* only its twin knows the thread */
            trace->processes[process].n_threads++;
    }
}

/* ---- images of one process ---- */

/* Images by exec have one pid and one start, which may be a unit off where it comes from the time of a fork. */
static int find_images(struct strobe_trace *trace)
{
    struct entry *entries = strobe_array_resize(NULL, trace->n_processes + 1ull, sizeof *entries);
    uint32_t n = 0;
    if (!entries)
        return 0;
    for (uint32_t i = 0; i < trace->n_processes; i++) {
        const struct strobe_process *process = &trace->processes[i];
        if (process->is_known && process->pid && strobe_trace_first_process(trace, i) == i)
            entries[n++] = (struct entry){process->pid, process->start_time, i};
    }
    qsort(entries, n, sizeof *entries, compare);
    for (uint32_t i = 1, first = 0; i < n; i++) {
        if (entries[i].pid == entries[first].pid && entries[i].tid - entries[i - 1].tid <= 1 &&
            same_namespace(&trace->processes[entries[first].index],
                           &trace->processes[entries[i].index]))
            trace->processes[entries[i].index].image_of = entries[first].index + 1;
        else
            first = i;
    }
    free(entries);
    return 1;
}

int strobe_trace_find_twins(struct strobe_trace *trace)
{
    if (!find_sources(trace) || !find_processes(trace) || !find_threads(trace) ||
        !find_sampled(trace))
        return 0;
    complete_firsts(trace);
    return find_images(trace);
}

void strobe_trace_count_lives(const struct strobe_trace *trace, uint32_t *n_processes,
                              uint32_t *n_threads)
{
    *n_processes = *n_threads = 0;
    for (uint32_t i = 0; i < trace->n_processes; i++) {
        const struct strobe_process *process = &trace->processes[i];
        *n_processes += (process->is_known || process->n_threads) && !process->image_of &&
                        strobe_trace_first_process(trace, i) == i;
    }
    for (uint32_t i = 0; i < trace->thread_ids.n; i++) {
        const struct strobe_trace_thread *thread = &trace->threads[i];
        const struct strobe_process *process =
            &trace->processes[strobe_trace_first_process(trace, thread->process)];
        int is_again = process->image_of && thread->tid == process->pid; /* exec keeps this one */
        *n_threads += strobe_trace_first_thread(trace, i) == i && !is_again;
    }
}

uint32_t strobe_trace_flow_owner(const struct strobe_trace *trace, uint32_t process)
{
    STROBE_ASSERT(process < trace->n_processes);
    uint64_t host_pid = trace->processes[process].host_pid;
    for (uint32_t i = host_pid ? trace->n_processes : 0; i-- > 0;) {
        const struct strobe_process *host = &trace->processes[i];
        if (host->is_known && host->pid == host_pid && !host->host_pid && !host->is_sampled &&
            host->source == trace->processes[process].source) {
            process = i;
            break;
        }
    }
    uint32_t twin = trace->processes[process].twin;
    return twin ? twin - 1 : process;
}
