/* cmd_report.c - strobe report: the op report.  SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "report/folders.h"
#include "report/write.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int strobe_cli_report(int argc, char **argv)
{
    struct strobe_report_folders folders;
    struct strobe_report report;
    struct strobe_report_write_options w = {0};
    if (argc < 3)
        return 2;
    strobe_report_folders_find(&folders, argv[1], argv[2], NULL, "");
    strobe_report_folders_make(&folders);
    struct strobe_report_options options = {.logs = folders.logs, .copy_fd = -1};
    options.force_legacy = argc > 3;
    char path[STROBE_REPORT_PATH + 64];
    snprintf(path, sizeof path, "%s/profile_log_device.csv", folders.out);
    if (argc < 5)
        options.copy_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    enum strobe_err err = strobe_report_read(&report, &options);
    char p2[STROBE_REPORT_PATH];
    if (err)
        fprintf(stderr, "read %s\n", strobe_err_text(err));
    strobe_report_folders_path(&folders, "ops_perf_results", p2);
    if (!err && report.is_device_only) {
        err = strobe_report_write_device(&report, p2);
        strobe_report_folders_path(&folders, "per_core_op_to_op_times", p2);
        err = strobe_report_write_op2op(&report, p2);
    } else if (!err)
        err = strobe_report_write_ops(&report, p2, &w);
    if (err)
        fprintf(stderr, "%s\n", strobe_err_text(err));
    for (uint32_t i = 0; i < report.faults.n_entries && i < 20; i++)
        fprintf(stderr, "%s %s:%llu %s\n", strobe_report_fault_word(report.faults.entries[i].kind),
                strobe_report_fault_file(&report.faults, i),
                (unsigned long long)report.faults.entries[i].line,
                strobe_report_fault_detail(&report.faults, i));
    strobe_report_close(&report);
    return err != 0;
}
