/* reach.c - by which ids the recorder can reach a process, and what they tell of its end.
 * A process in another pid namespace knows itself by other numbers than the recorder, or can't be seen at all. So nothing
 * that decides over events depends on what is here: whether an image lives is asked by its lock (ring/alive.h). Ids give
 * the rest: the status of its end, its modules, its name.  SPDX-License-Identifier: MIT */
#include "collector/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/descendants.h"
#include "ring/alive.h"

/* struct pidfd_info of recent kernels: the exit code even of a process that others reaped. */
struct pidfd_info_v1 {
    uint64_t mask, cgroupid;
    uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
    int32_t exit_code;
    uint32_t rest[8];
};

/* Whether /proc still has it under its number. */
static bool is_in_proc(const struct strobe_proc *proc)
{
    return proc->reach.in_proc && strobe_alive_is_pid(proc->reach.in_proc, proc->ring.control);
}

/* The status of a process that nobody reaped yet: the last field of its stat. -1: there is no such
 * zombie. */
static int zombie_status(const struct strobe_proc *proc)
{
    char path[64], text[1024];
    if (!is_in_proc(proc))
        return -1;
    snprintf(path, sizeof path, "/proc/%u/stat", proc->reach.in_proc);
    strobe_descendants_read_text(path, text, sizeof text);
    const char *state = strrchr(text, ')'), *last = strrchr(text, ' ');
    if (!state || !last || (state[1] == ' ' && state[2] != 'Z' && state[2] != 'X'))
        return -1;
    return atoi(last + 1);
}

