/* image.c - an image of a frame, packed as DXT1 block by block in the calling thread: 4 x 4 pixels become two
 * colours of 16 bits and 16 choices of 2 bits between them and two mixtures. The end points are the corners of
 * the box around the block's colours: quick, and good enough to recognise a frame.
 * Never allocates: what is packed leaves in pieces.  SPDX-License-Identifier: MIT */
#include "client/client.h"

#include <string.h>

enum { BLOCK_BYTES = 8, PIECE_BLOCKS = 90, EDGE = 4 };

struct image {
    const uint8_t *rgba; /* borrowed */
    uint32_t width, height;
};

static uint16_t to_565(const int rgb[3])
{
    return (uint16_t)((rgb[0] >> 3) << 11 | (rgb[1] >> 2) << 5 | rgb[2] >> 3);
}

static void from_565(uint16_t color, int rgb[3])
{
    int r = color >> 11, g = color >> 5 & 63, b = color & 31;
    rgb[0] = r << 3 | r >> 2;
    rgb[1] = g << 2 | g >> 4;
    rgb[2] = b << 3 | b >> 2;
}

static const uint8_t *pixel(const struct image *image, uint32_t x, uint32_t y)
{
    return image->rgba + ((size_t)y * image->width + x) * 4;
}

static void find_box(const struct image *image, uint32_t x, uint32_t y, int low[3], int high[3])
{
    for (int c = 0; c < 3; c++) {
        low[c] = 255;
        high[c] = 0;
    }
    for (uint32_t i = 0; i < EDGE * EDGE; i++) {
        const uint8_t *at = pixel(image, x + i % EDGE, y + i / EDGE);
        for (int c = 0; c < 3; c++) {
            low[c] = at[c] < low[c] ? at[c] : low[c];
            high[c] = at[c] > high[c] ? at[c] : high[c];
        }
    }
}

/* The nearest of four colours. */
static uint32_t choose(const uint8_t *at, int palette[4][3])
{
    uint32_t best = 0;
    int least = 1 << 30;
    for (uint32_t i = 0; i < 4; i++) {
        int distance = 0;
        for (int c = 0; c < 3; c++) {
            int d = at[c] - palette[i][c];
            distance += d * d;
        }
        if (distance < least) {
            least = distance;
            best = i;
        }
    }
    return best;
}

static void pack_block(const struct image *image, uint32_t x, uint32_t y, uint8_t out[BLOCK_BYTES])
{
    int low[3], high[3], palette[4][3];
    find_box(image, x, y, low, high);
    uint16_t first = to_565(high), second = to_565(low);
    uint32_t choices = 0;
    if (first != second) {
        from_565(first, palette[0]);
        from_565(second, palette[1]);
        for (int c = 0; c < 3; c++) {
            palette[2][c] = (2 * palette[0][c] + palette[1][c]) / 3;
            palette[3][c] = (palette[0][c] + 2 * palette[1][c]) / 3;
        }
        for (uint32_t i = 0; i < EDGE * EDGE; i++)
            choices |= choose(pixel(image, x + i % EDGE, y + i / EDGE), palette) << 2 * i;
    }
    memcpy(out, &first, 2);
    memcpy(out + 2, &second, 2);
    memcpy(out + 4, &choices, 4);
}

/* Blocks [from, from + n), row by row. */
static void pack(const struct image *image, uint32_t from, uint32_t n, uint8_t *out)
{
    uint32_t per_row = image->width / EDGE;
    for (uint32_t i = from; i < from + n; i++)
        pack_block(image, i % per_row * EDGE, i / per_row * EDGE,
                   out + (size_t)(i - from) * BLOCK_BYTES);
}

void strobe_frame_image(const void *rgba, uint16_t width, uint16_t height, uint8_t offset, int flip)
{
    struct image image = {rgba, width, height};
    uint64_t n_frames = strobe_client_n_frames();
    uint64_t fields[] = {n_frames > offset ? n_frames - offset : 0, width, height, flip != 0};
    uint8_t bytes[PIECE_BLOCKS * BLOCK_BYTES] __attribute__((aligned(8)));
    uint32_t n_blocks = (uint32_t)(width / EDGE) * (height / EDGE), at = 0;
    if (!strobe_gate_now->active || width % EDGE || height % EDGE || !n_blocks)
        return;
    struct strobe_long_text text;
    strobe_client_text_open(&text);
    for (; n_blocks - at > PIECE_BLOCKS; at += PIECE_BLOCKS) {
        pack(&image, at, PIECE_BLOCKS, bytes);
        strobe_client_text_piece(&text, (char *)bytes, sizeof bytes);
    }
    pack(&image, at, n_blocks - at, bytes);
    strobe_client_text_close(&text, STROBE_KIND_FRAME_IMAGE, fields, 4, (char *)bytes,
                             (size_t)(n_blocks - at) * BLOCK_BYTES);
}
