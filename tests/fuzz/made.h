/* made.h - the trace that an importer makes of an input, or that an input is: where it goes, and that it opens. SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_MADE_H
#define STROBE_TESTS_MADE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "file/file_read.h"
#include "kept_files.h"

static char made_name[64];

static inline void made_remove(void)
{
    unlink(made_name);
}

static inline const char *made_path(void)
{
    if (!*made_name) {
        snprintf(made_name, sizeof made_name, KEPT_BEGIN "%d" KEPT_END, (int)getpid());
        atexit(made_remove);
    }
    return made_name;
}

/* Put an input there. */
static inline void made_put(const void *bytes, size_t n)
{
    int fd = open(made_path(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
        abort();
    close(fd);
}

/* It opens, and was closed. */
static inline void made_check(void)
{
    struct strobe_file *file = NULL;
    if (strobe_file_open(made_name, &file) || !strobe_file_facts(file)->closed)
        abort();
    strobe_file_close(file);
}

#endif
