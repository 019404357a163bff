/* sink.c - one client process in a trace: its ids, its tracks, its events.
 *
 * The store's encoder has one part open at a time; a change of track closes it. What a client can make
 * grow (tracks, open zones, fibers) is charged to the store's budget before it grows, and refused
 * where that is used up: refused events are counted, never stored half.
 *
 * Blocks and their failures: store.c.  SPDX-License-Identifier: MIT */
#include "tracy/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    CACHE_SIZE = 2048, /* contents remembered per sink, of locations and of strings */
    NOTES_MAX = 100,
    PIECE_BYTES = 192 << 10,
    STACK_MAX = 4096,
    FIBER_DEPTH_MAX = 1 << 16,
    SINK_BUDGET = 12 << 20, /* of one client, so that it leaves some to the others */
};

struct cached {
    uint64_t hash;
    uint64_t id;
};

struct fiber {
    uint64_t id;
    uint64_t *locs; /* owned: cap entries, depth of them in use */
    uint32_t depth, cap;
    uint64_t n_over; /* open zones that were refused */
};

struct strobe_tracy_sink {
    struct strobe_tracy_store *store; /* borrowed: outlives the sink */
    uint32_t proc;
    uint32_t n_notes;
    uint64_t last_loc, last_string, last_track;
    uint64_t unknown_loc;               /* of zones whose begin was not seen; 0: not needed yet */
    struct strobe_tracy_track **tracks; /* owned: n_slots, open addressing by tid */
    uint32_t n_slots, n_tracks;
    struct strobe_tracy_track *gpu[256]; /* owned */
    struct fiber *fibers;                /* owned */
    uint32_t n_fibers, cap_fibers;
    int64_t n_charged; /* bytes of the budget */
    struct cached locs[CACHE_SIZE], strings[CACHE_SIZE];
};

/* Letters of every kind, by number. */
static const char *const letters_of[STROBE_FACT_COUNT] = {
#define X(name, number, text, fields, names) [number] = fields,
    STROBE_KIND_LIST(X) STROBE_META_LIST(X) STROBE_FACT_LIST(X)
#undef X
};

static bool charge(struct strobe_tracy_sink *sink, int64_t n_bytes)
{
    if (sink->n_charged + n_bytes > SINK_BUDGET || !strobe_tracy_store_charge(sink->store, n_bytes))
        return false;
    sink->n_charged += n_bytes;
    return true;
}

/* ---- facts ---- */

