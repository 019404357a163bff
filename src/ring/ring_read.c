/* ring_read.c - the consumer's half of the rings.  SPDX-License-Identifier: MIT */
#include "ring/ring_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/moves.h"
#include "ring/alive.h"
#include "ring/grow.h"
#include "ring/ring_write.h"

enum { N_CHUNKS_MAX = 65535 };

static uint32_t segment_bytes(uint32_t class_)
{
    static const uint32_t bytes[] = {0, 0, 1024, 8192, 65536};
    return class_ <= STROBE_CHUNK_LARGE ? bytes[class_] : 0;
}

static enum strobe_err check_control(const struct strobe_control *control, uint64_t file_bytes)
{
    if (control->magic != STROBE_RING_MAGIC)
        return STROBE_ERR_FORMAT;
    if (control->version > STROBE_RING_VERSION)
        return STROBE_ERR_VERSION;
    uint32_t n = control->n_chunks_max;
    if (control->version != STROBE_RING_VERSION || n == 0 || n > N_CHUNKS_MAX ||
        file_bytes > strobe_ring_file_bytes(n) || control->data_off != strobe_ring_data_off(n) ||
        control->pid == 0 || control->pid > INT_MAX ||
        (control->clock != STROBE_CLOCK_TSC && control->clock != STROBE_CLOCK_MONO))
        return STROBE_ERR_CORRUPT;
    return STROBE_OK;
}

/* Map the whole length that the file may have, as its process does. The control page is checked as a copy: what is
 * mapped may change. */
static enum strobe_err map_whole(struct strobe_ring *ring, uint64_t file_bytes)
{
    struct strobe_control copy;
    if (pread(ring->fd, &copy, sizeof copy, 0) != (ssize_t)sizeof copy)
        return STROBE_ERR_FORMAT;
    enum strobe_err err = check_control(&copy, file_bytes);
    if (err)
        return err;
    uint64_t bytes = strobe_ring_file_bytes(copy.n_chunks_max);
    STROBE_ASSERT(copy.n_chunks_max && copy.n_chunks_max <= N_CHUNKS_MAX);
    STROBE_ASSERT(!ring->control);
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, ring->fd, 0);
    if (at == MAP_FAILED)
        return STROBE_ERR_NOMEM;
    ring->control = at;
    ring->map_bytes = bytes;
    strobe_map_guard_add(&ring->guard, at, bytes);
    ring->n_chunks_max = copy.n_chunks_max;
    ring->pid = copy.pid;
    ring->start_time = copy.start_time;
    ring->image = copy.image;
    ring->pid_ns = copy.pid_ns;
    ring->clock = copy.clock;
    __atomic_load_n(&ring->control->magic, __ATOMIC_ACQUIRE); /* it was stored last */
    return STROBE_OK;
}

/* There only where the client is linked in. */
#pragma weak strobe_ring_own_pool

/* Both halves in one process (tests): one mapping for both, so that the thread sanitizer sees them
 * meet. Nothing that the file says is used for it. */
static void use_own_mapping(struct strobe_ring *ring, const char *dir, const char *name)
{
    const struct strobe_pool *pool = strobe_ring_own_pool ? strobe_ring_own_pool() : NULL;
    size_t n_dir = strlen(dir);
    if (!pool || strncmp(pool->path, dir, n_dir) || pool->path[n_dir] != '/' ||
        strcmp(pool->path + n_dir + 1, name))
        return;
    strobe_map_guard_remove(&ring->guard);
    munmap(ring->control, ring->map_bytes);
    ring->control = pool->control;
    ring->map_bytes = 0;
}

