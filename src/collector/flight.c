/* flight.c - the flight recorder's spool.  SPDX-License-Identifier: MIT */
#include "collector/flight.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "file/copy.h"

enum { FILES_PER_WINDOW = 8, SPOOL_PATH = 1200 };

struct strobe_flight {
    char dir[1100];
    char session[800];
    uint64_t window_ns, next_ns;
    uint32_t first, last;                        /* numbers of the event files that exist */
    struct strobe_file_writer *records, *events; /* owned */
};

static void file_name(const struct strobe_flight *flight, uint32_t number, char out[SPOOL_PATH])
{
    snprintf(out, SPOOL_PATH, "%s/events-%08u.strobe", flight->dir, number);
}

static enum strobe_err open_events(struct strobe_flight *flight, uint64_t now_ns)
{
    char path[SPOOL_PATH];
    file_name(flight, flight->last, path);
    flight->next_ns = now_ns + flight->window_ns / FILES_PER_WINDOW;
    return strobe_file_create(path, flight->session, 0, &flight->events);
}

enum strobe_err strobe_flight_open(const char *trace, const char *session_dir, uint64_t window_ns,
                                   struct strobe_flight **out)
{
    struct strobe_flight *flight = calloc(1, sizeof *flight);
    char path[SPOOL_PATH];
    if (!flight)
        return STROBE_ERR_NOMEM;
    flight->window_ns = window_ns;
    snprintf(flight->dir, sizeof flight->dir, "%s.flight", trace);
    snprintf(flight->session, sizeof flight->session, "%s", session_dir);
    snprintf(path, sizeof path, "%s/names.strobe", flight->dir);
    enum strobe_err err = STROBE_OK;
    if (mkdir(flight->dir, 0700))
        err = strobe_err_from_errno(errno);
    if (!err)
        err = strobe_file_create(path, session_dir, 0, &flight->records);
    if (!err)
        err = open_events(flight, 0);
    flight->next_ns = 0; /* the clock starts with the first question */
    if (err) {
        strobe_flight_close(flight);
        return err;
    }
    *out = flight;
    return STROBE_OK;
}

struct strobe_file_writer *strobe_flight_records(struct strobe_flight *flight)
{
    return flight->records;
}

struct strobe_file_writer *strobe_flight_events(struct strobe_flight *flight)
{
    return flight->events;
}

bool strobe_flight_is_due(const struct strobe_flight *flight, uint64_t now_ns)
{
    return now_ns >= flight->next_ns;
}

enum strobe_err strobe_flight_rotate(struct strobe_flight *flight, uint64_t now_ns)
{
    struct strobe_file_writer *old = flight->events;
    if (!flight->next_ns) {
        flight->next_ns = now_ns + flight->window_ns / FILES_PER_WINDOW;
        return STROBE_OK;
    }
    STROBE_ASSERT(flight->events && flight->last >= flight->first);
    flight->last++;
    enum strobe_err err = open_events(flight, now_ns);
    if (err) { /* stay with the old one: it only grows */
        flight->last--;
        flight->events = old;
        return err;
    }
    strobe_file_abandon(old);
    while (flight->last - flight->first > FILES_PER_WINDOW) {
        char path[SPOOL_PATH];
        file_name(flight, flight->first++, path);
        unlink(path);
    }
    STROBE_ASSERT(flight->last - flight->first <= FILES_PER_WINDOW);
    return STROBE_OK;
}

/* ---- joining ---- */

/* Copy the blocks of `type` from one spool file. */
static enum strobe_err copy_blocks(const char *from, uint8_t type, struct strobe_file_writer *to)
{
    struct strobe_file *file = NULL;
    const struct strobe_copy_options options = {.type = type};
    enum strobe_err err = strobe_file_open(from, &file);
    if (!err)
        err = strobe_copy_blocks(file, &options, to);
    strobe_file_close(file);
    return err;
}

static int is_events_file(const struct dirent *entry)
{
    return !strncmp(entry->d_name, "events-", 7);
}

static enum strobe_err put_reason(struct strobe_file_writer *to, uint64_t tick, const char *reason)
{
    struct strobe_records records = {0};
    strobe_records_reset(&records);
    strobe_records_begin(&records, STROBE_FACT_KEPT);
    strobe_records_u(&records, tick);
    strobe_records_s(&records, reason, strlen(reason));
    strobe_records_end(&records);
    enum strobe_err err = strobe_file_put_records(to, &records);
    strobe_records_free(&records);
    return err;
}

static enum strobe_err join(const char *spool, const char *session, const char *path, uint64_t tick,
                            const char *reason, const char *recover_session,
                            strobe_recover_last *last)
{
    char name[SPOOL_PATH + 300];
    struct strobe_file_writer *to = NULL;
    struct strobe_recovery recovery;
    struct dirent **files = NULL;
    enum strobe_err err = strobe_file_create(path, session, 0, &to);
    if (err)
        return err;
    snprintf(name, sizeof name, "%s/names.strobe", spool);
    err = copy_blocks(name, STROBE_BLOCK_RECORDS, to);
    int n = scandir(spool, &files, is_events_file, alphasort);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%s/%s", spool, files[i]->d_name);
        if (!err)
            err = copy_blocks(name, STROBE_BLOCK_EVENTS, to);
        free(files[i]);
    }
    free(files);
    if (!err)
        err = put_reason(to, tick, reason);
    strobe_file_abandon(to);
    /* index, totals and footer are made as for any trace without them */
    return err ? err : strobe_recover(path, recover_session, NULL, NULL, last, &recovery);
}

enum strobe_err strobe_flight_save(struct strobe_flight *flight, const char *path, uint64_t tick,
                                   const char *reason, strobe_recover_last *last)
{
    return join(flight->dir, "", path, tick, reason, "", last);
}

enum strobe_err strobe_flight_join(const char *spool, const char *path, uint64_t tick,
                                   const char *reason, strobe_recover_last *last)
{
    char name[SPOOL_PATH];
    struct strobe_file *file = NULL;
    snprintf(name, sizeof name, "%s/names.strobe", spool);
    enum strobe_err err = strobe_file_open(name, &file);
    if (err)
        return err;
    char session[800];
    snprintf(session, sizeof session, "%s", strobe_file_facts(file)->session);
    strobe_file_close(file);
    return join(spool, session, path, tick, reason, NULL, last);
}

void strobe_flight_close(struct strobe_flight *flight)
{
    char path[SPOOL_PATH];
    if (!flight)
        return;
    strobe_file_abandon(flight->records);
    strobe_file_abandon(flight->events);
    for (uint32_t i = flight->first; i <= flight->last; i++) {
        file_name(flight, i, path);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/names.strobe", flight->dir);
    unlink(path);
    rmdir(flight->dir);
    free(flight);
}
