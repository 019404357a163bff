// renderer.cpp - the demo: a short film, ray-traced by threads, with a loader and an encoder as
// processes of their own. It shows these kinds of events where a real program has them:
//
//   processes  renderer (this one), loader and encoder: started with pipes, recorded by themselves
//   frames     one per picture of the film; "checkpoint" for every tenth
//   flows      from "dispatch" over "render tile" to "encode frame" in the other process
//   fibers     the scripts of camera and lamp
//   spans      one per texture under way, overlapping, begun here and ended by the receiving thread
//   locks      of the queue of tiles, also while workers wait for it
//   memory     pools "tiles" and "pictures"
//   plots      tiles waiting, rays per second, frame time
//
//     strobe-demo [FRAMES]
// SPDX-License-Identifier: MIT
#include "child.hpp"
#include "pipes.h"
#include "scene.hpp"
#include "script.hpp"

#include <strobe/strobe.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

namespace
{
constexpr int width = 240, height = 136, tile_side = 24;
constexpr int n_samples = 8; // rays per pixel
constexpr int n_workers = 3;
constexpr int default_frames = 100;

// A mutex that emits who waits for it and who holds it.
class TracedMutex
{
  public:
    TracedMutex(struct strobe_loc *loc, const char *name)
    {
        strobe_lock_open(&lock_, loc, 0);
        strobe_lock_rename(&lock_, name, std::strlen(name));
    }
    void lock()
    {
        strobe_lock_will_wait(&lock_, 0);
        mutex_.lock();
        strobe_lock_obtained(&lock_, 0);
    }
    void unlock()
    {
        mutex_.unlock();
        strobe_lock_released(&lock_, 0);
    }

  private:
    std::mutex mutex_;
    struct strobe_lock lock_;
};

struct strobe_loc *queue_loc()
{
    STROBE_LOC(loc, "tile queue", 0);
    return &loc;
}

struct Tile {
    int x = 0, y = 0;
    std::uint64_t flow = 0;
};

// Tiles to be rendered, and how many of them are not finished yet.
struct Queue {
    TracedMutex mutex{queue_loc(), "tile queue"};
    std::condition_variable_any changed;
    std::deque<Tile> tiles;
    int n_unfinished = 0;
    bool closed = false;
};

struct Camera {
    Vec from{0, 1.6f, -5}, at{0, 0.4f, 0};
};

struct Film {
    Scene scene;
    Camera camera;
    std::vector<Vec> light;             // of the frame being rendered, per pixel
    std::vector<unsigned char> picture; // the same as bytes
    std::atomic<std::uint64_t> n_rays{0};
    Queue queue;
};

std::uint64_t now_ns()
{
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                      std::chrono::nanoseconds(1));
}

Ray ray_through(const Camera &camera, float x, float y)
{
    Vec forward = unit(camera.at - camera.from);
    Vec right = unit({forward.z, 0, -forward.x});
    Vec up{forward.y * right.z - forward.z * right.y, forward.z * right.x - forward.x * right.z,
           forward.x * right.y - forward.y * right.x};
    float u = (x - width / 2) / height * 1.3f;
    float v = (height / 2 - y) / height * 1.3f;
    return {camera.from, unit(forward + right * u + up * v)};
}

// ---- workers -----------------------------------------------------------------------------------

Vec render_pixel(const Film &film, int x, int y)
{
    Vec sum;
    for (int i = 0; i < n_samples; i++) {
        float right = (float(i) + 0.5f) / n_samples, down = float(i * 5 % n_samples) / n_samples;
        sum =
            sum + film.scene.trace(ray_through(film.camera, float(x) + right, float(y) + down), 3);
    }
    return sum * (1.0f / n_samples);
}

void render_row(Film &film, const Tile &tile, int y, Vec *out)
{
    STROBE_SCOPE("row");
    for (int x = 0; x < tile_side; x++)
        out[x] = render_pixel(film, tile.x + x, tile.y + y);
}

void render_tile(Film &film, const Tile &tile)
{
    STROBE_SCOPE_COLOR("render tile", 0x3b7dd8);
    STROBE_FLOW_STEP(tile.flow);
    STROBE_TEXTF("%d, %d", tile.x, tile.y);
    int rows = std::min(tile_side, height - tile.y);
    std::vector<Vec> pixels(static_cast<std::size_t>(tile_side * rows));
    STROBE_ALLOC_IN("tiles", pixels.data(), pixels.size() * sizeof(Vec));
    {
        STROBE_SCOPE("trace rays");
        for (int y = 0; y < rows; y++)
            render_row(film, tile, y, &pixels[static_cast<std::size_t>(y * tile_side)]);
    }
    {
        STROBE_SCOPE("store tile");
        for (int y = 0; y < rows; y++)
            std::copy_n(&pixels[static_cast<std::size_t>(y * tile_side)], tile_side,
                        &film.light[static_cast<std::size_t>((tile.y + y) * width + tile.x)]);
    }
    film.n_rays += static_cast<std::uint64_t>(tile_side * rows * n_samples);
    STROBE_FREE_IN("tiles", pixels.data());
}

