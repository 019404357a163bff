/* notes.c - notes are written to a file of their own and moved over the old ones, so that a reader sees the old or the new.
 * SPDX-License-Identifier: MIT */
#include "file/notes.h"

#include "base/assert.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

/* 0: the path has no room for the ending. */
static int name_of(const char *path, const char *ending, char out[PATH_MAX])
{
    return (size_t)snprintf(out, PATH_MAX, "%s.notes.json%s", path, ending) < PATH_MAX;
}

enum strobe_err strobe_notes_read(const char *path, char **text)
{
    char name[PATH_MAX];
    *text = NULL;
    int fd = name_of(path, "", name) ? open(name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd < 0)
        return errno == ENOENT ? STROBE_OK : strobe_err_from_errno(errno);
    char *bytes = malloc(STROBE_NOTES_MAX_BYTES + 1);
    size_t n = 0;
    ssize_t got = bytes ? 1 : -1;
    while (got > 0 && n <= STROBE_NOTES_MAX_BYTES) {
        got = read(fd, bytes + n, STROBE_NOTES_MAX_BYTES + 1 - n);
        n += got > 0 ? (size_t)got : 0;
    }
    close(fd);
    if (got < 0 || n > STROBE_NOTES_MAX_BYTES) {
        free(bytes);
        return !bytes ? STROBE_ERR_NOMEM : got < 0 ? STROBE_ERR_IO : STROBE_ERR_LIMIT;
    }
    STROBE_ASSERT(n <= STROBE_NOTES_MAX_BYTES);
    bytes[n] = 0;
    *text = bytes;
    return STROBE_OK;
}

uint64_t strobe_notes_state(const char *text)
{
    return text ? XXH64(text, strlen(text), 0) : 0;
}

static enum strobe_err write_all(int fd, const char *text, size_t n_bytes)
{
    for (size_t at = 0; at < n_bytes;) {
        ssize_t put = write(fd, text + at, n_bytes - at);
        if (put < 0 && errno != EINTR)
            return strobe_err_from_errno(errno);
        at += put > 0 ? (size_t)put : 0;
    }
    return STROBE_OK;
}

enum strobe_err strobe_notes_write(const char *path, const char *text, size_t n_bytes)
{
    char name[PATH_MAX], made[PATH_MAX];
    if (n_bytes > STROBE_NOTES_MAX_BYTES)
        return STROBE_ERR_LIMIT;
    if (!name_of(path, "", name) || !name_of(path, ".new", made))
        return STROBE_ERR_INVALID;
    unlink(made); /* of a server that was killed while writing */
    int fd = open(made, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return strobe_err_from_errno(errno);
    enum strobe_err err = write_all(fd, text, n_bytes);
    if (close(fd) && !err)
        err = strobe_err_from_errno(errno);
    if (!err && rename(made, name))
        err = strobe_err_from_errno(errno);
    if (err)
        unlink(made);
    return err;
}

void strobe_notes_delete(const char *path)
{
    char name[PATH_MAX];
    if (name_of(path, "", name))
        unlink(name);
}
