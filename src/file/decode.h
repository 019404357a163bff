/* decode.h - what is inside a block: parts, events, zones, records.
 * Works on bytes in memory only. Everything is bounded by the block: at most
 * STROBE_BLOCK_EVENTS_MAX events and parts, STROBE_DECODE_MAX_ITEMS entries of stacks and location
 * lists, 16 MiB of streams. Damaged bytes give STROBE_ERR_CORRUPT, never more than that.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_FILE_DECODE_H
#define STROBE_FILE_DECODE_H

#include "base/err.h"
#include "base/varint.h"
#include "file/buckets.h"
#include "file/file_read.h"

enum {
    STROBE_DECODE_MAX_ITEMS = 1 << 20, /* stack entries and locations of one block */
    STROBE_DECODE_MAX_FIELDS = 16,     /* of one event or record */
    STROBE_DECODE_MAX_TEXT = 64 << 20, /* a text joined from pieces; the rest is cut off */
};

/* A zone that was open when a part began. */
struct strobe_part_zone {
    uint64_t loc;
    uint64_t begin;          /* tick */
    uint64_t children_ticks; /* of its finished children so far */
};

/* A run of consecutive events of one thread: docs/file-format.md, EVENTS. */
struct strobe_part {
    uint64_t proc;
    uint64_t track;
    uint64_t pos; /* number of its first word */
    uint64_t n_words;
    uint64_t first_tick;
    uint64_t last_tick;
    uint64_t start_early;
    uint64_t fiber; /* that the thread runs at the start, 0: none */
    uint64_t n_below;
    uint32_t n_events;
    uint32_t first_event; /* of its bytes in sym, lo, hi */
    uint32_t big_at, n_big;
    uint32_t side_at, n_side;
    uint32_t n_stack, n_locs;
    const struct strobe_part_zone *stack; /* borrowed from the strobe_events */
    const uint64_t *locs;                 /* borrowed from the strobe_events */
    const uint8_t *summary;               /* borrowed from the block's head; NULL: none */
    uint32_t n_summary;
    uint32_t n_ends;
    const uint8_t *ends;   /* borrowed from behind the parts: of the longest zones; NULL: none */
    const uint8_t *nested; /* borrowed from behind those: nested sums; NULL: none */
    uint32_t n_nested;     /* bytes */
    uint8_t knows_nested;  /* what is not in `nested` is not nested */
    uint32_t n_head;       /* bytes of it there, its summary included */
    const uint8_t *head;   /* borrowed from the block's head */
};

/* The kind of event that a symbol stands for: every begin of a zone is one kind. */
static inline unsigned strobe_kind_of_sym(uint8_t sym)
{
    return sym < STROBE_SYM_BEGIN_FAR ? sym : (unsigned)STROBE_KIND_ZONE_BEGIN;
}

/* A decoded EVENTS block. Zero-initialise before the first use; reuse it, free it once. */
struct strobe_events {
    struct strobe_part *parts; /* owned */
    uint32_t n_parts;
    uint32_t n_events;                       /* over all parts */
    const uint8_t *stream[STROBE_N_STREAMS]; /* borrowed from raw or from the block */
    uint32_t n_stream[STROBE_N_STREAMS];
    struct strobe_part_zone *stacks; /* owned: of all parts */
    uint64_t *locs;                  /* owned: of all parts */
    uint32_t n_stacks, n_locs;
    uint32_t parts_room, stacks_room, locs_room;
    uint8_t *raw; /* owned: decompressed streams */
    size_t raw_room;
    void *zstd; /* owned: ZSTD_DCtx */
};

/* Parse the head of a loaded EVENTS block into events->parts. The block must outlive the result. */
enum strobe_err strobe_decode_parts(const struct strobe_block *block, struct strobe_events *events);

/* Decompress the streams named in `wanted` (bit 1 << enum strobe_stream) after strobe_decode_parts.
 */
enum strobe_err strobe_decode_streams(const struct strobe_block *block, unsigned wanted,
                                      struct strobe_events *events);
#define STROBE_ALL_STREAMS ((1u << STROBE_N_STREAMS) - 1)

void strobe_events_free(struct strobe_events *events);

/* One field of an event or a record; which member holds it is told by the letter (wire/kinds.h). */
struct strobe_field {
    char letter;
    uint64_t u;           /* u, n, l; a: number of entries; s: length in bytes */
    int64_t i;            /* i */
    double d;             /* d */
    const char *text;     /* s: borrowed until the next event; not NUL-terminated */
    const uint64_t *list; /* a: borrowed until the next event */
};

struct strobe_event {
    unsigned kind; /* enum strobe_kind; of a zone's begin STROBE_KIND_ZONE_BEGIN */
    uint64_t tick;
    uint32_t number; /* in its part, from 0 */
    uint64_t loc;    /* ZONE_BEGIN, ZONE_END_AT, SPAN_BEGIN */
    int64_t own;     /* what an OWN_TIME after it says: more on its process's own clock */
    unsigned n_fields;
    struct strobe_field fields[STROBE_DECODE_MAX_FIELDS];
};

/* How kinds are laid out: the built-in list, with the file's schema for kinds that it lacks. */
struct strobe_schema {
    struct {
        char letters[STROBE_DECODE_MAX_FIELDS + 1];
        const char *name; /* borrowed: from the built-in list or from facts.schema */
        uint32_t n_name;
        const char *field_names; /* likewise */
        uint32_t n_field_names;
        int known; /* 1: there is such a kind */
    } kind[STROBE_FACT_COUNT];
};

/* Read the schema text of a file. Lines that make no sense are left out. */
void strobe_schema_read(const char *text, struct strobe_schema *out);

