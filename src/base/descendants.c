/* descendants.c - walks the lists of children in /proc.  SPDX-License-Identifier: MIT */
#include "base/descendants.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

long strobe_descendants_read_text(const char *path, char *out, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, out, cap - 1);
    if (fd >= 0)
        close(fd);
    out[n > 0 ? n : 0] = 0;
    return n;
}

/* Children of the threads of a process, behind those that are listed already. */
static uint32_t add_children(uint32_t pid, uint32_t *pids, uint32_t n, uint32_t cap,
                             uint32_t max_threads)
{
    char path[320], text[8192];
    snprintf(path, sizeof path, "/proc/%u/task", pid);
    DIR *tasks = opendir(path);
    struct dirent *task;
    for (uint32_t i = 0; tasks && i < max_threads && (task = readdir(tasks));) {
        if (!isdigit((unsigned char)task->d_name[0]))
            continue;
        i++;
        snprintf(path, sizeof path, "/proc/%u/task/%s/children", pid, task->d_name);
        if (strobe_descendants_read_text(path, text, sizeof text) <= 0)
            continue;
        for (char *at = text, *end; n < cap; at = end) {
            uint32_t child = (uint32_t)strtoul(at, &end, 10);
            if (end == at)
                break;
            pids[n++] = child;
        }
    }
    if (tasks)
        closedir(tasks);
    return n;
}

uint32_t strobe_descendants_list(uint32_t *pids, uint32_t cap, uint32_t max_threads)
{
    char self[32] = ""; /* as this /proc calls us: it may be another pid namespace's */
    if (readlink("/proc/self", self, sizeof self - 1) <= 0)
        return 0;
    uint32_t n = add_children((uint32_t)strtoul(self, NULL, 10), pids, 0, cap, max_threads);
    for (uint32_t i = 0; i < n; i++)
        n = add_children(pids[i], pids, n, cap, max_threads);
    return n;
}

uint32_t strobe_descendants_newest(void)
{
    char text[128];
    if (strobe_descendants_read_text("/proc/loadavg", text, sizeof text) <= 0)
        return 0;
    const char *last = strrchr(text, ' ');
    return last ? (uint32_t)strtoul(last, NULL, 10) : 0;
}
