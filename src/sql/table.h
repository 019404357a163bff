/* table.h - what the files of this room share: the traces of a connection, the list of tables, the rows that a table makes.
 *
 * A table of facts (processes, locations …) is an array: SQLite asks for a row and a column. A table of events has a pump
 * (pump.h): a thread walks the trace and puts rows into batches, which SQLite reads.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SQL_TABLE_H
#define STROBE_SQL_TABLE_H

#include <sqlite3.h>
#include <stdatomic.h>

#include "query/memory.h"
#include "query/stats.h"
#include "query/trace.h"
#include "sql/sql.h"

/* A value of a row. Texts of batches are offsets, since their buffer may move. */
struct strobe_sql_cell {
    union {
        int64_t i;
        double d;
        const char *kept; /* borrowed: from the model */
        uint64_t at;
    };
    uint32_t n; /* bytes of a text */
    uint8_t type;
};

/* One trace of a connection. */
struct strobe_sql_file {
    char *path;                 /* owned */
    struct strobe_trace *trace; /* owned: the model; nothing changes it, so pumps may read it */
    struct strobe_trace
        *work; /* owned: for passes of the connection's own thread; NULL: none yet */
    struct strobe_stats stats[3]; /* of zones, spans, GPU zones, when asked for */
    uint8_t has_stats;
    struct strobe_memory memory;
    uint8_t has_memory;
    struct strobe_sql_ops *ops;   /* owned: of devices, when asked for */
    struct strobe_sql_args *args; /* owned: of zones, when EXTRACT_ARG is called */
    atomic_ullong n_holes, hole_bytes, n_bad_parts; /* the most that a pass met: pumps add theirs */
};

struct strobe_sql {
    sqlite3 *db;                   /* owned */
    sqlite3 *plain;                /* owned: without tables, for functions.c; NULL: none yet */
    struct strobe_sql_file *files; /* owned: n_files */
    unsigned n_files;
    struct strobe_sql_limits limits;
    uint64_t deadline_ns; /* of the run, on CLOCK_MONOTONIC; 0: none */
    atomic_int stopped;
    int was_rewritten;
    int is_declaring; /* SQLite asks the authorizer of our own CREATE TABLE too */
    char error[512];
    int64_t error_at; /* in the text of the run; -1: not known */
};

/* Note what a pass over the file met. Any thread. */
void strobe_sql_note_damage(struct strobe_sql_file *file, const struct strobe_trace *trace,
                            uint64_t n_bad_parts);

/* 1: the run must end now. */
int strobe_sql_is_over(struct strobe_sql *sql);

struct strobe_sql_pump;

/* Columns that a table gives a meaning to, by index; 0: it has none (0 is trace_id in every table). */
struct strobe_sql_keys {
    uint8_t id; /* facts: the row's number */
    uint8_t ts, track, process, name;
    uint8_t after, before;     /* hidden: bounds of ts, both inclusive, as arguments */
    uint8_t at_least, at_most; /* likewise of durations */
};

struct strobe_sql_table {
    const char *name;
    /* As CREATE TABLE has them, trace_id first: "name type, name type". Types are INT (64 bits), INT4 (32), REAL, TEXT, and
     * ENUM TEXT for texts of which there are few; columns.c reads them, SQLite knows them all for numbers or texts. */
    const char *columns;
    const char *help;
    struct strobe_sql_keys keys;
    /* Facts. What has to be counted first; NULL: nothing. */
    enum strobe_err (*load)(struct strobe_sql *sql, struct strobe_sql_file *file);
    uint64_t (*n_rows)(const struct strobe_sql_file *file);
    /* Made-up texts go to `room`. */
    void (*put)(const struct strobe_sql_file *file, uint64_t row, int column,
                struct strobe_sql_cell *cell, char room[STROBE_NAME_ROOM]);
    /* Events: walk one trace, in the pump's thread. */
    enum strobe_err (*walk)(struct strobe_sql_pump *pump);
    uint64_t kinds; /* of walks over events that are no zones */
    void (*put_event)(struct strobe_sql_pump *pump, const struct strobe_happening *happening,
                      struct strobe_sql_cell *row);
    /* Facts: 0: the number is no row, since an earlier one is the same to the system. NULL: all are rows. */
    int (*has_row)(const struct strobe_sql_file *file, uint64_t row);
};

