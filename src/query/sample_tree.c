/* sample_tree.c - see sample_tree.h. Programs are at few places most of the time: stacks are counted as lists of addresses first, and each
 * different one is named and added once a step.  SPDX-License-Identifier: MIT */
#include "query/sample_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "query/strips.h"

#define ONLY_SAMPLES (1ull << STROBE_KIND_SAMPLE)

enum { NAME_BYTES = 200, MAX_FRAMES = 2048, FOUND_BYTES = 4096 };

/* The functions at an address, the innermost first: in `pool`; and the samples there. */
struct named {
    uint32_t first, n;
    uint64_t self, total;
    uint64_t last; /* number of the last stack that counted */
};

/* A function with the line that an address of it is on. */
struct frame {
    uint32_t function; /* index + 1 */
    uint32_t line;
};

/* A stack that was seen. */
struct seen {
    uint32_t process, first, n; /* in addresses */
    uint64_t count;
};

/* A thread's last sample, and since when it waits. */
struct waiter {
    uint64_t *list; /* owned */
    uint32_t n, room;
    uint32_t process;
    uint64_t since;
    uint8_t has_stack, is_waiting;
};

struct strobe_sample_names {
    struct strobe_idmap addresses; /* (process, address): index in named */
    struct named *named;           /* owned */
    uint32_t named_room;
    struct frame *pool; /* owned */
    uint32_t n_pool, pool_room;
    struct seen *stacks; /* owned */
    uint32_t n_stacks, stacks_room;
    struct strobe_index by_stack;
    uint64_t *list; /* owned: addresses of the stacks */
    uint32_t n_list, list_room;
    uint64_t n_added;       /* stacks so far */
    struct waiter *waiters; /* owned: by thread */
    uint32_t waiters_room;
    struct strobe_joiner joiner;
};

/* ---- names ---- */

static uint32_t function_of(struct strobe_sample_tree *tree, const char *name, size_t n,
                            const char *file, const char *image, uint32_t line)
{
    uint32_t text = strobe_texts_add(&tree->texts, name, n < NAME_BYTES ? n : NAME_BYTES);
    uint32_t known = tree->ids.n;
    uint32_t i = strobe_idmap_add_row(&tree->ids, 0, text, (void **)&tree->functions,
                                      &tree->functions_room, sizeof *tree->functions);
    if (i == STROBE_IDMAP_NONE)
        return 0;
    if (i >= known) {
        tree->functions[i].name = text;
        tree->functions[i].file = strobe_texts_add(&tree->texts, file, strlen(file));
        tree->functions[i].image = strobe_texts_add(&tree->texts, image, strlen(image));
        tree->functions[i].line = line;
    }
    return i + 1;
}

static void push_frame(struct strobe_sample_names *names, struct named *named, struct frame frame)
{
    struct frame *at = STROBE_ARRAY_PUSH(names->pool, names->n_pool, names->pool_room);
    if (!at || !frame.function)
        return;
    *at = frame;
    named->n++;
}

/* What no record names: "[module]", or "[unknown]" without one. */
static void name_module(struct strobe_sample_tree *tree, uint32_t process, uint64_t address,
                        struct named *named)
{
    const struct strobe_trace *trace = tree->view->trace;
    const char *path =
        strobe_trace_text(trace, strobe_stack_module_of(trace, process, address), NULL);
    const char *slash = strrchr(path, '/'), *name = slash && slash[1] ? slash + 1 : path;
    char room[NAME_BYTES + 3];
    int n = !*name           ? snprintf(room, sizeof room, "[unknown]")
            : name[0] == '[' ? snprintf(room, sizeof room, "%.200s", name)
                             : snprintf(room, sizeof room, "[%.200s]", name);
    push_frame(tree->names, named,
               (struct frame){function_of(tree, room, (size_t)n, "", path, 0), 0});
}

