/* no_page.c - a page of one file, whatever it is asked for, in place of the viewer's: for harnesses that link what serves or exports it.
 * SPDX-License-Identifier: MIT */
#include "page/page.h"

static const unsigned char bytes[] = "<!doctype html><title>fuzz</title>";
static const struct strobe_page_file files[] = {
    {"index.html", "text/html; charset=utf-8", bytes, bytes + sizeof bytes - 1}};

const struct strobe_page_file *strobe_page_files(size_t *n_files)
{
    *n_files = 1;
    return files;
}

const struct strobe_page_file *strobe_page_find(const char *path)
{
    (void)path;
    return files;
}
