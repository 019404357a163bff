/* client.h - what the files of the client library share. All of it runs inside the traced program:
 * never allocates from the heap, prints, exits, or waits for good.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLIENT_CLIENT_H
#define STROBE_CLIENT_CLIENT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "ring/ring_write.h"
#include "strobe/facade.h"
#include "wire/kinds.h"

/* Join the session, once: the constructor does it, unless something of the library is called before. Who comes while it is done returns at
 * once. The C library has started. */
void strobe_client_start(void);
/* The gate until then: closed, unless a library that the client is a part of defines it open to learn of what is called before. */
extern const struct strobe_gate strobe_client_first_gate;

/* The pool of this process, or NULL where it takes no part. Joins anew in a forked child. */
struct strobe_pool *strobe_client_pool(void);

/* The calling thread's state, made where there is none; NULL: no memory, or not recording.
 * Signals blocked. */
struct strobe_thread *strobe_client_thread(struct strobe_pool *pool);
/* The same as far as it is there: without the lock. NULL: it has none yet. Any context. */
struct strobe_thread *strobe_client_known_thread(void);

/* Where there is no word left and no room either, as the thread saw a moment ago: count the event as dropped, without a lock or
 * a system call. STROBE_DROPPED of the cause; 0: look for room. Any context. */
int strobe_client_drop_dry(void);

/* What emitting returns for a dropped event; strobe_zone.on keeps it, so that the end is lost for the
 * same cause. Bit 1 is set and bit 0 is not: it stays what it is when the hot path sets bit 1. */
#define STROBE_DROPPED(loss) (2 + 4 * (int)(loss))
#define STROBE_NOBODY        STROBE_DROPPED(STROBE_LOSS_IN_SLOT) /* the recorder just left */

/* Emit one record of the calling thread: `n_words` words, the first a STROBE_RECORD_WORD. Any
 * context. 1: emitted; STROBE_DROPPED: dropped and counted; STROBE_NOBODY: nobody records. */
int strobe_client_emit(const uint64_t *words, uint32_t n_words);

/* Put one record where there is room, with all signals blocked; false: there is none, and the cause is in *loss. `past`: the time of
 * the event, 0: now. */
bool strobe_client_put(struct strobe_pool *pool, struct strobe_thread *thread,
                       const uint64_t *words, uint32_t n_words, uint64_t past,
                       enum strobe_loss *loss);

/* Whether the record is the end of a zone: of a location with this id. 0: it is not. */
uint64_t strobe_client_end_id(const uint64_t *words);

/* An end that found no room at `tick`: it is stored when there is some. Ends that are owed come before all else of their
 * thread; false: there is still no room for them. At a thread's end, settle what can be. Signals blocked. */
bool strobe_client_owe(struct strobe_pool *pool, struct strobe_thread *thread, uint64_t id,
                       uint64_t tick, enum strobe_loss loss);
bool strobe_client_settle(struct strobe_pool *pool, struct strobe_thread *thread,
                          enum strobe_loss *loss);
void strobe_client_settle_last(struct strobe_pool *pool, struct strobe_thread *thread,
                               const struct strobe_mask *old);

/* Emit a zone's word with a time that is past. */
void strobe_client_emit_past(uint64_t word, uint64_t tick);

/* Like strobe_client_emit, with the fields `fields` and a text of any length as the last one. */
int strobe_client_emit_text(enum strobe_kind kind, const uint64_t *fields, uint32_t n_fields,
                            const char *text, size_t n_bytes);

/* Likewise, for a text that is made piece by piece (of at most STROBE_PIECE_BYTES each): open, any number of pieces, close
 * with what is left. Signals are blocked from the first piece on. What is dropped counts as one event. */
enum { STROBE_PIECE_BYTES = 8 * 90 };
struct strobe_long_text {
    struct strobe_mask old;
    int result; /* as of strobe_client_emit */
    bool is_blocked, is_stored;
};
void strobe_client_text_open(struct strobe_long_text *text);
void strobe_client_text_piece(struct strobe_long_text *text, const char *bytes, size_t n_bytes);
int strobe_client_text_close(struct strobe_long_text *text, enum strobe_kind kind,
                             const uint64_t *fields, uint32_t n_fields, const char *bytes,
                             size_t n_bytes);

/* Unnamed frames marked so far. */
uint64_t strobe_client_n_frames(void);

/* Likewise, of numbers only, if somebody records. */
enum { STROBE_EMIT_FIELDS_MAX = 8 };
void strobe_client_emit_numbers(enum strobe_kind kind, const uint64_t *fields, uint32_t n_fields);