void strobe_tracy_sink_record(struct strobe_tracy_sink *sink, uint32_t kind,
                              const uint64_t *numbers, const char *const *texts,
                              const size_t *sizes)
{
    struct strobe_records *records = strobe_tracy_store_records(sink->store);
    strobe_records_begin(records, kind);
    if (kind < STROBE_META_COUNT)
        strobe_records_u(records, sink->proc);
    for (const char *letter = letters_of[kind]; *letter; letter++) {
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

void strobe_tracy_sink_note(struct strobe_tracy_sink *sink, const char *format, ...)
{
    if (sink->n_notes >= NOTES_MAX)
        return;
    char text[256];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (++sink->n_notes == NOTES_MAX)
        n = snprintf(text, sizeof text, "more was wrong than is noted here");
    if (n < 0)
        return;
    const char *texts[] = {text};
    size_t size = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    uint64_t proc = sink->proc;
    strobe_tracy_sink_record(sink, STROBE_FACT_NOTE, &proc, texts, &size);
}

void strobe_tracy_sink_lose(struct strobe_tracy_sink *sink, const struct strobe_tracy_track *track,
                            uint32_t cause, uint64_t count, uint64_t tick)
{
    strobe_tracy_store_lose(sink->store, sink->proc, track ? track->id : 0, cause, count, tick,
                            tick);
}

void strobe_tracy_sink_set_loc(struct strobe_tracy_sink *sink, uint64_t id,
                               const struct strobe_tracy_loc *loc)
{
    uint64_t numbers[] = {id, loc->line, loc->color};
    const char *texts[] = {loc->function, loc->file, loc->name};
    size_t sizes[] = {loc->n_function, loc->n_file, loc->n_name};
    strobe_tracy_sink_record(sink, STROBE_META_LOC, numbers, texts, sizes);
}

void strobe_tracy_sink_set_string(struct strobe_tracy_sink *sink, uint64_t id, const char *text,
                                  size_t n_bytes)
{
    strobe_tracy_sink_record(sink, STROBE_META_STRING, &id, &text, &n_bytes);
}

uint64_t strobe_tracy_sink_new_loc(struct strobe_tracy_sink *sink, uint64_t pointer)
{
    char text[32];
    struct strobe_tracy_loc loc = {.function = text};
    loc.n_function = (size_t)snprintf(text, sizeof text, "%#llx", (unsigned long long)pointer);
    strobe_tracy_sink_set_loc(sink, ++sink->last_loc, &loc);
    return sink->last_loc;
}

uint64_t strobe_tracy_sink_new_string(struct strobe_tracy_sink *sink, uint64_t pointer)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%#llx", (unsigned long long)pointer);
    strobe_tracy_sink_set_string(sink, ++sink->last_string, text, (size_t)n);
    return sink->last_string;
}

uint64_t strobe_tracy_sink_loc(struct strobe_tracy_sink *sink, const struct strobe_tracy_loc *loc)
{
    XXH64_hash_t hash = (uint64_t)loc->line << 32 | loc->color;
    hash = XXH64(loc->function, loc->n_function, hash);
    hash = XXH64(loc->file, loc->n_file, hash);
    hash = XXH64(loc->name, loc->n_name, hash);
    struct cached *cached = &sink->locs[hash % CACHE_SIZE];
    if (cached->id && cached->hash == hash)
        return cached->id;
    *cached = (struct cached){hash, ++sink->last_loc};
    strobe_tracy_sink_set_loc(sink, cached->id, loc);
    return cached->id;
}

uint64_t strobe_tracy_sink_string(struct strobe_tracy_sink *sink, const char *text, size_t n_bytes)
{
    XXH64_hash_t hash = XXH64(text, n_bytes, 0);
    struct cached *cached = &sink->strings[hash % CACHE_SIZE];
    if (cached->id && cached->hash == hash)
        return cached->id;
    *cached = (struct cached){hash, ++sink->last_string};
    strobe_tracy_sink_set_string(sink, cached->id, text, n_bytes);
    return cached->id;
}

/* ---- opening and closing ---- */

static size_t length(const char *text)
{
    return text ? strlen(text) : 0;
}

static void describe(struct strobe_tracy_sink *sink, const struct strobe_tracy_process *process,
                     const struct strobe_tracy_client *client)
{
    uint64_t numbers[] = {process->pid, process->parent_pid, process->start_time};
    const char *texts[] = {process->exe, process->cwd, process->argv};
    size_t sizes[] = {length(process->exe), length(process->cwd), process->n_argv};
    strobe_tracy_sink_record(sink, STROBE_META_PROCESS, numbers, texts, sizes);
    if (!client)
        return;
    const char *program = client->program;
    size_t n_program = length(program);
    if (n_program)
        strobe_tracy_sink_record(sink, STROBE_META_PROGRAM_NAME, NULL, &program, &n_program);
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
    strobe_tracy_sink_record(sink, STROBE_META_TRACY_CLIENT, facts, said, n_said);
}

enum strobe_err strobe_tracy_sink_open(struct strobe_tracy_store *store,
                                       const struct strobe_tracy_process *process,
                                       const struct strobe_tracy_client *client,
                                       struct strobe_tracy_sink **out)
{
    if (!strobe_tracy_store_charge(store, sizeof **out))
        return STROBE_ERR_LIMIT;
    struct strobe_tracy_sink *sink = calloc(1, sizeof *sink);
    if (!sink) {
        strobe_tracy_store_charge(store, -(int64_t)sizeof *sink);
        return STROBE_ERR_NOMEM;
    }
    sink->store = store;
    sink->n_charged = sizeof *sink;
    sink->proc = strobe_tracy_store_new_proc(store);
    describe(sink, process, client);
    *out = sink;
    return STROBE_OK;
}

static void free_track(struct strobe_tracy_track *track)
{
    if (!track)
        return;
    strobe_track_free(&track->track);
    free(track);
}

void strobe_tracy_sink_close(struct strobe_tracy_sink *sink)
{
    if (!sink)
        return;
    strobe_tracy_store_end_part(sink->store);
    for (uint32_t i = 0; i < sink->n_slots; i++)
        free_track(sink->tracks[i]);
    for (uint32_t i = 0; i < 256; i++)
        free_track(sink->gpu[i]);
    for (uint32_t i = 0; i < sink->n_fibers; i++)
        free(sink->fibers[i].locs);
    strobe_tracy_store_charge(sink->store, -sink->n_charged);
    free(sink->fibers);
    free(sink->tracks);
    free(sink);
}

uint32_t strobe_tracy_sink_proc(const struct strobe_tracy_sink *sink)
{
    return sink->proc;
}

uint64_t strobe_tracy_sink_n_open_in_fibers(const struct strobe_tracy_sink *sink)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < sink->n_fibers; i++)
        n += sink->fibers[i].depth;
    return n;
}

