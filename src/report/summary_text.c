/* summary_text.c - the summary as text for a terminal, as Markdown, as JSON.
 * SPDX-License-Identifier: MIT */
#include "report/summary.h"

#include <stdio.h>
#include <string.h>

typedef struct strobe_out text;
typedef const struct strobe_report_summary summary_ref;

/* 1234567 ns as "1.235 ms"; -1 as "-". */
static void add_ns(text *out, int64_t ns)
{
    char number[32];
    if (ns < 0)
        snprintf(number, sizeof number, "-");
    else if (ns < 10000)
        snprintf(number, sizeof number, "%lld ns", (long long)ns);
    else if (ns < 10000000)
        snprintf(number, sizeof number, "%.3f us", (double)ns / 1e3);
    else if (ns < 10000000000)
        snprintf(number, sizeof number, "%.3f ms", (double)ns / 1e6);
    else
        snprintf(number, sizeof number, "%.3f s", (double)ns / 1e9);
    strobe_out_format(out, "%12s", number);
}

static double percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* A table's cells are set by the same calls for the terminal and for Markdown. */
struct style {
    bool md;
};

static void start_table(text *out, struct style style, const char *title, const char *head,
                        const char *md_head, const char *md_rule)
{
    if (style.md)
        strobe_out_format(out, "\n## %s\n\n%s\n%s\n", title, md_head, md_rule);
    else
        strobe_out_format(out, "\n%s\n%s\n", title, head);
}

static void bar(text *out, struct style style)
{
    strobe_out_text(out, style.md ? " | " : "  ");
}

static void next_ns(text *out, struct style style, int64_t ns)
{
    bar(out, style);
    add_ns(out, ns);
}

static void start_line(text *out, struct style style)
{
    strobe_out_text(out, style.md ? "| " : "  ");
}

static void end_line(text *out, struct style style)
{
    strobe_out_text(out, style.md ? " |\n" : "\n");
}

static void add_name(text *out, summary_ref *summary, const struct strobe_report_item *item)
{
    strobe_report_item_name(summary, item, out);
    if (item->session >= 0)
        strobe_out_format(out, " (replay %lld)", (long long)item->session);
}

static void add_slowest(summary_ref *summary, uint32_t n_top, struct style style, text *out)
{
    start_table(out, style, "Slowest ops",
                "    share   kernel time    gap before  bound               op id  device  op",
                "| share | kernel time | gap before | bound | op id | device | op |",
                "|---:|---:|---:|---|---:|---:|---|");
    for (uint32_t i = 0; i < summary->n_items && i < n_top; i++) {
        const struct strobe_report_item *item = &summary->items[summary->slowest[i]];
        if (item->times.kernel_ns < 0)
            break;
        start_line(out, style);
        strobe_out_format(out, "%5.1f %%", percent(item->times.kernel_ns, summary->kernel_ns));
        next_ns(out, style, item->times.kernel_ns);
        next_ns(out, style, item->times.gap_ns);
        bar(out, style);
        strobe_out_format(out, "%-13s", strobe_device_bound_name(item->bound));
        bar(out, style);
        strobe_out_format(out, "%10llu", (unsigned long long)item->id);
        bar(out, style);
        strobe_out_format(out, "%6lld", (long long)item->device);
        bar(out, style);
        add_name(out, summary, item);
        end_line(out, style);
    }
}

static void add_gaps(summary_ref *summary, uint32_t n_top, struct style style, text *out)
{
    start_table(out, style, "Longest gaps between ops",
                "           gap     host time       op id  before",
                "| gap | host time | op id | before |", "|---:|---:|---:|---|");
    for (uint32_t i = 0; i < summary->n_items && i < n_top; i++) {
        const struct strobe_report_item *item = &summary->items[summary->gaps[i]];
        if (item->times.gap_ns <= 0)
            break;
        start_line(out, style);
        add_ns(out, item->times.gap_ns);
        next_ns(out, style, item->times.host_ns);
        bar(out, style);
        strobe_out_format(out, "%10llu", (unsigned long long)item->id);
        bar(out, style);
        add_name(out, summary, item);
        end_line(out, style);
    }
}

