/* escapes.c - a program all of whose names would move a terminal's cursor, change its title or add lines: zones, files, threads, plots,
 * messages, frames, pools, locks, the program itself.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "strobe/strobe.h"

#define ODD                                 \
    "\033[31mred\033]0;title\a\r\n\302\233" \
    "2J\177"

static void have(struct strobe_lock *lock)
{
    strobe_lock_will_wait(lock, 0);
    strobe_lock_obtained(lock, 0);
}

int main(void)
{
    static struct strobe_lock first, second;
    strobe_set_program_name("program" ODD);
    strobe_set_thread_name("thread" ODD);
    struct strobe_zone zone =
        strobe_zone_begin_at("file" ODD, 1, "function" ODD, "zone" ODD, strlen("zone" ODD), 0);
    strobe_message(STROBE_INFO, 0, "message" ODD, strlen("message" ODD));
    strobe_plot_named("plot" ODD, 1);
    STROBE_FRAME_NAMED("frame" ODD);
    STROBE_ALLOC_IN("pool" ODD, &first, 100);
    strobe_lock_open(&first, NULL, 0);
    strobe_lock_rename(&first, "first" ODD, strlen("first" ODD));
    strobe_lock_open(&second, NULL, 0);
    strobe_lock_rename(&second, "second" ODD, strlen("second" ODD));
    have(&first);
    have(&second);
    strobe_lock_released(&second, 0);
    strobe_lock_released(&first, 0);
    strobe_zone_end(&zone);
    return 0;
}
