/* view_spawn.c - other commands of this program, as children of the viewer.  SPDX-License-Identifier: MIT */
#include "cli/view.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

pid_t strobe_view_spawn(const char *const *words, int said)
{
    posix_spawn_file_actions_t files;
    pid_t pid = -1;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (said >= 0) {
        posix_spawn_file_actions_adddup2(&files, said, 1);
        posix_spawn_file_actions_adddup2(&files, said, 2);
    }
    if (posix_spawn(&pid, "/proc/self/exe", &files, NULL, (char *const *)words, environ))
        pid = -1;
    posix_spawn_file_actions_destroy(&files);
    return pid;
}
