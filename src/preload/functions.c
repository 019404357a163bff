/* functions.c - see functions.h: the functions that are known, and what a hook does.
 *
 * The compiler calls a hook at the begin and at the end of a function; an end may be missing (longjmp; exceptions, as clang has them). So
 * every thread keeps what is open, with its stack pointer: a frame below the one that begins now is no more, and is ended before. Inlined
 * functions share a frame: there the place in the code tells a second begin from a function inside. And who calls is open: what lies
 * above it is over.
 *
 * A patched sled (patch.c) comes here with the program's arguments in the vector registers. So this file is compiled without them, and what
 * is rare is called with all of them saved.
 *
 * Never allocates from the heap, waits for good, or changes errno.  SPDX-License-Identifier: MIT */
#include "preload/functions.h"

#include <errno.h>

#include "client/client.h"
#include "preload/preload.h"

enum { PLACES = 1 << 16, PROBES = 32 };

/* By address; what is not touched takes no memory. */
static struct strobe_function functions[PLACES] __attribute__((aligned(64)));
static int owner; /* tid of who names a function; 0: nobody */

STROBE_PRELOAD_TLS struct strobe_function_thread strobe_function_thread, strobe_function_handler;
int strobe_function_is_patched;

/* Open, and of no recorder: the first hook of all finds no stack of the thread, and starts the client. */
const struct strobe_gate strobe_client_first_gate = {~0u, 0, ~0ull};

/* ---- what is rare ---- */

#if defined(__x86_64__)
/* Call a function with the vector registers saved. */
uint64_t strobe_function_call(uint64_t (*run)(uint64_t, uint64_t, uint64_t), uint64_t a, uint64_t b,
                              uint64_t c);
__asm__(".text\n"
        ".type strobe_function_call, @function\n"
        "strobe_function_call:\n"
        "\t.cfi_startproc\n"
        "\tpushq %rbp\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset %rbp, -16\n"
        "\tmovq %rsp, %rbp\n\t.cfi_def_cfa_register %rbp\n"
        "\tsubq $2816, %rsp\n\tandq $-64, %rsp\n"
        "\tmovq %rdi, %r8\n\tmovq %rsi, %rdi\n\tmovq %rdx, %rsi\n\tmovq %rcx, %r9\n"
        "\txorl %eax, %eax\n" /* the header of the area: 64 bytes of 0 */
        "\tmovq %rax, 512(%rsp)\n\tmovq %rax, 520(%rsp)\n\tmovq %rax, 528(%rsp)\n"
        "\tmovq %rax, 536(%rsp)\n\tmovq %rax, 544(%rsp)\n\tmovq %rax, 552(%rsp)\n"
        "\tmovq %rax, 560(%rsp)\n\tmovq %rax, 568(%rsp)\n"
        "\tmovl $0xe7, %eax\n\txorl %edx, %edx\n\txsave (%rsp)\n" /* x87, SSE, AVX, AVX-512 */
        "\tmovq %r9, %rdx\n\tcall *%r8\n\tmovq %rax, %rcx\n"
        "\tmovl $0xe7, %eax\n\txorl %edx, %edx\n\txrstor (%rsp)\n"
        "\tmovq %rcx, %rax\n\tleave\n\t.cfi_def_cfa %rsp, 8\n\tret\n"
        "\t.cfi_endproc\n"
        "\t.size strobe_function_call, . - strobe_function_call\n");
#else /* nothing is patched */
#define strobe_function_call(run, a, b, c) run(a, b, c)
#endif

static STROBE_COLD uint64_t call_rarely(uint64_t (*run)(uint64_t, uint64_t, uint64_t), uint64_t a,
                                        uint64_t b, uint64_t c)
{
    struct strobe_function_thread *self = &strobe_function_thread;
    bool was_rare = self->is_rare;
    if (!was_rare)
        self->n_busy = strobe_preload_busy;
    self->is_rare = true;
    strobe_preload_busy++; /* what the client maps for itself is none of the program's memory */
    uint64_t result =
        strobe_function_is_patched ? strobe_function_call(run, a, b, c) : run(a, b, c);
    strobe_preload_busy--;
    self->is_rare = was_rare;
    return result;
}
#define RARELY(run, a, b, c)                                                                      \
    call_rarely((uint64_t(*)(uint64_t, uint64_t, uint64_t))(void *)run, (uint64_t)(uintptr_t)(a), \
                (uint64_t)(uintptr_t)(b), (uint64_t)(uintptr_t)(c))

