/* py_watch.c - see py_watch.h.  SPDX-License-Identifier: MIT */
#include "sample/py_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"

void strobe_py_watch_free(struct strobe_py_watch *watch)
{
    for (uint32_t i = 0; i < watch->images.n; i++)
        free((void *)(uintptr_t)watch->images.entries[i].value);
    strobe_map_free(&watch->images);
    strobe_py_names_free(&watch->names);
    strobe_py_kernel_close(watch->kernel);
}

/* ---- the interpreter ---- */

/* What a file has of a Python, looked up once. NULL: nothing. */
static const struct strobe_py_image *image_of(struct strobe_py_watch *watch,
                                              const struct strobe_sample_module *module)
{
    uint64_t *value;
    struct strobe_py_image image;
    if (!strstr(module->path, "python3.") || module->fd < 0)
        return NULL;
    if ((value = strobe_map_find(&watch->images, module->id)))
        return (void *)(uintptr_t)*value;
    if (strobe_map_add(&watch->images, module->id, &value) ||
        !strobe_py_image_read(module->fd, &image))
        return NULL;
    struct strobe_py_image *kept = malloc(sizeof *kept);
    if (kept)
        *kept = image;
    *value = (uint64_t)(uintptr_t)kept;
    return kept;
}

/* How its frames are laid out. */
static enum strobe_py_state find_layout(struct strobe_py_memory *memory,
                                        struct strobe_py_target *target, uint64_t version_at,
                                        const char *path)
{
    uint8_t offsets[STROBE_PY_OFFSETS_BYTES];
    uint64_t version;
    uint32_t minor = strobe_py_image_minor(path);
    STROBE_ASSERT(target->runtime);
    if (!strobe_py_memory_word(memory, target->runtime, &version))
        return memory->error == EPERM || memory->error == EACCES ? STROBE_PY_REFUSED
                                                                 : STROBE_PY_UNKNOWN;
    if (version_at && strobe_py_memory_word(memory, version_at, &version))
        minor = version >> 16 & 255;
    target->layout.minor = minor; /* to be named, whatever becomes of it */
    if (minor < STROBE_PY_TELLS)
        return strobe_py_layout_of(minor, &target->layout) ? STROBE_PY_READ : STROBE_PY_UNKNOWN;
    uint32_t n = strobe_py_memory_copy(memory, target->runtime, offsets, sizeof offsets);
    return n == sizeof offsets && strobe_py_layout_read(offsets, &target->layout)
               ? STROBE_PY_READ
               : STROBE_PY_UNKNOWN;
}

struct strobe_py_process *strobe_py_watch_open(struct strobe_py_watch *watch, uint32_t pid,
                                               const struct strobe_mapping *mapping)
{
    const struct strobe_sample_module *module = mapping->module;
    uint64_t vaddr;
    const struct strobe_py_image *image = module ? image_of(watch, module) : NULL;
    if (!image || !image->code_type || !strobe_cfi_vaddr(&module->cfi, mapping->offset, &vaddr))
        return NULL;
    struct strobe_py_process *process = calloc(1, sizeof *process);
    if (!process)
        return NULL;
    uint64_t bias = mapping->start - vaddr;
    process->id = ++watch->n_opened;
    process->target.runtime = bias + image->runtime;
    process->target.code_type = bias + image->code_type;
    process->n_evaluators = image->n_evaluators;
    for (uint32_t i = 0; i < image->n_evaluators; i++)
        process->evaluators[i] = (struct strobe_py_range){bias + image->evaluators[i].start,
                                                          bias + image->evaluators[i].end};
    strobe_py_memory_begin(&watch->memory, pid, NULL);
    process->state = find_layout(&watch->memory, &process->target,
                                 image->version ? bias + image->version : 0, module->path);
    watch->n_read += process->state == STROBE_PY_READ;
    return process;
}

void strobe_py_watch_set(struct strobe_py_watch *watch, struct strobe_py_process *process,
                         enum strobe_py_state state)
{
    watch->n_read -= process->state == STROBE_PY_READ;
    process->state = state;
    watch->n_read += process->state == STROBE_PY_READ;
}

void strobe_py_watch_close(struct strobe_py_watch *watch, struct strobe_py_process *process)
{
    if (process)
        strobe_py_watch_set(watch, process, STROBE_PY_UNKNOWN);
    free(process);
}

