/* page.c - finds the viewer's files. The table is made by cmake/page.cmake.
 * SPDX-License-Identifier: MIT */
#include "page/page.h"

#include <stdlib.h>
#include <string.h>

#include "page_table.h"

static int compare(const void *path, const void *file)
{
    return strcmp(path, ((const struct strobe_page_file *)file)->path);
}

const struct strobe_page_file *strobe_page_files(size_t *n_files)
{
    *n_files = sizeof files / sizeof *files;
    return files;
}

const struct strobe_page_file *strobe_page_find(const char *path)
{
    return bsearch(path, files, sizeof files / sizeof *files, sizeof *files, compare);
}
