/* preload.c - the life of the preloaded library: what is wanted, forks, the functions behind ours.
 * SPDX-License-Identifier: MIT */
#include "preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "client/client.h"
#include "preload/functions.h"
#include "strobe/strobe.h"

struct strobe_preload_wants strobe_preload_wants;
STROBE_PRELOAD_TLS int strobe_preload_busy;

/* The result goes through a variable: as a tail call, the loader would take its own caller for ours. */
void *strobe_preload_next(const char *name)
{
    void *volatile found = dlsym(RTLD_NEXT, name);
    return found;
}

void *strobe_preload_next_version(const char *name, const char *version)
{
    void *volatile found = dlvsym(RTLD_NEXT, name, version);
    return found ? found : strobe_preload_next(name);
}

void *strobe_preload_map(size_t n_bytes)
{
    int saved = errno;
    long at = syscall(SYS_mmap, NULL, n_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
    errno = saved;
    return at == -1 ? NULL : (void *)at;
}

void strobe_preload_unmap(void *at, size_t n_bytes)
{
    int saved = errno;
    syscall(SYS_munmap, at, n_bytes);
    errno = saved;
}

void strobe_preload_wipe(void *at, size_t n_bytes)
{
    if (at)
        madvise(at, n_bytes, MADV_DONTNEED);
}

/* A holder that waits for a processor has one again within the naps, on a loaded machine too. One that was waited for in vain (a debugger
 * stopped it, or it left by longjmp) is not waited for again. */
bool strobe_preload_take(int *lock)
{
    enum { YIELDS = 64, NAPS = 1000 };
    static int stuck; /* the last holder that was waited for in vain */
    const struct timespec nap = {.tv_nsec = 100000};
    int mine = (int)syscall(SYS_gettid), holder = 0, before = errno;
    for (int i = 0; !__atomic_compare_exchange_n(lock, &holder, mine, false, __ATOMIC_ACQUIRE,
                                                 __ATOMIC_RELAXED);
         i++) {
        if (holder == mine || (i >= YIELDS && holder == __atomic_load_n(&stuck, __ATOMIC_RELAXED)))
            return false;
        if (i == YIELDS + NAPS) {
            __atomic_store_n(&stuck, holder, __ATOMIC_RELAXED);
            return false;
        }
        holder = 0;
        if (i < YIELDS)
            syscall(SYS_sched_yield);
        else
            syscall(SYS_nanosleep, &nap, NULL);
        errno = before;
    }
    if (__atomic_load_n(&stuck, __ATOMIC_RELAXED) == mine)
        __atomic_store_n(&stuck, 0, __ATOMIC_RELAXED);
    return true;
}

void strobe_preload_give(int *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

void strobe_preload_free(int *lock)
{
    if (__atomic_load_n(lock, __ATOMIC_RELAXED) == (int)syscall(SYS_gettid))
        strobe_preload_give(lock);
}

static void in_child(void)
{
    int before = errno;
    strobe_preload_stack_forked();
    strobe_preload_memory_forked();
    strobe_preload_waits_forked();
    strobe_preload_timers_forked();
    strobe_function_forked();
    errno = before;
}

/* A sanitizer's runtime keeps its own account of memory and locks: it is left alone. */
static bool has_sanitizer(void)
{
    return dlsym(RTLD_DEFAULT, "__asan_init") || dlsym(RTLD_DEFAULT, "__tsan_init") ||
           dlsym(RTLD_DEFAULT, "__msan_init");
}

static void say_unseen(const char *what)
{
    strobe_message(STROBE_WARNING, 0, what, strlen(what));
}

/* The C library's own constructor sets the environment: before it (in resolvers of indirect functions) nothing can be asked for. */
bool strobe_preload_start(void)
{
    static int starter; /* tid of who starts it; 0: nobody */
    if (!environ || !strobe_preload_take(&starter))
        return false;
    int before = errno;
    strobe_preload_busy++;
    strobe_client_start();
    if (!has_sanitizer())
        strobe_preload_functions();
    strobe_preload_busy--;
    strobe_preload_give(&starter);
    errno = before;
    return true;
}

static __attribute__((constructor(101))) void begin(void)
{
    const char *memory = getenv("STROBE_MEMORY"), *locks = getenv("STROBE_LOCKS");
    const char *timer = getenv("STROBE_SAMPLE_TIMER");
    int before = errno;
    strobe_preload_start();
    strobe_preload_busy++;
    bool is_free = !has_sanitizer();
    if (memory && is_free) {
        strobe_preload_wants.memory_all = !strcmp(memory, "all");
        strobe_preload_wants.sample_bytes = strtoull(memory, NULL, 10);
    }
    strobe_preload_wants.locks_all = locks && is_free && !strcmp(locks, "all");
    pthread_atfork(NULL, NULL, in_child);
    strobe_preload_wants.memory =
        strobe_preload_wants.memory_all || strobe_preload_wants.sample_bytes;
    strobe_preload_wants.locks = locks && is_free && *locks;
    strobe_preload_waits_begin();
    if (strobe_preload_wants.memory)
        strobe_preload_python();
    if (timer && is_free)
        strobe_preload_wants.sample_hz = (uint32_t)strtoul(timer, NULL, 10);
    strobe_preload_timers();
    strobe_preload_busy--;
    errno = before;
}

/* Behind the client's own constructor: CMakeLists.txt has the sources in that order. */
static __attribute__((constructor)) void say_what_is_unseen(void)
{
    int before = errno;
    strobe_preload_busy++;
    if (getenv("STROBE_MEMORY") && has_sanitizer())
        say_unseen("a sanitizer is in this program: its memory is not recorded");
    else if (getenv("STROBE_MEMORY") && !strobe_preload_is_malloc(dlsym(RTLD_DEFAULT, "malloc")))
        say_unseen("this program has a malloc of its own: its memory is not recorded");
    if (getenv("STROBE_SAMPLE_TIMER") && has_sanitizer())
        say_unseen("a sanitizer is in this program: the sampler's timers leave it alone");
    if (!has_sanitizer() && !strobe_preload_patch())
        say_unseen("this program's code can't be changed: its functions are no zones");
    strobe_preload_busy--;
    errno = before;
}
