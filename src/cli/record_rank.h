/* record_rank.h - which rank of a job this is, by what its launcher put into the environment.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_RECORD_RANK_H
#define STROBE_CLI_RECORD_RANK_H

#include <stddef.h>
#include <stdint.h>

/* The rank of this process, *variable: which variable says so (static). -1: none of the launchers that are known. */
int64_t strobe_record_rank_find(const char **variable);

/* The trace of this rank in a folder, which is made if need be. NULL: fine; else what is wrong (static). */
const char *strobe_record_rank_name_trace(const char *folder, char *path, size_t room);

#endif
