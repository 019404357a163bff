/* blocks_in.c - undoes the container of a .tracy file: LZ4 or zstd, 1 to 255 streams taken in turn.
 *
 * Content goes into slots of 8 blocks, used round and round. The thread that decompresses fills
 * them ahead of the reader; what the reader has not used of a slot is moved in front of the next
 * one, so that every small item lies in one piece. LZ4 looks back 64 KiB into the stream's block
 * before, which still lies in a slot: hence the number of slots grows with that of streams.
 * SPDX-License-Identifier: MIT */
#include "tracy/blocks_in.h"

#include <errno.h>
#include <fcntl.h>
#include <lz4.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

enum {
    SLOT_BLOCKS = 8,
    SLOT_BYTES = STROBE_TRACY_PIECE + SLOT_BLOCKS * STROBE_TRACY_BLOCK,
    BUFFER_BYTES = 4 << 20,              /* of the file, read at once */
    MAX_STORED = STROBE_TRACY_BLOCK * 2, /* of one block; no compressor makes it that much longer */
    SLOT_STORED = SLOT_BLOCKS * (MAX_STORED + 4),
};

const uint8_t strobe_tracy_zeros[STROBE_TRACY_PIECE];

struct slot {
    uint8_t *bytes; /* borrowed from blocks->room */
    uint32_t n_bytes;
    int is_last;
    enum strobe_err err; /* after its bytes */
};

/* A block that is to be unpacked. */
struct job {
    const uint8_t *stored;
    uint32_t n_stored, n_out;
    unsigned stream;
    uint8_t *out;
    enum strobe_err err;
};

struct strobe_tracy_blocks {
    const uint8_t *file; /* borrowed: a file in memory; or `buffer`, with what was read of it */
    size_t n_file, at;
    uint8_t *buffer; /* owned; NULL: the file is in memory */
    int is_read;     /* to its end */
    int fd;          /* owned; -1: none */
    int is_zstd;
    unsigned n_streams, next_stream;
    ZSTD_DCtx **zstd;     /* owned: by stream */
    const uint8_t **dict; /* owned: by stream, its last block */
    uint32_t *n_dict;     /* owned */
    uint8_t *room;        /* owned: the slots' bytes */
    struct slot *slots;   /* owned */
    unsigned n_slots;
    uint64_t n_filled, n_used; /* slots so far; under `lock` where there is a thread */
    int is_threaded, stop;
    enum strobe_err last_err; /* of the last slot, once the reader has it; OK: more will come */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job jobs[SLOT_BLOCKS]; /* of the slot that is filled */
    unsigned n_jobs;
    int has_helper, is_job, stop_helper; /* the last two under `lock` */
    pthread_t helper;                    /* unpacks the odd streams */
    pthread_cond_t job_changed;
};

/* ---- one block ------------------------------------------------------------------------------- */

static enum strobe_err unpack_zstd(struct strobe_tracy_blocks *blocks, struct job *job)
{
    ZSTD_DCtx **zstd = &blocks->zstd[job->stream];
    if (!*zstd) {
        *zstd = ZSTD_createDCtx();
        if (!*zstd)
            return STROBE_ERR_NOMEM;
        /* 128 MiB of window each is fine for the few streams that writers use, not for hundreds */
        ZSTD_DCtx_setParameter(*zstd, ZSTD_d_windowLogMax, blocks->n_streams <= 8 ? 27 : 22);
    }
    ZSTD_inBuffer in = {job->stored, job->n_stored, 0};
    ZSTD_outBuffer to = {job->out, STROBE_TRACY_BLOCK, 0};
    while (in.pos < in.size && to.pos < to.size) {
        size_t before = in.pos + to.pos;
        if (ZSTD_isError(ZSTD_decompressStream(*zstd, &to, &in)))
            return STROBE_ERR_CORRUPT;
        if (in.pos + to.pos == before)
            break;
    }
    job->n_out = (uint32_t)to.pos;
    return in.pos == in.size ? STROBE_OK : STROBE_ERR_CORRUPT;
}

