// dataflow.h - what kernels that move data call, on the simulator: arguments, the NoC, circular buffers, semaphores, banks. Names and
// arguments are tt-metal's. Addresses of L1 are 32-bit pointers into this core's own; a NoC address has the core and the offset.
// SPDX-License-Identifier: MIT
#pragma once

#include "args.h"
#include "rings.h"

#include <array>
#include <cstring>
#include <utility>

#define NOC_MODE_DEDICATED 0
constexpr uint32_t NOC_MAX_BURST_SIZE = 8192;
#define noc_index      (strobe_sim_self->noc)
#define NUM_DRAM_BANKS (strobe_sim_self->n_banks)

namespace strobe_sim
{
struct coordinate {
    bool is_y;
    uint32_t operator[](uint32_t) const
    {
        return is_y ? strobe_sim_self->y : strobe_sim_self->x;
    }
};
enum { READ = 1, WRITE = 11, MULTICAST = 15 };
// NoC tracing: one record per transfer (src/device/noc_event.h).
inline void note(uint32_t kind, uint64_t address, uint32_t bytes)
{
#if STROBE_SIM_MODE && (STROBE_SIM_RECORD & 16u)
    uint64_t chunks = (bytes + 31) / 32;
    chunks = chunks > 4095 ? 4095 : chunks;
    uint64_t to = (address >> 36 & 63) << 8 | (address >> 42 & 63) << 16, last = 0xFFFFull << 24;
    if (kind == MULTICAST) { // the first core is in bits 48-59, the last where others have theirs
        last = to << 16;
        to = (address >> 48 & 63) << 8 | (address >> 54 & 63) << 16;
    }
    STROBE_RECORD_NOC((uint64_t)kind | to | last | (uint64_t)(noc_index + 1) << 40 | 0xFull << 44 |
                      chunks << 48);
#else
    (void)kind, (void)address, (void)bytes;
#endif
}
} // namespace strobe_sim

constexpr strobe_sim::coordinate my_x{false}, my_y{true};

// ---- addresses ----

inline uint64_t get_noc_addr(uint32_t x, uint32_t y, uint32_t address, uint8_t = 0)
{
    return (uint64_t)(y & 63) << 42 | (uint64_t)(x & 63) << 36 | (address & STROBE_SIM_L1_MASK);
}
inline uint64_t get_noc_addr(uint32_t address, uint8_t = 0)
{
    return get_noc_addr(strobe_sim_self->x, strobe_sim_self->y, address);
}
inline uint64_t get_noc_multicast_addr(uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1,
                                       uint32_t address, uint8_t = 0)
{
    return (uint64_t)(y0 & 63) << 54 | (uint64_t)(x0 & 63) << 48 | get_noc_addr(x1, y1, address);
}
template <bool Dram>
inline uint64_t get_noc_addr_from_bank_id(uint32_t bank, uint32_t offset, uint8_t = 0)
{
    return strobe_sim_call->bank_address(bank, !Dram, offset);
}

// A page of a buffer whose pages go round the banks.
inline uint64_t strobe_sim_page(bool dram, uint64_t base, uint32_t page, uint32_t page_bytes,
                                uint32_t offset = 0)
{
    uint32_t n = dram ? strobe_sim_self->n_banks : strobe_sim_self->n_workers;
    uint64_t stride = ((uint64_t)page_bytes + 31) & ~31ull;
    return strobe_sim_call->bank_address(page % n, !dram, base + page / n * stride + offset);
}

template <bool Dram> struct InterleavedAddrGen {
    uint32_t bank_base_address;
    uint32_t page_size;
    uint64_t get_noc_addr(uint32_t page, uint32_t offset = 0, uint8_t = 0) const
    {
        return strobe_sim_page(Dram, bank_base_address, page, page_size, offset);
    }
};
template <bool Dram, uint32_t = 0> struct InterleavedAddrGenFast {
    uint32_t bank_base_address;
    uint32_t page_size;
    DataFormat data_format;
    uint64_t get_noc_addr(uint32_t page, uint32_t offset = 0, uint8_t = 0) const
    {
        return strobe_sim_page(Dram, bank_base_address, page, page_size, offset);
    }
};