enum strobe_err strobe_ring_open(const char *dir, const char *name, struct strobe_ring *ring)
{
    struct stat st;
    enum strobe_err err = STROBE_ERR_FORMAT;
    memset(ring, 0, sizeof *ring);
    ring->fd = strobe_session_open(dir, name, O_RDWR);
    if (ring->fd < 0 && (errno == EISDIR || errno == ELOOP || errno == ENXIO))
        return STROBE_ERR_ACCESS; /* a folder, a link, a device: no file of a process's */
    if (ring->fd < 0)
        return strobe_err_from_errno(errno);
    if (fstat(ring->fd, &st) || st.st_size < STROBE_PAGE_BYTES || st.st_blocks == 0)
        goto fail;
    struct statfs fs;
    ring->is_tmpfs = !fstatfs(ring->fd, &fs) && fs.f_type == TMPFS_MAGIC;
    err = map_whole(ring, (uint64_t)st.st_size);
    if (err)
        goto fail;
    use_own_mapping(ring, dir, name);
    ring->chunks = (struct strobe_chunk *)((char *)ring->control + STROBE_PAGE_BYTES);
    ring->data = (char *)ring->control + strobe_ring_data_off(ring->n_chunks_max);
    ring->known = calloc(ring->n_chunks_max, sizeof *ring->known);
    if (!ring->known) {
        err = STROBE_ERR_NOMEM;
        goto fail;
    }
    STROBE_ASSERT(ring->fd >= 0 && !ring->n_chunks_safe);
    STROBE_ASSERT((uint64_t)(ring->data - (char *)ring->control) ==
                  strobe_ring_data_off(ring->n_chunks_max));
    return STROBE_OK;
fail:
    strobe_ring_close(ring);
    return err;
}

void strobe_ring_close(struct strobe_ring *ring)
{
    strobe_map_guard_remove(&ring->guard);
    if (ring->control && ring->map_bytes)
        munmap(ring->control, ring->map_bytes);
    if (ring->fd >= 0)
        close(ring->fd);
    free(ring->known);
    memset(ring, 0, sizeof *ring);
    ring->fd = -1;
}

/* Chunks for which the file has pages, at most. Only a tmpfs tells that exactly. */
static uint32_t n_chunks_allocated(const struct strobe_ring *ring)
{
    struct stat st;
    if (!ring->is_tmpfs)
        return ring->n_chunks_max;
    if (fstat(ring->fd, &st))
        return 0;
    return (uint32_t)((uint64_t)st.st_blocks * 512 / STROBE_CHUNK_BYTES);
}

/* Chunks that the process says it has: never more than fit, never memory that was not really
 * allocated (a process may say anything, and touching a hole of a full tmpfs would be our end). */
static uint32_t n_chunks(struct strobe_ring *ring)
{
    uint32_t n = __atomic_load_n(&ring->control->n_chunks, __ATOMIC_ACQUIRE);
    if (n > ring->n_chunks_max)
        n = ring->n_chunks_max;
    if (n > ring->n_chunks_safe && n > n_chunks_allocated(ring))
        n = ring->n_chunks_safe; /* it says more than it has: nothing is made for it */
    if (n > ring->n_chunks_safe) {
        off_t from = (off_t)strobe_ring_data_off(ring->n_chunks_max) +
                     (off_t)ring->n_chunks_safe * STROBE_CHUNK_BYTES;
        if (!posix_fallocate(ring->fd, from, (off_t)(n - ring->n_chunks_safe) * STROBE_CHUNK_BYTES))
            ring->n_chunks_safe = n;
    }
    STROBE_ASSERT(ring->n_chunks_safe <= ring->n_chunks_max);
    return n < ring->n_chunks_safe ? n : ring->n_chunks_safe;
}

/* Copy and check the head of one segment. False: it is not open yet, or nonsense. */
static bool read_head(const struct strobe_ring *ring, uint32_t chunk, uint32_t bit,
                      uint32_t n_bytes, struct strobe_segment *out)
{
    uint32_t offset = chunk * STROBE_CHUNK_BYTES + bit * n_bytes;
    STROBE_ASSERT(chunk < ring->n_chunks_safe);
    STROBE_ASSERT((bit + 1) * n_bytes <= STROBE_CHUNK_BYTES);
    const struct strobe_segment_head *head = (const void *)(ring->data + offset);
    if (__atomic_load_n(&head->magic, __ATOMIC_ACQUIRE) != STROBE_SEGMENT_MAGIC)
        return false;
    *out = (struct strobe_segment){
        .track = __atomic_load_n(&head->track, __ATOMIC_RELAXED),
        .base_pos = __atomic_load_n(&head->base_pos, __ATOMIC_RELAXED),
        .tick = __atomic_load_n(&head->tick, __ATOMIC_RELAXED),
        .n_words = n_bytes / 8 - STROBE_SEGMENT_HEAD_WORDS,
        .offset = offset,
        .chunk = (uint16_t)chunk,
        .bit = (uint8_t)bit,
    };
    /* the chunk may have been recut since its class was read: then the sizes differ, and the next
     * scan is right */
    return head->n_words == out->n_words && out->base_pos < 1ull << 60;
}

