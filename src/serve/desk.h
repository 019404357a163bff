/* desk.h - opens traces and has their questions answered by threads of their own: one for what is drawn, one for what may
 * take long, one for what reads the whole trace (SQL, explain, compare) and can be stopped by the question `cancel`, or by leaving.
 * Answers are handed to a sink, from those threads.
 *
 *   questions ──► queue of the trace ──► quick thread (engine 1) ──► sink
 *                                    ├─► slow thread  (engine 2) ──► sink
 *                                    └─► long thread  (asker)    ──► sink
 *
 * A trace is open while somebody uses it, and one more for a while after. SPDX-License-Identifier: MIT */
#ifndef STROBE_SERVE_DESK_H
#define STROBE_SERVE_DESK_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct strobe_desk;
struct strobe_desk_trace; /* an open trace */

enum { STROBE_DESK_MAX_TRACES = 16, STROBE_DESK_MAX_WAITING = 64 };

/* A frame for one who asked (`who`), or for all users of a trace (who 0). The sink owns the frame, which has `before` free
 * bytes in front. Any thread. */
typedef void (*strobe_desk_sink)(void *context, struct strobe_desk_trace *trace, uint64_t who,
                                 uint8_t *frame, size_t n_bytes);

/* `before`: bytes that the sink wants free before a frame. NULL without memory. */
struct strobe_desk *strobe_desk_new(strobe_desk_sink sink, void *context, size_t before);
void strobe_desk_free(struct strobe_desk *desk); /* ends all threads; NULL is allowed */

/* Use the trace at `path`; opened if it is not. Ranges of it are saved to `folder`. */
enum strobe_err strobe_desk_use(struct strobe_desk *desk, const char *path, const char *folder,
                                struct strobe_desk_trace **out);
/* No more. What `who` asked for and nobody began is dropped. */
void strobe_desk_leave(struct strobe_desk *desk, struct strobe_desk_trace *trace, uint64_t who);

/* Ask. 0: too many questions of `who` wait, or no memory. Thread: the one that uses the desk. */
int strobe_desk_ask(struct strobe_desk *desk, struct strobe_desk_trace *trace, uint64_t who,
                    const char *question, size_t n_bytes);

#endif
