/* records.h - subscriptions: what devices send, to functions of this program (strobe/device_records.h).
 *
 *   worker ──► queue of each subscriber, bounded ──► its thread: feed (records_feed.c) ──► its function
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_HOST_RECORDS_H
#define STROBE_DEVICE_HOST_RECORDS_H

#include "device/stream.h"
#include "device_host/internal.h"
#include "strobe/device_records.h"

/* ---- records.c. Thread: the worker ---- */

void strobe_records_open(struct strobe_device *device);
void strobe_records_close(struct strobe_device *device);
/* Describe the device to subscribers who do not know it yet; before a launch, and before a wait for one. */
void strobe_records_describe(struct strobe_device *device);
void strobe_records_put(struct strobe_device *device, const uint32_t *words, size_t n_words);
/* A program ran. */
void strobe_records_run(struct strobe_device *device, const struct strobe_device_job *job,
                        uint32_t runtime_id, const struct strobe_job_span *span);

/* ---- records_feed.c: one subscriber's decoders. Thread: the subscriber's ---- */

struct strobe_records_feed;
struct strobe_records_feed *strobe_records_feed_new(uint32_t kinds);
void strobe_records_feed_free(struct strobe_records_feed *feed);
/* Whole frames of a device; `number` tells devices apart. */
void strobe_records_feed_frames(struct strobe_records_feed *feed, uint64_t number,
                                const uint32_t *words, size_t n_words);
/* A run; its clock is filled in here. */
void strobe_records_feed_run(struct strobe_records_feed *feed, uint64_t number,
                             const struct strobe_device_execution *run);
/* The device is gone. */
void strobe_records_feed_forget(struct strobe_records_feed *feed, uint64_t number);
/* All since the last call, as a batch; it holds until the feed is used again. */
void strobe_records_feed_take(struct strobe_records_feed *feed, struct strobe_device_batch *batch);

/* ---- sites.c: names that live as long as the process ---- */

void strobe_records_name(const struct strobe_device_name *name);
/* The sources of a job's kernels, one pointer per list that is new; *n of them. NULL: no memory. */
const char *const *strobe_records_sources(const struct strobe_device_job *job, uint32_t *n);

#endif
