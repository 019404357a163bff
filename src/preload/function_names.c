/* function_names.c - the name of a function by its address, out of the symbols of its file, and whether the user wants it.
 *
 * A file's symbols are sorted once. A location's file is "PATH+0xADDRESS" here, the address as in the file: the recorder looks up source
 * file, line and the whole name by it at the end (sample/addresses.h). Names of C++ are cut to their scopes and the function's own name.
 * Files are a stranger's: nothing is read outside of them.  SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/functions.h"
#include "preload/preload.h"
#include "sample/chosen.h"

enum {
    IMAGES = 128,
    TEXT = 600,       /* of a path or a name */
    ARENA = 16 << 20, /* of all texts */
    PATTERNS = 8 << 10,
};

struct symbol {
    uint64_t address;
    const char *name; /* borrowed from the file, which stays mapped */
    uint64_t n_bytes;
};

/* A file's symbols. */
struct image {
    uint64_t start, end; /* of its code; the same: it is mapped no more */
    uint64_t bias;
    char path[TEXT];
    const uint8_t *bytes; /* owned for good: locations point into it */
    uint64_t n_bytes;
    struct symbol *symbols; /* owned for good: sorted by address */
    uint64_t n_symbols;
};

static struct image *images; /* owned: IMAGES */
static uint32_t n_images;
static char *arena; /* owned: ARENA bytes, n_arena used */
static size_t n_arena;
static char patterns[PATTERNS]; /* a line each; "": all functions */

/* ---- symbols ---- */

static const void *part_of(const struct image *image, uint64_t at, uint64_t n)
{
    return at <= image->n_bytes && n <= image->n_bytes - at ? image->bytes + at : NULL;
}

static void sift(struct symbol *symbols, uint64_t at, uint64_t n)
{
    for (uint64_t child; (child = 2 * at + 1) < n; at = child) {
        child += child + 1 < n && symbols[child + 1].address > symbols[child].address;
        if (symbols[at].address >= symbols[child].address)
            return;
        struct symbol other = symbols[at];
        symbols[at] = symbols[child];
        symbols[child] = other;
    }
}

/* qsort may allocate. */
static void sort(struct symbol *symbols, uint64_t n)
{
    for (uint64_t i = n / 2; i-- > 0;)
        sift(symbols, i, n);
    for (uint64_t i = n; i-- > 1;) {
        struct symbol other = symbols[0];
        symbols[0] = symbols[i];
        symbols[i] = other;
        sift(symbols, 0, i);
    }
}

static bool is_function(const Elf64_Sym *symbol)
{
    int type = ELF64_ST_TYPE(symbol->st_info);
    return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx && symbol->st_value;
}

/* A name that ends inside of the table. NULL: it does not. */
static const char *name_at(const char *names, uint64_t n_names, uint32_t at)
{
    return at < n_names && memchr(names + at, 0, n_names - at) ? names + at : NULL;
}

static bool read_symbols(struct image *image, const Elf64_Shdr *table, const Elf64_Shdr *texts)
{
    const Elf64_Sym *all = part_of(image, table->sh_offset, table->sh_size);
    const char *names = part_of(image, texts->sh_offset, texts->sh_size);
    uint64_t n_all = table->sh_size / sizeof *all, n = 0;
    if (!all || !names || table->sh_offset % 8)
        return false;
    for (uint64_t i = 0; i < n_all; i++)
        n += is_function(&all[i]);
    image->symbols = n ? strobe_preload_map(n * sizeof *image->symbols) : NULL;
    for (uint64_t i = 0; image->symbols && i < n_all; i++) {
        const char *name =
            is_function(&all[i]) ? name_at(names, texts->sh_size, all[i].st_name) : NULL;
        if (name && *name)
            image->symbols[image->n_symbols++] =
                (struct symbol){all[i].st_value, name, all[i].st_size};
    }
    sort(image->symbols, image->n_symbols);
    return image->n_symbols != 0;
}

/* The table of this type and what it names are in. */
static bool find_symbols(struct image *image, const Elf64_Ehdr *head, uint32_t type)
{
    const Elf64_Shdr *sections =
        part_of(image, head->e_shoff, (uint64_t)head->e_shnum * sizeof *sections);
    for (uint32_t i = 0; sections && head->e_shoff % 8 == 0 && i < head->e_shnum; i++)
        if (sections[i].sh_type == type && sections[i].sh_link < head->e_shnum &&
            read_symbols(image, &sections[i], &sections[sections[i].sh_link]))
            return true;
    return false;
}

