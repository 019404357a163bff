/* session.c - one connection: its memory, its bytes, cut into status, welcome and frames, its end. No I/O, no clock:
 * the caller has both. A frame that came in one piece is never copied. States: internal.h.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/moves.h"
#include "tracy/internal.h"

enum {
    HELLO_BYTES = 12,
    QUERIES = 1000,
    SESSION_BUDGET = 16 << 20,
};
static const double answer_ns = 5e9;  /* for an answer to the hello, where nothing else is said */
static const double grace_ns = 300e6; /* for ends of zones after Terminate */
static const double quiet_ns = 2e9;   /* without any answer, when all else is over */
static const double symbols_ns =
    500e6; /* without an answer, when only names of addresses are missing */
static const double symbols_most_ns = 5e9; /* of the program's end, for names of addresses */
static const double stop_ns = 2e9;

/* ---- memory ---- */

bool strobe_tracy_charge(struct strobe_tracy_session *s, int64_t n_bytes)
{
    if (s->n_charged + n_bytes > SESSION_BUDGET ||
        !strobe_build_store_charge(s->options.store, n_bytes))
        return false;
    s->n_charged += n_bytes;
    STROBE_ASSERT(s->n_charged >= 0 && s->n_charged <= SESSION_BUDGET);
    return true;
}

bool strobe_tracy_grow(struct strobe_tracy_session *s, void *list, uint32_t n, uint32_t *room,
                       size_t item_bytes, uint32_t most)
{
    if (n < *room)
        return true;
    uint64_t want = 2 * (uint64_t)n + 16;
    want = want < most ? want : most;
    if (want <= n || !strobe_tracy_charge(s, (int64_t)((want - *room) * item_bytes)))
        return false;
    void *more = strobe_array_resize(*(void **)list, want, item_bytes);
    if (!more)
        return false;
    *(void **)list = more;
    *room = (uint32_t)want;
    return true;
}

bool strobe_tracy_text_set(struct strobe_tracy_session *s, struct text *text, const void *bytes,
                           size_t n)
{
    text->n = 0;
    if (n > text->room) {
        size_t room = n + n / 2 + 64;
        if (!strobe_tracy_charge(s, (int64_t)(room - text->room)))
            return false;
        char *more = strobe_array_resize(text->bytes, room, 1);
        if (!more)
            return false;
        text->bytes = more;
        text->room = room;
    }
    if (n)
        memcpy(text->bytes, bytes, n);
    text->n = n;
    return true;
}

void strobe_tracy_remark(struct strobe_tracy_session *s, const char *what)
{
    if (what != s->last_remark)
        strobe_build_note(s->build, "%s", what);
    s->last_remark = what;
}

void strobe_tracy_set_aside(struct strobe_tracy_session *s, const struct thread *thread,
                            const char *why)
{
    s->n_set_aside++;
    strobe_build_lose(s->build, thread ? thread->track : NULL, STROBE_LOSS_REFUSED, 1, s->now);
    strobe_tracy_remark(s, why);
}

/* ---- states ---- */

/* moves of session_state */
static const uint8_t moves[][2] = {
    {SESSION_HELLO, SESSION_WELCOME},  {SESSION_WELCOME, SESSION_ON_DEMAND},
    {SESSION_WELCOME, SESSION_STREAM}, {SESSION_ON_DEMAND, SESSION_STREAM},
    {SESSION_HELLO, SESSION_OVER},     {SESSION_WELCOME, SESSION_OVER},
    {SESSION_ON_DEMAND, SESSION_OVER}, {SESSION_STREAM, SESSION_OVER},
};

void strobe_tracy_session_move(struct strobe_tracy_session *s, enum session_state to)
{
    STROBE_ASSERT(STROBE_MOVE_IS_LEGAL(moves, s->state, to));
    STROBE_ASSERT(s->status == STROBE_TRACY_RUNNING);
    /* a process in the store from the stream on, and no sooner */
    STROBE_ASSERT(to == SESSION_OVER || (to == SESSION_STREAM) == (s->build != NULL));
    s->state = to;
}

static enum strobe_tracy_status end(struct strobe_tracy_session *s, enum strobe_tracy_status status)
{
    if (s->state != SESSION_OVER)
        strobe_tracy_session_move(s, SESSION_OVER);
    return s->status = status;
}

enum strobe_tracy_status strobe_tracy_break(struct strobe_tracy_session *s, const char *reason)
{
    snprintf(s->reason, sizeof s->reason, "%s", reason);
    if (s->build)
        strobe_build_note(s->build, "the connection was given up: %s", reason);
    return end(s, STROBE_TRACY_BROKEN);
}

