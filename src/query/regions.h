/* regions.h - what ran inside named regions of a trace: zones that begin in them, summed by name.
 *
 * A region is a name with its stretches of time: zones or spans of that name, or what lies between a message (a signpost) and the
 * next one of its process. A zone is in a region if it begins in one of its stretches, on whatever thread, process or device; it counts once
 * per region. Zones that make a region are not in it. Two passes over the events; memory grows with stretches, regions and names.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_REGIONS_H
#define STROBE_QUERY_REGIONS_H

#include "query/trace.h"

enum strobe_region_kind {
    STROBE_REGION_SIGNPOST = 0, /* messages `TT_SIGNPOST: header`, named by the header */
    STROBE_REGION_MESSAGE = 1,  /* messages, by their first line */
    STROBE_REGION_ZONE = 2,
    STROBE_REGION_SPAN = 3,
};

enum strobe_region_scope {
    STROBE_REGION_ALL = 0, /* zones of all processes */
    STROBE_REGION_PROCESS = 1,
    STROBE_REGION_THREAD = 2, /* of the thread that the region is on; spans: where they ended */
};

enum { STROBE_REGION_STRETCHES = 16 << 20 }; /* at the most: LIMIT beyond */

/* Which regions, which zones. All borrowed until strobe_regions_close. */
struct strobe_regions_options {
    struct strobe_region_want {
        enum strobe_region_kind kind;
        const char *pattern;
    } const *wants;
    uint32_t n_wants;
    const char *const *zones; /* patterns; a zone that matches any is summed. None: all are */
    uint32_t n_zones;
    enum strobe_region_scope scope;
    int (*matches)(const char *pattern, const char *text); /* a text by a pattern: 1 */
    /* Zones of these processes and threads alone are summed, by index; regions may be anybody's. */
    struct strobe_region_picked {
        const uint8_t *is_in; /* n of them; NULL: all are */
        uint32_t n;
    } processes, threads;
    int by_tick; /* zones that begin in [tick_min, tick_max] */
    uint64_t tick_min, tick_max;
};

/* A region. `name` is an id of regions->texts. */
struct strobe_region {
    enum strobe_region_kind kind;
    uint32_t name;
    uint64_t n_stretches;
    uint64_t ns; /* of all stretches, each for itself */
    uint64_t n_zones, self_ns;
    int64_t first_ns; /* begin of the first, after the trace's start */
};

/* What the zones of one name spent in one region. Sums of what strobe_csv shows of each. */
struct strobe_region_row {
    uint32_t region, name;
    uint64_t count, total_ns, self_ns;
};

struct strobe_stretch;

struct strobe_regions {
    struct strobe_trace *trace;                   /* borrowed */
    const struct strobe_regions_options *options; /* borrowed */
    struct strobe_texts texts;
    struct strobe_region *regions; /* owned: n_regions, in the order in which they were found */
    uint32_t n_regions, regions_room;
    struct strobe_region_row *rows; /* owned: row_ids.n of them */
    uint32_t rows_room;
    struct strobe_idmap region_ids, row_ids;
    uint64_t n_bad_parts;

    struct strobe_stretch *stretches; /* owned: by begin */
    uint64_t n_stretches, stretches_room;
    int64_t *block_ends, *group_ends; /* owned: latest end of 64 stretches, of 64 blocks */
    uint64_t *last_zone; /* owned: by region, the number of the zone that it counted last */
    uint64_t n_zones_seen;
    struct strobe_loc_name {
        uint32_t name; /* + 1; 0: not asked yet */
        uint8_t is_wanted;
    } * loc_names; /* owned: by location */
};

/* The header of a message that is a signpost, its first line: *n bytes of the event's own. NULL: it is none. */
const char *strobe_region_signpost(const struct strobe_event *message, uint64_t *n);

/* Find the regions and sum. Zero-initialise `out`; close it in any case. NOMEM, LIMIT, or what reading the trace gives. */
enum strobe_err strobe_regions_run(struct strobe_trace *trace,
                                   const struct strobe_regions_options *options,
                                   struct strobe_regions *out);
void strobe_regions_close(struct strobe_regions *regions);

/* Put the rows in the order in which they are shown: regions by their first stretch, names by their total. The regions' numbers in
 * that order, to be freed; NULL without memory. */
uint32_t *strobe_regions_sort(struct strobe_regions *regions);

/* What a kind is called, and back: 0: no kind has this name. */
const char *strobe_region_kind_name(enum strobe_region_kind kind);
int strobe_region_kind_find(const char *name, size_t n_name, enum strobe_region_kind *out);

#endif
