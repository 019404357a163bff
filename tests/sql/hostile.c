/* hostile.c - hostile TRACE TIMEOUT_MS HEAP_MIB <statements: runs statements that mean harm, one after the other on one connection,
 * and says of each how it ended, how much CPU time it took after its time was over, and how much memory SQLite had. Statements come
 * as a line with their length and so many bytes.
 *
 * Lateness is CPU time of the process: a watcher reads its clock at the deadline, so that a busy machine makes nothing late. No file
 * can grow meanwhile (RLIMIT_FSIZE), so what is written ends the process.  SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "sql/sql.h"

static volatile uint64_t touched; /* keeps the reads of results */

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Reads the CPU clock at a deadline. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint64_t deadline_ns; /* 0: none */
    uint64_t cpu_ns;      /* at the deadline; 0: not yet */
} watcher = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *watch(void *context)
{
    (void)context;
    pthread_mutex_lock(&watcher.lock);
    for (;;) {
        if (!watcher.deadline_ns || watcher.cpu_ns) {
            pthread_cond_wait(&watcher.moved, &watcher.lock);
            continue;
        }
        struct timespec at = strobe_clock_timespec(watcher.deadline_ns);
        pthread_cond_timedwait(&watcher.moved, &watcher.lock, &at);
        if (watcher.deadline_ns && strobe_clock_mono_ns() >= watcher.deadline_ns && !watcher.cpu_ns)
            watcher.cpu_ns = cpu_ns();
    }
    return NULL;
}

static void set_deadline(uint64_t deadline_ns)
{
    pthread_mutex_lock(&watcher.lock);
    watcher.deadline_ns = deadline_ns;
    watcher.cpu_ns = 0;
    pthread_cond_broadcast(&watcher.moved);
    pthread_mutex_unlock(&watcher.lock);
}

/* CPU time since the deadline; 0: it has not come, or nobody saw it. */
static uint64_t late_ns(void)
{
    pthread_mutex_lock(&watcher.lock);
    uint64_t then = watcher.cpu_ns, now = cpu_ns();
    pthread_mutex_unlock(&watcher.lock);
    return then ? now - then : 0;
}

static enum strobe_err see_head(void *context, const char *const *names, unsigned n_columns)
{
    (void)context;
    for (unsigned i = 0; i < n_columns; i++)
        touched += strlen(names[i]);
    return STROBE_OK;
}

static enum strobe_err see_row(void *context, const struct strobe_sql_value *values,
                               unsigned n_columns)
{
    (void)context;
    for (unsigned i = 0; i < n_columns; i++)
        if (values[i].type == STROBE_SQL_TEXT && values[i].n)
            touched +=
                (unsigned char)values[i].text[0] + (unsigned char)values[i].text[values[i].n - 1];
    return STROBE_OK;
}

static enum strobe_err see_end(void *context, uint64_t n_rows)
{
    (void)context;
    touched += n_rows;
    return STROBE_OK;
}

static char *read_statement(void)
{
    size_t n;
    if (scanf("%zu", &n) != 1 || getchar() != '\n')
        return NULL;
    char *text = malloc(n + 1);
    if (!text || fread(text, 1, n, stdin) != n)
        abort();
    text[n] = 0;
    return text;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    const struct strobe_sql_limits limits = {.timeout_ms = strtoull(argv[2], NULL, 10),
                                             .heap_bytes = strtoull(argv[3], NULL, 10) << 20};
    const struct strobe_sql_sink sink = {NULL, see_head, see_row, see_end};
    const char *path = argv[1];
    struct strobe_sql *sql;
    unsigned failed;
    pthread_t thread;
    pthread_condattr_t monotonic;
    const struct rlimit nothing = {0, 0};
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&watcher.moved, &monotonic);
    if (strobe_sql_open(&path, 1, &limits, &failed, &sql) ||
        pthread_create(&thread, NULL, watch, NULL) || setrlimit(RLIMIT_FSIZE, &nothing))
        return 2;
    for (char *text; (text = read_statement()); free(text)) {
        sqlite3_memory_highwater(1);
        set_deadline(strobe_clock_mono_ns() + limits.timeout_ms * 1000000);
        enum strobe_err err = strobe_sql_run(sql, text, &sink);
        uint64_t late = late_ns();
        set_deadline(0);
        printf("%d %llu %lld %s\n", (int)err, (unsigned long long)late,
               (long long)sqlite3_memory_highwater(0), err ? strobe_sql_error(sql) : "");
    }
    strobe_sql_close(sql);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("rss %ld\n", usage.ru_maxrss);
    fflush(stdout);
    return 0;
}
