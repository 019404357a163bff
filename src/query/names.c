/* names.c - what things of a trace are called, and what of it is there.  SPDX-License-Identifier:
 * MIT */
#include "base/assert.h"
#include "query/trace.h"

#include <stdio.h>
#include <string.h>

const char *strobe_trace_text(const struct strobe_trace *trace, uint32_t text, uint32_t *n_bytes)
{
    return strobe_texts_get(&trace->texts, text, n_bytes);
}

static const char *made_up(char room[STROBE_NAME_ROOM], const char *what, uint64_t number,
                           uint32_t *n_bytes)
{
    *n_bytes =
        (uint32_t)snprintf(room, STROBE_NAME_ROOM, "%s %llu", what, (unsigned long long)number);
    return room;
}

/* What the system calls the first thread of a process that was only sampled: a fork that ran no program of its own. 0: no name. */
static uint32_t name_of_fork(const struct strobe_trace *trace, uint32_t process)
{
    for (uint32_t i = 0; trace->processes[process].is_sampled && i < trace->thread_ids.n; i++)
        if (trace->threads[i].process == process && trace->threads[i].name)
            return trace->threads[i].name;
    return 0;
}

const char *strobe_trace_process_name(const struct strobe_trace *trace, uint32_t process,
                                      char room[STROBE_NAME_ROOM], uint32_t *n_bytes)
{
    if (process >= trace->n_processes)
        return made_up(room, "process", process, n_bytes);
    const struct strobe_process *row = &trace->processes[process];
    if (row->twin)
        row = &trace->processes[row->twin - 1];
    if (row->program_name)
        return strobe_trace_text(trace, row->program_name, n_bytes);
    uint32_t fork = row->exe ? 0 : name_of_fork(trace, (uint32_t)(row - trace->processes));
    if (fork)
        return strobe_trace_text(trace, fork, n_bytes);
    if (!row->exe)
        return made_up(room, "process", row->proc, n_bytes);
    const char *exe = strobe_trace_text(trace, row->exe, n_bytes);
    const char *slash = memrchr(exe, '/', *n_bytes);
    if (!slash || slash + 1 == exe + *n_bytes)
        return exe;
    *n_bytes -= (uint32_t)(slash + 1 - exe);
    return slash + 1;
}

const char *strobe_trace_thread_name(const struct strobe_trace *trace, uint32_t thread,
                                     char room[STROBE_NAME_ROOM], uint32_t *n_bytes)
{
    const struct strobe_trace_thread *row = &trace->threads[thread];
    if (row->twin && trace->threads[row->twin - 1].name)
        row = &trace->threads[row->twin - 1];
    if (row->name)
        return strobe_trace_text(trace, row->name, n_bytes);
    return made_up(room, "thread", row->tid ? row->tid : row->track, n_bytes);
}

static const char *named(const struct strobe_trace *trace, const struct strobe_idmap *ids,
                         const uint32_t *rows, uint32_t process, uint64_t id, const char *what,
                         char room[STROBE_NAME_ROOM], uint32_t *n_bytes)
{
    uint32_t i = strobe_idmap_find(ids, process, id);
    if (i != STROBE_IDMAP_NONE && rows[i])
        return strobe_trace_text(trace, rows[i], n_bytes);
    return made_up(room, what, id, n_bytes);
}

uint32_t strobe_trace_core_name(const struct strobe_trace *trace, uint32_t thread, int has_core,
                                char out[STROBE_CORE_NAME_ROOM])
{
    const struct strobe_trace_thread *lane = &trace->threads[thread];
    uint32_t device =
        lane->process < trace->n_processes ? trace->processes[lane->process].device : 0;
    STROBE_ASSERT(lane->is_lane);
    int n = has_core ? snprintf(out, STROBE_CORE_NAME_ROOM,
                                "Device: %u, Logical (%u,%u) Physical (%u,%u)", device,
                                lane->logical_x, lane->logical_y, lane->x, lane->y)
                     : snprintf(out, STROBE_CORE_NAME_ROOM, "Device: %u", device);
    return (uint32_t)n;
}

const char *strobe_trace_fiber_name(const struct strobe_trace *trace, uint32_t process,
                                    uint64_t fiber, char room[STROBE_NAME_ROOM], uint32_t *n_bytes)
{
    return named(trace, &trace->fiber_ids, trace->fibers, process, fiber, "fiber", room, n_bytes);
}

const char *strobe_trace_lock_name(const struct strobe_trace *trace, uint32_t process,
                                   uint64_t lock, char room[STROBE_NAME_ROOM], uint32_t *n_bytes)
{
    uint32_t i = strobe_idmap_find(&trace->lock_ids, process, lock);
    uint32_t loc = STROBE_IDMAP_NONE;
    if (i != STROBE_IDMAP_NONE && !trace->locks[i] && i < trace->lock_locs_room)
        loc = strobe_trace_loc(trace, process, trace->lock_locs[i]);
    if (loc != STROBE_IDMAP_NONE) /* a lock without a name is called by its place */
        return strobe_trace_loc_name(trace, loc, trace->lock_locs[i], room, n_bytes);
    return named(trace, &trace->lock_ids, trace->locks, process, lock, "lock", room, n_bytes);
}

