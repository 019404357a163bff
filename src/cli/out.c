/* out.c - see out.h.  SPDX-License-Identifier: MIT */
#include "cli/out.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"

int strobe_out_close(struct strobe_out *out, const char *command)
{
    int error = strobe_out_end(out);
    if (error && error != EPIPE)
        strobe_cli_error(command, "can't write: %s", strerror(error));
    return error ? STROBE_EXIT_FAILED : STROBE_EXIT_OK;
}

void strobe_cli_put_name(FILE *stream, const char *name, size_t n)
{
    struct strobe_out text = {0};
    strobe_out_terminal(&text, name, n);
    fputs(strobe_out_string(&text), stream);
    strobe_out_free(&text);
}

int strobe_cli_end_rows(struct strobe_out *out, int json, int csv, uint64_t n_left)
{
    if (json)
        strobe_out_text(out, "\n]}\n");
    if (json || csv)
        return 0;
    if (n_left)
        strobe_out_format(out, "... and %" PRIu64 " more\n", n_left);
    return 1;
}
