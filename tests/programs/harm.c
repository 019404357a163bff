/* harm.c - what a program may do to itself while it emits; it must never feel the library.
 *   harm emit N          N zones
 *   harm fork N          no file may grow any more, then a fork: the child emits N zones
 *   harm nomap N         no memory can be mapped any more: N zones, then N with memory again
 *   harm cancel          a thread with a pending cancel makes the process's first event, once somebody records
 *   harm cancel-any N    N threads are cancelled wherever they are (asynchronously)
 *   harm jump            a handler jumps out of an emit after each of its instructions
 *   harm stop            a handler emits on and on after each instruction of an emit, and returns
 *   harm jump-asleep N   a handler jumps out of N emits that wait for room
 *   harm exhausted N     no descriptor is left: N zones
 *   harm nofiles N       forks under limits of 0 to 3 descriptors: each child emits N zones
 *   harm small N         N threads with the smallest stack there is
 *   harm drought N       N zones that are open when the room is used up end before there is some again; the recorder, its
 *                        parent, is stopped meanwhile
 * Prints how many events it emitted: completed, and for `jump` those that were left.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "strobe/strobe.h"

static void nap(void)
{
    const struct timespec ms = {0, 1000000};
    nanosleep(&ms, NULL);
}

/* Fields of the control page (src/wire/ring_layout.h), of which the gate is a part. */
static uint32_t control_field(size_t offset)
{
    return *(const volatile uint32_t *)((const volatile char *)strobe_gate_now - 64 + offset);
}

static uint32_t n_waiting(void)
{
    return control_field(136);
}

#if defined(__x86_64__)
static uint32_t holes_used(void)
{
    return control_field(236);
}
#endif

static void emit(long n)
{
    errno = EDOM;
    for (long i = 0; i < n; i++) {
        STROBE_SCOPE("harm");
    }
    if (errno != EDOM)
        _exit(9);
}

static void limit(int what, rlim_t soft)
{
    struct rlimit now;
    getrlimit(what, &now);
    now.rlim_cur = soft < now.rlim_max ? soft : now.rlim_max;
    setrlimit(what, &now);
}

/* ---- limits ---- */

static int after_fork(long n)
{
    int status;
    emit(n);
    limit(RLIMIT_FSIZE, 0);
    pid_t child = fork();
    if (!child) {
        emit(n);
        _exit(0);
    }
    waitpid(child, &status, 0);
    limit(RLIMIT_FSIZE, RLIM_INFINITY);
    printf("%ld\n", n);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int without_maps(long n)
{
    limit(RLIMIT_AS, 1);
    emit(n);
    limit(RLIMIT_AS, RLIM_INFINITY);
    nap(); /* what a thread found holds for a moment */
    emit(n);
    printf("%ld\n", 2 * n);
    return 0;
}

static void zones_of(struct strobe_loc *loc, long n)
{
    for (long i = 0; i < n; i++) {
        struct strobe_zone zone = strobe_zone_begin(loc);
        strobe_zone_end(&zone);
    }
}

static long fill_room(struct strobe_loc *loc)
{
    struct strobe_zone zone;
    long n = 0;
    do {
        zone = strobe_zone_begin(loc);
        strobe_zone_end(&zone);
        n++;
    } while (strobe_zone_is_emitted(&zone));
    return n;
}

/* The room that comes back is noticed by the first zone that is stored. */
static long wait_for_room(struct strobe_loc *loc)
{
    struct strobe_zone zone;
    long n = 0;
    do {
        nap();
        zone = strobe_zone_begin(loc);
        strobe_zone_end(&zone);
        n++;
    } while (!strobe_zone_is_emitted(&zone));
    return n;
}

static int end_in_a_drought(long depth)
{
    enum { DEPTH_MAX = 1000, AFTER = 100 };
    static struct strobe_loc outer = {0, "outer", "", "", 1, 0}, open = {0, "open", "", "", 2, 0},
                             fill = {0, "fill", "", "", 3, 0}, after = {0, "after", "", "", 4, 0};
    struct strobe_zone zones[DEPTH_MAX], whole = strobe_zone_begin(&outer);
    zones_of(&fill, 1);
    zones_of(&after, 1);
    for (long i = 0; i < depth; i++)
        zones[i] = strobe_zone_begin(&open);
    kill(getppid(), SIGSTOP);
    long n = fill_room(&fill);
    for (long i = depth - 1; i >= 0; i--)
        strobe_zone_end(&zones[i]);
    for (int i = 0; i < 50; i++)
        nap();
    kill(getppid(), SIGCONT);
    n += wait_for_room(&after);
    zones_of(&after, AFTER);
    strobe_zone_end(&whole);
    printf("%ld\n", 2 * (n + 1 + 2 + depth + AFTER));
    return 0;
}

static int forks_without_files(long n)
{
    int status, bad = 0;
    emit(n);
    for (rlim_t files = 0; files < 4; files++) {
        limit(RLIMIT_NOFILE, files);
        pid_t child = fork();
        if (!child) {
            emit(n);
            _exit(0);
        }
        waitpid(child, &status, 0);
        bad |= status;
    }
    return bad != 0;
}

static int without_files(long n)
{
    while (open("/dev/null", O_RDONLY) >= 0)
        ;
    while (!strobe_recording())
        nap();
    emit(n);
    return 0;
}

static void *small(void *n)
{
    strobe_set_thread_name("with a small stack");
    emit((long)(intptr_t)n);
    strobe_messagef(STROBE_INFO, 0, "%d", 7);
    return NULL;
}

static int small_stacks(long n)
{
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    if (pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN))
        return 1;
    for (long i = 0; i < n; i++) {
        if (pthread_create(&thread, &attr, small, (void *)(intptr_t)1000))
            return 1;
        pthread_join(thread, NULL);
    }
    printf("%ld\n", 1000 * n);
    return 0;
}

