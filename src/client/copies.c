/* copies.c - a second copy of the library in one process (in the program and in a plug-in) finds the first by the
 * process's file: one pool, one stream per thread, however many copies there are.
 * Never allocates, prints or exits.  SPDX-License-Identifier: MIT */
#include "client/client.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ring/alive.h"

/* What is looked for in the maps. */
struct sought {
    const char *name; /* a file, by the end of its path; NULL: private memory */
    size_t n_name;
    uint64_t address; /* of the memory; found: of the file's mapping */
    size_t n_bytes;
};

/* The file, and no page of it that only holds a lock; or the memory, if it may be written. */
static bool is_line_of(const char *line, const char *end, struct sought *sought)
{
    char *rights;
    uint64_t from = strtoull(line, &rights, 16);
    uint64_t to = *rights == '-' ? strtoull(rights + 1, &rights, 16) : 0;
    if (!sought->name)
        return !strncmp(rights, " rw-p", 5) && sought->address >= from && sought->address < to &&
               to - sought->address >= sought->n_bytes;
    if ((size_t)(end - line) <= sought->n_name ||
        memcmp(end - sought->n_name, sought->name, sought->n_name) || rights[0] != ' ' ||
        rights[1] != 'r')
        return false;
    sought->address = from;
    return true;
}

/* Is it mapped in this process? A file by its name, since a link in the path is not one in the maps. Line by line, with a
 * buffer on the stack. Closes `fd`, of the maps. */
static bool is_mapped(int fd, struct sought *sought)
{
    char text[4096 + STROBE_PATH_MAX];
    size_t kept = 0;
    ssize_t n;
    bool found = false;
    while (!found && (n = read(fd, text + kept, sizeof text - 1 - kept)) > 0) {
        size_t have = kept + (size_t)n;
        char *line = text, *end;
        text[have] = 0;
        while (!found && (end = memchr(line, '\n', have - (size_t)(line - text)))) {
            found = is_line_of(line, end, sought);
            line = end + 1;
        }
        kept = have - (size_t)(line - text);
        if (kept >= sizeof text - 1)
            kept = 0; /* a line longer than any of ours */
        memmove(text, line, kept);
    }
    close(fd);
    return found;
}

/* Copy bytes of this process from an address that may be nothing. */
static bool read_own(uint64_t address, void *out, size_t n_bytes)
{
    struct iovec to = {out, n_bytes}, from = {(void *)(uintptr_t)address, n_bytes};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)n_bytes;
}

/* Without /proc: the file of a live image with our pid says where its state lies; if our memory has a state there that
 * names this very file, it is ours. */
static enum strobe_copy ask_file(const char *path, uint64_t *address)
{
    struct strobe_control control = {0};
    char its_path[STROBE_PATH_MAX];
    uint64_t magic = 0, its_control = 0;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return STROBE_COPY_NONE;
    bool lives = pread(fd, &control, sizeof control, 0) == (ssize_t)sizeof control &&
                 control.magic == STROBE_RING_MAGIC && control.pid == (uint32_t)getpid() &&
                 strobe_alive_image(fd, &control, path);
    /* closing it drops the process's lock where the file is ours; that of the image stays */
    close(fd);
    if (!lives)
        return STROBE_COPY_NONE;
    uint64_t pool = control.private_block;
    if (!read_own((uint64_t)(uintptr_t)&magic, &magic, sizeof magic))
        return STROBE_COPY_UNKNOWN; /* the call is forbidden here */
    if (!read_own(pool + offsetof(struct strobe_pool, magic), &magic, sizeof magic) ||
        !read_own(pool + offsetof(struct strobe_pool, path), its_path, sizeof its_path) ||
        !read_own(pool + offsetof(struct strobe_pool, control), &its_control, sizeof its_control) ||
        magic != STROBE_POOL_MAGIC || strncmp(its_path, path, sizeof its_path))
        return STROBE_COPY_NONE;
    *address = its_control;
    return STROBE_COPY_FOUND;
}

enum strobe_copy strobe_client_find_copy(const char *path, uint64_t *address)
{
    int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (maps < 0)
        return ask_file(path, address);
    struct sought file = {.name = strrchr(path, '/')};
    file.n_name = strlen(file.name);
    bool found = is_mapped(maps, &file);
    *address = found ? file.address : *address;
    return found ? STROBE_COPY_FOUND : STROBE_COPY_NONE;
}

bool strobe_client_owns(uint64_t address, size_t n_bytes)
{
    struct sought memory = {.address = address, .n_bytes = n_bytes};
    char first, last;
    int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (maps >= 0)
        return is_mapped(maps, &memory);
    return read_own(address, &first, 1) && read_own(address + n_bytes - 1, &last, 1);
}
