/* pair.c - see pair.h. One pass over the events for fibers, spans and shared threads (query/walk.h, pair_spans.h), one for GPU zones
 * (query/gpu.h). Their rows go to a sort by track, begin and depth, and from there to the blocks.
 * SPDX-License-Identifier: MIT */
#include "query/pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/sort.h"
#include "query/gpu.h"
#include "query/pair_parts.h"
#include "query/pair_spans.h"
#include "query/paired.h"
#include "query/walk.h"

enum {
    SORT_BYTES = 32 << 20,
    MAX_LOOSE = 1 << 17, /* events that wait to be paired */
};

/* A row on its way through the sort, with its note beside it. */
struct sorted {
    uint64_t begin, end, self, loc;
    uint32_t track, depth;
    uint32_t process;
    uint32_t is_nested;
    uint64_t place_tick, place_seq; /* of spans that begin and end at once; of others 0 */
};

/* Where pairing by time would come to something: those that are open behind all others. */
struct place {
    uint64_t is_open, tick, seq;
};

struct pairing {
    struct strobe_trace *trace; /* owned */
    struct strobe_pair_out out;
    struct strobe_client_facts facts;
    struct strobe_sort *sort;        /* owned */
    struct strobe_pair_spans *spans; /* owned */
    struct strobe_idmap
        track_ids; /* (kind | process << 3, id), of GPU contexts (kind | context << 3, thread) */
    struct strobe_pair_sums *sums; /* owned: by track */
    struct place *places;          /* owned: by track, of its first zone */
    uint32_t *ranks;               /* owned: by track of rows, its number in the list */
    uint32_t sums_room, places_room;
    uint64_t busy_until[STROBE_PAIRED_DEPTHS]; /* of the spans that are handed out */
    uint32_t n_busy;
    char *bytes; /* owned: of a note */
    size_t bytes_room;
};

/* ---- rows in ---- */

/* The number of a track, made if need be; UINT32_MAX: too many, or no memory. */
static uint32_t track_of(struct pairing *pairing, uint32_t scope, uint64_t key,
                         const struct strobe_paired_track *made)
{
    struct strobe_paired_list *list = &pairing->out.list;
    scope = scope << 3 | made->kind;
    uint32_t found = strobe_idmap_find(&pairing->track_ids, scope, key);
    if (found != STROBE_IDMAP_NONE)
        return found;
    if (list->n_tracks == STROBE_PAIRED_TRACKS ||
        STROBE_ARRAY_REACH(pairing->sums, pairing->sums_room, list->n_tracks) ||
        STROBE_ARRAY_REACH(pairing->places, pairing->places_room, list->n_tracks) ||
        STROBE_ARRAY_RESERVE(list->tracks, list->tracks_room, list->n_tracks + 1ull) ||
        strobe_idmap_add(&pairing->track_ids, scope, key) == STROBE_IDMAP_NONE)
        return UINT32_MAX;
    pairing->sums[list->n_tracks] = (struct strobe_pair_sums){.first = UINT64_MAX};
    pairing->places[list->n_tracks] = (struct place){.is_open = UINT64_MAX};
    list->tracks[list->n_tracks] = *made;
    list->tracks[list->n_tracks].n_depths = 1;
    return list->n_tracks++;
}

static void count_row(struct pairing *pairing, const struct sorted *row)
{
    struct strobe_pair_sums *sums = &pairing->sums[row->track];
    if (row->end == UINT64_MAX)
        return;
    sums->n_ended++;
    sums->first = row->begin < sums->first ? row->begin : sums->first;
    sums->last = row->end > sums->last ? row->end : sums->last;
    sums->busy += (double)(row->end - row->begin);
}

