// args.h - arguments of a kernel: of its build and of its launch. SPDX-License-Identifier: MIT
#pragma once

#include "prelude.h"

namespace strobe_sim
{
constexpr uint32_t compile_args[] = {KERNEL_COMPILE_TIME_ARGS STROBE_SIM_ARGS_END};
inline uint32_t arg(uint32_t index)
{
    return index < strobe_sim_self->n_args ? strobe_sim_self->args[index] : 0;
}
} // namespace strobe_sim

template <uint32_t Index> constexpr uint32_t strobe_sim_compile_arg()
{
    static_assert(Index < STROBE_SIM_N_COMPILE_ARGS, "the kernel has fewer compile-time arguments");
    return strobe_sim::compile_args[Index];
}
#define get_compile_time_arg_val(index) strobe_sim_compile_arg<(index)>()

template <typename T> inline T get_arg_val(int index)
{
    static_assert(sizeof(T) == 4, "arguments are words");
    uint32_t word = strobe_sim::arg((uint32_t)index);
    T value;
    __builtin_memcpy(&value, &word, sizeof value);
    return value;
}
template <typename T> inline T get_common_arg_val(int index)
{
    static_assert(sizeof(T) == 4, "arguments are words");
    T value = {};
    if ((uint32_t)index < strobe_sim_self->n_common_args)
        __builtin_memcpy(&value, strobe_sim_self->common_args + index, sizeof value);
    return value;
}
inline uintptr_t get_arg_addr(int index)
{
    return (uintptr_t)(strobe_sim_self->args + index);
}
inline uintptr_t get_common_arg_addr(int index)
{
    return (uintptr_t)(strobe_sim_self->common_args + index);
}

inline uint8_t get_absolute_logical_x()
{
    return (uint8_t)strobe_sim_self->logical_x;
}
inline uint8_t get_absolute_logical_y()
{
    return (uint8_t)strobe_sim_self->logical_y;
}
inline uint8_t get_relative_logical_x()
{
    return (uint8_t)strobe_sim_self->logical_x;
}
inline uint8_t get_relative_logical_y()
{
    return (uint8_t)strobe_sim_self->logical_y;
}

#include "../api/debug/dprint.h"
