/* symbol_names.c - see symbol_names.h.  SPDX-License-Identifier: MIT */
#include "sample/symbol_names.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/assert.h"
#include "sample/symbol_code.h"
#include "sample/symbol_jit.h"

struct kernel_symbol {
    uint64_t address;
    char *name; /* owned */
};

/* Addresses of a compilation unit, as in the file. */
struct unit_range {
    uint64_t low, high;
    Dwarf_Die die;
};

struct naming {
    FILE *out; /* owned */
    char *(*demangle)(const char *, char *, size_t *, int *);
    char *demangled; /* owned: what demangle reuses */
    size_t n_demangled;
    struct kernel_symbol *kernel; /* owned: sorted */
    uint32_t n_kernel, kernel_room;
    Dwfl *dwfl; /* owned: of `module` */
    uint32_t module;
    Dwfl_Module *elf; /* borrowed from dwfl; NULL: not at hand */
    GElf_Addr bias;
    struct unit_range *units; /* owned: of `elf`, sorted; where the file has no list of them */
    uint32_t n_units, units_room;
    bool has_units; /* they were looked for */
    const char *image;
    char path[STROBE_SYMBOL_TEXT + 1]; /* of a file, made whole */
    struct strobe_symbol_codes codes;
};

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

/* ---- one answer ---- */

/* A readable name: C++ and old Rust names are demangled where libstdc++ is there. */
static const char *readable(struct naming *n, const char *name)
{
    int status = -1;
    if (!name || strncmp(name, "_Z", 2) || !n->demangle || strlen(name) > 60000)
        return name;
    char *text = n->demangle(name, n->demangled, &n->n_demangled, &status);
    if (status || !text)
        return name;
    return n->demangled = text;
}

static uint16_t text_bytes(const char *text)
{
    return text ? (uint16_t)strnlen(text, STROBE_SYMBOL_TEXT) : 0;
}

static void answer(struct naming *n, struct strobe_symbol_answer what, const char *function,
                   const char *file)
{
    STROBE_ASSERT(function && file && n->image);
    what.n_function = text_bytes(function);
    what.n_file = text_bytes(file);
    what.n_image = text_bytes(n->image);
    fwrite(&what, sizeof what, 1, n->out);
    fwrite(function, 1, what.n_function, n->out);
    fwrite(file, 1, what.n_file, n->out);
    fwrite(n->image, 1, what.n_image, n->out);
}

/* ---- the kernel ---- */

