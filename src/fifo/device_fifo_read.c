/* device_fifo_read.c - the recorder's half. The file belongs to another process, which may store anything in it at any time,
 * cut it, or die: every count is read once and checked before it is used.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"
#include "fifo/device_fifo.h"
#include "fifo/map_twice.h"
#include "ring/alive.h"
#include "ring/fifo_state.h"

/* The head as it is now; what is used of it later is what was checked here. */
static enum strobe_err check_head(const struct strobe_device_fifo_head *head, uint64_t file_bytes)
{
    uint64_t bytes = head->data_bytes;
    if (!head->magic)
        return STROBE_ERR_BUSY;
    if (head->magic != STROBE_DEVICE_FIFO_MAGIC)
        return STROBE_ERR_FORMAT;
    if (head->version != STROBE_DEVICE_FIFO_VERSION)
        return STROBE_ERR_VERSION;
    if (!bytes)
        return STROBE_ERR_BUSY;
    if (head->data_off < STROBE_PAGE_BYTES || head->data_off % STROBE_PAGE_BYTES ||
        bytes < STROBE_DEVICE_FIFO_FRAME_MAX || bytes & (bytes - 1) || bytes > file_bytes ||
        head->data_off > file_bytes - bytes)
        return STROBE_ERR_CORRUPT;
    return STROBE_OK;
}

void strobe_device_fifo_ask(const char *dir, const char *name, uint32_t only_pid, bool is_wanted)
{
    struct strobe_fifo_state state;
    char path[2 * STROBE_PATH_MAX];
    int fd = strobe_session_open(dir, name, O_RDWR);
    if (fd < 0)
        return;
    bool is_ours = strobe_fifo_state_look(fd, &state) && !state.n_ring_bytes &&
                   (!only_pid || !state.is_made || only_pid == state.pid);
    if (is_ours && !state.is_alive) {
        snprintf(path, sizeof path, "%s/%s", dir, name);
        unlink(path);
    } else if (is_ours && state.is_made) {
        uint32_t from = is_wanted ? STROBE_DEVICE_FIFO_NONE : STROBE_DEVICE_FIFO_WANTED;
        uint32_t to = is_wanted ? STROBE_DEVICE_FIFO_WANTED : STROBE_DEVICE_FIFO_NONE;
        off_t at = offsetof(struct strobe_device_fifo_head, recorder);
        if (state.recorder == from) /* ours to move: a session has one recorder */
            is_ours = pwrite(fd, &to, sizeof to, at) == (ssize_t)sizeof to;
    }
    close(fd);
}