/* Count an event that is not even tried. STROBE_DROPPED of its cause. */
int strobe_client_lose(enum strobe_loss cause);
int strobe_client_lose_unnamed(void); /* its name found no room */

/* An id that is unique in the process, and differs between processes. */
uint64_t strobe_client_new_id(void);

/* What becomes of a formatted text: put(how, text, n_bytes) is called once. */
struct strobe_formatted {
    void (*put)(const struct strobe_formatted *how, const char *text, size_t n_bytes);
    uint64_t a, b;
};
void strobe_client_format(const struct strobe_formatted *how, const char *format, va_list args);

/* One fact for the meta stream if somebody records, with signals and lock taken care of. */
void strobe_client_tell(enum strobe_meta kind, const uint64_t *numbers, uint32_t n_numbers,
                        const char *text, size_t n_bytes);
/* The same with several texts. */
void strobe_client_tell_texts(enum strobe_meta kind, const uint64_t *numbers, uint32_t n_numbers,
                              const char *const *texts, const size_t *n_bytes, uint32_t n_texts);

/* Likewise, and for every recorder that comes later: the first `n_keys` numbers say which fact it
 * replaces. Only so many are kept, the others are described once; of texts the first 63 bytes. */
void strobe_client_keep(enum strobe_meta kind, const uint64_t *numbers, uint32_t n_numbers,
                        uint32_t n_keys, const char *text, size_t n_bytes);
/* Describe them all to a new recorder. Signals blocked, locked. */
void strobe_client_tell_kept(struct strobe_pool *pool);

/* A fact for the meta stream: number fields, then texts, the last of up to 64 KiB. Signals blocked,
 * locked. */
bool strobe_client_meta(struct strobe_pool *pool, enum strobe_meta kind, const uint64_t *numbers,
                        uint32_t n_numbers, const char *const *texts, const size_t *n_bytes,
                        uint32_t n_texts);

/* The id of a name or a location, named to the recorder where it was not; 0: no room for it. */
uint64_t strobe_client_name_id(struct strobe_name *name);
uint64_t strobe_client_loc_id(struct strobe_loc *loc);
uint64_t strobe_client_fiber_id(struct strobe_name *fiber);
uint64_t strobe_client_text_id(const char *text, size_t n_bytes);
struct strobe_texts_of_loc {
    const char *file, *function, *name; /* may be NULL */
    size_t n_file, n_function, n_name;
};
uint64_t strobe_client_dynamic_id(const struct strobe_texts_of_loc *texts, uint32_t line,
                                  uint32_t color);
/* The id of a name of which only the text is there, found without a lock; NULL: 0, the unnamed. False: nobody
 * records, or the loss was counted. */
bool strobe_client_const_id(const char *text, uint64_t *id);

/* Names that the program gave, also while nobody recorded: kept (63 bytes of a thread's, 255 of the program's) for every
 * recorder that comes. */
void strobe_client_keep_thread_name(const char *name);
void strobe_client_keep_program_name(const char *name);

/* Describe this process to the recorder, once per recorder. Signals blocked, locked. */
void strobe_client_describe(struct strobe_pool *pool);

/* Report to the session in `dir` that this process can't take part: an empty file PID-START-N.denied-REASON. Once per
 * process. Reasons are words of the recorder's list (src/collector/denied.c). */
void strobe_client_deny(const char *dir, const char *reason);
/* At the end of a process that nobody records: nobody need know. */
void strobe_client_withdraw_denial(void);

/* Report to the recorder, if the environment names one, that this process can't join: the session's folder as it was looked for, and errno of
 * what failed. Never waits. */
void strobe_client_call(const char *folder, int error);

/* Does a copy of the library in this very image have the file `path` mapped? FOUND: at *address. UNKNOWN: nobody lets us
 * ask. */
enum strobe_copy { STROBE_COPY_NONE, STROBE_COPY_FOUND, STROBE_COPY_UNKNOWN };
enum strobe_copy strobe_client_find_copy(const char *path, uint64_t *address);
/* Whether the bytes at `address` are private memory of this process that may be written. */
bool strobe_client_owns(uint64_t address, size_t n_bytes);

/* Remove what dead processes left in the session's folder and nobody needs, `own_path` excepted. */
void strobe_client_sweep(const char *dir, const char *own_path);

/* The last process of a session that a recorder made for itself and left removes its folder. */
void strobe_client_leave_session(const char *dir);

/* Start a recorder of our own when $STROBE_TRACE asks for one. True: the session's name is in
 * `name`. */
bool strobe_client_launch(char name[64]);

/* Addresses on the calling thread's stack, innermost first. Reads nothing that is not readable. */
int strobe_client_stack(struct strobe_thread *thread, uint64_t *out, int max);

#endif