/* Names that come from elsewhere, a line feed between them. */
static void name_elsewhere(struct strobe_sample_tree *tree, uint32_t process, uint64_t address,
                           struct named *named)
{
    char room[FOUND_BYTES];
    if (!tree->name || !tree->name(tree->context, process, address, room, sizeof room))
        return;
    for (char *at = room; at;) {
        char *end = strchr(at, '\n');
        size_t n = end ? (size_t)(end - at) : strlen(at);
        push_frame(tree->names, named, (struct frame){function_of(tree, at, n, "", "", 0), 0});
        at = end ? end + 1 : NULL;
    }
}

static struct named name_address(struct strobe_sample_tree *tree, uint32_t process,
                                 uint64_t address)
{
    struct strobe_sample_names *names = tree->names;
    struct named named = {.first = names->n_pool};
    const struct strobe_stack_symbols *symbols = tree->symbols;
    const struct strobe_stack_symbol *at = strobe_stack_symbol_of(symbols, process, address);
    for (; at; at = at->next ? &symbols->rows[at->next - 1] : NULL) {
        uint32_t n;
        const char *function = strobe_texts_get(&symbols->texts, at->function, &n);
        const char *file = strobe_texts_get(&symbols->texts, at->file, NULL);
        const char *image = strobe_texts_get(&symbols->texts, at->image, NULL);
        if (!n)
            continue;
        uint32_t i = function_of(tree, function, n, file, image, at->line);
        push_frame(names, &named, (struct frame){i, *file ? at->line : 0});
    }
    if (!named.n)
        name_elsewhere(tree, process, address, &named);
    if (!named.n)
        name_module(tree, process, address, &named);
    return named;
}

/* NULL without memory. Valid until the next call. */
static struct named *names_of(struct strobe_sample_tree *tree, uint32_t process, uint64_t address)
{
    struct strobe_sample_names *names = tree->names;
    uint32_t known = names->addresses.n;
    uint32_t i = strobe_idmap_add_row(&names->addresses, process, address, (void **)&names->named,
                                      &names->named_room, sizeof *names->named);
    if (i == STROBE_IDMAP_NONE)
        return NULL;
    if (i >= known) {
        struct named named = name_address(tree, process, address);
        names->named[i] = named;
    }
    return &names->named[i];
}

/* ---- adding ---- */

static void count_line(struct strobe_sample_tree *tree, struct frame frame, uint64_t weight,
                       int is_innermost)
{
    uint32_t i = strobe_idmap_find(&tree->line_ids, frame.function, frame.line);
    if (i == STROBE_IDMAP_NONE && tree->line_ids.n < STROBE_SAMPLE_TREE_LINES)
        i = strobe_idmap_add_row(&tree->line_ids, frame.function, frame.line, (void **)&tree->lines,
                                 &tree->lines_room, sizeof *tree->lines);
    if (i == STROBE_IDMAP_NONE)
        return;
    struct strobe_sample_line *line = &tree->lines[i];
    line->function = frame.function - 1;
    line->line = frame.line;
    line->self += is_innermost ? weight : 0;
    line->total += line->last != tree->names->n_added ? weight : 0;
    line->last = tree->names->n_added;
}

static void count_frame(struct strobe_sample_tree *tree, struct frame frame, uint64_t weight,
                        int is_innermost)
{
    struct strobe_sample_function *function = &tree->functions[frame.function - 1];
    function->self += is_innermost ? weight : 0;
    function->total += function->last != tree->names->n_added ? weight : 0;
    function->last = tree->names->n_added;
    if (frame.line)
        count_line(tree, frame, weight, is_innermost);
}

static void count_place(const struct strobe_sample_names *names, struct named *named,
                        uint64_t weight, int is_innermost)
{
    if (!named)
        return;
    named->self += is_innermost ? weight : 0;
    named->total += named->last != names->n_added ? weight : 0;
    named->last = names->n_added;
}

