/* encode_copy.c - parts of one block put into another one: bytes are copied, nothing is made anew.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "file/decode.h"
#include "file/encode.h"

static int fits(const struct strobe_encoder *enc, const struct strobe_part *part)
{
    return part->n_events <= STROBE_BLOCK_EVENTS_MAX - enc->n_events &&
           part->n_big <= STROBE_BIG_BYTES - (size_t)(enc->big_at - enc->big) &&
           part->n_side <= STROBE_SIDE_BYTES - (size_t)(enc->side_at - enc->side) &&
           enc->n_head + part->n_head < STROBE_FILE_MAX_PAYLOAD;
}

static enum strobe_err copy_head(struct strobe_encoder *enc, const struct strobe_part *part)
{
    if (enc->n_head + part->n_head > enc->cap_head) {
        size_t cap = 2 * (enc->cap_head + part->n_head);
        uint8_t *head = realloc(enc->head, cap);
        if (!head)
            return STROBE_ERR_NOMEM;
        enc->head = head;
        enc->cap_head = cap;
    }
    memcpy(enc->head + enc->n_head, part->head, part->n_head);
    enc->n_head += part->n_head;
    return STROBE_OK;
}

static void copy_events(struct strobe_encoder *enc, const struct strobe_events *events,
                        const struct strobe_part *part)
{
    const uint8_t *sym = events->stream[STROBE_SYM] + part->first_event;
    const uint8_t *lo = events->stream[STROBE_LO] + part->first_event;
    const uint8_t *hi = events->stream[STROBE_HI] + part->first_event;
    for (uint32_t i = 0; i < part->n_events; i++) {
        enc->sym[enc->n_events] = sym[i];
        enc->dt[enc->n_events++] = (uint16_t)(lo[i] | hi[i] << 8);
        enc->by_kind[sym[i] < STROBE_SYM_BEGIN_FAR ? sym[i] : STROBE_SYM_BEGIN_FAR]++;
        enc->n_zones += sym[i] <= STROBE_KIND_ZONE_END_POP;
    }
}

enum strobe_err strobe_encode_copy_part(struct strobe_encoder *enc,
                                        const struct strobe_events *events,
                                        const struct strobe_part *part)
{
    if (!fits(enc, part))
        return STROBE_ERR_INVALID;
    enum strobe_err err = copy_head(enc, part);
    if (err)
        return err;
    if (part->n_events) {
        uint64_t begin = part->first_tick - part->start_early;
        enc->tick_min = begin < enc->tick_min ? begin : enc->tick_min;
        enc->tick_max = part->last_tick > enc->tick_max ? part->last_tick : enc->tick_max;
        copy_events(enc, events, part);
    }
    if (part->n_big)
        memcpy(enc->big_at, events->stream[STROBE_BIG] + part->big_at, part->n_big);
    if (part->n_side)
        memcpy(enc->side_at, events->stream[STROBE_SIDE] + part->side_at, part->n_side);
    enc->big_at += part->n_big;
    enc->side_at += part->n_side;
    enc->n_parts++;
    enc->log.failed = true;
    return STROBE_OK;
}
