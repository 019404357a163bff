/* life_events.c - what becomes of samples and switches: the process and the thread are told at their first one, the stack is unwound,
 * its modules are told, its addresses are kept for names.  SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/descendants.h"
#include "sample/life_parts.h"

/* ---- who it is ---- */

void strobe_life_look(struct strobe_life_process *process)
{
    STROBE_ASSERT(process->pid);
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%u/stat", process->pid);
    long n = strobe_descendants_read_text(path, text, sizeof text);
    const char *at = n > 0 ? strrchr(text, ')') : NULL; /* the name before it may hold anything */
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at)
        process->start_time = strtoull(at + 1, NULL, 10);
}

/* The start of a process that is gone already, by the time of its fork: right up to one unit, which readers allow. */
static uint64_t guess_start(uint64_t born_raw_ns)
{
    uint64_t raw = strobe_clock_read_ns(CLOCK_MONOTONIC_RAW);
    uint64_t boot = strobe_clock_read_ns(CLOCK_BOOTTIME);
    long hz = sysconf(_SC_CLK_TCK);
    uint64_t age = born_raw_ns < raw ? raw - born_raw_ns : 0;
    STROBE_ASSERT(hz > 0);
    return (age < boot ? boot - age : 0) / (1000000000u / (uint64_t)hz);
}

uint32_t strobe_life_inner_number(const char *path)
{
    char text[4096];
    if (strobe_descendants_read_text(path, text, sizeof text) <= 0)
        return 0;
    const char *line = strstr(text, "\nNSpid:"), *end = line ? strchr(line + 1, '\n') : NULL;
    while (end && end[-1] >= '0' && end[-1] <= '9')
        end--;
    return end ? (uint32_t)strtoul(end, NULL, 10) : 0;
}

static uint64_t namespace_of(const char *path)
{
    struct stat st;
    return stat(path, &st) ? 0 : (uint32_t)st.st_ino;
}

static void read_link(uint32_t pid, const char *what, char *out, size_t room)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/%s", pid, what);
    ssize_t n = readlink(path, out, room - 1);
    out[n > 0 ? n : 0] = 0;
}

/* What it runs. /proc may have the next image already: its arguments are taken only if it is the same. False: it is not. */
static bool find_exe(const struct strobe_life_process *process, char *out, size_t room)
{
    STROBE_ASSERT(room > 1);
    const char *image = process->image ? process->image->path : NULL;
    read_link(process->pid, "exe", out, room);
    if (!image || !strcmp(out, image))
        return out[0] != 0;
    snprintf(out, room, "%s", image);
    return false;
}

/* The process once more, without the mark that it is sampled: readers make one of both. */
static void open_zones(struct strobe_life *life, struct strobe_life_process *process,
                       const struct strobe_build_process *what, uint64_t namespace_inode)
{
    STROBE_ASSERT(process->build && !process->zones);
    if (!life->has_zones || strobe_build_open(life->store, what, &process->zones))
        return;
    process->zones_proc = strobe_build_proc(process->zones);
    uint64_t outer[] = {process->zones_proc, process->pid, namespace_inode};
    if (process->is_elsewhere)
        strobe_build_record(process->zones, STROBE_FACT_OUTER_PID, outer, NULL, NULL);
}

static bool open_process(struct strobe_life *life, struct strobe_life_process *process)
{
    STROBE_ASSERT(!process->has_ended);
    char exe[4096], cwd[4096], argv[4096], path[64];
    if (process->build || process->is_refused)
        return process->build != NULL;
    if (!process->start_time)
        strobe_life_look(process);
    if (!process->start_time && process->born_raw_ns)
        process->start_time = guess_start(process->born_raw_ns);
    bool is_same = find_exe(process, exe, sizeof exe);
    read_link(process->pid, "cwd", cwd, sizeof cwd);
    snprintf(path, sizeof path, "/proc/%u/cmdline", process->pid);
    long n_argv = is_same ? strobe_descendants_read_text(path, argv, sizeof argv) : 0;
    snprintf(path, sizeof path, "/proc/%u/ns/pid", process->pid);
    uint64_t theirs = namespace_of(path), ours = namespace_of("/proc/self/ns/pid");
    snprintf(path, sizeof path, "/proc/%u/status", process->pid);
    uint32_t inner = theirs && ours && theirs != ours ? strobe_life_inner_number(path) : 0;
    process->is_elsewhere = inner != 0;
    process->inner_pid = inner;
    struct strobe_build_process what = {.pid = inner ? inner : process->pid,
                                        .parent_pid = inner ? 0 : process->parent_pid,
                                        .start_time = process->start_time,
                                        .exe = exe,
                                        .cwd = cwd,
                                        .argv = argv,
                                        .n_argv = n_argv > 0 ? (size_t)n_argv : 0};
    if (strobe_build_open(life->store, &what, &process->build)) {
        process->is_refused = true;
        return false;
    }
    process->proc = strobe_build_proc(process->build);
    life->counts.n_processes++;
    if (!life->told_kinds)
        strobe_build_kinds(process->build);
    life->told_kinds = true;
    uint64_t sampled[] = {life->hz, life->clock->error_ns, life->has_kernel};
    strobe_build_record(process->build, STROBE_META_SAMPLED, sampled, NULL, NULL);
    if (inner) {
        uint64_t outer[] = {process->proc, process->pid, theirs};
        strobe_build_record(process->build, STROBE_FACT_OUTER_PID, outer, NULL, NULL);
    }
    open_zones(life, process, &what, theirs);
    return true;
}

