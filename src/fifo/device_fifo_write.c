/* device_fifo_write.c - the producer's half: runs inside the program, on the thread that drains its device.
 * Never prints, never ends the program; a wait is bounded. Contract: device_fifo.h.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "fifo/device_fifo.h"
#include "fifo/map_twice.h"
#include "ring/alive.h"

enum { DATA_OFF = STROBE_PAGE_BYTES };

#define DEFAULT_BYTES    (64ull << 20)
#define LEAST_BYTES      (1ull << 20)
#define MOST_BYTES       (4ull << 30)
#define DEFAULT_PATIENCE 2000000000ull
#define SLICE_NS         10000000ull /* of one sleep */

static uint64_t power_of_two(uint64_t bytes)
{
    uint64_t n = LEAST_BYTES;
    while (n < bytes && n < MOST_BYTES)
        n *= 2;
    STROBE_ASSERT(!(n & (n - 1)) && n >= LEAST_BYTES && n <= MOST_BYTES);
    return n;
}

/* A name that no file has, and its file. */
static int make_file(const struct strobe_device_fifo_options *options, char path[])
{
    int fd = -1;
    for (uint32_t n = 0; fd < 0 && n < 1000; n++) {
        char name[96];
        snprintf(name, sizeof name, "%d-%llu-%u-%u" STROBE_DEVICE_FIFO_SUFFIX, (int)getpid(),
                 (unsigned long long)strobe_session_own_start(), options->device, n);
        snprintf(path, 2 * STROBE_PATH_MAX, "%s/%s", options->dir, name);
        fd = strobe_session_open(options->dir, name, O_RDWR | O_CREAT | O_EXCL);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    return fd;
}

/* Really allocate it, so that a full tmpfs is an error here and no SIGBUS later. A file size limit would end the program. */
static int allocate(int fd, uint64_t n_bytes)
{
    struct rlimit limit;
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < n_bytes)
        return EFBIG;
    return posix_fallocate(fd, 0, (off_t)n_bytes);
}

static void unmap_parts(struct strobe_device_fifo_writer *w)
{
    if (w->data)
        munmap(w->data, 2 * w->data_bytes);
    if (w->head)
        munmap(w->head, STROBE_PAGE_BYTES);
    w->data = NULL;
    w->head = NULL;
}

static void fill_head(struct strobe_device_fifo_writer *w,
                      const struct strobe_device_fifo_options *options)
{
    struct strobe_device_fifo_head *head = w->head;
    STROBE_ASSERT(head && !w->data && !w->written); /* mapped, and empty */
    head->version = STROBE_DEVICE_FIFO_VERSION;
    head->data_off = DATA_OFF;
    head->pid = (uint32_t)getpid();
    head->device = options->device;
    head->start_time = strobe_session_own_start();
    head->clock = strobe_session_clock();
    head->locked = w->lock != NULL;
    head->recorder = options->is_recorded ? STROBE_DEVICE_FIFO_WANTED : STROBE_DEVICE_FIFO_NONE;
    __atomic_store_n(&head->magic, STROBE_DEVICE_FIFO_MAGIC, __ATOMIC_RELEASE);
}

/* The file's first page, or its ring, really allocated. */
static enum strobe_err lengthen(int fd, uint64_t n_bytes)
{
    int failed = allocate(fd, n_bytes);
    return failed == EFBIG ? STROBE_ERR_LIMIT : strobe_err_from_errno(failed);
}

