/* file_ends.c - both ends of a trace file: its head and its footer. The layout: docs/file-format.md.
 * SPDX-License-Identifier: MIT */
#include "file/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/clock.h"
#include "base/ready.h"

enum {
    FIRST_ROOM = 1 << 20,         /* of a block under construction */
    FOOTER_NUMBERS = 4096,        /* bytes at the most of what is in a footer beside its entries */
    LEDGER_AFTER_DEATH = 1000000, /* above any number that a dead writer used */
};

/* ---- opening ---- */

/* Number, name, fields and their names of every kind. */
static const char *const schema[][4] = {
#define X(name, number, text, fields, names) \
    {#number, text, sizeof fields > 1 ? fields : "-", sizeof names > 1 ? names : "-"},
    STROBE_KIND_LIST(X) STROBE_META_LIST(X) STROBE_FACT_LIST(X)
#undef X
};

/* Each word with what is behind it. */
#define X(name, number, text, fields, names)                                  \
    +sizeof #number + sizeof text + (sizeof fields > 1 ? sizeof fields : 2) + \
        (sizeof names > 1 ? sizeof names : 2)
static_assert(0 STROBE_KIND_LIST(X) STROBE_META_LIST(X)
                      STROBE_FACT_LIST(X) < sizeof((struct strobe_file_head *)NULL)->schema,
              "readers need all of the schema");
#undef X

static void put_schema(char *out, size_t cap)
{
    size_t n = 0;
    for (size_t i = 0; i < sizeof schema / sizeof schema[0]; i++)
        for (int k = 0; k < 4; k++) {
            size_t n_word = strlen(schema[i][k]);
            STROBE_ASSERT(n + n_word + 1 < cap); /* readers need all of it */
            memcpy(out + n, schema[i][k], n_word);
            n += n_word;
            out[n++] = k < 3 ? ' ' : '\n';
        }
}

static enum strobe_err write_head(struct strobe_file_writer *w, const char *session,
                                  uint64_t sync_ns)
{
    struct strobe_file_head head = {
        .magic = STROBE_FILE_MAGIC,
        .version = STROBE_FILE_VERSION,
        .head_bytes = STROBE_FILE_HEAD_BYTES,
        .ledger_off = STROBE_FILE_HEAD_BYTES,
        .ledger_bytes = STROBE_FILE_LEDGER_BYTES,
        .first_block = STROBE_FILE_FIRST_BLOCK,
        .sync_ns = sync_ns,
    };
    head.created_ns = strobe_clock_real_ns();
    if (getrandom(head.uuid, sizeof head.uuid, GRND_NONBLOCK) < 0)
        memcpy(head.uuid, &head.created_ns, sizeof head.created_ns);
    snprintf(head.session, sizeof head.session, "%s", session ? session : "");
    put_schema(head.schema, sizeof head.schema);
    head.hash = XXH64(&head, offsetof(struct strobe_file_head, hash), 0);
    return strobe_writer_write(w, &head, sizeof head, 0);
}

enum strobe_err strobe_file_set_created(struct strobe_file_writer *w, uint64_t created_ns)
{
    struct strobe_file_head head;
    ssize_t n = pread(w->fd, &head, sizeof head, 0);
    if (n != (ssize_t)sizeof head)
        return n < 0 ? strobe_err_from_errno(errno) : STROBE_ERR_IO;
    head.created_ns = created_ns;
    head.hash = XXH64(&head, offsetof(struct strobe_file_head, hash), 0);
    return strobe_writer_write(w, &head, sizeof head, 0);
}

static enum strobe_err reserve_space(int fd)
{
    int err = posix_fallocate(fd, 0, STROBE_FILE_FIRST_BLOCK);
    if (err == EOPNOTSUPP || err == EINVAL)
        return ftruncate(fd, STROBE_FILE_FIRST_BLOCK) ? strobe_err_from_errno(errno) : STROBE_OK;
    return strobe_err_from_errno(err);
}

static int open_folder(const char *path)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    if (!slash || (size_t)(slash - path) >= sizeof folder)
        return slash ? -1 : strobe_ready_open(".", O_RDONLY | O_DIRECTORY, 0);
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    return strobe_ready_open(slash == path ? "/" : folder, O_RDONLY | O_DIRECTORY, 0);
}

