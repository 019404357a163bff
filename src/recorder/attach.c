/* attach.c - see the header. The process tells by what it has mapped, whatever its environment was. In a container its
 * folder has another path, or none, in our mounts; then the way leads through /proc/PID/root.  SPDX-License-Identifier: MIT */
#include "recorder/attach.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/assert.h"
#include "ring/alive.h"
#include "ring/session.h"

/* Whether the file is the one that is mapped. */
static bool is_file(const char *path, unsigned major_, unsigned minor_, unsigned long long inode)
{
    struct stat st;
    return !stat(path, &st) && st.st_ino == inode && st.st_dev == makedev(major_, minor_);
}

/* Take the folder of `path` (ROOT/SESSION/FILE) as the session's. */
static enum strobe_err take_session(char *path, char out[64])
{
    STROBE_ASSERT(strrchr(path, '/')); /* look_at saw it */
    *strrchr(path, '/') = 0;
    char *session = strrchr(path, '/');
    if (!session || session == path || strlen(session + 1) > 60)
        return STROBE_ERR_NOTFOUND;
    *session = 0;
    snprintf(out, 64, "%.60s", session + 1);
    return setenv("STROBE_DIR", path, 1) ? STROBE_ERR_NOMEM : STROBE_OK;
}

/* One line of the maps. NOTFOUND: it is not that of the process's file. */
static enum strobe_err look_at(uint32_t pid, uint32_t inner, const char *line, char out[64])
{
    unsigned major_, minor_;
    unsigned long long inode;
    char prefix[32], path[4096 + 256];
    int at = 0;
    size_t n = strlen(line);
    if (sscanf(line, "%*s %*s %*s %x:%x %llu %n", &major_, &minor_, &inode, &at) < 3 || !at)
        return STROBE_ERR_NOTFOUND;
    const char *mapped = line + at, *file = strrchr(mapped, '/');
    snprintf(prefix, sizeof prefix, "/%u-", inner);
    if (!file || n < 5 || strcmp(line + n - 5, ".pool") || strncmp(file, prefix, strlen(prefix)))
        return STROBE_ERR_NOTFOUND;
    snprintf(path, sizeof path, "%s", mapped);
    if (is_file(path, major_, minor_, inode))
        return take_session(path, out);
    snprintf(path, sizeof path, "/proc/%u/root%s", pid, mapped);
    if (strlen(path) < STROBE_PATH_MAX && is_file(path, major_, minor_, inode))
        return take_session(path, out);
    return STROBE_ERR_ACCESS;
}

enum strobe_err strobe_recorder_find_session_of(uint32_t pid, char out[64])
{
    char name[64], line[4096 + 128];
    STROBE_ASSERT(pid);
    uint32_t inner = strobe_alive_inner_pid(pid);
    snprintf(name, sizeof name, "/proc/%u/maps", pid);
    FILE *maps = fopen(name, "re");
    enum strobe_err err = STROBE_ERR_NOTFOUND;
    while (maps && err == STROBE_ERR_NOTFOUND && fgets(line, sizeof line, maps)) {
        line[strcspn(line, "\n")] = 0;
        err = look_at(pid, inner ? inner : pid, line, out);
    }
    if (maps)
        fclose(maps);
    return err;
}
