/* maps.h - what a process has mapped executable, by address. A newer mapping takes the place of what it covers.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_MAPS_H
#define STROBE_SAMPLE_MAPS_H

#include "base/err.h"
#include "sample/module.h"

enum { STROBE_MAPS_MAX = 16384 };

struct strobe_mapping {
    uint64_t start, end, offset;         /* offset: in the file, of start */
    struct strobe_sample_module *module; /* borrowed; NULL: none */
    bool is_told;                        /* the trace has a MODULE record of it */
};

/* Sorted by start; they do not overlap. */
struct strobe_maps {
    struct strobe_mapping *items; /* owned */
    uint32_t n, room;
    uint32_t last; /* where the last search ended */
};

void strobe_maps_free(struct strobe_maps *maps);
/* NOMEM; LIMIT: the process has too many. Empty ranges are left out. */
enum strobe_err strobe_maps_add(struct strobe_maps *maps, struct strobe_mapping mapping);
/* The mappings of a forked child. NOMEM: it has none. */
enum strobe_err strobe_maps_copy(struct strobe_maps *to, const struct strobe_maps *from);
/* The mapping around an address; NULL: none. Until the next add. */
struct strobe_mapping *strobe_maps_find(struct strobe_maps *maps, uint64_t address);

#endif
