/* host.c - opening, running, tracing, reading and closing devices: the calls of include/strobe/device.h, each of which becomes a
 * task of the worker.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "device_host/records.h"
#include "device_qemu/qemu.h"
#include "device_sim/sim.h"
#include "strobe/strobe.h"

#define FRAME_BYTES (4 * 8192)
#define ENQUEUE_NS  4000 /* what a launch costs the host, on a virtual clock */
#define FINISH_NS   2000

/* ---- warnings and frames ---- */

static void warn(void *context, const char *sentence)
{
    struct strobe_device *device = context;
    if (device->words)
        device->words(device->words_context, sentence);
    else
        fprintf(stderr, "strobe: %s\n", sentence);
}

static enum strobe_err put(void *context, const uint32_t *words, size_t n_words)
{
    return strobe_host_spool_put(context, words, n_words);
}

/* ---- open and close ---- */

static void free_device(struct strobe_device *device)
{
    for (uint32_t i = 0; i < device->n_traces; i++) {
        for (uint32_t j = 0; j < device->traces[i].n_steps; j++)
            strobe_device_job_release(device->traces[i].steps[j].job);
        free(device->traces[i].steps);
    }
    for (uint32_t i = 0; i < device->n_named; i++)
        free(device->named[i]);
    free(device->named);
    free(device->traces);
    free(device->dram.pieces);
    free(device->l1.pieces);
    free(device->facts);
    free(device->frame);
    free((void *)(uintptr_t)device->setup.options.kernel_dir);
    free((void *)(uintptr_t)device->setup.options.include_dirs);
    free((void *)(uintptr_t)device->setup.options.cache_dir);
    free((void *)(uintptr_t)device->setup.options.compiler);
    pthread_mutex_destroy(&device->lock);
    free(device);
}

static enum strobe_device_result copy_options(struct strobe_device *device,
                                              const struct strobe_device_options *options)
{
    struct strobe_device_options *mine = &device->setup.options;
    *mine = *options;
    mine->backend = device->backend->name;
    mine->kernel_dir = options->kernel_dir ? strdup(options->kernel_dir) : NULL;
    mine->include_dirs = options->include_dirs ? strdup(options->include_dirs) : NULL;
    mine->cache_dir = options->cache_dir ? strdup(options->cache_dir) : NULL;
    mine->compiler = options->compiler ? strdup(options->compiler) : NULL;
    if ((options->kernel_dir && !mine->kernel_dir) || (options->cache_dir && !mine->cache_dir) ||
        (options->include_dirs && !mine->include_dirs) || (options->compiler && !mine->compiler))
        return strobe_host_fail(STROBE_DEVICE_NOMEM, "no memory for a device");
    return STROBE_DEVICE_OK;
}

static enum strobe_device_result check_options(const struct strobe_device_options *options,
                                               uint32_t index,
                                               const struct strobe_device_backend **backend)
{
    if (options->bytes != sizeof *options)
        return strobe_host_fail(
            STROBE_DEVICE_INVALID,
            "options of another version: call strobe_device_options_init first");
    const struct strobe_device_backend *const backends[] = {strobe_sim_backend(),
                                                            strobe_qemu_backend()};
    const char *name = options->backend ? options->backend : backends[0]->name;
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
        if (strcmp(backends[i]->name, name) == 0)
            *backend = backends[i];
    if (!*backend)
        return strobe_host_fail(STROBE_DEVICE_NOTFOUND,
                                "no backend %s: there are sim and qemu (STROBE_DEVICE_BACKEND)",
                                name);
    return index < options->n_devices ? STROBE_DEVICE_OK
                                      : strobe_host_fail(STROBE_DEVICE_NOTFOUND, "device %u of %u",
                                                         index, options->n_devices);
}

struct opening {
    struct strobe_device *device;
    enum strobe_err err;
    char reason[STROBE_DEVICE_REASON_BYTES];
};