/* A note as bytes: the struct, text, name. How many; 0: none, or no memory. */
static size_t pack_note(struct pairing *pairing, const struct strobe_note *note)
{
    if (!note || (!note->text && !note->name && !note->has_value && !note->has_color))
        return 0;
    const struct strobe_paired_note packed = {.n_text = note->text ? note->n_text : 0,
                                              .n_name = note->name ? note->n_name : 0,
                                              .value = note->value,
                                              .color = note->color,
                                              .has = (note->text ? STROBE_SAID_TEXT : 0u) |
                                                     (note->name ? STROBE_SAID_NAME : 0u) |
                                                     (note->has_value ? STROBE_SAID_VALUE : 0u) |
                                                     (note->has_color ? STROBE_SAID_COLOR : 0u)};
    size_t n = sizeof packed + packed.n_text + packed.n_name;
    if (STROBE_ARRAY_RENEW(pairing->bytes, pairing->bytes_room, n))
        return 0;
    memcpy(pairing->bytes, &packed, sizeof packed);
    if (packed.n_text)
        memcpy(pairing->bytes + sizeof packed, note->text, packed.n_text);
    if (packed.n_name)
        memcpy(pairing->bytes + sizeof packed + packed.n_text, note->name, packed.n_name);
    return n;
}

static enum strobe_err add_row(struct pairing *pairing, struct sorted row,
                               const struct strobe_note *note)
{
    if (row.track == UINT32_MAX) {
        pairing->out.list.n_left_out++;
        return STROBE_OK;
    }
    size_t n = pack_note(pairing, note);
    count_row(pairing, &row);
    return strobe_sort_add(pairing->sort, &row, pairing->bytes, n);
}

static uint32_t track_of_batch(struct pairing *pairing, const struct strobe_batch *batch)
{
    const struct strobe_trace *trace = pairing->trace;
    struct strobe_paired_track made = {.proc = trace->processes[batch->process].proc};
    if (batch->kind == STROBE_BATCH_FIBER) {
        made.kind = STROBE_PAIRED_FIBER;
        made.id = batch->id;
        return track_of(pairing, batch->process, batch->id, &made);
    }
    uint32_t first = trace->threads[batch->thread].twin - 1;
    made.kind = STROBE_PAIRED_THREAD;
    made.proc = trace->processes[trace->threads[first].process].proc;
    made.track = trace->threads[first].track;
    return track_of(pairing, 0, first, &made);
}

/* A zone that is no row. */
static void count_other(struct strobe_paired_list *list, const struct strobe_zone_row *zone)
{
    list->n_unfinished += zone->state == STROBE_ZONE_UNFINISHED;
    list->n_no_begin += zone->state == STROBE_ZONE_NO_BEGIN;
}

static int is_before(const struct place *x, const struct place *y)
{
    if (x->is_open != y->is_open)
        return x->is_open < y->is_open;
    return x->tick != y->tick ? x->tick < y->tick : x->seq < y->seq;
}

/* Pairing came to something of a track. */
static void note_place(struct pairing *pairing, uint32_t track, struct place place)
{
    if (track != UINT32_MAX && is_before(&place, &pairing->places[track]))
        pairing->places[track] = place;
}

static enum strobe_err take_batch(void *context, const struct strobe_batch *batch)
{
    struct pairing *pairing = context;
    enum strobe_err err = STROBE_OK;
    if (batch->kind == STROBE_BATCH_THREAD && !pairing->trace->threads[batch->thread].twin)
        return STROBE_OK;
    uint32_t track = track_of_batch(pairing, batch);
    for (uint32_t i = 0; i < batch->n_zones && !err; i++) {
        const struct strobe_zone_row *zone = &batch->zones[i];
        uint64_t id;
        note_place(
            pairing, track,
            (struct place){zone->state == STROBE_ZONE_OPEN, batch->place_tick, batch->place_seq});
        strobe_batch_loc(pairing->trace, batch, zone, &id);
        if (zone->state == STROBE_ZONE_NO_BEGIN || zone->state == STROBE_ZONE_UNFINISHED) {
            count_other(&pairing->out.list, zone);
            continue;
        }
        int has_ended = zone->state == STROBE_ZONE_ENDED;
        err = add_row(pairing,
                      (struct sorted){.begin = zone->begin,
                                      .end = has_ended ? zone->begin + zone->ticks : UINT64_MAX,
                                      .self = zone->self,
                                      .loc = id,
                                      .track = track,
                                      .depth = zone->depth,
                                      .process = batch->process,
                                      .is_nested = zone->is_nested},
                      zone->note ? &batch->notes[zone->note - 1] : NULL);
    }
    return err;
}

