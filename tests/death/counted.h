/* counted.h - pages in which a thread counts its events before and after each emit.
 * The pages are a file that the driver of a test maps too, so they outlive every kill: what is
 * stored of a thread must be at least `after` and at most `before`.  SPDX-License-Identifier: MIT
 */
#ifndef STROBE_TESTS_COUNTED_H
#define STROBE_TESTS_COUNTED_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { COUNTED_PAGE = 4096 };

/* OFFSET SIZE FIELD      page 0: the driver writes `stop`, the program the rest
 *      0    8 stop       1: end in good order
 *      8    8 n_ready    threads that emitted their first event
 *     16    8 results[8] what a program measured */
struct counted_head {
    volatile uint64_t stop;
    uint64_t n_ready;
    uint64_t results[8];
};

/* OFFSET SIZE FIELD      page 1 + i: thread i
 *      0    8 pid
 *      8    8 tid
 *     16    8 before     events begun
 *     24    8 after      events whose call returned
 *     32    8 recorded   1: somebody recorded at the start */
struct counted_page {
    uint64_t pid, tid;
    volatile uint64_t before, after;
    uint64_t recorded;
};

/* Map `n_pages` thread pages behind the head; the file is made by the driver. */
static inline struct counted_head *counted_open(const char *path, int n_pages)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *at = fd < 0 ? MAP_FAILED
                      : mmap(NULL, (size_t)(1 + n_pages) * COUNTED_PAGE, PROT_READ | PROT_WRITE,
                             MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        perror(path);
        exit(3);
    }
    close(fd);
    return at;
}

static inline struct counted_page *counted_thread(struct counted_head *head, int i)
{
    return (struct counted_page *)((char *)head + (size_t)(1 + i) * COUNTED_PAGE);
}

#define COUNTED_N(page, n, call)                                                   \
    do {                                                                           \
        __atomic_store_n(&(page)->before, (page)->before + (n), __ATOMIC_SEQ_CST); \
        call;                                                                      \
        __atomic_store_n(&(page)->after, (page)->after + (n), __ATOMIC_SEQ_CST);   \
    } while (0)
#define COUNTED(page, call) COUNTED_N(page, 1, call)

#endif
