/* probe_kernel.h - probes (probes.h) set in the kernel: for each a program of a few instructions (BPF) that writes who came by to this
 * processor's buffer of tracepoints.
 *
 *   the thread comes to the instruction ─► the kernel (uprobe) ─► our program ─► a record: which probe, stack pointer, arguments
 *   the function returns                ─► the kernel (uretprobe) ─► likewise, with the result
 *
 * Each place is registered once for begins and once for returns, one after the other by one thread, for one process; nothing is inherited and
 * nothing is registered again: kernels have had faults in what is more than that. Root's. Calls are for one thread.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_PROBE_KERNEL_H
#define STROBE_SAMPLE_PROBE_KERNEL_H

#include "base/err.h"
#include "sample/probes.h"

enum { STROBE_PROBE_KERNEL_ID = 0xfffd }; /* of its records, where tracepoints have their number */

/* What a program writes.
 *
 *   OFFSET SIZE FIELD
 *        0    2 id         STROBE_PROBE_KERNEL_ID
 *        2    2 is_return
 *        4    4 probe      its number in the list
 *        8    8 sp         the stack pointer
 *       16   48 values     arguments of a mark; of a return the result, alone */
struct strobe_probe_record {
    uint16_t id, is_return;
    uint32_t probe;
    uint64_t sp, values[STROBE_PROBE_ARGUMENTS];
};

struct strobe_probe_kernel;

/* Whether this machine's kernel is fit for it. NULL: it is; else why not. STROBE_UPROBES=1 in the environment overrides. */
const char *strobe_probe_kernel_refusal(void);

/* Make the map that its programs write to. ACCESS: the kernel does not allow it. */
enum strobe_err strobe_probe_kernel_open(struct strobe_probe_kernel **out);
void strobe_probe_kernel_close(struct strobe_probe_kernel *kernel); /* NULL is allowed */

/* Where records go on a processor. False: refused. */
bool strobe_probe_kernel_set_output(const struct strobe_probe_kernel *kernel, int cpu, int fd);

/* Set the probes for a process that runs, or waits for its exec. The number of places that are set; *system_error: of the first that is
 * not, 0: none. After an error no further one is tried. */
uint32_t strobe_probe_kernel_set(struct strobe_probe_kernel *kernel,
                                 const struct strobe_probes *probes, uint32_t pid, bool is_running,
                                 int *system_error);

#endif
