/* fuzz_ask.c - the viewer's questions from bytes: nothing that a page sends may break the engine.
 * fuzz_ask RUNS SEED TRACE: mutates questions, parses them, and has every 64th one answered about a trace.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

static const char *const seeds[] = {
    "{\"id\":1,\"ask\":\"trace\"}",
    "{\"id\":2,\"ask\":\"names\",\"locs\":[1,2,3,4294967295,0]}",
    "{\"id\":3,\"ask\":\"pixels\",\"from\":0,\"to\":1e9,\"width\":900,\"budget\":5000,"
    "\"lanes\":[[536870912,0,8],[536870913,1,3],[805306368,0,1]]}",
    "{\"id\":4,\"ask\":\"zone\",\"track\":536870912,\"depth\":1,\"at\":12345,\"slack\":100}",
    "{\"id\":5,\"ask\":\"stats\",\"from\":100,\"to\":1e6,\"tracks\":[268435456],\"filter\":\"zo\","
    "\"sort\":\"p99\",\"limit\":7}",
    "{\"id\":6,\"ask\":\"histogram\",\"loc\":1}",
    "{\"id\":7,\"ask\":\"instances\",\"loc\":2,\"min\":5,\"max\":1e5,\"sort\":\"duration\","
    "\"limit\":10}",
    "{\"id\":8,\"ask\":\"flame\",\"mode\":\"up\",\"from\":0,\"to\":1e5,\"limit\":100}",
    "{\"id\":9,\"ask\":\"find\",\"text\":\"z\\u00e9\\ud83d\\ude00\",\"what\":[\"zones\",\"texts\","
    "\"messages\",\"tracks\"],\"after\":5,\"limit\":3,\"width\":50}",
    "{\"id\":10,\"ask\":\"messages\",\"severity\":2,\"filter\":\"\",\"after\":1}",
    "{\"id\":11,\"ask\":\"frames\",\"track\":805306369}",
    "{\"id\":12,\"ask\":\"source\",\"loc\":1}",
    "[[[[{\"a\":[1,2,{\"b\":null}]}]],true,false,-1.5e-9,\"\\\"\\\\\\/\\b\"]",
};
enum { N_SEEDS = sizeof seeds / sizeof seeds[0], MAX_TEXT = 4096 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Change a few bytes: flip, cut out, double, or take words of the language. */
static size_t mutate(char *text, size_t n, uint64_t *state)
{
    static const char *const words[] = {"{",       "}",      "[",    "]",
                                        ",",       ":",      "\"",   "\\u",
                                        "1e308",   "-0",     "null", "99999999999999999999",
                                        "\"ask\"", "\\ud800"};
    for (uint64_t times = next_random(state) % 6; times-- > 0 && n > 2;) {
        uint64_t r = next_random(state);
        size_t at = (r >> 8) % n, length = 1 + (r >> 40) % 12;
        length = length < n - at ? length : n - at;
        if (r % 4 == 0) {
            text[at] = (char)(r >> 50);
        } else if (r % 4 == 1) {
            memmove(text + at, text + at + length, n - at - length);
            n -= length;
        } else {
            const char *word = words[(r >> 20) % (sizeof words / sizeof words[0])];
            const char *from = r % 4 == 2 ? word : text + at;
            char copy[32];
            length = r % 4 == 2 ? strlen(word) : length;
            memcpy(copy, from, length);
            if (n + length > MAX_TEXT)
                continue;
            memmove(text + at + length, text + at, n - at);
            memcpy(text + at, copy, length);
            n += length;
        }
    }
    return n;
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

int main(int argc, char **argv)
{
    static struct strobe_json json;
    static char text[MAX_TEXT + 64];
    struct strobe_engine *engine = NULL;
    uint64_t n_runs = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000, n_parsed = 0, n_answers = 0;
    uint64_t state = 88172645463325252ull + (argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
    struct strobe_trace *trace;
    if (argc > 3 &&
        (strobe_trace_open(argv[3], 0, &trace) || strobe_engine_open(trace, "ask", &engine))) {
        fprintf(stderr, "fuzz_ask: %s can't be opened\n", argv[3]);
        return 1;
    }
    for (uint64_t i = 0; i < n_runs; i++) {
        const char *seed = seeds[next_random(&state) % N_SEEDS];
        size_t n = strlen(seed);
        memcpy(text, seed, n);
        n = mutate(text, n, &state);
        char *exact = malloc(n + 1); /* so that a sanitizer sees a step too far */
        memcpy(exact, text, n);
        if (strobe_json_parse(&json, exact, n)) {
            n_parsed++;
            look_around(&json);
            if (engine && i % 64 == 0) {
                struct strobe_reply reply = {0};
                size_t n_frame;
                strobe_engine_answer(engine, &json, &reply);
                free(strobe_reply_finish(&reply, 1, 16, &n_frame));
                n_answers++;
            }
        }
        free(exact);
    }
    strobe_engine_close(engine);
    strobe_json_free(&json);
    printf("%llu runs, %llu parsed, %llu answered\n", (unsigned long long)n_runs,
           (unsigned long long)n_parsed, (unsigned long long)n_answers);
    return 0;
}
