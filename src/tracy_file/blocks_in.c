/* blocks_in.c - undoes the container of a .tracy file: LZ4 or zstd, 1 to 255 streams taken in turn.
 *
 * A block can be unpacked once the one before it in its stream was; other streams have no part in
 * it. So a thread with nothing to do takes the first block whose stream no other thread has. Workers
 * do so as far ahead of the reader as there are places. A reader that has used up what is ready does
 * the same until there is more, and waits only where every stream is taken: two processors share the
 * work evenly, whichever part of it is more. Without workers the reader does all of it.
 *
 *     0         n_used          n_ready              n_used + AHEAD
 *     | done with | for the reader | waits, is unpacked, | has no place yet
 *     |           |                | or was out of turn  |
 *
 * What the reader has not used of a block is moved in front of the next one, so that every small
 * item lies in one piece. LZ4 looks back 64 KiB into the stream's block before, which still lies in
 * its place: hence the number of places grows with that of streams.  SPDX-License-Identifier: MIT */
#include "tracy_file/blocks_in.h"

#include <errno.h>
#include <fcntl.h>
#include <lz4.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "base/ready.h"

enum {
    PLACE_BYTES = STROBE_TRACY_PIECE + STROBE_TRACY_BLOCK,
    AHEAD = 32, /* blocks that are not done with */
    BATCH = 8,  /* of them that the reader takes at once: threads seldom wake each other */
    MAX_STORED = STROBE_TRACY_BLOCK * 2, /* of one block; no compressor makes it that much longer */
    MAX_WORKERS = 8,
    CONTENT_FLOOR = 16 << 20, /* content of n stored bytes: at most FLOOR + RATIO * n */
    CONTENT_RATIO = 256,
};

const uint8_t strobe_tracy_zeros[STROBE_TRACY_PIECE];

/* Where a block is from when it was read until another one takes its place. */
struct place {
    uint8_t *bytes;        /* borrowed from blocks->room */
    const uint8_t *stored; /* borrowed from the file, or from blocks->stored */
    uint32_t n_stored, n_bytes;
    int is_ready;
};

struct stream {
    uint64_t next;       /* its first block that is not ready */
    int is_taken;        /* by the thread that unpacks that block, and has what follows to itself */
    ZSTD_DCtx *zstd;     /* owned */
    const uint8_t *dict; /* borrowed: its last block, for LZ4 */
    uint32_t n_dict;
};

struct strobe_tracy_blocks {
    const uint8_t *file; /* borrowed: what is left of a file in memory; NULL: fd */
    size_t n_file;
    int fd; /* owned; -1: none */
    int is_zstd;
    unsigned n_streams, n_places;
    uint8_t *room;   /* owned: the places' bytes */
    uint8_t *stored; /* owned: AHEAD blocks as they are stored, where there is no file in memory */
    struct place *places;           /* owned */
    struct stream *streams;         /* owned */
    uint64_t reader_at, reader_end; /* the reader's own: its next block, the end of its batch */
    uint64_t n_stored, n_content;   /* the reader's own: bytes that it took, before and after */

    pthread_mutex_t lock;             /* of the streams, the places that are not ready, and: */
    uint64_t n_read, n_ready, n_used; /* blocks so far: read; ready, with all before; done with */
    uint64_t n_end;                   /* blocks in all; UINT64_MAX: not known yet */
    enum strobe_err end_err;          /* why there are no more */
    int stop;
    pthread_cond_t work;  /* workers: a place was given back, or a stream */
    pthread_cond_t ready; /* the reader: a batch is ready, or all that there is */
    pthread_t workers[MAX_WORKERS];
    unsigned n_workers;
};

/* ---- one block ------------------------------------------------------------------------------- */

static enum strobe_err unpack_zstd(const struct strobe_tracy_blocks *blocks, struct stream *stream,
                                   struct place *place)
{
    if (!stream->zstd) {
        stream->zstd = ZSTD_createDCtx();
        if (!stream->zstd)
            return STROBE_ERR_NOMEM;
        /* 128 MiB of window each is fine for the few streams that writers use, not for hundreds */
        ZSTD_DCtx_setParameter(stream->zstd, ZSTD_d_windowLogMax, blocks->n_streams <= 8 ? 27 : 22);
    }
    ZSTD_inBuffer in = {place->stored, place->n_stored, 0};
    ZSTD_outBuffer to = {place->bytes, STROBE_TRACY_BLOCK, 0};
    while (in.pos < in.size && to.pos < to.size) {
        size_t before = in.pos + to.pos;
        if (ZSTD_isError(ZSTD_decompressStream(stream->zstd, &to, &in)))
            return STROBE_ERR_CORRUPT;
        if (in.pos + to.pos == before)
            break;
    }
    place->n_bytes = (uint32_t)to.pos;
    return in.pos == in.size ? STROBE_OK : STROBE_ERR_CORRUPT;
}

