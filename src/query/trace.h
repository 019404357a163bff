/* trace.h - a trace with its names: processes, threads, locations, clocks, losses.
 * Opening reads all RECORDS blocks and no event. Fields are for reading; only query/ writes them.
 * One thread per trace.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_TRACE_H
#define STROBE_QUERY_TRACE_H

#include "file/file_read.h"
#include "file/decode.h"
#include "query/clock.h"
#include "query/texts.h"

enum strobe_end_how { STROBE_END_UNKNOWN = 0, STROBE_END_EXIT = 1, STROBE_END_SIGNAL = 2 };

/* Texts are ids of trace->texts. */
struct strobe_process {
    uint64_t proc; /* its number in the file */
    uint64_t pid;
    uint64_t parent_pid;
    uint32_t exe, cwd, argv, program_name;
    uint32_t n_threads;
    uint8_t is_known;  /* a process record was found */
    uint8_t is_tracy;  /* it spoke Tracy's protocol, of this number (0: from a file) */
    uint8_t has_taken; /* the counts are there */
    uint64_t tracy_protocol;
    uint64_t n_zones_taken, n_events_taken, n_set_aside, n_unnamed;
    uint8_t has_ended;
    uint8_t is_sampled; /* the recorder took samples and switches of it: its tracks have no zones */
    uint8_t is_timed;   /* its client took samples of it, by timers: they are on its own tracks */
    uint8_t has_kernel_frames;
    uint8_t has_python; /* what follows says what became of its samples' Python frames */
    uint8_t python_minor, python_state;
    uint64_t n_python_joined, n_python_missed, python_late_ns, python_late_max_ns;
    uint64_t sample_hz, sample_error_ns;
    uint32_t
        twin; /* two clients live in one process: index + 1 of the first of them; 0: just one */
    uint32_t image_of;   /* an earlier image of the same process, index + 1; 0: it is the first */
    uint32_t source;     /* number of the trace that it was merged from, 0: this one */
    uint64_t start_time; /* of the system, to tell processes with the same pid apart */
    uint64_t
        outer_pid; /* as its recorder knew it, where it was in another pid namespace; 0: not known */
    uint64_t pid_ns;   /* that namespace; 0: the recorder's own, or not known */
    uint8_t is_device; /* it stands for one */
    uint32_t device;   /* its number there */
    uint32_t grid_x, grid_y;
    uint64_t khz;      /* of a device: its nominal frequency; 0: not known */
    uint64_t host_pid; /* of a device: the pid of the program that had it open; 0: not known */
    uint64_t how;      /* enum strobe_end_how */
    uint64_t end_value;
    uint64_t end_tick;
    uint32_t own_first, n_own; /* in trace->own_pieces: it has a clock of its own */
};

struct strobe_trace_thread {
    uint64_t track;
    uint64_t tid;
    uint64_t start_tick;
    uint64_t end_tick; /* 0: not known */
    uint32_t process;  /* index in trace->processes */
    uint32_t name;
    /* Coverage, filled by walks over all events: */
    uint64_t n_stored;
    uint64_t next_pos;  /* word after the last part seen */
    uint64_t gap_words; /* words between parts that are nowhere */
    uint64_t first_pos; /* word that its first part starts with */
    uint8_t is_seen;    /* it has a part */
    uint8_t is_known;   /* a thread record was found */
    uint32_t twin;      /* several tracks are of this thread: index + 1 of the first; 0: just one */
    /* Of a device's processor: */
    uint8_t is_lane;   /* it is one */
    uint8_t core_kind; /* 0 worker, 1 ethernet, 2 dispatch, 3 DRAM */
    uint8_t risc;      /* which one of its core */
    uint32_t x, y;     /* of its core, on the device's network */
    uint32_t logical_x, logical_y;
};

struct strobe_loc_row {
    uint32_t name, function, file;
    uint32_t line;
    uint32_t color;
};

/* Locations with the same name, function, file and line are one to the reader, whatever their ids. */
static inline uint64_t strobe_loc_hash(const struct strobe_loc_row *loc, uint64_t seed)
{
    return strobe_hash_pair((uint64_t)loc->name << 32 | loc->function,
                            (uint64_t)loc->file << 32 | loc->line, seed);
}

