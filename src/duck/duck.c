/* duck.c - see duck.h. A run has a watch beside it, a thread that interrupts DuckDB when the time is over or somebody stops the
 * run; it goes on interrupting until the run has ended, for DuckDB forgets an interrupt between two steps.
 * SPDX-License-Identifier: MIT */
#include "duck/duck.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "duck/scan.h"
#include "sql/table.h"

enum { BY_HAND = 1, BY_TIME = 2, MAX_STATEMENT = 1 << 16, MAX_TEXT = 1 << 20, AGAIN_MS = 5 };

struct strobe_duck {
    const struct strobe_duck_library *library; /* borrowed: of the process; NULL: there is none */
    struct strobe_duck_scans scans;
    struct strobe_sql_limits limits;
    duck_object db, connection; /* owned */
    int wake;                   /* owned: eventfd, written by a stop and by the end of a run */
    atomic_int stopped;         /* 0, BY_HAND, BY_TIME */
    atomic_int is_done;         /* the run that is watched */
    char error[512];
};

static enum strobe_err refuse(struct strobe_duck *duck, const char *words)
{
    snprintf(duck->error, sizeof duck->error, "%s", words ? words : "DuckDB gives no reason");
    return STROBE_ERR_INVALID;
}

/* ---- open and close ---- */

/* Settings before anything is asked; the last one makes all of them stay. */
static enum strobe_err configure(struct strobe_duck *duck, duck_object config)
{
    char memory[32] = "80%";
    const struct {
        const char *name, *value;
    } settings[] = {
        {"memory_limit", memory},
        {"temp_directory", ""},
        {"enable_external_access", "false"},
        {"autoinstall_known_extensions", "false"},
        {"autoload_known_extensions", "false"},
        {"integer_division", "true"},
        {"default_null_order", "nulls_first_on_asc_last_on_desc"},
        {"lock_configuration", "true"},
    };
    if (duck->limits.heap_bytes)
        snprintf(memory, sizeof memory, "%lluKiB",
                 (unsigned long long)(duck->limits.heap_bytes >> 10));
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (duck->library->set_config(config, settings[i].name, settings[i].value)) {
            snprintf(duck->error, sizeof duck->error, "DuckDB %s has no setting %s",
                     strobe_duck_version(duck), settings[i].name);
            return STROBE_ERR_NOTFOUND;
        }
    return STROBE_OK;
}

/* Two views of views.c are SQLite's alone: one mixes types in a column, one counts rows by rowid. */
static const char own_views[] =
    "CREATE VIEW args AS SELECT trace_id, zone_id AS arg_set_id, key AS flat_key, key, int_value,"
    "  string_value, real_value, value_type, coalesce(string_value, CAST(int_value AS VARCHAR),"
    "  CAST(real_value AS VARCHAR)) AS display_value FROM arg;"
    "CREATE VIEW sched_slice AS SELECT trace_id, row_number() OVER () - 1 AS id, ts,"
    "  coalesce(dur, -1) AS dur, cpu, utid, end_state, priority, cpu AS ucpu FROM sched;";

/* Make views, each for itself: DuckDB refuses those two, and gets its own. */
static void make_views(struct strobe_duck *duck, const char *at)
{
    while (*at) {
        size_t n = strcspn(at, ";");
        char *text = strndup(at, n);
        struct duck_result result;
        if (text) {
            duck->library->query(duck->connection, text, &result);
            duck->library->destroy_result(&result);
        }
        free(text);
        at += n + (at[n] == ';');
    }
}

static enum strobe_err open_database(struct strobe_duck *duck)
{
    const struct strobe_duck_library *library = duck->library;
    duck_object config = NULL;
    char *words = NULL;
    if (library->create_config(&config))
        return STROBE_ERR_NOMEM;
    enum strobe_err err = configure(duck, config);
    if (!err && library->open_ext(NULL, &duck->db, config, &words))
        err = refuse(duck, words);
    library->free(words);
    library->destroy_config(&config);
    if (err)
        return err;
    if (library->connect(duck->db, &duck->connection) ||
        !strobe_duck_scans_register(&duck->scans, duck->db, duck->connection))
        return refuse(duck, "DuckDB does not take the tables");
    make_views(duck, strobe_sql_views);
    make_views(duck, own_views);
    return STROBE_OK;
}