static int compare_kernel(const void *a, const void *b)
{
    const struct kernel_symbol *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* Root alone sees the addresses; to others all of them are 0. */
static void read_kallsyms(struct naming *n)
{
    char line[512];
    FILE *in = fopen("/proc/kallsyms", "re");
    while (in && fgets(line, sizeof line, in)) {
        char *at; /* "ffffffff81000000 T name\t[module]" */
        uint64_t address = strtoull(line, &at, 16);
        if (!address || at[0] != ' ' || !at[1] || !strchr("tTwW", at[1]) || at[2] != ' ')
            continue;
        at[3 + strcspn(at + 3, "\t\n ")] = 0;
        struct kernel_symbol *symbol = STROBE_ARRAY_PUSH(n->kernel, n->n_kernel, n->kernel_room);
        if (!symbol)
            break;
        *symbol = (struct kernel_symbol){address, strdup(at + 3)};
    }
    if (in)
        fclose(in);
    qsort(n->kernel, n->n_kernel, sizeof *n->kernel, compare_kernel);
}

static void name_kernel(struct naming *n, uint32_t row, uint64_t address)
{
    if (!n->kernel)
        read_kallsyms(n);
    n->image = "[kernel]";
    uint64_t at = STROBE_ARRAY_BISECT(0, n->n_kernel, i, n->kernel[i].address <= address);
    const char *name = at && n->kernel[at - 1].name ? n->kernel[at - 1].name : "[kernel]";
    uint64_t into = at ? address - n->kernel[at - 1].address : UINT64_MAX;
    answer(n, (struct strobe_symbol_answer){.row = row, .into = into}, name, "");
}

/* ---- files ---- */

static void open_module(struct naming *n, const struct strobe_sample_module *module)
{
    STROBE_ASSERT(module->id);
    fflush(n->out); /* what is known by now is in the trace, however long this one takes */
    if (n->dwfl)
        dwfl_end(n->dwfl);
    n->elf = NULL;
    n->n_units = 0;
    n->has_units = false;
    n->dwfl = dwfl_begin(&callbacks);
    n->image = module->path;
    int fd = n->dwfl && module->fd >= 0 ? dup(module->fd) : -1;
    if (fd < 0)
        return;
    dwfl_report_begin(n->dwfl);
    n->elf = dwfl_report_offline(n->dwfl, module->path, module->path, fd);
    if (!n->elf)
        close(fd); /* else libdwfl has taken it */
    dwfl_report_end(n->dwfl, NULL, NULL);
    if (n->elf && !dwfl_module_getelf(n->elf, &n->bias))
        n->elf = NULL;
}

static int compare_units(const void *a, const void *b)
{
    const struct unit_range *x = a, *y = b;
    return x->low < y->low ? -1 : x->low > y->low;
}

/* clang writes no list of addresses (.debug_aranges): each unit says its own. */
static void read_units(struct naming *n)
{
    enum { UNITS_MAX = 1 << 20 };
    Dwarf_Addr bias, base, low, high;
    n->has_units = true;
    for (Dwarf_Die *unit = NULL; (unit = dwfl_module_nextcu(n->elf, unit, &bias));)
        for (ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &low, &high)) > 0;) {
            struct unit_range *range = n->n_units < UNITS_MAX
                                           ? STROBE_ARRAY_PUSH(n->units, n->n_units, n->units_room)
                                           : NULL;
            if (!range)
                break;
            *range = (struct unit_range){low, high, *unit};
        }
    qsort(n->units, n->n_units, sizeof *n->units, compare_units);
}

/* The compilation unit with an address; NULL: none is known. *bias: what its addresses are off by. */
static Dwarf_Die *find_unit(struct naming *n, GElf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(n->elf, address, bias);
    if (unit || !dwfl_module_getdwarf(n->elf, bias))
        return unit;
    if (!n->has_units)
        read_units(n);
    uint64_t own = address - *bias;
    uint64_t at = STROBE_ARRAY_BISECT(0, n->n_units, i, n->units[i].low <= own);
    STROBE_ASSERT(at <= n->n_units);
    return at && own < n->units[at - 1].high ? &n->units[at - 1].die : NULL;
}

static const char *die_name(struct naming *n, Dwarf_Die *die)
{
    static const unsigned linkage[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name};
    Dwarf_Attribute attr;
    for (int i = 0; i < 2; i++) {
        const char *name = dwarf_formstring(dwarf_attr_integrate(die, linkage[i], &attr));
        if (name)
            return readable(n, name);
    }
    return dwarf_diename(die);
}

/* A file of a compilation unit with the folder that it was compiled in, so that it can be found from anywhere. Valid until the next call. */
static const char *whole_path(struct naming *n, Dwarf_Die *unit, const char *file)
{
    Dwarf_Attribute attr;
    if (!file || !*file || *file == '/' || !unit)
        return file ? file : "";
    const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr));
    if (!folder || *folder != '/')
        return file;
    size_t n_folder = strlen(folder);
    while (n_folder > 1 && folder[n_folder - 1] == '/')
        n_folder--;
    for (; !strncmp(file, "../", 3) || !strncmp(file, "./", 2); file += file[1] == '.' ? 3 : 2)
        while (file[1] == '.' && n_folder > 1 && folder[--n_folder] != '/')
            ;
    int n_path = snprintf(n->path, sizeof n->path, "%.*s/%s", (int)n_folder, folder, file);
    return n_path > 0 && (size_t)n_path < sizeof n->path ? n->path : file;
}

