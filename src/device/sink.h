/* sink.h - where a device's stream of frames goes: a pipe to the recorder, a decoder in this process, a file.
 * The producer is a backend's relay. A stream's words: docs/device-protocol.md.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_SINK_H
#define STROBE_DEVICE_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* A frame's size is a multiple of this many words (64 bytes). */
#define STROBE_DEVICE_SINK_WORDS 16

struct strobe_device_sink {
    void *context; /* borrowed: handed to put */
    /* Take whole frames: n_words is a multiple of STROBE_DEVICE_SINK_WORDS, and the words are valid during the call. May wait,
     * bounded. LIMIT: nobody took the frames now; the producer disarms the cores, so that they drop and count what has no room, and offers the
     * words again later. Any other error: likewise, and the sink is of no use any more. Thread: one at a time. */
    enum strobe_err (*put)(void *context, const uint32_t *words, size_t n_words);
};

#endif
