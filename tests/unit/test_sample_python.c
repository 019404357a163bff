/* test_sample_python.c - lines and layouts of CPython: tables as its compilers wrote them.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sample/py_image.h"
#include "sample/py_kernel.h"
#include "sample/py_layout.h"
#include "sample/py_line.h"
#include "sample/py_memory.h"

#define LINE(table, bytes, first, at) \
    strobe_py_line_of(table, (const uint8_t *)(bytes), sizeof(bytes) - 1, first, at)

static void a_line_table_of_3_9_is_steps_of_instructions_and_lines(void **state)
{
    (void)state;
    const char table[] = "\0\1\6\1\10\377"; /* one line on at once, another at 6, one back at 14 */
    assert_int_equal(LINE(STROBE_PY_TABLE_LNOTAB, table, 10, 0), 11);
    assert_int_equal(LINE(STROBE_PY_TABLE_LNOTAB, table, 10, 6), 12);
    assert_int_equal(LINE(STROBE_PY_TABLE_LNOTAB, table, 10, 13), 12);
    assert_int_equal(LINE(STROBE_PY_TABLE_LNOTAB, table, 10, 99), 11);
}

static void a_line_table_of_3_10_is_lengths_and_steps(void **state)
{
    (void)state;
    const char table[] =
        "\4\1\6\2\2\200\4\377"; /* 4 bytes of line 11, 6 of 13, 2 of none, 4 of 12 */
    assert_int_equal(LINE(STROBE_PY_TABLE_RANGES, table, 10, 3), 11);
    assert_int_equal(LINE(STROBE_PY_TABLE_RANGES, table, 10, 4), 13);
    assert_int_equal(LINE(STROBE_PY_TABLE_RANGES, table, 10, 10), 10);
    assert_int_equal(LINE(STROBE_PY_TABLE_RANGES, table, 10, 12), 12);
}

static void a_line_table_of_3_11_has_entries_of_five_forms(void **state)
{
    (void)state;
    const char table[] = "\200\0"       /* short, 1 unit: line 10 */
                         "\331\0\0"     /* one line on, 2 units: 11 */
                         "\350\5"       /* no columns, 1 unit, 2 back: 9 */
                         "\360\6\0\0\0" /* long, 1 unit, 3 on: 12 */
                         "\370";        /* none, 1 unit */
    assert_int_equal(LINE(STROBE_PY_TABLE_LOCATIONS, table, 10, 0), 10);
    assert_int_equal(LINE(STROBE_PY_TABLE_LOCATIONS, table, 10, 4), 11);
    assert_int_equal(LINE(STROBE_PY_TABLE_LOCATIONS, table, 10, 6), 9);
    assert_int_equal(LINE(STROBE_PY_TABLE_LOCATIONS, table, 10, 8), 12);
    assert_int_equal(LINE(STROBE_PY_TABLE_LOCATIONS, table, 10, 10), 10);
}

static void a_table_of_any_bytes_gives_a_line(void **state)
{
    (void)state;
    uint8_t bytes[64];
    uint32_t random = 1;
    for (int run = 0; run < 3000; run++) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)((random = random * 1664525u + 1013904223u) >> 24);
        for (int table = 0; table < 3; table++)
            assert_true(strobe_py_line_of((enum strobe_py_table)table, bytes, (size_t)run % 65, 7,
                                          (uint32_t)run) > 0);
    }
}

static void a_version_is_known_by_its_file_name(void **state)
{
    (void)state;
    assert_int_equal(strobe_py_image_minor("/usr/bin/python3.11"), 11);
    assert_int_equal(strobe_py_image_minor("/a/python3.8/libpython3.9.so.1.0"), 9);
    assert_int_equal(strobe_py_image_minor("/usr/bin/perl"), 0);
}

static void layouts_are_those_of_3_9_to_3_12_and_what_3_13_tells(void **state)
{
    (void)state;
    struct strobe_py_layout layout;
    uint8_t told[STROBE_PY_OFFSETS_BYTES] = "xdebugpy";
    uint64_t version = 0x030d00f0, size = 40, far = 1 << 20, one = 1;
    for (uint32_t minor = 9; minor <= 12; minor++)
        assert_true(strobe_py_layout_of(minor, &layout) && layout.minor == minor);
    assert_false(strobe_py_layout_of(8, &layout) || strobe_py_layout_of(14, &layout));
    memcpy(told + 8, &version, sizeof version);
    memcpy(told + 560, &size, sizeof size);
    assert_true(strobe_py_layout_read(told, &layout) && layout.minor == 13);
    memcpy(told + 16, &one, sizeof one); /* a build without a GIL */
    assert_false(strobe_py_layout_read(told, &layout));
    memset(told + 16, 0, 8);
    memcpy(told + 232, &far, sizeof far); /* an offset that can't be */
    assert_false(strobe_py_layout_read(told, &layout));
    memset(told + 232, 0, 8);
    version = 0x030e00f0; /* 3.14 */
    memcpy(told + 8, &version, sizeof version);
    assert_false(strobe_py_layout_read(told, &layout));
}

static void what_was_read_once_is_read_again_with_one_call(void **state)
{
    (void)state;
    static struct strobe_py_memory memory;
    static struct strobe_py_spans again;
    static _Alignas(4096) uint8_t near[4096], far[3 << 16];
    uint32_t pid = (uint32_t)getpid();
    uint8_t *const places[] = {near, near + 1500, far + 5000, far + 100000};
    for (uint8_t round = 0; round < 3; round++) {
        strobe_py_memory_begin(&memory, pid, round ? &again : NULL);
        uint64_t n_calls = memory.n_calls;
        for (uint8_t i = 0; i < 4; i++) {
            const uint8_t *read = strobe_py_memory_at(&memory, (uintptr_t)places[i], 100);
            assert_true(read && read[0] == round && read[99] == 0);
            *places[i] = (uint8_t)(round + 1);
        }
        assert_int_equal(memory.n_calls - n_calls, round ? 0 : 4);
        strobe_py_memory_end(&memory, &again);
        assert_int_equal(again.n, 3); /* the two that are near are one */
    }
}

