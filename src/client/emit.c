/* emit.c - the slow ways to emit: a new segment, a new epoch, records of several words, texts of
 * any length. Runs inside the traced thread, signal handlers included: never allocates, prints or
 * exits. The order "clock, reserve, check, fill" and why: docs/ring-protocol.md.
 * SPDX-License-Identifier: MIT */
#include "client/fast.h"

#include <errno.h>
#include <string.h>

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

/* On CLOCK_MONOTONIC the hot path's epoch never fits, so every event comes here, and the epoch in force is read from the tick
 * kept in the segment's head. */
bool strobe_client_put(struct strobe_pool *pool, struct strobe_thread *thread,
                       const uint64_t *words, uint32_t n_words, uint64_t past,
                       enum strobe_loss *loss)
{
    bool mono = pool->control->clock != STROBE_CLOCK_TSC;
    for (;;) {
        uint64_t tick = past ? past : strobe_ring_now(pool);
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
            strobe_client_fill(slot, words, n_words, tick);
            return true;
        }
        if (left > 0)
            strobe_client_pad(slot, (uint32_t)left);
        if (!strobe_ring_next_segment(pool, thread, loss))
            return false;
        thread->mono_epochs = 0;
        thread->hot.epoch = epoch_of(pool, thread->segment->tick);
    }
}

static int emit_blocked(struct strobe_pool *pool, struct strobe_thread *thread,
                        const uint64_t *words, uint32_t n_words, uint64_t past)
{
    enum strobe_loss loss;
    uint64_t end_id = strobe_client_end_id(words), tick = end_id ? strobe_ring_now(pool) : 0;
    bool room =
        strobe_client_settle(pool, thread, &loss) &&
        (!thread->n_cut || strobe_client_put(pool, thread, thread->cut, thread->n_cut, 0, &loss));
    if (room) {
        thread->n_cut = 0;
        room = strobe_client_put(pool, thread, words, n_words, past, &loss);
    }
    if (room)
        return 1;
    if (!__atomic_load_n(&pool->control->active, __ATOMIC_SEQ_CST))
        return STROBE_NOBODY; /* the recorder left while it slept: none of that recording */
    if (end_id && strobe_client_owe(pool, thread, end_id, tick, loss))
        return 1;
    strobe_ring_count_loss(pool, thread, loss);
    return STROBE_DROPPED(loss);
}

/* A forked child may learn only here that it is one, with a word in hand that its parent named:
 * name the location anew. 0: no room for the name. */
static uint64_t renamed(const struct strobe_pool *pool, uint64_t word, struct strobe_loc *loc)
{
    if ((word | STROBE_WORD_BEGIN) >= pool->control->floor)
        return word;
    uint64_t id = strobe_client_loc_id(loc);
    return id ? (word & STROBE_WORD_BEGIN) | id << 32 : 0;
}

/* What handlers that jumped away left, and what the thread needs should it have to sleep. */
static void look_back(struct strobe_pool *pool, struct strobe_thread *thread,
                      const struct strobe_mask *old, const void *frame)
{
    strobe_ring_forget_sleep(pool, thread, frame);
    if (!thread->waiting) {
        thread->mask = *old;
        thread->frame = frame;
    }
    strobe_ring_mend(pool, thread, frame);
}

/* There is no memory for the thread's state, and will be none for a moment. */
static void lose_stateless(struct strobe_pool *pool)
{
    struct strobe_front *front = (struct strobe_front *)strobe_hot_now;
    strobe_ring_count_loss(pool, NULL, STROBE_LOSS_NO_STATE);
    strobe_ring_note_dry(pool, &front->dry, pool->control->n_given, STROBE_LOSS_NO_STATE);
}