/* The file in which an inlined function is called. */
static const char *call_file(struct naming *n, Dwarf_Die *die, Dwarf_Die *unit)
{
    Dwarf_Attribute attr;
    Dwarf_Files *files;
    Dwarf_Word index;
    size_t n_files;
    if (dwarf_getsrcfiles(unit, &files, &n_files) ||
        dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attr), &index) || index >= n_files)
        return "";
    return whole_path(n, unit, dwarf_filesrc(files, index, NULL, NULL));
}

static uint32_t call_line(Dwarf_Die *die)
{
    Dwarf_Attribute attr;
    Dwarf_Word line;
    return dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attr), &line) ? 0 : (uint32_t)line;
}

/* The functions that are inlined at the address, innermost first. How many; *file and *line are then those of the call in the function around. */
static uint32_t name_inlined(struct naming *n, uint32_t row, GElf_Addr address, const char **file,
                             int *line)
{
    enum { DEEPEST = 32 };
    Dwarf_Addr bias;
    Dwarf_Die *scopes = NULL, *unit = find_unit(n, address, &bias);
    int n_scopes = unit ? dwarf_getscopes(unit, address - bias, &scopes) : 0;
    uint32_t n_inlined = 0;
    for (int i = 0; i < n_scopes && n_inlined < DEEPEST; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag == DW_TAG_subprogram)
            break;
        const char *name = tag == DW_TAG_inlined_subroutine ? die_name(n, &scopes[i]) : NULL;
        if (!name)
            continue;
        answer(n,
               (struct strobe_symbol_answer){
                   .row = row, .inlined = n_inlined++, .line = (uint32_t)*line, .into = UINT64_MAX},
               name, *file);
        *file = call_file(n, &scopes[i], unit);
        *line = (int)call_line(&scopes[i]);
    }
    free(scopes);
    return n_inlined;
}

/* The line at an address of a unit. Of a function's begin the first that is one: what compilers put in front has none. */
static Dwarf_Line *find_line(Dwarf_Die *unit, Dwarf_Addr address, bool is_begin, int *line)
{
    enum { SLED = 32 };
    Dwarf_Line *at = NULL;
    for (Dwarf_Addr i = 0; unit && !*line && i < (is_begin ? SLED : 1); i++) {
        at = dwarf_getsrc_die(unit, address + i);
        if (!at || dwarf_lineno(at, line))
            *line = 0;
    }
    return at;
}

static void name_address(struct naming *n, const struct strobe_wanted *wanted, uint32_t row)
{
    STROBE_ASSERT(n->dwfl || !n->elf);
    if (!n->elf)
        return;
    GElf_Addr address = wanted->rows[row].vaddr + n->bias;
    GElf_Off into = 0;
    GElf_Sym symbol;
    int line = 0;
    Dwarf_Addr unit_bias;
    Dwarf_Die *unit = find_unit(n, address, &unit_bias);
    bool is_begin = wanted->rows[row].address & STROBE_WANTED_LOC;
    Dwarf_Line *at = find_line(unit, address - unit_bias, is_begin, &line);
    const char *file = at ? dwarf_linesrc(at, NULL, NULL) : NULL;
    file = whole_path(n, unit, file);
    uint32_t n_inlined = name_inlined(n, row, address, &file, &line);
    const char *name = dwfl_module_addrinfo(n->elf, address, &into, &symbol, NULL, NULL, NULL);
    if (!name)
        return;
    answer(n,
           (struct strobe_symbol_answer){
               .row = row, .inlined = n_inlined, .line = (uint32_t)line, .into = into},
           readable(n, name), file);
    strobe_symbol_code_note(&n->codes, wanted, row, n->elf, into, symbol.st_size);
}

