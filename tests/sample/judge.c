/* judge.c - samples a program, unwinds each sample twice, by us and by libdw, and says how many stacks are the same.
 *
 *   judge SAMPLES COMMAND ...
 *
 * Exit: 0, at least 99.5 % of the stacks are the same; 1: fewer; 77: the kernel gives no samples. The command must run long enough; it is ended
 * when there are so many samples.  SPDX-License-Identifier: MIT */
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sample/life.h"
#include "sample/perf.h"

enum { SKIPPED = 77 };

/* A sample, kept until its program stands still. */
struct kept {
    struct strobe_unwind_sample user;
    uint8_t *stack;
    uint32_t tid;
};

struct judged {
    const struct kept *sample;
    uint64_t *addresses;
    uint32_t n;
};

/* ---- libdw ---- */

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
    (void)dwfl;
    struct judged *judged = arg;
    if (*thread_arg)
        return 0;
    *thread_arg = judged;
    return (pid_t)judged->sample->tid;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *out, void *arg)
{
    (void)dwfl;
    const struct kept *sample = ((struct judged *)arg)->sample;
    uint64_t low = sample->user.regs[STROBE_UNWIND_SP];
    if (address < low || address + 8 > low + sample->user.n_stack)
        return false;
    memcpy(out, sample->stack + (address - low), sizeof *out);
    return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
    const struct kept *sample = ((struct judged *)arg)->sample;
    Dwarf_Word regs[STROBE_UNWIND_REGS];
    for (int i = 0; i < STROBE_UNWIND_REGS; i++)
        regs[i] = sample->user.regs[i];
    return dwfl_thread_state_registers(thread, 0, STROBE_UNWIND_REGS, regs);
}

static const Dwfl_Thread_Callbacks threads = {
    .next_thread = next_thread,
    .memory_read = read_memory,
    .set_initial_registers = set_registers,
};

static int take_frame(Dwfl_Frame *frame, void *arg)
{
    struct judged *judged = arg;
    Dwarf_Addr pc;
    bool is_activation;
    if (!dwfl_frame_pc(frame, &pc, &is_activation) || judged->n == STROBE_UNWIND_MAX)
        return DWARF_CB_ABORT;
    judged->addresses[judged->n++] = pc - !is_activation;
    return DWARF_CB_OK;
}

/* dwfl takes its argument once: it points to who is asked for now. */
static struct judged now;

static Dwfl *open_dwfl(pid_t pid)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo};
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (!dwfl || dwfl_linux_proc_report(dwfl, pid) || dwfl_report_end(dwfl, NULL, NULL) ||
        !dwfl_attach_state(dwfl, NULL, pid, &threads, &now)) {
        fprintf(stderr, "judge: libdw: %s\n", dwfl_errmsg(-1));
        exit(1);
    }
    return dwfl;
}

/* ---- samples ---- */

static uint32_t gather(struct strobe_perf *perf, struct kept *kept, uint32_t most)
{
    uint32_t n = 0, n_quiet = 0;
    struct strobe_perf_record record;
    while (n < most && n_quiet < 100) {
        strobe_perf_wait(perf, 20000000, -1);
        strobe_perf_begin_round(perf);
        n_quiet++;
        while (n < most && strobe_perf_next(perf, UINT64_MAX, &record)) {
            if (record.what != STROBE_PERF_SAMPLE || !record.sample.has_regs)
                continue;
            struct kept *one = &kept[n++];
            one->user = record.sample.user;
            one->tid = record.tid;
            one->stack = malloc(one->user.n_stack + 1);
            memcpy(one->stack, one->user.stack, one->user.n_stack);
            one->user.stack = one->stack;
            n_quiet = 0;
        }
        strobe_perf_end_round(perf);
    }
    return n;
}

static pid_t start(char **command)
{
    pid_t child = fork();
    if (child == 0) {
        execvp(command[0], command);
        _exit(127);
    }
    usleep(100000); /* its libraries are there by then; if not, stacks differ and it fails */
    return child;
}