enum { STROBE_SQL_MAX_COLUMNS = 24 };

/* A table of events that are no zones, by strobe_sql_walk_… of its own. */
#define STROBE_SQL_WALKED(name, columns, help, walk)                    \
    {                                                                   \
        name, columns, help, {0}, NULL, NULL, NULL, walk, 0, NULL, NULL \
    }

/* 1: the number of a row of facts is one of the table's rows. */
static inline int strobe_sql_has_row(const struct strobe_sql_table *table,
                                     const struct strobe_sql_file *file, uint64_t row)
{
    return !table->has_row || table->has_row(file, row);
}

extern const struct strobe_sql_table strobe_sql_facts[], strobe_sql_events[], strobe_sql_pairs[],
    strobe_sql_devices[];
extern const unsigned strobe_sql_n_facts, strobe_sql_n_events, strobe_sql_n_pairs,
    strobe_sql_n_devices;
extern const char strobe_sql_views[]; /* views.c: CREATE VIEW … */

/* devices.c, args.c: NULL is allowed. */
void strobe_sql_ops_free(struct strobe_sql_ops *ops);
void strobe_sql_args_free(struct strobe_sql_args *args);

/* args.c: the rows of arg, and the function EXTRACT_ARG: an SQLite code. */
enum strobe_err strobe_sql_walk_args(struct strobe_sql_pump *pump);
int strobe_sql_register_args(struct strobe_sql *sql);

/* functions.c: functions of SQLite that could run for years: an SQLite code. */
int strobe_sql_register_functions(struct strobe_sql *sql);

/* sums.c: the rows of zone_sum. */
enum strobe_err strobe_sql_walk_sums(struct strobe_sql_pump *pump);

/* events.c: the columns of the table zone behind trace_id, as its text of columns has them, and the words for states. */
enum strobe_sql_zone_column {
    STROBE_SQL_ZONE_ID = 1,
    STROBE_SQL_ZONE_TS,
    STROBE_SQL_ZONE_DUR,
    STROBE_SQL_ZONE_SELF,
    STROBE_SQL_ZONE_DEPTH,
    STROBE_SQL_ZONE_NAME,
    STROBE_SQL_ZONE_LOC,
    STROBE_SQL_ZONE_TRACK,
    STROBE_SQL_ZONE_PROCESS,
    STROBE_SQL_ZONE_PARENT,
    STROBE_SQL_ZONE_STATE,
    STROBE_SQL_ZONE_VALUE,
    STROBE_SQL_ZONE_TEXT,
    STROBE_SQL_ZONE_COLOR,
    STROBE_SQL_ZONE_N_COLUMNS,
};
enum { STROBE_SQL_N_STATES = 4 };
extern const char *const strobe_sql_zone_states[STROBE_SQL_N_STATES];

/* events.c: the track of a batch's zones, -1: it has no number. */
int64_t strobe_sql_track_of(const struct strobe_trace *trace, const struct strobe_batch *batch);
/* Ids of zones. Of threads: 22 bits of index, 40 of the place on the track, -1: no place. The others are numbered in the order in
 * which they are paired. */
enum { STROBE_SQL_PLACE_BITS = 40, STROBE_SQL_THREAD_BITS = 22 };
static inline int strobe_sql_has_places(const struct strobe_batch *batch)
{
    return batch->kind == STROBE_BATCH_THREAD && batch->places;
}
static inline int64_t strobe_sql_place_id(uint32_t thread, uint64_t place)
{
    return place >> STROBE_SQL_PLACE_BITS
               ? -1
               : (int64_t)((uint64_t)thread << STROBE_SQL_PLACE_BITS | place);
}
static inline int64_t strobe_sql_number_id(const struct strobe_batch *batch)
{
    return (int64_t)(1ull << 62 | batch->number);
}