/* What addresses of the file are off by in memory, by the part of it that `at` bytes of it are in. */
static bool find_bias(struct image *image, const Elf64_Ehdr *head, uint64_t pc, uint64_t at)
{
    const Elf64_Phdr *parts =
        part_of(image, head->e_phoff, (uint64_t)head->e_phnum * sizeof *parts);
    for (uint32_t i = 0; parts && head->e_phoff % 8 == 0 && i < head->e_phnum; i++)
        if (parts[i].p_type == PT_LOAD && at >= parts[i].p_offset &&
            at - parts[i].p_offset < parts[i].p_filesz) {
            image->bias = pc - (at - parts[i].p_offset + parts[i].p_vaddr);
            return true;
        }
    return false;
}

static const Elf64_Ehdr *head_of(const struct image *image)
{
    const Elf64_Ehdr *head = part_of(image, 0, sizeof *head);
    bool is_elf = head && !memcmp(head->e_ident, ELFMAG, SELFMAG) &&
                  head->e_ident[EI_CLASS] == ELFCLASS64 &&
                  head->e_phentsize == sizeof(Elf64_Phdr) &&
                  (!head->e_shnum || head->e_shentsize == sizeof(Elf64_Shdr));
    return is_elf ? head : NULL;
}

/* ---- files ---- */

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* One that was mapped before, and is the same file still: byte by byte, as it may have been built anew. */
static struct image *find_old(const char *path, const uint8_t *bytes, uint64_t n_bytes)
{
    for (uint32_t i = 0; i < n_images; i++)
        if (images[i].start == images[i].end && !strcmp(images[i].path, path) &&
            images[i].n_bytes == n_bytes && !memcmp(images[i].bytes, bytes, n_bytes))
            return &images[i];
    return NULL;
}

static struct image *open_image(uint64_t pc, const struct strobe_preload_file *file)
{
    uint64_t n_bytes = 0;
    const char *path = strlen(file->path) < TEXT ? file->path : base_of(file->path);
    size_t n_path = strlen(path);
    const uint8_t *bytes = strobe_preload_map_code(file, &n_bytes);
    struct image *image = bytes ? find_old(path, bytes, n_bytes) : NULL;
    bool is_old = image != NULL;
    if (is_old)
        munmap((void *)(uintptr_t)bytes, n_bytes);
    else if (!bytes || n_images == IMAGES || n_path >= TEXT)
        return NULL;
    else
        image = &images[n_images];
    if (!is_old) {
        *image = (struct image){.bytes = bytes, .n_bytes = n_bytes};
        memcpy(image->path, path, n_path + 1);
    }
    const Elf64_Ehdr *head = head_of(image);
    if (!head || !find_bias(image, head, pc, pc - file->start + file->offset)) {
        if (!is_old)
            munmap((void *)(uintptr_t)bytes, n_bytes);
        return NULL;
    }
    if (!is_old && !find_symbols(image, head, SHT_SYMTAB))
        find_symbols(image, head, SHT_DYNSYM);
    image->start = file->start;
    image->end = file->end;
    n_images += !is_old;
    return image;
}

static struct image *image_of(uint64_t pc)
{
    struct strobe_preload_file file;
    if (!images)
        images = strobe_preload_map(IMAGES * sizeof *images);
    for (uint32_t i = 0; images && i < n_images; i++)
        if (pc >= images[i].start && pc < images[i].end)
            return &images[i];
    return images && strobe_preload_file_of(pc, &file) ? open_image(pc, &file) : NULL;
}

void strobe_function_forget_file(uint64_t low, uint64_t high)
{
    for (uint32_t i = 0; i < n_images; i++)
        if (images[i].start >= low && images[i].end <= high)
            images[i].end = images[i].start;
}

