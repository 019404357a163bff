/* source.c - see source.h. A round: both clocks are read, the buffers' ends are seen, and all records up to the time of the round
 * before are taken in the order of time; what is younger may still lack a record of another processor.
 * SPDX-License-Identifier: MIT */
#include "sample/source.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "sample/addresses.h"
#include "sample/life.h"
#include "sample/probe_kernel.h"
#include "sample/perf.h"
#include "sample/symbolize.h"

enum { BUDGET_BYTES = 8 << 20, SWITCHES_MAX = 20000, PROMPT_NICE = -15 };
#define WAIT_NS   100000000ull  /* between two rounds: being woken costs more than ten samples */
#define SLOW_NS   250000000ull  /* likewise, while the buffers fill slowly */
#define FAST_NS   5000000ull    /* likewise, however fast they fill */
#define QUICK_NS  40000000ull   /* likewise, while there is something to be found out soon */
#define SOON_NS   300000000ull  /* for so long behind a thread that is new */
#define GLANCE_NS 1000000ull    /* between two glances at the buffers, where a Python is */
#define FLUSH_NS  1000000000ull /* a block costs some hundred bytes, however few samples are in it */
#define SECOND_NS 1000000000ull
#define SLICE_NS  100000ull /* the shortest there is */

struct strobe_sampler {
    struct strobe_sampler_options options;
    struct strobe_build_store *store;   /* owned */
    struct strobe_perf *perf;           /* owned */
    struct strobe_probe_kernel *probes; /* owned; NULL: none are set */
    uint32_t n_probes;                  /* places that are */
    int probe_error;                    /* errno of the one that is not */
    struct strobe_sample_clock clock;
    struct strobe_life life;
    uint64_t until;                   /* RAW time of the round before */
    uint64_t flushed_ns;              /* mono */
    uint64_t round_ns;                /* mono: of the last round */
    uint64_t pace_ns;                 /* by how fast the buffers fill */
    uint64_t quick_until_ns, n_asked; /* mono; threads that the kernel was asked to watch */
    uint64_t rate_ns;                 /* when the rate of switches was looked at */
    uint64_t first_tick, told_lost, told_reasons;
    struct strobe_life_counts told; /* what is in the trace's losses already */
    bool switches_off, has_stopped;
    uint64_t n_lost;
    int wake_fd; /* owned: the recorder wants something */
    pthread_t thread;
    bool runs;
    pthread_mutex_t lock; /* guards all but options; held during a round */
    bool stop, paused;
};

int strobe_sampler_probe(uint32_t pid, bool *has_kernel)
{
    return strobe_perf_probe(pid, has_kernel);
}

/* ---- losses ---- */

static void lose(struct strobe_sampler *s, uint32_t cause, uint64_t now, uint64_t *told)
{
    STROBE_ASSERT(now >= *told);
    if (now == *told)
        return;
    strobe_build_store_lose(s->store, 0, 0, cause, now - *told, s->first_tick,
                            strobe_sample_clock_now(&s->clock));
    *told = now;
}

/* Say in the trace what was lost since the last time. */
static void tell_losses(struct strobe_sampler *s)
{
    STROBE_ASSERT(s->perf && s->store);
    const struct strobe_life_counts *counts = &s->life.counts;
    bool is_exact = strobe_perf_access(s->perf)->has_lost;
    uint64_t n_lost = is_exact ? strobe_perf_n_lost(s->perf, STROBE_PERF_CLOCK) +
                                     strobe_perf_n_lost(s->perf, STROBE_PERF_SWITCHES) +
                                     strobe_perf_n_lost(s->perf, STROBE_PERF_LIFE) +
                                     strobe_perf_n_lost(s->perf, STROBE_PERF_ENTER) +
                                     strobe_perf_n_lost(s->perf, STROBE_PERF_PROBE) +
                                     strobe_perf_n_lost(s->perf, STROBE_PERF_RETURN)
                               : counts->n_lost_told;
    if (n_lost > s->n_lost)
        s->n_lost = n_lost;
    lose(s, STROBE_LOSS_SAMPLE_FULL, s->n_lost + strobe_perf_n_bad(s->perf), &s->told_lost);
    uint64_t n_reasons = is_exact ? strobe_perf_n_lost(s->perf, STROBE_PERF_STATE) : 0;
    if (strobe_perf_access(s->perf)->has_wakes)
        lose(s, STROBE_LOSS_REASONS_FULL, n_reasons + counts->n_unwoken, &s->told_reasons);
    lose(s, STROBE_LOSS_THROTTLED, counts->n_throttled, &s->told.n_throttled);
    lose(s, STROBE_LOSS_REFUSED, counts->n_refused, &s->told.n_refused);
}