static void do_open(void *context)
{
    struct opening *opening = context;
    struct strobe_device *device = opening->device;
    opening->err = device->backend->open(&device->setup, &device->unit, opening->reason);
    if (opening->err)
        return;
    device->dram = (struct strobe_host_map){.first = device->backend->dram_first(device->unit),
                                            .end = (uint64_t)device->setup.options.bank_mib << 20};
    device->l1 = (struct strobe_host_map){.first = device->backend->l1_first,
                                          .end = device->backend->l1_end};
    strobe_host_record_open(device);
    strobe_host_spool_open(device);
    strobe_host_files_open(device);
    strobe_frames_hello(device);
    strobe_host_link_open(device);
    strobe_records_open(device);
}

enum strobe_device_result strobe_device_open(const struct strobe_device_options *options,
                                             uint32_t index, struct strobe_device **out)
{
    static _Atomic uint64_t last_number;
    struct strobe_device_options defaults;
    *out = NULL;
    enum strobe_device_result result =
        options ? STROBE_DEVICE_OK : strobe_device_options_init(&defaults);
    const struct strobe_device_backend *backend = NULL;
    if (!result)
        result = check_options(options ? options : &defaults, index, &backend);
    if (result)
        return result;
    struct strobe_device *device = calloc(1, sizeof *device);
    struct opening *opening = calloc(1, sizeof *opening);
    if (!device || !opening) {
        free(device);
        free(opening);
        return strobe_host_fail(STROBE_DEVICE_NOMEM, "no memory for a device");
    }
    pthread_mutex_init(&device->lock, NULL);
    device->backend = backend;
    device->kept_fd = -1;
    device->number = ++last_number;
    device->sink = (struct strobe_device_sink){.context = device, .put = put};
    device->setup = (struct strobe_device_setup){
        .index = index, .sink = &device->sink, .warn = warn, .warn_context = device};
    device->frame = malloc(FRAME_BYTES);
    result = device->frame ? copy_options(device, options ? options : &defaults)
                           : strobe_host_fail(STROBE_DEVICE_NOMEM, "no memory");
    if (!result)
        result = strobe_worker_open();
    if (!result) {
        opening->device = device;
        strobe_worker_call(do_open, opening);
        if (opening->err) {
            result = strobe_host_fail(strobe_host_result(opening->err), "%s",
                                      *opening->reason ? opening->reason
                                                       : strobe_err_text(opening->err));
            strobe_worker_close();
        }
    }
    free(opening);
    if (result)
        free_device(device);
    else
        *out = device;
    return result;
}

static void do_close(void *context)
{
    struct strobe_device *device = context;
    strobe_frames_clocks(device, 1);
    strobe_frames_sync(device);
    device->backend->drain(device->unit);
    strobe_host_link_close(device);
    strobe_host_leaks(device);
    strobe_host_spool_pump(device);
    strobe_host_record_end(device);
    strobe_frames_bye(device, STROBE_BYE_CLOSED);
    strobe_records_close(device);
    strobe_host_spool_close(device); /* what is left in it is missing: the counts say so */
    strobe_host_record_close(device);
    strobe_host_files_close(device);
}

static void do_close_unit(void *context)
{
    struct strobe_device *device = context;
    device->backend->close(device->unit);
}

void strobe_device_close(struct strobe_device *device)
{
    if (!device)
        return;
    strobe_worker_call(do_close, device);
    strobe_worker_call(do_close_unit, device);
    strobe_worker_close();
    for (uint32_t i = 0; i < STROBE_HOST_MAX_LISTENERS; i++)
        strobe_host_queue_close(device->listeners[i].queue);
    free_device(device);
}

void strobe_device_describe(const struct strobe_device *device, struct strobe_device_info *info)
{
    const struct strobe_device_options *options = &device->setup.options;
    *info = (struct strobe_device_info){.index = device->setup.index,
                                        .grid_x = options->grid_x,
                                        .grid_y = options->grid_y,
                                        .n_cores = device->n_cores,
                                        .n_banks = options->n_banks,
                                        .l1_bytes = device->backend->l1_end,
                                        .bank_bytes = (uint64_t)options->bank_mib << 20,
                                        .frequency_mhz = options->frequency_mhz,
                                        .mode = options->mode};
}

