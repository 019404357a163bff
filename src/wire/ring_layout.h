/* ring_layout.h - the shared memory between a traced process and its recorder, byte by byte.
 * No code, no I/O: layouts, states, and who may move them. The story: docs/ring-protocol.md.
 *
 * One file per process image, in the session's folder, named <pid>-<start time>-<n>.pool:
 *
 *   OFFSET            SIZE          WHAT
 *   0                 4096          control page: struct strobe_control
 *   4096              16 * n_max    chunk table: struct strobe_chunk, rounded up to whole pages
 *   control.data_off  65536 each    chunks: cut into segments, or holding thread slots
 *
 * While nobody records, the file is its control page. Who starts a recording extends it, within its own
 * file size limit: the process that joins a recording session, before it stores `magic`; later the recorder.
 * The process maps the whole length from the start, and touches what `file_bytes` says is there.
 *
 * A stream is what one thread emits: 8-byte words, numbered from 0 over all its segments. A segment
 * holds one run of them. Words are zero until written, so the stream itself says how far it goes:
 * there is no published position that a signal or a kill could leave wrong.
 *
 *   A segment's life                                 who           by
 *     FREE ──► TAKEN   bit cleared in free_bits      the process   take_segment (under its lock)
 *     TAKEN ─► OPEN    head filled, magic last       the process   open_segment
 *     OPEN ──► FULL    last word written             its thread    emit
 *     FULL ──► FREE    zeroed, bit set again         the recorder  strobe_ring_give_back, and only
 *                                                    after the block with its events was written
 *   OPEN also goes to FREE when its thread has ended and all its words are stored.
 *
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_WIRE_RING_LAYOUT_H
#define STROBE_WIRE_RING_LAYOUT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/at.h"

#define STROBE_RING_MAGIC    0x434f525042525453ull /* "STRBPROC" */
#define STROBE_SESSION_MAGIC 0x5353455342525453ull /* "STRBSESS" */
#define STROBE_SEGMENT_MAGIC 0x31474553u           /* "SEG1" */
#define STROBE_ADDRESS_BITS \
    48 /* user space (arm64; x86-64: 47): an address and a count of words fit one 64-bit cursor */

/* A changed row below needs a new number here. A recorder reads its own version and older ones that
 * docs/ring-protocol.md lists; a newer client is refused in words. */
#define STROBE_RING_VERSION 2

enum {
    STROBE_PAGE_BYTES = 4096,
    STROBE_CHUNK_BYTES = 65536,
    STROBE_SEGMENT_HEAD_WORDS = 8,
    STROBE_SLOT_BYTES = 64,
};

/* What a chunk is used as. Chunks whose segments are all free may change their class. */
enum strobe_chunk_class {
    STROBE_CHUNK_UNUSED = 0, /* allocated, not yet cut */
    STROBE_CHUNK_SLOTS = 1,  /* 1024 thread slots */
    STROBE_CHUNK_SMALL = 2,  /* 64 segments of 1 KiB */
    STROBE_CHUNK_MEDIUM = 3, /* 8 segments of 8 KiB */
    STROBE_CHUNK_LARGE = 4,  /* 1 segment of 64 KiB */
};

/* OFFSET SIZE FIELD      shared; one per chunk
 *      0    8 free_bits  bit i: segment i is free. Process clears, recorder sets; atomic
 *      8    4 class      enum strobe_chunk_class; process writes while it holds all segments
 *     12    4 reserved   0 */
struct strobe_chunk {
    uint64_t free_bits;
    uint32_t class_;
    uint32_t reserved;
};
STROBE_AT(strobe_chunk, free_bits, 0);
STROBE_AT(strobe_chunk, class_, 8);
STROBE_AT(strobe_chunk, reserved, 12);
static_assert(sizeof(struct strobe_chunk) == 16, "strobe_chunk is shared");

