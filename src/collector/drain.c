/* drain.c - from the words of a stream to events in the encoder.
 *
 * The process is not trusted: every word is loaded once, every record is copied before it is looked
 * at, every length is checked. What makes no sense costs the process that segment, and is counted.
 *
 * Ticks: a word has the lower half, the stream's epoch the upper one. A signal handler that emitted
 * between another event's clock read and its reservation leaves a tick a little earlier than the
 * one before; such a tick is moved up to its predecessor, so that a stream never goes back in time.
 * SPDX-License-Identifier: MIT */
#include "collector/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

static const char *const event_fields[STROBE_KIND_COUNT] = {
#define X(name, number, text, fields, names) [number] = fields,
    STROBE_KIND_LIST(X) STROBE_KIND_LATER_LIST(X)
#undef X
};
static const char *const meta_fields[STROBE_META_COUNT] = {
#define X(name, number, text, fields, names) [number] = fields,
    STROBE_META_LIST(X)
#undef X
};

enum { FIELD_BYTES = 8 * STROBE_META_WORDS_MAX + 64 };

/* One record's payload words to the fields of the file. The bytes written, or -1 for nonsense. */
static int convert_fields(const char *letters, const uint64_t *words, uint32_t n_words,
                          uint8_t *out)
{
    const uint64_t *at = words, *end = words + n_words;
    uint8_t *start = out;
    for (; *letters; letters++) {
        if (at == end)
            return -1;
        uint64_t value = *at++;
        uint64_t n = 0, last = 0;
        switch (*letters) {
        case 'i':
            out = strobe_varint_put(out, strobe_zigzag((int64_t)value));
            break;
        case 'd':
            memcpy(out, &value, 8);
            out += 8;
            break;
        case 's':
            n = (value + 7) / 8;
            if (value > 8ull * STROBE_META_WORDS_MAX || n > (uint64_t)(end - at))
                return -1;
            out = strobe_varint_put(out, value);
            memcpy(out, at, value);
            out += value;
            at += n;
            break;
        case 'a':
            if (value > (uint64_t)(end - at))
                return -1;
            out = strobe_varint_put(out, value);
            for (n = 0; n < value; n++) {
                out = strobe_varint_put(out, strobe_zigzag((int64_t)(at[n] - last)));
                last = at[n];
            }
            at += value;
            break;
        default:
            out = strobe_varint_put(out, value);
        }
    }
    STROBE_ASSERT(out - start <= FIELD_BYTES + 2 * STROBE_META_WORDS_MAX);
    return at == end ? (int)(out - start) : -1;
}

