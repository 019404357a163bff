/* input.h - what the commands that read a trace share: finding it, opening it, ranges and filters.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_INPUT_H
#define STROBE_CLI_INPUT_H

#include <stdio.h>

#include "base/json_write.h"
#include "query/trace.h"

/* The file that was named, else the newest *.strobe in the current folder. NULL: there is none, and
 * that was told. `room` holds a found name. */
enum { STROBE_PATH_ROOM = 1024 };
const char *strobe_cli_find_trace(const char *command, int argc, char **argv, int first,
                                  char room[STROBE_PATH_ROOM]);

/* Whether a trace may be written to `path`; if not, that was told. A trace is replaced, and so is an empty file. */
int strobe_cli_may_write(const char *command, const char *path);

/* Open it; on failure the reason is told in words and NULL comes back. */
struct strobe_trace *strobe_cli_open_trace(const char *command, const char *path, unsigned flags);

/* Both, of a command whose options were read (optind); *path holds until `room` does. */
struct strobe_trace *strobe_cli_open_named(const char *command, int argc, char **argv,
                                           char room[STROBE_PATH_ROOM], const char **path);

/* Tell a failure during the work; the exit code. */
int strobe_cli_fail(const char *command, const char *path, enum strobe_err err);

/* A time range "a..b" after the start: numbers with ns, us, ms or s (seconds if nothing is said),
 * either may be left out. 0: it is none. */
struct strobe_cli_range {
    int is_set;
    int64_t from_ns, to_ns;
};
int strobe_cli_read_range(const char *text, struct strobe_cli_range *out);

/* The range in ticks; inclusive. */
void strobe_cli_range_ticks(const struct strobe_trace *trace, const struct strobe_cli_range *range,
                            uint64_t *tick_min, uint64_t *tick_max);

/* Which processes `wanted` (a pid, or part of a name) names: a byte per process index, the caller
 * frees it. NULL: none, and that was told. */
uint8_t *strobe_cli_pick_processes(const char *command, const struct strobe_trace *trace,
                                   const char *wanted);

/* The share in hundredths of a percent, rounded down, so that 10000 means all of it. */
unsigned strobe_cli_coverage(uint64_t n_stored, uint64_t n_emitted);

/* "coverage: 99.98 % (...)", one line without its end. */
struct strobe_out;
void strobe_cli_put_coverage(struct strobe_out *out, const struct strobe_trace *trace);
/* The same as members of a JSON object. */
void strobe_cli_put_coverage_json(struct strobe_json_writer *json,
                                  const struct strobe_trace *trace);

/* What is damaged, on stderr: nothing where nothing is. */
void strobe_cli_say_damage(const char *command, uint64_t n_holes, uint64_t hole_bytes,
                           uint64_t n_bad_parts);
void strobe_cli_warn_damage(const char *command, const struct strobe_trace *trace,
                            uint64_t n_bad_parts);

#endif
