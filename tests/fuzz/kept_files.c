/* kept_files.c - traces in memory, in place of files. What a harness makes of an input is a trace that is opened again at once: of a run of 400 microseconds a quarter
 * was the kernel's, for pages of a file that nobody else reads. tests/fuzz/run leads the calls on files through here (--wrap); `make test` does not, and has real files.
 *
 * Files whose name begins with KEPT_BEGIN and ends with KEPT_END are in memory; all others are the kernel's. A descriptor of one is a real one, of /dev/null, so that nothing else gets its number.
 * Bytes go through memcpy: the sanitizer checks where they come from and where they go.
 *
 * One inotify is kept, too: to close it waits 10 to 20 ms for all processors. So is what /proc says of the process that sleeps for a harness (sleeper.h), which is always the same, and who is
 * looked for in /proc is looked for among that process alone. One in sixteen of these calls is the kernel's all the same.  SPDX-License-Identifier: MIT */
#include "kept_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FILES_MAX = 24, HANDLES_MAX = 32, NAME_MAX_BYTES = 96, FD_MAX = 1024, KERNEL_EVERY = 16 };
static const size_t file_bytes_max = 64 << 20; /* more is ENOSPC */

static struct kept_file {
    char name[NAME_MAX_BYTES]; /* "": none */
    uint8_t *bytes;            /* mapped once, file_bytes_max */
    size_t n;
} files[FILES_MAX];

/* A descriptor, open or to be used again. */
static struct handle {
    int fd;                 /* 0: not made yet */
    struct kept_file *file; /* NULL: free */
    size_t at;
} handles[HANDLES_MAX];
static uint8_t handle_of[FD_MAX]; /* 1 + its number; 0: the kernel's */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(type, name, parameters) \
    type __real_##name parameters;   \
    type __wrap_##name parameters;   \
    type __wrap_##name parameters

int __real_open(const char *path, int flags, ...);
int __real_fcntl(int fd, int command, ...);
int __wrap_open(const char *path, int flags, ...);
ssize_t __real_read(int fd, void *out, size_t n);
int __real_close(int fd);
int __wrap_fcntl(int fd, int command, ...);

/* ---- names and descriptors ---- */

static bool is_kept(const char *path)
{
    size_t n = strlen(path), n_end = strlen(KEPT_END);
    return n < NAME_MAX_BYTES && n > n_end && !strncmp(path, KEPT_BEGIN, strlen(KEPT_BEGIN)) &&
           !strcmp(path + n - n_end, KEPT_END);
}

static bool is_open(const struct kept_file *file)
{
    for (int i = 0; i < HANDLES_MAX; i++)
        if (handles[i].file == file)
            return true;
    return false;
}

