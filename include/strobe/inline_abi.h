/* inline_abi.h - what the inline functions of strobe.h are made of: they run inside the program, so the program's code and
 * the library must agree on it. Included by strobe.h only.
 *
 * NOT A PROMISE TO SOURCES: names and fields here may change with every version. A promise to binaries:
 *   - within one major version of libstrobe.so (while that is 0: one minor version) layout and meaning of struct strobe_hot,
 *     struct strobe_gate, struct strobe_loc, struct strobe_name, struct strobe_zone and struct strobe_lock, the words of
 *     docs/ring-protocol.md, and the symbols below stay. A program built with an older header runs with a newer library.
 *   - fields may be added behind those of strobe_hot and strobe_gate: the library and the recorder own their memory.
 *   - a change of anything else here changes the library's soname.
 * tests/symbols holds the list of symbols. SPDX-License-Identifier: MIT */
#ifndef STROBE_INLINE_ABI_H
#define STROBE_INLINE_ABI_H
#if !defined(STROBE_STROBE_H) || defined(STROBE_OFF)
#error "include strobe/strobe.h"
#endif

/* The part of a thread's state that the hot path touches. `cursor` is the address of the next free word of the thread's
 * segment << 16 | words left in it (signed): one value, so that one instruction reserves a word and shows whether there was
 * one. It is wiped in a forked child, which therefore finds no word left and can never write into its parent's segment.
 *
 *   OFFSET SIZE
 *        0    8  cursor
 *        8    4  epoch */
struct strobe_hot {
    uint64_t cursor;
    uint32_t epoch; /* upper half of the ticks now being written */
};
/* What the recorder says to this process; in shared memory, see wire/ring_layout.h.
 *
 *   OFFSET SIZE
 *        0    4  active
 *        4    4  policy
 *        8    8  floor */
struct strobe_gate {
    uint32_t active; /* 0: nobody records */
    uint32_t policy;
    uint64_t floor; /* locations whose words are below it must be registered (again) first */
};
STROBE_API extern __thread struct strobe_hot *strobe_hot_now
    __attribute__((tls_model("initial-exec")));
STROBE_API extern const volatile struct strobe_gate *strobe_gate_now;
/* The slow path of one word: new segment, new epoch, no clock. STROBE_EMIT_STORED; others: dropped and counted. The inline
 * callers set STROBE_EMIT_SLOW in it, which keeps the compiler from merging the slow path into the fast one. */
STROBE_API int strobe_emit_slow(uint64_t word, uint64_t *reserved,
                                struct strobe_loc *loc) STROBE_COLD;
/* Register the location, then begin. As strobe_emit_slow. */
STROBE_API int strobe_begin_unnamed(struct strobe_loc *loc) STROBE_COLD;
/* The end of a zone that the inline path does not end: dropped, slow, or with a run-time location. */
STROBE_API void strobe_end_odd(struct strobe_loc *loc, uint64_t word, int on) STROBE_COLD;
/* The end of a zone that began while nobody recorded, with the gate open now. */
STROBE_API void strobe_end_unseen(struct strobe_loc *loc) STROBE_COLD;

/* The one flag test: is somebody recording? */
STROBE_INLINE int strobe_gate_is_open(const volatile struct strobe_gate *gate)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    __asm__ goto("cmpl $0, %0\n\tjne %l[open]" : : "m"(gate->active) : "cc" : open);
    return 0;
open:
    return 1;
#else /* what the recorder wrote before it, `floor` above all, is read after it */
    return STROBE_UNLIKELY(__atomic_load_n(&gate->active, __ATOMIC_ACQUIRE));
#endif
}

/* Whether a location's word is registered with the recorder of an open gate. */
STROBE_INLINE int strobe_gate_knows(const volatile struct strobe_gate *gate, uint64_t word)
{
    return STROBE_LIKELY(word >= ((const struct strobe_gate *)gate)->floor);
}

STROBE_INLINE uint64_t strobe_ticks(void)
{
#if defined(__x86_64__)
    uint32_t lo, hi;
    __asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
    return (uint64_t)hi << 32 | lo;
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
#error "strobe.h knows the clocks of x86-64 and arm64"
#endif
}

/* Reserve `n_words` of the thread's segment: the cursor as it was. In one instruction, so that a
 * signal handler which emits here gets words of its own. */
STROBE_INLINE uint64_t strobe_reserve(struct strobe_hot *hot, uint64_t n_words)
{
    uint64_t step = (n_words << 19) - n_words; /* address + 8 n, words left - n */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    __asm__ volatile("xaddq %0, %1" : "+r"(step), "+m"(hot->cursor));
    return step;
#elif defined(__aarch64__) && !defined(__ARM_FEATURE_ATOMICS) && !defined(__SANITIZE_THREAD__)
    /* Without LSE the builtin is a call of libgcc, which costs the caller its registers. Nobody but a signal handler of this
     * thread writes the cursor, and the way back from it ends the exclusive access: the loop goes round once in practice. */
    uint64_t was, next;
    uint32_t failed;
    __asm__ volatile("1:\tldxr %0, %3\n\tadd %1, %0, %4\n\tstxr %w2, %1, %3\n\tcbnz %w2, 1b"
                     : "=&r"(was), "=&r"(next), "=&r"(failed), "+Q"(hot->cursor)
                     : "r"(step));
    return was;
#else
    return __atomic_fetch_add(&hot->cursor, step, __ATOMIC_RELAXED);
#endif
}

