/* events.h - every event of Tracy's protocols 55 to 82: its number, its layout, in one table.
 *
 * Events were only ever inserted or removed, never reordered: the number of an event in protocol V is
 * the count of earlier rows that V has. strobe_tracy_table_make walks the rows once per connection.
 * The server's side decodes by it, the client's side (the bridge) encodes by it.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_EVENTS_H
#define STROBE_TRACY_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

enum { STROBE_TRACY_FIRST = 55, STROBE_TRACY_LAST = 82 }; /* protocols */

/* Rows in the order of the wire: first protocol, last protocol, event, layout. Letters, all packed and
 * little-endian: a i64 time; t s c g i64 difference of time against the thread's, the serial, the
 * context switches' and the GPU's reference; 4 2 u32, u16 difference (thread); Y y u32, u16 difference
 * (context switches); p u64; q i64; d f64; f f32; I u32; i i32; H u16; B u8; b i8; 6 a size of 48 bits;
 * X 8 bytes; at the end N, n, L: bytes after a length of u16, u8, u32. */
#define STROBE_TRACY_EVENT_LIST(X)                                   \
    X(55, 82, ZONE_TEXT, "")                                         \
    X(55, 82, ZONE_NAME, "")                                         \
    X(55, 76, MESSAGE, "a")                                          \
    X(77, 82, MESSAGE, "aB")                                         \
    X(55, 76, MESSAGE_COLOR, "aBBB")                                 \
    X(77, 82, MESSAGE_COLOR, "aBBBB")                                \
    X(55, 76, MESSAGE_CALLSTACK, "a")                                \
    X(77, 82, MESSAGE_CALLSTACK, "aB")                               \
    X(55, 76, MESSAGE_COLOR_CALLSTACK, "aBBB")                       \
    X(77, 82, MESSAGE_COLOR_CALLSTACK, "aBBBB")                      \
    X(55, 82, MESSAGE_APP_INFO, "a")                                 \
    X(55, 82, ZONE_BEGIN_ALLOC_SRC_LOC, "t")                         \
    X(55, 82, ZONE_BEGIN_ALLOC_SRC_LOC_CALLSTACK, "t")               \
    X(55, 82, CALLSTACK_SERIAL, "")                                  \
    X(55, 82, CALLSTACK, "")                                         \
    X(55, 82, CALLSTACK_ALLOC, "")                                   \
    X(55, 77, CALLSTACK_SAMPLE, "cI")                                \
    X(78, 82, CALLSTACK_SAMPLE, "Ic")                                \
    X(78, 82, CALLSTACK_SAMPLE_32, "IY")                             \
    X(78, 82, CALLSTACK_SAMPLE_16, "Iy")                             \
    X(55, 77, CALLSTACK_SAMPLE_CONTEXT_SWITCH, "cI")                 \
    X(78, 82, CALLSTACK_SAMPLE_CONTEXT_SWITCH, "Ic")                 \
    X(78, 82, CALLSTACK_SAMPLE_CONTEXT_SWITCH_32, "IY")              \
    X(78, 82, CALLSTACK_SAMPLE_CONTEXT_SWITCH_16, "Iy")              \
    X(55, 82, FRAME_IMAGE, "IHHB")                                   \
    X(55, 82, ZONE_BEGIN, "tp")                                      \
    X(78, 82, ZONE_BEGIN_32, "4p")                                   \
    X(78, 82, ZONE_BEGIN_16, "2p")                                   \
    X(55, 82, ZONE_BEGIN_CALLSTACK, "tp")                            \
    X(78, 82, ZONE_BEGIN_CALLSTACK_32, "4p")                         \
    X(78, 82, ZONE_BEGIN_CALLSTACK_16, "2p")                         \
    X(55, 82, ZONE_END, "t")                                         \
    X(78, 82, ZONE_END_32, "4")                                      \
    X(78, 82, ZONE_END_16, "2")                                      \
    X(55, 82, LOCK_WAIT, "IIs")                                      \
    X(55, 82, LOCK_OBTAIN, "IIs")                                    \
    X(55, 57, LOCK_RELEASE, "IIs")                                   \
    X(58, 82, LOCK_RELEASE, "Is")                                    \
    X(55, 82, LOCK_SHARED_WAIT, "IIs")                               \
    X(55, 82, LOCK_SHARED_OBTAIN, "IIs")                             \
    X(55, 57, LOCK_SHARED_RELEASE, "IIs")                            \
    X(58, 82, LOCK_SHARED_RELEASE, "IsI")                            \
    X(55, 82, LOCK_NAME, "I")                                        \
    X(55, 82, MEM_ALLOC, "sIp6")                                     \
    X(55, 82, MEM_ALLOC_NAMED, "sIp6")                               \
    X(55, 82, MEM_FREE, "sIp")                                       \
    X(55, 82, MEM_FREE_NAMED, "sIp")                                 \
    X(55, 82, MEM_ALLOC_CALLSTACK, "sIp6")                           \
    X(55, 82, MEM_ALLOC_CALLSTACK_NAMED, "sIp6")                     \
    X(55, 82, MEM_FREE_CALLSTACK, "sIp")                             \
    X(55, 82, MEM_FREE_CALLSTACK_NAMED, "sIp")                       \
    X(72, 82, MEM_DISCARD, "sIp")                                    \
    X(72, 82, MEM_DISCARD_CALLSTACK, "sIp")                          \
    X(55, 82, GPU_ZONE_BEGIN, "tIHBp")                               \
    X(55, 82, GPU_ZONE_BEGIN_CALLSTACK, "tIHBp")                     \
    X(55, 82, GPU_ZONE_BEGIN_ALLOC_SRC_LOC, "tIHB")                  \
    X(55, 82, GPU_ZONE_BEGIN_ALLOC_SRC_LOC_CALLSTACK, "tIHB")        \
    X(55, 82, GPU_ZONE_END, "tIHB")                                  \
    X(55, 82, GPU_ZONE_BEGIN_SERIAL, "sIHBp")                        \
    X(55, 82, GPU_ZONE_BEGIN_CALLSTACK_SERIAL, "sIHBp")              \
    X(55, 82, GPU_ZONE_BEGIN_ALLOC_SRC_LOC_SERIAL, "sIHB")           \
    X(55, 82, GPU_ZONE_BEGIN_ALLOC_SRC_LOC_CALLSTACK_SERIAL, "sIHB") \
    X(55, 82, GPU_ZONE_END_SERIAL, "sIHB")                           \
    X(55, 58, PLOT_DATA, "ptBX")                                     \
    X(59, 82, PLOT_DATA_INT, "ptq")                                  \
    X(59, 82, PLOT_DATA_FLOAT, "ptf")                                \
    X(59, 82, PLOT_DATA_DOUBLE, "ptd")                               \
    X(55, 72, CONTEXT_SWITCH, "cIIBBB")                              \
    X(73, 82, CONTEXT_SWITCH, "cIIBBBBbb")                           \
    X(55, 72, THREAD_WAKEUP, "cI")                                   \
    X(73, 82, THREAD_WAKEUP, "cIBbb")                                \
    X(55, 82, GPU_TIME, "gHB")                                       \
    X(55, 82, GPU_CONTEXT_NAME, "B")                                 \
    X(75, 82, GPU_ANNOTATION_NAME, "qB")                             \
    X(55, 82, CALLSTACK_FRAME_SIZE, "pB")                            \
    X(55, 82, SYMBOL_INFORMATION, "Ip")                              \
    X(55, 60, CODE_INFORMATION, "pIp")                               \
    X(55, 82, EXTERNAL_NAME_METADATA, "")                            \
    X(55, 82, SYMBOL_CODE_METADATA, "")                              \
    X(62, 82, SOURCE_CODE_METADATA, "")                              \
    X(55, 67, FIBER_ENTER, "tpI")                                    \
    X(68, 82, FIBER_ENTER, "tpIi")                                   \
    X(55, 82, FIBER_LEAVE, "tI")                                     \
    X(81, 81, SECTION_ENTER, "tI")                                   \
    X(82, 82, SECTION_ENTER, "tIH")                                  \
    X(81, 82, SECTION_LEAVE, "tI")                                   \
    X(82, 82, SECTION_SETUP, "H")                                    \
    X(55, 82, TERMINATE, "")                                         \
    X(55, 82, KEEP_ALIVE, "")                                        \
    X(55, 82, THREAD_CONTEXT, "I")                                   \
    X(55, 82, GPU_CALIBRATION, "aaqB")                               \
    X(65, 82, GPU_TIME_SYNC, "aaB")                                  \
    X(55, 82, CRASH, "")                                             \
    X(55, 82, CRASH_REPORT, "ap")                                    \
    X(55, 82, ZONE_VALIDATION, "I")                                  \
    X(55, 82, ZONE_COLOR, "BBB")                                     \
    X(55, 82, ZONE_VALUE, "p")                                       \
    X(55, 82, FRAME_MARK_MSG, "ap")                                  \
    X(55, 82, FRAME_MARK_MSG_START, "ap")                            \
    X(55, 82, FRAME_MARK_MSG_END, "ap")                              \
    X(60, 82, FRAME_VSYNC, "aI")                                     \
    X(55, 82, SOURCE_LOCATION, "pppIBBB")                            \
    X(55, 82, LOCK_ANNOUNCE, "IapB")                                 \
    X(55, 82, LOCK_TERMINATE, "Ia")                                  \
    X(55, 82, LOCK_MARK, "IIp")                                      \
    X(55, 82, MESSAGE_LITERAL, "ap")                                 \
    X(55, 82, MESSAGE_LITERAL_COLOR, "aBBBp")                        \
    X(55, 82, MESSAGE_LITERAL_CALLSTACK, "ap")                       \
    X(55, 82, MESSAGE_LITERAL_COLOR_CALLSTACK, "aBBBp")              \
    X(55, 82, GPU_NEW_CONTEXT, "aaIfBBB")                            \
    X(55, 82, CALLSTACK_FRAME, "IpI")                                \
    X(55, 82, SYS_TIME_REPORT, "af")                                 \
    X(64, 82, SYS_POWER_REPORT, "app")                               \
    X(55, 82, TID_TO_PID, "pp")                                      \
    X(55, 82, HW_SAMPLE_CPU_CYCLE, "pa")                             \
    X(55, 82, HW_SAMPLE_INSTRUCTION_RETIRED, "pa")                   \
    X(55, 82, HW_SAMPLE_CACHE_REFERENCE, "pa")                       \
    X(55, 82, HW_SAMPLE_CACHE_MISS, "pa")                            \
    X(55, 82, HW_SAMPLE_BRANCH_RETIRED, "pa")                        \
    X(55, 82, HW_SAMPLE_BRANCH_MISS, "pa")                           \
    X(55, 58, PLOT_CONFIG, "pB")                                     \
    X(59, 82, PLOT_CONFIG, "pBBBI")                                  \
    X(55, 82, PARAM_SETUP, "IpBi")                                   \
    X(55, 82, ACK_SERVER_QUERY_NOOP, "")                             \
    X(55, 62, ACK_SOURCE_CODE_NOT_AVAILABLE, "")                     \
    X(63, 82, ACK_SOURCE_CODE_NOT_AVAILABLE, "I")                    \
    X(55, 82, ACK_SYMBOL_CODE_NOT_AVAILABLE, "")                     \
    X(55, 68, CPU_TOPOLOGY, "III")                                   \
    X(69, 82, CPU_TOPOLOGY, "IIII")                                  \
    X(55, 82, SINGLE_STRING_DATA, "N")                               \
    X(55, 82, SECOND_STRING_DATA, "N")                               \
    X(80, 82, SINGLE_STRING_DATA_8, "n")                             \
    X(80, 82, SECOND_STRING_DATA_8, "n")                             \
    X(55, 82, MEM_NAME_PAYLOAD, "p")                                 \
    X(67, 82, THREAD_GROUP_HINT, "Ii")                               \
    X(75, 75, GPU_ZONE_ANNOTATION, "qdHB")                           \
    X(76, 82, GPU_ZONE_ANNOTATION, "qdIHB")                          \
    X(55, 82, STRING_DATA, "pN")                                     \
    X(55, 82, THREAD_NAME, "pN")                                     \
    X(55, 82, PLOT_NAME, "pN")                                       \
    X(55, 82, SOURCE_LOCATION_PAYLOAD, "pN")                         \
    X(55, 82, CALLSTACK_PAYLOAD, "pN")                               \
    X(55, 82, CALLSTACK_ALLOC_PAYLOAD, "pN")                         \
    X(55, 82, FRAME_NAME, "pN")                                      \
    X(55, 82, FRAME_IMAGE_DATA, "pL")                                \
    X(55, 82, EXTERNAL_NAME, "pN")                                   \
    X(55, 82, EXTERNAL_THREAD_NAME, "pN")                            \
    X(55, 82, SYMBOL_CODE, "pL")                                     \
    X(55, 82, SOURCE_CODE, "pL")                                     \
    X(55, 82, FIBER_NAME, "pN")