static struct kept_file *find(const char *path, bool makes)
{
    struct kept_file *free_one = NULL;
    for (int i = 0; i < FILES_MAX; i++) {
        if (!strcmp(files[i].name, path))
            return &files[i];
        if (makes && !*files[i].name && !free_one && !is_open(&files[i]))
            free_one = &files[i];
    }
    if (!makes || !free_one)
        return NULL;
    if (!free_one->bytes)
        free_one->bytes = mmap(NULL, file_bytes_max, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (free_one->bytes == MAP_FAILED)
        abort();
    strcpy(free_one->name, path);
    free_one->n = 0;
    return free_one;
}

static struct handle *handle_at(int fd)
{
    return fd >= 0 && fd < FD_MAX && handle_of[fd] ? &handles[handle_of[fd] - 1] : NULL;
}

static int new_handle(struct kept_file *file)
{
    for (int i = 0; i < HANDLES_MAX; i++) {
        struct handle *handle = &handles[i];
        if (handle->file)
            continue;
        if (!handle->fd)
            handle->fd = __real_open("/dev/null", O_RDWR | O_CLOEXEC);
        if (handle->fd <= 0 || handle->fd >= FD_MAX)
            abort();
        *handle = (struct handle){.fd = handle->fd, .file = file};
        handle_of[handle->fd] = (uint8_t)(i + 1);
        return handle->fd;
    }
    abort(); /* a harness, or a parser that leaks descriptors */
}

static int open_kept(const char *path, int flags)
{
    pthread_mutex_lock(&lock);
    struct kept_file *file = find(path, flags & O_CREAT);
    int fd = file ? new_handle(file) : -1;
    if (file && flags & O_TRUNC)
        file->n = 0;
    pthread_mutex_unlock(&lock);
    if (fd < 0)
        errno = ENOENT;
    return fd;
}

static struct {
    int fd; /* 0: none yet */
    bool is_open;
} watcher;

/* The one that there is, without what happened since it was closed. */
REAL(int, inotify_init1, (int flags))
{
    char old[4096];
    if (!(flags & IN_NONBLOCK) || watcher.is_open)
        return __real_inotify_init1(flags);
    if (!watcher.fd)
        watcher.fd = __real_inotify_init1(flags);
    while (watcher.fd > 0 && __real_read(watcher.fd, old, sizeof old) > 0)
        ;
    watcher.is_open = watcher.fd > 0;
    return watcher.fd;
}

/* ---- of /proc ---- */

int kept_sleeper;

static bool is_kernels_turn(void)
{
    static unsigned n_calls;
    return __atomic_add_fetch(&n_calls, 1, __ATOMIC_RELAXED) % KERNEL_EVERY == 0;
}

/* It says the same as long as we run. */
static bool is_same(const char *path)
{
    char begin[32];
    if (!kept_sleeper || strncmp(path, "/proc/", 6) || strlen(path) >= NAME_MAX_BYTES)
        return false;
    int n = snprintf(begin, sizeof begin, "/proc/%d/", kept_sleeper);
    return !strncmp(path, begin, (size_t)n) || !strcmp(path, "/proc/cpuinfo") ||
           !strcmp(path, "/proc/self/cgroup");
}

/* What such a file says; NULL: there is none, or it is the kernel's turn. */
static struct kept_file *find_same(const char *path)
{
    if (!is_same(path) || is_kernels_turn())
        return NULL;
    pthread_mutex_lock(&lock);
    struct kept_file *file = find(path, false);
    int fd = file ? -1 : __real_open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && (file = find(path, true)))
        for (ssize_t n; (n = __real_read(fd, file->bytes + file->n, 1 << 16)) > 0;)
            file->n += (size_t)n;
    if (fd >= 0)
        __real_close(fd);
    pthread_mutex_unlock(&lock);
    return file;
}

static int open_same(const char *path)
{
    struct kept_file *file = find_same(path);
    if (!file)
        return -1;
    pthread_mutex_lock(&lock);
    int fd = new_handle(file);
    pthread_mutex_unlock(&lock);
    return fd;
}

REAL(FILE *, fopen, (const char *path, const char *mode))
{
    struct kept_file *file = *mode == 'r' ? find_same(path) : NULL;
    return file && file->n ? fmemopen(file->bytes, file->n, "r") : __real_fopen(path, mode);
}

REAL(DIR *, opendir, (const char *path))
{
    char own[32];
    snprintf(own, sizeof own, "/proc/%d/task", kept_sleeper);
    return __real_opendir(kept_sleeper && !strcmp(path, "/proc") && !is_kernels_turn() ? own
                                                                                       : path);
}

int __wrap_open(const char *path, int flags, ...)
{
    int same = flags & (O_WRONLY | O_RDWR | O_DIRECTORY) ? -1 : open_same(path);
    if (same >= 0)
        return same;
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    return is_kept(path) ? open_kept(path, flags) : __real_open(path, flags, mode);
}

REAL(int, close, (int fd))
{
    struct handle *handle = handle_at(fd);
    if (watcher.is_open && fd == watcher.fd) {
        watcher.is_open = false;
        return 0;
    }
    if (!handle)
        return __real_close(fd);
    pthread_mutex_lock(&lock);
    bool was_open = handle->file != NULL;
    handle->file = NULL;
    pthread_mutex_unlock(&lock);
    if (!was_open)
        abort(); /* closed twice */
    return 0;
}

/* Locks always succeed: nobody else has the file. */
int __wrap_fcntl(int fd, int command, ...)
{
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    struct handle *handle = handle_at(fd);
    if (!handle || command == F_GETFL || command == F_SETFL || command == F_GETFD)
        return __real_fcntl(fd, command, argument);
    if (command != F_DUPFD_CLOEXEC)
        return 0;
    pthread_mutex_lock(&lock);
    int copy = new_handle(handle->file);
    pthread_mutex_unlock(&lock);
    return copy;
}

REAL(int, unlink, (const char *path))
{
    if (!is_kept(path))
        return __real_unlink(path);
    pthread_mutex_lock(&lock);
    struct kept_file *file = find(path, false);
    if (file)
        *file->name = 0; /* who has it open still reads it */
    pthread_mutex_unlock(&lock);
    errno = ENOENT;
    return file ? 0 : -1;
}

REAL(int, access, (const char *path, int mode))
{
    if (!is_kept(path))
        return __real_access(path, mode);
    errno = ENOENT;
    return find(path, false) ? 0 : -1;
}

