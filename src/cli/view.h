/* view.h - what the commands that show a trace share.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_VIEW_H
#define STROBE_CLI_VIEW_H

#include "serve/reply.h"

/* Sent with SIGUSR1 to a recorder (sigqueue): end the recording, not the program. */
enum { STROBE_VIEW_STOP = 0x53544f50 };

/* The member `sessions` of the start page's list: this user's sessions, and who records them. */
void strobe_view_put_sessions(void *context, struct strobe_reply *reply);

#endif