/* ---- opening ---- */

static const uint8_t protocols[] = {82, 76, 74, 72, 69, 66, 64, 63, 65, 57, 56, 73, 75, 77,
                                    78, 79, 80, 81, 67, 68, 70, 71, 62, 61, 60, 59, 58, 55};

uint32_t strobe_tracy_protocol_at(uint32_t i)
{
    return i < sizeof protocols ? protocols[i] : 0;
}

bool strobe_tracy_protocol_is_known(uint32_t protocol)
{
    return protocol >= STROBE_TRACY_FIRST && protocol <= STROBE_TRACY_LAST;
}

static void find_zone_forms(struct strobe_tracy_session *s)
{
    static const struct {
        uint8_t event, form;
    } forms[] = {
        {STROBE_TRACY_ZONE_BEGIN, ZONE_FORM_BEGIN_64},
        {STROBE_TRACY_ZONE_BEGIN_32, ZONE_FORM_BEGIN_32},
        {STROBE_TRACY_ZONE_BEGIN_16, ZONE_FORM_BEGIN_16},
        {STROBE_TRACY_ZONE_END, ZONE_FORM_END_64},
        {STROBE_TRACY_ZONE_END_32, ZONE_FORM_END_32},
        {STROBE_TRACY_ZONE_END_16, ZONE_FORM_END_16},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        uint16_t number = s->table.number[forms[i].event];
        if (number != STROBE_TRACY_ABSENT)
            s->zone_form[number] = forms[i].form;
    }
}

enum strobe_err strobe_tracy_session_open(const struct strobe_tracy_session_options *options,
                                          uint64_t now_tick, struct strobe_tracy_session **out)
{
    struct strobe_tracy_session *s = calloc(1, sizeof *s);
    if (!s)
        return STROBE_ERR_NOMEM;
    s->options = *options;
    if (!strobe_tracy_table_make(options->protocol, &s->table)) {
        free(s);
        return STROBE_ERR_INVALID;
    }
    find_zone_forms(s);
    s->limit = options->n_queries && options->n_queries < QUERIES ? options->n_queries : QUERIES;
    s->no_symbols = options->no_symbols;
    if (!s->options.answer_ns)
        s->options.answer_ns = answer_ns;
    s->now = s->opened = s->hello_sent = now_tick;
    memcpy(s->out, "TracyPrf", 8);
    memcpy(s->out + 8, &options->protocol, 4);
    s->n_out = HELLO_BYTES;
    *out = s;
    return STROBE_OK;
}

/* ---- bytes ---- */

/* How many bytes what comes next takes in all, as far as it can be told from the first n of them. */
static size_t bytes_wanted(const struct strobe_tracy_session *s, const uint8_t *at, size_t n)
{
    switch (s->state) {
    case SESSION_HELLO:
        return 1;
    case SESSION_WELCOME:
        return s->table.welcome_bytes;
    case SESSION_ON_DEMAND:
        return 16;
    default:
        return n < 4 ? 4 : 4 + (size_t)get32(at);
    }
}

static enum strobe_tracy_status take_status(struct strobe_tracy_session *s, uint8_t status)
{
    if (status == 1) {
        strobe_tracy_session_move(s, SESSION_WELCOME);
        return STROBE_TRACY_RUNNING;
    }
    if (status != 2 && status != 3)
        return strobe_tracy_break(s, "it does not speak Tracy's protocol");
    return end(s, status == 2 ? STROBE_TRACY_MISMATCH : STROBE_TRACY_UNAVAILABLE);
}

/* One whole thing: a status, the welcome, a frame. */
static enum strobe_tracy_status take(struct strobe_tracy_session *s, const uint8_t *at, size_t n,
                                     uint64_t came)
{
    switch (s->state) {
    case SESSION_HELLO:
        return take_status(s, *at);
    case SESSION_WELCOME:
        strobe_tracy_welcome_read(s, at);
        if (!(s->client.flags & CLIENT_ON_DEMAND))
            return strobe_tracy_welcome_take(s, 0);
        strobe_tracy_session_move(s, SESSION_ON_DEMAND);
        return STROBE_TRACY_RUNNING;
    case SESSION_ON_DEMAND:
        s->on_demand_frames = get64(at);
        return strobe_tracy_welcome_take(s, get64(at + 8));
    default:
        return strobe_tracy_frame_take(s, at + 4, n - 4, came);
    }
}

static bool is_too_long(const struct strobe_tracy_session *s, size_t n)
{
    return s->state == SESSION_STREAM && n > 4 + (size_t)STROBE_TRACY_FRAME_MAX;
}