static enum strobe_err take_span_event(void *context, uint32_t process,
                                       const struct strobe_loose *loose, uint64_t seq)
{
    struct pairing *pairing = context;
    return strobe_pair_spans_add(pairing->spans, process, loose, seq);
}

static enum strobe_err take_span(void *context, const struct strobe_pair_span *span)
{
    struct pairing *pairing = context;
    const struct place place = {span->end == UINT64_MAX, span->place_tick, span->place_seq};
    const struct strobe_paired_track made = {.kind = STROBE_PAIRED_SPANS,
                                             .proc = pairing->trace->processes[span->process].proc};
    const struct sorted row = {.begin = span->begin,
                               .end = span->end,
                               .self = span->end == UINT64_MAX ? 0 : span->end - span->begin,
                               .loc = span->loc,
                               .track = track_of(pairing, span->process, 0, &made),
                               .process = span->process,
                               .place_tick = span->place_tick,
                               .place_seq = span->place_seq};
    note_place(pairing, row.track, place);
    return span->is_none ? STROBE_OK : add_row(pairing, row, NULL);
}

/* A track, and when pairing by time comes to it. */
struct placed {
    struct place place;
    struct strobe_paired_track track;
    uint32_t number; /* as rows have it */
};

static int by_first(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    return is_before(&x->place, &y->place) ? -1 : is_before(&y->place, &x->place);
}

/* Tracks are listed as pairing by time comes to them, whatever way they were paired; those of GPU zones, which come behind all, as they are. */
static enum strobe_err order_tracks(struct pairing *pairing)
{
    struct strobe_paired_list *list = &pairing->out.list;
    struct placed *placed = malloc((list->n_tracks + 1ull) * sizeof *placed);
    uint32_t n = 0;
    pairing->ranks = malloc((list->n_tracks + 1ull) * sizeof *pairing->ranks);
    if (!placed || !pairing->ranks) {
        free(placed);
        return STROBE_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < list->n_tracks; i++) {
        pairing->ranks[i] = i;
        if (list->tracks[i].kind != STROBE_PAIRED_GPU)
            placed[n++] = (struct placed){pairing->places[i], list->tracks[i], i};
    }
    qsort(placed, n, sizeof *placed, by_first);
    n = 0;
    for (uint32_t i = 0; i < list->n_tracks; i++)
        if (list->tracks[i].kind != STROBE_PAIRED_GPU) {
            pairing->ranks[placed[n].number] = i;
            list->tracks[i] = placed[n++].track;
        }
    free(placed);
    return STROBE_OK;
}

static enum strobe_err add_loose(struct pairing *pairing, const char *folder, int at_once)
{
    struct strobe_walk walk = strobe_walk_of_paired(pairing->trace, pairing, take_batch);
    walk.max_loose = MAX_LOOSE;
    walk.span_event = take_span_event;
    enum strobe_err err =
        strobe_pair_spans_open(folder, at_once, take_span, pairing, &pairing->spans);
    if (!err)
        err = strobe_walk_run(&walk);
    return err ? err : strobe_pair_spans_end(pairing->spans);
}

static enum strobe_err take_zone(void *context, const struct strobe_gpu_zone *zone)
{
    struct pairing *pairing = context;
    const struct strobe_gpu_context_fact *fact = &pairing->facts.contexts[zone->context];
    const struct strobe_paired_track made = {.kind = STROBE_PAIRED_GPU,
                                             .proc = pairing->trace->processes[fact->process].proc,
                                             .id = fact->id,
                                             .sub = zone->tid};
    if (zone->gpu_begin == STROBE_GPU_UNKNOWN)
        return STROBE_OK;
    const struct sorted row = {.begin = zone->begin_tick,
                               .end = zone->gpu_end == STROBE_GPU_UNKNOWN ? UINT64_MAX
                                                                          : zone->end_tick,
                               .self = strobe_gpu_self_ticks(zone),
                               .loc = zone->loc,
                               .track = track_of(pairing, zone->context, zone->tid, &made),
                               .depth = zone->depth,
                               .process = fact->process};
    return add_row(pairing, row, NULL);
}