static enum strobe_err add_stack(struct strobe_sample_tree *tree, const struct seen *seen)
{
    struct strobe_sample_names *names = tree->names;
    uint32_t path[MAX_FRAMES], n = 0;
    names->n_added++;
    if (tree->is_off && !seen->n) {
        static const char none[] = "[before its first sample]";
        struct frame frame = {function_of(tree, none, sizeof none - 1, "", "", 0), 0};
        if (frame.function)
            count_frame(tree, frame, seen->count, 1);
        path[n++] = frame.function;
    }
    for (uint32_t i = 0; i < seen->n; i++) {
        struct named *named = names_of(tree, seen->process, names->list[seen->first + i]);
        count_place(names, named, seen->count, i == 0);
        for (uint32_t j = 0; named && j < named->n; j++) {
            struct frame frame = names->pool[named->first + j];
            count_frame(tree, frame, seen->count, n == 0);
            if (n < MAX_FRAMES)
                path[n++] = frame.function;
        }
    }
    for (uint32_t i = 0; i < n / 2; i++) { /* the outermost first */
        uint32_t other = path[n - 1 - i];
        path[n - 1 - i] = path[i];
        path[i] = other;
    }
    return strobe_flame_add_path(&tree->flame, path, n, seen->count);
}

static enum strobe_err add_stacks(struct strobe_sample_tree *tree)
{
    struct strobe_sample_names *names = tree->names;
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; i < names->n_stacks && !err; i++)
        err = add_stack(tree, &names->stacks[i]);
    names->n_stacks = names->n_list = 0;
    strobe_index_free(&names->by_stack);
    return err;
}

/* ---- counting ---- */

static uint64_t hash_stack(uint32_t process, const uint64_t *list, uint32_t n, uint64_t seed)
{
    uint64_t hash = strobe_hash_u64(process + 1ull, seed);
    for (uint32_t i = 0; i < n; i++)
        hash = strobe_hash_pair(hash, list[i], seed);
    return hash;
}

static enum strobe_err count_stack(struct strobe_sample_tree *tree, uint32_t process,
                                   const uint64_t *list, uint32_t n, uint64_t weight)
{
    struct strobe_sample_names *names = tree->names;
    uint64_t hash = hash_stack(process, list, n, strobe_index_seed(&names->by_stack));
    tree->n_samples++;
    tree->weight += weight;
    STROBE_INDEX_EACH (i, at, &names->by_stack, hash) {
        struct seen *seen = &names->stacks[i];
        if (seen->process == process && seen->n == n &&
            !memcmp(names->list + seen->first, list, n * sizeof *list)) {
            seen->count += weight;
            return STROBE_OK;
        }
    }
    if (names->n_stacks >= STROBE_SAMPLE_TREE_STACKS) {
        enum strobe_err err = add_stacks(tree);
        if (err)
            return err;
        hash = hash_stack(process, list, n, strobe_index_seed(&names->by_stack));
    }
    if (STROBE_ARRAY_RESERVE(names->list, names->list_room, (uint64_t)names->n_list + n) ||
        STROBE_ARRAY_RESERVE(names->stacks, names->stacks_room, names->n_stacks + 1ull) ||
        strobe_index_add(&names->by_stack, hash, names->n_stacks))
        return STROBE_ERR_NOMEM;
    if (n)
        memcpy(names->list + names->n_list, list, n * sizeof *list);
    names->stacks[names->n_stacks++] = (struct seen){process, names->n_list, n, weight};
    names->n_list += n;
    return STROBE_OK;
}

static uint32_t first_of(const struct strobe_trace *trace, uint32_t thread)
{
    uint32_t twin = trace->threads[thread].twin;
    return twin ? twin - 1 : thread;
}

static int is_in_span(const struct strobe_sample_tree *tree, uint32_t thread, uint64_t tick)
{
    if (!tree->spans)
        return 1;
    uint32_t first = first_of(tree->view->trace, thread);
    uint64_t i =
        STROBE_ARRAY_BISECT(0, tree->n_spans, j,
                            tree->spans[j].thread < first ||
                                (tree->spans[j].thread == first && tree->spans[j].begin <= tick));
    return i && tree->spans[i - 1].thread == first && tick < tree->spans[i - 1].end;
}

/* ---- waits ---- */

