/* write.c - the sections of a .tracy file in the layout of Tracy 0.11.1 or 0.14, from a model.
 * Strings, locations and threads must all be known before the first section is written, so what
 * names something later is named in `prepare`.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "tracy_file/write_parts.h"

enum { OVERFLOW_LOC = STROBE_TRACY_MAX_STATIC + 1 };

static void put_text(struct strobe_tracy_out *out, const char *text, size_t n)
{
    strobe_tracy_out_u64(out, n);
    strobe_tracy_out_put(out, text, n);
}

/* ---- head ------------------------------------------------------------------------------------ */

static void put_head(struct strobe_tracy_model *model, struct strobe_tracy_out *out)
{
    int is_14 = model->layout >= STROBE_TRACY_LAYOUT_14;
    const uint8_t magic[] = {'t', 'r', 'a', 'c', 'y', 0, is_14 ? 14 : 11, is_14 ? 0 : 1};
    static const struct strobe_client_fact native = {.timer_mul = 1.0, .resolution = 1};
    const struct strobe_trace *trace = model->trace;
    const struct strobe_client_fact *client = strobe_client_of(&model->facts, model->first_process);
    const struct strobe_client_fact *facts = client ? client : &native;
    char room[STROBE_NAME_ROOM], maker[12] = {0};
    uint32_t n, n_host;
    const char *text = strobe_trace_text(trace, facts->maker, &n);
    memcpy(maker, text, n < sizeof maker ? n : sizeof maker);
    strobe_tracy_out_put(out, magic, sizeof magic);
    if (!is_14)
        strobe_tracy_out_u64(out, facts->delay);
    strobe_tracy_out_u64(out, facts->resolution);
    strobe_tracy_out_f64(out, facts->timer_mul);
    strobe_tracy_out_i64(out, model->last_time);
    strobe_tracy_out_u64(out, 0); /* frames before the first */
    strobe_tracy_out_u64(out, trace->n_processes ? trace->processes[model->first_process].pid : 0);
    strobe_tracy_out_i64(out, facts->sampling);
    strobe_tracy_out_u8(out, (uint8_t)facts->arch);
    strobe_tracy_out_u32(out, (uint32_t)facts->cpu_id);
    strobe_tracy_out_put(out, maker, sizeof maker);
    strobe_tracy_out_u8(out, facts->flags & 1);
    text = "";
    n = 0;
    if (trace->n_processes)
        text = strobe_trace_process_name(trace, model->first_process, room, &n);
    n = n < 1000 ? n : 1000; /* readers have room for 1023 */
    put_text(out, text, n);
    put_text(out, text, n);
    strobe_tracy_out_u64(out, client ? facts->epoch
                                     : strobe_file_facts(trace->file)->created_ns / 1000000000);
    strobe_tracy_out_u64(out, facts->exec_time);
    text = strobe_trace_text(trace, facts->host ? facts->host : trace->cpu, &n_host);
    put_text(out, text, n_host < 1000 ? n_host : 1000);
    strobe_tracy_put_cpus(model, out);
    strobe_tracy_put_crash(model, out);
}

