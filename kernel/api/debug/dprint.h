// dprint.h - kernels may print, but not here: markers and printing share the same memory of a core. SPDX-License-Identifier: MIT
#pragma once
#define DPRINT_DATA0(...)
#define DPRINT_DATA1(...)
#define DPRINT_UNPACK(...)
#define DPRINT_MATH(...)
#define DPRINT_PACK(...)
struct strobe_sim_no_print {
    template <typename T> const strobe_sim_no_print &operator<<(const T &) const
    {
        return *this;
    }
    template <typename... T> const strobe_sim_no_print &operator()(const T &...) const
    {
        return *this;
    }
};
#define DPRINT strobe_sim_no_print()
#define ENDL() 0
