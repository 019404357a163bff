/* frames.c - what the host itself puts into a device's stream: what the device is, names, programs, launches, clocks, memory, the
 * end. Layouts: kernel/strobe_device_words.h. Thread: the worker.  SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "device/names.h"
#include "device_host/records.h"

#define CLOCK_EVERY_NS 10000000
enum { REFERENCE_SAMPLES = 8, CORE_SAMPLES = 2, FIRST_BURSTS = 8 };
#define SYNC_SAMPLES 249        /* as many as tt-metal takes */
#define MOST_FACTS   (1u << 20) /* words of descriptions that are kept for later listeners */
#define FRAME_ROOM   8192

static uint32_t low(uint64_t value)
{
    return (uint32_t)value;
}

static uint32_t high(uint64_t value)
{
    return (uint32_t)(value >> 32);
}

enum strobe_err strobe_frames_put(struct strobe_device *device, const uint32_t *words,
                                  size_t n_words)
{
    uint32_t n_others = 0;
    bool is_refused = false; /* by the recorder */
    for (uint32_t i = 0; i < STROBE_HOST_MAX_LISTENERS; i++) {
        struct strobe_host_listener *listener = &device->listeners[i];
        if (!listener->frames)
            continue;
        bool refuses = listener->frames(listener->context, words, n_words);
        listener->n_dropped += refuses ? n_words : 0;
        if (strobe_host_is_recorder(device, i))
            is_refused = refuses;
        else
            n_others++;
    }
    strobe_records_put(device, words, n_words);
    return is_refused && !n_others ? STROBE_ERR_LIMIT : STROBE_OK;
}

/* Pad and send what is in device->frame; `keep`: for later listeners too. */
static void send(struct strobe_device *device, uint32_t n_words, uint32_t subtype, int keep)
{
    uint32_t *frame = device->frame;
    frame[0] = STROBE_EXT_WORD(subtype, n_words - 1);
    while (n_words % STROBE_FRAME_WORDS)
        frame[n_words++] = 0;
    if (keep && device->n_facts + n_words <= MOST_FACTS &&
        !STROBE_ARRAY_RESERVE(device->facts, device->room_facts, device->n_facts + n_words)) {
        memcpy(device->facts + device->n_facts, frame, n_words * sizeof *frame);
        device->n_facts += n_words;
    }
    strobe_frames_put(device, frame, n_words);
}

/* A text behind n words: its length, then its bytes. Too long a one is cut. Returns the words that there are now. */
static uint32_t put_text(uint32_t *frame, uint32_t n, const char *text, size_t bytes)
{
    uint32_t room = (FRAME_ROOM - STROBE_FRAME_WORDS - n - 1) * 4;
    uint32_t length = bytes < room && bytes < 4096 ? (uint32_t)bytes : room < 4096 ? room : 4096;
    frame[n++] = length;
    memset(frame + n, 0, (length + 3) / 4 * 4);
    memcpy(frame + n, text, length);
    return n + (length + 3) / 4;
}

static void send_core(struct strobe_device *device, uint32_t index,
                      const struct strobe_device_core_place *place)
{
    struct strobe_frame_core core = {.index = index,
                                     .core_yx = place->y << 16 | place->x,
                                     .logical_yx = place->logical_y << 16 | place->logical_x,
                                     .kind = place->kind,
                                     .flat_id = place->flat_id,
                                     .n_riscs = place->kind == STROBE_CORE_ETH ? 1 : 5};
    memcpy(device->frame, &core, sizeof core);
    send(device, sizeof core / 4, STROBE_EXT_CORE, 1);
}

