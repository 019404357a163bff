/* life.c - see life.h. Processes and threads; what a sample becomes: life_events.c.  SPDX-License-Identifier: MIT */
#include "sample/life.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/descendants.h"
#include "sample/life_parts.h"
#include "sample/symbol_jit.h"

enum strobe_err strobe_life_init(struct strobe_life *life, struct strobe_build_store *store,
                                 const struct strobe_sample_clock *clock)
{
    memset(life, 0, sizeof *life);
    life->store = store;
    life->clock = clock;
    life->processes.max = STROBE_LIFE_PROCESSES;
    life->unwinder = calloc(1, sizeof *life->unwinder);
    life->python = calloc(1, sizeof *life->python);
    enum strobe_err err = life->unwinder && life->python ? STROBE_OK : STROBE_ERR_NOMEM;
    if (!err)
        err = strobe_modules_init(&life->modules);
    return err ? err : strobe_pending_init(&life->pending);
}

/* ---- threads ---- */

static void free_thread(struct strobe_life *life, struct strobe_life_thread *thread)
{
    STROBE_ASSERT(!thread->deep || life->n_deep);
    life->n_deep -= thread->deep != NULL;
    strobe_life_close_window(life, thread);
    strobe_map_remove(&life->owners, thread->tid);
    if (thread->python && thread->python->watched_pid)
        strobe_py_kernel_forget(life->python->kernel, thread->python->watched_pid, thread->tid);
    free(thread->deep);
    free(thread->probed);
    free(thread->python);
    free(thread);
}

static void free_threads(struct strobe_life *life, struct strobe_life_process *process)
{
    for (uint32_t i = 0; i < process->threads.n; i++)
        free_thread(life, (void *)(uintptr_t)process->threads.entries[i].value);
    STROBE_ASSERT(life->n_threads >= process->threads.n);
    life->n_threads -= process->threads.n;
    strobe_map_free(&process->threads);
}

struct strobe_life_thread *strobe_life_thread(struct strobe_life *life,
                                              struct strobe_life_process *process, uint32_t tid,
                                              bool may_make)
{
    uint64_t *value = strobe_map_find(&process->threads, tid);
    if (value)
        return (void *)(uintptr_t)*value;
    struct strobe_life_thread *thread =
        may_make && life->n_threads < STROBE_LIFE_THREADS ? calloc(1, sizeof *thread) : NULL;
    if (!thread || strobe_map_put(&process->threads, tid, (uint64_t)(uintptr_t)thread)) {
        free(thread);
        return NULL;
    }
    life->n_threads++;
    strobe_map_put(&life->owners, tid,
                   process->pid); /* without memory: nobody is seen to wake it */
    thread->tid = tid;
    thread->call = -1;
    return thread;
}

static void name_thread(struct strobe_life_process *process, struct strobe_life_thread *thread,
                        const char *name)
{
    STROBE_ASSERT(name && (!thread->track || process->build));
    snprintf(thread->name, sizeof thread->name, "%.15s", name);
    if (thread->track)
        strobe_build_thread_name(process->build, thread->track, thread->name, strlen(thread->name));
    if (thread->zone_track)
        strobe_build_thread_name(process->zones, thread->zone_track, thread->name,
                                 strlen(thread->name));
}

/* ---- processes ---- */

static void free_process(struct strobe_life *life, struct strobe_life_process *process)
{
    STROBE_ASSERT(process->threads.n <= life->n_threads);
    free_threads(life, process);
    strobe_maps_free(&process->maps);
    strobe_map_free(&process->calls);
    strobe_build_close(process->build);
    strobe_build_close(process->zones);
    strobe_py_watch_close(life->python, process->python);
    free(process);
}

void strobe_life_free(struct strobe_life *life)
{
    for (uint32_t i = 0; i < life->processes.n; i++)
        free_process(life, (void *)(uintptr_t)life->processes.entries[i].value);
    for (uint32_t i = 0; i < life->n_ended; i++)
        free_process(life, life->ended[i]);
    strobe_map_free(&life->processes);
    strobe_map_free(&life->owners);
    free(life->ended);
    free(life->windows);
    free(life->unwinder);
    if (life->python)
        strobe_py_watch_free(life->python);
    free(life->python);
    strobe_modules_free(&life->modules);
    strobe_pending_free(&life->pending);
    strobe_wanted_free(&life->wanted);
    memset(life, 0, sizeof *life);
}

