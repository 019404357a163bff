/* py_stack.c - see py_stack.h. The thread may call and return between two reads, so nothing is trusted: walks are bounded, and whoever names
 * a frame looks whether its code is an object of the type code.  SPDX-License-Identifier: MIT */
#include "sample/py_stack.h"

#include <string.h>

#include "base/assert.h"
#include "sample/py_kernel.h"

enum { INTERPRETERS_MAX = 64, OWNED_BY_C_STACK = 3 };

static uint64_t word_of(const uint8_t *bytes, uint32_t offset)
{
    uint64_t word;
    memcpy(&word, bytes + offset, sizeof word);
    return word;
}

/* ---- threads ---- */

/* glibc's descriptor of a thread, which 3.9 and 3.10 have the address of, has the thread's number here. */
enum { GLIBC_TID = 720 };

bool strobe_py_stack_is_of(struct strobe_py_memory *memory, const struct strobe_py_target *target,
                           uint64_t state, uint32_t tid, bool is_main)
{
    const struct strobe_py_layout *l = &target->layout;
    uint64_t id, next;
    if (l->thread_native)
        return strobe_py_memory_word(memory, state + l->thread_native, &id) && id == tid;
    if (!strobe_py_memory_word(memory, state + l->thread_id, &id))
        return false;
    const uint8_t *number = strobe_py_memory_at(memory, id + GLIBC_TID, sizeof tid);
    if (number && !memcmp(number, &tid, sizeof tid))
        return true;
    /* another C library: the only thread is the first one */
    return is_main && !number && strobe_py_memory_word(memory, state + l->thread_next, &next) &&
           !next;
}

uint64_t strobe_py_stack_find(struct strobe_py_memory *memory,
                              const struct strobe_py_target *target, uint32_t tid, bool is_main)
{
    const struct strobe_py_layout *l = &target->layout;
    uint64_t interpreter = 0, state;
    uint32_t n_states = 0;
    strobe_py_memory_word(memory, target->runtime + l->interpreters_head, &interpreter);
    for (int i = 0; interpreter && i < INTERPRETERS_MAX; i++) {
        if (!strobe_py_memory_word(memory, interpreter + l->threads_head, &state))
            return 0;
        for (; state && n_states < STROBE_PY_THREADS_MAX; n_states++) {
            if (strobe_py_stack_is_of(memory, target, state, tid, is_main))
                return state;
            if (!strobe_py_memory_word(memory, state + l->thread_next, &state))
                break;
        }
        if (!strobe_py_memory_word(memory, interpreter + l->interpreter_next, &interpreter))
            return 0;
    }
    return 0;
}

/* ---- frames ---- */

struct walk {
    struct strobe_py_memory *memory; /* NULL: all was read before */
    const struct strobe_py_layout *layout;
    struct strobe_py_stack *out;
    const struct strobe_py_kernel_head *record; /* by the kernel; NULL: it was not */
    uint64_t cframe;                            /* of the activation; 0: none */
    uint32_t nth_cframe;                        /* of the record */
    uint32_t first_open;                        /* frames from here on have no activation yet */
};

/* Where in its code a frame is. */
static uint32_t place_of(const struct strobe_py_layout *l, uint64_t at, uint64_t code)
{
    if (l->at_unit) {
        int32_t last = (int32_t)at;
        return last > 0 && last < 1 << 28 ? (uint32_t)last * l->at_unit : 0;
    }
    uint64_t begin = code + l->code_bytes;
    return at >= begin && at - begin < 1u << 28 ? (uint32_t)(at - begin) : 0;
}

/* All frames since the last activation are of this one. */
static void close_activation(struct walk *w, uint64_t address)
{
    STROBE_ASSERT(w->first_open <= w->out->n);
    while (w->first_open < w->out->n)
        w->out->frames[w->first_open++].activation = address;
}

