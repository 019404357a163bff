/* addresses.c - see addresses.h.  SPDX-License-Identifier: MIT */
#include "sample/addresses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/assert.h"

void strobe_addresses_free(struct strobe_addresses *addresses)
{
    strobe_wanted_free(&addresses->wanted);
    strobe_modules_free(&addresses->modules);
    strobe_textmap_free(&addresses->texts);
    strobe_map_free(&addresses->newest);
    free(addresses->mappings);
    free(addresses->waiting);
    memset(addresses, 0, sizeof *addresses);
}

/* ---- files ---- */

void strobe_addresses_module(struct strobe_addresses *addresses,
                             const struct strobe_mapped_file *file)
{
    char key[4096 + 128];
    uint32_t text;
    size_t n_id = strlen(file->build_id), n_path = strlen(file->path);
    if (n_id + n_path + 2 > sizeof key || file->start >= file->end ||
        addresses->n_mappings == STROBE_ADDRESSES_MAPPINGS)
        return;
    memcpy(key, file->build_id, n_id + 1);
    memcpy(key + n_id + 1, file->path, n_path + 1);
    if (strobe_textmap_add(&addresses->texts, key, n_id + n_path + 2, &text) ||
        STROBE_ARRAY_RESERVE(addresses->mappings, addresses->mappings_room,
                             addresses->n_mappings + 1ull))
        return;
    struct strobe_addresses_mapping mapping = {.proc = file->proc,
                                               .pid = file->pid,
                                               .start = file->start,
                                               .end = file->end,
                                               .offset = file->offset,
                                               .text = text};
    mapping.before = (uint32_t)strobe_map_get(&addresses->newest, file->proc, 0);
    STROBE_ASSERT(mapping.before <= addresses->n_mappings);
    if (strobe_map_put(&addresses->newest, file->proc, addresses->n_mappings + 1ull))
        return;
    addresses->mappings[addresses->n_mappings++] = mapping;
}

