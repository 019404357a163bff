/* session.c - finding and opening a session's folder.
 * Runs inside the traced process at its start and after a fork: system calls only, no allocation.
 * SPDX-License-Identifier: MIT */
#include "ring/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/assert.h"

static bool is_usable(const char *dir)
{
    struct stat st;
    return !stat(dir, &st) && S_ISDIR(st.st_mode) &&
           !faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS);
}

enum strobe_err strobe_session_root(char out[STROBE_PATH_MAX])
{
    const char *dir = getenv("STROBE_DIR");
    int n;
    if (dir && dir[0] == '/')
        n = snprintf(out, STROBE_PATH_MAX, "%s", dir);
    else if ((dir = getenv("XDG_RUNTIME_DIR")) && dir[0] == '/' && is_usable(dir))
        n = snprintf(out, STROBE_PATH_MAX, "%s/strobe", dir);
    else
        n = snprintf(out, STROBE_PATH_MAX, "%s/strobe-%u",
                     is_usable("/dev/shm") ? "/dev/shm" : "/tmp", (unsigned)geteuid());
    return n < STROBE_PATH_MAX - 80 ? STROBE_OK : STROBE_ERR_LIMIT;
}

/* A folder, not a link, owned by us and closed to others. */
static enum strobe_err check_own_dir(const char *path)
{
    enum { NOBODY = 65534 }; /* what every user is called whom a user namespace does not map */
    struct stat st;
    if (lstat(path, &st))
        return strobe_err_from_errno(errno);
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
        return STROBE_ERR_ACCESS;
    if (st.st_uid == NOBODY && faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS))
        return STROBE_ERR_ACCESS; /* another nobody's: only the owner may write there */
    return STROBE_OK;
}

static enum strobe_err make_own_dir(const char *path)
{
    if (mkdir(path, 0700) && errno != EEXIST)
        return strobe_err_from_errno(errno);
    return check_own_dir(path);
}

enum strobe_err strobe_session_dir(const char *name, bool create, char out[STROBE_PATH_MAX])
{
    char root[STROBE_PATH_MAX];
    if (!name[0] || name[0] == '.' || strchr(name, '/') || strlen(name) > 60)
        return STROBE_ERR_INVALID;
    enum strobe_err err = strobe_session_root(root);
    if (err)
        return err;
    if ((size_t)snprintf(out, STROBE_PATH_MAX, "%s/%s", root, name) >= STROBE_PATH_MAX)
        return STROBE_ERR_LIMIT;
    err = create ? make_own_dir(root) : check_own_dir(root);
    if (err)
        return err;
    return create ? make_own_dir(out) : check_own_dir(out);
}

int strobe_session_open(const char *dir, const char *file, int flags)
{
    char path[2 * STROBE_PATH_MAX];
    STROBE_ASSERT(file[0] && strlen(dir) + strlen(file) + 2 <= sizeof path);
    snprintf(path, sizeof path, "%s/%s", dir, file);
    int fd = open(path, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    struct stat st;
    if (fstat(fd, &st) || st.st_uid != geteuid() || !S_ISREG(st.st_mode)) {
        close(fd);
        errno = EACCES;
        return -1;
    }
    return fd;
}

/* What the stat of a process has after its name, from the ')' on; NULL: there is no such process.
 */
static const char *read_stat(int pid, char text[1024])
{
    char path[64];
    snprintf(path, sizeof path, pid ? "/proc/%d/stat" : "/proc/self/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    ssize_t n = read(fd, text, 1023);
    close(fd);
    if (n <= 0)
        return NULL;
    text[n] = 0;
    return strrchr(text, ')'); /* the name before it may hold anything */
}

char strobe_session_process_state(int pid)
{
    char text[1024];
    const char *at = read_stat(pid, text);
    return at && at[1] == ' ' ? at[2] : 0;
}

uint64_t strobe_session_start_time(int pid)
{
    char text[1024];
    const char *at = read_stat(pid, text);
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

uint64_t strobe_session_own_start(void)
{
    uint64_t start = strobe_session_start_time(0), number = 0;
    const void *random = (const void *)getauxval(AT_RANDOM);
    if (start)
        return start;
    if (random)
        memcpy(&number, random, sizeof number);
    return STROBE_START_OWN | number >> 12;
}

uint32_t strobe_session_clock(void)
{
    const char *forced = getenv("STROBE_CLOCK");
    if (forced && !strcmp(forced, "mono"))
        return STROBE_CLOCK_MONO;
#if defined(__x86_64__)
    unsigned a, b, c, d;
    bool invariant = __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
    return invariant ? STROBE_CLOCK_TSC : STROBE_CLOCK_MONO;
#else
    return STROBE_CLOCK_TSC;
#endif
}

uint64_t strobe_ring_data_off(uint32_t n_chunks_max)
{
    uint64_t table = (uint64_t)n_chunks_max * sizeof(struct strobe_chunk);
    uint64_t off = STROBE_PAGE_BYTES + table;
    STROBE_ASSERT(n_chunks_max);
    return (off + STROBE_PAGE_BYTES - 1) & ~(uint64_t)(STROBE_PAGE_BYTES - 1);
}

uint64_t strobe_ring_file_bytes(uint32_t n_chunks_max)
{
    return strobe_ring_data_off(n_chunks_max) + (uint64_t)n_chunks_max * STROBE_CHUNK_BYTES;
}
