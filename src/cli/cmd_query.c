/* cmd_query.c - strobe query: SQL over traces.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "cli/out.h"
#include "cli/prompt.h"
#include "cli/query_format.h"
#include "cli/query_words.h"
#include "duck/duck.h"
#include "export/arrow_file.h"
#include "export/parquet.h"

static const char help[] =
    "usage: strobe query [options] [FILE…] [SQL]\n"
    "\n"
    "Ask traces in SQL. The last argument is the query, unless it is the name of a file; without "
    "one, statements "
    "are read from\n"
    "stdin, or at a prompt. Without a FILE, the newest trace in this folder is asked. Several "
    "traces are distinguished "
    "by the column\n"
    "trace_id: 0, 1 … Times are ns after the start of the recording.\n"
    "\n"
    "  --tables             list the tables and their columns\n"
    "  --format FORMAT      table (default), csv, jsonl, markdown, and of one statement arrow or "
    "parquet\n"
    "  -o, --out OUT        write the answer to a file; OUT.parquet and OUT.arrow have these "
    "formats\n"
    "  --file SQLFILE       read the statements from a file\n"
    "  --timeout TIME       end a run after 500ms, 30s, 10m …; default: 5m, 0: never\n"
    "  --no-shortcut        give every statement to SQLite as it is; else those that only add up "
    "zones go to zone_sum\n"
    "  --memory BYTES       that sorting and grouping may take: 512M, 2G …; default: 1G\n"
    "  --engine ENGINE      sqlite (default), or duckdb, where its library libduckdb.so is "
    "installed or STROBE_DUCKDB\n"
    "                       names it\n"
    "\n"
    "A trace can only be read: SELECT and WITH. Sums of zone.dur are those of the command csv; the "
    "table stat has "
    "the numbers of\n"
    "the command stats, from summaries, without reading an event. Views: slice, thread_track, "
    "process_track, "
    "thread_slice (as\n"
    "in Perfetto), slowest, hottest, open_zone, leak.\n"
    "\n"
    "examples:\n"
    "  strobe query 'SELECT * FROM hottest'\n"
    "  strobe query run.strobe \"SELECT name, count(*), sum(dur)/1e6 AS ms FROM zone WHERE ts > "
    "1e9 GROUP BY name "
    "ORDER BY 3 DESC\"\n"
    "  strobe query a.strobe b.strobe 'SELECT trace_id, name, p99 FROM stat ORDER BY name'\n"
    "  strobe query --format csv run.strobe 'SELECT * FROM message' >messages.csv\n";

struct options {
    enum strobe_query_format format;
    int wants_duck;
    const char *sql_file, *out;
    struct strobe_sql_limits limits;
};

enum {
    OPT_TABLES = 256,
    OPT_FORMAT,
    OPT_FILE,
    OPT_TIMEOUT,
    OPT_MEMORY,
    OPT_NO_SHORTCUT,
    OPT_ENGINE
};

/* All tables, or the one of a name. Their number. */
static unsigned print_tables(const char *only)
{
    const char *columns, *what, *name;
    unsigned n = 0;
    for (unsigned i = 0; (name = strobe_sql_table(i, &columns, &what)); i++)
        if (!*only || !strcmp(only, name)) {
            printf("%s: %s\n    %s\n", name, what, columns);
            n++;
        }
    fflush(stdout);
    return n;
}

/* A number and one of `units`, each a letter or two with its factor. 0: it is none. */
static int read_amount(const char *text, const char *const *units, const uint64_t *factors,
                       uint64_t *out)
{
    char *end;
    errno = 0;
    double amount = strtod(text, &end);
    if (end == text || errno || !(amount >= 0))
        return 0;
    for (int i = 0; units[i]; i++)
        if (!strcasecmp(end, units[i]) && amount * (double)factors[i] < 9e18) {
            *out = (uint64_t)(amount * (double)factors[i]);
            return 1;
        }
    return 0;
}

