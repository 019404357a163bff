/* build.c - one process of a trace: its facts, its names, its tracks.
 * Zones and other events: build_events.c. Blocks and their failures: block.c.  SPDX-License-Identifier: MIT */
#include "build/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/assert.h"

enum {
    NOTES_MAX = 100,
    PROCESS_BUDGET = 12 << 20,                            /* so that others have some */
    TRACK_BYTES = sizeof(struct strobe_build_track) + 64, /* with its places in the map */
};

const char *const strobe_build_letters[STROBE_FACT_COUNT] = {
#define X(name, number, text, fields, names) [number] = fields,
    STROBE_KIND_LIST(X) STROBE_KIND_LATER_LIST(X) STROBE_META_LIST(X) STROBE_LATER_LIST(X)
        STROBE_FACT_LIST(X) STROBE_FACT_LATER_LIST(X)
#undef X
};

bool strobe_build_charge(struct strobe_build *build, int64_t n_bytes)
{
    if (build->n_charged + n_bytes > PROCESS_BUDGET ||
        !strobe_build_store_charge(build->store, n_bytes))
        return false;
    build->n_charged += n_bytes;
    STROBE_ASSERT(build->n_charged >= 0 && build->n_charged <= PROCESS_BUDGET);
    return true;
}

/* ---- facts ---- */

void strobe_build_record(struct strobe_build *build, uint32_t kind, const uint64_t *numbers,
                         const char *const *texts, const size_t *sizes)
{
    struct strobe_records *records = strobe_build_store_records(build->store);
    STROBE_ASSERT(kind < STROBE_FACT_COUNT && strobe_build_letters[kind]);
    strobe_records_begin(records, kind);
    if (kind < STROBE_META_COUNT)
        strobe_records_u(records, build->proc);
    for (const char *letter = strobe_build_letters[kind]; *letter; letter++) {
        if (*letter == 's')
            strobe_records_s(records, *texts++, *sizes++);
        else if (*letter == 'd')
            strobe_records_raw(records, (const uint8_t *)numbers++, sizeof *numbers);
        else if (*letter == 'i')
            strobe_records_u(records, strobe_zigzag((int64_t)*numbers++));
        else
            strobe_records_u(records, *numbers++);
    }
    strobe_records_end(records);
}

void strobe_build_kinds(struct strobe_build *build)
{
    strobe_records_kinds(strobe_build_store_records(build->store));
}

void strobe_build_note(struct strobe_build *build, const char *format, ...)
{
    if (build->n_notes >= NOTES_MAX)
        return;
    char text[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (++build->n_notes == NOTES_MAX)
        n = snprintf(text, sizeof text, "more was wrong than is noted here");
    if (n < 0)
        return;
    const char *texts[] = {text};
    size_t size = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    uint64_t proc = build->proc;
    strobe_build_record(build, STROBE_FACT_NOTE, &proc, texts, &size);
}

void strobe_build_lose(struct strobe_build *build, struct strobe_build_track *track, uint32_t cause,
                       uint64_t count, uint64_t tick)
{
    count = strobe_build_resume_loss(build, track, cause, count);
    if (count)
        strobe_build_store_lose(build->store, build->proc, track ? track->id : 0, cause, count,
                                tick, tick);
}

void strobe_build_set_loc(struct strobe_build *build, uint64_t id,
                          const struct strobe_build_loc *loc)
{
    STROBE_ASSERT(id && id <= build->last_loc);
    uint64_t numbers[] = {id, loc->line, loc->color};
    const char *texts[] = {loc->function, loc->file, loc->name};
    size_t sizes[] = {loc->n_function, loc->n_file, loc->n_name};
    strobe_build_record(build, STROBE_META_LOC, numbers, texts, sizes);
}

void strobe_build_set_string(struct strobe_build *build, uint64_t id, const char *text,
                             size_t n_bytes)
{
    STROBE_ASSERT(id && id <= build->last_string);
    strobe_build_record(build, STROBE_META_STRING, &id, &text, &n_bytes);
}

uint64_t strobe_build_new_loc(struct strobe_build *build, uint64_t pointer)
{
    char text[32];
    struct strobe_build_loc loc = {.function = text};
    loc.n_function = (size_t)snprintf(text, sizeof text, "%#llx", (unsigned long long)pointer);
    strobe_build_set_loc(build, ++build->last_loc, &loc);
    return build->last_loc;
}

uint64_t strobe_build_new_string(struct strobe_build *build, uint64_t pointer)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%#llx", (unsigned long long)pointer);
    strobe_build_set_string(build, ++build->last_string, text, (size_t)n);
    return build->last_string;
}

