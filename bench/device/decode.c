/* decode.c - how fast device words become zones, on one core and in CPU time, beside a plain read of the same
 * memory in the same run. Prints M zones per second and the ratio, and for bench/device.py ns per zone; exits 1 where a bar is missed and
 * `bars` is an argument.
 *   bench_device_decode [MiB of words] [rounds] [bars]
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/classic.h"
#include "device/stream.h"

static uint64_t zones_seen, check;

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void on_zones(void *context, const struct strobe_device_lane *lane,
                     const struct strobe_device_zone *zones, size_t n_zones)
{
    (void)context, (void)lane;
    zones_seen += n_zones;
    check += zones[n_zones - 1].end;
}

/* Frames of five dense lanes: 218 S zones each behind one M zone. */
static size_t fill_stream(uint32_t *words, size_t n_words, int m_zones)
{
    enum { RUN = 440, FRAME = 24 + 5 * RUN };
    size_t at = 0, frame_words = (FRAME + 15) / 16 * 16;
    uint32_t n = 0;
    for (; at + frame_words <= n_words; at += frame_words, n++) {
        uint32_t *frame = words + at, core = n % 64;
        memset(frame, 0, 4 * frame_words);
        frame[0] = STROBE_ST_WORD(STROBE_ST_FRAME, 0);
        frame[1] = FRAME - 8;
        frame[7] = (core / 8) << 16 | core % 8;
        for (uint32_t risc = 0; risc < 5; risc++) {
            uint32_t *run = frame + 24 + risc * RUN, i = 0;
            frame[2 + risc] = (n / 64) * RUN;
            frame[16 + risc] = (n / 64 + 1) * RUN;
            run[i++] = STROBE_ST_WORD(STROBE_ST_PROGRAM, n);
            run[i++] = STROBE_ST_WORD(STROBE_ST_ZONE_M, 7);
            run[i++] = n * 65536;
            run[i++] = 20;
            for (; i + 3 <= RUN && m_zones; i += 3) {
                run[i] = STROBE_ST_WORD(STROBE_ST_ZONE_M, i);
                run[i + 1] = n * 65536 + i;
                run[i + 2] = i & 15;
            }
            for (; i + 2 <= RUN; i += 2) {
                run[i] = STROBE_ST_WORD(STROBE_ST_ZONE_S, i & 255);
                run[i + 1] = (i & 127) << 16 | (i & 63);
            }
            if (i < RUN)
                run[i] = STROBE_ST_WORD(STROBE_ST_PROGRAM, n);
        }
    }
    return at;
}

static size_t fill_classic(uint32_t *words, size_t n_words, int nested)
{
    size_t at = 0;
    uint32_t n = 0;
    for (; at + 512 <= n_words; at += 512, n++) {
        uint32_t *run = words + at, time = n * 4096, i = 12;
        memset(run, 0, 48);
        run[2] = 1 << 5;
        run[3] = n + 1;
        for (uint32_t k = 0; k < 4; k++) {
            run[4 + 2 * k] = STROBE_CM_H(k & 1, 100 + k / 2, 0);
            run[5 + 2 * k] = time + k;
        }
        while (i + 8 <= 512) {
            static const uint8_t shapes[2][4] = {{0, 1, 0, 1}, {0, 0, 1, 1}};
            static const uint8_t ids[2][4] = {{1, 1, 2, 2}, {1, 2, 2, 1}};
            for (uint32_t k = 0; k < 4; k++, i += 2) {
                run[i] = STROBE_CM_H(shapes[nested][k], ids[nested][k], 0);
                run[i + 1] = time += 13;
            }
        }
        while (i < 512)
            run[i] = STROBE_CM_PAD_H, run[i + 1] = 0, i += 2;
    }
    return at;
}

