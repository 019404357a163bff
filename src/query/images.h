/* images.h - images of frames. The tables know where each of them is; its bytes are read when it is asked for.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_IMAGES_H
#define STROBE_QUERY_IMAGES_H

#include "query/tables.h"

enum { STROBE_IMAGE_MAX_SIDE = 65535 };

struct strobe_image {
    uint32_t width, height; /* multiples of 4 */
    int is_flipped;         /* the lowest row comes first */
    uint8_t *dxt1;          /* owned: width * height / 2 bytes */
    size_t n_bytes;
};

/* Read one. NOTFOUND: the file does not have it any more, or not whole. NOMEM. */
enum strobe_err strobe_image_read(struct strobe_tables *tables,
                                  const struct strobe_table_image *from, struct strobe_image *out);
void strobe_image_free(struct strobe_image *image);

#endif
