/* used.c - runs a command with its output thrown away and prints what it used: "BENCH {json}". A
 * small program of its own, because the peak memory of a process counts that of the one it was
 * forked from. SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double seconds(struct timeval tv)
{
    return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    double start = now_s();
    pid_t pid = fork();
    if (pid == 0) {
        dup2(open("/dev/null", O_WRONLY), 1);
        execv(argv[1], argv + 1);
        _exit(127);
    }
    struct rusage used;
    int status;
    if (wait4(pid, &status, 0, &used) != pid || status != 0)
        return 1;
    printf("BENCH {\"wall_s\": %.6f, \"cpu_s\": %.6f, \"peak_kib\": %ld}\n", now_s() - start,
           seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss);
    return 0;
}