/* ---- functions by their addresses ---- */

/* Neighbours in the code are neighbours here, for the sake of the cache. */
static inline struct strobe_function *place_of(uint64_t address, uint32_t probe)
{
    return &functions[(address / 16 + address / 16 / PLACES * 7 + probe) % PLACES];
}

/* The function's place, named and new. NULL: no room for it, or it can't be named now. */
static struct strobe_function *learn(uint64_t address)
{
    int before = errno;
    struct strobe_function *found = NULL;
    bool is_named = false;
    strobe_preload_busy++;
    if (strobe_preload_take(&owner)) {
        for (uint32_t i = 0; i < PROBES && !found; i++) {
            struct strobe_function *place = place_of(address, i);
            if (!place->address || place->address == address)
                found = place;
        }
        is_named =
            found && ((found->address && !found->is_stale) || strobe_function_name(found, address));
        if (is_named) {
            found->is_stale = 0;
            __atomic_store_n(&found->address, address, __ATOMIC_RELEASE);
        }
        strobe_preload_give(&owner);
    }
    strobe_preload_busy--;
    errno = before;
    return is_named ? found : NULL;
}

static inline struct strobe_function *find(uint64_t address)
{
    for (uint32_t i = 0; i < PROBES; i++) {
        struct strobe_function *place = place_of(address, i);
        uint64_t known = __atomic_load_n(&place->address, __ATOMIC_ACQUIRE);
        if (STROBE_LIKELY(known == address && !place->is_stale))
            return place;
        if (!known || known == address)
            break;
    }
    return (struct strobe_function *)(uintptr_t)RARELY(learn, address, 0, 0);
}

void strobe_function_unloaded(uint64_t low, uint64_t high)
{
    if (!strobe_preload_take(&owner))
        return;
    for (uint32_t i = 0; i < PLACES; i++)
        functions[i].is_stale |= functions[i].address >= low && functions[i].address < high;
    strobe_function_forget_file(low, high);
    strobe_preload_give(&owner);
}

void strobe_function_forked(void)
{
    owner = 0;
    strobe_function_thread.inside = strobe_function_handler.inside = 0;
    strobe_function_thread.is_rare = false;
    strobe_function_stacks_forked();
}

/* ---- events ---- */

enum { NOT_BEGUN = -2 }; /* of strobe_function_open.on: its begin was not emitted yet */

/* Its begin and its end. */
static uint64_t lose_both(enum strobe_loss cause)
{
    strobe_client_lose(cause);
    strobe_client_lose(cause);
    return 0;
}

static uint64_t grow(struct strobe_function_stack *stack)
{
    return strobe_function_grow_stack(stack);
}

static uint64_t end_oddly(struct strobe_function_open *open)
{
    struct strobe_zone zone = {open->loc, open->word, strobe_gate_now, open->on};
    if (open->on != NOT_BEGUN)
        strobe_zone_end(&zone);
    return 0;
}

static inline void begin_open(struct strobe_function_open *open)
{
    uint64_t *slot;
    open->word = __atomic_load_n(&open->loc->word, __ATOMIC_RELAXED);
    if (!strobe_gate_knows(strobe_gate_now, open->word))
        open->on = (int)RARELY(strobe_begin_unnamed, open->loc, 0, 0) | STROBE_EMIT_SLOW;
    else if (STROBE_LIKELY(strobe_emit_fast(open->word, &slot, 1)))
        open->on = STROBE_EMIT_STORED;
    else
        open->on = (int)RARELY(strobe_emit_slow, open->word, slot, open->loc) | STROBE_EMIT_SLOW;
}

static inline void end_open(struct strobe_function_open *open)
{
    uint64_t *slot, word = open->word ^ 1ull << 63; /* as in strobe_zone_end */
    if (STROBE_UNLIKELY(open->on != STROBE_EMIT_STORED))
        RARELY(end_oddly, open, 0, 0);
    else if (STROBE_UNLIKELY(!strobe_emit_fast(word, &slot, 0)))
        RARELY(strobe_emit_slow, word, slot, open->loc);
}

void strobe_function_end_above(struct strobe_function_stack *stack, uint32_t n)
{
    while (stack->n > n) {
        end_open(&stack->open[stack->n - 1]);
        stack->n--;
    }
}

