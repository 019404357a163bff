/* gather.c - fills the model of a .tracy file: one walk for the zones, one for all other
 * events, and the resolvers of GPU zones and memory.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "tracy_file/model.h"
#include "tracy_file/order.h"

enum { PENDING_MOST = 4 << 20 }; /* lists of all threads, but for the first few of each */

#define BIT(kind) (1ull << STROBE_KIND_##kind)

/* ---- zones ----------------------------------------------------------------------------------- */

/* An open zone, kept until its children are known: those that are open come last. */
struct open_row {
    struct strobe_tracy_zone_row zone;
    uint32_t thread, depth;
};

static void note_time(struct strobe_tracy_model *model, int64_t time)
{
    if (time > model->last_time)
        model->last_time = time;
}

/* Lists for a zone at `depth` and its children. All threads' are bounded: a zone that says to be deeper than that is put where
 * there is room. 0 without memory. */
static int reach_depth(struct strobe_tracy_model *model, struct strobe_tracy_model_thread *thread,
                       uint32_t *depth)
{
    uint32_t before = thread->pending_room;
    if (*depth + 1ull < before)
        return 1;
    if (*depth > 16 && model->n_pending + 2ull * *depth > PENDING_MOST)
        *depth = before > 2 ? before - 2 : 0;
    if (!strobe_rows_reach((void **)&thread->pending, &thread->pending_room, *depth + 1ull,
                           sizeof *thread->pending))
        return 0;
    model->n_pending += thread->pending_room - before;
    return 1;
}

static int append(struct strobe_tracy_model *model, struct strobe_tracy_model_thread *thread,
                  uint32_t depth, const struct strobe_tracy_zone_row *zone)
{
    if (!reach_depth(model, thread, &depth) || model->zones.n >= UINT32_MAX - 1)
        return 0;
    struct strobe_tracy_zone_row *row = strobe_spool_add(&model->zones);
    if (!row)
        return 0;
    STROBE_ASSERT(depth + 1ull < thread->pending_room);
    struct strobe_tracy_list *children = &thread->pending[depth + 1ull];
    *row = *zone;
    row->first = children->first;
    row->n_children = children->n;
    *(thread->lane ? &model->lanes.n_parents : &model->n_parents) += children->n != 0;
    model->lanes.n_zones += thread->lane != 0;
    *children = (struct strobe_tracy_list){0};
    struct strobe_tracy_list *siblings = &thread->pending[depth];
    uint32_t index = (uint32_t)model->zones.n;
    if (siblings->last)
        ((struct strobe_tracy_zone_row *)strobe_spool_row(&model->zones, siblings->last - 1))
            ->next = index;
    else
        siblings->first = index;
    siblings->last = index;
    siblings->n++;
    STROBE_ASSERT(siblings->first && index == model->zones.n); /* rows count from 1 */
    thread->n_zones++;
    return 1;
}

static uint32_t note_text(struct strobe_tracy_model *model, uint32_t process,
                          const struct strobe_note *note)
{
    char *made = NULL;
    uint32_t n;
    const char *text = strobe_tracy_note_text(&model->facts, process, note, &made, &n);
    uint32_t index = text ? strobe_tracy_model_string(model, text, n) : STROBE_TRACY_NO_STRING;
    free(made);
    return index;
}

static uint32_t zone_extra(struct strobe_tracy_model *model, const struct strobe_batch *batch,
                           const struct strobe_zone_row *zone, uint32_t loc_name, uint64_t loc)
{
    const struct strobe_note *note = zone->note ? &batch->notes[zone->note - 1] : NULL;
    struct strobe_tracy_extra_row extra = {
        .text = note ? note_text(model, batch->process, note) : STROBE_TRACY_NO_STRING,
        .name = loc_name,
        .color = note && note->has_color ? note->color & 0xffffff : 0,
        .stack =
            strobe_tracy_stack_of(model, batch->process, STROBE_KIND_ZONE_BEGIN, zone->begin, loc),
    };
    if (note && note->name)
        extra.name = strobe_tracy_model_string(model, note->name, note->n_name);
    return strobe_tracy_model_extra(model, &extra);
}

