/* burst.c - the questions to one peer: eight in a row every second, each as soon as the one before is answered.
 *
 * Of a burst up to three exchanges are kept: the shortest one, and those that bound the clock best from either side.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "hosts/internal.h"
#include "wire/file_layout.h"

#define PATIENCE_NS 100000000ull /* for an answer; then the burst is over */
#define EARLY_NS \
    250000000ull /* between the first bursts, so that short recordings have some, too */
#define EVERY_NS  1000000000ull /* between later ones */
#define SILENT_NS 3500000000ull

enum { N_EARLY = 8 };

static void ask(struct strobe_hosts *hosts, struct strobe_hosts_peer *peer, uint64_t now_ns)
{
    struct strobe_clock_packet packet = {.kind = STROBE_CLOCK_PACKET_QUESTION,
                                         .number = ++peer->number};
    STROBE_ASSERT(!peer->waits && peer->n_asked < STROBE_HOSTS_BURST);
    peer->n_asked++;
    packet.from = hosts->id;
    memcpy(packet.name, hosts->name, sizeof packet.name);
    packet.flags = hosts->stamps.is_mono ? STROBE_CLOCK_PACKET_MONO : 0;
    strobe_clock_packet_sign(&packet, &hosts->key);
    strobe_stamps_look(&hosts->stamps);
    peer->sent = strobe_stamps_tick(&hosts->stamps); /* the last thing before it leaves */
    send(peer->fd, &packet, sizeof packet, MSG_DONTWAIT | MSG_NOSIGNAL);
    peer->waits = true; /* what did not leave is not answered, either */
    peer->deadline_ns = now_ns + PATIENCE_NS;
}

/* ---- what is kept of a burst ---- */

static void keep(struct strobe_hosts *hosts, const struct strobe_hosts_peer *peer,
                 const struct strobe_hosts_exchange *exchange)
{
    uint64_t numbers[] = {peer->id.high,      peer->id.low,   exchange->sent,  exchange->received,
                          exchange->answered, exchange->back, exchange->kernel};
    strobe_records_numbers(&hosts->records, STROBE_FACT_CLOCK_EXCHANGE, numbers, 7);
    strobe_records_tick(&hosts->records, exchange->sent);
    hosts->status.n_exchanges++;
}

/* Differences of two clocks: they rise and fall together, and wrap. */
static bool is_less(uint64_t a, uint64_t b)
{
    return (int64_t)(a - b) < 0;
}

static void end_burst(struct strobe_hosts *hosts, struct strobe_hosts_peer *peer, uint64_t now_ns)
{
    const struct strobe_hosts_exchange *burst = peer->burst;
    uint32_t shortest = 0, there = 0, back = 0;
    for (uint32_t i = 1; i < peer->n_burst; i++) {
        if (burst[i].back - burst[i].sent < burst[shortest].back - burst[shortest].sent)
            shortest = i;
        if (is_less(burst[i].received - burst[i].sent, burst[there].received - burst[there].sent))
            there = i;
        if (is_less(burst[i].back - burst[i].answered, burst[back].back - burst[back].answered))
            back = i;
    }
    for (uint32_t i = 0; i < peer->n_burst; i++)
        if (i == shortest || i == there || i == back)
            keep(hosts, peer, &burst[i]);
    if (peer->n_burst && hosts->stamps.ticks_per_ns > 0) {
        double ticks = (double)(burst[shortest].back - burst[shortest].sent);
        uint64_t ns = (uint64_t)(ticks / hosts->stamps.ticks_per_ns);
        if (!hosts->status.best_ns || ns < hosts->status.best_ns)
            hosts->status.best_ns = ns;
    }
    strobe_hosts_store(hosts, false);
    peer->waits = false;
    peer->n_asked = peer->n_burst = 0;
    peer->next_ns = now_ns + (++peer->n_bursts < N_EARLY ? EARLY_NS : EVERY_NS);
}

