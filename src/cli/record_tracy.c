/* record_tracy.c - see the header. The host itself: tracy/host.h; the shim: shim/.
 * SPDX-License-Identifier: MIT */
#include "cli/record_tracy.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "wire/tracy_notice.h"

#define SHIM "libstrobe-tracy-shim.so"

/* ---- what the host asks the collector ---- */

static uint32_t new_proc(void *arg)
{
    return strobe_collector_new_proc_id(arg);
}

static void lose(void *arg, uint32_t proc, uint64_t track, uint32_t cause, uint64_t count,
                 uint64_t first, uint64_t last)
{
    strobe_collector_lose(arg, proc, track, cause, count, first, last);
}

static uint64_t now(void *arg)
{
    return strobe_collector_now(arg);
}

/* ---- open ---- */

/* A program that records itself, or a process that was picked by its number, has none. */
static bool is_wanted(const struct strobe_record_options *options)
{
    return !options->no_tracy && !options->serve && (options->command || options->n_tracy);
}

enum strobe_err strobe_cli_tracy_open(const struct strobe_record_options *options,
                                      const char *session_dir, struct strobe_collector *collector,
                                      struct strobe_file_writer *writer,
                                      struct strobe_file_writer *records_writer,
                                      struct strobe_tracy_host **out)
{
    struct strobe_tracy_host_options host = {
        .writer = writer,
        .records_writer = records_writer,
        .session_dir = options->command ? session_dir : NULL,
        .announced = options->command ? options->tracy_announced : STROBE_TRACY_ANNOUNCED_NONE,
        .announce_port = options->tracy_announce_port,
        .search_children = options->command != NULL,
        .max_file_bytes = options->max_file_bytes,
        .new_proc = new_proc,
        .lose = lose,
        .now = now,
        .arg = collector,
    };
    if (!is_wanted(options))
        return STROBE_OK;
    enum strobe_err err = strobe_tracy_host_open(&host, out);
    for (uint32_t i = 0; !err && i < options->n_tracy; i++) {
        err = strobe_tracy_host_ask(*out, options->tracy[i]);
        if (err)
            strobe_cli_error("record", "--tracy %s: %s", options->tracy[i], strobe_err_text(err));
    }
    if (err) {
        strobe_tracy_host_close(*out);
        *out = NULL;
    }
    return err;
}

/* ---- the shim ---- */

/* The shim beside this program: in the build tree, or where both were installed. */
static bool find_shim(char *out, size_t cap)
{
    static const char *const places[] = {"../lib/" SHIM, "../lib64/" SHIM,
                                         "../" STROBE_LIBDIR "/" SHIM, SHIM};
    char exe[PATH_MAX], path[PATH_MAX + 64], real[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = 0;
    char *slash = strrchr(exe, '/');
    if (!slash)
        return false;
    *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", exe, places[i]);
        if (!access(path, R_OK) && realpath(path, real) && strlen(real) < cap) {
            strcpy(out, real);
            return true;
        }
    }
    return false;
}

/* `name` gets `value` in front of, or behind, what it has. */
static bool add_word(const char *name, const char *value, bool in_front)
{
    const char *old = getenv(name);
    char *words = NULL;
    if (!old || !*old)
        return !setenv(name, value, 1);
    if (asprintf(&words, "%s:%s", in_front ? value : old, in_front ? old : value) < 0)
        return false;
    bool done = !setenv(name, words, 1);
    free(words);
    return done;
}

bool strobe_cli_tracy_environment(struct strobe_tracy_host *host)
{
    char shim[PATH_MAX];
    if (!host)
        return !unsetenv(STROBE_TRACY_SOCKET_ENV);
    if (!find_shim(shim, sizeof shim) || strpbrk(shim, ": ")) {
        strobe_cli_error("record",
                         "%s is not beside this program, or its path has a blank or colon in it: "
                         "Tracy's clients keep the ports that they choose",
                         SHIM);
        return !unsetenv(STROBE_TRACY_SOCKET_ENV);
    }
    /* a program with the address sanitizer would refuse to run behind a library that it does not know */
    return add_word("LD_PRELOAD", shim, true) &&
           add_word("ASAN_OPTIONS", "verify_asan_link_order=0", false) &&
           !setenv(STROBE_TRACY_SOCKET_ENV, strobe_tracy_host_socket(host), 1);
}

bool strobe_cli_tracy_is_over(struct strobe_tracy_host *host)
{
    struct strobe_tracy_host_status status = strobe_tracy_host_status(host);
    return !status.n_live && !status.n_waiting;
}
