/* alive.c - see the header. System calls only: half of it runs inside the traced process.
 * SPDX-License-Identifier: MIT */
#include "ring/alive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ring/session.h"

enum { PROCESS_BYTE = 0, IMAGE_BYTE = 1 };

static struct flock lock_of(off_t byte)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
}

/* ---- the image's side ---- */

void *strobe_alive_lock_image(const char *path)
{
    struct flock lock = lock_of(IMAGE_BYTE);
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    void *at = mmap(NULL, STROBE_PAGE_BYTES, PROT_NONE, MAP_SHARED, fd, 0);
    bool held = at != MAP_FAILED && !madvise(at, STROBE_PAGE_BYTES, MADV_DONTFORK) &&
                !fcntl(fd, F_OFD_SETLK, &lock);
    if (at != MAP_FAILED && !held)
        munmap(at, STROBE_PAGE_BYTES);
    close(fd);
    return held ? at : NULL;
}

uint32_t strobe_alive_hold(const char *path, int fd)
{
    struct flock lock = lock_of(PROCESS_BYTE);
    uint32_t features = strobe_alive_lock_image(path) ? STROBE_FEATURE_IMAGE_LOCK : 0;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 512);
    if (high < 0)
        high = fcntl(fd, F_DUPFD_CLOEXEC, 100);
    close(fd); /* closing any descriptor of the file drops this kind of lock: so it comes last */
    if (high >= 0)
        fcntl(high, F_SETLK, &lock);
    return features;
}

uint32_t strobe_alive_namespace(void)
{
    struct stat st;
    return stat("/proc/self/ns/pid", &st) ? 0 : (uint32_t)st.st_ino;
}

/* ---- the asker's side ---- */

bool strobe_alive_holder(int fd)
{
    struct flock lock = lock_of(PROCESS_BYTE);
    return fcntl(fd, F_GETLK, &lock) || lock.l_type != F_UNLCK;
}

bool strobe_session_is_held(const char *dir)
{
    int fd = strobe_session_open(dir, "session", O_RDWR);
    if (fd < 0)
        return false;
    bool held = strobe_alive_holder(fd);
    close(fd);
    return held;
}

bool strobe_alive_session(const char *dir, struct strobe_session_page *out)
{
    out->magic = 0;
    int fd = strobe_session_open(dir, "session", O_RDWR);
    if (fd < 0)
        return false;
    bool alive = strobe_alive_holder(fd);
    if (pread(fd, out, sizeof *out, 0) != (ssize_t)sizeof *out)
        out->magic = 0;
    close(fd);
    return alive && out->magic == STROBE_SESSION_MAGIC && out->version == STROBE_RING_VERSION &&
           out->recording;
}

/* Whether process `pid` has a file of that name mapped; true where it can't be told. */
static bool maps_file(uint32_t pid, const char *name)
{
    char path[64], text[4096];
    size_t n_name = strlen(name), kept = 0;
    ssize_t n;
    snprintf(path, sizeof path, "/proc/%u/maps", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno != ENOENT && errno != ESRCH;
    bool found = false;
    while (!found && (n = read(fd, text + kept, sizeof text - kept)) > 0) {
        size_t have = kept + (size_t)n;
        found = memmem(text, have, name, n_name) != NULL;
        kept = have < n_name ? have : n_name;
        memmove(text, text + have - kept, kept);
    }
    close(fd);
    return found;
}

bool strobe_alive_file(int fd)
{
    struct flock lock = lock_of(IMAGE_BYTE);
    return fcntl(fd, F_OFD_GETLK, &lock) || lock.l_type != F_UNLCK;
}

bool strobe_alive_image(int fd, const struct strobe_control *control, const char *name)
{
    if (control->features & STROBE_FEATURE_IMAGE_LOCK)
        return strobe_alive_file(fd);
    if (strobe_alive_holder(fd))
        return true;
    /* no such lock here: a program that closed its descriptors is looked for by its ids, where they are ours */
    if (control->pid_ns && control->pid_ns != strobe_alive_namespace())
        return true;
    return strobe_session_start_time((int)control->pid) == control->start_time &&
           maps_file(control->pid, name);
}

/* The last number of its NSpid line. */
uint32_t strobe_alive_inner_pid(uint32_t outer)
{
    char path[64], text[2048];
    snprintf(path, sizeof path, "/proc/%u/status", outer);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *line = strstr(text, "\nNSpid:");
    const char *end = line ? strchr(line + 1, '\n') : NULL;
    while (end && end > line && end[-1] >= '0' && end[-1] <= '9')
        end--;
    return end ? (uint32_t)strtoul(end, NULL, 10) : 0;
}

bool strobe_alive_is_pid(uint32_t outer, const struct strobe_control *control)
{
    char path[64];
    struct stat st;
    uint64_t start = strobe_session_start_time((int)outer);
    if (!start || (control->start_time < STROBE_START_OWN && start != control->start_time))
        return false;
    snprintf(path, sizeof path, "/proc/%u/ns/pid", outer);
    if (control->pid_ns && !stat(path, &st) && (uint32_t)st.st_ino != control->pid_ns)
        return false;
    return strobe_alive_inner_pid(outer) == control->pid;
}

uint32_t strobe_alive_pid(int fd, const struct strobe_control *control)
{
    struct flock lock = lock_of(PROCESS_BYTE);
    uint32_t own = strobe_alive_namespace();
    if (own && control->pid_ns == own)
        return control->pid;
    if (!fcntl(fd, F_GETLK, &lock) && lock.l_type != F_UNLCK && lock.l_pid > 0)
        return !own || strobe_alive_is_pid((uint32_t)lock.l_pid, control) ? (uint32_t)lock.l_pid
                                                                          : 0;
    return 0;
}