static void add_sections(summary_ref *summary, struct style style, text *out)
{
    if (summary->n_sections < 2)
        return;
    start_table(out, style, "Sections between signposts",
                "       ops   kernel time          gaps     host time  from",
                "| ops | kernel time | gaps | host time | from |", "|---:|---:|---:|---:|---|");
    for (uint32_t i = 0; i < summary->n_sections; i++) {
        const struct strobe_report_section *section = &summary->sections[i];
        struct strobe_report_span header = {"(start)", 7};
        if (section->signpost != UINT32_MAX)
            header = strobe_report_signpost_header(summary->report, section->signpost);
        else if (!section->n_ops)
            continue;
        start_line(out, style);
        strobe_out_format(out, "%8llu", (unsigned long long)section->n_ops);
        next_ns(out, style, section->kernel_ns);
        next_ns(out, style, section->gap_ns);
        next_ns(out, style, section->host_ns);
        bar(out, style);
        strobe_out_bytes(out, header.at, header.len);
        end_line(out, style);
    }
}

static void add_devices(summary_ref *summary, struct style style, text *out)
{
    start_table(out, style, "Devices",
                "  device       ops   kernel time       FW time          gaps  bound by "
                "host/dispatch/kernel/waiting/compute/data movement",
                "| device | ops | kernel time | FW time | gaps | "
                "bound by host/dispatch/kernel/waiting/compute/data movement |",
                "|---:|---:|---:|---:|---:|---|");
    for (uint32_t i = 0; i < summary->n_devices; i++) {
        const struct strobe_report_device_total *total = &summary->devices[i];
        start_line(out, style);
        strobe_out_format(out, "%6lld", (long long)total->device);
        bar(out, style);
        strobe_out_format(out, "%8llu", (unsigned long long)total->n_ops);
        next_ns(out, style, total->kernel_ns);
        next_ns(out, style, total->fw_ns);
        next_ns(out, style, total->gap_ns);
        bar(out, style);
        for (int k = 1; k < STROBE_DEVICE_BOUND_COUNT; k++)
            strobe_out_format(out, "%s%llu", k > 1 ? "/" : "",
                              (unsigned long long)total->bounds[k]);
        end_line(out, style);
    }
}

static void add_place(const struct strobe_report_faults *faults, uint32_t index, text *out)
{
    const struct strobe_report_fault_entry *entry = &faults->entries[index];
    strobe_out_text(out, strobe_report_fault_file(faults, index));
    if (entry->line)
        strobe_out_format(out, ":%llu", (unsigned long long)entry->line);
    const char *detail = strobe_report_fault_detail(faults, index);
    strobe_out_text(out, ": ");
    for (; *detail; detail++)
        strobe_out_char(out, (unsigned char)*detail < ' ' ? ' ' : *detail);
}

static void add_fault_kind(const struct strobe_report_faults *faults, int kind, uint32_t n_places,
                           struct style style, text *out)
{
    uint64_t count = faults->counts[kind], shown = 0;
    strobe_out_format(out, style.md ? "- **%s** (%llu): %s\n" : "  %s (%llu): %s\n",
                      strobe_report_fault_word(kind), (unsigned long long)count,
                      strobe_report_fault_text(kind));
    for (uint32_t i = 0; i < faults->n_entries && shown < n_places; i++) {
        if ((int)faults->entries[i].kind != kind)
            continue;
        strobe_out_text(out, style.md ? "  - " : "    ");
        add_place(faults, i, out);
        strobe_out_char(out, '\n');
        shown++;
    }
    if (shown < count)
        strobe_out_format(out, "%sand %llu more\n", style.md ? "  - " : "    ",
                          (unsigned long long)(count - shown));
}

static void add_faults(summary_ref *summary, uint32_t n_places, struct style style, text *out)
{
    const struct strobe_report_faults *faults = &summary->report->faults;
    if (!strobe_report_faults_total(faults))
        return;
    strobe_out_text(out, style.md ? "\n## Faults\n\n" : "\nFaults\n");
    for (int kind = 0; kind < STROBE_REPORT_N_FAULTS; kind++)
        if (faults->counts[kind])
            add_fault_kind(faults, kind, n_places, style, out);
}

