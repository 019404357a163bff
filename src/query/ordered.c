/* ordered.c - see ordered.h. Events wait until no block can hold an earlier one, then are sorted and handed out. Zones of a thread
 * that has one track are followed in the order of the file; where a thread has several, their begins and ends are put in order with
 * the rest.  SPDX-License-Identifier: MIT */
#include "query/ordered.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/walk.h"

#define BIT(kind) (1ull << STROBE_KIND_##kind)

enum { FLUSH = 1 << 16 }; /* events that wait before those that can be are handed out */

#define ZONE_KINDS (BIT(ZONE_BEGIN) | BIT(ZONE_END) | BIT(ZONE_END_POP) | BIT(ZONE_END_UNDER))

/* Locations of the zones that are open, outermost first. */
struct open {
    struct open_zone {
        uint64_t loc;
        uint32_t process;
    } * zones; /* owned */
    uint32_t n, room;
    uint64_t next_pos; /* word behind the last part that was seen of the track */
    uint64_t pos;      /* of the part that is being read */
};

struct pass {
    struct strobe_ordered *ordered; /* borrowed */
    struct open *open;              /* owned: by thread */
    uint32_t open_room;
    struct strobe_ordered_row *rows; /* owned: that wait */
    uint64_t n_rows, rows_room, n_seen;
};

/* ---- stacks ---- */

static uint32_t keep_content(struct strobe_call_stacks *stacks, const uint64_t *addresses,
                             uint64_t n)
{
    uint32_t entry;
    if (!n || n > UINT32_MAX / 16 ||
        strobe_textmap_add(&stacks->contents, addresses, (size_t)n * sizeof *addresses, &entry))
        return 0;
    return entry + 1;
}

static uint32_t index_of(struct strobe_call_stacks *stacks, uint32_t scope, uint64_t id)
{
    return strobe_idmap_add_row(&stacks->ids, scope, id, (void **)&stacks->entries,
                                &stacks->entries_room, sizeof *stacks->entries);
}

static void define_stack(struct strobe_call_stacks *stacks, const struct strobe_happening *h)
{
    const struct strobe_field *f = h->event->fields;
    uint32_t i = index_of(stacks, h->process, f[0].u);
    if (i != STROBE_IDMAP_NONE)
        stacks->entries[i] = keep_content(stacks, f[1].list, f[1].u);
}

/* The stack that came before the event. */
static uint32_t inline_stack(struct strobe_call_stacks *stacks, const struct strobe_happening *h)
{
    uint32_t entry = keep_content(stacks, h->stack, h->n_stack);
    if (!entry)
        return STROBE_IDMAP_NONE;
    uint32_t i = index_of(stacks, STROBE_IDMAP_NONE, entry);
    if (i != STROBE_IDMAP_NONE)
        stacks->entries[i] = entry;
    return i;
}

uint32_t strobe_call_stacks_get(const struct strobe_call_stacks *stacks, uint32_t stack,
                                uint64_t *out, uint32_t most)
{
    if (stack >= stacks->ids.n || !stacks->entries[stack])
        return 0;
    uint32_t entry = stacks->entries[stack] - 1;
    uint32_t n = stacks->contents.entries[entry].n_key / (uint32_t)sizeof *out;
    n = n < most ? n : most;
    memcpy(out, strobe_textmap_key(&stacks->contents, entry), n * sizeof *out);
    return n;
}

void strobe_call_stacks_free(struct strobe_call_stacks *stacks)
{
    strobe_idmap_free(&stacks->ids);
    strobe_textmap_free(&stacks->contents);
    free(stacks->entries);
    memset(stacks, 0, sizeof *stacks);
}

/* ---- zones ---- */

static int push_zone(struct open *open, uint32_t process, uint64_t loc)
{
    struct open_zone *zone = STROBE_ARRAY_PUSH(open->zones, open->n, open->room);
    if (zone)
        *zone = (struct open_zone){loc, process};
    return zone != NULL;
}

