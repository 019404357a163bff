/* record.c - how fast a device's stream becomes a trace: the recorder's side alone, from the FIFO in a session's folder to the closed file. The
 * stream is made (made.h) by a child process. Prints zones per CPU second of this process, its own memory and the mapped FIFO's apart.
 *   bench_device_record FILE [zones] [zones per kernel] [cores] [cycles]
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "device_record/source.h"
#include "fifo/device_fifo.h"
#include "made.h"

static int put_frame(void *context, const uint32_t *words, size_t n_words)
{
    enum strobe_err err = strobe_device_fifo_put(context, words, n_words);
    if (err)
        fprintf(stderr, "a frame found no room: error %d\n", (int)err);
    return !err;
}

/* The program that has the device open. */
static int produce(const char *dir, const struct made_options *options, struct made_counts *counts)
{
    struct strobe_device_fifo_writer writer;
    struct strobe_device_fifo_options fifo = {
        .dir = dir, .patience_ns = 60000000000ull, .is_recorded = true};
    if (strobe_device_fifo_make(&fifo, &writer) || strobe_device_fifo_extend(&writer, 0))
        return 1;
    *counts = made_run(options, put_frame, &writer);
    strobe_device_fifo_close(&writer);
    return 0;
}

/* Kilobytes of a line of /proc/self/status. */
static long status_kib(const char *name)
{
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, name, strlen(name)))
            kib = strtol(line + strlen(name) + 1, NULL, 10);
    if (file)
        fclose(file);
    return kib;
}

static double cpu_s(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* What a reader needs to know of the trace's clock. */
static void put_recording(struct strobe_file_writer *writer, uint64_t tick)
{
    struct strobe_records records = {0};
    uint64_t sync[] = {STROBE_CLOCK_MONO, tick, tick, 0, 0, 0}, begin[] = {tick, 0};
    strobe_records_reset(&records);
    strobe_records_numbers(&records, STROBE_FACT_CLOCK_SYNC, sync, 6);
    strobe_records_numbers(&records, STROBE_FACT_RECORDING, begin, 2);
    strobe_file_put_records(writer, &records);
    strobe_records_free(&records);
}

/* Rounds until the stream has come and gone; the greatest anonymous memory that was seen. */
static long record(struct strobe_devices *devices)
{
    struct timespec rest = {0, 20000000};
    struct strobe_devices_status status;
    long most_kib = 0;
    do {
        strobe_devices_look(devices);
        status = strobe_devices_status(devices);
        long kib = status_kib("RssAnon:");
        most_kib = kib > most_kib ? kib : most_kib;
        nanosleep(&rest, NULL);
    } while (!status.n_devices || status.n_live);
    return most_kib;
}

int main(int argc, char **argv)
{
    char dir[256]; /* where sessions are: in memory */
    const char *above = getenv("STROBE_DIR");
    struct made_options options = {.n_zones = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000000,
                                   .zones_per_kernel =
                                       argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1000,
                                   .cores = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 64,
                                   .cycles = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 2000,
                                   .start_ns = strobe_clock_mono_ns()};
    struct strobe_file_writer *writer = NULL;
    struct strobe_devices *devices = NULL;
    struct made_counts *counts =
        mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = 1;
    snprintf(dir, sizeof dir, "%s/bench_device.XXXXXX", above ? above : "/dev/shm");
    if (argc < 2 || counts == MAP_FAILED || options.zones_per_kernel < 3 || !mkdtemp(dir))
        return 2;
    if (strobe_file_create(argv[1], dir, 0, &writer))
        return 1;
    put_recording(writer, options.start_ns);
    pid_t child = fork();
    if (!child)
        _exit(produce(dir, &options, counts));
    double before = cpu_s();
    struct strobe_devices_options source = {
        .session_dir = dir, .store = {.writer = writer}, .is_mono = true};
    strobe_file_uuid(writer, source.trace);
    if (strobe_devices_open(&source, &devices))
        return 1;
    long anon_kib = record(devices);
    strobe_devices_close(devices);
    strobe_file_finish(writer);
    double took = cpu_s() - before;
    long peak_kib = status_kib("VmHWM:");
    waitpid(child, &status, 0);
    rmdir(dir);
    struct stat file;
    if (status || stat(argv[1], &file))
        return 1;
    printf("BENCH {\"zones\": %" PRIu64 ", \"dense\": %" PRIu64 ", \"kernels\": %" PRIu64
           ", \"cpu_s\": %.4f, \"zones_per_cpu_s\": %.0f, \"anon_mib\": %.1f, \"peak_mib\": %.1f, "
           "\"wire_bytes\": %.3f, \"file_bytes\": %.3f}\n",
           counts->n_zones, counts->n_dense, counts->n_kernels, took,
           (double)counts->n_zones / took, (double)anon_kib / 1024, (double)peak_kib / 1024,
           (double)counts->n_bytes / (double)counts->n_zones,
           (double)file.st_size / (double)counts->n_zones);
    return 0;
}