/* A zombie tells it by its stat; once it was reaped, the pidfd does. */
void strobe_collector_learn_exit(struct strobe_proc *proc)
{
    struct pidfd_info_v1 info = {.mask = 1u << 3};
    if (proc->how)
        return;
    int status = zombie_status(proc);
    if (status < 0 && proc->pidfd >= 0 &&
        !ioctl(proc->pidfd, _IOWR(0xff, 11, struct pidfd_info_v1), &info) &&
        (info.mask & (1u << 3)))
        status = info.exit_code;
    if (status < 0)
        return;
    proc->how = WIFSIGNALED(status) ? 2 : 1;
    proc->value = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

/* Between its last instruction and its being a zombie a process has no memory, no program, and no
 * status yet. */
bool strobe_collector_is_exiting(const struct strobe_proc *proc)
{
    char path[64], target[8];
    snprintf(path, sizeof path, "/proc/%u/exe", proc->reach.in_proc);
    return proc->reach.in_proc && readlink(path, target, sizeof target) < 0 && errno == ENOENT &&
           is_in_proc(proc);
}

/* Was it killed, and merely has not come to it yet? */
bool strobe_collector_is_killed(const struct strobe_proc *proc)
{
    char path[64], text[4096];
    if (!proc->reach.in_proc)
        return false;
    snprintf(path, sizeof path, "/proc/%u/status", proc->reach.in_proc);
    strobe_descendants_read_text(path, text, sizeof text);
    const char *own = strstr(text, "\nSigPnd:"), *shared = strstr(text, "\nShdPnd:");
    uint64_t pending = 0;
    if (own && shared)
        pending = strtoull(own + 8, NULL, 16) | strtoull(shared + 8, NULL, 16);
    return pending & 1ull << (SIGKILL - 1);
}

/* After an exec the pid goes on, and the file's name has to stay taken: the next image counts on from it. */
bool strobe_collector_pid_lives(const struct strobe_proc *proc)
{
    struct pollfd wait = {.fd = proc->pidfd, .events = POLLIN};
    if (proc->pidfd >= 0)
        return poll(&wait, 1, 0) == 0;
    char state = proc->reach.in_proc ? strobe_session_process_state((int)proc->reach.in_proc) : 0;
    return state && state != 'Z' && state != 'X' && is_in_proc(proc);
}

/* The folder tells of a new file: get hold of its process before it is over, it may live a millisecond. The name's number is
 * of the process's own namespace: who takes it knows whether that is ours. */
void strobe_collector_hold_early(struct strobe_collector *c, const char *name)
{
    int pid = atoi(name);
    struct early *early = &c->early[c->n_early++ % N_EARLY];
    if (pid <= 0 || c->crowded)
        return;
    if (early->pidfd > 0)
        close(early->pidfd);
    STROBE_ASSERT(early >= c->early && early < c->early + N_EARLY);
    *early = (struct early){(uint32_t)pid, (int)syscall(SYS_pidfd_open, pid, 0)};
}

static int take_early(struct strobe_collector *c, uint32_t pid)
{
    for (int i = 0; i < N_EARLY; i++) {
        struct early *early = &c->early[i];
        int pidfd = early->pidfd;
        if (early->pid != pid || pidfd <= 0)
            continue;
        *early = (struct early){0, -1};
        return pidfd;
    }
    return -1;
}

/* A descriptor of the process with that number, if it is still its number. */
static int open_checked(const struct strobe_proc *proc)
{
    if (!proc->reach.pid)
        return -1;
    int pidfd = (int)syscall(SYS_pidfd_open, proc->reach.pid, 0);
    bool is_its = proc->reach.in_proc == proc->reach.pid
                      ? is_in_proc(proc)
                      : strobe_alive_pid(proc->ring.fd, proc->ring.control) == proc->reach.pid;
    if (pidfd >= 0 && !is_its) {
        close(pidfd);
        return -1;
    }
    return pidfd;
}

/* The process by a number that is never another's: of an earlier image if it had one (exec), since
 * the pid may be free again by now. -1: it was reaped before anybody looked, or can't be seen from here. */
static int open_pidfd(struct strobe_collector *c, const struct strobe_proc *proc)
{
    bool is_here = c->pid_ns && proc->ring.pid_ns == c->pid_ns;
    int early = is_here ? take_early(c, proc->ring.pid) : -1;
    if (early >= 0)
        return early;
    for (uint32_t i = proc->ring.image ? c->n_procs : 0; i-- > 0;) {
        const struct strobe_proc *earlier = c->procs[i];
        if (earlier->pidfd >= 0 && earlier->ring.pid == proc->ring.pid &&
            earlier->ring.pid_ns == proc->ring.pid_ns && proc->ring.pid_ns &&
            earlier->ring.start_time == proc->ring.start_time)
            return fcntl(earlier->pidfd, F_DUPFD_CLOEXEC, 0);
    }
    return open_checked(proc);
}

/* Images of one process: their names differ in the number behind the last dash. */
static bool is_same_process(const struct strobe_proc *a, const struct strobe_proc *b)
{
    const char *dash = strrchr(a->name, '-');
    return dash && !strncmp(a->name, b->name, (size_t)(dash - a->name) + 1);
}

/* It was reaped before its last image was found: an earlier one was held to the end, and may know how that was. */
static void learn_exit_of_earlier(const struct strobe_collector *c, struct strobe_proc *proc)
{
    for (uint32_t i = c->n_procs; i-- > 0 && !proc->how;)
        if (c->procs[i]->state == STROBE_PROC_CLOSED && c->procs[i]->how &&
            is_same_process(c->procs[i], proc)) {
            proc->how = c->procs[i]->how;
            proc->value = c->procs[i]->value;
        }
}

void strobe_collector_reach(struct strobe_collector *c, struct strobe_proc *proc)
{
    STROBE_ASSERT(proc->state == STROBE_PROC_FOUND && proc->pidfd < 0);
    STROBE_ASSERT(proc->ring.control);
    proc->reach = strobe_ring_reach(&proc->ring);
    proc->pidfd = open_pidfd(c, proc);
    if (proc->pidfd < 0 && proc->ring.image)
        learn_exit_of_earlier(c, proc);
}

/* The number that it has here, where it has another than its own. */
void strobe_collector_note_outer(struct strobe_collector *c, const struct strobe_proc *proc)
{
    uint32_t outer = proc->reach.pid ? proc->reach.pid : proc->reach.in_proc;
    if (proc->resumed || (!proc->ring.pid_ns && !outer) ||
        (proc->ring.pid_ns == c->pid_ns && outer == proc->ring.pid))
        return;
    STROBE_ASSERT(strobe_proc_is_open(proc));
    uint64_t numbers[] = {proc->id, outer, proc->ring.pid_ns};
    strobe_records_numbers(&c->block.records, STROBE_FACT_OUTER_PID, numbers, 3);
}

bool strobe_collector_is_wanted(const struct strobe_collector *c, const struct strobe_ring *ring)
{
    if (!c->only_pid)
        return true;
    struct strobe_reach reach = strobe_ring_reach(ring);
    return reach.pid == c->only_pid || reach.in_proc == c->only_pid;
}

bool strobe_collector_knows(const struct strobe_collector *c, uint32_t pid)
{
    for (uint32_t i = 0; i < c->n_procs; i++)
        if (c->procs[i]->reach.in_proc == pid || c->procs[i]->reach.pid == pid)
            return true;
    return false;
}
