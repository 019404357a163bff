/* columns.c - names of the fixed columns.  SPDX-License-Identifier: MIT */
#include "report/columns.h"

#include <ctype.h>
#include <string.h>

static const char *const headers[] = {
#define X(name, header) header,
    STROBE_REPORT_COLUMNS(X)
#undef X
};

const char *strobe_report_column_header(enum strobe_report_column column)
{
    return headers[column];
}

static int fold(char c)
{
    return c == '_' ? ' ' : toupper((unsigned char)c);
}

int strobe_report_column_find(const char *name, unsigned len)
{
    for (int i = 0; i < STROBE_REPORT_N_COLUMNS; i++) {
        unsigned k = 0;
        while (k < len && headers[i][k] && fold(headers[i][k]) == fold(name[k]))
            k++;
        if (k == len && !headers[i][k])
            return i;
    }
    return -1;
}
