/* machine.c - a core's process: starts it, rings it, sees it die, ends it. Its RAM is a memfd, so nothing is left behind whoever is
 * killed; the process gets SIGKILL when ours ends. Whether it is alive is read from its socket, since the host program may wait for
 * children itself.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "device_qemu/internal.h"

#define START_NS   60000000000ull /* until all harts are ready, on a machine that is busy */
#define RAM_TEXT   "16M"
#define CHILD_BELL 3 /* descriptors, as QEMU's command line has them */
#define CHILD_RAM  4
#define TEXT(x)    TEXT_(x)
#define TEXT_(x)   #x

extern char **environ;

/* ---- start ---- */

static void put_facts(struct strobe_qemu_unit *unit, uint32_t core)
{
    const struct strobe_board_core *is = &unit->board.cores[core];
    struct strobe_qemu_shared *shared = unit->machines[core].shared;
    shared->version = STROBE_QEMU_VERSION;
    shared->x = is->x;
    shared->y = is->y;
    shared->logical_x = is->logical_x;
    shared->logical_y = is->logical_y;
    shared->n_banks = unit->board.setup.options.n_banks;
    shared->n_workers = unit->board.n_workers;
    shared->grid_x = unit->board.setup.options.grid_x;
}

/* New RAM for a core, in place of the old. *fd is for the process. */
static enum strobe_err map_ram(struct strobe_qemu_unit *unit, uint32_t core, int *fd)
{
    struct strobe_qemu_machine *machine = &unit->machines[core];
    int made = memfd_create("strobe-core", MFD_CLOEXEC);
    void *map = made >= 0 && ftruncate(made, STROBE_QEMU_RAM_BYTES) == 0
                    ? mmap(NULL, STROBE_QEMU_RAM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, made, 0)
                    : MAP_FAILED;
    if (map == MAP_FAILED) {
        if (made >= 0)
            close(made);
        return STROBE_ERR_NOMEM;
    }
    strobe_qemu_machine_free(machine);
    *machine = (struct strobe_qemu_machine){.process = -1, .socket = -1, .said = -1, .ram = map};
    machine->shared = (void *)(machine->ram + (STROBE_QEMU_SHARED - STROBE_QEMU_RAM));
    unit->board.cores[core].l1 = machine->ram + (STROBE_QEMU_L1 - STROBE_QEMU_RAM);
    unit->board.cores[core].l1_address = STROBE_QEMU_L1;
    put_facts(unit, core);
    strobe_board_core_reset(&unit->board, &unit->board.cores[core]);
    *fd = made;
    return STROBE_OK;
}

/* What a child becomes QEMU with. */
struct child {
    const char *const *argv;
    char *const *environment;
    int bell, ram, said;
    pid_t parent;
};

/* In the child, which has our memory until it execs: system calls alone. */
static void be_qemu(const struct child *child)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int null = open("/dev/null", O_RDONLY);
    if (getppid() != child->parent || null < 0 || dup2(null, 0) < 0 || dup2(child->said, 1) < 0 ||
        dup2(child->said, 2) < 0 || dup2(child->bell, CHILD_BELL) < 0 ||
        dup2(child->ram, CHILD_RAM) < 0)
        _exit(127);
#ifdef SYS_close_range
    syscall(SYS_close_range, CHILD_RAM + 1u, ~0u, 0u);
#endif
    execve(child->argv[0], (char *const *)(uintptr_t)child->argv, child->environment);
    _exit(127);
}

/* Not fork: what a program does in its children, tracing among it, is not for this one. */
static __attribute__((noinline)) pid_t make_child(const struct child *child)
{
    pid_t pid = vfork();
    if (pid == 0)
        be_qemu(child);
    return pid;
}

/* The environment without what is preloaded into the host program. NULL: no memory. */
static char **plain_environment(void)
{
    size_t n = 0, kept = 0;
    while (environ && environ[n])
        n++;
    char **all = calloc(n + 1, sizeof *all);
    for (size_t i = 0; all && i < n; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0)
            all[kept++] = environ[i];
    return all;
}

