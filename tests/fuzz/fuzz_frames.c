/* fuzz_frames.c - the heads of WebSocket frames in bytes of any kind and in pieces of any size. What a second parser says of the whole must be said of the pieces.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seeds.h"
#include "serve/frames_in.h"
#include "tape.h"

/* 1: no frame in these bytes begins without a mask. */
static int is_masked(const uint8_t *at, size_t n)
{
    while (n >= 2) {
        uint64_t length = at[1] & 127, n_head = length == 127 ? 10 : length == 126 ? 4 : 2;
        if (!(at[1] & 128))
            return 0;
        if (n < n_head)
            return 1;
        if (n_head > 2)
            length = 0;
        for (uint64_t i = 2; i < n_head; i++)
            length = length * 256 + at[i];
        if (length > n - n_head || length + 4 > n - n_head)
            return 1;
        at += n_head + 4 + length;
        n -= n_head + 4 + length;
    }
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct tape tape = {data, data + n};
    struct strobe_frames_in frames = {0};
    uint8_t step = tape_byte(&tape);
    const uint8_t *all = tape.at;
    size_t n_all = tape_left(&tape);
    bool is_right = true;
    while (is_right && tape_left(&tape)) {
        size_t part = 1 + (step = (uint8_t)(step * 167 + 13)) % 31;
        const uint8_t *bytes = tape_take(&tape, &part);
        uint8_t *exact = malloc(part); /* so that a byte too far is seen */
        memcpy(exact, bytes, part);
        is_right = strobe_frames_in_take(&frames, exact, part);
        free(exact);
    }
    if (is_right != is_masked(all, n_all)) {
        fprintf(stderr, "fuzz_frames: two parsers disagree\n");
        abort();
    }
    return 0;
}
