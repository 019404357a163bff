/* records.c - growing a buffer of records. A record's size comes before its fields, so it is moved
 * into place when the record ends.  SPDX-License-Identifier: MIT */
#include "file/records.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/varint.h"
#include "wire/file_layout.h"
#include "wire/kinds.h"

void strobe_records_free(struct strobe_records *records)
{
    free(records->bytes);
    memset(records, 0, sizeof *records);
}

void strobe_records_reset(struct strobe_records *records)
{
    records->n_bytes = 0;
    records->n_records = 0;
    records->tick_min = ~0ull;
    records->tick_max = 0;
    records->failed = false;
    records->is_open = false;
}

static bool room(struct strobe_records *records, size_t n)
{
    STROBE_ASSERT(records->n_bytes <= records->cap);
    if (records->failed)
        return false;
    records->failed =
        STROBE_ARRAY_RESERVE(records->bytes, records->cap, (uint64_t)records->n_bytes + n);
    return !records->failed;
}

bool strobe_records_reserve(struct strobe_records *records, size_t n_bytes)
{
    return records->cap >= n_bytes || room(records, n_bytes);
}

static void put(struct strobe_records *records, uint64_t value)
{
    if (room(records, STROBE_VARINT_MAX))
        records->n_bytes =
            (size_t)(strobe_varint_put(records->bytes + records->n_bytes, value) - records->bytes);
}

void strobe_records_u(struct strobe_records *records, uint64_t value)
{
    STROBE_ASSERT(records->is_open);
    put(records, value);
}

void strobe_records_raw(struct strobe_records *records, const uint8_t *fields, size_t n_bytes)
{
    STROBE_ASSERT(records->is_open);
    if (!n_bytes || !room(records, n_bytes))
        return;
    memcpy(records->bytes + records->n_bytes, fields, n_bytes);
    records->n_bytes += n_bytes;
}

void strobe_records_s(struct strobe_records *records, const void *text, size_t n_bytes)
{
    strobe_records_u(records, n_bytes);
    strobe_records_raw(records, text, n_bytes);
}

void strobe_records_begin(struct strobe_records *records, uint32_t kind)
{
    if (records->n_records == 0 && records->n_bytes == 0)
        strobe_records_reset(records);
    STROBE_ASSERT(!records->is_open); /* the record before was ended */
    put(records, kind);
    records->open = records->n_bytes;
    records->is_open = true;
}

void strobe_records_end(struct strobe_records *records)
{
    STROBE_ASSERT(records->is_open && records->open <= records->n_bytes);
    records->is_open = false;
    if (!room(records, STROBE_VARINT_MAX))
        return;
    uint8_t size[STROBE_VARINT_MAX];
    size_t n_fields = records->n_bytes - records->open;
    size_t n_size = (size_t)(strobe_varint_put(size, n_fields) - size);
    uint8_t *at = records->bytes + records->open;
    memmove(at + n_size, at, n_fields);
    memcpy(at, size, n_size);
    records->n_bytes += n_size;
    STROBE_ASSERT(records->open + n_size + n_fields == records->n_bytes);
    records->n_records++;
}

void strobe_records_numbers(struct strobe_records *records, uint32_t kind, const uint64_t *numbers,
                            size_t n)
{
    strobe_records_begin(records, kind);
    for (size_t i = 0; i < n; i++)
        strobe_records_u(records, numbers[i]);
    strobe_records_end(records);
}

void strobe_records_tick(struct strobe_records *records, uint64_t tick)
{
    records->tick_min = tick < records->tick_min ? tick : records->tick_min;
    records->tick_max = tick > records->tick_max ? tick : records->tick_max;
}

void strobe_records_kinds(struct strobe_records *records)
{
    static const char *const lines[] = {
#define X(name, number, text, fields, names) #number " " text " " fields " " names,
        STROBE_KIND_LATER_LIST(X) STROBE_LATER_LIST(X) STROBE_FACT_LATER_LIST(X)
#undef X
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        strobe_records_begin(records, STROBE_FACT_KIND);
        strobe_records_s(records, lines[i], strlen(lines[i]));
        strobe_records_end(records);
    }
}