/* ---- cancellation ---- */

static void *cancelled(void *unused)
{
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    while (!strobe_recording())
        nap();
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    emit(1);
    pthread_testcancel();
    return unused;
}

static int pending_cancel(void)
{
    pthread_t thread;
    void *result = NULL;
    puts("ready");
    fflush(stdout);
    pthread_create(&thread, NULL, cancelled, NULL);
    pthread_join(thread, &result);
    emit(1000);
    printf("%d\n", 1001);
    return result != PTHREAD_CANCELED;
}

static int n_rounds; /* atomic */

static void *emit_for_ever(void *unused)
{
    int old;
    char name[32];
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    for (unsigned i = 0;; i++) {
        name[0] = (char)('a' + i % 26);
        name[1] = (char)('a' + i / 26 % 26);
        struct strobe_zone zone = strobe_zone_begin_at("f", i, NULL, name, 2, 0);
        strobe_zone_end(&zone);
        __atomic_add_fetch(&n_rounds, 1, __ATOMIC_RELAXED);
    }
    return unused;
}

static int cancel_anywhere(long n)
{
    pthread_t thread;
    for (long i = 0; i < n; i++) {
        int before = __atomic_load_n(&n_rounds, __ATOMIC_RELAXED);
        pthread_create(&thread, NULL, emit_for_ever, NULL);
        while (__atomic_load_n(&n_rounds, __ATOMIC_RELAXED) < before + 10 + i % 7)
            ;
        pthread_cancel(thread);
        pthread_join(thread, NULL);
        emit(1);
    }
    printf("%ld\n", n);
    return 0;
}

/* ---- jumping out, one instruction at a time ---- */

#if defined(__x86_64__)
enum { STEPS = 40, TRAP_FLAG = 0x100 };
static sigjmp_buf out;
static volatile int steps_left, jumps;
static volatile uint64_t cursor_before;
static volatile long n_left, n_landed, n_pending, n_zones;

/* The word that the interrupted emit took: 0 it took none yet, 1 not written, 2 written. */
static int word_state(void)
{
    const uint64_t *word = (const uint64_t *)(uintptr_t)(cursor_before >> 16);
    return strobe_hot_now->cursor == cursor_before ? 0 : !*word ? 1 : 2;
}