/* Ask for the line after the next one, so that it is here when it is written: the recorder had it last. */
STROBE_INLINE void strobe_fetch_ahead(const uint64_t *slot)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*((const char *)slot + 128)));
#else
    __builtin_prefetch((const char *)slot + 128, 1);
#endif
}

/* The hot path: read the clock, reserve a word, check it, store it: in this order (docs/ring-protocol.md has the reasons).
 * 1: stored. 0: call strobe_emit_slow with the word that was reserved, or NULL. `fetch` 1: prefetch the line after next. */
STROBE_INLINE int strobe_emit_fast(uint64_t word, uint64_t **reserved, int fetch)
{
    struct strobe_hot *hot = strobe_hot_now;
#if defined(__x86_64__)
    uint64_t lo, hi; /* rdtsc clears their upper halves */
    __asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
#define STROBE_EPOCH_IS_NEW(epoch) ((uint32_t)hi != (epoch))
#define STROBE_STAMP(word)         ((word) | lo)
#else /* cut in halves where they are used: in the same instructions. The word's lower half is 0 */
    uint64_t ticks = strobe_ticks();
#define STROBE_EPOCH_IS_NEW(epoch) (ticks >> 32 != (epoch))
#define STROBE_STAMP(word)         ((word) + (uint32_t)ticks)
#endif
    uint64_t cursor = strobe_reserve(hot, 1);
    *reserved = (uint64_t *)0;
    if (STROBE_UNLIKELY((int16_t)cursor <= 0))
        return 0;
    *reserved = (uint64_t *)(cursor >> 16);
    if (STROBE_UNLIKELY(STROBE_EPOCH_IS_NEW(hot->epoch)))
        return 0;
    __atomic_store_n(*reserved, STROBE_STAMP(word), __ATOMIC_RELEASE);
#undef STROBE_EPOCH_IS_NEW
#undef STROBE_STAMP
    if (fetch)
        strobe_fetch_ahead(*reserved);
    return 1;
}

/* enum strobe_emit_result. */
STROBE_INLINE int strobe_emit_with(uint64_t word, struct strobe_loc *loc, int fetch)
{
    uint64_t *slot;
    if (STROBE_LIKELY(strobe_emit_fast(word, &slot, fetch)))
        return STROBE_EMIT_STORED;
    return strobe_emit_slow(word, slot, loc) | STROBE_EMIT_SLOW;
}

STROBE_INLINE int strobe_emit(uint64_t word, struct strobe_loc *loc)
{
    return strobe_emit_with(word, loc, 0);
}

/* Whether the begin of a zone is in the stream. */
STROBE_INLINE int strobe_zone_is_emitted(const struct strobe_zone *zone)
{
    return zone->on == STROBE_EMIT_STORED || zone->on == STROBE_EMIT_STORED_SLOW;
}

/* An open zone of a location, for callers that keep no handle: about what strobe_zone_begin returned, if it was emitted. */
STROBE_INLINE struct strobe_zone strobe_zone_of(struct strobe_loc *loc)
{
    struct strobe_zone zone;
    zone.loc = loc;
    zone.word = __atomic_load_n(&loc->word, __ATOMIC_RELAXED);
    zone.gate = strobe_gate_now;
    zone.on = STROBE_EMIT_STORED_SLOW;
    return zone;
}

STROBE_INLINE struct strobe_zone strobe_zone_begin(struct strobe_loc *loc)
{
    struct strobe_zone zone;
    zone.loc = loc;
    zone.word = 0;
    zone.on = STROBE_EMIT_IDLE;
    zone.gate = strobe_gate_now;
    if (!strobe_gate_is_open(zone.gate))
        return zone;
    zone.word = __atomic_load_n(&loc->word, __ATOMIC_RELAXED);
    if (!strobe_gate_knows(zone.gate, zone.word))
        zone.on = strobe_begin_unnamed(loc) | STROBE_EMIT_SLOW;
    else
        zone.on = strobe_emit_with(zone.word, loc, 1);
    return zone;
}

STROBE_INLINE void strobe_zone_end(struct strobe_zone *zone)
{
    if (zone->on == STROBE_EMIT_STORED && zone->loc) {
        strobe_emit(zone->word ^ 1ull << 63, zone->loc); /* begin and end differ in this bit */
    } else if (zone->on == STROBE_EMIT_IDLE) {
        if (strobe_gate_is_open(zone->gate))
            strobe_end_unseen(zone->loc);
    } else {
        strobe_end_odd(zone->loc, zone->word, zone->on);
    }
}

#endif