static enum strobe_err unpack_lz4(struct strobe_tracy_blocks *blocks, struct job *job)
{
    unsigned s = job->stream;
    int got = LZ4_decompress_safe_usingDict((const char *)job->stored, (char *)job->out,
                                            (int)job->n_stored, STROBE_TRACY_BLOCK,
                                            (const char *)blocks->dict[s], (int)blocks->n_dict[s]);
    if (got < 0)
        return STROBE_ERR_CORRUPT;
    blocks->dict[s] = job->out;
    blocks->n_dict[s] = (uint32_t)got;
    job->n_out = (uint32_t)got;
    return STROBE_OK;
}

/* The blocks of a slot whose stream is odd, or even; 2: all. A stream is one thread's at a time. */
static void unpack_half(struct strobe_tracy_blocks *blocks, unsigned half)
{
    for (unsigned i = 0; i < blocks->n_jobs; i++) {
        struct job *job = &blocks->jobs[i];
        if (half == 2 || job->stream % 2 == half)
            job->err = blocks->is_zstd ? unpack_zstd(blocks, job) : unpack_lz4(blocks, job);
    }
}

/* Have the blocks of a whole slot in the buffer, or all that there is. Reads, and does not map: a file
 * that is cut meanwhile does no harm. */
static enum strobe_err read_ahead(struct strobe_tracy_blocks *blocks)
{
    size_t left = blocks->n_file - blocks->at;
    if (!blocks->buffer || blocks->is_read || left >= SLOT_STORED)
        return STROBE_OK;
    memmove(blocks->buffer, blocks->buffer + blocks->at, left);
    blocks->at = 0;
    blocks->n_file = left;
    while (blocks->n_file < BUFFER_BYTES && !blocks->is_read) {
        ssize_t n =
            read(blocks->fd, blocks->buffer + blocks->n_file, BUFFER_BYTES - blocks->n_file);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return STROBE_ERR_IO;
        blocks->is_read = n == 0;
        blocks->n_file += (size_t)n;
    }
    return STROBE_OK;
}

/* The next block's place in the buffer. END: there is none. */
static enum strobe_err find_block(struct strobe_tracy_blocks *blocks, struct job *job)
{
    size_t left = blocks->n_file - blocks->at;
    uint32_t n;
    if (left < sizeof n)
        return STROBE_ERR_END;
    memcpy(&n, blocks->file + blocks->at, sizeof n);
    if (n > MAX_STORED)
        return STROBE_ERR_CORRUPT;
    if (n > left - sizeof n)
        return STROBE_ERR_END;
    *job = (struct job){.stored = blocks->file + blocks->at + sizeof n,
                        .n_stored = n,
                        .stream = blocks->next_stream};
    blocks->at += sizeof n + n;
    blocks->next_stream = (blocks->next_stream + 1) % blocks->n_streams;
    return STROBE_OK;
}

/* Unpack what was found, by two threads where there is a second. */
static void unpack_all(struct strobe_tracy_blocks *blocks)
{
    if (!blocks->has_helper) {
        unpack_half(blocks, 2);
        return;
    }
    pthread_mutex_lock(&blocks->lock);
    blocks->is_job = 1;
    pthread_cond_broadcast(&blocks->job_changed);
    pthread_mutex_unlock(&blocks->lock);
    unpack_half(blocks, 0);
    pthread_mutex_lock(&blocks->lock);
    while (blocks->is_job)
        pthread_cond_wait(&blocks->job_changed, &blocks->lock);
    pthread_mutex_unlock(&blocks->lock);
}

static void *help_unpack(void *context)
{
    struct strobe_tracy_blocks *blocks = context;
    pthread_mutex_lock(&blocks->lock);
    for (;;) {
        while (!blocks->is_job && !blocks->stop_helper)
            pthread_cond_wait(&blocks->job_changed, &blocks->lock);
        if (!blocks->is_job)
            break;
        pthread_mutex_unlock(&blocks->lock);
        unpack_half(blocks, 1);
        pthread_mutex_lock(&blocks->lock);
        blocks->is_job = 0;
        pthread_cond_broadcast(&blocks->job_changed);
    }
    pthread_mutex_unlock(&blocks->lock);
    return NULL;
}

