/* rows.h - what stack.c knows of code, for samples (stack_sample.c). Inside src/preload only.  SPDX-License-Identifier: MIT */
#ifndef STROBE_PRELOAD_ROWS_H
#define STROBE_PRELOAD_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "sample/cfi.h"

/* Make the tables, at the first call. False: there is no memory. Any context, as all that follows. */
bool strobe_preload_rows_make(void);
/* The row of an address of code; its kind is none of strobe_cfi_kind where nobody can look it up now. */
struct strobe_cfi_row strobe_preload_row(uint64_t pc);
/* Say which file the code is of, once. */
void strobe_preload_tell_code(uint64_t pc);

#endif
