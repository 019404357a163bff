/* wire_out.c - see wire_out.h. Frames are compressed one by one, without a look at those before:
 * every server takes that.  SPDX-License-Identifier: MIT */
#include "bridge/wire_out.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

bool strobe_wire_out_open(struct strobe_wire_out *out, uint32_t protocol)
{
    memset(out, 0, sizeof *out);
    if (!strobe_tracy_table_make(protocol, &out->table))
        return false;
    out->raw = malloc(STROBE_TRACY_RAW_MAX);
    out->stored = malloc(4 + LZ4_COMPRESSBOUND(STROBE_TRACY_RAW_MAX));
    if (out->raw && out->stored)
        return true;
    strobe_wire_out_close(out);
    return false;
}

void strobe_wire_out_close(struct strobe_wire_out *out)
{
    free(out->raw);
    free(out->stored);
    out->raw = out->stored = NULL;
}

size_t strobe_wire_out_frame(struct strobe_wire_out *out, const uint8_t **bytes)
{
    if (!out->n_raw)
        return 0;
    uint32_t n =
        (uint32_t)LZ4_compress_default((const char *)out->raw, (char *)out->stored + 4,
                                       (int)out->n_raw, LZ4_COMPRESSBOUND(STROBE_TRACY_RAW_MAX));
    STROBE_ASSERT(n); /* the bound says that it fits */
    memcpy(out->stored, &n, sizeof n);
    out->n_raw = 0;
    *bytes = out->stored;
    return n + sizeof n;
}

bool strobe_wire_has(const struct strobe_wire_out *out, enum strobe_tracy_event event)
{
    return out->table.number[event] != STROBE_TRACY_ABSENT;
}

static void put(struct strobe_wire_out *out, const void *bytes, size_t n)
{
    STROBE_ASSERT(out->n_raw + n <=
                  STROBE_TRACY_RAW_MAX); /* strobe_wire_out_full was asked before */
    if (out->n_raw + n > STROBE_TRACY_RAW_MAX)
        return;
    memcpy(out->raw + out->n_raw, bytes, n);
    out->n_raw += n;
}

static bool put_number(struct strobe_wire_out *out, enum strobe_tracy_event event)
{
    if (!strobe_wire_has(out, event))
        return false;
    uint8_t number = (uint8_t)out->table.number[event];
    put(out, &number, 1);
    out->n_events++;
    return true;
}

/* The difference to a reference, which moves on. */
static uint64_t step(uint64_t *ref, uint64_t time)
{
    uint64_t difference = time - *ref;
    *ref = time;
    return difference;
}

static void put_field(struct strobe_wire_out *out, char letter, uint64_t field)
{
    double wide;
    float narrow;
    switch (letter) {
    case 't':
        field = step(&out->thread_ref, field);
        break;
    case 's':
        field = step(&out->serial_ref, field);
        break;
    case 'g':
        field = step(&out->gpu_ref, field);
        break;
    case 'c':
        field = step(&out->ctx_ref, field);
        break;
    case 'f':
        memcpy(&wide, &field, sizeof wide);
        narrow = (float)wide;
        put(out, &narrow, sizeof narrow);
        return;
    }
    switch (letter) {
    case 'B':
    case 'b':
        put(out, &field, 1);
        return;
    case 'H':
        put(out, &field, 2);
        return;
    case 'I':
    case 'i':
        put(out, &field, 4);
        return;
    case '6':
        put(out, &field, 6);
        return;
    default:
        put(out, &field, 8);
        return; /* a t s g c p q d X */
    }
}

bool strobe_wire_put(struct strobe_wire_out *out, enum strobe_tracy_event event,
                     const uint64_t *fields)
{
    if (!put_number(out, event))
        return false;
    for (const char *letter = out->table.layout[event]; *letter; letter++)
        put_field(out, *letter, *fields++);
    return true;
}

/* The three forms of an event, by how far its time is from the one before. */
struct forms {
    enum strobe_tracy_event plain, middle, brief;
};

/* Since protocol 78 the short forms take what they can hold, and longer ones start where those end. The number is put; the time,
 * of *n_bytes, is for the caller. */
static uint64_t put_form(struct strobe_wire_out *out, const struct forms *forms, uint64_t *ref,
                         uint64_t tick, size_t *n_bytes)
{
    const uint64_t far = 65536 + (1ull << 32);
    uint64_t difference = step(ref, tick);
    *n_bytes = 8;
    if (!out->table.biased_times) {
        put_number(out, forms->plain);
    } else if (difference < 65536) {
        put_number(out, forms->brief);
        *n_bytes = 2;
    } else if (difference < far) {
        put_number(out, forms->middle);
        *n_bytes = 4;
        difference -= 65536;
    } else {
        put_number(out, forms->plain);
        if ((int64_t)difference >= 0)
            difference -= far;
    }
    STROBE_ASSERT(*n_bytes == 8 || difference >> 8 * *n_bytes == 0);
    return difference;
}

