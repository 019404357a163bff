/* perf.c - see perf.h. What a kernel does not know, or does not allow, is found out with the first event: features are given up one by one
 * until it opens, and the rest is opened as that one.  SPDX-License-Identifier: MIT */
#include "sample/perf.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/assert.h"
#include "sample/perf_trace.h"
#include "sample/probe_kernel.h"
#include "sample/py_kernel.h"

#if defined(__x86_64__)
#define HAS_UNWINDER 1
#else
#define HAS_UNWINDER 0 /* the kernel walks frame pointers */
#endif

enum {
    CPUS_MAX = 1024,
    RINGS_BYTES = 12 << 20, /* all large buffers together, where there are many processors */
    RING_MOST = 4 << 20,
    RING_LEAST = 64 << 10,
    LIFE_BYTES = 64 << 10,
    STACK_MOST = 16 << 10,
    STACK_LEAST = 2 << 10,
    RINGS = 3, /* of a processor: samples and switches; life; tracepoints */
};

struct event {
    int fd; /* owned */
    uint8_t role;
};

struct strobe_perf {
    struct strobe_perf_options options;
    struct strobe_perf_access access;
    bool has_build_id, has_thread_inherit; /* features that this kernel has */
    bool is_proven;                        /* one event is open as these say */
    uint32_t stack_bytes;
    struct event *events; /* owned */
    uint32_t n_events, events_room;
    struct cpu {
        int number;
        int owner[RINGS]; /* borrowed from events: whose buffers they are; -1: none yet */
        struct strobe_perf_ring ring[RINGS];
    } * cpus; /* owned */
    uint32_t n_cpus;
    struct pollfd *polled; /* owned: the buffers, and one more */
    uint32_t n_polled;
    uint32_t *tids; /* owned: threads that are open, of a running process */
    uint32_t n_tids, tids_room;
    uint64_t n_bad;
    struct strobe_perf_trace trace; /* tracepoints; an id is 0 where the kernel denies it */
};

static long open_event(struct perf_event_attr *attr, uint32_t tid, int cpu)
{
    return syscall(SYS_perf_event_open, attr, (pid_t)tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* ---- one event ---- */

static void shape_clock(const struct strobe_perf *perf, struct perf_event_attr *attr)
{
    STROBE_ASSERT(perf->options.hz && perf->stack_bytes && !(perf->stack_bytes & 7));
    attr->config = PERF_COUNT_SW_CPU_CLOCK;
    attr->freq = 1;
    attr->sample_freq = perf->options.hz;
    attr->watermark = !perf->options.is_prompt;
    if (perf->options.is_prompt)
        attr->wakeup_events = 1;
    else
        attr->wakeup_watermark = (uint32_t)(perf->options.ring_bytes / 2);
    if (HAS_UNWINDER) {
        attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        attr->sample_regs_user = STROBE_PERF_REGS;
        attr->sample_stack_user = perf->stack_bytes;
        attr->exclude_callchain_user = 1;
    }
    if (perf->access.has_kernel || !HAS_UNWINDER)
        attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
}

static void shape_life(const struct strobe_perf *perf, struct perf_event_attr *attr)
{
    attr->watermark = 1;
    attr->wakeup_watermark = LIFE_BYTES / 3;
    attr->mmap = attr->mmap2 = 1;
    attr->comm = attr->comm_exec = 1;
    attr->task = 1;
    attr->build_id = perf->has_build_id;
}

/* Every time; of a thread that leaves its processor with the kernel's stack. */
static void shape_tracepoint(const struct strobe_perf *perf, enum strobe_perf_role role,
                             struct perf_event_attr *attr)
{
    const struct strobe_perf_trace *trace = &perf->trace;
    attr->type = PERF_TYPE_TRACEPOINT;
    attr->config = role == STROBE_PERF_WAKE     ? trace->wake_id
                   : role == STROBE_PERF_ENTER  ? trace->enter_id
                   : role == STROBE_PERF_RETURN ? trace->exit_id
                                                : trace->state_id;
    attr->sample_period = 1;
    attr->sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW;
    attr->exclude_callchain_user = 1;
    attr->exclude_callchain_kernel = role != STROBE_PERF_STATE;
    attr->watermark = 1;
    attr->wakeup_watermark = (uint32_t)(perf->options.ring_bytes / 4); /* half of theirs */
    if (role == STROBE_PERF_WAKE || role >= STROBE_PERF_PYTHON)        /* of the machine */
        attr->inherit = attr->disabled = attr->enable_on_exec = attr->inherit_thread = 0;
}

/* What programs in the kernel write to (py_kernel.h, probe_kernel.h); in the shape of a tracepoint without a stack. */
static void shape_output(const struct strobe_perf *perf, enum strobe_perf_role role,
                         struct perf_event_attr *attr)
{
    shape_tracepoint(perf, role, attr);
    attr->type = PERF_TYPE_SOFTWARE;
    attr->config = PERF_COUNT_SW_BPF_OUTPUT;
}

static struct perf_event_attr shape(const struct strobe_perf *perf, enum strobe_perf_role role)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_DUMMY,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
        .read_format = perf->access.has_lost ? PERF_FORMAT_LOST : 0,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC_RAW,
        .inherit = 1,
        .disabled = !perf->options.is_running,
        .enable_on_exec = !perf->options.is_running,
        .exclude_kernel = !perf->access.has_kernel,
        .exclude_hv = 1,
        .inherit_thread = perf->options.is_running && perf->has_thread_inherit,
    };
    if (role == STROBE_PERF_CLOCK)
        shape_clock(perf, &attr);
    else if (role == STROBE_PERF_LIFE)
        shape_life(perf, &attr);
    else if (role >= STROBE_PERF_PYTHON)
        shape_output(perf, role, &attr);
    else if (role != STROBE_PERF_SWITCHES)
        shape_tracepoint(perf, role, &attr);
    else
        attr.context_switch = 1;
    return attr;
}

