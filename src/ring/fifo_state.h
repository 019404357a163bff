/* fifo_state.h - what a file of a device's stream holds, and whether its producer lives, for those who look at a session's folder
 * without taking part in the stream. Layout: wire/device_fifo.h.
 * Used by the traced process too: never allocates, never prints.  SPDX-License-Identifier: MIT */
#ifndef STROBE_RING_FIFO_STATE_H
#define STROBE_RING_FIFO_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct strobe_fifo_state {
    uint32_t pid, device;
    uint32_t recorder;     /* enum strobe_device_fifo_recorder */
    uint64_t n_ring_bytes; /* 0: no recorder has come yet */
    bool is_made;          /* its head is there; else nothing but is_alive is known */
    bool is_alive;         /* the producer runs, and has not closed; or may be making the file */
    bool has_data;         /* frames, or what a recorder made of them and no trace has yet */
};

/* Whether a file of a session's folder has the name of a stream. */
bool strobe_fifo_state_is_name(const char *name);

/* False: it is no stream of this version or one that says the same. `fd`: the file, open for reading and writing. */
bool strobe_fifo_state_look(int fd, struct strobe_fifo_state *out);

#endif
