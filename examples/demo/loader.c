/* loader.c - the demo's texture loader: makes the textures that are asked for on stdin, in two
 * threads, and writes them to stdout in the order in which they are ready. SPDX-License-Identifier:
 * MIT */
#include "pipes.h"

#include <strobe/strobe.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { N_MAKERS = 2, N_REQUESTS_MAX = 64 };

struct desk {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct strobe_lock lock;
    struct texture_request requests[N_REQUESTS_MAX];
    int n_requests;      /* received so far */
    int n_taken;         /* by the makers */
    int closed;          /* no more will come */
    pthread_mutex_t out; /* held while a texture is written */
};

static void take_lock(struct desk *desk)
{
    strobe_lock_will_wait(&desk->lock, 0);
    pthread_mutex_lock(&desk->mutex);
    strobe_lock_obtained(&desk->lock, 0);
}

static void give_lock(struct desk *desk)
{
    pthread_mutex_unlock(&desk->mutex);
    strobe_lock_released(&desk->lock, 0);
}

/* The next request; 0 when there will be none. */
static int take_request(struct desk *desk, struct texture_request *out)
{
    STROBE_SCOPE("take request");
    take_lock(desk);
    while (desk->n_taken == desk->n_requests && !desk->closed)
        pthread_cond_wait(&desk->changed, &desk->mutex);
    int there = desk->n_taken < desk->n_requests;
    if (there)
        *out = desk->requests[desk->n_taken++];
    give_lock(desk);
    return there;
}

static float hash_noise(int x, int y)
{
    uint32_t h = (uint32_t)x * 374761393u + (uint32_t)y * 668265263u;
    h = (h ^ (h >> 13)) * 1274126177u;
    return (float)(h >> 8) / 16777216.0f;
}

static float smooth_noise(float x, float y)
{
    int ix = (int)floorf(x), iy = (int)floorf(y);
    float fx = x - (float)ix, fy = y - (float)iy;
    float top = hash_noise(ix, iy) * (1 - fx) + hash_noise(ix + 1, iy) * fx;
    float low = hash_noise(ix, iy + 1) * (1 - fx) + hash_noise(ix + 1, iy + 1) * fx;
    return top * (1 - fy) + low * fy;
}

static float turbulence(float x, float y)
{
    float sum = 0;
    for (float scale = 1; scale <= 32; scale *= 2)
        sum += smooth_noise(x * scale, y * scale) / scale;
    return sum;
}

static float brightness(const char *name, float u, float v)
{
    if (!strcmp(name, "marble"))
        return 0.5f + 0.5f * sinf(20 * u + 6 * turbulence(8 * u, 8 * v));
    if (!strcmp(name, "wood"))
        return fmodf(12 * turbulence(2 * u, 0.3f * v), 1);
    if (!strcmp(name, "clouds"))
        return 0.6f * turbulence(5 * u, 5 * v);
    if (!strcmp(name, "checker"))
        return ((int)(u * 8) + (int)(v * 8)) % 2 ? 0.9f : 0.2f;
    if (!strcmp(name, "rings"))
        return 0.5f + 0.5f * sinf(60 * hypotf(u - 0.5f, v - 0.5f));
    return hash_noise((int)(u * 4096), (int)(v * 4096));
}

static void make_rows(const struct texture_request *request, float *rgb)
{
    STROBE_SCOPE("make rows");
    uint32_t size = request->size;
    for (uint32_t y = 0; y < size; y++) {
        STROBE_SCOPE("row");
        for (uint32_t x = 0; x < size; x++) {
            float b = brightness(request->name, (float)x / (float)size, (float)y / (float)size);
            float *pixel = rgb + 3 * ((size_t)y * size + x);
            pixel[0] = b;
            pixel[1] = b * (0.6f + 0.1f * (float)request->number);
            pixel[2] = b * (1.0f - 0.1f * (float)request->number);
        }
    }
}

/* A 3 x 3 blur in place, so that the loader has a second stage to be seen. */
static void soften(float *rgb, uint32_t size)
{
    STROBE_SCOPE("soften");
    for (uint32_t y = 1; y + 1 < size; y++) {
        STROBE_SCOPE("row");
        for (uint32_t i = 3; i < 3 * (size - 1); i++) {
            float *p = rgb + 3 * (size_t)y * size + i;
            *p = (4 * p[0] + p[-3] + p[3] + p[-3 * (ptrdiff_t)size] + p[3 * (ptrdiff_t)size]) / 8;
        }
    }
}

static void make_texture(struct desk *desk, const struct texture_request *request)
{
    STROBE_SCOPE_COLOR("make texture", 0x6aa84f);
    STROBE_TEXTF("%s, %u x %u", request->name, request->size, request->size);
    size_t n_bytes = (size_t)request->size * request->size * 3 * sizeof(float);
    float *rgb = (float *)malloc(n_bytes);
    if (!rgb) {
        STROBE_MESSAGE(STROBE_ERROR, "no memory for a texture");
        return;
    }
    STROBE_ALLOC_IN("textures", rgb, n_bytes);
    make_rows(request, rgb);
    soften(rgb, request->size);

    STROBE_ZONE(send, "send texture");
    struct texture_head head = {request->number, request->size};
    pthread_mutex_lock(&desk->out);
    if (write_all(1, &head, sizeof head) || write_all(1, rgb, n_bytes))
        STROBE_MESSAGE(STROBE_ERROR, "the renderer went away");
    pthread_mutex_unlock(&desk->out);
    STROBE_ZONE_END(send);
    STROBE_FREE_IN("textures", rgb);
    free(rgb);
}

static void *make_textures(void *argument)
{
    struct desk *desk = (struct desk *)argument;
    struct texture_request request;
    STROBE_THREAD_NAME("texture maker");
    while (take_request(desk, &request))
        make_texture(desk, &request);
    return NULL;
}

static void receive_requests(struct desk *desk)
{
    STROBE_SCOPE("receive requests");
    struct texture_request request;
    while (desk->n_requests < N_REQUESTS_MAX && read_all(0, &request, sizeof request) == 0) {
        request.name[TEXTURE_NAME_BYTES - 1] = 0;
        take_lock(desk);
        desk->requests[desk->n_requests++] = request;
        pthread_cond_signal(&desk->changed);
        give_lock(desk);
        STROBE_PLOT_INT("textures asked for", desk->n_requests);
    }
    take_lock(desk);
    desk->closed = 1;
    pthread_cond_broadcast(&desk->changed);
    give_lock(desk);
}

int main(void)
{
    static struct desk desk = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                               .changed = PTHREAD_COND_INITIALIZER,
                               .out = PTHREAD_MUTEX_INITIALIZER};
    STROBE_LOC(desk_loc, "request desk", 0);
    STROBE_PROGRAM_NAME("loader");
    STROBE_THREAD_NAME("request reader");
    strobe_lock_open(&desk.lock, &desk_loc, 0);
    pthread_t makers[N_MAKERS];
    for (int i = 0; i < N_MAKERS; i++)
        if (pthread_create(&makers[i], NULL, make_textures, &desk))
            return 1;
    receive_requests(&desk);
    for (int i = 0; i < N_MAKERS; i++)
        pthread_join(makers[i], NULL);
    return 0;
}
