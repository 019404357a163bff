/* files.c - see the header.  SPDX-License-Identifier: MIT */
#include "device_files/files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/assert.h"
#include "device/names.h"
#include "device_files/internal.h"

void strobe_files_warn(struct strobe_device_files *files, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (files->options.warn)
        files->options.warn(files->options.warn_context, text);
}

/* ---- paths that this process writes ---- */

static pthread_mutex_t paths_lock = PTHREAD_MUTEX_INITIALIZER;
static struct strobe_textmap paths; /* that were begun */

bool strobe_files_is_first(const char *path)
{
    uint32_t entry;
    pthread_mutex_lock(&paths_lock);
    uint32_t n = paths.n;
    STROBE_ASSERT(path[0]); /* a file that is not wanted is never begun */
    bool first = !strobe_textmap_add(&paths, path, strlen(path), &entry) && paths.n > n;
    pthread_mutex_unlock(&paths_lock);
    return first;
}

void strobe_files_remove(const char *path)
{
    unlink(path);
}

static bool make_folders(const char *path)
{
    char copy[STROBE_FILES_PATH];
    if ((size_t)snprintf(copy, sizeof copy, "%s", path) >= sizeof copy)
        return false;
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(copy, 0777);
        *slash = '/';
    }
    return !mkdir(copy, 0777) || errno == EEXIST;
}

static void set_path(struct strobe_files_out *file, const char *folder, const char *name)
{
    file->fd = -1;
    if (!name || (size_t)snprintf(file->path, sizeof file->path, "%s%s%s", folder ? folder : "",
                                  folder ? "/" : "", name) >= sizeof file->path)
        file->path[0] = 0;
}

/* What an earlier run left under this name would be taken for this one's. */
static void forget_old(const struct strobe_files_out *file)
{
    if (file->path[0] && strobe_files_is_first(file->path))
        unlink(file->path);
}

bool strobe_files_begin(struct strobe_device_files *files, struct strobe_files_out *file)
{
    struct stat facts;
    if (!file->path[0] || file->has_failed)
        return false;
    STROBE_ASSERT(file->fd < 0);
    file->fd = open(file->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file->fd < 0 || fstat(file->fd, &facts) || !strobe_out_open(&file->out, file->fd)) {
        strobe_files_warn(files, "can't write %s: %s", file->path, strerror(errno));
        file->has_failed = true;
        if (file->fd >= 0)
            close(file->fd);
        file->fd = -1;
        return false;
    }
    file->is_new = facts.st_size == 0;
    STROBE_ASSERT(file->fd >= 0 && !file->has_failed);
    return true;
}

void strobe_files_end(struct strobe_device_files *files, struct strobe_files_out *file)
{
    if (file->fd < 0)
        return;
    STROBE_ASSERT(file->path[0]);
    int error = strobe_out_end(&file->out);
    close(file->fd);
    file->fd = -1;
    if (error && !file->has_failed) {
        file->has_failed = true;
        strobe_files_warn(files, "%s is not complete: %s", file->path, strerror(error));
    }
}

/* ---- life ---- */

static void set_paths(struct strobe_device_files *files,
                      const struct strobe_device_files_options *options)
{
    const char *folder = options->folder;
    if (folder && !make_folders(folder)) {
        strobe_files_warn(files, "can't make %s, so there will be no logs: %s", folder,
                          strerror(errno));
        folder = NULL;
    }
    set_path(&files->log, folder, folder ? "profile_log_device.csv" : NULL);
    set_path(&files->perf, folder,
             folder && options->has_perf_report ? "cpp_device_perf_report.csv" : NULL);
    set_path(&files->sync, folder, folder ? "sync_device_info.csv" : NULL);
    set_path(&files->sources, folder, folder ? "zone_src_locations.log" : NULL);
    set_path(&files->new_sources, folder, folder ? "new_zone_src_locations.log" : NULL);
    if (options->noc_folder && make_folders(options->noc_folder))
        snprintf(files->noc_folder, sizeof files->noc_folder, "%.4000s", options->noc_folder);
    set_path(&files->ops, NULL, options->ops_path);
    set_path(&files->zones, NULL, options->zones_path);
    forget_old(&files->log);
    forget_old(&files->perf);
    forget_old(&files->sync);
    forget_old(&files->new_sources); /* zone_src_locations.log is of all runs */
    forget_old(&files->ops);
    forget_old(&files->zones);
}

