/* death_emitter.c - a program to be killed: processes x threads that emit all kinds of events in a
 * fixed order and count them in pages that outlive it (counted.h).
 *
 *     death_emitter PAGES tree N_PROCS N_THREADS PAUSE_US [long]   until `stop` is set
 *     death_emitter PAGES zones N                                  N zones, then SIGKILL
 *
 * Event number i of a thread has kind PATTERN[i % 32]; the driver has the same table (death.py).
 * Names made at run time have the number in them, so each is first seen a moment before it is used.
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include <strobe/strobe.h>

#include "counted.h"

static struct counted_head *head;
static int n_procs, n_threads, proc_index, pause_us;
static bool long_texts;
static struct strobe_lock lock;

static struct strobe_name plot = {0, "plot"}, frame = {0, "frame"}, pool = {0, "pool"};
static struct strobe_name fiber = {0, "fiber"};
static struct strobe_loc span_loc = {0, "span", "round", __FILE__, __LINE__, 0};
static struct strobe_loc outer_loc = {0, "outer", "round", __FILE__, __LINE__, 0xff0000};
static struct strobe_loc inner_loc = {0, "inner", "round", __FILE__, __LINE__, 0};
static struct strobe_loc fiber_loc = {0, "in fiber", "round", __FILE__, __LINE__, 0};

/* The long message travels in 3 pieces: 3 events. */
enum { LONG_BYTES = 2000, LONG_EVENTS = 3 };

static void zones(struct counted_page *page, int index)
{
    struct strobe_zone outer, dynamic, inner;
    char name[64];
    int n = snprintf(name, sizeof name, "dyn %d %d %llu", proc_index, index,
                     (unsigned long long)page->before);
    COUNTED(page, outer = strobe_zone_begin(&outer_loc));
    COUNTED(page, strobe_zone_text("text", 4));
    COUNTED(page, strobe_zone_value(page->before));
    COUNTED(page, strobe_zone_color(0x00ff00));
    COUNTED(page, strobe_zone_name("renamed", 7));
    COUNTED(page, dynamic = strobe_zone_begin_at("here.c", 7, "round", name, (size_t)n, 0));
    if (long_texts) {
        char text[LONG_BYTES];
        memset(text, 'x', sizeof text);
        COUNTED_N(page, LONG_EVENTS, strobe_message(STROBE_INFO, 0, text, sizeof text));
    } else {
        COUNTED(page, strobe_message(STROBE_INFO, 0, name, (size_t)n));
    }
    COUNTED(page, strobe_callstack(8));
    COUNTED(page, inner = strobe_zone_begin(&inner_loc));
    COUNTED(page, strobe_zone_end(&inner));
    COUNTED(page, strobe_zone_end_call(dynamic));
    COUNTED(page, strobe_zone_end(&outer));
}

static void the_rest(struct counted_page *page, int index)
{
    struct strobe_zone zone;
    char name[64];
    uint64_t id = page->before << 16 | (uint64_t)(proc_index * n_threads + index);
    snprintf(name, sizeof name, "plot %d %d %llu", proc_index, index,
             (unsigned long long)page->before);
    COUNTED(page, strobe_plot_named_int(name, (int64_t)page->before));
    COUNTED(page, strobe_plot_double(&plot, (double)page->before));
    COUNTED(page, strobe_frame_mark(&frame));
    COUNTED(page, strobe_frame_start(&frame));
    COUNTED(page, strobe_frame_end(&frame));
    COUNTED(page, strobe_mem_alloc(&pool, name, 100));
    COUNTED(page, strobe_mem_free(&pool, name));
    COUNTED(page, strobe_lock_will_wait(&lock, 0));
    COUNTED(page, strobe_lock_obtained(&lock, 0));
    COUNTED(page, strobe_lock_released(&lock, 0));
    COUNTED(page, strobe_fiber_enter(&fiber));
    COUNTED(page, zone = strobe_zone_begin(&fiber_loc));
    COUNTED(page, strobe_zone_end(&zone));
    COUNTED(page, strobe_fiber_leave());
    COUNTED(page, strobe_span_begin(id, &span_loc));
    COUNTED(page, strobe_span_end(id));
    COUNTED(page, strobe_flow_begin(id));
    COUNTED(page, strobe_flow_step(id));
    COUNTED(page, strobe_flow_end(id));
    COUNTED(page, strobe_app_info(name, strlen(name)));
}

static void *emit(void *context)
{
    int index = (int)(intptr_t)context;
    struct counted_page *page = counted_thread(head, proc_index * n_threads + index);
    struct timespec pause = {0, 1000L * pause_us};
    page->pid = (uint64_t)getpid();
    page->tid = (uint64_t)gettid();
    page->recorded = (uint64_t)strobe_recording();
    for (bool first = true; !head->stop; first = false) {
        zones(page, index);
        the_rest(page, index);
        if (first)
            __atomic_add_fetch(&head->n_ready, 1, __ATOMIC_SEQ_CST);
        if (pause_us)
            nanosleep(&pause, NULL);
    }
    return NULL;
}

static void run_process(void)
{
    pthread_t threads[64];
    alarm(120); /* should nobody come to stop it */
    strobe_lock_open(&lock, &span_loc, 0);
    for (int i = 1; i < n_threads; i++)
        pthread_create(&threads[i], NULL, emit, (void *)(intptr_t)i);
    emit(NULL);
    for (int i = 1; i < n_threads; i++)
        pthread_join(threads[i], NULL);
}

static int run_tree(void)
{
    for (int i = 1; i < n_procs; i++) {
        pid_t child = fork();
        if (child == 0) {
            proc_index = i;
            run_process();
            exit(0);
        }
    }
    run_process();
    while (wait(NULL) > 0)
        ;
    return 0;
}

static int run_zones(uint64_t n)
{
    struct counted_page *page = counted_thread(head, 0);
    page->pid = (uint64_t)getpid();
    page->tid = (uint64_t)gettid();
    page->recorded = (uint64_t)strobe_recording();
    for (uint64_t i = 0; i < n; i++) {
        STROBE_ZONE(zone, "one of many");
        STROBE_ZONE_END(zone);
    }
    page->before = page->after = 2 * n;
    kill(getpid(), SIGKILL);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc >= 4 && !strcmp(argv[2], "zones")) {
        head = counted_open(argv[1], 1);
        return run_zones(strtoull(argv[3], NULL, 10));
    }
    if (argc < 6 || strcmp(argv[2], "tree")) {
        fputs("usage: death_emitter PAGES tree N_PROCS N_THREADS PAUSE_US [long] | zones N\n",
              stderr);
        return 2;
    }
    n_procs = atoi(argv[3]);
    n_threads = atoi(argv[4]);
    pause_us = atoi(argv[5]);
    long_texts = argc > 6;
    head = counted_open(argv[1], n_procs * n_threads);
    return run_tree();
}
