/* regions.c - see the header. The first pass collects stretches; sorted by their begins, with the latest end of each block beside,
 * those around a moment are found from the last that begins before it backwards, block by block. The second pass sums.
 * SPDX-License-Identifier: MIT */
#include "query/regions.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/walk.h"

enum { BLOCK = 64, GROUP = BLOCK * BLOCK };
#define NO_STRETCH UINT64_MAX

struct strobe_stretch {
    int64_t begin_ns, end_ns;
    uint32_t region;
    uint32_t owner; /* index of its process or thread, as the scope wants it; 0 with ALL */
    uint32_t process;
    uint32_t want; /* messages: of which it is */
};

static uint32_t owner_of(const struct strobe_regions *regions, uint32_t process, uint32_t thread)
{
    switch (regions->options->scope) {
    case STROBE_REGION_PROCESS:
        return process;
    case STROBE_REGION_THREAD:
        return thread;
    default:
        return 0;
    }
}

static int is_text(const char *text, uint64_t n)
{
    return n && text && !memchr(text, 0, (size_t)n);
}

/* The region of a name, made if need be; STROBE_IDMAP_NONE without memory. */
static uint32_t find_region(struct strobe_regions *regions, enum strobe_region_kind kind,
                            uint32_t name)
{
    uint32_t at =
        strobe_idmap_add_row(&regions->region_ids, (uint32_t)kind, name, (void **)&regions->regions,
                             &regions->regions_room, sizeof *regions->regions);
    if (at == STROBE_IDMAP_NONE)
        return at;
    regions->n_regions = regions->region_ids.n;
    regions->regions[at].kind = kind;
    regions->regions[at].name = name;
    return at;
}

static enum strobe_err add_stretch(struct strobe_regions *regions, uint32_t want, uint32_t name,
                                   uint32_t process, uint32_t thread, int64_t begin_ns,
                                   int64_t end_ns)
{
    uint32_t region = find_region(regions, regions->options->wants[want].kind, name);
    if (region == STROBE_IDMAP_NONE)
        return STROBE_ERR_NOMEM;
    enum strobe_err err =
        STROBE_ARRAY_RESERVE_MAX(regions->stretches, regions->stretches_room,
                                 regions->n_stretches + 1, STROBE_REGION_STRETCHES);
    if (err)
        return err;
    regions->stretches[regions->n_stretches++] =
        (struct strobe_stretch){.begin_ns = begin_ns,
                                .end_ns = end_ns,
                                .region = region,
                                .owner = owner_of(regions, process, thread),
                                .process = process,
                                .want = want};
    return STROBE_OK;
}

/* The want that a name fulfils, n_wants: none. */
static uint32_t find_want(const struct strobe_regions *regions, unsigned kinds, const char *name)
{
    const struct strobe_regions_options *options = regions->options;
    uint32_t i = 0;
    while (i < options->n_wants && !(kinds >> options->wants[i].kind & 1 &&
                                     options->matches(options->wants[i].pattern, name)))
        i++;
    return i;
}

static int wants_kind(const struct strobe_regions_options *options, unsigned kinds)
{
    for (uint32_t i = 0; i < options->n_wants; i++)
        if (kinds >> options->wants[i].kind & 1)
            return 1;
    return 0;
}

/* ---- the first pass ---- */

/* A zone's name as it is shown, NUL-terminated, until the next use of the trace. */
static const char *name_of(const struct strobe_regions *regions, const struct strobe_batch *batch,
                           const struct strobe_zone_row *zone, char room[STROBE_NAME_ROOM],
                           uint32_t *n)
{
    const struct strobe_note *note =
        zone->note && batch->notes ? &batch->notes[zone->note - 1] : NULL;
    if (note && note->name && is_text(note->name, note->n_name)) {
        *n = note->n_name;
        return note->name;
    }
    uint64_t id;
    uint32_t loc = strobe_batch_loc(regions->trace, batch, zone, &id);
    return strobe_trace_loc_name(regions->trace, loc, id, room, n);
}

