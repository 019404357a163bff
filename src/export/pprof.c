/* pprof.c - see pprof.h. Samples go out as they come from the sort; functions, locations, mappings and texts, which they number, follow them: the order of
 * fields in a message is free.  SPDX-License-Identifier: MIT */
#include "export/pprof.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/protobuf.h"
#include "export/gzip.h"
#include "export/stacks.h"

/* Fields of perftools.profiles.Profile and of what it holds. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME_NANOS = 9,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    VALUE_TYPE = 1,
    VALUE_UNIT = 2,
    SAMPLE_LOCATION = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_STR = 2,
    LABEL_NUM = 3,
    MAPPING_ID = 1,
    MAPPING_START = 2,
    MAPPING_LIMIT = 3,
    MAPPING_OFFSET = 4,
    MAPPING_FILE = 5,
    MAPPING_BUILD_ID = 6,
    MAPPING_HAS_FUNCTIONS = 7,
    LOCATION_ID = 1,
    LOCATION_MAPPING = 2,
    LOCATION_ADDRESS = 3,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE = 4,
};

struct pprof {
    const struct strobe_trace *trace; /* borrowed */
    struct strobe_stacks *stacks;     /* borrowed */
    struct strobe_out *out;           /* borrowed */
    struct strobe_out message, inner; /* in memory */
    struct strobe_textmap strings;    /* their number: the entry */
    uint32_t *places;                 /* owned: the stack that is counted */
    uint32_t n_places, places_room;
    uint64_t *ids; /* owned: its locations */
    uint32_t ids_room;
    uint32_t process, thread;
    uint64_t n_same;      /* samples of it; 0: there is none */
    uint64_t first, last; /* ticks */
    uint8_t *is_mapped;   /* owned: by module: a location is in it */
    enum strobe_err err;  /* of memory */
};

static uint64_t string_of(struct pprof *pprof, const char *text, size_t n)
{
    uint32_t entry = 0;
    enum strobe_err err = strobe_textmap_add(&pprof->strings, text, n, &entry);
    if (err)
        pprof->err = err;
    return err ? 0 : entry;
}

static uint64_t string_of_text(struct pprof *pprof, uint32_t text)
{
    uint32_t n;
    const char *bytes = strobe_texts_get(&pprof->stacks->texts, text, &n);
    return string_of(pprof, bytes, n);
}

static void put_value_type(struct pprof *pprof, uint32_t field, const char *type, const char *unit)
{
    strobe_protobuf_put_u(&pprof->message, VALUE_TYPE, string_of(pprof, type, strlen(type)));
    strobe_protobuf_put_u(&pprof->message, VALUE_UNIT, string_of(pprof, unit, strlen(unit)));
    strobe_protobuf_put_message(pprof->out, field, &pprof->message);
}

/* ---- samples ---- */

static void put_label(struct pprof *pprof, const char *key, const char *text, uint32_t n)
{
    strobe_protobuf_put_u(&pprof->inner, LABEL_KEY, string_of(pprof, key, strlen(key)));
    strobe_protobuf_put_u(&pprof->inner, LABEL_STR, string_of(pprof, text, n));
    strobe_protobuf_put_message(&pprof->message, SAMPLE_LABEL, &pprof->inner);
}

static void put_label_number(struct pprof *pprof, const char *key, uint64_t number)
{
    strobe_protobuf_put_u(&pprof->inner, LABEL_KEY, string_of(pprof, key, strlen(key)));
    strobe_protobuf_put_u(&pprof->inner, LABEL_NUM, number);
    strobe_protobuf_put_message(&pprof->message, SAMPLE_LABEL, &pprof->inner);
}

static void put_labels(struct pprof *pprof)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    const char *name = strobe_trace_thread_name(pprof->trace, pprof->thread, room, &n);
    put_label(pprof, "thread", name, n);
    put_label_number(pprof, "tid", pprof->trace->threads[pprof->thread].tid);
    name = strobe_trace_process_name(pprof->trace, pprof->process, room, &n);
    put_label(pprof, "process", name, n);
    put_label_number(pprof, "pid", pprof->trace->processes[pprof->process].pid);
}

