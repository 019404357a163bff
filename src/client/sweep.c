/* sweep.c - removes what dead processes left in a session's folder and nobody needs.
 * A process that is killed, or ends by _exit or exec, can't remove its own file; a server that forks all day
 * would fill the shared memory with control pages. So one in a few that join looks for such files. What
 * holds events that no recorder took is never touched.
 * Runs inside the traced program: system calls only, no allocation.  SPDX-License-Identifier: MIT */
#include "client/client.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ring/alive.h"
#include "ring/fifo_state.h"

/* As the kernel gives it; libc's readdir would allocate. */
struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t n_bytes;
    uint8_t type;
    char name[];
};

static bool is_pool(const char *name)
{
    size_t n = strlen(name);
    return n > 5 && !strcmp(name + n - 5, ".pool");
}

/* A device's stream that no process holds and that has nothing in it. */
static bool is_empty_stream(int folder, const char *name)
{
    struct strobe_fifo_state state;
    int fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool waste = strobe_fifo_state_look(fd, &state) && !state.is_alive && !state.has_data;
    close(fd);
    return waste;
}

/* What a process left that could not take part, and that is over. */
static bool is_old_denial(const char *name)
{
    int pid = 0;
    unsigned long long start = 0;
    return strstr(name, ".denied-") && sscanf(name, "%d-%llu-", &pid, &start) == 2 &&
           (!start || strobe_session_start_time(pid) != start);
}

/* A pool that no process holds and that has nothing in it. */
static bool is_waste(int folder, const char *name)
{
    struct strobe_control control;
    int fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool waste = pread(fd, &control, sizeof control, 0) == (ssize_t)sizeof control &&
                 control.magic == STROBE_RING_MAGIC && control.version == STROBE_RING_VERSION &&
                 (control.n_chunks == 0 || control.detached_tick) &&
                 !strobe_alive_image(fd, &control, name) &&
                 strobe_session_start_time((int)control.pid) != control.start_time;
    close(fd);
    return waste;
}

/* Go over the folder once. The number of pools and streams that stay, `own` (a name, or NULL) not counted. */
static unsigned sweep(int folder, const char *own, unsigned n_looks)
{
    char bytes[2048] __attribute__((aligned(8)));
    unsigned n_stay = 0;
    long n;
    while ((n = syscall(SYS_getdents64, folder, bytes, sizeof bytes)) > 0)
        for (long at = 0; at < n;) {
            const struct entry *entry = (const struct entry *)(bytes + at);
            at += entry->n_bytes;
            if (is_old_denial(entry->name))
                unlinkat(folder, entry->name, 0);
            bool is_stream = strobe_fifo_state_is_name(entry->name);
            if ((!is_pool(entry->name) && !is_stream) || (own && !strcmp(entry->name, own)))
                continue;
            if (n_looks && n_looks-- &&
                (is_stream ? is_empty_stream : is_waste)(folder, entry->name) &&
                !unlinkat(folder, entry->name, 0))
                continue;
            n_stay++;
        }
    return n_stay;
}

void strobe_client_sweep(const char *dir, const char *own_path)
{
    enum { LOOKS = 64 };
    int folder = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return;
    const char *slash = strrchr(own_path, '/');
    sweep(folder, slash ? slash + 1 : own_path, LOOKS);
    close(folder);
}

void strobe_client_leave_session(const char *dir)
{
    const char *slash = strrchr(dir, '/'), *name = slash ? slash + 1 : dir;
    if (strncmp(name, "record-", 7) && strncmp(name, "trace-", 6))
        return;
    int folder = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return;
    int page = openat(folder, "session", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    bool held = page >= 0 && strobe_alive_holder(page);
    if (page >= 0)
        close(page);
    if (!held && sweep(folder, NULL, 0) == 0) {
        unlinkat(folder, "session", 0);
        rmdir(dir);
    }
    close(folder);
}
