/* seeds.c - a harness of libFuzzer's kind without libFuzzer: every seed as it is, then damaged ones.
 *
 *   HARNESS SEEDS [RUNS [FIRST]]
 *
 * Run n depends on n alone, so a run that fails is repeated with RUNS 1 and FIRST n.
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "random.h"
#include "seeds.h"

/* What was freed is kept for a while by the sanitizer: little, or it would look like growth. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=16";
}

enum { INPUT_MAX = 1 << 18, SEEDS_MAX = 4096, MAX_GROWTH_KB = 256 << 10 };

static struct {
    uint8_t *bytes;
    size_t n;
} seeds[SEEDS_MAX];
static size_t n_seeds;

/* A copy of the file's bytes, as many as it has. */
static void load_file(FILE *file)
{
    static uint8_t bytes[INPUT_MAX];
    size_t n = fread(bytes, 1, INPUT_MAX, file);
    seeds[n_seeds].bytes = malloc(n + 1);
    seeds[n_seeds].n = n;
    memcpy(seeds[n_seeds++].bytes, bytes, n);
    fclose(file);
}

static void load(const char *folder)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        FILE *file = *entries[i]->d_name != '.' && n_seeds < SEEDS_MAX ? fopen(path, "rb") : NULL;
        if (file)
            load_file(file);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

static size_t damage(uint8_t *bytes, size_t n)
{
    size_t at = below(n), k = 1 + below(24);
    switch (below(6)) {
    case 0:
        bytes[at] ^= (uint8_t)(1 << below(8));
        return n;
    case 1:
        bytes[at] = (uint8_t)next_random();
        return n;
    case 2: /* take out */
        k = k < n - at ? k : n - at;
        memmove(bytes + at, bytes + at + k, n - at - k);
        return n - k;
    case 3: /* double */
        k = k < n - at ? k : n - at;
        if (n + k > INPUT_MAX)
            return n;
        memmove(bytes + at + k, bytes + at, n - at);
        return n + k;
    case 4: { /* a number at the edge of something */
        static const uint64_t edges[] = {0, ~0ull, 1ull << 63, 0xffff, 0x8000, 1ull << 32, 255};
        uint64_t edge = edges[below(7)];
        k = n - at < 8 ? n - at : 8;
        memcpy(bytes + at, &edge, k);
        return n;
    }
    default: { /* a piece of another seed */
        size_t other = below(n_seeds), from = below(seeds[other].n);
        k = 1 + below(200);
        k = k < seeds[other].n - from ? k : seeds[other].n - from;
        if (n + k > INPUT_MAX)
            return n;
        memmove(bytes + at + k, bytes + at, n - at);
        memcpy(bytes + at, seeds[other].bytes + from, k);
        return n + k;
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
    fuzz_vary(bytes, next_random());
    for (size_t i = 1 + below(6); i > 0 && n > 2; i--)
        n = damage(bytes, n);
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
    if (!n_seeds)
        return 2;
    for (size_t i = 0; i < n_seeds && !first; i++)
        LLVMFuzzerTestOneInput(seeds[i].bytes, seeds[i].n);
    long before = resident_kb();
    for (unsigned long long i = first; i < first + n_runs; i++) {
        if (i % 64 == 0) /* SIGPROF ends a run that hangs, by our own CPU time */
            setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {.tv_sec = 60}}, NULL);
        run(i);
    }
    long grown = resident_kb() - before;
    fuzz_done();
    for (size_t i = 0; i < n_seeds; i++)
        free(seeds[i].bytes);
    printf("%zu seeds, %llu runs, %+ld KB\n", n_seeds, n_runs, grown);
    return grown > MAX_GROWTH_KB;
}
