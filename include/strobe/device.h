/* device.h - a host program's side of a device: open it, build programs of kernels, run them, read what their markers recorded.
 *
 * A device is a grid of cores, each with five small processors (RISCs) that run kernels: two move data, three compute. Backends
 * that stand in for hardware: `sim`, which runs kernels natively on a modelled grid; `qemu`, which runs them as RISC-V code, each core
 * a process of qemu-system-riscv32. How to mark a kernel: kernel/tools/profiler/.
 *
 *   struct strobe_device_options options;
 *   strobe_device_options_init(&options);                  // defaults, and what the environment says
 *   strobe_device_open(&options, 0, &device);
 *   strobe_program_create(&program);
 *   strobe_program_kernel(program, &kernel, &id);
 *   strobe_device_enqueue(device, program, NULL);
 *   strobe_device_finish(device);
 *   strobe_device_close(device);
 *
 * Every call that can fail returns enum strobe_device_result, and strobe_device_reason() has a sentence about the last failure of
 * the calling thread. Calls for one device may come from any thread; they are carried out one after the other, in order.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_HOST_H
#define STROBE_DEVICE_HOST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(STROBE_DEVICE_LIBRARY)
#define STROBE_DEVICE_API __attribute__((visibility("default")))
#else
#define STROBE_DEVICE_API
#endif

/* ---- results ---- */

enum strobe_device_result {
    STROBE_DEVICE_OK = 0,
    STROBE_DEVICE_NOMEM = 1,    /* no memory on the host */
    STROBE_DEVICE_INVALID = 2,  /* an argument makes no sense */
    STROBE_DEVICE_NOTFOUND = 3, /* no such backend, device, file, trace */
    STROBE_DEVICE_CONFLICT = 4, /* options or environment exclude each other; nothing was started */
    STROBE_DEVICE_BUILD = 5,    /* a kernel does not compile; the reason has the compiler's words */
    STROBE_DEVICE_NOSPACE = 6,  /* no room in DRAM or L1 */
    STROBE_DEVICE_HUNG = 7,  /* a core did not come to its end; the reason says which and where */
    STROBE_DEVICE_RESET = 8, /* the device was reset: what ran is gone, what comes next runs */
    STROBE_DEVICE_UNSUPPORTED = 9, /* this backend can't */
    STROBE_DEVICE_IO = 10,         /* the system refused a file, a mapping, a process */
};

/* The name of a result, never NULL. */
STROBE_DEVICE_API const char *strobe_device_result_text(enum strobe_device_result result);

/* A sentence about the last call of this thread that failed; "" before. Valid until the next call. */
STROBE_DEVICE_API const char *strobe_device_reason(void);

/* ---- options ---- */

enum strobe_device_marking {
    STROBE_DEVICE_MODE_OFF = 0, /* no markers: kernels are built without them */
    STROBE_DEVICE_MODE_CLASSIC =
        1, /* 512 words per RISC, then DRAM buffers, read by strobe_device_read */
    STROBE_DEVICE_MODE_STREAMING =
        2, /* rings, drained while the program runs; nothing is lost by default */
};

/* What a RISC does when its ring is full. */
enum strobe_device_full {
    STROBE_DEVICE_POLICY_BLOCK = 0, /* wait for the relay up to a bound, then drop and count */
    STROBE_DEVICE_POLICY_DROP_NEWEST = 1, /* drop the new record, count it */
    STROBE_DEVICE_POLICY_DROP_OLDEST = 2, /* overwrite the oldest records, count them */
    STROBE_DEVICE_POLICY_SUM_ONLY = 3,    /* keep sums per site, no single records */
};

enum strobe_device_timing {
    STROBE_DEVICE_CLOCK_HOST =
        0, /* the device's clock follows the host's: frequency, offset, drift */
    STROBE_DEVICE_CLOCK_VIRTUAL =
        1, /* host calls are charged too: same seed and compiler, same stream, bit for bit */
};

/* Bits of `record`: what is recorded besides zones. */
#define STROBE_DEVICE_RECORD_DISPATCH   1u  /* commands of a dispatch core */
#define STROBE_DEVICE_RECORD_TRACE_ONLY 2u  /* classic: one zone per core and replay */
#define STROBE_DEVICE_RECORD_SUM        4u  /* sum zones */
#define STROBE_DEVICE_RECORD_ACCUMULATE 8u  /* classic: push only when L1 is full */
#define STROBE_DEVICE_RECORD_NOC        16u /* one record per NoC transfer */
#define STROBE_DEVICE_RECORD_MID_RUN \
    32u                               /* files are written at every read, not at the close alone */
