/* clock.c - runs a command under the bare clock of a sampler: the same interrupts, and nothing is taken.
 *
 *   clock HZ COMMAND ...
 *
 * Exit: that of the command; 77: the kernel gives no such event.  SPDX-License-Identifier: MIT */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REFUSED = 77, PAGES = 8 };

static int open_clock(pid_t pid, long cpu, unsigned long hz)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof attr,
                                   .config = PERF_COUNT_SW_CPU_CLOCK,
                                   .freq = 1,
                                   .sample_freq = hz,
                                   .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
                                   .inherit = 1,
                                   .disabled = 1,
                                   .enable_on_exec = 1,
                                   .exclude_hv = 1};
    int fd = (int)syscall(SYS_perf_event_open, &attr, pid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
        attr.exclude_kernel = 1;
        fd = (int)syscall(SYS_perf_event_open, &attr, pid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
    }
    /* overwritten, so that it is never full */
    size_t bytes = (PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);
    if (fd >= 0 && mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
        return -1;
    return fd;
}

int main(int argc, char **argv)
{
    unsigned long hz = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
    int gate[2], status;
    char go = 1;
    if (!hz || pipe(gate))
        return 2;
    pid_t child = fork();
    if (child == 0) {
        close(gate[1]);
        if (read(gate[0], &go, 1) == 1)
            execvp(argv[2], argv + 2);
        _exit(127);
    }
    for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++)
        if (open_clock(child, cpu, hz) < 0)
            return REFUSED; /* the child reads the end of the pipe */
    if (write(gate[1], &go, 1) != 1 || waitpid(child, &status, 0) != child)
        return 2;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
