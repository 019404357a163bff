/* file_roots.c - what a walk over the blocks starts with.
 *
 *   closed in good order   trailer ─► footer ─► its entries, highest level first     O(1)
 *   killed writer          last valid block ─► its prev_index ─► the chain of indices, each
 * covering what came since the one before; blocks after the last are scanned neither everything is
 * scanned
 *
 * SPDX-License-Identifier: MIT */
#include "file/reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/varint.h"

static int entry_ok(const struct strobe_file *file, const struct strobe_index_entry *entry)
{
    return entry->offset % 8 == 0 && entry->offset >= file->first_block &&
           entry->offset < file->facts.n_bytes &&
           entry->bytes >= sizeof(struct strobe_block_head) &&
           entry->level < STROBE_FILE_MAX_LEVELS &&
           (entry->type == STROBE_BLOCK_EVENTS || entry->type == STROBE_BLOCK_RECORDS ||
            entry->type == STROBE_BLOCK_LOD || entry->type == STROBE_BLOCK_PAIRED ||
            entry->type == STROBE_BLOCK_PAIRED_LOD ||
            (entry->type == STROBE_BLOCK_INDEX && entry->level > 0));
}

/* Copy the sensible ones of n entries to `out`; the number copied. */
static uint32_t copy_entries(const struct strobe_file *file, const uint8_t *data, uint32_t n,
                             struct strobe_index_entry *out)
{
    uint32_t n_out = 0;
    for (uint32_t i = 0; i < n; i++) {
        memcpy(&out[n_out], data + (size_t)i * sizeof *out, sizeof *out);
        if (entry_ok(file, &out[n_out]))
            n_out++;
    }
    STROBE_ASSERT(n_out <= n);
    return n_out;
}

enum strobe_err strobe_file_read_index(const struct strobe_file *file,
                                       const struct strobe_block_ref *ref,
                                       struct strobe_index_entry **out, uint32_t *n_out)
{
    struct strobe_block block = {0};
    *out = NULL;
    *n_out = 0;
    enum strobe_err err = strobe_file_load(file, ref, &block);
    uint32_t n = (uint32_t)(block.n_body / sizeof **out);
    if (!err && n > STROBE_FILE_MAX_ROOTS)
        err = STROBE_ERR_CORRUPT;
    if (!err && !(*out = malloc((n + 1) * sizeof **out)))
        err = STROBE_ERR_NOMEM;
    if (!err)
        *n_out = copy_entries(file, block.body, n, *out);
    strobe_block_free(&block);
    return err;
}

static void set_roots(struct strobe_file *file, struct strobe_index_entry *roots, uint32_t n)
{
    free(file->roots);
    file->roots = roots;
    file->n_roots = n;
}

static void read_pairs(struct strobe_bytes *in, uint64_t *counts, uint64_t n_counts)
{
    uint64_t n = strobe_get_varint(in);
    for (uint64_t i = 0; i < n && !in->bad; i++) {
        uint64_t which = strobe_get_varint(in);
        uint64_t count = strobe_get_varint(in);
        counts[which < n_counts ? which : n_counts - 1] += count;
    }
}

/* Entries of all levels, turned round so that the highest level (the oldest) comes first. */
static enum strobe_err read_levels(struct strobe_file *file, struct strobe_bytes *in)
{
    struct {
        const uint8_t *data;
        uint32_t n;
    } level[STROBE_FILE_MAX_LEVELS];
    uint64_t n_levels = strobe_get_varint(in), n_all = 0;
    if (n_levels > STROBE_FILE_MAX_LEVELS)
        return STROBE_ERR_CORRUPT;
    for (uint64_t i = 0; i < n_levels; i++) {
        uint64_t n = strobe_get_varint(in);
        if (n > STROBE_FILE_MAX_ROOTS || (n_all += n) > STROBE_FILE_MAX_ROOTS)
            return STROBE_ERR_CORRUPT;
        level[i].data = strobe_get_bytes(in, n * sizeof(struct strobe_index_entry));
        level[i].n = (uint32_t)n;
    }
    if (in->bad)
        return STROBE_ERR_CORRUPT;
    struct strobe_index_entry *roots = malloc(((size_t)n_all + 1) * sizeof *roots);
    if (!roots)
        return STROBE_ERR_NOMEM;
    uint32_t n = 0;
    for (uint64_t i = n_levels; i-- > 0;)
        n += copy_entries(file, level[i].data, level[i].n, roots + n);
    STROBE_ASSERT(n <= n_all);
    set_roots(file, roots, n);
    return STROBE_OK;
}

static enum strobe_err read_footer_body(struct strobe_file *file, const struct strobe_block *block)
{
    struct strobe_bytes in = strobe_bytes_over(block->body, block->n_body);
    struct strobe_trace_totals totals = {.has_totals = 1};
    read_pairs(&in, totals.n_of_kind, STROBE_KIND_COUNT);
    read_pairs(&in, totals.n_lost, STROBE_LOSS_COUNT);
    totals.n_procs = strobe_get_varint(&in);
    totals.n_threads = strobe_get_varint(&in);
    totals.tick_first = strobe_get_varint(&in);
    totals.tick_last = strobe_get_varint(&in);
    if (in.bad)
        return STROBE_ERR_CORRUPT;
    enum strobe_err err = read_levels(file, &in);
    if (!err)
        file->facts.totals = totals;
    return err;
}

