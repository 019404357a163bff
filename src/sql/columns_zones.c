/* columns_zones.c - see columns_zones.h. Zones come in runs of one track; a run is cut into pieces of CHUNK zones, and each column takes
 * all of a piece before the next column begins: what is the same for a run is looked up once, and loops are short and without calls.
 * When a batch has been handed over, the one before it has been read (pump.h): two shells are enough.
 * SPDX-License-Identifier: MIT */
#include "sql/columns_zones.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "query/clock.h"
#include "sql/columns_build.h"
#include "sql/columns_source.h"

enum {
    CHUNK = 256,
    SHELLS = 2,
    MAX_TEXT = 1 << 20,   /* of one zone, as in cells */
    MAX_BYTES = 16 << 20, /* of the texts of a column, after which a batch is full */
};

struct strobe_columns_zones {
    struct strobe_column_build *builds; /* owned: n_columns */
    uint8_t columns[STROBE_SQL_ZONE_N_COLUMNS];
    unsigned n_columns;
    uint32_t max_rows, n_rows; /* of the batch in work */
    int64_t start_ns, end_ns;
    struct strobe_column_batch
        shells[SHELLS]; /* their columns: the maker's until a reader moves them away */
    unsigned n_batches;
    /* Of the file that is walked: */
    unsigned file;
    uint8_t has_file;
    uint32_t *loc_codes; /* owned: by location, code of its name + 1; 0: not known yet */
    uint32_t loc_codes_room;
    uint8_t *loc_passes; /* owned: by location, 1: its name is the wanted one, 2: it is not */
    uint32_t loc_passes_room;
    uint32_t state_codes[STROBE_SQL_N_STATES]; /* + 1 */
    struct strobe_clock_part part;
};

/* Zones of one run that were chosen. */
struct piece {
    struct strobe_columns_zones *zones; /* borrowed, as all here */
    const struct strobe_sql_ask *ask;
    const struct strobe_trace *trace, *model;
    const struct strobe_batch *batch;
    int64_t track; /* -1: it has no number */
    uint32_t process;
    uint32_t n, n_ended;
    uint32_t notes;                         /* 0: no zone has one */
    const struct strobe_zone_row *rows;     /* in the batch where all of it was chosen, else kept */
    const struct strobe_zone_place *places; /* likewise; NULL: not known */
    uint32_t locs[CHUNK];
    uint64_t loc_ids[CHUNK];
    struct strobe_zone_row kept[CHUNK];
    struct strobe_zone_place kept_places[CHUNK];
};

struct strobe_columns_zones *strobe_columns_zones_new(const uint8_t *columns, unsigned n_columns,
                                                      uint32_t max_rows, int64_t start_ns,
                                                      int64_t end_ns)
{
    static const enum strobe_column_type types[STROBE_SQL_ZONE_N_COLUMNS] = {
        STROBE_COLUMN_INT4, STROBE_COLUMN_INT,  STROBE_COLUMN_INT,  STROBE_COLUMN_INT,
        STROBE_COLUMN_INT,  STROBE_COLUMN_INT4, STROBE_COLUMN_ENUM, STROBE_COLUMN_INT4,
        STROBE_COLUMN_INT4, STROBE_COLUMN_INT4, STROBE_COLUMN_INT,  STROBE_COLUMN_ENUM,
        STROBE_COLUMN_INT,  STROBE_COLUMN_TEXT, STROBE_COLUMN_INT4};
    struct strobe_columns_zones *zones = calloc(1, sizeof *zones);
    STROBE_ASSERT(n_columns <= STROBE_SQL_ZONE_N_COLUMNS && max_rows >= CHUNK);
    if (!zones)
        return NULL;
    zones->max_rows = max_rows;
    zones->start_ns = start_ns;
    zones->end_ns = end_ns;
    zones->builds = calloc(n_columns + 1, sizeof *zones->builds);
    enum strobe_err err = zones->builds ? STROBE_OK : STROBE_ERR_NOMEM;
    for (unsigned i = 0; !err && i < n_columns; i++) {
        zones->columns[zones->n_columns++] = columns[i];
        err = strobe_column_build_start(&zones->builds[i], types[columns[i]], max_rows);
    }
    if (!err)
        return zones;
    strobe_columns_zones_free(zones);
    return NULL;
}

