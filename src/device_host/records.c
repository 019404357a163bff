/* records.c - subscriptions to what devices record: a bounded queue and a thread each. The worker copies frames into the queues and
 * never waits for anybody; what has no room in a queue is that subscriber's loss, and counted.  SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "device_host/records.h"

#define AT_ONCE (1u << 18) /* bytes of a queue that become one batch */
#define FACT_ROOM \
    (4u << 20) /* bytes more that descriptions may take, so that they are never lost */

enum piece_kind { FRAMES, RUN, GONE };

struct piece {
    struct piece *next;
    enum piece_kind kind;
    uint64_t device; /* number */
    size_t bytes;
    uint64_t words[]; /* `bytes` of them: frames, or a run */
};

struct subscriber {
    struct subscriber *next;
    uint64_t handle;
    uint32_t kinds;
    strobe_device_batches *batches;
    void *context; /* borrowed: for batches */
    pthread_t thread;
    pthread_cond_t changed;
    struct piece *first, **last; /* owned: what waits */
    size_t bytes;                /* of it */
    uint64_t dropped_bytes, n_dropped_runs;
    uint64_t *described; /* owned: numbers of devices that it knows */
    uint32_t n_described, room_described;
    int stops;     /* no more is queued; what waits is handed over first */
    int forgotten; /* nobody joins the thread: it frees all itself */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct subscriber *subscribers;
static _Atomic uint32_t n_subscribers, n_streaming, n_open;
static uint64_t last_handle;

static size_t limit_bytes(void)
{
    const char *said = getenv("TT_METAL_STREAMING_PROFILER_FIFO_MB");
    unsigned long mib = said ? strtoul(said, NULL, 10) : 64;
    return (mib && mib <= 3584 ? mib : 64) << 20;
}

/* ---- the subscriber's thread ---- */

static void free_subscriber(struct subscriber *it)
{
    STROBE_ASSERT(!it->first);
    pthread_cond_destroy(&it->changed);
    free(it->described);
    free(it);
}

/* Pieces of up to AT_ONCE bytes off the queue. Under the lock. */
static struct piece *take_pieces(struct subscriber *it)
{
    struct piece *head = it->first, **end = &head;
    for (size_t taken = 0; *end && taken < AT_ONCE; end = &(*end)->next) {
        taken += (*end)->bytes;
        it->bytes -= (*end)->bytes;
    }
    it->first = *end;
    *end = NULL;
    if (!it->first)
        it->last = &it->first;
    return head;
}

static void decode(struct strobe_records_feed *feed, struct piece *pieces)
{
    while (pieces) {
        struct piece *piece = pieces;
        pieces = piece->next;
        if (piece->kind == FRAMES)
            strobe_records_feed_frames(feed, piece->device, (const uint32_t *)piece->words,
                                       piece->bytes / 4);
        else if (piece->kind == RUN)
            strobe_records_feed_run(feed, piece->device,
                                    (const struct strobe_device_execution *)piece->words);
        else
            strobe_records_feed_forget(feed, piece->device);
        free(piece);
    }
}

static void *run_subscriber(void *context)
{
    struct subscriber *it = context;
    struct strobe_records_feed *feed = strobe_records_feed_new(it->kinds);
    pthread_mutex_lock(&lock);
    while (it->first || !it->stops) {
        if (!it->first) {
            pthread_cond_wait(&it->changed, &lock);
            continue;
        }
        struct piece *pieces = take_pieces(it);
        uint64_t dropped_bytes = it->dropped_bytes, n_dropped_runs = it->n_dropped_runs;
        it->dropped_bytes = it->n_dropped_runs = 0;
        int last = it->forgotten;
        pthread_mutex_unlock(&lock);
        struct strobe_device_batch batch = {0};
        if (feed) {
            decode(feed, pieces);
            strobe_records_feed_take(feed, &batch);
        }
        batch.dropped_bytes += dropped_bytes;
        batch.n_dropped_runs += n_dropped_runs;
        if (!last && (batch.n_zones || batch.n_events || batch.data_bytes || batch.n_runs ||
                      batch.dropped_bytes || batch.n_dropped_runs))
            it->batches(it->context, &batch);
        pthread_mutex_lock(&lock);
    }
    int forgotten = it->forgotten;
    pthread_mutex_unlock(&lock);
    strobe_records_feed_free(feed);
    if (forgotten)
        free_subscriber(it);
    return NULL;
}

/* ---- subscriptions ---- */

static int start_thread(struct subscriber *it, const char *name)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&it->thread, NULL, run_subscriber, it);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed && name && *name) {
        char text[16];
        snprintf(text, sizeof text, "%s", name);
        pthread_setname_np(it->thread, text);
    }
    return failed;
}

enum strobe_device_result strobe_device_subscribe(const char *name, uint32_t kinds,
                                                  strobe_device_batches *batches, void *context,
                                                  uint64_t *handle)
{
    if (!batches || !(kinds & (STROBE_DEVICE_ZONES | STROBE_DEVICE_DATA | STROBE_DEVICE_EVENTS |
                               STROBE_DEVICE_PROGRAMS)))
        return strobe_host_fail(STROBE_DEVICE_INVALID,
                                "a subscription needs a function and a kind of record");
    struct subscriber *it = calloc(1, sizeof *it);
    if (!it)
        return strobe_host_fail(STROBE_DEVICE_NOMEM, "no memory for a subscription");
    *it = (struct subscriber){.kinds = kinds, .batches = batches, .context = context};
    it->last = &it->first;
    pthread_cond_init(&it->changed, NULL);
    pthread_mutex_lock(&lock);
    int failed = start_thread(it, name);
    if (!failed) {
        *handle = it->handle = ++last_handle;
        it->next = subscribers;
        subscribers = it;
        n_subscribers++;
    }
    pthread_mutex_unlock(&lock);
    if (failed)
        free_subscriber(it);
    return failed ? strobe_host_fail(STROBE_DEVICE_NOMEM, "can't start a thread")
                  : STROBE_DEVICE_OK;
}