/* Why events were not stored. The numbers are in slots (the first three), in control pages and in the file. */
#define STROBE_LOSS_LIST(X)                                                                    \
    X(POOL_FULL, 0, "pool full: the recorder did not keep up")                                 \
    X(NO_MEMORY, 1, "no memory for the pool: its tmpfs or the memory cgroup is full")          \
    X(UNNAMED, 2, "no room for the name of a location or a thread")                            \
    X(DISK, 3, "the disk was full or failed")                                                  \
    X(FILE_LIMIT, 4, "over --max-file")                                                        \
    X(DAMAGED, 5, "the program overwrote its own records")                                     \
    X(HOLE, 6, "a damaged part of the file")                                                   \
    X(UNFINISHED, 7, "the program died, or the recording ended, while it wrote the record")    \
    X(REFUSED, 8, "a peer sent what can't be right, or too much")                              \
    X(FILE_SIZE, 9, "no room for the pool under the file size limit (ulimit -f)")              \
    X(NO_STATE, 10, "no memory for the thread's state, or a signal handler in its midst")      \
    X(ABANDONED, 11, "a signal handler jumped out of the middle of a record")                  \
    X(TRACE_SIZE, 12, "the trace reached the recorder's file size limit: raise ulimit -f")     \
    X(UNRECORDED, 13, "a process could not take part; one for each, its events are not known") \
    X(UNHEARD, 14,                                                                             \
      "a thread stood still while the recording ended: its last event may be missing")         \
    X(DEVICE_FULL, 15, "a device had no room for the record: its ring or buffer was full")     \
    X(SAMPLE_FULL, 16, "the kernel's buffer was full: samples or switches are missing")        \
    X(THROTTLED, 17, "the kernel slowed the sampling down; one for each time")                 \
    X(STACK_CUT, 18, "the outer frames of a sample could not be found")                        \
    X(STACK_SHORT, 19, "the outer frames of a sample were not in the copy of its stack")       \
    X(UNSAMPLED, 20, "a thread could not be sampled; one for each")                            \
    X(SWITCHES_OFF, 21, "context switches were too many and turned off; one for each time")    \
    X(REASONS_FULL, 22, "the kernel's buffer was full: reasons of waits or wake-ups are missing")

enum strobe_loss {
#define X(name, number, text) STROBE_LOSS_##name = number,
    STROBE_LOSS_LIST(X)
#undef X
        STROBE_LOSS_COUNT = 23,
    STROBE_LOSS_IN_SLOT = 3, /* causes that a slot has a count for */
    STROBE_LOSS_IN_CONTROL =
        16 /* counts in the control page, by cause: the recorder alone has those behind */
};

/* Whether a cause counts events that are not in the file. The others count what is wrong with events that are: they are listed among the
 * losses, and are no part of emitted = stored + dropped. */
static inline int strobe_loss_is_of_events(uint64_t cause)
{
    return cause < STROBE_LOSS_THROTTLED || cause > STROBE_LOSS_REASONS_FULL;
}

/* OFFSET SIZE FIELD           shared; one per live thread
 *      0    4 state           enum strobe_slot_state; process: FREE→LIVE→ENDED, recorder: ENDED→FREE
 *      4    4 tid
 *      8    8 track           number of this thread in its process, never used again
 *     16   24 n_dropped[3]    events not emitted, by enum strobe_loss
 *     40    8 drop_first_tick of the first drop ever
 *     48    8 drop_last_tick  of the last
 *     56    4 waited_low      time spent waiting for free segments, in ns: the lower 32 of 48 bits
 *     60    2 waited_high     the upper 16
 *     62    2 owed            ends of zones that found no room and will be stored when there is some: how many in the lower
 *                             12 bits, why (enum strobe_loss) in the upper 4; recorder sets it to 0 when it comes and leaves */
