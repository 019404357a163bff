/* cfi.c - see cfi.h. Headers and the search; the instructions of a description are run in cfi_run.c.
 * SPDX-License-Identifier: MIT */
#include "sample/cfi.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/varint.h"
#include "sample/cfi_run.h"

enum {
    HDR_BYTES = 12,      /* of .eh_frame_hdr in front of its table */
    PAIR_BYTES = 8,      /* of an entry of the table */
    ENC_HDR_TABLE = 0x3b /* relative to the header, i32: what every linker writes */
};

/* ---- bytes ---- */

static size_t read_file(int fd, uint64_t offset, void *out, size_t n)
{
    ssize_t got;
    STROBE_ASSERT(fd >= 0);
    if (offset > INT64_MAX)
        return 0;
    do
        got = pread(fd, out, n, (off_t)offset);
    while (got < 0 && errno == EINTR);
    return got < 0 ? 0 : (size_t)got;
}

/* From one part of the file: as many of `n` bytes as are in it. */
static size_t read_page(const struct strobe_cfi_source *source, uint64_t offset, void *out,
                        size_t n)
{
    struct strobe_cfi_pages *pages = source->pages;
    uint64_t page = offset / STROBE_CFI_PAGE, in = offset % STROBE_CFI_PAGE;
    uint64_t key = (uint64_t)source->number << 40 ^ page;
    uint32_t i = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) % STROBE_CFI_PAGES;
    STROBE_ASSERT(source->number && page < 1ull << 40);
    if (pages->keys[i] != key) {
        pages->keys[i] = key;
        pages->sizes[i] = (uint32_t)read_file(source->fd, page * STROBE_CFI_PAGE, pages->bytes[i],
                                              STROBE_CFI_PAGE);
    }
    if (in >= pages->sizes[i])
        return 0;
    size_t left = pages->sizes[i] - in < n ? (size_t)(pages->sizes[i] - in) : n;
    memcpy(out, pages->bytes[i] + in, left);
    return left;
}

static size_t read_at(const struct strobe_cfi_source *source, uint64_t offset, void *out, size_t n)
{
    size_t done = 0, got;
    if (source->fd < 0) {
        if (offset >= source->n_bytes)
            return 0;
        size_t left = source->n_bytes - offset < n ? (size_t)(source->n_bytes - offset) : n;
        memcpy(out, source->bytes + offset, left);
        return left;
    }
    if (!source->pages || !source->number || n > STROBE_CFI_PAGE || offset >> 52)
        return read_file(source->fd, offset, out, n);
    while (done < n &&
           (got = read_page(source, offset + done, (uint8_t *)out + done, n - done)) > 0)
        done += got;
    return done;
}

/* At a link-time address: as many of `n` bytes as the segment and the file have. */
static size_t read_vaddr(const struct strobe_cfi_file *file, uint64_t vaddr, void *out, size_t n)
{
    STROBE_ASSERT(file->n_segments <= STROBE_CFI_SEGMENTS);
    for (uint32_t i = 0; i < file->n_segments; i++) {
        const struct strobe_cfi_segment *segment = &file->segments[i];
        uint64_t in = vaddr - segment->vaddr;
        if (vaddr < segment->vaddr || in >= segment->n_bytes)
            continue;
        size_t left = segment->n_bytes - in < n ? (size_t)(segment->n_bytes - in) : n;
        return read_at(&file->source, segment->offset + in, out, left);
    }
    return 0;
}

/* ---- headers ---- */

static void add_segment(struct strobe_cfi_file *file, const Elf64_Phdr *at)
{
    STROBE_ASSERT(file->n_segments <= STROBE_CFI_SEGMENTS);
    if (file->n_segments == STROBE_CFI_SEGMENTS || at->p_vaddr + at->p_filesz < at->p_vaddr)
        return;
    file->segments[file->n_segments++] = (struct strobe_cfi_segment){
        at->p_offset, at->p_vaddr, at->p_filesz, (at->p_flags & PF_X) != 0};
}

/* The notes of one segment: the build id among them. */
static void read_notes(struct strobe_cfi_file *file, const Elf64_Phdr *at)
{
    STROBE_ASSERT(at->p_type == PT_NOTE);
    uint8_t notes[1024];
    size_t n = read_at(&file->source, at->p_offset, notes,
                       at->p_filesz < sizeof notes ? at->p_filesz : sizeof notes);
    for (size_t i = 0; n - i >= sizeof(Elf64_Nhdr) && i < n;) {
        Elf64_Nhdr note;
        memcpy(&note, notes + i, sizeof note);
        size_t name = i + sizeof note, text = name + (((size_t)note.n_namesz + 3) & ~(size_t)3);
        size_t end = text + (((size_t)note.n_descsz + 3) & ~(size_t)3);
        if (text > n || end > n || text < name || end < text)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            !memcmp(notes + name, "GNU", 4) && note.n_descsz <= sizeof file->build_id) {
            file->n_build_id = (uint8_t)note.n_descsz;
            memcpy(file->build_id, notes + text, note.n_descsz);
        }
        i = end;
    }
}

/* .eh_frame_hdr: version 1, three encodings, where .eh_frame is, how many; then the table. */
static void read_index(struct strobe_cfi_file *file, uint64_t vaddr)
{
    STROBE_ASSERT(!file->n_fdes);
    enum { VERSION = 1, UDATA4 = 3, SIZE4_MASK = 0x0f, SDATA4 = 0x0b };
    uint8_t head[HDR_BYTES];
    uint32_t n_fdes;
    if (read_vaddr(file, vaddr, head, sizeof head) != sizeof head || head[0] != VERSION ||
        ((head[1] & SIZE4_MASK) != SDATA4 && (head[1] & SIZE4_MASK) != UDATA4) ||
        head[2] != UDATA4 || head[3] != ENC_HDR_TABLE)
        return;
    memcpy(&n_fdes, head + 8, sizeof n_fdes);
    file->hdr_vaddr = vaddr;
    file->table_vaddr = vaddr + HDR_BYTES;
    file->n_fdes = n_fdes;
}

