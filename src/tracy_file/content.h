/* content.h - what a .tracy file says, section after section: Tracy 0.9 to 0.14.
 *
 * A .tracy file has no index: whoever wants something of it walks over all that comes before. The
 * walk keeps the tables (strings, locations, threads' numbers, zones' extras) and hands everything
 * else to a visitor as it comes. Memory grows with the tables, never with the zones. The file is
 * hostile until proven otherwise: nothing is allocated because a count says so, only for bytes that
 * are there.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_FILE_CONTENT_H
#define STROBE_TRACY_FILE_CONTENT_H

#include "base/array.h"
#include "tracy_file/blocks_in.h"

/* A version as one number: 0.11.1 is 1101. */
#define STROBE_TRACY_VERSION(minor, patch) ((minor)*100u + (patch))

enum {
    STROBE_TRACY_MAX_DEPTH = 1 << 20, /* zones in zones */
    STROBE_TRACY_OPEN = -1,           /* end of what never ended */
    STROBE_TRACY_MAX_TEXT = 64 << 20, /* bytes of one text */
    STROBE_TRACY_FIBER_REASON = 99,   /* of the context switches of a fiber */
    STROBE_TRACY_NO_COLOR = 0x00ffffff,
};

/* A text of the file: until the content is closed. Not NUL-terminated. */
struct strobe_tracy_text {
    const char *at;
    uint32_t n;
    uint8_t is_there; /* 0: none was given */
};

struct strobe_tracy_head {
    uint32_t version; /* STROBE_TRACY_VERSION */
    uint64_t delay, resolution;
    double timer_mul;
    int64_t last_time;
    uint64_t frame_offset, pid;
    int64_t sampling;
    uint8_t arch, on_demand;
    uint32_t cpu_id;
    char maker[13];
    char capture[1025], program[1025], host[1025]; /* NUL-terminated, cut there */
    uint64_t capture_time, executable_time;
};

struct strobe_tracy_srcloc {
    struct strobe_tracy_text name, function, file;
    uint32_t line;
    uint32_t color; /* 0xRRGGBB */
    uint8_t is_known;
};

/* A zone on the stack of the timeline that is being walked. */
struct strobe_tracy_zone {
    int64_t start, end; /* ns; end: STROBE_TRACY_OPEN */
    int64_t child_ns;   /* of its children that ended */
    uint32_t extra;     /* index */
    uint32_t left;      /* children still to come */
    int16_t loc;
    uint8_t mark; /* the visitor's own; 0 at the begin */
};

/* What a zone took, where nothing else is wanted of it. */
struct strobe_tracy_time {
    int64_t ns; /* more than 0 */
    int16_t loc;
};

struct strobe_tracy_gpu_zone {
    int64_t cpu_start, cpu_end, gpu_start, gpu_end;
    uint64_t left;
    uint32_t callstack;
    int16_t loc;
    uint16_t thread; /* number in the table of threads, 0: the context's */
    uint16_t query;
    uint64_t tag; /* the visitor's own */
};

struct strobe_tracy_extra {
    uint32_t callstack;
    struct strobe_tracy_text text, name;
    uint32_t color; /* 0xRRGGBB, 0: none */
};

struct strobe_tracy_lock {
    uint32_t id;
    struct strobe_tracy_text name;
    int16_t loc;
    uint8_t is_shared, is_valid;
    int64_t announce, terminate;
    uint64_t n_threads;
    uint64_t threads[64];
};

struct strobe_tracy_message {
    uint64_t id;
    int64_t time;
    struct strobe_tracy_text text;
    uint32_t color; /* 0xRRGGBB, or STROBE_TRACY_NO_COLOR */
    uint32_t callstack;
    uint8_t source, severity; /* 0 and 2 in files that know none */
};

struct strobe_tracy_thread_head {
    uint64_t tid, n_zones, n_kernel_samples;
    uint8_t is_fiber;
    int32_t group;
};

struct strobe_tracy_gpu_head {
    uint64_t tid;
    uint8_t calibrated, type;
    uint64_t n_zones, overflow;
    float period;
    struct strobe_tracy_text name;
};

struct strobe_tracy_plot {
    uint8_t type, format, step, fill;
    uint32_t color;
    struct strobe_tracy_text name;
    double min, max, sum;
    uint64_t n_points;
};

struct strobe_tracy_alloc {
    uint64_t address, size;
    uint32_t callstack, free_callstack;
    int64_t time, free_time; /* free_time: negative where it is live */
    uint16_t thread, free_thread;
};