// Two compile-time arguments, as the host's TensorAccessorArgs makes them: flags (1 sharded, 2 in DRAM) and the size of a page.
template <uint32_t First, uint32_t CommonFirst = 0> struct TensorAccessorArgs {
    static constexpr uint32_t flags = strobe_sim_compile_arg<First>();
    static_assert((flags & ~2u) == 0, "only pages that go round the banks are known here");
    static constexpr bool is_sharded = false;
    static constexpr bool is_dram = (flags & 2u) != 0;
    static constexpr uint32_t AlignedPageSize = strobe_sim_compile_arg<First + 1>();
    static constexpr uint32_t next_compile_time_args_offset()
    {
        return First + 2;
    }
    static constexpr uint32_t next_common_runtime_args_offset()
    {
        return CommonFirst;
    }
};
template <typename Args> struct TensorAccessor {
    struct DSpec {
        static constexpr bool is_interleaved = true;
    };
    uint64_t base;
    uint32_t page_size;
    TensorAccessor(const Args &, uint64_t bank_base_address,
                   uint32_t page_bytes = Args::AlignedPageSize)
        : base(bank_base_address), page_size(page_bytes)
    {
    }
    uint64_t get_noc_addr(uint32_t page, uint32_t offset = 0, uint8_t = 0) const
    {
        return strobe_sim_page(Args::is_dram, base, page, page_size, offset);
    }
    uint32_t get_aligned_page_size() const
    {
        return (page_size + 31) & ~31u;
    }
};
template <typename Args> TensorAccessor(const Args &, uint64_t) -> TensorAccessor<Args>;
template <typename Args> TensorAccessor(const Args &, uint64_t, uint32_t) -> TensorAccessor<Args>;

template <typename Generator>
inline auto get_noc_addr(uint32_t page, const Generator &generator, uint32_t offset = 0,
                         uint8_t = 0) -> decltype(generator.get_noc_addr(page, offset))
{
    return generator.get_noc_addr(page, offset);
}

// ---- transfers ----

inline void noc_async_read(uint64_t from, uint32_t to, uint32_t bytes, uint8_t = 0)
{
    strobe_sim::note(strobe_sim::READ, from, bytes);
    strobe_sim_call->noc_read(from, to, bytes);
}
inline void noc_async_read_one_packet(uint64_t from, uint32_t to, uint32_t bytes, uint8_t = 0)
{
    noc_async_read(from, to, bytes);
}
inline void noc_async_write(uint32_t from, uint64_t to, uint32_t bytes, uint8_t = 0)
{
    strobe_sim::note(strobe_sim::WRITE, to, bytes);
    strobe_sim_call->noc_write(from, to, bytes, 0);
}
inline void noc_async_write_one_packet(uint32_t from, uint64_t to, uint32_t bytes, uint8_t = 0)
{
    noc_async_write(from, to, bytes);
}
inline void noc_inline_dw_write(uint64_t to, uint32_t value, uint8_t = 0xF, uint8_t = 0)
{
    strobe_sim_call->noc_write_word(to, value);
}
inline void noc_async_write_multicast(uint32_t from, uint64_t to, uint32_t bytes, uint32_t,
                                      bool = false, bool = true, uint8_t = 0)
{
    strobe_sim::note(strobe_sim::MULTICAST, to, bytes);
    strobe_sim_call->noc_multicast(from, to, bytes, 0);
}
inline void noc_async_write_multicast_loopback_src(uint32_t from, uint64_t to, uint32_t bytes,
                                                   uint32_t, bool = false, bool = true, uint8_t = 0)
{
    strobe_sim::note(strobe_sim::MULTICAST, to, bytes);
    strobe_sim_call->noc_multicast(from, to, bytes, 1);
}
inline void noc_async_read_barrier(uint8_t = 0)
{
    strobe_sim_call->noc_barrier(1);
}
inline void noc_async_write_barrier(uint8_t = 0)
{
    strobe_sim_call->noc_barrier(2);
}
inline void noc_async_writes_flushed(uint8_t = 0)
{
    strobe_sim_call->noc_barrier(0);
}
inline void noc_async_posted_writes_flushed(uint8_t = 0)
{
    strobe_sim_call->noc_barrier(0);
}
inline void noc_async_atomic_barrier(uint8_t = 0)
{
    strobe_sim_call->noc_barrier(4);
}
inline void noc_async_full_barrier(uint8_t = 0)
{
    strobe_sim_call->noc_barrier(7);
}

// Pages by number. With a generator, from or to an address of L1; with a plain address of a buffer in DRAM whose pages are a
// circular buffer's, to its write pointer or from its read pointer.
template <typename Generator>
inline auto noc_async_read_page(uint32_t page, const Generator &generator, uint32_t to,
                                uint32_t offset = 0, uint8_t = 0)
    -> decltype(generator.get_noc_addr(page, offset), void())
{
    noc_async_read(generator.get_noc_addr(page, offset), to, generator.page_size - offset);
}
template <typename Generator>
inline auto noc_async_write_page(uint32_t page, const Generator &generator, uint32_t from,
                                 uint32_t bytes = 0, uint32_t offset = 0, uint8_t = 0)
    -> decltype(generator.get_noc_addr(page, offset), void())
{
    noc_async_write(from, generator.get_noc_addr(page, offset),
                    bytes ? bytes : generator.page_size);
}
template <typename Generator>
inline auto noc_async_read_tile(uint32_t tile, const Generator &generator, uint32_t to,
                                uint32_t offset = 0, uint8_t = 0)
    -> decltype(generator.get_noc_addr(tile, offset), void())
{
    noc_async_read_page(tile, generator, to, offset);
}
template <typename Generator>
inline auto noc_async_write_tile(uint32_t tile, const Generator &generator, uint32_t from,
                                 uint8_t = 0) -> decltype(generator.get_noc_addr(tile, 0u), void())
{
    noc_async_write_page(tile, generator, from);
}
inline void noc_async_read_tile(uint32_t tile, uint32_t buffer, uint32_t cb)
{
    noc_async_read(strobe_sim_page(true, buffer, tile, get_tile_size(cb)), get_write_ptr(cb),
                   get_tile_size(cb));
}
inline void noc_async_write_tile(uint32_t tile, uint32_t buffer, uint32_t cb)
{
    noc_async_write(get_read_ptr(cb), strobe_sim_page(true, buffer, tile, get_tile_size(cb)),
                    get_tile_size(cb));
}

