/* content.c - the walk over a .tracy file's sections, the small ones among them, and the lookups.
 * Sections 7-15 and 18 are in content_tables.c, 19-20 in content_zones.c, 21-33 in content_rest.c.
 * SPDX-License-Identifier: MIT */
#include "tracy_file/content.h"

#include <stdlib.h>

#include "base/array.h"

enum { NEWEST = STROBE_TRACY_VERSION(14, 99), OLDEST = STROBE_TRACY_VERSION(9, 0) };

enum strobe_err strobe_tracy_skip_items(struct strobe_tracy_content *content, uint64_t n,
                                        uint64_t bytes)
{
    strobe_tracy_skip(&content->in, n > UINT64_MAX / bytes ? UINT64_MAX : n * bytes);
    return content->in.err;
}

enum strobe_err strobe_tracy_read_each(struct strobe_tracy_content *content,
                                       const struct strobe_tracy_visitor *visitor, uint64_t n,
                                       strobe_tracy_reader *read)
{
    enum strobe_err err = content->in.err;
    for (uint64_t i = 0; i < n && !err; i++) {
        err = read(content, visitor);
        err = err ? err : content->in.err;
    }
    return err;
}

enum strobe_err strobe_tracy_read_steps(struct strobe_tracy_content *content,
                                        const struct strobe_tracy_visitor *visitor,
                                        const struct strobe_tracy_step *steps, size_t n)
{
    enum strobe_err err = STROBE_OK;
    for (size_t i = 0; i < n && !err; i++) {
        if (visitor->until && steps[i].section > visitor->until)
            break;
        content->section = steps[i].section;
        err = steps[i].read(content, visitor);
    }
    return err;
}

/* ---- lookups --------------------------------------------------------------------------------- */

static const struct strobe_tracy_text no_text;

struct strobe_tracy_text strobe_tracy_string(const struct strobe_tracy_content *content,
                                             uint64_t index)
{
    if (index >= content->n_strings)
        return no_text;
    uint64_t at = content->string_at[index];
    return (struct strobe_tracy_text){content->text + at,
                                      (uint32_t)(content->string_at[index + 1] - at), 1};
}

const struct strobe_tracy_key *strobe_tracy_key_find(const struct strobe_tracy_keys *keys,
                                                     uint64_t id)
{
    uint64_t at = STROBE_ARRAY_BISECT(0, keys->n, i, keys->rows[i].id < id);
    return at < keys->n && keys->rows[at].id == id ? &keys->rows[at] : NULL;
}

struct strobe_tracy_text strobe_tracy_pointer(const struct strobe_tracy_content *content,
                                              uint64_t pointer)
{
    const struct strobe_tracy_key *key = strobe_tracy_key_find(&content->client_pointers, pointer);
    return key ? strobe_tracy_string(content, key->string) : no_text;
}

struct strobe_tracy_text strobe_tracy_thread_name(const struct strobe_tracy_content *content,
                                                  uint64_t tid)
{
    const struct strobe_tracy_key *key = strobe_tracy_key_find(&content->thread_names, tid);
    return key ? strobe_tracy_string(content, key->string) : no_text;
}

const struct strobe_tracy_srcloc *
strobe_tracy_content_loc(const struct strobe_tracy_content *content, int16_t loc)
{
    static const struct strobe_tracy_srcloc unknown;
    size_t i = loc < 0 ? (size_t) - (loc + 1) : (size_t)loc;
    if (loc < 0)
        return i < content->n_payload ? &content->payload[i] : &unknown;
    return i < content->n_locs ? &content->locs[i] : &unknown;
}

struct strobe_tracy_text strobe_tracy_loc_name(const struct strobe_tracy_content *content,
                                               int16_t loc)
{
    const struct strobe_tracy_srcloc *row = strobe_tracy_content_loc(content, loc);
    return row->name.is_there ? row->name : row->function;
}

struct strobe_tracy_text strobe_tracy_read_idx(struct strobe_tracy_content *content)
{
    uint32_t index = strobe_tracy_u24(&content->in);
    return index ? strobe_tracy_string(content, index - 1) : no_text;
}

/* Bit 0: an index, else a client's pointer; bit 1: there is one. */
struct strobe_tracy_text strobe_tracy_read_ref(struct strobe_tracy_content *content)
{
    uint64_t value = strobe_tracy_u64(&content->in);
    uint8_t bits = strobe_tracy_u8(&content->in);
    if (!(bits & 2))
        return no_text;
    return bits & 1 ? strobe_tracy_string(content, value) : strobe_tracy_pointer(content, value);
}

static uint32_t u24_at(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
}

