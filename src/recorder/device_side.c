/* device_side.c - see the header. The source itself: device_record/source.h.  SPDX-License-Identifier: MIT */
#include "recorder/device_side.h"

#include "recorder/asked.h"
#include "recorder/internal.h"
#include "ring/session.h"

enum strobe_err strobe_recorder_devices_open(struct strobe_recorder *r)
{
    STROBE_ASSERT(r->collector && r->writer && !r->devices);
    struct strobe_devices_options options = {
        .session_dir = r->session.dir,
        .store = strobe_recorder_store(r),
        .only_pid = r->options.pid,
        .is_mono = strobe_session_clock() == STROBE_CLOCK_MONO,
    };
    strobe_file_uuid(r->flight ? strobe_flight_records(r->flight) : r->writer, options.trace);
    return strobe_devices_open(&options, &r->devices);
}

enum strobe_err strobe_recorder_devices_recover(const struct strobe_recover_place *place)
{
    struct strobe_devices *devices = NULL;
    struct strobe_devices_options options = {.session_dir = place->dir,
                                             .store = {.writer = place->writer,
                                                       .new_proc = strobe_recorder_new_proc,
                                                       .lose = strobe_recorder_lose,
                                                       .arg = place->collector},
                                             .is_mono = strobe_session_clock() == STROBE_CLOCK_MONO,
                                             .ask = place->ask,
                                             .ask_context = place->ask_context};
    strobe_file_uuid(place->writer, options.trace);
    enum strobe_err err = strobe_devices_open(&options, &devices);
    strobe_devices_close(devices);
    return err;
}