/* The jitdump of a process, from its begin. NULL: it has none. */
static FILE *open_dump(const struct strobe_wanted *wanted, const struct strobe_modules *modules,
                       uint32_t proc)
{
    uint64_t id = strobe_map_get(&wanted->dumps, proc, 0);
    STROBE_ASSERT(id <= modules->n);
    int fd = id ? dup(modules->items[id - 1]->fd) : -1;
    FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
    if (fd >= 0 && !in)
        close(fd);
    if (in)
        rewind(in);
    return in;
}

/* Rows of code that one process made, from `first` on. How many. */
static uint32_t name_jit(struct naming *n, const struct strobe_wanted *wanted,
                         const struct strobe_modules *modules, uint32_t first)
{
    const struct strobe_wanted_row *rows = wanted->rows + first;
    uint32_t n_rows = 1;
    while (first + n_rows < wanted->n && rows[n_rows].module == rows->module)
        n_rows++;
    struct strobe_symbol_jit *found = calloc(n_rows, sizeof *found);
    if (found)
        strobe_symbol_jit_find(strobe_map_get(&wanted->pids, rows->proc, 0), rows, n_rows, found);
    FILE *dump = found ? open_dump(wanted, modules, rows->proc) : NULL;
    if (dump) {
        strobe_symbol_jit_dump(dump, rows, n_rows, found);
        fclose(dump);
    }
    n->image = "[jit]";
    for (uint32_t i = 0; found && i < n_rows; i++) {
        if (found[i].name)
            answer(n,
                   (struct strobe_symbol_answer){.row = first + i,
                                                 .into = rows[i].address - found[i].start},
                   found[i].name, "");
        free(found[i].name);
    }
    free(found);
    return n_rows;
}

/* The row before has the same address of the same file, in another process. */
static bool is_again(const struct strobe_wanted *wanted, uint32_t row)
{
    const struct strobe_wanted_row *at = &wanted->rows[row];
    return row && at->module == at[-1].module && at->vaddr == at[-1].vaddr;
}

/* The kernel's, and those of code that was made at run time: lists of names, which are quick to read. */
static void name_listed(struct naming *n, const struct strobe_wanted *wanted,
                        const struct strobe_modules *modules)
{
    for (uint32_t i = 0; i < wanted->n; i++) {
        const struct strobe_wanted_row *row = &wanted->rows[i];
        if (row->module == STROBE_WANTED_KERNEL && !is_again(wanted, i))
            name_kernel(n, i, row->address);
        else if (row->module != STROBE_WANTED_KERNEL && row->module & STROBE_WANTED_JIT)
            i += name_jit(n, wanted, modules, i) - 1;
    }
}

void strobe_symbol_names_run(const struct strobe_wanted *wanted,
                             const struct strobe_modules *modules, int out_fd)
{
    struct naming n = {.out = fdopen(out_fd, "w")};
    void *cxx = dlopen("libstdc++.so.6", RTLD_NOW);
    if (!n.out)
        return;
    if (cxx) {
        void *symbol = dlsym(cxx, "__cxa_demangle");
        memcpy(&n.demangle, &symbol, sizeof symbol);
    }
    name_listed(&n, wanted, modules); /* first, and sent: a large file may take all of the time */
    fflush(n.out);
    for (uint32_t i = 0; i < wanted->n; i++) {
        const struct strobe_wanted_row *row = &wanted->rows[i];
        if (row->module & STROBE_WANTED_JIT || is_again(wanted, i))
            continue;
        STROBE_ASSERT(row->module && row->module <= modules->n);
        if (n.module != row->module)
            open_module(&n, modules->items[row->module - 1]);
        n.module = row->module;
        name_address(&n, wanted, i);
    }
    strobe_symbol_code_write(&n.codes, modules, n.out);
    strobe_symbol_code_free(&n.codes);
    free(n.units);
    fclose(n.out);
}