static inline int strobe_loc_same(const struct strobe_loc_row *a, const struct strobe_loc_row *b)
{
    return a->name == b->name && a->function == b->function && a->file == b->file &&
           a->line == b->line;
}

/* Losses of one track and cause, all their records together. */
struct strobe_loss_row {
    uint32_t process; /* STROBE_IDMAP_NONE: of no process */
    uint64_t track;   /* 0: not known which */
    uint64_t cause;
    uint64_t count;
    uint64_t first_tick, last_tick;
};

struct strobe_module {
    uint32_t process;
    uint64_t base, size, offset;
    uint32_t build_id, path;
};

/* A piece of the map of a process's own clock: CLOCK_MAP. */
struct strobe_own_row {
    uint32_t process;
    uint32_t order; /* in the file */
    int64_t time;
    uint64_t tick, mult, error_ns;
};

struct strobe_plot {
    uint64_t format, step, color;
};

struct strobe_fact_note {
    uint32_t process;
    uint32_t text;
};

/* A row of the op report: DEVICE_OP. */
struct strobe_op_record {
    uint64_t op, session, from, to; /* from, to: ticks, 0: not known */
    uint64_t known;                 /* bits: wire/device_op.h */
    uint64_t host_ns, kernel_ns, fw_ns;
    int64_t gap_ns;
    double util;
    uint32_t process, name;
    uint32_t cores, bound, trace; /* trace UINT32_MAX: none */
};

struct strobe_moment {
    uint64_t tick;
    uint64_t what;   /* RECORDING */
    uint32_t reason; /* KEPT */
};

/* Who takes part in comparisons of clocks: CLOCK_ID. */
struct strobe_clock_name {
    uint64_t id_high, id_low;
    uint32_t role; /* enum strobe_clock_role */
    uint32_t name, address;
};

/* A question and its answer: CLOCK_EXCHANGE. */
struct strobe_clock_exchange {
    uint64_t id_high, id_low;
    uint64_t sent, received, answered, back;
    uint32_t kernel;
};

/* How well times of some processes are known, from a tick on: CLOCK_PLACED. */
struct strobe_clock_placed {
    uint64_t proc, n_procs, tick, likely_ns, proven_ns, n_steps;
    uint32_t how; /* enum strobe_clock_how */
    uint32_t host;
};

/* Something that could not be recorded. */
struct strobe_unrecorded {
    uint64_t pid, tick;
    uint32_t what, reason;
};

/* What to keep of the records; 0: everything. */
enum { STROBE_TRACE_NO_LOCS = 1 };

struct strobe_trace {
    struct strobe_file *file; /* owned */
    struct strobe_schema schema;
    struct strobe_texts texts;
    struct strobe_clock clock;

    struct strobe_process *processes; /* owned; index by strobe_idmap_find(&process_ids, 0, proc) */
    uint32_t n_processes, processes_room;
    struct strobe_idmap process_ids;

    struct strobe_trace_thread *threads; /* owned; (process index, track) */
    uint32_t threads_room;
    struct strobe_idmap thread_ids;

    struct strobe_loc_row *locs; /* owned; (process index, id) */
    uint32_t locs_room;
    struct strobe_idmap loc_ids;

    struct strobe_idmap string_ids, fiber_ids, lock_ids, plot_ids; /* (process index, id) */
    uint32_t *strings, *fibers, *locks;                            /* owned: texts */
    uint64_t *lock_locs;       /* owned: ids of the locks' locations */
    struct strobe_plot *plots; /* owned */
    uint32_t strings_room, fibers_room, locks_room, plots_room, lock_locs_room;

    struct strobe_idmap program_ids;
    uint32_t *programs; /* owned: names of devices' programs, texts; (process index, number) */
    uint32_t programs_room;
    struct strobe_op_record *ops; /* owned: in file order */
    uint32_t n_ops, ops_room;

    struct strobe_module *modules; /* owned: in file order */
    uint32_t n_modules, modules_room;

