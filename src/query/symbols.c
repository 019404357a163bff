/* symbols.c - addresses to names: what the trace's own SYMBOL records say, else with libdw. Files are opened only if they are regular and their
 * build id is the one in the trace, so a program that was built anew gets no wrong names.
 * SPDX-License-Identifier: MIT */
#include "query/symbols.h"

#include "base/regular.h"
#include "query/stack_symbols.h"

#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_CACHED = 1 << 20, MAX_OPEN = 64, MAX_SEARCHED = 8192, BUILD_ID_BYTES = 64 };

/* A module's file, opened once. */
struct binary {
    uint32_t build_id, path; /* texts of the trace */
    Dwfl *dwfl;              /* owned; NULL: it is not at hand */
    Dwfl_Module *module;     /* borrowed from dwfl */
    GElf_Addr bias;
};

struct strobe_symbols {
    struct strobe_trace *trace; /* borrowed */
    struct strobe_stack_symbols stored;
    struct binary open[MAX_OPEN];
    int n_open;
    struct strobe_idmap known; /* (process, address) to names */
    uint32_t *names;           /* owned: texts */
    uint32_t names_room;
    struct strobe_texts texts;
    char *(*demangle)(const char *, char *, size_t *, int *); /* NULL: libstdc++ is not there */
    char *demangled;                                          /* owned: what demangle reuses */
    size_t n_demangled;
    bool is_sought; /* the demangler */
};

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

struct strobe_symbols *strobe_symbols_open(struct strobe_trace *trace)
{
    struct strobe_symbols *symbols = calloc(1, sizeof *symbols);
    if (symbols)
        symbols->trace = trace;
    return symbols;
}

void strobe_symbols_close(struct strobe_symbols *symbols)
{
    if (!symbols)
        return;
    for (int i = 0; i < symbols->n_open; i++)
        if (symbols->open[i].dwfl)
            dwfl_end(symbols->open[i].dwfl);
    strobe_idmap_free(&symbols->known);
    strobe_texts_free(&symbols->texts);
    strobe_stack_symbols_free(&symbols->stored);
    free(symbols->names);
    free(symbols->demangled);
    free(symbols);
}

static int has_build_id(Dwfl_Module *module, const char *hex)
{
    const unsigned char *bits;
    GElf_Addr at;
    char text[2 * BUILD_ID_BYTES + 1] = "";
    int n = dwfl_module_build_id(module, &bits, &at);
    for (int i = 0; i < n && i < BUILD_ID_BYTES; i++)
        sprintf(text + 2 * i, "%02x", bits[i]);
    return n > 0 && !strcmp(text, hex);
}

static void open_binary(const struct strobe_trace *trace, struct binary *binary)
{
    const char *path = strobe_trace_text(trace, binary->path, NULL);
    const char *build_id = strobe_trace_text(trace, binary->build_id, NULL);
    int fd = *build_id ? strobe_regular_open(path) : -1;
    if (fd < 0)
        return;
    binary->dwfl = dwfl_begin(&callbacks);
    if (binary->dwfl)
        binary->module = dwfl_report_offline(binary->dwfl, path, path, fd);
    if (!binary->module)
        close(fd); /* else libdwfl has taken it */
    if (binary->dwfl)
        dwfl_report_end(binary->dwfl, NULL, NULL);
    if (binary->module && has_build_id(binary->module, build_id) &&
        dwfl_module_getelf(binary->module, &binary->bias))
        return;
    if (binary->dwfl)
        dwfl_end(binary->dwfl);
    binary->dwfl = NULL;
}

static struct binary *binary_of(struct strobe_symbols *symbols, const struct strobe_module *module)
{
    for (int i = 0; i < symbols->n_open; i++)
        if (symbols->open[i].build_id == module->build_id && symbols->open[i].path == module->path)
            return &symbols->open[i];
    if (symbols->n_open == MAX_OPEN)
        return NULL;
    struct binary *binary = &symbols->open[symbols->n_open++];
    *binary = (struct binary){.build_id = module->build_id, .path = module->path};
    open_binary(symbols->trace, binary);
    return binary;
}

/* The last module that was mapped over the address. */
static const struct strobe_module *module_of(const struct strobe_trace *trace, uint32_t process,
                                             uint64_t address)
{
    uint32_t first = trace->n_modules > MAX_SEARCHED ? trace->n_modules - MAX_SEARCHED : 0;
    for (uint32_t i = trace->n_modules; i-- > first;) {
        const struct strobe_module *module = &trace->modules[i];
        if (module->process == process && address >= module->base &&
            address - module->base < module->size)
            return module;
    }
    return NULL;
}

/* The link-time address of an offset in the file. 0: it is in no segment. */
static int vaddr_of(Elf *elf, uint64_t offset, uint64_t *out)
{
    size_t n = 0;
    GElf_Phdr segment;
    elf_getphdrnum(elf, &n);
    for (size_t i = 0; i < n && i < INT32_MAX; i++) {
        if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD)
            continue;
        if (offset >= segment.p_offset && offset - segment.p_offset < segment.p_memsz) {
            *out = offset - segment.p_offset + segment.p_vaddr;
            return 1;
        }
    }
    return 0;
}

