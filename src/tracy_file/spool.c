/* spool.c - see spool.h.  SPDX-License-Identifier: MIT */
#include "tracy_file/spool.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FIRST_BYTES = 1 << 20 };

/* A file without a name; -1 where the folder takes none. */
static int make_file(const char *folder)
{
    char path[4096];
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    if (snprintf(path, sizeof path, "%s/.strobe-spool-XXXXXX", folder) >= (int)sizeof path)
        return -1;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static int grow(struct strobe_spool *spool, uint64_t bytes)
{
    uint64_t old = spool->n_mapped, want = old ? old * 2 : FIRST_BYTES;
    while (want < bytes)
        want *= 2;
    if (!spool->fd && spool->folder)
        spool->fd = make_file(spool->folder) + 1;
    if (spool->fd && posix_fallocate(spool->fd - 1, 0, (off_t)want))
        return 0; /* else a full disk would be a SIGBUS */
    int flags = spool->fd ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    void *rows = old ? mremap(spool->rows, old, want, MREMAP_MAYMOVE)
                     : mmap(NULL, want, PROT_READ | PROT_WRITE, flags, spool->fd - 1, 0);
    if (rows == MAP_FAILED)
        return 0;
    spool->rows = rows;
    spool->n_mapped = want;
    spool->room = want / spool->row_bytes;
    return 1;
}

void *strobe_spool_add(struct strobe_spool *spool)
{
    if (spool->n == spool->room && !grow(spool, (spool->n + 1) * spool->row_bytes))
        return NULL;
    return strobe_spool_row(spool, spool->n++);
}

uint64_t strobe_spool_bytes(struct strobe_spool *spool, const void *bytes, size_t n)
{
    if (spool->n + n > spool->room && !grow(spool, spool->n + n))
        return UINT64_MAX;
    memcpy((char *)spool->rows + spool->n, bytes, n);
    spool->n += n;
    return spool->n - n;
}

void strobe_spool_free(struct strobe_spool *spool)
{
    if (spool->rows)
        munmap(spool->rows, spool->n_mapped);
    if (spool->fd)
        close(spool->fd - 1);
    spool->rows = NULL;
    spool->n = spool->room = spool->n_mapped = 0;
    spool->fd = 0;
}