static enum strobe_err collect_zones(void *context, const struct strobe_batch *batch)
{
    struct strobe_regions *regions = context;
    const struct strobe_clock *clock = &regions->trace->clock;
    unsigned kinds =
        1u << (batch->kind == STROBE_BATCH_SPAN ? STROBE_REGION_SPAN : STROBE_REGION_ZONE);
    if (!wants_kind(regions->options, kinds))
        return STROBE_OK;
    for (uint32_t i = 0; i < batch->n_zones; i++) {
        const struct strobe_zone_row *zone = &batch->zones[i];
        if (zone->state != STROBE_ZONE_ENDED)
            continue;
        char room[STROBE_NAME_ROOM], held[STROBE_NAME_ROOM * 4];
        uint32_t n;
        const char *name = name_of(regions, batch, zone, room, &n);
        if (n >= sizeof held)
            n = sizeof held - 1;
        memcpy(held, name, n);
        held[n] = 0;
        uint32_t want = find_want(regions, kinds, held);
        if (want == regions->options->n_wants)
            continue;
        int64_t begin_ns = strobe_clock_rel(clock, zone->begin);
        enum strobe_err err =
            add_stretch(regions, want, strobe_texts_add(&regions->texts, held, n), batch->process,
                        batch->thread, begin_ns,
                        begin_ns + (int64_t)strobe_clock_span_ns(clock, zone->begin, zone->ticks));
        if (err)
            return err;
    }
    return STROBE_OK;
}

/* The header of a signpost; NULL: the message is none. */
static const char *signpost_header(const char *text, uint64_t *n)
{
    static const char mark[] = "TT_SIGNPOST: ";
    const char *end = text + *n;
    text += *n && *text == '`';
    if ((size_t)(end - text) < sizeof mark - 1 || memcmp(text, mark, sizeof mark - 1) != 0)
        return NULL;
    text += sizeof mark - 1;
    *n = (uint64_t)(end - text);
    return text;
}

/* Its first line, without the back-tick that a quoted message ends with. */
static uint64_t first_line(const char *text, uint64_t n)
{
    const char *end = n ? memchr(text, '\n', (size_t)n) : NULL;
    n = end ? (uint64_t)(end - text) : n;
    return n && text[n - 1] == '`' ? n - 1 : n;
}

const char *strobe_region_signpost(const struct strobe_event *message, uint64_t *n)
{
    const struct strobe_field *field = &message->fields[2];
    *n = field->u;
    const char *header =
        message->n_fields < 3 || !is_text(field->text, *n) ? NULL : signpost_header(field->text, n);
    if (header)
        *n = first_line(header, *n);
    return header;
}

static enum strobe_err collect_message(void *context, const struct strobe_happening *happening)
{
    struct strobe_regions *regions = context;
    const struct strobe_field *field = &happening->event->fields[2];
    uint64_t n = field->u, n_header = field->u;
    if (happening->event->n_fields < 3 || !is_text(field->text, n))
        return STROBE_OK;
    const char *header = signpost_header(field->text, &n_header), *text = field->text;
    unsigned kinds = 1u << STROBE_REGION_MESSAGE | (header ? 1u << STROBE_REGION_SIGNPOST : 0);
    text = header ? header : text;
    n = first_line(text, header ? n_header : n);
    char held[STROBE_NAME_ROOM * 4];
    if (n >= sizeof held)
        n = sizeof held - 1;
    memcpy(held, text, (size_t)n);
    held[n] = 0;
    uint32_t want = find_want(regions, kinds, held);
    if (want == regions->options->n_wants)
        return STROBE_OK;
    int64_t at_ns = strobe_clock_rel(&regions->trace->clock, happening->event->tick);
    return add_stretch(regions, want, strobe_texts_add(&regions->texts, held, n),
                       happening->process, happening->thread, at_ns, at_ns);
}

/* ---- between the passes ---- */

static int by_begin(const void *a, const void *b)
{
    const struct strobe_stretch *x = a, *y = b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return (x->region > y->region) - (x->region < y->region);
}

