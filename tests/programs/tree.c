/* tree.c - a tree of processes: 8 branches with 8 leaves each, every leaf emits and ends in a way
 * of its own. tree N_ZONES           the whole tree tree N_ZONES leaf I    leaf I, after exec Leaf
 * I: forked (I even) or forked and exec'ed (I odd); I % 4 < 2 ends by _exit(I + 1), else by
 * SIGKILL. SPDX-License-Identifier: MIT */
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

static void start_leaf(char **argv, int leaf)
{
    char number[16];
    snprintf(number, sizeof number, "%d", leaf);
    if (fork())
        return;
    if (leaf % 2 == 0)
        be_leaf(atoi(argv[1]), leaf);
    execl("/proc/self/exe", argv[0], argv[1], "leaf", number, (char *)NULL);
    _exit(127);
}

int main(int argc, char **argv)
{
    if (argc == 4)
        be_leaf(atoi(argv[1]), atoi(argv[3]));
    for (int branch = 0; branch < N_BRANCHES; branch++) {
        if (fork())
            continue;
        for (int leaf = 0; leaf < N_LEAVES; leaf++)
            start_leaf(argv, branch * N_LEAVES + leaf);
        usleep(300000); /* the dead ones wait to be seen */
        while (wait(NULL) > 0)
            ;
        exit(0);
    }
    while (wait(NULL) > 0)
        ;
    return 0;
}