enum strobe_err strobe_duck_open(struct strobe_sql *sql, const char *const *paths, unsigned n_paths,
                                 const struct strobe_sql_limits *limits, struct strobe_duck **out)
{
    struct strobe_duck *duck = *out = calloc(1, sizeof *duck);
    if (!duck)
        return STROBE_ERR_NOMEM;
    duck->wake = -1;
    duck->library = strobe_duck_library(duck->error);
    if (!duck->library)
        return STROBE_ERR_NOTFOUND;
    duck->limits = *limits;
    duck->scans = (struct strobe_duck_scans){duck->library, sql, paths, n_paths, &duck->stopped};
    duck->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return duck->wake < 0 ? STROBE_ERR_FILES : open_database(duck);
}

void strobe_duck_close(struct strobe_duck *duck)
{
    if (!duck)
        return;
    if (duck->connection)
        duck->library->disconnect(&duck->connection);
    if (duck->db)
        duck->library->close(&duck->db);
    if (duck->wake >= 0)
        close(duck->wake);
    free(duck);
}

const char *strobe_duck_error(const struct strobe_duck *duck)
{
    return duck->error;
}

const char *strobe_duck_version(const struct strobe_duck *duck)
{
    return duck->library->library_version();
}

/* ---- the watch ---- */

static void wake(struct strobe_duck *duck)
{
    uint64_t one = 1;
    if (write(duck->wake, &one, sizeof one) < 0) /* it is full: somebody woke it already */
        return;
}

void strobe_duck_stop(struct strobe_duck *duck)
{
    atomic_store(&duck->stopped, BY_HAND);
    wake(duck);
}

static int time_left_ms(uint64_t deadline_ns)
{
    uint64_t now = strobe_clock_mono_ns();
    if (!deadline_ns)
        return -1;
    uint64_t left = deadline_ns > now ? (deadline_ns - now + 999999) / 1000000 : 0;
    return left < 1 << 30 ? (int)left : 1 << 30;
}

static void *watch(void *context)
{
    struct strobe_duck *duck = context;
    uint64_t deadline_ns =
        duck->limits.timeout_ms ? strobe_clock_mono_ns() + duck->limits.timeout_ms * 1000000 : 0;
    while (!atomic_load(&duck->is_done)) {
        struct pollfd wanted = {.fd = duck->wake, .events = POLLIN};
        int is_stopped = atomic_load(&duck->stopped);
        poll(&wanted, 1, is_stopped ? AGAIN_MS : time_left_ms(deadline_ns));
        uint64_t n;
        if (wanted.revents & POLLIN && read(duck->wake, &n, sizeof n) < 0)
            continue;
        int none = 0;
        if (deadline_ns && strobe_clock_mono_ns() >= deadline_ns)
            atomic_compare_exchange_strong(&duck->stopped, &none, BY_TIME);
        if (atomic_load(&duck->stopped) && !atomic_load(&duck->is_done))
            duck->library->interrupt(duck->connection);
    }
    return NULL;
}

/* ---- answers ---- */

/* A column of an answer: how its values are read. */
struct answer_column {
    int type;     /* of the bytes */
    double scale; /* DECIMAL: what its whole numbers are divided by; else 0 */
};

static double huge_as_real(struct duck_huge value)
{
    return (double)value.high * 18446744073709551616.0 + (double)value.low;
}

static void read_integer(struct strobe_sql_value *value, int64_t number)
{
    value->type = STROBE_SQL_INT;
    value->i = number;
}

static void read_real(struct strobe_sql_value *value, double number)
{
    value->type = STROBE_SQL_REAL;
    value->d = number;
}

static void read_text(struct strobe_sql_value *value, const struct duck_text *text)
{
    value->type = STROBE_SQL_TEXT;
    value->n = text->n;
    value->text = text->inlined;
    if (text->n > sizeof text->inlined)
        memcpy(&value->text, text->at, sizeof value->text);
}

