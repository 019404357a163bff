/* burner.c - a program with a known split of its CPU time, for the tests of sampling. It has no Strobe in it.
 *
 *   burner split SECONDS THREADS     half, third and fifth of the time in functions of these names
 *   burner signal SECONDS            all of it in a signal handler, on the thread's stack
 *   burner library SECONDS           most of it in calls through the linker's stubs, the vdso and libc
 *   burner deep SECONDS DEPTH        below DEPTH frames of 512 bytes each
 *   burner loaded SECONDS            in libm, loaded at run time
 *   burner birth SECONDS             in a thread that is made 200 ms after the start
 *   burner births ROUNDS             threads that do nothing, one after the other
 *   burner switches ROUNDS           two processes that wake each other
 *   burner jit SECONDS               in code that it makes, with a line of it in /tmp/perf-PID.map
 *   burner jitdump SECONDS [fork]    likewise, with a jit-PID.dump in the working folder; in a child that it forks then
 *   burner waits ROUNDS              two threads take turns with a lock (convoy), a third sleeps, a fourth reads what main writes to a pipe
 *   burner masked SECONDS            with all signals blocked
 *   burner greedy SECONDS            it takes every real-time signal half-way: exit status 3 if one of them comes then
 *   burner given SECONDS             it gives every real-time signal its default half-way, while a thread has all of them blocked and then not
 *   burner shrunk SECONDS            on a stack of its own, of which the upper part is unmapped half-way, in code that no table describes
 *   burner listed SECONDS            in code that it makes, with a lock that a thread waits for while it lists the loaded files
 *   burner narrow SECONDS BYTES      in a thread whose alternate stack has so many bytes beside the kernel's frame, and nothing below it
 *   burner naps ROUNDS               short sleeps between short work: exit status 3 if one of them ends early
 *   burner refuse COMMAND ...        run a command that may not open perf events: it gets BURNER_ERRNO (EACCES)
 *
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FAR static __attribute__((noinline, noclone))
#define FRAME(n)            \
    volatile char frame[n]; \
    frame[0] = (char)sizeof frame

static volatile unsigned long sink;

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

FAR void burn(double seconds)
{
    double end = cpu_seconds() + seconds;
    do
        for (int i = 0; i < 50000; i++)
            sink += (unsigned long)i;
    while (cpu_seconds() < end);
}

FAR void half(double seconds)
{
    burn(seconds * 0.5);
    sink++;
}

FAR void third(double seconds)
{
    burn(seconds * 0.3);
    sink++;
}

FAR void fifth(double seconds)
{
    burn(seconds * 0.2);
    sink++;
}

static void *split(void *seconds)
{
    for (int i = 0; i < 20; i++) {
        half(*(double *)seconds / 20);
        third(*(double *)seconds / 20);
        fifth(*(double *)seconds / 20);
    }
    return NULL;
}

static void run_split(double seconds, int n_threads)
{
    pthread_t threads[64];
    for (int i = 1; i < n_threads && i < 64; i++)
        pthread_create(&threads[i], NULL, split, &seconds);
    split(&seconds);
    for (int i = 1; i < n_threads && i < 64; i++)
        pthread_join(threads[i], NULL);
}

static double handler_seconds;

FAR void handle(int number)
{
    (void)number;
    burn(handler_seconds);
    sink++;
}

FAR void interrupted(void)
{
    raise(SIGUSR1);
    sink++;
}

FAR void calls(double seconds)
{
    double end = cpu_seconds() + seconds;
    struct timespec now;
    char text[64];
    do
        for (int i = 0; i < 200; i++) {
            clock_gettime(CLOCK_MONOTONIC, &now);
            sink += (unsigned long)rand() + (unsigned long)now.tv_nsec;
            sink += (unsigned long)snprintf(text, sizeof text, "%d %lu", i, sink);
        }
    while (cpu_seconds() < end);
}

FAR void deep(double seconds, int depth)
{
    FRAME(512);
    if (depth)
        deep(seconds, depth - 1);
    else
        burn(seconds);
    sink += (unsigned long)frame[0];
}

FAR void loaded(double seconds)
{
    void *library = dlopen("libm.so.6", RTLD_NOW);
    double (*power)(double, double) = NULL;
    void *symbol = library ? dlsym(library, "pow") : NULL;
    memcpy(&power, &symbol, sizeof symbol);
    double end = cpu_seconds() + seconds;
    while (power && cpu_seconds() < end)
        for (int i = 0; i < 20000; i++)
            sink += (unsigned long)power(1.0001, i % 100);
}

static void birth(double seconds)
{
    pthread_t thread;
    usleep(200000);
    pthread_create(&thread, NULL, split, &seconds);
    pthread_join(thread, NULL);
}

static void *nothing(void *unused)
{
    return unused;
}

FAR void births(long rounds)
{
    pthread_t thread;
    for (long i = 0; i < rounds; i++)
        if (!pthread_create(&thread, NULL, nothing, NULL))
            pthread_join(thread, NULL);
    sink++;
}

static void switches(long rounds)
{
    int there[2], back[2];
    char byte = 0;
    if (pipe(there) || pipe(back))
        exit(1);
    pid_t child = fork();
    for (long i = 0; i < rounds; i++)
        if (child ? write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1
                  : read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
            exit(1);
    if (!child)
        _exit(0);
    waitpid(child, NULL, 0);
}

/* A loop of x86-64 code, with a frame pointer. */
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff,
                                     0xcf, 0x75, 0xfb, 0x5d, 0xc3};