/* A track of a thread, made with its first event. NULL: there is no room for it. */
static struct strobe_build_track *make_track(const struct strobe_life_process *process,
                                             struct strobe_build *build,
                                             const struct strobe_life_thread *thread, uint64_t tick)
{
    STROBE_ASSERT(build && thread->tid);
    char path[96];
    uint32_t inner = 0;
    if (process->is_elsewhere) {
        snprintf(path, sizeof path, "/proc/%u/task/%u/status", process->pid, thread->tid);
        inner = strobe_life_inner_number(path);
    }
    uint64_t start = thread->start_tick && thread->start_tick < tick ? thread->start_tick : tick;
    struct strobe_build_track *track =
        strobe_build_thread(build, inner ? inner : thread->tid, start);
    if (track && thread->name[0])
        strobe_build_thread_name(build, track, thread->name, strlen(thread->name));
    return track;
}

/* A sample's tick without the bits that are below what is known of its time: in the file they would be noise. Its order among the
 * thread's other events stays. */
static uint64_t coarse(const struct strobe_life *life, const struct strobe_life_thread *thread,
                       uint64_t tick)
{
    STROBE_ASSERT(life->clock->grain);
    uint64_t out = tick & ~(life->clock->grain - 1);
    return out > thread->last_tick ? out : tick;
}

bool strobe_life_owner(struct strobe_life *life, const struct strobe_perf_record *record,
                       uint64_t tick, struct strobe_life_process **process,
                       struct strobe_pending_event *out)
{
    *process = strobe_life_process(life, record->pid, true);
    struct strobe_life_thread *thread =
        *process ? strobe_life_thread(life, *process, record->tid, true) : NULL;
    if (thread && !thread->track && open_process(life, *process)) {
        thread->track = make_track(*process, (*process)->build, thread, tick);
        life->counts.n_tracks += thread->track != NULL;
    }
    bool has_track = thread && thread->track;
    life->counts.n_refused += !has_track;
    if (!has_track)
        return false;
    if (record->what == STROBE_PERF_SAMPLE)
        tick = coarse(life, thread, tick);
    uint32_t window = strobe_life_window(life, thread);
    thread->last_tick = tick;
    *out = (struct strobe_pending_event){.build = (*process)->build,
                                         .window = window,
                                         .track = thread->track,
                                         .tick = tick,
                                         .proc = (*process)->proc,
                                         .cpu = record->cpu};
    return true;
}

bool strobe_life_zone_owner(struct strobe_life *life, const struct strobe_perf_record *record,
                            uint64_t tick, struct strobe_life_process **process,
                            struct strobe_pending_event *out)
{
    if (!strobe_life_owner(life, record, tick, process, out))
        return false;
    struct strobe_life_thread *thread = strobe_life_thread(life, *process, record->tid, false);
    STROBE_ASSERT(thread && life->has_zones);
    if (!thread->zone_track && (*process)->zones)
        thread->zone_track = make_track(*process, (*process)->zones, thread, tick);
    life->counts.n_refused += !thread->zone_track;
    out->build = (*process)->zones;
    out->proc = (*process)->zones_proc;
    out->track = thread->zone_track;
    return thread->zone_track != NULL;
}

/* ---- stacks ---- */

/* Frames of the kernel's chain that are of a context: the kernel's own, or the user's. */
static uint32_t take_chain(const struct strobe_perf_record *record, uint64_t context, uint64_t *out,
                           uint32_t room)
{
    STROBE_ASSERT(record->what == STROBE_PERF_SAMPLE);
    uint64_t now = 0;
    uint32_t n = 0;
    for (uint64_t i = 0; i < record->sample.n_chain && n < room; i++) {
        uint64_t address = record->sample.chain[i];
        if (address >= (uint64_t)PERF_CONTEXT_MAX)
            now = address;
        else if (now == context && address)
            out[n] = address - (n > 0), n++; /* callers: an address in the call */
    }
    return n;
}