/* ---- a hook and what interrupts it ----
 *
 * A signal handler may interrupt a hook, and call functions of its own: they have a list of their own (strobe_function_stack_above), so that
 * the hook goes on as if nothing had happened. Or it jumps away, and the hook never goes on. Then its frame is gone: the thread runs above
 * it, or what stood in the frame is overwritten. */

/* What stands right below the caller of a hook: where the hook returns to, or a register that it saved. */
static inline uint64_t word_below(uint64_t sp)
{
#if defined(__x86_64__)
    return *(const volatile uint64_t *)(uintptr_t)(sp - 8);
#else /* anything */
    (void)sp;
    return 0;
#endif
}

static uint64_t is_there(uint64_t sp, uint64_t word)
{
    int before = errno;
    bool is_readable = strobe_ring_is_readable((const char *)(uintptr_t)(sp - 8));
    errno = before;
    return is_readable && word_below(sp) == word;
}

static uint64_t free_locks(void)
{
    strobe_preload_free(&owner);
    strobe_function_stacks_mend();
    return 0;
}

/* A handler jumped away from the hook: end what it has begun, give back what the hook has taken. */
static void mend(struct strobe_function_thread *self)
{
    struct strobe_function_stack *above = self->stack ? self->stack->above : NULL;
    if (self->is_rare) {
        strobe_preload_busy = self->n_busy;
        RARELY(free_locks, 0, 0, 0);
        self->is_rare = false;
    }
    if (above && above->generation == strobe_gate_now->active)
        strobe_function_end_above(above, 0);
    strobe_function_handler.inside = strobe_function_handler.low = 0;
}

/* Whether a hook that did not end is interrupted, by a handler that the thread is in. Else it is forgotten. */
static STROBE_COLD bool is_interrupted(struct strobe_function_thread *self, uint64_t sp)
{
    bool was_rare = self->is_rare, is_same = sp - self->low < self->n_bytes, is_gone;
    if (is_same)
        is_gone = sp >= self->inside || word_below(self->inside) != self->word;
    else if (was_rare) /* it may be looking where this stack is */
        is_gone = !RARELY(is_there, self->inside, self->word, 0);
    else /* else the thread has changed to a fiber: that hook goes on another time, or never */
        is_gone = !RARELY(strobe_function_is_on_signal_stack, sp, 0, 0);
    if (is_gone && (is_same || was_rare))
        mend(self);
    if (is_gone)
        self->inside = 0;
    return !is_gone;
}

/* Another recorder has seen none of them begin. */
static inline void check_recorder(struct strobe_function_thread *self,
                                  struct strobe_function_stack *stack)
{
    if (STROBE_UNLIKELY(stack->generation != strobe_gate_now->active)) {
        stack->n = self->first = 0;
        stack->generation = strobe_gate_now->active;
    }
}

/* Begin the work of a hook: the stack of the thread's open functions. NULL: nothing can be noted. */
static inline struct strobe_function_stack *step_in(struct strobe_function_thread *self,
                                                    uint64_t sp)
{
    self->word = word_below(sp);
    self->inside = sp;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    struct strobe_function_stack *stack = self->stack;
    if (STROBE_UNLIKELY(sp - self->low >= self->n_bytes)) {
        stack = (struct strobe_function_stack *)(uintptr_t)RARELY(strobe_function_change_stack, sp,
                                                                  0, 0);
        if (!stack) {
            self->inside = 0;
            return NULL;
        }
    }
    check_recorder(self, stack);
    return stack;
}

static inline void step_out(struct strobe_function_thread *self)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->inside = 0;
}

/* The same in a handler that interrupted a hook. NULL: it interrupted another handler's, too, or the thread's first. */
static struct strobe_function_stack *step_in_handler(struct strobe_function_thread *self,
                                                     uint64_t sp)
{
    const struct strobe_function_thread *below = &strobe_function_thread;
    struct strobe_function_stack *stack = below->stack ? below->stack->above : NULL;
    if (!stack && below->stack)
        stack = (struct strobe_function_stack *)(uintptr_t)RARELY(strobe_function_stack_above,
                                                                  below->stack, 0, 0);
    if (!stack)
        return NULL;
    if (self->low != below->inside) { /* one that came earlier is over */
        self->low = below->inside;
        self->inside = stack->n = 0;
    }
    if (self->inside && sp < self->inside)
        return NULL;
    self->inside = sp;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    check_recorder(self, stack);
    return stack;
}

/* ---- begin and end ---- */

/* What a hook is called with. */
struct call {
    uint64_t address, sp, back, from;
};

