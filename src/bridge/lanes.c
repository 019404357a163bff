/* lanes.c - zones of a device's processors as GPU zones: a core is a context, as tt-metal's own clients have it, its processors are threads of it.
 * Where that were more contexts than a server has numbers for, a device is one.
 *
 * The time of a zone follows its begin and its end at once, so a context needs one query. A server takes a time that lies 2^31 behind the one before for an
 * overflow of the GPU's counter; zones come when their parents end, so those of one processor may be that late: they go on in another context of the
 * same core.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/stream.h"

enum { GPU_GENERIC = 3, MOST_TURNS = 64 };
#define MOST_BACK_NS (1ll << 30)
#define LANE_KEY     (1ull << 63) /* no context of a client has such an id */
#define DEVICE_KEY   0xffffffffffffull

/* ---- contexts -------------------------------------------------------------------------------- */

static int64_t gpu_ns(const struct strobe_bridge_stream *stream, uint64_t raw)
{
    return (int64_t)((double)(int64_t)(raw - stream->init_tick) * stream->timer_mul);
}

/* Cores of a device: those that are known, or all of its grid while more may come. */
static uint64_t n_cores(const struct strobe_trace *trace, uint32_t process)
{
    const struct strobe_process *device = &trace->processes[process];
    uint64_t grid = (uint64_t)device->grid_x * device->grid_y;
    struct strobe_idmap cores = {0};
    for (uint32_t i = 0; i < trace->thread_ids.n; i++)
        if (trace->threads[i].is_lane && trace->threads[i].process == process)
            strobe_idmap_add(&cores, trace->threads[i].y, trace->threads[i].x);
    uint64_t n = cores.n > grid ? cores.n : grid;
    strobe_idmap_free(&cores);
    return n;
}

/* Whether a device has a context per core. It is decided once. */
static int is_by_core(struct strobe_bridge_stream *stream, uint32_t process)
{
    enum { UNKNOWN = 0, BY_CORE = 1, BY_DEVICE = 2 };
    uint32_t i = strobe_idmap_add_row(&stream->device_ids, 0, process, (void **)&stream->devices,
                                      &stream->devices_room, sizeof *stream->devices);
    if (i == STROBE_IDMAP_NONE)
        return 0;
    if (stream->devices[i] == UNKNOWN)
        stream->devices[i] =
            stream->context_ids.n + n_cores(stream->trace, process) <= STROBE_BRIDGE_MAX_CONTEXTS
                ? BY_CORE
                : BY_DEVICE;
    return stream->devices[i] == BY_CORE;
}

static void announce(struct strobe_bridge_stream *stream, uint32_t context, uint32_t thread,
                     int has_core)
{
    char name[STROBE_CORE_NAME_ROOM];
    double period = 1.0;
    uint64_t bits;
    memcpy(&bits, &period, sizeof bits);
    uint32_t n = strobe_trace_core_name(stream->trace, thread, has_core, name);
    strobe_wire_put(&stream->out, STROBE_TRACY_GPU_NEW_CONTEXT,
                    (uint64_t[]){stream->init_tick, 0, 0, bits, context, 0, GPU_GENERIC});
    strobe_wire_text(&stream->out, name, n);
    strobe_wire_put(&stream->out, STROBE_TRACY_GPU_CONTEXT_NAME, (uint64_t[]){context});
    stream->contexts[context].is_announced = 1;
    stream->contexts[context].last_ns = INT64_MIN / 2;
}

/* The number of a context in which a zone may begin at that time, + 1; 0: there is no room for one. */
static uint32_t find_context(struct strobe_bridge_stream *stream, uint32_t process,
                             const struct strobe_bridge_thread *thread, int64_t ns)
{
    const struct strobe_trace_thread *lane = &stream->trace->threads[thread->index];
    if (thread->context && ns >= stream->contexts[thread->context - 1].last_ns - MOST_BACK_NS)
        return thread->context;
    int by_core = is_by_core(stream, process);
    uint64_t core =
        by_core ? (uint64_t)(lane->y & 0xffffff) << 24 | (lane->x & 0xffffff) : DEVICE_KEY;
    for (uint64_t turn = 0; turn < MOST_TURNS; turn++) {
        uint64_t key = LANE_KEY | turn << 48 | core;
        uint32_t i = strobe_idmap_find(&stream->context_ids, process, key);
        if (i != STROBE_IDMAP_NONE && ns >= stream->contexts[i].last_ns - MOST_BACK_NS)
            return i + 1;
        if (i != STROBE_IDMAP_NONE)
            continue;
        if (stream->context_ids.n >= STROBE_BRIDGE_MAX_CONTEXTS)
            return 0;
        i = strobe_idmap_add_row(&stream->context_ids, process, key, (void **)&stream->contexts,
                                 &stream->contexts_room, sizeof *stream->contexts);
        if (i == STROBE_IDMAP_NONE)
            return 0;
        announce(stream, i, thread->index, by_core);
        return i + 1;
    }
    return 0;
}

/* ---- zones ----------------------------------------------------------------------------------- */

/* A time of the context's one query, which was just asked. One that would be taken for an overflow is moved, and counted. */
static void put_time(struct strobe_bridge_stream *stream, uint32_t context, int64_t ns)
{
    struct strobe_bridge_context *of = &stream->contexts[context];
    if (ns < of->last_ns - 2 * MOST_BACK_NS + 1) {
        ns = of->last_ns - 2 * MOST_BACK_NS + 1;
        strobe_bridge_leave_out(stream, STROBE_KIND_GPU_TIME);
    }
    of->last_ns = ns;
    strobe_wire_put(&stream->out, STROBE_TRACY_GPU_TIME, (uint64_t[]){(uint64_t)ns, 0, context});
}

void strobe_bridge_lane_begin(struct strobe_bridge_stream *stream, uint32_t process,
                              struct strobe_bridge_thread *thread, uint64_t tick, uint64_t loc)
{
    uint64_t raw = strobe_bridge_raw(stream, tick);
    int64_t ns = gpu_ns(stream, raw);
    int is_over;
    if (!thread->depth && !thread->n_skipped)
        thread->context = find_context(stream, process, thread, ns);
    if (!thread->context || thread->n_skipped) {
        thread->n_skipped++;
        strobe_bridge_leave_out(stream, STROBE_KIND_ZONE_BEGIN);
        return;
    }
    uint32_t context = thread->context - 1;
    STROBE_ASSERT(context < stream->context_ids.n && stream->contexts[context].is_announced);
    uint64_t pointer = strobe_bridge_loc(stream, process, loc, &is_over);
    strobe_wire_put(&stream->out, STROBE_TRACY_GPU_ZONE_BEGIN_SERIAL,
                    (uint64_t[]){raw, thread->tid, 0, context, pointer});
    put_time(stream, context, ns);
    thread->depth++;
    stream->n_zones++;
}

void strobe_bridge_lane_end(struct strobe_bridge_stream *stream,
                            struct strobe_bridge_thread *thread, uint64_t tick)
{
    uint64_t raw = strobe_bridge_raw(stream, tick);
    if (thread->n_skipped || !thread->depth) {
        thread->n_skipped -= thread->n_skipped != 0;
        strobe_bridge_leave_out(stream, STROBE_KIND_ZONE_END);
        return;
    }
    uint32_t context = thread->context - 1;
    STROBE_ASSERT(context < stream->context_ids.n);
    strobe_wire_put(&stream->out, STROBE_TRACY_GPU_ZONE_END_SERIAL,
                    (uint64_t[]){raw, thread->tid, 0, context});
    put_time(stream, context, gpu_ns(stream, raw));
    thread->depth--;
}