static void add_all(summary_ref *summary, const struct strobe_report_view *view, struct style style,
                    text *out)
{
    add_slowest(summary, view->n_top, style, out);
    add_gaps(summary, view->n_top < 5 ? view->n_top : 5, style, out);
    add_sections(summary, style, out);
    add_devices(summary, style, out);
    add_faults(summary, view->n_places, style, out);
    strobe_out_char(out, '\n');
    strobe_report_coverage_line(summary->report, out);
    strobe_out_char(out, '\n');
}

void strobe_report_summary_text(summary_ref *summary, const struct strobe_report_view *view,
                                text *out)
{
    if (view->csv)
        strobe_out_format(out, "report: %s\n", view->csv);
    add_all(summary, view, (struct style){false}, out);
}

void strobe_report_summary_md(summary_ref *summary, const struct strobe_report_view *view,
                              text *out)
{
    strobe_out_text(out, "# Op report\n");
    if (view->csv)
        strobe_out_format(out, "\n`%s`\n", view->csv);
    add_all(summary, view, (struct style){true}, out);
}

/* ---- JSON ---- */

static void json_key(text *out, const char *key)
{
    strobe_out_format(out, "\"%s\": ", key);
}

static void json_ns(text *out, const char *key, int64_t ns)
{
    json_key(out, key);
    if (ns < 0)
        strobe_out_text(out, "null");
    else
        strobe_out_i(out, ns);
    strobe_out_text(out, ", ");
}

static void json_item(summary_ref *summary, const struct strobe_report_item *item, text *out)
{
    text name = {0};
    strobe_report_item_name(summary, item, &name);
    strobe_out_text(out, "{\"op\": ");
    strobe_out_json(out, name.at ? name.at : "", name.len);
    strobe_out_free(&name);
    strobe_out_format(out, ", \"id\": %llu, \"device\": %lld, ", (unsigned long long)item->id,
                      (long long)item->device);
    json_ns(out, "replay", item->session);
    json_ns(out, "kernel_ns", item->times.kernel_ns);
    json_ns(out, "fw_ns", item->times.fw_ns);
    json_ns(out, "gap_ns", item->times.gap_ns);
    json_ns(out, "host_ns", item->times.host_ns);
    strobe_out_format(out, "\"share\": %.6f, \"bound\": \"%s\"}",
                      percent(item->times.kernel_ns, summary->kernel_ns) / 100,
                      strobe_device_bound_name(item->bound));
}

static void json_items(summary_ref *summary, const char *key, const uint32_t *order, uint32_t n_top,
                       text *out)
{
    json_key(out, key);
    strobe_out_char(out, '[');
    for (uint32_t i = 0; i < summary->n_items && i < n_top; i++) {
        strobe_out_text(out, i ? ",\n    " : "\n    ");
        json_item(summary, &summary->items[order[i]], out);
    }
    strobe_out_text(out, "],\n  ");
}

static void json_sections(summary_ref *summary, text *out)
{
    strobe_out_text(out, "\"sections\": [");
    for (uint32_t i = 0; i < summary->n_sections; i++) {
        const struct strobe_report_section *section = &summary->sections[i];
        strobe_out_text(out, i ? ",\n    {\"signpost\": " : "\n    {\"signpost\": ");
        if (section->signpost == UINT32_MAX) {
            strobe_out_text(out, "null");
        } else {
            struct strobe_report_span header =
                strobe_report_signpost_header(summary->report, section->signpost);
            strobe_out_json(out, header.at, header.len);
        }
        strobe_out_format(
            out, ", \"ops\": %llu, \"kernel_ns\": %lld, \"gap_ns\": %lld, \"host_ns\": %lld}",
            (unsigned long long)section->n_ops, (long long)section->kernel_ns,
            (long long)section->gap_ns, (long long)section->host_ns);
    }
    strobe_out_text(out, "],\n  ");
}