static void put_stack(struct pprof *pprof)
{
    uint64_t period_ns = strobe_stacks_period_ns(pprof->stacks);
    uint64_t values[] = {pprof->n_same, pprof->n_same * period_ns};
    if (!pprof->n_same)
        return;
    if (STROBE_ARRAY_RESERVE(pprof->ids, pprof->ids_room, pprof->n_places)) {
        pprof->err = STROBE_ERR_NOMEM;
        return;
    }
    for (uint32_t i = 0; i < pprof->n_places; i++)
        pprof->ids[i] = pprof->places[i] + 1ull;
    strobe_protobuf_put_packed(&pprof->message, SAMPLE_LOCATION, pprof->ids, pprof->n_places);
    strobe_protobuf_put_packed(&pprof->message, SAMPLE_VALUE, values, period_ns ? 2 : 1);
    put_labels(pprof);
    strobe_protobuf_put_message(pprof->out, PROFILE_SAMPLE, &pprof->message);
    pprof->n_same = 0;
}

static int is_same(const struct pprof *pprof, const struct strobe_stacks_sample *sample)
{
    return pprof->n_same && pprof->thread == sample->thread &&
           pprof->n_places == sample->n_places &&
           (!sample->n_places ||
            !memcmp(pprof->places, sample->places, sample->n_places * sizeof *pprof->places));
}

static enum strobe_err take_sample(void *context, const struct strobe_stacks_sample *sample)
{
    struct pprof *pprof = context;
    pprof->first = sample->tick < pprof->first ? sample->tick : pprof->first;
    pprof->last = sample->tick > pprof->last ? sample->tick : pprof->last;
    if (!is_same(pprof, sample)) {
        put_stack(pprof);
        if (STROBE_ARRAY_RESERVE(pprof->places, pprof->places_room, sample->n_places + 1))
            return STROBE_ERR_NOMEM;
        if (sample->n_places)
            memcpy(pprof->places, sample->places, sample->n_places * sizeof *pprof->places);
        pprof->n_places = sample->n_places;
        pprof->process = sample->process;
        pprof->thread = sample->thread;
    }
    pprof->n_same++;
    return pprof->err ? pprof->err : pprof->out->error ? STROBE_ERR_IO : STROBE_OK;
}

/* ---- what samples number ---- */

static void put_functions(struct pprof *pprof)
{
    const struct strobe_stacks *stacks = pprof->stacks;
    for (uint32_t i = 0; i < stacks->function_ids.n; i++) {
        uint64_t name = string_of_text(pprof, stacks->functions[i].name);
        strobe_protobuf_put_u(&pprof->message, FUNCTION_ID, i + 1ull);
        strobe_protobuf_put_u(&pprof->message, FUNCTION_NAME, name);
        strobe_protobuf_put_u(&pprof->message, FUNCTION_SYSTEM_NAME, name);
        strobe_protobuf_put_u(&pprof->message, FUNCTION_FILE,
                              string_of_text(pprof, stacks->functions[i].file));
        strobe_protobuf_put_message(pprof->out, PROFILE_FUNCTION, &pprof->message);
    }
}

static void put_locations(struct pprof *pprof)
{
    const struct strobe_stacks *stacks = pprof->stacks;
    for (uint32_t i = 0; i < stacks->place_ids.n; i++) {
        const struct strobe_stacks_place *place = &stacks->places[i];
        strobe_protobuf_put_u(&pprof->message, LOCATION_ID, i + 1ull);
        if (place->module) {
            strobe_protobuf_put_u(&pprof->message, LOCATION_MAPPING, place->module);
            pprof->is_mapped[place->module - 1] = 1;
        }
        strobe_protobuf_put_u(&pprof->message, LOCATION_ADDRESS, place->address);
        for (uint32_t k = 0; k < place->n; k++) {
            const struct strobe_stacks_line *line = &stacks->lines[place->first + k];
            strobe_protobuf_put_u(&pprof->inner, LINE_FUNCTION, line->function + 1ull);
            strobe_protobuf_put_u(&pprof->inner, LINE_LINE, line->line);
            strobe_protobuf_put_message(&pprof->message, LOCATION_LINE, &pprof->inner);
        }
        strobe_protobuf_put_message(pprof->out, PROFILE_LOCATION, &pprof->message);
    }
}

