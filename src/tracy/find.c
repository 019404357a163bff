/* find.c - Tracy clients below the command into which no shim could be put: static programs, programs with raised
 * privileges, those that look up the C library's functions on their own.
 *
 * Tracy names its thread "Tracy Profiler": a process with such a thread and without the shim is a client. Its port is the one on which
 * it listens. Every process is looked at a few times when it is young, then left alone; the search itself gets
 * rarer while nothing new comes, is left out while no process of the machine is new, and a process of ten thousand
 * threads costs no more than one of sixty.  SPDX-License-Identifier: MIT */
#include "tracy/host_parts.h"

#include "base/descendants.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SEARCH_MIN_NS 50000000ull
#define SEARCH_MAX_NS 1000000000ull
#define YOUNG_NS      2500000000ull /* so long a process is looked at again */
#define SEARCH_EACH_NS \
    50000000ull /* longer for each process, so that many cost no more than a few */
enum {
    SEEN_MAX = 4096,
    LOOKS_MIN = 2,
    PIDS_MAX = 4096,
    TASKS_MAX = 64, /* threads of a process that are looked at: Tracy's is among the first */
};

/* A process that was met, by pid and start. */
struct find_seen {
    uint32_t pid;
    uint32_t n_looks;
    uint64_t start;
    uint64_t met_ns;
    bool done;
};

/* ---- /proc ---- */

void strobe_tracy_find_exe(uint32_t pid, char *out, size_t cap)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/exe", pid);
    ssize_t n = readlink(path, out, cap - 1);
    out[n > 0 ? n : 0] = 0;
}