static void json_devices(summary_ref *summary, text *out)
{
    strobe_out_text(out, "\"devices\": [");
    for (uint32_t i = 0; i < summary->n_devices; i++) {
        const struct strobe_report_device_total *total = &summary->devices[i];
        strobe_out_format(out,
                          "%s\n    {\"device\": %lld, \"ops\": %llu, \"kernel_ns\": %lld, "
                          "\"fw_ns\": %lld, \"gap_ns\": %lld, \"bound\": {",
                          i ? "," : "", (long long)total->device, (unsigned long long)total->n_ops,
                          (long long)total->kernel_ns, (long long)total->fw_ns,
                          (long long)total->gap_ns);
        for (int k = 0; k < STROBE_DEVICE_BOUND_COUNT; k++)
            strobe_out_format(out, "%s\"%s\": %llu", k ? ", " : "", strobe_device_bound_name(k),
                              (unsigned long long)total->bounds[k]);
        strobe_out_text(out, "}}");
    }
    strobe_out_text(out, "],\n  ");
}

static void json_faults(summary_ref *summary, text *out)
{
    const struct strobe_report_faults *faults = &summary->report->faults;
    const char *comma = "";
    strobe_out_text(out, "\"faults\": [");
    for (uint32_t i = 0; i < faults->n_entries; i++, comma = ",") {
        const char *detail = strobe_report_fault_detail(faults, i);
        strobe_out_format(out,
                          "%s\n    {\"kind\": \"%s\", \"file\": \"%s\", \"line\": %llu, "
                          "\"detail\": ",
                          comma, strobe_report_fault_word(faults->entries[i].kind),
                          strobe_report_fault_file(faults, i),
                          (unsigned long long)faults->entries[i].line);
        strobe_out_json(out, detail, strlen(detail));
        strobe_out_char(out, '}');
    }
    strobe_out_text(out, "],\n  \"fault_counts\": {");
    comma = "";
    for (int kind = 0; kind < STROBE_REPORT_N_FAULTS; kind++)
        if (faults->counts[kind]) {
            strobe_out_format(out, "%s\"%s\": %llu", comma, strobe_report_fault_word(kind),
                              (unsigned long long)faults->counts[kind]);
            comma = ", ";
        }
    strobe_out_text(out, "},\n  ");
}

static void json_coverage(const struct strobe_report *report, text *out)
{
    const struct strobe_report_coverage *c = &report->coverage;
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {{"host_ops", c->n_ops},
                   {"host_ops_named", c->n_named},
                   {"host_ops_timed", c->n_timed},
                   {"device_ops", c->n_device_ops},
                   {"device_ops_with_data", c->n_with_device},
                   {"device_ops_never_replayed", c->n_untried},
                   {"replay_rows", c->n_replays},
                   {"signposts", c->n_signposts},
                   {"rows", c->n_rows},
                   {"device_runs", c->n_programs},
                   {"device_runs_joined", c->n_joined},
                   {"log_lines_used", c->n_log_rows},
                   {"log_lines_set_aside", c->n_log_aside},
                   {"faults", strobe_report_faults_total(&report->faults)}};
    strobe_out_text(out, "\"coverage\": {");
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        strobe_out_format(out, "%s\"%s\": %llu", i ? ", " : "", numbers[i].key,
                          (unsigned long long)numbers[i].value);
    strobe_out_text(out, "}\n}\n");
}

void strobe_report_summary_json(summary_ref *summary, const struct strobe_report_view *view,
                                text *out)
{
    strobe_out_text(out, "{\n  \"report\": ");
    if (view->csv)
        strobe_out_json(out, view->csv, strlen(view->csv));
    else
        strobe_out_text(out, "null");
    strobe_out_text(out, ",\n  ");
    json_items(summary, "slowest", summary->slowest, view->n_top, out);
    json_items(summary, "gaps", summary->gaps, view->n_top, out);
    json_sections(summary, out);
    json_devices(summary, out);
    json_faults(summary, out);
    json_coverage(summary->report, out);
}