/* ---- shots ---- */

static struct strobe_py_shot *shot_at(struct strobe_py_watch *watch, uint64_t i)
{
    return &watch->shots[i % STROBE_PY_SHOTS];
}

/* Whether its frames are still there. */
static bool is_there(const struct strobe_py_watch *watch, const struct strobe_py_shot *shot)
{
    return watch->n_words - shot->first <= STROBE_PY_WORDS;
}

/* The thread state, where it was the last time or looked up anew. False: the thread has none. */
static bool find_state(struct strobe_py_watch *watch, const struct strobe_py_process *process,
                       struct strobe_py_thread *thread, uint32_t pid, uint32_t tid)
{
    struct strobe_py_memory *memory = &watch->memory;
    STROBE_ASSERT(thread->inner_tid);
    strobe_py_memory_begin(memory, pid, &thread->again);
    if (thread->state && strobe_py_stack_is_of(memory, &process->target, thread->state,
                                               thread->inner_tid, pid == tid))
        return true;
    thread->state = strobe_py_stack_find(memory, &process->target, thread->inner_tid, pid == tid);
    return thread->state != 0;
}

/* The address of a frame, `nth` from the outermost: that of the last shot, where it is the same frame. 0: none; STROBE_PY_NO_CODE: it is no frame. */
static uint64_t address_of(struct strobe_py_watch *watch, const struct strobe_py_process *process,
                           struct strobe_py_thread *thread, uint32_t nth,
                           const struct strobe_py_frame *frame, uint64_t now_ns)
{
    struct strobe_py_place *last = nth < STROBE_PY_LAST_PLACES ? &thread->last[nth] : NULL;
    STROBE_ASSERT(nth < STROBE_PY_FRAMES && thread->n <= STROBE_PY_FRAMES);
    if (last && nth < thread->n && last->code == frame->code && last->at == frame->at)
        return last->address;
    uint64_t address = strobe_py_names_address(&watch->names, &watch->memory, &process->target,
                                               process->id, frame, now_ns);
    if (last)
        *last = (struct strobe_py_place){frame->code, address, frame->at};
    return address;
}

/* The frames that were read to a new shot, innermost first; behind one that is none the rest is not to be trusted. */
static void put_shot(struct strobe_py_watch *watch, const struct strobe_py_process *process,
                     struct strobe_py_thread *thread, struct strobe_py_shot *shot, uint64_t now_ns)
{
    const struct strobe_py_stack *stack = &watch->stack;
    if (now_ns - thread->looked_ns >= STROBE_PY_FRESH_NS || stack->is_cut) {
        thread->looked_ns = now_ns;
        thread->n = 0;
    }
    for (uint32_t i = 0; i < stack->n; i++) {
        uint64_t address =
            address_of(watch, process, thread, stack->n - 1 - i, &stack->frames[i], now_ns);
        if (address == STROBE_PY_NO_CODE)
            break;
        if (!address)
            continue;
        watch->words[watch->n_words++ % STROBE_PY_WORDS] = address;
        watch->words[watch->n_words++ % STROBE_PY_WORDS] = stack->frames[i].activation;
        shot->n++;
    }
    thread->n = shot->n == stack->n && !stack->is_cut ? stack->n : 0; /* a place is its own then */
}

void strobe_py_watch_shoot(struct strobe_py_watch *watch, struct strobe_py_process *process,
                           struct strobe_py_thread *thread, const struct strobe_py_shot *what)
{
    STROBE_ASSERT(process->state == STROBE_PY_READ);
    if (!find_state(watch, process, thread, what->pid, what->tid)) {
        if (watch->memory.error == EPERM)
            strobe_py_watch_set(watch, process, STROBE_PY_REFUSED);
        return;
    }
    strobe_py_stack_read(&watch->memory, &process->target, thread->state, &watch->stack);
    strobe_py_memory_end(&watch->memory, &thread->again);
    uint64_t now = strobe_clock_read_ns(CLOCK_MONOTONIC_RAW);
    uint64_t until = what->out_ns ? what->out_ns : now;
    uint64_t late = until > what->sample_ns ? until - what->sample_ns : 0;
    if (late > watch->late_max_ns)
        return;
    struct strobe_py_shot *shot = shot_at(watch, watch->n_shots);
    *shot = *what;
    shot->late_ns = late;
    shot->first = watch->n_words;
    put_shot(watch, process, thread, shot, now);
    if (++watch->n_shots - watch->n_gone > STROBE_PY_SHOTS)
        watch->n_gone = watch->n_shots - STROBE_PY_SHOTS;
}

