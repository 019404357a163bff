/* tracy_side.c - see the header. The host itself: tracy/host.h; the shim: shim/.
 * SPDX-License-Identifier: MIT */
#include "recorder/tracy_side.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/asked.h"
#include "recorder/internal.h"
#include "recorder/preload_side.h"
#include "wire/tracy_notice.h"

#define SHIM "libstrobe-tracy-shim.so"

/* ---- what the host asks the collector ---- */

static uint64_t now(void *arg)
{
    return strobe_collector_now(arg);
}

/* ---- open ---- */

/* A program that records itself, or a process that was picked by its number, has none. */
static bool is_wanted(const struct strobe_recorder_options *options)
{
    return !options->no_tracy && !options->serve && (options->command || options->n_tracy);
}

enum strobe_err strobe_recorder_tracy_open(struct strobe_recorder *r)
{
    const struct strobe_recorder_options *options = &r->options;
    STROBE_ASSERT(r->collector && r->writer && !r->tracy);
    STROBE_ASSERT(options->n_tracy <= STROBE_RECORDER_TRACY_MAX);
    struct strobe_tracy_host_options host = {
        .writer = r->writer,
        .records_writer = r->flight ? strobe_flight_records(r->flight) : NULL,
        .session_dir = options->command ? r->session.dir : NULL,
        .announced = options->command ? options->tracy_announced : STROBE_TRACY_ANNOUNCED_NONE,
        .announce_port = options->tracy_announce_port,
        .search_children = options->command != NULL,
        .max_file_bytes = options->max_file_bytes,
        .new_proc = strobe_recorder_new_proc,
        .lose = strobe_recorder_lose,
        .now = now,
        .arg = r->collector,
    };
    if (!is_wanted(options))
        return STROBE_OK;
    enum strobe_err err = strobe_tracy_host_open(&host, &r->tracy);
    for (uint32_t i = 0; !err && i < options->n_tracy; i++) {
        err = strobe_tracy_host_ask(r->tracy, options->tracy[i]);
        if (err)
            strobe_recorder_say(r, (struct strobe_recorder_word){.event = STROBE_RECORDER_NO_TRACY,
                                                                 .subject = options->tracy[i],
                                                                 .err = err});
    }
    return err; /* the caller undoes what there is */
}

/* ---- the shim ---- */

int strobe_recorder_tracy_environment(const struct strobe_recorder *r)
{
    char shim[PATH_MAX];
    if (!r->tracy || r->takes_no_preload)
        return unsetenv(STROBE_TRACY_SOCKET_ENV) ? errno : 0;
    if (!strobe_recorder_preload_find(SHIM, shim, sizeof shim)) {
        strobe_recorder_say(
            r, (struct strobe_recorder_word){.event = STROBE_RECORDER_NO_SHIM, .subject = SHIM});
        return unsetenv(STROBE_TRACY_SOCKET_ENV) ? errno : 0;
    }
    STROBE_ASSERT(shim[0] == '/');
    bool done = strobe_recorder_preload_add(shim) &&
                !setenv(STROBE_TRACY_SOCKET_ENV, strobe_tracy_host_socket(r->tracy), 1);
    return done ? 0 : errno;
}

bool strobe_recorder_tracy_is_over(const struct strobe_recorder *r)
{
    STROBE_ASSERT(r->tracy); /* clients alone are recorded */
    struct strobe_tracy_host_status status = strobe_tracy_host_status(r->tracy);
    return !status.n_live && !status.n_waiting;
}
