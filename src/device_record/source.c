/* source.c - see the header.
 *
 * A round: every stream's frames into the one block that all devices share. Bytes go back when all blocks with what they became are written
 * and the rest is saved: after a quarter of a second, or when a stream's ring is half full of them. Where the rest is much, compared with what
 * came since, up to a second.
 * SPDX-License-Identifier: MIT */
#include "device_record/source.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/out.h"
#include "device_record/device.h"
#include "device_record/host_clock.h"
#include "fifo/device_fifo.h"
#include "ring/fifo_state.h"
#include "strobe/strobe.h"

enum {
    STREAMS_MAX = 256,
    BUDGET_BYTES = 48 << 20, /* names, tracks and open zones of all devices */
    FEED_WORDS = 1 << 18,    /* of one stream in a round */
    BUSY_NS = 500000,
    QUIET_NS = 10000000,
};
#define FLUSH_NS 250000000ull
#define SAVE_NS  1000000000ull

struct stream {
    struct strobe_device_fifo_reader fifo;
    struct strobe_device_trace *device; /* owned; NULL: could not be made */
    bool is_broken;
};

struct strobe_devices {
    struct strobe_devices_options options;
    char dir[STROBE_PATH_MAX];
    struct strobe_build_store *store;    /* owned; NULL before the first stream */
    struct stream *streams[STREAMS_MAX]; /* owned */
    uint32_t n_streams, n_devices;       /* streams that are open; found */
    struct strobe_host_clock clock;      /* also in front of a device's bytes in its slot */
    uint64_t flushed_ns, saved_ns;
    uint64_t n_saved; /* bytes of the last saving, of all streams */
    uint32_t *words;  /* owned: FEED_WORDS, what is being decoded */
    pthread_t thread;
    bool runs;
    pthread_mutex_t lock; /* guards all below, and the streams while the thread is not in a round */
    pthread_cond_t wake;
    bool stop, paused;
};

/* ---- the trace's clock ---- */

static void read_clock(struct strobe_host_clock *clock)
{
    uint64_t best = UINT64_MAX, tick = 0, mono = 0;
    for (int i = 0; i < 7; i++) {
        uint64_t before = strobe_ticks(), now = strobe_clock_mono_ns(), after = strobe_ticks();
        if (after - before < best) {
            best = after - before;
            tick = before + best / 2;
            mono = now;
        }
    }
    strobe_host_clock_read(clock, tick, mono, (double)best / 2 + 1);
}

/* A first pair of readings; a recovery has the clock of the recorder that died. */
static void set_clock(struct strobe_devices *source)
{
    struct timespec rest = strobe_clock_timespec(20000000);
    if (source->options.is_mono || source->clock.mono0)
        return;
    read_clock(&source->clock);
    nanosleep(&rest, NULL);
    read_clock(&source->clock);
}

static void renew_clock(struct strobe_devices *source)
{
    if (source->options.is_mono || source->options.ask || !source->clock.mono0 ||
        !strobe_host_clock_is_due(&source->clock, strobe_clock_mono_ns()))
        return;
    read_clock(&source->clock);
}

static uint64_t tick_at(void *context, uint64_t ns)
{
    const struct strobe_devices *source = context;
    return source->options.is_mono ? ns : strobe_host_clock_tick(&source->clock, ns);
}

static double tick_error(void *context)
{
    const struct strobe_devices *source = context;
    return source->options.is_mono ? 1 : strobe_host_clock_error(&source->clock);
}

/* ---- streams ---- */

static enum strobe_err open_store(struct strobe_devices *source)
{
    return source->store ? STROBE_OK
                         : strobe_build_store_open(&source->options.store, &source->store);
}

static bool is_known(const struct strobe_devices *source, const char *name)
{
    for (uint32_t i = 0; i < source->n_streams; i++)
        if (!strcmp(source->streams[i]->fifo.name, name))
            return true;
    return false;
}

/* Where the device stands goes to the stream's slot. What can't be kept there is missing if this recorder dies. */
static void save(struct strobe_devices *source, struct stream *stream)
{
    struct strobe_host_clock clock = source->clock;
    struct strobe_out out;
    if (!stream->device)
        return;
    bool is_bad = strobe_device_fifo_save_begin(&stream->fifo) ||
                  !strobe_out_open_sink(&out, strobe_device_fifo_save_piece, &stream->fifo);
    if (!is_bad) {
        strobe_out_bytes(&out, (const char *)&clock, sizeof clock);
        strobe_device_trace_save(stream->device, &out);
        is_bad = strobe_out_end(&out) ||
                 strobe_device_fifo_save_end(&stream->fifo, source->options.trace,
                                             strobe_device_trace_layout());
    }
    if (is_bad)
        strobe_device_fifo_forget(&stream->fifo);
    source->n_saved += stream->fifo.saved;
}

