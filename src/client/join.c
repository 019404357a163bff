/* join.c - how a process joins a session: at its start, after a fork, as a second copy of the library.
 *
 *   start    constructor, or a hook that is called before it: join_session; a control page in the session's folder, and no more of it while
 *            nobody records
 *   fork     the pool and all thread structs are wiped by the kernel (MADV_WIPEONFORK), the atfork
 *            handler joins anew at once; after _Fork or clone the first slow path does
 *   exec     the new image has a constructor of its own; its file has a new number
 *   exit     destructor: where nothing is left to be recorded, the control page is removed
 *
 * Never allocates from the heap, prints or exits.  SPDX-License-Identifier: MIT */
#include "client/client.h"
#include "strobe/facade.h"
#include "ring/grow.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ring/alive.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* The gate of a process that takes no part. */
static const struct strobe_gate closed_gate = {0, 0, ~0ull};
/* The gate of one that has not started. Another definition, in a library that the client is a part of, takes its place. */
__attribute__((weak)) const struct strobe_gate strobe_client_first_gate = {0, 0, ~0ull};
/* The hot struct of a thread that emitted nothing yet, and then of its own where there is no memory for its state: no
 * word left, and an epoch that never is. Should the count of words left ever wrap, the epoch keeps the inline path from
 * a store, and strobe_ring_owns the slow one. */
static struct strobe_front nowhere = {.hot = {0, ~0u}};
static __thread struct strobe_front own_nowhere
    __attribute__((tls_model("initial-exec"))) = {.hot = {0, ~0u}};

STROBE_API const volatile struct strobe_gate *strobe_gate_now = &strobe_client_first_gate;
STROBE_API __thread struct strobe_hot *strobe_hot_now __attribute__((tls_model("initial-exec"))) =
    &nowhere.hot;

/* What this copy of the library knows; survives a fork. */
static struct {
    struct strobe_pool *pool;       /* private mapping, wiped by fork */
    struct strobe_control *control; /* shared mapping of our own, or of our parent before a fork */
    uint64_t map_bytes;
    char dir[STROBE_PATH_MAX];
    struct strobe_session_page session; /* as it was read last; magic 0: there is none */
    pthread_key_t key;
    bool keyed;
    uint64_t start; /* of the process, as its file's name has it */
    bool owner;     /* this copy made the process's file */
    bool off;       /* takes no part, for good */
    bool is_begun;  /* its start, for good */
} self;

/* What the program said about itself; said again to each recorder. */
static __thread char thread_name[64] __attribute__((tls_model("initial-exec")));
static char program_name[256];

static void leave_thread(void *hot);

/* Whether the calling thread has no state. */
static bool has_no_state(void)
{
    return strobe_hot_now == &nowhere.hot || strobe_hot_now == &own_nowhere.hot;
}

static_assert(offsetof(struct strobe_control, policy) - offsetof(struct strobe_control, active) ==
                      offsetof(struct strobe_gate, policy) &&
                  offsetof(struct strobe_control, floor) -
                          offsetof(struct strobe_control, active) ==
                      offsetof(struct strobe_gate, floor),
              "the gate is a part of the control page");

/* From now on the hot path tests the gate in that page, which is filled. */
static void open_gate(const struct strobe_control *control)
{
    __atomic_store_n(&strobe_gate_now, (const volatile struct strobe_gate *)&control->active,
                     __ATOMIC_RELEASE);
}

/* ---- the process's file ---- */

static bool make_pool(void);

/* Make the file <pid>-<start>-<n>.pool, or find that another copy of the library did. */
static int make_file(char path[STROBE_PATH_MAX], uint32_t *image, uint64_t *other)
{
    *other = 0;
    for (uint32_t n = 0; n < 1000; n++) {
        char name[96];
        snprintf(name, sizeof name, "%d-%llu-%u.pool", (int)getpid(),
                 (unsigned long long)self.start, n);
        if ((size_t)snprintf(path, STROBE_PATH_MAX, "%s/%s", self.dir, name) >= STROBE_PATH_MAX)
            return -1;
        *image = n;
        int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd;
        enum strobe_copy found = strobe_client_find_copy(path, other);
        self.off |= found == STROBE_COPY_UNKNOWN; /* never two streams of one thread */
        if (found != STROBE_COPY_NONE)
            return -1; /* another copy of the library in this very image */
    }
    return -1;
}

