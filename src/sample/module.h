/* module.h - the files that sampled processes have mapped: opened once for all processes, kept open, so
 * that a deleted or replaced file can still be read when names are looked up at the end.
 * One thread.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_MODULE_H
#define STROBE_SAMPLE_MODULE_H

#include "base/err.h"
#include "base/map.h"
#include "sample/cfi.h"

enum { STROBE_MODULES_MAX = 4096, STROBE_MODULE_FILES_MAX = 1024 };

/* What the kernel says of a mapping's file. */
struct strobe_module_file {
    uint32_t pid; /* whose mapping it is */
    uint64_t start, end;
    uint64_t inode;
    uint32_t major, minor;
    uint8_t build_id[20];
    uint8_t n_build_id; /* 0: not told */
    const char *path;   /* borrowed for the call; "[vdso]", "//anon" and the like are no files */
};

struct strobe_sample_module {
    uint32_t id;                /* from 1 */
    int fd;                     /* owned; -1: it could not be opened, or is no file */
    bool has_cfi;               /* `cfi` may be asked */
    struct strobe_cfi_file cfi; /* of fd, or of the vdso in our own memory */
    char build_id[41];          /* hex; "": none */
    char *path;                 /* owned */
};

struct strobe_modules {
    struct strobe_textmap ids;           /* by identity: index in items */
    struct strobe_sample_module **items; /* owned */
    uint32_t n, room, n_files;
    uint8_t *scratch;               /* owned: for all cfi files */
    struct strobe_cfi_pages *pages; /* owned: likewise */
};

enum strobe_err strobe_modules_init(struct strobe_modules *modules);
void strobe_modules_free(struct strobe_modules *modules); /* zeroes are allowed */

/* The module of a mapping, opened at its first use. NULL: there are too many, or no memory. */
struct strobe_sample_module *strobe_modules_find(struct strobe_modules *modules,
                                                 const struct strobe_module_file *file);

/* Move module `id` of another table here, unless this one has its file. Its id here; 0: there are too many, or no memory. Once per id. */
uint32_t strobe_modules_move(struct strobe_modules *modules, struct strobe_modules *from,
                             uint32_t id);

#endif
