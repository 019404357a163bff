/* stack.c - call stacks by frame pointers, without malloc, without the loader's lock.
 * A frame pointer may be garbage (code built without them), so nothing is read before it is known
 * to be readable: the pages of the stack are asked for once and remembered.
 * SPDX-License-Identifier: MIT */
#include "client/client.h"

/* Grow the range of known pages upwards to hold `at`. */
static bool is_on_stack(struct strobe_thread *thread, const char *at)
{
    enum { PAGE = 4096, STACK_STEP = 256 };
    if (at < thread->stack_low || ((uintptr_t)at & 7))
        return false;
    for (int i = 0; at + 16 > thread->stack_high; i++) {
        if (i == STACK_STEP || !strobe_ring_is_readable(thread->stack_high))
            return false;
        thread->stack_high += PAGE;
    }
    return true;
}

/* The stack is read as it is, between the variables too: no business of a sanitizer's. */
__attribute__((no_sanitize("address"))) int strobe_client_stack(struct strobe_thread *thread,
                                                                uint64_t *out, int max)
{
    char *frame = __builtin_frame_address(0);
    char *page = (char *)((uintptr_t)frame & ~(uintptr_t)4095);
    if (frame < thread->stack_low ||
        frame >= thread->stack_high) { /* first time, or another stack */
        thread->stack_low = page;
        thread->stack_high = page + 4096;
    }
    int n = 0;
    while (n < max && is_on_stack(thread, frame)) {
        char *next = ((char **)frame)[0];
        uint64_t address = ((uint64_t *)frame)[1];
        if (address < 4096)
            break;
        out[n++] = address;
        if (next <= frame)
            break;
        frame = next;
    }
    return n;
}
