/* export_tables.c - see export_tables.h.  SPDX-License-Identifier: MIT */
#include "cli/export_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/input.h"
#include "cli/out.h"
#include "export/lake.h"

/* The trace as a connection; NULL: that failed, and was printed. */
static struct strobe_sql *open_tables(const char *path, const char *shown)
{
    const struct strobe_sql_limits none = {0};
    struct strobe_sql *sql;
    unsigned failed;
    enum strobe_err err = strobe_sql_open(&path, 1, &none, &failed, &sql);
    if (err)
        strobe_cli_fail("export", shown, err);
    return sql;
}

static void say_damage(const struct strobe_sql *sql)
{
    struct strobe_sql_damage damage = strobe_sql_damage(sql, 0);
    strobe_cli_say_damage("export", damage.n_holes, damage.hole_bytes, damage.n_bad_parts);
}

/* The name of a trace without folders and .strobe; the caller frees it. */
static char *run_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = strdup(slash ? slash + 1 : path);
    size_t n = name ? strlen(name) : 0;
    if (n > 7 && !strcmp(name + n - 7, ".strobe"))
        name[n - 7] = 0;
    return name;
}

int strobe_cli_write_lake(const char *path, const char *shown, const char *to, const char *run)
{
    struct strobe_sql *sql = open_tables(path, shown);
    struct strobe_lake_result result;
    if (!sql)
        return 0;
    char *name = run ? strdup(run) : run_of(shown);
    enum strobe_err err = name ? strobe_lake_write(sql, to, name, &result) : STROBE_ERR_NOMEM;
    if (err)
        strobe_cli_error("export", "%s: %s", name && *result.place ? result.place : to,
                         *strobe_sql_error(sql) ? strobe_sql_error(sql) : strobe_err_text(err));
    else
        fprintf(stderr,
                "strobe export: wrote %llu zones and the other tables, %llu files of %.1f MB "
                "below %s/run=%s; DuckDB, polars, ClickHouse and Spark read them\n",
                (unsigned long long)result.n_zones, (unsigned long long)result.n_files,
                (double)result.n_bytes / 1e6, to, name);
    say_damage(sql);
    free(name);
    strobe_sql_close(sql);
    return !err;
}

int strobe_cli_write_rows(const char *path, const char *shown, int fd,
                          strobe_cli_rows_writer *write_rows)
{
    struct strobe_sql *sql = open_tables(path, shown);
    struct strobe_out out;
    if (!sql)
        return 0;
    enum strobe_err err = STROBE_ERR_NOMEM;
    if (strobe_out_open(&out, fd))
        err = write_rows(sql, &out);
    if (err && !out.error)
        strobe_cli_fail("export", shown, err);
    int ok = !strobe_out_close(&out, "export") && !err;
    say_damage(sql);
    strobe_sql_close(sql);
    return ok;
}
