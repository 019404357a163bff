/* cfi.h - what a file's call frame information (.eh_frame) says of one address, as a row of 12 bytes.
 *
 * Nothing is built ahead: .eh_frame_hdr is searched in the file by the address, the one description that
 * covers it is run, and the row that comes out is kept by the caller (unwind.h). So a library with 40 MB of
 * .eh_frame costs as much as a small one, and a file that was cut is a short read, not a fault.
 *
 * All bytes are a stranger's: every length is checked, an expression that is none of the known shapes
 * gives a row that ends the walk as cut. x86-64 only; elsewhere the kernel walks frame pointers.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_CFI_H
#define STROBE_SAMPLE_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the canonical frame address (the caller's stack pointer) is found. */
enum strobe_cfi_kind {
    STROBE_CFI_NONE = 0,  /* not known: the stack is cut here */
    STROBE_CFI_END = 1,   /* the return address is undefined: the outermost frame */
    STROBE_CFI_REG = 2,   /* register + cfa_offset */
    STROBE_CFI_DEREF = 3, /* what is at register + cfa_offset */
    STROBE_CFI_PLT =
        4, /* sp + 8, and 8 more from the byte `cfa_offset` of a 16-byte entry of the PLT onwards */
    STROBE_CFI_SIGNAL = 5 /* the kernel's signal frame at the stack pointer */
};

/* Where the caller's frame pointer is. */
enum strobe_cfi_bp {
    STROBE_CFI_BP_SAME = 0,
    STROBE_CFI_BP_AT_CFA = 1, /* at CFA + bp_offset */
    STROBE_CFI_BP_AT_BP = 2   /* at frame pointer + bp_offset */
};

struct strobe_cfi_row {
    int32_t cfa_offset;
    int16_t bp_offset;
    uint8_t kind; /* enum strobe_cfi_kind */
    uint8_t reg;  /* DWARF's number: 6 frame pointer, 7 stack pointer */
    uint8_t bp;   /* enum strobe_cfi_bp */
    uint8_t bx;   /* the caller's rbx is at CFA - 8 * bx; 0: it is the same */
};

enum { STROBE_CFI_BX_LOST = UINT8_MAX }; /* as bx: not known to the caller */

/* Link-time addresses that have the same row. */
struct strobe_cfi_span {
    uint64_t low, high; /* high: the first behind */
};

/* Parts of files that were read lately, for all files of one user: a search asks for a few bytes in many places, and most often for the same
 * ones as the search before. One thread. Zeroes are an empty one. */
enum { STROBE_CFI_PAGES = 64, STROBE_CFI_PAGE = 4096 };
struct strobe_cfi_pages {
    uint64_t keys[STROBE_CFI_PAGES];  /* the file's number and the part's; 0: empty */
    uint32_t sizes[STROBE_CFI_PAGES]; /* bytes that the file has of it */
    uint8_t bytes[STROBE_CFI_PAGES][STROBE_CFI_PAGE];
    uint32_t n_files; /* that were opened so far */
};

/* Bytes of an ELF file, or of one that is in memory (the vdso). */
struct strobe_cfi_source {
    int fd;                         /* borrowed; -1: `bytes` */
    struct strobe_cfi_pages *pages; /* borrowed: of fd; NULL: each byte is read from it anew */
    uint32_t number;                /* in `pages`, by strobe_cfi_open */
    const uint8_t *bytes;           /* borrowed */
    uint64_t n_bytes;               /* of `bytes` */
};

enum { STROBE_CFI_SEGMENTS = 16 };

/* A file's segments and its index of descriptions. */
struct strobe_cfi_file {
    struct strobe_cfi_source source;
    struct strobe_cfi_segment {
        uint64_t offset, vaddr, n_bytes; /* of the part that is in the file */
        bool is_exec;
    } segments[STROBE_CFI_SEGMENTS];
    uint32_t n_segments;
    uint64_t hdr_vaddr;   /* of .eh_frame_hdr */
    uint64_t table_vaddr; /* of its sorted table: pairs of i32, relative to hdr_vaddr */
    uint32_t n_fdes;      /* 0: the file has no index */
    uint8_t build_id[20];
    uint8_t n_build_id; /* 0: none */
    uint8_t *scratch;   /* owned by the opener's user: STROBE_CFI_SCRATCH bytes */
};

enum { STROBE_CFI_SCRATCH = 128 << 10 };

/* Read the headers. False: it is no ELF file of this machine. `scratch` is borrowed as long as the file. */
bool strobe_cfi_open(struct strobe_cfi_file *file, struct strobe_cfi_source source,
                     uint8_t *scratch);

/* The link-time address of an offset in the file, in an executable segment. False: it is in none. */
bool strobe_cfi_vaddr(const struct strobe_cfi_file *file, uint64_t offset, uint64_t *out);

/* The row of a link-time address; *span (NULL is allowed): all the addresses around it whose row it is. False: no description covers it. */
bool strobe_cfi_row(const struct strobe_cfi_file *file, uint64_t vaddr, struct strobe_cfi_row *out,
                    struct strobe_cfi_span *span);

#endif
