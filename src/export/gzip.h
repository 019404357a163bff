/* gzip.h - an out.h whose bytes are compressed on their way to a file descriptor. Without zlib they go there as they are.  SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_GZIP_H
#define STROBE_EXPORT_GZIP_H

#include "base/out.h"

struct strobe_gzip;

/* Open `out` over `fd`, which stays the caller's. NULL without memory. */
struct strobe_gzip *strobe_gzip_open(struct strobe_out *out, int fd);

/* Write what is left, end `out` and free both. errno of the first failure, 0: none. */
int strobe_gzip_close(struct strobe_gzip *gzip, struct strobe_out *out);

#endif
