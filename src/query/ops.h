/* ops.h - the ops of a trace: what was launched on its devices, one execution after the other, with the figures of the op report.
 *
 * An op is a program's execution on a device: the outermost zones of the device's lanes that carry the program's number. Executions
 * of one program are distinguished by time: a lane has one outermost zone in each. Where the trace was made of logs it has the rows
 * of the op report (DEVICE_OP records): these are the rows then, and the events only say where they are.
 *
 * The host's side is the zone that launched it: one with the op's number in its text ("id:N"), or the one that the flow to its
 * first kernel begins in.
 *
 *   new ──► scanning ──► whole     by strobe_ops_step, so many events at a time
 *               ▲          │
 *               └──────────┘       the file has grown
 *
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_OPS_H
#define STROBE_QUERY_OPS_H

#include "file/replay.h"
#include "query/tables.h"
#include "wire/device_op.h"

enum {
    STROBE_OPS_MAX = 1 << 20, /* executions that are kept; the rest is counted */
    STROBE_OPS_CORE_WORDS = 4 /* cores of a device that are distinguished: 256 */
};

/* A zone on a thread; `thread` STROBE_IDMAP_NONE: none. */
struct strobe_op_zone {
    uint64_t begin, ticks;
    uint32_t thread, depth;
};

/* First and last time of its zones of one kind on the device's own clock; n 0: none. */
struct strobe_op_range {
    int64_t first, last;
    uint32_t n;
};

/* An execution, as the events say. */
struct strobe_op {
    uint64_t program;
    uint64_t from, to; /* ticks of its outermost zones */
    struct strobe_op_range kernel, fw;
    uint64_t cores[STROBE_OPS_CORE_WORDS];
    uint32_t process;
    uint32_t riscs;              /* a bit for each that had a kernel of it, on workers */
    struct strobe_op_zone first; /* of its outermost zones */
};

/* A row of the list. Figures that are not known: their bit of `known` is not set. */
struct strobe_op_row {
    uint64_t op, program;                /* its number, that of its program */
    uint64_t session;                    /* of a replay; 0: none */
    uint64_t known;                      /* enum strobe_device_figure */
    uint64_t from, to;                   /* ticks on the device; 0: not known */
    struct strobe_op_zone kernels, host; /* where it begins on the device; what launched it */
    struct strobe_device_times times;    /* as far as they are known */
    double util;
    uint32_t process, name, trace,
        cores; /* name: of trace->texts, 0: none; trace UINT32_MAX: none */
    enum strobe_device_bound bound;
};

struct strobe_op_lane;
struct strobe_op_program;

struct strobe_ops {
    struct strobe_view *view;           /* borrowed */
    const struct strobe_tables *tables; /* borrowed: whole before the first step */
    struct strobe_op_row *rows;         /* owned: in the report's order, else by time */
    uint32_t n_rows;
    uint64_t n_left_out; /* executions beyond STROBE_OPS_MAX */
    int is_whole;        /* all blocks were seen, and rows is of them */

    struct strobe_op *ops; /* owned: as they were found */
    uint32_t n_ops, ops_room;
    struct strobe_idmap program_ids;    /* (process, program) */
    struct strobe_op_program *programs; /* owned */
    uint32_t programs_room;
    struct strobe_op_lane *lanes; /* owned: by thread */
    struct strobe_carry *carries; /* owned: likewise */
    uint8_t *threads;             /* owned: likewise, 1: looked at */
    uint32_t lanes_room, carries_room, threads_room;
    struct strobe_idmap core_ids; /* (process, place) */
    uint32_t *core_numbers;       /* owned: number of a core on its device */
    uint32_t core_numbers_room;
    uint8_t *kinds; /* owned: by location, what its name says; 0: not looked at */
    uint32_t kinds_room;
    struct strobe_idmap host_ids; /* (owner + 1, flow), (0, op's number) */
    struct strobe_op_zone *hosts; /* owned: the zone that each begins in */
    uint32_t hosts_room;
    const struct strobe_flow_point *
        *points; /* owned: where flows begin on hosts, by thread and tick; of a step */
    uint32_t n_points;
    uint32_t next_block;
    enum strobe_err err; /* of a sink */
};

/* Look at `max_events` more. Zero-initialise but for view and tables before the first step; free once. NOMEM. */
enum strobe_err strobe_ops_step(struct strobe_ops *ops, uint64_t max_events);
/* How much of the trace was seen: 0 to 1. */
double strobe_ops_share(const struct strobe_ops *ops);
void strobe_ops_free(struct strobe_ops *ops);

/* A processor's part in a row. */
struct strobe_op_part {
    uint32_t thread;
    uint64_t kernel_ns; /* sum of its kernel zones, and of outermost ones that are no firmware */
    uint64_t busy_ns;   /* of its outermost zones */
};

/* Which processors a row ran on, and how long: *out is to be freed, by thread. */
enum strobe_err strobe_ops_parts(struct strobe_ops *ops, const struct strobe_op_row *row,
                                 struct strobe_op_part **out, uint32_t *n);

/* ---- what both files of it share ---- */

/* What a location's name says of its zones. */
enum strobe_op_kind { STROBE_OP_OTHER = 1, STROBE_OP_FW, STROBE_OP_KERNEL, STROBE_OP_HOST };
enum strobe_op_kind strobe_ops_kind(struct strobe_ops *ops, uint32_t loc);

/* A duration of a device's own clock in ns, as the op report rounds it. */
int64_t strobe_ops_ns(const struct strobe_trace *trace, uint32_t process, int64_t cycles);
/* Begin and end of a zone on its process's own clock. */
int64_t strobe_ops_begin(const struct strobe_trace *trace, uint32_t process,
                         const struct strobe_zone_row *zone);
int64_t strobe_ops_end(const struct strobe_trace *trace, uint32_t process,
                       const struct strobe_zone_row *zone);
/* The cycles from one time to another. */
static inline int64_t strobe_ops_cycles(int64_t from, int64_t to)
{
    return (int64_t)((uint64_t)to - (uint64_t)from);
}
/* 1: kernels of programs run on it. */
static inline int strobe_ops_is_lane(const struct strobe_trace_thread *thread)
{
    return thread->is_lane && thread->core_kind != 2;
}

/* The execution of a program that is nearest to the ticks from to to, within their length: its index in the program's runs, and
 * *at, where a new one belongs. STROBE_IDMAP_NONE: none. `except`: not this one. */
uint32_t strobe_ops_find(const struct strobe_ops *ops, const struct strobe_op_program *program,
                         uint64_t from, uint64_t to, uint32_t except, uint32_t *at);
struct strobe_op_program {
    uint32_t *runs; /* owned: of ops->ops, by `from` */
    uint32_t n, room;
};

/* Make ops->rows of what was seen (ops_rows.c). */
enum strobe_err strobe_ops_make_rows(struct strobe_ops *ops);

#endif
