/* ring_write.c - the producer's half of the rings: taking segments, opening slots, waiting.
 * Runs inside the traced program: never allocates from the heap, prints, exits, or waits for good.
 * Who may touch which shared field, and the states of a segment: wire/ring_layout.h.
 * SPDX-License-Identifier: MIT */
#include "ring/ring_write.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "ring/alive.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* A recorder whose heart stands still for so long is given up; one that lives may take longer. */
#define STALL_NS (60 * 1000000ull)
/* A tmpfs that is full costs 50 us to ask. */
#define NO_PAGES_NS (10 * 1000000ull)
/* So long a thread waits while the recorder gives back nothing, and for a segment in all: where many threads run on few
 * processors, others are faster to take what comes back. */
#define WAIT_MAX_NS  (1000 * 1000000ull)
#define WAIT_ALL_NS  (10 * WAIT_MAX_NS)
#define WAIT_STEP_NS (10 * 1000000ull)
/* Between two looks for threads that are gone. */
#define LOOK_NS (100 * 1000000ull)

static const struct {
    uint32_t n_segments;
    uint32_t n_bytes;
} classes[] = {
    [STROBE_CHUNK_UNUSED] = {0, 0},    [STROBE_CHUNK_SLOTS] = {0, 0},
    [STROBE_CHUNK_SMALL] = {64, 1024}, [STROBE_CHUNK_MEDIUM] = {8, 8192},
    [STROBE_CHUNK_LARGE] = {1, 65536},
};

static uint64_t full_mask(uint32_t class_)
{
    STROBE_ASSERT(class_ >= STROBE_CHUNK_SLOTS && class_ <= STROBE_CHUNK_LARGE);
    uint32_t n = classes[class_].n_segments;
    return n == 64 ? ~0ull : (1ull << n) - 1;
}

static uint64_t mono_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

uint64_t strobe_ring_now(const struct strobe_pool *pool)
{
    return pool->control->clock == STROBE_CLOCK_TSC ? strobe_ticks() : mono_ns();
}

