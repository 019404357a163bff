/* source_files.c - see source_files.h.  SPDX-License-Identifier: MIT */
#include "query/source_files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Open a source file. What compilers were told from within a folder is looked for here, then where the processes ran. */
static int open_source(const struct strobe_trace *trace, const char *path)
{
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    int fd = open(path, flags);
    for (uint32_t i = 0; fd < 0 && *path && *path != '/' && i < trace->n_processes && i < 64; i++) {
        uint32_t n;
        char whole[PATH_MAX];
        const char *folder = strobe_trace_text(trace, trace->processes[i].cwd, &n);
        if (n && (size_t)snprintf(whole, sizeof whole, "%s/%s", folder, path) < sizeof whole)
            fd = open(whole, flags);
    }
    return fd;
}

char *strobe_source_file_read(const struct strobe_trace *trace, const char *path, size_t *n_bytes,
                              const char **why)
{
    struct stat st;
    int fd = open_source(trace, path);
    *why = "the file is not on this machine";
    if (fd < 0)
        return NULL;
    char *text = NULL;
    ssize_t got = -1;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > STROBE_SOURCE_FILE_MAX)
        *why = "it is no file that could be shown";
    else if ((uint64_t)st.st_mtim.tv_sec * 1000000000ull >
             strobe_file_facts(trace->file)->created_ns)
        *why = "the file was changed after the recording";
    else if ((text = malloc((size_t)st.st_size + 1)))
        got = read(fd, text, (size_t)st.st_size);
    close(fd);
    if (got < 0 || (got && memchr(text, 0, (size_t)got))) {
        free(text);
        return NULL;
    }
    *n_bytes = (size_t)got;
    return text;
}
