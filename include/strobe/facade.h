/* facade.h - EXPERIMENTAL: what the headers of other tracers need beyond strobe.h. Locations and names in constant memory,
 * zones by a small handle, GPU contexts, sections, images, locks by number, parameters. tracy/Tracy.hpp, tracy/TracyC.h and
 * strobe/iree_provider.h are made of it. A program may call it, but every version may change names, types and meaning; of
 * binaries only those stay valid that were built with the library's own version of the header.
 *
 * The rules of every call in strobe.h hold. A NULL name is the unnamed pool, frame set or plot.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_FACADE_H
#define STROBE_FACADE_H

#include "strobe/strobe.h"

#ifndef STROBE_OFF

#ifdef __cplusplus
extern "C" {
#endif

/* ---- locations in constant memory ---- */

/* As Tracy's programs have them. Must stay where it is while the program can reach it. */
struct strobe_const_loc {
    const char *name; /* NULL: the function's name is shown */
    const char *function;
    const char *file;
    uint32_t line;
    uint32_t color;
};

/* The location that stands for `loc`, found by its address; NULL where 8,192 others are in the table: use strobe_loc_id
 * then. */
STROBE_API struct strobe_loc *strobe_loc_of(const struct strobe_const_loc *loc);

/* The table of them. A place belongs to one address for good, so that readers need no lock. */
struct strobe_loc_place {
    const struct strobe_const_loc *key; /* borrowed, compared only; NULL: free */
    struct strobe_loc loc;
    uint64_t reserved[2]; /* a cache line each */
};
enum { STROBE_LOC_PLACES = 8192 };
STROBE_API extern struct strobe_loc_place strobe_loc_places[STROBE_LOC_PLACES];

STROBE_INLINE struct strobe_loc_place *strobe_loc_place_at(const struct strobe_const_loc *loc,
                                                           uint64_t step)
{
    uint32_t spread = (uint32_t)(uintptr_t)loc * 0x9e3779b9u; /* neighbours are far apart */
    return &strobe_loc_places[((spread >> 19) + step) % STROBE_LOC_PLACES];
}

/* Whether a place still holds the location at that address: other code may have been loaded there. */
STROBE_INLINE int strobe_loc_is_same(const struct strobe_loc *loc,
                                     const struct strobe_const_loc *from)
{
    return __atomic_load_n(&loc->function, __ATOMIC_ACQUIRE) == from->function &&
           loc->line == from->line && loc->name == from->name;
}

/* The id of a location made of texts (copied; lengths in bytes; name may be NULL), for
 * strobe_handle_begin_id, strobe_zone_begin_by_id and strobe_gpu_begin_id. 0: nobody records, or no room for the name. */
STROBE_API uint64_t strobe_loc_id(const char *file, size_t n_file, uint32_t line,
                                  const char *function, size_t n_function, const char *name,
                                  size_t n_name, uint32_t color);

/* ---- zones by handle ---- */

/* An open zone in 8 bytes that may be copied, kept and ended anywhere. `state` 0: nothing to be ended;
 * 1: `id` is the upper half of its begin's word; others are the library's own.
 *
 * Negative: nobody recorded at its begin, and strobe_handle_odd never returns one. The other 63 bits are the address of its location, which is made of the begin's
 * argument in one instruction, and recognised by its sign; STROBE_HANDLE_CONST is set where that is in constant memory. */
struct strobe_handle {
    uint32_t id;
    int32_t state;
};
enum {
    STROBE_HANDLE_NONE = 0,
    STROBE_HANDLE_BEGUN = 1,
    /* the lower 4 bits of the others; 15 bits above belong to `id` */
    STROBE_HANDLE_DROPPED = 2, /* id: the cause of its loss */
    STROBE_HANDLE_MISSED =
        4, /* id: an eighth of its location's address; the gate closed during the begin */
    STROBE_HANDLE_RUN_TIME = 8 /* id: of a run-time location */
};
#define STROBE_HANDLE_UNSEEN (1ull << 63) /* of a packed handle */
#define STROBE_HANDLE_CONST  1ull         /* likewise: locations are aligned */

/* A handle as one number: `id`, and `state` in the upper half. */
STROBE_INLINE uint64_t strobe_handle_pack(struct strobe_handle handle)
{
    return (uint64_t)(uint32_t)handle.state << 32 | handle.id;
}

STROBE_INLINE struct strobe_handle strobe_handle_unpack(uint64_t packed)
{
    struct strobe_handle handle;
    handle.id = (uint32_t)packed;
    handle.state = (int32_t)(packed >> 32);
    return handle;
}

/* Begin a zone at a location from strobe_loc_id. Id 0 (the location was made while nobody recorded) shows as "(named before
 * the recording)". One returns a handle, the other a zone. */
STROBE_API struct strobe_handle strobe_handle_begin_id(uint64_t loc_id);
STROBE_API struct strobe_zone strobe_zone_begin_by_id(uint64_t loc_id);
STROBE_API struct strobe_handle strobe_handle_odd(struct strobe_loc *loc, int on) STROBE_COLD;
STROBE_API void strobe_handle_end_odd(struct strobe_handle handle) STROBE_COLD;

