/* unwind.c - see unwind.h.  SPDX-License-Identifier: MIT */
#include "sample/unwind.h"

#include <string.h>

#include "base/assert.h"
#include "base/hash.h"

/* A walk: the frame that it is at. */
struct walk {
    struct strobe_unwinder *unwinder; /* borrowed */
    struct strobe_maps *maps;         /* borrowed */
    const struct strobe_unwind_sample *sample;
    uint64_t ip, sp, bp, bx;
    bool has_bx;    /* bx is known: a frame that says nothing of it was not passed */
    bool is_first;  /* other registers are known of the innermost frame alone */
    bool is_called; /* ip is a return address: the call is the byte before */
};

/* A word of the copied stack. False: it is outside. */
static bool load(const struct walk *w, uint64_t address, uint64_t *out)
{
    STROBE_ASSERT(w->sample->stack || !w->sample->n_stack);
    uint64_t low = w->sample->regs[STROBE_UNWIND_SP], at = address - low;
    if (address < low || at >= w->sample->n_stack || w->sample->n_stack - at < sizeof *out)
        return false;
    memcpy(out, w->sample->stack + at, sizeof *out);
    return true;
}

static bool is_row_of(const struct strobe_unwind_cached *cached, uint32_t module, uint64_t vaddr)
{
    return cached->module == module && cached->vaddr == vaddr;
}

/* A row that is not in the cache, by what is known of its neighbours, else by the file. */
static void find_row(struct strobe_unwinder *unwinder, const struct strobe_sample_module *module,
                     uint64_t vaddr, struct strobe_unwind_cached *out)
{
    enum { WIDE_BYTES = 64 };
    STROBE_ASSERT(module->id && module->has_cfi);
    struct strobe_cfi_span span = {0, 0};
    *out = (struct strobe_unwind_cached){.vaddr = vaddr, .module = module->id};
    for (uint32_t i = 0; i < STROBE_UNWIND_WIDE; i++) {
        const struct strobe_unwind_wide *wide = &unwinder->wide[i];
        if (wide->module == module->id && vaddr >= wide->span.low && vaddr < wide->span.high) {
            out->row = wide->row;
            out->has_row = true;
            return;
        }
    }
    unwinder->n_missed++;
    out->has_row = strobe_cfi_row(&module->cfi, vaddr, &out->row, &span);
    STROBE_ASSERT(!out->has_row || (vaddr >= span.low && vaddr < span.high));
    if (out->has_row && span.high - span.low >= WIDE_BYTES)
        unwinder->wide[unwinder->n_wide++ % STROBE_UNWIND_WIDE] =
            (struct strobe_unwind_wide){.span = span, .module = module->id, .row = out->row};
}

/* The cached row of an address, looked up if need be. Two places are its own, so that two addresses that fall together stay; the one that was
 * used last is in the first. */
static const struct strobe_unwind_cached *
look_up(struct strobe_unwinder *unwinder, const struct strobe_sample_module *module, uint64_t vaddr)
{
    uint64_t hash = (vaddr ^ (uint64_t)module->id << 40) * 0x9fb21c651e98df25u;
    struct strobe_unwind_cached *first = &unwinder->cache[hash >> 49 & (STROBE_UNWIND_CACHE - 2)];
    unwinder->n_looked++;
    if (is_row_of(first, module->id, vaddr))
        return first;
    struct strobe_unwind_cached found = first[1];
    if (!is_row_of(&found, module->id, vaddr))
        find_row(unwinder, module, vaddr, &found);
    first[1] = first[0];
    first[0] = found;
    return first;
}

static bool row_at(struct walk *w, const struct strobe_mapping *mapping, uint64_t pc,
                   struct strobe_cfi_row *out)
{
    STROBE_ASSERT(pc >= mapping->start && pc < mapping->end);
    struct strobe_sample_module *module = mapping->module;
    uint64_t vaddr;
    if (!module || !module->has_cfi ||
        !strobe_cfi_vaddr(&module->cfi, pc - mapping->start + mapping->offset, &vaddr))
        return false;
    const struct strobe_unwind_cached *cached = look_up(w->unwinder, module, vaddr);
    *out = cached->row;
    return cached->has_row;
}

