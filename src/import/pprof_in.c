/* pprof_in.c - a profile of pprof: the tables first, whose order in the file is free, then its samples.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/protobuf.h"
#include "import/stacks_file.h"

enum { VALUES_MAX = 64 };

struct value_type {
    uint64_t type, unit; /* strings */
};

struct line {
    uint64_t function; /* id */
    uint32_t line;
};

struct location {
    uint64_t address, mapping;
    uint32_t first, n; /* in lines */
};

struct function {
    uint64_t name, file;
};

struct pprof_in {
    struct strobe_stacks_in *in;        /* borrowed */
    struct strobe_stacks_text *strings; /* owned: of the file's bytes */
    uint32_t n_strings, strings_room;
    struct value_type types[VALUES_MAX];
    uint32_t n_types;
    struct value_type period_type;
    uint64_t period, default_type;
    struct strobe_map location_ids, function_ids, mapping_ids; /* index + 1; a mapping's file */
    struct location *locations;                                /* owned */
    uint32_t n_locations, locations_room;
    struct line *lines; /* owned */
    uint32_t n_lines, lines_room;
    struct function *functions; /* owned */
    uint32_t n_functions, functions_room;
    uint32_t value; /* which one of a sample's values counts */
    uint64_t addresses[STROBE_STACKS_IN_DEPTH];
};

static struct strobe_stacks_text string_of(const struct pprof_in *pprof, uint64_t i)
{
    return i < pprof->n_strings ? pprof->strings[i] : (struct strobe_stacks_text){"", 0};
}

static int is_string(const struct pprof_in *pprof, uint64_t i, const char *text)
{
    struct strobe_stacks_text string = string_of(pprof, i);
    return string.n == strlen(text) && !memcmp(string.at, text, string.n);
}

/* ---- tables ---- */

static struct value_type read_type(struct strobe_protobuf message)
{
    struct value_type type = {0};
    while (strobe_protobuf_next(&message)) {
        if (message.field == 1)
            type.type = message.number;
        else if (message.field == 2)
            type.unit = message.number;
    }
    return type;
}

static enum strobe_err read_line(struct pprof_in *pprof, struct strobe_protobuf message)
{
    struct line *line = STROBE_ARRAY_PUSH(pprof->lines, pprof->n_lines, pprof->lines_room);
    if (!line)
        return STROBE_ERR_NOMEM;
    *line = (struct line){0};
    while (strobe_protobuf_next(&message)) {
        if (message.field == 1)
            line->function = message.number;
        else if (message.field == 2 && message.number <= UINT32_MAX)
            line->line = (uint32_t)message.number;
    }
    return message.is_bad ? STROBE_ERR_CORRUPT : STROBE_OK;
}

static enum strobe_err read_location(struct pprof_in *pprof, struct strobe_protobuf message)
{
    struct location location = {.first = pprof->n_lines};
    uint64_t id = 0;
    enum strobe_err err = STROBE_OK;
    while (!err && strobe_protobuf_next(&message)) {
        if (message.field == 1)
            id = message.number;
        else if (message.field == 2)
            location.mapping = message.number;
        else if (message.field == 3)
            location.address = message.number;
        else if (message.field == 4)
            err = read_line(pprof, strobe_protobuf_inner(&message));
    }
    location.n = pprof->n_lines - location.first;
    struct location *row =
        STROBE_ARRAY_PUSH(pprof->locations, pprof->n_locations, pprof->locations_room);
    if (err || !row)
        return err ? err : STROBE_ERR_NOMEM;
    *row = location;
    return message.is_bad ? STROBE_ERR_CORRUPT
                          : strobe_map_put(&pprof->location_ids, id, pprof->n_locations);
}

static enum strobe_err read_function(struct pprof_in *pprof, struct strobe_protobuf message)
{
    struct function *function =
        STROBE_ARRAY_PUSH(pprof->functions, pprof->n_functions, pprof->functions_room);
    uint64_t id = 0;
    if (!function)
        return STROBE_ERR_NOMEM;
    *function = (struct function){0};
    while (strobe_protobuf_next(&message)) {
        if (message.field == 1)
            id = message.number;
        else if (message.field == 2)
            function->name = message.number;
        else if (message.field == 4)
            function->file = message.number;
    }
    return message.is_bad ? STROBE_ERR_CORRUPT
                          : strobe_map_put(&pprof->function_ids, id, pprof->n_functions);
}

