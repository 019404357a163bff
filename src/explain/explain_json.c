/* explain_json.c - an explanation as JSON: docs/explain.md.  SPDX-License-Identifier: MIT */
#include "explain/explain.h"

static void write_line(struct strobe_json_writer *json, const struct strobe_explain *explain,
                       const struct strobe_explain_line *line)
{
    const struct {
        const char *name;
        uint32_t text;
    } texts[] = {{"words", line->words}, {"query", line->query},     {"zone", line->zone},
                 {"file", line->file},   {"process", line->process}, {"thread", line->thread}};
    strobe_json_write_line(json, 2);
    strobe_json_write_open(json, NULL, '{');
    strobe_json_write_string(json, "topic", strobe_explain_topic_name(line->topic));
    if (line->class)
        strobe_json_write_string(json, "class", strobe_explain_class_name(line->class));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].text)
            strobe_json_write_string(json, texts[i].name,
                                     strobe_explain_text(explain, texts[i].text));
    if (line->source_line)
        strobe_json_write_u(json, "line", line->source_line);
    if (line->has_value)
        strobe_json_write_i(json, "value", line->value);
    if (line->share >= 0) {
        strobe_json_write_double(json, "share", line->share);
        strobe_json_write_u(json, "path_ns", line->path_ns);
    }
    if (line->has_gain)
        strobe_json_write_u(json, "gain_ns", line->gain_ns);
    strobe_json_write_open(json, "evidence", '[');
    for (uint32_t i = 0; i < line->n_evidence; i++)
        strobe_json_write_i(json, NULL, line->evidence[i]);
    strobe_json_write_close(json, ']');
    strobe_json_write_close(json, '}');
}

void strobe_explain_write(const struct strobe_explain *explain, struct strobe_json_writer *json)
{
    strobe_json_write_u(json, "path_ns", explain->path_ns);
    strobe_json_write_u(json, "wall_ns", explain->wall_ns);
    strobe_json_write_u(json, "steps", explain->n_steps);
    strobe_json_write_i(json, "from_ns", explain->from_ns);
    strobe_json_write_i(json, "to_ns", explain->to_ns);
    strobe_json_write_open(json, "statements", '[');
    for (uint32_t i = 0; i < explain->n_lines; i++)
        write_line(json, explain, &explain->lines[i]);
    strobe_json_write_close(json, ']');
}
