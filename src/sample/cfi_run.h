/* cfi_run.h - runs the instructions of one description up to an address. Inside src/sample only.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_CFI_RUN_H
#define STROBE_SAMPLE_CFI_RUN_H

#include "base/varint.h"
#include "sample/cfi.h"

/* A description (FDE) and its common part (CIE). */
struct strobe_cfi_entry {
    struct strobe_bytes cie; /* behind its length */
    struct strobe_bytes fde; /* behind length and pointer to the common part */
    uint64_t fde_vaddr;      /* link-time address of fde.at */
};

/* The row at `vaddr`, and in *span (NULL is allowed) where it holds. False: the description does not cover it, or can't be read. */
bool strobe_cfi_run(const struct strobe_cfi_entry *entry, uint64_t vaddr,
                    struct strobe_cfi_row *out, struct strobe_cfi_span *span);

#endif
