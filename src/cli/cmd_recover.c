/* cmd_recover.c - strobe recover: mend a cut trace, add what a dead recorder left behind.
 * SPDX-License-Identifier: MIT */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/input.h"
#include "collector/recover.h"
#include "file/file_read.h"
#include "query/pair.h"
#include "recorder/device_side.h"
#include "ring/session.h"

static const char help[] =
    "usage: strobe recover [FILE] [-o OUT]\n"
    "       strobe recover --session NAME\n"
    "\n"
    "Mends a trace whose recorder died: what the session left in shared memory is added, every "
    "event once, and the\n"
    "file gets its index and footer. In place (nothing valid is ever overwritten), or into OUT.\n"
    "\n"
    "  -o, --output OUT     mend a copy; FILE stays as it is. With --session, where another "
    "recording has the trace's name\n"
    "                       by now, a trace of what the session left\n"
    "      --session NAME   the trace of that session ('strobe sessions' lists them)\n"
    "  -h, --help\n"
    "\n"
    "examples:\n"
    "  strobe recover app.strobe\n"
    "  strobe recover --session record-1234-5f\n";

static void show_progress(uint64_t done, uint64_t all)
{
    if (isatty(2))
        fprintf(stderr, "\rreading: %3.0f %%", all ? 100.0 * (double)done / (double)all : 100.0);
}

/* The session's folder, and the trace that its page names. */
static bool trace_of_session(const char *name, char dir[STROBE_PATH_MAX], char *path, size_t cap)
{
    struct strobe_session_page page;
    if (strobe_session_dir(name, false, dir))
        return false;
    int fd = strobe_session_open(dir, "session", O_RDONLY);
    if (fd < 0)
        return false;
    ssize_t n = pread(fd, &page, sizeof page, 0);
    close(fd);
    if (n != sizeof page || page.magic != STROBE_SESSION_MAGIC)
        return false;
    page.trace_path[sizeof page.trace_path - 1] = 0;
    snprintf(path, cap, "%s", page.trace_path);
    return path[0] != 0;
}

/* Whether the trace is the session's: another recording may have got its name since. */
static bool is_of_session(const char *path, const char *dir)
{
    struct strobe_file *file = NULL;
    bool is_own = !strobe_file_open(path, &file) && !strcmp(strobe_file_facts(file)->session, dir);
    strobe_file_close(file);
    return is_own;
}

static bool copy_file(const char *from, const char *to)
{
    char buffer[1 << 16];
    FILE *in = fopen(from, "rbe");
    int fd = in ? open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    FILE *out = fd >= 0 ? fdopen(fd, "wb") : NULL;
    bool good = in && out;
    size_t n;
    while (good && (n = fread(buffer, 1, sizeof buffer, in)) > 0)
        good = fwrite(buffer, 1, n, out) == n;
    if (in)
        fclose(in);
    if (out && fclose(out))
        good = false;
    return good;
}

/* `dir`: of a session whose trace is gone, and gets a new one; NULL: mend the trace. */
static int run(const char *path, const char *dir)
{
    struct strobe_recovery r = {0};
    enum strobe_err err =
        dir ? strobe_recover_session(path, dir, strobe_recorder_devices_recover,
                                     strobe_pair_write_last, &r)
            : strobe_recover(path, NULL, show_progress, strobe_recorder_devices_recover,
                             strobe_pair_write_last, &r);
    if (isatty(2))
        fputs("\r\033[K", stderr);
    if (err == STROBE_ERR_BUSY) {
        strobe_cli_error("recover", "%s is still being recorded; stop its recorder first", path);
        return STROBE_EXIT_FAILED;
    }
    if (err) {
        strobe_cli_error("recover", "%s: %s", path, strobe_err_text(err));
        return STROBE_EXIT_FAILED;
    }
    if (r.was_closed && !r.had_session) {
        printf("%s: closed already, and no session is left to add; strobe info --verify looks for "
               "damage\n",
               path);
        return STROBE_EXIT_OK;
    }
    printf("%s: mended\n", path);
    printf("  %llu events were in the file, %llu added from %s\n", (unsigned long long)r.n_before,
           (unsigned long long)r.n_added,
           r.had_session ? "what the session left behind" : "nothing: the session is gone");
    if (r.has_died)
        puts("  its recorder died before the end: 'strobe info' tells what may be missing");
    if (r.n_lost)
        printf("  %llu events are lost; 'strobe info' names the causes\n",
               (unsigned long long)r.n_lost);
    if (r.n_holes || r.tail_bytes)
        printf("  %llu holes (%llu bytes), %llu bytes of an unfinished block cut off\n",
               (unsigned long long)r.n_holes, (unsigned long long)r.hole_bytes,
               (unsigned long long)r.tail_bytes);
    return STROBE_EXIT_OK;
}

int strobe_cli_recover(int argc, char **argv)
{
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"session", required_argument, NULL, 's'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    const char *output = NULL;
    char path[4096] = "", dir[STROBE_PATH_MAX] = "", name[128] = "";
    int option;
    optind = 1;
    while ((option = strobe_cli_option(argc, argv, "o:h", options)) != -1) {
        if (option == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        }
        if (option == '?')
            return STROBE_EXIT_USAGE;
        if (option == 'o')
            output = optarg;
        if (option == 's')
            snprintf(name, sizeof name, "%s", optarg);
        if (option == 's' && !trace_of_session(optarg, dir, path, sizeof path)) {
            strobe_cli_error("recover",
                             "there is no session '%s' with a trace; 'strobe sessions' lists them",
                             optarg);
            return STROBE_EXIT_FAILED;
        }
    }
    char room[STROBE_PATH_ROOM];
    if (!path[0]) {
        const char *found = strobe_cli_find_trace("recover", argc, argv, optind, room);
        if (!found)
            return STROBE_EXIT_FAILED;
        snprintf(path, sizeof path, "%s", found);
    }
    bool is_other = name[0] && !is_of_session(path, dir);
    if (is_other && !output) {
        strobe_cli_error("recover",
                         "%s is no longer the trace of that session: another recording has its "
                         "name; 'strobe recover --session %s -o OUT' saves what the session left",
                         path, name);
        return STROBE_EXIT_FAILED;
    }
    if (output) {
        if (!strobe_cli_may_write("recover", output))
            return STROBE_EXIT_USAGE;
        if (is_other)
            return run(output, dir);
        if (!copy_file(path, output)) {
            strobe_cli_error("recover", "copying %s to %s: %s", path, output, strerror(errno));
            return STROBE_EXIT_FAILED;
        }
        snprintf(path, sizeof path, "%s", output);
    }
    return run(path, NULL);
}
