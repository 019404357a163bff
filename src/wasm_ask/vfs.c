/* vfs.c - what SQLite wants of a system in the page's module: the time, and random bytes. There are no files: whoever opens one is refused. The
 * database and its temporary files are in SQLite's own memory (its VFS memdb, which stands on this one).  SPDX-License-Identifier: MIT */
#include <sqlite3.h>
#include <unistd.h>

#include "base/clock.h"

static int refuse_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                       int *out_flags)
{
    (void)vfs, (void)name, (void)flags, (void)out_flags;
    file->pMethods = NULL;
    return SQLITE_CANTOPEN;
}

static int refuse_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs, (void)name, (void)sync;
    return SQLITE_IOERR_DELETE;
}

static int find_none(sqlite3_vfs *vfs, const char *name, int flags, int *is_there)
{
    (void)vfs, (void)name, (void)flags;
    *is_there = 0;
    return SQLITE_OK;
}

static int copy_name(sqlite3_vfs *vfs, const char *name, int room, char *out)
{
    (void)vfs;
    sqlite3_snprintf(room, out, "%s", name);
    return SQLITE_OK;
}

static int fill_random(sqlite3_vfs *vfs, int n, char *out)
{
    enum { AT_ONCE = 256 };
    (void)vfs;
    n = n < AT_ONCE ? n : AT_ONCE;
    return getentropy(out, (size_t)n) ? 0 : n;
}

static int sleep_not(sqlite3_vfs *vfs, int microseconds)
{
    (void)vfs;
    return microseconds;
}

/* Milliseconds since noon in Greenwich on November 24, 4714 B.C. */
static int read_time(sqlite3_vfs *vfs, sqlite3_int64 *out)
{
    (void)vfs;
    *out = 210866760000000ll + (sqlite3_int64)(strobe_clock_real_ns() / 1000000u);
    return SQLITE_OK;
}

int sqlite3_os_init(void);
int sqlite3_os_end(void);

int sqlite3_os_init(void)
{
    static sqlite3_vfs vfs = {.iVersion = 2,
                              .szOsFile = sizeof(sqlite3_file),
                              .mxPathname = 512,
                              .zName = "none",
                              .xOpen = refuse_open,
                              .xDelete = refuse_delete,
                              .xAccess = find_none,
                              .xFullPathname = copy_name,
                              .xRandomness = fill_random,
                              .xSleep = sleep_not,
                              .xCurrentTimeInt64 = read_time};
    return sqlite3_vfs_register(&vfs, 1);
}

int sqlite3_os_end(void)
{
    return SQLITE_OK;
}