/* What a predecessor left of a stream, if anything; *bytes are the caller's. False: the stream is another trace's. */
static bool find_left(struct strobe_devices *source, struct stream *stream, void **bytes,
                      struct strobe_device_left *left)
{
    uint8_t trace[16];
    size_t n_bytes = 0;
    struct strobe_host_clock clock;
    *bytes = NULL;
    if (strobe_device_fifo_left(&stream->fifo, trace, strobe_device_trace_layout(), bytes,
                                &n_bytes) ||
        n_bytes < sizeof clock)
        return true;
    bool is_same = !memcmp(trace, source->options.trace, sizeof trace);
    STROBE_ASSERT(*bytes && stream->fifo.head); /* what was left is the caller's now */
    if (source->options.ask && !is_same)
        return false;
    memcpy(&clock, *bytes, sizeof clock);
    if (!(clock.ticks_per_ns > 0 && clock.ticks_per_ns < 1000)) /* no clock has that rate: damage */
        return true;
    if (source->options.ask && !source->clock.mono0)
        source->clock = clock;
    *left = (struct strobe_device_left){.bytes = (uint8_t *)*bytes + sizeof clock,
                                        .n_bytes = n_bytes - sizeof clock,
                                        .ask = source->options.ask,
                                        .context = source->options.ask_context};
    return true;
}

static void open_device(struct strobe_devices *source, struct stream *stream,
                        const struct strobe_device_left *left)
{
    if (!left->ask)
        set_clock(source);
    struct strobe_device_trace_options options = {
        .store = source->store,
        .host = {.tick_at = tick_at,
                 .context = source,
                 .tick_ns = source->options.is_mono ? 1 : 1 / source->clock.ticks_per_ns,
                 .error = tick_error},
        .pid = stream->fifo.pid,
        .device = stream->fifo.device,
        .left = left->bytes ? left : NULL,
    };
    STROBE_ASSERT(source->store && !stream->device);
    enum strobe_err err = strobe_device_trace_open(&options, &stream->device);
    if (err && left->bytes) { /* what was left is of no use */
        options.left = NULL;
        err = strobe_device_trace_open(&options, &stream->device);
    }
    stream->is_broken = err != STROBE_OK;
    if (!err && !options.left &&
        stream->fifo.head->recorder == STROBE_DEVICE_FIFO_ATTACHED) /* nobody detached */
        strobe_device_trace_remark(stream->device,
                                   "a recorder died that could not save where it stood: what it "
                                   "had taken of the stream may be missing, or be there twice");
}

static struct stream *open_stream(struct strobe_devices *source, const char *name)
{
    struct stream *stream = calloc(1, sizeof *stream);
    struct strobe_device_left left = {0};
    void *bytes = NULL;
    if (!stream)
        return NULL;
    enum strobe_err err = strobe_device_fifo_open(source->dir, name, &stream->fifo);
    if (err == STROBE_ERR_BUSY && !source->options.ask)
        strobe_device_fifo_ask(source->dir, name, source->options.only_pid, true);
    bool is_ours =
        !err && (!source->options.only_pid || stream->fifo.pid == source->options.only_pid);
    if (is_ours)
        is_ours = !open_store(source) && find_left(source, stream, &bytes, &left);
    if (!is_ours) {
        if (!err)
            strobe_device_fifo_release(&stream->fifo, source->dir, false);
        free(bytes);
        free(stream);
        return NULL;
    }
    open_device(source, stream, &left);
    free(bytes);
    strobe_build_store_flush(source->store); /* the process is in the file before its events */
    save(source, stream);
    strobe_device_fifo_attach(&stream->fifo);
    return stream;
}

/* The stream is at its end, or is left. */
static void close_stream(struct strobe_devices *source, struct stream *stream, bool is_left)
{
    STROBE_ASSERT(stream->fifo.head && source->store);
    strobe_device_trace_close(stream->device, stream->fifo.head->n_dropped);
    strobe_build_store_flush(source->store);
    strobe_device_fifo_give_back(&stream->fifo);
    if (is_left)
        strobe_device_fifo_forget(&stream->fifo);
    strobe_device_fifo_release(&stream->fifo, source->dir, !is_left);
    free(stream);
}

