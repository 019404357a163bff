/* import_events.c - what a .tracy file has beside zones, as events and records of a trace: messages,
 * frames, locks, GPU zones, plots, memory, samples, switches. What belongs to no thread lies on the
 * main thread's track.  SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "tracy_file/import_internal.h"

enum { MAX_CONTEXTS = 256 };

/* Put an event whose only fields are numbers. */
static void put(struct import *import, struct strobe_build_track *track, int64_t time,
                enum strobe_kind kind, const uint64_t *numbers)
{
    strobe_build_event(import->build, track, strobe_tracy_tick(time), kind, numbers, NULL, 0);
}

static void put_text(struct import *import, struct strobe_build_track *track, int64_t time,
                     enum strobe_kind kind, const uint64_t *numbers, struct strobe_tracy_text text)
{
    strobe_build_event(import->build, track, strobe_tracy_tick(time), kind, numbers, text.at,
                       text.n);
}

static struct strobe_build_track *main_track(struct import *import)
{
    return strobe_tracy_import_track(import, import->main_tid, 0);
}

static uint64_t string_id(struct import *import, struct strobe_tracy_text text)
{
    return text.is_there ? strobe_build_string(import->build, text.at, text.n)
                         : strobe_build_string(import->build, "???", 3);
}

/* ---- the machine, the end -------------------------------------------------------------------- */

static enum strobe_err put_cpu(void *context, uint32_t package, uint32_t die, uint32_t core,
                               uint32_t thread)
{
    struct import *import = context;
    uint64_t numbers[] = {package, die, core, thread};
    strobe_build_record(import->build, STROBE_META_CPU, numbers, NULL, NULL);
    return STROBE_OK;
}

static enum strobe_err put_crash(void *context, uint64_t tid, int64_t time, uint64_t message,
                                 uint32_t callstack)
{
    struct import *import = context;
    struct strobe_build_track *track = strobe_tracy_import_track(import, tid, time);
    if (!track)
        return STROBE_ERR_LIMIT;
    strobe_tracy_import_stack(import, track, time, callstack);
    put_text(import, track, time, STROBE_KIND_CRASH, NULL,
             strobe_tracy_pointer(&import->content, message));
    return STROBE_OK;
}

static enum strobe_err hold_foreign(void *context, uint64_t tid, struct strobe_tracy_text process,
                                    struct strobe_tracy_text thread)
{
    struct import *import = context;
    if (STROBE_ARRAY_RESERVE(import->foreign, import->foreign_room, import->n_foreign + 1))
        return STROBE_ERR_NOMEM;
    import->foreign[import->n_foreign++] = (struct foreign){tid, process, thread, 0};
    return STROBE_OK;
}

static void put_foreign(struct import *import, const struct foreign *foreign, uint64_t pid)
{
    uint64_t numbers[] = {foreign->tid, pid};
    const char *texts[] = {foreign->process.at, foreign->thread.at};
    size_t sizes[] = {foreign->process.n, foreign->thread.n};
    strobe_build_record(import->build, STROBE_META_FOREIGN_THREAD, numbers, texts, sizes);
}