/* The cframe of the activation that called this one. 0: there is none, or it can't be read. */
static uint64_t next_cframe(struct walk *w)
{
    uint64_t next;
    if (!w->record)
        return strobe_py_memory_word(w->memory, w->cframe + w->layout->cframe_previous, &next)
                   ? next
                   : 0;
    STROBE_ASSERT(w->record->n_cframes <= STROBE_PY_KERNEL_CFRAMES);
    return ++w->nth_cframe < w->record->n_cframes ? w->record->cframes[2ull * w->nth_cframe] : 0;
}

/* One frame. False: it is none, or there is no room. */
static bool take_frame(struct walk *w, const struct strobe_py_kernel_frame *frame)
{
    const struct strobe_py_layout *l = w->layout;
    uint8_t flag = (uint8_t)frame->flag;
    if (l->entry == STROBE_PY_ENTRY_FRAME && flag == OWNED_BY_C_STACK) {
        close_activation(w, frame->address);
        return true;
    }
    if (!frame->code || w->out->n == STROBE_PY_FRAMES)
        return false;
    w->out->frames[w->out->n++] =
        (struct strobe_py_frame){.code = frame->code, .at = place_of(l, frame->at, frame->code)};
    if (l->entry == STROBE_PY_ENTRY_FLAG && flag) {
        close_activation(w, w->cframe);
        w->cframe = next_cframe(w);
    }
    return true;
}

/* One frame of the process's memory. False: it can't be read. */
static bool read_frame(struct walk *w, uint64_t address, uint64_t *previous)
{
    const struct strobe_py_layout *l = w->layout;
    const uint8_t *frame = strobe_py_memory_at(w->memory, address, STROBE_PY_FRAME_BYTES);
    if (!frame)
        return false;
    *previous = word_of(frame, l->frame_previous);
    return take_frame(w, &(struct strobe_py_kernel_frame){.address = address,
                                                          .code = word_of(frame, l->frame_code),
                                                          .at = word_of(frame, l->frame_at),
                                                          .flag = frame[l->frame_flag]});
}

void strobe_py_stack_read(struct strobe_py_memory *memory, const struct strobe_py_target *target,
                          uint64_t state, struct strobe_py_stack *out)
{
    const struct strobe_py_layout *l = &target->layout;
    struct walk w = {.memory = memory, .layout = l, .out = out};
    uint64_t frame = 0, previous = 0;
    STROBE_ASSERT(l->frame_at + 8 <= STROBE_PY_FRAME_BYTES);
    out->n = 0;
    out->is_cut = !strobe_py_memory_word(memory, state + l->thread_frame, &frame);
    if (l->cframe_previous) {
        w.cframe = frame;
        out->is_cut = !frame || !strobe_py_memory_word(memory, frame + l->cframe_frame, &frame);
    }
    for (uint32_t i = 0; frame && !out->is_cut; i++, frame = previous)
        out->is_cut = i == 2 * STROBE_PY_FRAMES || !read_frame(&w, frame, &previous);
}

bool strobe_py_stack_take(const void *bytes, size_t n_bytes, const struct strobe_py_layout *layout,
                          struct strobe_py_stack *out)
{
    struct strobe_py_kernel_head head;
    struct strobe_py_kernel_frame frame;
    const uint8_t *at = bytes;
    if (n_bytes < sizeof head)
        return false;
    memcpy(&head, at, sizeof head);
    if (head.id != STROBE_PY_KERNEL_ID || head.n_cframes > STROBE_PY_KERNEL_CFRAMES ||
        head.n_frames > (n_bytes - sizeof head) / sizeof frame)
        return false;
    struct walk w = {.layout = layout, .out = out, .record = &head};
    w.cframe = head.n_cframes ? head.cframes[0] : 0;
    out->n = 0;
    out->is_cut = head.rest != 0;
    for (uint32_t i = 0; i < head.n_frames; i++) {
        memcpy(&frame, at + sizeof head + i * sizeof frame, sizeof frame);
        if (!take_frame(&w, &frame)) {
            out->is_cut = true;
            break;
        }
    }
    return true;
}
