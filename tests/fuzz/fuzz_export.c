/* fuzz_export.c - traces of any bytes through all that turns a trace into something else: of every input two exporters (drive.c), and every other one is
 * mended by strobe_recover. Which ones depends on the input alone.  SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "collector/recover.h"
#include "drive.h"
#include "packed.h"
#include "query/walk.h"
#include "seeds.h"
#include "threads.h"

static int sink = -1; /* where exports go */
static char folder[] = "/dev/shm/strobe-fuzz-XXXXXX";

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
    char path[64];
    uint64_t choice = XXH64(data, n, 2), choices[] = {XXH64(data, n, 3), XXH64(data, n, 4)};
    open_folder();
    data = packed_open(data, &n);
    has_threads = (choice >> 40) % 16 == 0;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, n) != (ssize_t)n)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    for (int i = 0; i < 2; i++) {
        unsigned which = (unsigned)(choice >> (8 + 8 * i)) % drive_count();
        if (!strcmp(drive_name(which), "html") && choice >> 32 & 15)
            continue; /* as large as the page, and it reads the file's bytes only */
        drive(which, path, choices[i], sink, folder);
    }
    if (choice >> 4 & 1)
        mend(path);
    close(fd);
    return 0;
}
