/* source.h - all devices of a recording: finds their streams in the session's folder and records them.
 *
 * One thread of its own, which lives from the first stream that is found to strobe_devices_close. Bytes of a stream are given
 * back to the program when the block with what they became is in the file, and the rest, with where the decoder stands, in the folder; so a full disk
 * or a slow recorder makes the device's relay wait, and whoever dies, what left the device is in the file or in the folder. Calls are for one thread (the recorder's).
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_RECORD_SOURCE_H
#define STROBE_DEVICE_RECORD_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "build/build.h"

struct strobe_devices;

struct strobe_devices_options {
    const char *session_dir; /* borrowed for the call */
    struct strobe_build_store_options
        store; /* of the block that all devices share; the calls come on the source's thread */
    uint8_t trace[16];     /* uuid of the trace's file */
    uint32_t only_pid;     /* of the program whose devices are recorded; 0: all */
    bool is_mono;          /* the trace's clock is CLOCK_MONOTONIC, not the counter */
    strobe_build_ask *ask; /* recovery: what the file has; NULL: the file is a new one */
    void *ask_context;     /* borrowed as long as the source: for ask */
};

struct strobe_devices_status {
    uint32_t n_live;    /* streams that are open */
    uint32_t n_devices; /* found so far */
};

/* A stream that a predecessor of this recorder left goes on where that one stood. With `ask` the trace is the predecessor's: streams of other
 * traces are left alone, and no thread is started; strobe_devices_close takes what is there. */
enum strobe_err strobe_devices_open(const struct strobe_devices_options *options,
                                    struct strobe_devices **out);
/* Look for new streams in the folder; cheap, for every round. */
void strobe_devices_look(struct strobe_devices *source);
struct strobe_devices_status strobe_devices_status(struct strobe_devices *source);

/* Write what is under construction. */
void strobe_devices_flush(struct strobe_devices *source);
/* The same, and do nothing more until events may go to `writer`: for a change of files. */
void strobe_devices_pause(struct strobe_devices *source);
void strobe_devices_go_on(struct strobe_devices *source, struct strobe_file_writer *writer);

/* Take all that is there (of programs that run on: what they have put so far), detach, write. Then free. NULL is allowed. */
void strobe_devices_close(struct strobe_devices *source);

#endif
