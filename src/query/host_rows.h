/* host_rows.h - the hosts of a trace: those that were merged into it, with how well their times are known (CLOCK_PLACED), and those
 * that its recorder compared clocks with (CLOCK_ID, CLOCK_EXCHANGE).  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_HOST_ROWS_H
#define STROBE_QUERY_HOST_ROWS_H

#include "base/json_write.h"
#include "query/trace.h"

/* One of the traces that were merged. */
struct strobe_host_row {
    uint64_t proc, n_procs;        /* its processes: from this number on, so many numbers */
    uint32_t how;                  /* enum strobe_clock_how */
    uint32_t host;                 /* a text */
    uint64_t likely_ns, proven_ns; /* the most, but where a clock was stepped */
    uint64_t unsure_ns;            /* and there; 0: it was not */
    uint64_t n_steps;
};

struct strobe_host_rows {
    struct strobe_host_row *rows; /* owned */
    uint32_t n, room;
};

/* All of them, none in a trace that was not merged. 0: no memory. */
int strobe_host_rows_list(const struct strobe_trace *trace, struct strobe_host_rows *out);
void strobe_host_rows_free(struct strobe_host_rows *rows);

/* In a word: how a host's times got onto the axis. */
const char *strobe_host_row_how(uint32_t how);

/* How and how well, as members of an object of JSON that is open. */
void strobe_host_row_put(const struct strobe_host_row *row, struct strobe_json_writer *json);

/* A host that was asked, or asked. */
struct strobe_peer_row {
    uint32_t name, address; /* texts */
    uint32_t role;          /* enum strobe_clock_role */
    uint32_t n_exchanges;
    uint64_t best_ns; /* the shortest way there and back; 0: none */
};
/* The i-th one that the recorder met. 0: there are no more. */
int strobe_host_rows_peer(const struct strobe_trace *trace, uint32_t i,
                          struct strobe_peer_row *out);

/* How well a time of a process is known beside those of others. 0: all of the trace has one clock, or nothing is known. */
int strobe_host_rows_error(const struct strobe_trace *trace, uint64_t proc, uint64_t tick,
                           uint64_t *likely_ns, uint64_t *proven_ns);

#endif