/* A wait from `since` to `end` counts with what of it is in the range. */
static enum strobe_err count_wait(struct strobe_sample_tree *tree, uint32_t thread,
                                  struct waiter *waiter, uint64_t end)
{
    uint64_t from = waiter->since > tree->lo ? waiter->since : tree->lo;
    uint64_t to = end <= tree->hi ? end : tree->hi + 1;
    int is_counted = waiter->is_waiting && from < to && is_in_span(tree, thread, waiter->since);
    waiter->is_waiting = 0;
    return is_counted ? count_stack(tree, waiter->process, waiter->list,
                                    waiter->has_stack ? waiter->n : 0, to - from)
                      : STROBE_OK;
}

static enum strobe_err take_turn(struct strobe_sample_tree *tree, uint32_t thread,
                                 const struct strobe_event *event)
{
    struct strobe_sample_names *names = tree->names;
    if (STROBE_ARRAY_REACH(names->waiters, names->waiters_room, thread))
        return STROBE_ERR_NOMEM;
    struct waiter *waiter = &names->waiters[thread];
    const struct strobe_field *stack = &event->fields[1];
    waiter->process = tree->view->trace->threads[thread].process;
    if (event->kind == STROBE_KIND_SWITCH_IN || event->kind == STROBE_KIND_WAKEUP ||
        event->kind == STROBE_KIND_WOKEN)
        return count_wait(tree, thread, waiter, event->tick);
    if (event->kind == STROBE_KIND_SWITCH_OUT) {
        waiter->since = event->tick;
        waiter->is_waiting = !strobe_strips_is_ready(event->fields[1].u);
    } else if (event->kind == STROBE_KIND_SAMPLE) {
        if (STROBE_ARRAY_RESERVE(waiter->list, waiter->room, stack->u + 1))
            return STROBE_ERR_NOMEM;
        waiter->n = (uint32_t)stack->u;
        waiter->has_stack = 1;
        memcpy(waiter->list, stack->list, waiter->n * sizeof *waiter->list);
    }
    return STROBE_OK;
}

/* Waits that go on to the end. */
static enum strobe_err end_waits(struct strobe_sample_tree *tree)
{
    const struct strobe_trace *trace = tree->view->trace;
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; i < tree->names->waiters_room && i < trace->thread_ids.n && !err; i++) {
        uint64_t end = trace->threads[i].end_tick, last = tree->view->tick_last;
        err = count_wait(tree, i, &tree->names->waiters[i], end && end < last ? end : last);
    }
    return err;
}

/* ---- blocks ---- */

/* 1: one of the part's events is of the kind. */
static int has_kind(const struct strobe_events *events, const struct strobe_part *part, int kind)
{
    return part->n_events &&
           memchr(events->stream[STROBE_SYM] + part->first_event, kind, part->n_events) != NULL;
}

static int has_samples(const struct strobe_events *events, const struct strobe_part *part)
{
    return has_kind(events, part, STROBE_KIND_SAMPLE);
}

static enum strobe_err do_part(struct strobe_sample_tree *tree, const struct strobe_events *events,
                               const struct strobe_part *part, uint32_t thread)
{
    struct strobe_cursor cursor;
    struct strobe_event event;
    enum strobe_err err = STROBE_OK;
    uint32_t process = tree->view->trace->threads[thread].process;
    tree->names->joiner.n_text = 0;
    strobe_cursor_start(&cursor, events, part, &tree->view->trace->schema, &tree->names->joiner);
    while (!err && strobe_cursor_next(&cursor, &event) == STROBE_OK)
        if (tree->is_off)
            err = take_turn(tree, thread, &event);
        else if (event.kind == STROBE_KIND_SAMPLE && event.tick >= tree->lo &&
                 event.tick <= tree->hi && is_in_span(tree, thread, event.tick))
            err = count_stack(tree, process, event.fields[1].list, (uint32_t)event.fields[1].u, 1);
    return err;
}

