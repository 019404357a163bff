/* fuzz_report.c - runs the report's readers on damaged input.
 *
 *   fuzz_report [--runs N] [--first N] [--seed S] [--only RUN] SEEDS
 *
 * First every seed file as it is, then N damaged ones. Run n depends on S and n alone, so a run
 * that fails is repeated with --only, and a run of runs continued with --first. A crash is the
 * sanitizer's to find; here are checked: no run takes over two seconds, and memory does not grow
 * from run to run.  SPDX-License-Identifier: MIT
 */
#include "../../fuzz/random.h"
#include "report/csv.h"
#include "report/devops.h"
#include "report/host.h"
#include "report/json.h"
#include "report/op2op.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { INPUT_MAX = 1 << 16, SEEDS_MAX = 512, N_TARGETS = 4, MAX_GROWTH_KB = 512 * 1024 };

static const char *const targets[N_TARGETS] = {"csv", "messages", "json", "device"};

struct seed {
    char *bytes;
    size_t len;
    int target;
    char name[64];
};

static struct seed seeds[SEEDS_MAX];
static int n_seeds;
static unsigned long long run_now;
static unsigned long long checksum; /* so that no reading is optimised away */

/* ---- targets ---- */

static void fuzz_csv(const char *bytes, size_t len)
{
    static const char dialects[][2] = {{';', '`'}, {',', '"'}};
    for (int i = 0; i < 2; i++) {
        struct strobe_report_csv csv;
        if (!strobe_report_csv_open_memory(&csv, bytes, len, dialects[i][0], dialects[i][1]))
            while (!strobe_report_csv_next(&csv))
                for (int k = 0; k < csv.n_cells; k++)
                    checksum += csv.cells[k].len + (csv.cells[k].len ? csv.cells[k].at[0] : 0);
        strobe_report_csv_close(&csv);
    }
}

static void fuzz_messages(const char *bytes, size_t len)
{
    struct strobe_report_faults faults = {0};
    struct strobe_report_host host;
    struct strobe_report_csv csv;
    strobe_report_host_open(&host, &faults);
    if (!strobe_report_csv_open_memory(&csv, bytes, len, ';', '`'))
        while (!strobe_report_csv_next(&csv))
            strobe_report_host_message(&host, strobe_report_csv_cell(&csv, 0), (int64_t)csv.line,
                                       csv.line, csv.cut);
    strobe_report_host_resolve(&host);
    checksum += host.n_ops + strobe_report_faults_total(&faults);
    strobe_report_csv_close(&csv);
    strobe_report_host_close(&host);
    strobe_report_faults_free(&faults);
}

static void fuzz_json(const char *bytes, size_t len)
{
    static struct strobe_json_tree json;
    struct strobe_report_descs descs = {0};
    struct strobe_report_desc facts;
    struct strobe_out text = {0};
    uint32_t desc;
    if (!strobe_report_json_parse(&json, bytes, len)) {
        strobe_report_json_str(&json, 1, &text);
        if (!strobe_report_desc_from_json(&descs, &json, 1, &desc, &facts))
            checksum += descs.all[desc]->text.len;
    }
    checksum += text.len;
    strobe_out_free(&text);
    strobe_report_descs_free(&descs);
}

static void fuzz_device(const char *bytes, size_t len)
{
    struct strobe_report_faults faults = {0};
    struct strobe_report_log log;
    struct strobe_report_device_ops ops;
    struct strobe_report_counters counters = {0};
    struct strobe_report_op2op op2op = {0};
    strobe_report_log_open(&log, &faults);
    strobe_report_device_ops_open(&ops, &log);
    ops.counters = &counters;
    ops.op2op = &op2op;
    strobe_report_log_read_memory(&log, bytes, len, strobe_report_device_ops_take, &ops);
    strobe_report_device_ops_finish(&ops);
    uint32_t *order = strobe_report_device_ops_order(&ops);
    checksum += ops.n + log.n_rows + op2op.n + (ops.n ? order[0] : 0);
    free(order);
    strobe_report_counters_free(&counters);
    strobe_report_op2op_free(&op2op);
    strobe_report_device_ops_close(&ops);
    strobe_report_log_close(&log);
    strobe_report_faults_free(&faults);
}

static void run_target(int target, const char *bytes, size_t len)
{
    static void (*const functions[N_TARGETS])(const char *, size_t) = {fuzz_csv, fuzz_messages,
                                                                       fuzz_json, fuzz_device};
    char *exact = malloc(len ? len : 1); /* so that a byte too far is seen */
    memcpy(exact, bytes, len);
    functions[target](exact, len);
    free(exact);
}

/* ---- damage ---- */