static int take_zone(struct strobe_tracy_model *model, const struct strobe_batch *batch,
                     const struct strobe_zone_row *zone, uint32_t thread)
{
    uint64_t id;
    uint32_t loc_name;
    struct strobe_tracy_zone_row row = {.end = STROBE_TRACY_ENDLESS};
    row.loc =
        strobe_tracy_model_loc(model, strobe_batch_loc(model->trace, batch, zone, &id), &loc_name);
    model->folds->n_loc_zones += loc_name != STROBE_TRACY_NO_STRING;
    row.begin = strobe_tracy_when(model, batch->process, zone->begin, zone->begin_own);
    if (zone->state == STROBE_ZONE_ENDED)
        row.end =
            strobe_tracy_when(model, batch->process, zone->begin + zone->ticks, zone->end_own);
    note_time(model, row.end > row.begin ? row.end : row.begin);
    int is_lane = model->threads[thread].lane != 0;
    row.extra = is_lane ? 0 : zone_extra(model, batch, zone, loc_name, id);
    model->folds->n_lane_texts += is_lane && zone->note;
    (is_lane ? model->gpu_zones_of : model->zones_of)[(uint16_t)row.loc] +=
        zone->state == STROBE_ZONE_ENDED;
    model->folds->n_zones += !is_lane;
    if (zone->state == STROBE_ZONE_OPEN) {
        struct open_row *open = strobe_spool_add(&model->opens);
        if (open)
            *open = (struct open_row){row, thread, zone->depth};
        return open != NULL;
    }
    return append(model, &model->threads[thread], zone->depth, &row);
}

static enum strobe_err take_zones(void *context, const struct strobe_batch *batch)
{
    struct strobe_tracy_model *model = context;
    uint32_t thread = batch->kind == STROBE_BATCH_FIBER
                          ? strobe_tracy_model_fiber(model, batch->process, batch->id)
                          : strobe_tracy_model_thread(model, batch->thread);
    if (thread == STROBE_IDMAP_NONE)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < batch->n_zones; i++) {
        if (batch->zones[i].state == STROBE_ZONE_NO_BEGIN)
            model->folds->n_no_begin++;
        else if (!take_zone(model, batch, &batch->zones[i], thread))
            return STROBE_ERR_NOSPACE;
    }
    return STROBE_OK;
}

static int compare_opens(const void *a, const void *b)
{
    const struct open_row *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth > y->depth ? -1
                                   : 1; /* the innermost first: it is its parent's last child */
    return x->zone.begin < y->zone.begin ? -1 : x->zone.begin > y->zone.begin;
}

/* Open zones, then whatever still has no parent: it goes one level up. */
static int close_threads(struct strobe_tracy_model *model)
{
    struct open_row *opens = model->opens.rows;
    if (model->opens.n)
        qsort(opens, model->opens.n, sizeof *opens, compare_opens);
    for (uint64_t i = 0; i < model->opens.n; i++)
        if (!append(model, &model->threads[opens[i].thread], opens[i].depth, &opens[i].zone))
            return 0;
    for (uint32_t t = 0; t < model->thread_ids.n; t++) {
        struct strobe_tracy_model_thread *thread = &model->threads[t];
        for (uint32_t depth = thread->pending_room; depth-- > 1;) {
            struct strobe_tracy_list *from = &thread->pending[depth], *to = from - 1;
            if (!from->n)
                continue;
            if (to->last)
                ((struct strobe_tracy_zone_row *)strobe_spool_row(&model->zones, to->last - 1))
                    ->next = from->first;
            else
                to->first = from->first;
            to->last = from->last;
            to->n += from->n;
            *from = (struct strobe_tracy_list){0};
        }
    }
    return 1;
}

static enum strobe_err gather_zones(struct strobe_tracy_model *model)
{
    struct strobe_walk walk = {
        .trace = model->trace,
        .context = model,
        .zones = take_zones,
        .want_notes = 1,
        .want_fibers = 1,
        .want_open = 1,
    };
    enum strobe_err err = strobe_walk_run(&walk);
    model->folds->n_bad_parts = walk.n_bad_parts;
    if (!err && !close_threads(model))
        err = STROBE_ERR_NOSPACE;
    return err;
}

/* ---- other events ---------------------------------------------------------------------------- */

