/* test_build.c - a trace made of events of any source: what is not stored is counted.
 * SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include <signal.h>
#include <sys/resource.h>

#include "build/block.h"
#include "build/build.h"
#include "query/trace.h"
#include "query/walk.h"

/* ---- reading back ---- */

struct found {
    uint64_t n_zones;
    int64_t ticks;
};

static enum strobe_err add(void *context, const struct strobe_batch *batch)
{
    struct found *found = context;
    for (uint32_t i = 0; i < batch->n_zones; i++) {
        const struct strobe_zone_row *zone = &batch->zones[i];
        found->n_zones++;
        found->ticks += (int64_t)zone->ticks;
    }
    return STROBE_OK;
}

static struct strobe_trace *read_back(const char *path, struct found *found)
{
    struct strobe_trace *trace;
    memset(found, 0, sizeof *found);
    assert_int_equal(strobe_trace_open(path, 0, &trace), STROBE_OK);
    struct strobe_walk walk = {.trace = trace, .context = found, .zones = add};
    assert_int_equal(strobe_walk_run(&walk), STROBE_OK);
    return trace;
}

/* Events of LOSS records with this cause. */
static uint64_t lost_in(struct strobe_trace *trace, uint32_t cause)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < trace->loss_ids.n; i++)
        n += trace->losses[i].cause == cause ? trace->losses[i].count : 0;
    return n;
}

static struct strobe_build_store *open_store(struct small_trace *t, size_t budget)
{
    struct strobe_build_store *store;
    struct strobe_build_store_options options = {.writer = t->writer, .budget_bytes = budget};
    assert_int_equal(strobe_build_store_open(&options, &store), STROBE_OK);
    return store;
}

static struct strobe_build *open_build(struct strobe_build_store *store, uint64_t pid)
{
    struct strobe_build *build;
    struct strobe_build_process process = {.pid = pid, .exe = "/bin/program"};
    assert_int_equal(strobe_build_open(store, &process, &build), STROBE_OK);
    return build;
}

static uint64_t loc_of(struct strobe_build *build, const char *name)
{
    struct strobe_build_loc loc = {.line = 3, .function = name, .n_function = strlen(name)};
    return strobe_build_loc(build, &loc);
}

/* A trace that one process and one thread of it make, and what was read of it. */
struct made {
    struct small_trace t;
    struct strobe_build_store *store;
    struct strobe_build *build;
    struct strobe_build_track *track;
    struct strobe_trace *trace;
    struct found found;
};

static void make(struct made *m, struct strobe_build_store_options options)
{
    small_start(&m->t);
    options.writer = m->t.writer;
    assert_int_equal(strobe_build_store_open(&options, &m->store), STROBE_OK);
    m->build = open_build(m->store, 10);
    m->track = strobe_build_thread(m->build, 1, 1000);
}

static void read_made(struct made *m)
{
    strobe_build_close(m->build);
    strobe_build_store_close(m->store);
    small_finish(&m->t);
    m->trace = read_back(m->t.path, &m->found);
}

static void drop(struct made *m)
{
    strobe_trace_close(m->trace);
    small_remove(&m->t);
}

/* ---- order ---- */

static void tracks_of_two_processes_come_mixed(void **state)
{
    struct small_trace t;
    struct found found;
    (void)state;
    small_start(&t);
    struct strobe_build_store *store = open_store(&t, 0);
    struct strobe_build *build[2] = {open_build(store, 10), open_build(store, 11)};
    uint64_t loc[2] = {loc_of(build[0], "a"), loc_of(build[1], "b")};
    for (uint64_t i = 0; i < 300; i++)
        for (int p = 0; p < 2; p++)
            for (uint64_t tid = 1; tid <= 3; tid++) {
                struct strobe_build_track *track = strobe_build_thread(build[p], tid, 1000);
                if (i % 3 == 2)
                    assert_true(strobe_build_zone_end(build[p], track, 1000 + i));
                else if (i % 3 == 0)
                    strobe_build_zone_begin(build[p], track, 1000 + i, loc[p]);
            }
    strobe_build_close(build[0]);
    strobe_build_close(build[1]);
    strobe_build_store_close(store);
    small_finish(&t);
    struct strobe_trace *trace = read_back(t.path, &found);
    assert_int_equal(found.n_zones, 600);
    assert_int_equal(found.ticks, 1200);
    assert_int_equal(trace->n_processes, 2);
    assert_int_equal(trace->thread_ids.n, 6);
    strobe_trace_close(trace);
    unlink(t.path);
}