void work(Film &film, int number)
{
    char name[32];
    std::snprintf(name, sizeof name, "worker %d", number);
    STROBE_THREAD_NAME(name);
    Queue &queue = film.queue;
    std::unique_lock<TracedMutex> held(queue.mutex);
    while (true) {
        queue.changed.wait(held, [&] { return queue.closed || !queue.tiles.empty(); });
        if (queue.tiles.empty())
            return;
        Tile tile = queue.tiles.front();
        queue.tiles.pop_front();
        STROBE_PLOT_INT("tiles waiting", static_cast<std::int64_t>(queue.tiles.size()));
        held.unlock();
        render_tile(film, tile);
        held.lock();
        if (--queue.n_unfinished == 0)
            queue.changed.notify_all();
    }
}

// ---- one frame ---------------------------------------------------------------------------------

void dispatch(Film &film, std::uint64_t flow)
{
    STROBE_SCOPE("dispatch");
    STROBE_FLOW_BEGIN(flow);
    std::lock_guard<TracedMutex> held(film.queue.mutex);
    for (int y = 0; y < height; y += tile_side)
        for (int x = 0; x < width; x += tile_side)
            film.queue.tiles.push_back({x, y, flow});
    film.queue.n_unfinished = static_cast<int>(film.queue.tiles.size());
    film.queue.changed.notify_all();
}

void wait_for_workers(Film &film)
{
    STROBE_SCOPE_COLOR("wait for workers", 0x888888);
    std::unique_lock<TracedMutex> held(film.queue.mutex);
    film.queue.changed.wait(held, [&] { return film.queue.n_unfinished == 0; });
}

void tone_map(Film &film)
{
    STROBE_SCOPE("tone map");
    for (std::size_t i = 0; i < film.light.size(); i++) {
        const float share[3] = {film.light[i].x, film.light[i].y, film.light[i].z};
        for (std::size_t c = 0; c < 3; c++)
            film.picture[3 * i + c] =
                static_cast<unsigned char>(255 * std::sqrt(std::min(1.0f, share[c])));
    }
}

void send_frame(Film &film, Child &encoder, std::uint32_t number, std::uint64_t flow)
{
    STROBE_SCOPE("send frame");
    STROBE_FLOW_STEP(flow);
    frame_head head = {flow, number, width, height, 0};
    if (write_all(encoder.to, &head, sizeof head) ||
        write_all(encoder.to, film.picture.data(), film.picture.size()))
        STROBE_MESSAGE(STROBE_ERROR, "the encoder went away");
}

void render_frame(Film &film, Child &encoder, std::uint32_t number)
{
    STROBE_SCOPE_COLOR("frame", 0xd88f3b);
    STROBE_VALUE(number);
    std::uint64_t start = now_ns(), rays = film.n_rays;
    std::uint64_t flow = static_cast<std::uint64_t>(getpid()) << 32 | number;
    film.scene.animate(float(number) * 0.04f);
    film.scene.build();
    dispatch(film, flow);
    wait_for_workers(film);
    tone_map(film);
    send_frame(film, encoder, number, flow);

    double ms = double(now_ns() - start) / 1e6;
    STROBE_PLOT("frame time [ms]", ms);
    STROBE_PLOT("rays per second", double(film.n_rays - rays) / (ms / 1e3));
    if (ms > 80)
        STROBE_MESSAGEF(STROBE_WARNING, "frame %u took %.1f ms", number, ms);
    if (number % 10 == 9)
        STROBE_FRAME_NAMED("checkpoint");
    STROBE_FRAME();
}

// ---- before the film: textures from the loader
// ---------------------------------------------------

const char *const texture_names[] = {"marble", "wood", "clouds", "checker", "noise", "rings"};
constexpr std::uint32_t n_textures = sizeof texture_names / sizeof texture_names[0];

