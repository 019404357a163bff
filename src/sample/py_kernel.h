/* py_kernel.h - Python frames read by the kernel, in the interrupt that takes the sample: exact, and nobody has to be woken for them.
 *
 *   clock event overflows ─► our program (BPF) looks for the thread in a map ─► its frames to the processor's buffer of tracepoints
 *                         ─► the sample itself, as ever: the frames before it in time are its own (strobe_py_stack_take)
 *
 * The program is put together here, instruction by instruction: no compiler is needed, neither to build nor to record. It reads what
 * py_layout.h says of the interpreter and writes nothing but its record. Root's, in the first pid namespace (the map's keys are its
 * numbers); where the kernel refuses it, frames are read from outside (py_watch.h).
 * Calls are for one thread.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_PY_KERNEL_H
#define STROBE_SAMPLE_PY_KERNEL_H

#include "base/err.h"
#include "sample/py_stack.h"

enum {
    STROBE_PY_KERNEL_ID = 0xfffe, /* of its records, where tracepoints have their number */
    STROBE_PY_KERNEL_CFRAMES = 32,
    STROBE_PY_KERNEL_FRAMES = 256,
};

/* What the program writes: the head, then `n_frames` frames.
 *
 *   OFFSET SIZE FIELD
 *        0    2 id         STROBE_PY_KERNEL_ID
 *        2    2 n_cframes  of 3.11 and 3.12
 *        4    4 n_frames
 *        8    8 rest       the frame that comes next; not 0: there was no room, or it could not be read
 *       16  512 cframes    by pairs: address, address of the previous one
 *      528   32 frames     each: address, code, where in its code, flag (its low byte) */
struct strobe_py_kernel_head {
    uint16_t id, n_cframes;
    uint32_t n_frames;
    uint64_t rest;
    uint64_t cframes[2 * STROBE_PY_KERNEL_CFRAMES];
};
struct strobe_py_kernel_frame {
    uint64_t address, code, at, flag;
};

struct strobe_py_kernel;

/* Load the program. ACCESS: the kernel does not allow it, or does not know it; nothing is open then. */
enum strobe_err strobe_py_kernel_open(struct strobe_py_kernel **out);
void strobe_py_kernel_close(struct strobe_py_kernel *kernel); /* NULL is allowed */

/* Run it with each overflow of a clock event, and of all that inherit it. False: refused. */
bool strobe_py_kernel_attach(const struct strobe_py_kernel *kernel, int clock_fd);
/* Where its records go on a processor. False: refused. */
bool strobe_py_kernel_set_output(const struct strobe_py_kernel *kernel, int cpu, int fd);

/* Read the frames of a thread from now on, whose state is at `state`, as long as the word `id` is at `id_at`. False: there is no room. */
bool strobe_py_kernel_watch(const struct strobe_py_kernel *kernel, uint32_t pid, uint32_t tid,
                            const struct strobe_py_layout *layout, uint64_t state, uint64_t id_at,
                            uint64_t id);
void strobe_py_kernel_forget(const struct strobe_py_kernel *kernel, uint32_t pid, uint32_t tid);

#endif
