/* function_stacks.c - which functions are open on the stack that a thread runs on now.
 *
 * A thread has its own stack, and may run fibers: those have others, go on on other threads, and are tracks of their own in the trace. The
 * stack pointer says that it is another one. Where that lies is asked of the kernel once; of a stack that the program gave to makecontext
 * it is known. A signal handler on an alternate stack is no fiber: it is above what it interrupted.  SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "client/client.h"
#include "preload/functions.h"
#include "preload/preload.h"

enum { STACKS = 1024, RANGES = 1024, SCRATCH = 8 << 10, DEPTH = 1 << 15, DEPTH_MAX = 1 << 26 };
#define GAP \
    (128ull << 20) /* below the first thread's stack, which grows: the kernel keeps it free */

/* Owned, and kept for the next one when they are free. */
static struct strobe_function_stack *stacks[STACKS];
static uint32_t n_stacks; /* of them ever made */

/* Stacks that the program gave to makecontext, the last ones. */
static struct range {
    uint64_t low, high;
} ranges[RANGES];
static uint32_t n_ranges;

static int owner; /* tid of who looks at these; 0: nobody */
static pthread_key_t key;
static int has_key;

/* ---- where a stack lies ---- */

static bool find_range(uint64_t sp, struct range *out)
{
    uint32_t n = n_ranges < RANGES ? n_ranges : RANGES;
    for (uint32_t i = 0; i < n; i++)
        if (sp > ranges[i].low && sp <= ranges[i].high) {
            *out = ranges[i];
            return true;
        }
    return false;
}

/* The mapping around it. A thread's own has its control block in it, or is the first one, which grows downwards. */
static bool find_mapped(uint64_t sp, struct range *out, bool *is_own)
{
    char room[SCRATCH];
    struct strobe_preload_mapping mapped;
    uint64_t block = (uint64_t)(uintptr_t)pthread_self();
    if (!strobe_preload_find_mapping(sp, room, sizeof room, &mapped))
        return false;
    bool is_first = mapped.n_path == 7 && !memcmp(mapped.path, "[stack]", 7);
    *is_own = is_first || (block >= mapped.start && block < mapped.end);
    *out = (struct range){mapped.start, mapped.end};
    if (is_first && mapped.end - mapped.start < GAP)
        out->low = mapped.end - GAP;
    return true;
}

/* Where the first thread's stack begins, in glibc. */
extern void *__libc_stack_end __attribute__((weak));

/* Without /proc: a thread's own stack is below its control block, the first one's below where it began. Fibers are not told from it. */
static bool guess(uint64_t sp, struct range *out)
{
    uint64_t block = (uint64_t)(uintptr_t)pthread_self();
    uint64_t first = &__libc_stack_end ? (uint64_t)(uintptr_t)__libc_stack_end : 0;
    out->high = gettid() == getpid() ? first : block;
    out->low = out->high - GAP;
    return out->high > GAP && sp >= out->low && sp < out->high;
}

static bool is_in(const struct strobe_function_stack *stack, uint64_t sp)
{
    return __atomic_load_n(&stack->is_taken, __ATOMIC_RELAXED) && sp >= stack->low &&
           sp < stack->high;
}

/* ---- making and freeing ---- */

static void free_stack(void *at)
{
    struct strobe_function_stack *stack = at;
    struct strobe_function_thread *self = &strobe_function_thread;
    if (self->stack == stack) {
        if (strobe_gate_now->active && stack->generation == strobe_gate_now->active)
            strobe_function_end_above(stack, 0); /* pthread_exit was called in them */
        *self = (struct strobe_function_thread){0};
    }
    stack->n = 0;
    __atomic_store_n(&stack->is_taken, 0, __ATOMIC_RELEASE);
}

static struct strobe_function_stack *take_free(void)
{
    const size_t n_bytes =
        sizeof(struct strobe_function_stack) + DEPTH * sizeof(struct strobe_function_open);
    for (uint32_t i = 0; i < n_stacks; i++)
        if (!__atomic_load_n(&stacks[i]->is_taken, __ATOMIC_ACQUIRE))
            return stacks[i];
    struct strobe_function_stack *made = n_stacks < STACKS ? strobe_preload_map(n_bytes) : NULL;
    if (!made)
        return NULL;
    made->open = (struct strobe_function_open *)(made + 1);
    made->room = DEPTH;
    stacks[n_stacks++] = made;
    return made;
}

