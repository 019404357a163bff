/* perfetto_fields.h - numbers of fields in a packet of Perfetto's traces, as perfetto_trace.proto has them: for the export and the import.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_WIRE_PERFETTO_FIELDS_H
#define STROBE_WIRE_PERFETTO_FIELDS_H

enum { STROBE_PERFETTO_PACKET = 1 }; /* of a file */

enum strobe_perfetto_field {
    STROBE_PACKET_FTRACE = 1,
    STROBE_PACKET_TREE = 2,
    STROBE_PACKET_CLOCKS = 6,
    STROBE_PACKET_TIMESTAMP = 8,
    STROBE_PACKET_SEQUENCE = 10,
    STROBE_PACKET_EVENT = 11,
    STROBE_PACKET_INTERNED = 12,
    STROBE_PACKET_FLAGS = 13,
    STROBE_PACKET_CLEARED = 41,
    STROBE_PACKET_DROPPED = 42,
    STROBE_PACKET_PROCESS = 43,
    STROBE_PACKET_THREAD = 44,
    STROBE_PACKET_DEFLATE = 50, /* packets, by zlib */
    STROBE_PACKET_CLOCK = 58,
    STROBE_PACKET_DEFAULTS = 59,
    STROBE_PACKET_TRACK = 60,
    STROBE_PACKET_ZSTD = 133,
};

/* Flags of a packet's sequence. */
enum { STROBE_PACKET_IS_CLEARED = 1, STROBE_PACKET_NEEDS_STATE = 2 };

/* Types of track events. */
enum {
    STROBE_PACKET_TYPE_BEGIN = 1,
    STROBE_PACKET_TYPE_END,
    STROBE_PACKET_TYPE_INSTANT,
    STROBE_PACKET_TYPE_COUNTER
};

/* A clock: that of a trace which names no other. */
enum { STROBE_PERFETTO_BOOTTIME = 6 };

#endif
