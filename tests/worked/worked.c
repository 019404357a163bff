/* worked.c - prints the worked examples of docs/ring-protocol.md and docs/file-format.md, from bytes that the library and
 * the recorder's own code made. check_worked.py compares them with the documents.
 *
 * usage: worked words | worked block. Run it with STROBE_DISABLE=1: its thread is a made-up one.
 * SPDX-License-Identifier: MIT */
#include "client/client.h"
#include "../unit/small_trace.h"

enum { LOC_OUTER = 5, LOC_INNER = 6, N_WORDS = 64 };

static const char *const kind_names[STROBE_KIND_COUNT] = {
#define X(name, number, text, fields, names) [number] = text,
    STROBE_KIND_LIST(X)
#undef X
};

/* ---- the words of a thread's stream ---- */

static struct strobe_gate gate = {.active = 1};
static struct strobe_thread thread;

/* Emit through the hot path into `words`. False: the clock's upper half changed meanwhile, and it went the slow way. */
static int emit_into(uint64_t *words)
{
    struct strobe_loc outer = {
        STROBE_WORD_BEGIN | (uint64_t)LOC_OUTER << 32, "outer", "f", "f.c", 1, 0};
    struct strobe_loc inner = {
        STROBE_WORD_BEGIN | (uint64_t)LOC_INNER << 32, "inner", "f", "f.c", 2, 0};
    memset(words, 0, 8 * N_WORDS);
    thread.generation = gate.active;
    thread.hot.cursor = (uint64_t)(uintptr_t)words << 16 | N_WORDS;
    thread.hot.epoch = (uint32_t)(strobe_ticks() >> 32);
    struct strobe_zone a = strobe_zone_begin(&outer);
    struct strobe_zone b = strobe_zone_begin(&inner);
    strobe_zone_value(7);
    strobe_zone_add_text(&a, "model.bin", 9);
    strobe_zone_end(&b);
    strobe_zone_end(&a);
    return N_WORDS - (int16_t)thread.hot.cursor == 11 &&
           (uint32_t)(strobe_ticks() >> 32) == thread.hot.epoch;
}

static void print_first_word(uint64_t word)
{
    uint32_t what = (uint32_t)(word >> 32);
    printf("%04x %04x tttt tttt  ", what >> 16, what & 0xffff);
    if (STROBE_WORD_IS_BEGIN(word))
        printf("begin of a zone of location %u\n", what & (unsigned)STROBE_WORD_ID_MAX);
    else if (STROBE_WORD_IS_END(word))
        printf("end of a zone of location %u\n", what & (unsigned)STROBE_WORD_ID_MAX);
    else
        printf("record of kind %u (%s), %u words\n", what >> 16 & 0xfff,
               kind_names[what >> 16 & 0xfff], what & 0xffff);
}

static int print_words(void)
{
    uint64_t words[N_WORDS];
    strobe_gate_now = &gate;
    strobe_hot_now = &thread.hot;
    int tries = 0;
    while (!emit_into(words))
        if (++tries == 1000)
            return 1;
    for (int i = 0; words[i];) {
        int n = words[i] >> 62 ? 1 : (int)(words[i] >> 32 & 0xffff);
        print_first_word(words[i]);
        for (int k = 1; k < n; k++) {
            const uint64_t w = words[i + k];
            printf("%04x %04x %04x %04x", (unsigned)(w >> 48), (unsigned)(w >> 32 & 0xffff),
                   (unsigned)(w >> 16 & 0xffff), (unsigned)(w & 0xffff));
            printf("    field or text, %d of %d\n", k, n - 1);
        }
        i += n;
    }
    return 0;
}

/* ---- a block ---- */

static const uint8_t *bytes; /* of the block */
static size_t at;

