/* fiber.c - switching stacks. The switch saves what a function must keep for its caller, swaps the stack pointer and returns on
 * the other stack: some twenty instructions and no system call.  SPDX-License-Identifier: MIT */
#include "device_sim/fiber.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"

#if STROBE_FIBER_KNOWN

/* Store the stack pointer of who calls in *save and go on where `load` stopped. */
void strobe_sim_fiber_swap(void **save, void *load);

#if defined(__x86_64__)
__asm__(".text\n.p2align 4\n.globl strobe_sim_fiber_swap\n.hidden strobe_sim_fiber_swap\n.type "
        "strobe_sim_fiber_swap,@function\n"
        "strobe_sim_fiber_swap:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n  ret\n"
        ".size strobe_sim_fiber_swap,.-strobe_sim_fiber_swap\n");
#define SAVED_WORDS 6 /* below the return address */
#define SLOT_OF_PC  6
#else
__asm__(".text\n.p2align 4\n.globl strobe_sim_fiber_swap\n.hidden strobe_sim_fiber_swap\n.type "
        "strobe_sim_fiber_swap,%function\n"
        "strobe_sim_fiber_swap:\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n  stp x25, "
        "x26, [sp, #48]\n"
        "  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n  stp d8, d9, [sp, #96]\n  stp d10, "
        "d11, [sp, #112]\n"
        "  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
        "  ldp x19, x20, [sp]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n  ldp x25, "
        "x26, [sp, #48]\n"
        "  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n  ldp d8, d9, [sp, #96]\n  ldp d10, "
        "d11, [sp, #112]\n"
        "  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n  ret\n"
        ".size strobe_sim_fiber_swap,.-strobe_sim_fiber_swap\n");
#define SAVED_WORDS 20
#define SLOT_OF_PC  11 /* x30 */
#endif

static void *outside;                     /* stack pointer of who resumed */
static struct strobe_sim_fiber *starting; /* whose first resume this is */

/* The first function on a new stack. */
static void begin(void)
{
    starting->entry(starting->context);
    __builtin_trap();
}

enum strobe_err strobe_sim_fiber_open(struct strobe_sim_fiber *fiber)
{
    size_t guard = (size_t)sysconf(_SC_PAGESIZE);
    char *map = mmap(NULL, guard + STROBE_FIBER_STACK_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return STROBE_ERR_NOMEM;
    if (mprotect(map, guard, PROT_NONE)) {
        munmap(map, guard + STROBE_FIBER_STACK_BYTES);
        return STROBE_ERR_NOMEM;
    }
    fiber->mapping = map;
    fiber->top = map + guard + STROBE_FIBER_STACK_BYTES;
    return STROBE_OK;
}

void strobe_sim_fiber_close(struct strobe_sim_fiber *fiber)
{
    if (fiber->mapping)
        munmap(fiber->mapping, (size_t)(fiber->top - fiber->mapping));
    memset(fiber, 0, sizeof *fiber);
}

void strobe_sim_fiber_start(struct strobe_sim_fiber *fiber, void (*entry)(void *), void *context)
{
    /* the words above are what begin() would return to: nothing. With 8 of them the stack is aligned as behind a call */
    uint64_t *words = (uint64_t *)(void *)fiber->top - 8 - SAVED_WORDS;
    memset(words, 0, (8 + SAVED_WORDS) * sizeof *words);
    words[SLOT_OF_PC] = (uint64_t)(uintptr_t)begin;
    STROBE_ASSERT(((uintptr_t)words & 15) == 0);
    fiber->sp = words;
    fiber->entry = entry;
    fiber->context = context;
}

void strobe_sim_fiber_resume(struct strobe_sim_fiber *fiber)
{
    starting = fiber;
    strobe_sim_fiber_swap(&outside, fiber->sp);
}

void strobe_sim_fiber_leave(struct strobe_sim_fiber *fiber)
{
    strobe_sim_fiber_swap(&fiber->sp, outside);
}

#else

enum strobe_err strobe_sim_fiber_open(struct strobe_sim_fiber *fiber)
{
    (void)fiber;
    return STROBE_ERR_INVALID;
}

void strobe_sim_fiber_close(struct strobe_sim_fiber *fiber)
{
    (void)fiber;
}

void strobe_sim_fiber_start(struct strobe_sim_fiber *fiber, void (*entry)(void *), void *context)
{
    (void)fiber, (void)entry, (void)context;
}

void strobe_sim_fiber_resume(struct strobe_sim_fiber *fiber)
{
    (void)fiber;
}

void strobe_sim_fiber_leave(struct strobe_sim_fiber *fiber)
{
    (void)fiber;
}

#endif