int strobe_tracy_extra(const struct strobe_tracy_content *content, uint32_t index,
                       struct strobe_tracy_extra *out)
{
    if (!index || index >= content->n_extras)
        return 0;
    const uint8_t *at = content->extras + (size_t)index * 12;
    uint32_t text = u24_at(at + 3), name = u24_at(at + 6);
    out->callstack = u24_at(at);
    out->text = text ? strobe_tracy_string(content, text - 1) : no_text;
    out->name = name ? strobe_tracy_string(content, name - 1) : no_text;
    out->color = (uint32_t)at[9] << 16 | (uint32_t)at[10] << 8 | at[11]; /* stored R, G, B */
    return 1;
}

uint16_t strobe_tracy_thread_number(struct strobe_tracy_content *content, uint64_t tid)
{
    for (size_t i = 0; i < content->n_threads; i++)
        if (content->threads[i] == tid)
            return (uint16_t)i;
    if (content->n_threads > UINT16_MAX ||
        STROBE_ARRAY_RESERVE(content->threads, content->threads_room, content->n_threads + 1))
        return 0;
    content->threads[content->n_threads] = tid;
    return (uint16_t)content->n_threads++;
}

uint64_t strobe_tracy_thread_id(const struct strobe_tracy_content *content, uint16_t number)
{
    return number < content->n_threads ? content->threads[number] : 0;
}

/* ---- sections 1 to 6 ------------------------------------------------------------------------- */

/* u64 length, then bytes: kept up to the room, the rest stepped over. */
static void read_name(struct strobe_tracy_bytes *in, char *out, size_t room)
{
    uint64_t n = strobe_tracy_u64(in);
    size_t kept = n < room - 1 ? (size_t)n : room - 1;
    if (!strobe_tracy_copy(in, out, kept))
        kept = 0;
    out[kept] = 0;
    strobe_tracy_skip(in, n - kept);
}

static enum strobe_err read_version(struct strobe_tracy_content *content)
{
    const uint8_t *at = strobe_tracy_get(&content->in, 8);
    if (memcmp(at, "tracy", 5) || at[5] > 0)
        return !memcmp(at, "tracy", 5) ? STROBE_ERR_VERSION : STROBE_ERR_FORMAT;
    content->head.version = STROBE_TRACY_VERSION(at[6], at[7] > 99 ? 99 : at[7]);
    if (content->head.version > NEWEST)
        return STROBE_ERR_VERSION;
    return content->head.version < OLDEST ? STROBE_ERR_FORMAT : STROBE_OK;
}

static enum strobe_err read_head(struct strobe_tracy_content *content)
{
    struct strobe_tracy_bytes *in = &content->in;
    struct strobe_tracy_head *head = &content->head;
    enum strobe_err err = read_version(content);
    if (err)
        return err;
    if (head->version < STROBE_TRACY_VERSION(12, 3))
        head->delay = strobe_tracy_u64(in);
    head->resolution = strobe_tracy_u64(in);
    head->timer_mul = strobe_tracy_f64(in);
    head->last_time = strobe_tracy_i64(in);
    head->frame_offset = strobe_tracy_u64(in);
    head->pid = strobe_tracy_u64(in);
    head->sampling = strobe_tracy_i64(in);
    head->arch = strobe_tracy_u8(in);
    head->cpu_id = strobe_tracy_u32(in);
    strobe_tracy_copy(in, head->maker, 12);
    if (head->version >= STROBE_TRACY_VERSION(9, 2))
        head->on_demand = strobe_tracy_u8(in);
    else
        head->on_demand = head->frame_offset != 0;
    read_name(in, head->capture, sizeof head->capture);
    read_name(in, head->program, sizeof head->program);
    head->capture_time = strobe_tracy_u64(in);
    head->executable_time = strobe_tracy_u64(in);
    read_name(in, head->host, sizeof head->host);
    return in->err;
}

static enum strobe_err read_cores(struct strobe_tracy_content *content,
                                  const struct strobe_tracy_visitor *visitor, uint32_t package,
                                  uint32_t die)
{
    struct strobe_tracy_bytes *in = &content->in;
    uint64_t n_cores = strobe_tracy_u64(in);
    for (uint64_t i = 0; i < n_cores && !in->err; i++) {
        uint32_t core = strobe_tracy_u32(in);
        uint64_t n_threads = strobe_tracy_u64(in);
        for (uint64_t j = 0; j < n_threads && !in->err; j++) {
            uint32_t thread = strobe_tracy_u32(in);
            if (!in->err)
                STROBE_TRACY_TELL(cpu, package, die, core, thread);
        }
    }
    return in->err;
}