struct strobe_slot {
    uint32_t state;
    uint32_t tid;
    uint64_t track;
    uint64_t n_dropped[STROBE_LOSS_IN_SLOT];
    uint64_t drop_first_tick;
    uint64_t drop_last_tick;
    uint32_t waited_low;
    uint16_t waited_high;
    uint16_t owed;
};
STROBE_AT(strobe_slot, state, 0);
STROBE_AT(strobe_slot, tid, 4);
STROBE_AT(strobe_slot, track, 8);
STROBE_AT(strobe_slot, n_dropped, 16);
STROBE_AT(strobe_slot, drop_first_tick, 40);
STROBE_AT(strobe_slot, drop_last_tick, 48);
STROBE_AT(strobe_slot, waited_low, 56);
STROBE_AT(strobe_slot, waited_high, 60);
STROBE_AT(strobe_slot, owed, 62);
enum { STROBE_SLOT_OWED_MAX = 0xfff, STROBE_SLOT_OWED_SHIFT = 12 };
static_assert(STROBE_LOSS_IN_CONTROL == 1 << (16 - STROBE_SLOT_OWED_SHIFT), "causes that it has");
static_assert(sizeof(struct strobe_slot) == STROBE_SLOT_BYTES, "strobe_slot is shared");

static inline uint64_t strobe_slot_waited_ns(const struct strobe_slot *slot)
{
    return (uint64_t)slot->waited_high << 32 | slot->waited_low;
}

enum strobe_slot_state {
    STROBE_SLOT_FREE = 0,
    STROBE_SLOT_LIVE = 1,
    STROBE_SLOT_ENDED = 2,
};

/* OFFSET SIZE FIELD      at the start of every segment
 *      0    4 magic      STROBE_SEGMENT_MAGIC, stored last; 0 while it is not open
 *      4    4 n_words    data words that follow the header
 *      8    8 track      of the thread that owns it; STROBE_META_TRACK for the meta stream
 *     16    8 base_pos   number of its first data word in the stream
 *     24    8 tick       when it was opened; the upper half starts the stream's epoch
 *     32   32 reserved   0 */
struct strobe_segment_head {
    uint32_t magic;
    uint32_t n_words;
    uint64_t track;
    uint64_t base_pos;
    uint64_t tick;
    uint64_t reserved[4];
};
STROBE_AT(strobe_segment_head, magic, 0);
STROBE_AT(strobe_segment_head, n_words, 4);
STROBE_AT(strobe_segment_head, track, 8);
STROBE_AT(strobe_segment_head, base_pos, 16);
STROBE_AT(strobe_segment_head, tick, 24);
STROBE_AT(strobe_segment_head, reserved, 32);
static_assert(sizeof(struct strobe_segment_head) == 8 * STROBE_SEGMENT_HEAD_WORDS, "shared");

#define STROBE_META_TRACK 0u /* threads count from 1 */

/* OFFSET SIZE FIELD   shared; in the control page, the recorder writes
 *      0    8 track   whose stream stands still; 0: free
 *      8    8 offset  from chunk 0, of the word that is not written */
struct strobe_ring_hole {
    uint64_t track;
    uint64_t offset;
};
STROBE_AT(strobe_ring_hole, track, 0);
STROBE_AT(strobe_ring_hole, offset, 8);
enum { STROBE_HOLES_MAX = 8 };
static_assert(sizeof(struct strobe_ring_hole) == 16, "strobe_ring_hole is shared");