static int read_limit(int option, const char *text, struct strobe_sql_limits *limits)
{
    static const char *const times[] = {"ms", "s", "", "m", "h", NULL};
    static const uint64_t ms[] = {1, 1000, 1000, 60000, 3600000};
    static const char *const sizes[] = {"", "k", "m", "g", "kib", "mib", "gib", NULL};
    static const uint64_t bytes[] = {1, 1 << 10, 1 << 20, 1 << 30, 1 << 10, 1 << 20, 1 << 30};
    if (option == OPT_TIMEOUT ? read_amount(text, times, ms, &limits->timeout_ms)
                              : read_amount(text, sizes, bytes, &limits->heap_bytes))
        return 1;
    strobe_cli_error(
        "query", option == OPT_TIMEOUT ? "'%s' is no time; try 30s" : "'%s' is no size; try 512M",
        text);
    return 0;
}

static int read_engine(const char *text, struct options *options)
{
    options->wants_duck = !strcmp(text, "duckdb");
    if (options->wants_duck || !strcmp(text, "sqlite"))
        return 1;
    strobe_cli_error("query", "there is no engine '%s'; sqlite, duckdb", text);
    return 0;
}

/* -1: go on; else the exit code. */
static int read_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"tables", 0, NULL, OPT_TABLES}, {"format", 1, NULL, OPT_FORMAT},
        {"file", 1, NULL, OPT_FILE},     {"timeout", 1, NULL, OPT_TIMEOUT},
        {"memory", 1, NULL, OPT_MEMORY}, {"no-shortcut", 0, NULL, OPT_NO_SHORTCUT},
        {"engine", 1, NULL, OPT_ENGINE}, {"out", 1, NULL, 'o'},
        {"help", 0, NULL, 'h'},          {0}};
    for (int c; (c = strobe_cli_option(argc, argv, "ho:", known)) != -1;) {
        if (c == 'h' || c == OPT_TABLES) {
            if (c == 'h')
                fputs(help, stdout);
            else
                print_tables("");
            return STROBE_EXIT_OK;
        }
        int ok = c != '?';
        if (c == OPT_FORMAT && !(ok = strobe_query_read_format(optarg, &options->format)))
            strobe_cli_error("query",
                             "there is no format '%s'; table, csv, jsonl, markdown, arrow, parquet",
                             optarg);
        else if (c == OPT_NO_SHORTCUT)
            options->limits.no_shortcut = 1;
        else if (c == OPT_ENGINE)
            ok = read_engine(optarg, options);
        else if (c == OPT_FILE)
            options->sql_file = optarg;
        else if (c == 'o')
            options->out = optarg;
        else if (c == OPT_TIMEOUT || c == OPT_MEMORY)
            ok = read_limit(c, optarg, &options->limits);
        if (!ok)
            return STROBE_EXIT_USAGE;
    }
    return -1;
}

/* Who answers. */
struct asked {
    struct strobe_sql *sql;   /* owned: the traces, and SQLite over them */
    struct strobe_duck *duck; /* owned; NULL: SQLite answers */
};

static struct asked running; /* what Ctrl-C ends */

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    if (running.duck)
        strobe_duck_stop(running.duck);
    else
        strobe_sql_stop(running.sql);
}

/* Below an answer for people: how much of the trace there is. Elsewhere only what is missing, on stderr. */
static void put_coverage(const struct strobe_query_writer *writer, const struct asked *asked)
{
    const struct strobe_trace *trace;
    struct strobe_sql *sql = asked->sql;
    for (unsigned i = 0; strobe_sql_trace(sql, i); i++) {
        struct strobe_coverage coverage;
        trace = strobe_sql_counted(sql, i);
        strobe_trace_coverage(trace, &coverage);
        if (writer->format == STROBE_QUERY_TABLE) {
            strobe_cli_put_coverage(writer->out, trace);
            strobe_out_text(writer->out, asked->duck ? "; by DuckDB "
                                         : strobe_sql_was_rewritten(sql)
                                             ? "; by SQLite over zone_sum"
                                             : "; by SQLite");
            strobe_out_text(writer->out, asked->duck ? strobe_duck_version(asked->duck) : "");
            strobe_out_char(writer->out, '\n');
        } else if (coverage.n_emitted != coverage.n_stored) {
            strobe_cli_error("query", "%llu of %llu events are not in trace %u",
                             (unsigned long long)(coverage.n_emitted - coverage.n_stored),
                             (unsigned long long)coverage.n_emitted, i);
        } else if (!strobe_file_facts(trace->file)->closed) {
            strobe_cli_error("query", "trace %u is not closed: what more there was is not known",
                             i);
        }
        struct strobe_sql_damage damage = strobe_sql_damage(sql, i);
        strobe_cli_say_damage("query", damage.n_holes, damage.hole_bytes, damage.n_bad_parts);
    }
}

