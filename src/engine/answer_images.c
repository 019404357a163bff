/* answer_images.c - which frames have an image, and one of these images.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "engine/tracks.h"
#include "query/images.h"

enum { MOST_IMAGES = 100000 };

/* The unnamed frames of a process, which images are of; NULL: the track is another one. */
static const struct strobe_table *frames_of(struct strobe_engine *engine,
                                            const struct strobe_json *question,
                                            struct strobe_reply *reply)
{
    strobe_tables_update(&engine->tables);
    const struct strobe_table *table =
        strobe_track_table(engine, (uint32_t)strobe_engine_count(question, "track", 0, UINT32_MAX));
    if (table && table->kind == STROBE_TABLE_FRAMES)
        return table;
    strobe_engine_answer_error(reply, "that is no track of frames");
    return NULL;
}

/* The frame that an image shows; NULL: none of these. Frame n begins with the n-th mark. */
static const struct strobe_pixel_row *frame_of(const struct strobe_table *table,
                                               const struct strobe_table_image *image)
{
    if (table->id || image->process != table->process || !image->frame ||
        image->frame > table->n_rows)
        return NULL;
    return &table->rows[image->frame - 1];
}

void strobe_engine_answer_images(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_reply *reply)
{
    const struct strobe_table *table = frames_of(engine, question, reply);
    const struct strobe_tables *tables = &engine->tables;
    uint32_t n = 0, i_put = 0;
    if (!table)
        return;
    for (uint32_t i = 0; i < tables->n_images; i++)
        n += frame_of(table, &tables->images[i]) != NULL;
    strobe_reply_u64(reply, "total", n);
    n = n < MOST_IMAGES ? n : (uint32_t)MOST_IMAGES;
    double *t0 = strobe_reply_f64(reply, "t0", n), *t1 = strobe_reply_f64(reply, "t1", n);
    uint32_t *image = strobe_reply_u32(reply, "image", n);
    for (uint32_t i = 0; t0 && t1 && image && i < tables->n_images && i_put < n; i++) {
        const struct strobe_pixel_row *row = frame_of(table, &tables->images[i]);
        if (!row)
            continue;
        t0[i_put] = strobe_engine_ns(engine, row->begin);
        t1[i_put] = t0[i_put] + strobe_engine_length(engine, row->begin, row->end - row->begin);
        image[i_put++] = i;
    }
}

void strobe_engine_answer_image(struct strobe_engine *engine, const struct strobe_json *question,
                                struct strobe_reply *reply)
{
    struct strobe_image image;
    strobe_tables_update(&engine->tables);
    uint64_t i = strobe_engine_count(question, "image", UINT64_MAX, UINT64_MAX);
    enum strobe_err err =
        i < engine->tables.n_images
            ? strobe_image_read(&engine->tables, &engine->tables.images[i], &image)
            : STROBE_ERR_NOTFOUND;
    if (err) {
        strobe_engine_answer_error(reply, err == STROBE_ERR_NOTFOUND ? "there is no such image"
                                                                     : strobe_err_text(err));
        return;
    }
    strobe_reply_u64(reply, "width", image.width);
    strobe_reply_u64(reply, "height", image.height);
    strobe_reply_bool(reply, "flip", image.is_flipped);
    uint8_t *bytes = strobe_reply_u8(reply, "dxt1", (uint32_t)image.n_bytes);
    if (bytes)
        memcpy(bytes, image.dxt1, image.n_bytes);
    strobe_image_free(&image);
}