static void *make_code(void)
{
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        exit(1);
    memcpy(at, code, sizeof code);
    mprotect(at, 4096, PROT_READ | PROT_EXEC);
    return at;
}

static void run_code(const void *at, double seconds)
{
    void (*loop)(unsigned long) = NULL;
    memcpy(&loop, &at, sizeof at);
    for (double end = cpu_seconds() + seconds; cpu_seconds() < end;)
        loop(1000000);
}

/* Its head, a record of no interest, and the code: as perf's specification has it. */
static void write_dump(FILE *out, const void *at)
{
    static const char name[] = "dumped at run time";
    const unsigned head[10] = {0x4a695444, 1, 40, 62}, close_record[4] = {3, 16};
    const unsigned first[4] = {0, (unsigned)(16 + 40 + sizeof name + sizeof code)};
    const unsigned who[2] = {(unsigned)getpid(), (unsigned)getpid()};
    const unsigned long where[4] = {(unsigned long)at, (unsigned long)at, sizeof code, 1};
    fwrite(head, sizeof head, 1, out);
    fwrite(close_record, sizeof close_record, 1, out);
    fwrite(first, sizeof first, 1, out);
    fwrite(who, sizeof who, 1, out);
    fwrite(where, sizeof where, 1, out);
    fwrite(name, sizeof name, 1, out);
    fwrite(code, sizeof code, 1, out);
    fflush(out);
}

FAR void jitdump(double seconds, int forks)
{
    char path[64];
    void *at = make_code();
    snprintf(path, sizeof path, "jit-%d.dump", (int)getpid());
    FILE *out = fopen(path, "w+");
    if (!out)
        exit(1);
    write_dump(out, at);
    if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(out), 0) == MAP_FAILED)
        exit(1);
    if (forks && fork()) {
        wait(NULL);
        return;
    }
    run_code(at, seconds);
    sink++;
}

FAR void jit(double seconds)
{
    char path[64];
    void *at = make_code();
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    FILE *map = fopen(path, "w");
    if (!map)
        exit(1);
    fprintf(map, "%lx 5 another one\n%lx %zx made at run time\n", (unsigned long)at + 64,
            (unsigned long)at, sizeof code);
    fclose(map);
    run_code(at, seconds);
    sink++;
}

