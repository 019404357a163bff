/* scene.c - spheres, rays and shadows, in plain C.  SPDX-License-Identifier: MIT */
#include "program/scene.h"

#include <math.h>

enum { N_SPHERES = 26, N_SAMPLES = 10 };

struct vec {
    float x, y, z;
};

static float dot(struct vec a, struct vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static struct vec add_scaled(struct vec a, struct vec b, float s)
{
    struct vec sum = {a.x + b.x * s, a.y + b.y * s, a.z + b.z * s};
    return sum;
}

static struct vec unit(struct vec a)
{
    struct vec zero = {0, 0, 0};
    return add_scaled(zero, a, 1 / sqrtf(dot(a, a)));
}

static struct vec sphere_at(int i)
{
    float turn = (float)i * 2.399963f, way = 0.4f + 0.12f * (float)i;
    struct vec centre = {way * cosf(turn), 0.2f * (float)(i % 5), 4 + way * sinf(turn)};
    return centre;
}

/* Distance to the nearest sphere and its number, -1 where there is none. */
static int nearest(const struct vec *centres, struct vec from, struct vec to, float *distance)
{
    int found = -1;
    *distance = 1e30f;
    for (int i = 0; i < N_SPHERES; i++) {
        struct vec way = add_scaled(from, centres[i], -1);
        float b = dot(way, to), root = b * b - dot(way, way) + 0.16f;
        if (root < 0)
            continue;
        float d = -b - sqrtf(root);
        if (d > 1e-3f && d < *distance) {
            *distance = d;
            found = i;
        }
    }
    return found;
}

/* Brightness along one ray and its reflections. */
static float trace(const struct vec *centres, struct vec from, struct vec to, struct vec light)
{
    float share = 1, sum = 0;
    for (int bounce = 0; bounce < 8; bounce++) {
        float distance, shadow;
        int hit = nearest(centres, from, to, &distance);
        if (hit < 0)
            return sum + share * (0.5f + 0.5f * to.y);
        struct vec point = add_scaled(from, to, distance);
        struct vec normal = unit(add_scaled(point, centres[hit], -1));
        if (nearest(centres, point, light, &shadow) < 0 && dot(normal, light) > 0)
            sum += share * 0.6f * dot(normal, light);
        share *= 0.4f;
        from = point;
        to = add_scaled(to, normal, -2 * dot(to, normal));
    }
    return sum;
}

__attribute__((noinline)) float scene_pixel(int x, int y)
{
    static struct vec centres[N_SPHERES];
    if (centres[0].z == 0)
        for (int i = 0; i < N_SPHERES; i++)
            centres[i] = sphere_at(i);
    struct vec from = {0, 0.5f, -3}, light = {0.5f, 0.7f, -0.5f};
    light = unit(light);
    float sum = 0;
    for (int i = 0; i < N_SAMPLES; i++) {
        struct vec to = {((float)(x - FILM_WIDTH / 2) + (float)i / N_SAMPLES) / FILM_HEIGHT,
                         (float)(FILM_HEIGHT / 2 - y) / FILM_HEIGHT, 1};
        sum += trace(centres, from, unit(to), light);
    }
    return sum / N_SAMPLES;
}
