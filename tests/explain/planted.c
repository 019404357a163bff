/* planted.c - programs with one known cause of slowness each, and bystanders that do more and wait longer than the cause.
 *   planted MODE [ROUNDS [PERCENT]]
 * lock: workers share a lock that `update_table` holds; io: `load` waits for a disk and a pipe; alloc: `parse` allocates;
 * rank: of four processes at a barrier the third is slow in `solve`; threads: the same of threads; work: `crunch` runs, PERCENT longer;
 * flow: a worker waits for jobs that `produce` makes; children: of three child processes one is long in `link`; server: another
 * process answers requests, in `lookup`. Of processes there are bystanders too.
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <strobe/strobe.h>

#include "bystanders.h"

static int n_rounds = 60;
static unsigned percent;

/* ---- lock ---- */

static pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct strobe_lock table_lock;

static void *work_on_table(void *none)
{
    for (int i = 0; i < n_rounds; i++) {
        {
            STROBE_SCOPE("prepare");
            spin(100);
        }
        strobe_lock_will_wait(&table_lock, 0);
        pthread_mutex_lock(&table_mutex);
        strobe_lock_obtained(&table_lock, 0);
        {
            STROBE_SCOPE("update_table");
            spin(400);
        }
        pthread_mutex_unlock(&table_mutex);
        strobe_lock_released(&table_lock, 0);
    }
    return none;
}

static void plant_lock(void)
{
    pthread_t workers[4];
    STROBE_SCOPE("run");
    strobe_lock_open(&table_lock, NULL, 0);
    strobe_lock_rename(&table_lock, "table", 5);
    for (int i = 0; i < 4; i++)
        pthread_create(&workers[i], NULL, work_on_table, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(workers[i], NULL);
}

/* ---- blocking I/O ---- */

/* A disk that answers in 3 ms at the least: the data is written and synced, then a timer is read. */
static void plant_io(void)
{
    char name[] = "planted-XXXXXX", *block = calloc(1, 1 << 16);
    int fd = mkstemp(name);
    if (fd < 0 || !block)
        exit(1);
    unlink(name);
    STROBE_SCOPE("run");
    for (int i = 0; i < n_rounds; i++) {
        {
            STROBE_SCOPE("compute");
            spin(500);
        }
        STROBE_SCOPE("load");
        for (int k = 0; k < 4; k++) {
            if (pwrite(fd, block, 1 << 16, 0) < 0 || fsync(fd))
                exit(1);
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        }
    }
    close(fd);
    free(block);
}

/* ---- an allocation storm ---- */

static void plant_alloc(void)
{
    enum { N = 4000 };
    static void *blocks[N];
    STROBE_SCOPE("run");
    for (int i = 0; i < n_rounds; i++) {
        {
            STROBE_SCOPE("read_line");
            spin(100);
        }
        STROBE_SCOPE("parse");
        for (int k = 0; k < N; k++) {
            blocks[k] = malloc(16 + (size_t)(k % 64) * 8);
            STROBE_ALLOC(blocks[k], 16 + (size_t)(k % 64) * 8);
        }
        for (int k = 0; k < N; k++) {
            STROBE_FREE(blocks[k]);
            free(blocks[k]);
        }
    }
}

/* ---- one of several comes last to a barrier ---- */

static pthread_barrier_t *barrier; /* shared by the processes */

static void make_barrier(unsigned n)
{
    pthread_barrierattr_t attr;
    barrier = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_init(&attr);
    pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(barrier, &attr, n);
}

static void take_part(int rank)
{
    STROBE_SCOPE("run");
    for (int i = 0; i < n_rounds; i++) {
        {
            STROBE_SCOPE("solve");
            spin(rank == 2 ? 2500 : 1000);
        }
        STROBE_SCOPE("exchange");
        pthread_barrier_wait(barrier);
    }
}

static void plant_rank(void)
{
    make_barrier(4);
    for (int rank = 0; rank < 4; rank++)
        if (!fork()) {
            char name[16];
            snprintf(name, sizeof name, "rank %d", rank);
            STROBE_PROGRAM_NAME(name);
            take_part(rank);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
}

/* ---- other processes: children that are waited for, a server that answers ---- */

/* A child process with a name. Its bystanders end with it. */
static pid_t start_process(const char *name, void (*be)(int), int with)
{
    pid_t child = fork();
    if (child)
        return child;
    STROBE_PROGRAM_NAME(name);
    be(with);
    _exit(0);
}

static void be_child(int is_long)
{
    for (int i = 0; i < n_rounds; i++) {
        {
            STROBE_SCOPE("compile");
            spin(600);
        }
        if (is_long) {
            STROBE_SCOPE("link");
            spin(2000);
        }
    }
}

static void plant_children(void)
{
    STROBE_SCOPE("run");
    {
        STROBE_SCOPE("plan");
        spin(1000);
    }
    start_process("child 0", be_child, 0);
    start_process("child 1", be_child, 1);
    start_process("child 2", be_child, 0);
    STROBE_SCOPE("wait_for_children");
    while (wait(NULL) > 0)
        ;
}

static void be_server(int socket)
{
    char request;
    while (read(socket, &request, 1) == 1) {
        {
            STROBE_SCOPE("lookup");
            spin(2000);
        }
        STROBE_SCOPE("answer");
        if (write(socket, &request, 1) != 1)
            return;
    }
}

/* A process that nobody waits for, busier than all. */
static void be_stranger(int socket)
{
    char end;
    while (recv(socket, &end, 1, MSG_DONTWAIT) < 0) {
        {
            STROBE_SCOPE("index_files");
            spin(4000);
        }
        usleep(2000);
    }
}

static void call_server(int socket)
{
    char request = 'x';
    STROBE_SCOPE("run");
    for (int i = 0; i < n_rounds; i++) {
        {
            STROBE_SCOPE("make_request");
            spin(300);
        }
        STROBE_SCOPE("call");
        if (write(socket, &request, 1) != 1 || read(socket, &request, 1) != 1)
            exit(1);
    }
}

static void plant_server(void)
{
    int to_server[2], to_stranger[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, to_server) ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, to_stranger))
        exit(1);
    pid_t server = start_process("server", be_server, to_server[1]);
    pid_t stranger = start_process("stranger", be_stranger, to_stranger[1]);
    call_server(to_server[0]);
    shutdown(to_server[0], SHUT_RDWR);
    shutdown(to_stranger[0], SHUT_RDWR);
    waitpid(server, NULL, 0);
    waitpid(stranger, NULL, 0);
}