static void pop_zones(struct open *open, uint64_t n)
{
    open->n -= n < open->n ? (uint32_t)n : open->n;
}

/* What an event of ZONE_KINDS does: `number` is its field, or the location of a begin. 0 without memory. */
static int move_zone(struct open *open, uint32_t kind, uint32_t process, uint64_t number)
{
    if (kind == STROBE_KIND_ZONE_BEGIN)
        return push_zone(open, process, number);
    if (kind == STROBE_KIND_ZONE_END_UNDER && number < open->n) {
        uint32_t at = open->n - 1 - (uint32_t)number;
        memmove(&open->zones[at], &open->zones[at + 1], (size_t)number * sizeof *open->zones);
        open->n--;
    } else if (kind != STROBE_KIND_ZONE_END_UNDER) {
        pop_zones(open, 1 + (kind == STROBE_KIND_ZONE_END_POP ? number : 0));
    }
    return 1;
}

/* A part says what is open at its start. 0 without memory. */
static int enter_part(struct open *open, const struct strobe_happening *h)
{
    if (open->next_pos && open->pos == h->part->pos)
        return 1;
    open->pos = h->part->pos;
    open->next_pos = h->part->pos + h->part->n_words;
    open->n = 0;
    for (uint32_t i = 0; i < h->part->n_stack; i++)
        if (!push_zone(open, h->process, h->part->stack[i].loc))
            return 0;
    return 1;
}

static void set_zone(const struct open *open, struct strobe_ordered_row *row)
{
    if (!open->n)
        return;
    row->loc = open->zones[open->n - 1].loc;
    row->loc_process = open->zones[open->n - 1].process;
}

/* ---- the order ---- */