    struct strobe_loss_row *losses; /* owned */
    uint32_t losses_room;
    struct strobe_idmap loss_ids;

    struct strobe_fact_note *notes; /* owned */
    uint32_t n_notes, notes_room;
    struct strobe_fact_note *environment; /* owned */
    uint32_t n_environment, environment_room;
    struct strobe_own_row *own_pieces; /* owned: by process, then in file order */
    uint32_t n_own_pieces, own_pieces_room;
    struct strobe_moment *recordings; /* owned */
    uint32_t n_recordings, recordings_room;
    struct strobe_unrecorded *unrecorded; /* owned */
    uint32_t n_unrecorded, unrecorded_room;
    int is_counted; /* events and gaps of threads are those of a pass over all parts */
    struct strobe_clock_name *clock_names; /* owned */
    uint32_t n_clock_names, clock_names_room;
    struct strobe_clock_exchange *exchanges; /* owned: in file order */
    uint32_t n_exchanges, exchanges_room;
    struct strobe_clock_placed *placed; /* owned: in file order */
    uint32_t n_placed, placed_room;
    struct strobe_moment *kept; /* owned */
    uint32_t n_kept, kept_room;

    uint32_t hostname, kernel, cpu;
    uint64_t recorder_cpu_ns, event_ps, waited_ns, n_overhead_events;
    uint8_t has_overhead;
    uint8_t has_python_hooks; /* a process traced its Python calls */
    uint64_t python_call_ps;  /* what such a call costs more, the most of all; 0: not known */
    uint8_t has_twins;        /* of threads */
    uint32_t n_bad_records;   /* RECORDS blocks that could not be read to their end */

    unsigned flags;
    uint64_t records_end;                   /* RECORDS blocks before this offset were read */
    const struct strobe_idmap *wanted_locs; /* borrowed while strobe_trace_load_locs runs */
};

/* Open a trace and read its records. Errors as of strobe_file_open. */
enum strobe_err strobe_trace_open(const char *path, unsigned flags, struct strobe_trace **out);

/* The same over an open file, which the trace then owns (closed on failure too). */
enum strobe_err strobe_trace_open_file(struct strobe_file *file, unsigned flags,
                                       struct strobe_trace **out);
void strobe_trace_close(struct strobe_trace *trace); /* NULL is allowed */

/* The file may have grown: read the records that are new. Indices stay as they are; texts may move. */
enum strobe_err strobe_trace_refresh(struct strobe_trace *trace);

/* Read the locations whose keys (process index, id) are in `wanted`, after STROBE_TRACE_NO_LOCS. */
enum strobe_err strobe_trace_load_locs(struct strobe_trace *trace,
                                       const struct strobe_idmap *wanted);

/* Indices, made if need be: events may come from processes and threads that no record names.
 * STROBE_IDMAP_NONE without memory. */
uint32_t strobe_trace_process(struct strobe_trace *trace, uint64_t proc);
uint32_t strobe_trace_thread(struct strobe_trace *trace, uint32_t process, uint64_t track);

/* The thread or process that stands for all that are one to the system: the first of its twins, or itself. */
static inline uint32_t strobe_trace_first_thread(const struct strobe_trace *trace, uint32_t thread)
{
    uint32_t twin = trace->threads[thread].twin;
    return twin ? twin - 1 : thread;
}

static inline uint32_t strobe_trace_first_process(const struct strobe_trace *trace,
                                                  uint32_t process)
{
    uint32_t twin = trace->processes[process].twin;
    return twin ? twin - 1 : process;
}

/* How many processes and threads the system had: twins are one, and so are the images that a process had by exec. */
void strobe_trace_count_lives(const struct strobe_trace *trace, uint32_t *n_processes,
                              uint32_t *n_threads);

/* The process whose numbers the flows of `process` have: a device's are those of the program that had it open, two clients of
 * one process share theirs. */
uint32_t strobe_trace_flow_owner(const struct strobe_trace *trace, uint32_t process);