/* Until the recorder asks, or has what it asked for; meanwhile the slow way to emit is taken again and again. */
static void wait_for_holes(int wanted)
{
    static struct strobe_loc loc = {0, "slow", "", "", 0, 0};
    for (int i = 0; i < 30000 && !holes_used() != !wanted; i++) {
        strobe_zone_begin_past(&loc, strobe_clock_now());
        struct strobe_zone zone = {&loc, loc.word, strobe_gate_now, 1};
        strobe_zone_end(&zone);
        n_zones++;
        nap();
    }
}

static void on_step(int number, siginfo_t *info, void *context)
{
    ucontext_t *at = context;
    (void)number, (void)info;
    if (--steps_left > 0)
        return;
    at->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    int state = word_state();
    if (jumps) {
        n_left += state == 1;
        n_landed += state == 2;
        siglongjmp(out, 1);
    }
    emit(1);
    n_zones++;
    if (state != 1)
        return;
    n_pending++;
    wait_for_holes(
        1); /* the recorder asks for the word, and the slow paths to come answer nothing */
    emit(20000);
    n_zones += 20000;
}

static int step_through(int may_jump)
{
    static struct strobe_loc loc = {0, "stepped", "", "", 0, 0};
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    volatile long n_begun = 0, n_ended = 0, n_mended = 0;
    jumps = may_jump;
    sigaction(SIGTRAP, &action, NULL);
    struct strobe_zone zone = strobe_zone_begin(&loc); /* named, and its segment has room */
    strobe_zone_end(&zone);
    for (int k = 1; k < STEPS; k++) {
        do { /* the steps stay in the inline path: its segment has room */
            emit(1);
            n_zones++;
        } while ((int16_t)strobe_hot_now->cursor < 16);
        steps_left = k;
        cursor_before = strobe_hot_now->cursor;
        if (!sigsetjmp(out, 1)) {
            __asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
            zone = strobe_zone_begin(&loc);
            __asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
            n_begun++;
            strobe_zone_end(&zone);
            n_ended++;
        }
        emit(1);
        n_zones++;
        if (n_left > n_mended) {
            wait_for_holes(1);
            wait_for_holes(0);
            n_mended = n_left;
        }
    }
    printf("%ld %ld %ld\n", 2 + 2 * n_zones + n_begun + n_ended + n_landed, n_left, n_pending);
    return 0;
}
#endif

/* ---- jumping out of a sleep ---- */

static sigjmp_buf awake;
static volatile sig_atomic_t may_jump;

static void on_alarm(int number)
{
    (void)number;
    if (may_jump && n_waiting())
        siglongjmp(awake, 1);
}

static int jump_asleep(long n)
{
    struct itimerval every_ms = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_alarm};
    volatile long jumped = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every_ms, NULL);
    while (jumped < n) {
        if (sigsetjmp(awake, 1)) {
            jumped++;
            continue;
        }
        may_jump = 1;
        emit(100);
        may_jump = 0;
    }
    may_jump = 0;
    setitimer(ITIMER_REAL, &never, NULL);
    for (int i = 0; i < 30000 && n_waiting(); i++) {
        emit(10000);
        nap();
    }
    printf("%u\n", n_waiting());
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    long n = argc > 2 ? atol(argv[2]) : 1;
    if (!strcmp(what, "emit")) {
        emit(n);
        return 0;
    }
    if (!strcmp(what, "fork"))
        return after_fork(n);
    if (!strcmp(what, "nomap"))
        return without_maps(n);
    if (!strcmp(what, "drought"))
        return end_in_a_drought(n);
    if (!strcmp(what, "exhausted"))
        return without_files(n);
    if (!strcmp(what, "nofiles"))
        return forks_without_files(n);
    if (!strcmp(what, "small"))
        return small_stacks(n);
    if (!strcmp(what, "cancel"))
        return pending_cancel();
    if (!strcmp(what, "cancel-any"))
        return cancel_anywhere(n);
    if (!strcmp(what, "jump-asleep"))
        return jump_asleep(n);
#if defined(__x86_64__)
    if (!strcmp(what, "jump") || !strcmp(what, "stop"))
        return step_through(!strcmp(what, "jump"));
#endif
    return 2;
}
