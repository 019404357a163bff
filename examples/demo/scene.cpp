// scene.cpp - the ray tracer itself: build a tree, trace a ray, shade what it meets.
// SPDX-License-Identifier: MIT
#include "scene.hpp"

#include <strobe/strobe.h>

#include <algorithm>

Vec Texture::at(float u, float v) const
{
    if (size == 0)
        return {1, 0, 1};
    auto x = static_cast<std::uint32_t>((u - std::floor(u)) * float(size)) % size;
    auto y = static_cast<std::uint32_t>((v - std::floor(v)) * float(size)) % size;
    const float *p = &rgb[3 * (y * size + x)];
    return {p[0], p[1], p[2]};
}

Scene::Scene()
{
    for (int i = 0; i < 60; i++) {
        Sphere s;
        s.radius = 0.18f + 0.05f * float(i % 4);
        s.mirror = i % 3 == 0 ? 0.6f : 0.1f;
        s.texture = i % 3;
        spheres_.push_back(s);
    }
}

void Scene::animate(float time)
{
    STROBE_SCOPE("animate");
    for (std::size_t i = 0; i < spheres_.size(); i++) {
        float turn = float(i) * 0.61803f * 6.2831853f + time * (0.3f + 0.01f * float(i % 7));
        float way = 0.5f + 0.055f * float(i);
        float jump = std::fabs(std::sin(time * 2 + float(i)));
        spheres_[i].centre = {way * std::cos(turn), spheres_[i].radius + 0.4f * jump,
                              way * std::sin(turn)};
    }
}

void Scene::build()
{
    STROBE_SCOPE("build tree");
    nodes_.clear();
    build_node(0, static_cast<std::uint32_t>(spheres_.size()));
    STROBE_VALUE(nodes_.size());
}

std::uint32_t Scene::build_node(std::uint32_t first, std::uint32_t count)
{
    STROBE_SCOPE("build node");
    auto index = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
    Node node;
    node.low = {1e30f, 1e30f, 1e30f};
    node.high = {-1e30f, -1e30f, -1e30f};
    for (std::uint32_t i = first; i < first + count; i++) {
        const Sphere &s = spheres_[i];
        Vec r{s.radius, s.radius, s.radius}, a = s.centre - r, b = s.centre + r;
        node.low = {std::min(node.low.x, a.x), std::min(node.low.y, a.y),
                    std::min(node.low.z, a.z)};
        node.high = {std::max(node.high.x, b.x), std::max(node.high.y, b.y),
                     std::max(node.high.z, b.z)};
    }
    if (count <= 4) {
        node.first = first;
        node.count = count;
    } else {
        Vec size = node.high - node.low;
        int longest = size.x > size.y && size.x > size.z ? 0 : size.y > size.z ? 1 : 2;
        auto at = spheres_.begin() + first;
        std::nth_element(at, at + count / 2, at + count, [&](const Sphere &a, const Sphere &b) {
            return axis(a.centre, longest) < axis(b.centre, longest);
        });
        build_node(first, count / 2);
        node.right = build_node(first + count / 2, count - count / 2);
    }
    nodes_[index] = node;
    return index;
}

static bool meets_box(const Ray &ray, Vec inverse, Vec low, Vec high, float limit)
{
    float enter = 0, leave = limit;
    for (int i = 0; i < 3; i++) {
        float a = (axis(low, i) - axis(ray.from, i)) * axis(inverse, i);
        float b = (axis(high, i) - axis(ray.from, i)) * axis(inverse, i);
        enter = std::max(enter, std::min(a, b));
        leave = std::min(leave, std::max(a, b));
    }
    return enter <= leave;
}

static float sphere_distance(const Ray &ray, const Sphere &sphere)
{
    Vec way = ray.from - sphere.centre;
    float b = dot(way, ray.to), c = dot(way, way) - sphere.radius * sphere.radius;
    float root = b * b - c;
    if (root < 0)
        return 1e30f;
    float near = -b - std::sqrt(root);
    return near > 1e-3f ? near : 1e30f;
}

bool Scene::intersect(const Ray &ray, Hit *hit) const
{
    if (ray.to.y < -1e-4f) {
        hit->distance = -ray.from.y / ray.to.y;
        hit->normal = {0, 1, 0};
    }
    Vec inverse{1 / ray.to.x, 1 / ray.to.y, 1 / ray.to.z};
    std::uint32_t stack[32], depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        std::uint32_t index = stack[--depth];
        const Node &node = nodes_[index];
        if (!meets_box(ray, inverse, node.low, node.high, hit->distance))
            continue;
        if (node.count == 0) {
            stack[depth++] = node.right;
            stack[depth++] = index + 1;
            continue;
        }
        for (std::uint32_t i = node.first; i < node.first + node.count; i++) {
            float distance = sphere_distance(ray, spheres_[i]);
            if (distance < hit->distance) {
                hit->distance = distance;
                hit->sphere = &spheres_[i];
            }
        }
    }
    if (hit->distance > 1e29f)
        return false;
    hit->point = ray.from + ray.to * hit->distance;
    if (hit->sphere)
        hit->normal = unit(hit->point - hit->sphere->centre);
    return true;
}

bool Scene::is_lit(Vec point) const
{
    Hit hit;
    Ray ray{point, unit(light - point)};
    intersect(ray, &hit);
    return hit.sphere == nullptr;
}

Vec Scene::sky(Vec direction) const
{
    float up = 0.5f * (direction.y + 1);
    return Vec{0.9f, 0.9f, 1} * (1 - up) + Vec{0.3f, 0.5f, 0.9f} * up;
}

Vec Scene::shade(const Ray &ray, const Hit &hit, int bounces) const
{
    int number = hit.sphere ? hit.sphere->texture : 3;
    Vec colour{0.5f, 0.5f, 0.5f};
    if (static_cast<std::size_t>(number) < textures.size())
        colour = hit.sphere ? textures[number].at(hit.normal.x, hit.normal.y)
                            : textures[number].at(hit.point.x * 0.2f, hit.point.z * 0.2f);
    Vec point = hit.point + hit.normal * 1e-3f;
    float light_share = 0.15f;
    float angle = dot(hit.normal, unit(light - point));
    if (angle > 0 && is_lit(point))
        light_share += 0.85f * angle;
    Vec own = colour * light_share;
    float mirror = hit.sphere ? hit.sphere->mirror : 0.05f;
    if (bounces == 0 || mirror < 0.2f)
        return own;
    Ray back{point, unit(ray.to - hit.normal * (2 * dot(ray.to, hit.normal)))};
    return own * (1 - mirror) + trace(back, bounces - 1) * mirror;
}

Vec Scene::trace(const Ray &ray, int bounces) const
{
    Hit hit;
    if (!intersect(ray, &hit))
        return sky(ray.to);
    return shade(ray, hit, bounces);
}
