/* file_layout.h - the trace file, byte by byte. docs/file-format.md is normative; this is its C form.
 * No code, no I/O.  SPDX-License-Identifier: MIT */
#ifndef STROBE_WIRE_FILE_LAYOUT_H
#define STROBE_WIRE_FILE_LAYOUT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/at.h"

#define STROBE_FILE_MAGIC    0x0a45424f52545389ull /* "\x89STROBE\n" */
#define STROBE_BLOCK_MAGIC   0x4b4c4253u           /* "SBLK" */
#define STROBE_LEDGER_MAGIC  0x4744454c42525453ull /* "STRBLEDG" */
#define STROBE_TRAILER_MAGIC 0x0a444e4542525453ull /* "STRBEND\n" */
#define STROBE_FILE_VERSION  2                     /* 1: no EVENTS block has a flag */

enum {
    STROBE_FILE_HEAD_BYTES = 4096,
    STROBE_FILE_LEDGER_BYTES = 65536,
    STROBE_FILE_LEDGER_SLOT = 32768,
    STROBE_FILE_FIRST_BLOCK = STROBE_FILE_HEAD_BYTES + STROBE_FILE_LEDGER_BYTES,
    STROBE_FILE_MAX_PAYLOAD = 16 << 20,
    STROBE_BLOCK_EVENTS_MAX = 65536,
    STROBE_FILE_OPEN_MAX = 1 << 20, /* zones open at a part's start: n_below + n_stack */
    STROBE_FRAME_FLOOR = 1 << 20,   /* a frame of n bytes stands for at most FLOOR + RATIO * n */
    STROBE_FRAME_RATIO = 256,
    STROBE_EVENTS_FLOOR = 1024, /* likewise the events of a block of n stored bytes */
    STROBE_EVENTS_RATIO = 256,
    STROBE_INDEX_FANOUT = 256,
    STROBE_SUMMARY_MIN_EVENTS = 512,
    STROBE_LOD_DEPTHS = 16,
    STROBE_LOD_BUCKETS = 64, /* readers take up to 128 */
    STROBE_HIST_SUB = 32,
    STROBE_HIST_BUCKETS = 32 * 60, /* of durations below 2^64 */
};

enum strobe_block_type {
    STROBE_BLOCK_EVENTS = 1,
    STROBE_BLOCK_RECORDS = 2,
    STROBE_BLOCK_INDEX = 3,
    STROBE_BLOCK_FOOTER = 4,
    STROBE_BLOCK_LOD = 5,
    STROBE_BLOCK_PAIRED = 6,     /* rows of paired tracks: file/paired.h */
    STROBE_BLOCK_PAIRED_LOD = 7, /* what they look like from afar, and their list */
};

/* Flags of a part, and of an LOD block. */
enum strobe_part_flag {
    STROBE_PART_SUMMARY = 1,
    STROBE_PART_ENDS = 2,         /* of its longest zones: behind the last part */
    STROBE_PART_KNOWS_NESTED = 4, /* zones in zones of their location were counted */
    STROBE_PART_NESTED = 8,       /* and there are some: their sums are behind the ends */
};
enum strobe_events_flag { STROBE_EVENTS_HI_BY_LO = 1 }; /* how the stream hi is stored */
enum strobe_lod_flag { STROBE_LOD_ENDS = 1 };
enum strobe_paired_flag { STROBE_PAIRED_LIST = 1 }; /* of a PAIRED_LOD block */

/* Kinds of paired tracks: docs/file-format.md, "PAIRED and PAIRED_LOD". */
enum strobe_paired_kind {
    STROBE_PAIRED_THREAD = 2,
    STROBE_PAIRED_FIBER = 3,
    STROBE_PAIRED_SPANS = 4,
    STROBE_PAIRED_GPU = 5,
};
enum {
    STROBE_PAIRED_VERSION = 2,    /* 1: neither nested rows nor zones that are no rows are known */
    STROBE_PAIRED_PART = 16384,   /* rows or cells of a part */
    STROBE_PAIRED_TRACKS = 65536, /* of a list */
    STROBE_PAIRED_DEPTHS = 512,   /* of spans */
    STROBE_PAIRED_STEP = 2,       /* between the shifts of levels */
};

enum strobe_stream { STROBE_SYM, STROBE_LO, STROBE_HI, STROBE_BIG, STROBE_SIDE, STROBE_N_STREAMS };