static void send_clock(struct strobe_device *device, uint32_t index, uint32_t core_yx)
{
    uint64_t cycles, before_ns, after_ns;
    if (device->backend->clock(device->unit, index, &cycles, &before_ns, &after_ns))
        return;
    struct strobe_frame_clock clock = {.core_yx = core_yx,
                                       .cycles_low = low(cycles),
                                       .cycles_high = high(cycles),
                                       .before_low = low(before_ns),
                                       .before_high = high(before_ns),
                                       .after_low = low(after_ns),
                                       .after_high = high(after_ns)};
    memcpy(device->frame, &clock, sizeof clock);
    send(device, sizeof clock / 4, STROBE_EXT_CLOCK, 0);
}

void strobe_frames_link(struct strobe_device *device, uint32_t other, uint32_t n_messages,
                        const struct strobe_clock_link *link, double error_ns)
{
    uint64_t scale, shift;
    memcpy(&scale, &link->scale, sizeof scale);
    memcpy(&shift, &link->shift, sizeof shift);
    struct strobe_frame_link frame = {.other = other,
                                      .n_messages = n_messages,
                                      .scale_low = low(scale),
                                      .scale_high = high(scale),
                                      .shift_low = low(shift),
                                      .shift_high = high(shift),
                                      .error_ns =
                                          error_ns < 4e9 ? (uint32_t)error_ns + 1 : UINT32_MAX};
    memcpy(device->frame, &frame, sizeof frame);
    send(device, sizeof frame / 4, STROBE_EXT_LINK, 0);
}

/* Of every core, and more of the one that all others are compared with, which comes first. */
static void send_burst(struct strobe_device *device)
{
    struct strobe_device_core_place place;
    uint32_t reference = device->backend->reference;
    int is_core = !device->backend->core(device->unit, reference, &place);
    uint32_t named = is_core ? place.y << 16 | place.x : STROBE_CORE_NONE;
    send_clock(device, reference, named);
    for (uint32_t i = 0; i < device->n_cores; i++)
        if (i != reference && !device->backend->core(device->unit, i, &place))
            for (int k = 0; k < CORE_SAMPLES; k++)
                send_clock(device, i, place.y << 16 | place.x);
    for (int i = 1; i < REFERENCE_SAMPLES; i++)
        send_clock(device, reference, named);
}

void strobe_frames_clocks(struct strobe_device *device, int now)
{
    uint64_t ns = strobe_worker_host_ns(device, 0);
    if (!now && ns - device->clocks_read_ns < CLOCK_EVERY_NS)
        return;
    /* at first often: what is mapped of a core is mapped by what was known of its origin then */
    for (int n = device->clocks_read_ns ? 1 : FIRST_BURSTS; n; n--)
        send_burst(device);
    device->clocks_read_ns = ns;
}

/* What the device says it is: what ARCH_NAME says it stands in for, for tools that know chips alone; else what it is. */
static uint32_t arch_of(uint32_t own)
{
    static const struct {
        const char *name;
        uint32_t arch;
    } known[] = {{"grayskull", STROBE_ARCH_GRAYSKULL},
                 {"wormhole_b0", STROBE_ARCH_WORMHOLE_B0},
                 {"blackhole", STROBE_ARCH_BLACKHOLE}};
    const char *said = getenv("ARCH_NAME");
    for (size_t i = 0; said && i < sizeof known / sizeof known[0]; i++)
        if (!strcmp(said, known[i].name))
            return known[i].arch;
    return own;
}

void strobe_frames_sync(struct strobe_device *device)
{
    struct strobe_device_core_place place;
    if (!(device->setup.options.record & STROBE_DEVICE_RECORD_CLOCKS) ||
        device->backend->core(device->unit, 0, &place))
        return;
    for (int i = 0; i < SYNC_SAMPLES; i++)
        send_clock(device, 0, place.y << 16 | place.x);
}