static void read_value(struct strobe_sql_value *value, int type, const void *data, uint64_t row)
{
#define AT(c_type) (((const c_type *)data)[row])
    switch ((enum duck_type)type) {
    case DUCK_BOOLEAN:
        read_integer(value, AT(uint8_t) != 0);
        break;
    case DUCK_TINYINT:
        read_integer(value, AT(int8_t));
        break;
    case DUCK_SMALLINT:
        read_integer(value, AT(int16_t));
        break;
    case DUCK_INTEGER:
        read_integer(value, AT(int32_t));
        break;
    case DUCK_BIGINT:
        read_integer(value, AT(int64_t));
        break;
    case DUCK_UTINYINT:
        read_integer(value, AT(uint8_t));
        break;
    case DUCK_USMALLINT:
        read_integer(value, AT(uint16_t));
        break;
    case DUCK_UINTEGER:
        read_integer(value, AT(uint32_t));
        break;
    case DUCK_UBIGINT:
        if (AT(uint64_t) <= INT64_MAX)
            read_integer(value, (int64_t)AT(uint64_t));
        else
            read_real(value, (double)AT(uint64_t));
        break;
    case DUCK_HUGEINT: /* what a sum of integers is */
        if (AT(struct duck_huge).high == (int64_t)AT(struct duck_huge).low >> 63)
            read_integer(value, (int64_t)AT(struct duck_huge).low);
        else
            read_real(value, huge_as_real(AT(struct duck_huge)));
        break;
    case DUCK_FLOAT:
        read_real(value, (double)AT(float));
        break;
    case DUCK_DOUBLE:
        read_real(value, AT(double));
        break;
    case DUCK_VARCHAR:
        read_text(value, &AT(struct duck_text));
        break;
    case DUCK_DECIMAL: /* read as the type of its bytes */
    case DUCK_NULL:
        break;
    }
#undef AT
}

static int is_read(int type)
{
    return (type >= DUCK_BOOLEAN && type <= DUCK_DOUBLE) || type == DUCK_HUGEINT ||
           type == DUCK_VARCHAR || type == DUCK_DECIMAL || type == DUCK_NULL;
}

/* The columns of an answer, and their names for the sink. */
static enum strobe_err read_head(struct strobe_duck *duck, struct duck_result *result,
                                 struct answer_column *columns, unsigned n,
                                 const struct strobe_sql_sink *sink)
{
    const struct strobe_duck_library *library = duck->library;
    const char **names = calloc(n + 1, sizeof *names);
    enum strobe_err err = names ? STROBE_OK : STROBE_ERR_NOMEM;
    for (unsigned i = 0; !err && i < n; i++) {
        names[i] = library->column_name(result, i);
        columns[i].type = library->column_type(result, i);
        if (!is_read(columns[i].type)) {
            snprintf(duck->error, sizeof duck->error,
                     "the column %s is neither a number nor a text: CAST it AS VARCHAR", names[i]);
            err = STROBE_ERR_INVALID;
        } else if (columns[i].type == DUCK_DECIMAL) {
            duck_object type = library->column_logical_type(result, i);
            columns[i].type = library->decimal_internal_type(type);
            columns[i].scale = pow(10, library->decimal_scale(type));
            library->destroy_logical_type(&type);
        }
    }
    if (!err)
        err = sink->head(sink->context, names, n);
    free(names);
    return err;
}

static enum strobe_err put_chunk(struct strobe_duck *duck, duck_object chunk,
                                 const struct answer_column *columns, unsigned n_columns,
                                 struct strobe_sql_value *values,
                                 const struct strobe_sql_sink *sink)
{
    const struct strobe_duck_library *library = duck->library;
    uint64_t n_rows = library->data_chunk_get_size(chunk);
    enum strobe_err err = STROBE_OK;
    for (uint64_t row = 0; !err && row < n_rows; row++) {
        for (unsigned i = 0; i < n_columns; i++) {
            duck_object vector = library->data_chunk_get_vector(chunk, i);
            const uint64_t *valid = library->vector_get_validity(vector);
            values[i].type = STROBE_SQL_NULL;
            if (valid && !(valid[row / 64] >> (row % 64) & 1))
                continue;
            read_value(&values[i], columns[i].type, library->vector_get_data(vector), row);
            if (columns[i].scale)
                read_real(&values[i],
                          (values[i].type == STROBE_SQL_INT ? (double)values[i].i : values[i].d) /
                              columns[i].scale);
        }
        for (unsigned i = 0; !err && i < n_columns; i++)
            if (values[i].type == STROBE_SQL_TEXT && values[i].n > MAX_TEXT)
                err = refuse(duck, "a text of the answer is longer than 1 MiB");
        if (!err)
            err = sink->row(sink->context, values, n_columns);
    }
    return err;
}

