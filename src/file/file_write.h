/* file_write.h - writing a trace file: append-only blocks, an index as it grows, a footer at the
 * end.
 *
 * A block that was put is in the kernel's hands when the call returns: the death of the writer
 * loses nothing of it. A block that could not be written is told by the result, and leaves the file
 * as it was; the caller counts what was in it. Several threads may put, count and read the totals, each with
 * an encoder and records of its own; opening and closing is for one of them while the others are not there.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_FILE_FILE_WRITE_H
#define STROBE_FILE_FILE_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "file/encode.h"
#include "file/records.h"
#include "wire/ring_layout.h"

struct strobe_file_writer;

/* What the footer says. */
struct strobe_file_totals {
    uint64_t by_kind[STROBE_KIND_COUNT];
    uint64_t lost[STROBE_LOSS_COUNT]; /* by enum strobe_loss */
    uint64_t n_procs, n_threads;
    uint64_t first_tick, last_tick;
    uint64_t n_events, n_zones;
    uint64_t n_bytes; /* of the file so far */
};

/* Make a new trace at `path` (an existing file is replaced; BUSY: another writer has it open), with `session` noted in its head. The
 * space of head and ledger is allocated here: NOSPACE now is better than later. */
enum strobe_err strobe_file_create(const char *path, const char *session, uint64_t sync_ns,
                                   struct strobe_file_writer **out);

/* Say in the head that the trace was recorded at `created_ns` (CLOCK_REALTIME): that of a piece is its origin's. */
enum strobe_err strobe_file_set_created(struct strobe_file_writer *writer, uint64_t created_ns);

/* Whether `path` has something that is no trace and would be lost if one was made there: a regular file, neither empty nor
 * with the first bytes of a trace. */
bool strobe_file_is_foreign(const char *path);

/* Go on with a file whose valid blocks end at `end`; the next block gets number `seq`. What lies
 * behind `end` is cut off. `totals` and `entries` are what its blocks hold. */
enum strobe_err strobe_file_append(const char *path, uint64_t end, uint64_t seq,
                                   const struct strobe_file_totals *totals,
                                   const struct strobe_index_entry *entries, uint64_t n_entries,
                                   struct strobe_file_writer **out);

/* Write the encoder's block and reset it. After an error it is not reset: see enc->n_events. LIMIT: with it the file would
 * be longer than this process may make one (RLIMIT_FSIZE); there is still room for the records and the footer. */
enum strobe_err strobe_file_put_events(struct strobe_file_writer *writer,
                                       struct strobe_encoder *enc);

/* Write the records and reset them; nothing is written for none. */
enum strobe_err strobe_file_put_records(struct strobe_file_writer *writer,
                                        struct strobe_records *records);

/* Write a PAIRED or PAIRED_LOD block of these bytes (file/paired.h), at most 16 MiB of them. *offset: where it is. */
enum strobe_err strobe_file_put_paired(struct strobe_file_writer *writer,
                                       enum strobe_block_type type, uint16_t flags,
                                       uint32_t n_items, const uint8_t *bytes, size_t n,
                                       uint64_t *offset);

/* Keep loss records in the reserved area: for when no block can be written. */
enum strobe_err strobe_file_put_ledger(struct strobe_file_writer *writer,
                                       const struct strobe_records *records);

/* Copy one block as it is from another trace (copy.h). */
enum strobe_err strobe_file_put_block(struct strobe_file_writer *writer,
                                      const struct strobe_block_head *head, const uint8_t *payload,
                                      const struct strobe_index_entry *entry);

/* The totals themselves, for a writer that one thread has to itself. */
struct strobe_file_totals *strobe_file_totals(struct strobe_file_writer *writer);

/* A copy of them, the file's size, and additions to them: thread-safe. */
void strobe_file_read_totals(struct strobe_file_writer *writer, struct strobe_file_totals *out);
uint64_t strobe_file_n_bytes(struct strobe_file_writer *writer);
void strobe_file_count(struct strobe_file_writer *writer, uint64_t n_procs, uint64_t n_threads);
void strobe_file_count_lost(struct strobe_file_writer *writer, uint32_t cause, uint64_t count);

/* The uuid of its head; zeroes: it can't be read. */
void strobe_file_uuid(const struct strobe_file_writer *writer, uint8_t out[16]);

/* Another descriptor of the file, to be read and closed by the caller: it leads to the file whatever becomes of its name. -1: errno tells
 * why. */
int strobe_file_dup(const struct strobe_file_writer *writer);

/* Force what was written to the disk, and the file's name before it. Thread-safe. */
enum strobe_err strobe_file_sync(struct strobe_file_writer *writer);

/* Index, footer, trailer, sync, close. Frees the writer in any case. */
enum strobe_err strobe_file_finish(struct strobe_file_writer *writer);

/* Close without a footer: the file stays as after a kill. */
void strobe_file_abandon(struct strobe_file_writer *writer);

#endif
