// scene.hpp - what is rendered: spheres on a floor, in a tree of boxes.  SPDX-License-Identifier:
// MIT
#ifndef DEMO_SCENE_HPP
#define DEMO_SCENE_HPP

#include <cmath>
#include <cstdint>
#include <vector>

struct Vec {
    float x = 0, y = 0, z = 0;
    Vec operator+(Vec b) const
    {
        return {x + b.x, y + b.y, z + b.z};
    }
    Vec operator-(Vec b) const
    {
        return {x - b.x, y - b.y, z - b.z};
    }
    Vec operator*(Vec b) const
    {
        return {x * b.x, y * b.y, z * b.z};
    }
    Vec operator*(float s) const
    {
        return {x * s, y * s, z * s};
    }
};
inline float dot(Vec a, Vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
inline Vec unit(Vec a)
{
    return a * (1 / std::sqrt(dot(a, a)));
}
inline float axis(Vec a, int i)
{
    return i == 0 ? a.x : i == 1 ? a.y : a.z;
}

struct Ray {
    Vec from, to; // `to` has length 1
};

struct Texture {
    std::uint32_t size = 0;
    std::vector<float> rgb;
    Vec at(float u, float v) const;
};

struct Sphere {
    Vec centre;
    float radius = 1;
    float mirror = 0; // share of light that is reflected
    int texture = 0;
};

struct Hit {
    float distance = 1e30f;
    const Sphere *sphere = nullptr; // borrowed from the scene; nullptr: the floor
    Vec point, normal;
};

class Scene
{
  public:
    Scene();
    void animate(float time); // move the spheres
    void build();             // the tree over them; after every animate
    Vec trace(const Ray &ray, int bounces) const;

    std::vector<Texture> textures;
    Vec light{4, 8, -3};

  private:
    struct Node {
        Vec low, high;
        std::uint32_t first = 0, count = 0; // spheres of a leaf
        std::uint32_t right = 0;            // second child; the first one follows its parent
    };
    std::uint32_t build_node(std::uint32_t first, std::uint32_t count);
    bool intersect(const Ray &ray, Hit *hit) const;
    bool is_lit(Vec point) const;
    Vec shade(const Ray &ray, const Hit &hit, int bounces) const;
    Vec sky(Vec direction) const;

    std::vector<Sphere> spheres_;
    std::vector<Node> nodes_;
};

#endif
