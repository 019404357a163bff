/* out.c - see out.h.  SPDX-License-Identifier: MIT */
#include "cli/out.h"

#include <errno.h>
#include <string.h>

#include "cli/cli.h"

int strobe_out_close(struct strobe_out *out, const char *command)
{
    int error = strobe_out_end(out);
    if (error && error != EPIPE)
        strobe_cli_error(command, "can't write: %s", strerror(error));
    return error ? STROBE_EXIT_FAILED : STROBE_EXIT_OK;
}