/* ---- rounds ---- */

/* The most switches out of one processor since the last look. */
static uint64_t most_switches(struct strobe_sampler *s)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < STROBE_LIFE_CPUS; i++) {
        uint64_t n = s->life.counts.n_out_of_cpu[i];
        STROBE_ASSERT(n >= s->told.n_out_of_cpu[i]);
        most = n - s->told.n_out_of_cpu[i] > most ? n - s->told.n_out_of_cpu[i] : most;
        s->told.n_out_of_cpu[i] = n;
    }
    return most;
}

/* Records of switches cost the program; above a rate they are turned off for good. */
static void watch_switches(struct strobe_sampler *s, uint64_t now_ns)
{
    STROBE_ASSERT(now_ns >= s->rate_ns);
    uint64_t span = now_ns - s->rate_ns;
    uint64_t limit = s->options.switches_max ? s->options.switches_max : SWITCHES_MAX;
    if (s->switches_off || span < SECOND_NS / 4)
        return;
    if (most_switches(s) > limit * span / SECOND_NS) {
        uint64_t none = 0;
        strobe_perf_stop_switches(s->perf);
        s->switches_off = true;
        s->life.gap_ns = UINT64_MAX;
        lose(s, STROBE_LOSS_SWITCHES_OFF, 1, &none);
    }
    s->rate_ns = now_ns;
}

static void take_records(struct strobe_sampler *s, uint64_t until)
{
    struct strobe_perf_record record;
    strobe_perf_begin_round(s->perf);
    while (strobe_perf_next(s->perf, until, &record))
        strobe_life_take(&s->life, &record);
    strobe_perf_end_round(s->perf);
}

static void flush(struct strobe_sampler *s)
{
    STROBE_ASSERT(s->store);
    strobe_life_flush(&s->life);
    tell_losses(s);
    strobe_build_store_flush(s->store);
    s->flushed_ns = strobe_clock_mono_ns();
}

static void do_round(struct strobe_sampler *s)
{
    STROBE_ASSERT(!s->paused || s->stop);
    uint64_t raw = strobe_sample_clock_read(&s->clock), now = strobe_clock_mono_ns();
    take_records(s, s->until);
    strobe_life_ask(&s->life);
    strobe_life_read_clocks(&s->life);
    strobe_py_watch_forget(s->life.python, s->until);
    s->until = raw;
    s->pace_ns = strobe_perf_pace_ns(s->perf, now - s->round_ns);
    s->round_ns = now;
    if (s->life.python->n_asked !=
        s->n_asked) /* a new thread has no Python frames until it is answered */
        s->quick_until_ns = now + SOON_NS > s->quick_until_ns ? now + SOON_NS : s->quick_until_ns;
    s->n_asked = s->life.python->n_asked;
    watch_switches(s, now);
    if (now - s->flushed_ns >= FLUSH_NS)
        flush(s);
}

/* Frames of Python are read soon after the sample, long before its turn comes. */
static void glance(struct strobe_sampler *s)
{
    struct strobe_perf_glance seen;
    if (!strobe_life_has_python(&s->life))
        return;
    while (strobe_perf_glance(s->perf, &seen))
        strobe_life_glance(&s->life, &seen);
    strobe_life_shoot(&s->life);
}