static void a_range_that_is_gone_costs_itself_alone(void **state)
{
    (void)state;
    static struct strobe_py_memory memory;
    static struct strobe_py_spans again;
    static uint64_t word = 7;
    uint32_t pid = (uint32_t)getpid();
    uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t out = 0;
    strobe_py_memory_begin(&memory, pid, NULL);
    assert_true(strobe_py_memory_word(&memory, (uintptr_t)page + 4088, &out));
    assert_true(strobe_py_memory_word(&memory, (uintptr_t)&word, &out) && out == 7);
    strobe_py_memory_end(&memory, &again);
    munmap(page, 4096);
    for (int i = 0; i < 2; i++) {
        strobe_py_memory_begin(&memory, pid, &again);
        assert_false(strobe_py_memory_word(&memory, (uintptr_t)page + 4088, &out));
        assert_true(strobe_py_memory_word(&memory, (uintptr_t)&word, &out) && out == 7);
        strobe_py_memory_end(&memory, &again);
        assert_int_equal(again.n, 1);
    }
    for (int i = 0; i < 20; i++) { /* nobody needs it any more */
        strobe_py_memory_begin(&memory, pid, &again);
        strobe_py_memory_end(&memory, &again);
    }
    assert_int_equal(again.n, 0);
}

/* What the kernel's program writes of a stack: frames of two activations. */
static struct {
    struct strobe_py_kernel_head head;
    struct strobe_py_kernel_frame frames[4];
} written;

static void frames_that_the_kernel_read_have_their_activations(void **state)
{
    static struct strobe_py_stack stack;
    struct strobe_py_layout layout;
    (void)state;
    assert_true(strobe_py_layout_of(12, &layout));
    written.head =
        (struct strobe_py_kernel_head){.id = STROBE_PY_KERNEL_ID, .n_frames = 4, .n_cframes = 1};
    written.frames[0] = (struct strobe_py_kernel_frame){0x1000, 0x9000, 0x9000 + 192 + 6, 0};
    written.frames[1] = (struct strobe_py_kernel_frame){0x7f00, 0, 0, 3}; /* in the C stack */
    written.frames[2] = (struct strobe_py_kernel_frame){0x1100, 0xa000, 0xa000 + 192, 0};
    written.frames[3] = (struct strobe_py_kernel_frame){0x7f80, 0, 0, 3};
    assert_true(strobe_py_stack_take(&written, sizeof written, &layout, &stack));
    assert_int_equal(stack.n, 2);
    assert_false(stack.is_cut);
    assert_int_equal(stack.frames[0].code, 0x9000);
    assert_int_equal(stack.frames[0].at, 6);
    assert_int_equal(stack.frames[0].activation, 0x7f00);
    assert_int_equal(stack.frames[1].activation, 0x7f80);
    assert_true(strobe_py_layout_of(11, &layout)); /* a flag, and cframes beside the frames */
    written.head.n_cframes = 2;
    written.head.cframes[0] = 0x7e00;
    written.head.cframes[2] = 0x7e80;
    for (int i = 0; i < 4; i++)
        written.frames[i] = (struct strobe_py_kernel_frame){0x1000, 0x9000, 0, i % 2};
    written.head.rest = 0x2000;
    assert_true(strobe_py_stack_take(&written, sizeof written, &layout, &stack));
    assert_int_equal(stack.n, 4);
    assert_true(stack.is_cut);
    assert_int_equal(stack.frames[0].activation, 0x7e00);
    assert_int_equal(stack.frames[3].activation, 0x7e80);
}

static void records_of_frames_that_can_not_be_right_are_refused(void **state)
{
    static struct strobe_py_stack stack;
    struct strobe_py_layout layout;
    (void)state;
    assert_true(strobe_py_layout_of(12, &layout));
    written.head = (struct strobe_py_kernel_head){.id = STROBE_PY_KERNEL_ID, .n_frames = 4};
    assert_true(strobe_py_stack_take(&written, sizeof written, &layout, &stack));
    assert_false(strobe_py_stack_take(&written, sizeof written - 1, &layout, &stack));
    assert_false(strobe_py_stack_take(&written, sizeof written.head - 1, &layout, &stack));
    written.head.n_frames = UINT32_MAX;
    assert_false(strobe_py_stack_take(&written, sizeof written, &layout, &stack));
    written.head.n_frames = 0;
    written.head.n_cframes = STROBE_PY_KERNEL_CFRAMES + 1;
    assert_false(strobe_py_stack_take(&written, sizeof written, &layout, &stack));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_table_of_3_9_is_steps_of_instructions_and_lines),
        cmocka_unit_test(a_line_table_of_3_10_is_lengths_and_steps),
        cmocka_unit_test(a_line_table_of_3_11_has_entries_of_five_forms),
        cmocka_unit_test(a_table_of_any_bytes_gives_a_line),
        cmocka_unit_test(a_version_is_known_by_its_file_name),
        cmocka_unit_test(what_was_read_once_is_read_again_with_one_call),
        cmocka_unit_test(a_range_that_is_gone_costs_itself_alone),
        cmocka_unit_test(layouts_are_those_of_3_9_to_3_12_and_what_3_13_tells),
        cmocka_unit_test(frames_that_the_kernel_read_have_their_activations),
        cmocka_unit_test(records_of_frames_that_can_not_be_right_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
