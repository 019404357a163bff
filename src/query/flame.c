/* flame.c - follows every thread's stack of zones through the blocks of a range.
 *
 * Zones come in the order of their ends; in the order of their begins each one's parents are known: those still open from
 * the parts before (carried along, looked up once at the start of the range) and those that began before it in its part.
 *
 * When there are too many paths, the deepest levels are given up for good: what is left is complete and adds up.
 * SPDX-License-Identifier: MIT */
#include "query/flame.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "query/pixels_open.h"

enum { MAX_DEPTH = 512 };

/* A zone of a part in the order of begins. */
struct zone {
    uint64_t begin, ticks, self, loc;
    uint32_t depth;
    uint8_t is_ended;
    uint32_t order; /* of listing */
};

struct run {
    struct strobe_flame *flame; /* borrowed */
    struct zone *zones;         /* owned */
    uint32_t n_zones, zones_room;
    struct strobe_replay replay;
    uint32_t locs[MAX_DEPTH]; /* of the path at hand, by depth */
    uint32_t path[MAX_DEPTH]; /* nodes of the first n_path of them, index + 1 */
    uint32_t n_path;
    int failed;
};

static uint64_t hash_of(const struct strobe_flame *flame, uint32_t parent, uint32_t loc)
{
    return strobe_hash_u64((uint64_t)parent << 32 | loc, flame->by_path.seed);
}

static enum strobe_err index_nodes(struct strobe_flame *flame)
{
    enum strobe_err err = STROBE_OK;
    strobe_index_free(&flame->by_path);
    for (uint32_t i = 0; !err && i < flame->n_nodes; i++)
        err = strobe_index_add(&flame->by_path,
                               hash_of(flame, flame->nodes[i].parent, flame->nodes[i].loc), i);
    return err;
}

/* Copy the nodes that are kept to `to`, which may be where they are; keep[i] is replaced by the number of nodes kept up to it. Of
 * a node that is kept, so is its parent. The number kept. */
static uint32_t copy_nodes(const struct strobe_flame *flame, uint32_t *keep,
                           struct strobe_flame_node *to)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < flame->n_nodes; i++) {
        struct strobe_flame_node node = flame->nodes[i];
        if (keep[i]) {
            node.parent = node.parent ? keep[node.parent - 1] : 0;
            to[n++] = node;
        }
        keep[i] = n;
    }
    return n;
}

/* Take out nodes and all that is below them. The index no longer holds. */
static void drop_nodes(struct strobe_flame *flame, uint32_t *keep)
{
    uint32_t n = copy_nodes(flame, keep, flame->nodes);
    flame->n_left_out += flame->n_nodes - n;
    flame->n_nodes = n;
}

/* Room for one more path: levels are given up from the deepest on, until half of the nodes are free; never the roots. 0: no memory. *moved: nodes
 * have other numbers now. */
static int make_room(struct strobe_flame *flame, int *moved)
{
    uint32_t n_at[MAX_DEPTH] = {0}, n_levels = 1;
    if (flame->n_nodes + MAX_DEPTH <= STROBE_FLAME_MAX_NODES || flame->n_levels == 1)
        return 1;
    uint32_t *keep = calloc(flame->n_nodes, sizeof *keep);
    if (!keep)
        return 0;
    for (uint32_t i = 0; i < flame->n_nodes; i++)
        n_at[flame->nodes[i].depth]++;
    for (uint32_t n = n_at[0]; n_levels < MAX_DEPTH; n_levels++)
        if ((n += n_at[n_levels]) > STROBE_FLAME_MAX_NODES / 2)
            break;
    for (uint32_t i = 0; i < flame->n_nodes; i++)
        keep[i] = flame->nodes[i].depth < n_levels;
    flame->n_levels = n_levels;
    *moved = 1;
    drop_nodes(flame, keep);
    free(keep);
    return !index_nodes(flame);
}

