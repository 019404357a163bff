/* hosts_side.h - the recorder's part in comparisons of clocks with other hosts.  SPDX-License-Identifier: MIT */
#ifndef STROBE_RECORDER_HOSTS_SIDE_H
#define STROBE_RECORDER_HOSTS_SIDE_H

#include "recorder/recorder.h"

/* Listen and ask, as the options say. OK: also where they say nothing. outcome.address: what an error is about. */
enum strobe_err strobe_recorder_hosts_open(struct strobe_recorder *recorder);

/* Ask once more and end; the outcome says how it went. */
void strobe_recorder_hosts_stop(struct strobe_recorder *recorder);

#endif
