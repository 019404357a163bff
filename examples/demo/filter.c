/* filter.c - the native half of the Python demo: blurs a picture, with a zone per call and per pass.
 * Called from grade.py through ctypes.  SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <strobe/strobe.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int demo_blur(uint8_t *pixels, int width, int height, int radius);

/* Each pixel of a line becomes the mean of those around it. */
static void blur_line(uint8_t *line, int n, int step, int radius, uint8_t *scratch)
{
    for (int i = 0; i < n; i++) {
        int from = i < radius ? 0 : i - radius, to = i + radius < n ? i + radius : n - 1, sum = 0;
        for (int k = from; k <= to; k++)
            sum += line[k * step];
        scratch[i] = (uint8_t)(sum / (to - from + 1));
    }
    for (int i = 0; i < n; i++)
        line[i * step] = scratch[i];
}

/* 0, or -1 without memory. */
int demo_blur(uint8_t *pixels, int width, int height, int radius)
{
    STROBE_SCOPE("blur");
    STROBE_TEXTF("%d x %d, radius %d", width, height, radius);
    uint8_t *scratch = malloc((size_t)(width > height ? width : height));
    if (!scratch)
        return -1;
    {
        STROBE_SCOPE("rows");
        for (int y = 0; y < height; y++)
            blur_line(pixels + (size_t)y * (size_t)width, width, 1, radius, scratch);
    }
    {
        STROBE_SCOPE("columns");
        for (int x = 0; x < width; x++)
            blur_line(pixels + x, height, width, radius, scratch);
    }
    free(scratch);
    return 0;
}