static int take_message(struct strobe_tracy_model *model, const struct strobe_happening *happening)
{
    const struct strobe_field *f = happening->event->fields;
    uint32_t thread = strobe_tracy_model_thread(model, happening->thread);
    struct strobe_tracy_message_row *row = strobe_spool_add(&model->messages);
    if (!row || thread == STROBE_IDMAP_NONE)
        return 0;
    *row = (struct strobe_tracy_message_row){
        .time = strobe_tracy_when(model, happening->process, happening->event->tick,
                                  happening->event->own),
        .text = strobe_tracy_model_string(model, f[2].text, f[2].u),
        .thread = thread,
        .color = (uint32_t)f[1].u,
        .order = (uint32_t)model->messages.n,
        .stack =
            strobe_tracy_stack(model, happening->process, happening->stack, happening->n_stack),
        .source = (f[0].u & 256) != 0,
        .severity = (uint8_t)f[0].u,
    };
    STROBE_ASSERT(thread < model->thread_ids.n);
    model->threads[thread].n_messages++;
    model->folds->n_messages++;
    model->folds->n_severities +=
        model->layout < STROBE_TRACY_LAYOUT_14 && (row->severity != 2 || row->source);
    note_time(model, row->time);
    return 1;
}

static struct strobe_tracy_model_plot *plot_of(struct strobe_tracy_model *model, uint32_t process,
                                               uint64_t id, uint32_t *index)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n, before = model->plot_ids.n;
    uint32_t i = strobe_idmap_add_row(&model->plot_ids, process, id, (void **)&model->plots,
                                      &model->plots_room, sizeof *model->plots);
    *index = i;
    if (i == STROBE_IDMAP_NONE)
        return NULL;
    struct strobe_tracy_model_plot *plot = &model->plots[i];
    if (i < before)
        return plot;
    const char *name = strobe_trace_string(model->trace, process, id, room, &n);
    int is_cpu =
        n == 9 && !memcmp(name, "CPU usage", n) && strobe_client_of(&model->facts, process);
    uint32_t config = strobe_idmap_find(&model->trace->plot_ids, process, id);
    *plot = (struct strobe_tracy_model_plot){.fill = 1, .type = is_cpu ? 2 : 0};
    plot->name = is_cpu && process == model->first_process
                     ? STROBE_TRACY_NO_STRING
                     : strobe_tracy_model_name(model, process, name, n);
    if (config != STROBE_IDMAP_NONE) {
        const struct strobe_plot *known = &model->trace->plots[config];
        plot->format = (uint8_t)(known->format & 255);
        plot->fill = !(known->format & 256);
        plot->step = known->step != 0;
        plot->color = (uint32_t)known->color;
    }
    return plot;
}

static int take_point(struct strobe_tracy_model *model, const struct strobe_happening *happening)
{
    const struct strobe_event *event = happening->event;
    uint32_t plot;
    if (!plot_of(model, happening->process, event->fields[0].u, &plot))
        return 0;
    struct strobe_tracy_point_row *row = strobe_spool_add(&model->points);
    if (!row)
        return 0;
    *row = (struct strobe_tracy_point_row){
        .time = strobe_tracy_when(model, happening->process, event->tick, event->own),
        .value =
            event->kind == STROBE_KIND_PLOT_INT ? (double)event->fields[1].i : event->fields[1].d,
        .order = model->points.n,
        .plot = plot,
    };
    note_time(model, row->time);
    return 1;
}

/* The set of a frame. The unnamed one of the first process is the main one, and the first. */
static uint32_t set_of(struct strobe_tracy_model *model, uint32_t process, uint64_t id,
                       int is_continuous)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n, before = model->set_ids.n;
    uint32_t i =
        strobe_idmap_add_row(&model->set_ids, process * 2 + (is_continuous != 0), id,
                             (void **)&model->sets, &model->sets_room, sizeof *model->sets);
    if (i < before || i == STROBE_IDMAP_NONE)
        return i;
    struct strobe_tracy_model_frames *set = &model->sets[i];
    set->is_continuous = is_continuous != 0;
    if (!id && process == model->first_process && is_continuous) {
        set->name = STROBE_TRACY_NO_STRING;
        return i;
    }
    const char *name = "Frame";
    n = 5;
    if (id)
        name = strobe_trace_string(model->trace, process, id, room, &n);
    set->name = strobe_tracy_model_name(model, process, name, n);
    return i;
}

static int take_frame(struct strobe_tracy_model *model, const struct strobe_happening *happening)
{
    const struct strobe_event *event = happening->event;
    int is_mark = event->kind == STROBE_KIND_FRAME_MARK;
    uint32_t set = set_of(model, happening->process, event->fields[0].u, is_mark);
    int64_t time = strobe_tracy_when(model, happening->process, event->tick, event->own);
    if (set == STROBE_IDMAP_NONE)
        return 0;
    note_time(model, time);
    uint64_t *open = &model->sets[set].open;
    if (event->kind == STROBE_KIND_FRAME_END) {
        if (*open)
            ((struct strobe_tracy_frame_row *)strobe_spool_row(&model->frames, *open - 1))->end =
                time;
        *open = 0;
        return 1;
    }
    struct strobe_tracy_frame_row *row = strobe_spool_add(&model->frames);
    if (!row)
        return 0;
    *row = (struct strobe_tracy_frame_row){time, STROBE_TRACY_ENDLESS, set, -1};
    *open = is_mark ? 0 : model->frames.n;
    return 1;
}

