/* out.h - fast output of tables: a large buffer, hand-written numbers, CSV and JSON quoting.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_OUT_H
#define STROBE_EXPORT_OUT_H

#include <stddef.h>
#include <stdint.h>

enum {
    STROBE_OUT_BYTES = 1 << 18,
    STROBE_OUT_SLACK = 4096, /* always free after strobe_out_reserve */
};

struct strobe_out {
    char *bytes; /* owned */
    size_t n;
    int fd;    /* borrowed */
    int error; /* errno of the first write that failed, 0: none; later output is dropped */
};

/* 0 without memory. */
int strobe_out_open(struct strobe_out *out, int fd);

/* Write what waits. */
void strobe_out_flush(struct strobe_out *out);

/* Flush and free. errno of the first write that failed, 0: none. */
int strobe_out_end(struct strobe_out *out);

/* Room for STROBE_OUT_SLACK bytes at out->bytes + out->n. */
static inline char *strobe_out_reserve(struct strobe_out *out)
{
    if (out->n > STROBE_OUT_BYTES - STROBE_OUT_SLACK)
        strobe_out_flush(out);
    return out->bytes + out->n;
}

void strobe_out_bytes(struct strobe_out *out, const char *text, size_t n);
void strobe_out_text(struct strobe_out *out, const char *text);
void strobe_out_char(struct strobe_out *out, char c);
void strobe_out_u(struct strobe_out *out, uint64_t value);
void strobe_out_i(struct strobe_out *out, int64_t value);
void strobe_out_hex(struct strobe_out *out, uint64_t value);
void strobe_out_double(struct strobe_out *out, double value);
void strobe_out_format(struct strobe_out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A field of RFC 4180: quoted where it has to be. */
void strobe_out_csv(struct strobe_out *out, const char *text, size_t n);

/* A JSON string with its quotes. Bytes that are no UTF-8 come out as U+FFFD. */
void strobe_out_json(struct strobe_out *out, const char *text, size_t n);

/* As strobe_out_csv and _u, at a place with room enough (2 * n + 2; 20); the place after. */
char *strobe_put_csv(char *at, const char *text, size_t n);
char *strobe_put_u(char *at, uint64_t value);
char *strobe_put_i(char *at, int64_t value);

/* For people: "1.234 ms", "12.3 MB". `room` has 32 bytes. */
const char *strobe_show_ns(uint64_t ns, char room[32]);
const char *strobe_show_bytes(uint64_t n, char room[32]);
/* 12345678 as "12,345,678". */
const char *strobe_show_count(uint64_t n, char room[32]);

#endif
