/* spill.c - see spill.h. The first page of a file, or the bytes before a small array, say what it is.  SPDX-License-Identifier: MIT */
#include "base/spill.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

/* OFFSET SIZE FIELD   before the items
 *      0    8 n_bytes of all, this head included
 *      8    4 fd      the file; -1: in memory */
struct head {
    uint64_t n_bytes;
    int32_t fd;
    uint32_t zero[13];
};
_Static_assert(sizeof(struct head) == 64, "in a file items are aligned as a cache line is");

static struct head *head_of(void *items)
{
    return items ? (struct head *)items - 1 : NULL;
}

/* Bytes of both, where one becomes the other. */
static size_t common(const struct head *head, uint64_t n_bytes)
{
    return (size_t)(head->n_bytes < n_bytes ? head->n_bytes : n_bytes);
}

#ifdef __wasi__
static struct head *resize_file(struct head *head, uint64_t n_bytes)
{
    (void)head;
    (void)n_bytes;
    return NULL;
}

static void close_file(struct head *head)
{
    (void)head;
}

void strobe_spill_rest(void *items)
{
    (void)items;
}
#else
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static int open_in(const char *folder)
{
    char path[4096];
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 ||
        (size_t)snprintf(path, sizeof path, "%s/strobe-spill-XXXXXX", folder) >= sizeof path)
        return fd;
    fd = mkostemp(path, O_CLOEXEC); /* where the file system can't do without a name */
    if (fd >= 0)
        unlink(path);
    return fd;
}

static int open_file(void)
{
    const char *folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
    int fd = -1;
    for (size_t i = 0; fd < 0 && i < sizeof folders / sizeof folders[0]; i++)
        if (folders[i] && *folders[i])
            fd = open_in(folders[i]);
    return fd;
}

/* Space that is allocated: a full disk is an error here, and no SIGBUS later. */
static bool reserve(int fd, uint64_t n_bytes)
{
    struct rlimit limit;
    return !getrlimit(RLIMIT_FSIZE, &limit) && n_bytes <= limit.rlim_cur &&
           !posix_fallocate(fd, 0, (off_t)n_bytes);
}

/* The array in a file, moved there or longer than before. NULL: that can't be, and it is as it was. */
static struct head *resize_file(struct head *head, uint64_t n_bytes)
{
    bool is_new = !head || head->fd < 0;
    int fd = is_new ? open_file() : head->fd;
    if (fd < 0)
        return NULL;
    struct head *made = MAP_FAILED;
    if (reserve(fd, n_bytes))
        made = is_new ? mmap(NULL, (size_t)n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                      : mremap(head, (size_t)head->n_bytes, (size_t)n_bytes, MREMAP_MAYMOVE);
    if (made == MAP_FAILED) {
        if (is_new)
            close(fd);
        return NULL;
    }
    if (is_new && head)
        memcpy(made, head, common(head, n_bytes));
    if (is_new)
        free(head);
    made->fd = fd;
    made->n_bytes = n_bytes;
    return made;
}

static void close_file(struct head *head)
{
    int fd = head->fd;
    munmap(head, (size_t)head->n_bytes);
    close(fd);
}

void strobe_spill_rest(void *items)
{
    struct head *head = head_of(items);
    if (head && head->fd >= 0)
        madvise(head, (size_t)head->n_bytes, MADV_DONTNEED);
}
#endif

/* What lay in a file that can't grow any more goes on in memory. */
static struct head *resize_memory(struct head *head, uint64_t n_bytes)
{
    bool is_file = head && head->fd >= 0;
    struct head *made = realloc(is_file ? NULL : head, (size_t)n_bytes);
    if (!made)
        return NULL;
    if (is_file) {
        memcpy(made, head, common(head, n_bytes));
        close_file(head);
    }
    made->fd = -1;
    made->n_bytes = n_bytes;
    return made;
}

void *strobe_spill_resize(void *items, uint64_t n_bytes)
{
    struct head *head = head_of(items), *made = NULL;
    STROBE_ASSERT(!head || head->n_bytes >= sizeof *head);
    if (n_bytes > PTRDIFF_MAX - sizeof *head)
        return NULL;
    uint64_t all = n_bytes + sizeof *head;
    if (all >= STROBE_SPILL_FROM)
        made = resize_file(head, all);
    if (!made)
        made = resize_memory(head, all);
    return made ? made + 1 : NULL;
}

void strobe_spill_free(void *items)
{
    struct head *head = head_of(items);
    if (head && head->fd >= 0)
        close_file(head);
    else
        free(head);
}
