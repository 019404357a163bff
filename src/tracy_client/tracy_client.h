/* tracy_client.h - what the files of libTracyClient share.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_CLIENT_TRACY_CLIENT_H
#define STROBE_TRACY_CLIENT_TRACY_CLIENT_H

#define TRACY_ENABLE
#define STROBE_TRACY_CLIENT
#include "tracy/TracyC.h"

#include <string.h>

/* The location that stands for one in constant memory; NULL: too many are known, take strobe_tracy_loc_id. */
static inline struct strobe_loc *
strobe_tracy_loc(const struct ___tracy_source_location_data *srcloc)
{
    return strobe_loc_of((const struct strobe_const_loc *)srcloc);
}

/* Its id by its texts, as of strobe_loc_id. */
static inline uint64_t strobe_tracy_loc_id(const struct ___tracy_source_location_data *loc)
{
    const char *function = loc->function ? loc->function : "", *file = loc->file ? loc->file : "";
    return strobe_loc_id(file, strlen(file), loc->line, function, strlen(function), loc->name,
                         loc->name ? strlen(loc->name) : 0, loc->color);
}

#endif