/* Give up one feature, after `error`. False: there is none left that could be the reason. */
static bool give_up_feature(struct strobe_perf *perf, int error)
{
    if (error == EACCES || error == EPERM) {
        bool had = perf->access.has_kernel;
        perf->access.has_kernel = false;
        return had;
    }
    bool *const features[] = {&perf->access.has_lost, &perf->has_build_id,
                              &perf->has_thread_inherit};
    for (size_t i = 0; error == EINVAL && i < sizeof features / sizeof features[0]; i++)
        if (*features[i]) {
            *features[i] = false;
            return true;
        }
    return false;
}

/* A descriptor, or -errno. */
static int open_role(struct strobe_perf *perf, enum strobe_perf_role role, uint32_t tid, int cpu)
{
    STROBE_ASSERT(role < STROBE_PERF_ROLES);
    for (;;) {
        struct perf_event_attr attr = shape(perf, role);
        long fd = open_event(&attr, tid, cpu);
        if (fd >= 0)
            return (int)fd;
        if (perf->is_proven || !give_up_feature(perf, errno))
            return -errno;
    }
}

int strobe_perf_probe(uint32_t pid, bool *has_kernel)
{
    struct strobe_perf trial = {.options = {.hz = 1, .is_running = true},
                                .access = {.has_kernel = true}};
    trial.stack_bytes = STACK_LEAST;
    int fd = open_role(&trial, STROBE_PERF_CLOCK, pid, -1);
    *has_kernel = trial.access.has_kernel;
    if (fd < 0)
        return -fd;
    close(fd);
    return 0;
}

/* ---- a thread on a processor ---- */

/* Its records go to the processor's buffer, which the first event of it makes. 0 or errno. */
static int set_buffer(struct strobe_perf *perf, struct cpu *cpu, enum strobe_perf_role role, int fd)
{
    STROBE_ASSERT(fd >= 0 && role < STROBE_PERF_ROLES);
    int i = role == STROBE_PERF_LIFE ? 1 : role < STROBE_PERF_LIFE ? 0 : 2;
    const uint64_t bytes[RINGS] = {perf->options.ring_bytes, LIFE_BYTES,
                                   perf->options.ring_bytes / 2};
    if (cpu->owner[i] >= 0)
        return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->owner[i]) ? errno : 0;
    int error = strobe_perf_ring_map(&cpu->ring[i], fd, bytes[i]);
    if (!error)
        cpu->owner[i] = fd;
    return error;
}

