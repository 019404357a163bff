/* choose.c - see the header.  SPDX-License-Identifier: MIT */
#include "report/choose.h"

#include <string.h>

#include "base/assert.h"
#include "report/summary.h"

/* The first row from `from` on that is a signpost of that name; n_rows: there is none. */
static uint32_t find_signpost(const struct strobe_report *report,
                              const struct strobe_report_choice *choice, const char *pattern,
                              uint32_t from)
{
    for (uint32_t i = from; i < report->n_rows; i++) {
        char name[512];
        if (report->rows[i].kind != STROBE_REPORT_ROW_SIGNPOST)
            continue;
        struct strobe_report_span header =
            strobe_report_signpost_header(report, report->rows[i].item);
        size_t n = header.len < sizeof name ? header.len : sizeof name - 1;
        n -= n && header.at[n - 1] == '`';
        memcpy(name, header.at, n);
        name[n] = 0;
        if (choice->matches(pattern, name))
            return i;
    }
    return report->n_rows;
}

static bool is_other_device(const struct strobe_report *report,
                            const struct strobe_report_choice *choice,
                            const struct strobe_report_row *row)
{
    if (!choice->by_device || row->kind == STROBE_REPORT_ROW_SIGNPOST)
        return false;
    int64_t device = report->host.ops[row->item].device;
    return device >= 0 && (device < choice->device_first || device > choice->device_last);
}

enum strobe_err strobe_report_choose(struct strobe_report *report,
                                     const struct strobe_report_choice *choice,
                                     const char **missing)
{
    uint32_t from = 0, to = report->n_rows;
    STROBE_ASSERT(!report->is_device_only && choice->matches);
    if (choice->from_signpost) {
        from = find_signpost(report, choice, choice->from_signpost, 0);
        *missing = choice->from_signpost;
        if (from == report->n_rows)
            return STROBE_ERR_NOTFOUND;
    }
    if (choice->to_signpost) {
        to = find_signpost(report, choice, choice->to_signpost,
                           choice->from_signpost ? from + 1 : 0);
        *missing = choice->to_signpost;
        if (to == report->n_rows)
            return STROBE_ERR_NOTFOUND;
    }
    report->coverage.n_rows = 0;
    for (uint32_t i = 0; i < report->n_rows; i++) {
        struct strobe_report_row *row = &report->rows[i];
        row->is_left_out = i < from || i >= to || is_other_device(report, choice, row);
        report->coverage.n_rows += !row->is_left_out;
    }
    return STROBE_OK;
}