static enum strobe_err spawn(struct strobe_qemu_unit *unit, struct strobe_qemu_machine *machine,
                             int bell, int ram)
{
    const char *argv[32] = {unit->qemu,
                            "-machine",
                            "virt,memory-backend=ram",
                            "-object",
                            "memory-backend-file,id=ram,size=" RAM_TEXT
                            ",mem-path=/proc/self/fd/" TEXT(CHILD_RAM) ",share=on",
                            "-m",
                            RAM_TEXT,
                            "-smp",
                            "5",
                            "-bios",
                            "none",
                            "-kernel",
                            unit->image,
                            "-nographic",
                            "-nodefaults",
                            "-no-user-config",
                            "-monitor",
                            "none",
                            "-chardev",
                            "socket,id=bell,fd=" TEXT(CHILD_BELL),
                            "-serial",
                            "chardev:bell"};
    uint32_t n = 22;
    STROBE_ASSERT(argv[n - 1] && !argv[n]);
    if (unit->is_virtual) {
        argv[n++] = "-icount";
        argv[n++] = "shift=0,sleep=off";
    }
    char **environment = plain_environment();
    const struct child child = {argv, environment, bell, ram, machine->said, getpid()};
    machine->pid = environment ? make_child(&child) : -1;
    free(environment);
#ifdef SYS_pidfd_open
    if (machine->pid > 0)
        machine->process = (int)syscall(SYS_pidfd_open, machine->pid, 0);
#endif
    return machine->pid > 0 ? STROBE_OK : STROBE_ERR_IO;
}

/* A copy of a descriptor above those that the child gets, so that none of them is in the way of another. */
static int above(int fd)
{
    int copy = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, CHILD_RAM + 1) : -1;
    if (fd >= 0)
        close(fd);
    return copy;
}

