/* fuzz_tracy_file.c - damaged .tracy files are read without harm: no crash, no hang, bounded memory.
 *
 *   libFuzzer:   clang -fsanitize=fuzzer,address -DSTROBE_LIBFUZZER ...   (tests/tracy_files/fuzz/build.sh)
 *   by itself:   fuzz_tracy_file SEEDS [RUNS [FIRST]]   every seed, then RUNS damaged ones
 *
 * The first byte of an input says what the rest is: an even one, content without its container (so that
 * damage gets past the compression); an odd one, a whole file. All that a visitor may be told is taken,
 * and the import is run into a sink that writes to /dev/null where bit 1 is set.
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tracy/content.h"
#include "tracy/import_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static uint64_t sum; /* so that reading is not optimised away */

static void touch(struct strobe_tracy_text text)
{
    for (uint32_t i = 0; i < text.n; i += 61)
        sum += (uint8_t)text.at[i];
}

static enum strobe_err take_lock(void *context, const struct strobe_tracy_lock *lock)
{
    (void)context;
    touch(lock->name);
    return STROBE_OK;
}

static enum strobe_err take_zone(void *context, struct strobe_tracy_zone *stack, uint32_t depth)
{
    struct strobe_tracy_content *content = context;
    struct strobe_tracy_extra extra;
    touch(strobe_tracy_loc_name(content, stack[depth].loc));
    if (strobe_tracy_extra(content, stack[depth].extra, &extra)) {
        touch(extra.text);
        touch(extra.name);
    }
    return STROBE_OK;
}

static enum strobe_err take_message(void *context, const struct strobe_tracy_message *message)
{
    (void)context;
    touch(message->text);
    return STROBE_OK;
}

static enum strobe_err take_image(void *context, uint16_t width, uint16_t height, uint8_t flip,
                                  const uint8_t *dxt1, uint32_t n_bytes)
{
    (void)context, (void)width, (void)height;
    sum += flip + (n_bytes ? dxt1[n_bytes - 1] : 0u);
    return STROBE_OK;
}

static void open_bytes(const uint8_t *data, size_t n, int is_file, struct strobe_tracy_bytes *in)
{
    if (!is_file)
        strobe_tracy_bytes_over(data, n, in);
    else if (strobe_tracy_bytes_over_file(data, n, in))
        strobe_tracy_bytes_over(data, 0, in);
}

static void walk(const uint8_t *data, size_t n, int is_file)
{
    struct strobe_tracy_content content = {0};
    struct strobe_tracy_visitor visitor = {.context = &content,
                                           .lock = take_lock,
                                           .zone_end = take_zone,
                                           .message = take_message,
                                           .image = take_image};
    open_bytes(data, n, is_file, &content.in);
    strobe_tracy_walk(&content, &visitor);
    strobe_tracy_bytes_close(&content.in);
    strobe_tracy_content_close(&content);
}

#ifndef STROBE_FUZZ_WALK
/* As strobe_tracy_import, from memory. */
static void import(const uint8_t *data, size_t n, int is_file)
{
    struct strobe_tracy_import result;
    static char trace[64];
    if (!trace[0])
        snprintf(trace, sizeof trace, "/dev/shm/strobe-fuzz-%d.strobe", (int)getpid());
    strobe_tracy_import_bytes(data, n, is_file, trace, &result);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 2)
        return 0;
    walk(data + 1, n - 1, data[0] & 1);
#ifndef STROBE_FUZZ_WALK
    if (data[0] & 2)
        import(data + 1, n - 1, data[0] & 1);
#endif
    return 0;
}

#ifndef STROBE_LIBFUZZER
enum { INPUT_MAX = 1 << 18, SEEDS_MAX = 1024, MAX_GROWTH_KB = 512 << 10 };

static struct {
    uint8_t *bytes;
    size_t n;
} seeds[SEEDS_MAX];
static size_t n_seeds;
static uint64_t random_state;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static size_t below(size_t n)
{
    return n ? next_random() % n : 0;
}

static void load(const char *folder)
{
    char path[4096];
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir)) && n_seeds < SEEDS_MAX;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = fopen(path, "rb");
        if (!file)
            continue;
        seeds[n_seeds].bytes = malloc(INPUT_MAX);
        seeds[n_seeds].n = fread(seeds[n_seeds].bytes, 1, INPUT_MAX, file);
        n_seeds++;
        fclose(file);
    }
    if (dir)
        closedir(dir);
}

/* A few bytes changed, a number made huge, a piece cut out or doubled. */
static size_t damage(uint8_t *bytes, size_t n)
{
    static const uint64_t evil[] = {0,          1,          255,        65535,
                                    1ull << 31, UINT32_MAX, 1ull << 63, UINT64_MAX};
    for (size_t times = 1 + below(4); times && n > 16; times--) {
        size_t at = 1 + below(n - 9), length = 1 + below(64);
        switch (below(5)) {
        case 0:
            bytes[at] ^= (uint8_t)(1u << below(8));
            break;
        case 1:
            bytes[at] = (uint8_t)next_random();
            break;
        case 2:
            memcpy(bytes + at, &evil[below(8)], below(2) ? 8 : 4);
            break;
        case 3:
            n = 1 + at;
            break;
        default:
            if (at + 2 * length < n)
                memmove(bytes + at, bytes + at + length, n - at - length), n -= length;
        }
    }
    return n;
}

static void run(uint64_t number, uint8_t *room)
{
    random_state = (number + 1) * 0x9e3779b97f4a7c15ull;
    size_t i = below(n_seeds);
    memcpy(room, seeds[i].bytes, seeds[i].n);
    if (below(4))
        room[0] &= (uint8_t)~2u; /* the import is slower: a quarter of the runs */
    LLVMFuzzerTestOneInput(room, damage(room, seeds[i].n));
}

int main(int argc, char **argv)
{
    struct rusage before, after;
    uint8_t *room = malloc(INPUT_MAX);
    uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    if (argc < 2 || !room)
        return 2;
    load(argv[1]);
    if (!n_seeds)
        return 2;
    for (size_t i = 0; i < n_seeds; i++)
        LLVMFuzzerTestOneInput(seeds[i].bytes, seeds[i].n);
    getrusage(RUSAGE_SELF, &before);
    for (uint64_t i = 0; i < n; i++) {
        alarm(20); /* a hang is a failure */
        run(first + i, room);
    }
    getrusage(RUSAGE_SELF, &after);
    char trace[64];
    snprintf(trace, sizeof trace, "/dev/shm/strobe-fuzz-%d.strobe", (int)getpid());
    unlink(trace);
    for (size_t i = 0; i < n_seeds; i++)
        free(seeds[i].bytes);
    free(room);
    printf("%zu seeds, %llu runs, memory grew by %ld KiB\n", n_seeds, (unsigned long long)n,
           after.ru_maxrss - before.ru_maxrss);
    return after.ru_maxrss - before.ru_maxrss > MAX_GROWTH_KB;
}
#endif