/* ---- tracks ---- */

static uint32_t slot_of(const struct strobe_tracy_sink *sink, uint64_t tid)
{
    return (uint32_t)((tid * 0x9e3779b97f4a7c15ull) >> 32) & (sink->n_slots - 1);
}

static void place(struct strobe_tracy_sink *sink, struct strobe_tracy_track *track)
{
    uint32_t i = slot_of(sink, track->tid);
    while (sink->tracks[i])
        i = (i + 1) & (sink->n_slots - 1);
    sink->tracks[i] = track;
}

static bool grow_tracks(struct strobe_tracy_sink *sink)
{
    uint32_t n_old = sink->n_slots, n = n_old ? 2 * n_old : 64;
    if (!charge(sink, (int64_t)((n - n_old) * sizeof *sink->tracks)))
        return false;
    struct strobe_tracy_track **old = sink->tracks, **tracks = calloc(n, sizeof *tracks);
    if (!tracks)
        return false;
    sink->tracks = tracks;
    sink->n_slots = n;
    for (uint32_t i = 0; i < n_old; i++)
        if (old[i])
            place(sink, old[i]);
    free(old);
    return true;
}

static struct strobe_tracy_track *new_track(struct strobe_tracy_sink *sink, uint64_t tid,
                                            uint64_t tick, const char *name)
{
    if (!charge(sink, sizeof(struct strobe_tracy_track)))
        return NULL;
    struct strobe_tracy_track *track = calloc(1, sizeof *track);
    if (!track)
        return NULL;
    track->tid = tid;
    track->id = ++sink->last_track;
    track->track.last_tick = tick;
    uint64_t numbers[] = {track->id, tid, tick};
    size_t n_name = length(name);
    strobe_tracy_sink_record(sink, STROBE_META_THREAD, numbers, &name, &n_name);
    strobe_tracy_store_count_thread(sink->store);
    return track;
}

struct strobe_tracy_track *strobe_tracy_sink_thread(struct strobe_tracy_sink *sink, uint64_t tid,
                                                    uint64_t tick)
{
    if (sink->n_slots)
        for (uint32_t i = slot_of(sink, tid); sink->tracks[i]; i = (i + 1) & (sink->n_slots - 1))
            if (sink->tracks[i]->tid == tid)
                return sink->tracks[i];
    if (2 * sink->n_tracks >= sink->n_slots && !grow_tracks(sink))
        return NULL;
    struct strobe_tracy_track *track = new_track(sink, tid, tick, tid ? NULL : "no thread");
    if (!track)
        return NULL;
    place(sink, track);
    sink->n_tracks++;
    return track;
}

struct strobe_tracy_track *strobe_tracy_sink_gpu(struct strobe_tracy_sink *sink, uint8_t context,
                                                 uint64_t tick)
{
    if (!sink->gpu[context]) {
        char name[32];
        snprintf(name, sizeof name, "GPU context %u", context);
        sink->gpu[context] = new_track(sink, 0, tick, name);
    }
    return sink->gpu[context];
}

void strobe_tracy_sink_thread_name(struct strobe_tracy_sink *sink, struct strobe_tracy_track *track,
                                   const char *name, size_t n_bytes)
{
    strobe_tracy_sink_record(sink, STROBE_META_THREAD_NAME, &track->id, &name, &n_bytes);
}

uint64_t strobe_tracy_track_id(const struct strobe_tracy_track *track)
{
    return track->id;
}

uint32_t strobe_tracy_track_depth(const struct strobe_tracy_track *track)
{
    return track->track.depth;
}

/* ---- fibers ---- */

