/* module.c - see module.h. A file is opened through its process's root, so that containers' files are found, and is taken only if
 * it is the one that is mapped: by build id where the kernel told one, else by inode.  SPDX-License-Identifier: MIT */
#include "sample/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/regular.h"

/* What tells one module from another. */
struct identity {
    uint64_t inode;
    uint32_t major, minor;
    uint8_t build_id[20], n_build_id, pad[3];
    char path[200];
};

enum strobe_err strobe_modules_init(struct strobe_modules *modules)
{
    memset(modules, 0, sizeof *modules);
    modules->ids.max = STROBE_MODULES_MAX;
    modules->scratch = malloc(STROBE_CFI_SCRATCH);
    modules->pages = calloc(1, sizeof *modules->pages);
    return modules->scratch && modules->pages ? STROBE_OK : STROBE_ERR_NOMEM;
}

void strobe_modules_free(struct strobe_modules *modules)
{
    for (uint32_t i = 0; i < modules->n; i++) {
        if (modules->items[i]->fd >= 0)
            close(modules->items[i]->fd);
        free(modules->items[i]->path);
        free(modules->items[i]);
    }
    strobe_textmap_free(&modules->ids);
    free(modules->items);
    free(modules->scratch);
    free(modules->pages);
    memset(modules, 0, sizeof *modules);
}

/* ---- opening ---- */

/* Whether it is the file that is mapped. */
static bool is_mapped(const struct strobe_module_file *file, const struct strobe_sample_module *m)
{
    STROBE_ASSERT(m->fd >= 0);
    struct stat st;
    if (file->n_build_id)
        return m->has_cfi && m->cfi.n_build_id == file->n_build_id &&
               !memcmp(m->cfi.build_id, file->build_id, file->n_build_id);
    return !fstat(m->fd, &st) && st.st_ino == file->inode;
}

/* Take a descriptor, if its file is the mapped one and an ELF file. */
static bool take_fd(struct strobe_modules *modules, struct strobe_sample_module *m, int fd,
                    const struct strobe_module_file *file)
{
    STROBE_ASSERT(m->fd < 0 && !m->has_cfi);
    if (fd < 0)
        return false;
    m->fd = fd;
    struct strobe_cfi_source source = {.fd = fd, .pages = modules->pages};
    m->has_cfi = strobe_cfi_open(&m->cfi, source, modules->scratch);
    if (is_mapped(file, m))
        return true;
    close(fd);
    m->fd = -1;
    m->has_cfi = false;
    return false;
}

static void open_file(struct strobe_modules *modules, struct strobe_sample_module *m,
                      const struct strobe_module_file *file)
{
    STROBE_ASSERT(m->fd < 0 && file->path);
    char path[4096 + 64];
    if (modules->n_files == STROBE_MODULE_FILES_MAX || file->path[0] != '/' || !file->path[1] ||
        file->path[1] == '/')
        return;
    snprintf(path, sizeof path, "/proc/%u/root%s", file->pid, file->path);
    bool is_open = take_fd(modules, m, strobe_regular_open(path), file);
    if (!is_open) { /* deleted or replaced: root may still reach it by its mapping */
        snprintf(path, sizeof path, "/proc/%u/map_files/%llx-%llx", file->pid,
                 (unsigned long long)file->start, (unsigned long long)file->end);
        is_open = take_fd(modules, m, strobe_regular_open(path), file);
    }
    if (!is_open) /* the process has ended */
        is_open = take_fd(modules, m, strobe_regular_open(file->path), file);
    modules->n_files += is_open;
}

/* One kernel, one vdso: ours. Its length is what its segments say. */
static void open_vdso(struct strobe_modules *modules, struct strobe_sample_module *m)
{
    STROBE_ASSERT(m->fd < 0);
    struct strobe_cfi_source source = {
        .fd = -1, .bytes = (const uint8_t *)getauxval(AT_SYSINFO_EHDR), .n_bytes = 4096};
    if (!source.bytes || !strobe_cfi_open(&m->cfi, source, modules->scratch))
        return;
    for (uint32_t i = 0; i < m->cfi.n_segments; i++)
        if (m->cfi.segments[i].offset + m->cfi.segments[i].n_bytes > source.n_bytes)
            source.n_bytes = m->cfi.segments[i].offset + m->cfi.segments[i].n_bytes;
    m->has_cfi = strobe_cfi_open(&m->cfi, source, modules->scratch);
}

/* ---- the table ---- */