/* One event, with its buffer. 0 or errno. */
static int add_event(struct strobe_perf *perf, struct cpu *cpu, enum strobe_perf_role role,
                     uint32_t tid)
{
    if (STROBE_ARRAY_RESERVE(perf->events, perf->events_room, perf->n_events + 1ull))
        return ENOMEM;
    int fd = open_role(perf, role, tid, cpu->number);
    if (fd < 0)
        return -fd;
    int error = set_buffer(perf, cpu, role, fd);
    if (error) {
        close(fd);
        return error;
    }
    perf->events[perf->n_events++] = (struct event){fd, (uint8_t)role};
    perf->is_proven = role == STROBE_PERF_CLOCK || perf->is_proven;
    if (role == STROBE_PERF_CLOCK && perf->options.python &&
        !strobe_py_kernel_attach(perf->options.python, fd))
        perf->options.python = NULL;
    if (role == STROBE_PERF_PYTHON &&
        !strobe_py_kernel_set_output(perf->options.python, cpu->number, fd))
        perf->options.python = NULL;
    if (role == STROBE_PERF_PROBE &&
        !strobe_probe_kernel_set_output(perf->options.probes, cpu->number, fd))
        perf->options.probes = NULL;
    return 0;
}

/* All events of a thread on one processor. Without states it is the same recording, with less in it. 0 or errno. */
static int open_on_cpu(struct strobe_perf *perf, struct cpu *cpu, uint32_t tid)
{
    STROBE_ASSERT(cpu->number >= 0 && tid);
    static const enum strobe_perf_role order[] = {STROBE_PERF_LIFE, STROBE_PERF_CLOCK,
                                                  STROBE_PERF_SWITCHES};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        int error = add_event(perf, cpu, order[i], tid);
        if (error)
            return error;
    }
    struct strobe_perf_trace *trace = &perf->trace;
    if (!perf->access.has_kernel) /* they would open, cost, and say nothing */
        trace->state_id = trace->wake_id = trace->enter_id = trace->exit_id = 0;
    if (trace->state_id && add_event(perf, cpu, STROBE_PERF_STATE, tid))
        trace->state_id = 0;
    if (trace->enter_id && (add_event(perf, cpu, STROBE_PERF_ENTER, tid) ||
                            add_event(perf, cpu, STROBE_PERF_RETURN, tid)))
        trace->enter_id = 0;
    return 0;
}

/* Wake-ups of the whole machine, where the threads' own events have said what the kernel allows. */
static void open_wakes(struct strobe_perf *perf)
{
    perf->access.has_states = perf->trace.state_id != 0;
    perf->access.has_syscalls = perf->trace.enter_id != 0;
    for (uint32_t i = 0; i < perf->n_cpus && perf->trace.wake_id; i++)
        if (add_event(perf, &perf->cpus[i], STROBE_PERF_WAKE, (uint32_t)-1))
            perf->trace.wake_id = 0;
    perf->access.has_wakes = perf->trace.wake_id != 0;
}

/* Where the frames of Pythons go to. */
static void open_python(struct strobe_perf *perf)
{
    for (uint32_t i = 0; i < perf->n_cpus && perf->options.python; i++)
        if (add_event(perf, &perf->cpus[i], STROBE_PERF_PYTHON, (uint32_t)-1))
            perf->options.python = NULL;
    perf->access.has_python = perf->options.python != NULL;
}

/* Where records of probes go to. */
static void open_probes(struct strobe_perf *perf)
{
    for (uint32_t i = 0; i < perf->n_cpus && perf->options.probes; i++)
        if (add_event(perf, &perf->cpus[i], STROBE_PERF_PROBE, (uint32_t)-1))
            perf->options.probes = NULL;
    perf->access.has_probes = perf->options.probes != NULL;
}

