/* group.h - the memory cgroup of the traced process: the pages of its pool are charged to it, and where they bring it to its limit
 * the kernel ends a process of the group. So a pool takes a share of the limit, and nothing of what the program may soon need.
 * Version 1 and version 2, where they are usually mounted; in a container the mount shows the container's own group.
 * No allocation, no output; runs in the traced program.  SPDX-License-Identifier: MIT */
#ifndef STROBE_RING_GROUP_H
#define STROBE_RING_GROUP_H

#include <stdbool.h>
#include <stdint.h>

enum {
    STROBE_GROUP_SHARE = 16, /* a pool has at most one part in so many of the limit, */
    STROBE_GROUP_SPARE = 8,  /* and leaves one part in so many unused, up to */
    STROBE_GROUP_SPARE_MAX = 16 << 20,
};

/* Zero-initialise. */
struct strobe_group {
    uint64_t limit_bytes;  /* of the group, or of one that it is in; UINT64_MAX: there is none */
    uint32_t version;      /* of the files in `folder`: 1, 2; 0: nothing was found */
    uint8_t is_looked_for; /* strobe_group_find was called */
    char folder[512];      /* of the group with that limit */
    /* What is read at the moment: a signal stack is too small for it. */
    char level[512], path[576], text[4096];
};

/* Find the calling process's group: opens a few files. Nothing found: no limit. */
void strobe_group_find(struct strobe_group *group);

/* The same with other places: `own` for /proc/self/cgroup, `root` for /sys/fs/cgroup. */
void strobe_group_find_in(struct strobe_group *group, const char *own, const char *root);

/* How large a pool may become; UINT64_MAX: as large as it likes. */
uint64_t strobe_group_share(const struct strobe_group *group);

/* Whether `bytes` more leave the program its spare part. Opens two or three files; true where they can't be read, or where the
 * process has confined its system calls (seccomp), so that to open a file might end it. */
bool strobe_group_has_room(struct strobe_group *group, uint64_t bytes);

#endif