static int take_image(struct strobe_tracy_model *model, const struct strobe_happening *happening)
{
    const struct strobe_field *f = happening->event->fields;
    uint64_t n = f[1].u * f[2].u / 2;
    if (happening->process != model->first_process || f[1].u > UINT16_MAX || f[2].u > UINT16_MAX ||
        f[4].u != n) {
        model->folds->n_others++;
        return 1;
    }
    uint64_t at = strobe_spool_bytes(&model->image_bytes, f[4].text, n);
    struct strobe_tracy_image_row *row = strobe_spool_add(&model->images);
    if (!row || at == UINT64_MAX)
        return 0;
    *row = (struct strobe_tracy_image_row){
        at, (uint32_t)n, (uint16_t)f[1].u, (uint16_t)f[2].u, f[3].u != 0, f[0].u};
    return 1;
}

static int take_lock(struct strobe_tracy_model *model, const struct strobe_happening *happening)
{
    const struct strobe_event *event = happening->event;
    uint32_t loc_name;
    uint32_t i =
        strobe_idmap_add_row(&model->lock_ids, happening->process, event->fields[0].u,
                             (void **)&model->locks, &model->locks_room, sizeof *model->locks);
    if (i == STROBE_IDMAP_NONE)
        return 0;
    model->locks[i].process = happening->process;
    model->locks[i].id = event->fields[0].u;
    int64_t time = strobe_tracy_when(model, happening->process, event->tick, event->own);
    if (event->kind == STROBE_KIND_LOCK_GONE) {
        model->locks[i].gone = time;
        return 1;
    }
    uint32_t thread = strobe_tracy_model_thread(model, happening->thread);
    struct strobe_tracy_lock_row *row = strobe_spool_add(&model->lock_events);
    if (!row || thread == STROBE_IDMAP_NONE)
        return 0;
    *row = (struct strobe_tracy_lock_row){
        .time = time, .order = model->lock_events.n, .lock = i, .thread = thread};
    if (event->kind == STROBE_KIND_LOCK_MARK) {
        row->type = UINT8_MAX;
        row->loc = strobe_tracy_model_loc(
            model, strobe_trace_loc(model->trace, happening->process, event->fields[1].u),
            &loc_name);
        return 1;
    }
    row->type = (uint8_t)(event->kind - STROBE_KIND_LOCK_WAIT + (event->fields[1].u ? 3 : 0));
    note_time(model, time);
    return 1;
}

/* From one fiber to another, or to none. */
static int take_fiber(struct strobe_tracy_model *model, const struct strobe_happening *happening)
{
    const struct strobe_event *event = happening->event;
    uint32_t thread = strobe_tracy_model_thread(model, happening->thread);
    int64_t time = strobe_tracy_when(model, happening->process, event->tick, event->own);
    if (thread == STROBE_IDMAP_NONE)
        return 0;
    uint64_t before = model->threads[thread].fiber;
    if (before) {
        uint32_t fiber = strobe_tracy_model_fiber(model, happening->process, before);
        if (fiber == STROBE_IDMAP_NONE ||
            !strobe_tracy_switches_fiber(model, fiber, thread, model->threads[thread].fiber_since,
                                         time))
            return 0;
    }
    model->threads[thread].fiber = event->kind == STROBE_KIND_FIBER_ENTER ? event->fields[0].u : 0;
    model->threads[thread].fiber_since = time;
    note_time(model, time);
    return 1;
}

static int take_app_info(struct strobe_tracy_model *model, const struct strobe_happening *happening)
{
    const struct strobe_field *f = happening->event->fields;
    uint32_t text = strobe_tracy_model_name(model, happening->process, f[0].text, f[0].u);
    uint32_t *row = strobe_spool_add(&model->app_infos);
    if (row)
        *row = text;
    return row != NULL;
}

/* What the layout has no place for. */
static void count_left_out(struct strobe_tracy_model *model, uint32_t kind)
{
    struct strobe_tracy_folds *folds = model->folds;
    if (kind == STROBE_KIND_SPAN_BEGIN)
        folds->n_spans++;
    else if (kind >= STROBE_KIND_FLOW_BEGIN && kind <= STROBE_KIND_FLOW_END)
        folds->n_flows++;
    else if (kind != STROBE_KIND_SPAN_END)
        folds->n_others++;
}