enum strobe_device_result strobe_device_physical(const struct strobe_device *device,
                                                 uint32_t logical_x, uint32_t logical_y,
                                                 uint32_t *x, uint32_t *y)
{
    struct strobe_device_core_place place;
    for (uint32_t i = 0; !device->backend->core(device->unit, i, &place); i++)
        if (place.kind == STROBE_CORE_WORKER && place.logical_x == logical_x &&
            place.logical_y == logical_y) {
            *x = place.x;
            *y = place.y;
            return STROBE_DEVICE_OK;
        }
    return strobe_host_fail(STROBE_DEVICE_INVALID, "no worker %u,%u", logical_x, logical_y);
}

struct resetting {
    struct strobe_device *device;
    enum strobe_err err;
};

static void do_reset(void *context)
{
    struct resetting *resetting = context;
    struct strobe_device *device = resetting->device;
    strobe_host_link_close(device);
    strobe_host_spool_pump(device);
    strobe_host_spool_close(device); /* its words are of clocks that end here */
    strobe_host_spool_open(device);
    strobe_frames_totals(device); /* what is in the rings is gone: readers know how much that is */
    strobe_host_files_dump(
        device); /* clocks begin anew: later times are not to be sorted among these */
    resetting->err = device->backend->reset(device->unit);
    device->epoch++;
    device->n_facts = 0;
    device->status = STROBE_DEVICE_OK;
    for (uint32_t i = 0; i < device->n_named; i++)
        free(device->named[i]);
    device->n_named = 0;
    strobe_frames_hello(device);
    strobe_host_link_open(device);
}

enum strobe_device_result strobe_device_reset(struct strobe_device *device)
{
    struct resetting resetting = {.device = device};
    strobe_worker_call(do_reset, &resetting);
    return resetting.err ? strobe_host_fail(strobe_host_result(resetting.err),
                                            "the device did not come back: %s",
                                            strobe_err_text(resetting.err))
                         : STROBE_DEVICE_OK;
}

/* ---- launches ---- */

struct launch {
    struct strobe_device *device;
    struct strobe_device_job *job; /* shared: one reference */
    struct strobe_job_launch run;
    uint32_t trace, tid;
    uint64_t flow;
};

static void do_launch(void *context)
{
    struct launch *launch = context;
    struct strobe_device *device = launch->device;
    char reason[STROBE_DEVICE_REASON_BYTES] = "";
    struct strobe_job_span span = {0};
    launch->run.job = launch->job;
    launch->run.span = &span;
    strobe_records_describe(device);
    strobe_frames_clocks(device, 0);
    strobe_frames_launch(device, launch->job, &launch->run, launch->trace, launch->flow,
                         launch->tid);
    enum strobe_err err = device->backend->run(device->unit, &launch->run, reason);
    strobe_frames_firmware(device);
    strobe_records_run(device, launch->job, launch->run.runtime_id, &span);
    if (err && !device->status) {
        device->status = strobe_host_result(err);
        memcpy(device->reason, reason, sizeof reason);
    }
    strobe_device_job_release(launch->job);
    free(launch);
}

static enum strobe_device_result
push_launch(struct strobe_device *device, struct strobe_device_job *job, const struct launch *what)
{
    struct launch *launch = malloc(sizeof *launch);
    if (!launch) {
        strobe_device_job_release(job);
        return strobe_host_fail(STROBE_DEVICE_NOMEM, "no memory for a launch");
    }
    *launch = *what;
    launch->device = device;
    launch->job = job;
    launch->tid = (uint32_t)syscall(SYS_gettid);
    launch->run.host_ns = strobe_worker_host_ns(device, ENQUEUE_NS);
    return strobe_worker_push(do_launch, launch);
}