/* Threads that wait for what their names say. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static long n_rounds;
static int ends[2];

static void *lock_often(void *context)
{
    prctl(PR_SET_NAME, "locker");
    for (long i = 0; i < n_rounds; i++) {
        pthread_mutex_lock(&turn);
        usleep(3000);
        pthread_mutex_unlock(&turn);
        usleep(100);
    }
    return context;
}

static void *sleep_often(void *context)
{
    prctl(PR_SET_NAME, "sleeper");
    for (long i = 0; i < n_rounds; i++)
        usleep(4000);
    return context;
}

static void *read_often(void *context)
{
    char byte;
    prctl(PR_SET_NAME, "reader");
    for (long i = 0; i < n_rounds && read(ends[0], &byte, 1) == 1; i++)
        sink++;
    return context;
}

static void waits(long rounds)
{
    void *(*const run[])(void *) = {lock_often, lock_often, sleep_often, read_often};
    pthread_t threads[4];
    n_rounds = rounds;
    if (pipe(ends))
        exit(1);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, run[i], NULL);
    for (long i = 0; i < rounds; i++) {
        usleep(4000);
        if (write(ends[1], "x", 1) != 1)
            exit(1);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

FAR void masked(double seconds)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    burn(seconds);
    sink++;
}

static volatile sig_atomic_t n_came;

static void count(int number)
{
    (void)number;
    n_came++;
}

static int greedy(double seconds)
{
    burn(seconds / 2);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
        struct sigaction action = {.sa_handler = count}, old;
        if (sigaction(number, &action, &old) || old.sa_handler != SIG_DFL)
            return 4;
    }
    burn(seconds / 2);
    return n_came ? 3 : 0;
}

static int is_given; /* by main, to the thread */

static void *block_all(void *context)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (!__atomic_load_n(&is_given, __ATOMIC_ACQUIRE))
        sink++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return context;
}

static int given(double seconds)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, block_all, NULL))
        return 1;
    burn(seconds / 2);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        if (signal(number, SIG_DFL) != SIG_DFL)
            return 4;
    __atomic_store_n(&is_given, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    burn(seconds / 2);
    return 0;
}

#if defined(__x86_64__)
/* Count down on a stack, with a frame pointer: neither has a row in a table. */
void spin_on(void *stack, void *frame, unsigned long n);
__asm__(".text\n.globl spin_on\n.type spin_on, @function\n"
        "spin_on: push %rbp\n mov %rsp, %rax\n mov %rdi, %rsp\n mov %rsi, %rbp\n"
        "1: dec %rdx\n jnz 1b\n"
        "mov %rax, %rsp\n pop %rbp\n ret\n.size spin_on, . - spin_on\n");

static int shrunk(double seconds)
{
    enum { SIZE = 256 << 10, KEPT = 192 << 10, STACK = 128 << 10 };
    unsigned long n = (unsigned long)(seconds * 1e9);
    char *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return 1;
    spin_on(at + STACK, at + SIZE - 64, n);
    munmap(at + KEPT, SIZE - KEPT);
    spin_on(at + STACK, at + SIZE - 64, n);
    return 0;
}
#else
static int shrunk(double seconds)
{
    return seconds < 0;
}
#endif

/* The loader's lock is held around the calls of `see_file`; that waits for a lock that the main thread holds. */
static int is_listing;

static int see_file(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)info, (void)size, (void)context;
    __atomic_store_n(&is_listing, 1, __ATOMIC_RELEASE);
    pthread_mutex_lock(&turn);
    pthread_mutex_unlock(&turn);
    return 1;
}

static void *list_files(void *context)
{
    dl_iterate_phdr(see_file, NULL);
    return context;
}

static int listed(double seconds)
{
    pthread_t thread;
    const void *at = make_code();
    pthread_mutex_lock(&turn);
    if (pthread_create(&thread, NULL, list_files, NULL))
        return 1;
    while (!__atomic_load_n(&is_listing, __ATOMIC_ACQUIRE))
        usleep(1000);
    run_code(at, seconds);
    pthread_mutex_unlock(&turn);
    pthread_join(thread, NULL);
    return 0;
}

