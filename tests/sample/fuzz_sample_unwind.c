/* fuzz_sample_unwind.c - call frame information of a hostile file, and the walk by it.
 *
 * An input is: what (bit 0: the rest is a file, else a common part and a description), n_stack, u16 length of the common part, u32 address;
 * then a file, or both parts. A file is asked for rows all over its segments, and a stack made of the input's last bytes is
 * walked with it.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz/seeds.h"
#include "sample/cfi_run.h"
#include "sample/unwind.h"

enum { HEAD_BYTES = 8, STEPS = 24, STACK_WORDS = 256 };

static uint8_t scratch[STROBE_CFI_SCRATCH];

static void walk_parts(const uint8_t *data, size_t size, size_t n_cie, uint64_t vaddr)
{
    struct strobe_cfi_row row;
    n_cie = n_cie < size ? n_cie : size;
    struct strobe_cfi_entry entry = {.cie = strobe_bytes_over(data, n_cie),
                                     .fde = strobe_bytes_over(data + n_cie, size - n_cie),
                                     .fde_vaddr = vaddr};
    for (uint64_t i = 0; i < 64; i++) {
        struct strobe_cfi_row other;
        struct strobe_cfi_span span;
        uint64_t at = vaddr + i * 3;
        if (!strobe_cfi_run(&entry, at, &row, &span))
            continue;
        if (row.kind > STROBE_CFI_SIGNAL || at < span.low || at >= span.high)
            abort();
        for (uint64_t k = 0; k < 3; k++) { /* all of the span has the row */
            uint64_t near = k == 0 ? span.low : k == 1 ? span.high - 1 : at + (span.high - at) / 2;
            if (!strobe_cfi_run(&entry, near, &other, NULL) || memcmp(&row, &other, sizeof row))
                abort();
        }
    }
}

/* A stack whose words are near the file's code. */
static void walk_stack(struct strobe_sample_module *module, const uint8_t *data, size_t size,
                       uint8_t n_stack)
{
    static struct strobe_unwinder unwinder;
    static struct strobe_unwind_stack stack;
    static uint64_t words[STACK_WORDS];
    struct strobe_maps maps = {0};
    struct strobe_unwind_sample sample = {.stack = (const uint8_t *)words,
                                          .n_stack = n_stack * sizeof *words};
    memset(&unwinder, 0, sizeof unwinder);
    for (uint32_t i = 0; i < module->cfi.n_segments; i++)
        strobe_maps_add(&maps,
                        (struct strobe_mapping){
                            .start = 0x10000 + module->cfi.segments[i].vaddr % (1 << 24),
                            .end = 0x20000 + module->cfi.segments[i].vaddr % (1 << 24) + size,
                            .offset = module->cfi.segments[i].offset,
                            .module = module});
    for (size_t i = 0; i < STACK_WORDS; i++)
        words[i] = 0x10000 + data[size - 1 - i % size] * 16ull + i % 7;
    sample.regs[STROBE_UNWIND_SP] = 0x7000000;
    sample.regs[STROBE_UNWIND_BP] = 0x7000000 + data[0];
    sample.regs[STROBE_UNWIND_IP] = words[0];
    strobe_unwind_run(&unwinder, &maps, &sample, &stack);
    if (!stack.n || stack.n > STROBE_UNWIND_MAX)
        abort();
    strobe_maps_free(&maps);
}

static void walk_file(const uint8_t *data, size_t size, uint64_t vaddr, uint8_t n_stack)
{
    struct strobe_sample_module module = {.id = 1, .fd = -1};
    struct strobe_cfi_row row;
    struct strobe_cfi_source source = {.fd = -1, .bytes = data, .n_bytes = size};
    module.has_cfi = strobe_cfi_open(&module.cfi, source, scratch);
    if (!module.has_cfi)
        return;
    for (uint32_t i = 0; i < module.cfi.n_segments; i++)
        for (uint64_t step = 0; step < STEPS; step++)
            strobe_cfi_row(&module.cfi, module.cfi.segments[i].vaddr + step * size / STEPS, &row,
                           NULL);
    strobe_cfi_row(&module.cfi, vaddr, &row, NULL);
    walk_stack(&module, data, size, n_stack);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint16_t n_cie;
    uint32_t vaddr;
    if (size <= HEAD_BYTES)
        return 0;
    memcpy(&n_cie, data + 2, sizeof n_cie);
    memcpy(&vaddr, data + 4, sizeof vaddr);
    if (data[0] & 1)
        walk_file(data + HEAD_BYTES, size - HEAD_BYTES, vaddr, data[1]);
    else
        walk_parts(data + HEAD_BYTES, size - HEAD_BYTES, n_cie, vaddr);
    return 0;
}