/* Symbols of the sym stream from here on are begins of zones; below are kinds (wire/kinds.h). */
enum { STROBE_SYM_BEGIN_FAR = 63, STROBE_SYM_BEGIN = 64, STROBE_SYM_BEGIN_DIRECT = 192 };

/* Facts of the trace, in RECORDS blocks beside those of wire/kinds.h. Same letters. */
#define STROBE_FACT_LIST(X)                                                               \
    X(POOL, 96, "pool", "usu", "proc,file,meta_pos")                                      \
    X(CLOCK_SYNC, 97, "clock_sync", "uuuuuu", "clock,tick,mono_ns,real_ns,error_ns,jump") \
    X(LOSS, 98, "loss", "uuuuuu", "proc,track,cause,count,first_tick,last_tick")          \
    X(PROCESS_END, 99, "process_end", "uuuu", "proc,tick,how,value")                      \
    X(THREAD_END, 100, "thread_end", "uuu", "proc,track,tick")                            \
    X(HOST, 101, "host", "sss", "hostname,kernel,cpu")                                    \
    X(OVERHEAD, 102, "overhead", "uuuu", "recorder_cpu_ns,event_ps,waited_ns,n_events")   \
    X(NOTE, 103, "note", "us", "proc,text")                                               \
    X(RECORDING, 104, "recording", "uu", "tick,what")                                     \
    X(KEPT, 105, "trigger_kept", "us", "tick,reason")                                     \
    X(CLOCK_MAP, 106, "clock_map", "uiuuu", "proc,time,tick,mult,error_ns")               \
    X(UNRECORDED, 107, "unrecorded", "uuss", "pid,tick,what,reason")                      \
    X(OUTER_PID, 108, "outer_pid", "uuu", "proc,pid,pid_ns")                              \
    X(KIND, 109, "kind", "s", "line")

/* Those for which a file's head has no line left, as STROBE_LATER_LIST of wire/kinds.h. */
#define STROBE_FACT_LATER_LIST(X)                                             \
    X(CLOCK_ID, 116, "clock_id", "uuuss", "id_high,id_low,role,name,address") \
    X(CLOCK_EXCHANGE, 117, "clock_exchange", "uuuuuuu",                       \
      "id_high,id_low,sent,received,answered,back,kernel")                    \
    X(CLOCK_PLACED, 118, "clock_placed", "uuuuuuus",                          \
      "proc,n_procs,how,tick,likely_ns,proven_ns,n_steps,host")

enum strobe_fact {
#define X(name, number, text, fields, field_names) STROBE_FACT_##name = number,
    STROBE_FACT_LIST(X) STROBE_FACT_LATER_LIST(X)
#undef X
        STROBE_FACT_COUNT = 128
};

/* CLOCK_ID: whose number it is. */
enum strobe_clock_role {
    STROBE_CLOCK_ROLE_OWN = 0,
    STROBE_CLOCK_ROLE_ASKED = 1,
    STROBE_CLOCK_ROLE_ASKING = 2,
};
/* CLOCK_EXCHANGE: which of its ticks are stamps of the kernel. */
enum { STROBE_CLOCK_KERNEL_BACK = 1, STROBE_CLOCK_KERNEL_RECEIVED = 2 };
/* CLOCK_PLACED: where times come from. */
enum strobe_clock_how {
    STROBE_CLOCK_HOW_OWN = 0,
    STROBE_CLOCK_HOW_SAME = 1,
    STROBE_CLOCK_HOW_COMPARED = 2,
    STROBE_CLOCK_HOW_THROUGH = 3,
    STROBE_CLOCK_HOW_WALL = 4,
    STROBE_CLOCK_HOW_HOST = 5, /* by the wall clock of the host that both are of */
};