void strobe_frames_hello(struct strobe_device *device)
{
    const struct strobe_device_options *options = &device->setup.options;
    uint64_t ns = strobe_worker_host_ns(device, 0);
    struct strobe_frame_hello hello = {.version = STROBE_DEVICE_VERSION,
                                       .device = device->setup.index,
                                       .arch = arch_of(device->backend->arch),
                                       .frequency_khz = (uint32_t)(options->frequency_mhz * 1000),
                                       .grid_x = options->grid_x,
                                       .grid_y = options->grid_y,
                                       .n_riscs = 5,
                                       .mode = (uint32_t)options->mode,
                                       .policy = (uint32_t)options->policy,
                                       .epoch = device->epoch,
                                       .pid = (uint32_t)getpid(),
                                       .start_low = low(ns),
                                       .start_high = high(ns)};
    if (options->clock == STROBE_DEVICE_CLOCK_VIRTUAL) {
        hello.flags = STROBE_HELLO_VIRTUAL;
        hello.pid = 0; /* the same in every run */
    }
    memcpy(device->frame, &hello, sizeof hello);
    send(device,
         put_text(device->frame, sizeof hello / 4, device->backend->name,
                  strlen(device->backend->name)),
         STROBE_EXT_HELLO, 1);
    struct strobe_device_core_place place;
    device->n_cores = 0;
    for (uint32_t i = 0; !device->backend->core(device->unit, i, &place); i++) {
        send_core(device, i, &place);
        device->n_cores++;
    }
    strobe_frames_clocks(device, 1);
    strobe_frames_sync(device);
}

/* ---- programs ---- */

/* One site of a built kernel. */
static void send_name(void *context, const struct strobe_device_name *name)
{
    struct strobe_device *device = context;
    struct strobe_frame_name head = {.flags = name->flags, .id = name->id, .line = name->line};
    memcpy(device->frame, &head, sizeof head);
    uint32_t n = put_text(device->frame, sizeof head / 4, name->name.bytes, name->name.n_bytes);
    send(device, put_text(device->frame, n, name->file.bytes, name->file.n_bytes), STROBE_EXT_NAME,
         1);
}

/* The names of a kernel's sites, out of its object. What can't be read has no names. */
static void read_names(struct strobe_device *device, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat facts;
    if (fd < 0)
        return;
    void *bytes = fstat(fd, &facts) || !facts.st_size
                      ? MAP_FAILED
                      : mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return;
    struct strobe_device_names_out out = {.context = device, .name = send_name};
    strobe_device_names_elf(bytes, (size_t)facts.st_size,
                            device->setup.options.mode == STROBE_DEVICE_MODE_CLASSIC, &out);
    munmap(bytes, (size_t)facts.st_size);
}

static void announce(struct strobe_device *device, const struct strobe_device_built *built)
{
    for (uint32_t i = 0; i < device->n_named; i++)
        if (strcmp(device->named[i], built->path) == 0)
            return;
    char **slot = STROBE_ARRAY_PUSH(device->named, device->n_named, device->room_named);
    if (!slot)
        return;
    *slot = strdup(built->path);
    if (!*slot) {
        device->n_named--;
        return;
    }
    read_names(device, built->path);
}

void strobe_frames_firmware(struct strobe_device *device)
{
    if (device->firmware_named == device->epoch + 1)
        return;
    device->firmware_named = device->epoch + 1;
    for (uint32_t risc = 0; risc < 7; risc++) { /* behind a core's five: those of a dispatch core */
        const struct strobe_device_built *built = device->backend->firmware(device->unit, risc);
        if (built)
            announce(device, built);
    }
}

static void send_program(struct strobe_device *device, const struct strobe_device_job *job,
                         uint32_t runtime_id, uint32_t trace)
{
    uint32_t n_sources = job->n_kernels < 32 ? job->n_kernels : 32;
    struct strobe_frame_program head = {
        .program = runtime_id, .trace_id = trace, .n_sources = n_sources};
    memcpy(device->frame, &head, sizeof head);
    uint32_t n = put_text(device->frame, sizeof head / 4, job->name, strlen(job->name));
    for (uint32_t i = 0; i < n_sources; i++)
        n = put_text(device->frame, n, job->kernels[i].built[0]->source,
                     strlen(job->kernels[i].built[0]->source));
    send(device, n, STROBE_EXT_PROGRAM, 1);
}