static void set_build_id(struct strobe_sample_module *m, const struct strobe_module_file *file)
{
    const uint8_t *bytes = m->has_cfi ? m->cfi.build_id : file->build_id;
    uint8_t n = m->has_cfi ? m->cfi.n_build_id : file->n_build_id;
    STROBE_ASSERT(n <= sizeof file->build_id);
    for (uint8_t i = 0; i < n; i++)
        snprintf(m->build_id + 2 * i, 3, "%02x", bytes[i]);
}

static struct strobe_sample_module *add_module(struct strobe_modules *modules,
                                               const struct strobe_module_file *file)
{
    STROBE_ASSERT(modules->n < STROBE_MODULES_MAX);
    struct strobe_sample_module *m = calloc(1, sizeof *m);
    if (!m || STROBE_ARRAY_RESERVE(modules->items, modules->room, modules->n + 1ull) ||
        !(m->path = strdup(file->path))) {
        free(m);
        return NULL;
    }
    m->fd = -1;
    m->id = modules->n + 1;
    if (!strcmp(file->path, "[vdso]"))
        open_vdso(modules, m);
    else
        open_file(modules, m, file);
    set_build_id(m, file);
    return modules->items[modules->n++] = m;
}

/* Where the number of the module with a file's identity stands, until the next call: 0 if there is none yet. NULL: no room for another
 * identity. */
static uint64_t *find_id(struct strobe_modules *modules, const struct strobe_module_file *file)
{
    STROBE_ASSERT(file->path && file->n_build_id <= sizeof file->build_id);
    struct identity key;
    memset(&key, 0, sizeof key); /* padding is a part of the key */
    key.n_build_id = file->n_build_id;
    memcpy(key.build_id, file->build_id, sizeof key.build_id);
    if (!file->n_build_id) {
        key.inode = file->inode;
        key.major = file->major;
        key.minor = file->minor;
    }
    snprintf(key.path, sizeof key.path, "%s", file->path);
    uint32_t entry;
    if (strobe_textmap_add(&modules->ids, &key, sizeof key, &entry))
        return NULL;
    uint64_t *id = &modules->ids.entries[entry].value;
    STROBE_ASSERT(*id <= modules->n);
    return id;
}

struct strobe_sample_module *strobe_modules_find(struct strobe_modules *modules,
                                                 const struct strobe_module_file *file)
{
    uint64_t *id = find_id(modules, file);
    if (!id)
        return NULL;
    if (*id)
        return modules->items[*id - 1];
    struct strobe_sample_module *m = add_module(modules, file);
    *id = m ? m->id : 0; /* without memory: it is tried again the next time */
    return m;
}

/* What a module's own file says of it. */
static struct strobe_module_file file_of(const struct strobe_sample_module *m)
{
    struct strobe_module_file file = {.path = m->path};
    struct stat st;
    if (m->has_cfi) {
        file.n_build_id = m->cfi.n_build_id;
        memcpy(file.build_id, m->cfi.build_id, m->cfi.n_build_id);
    }
    if (!file.n_build_id && m->fd >= 0 && !fstat(m->fd, &st)) {
        file.inode = st.st_ino;
        file.major = major(st.st_dev);
        file.minor = minor(st.st_dev);
    }
    return file;
}

uint32_t strobe_modules_move(struct strobe_modules *modules, struct strobe_modules *from,
                             uint32_t id)
{
    STROBE_ASSERT(id && id <= from->n);
    struct strobe_sample_module *m = from->items[id - 1], *to;
    struct strobe_module_file file = file_of(m);
    uint64_t *moved = find_id(modules, &file);
    if (!moved)
        return 0;
    if (*moved && (modules->items[*moved - 1]->fd >= 0 || m->fd < 0))
        return (uint32_t)*moved;
    if (!*moved) {
        to = calloc(1, sizeof *to);
        if (!to || STROBE_ARRAY_RESERVE(modules->items, modules->room, modules->n + 1ull) ||
            !(to->path = strdup(m->path))) {
            free(to);
            return 0;
        }
        modules->items[modules->n++] = to;
        *moved = modules->n;
    }
    to = modules->items[*moved - 1];
    to->id = (uint32_t)*moved;
    to->fd = m->fd;
    to->has_cfi = m->has_cfi;
    to->cfi = m->cfi;
    to->cfi.scratch = modules->scratch;
    to->cfi.source.pages = NULL; /* its pages stay where they are */
    memcpy(to->build_id, m->build_id, sizeof to->build_id);
    m->fd = -1;
    m->has_cfi = false;
    return to->id;
}