void strobe_columns_zones_free(struct strobe_columns_zones *zones)
{
    if (!zones)
        return;
    for (unsigned i = 0; i < zones->n_columns; i++)
        strobe_column_build_free(&zones->builds[i]);
    for (unsigned i = 0; i < SHELLS; i++)
        strobe_column_batch_clear(&zones->shells[i]);
    free(zones->builds);
    free(zones->loc_codes);
    free(zones->loc_passes);
    free(zones);
}

/* ---- rows that are chosen ---- */

static inline const struct strobe_zone_row *zone_at(const struct piece *piece, uint32_t i)
{
    return &piece->rows[i];
}

static inline const struct strobe_note *note_at(const struct piece *piece, uint32_t i)
{
    uint32_t note = zone_at(piece, i)->note;
    return note && piece->batch->notes ? &piece->batch->notes[note - 1] : NULL;
}

/* The part of the clock that a tick lies in; 0: it lies before the first. Loops have a copy of it: what they write may be nothing of it. */
static int reach_part(const struct piece *piece, uint64_t tick, struct strobe_clock_part *part)
{
    strobe_clock_find_part(&piece->trace->clock, tick, part);
    return strobe_clock_part_has(part, tick);
}

static inline int64_t rel_of(const struct piece *piece, uint64_t tick,
                             struct strobe_clock_part *part)
{
    return strobe_clock_part_has(part, tick) || reach_part(piece, tick, part)
               ? strobe_clock_part_rel(part, tick)
               : strobe_clock_rel(&piece->trace->clock, tick);
}

static inline int64_t span_of(const struct piece *piece, uint64_t tick, uint64_t ticks,
                              struct strobe_clock_part *part)
{
    return (int64_t)(strobe_clock_part_has(part, tick) || reach_part(piece, tick, part)
                         ? strobe_clock_part_span_ns(part, tick, ticks)
                         : strobe_clock_span_ns(&piece->trace->clock, tick, ticks));
}

static const char *name_of(const struct piece *piece, uint32_t i, char room[STROBE_NAME_ROOM],
                           uint32_t *n)
{
    const struct strobe_note *note = note_at(piece, i);
    uint32_t loc = piece->locs[i];
    if (note && note->name) {
        *n = note->n_name < MAX_TEXT ? note->n_name : MAX_TEXT;
        return note->name;
    }
    return strobe_trace_loc_name(piece->model,
                                 loc < piece->model->loc_ids.n ? loc : STROBE_IDMAP_NONE,
                                 piece->loc_ids[i], room, n);
}

/* 1: the zone has the wanted name. */
static int has_name(struct piece *piece, uint32_t i)
{
    struct strobe_columns_zones *zones = piece->zones;
    const struct strobe_note *note = note_at(piece, i);
    uint32_t loc = piece->locs[i], n;
    char room[STROBE_NAME_ROOM];
    int is_cached = !(note && note->name) && loc < piece->model->loc_ids.n &&
                    !STROBE_ARRAY_REACH(zones->loc_passes, zones->loc_passes_room, loc);
    if (is_cached && zones->loc_passes[loc])
        return zones->loc_passes[loc] == 1;
    const char *name = name_of(piece, i, room, &n);
    int passes = n == piece->ask->n_name && !memcmp(name, piece->ask->name, n);
    if (is_cached)
        zones->loc_passes[loc] = passes ? 1 : 2;
    return passes;
}

static inline void find_loc(struct piece *piece, const struct strobe_zone_row *zone, uint32_t at)
{
    const struct strobe_batch *batch = piece->batch;
    if (zone->slot < batch->n_slots) {
        piece->locs[at] = batch->locs[zone->slot];
        piece->loc_ids[at] = batch->loc_ids[zone->slot];
    } else {
        piece->locs[at] = strobe_batch_loc(piece->trace, batch, zone, &piece->loc_ids[at]);
    }
}

/* Keep the zones from number `from` on that pass. */
static void keep_some(struct piece *piece, uint32_t from, uint32_t n, int by_ts)
{
    struct strobe_columns_zones *zones = piece->zones;
    int by_name = piece->ask->name != NULL;
    const struct strobe_zone_place *places = piece->batch->places;
    piece->rows = piece->kept;
    piece->places = places ? piece->kept_places : NULL;
    for (uint32_t i = from; i < from + n; i++) {
        const struct strobe_zone_row *zone = &piece->batch->zones[i];
        uint32_t at = piece->n;
        piece->kept[at] = *zone;
        if (places)
            piece->kept_places[at] = places[i];
        find_loc(piece, zone, at);
        if (by_name && !has_name(piece, at))
            continue;
        if (by_ts) {
            int64_t ts = rel_of(piece, zone->begin, &zones->part);
            if (ts < zones->start_ns || ts >= zones->end_ns)
                continue;
        }
        piece->n++;
    }
}

