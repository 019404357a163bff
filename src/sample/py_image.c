/* py_image.c - see py_image.h. The dynamic symbols are there in stripped files too; the full table, where it is, has the evaluator's parts.
 * SPDX-License-Identifier: MIT */
#include "sample/py_image.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"

enum { SECTIONS_MAX = 512, TEXTS_MAX = 16 << 20, SYMBOLS_MAX = 1 << 20, AT_ONCE = 512 };

static bool read_all(int fd, uint64_t offset, void *out, size_t n)
{
    if (offset > INT64_MAX)
        return false;
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(fd, (char *)out + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static void take_symbol(const char *name, const Elf64_Sym *symbol, struct strobe_py_image *out)
{
    static const char evaluator[] = "_PyEval_EvalFrameDefault";
    const size_t n = sizeof evaluator - 1;
    STROBE_ASSERT(symbol->st_value);
    if (!strcmp(name, "_PyRuntime"))
        out->runtime = symbol->st_value;
    else if (!strcmp(name, "PyCode_Type"))
        out->code_type = symbol->st_value;
    else if (!strcmp(name, "Py_Version"))
        out->version = symbol->st_value;
    else if (!strncmp(name, evaluator, n) && (!name[n] || name[n] == '.') && symbol->st_size &&
             symbol->st_value + symbol->st_size > symbol->st_value &&
             out->n_evaluators < STROBE_PY_EVALUATORS)
        out->evaluators[out->n_evaluators++] =
            (struct strobe_py_range){symbol->st_value, symbol->st_value + symbol->st_size};
}

static void take_table(int fd, const Elf64_Shdr *table, const char *texts, uint64_t n_texts,
                       struct strobe_py_image *out)
{
    Elf64_Sym symbols[AT_ONCE];
    uint64_t n = table->sh_size / sizeof *symbols, left = n < SYMBOLS_MAX ? n : SYMBOLS_MAX;
    STROBE_ASSERT(n_texts && !texts[n_texts - 1]);
    for (uint64_t at = table->sh_offset; left;) {
        uint64_t now = left < AT_ONCE ? left : AT_ONCE;
        if (!read_all(fd, at, symbols, now * sizeof *symbols))
            return;
        for (uint64_t i = 0; i < now; i++)
            if (symbols[i].st_value && symbols[i].st_shndx && symbols[i].st_name < n_texts)
                take_symbol(texts + symbols[i].st_name, &symbols[i], out);
        at += now * sizeof *symbols;
        left -= now;
    }
}

static void read_table(int fd, const Elf64_Shdr *sections, uint32_t n_sections,
                       const Elf64_Shdr *table, struct strobe_py_image *out)
{
    STROBE_ASSERT(table >= sections && table < sections + n_sections);
    const Elf64_Shdr *names = table->sh_link < n_sections ? &sections[table->sh_link] : NULL;
    if (!names || !names->sh_size || names->sh_size > TEXTS_MAX)
        return;
    char *texts = malloc(names->sh_size);
    if (texts && read_all(fd, names->sh_offset, texts, names->sh_size)) {
        texts[names->sh_size - 1] = 0;
        take_table(fd, table, texts, names->sh_size, out);
    }
    free(texts);
}

bool strobe_py_image_read(int fd, struct strobe_py_image *out)
{
    Elf64_Ehdr head;
    memset(out, 0, sizeof *out);
    if (!read_all(fd, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_shentsize != sizeof(Elf64_Shdr) ||
        !head.e_shnum || head.e_shnum > SECTIONS_MAX)
        return false;
    Elf64_Shdr *sections = malloc(head.e_shnum * sizeof *sections);
    if (!sections || !read_all(fd, head.e_shoff, sections, head.e_shnum * sizeof *sections)) {
        free(sections);
        return false;
    }
    for (uint32_t i = 0; i < head.e_shnum; i++)
        if (sections[i].sh_type == SHT_DYNSYM)
            read_table(fd, sections, head.e_shnum, &sections[i], out);
    for (uint32_t i = 0; out->runtime && i < head.e_shnum; i++)
        if (sections[i].sh_type == SHT_SYMTAB)
            read_table(fd, sections, head.e_shnum, &sections[i], out);
    free(sections);
    return out->runtime != 0;
}

uint32_t strobe_py_image_minor(const char *path)
{
    const char *file = strrchr(path, '/'), *at = strstr(file ? file + 1 : path, "python3.");
    unsigned long minor = at ? strtoul(at + strlen("python3."), NULL, 10) : 0;
    return minor < 100 ? (uint32_t)minor : 0;
}
