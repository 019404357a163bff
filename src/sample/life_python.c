/* life_python.c - which processes have a Python in them, and when its frames are read.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/descendants.h"
#include "sample/life_parts.h"

enum { ENVIRON_BYTES = 128 << 10 };

/* ---- which ---- */

/* Whether the environment switched the tracing of functions on. */
static bool asks_for_tracing(uint32_t pid)
{
    static const char name[] = "STROBE_PYTHON=";
    char path[64], *text = malloc(ENVIRON_BYTES);
    snprintf(path, sizeof path, "/proc/%u/environ", pid);
    long n = text ? strobe_descendants_read_text(path, text, ENVIRON_BYTES) : 0;
    bool asks = false;
    for (long at = 0; at < n; at += (long)strlen(text + at) + 1)
        if (!strncmp(text + at, name, sizeof name - 1))
            asks = strcmp(text + at + sizeof name - 1, "off") != 0;
    free(text);
    return asks;
}

static bool is_tracer(const struct strobe_sample_module *module)
{
    const char *file = strrchr(module->path, '/');
    return file && !strncmp(file, "/_strobe.", strlen("/_strobe."));
}

struct strobe_py_process *strobe_life_python(struct strobe_life *life,
                                             struct strobe_life_process *process)
{
    const struct strobe_maps *maps = &process->maps;
    bool has_tracer = false;
    if (maps->n == process->n_maps_seen)
        return process->python;
    process->n_maps_seen = maps->n;
    for (uint32_t i = 0; i < maps->n; i++) {
        if (!process->python)
            process->python = strobe_py_watch_open(life->python, process->pid, &maps->items[i]);
        has_tracer |= maps->items[i].module && is_tracer(maps->items[i].module);
    }
    if (process->python && process->python->state == STROBE_PY_READ && has_tracer &&
        asks_for_tracing(process->pid))
        strobe_py_watch_set(life->python, process->python, STROBE_PY_TRACED);
    return process->python;
}

bool strobe_life_has_python(const struct strobe_life *life)
{
    return life->python->n_read != 0 && !life->python->kernel;
}

void strobe_life_tell_pythons(struct strobe_life *life)
{
    for (uint32_t i = 0; life->python->n_opened && i < life->processes.n; i++) {
        struct strobe_life_process *process = (void *)(uintptr_t)life->processes.entries[i].value;
        if (process->python && process->build)
            strobe_py_watch_tell(process->python, process->build);
    }
}

/* ---- when ---- */

/* A sample: the thread's frames are to be read. */
static void glance_at_sample(struct strobe_life *life, struct strobe_life_thread *thread,
                             const struct strobe_perf_glance *seen)
{
    STROBE_ASSERT(life->n_fresh <= STROBE_LIFE_FRESH);
    thread->sample_ns = seen->time;
    thread->out_ns = 0;
    thread->has_waited = false;
    if (thread->is_fresh || life->n_fresh == STROBE_LIFE_FRESH)
        return;
    thread->is_fresh = true;
    life->fresh[life->n_fresh++] = (struct strobe_life_fresh){seen->pid, seen->tid};
}

void strobe_life_glance(struct strobe_life *life, const struct strobe_perf_glance *seen)
{
    STROBE_ASSERT(seen->is_sample != seen->is_out);
    struct strobe_life_process *process = strobe_life_process(life, seen->pid, false);
    if (!process || !process->python || process->python->state != STROBE_PY_READ)
        return;
    struct strobe_life_thread *thread =
        strobe_life_thread(life, process, seen->tid, seen->is_sample);
    if (!thread)
        return;
    if (seen->is_sample) {
        glance_at_sample(life, thread, seen);
    } else if (thread->is_fresh && !thread->out_ns && seen->time >= thread->sample_ns) {
        thread->out_ns = seen->time;
        thread->has_waited = !seen->is_preempted;
    }
}

/* What is kept of a thread from one reading to the next. NULL: no memory. */
static struct strobe_py_thread *python_of(const struct strobe_life_process *process,
                                          struct strobe_life_thread *thread)
{
    char path[96];
    STROBE_ASSERT(process->pid && thread->tid);
    if (thread->python || !(thread->python = calloc(1, sizeof *thread->python)))
        return thread->python;
    thread->python->inner_tid = thread->tid;
    if (process->is_elsewhere) {
        snprintf(path, sizeof path, "/proc/%u/task/%u/status", process->pid, thread->tid);
        uint32_t inner = strobe_life_inner_number(path);
        thread->python->inner_tid = inner ? inner : thread->tid;
    }
    return thread->python;
}

void strobe_life_frames(struct strobe_life *life, const struct strobe_perf_record *record)
{
    STROBE_ASSERT(record->what == STROBE_PERF_FRAMES);
    struct strobe_life_process *process = strobe_life_process(life, record->pid, false);
    struct strobe_life_thread *thread =
        process ? strobe_life_thread(life, process, record->tid, false) : NULL;
    if (thread && thread->python && process->python && process->python->state == STROBE_PY_READ)
        strobe_py_watch_take(life->python, process->python, thread->python, record->frames.bytes,
                             record->frames.n_bytes, process->pid);
}

uint32_t strobe_life_join(struct strobe_life *life, struct strobe_life_process *process,
                          struct strobe_life_thread *thread, uint64_t sample_ns, uint64_t *out)
{
    struct strobe_py_watch *watch = life->python;
    STROBE_ASSERT(process->python && process->python->state == STROBE_PY_READ);
    struct strobe_py_thread *python = thread->python;
    if (watch->kernel && (python = python_of(process, thread)) && !python->exact)
        strobe_py_watch_ask_kernel(watch, process->python, python, process->pid, thread->tid,
                                   sample_ns);
    if (process->python->state != STROBE_PY_READ) /* it was refused just now */
        python = NULL;
    return strobe_py_watch_join(watch, process->python, python, thread->tid, sample_ns, &life->user,
                                process->build, out);
}

/* Whether the thread is still near its sample: it runs, or was preempted right after it. One that was preempted later, or waits, most
 * likely is in a system call, wherever the sample was. */
static bool is_near(const struct strobe_life_thread *thread)
{
    return !thread->out_ns ||
           (!thread->has_waited && thread->out_ns - thread->sample_ns <= STROBE_PY_NEAR_NS);
}

void strobe_life_shoot(struct strobe_life *life)
{
    for (uint32_t i = 0; i < life->n_fresh; i++) {
        struct strobe_life_process *process = strobe_life_process(life, life->fresh[i].pid, false);
        struct strobe_life_thread *thread =
            process ? strobe_life_thread(life, process, life->fresh[i].tid, false) : NULL;
        if (!thread)
            continue;
        thread->is_fresh = false;
        struct strobe_py_thread *python = is_near(thread) ? python_of(process, thread) : NULL;
        if (python && process->python && process->python->state == STROBE_PY_READ)
            strobe_py_watch_shoot(life->python, process->python, python,
                                  &(struct strobe_py_shot){.pid = process->pid,
                                                           .tid = thread->tid,
                                                           .sample_ns = thread->sample_ns,
                                                           .out_ns = thread->out_ns});
    }
    life->n_fresh = 0;
}
