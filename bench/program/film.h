/* film.h - the body of a film, once for every way of tracing it. Before it: FILM, the function's
 * name; BEGIN(handle, "name") and END(handle), which open and close a block.  No guard: included
 * several times. SPDX-License-Identifier: MIT */
static float FILM_ROW(int left, int y)
{
    float sum = 0;
    BEGIN(row, "row")
    for (int x = left; x < left + FILM_TILE; x++) {
        BEGIN(pixel, "pixel")
        sum += scene_pixel(x, y);
        END(pixel)
    }
    END(row)
    return sum;
}

float FILM(void)
{
    float sum = 0;
    BEGIN(frame, "frame")
    for (int top = 0; top < FILM_HEIGHT; top += FILM_TILE)
        for (int left = 0; left < FILM_WIDTH; left += FILM_TILE) {
            BEGIN(tile, "tile")
            for (int y = top; y < top + FILM_TILE; y++)
                sum += FILM_ROW(left, y);
            END(tile)
        }
    END(frame)
    return sum;
}