static enum strobe_err start(struct strobe_qemu_unit *unit, uint32_t core)
{
    struct strobe_qemu_machine *machine = &unit->machines[core];
    int ends[2] = {-1, -1}, ram = -1;
    enum strobe_err err = map_ram(unit, core, &ram);
    if (!err && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
        err = STROBE_ERR_IO;
    machine->socket = ends[0];
    ends[1] = above(ends[1]);
    ram = above(ram);
    machine->said = above(memfd_create("strobe-qemu", MFD_CLOEXEC));
    if (!err && (ends[1] < 0 || ram < 0 || machine->said < 0))
        err = STROBE_ERR_IO;
    if (!err)
        err = spawn(unit, machine, ends[1], ram);
    if (!err)
        machine->state = STROBE_QEMU_BOOTS;
    if (ends[1] >= 0)
        close(ends[1]);
    if (ram >= 0)
        close(ram);
    return err;
}

static int is_ready(const struct strobe_qemu_machine *machine)
{
    for (uint32_t i = 0; i < STROBE_QEMU_HARTS; i++)
        if (strobe_qemu_load(&machine->shared->harts[i].is_ready) != STROBE_QEMU_VERSION)
            return 0;
    return 1;
}

/* Why a machine did not come up: what QEMU said. */
static enum strobe_err say_failure(const struct strobe_qemu_unit *unit,
                                   const struct strobe_qemu_machine *machine, char *reason)
{
    char said[512] = "";
    ssize_t n = machine->said >= 0 ? pread(machine->said, said, sizeof said - 1, 0) : -1;
    said[n > 0 ? n : 0] = 0;
    snprintf(reason, STROBE_DEVICE_REASON_BYTES, "%s did not start a core: %s", unit->qemu,
             *said                                ? said
             : machine->state == STROBE_QEMU_GONE ? "its process ended"
                                                  : "its harts did not get ready in time");
    return STROBE_ERR_IO;
}

static enum strobe_err wait_ready(struct strobe_qemu_unit *unit,
                                  struct strobe_qemu_machine *machine, uint64_t until_ns,
                                  char *reason)
{
    while (!is_ready(machine)) {
        if (!strobe_qemu_machine_look(machine) || strobe_clock_mono_ns() > until_ns)
            return say_failure(unit, machine, reason);
        strobe_qemu_machines_wait(unit, 20000000);
    }
    machine->state = STROBE_QEMU_RUNS_ON;
    return STROBE_OK;
}

enum strobe_err strobe_qemu_machines_start(struct strobe_qemu_unit *unit, char *reason)
{
    enum strobe_err err = STROBE_OK;
    uint64_t until_ns = strobe_clock_mono_ns() + START_NS;
    for (uint32_t i = 0; i < unit->board.n_cores && !err; i++) {
        if (unit->machines[i].state != STROBE_QEMU_GONE)
            continue;
        err = start(unit, i);
        if (err)
            snprintf(reason, STROBE_DEVICE_REASON_BYTES, "can't start %s: %s", unit->qemu,
                     strerror(errno));
    }
    for (uint32_t i = 0; i < unit->board.n_cores && !err; i++)
        if (unit->machines[i].state == STROBE_QEMU_BOOTS)
            err = wait_ready(unit, &unit->machines[i], until_ns, reason);
    return err;
}

/* ---- end ---- */

/* Its process alone: a number may be another one's by now. */
static void signal_it(const struct strobe_qemu_machine *machine, int number)
{
#ifdef SYS_pidfd_send_signal
    if (machine->process >= 0) {
        syscall(SYS_pidfd_send_signal, machine->process, number, NULL, 0);
        return;
    }
#endif
    if (machine->pid > 0)
        kill(machine->pid, number);
}

void strobe_qemu_machine_stop(struct strobe_qemu_machine *machine)
{
    signal_it(machine, SIGKILL);
    while (machine->pid > 0 && waitpid(machine->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (machine->process >= 0)
        close(machine->process);
    if (machine->socket >= 0)
        close(machine->socket);
    machine->pid = 0;
    machine->process = machine->socket = -1;
    machine->state = STROBE_QEMU_GONE;
}

void strobe_qemu_machine_free(struct strobe_qemu_machine *machine)
{
    STROBE_ASSERT(machine->state == STROBE_QEMU_GONE && machine->pid <= 0);
    if (machine->said >= 0)
        close(machine->said);
    if (machine->ram)
        munmap(machine->ram, STROBE_QEMU_RAM_BYTES);
    machine->said = -1;
    machine->ram = NULL;
    machine->shared = NULL;
}

void strobe_qemu_machine_pause(struct strobe_qemu_machine *machine)
{
    int status;
    if (machine->state == STROBE_QEMU_GONE)
        return;
    STROBE_ASSERT(machine->pid > 0);
    signal_it(machine, SIGSTOP);
    pid_t pid = 0;
    for (int i = 0; i < 1000 && !pid;
         i++) { /* until the system says so, or somebody else has heard it */
        pid = waitpid(machine->pid, &status, WUNTRACED | WNOHANG);
        if (!pid)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    machine->state = STROBE_QEMU_STOPPED;
    if (pid <= 0 || WIFSTOPPED(status))
        return;
    machine->pid = 0; /* it has ended, and is reaped */
    strobe_qemu_machine_stop(machine);
}

/* ---- bells ---- */

void strobe_qemu_machine_ring(struct strobe_qemu_machine *machine)
{
    /* what was written for the core comes before the bell */
    __atomic_fetch_add(&machine->n_bells, 1, __ATOMIC_SEQ_CST);
    if (machine->socket >= 0) /* full: bells wait there already, and one is enough */
        (void)!send(machine->socket, ".", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

int strobe_qemu_machine_look(struct strobe_qemu_machine *machine)
{
    char bells[256];
    if (machine->state == STROBE_QEMU_GONE)
        return 0;
    ssize_t got;
    do {
        got = recv(machine->socket, bells, sizeof bells, MSG_DONTWAIT);
    } while (got == (ssize_t)sizeof bells || (got < 0 && errno == EINTR));
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)))
        return 1;
    strobe_qemu_machine_stop(machine);
    return 0;
}

void strobe_qemu_machines_wait(struct strobe_qemu_unit *unit, uint64_t ns)
{
    struct pollfd polled[STROBE_QEMU_MOST_CORES];
    nfds_t n = 0;
    STROBE_ASSERT(unit->board.n_cores <= STROBE_QEMU_MOST_CORES);
    for (uint32_t i = 0; i < unit->board.n_cores; i++)
        if (unit->machines[i].state == STROBE_QEMU_BOOTS ||
            unit->machines[i].state == STROBE_QEMU_RUNS_ON)
            polled[n++] = (struct pollfd){.fd = unit->machines[i].socket, .events = POLLIN};
    struct timespec time = strobe_clock_timespec(ns);
    ppoll(polled, n, &time, NULL);
}
