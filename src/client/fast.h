/* fast.h - the common case of emitting a record, without a call: for callers that know how many words it has, and for emit.c.
 * Runs inside the traced thread, signal handlers included. The order "clock, reserve, check, fill" and why: docs/ring-protocol.md.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_CLIENT_FAST_H
#define STROBE_CLIENT_FAST_H

#include "client/client.h"

/* Fill words that were reserved but can't be used, so that the stream has no hole in it. */
static inline void strobe_client_pad(uint64_t *at, uint32_t n_words)
{
    __atomic_store_n(at, STROBE_WORD_PAD | (uint64_t)n_words << 32, __ATOMIC_RELEASE);
}

/* The words of a record at its place, the first one last. The recorder may look, meanwhile, whether one of them is there
 * (collector/holes.c). */
static inline void strobe_client_fill(uint64_t *slot, const uint64_t *words, uint32_t n_words,
                                      uint64_t tick)
{
    if (n_words > 1) {
        __atomic_store_n(slot, STROBE_WORD_FILLING | (uint64_t)n_words << 32, __ATOMIC_RELAXED);
        __atomic_signal_fence(__ATOMIC_SEQ_CST); /* a kill may come between any two stores */
        for (uint32_t i = 1; i < n_words; i++)
            __atomic_store_n(slot + i, words[i], __ATOMIC_RELAXED);
    }
    __atomic_store_n(slot, words[0] | (uint32_t)tick, __ATOMIC_RELEASE);
}

/* The common case of a record, without a system call: its words are there and so is the epoch. In the order of the
 * inline path, so that a signal handler may emit between any two lines: the tick was read before. False: the long way,
 * strobe_client_emit. */
static inline bool strobe_client_put_fast_at(const uint64_t *words, uint32_t n_words, uint64_t tick)
{
    struct strobe_hot *hot = strobe_hot_now;
    const struct strobe_thread *thread = (const struct strobe_thread *)hot;
    if ((int16_t)hot->cursor < (int16_t)n_words || (uint32_t)(tick >> 32) != hot->epoch)
        return false; /* from here on it is a thread's: others have no word left */
    if (thread->n_cut || thread->generation != strobe_gate_now->active)
        return false; /* the recorder does not know yet who the thread is */
    uint64_t cursor = strobe_reserve(hot, n_words);
    int16_t left = (int16_t)cursor;
    uint64_t *slot = (uint64_t *)(cursor >> 16);
    if (left < (int16_t)n_words || (uint32_t)(tick >> 32) != hot->epoch) {
        if (left > 0)
            strobe_client_pad(slot, left < (int16_t)n_words ? (uint32_t)left : n_words);
        return false;
    }
    strobe_client_fill(slot, words, n_words, tick);
    strobe_fetch_ahead(slot + n_words);
    return true;
}

static inline bool strobe_client_put_fast(const uint64_t *words, uint32_t n_words)
{
    return strobe_client_put_fast_at(words, n_words, strobe_ticks());
}

/* The id of a name that the recorder of an open gate knows; 0: ask strobe_client_name_id. */
static inline uint64_t strobe_client_known_id(const struct strobe_name *name)
{
    uint64_t word = __atomic_load_n(&name->word, __ATOMIC_RELAXED);
    return strobe_gate_knows(strobe_gate_now, word) ? (word >> 32) & STROBE_WORD_ID_MAX : 0;
}

#endif