/* ---- answers ---- */

/* It has answered: who is it, and is it there again? */
static void meet(struct strobe_hosts *hosts, struct strobe_hosts_peer *peer,
                 const struct strobe_clock_packet *packet, uint64_t now_ns)
{
    char text[STROBE_HOSTS_NAME + 100];
    peer->answered_ns = now_ns;
    if (!peer->is_known || !strobe_clock_id_is_same(peer->id, packet->from)) {
        hosts->status.n_answering += !peer->is_known;
        peer->is_known = true;
        peer->id = packet->from;
        peer->n_burst = 0; /* of another clock */
        memcpy(peer->name, packet->name, sizeof peer->name);
        strobe_hosts_note_id(hosts, peer->id, STROBE_CLOCK_ROLE_ASKED, peer->name, peer->address);
    } else if (peer->is_silent) {
        snprintf(text, sizeof text, "clocks: %s answers again", peer->name);
        strobe_hosts_note(hosts, text);
    }
    peer->is_silent = false;
}

void strobe_hosts_peer_read(struct strobe_hosts *hosts, struct strobe_hosts_peer *peer,
                            uint64_t now_ns)
{
    struct strobe_clock_packet packet;
    struct sockaddr_storage from;
    socklen_t n_from;
    uint8_t bytes[sizeof packet + 1];
    uint64_t tick;
    bool kernel;
    long n = strobe_stamps_receive(&hosts->stamps, peer->fd, bytes, sizeof bytes, &from, &n_from,
                                   &tick, &kernel);
    if (n < 0)
        return; /* also: nobody listens there */
    if (!strobe_clock_packet_read(bytes, (size_t)n, &hosts->key, &packet)) {
        hosts->status.n_refused += hosts->status.n_refused < UINT32_MAX;
        return;
    }
    if (packet.kind == STROBE_CLOCK_PACKET_FAREWELL) {
        if (strobe_clock_id_is_same(packet.from, peer->id))
            peer->answered_ns = 0; /* it ends in order: its silence is no news */
        return;
    }
    if (packet.kind != STROBE_CLOCK_PACKET_ANSWER || !peer->waits ||
        packet.number != peer->number || !strobe_clock_id_is_same(packet.to, hosts->id))
        return; /* late, or sent once more by somebody else */
    peer->waits = false;
    meet(hosts, peer, &packet, now_ns);
    STROBE_ASSERT(peer->n_burst < STROBE_HOSTS_BURST);
    hosts->status.has_kernel |= kernel;
    peer->burst[peer->n_burst++] = (struct strobe_hosts_exchange){
        peer->sent, packet.received, packet.answered, tick,
        (kernel ? STROBE_CLOCK_KERNEL_BACK : 0u) |
            (packet.flags & STROBE_CLOCK_PACKET_KERNEL ? STROBE_CLOCK_KERNEL_RECEIVED : 0u)};
    if (peer->n_asked == STROBE_HOSTS_BURST)
        end_burst(hosts, peer, now_ns);
    else
        ask(hosts, peer, now_ns);
}

uint64_t strobe_hosts_peer_tick(struct strobe_hosts *hosts, struct strobe_hosts_peer *peer,
                                uint64_t now_ns, bool is_last)
{
    if (peer->waits && now_ns >= peer->deadline_ns)
        end_burst(hosts, peer, now_ns);
    if (peer->answered_ns && !peer->is_silent && now_ns - peer->answered_ns > SILENT_NS) {
        char text[STROBE_HOSTS_NAME + 100];
        peer->is_silent = true;
        snprintf(text, sizeof text, "clocks: %s stopped answering without a farewell", peer->name);
        strobe_hosts_note(hosts, text);
    }
    if (!peer->waits && !peer->n_asked && now_ns >= peer->next_ns && !is_last)
        ask(hosts, peer, now_ns);
    return peer->waits ? peer->deadline_ns : peer->next_ns;
}