/* ---- by the kernel ---- */

void strobe_py_watch_take(struct strobe_py_watch *watch, struct strobe_py_process *process,
                          struct strobe_py_thread *thread, const void *bytes, size_t n_bytes,
                          uint32_t pid)
{
    STROBE_ASSERT(process->state == STROBE_PY_READ && pid);
    thread->exact = 0;
    if (!strobe_py_stack_take(bytes, n_bytes, &process->target.layout, &watch->stack))
        return;
    struct strobe_py_shot *shot = shot_at(watch, watch->n_shots);
    *shot = (struct strobe_py_shot){.pid = pid,
                                    .first = watch->n_words}; /* found by its number alone */
    strobe_py_memory_begin(&watch->memory, pid,
                           NULL); /* names of what is new are read from outside */
    put_shot(watch, process, thread, shot, strobe_clock_read_ns(CLOCK_MONOTONIC_RAW));
    thread->exact = ++watch->n_shots;
    if (watch->n_shots - watch->n_gone > STROBE_PY_SHOTS)
        watch->n_gone = watch->n_shots - STROBE_PY_SHOTS;
}

void strobe_py_watch_ask_kernel(struct strobe_py_watch *watch, struct strobe_py_process *process,
                                struct strobe_py_thread *thread, uint32_t pid, uint32_t tid,
                                uint64_t now_ns)
{
    const struct strobe_py_layout *l = &process->target.layout;
    uint64_t id_at, id;
    STROBE_ASSERT(watch->kernel && process->state == STROBE_PY_READ);
    if (thread->found_ns && now_ns - thread->found_ns < STROBE_PY_FIND_NS)
        return;
    thread->found_ns = now_ns;
    watch->n_asked += !thread->state;
    if (!find_state(watch, process, thread, pid, tid))
        return;
    id_at = thread->state + (l->thread_native ? l->thread_native : l->thread_id);
    if (strobe_py_memory_word(&watch->memory, id_at, &id) &&
        strobe_py_kernel_watch(watch->kernel, pid, tid, l, thread->state, id_at, id))
        thread->watched_pid = pid;
}

/* The kernel's shot for the sample that is taken now. NULL: there is none. */
static const struct strobe_py_shot *exact_shot(struct strobe_py_watch *watch,
                                               struct strobe_py_thread *thread)
{
    uint64_t number = thread ? thread->exact : 0;
    STROBE_ASSERT(number <= watch->n_shots);
    if (!number)
        return NULL;
    thread->exact = 0;
    const struct strobe_py_shot *shot = shot_at(watch, number - 1);
    return watch->n_shots - number < STROBE_PY_SHOTS && is_there(watch, shot) ? shot : NULL;
}

void strobe_py_watch_forget(struct strobe_py_watch *watch, uint64_t before_ns)
{
    STROBE_ASSERT(watch->n_gone <= watch->n_shots);
    while (watch->n_gone < watch->n_shots && shot_at(watch, watch->n_gone)->sample_ns < before_ns)
        watch->n_gone++;
}

/* The shot for a sample. NULL: there is none. */
static const struct strobe_py_shot *shot_for(struct strobe_py_watch *watch, uint32_t tid,
                                             uint64_t sample_ns)
{
    for (uint64_t i = watch->n_gone; i < watch->n_shots; i++) {
        const struct strobe_py_shot *shot = shot_at(watch, i);
        if (shot->tid == tid && shot->sample_ns == sample_ns)
            return is_there(watch, shot) ? shot : NULL;
    }
    return NULL;
}

/* ---- joining ---- */

struct joint {
    struct strobe_py_watch *watch;
    const struct strobe_py_process *process;
    const struct strobe_py_shot *shot;
    struct strobe_build *build;
    uint64_t *out;
    uint32_t n;
    uint32_t n_python; /* of which Python's */
};

