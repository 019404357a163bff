/* frames_in.h - the heads of WebSocket frames in the bytes that a page sends, before the library reads them: RFC 6455 wants every frame of a client masked, and its server to end the
 * connection where one is not. libwebsockets does not look.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SERVE_FRAMES_IN_H
#define STROBE_SERVE_FRAMES_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a stream of frames stands. All zero: before the first. */
struct strobe_frames_in {
    uint64_t n_payload; /* bytes of the frame that are still to come, its mask among them */
    uint8_t head[10];   /* of the next frame, as far as it came */
    uint8_t n_head;
};

/* The next bytes of the stream. False: a frame without a mask begins in them; the stream is over then. */
bool strobe_frames_in_take(struct strobe_frames_in *frames, const void *bytes, size_t n);

/* This thread serves: what it receives is looked at from now on. */
void strobe_frames_in_begin(void);

/* Watch the socket `fd`, whose request was answered and whose first frame comes next, and stop to: what is received on it passes through strobe_frames_in_take, and
 * reads as the connection's end once it is refused. False: frames came with the request, before it was answered; or no memory. Thread: the one that serves. */
bool strobe_frames_in_watch(int fd);
void strobe_frames_in_unwatch(int fd);

#endif