/* Take the zones from number `from` on that pass. */
static void choose(struct piece *piece, uint32_t from, uint32_t n)
{
    const struct strobe_columns_zones *zones = piece->zones;
    const uint64_t of_loc = 1ull << STROBE_SQL_ZONE_NAME | 1ull << STROBE_SQL_ZONE_LOC;
    int by_ts = zones->start_ns != INT64_MIN || zones->end_ns != INT64_MAX;
    piece->n = 0;
    if (by_ts || piece->ask->name) {
        keep_some(piece, from, n, by_ts);
    } else {
        piece->n = n;
        piece->rows = piece->batch->zones + from;
        piece->places = piece->batch->places ? piece->batch->places + from : NULL;
        for (uint32_t i = 0; piece->ask->wanted & of_loc && i < n; i++)
            find_loc(piece, &piece->rows[i], i);
    }
    uint32_t n_ended = 0, notes = 0;
    for (uint32_t i = 0; i < piece->n; i++) {
        n_ended += piece->rows[i].state == STROBE_ZONE_ENDED;
        notes |= piece->rows[i].note;
    }
    piece->n_ended = n_ended;
    piece->notes = notes;
}

/* ---- columns ---- */

static inline void set_valid(struct strobe_column *column, uint32_t row)
{
    column->valid[row >> 3] |= (uint8_t)(1 << (row & 7));
}

static void set_all_valid(struct strobe_column *column, uint32_t row, uint32_t n)
{
    uint32_t end = row + n;
    for (; row < end && row & 7; row++)
        set_valid(column, row);
    memset(column->valid + (row >> 3), 0xff, (end - row) >> 3);
    for (row += (end - row) & ~7u; row < end; row++)
        set_valid(column, row);
}

/* The same number in all rows; -1: NULL. */
static void put_same(struct strobe_column *column, uint32_t row, uint32_t n, int64_t value)
{
    for (uint32_t i = 0; i < n; i++)
        ((int32_t *)column->values)[row + i] = value < 0 ? 0 : (int32_t)value;
    if (value < 0)
        column->n_nulls += n;
    else
        set_all_valid(column, row, n);
}

/* Numbers of which those below 0 are NULL. */
static void mark_negative(struct strobe_column *column, uint32_t row, uint32_t n)
{
    int64_t *values = (int64_t *)column->values + row;
    int64_t signs = 0;
    for (uint32_t i = 0; i < n; i++)
        signs |= values[i];
    if (signs >= 0) {
        set_all_valid(column, row, n);
        return;
    }
    uint8_t *valid = column->valid;
    uint32_t n_nulls = 0;
    for (uint32_t i = 0; i < n; i++) {
        int is_null = values[i] < 0;
        values[i] = is_null ? 0 : values[i];
        valid[(row + i) >> 3] |= (uint8_t)(!is_null << ((row + i) & 7));
        n_nulls += (uint32_t)is_null;
    }
    column->n_nulls += n_nulls;
}

static void put_ids(const struct piece *piece, struct strobe_column *column, uint32_t row,
                    int is_parent)
{
    const struct strobe_batch *batch = piece->batch;
    const struct strobe_zone_place *places = piece->places;
    int64_t *values = (int64_t *)column->values + row;
    if (!strobe_sql_has_places(batch)) {
        for (uint32_t i = 0; i < piece->n; i++)
            values[i] = is_parent ? -1 : strobe_sql_number_id(batch);
    } else {
        const uint32_t n = piece->n, thread = batch->thread;
        for (uint32_t i = 0; i < n; i++)
            values[i] = strobe_sql_place_id(thread, is_parent ? places[i].parent : places[i].begin);
    }
    mark_negative(column, row, piece->n);
}

static void put_starts(const struct piece *piece, struct strobe_column *column, uint32_t row)
{
    int64_t *values = (int64_t *)column->values + row;
    const struct strobe_zone_row *rows = piece->rows;
    struct strobe_clock_part part = piece->zones->part;
    uint32_t n = piece->n;
    for (uint32_t i = 0; i < n; i++)
        values[i] = rel_of(piece, rows[i].begin, &part);
    piece->zones->part = part;
    set_all_valid(column, row, piece->n);
}

