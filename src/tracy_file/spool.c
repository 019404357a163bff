/* spool.c - see spool.h.  SPDX-License-Identifier: MIT */
#include "tracy_file/spool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/ready.h"

enum {
    FIRST_BYTES = 1 << 16, /* there are a dozen spools, most of them short */
    REST_BYTES = 8 << 20,  /* that are added before what is behind them goes */
    KEPT_BYTES = 1 << 20,  /* of the last rows, which stay */
};

static int grow(struct strobe_spool *spool, uint64_t bytes)
{
    uint64_t old = spool->n_mapped, want = old ? old * 2 : FIRST_BYTES;
    while (want < bytes)
        want *= 2;
    if (!spool->fd && spool->folder)
        spool->fd = strobe_ready_unnamed(spool->folder) + 1;
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

void strobe_spool_rest(struct strobe_spool *spool)
{
    uint64_t n = spool->n * spool->row_bytes, page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (spool->fd && n > KEPT_BYTES) /* without a file they would be lost */
        madvise(spool->rows, (size_t)((n - KEPT_BYTES) & ~(page - 1)), MADV_DONTNEED);
    spool->rest_at = spool->n + REST_BYTES / spool->row_bytes;
    spool->n_visits = 0;
}

void *strobe_spool_add(struct strobe_spool *spool)
{
    if (spool->n >= spool->rest_at)
        strobe_spool_rest(spool);
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
    spool->n = spool->room = spool->n_mapped = spool->rest_at = 0;
    spool->fd = 0;
}
