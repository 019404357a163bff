/* top.h - the parts of `strobe top`: what a growing trace says (top_rows.c), the terminal that it is shown on (top_screen.c).  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_TOP_H
#define STROBE_CLI_TOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/out.h"
#include "query/texts.h"
#include "query/trace.h"

/* ---- rows ---- */

/* A function or a thread: samples in it, since the look before and in all. */
struct strobe_top_row {
    uint32_t name; /* a function's, in the rows' texts; a thread's index */
    uint64_t self_now, total_now, self, total;
    uint64_t last; /* number of the last sample that counted */
};

struct strobe_top_rows {
    struct strobe_top_row *rows; /* owned */
    uint32_t room;
    struct strobe_idmap ids;
};

struct strobe_top {
    struct strobe_trace *trace;     /* borrowed */
    struct strobe_symbols *symbols; /* owned */
    struct strobe_texts texts;
    struct strobe_top_rows functions, threads;
    uint64_t n_samples, n_now, hz;
    uint64_t offset; /* blocks before it were read */
};

/* The trace must outlive it. 0 without memory. */
int strobe_top_open(struct strobe_top *top, struct strobe_trace *trace);
void strobe_top_close(struct strobe_top *top);

/* Read what has come since the last look. NOMEM, and what reading gives. */
enum strobe_err strobe_top_look(struct strobe_top *top);

/* What there is room for. */
struct strobe_top_size {
    uint32_t width;  /* characters of a line */
    uint32_t height; /* lines in all; 0: `limit` rows of each table instead */
    uint32_t limit;
};

/* Write it. `head`: the first line. With `has_color`, heads of tables stand out. */
void strobe_top_put(struct strobe_top *top, const char *head, const struct strobe_top_size *size,
                    bool has_color, struct strobe_out *out);

/* ---- the terminal ---- */

/* Take it: another screen, no cursor, keys at once. False: it is none. It is given back by strobe_top_screen_end, and whatever ends this process but SIGKILL. */
bool strobe_top_screen_begin(void);
void strobe_top_screen_end(void);
/* Its size now. */
void strobe_top_screen_size(uint32_t *width, uint32_t *height);
/* Wait for a key or for so long. True: it is to end: q, Ctrl-C, a signal, or no terminal any more. With no screen, only a signal ends it. */
bool strobe_top_screen_wait(int timeout_ms);
/* Put a whole picture: each line of `text` where the last one was. */
void strobe_top_screen_show(const char *text, size_t n);

#endif