uint32_t strobe_ring_scan(struct strobe_ring *ring,
                          bool (*found)(void *context, const struct strobe_segment *segment),
                          void *context)
{
    /* n_taken before n_chunks: a segment that is counted here lies in a chunk that is looked at, else
     * nobody would look again */
    uint32_t n_found = 0, taken_now = __atomic_load_n(&ring->control->n_taken, __ATOMIC_ACQUIRE);
    uint32_t n = n_chunks(ring);
    STROBE_ASSERT(n <= ring->n_chunks_safe);
    for (uint32_t c = 0; c < n; c++) {
        /* the bits first: a chunk is recut while none of them is set, so the class fits what they
         * say */
        uint64_t free_bits = __atomic_load_n(&ring->chunks[c].free_bits, __ATOMIC_ACQUIRE);
        uint32_t n_bytes =
            segment_bytes(__atomic_load_n(&ring->chunks[c].class_, __ATOMIC_RELAXED));
        if (!n_bytes)
            continue;
        uint64_t all = n_bytes == 1024 ? ~0ull : (1ull << (STROBE_CHUNK_BYTES / n_bytes)) - 1;
        uint64_t taken = ~free_bits & all;
        uint64_t fresh = taken & ~ring->known[c];
        while (fresh) {
            uint32_t bit = (uint32_t)__builtin_ctzll(fresh);
            struct strobe_segment segment;
            fresh &= fresh - 1;
            if (!read_head(ring, c, bit, n_bytes, &segment) || !found(context, &segment))
                continue;
            STROBE_ASSERT(!(ring->known[c] >> bit & 1)); /* else it would be drained twice */
            STROBE_ASSERT(segment.state == STROBE_SEGMENT_FOUND);
            ring->known[c] |= 1ull << bit;
            n_found++;
        }
    }
    ring->n_taken_seen = taken_now;
    return n_found;
}

/* moves of strobe_segment_state */
static const uint8_t segment_moves[][2] = {
    {STROBE_SEGMENT_FOUND, STROBE_SEGMENT_DRAINED},
    {STROBE_SEGMENT_FOUND, STROBE_SEGMENT_SKIPPED},
    {STROBE_SEGMENT_DRAINED, STROBE_SEGMENT_RETURNED},
    {STROBE_SEGMENT_SKIPPED, STROBE_SEGMENT_RETURNED},
};

void strobe_segment_move(struct strobe_segment *segment, enum strobe_segment_state to)
{
    STROBE_ASSERT(STROBE_MOVE_IS_LEGAL(segment_moves, segment->state, to));
    segment->state = (uint8_t)to;
}

void strobe_ring_give_back(struct strobe_ring *ring, struct strobe_segment *segment)
{
    strobe_segment_move(segment, STROBE_SEGMENT_RETURNED);
    STROBE_ASSERT(ring->known[segment->chunk] >> segment->bit & 1);
    STROBE_ASSERT(segment->chunk < ring->n_chunks_safe);
    STROBE_ASSERT(segment->offset % 1024 == 0 &&
                  segment->offset / STROBE_CHUNK_BYTES == segment->chunk);
    STROBE_ASSERT(segment->offset % STROBE_CHUNK_BYTES ==
                  segment->bit * 8u * (segment->n_words + STROBE_SEGMENT_HEAD_WORDS));
    if (strobe_map_guard_is_broken(&ring->guard))
        return; /* nobody would get it */
    struct strobe_segment_head *head = (struct strobe_segment_head *)(ring->data + segment->offset);
    __atomic_store_n(&head->magic, 0,
                     __ATOMIC_RELEASE); /* first: a wiped segment is never taken for an open one */
    memset(head, 0, 8 * ((size_t)segment->n_words + STROBE_SEGMENT_HEAD_WORDS));
    ring->known[segment->chunk] &= ~(1ull << segment->bit);
    __atomic_or_fetch(&ring->chunks[segment->chunk].free_bits, 1ull << segment->bit,
                      __ATOMIC_ACQ_REL);
}