/* Offsets: docs/file-format.md, "File head". */
struct strobe_file_head {
    uint64_t magic;
    uint32_t version;
    uint32_t head_bytes;
    uint64_t ledger_off;
    uint64_t ledger_bytes;
    uint64_t first_block;
    uint64_t created_ns;
    uint8_t uuid[16];
    uint64_t sync_ns;
    uint8_t reserved[56];
    char session[768];
    char schema[3192];
    uint64_t hash;
};
STROBE_AT(strobe_file_head, magic, 0);
STROBE_AT(strobe_file_head, version, 8);
STROBE_AT(strobe_file_head, head_bytes, 12);
STROBE_AT(strobe_file_head, ledger_off, 16);
STROBE_AT(strobe_file_head, ledger_bytes, 24);
STROBE_AT(strobe_file_head, first_block, 32);
STROBE_AT(strobe_file_head, created_ns, 40);
STROBE_AT(strobe_file_head, uuid, 48);
STROBE_AT(strobe_file_head, sync_ns, 64);
STROBE_AT(strobe_file_head, reserved, 72);
STROBE_AT(strobe_file_head, session, 128);
STROBE_AT(strobe_file_head, schema, 896);
STROBE_AT(strobe_file_head, hash, 4088);
static_assert(sizeof(struct strobe_file_head) == STROBE_FILE_HEAD_BYTES, "on disk");

/* Offsets: docs/file-format.md, "Blocks". */
struct strobe_block_head {
    uint32_t magic;
    uint8_t type;
    uint8_t level;
    uint16_t
        flags; /* of an LOD block: enum strobe_lod_flag; of PAIRED_LOD: strobe_paired_flag; else 0 */
    uint64_t seq;
    uint32_t head_bytes;
    uint32_t body_bytes;
    uint32_t head_raw;
    uint32_t n_items;
    uint64_t tick_min;
    uint64_t tick_max;
    uint64_t prev_index;
    uint64_t payload_hash;
    uint64_t header_hash;
};
STROBE_AT(strobe_block_head, magic, 0);
STROBE_AT(strobe_block_head, type, 4);
STROBE_AT(strobe_block_head, level, 5);
STROBE_AT(strobe_block_head, flags, 6);
STROBE_AT(strobe_block_head, seq, 8);
STROBE_AT(strobe_block_head, head_bytes, 16);
STROBE_AT(strobe_block_head, body_bytes, 20);
STROBE_AT(strobe_block_head, head_raw, 24);
STROBE_AT(strobe_block_head, n_items, 28);
STROBE_AT(strobe_block_head, tick_min, 32);
STROBE_AT(strobe_block_head, tick_max, 40);
STROBE_AT(strobe_block_head, prev_index, 48);
STROBE_AT(strobe_block_head, payload_hash, 56);
STROBE_AT(strobe_block_head, header_hash, 64);
static_assert(sizeof(struct strobe_block_head) == 72, "on disk");

/* Offsets: docs/file-format.md, "INDEX and FOOTER". */
struct strobe_index_entry {
    uint64_t offset;
    uint64_t tick_min;
    uint64_t tick_max;
    uint64_t n_events;
    uint64_t n_zones;
    uint32_t bytes;
    uint8_t type;
    uint8_t level;
    uint16_t reserved;
};
STROBE_AT(strobe_index_entry, offset, 0);
STROBE_AT(strobe_index_entry, tick_min, 8);
STROBE_AT(strobe_index_entry, tick_max, 16);
STROBE_AT(strobe_index_entry, n_events, 24);
STROBE_AT(strobe_index_entry, n_zones, 32);
STROBE_AT(strobe_index_entry, bytes, 40);
STROBE_AT(strobe_index_entry, type, 44);
STROBE_AT(strobe_index_entry, level, 45);
STROBE_AT(strobe_index_entry, reserved, 46);
static_assert(sizeof(struct strobe_index_entry) == 48, "on disk");

struct strobe_file_trailer {
    uint64_t magic;
    uint64_t footer;
    uint64_t self;
    uint64_t hash;
};
STROBE_AT(strobe_file_trailer, magic, 0);
STROBE_AT(strobe_file_trailer, footer, 8);
STROBE_AT(strobe_file_trailer, self, 16);
STROBE_AT(strobe_file_trailer, hash, 24);
static_assert(sizeof(struct strobe_file_trailer) == 32, "on disk");

struct strobe_ledger_slot {
    uint64_t magic;
    uint64_t seq;
    uint32_t n_bytes;
    uint32_t reserved;
    uint64_t hash;
};
STROBE_AT(strobe_ledger_slot, magic, 0);
STROBE_AT(strobe_ledger_slot, seq, 8);
STROBE_AT(strobe_ledger_slot, n_bytes, 16);
STROBE_AT(strobe_ledger_slot, reserved, 20);
STROBE_AT(strobe_ledger_slot, hash, 24);
static_assert(sizeof(struct strobe_ledger_slot) == 32, "on disk");

#endif