static int take_event(struct strobe_tracy_model *model, const struct strobe_happening *happening)
{
    switch (happening->event->kind) {
    case STROBE_KIND_MESSAGE:
        return take_message(model, happening);
    case STROBE_KIND_PLOT_INT:
    case STROBE_KIND_PLOT_DOUBLE:
        return take_point(model, happening);
    case STROBE_KIND_FRAME_MARK:
    case STROBE_KIND_FRAME_START:
    case STROBE_KIND_FRAME_END:
        return take_frame(model, happening);
    case STROBE_KIND_FRAME_IMAGE:
        return take_image(model, happening);
    case STROBE_KIND_LOCK_WAIT:
    case STROBE_KIND_LOCK_OBTAIN:
    case STROBE_KIND_LOCK_RELEASE:
    case STROBE_KIND_LOCK_MARK:
    case STROBE_KIND_LOCK_GONE:
        return take_lock(model, happening);
    case STROBE_KIND_FIBER_ENTER:
    case STROBE_KIND_FIBER_LEAVE:
        return take_fiber(model, happening);
    case STROBE_KIND_APP_INFO:
        return take_app_info(model, happening);
    case STROBE_KIND_SAMPLE:
        return strobe_tracy_stacks_take_sample(model, happening);
    case STROBE_KIND_SWITCH_IN:
    case STROBE_KIND_SWITCH_OUT:
    case STROBE_KIND_CPU_SWITCH:
    case STROBE_KIND_WAKEUP:
        return strobe_tracy_switches_take(model, happening);
    case STROBE_KIND_SECTION_ENTER:
    case STROBE_KIND_SECTION_LEAVE:
    case STROBE_KIND_HW_SAMPLE:
    case STROBE_KIND_CRASH:
        return strobe_tracy_rare_take(model, happening);
    case STROBE_KIND_MEM_ALLOC:
    case STROBE_KIND_MEM_FREE:
    case STROBE_KIND_MEM_DISCARD:
        return 1; /* query/memory.h has them */
    default:
        count_left_out(model, happening->event->kind);
        return 1;
    }
}

static enum strobe_err take_happening(void *context, const struct strobe_happening *happening)
{
    return take_event(context, happening) ? STROBE_OK : STROBE_ERR_NOSPACE;
}

