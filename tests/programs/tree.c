/* tree.c - a tree of processes: 8 branches with 8 leaves each, every leaf emits and ends in a way of its own.
 *   tree N_ZONES         the whole tree
 *   tree N_ZONES leaf I  leaf I, after exec
 * Leaf I: forked (I even) or forked and exec'ed (I odd); I % 4 < 2 ends by _exit(I + 1), else by SIGKILL. A branch reaps its
 * leaves when the recorder is done with them: it removes their files then. SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "strobe/strobe.h"

enum { N_BRANCHES = 8, N_LEAVES = 8 };

static void be_leaf(int n_zones, int leaf)
{
    for (int i = 0; i < n_zones; i++) {
        STROBE_SCOPE("leaf");
    }
    if (leaf % 4 < 2)
        _exit(leaf + 1);
    raise(SIGKILL);
}

static pid_t start_leaf(char **argv, int leaf)
{
    char number[16];
    snprintf(number, sizeof number, "%d", leaf);
    pid_t pid = fork();
    if (pid)
        return pid;
    if (leaf % 2 == 0)
        be_leaf(atoi(argv[1]), leaf);
    execl("/proc/self/exe", argv[0], argv[1], "leaf", number, (char *)NULL);
    _exit(127);
}

/* Whether a file of one of them is in the session's folder: `PID-...`. */
static int is_in_session(const pid_t *leaves)
{
    char path[4096];
    const char *base = getenv("STROBE_DIR"), *name = getenv("STROBE_SESSION");
    snprintf(path, sizeof path, "%s/%s", base ? base : "", name ? name : "");
    DIR *dir = base && name ? opendir(path) : NULL;
    int found = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        for (int i = 0; i < N_LEAVES; i++)
            found |= strchr(entry->d_name, '-') && atoi(entry->d_name) == leaves[i];
    if (dir)
        closedir(dir);
    return found;
}

static void be_branch(char **argv, int branch)
{
    pid_t leaves[N_LEAVES];
    siginfo_t info;
    for (int i = 0; i < N_LEAVES; i++)
        leaves[i] = start_leaf(argv, branch * N_LEAVES + i);
    for (int i = 0; i < N_LEAVES; i++)
        waitid(P_PID, (id_t)leaves[i], &info, WEXITED | WNOWAIT);
    for (int i = 0; i < 12000 && is_in_session(leaves); i++)
        usleep(5000);
    while (wait(NULL) > 0)
        ;
    exit(0);
}

int main(int argc, char **argv)
{
    if (argc == 4)
        be_leaf(atoi(argv[1]), atoi(argv[3]));
    for (int branch = 0; branch < N_BRANCHES; branch++)
        if (!fork())
            be_branch(argv, branch);
    while (wait(NULL) > 0)
        ;
    return 0;
}
