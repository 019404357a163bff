/* nvtx_abi.h - the binary interface between programs built with NVTX (version 2 and 3) and a library that they load: what
 * NVTX's documentation of tools calls injection. Written from that interface; no file of NVTX's is needed.
 *
 * A program's first call of NVTX loads the library that NVTX_INJECTION64_PATH names and calls its InitializeInjectionNvtx2 with a function that
 * returns tables by number; the table "callbacks" has a function that returns, of each module of the API, an array of places: the
 * functions that are written there are called from then on.  SPDX-License-Identifier: MIT */
#ifndef STROBE_LAYERS_NVTX_ABI_H
#define STROBE_LAYERS_NVTX_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum { STROBE_NVTX_TABLE_CALLBACKS = 1 };
enum { STROBE_NVTX_MODULE_CORE = 1, STROBE_NVTX_MODULE_CORE2 = 5 };

typedef void (*strobe_nvtx_function)(void);

struct strobe_nvtx_callbacks {
    size_t n_bytes;
    int (*module_table)(int module, strobe_nvtx_function ***table, unsigned int *n);
};
typedef const void *(*strobe_nvtx_get_table)(uint32_t table);

/* Places in the table of the module core. */
enum strobe_nvtx_core {
    STROBE_NVTX_MARK_EX = 1,
    STROBE_NVTX_MARK_A = 2,
    STROBE_NVTX_MARK_W = 3,
    STROBE_NVTX_START_EX = 4,
    STROBE_NVTX_START_A = 5,
    STROBE_NVTX_START_W = 6,
    STROBE_NVTX_END = 7,
    STROBE_NVTX_PUSH_EX = 8,
    STROBE_NVTX_PUSH_A = 9,
    STROBE_NVTX_PUSH_W = 10,
    STROBE_NVTX_POP = 11,
    STROBE_NVTX_CATEGORY_A = 12,
    STROBE_NVTX_CATEGORY_W = 13,
    STROBE_NVTX_THREAD_A = 14,
    STROBE_NVTX_THREAD_W = 15,
};

/* Of the module core 2: domains. */
enum strobe_nvtx_core2 {
    STROBE_NVTX_DOMAIN_MARK_EX = 1,
    STROBE_NVTX_DOMAIN_START_EX = 2,
    STROBE_NVTX_DOMAIN_END = 3,
    STROBE_NVTX_DOMAIN_PUSH_EX = 4,
    STROBE_NVTX_DOMAIN_POP = 5,
    STROBE_NVTX_DOMAIN_CATEGORY_A = 8,
    STROBE_NVTX_DOMAIN_CATEGORY_W = 9,
    STROBE_NVTX_DOMAIN_STRING_A = 10,
    STROBE_NVTX_DOMAIN_STRING_W = 11,
    STROBE_NVTX_DOMAIN_CREATE_A = 12,
    STROBE_NVTX_DOMAIN_CREATE_W = 13,
    STROBE_NVTX_DOMAIN_DESTROY = 14,
};

enum { STROBE_NVTX_COLOR_ARGB = 1 };
enum strobe_nvtx_message {
    STROBE_NVTX_MESSAGE_ASCII = 1,
    STROBE_NVTX_MESSAGE_WIDE = 2,
    STROBE_NVTX_MESSAGE_STRING = 3, /* what registering it returned */
};
enum strobe_nvtx_payload {
    STROBE_NVTX_PAYLOAD_U64 = 1,
    STROBE_NVTX_PAYLOAD_I64 = 2,
    STROBE_NVTX_PAYLOAD_F64 = 3,
    STROBE_NVTX_PAYLOAD_U32 = 4,
    STROBE_NVTX_PAYLOAD_I32 = 5,
    STROBE_NVTX_PAYLOAD_F32 = 6,
};

/* OFFSET SIZE FIELD    what a program says of an event
 *      0    2 version
 *      2    2 n_bytes  48; of an older program less
 *      4    4 category
 *      8    4 color_type
 *     12    4 color    ARGB
 *     16    4 payload_type
 *     24    8 payload
 *     32    4 message_type
 *     40    8 message  */
struct strobe_nvtx_attributes {
    uint16_t version;
    uint16_t n_bytes;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type;
    int32_t reserved;
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
        uint32_t u32;
        int32_t i32;
        float f32;
    } payload;
    int32_t message_type;
    const void *message;
};
static_assert(offsetof(struct strobe_nvtx_attributes, payload) == 24, "NVTX has it there");
static_assert(offsetof(struct strobe_nvtx_attributes, message_type) == 32, "NVTX has it there");
static_assert(sizeof(void *) != 8 || sizeof(struct strobe_nvtx_attributes) == 48, "as NVTX's");

#endif
