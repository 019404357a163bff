/* strobe_device_words.h - every word between a device's kernels, its relay and a reader, bit by bit.
 * Freestanding C and C++: no code, no libc. Normative text: docs/device-protocol.md.
 *
 *   kernel ──► L1 of the core ──► relay ──► device stream (frames) ──► decoder (src/device)
 *
 * All words are 32 bits, little-endian. 64-bit values are two words, low word first, unless a row says
 * otherwise. Addresses are those that the core's own RISCs use.
 *
 * L1 area of a core (device address `base`, a multiple of 64):
 *
 *   OFFSET                       SIZE       WHAT
 *   0                            256        control vector, 64 words: classic or streaming, below
 *   256 + 2048 * risc            2048       buffer of a RISC, 512 words: classic buffer, or ring
 *   256 + 2048 * n_riscs         64         struct strobe_l1_core
 *   320 + 2048 * n_riscs
 *       + 1024 * risc            1024       struct strobe_l1_lane
 *
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_WORDS_H
#define STROBE_DEVICE_WORDS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define STROBE_WORDS_ASSERT(condition, text) static_assert(condition, text)
#else
#define STROBE_WORDS_ASSERT(condition, text) _Static_assert(condition, text)
#endif
/* Field `field` of struct `tag` is its word number `word`. */
#define STROBE_WORD_AT(tag, field, word) \
    STROBE_WORDS_ASSERT(offsetof(struct tag, field) == 4 * (word), #tag "." #field " is shared")
#define STROBE_WORDS_OF(tag, n_words) \
    STROBE_WORDS_ASSERT(sizeof(struct tag) == 4 * (n_words), #tag " is shared")

/* A changed row of this file needs a new number here. It is in struct strobe_l1_core and in HELLO. */
#define STROBE_DEVICE_VERSION 1u

enum {
    STROBE_DEVICE_MAX_RISCS = 24,
    STROBE_DEVICE_FRAME_RISCS = 5, /* lanes of a frame of type 13 */
    STROBE_L1_CONTROL_WORDS = 64,
    STROBE_L1_BUFFER_WORDS = 512,
    STROBE_L1_CORE_WORDS = 16,
    STROBE_L1_LANE_WORDS = 256,
    STROBE_OPEN_MAX = 16,     /* levels of open zones that are listed; deeper ones are not */
    STROBE_OPEN_WORDS = 4,    /* words of a level */
    STROBE_SUM_MAX = 16,      /* sites with sums per RISC and launch */
    STROBE_RING_RESERVE = 4,  /* words of a ring that only a stall zone may use */
    STROBE_PUBLISH_WORDS = 16 /* the tail is stored when the write index crosses a multiple of it */
};
#define STROBE_L1_BUFFER_OFFSET(risc)        (256u + 2048u * (risc))
#define STROBE_L1_CORE_OFFSET(n_riscs)       (256u + 2048u * (n_riscs))
#define STROBE_L1_LANE_OFFSET(n_riscs, risc) (320u + 2048u * (n_riscs) + 1024u * (risc))
#define STROBE_L1_BYTES(n_riscs)             STROBE_L1_LANE_OFFSET(n_riscs, n_riscs)

/* ---- classic: control vector (word numbers), buffer, marker words ---- */

enum strobe_classic_control {
    STROBE_CC_HOST_END = 0,    /* + risc: words of this RISC that are in DRAM */
    STROBE_CC_DEVICE_END = 24, /* + risc: words in L1, stored at the end of a run; 0: none */
    STROBE_CC_FW_RESET_H = 48,
    STROBE_CC_FW_RESET_L = 49, /* the host's time, for clock samples; never 0 */
    STROBE_CC_DRAM_ADDRESS = 50,
    STROBE_CC_RUN_COUNTER = 51,
    STROBE_CC_NOC_X = 52,
    STROBE_CC_NOC_Y = 53,
    STROBE_CC_FLAT_ID = 54,
    STROBE_CC_CORES_PER_DRAM = 55,
    STROBE_CC_DROPPED = 56, /* bit r: RISC r dropped markers of a run (DRAM full) */
    STROBE_CC_DONE = 57,
    STROBE_CC_TRACE_REPLAY = 58, /* bits 31 armed, 30 main start written, 29 child start written */
    STROBE_CC_DISPATCH_CORE = 59,
    STROBE_CC_DRAM_OF_RISC = 60 /* upstream's slots 60..64; ours is strobe_l1_lane.dram_address */
};

enum strobe_classic_buffer { /* word numbers in a RISC's buffer */
                             STROBE_CB_ID_HH =
                                 0, /* 0, 0: a run begins. 0x80000000: not valid yet (trace-only) */
                             STROBE_CB_ID_HL = 1,
                             STROBE_CB_ID_LH =
                                 2, /* bits 0-4 RISC, 5-12 flat id of the core, 13-28 trace replay counter */
                             STROBE_CB_ID_LL = 3, /* program (runtime id) */
                             STROBE_CB_MAIN_START = 4,
                             STROBE_CB_MAIN_END = 6,
                             STROBE_CB_CHILD_START = 8,
                             STROBE_CB_CHILD_END = 10,
                             STROBE_CB_OPTIONAL = 12,
                             STROBE_CB_OPTIONAL_MARKERS = 250
};
STROBE_WORDS_ASSERT(STROBE_CB_OPTIONAL + 2 * STROBE_CB_OPTIONAL_MARKERS == STROBE_L1_BUFFER_WORDS,
                    "a classic buffer holds 250 optional markers");

enum strobe_classic_packet { /* bits 28-30 of a marker's H word */
                             STROBE_CP_ZONE_START = 0,
                             STROBE_CP_ZONE_END = 1,
                             STROBE_CP_ZONE_TOTAL = 2, /* time bits 0; L = cycles */
                             STROBE_CP_DATA = 3,       /* + 2 words: value, high word first */
                             STROBE_CP_EVENT = 4,      /* id = event's number */
                             STROBE_CP_DATA_16 = 5     /* + 4 words: two values, high words first */
};
#define STROBE_CM_VALID        0x80000000u
#define STROBE_CM_TIMER(h)     (((h) >> 12) & 0x7ffffu) /* packet << 16 | id */
#define STROBE_CM_PACKET(h)    (((h) >> 28) & 7u)
#define STROBE_CM_ID(h)        (((h) >> 12) & 0xffffu)
#define STROBE_CM_TIME_HIGH(h) ((h)&0xfffu) /* bits 32-43 of the time */
#define STROBE_CM_H(packet, id, time_high)                                         \
    (STROBE_CM_VALID | (uint32_t)(packet) << 28 | ((uint32_t)(id)&0xffffu) << 12 | \
     ((uint32_t)(time_high)&0xfffu))
#define STROBE_CM_PAD_H        0x80000000u /* marker without content: H, L = 0 */
#define STROBE_CM_UNUSED       0x80000000u /* both words of a guaranteed slot that was not written */
#define STROBE_CLASSIC_STALLED 0xffffffffu /* dram_address: waits for a new buffer */

#define STROBE_ID_NOC_EVENT    12345u /* classic data ids with a meaning of their own */
#define STROBE_ID_NOC_DEBUG    23456u
#define STROBE_ID_PERF_COUNTER 9090u

/* PROFILE_KERNEL, the option word that kernels are compiled with. */
enum {
    STROBE_OPTION_ON = 1,
    STROBE_OPTION_DISPATCH = 2,
    STROBE_OPTION_TRACE_ONLY = 4,
    STROBE_OPTION_SUM = 8,
    STROBE_OPTION_ACCUMULATE = 16
};

/* ---- streaming: control vector (word numbers) ----
 * Counts are monotonic (32 bits, they wrap): compare by difference, index = count % 512.
 * Up to 5 RISCs: as upstream, state slots overlay unused heads and tails so that one 64-byte read of
 * words 16-31 has all. More than 5 RISCs ("wide"): heads and tails only; state is in the lanes. */

enum strobe_stream_control {
    STROBE_SC_HEAD = 0,        /* + risc; the relay stores */
    STROBE_SC_STATE = 16,      /* first of the 16 words that a frame carries */
    STROBE_SC_TIMER_HIGH = 16, /* + risc, 5 RISCs only */
    STROBE_SC_PROGRAM_A = 21,  /* + risc for RISC 0-2, 5 RISCs only */
    STROBE_SC_TAIL = 24,       /* + risc; the RISC stores */
    STROBE_SC_PROGRAM_B = 29,  /* + risc - 3 for RISC 3-4, 5 RISCs only */
    STROBE_SC_ARMED = 48,      /* 1: a relay drains this core. 0: do not wait for room */
    STROBE_SC_STALLS = 50,     /* + risc for RISC 0-7: stalls so far */
    STROBE_SC_END = 58
};
#define STROBE_SC_PROGRAM(risc) \
    ((risc) < 3 ? STROBE_SC_PROGRAM_A + (risc) : STROBE_SC_PROGRAM_B + (risc)-3)
STROBE_WORDS_ASSERT(STROBE_SC_TAIL + STROBE_DEVICE_MAX_RISCS <= STROBE_SC_ARMED, "24 tails fit");
STROBE_WORDS_ASSERT(STROBE_SC_HEAD + STROBE_DEVICE_MAX_RISCS <= STROBE_SC_TAIL, "24 heads fit");
STROBE_WORDS_ASSERT(STROBE_SC_PROGRAM_B + 2 <= STROBE_SC_STATE + 16, "state is one 64-byte read");

/* ---- ours, behind the buffers ---- */

enum strobe_device_mode { STROBE_MODE_OFF = 0, STROBE_MODE_CLASSIC = 1, STROBE_MODE_STREAMING = 2 };

/* What a RISC does while its ring is full. */
enum strobe_device_policy {
    STROBE_POLICY_BLOCK = 0, /* wait up to wait_cycles (0: as long as ARMED), then drop-newest */
    STROBE_POLICY_DROP_NEWEST = 1, /* drop the new record */
    STROBE_POLICY_DROP_OLDEST = 2, /* drop all that the relay has not fetched */
    STROBE_POLICY_SUM_ONLY = 3     /* add the zone to its site's sum; what is no zone is dropped */
};

enum {                           /* strobe_l1_core.flags */
       STROBE_CORE_FW_ZONES = 1, /* streaming: main zones are zones too */
       STROBE_CORE_SUMS = 2      /* streaming: sum zones are kept */
};

/* WORD FIELD           who stores it
 *    0 version         host; STROBE_DEVICE_VERSION
 *    1 n_riscs         host
 *    2 mode            host; enum strobe_device_mode
 *    3 policy          host, at any time; enum strobe_device_policy
 *    4 wait_cycles     host, at any time: bound of one wait for room; 0: none
 *    5 flags           host
 *    6 base            host: device address of the control vector
 *    7 launch          host: number of launches so far (for the host itself)
 *    8 perf_groups     host: groups of counters that are on (bit field)
 *    9 risc_words      host, classic: words of DRAM per RISC
 *   10 program         host or master RISC: runtime id of the launch
 *   11 trace_counter   master RISC: replays so far (DeviceIncrementTraceCount)
 *   12-15 reserved     0 */
struct strobe_l1_core {
    uint32_t version, n_riscs, mode, policy, wait_cycles, flags, base, launch;
    uint32_t perf_groups, risc_words, program, trace_counter;
    uint32_t reserved[4];
};
STROBE_WORD_AT(strobe_l1_core, mode, 2);
STROBE_WORD_AT(strobe_l1_core, policy, 3);
STROBE_WORD_AT(strobe_l1_core, wait_cycles, 4);
STROBE_WORD_AT(strobe_l1_core, flags, 5);
STROBE_WORD_AT(strobe_l1_core, base, 6);
STROBE_WORD_AT(strobe_l1_core, launch, 7);
STROBE_WORD_AT(strobe_l1_core, perf_groups, 8);
STROBE_WORD_AT(strobe_l1_core, risc_words, 9);
STROBE_WORD_AT(strobe_l1_core, program, 10);
STROBE_WORD_AT(strobe_l1_core, trace_counter, 11);
STROBE_WORDS_OF(strobe_l1_core, STROBE_L1_CORE_WORDS);

/* One level of the table of open zones. */
struct strobe_l1_open {
    uint32_t id; /* 27 bits */
    uint32_t start_low, start_high;
    uint32_t reserved;
};
STROBE_WORD_AT(strobe_l1_open, start_low, 1);
STROBE_WORD_AT(strobe_l1_open, start_high, 2);
STROBE_WORDS_OF(strobe_l1_open, STROBE_OPEN_WORDS);

/* What one site has added up since the last SUM record. */
struct strobe_l1_sum {
    uint32_t id; /* 27 bits; count 0: the entry is free */
    uint32_t count;
    uint32_t sum_low, sum_high; /* cycles */
    uint32_t min, max;          /* cycles, saturated at 2^32 - 1 */
    uint32_t reserved[2];
};
STROBE_WORD_AT(strobe_l1_sum, count, 1);
STROBE_WORD_AT(strobe_l1_sum, sum_low, 2);
STROBE_WORD_AT(strobe_l1_sum, min, 4);
STROBE_WORD_AT(strobe_l1_sum, max, 5);
STROBE_WORDS_OF(strobe_l1_sum, 8);

enum {                            /* strobe_l1_lane.flags */
       STROBE_LANE_READY = 1,     /* the RISC has begun its first launch: all fields hold */
       STROBE_LANE_HIDDEN = 2,    /* nothing is published: the launch is not validated yet */
       STROBE_LANE_IN_LAUNCH = 4, /* between begin and end of a launch */
       STROBE_LANE_WAITING = 8,   /* waits for room */
       STROBE_LANE_GAVE_UP = 16,  /* a bounded wait ran out: drops until there is room again */
       STROBE_LANE_OWES = 32 /* a DROP record and the program must come before the next record */
};

/* A RISC's own state; the RISC stores all of it, relay and host read it.
 *
 * WORD FIELD            meaning
 *    0 next             device address of the next word to be written: the true write index is
 *                       tail + ((next - ring) / 4 - tail) % 512 (streaming), (next - buffer) / 4 (classic)
 *    1 limit            up to which address the fast path may write
 *    2 cursor_low       streaming: end of the last S or M zone
 *    3 cursor_high      its high word; 0xffffffff: no cursor, the next zone is M
 *    4 open_top         device address of the first free entry of open[]
 *    5 lap              streaming: count of words at ring index 0 of this lap
 *    6 timer_high       streaming: high word in effect (last STICKY_TIMER)
 *    7 program          runtime id in effect
 *    8 head             streaming: the relay's head as it was last seen
 *    9 flags
 *   10 n_dropped        records dropped so far (wraps)
 *   11 n_unreported     of these: not in a DROP record yet
 *   12 oldest           streaming, drop-oldest: count of the first word that is still valid
 *   13 n_stalls         stalls so far
 *   14,15 stalled       cycles spent in stalls, low, high
 *   16 launch_next      streaming: count of words when the launch began, to rewind an idle one
 *   17 n_open_lost      zones opened deeper than STROBE_OPEN_MAX so far
 *   18 dram_address     classic, non-dropping: address of the DRAM buffer, or STROBE_CLASSIC_STALLED
 *   19 stack_words      classic: words reserved for the ends of open zones
 *   20,21 n_emitted     zones, events and data so far, written, added up or dropped; low, high: only
 *                       where STROBE_DEVICE_COUNT is defined
 *   22-25 classic_sums  classic: {id, cycles} of sums 0 and 1
 *   26 shown_timer      streaming: timer_high as of the published tail; a relay reads it before the tail
 *   27 shown_program    streaming: program as of the published tail; likewise
 *   28 lost_words       classic: words that found no room in DRAM since the host's last read, which clears it;
 *                       stored by the master too, behind the RISC's run, like n_dropped
 *   29-31 reserved      0
 *   32 open             STROBE_OPEN_MAX levels, outermost first
 *   96 sums             STROBE_SUM_MAX entries
 *  224-255 reserved     0
 *
 * A reader of open[] reads next, open_top and n_dropped before and after it: equal values, and it holds. */
struct strobe_l1_lane {
    uint32_t next, limit, cursor_low, cursor_high, open_top, lap, timer_high, program;
    uint32_t head, flags, n_dropped, n_unreported, oldest, n_stalls, stalled_low, stalled_high;
    uint32_t launch_next, n_open_lost, dram_address, stack_words, n_emitted_low, n_emitted_high;
    uint32_t classic_sums[4];
    uint32_t shown_timer, shown_program, lost_words;
    uint32_t reserved_a[3];
    struct strobe_l1_open open[STROBE_OPEN_MAX];
    struct strobe_l1_sum sums[STROBE_SUM_MAX];
    uint32_t reserved_b[32];
};
STROBE_WORD_AT(strobe_l1_lane, next, 0);
STROBE_WORD_AT(strobe_l1_lane, limit, 1);
STROBE_WORD_AT(strobe_l1_lane, cursor_low, 2);
STROBE_WORD_AT(strobe_l1_lane, cursor_high, 3);
STROBE_WORD_AT(strobe_l1_lane, open_top, 4);
STROBE_WORD_AT(strobe_l1_lane, lap, 5);
STROBE_WORD_AT(strobe_l1_lane, timer_high, 6);
STROBE_WORD_AT(strobe_l1_lane, program, 7);
STROBE_WORD_AT(strobe_l1_lane, head, 8);
STROBE_WORD_AT(strobe_l1_lane, flags, 9);
STROBE_WORD_AT(strobe_l1_lane, n_dropped, 10);
STROBE_WORD_AT(strobe_l1_lane, n_unreported, 11);
STROBE_WORD_AT(strobe_l1_lane, oldest, 12);
STROBE_WORD_AT(strobe_l1_lane, n_stalls, 13);
STROBE_WORD_AT(strobe_l1_lane, stalled_low, 14);
STROBE_WORD_AT(strobe_l1_lane, launch_next, 16);
STROBE_WORD_AT(strobe_l1_lane, n_open_lost, 17);
STROBE_WORD_AT(strobe_l1_lane, dram_address, 18);
STROBE_WORD_AT(strobe_l1_lane, stack_words, 19);
STROBE_WORD_AT(strobe_l1_lane, n_emitted_low, 20);
STROBE_WORD_AT(strobe_l1_lane, classic_sums, 22);
STROBE_WORD_AT(strobe_l1_lane, shown_timer, 26);
STROBE_WORD_AT(strobe_l1_lane, shown_program, 27);
STROBE_WORD_AT(strobe_l1_lane, lost_words, 28);
STROBE_WORD_AT(strobe_l1_lane, open, 32);
STROBE_WORD_AT(strobe_l1_lane, sums, 96);
STROBE_WORD_AT(strobe_l1_lane, reserved_b, 224);
STROBE_WORDS_OF(strobe_l1_lane, STROBE_L1_LANE_WORDS);

#define STROBE_NO_CURSOR 0xffffffffu /* cursor_high, timer_high: none */

/* ---- streaming: records of a lane. word0 = type << 27 | 27 bits ---- */

enum strobe_stream_type {
    STROBE_ST_ZONE_START = 0,   /* 2 words: id; time low */
    STROBE_ST_ZONE_END = 1,     /* 2: id; time low */
    STROBE_ST_ZONE_M = 2,       /* 3: id; end low; duration. Sets the cursor */
    STROBE_ST_ZONE_S = 3,       /* 2: id; end - cursor << 16 | duration. Moves the cursor */
    STROBE_ST_ZONE_L = 4,       /* 5: id; end low; end high; duration low; high. No cursor */
    STROBE_ST_PROGRAM = 8,      /* 1: runtime id */
    STROBE_ST_TIMER = 9,        /* 1: bits 32-58 of the time; ends the cursor */
    STROBE_ST_DATA = 10,        /* 3 + n: id; time low; n << 25; n words, values high word first */
    STROBE_ST_RETIRED = 11,     /* never */
    STROBE_ST_EVENT = 12,       /* 2: id; time low */
    STROBE_ST_FRAME = 13,       /* first word of a frame, never in a lane */
    STROBE_ST_PROGRAM_EXT = 14, /* 2: low bits 0; runtime id, 32 bits */
    STROBE_ST_EXTENSION = 15    /* 1 + n: subtype << 19 | n; ours */
};
#define STROBE_ST_WORD(type, low27) ((uint32_t)(type) << 27 | ((uint32_t)(low27)&0x7ffffffu))
#define STROBE_ST_TYPE(word)        ((uint32_t)(word) >> 27)
#define STROBE_ST_ID(word)          ((uint32_t)(word)&0x7ffffffu)
#define STROBE_DATA_MAX_WORDS       126u /* 63 values; N is even */

/* id27 = translation unit << 14 | site. Units from 8187 are not given to translation units. */
#define STROBE_ID27(unit, site) (((uint32_t)(unit)&0x1fffu) << 14 | ((uint32_t)(site)&0x3fffu))
#define STROBE_UNIT_RESERVED    8191u /* stall zone and other fixed ids; no ELF record */
/* DeviceRecordEvent(number), 16 bits: units 8190 (numbers 0-16383), 8189, 8188, 8187 */
#define STROBE_UNIT_NUMBERS 8190u
#define STROBE_ID_STALL     STROBE_ID27(STROBE_UNIT_RESERVED, 0) /* PROFILER-STALL */
#define STROBE_ID_COUNTER   STROBE_ID27(STROBE_UNIT_RESERVED, 2) /* data: a perf counter */
#define STROBE_ID_NOC       STROBE_ID27(STROBE_UNIT_RESERVED, 3) /* data: a NoC event */
#define STROBE_ID_NOC_LOCK  STROBE_ID27(STROBE_UNIT_RESERVED, 4) /* data: NoC debugging */
#define STROBE_ID_STACK     STROBE_ID27(STROBE_UNIT_RESERVED, 1) /* STACK-OVERFLOW, an event */
#define STROBE_ID_NUMBER(n) STROBE_ID27(STROBE_UNIT_NUMBERS - ((uint32_t)(n) >> 14 & 3u), (n))

#define STROBE_EXT_WORD(subtype, n_words)                              \
    ((uint32_t)STROBE_ST_EXTENSION << 27 | (uint32_t)(subtype) << 19 | \
     ((uint32_t)(n_words)&0x7ffffu))
#define STROBE_EXT_SUBTYPE(word) (((uint32_t)(word) >> 19) & 0xffu)
#define STROBE_EXT_N(word)       ((uint32_t)(word)&0x7ffffu)
#define STROBE_EXT_MAX_WORDS     65535u /* of a frame; a reader refuses more */

/* Subtypes below 64 are records of a lane, the others are frames. */
enum strobe_ext {
    STROBE_EXT_SUM = 1,  /* n 6: id; count; sum low; high; min; max (cycles) */
    STROBE_EXT_DROP = 2, /* n 1: records that this lane dropped since its last DROP */
    STROBE_EXT_HELLO = 64,
    STROBE_EXT_CORE = 65,
    STROBE_EXT_NAME = 66,
    STROBE_EXT_PROGRAM = 67,
    STROBE_EXT_LAUNCH = 68,
    STROBE_EXT_CLOCK = 69,
    STROBE_EXT_OPEN = 70,
    STROBE_EXT_TOTALS = 71,
    STROBE_EXT_COUNTERS = 72,
    STROBE_EXT_CLASSIC = 73,
    STROBE_EXT_MEMORY = 74,
    STROBE_EXT_LANES = 75,
    STROBE_EXT_BYE = 76,
    STROBE_EXT_LINK = 77
};
enum { STROBE_EXT_FRAMES = 64, STROBE_SUM_WORDS = 7, STROBE_DROP_WORDS = 2 };

/* An SYNC_SIGNAL_NOC_ADDR value: bit 63 set, NoC in bit 62, address below. */
#define STROBE_SYNC_NOC_BIT 63

/* ---- frames: 64-byte aligned, padded with zero words to 64 bytes ---- */

enum { STROBE_FRAME_WORDS = 16, STROBE_FRAME_WHOLE_RING_DEAD = 64 };

/* Frame of type 13.
 * WORD FIELD      meaning
 *    0 word0      13 << 27
 *    1 n_words    payload words: state, pads and runs; not words 0-7, not the padding
 *    2 head       per RISC: count of its first word here
 *    7 core_yx    physical y << 16 | x
 *    8 state      words 16-31 of the control vector: 0-4 timer high, 5-7 and 13-14 programs, 8-12 tails,
 *                 15 reserved
 *   24 runs       per RISC: 0-3 pad words so that wire offset = ring offset (mod 4), then head..tail.
 *                 A run that wraps and leaves <= 64 dead words is the whole ring, from ring offset 0 */
struct strobe_frame_lanes5 {
    uint32_t word0, n_words, head[5], core_yx, state[16];
};
STROBE_WORD_AT(strobe_frame_lanes5, head, 2);
STROBE_WORD_AT(strobe_frame_lanes5, core_yx, 7);
STROBE_WORD_AT(strobe_frame_lanes5, state, 8);
STROBE_WORDS_OF(strobe_frame_lanes5, 24);
enum {
    STROBE_FRAME_PREFIX = 8,
    STROBE_FRAME_TIMER_HIGH = 0, /* in state[] */
    STROBE_FRAME_TAIL = 8,
    STROBE_FRAME_MAX_PAYLOAD = 16 + 5 * (512 + 3)
};
#define STROBE_FRAME_PROGRAM(risc) ((risc) < 3 ? 5 + (risc) : 10 + (risc))

/* The frames below: word0 = STROBE_EXT_WORD(subtype, words that follow). Texts: a word with the number
 * of bytes, then the bytes, padded with 0 to whole words. */

enum {
    STROBE_HELLO_VIRTUAL = 1
}; /* flags: its clock, and the host times of the stream, are virtual */

/* HELLO: what the device is. First frame of a stream; may repeat. A new `epoch` means that the device
 * was reset: its clocks began again, lanes have no state, nothing else changed. */
struct strobe_frame_hello {
    uint32_t word0, version, device, arch; /* arch: enum strobe_device_arch */
    uint32_t frequency_khz;                /* nominal */
    uint32_t grid_x, grid_y, n_riscs, mode, policy, epoch;
    uint32_t pid;                   /* of the host process */
    uint32_t start_low, start_high; /* host CLOCK_MONOTONIC ns at which the stream began */
    uint32_t flags, reserved;       /* flags: STROBE_HELLO_… */
};
STROBE_WORD_AT(strobe_frame_hello, frequency_khz, 4);
STROBE_WORD_AT(strobe_frame_hello, epoch, 10);
STROBE_WORD_AT(strobe_frame_hello, start_low, 12);
STROBE_WORDS_OF(strobe_frame_hello, 16); /* then: text, the backend's name */

enum strobe_device_arch {
    STROBE_ARCH_UNKNOWN = 0,
    STROBE_ARCH_GRAYSKULL = 1,
    STROBE_ARCH_WORMHOLE_B0 = 2,
    STROBE_ARCH_BLACKHOLE = 3,
    STROBE_ARCH_QUASAR = 4,
    STROBE_ARCH_SIM = 5,
    STROBE_ARCH_RV32 = 6
};

enum strobe_core_kind {
    STROBE_CORE_WORKER = 0,
    STROBE_CORE_ETH = 1,
    STROBE_CORE_DISPATCH = 2,
    STROBE_CORE_DRAM = 3
};

/* CORE: one core; before its first lanes. `index` counts from 0 without holes. */
struct strobe_frame_core {
    uint32_t word0, index, core_yx, logical_yx, kind, flat_id, n_riscs, reserved;
};
STROBE_WORD_AT(strobe_frame_core, core_yx, 2);
STROBE_WORD_AT(strobe_frame_core, kind, 4);
STROBE_WORDS_OF(strobe_frame_core, 8);

/* NAME: what an id is called. Before or after its first use. */
struct strobe_frame_name {
    uint32_t word0, flags, id, line;
};
enum { STROBE_NAME_CLASSIC = 1 /* id is a 16-bit hash */, STROBE_NAME_AMBIGUOUS = 2 };
STROBE_WORDS_OF(strobe_frame_name, 4); /* then: texts name, file */

/* PROGRAM: what a runtime id runs. */
struct strobe_frame_program {
    uint32_t word0, program, trace_id, n_sources; /* trace_id 0xffffffff: none */
};
STROBE_WORDS_OF(strobe_frame_program, 4); /* then: texts name, n_sources sources */

/* LAUNCH: the host enqueued a program. */
struct strobe_frame_launch {
    uint32_t word0, program, sequence_low, sequence_high, trace_id, trace_counter;
    uint32_t host_ns_low, host_ns_high; /* CLOCK_MONOTONIC */
    uint32_t flow_low, flow_high;       /* number of the host's flow event; 0: none */
    uint32_t pid, tid, n_cores, reserved[3];
};
STROBE_WORD_AT(strobe_frame_launch, host_ns_low, 6);
STROBE_WORD_AT(strobe_frame_launch, flow_low, 8);
STROBE_WORD_AT(strobe_frame_launch, pid, 10);
STROBE_WORDS_OF(strobe_frame_launch, 16);

/* CLOCK: one reading of a clock, between two readings of the host's. */
struct strobe_frame_clock {
    uint32_t word0, core_yx; /* STROBE_CORE_NONE: the device's reference clock */
    uint32_t cycles_low, cycles_high;
    uint32_t before_low, before_high, after_low, after_high; /* CLOCK_MONOTONIC ns */
};
#define STROBE_CORE_NONE 0xffffffffu
STROBE_WORD_AT(strobe_frame_clock, cycles_low, 2);
STROBE_WORD_AT(strobe_frame_clock, before_low, 4);
STROBE_WORDS_OF(strobe_frame_clock, 8);

/* OPEN: zones of a core that were open at `cycles`. Then per lane: risc | depth << 8, and depth times
 * {id, start low, start high}, outermost first. All lanes of the core that have one are in it; a lane
 * that is not in it has none. */
struct strobe_frame_open {
    uint32_t word0, core_yx, cycles_low, cycles_high, flags, n_lanes;
};
enum { STROBE_OPEN_FINAL = 1 /* the core will not run on: it hung, was killed or reset */ };
STROBE_WORDS_OF(strobe_frame_open, 6);

/* One lane's counts, as the device itself has them, since the stream began. */
struct strobe_lane_total {
    uint32_t core_yx, risc;
    uint32_t emitted_low, emitted_high; /* zones, events, data; all bits 1: not counted */
    uint32_t dropped_low, dropped_high;
    uint32_t n_stalls;
    uint32_t stalled_low, stalled_high; /* cycles */
    uint32_t undelivered;               /* words that left the core but not the relay */
};
STROBE_WORD_AT(strobe_lane_total, emitted_low, 2);
STROBE_WORD_AT(strobe_lane_total, dropped_low, 4);
STROBE_WORD_AT(strobe_lane_total, n_stalls, 6);
STROBE_WORD_AT(strobe_lane_total, undelivered, 9);
STROBE_WORDS_OF(strobe_lane_total, 10);

/* TOTALS: any number of strobe_lane_total, at any time. BYE: the same, for all lanes; the last frame. */
struct strobe_frame_totals {
    uint32_t word0, n_lanes, reason, reserved; /* reason: of BYE, enum strobe_bye */
};
enum strobe_bye { STROBE_BYE_CLOSED = 0, STROBE_BYE_RESET = 1, STROBE_BYE_DIED = 2 };
STROBE_WORDS_OF(strobe_frame_totals, 4);

/* COUNTERS: then n times {type, ref count, value low, value high}. */
struct strobe_frame_counters {
    uint32_t word0, core_yx, risc, program, cycles_low, cycles_high, n_counters, reserved;
};
STROBE_WORDS_OF(strobe_frame_counters, 8);

/* CLASSIC: marker words of one RISC, as they were in DRAM or L1; then the words. A run may be cut over
 * several frames only where a run begins (0, 0). */
struct strobe_frame_classic {
    uint32_t word0, core_yx, risc, flags, n_words;
    uint32_t end_words;     /* of this RISC in DRAM at this read, all frames together */
    uint32_t needed_words;  /* that would be there if all had found room */
    uint32_t program_words; /* of DRAM per RISC and supported program */
};
STROBE_WORD_AT(strobe_frame_classic, n_words, 4);
STROBE_WORD_AT(strobe_frame_classic, end_words, 5);
STROBE_WORD_AT(strobe_frame_classic, program_words, 7);
enum {
    STROBE_CLASSIC_FROM_L1 = 1,
    STROBE_CLASSIC_DROPPED = 2,   /* the drop bit of this RISC was set */
    STROBE_CLASSIC_TRACE_ONLY = 4 /* buffer 0 of the core holds TRACE-FW and TRACE-KERNEL */
};
STROBE_WORDS_OF(strobe_frame_classic, 8);

/* MEMORY: a buffer was allocated or freed. */
struct strobe_frame_memory {
    uint32_t word0, kind, pool; /* kind 0 free, 1 alloc; pool: enum strobe_memory_pool */
    uint32_t address_low, address_high, bytes_low, bytes_high, host_ns_low, host_ns_high;
    uint32_t reserved[7];
};
enum strobe_memory_pool {
    STROBE_POOL_DRAM = 0,
    STROBE_POOL_L1 = 1,
    STROBE_POOL_SYSTEM = 2,
    STROBE_POOL_L1_SMALL = 3,
    STROBE_POOL_TRACE = 4
};
STROBE_WORDS_OF(strobe_frame_memory, 16);

/* LINK: this device's clock against another's, by messages over a link: other = scale * this + shift, in cycles of their
 * reference clocks, right within error_ns between the first message and the last. */
struct strobe_frame_link {
    uint32_t word0, other, n_messages;
    uint32_t scale_low, scale_high; /* IEEE 754 double */
    uint32_t shift_low, shift_high; /* likewise */
    uint32_t error_ns, reserved[8];
};
STROBE_WORDS_OF(strobe_frame_link, 16);

/* LANES: what a frame of type 13 is for at most 5 RISCs, for any RISCs. Then n_lanes heads of 5 words
 * {risc, head, tail, timer high, program}, then their runs, in that order: tail - head words each, in
 * the order in which they were written, without pads. */
struct strobe_frame_lanes {
    uint32_t word0, core_yx, n_lanes;
};
STROBE_WORDS_OF(strobe_frame_lanes, 3);
enum { STROBE_LANES_HEAD_WORDS = 5 };

#endif