/* Modules that a location is in; their number is that of the trace. */
static void put_mappings(struct pprof *pprof)
{
    for (uint32_t i = 0; i < pprof->trace->n_modules; i++) {
        const struct strobe_module *module = &pprof->trace->modules[i];
        uint32_t n;
        if (!pprof->is_mapped[i])
            continue;
        strobe_protobuf_put_u(&pprof->message, MAPPING_ID, i + 1ull);
        strobe_protobuf_put_u(&pprof->message, MAPPING_START, module->base);
        strobe_protobuf_put_u(&pprof->message, MAPPING_LIMIT, module->base + module->size);
        strobe_protobuf_put_u(&pprof->message, MAPPING_OFFSET, module->offset);
        const char *text = strobe_trace_text(pprof->trace, module->path, &n);
        strobe_protobuf_put_u(&pprof->message, MAPPING_FILE, string_of(pprof, text, n));
        text = strobe_trace_text(pprof->trace, module->build_id, &n);
        strobe_protobuf_put_u(&pprof->message, MAPPING_BUILD_ID, string_of(pprof, text, n));
        strobe_protobuf_put_u(&pprof->message, MAPPING_HAS_FUNCTIONS, 1);
        strobe_protobuf_put_message(pprof->out, PROFILE_MAPPING, &pprof->message);
    }
}

static void put_times(struct pprof *pprof)
{
    const struct strobe_clock *clock = &pprof->trace->clock;
    uint64_t period_ns = strobe_stacks_period_ns(pprof->stacks);
    if (pprof->first <= pprof->last) {
        int64_t first = strobe_clock_at(clock, pprof->first);
        int64_t last = strobe_clock_at(clock, pprof->last);
        strobe_protobuf_put_u(pprof->out, PROFILE_TIME_NANOS,
                              (uint64_t)first + clock->real_offset_ns);
        strobe_protobuf_put_u(pprof->out, PROFILE_DURATION_NANOS, (uint64_t)(last - first));
    }
    if (period_ns) {
        put_value_type(pprof, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
        strobe_protobuf_put_u(pprof->out, PROFILE_PERIOD, period_ns);
    }
}

static void put_strings(struct pprof *pprof)
{
    for (uint32_t i = 0; i < pprof->strings.n; i++)
        strobe_protobuf_put_text(pprof->out, PROFILE_STRING, strobe_textmap_key(&pprof->strings, i),
                                 pprof->strings.entries[i].n_key);
}

/* ---- all of it ---- */

static enum strobe_err write_profile(struct pprof *pprof)
{
    pprof->is_mapped = calloc(pprof->trace->n_modules + 1ull, 1);
    if (!pprof->is_mapped)
        return STROBE_ERR_NOMEM;
    string_of(pprof, "", 0); /* text 0 is the empty one */
    put_value_type(pprof, PROFILE_SAMPLE_TYPE, "samples", "count");
    if (pprof->stacks->hz)
        put_value_type(pprof, PROFILE_SAMPLE_TYPE, "cpu", "nanoseconds");
    enum strobe_err err = strobe_stacks_each(pprof->stacks, take_sample, pprof);
    if (err)
        return err;
    put_stack(pprof);
    put_functions(pprof);
    put_locations(pprof);
    put_mappings(pprof);
    put_times(pprof);
    put_strings(pprof);
    return pprof->err ? pprof->err : pprof->out->error ? STROBE_ERR_IO : STROBE_OK;
}

static void free_pprof(struct pprof *pprof)
{
    strobe_out_free(&pprof->message);
    strobe_out_free(&pprof->inner);
    strobe_textmap_free(&pprof->strings);
    free(pprof->places);
    free(pprof->ids);
    free(pprof->is_mapped);
}

enum strobe_err strobe_pprof_write(struct strobe_trace *trace,
                                   const struct strobe_samples_options *options, int fd,
                                   uint64_t *n_samples, uint64_t *n_bad_parts)
{
    struct strobe_stacks stacks;
    struct strobe_out out;
    struct pprof pprof = {.trace = trace, .stacks = &stacks, .out = &out, .first = UINT64_MAX};
    enum strobe_err err = strobe_stacks_open(trace, options, STROBE_STACKS_BY_STACK, &stacks);
    struct strobe_gzip *gzip = err ? NULL : strobe_gzip_open(&out, fd);
    if (!err && !gzip)
        err = STROBE_ERR_NOMEM;
    if (!err)
        err = write_profile(&pprof);
    int error = gzip ? strobe_gzip_close(gzip, &out) : 0;
    *n_samples = stacks.n_samples;
    *n_bad_parts = stacks.n_bad_parts;
    free_pprof(&pprof);
    strobe_stacks_close(&stacks);
    return error && (!err || err == STROBE_ERR_IO) ? strobe_err_from_errno(error) : err;
}