/* Between two rounds. */
static uint64_t pace_ns(const struct strobe_sampler *s)
{
    /* nobody is woken by a buffer that fills while the sampler rests */
    uint64_t rest_ns = s->options.is_prompt ? strobe_perf_rest_ns(s->perf) : s->pace_ns;
    uint64_t most = strobe_clock_mono_ns() < s->quick_until_ns ? QUICK_NS
                    : s->options.is_prompt                     ? WAIT_NS
                                                               : SLOW_NS;
    return rest_ns < FAST_NS ? FAST_NS : rest_ns < most ? rest_ns : most;
}

/* Until a round or a glance is due. True: a round is, whatever the time. */
static bool wait_for_records(struct strobe_sampler *s, bool has_python)
{
    if (!s->options.is_prompt)
        return strobe_perf_wait(s->perf, has_python ? GLANCE_NS : pace_ns(s), s->wake_fd);
    if (has_python) {
        strobe_perf_wait(s->perf, pace_ns(s), s->wake_fd);
        return false;
    }
    strobe_perf_rest(s->perf, pace_ns(s), s->wake_fd);
    return true;
}

/* What sched_setattr takes; not every C library has it. */
struct slice {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

/* The scheduler prefers who wakes up and asks for a short time over who has a long one (Linux 6.12; before that it has no effect). No
 * privilege is needed. */
static void ask_for_short_slices(void)
{
    struct slice slice = {.size = sizeof slice};
    if (syscall(SYS_sched_getattr, 0, &slice, sizeof slice, 0))
        return;
    slice.size = sizeof slice;
    slice.runtime = SLICE_NS;
    syscall(SYS_sched_setattr, 0, &slice, 0); /* where it is refused, all stays as it is */
}

/* Soon after a sample its thread is still where it was: this thread, which sleeps nearly always, goes before others where that is
 * allowed (root), else as early as it may. */
static void hurry(void)
{
    struct sched_param first = {.sched_priority = 1};
    if (!sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first))
        return;
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), PROMPT_NICE);
    ask_for_short_slices();
}

static void *run(void *context)
{
    struct strobe_sampler *s = context;
    if (s->options.is_prompt)
        hurry();
    for (bool has_python = false;;) {
        bool is_due = wait_for_records(s, has_python);
        pthread_mutex_lock(&s->lock);
        bool stop = s->stop;
        if (!stop)
            glance(s);
        if (!stop && !s->paused &&
            (is_due || strobe_clock_mono_ns() - s->round_ns + GLANCE_NS >= pace_ns(s)))
            do_round(s);
        has_python = strobe_life_has_python(&s->life);
        pthread_mutex_unlock(&s->lock);
        if (stop)
            return NULL;
    }
}

/* ---- open ---- */