/* Run a text of statements; 0: it failed, and why was printed. */
static int run_text(const struct asked *asked, struct strobe_query_writer *writer, const char *text)
{
    struct strobe_sql_sink sink = strobe_query_sink(writer);
    enum strobe_err err = asked->duck ? strobe_duck_run(asked->duck, text, &sink)
                                      : strobe_sql_run(asked->sql, text, &sink);
    if (!err)
        put_coverage(writer, asked);
    strobe_out_flush(writer->out);
    const char *words = asked->duck ? strobe_duck_error(asked->duck) : strobe_sql_error(asked->sql);
    if (err && !writer->out->error)
        strobe_cli_error("query", "%s", *words ? words : strobe_err_text(err));
    return !err;
}

/* All of a stream as a text; NULL: no memory, or it can't be read. */
static char *read_all(FILE *in)
{
    char *text = NULL;
    size_t n = 0, room = 0, got = 1;
    while (got) {
        if (STROBE_ARRAY_RESERVE(text, room, n + 4097)) {
            free(text);
            return NULL;
        }
        got = fread(text + n, 1, 4096, in);
        n += got;
    }
    text[n] = 0;
    return text;
}

/* Where the prompt's history is kept; NULL: nowhere. */
static const char *history_path(char room[STROBE_PATH_ROOM])
{
    const char *given = getenv("STROBE_HISTORY"), *home = getenv("HOME");
    if (given)
        return *given ? given : NULL;
    if (!home || snprintf(room, STROBE_PATH_ROOM, "%s/.strobe_history", home) >= STROBE_PATH_ROOM)
        return NULL;
    return room;
}

/* One more line of a statement, which is run when it ends in a semicolon. */
static void add_line(const struct asked *asked, struct strobe_query_writer *writer,
                     struct strobe_out *statement, const char *line)
{
    strobe_out_text(statement, line);
    strobe_out_char(statement, '\n');
    size_t n = statement->len;
    while (n && strchr(" \t\r\n", statement->at[n - 1]))
        n--;
    if (n && statement->at[n - 1] == ';')
        run_text(asked, writer, strobe_out_string(statement));
    if (!n || statement->at[n - 1] == ';')
        strobe_out_clear(statement);
}

static const char prompt_help[] =
    "SQL, ended by a semicolon; it may be several lines. Tab completes, arrows go through the "
    "history, Ctrl-C forgets a line.\n"
    "  .tables [NAME]   the tables and their columns, or those of one\n"
    "  .help            this\n"
    "  .quit            end, as Ctrl-D does\n";

/* A line that begins with a dot is no SQL, and a habit from other prompts. 0: it ends the prompt. */
static int run_dot(const char *line)
{
    char word[16] = "", name[64] = "";
    sscanf(line, "%15s %63s", word, name);
    if (!strcmp(word, ".quit") || !strcmp(word, ".exit"))
        return 0;
    if (!strcmp(word, ".tables") || !strcmp(word, ".schema")) {
        name[strcspn(name, ";")] = 0;
        if (!print_tables(name))
            strobe_cli_error("query", "there is no table %s; .tables lists all", name);
    } else if (!strcmp(word, ".help")) {
        fputs(prompt_help, stderr);
    } else {
        strobe_cli_error("query", "there is no %s; .tables, .help, .quit", word);
    }
    return 1;
}

