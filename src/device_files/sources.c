/* sources.c - zone source locations: what the classic ids stand for, a line each, as the compiler's notes that upstream keeps.
 * new_zone_src_locations.log has those of this process, zone_src_locations.log those of all runs into this folder.
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "device_files/internal.h"

enum { KNOWN_BYTES = 64 << 20 }; /* of an older file that are read */

static void put_line(struct strobe_out *out, const struct strobe_device_files *files,
                     const struct strobe_files_name *name)
{
    const char *text = files->texts.at;
    STROBE_ASSERT(name->name_at + name->n_name <= files->texts.len);
    strobe_out_bytes(out, text + name->file_at, name->n_file);
    strobe_out_format(out, ":%u: note: '#pragma message: ", name->line);
    strobe_out_bytes(out, text + name->name_at, name->n_name);
    strobe_out_char(out, ',');
    strobe_out_bytes(out, text + name->file_at, name->n_file);
    strobe_out_format(out, ",%u,KERNEL_PROFILER'\n", name->line);
}

/* The lines that a file has. Not read: none. */
static void read_lines(const char *path, struct strobe_textmap *lines)
{
    struct stat facts;
    uint32_t entry;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t n = fd >= 0 && !fstat(fd, &facts) && facts.st_size > 0 && facts.st_size < KNOWN_BYTES
                   ? (size_t)facts.st_size
                   : 0;
    char *text = n ? malloc(n) : NULL;
    ssize_t got = text ? read(fd, text, n) : 0;
    if (fd >= 0)
        close(fd);
    for (size_t at = 0; got > 0 && at < (size_t)got;) {
        const char *end = memchr(text + at, '\n', (size_t)got - at);
        size_t length = end ? (size_t)(end - text) - at : (size_t)got - at;
        STROBE_ASSERT(at + length <= (size_t)got);
        strobe_textmap_add(lines, text + at, length, &entry);
        at += length + 1;
    }
    free(text);
}

void strobe_files_dump_sources(struct strobe_device_files *files)
{
    struct strobe_textmap known = {0}, done = {0}; /* lines of the file; of this dump */
    struct strobe_out line = {0};
    uint32_t entry;
    STROBE_ASSERT(files->n_names_written <= files->n_names);
    if (files->n_names_written == files->n_names || !files->sources.path[0])
        return;
    read_lines(files->sources.path, &known);
    bool all = strobe_files_begin(files, &files->sources);
    bool new = strobe_files_begin(files, &files->new_sources);
    for (uint32_t i = files->n_names_written; i < files->n_names; i++) {
        const struct strobe_files_name *name = &files->names[i];
        if (!name->n_file)
            continue; /* no site */
        strobe_out_clear(&line);
        put_line(&line, files, name);
        if (line.error)
            break;
        if (strobe_textmap_find(&done, line.at, line.len) != STROBE_INDEX_NONE)
            continue; /* a header's site, which several kernels have */
        strobe_textmap_add(&done, line.at, line.len, &entry);
        if (new)
            strobe_out_bytes(&files->new_sources.out, line.at, line.len);
        if (all && strobe_textmap_find(&known, line.at, line.len - 1) == STROBE_INDEX_NONE)
            strobe_out_bytes(&files->sources.out, line.at, line.len);
    }
    files->n_names_written = files->n_names;
    strobe_files_end(files, &files->sources);
    strobe_files_end(files, &files->new_sources);
    strobe_out_free(&line);
    strobe_textmap_free(&known);
    strobe_textmap_free(&done);
}