static enum strobe_err put_pid(void *context, uint64_t tid, uint64_t pid)
{
    struct import *import = context;
    struct foreign unnamed = {.tid = tid}, *found = &unnamed;
    for (size_t i = 0; i < import->n_foreign; i++)
        if (import->foreign[i].tid == tid)
            found = &import->foreign[i];
    found->is_told = 1;
    put_foreign(import, found, pid);
    return STROBE_OK;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static enum strobe_err begin_frames(void *context, uint64_t name, int continuous, uint64_t n_frames)
{
    struct import *import = context;
    (void)n_frames;
    import->frame_is_main = !name && continuous;
    import->frame_is_continuous = continuous;
    import->frame_name = name ? string_id(import, strobe_tracy_pointer(&import->content, name)) : 0;
    if (import->frame_is_main)
        import->n_main_frames = 0;
    return STROBE_OK;
}

/* Which frame an image shows, counted as clients do: without the marks that nobody sent but one. */
static int note_image(struct import *import, int32_t image, int64_t time)
{
    if (image < 0 || image > 1 << 24)
        return 1;
    size_t i = (size_t)image;
    if (STROBE_ARRAY_RESERVE(import->image_frame, import->image_frame_room, i + 1) ||
        STROBE_ARRAY_RESERVE(import->image_time, import->image_time_room, i + 1))
        return 0;
    while (import->n_images <= i) {
        import->image_frame[import->n_images] = 0;
        import->image_time[import->n_images++] = 0;
    }
    import->image_frame[i] = (int32_t)import->n_main_frames; /* of the frame, + 1 */
    import->image_time[i] = time;
    return 1;
}

static enum strobe_err put_frame(void *context, int64_t start, int64_t end, int32_t image)
{
    struct import *import = context;
    struct strobe_build_track *track = main_track(import);
    if (!track)
        return STROBE_ERR_LIMIT;
    if (import->frame_is_main) {
        import->n_main_frames++;
        if (!note_image(import, image, start))
            return STROBE_ERR_NOMEM;
        if (import->n_main_frames <= import->n_start_marks)
            return STROBE_OK;
    }
    put(import, track, start,
        import->frame_is_continuous ? STROBE_KIND_FRAME_MARK : STROBE_KIND_FRAME_START,
        &import->frame_name);
    if (!import->frame_is_continuous && end >= 0)
        put(import, track, end, STROBE_KIND_FRAME_END, &import->frame_name);
    return STROBE_OK;
}

static enum strobe_err put_image(void *context, uint16_t width, uint16_t height, uint8_t flip,
                                 const uint8_t *dxt1, uint32_t n_bytes)
{
    struct import *import = context;
    uint64_t i = import->n_sections++; /* images are numbered in the order of the file */
    int known = i < import->n_images && import->image_frame[i];
    uint64_t numbers[] = {known ? (uint64_t)(import->image_frame[i] - 2) : 0, width, height, flip};
    struct strobe_build_track *track = main_track(import);
    if (!track)
        return STROBE_ERR_LIMIT;
    strobe_build_event(import->build, track, strobe_tracy_tick(known ? import->image_time[i] : 0),
                       STROBE_KIND_FRAME_IMAGE, numbers, (const char *)dxt1, n_bytes);
    return STROBE_OK;
}

/* ---- sections -------------------------------------------------------------------------------- */

static struct strobe_tracy_text text_of(const struct import *import, uint32_t index)
{
    return index ? strobe_tracy_string(&import->content, index - 1)
                 : (struct strobe_tracy_text){"", 0, 0};
}

static enum strobe_err put_section(void *context, uint16_t category, int64_t start, int64_t end,
                                   uint32_t text)
{
    struct import *import = context;
    uint64_t numbers[] = {++import->n_sections, category};
    struct strobe_build_track *track = main_track(import);
    if (!track)
        return STROBE_ERR_LIMIT;
    put_text(import, track, start, STROBE_KIND_SECTION_ENTER, numbers, text_of(import, text));
    if (end >= 0)
        put(import, track, end, STROBE_KIND_SECTION_LEAVE, numbers);
    return STROBE_OK;
}

static enum strobe_err put_section_name(void *context, uint16_t category, uint32_t text)
{
    struct import *import = context;
    struct strobe_tracy_text name = text_of(import, text);
    uint64_t number = category;
    size_t n = name.n;
    if (name.is_there)
        strobe_build_record(import->build, STROBE_META_SECTION_NAME, &number, &name.at, &n);
    return STROBE_OK;
}

/* Images count anew from here. */
static enum strobe_err begin_tables(void *context)
{
    ((struct import *)context)->n_sections = 0;
    return STROBE_OK;
}

/* ---- locks ----------------------------------------------------------------------------------- */

static enum strobe_err put_lock(void *context, const struct strobe_tracy_lock *lock)
{
    struct import *import = context;
    uint64_t numbers[] = {lock->id, strobe_tracy_import_loc(import, lock->loc)};
    uint64_t kind[] = {lock->id, lock->is_shared, strobe_tracy_tick(lock->announce)};
    uint64_t id = lock->id;
    const char *name = lock->name.at;
    size_t n = lock->name.n;
    strobe_build_record(import->build, STROBE_META_LOCK_NAME, numbers, &name, &n);
    strobe_build_record(import->build, STROBE_META_LOCK_KIND, kind, NULL, NULL);
    if (lock->terminate <= 0)
        return STROBE_OK;
    struct strobe_build_track *track = lock->n_threads
                                           ? strobe_tracy_import_track(import, lock->threads[0], 0)
                                           : main_track(import);
    if (!track)
        return STROBE_ERR_LIMIT;
    put(import, track, lock->terminate, STROBE_KIND_LOCK_GONE, &id);
    return STROBE_OK;
}

static enum strobe_err put_lock_event(void *context, const struct strobe_tracy_lock *lock,
                                      int64_t time, int16_t loc, uint8_t thread, uint8_t type)
{
    static const enum strobe_kind kinds[] = {STROBE_KIND_LOCK_WAIT, STROBE_KIND_LOCK_OBTAIN,
                                             STROBE_KIND_LOCK_RELEASE};
    struct import *import = context;
    uint64_t numbers[] = {lock->id, type >= 3};
    struct strobe_build_track *track =
        strobe_tracy_import_track(import, lock->threads[thread], time);
    if (!track)
        return STROBE_ERR_LIMIT;
    if (type >= 6)
        return STROBE_OK;
    put(import, track, time, kinds[type % 3], numbers);
    if (loc) {
        uint64_t mark[] = {lock->id, strobe_tracy_import_loc(import, loc)};
        put(import, track, time, STROBE_KIND_LOCK_MARK, mark);
    }
    return STROBE_OK;
}

/* ---- messages -------------------------------------------------------------------------------- */

static enum strobe_err hold_message(void *context, const struct strobe_tracy_message *message)
{
    struct import *import = context;
    if (STROBE_ARRAY_RESERVE(import->messages, import->messages_room, import->n_messages + 1))
        return STROBE_ERR_NOMEM;
    import->messages[import->n_messages++] = (struct held_message){*message, 0};
    return STROBE_OK;
}

static int compare_messages(const void *a, const void *b)
{
    const struct held_message *x = a, *y = b;
    return x->message.id < y->message.id ? -1 : x->message.id > y->message.id;
}

static void put_message(struct import *import, struct strobe_build_track *track,
                        struct held_message *held)
{
    const struct strobe_tracy_message *message = &held->message;
    int is_old = import->content.head.version < STROBE_TRACY_VERSION(13, 2);
    uint64_t numbers[] = {
        is_old ? 2 + 512 : (uint64_t)message->severity + (message->source ? 256 : 0),
        message->color == STROBE_TRACY_NO_COLOR ? 0 : message->color,
    };
    strobe_tracy_import_stack(import, track, message->time, message->callstack);
    put_text(import, track, message->time, STROBE_KIND_MESSAGE, numbers, message->text);
    held->is_told = 1;
    import->out->n_messages++;
    if (import->taps && import->taps->message && message->text.is_there)
        import->taps->message(import->taps->context, message->time, message->text.at,
                              message->text.n);
}

/* The track of a fiber's message: where it ran then. */
static struct strobe_build_track *message_track(struct import *import, int64_t time)
{
    if (!import->is_fiber)
        return import->track;
    for (size_t i = 0; i < import->n_runs; i++)
        if (import->runs[i].fiber == import->tid && time >= import->runs[i].start &&
            (time <= import->runs[i].end || import->runs[i].end < 0))
            return strobe_tracy_import_track(import, import->runs[i].carrier, time);
    return main_track(import);
}

static enum strobe_err put_thread_message(void *context, uint64_t id)
{
    struct import *import = context;
    struct held_message key = {.message.id = id};
    if (!import->messages_sorted && import->n_messages)
        qsort(import->messages, import->n_messages, sizeof key, compare_messages);
    import->messages_sorted = 1;
    struct held_message *held =
        import->n_messages
            ? bsearch(&key, import->messages, import->n_messages, sizeof key, compare_messages)
            : NULL;
    struct strobe_build_track *track = held ? message_track(import, held->message.time) : NULL;
    if (held && track && !held->is_told)
        put_message(import, track, held);
    return STROBE_OK;
}

/* A file lists a sample that was taken at a switch twice, first among its like and then among all of its thread. */
static int is_repeated(struct import *import, int64_t time, uint32_t callstack, int at_switch)
{
    uint64_t key = (uint64_t)time * 0x9e3779b97f4a7c15ull ^ callstack;
    uint32_t thread = (uint32_t)(import->tid ^ import->tid >> 32);
    uint32_t i =
        at_switch
            ? strobe_idmap_add_row(&import->switch_ids, thread, key, (void **)&import->n_of_switch,
                                   &import->n_of_switch_room, sizeof *import->n_of_switch)
            : strobe_idmap_find(&import->switch_ids, thread, key);
    if (i == STROBE_IDMAP_NONE)
        return 0;
    if (at_switch) {
        import->n_of_switch[i]++;
        return 0;
    }
    return import->n_of_switch[i] && import->n_of_switch[i]--;
}

static enum strobe_err put_sample(void *context, int64_t time, uint32_t callstack, int at_switch)
{
    enum { NOT_KNOWN = 65535, AT_SWITCH = 65534 }; /* the processor of a sample */
    struct import *import = context;
    if (!callstack || callstack > import->n_stacks ||
        is_repeated(import, time, callstack, at_switch))
        return STROBE_OK;
    size_t at = (size_t)import->stack_at[callstack - 1],
           n = (size_t)import->stack_at[callstack] - at;
    strobe_build_stack(import->build, import->track, strobe_tracy_tick(time), STROBE_KIND_SAMPLE,
                       at_switch ? AT_SWITCH : NOT_KNOWN, import->stack_frames + at, n);
    return STROBE_OK;
}

static enum strobe_err put_app_info(void *context, struct strobe_tracy_text text)
{
    struct import *import = context;
    struct strobe_build_track *track = main_track(import);
    if (!track)
        return STROBE_ERR_LIMIT;
    put_text(import, track, 0, STROBE_KIND_APP_INFO, NULL, text);
    return STROBE_OK;
}

/* ---- GPU ------------------------------------------------------------------------------------- */

/* The file has times that are resolved: a context whose clock is the trace's gives them back. */
static enum strobe_err begin_gpu(void *context, const struct strobe_tracy_gpu_head *gpu)
{
    struct import *import = context;
    uint64_t id = import->n_contexts++, period;
    double one = 1.0;
    memcpy(&period, &one, sizeof period);
    uint64_t numbers[] = {id, gpu->type, 0, gpu->tid, strobe_tracy_tick(0), 0, period};
    strobe_build_record(import->build, STROBE_META_GPU_CONTEXT, numbers, NULL, NULL);
    size_t n = gpu->name.n;
    if (gpu->name.is_there)
        strobe_build_record(import->build, STROBE_META_GPU_NAME, &id, &gpu->name.at, &n);
    import->gpu_tid = gpu->tid;
    import->n_queries = 0;
    import->gpu_last = 0;
    import->gpu_track = id < MAX_CONTEXTS
                            ? strobe_build_gpu(import->build, (uint8_t)id, strobe_tracy_tick(0))
        : strobe_build_thread(import->build, 1ull << 48 | id,
                                                       strobe_tracy_tick(0));
    if (import->gpu_track && strobe_build_track_id(import->gpu_track) > import->out->n_threads)
        import->out->n_threads = strobe_build_track_id(import->gpu_track);
    return import->gpu_track ? STROBE_OK : STROBE_ERR_LIMIT;
}

static enum strobe_err put_note_name(void *context, int64_t note, struct strobe_tracy_text name)
{
    struct import *import = context;
    uint64_t numbers[] = {import->n_contexts - 1, (uint64_t)note};
    size_t n = name.n;
    strobe_build_record(import->build, STROBE_META_GPU_NOTE_NAME, numbers, &name.at, &n);
    return STROBE_OK;
}

static enum strobe_err begin_gpu_thread(void *context, uint64_t tid)
{
    struct import *import = context;
    import->gpu_thread = import->gpu_tid ? 0 : tid;
    return STROBE_OK;
}

static void put_gpu_time(struct import *import, uint64_t query, int64_t at, int64_t time)
{
    uint64_t numbers[] = {import->n_contexts - 1, query, (uint64_t)time};
    if (time >= 0)
        put(import, import->gpu_track, at, STROBE_KIND_GPU_TIME, numbers);
}

static enum strobe_err begin_gpu_zone(void *context, struct strobe_tracy_gpu_zone *stack,
                                      uint32_t depth)
{
    struct import *import = context;
    struct strobe_tracy_gpu_zone *zone = &stack[depth];
    zone->tag = import->n_queries++;
    uint64_t numbers[] = {import->n_contexts - 1, zone->tag, import->gpu_thread,
                          strobe_tracy_import_loc(import, zone->loc)};
    strobe_tracy_import_stack(import, import->gpu_track, zone->cpu_start, zone->callstack);
    put(import, import->gpu_track, zone->cpu_start, STROBE_KIND_GPU_BEGIN, numbers);
    put_gpu_time(import, zone->tag, zone->cpu_start, zone->gpu_start);
    return STROBE_OK;
}

static enum strobe_err end_gpu_zone(void *context, struct strobe_tracy_gpu_zone *stack,
                                    uint32_t depth)
{
    struct import *import = context;
    struct strobe_tracy_gpu_zone *zone = &stack[depth];
    import->query_of[zone->query] = zone->tag;
    if (zone->cpu_end < 0)
        return STROBE_OK;
    uint64_t numbers[] = {import->n_contexts - 1, import->n_queries++, import->gpu_thread};
    put(import, import->gpu_track, zone->cpu_end, STROBE_KIND_GPU_END, numbers);
    put_gpu_time(import, numbers[1], zone->cpu_end, zone->gpu_end);
    import->gpu_last = zone->cpu_end;
    return STROBE_OK;
}

static enum strobe_err put_gpu_note(void *context, uint16_t query, int64_t note, double value)
{
    struct import *import = context;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t numbers[] = {import->n_contexts - 1, import->query_of[query], 0, (uint64_t)note, bits};
    put(import, import->gpu_track, import->gpu_last, STROBE_KIND_GPU_NOTE, numbers);
    return STROBE_OK;
}

/* ---- plots and memory ------------------------------------------------------------------------ */

static enum strobe_err begin_plot(void *context, const struct strobe_tracy_plot *plot)
{
    struct import *import = context;
    enum { CPU_USAGE = 2 };
    struct strobe_tracy_text name = plot->name;
    if (plot->type == CPU_USAGE)
        name = (struct strobe_tracy_text){"CPU usage", 9, 1};
    import->plot = string_id(import, name);
    uint64_t numbers[] = {import->plot, plot->format | (plot->fill ? 0u : 256u), plot->step,
                          plot->color};
    strobe_build_record(import->build, STROBE_META_PLOT_CONFIG, numbers, NULL, NULL);
    return STROBE_OK;
}

static enum strobe_err put_point(void *context, int64_t time, double value)
{
    struct import *import = context;
    uint64_t numbers[] = {import->plot, 0};
    struct strobe_build_track *track = main_track(import);
    memcpy(&numbers[1], &value, sizeof value);
    if (!track)
        return STROBE_ERR_LIMIT;
    put(import, track, time, STROBE_KIND_PLOT_DOUBLE, numbers);
    return STROBE_OK;
}

static enum strobe_err begin_pool(void *context, struct strobe_tracy_text name, uint64_t pointer,
                                  uint64_t n_events)
{
    struct import *import = context;
    (void)n_events;
    import->pool = pointer ? string_id(import, name) : 0;
    import->n_memory = 0;
    return STROBE_OK;
}

static enum strobe_err hold_alloc(void *context, const struct strobe_tracy_alloc *alloc)
{
    struct import *import = context;
    size_t i = import->n_memory;
    if (STROBE_ARRAY_RESERVE(import->memory, import->memory_room, i + 2))
        return STROBE_ERR_NOMEM;
    import->memory[import->n_memory++] = (struct memory_event){
        alloc->time, i, alloc->address, alloc->size, alloc->callstack, alloc->thread, 0};
    if (alloc->free_time >= 0)
        import->memory[import->n_memory++] = (struct memory_event){
            alloc->free_time,   i + 1, alloc->address, 0, alloc->free_callstack,
            alloc->free_thread, 1};
    return STROBE_OK;
}

static int compare_memory(const void *a, const void *b)
{
    const struct memory_event *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* A pool's events in the order of time, so that an address may be used again. */
static enum strobe_err put_pool(void *context)
{
    struct import *import = context;
    if (import->n_memory)
        qsort(import->memory, import->n_memory, sizeof *import->memory, compare_memory);
    for (size_t i = 0; i < import->n_memory; i++) {
        const struct memory_event *event = &import->memory[i];
        uint64_t numbers[] = {import->pool, event->address, event->size};
        uint64_t tid = strobe_tracy_thread_id(&import->content, event->thread);
        struct strobe_build_track *track =
            tid ? strobe_tracy_import_track(import, tid, event->time) : main_track(import);
        if (!track)
            return STROBE_ERR_LIMIT;
        strobe_tracy_import_stack(import, track, event->time, event->callstack);
        put(import, track, event->time,
            event->is_free ? STROBE_KIND_MEM_FREE : STROBE_KIND_MEM_ALLOC, numbers);
    }
    return STROBE_OK;
}

/* ---- what the system did --------------------------------------------------------------------- */

static enum strobe_err put_frame_symbol(void *context, const struct strobe_tracy_frame *frame)
{
    struct import *import = context;
    uint64_t numbers[] = {strobe_tracy_address(frame->id), frame->inlined, frame->line,
                          frame->symbol};
    const char *texts[] = {frame->name.at, frame->file.at, frame->image.at};
    size_t sizes[] = {frame->name.n, frame->file.n, frame->image.n};
    strobe_build_record(import->build, STROBE_META_SYMBOL, numbers, texts, sizes);
    return STROBE_OK;
}

/* Runs of a fiber are where its zones are. */
static enum strobe_err put_switch(void *context, const struct strobe_tracy_switch *run)
{
    struct import *import = context;
    for (size_t i = 0; i < import->n_fibers; i++)
        if (import->fibers[i] == run->thread)
            return STROBE_OK;
    struct strobe_build_track *track = strobe_tracy_import_track(import, run->thread, run->start);
    if (!track)
        return STROBE_ERR_LIMIT;
    if (run->wakeup < run->start) {
        uint64_t wakeup[] = {run->thread, run->wakeup_cpu, 0, 0};
        put(import, track, run->wakeup, STROBE_KIND_WAKEUP, wakeup);
    }
    uint64_t in[] = {run->cpu, 0}, out[] = {run->cpu, (uint8_t)run->reason};
    put(import, track, run->start, STROBE_KIND_SWITCH_IN, in);
    if (run->end >= run->start && run->end != STROBE_TRACY_OPEN)
        put(import, track, run->end, STROBE_KIND_SWITCH_OUT, out);
    return STROBE_OK;
}

static enum strobe_err put_cpu_run(void *context, uint8_t cpu, int64_t start, int64_t end,
                                   uint64_t tid)
{
    struct import *import = context;
    uint64_t in[] = {cpu, 0, tid, 0, 0, 0, 0, 0}, out[] = {cpu, tid, 0, 0, 0, 0, 0, 0};
    struct strobe_build_track *track = strobe_tracy_import_track(import, 0, start);
    if (!track)
        return STROBE_ERR_LIMIT;
    put(import, track, start, STROBE_KIND_CPU_SWITCH, in);
    if (end >= start && end != STROBE_TRACY_OPEN)
        put(import, track, end, STROBE_KIND_CPU_SWITCH, out);
    return STROBE_OK;
}

static enum strobe_err put_hw_sample(void *context, uint64_t address, uint32_t counter,
                                     int64_t time)
{
    struct import *import = context;
    uint64_t numbers[] = {counter, address};
    struct strobe_build_track *track = strobe_tracy_import_track(import, 0, time);
    if (!track)
        return STROBE_ERR_LIMIT;
    put(import, track, time, STROBE_KIND_HW_SAMPLE, numbers);
    return STROBE_OK;
}

static enum strobe_err put_function(void *context, const struct strobe_tracy_function *function)
{
    struct import *import = context;
    uint64_t numbers[] = {function->start, function->size, function->line, function->call_line,
                          function->is_inline};
    const char *texts[] = {function->name.at, function->file.at, function->image.at,
                           function->call_file.at};
    size_t sizes[] = {function->name.n, function->file.n, function->image.n, function->call_file.n};
    strobe_build_record(import->build, STROBE_META_FUNCTION, numbers, texts, sizes);
    return STROBE_OK;
}

static enum strobe_err put_code(void *context, const struct strobe_tracy_piece *piece)
{
    struct import *import = context;
    uint64_t numbers[] = {piece->start, piece->offset, piece->total};
    const char *bytes = (const char *)piece->bytes;
    size_t n = piece->n_bytes;
    strobe_build_record(import->build, STROBE_META_CODE, numbers, &bytes, &n);
    return STROBE_OK;
}

static enum strobe_err put_source(void *context, const struct strobe_tracy_piece *piece)
{
    struct import *import = context;
    uint64_t numbers[] = {piece->offset, piece->total};
    const char *texts[] = {piece->path, (const char *)piece->bytes};
    size_t sizes[] = {piece->n_path, piece->n_bytes};
    strobe_build_record(import->build, STROBE_META_SOURCE_FILE, numbers, texts, sizes);
    return STROBE_OK;
}

void strobe_tracy_import_set_events(struct strobe_tracy_visitor *visitor)
{
    visitor->cpu = put_cpu;
    visitor->crash = put_crash;
    visitor->foreign = hold_foreign;
    visitor->tid_pid = put_pid;
    visitor->frame_set = begin_frames;
    visitor->frame = put_frame;
    visitor->image = put_image;
    visitor->section = put_section;
    visitor->section_name = put_section_name;
    visitor->tables = begin_tables;
    visitor->lock = put_lock;
    visitor->lock_event = put_lock_event;
    visitor->message = hold_message;
    visitor->thread_message = put_thread_message;
    visitor->sample = put_sample;
    visitor->app_info = put_app_info;
    visitor->gpu = begin_gpu;
    visitor->gpu_note_name = put_note_name;
    visitor->gpu_thread = begin_gpu_thread;
    visitor->gpu_begin = begin_gpu_zone;
    visitor->gpu_end = end_gpu_zone;
    visitor->gpu_note = put_gpu_note;
    visitor->plot = begin_plot;
    visitor->plot_point = put_point;
    visitor->pool = begin_pool;
    visitor->alloc = hold_alloc;
    visitor->pool_end = put_pool;
    visitor->stack_frame = put_frame_symbol;
    visitor->context_switch = put_switch;
    visitor->cpu_run = put_cpu_run;
    visitor->hw_sample = put_hw_sample;
    visitor->function = put_function;
    visitor->code = put_code;
    visitor->source = put_source;
}

enum strobe_err strobe_tracy_import_finish(struct import *import)
{
    struct strobe_build_track *track = import->n_messages ? main_track(import) : NULL;
    for (size_t i = 0; i < import->n_messages && track; i++)
        if (!import->messages[i].is_told)
            put_message(import, track, &import->messages[i]);
    for (size_t i = 0; i < import->n_foreign; i++)
        if (!import->foreign[i].is_told)
            put_foreign(import, &import->foreign[i], 0);
    return STROBE_OK;
}