/* The common frame of all slow emits: pool, thread, signals, errno. `loc`: of a word, else NULL. */
static int emit_record(const uint64_t *words, uint32_t n_words, uint64_t *reserved,
                       struct strobe_loc *loc, uint64_t past)
{
    int saved_errno = errno, result = STROBE_NOBODY;
    const void *frame = __builtin_frame_address(0);
    struct strobe_mask old;
    strobe_ring_block(&old);
    struct strobe_pool *pool = strobe_client_pool();
    if (reserved && pool && strobe_ring_owns(pool, reserved)) /* not a forked parent's */
        strobe_client_pad(reserved, 1);
    if (pool && strobe_ring_enter(pool)) {
        struct strobe_thread *thread = strobe_client_thread(pool);
        result = STROBE_DROPPED(thread ? STROBE_LOSS_UNNAMED : STROBE_LOSS_NO_STATE);
        uint64_t word = loc ? renamed(pool, words[0], loc) : 0;
        if (thread)
            look_back(pool, thread, &old, frame);
        if (loc && !word)
            strobe_ring_count_loss(pool, thread, STROBE_LOSS_UNNAMED);
        else if (thread)
            result = emit_blocked(pool, thread, loc ? &word : words, n_words, past);
        else
            lose_stateless(pool);
    }
    if (pool)
        strobe_ring_leave(pool);
    strobe_ring_unblock(&old);
    errno = saved_errno;
    return result;
}

/* Each dropped event that went through the hot path has taken a word that is not there: the count of words left must not wrap, nor
 * may a segment that a handler gets here be lost. */