struct strobe_life_process *strobe_life_process(struct strobe_life *life, uint32_t pid,
                                                bool may_make)
{
    uint64_t *value = strobe_map_find(&life->processes, pid);
    if (value)
        return (void *)(uintptr_t)*value;
    struct strobe_life_process *process = may_make && pid ? calloc(1, sizeof *process) : NULL;
    if (!process || strobe_map_put(&life->processes, pid, (uint64_t)(uintptr_t)process)) {
        free(process);
        return NULL;
    }
    process->pid = pid;
    process->status = -1;
    return process;
}

static void put_end(const struct strobe_life_process *process, struct strobe_build *build,
                    uint32_t proc, uint64_t tick)
{
    bool is_signal = process->status >= 0 && WIFSIGNALED(process->status);
    bool is_exit = process->status >= 0 && WIFEXITED(process->status);
    uint64_t numbers[] = {proc, tick,
                          is_exit     ? 1
                          : is_signal ? 2
                                      : 0,
                          is_exit     ? (uint64_t)WEXITSTATUS(process->status)
                          : is_signal ? (uint64_t)WTERMSIG(process->status)
                                      : 0};
    strobe_build_record(build, STROBE_FACT_PROCESS_END, numbers, NULL, NULL);
}

/* The process is no more of this pid: it is closed with the next flush, when nothing of it is pending. */
static void retire(struct strobe_life *life, struct strobe_life_process *process, uint64_t tick)
{
    STROBE_ASSERT(!process->has_ended);
    strobe_map_remove(&life->processes, process->pid);
    process->has_ended = true;
    for (uint32_t i = 0; i < process->threads.n; i++)
        strobe_life_leave_calls(life, process,
                                (void *)(uintptr_t)process->threads.entries[i].value);
    if (process->build)
        put_end(process, process->build, process->proc, tick);
    if (process->zones)
        put_end(process, process->zones, process->zones_proc, tick);
    if (process->build && process->python)
        strobe_py_watch_tell(process->python, process->build);
    strobe_py_watch_close(life->python, process->python);
    process->python = NULL;
    if (!process->build ||
        STROBE_ARRAY_RESERVE(life->ended, life->ended_room, life->n_ended + 1ull)) {
        if (process->build)
            strobe_pending_flush(&life->pending);
        free_process(life, process);
        return;
    }
    free_threads(life, process);
    strobe_maps_free(&process->maps);
    life->ended[life->n_ended++] = process;
}

void strobe_life_flush(struct strobe_life *life)
{
    STROBE_ASSERT(life->n_ended <= life->ended_room);
    strobe_life_mend_turns(life);
    strobe_pending_flush(&life->pending);
    strobe_life_tell_pythons(life);
    for (uint32_t i = 0; i < life->n_ended; i++)
        free_process(life, life->ended[i]);
    life->n_ended = 0;
}

void strobe_life_end(struct strobe_life *life)
{
    for (uint32_t i = 0; i < life->processes.n; i++) {
        struct strobe_life_process *process = (void *)(uintptr_t)life->processes.entries[i].value;
        for (uint32_t k = 0; k < process->threads.n; k++)
            strobe_life_leave_calls(life, process,
                                    (void *)(uintptr_t)process->threads.entries[k].value);
    }
}

void strobe_life_exit_status(struct strobe_life *life, uint32_t pid, int status)
{
    struct strobe_life_process *process = strobe_life_process(life, pid, false);
    if (process)
        process->status = status;
}

bool strobe_life_is_over(const struct strobe_life *life, uint32_t pid)
{
    return !strobe_map_find(&life->processes, pid);
}

void strobe_life_begin(struct strobe_life *life, uint32_t pid)
{
    struct strobe_life_process *process = strobe_life_process(life, pid, true);
    if (!process)
        return;
    strobe_life_look(process);
    struct strobe_life_thread *thread = strobe_life_thread(life, process, pid, true);
    if (thread)
        thread->is_loading = true; /* samples begin inside of its exec, before the record of that */
}

/* ---- a process that runs already ---- */