static enum strobe_err do_block(struct strobe_sample_tree *tree, uint32_t block)
{
    const struct strobe_events *events = strobe_view_glance(tree->view, block);
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; events && i < events->n_parts && !err; i++) {
        const struct strobe_part *part = &events->parts[i];
        if (tree->is_off
                ? !has_samples(events, part) && !has_kind(events, part, STROBE_KIND_SWITCH_OUT) &&
                      !has_kind(events, part, STROBE_KIND_SWITCH_IN)
                : !has_samples(events, part) || part->last_tick < tree->lo)
            continue;
        uint32_t thread = strobe_view_thread(tree->view, part->proc, part->track);
        if (thread != STROBE_IDMAP_NONE &&
            (!tree->threads || (thread < tree->n_threads && tree->threads[thread])))
            err = do_part(tree, events, part, thread);
    }
    return err;
}

/* The next block that may have such events in the range. */
static uint32_t next_block(struct strobe_view *view, uint32_t block, uint64_t lo, uint64_t hi,
                           uint64_t kinds)
{
    while ((block = strobe_view_next(view, block, lo, hi)) != STROBE_VIEW_NO_BLOCK &&
           !(strobe_view_block(view, block).kinds & kinds))
        block++;
    return block;
}

uint32_t strobe_sample_tree_path(struct strobe_sample_tree *tree, uint32_t process,
                                 const uint64_t *addresses, uint32_t n, uint32_t *path,
                                 uint32_t room)
{
    uint32_t n_path = 0;
    if (!tree->names && !(tree->names = calloc(1, sizeof *tree->names)))
        return 0;
    for (uint32_t i = n; i-- > 0 && n_path < room;) {
        struct named *named = names_of(tree, process, addresses[i]);
        for (uint32_t j = named ? named->n : 0; j-- > 0 && n_path < room;)
            path[n_path++] = tree->names->pool[named->first + j].function;
    }
    return n_path;
}

static int has_function(const struct strobe_sample_names *names, const struct named *named,
                        uint32_t function)
{
    for (uint32_t i = 0; i < named->n; i++)
        if (names->pool[named->first + i].function == function + 1)
            return 1;
    return function == UINT32_MAX;
}

uint32_t strobe_sample_tree_places(const struct strobe_sample_tree *tree, uint32_t function,
                                   struct strobe_sample_place **out)
{
    const struct strobe_sample_names *names = tree->names;
    uint32_t n = 0, n_all = names ? names->addresses.n : 0;
    *out = calloc(n_all + 1ull, sizeof **out);
    for (uint32_t i = 0; *out && i < n_all; i++)
        if (names->named[i].total && has_function(names, &names->named[i], function))
            (*out)[n++] = (struct strobe_sample_place){names->addresses.keys[i].scope,
                                                       names->addresses.keys[i].id,
                                                       names->named[i].self, names->named[i].total};
    return n;
}

enum strobe_err strobe_sample_tree_step(struct strobe_sample_tree *tree, uint64_t most_events)
{
    struct strobe_view *view = tree->view;
    enum strobe_err err = strobe_stack_symbols_load(view->trace, tree->symbols);
    if (!tree->names && !(tree->names = calloc(1, sizeof *tree->names)))
        return STROBE_ERR_NOMEM;
    uint64_t kinds = tree->is_off ? strobe_strips_kinds() : ONLY_SAMPLES;
    uint64_t lo = tree->is_off ? 0 : tree->lo; /* what a wait began with may be long ago */
    tree->is_whole = 0;
    for (uint64_t n_events = 0; !err && n_events < most_events;) {
        uint32_t block = next_block(view, tree->next_block, lo, tree->hi, kinds);
        if (block == STROBE_VIEW_NO_BLOCK) {
            tree->is_whole = 1;
            break;
        }
        err = do_block(tree, block);
        tree->next_block = block + 1;
        n_events += strobe_view_block(view, block).n_events;
    }
    if (!err && tree->is_whole && tree->is_off)
        err = end_waits(tree);
    return err ? err : add_stacks(tree);
}

