/* py_kernel.c - see py_kernel.h. Registers of the program, from its first lines on:
 *
 *   r6  the context, for the kernel's function that writes the record
 *   r7  the thread's entry of the map (struct thread_entry)
 *   r8  this processor's scratch: the record, and behind it what was read last
 *   r9  the frame, or cframe, that is read next
 *
 * and on its stack, below r10: the map's key, the scratch's key, a word that was read, the loop's number, the first frame.
 * Loops have a number that the kernel's verifier can follow, so that it sees their end.  SPDX-License-Identifier: MIT */
#include "sample/py_kernel.h"

#include <assert.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample/bpf_code.h"

enum {
    THREADS_MAX = 1 << 16,
    KEY = -8, /* of the program's stack */
    SCRATCH_KEY = -16,
    WORD = -24,
    NTH = -32,
    FIRST = -40,
};

/* How a thread's frames are read; the program knows these offsets. */
struct thread_entry {
    uint64_t id_at, id; /* whether it is still that thread */
    uint64_t first_at;  /* where the first frame's or cframe's address is */
    uint32_t has_cframes, cframe_frame, cframe_previous;
    uint32_t frame_code, frame_previous, frame_at, frame_flag;
    uint32_t zero;
};

struct scratch {
    struct strobe_py_kernel_head head;
    struct strobe_py_kernel_frame frames[STROBE_PY_KERNEL_FRAMES];
    uint8_t read
        [256]; /* what was read last: STROBE_PY_FRAME_BYTES, and as far as an offset can reach */
};

static_assert(sizeof(struct strobe_py_kernel_head) == 528, "the program writes it");
static_assert(sizeof(struct strobe_py_kernel_frame) == 32, "the program writes it");
static_assert(sizeof(struct scratch) <= 32 << 10, "the largest value of such a map");

struct strobe_py_kernel {
    int threads, scratch, outputs, program; /* owned descriptors */
};

/* ---- the program ---- */

static void end_if(struct code *c, int condition, int dst, int value)
{
    STROBE_ASSERT(c->n_to_end < 16);
    c->to_end[c->n_to_end++] = jump(c, condition, dst, value);
}

/* r0: the entry of a map, whose key is on the stack; none: the end. */
static void look_up(struct code *c, int fd, int key)
{
    put_map(c, 1, fd);
    move(c, 2, 10);
    add(c, 2, key);
    call(c, BPF_FUNC_map_lookup_elem);
    end_if(c, BPF_JEQ, 0, 0);
}

/* A word of the thread's memory to the stack; the address is in the entry. */
static void read_word(struct code *c, size_t address)
{
    move(c, 1, 10);
    add(c, 1, WORD);
    set(c, 2, 8);
    load(c, 3, 7, (int)address);
    call(c, BPF_FUNC_probe_read_user);
    end_if(c, BPF_JNE, 0, 0);
}

/* `n` bytes at r9 to the scratch. The jump that is taken where they can't be read. */
static int read_bytes(struct code *c, int n)
{
    move(c, 1, 8);
    add(c, 1, (int)offsetof(struct scratch, read));
    set(c, 2, n);
    move(c, 3, 9);
    call(c, BPF_FUNC_probe_read_user);
    return jump(c, BPF_JNE, 0, 0);
}

/* The word of what was read whose offset is in the entry. */
static void field(struct code *c, int dst, size_t offset)
{
    put(c, BPF_LDX | BPF_MEM | BPF_W, 2, 7, (int)offset, 0);
    put(c, BPF_ALU64 | BPF_AND | BPF_K, 2, 0, 0, 127);
    move(c, 3, 8);
    put(c, BPF_ALU64 | BPF_ADD | BPF_X, 3, 2, 0, 0);
    load(c, dst, 3, (int)offsetof(struct scratch, read));
}

/* r4: the loop's number; r1: scratch + number << shift. */
static void find_place(struct code *c, int shift)
{
    load(c, 4, 10, NTH);
    move(c, 5, 4);
    put(c, BPF_ALU64 | BPF_LSH | BPF_K, 5, 0, 0, shift);
    move(c, 1, 8);
    put(c, BPF_ALU64 | BPF_ADD | BPF_X, 1, 5, 0, 0);
}

/* The next turn, unless r9 is 0 or there were enough. `failed` lands behind the loop, too. */
static void turn(struct code *c, int begin, int most, int failed)
{
    store(c, 10, NTH, 4);
    int is_last = jump(c, BPF_JEQ, 9, 0);
    put(c, BPF_JMP | BPF_JLT | BPF_K, 4, 0, begin - c->n - 1, most);
    land(c, is_last);
    land(c, failed);
}

