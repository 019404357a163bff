/* test_device_lanes.c - zones of a device that wait for a table, a clock or company: how many, and what becomes of them.
 * The stream is the one of bench/device/made.h.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/made.h"
#include "device_record/device.h"
#include "device_record/internal.h"

enum { CORES = 64 };

struct recording {
    struct strobe_file_writer *writer;
    struct strobe_build_store *store;
    struct strobe_device_trace *device;
    uint64_t most_bytes;          /* of zones that wait, with their room */
    uint64_t n_kernels, n_values; /* made; outermost zones in the file that have their program */
    uint64_t n_late;              /* zones that were known when their children were out */
    uint32_t per_kernel;          /* zones; 0: 1,000 */
    int without;                  /* frames of this extension are left out; 0: none are */
};

static uint64_t tick_at(void *context, uint64_t ns)
{
    (void)context;
    return ns;
}
static double tick_error(void *context)
{
    (void)context;
    return 1;
}

static uint64_t waiting_bytes(const struct strobe_device_trace *t)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < t->n_cores * STROBE_DEVICE_RISCS; i++) {
        const struct strobe_device_track *lane =
            t->cores[i / STROBE_DEVICE_RISCS].lanes[i % STROBE_DEVICE_RISCS];
        n += lane ? lane->nest.waiting_room * sizeof *lane->nest.waiting : 0;
    }
    return n;
}

static uint64_t late_zones(const struct strobe_device_trace *t)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < t->n_cores * STROBE_DEVICE_RISCS; i++) {
        const struct strobe_device_track *lane =
            t->cores[i / STROBE_DEVICE_RISCS].lanes[i % STROBE_DEVICE_RISCS];
        n += lane ? lane->nest.n_late : 0;
    }
    return n;
}

static int feed(void *context, const uint32_t *words, size_t n_words)
{
    struct recording *r = context;
    size_t used;
    bool is_extension = STROBE_ST_TYPE(words[0]) == STROBE_ST_EXTENSION;
    if (is_extension && r->without && STROBE_EXT_SUBTYPE(words[0]) == (uint32_t)r->without)
        return 1;
    assert_int_equal(strobe_device_trace_feed(r->device, words, n_words, &used), STROBE_OK);
    assert_int_equal(used, n_words);
    uint64_t now = waiting_bytes(r->device);
    r->most_bytes = now > r->most_bytes ? now : r->most_bytes;
    return 1;
}

/* Record a stream; the zones that are in the file. */
static uint64_t record(struct recording *r, uint64_t n_zones, uint64_t *n_made)
{
    char path[] = "/tmp/test_device_lanes.XXXXXX";
    struct strobe_file_totals totals;
    struct made_options options = {CORES, r->per_kernel ? r->per_kernel : 1000, 2000, n_zones,
                                   1000000000};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(strobe_file_create(path, "", 0, &r->writer), STROBE_OK);
    struct strobe_build_store_options store = {.writer = r->writer, .budget_bytes = 48 << 20};
    assert_int_equal(strobe_build_store_open(&store, &r->store), STROBE_OK);
    struct strobe_device_trace_options device = {
        .store = r->store, .host = {.tick_at = tick_at, .tick_ns = 1, .error = tick_error}};
    assert_int_equal(strobe_device_trace_open(&device, &r->device), STROBE_OK);
    struct made_counts made = made_run(&options, feed, r);
    *n_made = made.n_zones;
    r->n_kernels = made.n_kernels;
    r->n_late = late_zones(r->device);
    strobe_device_trace_close(r->device, 0);
    strobe_build_store_close(r->store);
    strobe_file_read_totals(r->writer, &totals);
    r->n_values = totals.by_kind[STROBE_KIND_ZONE_VALUE];
    strobe_file_abandon(r->writer);
    unlink(path);
    return totals.n_zones;
}

/* Of 24 bytes each, an eighth more as reserve, and what one run of a lane adds before it is looked at. */
#define BOUND ((STROBE_DEVICE_WAITING + CORES * 5 * 512ull) * 24 * 9 / 8)

static void zones_of_320_lanes_wait_in_a_bound_and_all_are_stored(void **state)
{
    (void)state;
    struct recording r = {0};
    uint64_t n_made, n_stored = record(&r, 1500000, &n_made);
    assert_int_equal(n_stored, n_made);
    assert_in_range(r.most_bytes, 1, BOUND);
}

static void each_kernel_has_its_program_also_where_a_table_named_it_first(void **state)
{
    (void)state;
    struct recording r = {0};
    uint64_t n_made;
    record(&r, 1500000, &n_made);
    assert_true(r.n_kernels > 1000);
    assert_int_equal(r.n_values, r.n_kernels);
}

static void without_tables_zones_wait_in_the_same_bound(void **state)
{
    (void)state;
    struct recording r = {.without = STROBE_EXT_OPEN};
    uint64_t n_made, n_stored = record(&r, 1500000, &n_made);
    assert_int_equal(n_stored, n_made);
    assert_in_range(r.most_bytes, 1, BOUND);
}

static void without_a_clock_zones_wait_in_the_same_bound(void **state)
{
    (void)state;
    struct recording r = {.without = STROBE_EXT_CLOCK};
    uint64_t n_made, n_stored = record(&r, 1500000, &n_made);
    assert_int_equal(n_stored, n_made);
    assert_in_range(r.most_bytes, 1, BOUND);
}

/* More zones than may wait, in kernels that are not over, before it is known what time it is. */
static void zones_of_long_kernels_stand_in_each_other_without_a_clock(void **state)
{
    (void)state;
    struct recording r = {.without = STROBE_EXT_CLOCK, .per_kernel = 6000};
    uint64_t n_made, n_stored = record(&r, 1500000, &n_made);
    assert_int_equal(n_stored, n_made);
    assert_int_equal(r.n_late, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zones_of_320_lanes_wait_in_a_bound_and_all_are_stored),
        cmocka_unit_test(each_kernel_has_its_program_also_where_a_table_named_it_first),
        cmocka_unit_test(without_tables_zones_wait_in_the_same_bound),
        cmocka_unit_test(without_a_clock_zones_wait_in_the_same_bound),
        cmocka_unit_test(zones_of_long_kernels_stand_in_each_other_without_a_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