static int compare_frames(const void *a, const void *b)
{
    const struct strobe_tracy_frame_row *x = a, *y = b;
    if (x->set != y->set)
        return x->set < y->set ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* Images belong to marks of the main set, which the client counts without the one at 0. */
static void place_images(struct strobe_tracy_model *model, struct strobe_tracy_frame_row *frames,
                         uint64_t n)
{
    uint64_t n_main = 0;
    while (n_main < n && frames[n_main].set == 0)
        n_main++;
    for (uint64_t i = 0; i < model->images.n; i++) {
        const struct strobe_tracy_image_row *image = strobe_spool_row(&model->images, i);
        if (image->frame + 1 < n_main)
            frames[image->frame + 1].image = (int32_t)i;
    }
}

static void put_frames(struct strobe_tracy_model *model, struct strobe_tracy_out *out)
{
    struct strobe_tracy_frame_row *frames = model->frames.rows;
    uint64_t n = model->frames.n, at = 0;
    if (n)
        qsort(frames, n, sizeof *frames, compare_frames);
    place_images(model, frames, n);
    strobe_tracy_out_u64(out, model->set_ids.n);
    for (uint32_t set = 0; set < model->set_ids.n; set++) {
        uint64_t first = at;
        int64_t ref = 0;
        while (at < n && frames[at].set == set)
            at++;
        strobe_tracy_out_u64(out, strobe_tracy_pointer_of(model->sets[set].name));
        strobe_tracy_out_u8(out, model->sets[set].is_continuous);
        strobe_tracy_out_u64(out, at - first);
        if (!set)
            model->folds->n_frames = at - first;
        STROBE_ASSERT(at <= n && (set + 1 < model->set_ids.n || at == n));
        for (uint64_t i = first; i < at; i++) {
            strobe_tracy_put_time(out, &ref, frames[i].start);
            if (!model->sets[set].is_continuous)
                strobe_tracy_put_time(out, &ref, frames[i].end);
            strobe_tracy_out_i32(out, frames[i].image);
        }
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void put_strings(struct strobe_tracy_model *model, const struct strobe_tracy_names *names,
                        struct strobe_tracy_out *out)
{
    uint32_t n = model->strings.n, n_bytes;
    strobe_tracy_out_u64(out, n);
    for (uint32_t i = 0; i < n; i++) {
        const char *text =
            strobe_texts_get(&model->texts, (uint32_t)model->strings.keys[i].id, &n_bytes);
        strobe_tracy_out_u64(out, strobe_tracy_pointer_of(i));
        put_text(out, text, n_bytes);
    }
    strobe_tracy_out_u64(out, (uint64_t)n + 1);
    strobe_tracy_out_u64(out, 0); /* what every real trace calls pointer 0 */
    strobe_tracy_out_u64(out, strobe_tracy_pointer_of(names->frame));
    for (uint32_t i = 0; i < n; i++) {
        strobe_tracy_out_u64(out, strobe_tracy_pointer_of(i));
        strobe_tracy_out_u64(out, strobe_tracy_pointer_of(i));
    }
}

static void put_threads_table(struct strobe_tracy_model *model, struct strobe_tracy_out *out)
{
    uint32_t n = model->thread_ids.n, n_named = 0;
    for (uint32_t i = 0; i < n; i++)
        n_named += model->threads[i].name != STROBE_TRACY_NO_STRING;
    strobe_tracy_out_u64(out, n_named);
    for (uint32_t i = 0; i < n; i++)
        if (model->threads[i].name != STROBE_TRACY_NO_STRING) {
            strobe_tracy_out_u64(out, model->threads[i].tid);
            strobe_tracy_out_u64(out, strobe_tracy_pointer_of(model->threads[i].name));
        }
    strobe_tracy_put_other_names(model, out);
    uint32_t n_numbered = n < UINT16_MAX ? n : UINT16_MAX;
    strobe_tracy_out_u64(out, (uint64_t)n_numbered + 1);
    strobe_tracy_out_u64(out, 0);
    for (uint32_t i = 0; i < n_numbered; i++)
        strobe_tracy_out_u64(out, model->threads[i].tid);
    strobe_tracy_put_other_ids(model, out);
}

static void put_loc(const struct strobe_tracy_model_loc *loc, struct strobe_tracy_out *out)
{
    strobe_tracy_put_ref(out, loc->name);
    strobe_tracy_put_ref(out, loc->function);
    strobe_tracy_put_ref(out, loc->file);
    strobe_tracy_out_u32(out, loc->line);
    strobe_tracy_out_u32(out, strobe_tracy_bgr(loc->color));
}

static void put_counts(const uint64_t *counts, uint32_t n_static, uint32_t n_payload,
                       struct strobe_tracy_out *out)
{
    strobe_tracy_out_u64(out, (uint64_t)n_static + n_payload);
    for (uint32_t i = 1; i <= n_static; i++) {
        strobe_tracy_out_i16(out, (int16_t)i);
        strobe_tracy_out_u64(out, counts[i]);
    }
    for (uint32_t i = 1; i <= n_payload; i++) {
        int16_t id = (int16_t) - (int32_t)i;
        strobe_tracy_out_i16(out, id);
        strobe_tracy_out_u64(out, counts[(uint16_t)id]);
    }
}

static void put_locs(struct strobe_tracy_model *model, const struct strobe_tracy_names *names,
                     struct strobe_tracy_out *out)
{
    uint32_t n = model->n_locs;
    uint32_t n_static = n < STROBE_TRACY_MAX_STATIC ? n : STROBE_TRACY_MAX_STATIC;
    uint32_t n_payload = n - n_static;
    int is_over = n_payload > STROBE_TRACY_MAX_PAYLOAD;
    struct strobe_tracy_model_loc over = {names->overflow, names->empty, names->empty, 0, 0};
    n_payload = is_over ? STROBE_TRACY_MAX_PAYLOAD : n_payload;
    model->folds->n_locs = is_over ? n - n_static - n_payload : 0;
    strobe_tracy_out_u64(out, n_static + (is_over ? 1u : 0u));
    for (uint32_t i = 0; i < n_static; i++) {
        strobe_tracy_out_u64(out, i + 1);
        put_loc(&model->locs[i], out);
    }
    if (is_over) {
        strobe_tracy_out_u64(out, OVERFLOW_LOC);
        put_loc(&over, out);
    }
    n_static += is_over;
    strobe_tracy_out_u64(out, (uint64_t)n_static + 1);
    for (uint32_t i = 0; i <= n_static; i++)
        strobe_tracy_out_u64(out, i);
    strobe_tracy_out_u64(out, n_payload);
    for (uint32_t i = 0; i < n_payload; i++)
        put_loc(&model->locs[STROBE_TRACY_MAX_STATIC + i], out);
    put_counts(model->zones_of, n_static, n_payload, out);
    put_counts(model->gpu_zones_of, n_static, n_payload, out);
}

/* ---- messages -------------------------------------------------------------------------------- */

static int compare_messages(const void *a, const void *b)
{
    const struct strobe_tracy_message_row *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Sorted by time; number i + 1 ties a message to its thread's list. */
static int put_messages(struct strobe_tracy_model *model, struct strobe_tracy_out *out)
{
    struct strobe_tracy_message_row *rows = model->messages.rows;
    uint64_t n = model->messages.n, at = 0;
    int64_t ref = 0;
    if (n)
        qsort(rows, n, sizeof *rows, compare_messages);
    strobe_tracy_out_u64(out, n);
    for (uint64_t i = 0; i < n; i++) {
        strobe_tracy_out_u64(out, i + 1);
        strobe_tracy_put_time(out, &ref, rows[i].time);
        strobe_tracy_put_ref(out, rows[i].text);
        strobe_tracy_out_u32(out, rows[i].color ? 0xff000000 | strobe_tracy_bgr(rows[i].color)
                                                : UINT32_MAX);
        strobe_tracy_out_u24(out, rows[i].stack);
        if (model->layout >= STROBE_TRACY_LAYOUT_14) {
            strobe_tracy_out_u8(out, rows[i].source);
            strobe_tracy_out_u8(out, rows[i].severity);
        }
        if (!strobe_spool_add(&model->message_ids))
            return 0;
    }
    for (uint32_t t = 0; t < model->thread_ids.n; t++) {
        model->threads[t].first_message = at;
        at += model->threads[t].n_messages;
        model->threads[t].n_messages = 0;
    }
    uint64_t *ids = model->message_ids.rows;
    STROBE_ASSERT(at == n); /* each message is a thread's */
    for (uint64_t i = 0; i < n; i++) {
        struct strobe_tracy_model_thread *thread = &model->threads[rows[i].thread];
        ids[thread->first_message + thread->n_messages++] = i + 1;
    }
    return 1;
}

/* ---- zones ----------------------------------------------------------------------------------- */

static void put_extras(struct strobe_tracy_model *model, struct strobe_tracy_out *out)
{
    strobe_tracy_out_u64(out, (uint64_t)model->extras.n + 1);
    strobe_tracy_out_put(out, strobe_tracy_zeros, 12);
    for (uint32_t i = 0; i < model->extras.n; i++) {
        const struct strobe_tracy_extra_row *extra = &model->extra_rows[i];
        strobe_tracy_out_u24(out, extra->stack);
        strobe_tracy_put_idx(out, extra->text);
        strobe_tracy_put_idx(out, extra->name);
        strobe_tracy_out_u24(out, strobe_tracy_bgr(extra->color));
    }
}

struct way {
    uint32_t zone; /* row + 1 of the zone whose children are written */
};

/* A thread's zones depth first, without recursion: `way` holds the zones around. 0 without memory. */
static int put_timeline(struct strobe_tracy_model *model, const struct strobe_tracy_list *roots,
                        struct strobe_tracy_out *out)
{
    const struct strobe_tracy_zone_row *rows = model->zones.rows;
    struct way *way = NULL;
    uint32_t depth = 0, room = 0, at = roots->first;
    int64_t ref = 0;
    strobe_tracy_out_u32(out, roots->n);
    while (at || depth) {
        if (!at) { /* the last child: its parent ends */
            uint32_t parent = way[--depth].zone;
            strobe_tracy_put_time(out, &ref, rows[parent - 1].end);
            at = rows[parent - 1].next;
            continue;
        }
        STROBE_ASSERT(at <= model->zones.n);
        const struct strobe_tracy_zone_row *zone = &rows[at - 1];
        STROBE_ASSERT(!zone->first == !zone->n_children);
        strobe_spool_visit(&model->zones);
        strobe_tracy_out_i16(out, zone->loc);
        strobe_tracy_put_time(out, &ref, zone->begin);
        strobe_tracy_out_u32(out, zone->extra);
        strobe_tracy_out_u32(out, zone->n_children);
        if (zone->n_children) {
            if (!strobe_rows_reach((void **)&way, &room, depth, sizeof *way)) {
                free(way);
                return 0;
            }
            way[depth++].zone = at;
            at = zone->first;
        } else {
            strobe_tracy_put_time(out, &ref, zone->end);
            at = zone->next;
        }
    }
    free(way);
    return 1;
}

/* A lane's zones are a GPU context's; as a thread it is there for its messages alone. */
static int is_shown(const struct strobe_tracy_model_thread *thread)
{
    return !thread->lane || thread->n_messages;
}

static int put_threads(struct strobe_tracy_model *model, struct strobe_tracy_out *out)
{
    static const struct strobe_tracy_list none;
    const uint64_t *ids = model->message_ids.rows;
    uint64_t n_zones = 0, n_shown = 0;
    for (uint32_t i = 0; i < model->thread_ids.n; i++) {
        n_zones += model->threads[i].lane ? 0 : model->threads[i].n_zones;
        n_shown += is_shown(&model->threads[i]) != 0;
    }
    strobe_tracy_out_u64(out, n_zones);
    strobe_tracy_out_u64(out, model->n_parents);
    strobe_tracy_out_u64(out, n_shown);
    for (uint32_t i = 0; i < model->thread_ids.n; i++) {
        const struct strobe_tracy_model_thread *thread = &model->threads[i];
        const int has_zones = thread->pending_room && !thread->lane;
        if (!is_shown(thread))
            continue;
        strobe_tracy_out_u64(out, thread->tid);
        strobe_tracy_out_u64(out, thread->lane ? 0 : thread->n_zones);
        strobe_tracy_out_u64(out, thread->n_kernel_samples);
        strobe_tracy_out_u8(out, thread->is_fiber);
        strobe_tracy_out_i32(out, thread->group);
        if (!put_timeline(model, has_zones ? thread->pending : &none, out))
            return 0;
        strobe_tracy_out_u64(out, thread->n_messages);
        if (thread->n_messages)
            strobe_tracy_out_put(out, ids + thread->first_message,
                                 thread->n_messages * sizeof *ids);
        strobe_tracy_put_samples(model, i, out);
    }
    return 1;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void put_images(struct strobe_tracy_model *model, struct strobe_tracy_out *out)
{
    const char *bytes = model->image_bytes.rows;
    strobe_tracy_out_u32(out, 0);
    strobe_tracy_out_u64(out, model->images.n);
    for (uint64_t i = 0; i < model->images.n; i++) {
        const struct strobe_tracy_image_row *image = strobe_spool_row(&model->images, i);
        strobe_tracy_out_u16(out, image->width);
        strobe_tracy_out_u16(out, image->height);
        strobe_tracy_out_u8(out, image->flip);
        strobe_tracy_out_put(out, bytes + image->at, image->n_bytes);
    }
}

/* The lists at the end. */
static int put_end(struct strobe_tracy_model *model, struct strobe_tracy_out *out)
{
    strobe_tracy_put_runs(model, out);
    strobe_tracy_put_pids(model, out);
    if (!strobe_tracy_put_functions(model, out))
        return 0;
    strobe_tracy_put_code(model, out);
    strobe_tracy_put_counts(model, out);
    strobe_tracy_put_sources(model, out);
    return 1;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void free_names(struct strobe_tracy_names *names)
{
    free(names->locks);
    free(names->contexts);
    free(names->pools);
    free(names->lock_locs);
}

static uint32_t text_name(struct strobe_tracy_model *model, uint32_t process, uint32_t text)
{
    uint32_t n;
    const char *bytes = strobe_trace_text(model->trace, text, &n);
    return n ? strobe_tracy_model_name(model, process, bytes, n) : STROBE_TRACY_NO_STRING;
}

static void name_locks(struct strobe_tracy_model *model, struct strobe_tracy_names *names)
{
    uint32_t loc_name;
    for (uint32_t i = 0; i < model->lock_ids.n; i++) {
        const struct strobe_tracy_model_lock *lock = &model->locks[i];
        uint32_t fact = strobe_idmap_find(&model->facts.lock_ids, lock->process, lock->id);
        uint64_t loc = fact == STROBE_IDMAP_NONE ? 0 : model->facts.locks[fact].loc;
        names->locks[i] = fact == STROBE_IDMAP_NONE
                              ? STROBE_TRACY_NO_STRING
                              : text_name(model, lock->process, model->facts.locks[fact].name);
        names->lock_locs[i] = strobe_tracy_model_loc(
            model, strobe_trace_loc(model->trace, lock->process, loc), &loc_name);
    }
}

static void name_gpu(struct strobe_tracy_model *model, struct strobe_tracy_names *names)
{
    uint32_t loc_name;
    for (uint32_t i = 0; i < model->facts.context_ids.n; i++)
        names->contexts[i] =
            text_name(model, model->facts.contexts[i].process, model->facts.contexts[i].name);
    for (uint64_t i = 0; i < model->gpu.rows.n; i++) {
        struct strobe_tracy_gpu_row *row = strobe_spool_row(&model->gpu.rows, i);
        row->loc = (uint16_t)strobe_tracy_model_loc(model, row->loc, &loc_name);
        model->folds->n_loc_zones += loc_name != STROBE_TRACY_NO_STRING;
        model->gpu_zones_of[row->loc] += row->gpu_end != STROBE_GPU_UNKNOWN;
        strobe_spool_visit(&model->gpu.rows);
    }
}

static void name_pools(struct strobe_tracy_model *model, struct strobe_tracy_names *names)
{
    char room[STROBE_NAME_ROOM];
    for (uint32_t i = 0; i < model->memory.pools.n; i++) {
        const struct strobe_idkey *key = &model->memory.pools.keys[i];
        uint32_t n;
        const char *name = strobe_memory_pool_name(model->trace, &model->memory, i, room, &n);
        if (!name)
            name = "default", n = 7;
        names->pools[i] = !key->id && key->scope == model->first_process
                              ? STROBE_TRACY_NO_STRING
                              : strobe_tracy_model_name(model, key->scope, name, n);
    }
    for (uint64_t i = 0; i < model->memory.n_blocks; i++) { /* their threads too */
        strobe_tracy_model_thread(model, model->memory.blocks[i].thread);
        if (model->memory.blocks[i].is_freed)
            strobe_tracy_model_thread(model, model->memory.blocks[i].free_thread);
    }
}

static int prepare(struct strobe_tracy_model *model, struct strobe_tracy_names *names)
{
    names->locks = calloc(model->lock_ids.n + 1, sizeof *names->locks);
    names->lock_locs = calloc(model->lock_ids.n + 1, sizeof *names->lock_locs);
    names->contexts = calloc(model->facts.context_ids.n + 1, sizeof *names->contexts);
    names->pools = calloc(model->memory.pools.n + 1, sizeof *names->pools);
    if (!names->locks || !names->lock_locs || !names->contexts || !names->pools)
        return 0;
    names->frame = strobe_tracy_model_string(model, "Frame", 5);
    names->empty = strobe_tracy_model_string(model, "", 0);
    names->overflow = strobe_tracy_model_string(model, "(too many source locations)", 27);
    name_locks(model, names);
    name_gpu(model, names);
    name_pools(model, names);
    return strobe_tracy_stacks_name(model);
}

static int put_all(struct strobe_tracy_model *model, const struct strobe_tracy_names *names,
                   struct strobe_tracy_out *out)
{
    const uint32_t *infos = model->app_infos.rows;
    put_head(model, out);
    put_frames(model, out);
    if (model->layout >= STROBE_TRACY_LAYOUT_14)
        strobe_tracy_put_sections(model, out);
    put_strings(model, names, out);
    put_threads_table(model, out);
    put_locs(model, names, out);
    strobe_tracy_write_locks(model, names, out);
    if (!put_messages(model, out))
        return 0;
    put_extras(model, out);
    if (!put_threads(model, out) || !strobe_tracy_write_gpu(model, names, out))
        return 0;
    strobe_tracy_write_plots(model, out);
    strobe_tracy_write_memory(model, names, out);
    strobe_tracy_put_stacks(model, out);
    strobe_tracy_out_u64(out, model->app_infos.n);
    for (uint64_t i = 0; i < model->app_infos.n; i++)
        strobe_tracy_put_ref(out, infos[i]);
    put_images(model, out);
    return put_end(model, out);
}

enum strobe_err strobe_tracy_write(struct strobe_trace *trace, int fd, const char *folder,
                                   enum strobe_tracy_layout layout,
                                   struct strobe_tracy_folds *folds, int *error)
{
    struct strobe_tracy_model *model = calloc(1, sizeof *model);
    struct strobe_tracy_names names = {0};
    struct strobe_tracy_out out = {0};
    memset(folds, 0, sizeof *folds);
    *error = 0;
    if (!model)
        return STROBE_ERR_NOMEM;
    model->layout = layout;
    enum strobe_err err = strobe_tracy_gather(trace, folder, folds, model);
    if (!err && !prepare(model, &names))
        err = STROBE_ERR_NOMEM;
    if (!err)
        err = strobe_tracy_out_open(&out, fd);
    if (!err) {
        err = put_all(model, &names, &out) ? STROBE_OK : STROBE_ERR_NOMEM;
        folds->last_time = model->last_time;
        *error = strobe_tracy_out_close(&out);
        folds->n_content_bytes = out.n_bytes;
        if (*error)
            err = strobe_err_from_errno(*error);
    }
    free_names(&names);
    strobe_tracy_model_free(model);
    free(model);
    return err;
}
