/* device_json.c - writes device_analysis_data.json: every marker, op and analysis of a device log.
 * The form is that of Python's json.dumps(indent=2, sort_keys=True), with tuples as their repr().
 * SPDX-License-Identifier: MIT */
#include "report/analysis.h"
#include "report/json.h"
#include "report/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct strobe_out text;
typedef struct strobe_report_span span;
typedef const struct strobe_report_model model_ref;
typedef const struct strobe_report_analysis analysis_ref;

/* Where the writer is: how deep, and whether something stands before it. */
struct writer {
    model_ref *model;
    struct strobe_report_out *out;
    text *to;
    text scratch;
    int depth;
    bool first;
};

/* ---- JSON ---- */

static void new_line(struct writer *w)
{
    strobe_out_text(w->to, w->first ? "\n" : ",\n");
    for (int i = 0; i < w->depth; i++)
        strobe_out_text(w->to, "  ");
    w->first = false;
    strobe_report_out_flush(w->out, false);
}

static void open_block(struct writer *w, char c)
{
    strobe_out_char(w->to, c);
    w->depth++;
    w->first = true;
}

static void close_block(struct writer *w, char c)
{
    w->depth--;
    if (!w->first) {
        w->first = true;
        new_line(w);
    }
    strobe_out_char(w->to, c);
    w->first = false;
}

static uint32_t decode_utf8(const unsigned char *at, size_t left, size_t *n)
{
    uint32_t c = at[0];
    *n = c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    if (c < 0x80 || *n > left || *n == 1) {
        *n = 1;
        return c;
    }
    uint32_t value = c & (0x7fu >> *n);
    for (size_t i = 1; i < *n; i++)
        value = value << 6 | (at[i] & 63);
    return value;
}

static void add_string(text *to, const char *bytes, size_t len)
{
    strobe_out_char(to, '"');
    for (size_t i = 0, n; i < len; i += n) {
        uint32_t c = decode_utf8((const unsigned char *)bytes + i, len - i, &n);
        if (c == '"' || c == '\\')
            strobe_out_format(to, "\\%c", (char)c);
        else if (c == '\n')
            strobe_out_text(to, "\\n");
        else if (c == '\t')
            strobe_out_text(to, "\\t");
        else if (c == '\r')
            strobe_out_text(to, "\\r");
        else if (c >= 0x20 && c < 0x7f)
            strobe_out_char(to, (char)c);
        else if (c >= 0x10000)
            strobe_out_format(to, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
                              0xdc00 + ((c - 0x10000) & 0x3ff));
        else
            strobe_out_format(to, "\\u%04x", c);
    }
    strobe_out_char(to, '"');
}

static void key(struct writer *w, const char *name)
{
    new_line(w);
    add_string(w->to, name, strlen(name));
    strobe_out_text(w->to, ": ");
}

static void add_scratch(struct writer *w)
{
    add_string(w->to, w->scratch.at ? w->scratch.at : "", w->scratch.len);
    strobe_out_clear(&w->scratch);
}

static void key_string(struct writer *w, const char *name, const char *value)
{
    key(w, name);
    add_string(w->to, value, strlen(value));
}

static void key_int(struct writer *w, const char *name, int64_t value)
{
    key(w, name);
    strobe_out_i(w->to, value);
}

static void key_double(struct writer *w, const char *name, double value)
{
    key(w, name);
    strobe_report_text_double(w->to, value);
}

/* ---- Python's repr() ---- */