// ---- semaphores: words of L1 ----

constexpr uint32_t INVALID = 0, VALID = 1;

inline uint32_t get_semaphore(uint32_t id)
{
    return strobe_sim_self->semaphores + 16 * id;
}
inline void noc_semaphore_inc(uint64_t to, uint32_t by, uint8_t = 0, uint8_t = 0)
{
    SYNC_SIGNAL_NOC_ADDR("SYNC-SEM-SET-REMOTE", to, noc_index);
    strobe_sim_call->semaphore_inc(to, by);
}
inline void noc_semaphore_wait(volatile uint32_t *at, uint32_t value)
{
    SYNC_WAIT("SYNC-SEM-WAIT", (uint32_t)(uintptr_t)at);
    strobe_sim_call->semaphore_wait((uint32_t)(uintptr_t)at, value, 0);
}
inline void noc_semaphore_wait_min(volatile uint32_t *at, uint32_t value)
{
    SYNC_WAIT("SYNC-SEM-WAIT", (uint32_t)(uintptr_t)at);
    strobe_sim_call->semaphore_wait((uint32_t)(uintptr_t)at, value, 1);
}
inline void noc_semaphore_set(volatile uint32_t *at, uint32_t value)
{
    SYNC_SIGNAL("SYNC-SEM-SET", (uint32_t)(uintptr_t)at);
    strobe_sim_call->semaphore_set((uint32_t)(uintptr_t)at, value);
}
inline void noc_semaphore_set_remote(uint32_t from, uint64_t to, uint8_t = 0)
{
    SYNC_SIGNAL_NOC_ADDR("SYNC-SEM-SET-REMOTE", to, noc_index);
    strobe_sim_call->noc_write(from, to, 4, 0);
}
inline void noc_semaphore_set_multicast(uint32_t from, uint64_t to, uint32_t, bool = false,
                                        bool = true, uint8_t = 0)
{
    SYNC_SIGNAL_NOC_ADDR("SYNC-SEM-SET-REMOTE", to, noc_index);
    strobe_sim_call->noc_multicast(from, to, 4, 0);
}
inline void noc_semaphore_set_multicast_loopback_src(uint32_t from, uint64_t to, uint32_t,
                                                     bool = false, bool = true, uint8_t = 0)
{
    SYNC_SIGNAL_NOC_ADDR("SYNC-SEM-SET-REMOTE", to, noc_index);
    strobe_sim_call->noc_multicast(from, to, 4, 1);
}

// ---- registers, and the profiler's words in L1 by tt-metal's names ----

#define RISCV_DEBUG_REG_WALL_CLOCK_L (STROBE_SIM_REGISTERS | STROBE_SIM_WALL_LOW)
#define RISCV_DEBUG_REG_WALL_CLOCK_H (STROBE_SIM_REGISTERS | STROBE_SIM_WALL_HIGH)
#define MEM_MAILBOX_BASE             ((uintptr_t)strobe_sim_self->mailbox)
struct mailboxes_t {
    struct {
        uint32_t control_vector[64];
        struct {
            uint32_t data[512];
        } buffer[STROBE_DEVICE_N_RISCS];
    } profiler;
};
namespace kernel_profiler
{
enum {
    WALL_CLOCK_LOW_INDEX = 0,
    WALL_CLOCK_HIGH_INDEX = (STROBE_SIM_WALL_HIGH - STROBE_SIM_WALL_LOW) / 4,
    CUSTOM_MARKERS = 12, // of a buffer: the first word behind the guaranteed ones
    FW_RESET_H = 48,     // of the control vector: the host's time, while clocks are compared
    FW_RESET_L = 49
};
} // namespace kernel_profiler
inline void invalidate_l1_cache() {}
inline uint32_t reg_read(uint32_t address)
{
    uint32_t low, high;
    STROBE_SIM_WALL(low, high);
    return address == RISCV_DEBUG_REG_WALL_CLOCK_L   ? low
           : address == RISCV_DEBUG_REG_WALL_CLOCK_H ? high
                                                     : 0;
}

#include "objects.h"

// What follows is the kernel's: its casts of numbers to pointers find this core's L1.
#ifndef reinterpret_cast
#define reinterpret_cast strobe_sim::cast
#endif
