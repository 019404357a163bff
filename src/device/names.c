/* names.c - sites in ELF sections and in source maps. Format: docs/device-protocol.md, "Ids and names".
 * SPDX-License-Identifier: MIT */
#include "device/names.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"

enum { SITE_BYTES = 16, LINE_MOST = 4096 };

uint16_t strobe_device_names_hash(const char *text, size_t n_bytes)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < n_bytes; i++)
        hash = (hash ^ (uint8_t)text[i]) * 16777619u;
    return (uint16_t)((hash & 0xffff) ^ hash >> 16);
}

/* A section: where in the file, and at which address. */
struct section {
    const uint8_t *bytes; /* borrowed; NULL: not there */
    uint64_t n_bytes, address;
};

/* What is needed of an ELF file of either class. */
struct elf {
    const uint8_t *bytes; /* borrowed */
    size_t n_bytes;
    bool is64;
    uint64_t table; /* of section headers */
    uint32_t n_sections, entry_bytes, names_index;
};

static bool within(const struct elf *elf, uint64_t at, uint64_t n)
{
    return at <= elf->n_bytes && n <= elf->n_bytes - at;
}

/* The header of section `index`: offset of its name, and where it is. False: out of the file. */
static bool section_at(const struct elf *elf, uint32_t index, uint32_t *name, struct section *out)
{
    uint64_t at = elf->table + (uint64_t)index * elf->entry_bytes, offset, size;
    if (!within(elf, at, elf->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)))
        return false;
    if (elf->is64) {
        Elf64_Shdr head;
        memcpy(&head, elf->bytes + at, sizeof head);
        *name = head.sh_name;
        offset = head.sh_offset;
        size = head.sh_size;
        out->address = head.sh_addr;
    } else {
        Elf32_Shdr head;
        memcpy(&head, elf->bytes + at, sizeof head);
        *name = head.sh_name;
        offset = head.sh_offset;
        size = head.sh_size;
        out->address = head.sh_addr;
    }
    if (!within(elf, offset, size))
        return false;
    STROBE_ASSERT(offset + size <= elf->n_bytes);
    out->bytes = elf->bytes + offset;
    out->n_bytes = size;
    return true;
}

static enum strobe_err open_elf(const void *bytes, size_t n_bytes, struct elf *elf)
{
    *elf = (struct elf){.bytes = bytes, .n_bytes = n_bytes};
    const uint8_t *ident = bytes;
    if (n_bytes < sizeof(Elf32_Ehdr) || memcmp(ident, ELFMAG, SELFMAG) ||
        ident[EI_DATA] != ELFDATA2LSB)
        return STROBE_ERR_FORMAT;
    elf->is64 = ident[EI_CLASS] == ELFCLASS64;
    if (elf->is64 && n_bytes >= sizeof(Elf64_Ehdr)) {
        Elf64_Ehdr head;
        memcpy(&head, bytes, sizeof head);
        elf->table = head.e_shoff;
        elf->n_sections = head.e_shnum;
        elf->entry_bytes = head.e_shentsize;
        elf->names_index = head.e_shstrndx;
    } else if (!elf->is64) {
        Elf32_Ehdr head;
        memcpy(&head, bytes, sizeof head);
        elf->table = head.e_shoff;
        elf->n_sections = head.e_shnum;
        elf->entry_bytes = head.e_shentsize;
        elf->names_index = head.e_shstrndx;
    } else {
        return STROBE_ERR_FORMAT;
    }
    return elf->table > n_bytes ? STROBE_ERR_FORMAT : STROBE_OK;
}

static void find_sections(const struct elf *elf, struct section *meta, struct section *texts)
{
    struct section names, found;
    uint32_t name;
    if (!section_at(elf, elf->names_index, &name, &names))
        return;
    for (uint32_t i = 0; i < elf->n_sections; i++) {
        if (!section_at(elf, i, &name, &found) || name >= names.n_bytes)
            continue;
        STROBE_ASSERT(name < names.n_bytes && names.bytes);
        const char *text = (const char *)names.bytes + name;
        size_t most = (size_t)(names.n_bytes - name);
        if (strnlen(text, most) == most)
            continue;
        if (!strcmp(text, ".tt_zone_meta"))
            *meta = found;
        else if (!strcmp(text, ".tt_zone_str"))
            *texts = found;
    }
}

/* The text at an address of the section. False: there is none. */
static bool text_at(const struct section *texts, uint32_t address, struct strobe_device_text *out)
{
    uint64_t at = address - texts->address;
    if (address < texts->address || at >= texts->n_bytes)
        return false;
    STROBE_ASSERT(texts->bytes);
    size_t most = (size_t)(texts->n_bytes - at), n = strnlen((const char *)texts->bytes + at, most);
    STROBE_ASSERT(n <= most && at + n <= texts->n_bytes);
    *out = (struct strobe_device_text){(const char *)texts->bytes + at, (uint32_t)n};
    return n < most;
}

/* A site's name as it stands in the source is in quotes where it is the argument of an event; without, that is a
 * number. True: it is a name; the quotes are taken off. `shown` and `name` differ then: the hash is of both. */
static bool unquote(struct strobe_device_text *name, bool *is_quoted)
{
    *is_quoted =
        name->n_bytes >= 2 && name->bytes[0] == '"' && name->bytes[name->n_bytes - 1] == '"';
    if (*is_quoted) {
        name->bytes++;
        name->n_bytes -= 2;
    }
    return name->n_bytes != 0;
}

