/* packet.h - datagrams of the exchange, signed and checked: no I/O.  SPDX-License-Identifier: MIT */
#ifndef STROBE_HOSTS_PACKET_H
#define STROBE_HOSTS_PACKET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/sha256.h"
#include "wire/clock_packet.h"

/* Sign a packet whose other fields are set. */
void strobe_clock_packet_sign(struct strobe_clock_packet *packet,
                              const struct strobe_sha256_key *key);

/* Whether these bytes are a packet that somebody with the key has signed. Its name then ends with a NUL, and has nothing in it
 * that a terminal would act on. */
bool strobe_clock_packet_read(const void *bytes, size_t n_bytes,
                              const struct strobe_sha256_key *key, struct strobe_clock_packet *out);

static inline bool strobe_clock_id_is_same(struct strobe_clock_id a, struct strobe_clock_id b)
{
    return a.high == b.high && a.low == b.low;
}

#endif