/* Larger, with what is known; where that can't be it stays as it is. */
static void grow_cache(struct strobe_build *build, struct strobe_build_cache *cache)
{
    uint32_t n = cache->n_rows ? 4 * cache->n_rows : STROBE_BUILD_CACHE_FIRST;
    if (n > STROBE_BUILD_CACHE_MOST ||
        !strobe_build_charge(build, (int64_t)((n - cache->n_rows) * sizeof *cache->rows)))
        return;
    struct strobe_build_cached *rows = calloc(n, sizeof *rows);
    if (!rows)
        return;
    for (uint32_t i = 0; i < cache->n_rows; i++)
        if (cache->rows[i].id)
            rows[cache->rows[i].hash % n] = cache->rows[i];
    STROBE_ASSERT(n > cache->n_rows && n <= STROBE_BUILD_CACHE_MOST);
    free(cache->rows);
    *cache = (struct strobe_build_cache){rows, n, 0};
}

/* The place of a content, its id 0 where it is not known; NULL: nothing is remembered, for want of memory. */
static struct strobe_build_cached *cached(struct strobe_build *build,
                                          struct strobe_build_cache *cache, uint64_t hash)
{
    struct strobe_build_cached *at = cache->n_rows ? &cache->rows[hash % cache->n_rows] : NULL;
    if (at && at->id && at->hash == hash)
        return at;
    if (cache->n_missed++ >= cache->n_rows)
        grow_cache(build, cache);
    at = cache->n_rows ? &cache->rows[hash % cache->n_rows] : NULL;
    if (at)
        at->id = 0;
    return at;
}

uint64_t strobe_build_loc(struct strobe_build *build, const struct strobe_build_loc *loc)
{
    XXH64_hash_t hash = (uint64_t)loc->line << 32 | loc->color;
    hash = XXH64(loc->function, loc->n_function, hash);
    hash = XXH64(loc->file, loc->n_file, hash);
    hash = XXH64(loc->name, loc->n_name, hash);
    struct strobe_build_cached *at = cached(build, &build->locs, hash);
    if (at && at->id)
        return at->id;
    uint64_t id = ++build->last_loc;
    if (at)
        *at = (struct strobe_build_cached){hash, id};
    strobe_build_set_loc(build, id, loc);
    return id;
}

uint64_t strobe_build_string(struct strobe_build *build, const char *text, size_t n_bytes)
{
    XXH64_hash_t hash = XXH64(text, n_bytes, 0);
    struct strobe_build_cached *at = cached(build, &build->strings, hash);
    if (at && at->id)
        return at->id;
    uint64_t id = ++build->last_string;
    if (at)
        *at = (struct strobe_build_cached){hash, id};
    strobe_build_set_string(build, id, text, n_bytes);
    return id;
}

/* ---- opening and closing ---- */

static size_t length(const char *text)
{
    return text ? strlen(text) : 0;
}

static void describe(struct strobe_build *build, const struct strobe_build_process *process)
{
    uint64_t numbers[] = {process->pid, process->parent_pid, process->start_time};
    const char *texts[] = {process->exe, process->cwd, process->argv};
    size_t sizes[] = {length(process->exe), length(process->cwd), process->n_argv};
    strobe_build_record(build, STROBE_META_PROCESS, numbers, texts, sizes);
}

void strobe_build_tracy_client(struct strobe_build *build, const struct strobe_tracy_client *client)
{
    const char *program = client->program;
    size_t n_program = length(program);
    if (n_program)
        strobe_build_record(build, STROBE_META_PROGRAM_NAME, NULL, &program, &n_program);
    uint64_t mul;
    memcpy(&mul, &client->timer_mul, sizeof mul);
    uint64_t facts[] = {client->protocol,
                        mul,
                        (uint64_t)client->init_begin,
                        (uint64_t)client->init_end,
                        client->delay,
                        client->resolution,
                        client->epoch,
                        client->exec_time,
                        (uint64_t)client->sampling,
                        client->flags,
                        client->arch,
                        client->cpu_id};
    const char *said[] = {client->maker, client->program, client->host};
    size_t n_said[] = {length(client->maker), n_program, length(client->host)};
    strobe_build_record(build, STROBE_META_TRACY_CLIENT, facts, said, n_said);
}