static int open_thread(struct strobe_perf *perf, uint32_t tid)
{
    STROBE_ASSERT(perf->n_cpus);
    for (uint32_t i = 0; i < perf->n_cpus; i++) {
        int error = open_on_cpu(perf, &perf->cpus[i], tid);
        if (error == ENODEV) { /* the processor is off */
            perf->cpus[i--] = perf->cpus[--perf->n_cpus];
            continue;
        }
        if (error)
            return error;
    }
    return perf->n_cpus ? 0 : ENODEV;
}

/* ---- the threads of a running process ---- */

static bool is_open(const struct strobe_perf *perf, uint32_t tid)
{
    for (uint32_t i = perf->n_tids; i-- > 0;)
        if (perf->tids[i] == tid)
            return true;
    return false;
}

/* Those in the list that are not open yet. Their number. */
static uint32_t open_new_threads(struct strobe_perf *perf, DIR *tasks, int *first_error)
{
    struct dirent *entry;
    uint32_t n = 0;
    while ((entry = readdir(tasks))) {
        uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (!tid || is_open(perf, tid) ||
            STROBE_ARRAY_RESERVE(perf->tids, perf->tids_room, perf->n_tids + 1ull))
            continue;
        perf->tids[perf->n_tids++] = tid;
        int error = open_thread(perf, tid);
        n += !error;
        if (!error || error == ESRCH)
            continue;
        perf->access.n_missed++;
        *first_error = *first_error ? *first_error : error;
    }
    return n;
}

/* A thread that is made while they are listed has what its maker has, if that is open already; so list until none is new. */
static int open_process(struct strobe_perf *perf)
{
    STROBE_ASSERT(perf->options.is_running);
    char path[64];
    int error = 0;
    uint32_t n = 0, more;
    snprintf(path, sizeof path, "/proc/%u/task", perf->options.pid);
    DIR *tasks = opendir(path);
    if (!tasks)
        return ESRCH;
    do {
        rewinddir(tasks);
        n += more = open_new_threads(perf, tasks, &error);
    } while (more);
    closedir(tasks);
    return n ? 0 : error ? error : ESRCH;
}

/* ---- open and close ---- */

static void close_events(struct strobe_perf *perf)
{
    STROBE_ASSERT(perf->n_events <= perf->events_room);
    for (uint32_t i = 0; i < perf->n_cpus; i++)
        for (int ring = 0; ring < RINGS; ring++) {
            strobe_perf_ring_unmap(&perf->cpus[i].ring[ring]);
            perf->cpus[i].owner[ring] = -1;
        }
    for (uint32_t i = 0; i < perf->n_events; i++)
        close(perf->events[i].fd);
    perf->n_events = perf->n_tids = 0;
    perf->access.n_missed = 0;
}

void strobe_perf_close(struct strobe_perf *perf)
{
    if (!perf)
        return;
    close_events(perf);
    free(perf->events);
    free(perf->cpus);
    free(perf->polled);
    free(perf->tids);
    free(perf);
}

static bool list_cpus(struct strobe_perf *perf)
{
    long n = sysconf(_SC_NPROCESSORS_CONF);
    n = n < 1 ? 1 : n > CPUS_MAX ? CPUS_MAX : n;
    perf->cpus = calloc((size_t)n, sizeof *perf->cpus);
    perf->polled = calloc(RINGS * (size_t)n + 1, sizeof *perf->polled);
    if (!perf->cpus || !perf->polled)
        return false;
    for (long i = 0; i < n; i++)
        perf->cpus[i] = (struct cpu){.number = (int)i, .owner = {-1, -1, -1}};
    perf->n_cpus = (uint32_t)n;
    return true;
}

static uint64_t ring_bytes_for(uint32_t n_cpus, uint64_t most)
{
    STROBE_ASSERT(n_cpus);
    uint64_t bytes = most && most < RING_MOST ? most : RING_MOST;
    while (bytes & (bytes - 1))
        bytes &= bytes - 1;
    while (bytes > RING_LEAST && bytes * n_cpus > RINGS_BYTES && !most)
        bytes /= 2;
    return bytes;
}