void strobe_wire_zone_begin(struct strobe_wire_out *out, uint64_t tick, uint64_t loc,
                            bool has_stack)
{
    static const struct forms bare = {STROBE_TRACY_ZONE_BEGIN, STROBE_TRACY_ZONE_BEGIN_32,
                                      STROBE_TRACY_ZONE_BEGIN_16};
    static const struct forms with_stack = {STROBE_TRACY_ZONE_BEGIN_CALLSTACK,
                                            STROBE_TRACY_ZONE_BEGIN_CALLSTACK_32,
                                            STROBE_TRACY_ZONE_BEGIN_CALLSTACK_16};
    size_t n;
    uint64_t time = put_form(out, has_stack ? &with_stack : &bare, &out->thread_ref, tick, &n);
    put(out, &time, n);
    put(out, &loc, 8);
}

void strobe_wire_zone_end(struct strobe_wire_out *out, uint64_t tick)
{
    static const struct forms forms = {STROBE_TRACY_ZONE_END, STROBE_TRACY_ZONE_END_32,
                                       STROBE_TRACY_ZONE_END_16};
    size_t n;
    uint64_t time = put_form(out, &forms, &out->thread_ref, tick, &n);
    put(out, &time, n);
}

void strobe_wire_sample(struct strobe_wire_out *out, uint64_t tick, uint32_t tid, bool at_switch)
{
    static const struct forms plain = {STROBE_TRACY_CALLSTACK_SAMPLE,
                                       STROBE_TRACY_CALLSTACK_SAMPLE_32,
                                       STROBE_TRACY_CALLSTACK_SAMPLE_16};
    static const struct forms of_switch = {STROBE_TRACY_CALLSTACK_SAMPLE_CONTEXT_SWITCH,
                                           STROBE_TRACY_CALLSTACK_SAMPLE_CONTEXT_SWITCH_32,
                                           STROBE_TRACY_CALLSTACK_SAMPLE_CONTEXT_SWITCH_16};
    size_t n;
    uint64_t time = put_form(out, at_switch ? &of_switch : &plain, &out->ctx_ref, tick, &n);
    if (out->table.biased_times) { /* the thread comes first since the forms are three */
        put(out, &tid, sizeof tid);
        put(out, &time, n);
    } else {
        put(out, &time, n);
        put(out, &tid, sizeof tid);
    }
}

void strobe_wire_thread(struct strobe_wire_out *out, uint32_t tid)
{
    put_number(out, STROBE_TRACY_THREAD_CONTEXT);
    put(out, &tid, sizeof tid);
    out->thread_ref = 0;
}

/* A length of two bytes and the text. */
static void put_long_text(struct strobe_wire_out *out, const void *text, size_t n, uint32_t bias)
{
    STROBE_ASSERT(n >= bias && n - bias <= UINT16_MAX);
    uint16_t length = (uint16_t)(n - bias);
    put(out, &length, sizeof length);
    put(out, text, n);
}

static void put_text(struct strobe_wire_out *out, enum strobe_tracy_event plain,
                     enum strobe_tracy_event brief, const char *text, size_t n)
{
    if (n > STROBE_BRIDGE_MAX_TEXT)
        n = STROBE_BRIDGE_MAX_TEXT;
    if (out->table.long_text_bias && n < out->table.long_text_bias) {
        uint8_t length = (uint8_t)n;
        put_number(out, brief);
        put(out, &length, 1);
        put(out, text, n);
        return;
    }
    put_number(out, plain);
    put_long_text(out, text, n, out->table.long_text_bias);
}

void strobe_wire_text(struct strobe_wire_out *out, const char *text, size_t n)
{
    put_text(out, STROBE_TRACY_SINGLE_STRING_DATA, STROBE_TRACY_SINGLE_STRING_DATA_8, text, n);
}

void strobe_wire_second_text(struct strobe_wire_out *out, const char *text, size_t n)
{
    put_text(out, STROBE_TRACY_SECOND_STRING_DATA, STROBE_TRACY_SECOND_STRING_DATA_8, text, n);
}

void strobe_wire_transfer(struct strobe_wire_out *out, enum strobe_tracy_event event,
                          uint64_t pointer, const void *bytes, size_t n)
{
    put_number(out, event);
    put(out, &pointer, sizeof pointer);
    if (event == STROBE_TRACY_FRAME_IMAGE_DATA) {
        uint32_t length = (uint32_t)n;
        put(out, &length, sizeof length);
        put(out, bytes, n);
        return;
    }
    put_long_text(out, bytes, n < STROBE_BRIDGE_MAX_TEXT ? n : STROBE_BRIDGE_MAX_TEXT, 0);
}
