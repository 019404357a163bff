/* records.h - building the contents of RECORDS blocks, field by field (docs/file-format.md).
 * A failed allocation sets `failed` and is told by strobe_file_put_records.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_FILE_RECORDS_H
#define STROBE_FILE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* error_ns of a clock_map: nothing is known of how far its times are off. */
#define STROBE_CLOCK_ERROR_UNKNOWN 1000000000000000000ull

struct strobe_records {
    uint8_t *bytes; /* owned: cap bytes, freed by strobe_records_free */
    size_t n_bytes;
    size_t cap;
    size_t open;  /* where the fields of the record under construction start */
    bool is_open; /* one is under construction */
    uint32_t n_records;
    uint64_t tick_min, tick_max;
    bool failed;
};

/* Room for so many bytes, so that they can't fail later. False: no memory. */
bool strobe_records_reserve(struct strobe_records *records, size_t n_bytes);
void strobe_records_free(struct strobe_records *records);
void strobe_records_reset(struct strobe_records *records);

/* A record of `kind`: begin, its fields in the schema's order, end. */
void strobe_records_begin(struct strobe_records *records, uint32_t kind);
void strobe_records_u(struct strobe_records *records, uint64_t value);
void strobe_records_s(struct strobe_records *records, const void *text, size_t n_bytes);
/* Fields that are in the file's form already. */
void strobe_records_raw(struct strobe_records *records, const uint8_t *fields, size_t n_bytes);
void strobe_records_end(struct strobe_records *records);

/* A record of numbers only. */
void strobe_records_numbers(struct strobe_records *records, uint32_t kind, const uint64_t *numbers,
                            size_t n);

/* Note that the block has something of that time. */
void strobe_records_tick(struct strobe_records *records, uint64_t tick);

/* KIND records of the kinds that a file's head does not list: before the first of those. */
void strobe_records_kinds(struct strobe_records *records);

#endif