/* The child of `parent` (index + 1; 0: a root) with a location, made if its level is kept; 0: none. */
static uint32_t child_of(struct strobe_flame *flame, uint32_t parent, uint32_t loc)
{
    uint32_t depth = parent ? flame->nodes[parent - 1].depth + 1 : 0;
    if (flame->n_levels && depth >= flame->n_levels)
        return 0;
    strobe_index_seed(&flame->by_path);
    uint64_t hash = hash_of(flame, parent, loc);
    STROBE_INDEX_EACH (i, at, &flame->by_path, hash)
        if (flame->nodes[i].parent == parent && flame->nodes[i].loc == loc)
            return i + 1;
    if (flame->n_nodes >= STROBE_FLAME_MAX_NODES ||
        STROBE_ARRAY_RESERVE(flame->nodes, flame->nodes_room, flame->n_nodes + 1ull) ||
        strobe_index_add(&flame->by_path, hash, flame->n_nodes)) {
        flame->n_left_out++;
        return 0;
    }
    flame->nodes[flame->n_nodes++] =
        (struct strobe_flame_node){.parent = parent, .loc = loc, .depth = depth};
    return flame->n_nodes;
}

/* The zones before had most of the path. */
static void add_down(struct run *run, const struct zone *zone)
{
    STROBE_ASSERT(run->n_path <= zone->depth);
    uint32_t node = run->n_path ? run->path[run->n_path - 1] : 0;
    for (uint32_t d = run->n_path; d <= zone->depth; d++) {
        if (!(node = child_of(run->flame, node, run->locs[d])))
            return;
        run->path[run->n_path++] = node;
    }
    run->flame->nodes[node - 1].count++;
    run->flame->nodes[node - 1].total += zone->ticks;
    run->flame->nodes[node - 1].self += zone->self;
}

static void add_up(struct run *run, const struct zone *zone)
{
    uint32_t node = 0;
    for (uint32_t d = zone->depth + 1; d-- > 0;) {
        if (!(node = child_of(run->flame, node, run->locs[d])))
            return;
        run->flame->nodes[node - 1].count++;
        run->flame->nodes[node - 1].total += zone->self;
        if (d == zone->depth)
            run->flame->nodes[node - 1].self += zone->self;
    }
}

/* The next zone in the order of begins, and the number of its location. */
static void count_zone(struct run *run, const struct zone *zone, uint32_t loc)
{
    run->locs[zone->depth] = loc;
    run->n_path = run->n_path < zone->depth ? run->n_path : zone->depth;
    const struct strobe_flame *flame = run->flame;
    if (!zone->is_ended || zone->begin < flame->lo || zone->begin > flame->hi)
        return;
    int moved = 0;
    if (!make_room(run->flame, &moved))
        run->failed = 1;
    run->n_path = moved ? 0 : run->n_path;
    if (run->failed)
        return;
    if (flame->is_up)
        add_up(run, zone);
    else
        add_down(run, zone);
}

