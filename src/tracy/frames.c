/* frames.c - frames of the stream: decompressed, held while the client's clock is not known, decoded.
 *
 * Frames are decompressed into one buffer, each behind the one before, so that the 64 KiB that a frame
 * may refer to lie in front of it; where the buffer ends they are moved to its start.
 * SPDX-License-Identifier: MIT */
#include <lz4.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/assert.h"
#include "tracy/internal.h"

enum { BAD_FRAMES = 16 };
static const double hold_ns = 250e6;

static enum strobe_tracy_status bad_frame(struct strobe_tracy_session *s)
{
    s->lost_thread = s->lost_others = true;
    strobe_tracy_set_aside(s, NULL, "the rest of a frame makes no sense");
    if (++s->n_bad_frames >= BAD_FRAMES)
        return strobe_tracy_break(s, "too many frames make no sense");
    return STROBE_TRACY_RUNNING;
}

static enum strobe_tracy_status decode_frame(struct strobe_tracy_session *s, const uint8_t *raw,
                                             size_t n, uint64_t came)
{
    s->max_raw = 0;
    bool ok = strobe_tracy_decode(s, raw, raw + n);
    if (s->own_clock && s->max_raw && strobe_own_clock_see(&s->clock, (int64_t)s->max_raw, came))
        strobe_tracy_clock_note(s);
    return ok ? STROBE_TRACY_RUNNING : bad_frame(s);
}

/* Frames of a client with a clock of its own are held back for a moment: what it had in store comes
 * first, and only what comes after that tells what time it is. */
enum strobe_tracy_status strobe_tracy_frames_release(struct strobe_tracy_session *s)
{
    enum strobe_tracy_status status = STROBE_TRACY_RUNNING;
    uint8_t *hold = s->hold;
    size_t at = 0, end = s->n_hold;
    double trip = s->clock.round_trip;
    if (!s->best_time) { /* nothing to go by but its start */
        s->best_time = (uint64_t)s->client.init_end;
        s->best_tick = s->now;
    }
    strobe_tracy_clock_start(s, s->best_time, s->best_tick - (uint64_t)(trip / 2), trip / 2);
    s->hold = NULL;
    s->n_hold = 0;
    while (at < end && status == STROBE_TRACY_RUNNING) {
        STROBE_ASSERT(at + 12 <= end);
        uint32_t n = get32(hold + at);
        STROBE_ASSERT(n <= STROBE_TRACY_RAW_MAX && at + 12 + n <= end); /* whole frames are held */
        uint64_t came = get64(hold + at + 4);
        status = decode_frame(s, hold + at + 12, n, came);
        at += 12 + n;
    }
    free(hold);
    if (hold) /* else it was never charged: there was no memory, or the first frame was the last */
        strobe_tracy_charge(s, -HOLD_BYTES);
    return status;
}

static bool keep_in_hold(struct strobe_tracy_session *s, const uint8_t *raw, uint32_t n,
                         uint64_t came)
{
    if (s->n_hold + n + 12 > HOLD_BYTES)
        return false;
    if (!s->hold) {
        if (!strobe_tracy_charge(s, HOLD_BYTES))
            return false;
        s->hold = malloc(HOLD_BYTES);
        s->hold_since = came;
    }
    if (!s->hold) {
        strobe_tracy_charge(s, -HOLD_BYTES);
        return false;
    }
    memcpy(s->hold + s->n_hold, &n, 4);
    memcpy(s->hold + s->n_hold + 4, &came, 8);
    memcpy(s->hold + s->n_hold + 12, raw, n);
    s->n_hold += n + 12;
    STROBE_ASSERT(s->n_hold <= HOLD_BYTES);
    return true;
}

/* How late a time was here, in ticks of the trace, as the client's rate has it. */
static double lateness(const struct strobe_tracy_session *s, uint64_t time, uint64_t came)
{
    return (double)(int64_t)(came - s->hold_since) -
           (double)(int64_t)(time - (uint64_t)s->client.init_end) * s->clock.scale;
}

