/* zones.c - interns the repeating texts of the device log.
 * A log of millions of lines has some dozens of different zones and some hundreds of series; their
 * texts are taken apart once.  SPDX-License-Identifier: MIT */
#include "report/zones.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

typedef struct strobe_report_span span;

enum { ZONES_MAX = 65536, SERIES_MAX = 1 << 17, DEVICES_MAX = 4096 };

static const char *const risc_names[] = {"BRISC",   "NCRISC", "TRISC_0",         "TRISC_1",
                                         "TRISC_2", "ERISC",  "TENSIX_RISC_AGG", "QUASAR_DM0"};

span strobe_report_zone_name(const struct strobe_report_zone *zone)
{
    return (span){zone->text, zone->name_len};
}

span strobe_report_zone_type(const struct strobe_report_zone *zone)
{
    return (span){zone->text + zone->name_len + 1, zone->line_at - zone->name_len - 2};
}

static uint8_t type_of(span text)
{
    static const char *const names[] = {"ZONE_START", "ZONE_END", "ZONE_TOTAL", "TS_DATA",
                                        "TS_EVENT"};
    for (uint8_t i = 0; i < 5; i++)
        if (strobe_report_span_is(text, names[i]))
            return i;
    if (strobe_report_span_is(text, "begin"))
        return STROBE_REPORT_ZONE_START;
    if (strobe_report_span_is(text, "end"))
        return STROBE_REPORT_ZONE_END;
    return STROBE_REPORT_OTHER;
}

/* "<word><suffix>": which RISC family's zone this is. */
static bool match_family(span name, const char *suffix, uint8_t *risc)
{
    static const struct {
        const char *word;
        uint8_t risc;
    } families[] = {{"BRISC", STROBE_REPORT_BRISC},
                    {"NCRISC", STROBE_REPORT_NCRISC},
                    {"TRISC", STROBE_REPORT_TRISC_0},
                    {"ERISC", STROBE_REPORT_ERISC},
                    {"TENSIX_RISC_AGG", STROBE_REPORT_RISC_AGG},
                    {"DM", STROBE_REPORT_RISC_OTHER}};
    size_t len = strlen(suffix);
    if (name.len <= len || memcmp(name.at + name.len - len, suffix, len))
        return false;
    span word = {name.at, name.len - len};
    for (int i = 0; i < 6; i++)
        if (strobe_report_span_is(word, families[i].word)) {
            *risc = families[i].risc;
            return true;
        }
    return false;
}

/* The RISC that brackets its ops with this zone. */
static uint8_t master_of(const struct strobe_report_zone *zone)
{
    static const struct {
        const char *name;
        uint8_t risc;
    } masters[] = {{"BRISC-FW", STROBE_REPORT_BRISC},
                   {"ERISC-FW", STROBE_REPORT_ERISC},
                   {"TRACE-FW", STROBE_REPORT_RISC_AGG},
                   {"DM0-FW", STROBE_REPORT_QUASAR_DM0}};
    for (int i = 0; zone->type <= STROBE_REPORT_ZONE_END && i < 4; i++)
        if (strobe_report_span_is(strobe_report_zone_name(zone), masters[i].name))
            return masters[i].risc;
    return STROBE_REPORT_RISC_OTHER;
}

static void classify(struct strobe_report_zone *zone)
{
    span name = strobe_report_zone_name(zone);
    zone->type = type_of(strobe_report_zone_type(zone));
    zone->own_risc = STROBE_REPORT_RISC_OTHER;
    zone->master = master_of(zone);
    zone->flags = 0;
    if (match_family(name, "-FW", &zone->own_risc))
        zone->flags |= STROBE_REPORT_IS_FW;
    if (match_family(name, "-KERNEL", &zone->own_risc)) {
        zone->flags |= STROBE_REPORT_IS_KERNEL;
        if (zone->own_risc == STROBE_REPORT_BRISC || zone->own_risc == STROBE_REPORT_NCRISC)
            zone->flags |= STROBE_REPORT_IS_DM_KERNEL | STROBE_REPORT_IS_BRNC_KERNEL;
        if (zone->own_risc == STROBE_REPORT_ERISC)
            zone->flags |= STROBE_REPORT_IS_DM_KERNEL;
    }
    if (strobe_report_span_has(name, "FW"))
        zone->flags |= STROBE_REPORT_HAS_FW;
    if (strobe_report_span_has(name, "CQ-DISPATCH") || strobe_report_span_has(name, "CQ-PREFETCH"))
        zone->flags |= STROBE_REPORT_IS_DISPATCH;
    if (strobe_report_span_is(name, "CB-COMPUTE-WAIT-FRONT"))
        zone->flags |= STROBE_REPORT_IS_WAIT_FRONT;
    if (strobe_report_span_is(name, "CB-COMPUTE-RESERVE-BACK"))
        zone->flags |= STROBE_REPORT_IS_RESERVE_BACK;
    if (strobe_report_span_is(name, "BRISC-FW") || strobe_report_span_is(name, "DM0-FW"))
        zone->flags |= STROBE_REPORT_IS_ITERATION;
}