/* Package, since 0.11.2 die, core, threads. */
static enum strobe_err read_topology(struct strobe_tracy_content *content,
                                     const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    enum strobe_err err = STROBE_OK;
    uint64_t n_packages = strobe_tracy_u64(in);
    for (uint64_t i = 0; i < n_packages && !in->err && !err; i++) {
        uint32_t package = strobe_tracy_u32(in);
        if (content->head.version < STROBE_TRACY_VERSION(11, 2)) {
            err = read_cores(content, visitor, package, 0);
            continue;
        }
        uint64_t n_dies = strobe_tracy_u64(in);
        for (uint64_t j = 0; j < n_dies && !in->err && !err; j++)
            err = read_cores(content, visitor, package, strobe_tracy_u32(in));
    }
    return err ? err : in->err;
}

static enum strobe_err read_crash(struct strobe_tracy_content *content,
                                  const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    uint64_t tid = strobe_tracy_u64(in);
    int64_t time = strobe_tracy_i64(in);
    uint64_t message = strobe_tracy_u64(in);
    uint32_t callstack = strobe_tracy_u32(in);
    if (!in->err && (tid || message))
        STROBE_TRACY_TELL(crash, tid, time, message, callstack);
    return in->err;
}

static enum strobe_err read_frame_set(struct strobe_tracy_content *content,
                                      const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    uint64_t name = strobe_tracy_u64(in);
    uint8_t continuous = strobe_tracy_u8(in);
    uint64_t n = strobe_tracy_u64(in);
    STROBE_TRACY_TELL(frame_set, name, continuous, n);
    uint64_t ref = 0;
    for (uint64_t i = 0; i < n && !in->err; i++) {
        uint64_t start = ref += strobe_tracy_u64(in);
        int64_t end = STROBE_TRACY_OPEN;
        if (!continuous)
            end = (int64_t)(ref += strobe_tracy_u64(in));
        int32_t image = strobe_tracy_i32(in);
        if (!in->err)
            STROBE_TRACY_TELL(frame, (int64_t)start, end, image);
    }
    return in->err;
}

static enum strobe_err read_frames(struct strobe_tracy_content *content,
                                   const struct strobe_tracy_visitor *visitor)
{
    return strobe_tracy_read_each(content, visitor, strobe_tracy_u64(&content->in), read_frame_set);
}

static int64_t read_i48(struct strobe_tracy_bytes *in)
{
    const uint8_t *at = strobe_tracy_get(in, 6);
    uint64_t value = u24_at(at) | (uint64_t)u24_at(at + 3) << 24;
    return (int64_t)(value << 16) >> 16;
}

static enum strobe_err read_section_items(struct strobe_tracy_content *content,
                                          const struct strobe_tracy_visitor *visitor,
                                          uint16_t category)
{
    struct strobe_tracy_bytes *in = &content->in;
    uint64_t n = strobe_tracy_u64(in);
    for (uint64_t i = 0; i < n && !in->err; i++) {
        int64_t start = read_i48(in), end = read_i48(in);
        uint32_t text = strobe_tracy_u24(in);
        if (!in->err)
            STROBE_TRACY_TELL(section, category, start, end, text);
    }
    return in->err;
}

/* Since 0.13.4 one list, since 0.13.5 one per category, with names of the categories. */
static enum strobe_err read_sections(struct strobe_tracy_content *content,
                                     const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    enum strobe_err err = STROBE_OK;
    if (content->head.version < STROBE_TRACY_VERSION(13, 4))
        return STROBE_OK;
    if (content->head.version == STROBE_TRACY_VERSION(13, 4))
        return read_section_items(content, visitor, 0);
    uint64_t n = strobe_tracy_u64(in);
    for (uint64_t i = 0; i < n && !in->err && !err; i++)
        err = read_section_items(content, visitor, strobe_tracy_u16(in));
    if (err)
        return err;
    n = strobe_tracy_u64(in);
    for (uint64_t i = 0; i < n && !in->err; i++) {
        uint16_t category = strobe_tracy_u16(in);
        uint32_t text = strobe_tracy_u24(in);
        if (!in->err)
            STROBE_TRACY_TELL(section_name, category, text);
    }
    return in->err;
}

/* ---- sections 16 and 17 ---------------------------------------------------------------------- */

static enum strobe_err read_lock(struct strobe_tracy_content *content,
                                 const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    struct strobe_tracy_lock lock = {.id = strobe_tracy_u32(in)};
    lock.name = strobe_tracy_read_idx(content);
    lock.loc = strobe_tracy_i16(in);
    lock.is_shared = strobe_tracy_u8(in) == 1;
    lock.is_valid = strobe_tracy_u8(in);
    lock.announce = strobe_tracy_i64(in);
    lock.terminate = strobe_tracy_i64(in);
    lock.n_threads = strobe_tracy_u64(in);
    for (uint64_t i = 0; i < lock.n_threads && !in->err; i++) {
        uint64_t tid = strobe_tracy_u64(in);
        if (i < 64)
            lock.threads[i] = tid;
    }
    if (lock.n_threads > 64)
        lock.n_threads = 64;
    uint64_t n = strobe_tracy_u64(in);
    if (in->err)
        return in->err;
    STROBE_TRACY_TELL(lock, &lock);
    if (!visitor->lock_event)
        return strobe_tracy_skip_items(content, n, 12);
    uint64_t ref = (uint64_t)lock.announce;
    for (uint64_t i = 0; i < n && !in->err; i++) {
        ref += strobe_tracy_u64(in);
        int16_t loc = strobe_tracy_i16(in);
        uint8_t thread = strobe_tracy_u8(in), type = strobe_tracy_u8(in);
        if (!in->err && thread < lock.n_threads)
            STROBE_TRACY_TELL(lock_event, &lock, (int64_t)ref, loc, thread, type);
    }
    return in->err;
}

