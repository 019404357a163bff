/* test_report_devops.c - markers of the device log are booked to the right run of the right op.
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "report/devops.h"

#define TOP                                                                                        \
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\nPCIe slot, core_x, core_y, "  \
    "RISC processor type, timer_id, time[cycles since reset], data, run host ID, trace id, trace " \
    "id counter, zone name, type, source line, source file, meta data\n"

struct fixture {
    struct strobe_report_faults faults;
    struct strobe_report_log log;
    struct strobe_report_device_ops ops;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    memset(&fixture, 0, sizeof fixture);
    strobe_report_log_open(&fixture.log, &fixture.faults);
    strobe_report_device_ops_open(&fixture.ops, &fixture.log);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    strobe_report_device_ops_close(&f->ops);
    strobe_report_log_close(&f->log);
    strobe_report_faults_free(&f->faults);
    return 0;
}

static void feed(struct fixture *f, const char *text)
{
    assert_int_equal(strobe_report_log_read_memory(&f->log, text, strlen(text),
                                                   strobe_report_device_ops_take, &f->ops),
                     STROBE_OK);
    strobe_report_device_ops_finish(&f->ops);
}

static void first_and_last_markers_span_the_cores(void **state)
{
    struct fixture *f = *state;
    feed(f, TOP "0,1,1,BRISC,5,100,0,1024,,,BRISC-FW,ZONE_START,1,a,\n"
                "0,1,1,BRISC,6,110,0,1024,,,BRISC-KERNEL,ZONE_START,1,a,\n"
                "0,1,1,BRISC,6,150,0,1024,,,BRISC-KERNEL,ZONE_END,1,a,\n"
                "0,1,1,BRISC,5,160,0,1024,,,BRISC-FW,ZONE_END,1,a,\n"
                "0,2,1,BRISC,5,105,0,1024,,,BRISC-FW,ZONE_START,1,a,\n"
                "0,2,1,BRISC,6,120,0,1024,,,BRISC-KERNEL,ZONE_START,1,a,\n"
                "0,2,1,BRISC,6,190,0,1024,,,BRISC-KERNEL,ZONE_END,1,a,\n"
                "0,2,1,BRISC,5,200,0,1024,,,BRISC-FW,ZONE_END,1,a,\n");
    const struct strobe_report_device_op *op = &f->ops.ops[0];
    assert_int_equal(f->ops.n, 1);
    assert_int_equal(op->n_cores, 2);
    assert_int_equal(op->fw.first, 100);
    assert_int_equal(op->fw.last, 200);
    assert_int_equal(op->kernel.last - op->kernel.first, 80);
    assert_int_equal(op->per_core.min, 40);
    assert_int_equal(op->per_core.max, 70);
    assert_int_equal(op->per_core.first_cycles, 40);
    assert_int_equal(strobe_report_faults_total(&f->faults), 0);
}

static void a_program_that_runs_twice_is_two_runs_on_every_risc(void **state)
{
    struct fixture *f = *state;
    feed(f, TOP "0,1,1,BRISC,5,100,0,1024,,,BRISC-FW,ZONE_START,1,a,\n"
                "0,1,1,BRISC,5,200,0,1024,,,BRISC-FW,ZONE_END,1,a,\n"
                "0,1,1,BRISC,5,300,0,1024,,,BRISC-FW,ZONE_START,1,a,\n"
                "0,1,1,BRISC,5,400,0,1024,,,BRISC-FW,ZONE_END,1,a,\n"
                "0,1,1,NCRISC,7,120,0,1024,,,NCRISC-KERNEL,ZONE_START,1,b,\n"
                "0,1,1,NCRISC,7,150,0,1024,,,NCRISC-KERNEL,ZONE_END,1,b,\n"
                "0,1,1,NCRISC,7,320,0,1024,,,NCRISC-KERNEL,ZONE_START,1,b,\n"
                "0,1,1,NCRISC,7,390,0,1024,,,NCRISC-KERNEL,ZONE_END,1,b,\n");
    assert_int_equal(f->ops.n, 2);
    assert_int_equal(f->ops.ops[0].kernel.last - f->ops.ops[0].kernel.first, 30);
    assert_int_equal(f->ops.ops[1].kernel.last - f->ops.ops[1].kernel.first, 70);
}

static void replays_are_told_apart_by_their_counter(void **state)
{
    struct fixture *f = *state;
    feed(f, TOP "0,1,1,BRISC,5,100,0,1024,4,1,BRISC-FW,ZONE_START,1,a,\n"
                "0,1,1,BRISC,5,200,0,1024,4,1,BRISC-FW,ZONE_END,1,a,\n"
                "0,1,1,BRISC,5,300,0,1024,4,2,BRISC-FW,ZONE_START,1,a,\n"
                "0,1,1,BRISC,5,450,0,1024,4,2,BRISC-FW,ZONE_END,1,a,\n");
    assert_int_equal(f->ops.n, 2);
    uint32_t second = strobe_report_device_ops_find(&f->ops, 0, 1024, 4, 2);
    assert_int_equal(f->ops.ops[second].fw.last - f->ops.ops[second].fw.first, 150);
}

static void orphans_are_named_with_their_lines(void **state)
{
    struct fixture *f = *state;
    feed(f, TOP "0,1,1,BRISC,5,100,0,1024,,,BRISC-FW,ZONE_START,1,a,\n"
                "0,1,1,BRISC,6,110,0,1024,,,BRISC-KERNEL,ZONE_START,1,a,\n"
                "0,1,1,BRISC,5,160,0,1024,,,BRISC-FW,ZONE_END,1,a,\n"
                "0,1,1,NCRISC,7,190,0,1024,,,NCRISC-KERNEL,ZONE_END,1,a,\n");
    assert_int_equal(f->faults.counts[STROBE_REPORT_FAULT_ORPHAN_START], 1);
    assert_int_equal(f->faults.counts[STROBE_REPORT_FAULT_ORPHAN_END], 1);
    assert_int_equal(f->faults.entries[0].line, 4);
    assert_int_equal(f->faults.entries[1].line, 6);
}

static void cut_and_bad_lines_are_set_aside(void **state)
{
    struct fixture *f = *state;
    feed(f, TOP "0,1,1,BRISC,5,100,0,1024,,,BRISC-FW,ZONE_START,1,a,\n"
                "0,1,1,BRISC,5,1x0,0,1024,,,BRISC-FW,ZONE_START,1,a,\n"
                "0,1,1,BRISC,5,12\n"
                "\n"
                "0,1,1,BRISC,5,160,0,1024,,,BRISC-FW,ZONE_END,1,a,\n"
                "0,1,1,BRISC,5,160,0,10");
    assert_int_equal(f->log.n_rows, 2);
    assert_int_equal(f->log.n_aside, 3);
    assert_int_equal(f->faults.counts[STROBE_REPORT_FAULT_BAD_CELL], 1);
    assert_int_equal(f->faults.counts[STROBE_REPORT_FAULT_CUT_LINE], 2);
}

static void a_log_that_comes_back_to_a_core_is_out_of_order(void **state)
{
    struct fixture *f = *state;
    feed(f, TOP "0,1,1,BRISC,5,100,0,1024,,,BRISC-FW,ZONE_START,1,a,\n"
                "0,2,1,BRISC,5,101,0,1024,,,BRISC-FW,ZONE_START,1,a,\n"
                "0,1,1,BRISC,5,160,0,1024,,,BRISC-FW,ZONE_END,1,a,\n");
    assert_true(f->ops.scattered);
}

static void columns_are_found_by_name(void **state)
{
    struct fixture *f = *state;
    feed(f, "ARCH: x, CHIP_FREQ[MHz]: 7\nrun host ID, core_y, core_x, PCIe slot, RISC processor "
            "type, timer_id, time[cycles since reset], data, zone name, type, source line, source "
            "file, meta data\n1024,3,2,1,BRISC,5,100,0,BRISC-FW,ZONE_START,1,a,"
            "{\"sub_device_id\":6}\n");
    assert_int_equal(f->log.n_rows, 1);
    assert_int_equal(f->log.cores[0].x, 2);
    assert_int_equal(f->log.cores[0].y, 3);
    assert_int_equal(f->log.freq_mhz, 7);
    assert_int_equal(f->ops.ops[0].sub_device, 6);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(first_and_last_markers_span_the_cores),
        TEST(a_program_that_runs_twice_is_two_runs_on_every_risc),
        TEST(replays_are_told_apart_by_their_counter),
        TEST(orphans_are_named_with_their_lines),
        TEST(cut_and_bad_lines_are_set_aside),
        TEST(a_log_that_comes_back_to_a_core_is_out_of_order),
        TEST(columns_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
