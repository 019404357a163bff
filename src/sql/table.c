/* table.c - the tables as SQLite sees them: a module of virtual tables without xCreate, so that each exists under its name at
 * once and none can be made.
 *
 * What a query demands of a column with a meaning (keys) goes to the pump as a strobe_sql_ask. idxNum says which demands are
 * among the arguments of xFilter, in the order of enum demand. SQLite looks again at every
 * row that comes, so a table may give more than was asked for, and never less. Only arguments (after, before …) it takes on trust.
 * SPDX-License-Identifier: MIT */
#include "sql/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sql/pump.h"

/* Bits of idxNum. */
enum demand {
    BY_TRACE = 1,
    BY_ID = 2,
    BY_TRACK = 4,
    BY_PROCESS = 8,
    BY_NAME = 16,
    BY_TS_MIN = 32,
    BY_TS_MAX = 64,
    BY_AFTER = 128,
    BY_BEFORE = 256,
    BY_AT_LEAST = 512,
    BY_AT_MOST = 1024,
    N_DEMANDS = 11,
    ARGUMENTS = BY_AFTER | BY_BEFORE | BY_AT_LEAST | BY_AT_MOST,
};

struct table {
    sqlite3_vtab base; /* SQLite's: first */
    struct strobe_sql *sql;
    const struct strobe_sql_table *what;
    unsigned n_columns;
};

struct cursor {
    sqlite3_vtab_cursor base; /* SQLite's: first */
    int at_end;
    sqlite3_int64 rowid;
    /* Facts: */
    unsigned file, last_file;
    uint64_t row, n_rows;
    int is_one; /* one row of each file */
    /* Events: */
    struct strobe_sql_pump *pump;         /* owned */
    const struct strobe_sql_batch *batch; /* borrowed from the pump */
};

unsigned strobe_sql_count_columns(const struct strobe_sql_table *table)
{
    unsigned n = 1;
    for (const char *at = table->columns; *at; at++)
        n += *at == ',';
    return n;
}

/* The table of a number, in the order in which they are listed. NULL: there are no more. */
static const struct strobe_sql_table *nth_table(unsigned i)
{
    const struct {
        const struct strobe_sql_table *tables;
        unsigned n;
    } groups[] = {{strobe_sql_events, strobe_sql_n_events},
                  {strobe_sql_pairs, strobe_sql_n_pairs},
                  {strobe_sql_facts, strobe_sql_n_facts},
                  {strobe_sql_devices, strobe_sql_n_devices}};
    for (size_t k = 0; k < sizeof groups / sizeof groups[0]; i -= groups[k++].n)
        if (i < groups[k].n)
            return &groups[k].tables[i];
    return NULL;
}

const struct strobe_sql_table *strobe_sql_find_table(const char *name)
{
    const struct strobe_sql_table *table;
    for (unsigned i = 0; (table = nth_table(i)) && strcmp(name, table->name);)
        i++;
    return table;
}

static int on_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
                      sqlite3_vtab **out, char **error)
{
    (void)argc;
    (void)error;
    struct strobe_sql *sql = context;
    const struct strobe_sql_table *what = strobe_sql_find_table(argv[0]);
    if (!what)
        return SQLITE_ERROR;
    char *schema = sqlite3_mprintf("CREATE TABLE x(%s)", what->columns);
    struct table *table = sqlite3_malloc(sizeof *table);
    if (!schema || !table) {
        sqlite3_free(schema);
        sqlite3_free(table);
        return SQLITE_NOMEM;
    }
    *table = (struct table){.sql = sql, .what = what, .n_columns = strobe_sql_count_columns(what)};
    STROBE_ASSERT(table->n_columns <= STROBE_SQL_MAX_COLUMNS);
    sql->is_declaring = 1;
    int code = sqlite3_declare_vtab(db, schema);
    sql->is_declaring = 0;
    sqlite3_free(schema);
    if (!code)
        code = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    if (code)
        sqlite3_free(table);
    else
        *out = &table->base;
    return code;
}

static int on_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

