/* answer_compare.c - what changed between two sets of traces: the rows of `strobe diff`.  SPDX-License-Identifier: MIT */
#include "ask/asker.h"

/* Add a run. 0: the reply says why not. */
static int add_run(struct strobe_asker *asker, struct strobe_diff *diff, int set, const char *name,
                   struct strobe_reply *reply)
{
    char path[STROBE_ASKER_PATH_ROOM];
    struct strobe_trace *trace = NULL;
    if (!strobe_ask_find(asker, name, path, reply))
        return 0;
    enum strobe_err err = atomic_load(&asker->stop) ? STROBE_ERR_LIMIT : STROBE_OK;
    if (!err)
        err = strobe_trace_open(path, 0, &trace);
    if (!err)
        err = strobe_diff_add_run(diff, set);
    if (!err)
        err = strobe_diff_add_zones(diff, trace);
    strobe_trace_close(trace);
    if (err)
        strobe_ask_say_failed(asker, path, err, reply);
    return !err;
}

static int add_set(struct strobe_asker *asker, struct strobe_diff *diff, int set,
                   const struct strobe_json *question, struct strobe_reply *reply)
{
    char name[512];
    uint32_t list = strobe_json_member(question, 0, set ? "b" : "a"), at = 0, value, n = 0;
    int is_ok = 1;
    while (is_ok && n < STROBE_ASKER_MAX_TRACES &&
           (value = strobe_json_next(question, list, &at))) {
        strobe_json_text(question, value, name, sizeof name);
        is_ok = add_run(asker, diff, set, name, reply);
        n++;
    }
    if (is_ok && !n)
        strobe_reply_string(reply, "error",
                            set ? "nothing to compare with was chosen"
                                : "nothing to be compared was chosen");
    return is_ok && n;
}

void strobe_ask_answer_compare(struct strobe_asker *asker, const struct strobe_json *question,
                               struct strobe_reply *reply)
{
    static const char *const metrics[] = {"mean", "self", "total"};
    struct strobe_diff_options options = {
        .floor = strobe_json_number(question, strobe_json_member(question, 0, "floor"), 0.02),
        .false_rate = 0.05};
    struct strobe_diff_result result;
    struct strobe_diff *diff = strobe_diff_new();
    options.floor = options.floor >= 0 && options.floor <= 1 ? options.floor : 0.02;
    for (int i = 0; i < 3; i++)
        if (strobe_json_is(question, strobe_json_member(question, 0, "metric"), metrics[i]))
            options.metric = (enum strobe_diff_metric)i;
    if (!diff)
        strobe_reply_string(reply, "error", strobe_err_text(STROBE_ERR_NOMEM));
    else if (add_set(asker, diff, 0, question, reply) && add_set(asker, diff, 1, question, reply)) {
        enum strobe_err err = strobe_diff_run(diff, &options, &result);
        if (err)
            strobe_ask_say_failed(asker, asker->path, err, reply);
        else
            strobe_diff_write(&result, "zones", metrics[options.metric], options.floor,
                              strobe_reply_writer(reply));
    }
    strobe_diff_free(diff);
}
