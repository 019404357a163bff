/* wire_out.h - events of Tracy's protocol, client's side, into frames. No I/O: whoever has the socket
 * takes the frames.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BRIDGE_WIRE_OUT_H
#define STROBE_BRIDGE_WIRE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracy/events.h"

enum { STROBE_BRIDGE_MAX_TEXT = 60000 }; /* bytes of a text; longer ones are cut */

struct strobe_wire_out {
    struct strobe_tracy_table table;
    uint8_t *raw; /* owned: the frame under construction */
    size_t n_raw;
    uint8_t *stored; /* owned: u32 length and a compressed frame */
    uint64_t thread_ref, serial_ref, gpu_ref, ctx_ref;
    uint64_t n_events;
};

/* For a protocol that the table knows. False: it does not, or there is no memory. */
bool strobe_wire_out_open(struct strobe_wire_out *out, uint32_t protocol);
void strobe_wire_out_close(struct strobe_wire_out *out);

/* True: the frame has no room for another event of any size. */
static inline bool strobe_wire_out_full(const struct strobe_wire_out *out)
{
    return out->n_raw > STROBE_TRACY_RAW_MAX - 2 * 65536 - 4096;
}

/* Compress the frame. Its bytes with their length in front, until the next call; 0: it was empty. */
size_t strobe_wire_out_frame(struct strobe_wire_out *out, const uint8_t **bytes);

/* True: the protocol has this event. */
bool strobe_wire_has(const struct strobe_wire_out *out, enum strobe_tracy_event event);

/* An event whose fields, in the order of its layout, are numbers (d and f: bits of a double). Times of
 * letters t, s, g, c are given whole; differences are made here. False: the protocol has no such event.
 */
bool strobe_wire_put(struct strobe_wire_out *out, enum strobe_tracy_event event,
                     const uint64_t *fields);
/* Begin and end of a zone, in the shortest form that the protocol has; `has_stack`: a call stack was sent for it. */
void strobe_wire_zone_begin(struct strobe_wire_out *out, uint64_t tick, uint64_t loc,
                            bool has_stack);
void strobe_wire_zone_end(struct strobe_wire_out *out, uint64_t tick);
/* A sample of a thread, whose call stack was sent before; `at_switch`: it was taken where the thread was switched. */
void strobe_wire_sample(struct strobe_wire_out *out, uint64_t tick, uint32_t tid, bool at_switch);
/* From here on events are this thread's. */
void strobe_wire_thread(struct strobe_wire_out *out, uint32_t tid);
/* The text of the event that follows; the second one, where it has two. */
void strobe_wire_text(struct strobe_wire_out *out, const char *text, size_t n);
void strobe_wire_second_text(struct strobe_wire_out *out, const char *text, size_t n);
/* A text for a pointer: StringData and its like; FrameImageData with its long length. */
void strobe_wire_transfer(struct strobe_wire_out *out, enum strobe_tracy_event event,
                          uint64_t pointer, const void *bytes, size_t n);

#endif