/* One line of /proc/PID/maps. */
static void attach_mapping(struct strobe_life *life, struct strobe_life_process *process,
                           char *line)
{
    STROBE_ASSERT(process->pid);
    unsigned long long start, end, offset, inode;
    char exec;
    int at = 0;
    struct strobe_module_file file = {.pid = process->pid};
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%llx-%llx %*c%*c%c%*c %llx %x:%x %llu %n", &start, &end, &exec, &offset,
               &file.major, &file.minor, &inode, &at) < 7 ||
        exec != 'x' || !at)
        return;
    file.start = start;
    file.end = end;
    file.inode = inode;
    file.path = line[at] ? line + at : "//anon";
    char *deleted = strstr(line + at, " (deleted)");
    if (deleted)
        *deleted = 0;
    struct strobe_sample_module *module = strobe_modules_find(&life->modules, &file);
    if (module && strobe_symbol_jit_is_dump(file.path))
        process->dump = module;
    strobe_maps_add(
        &process->maps,
        (struct strobe_mapping){.start = start, .end = end, .offset = offset, .module = module});
}

static void attach_threads(struct strobe_life *life, struct strobe_life_process *process)
{
    STROBE_ASSERT(process->pid);
    char path[64], name[64];
    struct dirent *entry;
    snprintf(path, sizeof path, "/proc/%u/task", process->pid);
    DIR *tasks = opendir(path);
    while (tasks && (entry = readdir(tasks))) {
        uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        struct strobe_life_thread *thread =
            tid ? strobe_life_thread(life, process, tid, true) : NULL;
        snprintf(path, sizeof path, "/proc/%u/task/%u/comm", process->pid, tid);
        if (!thread || strobe_descendants_read_text(path, name, sizeof name) <= 0)
            continue;
        name[strcspn(name, "\n")] = 0;
        name_thread(process, thread, name);
    }
    if (tasks)
        closedir(tasks);
}

void strobe_life_attach(struct strobe_life *life, uint32_t pid)
{
    STROBE_ASSERT(pid);
    char path[64], line[4096 + 256];
    struct strobe_life_process *process = strobe_life_process(life, pid, true);
    snprintf(path, sizeof path, "/proc/%u/maps", pid);
    FILE *maps = process ? fopen(path, "re") : NULL;
    while (maps && fgets(line, sizeof line, maps))
        attach_mapping(life, process, line);
    if (maps)
        fclose(maps);
    if (process)
        attach_threads(life, process);
}

/* ---- records of lives ---- */

static void take_mapping(struct strobe_life *life, const struct strobe_perf_record *record)
{
    STROBE_ASSERT(record->what == STROBE_PERF_MMAP && record->map.file.path);
    struct strobe_life_process *process = strobe_life_process(life, record->pid, true);
    const struct strobe_module_file *file = &record->map.file;
    if (!process)
        return;
    struct strobe_mapping mapping = {.start = file->start,
                                     .end = file->end,
                                     .offset = record->map.offset,
                                     .module = strobe_modules_find(&life->modules, file)};
    if (!process->image && file->path[0] == '/' && file->path[1] != '/')
        process->image = mapping.module;
    if (mapping.module && strobe_symbol_jit_is_dump(file->path))
        process->dump = mapping.module;
    strobe_maps_add(&process->maps, mapping);
}

static void count_begun(struct strobe_life *life)
{
    __atomic_store_n(&life->counts.n_begun, life->counts.n_begun + 1, __ATOMIC_RELAXED);
}

/* exec: another image of the same process. What it was is over, its mappings too. */
static struct strobe_life_process *begin_image(struct strobe_life *life,
                                               struct strobe_life_process *old, uint64_t tick)
{
    STROBE_ASSERT(!old->has_ended);
    uint32_t pid = old->pid, parent = old->parent_pid;
    uint64_t start = old->start_time, born = old->born_raw_ns;
    count_begun(life);
    retire(life, old, tick);
    struct strobe_life_process *process = strobe_life_process(life, pid, true);
    if (process) {
        process->parent_pid = parent;
        process->start_time = start;
        process->born_raw_ns = born;
    }
    return process;
}