/* What a constraint demands, 0: nothing that the table can do. */
static unsigned demand_of(const struct table *table, const struct sqlite3_index_constraint *one)
{
    const struct strobe_sql_keys *keys = &table->what->keys;
    int column = one->iColumn, is_equal = one->op == SQLITE_INDEX_CONSTRAINT_EQ;
    if (!one->usable || column < 0)
        return 0;
    if (column == 0)
        return is_equal ? BY_TRACE : 0;
    if (column == keys->ts) {
        switch (one->op) {
        case SQLITE_INDEX_CONSTRAINT_GT:
        case SQLITE_INDEX_CONSTRAINT_GE:
            return BY_TS_MIN;
        case SQLITE_INDEX_CONSTRAINT_LT:
        case SQLITE_INDEX_CONSTRAINT_LE:
            return BY_TS_MAX;
        }
        return 0;
    }
    if (!is_equal)
        return 0;
    return column == keys->id         ? BY_ID
           : column == keys->track    ? BY_TRACK
           : column == keys->process  ? BY_PROCESS
           : column == keys->name     ? BY_NAME
           : column == keys->after    ? BY_AFTER
           : column == keys->before   ? BY_BEFORE
           : column == keys->at_least ? BY_AT_LEAST
           : column == keys->at_most  ? BY_AT_MOST
                                      : 0;
}

/* Guesses for SQLite's planner: a table of events is read from end to end, however few rows it gives. */
static void set_costs(const struct table *table, sqlite3_index_info *info, unsigned demands)
{
    double rows = table->what->walk ? 1e7 : 1e4, cost = rows;
    if (demands & BY_ID) {
        rows = cost = table->sql->n_files;
        if (table->sql->n_files == 1 || demands & BY_TRACE)
            info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    }
    if (demands & BY_NAME)
        rows /= 100;
    if (demands & (BY_TRACK | BY_PROCESS))
        rows /= 10;
    if (demands & BY_TS_MIN)
        rows /= 4, cost /= 4;
    if (demands & BY_TS_MAX)
        rows /= 4;
    info->estimatedRows = (sqlite3_int64)(rows < 1 ? 1 : rows);
    info->estimatedCost = table->what->walk ? cost + 1e6 : cost;
}

/* The places of parents are known only where a walk saw the track from its start. */
int strobe_sql_needs_all(const struct strobe_sql_table *table, uint64_t wanted)
{
    const char *parent = strstr(table->columns, "parent_id");
    unsigned column = 0;
    for (const char *at = table->columns; parent && at < parent; at++)
        column += *at == ',';
    return parent && wanted >> column & 1;
}

static int on_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    struct table *table = (struct table *)base;
    int of_demand[N_DEMANDS] = {0}; /* index of the constraint + 1 */
    unsigned demands = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        unsigned demand = demand_of(table, &info->aConstraint[i]);
        if (!demand || demands & demand ||
            (demand & (BY_TS_MIN | BY_TS_MAX) && strobe_sql_needs_all(table->what, info->colUsed)))
            continue;
        if (demand == BY_NAME && sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY"))
            continue;
        demands |= demand;
        of_demand[__builtin_ctz(demand)] = i + 1;
    }
    int n = 0;
    for (int i = 0; i < N_DEMANDS; i++)
        if (of_demand[i]) {
            info->aConstraintUsage[of_demand[i] - 1].argvIndex = ++n;
            /* nobody sees the value of an argument: there is none to compare it with */
            info->aConstraintUsage[of_demand[i] - 1].omit = (1u << i & ARGUMENTS) != 0;
        }
    info->idxNum = (int)demands;
    /* colUsed reaches xFilter as text: its last bit stands for all columns from 63 on, and there are none */
    info->idxStr = sqlite3_mprintf("%llu", (unsigned long long)info->colUsed);
    info->needToFreeIdxStr = 1;
    if (!info->idxStr)
        return SQLITE_NOMEM;
    set_costs(table, info, demands);
    return SQLITE_OK;
}

static int on_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    (void)base;
    struct cursor *cursor = sqlite3_malloc(sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor);
    *out = &cursor->base;
    return SQLITE_OK;
}

