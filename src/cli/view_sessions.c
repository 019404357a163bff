/* view_sessions.c - the live sessions on the viewer's start page.  SPDX-License-Identifier: MIT */
#include "cli/view.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descendants.h"
#include "collector/recover.h"
#include "ring/alive.h"
#include "ring/ring_read.h"
#include "ring/session.h"

/* By the number that it has here; one that is in another pid namespace and has none is shown by its own, without a
 * name. */
static void put_program(struct strobe_reply *reply, const struct strobe_ring *ring)
{
    char path[64], text[80] = "";
    struct strobe_reach reach = strobe_ring_reach(ring);
    snprintf(path, sizeof path, "/proc/%u/comm", reach.in_proc);
    if (reach.in_proc && strobe_descendants_read_text(path, text, sizeof text) > 0)
        text[strcspn(text, "\n")] = 0;
    strobe_reply_u64(reply, "pid",
                     reach.in_proc ? reach.in_proc
                     : reach.pid   ? reach.pid
                                   : ring->pid);
    strobe_reply_string(reply, "program", text);
    strobe_reply_bool(reply, "elsewhere", !reach.in_proc);
}

static void put_processes(struct strobe_reply *reply, const char *dir)
{
    DIR *folder = opendir(dir);
    struct dirent *entry;
    strobe_reply_open(reply, "processes", '[');
    while (folder && (entry = readdir(folder))) {
        struct strobe_ring ring;
        if (!strstr(entry->d_name, ".pool") || strobe_ring_open(dir, entry->d_name, &ring))
            continue;
        if (strobe_ring_is_alive(&ring, entry->d_name)) {
            strobe_reply_open(reply, "", '{');
            put_program(reply, &ring);
            strobe_reply_close(reply, '}');
        }
        strobe_ring_close(&ring);
    }
    if (folder)
        closedir(folder);
    strobe_reply_close(reply, ']');
}

/* What the recorder of a session says of itself. */
static int read_page(const char *dir, struct strobe_session_page *page)
{
    int fd = strobe_session_open(dir, "session", O_RDONLY);
    ssize_t n = fd < 0 ? 0 : pread(fd, page, sizeof *page, 0);
    if (fd >= 0)
        close(fd);
    page->trace_path[sizeof page->trace_path - 1] = 0;
    return n == sizeof *page;
}

static void put_session(void *context, const char *dir, const char *name)
{
    struct strobe_reply *reply = context;
    struct strobe_session_page page = {0};
    int held = strobe_session_is_held(dir);
    strobe_reply_open(reply, "", '{');
    strobe_reply_string(reply, "name", name);
    strobe_reply_bool(reply, "recording", held);
    if (held && read_page(dir, &page)) {
        strobe_reply_string(reply, "trace", page.trace_path);
        strobe_reply_u64(reply, "recorder", page.recorder_pid);
    }
    put_processes(reply, dir);
    strobe_reply_close(reply, '}');
}

static void each_session(void (*call)(void *, const char *, const char *), void *context)
{
    char root[STROBE_PATH_MAX], dir[2 * STROBE_PATH_MAX];
    struct dirent *entry;
    DIR *folder = strobe_session_root(root) ? NULL : opendir(root);
    while (folder && (entry = readdir(folder))) {
        snprintf(dir, sizeof dir, "%s/%.60s", root, entry->d_name);
        if (entry->d_name[0] != '.' && strlen(entry->d_name) <= 60 && strlen(dir) < STROBE_PATH_MAX)
            call(context, dir, entry->d_name);
    }
    if (folder)
        closedir(folder);
}

void strobe_view_put_sessions(struct strobe_reply *reply)
{
    strobe_reply_open(reply, "sessions", '[');
    each_session(put_session, reply);
    strobe_reply_close(reply, ']');
}

/* Processes come and go as files of the session's folder. */
static void add_state(void *context, const char *dir, const char *name)
{
    uint64_t *sum = context, state = strobe_session_is_held(dir) ? 3 : 1;
    struct stat st;
    for (; *name; name++)
        state = (state ^ (uint8_t)*name) * 0x100000001b3ull;
    if (!stat(dir, &st))
        state ^= (uint64_t)st.st_mtim.tv_sec * 1000000007ull + (uint64_t)st.st_mtim.tv_nsec;
    *sum += state * 0x9e3779b97f4a7c15ull;
}

uint64_t strobe_view_sessions_state(void)
{
    uint64_t sum = 0;
    each_session(add_state, &sum);
    return sum;
}

struct wanted {
    const char *name;
    char *out;
    size_t room;
    int found;
};

static void find_trace(void *context, const char *dir, const char *name)
{
    struct wanted *wanted = context;
    struct strobe_session_page page = {0};
    if (!strcmp(name, wanted->name) && strobe_session_is_held(dir) && read_page(dir, &page))
        wanted->found =
            (size_t)snprintf(wanted->out, wanted->room, "%s", page.trace_path) < wanted->room &&
            page.trace_path[0] == '/';
}

int strobe_view_session_trace(const char *session, char *out, size_t room)
{
    struct wanted wanted = {session, out, room, 0};
    each_session(find_trace, &wanted);
    return wanted.found;
}
