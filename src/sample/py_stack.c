/* py_stack.c - see py_stack.h. The thread may call and return between two reads, so nothing is trusted: walks are bounded, and whoever names
 * a frame looks whether its code is an object of the type code.  SPDX-License-Identifier: MIT */
#include "sample/py_stack.h"

#include <string.h>

#include "base/assert.h"

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
    struct strobe_py_memory *memory;
    const struct strobe_py_target *target;
    struct strobe_py_stack *out;
    uint64_t cframe;     /* of the activation; 0: none */
    uint32_t first_open; /* frames from here on have no activation yet */
};

/* Where in its code a frame is. */
static uint32_t place_of(const struct strobe_py_layout *l, const uint8_t *frame, uint64_t code)
{
    int32_t last;
    if (l->at_unit) {
        memcpy(&last, frame + l->frame_at, sizeof last);
        return last > 0 && last < 1 << 28 ? (uint32_t)last * l->at_unit : 0;
    }
    uint64_t at = word_of(frame, l->frame_at), begin = code + l->code_bytes;
    return at >= begin && at - begin < 1u << 28 ? (uint32_t)(at - begin) : 0;
}

/* All frames since the last activation are of this one. */
static void close_activation(struct walk *w, uint64_t address)
{
    STROBE_ASSERT(w->first_open <= w->out->n);
    while (w->first_open < w->out->n)
        w->out->frames[w->first_open++].activation = address;
}

/* One frame. False: it can't be read, or there is no room. */
static bool take_frame(struct walk *w, uint64_t address, uint64_t *previous)
{
    const struct strobe_py_layout *l = &w->target->layout;
    const uint8_t *frame = strobe_py_memory_at(w->memory, address, STROBE_PY_FRAME_BYTES);
    if (!frame)
        return false;
    *previous = word_of(frame, l->frame_previous);
    if (l->entry == STROBE_PY_ENTRY_FRAME && frame[l->frame_flag] == OWNED_BY_C_STACK) {
        close_activation(w, address);
        return true;
    }
    uint64_t code = word_of(frame, l->frame_code);
    if (!code || w->out->n == STROBE_PY_FRAMES)
        return false;
    w->out->frames[w->out->n++] =
        (struct strobe_py_frame){.code = code, .at = place_of(l, frame, code)};
    if (l->entry == STROBE_PY_ENTRY_FLAG && frame[l->frame_flag]) {
        close_activation(w, w->cframe);
        if (!strobe_py_memory_word(w->memory, w->cframe + l->cframe_previous, &w->cframe))
            w->cframe = 0;
    }
    return true;
}

void strobe_py_stack_read(struct strobe_py_memory *memory, const struct strobe_py_target *target,
                          uint64_t state, struct strobe_py_stack *out)
{
    const struct strobe_py_layout *l = &target->layout;
    struct walk w = {.memory = memory, .target = target, .out = out};
    uint64_t frame = 0, previous = 0;
    STROBE_ASSERT(l->frame_at + 8 <= STROBE_PY_FRAME_BYTES);
    out->n = 0;
    out->is_cut = !strobe_py_memory_word(memory, state + l->thread_frame, &frame);
    if (l->cframe_previous) {
        w.cframe = frame;
        out->is_cut = !frame || !strobe_py_memory_word(memory, frame + l->cframe_frame, &frame);
    }
    for (uint32_t i = 0; frame && !out->is_cut; i++, frame = previous)
        out->is_cut = i == 2 * STROBE_PY_FRAMES || !take_frame(&w, frame, &previous);
}