static long futex(uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
    return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

/* For asserts: others try for the lock at any time. */
__attribute__((unused)) static bool is_locked(const struct strobe_pool *pool)
{
    return __atomic_load_n(&pool->lock, __ATOMIC_RELAXED);
}

void strobe_ring_lock(struct strobe_pool *pool)
{
    uint32_t seen = 0;
    if (!__atomic_compare_exchange_n(&pool->lock, &seen, 1, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        while (__atomic_exchange_n(&pool->lock, 2, __ATOMIC_ACQUIRE) != 0)
            futex(&pool->lock, FUTEX_WAIT_PRIVATE, 2, NULL);
    strobe_sanitizer_acquire(&pool->lock);
}

void strobe_ring_unlock(struct strobe_pool *pool)
{
    STROBE_ASSERT(is_locked(pool));
    strobe_sanitizer_release(&pool->lock);
    if (__atomic_exchange_n(&pool->lock, 0, __ATOMIC_RELEASE) == 2)
        futex(&pool->lock, FUTEX_WAKE_PRIVATE, 1, NULL);
}

bool strobe_ring_enter(struct strobe_pool *pool)
{
    struct strobe_control *control = pool->control;
    __atomic_add_fetch(&control->n_inside, 1, __ATOMIC_SEQ_CST);
    return __atomic_load_n(&control->active, __ATOMIC_SEQ_CST) != 0;
}

void strobe_ring_leave(struct strobe_pool *pool)
{
    __atomic_sub_fetch(&pool->control->n_inside, 1, __ATOMIC_RELEASE);
}

/* ---- chunks ---- */

/* Really allocate the pages of one chunk, so that a full tmpfs is an error here and never a SIGBUS.
 */
static bool allocate_pages(struct strobe_pool *pool, char *at)
{
    if (!madvise(at, STROBE_CHUNK_BYTES, MADV_POPULATE_WRITE))
        return true;
    if (errno != EINVAL)
        return false;
    int fd = open(pool->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW); /* kernel before 5.14 */
    if (fd < 0)
        return false;
    off_t off = (off_t)pool->control->data_off + (at - pool->data);
    bool done = !fallocate(fd, 0, off, STROBE_CHUNK_BYTES);
    close(fd);
    return done;
}

/* Whether the process's memory cgroup leaves room for chunk `n`. */
static bool is_under_group(struct strobe_pool *pool, uint32_t n)
{
    enum { LEAST = 4 }; /* chunks, as in the smallest pool */
    struct strobe_group *group = &pool->group;
    if (!group->is_looked_for)
        strobe_group_find(group);
    return !group->version ||
           ((n < LEAST || (n + 1ull) * STROBE_CHUNK_BYTES <= strobe_group_share(group)) &&
            strobe_group_has_room(group, STROBE_CHUNK_BYTES));
}

/* Count one more chunk against the session's cap. */
static bool under_cap(struct strobe_pool *pool)
{
    struct strobe_session_page *session = pool->session;
    if (!session || !session->cap_bytes)
        return true;
    uint64_t used = __atomic_add_fetch(&session->used_bytes, STROBE_CHUNK_BYTES, __ATOMIC_RELAXED);
    if (used <= session->cap_bytes)
        return true;
    __atomic_sub_fetch(&session->used_bytes, STROBE_CHUNK_BYTES, __ATOMIC_RELAXED);
    return false;
}

/* Whether the file reaches over chunk `i`; where it does not, only whoever may extend it can help. */
static bool is_in_file(const struct strobe_pool *pool, uint32_t i)
{
    return pool->control->data_off + (i + 1ull) * STROBE_CHUNK_BYTES <=
           __atomic_load_n(&pool->control->file_bytes, __ATOMIC_ACQUIRE);
}

bool strobe_ring_owns(const struct strobe_pool *pool, const uint64_t *word)
{
    uintptr_t at = (uintptr_t)word - (uintptr_t)pool->data;
    return at < (uint64_t)pool->n_chunks_max * STROBE_CHUNK_BYTES;
}

bool strobe_ring_is_hopeless(const struct strobe_pool *pool)
{
    return pool->control->n_chunks == 0 &&
           (!is_in_file(pool, 0) ||
            (pool->no_pages_until_ns && mono_ns() < pool->no_pages_until_ns));
}

static enum strobe_loss short_cause(const struct strobe_pool *pool)
{
    return pool->control->short_cause == STROBE_LOSS_NO_MEMORY ? STROBE_LOSS_NO_MEMORY
                                                               : STROBE_LOSS_FILE_SIZE;
}

enum strobe_loss strobe_ring_unnamed_cause(const struct strobe_pool *pool)
{
    return pool->control->n_chunks || is_in_file(pool, 0) ? STROBE_LOSS_UNNAMED : short_cause(pool);
}

static void give_cap_back(struct strobe_pool *pool)
{
    if (pool->session && pool->session->cap_bytes)
        __atomic_sub_fetch(&pool->session->used_bytes, STROBE_CHUNK_BYTES, __ATOMIC_RELAXED);
}

/* One more chunk at the end of the pool, or -1. */
static int add_chunk(struct strobe_pool *pool, uint32_t class_, enum strobe_loss *loss)
{
    struct strobe_control *control = pool->control;
    uint32_t n = control->n_chunks;
    STROBE_ASSERT(is_locked(pool));
    STROBE_ASSERT(class_ >= STROBE_CHUNK_SLOTS && class_ <= STROBE_CHUNK_LARGE);
    /* a sixteenth is kept for slots: a chunk with a live thread's segment in it can't become one
     * later */
    uint32_t kept = class_ == STROBE_CHUNK_SLOTS ? 0 : pool->n_chunks_max / 16;
    if (n >= pool->n_chunks_max - kept) {
        *loss = STROBE_LOSS_POOL_FULL;
        return -1;
    }
    if (!is_in_file(pool, n)) {
        *loss = short_cause(pool);
        return -1;
    }
    *loss = STROBE_LOSS_NO_MEMORY;
    if (pool->no_pages_until_ns && mono_ns() < pool->no_pages_until_ns)
        return -1;
    if (!under_cap(pool))
        return -1;
    if (!is_under_group(pool, n) ||
        !allocate_pages(pool, pool->data + (uint64_t)n * STROBE_CHUNK_BYTES)) {
        give_cap_back(pool);
        pool->no_pages_until_ns = mono_ns() + NO_PAGES_NS;
        return -1;
    }
    pool->chunks[n].class_ = class_;
    __atomic_store_n(&pool->chunks[n].free_bits,
                     class_ == STROBE_CHUNK_SLOTS ? 0 : full_mask(class_), __ATOMIC_RELEASE);
    __atomic_store_n(&control->n_chunks, n + 1, __ATOMIC_RELEASE);
    return (int)n;
}

/* Recut a chunk of another class whose segments are all free, or -1. The first chunk stays with the
 * meta stream, so that names always have room. */
static int recut_chunk(struct strobe_pool *pool, uint32_t class_)
{
    STROBE_ASSERT(is_locked(pool));
    for (uint32_t i = 1; i < pool->control->n_chunks; i++) {
        struct strobe_chunk *chunk = &pool->chunks[i];
        uint32_t old = chunk->class_;
        if (old < STROBE_CHUNK_SMALL || old > STROBE_CHUNK_LARGE || old == class_)
            continue;
        uint64_t all = full_mask(old);
        if (!__atomic_compare_exchange_n(&chunk->free_bits, &all, 0, false, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue;
        chunk->class_ = class_;
        __atomic_store_n(&chunk->free_bits, full_mask(class_), __ATOMIC_RELEASE);
        return (int)i;
    }
    return -1;
}

static char *take_from(struct strobe_pool *pool, uint32_t i)
{
    STROBE_ASSERT(is_locked(pool));
    struct strobe_chunk *chunk = &pool->chunks[i];
    uint64_t bits = __atomic_load_n(&chunk->free_bits, __ATOMIC_ACQUIRE);
    if (!bits)
        return NULL;
    uint32_t bit = (uint32_t)__builtin_ctzll(bits);
    __atomic_and_fetch(&chunk->free_bits, ~(1ull << bit), __ATOMIC_ACQ_REL);
    pool->hint[chunk->class_] = classes[chunk->class_].n_segments == 1 ? i + 1 : i;
    return pool->data + (uint64_t)i * STROBE_CHUNK_BYTES +
           (uint64_t)bit * classes[chunk->class_].n_bytes;
}

/* The first chunk is the meta stream's, whoever comes first: a thread whose first event needs no name takes its slot before
 * anything is described. False: there is no room for it. */
static bool has_names_chunk(struct strobe_pool *pool, enum strobe_loss *loss)
{
    return pool->control->n_chunks || add_chunk(pool, STROBE_CHUNK_MEDIUM, loss) == 0;
}

/* A free segment of `class_`, or NULL. Locked. */
static char *take_segment(struct strobe_pool *pool, uint32_t class_, bool meta,
                          enum strobe_loss *loss)
{
    uint32_t first = meta ? 0 : 1, n = pool->control->n_chunks;
    STROBE_ASSERT(is_locked(pool));
    STROBE_ASSERT(class_ >= STROBE_CHUNK_SMALL && class_ <= STROBE_CHUNK_LARGE);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = (pool->hint[class_] + k) % n;
        if (i < first || pool->chunks[i].class_ != class_)
            continue;
        char *segment = take_from(pool, i);
        if (segment)
            return segment;
    }
    if (!meta && !has_names_chunk(pool, loss))
        return NULL;
    int i = add_chunk(pool, class_, loss);
    if (i < 0)
        i = recut_chunk(pool, class_);
    return i < 0 ? NULL : take_from(pool, (uint32_t)i);
}

/* The class that a thread's next segment should have: small at first, larger for those that fill
 * them, and never so large that all live threads together would hold more than a quarter of the
 * pool. What a live thread holds it keeps until it is full, and threads that come later need room
 * too: ten thousand fit the default pool. */
static uint32_t wanted_class(const struct strobe_pool *pool, const struct strobe_thread *thread)
{
    uint64_t share = (uint64_t)pool->n_chunks_max * STROBE_CHUNK_BYTES / 4 / (pool->n_threads + 1);
    if (thread->n_filled < 2 || share < 8192)
        return STROBE_CHUNK_SMALL;
    return thread->n_filled < 4 || share < STROBE_CHUNK_BYTES ? STROBE_CHUNK_MEDIUM
                                                              : STROBE_CHUNK_LARGE;
}

static char *take_any_segment(struct strobe_pool *pool, uint32_t class_, enum strobe_loss *loss)
{
    char *segment = take_segment(pool, class_, false, loss);
    for (uint32_t c = STROBE_CHUNK_SMALL; !segment && c <= STROBE_CHUNK_LARGE; c++)
        if (c != class_)
            segment = take_segment(pool, c, false, loss);
    return segment;
}

static void open_segment(struct strobe_pool *pool, struct strobe_segment_head *head, uint64_t track,
                         uint64_t pos, uint64_t tick)
{
    STROBE_ASSERT(is_locked(pool));
    STROBE_ASSERT(((char *)head - pool->data) % 1024 == 0);
    uint32_t i = (uint32_t)(((char *)head - pool->data) / STROBE_CHUNK_BYTES);
    head->n_words = classes[pool->chunks[i].class_].n_bytes / 8 - STROBE_SEGMENT_HEAD_WORDS;
    head->track = track;
    head->base_pos = pos;
    head->tick = tick;
    __atomic_store_n(&head->magic, STROBE_SEGMENT_MAGIC, __ATOMIC_RELEASE);
    __atomic_add_fetch(&pool->control->n_taken, 1, __ATOMIC_RELEASE);
}

/* ---- waiting ---- */

/* In a vfork child, or on an alternate signal stack: no place to sleep. */
static bool may_wait(struct strobe_pool *pool)
{
    stack_t stack;
    if (pool->control->policy == STROBE_POLICY_DROP || (uint32_t)getpid() != pool->pid)
        return false;
    return sigaltstack(NULL, &stack) || !(stack.ss_flags & SS_ONSTACK);
}

/* Whether the recorder has anything that it could give back; in a tmpfs that is full from the start
 * it has not. */
static bool has_taken(const struct strobe_pool *pool, uint32_t first)
{
    for (uint32_t i = first; i < pool->control->n_chunks; i++) {
        uint32_t class_ = pool->chunks[i].class_;
        if (class_ >= STROBE_CHUNK_SMALL && class_ <= STROBE_CHUNK_LARGE &&
            __atomic_load_n(&pool->chunks[i].free_bits, __ATOMIC_RELAXED) != full_mask(class_))
            return true;
    }
    return false;
}

/* No thread is to wait before n_given moves: by policy, because the recorder was given up, or because it has nothing to give. */
static bool nobody_waits(const struct strobe_pool *pool, uint32_t given)
{
    STROBE_ASSERT(is_locked(pool));
    return pool->control->policy == STROBE_POLICY_DROP || pool->given_up_at == given + 1ull ||
           !has_taken(pool, 1);
}

/* Whether the session's page is locked: the recorder lives, in whatever namespace. True where it can't be asked. */
static bool recorder_lives(const struct strobe_pool *pool)
{
    char path[STROBE_PATH_MAX + 16];
    const char *slash = strrchr(pool->path, '/');
    snprintf(path, sizeof path, "%.*s/session", slash ? (int)(slash - pool->path) : 0, pool->path);
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    bool lives = fd < 0 || strobe_alive_holder(fd);
    if (fd >= 0)
        close(fd);
    return lives;
}

/* Stopped or dead, and not merely short of a processor? By its pid only where that is one of our namespace. */
static bool recorder_is_stuck(const struct strobe_pool *pool)
{
    const struct strobe_control *control = pool->control;
    uint32_t pid = control->recorder_pid, pid_ns = control->recorder_pid_ns;
    uint64_t start = control->recorder_start;
    if (!pid) /* it has not seen this process yet */
        pid = pool->session_recorder, pid_ns = pool->session_recorder_ns,
        start = pool->session_recorder_start;
    char state = 0;
    if (pid && pid_ns && pid_ns == control->pid_ns && strobe_session_start_time((int)pid) == start)
        state = strobe_session_process_state((int)pid);
    return state ? state != 'R' && state != 'S' && state != 'D' : !recorder_lives(pool);
}

/* One step of the sleep. A thread that waits for its own segment is open to the program's signals and to its
 * cancellation meanwhile, and only here: a handler may jump away, see strobe_ring_forget_sleep. */
static void sleep_step(struct strobe_pool *pool, struct strobe_thread *thread, uint32_t given,
                       const struct timespec *step)
{
    struct strobe_mask all;
    if (thread)
        strobe_ring_unblock(&thread->mask);
    futex(&pool->control->n_given, FUTEX_WAIT, given, step);
    if (!thread)
        return;
    strobe_ring_block(&all);
    /* The pool may be full because of what the thread left itself. */
    strobe_ring_mend(pool, thread, thread->frame);
}

/* Until n_given moves. A few look often whether the recorder lives, and wake the rest when it
 * doesn't: ten thousand that look every 10 ms would take the processor from it. *waited_ns grows by
 * the time in which this thread could have gone on: of a step that took far too long, the thread was
 * stopped, and maybe the recorder with it, only what the step is meant to take. True: given up. */
static bool sleep_for_room(struct strobe_pool *pool, struct strobe_thread *thread, uint32_t given,
                           uint64_t *waited_ns, uint64_t *beat)
{
    struct strobe_control *control = pool->control;
    uint64_t before = mono_ns(), still_ns = 0; /* the heart stands still for so long */
    bool given_up = false;
    uint32_t n_before = __atomic_fetch_add(&control->n_waiting, 1, __ATOMIC_SEQ_CST);
    const uint64_t step_ns = n_before < 8 ? WAIT_STEP_NS : STALL_NS * 4;
    const struct timespec step = {0, (long)step_ns};
    while (__atomic_load_n(&control->n_given, __ATOMIC_SEQ_CST) == given && !given_up) {
        sleep_step(pool, thread, given, &step);
        uint64_t now = mono_ns(), seen = __atomic_load_n(&control->heartbeat, __ATOMIC_ACQUIRE);
        uint64_t passed = now - before > step_ns + STALL_NS ? step_ns : now - before;
        before = now;
        *waited_ns += passed;
        still_ns += passed;
        if (seen != *beat || (still_ns > STALL_NS && !recorder_is_stuck(pool)))
            *beat = seen, still_ns = 0;
        given_up = still_ns > STALL_NS || *waited_ns > WAIT_MAX_NS ||
                   __atomic_load_n(&pool->stalled_heartbeat, __ATOMIC_RELAXED) == *beat + 1;
    }
    __atomic_sub_fetch(&control->n_waiting, 1, __ATOMIC_SEQ_CST);
    return given_up && __atomic_load_n(&control->n_given, __ATOMIC_SEQ_CST) == given;
}

static void add_waited(struct strobe_slot *slot, uint64_t ns)
{
    ns += strobe_slot_waited_ns(slot);
    slot->waited_low = (uint32_t)ns;
    slot->waited_high = (uint16_t)(ns >> 32);
}

/* Sleep until the recorder gave something back. Locked. A thread that waits for its own segment
 * lets go of the lock and of the signals meanwhile; for a fact (`thread` is NULL) both are kept.
 * False: give up. */
static bool wait_for_room(struct strobe_pool *pool, struct strobe_thread *thread, uint32_t given,
                          uint64_t *waited_ns)
{
    struct strobe_control *control = pool->control;
    uint64_t beat = __atomic_load_n(&control->heartbeat, __ATOMIC_ACQUIRE);
    if (pool->stalled_heartbeat == beat + 1 || pool->given_up_at == given + 1ull ||
        !may_wait(pool) || (thread && thread->waiting) || !control->active ||
        !has_taken(pool, thread ? 1 : 0))
        return false;
    pool->stalled_heartbeat = 0;
    uint64_t start = mono_ns();
    STROBE_ASSERT(is_locked(pool));
    STROBE_ASSERT(!thread || !thread->waiting);
    volatile uintptr_t token = (uintptr_t)&token | 1; /* stands in this frame and nowhere else */
    if (thread) {
        thread->waiting = token;
        strobe_ring_leave(pool); /* it tests the gate again before it stores anything */
        strobe_ring_unlock(pool);
    }
    bool is_open = true, given_up = sleep_for_room(pool, thread, given, waited_ns, &beat);
    if (thread) {
        strobe_ring_lock(pool);
        is_open = strobe_ring_enter(pool);
        thread->waiting = 0;
        if (thread->slot)
            add_waited(thread->slot, mono_ns() - start);
    }
    if (given_up && pool->stalled_heartbeat != beat + 1) {
        pool->stalled_heartbeat = beat + 1;
        pool->given_up_at = given + 1ull;
        futex(&control->n_given, FUTEX_WAKE, INT32_MAX, NULL); /* nobody else need wait */
    }
    return is_open && !given_up;
}

/* End the threads that are gone without having said so: by a raw exit, by events in the very last round of their
 * destructors, or with their key taken from them. Only the process itself can tell: its ids are of its own namespace.
 * Where one is free again (ESRCH) its thread writes no more. */
static void end_gone_threads(struct strobe_pool *pool)
{
    STROBE_ASSERT(is_locked(pool));
    pool->n_added = 0;
    pool->next_look_ns = mono_ns() + LOOK_NS;
    if ((uint32_t)getpid() != pool->pid) /* a vfork child */
        return;
    for (struct strobe_thread *thread = pool->threads, *next; thread; thread = next) {
        next = thread->next;
        if (syscall(SYS_tgkill, pool->pid, thread->tid, 0) < 0 && errno == ESRCH)
            strobe_ring_end_thread(pool, thread);
    }
}

bool strobe_ring_next_segment(struct strobe_pool *pool, struct strobe_thread *thread,
                              enum strobe_loss *loss)
{
    uint64_t waited_ns = 0, all_ns = 0;
    char *segment;
    *loss = STROBE_LOSS_POOL_FULL;
    strobe_ring_lock(pool);
    for (;;) {
        if ((int16_t)thread->hot.cursor > 0) { /* a handler got one while this thread slept */
            strobe_ring_unlock(pool);
            return true;
        }
        uint32_t given = __atomic_load_n(&pool->control->n_given, __ATOMIC_SEQ_CST);
        segment = take_any_segment(pool, wanted_class(pool, thread), loss);
        if (segment)
            break;
        if (mono_ns() > pool->next_look_ns)
            end_gone_threads(pool); /* what they hold comes back by way of the recorder */
        if (!wait_for_room(pool, thread, given, &waited_ns)) {
            thread->hot.cursor = 0; /* keeps the count of words left from running under */
            if (nobody_waits(pool, given))
                strobe_ring_note_dry(pool, &thread->dry, given, *loss);
            strobe_ring_unlock(pool);
            return false;
        }
        all_ns += waited_ns; /* something came back, and the recorder keeps up */
        waited_ns = all_ns > WAIT_ALL_NS ? WAIT_MAX_NS : 0;
    }
    uint64_t tick = strobe_ring_now(pool);
    STROBE_ASSERT(is_locked(pool));
    STROBE_ASSERT(thread->track != STROBE_META_TRACK);
    struct strobe_segment_head *head = (struct strobe_segment_head *)segment;
    open_segment(pool, head, thread->track, thread->next_pos, tick);
    thread->segment = head;
    thread->next_pos += head->n_words;
    thread->n_filled++;
    thread->hot.epoch = pool->control->clock == STROBE_CLOCK_TSC ? (uint32_t)(tick >> 32) : ~0u;
    thread->dry.until = 0;
    __atomic_store_n(&thread->hot.cursor, (uint64_t)(uintptr_t)(head + 1) << 16 | head->n_words,
                     __ATOMIC_RELEASE);
    strobe_ring_unlock(pool);
    return true;
}

/* ---- the meta stream ---- */

static bool next_meta_segment(struct strobe_pool *pool)
{
    uint64_t waited_ns = 0;
    for (;;) {
        enum strobe_loss loss;
        uint32_t given = __atomic_load_n(&pool->control->n_given, __ATOMIC_SEQ_CST);
        char *segment = take_segment(pool, STROBE_CHUNK_MEDIUM, true, &loss);
        if (segment) {
            struct strobe_segment_head *head = (struct strobe_segment_head *)segment;
            open_segment(pool, head, STROBE_META_TRACK, pool->meta_pos, strobe_ring_now(pool));
            pool->meta = head;
            pool->meta_at = (uint64_t *)(head + 1);
            pool->meta_left = head->n_words;
            pool->meta_pos += head->n_words;
            return true;
        }
        if (!wait_for_room(pool, NULL, given, &waited_ns))
            return false;
    }
}

bool strobe_ring_meta(struct strobe_pool *pool, const uint64_t *words, uint32_t n_words)
{
    STROBE_ASSERT(is_locked(pool));
    STROBE_ASSERT(n_words && n_words <= STROBE_META_WORDS_MAX);
    STROBE_ASSERT(words[0] >> 60 == STROBE_WORD_RECORD >> 60 &&
                  (words[0] >> 32 & 0xffff) == n_words);
    STROBE_ASSERT(((char *)(pool->meta_at + pool->meta_left) - (char *)pool->meta) %
                      (long)classes[STROBE_CHUNK_MEDIUM].n_bytes ==
                  0);
    while (pool->meta_left < n_words) {
        uint32_t left = pool->meta_left;
        uint64_t *pad = pool->meta_at;
        pool->meta_left = 0;
        if (left)
            __atomic_store_n(pad, STROBE_WORD_PAD | (uint64_t)left << 32, __ATOMIC_RELEASE);
        if (!next_meta_segment(pool))
            return false;
    }
    memcpy(pool->meta_at + 1, words + 1, 8 * (n_words - 1));
    __atomic_store_n(pool->meta_at, words[0], __ATOMIC_RELEASE);
    pool->meta_at += n_words;
    pool->meta_left -= n_words;
    return true;
}

/* ---- threads ---- */

enum { SLOTS_PER_CHUNK = STROBE_CHUNK_BYTES / STROBE_SLOT_BYTES, ARENA_BYTES = 64 << 10 };

static struct strobe_slot *slot_at(struct strobe_pool *pool, uint32_t chunk, uint32_t i)
{
    return (struct strobe_slot *)(pool->data + (uint64_t)chunk * STROBE_CHUNK_BYTES) + i;
}

static struct strobe_slot *take_slot(struct strobe_pool *pool)
{
    enum strobe_loss loss;
    STROBE_ASSERT(is_locked(pool));
    for (uint32_t c = 0; c < pool->control->n_chunks; c++) {
        if (pool->chunks[c].class_ != STROBE_CHUNK_SLOTS)
            continue;
        for (uint32_t k = 0; k < SLOTS_PER_CHUNK; k++) {
            uint32_t i = (pool->slot_hint + k) % SLOTS_PER_CHUNK;
            struct strobe_slot *slot = slot_at(pool, c, i);
            if (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == STROBE_SLOT_FREE) {
                pool->slot_hint = i + 1;
                return slot;
            }
        }
    }
    if (!has_names_chunk(pool, &loss))
        return NULL;
    int c = add_chunk(pool, STROBE_CHUNK_SLOTS, &loss);
    if (c < 0)
        c = recut_chunk(pool,
                        STROBE_CHUNK_SLOTS); /* all zero: the recorder wipes what it gives back */
    return c < 0 ? NULL : slot_at(pool, (uint32_t)c, 0);
}

static struct strobe_thread *take_struct(struct strobe_pool *pool)
{
    struct strobe_thread *thread = pool->free_threads;
    if (thread) {
        pool->free_threads = thread->next;
        memset(thread, 0, sizeof *thread);
        return thread;
    }
    size_t size = (sizeof *thread + 63) & ~(size_t)63;
    if (!pool->arena || pool->arena + size > pool->arena_end) {
        char *arena =
            mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (arena == MAP_FAILED)
            return NULL;
        madvise(arena, ARENA_BYTES, MADV_WIPEONFORK);
        pool->arena = arena;
        pool->arena_end = arena + ARENA_BYTES;
    }
    STROBE_ASSERT(pool->arena + size <= pool->arena_end);
    thread = (struct strobe_thread *)pool->arena;
    pool->arena += size;
    return thread;
}

struct strobe_thread *strobe_ring_add_thread(struct strobe_pool *pool, uint32_t tid)
{
    STROBE_ASSERT(is_locked(pool));
    struct strobe_thread *former = strobe_ring_find_thread(pool, tid);
    if (former)
        strobe_ring_end_thread(pool, former);
    if (++pool->n_added > pool->n_threads + 64) /* one look per thread and thread that came */
        end_gone_threads(pool);
    struct strobe_thread *thread = take_struct(pool);
    if (!thread)
        return NULL;
    struct strobe_slot *slot = take_slot(pool);
    STROBE_ASSERT(!thread->hot.cursor && !thread->segment);
    thread->tid = tid;
    thread->track = ++pool->next_track;
    thread->n_copies = 1;
    thread->slot = slot;
    if (slot) {
        memset(slot, 0, sizeof *slot);
        slot->tid = tid;
        slot->track = thread->track;
        __atomic_store_n(&slot->state, STROBE_SLOT_LIVE, __ATOMIC_RELEASE);
        __atomic_add_fetch(&pool->control->n_taken, 1, __ATOMIC_RELEASE);
    }
    thread->next = pool->threads;
    if (pool->threads)
        pool->threads->prev = thread;
    pool->threads = thread;
    thread->tid_next = pool->by_tid[tid % STROBE_TID_CHAINS];
    pool->by_tid[tid % STROBE_TID_CHAINS] = thread;
    pool->n_threads++;
    return thread;
}