/* Keep a whole stack that took much of its copy: the next one may be deeper. */
static void keep_deep(struct strobe_life *life, struct strobe_life_thread *thread,
                      const struct strobe_perf_record *record)
{
    uint64_t span = life->user.sps[life->user.n - 1] - life->user.sps[0];
    if (span < record->sample.user.n_stack / 2)
        return;
    if (!thread->deep && life->n_deep < STROBE_LIFE_DEEP) {
        thread->deep = malloc(sizeof *thread->deep);
        life->n_deep += thread->deep != NULL;
    }
    if (!thread->deep)
        return;
    STROBE_ASSERT(life->user.n <= STROBE_UNWIND_MAX);
    thread->deep->n = life->user.n;
    memcpy(thread->deep->addresses, life->user.addresses, life->user.n * sizeof(uint64_t));
    memcpy(thread->deep->sps, life->user.sps, life->user.n * sizeof(uint64_t));
}

static void lose_frames(struct strobe_life *life, const struct strobe_pending_event *event,
                        uint32_t cause)
{
    STROBE_ASSERT(event->build && event->track);
    life->counts.n_cut++;
    strobe_build_lose(event->build, event->track, cause, 1, event->tick);
}

/* Whether the kernel is still loading the thread's image (execve): user registers are those of the image before, and there is
 * no user stack yet. The new image runs once a sample is outside of the kernel, or has an address of its mappings. */
static bool is_loading(struct strobe_life_process *process, struct strobe_life_thread *thread,
                       const struct strobe_perf_record *record, uint32_t n_kernel)
{
    STROBE_ASSERT(record->sample.has_regs);
    thread->is_loading =
        thread->is_loading && n_kernel > 0 &&
        !strobe_maps_find(&process->maps, record->sample.user.regs[STROBE_UNWIND_IP]);
    return thread->is_loading;
}

static uint32_t take_user(struct strobe_life *life, struct strobe_life_process *process,
                          const struct strobe_perf_record *record, uint32_t n_kernel,
                          const struct strobe_pending_event *event, uint64_t *out)
{
    struct strobe_unwind_stack *stack = &life->user;
    if (!record->sample.has_regs)
        return take_chain(record, (uint64_t)PERF_CONTEXT_USER, out, STROBE_UNWIND_MAX);
    struct strobe_life_thread *thread = strobe_life_thread(life, process, record->tid, false);
    STROBE_ASSERT(thread); /* the event has its track */
    if (is_loading(process, thread, record, n_kernel))
        return 0;
    if (record->sample.is_32bit) {
        out[0] = record->sample.user.regs[STROBE_UNWIND_IP];
        lose_frames(life, event, STROBE_LOSS_STACK_CUT);
        return 1;
    }
    enum strobe_unwind_end end =
        strobe_unwind_run(life->unwinder, &process->maps, &record->sample.user, stack);
    if (end == STROBE_UNWIND_SHORT && thread->deep && strobe_unwind_join(stack, thread->deep)) {
        life->counts.n_joined++;
        end = STROBE_UNWIND_WHOLE;
    }
    if (end)
        lose_frames(life, event,
                    end == STROBE_UNWIND_CUT ? STROBE_LOSS_STACK_CUT : STROBE_LOSS_STACK_SHORT);
    else
        keep_deep(life, thread, record);
    const struct strobe_py_process *python = strobe_life_python(life, process);
    if (python && python->state == STROBE_PY_READ)
        return strobe_life_join(life, process, thread, record->time, out);
    memcpy(out, stack->addresses, stack->n * sizeof *out);
    return stack->n;
}

static void tell_module(struct strobe_life_process *process, struct strobe_mapping *mapping)
{
    STROBE_ASSERT(process->build && !mapping->is_told);
    const struct strobe_sample_module *module = mapping->module;
    mapping->is_told = true;
    if (!module)
        return;
    uint64_t numbers[] = {mapping->start, mapping->end - mapping->start, mapping->offset};
    const char *texts[] = {module->build_id, module->path};
    size_t sizes[] = {strlen(module->build_id), strlen(module->path)};
    strobe_build_record(process->build, STROBE_META_MODULE, numbers, texts, sizes);
}

