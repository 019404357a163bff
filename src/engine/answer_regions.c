/* answer_regions.c - what ran inside named regions: the sums of `strobe report --by-region`.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "engine/engine.h"
#include "query/regions.h"

enum { MOST_PATTERNS = 64, PATTERN_ROOM = 256 };

/* What a question wants; the sums of the last one are kept with it. */
struct strobe_kept_regions {
    char *key; /* owned: of the question that they answer */
    struct strobe_regions_options options;
    struct strobe_region_want wants[MOST_PATTERNS];
    const char *zones[MOST_PATTERNS];
    char texts[2 * MOST_PATTERNS][PATTERN_ROOM]; /* of both */
    struct strobe_regions regions;
    uint32_t *order; /* owned: regions in the order in which they are shown */
};

void strobe_kept_regions_free(struct strobe_kept_regions *kept)
{
    if (!kept)
        return;
    strobe_regions_close(&kept->regions);
    free(kept->order);
    free(kept->key);
    free(kept);
}

/* "kind:pattern" as the command has it. */
static void add_want(struct strobe_kept_regions *kept, char *text)
{
    struct strobe_regions_options *options = &kept->options;
    enum strobe_region_kind kind;
    char *colon = strchr(text, ':');
    if (colon && strobe_region_kind_find(text, (size_t)(colon - text), &kind))
        kept->wants[options->n_wants++] = (struct strobe_region_want){kind, colon + 1};
}

static void read_question(struct strobe_kept_regions *kept, const struct strobe_json *question)
{
    static char all[2][16] = {"signpost:", "span:"};
    struct strobe_regions_options *options = &kept->options;
    uint32_t regions = strobe_json_member(question, 0, "regions"),
             zones = strobe_json_member(question, 0, "zones"), at = 0, value;
    for (uint32_t n = 0; (value = strobe_json_next(question, regions, &at)) && n < MOST_PATTERNS;
         n++)
        if (strobe_json_text(question, value, kept->texts[n], PATTERN_ROOM))
            add_want(kept, kept->texts[n]);
    for (at = 0;
         (value = strobe_json_next(question, zones, &at)) && options->n_zones < MOST_PATTERNS;) {
        char *text = kept->texts[MOST_PATTERNS + options->n_zones];
        if (strobe_json_text(question, value, text, PATTERN_ROOM))
            kept->zones[options->n_zones++] = text;
    }
    for (int i = 0; !regions && i < 2; i++)
        add_want(kept, all[i]);
    uint32_t scope = strobe_json_member(question, 0, "scope");
    options->scope = strobe_json_is(question, scope, "process")  ? STROBE_REGION_PROCESS
                     : strobe_json_is(question, scope, "thread") ? STROBE_REGION_THREAD
                                                                 : STROBE_REGION_ALL;
    options->wants = kept->wants;
    options->zones = kept->zones;
    options->matches = strobe_glob_fits;
}

/* The sums that were kept, or new ones. */
static enum strobe_err keep(struct strobe_engine *engine, const struct strobe_json *question)
{
    static const char *const members[] = {"regions", "zones", "scope", NULL};
    char *key = strobe_engine_key(engine, question, members);
    if (!key)
        return STROBE_ERR_NOMEM;
    if (engine->regions && !strcmp(engine->regions->key, key)) {
        free(key);
        return STROBE_OK;
    }
    strobe_kept_regions_free(engine->regions);
    struct strobe_kept_regions *kept = engine->regions = calloc(1, sizeof *kept);
    if (!kept) {
        free(key);
        return STROBE_ERR_NOMEM;
    }
    kept->key = key;
    read_question(kept, question);
    enum strobe_err err = kept->options.n_wants
                              ? strobe_regions_run(engine->trace, &kept->options, &kept->regions)
                              : STROBE_OK;
    if (!err && !(kept->order = strobe_regions_sort(&kept->regions)))
        err = STROBE_ERR_NOMEM;
    if (err) {
        strobe_kept_regions_free(kept);
        engine->regions = NULL;
    }
    return err;
}

static void put_regions(const struct strobe_kept_regions *kept, struct strobe_reply *reply)
{
    const struct strobe_regions *regions = &kept->regions;
    uint32_t n;
    strobe_reply_open(reply, "regions", '[');
    for (uint32_t i = 0; i < regions->n_regions; i++) {
        const struct strobe_region *region = &regions->regions[kept->order[i]];
        const char *name = strobe_texts_get(&regions->texts, region->name, &n);
        strobe_reply_open(reply, "", '{');
        strobe_reply_text(reply, "name", name, n);
        strobe_reply_string(reply, "kind", strobe_region_kind_name(region->kind));
        strobe_reply_u64(reply, "stretches", region->n_stretches);
        strobe_reply_u64(reply, "ns", region->ns);
        strobe_reply_u64(reply, "zones", region->n_zones);
        strobe_reply_u64(reply, "self", region->self_ns);
        strobe_reply_number(reply, "first", (double)region->first_ns);
        strobe_reply_close(reply, '}');
    }
    strobe_reply_close(reply, ']');
}

/* The rows: their regions' places in the list above, names each once. */
static void put_rows(const struct strobe_kept_regions *kept, uint64_t limit,
                     struct strobe_reply *reply)
{
    const struct strobe_regions *regions = &kept->regions;
    uint64_t total = regions->row_ids.n;
    uint32_t n = (uint32_t)(total < limit ? total : limit), place = 0, n_text;
    struct strobe_map names = {0};
    uint32_t *region = strobe_reply_u32(reply, "region", n),
             *name = strobe_reply_u32(reply, "name", n);
    double *count = strobe_reply_f64(reply, "count", n), *sum = strobe_reply_f64(reply, "total", n),
           *self = strobe_reply_f64(reply, "self", n);
    strobe_reply_open(reply, "names", '[');
    for (uint32_t i = 0; !reply->failed && i < n; i++) {
        const struct strobe_region_row *row = &regions->rows[i];
        uint64_t *number;
        while (kept->order[place] != row->region)
            place++;
        if (strobe_map_add(&names, row->name, &number)) {
            reply->failed = 1;
            break;
        }
        if (!*number) {
            const char *text = strobe_texts_get(&regions->texts, row->name, &n_text);
            *number = names.n;
            strobe_reply_text(reply, "", text, n_text);
        }
        region[i] = place;
        name[i] = (uint32_t)*number - 1;
        count[i] = (double)row->count;
        sum[i] = (double)row->total_ns;
        self[i] = (double)row->self_ns;
    }
    strobe_reply_close(reply, ']');
    strobe_reply_u64(reply, "n_rows", total);
    strobe_map_free(&names);
}

void strobe_engine_answer_regions(struct strobe_engine *engine, const struct strobe_json *question,
                                  struct strobe_reply *reply)
{
    enum strobe_err err = keep(engine, question);
    if (err) {
        strobe_engine_answer_error(reply, strobe_err_text(err));
        return;
    }
    put_regions(engine->regions, reply);
    put_rows(engine->regions, strobe_engine_count(question, "limit", 100000, 1000000), reply);
}
