/* recording_session.c - see the header.  SPDX-License-Identifier: MIT */
#include "collector/recording_session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "ring/alive.h"

enum strobe_err strobe_recording_session_begin(const char *name, const char *trace_path,
                                               uint64_t pool_bytes, uint64_t cap_bytes,
                                               uint32_t policy, uint32_t stack_depth,
                                               struct strobe_recording_session *out)
{
    memset(out, 0, sizeof *out);
    out->fd = -1;
    snprintf(out->name, sizeof out->name, "%s", name);
    enum strobe_err err = strobe_session_dir(name, true, out->dir);
    if (err)
        return err;
    out->fd = strobe_session_open(out->dir, "session", O_RDWR | O_CREAT);
    if (out->fd < 0)
        return strobe_err_from_errno(errno);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int full = posix_fallocate(out->fd, 0, sizeof *out->page);
    if (full) {
        err = strobe_err_from_errno(full);
        goto fail;
    }
    if (fcntl(out->fd, F_SETLK, &lock)) {
        err = STROBE_ERR_BUSY;
        goto fail;
    }
    void *at = mmap(NULL, sizeof *out->page, PROT_READ | PROT_WRITE, MAP_SHARED, out->fd, 0);
    if (at == MAP_FAILED) {
        err = STROBE_ERR_NOMEM;
        goto fail;
    }
    STROBE_ASSERT(!out->page && out->fd >= 0);
    out->page = at;
    strobe_map_guard_add(&out->guard, at, sizeof *out->page);
    *out->page = (struct strobe_session_page){
        .version = STROBE_RING_VERSION,
        .recorder_pid = (uint32_t)getpid(),
        .policy = policy,
        .pool_bytes = pool_bytes,
        .cap_bytes = cap_bytes,
        .stack_depth = stack_depth,
        .recorder_pid_ns = strobe_alive_namespace(),
        .recorder_start = strobe_session_own_start(),
    };
    snprintf(out->page->trace_path, sizeof out->page->trace_path, "%s", trace_path);
    __atomic_store_n(&out->page->magic, STROBE_SESSION_MAGIC, __ATOMIC_RELEASE);
    __atomic_store_n(&out->page->recording, 1, __ATOMIC_RELEASE);
    return STROBE_OK;
fail:
    close(out->fd);
    out->fd = -1;
    return err;
}

void strobe_recording_session_end(struct strobe_recording_session *session)
{
    if (session->page)
        __atomic_store_n(&session->page->recording, 0, __ATOMIC_SEQ_CST);
}

void strobe_recording_session_release(struct strobe_recording_session *session)
{
    char path[STROBE_PATH_MAX + 16];
    if (!session->page)
        return;
    snprintf(path, sizeof path, "%s/session", session->dir);
    if (rmdir(session->dir) && errno == ENOTEMPTY) {
        /* only our page in it? then it can go; else the folder stays for who is still there */
        char moved[STROBE_PATH_MAX + 64];
        snprintf(moved, sizeof moved, "%s-session-%d", session->dir, (int)getpid());
        if (!rename(path, moved)) {
            if (rmdir(session->dir))
                rename(moved, path);
            else
                unlink(moved);
        }
    }
    strobe_map_guard_remove(&session->guard);
    munmap(session->page, sizeof *session->page);
    close(session->fd);
    session->page = NULL;
    session->fd = -1;
}
