/* images.c - reads an image of a frame: its pieces may begin some blocks before it.  SPDX-License-Identifier: MIT */
#include "query/images.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

/* Numbers of the event come from a stranger: sides and bytes must fit each other. */
static enum strobe_err take(const struct strobe_event *event, struct strobe_image *out)
{
    const struct strobe_field *f = event->fields;
    if (event->n_fields < 5 || f[1].u > STROBE_IMAGE_MAX_SIDE || f[2].u > STROBE_IMAGE_MAX_SIDE ||
        !f[1].u || !f[2].u || f[1].u % 4 || f[2].u % 4 || f[1].u * f[2].u / 2 != f[4].u)
        return STROBE_ERR_NOTFOUND;
    *out = (struct strobe_image){.width = (uint32_t)f[1].u,
                                 .height = (uint32_t)f[2].u,
                                 .is_flipped = f[3].u != 0,
                                 .n_bytes = (size_t)f[4].u,
                                 .dxt1 = malloc((size_t)f[4].u)};
    if (!out->dxt1)
        return STROBE_ERR_NOMEM;
    STROBE_ASSERT(out->n_bytes && out->n_bytes % 8 == 0);
    memcpy(out->dxt1, f[4].text, out->n_bytes);
    return STROBE_OK;
}

/* The image in a part of its thread; NOTFOUND: it is not in this one. */
static enum strobe_err look_in(struct strobe_view *view, const struct strobe_events *events,
                               const struct strobe_part *part, struct strobe_joiner *joiner,
                               const struct strobe_table_image *from, struct strobe_image *out)
{
    struct strobe_cursor cursor;
    struct strobe_event event;
    strobe_cursor_start(&cursor, events, part, &view->trace->schema, joiner);
    while (strobe_cursor_next(&cursor, &event) == STROBE_OK)
        if (event.kind == STROBE_KIND_FRAME_IMAGE && event.tick == from->tick &&
            event.fields[0].u == from->frame)
            return take(&event, out);
    return STROBE_ERR_NOTFOUND;
}

enum strobe_err strobe_image_read(struct strobe_tables *tables,
                                  const struct strobe_table_image *from, struct strobe_image *out)
{
    struct strobe_view *view = tables->view;
    struct strobe_joiner joiner = {0};
    enum strobe_err err = STROBE_ERR_NOTFOUND;
    STROBE_ASSERT(from->first_block <= from->block);
    memset(out, 0, sizeof *out);
    for (uint32_t i = from->first_block; i <= from->block && err == STROBE_ERR_NOTFOUND; i++) {
        const struct strobe_events *events = strobe_view_glance(view, i);
        for (uint32_t k = 0; events && k < events->n_parts && err == STROBE_ERR_NOTFOUND; k++) {
            const struct strobe_part *part = &events->parts[k];
            if (part->n_events && strobe_view_thread(view, part->proc, part->track) == from->thread)
                err = look_in(view, events, part, &joiner, from, out);
        }
    }
    strobe_joiner_free(&joiner);
    return err;
}

void strobe_image_free(struct strobe_image *image)
{
    free(image->dxt1);
    memset(image, 0, sizeof *image);
}
