/* fuzz_stacks.c - damaged and hostile files of stack samples are imported without harm: no crash, no hang, bounded memory; and what was made of one opens.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../fuzz/seeds.h"
#include "file/file_read.h"
#include "import/stacks_file.h"

static char trace_path[64];

static void remove_trace(void)
{
    unlink(trace_path);
}

/* What its bytes say it is; what says nothing goes to one of the readers too. */
static enum strobe_stacks_format format_of(const uint8_t *data, size_t n)
{
    enum strobe_stacks_format format = strobe_stacks_file_format(data, n);
    return format ? format : 1 + (enum strobe_stacks_format)(n % (STROBE_STACKS_N_FORMATS - 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct strobe_stacks_result result;
    struct strobe_file *file = NULL;
    if (!*trace_path) {
        snprintf(trace_path, sizeof trace_path, "/dev/shm/strobe-fuzz-%d.strobe", (int)getpid());
        atexit(remove_trace);
    }
    if (strobe_stacks_file_import_bytes(data, n, trace_path, format_of(data, n), &result))
        return 0;
    if (strobe_file_open(trace_path, &file) || !strobe_file_facts(file)->closed)
        abort();
    strobe_file_close(file);
    return 0;
}
