/* flight.h - the flight recorder's spool: the last seconds in a ring of files, joined to a trace on
 * a trigger.
 *
 * In a folder beside the trace: `names.strobe` takes all records (names are needed as long as the
 * recording lasts), `events-N.strobe` take the events, each for an eighth of the window; the oldest
 * is removed when it is no longer needed. Blocks hold the zones that were open at their start, so
 * any suffix of them is a trace. SPDX-License-Identifier: MIT */
#ifndef STROBE_COLLECTOR_FLIGHT_H
#define STROBE_COLLECTOR_FLIGHT_H

#include <stdint.h>

#include "base/err.h"
#include "collector/recover.h"
#include "file/file_write.h"

struct strobe_flight;

/* Make the spool folder `<trace>.flight` and its first files. */
enum strobe_err strobe_flight_open(const char *trace, const char *session_dir, uint64_t window_ns,
                                   struct strobe_flight **out);

/* Where records and events go now. */
struct strobe_file_writer *strobe_flight_records(struct strobe_flight *flight);
struct strobe_file_writer *strobe_flight_events(struct strobe_flight *flight);

/* Whether it is time for the next file of events; then flush, and call strobe_flight_rotate. */
bool strobe_flight_is_due(const struct strobe_flight *flight, uint64_t now_ns);
enum strobe_err strobe_flight_rotate(struct strobe_flight *flight, uint64_t now_ns);

/* Join what the spool has to the trace `path`. Everything was flushed before. `last` (may be NULL): as in a recovery. */
enum strobe_err strobe_flight_save(struct strobe_flight *flight, const char *path, uint64_t tick,
                                   const char *reason, strobe_recover_last *last);

/* Likewise from the folder that a dead flight recorder left. */
enum strobe_err strobe_flight_join(const char *spool, const char *path, uint64_t tick,
                                   const char *reason, strobe_recover_last *last);

/* Remove the spool. */
void strobe_flight_close(struct strobe_flight *flight);

#endif
