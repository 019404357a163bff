/* answer_clocks.c - how the clocks of GPU contexts ran beside the host's.  SPDX-License-Identifier: MIT */
#include "engine/tracks.h"
#include "query/gpu_clocks.h"

static void put_context(struct strobe_engine *engine, struct strobe_reply *reply,
                        const struct strobe_gpu_context_fact *fact,
                        const struct strobe_gpu_clock *clock)
{
    uint32_t n;
    const char *name = strobe_trace_text(engine->trace, fact->name, &n);
    strobe_reply_open(reply, "", '{');
    strobe_reply_u64(reply, "track", strobe_track_of_process(engine, fact->process));
    strobe_reply_u64(reply, "id", fact->id);
    strobe_reply_text(reply, "name", name, n);
    strobe_reply_u64(reply, "type", fact->type);
    strobe_reply_bool(reply, "is_calibrated", fact->calibrated != 0);
    strobe_reply_number(reply, "period_ns", fact->period_ns);
    strobe_reply_u64(reply, "calibrations", clock->n_calibrations);
    strobe_reply_u64(reply, "syncs", clock->n_syncs);
    strobe_reply_number(reply, "gpu_ns", clock->gpu_ns);
    strobe_reply_number(reply, "host_ns", clock->host_ns);
    strobe_reply_number(reply, "step_ns", (double)clock->step_ns);
    if (clock->step_ns)
        strobe_reply_number(reply, "step_at", strobe_engine_ns(engine, clock->step_tick));
    else
        strobe_reply_null(reply, "step_at");
    strobe_reply_close(reply, '}');
}

void strobe_engine_answer_clocks(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_reply *reply)
{
    struct strobe_client_facts facts = {0};
    struct strobe_gpu_clocks clocks = {0};
    (void)question;
    enum strobe_err err = strobe_client_facts_load(engine->trace, &facts);
    if (!err)
        err = strobe_gpu_clocks_run(engine->trace, &facts, &clocks);
    if (err) {
        strobe_engine_answer_error(reply, strobe_err_text(err));
    } else {
        strobe_reply_open(reply, "contexts", '[');
        for (uint32_t i = 0; i < clocks.n; i++)
            if (facts.contexts[i].is_known)
                put_context(engine, reply, &facts.contexts[i], &clocks.rows[i]);
        strobe_reply_close(reply, ']');
    }
    strobe_gpu_clocks_free(&clocks);
    strobe_client_facts_free(&facts);
}