static void take_name(struct strobe_life *life, const struct strobe_perf_record *record,
                      uint64_t tick)
{
    STROBE_ASSERT(record->what == STROBE_PERF_COMM && record->comm.name);
    struct strobe_life_process *process = strobe_life_process(life, record->pid, true);
    struct strobe_life_thread *thread =
        process ? strobe_life_thread(life, process, record->tid, true) : NULL;
    if (thread && record->comm.is_exec) {
        strobe_life_end_turn(life, thread, record, tick);
        process = begin_image(life, process, tick);
        thread = process ? strobe_life_thread(life, process, record->tid, true) : NULL;
    }
    if (!thread)
        return;
    name_thread(process, thread, record->comm.name);
    thread->is_loading = record->comm.is_exec;
    if (record->comm.is_exec)
        strobe_life_begin_turn(life, thread, record, tick);
}

static void take_fork(struct strobe_life *life, const struct strobe_perf_record *record,
                      uint64_t tick)
{
    STROBE_ASSERT(record->what == STROBE_PERF_FORK);
    struct strobe_life_process *process = strobe_life_process(life, record->pid, true);
    struct strobe_life_process *parent = strobe_life_process(life, record->life.parent_pid, false);
    if (!process)
        return;
    struct strobe_life_thread *thread = strobe_life_thread(life, process, record->tid, true);
    if (thread)
        thread->start_tick = tick;
    if (record->pid == record->life.parent_pid || !parent)
        return;
    count_begun(life);
    process->parent_pid = parent->pid;
    process->born_raw_ns = record->time;
    process->image = parent->image;
    process->dump = parent->dump;
    strobe_maps_copy(&process->maps, &parent->maps);
    const struct strobe_life_thread *first =
        parent->threads.n ? (void *)(uintptr_t)parent->threads.entries[0].value : NULL;
    if (thread && first) /* the child has its parent's name until it says another */
        memcpy(thread->name, first->name, sizeof thread->name);
    strobe_life_look(process); /* while it lives */
}

static void take_exit(struct strobe_life *life, const struct strobe_perf_record *record,
                      uint64_t tick)
{
    STROBE_ASSERT(record->what == STROBE_PERF_EXIT);
    struct strobe_life_process *process = strobe_life_process(life, record->pid, false);
    struct strobe_life_thread *thread =
        process ? strobe_life_thread(life, process, record->tid, false) : NULL;
    if (!thread)
        return;
    strobe_life_leave_calls(life, process, thread);
    strobe_life_end_turn(life, thread, record, tick);
    if (thread->track) {
        uint64_t numbers[] = {process->proc, strobe_build_track_id(thread->track), tick};
        strobe_build_record(process->build, STROBE_FACT_THREAD_END, numbers, NULL, NULL);
    }
    if (thread->zone_track) {
        uint64_t numbers[] = {process->zones_proc, strobe_build_track_id(thread->zone_track), tick};
        strobe_build_record(process->zones, STROBE_FACT_THREAD_END, numbers, NULL, NULL);
    }
    strobe_map_remove(&process->threads, record->tid);
    life->n_threads--;
    free_thread(life, thread);
    if (!process->threads.n)
        retire(life, process, tick);
}

void strobe_life_take(struct strobe_life *life, const struct strobe_perf_record *record)
{
    uint64_t tick = strobe_sample_clock_tick(life->clock, record->time);
    switch (record->what) {
    case STROBE_PERF_SAMPLE:
        strobe_life_sample(life, record, tick);
        break;
    case STROBE_PERF_SWITCH:
        strobe_life_switch(life, record, tick);
        break;
    case STROBE_PERF_OFF:
        strobe_life_off(life, record);
        break;
    case STROBE_PERF_WAKES:
        strobe_life_wakes(life, record, tick);
        break;
    case STROBE_PERF_CALLS:
    case STROBE_PERF_RETURNS:
        strobe_life_call(life, record, tick);
        break;
    case STROBE_PERF_PROBES:
        strobe_life_probe(life, record, tick);
        break;
    case STROBE_PERF_FRAMES:
        strobe_life_frames(life, record);
        break;
    case STROBE_PERF_MMAP:
        take_mapping(life, record);
        break;
    case STROBE_PERF_COMM:
        take_name(life, record, tick);
        break;
    case STROBE_PERF_FORK:
        take_fork(life, record, tick);
        break;
    case STROBE_PERF_EXIT:
        take_exit(life, record, tick);
        break;
    case STROBE_PERF_LOST:
        life->counts.n_lost_told += record->count;
        life->gap_ns = record->time;
        break;
    case STROBE_PERF_THROTTLE:
        life->counts.n_throttled++;
        break;
    case STROBE_PERF_OTHER:
        break;
    }
}
