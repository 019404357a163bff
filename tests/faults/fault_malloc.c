/* fault_malloc.c - to be preloaded into the recorder: its n-th allocation fails, or all from the
 * n-th on.
 *
 *     FAULT_MALLOC=<n>            only the n-th, from 1
 *     FAULT_MALLOC=<n>+           the n-th and all later ones
 *     FAULT_MALLOC_COUNT=<file>   write the number of allocations there at exit
 *
 * Counting starts with the constructor, i.e. just before main; it removes itself from the
 * environment. SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t n);

static unsigned long fail_at, n_calls;
static bool for_good, counting;
static char count_path[4096];

static bool fails(void)
{
    if (!counting)
        return false;
    unsigned long call = __atomic_add_fetch(&n_calls, 1, __ATOMIC_RELAXED);
    if (!fail_at || (for_good ? call < fail_at : call != fail_at))
        return false;
    errno = ENOMEM;
    return true;
}

#define EXPORT __attribute__((visibility("default")))

EXPORT void *malloc(size_t n)
{
    return fails() ? NULL : __libc_malloc(n);
}

EXPORT void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

EXPORT void *realloc(void *old, size_t n)
{
    return fails() ? NULL : __libc_realloc(old, n);
}

__attribute__((constructor)) static void start(void)
{
    const char *at = getenv("FAULT_MALLOC"), *path = getenv("FAULT_MALLOC_COUNT");
    if (at) {
        fail_at = strtoul(at, NULL, 10);
        for_good = strchr(at, '+') != NULL;
    }
    if (path)
        snprintf(count_path, sizeof count_path, "%s", path);
    unsetenv("LD_PRELOAD");
    unsetenv("FAULT_MALLOC");
    unsetenv("FAULT_MALLOC_COUNT");
    counting = true;
}

__attribute__((destructor)) static void stop(void)
{
    char text[32];
    counting = false;
    int fd = count_path[0] ? open(count_path, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
    int n = snprintf(text, sizeof text, "%lu\n", n_calls);
    if (fd >= 0 && write(fd, text, (size_t)n) == n)
        close(fd);
}