enum strobe_tracy_event {
    STROBE_TRACY_ZONE_TEXT,
    STROBE_TRACY_ZONE_NAME,
    STROBE_TRACY_MESSAGE,
    STROBE_TRACY_MESSAGE_COLOR,
    STROBE_TRACY_MESSAGE_CALLSTACK,
    STROBE_TRACY_MESSAGE_COLOR_CALLSTACK,
    STROBE_TRACY_MESSAGE_APP_INFO,
    STROBE_TRACY_ZONE_BEGIN_ALLOC_SRC_LOC,
    STROBE_TRACY_ZONE_BEGIN_ALLOC_SRC_LOC_CALLSTACK,
    STROBE_TRACY_CALLSTACK_SERIAL,
    STROBE_TRACY_CALLSTACK,
    STROBE_TRACY_CALLSTACK_ALLOC,
    STROBE_TRACY_CALLSTACK_SAMPLE,
    STROBE_TRACY_CALLSTACK_SAMPLE_32,
    STROBE_TRACY_CALLSTACK_SAMPLE_16,
    STROBE_TRACY_CALLSTACK_SAMPLE_CONTEXT_SWITCH,
    STROBE_TRACY_CALLSTACK_SAMPLE_CONTEXT_SWITCH_32,
    STROBE_TRACY_CALLSTACK_SAMPLE_CONTEXT_SWITCH_16,
    STROBE_TRACY_FRAME_IMAGE,
    STROBE_TRACY_ZONE_BEGIN,
    STROBE_TRACY_ZONE_BEGIN_32,
    STROBE_TRACY_ZONE_BEGIN_16,
    STROBE_TRACY_ZONE_BEGIN_CALLSTACK,
    STROBE_TRACY_ZONE_BEGIN_CALLSTACK_32,
    STROBE_TRACY_ZONE_BEGIN_CALLSTACK_16,
    STROBE_TRACY_ZONE_END,
    STROBE_TRACY_ZONE_END_32,
    STROBE_TRACY_ZONE_END_16,
    STROBE_TRACY_LOCK_WAIT,
    STROBE_TRACY_LOCK_OBTAIN,
    STROBE_TRACY_LOCK_RELEASE,
    STROBE_TRACY_LOCK_SHARED_WAIT,
    STROBE_TRACY_LOCK_SHARED_OBTAIN,
    STROBE_TRACY_LOCK_SHARED_RELEASE,
    STROBE_TRACY_LOCK_NAME,
    STROBE_TRACY_MEM_ALLOC,
    STROBE_TRACY_MEM_ALLOC_NAMED,
    STROBE_TRACY_MEM_FREE,
    STROBE_TRACY_MEM_FREE_NAMED,
    STROBE_TRACY_MEM_ALLOC_CALLSTACK,
    STROBE_TRACY_MEM_ALLOC_CALLSTACK_NAMED,
    STROBE_TRACY_MEM_FREE_CALLSTACK,
    STROBE_TRACY_MEM_FREE_CALLSTACK_NAMED,
    STROBE_TRACY_MEM_DISCARD,
    STROBE_TRACY_MEM_DISCARD_CALLSTACK,
    STROBE_TRACY_GPU_ZONE_BEGIN,
    STROBE_TRACY_GPU_ZONE_BEGIN_CALLSTACK,
    STROBE_TRACY_GPU_ZONE_BEGIN_ALLOC_SRC_LOC,
    STROBE_TRACY_GPU_ZONE_BEGIN_ALLOC_SRC_LOC_CALLSTACK,
    STROBE_TRACY_GPU_ZONE_END,
    STROBE_TRACY_GPU_ZONE_BEGIN_SERIAL,
    STROBE_TRACY_GPU_ZONE_BEGIN_CALLSTACK_SERIAL,
    STROBE_TRACY_GPU_ZONE_BEGIN_ALLOC_SRC_LOC_SERIAL,
    STROBE_TRACY_GPU_ZONE_BEGIN_ALLOC_SRC_LOC_CALLSTACK_SERIAL,
    STROBE_TRACY_GPU_ZONE_END_SERIAL,
    STROBE_TRACY_PLOT_DATA,
    STROBE_TRACY_PLOT_DATA_INT,
    STROBE_TRACY_PLOT_DATA_FLOAT,
    STROBE_TRACY_PLOT_DATA_DOUBLE,
    STROBE_TRACY_CONTEXT_SWITCH,
    STROBE_TRACY_THREAD_WAKEUP,
    STROBE_TRACY_GPU_TIME,
    STROBE_TRACY_GPU_CONTEXT_NAME,
    STROBE_TRACY_GPU_ANNOTATION_NAME,
    STROBE_TRACY_CALLSTACK_FRAME_SIZE,
    STROBE_TRACY_SYMBOL_INFORMATION,
    STROBE_TRACY_CODE_INFORMATION,
    STROBE_TRACY_EXTERNAL_NAME_METADATA,
    STROBE_TRACY_SYMBOL_CODE_METADATA,
    STROBE_TRACY_SOURCE_CODE_METADATA,
    STROBE_TRACY_FIBER_ENTER,
    STROBE_TRACY_FIBER_LEAVE,
    STROBE_TRACY_SECTION_ENTER,
    STROBE_TRACY_SECTION_LEAVE,
    STROBE_TRACY_SECTION_SETUP,
    STROBE_TRACY_TERMINATE,
    STROBE_TRACY_KEEP_ALIVE,
    STROBE_TRACY_THREAD_CONTEXT,
    STROBE_TRACY_GPU_CALIBRATION,
    STROBE_TRACY_GPU_TIME_SYNC,
    STROBE_TRACY_CRASH,
    STROBE_TRACY_CRASH_REPORT,
    STROBE_TRACY_ZONE_VALIDATION,
    STROBE_TRACY_ZONE_COLOR,
    STROBE_TRACY_ZONE_VALUE,
    STROBE_TRACY_FRAME_MARK_MSG,
    STROBE_TRACY_FRAME_MARK_MSG_START,
    STROBE_TRACY_FRAME_MARK_MSG_END,
    STROBE_TRACY_FRAME_VSYNC,
    STROBE_TRACY_SOURCE_LOCATION,
    STROBE_TRACY_LOCK_ANNOUNCE,
    STROBE_TRACY_LOCK_TERMINATE,
    STROBE_TRACY_LOCK_MARK,
    STROBE_TRACY_MESSAGE_LITERAL,
    STROBE_TRACY_MESSAGE_LITERAL_COLOR,
    STROBE_TRACY_MESSAGE_LITERAL_CALLSTACK,
    STROBE_TRACY_MESSAGE_LITERAL_COLOR_CALLSTACK,
    STROBE_TRACY_GPU_NEW_CONTEXT,
    STROBE_TRACY_CALLSTACK_FRAME,
    STROBE_TRACY_SYS_TIME_REPORT,
    STROBE_TRACY_SYS_POWER_REPORT,
    STROBE_TRACY_TID_TO_PID,
    STROBE_TRACY_HW_SAMPLE_CPU_CYCLE,
    STROBE_TRACY_HW_SAMPLE_INSTRUCTION_RETIRED,
    STROBE_TRACY_HW_SAMPLE_CACHE_REFERENCE,
    STROBE_TRACY_HW_SAMPLE_CACHE_MISS,
    STROBE_TRACY_HW_SAMPLE_BRANCH_RETIRED,
    STROBE_TRACY_HW_SAMPLE_BRANCH_MISS,
    STROBE_TRACY_PLOT_CONFIG,
    STROBE_TRACY_PARAM_SETUP,
    STROBE_TRACY_ACK_SERVER_QUERY_NOOP,
    STROBE_TRACY_ACK_SOURCE_CODE_NOT_AVAILABLE,
    STROBE_TRACY_ACK_SYMBOL_CODE_NOT_AVAILABLE,
    STROBE_TRACY_CPU_TOPOLOGY,
    STROBE_TRACY_SINGLE_STRING_DATA,
    STROBE_TRACY_SECOND_STRING_DATA,
    STROBE_TRACY_SINGLE_STRING_DATA_8,
    STROBE_TRACY_SECOND_STRING_DATA_8,
    STROBE_TRACY_MEM_NAME_PAYLOAD,
    STROBE_TRACY_THREAD_GROUP_HINT,
    STROBE_TRACY_GPU_ZONE_ANNOTATION,
    STROBE_TRACY_STRING_DATA,
    STROBE_TRACY_THREAD_NAME,
    STROBE_TRACY_PLOT_NAME,
    STROBE_TRACY_SOURCE_LOCATION_PAYLOAD,
    STROBE_TRACY_CALLSTACK_PAYLOAD,
    STROBE_TRACY_CALLSTACK_ALLOC_PAYLOAD,
    STROBE_TRACY_FRAME_NAME,
    STROBE_TRACY_FRAME_IMAGE_DATA,
    STROBE_TRACY_EXTERNAL_NAME,
    STROBE_TRACY_EXTERNAL_THREAD_NAME,
    STROBE_TRACY_SYMBOL_CODE,
    STROBE_TRACY_SOURCE_CODE,
    STROBE_TRACY_FIBER_NAME,
    STROBE_TRACY_N_EVENTS
};