double strobe_sample_tree_share(const struct strobe_sample_tree *tree)
{
    struct strobe_view *view = tree->view;
    uint64_t lo = tree->is_off ? 0 : tree->lo;
    uint32_t first = strobe_view_next(view, 0, lo, tree->hi);
    uint32_t last = strobe_view_prev(view, view->n_blocks, lo, tree->hi);
    if (tree->is_whole || first == STROBE_VIEW_NO_BLOCK || tree->next_block > last)
        return 1;
    return tree->next_block <= first ? 0 : (tree->next_block - first) / (last + 1.0 - first);
}

void strobe_sample_tree_free(struct strobe_sample_tree *tree)
{
    struct strobe_sample_names *names = tree->names;
    if (names) {
        strobe_idmap_free(&names->addresses);
        strobe_index_free(&names->by_stack);
        strobe_joiner_free(&names->joiner);
        for (uint32_t i = 0; i < names->waiters_room; i++)
            free(names->waiters[i].list);
        free(names->waiters);
        free(names->named);
        free(names->pool);
        free(names->stacks);
        free(names->list);
    }
    free(names);
    strobe_flame_free(&tree->flame);
    strobe_texts_free(&tree->texts);
    strobe_idmap_free(&tree->ids);
    strobe_idmap_free(&tree->line_ids);
    free(tree->functions);
    free(tree->lines);
    memset(tree, 0, sizeof *tree);
}

/* ---- one sample ---- */

static enum strobe_err keep_sample(struct strobe_sample_found *found, uint32_t thread,
                                   const struct strobe_event *event)
{
    const struct strobe_field *stack = &event->fields[1];
    if (STROBE_ARRAY_RESERVE(found->addresses, found->room, stack->u))
        return STROBE_ERR_NOMEM;
    found->n = (uint32_t)stack->u;
    if (found->n)
        memcpy(found->addresses, stack->list, found->n * sizeof *stack->list);
    found->tick = event->tick;
    found->cpu = event->fields[0].u;
    found->thread = thread;
    return STROBE_OK;
}

/* Samples of a part that are nearer than `slack`, which follows the nearest. */
static int search_part(struct strobe_view *view, const struct strobe_events *events,
                       const struct strobe_part *part, uint32_t thread, uint64_t tick,
                       uint64_t *slack, struct strobe_sample_found *found)
{
    struct strobe_joiner joiner = {0};
    struct strobe_cursor cursor;
    struct strobe_event event;
    int is_found = 0;
    strobe_cursor_start(&cursor, events, part, &view->trace->schema, &joiner);
    while (strobe_cursor_next(&cursor, &event) == STROBE_OK) {
        uint64_t far = event.tick > tick ? event.tick - tick : tick - event.tick;
        if (event.kind != STROBE_KIND_SAMPLE || far > *slack || (is_found && far == *slack) ||
            keep_sample(found, thread, &event))
            continue;
        *slack = far;
        is_found = 1;
    }
    strobe_joiner_free(&joiner);
    return is_found;
}

int strobe_sample_find(struct strobe_view *view, uint32_t thread, uint64_t tick, uint64_t slack,
                       struct strobe_sample_found *out)
{
    uint64_t lo = tick > slack ? tick - slack : 0;
    uint64_t hi = tick < UINT64_MAX - slack ? tick + slack : UINT64_MAX;
    uint32_t wanted = first_of(view->trace, thread), block = 0;
    int is_found = 0;
    while ((block = next_block(view, block, lo, hi, ONLY_SAMPLES)) != STROBE_VIEW_NO_BLOCK) {
        const struct strobe_events *events = strobe_view_events(view, block++);
        for (uint32_t i = 0; events && i < events->n_parts; i++) {
            const struct strobe_part *part = &events->parts[i];
            if (part->last_tick < lo || part->first_tick > hi || !has_samples(events, part))
                continue;
            uint32_t at = strobe_view_thread(view, part->proc, part->track);
            if (at != STROBE_IDMAP_NONE && first_of(view->trace, at) == wanted)
                is_found |= search_part(view, events, part, at, tick, &slack, out);
        }
    }
    return is_found;
}