/* The kernel's signal frame: its ucontext is at the stack pointer. */
static enum strobe_unwind_end step_signal(struct walk *w)
{
    STROBE_ASSERT(w->sample->n_stack == 0 || w->sample->stack);
    enum { AT_BP = 120, AT_BX = 128, AT_SP = 160, AT_IP = 168 }; /* of x86-64 */
    uint64_t ip, sp, bp;
    if (!load(w, w->sp + AT_BP, &bp) || !load(w, w->sp + AT_BX, &w->bx) ||
        !load(w, w->sp + AT_SP, &sp) || !load(w, w->sp + AT_IP, &ip))
        return STROBE_UNWIND_SHORT;
    w->has_bx = true;
    w->ip = ip;
    w->sp = sp;
    w->bp = bp;
    w->is_called = false; /* the interrupted instruction itself */
    return STROBE_UNWIND_WHOLE;
}

/* The value of a register of this frame. False: it is not known any more. */
static bool value_of(const struct walk *w, uint8_t reg, uint64_t *out)
{
    *out = reg == STROBE_UNWIND_SP ? w->sp : reg == STROBE_UNWIND_BP ? w->bp : w->bx;
    if (reg == STROBE_UNWIND_SP || reg == STROBE_UNWIND_BP)
        return true;
    if (reg == STROBE_UNWIND_BX)
        return w->has_bx;
    if (!w->is_first || reg >= STROBE_UNWIND_REGS)
        return false;
    *out = w->sample->regs[reg];
    return true;
}

/* The caller's frame pointer. Below the stack pointer its place is free again: an epilogue has taken it into the register. */
static bool find_bp(const struct walk *w, const struct strobe_cfi_row *row, uint64_t cfa,
                    uint64_t *out)
{
    STROBE_ASSERT(row->bp <= STROBE_CFI_BP_AT_BP);
    uint64_t at =
        (row->bp == STROBE_CFI_BP_AT_CFA ? cfa : w->bp) + (uint64_t)(int64_t)row->bp_offset;
    *out = w->bp;
    return row->bp == STROBE_CFI_BP_SAME || at < w->sp || load(w, at, out);
}

/* The caller's rbx, or that it is not known any more. */
static void find_bx(struct walk *w, const struct strobe_cfi_row *row, uint64_t cfa)
{
    STROBE_ASSERT(cfa > w->sp);
    uint64_t at = cfa - 8 * (uint64_t)row->bx;
    if (row->bx == STROBE_CFI_BX_LOST)
        w->has_bx = false;
    else if (row->bx && at >= w->sp)
        w->has_bx = load(w, at, &w->bx);
}

/* To the caller, by a row. */
static enum strobe_unwind_end step_row(struct walk *w, const struct strobe_cfi_row *row)
{
    STROBE_ASSERT(row->kind != STROBE_CFI_END);
    uint64_t cfa, ip, bp;
    if (row->kind == STROBE_CFI_SIGNAL)
        return step_signal(w);
    if (row->kind == STROBE_CFI_PLT)
        cfa = w->sp + 8 + ((w->ip & 15) >= (uint64_t)row->cfa_offset ? 8 : 0);
    else if (row->kind == STROBE_CFI_NONE || !value_of(w, row->reg, &cfa))
        return STROBE_UNWIND_CUT;
    else
        cfa += (uint64_t)(int64_t)row->cfa_offset;
    if (row->kind == STROBE_CFI_DEREF && !load(w, cfa, &cfa))
        return STROBE_UNWIND_SHORT;
    if (cfa <= w->sp)
        return STROBE_UNWIND_CUT; /* a stack that does not shrink would not end */
    if (!load(w, cfa - 8, &ip) || !find_bp(w, row, cfa, &bp))
        return STROBE_UNWIND_SHORT;
    find_bx(w, row, cfa);
    w->ip = ip;
    w->sp = cfa;
    w->bp = bp;
    w->is_called = true;
    return STROBE_UNWIND_WHOLE;
}

/* To the caller, by the frame pointer: it must lie in the stack, above this frame, and lead to code. */
static enum strobe_unwind_end step_frame(struct walk *w)
{
    uint64_t ip, bp;
    if (w->bp < w->sp || w->bp & 7)
        return STROBE_UNWIND_CUT;
    if (!load(w, w->bp, &bp) || !load(w, w->bp + 8, &ip))
        return STROBE_UNWIND_CUT;
    if (!strobe_maps_find(w->maps, ip - 1))
        return STROBE_UNWIND_CUT;
    w->sp = w->bp + 16;
    w->ip = ip;
    w->bp = bp;
    w->has_bx = false;
    w->is_called = true;
    return STROBE_UNWIND_WHOLE;
}

/* Whether an address lies behind the system call of clone() or clone3(): C libraries end the table in front of it, because the child has no
 * caller, and the child's own code, which follows, is marked as outermost. */
