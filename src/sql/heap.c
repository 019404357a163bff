/* heap.c - SQLite's memory, with a clock: after the deadline of a statement large allocations fail, so that a row of a thousand
 * columns, each a long text, ends there. Between two jumps of its virtual machine SQLite does not check the deadline, but every long text
 * is allocated. Where SQLite was in use before (a program's own connections), its memory is left alone, and such a row takes its time.
 * SPDX-License-Identifier: MIT */
#include <pthread.h>

#include "base/clock.h"
#include "sql/table.h"

enum { LARGE = 1 << 15 };

static sqlite3_mem_methods plain; /* SQLite's own */
static _Thread_local uint64_t deadline;

static int is_refused(int n)
{
    return n >= LARGE && deadline && strobe_clock_mono_ns() >= deadline;
}

static void *get(int n)
{
    return is_refused(n) ? NULL : plain.xMalloc(n);
}

static void *resize(void *block, int n)
{
    return is_refused(n) ? NULL : plain.xRealloc(block, n);
}

static void guard(void)
{
    sqlite3_mem_methods guarded;
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain) != SQLITE_OK || !plain.xMalloc)
        return;
    guarded = plain;
    guarded.xMalloc = get;
    guarded.xRealloc = resize;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &guarded);
}

void strobe_sql_guard_heap(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, guard);
}

void strobe_sql_set_heap_deadline(uint64_t deadline_ns)
{
    deadline = deadline_ns;
}