static int is_message(const struct strobe_regions *regions, const struct strobe_stretch *stretch)
{
    enum strobe_region_kind kind = regions->regions[stretch->region].kind;
    return kind == STROBE_REGION_SIGNPOST || kind == STROBE_REGION_MESSAGE;
}

/* A message's stretch goes to the next message of the same want in the same process; the last one's to the end of the trace. */
static enum strobe_err end_messages(struct strobe_regions *regions, int64_t last_ns)
{
    struct strobe_idmap open = {0};
    int64_t *next = NULL; /* by (want, process): the begin of the message behind */
    uint32_t room = 0;
    enum strobe_err err = STROBE_OK;
    for (uint64_t i = regions->n_stretches; i-- > 0 && !err;) {
        struct strobe_stretch *stretch = &regions->stretches[i];
        if (!is_message(regions, stretch))
            continue;
        uint32_t n_before = open.n;
        uint32_t at = strobe_idmap_add_row(&open, stretch->want, stretch->process, (void **)&next,
                                           &room, sizeof *next);
        if (at == STROBE_IDMAP_NONE) {
            err = STROBE_ERR_NOMEM;
            break;
        }
        stretch->end_ns = at == n_before ? last_ns : next[at];
        next[at] = stretch->begin_ns;
    }
    strobe_idmap_free(&open);
    free(next);
    return err;
}

static enum strobe_err index_stretches(struct strobe_regions *regions)
{
    size_t n = (size_t)regions->n_stretches; /* STROBE_REGION_STRETCHES at the most */
    regions->block_ends = calloc(n / BLOCK + 1, sizeof *regions->block_ends);
    regions->group_ends = calloc(n / GROUP + 1, sizeof *regions->group_ends);
    regions->last_zone = calloc(regions->n_regions + 1u, sizeof *regions->last_zone);
    regions->loc_names = calloc(regions->trace->loc_ids.n + 1u, sizeof *regions->loc_names);
    if (!regions->block_ends || !regions->group_ends || !regions->last_zone || !regions->loc_names)
        return STROBE_ERR_NOMEM;
    for (uint64_t i = 0; i < n; i++) {
        const struct strobe_stretch *stretch = &regions->stretches[i];
        struct strobe_region *region = &regions->regions[stretch->region];
        STROBE_ASSERT(!i || regions->stretches[i - 1].begin_ns <= stretch->begin_ns);
        int64_t *ends[] = {&regions->block_ends[i / BLOCK], &regions->group_ends[i / GROUP]};
        uint64_t sizes[] = {BLOCK, GROUP};
        for (int k = 0; k < 2; k++)
            if (!(i % sizes[k]) || *ends[k] < stretch->end_ns)
                *ends[k] = stretch->end_ns;
        if (!region->n_stretches++)
            region->first_ns = stretch->begin_ns;
        region->ns += (uint64_t)(stretch->end_ns - stretch->begin_ns);
    }
    return STROBE_OK;
}

/* ---- the second pass ---- */

/* The last stretch before index `i` that ends after a moment; NO_STRETCH: none. */
static uint64_t stretch_before(const struct strobe_regions *regions, uint64_t i, int64_t at_ns)
{
    while (i > 0) {
        uint64_t last = i - 1;
        if (last % GROUP == GROUP - 1 && regions->group_ends[last / GROUP] <= at_ns) {
            i -= GROUP;
        } else if (last % BLOCK == BLOCK - 1 && regions->block_ends[last / BLOCK] <= at_ns) {
            i -= BLOCK;
        } else if (regions->stretches[last].end_ns > at_ns) {
            return last;
        } else {
            i--;
        }
    }
    return NO_STRETCH;
}

/* Whether zones of that name are summed. */
static int is_wanted(const struct strobe_regions *regions, const char *name)
{
    const struct strobe_regions_options *options = regions->options;
    for (uint32_t i = 0; i < options->n_zones; i++)
        if (options->matches(options->zones[i], name))
            return 1;
    return !options->n_zones;
}

