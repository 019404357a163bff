/* write_parts.h - what the files that write a .tracy file share: the names that are looked up before the first section, small
 * values of the format. Inside src/tracy_file only.
 *
 *   write.c         head, tables, messages, zones, images; the order of all sections
 *   write_locks.c   locks
 *   write_gpu.c     GPU contexts and their zones
 *   lanes.c         devices' cores as GPU contexts
 *   write_values.c  plots and memory
 *   stacks.c        call stacks, samples
 *   code.c          functions, their code, source files, processors
 *   rare.c          sections, samples of counters, a crash
 *   switches.c      who ran where
 *
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_FILE_WRITE_PARTS_H
#define STROBE_TRACY_FILE_WRITE_PARTS_H

#include "tracy_file/blocks_out.h"
#include "tracy_file/model.h"

/* Names that sections behind the string table need. */
struct strobe_tracy_names {
    uint32_t frame, overflow, empty;
    uint32_t *locks;    /* owned */
    uint32_t *contexts; /* owned */
    uint32_t *pools;    /* owned; STROBE_TRACY_NO_STRING: pool 0 */
    int16_t *lock_locs; /* owned */
};

/* The same number serves as a client's pointer and as the file's: 0 stays free. */
static inline uint64_t strobe_tracy_pointer_of(uint32_t string)
{
    return string == STROBE_TRACY_NO_STRING ? 0 : (uint64_t)string + 1;
}

static inline void strobe_tracy_put_ref(struct strobe_tracy_out *out, uint32_t string)
{
    strobe_tracy_out_u64(out, string == STROBE_TRACY_NO_STRING ? 0 : string);
    strobe_tracy_out_u8(out, string == STROBE_TRACY_NO_STRING ? 0 : 3);
}

static inline void strobe_tracy_put_idx(struct strobe_tracy_out *out, uint32_t string)
{
    strobe_tracy_out_u24(out, string == STROBE_TRACY_NO_STRING ? 0 : string + 1);
}

static inline uint32_t strobe_tracy_bgr(uint32_t rgb)
{
    return (rgb & 0xff) << 16 | (rgb & 0xff00) | (rgb >> 16 & 0xff);
}

/* A time as the difference to the one before. */
static inline void strobe_tracy_put_time(struct strobe_tracy_out *out, int64_t *ref, int64_t time)
{
    strobe_tracy_out_u64(out, (uint64_t)time - (uint64_t)*ref);
    *ref = time;
}

void strobe_tracy_write_locks(struct strobe_tracy_model *model,
                              const struct strobe_tracy_names *names, struct strobe_tracy_out *out);
int strobe_tracy_write_gpu(struct strobe_tracy_model *model, const struct strobe_tracy_names *names,
                           struct strobe_tracy_out *out); /* 0 without memory */
void strobe_tracy_write_plots(struct strobe_tracy_model *model, struct strobe_tracy_out *out);
void strobe_tracy_write_memory(struct strobe_tracy_model *model,
                               const struct strobe_tracy_names *names,
                               struct strobe_tracy_out *out);

#endif