struct strobe_function_stack *strobe_function_stack_above(struct strobe_function_stack *stack)
{
    enum { FEW = 512 };
    const size_t n_bytes = sizeof *stack + FEW * sizeof(struct strobe_function_open);
    struct strobe_function_stack *made = stack->above ? NULL : strobe_preload_map(n_bytes);
    if (made) {
        made->open = (struct strobe_function_open *)(made + 1);
        made->room = FEW;
        stack->above = made;
    }
    return stack->above;
}

void strobe_function_stacks_mend(void)
{
    strobe_preload_free(&owner);
    strobe_preload_stack_mend();
}

bool strobe_function_grow_stack(struct strobe_function_stack *stack)
{
    size_t n_bytes = stack->room * sizeof *stack->open;
    struct strobe_function_open *more = stack->room < DEPTH_MAX ? strobe_preload_map(2 * n_bytes)
                                                                : NULL,
                                *old = stack->open;
    if (!more)
        return false;
    memcpy(more, old, n_bytes);
    stack->open = more;
    stack->room *= 2;
    if (old != (struct strobe_function_open *)(stack + 1))
        strobe_preload_unmap(old, n_bytes);
    return true;
}

static void name_fiber(struct strobe_function_stack *stack)
{
    static const char digits[] = "0123456789abcdef", begin[] = "stack 0x";
    memcpy(stack->text, begin, sizeof begin);
    char *at = stack->text + sizeof begin - 1;
    for (int shift = 44; shift >= 0; shift -= 4)
        *at++ = digits[stack->high >> shift & 15];
    *at = 0;
    stack->fiber = (struct strobe_name){0, stack->text};
}

static struct strobe_function_stack *make(uint64_t sp)
{
    struct range range;
    bool is_own = false;
    if (!find_range(sp, &range) && !find_mapped(sp, &range, &is_own)) {
        is_own = access("/proc/self/maps", F_OK) && guess(sp, &range);
        if (!is_own)
            return NULL;
    }
    struct strobe_function_stack *stack = strobe_function_thread.stack;
    if (stack && is_own && stack->is_own && stack->high == range.high) {
        stack->low = range.low; /* it has grown */
        return stack;
    }
    stack = take_free();
    if (!stack)
        return NULL;
    stack->low = range.low;
    stack->high = range.high;
    stack->n = 0;
    if (stack->above)
        stack->above->n = 0;
    stack->is_own = is_own;
    name_fiber(stack);
    __atomic_store_n(&stack->is_taken, 1, __ATOMIC_RELEASE);
    if (is_own && !has_key)
        has_key = !pthread_key_create(&key, free_stack);
    if (is_own && has_key)
        pthread_setspecific(key, stack);
    return stack;
}

static struct strobe_function_stack *find_or_make(uint64_t sp)
{
    struct strobe_function_stack *found = NULL;
    if (!strobe_preload_take(&owner))
        return NULL;
    for (uint32_t i = 0; i < n_stacks && !found; i++)
        if (is_in(stacks[i], sp))
            found = stacks[i];
    if (!found)
        found = make(sp);
    strobe_preload_give(&owner);
    return found;
}

/* ---- the change ---- */

/* A program with a client of its own says itself which fibers it has. */
static bool marks_fibers(void)
{
    const struct strobe_pool *pool = strobe_client_pool();
    return pool && __atomic_load_n(&pool->n_copies, __ATOMIC_RELAXED) < 2;
}

static void say_change(const struct strobe_function_stack *from, struct strobe_function_stack *to)
{
    if (!marks_fibers())
        return;
    if (!to->is_own)
        strobe_fiber_enter(&to->fiber);
    else if (from && !from->is_own)
        strobe_fiber_leave();
}

static bool find_signal_stack(uint64_t sp, struct range *out)
{
    stack_t now = {0};
    if (syscall(SYS_sigaltstack, NULL, &now) || !(now.ss_flags & SS_ONSTACK))
        return false;
    out->low = (uint64_t)(uintptr_t)now.ss_sp;
    out->high = out->low + now.ss_size;
    return sp > out->low && sp <= out->high;
}