/* The symbol that begins at an address of the file; NULL: none does. */
static const struct symbol *symbol_at(const struct image *image, uint64_t address)
{
    uint64_t low = 0, high = image->n_symbols;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (image->symbols[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < image->n_symbols && image->symbols[low].address == address ? &image->symbols[low]
                                                                            : NULL;
}

bool strobe_function_section(uint64_t pc, const char *name, uint64_t *start, uint64_t *n_bytes)
{
    const struct image *image = image_of(pc);
    const Elf64_Ehdr *head = image ? head_of(image) : NULL;
    const Elf64_Shdr *sections =
        head ? part_of(image, head->e_shoff, (uint64_t)head->e_shnum * sizeof *sections) : NULL;
    if (!sections || head->e_shoff % 8 || head->e_shstrndx >= head->e_shnum)
        return false;
    uint64_t n_names = sections[head->e_shstrndx].sh_size;
    const char *names = part_of(image, sections[head->e_shstrndx].sh_offset, n_names);
    for (uint32_t i = 0; names && i < head->e_shnum; i++) {
        const char *its = name_at(names, n_names, sections[i].sh_name);
        if (its && !strcmp(its, name) && sections[i].sh_flags & SHF_ALLOC) {
            *start = sections[i].sh_addr + image->bias;
            *n_bytes = sections[i].sh_size;
            return true;
        }
    }
    return false;
}

/* ---- names ---- */

struct text {
    char bytes[TEXT];
    size_t n;
};

static void put(struct text *text, const char *bytes, size_t n)
{
    if (n < TEXT - text->n) {
        memcpy(text->bytes + text->n, bytes, n);
        text->n += n;
    }
    text->bytes[text->n] = 0;
}

static void put_address(struct text *text, uint64_t address)
{
    static const char digits[] = "0123456789abcdef";
    char hex[19];
    int at = sizeof hex;
    do
        hex[--at] = digits[address & 15];
    while (address >>= 4);
    put(text, "0x", 2);
    put(text, hex + at, sizeof hex - (size_t)at);
}

static char *keep(const struct text *text)
{
    if (!arena)
        arena = strobe_preload_map(ARENA);
    if (!arena || ARENA - n_arena <= text->n)
        return NULL;
    char *at = memcpy(arena + n_arena, text->bytes, text->n + 1);
    n_arena += text->n + 1;
    return at;
}

/* What is there already stays, and so does its number with the recorder. */
static bool set_loc(struct strobe_loc *loc, const struct text *function, const struct text *file)
{
    if (loc->function && !strcmp(loc->function, function->bytes) && !strcmp(loc->file, file->bytes))
        return true;
    const char *kept = keep(function), *kept_file = kept ? keep(file) : NULL;
    if (!kept_file)
        return false;
    __atomic_store_n(&loc->word, 0, __ATOMIC_SEQ_CST);
    loc->function = kept;
    loc->file = kept_file;
    return true;
}

bool strobe_function_name(struct strobe_function *function, uint64_t address)
{
    const struct image *image = image_of(address);
    struct text name = {.n = 0}, file = {.n = 0};
    if (!image) { /* code of no file that can be read: it is called by its address */
        put_address(&name, address);
        function->is_left_out = !strobe_function_is_wanted("", name.bytes);
        return function->is_left_out || set_loc(&function->loc, &name, &file);
    }
    const struct symbol *known = symbol_at(image, address - image->bias);
    const char *symbol = known ? known->name : NULL, *base = base_of(image->path);
    put(&file, image->path, strlen(image->path));
    put(&file, "+", 1);
    put_address(&file, address - image->bias);
    if (!symbol) {
        put(&name, base, strlen(base));
        put(&name, "+", 1);
        put_address(&name, address - image->bias);
    } else {
        name.n = strobe_chosen_scopes(symbol, name.bytes, sizeof name.bytes);
        if (!name.n)
            put(&name, symbol, strlen(symbol));
    }
    function->n_bytes = known && known->n_bytes < UINT32_MAX ? (uint32_t)known->n_bytes : 0;
    function->is_left_out = !strobe_function_is_wanted(image->path, symbol ? symbol : name.bytes);
    return function->is_left_out || set_loc(&function->loc, &name, &file);
}

/* ---- patterns ---- */

bool strobe_function_is_wanted(const char *module, const char *name)
{
    return strobe_chosen_function(patterns, module, name);
}

bool strobe_function_is_wanted_at(uint64_t address)
{
    const struct image *image = image_of(address);
    const struct symbol *symbol = image ? symbol_at(image, address - image->bias) : NULL;
    return image && strobe_function_is_wanted(image->path, symbol ? symbol->name : "");
}

void strobe_preload_functions(void)
{
    const char *asked = getenv("STROBE_ZONES");
    if (asked && strlen(asked) < sizeof patterns)
        strcpy(patterns, asked);
}
