/* tracefs.h - what the kernel says of a tracepoint: its number, and where fields are in its records.
 *
 * Offsets differ between kernels, so they are read, never built in. Where tracefs is not mounted, a child process mounts it in a mount
 * namespace of its own: nothing changes for the rest of the system.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_TRACEFS_H
#define STROBE_SAMPLE_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strobe_tracefs_field {
    uint16_t at, n_bytes; /* in the record's raw data; n_bytes 1, 2, 4 or 8 */
};

/* Read the text of events/NAME/format ("sched/sched_switch") into `text`, with a 0 behind it. False: it can't be had; root alone has it. */
bool strobe_tracefs_read(const char *name, char *text, size_t room);
/* The event's number in such a text; 0: there is none. */
uint32_t strobe_tracefs_id(const char *text);
/* A field of that name. False: there is none, or it is no number. */
bool strobe_tracefs_field(const char *text, const char *name, struct strobe_tracefs_field *out);
/* The value of a field, as unsigned. False: the raw data is too short. */
bool strobe_tracefs_value(const struct strobe_tracefs_field *field, const uint8_t *raw,
                          size_t n_raw, uint64_t *out);

#endif