static bool has_no_word(uint64_t *cursor)
{
    enum { FEW = -8192 };
    uint64_t seen = __atomic_load_n(cursor, __ATOMIC_RELAXED);
    if ((int16_t)seen <= 0 && (int16_t)seen < FEW)
        __atomic_compare_exchange_n(cursor, &seen, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return (int16_t)seen <= 0;
}

int strobe_client_drop_dry(void)
{
    struct strobe_front *front = (struct strobe_front *)strobe_hot_now;
    struct strobe_pool *pool = front->dry.until ? strobe_ring_own_pool() : NULL;
    uint64_t now = pool ? strobe_ring_now(pool) : 0;
    enum strobe_loss loss = front->dry.loss;
    if (!pool || !strobe_ring_is_dry(pool, &front->dry, now) || !has_no_word(&front->hot.cursor))
        return 0;
    strobe_ring_count_loss_at(pool, strobe_client_known_thread(), loss, now);
    return STROBE_DROPPED(loss);
}

int strobe_client_emit(const uint64_t *words, uint32_t n_words)
{
    if (strobe_gate_now->active && strobe_client_put_fast(words, n_words))
        return 1;
    int dropped = strobe_client_end_id(words) ? 0 : strobe_client_drop_dry(); /* ends are owed */
    return dropped ? dropped : emit_record(words, n_words, NULL, NULL, 0);
}

void strobe_client_emit_past(uint64_t word, uint64_t tick)
{
    emit_record(&word, 1, NULL, NULL, tick);
}

int strobe_emit_slow(uint64_t word, uint64_t *reserved, struct strobe_loc *loc)
{
    int dropped = reserved || STROBE_WORD_IS_END(word) ? 0 : strobe_client_drop_dry();
    return dropped ? dropped : emit_record(&word, 1, reserved, loc, 0);
}

/* ---- texts ---- */

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

/* The rest of a text was dropped after its first pieces were stored: what they belong to comes
 * before the next text. */
static void remember_cut(enum strobe_kind kind, const uint64_t *fields, uint32_t n_fields)
{
    struct strobe_pool *pool = strobe_client_pool();
    struct strobe_thread *thread =
        pool && pool->control->active ? strobe_client_thread(pool) : NULL;
    if (!thread)
        return;
    thread->cut[0] = STROBE_RECORD_WORD(kind, 2 + n_fields);
    memcpy(thread->cut + 1, fields, 8 * n_fields);
    thread->cut[1 + n_fields] = 0; /* no further text */
    thread->n_cut = 2 + n_fields;
}

/* A handler's own text must not come between the pieces of another: signals stay blocked from the first one on. */
void strobe_client_text_open(struct strobe_long_text *text)
{
    *text = (struct strobe_long_text){.result = 1};
}

void strobe_client_text_piece(struct strobe_long_text *text, const char *bytes, size_t n_bytes)
{
    uint64_t words[STROBE_RECORD_WORDS_MAX];
    if (!text->is_blocked)
        strobe_ring_block(&text->old);
    text->is_blocked = true;
    if (text->result != 1)
        return;
    uint32_t n = 1 + put_text(words + 1, bytes, n_bytes);
    words[0] = STROBE_RECORD_WORD(STROBE_KIND_STR_PIECE, n);
    text->result = strobe_client_emit(words, n);
    text->is_stored |= text->result == 1;
}

int strobe_client_text_close(struct strobe_long_text *text, enum strobe_kind kind,
                             const uint64_t *fields, uint32_t n_fields, const char *bytes,
                             size_t n_bytes)
{
    uint64_t words[STROBE_RECORD_WORDS_MAX];
    if (text->result == 1) {
        for (uint32_t i = 0; i < n_fields; i++)
            words[1 + i] = fields[i];
        uint32_t n = 1 + n_fields + put_text(words + 1 + n_fields, bytes, n_bytes);
        words[0] = STROBE_RECORD_WORD(kind, n);
        text->result = strobe_client_emit(words, n);
    }
    if (text->is_stored && text->result != 1)
        remember_cut(kind, fields, n_fields);
    if (text->is_blocked)
        strobe_ring_unblock(&text->old);
    return text->result;
}

int strobe_client_emit_text(enum strobe_kind kind, const uint64_t *fields, uint32_t n_fields,
                            const char *text, size_t n_bytes)
{
    struct strobe_long_text pieces;
    strobe_client_text_open(&pieces);
    for (; n_bytes > STROBE_PIECE_BYTES; n_bytes -= STROBE_PIECE_BYTES) {
        strobe_client_text_piece(&pieces, text, STROBE_PIECE_BYTES);
        text += STROBE_PIECE_BYTES;
    }
    return strobe_client_text_close(&pieces, kind, fields, n_fields, text, n_bytes);
}

/* End the text that the stored pieces belong to: a string that nobody uses. */
static bool end_cut_meta(struct strobe_pool *pool)
{
    uint64_t words[] = {STROBE_RECORD_WORD(STROBE_META_STRING, 3), 0, 0};
    if (pool->meta_cut && strobe_ring_meta(pool, words, 3))
        pool->meta_cut = false;
    return !pool->meta_cut;
}

/* All texts but the last are cut to a size that leaves room; the last goes ahead in pieces. */
bool strobe_client_meta(struct strobe_pool *pool, enum strobe_meta kind, const uint64_t *numbers,
                        uint32_t n_numbers, const char *const *texts, const size_t *n_bytes,
                        uint32_t n_texts)
{
    enum { CUT = 1400, LAST = 2400, NAME_MAX_BYTES = 64 << 10 };
    uint64_t *words = pool->record;
    const char *last = n_texts ? texts[n_texts - 1] : "";
    size_t n_last = n_texts ? n_bytes[n_texts - 1] : 0;
    if (!end_cut_meta(pool))
        return false;
    if (n_last > NAME_MAX_BYTES)
        n_last = NAME_MAX_BYTES;
    while (n_last > LAST) {
        uint32_t n = 1 + put_text(words + 1, last, LAST);
        words[0] = STROBE_RECORD_WORD(STROBE_KIND_STR_PIECE, n);
        if (!strobe_ring_meta(pool, words, n))
            return false;
        pool->meta_cut = true;
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
    if (!strobe_ring_meta(pool, words, n))
        return false;
    pool->meta_cut = false;
    return true;
}