static enum strobe_err read_locks(struct strobe_tracy_content *content,
                                  const struct strobe_tracy_visitor *visitor)
{
    return strobe_tracy_read_each(content, visitor, strobe_tracy_u64(&content->in), read_lock);
}

/* 0xFFBBGGRR; all ones: no colour was given. */
static uint32_t message_color(uint32_t stored)
{
    if (stored == UINT32_MAX)
        return STROBE_TRACY_NO_COLOR;
    return (stored & 0xff) << 16 | (stored & 0xff00) | (stored >> 16 & 0xff);
}

static enum strobe_err read_messages(struct strobe_tracy_content *content,
                                     const struct strobe_tracy_visitor *visitor)
{
    struct strobe_tracy_bytes *in = &content->in;
    int has_meta = content->head.version >= STROBE_TRACY_VERSION(13, 2);
    uint64_t n = strobe_tracy_u64(in), ref = 0;
    for (uint64_t i = 0; i < n && !in->err; i++) {
        struct strobe_tracy_message message = {.id = strobe_tracy_u64(in)};
        ref += strobe_tracy_u64(in);
        message.time = (int64_t)ref;
        message.text = strobe_tracy_read_ref(content);
        message.color = message_color(strobe_tracy_u32(in));
        message.callstack = strobe_tracy_u24(in);
        message.source = has_meta ? strobe_tracy_u8(in) : 0;
        message.severity = has_meta ? strobe_tracy_u8(in) : 2;
        if (!in->err)
            STROBE_TRACY_TELL(message, &message);
    }
    return in->err;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static enum strobe_err tell_head(struct strobe_tracy_content *content,
                                 const struct strobe_tracy_visitor *visitor)
{
    STROBE_TRACY_TELL(head, &content->head);
    return STROBE_OK;
}

static enum strobe_err walk_extras(struct strobe_tracy_content *content,
                                   const struct strobe_tracy_visitor *visitor)
{
    (void)visitor;
    return strobe_tracy_read_extras(content);
}

static enum strobe_err walk_head(struct strobe_tracy_content *content,
                                 const struct strobe_tracy_visitor *visitor)
{
    enum strobe_err err = read_head(content);
    return err ? err : tell_head(content, visitor);
}

static const struct strobe_tracy_step steps[] = {
    {STROBE_TRACY_HEAD, walk_head},
    {3, read_topology},
    {4, read_crash},
    {STROBE_TRACY_FRAMES, read_frames},
    {6, read_sections},
    {STROBE_TRACY_TABLES, strobe_tracy_read_tables},
    {STROBE_TRACY_LOCKS, read_locks},
    {STROBE_TRACY_MESSAGES, read_messages},
    {18, walk_extras},
    {STROBE_TRACY_THREADS, strobe_tracy_read_threads},
    {STROBE_TRACY_GPU, strobe_tracy_read_gpu},
    {STROBE_TRACY_PLOTS, strobe_tracy_read_rest},
};

enum strobe_err strobe_tracy_walk(struct strobe_tracy_content *content,
                                  const struct strobe_tracy_visitor *visitor)
{
    content->n_zones = content->n_gpu_zones = 0;
    return strobe_tracy_read_steps(content, visitor, steps, sizeof steps / sizeof steps[0]);
}

enum strobe_err strobe_tracy_content_open(const char *path, struct strobe_tracy_content *out)
{
    memset(out, 0, sizeof *out);
    return strobe_tracy_bytes_open(path, 1, &out->in);
}

void strobe_tracy_content_close(struct strobe_tracy_content *content)
{
    strobe_tracy_bytes_close(&content->in);
    free(content->text);
    free(content->string_at);
    free(content->file_pointers.rows);
    free(content->client_pointers.rows);
    free(content->thread_names.rows);
    free(content->threads);
    free(content->foreign_threads);
    free(content->locs);
    free(content->payload);
    free(content->extras);
    free(content->stack);
    free(content->gpu_stack);
    memset(content, 0, sizeof *content);
}
