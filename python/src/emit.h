/* emit.h - begin and end of a zone at a location, for callers that keep no handle between the two.
 * A begin that nobody saw may have its end emitted: the trace then says "begun before". Never calls into
 * Python, never fails.  SPDX-License-Identifier: MIT */
#ifndef STROBE_PY_EMIT_H
#define STROBE_PY_EMIT_H

#include <strobe/strobe.h>

/* With the gate seen open. */
STROBE_INLINE void strobe_py_begin_open(const volatile struct strobe_gate *gate,
                                        struct strobe_loc *loc)
{
    uint64_t word = __atomic_load_n(&loc->word, __ATOMIC_RELAXED);
    if (!strobe_gate_knows(gate, word))
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
    if (!strobe_gate_knows(gate, word))
        strobe_end_unseen(loc);
    else
        strobe_emit(word ^ 1ull << 63, loc);
}

#endif