static void a_name_may_come_after_its_use(void **state)
{
    struct made m;
    (void)state;
    make(&m, (struct strobe_build_store_options){0});
    uint64_t loc = strobe_build_new_loc(m.build, 0xabc);
    strobe_build_zone_begin(m.build, m.track, 1000, loc);
    strobe_build_zone_end(m.build, m.track, 1005);
    assert_int_equal(strobe_build_store_flush(m.store), STROBE_OK);
    strobe_build_set_loc(m.build, loc,
                         &(struct strobe_build_loc){.function = "late", .n_function = 4});
    read_made(&m);
    assert_int_equal(m.found.n_zones, 1);
    char room[STROBE_NAME_ROOM];
    uint32_t n_bytes;
    uint32_t place = strobe_trace_loc(m.trace, 0, loc);
    assert_string_equal(strobe_trace_loc_name(m.trace, place, loc, room, &n_bytes), "late");
    drop(&m);
}

static void equal_contents_have_one_id(void **state)
{
    struct small_trace t;
    (void)state;
    small_start(&t);
    struct strobe_build_store *store = open_store(&t, 0);
    struct strobe_build *build = open_build(store, 10);
    uint64_t loc = loc_of(build, "a"), text = strobe_build_string(build, "text", 4);
    assert_int_equal(loc_of(build, "a"), loc);
    assert_int_not_equal(loc_of(build, "b"), loc);
    assert_int_equal(strobe_build_string(build, "text", 4), text);
    assert_int_not_equal(strobe_build_string(build, "tex", 3), text);
    strobe_build_close(build);
    strobe_build_store_close(store);
    small_finish(&t);
    unlink(t.path);
}

static void an_end_without_a_begin_is_said(void **state)
{
    struct made m;
    (void)state;
    make(&m, (struct strobe_build_store_options){0});
    assert_false(strobe_build_zone_end(m.build, m.track, 1000));
    read_made(&m);
    assert_int_equal(m.found.n_zones, 1);
    drop(&m);
}

/* ---- bounds ---- */

static void begun_beyond_the_budget_is_refused_with_its_end(void **state)
{
    enum { N = 100000 };
    struct made m;
    (void)state;
    make(&m, (struct strobe_build_store_options){.budget_bytes = 1 << 20});
    uint64_t loc = loc_of(m.build, "deep");
    for (uint64_t i = 0; i < N; i++)
        strobe_build_zone_begin(m.build, m.track, 1000 + i, loc);
    uint32_t depth = strobe_build_track_depth(m.track);
    assert_true(depth > 100 && depth < N);
    for (uint64_t i = 0; i < N; i++)
        assert_true(strobe_build_zone_end(m.build, m.track, 1000 + N + i));
    assert_int_equal(strobe_build_track_depth(m.track), 0);
    read_made(&m);
    assert_int_equal(m.found.n_zones, depth);
    assert_int_equal(lost_in(m.trace, STROBE_LOSS_REFUSED), 2 * (N - depth));
    drop(&m);
}

static void a_closed_process_gives_its_budget_back(void **state)
{
    struct small_trace t;
    struct strobe_build *build;
    struct strobe_build_process process = {.pid = 10};
    (void)state;
    small_start(&t);
    struct strobe_build_store *store = open_store(&t, 1 << 20);
    assert_true(strobe_build_store_charge(store, 1 << 20));
    assert_int_equal(strobe_build_open(store, &process, &build), STROBE_ERR_LIMIT);
    strobe_build_store_charge(store, -(1 << 20));
    for (int i = 0; i < 100; i++) {
        build = open_build(store, 10);
        for (uint64_t tid = 1; tid < 50; tid++)
            assert_non_null(strobe_build_thread(build, tid, 1));
        strobe_build_close(build);
    }
    assert_true(strobe_build_store_charge(store, 1 << 20));
    strobe_build_store_close(store);
    small_finish(&t);
    unlink(t.path);
}

/* ---- a disk that is full ---- */

/* Nothing may be written behind `n_bytes` of a file; 0: as before. */
static void limit_files(uint64_t n_bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = n_bytes ? n_bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void put_zones(struct strobe_build *build, struct strobe_build_track *track, uint64_t loc,
                      uint64_t tick, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        strobe_build_zone_begin(build, track, tick + 2 * i, loc);
        strobe_build_zone_end(build, track, tick + 2 * i + 1);
    }
}