static inline bool has_call(const struct strobe_function_open *open, uint64_t call)
{
    return call > open->address && call <= open->end;
}

/* A function that is called by one further out than the innermost: those between are no more, unless they are inlined there and share its
 * frame. How many are left. */
static __attribute__((noinline)) uint32_t find_caller(const struct strobe_function_stack *stack,
                                                      uint32_t first, uint64_t call)
{
    enum { FAR = 16 };
    uint32_t n = stack->n, last = n - first > FAR ? n - FAR : first;
    for (uint32_t i = n; i-- > last;)
        if (has_call(&stack->open[i], call)) {
            uint64_t sp = stack->open[i].sp;
            while (++i < n && stack->open[i].sp >= sp)
                ;
            return i;
        }
    return n;
}

static inline __attribute__((always_inline)) void begin(struct strobe_function_thread *self,
                                                        struct strobe_function_stack *stack,
                                                        const struct call *call)
{
    uint32_t n = stack->n;
    uint64_t sp = call->sp;
    while (n > self->first && stack->open[n - 1].sp <= sp &&
           (stack->open[n - 1].sp < sp || stack->open[n - 1].back == call->back))
        strobe_function_end_above(stack, --n);
    if (n > self->first && STROBE_UNLIKELY(!has_call(&stack->open[n - 1], call->from))) {
        n = find_caller(stack, self->first, call->from);
        strobe_function_end_above(stack, n);
    }
    struct strobe_function *function = find(call->address);
    if (STROBE_UNLIKELY(!function)) {
        RARELY(lose_both,
               self == &strobe_function_thread ? STROBE_LOSS_UNNAMED : STROBE_LOSS_NO_STATE, 0, 0);
    } else if (function->is_left_out) {
        ;
    } else if (STROBE_UNLIKELY(n == stack->room) && !RARELY(grow, stack, 0, 0)) {
        RARELY(lose_both, STROBE_LOSS_NO_STATE, 0, 0);
    } else {
        struct strobe_function_open *open = &stack->open[n];
        open->sp = sp;
        open->back = call->back;
        open->address = call->address;
        open->end = call->address + function->n_bytes;
        open->loc = &function->loc;
        open->on = NOT_BEGUN;
        stack->n = n + 1; /* before its begin is emitted: a handler may jump away at any instant */
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        begin_open(open);
    }
    step_out(self);
}

static inline __attribute__((always_inline)) void
end(struct strobe_function_thread *self, struct strobe_function_stack *stack, uint64_t address)
{
    uint32_t n = stack->n;
    while (n > self->first && stack->open[n - 1].address != address)
        n--;
    if (n > self->first) /* else it was not seen to begin, or is none that is wanted */
        strobe_function_end_above(stack, n - 1);
    step_out(self);
}

static STROBE_COLD void enter_in_handler(const struct call *call)
{
    struct strobe_function_stack *stack = step_in_handler(&strobe_function_handler, call->sp);
    if (stack)
        begin(&strobe_function_handler, stack, call);
    else
        RARELY(lose_both, STROBE_LOSS_NO_STATE, 0, 0);
}

static STROBE_COLD void exit_in_handler(uint64_t address, uint64_t sp)
{
    struct strobe_function_stack *stack = step_in_handler(&strobe_function_handler, sp);
    if (stack)
        end(&strobe_function_handler, stack, address);
}

void strobe_function_enter(uint64_t address, uint64_t sp, uint64_t back, uint64_t call)
{
    struct strobe_function_thread *self = &strobe_function_thread;
    if (STROBE_UNLIKELY(self->inside) && is_interrupted(self, sp)) {
        enter_in_handler(&(struct call){address, sp, back, call});
        return;
    }
    struct strobe_function_stack *stack = step_in(self, sp);
    if (STROBE_LIKELY(stack))
        begin(self, stack, &(struct call){address, sp, back, call});
    else
        RARELY(lose_both, STROBE_LOSS_NO_STATE, 0, 0);
}

void strobe_function_exit(uint64_t address, uint64_t sp)
{
    struct strobe_function_thread *self = &strobe_function_thread;
    if (STROBE_UNLIKELY(self->inside) && is_interrupted(self, sp)) {
        exit_in_handler(address, sp);
        return;
    }
    struct strobe_function_stack *stack = step_in(self, sp);
    if (STROBE_LIKELY(stack)) /* else counted at its begin */
        end(self, stack, address);
}