enum strobe_err strobe_build_make(struct strobe_build_store *store, struct strobe_build **out)
{
    if (!strobe_build_store_charge(store, sizeof **out))
        return STROBE_ERR_LIMIT;
    struct strobe_build *build = calloc(1, sizeof *build);
    if (!build) {
        strobe_build_store_charge(store, -(int64_t)sizeof *build);
        return STROBE_ERR_NOMEM;
    }
    build->store = store;
    build->n_charged = sizeof *build;
    *out = build;
    return STROBE_OK;
}

enum strobe_err strobe_build_open(struct strobe_build_store *store,
                                  const struct strobe_build_process *process,
                                  struct strobe_build **out)
{
    enum strobe_err err = strobe_build_make(store, out);
    if (err)
        return err;
    (*out)->proc = strobe_build_store_new_proc(store);
    describe(*out, process);
    return STROBE_OK;
}

static void free_track(struct strobe_build_track *track)
{
    if (!track)
        return;
    strobe_track_free(&track->track);
    free(track->skip_lost);
    free(track);
}

void strobe_build_close(struct strobe_build *build)
{
    if (!build)
        return;
    strobe_build_store_end_part(build->store);
    for (uint32_t i = 0; i < build->tracks.n; i++)
        free_track((struct strobe_build_track *)(uintptr_t)build->tracks.entries[i].value);
    for (uint32_t i = 0; build->gpu && i < STROBE_BUILD_N_GPU; i++)
        free_track(build->gpu[i]);
    for (uint32_t i = 0; i < build->n_fibers; i++)
        free(build->fibers[i].locs);
    strobe_build_store_charge(build->store, -build->n_charged);
    free(build->gpu);
    free(build->locs.rows);
    free(build->strings.rows);
    free(build->fibers);
    strobe_map_free(&build->tracks);
    free(build);
}

uint32_t strobe_build_proc(const struct strobe_build *build)
{
    return build->proc;
}

uint64_t strobe_build_n_open_in_fibers(const struct strobe_build *build)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < build->n_fibers; i++)
        n += build->fibers[i].depth;
    return n;
}

/* ---- tracks ---- */

static struct strobe_build_track *new_track(struct strobe_build *build, uint64_t tid, uint64_t tick,
                                            const char *name)
{
    if (!strobe_build_charge(build, TRACK_BYTES))
        return NULL;
    struct strobe_build_track *track = calloc(1, sizeof *track);
    if (!track)
        return NULL;
    track->tid = tid;
    track->id = ++build->last_track;
    track->track.last_tick = tick;
    STROBE_ASSERT(build->last_track > build->tracks.n - (build->tracks.n > 0));
    uint64_t numbers[] = {track->id, tid, tick};
    size_t n_name = length(name);
    strobe_build_record(build, STROBE_META_THREAD, numbers, &name, &n_name);
    if (!build->ask || !strobe_build_resume_track(build, track))
        strobe_build_store_count_thread(build->store);
    return track;
}

struct strobe_build_track *strobe_build_thread(struct strobe_build *build, uint64_t tid,
                                               uint64_t tick)
{
    uint64_t *place;
    if (strobe_map_add(&build->tracks, tid, &place))
        return NULL;
    if (!*place)
        *place = (uintptr_t)new_track(build, tid, tick, tid ? NULL : "no thread");
    struct strobe_build_track *track = (struct strobe_build_track *)(uintptr_t)*place;
    STROBE_ASSERT(!track || (track->tid == tid && track->id <= build->last_track));
    if (!track)
        strobe_map_remove(&build->tracks, tid);
    return track;
}

struct strobe_build_track *strobe_build_gpu(struct strobe_build *build, uint8_t context,
                                            uint64_t tick)
{
    if (!build->gpu && (!strobe_build_charge(build, STROBE_BUILD_N_GPU * sizeof *build->gpu) ||
                        !(build->gpu = calloc(STROBE_BUILD_N_GPU, sizeof *build->gpu))))
        return NULL;
    if (!build->gpu[context]) {
        char name[32];
        snprintf(name, sizeof name, "GPU context %u", context);
        build->gpu[context] = new_track(build, 0, tick, name);
    }
    return build->gpu[context];
}

void strobe_build_thread_name(struct strobe_build *build, struct strobe_build_track *track,
                              const char *name, size_t n_bytes)
{
    strobe_build_record(build, STROBE_META_THREAD_NAME, &track->id, &name, &n_bytes);
}

uint64_t strobe_build_track_id(const struct strobe_build_track *track)
{
    return track->id;
}

uint32_t strobe_build_track_depth(const struct strobe_build_track *track)
{
    return track->track.depth;
}
