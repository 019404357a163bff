/* cfi_run.c - the instructions of a description (DWARF 5, 6.4; the LSB's .eh_frame), run up to one address.
 * Of the rules those are kept that a walk by stack pointer and frame pointer needs: the CFA, the frame
 * pointer, the return address.  SPDX-License-Identifier: MIT */
#include "sample/cfi_run.h"

#include <limits.h>

#include "base/assert.h"

enum { REG_BX = 3, REG_BP = 6, REG_SP = 7, REG_RA = 16, STACK_MAX = 8 };

/* Where a register of the caller is. */
enum rule_kind { RULE_SAME = 0, RULE_UNDEFINED, RULE_AT_CFA, RULE_EXPRESSION, RULE_OTHER };

struct rule {
    enum rule_kind kind;
    int64_t offset;
    struct strobe_bytes expression;
};

struct rules {
    struct rule cfa; /* AT_CFA: cfa_reg + offset; EXPRESSION */
    uint64_t cfa_reg;
    struct rule bp, bx, ra;
};

struct machine {
    struct rules now, first; /* first: as the common part leaves them */
    struct rules kept[STACK_MAX];
    uint32_t n_kept;
    uint64_t pc, code_align;
    uint64_t from; /* the furthest that pc has been, up to the address */
    int64_t data_align;
    uint8_t pointer_encoding;
    bool has_augmentation, is_signal;
    uint64_t fde_vaddr;
    const uint8_t *fde_start;
};

static int64_t get_sleb(struct strobe_bytes *in)
{
    uint64_t value = 0;
    int shift = 0;
    uint8_t byte = 0x80;
    while (in->at < in->end && (byte & 0x80) && shift < 64) {
        byte = *in->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    }
    in->bad |= byte & 0x80;
    if (shift < 64 && (byte & 0x40))
        value |= ~(uint64_t)0 << shift;
    return (int64_t)value;
}