static enum strobe_err open_footer(struct strobe_file *file)
{
    struct strobe_file_trailer trailer;
    struct strobe_block_ref ref;
    struct strobe_file_facts *facts = &file->facts;
    if (facts->n_bytes < file->first_block + sizeof trailer ||
        !strobe_file_trailer_at(file, facts->n_bytes - sizeof trailer, &trailer))
        return STROBE_ERR_END;
    enum strobe_err err = strobe_file_read_ref(file, trailer.footer, &ref);
    if (err || ref.head.type != STROBE_BLOCK_FOOTER || ref.offset + ref.n_bytes > trailer.self)
        return STROBE_ERR_END;
    struct strobe_block block = {0};
    err = strobe_file_load(file, &ref, &block);
    if (!err)
        err = read_footer_body(file, &block);
    strobe_block_free(&block);
    if (err)
        return err == STROBE_ERR_CORRUPT ? STROBE_ERR_END : err;
    facts->closed = 1;
    facts->end = file->scan_from = ref.offset + ref.n_bytes;
    facts->next_seq = file->scan_seq = ref.head.seq + 1;
    facts->last_index = ref.head.prev_index;
    facts->tail_bytes = 0;
    return STROBE_OK;
}

static struct strobe_index_entry entry_of(const struct strobe_block_ref *ref)
{
    return (struct strobe_index_entry){
        .offset = ref->offset,
        .tick_min = ref->head.tick_min,
        .tick_max = ref->head.tick_max,
        .n_events = ref->head.n_items,
        .bytes = (uint32_t)ref->n_bytes,
        .type = ref->head.type,
        .level = ref->head.level,
    };
}

/* prev_index of the first INDEX of level 1 below `ref`: the last INDEX that `ref` does not cover.
 */
static enum strobe_err before_covered(const struct strobe_file *file, struct strobe_block_ref ref,
                                      uint64_t *out)
{
    while (ref.head.level > 1) {
        struct strobe_index_entry *entries;
        uint32_t n;
        uint8_t level = ref.head.level;
        enum strobe_err err = strobe_file_read_index(file, &ref, &entries, &n);
        uint64_t first = n ? entries[0].offset : 0;
        free(entries);
        if (!err)
            err = strobe_file_read_ref(file, first, &ref);
        if (err)
            return err;
        if (ref.head.type != STROBE_BLOCK_INDEX || ref.head.level >= level)
            return STROBE_ERR_CORRUPT;
    }
    *out = ref.head.prev_index;
    return STROBE_OK;
}

/* Walk the chain back from the last index, then turn it round. On damage: no roots, all is scanned.
 */
static enum strobe_err follow_chain(struct strobe_file *file)
{
    struct strobe_block_ref ref;
    uint64_t at = file->facts.last_index, before = file->facts.end;
    uint32_t n = 0, room = 0;
    struct strobe_index_entry *roots = NULL;
    enum strobe_err err = STROBE_OK;
    while (at && !err) {
        if (at >= before || n >= STROBE_FILE_MAX_ROOTS)
            err = STROBE_ERR_CORRUPT;
        before = at;
        if (!err)
            err = strobe_file_read_ref(file, at, &ref);
        if (!err && (ref.head.type != STROBE_BLOCK_INDEX || !ref.head.level))
            err = STROBE_ERR_CORRUPT;
        if (!err && n == 0) {
            file->scan_from = ref.offset + ref.n_bytes;
            file->scan_seq = ref.head.seq + 1;
        }
        if (!err)
            err = STROBE_ARRAY_RESERVE(roots, room, n + 1ull);
        if (!err) {
            STROBE_ASSERT(n < room);
            roots[n++] = entry_of(&ref);
            err = before_covered(file, ref, &at);
        }
    }
    for (uint32_t i = 0; !err && i < n / 2; i++) {
        struct strobe_index_entry other = roots[i];
        roots[i] = roots[n - 1 - i];
        roots[n - 1 - i] = other;
    }
    if (err) {
        free(roots);
        return err;
    }
    set_roots(file, roots, n);
    return STROBE_OK;
}

enum strobe_err strobe_file_find_roots(struct strobe_file *file)
{
    struct strobe_file_facts *facts = &file->facts;
    facts->closed = 0;
    file->n_empty = 0;
    memset(&facts->totals, 0, sizeof facts->totals);
    set_roots(file, NULL, 0);
    enum strobe_err err = open_footer(file);
    if (err != STROBE_ERR_END)
        return err;
    file->scan_from = file->first_block;
    file->scan_seq = 0;
    err = strobe_file_find_end(file);
    if (err)
        return err;
    err = follow_chain(file);
    if (err == STROBE_ERR_NOMEM || err == STROBE_ERR_IO)
        return err;
    if (err) {
        file->scan_from = file->first_block;
        file->scan_seq = 0;
    }
    return STROBE_OK;
}