STROBE_INLINE struct strobe_handle strobe_handle_begin(struct strobe_loc *loc)
{
    struct strobe_handle handle;
    struct strobe_zone zone = strobe_zone_begin(loc);
    if (STROBE_LIKELY(zone.on == STROBE_EMIT_STORED)) {
        handle.id = (uint32_t)(zone.word >> 32);
        handle.state = STROBE_HANDLE_BEGUN;
    } else if (zone.on == STROBE_EMIT_IDLE) {
        handle = strobe_handle_unpack(STROBE_HANDLE_UNSEEN | (uintptr_t)loc);
    } else {
        handle = strobe_handle_odd(loc, zone.on);
        if (handle.state < 0)
            __builtin_unreachable(); /* else the way to the end carries a copy, idle too */
    }
    return handle;
}

/* Begin a zone at a location in constant memory; the handle is packed. Inline where the location is in its first place of
 * the table and registered with this recorder, else by a call. While nobody records, the handle keeps the address. */
STROBE_API uint64_t strobe_handle_begin_missed(const struct strobe_const_loc *loc) STROBE_COLD;
STROBE_API uint64_t strobe_handle_begin_slow(struct strobe_loc *loc, uint64_t word,
                                             uint64_t *reserved) STROBE_COLD;
STROBE_INLINE uint64_t strobe_handle_begin_const(const struct strobe_const_loc *from)
{
    const volatile struct strobe_gate *gate = strobe_gate_now;
    uint64_t *slot;
    if (!strobe_gate_is_open(gate))
        return STROBE_HANDLE_UNSEEN | STROBE_HANDLE_CONST | (uintptr_t)from;
    struct strobe_loc *loc = &strobe_loc_place_at(from, 0)->loc;
    if (STROBE_UNLIKELY(!strobe_loc_is_same(loc, from)))
        return strobe_handle_begin_missed(from);
    uint64_t word = __atomic_load_n(&loc->word, __ATOMIC_RELAXED); /* not before it is the same */
    if (!strobe_gate_knows(gate, word))
        return strobe_handle_begin_missed(from);
    if (STROBE_UNLIKELY(!strobe_emit_fast(word, &slot, 1)))
        return strobe_handle_begin_slow(loc, word, slot);
    return word >> 32 | (uint64_t)STROBE_HANDLE_BEGUN << 32;
}

STROBE_INLINE void strobe_handle_end(struct strobe_handle handle)
{
    if (STROBE_LIKELY(handle.state == STROBE_HANDLE_BEGUN)) {
        strobe_emit((uint64_t)(handle.id ^ 1u << 31) << 32, (struct strobe_loc *)0);
    } else if (STROBE_LIKELY(handle.state < 0)) { /* nobody saw its begin */
        if (strobe_gate_is_open(strobe_gate_now))
            strobe_handle_end_odd(handle);
    } else if (handle.state) {
        strobe_handle_end_odd(handle);
    }
}

/* 1: its begin was emitted, so that texts, names, values and colours have a zone to go to. */
STROBE_INLINE int strobe_handle_is_seen(struct strobe_handle handle)
{
    return handle.state == STROBE_HANDLE_BEGUN ||
           (handle.state & (int32_t)0x8000000f) == STROBE_HANDLE_RUN_TIME;
}

STROBE_API void strobe_zone_namef(const char *format, ...) STROBE_PRINTF(1, 2);
#ifndef STROBE_NO_VA_LIST
STROBE_API void strobe_zone_textv(const char *format, __builtin_va_list args);
STROBE_API void strobe_zone_namev(const char *format, __builtin_va_list args);
#endif

/* ---- things with a name that is only a pointer; compared by content ---- */

STROBE_API void strobe_text_plot_int(const char *plot, int64_t value);
STROBE_API void strobe_text_plot_double(const char *plot, double value);
STROBE_API void strobe_text_plot_config(const char *plot, int format, int step, uint32_t color);
STROBE_API void strobe_text_frame_mark(const char *frame);
STROBE_API void strobe_text_frame_start(const char *frame);
STROBE_API void strobe_text_frame_end(const char *frame);
STROBE_API void strobe_text_mem_alloc(const char *pool, const void *address, size_t size)
    STROBE_NOT_READ(2);
STROBE_API void strobe_text_mem_free(const char *pool, const void *address) STROBE_NOT_READ(2);
/* Every live block of the pool is freed. */
STROBE_API void strobe_text_mem_discard(const char *pool);
/* A fiber is the text together with its address. */
STROBE_API void strobe_text_fiber_enter(const char *fiber);

/* An image of the frame that was marked `offset` marks before the last unnamed one. RGBA, 4 bytes a pixel,
 * width and height multiples of 4; stored as DXT1. */
STROBE_API void strobe_frame_image(const void *rgba, uint16_t width, uint16_t height,
                                   uint8_t offset, int flip);
