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

int64_t strobe_record_rank_read(const char *text)
{
    char *end;
    if (*text < '0' || *text > '9')
        return -1;
    errno = 0;
    unsigned long rank = strtoul(text, &end, 10);
    return *end || errno || rank > UINT32_MAX ? -1 : (int64_t)rank;
}

int64_t strobe_record_rank_find(const char **variable)
{
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *text = getenv(variables[i].name);
        if (!text || (variables[i].also && !getenv(variables[i].also)))
            continue;
        int64_t rank = strobe_record_rank_read(text);
        if (rank < 0)
            continue;
        *variable = variables[i].name;
        return rank;
    }
    *variable = NULL;
    return -1;
}

const char *strobe_record_rank_name_trace(const char *folder, int64_t rank, char *path, size_t room)
{
    const char *variable;
    if (rank < 0)
        rank = strobe_record_rank_find(&variable);
    if (rank < 0)
        return "to run under mpirun, srun or torchrun: no rank is in the environment; --rank N "
               "says it";
    if (mkdir(folder, 0777) && errno != EEXIST)
        return "a folder that can be made";
    int n = snprintf(path, room, "%s/rank-%05lld.strobe", folder, (long long)rank);
    return n > 0 && (size_t)n < room ? NULL : "a shorter path";
}
