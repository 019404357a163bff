/* denied.c - processes that could not take part: each left an empty file whose name says who and why
 * (src/client/deny.c).  SPDX-License-Identifier: MIT */
#include "collector/internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"

static const struct {
    const char *word, *text;
} reasons[] = {
    {"fsize", "its file size limit (ulimit -f) is below one page"},
    {"mmap", "it got no memory map (ulimit -v, vm.max_map_count, seccomp)"},
    {"files", "it has no file descriptor left (ulimit -n)"},
    {"space", "the shared memory is full"},
    {"device", "the stream of a device that it opened has no room in the shared memory (a full "
               "/dev/shm, ulimit -f): the device's zones are missing"},
};

static const char *text_of(const char *word)
{
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (!strcmp(word, reasons[i].word))
            return reasons[i].text;
    return "for a reason that this recorder does not know";
}

static bool runs(int pid, uint64_t start)
{
    return start ? strobe_session_start_time(pid) == start : !kill(pid, 0) || errno == EPERM;
}

/* Files are stamped with a clock that moves every few milliseconds. */
static bool is_of_this_recording(const struct strobe_collector *c, const char *path)
{
    enum { COARSE_NS = 20000000 };
    struct stat st;
    if (lstat(path, &st))
        return false;
    uint64_t made = (uint64_t)st.st_mtim.tv_sec * 1000000000ull + (uint64_t)st.st_mtim.tv_nsec;
    return made + COARSE_NS >= c->opened_real_ns;
}

void strobe_collector_miss(struct strobe_collector *c, const char *name, const char *reason)
{
    char text[320];
    snprintf(text, sizeof text, "process %d could not take part: %s", atoi(name), reason);
    strobe_collector_note(c, 0, text);
    strobe_collector_lose(c, 0, 0, STROBE_LOSS_UNRECORDED, 1, c->last_sync_tick, c->last_sync_tick);
    c->n_unrecorded++;
}

bool strobe_collector_consider_denied(struct strobe_collector *c, const char *name)
{
    char path[STROBE_PATH_MAX + 100];
    const char *word = strstr(name, ".denied-");
    int pid = 0;
    unsigned long long start = 0;
    if (!word || sscanf(name, "%d-%llu-", &pid, &start) != 2 || pid <= 0)
        return false;
    if (strlen(name) > 95 || (c->only_pid && (uint32_t)pid != c->only_pid))
        return true;
    snprintf(path, sizeof path, "%s/%s", c->dir, name);
    STROBE_ASSERT(word > name && pid > 0);
    if (c->post_mortem || runs(pid, start) || is_of_this_recording(c, path))
        strobe_collector_miss(c, name, text_of(word + 8));
    unlink(path);
    return true;
}
