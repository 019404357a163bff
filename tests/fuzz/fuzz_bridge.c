/* fuzz_bridge.c - what a Tracy server asks the bridge: queries of any bytes at any moment of a stream. An input is the protocol, then queries of
 * 13 bytes; between them the stream goes on.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/stream.h"
#include "seeds.h"
#include "tape.h"

enum { QUERIES_MAX = 300 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct tape tape = {data, data + n};
    struct strobe_bridge_stream stream;
    uint8_t welcome[1178];
    const uint8_t *frame;
    uint32_t protocol = 50 + tape_byte(&tape) % 36;
    uint8_t pace = tape_byte(&tape);
    enum strobe_err err = strobe_bridge_stream_open(STROBE_FUZZ_SEEDS "/file/all.strobe", protocol,
                                                    pace & 1, &stream);
    if (!err)
        strobe_bridge_welcome(&stream, welcome);
    for (int i = 0; !err && i < QUERIES_MAX && tape_left(&tape); i++) {
        uint8_t query[STROBE_TRACY_QUERY_BYTES] = {0};
        size_t n_query = sizeof query;
        const uint8_t *bytes = tape_take(&tape, &n_query);
        memcpy(query, bytes, n_query);
        if (strobe_bridge_answer(&stream, query) == 1)
            break;
        if (strobe_wire_out_full(&stream.out) || query[0] % 4 == pace % 4) {
            err = strobe_bridge_fill(&stream);
            err = err == STROBE_ERR_END ? STROBE_OK : err;
            strobe_wire_out_frame(&stream.out, &frame);
        }
    }
    strobe_bridge_stream_free(&stream);
    return 0;
}