/* What changes with the protocol, ready to be used. */
struct strobe_tracy_table {
    uint32_t protocol;
    uint32_t n_numbers; /* events that it has: their numbers are below this */
    uint8_t event[256]; /* by number: enum strobe_tracy_event */
    uint8_t size[256];  /* by number: bytes of its fixed part, the number itself included */
    uint8_t tail[256];  /* by number: bytes of the length that follows, 0: it has no tail */
    uint16_t
        number[STROBE_TRACY_N_EVENTS]; /* by event; STROBE_TRACY_ABSENT: not in this protocol */
    const char *layout[STROBE_TRACY_N_EVENTS]; /* by event; NULL: not in this protocol */
    uint32_t welcome_bytes;
    uint32_t long_text_bias; /* added to the u16 length of single and second strings */
    bool welcome_has_delay;
    bool
        biased_times; /* plain differences of zones and samples leave out what the short forms hold */
    bool message_has_meta;
};
#define STROBE_TRACY_ABSENT 0xffff

/* Fill the table of a protocol. False: there is no such protocol. */
bool strobe_tracy_table_make(uint32_t protocol, struct strobe_tracy_table *out);

/* What a server asks of a client. 13 bytes each: number, u64 pointer, u32 more. */
enum strobe_tracy_query {
    STROBE_TRACY_ASK_TERMINATE,
    STROBE_TRACY_ASK_STRING,
    STROBE_TRACY_ASK_THREAD,
    STROBE_TRACY_ASK_LOC,
    STROBE_TRACY_ASK_PLOT,
    STROBE_TRACY_ASK_FRAME,
    STROBE_TRACY_ASK_PARAMETER,
    STROBE_TRACY_ASK_FIBER,
    STROBE_TRACY_ASK_EXTERNAL,
    STROBE_TRACY_ASK_DISCONNECT,
    STROBE_TRACY_ASK_CALLSTACK_FRAME,
    STROBE_TRACY_ASK_SYMBOL,
    STROBE_TRACY_ASK_SYMBOL_CODE,
    STROBE_TRACY_ASK_CODE_LOCATION,
    STROBE_TRACY_ASK_SOURCE_CODE,
    STROBE_TRACY_ASK_DATA_TRANSFER,
    STROBE_TRACY_ASK_DATA_TRANSFER_PART,
    STROBE_TRACY_N_QUERIES
};
enum { STROBE_TRACY_QUERY_BYTES = 13 };

/* The number of a query in a protocol, -1: it has none. */
int strobe_tracy_query_number(uint32_t protocol, enum strobe_tracy_query query);

/* Framing, the same in all protocols. */
enum {
    STROBE_TRACY_RAW_MAX = 262144,   /* bytes of a frame, decompressed */
    STROBE_TRACY_FRAME_MAX = 263188, /* compressed */
};

#endif