/* The open zones of a fiber, NULL when they are over the budget. */
static struct fiber *fiber_of(struct strobe_tracy_sink *sink, uint64_t id)
{
    for (uint32_t i = sink->n_fibers; i-- > 0;)
        if (sink->fibers[i].id == id)
            return &sink->fibers[i];
    if (sink->n_fibers == sink->cap_fibers) {
        uint32_t cap = sink->cap_fibers ? 2 * sink->cap_fibers : 16;
        if (!charge(sink, (int64_t)((cap - sink->cap_fibers) * sizeof *sink->fibers)))
            return NULL;
        struct fiber *fibers = realloc(sink->fibers, cap * sizeof *fibers);
        if (!fibers)
            return NULL;
        sink->fibers = fibers;
        sink->cap_fibers = cap;
    }
    sink->fibers[sink->n_fibers] = (struct fiber){.id = id};
    return &sink->fibers[sink->n_fibers++];
}

static bool push_fiber(struct strobe_tracy_sink *sink, struct fiber *fiber, uint64_t loc)
{
    if (fiber->depth == fiber->cap) {
        uint32_t cap = fiber->cap ? 2 * fiber->cap : 16;
        if (cap > FIBER_DEPTH_MAX || !charge(sink, (int64_t)((cap - fiber->cap) * sizeof loc)))
            return false;
        uint64_t *locs = realloc(fiber->locs, cap * sizeof *locs);
        if (!locs)
            return false;
        fiber->locs = locs;
        fiber->cap = cap;
    }
    fiber->locs[fiber->depth++] = loc;
    return true;
}

void strobe_tracy_sink_fiber(struct strobe_tracy_sink *sink, struct strobe_tracy_track *track,
                             uint64_t tick, uint64_t fiber)
{
    if (fiber)
        strobe_tracy_sink_event(sink, track, tick, STROBE_KIND_FIBER_ENTER, &fiber, NULL, 0);
    else
        strobe_tracy_sink_event(sink, track, tick, STROBE_KIND_FIBER_LEAVE, NULL, NULL, 0);
}

/* ---- zones ---- */

static uint64_t unknown_loc(struct strobe_tracy_sink *sink)
{
    if (!sink->unknown_loc) {
        const char *text = "begin not seen";
        sink->unknown_loc = strobe_tracy_sink_loc(
            sink, &(struct strobe_tracy_loc){.function = text, .n_function = strlen(text)});
    }
    return sink->unknown_loc;
}

static void refuse(struct strobe_tracy_sink *sink, const struct strobe_tracy_track *track,
                   uint64_t tick)
{
    strobe_tracy_sink_lose(sink, track, STROBE_LOSS_REFUSED, 1, tick);
}

/* Room for one more open zone, charged before the encoder takes it. */
static bool room_for_zone(struct strobe_tracy_sink *sink, struct strobe_tracy_track *track)
{
    const struct strobe_track *inner = &track->track;
    if (inner->depth < inner->cap)
        return !track->n_over;
    uint32_t more = inner->cap ? inner->cap : 16;
    return !track->n_over && inner->depth < STROBE_STACK_MAX &&
           charge(sink, (int64_t)(more * sizeof *inner->stack));
}

void strobe_tracy_sink_zone_begin(struct strobe_tracy_sink *sink, struct strobe_tracy_track *track,
                                  uint64_t tick, uint64_t loc)
{
    struct fiber *fiber = track->track.fiber ? fiber_of(sink, track->track.fiber) : NULL;
    bool taken = fiber ? !fiber->n_over && push_fiber(sink, fiber, loc)
                       : !track->track.fiber && room_for_zone(sink, track);
    if (!taken) {
        if (fiber)
            fiber->n_over++;
        else
            track->n_over++;
        refuse(sink, track, tick);
        return;
    }
    strobe_encode_zone_begin(strobe_tracy_store_part(sink->store, sink->proc, track), tick, loc);
}

static bool end_in_fiber(struct strobe_tracy_sink *sink, struct strobe_tracy_track *track,
                         uint64_t tick)
{
    struct fiber *fiber = fiber_of(sink, track->track.fiber);
    if (!fiber || fiber->n_over) {
        if (fiber)
            fiber->n_over--;
        refuse(sink, track, tick);
        return true;
    }
    bool known = fiber->depth > 0;
    uint64_t loc = known ? fiber->locs[--fiber->depth] : unknown_loc(sink);
    strobe_encode_zone_end(strobe_tracy_store_part(sink->store, sink->proc, track), tick, loc);
    return known;
}