/* The next `n` bytes in hex, and what they are. */
static void show(size_t n, const char *what, ...) __attribute__((format(printf, 2, 3)));
static void show(size_t n, const char *what, ...)
{
    va_list args;
    int column = printf("%4zu ", at);
    for (size_t i = 0; i < n; i++)
        column += printf(" %02x", bytes[at + i]);
    printf("%*s", column < 32 ? 32 - column : 2, "");
    va_start(args, what);
    vprintf(what, args);
    va_end(args);
    putchar('\n');
    at += n;
}

static void show_number(size_t n, const char *what)
{
    uint64_t value = 0;
    memcpy(&value, bytes + at, n);
    show(n, "%s %llu", what, (unsigned long long)value);
}

static uint64_t show_varint(const char *what)
{
    struct strobe_bytes in = strobe_bytes_over(bytes + at, STROBE_VARINT_MAX);
    uint64_t value = strobe_get_varint(&in);
    show((size_t)(in.at - (bytes + at)), "%s %llu", what, (unsigned long long)value);
    return value;
}

static void show_header(void)
{
    static const struct {
        size_t n;
        const char *what;
    } fields[] = {{1, "type: EVENTS,"}, {1, "level"},      {2, "reserved"},  {8, "seq"},
                  {4, "head_bytes"},    {4, "body_bytes"}, {4, "head_raw"},  {4, "n_items"},
                  {8, "tick_min"},      {8, "tick_max"},   {8, "prev_index"}};
    show(4, "magic");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        show_number(fields[i].n, fields[i].what);
    show(8, "payload_hash");
    show(8, "header_hash");
}

static void show_head(void)
{
    static const char *const before[] = {"parts:",  "proc",     "track",     "pos",
                                         "n_words", "n_events", "first_tick"};
    static const char *const after[] = {"start_early", "fiber", "n_below", "n_stack"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        show_varint(before[i]);
    show_varint("span, zigzag:");
    for (size_t i = 0; i < sizeof after / sizeof *after; i++)
        show_varint(after[i]);
    for (uint64_t n = show_varint("n_locs"); n; n--)
        show_varint("difference to the loc id before, zigzag:");
    show_varint("n_big");
    show_varint("n_side");
    show_varint("flags");
}

static void show_body(void)
{
    static const char *const names[] = {"sym", "lo", "hi", "big", "side"};
    uint32_t sizes[10];
    memcpy(sizes, bytes + at, sizeof sizes);
    for (int i = 0; i < 5; i++)
        show(8, "%s: raw size %u, stored size %u", names[i], sizes[2 * i], sizes[2 * i + 1]);
    for (int i = 0; i < 5; i++)
        if (sizes[2 * i + 1])
            show(sizes[2 * i + 1], "%s", names[i]);
}

static void make_block(struct small_trace *t)
{
    static const uint8_t fields[] = {LOC_OUTER, 9, 'm', 'o', 'd', 'e', 'l', '.', 'b', 'i', 'n'};
    small_start(t);
    small_begin_part(t, 1, 1);
    strobe_encode_zone_begin(&t->enc, 1000, LOC_OUTER);
    strobe_encode_zone_begin(&t->enc, 1010, LOC_INNER);
    small_number(t, 1015, STROBE_KIND_ZONE_VALUE, 7);
    strobe_encode_event(&t->enc, 1020, STROBE_KIND_ZONE_TEXT_AT, fields, sizeof fields);
    strobe_encode_zone_end(&t->enc, 1300, LOC_INNER);
    strobe_encode_zone_end(&t->enc, 101300, LOC_OUTER);
    small_end_part(t, 1, 11);
    small_put_events(t);
    small_finish(t);
}

static int print_block(void)
{
    struct small_trace t;
    static uint8_t block[1024];
    make_block(&t);
    int fd = open(t.path, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : pread(fd, block, sizeof block, STROBE_FILE_FIRST_BLOCK);
    small_remove(&t);
    if (n < 200)
        return 1;
    bytes = block;
    show_header();
    show_head();
    show_body();
    return 0;
}

int main(int argc, char **argv)
{
    return argc > 1 && !strcmp(argv[1], "words") ? print_words() : print_block();
}
