/* spool.c - room for a device's frames while the recorder takes none: what a relay's ring in its bank of DRAM is on a chip, and as large
 * (TT_METAL_STREAMING_PROFILER_DRAM_MB). Frames go through it in order, and those that find it full stay in the cores' rings. What the host itself
 * puts (clocks, launches, names) does not wait here: a reader does not mind which of both it has first. Thread: the worker.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "device_host/internal.h"

enum { FIRST_WORDS = 1 << 16 };

void strobe_host_spool_open(struct strobe_device *device)
{
    const char *value = getenv("TT_METAL_STREAMING_PROFILER_DRAM_MB"); /* checked: env.c */
    bool is_streaming = device->setup.options.mode == STROBE_DEVICE_MODE_STREAMING;
    device->spool = (struct strobe_host_spool){
        .n_most = value && is_streaming ? (uint64_t)strtoul(value, NULL, 10) << 18 : 0};
}

void strobe_host_spool_close(struct strobe_device *device)
{
    free(device->spool.words);
    device->spool = (struct strobe_host_spool){0};
}

void strobe_host_spool_pump(struct strobe_device *device)
{
    struct strobe_host_spool *spool = &device->spool;
    while (spool->first < spool->n) {
        uint32_t n_words = spool->words[spool->first];
        STROBE_ASSERT(n_words && n_words < spool->n - spool->first);
        if (strobe_frames_put(device, spool->words + spool->first + 1, n_words))
            return;
        spool->first += n_words + 1;
    }
    spool->first = spool->n = 0;
}

/* Room for a frame and its length; false: there is none. */
static bool make_room(struct strobe_host_spool *spool, size_t n_words)
{
    if (spool->n + n_words + 1 > spool->room && spool->first > spool->n / 2) {
        spool->n -= spool->first;
        memmove(spool->words, spool->words + spool->first, spool->n * sizeof *spool->words);
        spool->first = 0;
    }
    if (spool->n + n_words + 1 <= spool->room)
        return true;
    uint64_t room = spool->room ? 2 * spool->room : FIRST_WORDS;
    room = room < spool->n_most ? room : spool->n_most;
    if (spool->n + n_words + 1 > room)
        return false;
    uint32_t *more = strobe_array_resize(spool->words, room, sizeof *more);
    if (!more)
        return false;
    spool->words = more;
    spool->room = room;
    return true;
}

enum strobe_err strobe_host_spool_put(struct strobe_device *device, const uint32_t *words,
                                      size_t n_words)
{
    struct strobe_host_spool *spool = &device->spool;
    STROBE_ASSERT(spool->first <= spool->n && spool->n <= spool->room);
    if (!spool->n_most)
        return strobe_frames_put(device, words, n_words);
    strobe_host_spool_pump(device);
    enum strobe_err err = spool->n ? STROBE_ERR_LIMIT : strobe_frames_put(device, words, n_words);
    if (err != STROBE_ERR_LIMIT || !make_room(spool, n_words))
        return err;
    spool->words[spool->n] = (uint32_t)n_words;
    memcpy(spool->words + spool->n + 1, words, n_words * sizeof *words);
    spool->n += n_words + 1;
    return STROBE_OK;
}
