/* recover.c - mending a trace.
 *
 * The file is read once from front to back, as any reader would: that gives for each thread the
 * number of its last stored word and the zones that were open there. The rest is an ordinary
 * recording without processes: the collector drains what the pools still hold, behind those
 * positions, and the writer closes the file. SPDX-License-Identifier: MIT */
#include "collector/recover.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/assert.h"
#include "collector/internal.h"
#include "file/decode.h"
#include "file/file_read.h"
#include "file/replay.h"
#include "ring/alive.h"
#include "wire/tracy_notice.h"

/* A thread as the file leaves it. */
struct seen_track {
    uint64_t proc, track, pos, last_tick;
    uint64_t lost[STROBE_LOSS_COUNT]; /* in the file already */
    struct strobe_carry carry;
    bool used;
    bool is_thread;  /* and was counted */
    bool is_process; /* of track 0: its process was counted */
};

struct seen_pool {
    uint64_t proc, meta_pos;
    char name[96];
};

struct survey {
    struct seen_track *tracks; /* owned: hash, n_slots entries */
    uint32_t n_tracks, n_slots;
    struct seen_pool *pools; /* owned */
    uint32_t n_pools, cap_pools;
    struct strobe_index_entry *entries; /* owned */
    uint64_t n_entries, cap_entries;
    struct strobe_file_totals totals;
    struct strobe_schema schema;
    bool has_session;
    struct strobe_build_loss *ledger; /* owned: of the reserved one */
    uint32_t n_ledger, cap_ledger;
    bool has_ledger; /* the disk was full at some time */
    bool has_ended;  /* its recorder, in good order: it had no room for the end of the file */
};

static uint32_t hash_track(uint64_t proc, uint64_t track)
{
    return (uint32_t)(((proc * 0x9e3779b97f4a7c15ull) ^ (track * 0xbf58476d1ce4e5b9ull)) >> 32);
}

static struct seen_track *probe(struct seen_track *tracks, uint32_t n_slots, uint64_t proc,
                                uint64_t track)
{
    STROBE_ASSERT(n_slots && !(n_slots & (n_slots - 1)));
    uint32_t i = hash_track(proc, track) & (n_slots - 1);
    while (tracks[i].used && (tracks[i].proc != proc || tracks[i].track != track))
        i = (i + 1) & (n_slots - 1);
    return &tracks[i];
}

static struct seen_track *track_of(struct survey *s, uint64_t proc, uint64_t track)
{
    if (2 * s->n_tracks >= s->n_slots) {
        uint32_t n = s->n_slots ? 2 * s->n_slots : 256;
        struct seen_track *more = calloc(n, sizeof *more);
        if (!more)
            return NULL;
        for (uint32_t i = 0; i < s->n_slots; i++)
            if (s->tracks[i].used)
                *probe(more, n, s->tracks[i].proc, s->tracks[i].track) = s->tracks[i];
        free(s->tracks);
        s->tracks = more;
        s->n_slots = n;
    }
    STROBE_ASSERT(s->n_tracks < s->n_slots);
    struct seen_track *seen = probe(s->tracks, s->n_slots, proc, track);
    if (!seen->used) {
        seen->used = true;
        seen->proc = proc;
        seen->track = track;
        s->n_tracks++;
    }
    return seen;
}

/* A thread counts once it is named or has events, or has a slot in a pool: what a loss alone names may be none. */
static void count_thread(struct survey *s, struct seen_track *seen)
{
    s->totals.n_threads += !seen->is_thread && seen->track != STROBE_META_TRACK;
    seen->is_thread = true;
}

static struct seen_track *thread_of(struct survey *s, uint64_t proc, uint64_t track)
{
    struct seen_track *seen = track_of(s, proc, track);
    if (seen)
        count_thread(s, seen);
    return seen;
}

/* A process counts once, whatever block tells of it: others may be missing. */
static enum strobe_err count_process(struct survey *s, uint64_t proc)
{
    struct seen_track *seen = track_of(s, proc, STROBE_META_TRACK);
    if (!seen)
        return STROBE_ERR_NOMEM;
    s->totals.n_procs += !seen->is_process;
    seen->is_process = true;
    return STROBE_OK;
}

