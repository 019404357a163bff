/* py_names.c - see py_names.h.  SPDX-License-Identifier: MIT */
#include "sample/py_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/utf8.h"

enum { TABLE_MAX = 64 << 10, TEXTS_MAX = 32 << 20 };

void strobe_py_names_free(struct strobe_py_names *names)
{
    strobe_textmap_free(&names->functions);
    strobe_map_free(&names->code_ids);
    strobe_map_free(&names->places);
    strobe_map_free(&names->told);
    free(names->codes);
    memset(names, 0, sizeof *names);
}

/* ---- texts of the other process ---- */

/* A character of a text whose characters take `kind` bytes. */
static uint32_t character_at(const uint8_t *bytes, uint32_t kind, uint32_t i)
{
    uint32_t code = 0;
    STROBE_ASSERT(kind == 1 || kind == 2 || kind == 4);
    memcpy(&code, bytes + (size_t)i * kind, kind);
    return code < ' ' ? ' ' : code > 0x10ffff ? 0xfffd : code;
}

/* A str as UTF-8, cut at `room`. False: it is none, or can't be read. */
static bool read_text(struct strobe_py_memory *memory, const struct strobe_py_layout *l,
                      uint64_t address, char *out, uint32_t room)
{
    enum { LENGTH = 16, STATE = 32, HEAD = 40, MOST = 600 };
    uint8_t head[HEAD], bytes[4 * MOST];
    uint64_t length;
    uint32_t state, n = 0;
    if (strobe_py_memory_copy(memory, address, head, HEAD) != HEAD)
        return false;
    memcpy(&length, head + LENGTH, sizeof length);
    memcpy(&state, head + STATE, sizeof state);
    uint32_t kind = state >> 2 & 7;
    bool is_compact = state >> 5 & 1, is_ascii = state >> 6 & 1;
    if (!is_compact || (kind != 1 && kind != 2 && kind != 4) || length > 1u << 20)
        return false;
    uint32_t n_text = length < MOST ? (uint32_t)length : MOST;
    uint64_t at = address + (is_ascii ? l->ascii_bytes : l->compact_bytes);
    if (strobe_py_memory_copy(memory, at, bytes, n_text * kind) != n_text * kind)
        return false;
    for (uint32_t i = 0; i < n_text && n + 5 < room; i++) {
        char utf8[4];
        size_t n_utf8 = strobe_utf8_put(utf8, character_at(bytes, kind, i));
        memcpy(out + n, utf8, n_utf8);
        n += (uint32_t)n_utf8;
    }
    out[n] = 0;
    return true;
}

/* ---- functions ---- */

/* The number of a function, made at its first use. 0: there are too many. */
static uint32_t function_of(struct strobe_py_names *names, const char *name, const char *path,
                            uint32_t line)
{
    char key[STROBE_PY_NAME + STROBE_PY_PATH + 16];
    size_t n_name = strlen(name) + 1, n_path = strlen(path) + 1;
    uint32_t entry;
    STROBE_ASSERT(n_name <= STROBE_PY_NAME && n_path <= STROBE_PY_PATH);
    memcpy(key, name, n_name);
    memcpy(key + n_name, path, n_path);
    int n_line = snprintf(key + n_name + n_path, 16, "%u", line);
    names->functions.max = STROBE_PY_FUNCTIONS_MAX;
    names->functions.max_bytes = TEXTS_MAX;
    if (strobe_textmap_add(&names->functions, key, n_name + n_path + (size_t)n_line, &entry))
        return 0;
    names->functions.entries[entry].value = line;
    return entry + 1;
}

/* What a code object says of itself. False: it can't be read, or is none. */
static bool read_code(struct strobe_py_memory *memory, const struct strobe_py_target *target,
                      uint64_t address, struct strobe_py_code *out)
{
    enum { OB_TYPE = 8 };
    const struct strobe_py_layout *l = &target->layout;
    uint8_t bytes[STROBE_PY_CODE_BYTES];
    uint64_t type;
    int32_t line;
    if (strobe_py_memory_copy(memory, address, bytes, sizeof bytes) != sizeof bytes)
        return false;
    memcpy(&type, bytes + OB_TYPE, sizeof type);
    memcpy(&out->name, bytes + l->code_name, sizeof out->name);
    memcpy(&out->file, bytes + l->code_file, sizeof out->file);
    memcpy(&out->table, bytes + l->code_table, sizeof out->table);
    memcpy(&line, bytes + l->code_first_line, sizeof line);
    out->first_line = line > 0 ? (uint32_t)line : 0;
    return type == target->code_type;
}

static bool is_same(const struct strobe_py_code *a, const struct strobe_py_code *b)
{
    return a->name == b->name && a->file == b->file && a->table == b->table &&
           a->first_line == b->first_line;
}