/* Frames of one stream, as many as a round takes. False: there were none. */
static bool feed(struct strobe_devices *source, struct stream *stream)
{
    const uint32_t *words;
    size_t n_words, n_used = 0;
    enum strobe_err err = strobe_device_fifo_next(&stream->fifo, &words, &n_words);
    stream->is_broken |= err != STROBE_OK;
    if (stream->is_broken || !n_words)
        return false;
    if (n_words > FEED_WORDS)
        n_words = FEED_WORDS;
    /* The producer may write while we read: what was checked has to be what is used. */
    memcpy(source->words, words, n_words * sizeof *words);
    strobe_device_trace_feed(stream->device, source->words, n_words, &n_used);
    STROBE_ASSERT(n_used <= n_words);
    strobe_device_fifo_take(&stream->fifo, n_used);
    return n_used > 0;
}

/* In a recovery events come as the predecessor made them: what it handed on before its last save, and nothing since. */
static void hand_on_all(struct strobe_devices *source)
{
    for (uint32_t i = 0; i < source->n_streams && !source->options.ask; i++) {
        struct stream *stream = source->streams[i];
        if (stream->device && stream->fifo.read != stream->fifo.given)
            strobe_device_trace_hand_on(stream->device);
    }
}

/* To save takes as long as what is saved is large: too long for what came since the last time. */
static bool is_too_early(const struct strobe_devices *source, uint64_t now)
{
    uint64_t n_taken = 0;
    for (uint32_t i = 0; i < source->n_streams; i++)
        n_taken += source->streams[i]->fifo.read - source->streams[i]->fifo.given;
    return n_taken < 2 * source->n_saved && now - source->saved_ns < SAVE_NS;
}

/* What is in the block goes to the file. What waits is handed on with a saving alone: a successor does the same then. */
static void flush_block(struct strobe_devices *source)
{
    strobe_build_store_flush(source->store);
    source->flushed_ns = strobe_clock_mono_ns();
}

static void give_back_all(struct strobe_devices *source)
{
    STROBE_ASSERT(source->store && source->n_streams <= STREAMS_MAX);
    hand_on_all(source);
    flush_block(source);
    source->saved_ns = source->flushed_ns;
    source->n_saved = 0;
    for (uint32_t i = 0; i < source->n_streams; i++) {
        struct stream *stream = source->streams[i];
        if (stream->fifo.read == stream->fifo.given)
            continue;
        save(source, stream);
        strobe_device_fifo_give_back(&stream->fifo);
    }
}

/* One round over all streams. False: nothing came. */
static bool round_over_streams(struct strobe_devices *source)
{
    bool came = false, is_crowded = false;
    renew_clock(source);
    for (uint32_t i = 0; i < source->n_streams; i++) {
        struct stream *stream = source->streams[i];
        bool lives = strobe_device_fifo_is_live(
            &stream->fifo); /* asked first: what it put before its death comes */
        bool fed = feed(source, stream);
        came |= fed;
        is_crowded |= stream->fifo.read - stream->fifo.given > stream->fifo.data_bytes / 2;
        strobe_device_fifo_beat(&stream->fifo);
        if (!fed && (!lives || stream->is_broken)) {
            close_stream(source, stream, false);
            STROBE_ASSERT(source->n_streams && i < source->n_streams);
            source->streams[i--] = source->streams[--source->n_streams];
        }
    }
    uint64_t now = strobe_clock_mono_ns();
    bool is_due = source->store && now - source->flushed_ns > FLUSH_NS;
    if (source->store && (is_crowded || (is_due && !is_too_early(source, now))))
        give_back_all(source);
    else if (is_due)
        flush_block(source);
    return came;
}

static void *run(void *context)
{
    struct strobe_devices *source = context;
    pthread_mutex_lock(&source->lock);
    while (!source->stop) {
        bool came = !source->paused && round_over_streams(source);
        struct timespec until =
            strobe_clock_timespec(strobe_clock_mono_ns() + (came ? BUSY_NS : QUIET_NS));
        pthread_cond_timedwait(&source->wake, &source->lock, &until);
    }
    pthread_mutex_unlock(&source->lock);
    return NULL;
}

/* Signals are the recorder's, but for the one that guards mappings. */
static bool start_thread(struct strobe_devices *source)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    source->runs = !pthread_create(&source->thread, NULL, run, source);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return source->runs;
}