void strobe_ring_wake(struct strobe_ring *ring)
{
    STROBE_ASSERT(ring->control);
    __atomic_add_fetch(&ring->control->n_given, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&ring->control->n_waiting, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &ring->control->n_given, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

struct strobe_slot *strobe_ring_slot(struct strobe_ring *ring, uint64_t *at)
{
    enum { PER_CHUNK = STROBE_CHUNK_BYTES / STROBE_SLOT_BYTES };
    STROBE_ASSERT(ring->control);
    for (uint64_t c = *at / PER_CHUNK, n = n_chunks(ring); c < n; c++, *at = c * PER_CHUNK)
        if (__atomic_load_n(&ring->chunks[c].class_, __ATOMIC_RELAXED) == STROBE_CHUNK_SLOTS)
            return (struct strobe_slot *)(ring->data + c * STROBE_CHUNK_BYTES) +
                   (*at)++ % PER_CHUNK;
    return NULL;
}

/* By it a recorder knows its own marks, those of another with the same pid in another namespace too. */
static uint64_t own_start(void)
{
    static uint64_t start;
    if (!start)
        start = strobe_session_own_start();
    STROBE_ASSERT(start);
    return start;
}

bool strobe_ring_is_ours(const struct strobe_ring *ring)
{
    const struct strobe_control *control = ring->control;
    return __atomic_load_n(&control->active, __ATOMIC_ACQUIRE) &&
           (control->recorder_pid == 0 || (control->recorder_pid == (uint32_t)getpid() &&
                                           control->recorder_start == own_start()));
}

void strobe_ring_extend_file(struct strobe_ring *ring)
{
    struct strobe_control *control = ring->control;
    uint64_t before = __atomic_load_n(&control->file_bytes, __ATOMIC_RELAXED);
    enum strobe_loss cause = STROBE_LOSS_FILE_SIZE;
    if (before >= strobe_ring_file_bytes(ring->n_chunks_max))
        return;
    uint64_t bytes = strobe_ring_extend(ring->fd, ring->n_chunks_max, &cause);
    if (bytes <= before && cause == control->short_cause)
        return;
    control->short_cause = cause;
    __atomic_store_n(&control->file_bytes, bytes, __ATOMIC_RELEASE);
    strobe_ring_wake(ring);
}

void strobe_ring_attach(struct strobe_ring *ring, uint32_t policy, uint32_t stack_depth)
{
    struct strobe_control *control = ring->control;
    bool ours = strobe_ring_is_ours(ring);
    strobe_ring_extend_file(ring);
    memset(control->holes, 0, sizeof control->holes); /* of a recorder that died */
    __atomic_store_n(&control->holes_used, 0, __ATOMIC_RELEASE);
    control->recorder_pid = (uint32_t)getpid();
    control->recorder_start = own_start();
    control->recorder_pid_ns = strobe_alive_namespace();
    if (ours)
        return;
    control->policy = policy;
    control->stack_depth = stack_depth;
    control->floor = STROBE_WORD_BEGIN | __atomic_load_n(&control->next_id, __ATOMIC_ACQUIRE) << 32;
    control->generation++;
    __atomic_store_n(&control->active, control->generation, __ATOMIC_RELEASE);
}

void strobe_ring_detach(struct strobe_ring *ring)
{
    STROBE_ASSERT(ring->control);
    __atomic_store_n(&ring->control->active, 0, __ATOMIC_SEQ_CST);
    strobe_ring_wake(ring); /* nobody waits for a recorder that leaves */
}

bool strobe_ring_is_alive(const struct strobe_ring *ring, const char *name)
{
    return strobe_alive_image(ring->fd, ring->control, name);
}

/* In /proc as it is mounted here, by namespace and inner pid: for a process whose lock does not name it. */
static uint32_t search_proc(const struct strobe_ring *ring)
{
    DIR *proc = ring->pid_ns ? opendir("/proc") : NULL;
    struct dirent *entry;
    uint32_t found = 0;
    while (proc && !found && (entry = readdir(proc))) {
        char path[300];
        struct stat st;
        uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        snprintf(path, sizeof path, "/proc/%.20s/ns/pid", entry->d_name);
        if (pid && !stat(path, &st) && (uint32_t)st.st_ino == ring->pid_ns &&
            strobe_alive_is_pid(pid, ring->control))
            found = pid;
    }
    if (proc)
        closedir(proc);
    return found;
}

struct strobe_reach strobe_ring_reach(const struct strobe_ring *ring)
{
    struct strobe_reach reach = {.pid = strobe_alive_pid(ring->fd, ring->control)};
    if (reach.pid && strobe_alive_is_pid(reach.pid, ring->control))
        reach.in_proc = reach.pid;
    else if (strobe_alive_image(ring->fd, ring->control, ""))
        reach.in_proc = search_proc(ring);
    return reach;
}