#define STROBE_DEVICE_RECORD_SYNC 64u /* marks at circular buffers and semaphores */
#define STROBE_DEVICE_RECORD_FIRMWARE \
    128u /* streaming: the firmware's zones too (classic always has them) */
#define STROBE_DEVICE_RECORD_MEMORY 256u /* allocations of buffers */
#define STROBE_DEVICE_RECORD_FILES \
    512u /* profile_log_device.csv and what else tt-metal's tools read: docs/device.md */
#define STROBE_DEVICE_RECORD_CLOCKS \
    1024u /* 249 readings of a core's clock when the device is opened, and as many when it is closed */

/* All zero but `bytes` is a device without markers; strobe_device_options_init gives the defaults. */
struct strobe_device_options {
    size_t bytes; /* sizeof this struct: how an old program is recognised */
    const char *
        backend; /* STROBE_DEVICE_BACKEND, "sim"; or "qemu", for which the environment also has other defaults (docs/device.md). Borrowed,
                  * like all texts here, until the call returns */
    uint32_t n_devices;      /* STROBE_SIM_DEVICES, 1: devices that exist */
    uint32_t grid_x, grid_y; /* 8, 8: workers */
    uint32_t n_ethernet;     /* 2 */
    uint32_t n_dispatch;     /* 2 */
    uint32_t n_banks;        /* 8: of DRAM */
    uint32_t bank_mib;       /* 256: of each bank */
    enum strobe_device_marking mode;
    enum strobe_device_full policy;
    uint32_t record;        /* STROBE_DEVICE_RECORD_... */
    uint32_t perf_counters; /* groups of performance counters, a bit each; 0: none */
    uint32_t support_count; /* 1000: classic, programs that the DRAM buffers hold */
    uint32_t
        block_cycles; /* streaming: longest wait for the relay before a record is dropped; 0: the kernel header's own bound */
    enum strobe_device_timing clock;
    uint64_t seed;         /* 1: of all that is random */
    double frequency_mhz;  /* 1350 */
    double offset_ns;      /* 0: device clock against host clock */
    double drift_ppm;      /* 0 */
    double jitter_ns;      /* 0: of a clock read's way, standard deviation */
    double core_origin_ns; /* 0: each core's clock starts up to this much later, by seed */
    double reset_skew_ns;  /* 0: skew between cores after a reset, as old boards have */
    uint64_t hang_cycles; /* 1e9: cycles without a kernel's end after which a core counts as hung */
    uint32_t
        relay_slowdown; /* 1: relay's costs are multiplied by it; 0: no relay, cores stay unarmed */
    const char *kernel_dir; /* where the kernel headers are; NULL: found by itself */
    const char *
        include_dirs; /* STROBE_KERNEL_INCLUDE: more folders for kernels' #include, with : between; NULL: none */
    const char *cache_dir; /* of built kernels; NULL: a folder below the user's cache */
    const char *compiler;  /* NULL: g++ or clang++, whichever is found */
};

/* The defaults, changed by the environment: TT_METAL_DEVICE_PROFILER, TT_METAL_STREAMING_PROFILER, STROBE_DEVICE_MODE,
 * TT_METAL_PROFILER_..., STROBE_DEVICE_BACKEND, STROBE_SIM_... CONFLICT: the environment asks for what excludes each other, and the reason has the
 * remedy; *options is filled all the same. */
STROBE_DEVICE_API enum strobe_device_result
strobe_device_options_init(struct strobe_device_options *options);

/* ---- devices ---- */

struct strobe_device;

/* Open device `index`, 0 .. n_devices - 1, of a backend; NULL options: strobe_device_options_init's. An open device is owned by
 * the caller until strobe_device_close. */
STROBE_DEVICE_API enum strobe_device_result
strobe_device_open(const struct strobe_device_options *options, uint32_t index,
                   struct strobe_device **device);

/* Finish, read the profiler a last time, say good-bye to the sinks, free everything. NULL is nothing. */
STROBE_DEVICE_API void strobe_device_close(struct strobe_device *device);

struct strobe_device_info {
    uint32_t index, grid_x, grid_y, n_cores, n_banks;
    uint64_t l1_bytes, bank_bytes;
    double frequency_mhz;
    enum strobe_device_marking mode;
};
STROBE_DEVICE_API void strobe_device_describe(const struct strobe_device *device,
                                              struct strobe_device_info *info);

/* The coordinates on the NoC of the worker with these logical ones. INVALID: there is none. */
STROBE_DEVICE_API enum strobe_device_result
strobe_device_physical(const struct strobe_device *device, uint32_t logical_x, uint32_t logical_y,
                       uint32_t *x, uint32_t *y);

