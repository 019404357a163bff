/* device_side.h - a recording's devices: their source, and what it asks the collector.  SPDX-License-Identifier: MIT */
#ifndef STROBE_RECORDER_DEVICE_SIDE_H
#define STROBE_RECORDER_DEVICE_SIDE_H

#include "base/err.h"
#include "collector/recover.h"

struct strobe_recorder;

/* Make the source of all devices that programs of the session have open, or open later. */
enum strobe_err strobe_recorder_devices_open(struct strobe_recorder *recorder);
/* Recovery: what a dead recorder had not stored of them. */
strobe_recover_rest strobe_recorder_devices_recover;

#endif