static void free_survey(struct survey *s)
{
    for (uint32_t i = 0; i < s->n_slots; i++)
        if (s->tracks[i].used)
            strobe_carry_free(&s->tracks[i].carry);
    free(s->tracks);
    free(s->pools);
    free(s->entries);
    free(s->ledger);
}

static enum strobe_err add_entry(struct survey *s, const struct strobe_block_ref *ref,
                                 uint64_t n_events, uint64_t n_zones)
{
    struct strobe_index_entry *entry = STROBE_ARRAY_PUSH(s->entries, s->n_entries, s->cap_entries);
    if (!entry)
        return STROBE_ERR_NOMEM;
    *entry = (struct strobe_index_entry){ref->offset,
                                         ref->head.tick_min,
                                         ref->head.tick_max,
                                         n_events,
                                         n_zones,
                                         (uint32_t)ref->n_bytes,
                                         ref->head.type,
                                         ref->head.level,
                                         0};
    return STROBE_OK;
}

/* ---- blocks of events ---- */

static void count_symbols(struct survey *s, const struct strobe_events *events)
{
    const uint8_t *sym = events->stream[STROBE_SYM];
    uint64_t n[256] = {0};
    for (uint32_t i = 0; i < events->n_stream[STROBE_SYM]; i++)
        n[sym[i]]++;
    for (int i = 0; i < STROBE_SYM_BEGIN; i++)
        s->totals.by_kind[i] += n[i];
    for (int i = STROBE_SYM_BEGIN; i < 256; i++)
        s->totals.by_kind[STROBE_KIND_ZONE_BEGIN] += n[i];
}

static enum strobe_err survey_part(struct survey *s, const struct strobe_events *events,
                                   const struct strobe_part *part, struct strobe_replay *replay,
                                   uint64_t *n_zones)
{
    if (count_process(s, part->proc))
        return STROBE_ERR_NOMEM;
    struct seen_track *seen = thread_of(s, part->proc, part->track);
    if (!seen)
        return STROBE_ERR_NOMEM;
    /* damage inside a block whose hashes are right: what was read before it counts */
    enum strobe_err err =
        strobe_replay_part(events, part, &s->schema, STROBE_REPLAY_KEPT, &seen->carry, replay);
    if (err == STROBE_ERR_NOMEM)
        return err;
    for (uint32_t i = 0; i < replay->n_zones; i++)
        *n_zones += replay->zones[i].state == STROBE_ZONE_ENDED;
    if (part->pos + part->n_words > seen->pos)
        seen->pos = part->pos + part->n_words;
    if (part->n_events)
        seen->last_tick = part->last_tick;
    return STROBE_OK;
}

static enum strobe_err survey_events(struct survey *s, const struct strobe_block *block,
                                     struct strobe_events *events, struct strobe_replay *replay)
{
    uint64_t n_zones = 0;
    enum strobe_err err = strobe_decode_parts(block, events);
    if (!err)
        err = strobe_decode_streams(block, STROBE_ALL_STREAMS, events);
    if (err)
        return err == STROBE_ERR_NOMEM ? err : STROBE_OK;
    for (uint32_t i = 0; i < events->n_parts; i++) {
        err = survey_part(s, events, &events->parts[i], replay, &n_zones);
        if (err)
            return err;
    }
    count_symbols(s, events);
    s->totals.n_events += events->n_events;
    s->totals.n_zones += n_zones;
    if (events->n_events) {
        uint64_t first = block->ref.head.tick_min, last = block->ref.head.tick_max;
        if (!s->totals.first_tick || first < s->totals.first_tick)
            s->totals.first_tick = first;
        if (last > s->totals.last_tick)
            s->totals.last_tick = last;
    }
    return add_entry(s, &block->ref, events->n_events, n_zones);
}

/* ---- blocks of records ---- */

