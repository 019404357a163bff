// work.cpp - a program to compare runs of: eight zones of counted work and `crunch`, which is PERCENT longer. bench/diff.py records it.
//   diff_work [PERCENT]
// SPDX-License-Identifier: MIT
#include <strobe/strobe.h>

#include <cstdint>
#include <cstdlib>

static volatile std::uint64_t kept; // the work's result goes here, so that it is done

static void work(std::uint64_t steps)
{
    std::uint64_t state = kept | 1;
    for (std::uint64_t i = 0; i < steps; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    kept = state;
}

#define PART(number)                     \
    do {                                 \
        STROBE_SCOPE("part " #number);   \
        work(150000 + 25000 * (number)); \
    } while (0)

int main(int argc, char **argv)
{
    const std::uint64_t percent = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
    for (int round = 0; round < 20; round++) {
        PART(0);
        PART(1);
        PART(2);
        PART(3);
        PART(4);
        PART(5);
        PART(6);
        PART(7);
        STROBE_SCOPE("crunch");
        work(1000000 + 10000 * percent);
    }
    return 0;
}
