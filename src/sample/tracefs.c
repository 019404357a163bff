/* tracefs.c - see tracefs.h.  SPDX-License-Identifier: MIT */
#include "sample/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/descendants.h"

static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

static bool read_mounted(const char *name, char *text, size_t room)
{
    char path[192];
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, sizeof path, "%s/events/%s/format", places[i], name);
        if (strobe_descendants_read_text(path, text, room) > 0)
            return true;
    }
    return false;
}

/* In the child: a namespace of its own, from which nothing gets out, and the file through the pipe. */
_Noreturn static void mount_and_send(const char *name, int fd)
{
    char text[8192];
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tracefs", places[0], "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) ||
        !read_mounted(name, text, sizeof text))
        _exit(1);
    _exit(write(fd, text, strlen(text)) < 0);
}

static bool read_by_child(const char *name, char *text, size_t room)
{
    int fds[2], status;
    size_t n = 0;
    STROBE_ASSERT(room > 1);
    if (pipe2(fds, O_CLOEXEC))
        return false;
    pid_t child = fork();
    if (child == 0)
        mount_and_send(name, fds[1]);
    close(fds[1]);
    for (ssize_t got; child > 0 && n + 1 < room;) {
        got = read(fds[0], text + n, room - 1 - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    close(fds[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    text[n] = 0;
    return n != 0;
}

bool strobe_tracefs_read(const char *name, char *text, size_t room)
{
    STROBE_ASSERT(name && !strstr(name, ".."));
    return read_mounted(name, text, room) || (!geteuid() && read_by_child(name, text, room));
}

uint32_t strobe_tracefs_id(const char *text)
{
    const char *at = strstr(text, "\nID: ");
    return at ? (uint32_t)strtoul(at + strlen("\nID: "), NULL, 10) : 0;
}

/* A line is "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;". */
bool strobe_tracefs_field(const char *text, const char *name, struct strobe_tracefs_field *out)
{
    char wanted[64];
    unsigned at, n_bytes;
    snprintf(wanted, sizeof wanted, " %s;\toffset:", name);
    const char *found = strstr(text, wanted);
    if (!found || sscanf(found + strlen(wanted), "%u;\tsize:%u;", &at, &n_bytes) != 2 ||
        at > UINT16_MAX || (n_bytes != 1 && n_bytes != 2 && n_bytes != 4 && n_bytes != 8))
        return false;
    *out = (struct strobe_tracefs_field){(uint16_t)at, (uint16_t)n_bytes};
    return true;
}

bool strobe_tracefs_value(const struct strobe_tracefs_field *field, const uint8_t *raw,
                          size_t n_raw, uint64_t *out)
{
    STROBE_ASSERT(field->n_bytes <= sizeof *out);
    *out = 0;
    if (!field->n_bytes || field->at > n_raw || field->n_bytes > n_raw - field->at)
        return false;
    memcpy(out, raw + field->at, field->n_bytes);
    return true;
}