static enum strobe_err put_answer(struct strobe_duck *duck, struct duck_result *result,
                                  const struct strobe_sql_sink *sink)
{
    const struct strobe_duck_library *library = duck->library;
    unsigned n = (unsigned)library->column_count(result);
    struct answer_column *columns = calloc(n + 1, sizeof *columns);
    struct strobe_sql_value *values = calloc(n + 1, sizeof *values);
    enum strobe_err err = columns && values ? STROBE_OK : STROBE_ERR_NOMEM;
    uint64_t n_rows = 0;
    if (!err)
        err = read_head(duck, result, columns, n, sink);
    for (duck_object chunk; !err && (chunk = library->fetch_chunk(*result));) {
        err = put_chunk(duck, chunk, columns, n, values, sink);
        n_rows += library->data_chunk_get_size(chunk);
        library->destroy_data_chunk(&chunk);
        if (!err && atomic_load(&duck->stopped))
            err = STROBE_ERR_LIMIT;
    }
    free(columns);
    free(values);
    return err ? err : sink->end(sink->context, n_rows);
}

/* ---- a run ---- */

static enum strobe_err run_one(struct strobe_duck *duck, duck_object prepared,
                               const struct strobe_sql_sink *sink)
{
    struct duck_result result;
    if (duck->library->prepared_statement_type(prepared) != DUCK_STATEMENT_SELECT)
        return refuse(duck, "a trace can only be read: SELECT and WITH");
    enum strobe_err err = duck->library->execute_prepared(prepared, &result)
                              ? refuse(duck, duck->library->result_error(&result))
                              : put_answer(duck, &result, sink);
    duck->library->destroy_result(&result);
    return err;
}

static enum strobe_err run_all(struct strobe_duck *duck, const char *text,
                               const struct strobe_sql_sink *sink)
{
    const struct strobe_duck_library *library = duck->library;
    duck_object extracted = NULL;
    if (strlen(text) > MAX_STATEMENT)
        return refuse(duck, "statements have 64 KiB at the most");
    uint64_t n = library->extract_statements(duck->connection, text, &extracted);
    const char *words = n ? NULL : library->extract_statements_error(extracted);
    enum strobe_err err = words ? refuse(duck, words) : STROBE_OK;
    for (uint64_t i = 0; !err && i < n; i++) {
        duck_object prepared = NULL;
        if (library->prepare_extracted_statement(duck->connection, extracted, i, &prepared))
            err = refuse(duck, library->prepare_error(prepared));
        else
            err = run_one(duck, prepared, sink);
        library->destroy_prepare(&prepared);
    }
    library->destroy_extracted(&extracted);
    return err;
}

enum strobe_err strobe_duck_run(struct strobe_duck *duck, const char *text,
                                const struct strobe_sql_sink *sink)
{
    pthread_t watcher;
    duck->error[0] = 0;
    atomic_store(&duck->stopped, 0);
    atomic_store(&duck->is_done, 0);
    if (pthread_create(&watcher, NULL, watch, duck))
        return STROBE_ERR_NOMEM;
    enum strobe_err err = run_all(duck, text, sink);
    atomic_store(&duck->is_done, 1);
    wake(duck);
    pthread_join(watcher, NULL);
    int why = atomic_load(&duck->stopped);
    if (!err || !why)
        return err;
    snprintf(duck->error, sizeof duck->error,
             why == BY_HAND ? "stopped"
                            : "no answer in %.1f s: ask of a shorter time, or allow more with "
                              "--timeout",
             (double)duck->limits.timeout_ms / 1000);
    return STROBE_ERR_LIMIT;
}
