/* stamps.c - see stamps.h.  SPDX-License-Identifier: MIT */
#include "hosts/stamps.h"

#include <errno.h>
#include <linux/net_tstamp.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "strobe/strobe.h"

/* A wall clock is slewed by no more than this, and the counter's rate is known at least as well. */
#define SLEW 0.0006
/* Readings farther apart than that say nothing of a stamp between them: a small step would be taken for a slew. */
#define RECENT_NS 5000000.0
#define APART_NS  2000.0
#define BASE_NS   10000000ull /* that the counter's rate is measured over, at least */
#define JUMP_NS   10000.0     /* and it is measured anew where they moved apart by more */

uint64_t strobe_stamps_tick(const struct strobe_stamps *stamps)
{
    return stamps->is_mono ? strobe_clock_mono_ns() : strobe_ticks();
}

/* The narrowest of a few. */
static struct strobe_stamp_reading read_clocks(const struct strobe_stamps *stamps)
{
    struct strobe_stamp_reading best = {0, ~0ull, 0};
    for (int i = 0; i < 3; i++) {
        struct strobe_stamp_reading one;
        one.before = strobe_stamps_tick(stamps);
        one.real_ns = strobe_clock_real_ns();
        one.after = strobe_stamps_tick(stamps);
        if (one.after - one.before < best.after - best.before)
            best = one;
    }
    return best;
}

/* Whether counter and clock advanced together since the last look; if not, the rate is measured anew. */
static bool is_steady(const struct strobe_stamps *stamps, uint64_t tick, uint64_t mono)
{
    if (stamps->ticks_per_ns <= 0)
        return true;
    double ns = (double)(mono - stamps->seen_ns);
    double off = (double)(int64_t)(tick - stamps->seen_tick) / stamps->ticks_per_ns - ns;
    return off < JUMP_NS + ns * SLEW && -off < JUMP_NS + ns * SLEW;
}

void strobe_stamps_look(struct strobe_stamps *stamps)
{
    uint64_t tick = strobe_stamps_tick(stamps), mono = strobe_clock_mono_ns();
    bool is_first = !stamps->base_ns || !is_steady(stamps, tick, mono);
    if (is_first || mono - stamps->base_ns > 1000 * BASE_NS) {
        stamps->base_tick = tick;
        stamps->base_ns = mono;
        stamps->ticks_per_ns = is_first ? 0 : stamps->ticks_per_ns;
    } else if (mono - stamps->base_ns >= BASE_NS && tick > stamps->base_tick) {
        stamps->ticks_per_ns =
            (double)(tick - stamps->base_tick) / (double)(mono - stamps->base_ns);
    }
    stamps->seen_tick = tick;
    stamps->seen_ns = mono;
    stamps->last = read_clocks(stamps);
}

bool strobe_stamps_ask(int fd)
{
    int flags = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
    return !setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof flags);
}

uint64_t strobe_stamps_place(const struct strobe_stamps *stamps,
                             const struct strobe_stamp_reading *last,
                             const struct strobe_stamp_reading *now, uint64_t real_ns)
{
    double rate = stamps->ticks_per_ns;
    if (rate <= 0 || !last->real_ns || real_ns > now->real_ns || now->before < last->after)
        return 0;
    double since_ns = (double)(now->after - last->before) / rate;
    double real_since = (double)(int64_t)(now->real_ns - last->real_ns);
    double apart = real_since > since_ns ? real_since - since_ns : since_ns - real_since;
    double width = (double)(now->after - now->before + last->after - last->before) / rate;
    double age = (double)(now->real_ns - real_ns);
    if (since_ns > RECENT_NS || apart > APART_NS + width + since_ns * SLEW || age > RECENT_NS)
        return 0;
    uint64_t ticks = (uint64_t)(age * (1 - SLEW) * rate);
    return ticks < now->after ? now->after - ticks : 0;
}

/* The kernel's stamp in a message, 0: there is none. */
static uint64_t stamp_of(struct msghdr *message)
{
    for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at; at = CMSG_NXTHDR(message, at)) {
        struct timespec stamps[3];
        if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SO_TIMESTAMPING ||
            at->cmsg_len < CMSG_LEN(sizeof stamps))
            continue;
        memcpy(stamps, CMSG_DATA(at), sizeof stamps);
        return (uint64_t)stamps[0].tv_sec * 1000000000u + (uint64_t)stamps[0].tv_nsec;
    }
    return 0;
}

long strobe_stamps_receive(struct strobe_stamps *stamps, int fd, void *bytes, size_t n_bytes,
                           struct sockaddr_storage *from, socklen_t *n_from, uint64_t *tick,
                           bool *kernel)
{
    union {
        char bytes[256];
        struct cmsghdr align;
    } control;
    struct iovec part = {bytes, n_bytes};
    struct msghdr message = {.msg_name = from,
                             .msg_namelen = sizeof *from,
                             .msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    struct strobe_stamp_reading last = stamps->last;
    long n = recvmsg(fd, &message, MSG_DONTWAIT);
    *tick = strobe_stamps_tick(stamps);
    *kernel = false;
    if (n < 0)
        return -1;
    uint64_t real_ns = stamps->no_kernel ? 0 : stamp_of(&message);
    strobe_stamps_look(stamps);
    uint64_t placed = real_ns ? strobe_stamps_place(stamps, &last, &stamps->last, real_ns) : 0;
    if (placed && placed < *tick) {
        *tick = placed;
        *kernel = true;
    }
    *n_from = message.msg_namelen;
    return n;
}
