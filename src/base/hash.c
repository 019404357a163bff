/* hash.c - the seed of the process.  SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include <stdatomic.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif

/* Random bytes that the kernel gives every process; elsewhere what the loader's placement gives. They also are the C library's
 * guard of stacks, so only a hash of them is kept. */
static uint64_t make_seed(void)
{
    uint64_t words[2] = {(uint64_t)(uintptr_t)&strobe_hash_seed, (uint64_t)(uintptr_t)&words};
#ifdef __linux__
    const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM);
    if (random)
        memcpy(words, random, sizeof words);
#endif
    return strobe_hash_bytes(words, sizeof words, 0x5bd1e9955bd1e995u) | 1;
}

uint64_t strobe_hash_seed(void)
{
    static _Atomic uint64_t kept; /* threads that come at once make the same */
    uint64_t seed = atomic_load_explicit(&kept, memory_order_relaxed);
    if (!seed) {
        seed = make_seed();
        atomic_store_explicit(&kept, seed, memory_order_relaxed);
    }
    return seed;
}
