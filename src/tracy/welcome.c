/* welcome.c - the welcome: who the client is, and whether its clock is the trace's.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "tracy/internal.h"

static void copy_text(char *to, const uint8_t *from, size_t n)
{
    memcpy(to, from, n);
    to[n] = 0;
}

void strobe_tracy_welcome_read(struct strobe_tracy_session *s, const uint8_t *at)
{
    struct strobe_tracy_client *client = &s->client;
    memcpy(&client->timer_mul, at, 8);
    client->protocol = s->table.protocol;
    client->init_begin = (int64_t)get64(at + 8);
    client->init_end = (int64_t)get64(at + 16);
    at += 24;
    if (s->table.welcome_has_delay) {
        client->delay = get64(at);
        at += 8;
    }
    client->resolution = get64(at);
    client->epoch = get64(at + 8);
    client->exec_time = get64(at + 16);
    client->pid = get64(at + 24);
    client->sampling = (int64_t)get64(at + 32);
    client->flags = at[40];
    client->arch = at[41];
    copy_text(client->maker, at + 42, 12);
    client->cpu_id = get32(at + 54);
    copy_text(client->program, at + 58, 64);
    copy_text(client->host, at + 122, 1024);
}

/* Whether the client's clock is the trace's: same rate, a start that fits the clocks on the wall, a
 * present (of an on-demand client) that is now. */
static bool is_same_clock(const struct strobe_tracy_session *s, uint64_t present)
{
    const struct strobe_tracy_client *client = &s->client;
    double ratio = client->timer_mul / s->options.tick_ns;
    uint64_t begin = (uint64_t)client->init_begin, end = (uint64_t)client->init_end;
    if (s->options.clock != STROBE_TRACY_CLOCK_AUTO)
        return s->options.clock == STROBE_TRACY_CLOCK_SAME;
    uint64_t slack = ticks_of(s, 1e6); /* counters of two cores are not quite the same */
    if (ratio < 0.99 || ratio > 1.01 || begin > end || end > s->now + slack)
        return false;
    if (present)
        return present + slack >= s->hello_sent && present <= s->now + slack;
    if (!s->options.unix_s)
        return true;
    double age = (double)(int64_t)(s->now - begin) * s->options.tick_ns / 1e9;
    double started = (double)s->options.unix_s - age;
    return fabs(started - (double)client->epoch) < 5 + age * 1e-4;
}

void strobe_tracy_bound_times(struct strobe_tracy_session *s)
{
    uint64_t high = s->now + ticks_of(s, 1e9);
    if (high < s->now)
        high = UINT64_MAX;
    s->tick_span = high - s->tick_low;
}

void strobe_tracy_clock_note(struct strobe_tracy_session *s)
{
    const struct strobe_clock_map_piece *piece = strobe_clock_map_last(&s->clock.map);
    uint64_t numbers[] = {strobe_build_proc(s->build), (uint64_t)piece->time, piece->tick,
                          piece->mult, piece->error_ns};
    strobe_build_record(s->build, STROBE_FACT_CLOCK_MAP, numbers, NULL, NULL);
}

void strobe_tracy_clock_start(struct strobe_tracy_session *s, uint64_t time, uint64_t tick,
                              double error)
{
    strobe_own_clock_start(&s->clock, (int64_t)time, tick, error);
    strobe_tracy_clock_note(s);
    s->last_raw = time;
    s->tick_low = 1; /* its past may be any */
    strobe_tracy_bound_times(s);
}

/* An on-demand client has run before, and told when we came. */
static void note_attached(struct strobe_tracy_session *s, uint64_t tick)
{
    uint64_t numbers[] = {tick, 3};
    if (s->client.flags & CLIENT_ON_DEMAND)
        strobe_build_record(s->build, STROBE_FACT_RECORDING, numbers, NULL, NULL);
}

enum strobe_tracy_status strobe_tracy_welcome_take(struct strobe_tracy_session *s, uint64_t present)
{
    struct strobe_tracy_client *client = &s->client;
    if (!(client->timer_mul > 1e-6 && client->timer_mul < 1e6))
        return strobe_tracy_break(s, "its clock has no rate that can be");
    struct strobe_build_process process = {.pid = client->pid, .exe = client->program};
    if (s->options.describe)
        s->options.describe(s->options.arg, client, &process);
    if (strobe_build_open(s->options.store, &process, &s->build))
        return strobe_tracy_break(s, "no memory for another client");
    strobe_build_tracy_client(s->build, client);
    s->own_clock = !is_same_clock(s, present);
    strobe_tracy_session_move(s, SESSION_STREAM);
    s->last_raw = (uint64_t)client->init_end;
    if (!s->own_clock) {
        note_attached(s, present);
        uint64_t slack = ticks_of(s, 10e9), begin = (uint64_t)client->init_begin;
        s->tick_low = begin > slack ? begin - slack : 1;
        strobe_tracy_bound_times(s);
        return STROBE_TRACY_RUNNING;
    }
    strobe_own_clock_init(&s->clock, client->timer_mul, s->options.tick_ns);
    uint64_t trip = s->now - s->hello_sent;
    strobe_own_clock_round_trip(&s->clock, trip);
    if (present) {
        strobe_tracy_clock_start(s, present, s->hello_sent + trip / 2, (double)trip / 2);
        note_attached(s, s->hello_sent + trip / 2);
    }
    return STROBE_TRACY_RUNNING;
}