static int compare(const void *a, const void *b)
{
    const struct strobe_ordered_row *x = a, *y = b;
    if (x->tick != y->tick)
        return x->tick < y->tick ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static enum strobe_err hand_out(struct pass *pass, struct strobe_ordered_row *row)
{
    struct strobe_ordered *ordered = pass->ordered;
    struct open *open = &pass->open[row->root];
    if (ZONE_KINDS >> row->kind & 1)
        return move_zone(open, row->kind, row->process, row->fields[0]) ? STROBE_OK
                                                                        : STROBE_ERR_NOMEM;
    if (ordered->trace->threads[row->thread].twin)
        set_zone(open, row);
    return ordered->take(ordered->context, row);
}

/* Those before `tick`. */
static enum strobe_err flush(struct pass *pass, uint64_t tick)
{
    enum strobe_err err = STROBE_OK;
    uint64_t i = 0;
    if (pass->n_rows)
        qsort(pass->rows, (size_t)pass->n_rows, sizeof *pass->rows, compare);
    for (; i < pass->n_rows && pass->rows[i].tick < tick && !err; i++)
        err = hand_out(pass, &pass->rows[i]);
    if (i)
        memmove(pass->rows, pass->rows + i, (size_t)(pass->n_rows - i) * sizeof *pass->rows);
    pass->n_rows -= i;
    return err;
}

static enum strobe_err settles(void *context, uint64_t tick)
{
    struct pass *pass = context;
    return pass->n_rows < FLUSH ? STROBE_OK : flush(pass, tick);
}

static void set_stack(struct pass *pass, const struct strobe_happening *h,
                      struct strobe_ordered_row *row)
{
    struct strobe_call_stacks *stacks = &pass->ordered->stacks;
    uint64_t id = row->kind == STROBE_KIND_MEM_BLOCK || row->kind == STROBE_KIND_LOCK_WAITED
                      ? h->event->fields[4].u
                      : 0;
    if (id)
        row->stack = index_of(stacks, h->process, id);
    else if (h->n_stack)
        row->stack = inline_stack(stacks, h);
}

static enum strobe_err keep_row(struct pass *pass, const struct strobe_happening *h, uint32_t root)
{
    const struct strobe_event *event = h->event;
    struct strobe_ordered_row *row = STROBE_ARRAY_PUSH(pass->rows, pass->n_rows, pass->rows_room);
    if (!row)
        return STROBE_ERR_NOMEM;
    *row = (struct strobe_ordered_row){.tick = event->tick,
                                       .order = pass->n_seen++,
                                       .process = h->process,
                                       .thread = h->thread,
                                       .root = root,
                                       .kind = event->kind,
                                       .stack = STROBE_IDMAP_NONE};
    for (unsigned i = 0; i < event->n_fields && i < STROBE_ORDERED_FIELDS; i++)
        row->fields[i] = event->fields[i].u;
    if (event->kind == STROBE_KIND_ZONE_BEGIN)
        row->fields[0] = event->loc;
    set_stack(pass, h, row);
    set_zone(&pass->open[h->thread], row);
    return STROBE_OK;
}

static enum strobe_err see(void *context, const struct strobe_happening *h)
{
    struct pass *pass = context;
    struct strobe_ordered *ordered = pass->ordered;
    uint32_t kind = h->event->kind, twin = ordered->trace->threads[h->thread].twin;
    uint32_t root = twin ? twin - 1 : h->thread;
    if (ordered->processes && h->process < ordered->n_processes && !ordered->processes[h->process])
        return STROBE_OK;
    if (STROBE_ARRAY_REACH(pass->open, pass->open_room, root > h->thread ? root : h->thread))
        return STROBE_ERR_NOMEM;
    if (kind == STROBE_KIND_STACK) {
        define_stack(&ordered->stacks, h);
        return STROBE_OK;
    }
    if (h->fiber && ZONE_KINDS >> kind & 1) /* a fiber's zones are none of the thread's */
        return STROBE_OK;
    struct open *open = &pass->open[h->thread];
    if (!twin && !enter_part(open, h))
        return STROBE_ERR_NOMEM;
    if (twin || !(ZONE_KINDS >> kind & 1))
        return keep_row(pass, h, root);
    uint64_t number = kind == STROBE_KIND_ZONE_BEGIN ? h->event->loc
                      : h->event->n_fields           ? h->event->fields[0].u
                                                     : 0;
    return move_zone(open, kind, h->process, number) ? STROBE_OK : STROBE_ERR_NOMEM;
}

static int is_over(void *context)
{
    const struct strobe_ordered *ordered = ((struct pass *)context)->ordered;
    return ordered->is_over && ordered->is_over(ordered->context);
}

int strobe_ordered_may_have(const struct strobe_trace *trace, uint64_t kinds)
{
    const struct strobe_trace_totals *totals = &strobe_file_facts(trace->file)->totals;
    int some = !totals->has_totals;
    for (unsigned i = 0; i < STROBE_KIND_COUNT && !some; i++)
        some = (kinds >> i & 1) && totals->n_of_kind[i];
    return some;
}

enum strobe_err strobe_ordered_run(struct strobe_ordered *ordered)
{
    struct pass pass = {.ordered = ordered};
    struct strobe_walk walk = {.trace = ordered->trace,
                               .context = &pass,
                               .happens = see,
                               .settles = settles,
                               .is_over = is_over,
                               .kinds = ordered->kinds | ZONE_KINDS | BIT(STACK)};
    if (!strobe_ordered_may_have(ordered->trace, ordered->kinds))
        return STROBE_OK;
    enum strobe_err err = strobe_walk_run(&walk);
    ordered->n_bad_parts = walk.n_bad_parts;
    ordered->tick_last = walk.tick_last;
    if (!err)
        err = flush(&pass, UINT64_MAX);
    for (uint32_t i = 0; i < pass.open_room; i++)
        free(pass.open[i].zones);
    free(pass.open);
    free(pass.rows);
    return err;
}

void strobe_ordered_free(struct strobe_ordered *ordered)
{
    strobe_call_stacks_free(&ordered->stacks);
    memset(ordered, 0, sizeof *ordered);
}
