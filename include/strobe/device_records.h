/* device_records.h - what devices record, decoded, in batches, while programs run: for a program that looks at its own kernels.
 *
 *   static void look(void *context, const struct strobe_device_batch *batch) { ... }
 *   strobe_device_subscribe("mine", STROBE_DEVICE_ZONES, look, NULL, &handle);
 *   ...                                         // open devices, run programs
 *   strobe_device_unsubscribe(handle);          // what was recorded until now has been handed over
 *
 * A subscription is for all devices of the process, those that are opened later too. Each has a thread of its own, on which its function is
 * called, one call at a time; a slow one loses records of its own, which are counted, and nobody else's.
 * The same by tt-metal's names, for C++: <tt-metalium/experimental/streaming_profiler.hpp>, realtime_profiler.hpp.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_RECORDS_H
#define STROBE_DEVICE_RECORDS_H

#include <strobe/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What to hand over, a bit each. The first three come from markers of the streaming mode, programs in every mode. */
#define STROBE_DEVICE_ZONES    1u
#define STROBE_DEVICE_DATA     2u
#define STROBE_DEVICE_EVENTS   4u
#define STROBE_DEVICE_PROGRAMS 8u

/* A zone, an event, or data. Host time (CLOCK_MONOTONIC, ns) of `ticks` of the device = (ticks + offset) * 1e9 / frequency_hz.
 *
 * OFFSET SIZE FIELD          as tt-metal's records are
 *      0    8 timestamp      ticks; of a zone its start
 *      8    8 duration       of a zone, in ticks; of data the number of values behind the record, 8 bytes each
 *     16    4 site           strobe_device_site says what it is called
 *     20    4 runtime_id     of the program
 *     24    8 coordinates    logical x, y, physical x, y
 *     32    2 chip           number of the device
 *     34    1 risc
 *     35    1 reserved       0
 *     36    4 frequency_hz
 *     40    8 offset         ticks */
struct strobe_device_record {
    uint64_t timestamp, duration;
    uint32_t site, runtime_id;
    uint16_t logical_x, logical_y, physical_x, physical_y, chip;
    uint8_t risc, reserved;
    uint32_t frequency_hz;
    int64_t offset;
};

/* A program's run on a device. Host time of `ticks` = (ticks - offset) / frequency, in ns, wrong by error_ns at the most. */
struct strobe_device_execution {
    uint32_t runtime_id, chip;
    uint64_t start, end; /* ticks */
    double frequency;    /* ticks per ns */
    int64_t offset;      /* ticks */
    uint64_t error_ns;
    const char *const
        *sources; /* shared: n_sources paths of kernels, as long as the process lives */
    uint32_t n_sources;
};

/* Valid during the call. */
struct strobe_device_batch {
    const struct strobe_device_record *zones, *events;
    size_t n_zones, n_events; /* of one RISC in the order of their ends; RISCs interleave */
    const void *data;         /* records, each with its values behind it */
    size_t data_bytes;
    const struct strobe_device_execution *runs;
    size_t n_runs;
    uint64_t
        dropped_bytes; /* of devices' streams, since the last batch: this function was too slow */
    uint64_t n_dropped_runs;
    uint64_t n_stalls; /* times that a RISC waited for room, since the last batch */
};
typedef void strobe_device_batches(void *context, const struct strobe_device_batch *batch);

/* Begin a subscription; `name`, NULL allowed, is its thread's. NOMEM; INVALID: no kind of record, or no function. */
STROBE_DEVICE_API enum strobe_device_result
strobe_device_subscribe(const char *name, uint32_t kinds, strobe_device_batches *batches,
                        void *context, uint64_t *handle);
/* End it: what is waiting is handed over, then the function is not called any more. From inside of the function: it returns at
 * once, and the call that runs is the last. An unknown handle is nothing. */
STROBE_DEVICE_API void strobe_device_unsubscribe(uint64_t handle);

/* What a site is called and where it stands; "" and 0 where that is not known. The texts live as long as the process. */
struct strobe_device_site {
    const char *name, *file;
    uint32_t line;
};
STROBE_DEVICE_API struct strobe_device_site strobe_device_site_of(uint32_t site);

/* How many devices of this process are open in the streaming mode, and how many at all. */
STROBE_DEVICE_API uint32_t strobe_device_count_streaming(void);
STROBE_DEVICE_API uint32_t strobe_device_count_open(void);

#ifdef __cplusplus
}
#endif

#endif
