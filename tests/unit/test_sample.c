/* test_sample.c - mappings, clocks, records and losses of the sampler. Stacks: tests/sample/judge.c.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sample/cfi.h"
#include "sample/clock.h"
#include "sample/perf.h"

static void a_newer_mapping_takes_the_place_of_what_it_covers(void **state)
{
    struct strobe_maps maps = {0};
    (void)state;
    assert_int_equal(strobe_maps_add(&maps, (struct strobe_mapping){.start = 100, .end = 200}), 0);
    assert_int_equal(
        strobe_maps_add(&maps, (struct strobe_mapping){.start = 140, .end = 160, .offset = 7}), 0);
    assert_int_equal(maps.n, 3);
    assert_int_equal(strobe_maps_find(&maps, 139)->offset, 0);
    assert_int_equal(strobe_maps_find(&maps, 140)->offset, 7);
    assert_int_equal(strobe_maps_find(&maps, 160)->offset, 60); /* as far into its file as before */
    assert_null(strobe_maps_find(&maps, 99));
    assert_null(strobe_maps_find(&maps, 200));
    assert_int_equal(strobe_maps_add(&maps, (struct strobe_mapping){.start = 50, .end = 300}), 0);
    assert_int_equal(maps.n, 1);
    strobe_maps_free(&maps);
}

/* Against a plain table of bytes. */
static void mappings_are_those_that_were_added_last(void **state)
{
    enum { SPAN = 300, ROUNDS = 2000 };
    struct strobe_maps maps = {0};
    uint32_t last[SPAN] = {0};
    unsigned seed = 1;
    (void)state;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        uint64_t start = (uint64_t)rand_r(&seed) % SPAN;
        uint64_t end = start + (uint64_t)rand_r(&seed) % (SPAN - start) + 1;
        struct strobe_mapping mapping = {
            .start = start, .end = end, .offset = round * 1000ull + start};
        assert_int_equal(strobe_maps_add(&maps, mapping), 0);
        for (uint64_t i = start; i < end; i++)
            last[i] = round;
        for (uint64_t i = 0; i < SPAN; i++) {
            struct strobe_mapping *found = strobe_maps_find(&maps, i);
            assert_int_equal(found ? (found->offset - found->start) / 1000 : 0, last[i]);
        }
    }
    strobe_maps_free(&maps);
}

static void times_between_two_readings_are_on_their_line(void **state)
{
    struct strobe_sample_clock clock = {0};
    (void)state;
    for (uint64_t i = 1; i < 200; i++) /* more than it keeps */
        strobe_sample_clock_add(&clock, i * 1000, 7000 + i * 2500);
    assert_int_equal(strobe_sample_clock_tick(&clock, 190400), 7000 + 476000);
    assert_int_equal(strobe_sample_clock_tick(&clock, 150000), 7000 + 375000);
    assert_int_equal(strobe_sample_clock_tick(&clock, 210000), 7000 + 525000); /* behind the last */
    strobe_sample_clock_add(&clock, 100, 1);                                   /* back: left out */
    assert_int_equal(strobe_sample_clock_tick(&clock, 198500), 7000 + 496250);
}

static void both_clocks_agree_within_the_error_that_is_told(void **state)
{
    struct strobe_sample_clock clock = {0};
    (void)state;
    for (int i = 0; i < 5; i++) {
        strobe_sample_clock_read(&clock);
        usleep(2000);
    }
    const struct strobe_sample_reading *middle = &clock.readings[2];
    assert_true(clock.n == 5 && clock.error_ns > 0);
    assert_int_equal(strobe_sample_clock_tick(&clock, middle->raw_ns), middle->tick);
}

