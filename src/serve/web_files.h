/* web_files.h - the page's files, compiled into the binary from web/.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SERVE_WEB_FILES_H
#define STROBE_SERVE_WEB_FILES_H

#include <stddef.h>
#include <stdint.h>

struct strobe_web_file {
    const char *path; /* from the root: "/index.html" */
    const uint8_t *bytes;
    const uint8_t *end;
};

/* All of them; the last has no path. Made by cmake/WebFiles.cmake. */
extern const struct strobe_web_file strobe_web_files[];

#endif
