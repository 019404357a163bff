/* opencl.c - libstrobe-opencl: a layer of OpenCL's loaders (OPENCL_LAYERS), over any platform. Calls of the host are zones; kernels, copies and
 * fills are zones of a GPU context per queue, with the device's own times.
 *
 * A queue is made with profiling on. A command gets an event, the program's or one of ours, and a callback for its completion, where its
 * times are asked for and everything about it is emitted: begin, end, both times, notes.
 *
 *   the device's clock   one of the host's, if the first command was queued between two readings of it (PoCL: CLOCK_MONOTONIC_RAW); its
 *                        distance to the trace's clock is read anew ten times a second. Else: when a command was queued lies
 *                        within the host's call, and the shortest call tells best
 *
 * Runs inside the traced program: never prints, never exits; where memory is missing, a command is not recorded.
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "layers/names.h"
#include "layers/opencl_abi.h"
#include "strobe/facade.h"

enum { MAX_QUEUES = 256, NAME_BYTES = 256, SYNC_NS = 100000000 };

static strobe_cl_function target[STROBE_CL_TABLE_MAX], ours[STROBE_CL_TABLE_MAX];

#define TARGET(function, ...) ((int (*)(__VA_ARGS__))target[STROBE_CL_##function])

/* ---- clocks ---- */

static const clockid_t clocks[] = {CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC, CLOCK_REALTIME,
                                   CLOCK_BOOTTIME};
enum { N_CLOCKS = sizeof clocks / sizeof clocks[0], NO_CLOCK = -1 };