/* The marker's dict. */
static void add_dict(struct writer *w, const struct strobe_report_mark *mark)
{
    text *to = &w->scratch;
    const struct strobe_report_zone *zone = &w->model->log.zones[mark->zone];
    span name = strobe_report_mark_name(w->model, mark), type = strobe_report_zone_type(zone);
    span line = {zone->text + zone->line_at, zone->line_len};
    int64_t number;
    strobe_out_format(to, "{'id': %u, 'zone_name': ", mark->timer);
    strobe_report_python_repr(to, name.at, name.len);
    strobe_out_text(to, ", 'type': ");
    strobe_report_python_repr(to, type.at, type.len);
    strobe_out_text(to, ", 'src_line': ");
    if (strobe_report_span_int(line, &number))
        strobe_out_i(to, number);
    else
        strobe_report_python_repr(to, line.at, line.len);
    strobe_out_text(to, ", 'src_file': ");
    strobe_report_python_repr(to, zone->text + zone->file_at, zone->file_len);
    strobe_out_format(to, ", 'run_host_id': %llu, 'trace_id': %lld, 'trace_id_count': %lld",
                      (unsigned long long)mark->run, (long long)mark->trace,
                      (long long)mark->counter);
    strobe_out_text(to, ", 'meta_data': ");
    strobe_report_python_repr(to, mark->meta_len ? w->model->texts.at + mark->meta : "",
                              mark->meta_len);
    strobe_out_char(to, '}');
}

/* (dict, time, data[, 'RISC'][, (x, y)]) */
static void add_mark(struct writer *w, uint32_t index, bool risc, bool core)
{
    const struct strobe_report_mark *mark = &w->model->marks[index];
    const struct strobe_report_series *series = w->model->log.series[mark->series];
    strobe_out_char(&w->scratch, '(');
    add_dict(w, mark);
    strobe_out_format(&w->scratch, ", %llu, %llu", (unsigned long long)mark->time,
                      (unsigned long long)mark->data);
    if (risc)
        strobe_out_format(&w->scratch, ", '%s'", series->name);
    if (core)
        strobe_out_format(&w->scratch, ", (%lld, %lld)", (long long)series->x,
                          (long long)series->y);
    strobe_out_char(&w->scratch, ')');
    add_scratch(w);
}

static void add_times(struct writer *w, const struct strobe_report_times *times, bool risc,
                      bool core)
{
    key(w, "timeseries");
    open_block(w, '[');
    for (uint32_t i = 0; i < times->n; i++) {
        new_line(w);
        add_mark(w, times->marks[i], risc, core);
    }
    close_block(w, ']');
}

/* ---- what an analysis is ---- */

static void add_matcher(struct writer *w, const char *name,
                        const struct strobe_report_matcher *matcher, bool is_marker)
{
    key(w, name);
    open_block(w, '{');
    if (!is_marker && !matcher->no_core)
        key_string(w, "core", "ANY");
    key_string(w, "risc", matcher->risc);
    if (matcher->list) {
        key(w, "zone_name");
        open_block(w, '[');
        for (int i = 0; i < STROBE_REPORT_NAMES_MAX && matcher->names[i]; i++) {
            new_line(w);
            add_string(w->to, matcher->names[i], strlen(matcher->names[i]));
        }
        close_block(w, ']');
    } else if (matcher->names[0]) {
        key_string(w, "zone_name", matcher->names[0]);
    }
    if (matcher->phase)
        key_string(w, "zone_phase", matcher->phase);
    close_block(w, '}');
}

static void add_analysis(struct writer *w, analysis_ref *analysis)
{
    static const char *const across[] = {"ops", "device", "core", "dispatch_ops"};
    static const char *const forms[] = {"op_first_last", "op_core_first_last", "adjacent", "sum",
                                        "event"};
    bool is_marker = analysis->form == STROBE_REPORT_SUM || analysis->form == STROBE_REPORT_EVENT;
    open_block(w, '{');
    key_string(w, "across", across[analysis->across]);
    if (is_marker) {
        add_matcher(w, "marker", &analysis->start, true);
    } else {
        add_matcher(w, "end", &analysis->end, false);
        add_matcher(w, "start", &analysis->start, false);
    }
    key_string(w, "type", forms[analysis->form]);
    close_block(w, '}');
}

