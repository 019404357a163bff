/* content_tables.c - the tables of a .tracy file: strings and who points at them, threads,
 * source locations, and what zones have beside their times. A second walk reads the same bytes into
 * the same places.  SPDX-License-Identifier: MIT */
#include "tracy_file/content.h"

#include <stdlib.h>

/* ---- strings --------------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
    const struct strobe_tracy_key *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void sort_keys(struct strobe_tracy_keys *keys)
{
    if (keys->n)
        qsort(keys->rows, keys->n, sizeof *keys->rows, compare_keys);
}

static enum strobe_err add_key(struct strobe_tracy_keys *keys, uint64_t id, uint64_t string)
{
    if (keys->n >= UINT32_MAX)
        return STROBE_ERR_LIMIT;
    if (STROBE_ARRAY_RESERVE(keys->rows, keys->room, keys->n + 1))
        return STROBE_ERR_NOMEM;
    keys->rows[keys->n] = (struct strobe_tracy_key){id, (uint32_t)string, (uint32_t)keys->n};
    keys->n++;
    return STROBE_OK;
}

/* Append a text of `n` bytes: in pieces, so that a wrong length costs no more memory than there are
 * bytes. */
static enum strobe_err read_text(struct strobe_tracy_content *content, uint64_t n)
{
    enum { STEP = 1 << 16 };
    if (n > STROBE_TRACY_MAX_TEXT)
        return STROBE_ERR_CORRUPT;
    while (n) {
        size_t now = n < STEP ? (size_t)n : STEP;
        if (STROBE_ARRAY_RESERVE(content->text, content->text_room, content->n_text + now))
            return STROBE_ERR_NOMEM;
        if (!strobe_tracy_copy(&content->in, content->text + content->n_text, now))
            return content->in.err;
        content->n_text += now;
        n -= now;
    }
    return STROBE_OK;
}

static enum strobe_err read_string(struct strobe_tracy_content *content)
{
    uint64_t pointer = strobe_tracy_u64(&content->in), n = strobe_tracy_u64(&content->in);
    if (STROBE_ARRAY_RESERVE(content->string_at, content->strings_room, content->n_strings + 2))
        return STROBE_ERR_NOMEM;
    content->string_at[content->n_strings] = content->n_text;
    enum strobe_err err = read_text(content, n);
    if (!err)
        err = add_key(&content->file_pointers, pointer, content->n_strings);
    if (!err)
        content->string_at[++content->n_strings] = content->n_text;
    return err;
}

static enum strobe_err read_strings(struct strobe_tracy_content *content)
{
    enum strobe_err err = STROBE_OK;
    content->n_text = content->n_strings = 0;
    content->file_pointers.n = content->client_pointers.n = content->thread_names.n = 0;
    uint64_t n = strobe_tracy_u64(&content->in);
    for (uint64_t i = 0; i < n && !content->in.err && !err; i++)
        err = read_string(content);
    sort_keys(&content->file_pointers);
    return err ? err : content->in.err;
}

/* The index of the string that a file pointer means; UINT32_MAX: of none. */
static uint32_t string_of(const struct strobe_tracy_content *content, uint64_t pointer)
{
    const struct strobe_tracy_key *key = strobe_tracy_key_find(&content->file_pointers, pointer);
    return key ? key->string : UINT32_MAX;
}

/* Pairs of an id and a file pointer. */
static enum strobe_err read_keys(struct strobe_tracy_content *content,
                                 struct strobe_tracy_keys *keys)
{
    enum strobe_err err = STROBE_OK;
    uint64_t n = strobe_tracy_u64(&content->in);
    for (uint64_t i = 0; i < n && !content->in.err && !err; i++) {
        uint64_t id = strobe_tracy_u64(&content->in);
        uint32_t string = string_of(content, strobe_tracy_u64(&content->in));
        if (string != UINT32_MAX)
            err = add_key(keys, id, string);
    }
    sort_keys(keys);
    return err ? err : content->in.err;
}

/* ---- threads --------------------------------------------------------------------------------- */

static enum strobe_err read_foreign(struct strobe_tracy_content *content,
                                    const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    uint64_t n = strobe_tracy_u64(in);
    for (uint64_t i = 0; i < n && !in->err; i++) {
        uint64_t tid = strobe_tracy_u64(in);
        uint32_t process = string_of(content, strobe_tracy_u64(in));
        uint32_t thread = string_of(content, strobe_tracy_u64(in));
        if (!in->err)
            STROBE_TRACY_TELL(foreign, tid, strobe_tracy_string(content, process),
                              strobe_tracy_string(content, thread));
    }
    return in->err;
}

static enum strobe_err read_ids(struct strobe_tracy_bytes *in, uint64_t **rows, size_t *n_rows,
                                size_t *room, uint64_t max)
{
    uint64_t n = strobe_tracy_u64(in);
    *n_rows = 0;
    for (uint64_t i = 0; i < n && !in->err; i++) {
        uint64_t id = strobe_tracy_u64(in);
        if (in->err || *n_rows >= max)
            continue;
        if (STROBE_ARRAY_RESERVE(*rows, *room, *n_rows + 1))
            return STROBE_ERR_NOMEM;
        (*rows)[(*n_rows)++] = id;
    }
    return in->err;
}

/* ---- source locations ------------------------------------------------------------------------ */