static enum strobe_err add_gpu(struct pairing *pairing)
{
    struct strobe_gpu_troubles troubles;
    const struct strobe_gpu_visitor visitor = {
        .context = pairing, .zone = take_zone, .with_ticks = 1};
    enum strobe_err err = strobe_client_facts_load(pairing->trace, &pairing->facts);
    return err ? err : strobe_gpu_each(pairing->trace, &pairing->facts, &visitor, &troubles);
}

/* ---- rows out ---- */

/* Spans come by id, others by their ends already: all are put as they ended, those that did not last. */
static int by_end(const struct sorted *x, const struct sorted *y)
{
    if (!x->place_seq && !y->place_seq && !x->place_tick && !y->place_tick)
        return 0;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    if (x->place_tick != y->place_tick)
        return x->place_tick < y->place_tick ? -1 : 1;
    return x->place_seq < y->place_seq ? -1 : x->place_seq > y->place_seq;
}

static int by_place(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return by_end(x, y);
}

static struct strobe_sort_key key_of(const void *record)
{
    const struct sorted *row = record;
    return (struct strobe_sort_key){row->begin, row->track};
}

/* Spans may overlap: each gets the least depth that is free. */
static uint32_t depth_of_span(struct pairing *pairing, const struct sorted *row)
{
    uint32_t depth = 0;
    while (depth < pairing->n_busy && pairing->busy_until[depth] > row->begin)
        depth++;
    depth = depth < STROBE_PAIRED_DEPTHS ? depth : STROBE_PAIRED_DEPTHS - 1;
    pairing->n_busy = depth >= pairing->n_busy ? depth + 1 : pairing->n_busy;
    pairing->busy_until[depth] = row->end;
    return depth;
}

static enum strobe_err start_track(struct pairing *pairing, uint32_t track)
{
    enum strobe_err err = strobe_pair_end_track(&pairing->out);
    pairing->out.track = pairing->ranks[track];
    pairing->n_busy = 0;
    return err ? err : strobe_pair_levels_start(pairing->out.levels, &pairing->sums[track]);
}

static enum strobe_err take_row(void *context, const void *record, const void *bytes,
                                size_t n_bytes)
{
    struct pairing *pairing = context;
    struct strobe_pair_out *out = &pairing->out;
    struct strobe_paired_note note;
    struct sorted from;
    memcpy(&from, record, sizeof from);
    enum strobe_err err = STROBE_OK;
    if (out->track != pairing->ranks[from.track])
        err = start_track(pairing, from.track);
    if (err)
        return err;
    struct strobe_paired_row row = {.begin = from.begin,
                                    .end = from.end,
                                    .self = from.self,
                                    .proc = pairing->trace->processes[from.process].proc,
                                    .loc = from.loc,
                                    .depth = from.depth,
                                    .is_nested = from.is_nested != 0};
    if (out->list.tracks[out->track].kind == STROBE_PAIRED_SPANS)
        row.depth = depth_of_span(pairing, &from);
    if (n_bytes) {
        memcpy(&note, bytes, sizeof note);
        note.text = (const char *)bytes + sizeof note;
        note.name = note.text + note.n_text;
    }
    err = strobe_pair_put_row(out, &row, n_bytes ? &note : NULL);
    if (err || row.end == UINT64_MAX)
        return err;
    return strobe_pair_levels_add(out->levels, out, &row,
                                  strobe_table_loc(from.process, from.loc) + 1);
}

/* ---- all ---- */

/* 1: the trace has events of these kinds. */
static int has_kinds(struct strobe_file_writer *writer, uint64_t kinds)
{
    struct strobe_file_totals totals;
    strobe_file_read_totals(writer, &totals);
    for (int i = 0; i < STROBE_KIND_COUNT && i < 64; i++)
        if (kinds >> i & 1 && totals.by_kind[i])
            return 1;
    return 0;
}

