/* file_read.c - opening a trace file and loading single blocks.
 * Never prints, never maps the file, never trusts a length that it has not compared with a bound.
 * Finding blocks: file_roots.c (indices), file_scan.c (no index), file_walk.c (iterators).
 * SPDX-License-Identifier: MIT */
#include "file/reader.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/array.h"
#include "base/assert.h"
#include "file/frame.h"

enum strobe_err strobe_file_pread(const struct strobe_file *file, void *out, size_t n,
                                  uint64_t offset)
{
    if (offset > INT64_MAX || n > INT64_MAX - offset)
        return STROBE_ERR_END;
    return file->source.read_at(file->source.context, out, n, offset);
}

int strobe_file_head_ok(const struct strobe_block_head *head)
{
    if (head->magic != STROBE_BLOCK_MAGIC)
        return 0;
    if ((uint64_t)head->head_bytes + head->body_bytes > STROBE_FILE_MAX_PAYLOAD)
        return 0;
    if (head->head_raw > STROBE_FILE_MAX_PAYLOAD)
        return 0;
    return XXH64(head, offsetof(struct strobe_block_head, header_hash), 0) == head->header_hash;
}

enum strobe_err strobe_file_read_ref(const struct strobe_file *file, uint64_t offset,
                                     struct strobe_block_ref *out)
{
    if (offset % 8 || offset < file->first_block || offset > file->facts.n_bytes)
        return STROBE_ERR_CORRUPT;
    enum strobe_err err = strobe_file_pread(file, &out->head, sizeof out->head, offset);
    if (err == STROBE_ERR_END)
        return STROBE_ERR_CORRUPT;
    if (err)
        return err;
    if (!strobe_file_head_ok(&out->head))
        return STROBE_ERR_CORRUPT;
    out->offset = offset;
    out->n_bytes = strobe_block_span(&out->head);
    STROBE_ASSERT(out->n_bytes % 8 == 0 && out->n_bytes >= sizeof out->head);
    uint64_t payload = sizeof out->head + (uint64_t)out->head.head_bytes + out->head.body_bytes;
    return payload > file->facts.n_bytes - offset ? STROBE_ERR_CORRUPT : STROBE_OK;
}

void strobe_file_add_hole(struct strobe_file *file, uint64_t offset, uint64_t n_bytes)
{
    for (size_t i = 0; i < file->n_kept_holes; i++) {
        struct strobe_hole *hole = &file->holes[i];
        if (offset == hole->offset ||
            (offset > hole->offset && offset - hole->offset < hole->n_bytes))
            return;
    }
    STROBE_ASSERT(file->n_kept_holes <= STROBE_FILE_MAX_HOLES);
    if (file->n_kept_holes < STROBE_FILE_MAX_HOLES)
        file->holes[file->n_kept_holes++] = (struct strobe_hole){offset, n_bytes};
    file->facts.n_holes++;
    file->facts.hole_bytes += n_bytes;
}

void strobe_file_note_hole(struct strobe_file *file, const struct strobe_block_ref *ref)
{
    strobe_file_add_hole(file, ref->offset, ref->n_bytes);
}

static void set_default_geometry(struct strobe_file *file)
{
    file->facts.version = STROBE_FILE_VERSION;
    file->first_block = STROBE_FILE_FIRST_BLOCK;
    file->ledger_off = STROBE_FILE_HEAD_BYTES;
}

static void take_head(struct strobe_file *file, const struct strobe_file_head *head)
{
    struct strobe_file_facts *facts = &file->facts;
    facts->version = head->version;
    facts->created_ns = head->created_ns;
    facts->sync_ns = head->sync_ns;
    memcpy(facts->uuid, head->uuid, sizeof facts->uuid);
    memcpy(facts->session, head->session, sizeof head->session);
    memcpy(facts->schema, head->schema, sizeof head->schema);
}

/* A head with a wrong hash still opens: all versions have their blocks at a fixed place. */
static enum strobe_err take_damaged_head(struct strobe_file *file,
                                         const struct strobe_file_head *head)
{
    struct strobe_block_ref ref;
    if (head->magic != STROBE_FILE_MAGIC &&
        strobe_file_read_ref(file, STROBE_FILE_FIRST_BLOCK, &ref) != STROBE_OK)
        return STROBE_ERR_FORMAT;
    file->facts.head_damaged = 1;
    strobe_file_add_hole(file, 0, STROBE_FILE_HEAD_BYTES);
    return STROBE_OK;
}

static enum strobe_err read_head(struct strobe_file *file)
{
    struct strobe_file_head head = {0};
    uint64_t magic = 0;
    enum strobe_err err = strobe_file_pread(file, &magic, sizeof magic, 0);
    if (err)
        return err == STROBE_ERR_END ? STROBE_ERR_FORMAT : err;
    set_default_geometry(file);
    err = strobe_file_pread(file, &head, sizeof head, 0);
    if (err == STROBE_ERR_END)
        return magic == STROBE_FILE_MAGIC ? STROBE_ERR_CORRUPT : STROBE_ERR_FORMAT;
    if (err)
        return err;
    if (magic == STROBE_FILE_MAGIC && head.version > STROBE_FILE_VERSION)
        return STROBE_ERR_VERSION;
    if (magic != STROBE_FILE_MAGIC || !head.version ||
        XXH64(&head, offsetof(struct strobe_file_head, hash), 0) != head.hash)
        return take_damaged_head(file, &head);
    take_head(file, &head);
    if (head.first_block % 8 == 0 && head.first_block >= STROBE_FILE_FIRST_BLOCK &&
        head.first_block < 1u << 30)
        file->first_block = head.first_block;
    return STROBE_OK;
}