static uint32_t hash_of(const struct strobe_device_text *name,
                        const struct strobe_device_text *file, uint32_t line)
{
    char text[LINE_MOST];
    int n = snprintf(text, sizeof text, "%.*s,%.*s,%u,KERNEL_PROFILER", (int)name->n_bytes,
                     name->bytes, (int)file->n_bytes, file->bytes, line);
    if (n < 0 || (size_t)n >= sizeof text)
        n = (int)sizeof text - 1;
    STROBE_ASSERT(n >= 0 && (size_t)n < sizeof text);
    return strobe_device_names_hash(text, (size_t)n);
}

enum strobe_err strobe_device_names_elf(const void *bytes, size_t n_bytes, bool classic,
                                        struct strobe_device_names_out *out)
{
    struct elf elf;
    struct section meta = {0}, texts = {0};
    enum strobe_err err = open_elf(bytes, n_bytes, &elf);
    if (err)
        return err;
    find_sections(&elf, &meta, &texts);
    for (uint64_t at = 0; meta.n_bytes - at >= SITE_BYTES; at += SITE_BYTES) {
        uint32_t site[4];
        struct strobe_device_name name = {0};
        bool is_quoted;
        STROBE_ASSERT(meta.bytes && at + SITE_BYTES <= meta.n_bytes);
        memcpy(site, meta.bytes + at, sizeof site);
        if (!text_at(&texts, site[1], &name.name) || !text_at(&texts, site[2], &name.file)) {
            out->n_bad++;
            continue;
        }
        name.line = site[3];
        name.id = classic ? hash_of(&name.name, &name.file, name.line) : STROBE_ST_ID(site[0]);
        name.flags = classic ? STROBE_NAME_CLASSIC : 0;
        if (unquote(&name.name, &is_quoted))
            out->name(out->context, &name);
    }
    out->n_bad += meta.n_bytes % SITE_BYTES != 0;
    return STROBE_OK;
}

/* ---- source maps ---- */

/* One line, without its end. Not inlined: with the sanitizers' checks of null in it, gcc 12 warns of a null that cannot be. */
__attribute__((noinline)) static bool read_line(const char *line, size_t n,
                                                struct strobe_device_name *out)
{
    static const char note[] = "'#pragma message: ", mark[] = ",KERNEL_PROFILER";
    const char *begin = memmem(line, n, note, sizeof note - 1);
    if (begin) {
        n -= (size_t)(begin + sizeof note - 1 - line);
        line = begin + sizeof note - 1;
    }
    const char *end = memmem(line, n, mark, sizeof mark - 1);
    if (!end)
        return false;
    const char *comma = memchr(line, ',', (size_t)(end - line));
    const char *number = end;
    while (number > line && number[-1] != ',')
        number--;
    if (!comma || number <= comma + 1 || number == end || end - number > 9)
        return false;
    *out = (struct strobe_device_name){.flags = STROBE_NAME_CLASSIC};
    for (const char *digit = number; digit < end; digit++) {
        if (*digit < '0' || *digit > '9')
            return false;
        out->line = 10 * out->line + (uint32_t)(*digit - '0');
    }
    STROBE_ASSERT(comma < number && number < end);
    STROBE_ASSERT(end + sizeof mark - 1 <= line + n);
    out->id = strobe_device_names_hash(line, (size_t)(end + sizeof mark - 1 - line));
    out->name = (struct strobe_device_text){line, (uint32_t)(comma - line)};
    out->file = (struct strobe_device_text){comma + 1, (uint32_t)(number - comma - 2)};
    return out->name.n_bytes != 0;
}

void strobe_device_names_log(const char *text, size_t n_bytes, struct strobe_device_names_out *out)
{
    for (size_t at = 0, n; at < n_bytes; at += n + 1) {
        const char *line = text + at, *stop = memchr(line, '\n', n_bytes - at);
        struct strobe_device_name name;
        n = stop ? (size_t)(stop - line) : n_bytes - at;
        STROBE_ASSERT(n <= n_bytes - at);
        if (n && n < LINE_MOST && read_line(line, n, &name))
            out->name(out->context, &name);
        else
            out->n_bad += n != 0;
    }
}

const char *strobe_device_names_fixed(uint32_t id, bool classic)
{
    if (classic)
        return id == 0x5150                   ? "PROFILER-NOC-QUICK-PUSH"
               : id == 0x5151                 ? "PROFILER-DRAM-PUSH"
               : id == 0x5152                 ? "PROFILER-NOC-FLUSH"
               : id == STROBE_ID_PERF_COUNTER ? "PERF-COUNTER"
               : id == STROBE_ID_NOC_EVENT    ? "NOC-EVENT"
                                              : NULL;
    switch (id) {
    case STROBE_ID_STALL:
        return "PROFILER-STALL";
    case STROBE_ID_STACK:
        return "STACK-OVERFLOW";
    case STROBE_ID_COUNTER:
        return "PERF-COUNTER";
    case STROBE_ID_NOC:
        return "NOC-EVENT";
    case STROBE_ID_NOC_LOCK:
        return "NOC-LOCK";
    default:
        return NULL;
    }
}