/* The name of a zone as an id of our texts, and whether it is summed. */
static uint32_t zone_name(struct strobe_regions *regions, const struct strobe_batch *batch,
                          const struct strobe_zone_row *zone, int *wanted)
{
    char room[STROBE_NAME_ROOM];
    uint64_t id;
    uint32_t n, loc = strobe_batch_loc(regions->trace, batch, zone, &id);
    int has_name = zone->note && batch->notes && batch->notes[zone->note - 1].name;
    struct strobe_loc_name *known =
        has_name || loc >= regions->trace->loc_ids.n ? NULL : &regions->loc_names[loc];
    if (known && known->name) {
        *wanted = known->is_wanted;
        return known->name - 1;
    }
    const char *text = name_of(regions, batch, zone, room, &n);
    uint32_t name = strobe_texts_add(&regions->texts, text, n);
    *wanted = is_wanted(regions, strobe_texts_get(&regions->texts, name, &n));
    if (known)
        *known = (struct strobe_loc_name){name + 1, (uint8_t)*wanted};
    return name;
}

static enum strobe_err count_in(struct strobe_regions *regions, uint32_t at, uint32_t name,
                                uint64_t total_ns, uint64_t self_ns)
{
    struct strobe_region *region = &regions->regions[at];
    if (region->kind == STROBE_REGION_ZONE && region->name == name)
        return STROBE_OK; /* it makes the region */
    uint32_t found = strobe_idmap_add_row(&regions->row_ids, at, name, (void **)&regions->rows,
                                          &regions->rows_room, sizeof *regions->rows);
    if (found == STROBE_IDMAP_NONE)
        return STROBE_ERR_NOMEM;
    struct strobe_region_row *row = &regions->rows[found];
    row->region = at;
    row->name = name;
    row->count++;
    row->total_ns += total_ns;
    row->self_ns += self_ns;
    region->n_zones++;
    region->self_ns += self_ns;
    return STROBE_OK;
}

static enum strobe_err sum_zone(struct strobe_regions *regions, const struct strobe_batch *batch,
                                const struct strobe_zone_row *zone)
{
    const struct strobe_clock *clock = &regions->trace->clock;
    int64_t at_ns = strobe_clock_rel(clock, zone->begin);
    uint64_t i =
        STROBE_ARRAY_BISECT(0, regions->n_stretches, k, regions->stretches[k].begin_ns <= at_ns);
    uint32_t owner = owner_of(regions, batch->process, batch->thread), name = 0;
    int wanted = -1; /* not asked yet */
    uint64_t number = ++regions->n_zones_seen;
    while ((i = stretch_before(regions, i, at_ns)) != NO_STRETCH) {
        const struct strobe_stretch *stretch = &regions->stretches[i];
        if (stretch->owner != owner || regions->last_zone[stretch->region] == number)
            continue;
        if (wanted < 0)
            name = zone_name(regions, batch, zone, &wanted);
        if (!wanted)
            return STROBE_OK;
        regions->last_zone[stretch->region] = number;
        enum strobe_err err = count_in(regions, stretch->region, name,
                                       strobe_clock_span_ns(clock, zone->begin, zone->ticks),
                                       strobe_clock_span_ns(clock, zone->begin, zone->self));
        if (err)
            return err;
    }
    return STROBE_OK;
}

static int is_out(struct strobe_region_picked picked, uint32_t index)
{
    return picked.is_in && index < picked.n && !picked.is_in[index];
}

static enum strobe_err sum_zones(void *context, const struct strobe_batch *batch)
{
    struct strobe_regions *regions = context;
    const struct strobe_regions_options *options = regions->options;
    if (batch->kind == STROBE_BATCH_SPAN || is_out(options->processes, batch->process) ||
        is_out(options->threads, batch->thread))
        return STROBE_OK;
    for (uint32_t i = 0; i < batch->n_zones; i++) {
        if (batch->zones[i].state != STROBE_ZONE_ENDED)
            continue;
        enum strobe_err err = sum_zone(regions, batch, &batch->zones[i]);
        if (err)
            return err;
    }
    return STROBE_OK;
}

/* ---- all of it ---- */