/* Bytes of something that is not whole yet: kept up to `want`. How many were taken; SIZE_MAX: no
 * memory. */
static size_t keep(struct strobe_tracy_session *s, const uint8_t *bytes, size_t n, size_t want)
{
    size_t part = want - s->n_in < n ? want - s->n_in : n;
    if (STROBE_ARRAY_RESERVE(s->in, s->cap_in, want))
        return SIZE_MAX;
    if (!s->n_in)
        s->frame_came = s->now;
    memcpy(s->in + s->n_in, bytes, part);
    s->n_in += part;
    return part;
}

static enum strobe_tracy_status take_bytes(struct strobe_tracy_session *s, const uint8_t *at,
                                           size_t n)
{
    enum strobe_tracy_status status = STROBE_TRACY_RUNNING;
    while (n && status == STROBE_TRACY_RUNNING) {
        const uint8_t *head = s->n_in ? s->in : at;
        size_t n_head = s->n_in ? s->n_in : n;
        size_t want = bytes_wanted(s, head, n_head);
        if (is_too_long(s, want))
            return strobe_tracy_break(s, "a frame is longer than frames can be");
        if (!s->n_in && n >= want && (s->state != SESSION_STREAM || want > 4)) {
            status = take(s, at, want, s->now); /* whole, and where it is */
            at += want;
            n -= want;
            continue;
        }
        size_t taken = keep(s, at, n, want);
        if (taken == SIZE_MAX)
            return strobe_tracy_break(s, "no memory for its frames");
        at += taken;
        n -= taken;
        if (s->n_in < bytes_wanted(s, s->in, s->n_in))
            continue;
        size_t whole = s->n_in;
        s->n_in = 0;
        status = take(s, s->in, whole, s->frame_came);
    }
    return status;
}

/* ---- the end ---- */

static uint64_t n_open_zones(const struct strobe_tracy_session *s)
{
    uint64_t n = strobe_build_n_open_in_fibers(s->build);
    for (uint32_t i = 0; i < s->n_threads; i++)
        n += strobe_build_track_depth(s->threads[i]->track);
    return n;
}

static bool is_over(const struct strobe_tracy_session *s, uint64_t since, double ns)
{
    STROBE_ASSERT(since <= s->now); /* time goes on */
    return s->now - since >= ticks_of(s, ns);
}

static enum strobe_tracy_status finish(struct strobe_tracy_session *s)
{
    strobe_tracy_query(s, STROBE_TRACY_ASK_TERMINATE, 0);
    return end(s, STROBE_TRACY_DONE);
}

/* Whether there is nothing left to wait for, or no sense in it. */
static enum strobe_tracy_status look_for_end(struct strobe_tracy_session *s)
{
    if (s->state != SESSION_STREAM || !(s->terminated || s->stopping))
        return s->status;
    if (!s->ending_since)
        s->ending_since = s->last_answer = s->now;
    bool no_more = s->terminated && (is_over(s, s->last_answer, symbols_ns) ||
                                     is_over(s, s->ending_since, symbols_most_ns));
    if (no_more)
        s->symbols.n = 0;
    uint64_t n_missing = strobe_tracy_n_missing(s);
    bool all_named = !n_missing || (no_more && n_missing == s->asked_symbols.n);
    bool all_ended = s->crashed || s->stopping || is_over(s, s->ending_since, grace_ns) ||
                     (s->terminated && !n_open_zones(s));
    if (s->terminated && all_named && all_ended)
        return finish(s);
    if (s->terminated && n_missing && is_over(s, s->last_answer, quiet_ns))
        return finish(s);
    if (s->stopping && is_over(s, s->stopping_since, stop_ns))
        return finish(s);
    return s->status;
}

static enum strobe_tracy_status after(struct strobe_tracy_session *s,
                                      enum strobe_tracy_status status)
{
    if (status != STROBE_TRACY_RUNNING)
        return status;
    if (s->build)
        strobe_tracy_pump(s);
    return look_for_end(s);
}

enum strobe_tracy_status strobe_tracy_session_feed(struct strobe_tracy_session *s,
                                                   const uint8_t *bytes, size_t n_bytes,
                                                   uint64_t now_tick)
{
    if (s->status != STROBE_TRACY_RUNNING)
        return s->status;
    s->now = now_tick;
    s->n_bytes += n_bytes;
    strobe_tracy_bound_times(s);
    return after(s, take_bytes(s, bytes, n_bytes));
}