/* What readers will want to know of the addresses of a new stack. */
static void explain(struct strobe_life *life, struct strobe_life_process *process,
                    const uint64_t *addresses, uint32_t n_kernel, uint32_t n)
{
    STROBE_ASSERT(n_kernel <= n && process->build);
    if (strobe_wanted_knows_stack(&life->wanted, process->proc, addresses, n))
        return;
    for (uint32_t i = 0; i < n_kernel; i++)
        strobe_wanted_add(&life->wanted, process->proc, 0, addresses[i], NULL);
    uint64_t pids =
        (uint64_t)process->pid << 32 | (process->is_elsewhere ? process->inner_pid : process->pid);
    if (process->dump)
        strobe_map_put(&life->wanted.dumps, process->proc, process->dump->id);
    for (uint32_t i = n_kernel; i < n; i++) {
        struct strobe_mapping *mapping = strobe_maps_find(&process->maps, addresses[i]);
        if (!mapping)
            continue;
        if (!mapping->is_told)
            tell_module(process, mapping);
        strobe_wanted_add(&life->wanted, process->proc, pids, addresses[i], mapping);
    }
}

void strobe_life_sample(struct strobe_life *life, const struct strobe_perf_record *record,
                        uint64_t tick)
{
    STROBE_ASSERT(record->what == STROBE_PERF_SAMPLE);
    struct strobe_life_process *process;
    struct strobe_pending_event event;
    if (!strobe_life_owner(life, record, tick, &process, &event))
        return;
    uint32_t n_kernel =
        take_chain(record, (uint64_t)PERF_CONTEXT_KERNEL, life->stack, STROBE_PERF_CHAIN_MAX);
    uint32_t n =
        n_kernel + take_user(life, process, record, n_kernel, &event, life->stack + n_kernel);
    explain(life, process, life->stack, n_kernel, n);
    if (n)
        strobe_wanted_hit(&life->wanted, process->proc, life->stack[0]);
    if (!strobe_pending_has_room(&life->pending, n))
        strobe_life_flush(life);
    strobe_pending_sample(&life->pending, event, life->stack, n);
    life->counts.n_samples++;
}

static void put_switch(struct strobe_life *life, struct strobe_pending_event event,
                       enum strobe_kind kind, uint32_t reason)
{
    event.kind = (uint8_t)kind;
    event.first = reason;
    if (!strobe_pending_has_room(&life->pending, 0))
        strobe_life_flush(life);
    strobe_pending_switch(&life->pending, event);
    life->counts.n_switches += kind == STROBE_KIND_SWITCH_OUT;
}

void strobe_life_end_turn(struct strobe_life *life, struct strobe_life_thread *thread,
                          const struct strobe_perf_record *record, uint64_t tick)
{
    struct strobe_life_process *process;
    struct strobe_pending_event event;
    bool is_on = thread->track && thread->on_ns > life->gap_ns;
    if (!is_on || !strobe_life_owner(life, record, tick, &process, &event))
        return;
    event.cpu = thread->on_cpu;
    thread->on_ns = 0;
    put_switch(life, event, STROBE_KIND_SWITCH_OUT, STROBE_BLOCKED_DEAD);
}

void strobe_life_begin_turn(struct strobe_life *life, struct strobe_life_thread *thread,
                            const struct strobe_perf_record *record, uint64_t tick)
{
    struct strobe_life_process *process;
    struct strobe_pending_event event;
    if (!life->has_turns || record->time <= life->gap_ns ||
        !strobe_life_owner(life, record, tick, &process, &event))
        return;
    thread->on_ns = record->time;
    thread->on_cpu = record->cpu;
    event.window = 0; /* it ran before: this is no switch */
    put_switch(life, event, STROBE_KIND_SWITCH_IN, 0);
}

void strobe_life_switch(struct strobe_life *life, const struct strobe_perf_record *record,
                        uint64_t tick)
{
    STROBE_ASSERT(record->what == STROBE_PERF_SWITCH);
    struct strobe_life_process *process;
    struct strobe_pending_event event;
    if (!strobe_life_owner(life, record, tick, &process, &event))
        return;
    struct strobe_life_thread *thread = strobe_life_thread(life, process, record->tid, false);
    strobe_life_turn(life, thread, record);
    uint32_t reason = strobe_life_reason(life, process, thread, record);
    thread->on_ns = record->turn.is_out ? 0 : record->time;
    thread->on_cpu = record->cpu;
    put_switch(life, event, record->turn.is_out ? STROBE_KIND_SWITCH_OUT : STROBE_KIND_SWITCH_IN,
               reason);
    life->counts.n_out_of_cpu[record->cpu % STROBE_LIFE_CPUS] += record->turn.is_out;
}