/* Statements from a terminal. */
static int run_prompt(const struct asked *asked, struct strobe_query_writer *writer)
{
    struct strobe_query_words words = {0};
    struct strobe_out statement = {0};
    char room[STROBE_PATH_ROOM];
    struct strobe_prompt prompt = {.words = strobe_query_words(&words),
                                   .history_path = history_path(room)};
    const char *line;
    int is_cancelled;
    fprintf(stderr, "SQL, ended by a semicolon; .tables lists the tables, .help helps, Tab "
                    "completes, Ctrl-D ends.\n");
    while ((line = strobe_prompt_read(&prompt, statement.len ? "   ...> " : "strobe> ",
                                      &is_cancelled))) {
        if (is_cancelled) {
            strobe_out_clear(&statement);
        } else if (!statement.len && *line == '.') {
            if (!run_dot(line))
                break;
        } else {
            strobe_prompt_remember(&prompt, line);
            add_line(asked, writer, &statement, line);
        }
    }
    fputc('\n', stderr);
    strobe_prompt_close(&prompt);
    strobe_query_words_free(&words);
    strobe_out_free(&statement);
    return 1;
}

static int run_stream(const struct asked *asked, struct strobe_query_writer *writer,
                      const char *path)
{
    FILE *in = path ? fopen(path, "r") : stdin;
    char *text = in ? read_all(in) : NULL;
    int ok = text && !ferror(in) && run_text(asked, writer, text);
    if (!in || !text || ferror(in))
        strobe_cli_error("query", "%s: %s", path ? path : "stdin",
                         strerror(errno ? errno : ENOMEM));
    free(text);
    if (in && in != stdin)
        fclose(in);
    return ok;
}

static int ends_in(const char *path, const char *end)
{
    size_t n = path ? strlen(path) : 0, n_end = strlen(end);
    return n > n_end && !strcmp(path + n - n_end, end);
}

/* The format that the options ask for: a name may say it. */
static enum strobe_query_format format_of(const struct options *options)
{
    return ends_in(options->out, ".parquet") ? STROBE_QUERY_PARQUET
           : ends_in(options->out, ".arrow") ? STROBE_QUERY_ARROW
                                             : options->format;
}

/* Arrow into a file, or to stdout. */
static enum strobe_err write_arrow(struct strobe_columns *reader, const char *to, uint64_t *n_rows)
{
    struct strobe_out out;
    int fd = to ? open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : 1;
    if (fd < 0)
        return strobe_err_from_errno(errno);
    enum strobe_err err = strobe_out_open(&out, fd) ? strobe_arrow_file_write(reader, &out, n_rows)
                                                    : STROBE_ERR_NOMEM;
    int failed = strobe_out_end(&out);
    if (fd != 1 && close(fd) && !failed)
        failed = errno;
    return err && err != STROBE_ERR_IO ? err : strobe_err_from_errno(failed);
}

/* What is wrong with asking for columns so; NULL: nothing. */
static const char *refuse_columns(enum strobe_query_format format, const char *to, const char *text,
                                  int wants_duck)
{
    if (wants_duck)
        return "is written of SQLite's answers: leave --engine duckdb out, or take --format csv";
    if (!text)
        return "has the answer to one statement: give it as an argument";
    if (!to && format == STROBE_QUERY_PARQUET)
        return "is written to a file: -o answer.parquet";
    if (!to && isatty(1))
        return "is nothing to look at: -o answer.arrow, or a pipe";
    return NULL;
}

/* The answer to one statement as a file of Parquet or Arrow: an exit code. */
static int run_columns(struct strobe_sql *sql, const struct options *options,
                       enum strobe_query_format format, const char *text)
{
    enum { ROWS = 1 << 18 };
    struct strobe_columns *reader;
    uint64_t n_rows = 0;
    const char *to = options->out && strcmp(options->out, "-") ? options->out : NULL;
    const char *refusal = refuse_columns(format, to, text, options->wants_duck);
    if (refusal) {
        strobe_cli_error("query", "%s %s",
                         to                               ? to
                         : format == STROBE_QUERY_PARQUET ? "Parquet"
                                                          : "Arrow",
                         refusal);
        return STROBE_EXIT_USAGE;
    }
    enum strobe_err err = strobe_columns_query(sql, text, ROWS, &reader);
    if (!err)
        err = format == STROBE_QUERY_PARQUET ? strobe_parquet_write(reader, to, &n_rows)
                                             : write_arrow(reader, to, &n_rows);
    strobe_columns_close(reader);
    if (err)
        strobe_cli_error("query", "%s",
                         *strobe_sql_error(sql) ? strobe_sql_error(sql) : strobe_err_text(err));
    else if (to)
        fprintf(stderr, "strobe query: wrote %s, %llu rows\n", to, (unsigned long long)n_rows);
    return err ? STROBE_EXIT_FAILED : STROBE_EXIT_OK;
}

