/* seeds.c - a harness of libFuzzer's kind without libFuzzer: every seed as it is, then damaged ones.
 *
 *   HARNESS SEEDS [RUNS [FIRST]]   SEEDS: a file, or a folder and those in it
 *
 * Run n depends on n alone, so a run that fails is repeated with RUNS 1 and FIRST n.
 * SPDX-License-Identifier: MIT */
#include "seeds.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "random.h"

/* What was freed is kept for a while by the sanitizer: little, or it would look like growth. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=16:max_allocation_size_mb=512:allocator_may_return_null=1:"
           "detect_stack_use_after_return=0";
}

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

enum { INPUT_MAX = 1 << 18, SEEDS_MAX = 4096, MAX_GROWTH_KB = 256 << 10 };

static struct {
    uint8_t *bytes;
    size_t n;
} seeds[SEEDS_MAX];
static size_t n_seeds;
static unsigned long long run_now;

static void say_run(void)
{
    dprintf(2, "in run %llu; again with RUNS 1 and FIRST %llu\n", run_now, run_now);
}

static void load(const char *path)
{
    static uint8_t bytes[INPUT_MAX];
    struct stat st;
    struct dirent **entries;
    if (stat(path, &st))
        return;
    if (S_ISDIR(st.st_mode)) {
        int n = scandir(path, &entries, NULL, alphasort);
        for (int i = 0; i < n; i++) {
            char below[4096];
            snprintf(below, sizeof below, "%s/%s", path, entries[i]->d_name);
            if (*entries[i]->d_name != '.')
                load(below);
            free(entries[i]);
        }
        if (n >= 0)
            free(entries);
        return;
    }
    FILE *file = n_seeds < SEEDS_MAX ? fopen(path, "rb") : NULL;
    if (!file)
        return;
    size_t n = fread(bytes, 1, INPUT_MAX, file);
    seeds[n_seeds].bytes = malloc(n + 1);
    seeds[n_seeds].n = n;
    memcpy(seeds[n_seeds++].bytes, bytes, n);
    fclose(file);
}

/* Put k bytes in at `at`. */
static size_t put_in(uint8_t *bytes, size_t n, size_t room, size_t at, const uint8_t *from,
                     size_t k)
{
    if (n + k > room)
        return n;
    memmove(bytes + at + k, bytes + at, n - at);
    memmove(bytes + at, from, k);
    return n + k;
}

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t n, size_t room)
{
    size_t at = below(n), k = 1 + below(24);
    if (n < 2)
        return n;
    k = k < n - at ? k : n - at;
    switch (below(6)) {
    case 0:
        bytes[at] ^= (uint8_t)(1 << below(8));
        return n;
    case 1:
        bytes[at] = (uint8_t)next_random();
        return n;
    case 2: /* take out */
        memmove(bytes + at, bytes + at + k, n - at - k);
        return n - k;
    case 3: { /* double */
        uint8_t copy[24];
        memcpy(copy, bytes + at, k);
        return put_in(bytes, n, room, at, copy, k);
    }
    case 4: { /* an edge */
        static const uint64_t edges[] = {0,          1,     0x7fffffff, 0x80000000,
                                         0xffffffff, ~0ull, 1ull << 63};
        memcpy(bytes + at, &edges[below(7)], k < 8 ? k : 8);
        return n;
    }
    default: { /* a piece of another seed */
        size_t other = below(n_seeds), from = below(seeds[other].n);
        k = 1 + below(200);
        k = k < seeds[other].n - from ? k : seeds[other].n - from;
        return put_in(bytes, n, room, at, seeds[other].bytes + from, k);
    }
    }
}

static void run(unsigned long long number)
{
    static uint8_t bytes[INPUT_MAX];
    random_state = (number + 1) * 0x9e3779b97f4a7c15ull;
    for (int i = 0; i < 4; i++)
        next_random();
    size_t seed = below(n_seeds), n = seeds[seed].n;
    memcpy(bytes, seeds[seed].bytes, n);
    if (LLVMFuzzerCustomMutator) {
        n = LLVMFuzzerCustomMutator(bytes, n, INPUT_MAX, (unsigned)next_random());
    } else {
        for (size_t i = 1 + below(6); i > 0; i--)
            n = LLVMFuzzerMutate(bytes, n, INPUT_MAX);
    }
    LLVMFuzzerTestOneInput(bytes, n);
}

static long resident_kb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

int main(int argc, char **argv)
{
    unsigned long long n_runs = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    unsigned long long first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    if (argc > 1)
        load(argv[1]);
    if (!n_seeds) {
        fprintf(stderr, "usage: %s SEEDS [RUNS [FIRST]]\n", argv[0]);
        return 2;
    }
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(say_run);
    for (size_t i = 0; i < n_seeds && !first; i++)
        LLVMFuzzerTestOneInput(seeds[i].bytes, seeds[i].n);
    long before = resident_kb();
    for (run_now = first; run_now < first + n_runs; run_now++) {
        if (run_now % 64 == 0) /* SIGPROF ends a run that hangs, by our own CPU time */
            setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {.tv_sec = 60}}, NULL);
        run(run_now);
    }
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
    long grown = resident_kb() - before;
    for (size_t i = 0; i < n_seeds; i++)
        free(seeds[i].bytes);
    printf("%zu seeds, %llu runs, %+ld KB\n", n_seeds, n_runs, grown);
    return grown > MAX_GROWTH_KB;
}