uint64_t strobe_tracy_find_stat(uint32_t pid, int field)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    if (strobe_descendants_read_text(path, text, sizeof text) <= 0)
        return 0;
    char *at = strrchr(text, ')'); /* the name may hold anything */
    for (int i = 2; at && i < field; i++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* struct pidfd_info of recent kernels: the exit code of a process that others reaped. */
struct pidfd_exit {
    uint64_t mask, cgroupid;
    uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
    int32_t exit_code;
    uint32_t rest[8];
};

int strobe_tracy_find_pidfd(uint32_t pid)
{
    return pid ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

bool strobe_tracy_find_end(uint32_t pid, int pidfd, int *status)
{
    enum { STAT_EXIT_CODE = 52, HAS_EXIT = 1 << 3 };
    struct pidfd_exit info = {.mask = HAS_EXIT};
    struct pollfd end = {.fd = pidfd, .events = POLLIN};
    if (pidfd < 0 || poll(&end, 1, 0) != 1)
        return false;
    if (!ioctl(pidfd, _IOWR(0xff, 11, struct pidfd_exit), &info) && info.mask & HAS_EXIT)
        *status = info.exit_code;
    else if (strobe_tracy_find_stat(pid, 22)) /* nobody has reaped it yet */
        *status = (int)strobe_tracy_find_stat(pid, STAT_EXIT_CODE);
    else
        return false;
    return true;
}

static bool has_tracys_thread(uint32_t pid)
{
    char path[320], text[32];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%u/task", pid);
    DIR *tasks = opendir(path);
    struct dirent *task;
    for (int i = 0; tasks && !found && i < TASKS_MAX && (task = readdir(tasks)); i++) {
        snprintf(path, sizeof path, "/proc/%u/task/%s/comm", pid, task->d_name);
        found = strobe_descendants_read_text(path, text, sizeof text) > 0 &&
                !strcmp(text, "Tracy Profiler\n");
    }
    if (tasks)
        closedir(tasks);
    return found;
}

static bool has_shim(uint32_t pid)
{
    char path[64], line[1024];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%u/maps", pid);
    FILE *maps = fopen(path, "re");
    while (maps && !found && fgets(line, sizeof line, maps))
        found = strstr(line, "strobe-tracy-shim") != NULL;
    if (maps)
        fclose(maps);
    return found;
}

/* ---- its port ---- */

static bool owns_socket(uint32_t pid, unsigned long inode)
{
    char path[320], wanted[64], text[64];
    bool found = false;
    snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
    snprintf(path, sizeof path, "/proc/%u/fd", pid);
    DIR *fds = opendir(path);
    struct dirent *fd;
    while (fds && !found && (fd = readdir(fds))) {
        snprintf(path, sizeof path, "/proc/%u/fd/%s", pid, fd->d_name);
        ssize_t n = readlink(path, text, sizeof text - 1);
        text[n > 0 ? n : 0] = 0;
        found = !strcmp(text, wanted);
    }
    if (fds)
        closedir(fds);
    return found;
}

/* The port on which the process listens, in the range that Tracy chooses from before any other; 0: none. */
static uint32_t listening_port(uint32_t pid)
{
    uint32_t best = 0;
    for (int six = 0; six < 2; six++) {
        char path[64], line[512];
        snprintf(path, sizeof path, "/proc/%u/net/tcp%s", pid, six ? "6" : "");
        FILE *table = fopen(path, "re");
        while (table && fgets(line, sizeof line, table)) {
            unsigned port = 0, state = 0;
            unsigned long inode = 0;
            if (sscanf(
                    line,
                    " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*x:%*x %*x:%*x %*x %*d %*d %lu",
                    &port, &state, &inode) != 3 ||
                state != 0x0a || !owns_socket(pid, inode))
                continue;
            if (!best || (port >= 8086 && port < 8106))
                best = port;
        }
        if (table)
            fclose(table);
    }
    return best;
}

/* ---- the search ---- */

static bool is_young(const struct find_seen *seen, uint64_t now)
{
    return seen->n_looks < LOOKS_MIN || now - seen->met_ns < YOUNG_NS;
}

static void take(struct strobe_tracy_host *host, uint32_t pid, struct find_seen *seen, uint64_t now)
{
    char exe[512];
    uint32_t port = listening_port(pid);
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    strobe_tracy_find_exe(pid, exe, sizeof exe);
    if (port) {
        seen->done = true;
        struct link *link =
            strobe_tracy_link_new(host, LINK_FOUND, (struct sockaddr *)&at, sizeof at, pid);
        if (link)
            strobe_tracy_link_tick(host, link, strobe_tracy_host_ns());
        return;
    }
    if (is_young(seen, now))
        return; /* it may be about to listen */
    seen->done = true;
    strobe_tracy_host_unrecorded(
        host, pid, exe[0] ? exe : "Tracy client",
        exe[0]
            ? "no shim could be put into this Tracy client (a static program?), and it listens on "
              "no port: the one that it wants is taken"
            : "this Tracy client runs with other rights: its port can't be told");
}

static struct find_seen *meet(struct strobe_tracy_host *host, uint32_t pid, uint64_t now)
{
    uint64_t start = strobe_tracy_find_stat(pid, 22);
    if (!start)
        return NULL;
    struct find_seen *seen = &host->seen[pid % SEEN_MAX];
    if (seen->pid != pid || seen->start != start) {
        *seen = (struct find_seen){.pid = pid, .start = start, .met_ns = now};
        host->search_every_ns = SEARCH_MIN_NS;
    }
    return seen;
}

/* True: it is to be looked at again. */
static bool look_at(struct strobe_tracy_host *host, uint32_t pid, uint64_t now)
{
    struct find_seen *seen = meet(host, pid, now);
    if (!seen || seen->done)
        return false;
    seen->n_looks++;
    if (strobe_tracy_link_of_pid(host, pid))
        seen->done = true;
    else if (!has_tracys_thread(pid))
        seen->done = !is_young(seen, now);
    else if (has_shim(pid))
        seen->done = true; /* it has told, or will */
    else
        take(host, pid, seen, now);
    return !seen->done;
}

/* Look at every process below; how many there are. */
static uint32_t search_all(struct strobe_tracy_host *host, uint64_t now)
{
    static uint32_t pids[PIDS_MAX]; /* one thread searches */
    uint32_t n = strobe_descendants_list(pids, PIDS_MAX, TASKS_MAX);
    host->search_is_done = true;
    for (uint32_t i = 0; i < n; i++)
        if (look_at(host, pids[i], now))
            host->search_is_done = false;
    return n;
}

void strobe_tracy_search(struct strobe_tracy_host *host, uint64_t now)
{
    if (!host->seen)
        host->seen = calloc(SEEN_MAX, sizeof *host->seen);
    if (!host->seen)
        return;
    uint64_t every = host->search_every_ns ? 2 * host->search_every_ns : SEARCH_MIN_NS;
    host->search_every_ns = every < SEARCH_MAX_NS ? every : SEARCH_MAX_NS;
    uint32_t newest = strobe_descendants_newest();
    bool is_still = host->search_is_done && newest && newest == host->newest_pid;
    host->newest_pid = newest;
    uint64_t least = is_still ? 0 : search_all(host, now) * SEARCH_EACH_NS;
    host->next_search_ns = now + (least > host->search_every_ns ? least : host->search_every_ns);
}

void strobe_tracy_find_close(struct strobe_tracy_host *host)
{
    free(host->seen);
    host->seen = NULL;
}