static int on_close(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    strobe_sql_pump_stop(cursor->pump);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static struct table *table_of(const struct cursor *cursor)
{
    return (struct table *)cursor->base.pVtab;
}

/* A failure in SQLite's words; those of its table say more. */
static int fail(struct cursor *cursor, enum strobe_err err)
{
    struct table *table = table_of(cursor);
    if (err == STROBE_ERR_LIMIT)
        return SQLITE_INTERRUPT;
    if (err == STROBE_ERR_NOMEM)
        return SQLITE_NOMEM;
    sqlite3_free(table->base.zErrMsg);
    table->base.zErrMsg = sqlite3_mprintf("table %s: %s", table->what->name, strobe_err_text(err));
    return SQLITE_ERROR;
}

/* Facts: the next file that has the row. */
static int settle(struct cursor *cursor)
{
    struct table *table = table_of(cursor);
    for (; cursor->file < cursor->last_file;
         cursor->file++, cursor->row = cursor->is_one ? cursor->n_rows : 0) {
        struct strobe_sql_file *file = &table->sql->files[cursor->file];
        enum strobe_err err = table->what->load ? table->what->load(table->sql, file) : STROBE_OK;
        if (err)
            return fail(cursor, err);
        uint64_t n_rows = table->what->n_rows(file);
        while (cursor->row < n_rows && !strobe_sql_has_row(table->what, file, cursor->row))
            cursor->row = cursor->is_one ? n_rows : cursor->row + 1;
        if (cursor->row < n_rows)
            return SQLITE_OK;
    }
    cursor->at_end = 1;
    return SQLITE_OK;
}

static int start_facts(struct cursor *cursor, const struct strobe_sql_ask *ask, int64_t id,
                       int is_one)
{
    struct table *table = table_of(cursor);
    cursor->file = ask->trace >= 0 ? (unsigned)ask->trace : 0;
    cursor->last_file = ask->trace >= 0 ? (unsigned)ask->trace + 1 : table->sql->n_files;
    if (ask->trace >= (int64_t)table->sql->n_files || (is_one && id < 0)) {
        cursor->at_end = 1;
        return SQLITE_OK;
    }
    cursor->is_one = is_one;
    cursor->row = cursor->n_rows = is_one ? (uint64_t)id : 0;
    return settle(cursor);
}

/* Events: the next batch that has rows. */
static int next_batch(struct cursor *cursor)
{
    enum strobe_err err;
    cursor->row = 0;
    do {
        err = strobe_sql_pump_next(cursor->pump, &cursor->batch);
    } while (!err && !cursor->batch->n_rows);
    if (err == STROBE_ERR_END)
        cursor->at_end = 1;
    else if (err)
        return fail(cursor, err);
    return SQLITE_OK;
}

static int start_events(struct cursor *cursor, struct strobe_sql_ask *ask)
{
    struct table *table = table_of(cursor);
    cursor->pump = strobe_sql_pump_start(table->sql, table->what, table->n_columns, ask);
    if (cursor->pump)
        return next_batch(cursor);
    sqlite3_free(table->base.zErrMsg);
    table->base.zErrMsg = sqlite3_mprintf(
        "table %s: no thread could be started to read it, or no memory (ulimit -u, ulimit -v)",
        table->what->name);
    return SQLITE_ERROR;
}

/* A number that a key must be equal to. 0: no integer is. */
static int read_key(sqlite3_value *value, int64_t *out)
{
    if (sqlite3_value_numeric_type(value) != SQLITE_INTEGER)
        return 0;
    *out = sqlite3_value_int64(value);
    return *out >= 0;
}

/* A bound of time, wider where it is no integer. */
static int64_t read_bound(sqlite3_value *value, int is_max)
{
    if (sqlite3_value_numeric_type(value) == SQLITE_INTEGER)
        return sqlite3_value_int64(value);
    if (sqlite3_value_numeric_type(value) == SQLITE_FLOAT) {
        double bound = sqlite3_value_double(value);
        if (bound > -9e18 && bound < 9e18)
            return (int64_t)bound + (is_max ? 1 : -1);
    }
    return is_max ? INT64_MAX : INT64_MIN;
}

/* The arguments of xFilter. 0: nothing can match, -1: no memory. */
static int read_demands(unsigned demands, sqlite3_value **values, struct strobe_sql_ask *ask,
                        int64_t *id)
{
    int n = 0;
    if (demands & BY_TRACE && !read_key(values[n++], &ask->trace))
        return 0;
    if (demands & BY_ID && !read_key(values[n++], id))
        return 0;
    if (demands & BY_TRACK && !read_key(values[n++], &ask->track))
        return 0;
    if (demands & BY_PROCESS && !read_key(values[n++], &ask->process))
        return 0;
    sqlite3_value *name = demands & BY_NAME ? values[n++] : NULL;
    if (name && sqlite3_value_type(name) != SQLITE_TEXT)
        return 0;
    if (demands & BY_TS_MIN)
        ask->ts_min = read_bound(values[n++], 0);
    if (demands & BY_TS_MAX)
        ask->ts_max = read_bound(values[n++], 1);
    if (ask->ts_max < INT64_MAX)
        ask->ts_max++; /* ticks and ns are cut differently: SQLite looks again */
    if (ask->ts_min > INT64_MIN)
        ask->ts_min--;
    if (demands & BY_AFTER)
        ask->ts_min = read_bound(values[n++], 0);
    if (demands & BY_BEFORE)
        ask->ts_max = read_bound(values[n++], 1);
    if (demands & BY_AT_LEAST)
        ask->dur_min = read_bound(values[n++], 0);
    if (demands & BY_AT_MOST)
        ask->dur_max = read_bound(values[n++], 1);
    if (name) {
        ask->n_name = (uint32_t)sqlite3_value_bytes(name);
        ask->name = malloc(ask->n_name + (size_t)1);
        if (!ask->name)
            return -1;
        memcpy(ask->name, sqlite3_value_text(name), ask->n_name);
    }
    return 1;
}

static int on_filter(sqlite3_vtab_cursor *base, int demands, const char *columns, int n_values,
                     sqlite3_value **values)
{
    (void)n_values;
    struct cursor *cursor = (struct cursor *)base;
    struct strobe_sql_ask ask = {.ts_min = INT64_MIN,
                                 .ts_max = INT64_MAX,
                                 .dur_min = INT64_MIN,
                                 .dur_max = INT64_MAX,
                                 .track = -1,
                                 .process = -1,
                                 .trace = -1};
    int64_t id = -1;
    strobe_sql_pump_stop(cursor->pump);
    cursor->pump = NULL;
    cursor->at_end = 0;
    cursor->rowid = 0;
    ask.wanted = strtoull(columns, NULL, 10);
    int can_match = read_demands((unsigned)demands, values, &ask, &id);
    if (can_match <= 0) {
        cursor->at_end = 1;
        return can_match ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (table_of(cursor)->what->walk)
        return start_events(cursor, &ask);
    return start_facts(cursor, &ask, id, demands & BY_ID);
}

static int on_next(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    cursor->rowid++;
    cursor->row++;
    if (cursor->pump)
        return cursor->row < cursor->batch->n_rows ? SQLITE_OK : next_batch(cursor);
    if (cursor->is_one) {
        cursor->row = cursor->n_rows;
        cursor->file++;
    }
    return settle(cursor);
}

static int on_eof(sqlite3_vtab_cursor *base)
{
    return ((struct cursor *)base)->at_end;
}

static void put_result(sqlite3_context *context, const struct strobe_sql_cell *cell,
                       const char *texts)
{
    switch (cell->type) {
    case STROBE_SQL_INT:
        sqlite3_result_int64(context, cell->i);
        break;
    case STROBE_SQL_REAL:
        sqlite3_result_double(context, cell->d);
        break;
    case STROBE_SQL_KEPT:
        sqlite3_result_text(context, cell->kept, (int)cell->n, SQLITE_STATIC);
        break;
    case STROBE_SQL_TEXT: /* of a batch, or in the caller's room */
        sqlite3_result_text(context, texts ? texts + cell->at : cell->kept, (int)cell->n,
                            SQLITE_TRANSIENT);
        break;
    default:
        sqlite3_result_null(context);
    }
}

static int on_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    struct cursor *cursor = (struct cursor *)base;
    const struct table *table = table_of(cursor);
    if (cursor->pump) {
        const struct strobe_sql_batch *batch = cursor->batch;
        STROBE_ASSERT(cursor->row < batch->n_rows && (unsigned)column < table->n_columns);
        if (strobe_sql_wants(strobe_sql_pump_ask(cursor->pump), column)) /* SQLite said which */
            put_result(context, &batch->cells[cursor->row * table->n_columns + (unsigned)column],
                       batch->texts ? batch->texts : "");
        return SQLITE_OK;
    }
    struct strobe_sql_cell cell = {.type = STROBE_SQL_NULL};
    char room[STROBE_NAME_ROOM];
    if (column == 0)
        strobe_sql_put_i(&cell, cursor->file);
    else
        table->what->put(&table->sql->files[cursor->file], cursor->row, column, &cell, room);
    put_result(context, &cell, NULL);
    return SQLITE_OK;
}

static int on_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = ((struct cursor *)base)->rowid;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .iVersion = 1,
    .xConnect = on_connect,
    .xBestIndex = on_best_index,
    .xDisconnect = on_disconnect,
    .xOpen = on_open,
    .xClose = on_close,
    .xFilter = on_filter,
    .xNext = on_next,
    .xEof = on_eof,
    .xColumn = on_column,
    .xRowid = on_rowid,
};

int strobe_sql_register(struct strobe_sql *sql)
{
    const struct strobe_sql_table *table;
    int code = SQLITE_OK;
    for (unsigned i = 0; !code && (table = nth_table(i)); i++)
        code = sqlite3_create_module(sql->db, table->name, &module, sql);
    return code;
}

const char *strobe_sql_table(unsigned i, const char **columns, const char **help)
{
    const struct strobe_sql_table *table = nth_table(i);
    if (!table)
        return NULL;
    *columns = table->columns;
    *help = table->help;
    return table->name;
}
