/* trace_file.c - see the header. A descriptor of its own leads to the file; comparing it with what the name leads to shows a change,
 * /proc/self/fd has the new name.  SPDX-License-Identifier: MIT */
#include "recorder/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/moves.h"

/* moves of strobe_trace_file_state */
static const uint8_t legal[][2] = {
    {STROBE_TRACE_FILE_UNWATCHED, STROBE_TRACE_FILE_NAMED},
    {STROBE_TRACE_FILE_NAMED, STROBE_TRACE_FILE_NAMELESS},
    {STROBE_TRACE_FILE_NAMELESS, STROBE_TRACE_FILE_NAMED},
    {STROBE_TRACE_FILE_NAMELESS, STROBE_TRACE_FILE_RESTORED},
    {STROBE_TRACE_FILE_NAMELESS, STROBE_TRACE_FILE_LOST},
};

static void strobe_trace_file_move(struct strobe_trace_file *f, enum strobe_trace_file_state to)
{
    STROBE_ASSERT(STROBE_MOVE_IS_LEGAL(legal, f->state, to));
    STROBE_ASSERT(f->fd >= 0 && f->path[0]);
    f->state = to;
}

void strobe_trace_nth_path(const char *path, uint32_t n, char *out, size_t cap)
{
    STROBE_ASSERT(n >= 1);
    const char *dot = strrchr(path, '.');
    if (n == 1)
        snprintf(out, cap, "%s", path);
    else if (dot && !strchr(dot, '/'))
        snprintf(out, cap, "%.*s-%u%s", (int)(dot - path), path, n, dot);
    else
        snprintf(out, cap, "%s-%u", path, n);
}

enum strobe_err strobe_trace_file_open(struct strobe_trace_file *f,
                                       const struct strobe_file_writer *writer, const char *path)
{
    STROBE_ASSERT(f->state == STROBE_TRACE_FILE_UNWATCHED && f->fd < 0);
    int fd = strobe_file_dup(writer);
    if (fd < 0)
        return strobe_err_from_errno(errno);
    f->fd = fd;
    if (pread(fd, &f->head, sizeof f->head, 0) != (ssize_t)sizeof f->head)
        f->head.magic = 0; /* it can't be read back: nobody looks at it */
    snprintf(f->path, sizeof f->path, "%s", path);
    strobe_trace_file_move(f, STROBE_TRACE_FILE_NAMED);
    return STROBE_OK;
}

void strobe_trace_file_close(struct strobe_trace_file *f)
{
    STROBE_ASSERT((f->state == STROBE_TRACE_FILE_UNWATCHED) == (f->fd < 0));
    if (f->fd >= 0)
        close(f->fd);
    *f = (struct strobe_trace_file){.fd = -1};
}

/* ---- looking ---- */

static bool leads_to(const char *path, const struct stat *own)
{
    struct stat st;
    return !stat(path, &st) && st.st_dev == own->st_dev && st.st_ino == own->st_ino;
}