static enum strobe_err note_pool(struct survey *s, uint64_t proc, const char *name, size_t n_name,
                                 uint64_t meta_pos)
{
    uint32_t i = 0;
    while (i < s->n_pools && s->pools[i].proc != proc)
        i++;
    if (i == s->n_pools) {
        if (STROBE_ARRAY_RESERVE(s->pools, s->cap_pools, i + 1ull))
            return STROBE_ERR_NOMEM;
        memset(&s->pools[i], 0, sizeof s->pools[i]);
        s->n_pools++;
        if (s->has_session && count_process(s, proc))
            return STROBE_ERR_NOMEM;
    }
    STROBE_ASSERT(i < s->n_pools);
    struct seen_pool *pool = &s->pools[i];
    pool->proc = proc;
    if (meta_pos > pool->meta_pos)
        pool->meta_pos = meta_pos;
    if (n_name < sizeof pool->name && !memchr(name, '/', n_name)) {
        memcpy(pool->name, name, n_name);
        pool->name[n_name] = 0;
    }
    for (i = 0; i < s->n_pools;
         i++) /* an earlier file of that name is gone: the name was free again */
        if (s->pools[i].proc < proc && !strcmp(s->pools[i].name, pool->name))
            s->pools[i].name[0] = 0;
    return STROBE_OK;
}

/* The slots in the pools still count what the dead recorder wrote down already. */
static enum strobe_err note_loss(struct survey *s, const struct strobe_field *f)
{
    uint64_t proc = f[0].u, track = f[1].u, cause = f[2].u, count = f[3].u;
    if (cause >= STROBE_LOSS_COUNT)
        return STROBE_OK;
    s->totals.lost[cause] += count;
    struct seen_track *seen = track_of(s, proc, track);
    if (!seen)
        return STROBE_ERR_NOMEM;
    seen->lost[cause] += count;
    return STROBE_OK;
}

static enum strobe_err survey_records(struct survey *s, const struct strobe_block *block,
                                      struct strobe_record_walk *walk)
{
    struct strobe_record record;
    enum strobe_err err = strobe_record_walk_start(block, &s->schema, walk);
    while (!err && !strobe_record_walk_next(walk, &record)) {
        const struct strobe_field *f = record.fields;
        if (record.kind == STROBE_FACT_POOL && record.n_fields == 3)
            err = note_pool(s, f[0].u, f[1].text, f[1].u, f[2].u);
        else if (record.kind == STROBE_FACT_LOSS && record.n_fields == 6)
            err = note_loss(s, f);
        else if (record.kind == STROBE_FACT_RECORDING && record.n_fields == 2)
            s->has_ended = f[1].u == 1;
        else if (record.kind == STROBE_META_PROCESS)
            err = count_process(s, record.proc);
        else if (record.kind == STROBE_META_THREAD && record.n_fields == 4 &&
                 !thread_of(s, record.proc, f[0].u))
            err = STROBE_ERR_NOMEM;
    }
    if (err == STROBE_ERR_NOMEM)
        return err;
    return add_entry(s, &block->ref, 0, 0);
}

/* Read the whole file once. */
static enum strobe_err survey_file(struct strobe_file *file, struct survey *s,
                                   void (*progress)(uint64_t done, uint64_t all))
{
    struct strobe_block block = {0};
    struct strobe_events events = {0};
    struct strobe_replay replay = {0};
    struct strobe_record_walk walk = {0};
    struct strobe_block_iter *iter = NULL;
    struct strobe_block_filter everything = {.with_lod = 1, .with_paired = 1};
    uint64_t n_blocks = 0;
    strobe_schema_read(strobe_file_facts(file)->schema, &s->schema);
    enum strobe_err err = strobe_file_iterate(file, &everything, &iter);
    while (!err) {
        enum strobe_err next = strobe_file_next_block(iter, &block);
        if (next == STROBE_ERR_END)
            break;
        if (next) {
            err = next;
            break;
        }
        if (block.ref.head.type == STROBE_BLOCK_EVENTS)
            err = survey_events(s, &block, &events, &replay);
        else if (block.ref.head.type == STROBE_BLOCK_RECORDS)
            err = survey_records(s, &block, &walk);
        else /* derived: listed as they are */
            err = add_entry(s, &block.ref, 0, 0);
        if (progress && ++n_blocks % 256 == 0)
            progress(strobe_file_tell(iter), strobe_file_facts(file)->n_bytes);
    }
    strobe_file_end_iterate(iter);
    strobe_block_free(&block);
    strobe_events_free(&events);
    strobe_replay_free(&replay);
    strobe_record_walk_free(&walk);
    return err;
}

/* ---- the session's folder ---- */

