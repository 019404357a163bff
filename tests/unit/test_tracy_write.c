/* test_tracy_write.c - call stacks, samples, symbols and switches of a trace in a .tracy file: written, and read back.
 * SPDX-License-Identifier: MIT */
#include "small_trace.h"

#include "build/build.h"
#include "tracy_file/content.h"
#include "tracy_file/write.h"

static const uint64_t deep[] = {0x1010, 0x2020, 0x3030}, flat[] = {0x4040};

/* What a file has. */
struct found {
    struct strobe_tracy_content content;
    uint32_t n_stacks, n_frames, n_samples, n_at_switch;
    uint32_t of_zone, of_message, of_alloc, of_free, of_sample;
    uint64_t frames[8][4];
    uint32_t n[8];
    char inner[32], outer[32];
    uint32_t n_runs, n_cpu_runs, n_foreign;
    struct strobe_tracy_switch run;
    char foreign[32];
};

static enum strobe_err on_stack(void *context, uint32_t id, const uint64_t *frames, uint32_t n)
{
    struct found *found = context;
    assert_true(id >= 1 && id < 8 && n <= 4);
    memcpy(found->frames[id], frames, n * sizeof *frames);
    found->n[id] = n;
    found->n_stacks++;
    return STROBE_OK;
}

static enum strobe_err on_frame(void *context, const struct strobe_tracy_frame *frame)
{
    struct found *found = context;
    char *name = frame->inlined ? found->outer : found->inner;
    if (frame->id == deep[0])
        snprintf(name, sizeof found->inner, "%.*s", (int)frame->name.n, frame->name.at);
    found->n_frames++;
    return STROBE_OK;
}

static enum strobe_err on_sample(void *context, int64_t time, uint32_t callstack, int at_switch)
{
    struct found *found = context;
    (void)time;
    found->of_sample = callstack;
    found->n_samples += !at_switch;
    found->n_at_switch += at_switch != 0;
    return STROBE_OK;
}

static enum strobe_err on_message(void *context, const struct strobe_tracy_message *message)
{
    ((struct found *)context)->of_message = message->callstack;
    return STROBE_OK;
}

static enum strobe_err on_alloc(void *context, const struct strobe_tracy_alloc *alloc)
{
    struct found *found = context;
    found->of_alloc = alloc->callstack;
    found->of_free = alloc->free_callstack;
    return STROBE_OK;
}

static enum strobe_err on_run(void *context, const struct strobe_tracy_switch *run)
{
    struct found *found = context;
    found->run = *run;
    found->n_runs++;
    return STROBE_OK;
}

static enum strobe_err on_cpu_run(void *context, uint8_t cpu, int64_t start, int64_t end,
                                  uint64_t tid)
{
    struct found *found = context;
    (void)tid;
    assert_int_equal(cpu, 1);
    assert_true(start <= end);
    found->n_cpu_runs++;
    return STROBE_OK;
}

static enum strobe_err on_foreign(void *context, uint64_t tid, struct strobe_tracy_text process,
                                  struct strobe_tracy_text thread)
{
    struct found *found = context;
    (void)process;
    if (tid == 77)
        snprintf(found->foreign, sizeof found->foreign, "%.*s", (int)thread.n, thread.at);
    found->n_foreign++;
    return STROBE_OK;
}

static enum strobe_err on_zone(void *context, struct strobe_tracy_zone *stack, uint32_t depth)
{
    struct found *found = context;
    struct strobe_tracy_extra extra = {0};
    if (strobe_tracy_extra(&found->content, stack[depth].extra, &extra))
        found->of_zone = extra.callstack;
    return STROBE_OK;
}

static void tell_symbol(struct strobe_build *build, uint64_t address, uint64_t inlined,
                        const char *function)
{
    uint64_t numbers[] = {address, inlined, 7, address & ~0xfull};
    const char *texts[] = {function, "file.c", "program"};
    size_t sizes[] = {strlen(function), 6, 7};
    strobe_build_record(build, STROBE_META_SYMBOL, numbers, texts, sizes);
}

