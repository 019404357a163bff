/* fuzz_ask.c - questions of any bytes: nothing that a page sends may break the engine. A question that can be parsed is answered, about a
 * small trace that has everything, or about one with ops of a device.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "seeds.h"

enum { N_TRACES = 2 };
static struct strobe_engine *engines[N_TRACES];
static struct strobe_json json;

static void close_engine(void)
{
    for (int i = 0; i < N_TRACES; i++)
        strobe_engine_close(engines[i]);
    strobe_json_free(&json);
}

static void open_engine(void)
{
    static const char *const paths[N_TRACES] = {STROBE_FUZZ_SEEDS "/file/all.strobe",
                                                STROBE_FUZZ_SEEDS "/file/ops.strobe"};
    struct strobe_trace *trace;
    if (engines[0])
        return;
    for (int i = 0; i < N_TRACES; i++)
        if (strobe_trace_open(paths[i], 0, &trace) ||
            strobe_engine_open(trace, "ask", &engines[i])) {
            fprintf(stderr, "fuzz_ask: no trace\n");
            abort();
        }
    atexit(close_engine);
}

static void look_around(const struct strobe_json *json)
{
    char text[64];
    for (uint32_t i = 0; i < json->tree.n_nodes; i++) {
        uint32_t at = 0, n = 0;
        strobe_json_text(json, i, text, sizeof text);
        strobe_json_number(json, i, 0);
        strobe_json_count(json, i, 0, 1000);
        strobe_json_member(json, i, "ask");
        while (strobe_json_next(json, i, &at) && n++ < 100)
            ;
    }
}

static void answer(struct strobe_engine *engine)
{
    struct strobe_reply reply = {0};
    size_t n_frame;
    strobe_engine_is_slow(&json);
    strobe_engine_answer(engine, &json, &reply);
    free(strobe_reply_finish(&reply, 1, 16, &n_frame));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    open_engine();
    char *exact = malloc(n ? n : 1); /* so that a sanitizer sees a step too far */
    memcpy(exact, data, n);
    if (strobe_json_parse(&json, exact, n)) {
        look_around(&json);
        answer(engines[n % N_TRACES]);
    }
    free(exact);
    return 0;
}