static inline uint64_t load(const uint64_t *at)
{
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

/* The full tick of a word, never before the one before. */
static inline uint64_t tick_of(struct strobe_stream_state *stream, uint64_t word)
{
    uint64_t tick = (uint64_t)stream->epoch << 32 | (uint32_t)word;
    if (__builtin_expect(tick < stream->prev_tick, 0)) {
        if (stream->prev_tick - tick > 1ull << 31)
            tick += 1ull << 32;
        if (tick < stream->prev_tick)
            tick = stream->prev_tick;
    }
    STROBE_ASSERT(tick >= stream->prev_tick);
    stream->prev_tick = tick;
    return tick;
}

/* A copy of the record at `at`, of which `left` words are in the segment. Its words, or 0 for
 * nonsense. */
static uint32_t copy_record(const uint64_t *at, uint64_t word, uint64_t left, uint64_t *copy)
{
    uint32_t n = (uint32_t)(word >> 32) & 0xffff;
    if (n == 0 || n > left || n > STROBE_META_WORDS_MAX)
        return 0;
    copy[0] = word;
    for (uint32_t i = 1; i < n; i++)
        copy[i] = __atomic_load_n(at + i, __ATOMIC_RELAXED);
    return n;
}

/* A record that is shorter than its fields (ring_layout.h) to its whole length. Its words. */
static uint32_t lengthen(uint32_t kind, uint64_t *copy, uint32_t n)
{
    bool is_block = kind == STROBE_KIND_MEM_BLOCK && n == STROBE_SHORT_BLOCK_WORDS;
    bool is_free = kind == STROBE_KIND_MEM_FREE && n == STROBE_SHORT_FREE_WORDS;
    if (!is_block && !is_free)
        return n;
    uint64_t where = copy[1], what = copy[2];
    copy[1] = where >> (64 - STROBE_SHORT_POOL_BITS);
    copy[2] = where << STROBE_SHORT_POOL_BITS >> STROBE_SHORT_POOL_BITS;
    if (is_free)
        return 3;
    copy[3] = what << STROBE_SHORT_STACK_BITS >> STROBE_SHORT_STACK_BITS;
    copy[4] = 0; /* weight */
    copy[5] = what >> (64 - STROBE_SHORT_STACK_BITS);
    copy[6] = 0; /* old */
    return 7;
}

/* One record of several words to the encoder. Words taken, 0 for nonsense. */
static uint32_t take_record(struct strobe_collector *c, struct strobe_stream_state *stream,
                            const uint64_t *at, uint64_t word, uint64_t left)
{
    uint64_t copy[STROBE_META_WORDS_MAX];
    uint8_t fields[FIELD_BYTES + 2 * STROBE_META_WORDS_MAX];
    uint32_t n = copy_record(at, word, left, copy);
    uint32_t kind = (uint32_t)(word >> 48) & 0xfff;
    if (!n || kind >= STROBE_KIND_COUNT || !event_fields[kind])
        return 0;
    if (kind == STROBE_KIND_ZONE_BEGIN || kind == STROBE_KIND_ZONE_END_AT) {
        if (n != 2)
            return 0;
        uint64_t tick = tick_of(stream, word);
        if (kind == STROBE_KIND_ZONE_BEGIN)
            strobe_encode_zone_begin(&c->block.enc, tick, copy[1]);
        else
            strobe_encode_zone_end(&c->block.enc, tick, copy[1]);
        return n;
    }
    if (kind <= STROBE_KIND_ZONE_END_POP || kind == STROBE_KIND_ZONE_END_UNDER)
        return 0; /* the file's own */
    if (kind == STROBE_KIND_ZONE_LOOSE) {
        strobe_encode_zone_loose(&c->block.enc, tick_of(stream, word));
        return n;
    }
    const uint64_t *from = copy + 1;
    if (kind >= STROBE_KIND_ZONE_TEXT_AT && kind <= STROBE_KIND_ZONE_COLOR_AT && n > 1 &&
        strobe_encode_is_innermost(&c->block.enc, copy[1])) {
        kind -= STROBE_KIND_ZONE_TEXT_AT - STROBE_KIND_ZONE_TEXT; /* the name says nothing more */
        from++;
    }
    uint32_t n_whole = lengthen(kind, copy, n);
    int n_bytes =
        convert_fields(event_fields[kind], from, (uint32_t)(copy + n_whole - from), fields);
    if (n_bytes < 0)
        return 0;
    strobe_encode_event(&c->block.enc, tick_of(stream, word), (enum strobe_kind)kind, fields,
                        (size_t)n_bytes);
    strobe_collector_learn_event(c, kind, copy);
    return n;
}

/* Words that carry nothing: pads, and what a signal handler left when it jumped away. */
static bool is_empty(uint64_t word)
{
    return word >> 56 == STROBE_WORD_PAD >> 56 || word >> 56 == STROBE_WORD_ABANDONED >> 56;
}

/* What takes no part in the hot loop: records, epochs, pads. Words taken, 0 for nonsense. */
static uint32_t take_odd(struct strobe_collector *c, struct strobe_proc *proc,
                         struct strobe_stream_state *stream, const uint64_t *at, uint64_t word,
                         uint64_t left)
{
    if (word >> 60 == STROBE_WORD_RECORD >> 60)
        return take_record(c, stream, at, word, left);
    if (word >> 32 == STROBE_WORD_EPOCH >> 32) {
        stream->epoch = (uint32_t)word;
        return 1;
    }
    uint32_t n = (uint32_t)(word >> 32) & 0xffff;
    if (!is_empty(word) || n < 1 || n > left)
        return 0;
    if (word >> 56 == STROBE_WORD_ABANDONED >> 56)
        strobe_collector_lose(c, proc->id, stream->id, STROBE_LOSS_ABANDONED, 1, stream->prev_tick,
                              stream->prev_tick);
    return n;
}

/* A record's place whose words are not all there yet. */
static bool is_filling(uint64_t word)
{
    return word >> 56 == STROBE_WORD_FILLING >> 56;
}

/* An end without a begin may carry an id that was named to an earlier recorder, or by the parent
 * before a fork: the zone has begun then. Name it as what it is. */
static void name_old(struct strobe_collector *c, struct strobe_proc *proc, uint64_t id)
{
    static const char name[] = "(begun before)";
    enum { OLD_MAX = 1 << 20 };
    if (!proc->old_named && proc->old_below && proc->old_below <= OLD_MAX)
        proc->old_named = calloc(proc->old_below / 8 + 1, 1);
    if (!proc->old_named || proc->old_named[id / 8] & 1 << id % 8)
        return;
    STROBE_ASSERT(id < proc->old_below);
    proc->old_named[id / 8] |= (uint8_t)(1 << id % 8);
    strobe_records_begin(&c->block.records, STROBE_META_LOC);
    strobe_records_u(&c->block.records, proc->id);
    strobe_records_u(&c->block.records, id);
    for (int i = 0; i < 4; i++) /* line, colour, function, file */
        strobe_records_u(&c->block.records, 0);
    strobe_records_s(&c->block.records, name, sizeof name - 1);
    strobe_records_end(&c->block.records);
}

/* Take words from `at` to `end` while there are any and the block has room. Where it stopped; *bad:
 * at nonsense. */
static const uint64_t *take_words(struct strobe_collector *c, struct strobe_proc *proc,
                                  struct strobe_stream_state *stream, const uint64_t *at,
                                  const uint64_t *end, bool *bad)
{
    struct strobe_encoder *enc = &c->block.enc;
    STROBE_ASSERT(enc->track == &stream->track);
    while (at < end && !strobe_encode_is_full(enc)) {
        at = strobe_encode_words(enc, at, end, stream->epoch, &stream->prev_tick);
        if (at == end || strobe_encode_is_full(enc))
            break;
        uint64_t word = load(at);
        if (STROBE_WORD_IS_BEGIN(word)) {
            strobe_encode_zone_begin(enc, tick_of(stream, word), (word >> 32) & STROBE_WORD_ID_MAX);
            at++;
        } else if (STROBE_WORD_IS_END(word)) {
            uint64_t id = (word >> 32) & STROBE_WORD_ID_MAX;
            id = id ? id : strobe_collector_late_end(proc, &stream->track);
            if (id < proc->old_below)
                name_old(c, proc, id);
            strobe_encode_zone_end(enc, tick_of(stream, word), id);
            at++;
        } else if (!word || is_filling(word)) {
            break;
        } else {
            uint32_t n = take_odd(c, proc, stream, at, word, (uint64_t)(end - at));
            if (!n) {
                *bad = true;
                break;
            }
            at += n;
        }
    }
    STROBE_ASSERT(at <= end);
    return at;
}

/* Learn the epoch at `pos` from the words before it (already stored, e.g. by a recorder that died).
 */
static void replay_epoch(struct strobe_stream_state *stream, const uint64_t *words, uint64_t n)
{
    for (uint64_t i = 0; i < n;) {
        uint64_t word = load(words + i);
        uint32_t step = 1;
        if (word >> 32 == STROBE_WORD_EPOCH >> 32)
            stream->epoch = (uint32_t)word;
        else if (word >> 60 == STROBE_WORD_RECORD >> 60 || is_empty(word) || is_filling(word))
            step = (uint32_t)(word >> 32) & 0xffff;
        i += step ? step : 1;
    }
}

/* How many of a segment's words are written. */
static uint64_t written_words(const uint64_t *words, uint64_t n)
{
    uint64_t i = 0, word;
    while (i < n && (word = load(words + i)) && word >> 56 != STROBE_WORD_FILLING >> 56) {
        uint32_t step = 1;
        if (word >> 60 == STROBE_WORD_RECORD >> 60 || is_empty(word))
            step = (uint32_t)(word >> 32) & 0xffff;
        i += step ? step : 1;
    }
    return i < n ? i : n;
}

static void remove_segment(struct strobe_stream_state *stream,
                           const struct strobe_segment *segment);

static void skip_old(struct strobe_proc *proc, struct strobe_stream_state *stream)
{
    while (stream->n_segments) {
        struct strobe_segment segment = stream->segments[0];
        STROBE_ASSERT(proc->attached && stream->state == STROBE_STREAM_RUNNING);
        uint64_t n = written_words(strobe_ring_words(&proc->ring, &segment), segment.n_words);
        stream->pos = segment.base_pos + n;
        stream->begun = true;
        if (n < segment.n_words)
            return;
        remove_segment(stream, &segment);
        strobe_segment_move(&segment, STROBE_SEGMENT_SKIPPED);
        strobe_ring_give_back(&proc->ring, &segment);
    }
}

void strobe_collector_skip_old(struct strobe_proc *proc)
{
    strobe_ring_scan(&proc->ring, strobe_collector_add_segment, proc);
    skip_old(proc, &proc->meta);
    for (uint32_t i = 0; i < proc->n_slots; i++)
        if (proc->streams[i])
            skip_old(proc, proc->streams[i]);
}

static void enter_segment(struct strobe_stream_state *stream, const struct strobe_segment *segment,
                          const uint64_t *words)
{
    STROBE_ASSERT(stream->pos >= segment->base_pos);
    STROBE_ASSERT(stream->pos < segment->base_pos + segment->n_words);
    stream->epoch = (uint32_t)(segment->tick >> 32);
    if (stream->pos > segment->base_pos)
        replay_epoch(stream, words, stream->pos - segment->base_pos);
    stream->epoch_known = true;
}

/* Take a segment that is done out of the list. It is the first one, unless the process lies: it may have opened one for
 * positions before it meanwhile, which a scan in between found. */
static void remove_segment(struct strobe_stream_state *stream, const struct strobe_segment *segment)
{
    uint32_t i = 0;
    while (i < stream->n_segments &&
           (stream->segments[i].chunk != segment->chunk || stream->segments[i].bit != segment->bit))
        i++;
    STROBE_ASSERT(i < stream->n_segments);
    STROBE_ASSERT(stream->segments[i].base_pos == segment->base_pos);
    STROBE_ASSERT(stream->segments[i].state == STROBE_SEGMENT_FOUND);
    stream->n_segments--;
    memmove(stream->segments + i, stream->segments + i + 1,
            (stream->n_segments - i) * sizeof *stream->segments);
    stream->epoch_known = false;
}

/* All words of the segment are taken: it goes back once they are written. */
static void retire_segment(struct strobe_collector *c, struct strobe_proc *proc,
                           struct strobe_stream_state *stream, struct strobe_segment *segment)
{
    STROBE_ASSERT(stream->state == STROBE_STREAM_ENDED ||
                  stream->pos >= segment->base_pos + segment->n_words);
    remove_segment(stream, segment);
    strobe_segment_move(segment, STROBE_SEGMENT_DRAINED);
    strobe_collector_pend(c, proc, segment, stream == &proc->meta);
}

/* The rest of the first segment makes no sense: count it and go on behind it. */
static void skip_damage(struct strobe_collector *c, struct strobe_proc *proc,
                        struct strobe_stream_state *stream, uint64_t n_words, uint32_t cause)
{
    /* more than any pool holds: the program wrote over its own heads */
    n_words = n_words < STROBE_LOST_MAX ? n_words : 1;
    strobe_collector_lose(c, proc->id, stream->id, cause, n_words, stream->prev_tick,
                          stream->prev_tick);
    proc->n_damaged++;
}

/* In a dead process an unwritten word is a record that was never finished, of a thread that ended in good order one
 * that a handler jumped out of; what was written behind it is still good. Words to skip, or 0 when nothing follows. */
static uint64_t unfinished_words(const uint64_t *at, const uint64_t *end)
{
    const uint64_t *next = at;
    uint64_t word = load(at), n = (word >> 32) & 0xffff;
    if (is_filling(word))
        return n && n <= (uint64_t)(end - at) ? n : 1;
    while (next < end && !load(next))
        next++;
    STROBE_ASSERT(next <= end);
    return next < end ? (uint64_t)(next - at) : 0;
}

/* What is not written now will never be, or not for this recording. */
static bool is_over(const struct strobe_collector *c, const struct strobe_proc *proc,
                    const struct strobe_stream_state *stream)
{
    return strobe_proc_is_dead(proc) || stream->state == STROBE_STREAM_ENDED || c->ending;
}

static void lose_unfinished(struct strobe_collector *c, struct strobe_proc *proc,
                            struct strobe_stream_state *stream)
{
    uint32_t cause = strobe_proc_is_dead(proc) || stream->state != STROBE_STREAM_ENDED
                         ? STROBE_LOSS_UNFINISHED
                         : STROBE_LOSS_ABANDONED;
    strobe_collector_lose(c, proc->id, stream->id, cause, 1, stream->prev_tick, stream->prev_tick);
    proc->n_damaged += strobe_proc_is_dead(proc);
}

static void begin_part(struct strobe_collector *c, struct strobe_proc *proc,
                       struct strobe_stream_state *stream, uint64_t pos)
{
    STROBE_ASSERT(!c->block.enc.track);
    STROBE_ASSERT(strobe_proc_is_open(proc) && !strobe_proc_is_over(proc));
    if (!c->block.enc.n_parts)
        c->block_started_ns = strobe_collector_mono_ns();
    strobe_encode_begin_part(&c->block.enc, &stream->track, proc->id, stream->id, pos);
}

/* Did a zone of the name that was asked for take too long in this part? */
static void check_zone_limit(struct strobe_collector *c, const struct strobe_proc *proc)
{
    const struct strobe_encoder *enc = &c->block.enc;
    for (uint32_t k = 0; k < c->n_trigger_locs && c->trigger_ticks; k++)
        for (uint32_t i = 0; i < enc->n_locs && i < STROBE_STAT_LOCS; i++)
            if (c->trigger_locs[k].proc == proc->id && c->trigger_locs[k].loc == enc->locs[i] &&
                enc->sums[i].count && enc->sums[i].max >= c->trigger_ticks)
                c->triggered = true;
}

/* The begin of a thread that stood still in the midst of an emit while one recorder left and the next one came has an
 * id of the former, too. */
static void name_old_begins(struct strobe_collector *c, struct strobe_proc *proc)
{
    const struct strobe_encoder *enc = &c->block.enc;
    for (uint32_t i = 0; proc->old_below > 1 && i < enc->n_locs; i++)
        if (enc->locs[i] < proc->old_below)
            name_old(c, proc, enc->locs[i]);
}

static void end_part(struct strobe_collector *c, struct strobe_proc *proc,
                     struct strobe_stream_state *stream, uint64_t from)
{
    STROBE_ASSERT(c->block.enc.track == &stream->track);
    STROBE_ASSERT(c->block.enc.pos == from && stream->pos >= from);
    check_zone_limit(c, proc);
    name_old_begins(c, proc);
    c->n_taken_events += strobe_build_block_end_part(&c->block, stream->pos - from);
}

/* Take what one segment has. True: it was consumed to its end. */
static bool drain_segment(struct strobe_collector *c, struct strobe_proc *proc,
                          struct strobe_stream_state *stream, const struct strobe_segment *segment,
                          uint64_t *from)
{
    const uint64_t *words = strobe_ring_words(&proc->ring, segment);
    const uint64_t *end = words + segment->n_words;
    if (!stream->epoch_known)
        enter_segment(stream, segment, words);
    for (;;) {
        STROBE_ASSERT(stream->pos >= segment->base_pos);
        STROBE_ASSERT(stream->pos <= segment->base_pos + segment->n_words);
        const uint64_t *at = words + (stream->pos - segment->base_pos);
        bool bad = false;
        const uint64_t *stopped = take_words(c, proc, stream, at, end, &bad);
        STROBE_ASSERT(stopped >= at);
        stream->pos += (uint64_t)(stopped - at);
        STROBE_ASSERT(stream->pos == segment->base_pos + (uint64_t)(stopped - words));
        if (stopped == end)
            return true;
        if (bad) {
            skip_damage(c, proc, stream, (uint64_t)(end - stopped), STROBE_LOSS_DAMAGED);
            stream->pos = segment->base_pos + segment->n_words;
            return true;
        }
        if (strobe_encode_is_full(&c->block.enc)) {
            end_part(c, proc, stream, *from);
            strobe_collector_flush_events(c);
            *from = stream->pos;
            begin_part(c, proc, stream, stream->pos);
            continue;
        }
        uint64_t skip = is_over(c, proc, stream) ? unfinished_words(stopped, end) : 0;
        if (!skip && !is_over(c, proc, stream))
            strobe_collector_ask_for(proc, stream, stopped, end);
        if (!skip)
            return false;
        STROBE_ASSERT(skip <= (uint64_t)(end - stopped));
        lose_unfinished(c, proc, stream);
        stream->pos += skip;
    }
}

/* A segment is missing before the first one known. A scan may pass a place before it is taken and
 * then find later ones; but one that begins now finds all that were opened before those. False: it
 * does not exist, the process lied. */
static bool find_missing(struct strobe_proc *proc, struct strobe_stream_state *stream)
{
    uint64_t first = stream->segments[0].base_pos;
    if (!strobe_proc_is_dead(proc))
        strobe_ring_scan(&proc->ring, strobe_collector_add_segment, proc);
    return stream->segments[0].base_pos < first;
}

/* Nothing was written where the next word is expected; a line or two further would be what a hole hides. */
static bool is_quiet(struct strobe_proc *proc, struct strobe_stream_state *stream,
                     const struct strobe_segment *segment)
{
    enum { NEAR = 16 };
    const uint64_t *words = strobe_ring_words(&proc->ring, segment);
    const uint64_t *at = words + (stream->pos - segment->base_pos), *end = words + segment->n_words;
    if (load(at))
        return false;
    strobe_collector_ask_for(proc, stream, at, end - at > NEAR ? at + NEAR : end);
    return true;
}

uint64_t strobe_collector_drain(struct strobe_collector *c, struct strobe_proc *proc,
                                struct strobe_stream_state *stream)
{
    uint64_t before = c->n_taken_events, from = stream->pos;
    STROBE_ASSERT(stream != &proc->meta && stream == strobe_collector_stream(proc, stream->id));
    if (!stream->n_segments)
        return 0;
    /* a stream whose one segment has nothing new costs one load */
    const struct strobe_segment *head = &stream->segments[0];
    if (stream->n_segments == 1 && stream->pos >= head->base_pos && stream->epoch_known &&
        stream->pos < head->base_pos + head->n_words && !is_over(c, proc, stream) &&
        is_quiet(proc, stream, head))
        return 0;
    if (strobe_encode_is_full(&c->block.enc))
        strobe_collector_flush_events(c);
    /* A thread may fill segments as fast as they are drained: what comes while this round lasts is the next one's. */
    const struct strobe_segment *last = &stream->segments[stream->n_segments - 1];
    uint64_t until = last->base_pos + last->n_words;
    begin_part(c, proc, stream, from);
    while (stream->n_segments) {
        if (stream->pos >= until && !is_over(c, proc, stream)) {
            proc->news = true;
            break;
        }
        struct strobe_segment segment = stream->segments[0];
        uint64_t segment_end = segment.base_pos + segment.n_words;
        if (segment.base_pos > stream->pos) {
            if (find_missing(proc, stream))
                continue;
            end_part(c, proc, stream, from);
            if (stream->begun || !proc->attached) /* else: words of an earlier recording */
                skip_damage(c, proc, stream, segment.base_pos - stream->pos, STROBE_LOSS_DAMAGED);
            from = stream->pos = segment.base_pos;
            begin_part(c, proc, stream, from);
        }
        stream->begun = true;
        bool consumed =
            stream->pos >= segment_end || drain_segment(c, proc, stream, &segment, &from);
        if (!consumed && is_over(c, proc, stream) &&
            stream->n_segments > 1) { /* killed in the middle of a record */
            lose_unfinished(c, proc, stream);
            stream->pos = segment_end;
            consumed = true;
        }
        if (!consumed && stream->state != STROBE_STREAM_ENDED)
            break;
        retire_segment(c, proc, stream, &segment);
    }
    end_part(c, proc, stream, from);
    STROBE_ASSERT(!stream->n_segments || stream->state != STROBE_STREAM_ENDED);
    if (stream->state != STROBE_STREAM_ENDED && stream->waits_at != stream->pos)
        strobe_collector_ask_no_more(proc, stream);
    return c->n_taken_events - before;
}

/* ---- the meta stream ---- */

static void keep_record(struct strobe_collector *c, struct strobe_proc *proc, uint32_t kind,
                        const uint8_t *fields, size_t n_bytes)
{
    if (c->block.file_full &&
        (kind == STROBE_META_LOC || kind == STROBE_META_STRING || kind == STROBE_KIND_STR_PIECE))
        return; /* no event will use it */
    strobe_records_begin(&c->block.records, kind);
    if (kind >= STROBE_META_PROCESS)
        strobe_records_u(&c->block.records, proc->id);
    strobe_records_raw(&c->block.records, fields, n_bytes);
    strobe_records_end(&c->block.records);
    proc->described |= kind == STROBE_META_PROCESS;
    strobe_collector_learn_record(c, proc, kind, fields, n_bytes);
}

/* One meta record. Words taken, 0 for nonsense. */
static uint32_t take_meta(struct strobe_collector *c, struct strobe_proc *proc, const uint64_t *at,
                          uint64_t word, uint64_t left)
{
    uint64_t copy[STROBE_META_WORDS_MAX];
    uint8_t fields[FIELD_BYTES + 2 * STROBE_META_WORDS_MAX];
    uint32_t kind = (uint32_t)(word >> 48) & 0xfff;
    if (word >> 60 != STROBE_WORD_RECORD >> 60) {
        uint32_t n = (uint32_t)(word >> 32) & 0xffff;
        return word >> 56 == STROBE_WORD_PAD >> 56 && n <= left ? n : 0;
    }
    uint32_t n = copy_record(at, word, left, copy);
    const char *letters = kind == STROBE_KIND_STR_PIECE ? "s"
                          : kind < STROBE_META_COUNT    ? meta_fields[kind]
                                                        : NULL;
    if (!n || !letters)
        return 0;
    int n_bytes = convert_fields(letters, copy + 1, n - 1, fields);
    if (n_bytes < 0)
        return 0;
    if (kind == STROBE_META_THREAD && copy[1] != STROBE_META_TRACK)
        strobe_collector_count_thread(c, proc, copy[1]);
    keep_record(c, proc, kind, fields, (size_t)n_bytes);
    return n;
}

static bool is_piece(uint64_t word)
{
    return word >> 48 == STROBE_RECORD_WORD(STROBE_KIND_STR_PIECE, 0) >> 48;
}

/* Whether the record that the pieces from meta->pos on belong to is there. They are taken together or not at all: in the
 * file, nothing may come between them, of no other process. */
static bool pieces_are_whole(const struct strobe_proc *proc, const struct strobe_stream_state *meta,
                             uint64_t *whole_to)
{
    uint64_t pos = meta->pos;
    if (pos < *whole_to) /* looked at as a later piece of the same text */
        return true;
    for (uint32_t i = 0; i < meta->n_segments; i++) {
        const struct strobe_segment *segment = &meta->segments[i];
        const uint64_t *words = strobe_ring_words(&proc->ring, segment);
        if (segment->base_pos > pos)
            return false;
        while (pos < segment->base_pos + segment->n_words) {
            uint64_t word = load(words + (pos - segment->base_pos));
            uint32_t n = (uint32_t)(word >> 32) & 0xffff;
            if (!word || is_filling(word))
                return false;
            if (!n || (!is_piece(word) && word >> 56 != STROBE_WORD_PAD >> 56)) {
                *whole_to = pos;
                return true;
            }
            pos += n;
        }
    }
    return false;
}

void strobe_collector_drain_meta(struct strobe_collector *c, struct strobe_proc *proc)
{
    struct strobe_stream_state *meta = &proc->meta;
    uint64_t whole_to = 0;
    STROBE_ASSERT(!c->block.enc.track);
    STROBE_ASSERT(strobe_proc_is_open(proc) && !strobe_proc_is_over(proc));
    bool in_pieces = false;
    while (meta->n_segments) {
        struct strobe_segment segment = meta->segments[0];
        const uint64_t *words = strobe_ring_words(&proc->ring, &segment);
        uint64_t end = segment.base_pos + segment.n_words;
        if (segment.base_pos > meta->pos) {
            if (find_missing(proc, meta))
                continue;
            if (meta->begun || !proc->attached)
                skip_damage(c, proc, meta, segment.base_pos - meta->pos, STROBE_LOSS_DAMAGED);
            meta->pos = segment.base_pos;
        }
        meta->begun = true;
        while (meta->pos < end) {
            const uint64_t *at = words + (meta->pos - segment.base_pos);
            uint64_t word = load(at);
            if (!word)
                break;
            if (is_piece(word) && !pieces_are_whole(proc, meta, &whole_to)) {
                if (!strobe_proc_is_dead(proc) &&
                    strobe_ring_scan(&proc->ring, strobe_collector_add_segment, proc))
                    continue; /* a segment in their middle may have been missed, as in find_missing */
                if (!strobe_proc_is_dead(proc))
                    return;
                meta->pos = end; /* a name that was never finished is never used */
                break;
            }
            uint32_t n = take_meta(c, proc, at, word, end - meta->pos);
            STROBE_ASSERT(n <= end - meta->pos);
            proc->meta_dirty = true;
            if (!n) {
                skip_damage(c, proc, meta, end - meta->pos, STROBE_LOSS_DAMAGED);
                meta->pos = end;
                break;
            }
            meta->pos += n;
            if (word >> 56 != STROBE_WORD_PAD >> 56)
                in_pieces = is_piece(word);
            if (in_pieces)
                continue;
            if (c->block.records.n_bytes > STROBE_SIDE_BYTES)
                strobe_collector_flush_records(c);
            if (c->block.records.n_bytes > STROBE_SIDE_BYTES)
                return; /* the disk is full: names wait in the ring */
        }
        if (meta->pos < end && !(strobe_proc_is_dead(proc) && meta->n_segments > 1))
            return;
        meta->pos = meta->pos < end ? end : meta->pos;
        retire_segment(c, proc, meta, &segment);
    }
}