/* Reset the device: whatever runs or hangs is gone with what was not drained, clocks start anew. */
STROBE_DEVICE_API enum strobe_device_result strobe_device_reset(struct strobe_device *device);

/* ---- programs ---- */

/* Processors of a core, in the order of the profiler's buffers. */
enum strobe_device_risc {
    STROBE_DEVICE_BRISC = 0,
    STROBE_DEVICE_NCRISC = 1,
    STROBE_DEVICE_COMPUTE = 2, /* TRISC_0, _1 and _2 together: unpack, math, pack */
    STROBE_DEVICE_ERISC = 5,   /* of an ethernet core */
};

/* Cores from (x0, y0) to (x1, y1), both included, logical coordinates. */
struct strobe_device_cores {
    uint32_t x0, y0, x1, y1;
};

struct strobe_device_define {
    const char *name, *value;
};

struct strobe_device_kernel {
    const char
        *path; /* of the source, in the working folder or below $TT_METAL_HOME; or NULL, and */
    const char *text; /* the source itself */
    const char *name; /* of a kernel that is a text, for traces; NULL: "kernel" */
    struct strobe_device_cores cores;
    enum strobe_device_risc risc;
    const uint32_t *compile_args;
    uint32_t n_compile_args;
    const struct strobe_device_define *defines;
    uint32_t n_defines;
};

struct strobe_program;

STROBE_DEVICE_API enum strobe_device_result strobe_program_create(struct strobe_program **program);

/* Free a program. It may still run: what was enqueued keeps what it needs. */
STROBE_DEVICE_API void strobe_program_free(struct strobe_program *program);

/* Name of the program in traces. */
STROBE_DEVICE_API enum strobe_device_result strobe_program_rename(struct strobe_program *program,
                                                                  const char *name);

/* Number that markers carry; 0 before this call or the first enqueue, which gives one. */
STROBE_DEVICE_API void strobe_program_set_id(struct strobe_program *program, uint32_t runtime_id);
STROBE_DEVICE_API uint32_t strobe_program_id(const struct strobe_program *program);

/* Add a kernel; all that `kernel` points to is copied. *id counts from 0. */
STROBE_DEVICE_API enum strobe_device_result
strobe_program_kernel(struct strobe_program *program, const struct strobe_device_kernel *kernel,
                      uint32_t *id);

/* Run-time arguments of a kernel on some cores: what get_arg_val reads. At most 341. May be changed between enqueues. */
STROBE_DEVICE_API enum strobe_device_result
strobe_program_args(struct strobe_program *program, uint32_t kernel,
                    struct strobe_device_cores cores, const uint32_t *args, uint32_t n_args);

/* Arguments of a kernel that are the same on all its cores: what get_common_arg_val reads. At most 341. */
STROBE_DEVICE_API enum strobe_device_result
strobe_program_common_args(struct strobe_program *program, uint32_t kernel, const uint32_t *args,
                           uint32_t n_args);

/* The formats of a tile that circular buffers know. */
enum strobe_device_format {
    STROBE_DEVICE_FLOAT32 = 0,
    STROBE_DEVICE_BFLOAT16 = 5,
    STROBE_DEVICE_UINT32 = 24,
};

/* A circular buffer of n_pages pages in the L1 of some cores, with number `index` (0..31). */
STROBE_DEVICE_API enum strobe_device_result strobe_program_ring(struct strobe_program *program,
                                                                struct strobe_device_cores cores,
                                                                uint32_t index, uint32_t page_bytes,
                                                                uint32_t n_pages,
                                                                enum strobe_device_format format);

/* A semaphore on some cores, set to `value` at each launch. *id is what get_semaphore takes. */
STROBE_DEVICE_API enum strobe_device_result
strobe_program_semaphore(struct strobe_program *program, struct strobe_device_cores cores,
                         uint32_t value, uint32_t *id);

/* ---- running ---- */

struct strobe_launch {
    uint64_t flow;       /* number that ties the launch to a zone of the host; 0: none */
    uint32_t runtime_id; /* 0: the program's */
};

/* Launch a program; kernels that are not built yet are, first. Returns before it has run. launch may be NULL. */
STROBE_DEVICE_API enum strobe_device_result
strobe_device_enqueue(struct strobe_device *device, struct strobe_program *program,
                      const struct strobe_launch *launch);

/* Wait until all that was enqueued has run, and its markers are with the sinks (streaming). HUNG, RESET: see there. */
STROBE_DEVICE_API enum strobe_device_result strobe_device_finish(struct strobe_device *device);

/* From begin to end enqueued programs are kept, not run; replay runs them all. */
STROBE_DEVICE_API enum strobe_device_result strobe_device_trace_begin(struct strobe_device *device,
                                                                      uint32_t *trace);