struct strobe_tracy_switch {
    uint64_t thread;
    int64_t wakeup, start, end;
    uint8_t cpu, wakeup_cpu;
    int8_t reason, state;
    uint64_t carrier; /* thread that ran a fiber */
};

struct strobe_tracy_frame { /* of a call stack */
    uint64_t id;
    uint32_t inlined; /* 0: the innermost */
    struct strobe_tracy_text name, file, image;
    uint32_t line;
    uint64_t symbol;
};

struct strobe_tracy_function { /* a symbol of the program */
    uint64_t start;
    uint32_t size, line, call_line;
    uint8_t is_inline;
    struct strobe_tracy_text name, file, image, call_file;
};

/* Some of the bytes of a function's machine code or of a source file; pieces come one after the other. */
struct strobe_tracy_piece {
    uint64_t start;   /* of the function */
    const char *path; /* of the source file; not NUL-terminated */
    uint32_t n_path;
    uint32_t offset, total; /* total: all bytes of it */
    const uint8_t *bytes;
    uint32_t n_bytes;
};

struct strobe_tracy_content;

/* What a walk calls, in the order of the file. NULL: not wanted. A result other than STROBE_OK ends
 * the walk and is its result. Names of frame sets come before the strings that they are in: the
 * first walk over a content has none for them, later ones do. */
struct strobe_tracy_visitor {
    void *context;
    int until; /* last section that is wanted (numbers below), 0: all */
    enum strobe_err (*head)(void *context, const struct strobe_tracy_head *head);
    enum strobe_err (*cpu)(void *context, uint32_t package, uint32_t die, uint32_t core,
                           uint32_t thread);
    enum strobe_err (*crash)(void *context, uint64_t tid, int64_t time, uint64_t message,
                             uint32_t callstack);
    enum strobe_err (*frame_set)(void *context, uint64_t name, int continuous, uint64_t n_frames);
    enum strobe_err (*frame)(void *context, int64_t start, int64_t end, int32_t image);
    enum strobe_err (*section)(void *context, uint16_t category, int64_t start, int64_t end,
                               uint32_t text);
    enum strobe_err (*section_name)(void *context, uint16_t category, uint32_t text);
    enum strobe_err (*tables)(void *context); /* strings, threads, locations are known from here */
    enum strobe_err (*foreign)(void *context, uint64_t tid, struct strobe_tracy_text process,
                               struct strobe_tracy_text thread);
    enum strobe_err (*lock)(void *context, const struct strobe_tracy_lock *lock);
    enum strobe_err (*lock_event)(void *context, const struct strobe_tracy_lock *lock, int64_t time,
                                  int16_t loc, uint8_t thread, uint8_t type);
    enum strobe_err (*message)(void *context, const struct strobe_tracy_message *message);
    enum strobe_err (*thread)(void *context, const struct strobe_tracy_thread_head *thread);
    enum strobe_err (*zone_begin)(void *context, struct strobe_tracy_zone *stack, uint32_t depth);
    enum strobe_err (*zone_end)(void *context, struct strobe_tracy_zone *stack, uint32_t depth);
    /* Where it is set, in place of zone_begin and zone_end: what zones took, many at once, in the order of their ends.
     * Open ones and those of 0 ns are left out. */
    enum strobe_err (*times)(void *context, const struct strobe_tracy_time *times, uint32_t n);
    enum strobe_err (*thread_message)(void *context, uint64_t id);
    enum strobe_err (*sample)(void *context, int64_t time, uint32_t callstack, int at_switch);
    enum strobe_err (*thread_end)(void *context, const struct strobe_tracy_thread_head *thread);
    enum strobe_err (*gpu)(void *context, const struct strobe_tracy_gpu_head *gpu);
    enum strobe_err (*gpu_note_name)(void *context, int64_t note, struct strobe_tracy_text name);
    enum strobe_err (*gpu_thread)(void *context, uint64_t tid);
    enum strobe_err (*gpu_begin)(void *context, struct strobe_tracy_gpu_zone *stack,
                                 uint32_t depth);
    enum strobe_err (*gpu_end)(void *context, struct strobe_tracy_gpu_zone *stack, uint32_t depth);
    enum strobe_err (*gpu_note)(void *context, uint16_t query, int64_t note, double value);
    enum strobe_err (*plot)(void *context, const struct strobe_tracy_plot *plot);
    enum strobe_err (*plot_point)(void *context, int64_t time, double value);
    enum strobe_err (*pool)(void *context, struct strobe_tracy_text name, uint64_t pointer,
                            uint64_t n_events);
    enum strobe_err (*alloc)(void *context, const struct strobe_tracy_alloc *alloc);
    enum strobe_err (*pool_end)(void *context);
    enum strobe_err (*stack)(void *context, uint32_t id, const uint64_t *frames, uint32_t n);
    enum strobe_err (*stack_frame)(void *context, const struct strobe_tracy_frame *frame);
    enum strobe_err (*app_info)(void *context, struct strobe_tracy_text text);
    enum strobe_err (*image)(void *context, uint16_t width, uint16_t height, uint8_t flip,
                             const uint8_t *dxt1, uint32_t n_bytes);
    enum strobe_err (*context_switch)(void *context, const struct strobe_tracy_switch *run);
    enum strobe_err (*cpu_run)(void *context, uint8_t cpu, int64_t start, int64_t end,
                               uint64_t tid);
    enum strobe_err (*tid_pid)(void *context, uint64_t tid, uint64_t pid);
    enum strobe_err (*hw_sample)(void *context, uint64_t address, uint32_t counter, int64_t time);
    enum strobe_err (*function)(void *context, const struct strobe_tracy_function *function);
    enum strobe_err (*code)(void *context, const struct strobe_tracy_piece *piece);
    enum strobe_err (*source)(void *context, const struct strobe_tracy_piece *piece);
};

