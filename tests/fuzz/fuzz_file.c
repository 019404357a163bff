/* fuzz_file.c - damaged traces must be read, in bounded time and memory: fuzz_file SEEDS_DIR N_RUNS
 * SEED [FIRST]. Every run takes a trace from SEEDS_DIR, damages it (mutate.c), opens it and does
 * what the commands do: it walks over all, exports it in two ways (drive.c), and every other time mends it too. A run depends on SEED and its number only, so a failure is
 * repeated with N_RUNS 1 and FIRST the number that was told.  SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "collector/recover.h"
#include "drive.h"
#include "mutate.h"
#include "query/overview.h"
#include "query/stats.h"
#include "query/walk.h"

enum {
    MAX_SEEDS = 64,
    CPU_SECONDS = 10,
    WALL_SECONDS = 300
}; /* of one run; the latter for a deadlock */

static uint64_t run_number, seed_number;
static volatile uint64_t touched; /* keeps the reads of results */
static int sink = -1;             /* where exports go */
static char folder[] = "/tmp/fuzz_file.XXXXXX";
static volatile const char *doing = "reading"; /* for the one who looks at a failure */

static void tell_run(void)
{
    fprintf(stderr, "fuzz_file: run %llu of seed %llu, %s\n", (unsigned long long)run_number,
            (unsigned long long)seed_number, (const char *)doing);
}

/* Called by the sanitizers, which look for them by name; unknown to other builds. */
#define SEEN_BY_SANITIZERS __attribute__((visibility("default")))
SEEN_BY_SANITIZERS void __asan_on_error(void);
void __asan_on_error(void)
{
    tell_run();
}

SEEN_BY_SANITIZERS const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "max_allocation_size_mb=512:hard_rss_limit_mb=2048:allocator_may_return_null=1:"
           "detect_stack_use_after_return=0:quarantine_size_mb=16";
}

static void on_signal(int number)
{
    tell_run();
    fprintf(stderr, "fuzz_file: %s\n", number == SIGSEGV ? strsignal(number) : "takes too long");
    _exit(1);
}

static void touch(const void *data, uint64_t n)
{
    const uint8_t *bytes = data;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += bytes[i];
    touched += sum;
}

static enum strobe_err see_batch(void *context, const struct strobe_batch *batch)
{
    struct strobe_trace *trace = context;
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    for (uint32_t i = 0; i < batch->n_zones; i++) {
        const struct strobe_zone_row *zone = &batch->zones[i];
        uint64_t id;
        uint32_t loc = strobe_batch_loc(trace, batch, zone, &id);
        const char *name = strobe_trace_loc_name(trace, loc, id, room, &n);
        touch(name, n);
        touched +=
            (uint64_t)strobe_clock_rel(&trace->clock, zone->begin) + zone->ticks + zone->self;
        if (zone->note && batch->notes) {
            touch(batch->notes[zone->note - 1].text, batch->notes[zone->note - 1].n_text);
            touch(batch->notes[zone->note - 1].name, batch->notes[zone->note - 1].n_name);
        }
    }
    const char *name = strobe_trace_thread_name(trace, batch->thread, room, &n);
    touch(name, n);
    name = strobe_trace_process_name(trace, batch->process, room, &n);
    touch(name, n);
    return STROBE_OK;
}

static enum strobe_err see_event(void *context, const struct strobe_happening *happening)
{
    (void)context;
    touch(happening->stack, happening->n_stack * sizeof *happening->stack);
    for (unsigned i = 0; i < happening->event->n_fields; i++) {
        const struct strobe_field *field = &happening->event->fields[i];
        if (field->letter == 's')
            touch(field->text, field->u);
        else if (field->letter == 'a')
            touch(field->list, field->u * sizeof *field->list);
    }
    return STROBE_OK;
}

static void walk_all(struct strobe_trace *trace)
{
    struct strobe_walk walk = {.trace = trace,
                               .context = trace,
                               .zones = see_batch,
                               .happens = see_event,
                               .kinds = ~0ull,
                               .want_notes = 1,
                               .want_fibers = 1,
                               .want_spans = 1,
                               .want_open = 1,
                               .want_kinds = 1};
    strobe_walk_run(&walk);
    walk.by_tick = 1;
    walk.tick_min = walk.tick_first;
    walk.tick_max = walk.tick_first + (walk.tick_last - walk.tick_first) / 2;
    walk.want_fibers = walk.want_spans = 0;
    strobe_walk_run(&walk);
}

static void do_stats(struct strobe_trace *trace, struct strobe_stats_options options)
{
    struct strobe_stats stats;
    if (strobe_stats_run(trace, &options, &stats) == STROBE_OK)
        for (uint32_t i = 0; i < stats.n_rows; i++)
            touched += strobe_stats_std(&stats.rows[i]) + stats.rows[i].percentile[0];
    strobe_stats_free(&stats);
}