STROBE_DEVICE_API enum strobe_device_result strobe_device_trace_end(struct strobe_device *device,
                                                                    uint32_t trace);
STROBE_DEVICE_API enum strobe_device_result strobe_device_trace_replay(struct strobe_device *device,
                                                                       uint32_t trace);
STROBE_DEVICE_API enum strobe_device_result strobe_device_trace_free(struct strobe_device *device,
                                                                     uint32_t trace);

/* ---- memory ---- */

enum strobe_device_pool {
    STROBE_DEVICE_DRAM = 0, /* pages go round the banks */
    STROBE_DEVICE_L1 = 1,   /* pages go round the workers */
};

struct strobe_device_buffer {
    struct strobe_device *device;
    enum strobe_device_pool memory;
    uint32_t page_bytes;
    uint64_t bytes;
    uint64_t address; /* the same in every bank */
};

STROBE_DEVICE_API enum strobe_device_result
strobe_device_buffer_create(struct strobe_device *device, enum strobe_device_pool memory,
                            uint64_t bytes, uint32_t page_bytes,
                            struct strobe_device_buffer *buffer);
STROBE_DEVICE_API void strobe_device_buffer_free(struct strobe_device_buffer *buffer);

/* Copy between host and a buffer, in the order of the queue; both wait for their turn. */
STROBE_DEVICE_API enum strobe_device_result
strobe_device_buffer_write(const struct strobe_device_buffer *buffer, uint64_t offset,
                           const void *from, uint64_t bytes);
STROBE_DEVICE_API enum strobe_device_result
strobe_device_buffer_read(const struct strobe_device_buffer *buffer, uint64_t offset, void *to,
                          uint64_t bytes);

/* A core's own L1: offsets from its start, physical coordinates. For tests and debuggers. */
STROBE_DEVICE_API enum strobe_device_result
strobe_device_l1_write(struct strobe_device *device, uint32_t x, uint32_t y, uint32_t offset,
                       const void *from, uint32_t bytes);
STROBE_DEVICE_API enum strobe_device_result strobe_device_l1_read(struct strobe_device *device,
                                                                  uint32_t x, uint32_t y,
                                                                  uint32_t offset, void *to,
                                                                  uint32_t bytes);

/* ---- the profiler ---- */

/* Read what the markers recorded so far: classic reads and clears the DRAM buffers, streaming drains the rings. The records go to
 * the sinks. What did not fit is in the warnings. */
STROBE_DEVICE_API enum strobe_device_result strobe_device_read(struct strobe_device *device);

/* A consumer of the device's stream: whole frames of 32-bit words (docs/device-protocol.md), in order. Not 0: the frames were
 * dropped, and it is counted. Called on the device's own thread. */
typedef int strobe_device_frames(void *context, const uint32_t *words, size_t n_words);

/* Add a consumer; it gets all frames from now on, first those that describe the device. *handle is for strobe_device_unlisten,
 * after which `frames` is not called any more. */
STROBE_DEVICE_API enum strobe_device_result strobe_device_listen(struct strobe_device *device,
                                                                 strobe_device_frames *frames,
                                                                 void *context, uint32_t *handle);
STROBE_DEVICE_API void strobe_device_unlisten(struct strobe_device *device, uint32_t handle);

/* The same on a thread of its own: frames wait for it in a queue of so many bytes (0: 16 MiB). What finds no room there it misses, and nobody
 * else does: neither the device nor the recorder nor another consumer waits for it. After a gap the decoder goes on at the next
 * frame (docs/device-protocol.md). strobe_device_unlisten and strobe_device_close hand out what waits before they return. */
STROBE_DEVICE_API enum strobe_device_result
strobe_device_listen_apart(struct strobe_device *device, strobe_device_frames *frames,
                           void *context, size_t queue_bytes, uint32_t *handle);
/* Words of the stream that a consumer missed so far. */
STROBE_DEVICE_API uint64_t strobe_device_listen_missed(struct strobe_device *device,
                                                       uint32_t handle);

/* Warnings and errors as sentences, one a call, on the device's thread; NULL: they go to stderr. */
typedef void strobe_device_words(void *context, const char *sentence);
STROBE_DEVICE_API void strobe_device_warn(struct strobe_device *device, strobe_device_words *words,
                                          void *context);

/* The device's own count of what a RISC emitted and what it could not store. */
struct strobe_device_count {
    uint64_t n_emitted, n_dropped, n_stalls;
};
STROBE_DEVICE_API enum strobe_device_result
strobe_device_count_read(struct strobe_device *device, uint32_t x, uint32_t y, uint32_t risc,
                         struct strobe_device_count *count);

#ifdef __cplusplus
}
#endif

#endif