/* Index of what is known of a code object, + 1. 0: nothing can be; *is_none: it is no code object. */
static uint32_t code_of(struct strobe_py_names *names, struct strobe_py_memory *memory,
                        const struct strobe_py_target *target, uint32_t process, uint64_t address,
                        uint64_t now_ns, bool *is_none)
{
    char name[STROBE_PY_NAME], path[STROBE_PY_PATH];
    struct strobe_py_code now = {.seen_ns = now_ns};
    uint64_t key = (uint64_t)process << 48 ^ address, *id = strobe_map_find(&names->code_ids, key);
    STROBE_ASSERT(!id || *id <= names->n_codes);
    if (id && *id && now_ns - names->codes[*id - 1].seen_ns < STROBE_PY_FRESH_NS)
        return (uint32_t)*id;
    *is_none = !read_code(memory, target, address, &now);
    names->code_ids.max = STROBE_PY_CODES_MAX;
    if (*is_none || strobe_map_add(&names->code_ids, key, &id))
        return 0;
    if (*id && is_same(&names->codes[*id - 1], &now)) {
        names->codes[*id - 1].seen_ns = now_ns;
        return (uint32_t)*id;
    }
    if (names->n_codes == STROBE_PY_CODES_MAX ||
        STROBE_ARRAY_RESERVE(names->codes, names->codes_room, names->n_codes + 1ull) ||
        !read_text(memory, &target->layout, now.name, name, sizeof name) ||
        !read_text(memory, &target->layout, now.file, path, sizeof path) ||
        !(now.function = function_of(names, name, path, now.first_line)))
        return 0;
    names->codes[names->n_codes++] = now;
    return (uint32_t)(*id = names->n_codes);
}

/* ---- places ---- */

static uint32_t line_at(struct strobe_py_memory *memory, const struct strobe_py_layout *l,
                        const struct strobe_py_code *code, uint32_t at)
{
    enum { SIZE = 16, HEAD = 32 };
    uint8_t head[HEAD];
    uint64_t n;
    if (strobe_py_memory_copy(memory, code->table, head, HEAD) != HEAD)
        return code->first_line;
    memcpy(&n, head + SIZE, sizeof n);
    n = n < TABLE_MAX ? n : TABLE_MAX;
    uint8_t *table = n ? malloc(n) : NULL;
    uint32_t got =
        table ? strobe_py_memory_copy(memory, code->table + HEAD, table, (uint32_t)n) : 0;
    uint32_t line = strobe_py_line_of(l->table, table, got, code->first_line, at);
    free(table);
    return line;
}

uint64_t strobe_py_names_address(struct strobe_py_names *names, struct strobe_py_memory *memory,
                                 const struct strobe_py_target *target, uint32_t process,
                                 const struct strobe_py_frame *frame, uint64_t now_ns)
{
    bool is_none = false;
    uint32_t id = code_of(names, memory, target, process, frame->code, now_ns, &is_none);
    uint64_t *address;
    names->places.max = STROBE_PY_PLACES_MAX;
    if (is_none)
        return STROBE_PY_NO_CODE;
    if (!id || strobe_map_add(&names->places, (uint64_t)id << 32 | frame->at, &address)) {
        names->n_left_out++;
        return 0;
    }
    if (*address)
        return *address;
    const struct strobe_py_code *code = &names->codes[id - 1];
    uint32_t line = line_at(memory, &target->layout, code, frame->at);
    uint64_t behind = line > code->first_line ? line - code->first_line : 0;
    behind = behind < STROBE_PY_FUNCTION ? behind : STROBE_PY_FUNCTION - 1;
    return *address = STROBE_PY_ADDRESS | code->function * STROBE_PY_FUNCTION | behind;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

void strobe_py_names_tell(struct strobe_py_names *names, struct strobe_build *build,
                          uint32_t process, uint64_t address)
{
    char function[STROBE_PY_NAME + STROBE_PY_PATH + 16];
    uint64_t *is_told, start = address & ~(STROBE_PY_FUNCTION - 1);
    uint32_t entry = (uint32_t)((start ^ STROBE_PY_ADDRESS) / STROBE_PY_FUNCTION) - 1;
    STROBE_ASSERT(build && entry < names->functions.n);
    names->told.max = STROBE_PY_PLACES_MAX;
    if (strobe_map_add(&names->told, (uint64_t)process << 37 ^ (address & ((1ull << 37) - 1)),
                       &is_told) ||
        *is_told)
        return;
    *is_told = 1;
    const char *name = strobe_textmap_key(&names->functions, entry);
    const char *path = name + strlen(name) + 1;
    uint64_t first_line = names->functions.entries[entry].value;
    int n = snprintf(function, sizeof function, "%s (%s:%llu)", name, file_name(path),
                     (unsigned long long)first_line);
    uint64_t numbers[] = {address, 0, first_line + (address - start), start};
    const char *texts[] = {function, path, "[python]"};
    size_t sizes[] = {(size_t)n, strlen(path), strlen("[python]")};
    strobe_build_record(build, STROBE_META_SYMBOL, numbers, texts, sizes);
}