static const char *pool_name(const struct survey *s, uint64_t proc)
{
    for (uint32_t i = 0; i < s->n_pools; i++)
        if (s->pools[i].proc == proc)
            return s->pools[i].name;
    return NULL;
}

/* A track's open zones as they were at the end of the file; the caller frees the stack. False: no memory. */
static bool track_state(const struct seen_track *seen, struct strobe_track *out)
{
    uint32_t n_under = seen->carry.n_under;
    struct strobe_open_zone *stack = calloc(n_under + seen->carry.n_open + 1, sizeof *stack);
    if (!stack)
        return false;
    for (uint32_t k = 0; k < seen->carry.n_open; k++)
        stack[n_under + k] =
            (struct strobe_open_zone){seen->carry.open[k].loc, seen->carry.open[k].begin,
                                      seen->carry.open[k].children_ticks, 0, 0};
    *out = (struct strobe_track){.stack = stack,
                                 .depth = n_under + seen->carry.n_open,
                                 .fiber = seen->carry.fiber,
                                 .last_tick = seen->last_tick};
    return true;
}

static void count_slots(struct survey *s)
{
    for (uint32_t i = 0; i < s->n_slots; i++)
        if (s->tracks[i].used && pool_name(s, s->tracks[i].proc))
            count_thread(s, &s->tracks[i]);
}

static enum strobe_err resume_tracks(struct survey *s, struct strobe_collector *c)
{
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; i < s->n_pools; i++)
        strobe_collector_resume_meta(c, s->pools[i].name, (uint32_t)s->pools[i].proc,
                                     s->pools[i].meta_pos);
    for (uint32_t i = 0; i < s->n_slots && !err; i++) {
        const struct seen_track *seen = &s->tracks[i];
        const char *name = seen->used ? pool_name(s, seen->proc) : NULL;
        if (seen->used && !name) /* of a device: its number is taken */
            strobe_collector_resume_meta(c, NULL, (uint32_t)seen->proc, 0);
        if (!name)
            continue;
        struct strobe_track state;
        if (!track_state(seen, &state))
            return STROBE_ERR_NOMEM;
        err = strobe_collector_resume_track(c, name, (uint32_t)seen->proc, seen->track, seen->pos,
                                            &state, seen->lost);
        free(state.stack);
    }
    return err;
}

/* ---- what else is in the folder ---- */

struct asking {
    struct survey *survey;
    struct strobe_open_zone *stack; /* owned: of the last answer */
};

/* What the file has of a track: strobe_build_ask. */
static bool ask_track(void *context, uint32_t proc, uint64_t track, struct strobe_build_known *out)
{
    struct asking *asking = context;
    struct survey *s = asking->survey;
    struct seen_track *seen = s->n_slots ? probe(s->tracks, s->n_slots, proc, track) : NULL;
    free(asking->stack);
    asking->stack = NULL;
    if (!seen || !seen->used || !track_state(seen, &out->state))
        return false;
    asking->stack = out->state.stack;
    out->pos = seen->pos;
    out->lost = seen->lost;
    return true;
}

/* What sources other than pools left in the folder. */
static enum strobe_err recover_rest(strobe_recover_rest *rest, struct survey *s, const char *dir,
                                    struct strobe_file_writer *writer, struct strobe_collector *c)
{
    struct asking asking = {.survey = s};
    struct strobe_recover_place place = {
        .dir = dir, .writer = writer, .collector = c, .ask = ask_track, .ask_context = &asking};
    enum strobe_err err = rest ? rest(&place) : STROBE_OK;
    free(asking.stack);
    return err;
}

/* Remove the session's folder once nothing is left in it but its page and the socket of a dead recorder: a later recovery of another copy of
 * the trace is not to take it for a session that lost nothing. */
static void remove_session(const char *dir)
{
    char page[STROBE_PATH_MAX + 16], aside[STROBE_PATH_MAX + 32], bell[STROBE_PATH_MAX + 16];
    snprintf(page, sizeof page, "%s/session", dir);
    snprintf(bell, sizeof bell, "%s/" STROBE_TRACY_SOCKET_FILE, dir);
    unlink(bell); /* its recorder is dead: nobody holds the session */
    snprintf(aside, sizeof aside, "%s-recovered-%d", dir, (int)getpid());
    if (rename(page, aside))
        return;
    if (rmdir(dir))
        rename(aside, page);
    else
        unlink(aside);
}

