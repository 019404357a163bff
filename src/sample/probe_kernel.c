/* probe_kernel.c - see probe_kernel.h.  SPDX-License-Identifier: MIT */
#include "sample/probe_kernel.h"

#include <assert.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/array.h"
#include "sample/bpf_code.h"

static_assert(sizeof(struct strobe_probe_record) == 64, "programs write it");
static_assert(offsetof(struct strobe_probe_record, values) == 16, "programs write it");

enum { REGS_AX = 80, REGS_SP = 152, RECORD = -(int)sizeof(struct strobe_probe_record) };

struct strobe_probe_kernel {
    int outputs;   /* owned: the map of buffers */
    uint32_t type; /* of such events, as this kernel numbers it */
    int *fds;      /* owned: events and programs */
    uint32_t n_fds, fds_room;
};

const char *strobe_probe_kernel_refusal(void)
{
    struct utsname name;
    const char *asked = getenv("STROBE_UPROBES");
    if (geteuid())
        return "the kernel sets probes for root alone";
    if (asked && !strcmp(asked, "1"))
        return NULL;
    if (!uname(&name) && !strncmp(name.release, "6.18.", 5))
        return "Linux 6.18 has a fault in its probes, after which it can hang; STROBE_UPROBES=1 "
               "tries all the same";
    return NULL;
}

/* ---- a program ---- */

#if defined(__x86_64__)

/* An argument to its place in the record; r6 is the context. */
static void put_argument(struct code *c, const struct strobe_probe_argument *argument, int at)
{
    int n_bytes = argument->n_bytes < 0 ? -argument->n_bytes : argument->n_bytes;
    if (argument->how == STROBE_PROBE_NUMBER) {
        set(c, 1, (int)argument->number);
        store(c, 10, at, 1);
        return;
    }
    load(c, 1, 6, argument->reg);
    if (argument->how == STROBE_PROBE_REGISTER) {
        store(c, 10, at, 1);
        return;
    }
    move(c, 3, 1);
    add(c, 3, (int)argument->number);
    move(c, 1, 10);
    add(c, 1, at);
    set(c, 2, n_bytes);
    call(c, BPF_FUNC_probe_read_user);
}