static enum strobe_err read_mapping(struct pprof_in *pprof, struct strobe_protobuf message)
{
    uint64_t id = 0, file = 0;
    while (strobe_protobuf_next(&message)) {
        if (message.field == 1)
            id = message.number;
        else if (message.field == 5)
            file = message.number;
    }
    return message.is_bad ? STROBE_ERR_CORRUPT : strobe_map_put(&pprof->mapping_ids, id, file);
}

static enum strobe_err read_string(struct pprof_in *pprof, const struct strobe_protobuf *profile)
{
    struct strobe_stacks_text *string =
        STROBE_ARRAY_PUSH(pprof->strings, pprof->n_strings, pprof->strings_room);
    if (!string)
        return STROBE_ERR_NOMEM;
    *string = (struct strobe_stacks_text){(const char *)profile->bytes, (size_t)profile->number};
    return STROBE_OK;
}

static enum strobe_err read_table(struct pprof_in *pprof, const struct strobe_protobuf *profile)
{
    struct strobe_protobuf inner = strobe_protobuf_inner(profile);
    if (profile->field == 12)
        pprof->period = profile->number;
    else if (profile->field == 14)
        pprof->default_type = profile->number;
    if (!profile->bytes)
        return STROBE_OK;
    switch (profile->field) {
    case 1:
        if (pprof->n_types == VALUES_MAX)
            return STROBE_ERR_LIMIT;
        pprof->types[pprof->n_types++] = read_type(inner);
        return STROBE_OK;
    case 3:
        return read_mapping(pprof, inner);
    case 4:
        return read_location(pprof, inner);
    case 5:
        return read_function(pprof, inner);
    case 6:
        return read_string(pprof, profile);
    case 11:
        pprof->period_type = read_type(inner);
        return STROBE_OK;
    default:
        return STROBE_OK;
    }
}

/* Samples where they are counted, else the default, else the last. */
static void choose_value(struct pprof_in *pprof)
{
    struct strobe_stacks_options *options = strobe_stacks_in_options(pprof->in);
    uint32_t chosen = pprof->n_types ? pprof->n_types - 1 : 0;
    for (uint32_t i = 0; i < pprof->n_types; i++)
        if (pprof->default_type && pprof->types[i].type == pprof->default_type)
            chosen = i;
    for (uint32_t i = pprof->n_types; i-- > 0;)
        if (is_string(pprof, pprof->types[i].type, "samples"))
            chosen = i;
    pprof->value = chosen;
    int is_time = pprof->n_types && is_string(pprof, pprof->types[chosen].unit, "nanoseconds");
    options->weight = is_time ? STROBE_STACKS_TIME : STROBE_STACKS_COUNT;
    if (!is_time && is_string(pprof, pprof->period_type.unit, "nanoseconds") && pprof->n_types &&
        is_string(pprof, pprof->types[chosen].type, "samples"))
        options->period_ns = pprof->period < 1000000000 ? pprof->period : 0;
}

/* ---- samples ---- */

/* What labels say of the thread that was sampled. */
struct labels {
    uint64_t pid, tid;
    struct strobe_stacks_text process, thread;
};

static void read_label(const struct pprof_in *pprof, struct strobe_protobuf message,
                       struct labels *labels)
{
    uint64_t key = 0, text = 0, number = 0;
    while (strobe_protobuf_next(&message)) {
        if (message.field == 1)
            key = message.number;
        else if (message.field == 2)
            text = message.number;
        else if (message.field == 3)
            number = message.number;
    }
    if (is_string(pprof, key, "pid"))
        labels->pid = number;
    else if (is_string(pprof, key, "tid"))
        labels->tid = number;
    else if (is_string(pprof, key, "process"))
        labels->process = string_of(pprof, text);
    else if (is_string(pprof, key, "thread"))
        labels->thread = string_of(pprof, text);
}