static int by_begin(const void *a, const void *b)
{
    const struct zone *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void add_zone(struct run *run, struct zone zone)
{
    if (STROBE_ARRAY_REACH(run->zones, run->zones_room, run->n_zones)) {
        run->failed = 1;
        return;
    }
    zone.order = run->n_zones;
    run->zones[run->n_zones++] = zone;
}

static void list_zones(struct run *run, const struct strobe_part *part,
                       const struct strobe_carry *carry)
{
    run->n_zones = 0;
    for (uint32_t i = 0; i < run->replay.n_zones; i++) {
        const struct strobe_zone_row *row = &run->replay.zones[i];
        if (row->state == STROBE_ZONE_ENDED && row->depth < MAX_DEPTH)
            add_zone(run, (struct zone){row->begin, row->ticks, row->self,
                                        strobe_zone_loc(part, row), row->depth, 1, 0});
    }
    for (uint32_t i = 0; i < carry->n_open && i < MAX_DEPTH; i++)
        if (!carry->open[i].is_unknown)
            add_zone(run, (struct zone){carry->open[i].begin, 0, 0, carry->open[i].loc, i, 0, 0});
    if (run->n_zones)
        qsort(run->zones, run->n_zones, sizeof *run->zones, by_begin);
}

/* What is open after the part, for the next one. */
static void keep_open(struct strobe_open_list *open, const struct strobe_carry *carry)
{
    for (uint32_t i = 0; i < carry->n_open && i < MAX_DEPTH; i++) {
        if (STROBE_ARRAY_REACH(open->zones, open->room, i))
            return;
        if (!carry->open[i].is_unknown)
            open->zones[i] =
                (struct strobe_open_at){carry->open[i].begin, carry->open[i].loc, 1, 0};
    }
    open->n = carry->n_open < MAX_DEPTH ? carry->n_open : MAX_DEPTH;
}

static void do_part(struct run *run, const struct strobe_events *events,
                    const struct strobe_part *part, uint32_t thread)
{
    struct strobe_flame *flame = run->flame;
    struct strobe_carry carry = {0};
    struct strobe_open_list *open = &flame->open[thread];
    uint32_t process = flame->view->trace->threads[thread].process;
    strobe_replay_part(events, part, &flame->view->trace->schema, 0, &carry, &run->replay);
    list_zones(run, part, &carry);
    memset(run->locs, 0, sizeof run->locs);
    run->n_path = 0;
    for (uint32_t i = 0; i < open->n && i < MAX_DEPTH; i++)
        if (open->zones[i].is_known)
            run->locs[i] = flame->number(flame->context, process, open->zones[i].loc);
    for (uint32_t i = 0; i < run->n_zones; i++) {
        const struct zone *zone = &run->zones[i];
        count_zone(run, zone, flame->number(flame->context, process, zone->loc));
    }
    keep_open(open, &carry);
    strobe_carry_free(&carry);
}

static int is_wanted(const struct strobe_flame *flame, uint32_t thread)
{
    return !flame->view->trace->threads[thread].twin && /* those come by strobe_flame_step_rows */
           (!flame->threads || (thread < flame->n_threads && flame->threads[thread]));
}

/* A list of open zones for each thread that is known by now. */
static enum strobe_err reach_threads(struct strobe_flame *flame)
{
    uint32_t n = flame->view->trace->thread_ids.n;
    if (n && STROBE_ARRAY_REACH(flame->open, flame->open_room, n - 1))
        return STROBE_ERR_NOMEM;
    flame->n_open = n;
    return STROBE_OK;
}

/* The stacks of all threads at the start of the range. */
static enum strobe_err look_before(struct strobe_flame *flame)
{
    uint32_t n = flame->n_open;
    if (flame->is_begun || flame->lo <= flame->view->tick_first)
        return STROBE_OK;
    uint32_t *wanted = calloc(n + 1ull, sizeof *wanted);
    if (!wanted)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        wanted[i] = is_wanted(flame, i) ? i + 1 : 0;
    enum strobe_err err = strobe_pixels_open(flame->view, flame->lo - 1, wanted, n, flame->open, n);
    free(wanted);
    return err;
}

static void do_block(struct run *run, uint32_t block)
{
    struct strobe_flame *flame = run->flame;
    const struct strobe_events *events = strobe_view_glance(flame->view, block);
    for (uint32_t i = 0; events && i < events->n_parts; i++) {
        const struct strobe_part *part = &events->parts[i];
        uint32_t thread = strobe_view_thread(flame->view, part->proc, part->track);
        if (thread < flame->n_open && part->n_events && part->last_tick >= flame->lo &&
            is_wanted(flame, thread))
            do_part(run, events, part, thread);
    }
}

static void do_blocks(struct run *run, uint64_t most_events)
{
    struct strobe_flame *flame = run->flame;
    for (uint64_t n_events = 0; !run->failed;) {
        uint32_t block = strobe_view_next(flame->view, flame->next_block, flame->lo, flame->hi);
        flame->is_whole = block == STROBE_VIEW_NO_BLOCK;
        if (flame->is_whole || n_events >= most_events)
            return;
        do_block(run, block);
        flame->next_block = block + 1;
        n_events += strobe_view_block(flame->view, block).n_events;
    }
}

enum strobe_err strobe_flame_step(struct strobe_flame *flame, uint64_t most_events)
{
    struct run run = {.flame = flame};
    enum strobe_err err = reach_threads(flame);
    if (!err)
        err = look_before(flame);
    flame->is_begun = 1;
    if (!err)
        do_blocks(&run, most_events);
    free(run.zones);
    strobe_replay_free(&run.replay);
    return err ? err : run.failed ? STROBE_ERR_NOMEM : STROBE_OK;
}

double strobe_flame_share(const struct strobe_flame *flame)
{
    struct strobe_view *view = flame->view;
    uint32_t first = strobe_view_next(view, 0, flame->lo, flame->hi);
    uint32_t last = strobe_view_prev(view, view->n_blocks, flame->lo, flame->hi);
    if (flame->is_whole || first == STROBE_VIEW_NO_BLOCK || flame->next_block > last)
        return 1;
    return flame->next_block <= first ? 0 : (flame->next_block - first) / (last + 1.0 - first);
}

/* ---- rows of tables ---- */

/* Rows that ended and open ones, each by begin: both together, with the path at hand. */
struct strobe_flame_rows {
    struct run run;
    struct strobe_rows_place place;
    struct strobe_row_walk walks[2];
    struct strobe_pixel_row heads[2]; /* of both walks: the next one */
    uint8_t has[2];
};

static void advance(struct strobe_flame_rows *rows, int which)
{
    const struct strobe_pixel_row *row = strobe_row_walk_next(&rows->walks[which], NULL);
    rows->has[which] = row != NULL;
    if (row)
        rows->heads[which] = *row;
}

enum strobe_err strobe_flame_start_rows(struct strobe_flame *flame,
                                        const struct strobe_rows_place *place)
{
    free(flame->rows);
    struct strobe_flame_rows *rows = flame->rows = calloc(1, sizeof *rows);
    if (!rows)
        return STROBE_ERR_NOMEM;
    rows->run.flame = flame;
    rows->place = *place;
    for (int i = 0; i < 2; i++) {
        rows->walks[i] = (struct strobe_row_walk){.place = &rows->place,
                                                  .lo = flame->lo,
                                                  .hi = flame->hi,
                                                  .only = i ? STROBE_ROWS_OPEN : STROBE_ROWS_ENDED};
        advance(rows, i);
    }
    return STROBE_OK;
}

/* 1: the open row is next. */
static int is_open_next(const struct strobe_flame_rows *rows)
{
    const struct strobe_pixel_row *ended = &rows->heads[0], *open = &rows->heads[1];
    if (!rows->has[0] || !rows->has[1])
        return rows->has[1];
    return open->begin != ended->begin ? open->begin < ended->begin : open->depth < ended->depth;
}

enum strobe_err strobe_flame_step_rows(struct strobe_flame *flame, uint64_t *most)
{
    struct strobe_flame_rows *rows = flame->rows;
    while (rows && *most && (rows->has[0] || rows->has[1]) && !rows->run.failed) {
        int which = is_open_next(rows);
        const struct strobe_pixel_row *row = &rows->heads[which];
        const struct zone zone = {row->begin, row->end - row->begin,  row->self, row->loc,
                                  row->depth, row->end != UINT64_MAX, 0};
        if (zone.depth < MAX_DEPTH && row->end >= flame->lo && row->begin <= flame->hi)
            count_zone(&rows->run, &zone, flame->row_number(flame->context, zone.loc));
        advance(rows, which);
        --*most;
    }
    if (!rows || (*most && !rows->run.failed) || rows->run.failed) {
        enum strobe_err err = rows && rows->run.failed ? STROBE_ERR_NOMEM : STROBE_OK;
        free(rows);
        flame->rows = NULL;
        return err;
    }
    return STROBE_OK;
}

enum strobe_err strobe_flame_add_path(struct strobe_flame *flame, const uint32_t *locs, uint32_t n,
                                      uint64_t weight)
{
    uint32_t node = 0;
    int moved = 0;
    if (!make_room(flame, &moved))
        return STROBE_ERR_NOMEM;
    n = n < MAX_DEPTH ? n : MAX_DEPTH;
    for (uint32_t i = 0; i < n; i++) {
        if (!(node = child_of(flame, node, locs[flame->is_up ? n - 1 - i : i])))
            return STROBE_OK; /* counted as left out */
        flame->nodes[node - 1].count += weight;
        flame->nodes[node - 1].total += weight;
        if (i == (flame->is_up ? 0 : n - 1))
            flame->nodes[node - 1].self += weight;
    }
    return STROBE_OK;
}

/* ---- the largest ---- */

/* By node, its ticks. A parent has at least its children's, even if it did not end. Of all roots together. */
static uint64_t weigh(const struct strobe_flame *flame, uint64_t *ticks)
{
    uint64_t total = 0;
    for (uint32_t i = flame->n_nodes; i-- > 0;) { /* its children's time is there by now */
        const struct strobe_flame_node *node = &flame->nodes[i];
        ticks[i] = node->total > ticks[i] ? node->total : ticks[i];
        if (node->parent)
            ticks[node->parent - 1] += ticks[i];
        else
            total += ticks[i];
    }
    return total;
}

/* The `rank`th largest number, counted from 1, byte by byte from the highest on: no copy is made. *n_equal: how many of those that
 * equal it are among the `rank` largest. */
static uint64_t find_ranked(const uint64_t *numbers, uint32_t n, uint32_t rank, uint32_t *n_equal)
{
    uint64_t found = 0, known = 0;
    STROBE_ASSERT(rank >= 1 && rank <= n);
    for (int shift = 56; shift >= 0; shift -= 8) {
        uint32_t n_of[256] = {0}, byte = 255;
        for (uint32_t i = 0; i < n; i++)
            if ((numbers[i] & known) == found)
                n_of[numbers[i] >> shift & 255]++;
        for (; n_of[byte] < rank; byte--)
            rank -= n_of[byte];
        found |= (uint64_t)byte << shift;
        known |= 255ull << shift;
    }
    *n_equal = rank;
    return found;
}

/* Mark the `limit` nodes with the most ticks, of equal ones the first: parents come before their children. The number marked. */
static uint32_t mark_largest(const uint64_t *ticks, uint32_t n, uint32_t limit, uint32_t *keep)
{
    uint32_t n_equal = 0, n_kept = limit < n ? limit : n;
    if (!n_kept)
        return 0;
    uint64_t least = find_ranked(ticks, n, n_kept, &n_equal);
    for (uint32_t i = 0; i < n; i++)
        keep[i] = ticks[i] > least || (ticks[i] == least && n_equal && n_equal--);
    return n_kept;
}

enum strobe_err strobe_flame_choose(const struct strobe_flame *flame, uint32_t limit,
                                    struct strobe_flame *out)
{
    uint32_t n = flame->n_nodes;
    *out = (struct strobe_flame){.n_levels = flame->n_levels};
    uint64_t *ticks = calloc(n + 1ull, sizeof *ticks);
    uint32_t *keep = calloc(n + 1ull, sizeof *keep);
    enum strobe_err err = ticks && keep ? STROBE_OK : STROBE_ERR_NOMEM;
    if (!err) {
        out->total = weigh(flame, ticks);
        out->n_nodes = mark_largest(ticks, n, limit, keep);
        out->nodes = calloc(out->n_nodes + 1ull, sizeof *out->nodes);
        err = out->nodes ? STROBE_OK : STROBE_ERR_NOMEM;
    }
    free(ticks);
    if (!err)
        copy_nodes(flame, keep, out->nodes);
    out->n_nodes = err ? 0 : out->n_nodes;
    out->n_left_out = flame->n_left_out + n - out->n_nodes;
    free(keep);
    return err;
}

void strobe_flame_free(struct strobe_flame *flame)
{
    for (uint32_t i = 0; i < flame->open_room; i++)
        free(flame->open[i].zones);
    free(flame->open);
    free(flame->rows);
    free(flame->nodes);
    strobe_index_free(&flame->by_path);
    memset(flame, 0, sizeof *flame);
}