/* Durations, or times of zones without those inside, where some did not end. */
static void put_some_spans(const struct piece *piece, struct strobe_column *column, uint32_t row,
                           int is_self)
{
    int64_t *values = (int64_t *)column->values + row;
    int is_none = is_self && piece->batch->kind == STROBE_BATCH_SPAN;
    for (uint32_t i = 0; i < piece->n; i++) {
        const struct strobe_zone_row *zone = zone_at(piece, i);
        int has = !is_none && zone->state == STROBE_ZONE_ENDED;
        values[i] = has ? span_of(piece, zone->begin, is_self ? zone->self : zone->ticks,
                                  &piece->zones->part)
                        : 0;
        if (has)
            set_valid(column, row + i);
        else
            column->n_nulls++;
    }
}

static void put_spans(const struct piece *piece, struct strobe_column *column, uint32_t row,
                      int is_self)
{
    int64_t *values = (int64_t *)column->values + row;
    struct strobe_clock_part part = piece->zones->part;
    if (piece->n_ended < piece->n || (is_self && piece->batch->kind == STROBE_BATCH_SPAN)) {
        put_some_spans(piece, column, row, is_self);
        return;
    }
    const struct strobe_zone_row *rows = piece->rows;
    uint32_t n = piece->n;
    for (uint32_t i = 0; i < n; i++)
        values[i] = span_of(piece, rows[i].begin, is_self ? rows[i].self : rows[i].ticks, &part);
    piece->zones->part = part;
    set_all_valid(column, row, piece->n);
}

static void put_depths(const struct piece *piece, struct strobe_column *column, uint32_t row)
{
    int32_t *values = (int32_t *)column->values + row;
    const struct strobe_zone_row *rows = piece->rows;
    uint32_t n = piece->n;
    for (uint32_t i = 0; i < n; i++)
        values[i] = (int32_t)rows[i].depth;
    set_all_valid(column, row, piece->n);
}

static void put_locs(const struct piece *piece, struct strobe_column *column, uint32_t row)
{
    int32_t *values = (int32_t *)column->values + row;
    uint32_t n_none = 0;
    for (uint32_t i = 0; i < piece->n; i++) {
        int is_none = piece->locs[i] == STROBE_IDMAP_NONE;
        values[i] = is_none ? 0 : (int32_t)piece->locs[i];
        n_none += (uint32_t)is_none;
    }
    column->n_nulls += n_none;
    if (!n_none)
        set_all_valid(column, row, piece->n);
    for (uint32_t i = 0; n_none && i < piece->n; i++)
        if (piece->locs[i] != STROBE_IDMAP_NONE)
            set_valid(column, row + i);
}

static enum strobe_err find_code(const struct piece *piece, struct strobe_column_build *build,
                                 uint32_t i, uint32_t *code)
{
    struct strobe_columns_zones *zones = piece->zones;
    const struct strobe_note *note = note_at(piece, i);
    uint32_t loc = piece->locs[i], n;
    char room[STROBE_NAME_ROOM];
    int is_cached = !(note && note->name) && loc < piece->model->loc_ids.n &&
                    !STROBE_ARRAY_REACH(zones->loc_codes, zones->loc_codes_room, loc);
    if (is_cached && zones->loc_codes[loc]) {
        *code = zones->loc_codes[loc] - 1;
        return STROBE_OK;
    }
    const char *name = name_of(piece, i, room, &n);
    enum strobe_err err = strobe_textmap_add(&build->names, name, n, code);
    if (!err && is_cached)
        zones->loc_codes[loc] = *code + 1;
    return err;
}

static enum strobe_err put_names(const struct piece *piece, struct strobe_column_build *build,
                                 uint32_t row)
{
    const struct strobe_columns_zones *zones = piece->zones;
    int32_t *values = (int32_t *)build->column.values + row;
    const uint32_t *codes = zones->loc_codes;
    uint32_t n_known = piece->notes ? 0 : zones->loc_codes_room, n = piece->n;
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; !err && i < n; i++) {
        uint32_t loc = piece->locs[i], code = 0;
        if (loc < n_known && codes[loc]) {
            code = codes[loc] - 1;
        } else { /* the array may move */
            err = find_code(piece, build, i, &code);
            codes = zones->loc_codes;
            n_known = piece->notes ? 0 : zones->loc_codes_room;
        }
        values[i] = (int32_t)code;
    }
    set_all_valid(&build->column, row, piece->n);
    return err;
}

