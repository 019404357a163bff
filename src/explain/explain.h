/* explain.h - where the time of a trace went, in statements: a cause first, then what it rests on.
 *
 * Each statement has words, a number, the query that gives this number again, zones as evidence, its share of the critical path
 * and what could be gained at most. Where the trace does not say, the statement is "not known". Rules: docs/explain.md.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPLAIN_EXPLAIN_H
#define STROBE_EXPLAIN_EXPLAIN_H

#include "base/json_write.h"
#include "explain/path.h"

enum strobe_explain_topic {
    STROBE_EXPLAIN_CAUSE = 0,    /* the one place to look at first */
    STROBE_EXPLAIN_PLACE = 1,    /* the critical path by places */
    STROBE_EXPLAIN_WAIT = 2,     /* the path by what it was spent with */
    STROBE_EXPLAIN_DEVICE = 3,   /* host or device */
    STROBE_EXPLAIN_OUTLIER = 4,  /* zones far longer than their like */
    STROBE_EXPLAIN_LOSS = 5,     /* what is not in the trace */
    STROBE_EXPLAIN_OVERHEAD = 6, /* what recording cost */
    STROBE_EXPLAIN_LACK = 7,     /* evidence that the trace has none of */
};

enum strobe_explain_class {
    STROBE_EXPLAIN_NONE = 0, /* a statement that is no cause */
    STROBE_EXPLAIN_LOCK = 1,
    STROBE_EXPLAIN_SLOW_MEMBER = 2, /* one comes last to a barrier, again and again */
    STROBE_EXPLAIN_ALLOCATIONS = 3,
    STROBE_EXPLAIN_IO = 4, /* a disk, a timer, another program: nothing that is in the trace */
    STROBE_EXPLAIN_KERNEL = 5,
    STROBE_EXPLAIN_STARVED = 6,   /* the device waits for the host */
    STROBE_EXPLAIN_PROCESSOR = 7, /* could run, had no processor */
    STROBE_EXPLAIN_WORK = 8,      /* code that runs */
    STROBE_EXPLAIN_UNKNOWN = 9,
};

struct strobe_explain_line {
    enum strobe_explain_topic topic;
    enum strobe_explain_class class;
    /* Texts of the strobe_explain; 0: none. */
    uint32_t words, query, zone, file, process, thread;
    uint32_t source_line;
    int has_value;
    int64_t value;    /* of the query: its first row's first column */
    double share;     /* of the path; below 0: none */
    uint64_t path_ns; /* spent there */
    int has_gain;
    uint64_t gain_ns;    /* at most */
    int64_t evidence[3]; /* ids of zones */
    uint32_t n_evidence;
};

struct strobe_explain_options {
    int by_time;
    int64_t from_ns, to_ns; /* after the start of the recording */
    const char *zone;       /* borrowed: steps; NULL: all of it is one */
    int with_path;          /* its stretches, too */
    const atomic_int *stop; /* borrowed: not 0 ends it, with LIMIT; NULL: none */
};

/* A stretch of the critical path. */
struct strobe_explain_stretch {
    int64_t from_ns, to_ns; /* after the start of the recording */
    uint32_t thread;        /* index in the trace's threads */
    uint8_t class;          /* enum strobe_path_class */
};

struct strobe_explain {
    struct strobe_explain_line *lines; /* owned */
    uint32_t n_lines, lines_room;
    struct strobe_texts texts;
    struct strobe_explain_stretch *stretches; /* owned: the first first; of options.with_path */
    uint32_t n_stretches;
    uint64_t least_ns; /* shorter stretches are left out; 0: none is */
    uint64_t path_ns, wall_ns, n_steps;
    int64_t from_ns, to_ns; /* of what was read */
};

/* Explain a trace. LIMIT: more events at one moment than are held; other errors as of reading. Free it in any case.
 * It opens the file twice, once for the path and once for the queries. Thread: the caller's, and those of strobe_sql. */
enum strobe_err strobe_explain_run(const char *trace_path,
                                   const struct strobe_explain_options *options,
                                   struct strobe_explain *explain);
void strobe_explain_free(struct strobe_explain *explain);

/* A text of a line, "" for 0; until the explanation changes. */
const char *strobe_explain_text(const struct strobe_explain *explain, uint32_t text);

/* What a class and a topic are called, in words and in JSON. */
const char *strobe_explain_class_name(enum strobe_explain_class class);
const char *strobe_explain_topic_name(enum strobe_explain_topic topic);
/* What the path was spent with, in words: "waiting for a disk". */
const char *strobe_explain_path_name(enum strobe_path_class class);

/* Its members, into an object that is open: docs/explain.md, "JSON". */
void strobe_explain_write(const struct strobe_explain *explain, struct strobe_json_writer *json);

#endif