static enum strobe_err map_file(struct strobe_device_fifo_reader *r,
                                const struct strobe_device_fifo_head *copy)
{
    STROBE_ASSERT(copy->data_bytes && !(copy->data_bytes & (copy->data_bytes - 1))); /* checked */
    r->data_bytes = copy->data_bytes;
    r->pid = copy->pid;
    r->device = copy->device;
    r->clock = copy->clock;
    r->is_locked = copy->locked != 0;
    r->start_time = copy->start_time;
    r->slots_off = copy->data_off + copy->data_bytes;
    void *front = mmap(NULL, STROBE_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
    if (front == MAP_FAILED)
        return STROBE_ERR_NOMEM;
    r->head = front;
    r->data = strobe_map_twice(r->fd, copy->data_off, r->data_bytes, PROT_READ);
    if (!r->data)
        return STROBE_ERR_NOMEM;
    strobe_map_guard_add(&r->front_guard, front, STROBE_PAGE_BYTES);
    strobe_map_guard_add(&r->guard, (void *)r->data, 2 * r->data_bytes);
    return STROBE_OK;
}

enum strobe_err strobe_device_fifo_open(const char *dir, const char *name,
                                        struct strobe_device_fifo_reader *out)
{
    struct strobe_device_fifo_head copy;
    struct stat st;
    memset(out, 0, sizeof *out);
    out->fd = strobe_session_open(dir, name, O_RDWR);
    if (out->fd < 0)
        return strobe_err_from_errno(errno);
    snprintf(out->name, sizeof out->name, "%s", name);
    enum strobe_err err = STROBE_ERR_BUSY; /* shorter than its head: not made yet */
    if (!fstat(out->fd, &st) && pread(out->fd, &copy, sizeof copy, 0) == sizeof copy)
        err = check_head(&copy, (uint64_t)st.st_size);
    if (!err)
        err = map_file(out, &copy);
    if (err) {
        strobe_device_fifo_release(out, dir, false);
        return err;
    }
    uint64_t written = __atomic_load_n(&out->head->written, __ATOMIC_ACQUIRE);
    out->read = out->given = __atomic_load_n(&out->head->read, __ATOMIC_ACQUIRE);
    if (written - out->read > out->data_bytes || out->read % sizeof(uint32_t))
        out->read = out->given =
            written; /* a predecessor's count can't be: nothing of it is trusted */
    return STROBE_OK;
}

void strobe_device_fifo_attach(struct strobe_device_fifo_reader *r)
{
    STROBE_ASSERT(r->head && r->read == r->given); /* open, and nothing taken yet */
    __atomic_store_n(&r->head->recorder, STROBE_DEVICE_FIFO_ATTACHED, __ATOMIC_RELEASE);
    __atomic_add_fetch(&r->head->attach, 1, __ATOMIC_ACQ_REL);
}

static void wake(struct strobe_device_fifo_head *head)
{
    __atomic_add_fetch(&head->n_given, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&head->n_waiting, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &head->n_given, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void strobe_device_fifo_detach(struct strobe_device_fifo_reader *r)
{
    STROBE_ASSERT(r->head);
    __atomic_store_n(&r->head->recorder, STROBE_DEVICE_FIFO_NONE, __ATOMIC_RELEASE);
    wake(r->head);
}

void strobe_device_fifo_beat(struct strobe_device_fifo_reader *r)
{
    __atomic_add_fetch(&r->head->heartbeat, 1, __ATOMIC_RELAXED);
}

static bool is_broken(const struct strobe_device_fifo_reader *r)
{
    return strobe_map_guard_is_broken(&r->guard) || strobe_map_guard_is_broken(&r->front_guard);
}

enum strobe_err strobe_device_fifo_next(struct strobe_device_fifo_reader *r, const uint32_t **words,
                                        size_t *n_words)
{
    *n_words = 0;
    uint64_t written = __atomic_load_n(&r->head->written, __ATOMIC_ACQUIRE);
    uint64_t n_bytes = written - r->read;
    STROBE_ASSERT(r->read - r->given <= r->data_bytes);
    if (written - r->given > r->data_bytes || n_bytes > r->data_bytes || /* it went back */
        written % STROBE_DEVICE_FIFO_ALIGN || is_broken(r))
        return STROBE_ERR_CORRUPT;
    STROBE_ASSERT(r->read % sizeof **words == 0);
    *words = (const uint32_t *)(r->data + r->read % r->data_bytes);
    *n_words = n_bytes / sizeof **words;
    return STROBE_OK;
}

void strobe_device_fifo_take(struct strobe_device_fifo_reader *r, size_t n_words)
{
    r->read += n_words * sizeof(uint32_t);
    STROBE_ASSERT(r->read - r->given <= r->data_bytes);
}

/* ---- where the recorder stands ---- */

static off_t slot_at(const struct strobe_device_fifo_reader *r, uint32_t slot)
{
    return (off_t)(r->slots_off + (slot & 1) * STROBE_DEVICE_FIFO_SLOT_BYTES);
}

static bool write_all(int fd, const void *bytes, size_t n_bytes, off_t at)
{
    for (size_t done = 0; done < n_bytes;) {
        ssize_t n = pwrite(fd, (const uint8_t *)bytes + done, n_bytes - done, at + (off_t)done);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

enum strobe_err strobe_device_fifo_save_begin(struct strobe_device_fifo_reader *r)
{
    struct strobe_device_fifo_slot none = {.magic = STROBE_DEVICE_FIFO_SLOT_MAGIC,
                                           .read = STROBE_DEVICE_FIFO_SLOT_NONE};
    r->saved = 0;
    return write_all(r->fd, &none, sizeof none, slot_at(r, r->slot)) ? STROBE_OK
                                                                     : strobe_err_from_errno(errno);
}

int strobe_device_fifo_save_piece(void *reader, const char *bytes, size_t n_bytes)
{
    struct strobe_device_fifo_reader *r = reader;
    const uint64_t room = STROBE_DEVICE_FIFO_SLOT_BYTES - sizeof(struct strobe_device_fifo_slot);
    off_t at = slot_at(r, r->slot) + (off_t)(sizeof(struct strobe_device_fifo_slot) + r->saved);
    STROBE_ASSERT(r->saved <= room);
    if (n_bytes > room - r->saved)
        return EFBIG;
    errno = EIO; /* of a write of nothing */
    if (!write_all(r->fd, bytes, n_bytes, at))
        return errno;
    r->saved += n_bytes;
    return 0;
}

enum strobe_err strobe_device_fifo_save_end(struct strobe_device_fifo_reader *r,
                                            const uint8_t trace[16], uint32_t layout)
{
    struct strobe_device_fifo_slot slot = {.magic = STROBE_DEVICE_FIFO_SLOT_MAGIC,
                                           .read = r->read,
                                           .n_bytes = r->saved,
                                           .layout = layout};
    memcpy(slot.trace, trace, sizeof slot.trace);
    if (!write_all(r->fd, &slot, sizeof slot, slot_at(r, r->slot)))
        return strobe_err_from_errno(errno);
    r->slot ^= 1;
    return STROBE_OK;
}

enum strobe_err strobe_device_fifo_save(struct strobe_device_fifo_reader *r,
                                        const uint8_t trace[16], uint32_t layout, const void *bytes,
                                        size_t n_bytes)
{
    enum strobe_err err = strobe_device_fifo_save_begin(r);
    int error = err ? 0 : strobe_device_fifo_save_piece(r, bytes, n_bytes);
    if (err || error)
        return err ? err : error == EFBIG ? STROBE_ERR_LIMIT : strobe_err_from_errno(error);
    return strobe_device_fifo_save_end(r, trace, layout);
}

/* A slot that counts: it stands behind bytes that are still there, or at `given`. */
static bool read_slot(const struct strobe_device_fifo_reader *r, uint32_t number,
                      struct strobe_device_fifo_slot *slot)
{
    uint64_t written = __atomic_load_n(&r->head->written, __ATOMIC_ACQUIRE);
    return pread(r->fd, slot, sizeof *slot, slot_at(r, number)) == sizeof *slot &&
           slot->magic == STROBE_DEVICE_FIFO_SLOT_MAGIC &&
           slot->read - r->given <= written - r->given && slot->read % sizeof(uint32_t) == 0 &&
           slot->n_bytes <= STROBE_DEVICE_FIFO_SLOT_BYTES - sizeof *slot;
}

enum strobe_err strobe_device_fifo_left(struct strobe_device_fifo_reader *r, uint8_t trace[16],
                                        uint32_t layout, void **bytes, size_t *n_bytes)
{
    struct strobe_device_fifo_slot slots[2];
    bool good[2];
    STROBE_ASSERT(r->read == r->given);
    for (uint32_t i = 0; i < 2; i++)
        good[i] = read_slot(r, i, &slots[i]);
    uint32_t best = good[1] && (!good[0] || slots[1].read > slots[0].read);
    if (!good[best] || slots[best].layout != layout)
        return STROBE_ERR_NOTFOUND;
    *n_bytes = slots[best].n_bytes;
    *bytes = malloc(*n_bytes + 1);
    if (!*bytes)
        return STROBE_ERR_NOMEM;
    if (pread(r->fd, *bytes, *n_bytes, slot_at(r, best) + (off_t)sizeof slots[0]) !=
        (ssize_t)*n_bytes) {
        free(*bytes);
        return STROBE_ERR_NOTFOUND;
    }
    memcpy(trace, slots[best].trace, sizeof slots[best].trace);
    r->read = r->given = slots[best].read;
    r->slot = best ^ 1;
    return STROBE_OK;
}

void strobe_device_fifo_forget(struct strobe_device_fifo_reader *r)
{
    struct strobe_device_fifo_slot none = {.read = STROBE_DEVICE_FIFO_SLOT_NONE};
    for (uint32_t i = 0; i < 2; i++)
        write_all(r->fd, &none, sizeof none, slot_at(r, i));
}

void strobe_device_fifo_give_back(struct strobe_device_fifo_reader *r)
{
    if (__atomic_load_n(&r->head->read, __ATOMIC_RELAXED) == r->read)
        return;
    r->given = r->read;
    __atomic_store_n(&r->head->read, r->read, __ATOMIC_RELEASE);
    wake(r->head);
}

bool strobe_device_fifo_is_live(const struct strobe_device_fifo_reader *r)
{
    return !is_broken(r) && !__atomic_load_n(&r->head->closed, __ATOMIC_ACQUIRE) &&
           (!r->is_locked || strobe_alive_file(r->fd));
}

void strobe_device_fifo_release(struct strobe_device_fifo_reader *r, const char *dir,
                                bool unlink_it)
{
    char path[2 * STROBE_PATH_MAX];
    strobe_map_guard_remove(&r->guard);
    strobe_map_guard_remove(&r->front_guard);
    if (r->data)
        munmap((void *)r->data, 2 * r->data_bytes);
    if (r->head)
        munmap(r->head, STROBE_PAGE_BYTES);
    if (unlink_it) {
        snprintf(path, sizeof path, "%s/%s", dir, r->name);
        unlink(path);
    }
    if (r->name[0] && r->fd >= 0)
        close(r->fd);
    memset(r, 0, sizeof *r);
    r->fd = -1;
}
