/* view_sessions.c - the live sessions on the viewer's start page.  SPDX-License-Identifier: MIT */
#include "cli/view.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collector/recover.h"
#include "ring/ring_read.h"
#include "ring/session.h"

static void put_program(struct strobe_reply *reply, unsigned pid)
{
    char path[64], text[80] = "";
    snprintf(path, sizeof path, "/proc/%u/comm", pid);
    FILE *file = fopen(path, "re");
    if (file) {
        if (fgets(text, sizeof text, file))
            text[strcspn(text, "\n")] = 0;
        fclose(file);
    }
    strobe_reply_string(reply, "program", text);
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
            strobe_reply_u64(reply, "pid", ring.pid);
            put_program(reply, ring.pid);
            strobe_reply_close(reply, '}');
        }
        strobe_ring_close(&ring);
    }
    if (folder)
        closedir(folder);
    strobe_reply_close(reply, ']');
}

static void put_trace(struct strobe_reply *reply, const char *dir)
{
    struct strobe_session_page page = {0};
    int fd = strobe_session_open(dir, "session", O_RDONLY);
    ssize_t n = fd < 0 ? 0 : pread(fd, &page, sizeof page, 0);
    if (fd >= 0)
        close(fd);
    page.trace_path[sizeof page.trace_path - 1] = 0;
    if (n != sizeof page)
        return;
    strobe_reply_string(reply, "trace", page.trace_path);
    strobe_reply_u64(reply, "recorder", page.recorder_pid);
}

void strobe_view_put_sessions(void *context, struct strobe_reply *reply)
{
    char root[STROBE_PATH_MAX], dir[2 * STROBE_PATH_MAX];
    struct dirent *entry;
    (void)context;
    DIR *folder = strobe_session_root(root) ? NULL : opendir(root);
    strobe_reply_open(reply, "sessions", '[');
    while (folder && (entry = readdir(folder))) {
        snprintf(dir, sizeof dir, "%s/%.60s", root, entry->d_name);
        if (entry->d_name[0] == '.' || strlen(entry->d_name) > 60 || strlen(dir) >= STROBE_PATH_MAX)
            continue;
        strobe_reply_open(reply, "", '{');
        strobe_reply_string(reply, "name", entry->d_name);
        int held = strobe_session_is_held(dir);
        strobe_reply_bool(reply, "recording", held);
        if (held)
            put_trace(reply, dir);
        put_processes(reply, dir);
        strobe_reply_close(reply, '}');
    }
    if (folder)
        closedir(folder);
    strobe_reply_close(reply, ']');
}
