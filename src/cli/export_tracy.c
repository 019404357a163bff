/* export_tracy.c - see export_tracy.h.  SPDX-License-Identifier: MIT */
#include "cli/export_tracy.h"

#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/input.h"

/* What there is no place for in the file, one line each. */
static void tell_folds(const char *command, const struct strobe_tracy_folds *folds)
{
    const struct {
        uint64_t n;
        const char *what;
    } lines[] = {
        {folds->n_processes > 1 ? folds->n_processes : 0,
         "processes are one in the file; names of all but the first begin with theirs"},
        {folds->n_cores, "cores of devices: a GPU context each would be more than the 255 that "
                         "Tracy has, so a device is one"},
        {folds->n_lane_texts, "zones of devices without their texts and values: Tracy's GPU zones "
                              "have none"},
        {folds->n_locs, "source locations over 65,532 are one, \"(too many source locations)\""},
        {folds->n_loc_zones, "zones of those have the location's name as their own"},
        {folds->n_lock_events, "events of locks left out: a lock has 64 threads at most"},
        {folds->n_threads_over, "references to threads over 65,535 left out"},
        {folds->n_texts, "texts left out: there are 16,777,214 at most"},
        {folds->n_no_begin, "zones left out, whose begin is not known"},
        {folds->n_spans, "spans left out"},
        {folds->n_flows, "flow events left out"},
        {folds->n_stacks, "call stacks left out: there are 16,777,214 at most"},
        {folds->n_samples, "samples of counters left out"},
        {folds->n_switches, "context switches left out: there are 256 processors at most"},
        {folds->n_sections, "sections left out; --to tracy-0.14 has a place for them"},
        {folds->n_gpu_notes, "notes of GPU zones left out; --to tracy-0.14 has a place for them"},
        {folds->n_severities, "messages without their severity; --to tracy-0.14 keeps it"},
        {folds->n_code, "pieces of code and source files left out: what comes before is missing"},
        {folds->n_others, "other events left out"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (lines[i].n)
            fprintf(stderr, "strobe %s: %" PRIu64 " %s\n", command, lines[i].n, lines[i].what);
}

int strobe_cli_write_tracy(const char *command, struct strobe_trace *trace, int fd, const char *to,
                           enum strobe_tracy_layout layout, struct strobe_tracy_folds *folds)
{
    int error = 0;
    char *copy = strdup(to);
    if (!copy) {
        strobe_cli_fail(command, to, STROBE_ERR_NOMEM);
        return 0;
    }
    enum strobe_err err = strobe_tracy_write(trace, fd, dirname(copy), layout, folds, &error);
    free(copy);
    if (error)
        strobe_cli_error(command, "can't write %s: %s", to, strerror(error));
    else if (err)
        strobe_cli_fail(command, to, err);
    tell_folds(command, folds);
    return !err;
}
