/* probes.h - places in the code of files where the kernel is to stop by (uprobes): functions, by their symbols, and marks that programs
 * carry for other tracers (USDT: the notes .note.stapsdt).
 *
 *   patterns of --zone ─► strobe_probes_find, file by file ─► probe_kernel.h opens them ─► life_zones.c makes zones and messages of hits
 *
 * Files are a stranger's: libelf reads them. Calls are for one thread.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_PROBES_H
#define STROBE_SAMPLE_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { STROBE_PROBES_MAX = 256, STROBE_PROBE_ARGUMENTS = 6 };

/* An argument of a mark. */
struct strobe_probe_argument {
    enum { STROBE_PROBE_NONE, STROBE_PROBE_NUMBER, STROBE_PROBE_REGISTER, STROBE_PROBE_MEMORY } how;
    int8_t n_bytes; /* negative: it has a sign */
    uint8_t reg;    /* where it lies in the kernel's struct pt_regs */
    int64_t number; /* itself, or what is added to the register */
};

struct strobe_probe {
    char *path, *name; /* owned */
    uint64_t offset;   /* in the file, of the instruction that is probed */
    uint64_t vaddr;    /* of the function's begin, as in the file */
    uint64_t counter;  /* of a mark: in the file, what counts who looks (its semaphore); 0: none */
    bool is_mark;
    uint32_t n_arguments;
    struct strobe_probe_argument arguments[STROBE_PROBE_ARGUMENTS];
};

struct strobe_probes {
    /* What the caller says before it looks for some. */
    bool no_functions;          /* marks alone */
    bool no_hooked;             /* no functions of files that have hooks or sleds for them */
    struct strobe_probe *items; /* owned: n of them */
    uint32_t n, room;
    uint32_t n_left_out; /* beyond STROBE_PROBES_MAX */
    uint32_t n_unfit;    /* functions whose first instruction is none to stop at */
};

void strobe_probes_free(struct strobe_probes *probes); /* zeroes are allowed */

/* Add what the patterns (chosen.h) name in a file. A function by "FILE:FUNCTION", or "FUNCTION" where `is_program`; a mark by
 * "FILE:PROVIDER:NAME". NOTFOUND: the file can't be read. */
enum strobe_err strobe_probes_find(struct strobe_probes *probes, const char *path,
                                   const char *patterns, bool is_program);

/* "8@%rdi -4@$5 8@-16(%rbp)", as a note of a mark has it. False: one of them is none of these; those before it are there. */
bool strobe_probes_arguments(struct strobe_probe *probe, const char *text);

#endif