static enum strobe_err gather_events(struct strobe_tracy_model *model)
{
    const uint64_t of_zones = BIT(ZONE_END) | BIT(ZONE_END_POP) | BIT(ZONE_END_AT) |
                              BIT(STR_PIECE) | BIT(ZONE_TEXT) | BIT(ZONE_NAME) | BIT(ZONE_VALUE) |
                              BIT(ZONE_COLOR) | BIT(ZONE_BEGIN) | BIT(CALLSTACK) | BIT(OWN_TIME) |
                              BIT(ZONE_LOOSE) | BIT(ZONE_END_UNDER) | BIT(ZONE_TEXT_AT) |
                              BIT(ZONE_NAME_AT) | BIT(ZONE_VALUE_AT) | BIT(ZONE_COLOR_AT);
    const uint64_t of_gpu = BIT(GPU_BEGIN) | BIT(GPU_END) | BIT(GPU_TIME) | BIT(GPU_CALIBRATION) |
                            BIT(GPU_SYNC) | BIT(GPU_NOTE);
    struct strobe_walk walk = {
        .trace = model->trace,
        .context = model,
        .happens = take_happening,
        .kinds = ~(of_zones | of_gpu),
    };
    return strobe_walk_run(&walk);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void set_spools(struct strobe_tracy_model *model, const char *folder)
{
    struct {
        struct strobe_spool *spool;
        size_t row_bytes;
    } all[] = {
        {&model->zones, sizeof(struct strobe_tracy_zone_row)},
        {&model->opens, sizeof(struct open_row)},
        {&model->messages, sizeof(struct strobe_tracy_message_row)},
        {&model->message_ids, sizeof(uint64_t)},
        {&model->points, sizeof(struct strobe_tracy_point_row)},
        {&model->frames, sizeof(struct strobe_tracy_frame_row)},
        {&model->lock_events, sizeof(struct strobe_tracy_lock_row)},
        {&model->images, sizeof(struct strobe_tracy_image_row)},
        {&model->image_bytes, 1},
        {&model->app_infos, sizeof(uint32_t)},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        all[i].spool->row_bytes = all[i].row_bytes;
        all[i].spool->folder = folder;
    }
}

/* The marks that a live trace begins with. */
static int add_start_marks(struct strobe_tracy_model *model)
{
    const struct strobe_client_fact *client = strobe_client_of(&model->facts, model->first_process);
    int64_t marks[3] = {0, 0, 0};
    int n = 2;
    uint32_t set = set_of(model, model->first_process, 0, 1);
    if (client)
        marks[1] = strobe_client_own_ns(&model->facts, model->first_process, client->init_end);
    for (uint32_t i = 0; client && client->flags & 1 && i < model->trace->n_recordings; i++)
        if (model->trace->recordings[i].what == 3 && n == 2)
            marks[n++] =
                strobe_tracy_when(model, model->first_process, model->trace->recordings[i].tick, 0);
    for (int i = 0; i < n; i++) {
        struct strobe_tracy_frame_row *row = strobe_spool_add(&model->frames);
        if (!row)
            return 0;
        *row = (struct strobe_tracy_frame_row){marks[i], STROBE_TRACY_ENDLESS, set, -1};
    }
    return set != STROBE_IDMAP_NONE;
}

/* Threads and fibers by number, so that these are those of csvexport. */
static void add_threads(struct strobe_tracy_model *model)
{
    const struct strobe_idkey *fibers = model->trace->fiber_ids.keys;
    struct strobe_tracy_order order;
    strobe_tracy_order_start(model->trace, &model->facts, &order);
    while (strobe_tracy_order_next(&order)) {
        if (order.is_fiber)
            strobe_tracy_model_fiber(model, fibers[order.index].scope, fibers[order.index].id);
        else
            strobe_tracy_model_thread(model, order.index);
    }
}

static void note_gpu_zones(struct strobe_tracy_model *model)
{
    model->folds->n_gpu_zones = model->gpu.rows.n + model->lanes.n_zones;
    model->folds->n_cores = model->lanes.n_folded;
    model->folds->n_gpu_notes = model->layout < STROBE_TRACY_LAYOUT_14 ? model->gpu.n_notes : 0;
}

/* What was read from a .tracy file ends where that said. */
static void note_end(struct strobe_tracy_model *model)
{
    const struct strobe_client_fact *client = strobe_client_of(&model->facts, model->first_process);
    for (uint32_t i = 0; client && !client->protocol && i < model->trace->n_recordings; i++)
        if (model->trace->recordings[i].what == 1)
            model->last_time =
                strobe_tracy_when(model, model->first_process, model->trace->recordings[i].tick, 0);
}

enum strobe_err strobe_tracy_gather(struct strobe_trace *trace, const char *folder,
                                    struct strobe_tracy_folds *folds,
                                    struct strobe_tracy_model *model)
{
    model->trace = trace;
    model->folds = folds;
    set_spools(model, folder);
    model->zones_of = calloc(UINT16_MAX + 1, sizeof *model->zones_of);
    model->gpu_zones_of = calloc(UINT16_MAX + 1, sizeof *model->gpu_zones_of);
    if (!model->zones_of || !model->gpu_zones_of)
        return STROBE_ERR_NOMEM;
    enum strobe_err err = strobe_client_facts_load(trace, &model->facts);
    if (!err && trace->n_processes)
        err = add_start_marks(model) ? STROBE_OK : STROBE_ERR_NOSPACE;
    if (!err)
        err = strobe_tracy_lanes_start(model) ? STROBE_OK : STROBE_ERR_NOMEM;
    if (!err)
        add_threads(model);
    model->stacks.samples.folder = folder;
    if (!err)
        err = strobe_tracy_stacks_gather(model);
    if (!err)
        err = gather_zones(model);
    strobe_tracy_switches_start(&model->switches, folder);
    strobe_tracy_rare_start(&model->rare, folder);
    if (!err)
        err = gather_events(model);
    if (!err)
        err = strobe_tracy_switches_gather(model);
    if (!err)
        err = strobe_tracy_code_gather(model, folder);
    if (!err)
        err = strobe_tracy_gpu_gather(model, folder);
    if (!err)
        err = strobe_memory_run(trace, &model->memory);
    note_gpu_zones(model);
    note_end(model);
    for (uint32_t i = 0; i < trace->n_processes; i++)
        folds->n_processes += !trace->processes[i].twin || trace->processes[i].twin == i + 1;
    folds->n_threads = model->thread_ids.n;
    return err;
}
