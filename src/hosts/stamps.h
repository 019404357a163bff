/* stamps.h - when a datagram came, as a tick of the trace that is no earlier than its arrival.
 *
 * The kernel stamps a datagram on CLOCK_REALTIME when the network hands it over (SO_TIMESTAMPING, software). Right after it was
 * read, clock and counter are read together, and the stamp's age is taken off the counter. Whoever sets CLOCK_REALTIME in
 * between would falsify that: so both are compared with a reading from shortly before, and where they moved apart, or there is
 * none, the tick after the read is taken. It is later, never wrong.  SPDX-License-Identifier: MIT */
#ifndef STROBE_HOSTS_STAMPS_H
#define STROBE_HOSTS_STAMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Counter and wall clock, read together. */
struct strobe_stamp_reading {
    uint64_t before, after; /* ticks around it */
    uint64_t real_ns;
};

/* All zero but is_mono: nothing was read yet. */
struct strobe_stamps {
    bool is_mono;                /* ticks are CLOCK_MONOTONIC */
    bool no_kernel;              /* never ask the kernel: tests */
    uint64_t base_tick, base_ns; /* the first reading of the counter against CLOCK_MONOTONIC */
    uint64_t seen_tick, seen_ns; /* the last one */
    double ticks_per_ns;         /* 0: not known yet */
    struct strobe_stamp_reading last;
};

/* The tick now. */
uint64_t strobe_stamps_tick(const struct strobe_stamps *stamps);

/* Read all clocks: before the wait for datagrams, and before each question. */
void strobe_stamps_look(struct strobe_stamps *stamps);

/* Ask for stamps on a socket. False: the kernel has none. */
bool strobe_stamps_ask(int fd);

/* Receive a datagram that waits. Its size, -1: there is none. *tick: no earlier than its arrival; *kernel: by a stamp. */
long strobe_stamps_receive(struct strobe_stamps *stamps, int fd, void *bytes, size_t n_bytes,
                           struct sockaddr_storage *from, socklen_t *n_from, uint64_t *tick,
                           bool *kernel);

/* The stamp `real_ns` as a tick, where `last` is a reading from before the wait and `now` one from after; 0: it can't be used. */
uint64_t strobe_stamps_place(const struct strobe_stamps *stamps,
                             const struct strobe_stamp_reading *last,
                             const struct strobe_stamp_reading *now, uint64_t real_ns);

#endif