/* Blocks are whole but for the last one: a shorter one moves those behind it, and with them what LZ4
 * looks back at. */
static void gather(struct strobe_tracy_blocks *blocks, struct slot *slot)
{
    uint8_t *to = slot->bytes + STROBE_TRACY_PIECE;
    for (unsigned i = 0; i < blocks->n_jobs && !slot->err; i++) {
        struct job *job = &blocks->jobs[i];
        if (job->err) {
            slot->err = job->err;
            break;
        }
        if (to != job->out) {
            memmove(to, job->out, job->n_out);
            if (blocks->dict[job->stream] == job->out)
                blocks->dict[job->stream] = to;
        }
        to += job->n_out;
        slot->n_bytes += job->n_out;
    }
}

static void fill_slot(struct strobe_tracy_blocks *blocks, struct slot *slot)
{
    enum strobe_err err = read_ahead(blocks);
    slot->n_bytes = 0;
    slot->err = STROBE_OK;
    blocks->n_jobs = 0;
    while (blocks->n_jobs < SLOT_BLOCKS && !err) {
        struct job *job = &blocks->jobs[blocks->n_jobs];
        err = find_block(blocks, job);
        if (!err)
            job->out = slot->bytes + STROBE_TRACY_PIECE + blocks->n_jobs++ * STROBE_TRACY_BLOCK;
    }
    unpack_all(blocks);
    gather(blocks, slot);
    if (!slot->err)
        slot->err = err;
    slot->is_last = slot->err != STROBE_OK;
}

/* ---- slots ----------------------------------------------------------------------------------- */

/* Slots that the filler may use at once: one is the reader's, and as many blocks as there are
 * streams must stay for LZ4. */
static uint64_t max_ahead(const struct strobe_tracy_blocks *blocks)
{
    return blocks->n_slots - (blocks->n_streams + SLOT_BLOCKS - 1) / SLOT_BLOCKS - 1;
}

static void *fill_all(void *context)
{
    struct strobe_tracy_blocks *blocks = context;
    pthread_mutex_lock(&blocks->lock);
    for (int is_last = 0; !is_last;) {
        while (!blocks->stop && blocks->n_filled - blocks->n_used >= max_ahead(blocks))
            pthread_cond_wait(&blocks->changed, &blocks->lock);
        if (blocks->stop)
            break;
        struct slot *slot = &blocks->slots[blocks->n_filled % blocks->n_slots];
        pthread_mutex_unlock(&blocks->lock);
        fill_slot(blocks, slot);
        is_last = slot->is_last;
        pthread_mutex_lock(&blocks->lock);
        blocks->n_filled++;
        pthread_cond_signal(&blocks->changed);
    }
    pthread_mutex_unlock(&blocks->lock);
    return NULL;
}

/* The next filled slot, given back with the next call. */
static struct slot *take_slot(struct strobe_tracy_blocks *blocks)
{
    if (!blocks->is_threaded) {
        struct slot *slot = &blocks->slots[blocks->n_used++ % blocks->n_slots];
        fill_slot(blocks, slot);
        return slot;
    }
    pthread_mutex_lock(&blocks->lock);
    while (blocks->n_filled == blocks->n_used)
        pthread_cond_wait(&blocks->changed, &blocks->lock);
    struct slot *slot = &blocks->slots[blocks->n_used++ % blocks->n_slots];
    pthread_cond_signal(&blocks->changed);
    pthread_mutex_unlock(&blocks->lock);
    return slot;
}

/* ---- the reader's side ----------------------------------------------------------------------- */

/* No more bytes: from here on zeros. */
static int run_out(struct strobe_tracy_bytes *in, enum strobe_err err)
{
    if (!in->err)
        in->err = err;
    in->n_passed += (uint64_t)(in->end - in->base);
    in->at = in->end = in->base = strobe_tracy_zeros;
    return 0;
}

