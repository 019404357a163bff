/* own_malloc.c - an allocator that only adds, as a program with a malloc of its own has it, or as a library that a user preloads.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

void *malloc(size_t n);
void *calloc(size_t n, size_t size);
void *realloc(void *old, size_t n);
void free(void *at);

static char room[64 << 20] __attribute__((aligned(64)));
static size_t used;

void *malloc(size_t n)
{
    size_t all = (n + 31) & ~(size_t)15;
    size_t from = __atomic_fetch_add(&used, all, __ATOMIC_RELAXED);
    if (n > sizeof room || from + all > sizeof room)
        return NULL;
    memcpy(room + from, &n, sizeof n);
    return room + from + 16;
}

void *calloc(size_t n, size_t size)
{
    return malloc(n * size); /* it is zero: nothing is used twice */
}

void *realloc(void *old, size_t n)
{
    size_t had = 0;
    void *at = malloc(n);
    if (old)
        memcpy(&had, (char *)old - 16, sizeof had);
    if (at && old)
        memcpy(at, old, had < n ? had : n);
    return at;
}

void free(void *at)
{
    (void)at;
}

static __attribute__((destructor)) void say(void)
{
    static const char text[] = "own malloc\n";
    if (used)
        (void)!write(1, text, sizeof text - 1);
}

#ifdef STROBE_PROGRAM
int main(void)
{
    return malloc(100) ? 0 : 1;
}
#endif
