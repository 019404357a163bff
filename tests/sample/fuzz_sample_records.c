/* fuzz_sample_records.c - records of perf's buffers, decoded and taken as they come: lives, mappings, samples, switches.
 *
 * An input is: flags (bit 0: samples have a chain, bit 1: registers and stack, bit 2: they are of tracepoints, bit 3: system calls are zones), which file mappings are of, 6 bytes, then records one
 * after the other, each as long as its head says. Processes are moved to numbers that nobody has, so that nothing of this machine is
 * read. Checked beyond what sanitizers find: nothing is left of processes and threads when all is closed.
 * SPDX-License-Identifier: MIT */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../fuzz/seeds.h"
#include "sample/life.h"

enum { HEAD_BYTES = 8, NOBODY = 0x40000000, BUDGET = 1 << 20 };

static struct strobe_file_writer *writer;
static struct strobe_build_store *store;
static char path[64];
static unsigned n_runs;

static void die(const char *why)
{
    fprintf(stderr, "fuzz_sample_records: %s\n", why);
    abort();
}

/* A file in memory, begun anew now and then. */
static void open_store(void)
{
    if (!*path)
        snprintf(path, sizeof path, "/proc/self/fd/%d", memfd_create("fuzz_sample", 0));
    if (store && n_runs++ % 256)
        return;
    if (store) {
        strobe_build_store_close(store);
        strobe_file_finish(writer);
    }
    struct strobe_build_store_options options = {.budget_bytes = BUDGET, .max_file_bytes = 1 << 20};
    if (strobe_file_create(path, "", 1, &writer))
        die("no file");
    options.writer = writer;
    if (strobe_build_store_open(&options, &store))
        die("no store");
}

static void take(struct strobe_life *life, struct strobe_perf_record *record, uint8_t which)
{
    static const char *const files[] = {"[vdso]", "//anon", "/proc/self/exe", "/none"};
    record->pid |= NOBODY;
    record->tid |= NOBODY;
    if (record->what == STROBE_PERF_FORK || record->what == STROBE_PERF_EXIT)
        record->life.parent_pid |= NOBODY;
    if (record->what == STROBE_PERF_WAKES)
        record->wake.tid |= NOBODY;
    if (record->what == STROBE_PERF_MMAP) {
        record->map.file.pid = record->pid;
        record->map.file.path = files[(which + record->map.file.inode) % 4];
    }
    strobe_life_take(life, record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct strobe_life life;
    static struct strobe_sample_clock clock;
    static _Alignas(8) uint8_t bytes[STROBE_PERF_RECORD_MAX];
    if (size < HEAD_BYTES)
        return 0;
    static const struct strobe_perf_trace trace = {.state_id = 1,
                                                   .wake_id = 2,
                                                   .enter_id = 3,
                                                   .exit_id = 4,
                                                   .flags = {2, 1},
                                                   .woken = {4, 4},
                                                   .target = {8, 4},
                                                   .entered = {4, 4},
                                                   .left = {4, 4},
                                                   .result = {8, 8}};
    struct strobe_perf_shape shape = {
        .has_chain = data[0] & 1, .has_stack = data[0] & 2, .trace = data[0] & 4 ? &trace : NULL};
    clock = (struct strobe_sample_clock){0};
    strobe_sample_clock_add(&clock, 1000, 1000);
    strobe_sample_clock_add(&clock, 1000000, 3000000);
    open_store();
    if (strobe_life_init(&life, store, &clock))
        die("no memory");
    life.has_zones = data[0] & 8;
    for (size_t at = HEAD_BYTES; size - at >= sizeof(struct perf_event_header);) {
        struct strobe_perf_record record;
        struct perf_event_header head;
        memcpy(&head, data + at, sizeof head);
        size_t n = head.size < sizeof head ? sizeof head : head.size;
        n = n < size - at ? n : size - at;
        memcpy(bytes, data + at, n);
        if (strobe_perf_record_read(bytes, n, &shape, &record))
            take(&life, &record, data[1]);
        at += n;
    }
    strobe_life_end(&life);
    strobe_life_flush(&life);
    strobe_build_store_flush(store);
    strobe_life_free(&life);
    if (life.n_threads || life.n_deep)
        die("threads are left");
    return 0;
}
