/* fuzz_folder.c - a session's folder as a stranger filled it: files, folders, links, pipes and sockets of any name, with any first pages. A
 * collector looks through it, alive or after the fact; what is there may spoil its own tracks and nothing else.
 *
 * An input is a byte of options, then for each entry: kind, length of its name, name, length of what is in it, bytes.
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "collector/internal.h"
#include "made.h"
#include "seeds.h"
#include "sleeper.h"
#include "tape.h"
#include "wire/ring_layout.h"

enum { ENTRIES_MAX = 12 };
enum { OWN_POOL = 7 }; /* a kind of entry: of our own process, which has many mappings */

static char dir[] = "/dev/shm/strobe-fuzz-XXXXXX", outside[64];
static pid_t sleeper;
static const char untouched[] = "not to be changed";

static void empty_folder(void)
{
    DIR *folder = opendir(dir);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
            unlinkat(dirfd(folder), entry->d_name, 0))
            unlinkat(dirfd(folder), entry->d_name, AT_REMOVEDIR);
    if (folder)
        closedir(folder);
}

static void remove_folder(void)
{
    empty_folder();
    rmdir(dir);
    unlink(outside);
}

static void write_file(const char *path, const void *bytes, size_t n, off_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0)
        return; /* a name that can't be, or that a pipe has */
    if (write(fd, bytes, n) != (ssize_t)n || (size > (off_t)n && ftruncate(fd, size)))
        abort();
    close(fd);
}

static void open_folder(void)
{
    if (*outside)
        return;
    if (!mkdtemp(dir))
        abort();
    snprintf(outside, sizeof outside, "%s.outside", dir);
    write_file(outside, untouched, sizeof untouched, 0);
    sleeper = sleeping_process();
    atexit(remove_folder);
}

/* The control page of a pool that would do, for the input to change. */
static void put_pool(const char *path, pid_t pid, struct tape *tape, size_t n)
{
    struct strobe_control control = {
        .magic = STROBE_RING_MAGIC,
        .version = STROBE_RING_VERSION,
        .pid = (uint32_t)pid,
        .start_time = strobe_session_start_time(pid),
        .n_chunks_max = 4,
        .clock = strobe_session_clock(),
        .data_off = strobe_ring_data_off(4),
        .next_id = 100,
        .generation = 1,
        .file_bytes = strobe_ring_file_bytes(4),
    };
    uint8_t page[STROBE_PAGE_BYTES] = {0};
    const uint8_t *bytes = tape_take(tape, &n);
    memcpy(page, &control, sizeof control);
    for (size_t i = 0; i + 2 < n; i += 3) /* place and byte */
        page[(bytes[i] | bytes[i + 1] << 8) % sizeof page] = bytes[i + 2];
    write_file(path, page, sizeof page, (off_t)control.file_bytes);
}

static void put_socket(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(at.sun_path, sizeof at.sun_path, "%.100s", path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at))
        (void)0; /* a name that can't be */
    close(fd);
}

static void put_entry(struct tape *tape)
{
    char name[256] = "", path[400];
    uint8_t kind = tape_byte(tape);
    size_t n_name = tape_byte(tape);
    const uint8_t *from = tape_take(tape, &n_name);
    memcpy(name, from, n_name);
    for (char *at = name; *at; at++)
        if (*at == '/')
            *at = '_';
    snprintf(path, sizeof path, "%s/%s%s", dir, name, kind & 128 ? ".pool" : "");
    size_t n = (size_t)tape_number(tape, 2);
    if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
        return;
    switch (kind % 8) {
    case 0:
        from = tape_take(tape, &n);
        write_file(path, from, n, (off_t)(kind & 64 ? 1 << 20 : 0));
        break;
    case 1:
        if (mkdir(path, 0700))
            return;
        break;
    case 2:
        if (symlink(outside, path))
            return;
        break;
    case 3:
        if (mkfifo(path, 0600))
            return;
        break;
    case 4:
        put_socket(path);
        break;
    default:
        put_pool(path, kind % 8 == OWN_POOL ? getpid() : sleeper, tape, n);
    }
}

static void look(uint8_t how)
{
    struct strobe_file_writer *writer = NULL;
    struct strobe_collector *c = NULL;
    struct strobe_collector_options options = {.session_dir = dir, .post_mortem = how & 1};
    if (how & 2)
        options.only_pid = (uint32_t)(how & 8 ? getpid() : sleeper);
    if (strobe_file_create(made_path(), dir, 0, &writer) ||
        strobe_collector_open(&options, writer, &c))
        abort();
    for (int i = 0; i < 1 + (how >> 2 & 1); i++)
        strobe_collector_poll(c, true);
    strobe_collector_stop(c);
    if (strobe_collector_close(c) || strobe_file_finish(writer))
        abort();
}

static void check_outside(void)
{
    char now[sizeof untouched + 1];
    int fd = open(outside, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, now, sizeof now) != sizeof untouched ||
        memcmp(now, untouched, sizeof untouched)) {
        fprintf(stderr, "fuzz_folder: a file outside was changed\n");
        abort();
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct tape tape = {data, data + n};
    open_folder();
    uint8_t how = tape_byte(&tape);
    for (int i = 0; i < ENTRIES_MAX && tape_left(&tape); i++)
        put_entry(&tape);
    look(how);
    check_outside();
    empty_folder();
    return 0;
}