enum strobe_tracy_status strobe_tracy_session_poll(struct strobe_tracy_session *s,
                                                   uint64_t now_tick)
{
    if (s->status != STROBE_TRACY_RUNNING)
        return s->status;
    s->now = now_tick;
    if (s->state != SESSION_STREAM && is_over(s, s->opened, s->options.answer_ns))
        return strobe_tracy_break(s, "it did not answer");
    return after(s, strobe_tracy_frames_poll(s));
}

uint64_t strobe_tracy_session_deadline(const struct strobe_tracy_session *s)
{
    if (s->state != SESSION_STREAM)
        return s->opened + ticks_of(s, s->options.answer_ns);
    if (s->terminated || s->stopping || s->hold)
        return s->now + ticks_of(s, 20e6);
    return UINT64_MAX;
}

enum strobe_tracy_status strobe_tracy_session_eof(struct strobe_tracy_session *s, uint64_t now_tick)
{
    if (s->status != STROBE_TRACY_RUNNING)
        return s->status;
    s->now = now_tick;
    if (s->state != SESSION_STREAM)
        return strobe_tracy_break(s, "it closed the connection before it said who it is");
    if (s->n_in)
        strobe_build_note(s->build, "the connection ended inside a frame: %zu bytes of it",
                          s->n_in);
    return end(s, STROBE_TRACY_DONE);
}

void strobe_tracy_session_stop(struct strobe_tracy_session *s, uint64_t now_tick)
{
    if (s->status != STROBE_TRACY_RUNNING || s->stopping)
        return;
    s->now = now_tick;
    if (s->state != SESSION_STREAM) {
        end(s, STROBE_TRACY_DONE);
        return;
    }
    s->stopping = true;
    s->stopping_since = now_tick;
    if (!s->terminated)
        strobe_tracy_query(s, STROBE_TRACY_ASK_DISCONNECT, 0);
}

/* ---- output, facts, closing ---- */

size_t strobe_tracy_session_output(const struct strobe_tracy_session *s, const uint8_t **bytes)
{
    *bytes = s->out;
    return s->n_out;
}

void strobe_tracy_session_sent(struct strobe_tracy_session *s, size_t n_bytes)
{
    STROBE_ASSERT(s->n_out <= sizeof s->out);
    n_bytes = n_bytes < s->n_out ? n_bytes : s->n_out;
    memmove(s->out, s->out + n_bytes, s->n_out - n_bytes);
    s->n_out -= n_bytes;
    if (s->state == SESSION_STREAM)
        strobe_tracy_pump(s);
}

void strobe_tracy_session_facts(const struct strobe_tracy_session *s,
                                struct strobe_tracy_session_facts *out)
{
    *out = (struct strobe_tracy_session_facts){
        .client = s->build ? &s->client : NULL,
        .protocol = s->table.protocol,
        .proc = s->build ? strobe_build_proc(s->build) : 0,
        .n_zones = s->n_zones,
        .n_events = s->n_events,
        .n_set_aside = s->n_set_aside,
        .n_unnamed = strobe_tracy_n_missing(s) - s->asked_symbols.n - s->symbols.n,
        .n_symbols = s->asked_symbols.n + s->symbols.n,
        .n_bytes = s->n_bytes,
        .terminated = s->terminated,
        .crashed = s->crashed,
        .on_demand = s->client.flags & CLIENT_ON_DEMAND,
        .own_clock = s->own_clock,
    };
}

const char *strobe_tracy_session_reason(const struct strobe_tracy_session *s)
{
    return s->reason;
}

/* What the trace can't have, in words. */
static void note_what_is_missing(struct strobe_tracy_session *s)
{
    uint64_t n_names = strobe_tracy_n_missing(s) - s->asked_symbols.n - s->symbols.n;
    if (n_names)
        strobe_build_note(s->build, "%llu names were never told: they are shown as addresses",
                          (unsigned long long)n_names);
    if (s->n_set_aside)
        strobe_build_note(s->build, "%llu events were set aside",
                          (unsigned long long)s->n_set_aside);
    if (!s->terminated)
        strobe_build_note(s->build, "the client did not say that it ends: its last events may "
                                    "be missing");
}

void strobe_tracy_session_close(struct strobe_tracy_session *s)
{
    if (!s)
        return;
    if (s->hold)
        strobe_tracy_frames_release(s);
    if (s->build) {
        strobe_tracy_release_all(s);
        note_what_is_missing(s);
    }
    strobe_build_close(s->build);
    strobe_build_store_charge(s->options.store, -s->n_charged);
    strobe_tracy_free_names(s);
    free(s->held);
    free(s->single.bytes);
    free(s->second.bytes);
    free(s->image.bytes);
    free(s->symbol_image.bytes);
    free(s->payload.list);
    free(s->serial_stack.list);
    free(s->in);
    free(s->raw);
    free(s);
}