static void *take_part_of(void *rank)
{
    char name[16];
    snprintf(name, sizeof name, "part %d", *(int *)rank);
    STROBE_THREAD_NAME(name);
    take_part(*(int *)rank);
    return NULL;
}

static void plant_threads(void)
{
    static int ranks[] = {0, 1, 2};
    pthread_t threads[3];
    STROBE_SCOPE("all");
    make_barrier(3);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, take_part_of, &ranks[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

/* ---- code that runs, and a queue ---- */

static void plant_work(void)
{
    STROBE_SCOPE("run");
    for (int i = 0; i < n_rounds; i++) {
        {
            STROBE_SCOPE("fetch");
            spin(300);
        }
        STROBE_SCOPE("crunch");
        spin(2000 + 20 * percent);
    }
}

static int jobs[2]; /* a pipe of numbers */

static void *consume(void *none)
{
    uint64_t job;
    while (read(jobs[0], &job, sizeof job) == sizeof job) {
        STROBE_SCOPE("consume");
        STROBE_FLOW_END(job);
        spin(100);
    }
    return none;
}

/* The consumer is what the end waits for; it waits for `produce`. */
static void *produce(void *none)
{
    for (uint64_t job = 1; job <= (uint64_t)n_rounds; job++) {
        STROBE_SCOPE("produce");
        spin(2000);
        STROBE_FLOW_BEGIN(job);
        if (write(jobs[1], &job, sizeof job) != sizeof job)
            exit(1);
    }
    close(jobs[1]);
    return none;
}

static void plant_flow(void)
{
    pthread_t threads[2];
    STROBE_SCOPE("run");
    if (pipe(jobs))
        exit(1);
    pthread_create(&threads[0], NULL, consume, NULL);
    pthread_create(&threads[1], NULL, produce, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*plant)(void);
    } modes[] = {{"lock", plant_lock},       {"io", plant_io},
                 {"alloc", plant_alloc},     {"rank", plant_rank},
                 {"work", plant_work},       {"flow", plant_flow},
                 {"threads", plant_threads}, {"children", plant_children},
                 {"server", plant_server}};
    if (argc > 2)
        n_rounds = atoi(argv[2]);
    if (argc > 3)
        percent = (unsigned)atoi(argv[3]);
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof modes[0]; i++)
        if (!strcmp(argv[1], modes[i].name)) {
            start_bystanders();
            modes[i].plant();
            end_bystanders();
            return 0;
        }
    return 2;
}
