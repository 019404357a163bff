/* explain_format.c - an explanation for people, and the same as JSON (docs/explain.md).  SPDX-License-Identifier: MIT */
#include "cli/explain_format.h"

#include <string.h>

#include "base/json_write.h"

static void put_terminal(struct strobe_out *out, const char *text)
{
    strobe_out_terminal(out, text, strlen(text));
}

/* Share, file and line, thread and process of what a line is about. */
static void put_where(struct strobe_out *out, const struct strobe_explain *explain,
                      const struct strobe_explain_line *line)
{
    char time[32];
    if (line->share < 0)
        return;
    strobe_out_format(out, "      %5.1f %% of the path, %s", 100 * line->share,
                      strobe_number_show_ns(line->path_ns, time));
    if (line->file) {
        strobe_out_text(out, "; ");
        put_terminal(out, strobe_explain_text(explain, line->file));
        strobe_out_format(out, ":%u", line->source_line);
    }
    strobe_out_text(out, "; thread ");
    put_terminal(out, strobe_explain_text(explain, line->thread));
    strobe_out_text(out, " of ");
    put_terminal(out, strobe_explain_text(explain, line->process));
    strobe_out_char(out, '\n');
    if (line->has_gain)
        strobe_out_format(out, "      at most %s could be gained\n",
                          strobe_number_show_ns(line->gain_ns, time));
}

static void put_proof(struct strobe_out *out, const struct strobe_explain *explain,
                      const struct strobe_explain_line *line)
{
    for (uint32_t i = 0; i < line->n_evidence; i++)
        strobe_out_format(out, "%s%lld%s", i ? ", " : "      zones ", (long long)line->evidence[i],
                          i + 1 == line->n_evidence ? "\n" : "");
    if (!line->query)
        return;
    strobe_out_text(out, "      query ");
    put_terminal(out, strobe_explain_text(explain, line->query));
    if (line->has_value)
        strobe_out_format(out, "\n      gives %lld", (long long)line->value);
    strobe_out_char(out, '\n');
}

void strobe_explain_put_text(struct strobe_out *out, const struct strobe_explain *explain,
                             int with_queries)
{
    char path[32], wall[32];
    strobe_out_format(out, "critical path: %s of %s", strobe_number_show_ns(explain->path_ns, path),
                      strobe_number_show_ns(explain->wall_ns, wall));
    if (explain->n_steps != 1)
        strobe_out_format(out, ", %llu steps", (unsigned long long)explain->n_steps);
    strobe_out_char(out, '\n');
    for (uint32_t i = 0; i < explain->n_lines; i++) {
        const struct strobe_explain_line *line = &explain->lines[i];
        if (!i || line->topic != line[-1].topic || line->class != line[-1].class)
            strobe_out_format(out, "\n%s%s%s\n", strobe_explain_topic_name(line->topic),
                              line->class ? ": " : "", strobe_explain_class_name(line->class));
        strobe_out_text(out, "  ");
        put_terminal(out, strobe_explain_text(explain, line->words));
        strobe_out_char(out, '\n');
        put_where(out, explain, line);
        if (with_queries)
            put_proof(out, explain, line);
    }
}

void strobe_explain_put_json(struct strobe_out *out, const struct strobe_explain *explain)
{
    struct strobe_json_writer json = {.out = out, .is_spaced = 1};
    strobe_json_write_open(&json, NULL, '{');
    strobe_explain_write(explain, &json);
    strobe_json_write_close(&json, '}');
    strobe_out_char(out, '\n');
}