void receive_textures(Film &film, Child &loader, const std::uint64_t *spans)
{
    STROBE_THREAD_NAME("texture receiver");
    for (std::uint32_t i = 0; i < n_textures; i++) {
        STROBE_ZONE(wait, "wait for texture");
        texture_head head;
        if (read_all(loader.from, &head, sizeof head) || head.number >= n_textures) {
            STROBE_MESSAGE(STROBE_ERROR, "the loader went away");
            STROBE_ZONE_END(wait);
            return;
        }
        STROBE_ZONE_END(wait);

        STROBE_SCOPE("receive texture");
        STROBE_TEXTF("%s", texture_names[head.number]);
        Texture &texture = film.scene.textures[head.number];
        std::vector<float> rgb(std::size_t{3} * head.size * head.size);
        if (read_all(loader.from, rgb.data(), rgb.size() * sizeof(float)) == 0) {
            texture.size = head.size;
            texture.rgb = std::move(rgb);
            STROBE_ALLOC_IN("pictures", texture.rgb.data(), texture.rgb.size() * sizeof(float));
        }
        STROBE_SPAN_END(spans[head.number]);
    }
}

void load_textures(Film &film)
{
    STROBE_SCOPE("load textures");
    Child loader = start_child("strobe-demo-loader");
    std::uint64_t spans[n_textures];
    film.scene.textures.resize(n_textures);
    for (std::uint32_t i = 0; i < n_textures; i++)
        spans[i] = strobe_span_new_id();
    std::thread receiver([&] { receive_textures(film, loader, spans); });
    for (std::uint32_t i = 0; i < n_textures; i++) {
        texture_request request = {};
        std::strncpy(request.name, texture_names[i], sizeof request.name - 1);
        request.number = i;
        request.size = 256u << (i % 2);
        STROBE_SPAN_BEGIN(spans[i], "texture under way");
        if (write_all(loader.to, &request, sizeof request))
            break;
    }
    receiver.join();
    end_child(loader);
}

// ---- the scripts, each in a fiber
// ----------------------------------------------------------------

void move_camera(Script &script, Camera &camera)
{
    for (int turn = 0;; turn++) {
        STROBE_SCOPE("camera turn"); // stays open over many frames
        for (int step = 0; step < 24; step++) {
            {
                STROBE_SCOPE("camera step");
                float angle = 0.02f * float(24 * turn + step);
                camera.from = {5 * std::sin(angle), 1.6f + 0.4f * std::sin(3 * angle),
                               -5 * std::cos(angle)};
            }
            script.yield();
        }
    }
}

void swing_lamp(Script &script, Vec &lamp)
{
    for (int step = 0;; step++) {
        {
            STROBE_SCOPE("lamp step");
            lamp = {4 * std::cos(0.05f * float(step)), 8, 4 * std::sin(0.05f * float(step))};
        }
        script.yield();
    }
}

void shoot(Film &film, std::uint32_t n_frames)
{
    STROBE_SCOPE("shoot");
    Child encoder = start_child("strobe-demo-encoder");
    Script camera("camera script", [&](Script &self) { move_camera(self, film.camera); });
    Script lamp("lamp script", [&](Script &self) { swing_lamp(self, film.scene.light); });
    std::vector<std::thread> workers;
    for (int i = 0; i < n_workers; i++)
        workers.emplace_back([&film, i] { work(film, i); });

    for (std::uint32_t number = 0; number < n_frames; number++) {
        camera.step();
        lamp.step();
        render_frame(film, encoder, number);
    }
    {
        std::lock_guard<TracedMutex> held(film.queue.mutex);
        film.queue.closed = true;
        film.queue.changed.notify_all();
    }
    for (std::thread &worker : workers)
        worker.join();
    end_child(encoder);
}
} // namespace

int main(int argc, char **argv)
{
    std::uint32_t n_frames = default_frames;
    if (argc > 1)
        n_frames = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
    if (argc > 2 || n_frames == 0) {
        std::fprintf(stderr, "usage: strobe-demo [FRAMES]\n");
        return 2;
    }
    std::signal(SIGPIPE, SIG_IGN);
    STROBE_PROGRAM_NAME("renderer");
    STROBE_THREAD_NAME("director");
    STROBE_APP_INFO("Strobe's demo: a short film, ray-traced");
    STROBE_PLOT_CONFIG("tiles waiting", STROBE_NUMBER, 1, 0x3b7dd8);

    STROBE_SCOPE("film");
    STROBE_MESSAGEF(STROBE_INFO, "%u frames of %d x %d with %d workers", n_frames, width, height,
                    n_workers);
    Film film;
    film.light.resize(std::size_t{width} * height);
    film.picture.resize(film.light.size() * 3);
    STROBE_ALLOC_IN("pictures", film.picture.data(), film.picture.size());
    load_textures(film);
    shoot(film, n_frames);
    STROBE_FREE_IN("pictures", film.picture.data());
    std::printf("strobe-demo: %u frames, %llu rays\n", n_frames,
                static_cast<unsigned long long>(film.n_rays.load()));
    return 0;
}
