/* write.h - the report's files.  SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_WRITE_H
#define STROBE_REPORT_WRITE_H

#include "report/report.h"

/* A file being written; errors are kept until the close. */
struct strobe_report_out {
    int fd;
    struct strobe_out text; /* what is not yet written */
    enum strobe_err err;
};

struct strobe_report_write_options {
    bool older_names; /* COMPUTE KERNEL PATH and the like */
    bool mlir;        /* LOC, CONST_EVAL_OP and PROGRAM_METADATA columns */
};

enum strobe_err strobe_report_out_open(struct strobe_report_out *out, const char *path);

/* Write what is there, when it is much or at the `end`. */
void strobe_report_out_flush(struct strobe_report_out *out, bool end);
enum strobe_err strobe_report_out_close(struct strobe_report_out *out);

/* The full report. */
enum strobe_err strobe_report_write_ops(const struct strobe_report *report, const char *path,
                                        const struct strobe_report_write_options *options);

/* The device-only report, and its gaps per core. */
enum strobe_err strobe_report_write_device(const struct strobe_report *report, const char *path);
enum strobe_err strobe_report_write_op2op(const struct strobe_report *report, const char *path);

#endif
