/* learn.c - what the collector learns of what passes through it: triggers, the zone that may become one, kinds that the file's head does
 * not list, and where programs' code lies, which it passes on to its listener.  SPDX-License-Identifier: MIT */
#include "collector/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/varint.h"

/* The addresses of a stack: how many, then each. */
static void pass_stack(struct strobe_collector *c, const uint64_t *list)
{
    STROBE_ASSERT(c->block.enc.track && list[0] <= STROBE_META_WORDS_MAX);
    if (c->listener.stack)
        c->listener.stack(c->listener.context, (uint32_t)c->block.enc.proc, list + 1,
                          (uint32_t)list[0]);
}

void strobe_collector_learn_event(struct strobe_collector *c, uint32_t kind, const uint64_t *words)
{
    if (kind == STROBE_KIND_TRIGGER)
        c->triggered = true;
    if (kind == STROBE_KIND_STACK || kind == STROBE_KIND_SAMPLE)
        pass_stack(c, words + 2);
    if (kind == STROBE_KIND_CALLSTACK)
        pass_stack(c, words + 1);
    if (kind < STROBE_KIND_SAMPLE_GAP || kind > STROBE_KIND_STACK || c->has_later_kinds)
        return;
    c->has_later_kinds = true;
    strobe_records_kinds(&c->block.records); /* written before the block's events */
}

/* The zone whose length triggers: remember its ids, so that no name is looked up later. */
static void learn_trigger(struct strobe_collector *c, const struct strobe_proc *proc,
                          struct strobe_bytes in)
{
    uint64_t id = strobe_get_varint(&in), n_name = 0;
    const uint8_t *name = NULL;
    strobe_get_varint(&in);
    strobe_get_varint(&in);
    for (int i = 0; i < 3; i++) { /* function, file, name */
        n_name = strobe_get_varint(&in);
        name = strobe_get_bytes(&in, n_name);
    }
    if (!name || n_name != strlen(c->trigger_zone) || memcmp(name, c->trigger_zone, n_name))
        return;
    if (c->n_trigger_locs < sizeof c->trigger_locs / sizeof c->trigger_locs[0])
        c->trigger_locs[c->n_trigger_locs++] = (struct trigger_loc){proc->id, id};
}

/* A text of a record, as a string. False: it is too long, or no string. */
static bool get_text(struct strobe_bytes *in, char *out, size_t room)
{
    uint64_t n = strobe_get_varint(in);
    const uint8_t *text = strobe_get_bytes(in, n);
    if ((n && !text) || n >= room || (n && memchr(text, 0, n)))
        return false;
    if (n)
        memcpy(out, text, n);
    out[n] = 0;
    return true;
}

void strobe_collector_learn_module(struct strobe_collector *c, const struct strobe_proc *proc,
                                   uint64_t base, uint64_t size, uint64_t offset,
                                   const char *build_id, const char *path)
{
    struct strobe_mapped_file file = {.proc = proc->id,
                                      .pid = strobe_collector_pid(proc),
                                      .start = base,
                                      .end = base + size,
                                      .offset = offset,
                                      .build_id = build_id,
                                      .path = path};
    if (c->listener.module && file.start < file.end)
        c->listener.module(c->listener.context, &file);
}

/* Its record: base, size, offset, build id, path. */
static void take_module(struct strobe_collector *c, const struct strobe_proc *proc,
                        struct strobe_bytes in)
{
    char build_id[128], path[4096];
    uint64_t base = strobe_get_varint(&in), size = strobe_get_varint(&in),
             offset = strobe_get_varint(&in);
    if (get_text(&in, build_id, sizeof build_id) && get_text(&in, path, sizeof path) && !in.bad)
        strobe_collector_learn_module(c, proc, base, size, offset, build_id, path);
}

/* A location that stands for a function, by where it is in its file. */
static void take_function(struct strobe_collector *c, const struct strobe_proc *proc,
                          struct strobe_bytes in)
{
    char function[2048], path[4096], *end;
    uint64_t id = strobe_get_varint(&in), line = strobe_get_varint(&in);
    strobe_get_varint(&in);
    if (line || !get_text(&in, function, sizeof function) || !get_text(&in, path, sizeof path) ||
        in.bad)
        return;
    char *plus = path[0] == '/' ? strrchr(path, '+') : NULL;
    if (!plus || strncmp(plus, "+0x", 3))
        return;
    uint64_t vaddr = strtoull(plus + 3, &end, 16);
    *plus = 0;
    if (!*end && end > plus + 3)
        c->listener.function(c->listener.context, proc->id, id, path, vaddr);
}

void strobe_collector_learn_record(struct strobe_collector *c, const struct strobe_proc *proc,
                                   uint32_t kind, const uint8_t *fields, size_t n_bytes)
{
    if (kind == STROBE_META_LOC && c->trigger_ns)
        learn_trigger(c, proc, strobe_bytes_over(fields, n_bytes));
    if (kind == STROBE_META_LOC && c->listener.function)
        take_function(c, proc, strobe_bytes_over(fields, n_bytes));
    if (kind == STROBE_META_MODULE)
        take_module(c, proc, strobe_bytes_over(fields, n_bytes));
}