static enum strobe_err unpack_lz4(struct stream *stream, struct place *place)
{
    int got = LZ4_decompress_safe_usingDict((const char *)place->stored, (char *)place->bytes,
                                            (int)place->n_stored, STROBE_TRACY_BLOCK,
                                            (const char *)stream->dict, (int)stream->n_dict);
    if (got < 0)
        return STROBE_ERR_CORRUPT;
    stream->dict = place->bytes;
    stream->n_dict = place->n_bytes = (uint32_t)got;
    return STROBE_OK;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Reads, and does not map: a file that is cut meanwhile does no harm. END: it has not so many. */
static enum strobe_err read_bytes(struct strobe_tracy_blocks *blocks, uint8_t *to, size_t n)
{
    while (n) {
        ssize_t got = read(blocks->fd, to, n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got ? STROBE_ERR_IO : STROBE_ERR_END;
        to += got;
        n -= (size_t)got;
    }
    return STROBE_OK;
}

/* The next n bytes: those of a file in memory, or read to `to`. */
static enum strobe_err next_bytes(struct strobe_tracy_blocks *blocks, uint8_t *to, size_t n,
                                  const uint8_t **out)
{
    *out = to;
    if (!blocks->file)
        return read_bytes(blocks, to, n);
    if (n > blocks->n_file)
        return STROBE_ERR_END;
    *out = blocks->file;
    blocks->file += n;
    blocks->n_file -= n;
    return STROBE_OK;
}

static void end_before(struct strobe_tracy_blocks *blocks, uint64_t block, enum strobe_err err)
{
    if (block >= blocks->n_end)
        return;
    blocks->n_end = block;
    blocks->end_err = err;
}

static struct place *place_of(const struct strobe_tracy_blocks *blocks, uint64_t block)
{
    return &blocks->places[block % blocks->n_places];
}

/* u32 length, then the block. */
static void read_block(struct strobe_tracy_blocks *blocks)
{
    struct place *place = place_of(blocks, blocks->n_read);
    uint8_t *to = blocks->stored ? blocks->stored + blocks->n_read % AHEAD * MAX_STORED : NULL;
    const uint8_t *length;
    uint8_t room[sizeof place->n_stored];
    enum strobe_err err = next_bytes(blocks, room, sizeof room, &length);
    if (!err) {
        memcpy(&place->n_stored, length, sizeof place->n_stored);
        err = place->n_stored > MAX_STORED
                  ? STROBE_ERR_CORRUPT
                  : next_bytes(blocks, to, place->n_stored, &place->stored);
    }
    if (err) {
        end_before(blocks, blocks->n_read, err);
        return;
    }
    place->is_ready = 0;
    blocks->n_read++;
}

/* ---- all blocks, with the lock held ---------------------------------------------------------- */

/* The stream whose turn it is, with its block read: where a disk is slow, everyone waits for it. NULL:
 * there is nothing to do, for now or for ever. */
static struct stream *take_stream(struct strobe_tracy_blocks *blocks)
{
    struct stream *first = NULL;
    for (unsigned i = 0; i < blocks->n_streams; i++) {
        struct stream *stream = &blocks->streams[i];
        if (!stream->is_taken && (!first || stream->next < first->next))
            first = stream;
    }
    if (!first || first->next >= blocks->n_used + AHEAD)
        return NULL;
    while (blocks->n_read <= first->next && blocks->n_read < blocks->n_end)
        read_block(blocks);
    if (first->next >= blocks->n_end)
        return NULL;
    first->is_taken = 1;
    return first;
}

/* Unpack the block whose turn it is; the lock is left meanwhile. 0: there is none. */
static int unpack_next(struct strobe_tracy_blocks *blocks)
{
    struct stream *stream = take_stream(blocks);
    if (!stream)
        return 0;
    struct place *place = place_of(blocks, stream->next);
    pthread_mutex_unlock(&blocks->lock);
    enum strobe_err err =
        blocks->is_zstd ? unpack_zstd(blocks, stream, place) : unpack_lz4(stream, place);
    pthread_mutex_lock(&blocks->lock);
    place->is_ready = !err;
    if (err)
        end_before(blocks, stream->next, err);
    stream->next += blocks->n_streams;
    stream->is_taken = 0;
    while (blocks->n_ready < blocks->n_read && place_of(blocks, blocks->n_ready)->is_ready)
        blocks->n_ready++;
    return 1;
}

static uint64_t batch_end(const struct strobe_tracy_blocks *blocks)
{
    uint64_t end = blocks->n_used + BATCH;
    return end < blocks->n_end ? end : blocks->n_end;
}

static int is_batch_ready(const struct strobe_tracy_blocks *blocks)
{
    return blocks->n_ready >= batch_end(blocks);
}

static void *work(void *context)
{
    struct strobe_tracy_blocks *blocks = context;
    pthread_mutex_lock(&blocks->lock);
    while (!blocks->stop) {
        int is_done = unpack_next(blocks);
        if (is_batch_ready(blocks))
            pthread_cond_signal(&blocks->ready);
        if (!is_done)
            pthread_cond_wait(&blocks->work, &blocks->lock);
    }
    pthread_mutex_unlock(&blocks->lock);
    return NULL;
}

/* ---- the reader's side ----------------------------------------------------------------------- */

/* Give back the last batch and have the next one ready. */
static void take_batch(struct strobe_tracy_blocks *blocks)
{
    pthread_mutex_lock(&blocks->lock);
    blocks->n_used = blocks->reader_at;
    pthread_cond_broadcast(&blocks->work);
    while (!is_batch_ready(blocks))
        if (!unpack_next(blocks) && !is_batch_ready(blocks)) /* it may have found the end */
            pthread_cond_wait(&blocks->ready, &blocks->lock);
    blocks->reader_end = batch_end(blocks);
    pthread_cond_broadcast(&blocks->work); /* the streams that the reader had are free */
    pthread_mutex_unlock(&blocks->lock);
}

/* The next block, until the one after it is taken. NULL: there are no more, or it is content out of nothing. */
static struct place *take_block(struct strobe_tracy_blocks *blocks)
{
    if (blocks->reader_at == blocks->reader_end)
        take_batch(blocks);
    if (blocks->reader_at == blocks->reader_end)
        return NULL;
    struct place *place = place_of(blocks, blocks->reader_at++);
    blocks->n_stored += sizeof place->n_stored + place->n_stored;
    blocks->n_content += place->n_bytes;
    if (blocks->n_content <= CONTENT_FLOOR + CONTENT_RATIO * blocks->n_stored)
        return place;
    pthread_mutex_lock(&blocks->lock);
    blocks->n_end = 0; /* nobody looks for more */
    blocks->end_err = STROBE_ERR_BOMB;
    pthread_mutex_unlock(&blocks->lock);
    return NULL;
}

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
        size_t left = (size_t)(in->end - in->at);
        struct place *place = take_block(in->blocks);
        if (!place)
            return run_out(in, in->blocks->end_err);
        memmove(place->bytes - left, in->at, left); /* left < n <= STROBE_TRACY_PIECE */
        in->n_passed = strobe_tracy_tell(in);
        in->at = in->base = place->bytes - left;
        in->end = place->bytes + place->n_bytes;
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
    uint8_t room[4], more_room[2];
    const uint8_t *magic, *more;
    enum strobe_err err = next_bytes(blocks, room, sizeof room, &magic);
    if (!err && !strobe_tracy_is_container(magic, sizeof room))
        return STROBE_ERR_FORMAT;
    if (!err && magic[1] != 'r') {
        blocks->is_zstd = magic[1] == 'Z';
        blocks->n_streams = 1;
        return STROBE_OK;
    }
    if (!err)
        err = next_bytes(blocks, more_room, sizeof more_room, &more);
    if (err)
        return err == STROBE_ERR_END ? STROBE_ERR_FORMAT : err;
    blocks->is_zstd = more[0];
    blocks->n_streams = more[1];
    return more[0] > 1 || !more[1] ? STROBE_ERR_FORMAT : STROBE_OK;
}

static enum strobe_err make_places(struct strobe_tracy_blocks *blocks)
{
    blocks->n_places = AHEAD + blocks->n_streams;
    blocks->places = calloc(blocks->n_places, sizeof *blocks->places);
    blocks->streams = calloc(blocks->n_streams, sizeof *blocks->streams);
    blocks->room = malloc((size_t)blocks->n_places * PLACE_BYTES);
    blocks->stored = blocks->file ? NULL : malloc((size_t)AHEAD * MAX_STORED);
    if (!blocks->places || !blocks->streams || !blocks->room || (!blocks->file && !blocks->stored))
        return STROBE_ERR_NOMEM;
    for (unsigned i = 0; i < blocks->n_places; i++)
        blocks->places[i].bytes = blocks->room + (size_t)i * PLACE_BYTES + STROBE_TRACY_PIECE;
    for (unsigned i = 0; i < blocks->n_streams; i++)
        blocks->streams[i].next = i;
    return STROBE_OK;
}

/* One for every processor that this process may use, where there are streams for them: the reader has work of its own. */
static void start_workers(struct strobe_tracy_blocks *blocks)
{
    cpu_set_t cpus;
    int n_cpus = sched_getaffinity(0, sizeof cpus, &cpus) ? 1 : CPU_COUNT(&cpus);
    unsigned n = blocks->n_streams < MAX_WORKERS ? blocks->n_streams : MAX_WORKERS;
    if ((unsigned)n_cpus < n)
        n = (unsigned)n_cpus;
    while (blocks->n_workers < n &&
           !pthread_create(&blocks->workers[blocks->n_workers], NULL, work, blocks))
        blocks->n_workers++;
}

static void free_blocks(struct strobe_tracy_blocks *blocks)
{
    pthread_mutex_lock(&blocks->lock);
    blocks->stop = 1;
    pthread_cond_broadcast(&blocks->work);
    pthread_mutex_unlock(&blocks->lock);
    for (unsigned i = 0; i < blocks->n_workers; i++)
        pthread_join(blocks->workers[i], NULL);
    for (unsigned i = 0; blocks->streams && i < blocks->n_streams; i++)
        ZSTD_freeDCtx(blocks->streams[i].zstd);
    free(blocks->streams);
    free(blocks->places);
    free(blocks->room);
    free(blocks->stored);
    if (blocks->fd >= 0)
        close(blocks->fd);
    free(blocks);
}

/* Start with a file in memory or an fd, which is closed on failure too. */
static enum strobe_err open_blocks(const uint8_t *file, size_t n_file, int fd, int threaded,
                                   struct strobe_tracy_bytes *out)
{
    *out = (struct strobe_tracy_bytes){strobe_tracy_zeros, strobe_tracy_zeros, STROBE_OK, NULL, 0,
                                       strobe_tracy_zeros};
    struct strobe_tracy_blocks *blocks = calloc(1, sizeof *blocks);
    if (!blocks) {
        if (fd >= 0)
            close(fd);
        return STROBE_ERR_NOMEM;
    }
    blocks->file = file;
    blocks->n_file = n_file;
    blocks->fd = fd;
    blocks->n_end = UINT64_MAX;
    pthread_mutex_init(&blocks->lock, NULL);
    pthread_cond_init(&blocks->work, NULL);
    pthread_cond_init(&blocks->ready, NULL);
    enum strobe_err err = read_magic(blocks);
    if (!err)
        err = make_places(blocks);
    if (err) {
        free_blocks(blocks);
        return err;
    }
    if (threaded)
        start_workers(blocks);
    out->blocks = blocks;
    return STROBE_OK;
}

enum strobe_err strobe_tracy_bytes_over_file(const void *file, size_t n_bytes,
                                             struct strobe_tracy_bytes *out)
{
    return open_blocks(file, n_bytes, -1, 0, out);
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
    int fd = strobe_ready_open(path, O_RDONLY, 0);
    return fd < 0 ? strobe_err_from_errno(errno) : open_blocks(NULL, 0, fd, threaded, out);
}

void strobe_tracy_bytes_close(struct strobe_tracy_bytes *in)
{
    if (in->blocks)
        free_blocks(in->blocks);
    in->blocks = NULL;
    in->at = in->end = in->base = strobe_tracy_zeros;
}