/* With buffers as large as the user may lock. 0 or errno. */
static int open_all(struct strobe_perf *perf)
{
    STROBE_ASSERT(perf->n_cpus && !perf->n_events);
    uint64_t bytes = ring_bytes_for(perf->n_cpus, perf->options.ring_bytes);
    int error;
    for (;; bytes /= 2) {
        perf->options.ring_bytes = bytes;
        perf->stack_bytes = (uint32_t)(bytes / 32 > STACK_MOST    ? STACK_MOST
                                       : bytes / 32 < STACK_LEAST ? STACK_LEAST
                                                                  : bytes / 32);
        error =
            perf->options.is_running ? open_process(perf) : open_thread(perf, perf->options.pid);
        if (!error || bytes / 2 < RING_LEAST || (error != EPERM && error != ENOMEM) ||
            !perf->is_proven)
            return error;
        close_events(perf);
    }
}

enum strobe_err strobe_perf_open(const struct strobe_perf_options *options,
                                 struct strobe_perf **out, int *system_error)
{
    struct strobe_perf *perf = calloc(1, sizeof *perf);
    *system_error = ENOMEM;
    if (!perf || !list_cpus(perf)) {
        strobe_perf_close(perf);
        return STROBE_ERR_NOMEM;
    }
    perf->options = *options;
    perf->access =
        (struct strobe_perf_access){.has_kernel = true, .has_lost = true, .has_switches = true};
    perf->has_build_id = perf->has_thread_inherit = true;
    strobe_perf_trace_find(&perf->trace, options->has_waits, options->has_syscalls);
    *system_error = open_all(perf);
    if (*system_error) {
        strobe_perf_close(perf);
        return strobe_err_from_errno(*system_error);
    }
    open_wakes(perf);
    open_python(perf);
    open_probes(perf);
    for (uint32_t i = 0; i < RINGS * perf->n_cpus; i++) {
        int fd = perf->cpus[i / RINGS].owner[i % RINGS];
        if (fd >= 0)
            perf->polled[perf->n_polled++] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
    *out = perf;
    return STROBE_OK;
}

const struct strobe_perf_access *strobe_perf_access(const struct strobe_perf *perf)
{
    return &perf->access;
}

struct strobe_perf_shape strobe_perf_shape(const struct strobe_perf *perf)
{
    return (struct strobe_perf_shape){.has_chain = perf->access.has_kernel || !HAS_UNWINDER,
                                      .has_stack = HAS_UNWINDER};
}

uint32_t strobe_perf_n_cpus(const struct strobe_perf *perf)
{
    return perf->n_cpus;
}

/* ---- rounds ---- */

/* A descriptor whose threads have all ended is always ready: it is not waited for any more. */
bool strobe_perf_wait(struct strobe_perf *perf, uint64_t ns, int wake_fd)
{
    STROBE_ASSERT(perf->n_cpus && ns < 1ull << 40);
    perf->polled[perf->n_polled] = (struct pollfd){.fd = wake_fd, .events = POLLIN};
    if (poll(perf->polled, perf->n_polled + 1, (int)(ns / 1000000)) <= 0)
        return false;
    for (uint32_t i = 0; i < perf->n_polled; i++)
        if (perf->polled[i].revents & (POLLHUP | POLLERR | POLLNVAL))
            perf->polled[i].fd = -1;
    return true;
}

void strobe_perf_rest(struct strobe_perf *perf, uint64_t ns, int wake_fd)
{
    struct pollfd *wake = &perf->polled[perf->n_polled];
    *wake = (struct pollfd){.fd = wake_fd, .events = POLLIN};
    poll(wake, 1, (int)(ns / 1000000));
}

uint64_t strobe_perf_rest_ns(const struct strobe_perf *perf)
{
    uint64_t n_samples = perf->options.ring_bytes / (perf->stack_bytes + 256) / 2;
    return n_samples * 1000000000 / perf->options.hz;
}

uint64_t strobe_perf_pace_ns(const struct strobe_perf *perf, uint64_t ns)
{
    uint64_t pace = UINT64_MAX;
    for (uint32_t i = 0; i < RINGS * perf->n_cpus; i++) {
        const struct strobe_perf_ring *ring = &perf->cpus[i / RINGS].ring[i % RINGS];
        STROBE_ASSERT(ring->grown <= ring->n_bytes);
        double parts = ring->grown ? (double)ring->n_bytes * 3 / 8 / (double)ring->grown : 1e9;
        if (parts < 1e6 && (double)ns * parts < (double)pace)
            pace = (uint64_t)((double)ns * parts);
    }
    return pace;
}

bool strobe_perf_glance(struct strobe_perf *perf, struct strobe_perf_glance *out)
{
    STROBE_ASSERT(perf->n_cpus);
    for (uint32_t i = 0; i < perf->n_cpus; i++)
        while (strobe_perf_ring_glance(&perf->cpus[i].ring[0], out))
            if (out->is_sample || out->is_out)
                return true;
    return false;
}

void strobe_perf_begin_round(struct strobe_perf *perf)
{
    for (uint32_t i = 0; i < perf->n_cpus;
         i++) /* life first: it is never behind what it explains */
        strobe_perf_ring_begin(&perf->cpus[i].ring[0]);
    for (uint32_t i = 0; i < perf->n_cpus; i++) {
        strobe_perf_ring_begin(&perf->cpus[i].ring[2]);
        strobe_perf_ring_begin(&perf->cpus[i].ring[1]);
    }
}

bool strobe_perf_next(struct strobe_perf *perf, uint64_t until, struct strobe_perf_record *out)
{
    const struct strobe_perf_shape of_samples = strobe_perf_shape(perf),
                                   of_traces = {.has_chain = true, .trace = &perf->trace};
    for (;;) {
        struct strobe_perf_ring *first = NULL;
        bool is_trace = false;
        for (uint32_t i = 0; i < RINGS * perf->n_cpus; i++) {
            struct strobe_perf_ring *ring = &perf->cpus[i / RINGS].ring[i % RINGS];
            if (ring->has_next && (!first || ring->next_time < first->next_time)) {
                first = ring;
                is_trace = i % RINGS == 2;
            }
        }
        if (!first || first->next_time > until)
            return false;
        size_t n_bytes;
        const void *bytes = strobe_perf_ring_take(first, &n_bytes);
        if (bytes &&
            strobe_perf_record_read(bytes, n_bytes, is_trace ? &of_traces : &of_samples, out))
            return true;
        perf->n_bad++;
    }
}

void strobe_perf_end_round(struct strobe_perf *perf)
{
    for (uint32_t i = 0; i < RINGS * perf->n_cpus; i++)
        strobe_perf_ring_end(&perf->cpus[i / RINGS].ring[i % RINGS]);
}

uint64_t strobe_perf_n_bad(const struct strobe_perf *perf)
{
    return perf->n_bad;
}

uint64_t strobe_perf_n_lost(struct strobe_perf *perf, enum strobe_perf_role role)
{
    STROBE_ASSERT(role < STROBE_PERF_ROLES);
    uint64_t n = 0, counts[2]; /* value, lost */
    for (uint32_t i = 0; perf->access.has_lost && i < perf->n_events; i++)
        if (perf->events[i].role == role &&
            read(perf->events[i].fd, counts, sizeof counts) == sizeof counts)
            n += counts[1];
    return n;
}

static void stop_role(struct strobe_perf *perf, uint32_t roles)
{
    STROBE_ASSERT(roles && roles < 1u << STROBE_PERF_ROLES);
    for (uint32_t i = 0; i < perf->n_events; i++)
        if (roles & 1u << perf->events[i].role)
            ioctl(perf->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

void strobe_perf_stop_switches(struct strobe_perf *perf)
{
    perf->access.has_switches = false;
    stop_role(perf, 1u << STROBE_PERF_SWITCHES | 1u << STROBE_PERF_STATE | 1u << STROBE_PERF_WAKE);
}

void strobe_perf_stop(struct strobe_perf *perf)
{
    stop_role(perf, (1u << STROBE_PERF_ROLES) - 1);
}