enum strobe_err strobe_device_fifo_make(const struct strobe_device_fifo_options *options,
                                        struct strobe_device_fifo_writer *out)
{
    memset(out, 0, sizeof *out);
    out->patience_ns = options->patience_ns ? options->patience_ns : DEFAULT_PATIENCE;
    int fd = make_file(options, out->path);
    if (fd < 0)
        return strobe_err_from_errno(errno);
    enum strobe_err err = lengthen(fd, STROBE_PAGE_BYTES);
    void *head =
        err ? MAP_FAILED : mmap(NULL, STROBE_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (head == MAP_FAILED) {
        unlink(out->path);
        return err ? err : STROBE_ERR_NOMEM;
    }
    out->head = head;
    out->lock = strobe_alive_lock_image(out->path);
    out->pid = (int)getpid();
    fill_head(out, options);
    return STROBE_OK;
}

bool strobe_device_fifo_is_asked(const struct strobe_device_fifo_writer *w)
{
    return w->head && !w->data && __atomic_load_n(&w->head->recorder, __ATOMIC_ACQUIRE) &&
           w->pid == (int)getpid(); /* asked last: it is a system call */
}

enum strobe_err strobe_device_fifo_extend(struct strobe_device_fifo_writer *w, uint64_t n_bytes)
{
    STROBE_ASSERT(w->head && !w->data && !w->written && w->pid == (int)getpid());
    uint64_t data_bytes = power_of_two(n_bytes ? n_bytes : DEFAULT_BYTES);
    int fd = open(w->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return strobe_err_from_errno(errno);
    enum strobe_err err = lengthen(fd, DATA_OFF + data_bytes);
    if (!err) {
        w->data = strobe_map_twice(fd, DATA_OFF, data_bytes, PROT_READ | PROT_WRITE);
        err = w->data ? STROBE_OK : STROBE_ERR_NOMEM;
    }
    if (err && ftruncate(fd, STROBE_PAGE_BYTES))
        err = strobe_err_from_errno(errno);
    close(fd);
    if (err)
        return err;
    w->data_bytes = data_bytes;
    STROBE_ASSERT(!w->head->data_bytes); /* it is made once */
    __atomic_store_n(&w->head->data_bytes, data_bytes, __ATOMIC_RELEASE);
    return STROBE_OK;
}

bool strobe_device_fifo_is_wanted(const struct strobe_device_fifo_writer *w)
{
    return w->data && __atomic_load_n(&w->head->recorder, __ATOMIC_ACQUIRE);
}

bool strobe_device_fifo_must_describe(struct strobe_device_fifo_writer *w)
{
    uint32_t attach = w->head ? __atomic_load_n(&w->head->attach, __ATOMIC_ACQUIRE) : 0;
    bool is_new = attach != w->seen_attach;
    w->seen_attach = attach;
    return is_new;
}

/* ---- room ---- */

/* Bytes that may be written. A recorder that stores nonsense gets no more than the ring. */
static uint64_t room(const struct strobe_device_fifo_writer *w)
{
    uint64_t used = w->written - __atomic_load_n(&w->head->read, __ATOMIC_ACQUIRE);
    uint64_t most = w->data_bytes - (w->is_ending ? 0 : STROBE_DEVICE_FIFO_FRAME_MAX);
    return used <= most ? most - used : 0;
}

static void sleep_for_room(struct strobe_device_fifo_head *head, uint32_t seen_given)
{
    struct timespec slice = strobe_clock_timespec(SLICE_NS);
    __atomic_store_n(&head->n_waiting, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &head->n_given, FUTEX_WAIT, seen_given, &slice, NULL, 0);
    __atomic_store_n(&head->n_waiting, 0, __ATOMIC_RELAXED);
}

/* Wait until `n_bytes` fit. False: nobody wants them any more, or the patience is at its end. */
static bool wait_for_room(struct strobe_device_fifo_writer *w, uint64_t n_bytes)
{
    struct strobe_device_fifo_head *head = w->head;
    STROBE_ASSERT(n_bytes <= w->data_bytes && w->patience_ns);
    uint64_t beat = __atomic_load_n(&head->heartbeat, __ATOMIC_RELAXED);
    uint64_t began = strobe_clock_mono_ns(), now = began, seen_read = head->read, since = began;
    if (w->gave_up && beat == w->last_beat)
        return false;
    w->gave_up = false;
    while (room(w) < n_bytes && now - since < w->patience_ns) {
        uint32_t given = __atomic_load_n(&head->n_given, __ATOMIC_SEQ_CST);
        if (room(w) < n_bytes)
            sleep_for_room(head, given);
        now = strobe_clock_mono_ns();
        uint64_t read = __atomic_load_n(&head->read, __ATOMIC_RELAXED);
        if (read != seen_read) /* it comes on */
            since = now;
        seen_read = read;
        if (!strobe_device_fifo_is_wanted(w))
            break;
    }
    __atomic_store_n(&head->waited_ns, head->waited_ns + (now - began), __ATOMIC_RELAXED);
    bool fits = room(w) >= n_bytes;
    if (!fits) {
        w->gave_up = true;
        w->last_beat = __atomic_load_n(&head->heartbeat, __ATOMIC_RELAXED);
    }
    return fits;
}

enum strobe_err strobe_device_fifo_put(struct strobe_device_fifo_writer *w, const uint32_t *words,
                                       size_t n_words)
{
    uint64_t n_bytes = n_words * sizeof *words;
    STROBE_ASSERT(n_bytes % STROBE_DEVICE_FIFO_ALIGN == 0);
    STROBE_ASSERT(n_bytes <= STROBE_DEVICE_FIFO_FRAME_MAX);
    if (!strobe_device_fifo_is_wanted(w) || w->pid != (int)getpid())
        return STROBE_OK;
    if (room(w) < n_bytes && !wait_for_room(w, n_bytes)) {
        if (!strobe_device_fifo_is_wanted(w))
            return STROBE_OK;
        __atomic_store_n(&w->head->n_dropped, w->head->n_dropped + 1, __ATOMIC_RELAXED);
        return STROBE_ERR_LIMIT;
    }
    memcpy(w->data + w->written % w->data_bytes, words, n_bytes);
    w->written += n_bytes;
    STROBE_ASSERT(w->written % STROBE_DEVICE_FIFO_ALIGN == 0);
    __atomic_store_n(&w->head->written, w->written, __ATOMIC_RELEASE);
    return STROBE_OK;
}

void strobe_device_fifo_close(struct strobe_device_fifo_writer *w)
{
    if (!w->head)
        return;
    if (w->pid == (int)getpid()) {
        __atomic_store_n(&w->head->closed, 1, __ATOMIC_RELEASE);
        if (!strobe_device_fifo_is_wanted(w))
            unlink(w->path);
        if (w->lock)
            munmap(w->lock, STROBE_PAGE_BYTES);
    }
    unmap_parts(w);
    memset(w, 0, sizeof *w);
}