/* OFFSET SIZE FIELD            shared; page 0 of the file
 *      0    8 magic            STROBE_RING_MAGIC, stored last
 *      8    4 version          STROBE_RING_VERSION of the client
 *     12    4 pid
 *     16    8 start_time       of the process, as in /proc/PID/stat; STROBE_START_OWN and more: no /proc there,
 *                              a number of the image's own
 *     24    4 n_chunks_max     the pool's fixed maximum
 *     28    4 clock            enum strobe_clock_kind
 *     32    8 data_off         offset of chunk 0
 *     40    8 private_block    address of the process's own state, for a second copy of the library
 *     48    4 image            counts the images (exec) that this pid had, from 0
 *     52    4 client_version   major << 16 | minor << 8 | patch
 *     56    4 pid_ns           number of its pid namespace (inode of /proc/self/ns/pid); 0: not known
 *     60    4 features         enum strobe_feature, set bits; 0 in clients that know none
 *     64    4 active           0: nobody records. Recorder writes; the hot path's one flag
 *     68    4 policy           enum strobe_policy; recorder writes
 *     72    8 floor            BEGIN | id: words below it were named to an earlier recorder, or to
 *                              the parent before a fork, and must be named again; recorder writes
 *     80    4 stack_depth      frames per call stack where asked for; recorder writes
 *     84    4 generation       recorders that this image had, at least 1; `active` is the current one
 *     88   40 reserved
 *    128    4 n_chunks         chunks allocated so far; process writes
 *    132    4 n_taken          segments taken, ever; process counts, recorder compares
 *    136    4 n_waiting        threads asleep on n_given
 *    140    4 exited           1: the process ran its destructors
 *    144    8 reserved
 *    152    8 lost_first_tick  of those in n_lost
 *    160    8 lost_last_tick
 *    168    8 next_id          next id for a location or name; process writes
 *    176    4 recorder_pid_ns  pid namespace of recorder_pid; 0: not known; recorder writes
 *    180    4 n_inside         threads in the midst of a slow emit; they enter, then test `active` (0 in
 *                              clients from before this row)
 *    184    8 reserved
 *    192    8 heartbeat        recorder counts up while it lives
 *    200    4 n_given          segments given back, ever; futex that waiting threads sleep on
 *    204    4 recorder_pid
 *    208    8 recorder_start   start time of that process
 *    216    8 detached_tick    when the last recorder left in good order, else 0
 *    224    8 file_bytes       how far the file reaches, with its table allocated: chunk i may be touched
 *                              where data_off + 65536 * (i + 1) is not beyond it. Who extends it writes
 *    232    4 short_cause      enum strobe_loss: why it reaches no further; likewise
 *    236    4 holes_used       a bit for each entry of `holes` in use; recorder writes
 *    240  128 holes[8]         words that the recorder waits for, see docs/ring-protocol.md
 *    368  128 n_lost[16]       events dropped that no slot counts, by enum strobe_loss; process counts */