/* Held long enough, and there is a time to go by. */
static bool is_hold_over(const struct strobe_tracy_session *s, uint64_t now)
{
    return s->hold && s->best_time && now - s->hold_since >= ticks_of(s, hold_ns);
}

enum strobe_tracy_status strobe_tracy_frames_poll(struct strobe_tracy_session *s)
{
    return is_hold_over(s, s->now) ? strobe_tracy_frames_release(s) : STROBE_TRACY_RUNNING;
}

static enum strobe_tracy_status hold_frame(struct strobe_tracy_session *s, const uint8_t *raw,
                                           size_t n, uint64_t came)
{
    bool kept = keep_in_hold(s, raw, (uint32_t)n, came);
    uint64_t time = strobe_tracy_skim(s, raw, raw + n);
    if (time &&
        (!s->best_time || lateness(s, time, came) < lateness(s, s->best_time, s->best_tick))) {
        s->best_time = time;
        s->best_tick = came;
    }
    s->terminated |= n == 1 && s->table.event[raw[0]] == STROBE_TRACY_TERMINATE;
    if (kept && !is_hold_over(s, came) && !s->terminated)
        return STROBE_TRACY_RUNNING;
    enum strobe_tracy_status status = strobe_tracy_frames_release(s);
    return kept || status != STROBE_TRACY_RUNNING ? status : decode_frame(s, raw, n, came);
}

/* More room behind what was decompressed last: a larger buffer, or its history moved to the start.
 * False: there is as much as a frame can need, or no memory. */
static bool make_raw_room(struct strobe_tracy_session *s)
{
    if (s->cap_raw - s->raw_at >= STROBE_TRACY_RAW_MAX)
        return false;
    if (s->cap_raw == RAW_BYTES) {
        STROBE_ASSERT(s->raw_at >= HISTORY_BYTES); /* else a frame would still fit */
        memmove(s->raw, s->raw + s->raw_at - HISTORY_BYTES, HISTORY_BYTES);
        s->raw_at = HISTORY_BYTES;
        return true;
    }
    size_t cap = s->cap_raw ? 4 * s->cap_raw : RAW_FIRST_BYTES;
    uint8_t *raw = strobe_array_resize(s->raw, cap, 1);
    if (!raw)
        return false;
    s->raw = raw;
    s->cap_raw = cap;
    return true;
}

static int decompress(struct strobe_tracy_session *s, const uint8_t *frame, size_t n)
{
    size_t room = s->cap_raw - s->raw_at;
    size_t history = s->raw_at < HISTORY_BYTES ? s->raw_at : HISTORY_BYTES;
    char *raw = (char *)s->raw + s->raw_at;
    STROBE_ASSERT(s->raw_at <= s->cap_raw && s->cap_raw <= RAW_BYTES);
    room = room < STROBE_TRACY_RAW_MAX ? room : STROBE_TRACY_RAW_MAX;
    return LZ4_decompress_safe_usingDict((const char *)frame, raw, (int)n, (int)room, raw - history,
                                         (int)history);
}

enum strobe_tracy_status strobe_tracy_frame_take(struct strobe_tracy_session *s,
                                                 const uint8_t *frame, size_t n, uint64_t came)
{
    if (s->cap_raw == RAW_BYTES)
        make_raw_room(s); /* before it is found out that a frame does not fit */
    int n_raw = s->cap_raw ? decompress(s, frame, n) : -1;
    while (n_raw < 0 && make_raw_room(s)) /* how long it gets is not told before */
        n_raw = decompress(s, frame, n);
    if (n_raw < 0)
        return strobe_tracy_break(s, "a frame can't be decompressed");
    const uint8_t *raw = s->raw + s->raw_at;
    s->raw_at += (size_t)n_raw;
    STROBE_ASSERT(s->raw_at <= s->cap_raw && n_raw <= STROBE_TRACY_RAW_MAX);
    if (s->own_clock && !s->clock.map.n_pieces)
        return hold_frame(s, raw, (size_t)n_raw, came);
    return decode_frame(s, raw, (size_t)n_raw, came);
}
