/* life_probes.c - what probes in the code say (probe_kernel.h): functions as zones, marks as messages. They are of the process of zones, as
 * system calls are (life_zones.c). A return that never comes (longjmp, an exception, a record that was lost) is made up for by the stack
 * pointers, when the next one comes further out.  SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "sample/life_parts.h"
#include "sample/probes.h"

enum { DEPTH = 1024, PROBE_COLOR = 0 };

/* The file's number among those that are open for their names; 0: it is not. */
static uint32_t module_of(const struct strobe_life *life, const char *path)
{
    for (uint32_t i = 0; i < life->modules.n; i++)
        if (!strcmp(life->modules.items[i]->path, path))
            return life->modules.items[i]->fd >= 0 ? life->modules.items[i]->id : 0;
    return 0;
}

/* The location of a function in a process; its source file and line come at the end. 0: no room. */
static uint64_t loc_of(struct strobe_life *life, struct strobe_life_process *process,
                       uint32_t number)
{
    const struct strobe_probe *probe = &life->probes->items[number];
    char file[4096 + 32];
    uint64_t *loc;
    if (strobe_map_add(&process->calls, STROBE_LIFE_PROBE | number, &loc))
        return 0;
    if (*loc)
        return *loc;
    snprintf(file, sizeof file, "%s+0x%" PRIx64, probe->path, probe->vaddr);
    struct strobe_build_loc what = {.color = PROBE_COLOR,
                                    .function = probe->name,
                                    .n_function = strlen(probe->name),
                                    .file = file,
                                    .n_file = strlen(file),
                                    .name = ""};
    *loc = strobe_build_loc(process->zones, &what);
    uint32_t module = module_of(life, probe->path);
    if (*loc && module)
        strobe_wanted_put(&life->wanted,
                          (struct strobe_wanted_row){.address = STROBE_WANTED_LOC | *loc,
                                                     .vaddr = probe->vaddr,
                                                     .proc = process->zones_proc,
                                                     .module = module});
    return *loc;
}

static void put_step(struct strobe_life *life, struct strobe_pending_event event,
                     enum strobe_kind kind, uint64_t number)
{
    if (!strobe_pending_has_room(&life->pending, 1))
        strobe_life_flush(life);
    strobe_pending_zone(&life->pending, event, kind, number);
}

/* End what is open above the first `n`. */
static void end_above(struct strobe_life *life, struct strobe_life_thread *thread,
                      struct strobe_pending_event event, uint32_t n)
{
    for (; thread->n_probed > n; thread->n_probed--)
        put_step(life, event, STROBE_KIND_ZONE_END, 0);
}

static void begin_function(struct strobe_life *life, struct strobe_life_process *process,
                           struct strobe_life_thread *thread, struct strobe_pending_event event,
                           const struct strobe_perf_record *record)
{
    uint64_t loc = loc_of(life, process, record->probe.number);
    uint32_t n = thread->n_probed;
    while (n && thread->probed[n - 1].sp <= record->probe.sp)
        n--;
    end_above(life, thread, event, n);
    if (!loc || n == DEPTH || STROBE_ARRAY_RESERVE(thread->probed, thread->probed_room, n + 1ull)) {
        life->counts.n_refused += 2;
        return;
    }
    thread->probed[thread->n_probed++] =
        (struct strobe_life_probe){record->probe.sp, record->probe.number};
    put_step(life, event, STROBE_KIND_ZONE_BEGIN, loc);
}

/* The result is a value of the zone, whatever the function's type. */
static void end_function(struct strobe_life *life, struct strobe_life_thread *thread,
                         struct strobe_pending_event event, const struct strobe_perf_record *record)
{
    uint32_t n = thread->n_probed;
    while (n && thread->probed[n - 1].number != record->probe.number)
        n--;
    if (!n)
        return; /* it began before */
    end_above(life, thread, event, n);
    end_above(life, thread, event, n - 1);
}

/* As its type says. */
static int print_value(char *out, size_t room, const struct strobe_probe_argument *argument,
                       uint64_t value)
{
    uint32_t n_bits =
        8 * (uint32_t)(argument->n_bytes < 0 ? -argument->n_bytes : argument->n_bytes);
    if (n_bits < 64)
        value = argument->n_bytes < 0
                    ? (uint64_t)((int64_t)(value << (64 - n_bits)) >> (64 - n_bits))
                    : value & ((1ull << n_bits) - 1);
    return argument->n_bytes < 0
               ? snprintf(out, room, " %" PRId64, (int64_t)value)
               : snprintf(out, room, value > 1u << 31 ? " 0x%" PRIx64 : " %" PRIu64, value);
}

static void pass_mark(struct strobe_life *life, struct strobe_pending_event event,
                      const struct strobe_perf_record *record)
{
    const struct strobe_probe *probe = &life->probes->items[record->probe.number];
    char text[512];
    int n = snprintf(text, 256, "%s", probe->name);
    n = n > 255 ? 255 : n;
    for (uint32_t i = 0; i < probe->n_arguments; i++)
        n += print_value(text + n, sizeof text - (size_t)n, &probe->arguments[i],
                         record->probe.values[i]);
    STROBE_ASSERT(n > 0 && (size_t)n < sizeof text);
    if (!strobe_pending_has_room(&life->pending, sizeof text / 8))
        strobe_life_flush(life);
    strobe_pending_message(&life->pending, event, text, (size_t)n);
}

void strobe_life_probe(struct strobe_life *life, const struct strobe_perf_record *record,
                       uint64_t tick)
{
    struct strobe_life_process *process;
    struct strobe_pending_event event;
    STROBE_ASSERT(record->what == STROBE_PERF_PROBES);
    if (!life->probes || record->probe.number >= life->probes->n || !life->has_zones ||
        !strobe_life_zone_owner(life, record, tick, &process, &event))
        return;
    struct strobe_life_thread *thread = strobe_life_thread(life, process, record->tid, false);
    life->counts.n_probed++;
    if (life->probes->items[record->probe.number].is_mark)
        pass_mark(life, event, record);
    else if (record->probe.is_return)
        end_function(life, thread, event, record);
    else
        begin_function(life, process, thread, event, record);
}