/* The index of a location, STROBE_IDMAP_NONE where no record names it. */
uint32_t strobe_trace_loc(const struct strobe_trace *trace, uint32_t process, uint64_t id);

/* Texts for people, valid until the trace changes. `room` holds made-up ones ("thread 7"). */
enum { STROBE_NAME_ROOM = 64 };
const char *strobe_trace_text(const struct strobe_trace *trace, uint32_t text, uint32_t *n_bytes);
const char *strobe_trace_process_name(const struct strobe_trace *trace, uint32_t process,
                                      char room[STROBE_NAME_ROOM], uint32_t *n_bytes);
const char *strobe_trace_thread_name(const struct strobe_trace *trace, uint32_t thread,
                                     char room[STROBE_NAME_ROOM], uint32_t *n_bytes);
/* The core that a lane is a processor of, or its device (has_core 0), as tt-metal's captures call it. Its length. */
enum { STROBE_CORE_NAME_ROOM = 96 };
uint32_t strobe_trace_core_name(const struct strobe_trace *trace, uint32_t thread, int has_core,
                                char out[STROBE_CORE_NAME_ROOM]);
const char *strobe_trace_fiber_name(const struct strobe_trace *trace, uint32_t process,
                                    uint64_t fiber, char room[STROBE_NAME_ROOM], uint32_t *n_bytes);
const char *strobe_trace_lock_name(const struct strobe_trace *trace, uint32_t process,
                                   uint64_t lock, char room[STROBE_NAME_ROOM], uint32_t *n_bytes);
const char *strobe_trace_string(const struct strobe_trace *trace, uint32_t process, uint64_t id,
                                char room[STROBE_NAME_ROOM], uint32_t *n_bytes);
/* A location's name, else its function; "loc N" where no record names it. */
const char *strobe_trace_loc_name(const struct strobe_trace *trace, uint32_t loc, uint64_t id,
                                  char room[STROBE_NAME_ROOM], uint32_t *n_bytes);

/* A tick on the process's own clock, and back (`own` of events and zones comes on top); the tick
 * itself for a process that has the trace's clock. The error of the map there, 0 without one. */
int64_t strobe_trace_own_time(const struct strobe_trace *trace, uint32_t process, uint64_t tick);
uint64_t strobe_trace_own_tick(const struct strobe_trace *trace, uint32_t process, int64_t time);
uint64_t strobe_trace_own_error_ns(const struct strobe_trace *trace, uint32_t process,
                                   uint64_t tick);

/* What is not known of a process's own clock, over all pieces of its map. Returns their number; 0: it has the trace's clock. */
struct strobe_own_errors {
    uint64_t least_ns, most_ns;
};
uint32_t strobe_trace_own_errors(const struct strobe_trace *trace, uint32_t process,
                                 struct strobe_own_errors *errors);

/* The rate of the samples that the recorder took, or timers in the program; 0: not known, or there are none. */
uint64_t strobe_trace_sample_hz(const struct strobe_trace *trace);

/* What a cause of loss is called. */
const char *strobe_loss_text(uint64_t cause);

/* Note a part for the coverage: events stored, words missing before it. Parts come in file order.
 */
void strobe_trace_note_part(struct strobe_trace *trace, uint32_t thread,
                            const struct strobe_part *part);
/* Forget what strobe_trace_note_part counted: a pass over all parts begins. */
void strobe_trace_forget_parts(struct strobe_trace *trace);

/* The bottom line of a trace: emitted = stored + dropped. */
struct strobe_coverage {
    uint64_t n_stored;
    uint64_t n_dropped;    /* counted by the recorder: loss records, the reserved ledger */
    uint64_t n_hole_words; /* words that are nowhere, on tracks where no loss record explains them:
                              each is at most one event. In a damaged file with a footer: events that this counts and nobody
                              can read */
    uint64_t n_emitted;    /* the sum of all three */
    int is_exact;          /* 0: events were not counted (no footer and no walk yet) */
};

/* Stored events are the footer's, or those that a walk over all parts has counted. */
void strobe_trace_coverage(const struct strobe_trace *trace, struct strobe_coverage *out);

#endif