static enum strobe_err measure(struct strobe_file *file)
{
    return file->source.size(file->source.context, &file->facts.n_bytes);
}

static void close_source(const struct strobe_source *source)
{
    if (source->close)
        source->close(source->context);
}

enum strobe_err strobe_file_open_source(const struct strobe_source *source,
                                        struct strobe_file **out)
{
    *out = NULL;
    struct strobe_file *file = calloc(1, sizeof *file);
    if (!file) {
        close_source(source);
        return STROBE_ERR_NOMEM;
    }
    file->source = *source;
    enum strobe_err err = measure(file);
    if (!err)
        err = read_head(file);
    if (!err)
        err = strobe_file_find_roots(file);
    if (err)
        goto fail;
    *out = file;
    return STROBE_OK;
fail:
    strobe_file_close(file);
    return err;
}

void strobe_file_expect_jumps(struct strobe_file *file)
{
    if (file->source.expect_jumps)
        file->source.expect_jumps(file->source.context);
}

void strobe_file_close(struct strobe_file *file)
{
    if (!file)
        return;
    close_source(&file->source);
    free(file->roots);
    free(file);
}

const struct strobe_file_facts *strobe_file_facts(const struct strobe_file *file)
{
    return &file->facts;
}

const struct strobe_hole *strobe_file_hole(const struct strobe_file *file, size_t i)
{
    return i < file->n_kept_holes ? &file->holes[i] : NULL;
}

enum strobe_err strobe_file_refresh(struct strobe_file *file)
{
    enum strobe_err err = measure(file);
    return err ? err : strobe_file_find_roots(file);
}

static enum strobe_err read_slot(struct strobe_file *file, int which,
                                 struct strobe_ledger_slot *head, uint8_t *out)
{
    STROBE_ASSERT(which == 0 || which == 1);
    uint64_t at = file->ledger_off + (uint64_t)which * STROBE_FILE_LEDGER_SLOT;
    enum strobe_err err = strobe_file_pread(file, head, sizeof *head, at);
    if (err)
        return err;
    if (head->magic != STROBE_LEDGER_MAGIC ||
        head->n_bytes > STROBE_FILE_LEDGER_SLOT - sizeof *head)
        return STROBE_ERR_END;
    err = strobe_file_pread(file, out, head->n_bytes, at + sizeof *head);
    if (err)
        return err;
    return XXH64(out, head->n_bytes, 0) == head->hash ? STROBE_OK : STROBE_ERR_END;
}

enum strobe_err strobe_file_ledger(struct strobe_file *file, uint8_t *out, size_t *n_bytes)
{
    struct strobe_ledger_slot slot[2];
    *n_bytes = 0;
    enum strobe_err first = read_slot(file, 0, &slot[0], out);
    enum strobe_err second = read_slot(file, 1, &slot[1], out);
    if (first && second)
        return STROBE_ERR_END;
    int best = second || (!first && slot[0].seq > slot[1].seq) ? 0 : 1;
    if (best == 0 && (first = read_slot(file, 0, &slot[0], out)) != STROBE_OK)
        return first;
    *n_bytes = slot[best].n_bytes;
    return STROBE_OK;
}

/* Decompress the head from `stored`, or show it as it is. */
static enum strobe_err open_head(struct strobe_block *block)
{
    const struct strobe_block_head *head = &block->ref.head;
    block->head = block->stored;
    block->n_head = head->head_bytes;
    if (!head->head_raw)
        return STROBE_OK;
    if (!strobe_frame_fits(head->head_raw, head->head_bytes))
        return STROBE_ERR_CORRUPT;
    enum strobe_err err = STROBE_ARRAY_RENEW(block->raw, block->raw_room, head->head_raw);
    if (err)
        return err;
    err = strobe_frame_open(&block->zstd, block->raw, head->head_raw, block->stored,
                            head->head_bytes);
    if (err)
        return err;
    STROBE_ASSERT(head->head_raw <= block->raw_room);
    block->head = block->raw;
    block->n_head = head->head_raw;
    return STROBE_OK;
}

static enum strobe_err load_bytes(const struct strobe_file *file,
                                  const struct strobe_block_ref *ref, struct strobe_block *block,
                                  size_t n)
{
    block->ref = *ref;
    block->body = NULL;
    block->n_body = 0;
    block->head = NULL;
    block->n_head = 0;
    enum strobe_err err = STROBE_ARRAY_RENEW(block->stored, block->stored_room, n + 1);
    if (err)
        return err;
    err = strobe_file_pread(file, block->stored, n, ref->offset + sizeof ref->head);
    return err == STROBE_ERR_END ? STROBE_ERR_CORRUPT : err;
}

enum strobe_err strobe_file_load(const struct strobe_file *file, const struct strobe_block_ref *ref,
                                 struct strobe_block *block)
{
    size_t n = (size_t)ref->head.head_bytes + ref->head.body_bytes;
    enum strobe_err err = load_bytes(file, ref, block, n);
    if (err)
        return err;
    if (XXH64(block->stored, n, 0) != ref->head.payload_hash)
        return STROBE_ERR_CORRUPT;
    STROBE_ASSERT(n <= block->stored_room && block->stored);
    block->body = block->stored + ref->head.head_bytes;
    block->n_body = ref->head.body_bytes;
    return open_head(block);
}

enum strobe_err strobe_file_load_head(const struct strobe_file *file,
                                      const struct strobe_block_ref *ref,
                                      struct strobe_block *block)
{
    enum strobe_err err = load_bytes(file, ref, block, ref->head.head_bytes);
    return err ? err : open_head(block);
}

void strobe_block_free(struct strobe_block *block)
{
    free(block->stored);
    free(block->raw);
    ZSTD_freeDCtx(block->zstd);
    memset(block, 0, sizeof *block);
}