const char *strobe_trace_string(const struct strobe_trace *trace, uint32_t process, uint64_t id,
                                char room[STROBE_NAME_ROOM], uint32_t *n_bytes)
{
    uint32_t i = strobe_idmap_find(&trace->string_ids, process, id);
    if (i != STROBE_IDMAP_NONE || !id)
        return strobe_trace_text(trace, id ? trace->strings[i] : 0, n_bytes);
    return made_up(room, "string", id, n_bytes);
}

const char *strobe_trace_loc_name(const struct strobe_trace *trace, uint32_t loc, uint64_t id,
                                  char room[STROBE_NAME_ROOM], uint32_t *n_bytes)
{
    if (loc >= trace->loc_ids.n)
        return made_up(room, "loc", id, n_bytes);
    const struct strobe_loc_row *row = &trace->locs[loc];
    return strobe_trace_text(trace, row->name ? row->name : row->function, n_bytes);
}

const char *strobe_loss_text(uint64_t cause)
{
    switch (cause) {
#define X(name, number, text) \
    case number:              \
        return text;
        STROBE_LOSS_LIST(X)
#undef X
    }
    return "a cause that this version does not know";
}

/* A part that comes late (a recovered file) fills a gap, for no word is stored twice. */
static void fill_gap(struct strobe_trace_thread *row, const struct strobe_part *part)
{
    uint64_t end = part->pos + part->n_words;
    if (end <= row->first_pos) {
        row->gap_words += row->first_pos - end;
        row->first_pos = part->pos;
    } else {
        row->gap_words -= part->n_words < row->gap_words ? part->n_words : row->gap_words;
    }
}

void strobe_trace_note_part(struct strobe_trace *trace, uint32_t thread,
                            const struct strobe_part *part)
{
    struct strobe_trace_thread *row = &trace->threads[thread];
    if (!row->is_seen)
        row->first_pos = part->pos;
    else if (part->pos < row->next_pos)
        fill_gap(row, part);
    else
        row->gap_words += part->pos - row->next_pos;
    if (!row->is_seen || part->pos + part->n_words > row->next_pos)
        row->next_pos = part->pos + part->n_words;
    row->n_stored += part->n_events;
    row->is_seen = 1;
}

void strobe_trace_forget_parts(struct strobe_trace *trace)
{
    for (uint32_t i = 0; i < trace->thread_ids.n; i++) {
        struct strobe_trace_thread *row = &trace->threads[i];
        row->n_stored = row->next_pos = row->gap_words = row->first_pos = row->is_seen = 0;
    }
    trace->is_counted = 1;
}

/* 1: loss records say that words of this track were taken and could not be written. */
static int is_explained(const struct strobe_trace *trace, const struct strobe_trace_thread *thread)
{
    static const uint32_t causes[] = {STROBE_LOSS_DISK, STROBE_LOSS_FILE_LIMIT, STROBE_LOSS_DAMAGED,
                                      STROBE_LOSS_HOLE, STROBE_LOSS_TRACE_SIZE};
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
        if (strobe_idmap_find(&trace->loss_ids, thread->process << 8 | causes[i], thread->track) !=
            STROBE_IDMAP_NONE)
            return 1;
    return 0;
}

uint64_t strobe_trace_sample_hz(const struct strobe_trace *trace)
{
    uint64_t hz = 0;
    for (uint32_t i = 0; i < trace->n_processes; i++)
        if (trace->processes[i].is_sampled || (!hz && trace->processes[i].is_timed))
            hz = trace->processes[i].sample_hz;
    return hz;
}

void strobe_trace_coverage(const struct strobe_trace *trace, struct strobe_coverage *out)
{
    const struct strobe_file_facts *facts = strobe_file_facts(trace->file);
    uint64_t n_walked = 0, n_in_footer = 0;
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < trace->thread_ids.n; i++) {
        const struct strobe_trace_thread *thread = &trace->threads[i];
        n_walked += thread->n_stored;
        if (facts->n_holes || !is_explained(trace, thread))
            out->n_hole_words += thread->gap_words;
        if (facts->n_holes) /* without holes: an earlier recording, or what a flight recorder let go
                             */
            out->n_hole_words += thread->first_pos;
    }
    for (int i = 0; i < STROBE_KIND_COUNT; i++)
        n_in_footer += facts->totals.n_of_kind[i];
    out->is_exact = facts->totals.has_totals || n_walked;
    out->n_stored = n_walked ? n_walked : n_in_footer;
    if (facts->n_holes && trace->is_counted && n_in_footer >= n_walked) { /* the footer knows it */
        out->n_stored = n_walked;
        out->n_hole_words = n_in_footer - n_walked;
    }
    for (uint32_t i = 0; i < trace->loss_ids.n; i++)
        out->n_dropped +=
            strobe_loss_is_of_events(trace->losses[i].cause) ? trace->losses[i].count : 0;
    out->n_emitted = out->n_stored + out->n_dropped + out->n_hole_words;
}
