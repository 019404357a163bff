/* world.c - a process with a pool, a recorder with a trace, events with numbers; and what must hold of them in the end.
 * SPDX-License-Identifier: MIT */
#include "replay.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/internal.h"
#include "file/decode.h"
#include "file/writer.h"
#include "ring/grow.h"
#include "ring/ring_write.h"

struct world world;

static void make_folder(void)
{
    if (world.dir[0])
        return;
    snprintf(world.dir, sizeof world.dir, "/dev/shm/strobe-replay-XXXXXX");
    if (!mkdtemp(world.dir))
        abort();
    snprintf(world.trace, sizeof world.trace, "%s.strobe", world.dir);
}

static void share(void *at, size_t n_bytes)
{
    replay.shared[replay.n_shared] = at;
    replay.shared_end[replay.n_shared++] = (char *)at + n_bytes;
}

void world_open(bool is_recording)
{
    enum { N_CHUNKS = 16 };
    make_folder();
    char dir[sizeof world.dir], trace[sizeof world.trace];
    memcpy(dir, world.dir, sizeof dir);
    memcpy(trace, world.trace, sizeof trace);
    memset(&world, 0, sizeof world);
    memcpy(world.dir, dir, sizeof dir);
    memcpy(world.trace, trace, sizeof trace);
    world.pool = client_join(world.dir, N_CHUNKS);
    if (!world.pool)
        abort();
    struct strobe_control *control = world.control = world.pool->control;
    control->next_id = EVENTS_MAX + 1;
    for (uint32_t i = 0; i < EVENTS_MAX; i++) {
        world.locs[i] = (struct strobe_loc){.name = "e", .function = "f", .file = "g", .line = i};
        world.locs[i].word = STROBE_WORD_BEGIN | (uint64_t)(i + 1) << 32;
        world.result[i] = -1;
    }
    control->floor = STROBE_WORD_BEGIN | 1ull << 32;
    replay.is_quiet = true;
    enum strobe_loss short_cause;
    int fd = open(world.pool->path, O_RDWR | O_CLOEXEC);
    control->file_bytes = strobe_ring_extend(fd, control->n_chunks_max, &short_cause);
    close(fd);
    replay.is_quiet = false;
    /* a look that found no room holds until something is given back, or not at all: never by the clock */
    world.pool->dry_ticks = replay.mode == RANDOM && replay.seed % 2 ? 0 : ~0ull;
    if (replay.mode == RANDOM && replay.seed % 5 < 2 && !replay.scenario->needs_no_timeout)
        control->policy = STROBE_POLICY_DROP;
    if (is_recording)
        client_start_recording();
    share(control, control->data_off + (uint64_t)N_CHUNKS * STROBE_CHUNK_BYTES);
    share(world.locs, sizeof world.locs);
    replay.lock = &world.pool->lock;
    replay.dull = replay.dull_end = NULL;
}

/* A chunk as add_chunk makes it, with so many free segments. */
static void add_chunk(uint32_t class_, uint64_t free_bits)
{
    struct strobe_pool *pool = world.pool;
    uint32_t n = world.control->n_chunks;
    memset(pool->data + (uint64_t)n * STROBE_CHUNK_BYTES, 0, STROBE_CHUNK_BYTES);
    pool->chunks[n].class_ = class_;
    pool->chunks[n].free_bits = free_bits;
    world.control->n_chunks = n + 1;
}

/* All that threads ever get. The meta stream has its chunk already. */
void world_few_segments(uint32_t n)
{
    replay.is_quiet = true;
    replay.dull = world.pool->data + (uint64_t)world.control->n_chunks * STROBE_CHUNK_BYTES +
                  8 * STROBE_SLOT_BYTES;
    replay.dull_end = replay.dull + STROBE_CHUNK_BYTES - 8 * STROBE_SLOT_BYTES;
    add_chunk(STROBE_CHUNK_SLOTS, 0);
    add_chunk(STROBE_CHUNK_MEDIUM, (1ull << n) - 1);
    world.pool->n_chunks_max = world.control->n_chunks;
    replay.is_quiet = false;
}

/* A segment that was just opened has no more than so many words left: the others are a pad. */
void world_few_words(uint32_t n_left)
{
    struct strobe_hot *hot = strobe_hot_now;
    int left = (int16_t)hot->cursor;
    if (left <= (int)n_left)
        return;
    uint64_t n = (uint64_t)left - n_left, *at = (uint64_t *)(uintptr_t)(hot->cursor >> 16);
    hot->cursor += (n << 19) - n;
    __atomic_store_n(at, STROBE_WORD_PAD | n << 32, __ATOMIC_RELEASE);
}

