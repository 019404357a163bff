/* events.c - the tables of a protocol, made of the one list of all.  SPDX-License-Identifier: MIT */
#include "tracy/events.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static const struct {
    uint8_t first, last;
    uint8_t event;
    const char *layout;
} rows[] = {
#define X(first, last, name, layout) {first, last, STROBE_TRACY_##name, layout},
    STROBE_TRACY_EVENT_LIST(X)
#undef X
};
static_assert(STROBE_TRACY_N_EVENTS <= 256, "an event is kept in a byte");

/* Bytes of a letter; those of a tail are counted apart. */
static uint32_t letter_bytes(char letter)
{
    switch (letter) {
    case 'a':
    case 't':
    case 's':
    case 'c':
    case 'g':
    case 'p':
    case 'q':
    case 'd':
    case 'X':
        return 8;
    case '6':
        return 6;
    case '4':
    case 'Y':
    case 'f':
    case 'I':
    case 'i':
        return 4;
    case '2':
    case 'y':
    case 'H':
        return 2;
    case 'B':
    case 'b':
        return 1;
    }
    return 0;
}

static uint8_t tail_bytes(char letter)
{
    return letter == 'N' ? 2 : letter == 'n' ? 1 : letter == 'L' ? 4 : 0;
}

static void add_row(struct strobe_tracy_table *table, uint8_t event, const char *layout)
{
    uint32_t number = table->n_numbers++;
    uint32_t size = 1;
    for (const char *letter = layout; *letter; letter++) {
        size += letter_bytes(*letter);
        table->tail[number] = tail_bytes(*letter);
    }
    table->event[number] = event;
    table->size[number] = (uint8_t)size;
    table->number[event] = (uint16_t)number;
    table->layout[event] = layout;
}

bool strobe_tracy_table_make(uint32_t protocol, struct strobe_tracy_table *out)
{
    if (protocol < STROBE_TRACY_FIRST || protocol > STROBE_TRACY_LAST)
        return false;
    memset(out, 0, sizeof *out);
    out->protocol = protocol;
    for (uint32_t i = 0; i < STROBE_TRACY_N_EVENTS; i++)
        out->number[i] = STROBE_TRACY_ABSENT;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].first <= protocol && protocol <= rows[i].last)
            add_row(out, rows[i].event, rows[i].layout);
    out->welcome_has_delay = protocol < 75;
    out->welcome_bytes = out->welcome_has_delay ? 1178 : 1170;
    out->long_text_bias = protocol >= 80 ? 256 : 0;
    out->biased_times = protocol >= 78;
    out->message_has_meta = protocol >= 77;
    return true;
}

/* Queries by number: up to 55, up to 60, up to 65, later. */
#define ASK(name) STROBE_TRACY_ASK_##name
static const uint8_t asks_55[] = {
    ASK(TERMINATE),     ASK(STRING),          ASK(THREAD),        ASK(LOC),
    ASK(PLOT),          ASK(CALLSTACK_FRAME), ASK(FRAME),         ASK(DISCONNECT),
    ASK(EXTERNAL),      ASK(PARAMETER),       ASK(SYMBOL),        ASK(SYMBOL_CODE),
    ASK(CODE_LOCATION), ASK(SOURCE_CODE),     ASK(DATA_TRANSFER), ASK(DATA_TRANSFER_PART),
    ASK(FIBER)};
static const uint8_t asks_60[] = {ASK(TERMINATE),
                                  ASK(STRING),
                                  ASK(THREAD),
                                  ASK(LOC),
                                  ASK(PLOT),
                                  ASK(FRAME),
                                  ASK(PARAMETER),
                                  ASK(FIBER),
                                  ASK(DISCONNECT),
                                  ASK(CALLSTACK_FRAME),
                                  ASK(EXTERNAL),
                                  ASK(SYMBOL),
                                  ASK(SYMBOL_CODE),
                                  ASK(CODE_LOCATION),
                                  ASK(SOURCE_CODE),
                                  ASK(DATA_TRANSFER),
                                  ASK(DATA_TRANSFER_PART)};
static const uint8_t asks_65[] = {
    ASK(TERMINATE),   ASK(STRING),          ASK(THREAD),        ASK(LOC),
    ASK(PLOT),        ASK(FRAME),           ASK(PARAMETER),     ASK(FIBER),
    ASK(DISCONNECT),  ASK(CALLSTACK_FRAME), ASK(EXTERNAL),      ASK(SYMBOL),
    ASK(SYMBOL_CODE), ASK(SOURCE_CODE),     ASK(DATA_TRANSFER), ASK(DATA_TRANSFER_PART)};
static const uint8_t asks_82[] = {
    ASK(TERMINATE),   ASK(STRING),      ASK(THREAD),          ASK(LOC),
    ASK(PLOT),        ASK(FRAME),       ASK(PARAMETER),       ASK(FIBER),
    ASK(EXTERNAL),    ASK(DISCONNECT),  ASK(CALLSTACK_FRAME), ASK(SYMBOL),
    ASK(SYMBOL_CODE), ASK(SOURCE_CODE), ASK(DATA_TRANSFER),   ASK(DATA_TRANSFER_PART)};
#undef ASK

int strobe_tracy_query_number(uint32_t protocol, enum strobe_tracy_query query)
{
    const uint8_t *asks = protocol <= 55   ? asks_55
                          : protocol <= 60 ? asks_60
                          : protocol <= 65 ? asks_65
                                           : asks_82;
    int n = protocol <= 60 ? sizeof asks_60 : sizeof asks_82;
    for (int i = 0; i < n; i++)
        if (asks[i] == query)
            return i;
    return -1;
}
