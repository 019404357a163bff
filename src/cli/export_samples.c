/* export_samples.c - see export_samples.h.  SPDX-License-Identifier: MIT */
#include "cli/export_samples.h"

#include <errno.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/out.h"
#include "export/firefox.h"
#include "export/folded.h"
#include "export/pprof.h"
#include "export/speedscope.h"

/* What was written. */
struct written {
    uint64_t n_samples, n_zones, n_bad_parts;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The formats that are text. */
static enum strobe_err write_text(const char *path, struct strobe_trace *trace, int fd,
                                  enum strobe_cli_samples_format format,
                                  const struct strobe_samples_options *samples,
                                  struct written *written, int *ok)
{
    struct strobe_out out;
    struct strobe_speedscope_result result = {0};
    enum strobe_err err;
    if (!strobe_out_open(&out, fd))
        return STROBE_ERR_NOMEM;
    if (format == STROBE_CLI_FOLDED)
        err = strobe_folded_write(trace, samples, &out, &written->n_samples, &written->n_bad_parts);
    else if (format == STROBE_CLI_FIREFOX)
        err =
            strobe_firefox_write(trace, samples, &out, &written->n_samples, &written->n_bad_parts);
    else
        err = strobe_speedscope_write(trace, samples, base_name(path), &out, &result);
    if (format == STROBE_CLI_SPEEDSCOPE)
        *written = (struct written){result.n_samples, result.n_zones, result.n_bad_parts};
    int is_printed = out.error != 0;
    *ok = !strobe_out_close(&out, "export") && !err;
    return is_printed ? STROBE_OK : err;
}

int strobe_cli_export_samples(const char *path, struct strobe_trace *trace, int fd,
                              enum strobe_cli_samples_format format,
                              const struct strobe_cli_choice *choice)
{
    struct strobe_cli_chosen chosen;
    struct written written = {0};
    int ok = 1;
    enum strobe_err err;
    if (!strobe_cli_choose("export", trace, choice, &chosen)) {
        strobe_cli_chosen_free(&chosen);
        return 0;
    }
    struct strobe_samples_options samples = {.by_tick = chosen.by_tick,
                                             .tick_min = chosen.tick_min,
                                             .tick_max = chosen.tick_max,
                                             .processes = chosen.processes,
                                             .n_processes = chosen.n_processes};
    if (format == STROBE_CLI_PPROF)
        err = strobe_pprof_write(trace, &samples, fd, &written.n_samples, &written.n_bad_parts);
    else
        err = write_text(path, trace, fd, format, &samples, &written, &ok);
    strobe_cli_chosen_free(&chosen);
    if (format == STROBE_CLI_PPROF &&
        (err == STROBE_ERR_IO || err == STROBE_ERR_NOSPACE || err == STROBE_ERR_LENGTH))
        strobe_cli_error("export", "can't write: %s", strobe_err_text(err));
    else if (err)
        strobe_cli_fail("export", path, err);
    if (!err && ok && !written.n_samples && !written.n_zones)
        strobe_cli_error("export", "%s has no stack samples", path);
    strobe_cli_warn_damage("export", trace, written.n_bad_parts);
    return ok && !err;
}