struct strobe_control {
    uint64_t magic;
    uint32_t version;
    uint32_t pid;
    uint64_t start_time;
    uint32_t n_chunks_max;
    uint32_t clock;
    uint64_t data_off;
    uint64_t private_block;
    uint32_t image;
    uint32_t client_version;
    uint32_t pid_ns;
    uint32_t features;
    uint32_t active;
    uint32_t policy;
    uint64_t floor;
    uint32_t stack_depth;
    uint32_t generation;
    uint32_t reserved1[10];
    uint32_t n_chunks;
    uint32_t n_taken;
    uint32_t n_waiting;
    uint32_t exited;
    uint64_t reserved3;
    uint64_t lost_first_tick;
    uint64_t lost_last_tick;
    uint64_t next_id;
    uint32_t recorder_pid_ns;
    uint32_t n_inside;
    uint32_t reserved2[2];
    uint64_t heartbeat;
    uint32_t n_given;
    uint32_t recorder_pid;
    uint64_t recorder_start;
    uint64_t detached_tick;
    uint64_t file_bytes;
    uint32_t short_cause;
    uint32_t holes_used;
    struct strobe_ring_hole holes[STROBE_HOLES_MAX];
    uint64_t n_lost[STROBE_LOSS_IN_CONTROL];
};
STROBE_AT(strobe_control, magic, 0);
STROBE_AT(strobe_control, version, 8);
STROBE_AT(strobe_control, pid, 12);
STROBE_AT(strobe_control, start_time, 16);
STROBE_AT(strobe_control, n_chunks_max, 24);
STROBE_AT(strobe_control, clock, 28);
STROBE_AT(strobe_control, data_off, 32);
STROBE_AT(strobe_control, private_block, 40);
STROBE_AT(strobe_control, image, 48);
STROBE_AT(strobe_control, client_version, 52);
STROBE_AT(strobe_control, pid_ns, 56);
STROBE_AT(strobe_control, features, 60);
STROBE_AT(strobe_control, active, 64);
STROBE_AT(strobe_control, policy, 68);
STROBE_AT(strobe_control, floor, 72);
STROBE_AT(strobe_control, stack_depth, 80);
STROBE_AT(strobe_control, generation, 84);
STROBE_AT(strobe_control, reserved1, 88);
STROBE_AT(strobe_control, n_chunks, 128);
STROBE_AT(strobe_control, n_taken, 132);
STROBE_AT(strobe_control, n_waiting, 136);
STROBE_AT(strobe_control, exited, 140);
STROBE_AT(strobe_control, reserved3, 144);
STROBE_AT(strobe_control, lost_first_tick, 152);
STROBE_AT(strobe_control, lost_last_tick, 160);
STROBE_AT(strobe_control, next_id, 168);
STROBE_AT(strobe_control, recorder_pid_ns, 176);
STROBE_AT(strobe_control, n_inside, 180);
STROBE_AT(strobe_control, reserved2, 184);
STROBE_AT(strobe_control, heartbeat, 192);
STROBE_AT(strobe_control, n_given, 200);
STROBE_AT(strobe_control, recorder_pid, 204);
STROBE_AT(strobe_control, recorder_start, 208);
STROBE_AT(strobe_control, detached_tick, 216);
STROBE_AT(strobe_control, file_bytes, 224);
STROBE_AT(strobe_control, short_cause, 232);
STROBE_AT(strobe_control, holes_used, 236);
STROBE_AT(strobe_control, holes, 240);
STROBE_AT(strobe_control, n_lost, 368);
static_assert(sizeof(struct strobe_control) == 496, "strobe_control is shared");
static_assert(STROBE_LOSS_DEVICE_FULL < STROBE_LOSS_IN_CONTROL,
              "a count for each cause that a program has");
static_assert(sizeof(struct strobe_control) <= STROBE_PAGE_BYTES, "one page");

/* A start time that is none: where there is no /proc, an image makes a number from its AT_RANDOM. */
#define STROBE_START_OWN (1ull << 52)

/* What a client does that its recorder may count on. */
enum strobe_feature {
    STROBE_FEATURE_IMAGE_LOCK =
        1, /* byte 1 of its file is locked while the image lives (ring/alive.h) */
};

enum strobe_clock_kind {
    STROBE_CLOCK_TSC = 1,  /* invariant time-stamp counter (x86), virtual counter (arm64) */
    STROBE_CLOCK_MONO = 2, /* CLOCK_MONOTONIC in ns: no counter that can be trusted */
};

enum strobe_policy {
    STROBE_POLICY_WAIT = 0, /* a full pool: wait while the recorder lives, up to a bound */
    STROBE_POLICY_DROP = 1, /* a full pool: drop and count at once */
};

/* OFFSET SIZE FIELD          file "session" in the session's folder; the recorder writes and locks it
 *      0    8 magic          STROBE_SESSION_MAGIC
 *      8    4 version        STROBE_RING_VERSION of the recorder
 *     12    4 recording      1: processes that join start recording at once
 *     16    4 recorder_pid
 *     20    4 policy
 *     24    8 pool_bytes     maximum per process
 *     32    8 cap_bytes      maximum over all processes, 0: none
 *     40    4 stack_depth
 *     44    4 recorder_pid_ns  number of its pid namespace; 0: not known
 *     48    8 recorder_start
 *     56    8 used_bytes     allocated by all pools together; processes add, recorder subtracts
 *     64 1984 trace_path     where the trace goes, absolute, NUL-terminated */
