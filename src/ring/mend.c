/* mend.c - is a reservation abandoned? A signal handler that jumps out of the middle of an emit (siglongjmp,
 * an exception) leaves words that were taken and will never be written, and the stream stands still there.
 * The recorder can't tell that from a thread which is merely stopped; the thread can. An emit that is still to
 * be finished lies below a handler on the thread's own stack, and the address of its word stands there: in the
 * registers that the kernel saved for the handler's return, or where the compiler put it. So the thread looks
 * for that address, as a conservative garbage collector would, and what it finds nowhere is abandoned. What
 * merely looks like the address costs another look later.
 * Runs inside the traced program: never allocates, prints or exits.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"
#include "ring/ring_write.h"

/* Where the first thread's stack begins, in glibc. */
extern void *__libc_stack_end __attribute__((weak));
/* The address sanitizer may keep variables elsewhere: then the stack does not hold all of them. */
extern void *__asan_get_current_fake_stack(void) __attribute__((weak));

bool strobe_ring_is_readable(const char *at)
{
    syscall(SYS_rt_sigprocmask, -1, at, NULL, 8);
    return errno ==
           EINVAL; /* the kernel copies a signal set from there, then refuses the first argument */
}

/* Where the calling thread's stack ends: above all of its frames. A thread's own block of the C library lies
 * there; the first thread's is elsewhere. NULL: not known. */
static const char *stack_end(void)
{
    if (gettid() == getpid())
        return &__libc_stack_end ? __libc_stack_end : NULL;
    return (const char *)pthread_self();
}

/* The stack is read as it is, between the variables too: no business of a sanitizer's. */
__attribute__((no_sanitize("address", "thread"))) bool
strobe_ring_stack_holds(const void *frame, uintptr_t low, uintptr_t high)
{
    enum { PAGE = 4096, STACK_MAX = 64 << 20 };
    const char *at = (const char *)((uintptr_t)frame & ~(uintptr_t)7), *end = stack_end();
    stack_t other;
    STROBE_ASSERT(low <= high);
    if (!end || at >= end || (size_t)(end - at) > STACK_MAX || sigaltstack(NULL, &other) ||
        other.ss_flags & SS_ONSTACK ||
        (__asan_get_current_fake_stack && __asan_get_current_fake_stack()))
        return true;
    const char *known = (const char *)((uintptr_t)at & ~(uintptr_t)(PAGE - 1)) + PAGE;
    for (; at + 8 <= end; at += 8) {
        if (at >= known) { /* another stack: a gap lies between it and the end of this one */
            if (!strobe_ring_is_readable(at))
                return true;
            known += PAGE;
        }
        uintptr_t value = *(const volatile uintptr_t *)at;
        if ((value >= low && value <= high) || (value >> 16 >= low && value >> 16 <= high))
            return true;
    }
    return false;
}

/* The segment of `thread` that the word lies in, or NULL. */
static struct strobe_segment_head *
segment_of(const struct strobe_pool *pool, const struct strobe_thread *thread, const uint64_t *word)
{
    static const uint32_t bytes[] = {0, 0, 1024, 8192, STROBE_CHUNK_BYTES};
    uint64_t at = (uint64_t)((const char *)word - pool->data), i = at / STROBE_CHUNK_BYTES;
    uint32_t class_ = i < pool->control->n_chunks ? pool->chunks[i].class_ : 0;
    if (class_ < STROBE_CHUNK_SMALL || class_ > STROBE_CHUNK_LARGE)
        return NULL;
    struct strobe_segment_head *head =
        (struct strobe_segment_head *)(pool->data + at / bytes[class_] * bytes[class_]);
    bool own = head->magic == STROBE_SEGMENT_MAGIC && head->track == thread->track;
    return own && word >= (const uint64_t *)(head + 1) ? head : NULL;
}

/* How many words from `at` on belong to what was never finished, `end` excepted; 0: it is written. */
static uint32_t unwritten(const uint64_t *at, const uint64_t *end)
{
    uint64_t word = __atomic_load_n(at, __ATOMIC_RELAXED), n = 0;
    if (word >> 56 == STROBE_WORD_FILLING >> 56) {
        n = (word >> 32) & 0xffff;
        return n && n <= (uint64_t)(end - at) ? (uint32_t)n : 1;
    }
    while (at + n < end && !__atomic_load_n(at + n, __ATOMIC_RELAXED))
        n++;
    return (uint32_t)n;
}

/* How many words the written one at `at` is the first of. */
static uint32_t written(const uint64_t *at)
{
    uint64_t word = __atomic_load_n(at, __ATOMIC_RELAXED), n = (word >> 32) & 0xffff;
    bool is_long = word >> 60 == STROBE_WORD_RECORD >> 60 ||
                   (word >> 60 == STROBE_WORD_EPOCH >> 60 && word >> 56 != STROBE_WORD_EPOCH >> 56);
    return is_long && n ? (uint32_t)n : 1;
}

/* From the word that is asked for to the segment's end: who jumped once may have jumped more often. */
static void mend_from(struct strobe_pool *pool, struct strobe_thread *thread, uint64_t offset,
                      const void *frame)
{
    uint64_t *at = (uint64_t *)(pool->data + offset);
    if (offset % 8 || !strobe_ring_owns(pool, at))
        return;
    struct strobe_segment_head *head = segment_of(pool, thread, at);
    if (!head)
        return;
    const uint64_t *end = (const uint64_t *)(head + 1) + head->n_words;
    const uint64_t *next = (const uint64_t *)(uintptr_t)(thread->hot.cursor >> 16);
    if (head == thread->segment && next < end)
        end = next; /* behind it nothing was reserved */
    while (at < end) {
        uint32_t n = unwritten(at, end);
        if (n && strobe_ring_stack_holds(frame, (uintptr_t)(at - 1), (uintptr_t)(at + n)))
            return;
        STROBE_ASSERT(n <= (uint64_t)(end - at));
        if (n)
            __atomic_store_n(at, STROBE_WORD_ABANDONED | (uint64_t)n << 32, __ATOMIC_RELEASE);
        at += n ? n : written(at);
    }
}

void strobe_ring_forget_sleep(struct strobe_pool *pool, struct strobe_thread *thread,
                              const void *frame)
{
    if (!thread->waiting || (uint32_t)getpid() != pool->pid ||
        strobe_ring_stack_holds(frame, thread->waiting, thread->waiting))
        return;
    STROBE_ASSERT(thread->waiting & 1);
    thread->waiting = 0;
    __atomic_sub_fetch(&pool->control->n_waiting, 1, __ATOMIC_SEQ_CST);
}

void strobe_ring_mend(struct strobe_pool *pool, struct strobe_thread *thread, const void *frame)
{
    struct strobe_control *control = pool->control;
    if (!__atomic_load_n(&control->holes_used, __ATOMIC_ACQUIRE) || (uint32_t)getpid() != pool->pid)
        return; /* nothing is asked for, or a vfork child: its parent's stream is not its own */
    for (uint32_t i = 0; i < STROBE_HOLES_MAX; i++)
        if (__atomic_load_n(&control->holes[i].track, __ATOMIC_ACQUIRE) == thread->track)
            mend_from(pool, thread, __atomic_load_n(&control->holes[i].offset, __ATOMIC_RELAXED),
                      frame);
}
