/* emit.c - the slow ways to emit: a new segment, a new epoch, records of several words, texts of
 * any length. Runs inside the traced thread, signal handlers included: never allocates, prints or
 * exits. The order "clock, reserve, check, fill" and why: docs/ring-protocol.md.
 * SPDX-License-Identifier: MIT */
#include "client/client.h"

#include <errno.h>
#include <string.h>

/* Fill words that were reserved but can't be used, so that the stream has no hole in it. */
static void pad(uint64_t *at, uint32_t n_words)
{
    __atomic_store_n(at, STROBE_WORD_PAD | (uint64_t)n_words << 32, __ATOMIC_RELEASE);
}

static uint32_t epoch_of(const struct strobe_pool *pool, uint64_t tick)
{
    return pool->control->clock == STROBE_CLOCK_TSC ? (uint32_t)(tick >> 32) : ~0u;
}

/* Say the upper half of the ticks that follow. Signals blocked. False: no word left for it. */
static bool put_epoch(struct strobe_thread *thread, uint64_t tick)
{
    uint64_t cursor = strobe_reserve(&thread->hot, 1);
    if ((int16_t)cursor <= 0)
        return false;
    __atomic_store_n((uint64_t *)(cursor >> 16), STROBE_WORD_EPOCH | (tick >> 32),
                     __ATOMIC_RELEASE);
    return true;
}

/* Emit with all signals blocked. On CLOCK_MONOTONIC the hot path's epoch never fits, so every event
 * comes here, and the epoch in force is read from the tick kept in the segment's reserved words. */
static int emit_blocked(struct strobe_pool *pool, struct strobe_thread *thread,
                        const uint64_t *words, uint32_t n_words)
{
    enum strobe_loss loss;
    bool mono = pool->control->clock != STROBE_CLOCK_TSC;
    for (;;) {
        uint64_t tick = strobe_ring_now(pool);
        if (thread->segment && (int16_t)thread->hot.cursor > 0) {
            uint32_t now = (uint32_t)(tick >> 32);
            uint32_t in_force = mono ? (uint32_t)(thread->segment->tick >> 32) + thread->mono_epochs
                                     : thread->hot.epoch;
            if (in_force != now && put_epoch(thread, tick)) {
                if (mono)
                    thread->mono_epochs += now - in_force;
                else
                    thread->hot.epoch = now;
            }
        }
        uint64_t cursor = strobe_reserve(&thread->hot, n_words);
        int16_t left = (int16_t)cursor;
        uint64_t *slot = (uint64_t *)(cursor >> 16);
        if (left >= (int16_t)n_words) {
            if (n_words > 1) {
                __atomic_store_n(slot, STROBE_WORD_FILLING | (uint64_t)n_words << 32,
                                 __ATOMIC_RELAXED);
                __atomic_signal_fence(
                    __ATOMIC_SEQ_CST); /* a kill may come between any two stores */
                memcpy(slot + 1, words + 1, 8 * (n_words - 1));
            }
            __atomic_store_n(slot, words[0] | (uint32_t)tick, __ATOMIC_RELEASE);
            return 1;
        }
        if (left > 0)
            pad(slot, (uint32_t)left);
        if (!strobe_ring_next_segment(pool, thread, &loss)) {
            strobe_ring_count_loss(pool, thread, loss);
            return 2;
        }
        thread->mono_epochs = 0;
        thread->hot.epoch = epoch_of(pool, thread->segment->tick);
    }
}

/* The common frame of all slow emits: pool, thread, signals, errno. */
static int emit_record(const uint64_t *words, uint32_t n_words, uint64_t *reserved)
{
    int saved_errno = errno, result = 2;
    sigset_t old;
    strobe_client_block(&old);
    if (reserved)
        pad(reserved, 1);
    struct strobe_pool *pool = strobe_client_pool();
    if (pool && pool->control->active) {
        struct strobe_thread *thread = strobe_client_thread(pool);
        if (thread)
            result = emit_blocked(pool, thread, words, n_words);
        else
            strobe_ring_count_loss(pool, NULL, STROBE_LOSS_UNNAMED);
    }
    strobe_client_unblock(&old);
    errno = saved_errno;
    return result;
}

int strobe_client_emit(const uint64_t *words, uint32_t n_words)
{
    return emit_record(words, n_words, NULL);
}

int strobe_emit_slow(uint64_t word, uint64_t *reserved)
{
    return emit_record(&word, 1, reserved);
}

/* ---- texts ---- */

enum { PIECE_BYTES = 8 * 90 };

static uint32_t put_text(uint64_t *at, const char *text, size_t n_bytes)
{
    uint32_t n_words = (uint32_t)(n_bytes + 7) / 8;
    at[0] = n_bytes;
    if (n_words) {
        at[n_words] = 0;
        memcpy(at + 1, text, n_bytes);
    }
    return 1 + n_words;
}

int strobe_client_emit_text(enum strobe_kind kind, const uint64_t *fields, uint32_t n_fields,
                            const char *text, size_t n_bytes)
{
    uint64_t words[STROBE_RECORD_WORDS_MAX];
    int result = 1;
    sigset_t old;
    bool pieces = n_bytes > PIECE_BYTES;
    if (pieces) /* a handler's own text must not come between them */
        strobe_client_block(&old);
    while (n_bytes > PIECE_BYTES && result == 1) {
        uint32_t n = 1 + put_text(words + 1, text, PIECE_BYTES);
        words[0] = STROBE_RECORD_WORD(STROBE_KIND_STR_PIECE, n);
        result = strobe_client_emit(words, n);
        text += PIECE_BYTES;
        n_bytes -= PIECE_BYTES;
    }
    if (result == 1) {
        for (uint32_t i = 0; i < n_fields; i++)
            words[1 + i] = fields[i];
        uint32_t n = 1 + n_fields + put_text(words + 1 + n_fields, text, n_bytes);
        words[0] = STROBE_RECORD_WORD(kind, n);
        result = strobe_client_emit(words, n);
    }
    if (pieces)
        strobe_client_unblock(&old);
    return result;
}

/* All texts but the last are cut to a size that leaves room; the last goes ahead in pieces. */
bool strobe_client_meta(struct strobe_pool *pool, enum strobe_meta kind, const uint64_t *numbers,
                        uint32_t n_numbers, const char *const *texts, const size_t *n_bytes,
                        uint32_t n_texts)
{
    enum { CUT = 1400, LAST = 2400 };
    uint64_t words[STROBE_META_WORDS_MAX];
    const char *last = n_texts ? texts[n_texts - 1] : "";
    size_t n_last = n_texts ? n_bytes[n_texts - 1] : 0;
    while (n_last > LAST) {
        uint32_t n = 1 + put_text(words + 1, last, LAST);
        words[0] = STROBE_RECORD_WORD(STROBE_KIND_STR_PIECE, n);
        if (!strobe_ring_meta(pool, words, n))
            return false;
        last += LAST;
        n_last -= LAST;
    }
    for (uint32_t i = 0; i < n_numbers; i++)
        words[1 + i] = numbers[i];
    uint32_t n = 1 + n_numbers;
    for (uint32_t i = 0; i + 1 < n_texts; i++)
        n += put_text(words + n, texts[i], n_bytes[i] < CUT ? n_bytes[i] : CUT);
    if (n_texts)
        n += put_text(words + n, last, n_last);
    words[0] = STROBE_RECORD_WORD(kind, n);
    return strobe_ring_meta(pool, words, n);
}
