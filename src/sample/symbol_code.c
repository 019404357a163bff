/* symbol_code.c - see symbol_code.h.  SPDX-License-Identifier: MIT */
#include "sample/symbol_code.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/assert.h"

void strobe_symbol_code_free(struct strobe_symbol_codes *codes)
{
    free(codes->rows);
    memset(codes, 0, sizeof *codes);
}

/* Samples at a place, of all processes that have been there. */
static uint64_t hits_at(const struct strobe_wanted *wanted, uint32_t row)
{
    const struct strobe_wanted_row *rows = wanted->rows;
    uint64_t n = 0;
    for (uint32_t i = row; i < wanted->n; i++) {
        if (rows[i].module != rows[row].module || rows[i].vaddr != rows[row].vaddr)
            break;
        n += rows[i].n_hits;
    }
    return n;
}

/* Where a link-time address is in the file, and how many bytes of its segment are from there on. False: in none. */
static bool find_offset(Dwfl_Module *elf, uint64_t vaddr, uint64_t *offset, uint64_t *n_left)
{
    GElf_Addr bias;
    GElf_Phdr segment;
    Elf *file = dwfl_module_getelf(elf, &bias);
    size_t n = 0;
    if (!file || elf_getphdrnum(file, &n))
        return false;
    for (size_t i = 0; i < n && i < INT32_MAX; i++) {
        if (!gelf_getphdr(file, (int)i, &segment) || segment.p_type != PT_LOAD ||
            vaddr < segment.p_vaddr || vaddr - segment.p_vaddr >= segment.p_filesz)
            continue;
        *offset = segment.p_offset + (vaddr - segment.p_vaddr);
        *n_left = segment.p_filesz - (vaddr - segment.p_vaddr);
        return true;
    }
    return false;
}

void strobe_symbol_code_note(struct strobe_symbol_codes *codes, const struct strobe_wanted *wanted,
                             uint32_t row, Dwfl_Module *elf, uint64_t into, uint64_t size)
{
    STROBE_ASSERT(row < wanted->n);
    const struct strobe_wanted_row *at = &wanted->rows[row];
    struct strobe_symbol_code *last = codes->n ? &codes->rows[codes->n - 1] : NULL;
    uint64_t n_hits = hits_at(wanted, row), n_left;
    codes->n_hits += n_hits;
    if (last && last->module == at->module && last->vaddr == at->vaddr - into) {
        last->n_hits += n_hits;
        return;
    }
    struct strobe_symbol_code code = {.row = row,
                                      .module = at->module,
                                      .vaddr = at->vaddr - into,
                                      .size = size,
                                      .into = into,
                                      .n_hits = n_hits};
    if (into >= size || into > at->vaddr || into > at->address ||
        codes->n == STROBE_SYMBOL_CODE_ROWS ||
        !find_offset(elf, code.vaddr, &code.offset, &n_left) ||
        STROBE_ARRAY_RESERVE(codes->rows, codes->room, codes->n + 1ull))
        return;
    code.size = code.size < n_left ? code.size : n_left;
    codes->rows[codes->n++] = code;
}

static int by_hits(const void *a, const void *b)
{
    const struct strobe_symbol_code *x = a, *y = b;
    if (x->n_hits != y->n_hits)
        return x->n_hits > y->n_hits ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* All of a function, piece by piece. */
static void write_one(const struct strobe_symbol_code *code, int fd, FILE *out)
{
    uint8_t bytes[STROBE_SYMBOL_PIECE];
    STROBE_ASSERT(fd >= 0 && code->size <= STROBE_SYMBOL_CODE_ONE);
    for (uint64_t at = 0; at < code->size;) {
        size_t n = code->size - at < sizeof bytes ? (size_t)(code->size - at) : sizeof bytes;
        if (pread(fd, bytes, n, (off_t)(code->offset + at)) != (ssize_t)n)
            return;
        struct strobe_symbol_answer what = {.row = code->row,
                                            .inlined = (uint32_t)at,
                                            .line = (uint32_t)code->size,
                                            .n_code = (uint16_t)n,
                                            .into = code->into};
        fwrite(&what, sizeof what, 1, out);
        fwrite(bytes, 1, n, out);
        at += n;
    }
}

void strobe_symbol_code_write(struct strobe_symbol_codes *codes,
                              const struct strobe_modules *modules, FILE *out)
{
    uint64_t n_bytes = 0;
    if (codes->n)
        qsort(codes->rows, codes->n, sizeof *codes->rows, by_hits);
    for (uint32_t i = 0; i < codes->n; i++) {
        struct strobe_symbol_code *code = &codes->rows[i];
        STROBE_ASSERT(code->module && code->module <= modules->n);
        if (code->n_hits < STROBE_SYMBOL_CODE_LEAST ||
            code->n_hits * STROBE_SYMBOL_CODE_SHARE < codes->n_hits)
            break;
        if (code->size > STROBE_SYMBOL_CODE_ONE)
            code->size = STROBE_SYMBOL_CODE_ONE;
        if (code->size > STROBE_SYMBOL_CODE - n_bytes)
            continue;
        n_bytes += code->size;
        write_one(code, modules->items[code->module - 1]->fd, out);
    }
}