/* Texts and lists that outlive one event: pieces wait here for the event they belong to, over the
 * parts of one thread. Zero-initialise; free once. */
struct strobe_joiner {
    char *text; /* owned: pieces so far */
    size_t n_text, text_room;
    char *whole; /* owned: the joined text of the current event */
    size_t whole_room;
    uint64_t *list; /* owned */
    size_t list_room;
    int cut; /* 1: some text was longer than STROBE_DECODE_MAX_TEXT */
};
void strobe_joiner_free(struct strobe_joiner *joiner);

/* Add a piece to what waits. What is over STROBE_DECODE_MAX_TEXT is cut off. */
void strobe_joiner_add(struct strobe_joiner *joiner, const char *text, uint64_t n);

/* Read the fields that `letters` name, pieces joined. Their number, -1 where the bytes run out. */
int strobe_decode_fields(struct strobe_bytes *in, const char *letters, struct strobe_joiner *joiner,
                         struct strobe_field *fields);

/* Step over them. */
void strobe_decode_skip_fields(struct strobe_bytes *in, const char *letters);

/* A walk over the events of a part, all streams decoded. */
struct strobe_cursor {
    const struct strobe_events *events; /* borrowed */
    const struct strobe_part *part;     /* borrowed */
    const struct strobe_schema *schema; /* borrowed */
    struct strobe_joiner *joiner;       /* borrowed */
    struct strobe_bytes big, side;
    uint64_t tick;
    uint32_t at;
};

void strobe_cursor_start(struct strobe_cursor *cursor, const struct strobe_events *events,
                         const struct strobe_part *part, const struct strobe_schema *schema,
                         struct strobe_joiner *joiner);

/* The next event; pieces are joined and not shown, nor is an OWN_TIME. STROBE_ERR_END after the last. Fields of kinds
 * that nobody knows end the part with STROBE_ERR_CORRUPT: where they end can't be told. */
enum strobe_err strobe_cursor_next(struct strobe_cursor *cursor, struct strobe_event *out);

/* A record of a RECORDS block or of the ledger. */
struct strobe_record {
    unsigned kind;
    uint64_t proc; /* kinds 64-95 */
    unsigned n_fields;
    struct strobe_field fields[STROBE_DECODE_MAX_FIELDS];
};

/* The bytes of a body that is one run of them behind two sizes: of RECORDS, PAIRED and PAIRED_LOD. Zero-initialise; free once. */
struct strobe_unpacked {
    const uint8_t *bytes; /* borrowed: of the block, or of `raw` */
    size_t n;
    uint8_t *raw; /* owned */
    size_t raw_room;
    void *zstd; /* owned: ZSTD_DCtx */
};

/* Unpack a loaded block, which must outlive the bytes. CORRUPT, NOMEM. */
enum strobe_err strobe_block_unpack(const struct strobe_block *block, struct strobe_unpacked *out);
void strobe_unpacked_free(struct strobe_unpacked *unpacked);

/* The records of a block, or of the ledger. Zero-initialise; free once. */
struct strobe_record_walk {
    struct strobe_bytes in;
    const struct strobe_schema *schema; /* borrowed */
    struct strobe_joiner joiner;        /* pieces are kept over blocks */
    struct strobe_unpacked unpacked;
};

/* Begin with the records of a loaded RECORDS block, which must outlive the walk. */
enum strobe_err strobe_record_walk_start(const struct strobe_block *block,
                                         const struct strobe_schema *schema,
                                         struct strobe_record_walk *records);

/* Begin with records in memory (the ledger). */
void strobe_record_walk_over(const uint8_t *data, size_t n_bytes,
                             const struct strobe_schema *schema,
                             struct strobe_record_walk *records);

/* The next record, pieces joined. STROBE_ERR_END after the last; records that make no sense are
 * stepped over; STROBE_ERR_CORRUPT where even their length makes none. */
enum strobe_err strobe_record_walk_next(struct strobe_record_walk *records,
                                        struct strobe_record *out);

void strobe_record_walk_free(struct strobe_record_walk *records);

/* One location of a part's summary. */
struct strobe_summary_row {
    uint32_t loc_index; /* in part->locs */
    uint64_t count;
    uint64_t total_ticks;
    uint64_t self_ticks;
    uint64_t min_ticks;
    uint64_t max_ticks;
    unsigned __int128 squares; /* sum of squared durations */
    uint32_t n_buckets;
};

/* A walk over the first half of a summary. After each row, n_buckets times strobe_summary_bucket or
 * none at all: strobe_summary_next steps over what was not read. */
struct strobe_summary {
    struct strobe_bytes in;
    const struct strobe_part *part; /* borrowed */
    uint64_t n_rows;                /* still to come */
    uint32_t n_buckets;             /* still to come in this row */
    uint32_t bucket;
};
enum strobe_err strobe_summary_start(const struct strobe_part *part, struct strobe_summary *out);
enum strobe_err strobe_summary_next(struct strobe_summary *summary, struct strobe_summary_row *out);
enum strobe_err strobe_summary_bucket(struct strobe_summary *summary, uint32_t *bucket,
                                      uint64_t *count);

/* A walk over a part's nested sums: by location, the ticks of its zones that had another one of it open below them when they
 * ended. END after the last, CORRUPT where they make no sense. */
struct strobe_nested {
    struct strobe_bytes in;
    const struct strobe_part *part; /* borrowed */
    uint64_t n;                     /* still to come */
    uint64_t index;
};
void strobe_nested_start(const struct strobe_part *part, struct strobe_nested *out);
enum strobe_err strobe_nested_next(struct strobe_nested *nested, uint32_t *loc_index,
                                   uint64_t *ticks);

#endif
