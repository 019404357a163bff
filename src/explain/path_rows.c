/* path_rows.c - sums of a path, by process, location and class.  SPDX-License-Identifier: MIT */
#include "explain/path_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

void strobe_path_charge(struct strobe_path_pending *pending, enum strobe_path_class class,
                        uint64_t ticks, uint64_t lock, int is_held)
{
    uint32_t i = 0;
    if (!ticks)
        return;
    while (i < pending->n_parts &&
           (pending->parts[i].class != class || pending->parts[i].lock != lock))
        i++;
    if (i == STROBE_PATH_PENDING) /* several locks in one stretch: the last one speaks for them */
        i--;
    if (i == pending->n_parts) {
        pending->n_parts++;
        memset(&pending->parts[i], 0, sizeof pending->parts[i]);
        pending->parts[i].class = (uint8_t) class;
        pending->parts[i].lock = lock;
    }
    pending->parts[i].ticks += ticks;
    pending->parts[i].held += is_held ? ticks : 0;
}

static uint32_t find_row(struct strobe_path *path, struct strobe_index *index, uint32_t process,
                         uint32_t loc, enum strobe_path_class class)
{
    uint64_t hash =
        strobe_hash_pair((uint64_t)process << 32 | loc, (uint64_t) class, strobe_index_seed(index));
    STROBE_INDEX_EACH (row, at, index, hash) {
        const struct strobe_path_row *known = &path->rows[row];
        if (known->process == process && known->loc == loc && known->class == class)
            return row;
    }
    struct strobe_path_row *row = STROBE_ARRAY_PUSH(path->rows, path->n_rows, path->rows_room);
    if (!row || strobe_index_add(index, hash, path->n_rows - 1))
        return STROBE_INDEX_NONE;
    *row = (struct strobe_path_row){.process = process, .loc = loc, .class = class};
    return path->n_rows - 1;
}

/* The places of a row are its longest; an instance that comes in pieces is one place. */
static void note_place(struct strobe_path_row *row, uint32_t thread, uint64_t begin, uint64_t ticks)
{
    struct strobe_path_place *least = &row->places[0];
    for (int i = 0; i < STROBE_PATH_PLACES; i++) {
        struct strobe_path_place *place = &row->places[i];
        if (place->ticks && place->begin == begin && place->thread == thread) {
            place->ticks += ticks;
            return;
        }
        if (place->ticks < least->ticks)
            least = place;
    }
    row->n_places++;
    if (ticks > least->ticks)
        *least = (struct strobe_path_place){begin, ticks, thread};
}

enum strobe_err strobe_path_settle(struct strobe_path *path, struct strobe_path_pending *pending,
                                   uint32_t process, uint32_t thread, uint32_t loc, uint64_t begin,
                                   struct strobe_index *index)
{
    for (uint32_t i = 0; i < pending->n_parts; i++) {
        enum strobe_path_class class = pending->parts[i].class;
        uint64_t ticks = pending->parts[i].ticks;
        uint32_t number = find_row(path, index, process, loc, class);
        if (number == STROBE_INDEX_NONE)
            return STROBE_ERR_NOMEM;
        struct strobe_path_row *row = &path->rows[number];
        row->ticks += ticks;
        row->held += pending->parts[i].held;
        row->n_allocs += i ? 0 : pending->n_allocs;
        if (pending->parts[i].lock)
            row->lock = pending->parts[i].lock;
        note_place(row, thread, begin, ticks);
        STROBE_ASSERT(class < STROBE_PATH_N_CLASSES);
        path->by_class[class] += ticks;
        path->ticks += ticks;
    }
    pending->n_parts = 0;
    pending->n_allocs = 0;
    return STROBE_OK;
}

/* Leave out the shorter half, or more. */
static void thin_stretches(struct strobe_path *path)
{
    while (path->n_stretches > STROBE_PATH_STRETCHES / 2) {
        uint32_t n = 0;
        path->least_ticks = path->least_ticks ? path->least_ticks * 2 : 1;
        for (uint32_t i = 0; i < path->n_stretches; i++)
            if (path->stretches[i].end - path->stretches[i].begin >= path->least_ticks)
                path->stretches[n++] = path->stretches[i];
        path->n_stretches = n;
    }
}

enum strobe_err strobe_path_note(struct strobe_path *path,
                                 const struct strobe_path_stretch *stretch)
{
    struct strobe_path_stretch *last =
        path->n_stretches ? &path->stretches[path->n_stretches - 1] : NULL;
    STROBE_ASSERT(stretch->begin < stretch->end && stretch->class < STROBE_PATH_N_CLASSES);
    if (last && last->begin == stretch->end && last->thread == stretch->thread &&
        last->class == stretch->class) {
        last->begin = stretch->begin;
        return STROBE_OK;
    }
    if (path->n_stretches == STROBE_PATH_STRETCHES)
        thin_stretches(path);
    struct strobe_path_stretch *next =
        STROBE_ARRAY_PUSH(path->stretches, path->n_stretches, path->stretches_room);
    if (!next)
        return STROBE_ERR_NOMEM;
    *next = *stretch;
    return STROBE_OK;
}

static int compare_rows(const void *a, const void *b)
{
    const struct strobe_path_row *x = a, *y = b;
    if (x->ticks != y->ticks)
        return x->ticks > y->ticks ? -1 : 1;
    return x->loc < y->loc ? -1 : x->loc > y->loc;
}

static int compare_places(const void *a, const void *b)
{
    const struct strobe_path_place *x = a, *y = b;
    return x->ticks > y->ticks ? -1 : x->ticks < y->ticks;
}

void strobe_path_sort(struct strobe_path *path)
{
    for (uint32_t i = 0; i < path->n_rows; i++) {
        struct strobe_path_row *row = &path->rows[i];
        qsort(row->places, STROBE_PATH_PLACES, sizeof *row->places, compare_places);
        row->thread = row->places[0].thread;
    }
    if (path->n_rows)
        qsort(path->rows, path->n_rows, sizeof *path->rows, compare_rows);
}
