/* hooked.c - a program without a mark, built with -finstrument-functions or for XRay: what hooks must survive. It is C and C++.
 *
 *     hooked WHAT [N]
 *
 * Each WHAT prints a result that depends on all of its calls, so that a run under the recorder can be compared with one without.
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef __cplusplus
#include <stdexcept>
#endif

#ifdef __clang__
#define QUIET __attribute__((no_instrument_function, xray_never_instrument))
#else
#define QUIET __attribute__((no_instrument_function))
#endif
#define APART __attribute__((noinline))

#ifdef __cplusplus
extern "C" {
#endif
int leaf(int n);
int branch(int n);
int deep(int n);
int tree(int n);
int jump_from(int n);
int jump_over(int n);
int handled(int n);
void on_signal(int number);
void on_timer(int number);
void *run_late(void *argument);
void run_fiber(void);
void *run_thread(void *argument);
int fib(int n);
double numbers(double a, double b, double c, double d, float e, long double f, int g, double h);
#ifdef __cplusplus
}
#endif

static volatile int sum;
static jmp_buf back;

APART int leaf(int n)
{
    sum += n;
    return n;
}

APART int branch(int n)
{
    return leaf(n) + leaf(n + 1);
}

/* A recursion `n` deep. */
APART int deep(int n)
{
    return n > 1 ? deep(n - 1) + leaf(1) : leaf(1);
}

APART int tree(int n)
{
    int result = 0;
    for (int i = 0; i < n; i++)
        result += branch(i);
    return result;
}

APART int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

/* Arguments and results in every kind of register. */
APART double numbers(double a, double b, double c, double d, float e, long double f, int g,
                     double h)
{
    return g ? numbers(b, c, d, a, e + 1, f * 2, g - 1, h + a)
             : a + 2 * b + 3 * c + 4 * d + e + (double)f + h;
}

/* ---- a mark for other tracers (USDT), as sys/sdt.h makes it ---- */

#if defined(__x86_64__)
#define MARK(a, b)                                                                              \
    __asm__ volatile("990: nop\n"                                                               \
                     ".pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n"                    \
                     ".4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n"                \
                     "992: .balign 4\n993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte 0\n"      \
                     ".asciz \"hooked\"\n.asciz \"step\"\n.asciz \"-4@%0 8@%1 -4@$-5\"\n"       \
                     "994: .balign 4\n.popsection\n.ifndef _.stapsdt.base\n"                    \
                     ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"    \
                     ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n" \
                     ".size _.stapsdt.base,1\n.popsection\n.endif\n"                            \
                     :                                                                          \
                     : "r"(a), "r"(b))
#else
#define MARK(a, b) (void)0
#endif

static int marks(int n)
{
    for (int i = 0; i < n; i++) {
        MARK(-i, 7000000000ul + (unsigned long)i);
        leaf(i);
    }
    return sum;
}

/* ---- longjmp ---- */

APART int jump_from(int n)
{
    if (n)
        longjmp(back, n);
    return leaf(n);
}

APART int jump_over(int n)
{
    return jump_from(n) + 1;
}

APART QUIET static void try_to_jump(int i)
{
    if (!setjmp(back))
        jump_over(i + 1);
}

static int jumps(int n)
{
    for (int i = 0; i < n; i++) {
        try_to_jump(i);
        leaf(i);
    }
    return sum;
}

/* ---- exceptions ---- */

#ifdef __cplusplus
namespace scope
{
struct thrower {
    APART int run(int n)
    {
        if (n % 2)
            throw std::runtime_error("odd");
        return leaf(n) + sum * 0; /* no tail call */
    }
};

APART int catcher(int n)
{
    thrower one;
    try {
        return one.run(n) + leaf(1);
    } catch (const std::exception &) {
        return leaf(2);
    }
}
} // namespace scope
#endif

static int exceptions(int n)
{
    int result = 0;
#ifdef __cplusplus
    for (int i = 0; i < n; i++)
        result += scope::catcher(i);
#else
    (void)n;
#endif
    return result;
}

/* ---- signals ---- */

APART int handled(int n)
{
    return leaf(n);
}

void on_signal(int number)
{
    handled(number);
}

static int signals(int n, int flags)
{
    static char other[64 << 10];
    struct sigaction action;
    stack_t stack;
    memset(&action, 0, sizeof action);
    memset(&stack, 0, sizeof stack);
    action.sa_handler = on_signal;
    action.sa_flags = flags;
    stack.ss_sp = other;
    stack.ss_size = sizeof other;
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < n; i++) {
        branch(i);
        raise(SIGUSR1);
    }
    return sum;
}

/* Handlers by a timer, which come in the midst of hooks too, until there were n; each leaves by a jump, or none. How many came,
 * and how often leaf was called, goes to stderr: that is the machine's affair. */
static sigjmp_buf again;
static volatile int n_left, n_calls, is_jumping;

APART void on_timer(int number)
{
    handled(number);
    n_left--;
    if (is_jumping)
        siglongjmp(again, 1);
}

