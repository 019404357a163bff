/* counters.c - reads counter markers: {"counter type":"FPU_COUNTER";"ref cnt":2000;"value":500}.
 * SPDX-License-Identifier: MIT */
#include "report/counters.h"
#include "base/array.h"
#include "device/counter_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct strobe_report_span span;

/* The text after "key": up to the next ';', ',' or '}', quotes taken off. */
static bool find_member(span meta, const char *key, span *out)
{
    const char *at = memmem(meta.at, meta.len, key, strlen(key)), *end = meta.at + meta.len;
    if (!at || at == meta.at || (at[-1] != '"' && at[-1] != '\''))
        return false;
    at = memchr(at, ':', (size_t)(end - at));
    if (!at)
        return false;
    const char *stop = ++at;
    while (stop < end && *stop != ';' && *stop != ',' && *stop != '}')
        stop++;
    *out = strobe_report_span_trim((span){at, (size_t)(stop - at)});
    if (out->len >= 2 && (out->at[0] == '"' || out->at[0] == '\''))
        out->at++, out->len -= 2;
    return true;
}

static double decode_number(span text)
{
    char digits[40];
    if (text.len >= sizeof digits)
        return 0;
    memcpy(digits, text.at, text.len);
    digits[text.len] = 0;
    return strtod(digits, NULL);
}

static uint32_t add_name(struct strobe_report_counters *counters, span name)
{
    if (counters->n_names >= UINT16_MAX)
        return UINT32_MAX;
    char *copy = strndup(name.at, name.len);
    if (!copy || STROBE_ARRAY_RESERVE_TIGHT(counters->names, counters->n_names)) {
        free(copy);
        return UINT32_MAX;
    }
    counters->names[counters->n_names] = copy;
    return counters->n_names++;
}

static uint32_t intern(struct strobe_report_counters *counters, span name)
{
    uint32_t next = counters->last_name + 1; /* counters come in the same order on every core */
    if (next < counters->n_names && strobe_report_span_is(name, counters->names[next]))
        return next;
    for (uint32_t i = 0; i < counters->n_names; i++)
        if (strobe_report_span_is(name, counters->names[i]))
            return i;
    return add_name(counters, name);
}

/* Older logs give the counter's number instead of its name. */
static uint32_t intern_kind(struct strobe_report_counters *counters, span text)
{
    uint64_t number;
    char unknown[40];
    if (!strobe_report_span_uint(text, &number))
        return intern(counters, text);
    const char *name = strobe_device_counter_name(number);
    if (!name) {
        snprintf(unknown, sizeof unknown, "UNKNOWN_%llu", (unsigned long long)number);
        name = unknown;
    }
    return intern(counters, (span){name, strlen(name)});
}

bool strobe_report_counters_take(struct strobe_report_counters *counters,
                                 const struct strobe_report_marker *marker)
{
    span kind, value = {"0", 1}, ref = {"0", 1};
    if (!find_member(marker->meta, "counter type", &kind))
        return true;
    find_member(marker->meta, "value", &value);
    find_member(marker->meta, "ref cnt", &ref);
    if (STROBE_ARRAY_RESERVE(counters->values, counters->cap, (uint64_t)counters->n + 1))
        return false;
    uint32_t name = intern_kind(counters, kind);
    if (name == UINT32_MAX)
        return false;
    counters->last_name = name;
    counters->values[counters->n++] = (struct strobe_report_counter_value){
        .run = marker->run,
        .counter = marker->counter,
        .time = marker->time,
        .x = marker->series->x,
        .y = marker->series->y,
        .value = decode_number(value),
        .ref = decode_number(ref),
        .device = marker->series->device_index,
        .core = marker->series->core,
        .kind = (uint16_t)name,
    };
    return true;
}

uint32_t strobe_report_counters_name(const struct strobe_report_counters *counters,
                                     const char *name)
{
    for (uint32_t i = 0; i < counters->n_names; i++)
        if (!strcmp(counters->names[i], name))
            return i;
    return UINT32_MAX;
}

static int compare_values(const void *a, const void *b)
{
    const struct strobe_report_counter_value *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    if (x->counter != y->counter)
        return x->counter < y->counter ? -1 : 1;
    if (x->core != y->core)
        return x->core < y->core ? -1 : 1;
    return x->kind < y->kind ? -1 : x->kind > y->kind;
}

void strobe_report_counters_sort(struct strobe_report_counters *counters)
{
    if (counters->n)
        qsort(counters->values, counters->n, sizeof *counters->values, compare_values);
}

void strobe_report_counters_free(struct strobe_report_counters *counters)
{
    for (uint32_t i = 0; i < counters->n_names; i++)
        free(counters->names[i]);
    free(counters->names);
    free(counters->values);
    *counters = (struct strobe_report_counters){0};
}