/* Sections, in the order of the file. */
enum {
    STROBE_TRACY_HEAD = 1,
    STROBE_TRACY_FRAMES = 5,
    STROBE_TRACY_TABLES = 15,
    STROBE_TRACY_LOCKS = 16,
    STROBE_TRACY_MESSAGES = 17,
    STROBE_TRACY_THREADS = 19,
    STROBE_TRACY_GPU = 20,
    STROBE_TRACY_PLOTS = 21,
    STROBE_TRACY_MEMORY = 22,
    STROBE_TRACY_STACKS = 24,
    STROBE_TRACY_APP_INFO = 25,
    STROBE_TRACY_IMAGES = 26,
    STROBE_TRACY_SWITCHES = 28,
    STROBE_TRACY_SOURCES = 33,
};

struct strobe_tracy_key { /* something with an id, and the string that belongs to it */
    uint64_t id;
    uint32_t string;
    uint32_t order;
};

/* A table of such, in order of the ids once it is sorted. */
struct strobe_tracy_keys {
    struct strobe_tracy_key *rows; /* owned */
    size_t n, room;
};

/* NULL: there is none. Borrowed; the keys must be sorted. */
const struct strobe_tracy_key *strobe_tracy_key_find(const struct strobe_tracy_keys *keys,
                                                     uint64_t id);

struct strobe_tracy_content {
    struct strobe_tracy_bytes in;
    struct strobe_tracy_head head;
    int has_tables; /* 1: a walk came past them */

    char *text; /* owned: all strings, one after the other */
    size_t n_text, text_room;
    uint64_t *string_at; /* owned: n_strings + 1 offsets */
    size_t n_strings, strings_room;
    struct strobe_tracy_keys file_pointers, client_pointers, thread_names;
    uint64_t *threads; /* owned: ids of threads by their 16-bit number */
    size_t n_threads, threads_room;
    uint64_t *foreign_threads; /* owned */
    size_t n_foreign_threads, foreign_threads_room;
    struct strobe_tracy_srcloc *locs;    /* owned: by positive id */
    struct strobe_tracy_srcloc *payload; /* owned: id -(k + 1) is number k */
    size_t n_locs, locs_room, n_payload, payload_room;
    uint8_t *extras;                 /* owned: 12 bytes each */
    size_t n_extras, extras_room;    /* the room in bytes */
    struct strobe_tracy_zone *stack; /* owned */
    size_t stack_room;
    struct strobe_tracy_gpu_zone *gpu_stack; /* owned */
    size_t gpu_stack_room;

    int section; /* that the walk reached */
    uint64_t n_zones, n_gpu_zones;
};

/* Walk over a content whose bytes are open (content->in; the rest zero before the first walk). The
 * bytes are used up: for another walk open content->in again.
 * FORMAT: no Tracy content, or one older than 0.9; VERSION: newer than what is known here; END: it is
 * cut off; CORRUPT, LIMIT: it makes no sense. What came before that was handed to the visitor. */
enum strobe_err strobe_tracy_walk(struct strobe_tracy_content *content,
                                  const struct strobe_tracy_visitor *visitor);

