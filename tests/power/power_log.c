/* power_log.c - to be preloaded into a writer of a trace: logs what it asks of the disk, in order.
 *
 *     POWER_LOG=<file>      where the log goes
 *     POWER_TRACE=<path>    the trace, as the writer opens it
 *     POWER_FASTER=<n>      waits of 300 ms and more are n times shorter: more syncs in a short run
 *
 * A write and its entry are one step for all threads, so that an entry before SYNC_BEGIN was written before the sync began.
 * What test_power.py makes of it: the pictures that a disk may show after a power cut. The program that the writer starts has
 * none of this.  SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum op { CREATE = 1, WRITE, TRUNCATE, ALLOCATE, SYNC_BEGIN, SYNC_END, DIR_BEGIN, DIR_END, MAPPED };
enum { MAX_FDS = 1024, SHORTENED_NS = 300000000 };

/* An entry of the log; of a WRITE the bytes follow. test_power.py: ENTRY. */
struct entry {
    uint64_t op, mono_ns, at, n;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char trace[4096], folder[4096];
static unsigned long faster = 1;
static int log_fd = -1;
static char is_trace[MAX_FDS], is_folder[MAX_FDS]; /* by descriptor */

static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_fdatasync)(int), (*real_fsync)(int), (*real_ftruncate)(int, off_t),
    (*real_close)(int);
static int (*real_fallocate)(int, off_t, off_t), (*real_open)(const char *, int, ...);
static void *(*real_mmap)(void *, size_t, int, int, int, off_t);
static int (*real_clockwait)(pthread_cond_t *, pthread_mutex_t *, clockid_t,
                             const struct timespec *);

static void find(void *function, const char *name)
{
    *(void **)function = dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void start(void)
{
    const char *path = getenv("POWER_TRACE"), *log = getenv("POWER_LOG"),
               *n = getenv("POWER_FASTER");
    find(&real_pwrite, "pwrite");
    find(&real_fdatasync, "fdatasync");
    find(&real_fsync, "fsync");
    find(&real_ftruncate, "ftruncate");
    find(&real_fallocate, "posix_fallocate");
    find(&real_open, "open");
    find(&real_close, "close");
    find(&real_mmap, "mmap");
    find(&real_clockwait, "pthread_cond_clockwait");
    if (!path || !log || strlen(path) >= sizeof trace || !strchr(path, '/'))
        return;
    strcpy(trace, path);
    strcpy(folder, path);
    *strrchr(folder, '/') = 0;
    faster = n ? strtoul(n, NULL, 10) : 1;
    log_fd = real_open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    unsetenv("LD_PRELOAD");
    unsetenv("POWER_TRACE");
}

static void put(enum op op, uint64_t at, uint64_t n, const void *bytes)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct entry entry = {op, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec, at, n};
    if (write(log_fd, &entry, sizeof entry) != sizeof entry ||
        (bytes && write(log_fd, bytes, n) != (ssize_t)n))
        abort();
}

static int known(const char *map, int fd)
{
    return log_fd >= 0 && fd >= 0 && fd < MAX_FDS && map[fd];
}

__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    struct stat st = {0};
    int ours = log_fd >= 0 && !strcmp(path, trace) && (flags & O_ACCMODE) != O_RDONLY;
    if (ours)
        stat(path, &st);
    int fd = real_open(path, flags, mode);
    if (fd < 0 || fd >= MAX_FDS || log_fd < 0)
        return fd;
    is_trace[fd] = (char)ours;
    is_folder[fd] = !strcmp(path, folder) && (flags & O_DIRECTORY);
    if (ours && flags & O_TRUNC) {
        pthread_mutex_lock(&lock);
        put(CREATE, 0, (uint64_t)st.st_size, NULL);
        pthread_mutex_unlock(&lock);
    }
    return fd;
}

__attribute__((visibility("default"))) int close(int fd)
{
    if (fd >= 0 && fd < MAX_FDS)
        is_trace[fd] = is_folder[fd] = 0;
    return real_close(fd);
}

__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    if (!known(is_trace, fd))
        return real_pwrite(fd, bytes, n, at);
    pthread_mutex_lock(&lock);
    ssize_t done = real_pwrite(fd, bytes, n, at);
    if (done > 0)
        put(WRITE, (uint64_t)at, (uint64_t)done, bytes);
    pthread_mutex_unlock(&lock);
    return done;
}

__attribute__((visibility("default"))) int ftruncate(int fd, off_t length)
{
    if (!known(is_trace, fd))
        return real_ftruncate(fd, length);
    pthread_mutex_lock(&lock);
    int done = real_ftruncate(fd, length);
    if (!done)
        put(TRUNCATE, (uint64_t)length, 0, NULL);
    pthread_mutex_unlock(&lock);
    return done;
}

__attribute__((visibility("default"))) int posix_fallocate(int fd, off_t at, off_t length)
{
    if (!known(is_trace, fd))
        return real_fallocate(fd, at, length);
    pthread_mutex_lock(&lock);
    int done = real_fallocate(fd, at, length);
    if (!done)
        put(ALLOCATE, (uint64_t)(at + length), 0, NULL);
    pthread_mutex_unlock(&lock);
    return done;
}

static int synced(int fd, int (*sync)(int))
{
    int dir = known(is_folder, fd);
    if (!dir && !known(is_trace, fd))
        return sync(fd);
    pthread_mutex_lock(&lock);
    put(dir ? DIR_BEGIN : SYNC_BEGIN, 0, 0, NULL);
    pthread_mutex_unlock(&lock);
    int done = sync(fd);
    pthread_mutex_lock(&lock);
    if (!done)
        put(dir ? DIR_END : SYNC_END, 0, 0, NULL);
    pthread_mutex_unlock(&lock);
    return done;
}

__attribute__((visibility("default"))) int fdatasync(int fd)
{
    return synced(fd, real_fdatasync);
}

__attribute__((visibility("default"))) int fsync(int fd)
{
    return synced(fd, real_fsync);
}

__attribute__((visibility("default"))) void *mmap(void *at, size_t n, int access, int flags, int fd,
                                                  off_t offset)
{
    if (known(is_trace, fd) && flags & MAP_SHARED && access & PROT_WRITE) {
        pthread_mutex_lock(&lock);
        put(MAPPED, (uint64_t)offset, n, NULL);
        pthread_mutex_unlock(&lock);
    }
    return real_mmap(at, n, access, flags, fd, offset);
}

__attribute__((visibility("default"))) int pthread_cond_clockwait(pthread_cond_t *cond,
                                                                  pthread_mutex_t *mutex,
                                                                  clockid_t clock,
                                                                  const struct timespec *until)
{
    struct timespec now;
    clock_gettime(clock, &now);
    int64_t ns = (until->tv_sec - now.tv_sec) * 1000000000ll + until->tv_nsec - now.tv_nsec;
    if (ns < SHORTENED_NS)
        return real_clockwait(cond, mutex, clock, until);
    ns = now.tv_nsec + ns / (int64_t)faster;
    struct timespec sooner = {now.tv_sec + ns / 1000000000, ns % 1000000000};
    return real_clockwait(cond, mutex, clock, &sooner);
}