static uint64_t word_of(const struct joint *j, uint32_t frame, uint32_t which)
{
    return j->watch->words[(j->shot->first + 2ull * frame + which) % STROBE_PY_WORDS];
}

static bool is_evaluator(const struct strobe_py_process *process, uint64_t address)
{
    for (uint32_t i = 0; i < process->n_evaluators; i++)
        if (address >= process->evaluators[i].start && address < process->evaluators[i].end)
            return true;
    return false;
}

static void put(struct joint *j, uint64_t address)
{
    if (j->n < STROBE_UNWIND_MAX)
        j->out[j->n++] = address;
}

static void put_frame(struct joint *j, uint32_t frame)
{
    uint64_t address = word_of(j, frame, 0);
    strobe_py_names_tell(&j->watch->names, j->build, j->process->id, address);
    put(j, address);
    j->n_python++;
}

/* Those of the activation whose place is between two stack pointers. False: the shot has none there. */
static bool put_between(struct joint *j, uint64_t low, uint64_t high)
{
    uint32_t before = j->n_python;
    for (uint32_t i = 0; i < j->shot->n; i++) {
        uint64_t at = word_of(j, i, 1);
        if (at >= low && at < high)
            put_frame(j, i);
    }
    return j->n_python > before;
}

/* From the outermost on, activation by activation; those that one of both has in addition are inside of these. */
static void join_in_order(struct joint *j, const struct strobe_unwind_stack *native,
                          uint32_t n_evaluators)
{
    uint32_t nth = 0; /* from the innermost */
    for (uint32_t i = 0; i < native->n; i++) {
        if (!is_evaluator(j->process, native->addresses[i])) {
            put(j, native->addresses[i]);
            continue;
        }
        uint32_t from_outside = n_evaluators - ++nth;
        if (from_outside < j->shot->n)
            put_frame(j, j->shot->n - 1 - from_outside);
        else
            put(j, native->addresses[i]);
    }
}

static void join_by_place(struct joint *j, const struct strobe_unwind_stack *native)
{
    for (uint32_t i = 0; i < native->n; i++) {
        uint64_t high = i + 1 < native->n ? native->sps[i + 1] : UINT64_MAX;
        if (!is_evaluator(j->process, native->addresses[i]) ||
            !put_between(j, native->sps[i], high))
            put(j, native->addresses[i]);
    }
}

uint32_t strobe_py_watch_join(struct strobe_py_watch *watch, struct strobe_py_process *process,
                              struct strobe_py_thread *thread, uint32_t tid, uint64_t sample_ns,
                              const struct strobe_unwind_stack *native, struct strobe_build *build,
                              uint64_t *out)
{
    STROBE_ASSERT(native->n && native->n <= STROBE_UNWIND_MAX && build);
    uint32_t n_evaluators = 0;
    for (uint32_t i = 0; i < native->n; i++)
        n_evaluators += is_evaluator(process, native->addresses[i]);
    const struct strobe_py_shot *shot =
        watch->kernel ? exact_shot(watch, thread) : shot_for(watch, tid, sample_ns);
    struct joint j = {.watch = watch, .process = process, .shot = shot, .build = build, .out = out};
    if (shot && n_evaluators) {
        if (process->target.layout.entry == STROBE_PY_ENTRY_EACH)
            join_in_order(&j, native, n_evaluators);
        else
            join_by_place(&j, native);
    }
    if (!j.n_python) {
        process->n_missed += n_evaluators != 0;
        memcpy(out, native->addresses, native->n * sizeof *out);
        return native->n;
    }
    process->n_joined++;
    process->late_ns += shot->late_ns;
    if (shot->late_ns > process->late_max_ns)
        process->late_max_ns = shot->late_ns;
    return j.n;
}

void strobe_py_watch_tell(struct strobe_py_process *process, struct strobe_build *build)
{
    uint64_t n = process->n_joined + process->n_missed;
    uint64_t numbers[] = {process->target.layout.minor,
                          process->state,
                          process->n_joined,
                          process->n_missed,
                          process->n_joined ? process->late_ns / process->n_joined : 0,
                          process->late_max_ns};
    if (n + 1 == process->n_told)
        return;
    process->n_told = n + 1;
    strobe_build_record(build, STROBE_META_PYTHON_FRAMES, numbers, NULL, NULL);
}