static int load_probe(const struct strobe_probe_kernel *kernel, const struct strobe_probe *probe,
                      uint32_t number, bool is_return)
{
    struct code c = {.n = 0};
    const int values = RECORD + (int)offsetof(struct strobe_probe_record, values);
    uint32_t n = is_return ? 1 : probe->n_arguments;
    move(&c, 6, 1);
    for (int i = 0; i < STROBE_PROBE_ARGUMENTS; i++)
        put(&c, BPF_ST | BPF_MEM | BPF_DW, 10, 0, values + 8 * i, 0);
    put(&c, BPF_ST | BPF_MEM | BPF_W, 10, 0, RECORD,
        (int)(STROBE_PROBE_KERNEL_ID | (uint32_t)is_return << 16));
    put(&c, BPF_ST | BPF_MEM | BPF_W, 10, 0, RECORD + 4, (int)number);
    load(&c, 1, 6, REGS_SP);
    store(&c, 10, RECORD + 8, 1);
    if (is_return) {
        load(&c, 1, 6, REGS_AX);
        store(&c, 10, values, 1);
    } else {
        for (uint32_t i = 0; i < n; i++)
            put_argument(&c, &probe->arguments[i], values + 8 * (int)i);
    }
    move(&c, 1, 6);
    put_map(&c, 2, kernel->outputs);
    put(&c, BPF_ALU | BPF_MOV | BPF_K, 3, 0, 0, -1); /* BPF_F_CURRENT_CPU */
    move(&c, 4, 10);
    add(&c, 4, RECORD);
    set(&c, 5, (int)(offsetof(struct strobe_probe_record, values) + 8 * n));
    call(&c, BPF_FUNC_perf_event_output);
    set(&c, 0, 0);
    put(&c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
    return load_code(&c, BPF_PROG_TYPE_KPROBE, "strobe_probe");
}

#else

static int load_probe(const struct strobe_probe_kernel *kernel, const struct strobe_probe *probe,
                      uint32_t number, bool is_return)
{
    (void)kernel, (void)probe, (void)number, (void)is_return;
    errno = ENOSYS; /* where registers lie is known for x86-64 alone */
    return -1;
}

#endif

/* ---- a place ---- */

/* Keep a descriptor until the end. */
static bool keep(struct strobe_probe_kernel *kernel, int fd)
{
    if (fd < 0)
        return false;
    if (STROBE_ARRAY_RESERVE(kernel->fds, kernel->fds_room, kernel->n_fds + 1ull)) {
        close(fd);
        errno = ENOMEM;
        return false;
    }
    kernel->fds[kernel->n_fds++] = fd;
    return true;
}

/* The event is the process's, and has no buffer: what counts is the program on it. Its place is in the files' mappings of that process alone,
 * those after its exec, too. */
static bool set_place(struct strobe_probe_kernel *kernel, const struct strobe_probe *probe,
                      uint32_t number, bool is_return, uint32_t pid, bool is_running)
{
    struct perf_event_attr attr = {.type = kernel->type,
                                   .size = sizeof attr,
                                   .config = (uint64_t)is_return | probe->counter << 32,
                                   .config1 = (uintptr_t)probe->path,
                                   .config2 = probe->offset,
                                   .sample_period = 1,
                                   .disabled = !is_running,
                                   .enable_on_exec = !is_running};
    int program = load_probe(kernel, probe, number, is_return);
    if (!keep(kernel, program))
        return false;
    int event = (int)syscall(SYS_perf_event_open, &attr, (pid_t)pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return keep(kernel, event) && !ioctl(event, PERF_EVENT_IOC_SET_BPF, program);
}

uint32_t strobe_probe_kernel_set(struct strobe_probe_kernel *kernel,
                                 const struct strobe_probes *probes, uint32_t pid, bool is_running,
                                 int *system_error)
{
    STROBE_ASSERT(pid && probes->n <= STROBE_PROBES_MAX);
    *system_error = 0;
    for (uint32_t i = 0; i < probes->n; i++) {
        const struct strobe_probe *probe = &probes->items[i];
        bool is_set = (probe->is_mark || set_place(kernel, probe, i, true, pid, is_running)) &&
                      set_place(kernel, probe, i, false, pid, is_running);
        if (!is_set) {
            *system_error = errno ? errno : EINVAL;
            return i;
        }
    }
    return probes->n;
}

/* ---- open and close ---- */

static bool read_type(uint32_t *type)
{
    FILE *in = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
    bool is_read = in && fscanf(in, "%u", type) == 1;
    if (in)
        fclose(in);
    return is_read;
}

enum strobe_err strobe_probe_kernel_open(struct strobe_probe_kernel **out)
{
    struct strobe_probe_kernel *kernel = calloc(1, sizeof *kernel);
    long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
    if (!kernel)
        return STROBE_ERR_NOMEM;
    kernel->outputs = read_type(&kernel->type) ? make_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4,
                                                          n_cpus > 0 ? (uint32_t)n_cpus : 1, 0)
                                               : -1;
    if (kernel->outputs < 0) {
        strobe_probe_kernel_close(kernel);
        return STROBE_ERR_ACCESS;
    }
    *out = kernel;
    return STROBE_OK;
}

void strobe_probe_kernel_close(struct strobe_probe_kernel *kernel)
{
    if (!kernel)
        return;
    while (kernel->n_fds) /* the last one first: an event before its program */
        close(kernel->fds[--kernel->n_fds]);
    if (kernel->outputs >= 0)
        close(kernel->outputs);
    free(kernel->fds);
    free(kernel);
}

bool strobe_probe_kernel_set_output(const struct strobe_probe_kernel *kernel, int cpu, int fd)
{
    STROBE_ASSERT(cpu >= 0 && fd >= 0);
    uint32_t key = (uint32_t)cpu;
    return put_entry(kernel->outputs, &key, &fd);
}
