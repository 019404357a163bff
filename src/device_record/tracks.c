/* tracks.c - a track of the trace for each processor of a core that made something: its thread, its name, its place.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "device_record/internal.h"

enum { FIRST_TID = 256 }; /* below it: tracks of the device itself */

static const char *risc_name(const struct strobe_device_trace *t,
                             const struct strobe_device_core_facts *core, uint32_t risc,
                             char out[24])
{
    static const char *const tensix[] = {"BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2"};
    if (core->kind == STROBE_CORE_ETH)
        return risc ? "ERISC_1" : "ERISC";
    if (t->is_trace_only)
        return "TENSIX_RISC_AGG";
    if (t->n_riscs <= 5 && risc < 5)
        return tensix[risc];
    if (risc < 8)
        snprintf(out, 24, "QUASAR_DM%u", risc);
    else
        snprintf(out, 24, "QUASAR_NEO%u_TRISC%u", (risc - 8) / 4, (risc - 8) % 4);
    return out;
}

/* The core of an index, with facts of its own making where none came. NULL: no memory. */
static struct strobe_device_place *core_of(struct strobe_device_trace *t, uint32_t index)
{
    if (index >= t->n_cores) {
        uint32_t n = index < 64 ? 64 : index + index / 2 + 1;
        struct strobe_device_place *more = strobe_array_resize(t->cores, n, sizeof *more);
        if (!more)
            return NULL;
        memset(more + t->n_cores, 0, (n - t->n_cores) * sizeof *more);
        t->cores = more;
        t->n_cores = n;
    }
    STROBE_ASSERT(index < t->n_cores && t->cores);
    return &t->cores[index];
}

static void describe_track(struct strobe_device_trace *t, struct strobe_device_track *lane,
                           const struct strobe_device_core_facts *core, uint32_t risc)
{
    char text[64], buffer[24];
    uint32_t x = core->core_yx & 0xffff, y = core->core_yx >> 16;
    uint32_t logical_x = core->logical_yx & 0xffff, logical_y = core->logical_yx >> 16;
    int n = snprintf(text, sizeof text, "core %u,%u %s%s", logical_x, logical_y,
                     risc_name(t, core, risc, buffer), lane->n_resets ? ", after a reset" : "");
    STROBE_ASSERT(lane->track && n > 0 && (size_t)n < sizeof text);
    strobe_build_thread_name(t->build, lane->track, text, (size_t)n);
    uint64_t numbers[] = {
        strobe_build_track_id(lane->track), core->kind, x, y, logical_x, logical_y, risc};
    strobe_build_record(t->build, STROBE_META_DEVICE_LANE, numbers, NULL, NULL);
}

bool strobe_device_lanes_new_track(struct strobe_device_trace *t, struct strobe_device_track *lane,
                                   const struct strobe_device_place *core, uint32_t index,
                                   uint32_t risc)
{
    STROBE_ASSERT(risc < STROBE_DEVICE_RISCS &&
                  STROBE_DEVICE_RISCS <= 32);               /* no two lanes have one id */
    uint64_t tid = FIRST_TID + (uint64_t)index * 32 + risc; /* short: it is shown beside the name */
    uint64_t tick = t->options.host.tick_at(t->options.host.context, t->last_ns);
    struct strobe_build_track *track =
        strobe_build_thread(t->build, tid + ((uint64_t)lane->n_resets << 32), tick);
    if (!track)
        return false;
    lane->track = track;
    describe_track(t, lane, &core->facts, risc);
    return true;
}

struct strobe_device_track *strobe_device_lanes_known(struct strobe_device_trace *t,
                                                      const struct strobe_device_lane *lane)
{
    bool is_core = lane->core < t->n_cores && lane->risc < STROBE_DEVICE_RISCS;
    return is_core ? t->cores[lane->core].lanes[lane->risc] : NULL;
}

struct strobe_device_track *strobe_device_lanes_track(struct strobe_device_trace *t,
                                                      const struct strobe_device_lane *lane)
{
    struct strobe_device_place *core = core_of(t, lane->core);
    if (!core || lane->risc >= STROBE_DEVICE_RISCS)
        return NULL;
    if (core->lanes[lane->risc])
        return core->lanes[lane->risc];
    struct strobe_device_track *track = calloc(1, sizeof *track);
    if (!track)
        return NULL;
    if (!core->has_facts)
        core->facts = (struct strobe_device_core_facts){
            .index = lane->core, .core_yx = lane->core_yx, .logical_yx = lane->core_yx};
    if (!strobe_device_lanes_new_track(t, track, core, lane->core, lane->risc)) {
        free(track);
        return NULL;
    }
    STROBE_ASSERT(track->track && !core->lanes[lane->risc]);
    core->lanes[lane->risc] = track;
    t->n_lanes++;
    return track;
}

void strobe_device_lanes_core(struct strobe_device_trace *t,
                              const struct strobe_device_core_facts *facts)
{
    struct strobe_device_place *core = core_of(t, facts->index);
    if (!core)
        return;
    core->facts = *facts;
    core->has_facts = true;
}

const char *strobe_device_lanes_risc(const struct strobe_device_trace *t, uint32_t core,
                                     uint32_t risc, char out[24])
{
    STROBE_ASSERT(core < t->n_cores);
    return risc_name(t, &t->cores[core].facts, risc, out);
}
