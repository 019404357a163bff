/* timer.c - stack samples where the kernel refuses perf events: each thread has a timer of its CPU time, whose signal walks the stack of
 * what it interrupted and emits it (docs/sampling.md, docs/design/README.md).
 *
 *   begin_thread    before main, in a new thread (pthread_create stands before the C library's), in a forked child
 *   on_expiry       the signal: one sample, and what is to be said of it, if anything (SAMPLE_GAP)
 *   end_thread      destructor of the thread's key, and of the library for whoever calls exit
 *
 * The kernel looks at such timers at its own tick alone, so the period is a tick at least. A thread's CPU time divided by the period is
 * what its samples and gaps add up to.
 *
 * The handler runs on the thread's alternate stack where it has one: programs with small stacks for their fibers (Go) have one. That may be
 * small too, and the kernel's frame takes most of it (3.6 KiB of the usual 8 with AVX-512), so the sample is taken on a stack that belongs to
 * the timer. It never waits for a lock that the interrupted code could hold, and never allocates.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "client/client.h"
#include "preload/note.h"
#include "preload/preload.h"
#include "strobe/strobe.h"

#define EXPORTED STROBE_PRELOAD_EXPORTED
#define NS       1000000000ull

enum {
    SLOTS = 4096,                         /* threads with a timer at once */
    FRAMES = STROBE_RECORD_WORDS_MAX - 3, /* of a sample */
    STACK = 64 << 10,                     /* that a sample is taken on */
    HANDLER = 1 << 10,                    /* what on_expiry needs beside the kernel's frame */
    PARAMETER = 0x73616d70,               /* of the record that says the rate */
};

/* A thread with a timer, or one that is about to begin. */
struct slot {
    int is_taken;
    int timer; /* the kernel's number; -1: none */
    void *(*run)(void *);
    void *argument;
    char *stack_end; /* of a stack that stays with the slot, STACK bytes; NULL: none yet */
};
static struct slot slots[SLOTS];

static STROBE_PRELOAD_TLS struct {
    struct slot *slot;  /* borrowed; NULL: it has no timer */
    uint64_t first_ns;  /* CPU time of the first sample */
    uint64_t n_periods; /* of its CPU time that a sample or a gap stands for */
    bool is_narrow;     /* its alternate stack has no room for a signal: the timer stands still */
    bool is_sampling;   /* it is on the timer's stack */
} self;

static uint64_t period_ns;
static int signal_number; /* 0: none is taken */
static int is_registered; /* the rate, with the recorder */
static pthread_key_t key;

static struct {
    int (*pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    sighandler_t (*signal)(int, sighandler_t);
} next;

static void find_next(void)
{
    next.signal = (sighandler_t(*)(int, sighandler_t))strobe_preload_next("signal");
    next.sigaction = strobe_preload_next("sigaction");
    __atomic_store_n(&next.pthread_create, strobe_preload_next("pthread_create"), __ATOMIC_RELEASE);
}

static void ready(void)
{
    if (!__atomic_load_n(&next.pthread_create, __ATOMIC_ACQUIRE))
        find_next();
}

/* ---- a thread's account ---- */

/* Periods of the thread's CPU time that are over. */
static uint64_t periods_now(void)
{
    struct timespec now;
    if (syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now))
        return self.n_periods;
    uint64_t ns = (uint64_t)now.tv_sec * NS + (uint64_t)now.tv_nsec;
    return ns < self.first_ns ? 0 : (ns - self.first_ns) / period_ns + 1;
}

/* Say that periods passed without a sample, or that the next sample lacks outer frames. What finds no room is said with the next one. */
static void emit_gap(uint64_t n_missed, bool is_cut)
{
    uint64_t words[] = {STROBE_RECORD_WORD(STROBE_KIND_SAMPLE_GAP, 3), n_missed, is_cut};
    if (strobe_client_emit(words, 3) == 1)
        self.n_periods += n_missed;
}

static void tell_rate(void)
{
    static const char name[] = "samples: a second of CPU time, by a timer in the program";
    uint64_t numbers[] = {PARAMETER, 0, NS / period_ns};
    if (!__atomic_exchange_n(&is_registered, 1, __ATOMIC_RELAXED))
        strobe_client_keep(STROBE_META_PARAMETER, numbers, 3, 1, name, sizeof name - 1);
}

