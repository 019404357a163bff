/* chrome.c - a Chrome JSON file becomes a trace: read once into rows of a timeline.  SPDX-License-Identifier: MIT */
#include "import/chrome.h"

#include <stdlib.h>
#include <string.h>

#include "import/chrome_read.h"

int strobe_chrome_is_file(const uint8_t *bytes, size_t n_bytes)
{
    if (n_bytes >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
        return 1;
    size_t i = n_bytes >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (i < n_bytes && strchr(" \t\r\n", bytes[i]) && bytes[i])
        i++;
    return i < n_bytes && (bytes[i] == '{' || bytes[i] == '[');
}

static void drop(void *context, struct strobe_timeline *timeline)
{
    struct strobe_chrome *chrome = context;
    (void)timeline;
    strobe_events_in_drop(chrome->in);
    free(chrome->scratch);
    chrome->scratch = NULL;
    chrome->scratch_room = 0;
}

static enum strobe_err import(enum strobe_err err, struct strobe_events_in *in, const char *from,
                              const char *to, struct strobe_timeline_result *out)
{
    struct strobe_chrome chrome = {.in = in};
    struct strobe_timeline_reader reader = {strobe_chrome_read, drop, &chrome};
    memset(out, 0, sizeof *out);
    if (!err)
        err = strobe_timeline_make(from, to, &reader, out);
    strobe_events_in_close(in);
    return err;
}

enum strobe_err strobe_chrome_import(const char *from, const char *to,
                                     struct strobe_timeline_result *out)
{
    struct strobe_events_in *in = NULL;
    enum strobe_err err = strobe_events_in_open(from, &in);
    return import(err, in, from, to, out);
}

enum strobe_err strobe_chrome_import_bytes(const void *bytes, size_t n_bytes, const char *to,
                                           struct strobe_timeline_result *out)
{
    struct strobe_events_in *in = NULL;
    enum strobe_err err = strobe_events_in_over(bytes, n_bytes, &in);
    return import(err, in, "", to, out);
}