/* Find the cells inside zone->text. */
static bool split_tail(struct strobe_report_zone *zone)
{
    const char *at = zone->text, *end = zone->text + zone->len, *commas[3];
    for (int i = 0; i < 3; i++) {
        commas[i] = memchr(at, ',', (size_t)(end - at));
        if (!commas[i])
            return false;
        at = commas[i] + 1;
    }
    zone->name_len = (uint32_t)(commas[0] - zone->text);
    zone->line_at = (uint32_t)(commas[1] + 1 - zone->text);
    zone->line_len = (uint32_t)(commas[2] - commas[1] - 1);
    zone->file_at = (uint32_t)(commas[2] + 1 - zone->text);
    zone->file_len = zone->len - zone->file_at;
    return true;
}

/* The number of (name, line, file), new or known. */
static uint32_t source_of(struct strobe_report_log *log, const struct strobe_report_zone *zone)
{
    uint64_t seed = strobe_hash_bytes(zone->text, zone->name_len, strobe_hash_seed());
    uint64_t key = strobe_hash_bytes(zone->text + zone->line_at, zone->len - zone->line_at, seed);
    uint32_t source = (uint32_t)strobe_map_get(&log->source_map, key, UINT32_MAX);
    if (source == UINT32_MAX && !strobe_map_put(&log->source_map, key, log->n_sources))
        source = log->n_sources++;
    return source;
}

static struct strobe_report_zone *use_loose(struct strobe_report_log *log, span tail)
{
    strobe_out_clear(&log->loose_text);
    strobe_out_bytes(&log->loose_text, tail.at, tail.len);
    if (log->loose_text.error)
        return NULL;
    log->loose = (struct strobe_report_zone){.text = log->loose_text.at,
                                             .len = (uint32_t)tail.len,
                                             .source = UINT32_MAX,
                                             .timer = UINT32_MAX};
    if (!split_tail(&log->loose))
        return NULL;
    classify(&log->loose);
    return &log->loose;
}

static struct strobe_report_zone *add_zone(struct strobe_report_log *log, span tail, uint64_t hash)
{
    if (STROBE_ARRAY_RESERVE(log->zones, log->cap_zones, (uint64_t)log->n_zones + 1))
        return NULL;
    struct strobe_report_zone *zone = &log->zones[log->n_zones];
    *zone = (struct strobe_report_zone){
        .text = malloc(tail.len + 1), .len = (uint32_t)tail.len, .timer = UINT32_MAX};
    if (!zone->text)
        return NULL;
    memcpy(zone->text, tail.at, tail.len);
    zone->text[tail.len] = 0;
    if (!split_tail(zone) || strobe_index_add(&log->zone_map, hash, log->n_zones)) {
        free(zone->text);
        return NULL;
    }
    classify(zone);
    zone->source = source_of(log, zone);
    log->n_zones++;
    return zone;
}

struct strobe_report_zone *strobe_report_zone_intern(struct strobe_report_log *log, span tail)
{
    uint64_t hash = strobe_hash_bytes(tail.at, tail.len, strobe_index_seed(&log->zone_map));
    STROBE_INDEX_EACH (index, at, &log->zone_map, hash)
        if (log->zones[index].len == tail.len && !memcmp(log->zones[index].text, tail.at, tail.len))
            return &log->zones[index];
    return log->n_zones >= ZONES_MAX ? use_loose(log, tail) : add_zone(log, tail, hash);
}

static uint32_t device_index(struct strobe_report_log *log, int64_t device)
{
    for (uint32_t i = 0; i < log->n_devices; i++)
        if (log->devices[i].id == device)
            return i;
    if (log->n_devices == DEVICES_MAX || STROBE_ARRAY_RESERVE_TIGHT(log->devices, log->n_devices))
        return UINT32_MAX;
    log->devices[log->n_devices].id = device;
    log->devices[log->n_devices].n_cores = 0;
    return log->n_devices++;
}