struct strobe_session_page {
    uint64_t magic;
    uint32_t version;
    uint32_t recording;
    uint32_t recorder_pid;
    uint32_t policy;
    uint64_t pool_bytes;
    uint64_t cap_bytes;
    uint32_t stack_depth;
    uint32_t recorder_pid_ns;
    uint64_t recorder_start;
    uint64_t used_bytes;
    char trace_path[1984];
};
STROBE_AT(strobe_session_page, magic, 0);
STROBE_AT(strobe_session_page, version, 8);
STROBE_AT(strobe_session_page, recording, 12);
STROBE_AT(strobe_session_page, recorder_pid, 16);
STROBE_AT(strobe_session_page, policy, 20);
STROBE_AT(strobe_session_page, pool_bytes, 24);
STROBE_AT(strobe_session_page, cap_bytes, 32);
STROBE_AT(strobe_session_page, stack_depth, 40);
STROBE_AT(strobe_session_page, recorder_pid_ns, 44);
STROBE_AT(strobe_session_page, recorder_start, 48);
STROBE_AT(strobe_session_page, used_bytes, 56);
STROBE_AT(strobe_session_page, trace_path, 64);
static_assert(sizeof(struct strobe_session_page) == 2048, "shared");

/* One word of a stream. Bits 63..32 say what it is, bits 31..0 are the lower half of the tick.
 *
 *   11iiiiii iiiiiiii iiiiiiii iiiiiiii  begin of a zone at location i (30 bits)
 *   01iiiiii iiiiiiii iiiiiiii iiiiiiii  end of a zone at location i: its begin with one bit cleared; i is 0: of the
 *                                        innermost open one
 *   0010kkkk kkkkkkkk nnnnnnnn nnnnnnnn  record of kind k (12 bits), n words in all, this one included
 *   00110000 00000000 00000000 00000000  epoch: bits 31..0 are the upper half of the ticks that follow
 *   00110001 00000000 nnnnnnnn nnnnnnnn  pad: n words in all carry nothing
 *   00110010 00000000 nnnnnnnn nnnnnnnn  a record of n words is being written here: not written yet; where
 *                                        its thread died so, n words carry nothing
 *   00110011 00000000 nnnnnnnn nnnnnnnn  abandoned: n words that were reserved and will never be written
 *   00000000 00000000 00000000 00000000  not written yet
 *
 * A record's first word is stored last, so a record is there whole or not at all; before its other words it is
 * marked as being written, so that a killed thread's half record is not taken for what a signal handler left. */
#define STROBE_WORD_BEGIN          0xc000000000000000ull
#define STROBE_WORD_END            0x4000000000000000ull
#define STROBE_WORD_IS_BEGIN(word) ((word) >> 62 == 3)
#define STROBE_WORD_IS_END(word)   ((word) >> 62 == 1)
#define STROBE_WORD_RECORD         0x2000000000000000ull
#define STROBE_WORD_EPOCH          0x3000000000000000ull
#define STROBE_WORD_PAD            0x3100000000000000ull
#define STROBE_WORD_FILLING        0x3200000000000000ull
#define STROBE_WORD_ABANDONED      0x3300000000000000ull
#define STROBE_WORD_ID_MAX         0x3fffffffull /* larger ids travel as a ZONE_BEGIN record */
#define STROBE_RECORD_WORDS_MAX    112 /* fits the smallest segment; longer texts travel in pieces */
#define STROBE_META_WORDS_MAX      1000 /* meta records are in segments of 8 KiB and more */
#define STROBE_RECORD_WORD(kind, n_words) \
    (STROBE_WORD_RECORD | (uint64_t)(kind) << 48 | (uint64_t)(n_words) << 32)

/* Records of allocators come by the million: where their numbers fit, they are shorter than their fields.
 *
 *   MEM_BLOCK of 3 words  pool << 48 | address, stack << 40 | size; weight and old are 0
 *   MEM_FREE of 2 words   pool << 48 | address */
#define STROBE_SHORT_BLOCK_WORDS 3
#define STROBE_SHORT_FREE_WORDS  2
#define STROBE_SHORT_POOL_BITS   16
#define STROBE_SHORT_STACK_BITS  24

#endif
