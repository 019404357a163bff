/* wanted.h - the addresses of a recording that need a name at its end, each once per process.
 * Bounded: beyond STROBE_WANTED_MAX addresses are counted; readers on this machine still find their names by module.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_WANTED_H
#define STROBE_SAMPLE_WANTED_H

#include "base/err.h"
#include "base/map.h"
#include "sample/maps.h"

enum {
    STROBE_WANTED_MAX = 1 << 17,
    STROBE_WANTED_STACKS = 1 << 12,
};
#define STROBE_WANTED_KERNEL UINT32_MAX
#define STROBE_WANTED_JIT    (1u << 31) /* or it with the process's number: code of no file */

#define STROBE_WANTED_LOC (1ull << 63) /* or it with a location's id: that one gets the name */

struct strobe_wanted_row {
    uint64_t address, vaddr; /* vaddr: in the module's file; of the kernel: the address */
    uint32_t proc, module; /* module: its id, STROBE_WANTED_KERNEL, or as STROBE_WANTED_JIT says */
    uint32_t n_hits;       /* stacks whose innermost address it is */
};

struct strobe_wanted {
    struct strobe_wanted_row *rows; /* owned */
    uint32_t n, room;
    struct strobe_index index;
    uint64_t seed;
    uint64_t seen[STROBE_WANTED_STACKS]; /* hashes of stacks whose addresses are all there */
    uint64_t n_left_out;
    struct strobe_map
        pids; /* proc: pid << 32 | its number in its own pid namespace, of those with code of no file */
    struct strobe_map dumps; /* proc: id of the module that is its jitdump */
};

void strobe_wanted_free(struct strobe_wanted *wanted);
/* Whether the stack was there before; if not, it counts as seen from now on. */
bool strobe_wanted_knows_stack(struct strobe_wanted *wanted, uint32_t proc,
                               const uint64_t *addresses, uint32_t n);
/* Add an address of a process; `mapping` is the one around it, NULL: the kernel. `pids`: as in the struct. */
void strobe_wanted_add(struct strobe_wanted *wanted, uint32_t proc, uint64_t pids, uint64_t address,
                       const struct strobe_mapping *mapping);
/* A stack has this address as its innermost one. */
void strobe_wanted_hit(struct strobe_wanted *wanted, uint32_t proc, uint64_t address);
/* Add an address whose place is known. */
void strobe_wanted_put(struct strobe_wanted *wanted, struct strobe_wanted_row row);

#endif
