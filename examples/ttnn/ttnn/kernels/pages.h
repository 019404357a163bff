// pages.h - what the kernels here that move data share: pages of tensors, tiles that are made or mended in L1.
// SPDX-License-Identifier: MIT
#pragma once

#include "dataflow_api.h"
#include <tools/profiler/kernel_profiler.hpp>

constexpr uint32_t tile_side = 32, tile_words = 1024;

// A tensor whose pages go round the banks of DRAM or round the L1 of the workers.
struct tensor {
    uint32_t base, in_l1, page_bytes;
    uint64_t at(uint32_t page) const
    {
        if (in_l1)
            return InterleavedAddrGen<false>{base, page_bytes}.get_noc_addr(page);
        return InterleavedAddrGen<true>{base, page_bytes}.get_noc_addr(page);
    }
};

// Where a tile's four faces have row and column.
inline uint32_t in_faces(uint32_t row, uint32_t column)
{
    return ((row / 16) * 2 + column / 16) * 256 + row % 16 * 16 + column % 16;
}

inline uint16_t *halves(uint32_t address)
{
    return (uint16_t *)(uintptr_t)address;
}
inline uint32_t *words(uint32_t address)
{
    return (uint32_t *)(uintptr_t)address;
}

// An element of a tile as the bits of a float, whatever the buffer's format is.
inline uint32_t get(uint32_t cb, uint32_t tile, uint32_t at)
{
    return get_dataformat(cb) == DataFormat::Float16_b ? (uint32_t)halves(tile)[at] << 16
                                                       : words(tile)[at];
}
inline void put(uint32_t cb, uint32_t tile, uint32_t at, uint32_t bits)
{
    if (get_dataformat(cb) == DataFormat::Float16_b)
        halves(tile)[at] = (uint16_t)(bits >> 16);
    else
        words(tile)[at] = bits;
}

// A tile of one number, except in rows and columns from n_rows and n_columns on: 0 there.
inline void push_constant(uint32_t cb, uint32_t bits, uint32_t n_rows, uint32_t n_columns)
{
    cb_reserve_back(cb, 1);
    for (uint32_t row = 0; row < tile_side; row++)
        for (uint32_t column = 0; column < tile_side; column++)
            put(cb, get_write_ptr(cb), in_faces(row, column),
                row < n_rows && column < n_columns ? bits : 0);
    cb_push_back(cb, 1);
}

// The first row of a tile in all of its rows.
inline void spread_row(uint32_t cb, uint32_t tile)
{
    for (uint32_t row = 1; row < tile_side; row++)
        for (uint32_t column = 0; column < tile_side; column++)
            put(cb, tile, in_faces(row, column), get(cb, tile, in_faces(0, column)));
}

// What pads a tile's rows, from a column on, is 0 afterwards.
inline void clear_columns(uint32_t cb, uint32_t tile, uint32_t from)
{
    for (uint32_t row = 0; row < tile_side; row++)
        for (uint32_t column = from; column < tile_side; column++)
            put(cb, tile, in_faces(row, column), 0);
}