/* The frames of a location, the innermost first; one that names none is its mapping's. */
static size_t add_frames(struct pprof_in *pprof, uint32_t thread, uint64_t id, size_t n)
{
    uint64_t index = strobe_map_get(&pprof->location_ids, id, 0);
    if (!index) {
        strobe_stacks_in_leave_out(pprof->in, "locations were left out: the file has none such", 1);
        return n;
    }
    const struct location *location = &pprof->locations[index - 1];
    struct strobe_stacks_text image =
        string_of(pprof, strobe_map_get(&pprof->mapping_ids, location->mapping, 0));
    struct strobe_stacks_frame unknown = {
        .function = image.n ? image : (struct strobe_stacks_text){"[unknown]", 9}, .image = image};
    if (!location->n && n < STROBE_STACKS_IN_DEPTH)
        pprof->addresses[n++] = strobe_stacks_in_frame(pprof->in, thread, &unknown);
    for (uint32_t i = 0; i < location->n && n < STROBE_STACKS_IN_DEPTH; i++) {
        const struct line *line = &pprof->lines[location->first + i];
        uint64_t at = strobe_map_get(&pprof->function_ids, line->function, 0);
        struct strobe_stacks_frame frame = unknown;
        if (at)
            frame = (struct strobe_stacks_frame){
                .function = string_of(pprof, pprof->functions[at - 1].name),
                .file = string_of(pprof, pprof->functions[at - 1].file),
                .image = image,
                .line = line->line};
        pprof->addresses[n++] = strobe_stacks_in_frame(pprof->in, thread, &frame);
    }
    return n;
}

/* Its value, labels first: they may stand behind the locations. False: it has no such value, or a negative one. */
static int read_facts(const struct pprof_in *pprof, struct strobe_protobuf message,
                      struct labels *labels, uint64_t *value)
{
    uint64_t number;
    uint32_t i = 0;
    while (strobe_protobuf_next(&message)) {
        struct strobe_protobuf_numbers numbers = strobe_protobuf_numbers(&message, 0);
        if (message.field == 3)
            read_label(pprof, strobe_protobuf_inner(&message), labels);
        while (message.field == 2 && strobe_protobuf_numbers_next(&numbers, &number))
            if (i++ == pprof->value)
                *value = number;
    }
    return !message.is_bad && i > pprof->value && *value <= INT64_MAX;
}

static enum strobe_err read_sample(struct pprof_in *pprof, struct strobe_protobuf message)
{
    struct labels labels = {.pid = 1, .tid = 1, .process = {"pprof", 5}};
    uint64_t value = 0, id;
    size_t n = 0;
    if (!read_facts(pprof, message, &labels, &value)) {
        strobe_stacks_in_leave_out(pprof->in, "samples were left out: without a value", 1);
        return STROBE_OK;
    }
    uint32_t thread =
        strobe_stacks_in_thread(pprof->in, labels.pid, labels.process, labels.tid, labels.thread);
    if (!thread)
        return STROBE_OK;
    while (strobe_protobuf_next(&message)) {
        struct strobe_protobuf_numbers numbers = strobe_protobuf_numbers(&message, 0);
        while (message.field == 1 && strobe_protobuf_numbers_next(&numbers, &id))
            n = add_frames(pprof, thread, id, n);
    }
    return strobe_stacks_in_sample(pprof->in, thread, 0, 0, value, pprof->addresses, n);
}

static enum strobe_err read_all(struct pprof_in *pprof, const uint8_t *bytes, size_t n)
{
    struct strobe_protobuf profile = strobe_protobuf_over(bytes, n);
    enum strobe_err err = STROBE_OK;
    while (!err && strobe_protobuf_next(&profile))
        err = read_table(pprof, &profile);
    if (err || profile.is_bad)
        return err ? err : STROBE_ERR_CORRUPT;
    choose_value(pprof);
    profile = strobe_protobuf_over(bytes, n);
    while (!err && strobe_protobuf_next(&profile))
        if (profile.field == 2 && profile.bytes)
            err = read_sample(pprof, strobe_protobuf_inner(&profile));
    return err;
}

enum strobe_err strobe_pprof_read(struct strobe_bytes_in *source, struct strobe_stacks_in *in)
{
    const uint8_t *bytes;
    size_t n;
    struct pprof_in *pprof = calloc(1, sizeof *pprof);
    enum strobe_err err = pprof ? strobe_bytes_in_whole(source, &bytes, &n) : STROBE_ERR_NOMEM;
    if (!pprof)
        return err;
    pprof->in = in;
    if (!err)
        err = read_all(pprof, bytes, n);
    strobe_map_free(&pprof->location_ids);
    strobe_map_free(&pprof->function_ids);
    strobe_map_free(&pprof->mapping_ids);
    free(pprof->strings);
    free(pprof->locations);
    free(pprof->lines);
    free(pprof->functions);
    free(pprof);
    return err;
}
