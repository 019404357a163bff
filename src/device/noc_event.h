/* noc_event.h - one transfer over the NoC, as a kernel records it in 64 bits. The layout changed twice, and nothing in the word says
 * which it is: a reader must know.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_NOC_EVENT_H
#define STROBE_DEVICE_NOC_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/* BYTE   today                             until 2026                  until mid-2025
 *    0   type                              type                        x
 *    1   x of the far end                  x                           y
 *    2   y                                 y                           x of a multicast's last core
 *    3   x of a multicast's last core      likewise                    y
 *    4   y                                 y                           NoC + 1, VC << 4
 *    5   NoC + 1, VC << 4 (-1: none)       likewise                    32-byte pieces, 8 bits
 *  6-7   32-byte pieces, 12 bits;          6: pieces, 8 bits           6: type
 *        bit 12: posted                    7: bit 0: posted            7: 0 */
enum strobe_noc_layout {
    STROBE_NOC_12_BITS = 0, /* what kernels write here */
    STROBE_NOC_8_BITS = 1,
    STROBE_NOC_OLDEST = 2,
};

struct strobe_noc_event {
    uint8_t type, noc;               /* noc: 0, 1 */
    int8_t x, y, last_x, last_y, vc; /* -1: none */
    bool posted;
    uint32_t n_bytes; /* in whole pieces */
};

struct strobe_noc_event strobe_noc_event_decode(uint64_t word, enum strobe_noc_layout layout);
/* The name of a type, as noc_trace files have it; "UNDEF" for what is none. */
const char *strobe_noc_event_name(uint32_t type);
/* Whether the event goes to several cores; whether it has a far end of its own at all. */
bool strobe_noc_event_is_multicast(uint32_t type);
bool strobe_noc_event_has_target(const struct strobe_noc_event *event);

#endif