/* Open a file; close it after a failure too. */
enum strobe_err strobe_tracy_content_open(const char *path, struct strobe_tracy_content *out);
void strobe_tracy_content_close(struct strobe_tracy_content *content);

/* Texts. By index of the string table; by a client's pointer; of a thread. */
struct strobe_tracy_text strobe_tracy_string(const struct strobe_tracy_content *content,
                                             uint64_t index);
struct strobe_tracy_text strobe_tracy_pointer(const struct strobe_tracy_content *content,
                                              uint64_t pointer);
struct strobe_tracy_text strobe_tracy_thread_name(const struct strobe_tracy_content *content,
                                                  uint64_t tid);
/* What CSVs call a location: its name, else its function. */
struct strobe_tracy_text strobe_tracy_loc_name(const struct strobe_tracy_content *content,
                                               int16_t loc);
/* A location; one that the file does not tell of is not known. Never NULL. */
const struct strobe_tracy_srcloc *
strobe_tracy_content_loc(const struct strobe_tracy_content *content, int16_t loc);
/* A zone's extra. 0: it has none. */
int strobe_tracy_extra(const struct strobe_tracy_content *content, uint32_t index,
                       struct strobe_tracy_extra *out);
/* The 16-bit number of a thread, made if need be; 0: there are too many. */
uint16_t strobe_tracy_thread_number(struct strobe_tracy_content *content, uint64_t tid);
uint64_t strobe_tracy_thread_id(const struct strobe_tracy_content *content, uint16_t number);

/* content_tables.c, for content.c: sections 7 to 15 and 18. */
enum strobe_err strobe_tracy_read_tables(struct strobe_tracy_content *content,
                                         const struct strobe_tracy_visitor *visitor);
enum strobe_err strobe_tracy_read_extras(struct strobe_tracy_content *content);
/* content_zones.c: sections 19 and 20. */
enum strobe_err strobe_tracy_read_threads(struct strobe_tracy_content *content,
                                          const struct strobe_tracy_visitor *visitor);
enum strobe_err strobe_tracy_read_gpu(struct strobe_tracy_content *content,
                                      const struct strobe_tracy_visitor *visitor);
/* content_rest.c: sections 21 to 33; content_code.c of these: functions (30), their code (31), source files (33). */
enum strobe_err strobe_tracy_read_rest(struct strobe_tracy_content *content,
                                       const struct strobe_tracy_visitor *visitor);
enum strobe_err strobe_tracy_read_functions(struct strobe_tracy_content *content,
                                            const struct strobe_tracy_visitor *visitor);
enum strobe_err strobe_tracy_read_code(struct strobe_tracy_content *content,
                                       const struct strobe_tracy_visitor *visitor);
enum strobe_err strobe_tracy_read_sources(struct strobe_tracy_content *content,
                                          const struct strobe_tracy_visitor *visitor);
/* A reader of one section, or of one item of it. */
typedef enum strobe_err strobe_tracy_reader(struct strobe_tracy_content *content,
                                            const struct strobe_tracy_visitor *visitor);
struct strobe_tracy_step {
    int section;
    strobe_tracy_reader *read;
};
/* content.c, for all: n items, until one fails; sections, as far as they are wanted. */
enum strobe_err strobe_tracy_read_each(struct strobe_tracy_content *content,
                                       const struct strobe_tracy_visitor *visitor, uint64_t n,
                                       strobe_tracy_reader *read);
enum strobe_err strobe_tracy_read_steps(struct strobe_tracy_content *content,
                                        const struct strobe_tracy_visitor *visitor,
                                        const struct strobe_tracy_step *steps, size_t n);
/* Step over n items of so many bytes each. */
enum strobe_err strobe_tracy_skip_items(struct strobe_tracy_content *content, uint64_t n,
                                        uint64_t bytes);
/* A StringIdx (3 bytes) and a StringRef (9 bytes). */
struct strobe_tracy_text strobe_tracy_read_idx(struct strobe_tracy_content *content);
struct strobe_tracy_text strobe_tracy_read_ref(struct strobe_tracy_content *content);

/* Call a hook of the visitor, if it is there, and leave with its error. Read before: where there is
 * no hook, the arguments are not evaluated. */
#define STROBE_TRACY_TELL(hook, ...)                                                    \
    do {                                                                                \
        enum strobe_err told =                                                          \
            visitor->hook ? visitor->hook(visitor->context, ##__VA_ARGS__) : STROBE_OK; \
        if (told)                                                                       \
            return told;                                                                \
    } while (0)

#endif