static uint32_t core_index(struct strobe_report_log *log, const struct strobe_report_series *series)
{
    uint64_t key = strobe_hash_bytes((const int64_t[]){series->device, series->x, series->y},
                                     3 * sizeof(int64_t), strobe_hash_seed());
    uint32_t found = (uint32_t)strobe_map_get(&log->core_map, key, UINT32_MAX);
    if (found != UINT32_MAX)
        return found;
    if (STROBE_ARRAY_RESERVE_TIGHT(log->cores, log->n_cores) ||
        strobe_map_put(&log->core_map, key, log->n_cores))
        return UINT32_MAX;
    log->cores[log->n_cores] =
        (struct strobe_report_core){series->device,
                                    series->x,
                                    series->y,
                                    series->device_index,
                                    log->devices[series->device_index].n_cores++,
                                    false};
    return log->n_cores++;
}

static bool split_prefix(span prefix, int64_t numbers[3], span *risc)
{
    for (int i = 0; i < 3; i++) {
        const char *comma = memchr(prefix.at, ',', prefix.len);
        if (!comma ||
            !strobe_report_span_int((span){prefix.at, (size_t)(comma - prefix.at)}, &numbers[i]))
            return false;
        prefix.len -= (size_t)(comma + 1 - prefix.at);
        prefix.at = comma + 1;
    }
    *risc = (span){prefix.at, prefix.len - 1}; /* its comma ends the prefix */
    return risc->len && risc->len < sizeof((struct strobe_report_series *)0)->name;
}

static struct strobe_report_series *new_series(struct strobe_report_log *log, span prefix)
{
    int64_t numbers[3];
    span risc;
    if (log->n_series >= SERIES_MAX || !split_prefix(prefix, numbers, &risc))
        return NULL;
    struct strobe_report_series *series = calloc(1, sizeof *series);
    if (!series)
        return NULL;
    series->device = numbers[0], series->x = numbers[1], series->y = numbers[2];
    memcpy(series->name, risc.at, risc.len);
    series->risc = STROBE_REPORT_RISC_OTHER;
    for (uint8_t i = 0; i < STROBE_REPORT_RISC_OTHER; i++)
        if (strobe_report_span_is(risc, risc_names[i]))
            series->risc = i;
    series->device_index = device_index(log, series->device);
    series->core = series->device_index == UINT32_MAX ? UINT32_MAX : core_index(log, series);
    if (series->core == UINT32_MAX) {
        free(series);
        return NULL;
    }
    series->core_in_device = log->cores[series->core].index;
    return series;
}

static bool is_same_series(const struct strobe_report_series *series, span prefix)
{
    int64_t numbers[3];
    span risc;
    return split_prefix(prefix, numbers, &risc) && numbers[0] == series->device &&
           numbers[1] == series->x && numbers[2] == series->y &&
           strobe_report_span_is(risc, series->name);
}

struct strobe_report_series *strobe_report_series_intern(struct strobe_report_log *log, span prefix)
{
    uint64_t hash = strobe_hash_bytes(prefix.at, prefix.len, strobe_index_seed(&log->series_map));
    STROBE_INDEX_EACH (index, at, &log->series_map, hash)
        if (is_same_series(log->series[index], prefix))
            return log->series[index];
    struct strobe_report_series *series = new_series(log, prefix);
    if (!series)
        return NULL;
    if (STROBE_ARRAY_RESERVE_TIGHT(log->series, log->n_series) ||
        strobe_index_add(&log->series_map, hash, log->n_series)) {
        free(series);
        return NULL;
    }
    series->index = log->n_series;
    log->series[log->n_series++] = series;
    return series;
}

void strobe_report_zones_free(struct strobe_report_log *log)
{
    for (uint32_t i = 0; i < log->n_zones; i++)
        free(log->zones[i].text);
    for (uint32_t i = 0; i < log->n_series; i++)
        free(log->series[i]);
    free(log->zones);
    free(log->series);
    free(log->cores);
    free(log->devices);
    strobe_index_free(&log->zone_map);
    strobe_map_free(&log->source_map);
    strobe_index_free(&log->series_map);
    strobe_map_free(&log->core_map);
    strobe_out_free(&log->loose_text);
}
