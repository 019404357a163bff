/* packet.c - see packet.h.  SPDX-License-Identifier: MIT */
#include "hosts/packet.h"

#include <string.h>

#include "base/assert.h"

enum { SIGNED = offsetof(struct strobe_clock_packet, code) };

void strobe_clock_packet_sign(struct strobe_clock_packet *packet,
                              const struct strobe_sha256_key *key)
{
    STROBE_ASSERT(packet->kind >= STROBE_CLOCK_PACKET_QUESTION);
    STROBE_ASSERT(packet->kind <= STROBE_CLOCK_PACKET_FAREWELL);
    packet->magic = STROBE_CLOCK_PACKET_MAGIC;
    packet->reserved = 0;
    strobe_sha256_sign(key, packet, SIGNED, packet->code);
}

bool strobe_clock_packet_read(const void *bytes, size_t n_bytes,
                              const struct strobe_sha256_key *key, struct strobe_clock_packet *out)
{
    uint8_t code[STROBE_SHA256_BYTES];
    if (n_bytes != sizeof *out)
        return false;
    memcpy(out, bytes, sizeof *out);
    if (out->magic != STROBE_CLOCK_PACKET_MAGIC)
        return false;
    strobe_sha256_sign(key, out, SIGNED, code);
    if (!strobe_sha256_is_same(code, out->code))
        return false;
    out->name[sizeof out->name - 1] = 0;
    size_t n_name = strlen(out->name);
    memset(out->name + n_name, 0, sizeof out->name - n_name);
    for (char *c = out->name; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    return out->kind >= STROBE_CLOCK_PACKET_QUESTION && out->kind <= STROBE_CLOCK_PACKET_FAREWELL;
}
