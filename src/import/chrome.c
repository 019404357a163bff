/* chrome.c - a Chrome JSON file becomes a trace: read once into rows, which are sorted by thread and time, then written.
 * SPDX-License-Identifier: MIT */
#include "import/chrome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/chrome_parts.h"
#include "query/pair.h"

#define TICK_BASE (1ull << 40)
#define HOUR_NS   3600000000000ll
#define NEAR_NS   1000000000ll
enum {
    BUDGET_BYTES =
        64 << 20, /* of all that grows with what a file names; docs/chrome-files.md, "Bounded" */
    MAP_BYTES = 4096, /* of a map's first entries, at the most */
};

int strobe_chrome_charge(struct strobe_chrome *chrome, uint64_t n_now, uint64_t n_then)
{
    return strobe_build_store_charge(chrome->store, (int64_t)n_then - (int64_t)n_now);
}

static uint64_t map_bytes(const struct strobe_map *map)
{
    return map->room * sizeof *map->entries + map->index.n_slots * sizeof *map->index.slots;
}

static int is_full(const struct strobe_map *map)
{
    return map->n == map->room || 4 * (map->n + 1ull) > 3ull * map->index.n_slots;
}

uint64_t *strobe_chrome_map_at(struct strobe_chrome *chrome, struct strobe_map *map, uint64_t key,
                               uint32_t most)
{
    uint64_t *value = strobe_map_find(map, key), n_now = map_bytes(map);
    if (value || map->n >= most)
        return value;
    /* what grows is there twice for a while, and within the budget */
    uint64_t n_then = is_full(map) ? 3 * n_now + MAP_BYTES : n_now;
    if (!strobe_chrome_charge(chrome, n_now, n_then))
        return NULL;
    enum strobe_err err = strobe_map_add(map, key, &value);
    STROBE_ASSERT(map_bytes(map) <= n_then);
    strobe_chrome_charge(chrome, n_then, map_bytes(map));
    return err ? NULL : value;
}

static void free_maps(struct strobe_chrome *chrome)
{
    struct strobe_map *maps[] = {&chrome->pids, &chrome->tids, &chrome->names, &chrome->spans};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        if (chrome->store)
            strobe_chrome_charge(chrome, map_bytes(maps[i]), 0);
        strobe_map_free(maps[i]);
    }
}

