/* err.c - error codes as words.  SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <errno.h>

const char *strobe_err_text(enum strobe_err err)
{
    switch (err) {
#define X(name, number, text) \
    case STROBE_ERR_##name:   \
        return text;
        STROBE_ERR_LIST(X)
#undef X
    }
    return "unknown error";
}

enum strobe_err strobe_err_from_errno(int err_no)
{
    switch (err_no) {
    case 0:
        return STROBE_OK;
    case ENOMEM:
        return STROBE_ERR_NOMEM;
    case ENOSPC:
    case EDQUOT:
        return STROBE_ERR_NOSPACE;
    case ENOENT:
    case ESRCH:
        return STROBE_ERR_NOTFOUND;
    case EACCES:
    case EPERM:
    case EROFS:
        return STROBE_ERR_ACCESS;
    case EINVAL:
        return STROBE_ERR_INVALID;
    case EFBIG:
        return STROBE_ERR_LENGTH;
    case EMFILE:
    case ENFILE:
        return STROBE_ERR_FILES;
    default:
        return STROBE_ERR_IO;
    }
}