static size_t mutate_once(char *bytes, size_t len, int target)
{
    static const char sharp[] = "`;,\"'\n\r{}[]:\\->0123456789 eE.+-\t\0\x7f\xff";
    size_t at = below(len), n = 1 + below(16);
    switch (below(8)) {
    case 0:
        if (len)
            bytes[at] ^= (char)(1 << below(8));
        return len;
    case 1:
        if (len)
            bytes[at] = sharp[below(sizeof sharp)];
        return len;
    case 2: /* take out */
        n = n > len - at ? len - at : n;
        memmove(bytes + at, bytes + at + n, len - at - n);
        return len - n;
    case 3: /* put in */
        if (len + 1 > INPUT_MAX)
            return len;
        memmove(bytes + at + 1, bytes + at, len - at);
        bytes[at] = sharp[below(sizeof sharp)];
        return len + 1;
    case 4: /* cut */
        return at;
    case 5: /* double */
        n = 1 + below(200);
        n = n > len - at ? len - at : n;
        if (len + n > INPUT_MAX)
            return len;
        memmove(bytes + at + n, bytes + at, len - at);
        return len + n;
    case 6: { /* a piece of another seed */
        const struct seed *other = &seeds[below((size_t)n_seeds)];
        size_t from = below(other->len);
        n = 1 + below(64);
        n = n > other->len - from ? other->len - from : n;
        if (other->target != target || len + n > INPUT_MAX)
            return len;
        memmove(bytes + at + n, bytes + at, len - at);
        memcpy(bytes + at, other->bytes + from, n);
        return len + n;
    }
    default: /* another number */
        while (at < len && (bytes[at] < '0' || bytes[at] > '9'))
            at++;
        if (at < len)
            bytes[at] = (char)('0' + below(10));
        return len;
    }
}

static void fuzz_one(unsigned long long run, uint64_t seed)
{
    static char bytes[INPUT_MAX + 256];
    random_state =
        (run + 1) * 0x9e3779b97f4a7c15u ^ seed * 0xbf58476d1ce4e5b9u ^ 0x94d049bb133111ebu;
    if (!random_state)
        random_state = 1;
    for (int i = 0; i < 4; i++)
        next_random();
    const struct seed *from = &seeds[below((size_t)n_seeds)];
    size_t len = from->len;
    memcpy(bytes, from->bytes, len);
    for (size_t i = 1 + below(6); i > 0; i--)
        len = mutate_once(bytes, len, from->target);
    run_target(from->target, bytes, len);
}

/* ---- the program ---- */

static void load_seeds(const char *folder)
{
    char path[4096];
    for (int target = 0; target < N_TARGETS; target++) {
        snprintf(path, sizeof path, "%s/%s", folder, targets[target]);
        struct dirent **entries;
        int n = scandir(path, &entries, NULL, alphasort); /* sorted: a run is the same everywhere */
        for (int i = 0; i < n; i++) {
            snprintf(path, sizeof path, "%s/%s/%s", folder, targets[target], entries[i]->d_name);
            FILE *file =
                entries[i]->d_name[0] != '.' && n_seeds < SEEDS_MAX ? fopen(path, "rb") : NULL;
            if (file) {
                struct seed *seed = &seeds[n_seeds++];
                seed->bytes = malloc(INPUT_MAX);
                seed->len = fread(seed->bytes, 1, INPUT_MAX, file);
                seed->target = target;
                snprintf(seed->name, sizeof seed->name, "%s/%.40s", targets[target],
                         entries[i]->d_name);
                fclose(file);
            }
            free(entries[i]);
        }
        if (n >= 0)
            free(entries);
    }
}

static void tell(int signal_number)
{
    char text[160];
    int len = snprintf(text, sizeof text, "fuzz_report: run %llu %s; repeat it with --only %llu\n",
                       run_now, signal_number == SIGPROF ? "hangs" : "crashed", run_now);
    if (write(2, text, (size_t)len) < 0 || signal_number)
        _exit(1);
}

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));
static void tell_death(void)
{
    tell(0);
}

static long resident_kb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* SIGPROF after so many seconds of our own CPU time: a busy machine is no hang. */
static void set_limit(int seconds)
{
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {.tv_sec = seconds}}, NULL);
}

static void run_all(unsigned long long first, unsigned long long n_runs, uint64_t seed)
{
    for (int i = 0; i < n_seeds; i++) {
        set_limit(20);
        run_target(seeds[i].target, seeds[i].bytes, seeds[i].len);
    }
    for (run_now = first; run_now < n_runs; run_now++) {
        if (run_now % 64 == 0)
            set_limit(20); /* for 64 runs: each takes microseconds */
        fuzz_one(run_now, seed);
    }
    set_limit(0);
}

int main(int argc, char **argv)
{
    unsigned long long n_runs = 100000, first = 0, only = ~0ull;
    uint64_t seed = 1;
    const char *folder = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--runs") && i + 1 < argc)
            n_runs = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--first") && i + 1 < argc)
            first = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
            seed = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--only") && i + 1 < argc)
            only = strtoull(argv[++i], NULL, 10);
        else
            folder = argv[i];
    }
    if (folder)
        load_seeds(folder);
    if (!n_seeds) {
        fprintf(stderr,
                "usage: fuzz_report [--runs N] [--first N] [--seed S] [--only RUN] SEEDS\n");
        return 2;
    }
    signal(SIGPROF, tell);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(tell_death);
    if (only != ~0ull) {
        run_now = only;
        fuzz_one(only, seed);
        return 0;
    }
    double begin = seconds_now();
    run_all(0, n_runs / 10, seed);
    long before = resident_kb();
    run_all(first, n_runs, seed);
    long after = resident_kb();
    printf(
        "%d seeds, %llu runs, %.1f s, %ld KB resident (%+ld KB since the first tenth), sum %llu\n",
        n_seeds, n_runs, seconds_now() - begin, after, after - before, checksum);
    return after - before > MAX_GROWTH_KB;
}