/* Who runs, and what the map and the scratch have of it. */
static void find_thread(struct code *c, const struct strobe_py_kernel *kernel)
{
    move(c, 6, 1);
    call(c, BPF_FUNC_get_current_pid_tgid);
    store(c, 10, KEY, 0);
    look_up(c, kernel->threads, KEY);
    move(c, 7, 0);
    put(c, BPF_ST | BPF_MEM | BPF_DW, 10, 0, SCRATCH_KEY, 0);
    look_up(c, kernel->scratch, SCRATCH_KEY);
    move(c, 8, 0);
    read_word(c, offsetof(struct thread_entry, id_at));
    load(c, 1, 10, WORD);
    load(c, 2, 7, (int)offsetof(struct thread_entry, id));
    STROBE_ASSERT(c->n_to_end < 16);
    put(c, BPF_JMP | BPF_JNE | BPF_X, 1, 2, 0, 0);
    c->to_end[c->n_to_end++] = c->n - 1;
    read_word(c, offsetof(struct thread_entry, first_at));
    load(c, 9, 10, WORD);
    set(c, 1, STROBE_PY_KERNEL_ID);
    store(c, 8, 0, 1); /* and no frames yet */
}

/* From cframe to cframe; r9 is the frame of the first one then. */
static void read_cframes(struct code *c)
{
    put(c, BPF_LDX | BPF_MEM | BPF_W, 1, 7, (int)offsetof(struct thread_entry, has_cframes), 0);
    int has_none = jump(c, BPF_JEQ, 1, 0);
    put(c, BPF_ST | BPF_MEM | BPF_DW, 10, 0, NTH, 0);
    put(c, BPF_ST | BPF_MEM | BPF_DW, 10, 0, FIRST, 0);
    int begin = c->n, failed = read_bytes(c, 24);
    find_place(c, 4);
    store(c, 1, (int)offsetof(struct strobe_py_kernel_head, cframes), 9);
    int is_next = jump(c, BPF_JNE, 4, 0);
    field(c, 3, offsetof(struct thread_entry, cframe_frame));
    store(c, 10, FIRST, 3);
    land(c, is_next);
    field(c, 9, offsetof(struct thread_entry, cframe_previous));
    store(c, 1, (int)offsetof(struct strobe_py_kernel_head, cframes) + 8, 9);
    add(c, 4, 1);
    put(c, BPF_STX | BPF_MEM | BPF_H, 8, 4, (int)offsetof(struct strobe_py_kernel_head, n_cframes),
        0);
    turn(c, begin, STROBE_PY_KERNEL_CFRAMES, failed);
    load(c, 9, 10, FIRST);
    land(c, has_none);
}

static void read_frames(struct code *c)
{
    const size_t fields[] = {offsetof(struct thread_entry, frame_code),
                             offsetof(struct thread_entry, frame_at),
                             offsetof(struct thread_entry, frame_flag)};
    put(c, BPF_ST | BPF_MEM | BPF_DW, 10, 0, NTH, 0);
    end_if(c, BPF_JEQ, 9, 0);
    int begin = c->n, failed = read_bytes(c, STROBE_PY_FRAME_BYTES);
    find_place(c, 5);
    store(c, 1, (int)offsetof(struct scratch, frames), 9);
    for (int i = 0; i < 3; i++) {
        field(c, 3, fields[i]);
        store(c, 1, (int)offsetof(struct scratch, frames) + 8 * (i + 1), 3);
    }
    field(c, 9, offsetof(struct thread_entry, frame_previous));
    add(c, 4, 1);
    put(c, BPF_STX | BPF_MEM | BPF_W, 8, 4, (int)offsetof(struct strobe_py_kernel_head, n_frames),
        0);
    turn(c, begin, STROBE_PY_KERNEL_FRAMES, failed);
    store(c, 8, (int)offsetof(struct strobe_py_kernel_head, rest), 9);
}