static void a_grain_is_at_most_sixteen_nanoseconds(void **state)
{
    static const struct {
        uint64_t ticks_of_1000_ns, grain;
    } rows[] = {{1000, 16}, {2450, 32}, {3999, 32}, {4000, 64}, {24, 1}, {62, 1}, {125, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct strobe_sample_clock clock = {0};
        strobe_sample_clock_add(&clock, 5000, 1);
        assert_int_equal(clock.grain, 0);
        strobe_sample_clock_add(&clock, 5000 + 1000000, 1 + 1000 * rows[i].ticks_of_1000_ns);
        assert_int_equal(clock.grain, rows[i].grain);
    }
}

static bool is_same_row(const struct strobe_cfi_row *a, const struct strobe_cfi_row *b)
{
    return a->kind == b->kind && a->reg == b->reg && a->cfa_offset == b->cfa_offset &&
           a->bp == b->bp && a->bp_offset == b->bp_offset && a->bx == b->bx;
}

/* One file as two, in turns: each takes parts of the other's place. */
static void rows_are_the_same_from_kept_pages_and_in_all_of_their_span(void **state)
{
    enum { ROWS = 4000 };
    static struct strobe_cfi_pages pages;
    static uint8_t scratch[STROBE_CFI_SCRATCH];
    struct strobe_cfi_file kept[2], plain[2];
    unsigned seed = 1, n_rows = 0, n_wide = 0;
    (void)state;
    for (int i = 0; i < 2; i++) {
        int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        struct strobe_cfi_source source = {.fd = fd};
        assert_true(strobe_cfi_open(&plain[i], source, scratch));
        source.pages = &pages;
        assert_true(strobe_cfi_open(&kept[i], source, scratch));
    }
    assert_true(kept[0].source.number && kept[0].source.number != kept[1].source.number);
    const struct strobe_cfi_segment *code = plain[0].segments;
    while (!code->is_exec)
        code++;
    for (int i = 0; i < ROWS; i++) {
        struct strobe_cfi_row a, b, c;
        struct strobe_cfi_span span;
        uint64_t vaddr = code->vaddr + (uint64_t)rand_r(&seed) % code->n_bytes;
        bool has_row = strobe_cfi_row(&plain[i % 2], vaddr, &a, NULL);
        assert_int_equal(strobe_cfi_row(&kept[i % 2], vaddr, &b, &span), has_row);
        if (!has_row)
            continue;
        assert_true(is_same_row(&a, &b) && vaddr >= span.low && vaddr < span.high);
        assert_true(strobe_cfi_row(&plain[0], span.low, &c, NULL) && is_same_row(&a, &c));
        assert_true(strobe_cfi_row(&plain[0], span.high - 1, &c, NULL) && is_same_row(&a, &c));
        n_rows++;
        n_wide += span.high - span.low >= 64;
    }
    assert_true(!plain[0].n_fdes || (n_rows > ROWS / 2 && n_wide > 0)); /* rows: x86-64 */
    for (int i = 0; i < 2; i++)
        close(plain[i].source.fd);
}

static void a_stack_is_joined_at_the_frame_that_both_have(void **state)
{
    static struct strobe_unwind_stack now, before;
    (void)state;
    now = (struct strobe_unwind_stack){.addresses = {1, 2, 3}, .sps = {10, 20, 30}, .n = 3};
    before =
        (struct strobe_unwind_stack){.addresses = {9, 3, 4, 5}, .sps = {25, 30, 40, 50}, .n = 4};
    assert_true(strobe_unwind_join(&now, &before));
    assert_int_equal(now.n, 5);
    assert_int_equal(now.addresses[4], 5);
    now.n = 2; /* the frame is not in the one before */
    assert_false(strobe_unwind_join(&now, &before));
    assert_int_equal(now.n, 2);
}

static void records_that_are_cut_or_too_long_are_refused(void **state)
{
    _Alignas(8) uint8_t bytes[64] = {0};
    struct perf_event_header head = {.type = PERF_RECORD_SWITCH, .size = 32};
    struct strobe_perf_shape shape = {.has_stack = true};
    struct strobe_perf_record record;
    (void)state;
    memcpy(bytes, &head, sizeof head);
    assert_true(strobe_perf_record_read(bytes, 32, &shape, &record));
    assert_int_equal(record.what, STROBE_PERF_SWITCH);
    assert_false(strobe_perf_record_read(bytes, 24, &shape, &record));
    assert_false(strobe_perf_record_read(bytes, 40, &shape, &record));
    head = (struct perf_event_header){.type = PERF_RECORD_SAMPLE, .size = 48};
    memcpy(bytes, &head, sizeof head);
    memset(bytes + 32, 0xff, 8); /* registers, of which there are none */
    assert_false(strobe_perf_record_read(bytes, 48, &shape, &record));
}

/* Burn CPU time when told to. */
static pid_t start_burner(int go[2])
{
    assert_int_equal(pipe(go), 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        if (read(go[0], &byte, 1) != 1)
            _exit(1);
        while (clock() < CLOCKS_PER_SEC / 2)
            ;
        _exit(0);
    }
    return child;
}

enum { BURNER_HZ = 4000 };

/* Sample a burner without reading meanwhile: samples and losses, by its CPU time times the rate. Below 0: the kernel does not say. */
static double share_of_burner(void)
{
    int go[2], error;
    struct strobe_perf *perf = NULL;
    struct strobe_perf_record record;
    struct rusage used;
    uint64_t n = 0;
    pid_t child = start_burner(go);
    struct strobe_perf_options options = {
        .hz = BURNER_HZ, .pid = (uint32_t)child, .is_running = true, .ring_bytes = 64 << 10};
    enum strobe_err err = strobe_perf_open(&options, &perf, &error);
    assert_int_equal(write(go[1], "g", 1), 1);
    assert_int_equal(wait4(child, NULL, 0, &used), child);
    close(go[0]);
    close(go[1]);
    if (err && (error == EACCES || error == EPERM))
        return -1;
    assert_int_equal(err, STROBE_OK);
    strobe_perf_begin_round(perf);
    while (strobe_perf_next(perf, UINT64_MAX, &record))
        n += record.what == STROBE_PERF_SAMPLE;
    strobe_perf_end_round(perf);
    uint64_t n_lost = strobe_perf_n_lost(perf, STROBE_PERF_CLOCK);
    bool is_exact = strobe_perf_access(perf)->has_lost;
    double seconds = (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6 +
                     (double)used.ru_stime.tv_sec + (double)used.ru_stime.tv_usec / 1e6;
    strobe_perf_close(perf);
    if (!is_exact)
        return -1;
    assert_true(n > 0 && n_lost > 0);
    return (double)(n + n_lost) / (seconds * BURNER_HZ);
}

/* A processor that a hypervisor takes away misses periods, and nobody counts them: one of several runs has to be free of that. */
static void samples_and_losses_are_all_that_the_timer_made(void **state)
{
    double most = 0;
    (void)state;
    for (int i = 0; i < 10 && most < 0.9; i++) {
        double share = share_of_burner();
        if (share < 0)
            skip();
        assert_true(share < 1.1);
        most = share > most ? share : most;
    }
    assert_true(most >= 0.9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_newer_mapping_takes_the_place_of_what_it_covers),
        cmocka_unit_test(mappings_are_those_that_were_added_last),
        cmocka_unit_test(times_between_two_readings_are_on_their_line),
        cmocka_unit_test(both_clocks_agree_within_the_error_that_is_told),
        cmocka_unit_test(a_grain_is_at_most_sixteen_nanoseconds),
        cmocka_unit_test(rows_are_the_same_from_kept_pages_and_in_all_of_their_span),
        cmocka_unit_test(a_stack_is_joined_at_the_frame_that_both_have),
        cmocka_unit_test(records_that_are_cut_or_too_long_are_refused),
        cmocka_unit_test(samples_and_losses_are_all_that_the_timer_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
