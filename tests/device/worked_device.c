/* worked_device.c - the worked example of docs/device-protocol.md: what the writer and the relay made, word by word.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "native.h"
#include "writer.h"

extern uint64_t native_cycles;

/* What a word of a run is: the first of a record, with its name; or NULL. */
static const char *name_of(uint32_t word)
{
    switch (STROBE_ST_TYPE(word)) {
    case STROBE_ST_ZONE_M:
        return "ZONE_M";
    case STROBE_ST_ZONE_S:
        return "ZONE_S";
    case STROBE_ST_PROGRAM:
        return "PROGRAM";
    case STROBE_ST_TIMER:
        return "TIMER";
    case STROBE_ST_DATA:
        return "DATA";
    case STROBE_ST_EVENT:
        return "EVENT";
    default:
        return "?";
    }
}

static uint32_t print_record(const uint32_t *words)
{
    static const uint32_t lengths[16] = {2, 2, 3, 2, 5, 0, 0, 0, 1, 1, 3, 0, 2, 0, 2, 0};
    uint32_t n = lengths[STROBE_ST_TYPE(words[0])];
    if (STROBE_ST_TYPE(words[0]) == STROBE_ST_DATA)
        n += words[2] >> 25;
    printf("%-9s", name_of(words[0]));
    for (uint32_t i = 0; i < n; i++)
        printf(" %08x", words[i]);
    printf("\n");
    return n;
}

static void print_frame(const uint32_t *words)
{
    static const char *const rows[] = {"frame", "run"};
    for (uint32_t i = 0; i < 24; i += 8) {
        printf("%-9s", i ? "" : rows[0]);
        for (uint32_t k = 0; k < 8; k++)
            printf(" %08x", words[i + k]);
        printf("\n");
    }
    for (uint32_t at = 24; at < 8 + words[1];)
        at += print_record(words + at);
}

int main(void)
{
    struct writer_zone outer, inner;
    const uint64_t value = 0x100000007;
    native_reset();
    native_step = 0;
    native_core()->program = 5;
    native_cycles = (2ull << 32) + 1000;
    writer_begin();
    writer_open(STROBE_ID27(1, 0), &outer);
    native_cycles += 200;
    writer_open(STROBE_ID27(1, 1), &inner);
    native_cycles += 50;
    writer_close(STROBE_ID27(1, 1), &inner);
    native_cycles += 10;
    writer_event(STROBE_ID27(1, 2));
    native_cycles += 10;
    writer_data(STROBE_ID27(1, 3), &value, 1);
    native_cycles += 30;
    writer_close(STROBE_ID27(1, 0), &outer);
    writer_end();
    native_ship();
    print_frame(native_frames);
    return 0;
}