static enum strobe_err open_writer(const char *path, int flags, struct strobe_file_writer **out)
{
    struct strobe_file_writer *w = calloc(1, sizeof *w);
    if (!w)
        return STROBE_ERR_NOMEM;
    enum strobe_err err = STROBE_ERR_NOMEM;
    struct rlimit limit;
    pthread_mutex_init(&w->lock, NULL);
    w->limit = getrlimit(RLIMIT_FSIZE, &limit) ? UINT64_MAX : limit.rlim_cur;
    w->folder = -1;
    w->fd = strobe_ready_open(path, flags, 0600);
    if (w->fd < 0) {
        err = strobe_err_from_errno(errno);
        goto fail;
    }
    w->folder = open_folder(path);
    w->zstd = strobe_writer_new_zstd();
    w->lod = strobe_lod_new();
    if (!w->zstd || !w->lod || !strobe_writer_room(w, FIRST_ROOM))
        goto fail;
    *out = w;
    return STROBE_OK;
fail:
    strobe_file_abandon(w);
    return err;
}

bool strobe_file_is_foreign(const char *path)
{
    struct stat st;
    uint64_t magic = 0;
    if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size == 0)
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false; /* the making of a trace says what is wrong */
    ssize_t n = read(fd, &magic, sizeof magic);
    close(fd);
    return n != sizeof magic || magic != STROBE_FILE_MAGIC;
}

/* A device or a pipe can't be a trace, but it is not ours to remove. */
static void unlink_regular(const char *path)
{
    struct stat st;
    if (!stat(path, &st) && S_ISREG(st.st_mode))
        unlink(path);
}

/* Blocks of an older trace must not come back between ours after a power cut: that it is empty gets to the disk
 * first. */
static enum strobe_err empty_file(int fd)
{
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size)
        return STROBE_OK; /* what is no file is refused by what follows */
    return ftruncate(fd, 0) || fdatasync(fd) ? strobe_err_from_errno(errno) : STROBE_OK;
}

#ifdef F_OFD_SETLK
/* Whether another writer is at work in the file: two in one would destroy each other's trace. Else it is this one's from now on,
 * until its descriptor is closed. */
static bool is_taken(int fd)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_SETLK, &all) && (errno == EAGAIN || errno == EACCES);
}
#else /* as a module of the page: there is no other writer */
static bool is_taken(int fd)
{
    (void)fd;
    return false;
}
#endif

enum strobe_err strobe_file_create(const char *path, const char *session, uint64_t sync_ns,
                                   struct strobe_file_writer **out)
{
    struct strobe_file_writer *w = NULL;
    enum strobe_err err = open_writer(path, O_RDWR | O_CREAT, &w);
    if (err)
        return err;
    if (is_taken(w->fd)) {
        strobe_file_abandon(w);
        return STROBE_ERR_BUSY;
    }
    err = empty_file(w->fd);
    if (!err)
        err = reserve_space(w->fd);
    if (!err)
        err = write_head(w, session, sync_ns);
    if (err) {
        strobe_file_abandon(w);
        unlink_regular(path);
        return err;
    }
    w->end = w->totals.n_bytes = STROBE_FILE_FIRST_BLOCK;
    *out = w;
    return STROBE_OK;
}

/* A file of an older recorder stays one that older readers know. */
static bool is_of_version_1(const struct strobe_file_writer *w)
{
    struct strobe_file_head head;
    return pread(w->fd, &head, sizeof head, 0) == (ssize_t)sizeof head &&
           head.magic == STROBE_FILE_MAGIC && head.version == 1;
}

enum strobe_err strobe_file_append(const char *path, uint64_t end, uint64_t seq,
                                   const struct strobe_file_totals *totals,
                                   const struct strobe_index_entry *entries, uint64_t n_entries,
                                   struct strobe_file_writer **out)
{
    struct strobe_file_writer *w = NULL;
    enum strobe_err err = open_writer(path, O_RDWR, &w);
    if (err)
        return err;
    STROBE_ASSERT(end % 8 == 0 && end >= STROBE_FILE_FIRST_BLOCK);
    w->is_old = is_of_version_1(w);
    w->end = end;
    w->seq = seq;
    w->totals = *totals;
    w->totals.n_bytes = end;
    w->ledger_seq = LEDGER_AFTER_DEATH;
    if (ftruncate(w->fd, (off_t)end)) {
        err = strobe_err_from_errno(errno);
        strobe_file_abandon(w);
        return err;
    }
    strobe_lod_spoil(w->lod);
    w->relists = true;
    for (uint64_t i = 0; i < n_entries && !err; i++)
        err = strobe_writer_add_entry(w, 0, &entries[i]);
    *out = w;
    return STROBE_OK;
}