void strobe_device_unsubscribe(uint64_t handle)
{
    pthread_mutex_lock(&lock);
    struct subscriber **at = &subscribers;
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    struct subscriber *it = *at;
    if (!it) {
        pthread_mutex_unlock(&lock);
        return;
    }
    *at = it->next;
    n_subscribers--;
    it->stops = 1;
    int inside = pthread_equal(pthread_self(), it->thread);
    it->forgotten = inside;
    pthread_t thread = it->thread;
    pthread_cond_signal(&it->changed);
    pthread_mutex_unlock(&lock);
    if (inside) {
        pthread_detach(thread);
        return;
    }
    pthread_join(thread, NULL);
    free_subscriber(it);
}

/* ---- what the worker hands in ---- */

/* Under the lock. */
static int is_described(const struct subscriber *it, uint64_t number)
{
    for (uint32_t i = 0; i < it->n_described; i++)
        if (it->described[i] == number)
            return 1;
    return 0;
}

/* Put a piece into a queue. Under the lock. */
static void append(struct subscriber *it, enum piece_kind kind, uint64_t number, const void *bytes,
                   size_t n_bytes, size_t limit)
{
    struct piece *piece = it->bytes + n_bytes <= limit ? malloc(sizeof *piece + n_bytes) : NULL;
    if (!piece) {
        if (kind == RUN)
            it->n_dropped_runs++;
        else
            it->dropped_bytes += n_bytes;
        return;
    }
    piece->next = NULL;
    piece->kind = kind;
    piece->device = number;
    piece->bytes = n_bytes;
    if (n_bytes)
        memcpy(piece->words, bytes, n_bytes);
    *it->last = piece;
    it->last = &piece->next;
    it->bytes += n_bytes;
    pthread_cond_signal(&it->changed);
}

/* Whether frames describe the device: lost, they would be missing from all that follows. */
static int describes(uint32_t word)
{
    uint32_t subtype = STROBE_EXT_SUBTYPE(word);
    return STROBE_ST_TYPE(word) == STROBE_ST_EXTENSION && subtype >= STROBE_EXT_HELLO &&
           subtype <= STROBE_EXT_PROGRAM;
}

void strobe_records_put(struct strobe_device *device, const uint32_t *words, size_t n_words)
{
    if (!n_subscribers || !n_words)
        return;
    size_t limit = limit_bytes() + (describes(words[0]) ? FACT_ROOM : 0);
    pthread_mutex_lock(&lock);
    for (struct subscriber *it = subscribers; it; it = it->next)
        if (is_described(it, device->number))
            append(it, FRAMES, device->number, words, n_words * sizeof *words, limit);
    pthread_mutex_unlock(&lock);
}

void strobe_records_describe(struct strobe_device *device)
{
    int is_new = 0;
    if (!n_subscribers)
        return;
    pthread_mutex_lock(&lock);
    for (struct subscriber *it = subscribers; it; it = it->next) {
        uint64_t *slot =
            is_described(it, device->number)
                ? NULL
                : STROBE_ARRAY_PUSH(it->described, it->n_described, it->room_described);
        if (!slot)
            continue;
        *slot = device->number;
        append(it, FRAMES, device->number, device->facts, device->n_facts * sizeof *device->facts,
               limit_bytes() + FACT_ROOM);
        is_new = 1;
    }
    pthread_mutex_unlock(&lock);
    if (is_new)
        strobe_frames_clocks(device, 1);
}

void strobe_records_run(struct strobe_device *device, const struct strobe_device_job *job,
                        uint32_t runtime_id, const struct strobe_job_span *span)
{
    if (!n_subscribers || !span->end)
        return;
    struct strobe_device_execution run = {.runtime_id = runtime_id,
                                          .chip = device->setup.index,
                                          .start = span->start,
                                          .end = span->end};
    run.sources = strobe_records_sources(job, &run.n_sources);
    size_t limit = limit_bytes();
    pthread_mutex_lock(&lock);
    for (struct subscriber *it = subscribers; it; it = it->next)
        if (it->kinds & STROBE_DEVICE_PROGRAMS && is_described(it, device->number))
            append(it, RUN, device->number, &run, sizeof run, limit);
    pthread_mutex_unlock(&lock);
}

void strobe_records_open(struct strobe_device *device)
{
    n_open++;
    n_streaming += device->setup.options.mode == STROBE_DEVICE_MODE_STREAMING;
    strobe_records_describe(device);
}

void strobe_records_close(struct strobe_device *device)
{
    n_open--;
    n_streaming -= device->setup.options.mode == STROBE_DEVICE_MODE_STREAMING;
    pthread_mutex_lock(&lock);
    for (struct subscriber *it = subscribers; it; it = it->next)
        for (uint32_t i = 0; i < it->n_described; i++)
            if (it->described[i] == device->number) {
                it->described[i] = it->described[--it->n_described];
                append(it, GONE, device->number, NULL, 0, SIZE_MAX);
                break;
            }
    pthread_mutex_unlock(&lock);
}

uint32_t strobe_device_count_streaming(void)
{
    return n_streaming;
}

uint32_t strobe_device_count_open(void)
{
    return n_open;
}