/* The folder of a path: "." where it has none. */
static void folder_of(const char *path, char *out, size_t cap)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        snprintf(out, cap, ".");
    else
        snprintf(out, cap, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

static bool is_folder(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static enum strobe_trace_file_news how_it_went(const struct strobe_trace_file *f)
{
    char folder[STROBE_TRACE_PATH_MAX];
    struct stat st;
    if (!lstat(f->path, &st))
        return STROBE_TRACE_FILE_IS_REPLACED;
    folder_of(f->path, folder, sizeof folder);
    return is_folder(folder) ? STROBE_TRACE_FILE_IS_DELETED : STROBE_TRACE_FILE_FOLDER_IS_GONE;
}

/* The name that the kernel has for it, if that leads to it. */
static bool find_name(const struct strobe_trace_file *f, const struct stat *own,
                      char out[STROBE_TRACE_PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", f->fd);
    ssize_t n = readlink(link, out, STROBE_TRACE_PATH_MAX - 1);
    if (n <= 0 || n >= STROBE_TRACE_PATH_MAX - 1)
        return false;
    out[n] = 0;
    return out[0] == '/' && leads_to(out, own);
}

/* A file that somebody truncated has no head, however far behind it the writer goes on. It gets its head again, so that what
 * comes from now on can be read. */
static bool mend_head(struct strobe_trace_file *f)
{
    uint64_t magic = 0;
    if (f->head.magic != STROBE_FILE_MAGIC || pread(f->fd, &magic, sizeof magic, 0) < 0 ||
        magic == STROBE_FILE_MAGIC)
        return false;
    const struct strobe_file_head head = f->head;
    f->was_emptied = true;
    return pwrite(f->fd, &head, sizeof head, 0) == (ssize_t)sizeof head;
}

enum strobe_trace_file_news strobe_trace_file_look(struct strobe_trace_file *f)
{
    struct stat own, named;
    char name[STROBE_TRACE_PATH_MAX];
    if (f->state != STROBE_TRACE_FILE_NAMED && f->state != STROBE_TRACE_FILE_NAMELESS)
        return STROBE_TRACE_FILE_NO_NEWS;
    STROBE_ASSERT(f->fd >= 0 && f->path[0]);
    bool was_named = f->state == STROBE_TRACE_FILE_NAMED;
    if (mend_head(f))
        return STROBE_TRACE_FILE_IS_EMPTIED;
    if (fstat(f->fd, &own) ||
        (stat(f->path, &named) && errno != ENOENT && errno != ENOTDIR && errno != ELOOP))
        return STROBE_TRACE_FILE_NO_NEWS;
    if (leads_to(f->path, &own)) {
        if (!was_named)
            strobe_trace_file_move(f, STROBE_TRACE_FILE_NAMED);
        return was_named ? STROBE_TRACE_FILE_NO_NEWS : STROBE_TRACE_FILE_IS_RENAMED;
    }
    if (find_name(f, &own, name)) {
        memcpy(f->path, name, sizeof name);
        if (!was_named)
            strobe_trace_file_move(f, STROBE_TRACE_FILE_NAMED);
        return STROBE_TRACE_FILE_IS_RENAMED;
    }
    if (!was_named)
        return STROBE_TRACE_FILE_NO_NEWS;
    strobe_trace_file_move(f, STROBE_TRACE_FILE_NAMELESS);
    return how_it_went(f);
}

/* ---- the end ---- */

/* Through a buffer: the kernel does not copy between all file systems by itself. 0 or errno. */
static int copy_bytes(int from, int to)
{
    enum { CHUNK = 1 << 20 };
    char *bytes = malloc(CHUNK);
    off_t at = 0;
    int err = bytes ? 0 : ENOMEM;
    while (!err) {
        ssize_t n = pread(from, bytes, CHUNK, at);
        if (n == 0)
            break;
        if (n < 0) {
            err = errno == EINTR ? 0 : errno;
            continue;
        }
        for (ssize_t done = 0; !err && done < n;) {
            ssize_t m = pwrite(to, bytes + done, (size_t)(n - done), at + done);
            if (m > 0)
                done += m;
            else if (m == 0 || errno != EINTR)
                err = m ? errno : EIO;
        }
        at += n;
    }
    free(bytes);
    return err ? err : fdatasync(to) ? errno : 0;
}

/* Copy it to the first free one of the names like `path`, which it has then. 0 or errno. */
static int copy_to(struct strobe_trace_file *f, const char *path)
{
    enum { NAMES_MAX = 1000 };
    char name[STROBE_TRACE_PATH_MAX];
    int to = -1;
    for (uint32_t i = 1; to < 0 && i <= NAMES_MAX; i++) {
        strobe_trace_nth_path(path, i, name, sizeof name);
        to = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (to < 0 && errno != EEXIST)
            return errno;
    }
    if (to < 0)
        return EEXIST;
    int err = copy_bytes(f->fd, to);
    close(to);
    if (err)
        unlink(name); /* O_EXCL: it is ours */
    else
        snprintf(f->path, sizeof f->path, "%s", name);
    return err;
}

/* The same name in another folder. */
static int copy_into(struct strobe_trace_file *f, const char *folder, const char *base)
{
    char path[STROBE_TRACE_PATH_MAX];
    STROBE_ASSERT(!strchr(base, '/'));
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, base) >= sizeof path)
        return ENAMETOOLONG;
    return copy_to(f, path);
}

/* Its own name, then folder by folder upwards, but not in the root; then where one may write. 0 or errno. */
static int copy_somewhere(struct strobe_trace_file *f)
{
    char last[STROBE_TRACE_PATH_MAX], folder[STROBE_TRACE_PATH_MAX];
    const char *temporary = getenv("TMPDIR");
    memcpy(last, f->path, sizeof last);
    const char *slash = strrchr(last, '/'), *base = slash ? slash + 1 : last;
    int err = copy_to(f, last);
    folder_of(last, folder, sizeof folder);
    while (err && !is_folder(folder) && strchr(folder + 1, '/')) {
        *strrchr(folder, '/') = 0;
        if (is_folder(folder))
            err = copy_into(f, folder, base);
    }
    if (err && getcwd(folder, sizeof folder))
        err = copy_into(f, folder, base);
    if (err)
        err = copy_into(f, temporary && temporary[0] ? temporary : "/tmp", base);
    return err;
}

enum strobe_err strobe_trace_file_settle(struct strobe_trace_file *f)
{
    STROBE_ASSERT(f->state == STROBE_TRACE_FILE_NAMED || f->state == STROBE_TRACE_FILE_NAMELESS);
    if (f->state == STROBE_TRACE_FILE_NAMED)
        return STROBE_OK;
    int err = copy_somewhere(f);
    strobe_trace_file_move(f, err ? STROBE_TRACE_FILE_LOST : STROBE_TRACE_FILE_RESTORED);
    return err ? strobe_err_from_errno(err) : STROBE_OK;
}