static uint64_t get_fixed(struct strobe_bytes *in, uint64_t n)
{
    STROBE_ASSERT(n <= 8);
    uint64_t value = 0;
    const uint8_t *at = strobe_get_bytes(in, n);
    for (uint64_t i = 0; at && i < n; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

/* An encoded pointer; `vaddr` is that of its own first byte. */
static uint64_t get_pointer(struct strobe_bytes *in, uint8_t encoding, uint64_t vaddr)
{
    enum { ABSPTR = 0, UDATA2 = 2, UDATA4 = 3, UDATA8 = 4, SIGNED = 8, PCREL = 0x10 };
    uint64_t n = (encoding & 7) == UDATA2 ? 2 : (encoding & 7) == UDATA4 ? 4 : 8;
    uint8_t base = encoding & 0x70;
    if (((encoding & 7) != ABSPTR && ((encoding & 7) < UDATA2 || (encoding & 7) > UDATA8)) ||
        (base && base != PCREL) || encoding & 0x80)
        in->bad = 1;
    uint64_t value = get_fixed(in, n);
    if (encoding & SIGNED && n < 8 && value >> (8 * n - 1))
        value |= ~(uint64_t)0 << (8 * n);
    return base == PCREL ? value + vaddr : value;
}

/* ---- instructions ---- */

static struct rule *rule_of(struct machine *m, uint64_t reg)
{
    return reg == REG_BP   ? &m->now.bp
           : reg == REG_BX ? &m->now.bx
           : reg == REG_RA ? &m->now.ra
                           : NULL;
}

static void set_rule(struct machine *m, uint64_t reg, enum rule_kind kind, int64_t offset)
{
    struct rule *rule = rule_of(m, reg);
    if (rule)
        *rule = (struct rule){.kind = kind, .offset = offset};
}

static void restore(struct machine *m, uint64_t reg)
{
    if (reg == REG_BP)
        m->now.bp = m->first.bp;
    else if (reg == REG_BX)
        m->now.bx = m->first.bx;
    else if (reg == REG_RA)
        m->now.ra = m->first.ra;
}

static struct strobe_bytes get_block(struct strobe_bytes *in)
{
    uint64_t n = strobe_get_varint(in);
    const uint8_t *at = strobe_get_bytes(in, n);
    return strobe_bytes_over(at, at ? (size_t)n : 0);
}

static int64_t scaled(const struct machine *m, int64_t value)
{
    int64_t out;
    return __builtin_mul_overflow(value, m->data_align, &out) ? 0 : out;
}

/* DW_CFA_def_cfa and its kin. */
static void run_cfa(struct machine *m, uint8_t op, struct strobe_bytes *in)
{
    STROBE_ASSERT(op >= 0x0c && op <= 0x13);
    if (op == 0x0c || op == 0x12 || op == 0x0d) /* def_cfa, def_cfa_sf, def_cfa_register */
        m->now.cfa_reg = strobe_get_varint(in);
    if (op == 0x0c || op == 0x0e) /* def_cfa, def_cfa_offset */
        m->now.cfa.offset = (int64_t)strobe_get_varint(in);
    if (op == 0x12 || op == 0x13) /* def_cfa_sf, def_cfa_offset_sf */
        m->now.cfa.offset = scaled(m, get_sleb(in));
    m->now.cfa.kind = RULE_AT_CFA;
    if (op == 0x0f) { /* def_cfa_expression */
        m->now.cfa.kind = RULE_EXPRESSION;
        m->now.cfa.expression = get_block(in);
    }
}

/* The instructions that set the rule of a register. False: it is none of them. */
static bool run_register(struct machine *m, uint8_t op, struct strobe_bytes *in)
{
    uint64_t reg = strobe_get_varint(in);
    struct rule *rule = rule_of(m, reg);
    switch (op) {
    case 0x05: /* offset_extended */
        set_rule(m, reg, RULE_AT_CFA, scaled(m, (int64_t)strobe_get_varint(in)));
        return true;
    case 0x11: /* offset_extended_sf */
        set_rule(m, reg, RULE_AT_CFA, scaled(m, get_sleb(in)));
        return true;
    case 0x06: /* restore_extended */
        restore(m, reg);
        return true;
    case 0x07: /* undefined */
        set_rule(m, reg, RULE_UNDEFINED, 0);
        return true;
    case 0x08: /* same_value */
        set_rule(m, reg, RULE_SAME, 0);
        return true;
    case 0x09: /* register */
    case 0x14: /* val_offset */
    case 0x15: /* val_offset_sf */
        strobe_get_varint(in);
        set_rule(m, reg, RULE_OTHER, 0);
        return true;
    case 0x10:   /* expression */
    case 0x16: { /* val_expression */
        struct strobe_bytes block = get_block(in);
        if (rule)
            *rule = (struct rule){.kind = op == 0x10 ? RULE_EXPRESSION : RULE_OTHER,
                                  .expression = block};
        return true;
    }
    }
    return false;
}

/* One instruction that is not in the upper two bits. False: not known. */
static bool run_extended(struct machine *m, uint8_t op, struct strobe_bytes *in)
{
    STROBE_ASSERT(op < 0x40);
    switch (op) {
    case 0x00: /* nop */
        return true;
    case 0x01: /* set_loc */
        m->pc =
            get_pointer(in, m->pointer_encoding, m->fde_vaddr + (uint64_t)(in->at - m->fde_start));
        return true;
    case 0x02: /* advance_loc1, 2, 4 */
    case 0x03:
    case 0x04:
        m->pc += get_fixed(in, 1ull << (op - 2)) * m->code_align;
        return true;
    case 0x0a: /* remember_state */
        if (m->n_kept == STACK_MAX)
            return false;
        m->kept[m->n_kept++] = m->now;
        return true;
    case 0x0b: /* restore_state */
        if (!m->n_kept)
            return false;
        m->now = m->kept[--m->n_kept];
        return true;
    case 0x0c:
    case 0x0d:
    case 0x0e:
    case 0x0f:
    case 0x12:
    case 0x13:
        run_cfa(m, op, in);
        return true;
    case 0x2e: /* GNU_args_size */
        strobe_get_varint(in);
        return true;
    }
    return run_register(m, op, in);
}

/* Run all that holds at `vaddr`: until pc is behind it. What moves pc changes no rule. False: something is not known. */
static bool run(struct machine *m, struct strobe_bytes *in, uint64_t vaddr)
{
    STROBE_ASSERT(m->n_kept <= STACK_MAX);
    while (in->at < in->end && !in->bad) {
        uint8_t byte = *in->at++, low = byte & 0x3f;
        if (byte >> 6 == 1)
            m->pc += low * m->code_align;
        else if (byte >> 6 == 2)
            set_rule(m, low, RULE_AT_CFA, scaled(m, (int64_t)strobe_get_varint(in)));
        else if (byte >> 6 == 3)
            restore(m, low);
        else if (!run_extended(m, low, in))
            return false;
        if (m->pc > vaddr) /* what comes is for later addresses */
            return !in->bad;
        m->from = m->pc > m->from ? m->pc : m->from;
    }
    return !in->bad;
}

/* ---- the common part ---- */

/* Augmentation: what follows the letters, with its length in front. */
static void read_augmentation(struct machine *m, const char *letters, struct strobe_bytes *in)
{
    STROBE_ASSERT(*letters == 'z');
    struct strobe_bytes data = get_block(in);
    for (letters++; *letters && !data.bad; letters++) {
        uint8_t encoding = 0;
        if (*letters == 'S') {
            m->is_signal = true;
            continue;
        }
        if (*letters != 'R' && *letters != 'P' && *letters != 'L')
            break;
        encoding = (uint8_t)get_fixed(&data, 1);
        if (*letters == 'R')
            m->pointer_encoding = encoding;
        else if (*letters == 'P')
            get_pointer(&data, encoding & 0x0f, 0);
    }
    in->bad |= data.bad;
}

static bool read_cie(struct machine *m, struct strobe_bytes *in)
{
    uint64_t id = get_fixed(in, 4), version = get_fixed(in, 1);
    const char *letters = (const char *)in->at;
    const void *nul = memchr(in->at, 0, strobe_bytes_left(in));
    if (id || (version != 1 && version != 3) || !nul)
        return false;
    in->at = (const uint8_t *)nul + 1;
    m->code_align = strobe_get_varint(in);
    m->data_align = get_sleb(in);
    uint64_t ra = version == 1 ? get_fixed(in, 1) : strobe_get_varint(in);
    if (*letters == 'z') {
        m->has_augmentation = true;
        read_augmentation(m, letters, in);
    } else if (*letters) {
        return false;
    }
    if (in->bad || ra != REG_RA)
        return false;
    bool is_run = run(m, in, UINT64_MAX);
    m->first = m->now;
    return is_run;
}

/* ---- from rules to a row ---- */

/* DW_OP_bregN offset, and nothing behind it. */
static bool is_breg(struct strobe_bytes in, uint8_t *reg, int64_t *offset, bool *is_deref)
{
    uint8_t op = (uint8_t)get_fixed(&in, 1);
    *offset = get_sleb(&in);
    *reg = (uint8_t)(op - 0x70);
    *is_deref = in.at < in.end && *in.at == 0x06;
    in.at += *is_deref;
    return !in.bad && op >= 0x70 && op <= 0x7f && in.at == in.end;
}

/* breg7 8; breg16 0; lit15; and; litN; ge; lit3; shl; plus: the entries of a procedure linkage table. */
static bool is_plt(struct strobe_bytes in, int64_t *threshold)
{
    static const uint8_t entry[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
    enum { LITERAL = 6, LIT0 = 0x30, LIT31 = 0x4f };
    if (strobe_bytes_left(&in) != sizeof entry || memcmp(in.at, entry, LITERAL) ||
        memcmp(in.at + LITERAL + 1, entry + LITERAL + 1, sizeof entry - LITERAL - 1) ||
        in.at[LITERAL] < LIT0 || in.at[LITERAL] > LIT31)
        return false;
    *threshold = in.at[LITERAL] - LIT0;
    return true;
}

static void set_cfa(const struct rules *rules, struct strobe_cfi_row *out)
{
    STROBE_ASSERT(out->kind == STROBE_CFI_NONE);
    int64_t offset = rules->cfa.offset;
    uint8_t reg = (uint8_t)rules->cfa_reg;
    bool is_deref = false;
    out->kind = STROBE_CFI_NONE;
    if (rules->cfa.kind == RULE_AT_CFA && rules->cfa_reg < REG_RA)
        out->kind = STROBE_CFI_REG;
    else if (rules->cfa.kind == RULE_EXPRESSION && is_plt(rules->cfa.expression, &offset))
        out->kind = STROBE_CFI_PLT;
    else if (rules->cfa.kind == RULE_EXPRESSION &&
             is_breg(rules->cfa.expression, &reg, &offset, &is_deref))
        out->kind = is_deref ? STROBE_CFI_DEREF : STROBE_CFI_REG;
    if (offset < INT32_MIN || offset > INT32_MAX)
        out->kind = STROBE_CFI_NONE;
    out->reg = reg;
    out->cfa_offset = (int32_t)offset;
}

static void set_bp(const struct rule *bp, struct strobe_cfi_row *out)
{
    STROBE_ASSERT(out->kind <= STROBE_CFI_PLT);
    int64_t offset = bp->offset;
    uint8_t reg;
    bool is_deref;
    out->bp = STROBE_CFI_BP_SAME;
    if (bp->kind == RULE_AT_CFA) {
        out->bp = STROBE_CFI_BP_AT_CFA;
    } else if (bp->kind == RULE_EXPRESSION) {
        if (!is_breg(bp->expression, &reg, &offset, &is_deref) || reg != REG_BP || is_deref)
            out->kind = STROBE_CFI_NONE;
        out->bp = STROBE_CFI_BP_AT_BP;
    } else if (bp->kind == RULE_OTHER) {
        out->kind = STROBE_CFI_NONE;
    }
    if (offset < INT16_MIN || offset > INT16_MAX)
        out->kind = STROBE_CFI_NONE;
    out->bp_offset = (int16_t)offset;
}

/* rbx carries the CFA in few functions, the dynamic linker's resolvers among them; others only pass it on. */
static void set_bx(const struct rule *bx, struct strobe_cfi_row *out)
{
    bool is_saved = bx->kind == RULE_AT_CFA && bx->offset < 0 &&
                    bx->offset > -8 * STROBE_CFI_BX_LOST && bx->offset % 8 == 0;
    out->bx = bx->kind == RULE_SAME ? 0 : STROBE_CFI_BX_LOST;
    if (is_saved)
        out->bx = (uint8_t)(-bx->offset / 8);
}

bool strobe_cfi_run(const struct strobe_cfi_entry *entry, uint64_t vaddr,
                    struct strobe_cfi_row *out, struct strobe_cfi_span *span)
{
    STROBE_ASSERT(entry->fde.at <= entry->fde.end && entry->cie.at <= entry->cie.end);
    struct strobe_bytes cie = entry->cie, fde = entry->fde;
    struct machine m = {.fde_vaddr = entry->fde_vaddr, .fde_start = entry->fde.at};
    memset(out, 0, sizeof *out);
    if (!read_cie(&m, &cie))
        return false;
    uint64_t begin = get_pointer(&fde, m.pointer_encoding, m.fde_vaddr);
    uint64_t n_bytes = get_pointer(&fde, m.pointer_encoding & 0x0f, 0);
    if (m.has_augmentation)
        get_block(&fde);
    if (fde.bad || vaddr < begin || vaddr - begin >= n_bytes)
        return false;
    m.pc = m.from = begin;
    bool is_known = run(&m, &fde, vaddr);
    if (span) {
        uint64_t end = begin + n_bytes < begin ? UINT64_MAX : begin + n_bytes;
        *span = (struct strobe_cfi_span){m.from, m.pc > vaddr && m.pc < end ? m.pc : end};
    }
    if (!is_known)
        return true; /* covered, and not understood: cut */
    set_cfa(&m.now, out);
    set_bp(&m.now.bp, out);
    set_bx(&m.now.bx, out);
    if (m.is_signal)
        out->kind = STROBE_CFI_SIGNAL;
    else if (m.now.ra.kind == RULE_UNDEFINED)
        out->kind = STROBE_CFI_END;
    else if (m.now.ra.kind != RULE_AT_CFA || m.now.ra.offset != -8)
        out->kind = STROBE_CFI_NONE;
    return true;
}
