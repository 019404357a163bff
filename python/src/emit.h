/* emit.h - begin and end of a zone at a location, for callers that keep no handle between the two.
 * A begin that nobody saw may have its end emitted: the trace then says "begun before". Never calls into
 * Python, never fails.  SPDX-License-Identifier: MIT */
#ifndef STROBE_PY_EMIT_H
#define STROBE_PY_EMIT_H

#include <strobe/strobe.h>

/* The clock in its two halves: as x86 has it, with nothing to put together and take apart again. */
STROBE_INLINE uint64_t strobe_py_ticks_apart(uint32_t *high)
{
#if defined(__x86_64__)
    uint64_t low; /* rdtsc clears the upper half */
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(*high));
    return low;
#else
    uint64_t ticks = strobe_ticks();
    *high = (uint32_t)(ticks >> 32);
    return (uint32_t)ticks;
#endif
}

/* With the gate seen open. */
STROBE_INLINE void strobe_py_begin_open(const volatile struct strobe_gate *gate,
                                        struct strobe_loc *loc)
{
    uint64_t word = __atomic_load_n(&loc->word, __ATOMIC_RELAXED);
    if (STROBE_UNLIKELY(word < ((const struct strobe_gate *)gate)->floor))
        strobe_begin_unnamed(loc);
    else
        strobe_emit_with(word, loc, 1);
}

STROBE_INLINE void strobe_py_begin(struct strobe_loc *loc)
{
    const volatile struct strobe_gate *gate = strobe_gate_now;
    if (strobe_gate_is_open(gate))
        strobe_py_begin_open(gate, loc);
}

STROBE_INLINE void strobe_py_end(struct strobe_loc *loc)
{
    const volatile struct strobe_gate *gate = strobe_gate_now;
    if (!strobe_gate_is_open(gate))
        return;
    uint64_t word = __atomic_load_n(&loc->word, __ATOMIC_RELAXED);
    if (STROBE_UNLIKELY(word < ((const struct strobe_gate *)gate)->floor))
        strobe_end_unseen(loc);
    else
        strobe_emit(word ^ 1ull << 63, loc);
}

#endif
