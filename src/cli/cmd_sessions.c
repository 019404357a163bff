/* cmd_sessions.c - strobe sessions: recordings under way, programs that wait to be recorded, and
 * what was left behind. SPDX-License-Identifier: MIT */
#include "cli/cli.h"

#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/descendants.h"
#include "cli/out.h"
#include "collector/recover.h"
#include "ring/alive.h"
#include "ring/fifo_state.h"
#include "ring/ring_read.h"
#include "ring/session.h"

static const char help[] = "usage: strobe sessions [--clean]\n"
                           "\n"
                           "Lists the sessions of this user: recordings under way, programs that "
                           "can be recorded with --pid, devices that they\n"
                           "have open, and what dead recorders left behind.\n"
                           "\n"
                           "  --clean      remove files of dead processes that hold nothing; "
                           "unrecovered data is never removed\n"
                           "  -h, --help\n";

struct found {
    unsigned n_live, n_dead, n_data,
        n_removed; /* processes and devices; n_data: dead ones with words in their pools or streams */
};

static bool holds_data(const struct strobe_ring *ring)
{
    return ring->control->n_chunks > 0 &&
           !ring->control->detached_tick; /* its recorder took all it had */
}

/* A process of another pid namespace is shown by the number that it has here, if it has one. */
static void show_process(const struct strobe_ring *ring, const char *session, bool alive)
{
    char path[64], text[80] = "";
    struct strobe_reach reach = {0};
    if (alive)
        reach = strobe_ring_reach(ring);
    uint32_t pid = reach.in_proc ? reach.in_proc : reach.pid;
    snprintf(path, sizeof path, "/proc/%u/comm", reach.in_proc);
    if (reach.in_proc && strobe_descendants_read_text(path, text, sizeof text) > 0)
        text[strcspn(text, "\n")] = 0;
    printf("    %-8u ", pid ? pid : ring->pid);
    strobe_cli_put_name(stdout, text, strlen(text));
    printf("%*s ", strlen(text) < 16 ? 16 - (int)strlen(text) : 0, "");
    if (!alive)
        puts(holds_data(ring) ? "dead, with data" : "dead");
    else if (ring->control->active)
        puts(pid ? "recording" : "recording, in another pid namespace");
    else if (pid)
        puts("idle: strobe record --pid");
    else
        printf("idle, in another pid namespace: strobe record --session %s\n", session);
}

static void look_at(const char *dir, const char *session, const char *name, bool clean,
                    struct found *found)
{
    struct strobe_ring ring;
    char path[STROBE_PATH_MAX + 300];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (strobe_ring_open(dir, name, &ring))
        return;
    bool alive = strobe_ring_is_alive(&ring, name);
    found->n_live += alive;
    found->n_dead += !alive;
    found->n_data += !alive && holds_data(&ring);
    if (clean && !alive && !holds_data(&ring)) {
        unlink(path);
        found->n_removed++;
    } else {
        show_process(&ring, session, alive);
    }
    strobe_ring_close(&ring);
}

/* A device that a program has, or had, open. */
static void look_at_stream(const char *dir, const char *name, bool clean, struct found *found)
{
    struct strobe_fifo_state state;
    char path[STROBE_PATH_MAX + 300];
    int fd = strobe_session_open(dir, name, O_RDWR);
    if (fd < 0)
        return;
    bool is_stream = strobe_fifo_state_look(fd, &state);
    close(fd);
    if (!is_stream)
        return;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    found->n_live += state.is_alive;
    found->n_data += !state.is_alive && state.has_data;
    if (clean && !state.is_alive && !state.has_data && !unlink(path)) {
        found->n_removed++;
        return;
    }
    if (!state.is_made)
        return; /* it is being made, or a leftover of that, which goes later */
    const char *is = state.recorder ? "recording" : "idle";
    if (!state.is_alive)
        is = state.has_data ? "dead, with data" : "dead";
    printf("    %-8u device %-9u %s\n", state.pid, state.device, is);
}

static void show_trace(const char *dir, bool held, const struct found *found)
{
    struct strobe_session_page page = {0};
    int fd = strobe_session_open(dir, "session", O_RDONLY);
    if (fd < 0)
        return;
    ssize_t n = pread(fd, &page, sizeof page, 0);
    close(fd);
    page.trace_path[sizeof page.trace_path - 1] = 0;
    if (n != sizeof page || !page.trace_path[0])
        return;
    bool is_here = page.recorder_pid_ns && page.recorder_pid_ns == strobe_alive_namespace();
    if (held)
        printf("    recorder %u%s writes %s\n", page.recorder_pid,
               is_here ? "" : " (in another pid namespace)", page.trace_path);
    else if (found->n_data)
        printf("    not recovered yet: strobe recover --session %s\n", strrchr(dir, '/') + 1);
}

static void show_session(const char *root, const char *name, bool clean, struct found *all)
{
    char dir[2 * STROBE_PATH_MAX];
    struct found found = {0};
    snprintf(dir, sizeof dir, "%s/%s", root, name);
    if (strlen(dir) >= STROBE_PATH_MAX)
        return;
    DIR *folder = opendir(dir);
    if (!folder)
        return;
    bool held = strobe_session_is_held(dir);
    printf("%s%s\n", name, held ? "  (being recorded)" : "");
    struct dirent *entry;
    while ((entry = readdir(folder)))
        if (strstr(entry->d_name, ".pool"))
            look_at(dir, name, entry->d_name, clean, &found);
        else if (strobe_fifo_state_is_name(entry->d_name))
            look_at_stream(dir, entry->d_name, clean, &found);
    closedir(folder);
    show_trace(dir, held, &found);
    if (clean && !held && !found.n_live && !found.n_data && strcmp(name, STROBE_DEFAULT_SESSION)) {
        char page[2 * STROBE_PATH_MAX + 16];
        snprintf(page, sizeof page, "%s/session", dir);
        unlink(page);
        found.n_removed += !rmdir(dir);
    }
    all->n_live += found.n_live;
    all->n_data += found.n_data;
    all->n_removed += found.n_removed;
}

int strobe_cli_sessions(int argc, char **argv)
{
    static const struct option options[] = {
        {"clean", no_argument, NULL, 'c'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    bool clean = false;
    int option;
    optind = 1;
    while ((option = strobe_cli_option(argc, argv, "h", options)) != -1) {
        if (option == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        }
        if (option != 'c')
            return STROBE_EXIT_USAGE;
        clean = true;
    }
    char root[STROBE_PATH_MAX];
    struct found all = {0};
    enum strobe_err err = strobe_session_root(root);
    if (err) {
        strobe_cli_error("sessions", "%s", strobe_err_text(err));
        return STROBE_EXIT_FAILED;
    }
    DIR *folder = opendir(root);
    struct dirent *entry;
    unsigned n = 0;
    while (folder && (entry = readdir(folder)))
        if (entry->d_name[0] != '.' && strlen(entry->d_name) <= 60) {
            show_session(root, entry->d_name, clean, &all);
            n++;
        }
    if (folder)
        closedir(folder);
    if (!n)
        printf("no sessions in %s\n", root);
    if (clean)
        printf("%u removed\n", all.n_removed);
    return STROBE_EXIT_OK;
}
