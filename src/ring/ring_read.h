/* ring_read.h - the consumer's half of the rings: a process's file as the recorder sees it.
 * The process is not trusted: sizes and positions are copied once and checked, nothing shared is
 * used as an address or a count without that. Layout and states: wire/ring_layout.h.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_RING_RING_READ_H
#define STROBE_RING_RING_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ring/map_guard.h"
#include "ring/session.h"
#include "wire/ring_layout.h"

/* states of strobe_segment_state, moved by strobe_segment_move:
 *
 *   FOUND ──► DRAINED ──► RETURNED
 *     └─────► SKIPPED ──────┘
 *
 *   FOUND -> DRAINED     drain: all its words are taken, or counted as lost; it waits for its block to be written
 *   FOUND -> SKIPPED     skip_old: its words are an earlier recording's
 *   DRAINED -> RETURNED  strobe_ring_give_back: its block is in the file, or counted as lost
 *   SKIPPED -> RETURNED  strobe_ring_give_back
 *
 * The life of a segment as its process sees it, in shared memory, is drawn in wire/ring_layout.h: all of the above is while it
 * is open or full there, and the last move makes it free. */
enum strobe_segment_state {
    STROBE_SEGMENT_FOUND,
    STROBE_SEGMENT_DRAINED,
    STROBE_SEGMENT_SKIPPED,
    STROBE_SEGMENT_RETURNED,
};

/* A segment that the recorder knows of: while it is, its bit is set in strobe_ring.known. */
struct strobe_segment {
    uint64_t track;
    uint64_t base_pos;
    uint64_t tick;
    uint32_t n_words;
    uint32_t offset; /* of its head, from chunk 0 */
    uint16_t chunk;
    uint8_t bit;
    uint8_t state; /* enum strobe_segment_state */
};

void strobe_segment_move(struct strobe_segment *segment, enum strobe_segment_state to);

struct strobe_ring {
    struct strobe_control *control; /* shared mapping of map_bytes */
    struct strobe_chunk *chunks;
    char *data;
    uint64_t *known;               /* owned: by chunk, segments already found */
    struct strobe_map_guard guard; /* of the mapping: the ring stays where it is while it is open */
    uint64_t map_bytes;
    uint32_t n_chunks_max;
    uint32_t n_chunks_safe; /* known to be allocated */
    uint32_t n_taken_seen;
    uint32_t pid;
    uint32_t clock;
    uint64_t start_time;
    uint32_t image;
    uint32_t pid_ns; /* of the process; 0: not known */
    bool is_tmpfs;
    int fd;
};

/* Open the file `name` in `dir`. FORMAT: not (yet) a process's file; VERSION: made by a newer
 * client. */
enum strobe_err strobe_ring_open(const char *dir, const char *name, struct strobe_ring *out);
void strobe_ring_close(struct strobe_ring *ring);

/* Find segments opened since the last call, and hand each to `found`; one that it can't take
 * (false) is found again. The number taken. Every segment that was open when the call began is
 * found. */
uint32_t strobe_ring_scan(struct strobe_ring *ring,
                          bool (*found)(void *context, const struct strobe_segment *segment),
                          void *context);

/* Whether anything was taken since the last scan: two loads. */
static inline bool strobe_ring_has_news(const struct strobe_ring *ring)
{
    return __atomic_load_n(&ring->control->n_taken, __ATOMIC_ACQUIRE) != ring->n_taken_seen;
}

/* The data words of a segment. Shared: each word may change at any time. */
static inline const uint64_t *strobe_ring_words(const struct strobe_ring *ring,
                                                const struct strobe_segment *segment)
{
    return (const uint64_t *)(ring->data + segment->offset) + STROBE_SEGMENT_HEAD_WORDS;
}

/* Wipe the segment and let the process have it again: it is DRAINED and its block is written, or it is SKIPPED. Wake who
 * waits for it with strobe_ring_wake. */
void strobe_ring_give_back(struct strobe_ring *ring, struct strobe_segment *segment);
void strobe_ring_wake(struct strobe_ring *ring);

/* The next slot over all slot chunks, from *at (0: the first) on, which it moves; NULL past the last. */
struct strobe_slot *strobe_ring_slot(struct strobe_ring *ring, uint64_t *at);

/* Whether the process emits for this recorder already: it joined our session by itself. False: for
 * nobody, or still for a recorder that died. */
bool strobe_ring_is_ours(const struct strobe_ring *ring);

/* Let the file reach as far as this recorder's limits allow, where its process could not make it so. */
void strobe_ring_extend_file(struct strobe_ring *ring);

/* Open the gate for a new recorder: extend the file, then let the process emit. What finds no room is dropped and
 * counted. */
void strobe_ring_attach(struct strobe_ring *ring, uint32_t policy, uint32_t stack_depth);
void strobe_ring_detach(struct strobe_ring *ring);

/* Whether the process image that made the file `name` still runs; where nothing proves its death it does. */
bool strobe_ring_is_alive(const struct strobe_ring *ring, const char *name);

/* How its process is called here; 0: it can't be reached so. The two differ where /proc is another namespace's. */
struct strobe_reach {
    uint32_t pid;     /* for system calls */
    uint32_t in_proc; /* in /proc as it is mounted */
};
struct strobe_reach strobe_ring_reach(const struct strobe_ring *ring);

#endif
