/* view_imports.c - files of other profilers for the viewer: each is read by a `strobe import` of its own into a folder that
 * goes when the viewer does; again only if the file has changed. How far it is, is told by how far it has read.
 * SPDX-License-Identifier: MIT */
#include "cli/view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct strobe_view_imports {
    pthread_mutex_t lock;  /* of the folder */
    char folder[PATH_MAX]; /* "": none yet */
};

struct strobe_view_imports *strobe_view_imports_open(void)
{
    struct strobe_view_imports *imports = calloc(1, sizeof *imports);
    if (imports)
        pthread_mutex_init(&imports->lock, NULL);
    return imports;
}

/* Folders with one file each. */
void strobe_view_imports_close(struct strobe_view_imports *imports)
{
    if (!imports)
        return;
    char path[PATH_MAX + 300];
    DIR *folder = imports->folder[0] ? opendir(imports->folder) : NULL;
    struct dirent *entry, *file;
    while (folder && (entry = readdir(folder))) {
        snprintf(path, sizeof path, "%s/%s", imports->folder, entry->d_name);
        DIR *one = entry->d_name[0] == '.' ? NULL : opendir(path);
        while (one && (file = readdir(one)))
            if (file->d_name[0] != '.')
                unlinkat(dirfd(one), file->d_name, 0);
        if (one) {
            closedir(one);
            rmdir(path);
        }
    }
    if (folder) {
        closedir(folder);
        rmdir(imports->folder);
    }
    pthread_mutex_destroy(&imports->lock);
    free(imports);
}

/* Where the trace of a file goes: under its own name, in a folder of its state. False: there is no such file, or no room. */
static bool place_of(struct strobe_view_imports *imports, const char *path, char *out, size_t room)
{
    const char *slash = strrchr(path, '/'), *base = getenv("TMPDIR");
    char folder[PATH_MAX + 64];
    struct stat st;
    if (!slash || stat(path, &st))
        return false;
    pthread_mutex_lock(&imports->lock);
    if (!imports->folder[0]) {
        snprintf(imports->folder, sizeof imports->folder, "%.1000s/strobe-view-XXXXXX",
                 base && *base ? base : "/tmp");
        if (!mkdtemp(imports->folder))
            imports->folder[0] = 0;
    }
    bool ok = imports->folder[0] != 0;
    snprintf(folder, sizeof folder, "%s/%llx-%llx", imports->folder, (unsigned long long)st.st_ino,
             (unsigned long long)st.st_mtim.tv_sec * 1000000000ull +
                 (unsigned long long)st.st_mtim.tv_nsec);
    pthread_mutex_unlock(&imports->lock);
    ok = ok && (!mkdir(folder, 0700) || errno == EEXIST);
    return ok && (size_t)snprintf(out, room, "%s%s", folder, slash) < room;
}

/* ---- the child ---- */

static pid_t start(const char *from, const char *to, int *out_fd)
{
    const char *const words[] = {"strobe", "import", "-f", "-o", to, from, NULL};
    int said[2];
    if (pipe2(said, O_CLOEXEC))
        return -1;
    pid_t pid = strobe_view_spawn(words, said[1]);
    close(said[1]);
    if (pid < 0)
        close(said[0]);
    *out_fd = said[0];
    return pid;
}

/* How far the child has read its file, 0 to 1; -1: not to be told. */
static double position_of(pid_t pid, const struct stat *file)
{
    char path[96], line[128];
    struct stat st;
    long long at = -1;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder && at < 0 && (entry = readdir(folder))) {
        snprintf(path, sizeof path, "/proc/%d/fd/%.20s", (int)pid, entry->d_name);
        if (stat(path, &st) || st.st_ino != file->st_ino || st.st_dev != file->st_dev)
            continue;
        snprintf(path, sizeof path, "/proc/%d/fdinfo/%.20s", (int)pid, entry->d_name);
        FILE *info = fopen(path, "re");
        while (info && fgets(line, sizeof line, info))
            if (sscanf(line, "pos: %lld", &at) == 1)
                break;
        if (info)
            fclose(info);
    }
    if (folder)
        closedir(folder);
    return at < 0 || !file->st_size ? -1 : (double)at / (double)file->st_size;
}

/* Tracy's files are read twice, others once; what is left is writing. */
static void note_progress(pid_t pid, const char *path, const struct stat *file,
                          struct strobe_import_watch *watch)
{
    size_t n = strlen(path);
    bool is_twice = n > 6 && !strcmp(path + n - 6, ".tracy");
    double at = position_of(pid, file);
    uint32_t before = watch->per_mille, now;
    if (at < 0)
        return;
    now = (uint32_t)(at * (is_twice ? 480 : 900));
    if (is_twice && now < before)
        now += 480;
    if (now > before)
        watch->per_mille = now < 990 ? now : 990;
}

/* The last line that it said, without the command's name. */
static void keep_reason(char *why, size_t room, char *said)
{
    char *end = said + strlen(said);
    while (end > said && end[-1] == '\n')
        *--end = 0;
    char *line = strrchr(said, '\n');
    line = line ? line + 1 : said;
    static const char prefix[] = "strobe import: ";
    if (!strncmp(line, prefix, sizeof prefix - 1))
        line += sizeof prefix - 1;
    snprintf(why, room, "%s", *line ? line : "the file can't be read");
}

/* Wait for it; what it said last goes to `why`. */
static void wait_for(pid_t pid, int fd, const char *path, struct strobe_import_watch *watch)
{
    char said[4096] = "";
    size_t n = 0;
    struct stat file = {0};
    bool is_open = !stat(path, &file);
    while (is_open) {
        struct pollfd in = {.fd = fd, .events = POLLIN};
        int ready = poll(&in, 1, 100);
        if (watch->is_cancelled)
            break;
        if (ready > 0) {
            if (n > sizeof said / 2)
                n = 0;
            ssize_t got = read(fd, said + n, sizeof said - 1 - n);
            is_open = got > 0 || (got < 0 && errno == EINTR);
            n += got > 0 ? (size_t)got : 0;
            said[n] = 0;
        }
        note_progress(pid, path, &file, watch);
    }
    if (watch->is_cancelled)
        kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    keep_reason(watch->why, sizeof watch->why, said);
}

int strobe_view_import(void *context, const char *path, char *out, size_t room,
                       struct strobe_import_watch *watch)
{
    struct strobe_view_imports *imports = context;
    char half[PATH_MAX + 400];
    int fd;
    if (!place_of(imports, path, out, room)) {
        snprintf(watch->why, sizeof watch->why, "%s", strerror(errno));
        return 0;
    }
    if (!access(out, R_OK))
        return 1;
    snprintf(half, sizeof half, "%s.part", out);
    pid_t pid = start(path, half, &fd);
    if (pid < 0) {
        snprintf(watch->why, sizeof watch->why, "the importer could not be started");
        return 0;
    }
    wait_for(pid, fd, path, watch);
    close(fd);
    if (!watch->is_cancelled && !rename(half, out))
        return 1; /* whole, or of a damaged file what comes before the damage */
    unlink(half);
    return 0;
}