enum strobe_err strobe_regions_run(struct strobe_trace *trace,
                                   const struct strobe_regions_options *options,
                                   struct strobe_regions *out)
{
    STROBE_ASSERT(options->n_wants && options->matches);
    out->trace = trace;
    out->options = options;
    struct strobe_walk first = {.trace = trace,
                                .context = out,
                                .zones = collect_zones,
                                .happens = collect_message,
                                .kinds = 1ull << STROBE_KIND_MESSAGE,
                                .want_notes = 1,
                                .want_fibers = 1,
                                .want_spans = 1};
    enum strobe_err err = strobe_walk_run(&first);
    if (!err && out->n_stretches) {
        qsort(out->stretches, (size_t)out->n_stretches, sizeof *out->stretches, by_begin);
        err = end_messages(out, strobe_clock_rel(&trace->clock, first.tick_last) + 1);
    }
    if (!err)
        err = index_stretches(out);
    if (err)
        return err;
    struct strobe_walk second = {.trace = trace,
                                 .context = out,
                                 .zones = sum_zones,
                                 .want_notes = 1,
                                 .want_fibers = 1,
                                 .by_tick = options->by_tick,
                                 .tick_min = options->tick_min,
                                 .tick_max = options->tick_max};
    err = strobe_walk_run(&second);
    out->n_bad_parts = second.n_bad_parts;
    return err;
}

void strobe_regions_close(struct strobe_regions *regions)
{
    strobe_texts_free(&regions->texts);
    strobe_idmap_free(&regions->region_ids);
    strobe_idmap_free(&regions->row_ids);
    free(regions->regions);
    free(regions->rows);
    free(regions->stretches);
    free(regions->block_ends);
    free(regions->group_ends);
    free(regions->last_zone);
    free(regions->loc_names);
    memset(regions, 0, sizeof *regions);
}

/* ---- the order in which they are shown ---- */

/* A region's place, then the largest total. */
static int compare_rows(const void *a, const void *b)
{
    const struct strobe_region_row *x = a, *y = b;
    if (x->region != y->region)
        return x->region < y->region ? -1 : 1;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

struct region_place {
    int64_t first_ns;
    uint32_t region;
};

static int compare_places(const void *a, const void *b)
{
    const struct region_place *x = a, *y = b;
    if (x->first_ns != y->first_ns)
        return x->first_ns < y->first_ns ? -1 : 1;
    return (x->region > y->region) - (x->region < y->region);
}

uint32_t *strobe_regions_sort(struct strobe_regions *regions)
{
    uint32_t n = regions->n_regions, *order = malloc((n + 1ull) * sizeof *order);
    uint32_t *ranks = malloc((n + 1ull) * sizeof *ranks);
    struct region_place *places = malloc((n + 1ull) * sizeof *places);
    if (!order || !ranks || !places) {
        free(order);
        order = NULL;
        n = 0;
    }
    for (uint32_t i = 0; i < n; i++)
        places[i] = (struct region_place){regions->regions[i].first_ns, i};
    if (n)
        qsort(places, n, sizeof *places, compare_places);
    for (uint32_t i = 0; i < n; i++) {
        order[i] = places[i].region;
        ranks[order[i]] = i;
    }
    uint32_t n_rows = n ? regions->row_ids.n : 0;
    for (uint32_t i = 0; i < n_rows; i++)
        regions->rows[i].region = ranks[regions->rows[i].region];
    if (n_rows)
        qsort(regions->rows, n_rows, sizeof *regions->rows, compare_rows);
    for (uint32_t i = 0; i < n_rows; i++)
        regions->rows[i].region = order[regions->rows[i].region];
    free(ranks);
    free(places);
    return order;
}

static const char *const kind_names[] = {"signpost", "message", "zone", "span"};

const char *strobe_region_kind_name(enum strobe_region_kind kind)
{
    return kind_names[kind];
}

int strobe_region_kind_find(const char *name, size_t n_name, enum strobe_region_kind *out)
{
    for (size_t i = 0; i < sizeof kind_names / sizeof kind_names[0]; i++)
        if (strlen(kind_names[i]) == n_name && !memcmp(name, kind_names[i], n_name)) {
            *out = (enum strobe_region_kind)i;
            return 1;
        }
    return 0;
}