static void show(const char *who, const uint64_t *addresses, uint32_t n)
{
    fprintf(stderr, "  %s:", who);
    for (uint32_t i = 0; i < n; i++)
        fprintf(stderr, " %llx", (unsigned long long)addresses[i]);
    fputc('\n', stderr);
}

/* The same stack: ours may end where the other one goes on, only at a frame that both call the outermost. */
static bool is_same(const struct strobe_unwind_stack *ours, const struct judged *theirs)
{
    uint32_t n = ours->n < theirs->n ? ours->n : theirs->n;
    uint32_t more = ours->n > theirs->n ? ours->n - theirs->n : theirs->n - ours->n;
    return more <= 1 && !memcmp(ours->addresses, theirs->addresses, n * sizeof(uint64_t));
}

/* Frames of all samples, unwound once more: how many per second of CPU time. */
static double frames_per_second(struct strobe_life *life, struct strobe_life_process *process,
                                const struct kept *kept, uint32_t n)
{
    enum { PASSES = 20 };
    static struct strobe_unwind_stack stack;
    struct timespec begin, end;
    uint64_t n_frames = 0;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    for (uint32_t i = 0; i < PASSES * n; i++) {
        strobe_unwind_run(life->unwinder, &process->maps, &kept[i % n].user, &stack);
        n_frames += stack.n;
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    return (double)n_frames /
           ((double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
}

int main(int argc, char **argv)
{
    uint32_t most = argc > 2 ? (uint32_t)atoi(argv[1]) : 0, n_same = 0, n_whole = 0;
    if (!most)
        return 2;
    struct strobe_perf *perf = NULL;
    int error;
    pid_t child = start(argv + 2);
    struct strobe_perf_options options = {.hz = 3989, .pid = (uint32_t)child, .is_running = true};
    if (strobe_perf_open(&options, &perf, &error)) {
        fprintf(stderr, "judge: no samples: %s\n", strerror(error));
        kill(child, SIGKILL);
        return error == EACCES || error == EPERM ? SKIPPED : 1;
    }
    struct kept *kept = calloc(most, sizeof *kept);
    uint32_t n = gather(perf, kept, most);
    kill(child, SIGSTOP);
    static struct strobe_life life;
    static struct strobe_sample_clock clock;
    static struct strobe_unwind_stack ours;
    static uint64_t addresses[STROBE_UNWIND_MAX];
    if (strobe_life_init(&life, NULL, &clock))
        return 1;
    strobe_life_attach(&life, (uint32_t)child);
    struct strobe_life_process *process = (void *)(uintptr_t)life.processes.entries[0].value;
    Dwfl *dwfl = open_dwfl(child);
    double speed = n ? frames_per_second(&life, process, kept, n) : 0;
    for (uint32_t i = 0; i < n; i++) {
        now = (struct judged){&kept[i], addresses, 0};
        enum strobe_unwind_end end =
            strobe_unwind_run(life.unwinder, &process->maps, &kept[i].user, &ours);
        dwfl_getthread_frames(dwfl, (pid_t)kept[i].tid, take_frame, &now);
        n_whole += end == STROBE_UNWIND_WHOLE;
        bool same = is_same(&ours, &now);
        n_same += same;
        if (!same && i - n_same < 5) {
            show("ours ", ours.addresses, ours.n);
            show("libdw", addresses, now.n);
        }
        free(kept[i].stack);
    }
    printf("%u samples, %u stacks as libdw has them, %u whole\n", n, n_same, n_whole);
    printf("BENCH {\"frame_ns\": %.3f, \"other\": %.4f, \"cut\": %.4f}\n", speed ? 1e9 / speed : 0,
           100.0 * (n - n_same) / (n ? n : 1), 100.0 * (n - n_whole) / (n ? n : 1));
    dwfl_end(dwfl);
    strobe_life_free(&life);
    strobe_perf_close(perf);
    free(kept);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return n == most && n_same >= n - n / 200 ? 0 : 1;
}
