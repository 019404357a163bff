/* fake_pool.h - pools without a program: the producer's half of the rings driven by a test, in the test's own process. A
 * child that sleeps stands for the traced process, so that the recorder finds its pid in /proc; that the image lives is the
 * lock of the file, which the test holds. Nothing waits here: what finds no room is dropped and counted.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_FAKE_POOL_H
#define STROBE_TESTS_FAKE_POOL_H

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/internal.h"
#include "file/decode.h"
#include "ring/alive.h"
#include "ring/grow.h"
#include "ring/ring_write.h"

struct fake {
    char name[64];
    int fd;
    uint64_t map_bytes;
    struct strobe_pool pool;
    uint64_t n_emitted; /* events whose words are in the pool */
};

/* A process that does nothing; it ends with the test. */
static inline pid_t fake_process(void)
{
    int ready[2];
    char byte;
    if (pipe(ready))
        abort();
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ready[1]);
        close(ready[0]);
        for (;;)
            pause();
    }
    close(ready[1]);
    if (pid < 0 || read(ready[0], &byte, 1) != 0)
        abort();
    close(ready[0]);
    while (strobe_session_process_state(pid) != 'S') /* at the end of its way to pause() */
        sched_yield();
    return pid;
}

static inline void fake_lock(struct fake *fake, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = 1, .l_len = 1};
    if (fcntl(fake->fd, F_OFD_SETLK, &lock))
        abort();
}

/* A pool of `n_chunks_max` chunks in the session's folder `dir`, as image number `image` of the process. `is_joined`: it
 * found the session recording and emits at once; else a recorder has to attach. */
static inline struct fake *fake_open(const char *dir, pid_t pid, uint32_t image,
                                     uint32_t n_chunks_max, bool is_joined)
{
    struct fake *fake = calloc(1, sizeof *fake);
    struct strobe_pool *pool = &fake->pool;
    uint64_t start = strobe_session_start_time(pid);
    snprintf(fake->name, sizeof fake->name, "%d-%llu-%u.pool", (int)pid, (unsigned long long)start,
             image);
    snprintf(pool->path, sizeof pool->path, "%s/%s", dir, fake->name);
    fake->fd = open(pool->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    fake->map_bytes = strobe_ring_file_bytes(n_chunks_max);
    enum strobe_loss short_cause;
    uint64_t bytes = strobe_ring_extend(fake->fd, n_chunks_max, &short_cause);
    void *at = mmap(NULL, fake->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fake->fd, 0);
    if (fake->fd < 0 || bytes != fake->map_bytes || at == MAP_FAILED)
        abort();
    fake_lock(fake, F_WRLCK);
    struct strobe_control *control = at;
    *control = (struct strobe_control){
        .version = STROBE_RING_VERSION,
        .pid = (uint32_t)pid,
        .start_time = start,
        .n_chunks_max = n_chunks_max,
        .clock = strobe_session_clock(),
        .data_off = strobe_ring_data_off(n_chunks_max),
        .image = image,
        .pid_ns = strobe_alive_namespace(),
        .features = STROBE_FEATURE_IMAGE_LOCK,
        .next_id = 100,
        .floor = STROBE_WORD_BEGIN | 1ull << 32,
        .generation = 1,
        .active = is_joined,
        .file_bytes = bytes,
    };
    pool->magic = STROBE_POOL_MAGIC;
    pool->pid = (uint32_t)pid; /* another than ours: such a pool never waits */
    pool->control = control;
    pool->chunks = (struct strobe_chunk *)((char *)at + STROBE_PAGE_BYTES);
    pool->data = (char *)at + control->data_off;
    pool->n_chunks_max = n_chunks_max;
    __atomic_store_n(&control->magic, STROBE_RING_MAGIC, __ATOMIC_RELEASE);
    return fake;
}

/* The image no longer runs. */
static inline void fake_die(struct fake *fake)
{
    fake_lock(fake, F_UNLCK);
}

static inline void fake_close(struct fake *fake)
{
    munmap(fake->pool.control, fake->map_bytes);
    close(fake->fd);
    unlink(fake->pool.path);
    free(fake);
}

static inline struct strobe_thread *fake_thread(struct fake *fake, uint32_t tid)
{
    strobe_ring_lock(&fake->pool);
    struct strobe_thread *thread = strobe_ring_add_thread(&fake->pool, tid);
    strobe_ring_unlock(&fake->pool);
    return thread;
}

static inline void fake_end_thread(struct fake *fake, struct strobe_thread *thread)
{
    strobe_ring_lock(&fake->pool);
    strobe_ring_end_thread(&fake->pool, thread);
    strobe_ring_unlock(&fake->pool);
}

/* Take n words of the thread's stream, as an emit does: where they are, all zero. NULL: dropped and counted. */
static inline uint64_t *fake_reserve(struct fake *fake, struct strobe_thread *thread, uint32_t n)
{
    enum strobe_loss loss;
    int16_t left = (int16_t)thread->hot.cursor;
    uint64_t *at = (uint64_t *)(uintptr_t)(thread->hot.cursor >> 16);
    if (left > 0 && left < (int)n) {
        *at = STROBE_WORD_PAD | (uint64_t)left << 32;
        thread->hot.cursor += ((uint64_t)left << 19) - (uint64_t)left;
        left = 0;
    }
    if (left <= 0 && !strobe_ring_next_segment(&fake->pool, thread, &loss)) {
        strobe_ring_count_loss(&fake->pool, thread, loss);
        return NULL;
    }
    at = (uint64_t *)(uintptr_t)(thread->hot.cursor >> 16);
    thread->hot.cursor += ((uint64_t)n << 19) - n;
    return at;
}

static inline bool fake_word(struct fake *fake, struct strobe_thread *thread, uint64_t word)
{
    uint64_t *at = fake_reserve(fake, thread, 1);
    if (!at)
        return false;
    __atomic_store_n(at, word | (uint32_t)strobe_ring_now(&fake->pool), __ATOMIC_RELEASE);
    fake->n_emitted++;
    return true;
}

/* `n` zones, one after the other, at location 1: two events each. */
static inline void fake_zones(struct fake *fake, struct strobe_thread *thread, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        fake_word(fake, thread, STROBE_WORD_BEGIN | 1ull << 32);
        fake_word(fake, thread, STROBE_WORD_END | 1ull << 32);
    }
}