void world_emit(uint32_t event)
{
    replay_boundary();
    world.result[event] = -2;
    world.result[event] = client_emit(&world.locs[event]);
    replay_settle(replay.current);
}

void world_warm(struct actor *actor, uint32_t event)
{
    struct strobe_hot *before = strobe_hot_now;
    replay.is_quiet = true;
    replay.current = actor;
    world.result[event] = client_emit(&world.locs[event]);
    actor->hot = strobe_hot_now;
    strobe_hot_now = before;
    replay.current = NULL;
    replay.is_quiet = false;
}

void world_end_thread(void)
{
    client_end_thread();
}

/* ---- the recorder ---- */

/* The block is in the file: the model's step for it. */
enum strobe_err __real_strobe_file_put_events(struct strobe_file_writer *writer,
                                              struct strobe_encoder *enc);
enum strobe_err __wrap_strobe_file_put_events(struct strobe_file_writer *writer,
                                              struct strobe_encoder *enc);
enum strobe_err __wrap_strobe_file_put_events(struct strobe_file_writer *writer,
                                              struct strobe_encoder *enc)
{
    enum strobe_err err = __real_strobe_file_put_events(writer, enc);
    if (replay.current)
        replay.current->did = "write";
    return err;
}

void world_record(void)
{
    struct strobe_collector_options options = {.session_dir = world.dir,
                                               .policy = world.control->policy};
    replay.is_quiet = true;
    if (strobe_file_create(world.trace, world.dir, 0, &world.writer) ||
        strobe_collector_open(&options, world.writer, &world.c))
        abort();
    strobe_collector_poll(world.c, false);
    replay.is_quiet = false;
}

struct strobe_proc *world_proc(void)
{
    return world.c && world.c->n_procs ? world.c->procs[0] : NULL;
}

/* As a round does, without the block. */
void world_drain(void)
{
    struct strobe_proc *proc = world_proc();
    if (!proc || strobe_proc_is_over(proc))
        return;
    strobe_ring_scan(&proc->ring, strobe_collector_add_segment,
                     proc); /* with news or without, as find_missing does */
    for (uint32_t i = 0; i < proc->n_slots; i++)
        if (proc->streams[i] && proc->streams[i]->n_segments)
            strobe_collector_drain(world.c, proc, proc->streams[i]);
}

/* What strobe_collector_close frees; nothing is written. Quiet. */
static void free_collector(struct strobe_collector *c)
{
    if (c->scan)
        closedir(c->scan);
    if (c->inotify >= 0)
        close(c->inotify);
    for (int i = 0; i < N_EARLY; i++)
        if (c->early[i].pidfd > 0)
            close(c->early[i].pidfd);
    for (uint32_t i = 0; i < c->n_procs; i++) {
        if (c->procs[i]->state == STROBE_PROC_FOUND)
            continue;
        strobe_collector_free_proc(c->procs[i]);
        free(c->procs[i]);
    }
    free(c->seen);
    free(c->procs);
    free(c->pending);
    free(c->meta_pending);
    pthread_mutex_destroy(&c->procs_lock);
    strobe_build_block_free(&c->block);
    free(c);
}

/* The recorder was killed: its memory is gone, its file stays as it is. Quiet: no second kill comes in between. */
void world_abandon(void)
{
    if (!world.c)
        return;
    replay.is_quiet = true;
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nowhere, world.writer->fd);
    close(nowhere);
    pthread_mutex_init(&world.writer->lock, NULL);
    pthread_mutex_init(&world.c->procs_lock, NULL);
    free_collector(world.c);
    strobe_file_finish(world.writer);
    world.c = NULL;
    world.writer = NULL;
    replay.is_quiet = false;
}

void world_die(void)
{
    world.is_dead = true;
    alive_release();
    if (world_proc())
        world_proc()->next_alive_check_ns = 0;
}

static void read_losses(const struct strobe_block *block, const struct strobe_schema *schema)
{
    struct strobe_record_walk walk = {0};
    struct strobe_record record;
    enum strobe_err err = strobe_record_walk_start(block, schema, &walk);
    while (!err && !strobe_record_walk_next(&walk, &record)) {
        if (record.kind == STROBE_FACT_LOSS && record.n_fields == 6 && record.fields[2].u < 16) {
            world.lost[record.fields[2].u] += record.fields[3].u;
            world.n_lost += record.fields[3].u;
        } else if (record.kind == STROBE_META_LOC && record.fields[0].u < 64) {
            world.named |= 1ull << record.fields[0].u;
        }
    }
    strobe_record_walk_free(&walk);
}