int strobe_tracy_more(struct strobe_tracy_bytes *in, size_t n)
{
    while ((size_t)(in->end - in->at) < n) {
        if (in->err || !in->blocks)
            return run_out(in, STROBE_ERR_END);
        if (in->blocks->last_err)
            return run_out(in, in->blocks->last_err);
        size_t left = (size_t)(in->end - in->at);
        struct slot *slot = take_slot(in->blocks);
        uint8_t *data = slot->bytes + STROBE_TRACY_PIECE;
        memmove(data - left, in->at, left); /* left < n <= STROBE_TRACY_PIECE */
        in->n_passed = strobe_tracy_tell(in);
        in->at = in->base = data - left;
        in->end = data + slot->n_bytes;
        in->blocks->last_err = slot->is_last ? slot->err : STROBE_OK;
    }
    return 1;
}

int strobe_tracy_copy(struct strobe_tracy_bytes *in, void *out, uint64_t n)
{
    uint8_t *to = out;
    while (n) {
        if (in->at == in->end && !strobe_tracy_more(in, 1))
            return 0;
        size_t left = (size_t)(in->end - in->at), now = n < left ? (size_t)n : left;
        memcpy(to, in->at, now);
        in->at += now;
        to += now;
        n -= now;
    }
    return 1;
}

int strobe_tracy_skip(struct strobe_tracy_bytes *in, uint64_t n)
{
    while (n) {
        if (in->at == in->end && !strobe_tracy_more(in, 1))
            return 0;
        uint64_t left = (uint64_t)(in->end - in->at), now = n < left ? n : left;
        in->at += now;
        n -= now;
    }
    return 1;
}

/* ---- opening and closing --------------------------------------------------------------------- */

int strobe_tracy_is_container(const uint8_t *bytes, size_t n_bytes)
{
    return n_bytes >= 4 && (!memcmp(bytes, "tr\375P", 4) || !memcmp(bytes, "tlZ\004", 4) ||
                            !memcmp(bytes, "tZst", 4));
}

/* Compression and number of streams; the old containers have one stream and say it by the magic. */
static enum strobe_err read_magic(struct strobe_tracy_blocks *blocks)
{
    if (!strobe_tracy_is_container(blocks->file, blocks->n_file))
        return STROBE_ERR_FORMAT;
    blocks->n_streams = 1;
    blocks->at = 4;
    if (blocks->file[1] == 'r') {
        if (blocks->n_file < 6 || blocks->file[4] > 1 || !blocks->file[5])
            return STROBE_ERR_FORMAT;
        blocks->is_zstd = blocks->file[4];
        blocks->n_streams = blocks->file[5];
        blocks->at = 6;
    } else {
        blocks->is_zstd = blocks->file[1] == 'Z';
    }
    return STROBE_OK;
}

static enum strobe_err make_slots(struct strobe_tracy_blocks *blocks)
{
    blocks->n_slots = (blocks->n_streams + SLOT_BLOCKS - 1) / SLOT_BLOCKS + 4;
    blocks->slots = calloc(blocks->n_slots, sizeof *blocks->slots);
    blocks->room = malloc((size_t)blocks->n_slots * SLOT_BYTES);
    blocks->zstd = calloc(blocks->n_streams, sizeof(ZSTD_DCtx *));
    blocks->dict = calloc(blocks->n_streams, sizeof *blocks->dict);
    blocks->n_dict = calloc(blocks->n_streams, sizeof *blocks->n_dict);
    if (!blocks->slots || !blocks->room || !blocks->zstd || !blocks->dict || !blocks->n_dict)
        return STROBE_ERR_NOMEM;
    for (unsigned i = 0; i < blocks->n_slots; i++)
        blocks->slots[i].bytes = blocks->room + (size_t)i * SLOT_BYTES;
    return STROBE_OK;
}