/* ---- the signal ---- */

static struct strobe_preload_regs regs_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    const greg_t *regs = context->uc_mcontext.gregs;
    return (struct strobe_preload_regs){(uint64_t)regs[REG_RIP], (uint64_t)regs[REG_RSP],
                                        (uint64_t)regs[REG_RBP]};
#elif defined(__aarch64__)
    return (struct strobe_preload_regs){context->uc_mcontext.pc, context->uc_mcontext.sp,
                                        context->uc_mcontext.regs[29]};
#else
#error "timer.c does not know the registers of this machine"
#endif
}

static void take_sample(const ucontext_t *context)
{
    uint64_t words[STROBE_RECORD_WORDS_MAX], n_now = periods_now();
    struct strobe_preload_regs regs = regs_of(context);
    bool is_cut = true;
    if (n_now <= self.n_periods) /* a signal that was late: its period has its sample */
        return;
    words[3] = regs.pc;
    uint32_t n = strobe_preload_stack_of(&regs, words + 3, FRAMES, &is_cut);
    n = n ? n : 1;
    tell_rate();
    if (is_cut || n_now > self.n_periods + 1)
        emit_gap(n_now - self.n_periods - 1, is_cut);
    words[0] = STROBE_RECORD_WORD(STROBE_KIND_SAMPLE, 3 + n);
    words[1] = (uint64_t)sched_getcpu();
    words[2] = n;
    strobe_client_emit(words, 3 + n);
    self.n_periods++;
}

/* Take it on the stack that ends at `end`. Nothing is unwound through here: no exception is thrown, and signals are blocked. */
static void take_sample_on(char *end, const ucontext_t *context)
{
#if defined(__x86_64__)
    void (*run)(const ucontext_t *) = take_sample;
    __asm__ volatile("movq %%rsp, %%rbx\n\tmovq %[end], %%rsp\n\tcall *%[run]\n\tmovq %%rbx, %%rsp"
                     : "+D"(context), [end] "+S"(end), [run] "+a"(run)
                     :
                     : "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2",
                       "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                       "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
#else
    register const ucontext_t *first __asm__("x0") = context;
    register char *second __asm__("x1") = end;
    register void (*run)(const ucontext_t *) __asm__("x2") = take_sample;
    __asm__ volatile("mov x19, sp\n\tmov sp, %[end]\n\tblr %[run]\n\tmov sp, x19"
                     : "+r"(first), [end] "+r"(second), [run] "+r"(run)
                     :
                     : "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
                       "x15", "x16", "x17", "x19", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6",
                       "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17",
                       "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
                       "v29", "v30", "v31", "memory", "cc");
#endif
}

static void on_expiry(int number, siginfo_t *info, void *context)
{
    int before = errno;
    (void)number;
    if (self.slot && info->si_code == SI_TIMER && info->si_value.sival_ptr == self.slot) {
        strobe_preload_busy++;
        self.is_sampling = true;
        if (strobe_preload_records())
            take_sample_on(self.slot->stack_end, context);
        else if (!strobe_gate_now->active)
            self.n_periods = periods_now(); /* nobody records: nothing is missing */
        self.is_sampling = false;
        strobe_preload_busy--;
    }
    errno = before;
}

/* ---- a thread's begin and end ---- */

static struct slot *take_slot(void)
{
    static uint32_t last;
    for (uint32_t i = 0; i < SLOTS; i++) {
        struct slot *slot = &slots[__atomic_add_fetch(&last, 1, __ATOMIC_RELAXED) % SLOTS];
        int free = 0;
        if (__atomic_compare_exchange_n(&slot->is_taken, &free, 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            slot->timer = -1;
            return slot;
        }
    }
    return NULL;
}

static void give_slot_back(struct slot *slot)
{
    __atomic_store_n(&slot->is_taken, 0, __ATOMIC_RELEASE);
}

/* A stack between two pages that can't be touched: who looks from it at what lies behind it (ring/mend.c) looks no further. */
static bool make_stack(struct slot *slot)
{
    size_t page = getauxval(AT_PAGESZ);
    if (slot->stack_end)
        return true;
    long at = syscall(SYS_mmap, NULL, STACK + 2 * page, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
    if (at == -1)
        return false;
    if (syscall(SYS_mprotect, at + (long)page, STACK, PROT_READ | PROT_WRITE)) {
        syscall(SYS_munmap, at, STACK + 2 * page);
        return false;
    }
    slot->stack_end = (char *)at + page + STACK;
    return true;
}

static void drop_timer(struct slot *slot)
{
    int timer = __atomic_exchange_n(&slot->timer, -1, __ATOMIC_SEQ_CST);
    if (timer >= 0)
        syscall(SYS_timer_delete, timer);
}

/* The next sample comes after so long, 0: none does. */
static bool set_timer(int timer, uint64_t ns)
{
    struct itimerspec when = {.it_interval = {(time_t)(period_ns / NS), (long)(period_ns % NS)},
                              .it_value = {(time_t)(ns / NS), (long)(ns % NS)}};
    return !syscall(SYS_timer_settime, timer, 0, &when, NULL);
}

/* The first sample comes after a part of the period, by the thread's number: threads of one shape are not in step. */
static bool start_timer(struct slot *slot, int number, uint32_t tid)
{
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number, .sigev_value.sival_ptr = slot};
    struct timespec now;
    int timer;
    event._sigev_un._tid = (pid_t)tid;
    if (syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now) ||
        syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer))
        return false;
    __atomic_store_n(&slot->timer, timer, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&signal_number, __ATOMIC_SEQ_CST))
        return false; /* given up meanwhile: whoever does that may not have seen this timer */
    uint64_t phase_ns = 1 + (uint64_t)(tid * 0x9e3779b9u) * period_ns / (1ull << 32);
    self.first_ns = (uint64_t)now.tv_sec * NS + (uint64_t)now.tv_nsec + phase_ns;
    self.n_periods = 0;
    self.slot = slot;
    return set_timer(timer, self.is_narrow ? 0 : phase_ns);
}