/* As many frames as there are, to this processor's buffer. */
static void send_record(struct code *c, const struct strobe_py_kernel *kernel)
{
    load(c, 5, 10, NTH);
    put(c, BPF_ALU64 | BPF_LSH | BPF_K, 5, 0, 0, 5);
    add(c, 5, (int)offsetof(struct scratch, frames));
    move(c, 1, 6);
    put_map(c, 2, kernel->outputs);
    put(c, BPF_ALU | BPF_MOV | BPF_K, 3, 0, 0, -1); /* BPF_F_CURRENT_CPU */
    move(c, 4, 8);
    call(c, BPF_FUNC_perf_event_output);
    while (c->n_to_end)
        land(c, c->to_end[--c->n_to_end]);
    set(c, 0, 1); /* and take the sample */
    put(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* ---- loading ---- */

static int load_program(const struct strobe_py_kernel *kernel)
{
    struct code code = {.n = 0};
    find_thread(&code, kernel);
    read_cframes(&code);
    read_frames(&code);
    send_record(&code, kernel);
    return load_code(&code, BPF_PROG_TYPE_PERF_EVENT, "strobe_python");
}

/* The map's keys are numbers of the first pid namespace. */
static bool is_in_first_namespace(void)
{
    struct stat st;
    return !stat("/proc/self/ns/pid", &st) && st.st_ino == 0xeffffffcu;
}

enum strobe_err strobe_py_kernel_open(struct strobe_py_kernel **out)
{
    struct strobe_py_kernel *kernel = malloc(sizeof *kernel);
    long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
    if (!kernel)
        return STROBE_ERR_NOMEM;
    *kernel = (struct strobe_py_kernel){-1, -1, -1, -1};
    if (is_in_first_namespace()) {
        kernel->threads = make_map(BPF_MAP_TYPE_HASH, 8, sizeof(struct thread_entry), THREADS_MAX,
                                   BPF_F_NO_PREALLOC);
        kernel->scratch = make_map(BPF_MAP_TYPE_PERCPU_ARRAY, 4, sizeof(struct scratch), 1, 0);
        kernel->outputs =
            make_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, n_cpus > 0 ? (uint32_t)n_cpus : 1, 0);
    }
    if (kernel->threads >= 0 && kernel->scratch >= 0 && kernel->outputs >= 0)
        kernel->program = load_program(kernel);
    if (kernel->program < 0) {
        strobe_py_kernel_close(kernel);
        return STROBE_ERR_ACCESS;
    }
    *out = kernel;
    return STROBE_OK;
}

void strobe_py_kernel_close(struct strobe_py_kernel *kernel)
{
    if (!kernel)
        return;
    const int fds[] = {kernel->program, kernel->outputs, kernel->scratch, kernel->threads};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(kernel);
}

/* ---- in use ---- */

bool strobe_py_kernel_attach(const struct strobe_py_kernel *kernel, int clock_fd)
{
    STROBE_ASSERT(kernel->program >= 0 && clock_fd >= 0);
    return !ioctl(clock_fd, PERF_EVENT_IOC_SET_BPF, kernel->program);
}

bool strobe_py_kernel_set_output(const struct strobe_py_kernel *kernel, int cpu, int fd)
{
    STROBE_ASSERT(cpu >= 0 && fd >= 0);
    uint32_t key = (uint32_t)cpu;
    return put_entry(kernel->outputs, &key, &fd);
}

bool strobe_py_kernel_watch(const struct strobe_py_kernel *kernel, uint32_t pid, uint32_t tid,
                            const struct strobe_py_layout *layout, uint64_t state, uint64_t id_at,
                            uint64_t id)
{
    STROBE_ASSERT(state && layout->frame_previous + 8 <= STROBE_PY_FRAME_BYTES);
    uint64_t key = (uint64_t)pid << 32 | tid;
    struct thread_entry entry = {.id_at = id_at,
                                 .id = id,
                                 .first_at = state + layout->thread_frame,
                                 .has_cframes = layout->cframe_previous != 0,
                                 .cframe_frame = layout->cframe_frame,
                                 .cframe_previous = layout->cframe_previous,
                                 .frame_code = layout->frame_code,
                                 .frame_previous = layout->frame_previous,
                                 .frame_at = layout->frame_at,
                                 .frame_flag = layout->frame_flag};
    return put_entry(kernel->threads, &key, &entry);
}

void strobe_py_kernel_forget(const struct strobe_py_kernel *kernel, uint32_t pid, uint32_t tid)
{
    uint64_t key = (uint64_t)pid << 32 | tid;
    union bpf_attr attr = {.map_fd = (uint32_t)kernel->threads, .key = (uintptr_t)&key};
    STROBE_ASSERT(pid && tid);
    bpf(BPF_MAP_DELETE_ELEM, &attr, sizeof attr); /* one that is gone is no loss */
}