/* Find the demangler, once. Not before the first name that needs it: a process that has confined itself may open no library. */
static void seek_demangler(struct strobe_symbols *symbols)
{
    symbols->is_sought = true;
    void *cxx = dlopen("libstdc++.so.6", RTLD_NOW); /* stays */
    void *demangle = cxx ? dlsym(cxx, "__cxa_demangle") : NULL;
    memcpy(&symbols->demangle, &demangle, sizeof demangle);
}

/* A C++ name as it is written in the source; others as they are. Valid until the next call. */
static const char *as_written(struct strobe_symbols *symbols, const char *name)
{
    int status = -1;
    if (!name || strncmp(name, "_Z", 2))
        return name;
    if (!symbols->is_sought)
        seek_demangler(symbols);
    if (!symbols->demangle)
        return name;
    char *text = symbols->demangle(name, symbols->demangled, &symbols->n_demangled, &status);
    if (status || !text)
        return name;
    return symbols->demangled = text;
}

static const char *function_of(struct strobe_symbols *symbols, const struct strobe_module *module,
                               uint64_t offset)
{
    struct binary *binary = binary_of(symbols, module);
    uint64_t vaddr;
    if (!binary || !binary->dwfl)
        return NULL;
    Elf *elf = dwfl_module_getelf(binary->module, &binary->bias);
    if (!elf || !vaddr_of(elf, offset, &vaddr))
        return NULL;
    return as_written(symbols, dwfl_module_addrname(binary->module, vaddr + binary->bias));
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* The functions that the trace tells of: the innermost, then those that it was inlined into, `between` them. 0: none. */
static int put_stored(const struct strobe_symbols *symbols, uint32_t process, uint64_t address,
                      const char *between, char *room, size_t n_room, const char **image)
{
    const struct strobe_stack_symbol *at =
        strobe_stack_symbol_of(&symbols->stored, process, address);
    size_t n = 0;
    room[0] = 0;
    *image = at ? strobe_texts_get(&symbols->stored.texts, at->image, NULL) : "";
    while (at && n < n_room) {
        const char *function = strobe_texts_get(&symbols->stored.texts, at->function, NULL);
        n += (size_t)snprintf(room + n, n_room - n, "%s%.200s", n ? between : "", function);
        at = at->next ? &symbols->stored.rows[at->next - 1] : NULL;
    }
    return n != 0;
}

static int make_name(struct strobe_symbols *symbols, uint32_t process, uint64_t address, char *room,
                     size_t n_room)
{
    char functions[600];
    const char *image;
    int is_stored =
        put_stored(symbols, process, address, " < ", functions, sizeof functions, &image);
    const struct strobe_module *module = module_of(symbols->trace, process, address);
    if (!module && !is_stored)
        return snprintf(room, n_room, "0x%llx", (unsigned long long)address);
    if (!strcmp(image, "[python]")) /* its name has the file; the address says nothing */
        return snprintf(room, n_room, "%s", functions);
    if (!module)
        return snprintf(room, n_room, "%s (%.200s%s0x%llx)", functions, file_name(image),
                        *image ? " " : "", (unsigned long long)address);
    const char *file = file_name(strobe_trace_text(symbols->trace, module->path, NULL));
    uint64_t offset = address - module->base + module->offset;
    const char *function = is_stored ? functions : function_of(symbols, module, offset);
    if (function)
        return snprintf(room, n_room, "%.600s (%.200s+0x%llx)", function, file,
                        (unsigned long long)offset);
    return snprintf(room, n_room, "%.200s+0x%llx", file, (unsigned long long)offset);
}

const char *strobe_symbols_name(struct strobe_symbols *symbols, uint32_t process, uint64_t address,
                                uint32_t *n_bytes)
{
    char room[1024];
    uint32_t i = strobe_idmap_find(&symbols->known, process, address);
    if (i != STROBE_IDMAP_NONE)
        return strobe_texts_get(&symbols->texts, symbols->names[i], n_bytes);
    strobe_stack_symbols_load(symbols->trace, &symbols->stored); /* once; without it, numbers */
    int n = make_name(symbols, process, address, room, sizeof room);
    uint32_t text = strobe_texts_add(&symbols->texts, room, (uint64_t)n);
    if (symbols->known.n < MAX_CACHED) {
        i = strobe_idmap_add_row(&symbols->known, process, address, (void **)&symbols->names,
                                 &symbols->names_room, sizeof *symbols->names);
        if (i != STROBE_IDMAP_NONE)
            symbols->names[i] = text;
    }
    return strobe_texts_get(&symbols->texts, text, n_bytes);
}

uint32_t strobe_symbols_functions(struct strobe_symbols *symbols, uint32_t process,
                                  uint64_t address, char *room, size_t n_room)
{
    const char *image;
    strobe_stack_symbols_load(symbols->trace, &symbols->stored);
    if (put_stored(symbols, process, address, "\n", room, n_room, &image))
        return (uint32_t)strlen(room);
    const struct strobe_module *module = module_of(symbols->trace, process, address);
    if (!module)
        return (uint32_t)snprintf(room, n_room, "[unknown]");
    const char *function = function_of(symbols, module, address - module->base + module->offset);
    const char *file = file_name(strobe_trace_text(symbols->trace, module->path, NULL));
    if (function)
        snprintf(room, n_room, "%.600s", function);
    else
        snprintf(room, n_room, file[0] == '[' ? "%.200s" : "[%.200s]", file);
    return (uint32_t)strlen(room);
}
