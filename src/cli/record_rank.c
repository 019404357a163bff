/* record_rank.c - see record_rank.h. A launcher's own variable comes before those that its children inherit from another: Slurm
 * sets SLURM_PROCID in a batch script as well, where every process of mpirun has it.  SPDX-License-Identifier: MIT */
#include "cli/record_rank.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* `also`: the variable means a rank only where this one is set, too. */
static const struct {
    const char *name, *also;
} variables[] = {
    {"OMPI_COMM_WORLD_RANK", NULL}, {"PMIX_RANK", NULL},    {"PMI_RANK", NULL},
    {"RANK", "WORLD_SIZE"},         {"SLURM_PROCID", NULL}, {"JOB_COMPLETION_INDEX", NULL},
};

int64_t strobe_record_rank_find(const char **variable)
{
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *text = getenv(variables[i].name);
        char *end;
        if (!text || *text < '0' || *text > '9' ||
            (variables[i].also && !getenv(variables[i].also)))
            continue;
        errno = 0;
        unsigned long rank = strtoul(text, &end, 10);
        if (*end || errno || rank > UINT32_MAX)
            continue;
        *variable = variables[i].name;
        return (int64_t)rank;
    }
    *variable = NULL;
    return -1;
}

const char *strobe_record_rank_name_trace(const char *folder, char *path, size_t room)
{
    const char *variable;
    int64_t rank = strobe_record_rank_find(&variable);
    if (rank < 0)
        return "to run under mpirun, srun or torchrun: no rank is in the environment";
    if (mkdir(folder, 0777) && errno != EEXIST)
        return "a folder that can be made";
    int n = snprintf(path, room, "%s/rank-%05lld.strobe", folder, (long long)rank);
    return n > 0 && (size_t)n < room ? NULL : "a shorter path";
}
