/* stack_sample.c - the stack of what a signal interrupted: from its registers, anywhere in a function. By the same rows as stack.c, without
 * its memo: samples are rare.  SPDX-License-Identifier: MIT */
#include "client/client.h"
#include "preload/preload.h"
#include "preload/rows.h"

enum { PAGES_AT_ONCE = 2048, PAGE = 4096, BP = 6, SP = 7 };

enum way { WAY_ON, WAY_END, WAY_CUT };

/* A place, and up to where its stack is known to be readable. That holds for one sample: until the next one the stack may be another, or
 * smaller, and what was behind it may be gone. */
struct place {
    uint64_t pc, sp, bp, high;
};

static uint64_t page_of(uint64_t sp)
{
    return sp & ~(uint64_t)(PAGE - 1);
}

/* The word at `at`, which is on the stack of a place and not below it. False: it is not there. */
static bool load(struct place *place, uint64_t at, uint64_t *out)
{
    if (at < place->sp || at & 7 || at > UINT64_MAX - PAGE)
        return false;
    for (int i = 0; at + 8 > place->high; i++) {
        if (i == PAGES_AT_ONCE || !strobe_ring_is_readable((const char *)place->high))
            return false;
        place->high += PAGE;
    }
    *out = *(const volatile uint64_t *)at;
    return true;
}

/* The kernel's frame of a signal: what that interrupted, maybe on another stack. */
static enum way leave_signal(struct place *at)
{
    enum { AT_BP = 120, AT_SP = 160, AT_IP = 168 }; /* of x86-64: the ucontext is at sp */
    struct place out;
    if (!load(at, at->sp + AT_BP, &out.bp) || !load(at, at->sp + AT_SP, &out.sp) ||
        !load(at, at->sp + AT_IP, &out.pc))
        return WAY_CUT;
    out.high = page_of(out.sp);
    *at = out;
    return WAY_ON;
}

/* To the caller, wherever the sample hit: in an entry of the PLT, before a function has made its frame, after it has removed it. */
static enum way step_out(struct place *at)
{
    struct strobe_cfi_row row = strobe_preload_row(at->pc);
    uint64_t cfa = 0, bp = at->bp, bp_at, back;
    if (row.kind == STROBE_CFI_END || (row.kind == STROBE_CFI_NONE && !bp))
        return WAY_END;
    if (row.kind == STROBE_CFI_SIGNAL)
        return leave_signal(at);
    if (row.kind == STROBE_CFI_PLT)
        cfa = at->sp + 8 + ((at->pc & 15) >= (uint64_t)row.cfa_offset ? 8 : 0);
    else if (row.kind == STROBE_CFI_REG && (row.reg == SP || row.reg == BP))
        cfa = (row.reg == SP ? at->sp : bp) + (uint64_t)(int64_t)row.cfa_offset;
    else if (row.kind == STROBE_CFI_NONE && load(at, bp, &at->bp))
        cfa = bp + 16;
    if (cfa <= at->sp || !load(at, cfa - 8, &back))
        return WAY_CUT;
    bp_at = (row.bp == STROBE_CFI_BP_AT_CFA ? cfa : bp) + (uint64_t)(int64_t)row.bp_offset;
    /* below sp: an epilogue has taken it from there into the register */
    if (row.kind != STROBE_CFI_NONE && row.bp != STROBE_CFI_BP_SAME && bp_at >= at->sp &&
        !load(at, bp_at, &at->bp))
        return WAY_CUT;
    at->sp = cfa;
    at->pc = back - 1;
    return back > PAGE ? WAY_ON : WAY_END; /* a stack that begins with a zero */
}

uint32_t strobe_preload_stack_of(const struct strobe_preload_regs *regs, uint64_t *out,
                                 uint32_t room, bool *is_cut)
{
    struct place at = {regs->pc, regs->sp, regs->bp, page_of(regs->sp)};
    enum way way = WAY_CUT;
    uint32_t n = 0;
    if (!strobe_preload_rows_make())
        return 0;
    do
        out[n++] = at.pc;
    while (n < room && (way = step_out(&at)) == WAY_ON);
    *is_cut = way != WAY_END;
    for (uint32_t i = 0; i < n; i++)
        strobe_preload_tell_code(out[i]);
    return n;
}