bool strobe_function_is_on_signal_stack(uint64_t sp)
{
    struct range range;
    return find_signal_stack(sp, &range);
}

/* Whether the thread runs on its alternate signal stack. Then what it begins is above what it has open. */
static bool is_in_handler(struct strobe_function_thread *self, uint64_t sp)
{
    struct range range;
    if (!self->stack || !find_signal_stack(sp, &range))
        return false;
    self->low = range.low;
    self->n_bytes = range.high - range.low + 1;
    self->first = self->stack->n;
    return true;
}

struct strobe_function_stack *strobe_function_change_stack(uint64_t sp)
{
    struct strobe_function_thread *self = &strobe_function_thread;
    bool has_started = strobe_gate_now != &strobe_client_first_gate || strobe_preload_start();
    if (!has_started || !strobe_gate_is_open(strobe_gate_now))
        return NULL;
    if (is_in_handler(self, sp))
        return self->stack;
    struct strobe_function_stack *from = self->stack;
    strobe_preload_busy++;
    struct strobe_function_stack *to = from && is_in(from, sp) ? from : find_or_make(sp);
    strobe_preload_busy--;
    if (!to)
        return NULL;
    if (self->first && from) /* the handler is over, or was jumped out of */
        strobe_function_end_above(from, self->first);
    if (to != from)
        say_change(from, to);
    self->first = 0;
    self->stack = to;
    self->low = to->low;
    self->n_bytes = to->high - to->low;
    return to;
}

void strobe_function_stacks_forked(void)
{
    struct strobe_function_thread *self = &strobe_function_thread;
    owner = 0;
    self->first = 0;
    for (uint32_t i = 0; i < n_stacks; i++) {
        stacks[i]->n = 0;
        if (stacks[i]->above)
            stacks[i]->above->n = 0;
        stacks[i]->fiber.word = 0;
        if (stacks[i]->is_own && stacks[i] != self->stack)
            stacks[i]->is_taken = 0; /* of a thread that the child has not */
    }
}

/* ---- makecontext ---- */

/* The program made a stack for a fiber: what was open on one that lay there is no more. */
static void note_context(const ucontext_t *context)
{
    uint64_t low = (uint64_t)(uintptr_t)context->uc_stack.ss_sp,
             high = low + context->uc_stack.ss_size;
    if (!strobe_preload_take(&owner))
        return;
    for (uint32_t i = 0; i < n_stacks; i++)
        if (!stacks[i]->is_own && stacks[i] != strobe_function_thread.stack &&
            stacks[i]->low < high && stacks[i]->high > low)
            stacks[i]->is_taken = 0;
    struct range range;
    bool is_known = find_range(high, &range) && range.low == low;
    if (!is_known)
        ranges[n_ranges++ % RANGES] = (struct range){low, high};
    strobe_preload_give(&owner);
}

/* Its arguments are whatever the program passes: they stay where they are, and the C library's own is jumped to. */
__attribute__((used)) static void *before_makecontext(const ucontext_t *context)
{
    static void *next;
    note_context(context);
    if (!next)
        next = strobe_preload_next("makecontext");
    return next;
}

#if defined(__x86_64__)
__asm__(".text\n"
        ".globl makecontext\n"
        ".type makecontext, @function\n"
        "makecontext:\n"
        "\t.cfi_startproc\n"
        "\tendbr64\n"
        "\tpushq %rdi\n\tpushq %rsi\n\tpushq %rdx\n\tpushq %rcx\n\tpushq %r8\n\tpushq %r9\n\tpushq "
        "%rax\n"
        "\t.cfi_adjust_cfa_offset 56\n"
        "\tcall before_makecontext\n"
        "\tmovq %rax, %r11\n"
        "\tpopq %rax\n\tpopq %r9\n\tpopq %r8\n\tpopq %rcx\n\tpopq %rdx\n\tpopq %rsi\n\tpopq %rdi\n"
        "\t.cfi_adjust_cfa_offset -56\n"
        "\tjmp *%r11\n"
        "\t.cfi_endproc\n"
        "\t.size makecontext, . - makecontext\n");
#endif
