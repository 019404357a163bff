/* clock_packet.h - the datagram by which recorders of several hosts compare their clocks (docs/merge.md, "The exchange").
 *
 * OFFSET SIZE FIELD       little-endian; another layout gets another magic
 *      0    8 magic       "STRBCLK\1"
 *      8    4 kind        1 question, 2 answer, 3 farewell
 *     12    4 number      of the question, which its answer repeats
 *     16   16 from        number of the sender's recording
 *     32   16 to          number of the receiver's recording, 0: not known yet
 *     48    8 received    of an answer: the answering one's tick, no earlier than the question's arrival
 *     56    8 answered    of an answer: its tick before the answer left
 *     64    4 flags       bit 0: `received` is a stamp of the kernel; bit 1: ticks are CLOCK_MONOTONIC
 *     68    4 reserved    0
 *     72   64 name        of the sender's host, NUL-padded
 *    136   32 code        HMAC-SHA-256 of what stands before it, with the key that all share
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_WIRE_CLOCK_PACKET_H
#define STROBE_WIRE_CLOCK_PACKET_H

#include <stdint.h>

#include "wire/at.h"

#define STROBE_CLOCK_PACKET_MAGIC 0x014b4c4342525453ull /* "STRBCLK\1" */

enum strobe_clock_packet_kind {
    STROBE_CLOCK_PACKET_QUESTION = 1,
    STROBE_CLOCK_PACKET_ANSWER = 2,
    STROBE_CLOCK_PACKET_FAREWELL = 3,
};
enum { STROBE_CLOCK_PACKET_KERNEL = 1, STROBE_CLOCK_PACKET_MONO = 2 };

/* The number of a recording: random. */
struct strobe_clock_id {
    uint64_t high, low;
};

struct strobe_clock_packet {
    uint64_t magic;
    uint32_t kind;
    uint32_t number;
    struct strobe_clock_id from, to;
    uint64_t received;
    uint64_t answered;
    uint32_t flags;
    uint32_t reserved;
    char name[64];
    uint8_t code[32];
};
STROBE_AT(strobe_clock_packet, magic, 0);
STROBE_AT(strobe_clock_packet, kind, 8);
STROBE_AT(strobe_clock_packet, number, 12);
STROBE_AT(strobe_clock_packet, from, 16);
STROBE_AT(strobe_clock_packet, to, 32);
STROBE_AT(strobe_clock_packet, received, 48);
STROBE_AT(strobe_clock_packet, answered, 56);
STROBE_AT(strobe_clock_packet, flags, 64);
STROBE_AT(strobe_clock_packet, reserved, 68);
STROBE_AT(strobe_clock_packet, name, 72);
STROBE_AT(strobe_clock_packet, code, 136);
static_assert(sizeof(struct strobe_clock_packet) == 168, "strobe_clock_packet is on the wire");

#endif
