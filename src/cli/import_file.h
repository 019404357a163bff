/* import_file.h - files of other profilers as traces, for the commands that take both.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_IMPORT_FILE_H
#define STROBE_CLI_IMPORT_FILE_H

/* 1: it may be Chrome's JSON, by its first bytes. */
int strobe_cli_is_chrome(const char *path);

/* Make a trace `to`, which is not there, of a file; what goes wrong is said. An exit code. */
int strobe_cli_import_file(const char *from, const char *to);

#endif
