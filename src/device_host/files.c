/* files.c - the files of a run, while the device profiler is asked for: a listener like others (device_files/files.h). Where they go,
 * as in tt-metal: $TT_METAL_PROFILER_DIR, else $TT_METAL_HOME/generated/profiler, else generated/profiler here; the logs in its
 * folder .logs. Thread: the worker.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

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

static int put_frames(void *context, const uint32_t *words, size_t n_words)
{
    strobe_device_files_feed(context, words, n_words); /* what is missing is said with the files */
    return 0;
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
                (struct strobe_host_listener){.frames = put_frames, .context = device->files};
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
}