static enum strobe_err find_state(const struct piece *piece, struct strobe_column_build *build,
                                  unsigned state, uint32_t *code)
{
    uint32_t *codes = piece->zones->state_codes;
    const char *name = strobe_sql_zone_states[state];
    if (!codes[state]) {
        if (strobe_textmap_add(&build->names, name, strlen(name), &codes[state]))
            return STROBE_ERR_NOMEM;
        codes[state]++;
    }
    *code = codes[state] - 1;
    return STROBE_OK;
}

static enum strobe_err put_states(const struct piece *piece, struct strobe_column_build *build,
                                  uint32_t row)
{
    int32_t *values = (int32_t *)build->column.values + row;
    int is_same = piece->n_ended == piece->n;
    uint32_t code = 0;
    enum strobe_err err = STROBE_OK;
    if (is_same && piece->n)
        err = find_state(piece, build, STROBE_ZONE_ENDED, &code);
    for (uint32_t i = 0; is_same && i < piece->n; i++)
        values[i] = (int32_t)code;
    for (uint32_t i = 0; !is_same && !err && i < piece->n; i++) {
        err = find_state(piece, build, zone_at(piece, i)->state, &code);
        values[i] = (int32_t)code;
    }
    set_all_valid(&build->column, row, piece->n);
    return err;
}

/* What notes say: the value, the text, the colour. Most zones have none. */
static enum strobe_err put_notes(const struct piece *piece, struct strobe_column_build *build,
                                 uint32_t row, unsigned which)
{
    const uint32_t first = 0;
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; !err && i < piece->n; i++) {
        const struct strobe_note *note = note_at(piece, i);
        struct strobe_sql_cell cell = {.type = STROBE_SQL_NULL};
        if (note && which == STROBE_SQL_ZONE_VALUE && note->has_value)
            strobe_sql_put_i(&cell, (int64_t)note->value);
        else if (note && which == STROBE_SQL_ZONE_COLOR && note->has_color)
            strobe_sql_put_i(&cell, note->color & 0xffffff);
        else if (note && which == STROBE_SQL_ZONE_TEXT && note->text)
            strobe_sql_put_kept(&cell, note->text,
                                note->n_text < MAX_TEXT ? note->n_text : MAX_TEXT);
        err = strobe_column_build_put(build, &cell, 1, "", &first, 1, row + i);
    }
    return err;
}

/* No zone of the piece has a note. */
static void put_nulls(struct strobe_column *column, uint32_t row, uint32_t n)
{
    size_t width = strobe_column_width(column->type);
    if (width)
        memset((char *)column->values + row * width, 0, n * width);
    for (uint32_t i = 0; !width && i < n; i++)
        column->texts.offsets[row + i + 1] = (int32_t)column->texts.n_bytes;
    column->n_nulls += n;
}

static enum strobe_err put_column(const struct piece *piece, struct strobe_column_build *build,
                                  unsigned which)
{
    struct strobe_column *column = &build->column;
    uint32_t row = piece->zones->n_rows;
    switch ((enum strobe_sql_zone_column)which) {
    case STROBE_SQL_ZONE_ID:
    case STROBE_SQL_ZONE_PARENT:
        put_ids(piece, column, row, which == STROBE_SQL_ZONE_PARENT);
        return STROBE_OK;
    case STROBE_SQL_ZONE_TS:
        put_starts(piece, column, row);
        return STROBE_OK;
    case STROBE_SQL_ZONE_DUR:
    case STROBE_SQL_ZONE_SELF:
        put_spans(piece, column, row, which == STROBE_SQL_ZONE_SELF);
        return STROBE_OK;
    case STROBE_SQL_ZONE_DEPTH:
        put_depths(piece, column, row);
        return STROBE_OK;
    case STROBE_SQL_ZONE_NAME:
        return put_names(piece, build, row);
    case STROBE_SQL_ZONE_LOC:
        put_locs(piece, column, row);
        return STROBE_OK;
    case STROBE_SQL_ZONE_TRACK:
    case STROBE_SQL_ZONE_PROCESS:
        put_same(column, row, piece->n,
                 which == STROBE_SQL_ZONE_TRACK ? piece->track : piece->process);
        return STROBE_OK;
    case STROBE_SQL_ZONE_STATE:
        return put_states(piece, build, row);
    case STROBE_SQL_ZONE_VALUE:
    case STROBE_SQL_ZONE_TEXT:
    case STROBE_SQL_ZONE_COLOR:
        if (piece->notes)
            return put_notes(piece, build, row, which);
        put_nulls(column, row, piece->n);
        return STROBE_OK;
    case STROBE_SQL_ZONE_N_COLUMNS:
        break;
    }
    put_same(column, row, piece->n, piece->zones->file);
    return STROBE_OK;
}

