/* preload.h - what the files of the preloaded library share. All of it runs inside of programs that know nothing of it: it never
 * allocates from the heap, prints, exits, or changes errno or a result.  docs/memory.md, docs/locks.md.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_PRELOAD_PRELOAD_H
#define STROBE_PRELOAD_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STROBE_PRELOAD_EXPORTED __attribute__((visibility("default")))
#define STROBE_PRELOAD_TLS      __thread __attribute__((tls_model("initial-exec")))

/* What the environment asks for. Set once, before main. */
struct strobe_preload_wants {
    bool memory, memory_all; /* STROBE_MEMORY: "all", or a number of bytes */
    uint64_t sample_bytes;   /* of memory: the mean between two samples */
    bool locks, locks_all;   /* STROBE_LOCKS: "waits", "all" */
    uint32_t sample_hz;      /* STROBE_SAMPLE_TIMER: samples per second of CPU time; 0: none */
};
extern struct strobe_preload_wants strobe_preload_wants;

/* The calling thread is inside of this library: what it allocates or locks there is its own business. */
extern STROBE_PRELOAD_TLS int strobe_preload_busy;

/* By chance: what decides over the calling thread's samples of memory. */
struct strobe_preload_dice {
    int64_t left; /* bytes to the next sample */
    uint64_t random;
};
extern STROBE_PRELOAD_TLS struct strobe_preload_dice strobe_preload_dice;

/* The function of this name behind ours; NULL: there is none. Signals as they are; may be called before main. */
void *strobe_preload_next(const char *name);
void *strobe_preload_next_version(const char *name, const char *version);

/* The number of the calling thread's stack from `frame` (__builtin_frame_address(0) of the exported function) outwards, known to the trace
 * before it returns; 0: not known. Any context. */
uint64_t strobe_preload_stack(const void *frame);

/* The stack of what a signal interrupted, the innermost first: addresses of callers are one less than where they go on. The trace knows
 * their modules before it returns. 0: not known. *is_cut: its outer frames are missing. Any context. */
struct strobe_preload_regs {
    uint64_t pc, sp, bp;
};
uint32_t strobe_preload_stack_of(const struct strobe_preload_regs *regs, uint64_t *out,
                                 uint32_t room, bool *is_cut);

/* What is mapped at an address. */
struct strobe_preload_mapping {
    uint64_t start, end, offset; /* of a file: where it begins in it */
    bool is_code;
    const char
        *path; /* borrowed: in `room`, not terminated; "[vdso]", or empty where it is no file's */
    size_t n_path;
};

/* Find it, with room for the kernel's list. False: nothing is there, or it can't be known; start and end are those of the gap then.
 * Any context; errno may change. */
bool strobe_preload_find_mapping(uint64_t pc, char *room, size_t n_room,
                                 struct strobe_preload_mapping *out);

/* Open a file of this process in /proc: "maps", "exe". Below 0: it can't be opened. Any context; errno may change. */
long strobe_preload_open_own(const char *name);

/* The file of code at an address, known to the trace before it returns. False: it is no file's. One thread at a time. */
struct strobe_preload_file {
    uint64_t start, end, offset; /* where its code is mapped, and from where in the file */
    const char *path;            /* borrowed: it stays until the file is unmapped */
};
bool strobe_preload_file_of(uint64_t pc, struct strobe_preload_file *out);
/* The whole of a file, read-only; NULL: it can't be had. It stays until munmap. */
const uint8_t *strobe_preload_map_file(const char *path, uint64_t *n_bytes);
/* The same of a file of code, by whatever name it still has: the program's own may have none (a memfd), or one that the kernel escapes. */
const uint8_t *strobe_preload_map_code(const struct strobe_preload_file *file, uint64_t *n_bytes);
/* A file may have been unmapped: forget those that are gone. */
void strobe_preload_unloaded(void);

/* A lock for what is rare, by the number of its holder. False: the calling thread has it, a signal handler of it is here; or it was waited
 * for long enough. */
bool strobe_preload_take(int *lock);
void strobe_preload_give(int *lock);
/* Give it back if the calling thread has it: a signal handler jumped away from who took it. */
void strobe_preload_free(int *lock);
/* The same of those that are taken while a function gets its name. */
void strobe_preload_stack_mend(void);

/* Start what hooks need, if it has not started: constructors of libraries that the program is linked with come before this library's. False:
 * it can't start yet, or another thread does it and was waited for long enough. */
bool strobe_preload_start(void);

/* Functions as zones: what the environment asks for. Before main. */
void strobe_preload_functions(void);
/* Patch what is prepared for it. False: the program's code can't be changed. Before main, behind the client's constructor. */
bool strobe_preload_patch(void);

/* Sample this process by timers. Before main. */
void strobe_preload_timers(void);
void strobe_preload_timers_forked(void);

/* An allocator that gets its memory from malloc, and is to be seen in its place: what it made, in a pool of its own, and what it is about
 * to give back; around its own calls enter and leave, so that malloc is silent meanwhile. */
struct strobe_name;
void *strobe_preload_made(struct strobe_name *pool, const void *frame, void *at, size_t size);
void strobe_preload_ends(struct strobe_name *pool, const void *at);

static inline int64_t strobe_preload_enter(void)
{
    strobe_preload_busy++;
    return strobe_preload_dice.left;
}

static inline void strobe_preload_leave(int64_t left)
{
    strobe_preload_dice.left = left;
    strobe_preload_busy--;
}

/* Stand before the allocators of a CPython that is in this process from its start. Before main. */
void strobe_preload_python(void);
void strobe_preload_python_forked(void);

/* Whether a function is this library's malloc. */
bool strobe_preload_is_malloc(const void *found);

/* In a forked child: forget what belongs to the parent. */
void strobe_preload_stack_forked(void);
void strobe_preload_memory_forked(void);
void strobe_preload_waits_forked(void);

/* What the environment asks for is known. Before main. */
void strobe_preload_waits_begin(void);

/* Zeroed private memory that is touched when used; NULL: none. */
void *strobe_preload_map(size_t n_bytes);
void strobe_preload_unmap(void *at, size_t n_bytes);
void strobe_preload_wipe(void *at, size_t n_bytes);

#endif