static void emitted_is_stored_and_dropped_on_a_full_disk(void **state)
{
    struct made m;
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    make(&m, (struct strobe_build_store_options){0});
    uint64_t loc = loc_of(m.build, "zone");
    put_zones(m.build, m.track, loc, 1000, 100);
    assert_int_equal(strobe_build_store_flush(m.store), STROBE_OK);
    limit_files(strobe_file_n_bytes(m.t.writer));
    put_zones(m.build, m.track, loc, 2000, 70);
    assert_int_not_equal(strobe_build_store_flush(m.store), STROBE_OK);
    limit_files(0);
    put_zones(m.build, m.track, loc, 3000, 30);
    assert_int_equal(strobe_build_store_flush(m.store), STROBE_OK);
    read_made(&m);
    assert_int_equal(m.found.n_zones, 130);
    assert_int_equal(lost_in(m.trace, STROBE_LOSS_DISK), 140);
    drop(&m);
}

static void losses_of_the_last_block_are_in_the_ledger(void **state)
{
    struct made m;
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    make(&m, (struct strobe_build_store_options){0});
    put_zones(m.build, m.track, loc_of(m.build, "zone"), 1000, 10);
    assert_int_equal(strobe_build_store_flush(m.store), STROBE_OK);
    limit_files(strobe_file_n_bytes(m.t.writer));
    put_zones(m.build, m.track, 1, 2000, 70);
    strobe_build_close(m.build);
    strobe_build_store_close(m.store); /* the last chance to say it */
    limit_files(0);
    small_kill(&m.t);
    m.trace = read_back(m.t.path, &m.found);
    assert_int_equal(m.found.n_zones, 10);
    assert_int_equal(lost_in(m.trace, STROBE_LOSS_DISK), 140);
    drop(&m);
}

static void behind_the_largest_size_events_are_counted(void **state)
{
    struct made m;
    (void)state;
    make(&m, (struct strobe_build_store_options){.max_file_bytes = 1});
    put_zones(m.build, m.track, loc_of(m.build, "zone"), 1000, 50);
    read_made(&m);
    assert_int_equal(m.found.n_zones, 0);
    assert_int_equal(lost_in(m.trace, STROBE_LOSS_FILE_LIMIT), 100);
    drop(&m);
}

/* ---- losses ---- */

static void losses_are_one_per_process_track_and_cause(void **state)
{
    struct strobe_build_losses losses;
    (void)state;
    assert_int_equal(strobe_build_losses_init(&losses), STROBE_OK);
    for (uint64_t i = 0; i < 10; i++)
        strobe_build_losses_add(&losses, &(struct strobe_build_loss){1, 2, 3, 5, 100 - i, 100 + i});
    strobe_build_losses_add(&losses, &(struct strobe_build_loss){1, 2, 3, 0, 1, 900});
    strobe_build_losses_add(&losses, &(struct strobe_build_loss){1, 1, 3, 5, 100, 100});
    assert_int_equal(strobe_build_losses_n(&losses), 2);
    assert_int_equal(strobe_build_losses_total(&losses), 55);
    assert_int_equal(losses.items[0].count, 50);
    assert_int_equal(losses.items[0].first, 91);
    assert_int_equal(losses.items[0].last, 109);
    strobe_build_losses_free(&losses);
}

static void beyond_the_bound_losses_keep_their_cause(void **state)
{
    enum { N = 12000, MAX = 4096 };
    struct strobe_build_losses losses;
    uint64_t by_cause[STROBE_LOSS_COUNT] = {0};
    (void)state;
    assert_int_equal(strobe_build_losses_init(&losses), STROBE_OK);
    losses.max = MAX;
    for (uint64_t i = 0; i < N; i++)
        strobe_build_losses_add(&losses, &(struct strobe_build_loss){7, i % 2 ? 1 : 4, i, 1, i, i});
    assert_true(strobe_build_losses_n(&losses) <= MAX);
    for (uint32_t i = 0; i < losses.n; i++)
        by_cause[losses.items[i].cause] += losses.items[i].count;
    assert_int_equal(by_cause[1], N / 2);
    assert_int_equal(by_cause[4], N / 2);
    strobe_build_losses_free(&losses);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracks_of_two_processes_come_mixed),
        cmocka_unit_test(a_name_may_come_after_its_use),
        cmocka_unit_test(equal_contents_have_one_id),
        cmocka_unit_test(an_end_without_a_begin_is_said),
        cmocka_unit_test(begun_beyond_the_budget_is_refused_with_its_end),
        cmocka_unit_test(a_closed_process_gives_its_budget_back),
        cmocka_unit_test(emitted_is_stored_and_dropped_on_a_full_disk),
        cmocka_unit_test(losses_of_the_last_block_are_in_the_ledger),
        cmocka_unit_test(behind_the_largest_size_events_are_counted),
        cmocka_unit_test(losses_are_one_per_process_track_and_cause),
        cmocka_unit_test(beyond_the_bound_losses_keep_their_cause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