static enum strobe_device_result capture(struct strobe_device *device,
                                         struct strobe_device_job *job, uint32_t runtime_id)
{
    struct strobe_host_trace *trace = &device->traces[device->capturing - 1];
    struct strobe_host_step *step = STROBE_ARRAY_PUSH(trace->steps, trace->n_steps, trace->room);
    if (!step) {
        strobe_device_job_release(job);
        return strobe_host_fail(STROBE_DEVICE_NOMEM, "no memory for a trace");
    }
    *step = (struct strobe_host_step){.job = job, .runtime_id = runtime_id};
    return STROBE_DEVICE_OK;
}

enum strobe_device_result strobe_device_enqueue(struct strobe_device *device,
                                                struct strobe_program *program,
                                                const struct strobe_launch *launch)
{
    STROBE_SCOPE("EnqueueProgram");
    strobe_host_tell_unmarked(device);
    struct strobe_device_job *job = NULL;
    enum strobe_device_result result = strobe_program_job(program, device, &job);
    if (result)
        return result;
    uint32_t id =
        launch && launch->runtime_id ? launch->runtime_id : strobe_program_number(program);
    pthread_mutex_lock(&device->lock);
    int captures = device->capturing != 0;
    if (captures)
        result = capture(device, job, id);
    pthread_mutex_unlock(&device->lock);
    if (captures)
        return result;
    return push_launch(
        device, job,
        &(struct launch){.run = {.runtime_id = id},
                         .trace = UINT32_MAX,
                         .flow = launch && launch->flow ? launch->flow : strobe_host_flow(device)});
}

struct finishing {
    struct strobe_device *device;
    enum strobe_device_result result;
    uint64_t idle_ns;
    int reads;
};

static void do_finish(void *context)
{
    struct finishing *finishing = context;
    struct strobe_device *device = finishing->device;
    strobe_records_describe(device);
    strobe_frames_clocks(device, 0);
    enum strobe_err err = STROBE_OK;
    if (finishing->reads || device->setup.options.mode == STROBE_DEVICE_MODE_STREAMING)
        err = device->backend->drain(device->unit);
    strobe_host_spool_pump(device);
    if (finishing->reads && device->setup.options.record & STROBE_DEVICE_RECORD_MID_RUN)
        strobe_host_files_dump(device);
    finishing->idle_ns = device->backend->idle_since(device->unit);
    finishing->result = device->status ? device->status : strobe_host_result(err);
    device->status = STROBE_DEVICE_OK;
}

enum strobe_device_result strobe_device_finish(struct strobe_device *device)
{
    STROBE_SCOPE("Finish");
    struct finishing finishing = {.device = device};
    strobe_worker_call(do_finish, &finishing);
    strobe_worker_reach_ns(device, finishing.idle_ns);
    strobe_worker_host_ns(device, FINISH_NS);
    return finishing.result ? strobe_host_fail(finishing.result, "%s", device->reason)
                            : STROBE_DEVICE_OK;
}

enum strobe_device_result strobe_device_read(struct strobe_device *device)
{
    struct finishing finishing = {.device = device, .reads = 1};
    strobe_worker_call(do_finish, &finishing);
    return finishing.result ? strobe_host_fail(finishing.result, "%s", device->reason)
                            : STROBE_DEVICE_OK;
}

/* ---- traces ---- */

static enum strobe_device_result no_trace(uint32_t trace)
{
    return strobe_host_fail(STROBE_DEVICE_NOTFOUND, "no trace %u, or it is not ready for this",
                            trace);
}

