/* noc_event.c - transfers over the NoC: their words, and what their types are called.  SPDX-License-Identifier: MIT */
#include "base/assert.h"
#include "device/noc_event.h"

#include <stddef.h>

static const char *const names[] = {
    "UNDEF",
    "READ",
    "READ_SET_STATE",
    "READ_SET_TRID",
    "READ_WITH_STATE",
    "READ_WITH_STATE_AND_TRID",
    "READ_BARRIER_START",
    "READ_BARRIER_END",
    "READ_BARRIER_WITH_TRID",
    "READ_DRAM_SHARDED_SET_STATE",
    "READ_DRAM_SHARDED_WITH_STATE",
    "WRITE_",
    "WRITE_SET_TRID",
    "WRITE_WITH_TRID",
    "WRITE_INLINE",
    "WRITE_MULTICAST",
    "WRITE_SET_STATE",
    "WRITE_WITH_STATE",
    "WRITE_WITH_TRID_SET_STATE",
    "WRITE_WITH_TRID_WITH_STATE",
    "WRITE_BARRIER_START",
    "WRITE_BARRIER_END",
    "WRITE_BARRIER_WITH_TRID",
    "WRITE_FLUSH",
    "WRITE_FLUSH_WITH_TRID",
    "FULL_BARRIER",
    "ATOMIC_BARRIER",
    "SEMAPHORE_INC",
    "SEMAPHORE_WAIT",
    "SEMAPHORE_SET",
    "SEMAPHORE_SET_REMOTE",
    "SEMAPHORE_SET_MULTICAST",
    "SEMAPHORE_INC_MULTICAST",
    "FABRIC_UNICAST_WRITE",
    "FABRIC_UNICAST_INLINE_WRITE",
    "FABRIC_UNICAST_ATOMIC_INC",
    "FABRIC_FUSED_UNICAST_ATOMIC_INC",
    "FABRIC_MULTICAST_WRITE",
    "FABRIC_MULTICAST_ATOMIC_INC",
    "FABRIC_UNICAST_SCATTER_WRITE",
    "FABRIC_ROUTING_FIELDS_1D",
    "FABRIC_ROUTING_METADATA_UNAVAILABLE_2D",
    "UNSUPPORTED",
};
enum {
    READ_WITH_STATE = 4,
    READ_WITH_STATE_AND_TRID = 5,
    READ_DRAM_SHARDED_WITH_STATE = 10,
    WRITE_MULTICAST = 15,
    WRITE_WITH_STATE = 17,
    WRITE_WITH_TRID_WITH_STATE = 19,
    SEMAPHORE_SET_MULTICAST = 31,
    SEMAPHORE_INC_MULTICAST = 32
};

const char *strobe_noc_event_name(uint32_t type)
{
    return type < sizeof names / sizeof names[0] ? names[type] : names[0];
}

static uint8_t byte_of(uint64_t word, uint32_t number)
{
    STROBE_ASSERT(number < 8);
    return (uint8_t)(word >> 8 * number);
}

struct strobe_noc_event strobe_noc_event_decode(uint64_t word, enum strobe_noc_layout layout)
{
    uint32_t at = layout == STROBE_NOC_OLDEST ? 0 : 1; /* of the far end's x */
    uint8_t noc = byte_of(word, at + 4);
    uint32_t pieces =
        layout == STROBE_NOC_12_BITS ? (uint32_t)(word >> 48) & 0xfff : byte_of(word, at + 5);
    bool posted = layout == STROBE_NOC_12_BITS  ? word >> 60 & 1
                  : layout == STROBE_NOC_8_BITS ? word >> 56 & 1
                                                : false;
    return (struct strobe_noc_event){.type = byte_of(word, layout == STROBE_NOC_OLDEST ? 6 : 0),
                                     .noc = (noc & 15) == 2,
                                     .vc = (int8_t)((int8_t)noc >> 4),
                                     .x = (int8_t)byte_of(word, at),
                                     .y = (int8_t)byte_of(word, at + 1),
                                     .last_x = (int8_t)byte_of(word, at + 2),
                                     .last_y = (int8_t)byte_of(word, at + 3),
                                     .posted = posted,
                                     .n_bytes = pieces * 32};
}

bool strobe_noc_event_is_multicast(uint32_t type)
{
    return type == WRITE_MULTICAST || type == SEMAPHORE_SET_MULTICAST ||
           type == SEMAPHORE_INC_MULTICAST;
}

bool strobe_noc_event_has_target(const struct strobe_noc_event *event)
{
    switch (event->type) {
    case READ_WITH_STATE:
    case READ_WITH_STATE_AND_TRID:
    case READ_DRAM_SHARDED_WITH_STATE:
    case WRITE_WITH_STATE:
    case WRITE_WITH_TRID_WITH_STATE:
        return false;
    default:
        return event->x >= 0;
    }
}
