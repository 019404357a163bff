/* switches.h - who ran where, for a .tracy file that is to be written: runs of threads and fibers, runs of each processor,
 * threads of others.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_FILE_SWITCHES_H
#define STROBE_TRACY_FILE_SWITCHES_H

#include "base/err.h"
#include "query/texts.h"
#include "tracy_file/spool.h"

struct strobe_tracy_model;
struct strobe_tracy_out;
struct strobe_happening;
struct strobe_field;

enum { STROBE_TRACY_CPUS = 256 };

/* An event of the system's scheduler, until all are there and in order. */
struct strobe_tracy_turn_row {
    int64_t time;
    uint64_t order;
    uint64_t from, to; /* thread ids of the system; of WAKEUP, SWITCH_IN and SWITCH_OUT: `to` */
    uint8_t kind, cpu, reason, state;
};

/* A run of a thread or a fiber. */
struct strobe_tracy_run_row {
    int64_t wakeup, start, end;
    uint64_t tid, carrier; /* of a fiber: the thread that ran it, else 0 */
    uint8_t cpu, reason, state, wakeup_cpu;
};

struct strobe_tracy_cpu_row {
    int64_t start, end;
    uint32_t thread; /* in others */
    uint8_t cpu;
};

/* Sums of a thread over all processors. */
struct strobe_tracy_run_sum {
    int64_t running;
    uint32_t regions, migrations;
    uint32_t last_cpu;
};

struct strobe_tracy_other {
    uint64_t pid;
    uint32_t process, name; /* strings + 1, 0: not told */
    struct strobe_tracy_run_sum sum;
    int64_t wakeup, start; /* of the run that is open; -1: none */
    uint8_t cpu, wakeup_cpu;
};

struct strobe_tracy_switches {
    struct strobe_spool turns, runs, cpu_runs;
    struct strobe_idmap ids; /* (0, thread id of the system): who is in a switch or was told of */
    struct strobe_tracy_other *others; /* owned: by index in ids */
    uint32_t others_room;
    uint64_t has_in; /* threads' own switches are there: those of processors say nothing of them */
};

void strobe_tracy_switches_start(struct strobe_tracy_switches *switches, const char *folder);
void strobe_tracy_switches_free(struct strobe_tracy_switches *switches);
/* SWITCH_IN, SWITCH_OUT, CPU_SWITCH, WAKEUP; a fiber that has run. 0 without room. */
int strobe_tracy_switches_take(struct strobe_tracy_model *model,
                               const struct strobe_happening *happening);
int strobe_tracy_switches_fiber(struct strobe_tracy_model *model, uint32_t fiber, uint32_t carrier,
                                int64_t start, int64_t end);
/* What a FOREIGN_THREAD record says of a thread. */
void strobe_tracy_switches_name(struct strobe_tracy_model *model, const struct strobe_field *f);
/* Make runs of them, when all are there. */
enum strobe_err strobe_tracy_switches_gather(struct strobe_tracy_model *model);

/* Sections: names and ids of others' threads; runs; processors; sums per thread. */
void strobe_tracy_put_other_names(const struct strobe_tracy_model *model,
                                  struct strobe_tracy_out *out);
void strobe_tracy_put_other_ids(const struct strobe_tracy_model *model,
                                struct strobe_tracy_out *out);
void strobe_tracy_put_runs(struct strobe_tracy_model *model, struct strobe_tracy_out *out);
void strobe_tracy_put_pids(const struct strobe_tracy_model *model, struct strobe_tracy_out *out);

#endif