/* A record of numbers. */
static inline bool fake_record(struct fake *fake, struct strobe_thread *thread, uint32_t kind,
                               const uint64_t *fields, uint32_t n_fields)
{
    uint64_t *at = fake_reserve(fake, thread, n_fields + 1);
    if (!at)
        return false;
    memcpy(at + 1, fields, 8 * n_fields);
    __atomic_store_n(
        at, STROBE_RECORD_WORD(kind, n_fields + 1) | (uint32_t)strobe_ring_now(&fake->pool),
        __ATOMIC_RELEASE);
    fake->n_emitted++;
    return true;
}

/* A name of one to eight bytes for location `id`. */
static inline bool fake_loc(struct fake *fake, uint64_t id, const char *name)
{
    uint64_t words[8] = {STROBE_RECORD_WORD(STROBE_META_LOC, 8), id, 1, 0, 0, 0, strlen(name), 0};
    memcpy(&words[7], name, strlen(name));
    strobe_ring_lock(&fake->pool);
    bool done = strobe_ring_meta(&fake->pool, words, 8);
    strobe_ring_unlock(&fake->pool);
    return done;
}

/* What a trace has of a process: events, names of locations, and losses by cause. */
struct fake_found {
    uint64_t n_events, n_parts, n_locs, lost[STROBE_LOSS_COUNT];
};

static inline void fake_find_losses(const struct strobe_block *block,
                                    const struct strobe_schema *schema, uint32_t proc,
                                    struct fake_found *out)
{
    struct strobe_record_walk walk = {0};
    struct strobe_record record;
    if (!strobe_record_walk_start(block, schema, &walk))
        while (!strobe_record_walk_next(&walk, &record)) {
            out->n_locs += record.kind == STROBE_META_LOC && record.proc == proc;
            if (record.kind == STROBE_FACT_LOSS && record.n_fields == 6 &&
                record.fields[0].u == proc && record.fields[2].u < STROBE_LOSS_COUNT)
                out->lost[record.fields[2].u] += record.fields[3].u;
        }
    strobe_record_walk_free(&walk);
}

static inline struct fake_found fake_find(const char *trace, uint32_t proc)
{
    struct fake_found found = {0};
    struct strobe_file *file = NULL;
    struct strobe_block_iter *iter = NULL;
    struct strobe_block_filter everything = {0};
    struct strobe_block block = {0};
    struct strobe_events events = {0};
    struct strobe_schema schema = {0};
    if (strobe_file_open(trace, &file))
        abort();
    strobe_schema_read(strobe_file_facts(file)->schema, &schema);
    if (strobe_file_iterate(file, &everything, &iter))
        abort();
    while (!strobe_file_next_block(iter, &block)) {
        if (block.ref.head.type == STROBE_BLOCK_RECORDS)
            fake_find_losses(&block, &schema, proc, &found);
        if (block.ref.head.type != STROBE_BLOCK_EVENTS || strobe_decode_parts(&block, &events))
            continue;
        for (uint32_t i = 0; i < events.n_parts; i++)
            if (events.parts[i].proc == proc) {
                found.n_events += events.parts[i].n_events;
                found.n_parts++;
            }
    }
    strobe_file_end_iterate(iter);
    strobe_block_free(&block);
    strobe_events_free(&events);
    strobe_file_close(file);
    return found;
}

/* The number that the collector gave it; ~0: it does not know it. */
static inline uint32_t fake_id(const struct strobe_collector *c, const struct fake *fake)
{
    for (uint32_t i = 0; i < c->n_procs; i++)
        if (!strcmp(c->procs[i]->name, fake->name))
            return c->procs[i]->id;
    return ~0u;
}

static inline struct strobe_proc *fake_proc(const struct strobe_collector *c,
                                            const struct fake *fake)
{
    for (uint32_t i = 0; i < c->n_procs; i++)
        if (!strcmp(c->procs[i]->name, fake->name))
            return c->procs[i];
    return NULL;
}

#endif