enum strobe_device_result strobe_device_trace_begin(struct strobe_device *device, uint32_t *trace)
{
    enum strobe_device_result result = STROBE_DEVICE_OK;
    pthread_mutex_lock(&device->lock);
    struct strobe_host_trace *slot =
        device->capturing
            ? NULL
            : STROBE_ARRAY_PUSH(device->traces, device->n_traces, device->room_traces);
    if (device->capturing)
        result = strobe_host_fail(STROBE_DEVICE_INVALID, "trace %u is still being captured",
                                  device->capturing - 1);
    else if (!slot)
        result = strobe_host_fail(STROBE_DEVICE_NOMEM, "no memory for a trace");
    if (slot) {
        *slot = (struct strobe_host_trace){.id = device->n_traces};
        *trace = device->n_traces - 1;
        device->capturing = device->n_traces;
    }
    pthread_mutex_unlock(&device->lock);
    return result;
}

enum strobe_device_result strobe_device_trace_end(struct strobe_device *device, uint32_t trace)
{
    pthread_mutex_lock(&device->lock);
    int ok = device->capturing == trace + 1;
    if (ok)
        device->capturing = 0;
    pthread_mutex_unlock(&device->lock);
    return ok ? STROBE_DEVICE_OK : no_trace(trace);
}

enum strobe_device_result strobe_device_trace_replay(struct strobe_device *device, uint32_t trace)
{
    STROBE_SCOPE("ReplayTrace");
    pthread_mutex_lock(&device->lock);
    int ok = trace < device->n_traces && device->traces[trace].id && device->capturing != trace + 1;
    uint32_t n = ok ? device->traces[trace].n_steps : 0, replay = device->n_replays += (uint32_t)ok;
    pthread_mutex_unlock(&device->lock);
    enum strobe_device_result result = ok ? STROBE_DEVICE_OK : no_trace(trace);
    for (uint32_t i = 0; i < n && !result; i++) {
        pthread_mutex_lock(&device->lock);
        struct strobe_host_step step = device->traces[trace].steps[i];
        step.job->n_references++;
        pthread_mutex_unlock(&device->lock);
        struct launch launch = {.run = {.runtime_id = step.runtime_id,
                                        .trace_counter = replay,
                                        .first_of_replay = i == 0},
                                .trace = trace,
                                .flow = strobe_host_flow(device)};
        result = push_launch(device, step.job, &launch);
    }
    return result;
}

enum strobe_device_result strobe_device_trace_free(struct strobe_device *device, uint32_t trace)
{
    pthread_mutex_lock(&device->lock);
    int ok = trace < device->n_traces && device->traces[trace].id && device->capturing != trace + 1;
    if (ok) {
        struct strobe_host_trace *it = &device->traces[trace];
        for (uint32_t i = 0; i < it->n_steps; i++)
            strobe_device_job_release(it->steps[i].job);
        free(it->steps);
        *it = (struct strobe_host_trace){0};
    }
    pthread_mutex_unlock(&device->lock);
    return ok ? STROBE_DEVICE_OK : no_trace(trace);
}

/* ---- listeners ---- */

struct listening {
    struct strobe_device *device;
    struct strobe_host_listener listener;
    uint32_t handle;
    int failed;
};

static void do_listen(void *context)
{
    struct listening *listening = context;
    struct strobe_device *device = listening->device;
    uint32_t i = 0;
    while (i < STROBE_HOST_MAX_LISTENERS && device->listeners[i].frames)
        i++;
    listening->failed = i == STROBE_HOST_MAX_LISTENERS;
    if (listening->failed)
        return;
    listening->handle = i;
    device->listeners[i] = listening->listener;
    if (device->n_facts &&
        listening->listener.frames(listening->listener.context, device->facts, device->n_facts))
        device->listeners[i].n_dropped += device->n_facts;
    strobe_frames_clocks(device, 1);
}

enum strobe_device_result strobe_device_listen(struct strobe_device *device,
                                               strobe_device_frames *frames, void *context,
                                               uint32_t *handle)
{
    struct listening listening = {.device = device,
                                  .listener = {.frames = frames, .context = context}};
    strobe_worker_call(do_listen, &listening);
    *handle = listening.handle;
    return listening.failed
               ? strobe_host_fail(STROBE_DEVICE_NOSPACE, "a device has at most %d listeners",
                                  STROBE_HOST_MAX_LISTENERS)
               : STROBE_DEVICE_OK;
}

