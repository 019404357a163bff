/* fuzz_tracy.c - a session fed by a hostile client, past the handshake, its frames mended.
 *
 * An input is: protocol − 55 (and 28 or 56 more: with little or next to nothing left of the budget),
 * flags (below), then frames as u16 length and that many raw bytes of events. The handshake and the
 * compression (literals only) are made here, so that the damage reaches the decoder. With FLAG_BYTES the
 * rest is fed as it is, handshake and all.
 *
 * The entry is libFuzzer's; tests/fuzz/seeds.c has a main that runs seeds and damaged seeds without it.
 * Checked beyond what sanitizers find: every session gives back what it took of the budget, its
 * queries are whole, and none are more than the bound.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../fuzz/seeds.h"
#include "tracy/events.h"
#include "tracy/session.h"

enum {
    FLAG_ON_DEMAND = 1,
    FLAG_OWN_CLOCK = 2,
    FLAG_NO_SYMBOLS = 4,
    FLAG_PIECES = 8, /* in pieces of 1 to 7 bytes */
    FLAG_STOP = 16,  /* we end it in the middle */
    FLAG_AUTO = 32,
    FLAG_BYTES = 64,
    FLAG_TIME = 128, /* a second passes with every frame */
    FRAME_MAX = 60000,
    BUDGET = 2 << 20,
    N_PROTOCOLS = 28,
};
/* Left of the budget, by input. */
static const int64_t left_bytes[] = {BUDGET, 192 << 10, 80 << 10};
static const uint64_t start_tick = 1ull << 40;

static struct strobe_file_writer *writer;
static struct strobe_build_store *store;
static char path[64];
static unsigned n_runs;

static void die(const char *why)
{
    fprintf(stderr, "fuzz_tracy: %s\n", why);
    abort();
}

/* A file in memory, begun anew now and then. */
static void open_store(void)
{
    if (!*path)
        snprintf(path, sizeof path, "/proc/self/fd/%d", memfd_create("fuzz_tracy", 0));
    if (store && n_runs++ % 512)
        return;
    if (store) {
        strobe_build_store_close(store);
        strobe_file_finish(writer);
    }
    struct strobe_build_store_options options = {
        .budget_bytes = BUDGET, .max_file_bytes = 1 << 20, /* then blocks are lost */
    };
    if (strobe_file_create(path, "", 1, &writer))
        die("no file");
    options.writer = writer;
    if (strobe_build_store_open(&options, &store))
        die("no store");
}

static void check_output(struct strobe_tracy_session *session, bool hello)
{
    const uint8_t *out;
    size_t n = strobe_tracy_session_output(session, &out);
    size_t rest = hello ? (n >= 12 ? n - 12 : 1) : n;
    if (rest % STROBE_TRACY_QUERY_BYTES)
        die("a query is cut");
    if (n > 16384)
        die("too many queries");
    strobe_tracy_session_sent(session, n);
}

struct feeder {
    struct strobe_tracy_session *session;
    uint64_t now;
    uint8_t flags;
    bool over;
};

static void feed(struct feeder *f, const uint8_t *bytes, size_t n)
{
    size_t step = f->flags & FLAG_PIECES ? 1 + n % 7 : n;
    for (size_t at = 0; at < n && !f->over; at += step) {
        size_t part = n - at < step ? n - at : step;
        uint8_t *exact = malloc(part); /* so that a byte too far is seen */
        memcpy(exact, bytes + at, part);
        f->over = strobe_tracy_session_feed(f->session, exact, part, f->now++);
        free(exact);
    }
    check_output(f->session, false);
}

static void feed_welcome(struct feeder *f, uint32_t protocol)
{
    uint8_t bytes[1 + 1178 + 16] = {1};
    bool delay = protocol < 75;
    size_t n = 1 + (delay ? 1178 : 1170);
    double mul = f->flags & FLAG_OWN_CLOCK ? 1.0 : 0.5;
    int64_t begin = (int64_t)start_tick - 100000000;
    memcpy(bytes + 1, &mul, 8);
    memcpy(bytes + 9, &begin, 8);
    memcpy(bytes + 17, &begin, 8);
    bytes[1 + (delay ? 72 : 64)] = f->flags & FLAG_ON_DEMAND;
    if (f->flags & FLAG_ON_DEMAND) {
        memcpy(bytes + n + 8, &f->now, 8);
        n += 16;
    }
    feed(f, bytes, n);
}

/* One LZ4 block of literals. */
static void feed_frame(struct feeder *f, const uint8_t *raw, size_t n)
{
    static uint8_t frame[FRAME_MAX + FRAME_MAX / 255 + 16];
    uint8_t *at = frame + 4;
    *at++ = (uint8_t)((n < 15 ? n : 15) << 4);
    if (n >= 15) {
        size_t rest = n - 15;
        for (; rest >= 255; rest -= 255)
            *at++ = 255;
        *at++ = (uint8_t)rest;
    }
    memcpy(at, raw, n);
    uint32_t size = (uint32_t)(at + n - (frame + 4));
    memcpy(frame, &size, 4);
    feed(f, frame, 4 + size);
}

static void feed_frames(struct feeder *f, const uint8_t *data, size_t size)
{
    for (unsigned i = 0; size >= 2 && !f->over; i++) {
        size_t n = data[0] | (size_t)data[1] << 8;
        n = n < size - 2 ? n : size - 2;
        n = n < FRAME_MAX ? n : FRAME_MAX;
        feed_frame(f, data + 2, n);
        data += 2 + n;
        size -= 2 + n;
        if (f->flags & FLAG_TIME)
            f->now += 2000000000;
        if (!f->over && f->flags & FLAG_STOP && i == 2)
            strobe_tracy_session_stop(f->session, f->now);
        if (!f->over)
            f->over = strobe_tracy_session_poll(f->session, f->now);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    open_store();
    int64_t taken = BUDGET - left_bytes[data[0] / N_PROTOCOLS % 3];
    strobe_build_store_charge(store, taken);
    struct feeder f = {.now = start_tick, .flags = data[1]};
    struct strobe_tracy_session_options options = {
        .store = store,
        .protocol = 55 + data[0] % N_PROTOCOLS,
        .tick_ns = 0.5,
        .clock = f.flags & FLAG_AUTO        ? STROBE_TRACY_CLOCK_AUTO
                 : f.flags & FLAG_OWN_CLOCK ? STROBE_TRACY_CLOCK_OWN
                                            : STROBE_TRACY_CLOCK_SAME,
        .no_symbols = f.flags & FLAG_NO_SYMBOLS,
    };
    if (strobe_tracy_session_open(&options, f.now, &f.session))
        die("no session");
    check_output(f.session, true);
    if (f.flags & FLAG_BYTES) {
        feed(&f, data + 2, size - 2);
    } else {
        feed_welcome(&f, options.protocol);
        feed_frames(&f, data + 2, size - 2);
    }
    struct strobe_tracy_session_facts facts;
    strobe_tracy_session_facts(f.session, &facts);
    if (!strobe_tracy_session_deadline(f.session) || facts.n_zones > facts.n_events)
        die("facts that can't be");
    if (!f.over)
        strobe_tracy_session_eof(f.session, f.now);
    strobe_tracy_session_reason(f.session);
    if (n_runs % 4 == 0) /* blocks of one session and of several */
        strobe_build_store_flush(store);
    check_output(f.session, false);
    strobe_tracy_session_close(f.session);
    strobe_build_store_charge(store, -taken);
    if (!strobe_build_store_charge(store, BUDGET))
        die("a session kept some of the budget");
    strobe_build_store_charge(store, -BUDGET);
    return 0;
}