/* Hex digits to bytes; what is none, or too long, is no build id. */
static uint8_t read_build_id(const char *hex, uint8_t *out, size_t room)
{
    size_t n = strlen(hex) / 2;
    if (n > room || strspn(hex, "0123456789abcdef") != 2 * n)
        return 0;
    for (size_t i = 0; i < n; i++) {
        char digits[3] = {hex[2 * i], hex[2 * i + 1], 0};
        out[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return (uint8_t)n;
}

/* A file without a build id is the one that has its name now, where its process sees it or here. */
static uint64_t inode_of(uint32_t pid, const char *path)
{
    char seen[4096 + 64];
    struct stat st;
    snprintf(seen, sizeof seen, "/proc/%u/root%s", pid, path);
    return !stat(seen, &st) || !stat(path, &st) ? st.st_ino : 0;
}

static void open_mapping(struct strobe_addresses *addresses,
                         struct strobe_addresses_mapping *mapping)
{
    STROBE_ASSERT(!mapping->is_tried && !mapping->module);
    const char *text = strobe_textmap_key(&addresses->texts, mapping->text);
    struct strobe_module_file file = {.pid = mapping->pid,
                                      .start = mapping->start,
                                      .end = mapping->end,
                                      .path = text + strlen(text) + 1};
    mapping->is_tried = true;
    if (!addresses->modules.scratch && strobe_modules_init(&addresses->modules))
        return;
    file.n_build_id = read_build_id(text, file.build_id, sizeof file.build_id);
    if (!file.n_build_id)
        file.inode = inode_of(file.pid, file.path);
    mapping->module = strobe_modules_find(&addresses->modules, &file);
}

/* The mapping around an address that came last: what it covers is no more. NULL: none. */
static struct strobe_addresses_mapping *mapping_of(struct strobe_addresses *addresses,
                                                   uint32_t proc, uint64_t address)
{
    uint32_t at = (uint32_t)strobe_map_get(&addresses->newest, proc, 0);
    while (at) {
        struct strobe_addresses_mapping *mapping = &addresses->mappings[at - 1];
        STROBE_ASSERT(mapping->proc == proc && mapping->before < at);
        if (address >= mapping->start && address < mapping->end)
            return mapping;
        at = mapping->before;
    }
    return NULL;
}

/* ---- stacks ---- */

/* False: its file is not known, or not yet. */
static bool want(struct strobe_addresses *addresses, uint32_t proc, uint64_t address)
{
    struct strobe_addresses_mapping *mapping = mapping_of(addresses, proc, address);
    if (!mapping)
        return false;
    if (!mapping->is_tried)
        open_mapping(addresses, mapping);
    const struct strobe_sample_module *module = mapping->module;
    struct strobe_wanted_row row = {.address = address, .proc = proc};
    if (module && module->fd >= 0 &&
        strobe_cfi_vaddr(&module->cfi, address - mapping->start + mapping->offset, &row.vaddr)) {
        row.module = module->id;
        strobe_wanted_put(&addresses->wanted, row);
    }
    return true;
}

void strobe_addresses_stack(struct strobe_addresses *addresses, uint32_t proc, const uint64_t *list,
                            uint32_t n)
{
    if (!n)
        return;
    bool is_known = strobe_wanted_knows_stack(&addresses->wanted, proc, list, n);
    for (uint32_t i = 0; i < n && !is_known; i++) {
        if (want(addresses, proc, list[i]) || addresses->n_waiting == STROBE_WANTED_MAX ||
            STROBE_ARRAY_RESERVE(addresses->waiting, addresses->waiting_room,
                                 addresses->n_waiting + 1ull))
            continue;
        addresses->waiting[addresses->n_waiting++] =
            (struct strobe_addresses_waiting){list[i], proc};
    }
    strobe_wanted_hit(&addresses->wanted, proc, list[0]);
}

static bool is_of(const struct strobe_addresses *addresses,
                  const struct strobe_addresses_mapping *mapping, const char *path)
{
    const char *text = strobe_textmap_key(&addresses->texts, mapping->text);
    return !strcmp(text + strlen(text) + 1, path);
}

/* The mapping of a file in a process; a forked child says its functions before its files, and has those of its parent. */
static struct strobe_addresses_mapping *find_file(struct strobe_addresses *addresses, uint32_t proc,
                                                  const char *path)
{
    enum { NEWEST = 4096 };
    uint32_t at = (uint32_t)strobe_map_get(&addresses->newest, proc, 0);
    while (at && !is_of(addresses, &addresses->mappings[at - 1], path))
        at = addresses->mappings[at - 1].before;
    if (at)
        return &addresses->mappings[at - 1];
    for (uint32_t i = 0; i < NEWEST && i < addresses->n_mappings; i++) {
        at = addresses->n_mappings - 1 - i;
        if (is_of(addresses, &addresses->mappings[at], path))
            return &addresses->mappings[at];
    }
    return NULL;
}

void strobe_addresses_function(struct strobe_addresses *addresses, uint32_t proc, uint64_t loc,
                               const char *path, uint64_t vaddr)
{
    struct strobe_addresses_mapping *mapping = find_file(addresses, proc, path);
    if (mapping && !mapping->is_tried)
        open_mapping(addresses, mapping);
    if (mapping && mapping->module && mapping->module->fd >= 0)
        strobe_wanted_put(&addresses->wanted,
                          (struct strobe_wanted_row){.address = STROBE_WANTED_LOC | loc,
                                                     .vaddr = vaddr,
                                                     .proc = proc,
                                                     .module = mapping->module->id});
}

static void take_waiting(struct strobe_addresses *addresses)
{
    STROBE_ASSERT(addresses->n_waiting <= STROBE_WANTED_MAX);
    for (uint32_t i = 0; i < addresses->n_waiting; i++)
        want(addresses, addresses->waiting[i].proc, addresses->waiting[i].address);
    addresses->n_waiting = 0;
}

/* ---- the end ---- */

void strobe_addresses_move(struct strobe_addresses *addresses, struct strobe_wanted *wanted,
                           struct strobe_modules *modules)
{
    take_waiting(addresses);
    uint32_t n = addresses->modules.n, *ids = calloc(n + 1ull, sizeof *ids); /* here: there */
    for (uint32_t id = 1; ids && id <= n; id++)
        ids[id] = strobe_modules_move(modules, &addresses->modules, id);
    for (uint32_t i = 0; ids && i < addresses->wanted.n; i++) {
        struct strobe_wanted_row row = addresses->wanted.rows[i];
        STROBE_ASSERT(row.module && row.module <= n);
        row.module = ids[row.module];
        if (row.module)
            strobe_wanted_put(wanted, row);
    }
    free(ids);
    strobe_addresses_free(addresses);
}

uint32_t strobe_addresses_name(struct strobe_addresses *addresses,
                               const struct strobe_build_store_options *options)
{
    struct strobe_build_store *store;
    uint32_t n = 0;
    take_waiting(addresses);
    if (addresses->wanted.n && !strobe_build_store_open(options, &store)) {
        n = strobe_symbolize_run(store, &addresses->wanted, &addresses->modules);
        strobe_build_store_close(store);
    }
    strobe_addresses_free(addresses);
    return n;
}