static int run(const struct asked *asked, const struct options *options, const char *text)
{
    struct strobe_out out;
    enum strobe_query_format format = format_of(options);
    struct strobe_query_writer writer = {.out = &out, .format = format};
    struct sigaction stop = {.sa_handler = on_interrupt};
    int ok, fd = 1;
    running = *asked;
    sigaction(SIGINT, &stop, NULL);
    if (format == STROBE_QUERY_PARQUET || format == STROBE_QUERY_ARROW)
        return run_columns(asked->sql, options, format, text);
    if (options->out && strcmp(options->out, "-"))
        fd = open(options->out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || !strobe_out_open(&out, fd)) {
        strobe_cli_error("query", "can't write %s: %s", options->out ? options->out : "the answer",
                         strerror(errno));
        return STROBE_EXIT_FAILED;
    }
    if (text)
        ok = run_text(asked, &writer, text);
    else if (!options->sql_file && isatty(0))
        ok = run_prompt(asked, &writer);
    else
        ok = run_stream(asked, &writer, options->sql_file);
    strobe_query_writer_free(&writer);
    if (strobe_out_close(&out, "query") || (fd != 1 && close(fd)))
        ok = 0;
    return ok ? STROBE_EXIT_OK : STROBE_EXIT_FAILED;
}

/* Find DuckDB, where it is wanted: an exit code. */
static int open_engine(struct asked *asked, const char *const *paths, unsigned n_paths,
                       const struct options *options)
{
    enum strobe_err err = options->wants_duck ? strobe_duck_open(asked->sql, paths, n_paths,
                                                                 &options->limits, &asked->duck)
                                              : STROBE_OK;
    if (!err)
        return STROBE_EXIT_OK;
    const char *words = asked->duck ? strobe_duck_error(asked->duck) : "";
    strobe_cli_error("query", "%s", *words ? words : strobe_err_text(err));
    if (err == STROBE_ERR_NOTFOUND)
        strobe_cli_error("query", "install libduckdb (duckdb.org, conda-forge, or of npm "
                                  "@duckdb/node-bindings-linux-x64), or set STROBE_DUCKDB to its "
                                  "path; Python's module needs strobe.open() instead. Without "
                                  "--engine, SQLite answers");
    return STROBE_EXIT_FAILED;
}

int strobe_cli_query(int argc, char **argv)
{
    struct options options = {.limits = {.timeout_ms = 300000, .heap_bytes = 1 << 30}};
    char room[STROBE_PATH_ROOM];
    int code = read_options(argc, argv, &options);
    if (code >= 0)
        return code;
    const char *text = NULL, *newest;
    if (!options.sql_file && optind < argc && access(argv[argc - 1], F_OK))
        text = argv[--argc];
    const char *const *paths = (const char *const *)argv + optind;
    unsigned n_paths = (unsigned)(argc - optind), failed;
    if (!n_paths) {
        newest = strobe_cli_find_trace("query", 0, NULL, 0, room);
        if (!newest)
            return STROBE_EXIT_FAILED;
        paths = &newest;
        n_paths = 1;
    }
    struct asked asked = {0};
    enum strobe_err err = strobe_sql_open(paths, n_paths, &options.limits, &failed, &asked.sql);
    if (err)
        return strobe_cli_fail("query", paths[failed], err);
    code = open_engine(&asked, paths, n_paths, &options);
    if (!code)
        code = run(&asked, &options, text);
    strobe_duck_close(asked.duck);
    strobe_sql_close(asked.sql);
    return code;
}
