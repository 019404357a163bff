/* map_guard.h - shared memory that may break under the recorder: a file that is cut while it is mapped, or a hole of a
 * full tmpfs, is a SIGBUS for who touches it. Inside a guarded mapping it is none: the whole mapping becomes zeros that
 * belong to nobody, and the guard says so. A SIGBUS anywhere else has the effect that it had.
 *
 * For the recorder and the commands that look at pools; never in a traced program.  SPDX-License-Identifier: MIT */
#ifndef STROBE_RING_MAP_GUARD_H
#define STROBE_RING_MAP_GUARD_H

#include <stdbool.h>
#include <stdint.h>

struct strobe_map_guard {
    uintptr_t from;
    uint64_t n_bytes;   /* 0: guards nothing */
    uint32_t is_broken; /* atomic: written by the handler, in any thread */
    struct strobe_map_guard *prev, *next;
};

/* Guard a mapping until it is removed. The guard stays where it is until then. Threads that touch guarded memory must
 * not block SIGBUS. Thread-safe. */
void strobe_map_guard_add(struct strobe_map_guard *guard, void *at, uint64_t n_bytes);

/* Before the mapping goes; also of a guard that was never added (all zero). Thread-safe. */
void strobe_map_guard_remove(struct strobe_map_guard *guard);

static inline bool strobe_map_guard_is_broken(const struct strobe_map_guard *guard)
{
    return __atomic_load_n(&guard->is_broken, __ATOMIC_ACQUIRE);
}

#endif