struct narrow {
    double seconds;
    size_t n_bytes;
};

FAR void narrow_burn(double seconds)
{
    burn(seconds);
    sink++;
}

/* The alternate stack begins where a page begins that can't be written. */
static void *narrow(void *context)
{
    enum { PAGE = 4096, PAGES = 16 };
    const struct narrow *how = context;
    char *at = mmap(NULL, (PAGES + 1) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at + PAGE, PAGES * PAGE, PROT_READ | PROT_WRITE))
        exit(1);
    unsigned long least = getauxval(AT_MINSIGSTKSZ);
    stack_t stack = {.ss_sp = at + PAGE, .ss_size = (least ? least : 2048) + how->n_bytes};
    if (sigaltstack(&stack, NULL))
        exit(1);
    narrow_burn(how->seconds);
    stack_t none = {.ss_flags = SS_DISABLE}, old;
    if (sigaltstack(&none, &old) || old.ss_sp != stack.ss_sp || old.ss_size != stack.ss_size)
        exit(1);
    return NULL;
}

static int run_narrow(double seconds, size_t n_bytes)
{
    pthread_t thread;
    struct narrow how = {seconds, n_bytes};
    if (pthread_create(&thread, NULL, narrow, &how))
        return 1;
    pthread_join(thread, NULL);
    return 0;
}

static int naps(long rounds)
{
    const struct timespec nap = {0, 200000};
    int n_early = 0;
    for (long i = 0; i < rounds; i++) {
        burn(0.0005);
        n_early += nanosleep(&nap, NULL) != 0;
    }
    printf("%d of %ld sleeps ended early\n", n_early, rounds);
    return n_early ? 3 : 0;
}

static void refuse(char **command)
{
    const char *word = getenv("BURNER_ERRNO");
    unsigned error = word ? (unsigned)atoi(word) : EACCES;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        exit(1);
    execvp(command[0], command);
    exit(127);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    double seconds = argc > 2 ? atof(argv[2]) : 0;
    if (!strcmp(what, "split")) {
        run_split(seconds, argc > 3 ? atoi(argv[3]) : 1);
    } else if (!strcmp(what, "signal")) {
        handler_seconds = seconds / 10;
        signal(SIGUSR1, handle);
        for (int i = 0; i < 10; i++)
            interrupted();
    } else if (!strcmp(what, "library")) {
        calls(seconds);
    } else if (!strcmp(what, "deep")) {
        for (int i = 0; i < 20; i++) {
            int depth = argc > 3 ? atoi(argv[3]) : 10;
            deep(seconds / 40, depth * (i + 1) / 20); /* it gets there in steps */
            deep(seconds / 40, depth);
        }
    } else if (!strcmp(what, "loaded")) {
        loaded(seconds);
    } else if (!strcmp(what, "birth")) {
        birth(seconds);
    } else if (!strcmp(what, "births")) {
        births(atol(argv[2]));
    } else if (!strcmp(what, "switches")) {
        switches(atol(argv[2]));
    } else if (!strcmp(what, "jit")) {
        jit(seconds);
    } else if (!strcmp(what, "jitdump")) {
        jitdump(seconds, argc > 3);
    } else if (!strcmp(what, "waits")) {
        waits(atol(argv[2]));
    } else if (!strcmp(what, "masked")) {
        masked(seconds);
    } else if (!strcmp(what, "greedy")) {
        return greedy(seconds);
    } else if (!strcmp(what, "given")) {
        return given(seconds);
    } else if (!strcmp(what, "shrunk")) {
        return shrunk(seconds);
    } else if (!strcmp(what, "listed")) {
        return listed(seconds);
    } else if (!strcmp(what, "narrow")) {
        return run_narrow(seconds, argc > 3 ? (size_t)atol(argv[3]) : 0);
    } else if (!strcmp(what, "naps")) {
        return naps(atol(argv[2]));
    } else if (!strcmp(what, "refuse")) {
        refuse(argv + 2);
    } else {
        return 2;
    }
    return 0;
}