static void begin_thread(struct slot *slot)
{
    int before = errno;
    strobe_preload_busy++;
    int number = __atomic_load_n(&signal_number, __ATOMIC_RELAXED);
    if (slot && number && make_stack(slot) &&
        start_timer(slot, number, (uint32_t)syscall(SYS_gettid))) {
        pthread_setspecific(key, slot);
    } else if (slot) {
        self.slot = NULL;
        drop_timer(slot);
        give_slot_back(slot);
    }
    strobe_preload_busy--;
    errno = before;
}

static void end_thread(void *context)
{
    struct slot *slot = context;
    int before = errno;
    if (!slot || self.slot != slot)
        return;
    strobe_preload_busy++;
    self.slot = NULL; /* a signal that is on its way finds nobody */
    drop_timer(slot);
    uint64_t n_now = periods_now();
    if (n_now > self.n_periods && strobe_preload_records()) {
        tell_rate();
        emit_gap(n_now - self.n_periods, false);
    }
    give_slot_back(slot);
    strobe_preload_busy--;
    errno = before;
}

static void *run_thread(void *context)
{
    struct slot *slot = context;
    void *(*run)(void *) = slot->run, *argument = slot->argument;
    begin_thread(slot);
    void *volatile result = run(argument); /* no tail call: stacks end here */
    return result;
}

EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                            void *(*run)(void *), void *argument)
{
    ready();
    struct slot *slot = __atomic_load_n(&signal_number, __ATOMIC_RELAXED) ? take_slot() : NULL;
    if (!slot)
        return next.pthread_create(thread, attributes, run, argument);
    slot->run = run;
    slot->argument = argument;
    int error = next.pthread_create(thread, attributes, run_thread, slot);
    if (error)
        give_slot_back(slot);
    return error;
}

/* ---- the program's own signals ---- */

/* The program wants the signal for itself: it is its own from now on. What a timer sent before and nobody got yet, since it is blocked, must
 * not come to the program: before Linux 6.13 it outlives its timer, and by default it ends the process. To ignore a signal discards it. */
static void give_up(void)
{
    const struct sigaction ignored = {.sa_handler = SIG_IGN};
    static const char text[] = "the program uses the signal of the sampler's timers itself: there "
                               "are no samples from here on";
    int before = errno, number = __atomic_exchange_n(&signal_number, 0, __ATOMIC_SEQ_CST);
    if (!number)
        return;
    for (int i = 0; i < SLOTS; i++)
        if (__atomic_load_n(&slots[i].is_taken, __ATOMIC_ACQUIRE))
            drop_timer(&slots[i]);
    next.sigaction(number, &ignored, NULL);
    strobe_preload_busy++;
    strobe_message(STROBE_WARNING, 0, text, sizeof text - 1);
    strobe_preload_busy--;
    errno = before;
}