/* ---- batches ---- */

static int is_full(const struct strobe_columns_zones *zones)
{
    if (zones->n_rows + CHUNK > zones->max_rows)
        return 1;
    for (unsigned i = 0; i < zones->n_columns; i++)
        if (strobe_column_build_bytes(&zones->builds[i]) > MAX_BYTES)
            return 1;
    return 0;
}

/* Hand over what there is. */
static enum strobe_err end_batch(struct strobe_columns_zones *zones, struct strobe_sql_pump *pump)
{
    struct strobe_column_batch *shell = &zones->shells[zones->n_batches++ % SHELLS];
    enum strobe_err err = STROBE_OK;
    STROBE_ASSERT(!shell->n_rows); /* it was read */
    if (!shell->columns)
        shell->columns = calloc(zones->n_columns + 1, sizeof *shell->columns);
    if (!shell->columns)
        return STROBE_ERR_NOMEM;
    for (unsigned i = 0; !err && i < zones->n_columns; i++) {
        struct strobe_column_build *build = &zones->builds[i];
        err = strobe_column_build_end(build, zones->n_rows, &shell->columns[i]);
        shell->n_columns = shell->n_columns > i ? shell->n_columns : i + 1;
        if (build->column.type != STROBE_COLUMN_ENUM || build->names.n)
            continue;
        /* its dictionary is begun anew */
        memset(zones->state_codes, 0, sizeof zones->state_codes);
        if (zones->loc_codes)
            memset(zones->loc_codes, 0, zones->loc_codes_room * sizeof *zones->loc_codes);
    }
    shell->n_rows = zones->n_rows;
    zones->n_rows = 0;
    return err ? err : strobe_sql_pump_columns(pump, shell, shell->n_rows);
}

/* What was known of another file. */
static void start_file(struct strobe_columns_zones *zones, unsigned file)
{
    if (zones->loc_codes)
        memset(zones->loc_codes, 0, zones->loc_codes_room * sizeof *zones->loc_codes);
    if (zones->loc_passes)
        memset(zones->loc_passes, 0, zones->loc_passes_room * sizeof *zones->loc_passes);
    zones->part = (struct strobe_clock_part){0};
    zones->file = file;
    zones->has_file = 1;
}

static enum strobe_err put_zones(void *context, const struct strobe_batch *batch)
{
    struct strobe_sql_pump *pump = context;
    const struct strobe_sql_ask *ask = strobe_sql_pump_ask(pump);
    const struct strobe_trace *trace = strobe_sql_pump_trace(pump);
    struct strobe_columns_zones *zones = ask->zones;
    struct piece piece = {.zones = zones,
                          .ask = ask,
                          .trace = trace,
                          .model = strobe_sql_pump_model(pump),
                          .batch = batch,
                          .track = strobe_sql_track_of(trace, batch),
                          .process = strobe_trace_first_process(trace, batch->process)};
    enum strobe_err err = STROBE_OK;
    if ((ask->track >= 0 && piece.track != ask->track) ||
        (ask->process >= 0 && piece.process != ask->process))
        return STROBE_OK;
    if (!zones->has_file || zones->file != strobe_sql_pump_file(pump))
        start_file(zones, strobe_sql_pump_file(pump));
    for (uint32_t from = 0; !err && from < batch->n_zones; from += CHUNK) {
        if (is_full(zones))
            err = end_batch(zones, pump);
        choose(&piece, from, batch->n_zones - from < CHUNK ? batch->n_zones - from : CHUNK);
        for (unsigned i = 0; !err && i < zones->n_columns; i++)
            err = put_column(&piece, &zones->builds[i], zones->columns[i]);
        zones->n_rows += piece.n;
    }
    return err;
}

static enum strobe_err end_zones(void *context)
{
    struct strobe_columns_zones *zones = strobe_sql_pump_ask(context)->zones;
    return zones->n_rows ? end_batch(zones, context) : STROBE_OK;
}

void strobe_columns_zones_ask(struct strobe_columns_zones *zones, struct strobe_sql_ask *ask)
{
    ask->zones = zones;
    ask->put_zones = put_zones;
    ask->end_zones = end_zones;
}