static int interrupts(int n, int flags, int jumps)
{
    static char other[64 << 10];
    const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    struct sigaction action;
    stack_t stack;
    memset(&action, 0, sizeof action);
    memset(&stack, 0, sizeof stack);
    action.sa_handler = on_timer;
    action.sa_flags = flags;
    stack.ss_sp = other;
    stack.ss_size = sizeof other;
    n_left = n + 1;
    on_timer(0); /* no name is looked up any more when it is interrupted */
    n_calls += branch(1) ? 2 : 0;
    is_jumping = jumps;
    sigaltstack(&stack, NULL);
    sigaction(SIGALRM, &action, NULL);
    sigsetjmp(again, 1);
    setitimer(ITIMER_REAL, n_left > 0 ? &often : &never, NULL);
    while (n_left > 0) {
        branch(1);
        n_calls += 2;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_IGN);
    fprintf(stderr, "handlers %d, calls %d\n", n + 1 - n_left, n_calls);
    return n;
}

/* ---- fibers ---- */

static ucontext_t outside, fibers[2];
static int n_turns;

void run_fiber(void)
{
    for (int i = 0;; i++) {
        leaf(i);
        swapcontext(&fibers[n_turns % 2], &outside);
    }
}

static int run_fibers(int n)
{
    static char stacks[2][64 << 10];
    for (int i = 0; i < 2; i++) {
        getcontext(&fibers[i]);
        fibers[i].uc_stack.ss_sp = stacks[i];
        fibers[i].uc_stack.ss_size = sizeof stacks[i];
        makecontext(&fibers[i], run_fiber, 0);
    }
    for (n_turns = 0; n_turns < n; n_turns++) {
        branch(n_turns);
        swapcontext(&outside, &fibers[n_turns % 2]);
    }
    return sum;
}

/* ---- threads, processes, files ---- */

void *run_thread(void *argument)
{
    int n = *(int *)argument;
    tree(n);
    pthread_exit(NULL);
}

static int threads(int n)
{
    pthread_t all[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&all[i], NULL, run_thread, &n);
    for (int i = 0; i < 8; i++)
        pthread_join(all[i], NULL);
    return n;
}

/* The process's own entry in /proc is empty as soon as its first thread has ended. */
QUIET static int has_first_thread(void)
{
    char byte;
    int fd = open("/proc/self/maps", O_RDONLY);
    int has = fd >= 0 && read(fd, &byte, 1) == 1;
    close(fd);
    return has;
}

QUIET static void *wait_and_run(void *argument)
{
    pthread_t late;
    while (has_first_thread())
        usleep(1000);
    pthread_create(&late, NULL, run_late, argument);
    pthread_join(late, NULL);
    return NULL;
}

void *run_late(void *argument)
{
    printf("%d\n", tree(*(int *)argument));
    return NULL;
}

static int leaves(int n)
{
    static int argument;
    pthread_t waiting;
    argument = n;
    pthread_create(&waiting, NULL, wait_and_run, &argument);
    pthread_exit(NULL);
}

static int forks(int n)
{
    int status = 0;
    for (int i = 0; i < n; i++) {
        pid_t child = fork();
        if (!child)
            exit(branch(1) == 3 ? 0 : 1);
        waitpid(child, &status, 0);
        leaf(status);
    }
    return sum;
}

/* Two libraries with functions of other names, one after the other at the same place. */
static int loads(int n, char **paths)
{
    int result = 0;
    for (int i = 0; i < n; i++) {
        void *library = dlopen(paths[i % 2], RTLD_NOW);
        int (*call)(int);
        *(void **)&call = library ? dlsym(library, "plugged") : NULL;
        result += call ? call(i) : -1000;
        if (library)
            dlclose(library);
    }
    return result;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "tree";
    int n = argc > 2 ? atoi(argv[2]) : 10, result = -1;
    if (!strcmp(what, "tree"))
        result = tree(n);
    else if (!strcmp(what, "deep"))
        result = deep(n);
    else if (!strcmp(what, "fib"))
        result = fib(n);
    else if (!strcmp(what, "numbers"))
        result = (int)(1000 * numbers(1.25, 2.5, 3.75, 4.125, 5.5f, 6.5L, n, 7.75));
    else if (!strcmp(what, "marks"))
        result = marks(n);
    else if (!strcmp(what, "slowly"))
        for (;; usleep(20000))
            leaf(n);
    else if (!strcmp(what, "jumps"))
        result = jumps(n);
    else if (!strcmp(what, "exceptions"))
        result = exceptions(n);
    else if (!strcmp(what, "signals"))
        result = signals(n, 0);
    else if (!strcmp(what, "altstack"))
        result = signals(n, SA_ONSTACK);
    else if (!strcmp(what, "interrupts") || !strcmp(what, "leaps"))
        result = interrupts(n, argc > 3 ? SA_ONSTACK : 0, what[0] == 'l');
    else if (!strcmp(what, "leaves"))
        result = leaves(n);
    else if (!strcmp(what, "fibers"))
        result = run_fibers(n);
    else if (!strcmp(what, "threads"))
        result = threads(n);
    else if (!strcmp(what, "forks"))
        result = forks(n);
    else if (!strcmp(what, "loads") && argc > 4)
        result = loads(n, argv + 3);
    else if (!strcmp(what, "execs"))
        return execl(argv[0], argv[0], "tree", argv[2], NULL);
    printf("%d\n", result);
    return 0;
}