/* The reserved ledger: what a full disk cost, and whether the recorder ended in good order. */
static enum strobe_err survey_ledger(struct strobe_file *file, struct survey *s)
{
    struct strobe_record_walk walk = {0};
    struct strobe_record record;
    size_t n;
    uint8_t *slot = malloc(STROBE_FILE_LEDGER_SLOT);
    enum strobe_err err = slot ? STROBE_OK : STROBE_ERR_NOMEM;
    if (!err && strobe_file_ledger(file, slot, &n) == STROBE_OK) {
        strobe_record_walk_over(slot, n, &s->schema, &walk);
        while (!err && !strobe_record_walk_next(&walk, &record)) {
            const struct strobe_field *f = record.fields;
            s->has_ledger = true;
            if (record.kind == STROBE_FACT_RECORDING && record.n_fields == 2)
                s->has_ended = f[1].u == 1;
            if (record.kind != STROBE_FACT_LOSS || record.n_fields != 6)
                continue;
            struct strobe_build_loss *loss =
                STROBE_ARRAY_PUSH(s->ledger, s->n_ledger, s->cap_ledger);
            err = loss ? STROBE_OK : STROBE_ERR_NOMEM;
            if (loss)
                *loss = (struct strobe_build_loss){.proc = (uint32_t)f[0].u,
                                                   .track = f[1].u,
                                                   .cause = (uint32_t)f[2].u,
                                                   .count = f[3].u,
                                                   .first = f[4].u,
                                                   .last = f[5].u};
        }
    }
    strobe_record_walk_free(&walk);
    free(slot);
    return err;
}

/* They are this recovery's to write now: should the disk still be full, its own ledger has them too. */
static void take_over_ledger(const struct survey *s, struct strobe_collector *c)
{
    for (uint32_t i = 0; i < s->n_ledger; i++) {
        const struct strobe_build_loss *loss = &s->ledger[i];
        if (loss->cause >= STROBE_LOSS_COUNT)
            continue;
        strobe_build_losses_add(&c->block.losses, loss);
        strobe_file_count_lost(c->block.writer, (enum strobe_loss)loss->cause, loss->count);
    }
    c->block.losses.in_ledger = s->n_ledger != 0;
}

/* What the session's memory held is gone with it, and so may be what was not synced: how much that was, nobody knows. It
 * counts as one event. */
static enum strobe_err note_missing_end(struct survey *s, struct strobe_file_writer *writer)
{
    static const char text[] = "mended without its session, as after a power cut: what was emitted "
                               "after the last event here, "
                               "and shortly before it, may be missing";
    struct strobe_records records = {0};
    uint64_t last = s->totals.last_tick;
    const uint64_t loss[] = {0, 0, STROBE_LOSS_HOLE, 1, last, last};
    strobe_records_begin(&records, STROBE_FACT_NOTE);
    strobe_records_u(&records, 0);
    strobe_records_s(&records, text, sizeof text - 1);
    strobe_records_end(&records);
    strobe_records_numbers(&records, STROBE_FACT_LOSS, loss, 6);
    strobe_records_tick(&records, last);
    enum strobe_err err = strobe_file_put_records(writer, &records);
    if (!err)
        strobe_file_count_lost(writer, STROBE_LOSS_HOLE, 1);
    strobe_records_free(&records);
    return err;
}

static const char died_note[] =
    "its recorder died, and the trace was mended from what the session's memory held: what was "
    "emitted after that is here as far as it fit, or counted as dropped; programs that started "
    "later, samples and context switches may be missing from there on";

static const char gone_note[] =
    "made of what the session's memory held: what its recorder had written to a file before is not "
    "in it";

