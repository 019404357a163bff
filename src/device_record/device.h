/* device.h - one device of a recording: its stream of frames in, a process of the trace out.
 *
 *   frames ─► decoder (device/stream.h) ─► lanes ─► nest.h ─► axis.h ─► build/build.h
 *
 * The device is a process of the trace with a clock of its own, which counts the device's cycles; every processor of a core is a
 * thread of it. So statistics, levels of detail, lists and pictures are those of threads. What can't be decoded is counted and
 * noted, never stored half. A device belongs to the thread of its store.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_RECORD_DEVICE_H
#define STROBE_DEVICE_RECORD_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/out.h"
#include "build/build.h"
#include "device_record/axis.h"

struct strobe_device_trace;

/* Where a predecessor stood: what strobe_device_trace_save made. */
struct strobe_device_left {
    const uint8_t *bytes; /* borrowed for the call */
    size_t n_bytes;
    strobe_build_ask *
        ask; /* what the predecessor's file has, which is gone on with; NULL: this is another file */
    void *context; /* borrowed while the device is open: for ask */
};

struct strobe_device_trace_options {
    struct strobe_build_store *store;      /* borrowed: outlives the device */
    struct strobe_device_host host;        /* the clock of the trace */
    uint32_t pid, device;                  /* of the program that has it open; its number there */
    const struct strobe_device_left *left; /* borrowed for the call; NULL: the stream's begin */
};

/* CORRUPT: what a predecessor left can't be. */
enum strobe_err strobe_device_trace_open(const struct strobe_device_trace_options *options,
                                         struct strobe_device_trace **out);

/* Whole frames; `*n_used` words of them were taken, the rest is handed in again with what follows. */
enum strobe_err strobe_device_trace_feed(struct strobe_device_trace *trace, const uint32_t *words,
                                         size_t n_words, size_t *n_used);

/* What was fed and is known for sure becomes events now, also where there is little of it: before a flush. The successor of a device that
 * calls this must be given where it stood right after (strobe_device_trace_save). */
void strobe_device_trace_hand_on(struct strobe_device_trace *trace);

/* A note about the device for the reader of the trace. */
void strobe_device_trace_remark(struct strobe_device_trace *trace, const char *text);

/* Where the device stands after what was fed, all of which that has become events is flushed: appended to `out`. A successor goes on there
 * (saved.c has the bytes). */
void strobe_device_trace_save(struct strobe_device_trace *trace, struct strobe_out *out);
/* Of the bytes that it makes: another number is of another Strobe. */
uint32_t strobe_device_trace_layout(void);

/* The stream is at its end: hand on what waits, note what is missing, free. `n_dropped`: frames that found no room on their way. NULL is
 * allowed. */
void strobe_device_trace_close(struct strobe_device_trace *trace, uint64_t n_dropped);

#endif
