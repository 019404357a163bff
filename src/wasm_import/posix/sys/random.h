/* random.h - for the page's module: random bytes are the page's.  SPDX-License-Identifier: MIT */
#ifndef STROBE_WASM_IMPORT_RANDOM_H
#define STROBE_WASM_IMPORT_RANDOM_H

#include <sys/types.h>
#include <unistd.h>

#define GRND_NONBLOCK 1

static inline ssize_t getrandom(void *bytes, size_t n, unsigned flags)
{
    (void)flags;
    return getentropy(bytes, n) ? -1 : (ssize_t)n;
}

#endif