static enum strobe_err append_rest(const char *path, const char *dir, struct survey *s,
                                   uint64_t end, uint64_t seq, strobe_recover_rest *rest,
                                   strobe_recover_last *last, struct strobe_recovery *out)
{
    struct strobe_file_writer *writer = NULL;
    struct strobe_collector *c = NULL;
    struct strobe_collector_options options = {.session_dir = dir, .post_mortem = true};
    count_slots(s);
    enum strobe_err err =
        strobe_file_append(path, end, seq, &s->totals, s->entries, s->n_entries, &writer);
    if (err)
        return err;
    if (out->had_session) {
        err = strobe_collector_open(&options, writer, &c);
        if (!err) {
            take_over_ledger(s, c);
            err = resume_tracks(s, c);
        }
        if (!err) {
            strobe_collector_stop(c);
            if (out->has_died)
                strobe_collector_note(c, 0, died_note);
            if (out->is_new) { /* how many events that were, nobody knows: it counts as one */
                strobe_collector_note(c, 0, gone_note);
                strobe_collector_lose(c, 0, 0, STROBE_LOSS_HOLE, 1, c->last_sync_tick,
                                      c->last_sync_tick);
            }
        }
        if (!err)
            err = recover_rest(rest, s, dir, writer, c);
        if (c) {
            struct strobe_collector_status status = strobe_collector_status(c);
            out->n_added = status.n_events - out->n_before;
            out->n_lost = status.n_lost;
            out->n_procs_left = status.n_procs;
            enum strobe_err closed = strobe_collector_close(c);
            err = err ? err : closed;
        }
    } else if (!s->has_ended) {
        err = note_missing_end(s, writer);
    }
    if (!err && last)
        last(writer);
    if (err == STROBE_ERR_NOMEM ||
        err == STROBE_ERR_FILES) { /* a footer would call it whole: another try may have more */
        strobe_file_abandon(writer);
        return err;
    }
    enum strobe_err finished = strobe_file_finish(writer);
    err = err ? err : finished;
    if (!err && out->had_session)
        remove_session(dir);
    return err;
}

static enum strobe_err recover(const char *path, const char *session_dir, bool is_new,
                               void (*progress)(uint64_t done, uint64_t all),
                               strobe_recover_rest *rest, strobe_recover_last *last,
                               struct strobe_recovery *out)
{
    struct strobe_file *file = NULL;
    struct survey s = {0};
    char dir[800];
    *out = (struct strobe_recovery){.is_new = is_new};
    enum strobe_err err = strobe_file_open(path, &file);
    if (err)
        return err;
    const struct strobe_file_facts *facts = strobe_file_facts(file);
    snprintf(dir, sizeof dir, "%s", session_dir ? session_dir : facts->session);
    out->was_closed = facts->closed;
    out->had_session = dir[0] && strlen(dir) < STROBE_PATH_MAX && !access(dir, X_OK);
    if (out->had_session && strobe_session_is_held(dir)) {
        strobe_file_close(file);
        return STROBE_ERR_BUSY;
    }
    if (out->was_closed && !out->had_session) {
        out->n_before = 0;
        strobe_file_close(file);
        return STROBE_OK;
    }
    s.has_session = out->had_session;
    err = survey_file(file, &s, progress);
    err = err ? err : survey_ledger(file, &s);
    out->has_died = !out->was_closed && !s.has_ended;
    /* Without a ledger the disk was not full: then blocks behind that record were lost with the power. */
    s.has_ended = s.has_ended && s.has_ledger && !facts->n_holes;
    uint64_t end = facts->end, seq = facts->next_seq;
    out->n_holes = facts->n_holes;
    out->hole_bytes = facts->hole_bytes;
    out->tail_bytes = facts->tail_bytes;
    out->n_before = s.totals.n_events;
    strobe_file_close(file);
    if (!err)
        err = append_rest(path, dir, &s, end, seq, rest, last, out);
    free_survey(&s);
    return err;
}

enum strobe_err strobe_recover(const char *path, const char *session_dir,
                               void (*progress)(uint64_t done, uint64_t all),
                               strobe_recover_rest *rest, strobe_recover_last *last,
                               struct strobe_recovery *out)
{
    return recover(path, session_dir, false, progress, rest, last, out);
}

enum strobe_err strobe_recover_session(const char *path, const char *session_dir,
                                       strobe_recover_rest *rest, strobe_recover_last *last,
                                       struct strobe_recovery *out)
{
    struct strobe_file_writer *writer = NULL;
    enum strobe_err err = strobe_file_create(path, session_dir, 0, &writer);
    strobe_file_abandon(writer);
    return err ? err : recover(path, session_dir, true, NULL, rest, last, out);
}
