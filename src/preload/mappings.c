/* mappings.c - which file an address belongs to, asked of the kernel (/proc/self/maps), and the bytes of that file. The loader knows too (dl_iterate_phdr), but behind a
 * lock, and a thread that has it may wait for one that was interrupted here. So nothing is asked of the C library.
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/preload.h"

static uint64_t take_hex(const char **at, const char *end)
{
    uint64_t number = 0;
    for (; *at < end; ++*at) {
        char c = **at;
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                                                : 16;
        if (digit == 16)
            break;
        number = number << 4 | digit;
    }
    *at += *at < end; /* what stands behind it */
    return number;
}

/* START-END PERMISSIONS OFFSET DEVICE INODE   PATH */
static struct strobe_preload_mapping read_line(const char *at, const char *end)
{
    struct strobe_preload_mapping line = {0};
    line.start = take_hex(&at, end);
    line.end = take_hex(&at, end);
    line.is_code = end - at > 5 && at[2] == 'x';
    at += line.is_code ? 5 : 0;
    line.offset = line.is_code ? take_hex(&at, end) : 0;
    for (int n_words = line.is_code ? 2 : 4; n_words && at < end; at++)
        n_words -= *at == ' ';
    while (at < end && *at == ' ')
        at++;
    line.path = at;
    line.n_path = (size_t)(end - at);
    return line;
}

/* The line with an address in `room`, of which `n` bytes are read, or the place between two lines. *gap: the end of the last line before
 * it. False: it is in none of the whole lines; *n is what is left behind them. */
static bool search_lines(char *room, size_t *n, uint64_t pc, uint64_t *gap,
                         struct strobe_preload_mapping *out)
{
    char *at = room, *end;
    while ((end = memchr(at, '\n', *n - (size_t)(at - room)))) {
        *out = read_line(at, end);
        if (pc < out->end)
            return true;
        *gap = out->end;
        at = end + 1;
    }
    *n -= (size_t)(at - room);
    memmove(room, at, *n);
    return false;
}

/* The thread's own entry: that of the process is empty once its first thread has ended. */
long strobe_preload_open_own(const char *name)
{
    static const char *const folders[] = {"/proc/thread-self/", "/proc/self/"};
    long fd = -1;
    char path[64];
    for (int i = 0; i < 2 && fd < 0; i++) {
        strcpy(path, folders[i]);
        strcat(path, name);
        fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    }
    return fd;
}

bool strobe_preload_find_mapping(uint64_t pc, char *room, size_t n_room,
                                 struct strobe_preload_mapping *out)
{
    size_t n = 0;
    uint64_t gap = 0;
    bool is_found = false;
    long fd = strobe_preload_open_own("maps"), n_more;
    *out = (struct strobe_preload_mapping){0};
    if (fd < 0)
        return false;
    while (!is_found && n < n_room && (n_more = syscall(SYS_read, fd, room + n, n_room - n)) > 0) {
        n += (size_t)n_more;
        is_found = search_lines(room, &n, pc, &gap, out);
    }
    syscall(SYS_close, fd);
    if (is_found && pc >= out->start)
        return true;
    out->end = is_found ? out->start : UINT64_MAX;
    out->start = gap;
    return false;
}

/* No descriptor stays open. */
static const uint8_t *map_open(long fd, uint64_t *n_bytes)
{
    struct stat status = {0};
    long at = -1;
    if (fd < 0)
        return NULL;
    if (!fstat((int)fd, &status) && S_ISREG(status.st_mode) && status.st_size > 0)
        at = syscall(SYS_mmap, NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0L);
    syscall(SYS_close, fd);
    *n_bytes = (uint64_t)status.st_size;
    return at == -1 ? NULL : (const uint8_t *)at;
}

const uint8_t *strobe_preload_map_file(const char *path, uint64_t *n_bytes)
{
    return map_open(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0), n_bytes);
}

const uint8_t *strobe_preload_map_code(const struct strobe_preload_file *file, uint64_t *n_bytes)
{
    const uint8_t *bytes = strobe_preload_map_file(file->path, n_bytes);
    uint64_t entry = getauxval(AT_ENTRY);
    if (bytes || entry < file->start || entry >= file->end)
        return bytes;
    return map_open(strobe_preload_open_own("exe"), n_bytes);
}
