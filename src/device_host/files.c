/* files.c - the files of a run, while the device profiler is asked for: a listener like others (device_files/files.h). Where they go,
 * as in tt-metal: $TT_METAL_PROFILER_DIR, else $TT_METAL_HOME/generated/profiler, else generated/profiler here; the logs in its
 * folder .logs. With STROBE_DEVICE_LOGS=apart the first process that comes has that folder, and each other one process_<pid> in it: so
 * nobody overwrites another's files. A file `process` in each says whose it is. Thread: the worker.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device_files/files.h"
#include "device_host/internal.h"

enum { PATH_BYTES = 4096 };

static const char *said(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* The folder of the logs. False: its path is too long. */
static bool find_folder(char *path)
{
    const char *folder = said("TT_METAL_PROFILER_DIR"), *home = said("TT_METAL_HOME");
    int n = folder ? snprintf(path, PATH_BYTES, "%s/.logs", folder)
                   : snprintf(path, PATH_BYTES, "%s%sgenerated/profiler/.logs", home ? home : "",
                              home ? "/" : "");
    return n > 0 && n < PATH_BYTES;
}

static bool is_apart(void)
{
    const char *how = said("STROBE_DEVICE_LOGS");
    return how && !strcmp(how, "apart");
}

/* The number of this process among those of its job, as the launchers of such jobs say it; NULL: it is in none. */
static const char *find_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",         "PMI_RANK",
                                        "SLURM_PROCID",         "TT_MESH_HOST_RANK", "RANK"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (said(names[i]))
            return said(names[i]);
    return NULL;
}

/* Write whose folder it is. False: it is another process's, or can't be written. */
static bool claim(const char *folder)
{
    char path[PATH_BYTES + 16], text[128];
    const char *rank = find_rank();
    snprintf(path, sizeof path, "%s/process", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        long owner = 0;
        FILE *file = errno == EEXIST ? fopen(path, "re") : NULL;
        bool is_own = file && fscanf(file, "pid %ld", &owner) == 1 && owner == (long)getpid();
        if (file)
            fclose(file);
        return is_own;
    }
    int n = snprintf(text, sizeof text, "pid %ld\nrank %.32s\n", (long)getpid(), rank ? rank : "");
    bool ok = write(fd, text, (size_t)n) == n;
    close(fd);
    return ok;
}

/* `path`, or a folder in it that is this process's alone. */
static void stay_apart(char *path)
{
    size_t n = strlen(path);
    if (!is_apart() || claim(path))
        return;
    struct stat facts;
    if (stat(path, &facts) ||
        n + 32 > PATH_BYTES) /* nobody made it: there is nobody to stay apart from */
        return;
    snprintf(path + n, PATH_BYTES - n, "/process_%ld", (long)getpid());
    mkdir(path, 0777);
    claim(path);
}

static bool is_same(const char *folder, const char *other)
{
    struct stat a, b;
    return !stat(folder, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static void kept_close(struct strobe_device *device)
{
    if (device->kept_fd >= 0)
        close(device->kept_fd);
    device->kept_fd = -1;
    if (device->kept_path)
        unlink(device->kept_path);
    free(device->kept_path);
    device->kept_path = NULL;
}

/* Keep the stream too, for whoever finds this process dead: `strobe report --device-streams`. It is a file, not memory, and what is written to a
 * file outlives a process. */
static void keep(struct strobe_device *device, const uint32_t *words, size_t n_words)
{
    const char *at = (const char *)words;
    for (size_t left = n_words * 4; left;) {
        ssize_t n = write(device->kept_fd, at, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) { /* a part of a stream would do, but not one with a hole */
            kept_close(device);
            return;
        }
        at += n;
        left -= (size_t)n;
    }
}

static int put_frames(void *context, const uint32_t *words, size_t n_words)
{
    struct strobe_device *device = context;
    strobe_device_files_feed(device->files, words,
                             n_words); /* what is missing is said with the files */
    if (device->kept_fd >= 0)
        keep(device, words, n_words);
    return 0;
}

static void kept_open(struct strobe_device *device, const char *logs)
{
    char path[PATH_BYTES + 64];
    if (!logs || !is_apart())
        return;
    snprintf(path, sizeof path, "%s/device_%u.stream", logs, device->setup.index);
    device->kept_path = strdup(path);
    if (device->kept_path)
        device->kept_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

void strobe_host_files_open(struct strobe_device *device)
{
    char folder[PATH_BYTES];
    const struct strobe_device_options *options = &device->setup.options;
    const char *after = said("TT_METAL_PROFILER_CPP_POST_PROCESS");
    bool streams = options->mode == STROBE_DEVICE_MODE_STREAMING;
    const char *noc = said("TT_METAL_DEVICE_PROFILER_NOC_EVENTS_RPT_PATH");
    if (options->mode == STROBE_DEVICE_MODE_OFF || !(options->record & STROBE_DEVICE_RECORD_FILES))
        return;
    const char *logs = find_folder(folder) ? folder : NULL;
    bool with_logs = logs && noc && is_same(folder, noc);
    if (logs)
        stay_apart(folder);
    if (with_logs) /* the NoC's files stay beside the others */
        noc = NULL;
    struct strobe_device_files_options wanted = {
        .folder = logs,
        .ops_path = streams ? said("TT_METAL_STREAMING_PROFILER_OPS_CSV") : NULL,
        .zones_path = streams ? said("TT_METAL_STREAMING_PROFILER_ZONE_CSV") : NULL,
        .noc_folder = !(options->record & STROBE_DEVICE_RECORD_NOC) ? NULL
                      : noc                                         ? noc
                                                                    : logs,
        .has_perf_report =
            after && *after == '1' && !(options->record & STROBE_DEVICE_RECORD_ACCUMULATE),
        .warn = device->setup.warn,
        .warn_context = device->setup.warn_context};
    if (strobe_device_files_open(&wanted, &device->files)) {
        device->setup.warn(device->setup.warn_context, "no memory for the device's files");
        return;
    }
    for (uint32_t i = 0; i < STROBE_HOST_MAX_LISTENERS; i++)
        if (!device->listeners[i].frames) {
            device->listeners[i] =
                (struct strobe_host_listener){.frames = put_frames, .context = device};
            kept_open(device, logs);
            return;
        }
}

void strobe_host_files_dump(struct strobe_device *device)
{
    if (device->files)
        strobe_device_files_dump(device->files);
}

void strobe_host_files_close(struct strobe_device *device)
{
    strobe_device_files_close(device->files);
    device->files = NULL;
    kept_close(device);
}