bool strobe_tracy_sink_zone_end(struct strobe_tracy_sink *sink, struct strobe_tracy_track *track,
                                uint64_t tick)
{
    if (track->track.fiber)
        return end_in_fiber(sink, track, tick);
    if (track->n_over) {
        track->n_over--;
        refuse(sink, track, tick);
        return true;
    }
    bool known = track->track.depth > 0;
    uint64_t loc = known ? track->track.stack[track->track.depth - 1].loc : unknown_loc(sink);
    strobe_encode_zone_end(strobe_tracy_store_part(sink->store, sink->proc, track), tick, loc);
    return known;
}

void strobe_tracy_sink_steps(struct strobe_tracy_sink *sink, struct strobe_tracy_track *track,
                             const struct strobe_zone_step *steps, size_t n_steps)
{
    const struct strobe_zone_step *at = steps, *end = steps + n_steps;
    while (at < end) {
        struct strobe_encoder *enc = strobe_tracy_store_part(sink->store, sink->proc, track);
        if (!track->n_over)
            at = strobe_encode_steps(enc, at, end);
        if (at == end)
            return;
        if (at->loc == STROBE_STEP_END)
            strobe_tracy_sink_zone_end(sink, track, at->tick);
        else
            strobe_tracy_sink_zone_begin(sink, track, at->tick, at->loc);
        at++;
    }
}

/* ---- other events ---- */

static uint8_t *put_number(uint8_t *at, char letter, uint64_t number)
{
    if (letter == 'd') {
        memcpy(at, &number, sizeof number);
        return at + sizeof number;
    }
    return strobe_varint_put(at, letter == 'i' ? strobe_zigzag((int64_t)number) : number);
}

static uint8_t *put_text(uint8_t *at, const char *text, size_t n_bytes)
{
    at = strobe_varint_put(at, n_bytes);
    if (n_bytes)
        memcpy(at, text, n_bytes);
    return at + n_bytes;
}

static void put_event(struct strobe_tracy_sink *sink, struct strobe_tracy_track *track,
                      uint64_t tick, enum strobe_kind kind, const uint8_t *end)
{
    const uint8_t *fields = strobe_tracy_store_scratch(sink->store);
    strobe_encode_event(strobe_tracy_store_part(sink->store, sink->proc, track), tick, kind, fields,
                        (size_t)(end - fields));
}

void strobe_tracy_sink_event(struct strobe_tracy_sink *sink, struct strobe_tracy_track *track,
                             uint64_t tick, enum strobe_kind kind, const uint64_t *numbers,
                             const char *text, size_t n_bytes)
{
    while (n_bytes > PIECE_BYTES) {
        uint8_t *piece = put_text(strobe_tracy_store_scratch(sink->store), text, PIECE_BYTES);
        put_event(sink, track, tick, STROBE_KIND_STR_PIECE, piece);
        text += PIECE_BYTES;
        n_bytes -= PIECE_BYTES;
    }
    uint8_t *at = strobe_tracy_store_scratch(sink->store);
    for (const char *letter = letters_of[kind]; *letter; letter++)
        at = *letter == 's' ? put_text(at, text, n_bytes) : put_number(at, *letter, *numbers++);
    put_event(sink, track, tick, kind, at);
}

void strobe_tracy_sink_own_time(struct strobe_tracy_sink *sink, struct strobe_tracy_track *track,
                                int64_t more)
{
    uint8_t field[STROBE_VARINT_MAX];
    uint8_t *end = strobe_varint_put(field, strobe_zigzag(more));
    struct strobe_encoder *enc = strobe_tracy_store_same_part(sink->store, track);
    if (enc) /* else the event before it was refused */
        strobe_encode_event(enc, enc->prev_tick, STROBE_KIND_OWN_TIME, field,
                            (size_t)(end - field));
}

void strobe_tracy_sink_stack(struct strobe_tracy_sink *sink, struct strobe_tracy_track *track,
                             uint64_t tick, enum strobe_kind kind, uint64_t cpu,
                             const uint64_t *addresses, size_t n_addresses)
{
    uint8_t *at = strobe_tracy_store_scratch(sink->store);
    size_t n = n_addresses < STACK_MAX ? n_addresses : STACK_MAX;
    uint64_t last = 0;
    if (kind == STROBE_KIND_SAMPLE)
        at = strobe_varint_put(at, cpu);
    at = strobe_varint_put(at, n);
    for (size_t i = 0; i < n; i++) {
        at = strobe_varint_put(at, strobe_zigzag((int64_t)(addresses[i] - last)));
        last = addresses[i];
    }
    put_event(sink, track, tick, kind, at);
}
