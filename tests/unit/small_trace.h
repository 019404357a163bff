/* small_trace.h - small traces for tests, made with the real encoder and writer. Every failure ends
 * the test. SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_SMALL_TRACE_H
#define STROBE_TESTS_SMALL_TRACE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/file_write.h"

enum { SMALL_TRACKS = 4 };

struct small_trace {
    char path[64];
    struct strobe_file_writer *writer;
    struct strobe_encoder enc;
    struct strobe_records records;
    struct strobe_track track[SMALL_TRACKS];
    uint64_t pos[SMALL_TRACKS];
    uint64_t part_pos;
};

static inline void small_start(struct small_trace *t)
{
    memset(t, 0, sizeof *t);
    snprintf(t->path, sizeof t->path, "/tmp/strobe-test-%d-XXXXXX", (int)getpid());
    int fd = mkstemp(t->path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(strobe_encode_init(&t->enc), STROBE_OK);
    assert_int_equal(strobe_file_create(t->path, "/session", 1, &t->writer), STROBE_OK);
}

/* A record of kinds 64-95 whose fields are numbers first, then texts. */
static inline void small_record(struct small_trace *t, uint32_t kind, const uint64_t *numbers,
                                size_t n, const char *const *texts, size_t n_texts)
{
    strobe_records_begin(&t->records, kind);
    for (size_t i = 0; i < n; i++)
        strobe_records_u(&t->records, numbers[i]);
    for (size_t i = 0; i < n_texts; i++)
        strobe_records_s(&t->records, texts[i], strlen(texts[i]));
    strobe_records_end(&t->records);
}

static inline void small_loc(struct small_trace *t, uint64_t proc, uint64_t id, const char *name)
{
    small_record(t, STROBE_META_LOC, (const uint64_t[]){proc, id, 7, 0}, 4,
                 (const char *const[]){"function", "file.c", name}, 3);
}

static inline void small_put_records(struct small_trace *t)
{
    assert_int_equal(strobe_file_put_records(t->writer, &t->records), STROBE_OK);
}

static inline void small_begin_part(struct small_trace *t, uint64_t proc, uint64_t track)
{
    t->part_pos = t->pos[track];
    strobe_encode_begin_part(&t->enc, &t->track[track], proc, track, t->pos[track]);
}

static inline void small_end_part(struct small_trace *t, uint64_t track, uint64_t n_words)
{
    strobe_encode_end_part(&t->enc, n_words);
    t->pos[track] += n_words;
}

static inline void small_put_events(struct small_trace *t)
{
    assert_int_equal(strobe_file_put_events(t->writer, &t->enc), STROBE_OK);
}

/* The part is the last of its block. */
static inline void small_end_block(struct small_trace *t, uint64_t track, uint64_t n_words)
{
    small_end_part(t, track, n_words);
    small_put_events(t);
}

static inline void small_number(struct small_trace *t, uint64_t tick, enum strobe_kind kind,
                                uint64_t number)
{
    uint8_t bytes[STROBE_VARINT_MAX];
    strobe_encode_event(&t->enc, tick, kind, bytes,
                        (size_t)(strobe_varint_put(bytes, number) - bytes));
}

static inline void small_text(struct small_trace *t, uint64_t tick, enum strobe_kind kind,
                              const char *text)
{
    uint8_t bytes[256];
    uint8_t *at = strobe_varint_put(bytes, strlen(text));
    memcpy(at, text, strlen(text));
    strobe_encode_event(&t->enc, tick, kind, bytes, (size_t)(at - bytes) + strlen(text));
}

/* One block with n zones of loc 1 on track 1, one after the other, 10 ticks long, every 20. */
static inline void small_zones(struct small_trace *t, uint64_t first_tick, int n)
{
    small_begin_part(t, 1, 1);
    for (int i = 0; i < n; i++) {
        strobe_encode_zone_begin(&t->enc, first_tick + 20 * (uint64_t)i, 1);
        strobe_encode_zone_end(&t->enc, first_tick + 20 * (uint64_t)i + 10, 1);
    }
    small_end_block(t, 1, 2 * (uint64_t)n);
}

static inline void small_free(struct small_trace *t)
{
    strobe_encode_free(&t->enc);
    strobe_records_free(&t->records);
    for (int i = 0; i < SMALL_TRACKS; i++)
        strobe_track_free(&t->track[i]);
}

/* Close in good order; the file stays until small_remove. */
static inline void small_finish(struct small_trace *t)
{
    assert_int_equal(strobe_file_finish(t->writer), STROBE_OK);
    small_free(t);
}

/* Leave the file as after a kill. */
static inline void small_kill(struct small_trace *t)
{
    strobe_file_abandon(t->writer);
    small_free(t);
}

static inline void small_remove(struct small_trace *t)
{
    unlink(t->path);
}

static inline void small_overwrite(const struct small_trace *t, uint64_t offset, const void *data,
                                   size_t n)
{
    int fd = open(t->path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, data, n, (off_t)offset), n);
    close(fd);
}

static inline uint64_t small_size(const struct small_trace *t)
{
    struct stat st;
    assert_int_equal(stat(t->path, &st), 0);
    return (uint64_t)st.st_size;
}

#endif
