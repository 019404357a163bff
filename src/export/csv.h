/* csv.h - what the files of the csv command share.  SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_CSV_H
#define STROBE_EXPORT_CSV_H

#include "base/out.h"
#include "query/symbols.h"
#include "query/trace.h"
#include "query/walk.h"

enum { STROBE_CSV_PREFIX = 512 }; /* prefixes longer than this are written without the cache */

/* A piece of a row that many rows share. */
struct strobe_csv_prefix {
    uint32_t key; /* index + 1, 0: none */
    uint32_t n;   /* 0: too long to be kept */
    char text[STROBE_CSV_PREFIX];
};

enum { STROBE_CSV_LOCS = 4096 };

struct strobe_csv_kind;
struct strobe_csv {
    struct strobe_trace *trace;         /* borrowed */
    struct strobe_out *out;             /* borrowed */
    struct strobe_symbols *symbols;     /* borrowed; NULL: addresses stay numbers */
    const struct strobe_csv_kind *kind; /* borrowed: the table that is made of events, else NULL */
    const uint8_t *processes;           /* borrowed: by index, 0: leave it out; NULL: all */
    uint32_t n_processes;
    const uint8_t *threads; /* borrowed: by index, 0: leave it out; NULL: all */
    uint32_t n_threads;
    struct strobe_csv_prefix *locs;  /* owned: STROBE_CSV_LOCS, by hash of the index */
    struct strobe_csv_prefix thread; /* of the last thread */
    struct strobe_clock_part part;   /* of the clock, which the last zone was in */
};

/* 0: rows of this process are not wanted. */
static inline int strobe_csv_wants(const struct strobe_csv *csv, uint32_t process)
{
    return !csv->processes || process >= csv->n_processes || csv->processes[process];
}

/* 0: rows of this thread of the process are not wanted. */
static inline int strobe_csv_wants_thread(const struct strobe_csv *csv, uint32_t process,
                                          uint32_t thread)
{
    return strobe_csv_wants(csv, process) &&
           (!csv->threads || (thread < csv->n_threads && csv->threads[thread]));
}

/* "process,pid,thread,tid," */
void strobe_csv_put_thread(struct strobe_csv *csv, uint32_t process, uint32_t thread);
/* "name,function,file,line," */
void strobe_csv_put_loc(struct strobe_csv *csv, uint32_t loc, uint64_t id);

/* csv_zones.c: sinks of a walk. */
extern const char strobe_csv_zones_head[];
extern const char strobe_csv_spans_head[];
enum strobe_err strobe_csv_zones(void *csv, const struct strobe_batch *batch);
enum strobe_err strobe_csv_spans(void *csv, const struct strobe_batch *batch);

/* csv_events.c: a kind of rows that come from events. */
struct strobe_csv_kind {
    const char *name;
    const char *head;
    uint64_t kinds; /* events that it shows */
    void (*put_rest)(struct strobe_csv *csv,
                     const struct strobe_happening *happening); /* after its time */
    const char *help;
};
/* A row of csv->kind: what a walk calls. */
enum strobe_err strobe_csv_put_event(void *csv, const struct strobe_happening *happening);
extern const struct strobe_csv_kind strobe_csv_kinds[];
extern const size_t strobe_csv_n_kinds;

/* csv_facts.c: rows that come from records. */
struct strobe_csv_facts {
    const char *name;
    const char *head;
    enum strobe_err (*put)(struct strobe_csv *csv);
    int needs_walk; /* coverage has to be counted first */
    const char *help;
};
extern const struct strobe_csv_facts strobe_csv_facts[];
extern const size_t strobe_csv_n_facts;

/* csv_gpu.c: zones of GPU contexts. */
enum strobe_err strobe_csv_gpu(struct strobe_csv *csv);

#endif
