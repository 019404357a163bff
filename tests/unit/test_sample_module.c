/* test_sample_module.c - files that are mapped: one module for each, also after there was no memory for one.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sample/module.h"

static struct strobe_modules modules;

/* The module of a file that is not there. */
static struct strobe_sample_module *find(const char *path, uint64_t inode)
{
    const struct strobe_module_file file = {.path = path, .inode = inode, .pid = 1};
    return strobe_modules_find(&modules, &file);
}

static int begin(void **state)
{
    (void)state;
    return strobe_modules_init(&modules);
}

static int end(void **state)
{
    (void)state;
    strobe_modules_free(&modules);
    return 0;
}

static void a_file_has_one_module(void **state)
{
    (void)state;
    struct strobe_sample_module *a = find("/none/a", 1), *b = find("/none/b", 2);
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    assert_ptr_equal(find("/none/a", 1), a);
    assert_ptr_equal(find("/none/b", 2), b);
    assert_ptr_not_equal(find("/none/a", 3), a); /* another file took its place */
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static void after_a_failed_allocation_files_keep_their_modules(void **state)
{
    (void)state;
    skip(); /* the sanitizer has a calloc of its own */
}
#else
void *__libc_calloc(size_t n, size_t size); /* the C library's own */
static int has_no_memory;

void *calloc(size_t n, size_t size)
{
    return has_no_memory ? NULL : __libc_calloc(n, size);
}

static void after_a_failed_allocation_files_keep_their_modules(void **state)
{
    (void)state;
    assert_non_null(find("/none/first", 1)); /* what the table needs for the next one is there */
    has_no_memory = 1;
    struct strobe_sample_module *none = find("/none/a", 1);
    has_no_memory = 0;
    assert_null(none);
    struct strobe_sample_module *b = find("/none/b", 2), *a = find("/none/a", 1),
                                *c = find("/none/c", 3);
    assert_non_null(a);
    assert_ptr_equal(find("/none/b", 2), b);
    assert_ptr_equal(find("/none/a", 1), a);
    assert_ptr_equal(find("/none/c", 3), c);
    assert_string_equal(a->path, "/none/a");
    assert_string_equal(b->path, "/none/b");
    assert_string_equal(c->path, "/none/c");
    assert_ptr_equal(modules.items[a->id - 1], a);
    assert_ptr_equal(modules.items[b->id - 1], b);
    assert_int_equal(modules.n, 4);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_has_one_module, begin, end),
        cmocka_unit_test_setup_teardown(after_a_failed_allocation_files_keep_their_modules, begin,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