/* ---- bytes ---- */

/* What is new is zeros. */
static int set_size(struct kept_file *file, size_t n)
{
    if (n > file_bytes_max) {
        errno = ENOSPC;
        return -1;
    }
    if (n > file->n)
        memset(file->bytes + file->n, 0, n - file->n);
    file->n = n;
    return 0;
}

static ssize_t get(struct kept_file *file, void *out, size_t n, size_t at)
{
    size_t left = at < file->n ? file->n - at : 0;
    n = n < left ? n : left;
    memcpy(out, file->bytes + at, n);
    return (ssize_t)n;
}

static ssize_t put(struct kept_file *file, const void *bytes, size_t n, size_t at)
{
    if (at > file_bytes_max || n > file_bytes_max - at) {
        errno = ENOSPC;
        return -1;
    }
    if (at + n > file->n && set_size(file, at + n))
        return -1;
    memcpy(file->bytes + at, bytes, n);
    return (ssize_t)n;
}

REAL(ssize_t, pread, (int fd, void *out, size_t n, off_t at))
{
    struct handle *handle = handle_at(fd);
    return handle ? get(handle->file, out, n, (size_t)at) : __real_pread(fd, out, n, at);
}

REAL(ssize_t, pwrite, (int fd, const void *bytes, size_t n, off_t at))
{
    struct handle *handle = handle_at(fd);
    return handle ? put(handle->file, bytes, n, (size_t)at) : __real_pwrite(fd, bytes, n, at);
}

REAL(ssize_t, read, (int fd, void *out, size_t n))
{
    struct handle *handle = handle_at(fd);
    if (!handle)
        return __real_read(fd, out, n);
    ssize_t got = get(handle->file, out, n, handle->at);
    handle->at += (size_t)got;
    return got;
}

REAL(ssize_t, write, (int fd, const void *bytes, size_t n))
{
    struct handle *handle = handle_at(fd);
    if (!handle)
        return __real_write(fd, bytes, n);
    ssize_t done = put(handle->file, bytes, n, handle->at);
    handle->at += done > 0 ? (size_t)done : 0;
    return done;
}

REAL(off_t, lseek, (int fd, off_t to, int whence))
{
    struct handle *handle = handle_at(fd);
    if (!handle)
        return __real_lseek(fd, to, whence);
    size_t from = whence == SEEK_END ? handle->file->n : whence == SEEK_CUR ? handle->at : 0;
    handle->at = from + (size_t)to;
    return (off_t)handle->at;
}

REAL(int, ftruncate, (int fd, off_t n))
{
    struct handle *handle = handle_at(fd);
    return handle ? set_size(handle->file, (size_t)n) : __real_ftruncate(fd, n);
}

REAL(int, posix_fallocate, (int fd, off_t at, off_t n))
{
    struct handle *handle = handle_at(fd);
    if (!handle)
        return __real_posix_fallocate(fd, at, n);
    size_t end = (size_t)(at + n);
    return end > handle->file->n && set_size(handle->file, end) ? ENOSPC : 0;
}

REAL(int, fdatasync, (int fd))
{
    return handle_at(fd) ? 0 : __real_fdatasync(fd);
}

REAL(int, posix_fadvise, (int fd, off_t at, off_t n, int advice))
{
    return handle_at(fd) ? 0 : __real_posix_fadvise(fd, at, n, advice);
}

/* ---- facts ---- */

static void tell(const struct kept_file *file, struct stat *out)
{
    *out = (struct stat){.st_mode = S_IFREG | 0600,
                         .st_size = (off_t)file->n,
                         .st_blksize = 4096,
                         .st_nlink = 1,
                         .st_ino = (ino_t)(1 + file - files),
                         .st_uid = getuid()};
    out->st_blocks = (blkcnt_t)((file->n + 4095) / 4096 * 8);
}

int __real_fstat(int fd, struct stat *out);
int kept_fstat(int fd, struct stat *out)
{
    struct handle *handle = handle_at(fd);
    if (!handle)
        return __real_fstat(fd, out);
    tell(handle->file, out);
    return 0;
}

int __wrap_fstat(int fd, struct stat *out) __attribute__((weak));
int __wrap_fstat(int fd, struct stat *out)
{
    return kept_fstat(fd, out);
}

REAL(int, stat, (const char *path, struct stat *out))
{
    if (!is_kept(path))
        return __real_stat(path, out);
    struct kept_file *file = find(path, false);
    if (file)
        tell(file, out);
    errno = ENOENT;
    return file ? 0 : -1;
}