int strobe_chrome_is_file(const uint8_t *bytes, size_t n_bytes)
{
    if (n_bytes >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
        return 1;
    size_t i = n_bytes >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (i < n_bytes && strchr(" \t\r\n", bytes[i]) && bytes[i])
        i++;
    return i < n_bytes && (bytes[i] == '{' || bytes[i] == '[');
}

/* ---- the trace ---- */

/* Time 0 of the file is the trace's start if the first event is no further from it than the trace is long, or a second; else
 * that event is. */
static void choose_start(struct strobe_chrome *chrome)
{
    if (chrome->first > chrome->last)
        chrome->first = chrome->last = 0;
    int64_t length = chrome->last - chrome->first, most = length > NEAR_NS ? length : NEAR_NS;
    int is_near = chrome->first > -(int64_t)(TICK_BASE / 2) && chrome->first < HOUR_NS &&
                  chrome->first <= most;
    chrome->shift = (int64_t)TICK_BASE - (is_near ? 0 : chrome->first);
}

static enum strobe_err put_facts(struct strobe_chrome *chrome)
{
    struct strobe_records records = {0};
    uint64_t zero = TICK_BASE, last = (uint64_t)(chrome->last + chrome->shift);
    uint64_t sync[] = {STROBE_CLOCK_MONO, zero, zero, 0, 0, 0};
    strobe_records_numbers(&records, STROBE_FACT_CLOCK_SYNC, sync, 6);
    strobe_records_numbers(&records, STROBE_FACT_RECORDING, (uint64_t[]){zero, 0}, 2);
    strobe_records_numbers(&records, STROBE_FACT_RECORDING,
                           (uint64_t[]){last > zero ? last : zero, 1}, 2);
    strobe_records_tick(&records, zero);
    enum strobe_err err = strobe_file_put_records(chrome->writer, &records);
    strobe_records_free(&records);
    return err;
}

/* What can't be seen in the trace is said in it. */
static void put_notes(struct strobe_chrome *chrome)
{
    const struct {
        uint64_t n;
        const char *what;
    } notes[] = {
        {chrome->n_no_phase, "events without a phase that is known were left out"},
        {chrome->n_unknown, "events of phases that a trace has no place for were left out"},
        {chrome->n_no_time, "events without a time were left out"},
        {chrome->n_no_begin, "ends without a begin were left out"},
        {chrome->n_no_end, "begins without an end: these zones and spans stay open"},
        {chrome->n_unfinished, "zones without an end were ended with the zone around them"},
        {chrome->n_overlapping, "zones that overlap others of their thread are spans"},
        {chrome->n_too_many, "events were left out: too deep, or too many open at once"},
        {strobe_events_in_n_skipped(chrome->in),
         "elements were left out: no objects, or over 16 MiB"},
    };
    struct strobe_build *build = chrome->n_processes ? chrome->processes[0].build : NULL;
    for (size_t i = 0; build && i < sizeof notes / sizeof notes[0]; i++)
        if (notes[i].n)
            strobe_build_note(build, "%llu %s", (unsigned long long)notes[i].n, notes[i].what);
    if (build && chrome->out->is_cut)
        strobe_build_note(build, "the JSON file ends too early or is damaged at byte %llu",
                          (unsigned long long)chrome->out->offset);
    chrome->out->n_set_aside = chrome->n_no_phase + chrome->n_unknown + chrome->n_no_time +
                               chrome->n_no_begin + chrome->n_too_many +
                               strobe_events_in_n_skipped(chrome->in);
}

/* All events were read: what was needed to tell them apart makes room for sorting them. */
static void forget_names(struct strobe_chrome *chrome)
{
    free_maps(chrome);
    for (uint32_t i = 0; i < chrome->n_threads; i++) {
        struct strobe_chrome_thread *thread = &chrome->threads[i];
        strobe_chrome_charge(chrome, thread->open_room * sizeof *thread->open, 0);
        free(thread->open);
        thread->open = NULL;
        thread->open_room = 0;
    }
    strobe_events_in_drop(chrome->in);
}

static enum strobe_err fill_trace(struct strobe_chrome *chrome)
{
    struct strobe_build_store_options options = {.writer = chrome->writer,
                                                 .budget_bytes = BUDGET_BYTES};
    enum strobe_err err = strobe_build_store_open(&options, &chrome->store);
    if (err)
        return err;
    err = strobe_chrome_read(chrome);
    chrome->out->offset = strobe_events_in_offset(chrome->in);
    chrome->out->is_cut = err == STROBE_ERR_CORRUPT && chrome->out->n_events;
    if (err && !chrome->out->is_cut)
        return err;
    forget_names(chrome);
    choose_start(chrome);
    enum strobe_err written = put_facts(chrome);
    if (!written)
        written = strobe_chrome_write_rows(chrome);
    put_notes(chrome);
    return written ? written : err;
}

/* ---- life ---- */

static void close_sinks(struct strobe_chrome *chrome)
{
    for (uint32_t i = 0; i < chrome->n_processes; i++)
        strobe_build_close(chrome->processes[i].build);
    strobe_build_store_close(chrome->store); /* writes the last block */
    chrome->store = NULL;
    chrome->n_processes = 0;
}

static void free_chrome(struct strobe_chrome *chrome)
{
    close_sinks(chrome);
    free_maps(chrome);
    for (uint32_t i = 0; i < chrome->n_threads; i++)
        free(chrome->threads[i].open);
    strobe_events_in_close(chrome->in);
    strobe_rows_close(chrome->rows);
    free(chrome->processes);
    free(chrome->threads);
    free(chrome->scratch);
    free(chrome->ends);
}

static void folder_of(const char *path, char *out, size_t room)
{
    const char *slash = strrchr(path, '/');
    snprintf(out, room, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
}

static enum strobe_err import(struct strobe_chrome *chrome, const char *from, const char *to)
{
    char folder[4096];
    folder_of(to, folder, sizeof folder);
    chrome->first = INT64_MAX;
    chrome->last = INT64_MIN;
    chrome->ends = malloc(STROBE_CHROME_DEPTH_MAX * sizeof *chrome->ends);
    enum strobe_err err = chrome->ends ? strobe_rows_open(folder, &chrome->rows) : STROBE_ERR_NOMEM;
    if (!err)
        err = strobe_file_create(to, from, 1000000000, &chrome->writer);
    if (!err)
        err = fill_trace(chrome);
    int is_kept = !err || chrome->out->is_cut;
    close_sinks(chrome);
    if (chrome->writer && is_kept) {
        strobe_pair_write(chrome->writer, folder); /* where that fails readers pair themselves */
        enum strobe_err end = strobe_file_finish(chrome->writer);
        return err ? err : end;
    }
    if (chrome->writer)
        strobe_file_abandon(chrome->writer);
    return err;
}

enum strobe_err strobe_chrome_import(const char *from, const char *to,
                                     struct strobe_chrome_import *out)
{
    struct strobe_chrome chrome = {.out = out};
    memset(out, 0, sizeof *out);
    enum strobe_err err = strobe_events_in_open(from, &chrome.in);
    if (!err)
        err = import(&chrome, from, to);
    free_chrome(&chrome);
    return err;
}

enum strobe_err strobe_chrome_import_bytes(const void *bytes, size_t n_bytes, const char *to,
                                           struct strobe_chrome_import *out)
{
    struct strobe_chrome chrome = {.out = out};
    memset(out, 0, sizeof *out);
    enum strobe_err err = strobe_events_in_over(bytes, n_bytes, &chrome.in);
    if (!err)
        err = import(&chrome, "", to);
    free_chrome(&chrome);
    return err;
}