/* The control page is allocated, the whole length is mapped: what lies beyond the file's end is not touched before
 * somebody extended it. NULL: the reason is in *denied. */
static struct strobe_control *map_file(int fd, uint32_t n_chunks_max, const char **denied)
{
    uint64_t bytes = strobe_ring_file_bytes(n_chunks_max);
    *denied = "fsize";
    if (strobe_ring_grow(fd, STROBE_PAGE_BYTES) < STROBE_PAGE_BYTES)
        return NULL;
    *denied = "space";
    if (posix_fallocate(fd, 0, STROBE_PAGE_BYTES))
        return NULL;
    *denied = "mmap";
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (at == MAP_FAILED)
        return NULL;
    if ((uintptr_t)at >> STROBE_ADDRESS_BITS || !make_pool()) {
        munmap(at, bytes);
        return NULL;
    }
    self.map_bytes = bytes;
    return at;
}

/* Is the session being recorded? */
static bool session_records(void)
{
    return strobe_alive_session(self.dir, &self.session);
}

/* Only where all processes together have a limit, which is counted there; NULL: they have none. */
static struct strobe_session_page *map_session(void)
{
    if (self.session.magic != STROBE_SESSION_MAGIC || !self.session.cap_bytes)
        return NULL;
    int fd = strobe_session_open(self.dir, "session", O_RDWR);
    void *at = fd < 0 ? MAP_FAILED
                      : mmap(NULL, sizeof(struct strobe_session_page), PROT_READ | PROT_WRITE,
                             MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    return at == MAP_FAILED ? NULL : at;
}

static bool make_pool(void)
{
    size_t size = (sizeof(struct strobe_pool) + 4095) & ~(size_t)4095;
    if (!self.pool) {
        void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            return false;
        madvise(at, size, MADV_WIPEONFORK);
        self.pool = at;
    } else {
        memset(self.pool, 0, sizeof *self.pool); /* where the kernel can't wipe */
    }
    return true;
}

static void fill_control(struct strobe_control *control, uint32_t n_chunks_max, uint32_t image,
                         uint32_t features, uint64_t next_id)
{
    control->version = STROBE_RING_VERSION;
    control->pid = (uint32_t)getpid();
    control->start_time = self.start;
    control->pid_ns = strobe_alive_namespace();
    control->features = features;
    control->n_chunks_max = n_chunks_max;
    control->clock = strobe_session_clock();
    control->data_off = strobe_ring_data_off(n_chunks_max);
    control->image = image;
    control->client_version = 0x000100;
    control->private_block = (uint64_t)(uintptr_t)self.pool;
    control->next_id = next_id;
    control->floor = STROBE_WORD_BEGIN | next_id << 32;
    control->stack_depth = 32;
    control->generation = 1;
}

static void fill_pool(struct strobe_control *control, uint32_t n_chunks_max, const char *path)
{
    struct strobe_pool *pool = self.pool;
    pool->pid = control->pid;
    pool->control = control;
    pool->chunks = (struct strobe_chunk *)((char *)control + STROBE_PAGE_BYTES);
    pool->data = (char *)control + control->data_off;
    pool->session = map_session();
    if (self.session.magic == STROBE_SESSION_MAGIC) {
        pool->session_recorder = self.session.recorder_pid;
        pool->session_recorder_ns = self.session.recorder_pid_ns;
        pool->session_recorder_start = self.session.recorder_start;
    }
    pool->n_chunks_max = n_chunks_max;
    pool->dry_ticks = strobe_ring_dry_ticks(control->clock);
    pool->n_copies = 1;
    pool->next_dynamic = 1ull << 32;
    snprintf(pool->path, sizeof pool->path, "%s", path);
    __atomic_store_n(&pool->magic, STROBE_POOL_MAGIC, __ATOMIC_RELEASE);
}

/* Open our own gate: a recorder is there and will find us. */
static void start_recording(struct strobe_pool *pool)
{
    struct strobe_control *control = pool->control;
    control->policy = self.session.policy;
    control->stack_depth = self.session.stack_depth;
    strobe_ring_lock(pool);
    __atomic_store_n(&control->active, 1, __ATOMIC_RELEASE);
    strobe_client_describe(pool);
    strobe_ring_unlock(pool);
    if (!session_records())
        __atomic_store_n(&control->active, 0, __ATOMIC_RELEASE); /* it ended just now */
}

/* A second copy: take part through the first one's state. */
static void join_first_copy(uint64_t address)
{
    struct strobe_control *control = (struct strobe_control *)(uintptr_t)address;
    uint64_t block = __atomic_load_n(&control->magic, __ATOMIC_ACQUIRE) == STROBE_RING_MAGIC
                         ? control->private_block
                         : 0;
    struct strobe_pool *pool = (struct strobe_pool *)(uintptr_t)block;
    /* the page may be damaged: what it points to is looked at only where it is memory of our own */
    if (!block || block % 8 || !strobe_client_owns(block, sizeof *pool) ||
        __atomic_load_n(&pool->magic, __ATOMIC_ACQUIRE) != STROBE_POOL_MAGIC ||
        pool->pid != (uint32_t)getpid() || pool->control != control) {
        self.off = true; /* a copy of another version: one of us has to be quiet */
        return;
    }
    __atomic_add_fetch(&pool->n_copies, 1, __ATOMIC_RELAXED);
    self.pool = pool;
    self.control = control;
    open_gate(control);
}

/* Without /proc a start is a number that the parent has too: a child mixes the time in. */
static void find_start(bool is_forked)
{
    struct timespec now;
    self.start = strobe_session_own_start();
    if (self.start < STROBE_START_OWN || !is_forked)
        return;
    clock_gettime(CLOCK_BOOTTIME, &now);
    self.start ^=
        ((uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec) & (STROBE_START_OWN - 1);
}

/* Join the session whose folder is in self.dir. `next_id` goes on where a parent stopped. */
static void join_session(uint64_t next_id, bool is_forked)
{
    char path[STROBE_PATH_MAX];
    uint32_t image = 0;
    uint64_t other = 0;
    bool recording = session_records();
    uint64_t pool_bytes =
        self.session.magic == STROBE_SESSION_MAGIC ? self.session.pool_bytes : STROBE_DEFAULT_POOL;
    uint64_t n_wanted = pool_bytes / STROBE_CHUNK_BYTES;
    uint32_t n_chunks_max = n_wanted < 4 ? 4 : n_wanted > 65535 ? 65535 : (uint32_t)n_wanted;
    const char *denied = "files";
    find_start(is_forked);
    int fd = make_file(path, &image, &other);
    if (fd < 0 && other)
        join_first_copy(other);
    else if (fd < 0 && (errno == EMFILE || errno == ENFILE))
        strobe_client_deny(self.dir, denied);
    else if (fd < 0 && !self.off)
        strobe_client_call(self.dir, errno);
    if (fd < 0)
        return;
    struct strobe_control *control = map_file(fd, n_chunks_max, &denied);
    if (!control) {
        unlink(path);
        close(fd);
        strobe_client_deny(self.dir, denied);
        return;
    }
    enum strobe_loss short_cause = STROBE_LOSS_FILE_SIZE;
    control->file_bytes =
        recording ? strobe_ring_extend(fd, n_chunks_max, &short_cause) : STROBE_PAGE_BYTES;
    control->short_cause = short_cause;
    uint32_t features = strobe_alive_hold(path, fd);
    self.control = control;
    self.owner = true;
    fill_control(control, n_chunks_max, image, features, next_id);
    fill_pool(control, n_chunks_max, path);
    __atomic_store_n(&control->magic, STROBE_RING_MAGIC, __ATOMIC_RELEASE);
    if (recording)
        start_recording(self.pool);
    else if (strobe_ticks() / 64 % 8 == 0)
        strobe_client_sweep(self.dir, path);
    open_gate(control);
}

/* ---- fork, threads, exit ---- */

/* In a forked child the pool is wiped: leave the parent's memory alone and join anew. Its mapping
 * stays, since another copy of the library may still look at the gate in it. */
static void join_after_fork(void)
{
    struct strobe_control *parents = self.control;
    strobe_gate_now = &closed_gate;
    strobe_hot_now = &nowhere.hot;
    uint64_t next_id = parents ? parents->next_id : 1;
    self.control = NULL;
    self.owner = false;
    if (self.dir[0] && !self.off)
        join_session(next_id, true);
}

/* Another copy of the library joined first: follow it. */
static void follow(struct strobe_pool *pool)
{
    self.control = pool->control;
    self.owner = false;
    strobe_hot_now = &nowhere.hot;
    open_gate(pool->control);
    __atomic_add_fetch(&pool->n_copies, 1, __ATOMIC_RELAXED);
}

struct strobe_pool *strobe_ring_own_pool(void)
{
    return self.pool && self.pool->magic == STROBE_POOL_MAGIC ? self.pool : NULL;
}

struct strobe_pool *strobe_client_pool(void)
{
    struct strobe_pool *pool = self.pool;
    if (!pool || self.off)
        return NULL;
    if (pool->magic != STROBE_POOL_MAGIC) {
        int saved_errno = errno;
        struct strobe_mask old;
        strobe_ring_block(&old);
        join_after_fork();
        strobe_ring_unblock(&old);
        errno = saved_errno;
        if (pool->magic != STROBE_POOL_MAGIC)
            return NULL;
    }
    if (self.control != pool->control)
        follow(pool);
    return pool;
}

static void after_fork_in_child(void)
{
    int saved_errno = errno;
    struct strobe_mask old;
    strobe_ring_block(&old);
    if (self.pool && self.pool->magic == STROBE_POOL_MAGIC && self.pool->pid != (uint32_t)getpid())
        memset(self.pool, 0, sizeof *self.pool); /* a kernel that can't wipe */
    strobe_client_pool();
    strobe_ring_unblock(&old);
    errno = saved_errno;
}

static struct strobe_thread *find_thread(struct strobe_pool *pool, uint32_t tid)
{
    return __atomic_load_n(&pool->n_copies, __ATOMIC_RELAXED) < 2
               ? NULL
               : strobe_ring_find_thread(pool, tid);
}

static void keep(char *out, size_t cap, const char *name)
{
    size_t n = strlen(name);
    n = n < cap ? n : cap - 1;
    memcpy(out, name, n);
    out[n] = 0;
}

void strobe_client_keep_thread_name(const char *name)
{
    keep(thread_name, sizeof thread_name, name);
}

void strobe_client_keep_program_name(const char *name)
{
    keep(program_name, sizeof program_name, name);
}

/* How the program was built for another tracer; 0: it was not. */
static unsigned switches(void)
{
    return &strobe_facade_switches ? strobe_facade_switches : 0;
}

/* Say who the thread is, once per recorder. Locked. */
static void describe_thread(struct strobe_pool *pool, struct strobe_thread *thread)
{
    uint32_t generation = pool->control->active;
    char own[32] = "";
    strobe_client_describe(pool);
    if (thread->generation == generation)
        return;
    if (!thread_name[0] && switches() && thread->tid == pool->pid)
        keep(own, sizeof own, "Main thread"); /* as Tracy calls it */
    else if (!thread_name[0])
        pthread_getname_np(pthread_self(), own, sizeof own);
    const char *texts[] = {thread_name[0] ? thread_name : own};
    size_t n_bytes[] = {strlen(texts[0])};
    uint64_t numbers[] = {thread->track, thread->tid, strobe_ring_now(pool)};
    if (strobe_client_meta(pool, STROBE_META_THREAD, numbers, 3, texts, n_bytes, 1))
        thread->generation = generation;
}

struct strobe_thread *strobe_client_known_thread(void)
{
    struct strobe_thread *thread = (struct strobe_thread *)strobe_hot_now;
    return has_no_state() || !thread->track ? NULL : thread;
}

struct strobe_thread *strobe_client_thread(struct strobe_pool *pool)
{
    struct strobe_thread *thread = strobe_client_known_thread();
    if (has_no_state())
        __atomic_store_n(&strobe_hot_now->cursor, 0, __ATOMIC_RELAXED); /* it counts no further */
    if (thread) {
        if (thread->generation != pool->control->active) {
            strobe_ring_lock(pool);
            describe_thread(pool, thread);
            strobe_ring_unlock(pool);
        }
        return thread;
    }
    uint32_t tid = (uint32_t)gettid();
    strobe_ring_lock(pool);
    thread = find_thread(pool, tid);
    if (thread)
        thread->n_copies++;
    else
        thread = strobe_ring_add_thread(pool, tid);
    if (thread)
        describe_thread(pool, thread);
    strobe_ring_unlock(pool);
    if (!thread && strobe_hot_now != &own_nowhere.hot)
        own_nowhere.dry.until = 0; /* of a parent, before a fork */
    strobe_hot_now = thread ? &thread->hot : &own_nowhere.hot;
    if (!thread)
        return NULL;
    if (self.keyed)
        pthread_setspecific(self.key, (void *)1);
    return thread;
}

/* Destructor of the thread's key. Other destructors may still emit, so stay as long as they let us:
 * the last round ends the thread. */
static void leave_thread(void *round)
{
    enum { ROUNDS = 4 }; /* PTHREAD_DESTRUCTOR_ITERATIONS */
    /* A sanitizer's own state goes in the last one. */
    uintptr_t last = strobe_sanitizer_is_there() ? 2 : ROUNDS;
    if ((uintptr_t)round < last) {
        pthread_setspecific(self.key, (void *)((uintptr_t)round + 1));
        return;
    }
    struct strobe_mask old;
    strobe_ring_block(&old);
    struct strobe_pool *pool = strobe_client_pool();
    struct strobe_thread *thread = (struct strobe_thread *)strobe_hot_now;
    if (pool && !has_no_state() && thread->track) {
        strobe_hot_now = &nowhere.hot;
        strobe_ring_forget_sleep(pool, thread, &old); /* cancelled in its sleep */
        strobe_client_settle_last(pool, thread, &old);
        strobe_ring_lock(pool);
        if (--thread->n_copies == 0)
            strobe_ring_end_thread(pool, thread);
        strobe_ring_unlock(pool);
    }
    strobe_ring_unblock(&old);
}

/* Which session: the one named in the environment, one of our own for $STROBE_TRACE, or the
 * default. */
static bool find_session(void)
{
    char launched[64];
    const char *name = getenv("STROBE_SESSION");
    if (name && name[0]) {
        enum strobe_err err = strobe_session_dir(name, false, self.dir);
        if (err)
            strobe_client_call(self.dir, access(self.dir, F_OK) ? errno : EACCES);
        return !err;
    }
    if (strobe_client_launch(launched))
        return !strobe_session_dir(launched, false, self.dir);
    return !strobe_session_dir(STROBE_DEFAULT_SESSION, true, self.dir);
}

const char *strobe_session_folder(void)
{
    return self.control ? self.dir : NULL;
}

static void start(void)
{
    int saved_errno = errno;
    struct strobe_mask old;
    strobe_ring_block(&old);
    self.keyed = !pthread_key_create(&self.key, leave_thread);
    pthread_atfork(NULL, NULL, after_fork_in_child);
    if (find_session())
        join_session(1, false);
    else
        self.dir[0] = 0;
    strobe_ring_unblock(&old);
    errno = saved_errno;
}

__attribute__((constructor(101))) void strobe_client_start(void)
{
    const char *disabled = getenv("STROBE_DISABLE");
    const volatile struct strobe_gate *first = &strobe_client_first_gate;
    if (__atomic_exchange_n(&self.is_begun, true, __ATOMIC_RELAXED))
        return;
    if (!getauxval(AT_SECURE) && (!disabled || !disabled[0] || disabled[0] == '0'))
        start();
    __atomic_compare_exchange_n(&strobe_gate_now, &first, &closed_gate, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
}

/* Nothing of this process was ever recorded and no other copy of the library looks at its file: so no thread
 * has a segment, and the file can be left for one in another folder. The old control page stays
 * mapped, closed: a thread may have its gate in hand. */
static bool can_move(const struct strobe_pool *pool)
{
    return !pool || (self.owner && pool->n_copies == 1 && !pool->control->n_chunks &&
                     !pool->control->active);
}

int strobe_join_session(const char *name)
{
    char dir[STROBE_PATH_MAX];
    int saved_errno = errno, result = -1;
    struct strobe_mask old;
    strobe_ring_block(&old);
    struct strobe_pool *pool = strobe_client_pool();
    if (!self.off && self.keyed && can_move(pool) && !strobe_session_dir(name, false, dir)) {
        uint64_t next_id = pool ? pool->control->next_id : 1;
        if (pool) {
            unlink(pool->path);
            memset(pool, 0, sizeof *pool);
        }
        memcpy(self.dir, dir, sizeof dir);
        self.session.magic = 0;
        self.control = NULL;
        self.owner = false;
        strobe_gate_now = &closed_gate;
        join_session(next_id, false);
        result = self.control ? 0 : -1;
    }
    strobe_ring_unblock(&old);
    errno = saved_errno;
    return result;
}

/* Seconds that a program built for another tracer, which has a switch to stay until its data is taken, stays at its
 * end if nobody records it. Never for good. 0: it does not. */
static long exit_wait(void)
{
    const char *asked = getenv("TRACY_NO_EXIT"), *seconds = getenv("STROBE_EXIT_WAIT");
    bool by_user = asked && asked[0] == '1';
    if (!switches() || !(by_user || switches() & STROBE_SWITCH_NO_EXIT))
        return 0;
    long n = seconds ? strtol(seconds, NULL, 10) : 10;
    return n < 0 ? 0 : n > 3600 ? 3600 : n;
}

static void wait_at_exit(const struct strobe_pool *pool)
{
    const struct timespec nap = {0, 10000000};
    if (pool->control->n_chunks) /* somebody recorded it, and has what it emitted */
        return;
    for (long n = exit_wait() * 100; n > 0 && !pool->control->active; n--)
        nanosleep(&nap, NULL);
}

static void leave(struct strobe_pool *pool)
{
    wait_at_exit(pool);
    const struct strobe_control *control = pool->control;
    bool is_empty = !control->n_chunks && !(control->active && control->lost_first_tick);
    if (is_empty || (!control->active && control->detached_tick))
        unlink(pool->path); /* nothing was recorded or lost, or its recorder left with all of it */
    if (!pool->control->active)
        strobe_client_leave_session(self.dir);
}

/* The last ends of the calling thread. */
static void settle(struct strobe_pool *pool)
{
    struct strobe_thread *thread = strobe_client_known_thread();
    struct strobe_mask old;
    strobe_ring_block(&old);
    if (thread)
        strobe_client_settle_last(pool, thread, &old);
    strobe_ring_unblock(&old);
}

/* The program's signals stay open: it may wait here for a recorder. */
__attribute__((destructor(101))) static void stop(void)
{
    struct strobe_pool *pool = self.pool;
    int cancel, saved_errno = errno;
    if (self.keyed)
        pthread_key_delete(self.key); /* this copy's code may be unmapped now (dlclose) */
    self.keyed = false;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    if (self.dir[0] && !self.control && !session_records())
        strobe_client_withdraw_denial();
    if (self.owner && pool && pool->magic == STROBE_POOL_MAGIC && pool->pid == (uint32_t)getpid())
        settle(pool), leave(pool);
    pthread_setcancelstate(cancel, NULL);
    errno = saved_errno;
}

/* ---- describing the process ---- */

static size_t read_small(const char *path, char *out, size_t n_bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, out, n_bytes);
    close(fd);
    return n > 0 ? (size_t)n : 0;
}

void strobe_client_describe(struct strobe_pool *pool)
{
    uint32_t generation = pool->control->active;
    if (pool->described == generation || !generation || strobe_ring_is_hopeless(pool))
        return;
    uint32_t before = pool->described;
    pool->described = generation;
    enum { PATH_BYTES = 1024, ARGV_BYTES = sizeof pool->text - 2 * PATH_BYTES };
    char *exe = pool->text, *cwd = exe + PATH_BYTES, *argv = cwd + PATH_BYTES;
    ssize_t n_exe = readlink("/proc/self/exe", exe, PATH_BYTES);
    ssize_t n_cwd = readlink("/proc/self/cwd", cwd, PATH_BYTES);
    size_t n_argv = read_small("/proc/self/cmdline", argv, ARGV_BYTES);
    while (n_argv && !argv[n_argv - 1])
        n_argv--;
    const char *texts[] = {exe, cwd, argv};
    size_t n_bytes[] = {n_exe > 0 ? (size_t)n_exe : 0, n_cwd > 0 ? (size_t)n_cwd : 0, n_argv};
    uint64_t numbers[] = {pool->pid, (uint64_t)getppid(), pool->control->start_time};
    if (!strobe_client_meta(pool, STROBE_META_PROCESS, numbers, 3, texts, n_bytes, 3))
        pool->described = before;
    const char *name = program_name;
    size_t n_name = strlen(name);
    if (n_name)
        strobe_client_meta(pool, STROBE_META_PROGRAM_NAME, NULL, 0, &name, &n_name, 1);
    strobe_client_tell_kept(pool);
}