static void put_events(struct strobe_build *build)
{
    struct strobe_build_loc loc = {.function = "work", .n_function = 4};
    struct strobe_build_track *track = strobe_build_thread(build, 10, 100);
    tell_symbol(build, deep[0], 0, "inner");
    tell_symbol(build, deep[0], 1, "outer");
    strobe_build_stack(build, track, 100, STROBE_KIND_CALLSTACK, 0, deep, 3);
    strobe_build_zone_begin(build, track, 100, strobe_build_loc(build, &loc));
    strobe_build_stack(build, track, 110, STROBE_KIND_CALLSTACK, 0, deep, 3);
    strobe_build_event(build, track, 110, STROBE_KIND_MESSAGE, (uint64_t[]){2, 0}, "text", 4);
    strobe_build_stack(build, track, 120, STROBE_KIND_CALLSTACK, 0, flat, 1);
    strobe_build_event(build, track, 120, STROBE_KIND_MEM_ALLOC, (uint64_t[]){0, 0x99, 16}, NULL,
                       0);
    strobe_build_stack(build, track, 130, STROBE_KIND_CALLSTACK, 0, deep, 3);
    strobe_build_event(build, track, 130, STROBE_KIND_MEM_FREE, (uint64_t[]){0, 0x99}, NULL, 0);
    strobe_build_stack(build, track, 140, STROBE_KIND_SAMPLE, 3, flat, 1);
    strobe_build_stack(build, track, 150, STROBE_KIND_SAMPLE, 65534, flat, 1);
    strobe_build_zone_end(build, track, 200);
}

/* Thread 10 is woken at 110, runs on processor 1 from 120 to 150; before and behind it runs 77, of another program. */
static void put_switches(struct strobe_build *build)
{
    struct strobe_build_track *track = strobe_build_thread(build, 10, 100);
    struct strobe_build_track *system = strobe_build_thread(build, 0, 100);
    const char *texts[] = {"other", "other's thread"};
    size_t sizes[] = {5, 14};
    strobe_build_record(build, STROBE_META_FOREIGN_THREAD, (uint64_t[]){77, 70}, texts, sizes);
    strobe_build_event(build, track, 105, STROBE_KIND_FRAME_MARK, (uint64_t[]){0}, NULL, 0);
    strobe_build_event(build, system, 100, STROBE_KIND_CPU_SWITCH,
                       (uint64_t[]){1, 0, 77, 0, 0, 0, 0, 0}, NULL, 0);
    strobe_build_event(build, system, 110, STROBE_KIND_WAKEUP, (uint64_t[]){10, 0, 0, 0}, NULL, 0);
    strobe_build_event(build, system, 120, STROBE_KIND_CPU_SWITCH,
                       (uint64_t[]){1, 77, 10, 0, 0, 0, 0, 0}, NULL, 0);
    strobe_build_event(build, system, 150, STROBE_KIND_CPU_SWITCH,
                       (uint64_t[]){1, 10, 77, 5, 3, 0, 0, 0}, NULL, 0);
    strobe_build_event(build, system, 160, STROBE_KIND_CPU_SWITCH,
                       (uint64_t[]){1, 77, 0, 0, 0, 0, 0, 0}, NULL, 0);
}