static void use_trace(const char *path, uint64_t choice)
{
    struct strobe_trace *trace;
    if (strobe_trace_open(path, choice & 1 ? STROBE_TRACE_NO_LOCS : 0, &trace))
        return;
    struct strobe_overview *overview = malloc(sizeof *overview);
    strobe_overview_run(trace, (int)(choice >> 1 & 1), NULL, overview);
    free(overview);
    walk_all(trace);
    do_stats(trace,
             (struct strobe_stats_options){.exact = choice >> 2 & 1, .spans = choice >> 3 & 1});
    do_stats(trace, (struct strobe_stats_options){.quick = 1});
    strobe_file_refresh(trace->file);
    struct strobe_coverage coverage;
    strobe_trace_coverage(trace, &coverage);
    strobe_trace_close(trace);
}

/* A mended file opens, is closed, and has what could be read of it before. */
static void mend(const char *path)
{
    struct strobe_recovery recovery;
    struct strobe_trace *trace;
    if (strobe_recover(path, "/nonexistent", NULL, &recovery))
        return;
    if (strobe_trace_open(path, 0, &trace) || !strobe_file_facts(trace->file)->closed) {
        tell_run();
        fprintf(stderr, "fuzz_file: a mended trace does not open\n");
        _exit(1);
    }
    walk_all(trace);
    strobe_trace_close(trace);
}

static void export(const char *path, uint64_t choice, uint64_t *state)
{
    for (int i = 0; i < 2; i++) {
        unsigned which = (unsigned)(choice >> (8 + 8 * i)) % drive_count();
        if (!strcmp(drive_name(which), "html") && mutate_random(state) % 16)
            continue; /* as large as the page, and it reads the file's bytes only */
        doing = drive_name(which);
        drive(which, path, mutate_random(state), sink, folder);
    }
    doing = "reading";
}

static void set_timers(int cpu_seconds, unsigned wall_seconds)
{
    const struct itimerval cpu = {.it_value.tv_sec = cpu_seconds};
    setitimer(ITIMER_PROF, &cpu, NULL);
    alarm(wall_seconds);
}

static void run_one(const struct mutate_bytes *seeds, int n_seeds, struct mutate_bytes *out)
{
    char path[64];
    uint64_t state = seed_number * 1000003 + run_number * 0x9e3779b97f4a7c15ull;
    const struct mutate_bytes *seed = &seeds[mutate_random(&state) % (uint64_t)n_seeds];
    const struct mutate_bytes *other = &seeds[mutate_random(&state) % (uint64_t)n_seeds];
    mutate_trace(seed, other, &state, out);
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, out->bytes, out->n) != (ssize_t)out->n) {
        perror("fuzz_file: memfd");
        exit(2);
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    set_timers(CPU_SECONDS, WALL_SECONDS);
    uint64_t choice = mutate_random(&state);
    use_trace(path, choice);
    export(path, choice, &state);
    if (choice >> 4 & 1)
        mend(path);
    set_timers(0, 0);
    close(fd);
}

static int read_seeds(const char *folder, struct mutate_bytes *seeds)
{
    struct dirent **names;
    int n = scandir(folder, &names, NULL, alphasort), n_seeds = 0;
    for (int i = 0; i < n; i++) {
        char path[1024];
        size_t length = strlen(names[i]->d_name);
        snprintf(path, sizeof path, "%s/%.255s", folder, names[i]->d_name);
        FILE *file = NULL;
        if (length > 7 && !strcmp(names[i]->d_name + length - 7, ".strobe") && n_seeds < MAX_SEEDS)
            file = fopen(path, "rb");
        if (file) {
            uint8_t part[65536];
            for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;)
                mutate_append(&seeds[n_seeds], part, got);
            fclose(file);
            n_seeds += seeds[n_seeds].n > 69632;
        }
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    return n_seeds;
}

int main(int argc, char **argv)
{
    static struct mutate_bytes seeds[MAX_SEEDS];
    struct mutate_bytes out = {0};
    if (argc < 4) {
        fprintf(stderr, "usage: fuzz_file SEEDS_DIR N_RUNS SEED [FIRST]\n");
        return 2;
    }
    int n_seeds = read_seeds(argv[1], seeds);
    if (!n_seeds) {
        fprintf(stderr, "fuzz_file: no traces in %s\n", argv[1]);
        return 2;
    }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const struct rlimit limit = {1u << 30, 1u << 30};
    setrlimit(RLIMIT_AS, &limit);
    signal(SIGSEGV, on_signal);
#endif
    signal(SIGALRM, on_signal);
    signal(SIGPROF, on_signal);
    sink = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (sink < 0 || !mkdtemp(folder)) {
        perror("fuzz_file");
        return 2;
    }
    seed_number = strtoull(argv[3], NULL, 10);
    uint64_t first = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
    uint64_t n_runs = strtoull(argv[2], NULL, 10);
    for (run_number = first; run_number < first + n_runs; run_number++)
        run_one(seeds, n_seeds, &out);
    rmdir(folder);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%llu damaged traces read, at most %ld MiB\n", (unsigned long long)n_runs,
           usage.ru_maxrss / 1024);
    for (int i = 0; i < n_seeds; i++)
        free(seeds[i].bytes);
    free(out.bytes);
    return 0;
}
