/* names.h - what ids of zones are called: out of the ELF file of a kernel, or out of a source map's lines.
 * Reads bytes that it is handed, keeps nothing, allocates nothing but a line's text on its stack. Bad bytes are counted
 * and skipped.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_NAMES_H
#define STROBE_DEVICE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "device/stream.h"

/* The classic id of a site, of its text "name,file,line,KERNEL_PROFILER": FNV-1a, folded to 16 bits. */
uint16_t strobe_device_names_hash(const char *text, size_t n_bytes);

struct strobe_device_names_out {
    void *context; /* borrowed */
    /* One site. Texts point into what was handed in. */
    void (*name)(void *context, const struct strobe_device_name *name);
    uint64_t n_bad; /* records, or lines, that make no sense */
};

/* The sites of a linked ELF file (32 or 64 bits): sections .tt_zone_meta and .tt_zone_str. `classic`: ids are hashes
 * (STROBE_NAME_CLASSIC), else 27 bits. FORMAT: not such a file. A file without the sections has no sites. */
enum strobe_err strobe_device_names_elf(const void *bytes, size_t n_bytes, bool classic,
                                        struct strobe_device_names_out *out);
/* The sites of a source map: lines "name,file,line,KERNEL_PROFILER", each alone or in a compiler's note. */
void strobe_device_names_log(const char *text, size_t n_bytes, struct strobe_device_names_out *out);
/* The name of an id that no kernel has: stalls, pushes. NULL: it is none of these. */
const char *strobe_device_names_fixed(uint32_t id, bool classic);

#endif