/* The trace as a .tracy file; its descriptor. */
static int write_file(void (*put)(struct strobe_build *), struct strobe_tracy_folds *folds)
{
    struct small_trace t;
    struct strobe_build_store *store;
    struct strobe_build *build;
    struct strobe_trace *trace;
    struct strobe_build_process process = {.pid = 10, .exe = "/bin/program"};
    int error;
    small_start(&t);
    struct strobe_build_store_options options = {.writer = t.writer};
    assert_int_equal(strobe_build_store_open(&options, &store), STROBE_OK);
    assert_int_equal(strobe_build_open(store, &process, &build), STROBE_OK);
    put(build);
    strobe_build_close(build);
    strobe_build_store_close(store);
    small_finish(&t);
    assert_int_equal(strobe_trace_open(t.path, 0, &trace), STROBE_OK);
    small_remove(&t);
    int fd = open(t.path, O_CREAT | O_RDWR | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(strobe_tracy_write(trace, fd, "/tmp", STROBE_TRACY_LAYOUT_11, folds, &error),
                     STROBE_OK);
    strobe_trace_close(trace);
    return fd;
}

static void read_file(int fd, struct found *found)
{
    struct strobe_tracy_visitor visitor = {.context = found,
                                           .stack = on_stack,
                                           .stack_frame = on_frame,
                                           .sample = on_sample,
                                           .message = on_message,
                                           .alloc = on_alloc,
                                           .context_switch = on_run,
                                           .cpu_run = on_cpu_run,
                                           .foreign = on_foreign,
                                           .zone_begin = on_zone};
    char path[64], link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    assert_true(n > 0);
    path[n] = 0;
    memset(found, 0, sizeof *found);
    assert_int_equal(strobe_tracy_content_open(path, &found->content), STROBE_OK);
    assert_int_equal(strobe_tracy_walk(&found->content, &visitor), STROBE_OK);
    strobe_tracy_content_close(&found->content);
    unlink(path);
    close(fd);
}

static void every_event_has_its_stack_in_the_file(void **state)
{
    struct strobe_tracy_folds folds;
    struct found found;
    (void)state;
    read_file(write_file(put_events, &folds), &found);
    assert_int_equal(folds.n_stacks, 0);
    assert_int_equal(folds.n_samples, 0);
    assert_int_equal(found.n_stacks, 2); /* equal ones are one */
    assert_int_equal(found.n[found.of_zone], 3);
    assert_memory_equal(found.frames[found.of_zone], deep, sizeof deep);
    assert_int_equal(found.of_message, found.of_zone);
    assert_int_equal(found.of_free, found.of_zone);
    assert_int_equal(found.n[found.of_alloc], 1);
    assert_int_equal(found.of_sample, found.of_alloc);
}

static void a_sample_at_a_switch_is_in_both_lists_as_servers_have_it(void **state)
{
    struct strobe_tracy_folds folds;
    struct found found;
    (void)state;
    read_file(write_file(put_events, &folds), &found);
    assert_int_equal(found.n_samples, 2);
    assert_int_equal(found.n_at_switch, 1);
}

static void addresses_have_their_functions_and_what_these_were_inlined_into(void **state)
{
    struct strobe_tracy_folds folds;
    struct found found;
    (void)state;
    read_file(write_file(put_events, &folds), &found);
    assert_int_equal(found.n_frames, 5); /* four addresses, one with two functions */
    assert_string_equal(found.inner, "inner");
    assert_string_equal(found.outer, "outer");
}

static void a_threads_run_has_its_wake_up_its_processor_and_why_it_ended(void **state)
{
    struct strobe_tracy_folds folds;
    struct found found;
    (void)state;
    read_file(write_file(put_switches, &folds), &found);
    assert_int_equal(folds.n_switches, 0);
    assert_int_equal(found.n_runs, 1);
    assert_int_equal(found.run.thread, 10);
    assert_true(found.run.wakeup <= found.run.start && found.run.start <= found.run.end);
    assert_int_equal(found.run.cpu, 1);
    assert_int_equal(found.run.reason, 5);
    assert_int_equal(found.run.state, 3);
}

static void a_processor_has_the_runs_of_all_with_their_names(void **state)
{
    struct strobe_tracy_folds folds;
    struct found found;
    (void)state;
    read_file(write_file(put_switches, &folds), &found);
    assert_int_equal(found.n_cpu_runs, 3);
    assert_int_equal(found.n_foreign, 1);
    assert_string_equal(found.foreign, "other's thread");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_has_its_stack_in_the_file),
        cmocka_unit_test(a_sample_at_a_switch_is_in_both_lists_as_servers_have_it),
        cmocka_unit_test(addresses_have_their_functions_and_what_these_were_inlined_into),
        cmocka_unit_test(a_threads_run_has_its_wake_up_its_processor_and_why_it_ended),
        cmocka_unit_test(a_processor_has_the_runs_of_all_with_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