static void read_events(const struct strobe_block *block, const struct strobe_schema *schema,
                        struct strobe_events *events)
{
    struct strobe_joiner joiner = {0};
    struct strobe_cursor cursor;
    struct strobe_event event;
    if (strobe_decode_parts(block, events) ||
        strobe_decode_streams(block, STROBE_ALL_STREAMS, events))
        return;
    for (uint32_t i = 0; i < events->n_parts; i++) {
        strobe_cursor_start(&cursor, events, &events->parts[i], schema, &joiner);
        while (!strobe_cursor_next(&cursor, &event))
            if (event.kind == STROBE_KIND_ZONE_BEGIN) {
                world.used |= event.loc < 64 ? 1ull << event.loc : 0;
                if (world.ids_move)
                    continue;
                if (event.loc < 1 || event.loc > EVENTS_MAX)
                    replay_violation("an event of location %llu, which nobody emitted",
                                     (unsigned long long)event.loc);
                else
                    world.n_stored[event.loc - 1]++;
            }
    }
    strobe_joiner_free(&joiner);
}

/* The recorder has stopped: close the trace, and read what is in it. */
void world_read(void)
{
    struct strobe_file *file = NULL;
    struct strobe_block_iter *iter = NULL;
    struct strobe_block_filter everything = {0};
    struct strobe_block block = {0};
    struct strobe_events events = {0};
    struct strobe_schema schema = {0};
    replay.is_quiet = true;
    if (world.c) {
        struct strobe_collector_status status = strobe_collector_status(world.c);
        strobe_collector_flush_records(world.c);
        world.n_unheard = status.n_unheard;
        for (uint32_t i = 0; i < status.n_unheard && i < 16; i++)
            world.unheard_tid[i] = status.unheard[i].tid;
        free_collector(world.c);
        strobe_file_finish(world.writer);
        world.c = NULL;
        world.writer = NULL;
    }
    if (strobe_file_open(world.trace, &file)) {
        replay_violation("the trace can't be opened");
        return;
    }
    strobe_schema_read(strobe_file_facts(file)->schema, &schema);
    if (!strobe_file_iterate(file, &everything, &iter)) {
        while (!strobe_file_next_block(iter, &block)) {
            if (block.ref.head.type == STROBE_BLOCK_RECORDS)
                read_losses(&block, &schema);
            else if (block.ref.head.type == STROBE_BLOCK_EVENTS)
                read_events(&block, &schema, &events);
        }
        strobe_file_end_iterate(iter);
    }
    strobe_block_free(&block);
    strobe_events_free(&events);
    strobe_file_close(file);
    replay.is_quiet = false;
}

void world_close(void)
{
    for (uint32_t i = 0; i < replay.n_actors; i++)
        replay.actors[i].state = DONE;
    if (world.c)
        world_abandon();
    alive_release();
    client_leave();
    unlink(world.trace);
}

/* emitted = stored + dropped, each once. `n_maybe`: losses that stand for no event that an emit was finished for. */
void world_check_events(uint32_t n_maybe)
{
    uint64_t n_missing = 0, n_dropped = 0;
    for (uint32_t i = 0; i < EVENTS_MAX; i++) {
        int result = world.result[i];
        bool is_stored = result > 0 && result & 1;
        if (world.n_stored[i] > 1)
            replay_violation("event %u is stored %u times", i + 1, world.n_stored[i]);
        if (world.n_stored[i] && !is_stored && result != -2)
            replay_violation("event %u is stored, and its emit returned %d", i + 1, result);
        n_missing += is_stored && !world.n_stored[i];
        n_dropped += result > 0 && !is_stored && result != 2 + 4 * STROBE_LOSS_IN_SLOT;
    }
    if (n_missing + n_dropped > world.n_lost)
        replay_violation("%llu events are missing and %llu dropped, %llu are counted as lost",
                         (unsigned long long)n_missing, (unsigned long long)n_dropped,
                         (unsigned long long)world.n_lost);
    if (n_missing + n_dropped + n_maybe < world.n_lost)
        replay_violation("%llu events are counted as lost, %llu are missing and %llu dropped",
                         (unsigned long long)world.n_lost, (unsigned long long)n_missing,
                         (unsigned long long)n_dropped);
    if (n_missing && !world.lost[STROBE_LOSS_UNHEARD] && !world.lost[STROBE_LOSS_DAMAGED])
        replay_violation("%llu events whose emit returned are not in the trace",
                         (unsigned long long)n_missing);
}