static bool start_thread(struct strobe_sampler *s)
{
    STROBE_ASSERT(!s->runs && s->perf);
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    s->runs = !pthread_create(&s->thread, NULL, run, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return s->runs;
}

static void free_all(struct strobe_sampler *s)
{
    strobe_probe_kernel_close(s->probes);
    strobe_perf_close(s->perf);
    strobe_life_free(&s->life);
    strobe_build_store_close(s->store);
    if (s->wake_fd >= 0)
        close(s->wake_fd);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void set_clock(struct strobe_sampler *s)
{
    s->clock.is_mono = s->options.is_mono;
    s->until = strobe_sample_clock_read(&s->clock);
    s->first_tick = strobe_sample_clock_now(&s->clock);
    while (s->clock.n < 2)
        strobe_sample_clock_read(&s->clock);
    s->flushed_ns = s->rate_ns = s->round_ns = strobe_clock_mono_ns();
    s->pace_ns = QUICK_NS;
    s->quick_until_ns = s->rate_ns + SECOND_NS;
}

/* The kernel's events, with what reads Python's frames in it where it allows that: then nobody is woken with each sample. */
static enum strobe_err open_perf(struct strobe_sampler *s, int *system_error)
{
    const struct strobe_sampler_options *options = &s->options;
    struct strobe_py_kernel *kernel = NULL;
    STROBE_ASSERT(!s->perf);
    if (strobe_py_kernel_open(&kernel))
        kernel = NULL;
    if (options->probes && options->probes->n && strobe_probe_kernel_open(&s->probes)) {
        s->probes = NULL;
        s->probe_error = EPERM;
    }
    for (;;) {
        struct strobe_perf_options perf = {.hz = options->hz,
                                           .pid = options->pid,
                                           .is_running = options->is_running,
                                           .has_waits = options->has_waits,
                                           .has_syscalls = options->has_syscalls,
                                           .is_prompt = options->is_prompt && !kernel,
                                           .ring_bytes = options->ring_bytes,
                                           .python = kernel,
                                           .probes = s->probes};
        enum strobe_err err = strobe_perf_open(&perf, &s->perf, system_error);
        if (!err && kernel && strobe_perf_access(s->perf)->has_python) {
            s->options.is_prompt = false;
            s->life.python->kernel = kernel;
            return STROBE_OK;
        }
        strobe_py_kernel_close(kernel);
        if (err || !kernel)
            return err;
        kernel = NULL; /* without it, then */
        strobe_perf_close(s->perf);
        s->perf = NULL;
    }
}

/* Probes in the code of the process, when their records have somewhere to go. */
static void set_probes(struct strobe_sampler *s)
{
    if (!s->probes || !strobe_perf_access(s->perf)->has_probes)
        return;
    s->n_probes = strobe_probe_kernel_set(s->probes, s->options.probes, s->options.pid,
                                          s->options.is_running, &s->probe_error);
    s->life.probes = s->options.probes;
    s->life.has_zones |= s->n_probes != 0;
}

enum strobe_err strobe_sampler_open(const struct strobe_sampler_options *options,
                                    struct strobe_sampler **out, int *system_error)
{
    struct strobe_sampler *s = calloc(1, sizeof *s);
    *system_error = ENOMEM;
    if (!s)
        return STROBE_ERR_NOMEM;
    s->options = *options;
    s->options.store.budget_bytes = BUDGET_BYTES;
    pthread_mutex_init(&s->lock, NULL);
    set_clock(s);
    s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    enum strobe_err err = s->wake_fd < 0 ? STROBE_ERR_LIMIT : STROBE_OK;
    if (!err && !(err = strobe_build_store_open(&s->options.store, &s->store)))
        err = strobe_life_init(&s->life, s->store, &s->clock);
    if (!err)
        err = open_perf(s, system_error);
    if (err) {
        free_all(s);
        return err;
    }
    s->life.hz = options->hz;
    s->life.has_zones = strobe_perf_access(s->perf)->has_syscalls;
    set_probes(s);
    s->life.python->late_max_ns = s->options.is_prompt ? STROBE_PY_PROMPT_NS : STROBE_PY_LATE_NS;
    s->life.has_kernel = strobe_perf_access(s->perf)->has_kernel;
    s->life.has_turns = strobe_perf_access(s->perf)->has_switches;
    if (strobe_perf_access(s->perf)->has_states) /* 0.1 s that a round does not have */
        strobe_blocked_read(&s->life.blocked, "/proc/kallsyms");
    if (options->is_running)
        strobe_life_attach(&s->life, options->pid);
    else
        strobe_life_begin(&s->life, options->pid);
    uint64_t none = 0;
    lose(s, STROBE_LOSS_UNSAMPLED, strobe_perf_access(s->perf)->n_missed, &none);
    if (!start_thread(s)) {
        free_all(s);
        return STROBE_ERR_NOMEM;
    }
    *out = s;
    return STROBE_OK;
}

/* ---- what the recorder calls ---- */

struct strobe_sampler_status strobe_sampler_status(struct strobe_sampler *s)
{
    pthread_mutex_lock(&s->lock);
    const struct strobe_perf_access *access = strobe_perf_access(s->perf);
    struct strobe_sampler_status status = {
        .n_samples = s->life.counts.n_samples,
        .n_switches = s->life.counts.n_switches,
        .n_calls = s->life.counts.n_calls,
        .n_probed = s->life.counts.n_probed,
        .n_probes = s->n_probes,
        .probe_error = s->probe_error,
        .has_syscalls = access->has_syscalls,
        .n_lost = s->n_lost,
        .n_cut = s->life.counts.n_cut,
        .n_processes = s->life.counts.n_processes,
        .n_threads = s->life.counts.n_tracks,
        .n_missed = access->n_missed,
        .has_kernel = access->has_kernel,
        .switches_off = s->switches_off,
    };
    pthread_mutex_unlock(&s->lock);
    return status;
}

uint64_t strobe_sampler_n_begun(const struct strobe_sampler *s)
{
    return 1 + __atomic_load_n(&s->life.counts.n_begun, __ATOMIC_RELAXED);
}

bool strobe_sampler_is_over(struct strobe_sampler *s)
{
    pthread_mutex_lock(&s->lock);
    bool is_over = strobe_life_is_over(&s->life, s->options.pid);
    pthread_mutex_unlock(&s->lock);
    return is_over;
}

void strobe_sampler_exit_status(struct strobe_sampler *s, uint32_t pid, int status)
{
    pthread_mutex_lock(&s->lock);
    strobe_life_exit_status(&s->life, pid, status);
    pthread_mutex_unlock(&s->lock);
}

static void flush_all(struct strobe_sampler *s, bool pause)
{
    pthread_mutex_lock(&s->lock);
    do_round(s);
    flush(s);
    s->paused = pause;
    pthread_mutex_unlock(&s->lock);
}

void strobe_sampler_flush(struct strobe_sampler *s)
{
    flush_all(s, false);
}

void strobe_sampler_pause(struct strobe_sampler *s)
{
    flush_all(s, true);
}

void strobe_sampler_go_on(struct strobe_sampler *s, struct strobe_file_writer *writer)
{
    pthread_mutex_lock(&s->lock);
    STROBE_ASSERT(s->paused);
    strobe_build_store_set_writer(s->store, writer);
    s->paused = false;
    pthread_mutex_unlock(&s->lock);
}

/* ---- the end ---- */

void strobe_sampler_stop(struct strobe_sampler *s)
{
    STROBE_ASSERT(s->runs && s->perf);
    uint64_t one = 1;
    if (s->has_stopped)
        return;
    pthread_mutex_lock(&s->lock);
    s->stop = s->has_stopped = true;
    pthread_mutex_unlock(&s->lock);
    if (write(s->wake_fd, &one, sizeof one) < 0) /* then it ends with its next round */
        STROBE_ASSERT(errno == EAGAIN);
    pthread_join(s->thread, NULL);
    strobe_probe_kernel_close(s->probes);
    s->probes = NULL;
    strobe_perf_stop(s->perf);
    strobe_sample_clock_read(&s->clock);
    take_records(s, UINT64_MAX);
    strobe_life_end(&s->life);
    flush(s);
}

void strobe_sampler_take(struct strobe_sampler *s, struct strobe_addresses *addresses)
{
    STROBE_ASSERT(s->has_stopped);
    strobe_addresses_move(addresses, &s->life.wanted, &s->life.modules);
}

void strobe_sampler_close(struct strobe_sampler *s)
{
    if (!s)
        return;
    strobe_sampler_stop(s);
    if (!s->options.no_names)
        strobe_symbolize_run(s->store, &s->life.wanted, &s->life.modules);
    free_all(s);
}
