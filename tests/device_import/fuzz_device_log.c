/* fuzz_device_log.c - damaged and hostile device logs are imported without harm: no crash, no hang, bounded memory; and what was made of
 * them opens.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../fuzz/seeds.h"
#include "device_import/device_log.h"
#include "file/file_read.h"

static char trace_path[64];

static void remove_trace(void)
{
    unlink(trace_path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct strobe_device_log_import result;
    struct strobe_file *file = NULL;
    if (!*trace_path) {
        snprintf(trace_path, sizeof trace_path, "/dev/shm/strobe-fuzz-log-%d.strobe",
                 (int)getpid());
        atexit(remove_trace);
    }
    if (strobe_device_log_import_bytes(data, n, trace_path, &result))
        return 0;
    if (strobe_file_open(trace_path, &file) || !strobe_file_facts(file)->closed)
        abort();
    strobe_file_close(file);
    return 0;
}