static uint64_t read_clock(int which)
{
    struct timespec now;
    clock_gettime(clocks[which], &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* What the host's clocks said around a call, and the trace's. */
struct reading {
    uint64_t tick;
    uint64_t ns[N_CLOCKS];
};

static struct reading read_clocks(void)
{
    struct reading reading;
    reading.tick = strobe_clock_now();
    for (int i = 0; i < N_CLOCKS; i++)
        reading.ns[i] = read_clock(i);
    return reading;
}

/* ---- queues ---- */

struct queue {
    strobe_cl_object handle; /* borrowed, compared only; NULL: free */
    uint64_t context, n_queries;
    int clock;          /* index of clocks; NO_CLOCK: by the calls */
    int is_known;       /* the context was announced */
    uint64_t synced_ns; /* on `clock`, when its distance was read last */
    uint64_t best_ns;   /* of the shortest call so far, without a clock */
    char name[NAME_BYTES];
};

static struct queue queues[MAX_QUEUES];
static uint32_t n_queues;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* The queue of a handle; the last one that was made with it. Under the mutex. */
static struct queue *find_queue(strobe_cl_object handle)
{
    for (uint32_t i = n_queues; i-- > 0;)
        if (queues[i].handle == handle)
            return &queues[i];
    return NULL;
}

static void add_queue(strobe_cl_object handle, strobe_cl_object device)
{
    char name[NAME_BYTES / 2] = "device";
    if (!handle)
        return;
    TARGET(clGetDeviceInfo, strobe_cl_object, uint32_t, size_t, void *, size_t *)
    (device, STROBE_CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    name[sizeof name - 1] = 0;
    pthread_mutex_lock(&mutex);
    struct queue *queue = find_queue(handle); /* its number was given back, and is used again */
    if (!queue && n_queues < MAX_QUEUES)
        queue = &queues[n_queues++];
    if (queue) {
        uint64_t context = strobe_gpu_context_number();
        *queue = (struct queue){.handle = handle, .context = context, .clock = NO_CLOCK};
        queue->best_ns = UINT64_MAX;
        snprintf(queue->name, sizeof queue->name, "OpenCL queue %llu, %s",
                 (unsigned long long)context, name);
    }
    pthread_mutex_unlock(&mutex);
}

static strobe_cl_object create_queue(strobe_cl_object context, strobe_cl_object device,
                                     uint64_t properties, int32_t *error)
{
    strobe_cl_object (*call)(strobe_cl_object, strobe_cl_object, uint64_t, int32_t *) =
        (strobe_cl_object(*)(strobe_cl_object, strobe_cl_object, uint64_t,
                             int32_t *))target[STROBE_CL_clCreateCommandQueue];
    strobe_cl_object made = call(context, device, properties | STROBE_CL_QUEUE_PROFILING, error);
    if (!made)
        return call(context, device, properties, error); /* one that can't: not seen */
    add_queue(made, device);
    return made;
}

/* Pairs up to a 0, with profiling among them; `out` has room for one more. */
static void add_profiling(const uint64_t *from, uint64_t *out, size_t room)
{
    size_t n = 0;
    int is_there = 0;
    for (; from && from[n] && n + 3 < room; n += 2) {
        out[n] = from[n];
        out[n + 1] = from[n + 1];
        if (from[n] == STROBE_CL_QUEUE_PROPERTIES) {
            out[n + 1] |= STROBE_CL_QUEUE_PROFILING;
            is_there = 1;
        }
    }
    if (!is_there) {
        out[n++] = STROBE_CL_QUEUE_PROPERTIES;
        out[n++] = STROBE_CL_QUEUE_PROFILING;
    }
    out[n] = 0;
}

static strobe_cl_object create_queue_with(strobe_cl_object context, strobe_cl_object device,
                                          const uint64_t *properties, int32_t *error)
{
    strobe_cl_object (*call)(strobe_cl_object, strobe_cl_object, const uint64_t *, int32_t *) =
        (strobe_cl_object(*)(strobe_cl_object, strobe_cl_object, const uint64_t *,
                             int32_t *))target[STROBE_CL_clCreateCommandQueueWithProperties];
    uint64_t more[67];
    add_profiling(properties, more, sizeof more / sizeof more[0]);
    strobe_cl_object made = call(context, device, more, error);
    if (!made)
        return call(context, device, properties, error);
    add_queue(made, device);
    return made;
}

/* ---- commands ---- */

/* A command on its way: made by the call, freed when it is complete. */
struct command {
    strobe_cl_object queue; /* borrowed, compared only */
    struct strobe_loc *loc; /* kept for the process's life */
    struct reading before, after;
};

static uint64_t profiling(strobe_cl_object event, uint32_t what)
{
    uint64_t ns = 0;
    int err = TARGET(clGetEventProfilingInfo, strobe_cl_object, uint32_t, size_t, void *,
                     size_t *)(event, what, sizeof ns, &ns, NULL);
    return err ? 0 : ns;
}

/* Which clock the device's times are of: the one that the command was queued on within the call. */
static int find_clock(const struct command *command, uint64_t queued)
{
    for (int i = 0; i < N_CLOCKS; i++)
        if (queued >= command->before.ns[i] && queued <= command->after.ns[i])
            return i;
    return NO_CLOCK;
}

static void announce(struct queue *queue, const struct command *command, uint64_t queued)
{
    static const char *const notes[] = {"queued before its start, ns",
                                        "submitted before its start, ns"};
    queue->clock = find_clock(command, queued);
    struct strobe_gpu_context context = {.context = queue->context,
                                         .type = STROBE_GPU_OPENCL,
                                         .tid = 1,
                                         .tick = (command->before.tick + command->after.tick) / 2,
                                         .time = (int64_t)queued,
                                         .period_ns = 1};
    strobe_gpu_context_new(&context);
    strobe_gpu_context_name(queue->context, queue->name, strlen(queue->name));
    for (uint64_t i = 0; i < 2; i++)
        strobe_gpu_note_name(queue->context, i + 1, notes[i], strlen(notes[i]));
    queue->is_known = 1;
}

/* Tell the trace where the device's clock is now. */
static void sync_clock(struct queue *queue, const struct command *command, uint64_t queued)
{
    if (queue->clock != NO_CLOCK) {
        uint64_t tick = strobe_clock_now(), ns = read_clock(queue->clock);
        if (ns - queue->synced_ns < SYNC_NS)
            return;
        queue->synced_ns = ns;
        strobe_gpu_sync(queue->context, (int64_t)ns, tick);
        return;
    }
    uint64_t call_ns = command->after.ns[0] - command->before.ns[0];
    if (call_ns >= queue->best_ns)
        return;
    queue->best_ns = call_ns;
    strobe_gpu_sync(queue->context, (int64_t)queued,
                    (command->before.tick + command->after.tick) / 2);
}

static void emit(struct queue *queue, const struct command *command, strobe_cl_object event)
{
    uint64_t start = profiling(event, STROBE_CL_PROFILING_START);
    uint64_t end = profiling(event, STROBE_CL_PROFILING_END);
    uint64_t queued = profiling(event, STROBE_CL_PROFILING_QUEUED);
    uint64_t submitted = profiling(event, STROBE_CL_PROFILING_SUBMIT);
    if (!start || end < start)
        return; /* it failed, or the queue does not tell */
    if (!queue->is_known)
        announce(queue, command, queued);
    sync_clock(queue, command, queued);
    uint64_t query = queue->n_queries;
    queue->n_queries += 2;
    strobe_gpu_begin(queue->context, query, command->loc);
    if (queued && queued <= start)
        strobe_gpu_note(queue->context, query, 1, (double)(start - queued));
    if (submitted && submitted <= start)
        strobe_gpu_note(queue->context, query, 2, (double)(start - submitted));
    strobe_gpu_end(queue->context, query + 1);
    strobe_gpu_time(queue->context, query, (int64_t)start);
    strobe_gpu_time(queue->context, query + 1, (int64_t)end);
}

static void on_complete(strobe_cl_object event, int32_t status, void *data)
{
    struct command *command = data;
    if (status == STROBE_CL_COMPLETE && strobe_gate_is_open(strobe_gate_now)) {
        pthread_mutex_lock(&mutex);
        struct queue *queue = find_queue(command->queue);
        if (queue)
            emit(queue, command, event);
        pthread_mutex_unlock(&mutex);
    }
    TARGET(clReleaseEvent, strobe_cl_object)(event);
    free(command);
}

/* Around the call of the host. */
struct call {
    struct strobe_zone zone;
    struct reading before;
    strobe_cl_object own; /* the event, where the program wants none */
    strobe_cl_object *event;
    int is_seen;
};

static void begin_call(struct call *call, struct strobe_loc *loc, strobe_cl_object *event)
{
    call->is_seen = strobe_gate_is_open(strobe_gate_now);
    call->own = NULL;
    call->event = event || !call->is_seen ? event : &call->own;
    if (!call->is_seen)
        return;
    call->zone = strobe_zone_begin(loc);
    call->before = read_clocks();
}

/* The call returned: have its command followed. */
static void follow(const struct call *call, strobe_cl_object queue, const char *name)
{
    struct command *command = malloc(sizeof *command);
    struct strobe_loc *loc = strobe_layers_loc(name, strlen(name), "OpenCL", 0);
    strobe_cl_object event = *call->event;
    if (!command || !loc) {
        free(command);
        return;
    }
    *command = (struct command){queue, loc, call->before, read_clocks()};
    TARGET(clRetainEvent, strobe_cl_object)(event);
    int err = TARGET(clSetEventCallback, strobe_cl_object, int32_t,
                     void (*)(strobe_cl_object, int32_t, void *),
                     void *)(event, STROBE_CL_COMPLETE, on_complete, command);
    if (err) {
        TARGET(clReleaseEvent, strobe_cl_object)(event);
        free(command);
    }
}

static int32_t end_call(struct call *call, int32_t err, strobe_cl_object queue, const char *name)
{
    if (!call->is_seen)
        return err;
    if (!err && name && call->event && *call->event) {
        strobe_zone_text(name, strlen(name));
        follow(call, queue, name);
    }
    if (call->own)
        TARGET(clReleaseEvent, strobe_cl_object)(call->own);
    strobe_zone_end(&call->zone);
    return err;
}

static void kernel_name(strobe_cl_object kernel, char *out, size_t cap)
{
    snprintf(out, cap, "kernel");
    TARGET(clGetKernelInfo, strobe_cl_object, uint32_t, size_t, void *, size_t *)
    (kernel, STROBE_CL_KERNEL_NAME, cap - 1, out, NULL);
    out[cap - 1] = 0;
}

/* ---- OpenCL's functions ---- */

#define WAITS_AND_EVENT       uint32_t n, const strobe_cl_object *waits, strobe_cl_object *event
#define WAITS_AND_EVENT_TYPES uint32_t, const strobe_cl_object *, strobe_cl_object *

/* A call's zone, the call, its end. */
#define CALL(function, queue, name, types, ...)                                              \
    static struct strobe_loc loc = {0, #function, "OpenCL", "", 0, 0};                       \
    struct call call;                                                                        \
    begin_call(&call, &loc, event);                                                          \
    int32_t err = ((int32_t(*) types)target[STROBE_CL_##function])(__VA_ARGS__, call.event); \
    return end_call(&call, err, queue, name)

static int32_t enqueue_kernel(strobe_cl_object queue, strobe_cl_object kernel, uint32_t n_dims,
                              const size_t *offset, const size_t *global, const size_t *local,
                              WAITS_AND_EVENT)
{
    char name[NAME_BYTES];
    kernel_name(kernel, name, sizeof name);
    CALL(clEnqueueNDRangeKernel, queue, name,
         (strobe_cl_object, strobe_cl_object, uint32_t, const size_t *, const size_t *,
          const size_t *, WAITS_AND_EVENT_TYPES),
         queue, kernel, n_dims, offset, global, local, n, waits);
}

static int32_t enqueue_read(strobe_cl_object queue, strobe_cl_object buffer, uint32_t blocking,
                            size_t offset, size_t size, void *to, WAITS_AND_EVENT)
{
    CALL(clEnqueueReadBuffer, queue, "read buffer",
         (strobe_cl_object, strobe_cl_object, uint32_t, size_t, size_t, void *,
          WAITS_AND_EVENT_TYPES),
         queue, buffer, blocking, offset, size, to, n, waits);
}

static int32_t enqueue_write(strobe_cl_object queue, strobe_cl_object buffer, uint32_t blocking,
                             size_t offset, size_t size, const void *from, WAITS_AND_EVENT)
{
    CALL(clEnqueueWriteBuffer, queue, "write buffer",
         (strobe_cl_object, strobe_cl_object, uint32_t, size_t, size_t, const void *,
          WAITS_AND_EVENT_TYPES),
         queue, buffer, blocking, offset, size, from, n, waits);
}

static int32_t enqueue_copy(strobe_cl_object queue, strobe_cl_object from, strobe_cl_object to,
                            size_t from_offset, size_t to_offset, size_t size, WAITS_AND_EVENT)
{
    CALL(clEnqueueCopyBuffer, queue, "copy buffer",
         (strobe_cl_object, strobe_cl_object, strobe_cl_object, size_t, size_t, size_t,
          WAITS_AND_EVENT_TYPES),
         queue, from, to, from_offset, to_offset, size, n, waits);
}

static int32_t enqueue_fill(strobe_cl_object queue, strobe_cl_object buffer, const void *pattern,
                            size_t n_pattern, size_t offset, size_t size, WAITS_AND_EVENT)
{
    CALL(clEnqueueFillBuffer, queue, "fill buffer",
         (strobe_cl_object, strobe_cl_object, const void *, size_t, size_t, size_t,
          WAITS_AND_EVENT_TYPES),
         queue, buffer, pattern, n_pattern, offset, size, n, waits);
}

static int32_t enqueue_unmap(strobe_cl_object queue, strobe_cl_object object, void *at,
                             WAITS_AND_EVENT)
{
    CALL(clEnqueueUnmapMemObject, queue, "unmap",
         (strobe_cl_object, strobe_cl_object, void *, WAITS_AND_EVENT_TYPES), queue, object, at, n,
         waits);
}

static void *enqueue_map(strobe_cl_object queue, strobe_cl_object buffer, uint32_t blocking,
                         uint64_t flags, size_t offset, size_t size, WAITS_AND_EVENT,
                         int32_t *error)
{
    static struct strobe_loc loc = {0, "clEnqueueMapBuffer", "OpenCL", "", 0, 0};
    struct call call;
    int32_t err = STROBE_CL_SUCCESS;
    begin_call(&call, &loc, event);
    void *at = ((void *(*)(strobe_cl_object, strobe_cl_object, uint32_t, uint64_t, size_t, size_t,
                           WAITS_AND_EVENT_TYPES, int32_t *))target[STROBE_CL_clEnqueueMapBuffer])(
        queue, buffer, blocking, flags, offset, size, n, waits, call.event, &err);
    end_call(&call, err, queue, "map buffer");
    if (error)
        *error = err;
    return at;
}

static int32_t finish(strobe_cl_object queue)
{
    static struct strobe_loc loc = {0, "clFinish", "OpenCL", "", 0, 0};
    struct strobe_zone zone = strobe_zone_begin(&loc);
    int32_t err = TARGET(clFinish, strobe_cl_object)(queue);
    strobe_zone_end(&zone);
    return err;
}

static int32_t wait_for_events(uint32_t n, const strobe_cl_object *events)
{
    static struct strobe_loc loc = {0, "clWaitForEvents", "OpenCL", "", 0, 0};
    struct strobe_zone zone = strobe_zone_begin(&loc);
    int32_t err = TARGET(clWaitForEvents, uint32_t, const strobe_cl_object *)(n, events);
    strobe_zone_end(&zone);
    return err;
}

/* ---- the layer ---- */

STROBE_API int32_t clGetLayerInfo(uint32_t what, size_t n_bytes, void *value, size_t *n_needed);
STROBE_API int32_t clInitLayer(uint32_t n, const strobe_cl_function *table, uint32_t *n_ours,
                               const strobe_cl_function **our_table);

int32_t clGetLayerInfo(uint32_t what, size_t n_bytes, void *value, size_t *n_needed)
{
    const uint32_t version = STROBE_CL_LAYER_API_VERSION_100;
    if (what != STROBE_CL_LAYER_API_VERSION || (value && n_bytes < sizeof version))
        return STROBE_CL_INVALID_VALUE;
    if (value)
        memcpy(value, &version, sizeof version);
    if (n_needed)
        *n_needed = sizeof version;
    return STROBE_CL_SUCCESS;
}

static void put(uint32_t n, uint32_t place, strobe_cl_function function)
{
    if (place < n && target[place])
        ours[place] = function;
}

int32_t clInitLayer(uint32_t n, const strobe_cl_function *table, uint32_t *n_ours,
                    const strobe_cl_function **our_table)
{
    if (!table || !n_ours || !our_table || n <= STROBE_CL_clSetEventCallback ||
        n > STROBE_CL_TABLE_MAX)
        return STROBE_CL_INVALID_VALUE;
    memcpy(target, table, n * sizeof *table);
    memcpy(ours, table, n * sizeof *table);
    put(n, STROBE_CL_clCreateCommandQueue, (strobe_cl_function)create_queue);
    put(n, STROBE_CL_clCreateCommandQueueWithProperties, (strobe_cl_function)create_queue_with);
    put(n, STROBE_CL_clEnqueueNDRangeKernel, (strobe_cl_function)enqueue_kernel);
    put(n, STROBE_CL_clEnqueueReadBuffer, (strobe_cl_function)enqueue_read);
    put(n, STROBE_CL_clEnqueueWriteBuffer, (strobe_cl_function)enqueue_write);
    put(n, STROBE_CL_clEnqueueCopyBuffer, (strobe_cl_function)enqueue_copy);
    put(n, STROBE_CL_clEnqueueFillBuffer, (strobe_cl_function)enqueue_fill);
    put(n, STROBE_CL_clEnqueueMapBuffer, (strobe_cl_function)enqueue_map);
    put(n, STROBE_CL_clEnqueueUnmapMemObject, (strobe_cl_function)enqueue_unmap);
    put(n, STROBE_CL_clFinish, (strobe_cl_function)finish);
    put(n, STROBE_CL_clWaitForEvents, (strobe_cl_function)wait_for_events);
    *n_ours = n;
    *our_table = ours;
    return STROBE_CL_SUCCESS;
}
