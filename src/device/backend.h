/* backend.h - what a device must be able to do: the simulator, or a core under QEMU. device_host is the only caller.
 * All functions but `build` are called by the one thread that runs all devices of the process.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_BACKEND_H
#define STROBE_DEVICE_BACKEND_H

#include "device/clock_fit.h"
#include "base/err.h"
#include "device/sink.h"
#include "strobe/device.h"
#include "strobe_device_words.h"

#define STROBE_DEVICE_REASON_BYTES 2048

/* What a device is opened with. */
struct strobe_device_setup {
    struct strobe_device_options
        options; /* its texts are owned by device_host, as long as the unit lives */
    uint32_t index;
    const struct strobe_device_sink
        *sink; /* borrowed: takes the frames, as long as the unit lives */
    void (*warn)(void *context, const char *sentence);
    void *warn_context; /* borrowed: for warn */
};

/* A kernel to be built. */
struct strobe_device_source {
    struct strobe_device_kernel kernel; /* borrowed: during the call */
    uint32_t risc;                      /* 0-4; a compute kernel is built three times */
};

/* A built kernel; the backend has more behind it. */
struct strobe_device_built {
    uint32_t number; /* of the translation unit: in the ids of its zones */
    char *path;      /* owned: of the object with the names of its zones */
    char *source;    /* owned: what was built, for traces */
};

/* One kernel of a launch. */
struct strobe_job_kernel {
    const struct strobe_device_built *built[3]; /* borrowed: [1] and [2] of compute kernels alone */
    struct strobe_device_cores cores;
    enum strobe_device_risc risc;
};

struct strobe_job_args {
    struct strobe_device_cores cores;
    uint32_t kernel;
    uint32_t is_common; /* the same on all cores of the kernel, and apart from the others */
    uint32_t first, n;  /* in the job's words */
};

struct strobe_job_ring {
    struct strobe_device_cores cores;
    uint32_t index, page_bytes, n_pages, format;
    uint32_t address; /* offset in L1; set by device_host */
};

struct strobe_job_semaphore {
    struct strobe_device_cores cores;
    uint32_t id, value;
};

/* A program as it was when it was enqueued. Shared by all launches until the program changes. */
struct strobe_device_job {
    _Atomic uint32_t n_references;
    char *name;                        /* owned */
    struct strobe_job_kernel *kernels; /* owned, like the arrays below */
    struct strobe_job_args *args;
    uint32_t *words; /* of all arguments */
    struct strobe_job_ring *rings;
    struct strobe_job_semaphore *semaphores;
    uint32_t n_kernels, n_args, n_words, n_rings, n_semaphores;
    void (*unbuild)(struct strobe_device_built *built); /* of the backend */
    uint32_t announced, announced_id; /* epoch + 1 and runtime id that the sinks know it by */
};

/* When a device began and ended a program, in cycles of its reference clock. */
struct strobe_job_span {
    uint64_t start, end; /* 0: it did not come to its end, or the backend does not know */
};

/* One launch of it. */
struct strobe_job_launch {
    const struct strobe_device_job *job; /* borrowed: during the run */
    uint32_t runtime_id;
    uint32_t trace_counter;       /* replays of any trace so far, 0: not replayed */
    uint32_t first_of_replay;     /* a replay begins with it */
    uint64_t host_ns;             /* when the host launched it */
    struct strobe_job_span *span; /* borrowed: out, during the run */
};

struct strobe_device_core_place {
    uint32_t x, y, logical_x, logical_y, kind, flat_id; /* kind: enum strobe_core_kind */
};

struct strobe_device_backend {
    const char *name;
    enum strobe_device_arch arch; /* as HELLO says it */
    uint32_t
        reference; /* core whose clock the others' are compared with; UINT32_MAX: the device has one of its own */
    /* Make device setup->index. *unit is what the others get. Where the backend's grid or frequency are not those that were asked for,
     * setup->options has the real ones then. On failure `reason` has a sentence. */
    enum strobe_err (*open)(struct strobe_device_setup *setup, void **unit, char *reason);
    void (*close)(void *unit);
    /* Build a kernel or find it built. Thread: any, one at a time. */
    enum strobe_err (*build)(void *unit, const struct strobe_device_source *source,
                             struct strobe_device_built **built, char *reason);
    void (*unbuild)(struct strobe_device_built *built);
    /* Run a program from launch to end. BUSY: a core of it hung; CORRUPT: the device was reset; `reason` says more. */
    enum strobe_err (*run)(void *unit, const struct strobe_job_launch *run, char *reason);
    /* Hand all that is in the rings to the sink (streaming), or read and clear the buffers (classic). */
    enum strobe_err (*drain)(void *unit);
    /* Copy from or to the memory behind a NoC address. INVALID: there is none. */
    enum strobe_err (*copy)(void *unit, uint64_t noc_address, void *host, uint64_t bytes,
                            int to_device);
    /* One reading of a core's clock, or of the device's (core = UINT32_MAX), between two of the host's. BUSY: it can't be read now. */
    enum strobe_err (*clock)(void *unit, uint32_t core, uint64_t *cycles, uint64_t *before_ns,
                             uint64_t *after_ns);
    /* A message to another unit of this backend over the link between them, and its answer, by their reference clocks. NOTFOUND: there is no
     * link. NULL: the backend has none. */
    enum strobe_err (*link)(void *unit, void *other, struct strobe_clock_pair *pair);
    /* Host time (CLOCK_MONOTONIC, or virtual) at which the device came to its last end. */
    uint64_t (*idle_since)(void *unit);
    enum strobe_err (*reset)(void *unit);
    /* Core `index`; NOTFOUND behind the last. */
    enum strobe_err (*core)(void *unit, uint32_t index, struct strobe_device_core_place *place);
    /* NoC address of an offset in a bank of DRAM, or in the L1 of a worker. */
    uint64_t (*bank_address)(void *unit, enum strobe_device_pool pool, uint32_t bank,
                             uint64_t offset);
    /* What a RISC without a kernel runs, once a program has run; NULL: nothing that leaves markers. */
    const struct strobe_device_built *(*firmware)(void *unit, uint32_t risc);
    /* What a lane counted so far. NOTFOUND: there is no such lane. */
    enum strobe_err (*count)(void *unit, uint32_t core, uint32_t risc,
                             struct strobe_lane_total *total);
    /* Offset in each bank of what buffers may use. */
    uint64_t (*dram_first)(void *unit);
    uint32_t l1_first, l1_end; /* offsets in L1 of what programs and buffers may use */
};

/* NoC addresses, as kernels make them: bits 0-35 offset, 36-41 x, 42-47 y. */
static inline uint64_t strobe_device_noc_address(uint32_t x, uint32_t y, uint64_t offset)
{
    return (uint64_t)(y & 63) << 42 | (uint64_t)(x & 63) << 36 | (offset & 0xFFFFFFFFFull);
}

#endif
