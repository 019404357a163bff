/* files.h - the files that tt-metal's tools know, made of a device's stream (docs/device.md, "Files"):
 *
 *   frames ─► markers ─► sort ─► profile_log_device.csv, zone file      markers.c, dump.c, log_row.h
 *                          ├──► runs ─► sort ─► ops file, cpp_device_perf_report.csv     dump.c, ops.c
 *                          └──► transfers ─► sort ─► a JSON file per execution             noc.c
 *   clock frames ─► sync_device_info.csv;  names ─► zone source locations                sync.c, sources.c
 *
 * Memory is bounded but for names and the list of launches since the last dump (20 bytes each, a million at most): what does not
 * fit is sorted through files without names. The first that opens a path in this process empties the file, others append; so
 * several devices share one. Errors leave a file short and are warned of, once each; the program goes on.
 * One thread at a time, for all objects of a process.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_FILES_FILES_H
#define STROBE_DEVICE_FILES_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct strobe_device_files;

struct strobe_device_files_options {
    const char *
        folder; /* borrowed for the call: of the logs, made where it is missing; NULL: none of them */
    const char *ops_path; /* borrowed for the call: the streaming profiler's ops file; NULL: none */
    const char *zones_path; /* borrowed for the call: its zone file; NULL: none */
    const char
        *noc_folder; /* borrowed for the call: of the files of transfers over the NoC; NULL: none */
    bool has_perf_report; /* cpp_device_perf_report.csv too */
    void (*warn)(void *context, const char *sentence);
    void *warn_context; /* borrowed: for warn */
};

/* NOMEM; nothing is written before the first dump, but files of an earlier run go away. */
enum strobe_err strobe_device_files_open(const struct strobe_device_files_options *options,
                                         struct strobe_device_files **out);
/* Whole frames of one device (docs/device-protocol.md), in order. LIMIT: something could not be kept. */
enum strobe_err strobe_device_files_feed(struct strobe_device_files *files, const uint32_t *words,
                                         size_t n_words);
/* Programs may belong to a part of the device: it is in the last column of their markers. */
void strobe_device_files_sub_device(struct strobe_device_files *files, uint32_t program,
                                    uint32_t sub_device, uint32_t manager);
/* Append all that came since the last dump. */
enum strobe_err strobe_device_files_dump(struct strobe_device_files *files);
/* Dump and free. NULL is allowed. */
void strobe_device_files_close(struct strobe_device_files *files);

#endif