static struct strobe_tracy_srcloc read_loc(struct strobe_tracy_content *content)
{
    struct strobe_tracy_srcloc loc = {.name = strobe_tracy_read_ref(content)};
    loc.function = strobe_tracy_read_ref(content);
    loc.file = strobe_tracy_read_ref(content);
    loc.line = strobe_tracy_u32(&content->in);
    uint32_t color = strobe_tracy_u32(&content->in);
    loc.color = (color & 0xff) << 16 | (color & 0xff00) | (color >> 16 & 0xff);
    loc.is_known = 1;
    return loc;
}

struct pointed {
    uint64_t pointer;
    struct strobe_tracy_srcloc loc;
};

static int compare_pointed(const void *a, const void *b)
{
    const struct pointed *x = a, *y = b;
    return x->pointer < y->pointer ? -1 : x->pointer > y->pointer;
}

/* Locations by the client's pointer: (12). */
static enum strobe_err read_pointed(struct strobe_tracy_content *content, struct pointed **rows,
                                    size_t *n_rows)
{
    struct strobe_tracy_bytes *in = &content->in;
    size_t room = 0;
    uint64_t n = strobe_tracy_u64(in);
    for (uint64_t i = 0; i < n && !in->err; i++) {
        uint64_t pointer = strobe_tracy_u64(in);
        if (STROBE_ARRAY_RESERVE(*rows, room, *n_rows + 1))
            return STROBE_ERR_NOMEM;
        (*rows)[*n_rows] = (struct pointed){pointer, read_loc(content)};
        *n_rows += !in->err;
    }
    if (*n_rows)
        qsort(*rows, *n_rows, sizeof **rows, compare_pointed);
    return in->err;
}

/* Positive ids: positions in the list of pointers (13). */
static enum strobe_err read_expand(struct strobe_tracy_content *content, const struct pointed *rows,
                                   size_t n_rows)
{
    struct strobe_tracy_bytes *in = &content->in;
    uint64_t n = strobe_tracy_u64(in);
    content->n_locs = 0;
    for (uint64_t i = 0; i < n && !in->err; i++) {
        struct pointed key = {.pointer = strobe_tracy_u64(in)};
        if (i > INT16_MAX || in->err)
            continue;
        if (STROBE_ARRAY_RESERVE(content->locs, content->locs_room, i + 1))
            return STROBE_ERR_NOMEM;
        const struct pointed *found =
            n_rows ? bsearch(&key, rows, n_rows, sizeof *rows, compare_pointed) : NULL;
        content->locs[i] = found ? found->loc : (struct strobe_tracy_srcloc){0};
        content->n_locs = (size_t)i + 1;
    }
    return in->err;
}

/* Negative ids: locations that the client made at run time (14). */
static enum strobe_err read_payload(struct strobe_tracy_content *content)
{
    struct strobe_tracy_bytes *in = &content->in;
    uint64_t n = strobe_tracy_u64(in);
    content->n_payload = 0;
    for (uint64_t i = 0; i < n && !in->err; i++) {
        struct strobe_tracy_srcloc loc = read_loc(content);
        if (i > INT16_MAX || in->err)
            continue;
        if (STROBE_ARRAY_RESERVE(content->payload, content->payload_room, i + 1))
            return STROBE_ERR_NOMEM;
        content->payload[i] = loc;
        content->n_payload = (size_t)i + 1;
    }
    return in->err;
}

static enum strobe_err read_locs(struct strobe_tracy_content *content)
{
    struct pointed *rows = NULL;
    size_t n_rows = 0;
    enum strobe_err err = read_pointed(content, &rows, &n_rows);
    if (!err)
        err = read_expand(content, rows, n_rows);
    free(rows);
    return err ? err : read_payload(content);
}

/* (15): counts of zones per location, which a reader that pre-sizes needs. */
static enum strobe_err skip_counts(struct strobe_tracy_content *content)
{
    for (int i = 0; i < 2; i++) {
        uint64_t n = strobe_tracy_u64(&content->in);
        if (!strobe_tracy_skip(&content->in, n > UINT64_MAX / 10 ? UINT64_MAX : n * 10))
            return content->in.err;
    }
    return content->in.err;
}

enum strobe_err strobe_tracy_read_tables(struct strobe_tracy_content *content,
                                         const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    enum strobe_err err = read_strings(content);
    if (!err)
        err = read_keys(content, &content->client_pointers);
    if (!err)
        err = read_keys(content, &content->thread_names);
    if (!err)
        err = read_foreign(content, visitor);
    if (!err)
        err = read_ids(in, &content->threads, &content->n_threads, &content->threads_room,
                       UINT16_MAX + 1);
    if (!err)
        err = read_ids(in, &content->foreign_threads, &content->n_foreign_threads,
                       &content->foreign_threads_room, UINT16_MAX + 1);
    if (!err)
        err = read_locs(content);
    if (!err)
        err = skip_counts(content);
    if (err)
        return err;
    content->has_tables = 1;
    STROBE_TRACY_TELL(tables);
    return STROBE_OK;
}

enum strobe_err strobe_tracy_read_extras(struct strobe_tracy_content *content)
{
    enum { STEP = 4096 };
    struct strobe_tracy_bytes *in = &content->in;
    uint64_t n = strobe_tracy_u64(in);
    content->n_extras = 0;
    while (n && !in->err) {
        size_t now = n < STEP ? (size_t)n : STEP;
        if (content->n_extras + now > UINT32_MAX)
            return STROBE_ERR_LIMIT;
        if (STROBE_ARRAY_RESERVE(content->extras, content->extras_room,
                                 12 * ((uint64_t)content->n_extras + now)))
            return STROBE_ERR_NOMEM;
        if (strobe_tracy_copy(in, content->extras + content->n_extras * 12, now * 12))
            content->n_extras += now;
        n -= now;
    }
    return in->err;
}
