/* group.c - see the header.  SPDX-License-Identifier: MIT */
#include "ring/group.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/assert.h"

/* The file's first bytes into group->text; false: it can't be read. */
static bool read_text(struct strobe_group *group, const char *folder, const char *name)
{
    if ((size_t)snprintf(group->path, sizeof group->path, "%s/%s", folder, name) >=
        sizeof group->path)
        return false;
    int fd = open(group->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, group->text, sizeof group->text - 1);
    close(fd);
    group->text[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* A number at the start of a text, bounded; false: there is none ("max" is one without bound). */
static bool parse_number(const char *text, uint64_t *out)
{
    uint64_t value = 0;
    if (!strncmp(text, "max", 3)) {
        *out = UINT64_MAX;
        return true;
    }
    if (*text < '0' || *text > '9')
        return false;
    for (; *text >= '0' && *text <= '9'; text++)
        value = value > UINT64_MAX / 10 - 1 ? UINT64_MAX / 10 - 1
                                            : value * 10 + (uint64_t)(*text - '0');
    *out = value;
    return true;
}

static bool read_number(struct strobe_group *group, const char *folder, const char *name,
                        uint64_t *out)
{
    return read_text(group, folder, name) && parse_number(group->text, out);
}

/* The number behind "KEY " at the start of a line; `otherwise` where there is none. */
static uint64_t field_of(const char *text, const char *key, uint64_t otherwise)
{
    size_t n = strlen(key);
    uint64_t value;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, key, n) && line[n] == ' ' && parse_number(line + n + 1, &value))
            return value;
        if (!*line)
            break;
    }
    return otherwise;
}

/* The path in the line of /proc/self/cgroup whose second field is `controller` (version 2: empty), to its end; NULL: none. */
static const char *path_of(const char *text, const char *controller, size_t *n)
{
    size_t n_name = strlen(controller);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        const char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
        const char *end = line + strcspn(line, "\n");
        if (!path || path > end)
            return NULL;
        for (const char *at = names + 1; at <= path; at += strcspn(at, ",:") + 1)
            if (strcspn(at, ",:") == n_name && !strncmp(at, controller, n_name)) {
                *n = (size_t)(end - path - 1);
                return path + 1;
            }
        if (!*end)
            return NULL;
    }
    return NULL;
}

/* ---- version 2: a limit at any level ---- */

/* A limit of the group at group->level that is tighter than what is known. */
static void look_at_level(struct strobe_group *group)
{
    uint64_t limit;
    if (!read_number(group, group->level, "memory.max", &limit) || limit >= group->limit_bytes)
        return;
    group->limit_bytes = limit;
    group->version = 2;
    memcpy(group->folder, group->level, sizeof group->folder);
}

/* From the group at group->level up to the mount's root, which in a container is the container's group. */
static void look_upwards(struct strobe_group *group, size_t n_root)
{
    enum { LEVELS = 32 };
    for (int i = 0; i < LEVELS; i++) {
        look_at_level(group);
        char *slash = strrchr(group->level, '/');
        if (!slash || (size_t)(slash - group->level) < n_root)
            return;
        *slash = 0;
    }
}

/* ---- version 1: the group's own files say the tightest limit above it ---- */

static bool look_at_group(struct strobe_group *group)
{
    if (!read_text(group, group->level, "memory.stat"))
        return false;
    uint64_t limit = field_of(group->text, "hierarchical_memory_limit", UINT64_MAX);
    if (limit >= UINT64_MAX >> 2 || limit >= group->limit_bytes) /* none: a number near 2^63 */
        return true;
    group->limit_bytes = limit;
    group->version = 1;
    memcpy(group->folder, group->level, sizeof group->folder);
    return true;
}

/* ---- both ---- */

/* group->level = root, `below` and the path; false: it is too long. */
static bool set_level(struct strobe_group *group, const char *root, const char *below,
                      const char *path, size_t n)
{
    return (size_t)snprintf(group->level, sizeof group->level, "%s%s%.*s", root, below, (int)n,
                            path) < sizeof group->level;
}

void strobe_group_find_in(struct strobe_group *group, const char *own, const char *root)
{
    size_t n = 0;
    const char *path;
    memset(group, 0, sizeof *group);
    group->limit_bytes = UINT64_MAX;
    group->is_looked_for = 1;
    if (!read_text(group, own, "cgroup"))
        return;
    if ((path = path_of(group->text, "", &n)) && set_level(group, root, "", path, n))
        look_upwards(group, strlen(root));
    if (!read_text(group, own, "cgroup") || !(path = path_of(group->text, "memory", &n)))
        return;
    if (set_level(group, root, "/memory", path, n) && look_at_group(group))
        return;
    /* without a namespace of its own a container sees its path of outside, and its group where the mount is */
    if (set_level(group, root, "/memory", "", 0))
        look_at_group(group);
}

void strobe_group_find(struct strobe_group *group)
{
    strobe_group_find_in(group, "/proc/self", "/sys/fs/cgroup");
}

uint64_t strobe_group_share(const struct strobe_group *group)
{
    return group->version ? group->limit_bytes / STROBE_GROUP_SHARE : UINT64_MAX;
}

bool strobe_group_has_room(struct strobe_group *group, uint64_t bytes)
{
    const char *text = group->text;
    uint64_t used;
    STROBE_ASSERT(group->is_looked_for && group->version <= 2);
    if (!group->version || prctl(PR_GET_SECCOMP, 0, 0, 0, 0))
        return true;
    bool is_old = group->version == 1;
    if (!read_number(group, group->folder, is_old ? "memory.usage_in_bytes" : "memory.current",
                     &used) ||
        !read_text(group, group->folder, "memory.stat"))
        return true;
    /* files that nobody has changed: the kernel takes their pages back before it ends anybody */
    uint64_t files = field_of(text, is_old ? "total_inactive_file" : "inactive_file", 0) +
                     field_of(text, is_old ? "total_active_file" : "active_file", 0);
    uint64_t dirty = field_of(text, is_old ? "total_dirty" : "file_dirty", 0);
    files = files > dirty ? files - dirty : 0;
    used = used > files ? used - files : 0;
    uint64_t spare = group->limit_bytes / STROBE_GROUP_SPARE;
    spare = spare < STROBE_GROUP_SPARE_MAX ? spare : STROBE_GROUP_SPARE_MAX;
    return used + bytes + spare <= group->limit_bytes;
}