bool strobe_cfi_open(struct strobe_cfi_file *file, struct strobe_cfi_source source,
                     uint8_t *scratch)
{
    enum { PHDRS_MAX = 64 };
    Elf64_Ehdr head;
    Elf64_Phdr phdrs[PHDRS_MAX];
    uint64_t index = 0;
    STROBE_ASSERT(scratch);
    memset(file, 0, sizeof *file);
    if (source.pages) /* past the last number, files are read without */
        source.number = source.pages->n_files < 1 << 23 ? ++source.pages->n_files : 0;
    file->source = source;
    file->scratch = scratch;
    if (read_at(&source, 0, &head, sizeof head) != sizeof head ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_phentsize != sizeof phdrs[0])
        return false;
    size_t n = head.e_phnum < PHDRS_MAX ? head.e_phnum : PHDRS_MAX;
    n = read_at(&source, head.e_phoff, phdrs, n * sizeof phdrs[0]) / sizeof phdrs[0];
    for (size_t i = 0; i < n; i++)
        if (phdrs[i].p_type == PT_LOAD)
            add_segment(file, &phdrs[i]);
        else if (phdrs[i].p_type == PT_NOTE)
            read_notes(file, &phdrs[i]);
        else if (phdrs[i].p_type == PT_GNU_EH_FRAME)
            index = phdrs[i].p_vaddr;
    if (index && head.e_machine == EM_X86_64)
        read_index(file, index);
    return file->n_segments > 0;
}

bool strobe_cfi_vaddr(const struct strobe_cfi_file *file, uint64_t offset, uint64_t *out)
{
    STROBE_ASSERT(file->n_segments <= STROBE_CFI_SEGMENTS);
    for (uint32_t i = 0; i < file->n_segments; i++) {
        const struct strobe_cfi_segment *segment = &file->segments[i];
        /* a mapping begins at a page, which may begin before its segment */
        uint64_t page = segment->offset & ~(uint64_t)4095;
        if (segment->is_exec && offset >= page && offset < segment->offset + segment->n_bytes) {
            *out = segment->vaddr + (offset - segment->offset);
            return true;
        }
    }
    return false;
}

/* ---- the search ---- */

static bool read_pair(const struct strobe_cfi_file *file, uint32_t i, int32_t pair[2])
{
    STROBE_ASSERT(i < file->n_fdes);
    return read_vaddr(file, file->table_vaddr + (uint64_t)i * PAIR_BYTES, pair, PAIR_BYTES) ==
           PAIR_BYTES;
}

/* The description whose begin is the last one not after the address, and in *end where the next one begins. 0: none. */
static uint64_t find_fde(const struct strobe_cfi_file *file, uint64_t vaddr, uint64_t *end)
{
    STROBE_ASSERT(file->n_fdes && file->hdr_vaddr);
    uint32_t low = 0, high = file->n_fdes;
    int32_t pair[2], found = 0;
    bool is_found = false;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (!read_pair(file, middle, pair))
            return 0;
        if (file->hdr_vaddr + (uint64_t)(int64_t)pair[0] <= vaddr) {
            is_found = true;
            found = pair[1];
            low = middle + 1;
        } else {
            high = middle;
            *end = file->hdr_vaddr + (uint64_t)(int64_t)pair[0];
        }
    }
    STROBE_ASSERT(low == high && *end > vaddr);
    return is_found ? file->hdr_vaddr + (uint64_t)(int64_t)found : 0;
}

/* A record of .eh_frame at `vaddr`: its bytes behind the length go to `out`. Their number, 0: none, or too many. */
static size_t read_entry(const struct strobe_cfi_file *file, uint64_t vaddr, uint8_t *out,
                         size_t room)
{
    STROBE_ASSERT(room >= 4);
    uint32_t n_bytes;
    if (read_vaddr(file, vaddr, &n_bytes, sizeof n_bytes) != sizeof n_bytes || n_bytes < 4 ||
        n_bytes > room)
        return 0;
    return read_vaddr(file, vaddr + 4, out, n_bytes) == n_bytes ? n_bytes : 0;
}

bool strobe_cfi_row(const struct strobe_cfi_file *file, uint64_t vaddr, struct strobe_cfi_row *out,
                    struct strobe_cfi_span *span)
{
    STROBE_ASSERT(file->scratch);
    uint64_t end = UINT64_MAX, at = file->n_fdes ? find_fde(file, vaddr, &end) : 0;
    uint8_t *fde = file->scratch, *cie = file->scratch + STROBE_CFI_SCRATCH / 2;
    uint32_t back;
    memset(out, 0, sizeof *out);
    size_t n_fde = at ? read_entry(file, at, fde, STROBE_CFI_SCRATCH / 2) : 0;
    if (!n_fde)
        return false;
    memcpy(&back, fde, sizeof back); /* from its own place back to the common part */
    size_t n_cie = back ? read_entry(file, at + 4 - back, cie, STROBE_CFI_SCRATCH / 2) : 0;
    if (!n_cie)
        return false;
    struct strobe_cfi_entry entry = {
        .cie = strobe_bytes_over(cie, n_cie),
        .fde = strobe_bytes_over(fde + 4, n_fde - 4),
        .fde_vaddr = at + 8,
    };
    bool is_covered = strobe_cfi_run(&entry, vaddr, out, span);
    if (is_covered && span && span->high > end)
        span->high = end;
    return is_covered;
}