/* Ids that no kernel has, but zones. */
static void name_fixed(struct strobe_device_files *files, struct strobe_device_calls *calls)
{
    static const struct {
        uint32_t id, flags;
    } fixed[] = {{STROBE_ID_STALL, 0},
                 {STROBE_ID_STACK, 0},
                 {0x5150, STROBE_NAME_CLASSIC},
                 {0x5151, STROBE_NAME_CLASSIC},
                 {0x5152, STROBE_NAME_CLASSIC}};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        const char *text = strobe_device_names_fixed(fixed[i].id, fixed[i].flags != 0);
        STROBE_ASSERT(text);
        struct strobe_device_name name = {.id = fixed[i].id,
                                          .flags = fixed[i].flags,
                                          .name = {text, (uint32_t)strlen(text)},
                                          .file = {"", 0}};
        calls->name(files, &name);
    }
}

enum strobe_err strobe_device_files_open(const struct strobe_device_files_options *options,
                                         struct strobe_device_files **out)
{
    struct strobe_device_files *files = calloc(1, sizeof *files);
    struct strobe_device_calls calls = {.context = files};
    if (!files)
        return STROBE_ERR_NOMEM;
    files->options = *options;
    files->programs.max = files->executions.max = STROBE_FILES_LAUNCHES;
    files->op_names.max = STROBE_FILES_NAMES;
    set_paths(files, options);
    strobe_files_calls(&calls);
    enum strobe_err err = strobe_device_stream_open(&calls, NULL, &files->stream);
    if (!err)
        err = strobe_files_sorts_open(files);
    if (err) {
        strobe_device_files_close(files);
        return err;
    }
    STROBE_ASSERT(files->stream && files->markers && calls.context == files);
    name_fixed(files, &calls);
    *out = files;
    return STROBE_OK;
}

enum strobe_err strobe_device_files_feed(struct strobe_device_files *files, const uint32_t *words,
                                         size_t n_words)
{
    size_t used = 0;
    enum strobe_err before = files->err;
    enum strobe_err err = strobe_device_stream_feed(files->stream, words, n_words, &used);
    STROBE_ASSERT(used <= n_words);
    return err || (files->err && !before) ? STROBE_ERR_LIMIT : STROBE_OK;
}

void strobe_device_files_sub_device(struct strobe_device_files *files, uint32_t program,
                                    uint32_t sub_device, uint32_t manager)
{
    strobe_map_put(&files->sub_devices, program,
                   (uint64_t)(sub_device & 0x7fffffff) << 32 | manager);
}

enum strobe_err strobe_device_files_dump(struct strobe_device_files *files)
{
    strobe_device_stream_flush(files->stream);
    enum strobe_err err = strobe_files_dump_markers(files);
    if (!err)
        err = strobe_files_dump_ops(files);
    if (!err)
        err = strobe_files_dump_noc(files);
    strobe_files_dump_sources(files);
    err = err ? err : files->err;
    if (err)
        strobe_files_warn(files, "device %u: its files are not complete: %s", files->device,
                          strobe_err_text(err));
    strobe_sort_close(files->markers);
    strobe_sort_close(files->runs);
    strobe_sort_close(files->noc);
    STROBE_ASSERT(files->n_names_written <= files->n_names);
    files->markers = files->runs = files->noc = NULL;
    files->err = strobe_files_sorts_open(files);
    return err;
}

void strobe_device_files_close(struct strobe_device_files *files)
{
    if (!files)
        return;
    if (files->stream && files->markers) {
        strobe_device_files_dump(files);
        strobe_files_dump_sync(files);
    }
    strobe_device_stream_close(files->stream);
    strobe_sort_close(files->markers);
    strobe_sort_close(files->runs);
    strobe_sort_close(files->noc);
    strobe_map_free(&files->names_by_id);
    strobe_map_free(&files->programs);
    strobe_map_free(&files->sub_devices);
    strobe_map_free(&files->executions);
    strobe_map_free(&files->trace_replays);
    strobe_textmap_free(&files->op_names);
    strobe_out_free(&files->texts);
    free(files->names);
    free(files->cores);
    free(files->launches);
    free(files->classic);
    free(files);
}
