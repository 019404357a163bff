/* losses.h - events that are not in the file, kept until the file says so.
 *
 * One entry per process, track and cause: how many, and the first and the last tick at which. Adding
 * never fails. Memory: at most STROBE_BUILD_LOSSES_MAX entries; what
 * comes beyond them is summed by cause, as process 0 and track 0, so that the count of every cause is
 * right whatever happens.
 *
 * strobe_build_losses_put writes them as LOSS records. On a full disk they go to the ledger, the space
 * that was allocated when the file was made (docs/file-format.md), and stay here for another try.
 *
 * Threads: any; the lock is inside. Not while init or free run.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BUILD_LOSSES_H
#define STROBE_BUILD_LOSSES_H

#include <pthread.h>

#include "file/file_write.h"

enum { STROBE_BUILD_LOSSES_MAX = 1 << 16 };

struct strobe_build_loss {
    uint32_t proc, cause; /* cause: enum strobe_loss */
    uint64_t track;       /* 0: not known which */
    uint64_t count;
    uint64_t first, last; /* ticks */
};

struct strobe_build_losses {
    pthread_mutex_t lock;            /* guards all of it */
    struct strobe_build_loss *items; /* owned: not in the file yet */
    uint32_t n, room;
    uint32_t max;                  /* STROBE_BUILD_LOSSES_MAX */
    uint64_t total;                /* events lost so far, those in the file among them */
    struct strobe_records records; /* scratch */
    uint64_t end_tick;             /* of the recording; 0: it goes on */
    bool in_ledger;                /* the ledger has some of them */
    bool ledger_failed;            /* it could not be written either */
};

/* Empty, with memory for the first of them. NOMEM: nothing is to be freed. */
enum strobe_err strobe_build_losses_init(struct strobe_build_losses *losses);
void strobe_build_losses_free(struct strobe_build_losses *losses); /* zeroes are allowed */

/* Add one; of a count of 0 nothing is kept. */
void strobe_build_losses_add(struct strobe_build_losses *losses,
                             const struct strobe_build_loss *loss);

/* The recording ended at `tick`, and the disk has no room for that: the ledger says it, beside what is lost. */
void strobe_build_losses_end(struct strobe_build_losses *losses, struct strobe_file_writer *writer,
                             uint64_t tick);

/* Write all and forget them, or keep them in the ledger. OK: none is left, they are in a block. */
enum strobe_err strobe_build_losses_put(struct strobe_build_losses *losses,
                                        struct strobe_file_writer *writer);

uint32_t strobe_build_losses_n(struct strobe_build_losses *losses);     /* not in the file yet */
uint64_t strobe_build_losses_total(struct strobe_build_losses *losses); /* events */

#endif