/* Analyses by name: indices into a setup. Owned by the caller. */
static uint32_t *sort_analyses(const struct strobe_report_setup *setup)
{
    uint32_t *order = malloc((setup->n + 1) * sizeof *order);
    for (uint32_t i = 0; order && i < setup->n; i++) {
        uint32_t k = i;
        for (; k > 0 && strcmp(setup->analyses[i]->name, setup->analyses[order[k - 1]]->name) < 0;
             k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    return order;
}

/* ---- what it found ---- */

static void add_stats(struct writer *w, const struct strobe_report_stats *stats, bool has_first)
{
    key(w, "stats");
    open_block(w, '{');
    key_double(w, "Average", stats->average);
    key_int(w, "Count", (int64_t)stats->count);
    if (has_first)
        key_int(w, "First", stats->first);
    key_int(w, "Max", stats->max);
    key_double(w, "Median", stats->median);
    key_int(w, "Min", stats->min);
    key_int(w, "Range", stats->max - stats->min);
    key_int(w, "Sum", stats->sum);
    close_block(w, '}');
}

static void add_iteration(struct writer *w, const char *name, uint32_t mark)
{
    key(w, name);
    if (mark == UINT32_MAX) {
        strobe_out_text(w->to, "null");
        return;
    }
    strobe_out_char(&w->scratch, '(');
    add_dict(w, &w->model->marks[mark]);
    strobe_out_format(&w->scratch, ", %llu)", (unsigned long long)w->model->marks[mark].time);
    add_scratch(w);
}

static void add_duration(struct writer *w, analysis_ref *analysis,
                         const struct strobe_report_duration *duration)
{
    bool adjacent = analysis->form == STROBE_REPORT_ADJACENT;
    new_line(w);
    open_block(w, '{');
    key_int(w, "duration_cycles", duration->cycles);
    if (analysis->form == STROBE_REPORT_SUM) {
        add_matcher(w, "duration_type", &analysis->start, true);
        close_block(w, '}');
        return;
    }
    key(w, "duration_type");
    strobe_out_char(&w->scratch, '(');
    add_dict(w, &w->model->marks[duration->start]);
    strobe_out_text(&w->scratch, ", ");
    add_dict(w, &w->model->marks[duration->end]);
    strobe_out_char(&w->scratch, ')');
    add_scratch(w);
    key_int(w, "end_cycle", (int64_t)w->model->marks[duration->end].time);
    if (adjacent)
        add_iteration(w, "end_iter_mark", duration->end_mark);
    key_int(w, "start_cycle", (int64_t)w->model->marks[duration->start].time);
    if (adjacent)
        add_iteration(w, "start_iter_mark", duration->start_mark);
    close_block(w, '}');
}

static void add_found(struct writer *w, const struct strobe_report_found *found, bool is_total)
{
    key(w, found->analysis->name);
    open_block(w, '{');
    key(w, "analysis");
    add_analysis(w, found->analysis);
    if (!is_total) {
        key(w, "series");
        open_block(w, '[');
        for (uint32_t i = 0; i < found->n; i++)
            add_duration(w, found->analysis, &found->all[i]);
        close_block(w, ']');
    }
    add_stats(w, &found->stats, !is_total);
    close_block(w, '}');
}

static void add_findings(struct writer *w, const struct strobe_report_setup *setup,
                         const uint32_t *order, const struct strobe_report_findings *findings,
                         bool is_total)
{
    if (!findings->n)
        return;
    key(w, "analysis");
    open_block(w, '{');
    for (uint32_t i = 0; i < setup->n; i++) {
        const struct strobe_report_found *found =
            strobe_report_findings_get(findings, setup->analyses[order[i]]);
        if (found)
            add_found(w, found, is_total);
    }
    close_block(w, '}');
}

/* Events of the analyses that look across `across`; none of that kind: no key. */
static void add_events(struct writer *w, const struct strobe_report_setup *setup,
                       const uint32_t *order, const struct strobe_report_times *times,
                       enum strobe_report_across across)
{
    bool any = false;
    for (uint32_t i = 0; i < setup->n; i++)
        any = any || setup->analyses[i]->across == across;
    if (!any)
        return;
    key(w, "events");
    open_block(w, '{');
    for (uint32_t i = 0; i < setup->n; i++) {
        analysis_ref *analysis = setup->analyses[order[i]];
        if (analysis->across != across || analysis->form != STROBE_REPORT_EVENT)
            continue;
        key(w, analysis->name);
        open_block(w, '[');
        for (uint32_t k = 0; k < times->n; k++)
            if (strobe_report_is_event(w->model, analysis, &w->model->marks[times->marks[k]])) {
                new_line(w);
                add_mark(w, times->marks[k], true, across == STROBE_REPORT_ACROSS_DEVICE);
            }
        close_block(w, ']');
    }
    close_block(w, '}');
}

/* ---- cores and devices ---- */

struct device_writer {
    struct writer *w;
    const struct strobe_report_setup *setup;
    const uint32_t *order;
    const struct strobe_report_model_device *device;
    const struct strobe_report_device_findings *findings;
};

static void add_ops(const struct device_writer *d, const char *name,
                    const struct strobe_report_model_ops *ops,
                    const struct strobe_report_findings *findings, bool events, bool core)
{
    key(d->w, name);
    open_block(d->w, '[');
    for (uint32_t i = 0; i < ops->n; i++) {
        new_line(d->w);
        open_block(d->w, '{');
        if (findings)
            add_findings(d->w, d->setup, d->order, &findings[i], false);
        if (events)
            add_events(d->w, d->setup, d->order, &ops->all[i], STROBE_REPORT_ACROSS_OPS);
        add_times(d->w, &ops->all[i], true, core);
        close_block(d->w, '}');
    }
    close_block(d->w, ']');
}

/* What was found in a dispatch core's ops, which are also the device's: borrowed copies in the
 * order of the core's. The array is the caller's. */
static struct strobe_report_findings *dispatch_findings(const struct device_writer *d,
                                                        const struct strobe_report_model_ops *ops)
{
    struct strobe_report_findings *own = calloc(ops->n + 1, sizeof *own);
    const struct strobe_report_model_ops *all = &d->device->dispatch_ops;
    for (uint32_t i = 0, k = 0; own && i < ops->n; i++)
        for (uint32_t tried = 0; tried < all->n; tried++, k++)
            if (all->all[k % all->n].marks == ops->all[i].marks) {
                own[i] = d->findings->dispatch_ops[k % all->n];
                break;
            }
    return own;
}

static void add_core_tensix(const struct device_writer *d, uint32_t index)
{
    const struct strobe_report_model_core *core = &d->device->cores[index];
    key(d->w, "TENSIX");
    open_block(d->w, '{');
    add_findings(d->w, d->setup, d->order, &d->findings->cores[index], false);
    add_events(d->w, d->setup, d->order, &core->tensix, STROBE_REPORT_ACROSS_CORE);
    struct strobe_report_findings *own =
        d->w->model->log.cores[core->core].dispatch ? dispatch_findings(d, &core->ops) : NULL;
    add_ops(d, "ops", &core->ops, own, false, false);
    free(own);
    add_times(d->w, &core->tensix, true, false);
    close_block(d->w, '}');
}

/* The core's RISCs by name, "TENSIX" among them. */
static void add_core(const struct device_writer *d, uint32_t index)
{
    model_ref *model = d->w->model;
    uint32_t core = d->device->cores[index].core;
    bool tensix_done = false;
    const char *last = "";
    key(d->w, "riscs");
    open_block(d->w, '{');
    for (;;) { /* the next name in order */
        uint32_t next = UINT32_MAX;
        for (uint32_t i = 0; i < model->log.n_series; i++)
            if (model->log.series[i]->core == core &&
                strcmp(model->log.series[i]->name, last) > 0 &&
                (next == UINT32_MAX ||
                 strcmp(model->log.series[i]->name, model->log.series[next]->name) < 0))
                next = i;
        if (!tensix_done &&
            (next == UINT32_MAX || strcmp("TENSIX", model->log.series[next]->name) < 0)) {
            add_core_tensix(d, index);
            tensix_done = true;
        }
        if (next == UINT32_MAX)
            break;
        last = model->log.series[next]->name;
        key(d->w, last);
        open_block(d->w, '{');
        add_times(d->w, &model->series[next], false, false);
        close_block(d->w, '}');
    }
    close_block(d->w, '}');
}

/* One RISC over all cores, by time. */
static void add_device_risc(const struct device_writer *d, const char *name)
{
    struct strobe_report_times times = {
        .marks = malloc((d->device->tensix.n + 1) * sizeof *times.marks)};
    for (uint32_t i = 0; times.marks && i < d->device->tensix.n; i++) {
        uint32_t mark = d->device->tensix.marks[i];
        if (!strcmp(d->w->model->log.series[d->w->model->marks[mark].series]->name, name))
            times.marks[times.n++] = mark;
    }
    key(d->w, name);
    open_block(d->w, '{');
    add_times(d->w, &times, false, true);
    close_block(d->w, '}');
    free(times.marks);
}

static void add_device_tensix(const struct device_writer *d)
{
    key(d->w, "TENSIX");
    open_block(d->w, '{');
    add_findings(d->w, d->setup, d->order, &d->findings->device, false);
    add_ops(d, "dispatch_ops", &d->device->dispatch_ops, d->findings->dispatch_ops, false, false);
    add_events(d->w, d->setup, d->order, &d->device->tensix, STROBE_REPORT_ACROSS_DEVICE);
    add_ops(d, "ops", &d->device->ops, d->findings->ops, true, true);
    add_times(d->w, &d->device->tensix, true, true);
    close_block(d->w, '}');
}

static void add_all_cores(const struct device_writer *d)
{
    model_ref *model = d->w->model;
    bool tensix_done = false;
    const char *last = "";
    key(d->w, "DEVICE");
    open_block(d->w, '{');
    add_findings(d->w, d->setup, d->order, &d->findings->total, true);
    key(d->w, "riscs");
    open_block(d->w, '{');
    for (;;) {
        const char *next = NULL;
        for (uint32_t i = 0; i < model->log.n_series; i++)
            if (model->log.series[i]->device == d->device->id &&
                strcmp(model->log.series[i]->name, last) > 0 &&
                (!next || strcmp(model->log.series[i]->name, next) < 0))
                next = model->log.series[i]->name;
        if (!tensix_done && (!next || strcmp("TENSIX", next) < 0)) {
            add_device_tensix(d);
            tensix_done = true;
        }
        if (!next)
            break;
        add_device_risc(d, last = next);
    }
    close_block(d->w, '}');
    close_block(d->w, '}');
}

static void core_name(model_ref *model, uint32_t core, char name[64])
{
    snprintf(name, 64, "(%lld, %lld)", (long long)model->log.cores[core].x,
             (long long)model->log.cores[core].y);
}

/* Cores by the text of their names, as sorted keys are. */
static void add_cores(const struct device_writer *d)
{
    char last[64] = "", name[64], best_name[64];
    for (;;) {
        uint32_t best = UINT32_MAX;
        for (uint32_t i = 0; i < d->device->n_cores; i++) {
            core_name(d->w->model, d->device->cores[i].core, name);
            if (strcmp(name, last) > 0 && (best == UINT32_MAX || strcmp(name, best_name) < 0)) {
                best = i;
                memcpy(best_name, name, sizeof best_name);
            }
        }
        if (best == UINT32_MAX)
            break;
        memcpy(last, best_name, sizeof last);
        key(d->w, last);
        open_block(d->w, '{');
        add_core(d, best);
        close_block(d->w, '}');
    }
    add_all_cores(d);
}

static void add_devices(struct writer *w, const struct strobe_report_setup *setup,
                        const uint32_t *order, const struct strobe_report_device_findings *findings)
{
    int64_t last = INT64_MIN;
    char name[32];
    key(w, "devices");
    open_block(w, '{');
    for (uint32_t done = 0; done < w->model->n_devices; done++) {
        uint32_t next = UINT32_MAX;
        for (uint32_t i = 0; i < w->model->n_devices; i++)
            if (w->model->devices[i].id > last &&
                (next == UINT32_MAX || w->model->devices[i].id < w->model->devices[next].id))
                next = i;
        if (next == UINT32_MAX)
            break;
        struct device_writer d = {w, setup, order, &w->model->devices[next], &findings[next]};
        last = d.device->id;
        snprintf(name, sizeof name, "%lld", (long long)last);
        key(w, name);
        open_block(w, '{');
        key(w, "cores");
        open_block(w, '{');
        add_cores(&d);
        close_block(w, '}');
        close_block(w, '}');
    }
    close_block(w, '}');
}

/* ---- the whole ---- */

static void add_info(struct writer *w)
{
    key(w, "deviceInfo");
    open_block(w, '{');
    key_string(w, "arch", w->model->log.arch);
    key_int(w, "freq", w->model->log.freq_mhz);
    key(w, "max_compute_cores");
    if (w->model->log.max_cores < 0)
        strobe_out_text(w->to, "null");
    else
        strobe_out_i(w->to, w->model->log.max_cores);
    close_block(w, '}');
}

static void add_list(struct writer *w, const char *name, const char *const *values, int n)
{
    key(w, name);
    open_block(w, '[');
    for (int i = 0; i < n; i++) {
        new_line(w);
        add_string(w->to, values[i], strlen(values[i]));
    }
    close_block(w, ']');
}

static void add_riscs(struct writer *w)
{
    static const char *const plain[] = {"BRISC",   "NCRISC",  "TRISC_0",
                                        "TRISC_1", "TRISC_2", "ERISC"};
    char name[32];
    key(w, "riscs");
    open_block(w, '[');
    for (int i = 0; i < 6 + 8 + 16; i++) {
        if (i < 6)
            snprintf(name, sizeof name, "%s", plain[i]);
        else if (i < 14)
            snprintf(name, sizeof name, "QUASAR_DM%d", i - 6);
        else
            snprintf(name, sizeof name, "QUASAR_NEO%d_TRISC%d", (i - 14) / 4, (i - 14) % 4);
        new_line(w);
        add_string(w->to, name, strlen(name));
    }
    close_block(w, ']');
}

static void add_setup(struct writer *w, const struct strobe_report_setup *setup,
                      const uint32_t *order, const struct strobe_report_json_setup *names)
{
    static const char *const stats[] = {"Count", "Average", "Max", "Median", "Min", "Sum", "Range"};
    static const char *const types[] = {"BRISC", "NCRISC",          "TRISC",
                                        "ERISC", "TENSIX_RISC_AGG", "DM"};
    key(w, "setup");
    open_block(w, '{');
    key(w, "detectOps");
    strobe_out_text(w->to, setup->detect ? "true" : "false");
    key_string(w, "deviceAnalysisData", "device_analysis_data.json");
    key_string(w, "deviceInputLog", names->input_log);
    key_string(w, "deviceStatsTXT", "device_stats.txt");
    key_string(w, "deviceTarball", "device_perf_results.tgz");
    add_list(w, "displayStats", stats, 7);
    key_string(w, "outputFolder", names->output_folder);
    add_list(w, "riscTypes", types, 6);
    add_riscs(w);
    key(w, "timerAnalysis");
    open_block(w, '{');
    for (uint32_t i = 0; i < setup->n; i++) {
        key(w, setup->analyses[order[i]]->name);
        add_analysis(w, setup->analyses[order[i]]);
    }
    close_block(w, '}');
    close_block(w, '}');
}

void strobe_report_device_json(model_ref *model, const struct strobe_report_setup *setup,
                               const struct strobe_report_device_findings *findings,
                               const struct strobe_report_json_setup *names,
                               struct strobe_report_out *out)
{
    struct writer w = {.model = model, .out = out, .to = &out->text};
    uint32_t *order = sort_analyses(setup);
    if (!order) {
        out->err = STROBE_ERR_NOMEM;
        return;
    }
    open_block(&w, '{');
    key(&w, "data");
    open_block(&w, '{');
    add_info(&w);
    add_devices(&w, setup, order, findings);
    close_block(&w, '}');
    add_setup(&w, setup, order, names);
    close_block(&w, '}');
    free(order);
    strobe_out_free(&w.scratch);
}
