/* hits.h - the first rows of a list of zones in the order that a question wants, whatever the number of zones: those behind
 * them are counted only. A list is made step by step, so that no question takes long.
 *
 *   new ──► scanning ──► whole      by strobe_hits_scan, a step at a time
 *               ▲          │
 *               └──────────┘        by strobe_hits_keep: the file has grown
 *
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_ENGINE_HITS_H
#define STROBE_ENGINE_HITS_H

#include "engine/tracks.h"
#include "query/scan.h"

enum {
    STROBE_HITS_MAX = 1 << 18,    /* rows that a list may have, */
    STROBE_HITS_FOUND = 1 << 15,  /* and those that a search keeps, however few are shown */
    STROBE_HITS_EVENTS = 1 << 21, /* looked at in one step */
    STROBE_HITS_TEXT = 4 << 20,   /* bytes of their texts */
    STROBE_HITS_BINS = 4096,
};

struct strobe_hit {
    uint64_t begin, self;
    uint64_t ns; /* how long it is, as it is shown */
    uint32_t track, depth, loc;
    uint32_t text; /* in hits->texts, 0: none */
    uint32_t order;
    uint8_t what; /* of a search */
};

/* What was said of a zone; NULL: nothing. */
struct strobe_said {
    const char *text, *name;
    uint32_t n_text, n_name;
};

typedef int (*strobe_hit_order)(const void *, const void *);
extern const strobe_hit_order strobe_hit_orders[2][2]; /* by duration: 1; reversed: 1 */

struct strobe_hits {
    struct strobe_engine *engine; /* borrowed */
    char *key;                    /* owned: of the question that they answer */
    strobe_hit_order order;
    int by_duration, is_reversed;
    uint32_t most; /* rows that are wanted */
    struct strobe_hit *
        rows; /* owned: at most a quarter more; after strobe_hits_settle the first ones, in order */
    uint32_t n, room;
    struct strobe_hit last; /* once is_cut: what comes after it is not wanted */
    int is_cut;             /* rows were left out */
    uint64_t total;         /* zones that fit, listed or not */
    struct strobe_texts texts;
    /* The scan: */
    uint32_t next_block;
    int is_scanned;       /* all blocks were seen, and the tables */
    int is_whole;         /* and whatever else belongs to the answer */
    uint64_t n_of_tables; /* hits that are no thread's: found anew when the file has grown */
    /* What fits: zones of one location, and how long they are in ns; or whatever `take` says. */
    uint32_t number;
    double min, max;
    uint32_t next_table, table_step; /* where the scan of tables goes on */
    int are_tables_over;
    void (*take)(struct strobe_hits *hits, struct strobe_hit hit, const struct strobe_said *said);
    /* Search: */
    char text[256];
    size_t n_text;
    const uint8_t *locs; /* borrowed: locations whose zones are hits by name */
    uint32_t n_locs;
    int by_text;
    /* Hits by time, counted only or not: bins of 2^bins_shift ticks. */
    uint32_t bins[STROBE_HITS_BINS];
    uint64_t bins_from;
    uint32_t bins_shift;
};

/* What was kept for a question, if it asks for the same in the same order; else new ones in its place, empty. `key` is then
 * theirs. NULL without memory. */
struct strobe_hits *strobe_hits_keep(struct strobe_engine *engine, struct strobe_hits **kept,
                                     char *key, int by_duration, int is_reversed, uint32_t most);

/* One more zone that fits, with its text if it is among the first. */
void strobe_hits_add(struct strobe_hits *hits, struct strobe_hit hit, const char *text,
                     uint32_t n_text);

/* One step of a scan over threads, then tables: take() sees the zones. `scan` has what is wanted. */
enum strobe_err strobe_hits_scan(struct strobe_hits *hits, struct strobe_scan *scan,
                                 const struct strobe_choice *choice);

/* The first rows, in order. */
void strobe_hits_settle(struct strobe_hits *hits);

/* How much of the trace was seen: 0 to 1. */
double strobe_hits_share(const struct strobe_hits *hits);

#endif
