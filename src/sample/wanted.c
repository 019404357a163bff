/* wanted.c - see wanted.h.  SPDX-License-Identifier: MIT */
#include "sample/wanted.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

void strobe_wanted_free(struct strobe_wanted *wanted)
{
    strobe_index_free(&wanted->index);
    strobe_map_free(&wanted->pids);
    strobe_map_free(&wanted->dumps);
    free(wanted->rows);
    memset(wanted, 0, sizeof *wanted);
}

bool strobe_wanted_knows_stack(struct strobe_wanted *wanted, uint32_t proc,
                               const uint64_t *addresses, uint32_t n)
{
    STROBE_ASSERT(addresses);
    if (!wanted->seed)
        wanted->seed = strobe_hash_seed();
    uint64_t hash = strobe_hash_bytes(addresses, n * sizeof *addresses, wanted->seed + proc) | 1;
    uint64_t *seen = &wanted->seen[hash >> 52 & (STROBE_WANTED_STACKS - 1)];
    bool knows = *seen == hash;
    *seen = hash;
    return knows;
}

/* NULL: it is not there. */
static struct strobe_wanted_row *find_row(const struct strobe_wanted *wanted, uint64_t hash,
                                          uint32_t proc, uint64_t address)
{
    STROBE_ASSERT(wanted->n <= wanted->room);
    STROBE_INDEX_EACH (row, at, &wanted->index, hash)
        if (wanted->rows[row].address == address && wanted->rows[row].proc == proc)
            return &wanted->rows[row];
    return NULL;
}

void strobe_wanted_hit(struct strobe_wanted *wanted, uint32_t proc, uint64_t address)
{
    struct strobe_wanted_row *row =
        find_row(wanted, strobe_hash_pair(address, proc, wanted->seed), proc, address);
    if (row && row->n_hits < UINT32_MAX)
        row->n_hits++;
}

/* Where an address that is mapped is looked up. False: nowhere. */
static bool place(struct strobe_wanted *wanted, const struct strobe_mapping *mapping, uint64_t pids,
                  struct strobe_wanted_row *row)
{
    const struct strobe_sample_module *module = mapping->module;
    if (module && module->path[0] == '/' && module->path[1] != '/' &&
        strncmp(module->path, "/memfd:", strlen("/memfd:"))) {
        row->module = module->id;
        return module->fd >= 0 &&
               strobe_cfi_vaddr(&module->cfi, row->address - mapping->start + mapping->offset,
                                &row->vaddr);
    }
    if (module && module->path[0] == '[')
        return false; /* the vdso and the like */
    row->module = STROBE_WANTED_JIT | row->proc;
    return row->proc < STROBE_WANTED_JIT - 1 && !strobe_map_put(&wanted->pids, row->proc, pids);
}

void strobe_wanted_put(struct strobe_wanted *wanted, struct strobe_wanted_row row)
{
    if (!wanted->seed)
        wanted->seed = strobe_hash_seed();
    uint64_t hash = strobe_hash_pair(row.address, row.proc, wanted->seed);
    if (find_row(wanted, hash, row.proc, row.address))
        return;
    if (wanted->n == STROBE_WANTED_MAX ||
        STROBE_ARRAY_RESERVE(wanted->rows, wanted->room, wanted->n + 1ull) ||
        strobe_index_add(&wanted->index, hash, wanted->n)) {
        wanted->n_left_out++;
        return;
    }
    wanted->rows[wanted->n++] = row;
}

void strobe_wanted_add(struct strobe_wanted *wanted, uint32_t proc, uint64_t pids, uint64_t address,
                       const struct strobe_mapping *mapping)
{
    struct strobe_wanted_row row = {
        .address = address, .vaddr = address, .proc = proc, .module = STROBE_WANTED_KERNEL};
    STROBE_ASSERT(wanted->seed);
    if (mapping && !place(wanted, mapping, pids, &row))
        return;
    strobe_wanted_put(wanted, row);
}