void strobe_frames_launch(struct strobe_device *device, struct strobe_device_job *job,
                          const struct strobe_job_launch *run, uint32_t trace, uint64_t flow,
                          uint32_t tid)
{
    if (job->announced != device->epoch + 1 || job->announced_id != run->runtime_id) {
        for (uint32_t i = 0; i < job->n_kernels; i++)
            for (uint32_t j = 0; j < 3; j++)
                if (job->kernels[i].built[j])
                    announce(device, job->kernels[i].built[j]);
        send_program(device, job, run->runtime_id, trace);
        job->announced = device->epoch + 1;
        job->announced_id = run->runtime_id;
    }
    int virtual = device->setup.options.clock == STROBE_DEVICE_CLOCK_VIRTUAL;
    struct strobe_frame_launch head = {.program = run->runtime_id,
                                       .sequence_low = low(device->sequence),
                                       .sequence_high = high(device->sequence),
                                       .trace_id = trace,
                                       .trace_counter = run->trace_counter,
                                       .host_ns_low = low(run->host_ns),
                                       .host_ns_high = high(run->host_ns),
                                       .flow_low = low(flow),
                                       .flow_high = high(flow),
                                       .pid = virtual ? 0 : (uint32_t)getpid(),
                                       .tid = virtual ? 0 : tid,
                                       .n_cores = device->n_cores};
    device->sequence++;
    memcpy(device->frame, &head, sizeof head);
    send(device, sizeof head / 4, STROBE_EXT_LAUNCH, 0);
}

void strobe_frames_memory(struct strobe_device *device, int is_alloc, enum strobe_device_pool pool,
                          uint64_t address, uint64_t bytes)
{
    uint64_t ns = strobe_worker_host_ns(device, 0);
    struct strobe_frame_memory head = {.kind = (uint32_t)is_alloc,
                                       .pool = pool == STROBE_DEVICE_DRAM ? STROBE_POOL_DRAM
                                                                          : STROBE_POOL_L1,
                                       .address_low = low(address),
                                       .address_high = high(address),
                                       .bytes_low = low(bytes),
                                       .bytes_high = high(bytes),
                                       .host_ns_low = low(ns),
                                       .host_ns_high = high(ns)};
    memcpy(device->frame, &head, sizeof head);
    send(device, sizeof head / 4, STROBE_EXT_MEMORY, 0);
}

enum { AT_ONCE = 64 }; /* cores whose counts are in one frame */

/* Counts of all lanes of up to `n` cores from `first` on. */
static void send_totals(struct strobe_device *device, uint32_t first, uint32_t n, uint32_t subtype,
                        uint32_t reason)
{
    uint32_t n_lanes = 0, at = sizeof(struct strobe_frame_totals) / 4;
    for (uint32_t core = first; core < first + n && core < device->n_cores; core++)
        for (uint32_t risc = 0; risc < 5; risc++) {
            struct strobe_lane_total total;
            if (device->backend->count(device->unit, core, risc, &total))
                continue;
            memcpy(device->frame + at, &total, sizeof total);
            at += sizeof total / 4;
            n_lanes++;
        }
    struct strobe_frame_totals head = {.n_lanes = n_lanes, .reason = reason};
    memcpy(device->frame, &head, sizeof head);
    send(device, at, subtype, 0);
}

void strobe_frames_totals(struct strobe_device *device)
{
    for (uint32_t first = 0; first < device->n_cores; first += AT_ONCE)
        send_totals(device, first, AT_ONCE, STROBE_EXT_TOTALS, 0);
}

void strobe_frames_bye(struct strobe_device *device, uint32_t reason)
{
    uint32_t first = 0;
    for (; first + AT_ONCE < device->n_cores; first += AT_ONCE)
        send_totals(device, first, AT_ONCE, STROBE_EXT_TOTALS, 0);
    send_totals(device, first, AT_ONCE, STROBE_EXT_BYE, reason);
}
