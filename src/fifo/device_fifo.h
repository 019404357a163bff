/* device_fifo.h - a device's stream on its way from the program to the recorder: both halves.
 *
 * Layout, counts and who moves what: wire/device_fifo.h. One producer and one recorder at a time; each half belongs to one thread.
 * Neither half trusts the other: what a peer stores is read once, checked, and then used.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_FIFO_DEVICE_FIFO_H
#define STROBE_FIFO_DEVICE_FIFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "ring/map_guard.h"
#include "ring/session.h"
#include "wire/device_fifo.h"

/* ---- the producer's half: inside the program that has the device open ---- */

struct strobe_device_fifo_writer {
    struct strobe_device_fifo_head *head; /* shared */
    uint8_t *data;       /* shared: data_bytes, twice in a row; NULL: there is no ring yet */
    uint64_t data_bytes; /* 0: there is no ring yet */
    uint64_t written;    /* ours; head->written is what the recorder may see */
    uint64_t last_beat;  /* heartbeat when a wait was given up; frames are dropped until it moves */
    bool gave_up;
    bool is_ending;       /* set by the caller: the last frames, which have room of their own */
    uint32_t seen_attach; /* of the recorder that the device was described to */
    uint64_t patience_ns; /* longest wait for room while the recorder lives */
    void *lock;           /* owned: see strobe_alive_lock_image */
    int pid;              /* that made it: a forked child has no part in it */
    char path[2 * STROBE_PATH_MAX];
};

struct strobe_device_fifo_options {
    const char *dir;      /* borrowed for the call: the session's folder */
    uint32_t device;      /* its number */
    uint64_t patience_ns; /* 0: 2 s */
    bool is_recorded;     /* the session is being recorded: a ring is wanted */
};

/* Make the file, which has no ring yet, and hold its locks while this image lives. NOSPACE and LIMIT (ulimit -f) leave no file. */
enum strobe_err strobe_device_fifo_make(const struct strobe_device_fifo_options *options,
                                        struct strobe_device_fifo_writer *out);

/* Whether a recorder wants a ring that there is not. */
bool strobe_device_fifo_is_asked(const struct strobe_device_fifo_writer *writer);

/* Make the ring, once: `n_bytes`, rounded up to a power of two; 0: 64 MiB. NOSPACE and LIMIT leave the file as it was. */
enum strobe_err strobe_device_fifo_extend(struct strobe_device_fifo_writer *writer,
                                          uint64_t n_bytes);

/* Whether frames that are put go anywhere. */
bool strobe_device_fifo_is_wanted(const struct strobe_device_fifo_writer *writer);

/* Whether a recorder has come since the last call: describe the device to it. */
bool strobe_device_fifo_must_describe(struct strobe_device_fifo_writer *writer);

/* Put one or more whole frames, a multiple of 16 words and at most 64 KiB, all or none. Waits for room while a recorder lives, up to the
 * patience; then LIMIT, and it is counted. Some room is kept for the last frames (is_ending), so that a stream has its end. OK where nobody records, and in a forked
 * child: they are discarded. */
enum strobe_err strobe_device_fifo_put(struct strobe_device_fifo_writer *writer,
                                       const uint32_t *words, size_t n_words);

/* The last frame was put. Unmaps; the file stays for the recorder, or goes where nobody records. A zeroed writer is allowed. */
void strobe_device_fifo_close(struct strobe_device_fifo_writer *writer);

/* ---- the recorder's half ---- */

struct strobe_device_fifo_reader {
    struct strobe_device_fifo_head *head; /* shared */
    const uint8_t *data;                  /* shared: data_bytes, twice in a row */
    uint64_t data_bytes, slots_off;
    uint64_t read;  /* ours: bytes handed out */
    uint64_t given; /* ours: bytes given back */
    uint32_t slot;  /* that is written next */
    uint64_t saved; /* bytes that were put into it so far */
    uint32_t pid, device, clock;
    uint64_t start_time;
    bool is_locked; /* the producer's life can be asked for */
    int fd;
    struct strobe_map_guard guard, front_guard; /* of the data; of the head */
    char name[96];
};

/* Ask the producer of a file that has no ring for one (`is_wanted`), or take that back. `only_pid`: a file of any other process is left alone;
 * 0: none is. A file whose producer is dead goes. */
void strobe_device_fifo_ask(const char *dir, const char *name, uint32_t only_pid, bool is_wanted);

/* Map the file `name` of a session's folder. BUSY: it is still being made, or has no ring yet. Other errors: it is not one of ours. The reader
 * stays where it is until it is released. */
enum strobe_err strobe_device_fifo_open(const char *dir, const char *name,
                                        struct strobe_device_fifo_reader *out);
/* Say that a recorder is there, or not any more (the producer discards frames from then on). */
void strobe_device_fifo_attach(struct strobe_device_fifo_reader *reader);
void strobe_device_fifo_detach(struct strobe_device_fifo_reader *reader);
void strobe_device_fifo_beat(struct strobe_device_fifo_reader *reader);

/* Bytes that were put and not handed out yet, in one piece; 0: none. CORRUPT: the producer's counts can't be, or the file was cut. */
enum strobe_err strobe_device_fifo_next(struct strobe_device_fifo_reader *reader,
                                        const uint32_t **words, size_t *n_words);
/* So many words of them were taken. */
void strobe_device_fifo_take(struct strobe_device_fifo_reader *reader, size_t n_words);
/* Where the recorder stands after what was taken, for a successor: the trace's uuid, and bytes of a layout that this Strobe knows. What
 * the file lacks of what was taken is in them. IO, NOSPACE, LIMIT: they are not kept; a successor would not know what it needs. */
enum strobe_err strobe_device_fifo_save(struct strobe_device_fifo_reader *reader,
                                        const uint8_t trace[16], uint32_t layout, const void *bytes,
                                        size_t n_bytes);
/* The same in pieces: begin, each piece (a strobe_out_sink: 0 or an errno), and at last what makes them count. */
enum strobe_err strobe_device_fifo_save_begin(struct strobe_device_fifo_reader *reader);
int strobe_device_fifo_save_piece(void *reader, const char *bytes, size_t n_bytes);
enum strobe_err strobe_device_fifo_save_end(struct strobe_device_fifo_reader *reader,
                                            const uint8_t trace[16], uint32_t layout);
/* What a predecessor saved, and go on there: the reader has taken and given back what it had. The caller frees *bytes. NOTFOUND: nothing
 * that counts. A reader that has handed out nothing yet. */
enum strobe_err strobe_device_fifo_left(struct strobe_device_fifo_reader *reader, uint8_t trace[16],
                                        uint32_t layout, void **bytes, size_t *n_bytes);
/* Forget what was saved: the trace that it goes with is complete. */
void strobe_device_fifo_forget(struct strobe_device_fifo_reader *reader);
/* All that was taken is in the trace's file, or saved. */
void strobe_device_fifo_give_back(struct strobe_device_fifo_reader *reader);

/* Whether the producer may put more: it runs and has not closed. */
bool strobe_device_fifo_is_live(const struct strobe_device_fifo_reader *reader);
/* Unmap; with `unlink_it` the file goes. A zeroed reader is allowed. */
void strobe_device_fifo_release(struct strobe_device_fifo_reader *reader, const char *dir,
                                bool unlink_it);

#endif
