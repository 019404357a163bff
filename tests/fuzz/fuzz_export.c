/* fuzz_export.c - traces of any bytes through all that turns a trace into something else: of every input one exporter (drive.c), and one in four is
 * mended by strobe_recover. Which ones depends on the input alone.  SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "collector/recover.h"
#include "drive.h"
#include "made.h"
#include "packed.h"
#include "query/walk.h"
#include "seeds.h"
#include "threads.h"

static int sink = -1; /* where exports go */
static char folder[] = KEPT_BEGIN "XXXXXX";

static void remove_folder(void)
{
    rmdir(folder);
}

static void open_folder(void)
{
    if (sink >= 0)
        return;
    sink = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (sink < 0 || !mkdtemp(folder))
        abort();
    atexit(remove_folder);
}

/* A mended file opens and is closed. */
static void mend(const char *path)
{
    struct strobe_recovery recovery;
    struct strobe_trace *trace;
    if (strobe_recover(path, "/nonexistent", NULL, NULL, NULL, &recovery))
        return;
    if (strobe_trace_open(path, 0, &trace) || !strobe_file_facts(trace->file)->closed) {
        fprintf(stderr, "fuzz_export: a mended trace does not open\n");
        abort();
    }
    strobe_walk_run(&(struct strobe_walk){.trace = trace});
    strobe_trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint64_t choice = XXH64(data, n, 2), options = XXH64(data, n, 3);
    unsigned which = (unsigned)(choice >> 8) % drive_count();
    open_folder();
    data = packed_open(data, &n);
    has_threads = (choice >> 40) % 16 == 0;
    if (!strcmp(drive_name(which), "html") && choice >> 32 & 15)
        which++; /* as large as the page, and it reads the file's bytes only */
    made_put(data, n);
    drive(which, made_path(), options, sink, folder);
    if ((choice >> 4) % 4 == 0)
        mend(made_path());
    return 0;
}