/* ---- what the recorder calls ---- */

enum strobe_err strobe_devices_open(const struct strobe_devices_options *options,
                                    struct strobe_devices **out)
{
    pthread_condattr_t mono;
    struct strobe_devices *source = calloc(1, sizeof *source);
    uint32_t *words = source ? malloc(FEED_WORDS * sizeof *words) : NULL;
    if (!words) {
        free(source);
        return STROBE_ERR_NOMEM;
    }
    source->words = words;
    source->options = *options;
    source->options.store.budget_bytes = BUDGET_BYTES;
    snprintf(source->dir, sizeof source->dir, "%s", options->session_dir);
    pthread_mutex_init(&source->lock, NULL);
    pthread_condattr_init(&mono);
    pthread_condattr_setclock(&mono, CLOCK_MONOTONIC);
    pthread_cond_init(&source->wake, &mono);
    pthread_condattr_destroy(&mono);
    *out = source;
    return STROBE_OK;
}

void strobe_devices_look(struct strobe_devices *source)
{
    struct dirent *entry;
    DIR *folder = opendir(source->dir);
    pthread_mutex_lock(&source->lock);
    while (folder && (entry = readdir(folder)) && source->n_streams < STREAMS_MAX) {
        struct stream *stream = NULL;
        if (strobe_fifo_state_is_name(entry->d_name) && !is_known(source, entry->d_name))
            stream = open_stream(source, entry->d_name);
        if (!stream)
            continue;
        STROBE_ASSERT(source->n_streams < STREAMS_MAX && stream->fifo.head);
        source->streams[source->n_streams++] = stream;
        source->n_devices++;
        if (!source->runs && !source->options.ask)
            start_thread(source);
    }
    pthread_mutex_unlock(&source->lock);
    if (folder)
        closedir(folder);
}

struct strobe_devices_status strobe_devices_status(struct strobe_devices *source)
{
    pthread_mutex_lock(&source->lock);
    struct strobe_devices_status status = {source->n_streams, source->n_devices};
    pthread_mutex_unlock(&source->lock);
    return status;
}

static void flush_all(struct strobe_devices *source, bool pause)
{
    pthread_mutex_lock(&source->lock);
    if (source->store)
        give_back_all(source);
    source->paused = pause;
    pthread_mutex_unlock(&source->lock);
}

void strobe_devices_flush(struct strobe_devices *source)
{
    flush_all(source, false);
}

void strobe_devices_pause(struct strobe_devices *source)
{
    flush_all(source, true);
}

void strobe_devices_go_on(struct strobe_devices *source, struct strobe_file_writer *writer)
{
    pthread_mutex_lock(&source->lock);
    STROBE_ASSERT(source->paused);
    source->options.store.writer = writer;
    if (source->store)
        strobe_build_store_set_writer(source->store, writer);
    source->paused = false;
    pthread_mutex_unlock(&source->lock);
}

/* No program need make a ring for this recorder any more. */
static void ask_no_more(struct strobe_devices *source)
{
    struct dirent *entry;
    DIR *folder = source->options.ask ? NULL : opendir(source->dir);
    while (folder && (entry = readdir(folder)))
        if (strobe_fifo_state_is_name(entry->d_name))
            strobe_device_fifo_ask(source->dir, entry->d_name, source->options.only_pid, false);
    if (folder)
        closedir(folder);
}

void strobe_devices_close(struct strobe_devices *source)
{
    if (!source)
        return;
    strobe_devices_look(source); /* a device that was opened last */
    ask_no_more(source);
    pthread_mutex_lock(&source->lock);
    source->stop = true;
    pthread_cond_signal(&source->wake);
    pthread_mutex_unlock(&source->lock);
    if (source->runs)
        pthread_join(source->thread, NULL);
    for (uint32_t i = 0; i < source->n_streams; i++) {
        struct stream *stream = source->streams[i];
        bool lives = strobe_device_fifo_is_live(&stream->fifo);
        if (lives)
            strobe_device_fifo_detach(
                &stream->fifo); /* it puts no more: what is there has an end */
        while (feed(source, stream))
            if (stream->fifo.read - stream->fifo.given > stream->fifo.data_bytes / 2)
                give_back_all(source);
        close_stream(source, stream, lives);
    }
    strobe_build_store_close(source->store);
    pthread_cond_destroy(&source->wake);
    pthread_mutex_destroy(&source->lock);
    free(source->words);
    free(source);
}
