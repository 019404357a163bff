/* module.c - a disassembler as the page's third WebAssembly module: the page hands over machine code and gets its instructions as text, with a server and without
 * one. The decoder is Capstone (cmake/wasm.cmake).  SPDX-License-Identifier: MIT */
#include <capstone/capstone.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/out.h"

#define EXPORT(name) __attribute__((export_name(name), used))

/* Instruction sets, as the page numbers them. */
enum { X86_64 = 0, ARM64 = 1 };

EXPORT("alloc") void *strobe_code_alloc(uint32_t n)
{
    return malloc(n ? n : 1);
}

EXPORT("free") void strobe_code_free(void *at)
{
    free(at);
}

static int open_decoder(uint32_t machine, csh *decoder)
{
    cs_err err = machine == ARM64 ? cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, decoder)
                                  : cs_open(CS_ARCH_X86, CS_MODE_64, decoder);
    return !err && !cs_option(*decoder, CS_OPT_SKIPDATA, CS_OPT_ON);
}

/* The instructions of n bytes that lie at an address (its halves), one in a line: distance from the start, bytes, words. What can't be
 * decoded is ".byte". With a NUL, to be freed; NULL without memory. */
EXPORT("disassemble")
char *strobe_code_disassemble(uint32_t machine, const uint8_t *bytes, uint32_t n, uint32_t high,
                              uint32_t low)
{
    struct strobe_out out = {0};
    uint64_t start = (uint64_t)high << 32 | low, address = start;
    size_t left = n;
    csh decoder;
    if (!open_decoder(machine, &decoder))
        return NULL;
    cs_insn *insn = cs_malloc(decoder);
    while (insn && cs_disasm_iter(decoder, &bytes, &left, &address, insn)) {
        strobe_out_format(&out, "%u %u %s%s%s\n", (unsigned)(insn->address - start),
                          (unsigned)insn->size, insn->mnemonic, *insn->op_str ? " " : "",
                          insn->op_str);
    }
    if (insn)
        cs_free(insn, 1);
    cs_close(&decoder);
    strobe_out_char(&out, 0);
    if (out.error || !insn) {
        strobe_out_free(&out);
        return NULL;
    }
    return out.at;
}
