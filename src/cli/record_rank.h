/* record_rank.h - which rank of a job this is, by what its launcher put into the environment.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_RECORD_RANK_H
#define STROBE_CLI_RECORD_RANK_H

#include <stddef.h>
#include <stdint.h>

/* The rank of this process, *variable: which variable says so (static). -1: none of the launchers that are known. */
int64_t strobe_record_rank_find(const char **variable);

/* The number of a rank, -1: it is none. */
int64_t strobe_record_rank_read(const char *text);

/* The trace of a rank in a folder, which is made if need be; rank -1: as the environment says. NULL: fine; else what is wrong
 * (static). */
const char *strobe_record_rank_name_trace(const char *folder, int64_t rank, char *path,
                                          size_t room);

#endif
