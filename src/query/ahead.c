/* ahead.c - the replay of whole blocks, track by track. Knows no trace: whoever reads one may add to its tables meanwhile.
 * SPDX-License-Identifier: MIT */
#include "query/ahead.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/assert.h"
#include "query/texts.h"

struct strobe_ahead {
    const struct strobe_schema *schema; /* borrowed */
    unsigned flags;
    struct strobe_idmap procs;    /* (0, proc) */
    struct strobe_idmap tracks;   /* (index in procs, track) */
    struct strobe_carry *carries; /* owned: by index in tracks */
    uint32_t carries_room;
    struct strobe_replay_frame *stack; /* owned: of every replay */
    uint32_t stack_room;
};

struct strobe_ahead *strobe_ahead_new(const struct strobe_schema *schema, unsigned flags)
{
    STROBE_ASSERT(!(flags & (STROBE_REPLAY_LOOSE | STROBE_REPLAY_PLACES)));
    struct strobe_ahead *ahead = calloc(1, sizeof *ahead);
    if (!ahead)
        return NULL;
    ahead->schema = schema;
    ahead->flags = flags;
    return ahead;
}

void strobe_ahead_free(struct strobe_ahead *ahead)
{
    if (!ahead)
        return;
    for (uint32_t i = 0; i < ahead->carries_room; i++)
        strobe_carry_free(&ahead->carries[i]);
    free(ahead->carries);
    free(ahead->stack);
    strobe_idmap_free(&ahead->procs);
    strobe_idmap_free(&ahead->tracks);
    free(ahead);
}

void strobe_ahead_block_free(struct strobe_ahead_block *block)
{
    for (uint32_t i = 0; i < block->parts_room; i++) {
        block->parts[i].replay.zones = NULL;
        strobe_replay_free(&block->parts[i].replay);
    }
    free(block->parts);
    free(block->zones);
    *block = (struct strobe_ahead_block){0};
}

static struct strobe_carry *carry_of(struct strobe_ahead *ahead, const struct strobe_part *part)
{
    uint32_t proc = strobe_idmap_add(&ahead->procs, 0, part->proc);
    if (proc == STROBE_IDMAP_NONE)
        return NULL;
    uint32_t i = strobe_idmap_add_row(&ahead->tracks, proc, part->track, (void **)&ahead->carries,
                                      &ahead->carries_room, sizeof *ahead->carries);
    return i == STROBE_IDMAP_NONE ? NULL : &ahead->carries[i];
}

/* Replay a part behind the `n` zones of those before it: room is there, so that neither zones nor stack move. */
static enum strobe_err replay(struct strobe_ahead *ahead, const struct strobe_events *events,
                              const struct strobe_part *part, struct strobe_ahead_block *out,
                              uint64_t n, struct strobe_ahead_part *made)
{
    struct strobe_replay *to = &made->replay;
    struct strobe_carry *carry = carry_of(ahead, part);
    if (!carry ||
        STROBE_ARRAY_RESERVE(out->zones, out->zones_room, n + strobe_replay_most(part, carry)))
        return STROBE_ERR_NOMEM;
    to->zones = out->zones + n;
    to->zones_room = out->zones_room - (uint32_t)n;
    to->stack = ahead->stack;
    to->stack_room = ahead->stack_room;
    enum strobe_err err = strobe_replay_part(events, part, ahead->schema, ahead->flags, carry, to);
    STROBE_ASSERT(to->zones == out->zones + n);
    ahead->stack = to->stack;
    ahead->stack_room = to->stack_room;
    to->stack = NULL;
    to->zones = NULL;
    to->zones_room = to->stack_room = 0;
    return err;
}

enum strobe_err strobe_ahead_replay(struct strobe_ahead *ahead, const struct strobe_events *events,
                                    struct strobe_ahead_block *out)
{
    uint64_t n = 0;
    out->n_parts = 0;
    if (STROBE_ARRAY_REACH(out->parts, out->parts_room, events->n_parts))
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < events->n_parts; i++) {
        struct strobe_ahead_part *made = &out->parts[i];
        made->err = replay(ahead, events, &events->parts[i], out, n, made);
        if (made->err && made->err != STROBE_ERR_CORRUPT)
            return made->err;
        n += made->replay.n_zones;
    }
    n = 0;
    for (uint32_t i = 0; i < events->n_parts; i++) { /* `zones` has grown meanwhile */
        out->parts[i].replay.zones = out->zones + n;
        n += out->parts[i].replay.n_zones;
    }
    out->n_parts = events->n_parts;
    return STROBE_OK;
}

const struct strobe_carry *strobe_ahead_carry(const struct strobe_ahead *ahead, uint64_t proc,
                                              uint64_t track)
{
    uint32_t scope = strobe_idmap_find(&ahead->procs, 0, proc);
    uint32_t i =
        scope == STROBE_IDMAP_NONE ? scope : strobe_idmap_find(&ahead->tracks, scope, track);
    STROBE_ASSERT(i == STROBE_IDMAP_NONE || i < ahead->carries_room);
    return i == STROBE_IDMAP_NONE ? NULL : &ahead->carries[i];
}
