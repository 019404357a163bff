/* test_facade.c - locations in constant memory and handles, with nobody recording.  SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "client/client.h"
#include "strobe/facade.h"

static void an_address_is_one_location(void **state)
{
    static const struct strobe_const_loc one = {"one", "f", "file", 1, 2};
    static const struct strobe_const_loc other = {"one", "f", "file", 1, 2};
    (void)state;
    struct strobe_loc *loc = strobe_loc_of(&one);
    assert_non_null(loc);
    assert_ptr_equal(loc, strobe_loc_of(&one));
    assert_ptr_not_equal(loc, strobe_loc_of(&other));
    assert_string_equal(loc->name, "one");
    assert_int_equal(loc->line, 1);
    assert_int_equal(loc->color, 2);
}

static void other_code_at_the_same_address_is_another_location(void **state)
{
    static struct strobe_const_loc loaded = {"before", "f", "file", 1, 0};
    (void)state;
    struct strobe_loc *loc = strobe_loc_of(&loaded);
    assert_non_null(loc);
    loc->word = 77; /* named to somebody */
    assert_int_equal(strobe_loc_of(&loaded)->word, 77);
    loaded.name = "after";
    assert_ptr_equal(strobe_loc_of(&loaded), loc);
    assert_string_equal(loc->name, "after");
    assert_int_equal(loc->word, 0);
}

static void a_full_table_says_so_and_keeps_what_it_has(void **state)
{
    static struct strobe_const_loc many[3 * STROBE_LOC_PLACES];
    int n_found = 0;
    (void)state;
    for (size_t i = 0; i < sizeof many / sizeof many[0]; i++) {
        many[i].line = (uint32_t)i + 1;
        struct strobe_loc *loc = strobe_loc_of(&many[i]);
        assert_true(!loc || loc->line == i + 1);
        n_found += loc != NULL;
    }
    assert_true(n_found > STROBE_LOC_PLACES / 2 && n_found <= STROBE_LOC_PLACES);
    for (size_t i = 0; i < sizeof many / sizeof many[0]; i++) {
        struct strobe_loc *loc = strobe_loc_of(&many[i]);
        assert_true(!loc || loc->line == i + 1);
    }
}

static void a_handle_of_a_zone_that_nobody_saw_leads_back_to_it(void **state)
{
    static struct strobe_loc loc = {0, "unseen", "f", "file", 1, 0};
    static const struct strobe_const_loc fixed = {"unseen too", "f", "file", 2, 0};
    (void)state;
    struct strobe_handle handle = strobe_handle_begin(&loc);
    assert_int_equal(strobe_handle_pack(handle), STROBE_HANDLE_UNSEEN | (uintptr_t)&loc);
    assert_false(strobe_handle_is_seen(handle));
    strobe_handle_end(handle);
    uint64_t packed = strobe_handle_begin_const(&fixed);
    memcpy(&handle, &packed, sizeof handle);
    assert_int_equal(strobe_handle_pack(handle), packed);
    assert_int_equal(packed, STROBE_HANDLE_UNSEEN | STROBE_HANDLE_CONST | (uintptr_t)&fixed);
    assert_false(strobe_handle_is_seen(handle));
    strobe_handle_end(handle);
    handle = strobe_handle_begin_id(0);
    assert_int_equal(handle.state, STROBE_HANDLE_NONE);
    strobe_handle_end(handle);
}

static void a_handle_of_a_begin_that_the_recorder_left_is_not_negative_and_leads_back(void **state)
{
    static struct strobe_loc loc = {0, "missed", "f", "file", 1, 0};
    (void)state;
    struct strobe_handle handle = strobe_handle_odd(&loc, STROBE_NOBODY);
    uint64_t value = (uint64_t)((uint32_t)handle.state >> 16) << 32 | handle.id;
    assert_true(handle.state > 0);
    assert_int_equal(handle.state & 15, STROBE_HANDLE_MISSED);
    assert_int_equal(value * _Alignof(struct strobe_loc), (uintptr_t)&loc);
    assert_false(strobe_handle_is_seen(handle));
    strobe_handle_end(handle);
}

static void calls_with_nobody_recording_do_nothing(void **state)
{
    static uint32_t pixels[16];
    struct strobe_lock lock;
    struct strobe_gpu_context context = {.context = 1, .period_ns = 1};
    (void)state;
    assert_int_equal(strobe_loc_id("f", 1, 1, "fn", 2, NULL, 0, 0), 0);
    assert_int_equal(strobe_section_enterf(1, "%d", 1), 0);
    strobe_section_leave(0);
    strobe_frame_image(pixels, 4, 4, 0, 0);
    strobe_frame_image(pixels, 5, 4, 0, 0);
    strobe_text_plot_int(NULL, 1);
    strobe_text_mem_alloc("pool", pixels, 64);
    strobe_text_fiber_enter(NULL);
    strobe_lock_open(&lock, NULL, 1);
    strobe_lock_rename(
        &lock, "a name that is longer than the sixty-three bytes which a lock has room for", 75);
    assert_int_equal(strlen(lock.name), 63);
    strobe_lock_close(&lock);
    strobe_gpu_context_new(&context);
    for (uint32_t i = 0; i < 1000; i++)
        strobe_parameter(i, "parameter", 0, i); /* more than are kept */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_one_location),
        cmocka_unit_test(other_code_at_the_same_address_is_another_location),
        cmocka_unit_test(a_handle_of_a_zone_that_nobody_saw_leads_back_to_it),
        cmocka_unit_test(a_handle_of_a_begin_that_the_recorder_left_is_not_negative_and_leads_back),
        cmocka_unit_test(calls_with_nobody_recording_do_nothing),
        cmocka_unit_test(a_full_table_says_so_and_keeps_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
