/* stacks.h - call stacks of a .tracy file that is to be written: those of zones, messages, memory and GPU zones, samples,
 * and what is known of their addresses.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_FILE_STACKS_H
#define STROBE_TRACY_FILE_STACKS_H

#include "base/err.h"
#include "query/stack_symbols.h"
#include "tracy_file/spool.h"

struct strobe_tracy_model;
struct strobe_tracy_out;
struct strobe_happening;

struct strobe_tracy_sample_row {
    int64_t time;
    uint64_t order;
    uint32_t thread; /* of the model */
    uint32_t stack;
    uint8_t at_switch;
};

/* A function at an address, as its frame has it. */
struct strobe_tracy_frame_name {
    uint32_t name, file, line;
    uint64_t symbol; /* where it starts, 0: not known */
};

/* An address of a stack. */
struct strobe_tracy_address {
    uint32_t first, n; /* in names */
    uint32_t image;
    uint8_t is_named; /* a symbol record says what is there */
};

struct strobe_tracy_stacks {
    struct strobe_texts bytes;  /* each stack's addresses, as bytes */
    struct strobe_idmap ids;    /* (0, text of bytes): index + 1 is the number in the file */
    struct strobe_idmap events; /* (process, hash of an event) that have one */
    uint32_t *event_stacks;     /* owned: by index in events */
    uint32_t event_stacks_room;
    struct strobe_idmap addresses;         /* (0, address as the file has it) */
    struct strobe_tracy_address *frames;   /* owned: by index in addresses */
    struct strobe_tracy_frame_name *names; /* owned */
    uint32_t frames_room, n_names, names_room;
    struct strobe_spool samples;
    uint64_t next_sample; /* of those that are sorted: the first that is not written */
    struct strobe_stack_symbols symbols;
};

/* Gather the stacks of events that are found again later, before those; name all addresses when all are known, before
 * strings are written. */
enum strobe_err strobe_tracy_stacks_gather(struct strobe_tracy_model *model);
int strobe_tracy_stacks_name(struct strobe_tracy_model *model); /* 0 without memory */
void strobe_tracy_stacks_free(struct strobe_tracy_stacks *stacks);

/* The number of a list of addresses, 0: it is empty, or there is no room. */
uint32_t strobe_tracy_stack(struct strobe_tracy_model *model, uint32_t process,
                            const uint64_t *addresses, uint64_t n);
/* The number of the stack that came with an event: by its kind, its tick and what it is about (location, address,
 * query); 0: none. */
uint32_t strobe_tracy_stack_of(const struct strobe_tracy_model *model, uint32_t process,
                               unsigned kind, uint64_t tick, uint64_t about);
/* A SAMPLE. 0 without room. */
int strobe_tracy_stacks_take_sample(struct strobe_tracy_model *model,
                                    const struct strobe_happening *happening);

/* An address as the file has it: with the process in it where that is not the first. */
uint64_t strobe_tracy_address_of(const struct strobe_tracy_model *model, uint32_t process,
                                 uint64_t at);

/* Sections of the file: a thread's samples, threads in order; stacks and their frames. */
void strobe_tracy_put_samples(struct strobe_tracy_model *model, uint32_t thread,
                              struct strobe_tracy_out *out);
void strobe_tracy_put_stacks(struct strobe_tracy_model *model, struct strobe_tracy_out *out);

#endif
