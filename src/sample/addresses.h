/* addresses.h - addresses in stacks that traced programs recorded themselves (of allocations, of waits for locks, of marks), kept
 * for their names at the end of the recording: what the sampler does for its own stacks.
 *
 *   MODULE record ─► strobe_addresses_module ─┐
 *   STACK event   ─► strobe_addresses_stack  ─┼► wanted.h ─► symbolize.h, with the sampler's addresses where one runs
 *   LOC record    ─► strobe_addresses_function┘
 *
 * A file is opened when the first address in it comes, through its process's root while that lives. All input is a
 * stranger's. Bounded: at most STROBE_ADDRESSES_MAPPINGS files of all processes, STROBE_WANTED_MAX addresses.
 * One thread.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_ADDRESSES_H
#define STROBE_SAMPLE_ADDRESSES_H

#include "build/build.h"
#include "build/mapped.h"
#include "sample/symbolize.h"

enum { STROBE_ADDRESSES_MAPPINGS = 1 << 16 };

struct strobe_addresses {
    struct strobe_modules modules; /* files that were opened */
    struct strobe_wanted wanted;
    struct strobe_addresses_mapping {
        uint32_t proc, pid;
        uint64_t start, end, offset;
        uint32_t text;   /* in texts */
        uint32_t before; /* the mapping of this process before it, index + 1 */
        bool is_tried;
        struct strobe_sample_module *module; /* borrowed from modules; NULL: not opened */
    } * mappings;                            /* owned */
    uint32_t n_mappings, mappings_room;
    struct strobe_textmap texts; /* "build id\0path" */
    struct strobe_map newest;    /* proc: index + 1 of its mapping that came last */
    struct strobe_addresses_waiting {
        uint64_t address;
        uint32_t proc;
    } * waiting; /* owned: addresses that came before their file */
    uint32_t n_waiting, waiting_room;
};

void strobe_addresses_free(struct strobe_addresses *addresses); /* zeroes are allowed */

/* A file and a stack, in the order in which they come; a stack may come before its files. What has no room is left out: readers
 * on this machine still find its names. */
void strobe_addresses_module(struct strobe_addresses *addresses,
                             const struct strobe_mapped_file *file);
void strobe_addresses_stack(struct strobe_addresses *addresses, uint32_t proc, const uint64_t *list,
                            uint32_t n);

/* A function that has a location of its own, of a file that was named before: the location gets source file, line and whole name at the
 * end. */
void strobe_addresses_function(struct strobe_addresses *addresses, uint32_t proc, uint64_t loc,
                               const char *path, uint64_t vaddr);

/* Put all addresses to those of a sampler, whose names are looked up with its own. Nothing is left here. */
void strobe_addresses_move(struct strobe_addresses *addresses, struct strobe_wanted *wanted,
                           struct strobe_modules *modules);
/* Without a sampler: names of all addresses to the trace. The number of addresses that got one. */
uint32_t strobe_addresses_name(struct strobe_addresses *addresses,
                               const struct strobe_build_store_options *options);

#endif