enum strobe_device_result strobe_device_listen_apart(struct strobe_device *device,
                                                     strobe_device_frames *frames, void *context,
                                                     size_t queue_bytes, uint32_t *handle)
{
    struct strobe_host_queue *queue = strobe_host_queue_open(frames, context, queue_bytes);
    if (!queue)
        return strobe_host_fail(STROBE_DEVICE_NOMEM, "no memory for a listener's thread");
    struct listening listening = {.device = device, .listener = strobe_host_queue_listener(queue)};
    strobe_worker_call(do_listen, &listening);
    *handle = listening.handle;
    if (!listening.failed)
        return STROBE_DEVICE_OK;
    strobe_host_queue_close(queue);
    return strobe_host_fail(STROBE_DEVICE_NOSPACE, "a device has at most %d listeners",
                            STROBE_HOST_MAX_LISTENERS);
}

static void do_unlisten(void *context)
{
    struct listening *listening = context;
    if (listening->handle >= STROBE_HOST_MAX_LISTENERS)
        return;
    listening->listener = listening->device->listeners[listening->handle];
    listening->device->listeners[listening->handle] = (struct strobe_host_listener){0};
}

void strobe_device_unlisten(struct strobe_device *device, uint32_t handle)
{
    struct listening listening = {.device = device, .handle = handle};
    strobe_worker_call(do_unlisten, &listening);
    strobe_host_queue_close(listening.listener.queue);
}

static void do_missed(void *context)
{
    struct listening *listening = context;
    if (listening->handle < STROBE_HOST_MAX_LISTENERS)
        listening->listener = listening->device->listeners[listening->handle];
}

uint64_t strobe_device_listen_missed(struct strobe_device *device, uint32_t handle)
{
    struct listening listening = {.device = device, .handle = handle};
    strobe_worker_call(do_missed, &listening);
    return listening.listener.n_dropped;
}

struct warning {
    struct strobe_device *device;
    strobe_device_words *words;
    void *context;
};

static void do_warn(void *context)
{
    struct warning *warning = context;
    warning->device->words = warning->words;
    warning->device->words_context = warning->context;
}

void strobe_device_warn(struct strobe_device *device, strobe_device_words *words, void *context)
{
    strobe_worker_call(do_warn, &(struct warning){device, words, context});
}

struct counting {
    struct strobe_device *device;
    uint32_t x, y, risc;
    struct strobe_lane_total total;
    enum strobe_err err;
};

static void do_count(void *context)
{
    struct counting *counting = context;
    struct strobe_device_core_place place;
    counting->err = STROBE_ERR_NOTFOUND;
    for (uint32_t i = 0; !counting->device->backend->core(counting->device->unit, i, &place); i++)
        if (place.x == counting->x && place.y == counting->y)
            counting->err = counting->device->backend->count(counting->device->unit, i,
                                                             counting->risc, &counting->total);
}

enum strobe_device_result strobe_device_count_read(struct strobe_device *device, uint32_t x,
                                                   uint32_t y, uint32_t risc,
                                                   struct strobe_device_count *count)
{
    struct counting counting = {.device = device, .x = x, .y = y, .risc = risc};
    strobe_worker_call(do_count, &counting);
    const struct strobe_lane_total *total = &counting.total;
    *count = (struct strobe_device_count){
        .n_emitted = (uint64_t)total->emitted_high << 32 | total->emitted_low,
        .n_dropped = (uint64_t)total->dropped_high << 32 | total->dropped_low,
        .n_stalls = total->n_stalls};
    return counting.err
               ? strobe_host_fail(STROBE_DEVICE_NOTFOUND, "no RISC %u of a core %u,%u", risc, x, y)
               : STROBE_DEVICE_OK;
}
