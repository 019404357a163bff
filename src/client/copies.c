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

/* A line of the maps that ends in `name`, and is no page that only holds a lock. */
static bool is_line_of(const char *line, const char *end, const char *name, size_t n_name)
{
    const char *rights = memchr(line, ' ', (size_t)(end - line));
    return (size_t)(end - line) > n_name && !memcmp(end - n_name, name, n_name) && rights &&
           rights[1] == 'r';
}

/* Is the file at `path` mapped in this process, and where? By its name, since a link in the path is not one in the maps.
 * Line by line, with a buffer on the stack. Closes `fd`, of the maps. */
static bool is_mapped(int fd, const char *path, uint64_t *address)
{
    const char *name = strrchr(path, '/');
    char text[4096 + STROBE_PATH_MAX];
    size_t kept = 0, n_name = strlen(name);
    ssize_t n;
    bool found = false;
    while (!found && (n = read(fd, text + kept, sizeof text - 1 - kept)) > 0) {
        size_t have = kept + (size_t)n;
        char *line = text, *end;
        while (!found && (end = memchr(line, '\n', have - (size_t)(line - text)))) {
            if (is_line_of(line, end, name, n_name)) {
                *address = strtoull(line, NULL, 16);
                found = true;
            }
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
    return is_mapped(maps, path, address) ? STROBE_COPY_FOUND : STROBE_COPY_NONE;
}
