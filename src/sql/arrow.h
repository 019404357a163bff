/* arrow.h - columns for other libraries, by Arrow's C data interface: three structs of plain C, so that nobody links anybody.
 * The layout is Arrow's, stable since its version 1; https://arrow.apache.org/docs/format/CDataInterface.html and
 * CStreamInterface.html have the rules.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SQL_ARROW_H
#define STROBE_SQL_ARROW_H

#include <stddef.h>

#include "sql/columns.h"

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_NULLABLE 2

/* OFFSET SIZE FIELD        (LP64)
 *      0    8 format       "+s" struct, "l" int64, "i" int32, "g" double, "u" UTF-8 with offsets of 32 bits
 *      8    8 name
 *     16    8 metadata
 *     24    8 flags
 *     32    8 n_children
 *     40    8 children
 *     48    8 dictionary
 *     56    8 release      NULL: the struct was released or moved
 *     64    8 private_data */
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

/* OFFSET SIZE FIELD        (LP64)
 *      0    8 length
 *      8    8 null_count
 *     16    8 offset
 *     24    8 n_buffers    struct 1 (validity), numbers 2 (and values), texts 3 (and offsets, bytes)
 *     32    8 n_children
 *     40    8 buffers
 *     48    8 children
 *     56    8 dictionary
 *     64    8 release
 *     72    8 private_data */
struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

_Static_assert(sizeof(void *) != 8 || (offsetof(struct ArrowSchema, children) == 40 &&
                                       offsetof(struct ArrowSchema, private_data) == 64),
               "Arrow's layout");
_Static_assert(sizeof(void *) != 8 || (offsetof(struct ArrowArray, buffers) == 40 &&
                                       offsetof(struct ArrowArray, private_data) == 72),
               "Arrow's layout");

/* The reader as a stream. Both `sql` and `reader` become the stream's, which closes them at its release. *out is all zero
 * where that fails, and they are closed. get_next may run on any thread, one at a time; arrays outlive the stream. */
enum strobe_err strobe_arrow_stream(struct strobe_sql *sql, struct strobe_columns *reader,
                                    struct ArrowArrayStream *out);

#endif
