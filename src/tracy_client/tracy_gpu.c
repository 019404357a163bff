/* tracy_gpu.c - libTracyClient's functions for GPU contexts. What Tracy sends through its serial queue and what it
 * does not is the same here: every event has its thread and its tick.
 * Runs inside the traced program: never prints, exits or allocates.  SPDX-License-Identifier: MIT */
#include "tracy_client/tracy_client.h"

enum { TRACY_GPU_CALIBRATED = 1 }; /* bit of ___tracy_gpu_new_context_data.flags */

static void begin_number(uint64_t srcloc, uint16_t query, uint8_t context, int32_t depth)
{
    if (!strobe_recording())
        return;
    strobe_tracy_stack(depth);
    strobe_gpu_begin_id(context, query, srcloc);
}

static void begin(uint64_t address, uint16_t query, uint8_t context, int32_t depth)
{
    const struct ___tracy_source_location_data *srcloc =
        (const struct ___tracy_source_location_data *)(uintptr_t)address;
    struct strobe_loc *loc = strobe_tracy_loc(srcloc);
    if (!strobe_recording())
        return;
    if (!loc) {
        begin_number(strobe_tracy_loc_id(srcloc), query, context, depth);
        return;
    }
    strobe_tracy_stack(depth);
    strobe_gpu_begin(context, query, loc);
}

/* Contexts of OpenGL and Direct3D 11 belong to one thread in Tracy, the others' zones carry their own; the C functions say the
 * thread of the call, which is right for the former only. */
static uint64_t thread_of(uint8_t type)
{
    return type == STROBE_GPU_OPENGL || type == STROBE_GPU_DIRECT3D11 ? strobe_thread_number() : 0;
}

static void new_context(const struct ___tracy_gpu_new_context_data *data)
{
    struct strobe_gpu_context context = {.context = data->context,
                                         .type = data->type,
                                         .is_calibrated = data->flags & TRACY_GPU_CALIBRATED,
                                         .tid = thread_of(data->type),
                                         .time = data->gpuTime,
                                         .period_ns = (double)data->period};
    strobe_gpu_context_new(&context);
}

/* Each function and its serial twin. */
#define TWINS(what, type, ...)                                                    \
    void ___tracy_emit_gpu_##what(const struct ___tracy_gpu_##type data)          \
    {                                                                             \
        __VA_ARGS__;                                                              \
    }                                                                             \
    void ___tracy_emit_gpu_##what##_serial(const struct ___tracy_gpu_##type data) \
    {                                                                             \
        __VA_ARGS__;                                                              \
    }

TWINS(zone_begin, zone_begin_data, begin(data.srcloc, data.queryId, data.context, 0))
TWINS(zone_begin_callstack, zone_begin_callstack_data,
      begin(data.srcloc, data.queryId, data.context, data.depth))
TWINS(zone_begin_alloc, zone_begin_data, begin_number(data.srcloc, data.queryId, data.context, 0))
TWINS(zone_begin_alloc_callstack, zone_begin_callstack_data,
      begin_number(data.srcloc, data.queryId, data.context, data.depth))
TWINS(zone_end, zone_end_data, strobe_gpu_end(data.context, data.queryId))
TWINS(time, time_data, strobe_gpu_time(data.context, data.queryId, data.gpuTime))
TWINS(new_context, new_context_data, new_context(&data))
TWINS(context_name, context_name_data, strobe_gpu_context_name(data.context, data.name, data.len))
TWINS(calibration, calibration_data,
      strobe_gpu_calibrate(data.context, data.gpuTime, 0, data.cpuDelta))
TWINS(time_sync, time_sync_data, strobe_gpu_sync(data.context, data.gpuTime, 0))