STROBE_API void strobe_frame_vsync(uint64_t display);

/* ---- locks by number ---- */

/* For programs that keep no more of a lock than a number, from 1 on. Only the recorder of the moment learns its location; use
 * struct strobe_lock where there is room for it. */
STROBE_API uint32_t strobe_lock_number(struct strobe_loc *loc);
STROBE_API void strobe_lock_number_wait(uint32_t lock, int shared);
STROBE_API void strobe_lock_number_obtain(uint32_t lock, int shared);
STROBE_API void strobe_lock_number_release(uint32_t lock, int shared);
STROBE_API void strobe_lock_number_gone(uint32_t lock);

/* ---- the session ---- */

/* The folder of the session that this process takes part in, for libraries that have a stream of their own to the recorder (a device's);
 * NULL: it takes part in none. Valid until a fork. */
STROBE_API const char *strobe_session_folder(void);
/* Such a stream has no room there: leave word to the recorder, so that the trace says what is missing. */
STROBE_API void strobe_session_deny_device(void);

/* ---- GPU contexts: numbers that the program chooses ---- */

enum strobe_gpu_type {
    STROBE_GPU_NONE = 0,
    STROBE_GPU_OPENGL = 1,
    STROBE_GPU_VULKAN = 2,
    STROBE_GPU_OPENCL = 3,
    STROBE_GPU_DIRECT3D12 = 4,
    STROBE_GPU_DIRECT3D11 = 5,
    STROBE_GPU_METAL = 6,
    STROBE_GPU_CUSTOM = 7,
    STROBE_GPU_CUDA = 8,
    STROBE_GPU_ROCM = 9,
    STROBE_GPU_WEBGPU = 10
};

/* `tick` 0 means now. Kept for recorders that come later, as are the first 256 facts of a process (GPU contexts, sections
 * and parameters together). */
struct strobe_gpu_context {
    uint64_t context;
    uint64_t type;
    uint64_t is_calibrated; /* 1: calibrations will come */
    uint64_t tid;           /* of all its zones; 0: each zone's own */
    uint64_t tick;          /* when the GPU's clock said `time` */
    int64_t time;
    double period_ns; /* of one count of the GPU's clock */
};
/* A new number, from 0 on, for programs that have none of their own. */
STROBE_API uint64_t strobe_gpu_context_number(void);
STROBE_API void strobe_gpu_context_new(const struct strobe_gpu_context *context);
STROBE_API void strobe_gpu_context_name(uint64_t context, const char *name, size_t n_bytes);
STROBE_API void strobe_gpu_begin(uint64_t context, uint64_t query, struct strobe_loc *loc);
STROBE_API void strobe_gpu_begin_id(uint64_t context, uint64_t query, uint64_t loc_id);
STROBE_API void strobe_gpu_end(uint64_t context, uint64_t query);
STROBE_API void strobe_gpu_time(uint64_t context, uint64_t query, int64_t time);
/* tick 0: now */
STROBE_API void strobe_gpu_calibrate(uint64_t context, int64_t time, uint64_t tick,
                                     int64_t delta_ns);
STROBE_API void strobe_gpu_sync(uint64_t context, int64_t time, uint64_t tick);
STROBE_API void strobe_gpu_note(uint64_t context, uint64_t query, uint64_t note, double value);
STROBE_API void strobe_gpu_note_name(uint64_t context, uint64_t note, const char *name,
                                     size_t n_bytes);

/* ---- sections, parameters, groups ---- */

/* Sections are phases of the whole program. strobe_section_enter returns the id to leave it with; 0: nobody records. */
STROBE_API uint32_t strobe_section_enter(uint32_t category, const char *text, size_t n_bytes);
STROBE_API uint32_t strobe_section_enterf(uint32_t category, const char *format, ...)
    STROBE_PRINTF(2, 3);
STROBE_API void strobe_section_leave(uint32_t section);
STROBE_API void strobe_section_name(uint32_t category, const char *name, size_t n_bytes);
STROBE_API void strobe_section_namef(uint32_t category, const char *format, ...)
    STROBE_PRINTF(2, 3);

/* A parameter of the program, type 0 a number, 1 yes or no, 2 a trigger. */
STROBE_API void strobe_parameter(uint32_t index, const char *name, uint32_t type, int64_t value);
/* Threads of one group are shown together. */
STROBE_API void strobe_set_thread_group(int32_t group);
/* strobe_set_thread_name, and the system's name of the thread too (its first 15 bytes). */
STROBE_API void strobe_name_thread(const char *name);
/* The system's number of the calling thread. */
STROBE_API uint32_t strobe_thread_number(void);

/* ---- how the program was built ---- */

/* Bits of strobe_facade_switches. */
enum { STROBE_SWITCH_FACADE = 1, STROBE_SWITCH_NO_EXIT = 2 };
/* Defined, weakly, by every file of a program that uses another tracer's header: the library then obeys that tracer's
 * environment variables. */
extern const unsigned strobe_facade_switches __attribute__((weak, visibility("default")));

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* STROBE_OFF */
#endif
