/* chrome_read.h - the reader of Chrome's JSON: its events become rows of a timeline.  SPDX-License-Identifier: MIT */
#ifndef STROBE_IMPORT_CHROME_READ_H
#define STROBE_IMPORT_CHROME_READ_H

#include "import/events_in.h"
#include "import/json_fields.h"
#include "import/timeline.h"

struct strobe_chrome {
    struct strobe_events_in *in;      /* owned by chrome.c */
    struct strobe_timeline *timeline; /* borrowed */
    int has_fraction;                 /* times finer than us */
    char *scratch;                    /* owned: texts without escapes */
    size_t scratch_room;
};

/* Read all events: a `read` of timeline.h, whose context is a struct strobe_chrome. Errors as of strobe_events_in_next, but for END; LIMIT and NOMEM too. */
enum strobe_err strobe_chrome_read(void *context, struct strobe_timeline *timeline);

#endif
