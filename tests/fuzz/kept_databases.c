/* kept_databases.c - SQLite's connections, kept from run to run with their views: to open one and to read the text of all views takes longer than to ask a small trace.
 * tests/fuzz/run leads their opening and closing through here (--wrap); `make test` does not.
 *
 * A connection that is handed out again has no module, no handler and no statement of the one before; functions are replaced by those of the new one. What was made in it but views is made
 * anew. One in sixteen is closed all the same, so that its use after that is seen; so is one that has a statement left.  SPDX-License-Identifier: MIT */
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>

enum { FREED_EVERY = 16 };
static const char views[] = "CREATE VIEW ";

int __real_sqlite3_open_v2(const char *name, sqlite3 **out, int flags, const char *vfs);
int __real_sqlite3_close(sqlite3 *db);
int __real_sqlite3_exec(sqlite3 *db, const char *text, int (*row)(void *, int, char **, char **),
                        void *context, char **error);
int __wrap_sqlite3_open_v2(const char *name, sqlite3 **out, int flags, const char *vfs);
int __wrap_sqlite3_close(sqlite3 *db);
int __wrap_sqlite3_exec(sqlite3 *db, const char *text, int (*row)(void *, int, char **, char **),
                        void *context, char **error);

static sqlite3 *kept;       /* owned; NULL: none */
static sqlite3 *with_views; /* the one that has them, kept or used */
static const char *views_text;

int __wrap_sqlite3_open_v2(const char *name, sqlite3 **out, int flags, const char *vfs)
{
    if (!kept || strcmp(name, "trace"))
        return __real_sqlite3_open_v2(name, out, flags, vfs);
    *out = kept;
    kept = NULL;
    return SQLITE_OK;
}

int __wrap_sqlite3_exec(sqlite3 *db, const char *text, int (*row)(void *, int, char **, char **),
                        void *context, char **error)
{
    bool makes_views = !strncmp(text, views, sizeof views - 1);
    if (makes_views && db == with_views && text == views_text)
        return SQLITE_OK;
    int code = __real_sqlite3_exec(db, text, row, context, error);
    if (makes_views && !code) {
        with_views = db;
        views_text = text;
    }
    return code;
}

int __wrap_sqlite3_close(sqlite3 *db)
{
    static unsigned n_closed;
    if (!db || db != with_views || kept || sqlite3_next_stmt(db, NULL) ||
        ++n_closed % FREED_EVERY == 0) {
        with_views = db == with_views ? NULL : with_views;
        return __real_sqlite3_close(db);
    }
    sqlite3_drop_modules(db, NULL);
    sqlite3_set_authorizer(db, NULL, NULL);
    sqlite3_progress_handler(db, 0, NULL, NULL);
    kept = db;
    return SQLITE_OK;
}