/* ---- closing ---- */

static void put_number(struct strobe_file_writer *w, uint64_t value)
{
    STROBE_ASSERT(w->n_out + STROBE_VARINT_MAX <= w->cap_out);
    w->n_out = (size_t)(strobe_varint_put(w->out + w->n_out, value) - w->out);
}

/* The counts that are not 0, each with its number in front. */
static void put_counts(struct strobe_file_writer *w, const uint64_t *counts, uint64_t n)
{
    uint64_t n_used = 0;
    for (uint64_t i = 0; i < n; i++)
        n_used += counts[i] != 0;
    put_number(w, n_used);
    for (uint64_t i = 0; i < n; i++)
        if (counts[i])
            put_number(w, i), put_number(w, counts[i]);
}

static void put_level(struct strobe_file_writer *w, const struct strobe_writer_level *level)
{
    size_t n_bytes = (size_t)level->n * sizeof *level->entries;
    put_number(w, level->n);
    STROBE_ASSERT(w->n_out + n_bytes <= w->cap_out);
    if (level->n)
        memcpy(w->out + w->n_out, level->entries, n_bytes);
    w->n_out += n_bytes;
}

static enum strobe_err put_footer(struct strobe_file_writer *w)
{
    struct strobe_block_head head = {.type = STROBE_BLOCK_FOOTER};
    const struct strobe_file_totals *totals = &w->totals;
    uint64_t n_entries = 0;
    for (int i = 0; i < STROBE_WRITER_LEVELS; i++)
        n_entries += w->levels[i].n;
    strobe_writer_start(w);
    if (!strobe_writer_room(w,
                            FOOTER_NUMBERS + (size_t)n_entries * sizeof(struct strobe_index_entry)))
        return STROBE_ERR_NOMEM;
    put_counts(w, totals->by_kind, STROBE_KIND_COUNT);
    put_counts(w, totals->lost, STROBE_WRITER_CAUSES);
    put_number(w, totals->n_procs);
    put_number(w, totals->n_threads);
    put_number(w, totals->first_tick);
    put_number(w, totals->last_tick);
    put_number(w, STROBE_WRITER_LEVELS);
    for (int i = 0; i < STROBE_WRITER_LEVELS; i++)
        put_level(w, &w->levels[i]);
    head.n_items = (uint32_t)n_entries;
    head.body_bytes = (uint32_t)(w->n_out - sizeof head);
    head.tick_min = totals->first_tick;
    head.tick_max = totals->last_tick;
    return strobe_writer_finish_block(w, head, 0, 0);
}

/* There is no room for the footer: a recovery is to know that nothing else is missing. */
static void note_end_in_ledger(struct strobe_file_writer *w)
{
    struct strobe_records records = {0};
    strobe_records_numbers(&records, STROBE_FACT_RECORDING,
                           (const uint64_t[]){w->totals.last_tick, 1}, 2);
    strobe_file_put_ledger(w, &records);
    strobe_records_free(&records);
}

enum strobe_err strobe_file_finish(struct strobe_file_writer *w)
{
    struct strobe_file_trailer trailer = {.magic = STROBE_TRAILER_MAGIC};
    strobe_writer_put_lod(w);
    STROBE_ASSERT(w->totals.n_bytes == w->end);
    trailer.footer = w->end;
    enum strobe_err err = put_footer(w);
    if (err && !w->ledger_seq)
        note_end_in_ledger(w);
    if (strobe_file_sync(w) && !err) /* the trailer calls all that is before it whole */
        err = strobe_err_from_errno(errno);
    if (!err) {
        trailer.self = w->end;
        trailer.hash = XXH64(&trailer, offsetof(struct strobe_file_trailer, hash), 0);
        err = strobe_writer_write(w, &trailer, sizeof trailer, w->end);
    }
    if (fdatasync(w->fd) && !err)
        err = strobe_err_from_errno(errno);
    strobe_file_abandon(w);
    return err;
}

void strobe_file_abandon(struct strobe_file_writer *w)
{
    if (!w)
        return;
    if (w->fd >= 0)
        close(w->fd);
    if (w->folder >= 0)
        close(w->folder);
    ZSTD_freeCCtx(w->zstd);
    strobe_lod_free(w->lod);
    free(w->out);
    for (int i = 0; i < STROBE_WRITER_LEVELS; i++)
        free(w->levels[i].entries);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
