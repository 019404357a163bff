/* fuzz_perfetto.c - damaged and hostile packets of Perfetto are imported without harm: no crash, no hang, bounded memory; and what was made of it
 * opens.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../fuzz/seeds.h"
#include "file/file_read.h"
#include "import/perfetto.h"

static char trace_path[64];

static void remove_trace(void)
{
    unlink(trace_path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct strobe_timeline_result result;
    struct strobe_file *file = NULL;
    if (!*trace_path) {
        snprintf(trace_path, sizeof trace_path, "/dev/shm/strobe-fuzz-pf-%d.strobe", (int)getpid());
        atexit(remove_trace);
    }
    strobe_perfetto_is_file(data, n);
    enum strobe_err err = strobe_perfetto_import_bytes(data, n, trace_path, &result);
    if (err && !result.is_cut)
        return 0;
    if (strobe_file_open(trace_path, &file) || !strobe_file_facts(file)->closed)
        abort();
    strobe_file_close(file);
    return 0;
}