static void start_thread(struct strobe_tracy_blocks *blocks)
{
    pthread_mutex_init(&blocks->lock, NULL);
    pthread_cond_init(&blocks->changed, NULL);
    pthread_cond_init(&blocks->job_changed, NULL);
    if (blocks->n_streams > 1)
        blocks->has_helper = !pthread_create(&blocks->helper, NULL, help_unpack, blocks);
    blocks->is_threaded = !pthread_create(&blocks->thread, NULL, fill_all, blocks);
}

static void free_blocks(struct strobe_tracy_blocks *blocks)
{
    if (blocks->is_threaded) {
        pthread_mutex_lock(&blocks->lock);
        blocks->stop = 1;
        pthread_cond_broadcast(&blocks->changed);
        pthread_mutex_unlock(&blocks->lock);
        pthread_join(blocks->thread, NULL);
    }
    if (blocks->has_helper) { /* after the one that gives it work */
        pthread_mutex_lock(&blocks->lock);
        blocks->stop_helper = 1;
        pthread_cond_broadcast(&blocks->job_changed);
        pthread_mutex_unlock(&blocks->lock);
        pthread_join(blocks->helper, NULL);
    }
    for (unsigned i = 0; blocks->zstd && i < blocks->n_streams; i++)
        ZSTD_freeDCtx(blocks->zstd[i]);
    free(blocks->zstd);
    free(blocks->dict);
    free(blocks->n_dict);
    free(blocks->slots);
    free(blocks->room);
    free(blocks->buffer);
    if (blocks->fd >= 0)
        close(blocks->fd);
    free(blocks);
}

/* Start with `blocks`, of which file or fd are set; freed on failure. */
static enum strobe_err open_blocks(struct strobe_tracy_blocks *blocks, int threaded,
                                   struct strobe_tracy_bytes *out)
{
    *out = (struct strobe_tracy_bytes){strobe_tracy_zeros, strobe_tracy_zeros, STROBE_OK, NULL, 0,
                                       strobe_tracy_zeros};
    enum strobe_err err = read_ahead(blocks);
    if (!err)
        err = read_magic(blocks);
    if (!err)
        err = make_slots(blocks);
    if (err) {
        free_blocks(blocks);
        return err;
    }
    if (threaded)
        start_thread(blocks);
    out->blocks = blocks;
    return STROBE_OK;
}

enum strobe_err strobe_tracy_bytes_over_file(const void *file, size_t n_bytes,
                                             struct strobe_tracy_bytes *out)
{
    struct strobe_tracy_blocks *blocks = calloc(1, sizeof *blocks);
    if (!blocks)
        return STROBE_ERR_NOMEM;
    blocks->file = file;
    blocks->n_file = n_bytes;
    blocks->fd = -1;
    return open_blocks(blocks, 0, out);
}

void strobe_tracy_bytes_over(const void *content, size_t n_bytes, struct strobe_tracy_bytes *out)
{
    *out = (struct strobe_tracy_bytes){.at = content, .end = (const uint8_t *)content + n_bytes};
    out->base = out->at;
}

enum strobe_err strobe_tracy_bytes_open(const char *path, int threaded,
                                        struct strobe_tracy_bytes *out)
{
    *out = (struct strobe_tracy_bytes){0};
    struct strobe_tracy_blocks *blocks = calloc(1, sizeof *blocks);
    if (!blocks)
        return STROBE_ERR_NOMEM;
    blocks->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (blocks->fd < 0) {
        enum strobe_err err = strobe_err_from_errno(errno);
        free_blocks(blocks);
        return err;
    }
    blocks->buffer = malloc(BUFFER_BYTES);
    blocks->file = blocks->buffer;
    if (!blocks->buffer) {
        free_blocks(blocks);
        return STROBE_ERR_NOMEM;
    }
    return open_blocks(blocks, threaded, out);
}

void strobe_tracy_bytes_close(struct strobe_tracy_bytes *in)
{
    if (in->blocks)
        free_blocks(in->blocks);
    in->blocks = NULL;
    in->at = in->end = in->base = strobe_tracy_zeros;
}
