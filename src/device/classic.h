/* classic.h - the classic wire form: marker words of one RISC, as they lay in DRAM or L1.
 * Two ways to read them: as markers, one by one, in the order of the buffer or of time; or as zones, paired,
 * fast. Neither trusts the words: what makes no sense is skipped and counted. No I/O; no allocation but the
 * caller's.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_CLASSIC_H
#define STROBE_DEVICE_CLASSIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/stream.h"

struct strobe_device_marker {
    uint64_t time;           /* cycles, 44 bits; a TOTAL has that of its run's first zone marker */
    uint64_t data, data_two; /* of DATA, DATA_16; of TOTAL: cycles */
    uint32_t program;        /* ID_LL; 0: none */
    uint16_t id, trace_counter, flat_id;
    uint8_t risc;
    uint8_t packet; /* enum strobe_classic_packet */
};

/* Decode n_words words to at most n_words / 2 markers, in the order of the buffer. Data before the first run
 * belongs to it. `*n_bad`: words that are no marker. Returns the markers. */
size_t strobe_device_classic_markers(const uint32_t *words, size_t n_words,
                                     struct strobe_device_marker *out, uint64_t *n_bad);
/* Put markers of one RISC in the order of time (as in the buffer where times are equal), and remove
 * those that came twice: a buffer that was pushed in pieces repeats its guaranteed ones. Returns how many are
 * left. */
size_t strobe_device_classic_order(struct strobe_device_marker *markers, size_t n_markers);

enum { STROBE_CLASSIC_DEPTH = 128 }; /* zones that can be open; a buffer has room for 125 */

/* What a RISC's words left open. All zero is the start; one per RISC, for all its words in order. */
struct strobe_device_pairs {
    uint64_t starts[STROBE_CLASSIC_DEPTH];
    uint16_t ids[STROBE_CLASSIC_DEPTH];
    uint32_t n_open;
    uint32_t program;
    uint64_t main_start, child_start; /* of the guaranteed zones of this run, if open */
    uint16_t main_id, child_id;
    bool has_main, has_child;
    /* counts, over all words */
    uint64_t n_zones, n_runs, n_unfinished, n_orphans, n_bad, n_others;
};

/* Pair zones: writes at most `room` (at least 2), returns how many; `*n_used` words were read. Call again with the
 * rest until all are used. Markers that are no zones are counted in n_others and skipped; begins whose run
 * ends without their end in n_unfinished; ends without a begin in n_orphans. */
size_t strobe_device_classic_zones(struct strobe_device_pairs *pairs, const uint32_t *words,
                                   size_t n_words, size_t *n_used, struct strobe_device_zone *zones,
                                   size_t room);

/* DRAM was full when a RISC was read. */
struct strobe_device_full_buffer {
    uint32_t device, core_yx;
    const char *risc; /* borrowed: its name */
    uint32_t end_words, needed_words, program_words;
};
/* The support count that would have sufficed for all that was marked. */
uint32_t strobe_device_classic_support(const struct strobe_device_full_buffer *full);
/* The warning that tt-metal's users know, with that count; cut to `room`. */
void strobe_device_classic_warning(const struct strobe_device_full_buffer *full, char *out,
                                   size_t room);

#endif
