/* log_row.h - the lines of profile_log_device.csv and of the streaming profiler's zone file, as tt-metal's tools read them.
 * Texts only: what a line says is the caller's. Cells are not quoted; a comma or a line's end in one becomes ';' or a space.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_FILES_LOG_ROW_H
#define STROBE_DEVICE_FILES_LOG_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/out.h"

/* One marker. Texts are borrowed for the call. */
struct strobe_device_log_row {
    uint32_t device, x, y, logical_x, logical_y;
    const char *risc;
    uint32_t timer;
    uint64_t time, data;
    uint64_t run; /* run host id: program << 10 | device; 0: none */
    bool is_traced;
    uint32_t trace, counter; /* counter: replays of that trace so far */
    const char *name, *file;
    size_t n_name, n_file;
    const char *type; /* of strobe_device_log_type */
    uint32_t line;
    const char *meta; /* JSON with ';' for ','; "": none */
};

/* The two lines at the top. */
void strobe_device_log_row_head(struct strobe_out *out, const char *arch, uint32_t mhz,
                                uint32_t max_cores);
void strobe_device_log_row_write(struct strobe_out *out, const struct strobe_device_log_row *row);

/* The same of the zone file: 17 columns, and what upstream writes into those that it has no value for. */
void strobe_device_log_row_zone_head(struct strobe_out *out, const char *arch, uint32_t mhz);
void strobe_device_log_row_zone_write(struct strobe_out *out,
                                      const struct strobe_device_log_row *row, uint32_t pid,
                                      uint32_t program);

/* The column "type" of an enum strobe_classic_packet. */
const char *strobe_device_log_type(uint32_t packet);
/* The name of an architecture: enum strobe_device_arch. */
const char *strobe_device_log_arch(uint32_t arch);
/* The name of a RISC; `n_riscs`: of its core. `room` is for those that are put together. */
const char *strobe_device_log_risc(uint32_t core_kind, uint32_t n_riscs, uint32_t risc,
                                   char room[24]);

#endif