static double run_stream(const uint32_t *words, size_t n_words, int scalar)
{
    struct strobe_device_calls calls = {.zones = on_zones};
    struct strobe_device_stream_options options = {.scalar = scalar};
    struct strobe_device_stream *stream;
    size_t used;
    if (strobe_device_stream_open(&calls, &options, &stream))
        exit(1);
    double start = cpu_s();
    strobe_device_stream_feed(stream, words, n_words, &used);
    double took = cpu_s() - start;
    strobe_device_stream_close(stream);
    return took;
}

static double run_classic(const uint32_t *words, size_t n_words)
{
    static struct strobe_device_zone zones[8192];
    struct strobe_device_pairs pairs = {0};
    size_t at = 0, used;
    double start = cpu_s();
    while (at < n_words) {
        size_t n =
            strobe_device_classic_zones(&pairs, words + at, n_words - at, &used, zones, 8192);
        zones_seen += n;
        check += n ? zones[n - 1].end : 0;
        at += used;
    }
    return cpu_s() - start;
}

static double run_read(const uint32_t *words, size_t n_words)
{
    uint64_t sum = 0;
    double start = cpu_s();
    for (size_t i = 0; i + 16 <= n_words; i += 16) /* a word of every line */
        sum += words[i];
    check += sum;
    __asm__ volatile("" ::"r"(sum));
    return cpu_s() - start;
}

struct contest {
    const char *name, *key;
    int kind; /* 0 streaming, 1 classic */
    int variant, scalar;
    double bar; /* M zones/s */
};

static int measure(const struct contest *one, uint32_t *words, size_t n_words, int rounds,
                   char *json, size_t room)
{
    double best = 0, ratio = 0, read_ns = 0;
    n_words = one->kind ? fill_classic(words, n_words, one->variant)
                        : fill_stream(words, n_words, one->variant);
    for (int i = 0; i < rounds; i++) {
        zones_seen = 0;
        double read = run_read(words, n_words);
        double took =
            one->kind ? run_classic(words, n_words) : run_stream(words, n_words, one->scalar);
        double speed = 1e-6 * (double)zones_seen / took;
        if (speed > best) {
            best = speed;
            ratio = took / read;
            read_ns = 1e9 * read / (double)zones_seen;
        }
    }
    printf("%-34s %7.0f M zones/s  %5.2f x a plain read", one->name, best, ratio);
    if (one->bar)
        printf("  bar %.0f %s", one->bar, best >= one->bar ? "met" : "MISSED");
    printf("\n");
    size_t n = strlen(json);
    snprintf(json + n, room - n, "%s\"%s_ns\": %.4f", n ? ", " : "", one->key, 1e3 / best);
    n = strlen(json);
    if (!strcmp(one->key, "vectors"))
        snprintf(json + n, room - n, ", \"read_ns\": %.4f", read_ns);
    return one->bar && best < one->bar;
}

int main(int argc, char **argv)
{
    static const struct contest contests[] = {
        {"streaming, S zones, scalar", "scalar", 0, 0, 1, 300},
        {"streaming, S zones, vectors", "vectors", 0, 0, 0, 600},
        {"streaming, M zones", "timed", 0, 1, 0, 0},
        {"classic, pairs", "classic", 1, 0, 0, 250},
        {"classic, nested pairs", "nested", 1, 1, 0, 0},
    };
    size_t n_bytes = (argc > 1 ? strtoul(argv[1], NULL, 10) : 256) << 20;
    int rounds = argc > 2 ? atoi(argv[2]) : 7, missed = 0;
    char json[512] = "";
    uint32_t *words = aligned_alloc(64, n_bytes);
    if (!words)
        return 1;
    for (size_t i = 0; i < sizeof contests / sizeof contests[0]; i++)
        missed |= measure(&contests[i], words, n_bytes / 4, rounds, json, sizeof json);
    printf("BENCH {%s}\n", json);
    fprintf(stderr, "check %llu\n", (unsigned long long)check);
    free(words);
    return argc > 3 && missed;
}
