/* recorded.c - the way of a device's stream to the recorder of this program's session: a listener like others, and flows from the
 * thread that launches to the kernels. Thread: the worker, but for strobe_host_flow.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "device_host/internal.h"
#include "ring/alive.h"
#include "strobe/facade.h"
#include "strobe/strobe.h"

static bool session_is_recorded(const char *folder)
{
    struct strobe_session_page page;
    return folder && strobe_alive_session(folder, &page);
}

bool strobe_host_is_recorded(void)
{
    return session_is_recorded(strobe_session_folder());
}

/* What describes the device, in pieces that the way takes: whole frames, each of which says how long it is. */
static void describe(struct strobe_device *device)
{
    enum { MOST = STROBE_DEVICE_FIFO_FRAME_MAX / 4 };
    uint64_t from = 0, at = 0;
    while (at < device->n_facts) {
        uint64_t n = STROBE_EXT_N(device->facts[at]) + 1;
        n = (n + STROBE_FRAME_WORDS - 1) / STROBE_FRAME_WORDS * STROBE_FRAME_WORDS;
        if (at + n - from > MOST) {
            strobe_device_fifo_put(&device->fifo, device->facts + from, at - from);
            from = at;
        }
        at += n;
    }
    strobe_device_fifo_put(&device->fifo, device->facts + from, at - from);
}

/* A recorder that asked may be dead since. */
static bool is_asked(const struct strobe_device *device)
{
    const char *folder = strobe_session_folder();
    return strobe_device_fifo_is_asked(&device->fifo) && folder && strobe_session_is_held(folder);
}

/* The recorder and the user shall know that the device's zones are missing. */
static void deny(struct strobe_device *device)
{
    strobe_device_fifo_close(&device->fifo);
    strobe_session_deny_device();
    device->setup.warn(device->setup.warn_context,
                       "no room for the device's stream in the session's folder: its zones "
                       "will be missing from the recording");
}

/* Size of the way, as upstream's variable has it, which was checked (env.c). 0: the default. */
static uint64_t fifo_bytes(void)
{
    const char *value = getenv("TT_METAL_STREAMING_PROFILER_FIFO_MB");
    return value ? (uint64_t)strtoul(value, NULL, 10) << 20 : 0;
}

/* A small ring will do where there is no room for more: the device then waits the sooner for the recorder. False: there is none, and the device
 * has no way to a recorder any more. */
static bool make_ring(struct strobe_device *device)
{
    enum { MOST_BYTES = 64 << 20, LEAST_BYTES = 256 << 10 };
    uint64_t bytes = fifo_bytes();
    enum strobe_err err = strobe_device_fifo_extend(&device->fifo, bytes);
    for (bytes = bytes ? bytes : MOST_BYTES; err && (bytes /= 4) >= LEAST_BYTES;)
        err = strobe_device_fifo_extend(&device->fifo, bytes);
    if (err)
        deny(device);
    return !err;
}

static int put_frames(void *context, const uint32_t *words, size_t n_words)
{
    struct strobe_device *device = context;
    if (is_asked(device) && make_ring(device))
        describe(device); /* what was put before, nobody has */
    if (strobe_device_fifo_must_describe(&device->fifo))
        describe(device);
    return strobe_device_fifo_put(&device->fifo, words, n_words) != STROBE_OK;
}

void strobe_host_record_open(struct strobe_device *device)
{
    const char *folder = strobe_session_folder();
    const char *no_push = getenv("TT_METAL_PROFILER_DISABLE_PUSH_TO_TRACY");
    struct strobe_device_fifo_options options = {
        .dir = folder, .device = device->setup.index, .is_recorded = session_is_recorded(folder)};
    if (!folder || device->setup.options.mode == STROBE_DEVICE_MODE_OFF ||
        (no_push && *no_push == '1'))
        return;
    if (strobe_device_fifo_make(&options, &device->fifo))
        deny(device);
    else if (!options.is_recorded || make_ring(device))
        device->listeners[0] =
            (struct strobe_host_listener){.frames = put_frames, .context = device};
}

bool strobe_host_is_recorder(const struct strobe_device *device, uint32_t index)
{
    return device->listeners[index].frames == put_frames;
}

void strobe_host_record_end(struct strobe_device *device)
{
    device->fifo.is_ending = true;
}

void strobe_host_record_close(struct strobe_device *device)
{
    strobe_device_fifo_close(&device->fifo);
}

/* Kernels were built when the device was opened: markers can't come later. Who said that there be none knows. */
void strobe_host_tell_unmarked(struct strobe_device *device)
{
    const char *said;
    char text[256];
    if (device->setup.options.mode != STROBE_DEVICE_MODE_OFF ||
        !strobe_gate_is_open(strobe_gate_now) ||
        __atomic_exchange_n(&device->told_unmarked, 1, __ATOMIC_RELAXED) ||
        ((said = getenv("TT_METAL_DEVICE_PROFILER")) && *said == '0'))
        return;
    int n =
        snprintf(text, sizeof text,
                 "device %u: its kernels are not marked, since the profiler was off when it was "
                 "opened. Remedy: start the program under strobe record, or with "
                 "TT_METAL_DEVICE_PROFILER=1",
                 device->setup.index);
    strobe_message(STROBE_WARNING, 0, text, (size_t)n);
}

uint64_t strobe_host_flow(struct strobe_device *device)
{
    if (!strobe_gate_is_open(strobe_gate_now))
        return 0;
    uint64_t flow = (uint64_t)1 << 63 | (device->number & 0x7fffff) << 40 |
                    (__atomic_add_fetch(&device->n_flows, 1, __ATOMIC_RELAXED) & 0xffffffffff);
    strobe_flow_begin(flow);
    return flow;
}