/* The ids of a zone and of the one around it, -1: none; of batches with places. */
static inline void strobe_sql_zone_ids(const struct strobe_batch *batch, uint32_t i, int64_t *id,
                                       int64_t *parent)
{
    int has = strobe_sql_has_places(batch);
    *id = has ? strobe_sql_place_id(batch->thread, batch->places[i].begin)
              : strobe_sql_number_id(batch);
    *parent = has ? strobe_sql_place_id(batch->thread, batch->places[i].parent) : -1;
}

/* table.c: the table of that name, or NULL; its columns; 1: a walk must see all of every track to fill the wanted ones. */
const struct strobe_sql_table *strobe_sql_find_table(const char *name);
unsigned strobe_sql_count_columns(const struct strobe_sql_table *table);
int strobe_sql_needs_all(const struct strobe_sql_table *table, uint64_t wanted);

/* facts.c: have the file open once more, as file->work. */
enum strobe_err strobe_sql_open_work(struct strobe_sql_file *file);
/* facts.c: a pass over the first file in the connection's own thread; the walk's trace is filled in, and told before it begins. */
enum strobe_err strobe_sql_walk(struct strobe_sql *sql, struct strobe_walk *walk,
                                const struct strobe_trace **trace);

/* heap.c: before the first connection of the process; any thread, any number of times. */
void strobe_sql_guard_heap(void);
/* heap.c: SQLite gets no large block of memory in this thread after the deadline (CLOCK_MONOTONIC, ns); 0: it does. */
void strobe_sql_set_heap_deadline(uint64_t deadline_ns);

/* sql.c: sqlite3_step within the time of the run. */
int strobe_sql_step(struct strobe_sql *sql, sqlite3_stmt *statement);

/* sql.c: the clock of a run starts. */
void strobe_sql_begin(struct strobe_sql *sql);
/* Prepare the next statement of *text, and step over it. An SQLite code. */
int strobe_sql_prepare(struct strobe_sql *sql, const char **text, sqlite3_stmt **statement);
/* SQLite's failure as one of ours, in words that say what to do. */
enum strobe_err strobe_sql_fail(struct strobe_sql *sql, int code);
/* A value of the row that the statement is at; its text lives until the next step. */
void strobe_sql_read_value(sqlite3_stmt *statement, int column, struct strobe_sql_value *value);

/* Make the tables known to SQLite: an SQLite code. */
int strobe_sql_register(struct strobe_sql *sql);

/* The number of a track in the table `track`. Threads have their index. */
enum {
    STROBE_SQL_FIBER = 1 << 24, /* + index in trace->fiber_ids */
    STROBE_SQL_SPAN = 2 << 24,  /* + index of the process */
    STROBE_SQL_PLOT = 4 << 24,  /* + index in trace->string_ids, of a plot's name */
};

static inline void strobe_sql_put_i(struct strobe_sql_cell *cell, int64_t value)
{
    cell->i = value;
    cell->type = STROBE_SQL_INT;
}

static inline void strobe_sql_put_d(struct strobe_sql_cell *cell, double value)
{
    cell->d = value;
    cell->type = STROBE_SQL_REAL;
}

static inline void strobe_sql_put_kept(struct strobe_sql_cell *cell, const char *text, uint32_t n)
{
    cell->kept = text;
    cell->n = n;
    cell->type = STROBE_SQL_KEPT;
}

/* A text of the model; NULL in SQL where it is empty. */
static inline void strobe_sql_put_model(struct strobe_sql_cell *cell,
                                        const struct strobe_trace *trace, uint32_t text)
{
    uint32_t n;
    const char *bytes = strobe_trace_text(trace, text, &n);
    if (n)
        strobe_sql_put_kept(cell, bytes, n);
}

#endif