EXPORTED int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    ready();
    bool is_ours = number && number == __atomic_load_n(&signal_number, __ATOMIC_RELAXED);
    if (is_ours && action)
        give_up();
    int result = next.sigaction(number, action, old);
    if (is_ours && !result && old)
        *old = (struct sigaction){.sa_handler = SIG_DFL};
    return result;
}

EXPORTED sighandler_t signal(int number, sighandler_t handler)
{
    ready();
    bool is_ours = number && number == __atomic_load_n(&signal_number, __ATOMIC_RELAXED);
    if (is_ours)
        give_up();
    sighandler_t old = next.signal(number, handler);
    return is_ours && old != SIG_ERR ? SIG_DFL : old;
}

/* ---- alternate stacks ---- */

static void stand_still(bool is_narrow)
{
    int before = errno, number = __atomic_load_n(&signal_number, __ATOMIC_SEQ_CST);
    int timer = self.slot ? __atomic_load_n(&self.slot->timer, __ATOMIC_SEQ_CST) : -1;
    if (number && timer >= 0 && is_narrow != self.is_narrow) {
        const struct timespec now = {0};
        uint64_t set = 1ull << (number - 1);
        set_timer(timer, is_narrow ? 0 : period_ns);
        if (is_narrow) /* one may wait, as the program has it blocked */
            syscall(SYS_rt_sigtimedwait, &set, NULL, &now, sizeof set);
    }
    self.is_narrow = is_narrow;
    errno = before;
}

/* The kernel ends a program whose alternate stack has no room for the frame of a signal, and takes stacks that are so small. A thread with
 * one has no samples: its time is missed and counted. */
EXPORTED int sigaltstack(const stack_t *stack, stack_t *old)
{
    unsigned long frame = getauxval(AT_MINSIGSTKSZ);
    bool was_narrow = self.is_narrow, is_narrow = false;
    if (stack && !(stack->ss_flags & SS_DISABLE))
        is_narrow = stack->ss_size < (frame ? frame : 2048) + HANDLER;
    if (is_narrow)
        stand_still(true);
    int result = (int)syscall(SYS_sigaltstack, stack, old);
    if (stack)
        stand_still(result ? was_narrow : is_narrow);
    else if (!result && old && self.is_sampling)
        old->ss_flags |= SS_ONSTACK; /* the client asks: on such a stack it never waits */
    return result;
}

/* ---- the process ---- */

/* The last of the real-time signals that nobody uses. 0: all are used. */
static int take_signal(void)
{
    struct sigaction ours = {.sa_sigaction = on_expiry,
                             .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    struct sigaction old;
    sigfillset(&ours.sa_mask);
    for (int number = SIGRTMAX - 1; number > SIGRTMIN; number--)
        if (!next.sigaction(number, NULL, &old) && old.sa_handler == SIG_DFL)
            return next.sigaction(number, &ours, NULL) ? 0 : number;
    return 0;
}

void strobe_preload_timers(void)
{
    struct timespec tick;
    uint32_t hz = strobe_preload_wants.sample_hz;
    ready();
    if (!hz || clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || pthread_key_create(&key, end_thread))
        return;
    uint64_t tick_ns = (uint64_t)tick.tv_sec * NS + (uint64_t)tick.tv_nsec;
    period_ns = NS / hz > tick_ns ? NS / hz : tick_ns;
    __atomic_store_n(&signal_number, take_signal(), __ATOMIC_RELAXED);
    begin_thread(take_slot());
}

void strobe_preload_timers_forked(void)
{
    if (!signal_number)
        return;
    for (int i = 0; i < SLOTS;
         i++) /* their timers are the parent's; stacks are for the next ones */
        slots[i] = (struct slot){.stack_end = slots[i].stack_end};
    is_registered = 0;
    self.slot = NULL;
    begin_thread(take_slot());
}

static __attribute__((destructor)) void leave(void)
{
    end_thread(self.slot);
}