/* The folder of the file that a descriptor is of. 0: it has none. */
static int folder_of(int fd, char *out, size_t room)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, out, room - 1);
    while (n > 0 && out[n - 1] != '/')
        n--;
    if (n > 0)
        out[n] = 0;
    return n > 0 && !access(out, W_OK);
}

/* What is to be paired, and where. */
struct job {
    int by_loose, by_gpu, at_once;
    const char *folder; /* borrowed */
};

/* *is_mixed: nothing was written, and it is to be done without a shortcut. */
static enum strobe_err run(struct pairing *pairing, const struct job *job, int *is_mixed)
{
    enum strobe_err err = strobe_pair_out_open(&pairing->out);
    if (!err && job->by_loose)
        err = add_loose(pairing, job->folder, job->at_once);
    *is_mixed = pairing->spans && strobe_pair_spans_is_mixed(pairing->spans);
    if (*is_mixed)
        return STROBE_OK;
    strobe_pair_spans_close(pairing->spans);
    pairing->spans = NULL;
    if (!err && job->by_gpu)
        err = add_gpu(pairing);
    if (!err)
        err = order_tracks(pairing);
    if (!err)
        err = strobe_sort_all(pairing->sort, take_row, pairing);
    if (!err)
        err = strobe_pair_end_track(&pairing->out);
    return err ? err : strobe_pair_out_finish(&pairing->out);
}

static void free_pairing(struct pairing *pairing)
{
    strobe_sort_close(pairing->sort);
    strobe_pair_spans_close(pairing->spans);
    strobe_pair_out_free(&pairing->out);
    strobe_idmap_free(&pairing->track_ids);
    strobe_client_facts_free(&pairing->facts);
    free(pairing->sums);
    free(pairing->places);
    free(pairing->ranks);
    free(pairing->bytes);
    strobe_trace_close(pairing->trace);
}

static enum strobe_err pair(struct strobe_file_writer *writer, struct job *job, int *is_mixed)
{
    struct pairing pairing = {.out = {.writer = writer}};
    struct strobe_file *file = NULL;
    char own[4096];
    int fd = strobe_file_dup(writer);
    *is_mixed = 0;
    if (fd < 0)
        return STROBE_ERR_IO;
    if (!job->folder && folder_of(fd, own, sizeof own))
        job->folder = own;
    enum strobe_err err = strobe_file_open_fd(fd, &file);
    if (!err)
        err = strobe_trace_open_file(file, 0, &pairing.trace);
    if (err)
        return err;
    pairing.out.trace = pairing.trace;
    job->by_loose |= pairing.trace->has_twins;
    const struct strobe_sort_options options = {.record_bytes = sizeof(struct sorted),
                                                .memory_bytes = SORT_BYTES,
                                                .compare = by_place,
                                                .key = key_of,
                                                .folder = job->folder};
    if (job->by_gpu || job->by_loose)
        err = strobe_sort_open(&options, &pairing.sort);
    if (!err && pairing.sort)
        err = run(&pairing, job, is_mixed);
    free_pairing(&pairing);
    job->folder = job->folder == own ? NULL : job->folder;
    return err;
}

enum strobe_err strobe_pair_write(struct strobe_file_writer *writer, const char *folder)
{
    struct job job = {.folder = folder, .at_once = 1};
    int is_mixed;
    job.by_gpu = has_kinds(writer, 1ull << STROBE_KIND_GPU_BEGIN);
    job.by_loose =
        has_kinds(writer, 1ull << STROBE_KIND_FIBER_ENTER | 1ull << STROBE_KIND_SPAN_BEGIN |
                              1ull << STROBE_KIND_SPAN_END);
    if (!job.by_gpu && !job.by_loose && strobe_file_totals(writer)->n_procs == 1)
        return STROBE_OK; /* and no thread is that of two processes */
    enum strobe_err err = pair(writer, &job, &is_mixed);
    if (!is_mixed)
        return err;
    job.at_once = 0;
    return pair(writer, &job, &is_mixed);
}

enum strobe_err strobe_pair_write_last(struct strobe_file_writer *writer)
{
    return strobe_pair_write(writer, NULL);
}
