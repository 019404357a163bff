/* reason.c - results and the sentence about the last failure, one per thread.
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>

#include "device_host/internal.h"

static _Thread_local char reason[STROBE_DEVICE_REASON_BYTES];

const char *strobe_device_reason(void)
{
    return reason;
}

enum strobe_device_result strobe_host_fail(enum strobe_device_result result, const char *format,
                                           ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(reason, sizeof reason, format, list);
    va_end(list);
    return result;
}

enum strobe_device_result strobe_host_result(enum strobe_err err)
{
    switch (err) {
    case STROBE_OK:
        return STROBE_DEVICE_OK;
    case STROBE_ERR_NOMEM:
        return STROBE_DEVICE_NOMEM;
    case STROBE_ERR_NOTFOUND:
        return STROBE_DEVICE_NOTFOUND;
    case STROBE_ERR_NOSPACE:
        return STROBE_DEVICE_NOSPACE;
    case STROBE_ERR_BUSY:
        return STROBE_DEVICE_HUNG;
    case STROBE_ERR_CORRUPT:
        return STROBE_DEVICE_RESET;
    case STROBE_ERR_FORMAT:
        return STROBE_DEVICE_BUILD;
    case STROBE_ERR_INVALID:
        return STROBE_DEVICE_INVALID;
    default:
        return STROBE_DEVICE_IO;
    }
}

const char *strobe_device_result_text(enum strobe_device_result result)
{
    static const char *const texts[] = {"no error",
                                        "out of memory",
                                        "invalid argument",
                                        "not found",
                                        "conflict",
                                        "build failed",
                                        "no space left on the device",
                                        "hung",
                                        "reset",
                                        "unsupported",
                                        "input/output error"};
    return (unsigned)result < sizeof texts / sizeof *texts ? texts[result] : "unknown result";
}