static bool is_behind_clone(struct walk *w, const struct strobe_mapping *mapping, uint64_t pc)
{
    enum { SPAN = 16 }; /* bytes: two tests, two jumps, a return */
    struct strobe_cfi_row row;
    STROBE_ASSERT(mapping && pc < mapping->end);
    for (uint64_t at = pc + 1; at <= pc + SPAN && at < mapping->end; at++)
        if (row_at(w, mapping, at, &row))
            return row.kind == STROBE_CFI_END;
    return false;
}

/* To the caller of clone(): nothing was pushed. A child has no caller: its stack holds no address of code there. */
static void step_clone(struct walk *w)
{
    struct strobe_cfi_row row;
    uint64_t ip;
    STROBE_ASSERT(w->is_first);
    const struct strobe_mapping *mapping =
        load(w, w->sp, &ip) ? strobe_maps_find(w->maps, ip - 1) : NULL;
    w->ip = mapping && row_at(w, mapping, ip - 1, &row) ? ip : 0;
    w->sp += 8;
    w->is_called = true;
}

/* To the caller where no row describes the frame. */
static enum strobe_unwind_end step_bare(struct walk *w, const struct strobe_mapping *mapping)
{
    if (w->is_first && mapping && is_behind_clone(w, mapping, w->ip)) {
        step_clone(w);
        return STROBE_UNWIND_WHOLE;
    }
    if (w->bp)
        return step_frame(w);
    w->ip = 0; /* the mark of the outermost frame: the loader's entry has no row */
    return STROBE_UNWIND_WHOLE;
}

enum strobe_unwind_end strobe_unwind_run(struct strobe_unwinder *unwinder, struct strobe_maps *maps,
                                         const struct strobe_unwind_sample *sample,
                                         struct strobe_unwind_stack *out)
{
    struct walk w = {.unwinder = unwinder,
                     .maps = maps,
                     .sample = sample,
                     .ip = sample->regs[STROBE_UNWIND_IP],
                     .sp = sample->regs[STROBE_UNWIND_SP],
                     .bp = sample->regs[STROBE_UNWIND_BP],
                     .bx = sample->regs[STROBE_UNWIND_BX],
                     .has_bx = true,
                     .is_first = true};
    for (out->n = 0;;) {
        uint64_t pc = w.ip - w.is_called, sp = w.sp;
        struct strobe_cfi_row row = {0};
        STROBE_ASSERT(out->n < STROBE_UNWIND_MAX);
        out->sps[out->n] = sp;
        out->addresses[out->n++] = pc;
        if (out->n == STROBE_UNWIND_MAX)
            return STROBE_UNWIND_SHORT;
        const struct strobe_mapping *mapping = strobe_maps_find(maps, pc);
        bool has_row = mapping && row_at(&w, mapping, pc, &row);
        if (has_row && row.kind == STROBE_CFI_END)
            return STROBE_UNWIND_WHOLE;
        if (row.kind == STROBE_CFI_SIGNAL) /* nobody called it: the kernel put its address there */
            out->addresses[out->n - 1] = w.ip;
        enum strobe_unwind_end end = has_row ? step_row(&w, &row) : step_bare(&w, mapping);
        if (end)
            return end;
        if (!w.ip)
            return STROBE_UNWIND_WHOLE; /* a stack that begins with a zero, as clone() makes it */
        /* a signal's frame may lead to another stack */
        if (w.sp <= sp && row.kind != STROBE_CFI_SIGNAL)
            return STROBE_UNWIND_CUT;
        w.is_first = false;
    }
}

bool strobe_unwind_join(struct strobe_unwind_stack *stack, const struct strobe_unwind_stack *before)
{
    STROBE_ASSERT(stack->n && stack->n <= STROBE_UNWIND_MAX && before->n <= STROBE_UNWIND_MAX);
    uint64_t address = stack->addresses[stack->n - 1], sp = stack->sps[stack->n - 1];
    uint32_t i = 0;
    while (i < before->n && (before->sps[i] != sp || before->addresses[i] != address))
        i++;
    if (i == before->n)
        return false;
    uint32_t n = before->n - i - 1, room = STROBE_UNWIND_MAX - stack->n;
    n = n < room ? n : room;
    memcpy(stack->addresses + stack->n, before->addresses + i + 1, n * sizeof *stack->addresses);
    memcpy(stack->sps + stack->n, before->sps + i + 1, n * sizeof *stack->sps);
    stack->n += n;
    return true;
}
