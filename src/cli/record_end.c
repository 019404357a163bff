/* record_end.c - the last lines of a recording: file, coverage, where the time went, what to type
 * next. SPDX-License-Identifier: MIT */
#include "cli/record_end.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

int strobe_cli_record_end(const struct strobe_record_summary *summary, bool quiet, bool had_command)
{
    const struct strobe_collector_status *s = &summary->status;
    (void)had_command;
    if (!quiet) {
        double total = (double)s->n_events + (double)s->n_lost;
        fprintf(stderr, "strobe: %s  %.1f MB, %.3f s, %u processes, %u threads\n", summary->path,
                (double)s->n_bytes / 1e6, (double)summary->duration_ns / 1e9, s->n_procs,
                s->n_threads);
        fprintf(stderr, "strobe: %llu events stored, %llu dropped: coverage %.4g %%\n",
                (unsigned long long)s->n_events, (unsigned long long)s->n_lost,
                total > 0 ? 100.0 * (double)s->n_events / total : 100.0);
    }
    if (summary->err)
        strobe_cli_error("record", "the trace is not whole: %s", strobe_err_text(summary->err));
    return summary->exit_code ? summary->exit_code
           : summary->err     ? STROBE_EXIT_FAILED
                              : STROBE_EXIT_OK;
}
