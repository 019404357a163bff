/* endings.c - the odd ways to end, and to emit.
 *   endings exit|_exit|quick|abort|return|segv|thread|exec   1000 zones, one left open, then that end
 *   endings handler       zones in a loop, interrupted by a handler that emits
 *   endings altstack      the first event of all comes from a handler on a signal stack of 8 KiB
 *   endings destructor    emits while the program shuts down
 *   endings relay         1000 zones, exec of a shell that takes its time, and of this program again
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "strobe/strobe.h"

static volatile long n_handled;
static int shutting_down;

static void emit(int n)
{
    for (int i = 0; i < n; i++) {
        STROBE_SCOPE("work");
    }
}

static void handle(int number)
{
    STROBE_SCOPE("handler");
    STROBE_MESSAGEF(STROBE_INFO, "signal %d", number);
    n_handled++;
}

static void emit_under_signals(void)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    long n = 0;
    for (; n_handled < 300; n++) {
        STROBE_SCOPE("work");
        STROBE_VALUE((uint64_t)n);
        for (volatile int i = 0; i < 300; i++) {
        } /* slow enough for a recorder on a busy machine: a handler does not wait for a full pool */
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%ld %ld\n", n, n_handled);
}

static void emit_on_small_stack(void)
{
    static char bytes[8192];
    stack_t stack = {.ss_sp = bytes, .ss_size = sizeof bytes};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 100; i++)
        raise(SIGUSR1);
}

static void *end_with_thread(void *unused)
{
    emit(1000);
    return unused;
}

__attribute__((destructor)) static void emit_last(void)
{
    if (shutting_down)
        emit(10);
}

static void at_exit(void)
{
    emit(10);
}

static void end(const char *how, const char *program)
{
    pthread_t thread;
    STROBE_ZONE(open, "left open");
    emit(1000);
    (void)open;
    fflush(stdout);
    if (!strcmp(how, "exit"))
        exit(3);
    if (!strcmp(how, "_exit"))
        _exit(4);
    if (!strcmp(how, "quick"))
        quick_exit(5);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "segv"))
        raise(SIGSEGV);
    if (!strcmp(how, "exec"))
        execl("/bin/sh", "sh", "-c", "exit 6", (char *)NULL);
    if (!strcmp(how, "relay"))
        execl("/bin/sh", "sh", "-c", "sleep 0.7; exec \"$0\" exit", program, (char *)NULL);
    if (!strcmp(how, "thread")) { /* main ends, another thread goes on */
        pthread_create(&thread, NULL, end_with_thread, NULL);
        pthread_exit(NULL);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "return";
    if (!strcmp(how, "handler"))
        emit_under_signals();
    else if (!strcmp(how, "altstack"))
        emit_on_small_stack();
    else if (!strcmp(how, "destructor")) {
        shutting_down = 1;
        atexit(at_exit);
        emit(10);
    } else {
        end(how, argv[0]);
    }
    return 0;
}
