/* events_in.h - the events of a file of Chrome's JSON, one text after the other; compressed by gzip or not.
 *
 * Two forms: an array of events, whose end may be missing, or an object with the array in its member `traceEvents`. What else
 * is in the object is stepped over. One event is held at a time, whatever the file's size.  SPDX-License-Identifier: MIT */
#ifndef STROBE_IMPORT_EVENTS_IN_H
#define STROBE_IMPORT_EVENTS_IN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "import/json_fields.h"

enum { STROBE_EVENT_MAX_BYTES = 16 << 20 };

struct strobe_events_in;

/* An event: an object from '{' to '}', and its members. */
struct strobe_event_in {
    struct strobe_json_text text;
    struct strobe_json_field fields[STROBE_JSON_FIELDS_MAX];
    int n_fields; /* as of strobe_json_fields */
};

/* Open a file. INVALID: it is compressed, and this program was built without zlib. */
enum strobe_err strobe_events_in_open(const char *path, struct strobe_events_in **out);
/* The same over bytes in memory, which must outlive it. */
enum strobe_err strobe_events_in_over(const void *bytes, size_t n_bytes,
                                      struct strobe_events_in **out);
/* All was read: give back what the last event took. */
void strobe_events_in_drop(struct strobe_events_in *in);
void strobe_events_in_close(struct strobe_events_in *in); /* NULL is allowed */

/* The next event, until the next call.
 * END: that was all. CORRUPT: the file is cut off or no JSON at strobe_events_in_offset. FORMAT: it is neither of the forms.
 * BOMB: compressed, and it unpacks to more than 64 MiB and 256 times its size. */
enum strobe_err strobe_events_in_next(struct strobe_events_in *in, struct strobe_event_in *event);

/* The member baseTimeNanoseconds, as far as was read: what times count from, in ns since 1970 (PyTorch's profiler writes it). 0: none. */
uint64_t strobe_events_in_base_ns(const struct strobe_events_in *in);
uint64_t strobe_events_in_offset(const struct strobe_events_in *in); /* in the uncompressed bytes */
uint64_t
strobe_events_in_n_skipped(const struct strobe_events_in *in); /* too long, or no objects */

#endif
