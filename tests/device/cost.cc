// cost.cc - instructions per zone on rv32, counted by minstret under -icount: exact, the same in every run.
// Prints "name instructions-per-zone*1000" lines to the UART and powers the machine off. SPDX-License-Identifier: MIT
#include "tools/profiler/kernel_profiler.hpp"

namespace {

constexpr uint32_t n_zones = 1000;

uint32_t instructions()
{
    uint32_t n;
    __asm__ volatile("csrr %0, minstret" : "=r"(n)::"memory");
    return n;
}

void put(const char *text)
{
    for (; *text; text++)
        *(volatile uint8_t *)0x10000000 = (uint8_t)*text;
}

void put(uint32_t n)
{
    char text[12], *at = text + 11;
    *at = 0;
    do
        *--at = (char)('0' + n % 10);
    while (n /= 10);
    put(at);
}

// The relay: it has fetched everything.
void drain()
{
#ifdef PROFILE_STREAMING
    STROBE_CONTROL(STROBE_SC_HEAD) = STROBE_CONTROL(STROBE_SC_TAIL);
#endif
}

[[gnu::noinline]] void empty_loop(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        __asm__ volatile("" ::"r"(i));
}

[[gnu::noinline]] void zone_loop(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
#ifdef PROFILE_KERNEL
        DeviceZoneScopedN("dense");
#endif
        __asm__ volatile("" ::"r"(i));
    }
}

[[gnu::noinline]] void work()
{
    __asm__ volatile("" ::: "memory");
}

// Two levels, and a call inside: what is live over a body that is not empty must be saved.
[[gnu::noinline]] void nested_loop(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        DeviceZoneScopedN("outer");
        work();
        {
            DeviceZoneScopedN("inner");
            work();
        }
    }
}

[[gnu::noinline]] void call_loop(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        work();
        work();
    }
}

// Instructions of `loop` in batches that fit the buffer, less those of `base`, per zone and in thousandths.
void measure(const char *name, void (*loop)(uint32_t), void (*base)(uint32_t), uint32_t per_turn, uint32_t batch)
{
    uint64_t sum = 0;
    for (uint32_t done = 0; done < n_zones; done += batch) {
        DeviceZoneScopedMainN("COST-FW");
        loop(4 / per_turn); // the first zone is M, later ones S
        uint32_t a = instructions();
        loop(batch / per_turn);
        uint32_t b = instructions();
        base(batch / per_turn);
        sum += (b - a) - (instructions() - b);
        drain();
    }
    put(name);
    put(" ");
    put((uint32_t)(sum * 1000 / n_zones));
    put("\n");
}

} // namespace

extern "C" void kernel_main()
{
#ifdef PROFILE_STREAMING
    STROBE_CONTROL(STROBE_SC_ARMED) = 1;
#endif
    measure("dense", zone_loop, empty_loop, 1, 100);
    measure("nested", nested_loop, call_loop, 2, 100);
    *(volatile uint32_t *)0x00100000 = 0x5555;
}
